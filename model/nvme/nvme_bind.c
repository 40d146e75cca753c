// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * What a queue is bound to: a PASID, which all requests that it causes carry, and for a submission
 * queue the one namespace that its commands may name. Bound by the host, with a command of the
 * admin queue, which no guest reaches, before the queue is created: from its first doorbell on it
 * is what it will be.
 */

static u16 check_queue(const struct nvme *n, u32 qid, bool cq)
{
	if (!qid || !MODEL_CHECK(controller_bind_queue, qid <= (cq ? n->granted_cqs : n->granted_sqs)) || qid >= n->nr_queues)
		return NVME_SC_QID_INVALID | NVME_DNR;
	/* Commands that it has were fetched as it was; a doorbell may have been rung. */
	if (!MODEL_CHECK(controller_bind_idle, !(cq ? n->cq[qid].live : n->sq[qid].live)))
		return NVME_SC_SEQUENCE | NVME_DNR;
	return NVME_SC_SUCCESS;
}

static u16 check_bind(const struct nvme *n, const struct nvme_sqe *sqe)
{
	bool cq = sqe->cdw10 & NVME_BIND_CQ;
	u16 status = check_queue(n, (u32)FIELD_GET(NVME_BIND_QID, sqe->cdw10), cq);

	if (status)
		return status;
	if (!MODEL_CHECK(controller_bind_reserved, !(sqe->cdw10 & NVME_BIND_RSVD10) && !(sqe->cdw11 & NVME_BIND_RSVD11) &&
			 !(cq && sqe->cdw12)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	/* A queue whose requests could not be sent is worth nothing; without PASID they may not be. */
	if (!MODEL_CHECK(controller_bind_enabled, pci_pasid_enabled(&n->fn)))
		return NVME_SC_SEQUENCE | NVME_DNR;
	if (!MODEL_CHECK(controller_bind_active, !sqe->cdw12 || nvme_ns(n, sqe->cdw12)))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	return NVME_SC_SUCCESS;
}

u16 nvme_admin_queue_bind(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	u32 qid = (u32)FIELD_GET(NVME_BIND_QID, sqe->cdw10), pasid = (u32)FIELD_GET(NVME_BIND_PASID, sqe->cdw11);
	u16 status = check_bind(n, sqe);

	if (status)
		return status;
	if (sqe->cdw10 & NVME_BIND_CQ)
		n->cq[qid].next = (struct nvme_binding){ .pasid = pasid };
	else
		n->sq[qid].next = (struct nvme_binding){ .pasid = pasid, .nsid = sqe->cdw12 };
	return NVME_SC_SUCCESS;
}

struct nvme_binding nvme_bind_take(struct nvme_binding *next)
{
	struct nvme_binding to = *next;

	if (to.pasid != PCI_NO_PASID && MODEL_STEP(controller_bind_once))
		*next = (struct nvme_binding){ .pasid = PCI_NO_PASID };
	return to;
}

/* Without a binding any; with one it alone, whatever else there is. */
bool nvme_bind_nsid(const struct nvme_sq *sq, u32 nsid)
{
	return (!sq->nsid || nsid == sq->nsid) && (!sq->nrd || nsid == sq->nrd->nsid);
}
