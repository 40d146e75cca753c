// SPDX-License-Identifier: GPL-2.0
/*
 * BAR 0 of the virtual function (Base 3.1.3): registers, doorbells, MSI-X, and what is left
 * of the CMB BAR when nothing is mapped there. Decoded by offset, size and alignment before
 * anything else is looked at; what fits nothing reads all ones and is dropped.
 */

#include "device.h"
#include "check.h"

#define CAP_TO_500MS	20u	/* a reset waits for the VM's queues to be deleted */

_Static_assert(LIOV_BAR0_DOORBELLS == NVME_REG_DBS, "PCIe 3.1.2: doorbells start here");

u32 liov_device_depth_max(const struct liov_vm *vm)
{
	u32 phys = (u32)FIELD_GET(NVME_CAP_MQES, vm->be->info.cap) + 1;

	return phys < LIOV_QUEUE_DEPTH_MAX ? phys : LIOV_QUEUE_DEPTH_MAX;
}

bool liov_device_running(const struct liov_vm *vm)
{
	return (vm->dev.csts & NVME_CSTS_RDY) && !(vm->dev.csts & NVME_CSTS_CFS);
}

void liov_device_fatal(struct liov_vm *vm, u64 addr, u64 len)
{
	vm->dev.csts |= NVME_CSTS_CFS;
	liov_device_deny(vm, 0, addr, len);
}

/* Registration is of the controller that was enabled: a VM that booted anew registers again. */
static void release_memory(struct liov_vm *vm)
{
	u32 n, at = 0;

	if (vm->cfg.register_all)
		return;
	/* What a lost command still holds stays, and is refused a second time. */
	for (n = 0; n < LIOV_MEM_RANGES_MAX && at < vm->nr_mem; n++) {
		struct liov_mem m = vm->mem[at];

		if (liov_vm_mem_unregister(vm, m.gpa, m.len_bytes))
			at++;
	}
}

void liov_device_controller_reset(struct liov_vm *vm)
{
	struct liov_device *dev = &vm->dev;

	dev->csts = 0;
	liov_device_queues_reset(vm);
	release_memory(vm);
	dev->sq_tail = dev->sq_head = 0;
	dev->cq_tail = dev->cq_head = 0;
	dev->cq_phase = true;
	dev->nq_set = false;
	dev->nr_aer = 0;
	dev->nr_events = 0;
	dev->events_masked = 0;
	dev->intm = 0;
	liov_device_features_reset(vm);
	/* Last words of the queues may have found no memory to go to. */
	dev->csts = 0;
}

void liov_device_function_reset(struct liov_vm *vm)
{
	struct liov_device *dev = &vm->dev;

	liov_device_controller_reset(vm);
	dev->cc = 0;
	dev->aqa = 0;
	dev->asq = dev->acq = 0;
	dev->cmbmsc = 0;
	dev->cmbsts = 0;
	liov_device_config_reset(vm);
	liov_device_msix_reset(vm);
	liov_device_msix_changed(vm);
}

int liov_device_init(struct liov_vm *vm)
{
	struct liov_device *dev = &vm->dev;

	if (vm->cmb_size < LIOV_CMB_SIZE_MIN || (vm->cmb_size & (vm->cmb_size - 1)))
		return -EINVAL;
	memset(dev, 0, sizeof(*dev));
	port_lock_init(vm->be->home, &dev->msix_lock);
	dev->cq_phase = true;
	liov_device_config_reset(vm);
	liov_device_msix_reset(vm);
	liov_device_features_reset(vm);
	return 0;
}

void liov_device_announce_reset(struct liov_vm *vm)
{
	/* Under mediated the virtual queues live on; nothing happened that a guest could see. */
	if (liov_device_mediated(vm))
		return;
	memset(vm->dev.sq, 0, sizeof(vm->dev.sq));
	memset(vm->dev.cq, 0, sizeof(vm->dev.cq));
	liov_device_event(vm, LIOV_AEN_RESET);
}

/* --- CC and CSTS --- */

static bool admin_queue_ok(struct liov_vm *vm)
{
	struct liov_device *dev = &vm->dev;
	u64 sqs = FIELD_GET(NVME_AQA_ASQS, dev->aqa), cqs = FIELD_GET(NVME_AQA_ACQS, dev->aqa);

	return LIOV_CHECK(device_admin_queue_shape, sqs && cqs && !(dev->asq & (SPEC_PAGE_SIZE - 1)) &&
						    !(dev->acq & (SPEC_PAGE_SIZE - 1))) &&
	       LIOV_CHECK(device_admin_queue_window,
			  port_vm_mem_is_ram(vm->port, (gpa_t){ dev->asq }, (sqs + 1) * DEVICE_SQ_BYTES) &&
			  port_vm_mem_is_ram(vm->port, (gpa_t){ dev->acq }, (cqs + 1) * DEVICE_CQ_BYTES));
}

/* Base 3.5.1; one page size, one command set, round robin. */
static bool cc_ok(u32 cc)
{
	return !FIELD_GET(NVME_CC_MPS, cc) && !FIELD_GET(NVME_CC_CSS, cc) && !FIELD_GET(NVME_CC_AMS, cc) &&
	       FIELD_GET(NVME_CC_IOSQES, cc) == NVME_CC_IOSQES_64 && FIELD_GET(NVME_CC_IOCQES, cc) == NVME_CC_IOCQES_16;
}

static void cc_wr(struct liov_vm *vm, u32 val)
{
	struct liov_device *dev = &vm->dev;
	u32 old = dev->cc;

	dev->cc = val;
	if ((old & NVME_CC_EN) && !(val & NVME_CC_EN)) {
		liov_device_controller_reset(vm);
	} else if (!(old & NVME_CC_EN) && (val & NVME_CC_EN)) {
		dev->csts = 0;
		if (LIOV_CHECK(device_cc, cc_ok(val)) && admin_queue_ok(vm))
			dev->csts = NVME_CSTS_RDY;
		else
			liov_device_fatal(vm, val, 4);
	}
	/* Base 3.6: nothing is cached here, so shutdown is over at once. */
	if (FIELD_GET(NVME_CC_SHN, val))
		dev->csts = (u32)((dev->csts & ~NVME_CSTS_SHST) | FIELD_PREP(NVME_CSTS_SHST, NVME_SHST_COMPLETE));
	else
		dev->csts &= (u32)~NVME_CSTS_SHST;
}

/* --- CMB registers --- */

/* Unmodified drivers would place queues in the CMB where they like; they are shown none. */
static u32 cmbsz(const struct liov_vm *vm)
{
	if (!(vm->dev.cmbmsc & NVME_CMBMSC_CRE) || vm->cfg.register_all)
		return 0;
	return (u32)(NVME_CMBSZ_SQS | NVME_CMBSZ_CQS | FIELD_PREP(NVME_CMBSZ_SZ, vm->cmb_size / SPEC_PAGE_SIZE));
}

/*
 * Looked at after every write, so either order of the halves ends the same. A base that
 * wraps, or that would make guest memory ambiguous, is not taken: CBAI, and the memory
 * space stays off (Base 3.1.3.15; for the overlap the specification is silent).
 */
static void cmbmsc_wr(struct liov_vm *vm, u64 val)
{
	struct liov_device *dev = &vm->dev;
	u64 cba = val & NVME_CMBMSC_CBA;
	bool bad;

	dev->cmbmsc = val & (NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE | NVME_CMBMSC_CBA);
	bad = (val & NVME_CMBMSC_CMSE) &&
	      (!LIOV_CHECK(device_cmb_base_wrap, cba <= ~0ull - (vm->cmb_size - 1)) ||
	       !LIOV_CHECK(device_cmb_base_overlap, !port_vm_mem_overlaps(vm->port, (gpa_t){ cba }, vm->cmb_size)));
	dev->cmbsts = bad ? (u32)NVME_CMBSTS_CBAI : 0;
	if (bad)
		liov_device_deny(vm, 0, cba, vm->cmb_size);
}

/* --- registers --- */

static u64 cap(const struct liov_vm *vm)
{
	return FIELD_PREP(NVME_CAP_MQES, liov_device_depth_max(vm) - 1) | NVME_CAP_CQR |
	       FIELD_PREP(NVME_CAP_TO, CAP_TO_500MS) | NVME_CAP_CSS_NVM | NVME_CAP_CMBS;
}

static u64 reg_rd64(const struct liov_vm *vm, u32 off)
{
	const struct liov_device *dev = &vm->dev;

	switch (off) {
	case NVME_REG_CAP:
		return cap(vm);
	case NVME_REG_VS:
		return NVME_VS_1_4 | (u64)dev->intm << 32;
	case NVME_REG_INTMC:
		return dev->intm | (u64)dev->cc << 32;
	case NVME_REG_CSTS & ~7u:
		return (u64)dev->csts << 32;
	case NVME_REG_AQA & ~7u:
		return (u64)dev->aqa << 32;
	case NVME_REG_ASQ:
		return dev->asq;
	case NVME_REG_ACQ:
		return dev->acq;
	case NVME_REG_CMBLOC:
		return (cmbsz(vm) ? FIELD_PREP(NVME_CMBLOC_BIR, LIOV_CMB_BAR) : 0) | (u64)cmbsz(vm) << 32;
	case NVME_REG_CMBMSC:
		return dev->cmbmsc;
	case NVME_REG_CMBSTS:
		return dev->cmbsts;
	default:
		return 0;
	}
}

static u64 with_half(u64 old, u32 off, u32 val)
{
	return off & 4 ? (old & 0xFFFFFFFFull) | (u64)val << 32 : (old & ~0xFFFFFFFFull) | val;
}

/*
 * Base 3.1.3: the admin queue's registers may change only while the controller is disabled. NSSR,
 * BPRSEL and PMR are not there.
 */
static void reg_wr32(struct liov_vm *vm, u32 off, u32 val)
{
	struct liov_device *dev = &vm->dev;
	bool enabled = dev->cc & NVME_CC_EN;

	switch (off) {
	case NVME_REG_INTMS:
		dev->intm |= val;
		break;
	case NVME_REG_INTMC:
		dev->intm &= ~val;
		break;
	case NVME_REG_CC:
		cc_wr(vm, val);
		break;
	case NVME_REG_AQA:
		if (LIOV_CHECK(device_admin_locked, !enabled))
			dev->aqa = (u32)(val & (NVME_AQA_ASQS | NVME_AQA_ACQS));
		break;
	case NVME_REG_ASQ:
	case NVME_REG_ASQ + 4:
		if (LIOV_CHECK(device_admin_locked, !enabled))
			dev->asq = with_half(dev->asq, off, val);
		break;
	case NVME_REG_ACQ:
	case NVME_REG_ACQ + 4:
		if (LIOV_CHECK(device_admin_locked, !enabled))
			dev->acq = with_half(dev->acq, off, val);
		break;
	case NVME_REG_CMBMSC:
	case NVME_REG_CMBMSC + 4:
		cmbmsc_wr(vm, with_half(dev->cmbmsc, off, val));
		break;
	default:
		liov_device_deny(vm, 0, off, val);
		break;
	}
}

/* --- doorbells --- */

static void doorbell_wr(struct liov_vm *vm, u32 off, u32 val)
{
	u32 qid = (off - LIOV_BAR0_DOORBELLS) / 8;
	bool cq = off & 4;

	if (!LIOV_CHECK(device_doorbell_ready, liov_device_running(vm))) {
		liov_device_deny(vm, 0, off, val);
	} else if (qid == 0) {
		liov_guard(vm->be, LIOV_DEVICE, vm->cfg.id, LIOV_GUARD_OWN_QUEUE, off, val);
		liov_device_admin_doorbell(vm, cq, val & 0xFFFF);	/* PCIe 3.1.2: upper half reserved */
	} else if (liov_device_mediated(vm)) {
		liov_mediator_doorbell(vm, qid, cq, val);
	} else if (!LIOV_CHECK(device_doorbell_io, false)) {
		/* I/O doorbells are in the CMB BAR, and only those of queues that live. */
		liov_device_deny(vm, 0, off, val);
		liov_device_event(vm, NVME_AEN_DOORBELL_REG);
	}
}

/* --- the BARs --- */

static bool bar_shape_ok(u64 off, u32 len)
{
	return (len == 4 || len == 8) && off % len == 0 && liov_range_inside(0, LIOV_BAR0_SIZE, off, len);
}

static u64 all_ones(u32 len)
{
	return len < 8 ? (1ull << (8 * len)) - 1 : ~0ull;
}

static u32 bar_rd32(struct liov_vm *vm, u32 off)
{
	u64 reg;

	if (off >= LIOV_BAR0_MSIX_TABLE)
		return liov_device_msix_rd(vm, off);
	if (off >= LIOV_BAR0_DOORBELLS)
		return 0;	/* PCIe 3.1.2: reads of a doorbell are vendor specific */
	reg = reg_rd64(vm, off & ~7u);
	return (u32)(off & 4 ? reg >> 32 : reg);
}

static void bar_wr32(struct liov_vm *vm, u32 off, u32 val)
{
	if (off >= LIOV_BAR0_MSIX_TABLE)
		liov_device_msix_wr(vm, off, val);
	else if (off >= LIOV_BAR0_DOORBELLS)
		doorbell_wr(vm, off, val);
	else
		reg_wr32(vm, off, val);
}

/* One of two halves may not be lost in the middle: 64-bit registers take both at once. Doorbells are 4 bytes (PCIe 3.1.2). */
static void bar_wr64(struct liov_vm *vm, u32 off, u64 val)
{
	if (off == NVME_REG_CMBMSC) {
		cmbmsc_wr(vm, val);
	} else if (!LIOV_CHECK(device_doorbell_size, off < LIOV_BAR0_DOORBELLS || off >= LIOV_BAR0_MSIX_TABLE)) {
		liov_deny(vm->be, liov_device_mediated(vm) && off >= LIOV_BAR0_DOORBELLS + 8 ? LIOV_MEDIATOR : LIOV_DEVICE,
			  vm->cfg.id, 0, off, 8);
	} else {
		bar_wr32(vm, off, (u32)val);
		bar_wr32(vm, off + 4, (u32)(val >> 32));
	}
}

u64 liov_device_rd(struct liov_vm *vm, u64 off, u32 len)
{
	u64 val;

	if (!LIOV_CHECK(device_bar_shape, bar_shape_ok(off, len))) {
		liov_device_deny(vm, 0, off, len);
		return all_ones(len);
	}
	port_mutex_lock(&vm->lock);
	if (!vm->live || vm->dying) {
		val = all_ones(len);
	} else {
		val = bar_rd32(vm, (u32)off);
		if (len == 8)
			val |= (u64)bar_rd32(vm, (u32)off + 4) << 32;
	}
	port_mutex_unlock(&vm->lock);
	return val;
}

void liov_device_wr(struct liov_vm *vm, u64 off, u64 val, u32 len)
{
	if (!LIOV_CHECK(device_bar_shape, bar_shape_ok(off, len))) {
		bool io = liov_device_mediated(vm) && off >= LIOV_BAR0_DOORBELLS + 8 && off < LIOV_BAR0_MSIX_TABLE;

		liov_deny(vm->be, io ? LIOV_MEDIATOR : LIOV_DEVICE, vm->cfg.id, 0, off, len);
		return;
	}
	port_mutex_lock(&vm->lock);
	if (vm->live && !vm->dying) {
		if (len == 8)
			bar_wr64(vm, (u32)off, val);
		else
			bar_wr32(vm, (u32)off, (u32)val);
	}
	port_mutex_unlock(&vm->lock);
}

u64 liov_device_cmb_rd(struct liov_vm *vm, u64 off, u32 len)
{
	if (LIOV_CHECK(device_cmb_read, false))
		return 0;
	liov_device_deny(vm, 0, off, len);
	return all_ones(len);
}

/* Does @off lie where a doorbell of the CMB would be? */
static bool cmb_doorbell(const struct liov_vm *vm, u64 off)
{
	u64 slot;

	if (off >= LIOV_CMB_DOORBELLS && off < LIOV_CMB_DOORBELLS + SPEC_PAGE_SIZE)
		return true;
	if (off < LIOV_CMB_SLOTS || off >= vm->cmb_size)
		return false;
	slot = (off - LIOV_CMB_SLOTS) & (LIOV_CMB_SLOT_STRIDE - 1);
	return slot >= LIOV_SLOT_SQ_DOORBELL && slot < LIOV_SLOT_CQ_DOORBELL + SPEC_PAGE_SIZE;
}

void liov_device_cmb_wr(struct liov_vm *vm, u64 off, u64 val, u32 len)
{
	if (LIOV_CHECK(device_cmb_write, false))
		return;
	liov_device_deny(vm, 0, off, len);
	if (!cmb_doorbell(vm, off))
		return;
	port_mutex_lock(&vm->lock);
	if (vm->live && !vm->dying && liov_device_running(vm))
		liov_device_event(vm, NVME_AEN_DOORBELL_REG);
	port_mutex_unlock(&vm->lock);
	(void)val;
}
