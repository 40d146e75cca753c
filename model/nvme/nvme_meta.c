// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Metadata: 8 bytes a block in a buffer of its own (NVM 5.2.1, MPTR), which may be type 1
 * protection information (NVM 5.2.2). With PRACT the controller makes and takes away the
 * information itself and no metadata moves. The buffer is judged as data is, page by page
 * and before anything moves; it is contiguous, whatever the data's PRPs are.
 *
 * What is stored is the complement: a block that nobody wrote, or that was deallocated, has
 * all ones, by which NVM 5.2.2.5 leaves it unchecked, and costs nothing to keep.
 */

#define APP_TAG_UNCHECKED 0xFFFF
#define CRC_POLYNOMIAL 0x8BB7	/* NVM 5.2.2.1: CRC-16 T10-DIF */
#define CHUNK (NVME_PAGE_SIZE / NVME_META_SIZE)

struct pi {
	u8 guard[2], app[2], ref[4];	/* big-endian */
};
_Static_assert(sizeof(struct pi) == NVME_META_SIZE, "NVM 5.2.2.1: 8 bytes");

static u16 crc(const u8 *data, u32 len)
{
	u32 sum = 0;

	for (u32 i = 0; i < len; i++) {
		sum ^= (u32)data[i] << 8;
		for (u32 bit = 0; bit < 8; bit++)
			sum = sum & 0x8000 ? (sum << 1 ^ CRC_POLYNOMIAL) & 0xFFFF : sum << 1;
	}
	return (u16)sum;
}

static bool is_protected(const struct nvme_cmd *cmd)
{
	return cmd->nvme->cfg.metadata && cmd->ns->pi;
}

bool nvme_meta_moves(const struct nvme_cmd *cmd)
{
	return cmd->nvme->cfg.metadata && !(cmd->ns->pi && (cmd->sqe.cdw12 & NVME_RW_PRACT));
}

static u64 place(const struct nvme_cmd *cmd, u64 slba)
{
	return cmd->nvme->meta_off + (cmd->ns->first_block + slba) * NVME_META_SIZE;
}

static void invert(u8 *buf, u32 len)
{
	for (u32 i = 0; i < len; i++)
		buf[i] = (u8)~buf[i];
}

static void load(const struct nvme_cmd *cmd, u64 slba, u32 nlb, u8 *buf)
{
	store_read(cmd->nvme->media, place(cmd, slba), buf, nlb * NVME_META_SIZE);
	invert(buf, nlb * NVME_META_SIZE);
}

static void save(const struct nvme_cmd *cmd, u64 slba, u32 nlb, u8 *buf)
{
	invert(buf, nlb * NVME_META_SIZE);
	store_write(cmd->nvme->media, place(cmd, slba), buf, nlb * NVME_META_SIZE);
}

void nvme_meta_deallocate(struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb)
{
	if (n->cfg.metadata)
		store_zero(n->media, n->meta_off + (ns->first_block + slba) * NVME_META_SIZE, nlb * NVME_META_SIZE);
}

/* Bytes of the buffer that lie in one page with its byte @done. */
static u32 piece(u64 mptr, u32 done, u32 len)
{
	return (u32)nvme_min(len - done, NVME_PAGE_SIZE - NVME_PAGE_OFFSET(mptr + done));
}

u16 nvme_meta_map(struct nvme_cmd *cmd)
{
	u32 len = cmd->nlb * NVME_META_SIZE;
	u64 mptr = cmd->sqe.mptr;
	u16 status = NVME_SC_SUCCESS;

	/* MDTS says so before; the scratch has room for no more. */
	if (cmd->nvme->cfg.metadata && len > NVME_SCRATCH_SIZE)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (!nvme_meta_moves(cmd))
		return NVME_SC_SUCCESS;
	if (!MODEL_CHECK(controller_mptr_align, !(mptr & 3)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	for (u32 done = 0; done < len && !status; done += piece(mptr, done, len))
		status = nvme_meta_check(cmd, mptr + done, piece(mptr, done, len));
	return status;
}

static bool from_host(struct nvme_cmd *cmd, u8 *buf)
{
	u32 len = cmd->nlb * NVME_META_SIZE;

	for (u32 done = 0; done < len; done += piece(cmd->sqe.mptr, done, len))
		if (!pci_dma_read(&cmd->nvme->fn, (iova_t){ cmd->sqe.mptr + done }, buf + done,
				  piece(cmd->sqe.mptr, done, len), &cmd->t_ps))
			return false;
	return true;
}

void nvme_meta_to_host(struct nvme_cmd *cmd)
{
	u32 len = cmd->nlb * NVME_META_SIZE;

	if (!nvme_meta_moves(cmd))
		return;
	load(cmd, cmd->slba, cmd->nlb, cmd->nvme->scratch);
	for (u32 done = 0; done < len; done += piece(cmd->sqe.mptr, done, len))
		pci_dma_write(&cmd->nvme->fn, (iova_t){ cmd->sqe.mptr + done }, cmd->nvme->scratch + done,
			      piece(cmd->sqe.mptr, done, len), &cmd->t_ps);
}

/* As the command has it for its @i-th block. */
static struct pi with_guard(const struct nvme_cmd *cmd, u32 i, u16 guard)
{
	u16 app = (u16)cmd->sqe.cdw15;
	u32 ref = cmd->sqe.cdw14 + i;

	return (struct pi){ { (u8)(guard >> 8), (u8)guard }, { (u8)(app >> 8), (u8)app },
			    { (u8)(ref >> 24), (u8)(ref >> 16), (u8)(ref >> 8), (u8)ref } };
}

static struct pi make(const struct nvme_cmd *cmd, u64 slba, u32 i)
{
	u8 block[1 << NVME_BLOCK_SHIFT];

	store_read(cmd->nvme->media, (cmd->ns->first_block + slba + i) << NVME_BLOCK_SHIFT, block, sizeof(block));
	return with_guard(cmd, i, crc(block, sizeof(block)));
}

/* NVM 5.2.2.5, as PRCHK asks, block by block; type 1: all ones as application tag turns it off. */
static u16 check(const struct nvme_cmd *cmd, const struct pi *got)
{
	u32 cdw12 = cmd->sqe.cdw12, mask = cmd->sqe.cdw15 >> 16;

	if (!is_protected(cmd))
		return NVME_SC_SUCCESS;
	for (u32 i = 0; i < cmd->nlb; i++) {
		struct pi want = make(cmd, cmd->slba, i);
		u32 app = (u32)got[i].app[0] << 8 | got[i].app[1];

		if (app == APP_TAG_UNCHECKED)
			continue;
		if ((cdw12 & NVME_RW_PRCHK_GUARD) && __builtin_memcmp(want.guard, got[i].guard, 2))
			return NVME_SC_GUARD;
		if ((cdw12 & NVME_RW_PRCHK_APP) && ((app ^ cmd->sqe.cdw15) & mask))
			return NVME_SC_APP_TAG;
		if ((cdw12 & NVME_RW_PRCHK_REF) && __builtin_memcmp(want.ref, got[i].ref, 4))
			return NVME_SC_REF_TAG;
	}
	return NVME_SC_SUCCESS;
}

/* Bounded: config_is_valid() keeps a command's metadata within the scratch. */
u16 nvme_meta_check_read(struct nvme_cmd *cmd)
{
	if (!is_protected(cmd))
		return NVME_SC_SUCCESS;
	load(cmd, cmd->slba, cmd->nlb, cmd->nvme->scratch);
	return check(cmd, (const struct pi *)cmd->nvme->scratch);
}

static void generate(const struct nvme_cmd *cmd)
{
	struct pi made[CHUNK];

	for (u32 done = 0; done < cmd->nlb; done += CHUNK) {
		u32 nlb = (u32)nvme_min(cmd->nlb - done, CHUNK);

		for (u32 i = 0; i < nlb; i++)
			made[i] = make(cmd, cmd->slba, done + i);
		save(cmd, cmd->slba + done, nlb, (u8 *)made);
	}
}

/* After the data: the guard is of what is on the medium now. */
u16 nvme_meta_from_host(struct nvme_cmd *cmd)
{
	u8 *buf = cmd->nvme->scratch;
	u16 status;

	if (!cmd->nvme->cfg.metadata)
		return NVME_SC_SUCCESS;
	if (!nvme_meta_moves(cmd)) {
		generate(cmd);
		return NVME_SC_SUCCESS;
	}
	if (!from_host(cmd, buf))
		return NVME_SC_DATA_TRANSFER;
	status = check(cmd, (const struct pi *)buf);
	if (!status)
		save(cmd, cmd->slba, cmd->nlb, buf);
	return status;
}

u16 nvme_meta_compare(struct nvme_cmd *cmd)
{
	u8 *buf = cmd->nvme->scratch;
	u8 one[NVME_META_SIZE];

	if (!nvme_meta_moves(cmd))
		return NVME_SC_SUCCESS;
	if (!from_host(cmd, buf))
		return NVME_SC_DATA_TRANSFER;
	for (u32 i = 0; i < cmd->nlb; i++) {
		load(cmd, cmd->slba + i, 1, one);
		if (__builtin_memcmp(one, buf + i * NVME_META_SIZE, sizeof(one)))
			return NVME_SC_COMPARE;
	}
	return NVME_SC_SUCCESS;
}

/* NVM 3.2.8: zeros, or the information that PRACT asks for, whose guard is 0: the CRC of zeros. */
void nvme_meta_zero(struct nvme_cmd *cmd)
{
	struct pi made[CHUNK];

	if (!cmd->nvme->cfg.metadata)
		return;
	for (u32 done = 0; done < cmd->nlb; done += CHUNK) {
		u32 nlb = (u32)nvme_min(cmd->nlb - done, CHUNK);

		for (u32 i = 0; i < nlb; i++)
			made[i] = nvme_meta_moves(cmd) ? (struct pi){ .guard = { 0 } } : with_guard(cmd, done + i, 0);
		save(cmd, cmd->slba + done, nlb, (u8 *)made);
	}
}

/* One range of Copy; as nvme_media_copy(), as if read first. */
void nvme_meta_copy(struct nvme_cmd *cmd, u64 to, u64 from, u32 nlb)
{
	if (!cmd->nvme->cfg.metadata)
		return;
	load(cmd, from, nlb, cmd->nvme->scratch);
	save(cmd, to, nlb, cmd->nvme->scratch);
}
