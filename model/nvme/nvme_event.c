// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Asynchronous events (Base 5.2) and the error log behind them. An event that no request
 * waits for is not kept; one that was told is not told again until its log page is read, so a
 * guest that makes errors cannot make more events than the host reads logs.
 */

u16 nvme_aer_hold(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;

	if (n->nr_aers > n->cfg.aerl || n->nr_aers == NVME_AERS_MAX)
		return NVME_SC_AER_LIMIT;
	n->aer_cid[n->nr_aers++] = cmd->sqe.cid;
	/* It waits here, not in a slot, and takes no room of the CQ until it is told. */
	n->cq[0].reserved--;
	nvme_cmd_put(cmd);
	nvme_cq_wake(n, &n->cq[0]);
	nvme_front_kick(n, 0);
	return NVME_NO_CQE;
}

static void aer_take(struct nvme *n, u32 index)
{
	n->nr_aers--;
	for (u32 i = index; i < n->nr_aers; i++)
		n->aer_cid[i] = n->aer_cid[i + 1];
}

bool nvme_aer_abort(struct nvme *n, u16 cid)
{
	for (u32 i = 0; i < n->nr_aers; i++) {
		if (n->aer_cid[i] != cid)
			continue;
		if (!nvme_cq_room(&n->cq[0]))
			return false;
		aer_take(n, i);
		nvme_cqe_post(n, &n->sq[0], cid, NVME_SC_ABORT_REQUESTED, 0, 0);
		return true;
	}
	return false;
}

void nvme_aer_raise(struct nvme *n, u32 dw0)
{
	u32 type = 1u << (dw0 & 7);
	bool deliver = n->nr_aers && !(n->aer_masked & type) && nvme_cq_room(&n->cq[0]) && nvme_is_running(n);

	trace4(n->trace, TRACE_AER, 0, dw0, deliver, 0, 0);
	if (!deliver)
		return;
	n->aer_masked |= type;
	nvme_cqe_post(n, &n->sq[0], n->aer_cid[0], NVME_SC_SUCCESS, dw0, 0);
	aer_take(n, 0);
}

/* Base figure 206: the newest overwrites the oldest of ELPE + 1 entries. */
void nvme_error_log(struct nvme *n, u16 sqid, u16 cid, u16 status, u32 nsid, u64 lba)
{
	struct nvme_error *e = &n->error[n->nr_errors % (n->cfg.elpe + 1u)];

	n->nr_errors++;
	*e = (struct nvme_error){ .count = n->nr_errors, .sqid = sqid, .cid = cid, .nsid = nsid, .lba = lba,
				  .status = (u16)(status << 1), .loc = 0xFFFF };
}
