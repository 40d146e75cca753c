// SPDX-License-Identifier: GPL-2.0
/*
 * The physical controller: bring-up, what it says about itself, disable. NVMe Base 3.5.1.
 * A controller is someone else's firmware: what it says is checked before it is used, and all
 * ones mean that it is gone.
 */

#include "internal.h"

#define POLL_NS		100000ULL
#define CAP_TO_NS	500000000ULL	/* unit of CAP.TO */
#define CAPS_MAX	48u		/* capabilities fit in 192 bytes */

static bool ctrl_gone(struct liov_backend *be)
{
	return port_mmio_rd32(&be->bar0, NVME_REG_CSTS) == ~0u;
}

static int ctrl_wait_ready(struct liov_backend *be, bool ready)
{
	u64 to = FIELD_GET(NVME_CAP_TO, be->info.cap);
	u64 end = port_now_ns(be->home) + (to ? to : 1) * CAP_TO_NS;

	for (;;) {
		u32 csts = port_mmio_rd32(&be->bar0, NVME_REG_CSTS);

		if (csts == ~0u)
			return -ENODEV;
		if (((csts & NVME_CSTS_RDY) != 0) == ready)
			return 0;
		if (ready && (csts & NVME_CSTS_CFS))
			return -EIO;
		if (port_now_ns(be->home) >= end)
			return -ETIMEDOUT;
		port_sleep_ns(be->home, POLL_NS);
	}
}

static int ctrl_disable(struct liov_backend *be)
{
	u32 cc = port_mmio_rd32(&be->bar0, NVME_REG_CC);

	if (ctrl_gone(be))
		return -ENODEV;
	if (cc & NVME_CC_EN)
		port_mmio_wr32(&be->bar0, NVME_REG_CC, cc & ~(u32)(NVME_CC_EN | NVME_CC_SHN));
	return ctrl_wait_ready(be, false);
}

static int ctrl_enable(struct liov_backend *be)
{
	struct liov_admin *a = &be->admin;
	u32 cc = (u32)(FIELD_PREP(NVME_CC_IOSQES, NVME_CC_IOSQES_64) | FIELD_PREP(NVME_CC_IOCQES, NVME_CC_IOCQES_16));
	int err;

	liov_admin_rewind(be);
	port_mmio_wr32(&be->bar0, NVME_REG_AQA, (u32)(FIELD_PREP(NVME_AQA_ASQS, LIOV_ADMIN_DEPTH - 1) |
						      FIELD_PREP(NVME_AQA_ACQS, LIOV_ADMIN_DEPTH - 1)));
	port_mmio_wr64(&be->bar0, NVME_REG_ASQ, a->iova.v);
	port_mmio_wr64(&be->bar0, NVME_REG_ACQ, a->iova.v + SPEC_PAGE_SIZE);
	port_mmio_wr32(&be->bar0, NVME_REG_CC, cc);
	port_mmio_wr32(&be->bar0, NVME_REG_CC, cc | (u32)NVME_CC_EN);
	err = ctrl_wait_ready(be, true);
	if (err)
		return err;
	liov_admin_go(be);
	return 0;
}

/* Offset of the MSI-X capability, or 0. */
static u32 ctrl_find_msix(struct liov_backend *be)
{
	u32 at = port_cfg_rd32(be->host, PCIS_CAP_POINTER) & PCIS_CAP_NEXT_MASK;

	if (!(port_cfg_rd32(be->host, PCIS_COMMAND) >> 16 & PCIS_STATUS_CAP_LIST))
		return 0;
	for (u32 i = 0; i < CAPS_MAX && at >= PCIS_HEADER_SIZE; i++) {
		u32 head = port_cfg_rd32(be->host, at);

		if ((head & 0xff) == PCIS_CAP_ID_MSIX)
			return at;
		at = head >> 8 & PCIS_CAP_NEXT_MASK;
	}
	return 0;
}

/* Which bytes of BAR 0 are MSI-X table and PBA: no VM may ever reach them. */
static void ctrl_locate_msix(struct liov_backend *be)
{
	u32 at = ctrl_find_msix(be);
	u32 control, reg[2];
	u64 len[2];

	be->msix[0] = be->msix[1] = (struct liov_range){ 0, 0 };
	if (at == 0)
		return;
	control = port_cfg_rd32(be->host, at) >> 16;
	reg[0] = port_cfg_rd32(be->host, at + PCIS_MSIX_TABLE);
	reg[1] = port_cfg_rd32(be->host, at + PCIS_MSIX_PBA);
	len[0] = ((u64)(control & PCIS_MSIX_TABLE_SIZE) + 1) * PCIS_MSIX_ENTRY_SIZE;
	len[1] = (((u64)(control & PCIS_MSIX_TABLE_SIZE) + 64) >> 6) * 8;
	for (u32 i = 0; i < 2; i++)
		if ((reg[i] & PCIS_MSIX_BIR) == 0)
			be->msix[i] = (struct liov_range){ reg[i] & PCIS_MSIX_OFFSET, len[i] };
}

static int ctrl_map(struct liov_backend *be)
{
	struct liov_ctrl_info *in = &be->info;
	u32 command = port_cfg_rd32(be->host, PCIS_COMMAND) & 0xffff;
	int err;

	if (command == 0xffff)
		return -ENODEV;
	/* The status half is written as zeros: its bits are cleared by ones. */
	port_cfg_wr32(be->host, PCIS_COMMAND, command | PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER);
	err = port_bar_map(be->host, 0, &be->bar0, &be->bar0_size, &be->bar0_bus_addr);
	if (err)
		return err;
	be->has_bar0 = true;
	if (be->bar0_size < 2 * NVME_REG_DBS)
		return -ENODEV;
	in->cap = port_mmio_rd64(&be->bar0, NVME_REG_CAP);
	in->vs = port_mmio_rd32(&be->bar0, NVME_REG_VS);
	if (in->cap == ~0ULL || in->vs == ~0u)
		return -ENODEV;
	if (!(in->cap & NVME_CAP_CSS_NVM) || FIELD_GET(NVME_CAP_MPSMIN, in->cap) != 0 ||
	    FIELD_GET(NVME_CAP_MQES, in->cap) == 0)
		return -ENODEV;
	in->doorbell_stride = 4u << FIELD_GET(NVME_CAP_DSTRD, in->cap);
	be->own_doorbell_pages = in->doorbell_stride >= SPEC_PAGE_SIZE;
	be->depth_max = (u32)FIELD_GET(NVME_CAP_MQES, in->cap) + 1;
	if (be->depth_max > LIOV_QUEUE_DEPTH_MAX)
		be->depth_max = LIOV_QUEUE_DEPTH_MAX;
	ctrl_locate_msix(be);
	return 0;
}

/* Doorbells that lie in the BAR and, where VMs share a page of them, in that page. */
static u32 ctrl_queues_reachable(const struct liov_backend *be)
{
	u64 end = be->bar0_size;
	u64 pairs;

	if (be->cfg.policy != LIOV_POLICY_MEDIATED && !be->own_doorbell_pages)
		end = NVME_REG_DBS + SPEC_PAGE_SIZE;
	for (pairs = 0; pairs < LIOV_IO_QUEUES_MAX; pairs++)
		if (liov_doorbell(be, (u32)pairs + 1, true) + (be->own_doorbell_pages ? SPEC_PAGE_SIZE : 4) > end)
			break;
	return (u32)pairs;
}

/* May the pages with doorbells be mapped into VMs? */
static int ctrl_check_doorbells(const struct liov_backend *be)
{
	u64 len = SPEC_PAGE_SIZE;

	if (be->cfg.policy == LIOV_POLICY_MEDIATED)
		return 0;
	if (!LIOV_CHECK(backend_nrd_there, be->cfg.policy != LIOV_POLICY_NRD || (be->own_doorbell_pages && be->info.has_nrd)))
		return -EOPNOTSUPP;
	if (!LIOV_CHECK(backend_siov_there, be->cfg.policy != LIOV_POLICY_SIOV ||
					    (be->own_doorbell_pages && be->info.has_bind && be->info.has_ns_manage)))
		return -EOPNOTSUPP;
	if (be->own_doorbell_pages)
		len = (2 * (u64)be->info.io_queues + 2) * be->info.doorbell_stride;
	for (u32 i = 0; i < 2; i++) {
		u64 start = be->msix[i].start, end = start + be->msix[i].count;

		if (!LIOV_CHECK(backend_msix_apart, be->msix[i].count == 0 || start >= NVME_REG_DBS + len || end <= NVME_REG_DBS))
			return -EOPNOTSUPP;
	}
	return 0;
}

/* Fixed-width ASCII of Identify to a string, trailing blanks off. */
static void ctrl_string(char *dst, const u8 *src, u32 len)
{
	while (len > 0 && (src[len - 1] == ' ' || src[len - 1] == 0))
		len--;
	for (u32 i = 0; i < len; i++)
		dst[i] = src[i] >= 0x20 && src[i] < 0x7f ? (char)src[i] : '?';
	dst[len] = 0;
}

/* Copy's limits in Identify Namespace (NVM 4.1.5.1). Without room for a block it is as if not offered. */
static void ctrl_copy_limits(struct liov_ctrl_info *in, const u8 *ns)
{
	u16 mssrl;
	u32 mcl;

	memcpy(&mssrl, ns + NVME_ID_NS_MSSRL, sizeof(mssrl));
	memcpy(&mcl, ns + NVME_ID_NS_MCL, sizeof(mcl));
	in->copy.ranges = ns[NVME_ID_NS_MSRC] < LIOV_COPY_RANGES_MAX ? ns[NVME_ID_NS_MSRC] + 1u : LIOV_COPY_RANGES_MAX;
	in->copy.range_blocks = mssrl;
	in->copy.blocks = mcl;
	if (mssrl == 0 || mcl == 0)
		in->oncs &= (u16)~NVME_ONCS_COPY;
}

/*
 * Metadata would be a second buffer, and LightIOV moves none. What it can live with is protection information
 * and nothing else, which the controller makes and takes away itself (NVM 5.2.2: MS = 8 and PRACT).
 * What of a guest's names a buffer is still checked: GPA-11.
 */
static int ctrl_metadata(struct liov_ctrl_info *in, const u8 *ns, u32 ms)
{
	in->pi = ms == 8 && (ns[NVME_ID_NS_DPS] & 7);
	/* Copy has a tag for each range and one for the destination: not done. */
	if (in->pi)
		in->oncs &= (u16)~NVME_ONCS_COPY;
	return ms && !in->pi ? -EINVAL : 0;
}

static int ctrl_identify(struct liov_backend *be, u8 *buf)
{
	struct liov_ctrl_info *in = &be->info;
	u32 magic, lbaf;
	u64 capacity;
	u16 oacs;
	int err = liov_admin_identify(be, NVME_CNS_CTRL, 0, buf);

	if (err)
		return err < 0 ? err : -EIO;
	ctrl_string(in->serial, buf + NVME_ID_CTRL_SN, 20);
	ctrl_string(in->model, buf + NVME_ID_CTRL_MN, 40);
	ctrl_string(in->firmware, buf + NVME_ID_CTRL_FR, 8);
	in->aerl = buf[NVME_ID_CTRL_AERL];
	/* 2^MDTS pages; from 16 on it exceeds what NLB can say of 4 KiB pages, so there is no limit for us. */
	in->mdts_bytes = buf[NVME_ID_CTRL_MDTS] == 0 || buf[NVME_ID_CTRL_MDTS] > 16 ? 0 :
			 (u32)SPEC_PAGE_SIZE << buf[NVME_ID_CTRL_MDTS];
	memcpy(&in->oncs, buf + NVME_ID_CTRL_ONCS, sizeof(in->oncs));
	memcpy(&magic, buf + NVME_ID_CTRL_VS, sizeof(magic));
	in->has_nrd = magic == NVME_NRD_MAGIC;
	memcpy(&magic, buf + NVME_ID_CTRL_VS + 4, sizeof(magic));
	in->has_bind = magic == NVME_BIND_MAGIC;
	memcpy(&oacs, buf + NVME_ID_CTRL_OACS, sizeof(oacs));
	in->has_ns_manage = oacs & NVME_OACS_NS_MANAGE;
	memcpy(&capacity, buf + NVME_ID_CTRL_TNVMCAP, sizeof(capacity));

	err = liov_admin_identify(be, NVME_CNS_NS, LIOV_HOST_NSID, buf);
	if (err)
		return err < 0 ? err : -EIO;
	memcpy(&in->nsze, buf + NVME_ID_NS_NSZE, sizeof(in->nsze));
	memcpy(&in->ncap, buf + NVME_ID_NS_NCAP, sizeof(in->ncap));
	memcpy(&lbaf, buf + NVME_ID_NS_LBAF0 + 4 * (buf[NVME_ID_NS_FLBAS] & 0xf), sizeof(lbaf));
	in->lba_shift = lbaf >> 16 & 0xff;
	ctrl_copy_limits(in, buf);
	in->capacity = in->lba_shift < 64 ? capacity >> in->lba_shift : 0;
	if (in->nsze == 0 || (in->lba_shift != 9 && in->lba_shift != 12))
		return -EINVAL;
	return ctrl_metadata(in, buf, lbaf & 0xffff);
}

static int ctrl_set_queues(struct liov_backend *be, u32 want)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_SET_FEATURES, .cdw10 = NVME_FEAT_NUM_QUEUES,
				.cdw11 = (want - 1) | (want - 1) << 16 };
	u32 dw0, nsq, ncq;
	int err = liov_admin_cmd(be, &sqe, &dw0);

	if (err)
		return err < 0 ? err : -EIO;
	nsq = (dw0 & 0xffff) + 1;
	ncq = (dw0 >> 16) + 1;
	be->info.io_queues = nsq < ncq ? nsq : ncq;
	if (be->info.io_queues > want)
		be->info.io_queues = want;
	return 0;
}

#define CMBSZ_DATA (NVME_CMBSZ_LISTS | NVME_CMBSZ_RDS | NVME_CMBSZ_WDS)

/*
 * The CMB. From 1.4 on CMBMSC must be written: until then the location registers read zero,
 * and the controller sends CMB addresses to the host (that is, to the IOMMU). CBA is the BAR's
 * own bus address, so that old and new controllers decode the same.
 */
static int ctrl_enable_cmb(struct liov_backend *be)
{
	struct liov_ctrl_info *in = &be->info;
	bool has_msc = in->vs >= NVME_VS_1_4 && (in->cap & NVME_CAP_CMBS);
	u64 unit, bar_size, bus;
	u32 loc, sz;

	in->cmb_size = 0;
	if (has_msc)
		port_mmio_wr64(&be->bar0, NVME_REG_CMBMSC, NVME_CMBMSC_CRE);
	loc = port_mmio_rd32(&be->bar0, NVME_REG_CMBLOC);
	sz = port_mmio_rd32(&be->bar0, NVME_REG_CMBSZ);
	if (FIELD_GET(NVME_CMBSZ_SZ, sz) == 0 || FIELD_GET(NVME_CMBSZ_SZU, sz) > 6 || sz == ~0u)
		return 0;
	in->cmb_bar = (u32)FIELD_GET(NVME_CMBLOC_BIR, loc);
	if (in->cmb_bar == 0) {
		bar_size = be->bar0_size;
		bus = be->bar0_bus_addr;
	} else if (!be->has_cmb_bar) {
		int err = port_bar_map(be->host, in->cmb_bar, &be->cmb_regs, &bar_size, &bus);

		if (err)
			return err;
		be->has_cmb_bar = true;
		be->cmb_bar_size = bar_size;
		be->cmb_bar_bus = bus;
	} else {
		bar_size = be->cmb_bar_size;	/* after a reset of the controller */
		bus = be->cmb_bar_bus;
	}
	unit = SPEC_PAGE_SIZE << 4 * FIELD_GET(NVME_CMBSZ_SZU, sz);
	in->cmb_off = FIELD_GET(NVME_CMBLOC_OFST, loc) * unit;
	in->cmb_size = FIELD_GET(NVME_CMBSZ_SZ, sz) * unit;
	if (in->cmb_off >= bar_size)
		in->cmb_size = 0;
	else if (in->cmb_size > bar_size - in->cmb_off)
		in->cmb_size = bar_size - in->cmb_off;
	in->cmb_sqs = sz & NVME_CMBSZ_SQS;
	be->cmb_bus_addr = bus + in->cmb_off;
	/* A hit comes before the PASID: a CMB that takes data and lists takes them of all VMs, whoever's they are (CMB-07). */
	if (be->cfg.policy == LIOV_POLICY_SIOV && (sz & CMBSZ_DATA) && LIOV_STEP(backend_siov_cmb)) {
		in->cmb_size = 0;
		return has_msc ? 0 : -EOPNOTSUPP;
	}
	if (has_msc && in->cmb_size != 0)
		port_mmio_wr64(&be->bar0, NVME_REG_CMBMSC, be->cmb_bus_addr | NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE);
	return 0;
}

static int ctrl_learn(struct liov_backend *be)
{
	u32 want = be->cfg.io_queues, reach, vectors = port_irq_count(be->host);
	u8 *buf = port_alloc(be->home, NVME_ID_SIZE);
	int err;

	if (!buf)
		return -ENOMEM;
	err = ctrl_identify(be, buf);
	port_free(be->home, buf);
	if (err)
		return err;
	reach = ctrl_queues_reachable(be);
	if (want == 0 || want > reach)
		want = reach;
	/* A vector a queue beside the admin queue's: else its interrupt could not follow its VM. */
	if (want > vectors - 1)
		want = vectors - 1;
	if (want == 0)
		return -ENOSPC;
	err = ctrl_set_queues(be, want);
	if (err)
		return err;
	err = ctrl_check_doorbells(be);
	if (err)
		return err;
	return ctrl_enable_cmb(be);
}

int liov_ctrl_start(struct liov_backend *be)
{
	int err = ctrl_map(be);

	if (err)
		goto out;
	err = ctrl_disable(be);
	if (err)
		goto out;
	err = port_irq_count(be->host) < 2 ? -ENOSPC : liov_admin_init(be);
	if (err)
		goto out;
	err = ctrl_enable(be);
	if (err)
		goto out;
	err = ctrl_learn(be);
	if (err)
		goto out;
	return 0;
out:
	liov_ctrl_stop(be);
	return err;
}

void liov_ctrl_halt(struct liov_backend *be)
{
	if (!be->has_bar0)
		return;
	liov_admin_quiesce(be);
	(void)ctrl_disable(be);
	/* No DMA and no message leaves the function after this, even if it did not obey. */
	port_cfg_wr32(be->host, PCIS_COMMAND,
		      port_cfg_rd32(be->host, PCIS_COMMAND) & 0xffff & ~(u32)PCIS_COMMAND_MASTER);
}

void liov_ctrl_stop(struct liov_backend *be)
{
	if (be->has_bar0) {
		liov_ctrl_halt(be);
		liov_admin_fini(be);
		port_bar_unmap(be->host, 0, &be->bar0);
		be->has_bar0 = false;
	}
	if (be->has_cmb_bar) {
		port_bar_unmap(be->host, be->info.cmb_bar, &be->cmb_regs);
		be->has_cmb_bar = false;
	}
}

/*
 * A controller-level reset. The same number of queues is asked for; a controller that now
 * grants fewer is refused rather than having tables walked past what it knows.
 */
int liov_ctrl_reset(struct liov_backend *be)
{
	u32 queues = be->info.io_queues;
	int err;

	liov_admin_quiesce(be);
	err = ctrl_disable(be);
	if (err == -ETIMEDOUT) {
		err = port_flr(be->host);
		if (err)
			return err;
		/* The home restores configuration space; memory decoding and mastering are ours. */
		port_cfg_wr32(be->host, PCIS_COMMAND, (port_cfg_rd32(be->host, PCIS_COMMAND) & 0xffff) |
						      PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER);
		err = ctrl_disable(be);
	}
	if (err)
		return err;
	err = ctrl_enable(be);
	if (err)
		return err;
	err = ctrl_set_queues(be, queues);
	if (err)
		return err;
	if (be->info.io_queues < queues) {
		be->info.io_queues = queues;
		return -EIO;
	}
	return ctrl_enable_cmb(be);
}
