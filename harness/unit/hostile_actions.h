/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_HOSTILE_ACTIONS_H
#define HARNESS_UNIT_HOSTILE_ACTIONS_H

/* What the hostile kernel does, by its vCPUs' loads and stores; hostile_start() sets it off. */

#include "hostile_guest.h"

/* --- accesses --- */

static void put(struct gvcpu *gv, u64 gpa, const void *buf, u32 len)
{
	vm_store(gv, (gpa_t){ gpa }, buf, len);
	vm_pass(gv, 0);
}

static u64 peek(struct gvcpu *gv, u64 gpa, u32 len)
{
	u64 val = 0;

	vm_load(gv, (gpa_t){ gpa }, &val, len);
	vm_pass(gv, 0);
	return val;
}

static void put_val(struct gvcpu *gv, u64 gpa, u64 val, u32 len)
{
	put(gv, gpa, &val, len);
}

static u64 some_value(struct hostile *h, struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		return rng_below(r, 64);
	case 1:
		return rng_below(r, 0x10000);
	case 2:
		return some_address(h, r);
	default:
		return rng_u64(r);
	}
}

static u32 some_len(struct rng *r)
{
	return rng_chance(r, 3, 4) ? 4 : (u32)rng_range(r, 1, 16);
}

/* A few entries, then the doorbell: in the CMB, in BAR 0, or in memory of the guest's own. */
static void do_io(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u32 k = (u32)rng_below(r, h->vm->cfg.liov.nr_queues), n = (u32)rng_range(r, 1, 6), i;
	u64 info = VM_CMB_GPA + offsetof(struct liov_info, queue) + k * sizeof(struct liov_info_queue);
	u64 sq = VM_CMB_GPA + LIOV_CMB_SLOTS + k * LIOV_CMB_SLOT_STRIDE, doorbell;
	u32 *tail = &h->tail[k], entries = h->entries ? h->entries : 64;
	struct nvme_sqe sqe;

	if (rng_chance(r, h->vm->fe ? 1 : 3, 4))
		sq = h->pages.v + k % HOSTILE_RINGS * SPEC_PAGE_SIZE;
	for (i = 0; i < n; i++) {
		some_io(h, r, &sqe);
		put(gv, sq + *tail % entries * sizeof(sqe), &sqe, sizeof(sqe));
		*tail = (*tail + 1) % entries;
	}
	doorbell = (u32)peek(gv, info + offsetof(struct liov_info_queue, sq_doorbell), 4);
	doorbell = doorbell ? VM_CMB_GPA + (u32)doorbell : VM_BAR0_GPA + LIOV_BAR0_DOORBELLS + 8 * (k + 1);
	put_val(gv, doorbell, rng_chance(r, 1, 16) ? some_value(h, r) : *tail, 4);
	if (!h->vm->fe)	/* nobody else takes completions */
		put_val(gv, doorbell + 4, rng_below(r, entries), 4);
}

/* Lists, ranges and segments, while commands that name them are on their way. */
static void do_lists(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u64 at = own_page(h, r) + rng_below(r, 512) * 8;
	u32 n = (u32)rng_range(r, 1, 8);

	for (; n; n--, at += 8) {
		u64 v = rng_chance(r, 1, 4) ? some_lba(h, r) : some_address(h, r);

		if (rng_chance(r, 1, 8))
			v = (u64)(rng_below(r, 4) * 0x10) << 56 | rng_below(r, 0x2000);
		put_val(gv, at, v, 8);
	}
}

static void do_doorbell(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u64 at = VM_BAR0_GPA + LIOV_BAR0_DOORBELLS + rng_below(r, 2 * LIOV_VM_QUEUES_MAX + 6) * 4;

	if (rng_chance(r, 1, 3))
		at = VM_CMB_GPA + LIOV_CMB_DOORBELLS + rng_below(r, SPEC_PAGE_SIZE);
	else if (rng_chance(r, 1, 2))
		at = VM_CMB_GPA + slot(r) + LIOV_SLOT_SQ_DOORBELL + (rng_chance(r, 1, 2) ? rng_below(r, 0x2000) : rng_below(r, 2) * 0x1000);
	put_val(gv, at, some_value(h, r), rng_chance(r, 3, 4) ? 4 : (u32)rng_range(r, 1, 8));
}

static void do_register(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	static const u32 regs[] = {
		NVME_REG_CAP, NVME_REG_VS, NVME_REG_INTMS, NVME_REG_INTMC, NVME_REG_CSTS, NVME_REG_NSSR, NVME_REG_AQA, NVME_REG_ASQ,
		NVME_REG_ACQ, NVME_REG_CMBLOC, NVME_REG_CMBSZ, NVME_REG_CMBMSC, NVME_REG_CMBMSC + 4, NVME_REG_CMBSTS, 0x0E00, 0x0FFC,
	};
	u64 at = VM_BAR0_GPA + regs[rng_below(r, COUNT(regs))];
	u32 len = rng_chance(r, 1, 2) ? 4 : 8;

	if (rng_chance(r, 1, 4))
		at = VM_BAR0_GPA + LIOV_BAR0_MSIX_TABLE + rng_below(r, 0x400) * 4;
	else if (rng_chance(r, 1, 4))
		at = VM_BAR0_GPA + rng_below(r, LIOV_BAR0_SIZE + 0x1000);
	else if (rng_chance(r, 1, 40))
		at = VM_BAR0_GPA + NVME_REG_CC;
	if (rng_chance(r, 1, 8))
		len = some_len(r);
	if (rng_chance(r, 1, 3))
		peek(gv, at, len > 8 ? 8 : len);
	else
		put_val(gv, at, some_value(h, r), len > 8 ? 8 : len);
}

/* An MSI-X entry that is nearly right: some vCPU, some vector. */
static void do_msix(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u64 at = VM_BAR0_GPA + LIOV_BAR0_MSIX_TABLE + rng_below(r, h->vm->cfg.liov.nr_queues + 2) * PCIS_MSIX_ENTRY_SIZE;
	u64 addr = 0xFEE00000 | rng_below(r, 16) << 12;

	if (rng_chance(r, 1, 8))
		addr = some_value(h, r);
	put_val(gv, at + PCIS_MSIX_ENTRY_ADDR_LO, addr, 8);
	put_val(gv, at + PCIS_MSIX_ENTRY_DATA, rng_chance(r, 7, 8) ? rng_below(r, 0x100) : rng_u64(r), 4);
	put_val(gv, at + PCIS_MSIX_ENTRY_CONTROL, rng_chance(r, 3, 4) ? 0 : rng_u64(r), 4);
}

/* All over the CMB BAR and what is around it. */
static void do_memory(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u8 buf[256];
	u64 at = VM_CMB_GPA + rng_below(r, 0x800000);
	u32 len = rng_chance(r, 3, 4) ? some_len(r) : (u32)rng_range(r, 1, sizeof(buf));

	if (rng_chance(r, 1, 2))
		at = VM_CMB_GPA + slot(r) + rng_below(r, LIOV_CMB_SLOT_STRIDE);
	else if (rng_chance(r, 1, 4))
		at = forbidden_address(h, r) & ((1ull << EPT_GPA_BITS) - 1);
	garbage(r, buf, len);
	if (rng_chance(r, 1, 2))
		vm_load(gv, (gpa_t){ at }, buf, len);
	else
		vm_store(gv, (gpa_t){ at }, buf, len);
	vm_pass(gv, 0);
}

static void do_config(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	static const u32 offs[] = { 0, PCIS_COMMAND, PCIS_BAR0, PCIS_BAR(1), PCIS_BAR(2), PCIS_BAR(3), PCIS_BAR(5), PCIS_CAP_POINTER, 0x30, 0x3C };
	u32 off = offs[rng_below(r, COUNT(offs))], len = rng_chance(r, 3, 4) ? 4 : (u32)rng_range(r, 0, 5), val = (u32)some_value(h, r);

	if (rng_chance(r, 1, 2))
		off = (u32)rng_below(r, 0x110);
	else if (rng_chance(r, 1, 16))
		off = (u32)rng_u64(r);
	if (rng_chance(r, 1, 4))
		val = 0xFFFFFFFF;
	vm_pass(gv, PS_PER_US);
	vm_enter(gv);
	if (rng_chance(r, 1, 3))
		liov_device_cfg_rd(&h->vm->liov, off, len);
	else
		liov_device_cfg_wr(&h->vm->liov, off, val, len);
	vm_enter(gv);
}

/* --- the virtual admin queue --- */

static void do_admin(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u64 asq = peek(gv, VM_BAR0_GPA + NVME_REG_ASQ, 8);
	u32 entries = (u32)FIELD_GET(NVME_AQA_ASQS, peek(gv, VM_BAR0_GPA + NVME_REG_AQA, 4)) + 1, n = (u32)rng_range(r, 1, 4);
	struct nvme_sqe sqe;

	for (; n; n--) {
		some_admin(h, r, &sqe);
		put(gv, asq + h->admin_tail % entries * sizeof(sqe), &sqe, sizeof(sqe));
		h->admin_tail = (h->admin_tail + 1) % entries;
	}
	put_val(gv, VM_BAR0_GPA + LIOV_BAR0_DOORBELLS, h->admin_tail, 4);
	if (rng_chance(r, 3, 4))
		put_val(gv, VM_BAR0_GPA + LIOV_BAR0_DOORBELLS + 4, rng_below(r, entries + 1), 4);
}

static void post_admin(struct hostile *h, struct gvcpu *gv, u64 asq, const struct nvme_sqe *sqe)
{
	put(gv, asq + h->admin_tail++ * sizeof(*sqe), sqe, sizeof(*sqe));
	put_val(gv, VM_BAR0_GPA + LIOV_BAR0_DOORBELLS, h->admin_tail, 4);
}

/* By hand: the controller off, an admin queue of the guest's own, on again; memory registered; a queue pair in it. */
static void do_bring_up(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	u64 asq = h->pages.v + HOSTILE_PAGES * SPEC_PAGE_SIZE, ram = h->vm->cfg.ram[0].gpa;
	u64 cc = NVME_CC_EN | FIELD_PREP(NVME_CC_IOSQES, NVME_CC_IOSQES_64) | FIELD_PREP(NVME_CC_IOCQES, NVME_CC_IOCQES_16);
	struct nvme_sqe sqe[] = {
		{ .opcode = LIOV_ADM_MEM_REGISTER, .cdw10 = (u32)ram, .cdw11 = (u32)(ram >> 32), .cdw12 = (u32)h->vm->cfg.ram[0].len_bytes },
		{ .opcode = NVME_ADM_CREATE_CQ, .prp1 = h->pages.v + SPEC_PAGE_SIZE, .cdw10 = 1 | 63 << 16, .cdw11 = (u32)(NVME_QUEUE_PC | NVME_CQ_IEN) },
		{ .opcode = NVME_ADM_CREATE_SQ, .prp1 = h->pages.v, .cdw10 = 1 | 63 << 16, .cdw11 = (u32)NVME_QUEUE_PC | 1 << 16 },
	};
	u32 i;

	put_val(gv, VM_BAR0_GPA + NVME_REG_CC, 0, 4);
	put_val(gv, VM_BAR0_GPA + NVME_REG_AQA, 63 | 63 << 16, 4);
	put_val(gv, VM_BAR0_GPA + NVME_REG_ASQ, rng_chance(r, 1, 16) ? some_address(h, r) : asq, 8);
	put_val(gv, VM_BAR0_GPA + NVME_REG_ACQ, rng_chance(r, 1, 16) ? some_address(h, r) : asq + SPEC_PAGE_SIZE, 8);
	put_val(gv, VM_BAR0_GPA + NVME_REG_CC, rng_chance(r, 1, 16) ? rng_u64(r) : cc, 4);
	h->admin_tail = 0;
	for (i = 0; i < COUNT(sqe); i++)
		post_admin(h, gv, asq, &sqe[i]);
	h->entries = 64;
	h->tail[0] = 0;
}

/* With the driver of a VM that means well; by the first vCPU alone, for the driver is one. */
static void driver_up(struct hostile *h, struct rng *r)
{
	struct liov_fe_config cfg = { .nr_queues = 0, .depth = (u32)(16u << rng_below(r, 4)), .timeout_ns = 5000000 };
	struct port_vm *vm = h->vm;
	struct liov_frontend *fe;

	vm_io_attach(vm);
	fe = sim_alloc(&vm->guest.home, sizeof(*fe));
	if (!fe)
		return;
	if (liov_frontend_start(fe, &vm->guest, &cfg)) {
		sim_free(&vm->guest.home, fe);
		return;
	}
	vm->fe = fe;
	h->admin_tail = fe->admin_sq_tail;
	h->entries = cfg.depth;
}

/* As after power-on, firmware's part included. */
static void function_reset(struct hostile *h)
{
	struct port_guest *g = &h->vm->guest;
	u32 off = sim_guest_cfg_rd32(g, PCIS_CAP_POINTER) & 0xFC, head = 0, i;

	for (i = 0; i < 48 && off; i++) {
		head = sim_guest_cfg_rd32(g, off);
		if ((head & 0xFF) == PCIS_CAP_ID_PCIE)
			break;
		off = head >> 8 & 0xFC;
	}
	sim_guest_cfg_wr32(g, off + PCIS_EXP_DEVCTL, PCIS_EXP_DEVCTL_FLR);
	sim_guest_cfg_wr32(g, PCIS_BAR0, (u32)VM_BAR0_GPA);
	sim_guest_cfg_wr32(g, PCIS_BAR(1), 0);
	sim_guest_cfg_wr32(g, PCIS_BAR(LIOV_CMB_BAR), (u32)VM_CMB_GPA);
	sim_guest_cfg_wr32(g, PCIS_BAR(LIOV_CMB_BAR + 1), 0);
}

static void do_driver(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	if (gv->index)
		return;
	h->coming_up = true;
	vm_frontend_stop(h->vm);
	if (rng_chance(r, 3, 4))
		function_reset(h);
	if (rng_chance(r, 7, 8) && !h->vm->cfg.liov.register_all)
		driver_up(h, r);
	else
		do_bring_up(h, gv, r);
	h->coming_up = false;
}

/* A controller that it has driven into a dead end is no use to an attacker. */
static void revive(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	bool alive = peek(gv, VM_BAR0_GPA + NVME_REG_CSTS, 4) == NVME_CSTS_RDY && h->vm->liov.dev.sq[1].created;

	if (gv->index == 0 && rng_below(r, 64) >= (alive ? 63 : 32))
		do_driver(h, gv, r);
}

static void do_idle(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	(void)h;
	vm_idle(gv, rng_below(r, 50) * PS_PER_US);
}

static void step(struct hostile *h, struct gvcpu *gv, struct rng *r)
{
	static void (*const actions[])(struct hostile *h, struct gvcpu *gv, struct rng *r) = {
		do_io, do_lists, do_doorbell, do_register, do_msix, do_memory, do_config, do_admin, do_bring_up, do_driver, do_idle,
	};
	static const u32 weights[] = { 400, 200, 100, 60, 20, 150, 40, 100, 2, 1, 30 };
	_Static_assert(COUNT(actions) == COUNT(weights), "a weight an action");

	/* Mostly the other vCPUs let the first bring the driver up. */
	if (h->coming_up && rng_chance(r, 63, 64))
		vm_pass(gv, 10 * PS_PER_US);
	else
		actions[rng_pick(r, weights, COUNT(weights))](h, gv, r);
	vm_pass(gv, rng_below(r, 2000) * PS_PER_NS);
}

static void hostile_main(void *arg)
{
	struct hostile_vcpu *v = arg;
	struct gvcpu *gv = task_current()->gvcpu;

	if (gv->index == 0)
		do_driver(v->h, gv, &v->rng);
	while (*v->h->steps) {
		if (--*v->h->steps % 32 == 0)
			revive(v->h, gv, &v->rng);
		step(v->h, gv, &v->rng);
	}
	v->ended = true;
}

/* In a host task, once the VM is there. */
static void hostile_start(struct hostile *h, u64 seed)
{
	u32 i;

	h->pages = vm_alloc_pages(h->vm, HOSTILE_PAGES + 2);
	for (i = 0; i < h->vm->nr_gv; i++) {
		h->vcpu[i].h = h;
		rng_init(&h->vcpu[i].rng, rng_splitmix(&seed));
		vm_task(&h->vm->gv[i], "hostile", hostile_main, &h->vcpu[i]);
	}
}

static bool hostile_ended(const struct hostile *h)
{
	u32 i;

	for (i = 0; i < h->vm->nr_gv; i++)
		if (!h->vcpu[i].ended)
			return false;
	return true;
}

#endif
