// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * What a queue is bound to: a PASID, which all requests that it causes carry, and for a submission
 * queue the one namespace that its commands may name. Bound by the host, with a command of the
 * admin queue, which no guest reaches.
 */

static u16 check_bind(const struct nvme *n, const struct nvme_sqe *sqe)
{
	u32 qid = (u32)FIELD_GET(NVME_BIND_QID, sqe->cdw10);
	bool cq = sqe->cdw10 & NVME_BIND_CQ;

	if (!qid || qid >= n->nr_queues || !(cq ? n->cq[qid].live : n->sq[qid].live))
		return NVME_SC_QID_INVALID | NVME_DNR;
	if ((sqe->cdw10 & NVME_BIND_RSVD10) || (sqe->cdw11 & NVME_BIND_RSVD11) || (cq && sqe->cdw12))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	/* A queue whose requests could not be sent is worth nothing; without PASID they may not be. */
	return pci_pasid_enabled(&n->fn) ? NVME_SC_SUCCESS : NVME_SC_SEQUENCE | NVME_DNR;
}

u16 nvme_admin_queue_bind(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	u32 qid = (u32)FIELD_GET(NVME_BIND_QID, sqe->cdw10), pasid = (u32)FIELD_GET(NVME_BIND_PASID, sqe->cdw11);
	u16 status = check_bind(n, sqe);

	if (status)
		return status;
	if (sqe->cdw10 & NVME_BIND_CQ) {
		n->cq[qid].pasid = pasid;
		return NVME_SC_SUCCESS;
	}
	if (sqe->cdw12 && !nvme_ns(n, sqe->cdw12))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	n->sq[qid].pasid = pasid;
	n->sq[qid].nsid = sqe->cdw12;
	return NVME_SC_SUCCESS;
}

/* Without a binding any; with one it alone, whatever else there is. */
bool nvme_bind_nsid(const struct nvme_sq *sq, u32 nsid)
{
	return (!sq->nsid || nsid == sq->nsid) && (!sq->nrd || nsid == sq->nrd->nsid);
}
