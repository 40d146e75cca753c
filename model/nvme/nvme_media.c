// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * The medium: its content is a store, its time is dies that read 4 KiB pieces in
 * parallel and one write buffer whose drain is serial. A write is durable content as soon
 * as its data is here; when it is told is a matter of time only.
 *
 * Blocks from NCAP to NSZE have no medium behind them: they read as zeros (DLFEAT 001b).
 */

#define PIECE_SHIFT 3	/* blocks in 4 KiB, as a power of two */

/* Bounded: at most 32 MiB, 8193 pieces. Consecutive pieces lie on consecutive dies. @block is of the medium. */
u64 nvme_media_read_time(struct nvme *n, u64 block, u32 nlb, u64 from_ps)
{
	u64 first = block >> PIECE_SHIFT, last = (block + nlb - 1) >> PIECE_SHIFT;
	u32 die = (u32)(first % n->cfg.timing.dies);
	u64 end_ps = from_ps;

	for (u64 piece = first; piece <= last; piece++) {
		u64 *free_ps = &n->die_free_ps[die];

		*free_ps = nvme_max(*free_ps, from_ps) + n->cfg.timing.read_ps;
		end_ps = nvme_max(end_ps, *free_ps);
		if (++die == n->cfg.timing.dies)
			die = 0;
	}
	return end_ps + n->cfg.timing.fixed_ps;
}

static u64 through_write_buffer(struct nvme *n, u64 busy_ps, u64 from_ps, bool through)
{
	n->write_free_ps = nvme_max(n->write_free_ps, from_ps) + busy_ps;
	return n->write_free_ps + n->cfg.timing.write_ps + (through ? n->cfg.timing.flush_ps : 0);
}

/* @through: forced unit access, or the volatile cache is off. */
u64 nvme_media_write_time(struct nvme *n, u64 nr_4k, u64 from_ps, bool through)
{
	return through_write_buffer(n, nr_4k * n->cfg.timing.write_drain_ps, from_ps, through);
}

u64 nvme_media_zeroes_time(struct nvme *n, u64 nr_4k, u64 from_ps, bool through)
{
	const struct nvme_timing *t = &n->cfg.timing;

	return through_write_buffer(n, nr_4k * (t->zeroes_ps ? t->zeroes_ps : t->write_drain_ps), from_ps, through);
}

u64 nvme_media_flush_time(struct nvme *n, u64 from_ps)
{
	return nvme_max(n->write_free_ps, from_ps) + n->cfg.timing.flush_ps;
}

/* Bytes of [off, off + len) of the namespace that have a medium. */
static u32 backed(const struct nvme_cmd *cmd, u64 off, u32 len)
{
	u64 cap = cmd->ns->ncap << NVME_BLOCK_SHIFT;

	return off >= cap ? 0 : (u32)nvme_min(len, cap - off);
}

static u64 media_off(const struct nvme_ns_config *ns, u64 off)
{
	return (ns->first_block << NVME_BLOCK_SHIFT) + off;
}

void nvme_media_break(struct nvme *n, u64 first_block, u64 nlb)
{
	n->broken_block = first_block;
	n->broken_nlb = nlb;
}

/* Blocks from @slba on that can be read, of @nlb. */
static u64 whole_blocks(const struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb)
{
	u64 block = ns->first_block + slba;

	if (!n->broken_nlb || block >= n->broken_block + n->broken_nlb || n->broken_block >= block + nlb)
		return nlb;
	return n->broken_block > block ? n->broken_block - block : 0;
}

bool nvme_media_is_broken(const struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb)
{
	return whole_blocks(n, ns, slba, nlb) < nlb;
}

static void piece_to_host(struct nvme_cmd *cmd, u64 addr, u64 off, u32 len, u64 *t_ps)
{
	static const u8 zeros[NVME_PAGE_SIZE];
	struct nvme *n = cmd->nvme;
	u32 real = backed(cmd, off, len);
	u8 *to = nvme_cmb_data(cmd, addr, len, true);

	if (to) {
		if (real)
			store_read(n->media, media_off(cmd->ns, off), to, real);
		__builtin_memset(to + real, 0, len - real);
		return;
	}
	if (real)
		pci_dma_from_store(&n->fn, (iova_t){ addr }, n->media, media_off(cmd->ns, off), real, t_ps);
	if (real < len)
		pci_dma_write(&n->fn, (iova_t){ addr + real }, zeros, len - real, t_ps);
}

bool nvme_media_to_host(struct nvme_cmd *cmd)
{
	u64 off = cmd->slba << NVME_BLOCK_SHIFT;
	u64 good = whole_blocks(cmd->nvme, cmd->ns, cmd->slba, cmd->nlb) << NVME_BLOCK_SHIFT, sent = good;
	u64 end_ps = cmd->t_ps;

	if (good < cmd->len_bytes) {
		trace4(cmd->nvme->trace, TRACE_READ_STOPPED, cmd->io_id, cmd->sqid, cmd->sqe.cid, good, cmd->len_bytes);
		if (!MODEL_STEP(controller_read_stops))
			sent = cmd->len_bytes;
	}
	for (u32 i = 0, done = 0; i < cmd->nr_frags && done < sent; i++) {
		u32 len = (u32)nvme_min(cmd->frag_len[i], sent - done);
		u64 t_ps = cmd->t_ps;

		piece_to_host(cmd, cmd->frag[i], off + done, len, &t_ps);
		end_ps = nvme_max(end_ps, t_ps);
		done += len;
	}
	cmd->t_ps = end_ps;
	return good == cmd->len_bytes;
}

/*
 * Fragments go to the medium one by one: when one cannot be fetched, those before it have
 * changed their blocks, which is what NVM 2.1.4 allows beyond the atomic unit of one block
 * and what a command that fails half way says (0/0x04: content of the range is not defined).
 */
bool nvme_media_from_host(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u64 off = media_off(cmd->ns, cmd->slba << NVME_BLOCK_SHIFT);
	u64 end_ps = cmd->t_ps;

	for (u32 i = 0, done = 0; i < cmd->nr_frags; i++) {
		u32 len = cmd->frag_len[i];
		u64 t_ps = cmd->t_ps;
		const u8 *from = nvme_cmb_data(cmd, cmd->frag[i], len, false);

		if (from)
			store_write(n->media, off + done, from, len);
		else if (!pci_dma_to_store(&n->fn, (iova_t){ cmd->frag[i] }, n->media, off + done, len, &t_ps))
			return false;
		end_ps = nvme_max(end_ps, t_ps);
		done += len;
	}
	cmd->t_ps = end_ps;
	return true;
}

static bool piece_equal(const struct nvme_cmd *cmd, const u8 *data, u64 off, u32 len)
{
	u8 medium[NVME_PAGE_SIZE] = { 0 };
	u32 real = backed(cmd, off, len);

	if (real)
		store_read(cmd->nvme->media, media_off(cmd->ns, off), medium, real);
	return !__builtin_memcmp(medium, data, len);
}

/* All data is fetched even after a difference: a fetch that fails is told before it. */
u16 nvme_media_compare(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u64 off = cmd->slba << NVME_BLOCK_SHIFT;
	u64 end_ps = cmd->t_ps;
	bool equal = true;

	for (u32 i = 0, done = 0; i < cmd->nr_frags; i++) {
		u32 len = cmd->frag_len[i];
		const u8 *data = nvme_cmb_data(cmd, cmd->frag[i], len, false);
		u64 t_ps = cmd->t_ps;

		if (!data) {
			if (!pci_dma_read(&n->fn, (iova_t){ cmd->frag[i] }, n->scratch, len, &t_ps))
				return NVME_SC_DATA_TRANSFER;
			data = n->scratch;
		}
		equal = piece_equal(cmd, data, off + done, len) && equal;
		end_ps = nvme_max(end_ps, t_ps);
		done += len;
	}
	cmd->t_ps = end_ps;
	return equal ? NVME_SC_SUCCESS : NVME_SC_COMPARE;
}

void nvme_media_zero(struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb)
{
	u64 end = nvme_min(slba + nlb, ns->ncap);

	if (slba < end)
		store_zero(n->media, media_off(ns, slba << NVME_BLOCK_SHIFT), (end - slba) << NVME_BLOCK_SHIFT);
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* Source and destination may overlap (NVM 3.2.2 leaves the result open): then as if read first, block by block. */
void nvme_media_copy(struct nvme *n, const struct nvme_ns_config *ns, u64 to, u64 from, u64 nlb)
{
	u64 real = from >= ns->ncap ? 0 : nvme_min(nlb, ns->ncap - from);
	u64 step = nvme_min(real, distance(to, from));

	/* Bounded by the blocks of one range: from whichever end does not overwrite what is still to be read. */
	for (u64 done = 0; step && done < real;) {
		u64 len = nvme_min(step, real - done);
		u64 at = to > from ? real - done - len : done;

		store_copy(n->media, media_off(ns, (to + at) << NVME_BLOCK_SHIFT), n->media,
			   media_off(ns, (from + at) << NVME_BLOCK_SHIFT), len << NVME_BLOCK_SHIFT);
		done += len;
	}
	nvme_media_zero(n, ns, to + real, nlb - real);
}
