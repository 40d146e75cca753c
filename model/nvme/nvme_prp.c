// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Physical Region Pages, Base 4.1.1. All addresses of a command are collected and judged
 * before any data moves; list pages are read once, when the command executes, and each
 * page is judged before it is read. How much is read follows from the transfer length
 * alone, so a list that points at itself ends like any other.
 */

/* Base 4.1.1: PRP entries are dword aligned; a list pointer, holding qwords, is qword aligned. */
#define PRP_DWORD_MASK 3ULL
#define PRP_QWORD_MASK 7ULL

/* May the controller touch this piece of at most a page for this command? */
static u16 check_target(const struct nvme_cmd *cmd, u64 addr, u32 len_bytes, bool cmb_offered, bool *in_cmb)
{
	const struct nvme *n = cmd->nvme;

	if (!MODEL_CHECK(controller_nrd_dma, nvme_domain_dma(n->sq[cmd->sqid].nrd, addr, len_bytes)))
		return NVME_SC_DATA_TRANSFER | NVME_DNR;
	*in_cmb = nvme_cmb_hit(n, addr, len_bytes);
	/* Its windows are of host memory, whatever the host was led to believe lies there (CMB-04). */
	if (!MODEL_CHECK(controller_nrd_cmb, !*in_cmb || !n->sq[cmd->sqid].nrd))
		return NVME_SC_DATA_TRANSFER | NVME_DNR;
	if (*in_cmb)
		return MODEL_CHECK(controller_cmb_use, cmb_offered) ? NVME_SC_SUCCESS : NVME_SC_INVALID_CMB_USE | NVME_DNR;
	/* With a PASID it is an address of somebody's own space, and the IOMMU's to judge. */
	if (!MODEL_CHECK(controller_own_bar,
			 n->sq[cmd->sqid].pasid != PCI_NO_PASID || !pci_addr_is_own_bar(&n->fn, addr, len_bytes)))
		return NVME_SC_DATA_TRANSFER | NVME_DNR;
	return NVME_SC_SUCCESS;
}

static bool cmb_takes_data(const struct nvme *n, enum nvme_dir dir)
{
	return n->reg[NVME_R_CMBSZ] & (dir == NVME_TO_HOST ? NVME_CMBSZ_RDS : NVME_CMBSZ_WDS);
}

/* CMBLOC.CDPMLS = 0: data lies in the CMB or outside, not both (Base 3.1.3.11). */
u16 nvme_frag_add(struct nvme_cmd *cmd, u64 addr, u32 len_bytes, enum nvme_dir dir)
{
	struct nvme *n = cmd->nvme;
	bool in_cmb;
	u16 status = check_target(cmd, addr, len_bytes, cmb_takes_data(n, dir), &in_cmb);

	if (status)
		return status;
	if (!MODEL_CHECK(controller_cmb_mixed, !cmd->nr_frags || in_cmb == cmd->data_in_cmb))
		return NVME_SC_INVALID_CMB_USE | NVME_DNR;
	cmd->data_in_cmb = in_cmb;
	trace4(n->trace, TRACE_PRP, cmd->io_id, cmd->sqid, cmd->sqe.cid, addr, len_bytes);
	cmd->frag[cmd->nr_frags] = addr;
	cmd->frag_len[cmd->nr_frags++] = len_bytes;
	return NVME_SC_SUCCESS;
}

u16 nvme_meta_check(struct nvme_cmd *cmd, u64 addr, u32 len_bytes)
{
	bool in_cmb;
	u16 status = check_target(cmd, addr, len_bytes, false, &in_cmb);

	if (!status)
		trace4(cmd->nvme->trace, TRACE_PRP, cmd->io_id, cmd->sqid, cmd->sqe.cid, addr, len_bytes);
	return status;
}

u16 nvme_list_read(struct nvme_cmd *cmd, u64 addr, u32 len_bytes)
{
	struct nvme *n = cmd->nvme;
	bool in_cmb;
	u16 status = check_target(cmd, addr, len_bytes, n->reg[NVME_R_CMBSZ] & NVME_CMBSZ_LISTS, &in_cmb);

	if (status)
		return status;
	if (in_cmb) {
		__builtin_memcpy(n->list, n->cmb + (addr - n->cmb_base), len_bytes);
		return NVME_SC_SUCCESS;
	}
	n->fn.dma_kind = PCI_DMA_LIST;
	if (!pci_dma_read(&n->fn, (iova_t){ addr }, n->list, len_bytes, &cmd->t_ps))
		status = NVME_SC_DATA_TRANSFER;
	n->fn.dma_kind = PCI_DMA_DATA;
	return status;
}

/* Entries of one list page; *ptr becomes the next page when more pages remain. */
static u16 next_list(struct nvme_cmd *cmd, u64 *ptr, u32 pages_left, u32 *entries)
{
	u32 slots = (u32)nvme_max((NVME_PAGE_SIZE - NVME_PAGE_OFFSET(*ptr)) / sizeof(u64), 1);
	bool chained = pages_left > slots ||
		       (pages_left == slots && slots > 1 && MODEL_CHECK(controller_list_last, false));
	u16 status = nvme_list_read(cmd, *ptr, (chained ? slots : pages_left) * (u32)sizeof(u64));

	if (status)
		return status;
	*entries = chained ? slots - 1 : pages_left;
	for (u32 i = 0; i < (chained ? slots : pages_left); i++)
		if (!MODEL_CHECK(controller_prp_align, !NVME_PAGE_OFFSET(cmd->nvme->list[i])))
			return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	if (chained)
		*ptr = cmd->nvme->list[slots - 1];
	return NVME_SC_SUCCESS;
}

/*
 * Bounded: a page of the list gives at least one entry, except the first, which may hold
 * nothing but the pointer to the second.
 */
static u16 map_list(struct nvme_cmd *cmd, u64 ptr, u32 left_bytes, enum nvme_dir dir)
{
	u32 before = cmd->nr_frags;

	if (!MODEL_CHECK(controller_list_align, !(ptr & PRP_QWORD_MASK)))
		return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	while (left_bytes) {
		u32 pages = (u32)((left_bytes + NVME_PAGE_SIZE - 1) / NVME_PAGE_SIZE);
		u32 entries;
		u16 status = next_list(cmd, &ptr, pages, &entries);

		for (u32 i = 0; !status && i < entries; i++) {
			u32 len = (u32)nvme_min(left_bytes, NVME_PAGE_SIZE);

			status = nvme_frag_add(cmd, cmd->nvme->list[i], len, dir);
			left_bytes -= len;
		}
		if (status)
			return status;
	}
	trace4(cmd->nvme->trace, TRACE_PRP_LIST, cmd->io_id, cmd->sqid, cmd->sqe.cid, cmd->nr_frags - before, 0);
	return NVME_SC_SUCCESS;
}

u16 nvme_prp_map(struct nvme_cmd *cmd, u32 len_bytes, enum nvme_dir dir)
{
	u64 prp1 = cmd->sqe.prp1, prp2 = cmd->sqe.prp2;
	u32 first = (u32)nvme_min(len_bytes, NVME_PAGE_SIZE - NVME_PAGE_OFFSET(prp1));
	u16 status;

	cmd->nr_frags = 0;
	cmd->len_bytes = len_bytes;
	if (!MODEL_CHECK(controller_prp1_align, !(prp1 & PRP_DWORD_MASK)))
		return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	status = nvme_frag_add(cmd, prp1, first, dir);
	if (status || len_bytes == first)
		return status;
	if (len_bytes - first > NVME_PAGE_SIZE)
		return map_list(cmd, prp2, len_bytes - first, dir);
	if (!MODEL_CHECK(controller_prp_align, !NVME_PAGE_OFFSET(prp2)))
		return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	return nvme_frag_add(cmd, prp2, len_bytes - first, dir);
}

u16 nvme_prp_queue_pages(struct nvme_cmd *cmd, u64 ptr, u32 nr_pages, u64 *pages)
{
	u32 got = 0;

	while (got < nr_pages) {
		u32 entries;
		u16 status = next_list(cmd, &ptr, nr_pages - got, &entries);

		if (status)
			return status;
		for (u32 i = 0; i < entries; i++) {
			bool in_cmb;

			status = check_target(cmd, cmd->nvme->list[i], NVME_PAGE_SIZE, false, &in_cmb);
			if (status)
				return status;
			pages[got++] = cmd->nvme->list[i];
		}
	}
	return NVME_SC_SUCCESS;
}

u16 nvme_data_map(struct nvme_cmd *cmd, u32 len_bytes, enum nvme_dir dir)
{
	return FIELD_GET(NVME_SQE_PSDT, cmd->sqe.flags) == NVME_PSDT_PRP ? nvme_prp_map(cmd, len_bytes, dir) :
									   nvme_sgl_map(cmd, len_bytes, dir);
}

/* Fragments are asked for at once: each starts when the command may, and the last one's end counts. */
void nvme_buf_to_host(struct nvme_cmd *cmd, const void *buf)
{
	struct nvme *n = cmd->nvme;
	const u8 *from = buf;
	u64 end_ps = cmd->t_ps;

	for (u32 i = 0, done = 0; i < cmd->nr_frags; i++) {
		u32 len = cmd->frag_len[i];
		u64 t_ps = cmd->t_ps;

		u8 *cmb = nvme_cmb_data(cmd, cmd->frag[i], len, true);

		if (cmb)
			__builtin_memcpy(cmb, from + done, len);
		else
			pci_dma_write(&n->fn, (iova_t){ cmd->frag[i] }, from + done, len, &t_ps);
		end_ps = nvme_max(end_ps, t_ps);
		done += len;
	}
	cmd->t_ps = end_ps;
}

bool nvme_buf_from_host(struct nvme_cmd *cmd, void *buf)
{
	struct nvme *n = cmd->nvme;
	u8 *to = buf;
	u64 end_ps = cmd->t_ps;
	bool ok = true;

	n->fn.dma_kind = PCI_DMA_LIST;
	for (u32 i = 0, done = 0; i < cmd->nr_frags && ok; i++) {
		u32 len = cmd->frag_len[i];
		u64 t_ps = cmd->t_ps;

		const u8 *cmb = nvme_cmb_data(cmd, cmd->frag[i], len, false);

		if (cmb)
			__builtin_memcpy(to + done, cmb, len);
		else
			ok = pci_dma_read(&n->fn, (iova_t){ cmd->frag[i] }, to + done, len, &t_ps);
		end_ps = nvme_max(end_ps, t_ps);
		done += len;
	}
	n->fn.dma_kind = PCI_DMA_DATA;
	cmd->t_ps = ok ? end_ps : cmd->t_ps;
	return ok;
}
