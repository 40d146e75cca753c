// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Get Log Page, Base 5.16. A page is built whole and the part asked for is sent: never
 * more than from the offset to the page's end.
 */

#define SMART_SIZE 512
#define FIRMWARE_SIZE 512
#define CHANGED_NS_SIZE 4096
#define EFFECTS_SIZE 4096
#define EFFECTS_IO 1024			/* offset of the I/O command set's part */
#define EFFECT_SUPPORTED 0x00000001u
#define EFFECT_CONTENT 0x00000002u	/* LBCC: logical block content may change */
#define EFFECT_NAMESPACES 0x00000008u	/* NIC: which namespaces there are may change */
#define TEMPERATURE_K 310
#define AEN_TYPE_ERROR 0
#define AEN_TYPE_SMART 1
#define AEN_TYPE_NOTICE 2
#define DATA_UNIT_BLOCKS 1000		/* Base figure 207: thousands of 512-byte units */

static void put16(u8 *p, u32 off, u64 val)
{
	u16 v = (u16)val;

	__builtin_memcpy(p + off, &v, sizeof(v));
}

static void put32(u8 *p, u32 off, u64 val)
{
	u32 v = (u32)val;

	__builtin_memcpy(p + off, &v, sizeof(v));
}

static void put64(u8 *p, u32 off, u64 val)
{
	__builtin_memcpy(p + off, &val, sizeof(val));
}

/* Newest first, Base figure 206. */
static u32 build_error(const struct nvme *n, u8 *p)
{
	u32 entries = n->cfg.elpe + 1u;

	for (u32 i = 0; i < entries && i < n->nr_errors; i++) {
		const struct nvme_error *e = &n->error[(n->nr_errors - 1 - i) % entries];
		u8 *to = p + i * NVME_LOG_ERROR_ENTRY_SIZE;

		put64(to, 0, e->count);
		put16(to, 8, e->sqid);
		put16(to, 10, e->cid);
		put16(to, 12, e->status);
		put16(to, 14, e->loc);
		put64(to, 16, e->lba);
		put32(to, 24, e->nsid);
	}
	return entries * NVME_LOG_ERROR_ENTRY_SIZE;
}

static u64 units(u64 blocks)
{
	return (blocks + DATA_UNIT_BLOCKS - 1) / DATA_UNIT_BLOCKS;
}

static u32 build_smart(const struct nvme *n, u8 *p)
{
	put16(p, 1, TEMPERATURE_K);
	p[3] = 100;	/* available spare, per cent */
	p[4] = 10;	/* its threshold */
	put64(p, 32, units(n->count.read_blocks));
	put64(p, 48, units(n->count.written_blocks));
	put64(p, 64, n->count.read_commands);
	put64(p, 80, n->count.write_commands);
	put64(p, 112, 1);	/* power cycles */
	put64(p, 176, n->nr_errors);
	return SMART_SIZE;
}

static u32 build_firmware(const struct nvme *n, u8 *p)
{
	const char *fw = n->cfg.firmware;

	p[0] = 1;	/* slot 1 is active */
	__builtin_memset(p + 8, ' ', 8);
	for (u32 i = 0; i < 8 && fw[i]; i++)
		p[8 + i] = (u8)fw[i];
	return FIRMWARE_SIZE;
}

static u32 build_effects(const struct nvme *n, u8 *p)
{
	static const u8 admin[] = { NVME_ADM_DELETE_SQ, NVME_ADM_CREATE_SQ, NVME_ADM_GET_LOG_PAGE, NVME_ADM_DELETE_CQ,
				    NVME_ADM_CREATE_CQ, NVME_ADM_IDENTIFY, NVME_ADM_ABORT, NVME_ADM_SET_FEATURES,
				    NVME_ADM_GET_FEATURES, NVME_ADM_AER };

	for (u32 i = 0; i < sizeof(admin); i++)
		put32(p, 4u * admin[i], EFFECT_SUPPORTED);
	put32(p, 4 * NVME_ADM_FORMAT, EFFECT_SUPPORTED | EFFECT_CONTENT);
	if (n->cfg.resource_domains)
		put32(p, 4 * NVME_ADM_NRD_BIND, EFFECT_SUPPORTED);
	if (n->cfg.pasid)
		put32(p, 4 * NVME_ADM_QUEUE_BIND, EFFECT_SUPPORTED);
	if (n->cfg.ns_management) {
		put32(p, 4 * NVME_ADM_NS_MANAGE, EFFECT_SUPPORTED | EFFECT_NAMESPACES);
		put32(p, 4 * NVME_ADM_NS_ATTACH, EFFECT_SUPPORTED | EFFECT_NAMESPACES);
	}
	p += EFFECTS_IO;
	put32(p, 4 * NVME_CMD_FLUSH, EFFECT_SUPPORTED);
	put32(p, 4 * NVME_CMD_READ, EFFECT_SUPPORTED);
	put32(p, 4 * NVME_CMD_WRITE, EFFECT_SUPPORTED | EFFECT_CONTENT);
	if (n->cfg.oncs & NVME_ONCS_COMPARE)
		put32(p, 4 * NVME_CMD_COMPARE, EFFECT_SUPPORTED);
	if (n->cfg.oncs & NVME_ONCS_WRITE_ZEROES)
		put32(p, 4 * NVME_CMD_WRITE_ZEROES, EFFECT_SUPPORTED | EFFECT_CONTENT);
	if (n->cfg.oncs & NVME_ONCS_DSM)
		put32(p, 4 * NVME_CMD_DSM, EFFECT_SUPPORTED | EFFECT_CONTENT);
	if (n->cfg.oncs & NVME_ONCS_COPY)
		put32(p, 4 * NVME_CMD_COPY, EFFECT_SUPPORTED | EFFECT_CONTENT);
	if (n->cfg.oncs & NVME_ONCS_RESERVATIONS) {
		put32(p, 4 * NVME_CMD_RESV_REGISTER, EFFECT_SUPPORTED);
		put32(p, 4 * NVME_CMD_RESV_REPORT, EFFECT_SUPPORTED);
		put32(p, 4 * NVME_CMD_RESV_ACQUIRE, EFFECT_SUPPORTED);
		put32(p, 4 * NVME_CMD_RESV_RELEASE, EFFECT_SUPPORTED);
	}
	return EFFECTS_SIZE;
}

/* Size of the page, built in @p; 0: no such page. */
static u32 build(const struct nvme *n, u8 lid, u8 *p)
{
	__builtin_memset(p, 0, NVME_SCRATCH_SIZE);
	switch (lid) {
	case NVME_LOG_ERROR:
		return build_error(n, p);
	case NVME_LOG_SMART:
		return build_smart(n, p);
	case NVME_LOG_FIRMWARE:
		return build_firmware(n, p);
	case NVME_LOG_CHANGED_NS:
		return CHANGED_NS_SIZE;
	case NVME_LOG_EFFECTS:
		return build_effects(n, p);
	default:
		return 0;
	}
}

/* Reading the page that an event named lets events of its type be told again (Base 5.2). */
static void unmask_events(struct nvme *n, u8 lid)
{
	if (lid == NVME_LOG_ERROR)
		n->aer_masked &= ~(1u << AEN_TYPE_ERROR);
	else if (lid == NVME_LOG_SMART)
		n->aer_masked &= ~(1u << AEN_TYPE_SMART);
	else
		n->aer_masked &= ~(1u << AEN_TYPE_NOTICE);
}

/* LPA bit 0 = 0: the SMART log is the controller's, not a namespace's. */
static bool nsid_is_legal(u8 lid, u32 nsid)
{
	return lid != NVME_LOG_SMART || !nsid || nsid == NVME_NSID_ALL;
}

u16 nvme_admin_get_log(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	u8 lid = (u8)FIELD_GET(NVME_LOG_LID, sqe->cdw10);
	u64 dwords = (FIELD_GET(NVME_LOG_NUMDL, sqe->cdw10) | (u64)(sqe->cdw11 & 0xFFFF) << 16) + 1;
	u64 offset = (u64)sqe->cdw13 << 32 | sqe->cdw12;
	u32 size = build(n, lid, n->scratch);
	u16 status;

	if (!size)
		return NVME_SC_LOG_PAGE_INVALID | NVME_DNR;
	if (!nsid_is_legal(lid, sqe->nsid) || (sqe->cdw14 & NVME_LOG_OT))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (dwords * 4 > n->max_transfer_bytes || (offset & 3) || offset >= size)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	status = nvme_prp_map(cmd, (u32)nvme_min(dwords * 4, size - offset), NVME_TO_HOST);
	if (status)
		return status;
	nvme_buf_to_host(cmd, n->scratch + offset);
	n->count.log_pages++;
	if (!(sqe->cdw10 & NVME_LOG_RAE))
		unmask_events(n, lid);
	return NVME_SC_SUCCESS;
}
