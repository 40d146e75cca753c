// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Registers, Base 3.1.3: one table gives names, places and what software may change; what
 * a write causes beyond that stands in reg_written(). A register is read and written with
 * its own width or, when that is 8, by aligned halves; other accesses read all ones and
 * write nothing (Base 3.1.1 leaves them to the controller).
 */

struct reg_desc {
	u16 off;
	u8 width;
	u64 reset, mask;
};

static const struct reg_desc regs[NVME_R_COUNT] = {
#define NVME_REG(name, off, width, reset, mask, clause) [NVME_R_##name] = { off, width, reset, mask },
#include "nvme_regs.def"
#undef NVME_REG
};

/* CC fields that take effect at enable only; a write while enabled does not move them. */
#define CC_AT_ENABLE (NVME_CC_CSS | NVME_CC_MPS | NVME_CC_AMS)
#define CAP_TIMEOUT_500MS 120
#define ADMIN_QUEUE_ENTRIES_MIN 2
#define SHN_NONE 0

bool nvme_is_running(const struct nvme *n)
{
	return (n->reg[NVME_R_CSTS] & (NVME_CSTS_RDY | NVME_CSTS_CFS | NVME_CSTS_SHST)) == NVME_CSTS_RDY;
}

void nvme_fatal(struct nvme *n)
{
	n->reg[NVME_R_CSTS] |= NVME_CSTS_CFS;
	trace4(n->trace, TRACE_CFS, 0, n->reg[NVME_R_CSTS], 0, 0, 0);
	nvme_cmd_drop_all(n);
}

/* Everything a Controller Level Reset takes away; AQA, ASQ, ACQ and CMBMSC stay (Base 3.7.2). */
static void controller_reset(struct nvme *n)
{
	sched_cancel(n->sched, &n->ready_ev);
	sched_cancel(n->sched, &n->shutdown_ev);
	nvme_cmd_drop_all(n);
	nvme_queues_close_all(n);
	nvme_features_reset(n);
	n->nr_aers = 0;
	n->aer_masked = 0;
	n->nr_aborts = 0;
	n->reg[NVME_R_INTMS] = 0;
	n->count.resets++;
}

static bool enable_is_legal(const struct nvme *n)
{
	u64 cc = n->reg[NVME_R_CC];
	u64 asqs = FIELD_GET(NVME_AQA_ASQS, n->reg[NVME_R_AQA]) + 1;
	u64 acqs = FIELD_GET(NVME_AQA_ACQS, n->reg[NVME_R_AQA]) + 1;

	if (FIELD_GET(NVME_CC_MPS, cc) || FIELD_GET(NVME_CC_AMS, cc) || FIELD_GET(NVME_CC_CSS, cc))
		return false;
	if (asqs < ADMIN_QUEUE_ENTRIES_MIN || acqs < ADMIN_QUEUE_ENTRIES_MIN)
		return false;
	return !NVME_PAGE_OFFSET(n->reg[NVME_R_ASQ]) && !NVME_PAGE_OFFSET(n->reg[NVME_R_ACQ]);
}

static void enable(struct nvme *n)
{
	struct nvme_queue_mem sq = { .base = n->reg[NVME_R_ASQ], .contiguous = true };
	struct nvme_queue_mem cq = { .base = n->reg[NVME_R_ACQ], .contiguous = true };
	u32 asqs = (u32)FIELD_GET(NVME_AQA_ASQS, n->reg[NVME_R_AQA]) + 1;
	u32 acqs = (u32)FIELD_GET(NVME_AQA_ACQS, n->reg[NVME_R_AQA]) + 1;

	n->reg[NVME_R_CSTS] &= ~(NVME_CSTS_RDY | NVME_CSTS_SHST);
	sched_cancel(n->sched, &n->ready_ev);
	if (!enable_is_legal(n)) {
		nvme_fatal(n);
		return;
	}
	sq.in_cmb = nvme_cmb_covers(n, sq.base, (u64)asqs * sizeof(struct nvme_sqe));
	cq.in_cmb = n->cfg.cmb_cqs && nvme_cmb_covers(n, cq.base, (u64)acqs * sizeof(struct nvme_cqe));
	sq.cmb_off = sq.base - n->cmb_base;
	cq.cmb_off = cq.base - n->cmb_base;
	nvme_cq_open(n, 0, acqs, &cq, true, 0, PCI_NO_PASID);
	nvme_sq_open(n, 0, 0, asqs, &sq, (struct nvme_binding){ .pasid = PCI_NO_PASID });
	sched_after(n->sched, &n->ready_ev, n->cfg.timing.reset_ps);
}

static void disable(struct nvme *n)
{
	controller_reset(n);
	n->reg[NVME_R_CSTS] &= ~(NVME_CSTS_CFS | NVME_CSTS_SHST);
	sched_after(n->sched, &n->ready_ev, n->cfg.timing.reset_ps);
}

static void ready_event(struct event *ev)
{
	struct nvme *n = container_of_event(ev, struct nvme, ready_ev);

	if (n->reg[NVME_R_CC] & NVME_CC_EN)
		n->reg[NVME_R_CSTS] |= NVME_CSTS_RDY;
	else
		n->reg[NVME_R_CSTS] &= ~NVME_CSTS_RDY;
}

static void set_shst(struct nvme *n, u64 shst)
{
	n->reg[NVME_R_CSTS] = (n->reg[NVME_R_CSTS] & ~NVME_CSTS_SHST) | FIELD_PREP(NVME_CSTS_SHST, shst);
}

static void shutdown_event(struct event *ev)
{
	struct nvme *n = container_of_event(ev, struct nvme, shutdown_ev);

	set_shst(n, NVME_SHST_COMPLETE);
}

/* Base 3.6.1: commands outstanding at shutdown may complete or not; here they do, and no more are fetched. */
static void shut_down(struct nvme *n)
{
	set_shst(n, NVME_SHST_OCCURRING);
	if (!event_is_queued(&n->shutdown_ev))
		sched_after(n->sched, &n->shutdown_ev,
			    nvme_media_flush_time(n, sched_now(n->sched)) - sched_now(n->sched));
}

static void cc_written(struct nvme *n, u64 old)
{
	u64 cc = n->reg[NVME_R_CC];
	u64 changed = old ^ cc;

	if (old & cc & NVME_CC_EN) {
		cc = (cc & ~CC_AT_ENABLE) | (old & CC_AT_ENABLE);
		n->reg[NVME_R_CC] = cc;
	}
	if (changed & NVME_CC_EN) {
		if (cc & NVME_CC_EN)
			enable(n);
		else
			disable(n);
	}
	if ((changed & NVME_CC_SHN) && FIELD_GET(NVME_CC_SHN, cc) != SHN_NONE)
		shut_down(n);
}

static void reg_written(struct nvme *n, enum nvme_reg r, u64 old)
{
	switch (r) {
	case NVME_R_CC:
		cc_written(n, old);
		break;
	case NVME_R_INTMS:	/* write 1 to set, and 1 to clear in INTMC (Base 3.1.3.3, 3.1.3.4) */
		n->reg[NVME_R_INTMS] |= old;
		break;
	case NVME_R_INTMC:
		n->reg[NVME_R_INTMS] &= ~n->reg[NVME_R_INTMC];
		break;
	case NVME_R_CMBMSC:
		nvme_cmb_update(n);
		break;
	default:
		break;
	}
}

static bool access_is_legal(const struct reg_desc *d, u64 off, unsigned int len)
{
	if (len == 4)
		return !(off & 3);
	return len == 8 && d->width == 8 && off == d->off;
}

static const struct reg_desc *find_reg(u64 off, enum nvme_reg *r)
{
	for (unsigned int i = 0; i < NVME_R_COUNT; i++) {
		if (off >= regs[i].off && off < regs[i].off + (u64)regs[i].width) {
			*r = (enum nvme_reg)i;
			return &regs[i];
		}
	}
	return NULL;
}

static u64 reg_value(const struct nvme *n, enum nvme_reg r)
{
	if (r == NVME_R_INTMC)
		return n->reg[NVME_R_INTMS];
	/* Base 3.1.3.16: CMBLOC and CMBSZ read 0 until CMBMSC.CRE is set. */
	if ((r == NVME_R_CMBLOC || r == NVME_R_CMBSZ) && !(n->reg[NVME_R_CMBMSC] & NVME_CMBMSC_CRE))
		return 0;
	return n->reg[r];
}

static u64 all_ones(unsigned int len)
{
	return len >= 8 ? ~0ULL : (1ULL << (8 * len)) - 1;
}

u64 nvme_mmio_read(void *dev, unsigned int bar, u64 off, unsigned int len)
{
	const struct nvme *n = dev;
	const struct reg_desc *d;
	enum nvme_reg r;

	if (bar == 2)
		return nvme_cmb_mmio_read(n, off, len);
	if (off >= NVME_REG_DBS)
		return 0;	/* PCIe 3.1.2: reading a doorbell is vendor specific */
	if (len < 4 || (off & (len - 1)))
		return all_ones(len);
	d = find_reg(off, &r);
	if (!d)
		return 0;	/* reserved */
	if (!access_is_legal(d, off, len))
		return all_ones(len);
	return (reg_value(n, r) >> (8 * (off - d->off))) & all_ones(len);
}

void nvme_mmio_write(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len)
{
	struct nvme *n = dev;
	const struct reg_desc *d;
	enum nvme_reg r;
	u64 old, mask;
	unsigned int shift;

	if (bar == 2) {
		nvme_cmb_mmio_write(n, off, val, len);
		return;
	}
	if (off >= NVME_REG_DBS) {
		nvme_doorbell_write(n, off, val, len);
		return;
	}
	trace4(n->trace, TRACE_REG_WRITE, 0, off, val, len, 0);
	d = find_reg(off, &r);
	if (!d || !access_is_legal(d, off, len))
		return;
	if (r == NVME_R_CMBMSC && !n->cfg.cmb_size_bytes)
		return;
	shift = (unsigned int)(8 * (off - d->off));
	mask = (all_ones(len) << shift) & d->mask;
	old = n->reg[r];
	n->reg[r] = (old & ~mask) | ((val << shift) & mask);
	reg_written(n, r, old);
}

static void reset_registers(struct nvme *n)
{
	const struct nvme_config *cfg = &n->cfg;
	u64 cmbsz = NVME_CMBSZ_SQS;

	for (unsigned int i = 0; i < NVME_R_COUNT; i++)
		n->reg[i] = regs[i].reset;
	n->reg[NVME_R_CAP] = FIELD_PREP(NVME_CAP_MQES, cfg->mqes) | (cfg->cqr ? NVME_CAP_CQR : 0) |
			     FIELD_PREP(NVME_CAP_TO, CAP_TIMEOUT_500MS) | FIELD_PREP(NVME_CAP_DSTRD, cfg->dstrd) |
			     NVME_CAP_CSS_NVM | (cfg->cmb_size_bytes ? NVME_CAP_CMBS : 0);
	if (cfg->cmb_size_bytes) {
		if (cfg->cmb_cqs)
			cmbsz |= NVME_CMBSZ_CQS;
		if (cfg->cmb_lists)
			cmbsz |= NVME_CMBSZ_LISTS | NVME_CMBSZ_RDS | NVME_CMBSZ_WDS;
		n->reg[NVME_R_CMBLOC] = FIELD_PREP(NVME_CMBLOC_BIR, 2) | NVME_CMBLOC_CDPCILS;
		n->reg[NVME_R_CMBSZ] = cmbsz | FIELD_PREP(NVME_CMBSZ_SZ, cfg->cmb_size_bytes / NVME_PAGE_SIZE);
	}
	nvme_cmb_update(n);
}

void nvme_flr(void *dev)
{
	struct nvme *n = dev;

	controller_reset(n);
	reset_registers(n);
}

void nvme_regs_init(struct nvme *n)
{
	event_init(&n->front_ev, nvme_front_event, EVENT_PRIO_HW);
	event_init(&n->second.ev, nvme_cqe_second, EVENT_PRIO_HW);
	event_init(&n->ready_ev, ready_event, EVENT_PRIO_HW);
	event_init(&n->shutdown_ev, shutdown_event, EVENT_PRIO_HW);
	nvme_features_reset(n);
	reset_registers(n);
}
