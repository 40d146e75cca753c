// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Resource domains: a queue's own windows, bound by the host with a command of the admin
 * queue, which no guest reaches. Lookups are pure functions of the bound copy. A range
 * must lie in one window: two windows that touch are still two.
 */

bool nvme_domain_opcode(const struct nvme_nrd *nrd, u8 opcode)
{
	return !nrd || (nrd->opcodes[opcode / 8] >> (opcode % 8)) & 1;
}

static bool in_window(const struct nvme_nrd_window *w, u32 nr, u64 start, u64 length)
{
	for (u32 i = 0; i < nr; i++)
		if (start >= w[i].start && start - w[i].start < w[i].length &&
		    w[i].length - (start - w[i].start) >= length)
			return true;
	return false;
}

/* An empty range names nothing, so nothing outside. */
bool nvme_domain_lba(const struct nvme_nrd *nrd, u64 slba, u64 nlb)
{
	return !nrd || !nlb || in_window(nrd->lba, nrd->nr_lba, slba, nlb);
}

bool nvme_domain_dma(const struct nvme_nrd *nrd, u64 addr, u64 len_bytes)
{
	return !nrd || in_window(nrd->dma, nrd->nr_dma, addr, len_bytes);
}

/* A window may end at 2^64 but not beyond. */
static bool windows_are_legal(const struct nvme_nrd_window *w, u32 nr)
{
	if (nr > NVME_NRD_WINDOWS)
		return false;
	for (u32 i = 0; i < nr; i++)
		if (w[i].length && w[i].start + (w[i].length - 1) < w[i].start)
			return false;
	return true;
}

static bool nrd_is_legal(const struct nvme_nrd *nrd)
{
	return nrd->magic == NVME_NRD_MAGIC && windows_are_legal(nrd->lba, nrd->nr_lba) &&
	       windows_are_legal(nrd->dma, nrd->nr_dma);
}

u16 nvme_admin_nrd_bind(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 qid = (u16)(cmd->sqe.cdw10 & 0xFFFF);
	const struct nvme_nrd *nrd = (const void *)n->scratch;
	u16 status;

	if (!qid || qid >= n->nr_queues || !n->sq[qid].live)
		return NVME_SC_QID_INVALID | NVME_DNR;
	if (cmd->sqe.cdw11 & ~NVME_NRD_UNBIND)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (cmd->sqe.cdw11 & NVME_NRD_UNBIND) {
		n->sq[qid].nrd = NULL;
		return NVME_SC_SUCCESS;
	}
	status = nvme_prp_map(cmd, sizeof(*nrd), NVME_FROM_HOST);
	if (status)
		return status;
	if (!nvme_buf_from_host(cmd, n->scratch))
		return NVME_SC_DATA_TRANSFER;
	if (!MODEL_CHECK(controller_nrd_legal, nrd_is_legal(nrd)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	n->nrd[qid] = *nrd;
	n->sq[qid].nrd = &n->nrd[qid];
	return NVME_SC_SUCCESS;
}
