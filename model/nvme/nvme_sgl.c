// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Scatter gather lists, Base 4.1.2: data blocks and segments, no alignment asked for, no
 * bit buckets, no keyed blocks, and no more data than the command moves (SGLS). Like PRPs,
 * all is read once and judged before data moves.
 *
 * Bounded: a segment without data may not lead to another, and a command has a number of
 * descriptors it may spend, of which lists of empty blocks soon run out.
 */

#define SGL_DESC_SIZE ((u32)sizeof(struct nvme_sgl_desc))
#define SGL_BATCH ((u32)(NVME_PAGE_SIZE / sizeof(struct nvme_sgl_desc)))

struct sgl_walk {
	struct nvme_cmd *cmd;
	enum nvme_dir dir;
	u32 left_bytes;		/* of the command's data */
	u32 left_desc;		/* that may still be looked at */
	struct nvme_sgl_desc next;	/* segment to be read */
};

static u16 add_block(struct sgl_walk *w, const struct nvme_sgl_desc *d)
{
	u64 addr = d->addr;
	u32 left = d->length;

	if (!MODEL_CHECK(controller_sgl_length, left <= w->left_bytes && (!left || addr + (left - 1) >= addr)))
		return NVME_SC_SGL_LENGTH | NVME_DNR;
	w->left_bytes -= left;
	while (left) {
		u32 len = (u32)nvme_min(left, NVME_PAGE_SIZE - NVME_PAGE_OFFSET(addr));
		u16 status;

		if (!MODEL_CHECK(controller_sgl_count, w->cmd->nr_frags != w->cmd->nvme->max_frags))
			return NVME_SC_SGL_COUNT | NVME_DNR;
		status = nvme_frag_add(w->cmd, addr, len, w->dir);
		if (status)
			return status;
		addr += len;
		left -= len;
	}
	return NVME_SC_SUCCESS;
}

static bool is_segment(const struct nvme_sgl_desc *d)
{
	return d->id == NVME_SGL_SEGMENT || d->id == NVME_SGL_LAST_SEGMENT;
}

/* A whole number of descriptors, in an address space that does not wrap. */
static u16 check_segment(const struct nvme_sgl_desc *d)
{
	if (!MODEL_CHECK(controller_sgl_segment,
			 d->length && d->length % SGL_DESC_SIZE == 0 && d->addr + (d->length - 1) >= d->addr))
		return NVME_SC_SGL_SEGMENT | NVME_DNR;
	return NVME_SC_SUCCESS;
}

/* One descriptor of a segment; @at_end: it is the last. */
static u16 take(struct sgl_walk *w, const struct nvme_sgl_desc *d, bool at_end, bool in_last)
{
	if (d->id == NVME_SGL_DATA)
		return add_block(w, d);
	if (!MODEL_CHECK(controller_sgl_type, is_segment(d)))
		return NVME_SC_SGL_TYPE | NVME_DNR;
	if (!at_end)
		return NVME_SC_SGL_COUNT | NVME_DNR;
	if (in_last)
		return NVME_SC_SGL_SEGMENT | NVME_DNR;
	w->next = *d;
	return check_segment(d);
}

/* Up to a page's worth of descriptors at a time, never across a page's end but for a descriptor that lies on it. */
static u32 batch_of(u64 addr, u32 left_desc)
{
	u32 fit = (u32)((NVME_PAGE_SIZE - NVME_PAGE_OFFSET(addr)) / SGL_DESC_SIZE);

	return (u32)nvme_min(left_desc, nvme_max(fit, 1));
}

static u16 read_batch(struct nvme_cmd *cmd, u64 addr, struct nvme_sgl_desc *out, u32 batch)
{
	u32 len = batch * SGL_DESC_SIZE;
	u32 head = (u32)nvme_min(len, NVME_PAGE_SIZE - NVME_PAGE_OFFSET(addr));
	u16 status = nvme_list_read(cmd, addr, head);

	__builtin_memcpy(out, cmd->nvme->list, head);
	if (status || head == len)
		return status;
	status = nvme_list_read(cmd, addr + head, len - head);
	__builtin_memcpy((u8 *)out + head, cmd->nvme->list, len - head);
	return status;
}

/* The segment at w->next; *more: it led to another. */
static u16 walk_segment(struct sgl_walk *w, bool *more)
{
	struct nvme_sgl_desc seg = w->next, desc[SGL_BATCH];
	u32 left = seg.length / SGL_DESC_SIZE;
	u32 before = w->left_bytes;

	*more = false;
	if (!MODEL_CHECK(controller_sgl_bound, left <= w->left_desc))
		return NVME_SC_SGL_SEGMENT | NVME_DNR;
	w->left_desc -= left;
	for (u64 addr = seg.addr; left;) {
		u32 batch = batch_of(addr, left);
		u16 status = read_batch(w->cmd, addr, desc, batch);

		for (u32 i = 0; !status && i < batch; i++) {
			left--;
			status = take(w, &desc[i], !left, seg.id == NVME_SGL_LAST_SEGMENT);
			*more = is_segment(&desc[i]);
		}
		if (status)
			return status;
		addr += batch * SGL_DESC_SIZE;
	}
	if (!MODEL_CHECK(controller_sgl_loop, !*more || (w->left_bytes != before && w->left_bytes)))
		return NVME_SC_SGL_SEGMENT | NVME_DNR;
	return NVME_SC_SUCCESS;
}

u16 nvme_sgl_map(struct nvme_cmd *cmd, u32 len_bytes, enum nvme_dir dir)
{
	struct sgl_walk w = { .cmd = cmd, .dir = dir, .left_bytes = len_bytes, .left_desc = 2 * cmd->nvme->max_frags };
	bool more;
	u16 status;

	_Static_assert(offsetof(struct nvme_sqe, prp2) == offsetof(struct nvme_sqe, prp1) + 8, "DPTR is one field");
	__builtin_memcpy(&w.next.addr, &cmd->sqe.prp1, sizeof(u64));
	__builtin_memcpy(&w.next.length, &cmd->sqe.prp2, sizeof(u64));
	cmd->nr_frags = 0;
	cmd->len_bytes = len_bytes;
	more = is_segment(&w.next);
	if (more)
		status = check_segment(&w.next);
	else
		status = w.next.id == NVME_SGL_DATA ? add_block(&w, &w.next) : NVME_SC_SGL_TYPE | NVME_DNR;
	while (!status && more)
		status = walk_segment(&w, &more);
	if (!status && w.left_bytes)
		return NVME_SC_SGL_LENGTH | NVME_DNR;
	return status;
}
