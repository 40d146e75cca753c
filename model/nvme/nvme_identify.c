// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/* Identify, Base 5.17 and NVM 4.1.5: a page of zeros with what this controller has. */

#define SQES 0x66		/* 64 bytes, at least and at most */
#define CQES 0x44		/* 16 bytes */
#define CNTRLTYPE_IO 1
#define FRMW_ONE_SLOT_RO 0x03
#define WCTEMP_K 343
#define CCTEMP_K 353
#define RAB_LOG2 0		/* recommended burst of 1 */
#define LBAF0_512 (9u << 16)	/* LBADS 9, RP 0; metadata in bits 15:0 */
#define MC_SEPARATE 0x02
#define DPC_TYPE1_LAST 0x11
#define DLFEAT_READS_ZERO 0x01
#define DLFEAT_UNREPORTED 0x00
#define NGUID_SIZE 16
#define UUID_SIZE 16
#define NIDT_EUI64 1
#define NIDT_NGUID 2
#define NIDT_UUID 3

static void put16(u8 *page, u32 off, u64 val)
{
	u16 v = (u16)val;

	__builtin_memcpy(page + off, &v, sizeof(v));
}

static void put32(u8 *page, u32 off, u64 val)
{
	u32 v = (u32)val;

	__builtin_memcpy(page + off, &v, sizeof(v));
}

static void put64(u8 *page, u32 off, u64 val)
{
	__builtin_memcpy(page + off, &val, sizeof(val));
}

/* ASCII, left justified, padded with spaces (Base 1.5.3). */
static void put_text(u8 *page, u32 off, const char *s, u32 size)
{
	u32 i = 0;

	for (; i < size && s[i]; i++)
		page[off + i] = (u8)s[i];
	for (; i < size; i++)
		page[off + i] = ' ';
}

static u32 put_string(u8 *page, u32 off, const char *s)
{
	for (; *s; s++)
		page[off++] = (u8)*s;
	return off;
}

/* FNV-1a of the serial number: the namespace's identity is a function of the configuration alone. */
static u64 serial_hash(const struct nvme *n, u64 basis)
{
	u64 h = 0xCBF29CE484222325ULL ^ basis;

	for (const char *s = n->cfg.serial; *s; s++)
		h = (h ^ (u8)*s) * 0x100000001B3ULL;
	return h;
}

static void put_eui64(const struct nvme *n, u32 nsid, u8 *to)
{
	put64(to, 0, serial_hash(n, 8ULL * nsid));
}

static void put_nguid(const struct nvme *n, u32 nsid, u8 *to)
{
	put64(to, 0, serial_hash(n, 8ULL * nsid + 1));
	put64(to, 8, serial_hash(n, 8ULL * nsid + 2));
}

static void identify_ctrl(const struct nvme *n, u8 *p)
{
	u32 end;

	put16(p, NVME_ID_CTRL_VID, n->fn.cfg.vendor_id);
	put16(p, NVME_ID_CTRL_SSVID, n->fn.cfg.subsystem_vendor_id);
	put_text(p, NVME_ID_CTRL_SN, n->cfg.serial, 20);
	put_text(p, NVME_ID_CTRL_MN, n->cfg.model, 40);
	put_text(p, NVME_ID_CTRL_FR, n->cfg.firmware, 8);
	p[NVME_ID_CTRL_RAB] = RAB_LOG2;
	p[NVME_ID_CTRL_MDTS] = n->cfg.mdts;
	put32(p, NVME_ID_CTRL_VER, NVME_VS_1_4);
	p[NVME_ID_CTRL_CNTRLTYPE] = CNTRLTYPE_IO;
	put16(p, NVME_ID_CTRL_OACS, NVME_OACS_FORMAT | (n->cfg.ns_management ? NVME_OACS_NS_MANAGE : 0));
	p[NVME_ID_CTRL_ACL] = n->cfg.acl;
	p[NVME_ID_CTRL_AERL] = n->cfg.aerl;
	p[NVME_ID_CTRL_FRMW] = FRMW_ONE_SLOT_RO;
	p[NVME_ID_CTRL_LPA] = NVME_LPA_EFFECTS | NVME_LPA_EXTENDED;
	p[NVME_ID_CTRL_ELPE] = n->cfg.elpe;
	put16(p, NVME_ID_CTRL_WCTEMP, WCTEMP_K);
	put16(p, NVME_ID_CTRL_CCTEMP, CCTEMP_K);
	p[NVME_ID_CTRL_SQES] = SQES;
	p[NVME_ID_CTRL_CQES] = CQES;
	put32(p, NVME_ID_CTRL_NN, n->cfg.nn);
	put16(p, NVME_ID_CTRL_ONCS, n->cfg.oncs);
	put32(p, NVME_ID_CTRL_SGLS, n->cfg.sgls ? NVME_SGLS_SUPPORTED : 0);
	p[NVME_ID_CTRL_VWC] = NVME_VWC_PRESENT | NVME_VWC_FLUSH_ALL;
	end = put_string(p, NVME_ID_CTRL_SUBNQN, "nqn.2023-04.org.lightiov:");
	put_string(p, end, n->cfg.serial);
	put16(p, NVME_ID_CTRL_PSD0, 1200);	/* maximum power, 0.01 W */
	if (n->cfg.resource_domains)
		put32(p, NVME_ID_CTRL_VS, NVME_NRD_MAGIC);
	if (n->cfg.pasid)
		put32(p, NVME_ID_CTRL_VS + 4, NVME_BIND_MAGIC);
	if (n->cfg.ns_management) {
		put64(p, NVME_ID_CTRL_TNVMCAP, n->capacity << NVME_BLOCK_SHIFT);
		put64(p, NVME_ID_CTRL_UNVMCAP, nvme_ns_unallocated(n) << NVME_BLOCK_SHIFT);
	}
}

static void identify_ns(const struct nvme *n, u32 nsid, u8 *p)
{
	const struct nvme_ns_config *ns = nvme_ns(n, nsid);

	put64(p, NVME_ID_NS_NSZE, ns->nsze);
	put64(p, NVME_ID_NS_NCAP, ns->ncap);
	put64(p, NVME_ID_NS_NUSE, ns->ncap);
	/* Thin provisioning is what NCAP below NSZE is called. */
	p[NVME_ID_NS_NSFEAT] = ns->ncap < ns->nsze;
	p[NVME_ID_NS_DLFEAT] = n->cfg.keeps_deallocated ? DLFEAT_UNREPORTED : DLFEAT_READS_ZERO;
	if (n->cfg.oncs & NVME_ONCS_RESERVATIONS)
		p[NVME_ID_NS_RESCAP] = NVME_RESCAP_ALL_TYPES;
	if (n->cfg.oncs & NVME_ONCS_COPY) {
		put16(p, NVME_ID_NS_MSSRL, NVME_COPY_RANGE_MAX);
		put32(p, NVME_ID_NS_MCL, NVME_COPY_BLOCKS_MAX);
		p[NVME_ID_NS_MSRC] = NVME_COPY_RANGES_MAX - 1;
	}
	put_nguid(n, nsid, p + NVME_ID_NS_NGUID);
	put_eui64(n, nsid, p + NVME_ID_NS_EUI64);
	put32(p, NVME_ID_NS_LBAF0, LBAF0_512 | (n->cfg.metadata ? NVME_META_SIZE : 0));
	if (n->cfg.metadata) {
		p[NVME_ID_NS_MC] = MC_SEPARATE;
		p[NVME_ID_NS_DPC] = DPC_TYPE1_LAST;
		p[NVME_ID_NS_DPS] = ns->pi;
	}
}

static u32 put_descriptor(u8 *p, u32 off, u8 type, u8 len)
{
	p[off] = type;
	p[off + 1] = len;
	return off + 4;
}

static void identify_descriptors(const struct nvme *n, u32 nsid, u8 *p)
{
	u32 off = put_descriptor(p, 0, NIDT_EUI64, 8);

	put_eui64(n, nsid, p + off);
	off = put_descriptor(p, off + 8, NIDT_NGUID, NGUID_SIZE);
	put_nguid(n, nsid, p + off);
	off = put_descriptor(p, off + NGUID_SIZE, NIDT_UUID, UUID_SIZE);
	put64(p, off, serial_hash(n, 8ULL * nsid + 3));
	put64(p, off + 8, serial_hash(n, 8ULL * nsid + 4));
	/* RFC 4122: version 4, variant 10b. */
	p[off + 6] = (u8)((p[off + 6] & 0x0F) | 0x40);
	p[off + 8] = (u8)((p[off + 8] & 0x3F) | 0x80);
}

/* An inactive namespace's data structure is zeros (Base 5.17.2.1); one that cannot be is refused. */
static u16 fill_ns(const struct nvme *n, u32 nsid, u8 *p)
{
	if (nvme_ns(n, nsid))
		identify_ns(n, nsid, p);
	else if (!nsid || nsid > n->cfg.nn)
		return NVME_SC_INVALID_NSID | NVME_DNR;
	return NVME_SC_SUCCESS;
}

/* Active namespaces above @after, in order. */
static u16 fill_list(const struct nvme *n, u32 after, u8 *p)
{
	u32 off = 0;

	if (after >= NVME_NSID_ALL - 1)
		return NVME_SC_INVALID_NSID | NVME_DNR;
	for (u32 nsid = 1; nsid <= NVME_NAMESPACES_MAX; nsid++) {
		if (nsid <= after || !nvme_ns(n, nsid))
			continue;
		put32(p, off, nsid);
		off += 4;
	}
	return NVME_SC_SUCCESS;
}

static u16 fill(const struct nvme *n, const struct nvme_sqe *sqe, u8 *p)
{
	u16 status;

	switch (sqe->cdw10 & 0xFF) {
	case NVME_CNS_NS:
		return fill_ns(n, sqe->nsid, p);
	case NVME_CNS_CTRL:
		identify_ctrl(n, p);
		return NVME_SC_SUCCESS;
	case NVME_CNS_NS_LIST:
		return fill_list(n, sqe->nsid, p);
	case NVME_CNS_NS_DESC:
		status = nvme_nsid_check(n, sqe->nsid);
		if (!status)
			identify_descriptors(n, sqe->nsid, p);
		return status;
	default:
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	}
}

u16 nvme_admin_identify(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 status;

	__builtin_memset(n->scratch, 0, NVME_ID_SIZE);
	status = fill(n, &cmd->sqe, n->scratch);
	if (!status)
		status = nvme_prp_map(cmd, NVME_ID_SIZE, NVME_TO_HOST);
	if (status)
		return status;
	nvme_buf_to_host(cmd, n->scratch);
	return NVME_SC_SUCCESS;
}
