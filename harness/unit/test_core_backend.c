// SPDX-License-Identifier: GPL-2.0
/* Bring-up, and how VMs come and go. Numbers are those of the reference machine. */
#include "core_world.h"

static u32 reg32(struct world *w, u32 off)
{
	return port_mmio_rd32(&w->be->bar0, off);
}

static void bring_up(struct world *w)
{
	struct liov_backend *be = w->be;

	CHECK_INT(port_mmio_rd64(&be->bar0, NVME_REG_ASQ), 0x100000);
	CHECK_INT(port_mmio_rd64(&be->bar0, NVME_REG_ACQ), 0x101000);
	CHECK_INT(reg32(w, NVME_REG_CSTS), NVME_CSTS_RDY);
	CHECK_INT(be->info.io_queues, 64);
	CHECK_INT(be->info.lba_shift, 9);
	CHECK_INT(be->info.nsze, 0x800000);
	CHECK_INT(be->info.mdts_bytes, 128 << 10);
	CHECK(strcmp(be->info.serial, "LIOV0001") == 0);
	CHECK_INT(be->hostq->qid, 1);
	CHECK_INT(be->hostq->state, LIOV_HWQ_LIVE);
	CHECK_INT(be->hostq->owner, LIOV_HOST_VM);
	CHECK_INT(be->admin.aers, 0xF);
	CHECK_INT(liov_backend_stop(be), 0);
	CHECK_INT(port_cfg_rd32(w->m->host, PCIS_COMMAND) & PCIS_COMMAND_MASTER, 0);
	/* It can be taken again. */
	CHECK_INT(host_boot_liov(w->m), 0);
	CHECK_INT(port_mmio_rd64(&be->bar0, NVME_REG_ASQ), 0x100000);
}

static void test_start__reference_machine__as_documented(void **state)
{
	world_run(*state, bring_up);
}

static void cmb(struct world *w)
{
	struct liov_hwq *q;

	CHECK_INT(w->be->info.cmb_size, 1 << 20);
	CHECK(port_mmio_rd64(&w->be->bar0, NVME_REG_CMBMSC) ==
	      (pci_bar_base(nvme_function(w->m->nvme), 2) | NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE));
	CHECK_INT(liov_host_queue_create(w->be, LIOV_HWQ_SQ_IN_CMB, &q), 0);
	CHECK_INT(q->sq_iova.v, w->be->cmb_bus_addr);
	CHECK_INT(liov_host_io(w->be, q, NVME_CMD_FLUSH, (plba_t){ 0 }, 0, NULL), 0);
	CHECK_INT(liov_host_queue_destroy(w->be, q), 0);
	CHECK_INT(w->be->cmb.nr, 1);
}

static void test_start__cmb__enabled_and_holds_an_sq(void **state)
{
	struct world *w = *state;

	w->cfg.ssd.cmb_size_bytes = 1 << 20;
	world_run(w, cmb);
}

static void host_data(struct world *w)
{
	struct port_pages p;
	struct port_shm s;
	u64 v;

	CHECK_INT(port_pages_alloc(w->m->host, 5, &p), 0);
	s = port_pages_shm(&p);
	for (u32 i = 0; i < 5; i++) {
		v = 0x1111111111111111ull * (i + 1);
		port_shm_copy_out(&s, i * 4096 + 8, &v, 8);
	}
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_WRITE, (plba_t){ 0x80 }, 40, &p), 0);
	port_shm_zero(&s, 0, 5 * 4096);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_READ, (plba_t){ 0x80 }, 40, &p), 0);
	for (u32 i = 0; i < 5; i++)
		CHECK(port_shm_rd64(&s, i * 4096 + 8) == 0x1111111111111111ull * (i + 1));
	/* Past the namespace: the controller's answer comes through. */
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_READ, (plba_t){ 0x800000 }, 8, &p), NVME_SC_LBA_RANGE);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_READ, (plba_t){ 0 }, 0, &p), -EINVAL);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_READ, (plba_t){ 0 }, 257, &p), -EINVAL);
	port_pages_put(&p);
}

static void test_host_io__five_pages__written_and_read(void **state)
{
	world_run(*state, host_data);
}

static void dirty(struct world *w, u64 lba)
{
	u8 junk[4096];

	memset(junk, 0x5A, sizeof(junk));
	store_write(w->m->media, lba * 512, junk, sizeof(junk));
}

static bool clean(struct world *w, u64 lba)
{
	u64 words[512], any = 0;

	store_read(w->m->media, lba * 512, words, sizeof(words));
	for (u32 i = 0; i < 512; i++)
		any |= words[i];
	return any == 0;
}

static void two_vms(struct world *w)
{
	struct port_vm *b, *a;

	dirty(w, 0x100000);
	dirty(w, 0x17FFF8);
	dirty(w, 0x1FFFF8);
	dirty(w, 0xFFFF8);
	CHECK_INT(world_vm(w, 1, 2, &b), 0);
	CHECK_INT(b->liov.lba.start, 0x100000);
	CHECK_INT(b->liov.lba.count, 0x100000);
	CHECK_INT(b->liov.queue[0]->qid, 2);
	CHECK_INT(b->liov.queue[1]->qid, 3);
	CHECK(clean(w, 0x100000) && clean(w, 0x17FFF8) && clean(w, 0x1FFFF8));
	CHECK(!clean(w, 0xFFFF8));
	CHECK_INT(world_vm(w, 2, 2, &a), 0);
	CHECK_INT(a->liov.lba.start, 0x200000);
	CHECK_INT(a->liov.queue[0]->qid, 4);
	CHECK_INT(a->liov.queue[1]->vector, 5);
	CHECK(world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_LBA_WIPED, 0x100000) <
	      world_find(w, 0, LIOV_TRACE_VM, 1, 0x100000));
}

static void test_vm_create__two__baseline_layout_and_wiped(void **state)
{
	world_run(*state, two_vms);
}

/* A controller without Write Zeroes: zeros are written. */
static void test_vm_create__no_write_zeroes__wiped_all_the_same(void **state)
{
	struct world *w = *state;

	w->cfg.ssd.oncs = 0;
	world_run(w, two_vms);
}

static bool same_extents(const struct liov_extents *a, const struct liov_extents *b)
{
	return a->nr == b->nr && memcmp(a->free, b->free, a->nr * sizeof(a->free[0])) == 0;
}

static void refusals(struct world *w)
{
	struct liov_vm_config good = { .id = 5, .nr_queues = 2, .lbas = 0x1000 }, c;
	struct port_vm *b;
	struct liov_vm *vm = calloc(1, sizeof(*vm));
	struct liov_extents lbas = w->be->lbas;

	CHECK_INT(world_vm(w, 1, 2, &b), 0);
	lbas = w->be->lbas;
	for (u32 i = 0; i < 6; i++) {
		c = good;
		if (i == 0)
			c.id = 1;
		if (i == 1)
			c.id = LIOV_HOST_VM;
		if (i == 2)
			c.nr_queues = 0;
		if (i == 3)
			c.nr_queues = LIOV_VM_QUEUES_MAX + 1;
		if (i == 4)
			c.lbas = 0;
		if (i == 5)
			c.nr_vectors = LIOV_VECTORS_MAX + 1;
		CHECK_INT(liov_vm_create(w->be, vm, b, &c), -EINVAL);
	}
	/* IOM-08: the same memory a second time. */
	CHECK_INT(liov_vm_create(w->be, vm, b, &good), -EINVAL);
	CHECK(same_extents(&lbas, &w->be->lbas));
	free(vm);
	w->vm_cfg = (struct vm_config){ .id = 7, .name = "vm", .vcpus = 1, .nr_ram = 1, .liov = good };
	w->vm_cfg.ram[0].len_bytes = 1 << 20;
	/* CFG-02: the host's window, the interrupt range, the controller's registers. */
	w->vm_cfg.ram[0].gpa = 0xFF00000;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), -EINVAL);
	world_forget(w, 7);
	w->vm_cfg.ram[0].gpa = 0xFEE00000;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), -EINVAL);
	world_forget(w, 7);
	w->vm_cfg.ram[0].gpa = pci_bar_base(nvme_function(w->m->nvme), 0) & ~0xFFFFFull;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), -EINVAL);
	world_forget(w, 7);
	w->vm_cfg.ram[0].gpa = (1ull << 40) - (1 << 20);
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), 0);
	vm_destroy(b);
	world_forget(w, 7);
	w->vm_cfg.ram[0].gpa += SPEC_PAGE_SIZE;	/* above what the IOMMU translates */
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), -EINVAL);
	world_forget(w, 7);
	w->vm_cfg.ram[0].gpa = 0x10000000;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), 0);
	/* Too many blocks. */
	w->vm_cfg.id = 8;
	w->vm_cfg.ram[0].gpa = 0x20000000;
	w->vm_cfg.liov.lbas = 0x800000;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), -ENOSPC);
}

/* CFG-01, CFG-04: an operator's table names blocks and queues. */
static void fixed_places(struct world *w)
{
	static const struct { u64 start, count; int ret; } windows[] = {
		{ 0x1FFFFF, 1, -EBUSY }, { 0x100000, 0x100000, -EBUSY }, { 0xFFFFF, 1, -EBUSY }, { 0x7FFFFF, 2, -EBUSY },
		{ ~0ull - 0xFFFull, 0x1000, -EBUSY }, { 0x200000, 0, -EINVAL }, { 0x7FFFFF, 1, 0 },
	};
	static const struct { u32 qid; int ret; } queues[] = { { 0, -EINVAL }, { 2, -EBUSY }, { 65, -EINVAL }, { 64, 0 } };
	struct port_vm *b;
	u32 i;

	CHECK_INT(world_vm(w, 1, 2, &b), 0);	/* blocks from 0x100000, pairs 2 and 3 */
	w->vm_cfg = (struct vm_config){ .id = 7, .name = "vm", .vcpus = 1, .nr_ram = 1, .liov = { .nr_queues = 1, .lbas_at = true } };
	w->vm_cfg.ram[0].len_bytes = 1 << 20;
	w->vm_cfg.ram[0].gpa = 0x10000000;
	for (i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		w->vm_cfg.liov.lba_start = windows[i].start;
		w->vm_cfg.liov.lbas = windows[i].count;
		CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), windows[i].ret);
		if (windows[i].ret)
			world_forget(w, 7);
	}
	CHECK_INT(b->liov.lba.start, 0x7FFFFF);
	w->vm_cfg.id = 8;
	w->vm_cfg.ram[0].gpa = 0x20000000;
	w->vm_cfg.liov = (struct liov_vm_config){ .nr_queues = 1, .lbas = 0x1000, .queues_at = true };
	for (i = 0; i < sizeof(queues) / sizeof(queues[0]); i++) {
		w->vm_cfg.liov.first_qid = queues[i].qid;
		CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), queues[i].ret);
		if (queues[i].ret)
			world_forget(w, 8);
	}
	CHECK_INT(b->liov.queue[0]->qid, 64);
}

static void test_vm_create__at_fixed_places__there_or_refused(void **state)
{
	struct world *w = *state;

	world_run(w, fixed_places);
}

static void test_vm_create__bad_configuration__refused_and_nothing_taken(void **state)
{
	struct world *w = *state;

	w->cfg.vtd.mgaw_bits = 40;
	world_run(w, refusals);
}

struct snapshot {
	struct liov_extents lbas, iovas, windows;
	u32 free_queues, requested;
};

static struct snapshot *snapshot(struct world *w)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	s->lbas = w->be->lbas;
	s->iovas = w->be->iovas;
	s->windows = w->be->windows;
	for (u32 q = 1; q <= w->be->info.io_queues; q++)
		s->free_queues += w->be->hwq[q].state == LIOV_HWQ_FREE;
	for (u32 v = 0; v < w->m->host->nr_vectors; v++)
		s->requested += w->m->host->irq[v].requested;
	return s;
}

static bool same(struct snapshot *a, struct snapshot *b)
{
	bool eq = same_extents(&a->lbas, &b->lbas) && same_extents(&a->iovas, &b->iovas) &&
		  same_extents(&a->windows, &b->windows) && a->free_queues == b->free_queues &&
		  a->requested == b->requested;

	free(b);
	return eq;
}

/* EXH-06, LIF-04: everything comes back, every time. */
static void come_and_go(struct world *w)
{
	struct snapshot *before = snapshot(w);

	for (u32 i = 0; i < 5; i++) {
		struct port_vm *vm;

		CHECK_INT(world_vm(w, 1, 3, &vm), 0);
		CHECK_INT(vm->liov.queue[0]->qid, 2);
		port_mutex_lock(&vm->liov.lock);
		CHECK_INT(liov_vm_mem_register(&vm->liov, (gpa_t){ 1ull << 32 }, 4 << 20), 0);
		CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
		CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
		CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 1, 64, true, 2), 0);
		port_mutex_unlock(&vm->liov.lock);
		vm_destroy(vm);
		world_forget(w, 1);
		CHECK(same(before, snapshot(w)));
	}
	CHECK_INT(w->be->nr_quarantined, 0);
	free(before);
}

static void test_vm_destroy__queues_live__all_back(void **state)
{
	world_run(*state, come_and_go);
}

/* The order of the protocol: pages, queue, IOVA, VM. */
static void order(struct world *w)
{
	struct port_vm *vm;
	u32 pages, quiet, iova, gone;

	CHECK_INT(world_vm(w, 1, 1, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_mem_register(&vm->liov, (gpa_t){ 1ull << 32 }, 4 << 20), 0);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	w->nr_log = 0;
	vm_destroy(vm);
	pages = world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_PAGES_REVOKED, 0);
	quiet = world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_QUEUE_QUIET, 2);
	iova = world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_IOVA_REVOKED, 1ull << 32);
	gone = world_find(w, 0, LIOV_TRACE_VM, 0, 0x100000);
	CHECK(pages < quiet && quiet < iova && iova < gone && gone < w->nr_log);
}

static void test_vm_destroy__protocol__in_order(void **state)
{
	world_run(*state, order);
}

/* LIF-10: IOVA space for two queues of three. */
static void half_way(struct world *w)
{
	struct snapshot *before = snapshot(w);
	struct port_vm *vm;
	u64 at;

	/* Leave room for two and a half queue pairs of 16 + 4 pages. */
	CHECK_INT(liov_extents_take(&w->be->iovas, w->be->iovas.free[0].count - 50 * 4096, 4096, &at), 0);
	free(before);
	before = snapshot(w);
	CHECK_INT(world_vm(w, 1, 3, &vm), -ENOSPC);
	CHECK(same(before, snapshot(w)));
	world_forget(w, 1);
	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	free(before);
}

static void test_vm_create__fails_half_way__rolled_back_and_retry_works(void **state)
{
	world_run(*state, half_way);
}

static void quarantine(struct world *w)
{
	struct port_vm *vm, *other;
	struct snapshot *before = snapshot(w), *after;

	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	/* The controller answers no more. */
	w->be->admin.dead = true;
	vm_destroy(vm);
	world_forget(w, 1);
	CHECK_INT(w->be->hwq[2].state, LIOV_HWQ_QUARANTINED);
	CHECK_INT(w->be->hwq[3].state, LIOV_HWQ_FREE);
	CHECK_INT(w->be->nr_quarantined, 1);
	CHECK(w->be->hwq[2].has_sq_pages && w->be->hwq[2].has_cq_pages);
	w->be->admin.dead = false;
	/* Neither its blocks nor its addresses are given away. */
	CHECK_INT(world_vm(w, 1, 1, &other), -EINVAL);
	world_forget(w, 1);
	CHECK_INT(world_vm(w, 2, 1, &other), 0);
	CHECK_INT(other->liov.lba.start, 0x200000);
	CHECK_INT(other->liov.queue[0]->qid, 3);
	vm_destroy(other);
	world_forget(w, 2);

	CHECK_INT(liov_backend_reset(w->be), 0);
	after = snapshot(w);
	CHECK_INT(w->be->nr_quarantined, 0);
	CHECK_INT(after->free_queues, before->free_queues);
	CHECK_INT(after->requested, before->requested);
	CHECK(same_extents(&after->lbas, &before->lbas));
	free(before);
	free(after);
	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	CHECK_INT(vm->liov.queue[0]->qid, 2);
}

static void test_vm_destroy__delete_fails__quarantined_until_reset(void **state)
{
	world_run(*state, quarantine);
}

/* No command is sent to a function that somebody resets: it would be waited for in vain. */
static void reset_expected(struct world *w)
{
	struct port_vm *vm;
	u64 before;

	CHECK_INT(world_vm(w, 1, 1, &vm), 0);
	liov_backend_reset_expected(w->be);
	before = sched_now(w->m->sched);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), -EIO);
	port_mutex_unlock(&vm->liov.lock);
	CHECK(sched_now(w->m->sched) - before < PS_PER_MS);
	CHECK_INT(liov_backend_reset(w->be), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	port_mutex_unlock(&vm->liov.lock);
}

static void test_backend_reset__expected__commands_fail_at_once_until_then(void **state)
{
	world_run(*state, reset_expected);
}

static void reset(struct world *w)
{
	struct port_vm *vm;
	struct liov_page page;

	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	page = liov_backend_page(&vm->liov, LIOV_CMB_SLOTS, true);
	CHECK_INT(page.kind, LIOV_PAGE_MEMORY);
	CHECK_INT(liov_backend_reset(w->be), 0);
	CHECK_INT(vm->liov.queue[0]->state, LIOV_HWQ_RESERVED);
	page = liov_backend_page(&vm->liov, LIOV_CMB_SLOTS, true);
	CHECK_INT(page.kind, LIOV_PAGE_NONE);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_FLUSH, (plba_t){ 0 }, 0, NULL), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	page = liov_backend_page(&vm->liov, LIOV_CMB_SLOTS, true);
	CHECK_INT(page.kind, LIOV_PAGE_MEMORY);
	CHECK_INT(liov_backend_stop(w->be), -EBUSY);
	vm_destroy(vm);
	world_forget(w, 1);
	CHECK_INT(liov_backend_stop(w->be), 0);
}

static void test_reset__queues_live__gone_and_can_be_created_again(void **state)
{
	world_run(*state, reset);
}

/* EXH-01b, LIF-02: one bad doorbell and the controller is gone for all; a reset brings it back in time. */
static void fatal(struct world *w)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_GET_FEATURES, .cdw10 = NVME_FEAT_ARBITRATION };
	struct port_vm *vm;
	u64 before = port_now_ns(w->be->home);

	CHECK_INT(world_vm(w, 1, 1, &vm), 0);
	port_mmio_wr32(&w->be->bar0, 0x1000 + 8 * 9, 1);
	CHECK(port_mmio_rd32(&w->be->bar0, NVME_REG_CSTS) & NVME_CSTS_CFS);
	before = port_now_ns(w->be->home);
	CHECK_INT(liov_admin_cmd(w->be, &sqe, NULL), -ETIMEDOUT);
	CHECK_INT(liov_admin_cmd(w->be, &sqe, NULL), -EIO);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_FLUSH, (plba_t){ 0 }, 0, NULL), -ETIMEDOUT);
	CHECK_INT(liov_backend_reset(w->be), 0);
	CHECK(port_now_ns(w->be->home) - before < 2000000000ull);
	CHECK_INT(liov_admin_cmd(w->be, &sqe, NULL), 0);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_FLUSH, (plba_t){ 0 }, 0, NULL), 0);
	CHECK_INT(w->be->admin.aers, 0xF);
}

static void test_reset__controller_fatal__back_in_time(void **state)
{
	struct world *w = *state;

	w->cfg.ssd.fragile_doorbells = true;
	world_run(w, fatal);
}

static void refused_boot(struct world *w)
{
	CHECK_INT(host_boot_liov(w->m), -EOPNOTSUPP);
	CHECK(!w->m->host->pages);
	for (u32 v = 0; v < w->m->host->nr_vectors; v++)
		CHECK(!w->m->host->irq[v].requested);
}

static void test_start__nrd_without_doorbell_pages__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_NRD;
	w->cfg.ssd.resource_domains = true;
	world_run_without_boot(w, refused_boot);
}

static void test_start__nrd_without_domains__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_NRD;
	w->cfg.ssd.dstrd = 10;
	world_run_without_boot(w, refused_boot);
}

static void nrd(struct world *w)
{
	struct port_vm *vm;
	struct liov_page p;

	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_mem_register(&vm->liov, (gpa_t){ 1ull << 32 }, 4 << 20), 0);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 1, 64, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 1, 64, 1), 0);
	CHECK_INT(liov_vm_mem_register(&vm->liov, (gpa_t){ (1ull << 32) + (8 << 20) }, 4 << 20), 0);
	port_mutex_unlock(&vm->liov.lock);
	/* Queue 3's own pages: 1000h + (2 * 3) * 4096 and the next; none that is shared. */
	p = liov_backend_page(&vm->liov, LIOV_CMB_SLOTS + LIOV_CMB_SLOT_STRIDE + LIOV_SLOT_SQ_DOORBELL, true);
	CHECK_INT(p.kind, LIOV_PAGE_BAR0);
	CHECK_INT(p.bar_off, 0x7000);
	p = liov_backend_page(&vm->liov, LIOV_CMB_SLOTS + LIOV_CMB_SLOT_STRIDE + LIOV_SLOT_CQ_DOORBELL, true);
	CHECK_INT(p.bar_off, 0x8000);
	CHECK_INT(liov_backend_page(&vm->liov, LIOV_CMB_DOORBELLS, true).kind, LIOV_PAGE_NONE);
	CHECK_INT(liov_backend_page(&vm->liov, LIOV_CMB_SLOTS + LIOV_SLOT_SQ_DOORBELL, true).kind, LIOV_PAGE_NONE);
	vm_destroy(vm);
}

static void test_nrd__own_pages__mapped_by_slot(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_NRD;
	w->cfg.ssd.resource_domains = true;
	w->cfg.ssd.dstrd = 10;
	world_run(w, nrd);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_start__reference_machine__as_documented),
		T(test_start__cmb__enabled_and_holds_an_sq),
		T(test_start__nrd_without_doorbell_pages__refused),
		T(test_start__nrd_without_domains__refused),
		T(test_host_io__five_pages__written_and_read),
		T(test_vm_create__two__baseline_layout_and_wiped),
		T(test_vm_create__no_write_zeroes__wiped_all_the_same),
		T(test_vm_create__bad_configuration__refused_and_nothing_taken),
		T(test_vm_create__at_fixed_places__there_or_refused),
		T(test_vm_create__fails_half_way__rolled_back_and_retry_works),
		T(test_vm_destroy__queues_live__all_back),
		T(test_vm_destroy__protocol__in_order),
		T(test_vm_destroy__delete_fails__quarantined_until_reset),
		T(test_backend_reset__expected__commands_fail_at_once_until_then),
		T(test_reset__queues_live__gone_and_can_be_created_again),
		T(test_reset__controller_fatal__back_in_time),
		T(test_nrd__own_pages__mapped_by_slot),
	};

	return cmocka_run_group_tests_name("core_backend", tests, NULL, NULL);
}
