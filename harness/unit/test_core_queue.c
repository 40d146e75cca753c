// SPDX-License-Identifier: GPL-2.0
/*
 * A VM's hardware queues: what is mapped when, interrupts behind virtual vectors, deletion
 * against a guest that does not help.
 */
#include "core_world.h"
#include "hwq.c"

#define SLOT(i) (LIOV_CMB_SLOTS + (i) * LIOV_CMB_SLOT_STRIDE)

static struct port_vm *new_vm(struct world *w, u32 id, u32 queues)
{
	struct port_vm *vm;
	int err = world_vm(w, id, queues, &vm);

	CHECK_INT(err, 0);
	if (err)
		abort();
	return vm;
}

static void live(struct world *w, struct port_vm *vm, u32 index, u32 entries)
{
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, index, entries, true, (u16)(index + 1)), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, index, entries, index), 0);
	port_mutex_unlock(&vm->liov.lock);
}

static u32 kind(struct port_vm *vm, u64 off)
{
	return liov_backend_page(&vm->liov, off, true).kind;
}

static void pages(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 2);
	struct liov_page p;

	/* Reserved: nothing is there but the info page, to be read. */
	CHECK_INT(kind(vm, SLOT(0)), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_CQ), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, LIOV_CMB_DOORBELLS), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, LIOV_CMB_INFO), LIOV_PAGE_NONE);
	p = liov_backend_page(&vm->liov, LIOV_CMB_INFO + 0x24, false);
	CHECK_INT(p.kind, LIOV_PAGE_MEMORY);
	CHECK(!p.writable);

	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 512, true, 1), 0);
	port_mutex_unlock(&vm->liov.lock);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_CQ), LIOV_PAGE_MEMORY);
	CHECK_INT(kind(vm, SLOT(0)), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, LIOV_CMB_DOORBELLS), LIOV_PAGE_NONE);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 128, 0), 0);
	port_mutex_unlock(&vm->liov.lock);

	/* 128 SQEs are two pages, 512 CQEs two; not a page more. */
	p = liov_backend_page(&vm->liov, SLOT(0) + 0x1FFF, true);
	CHECK_INT(p.kind, LIOV_PAGE_MEMORY);
	CHECK_INT(p.index, 1);
	CHECK(p.writable && p.pages.hpa == vm->liov.queue[0]->sq_pages.hpa);
	CHECK_INT(kind(vm, SLOT(0) + 0x2000), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_CQ + 0x1000), LIOV_PAGE_MEMORY);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_CQ + 0x2000), LIOV_PAGE_NONE);
	p = liov_backend_page(&vm->liov, LIOV_CMB_DOORBELLS + 8, true);
	CHECK_INT(p.kind, LIOV_PAGE_BAR0);
	CHECK_INT(p.bar_off, 0x1000);
	/* CMB-02: no other slot, nothing between, nothing past the end. */
	CHECK_INT(kind(vm, SLOT(1)), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, SLOT(2)), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_SQ_DOORBELL), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, 0x2000), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, LIOV_CMB_SIZE_MIN), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, ~0ull), LIOV_PAGE_NONE);
	CHECK(world_find(w, 0, LIOV_TRACE_DENY, 0, SLOT(2)) < w->nr_log);

	w->nr_log = 0;
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_delete_cq(&vm->liov, 0), -EINVAL);
	CHECK_INT(liov_vm_queue_delete_sq(&vm->liov, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	CHECK(world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_PAGES_REVOKED, LIOV_CMB_DOORBELLS) <
	      world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_QUEUE_QUIET, 2));
	CHECK_INT(kind(vm, SLOT(0)), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, LIOV_CMB_DOORBELLS), LIOV_PAGE_NONE);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_CQ), LIOV_PAGE_MEMORY);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_delete_cq(&vm->liov, 0), 0);
	CHECK_INT(liov_vm_queue_delete_cq(&vm->liov, 0), -EINVAL);
	port_mutex_unlock(&vm->liov.lock);
	CHECK_INT(kind(vm, SLOT(0) + LIOV_SLOT_CQ), LIOV_PAGE_NONE);
}

static void test_page__life_of_a_queue__only_what_exists(void **state)
{
	world_run(*state, pages);
}

static void info(struct world *w)
{
	struct port_vm *vm;
	struct liov_page p;
	struct liov_info in;
	struct port_shm s;

	(void)new_vm(w, 1, 2);
	vm = new_vm(w, 2, 2);
	p = liov_backend_page(&vm->liov, 0, false);
	s = port_pages_shm(&p.pages);
	port_shm_copy_in(&s, 0, &in, sizeof(in));
	CHECK_INT(in.magic, LIOV_INFO_MAGIC);
	CHECK_INT(in.nr_queues, 2);
	CHECK_INT(in.flags, LIOV_INFO_DOORBELLS);
	CHECK_INT(in.lba_start, 0x200000);
	CHECK_INT(in.lba_count, 0x100000);
	CHECK_INT(in.dma_offset, 0);
	CHECK_INT(in.queue[1].sq, 0x30000);
	CHECK_INT(in.queue[1].cq, 0x40000);
	CHECK_INT(in.queue[1].depth_max, 1024);
	/* SQ4 tail is at 1020h of BAR 0, CQ4 head at 1024h: the reference machine's table. */
	CHECK_INT(in.queue[0].sq_doorbell, 0x1020);
	CHECK_INT(in.queue[0].cq_doorbell, 0x1024);
	CHECK_INT(in.queue[2].sq, 0);
}

static void test_info__paper__says_where_things_are(void **state)
{
	world_run(*state, info);
}

static void zeroed(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 1);
	struct liov_hwq *q = vm->liov.queue[0];
	u64 junk = 0x1234567812345678ull;

	live(w, vm, 0, 64);
	port_shm_copy_out(&q->sq, 0x400, &junk, 8);
	port_shm_copy_out(&q->cq, 0x100, &junk, 8);
	port_mutex_lock(&vm->liov.lock);
	liov_vm_queues_reset(&vm->liov);
	port_mutex_unlock(&vm->liov.lock);
	/* REM-03, REM-04 */
	CHECK_INT(port_shm_rd64(&q->sq, 0x400), 0);
	CHECK_INT(port_shm_rd64(&q->cq, 0x100), 0);
	CHECK_INT(q->state, LIOV_HWQ_RESERVED);
	live(w, vm, 0, 64);
	CHECK_INT(kind(vm, SLOT(0)), LIOV_PAGE_MEMORY);
}

static void test_queues_reset__junk_in_queues__zeroed(void **state)
{
	world_run(*state, zeroed);
}

static void vectors(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 1);
	struct liov_hwq *q = vm->liov.queue[0];
	struct port_host *h = w->m->host;
	u32 cap = vm->liov.dev.config[PCIS_CAP_POINTER];

	/* The guest: message of vector 1, unmasked, then MSI-X on. */
	while (vm->liov.dev.config[cap] != PCIS_CAP_ID_MSIX)
		cap = vm->liov.dev.config[cap + 1];
	liov_device_wr(&vm->liov, LIOV_BAR0_MSIX_TABLE + 16, 0xFEE00000, 4);
	liov_device_wr(&vm->liov, LIOV_BAR0_MSIX_TABLE + 16 + 8, 0x41, 4);
	liov_device_wr(&vm->liov, LIOV_BAR0_MSIX_TABLE + 16 + 12, 0, 4);
	live(w, vm, 0, 64);
	CHECK(q->vector_masked && !q->vector_posted);
	liov_device_cfg_wr(&vm->liov, cap + PCIS_MSIX_CONTROL, PCIS_MSIX_ENABLE, 2);
	CHECK(!q->vector_masked && q->vector_posted);
	CHECK(h->irq[2].posted_vm == vm);
	/* Masked: the message waits at the controller. */
	liov_device_wr(&vm->liov, LIOV_BAR0_MSIX_TABLE + 16 + 12, 1, 4);
	CHECK(q->vector_masked && q->vector_posted);
	liov_device_wr(&vm->liov, LIOV_BAR0_MSIX_TABLE + 16 + 8, 0x42, 4);
	liov_device_wr(&vm->liov, LIOV_BAR0_MSIX_TABLE + 16 + 12, 0, 4);
	CHECK(!q->vector_masked && q->vector_posted);
	CHECK_INT(q->posted_msi.data, 0x42);
	port_mutex_lock(&vm->liov.lock);
	liov_vm_queues_reset(&vm->liov);
	port_mutex_unlock(&vm->liov.lock);
	CHECK(q->vector_masked && !q->vector_posted);
	CHECK(!h->irq[2].posted_vm);
}

static void test_vector__guest_masks_and_moves__physical_follows(void **state)
{
	world_run(*state, vectors);
}

/* Reads by hand, as a guest that knows everything would send them. */
static void ring(struct world *w, struct liov_hwq *q, u32 first, u32 nr)
{
	for (u32 i = first; i < first + nr; i++) {
		struct nvme_sqe sqe = { .opcode = NVME_CMD_FLUSH, .cid = (u16)i, .nsid = 1 };

		port_shm_copy_out(&q->sq, i * 64, &sqe, sizeof(sqe));
	}
	port_dma_wmb(w->be->home);
	port_mmio_wr32(&w->be->bar0, 0x1000 + 8 * q->qid, first + nr);
}

static void stalled(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 1);
	struct liov_hwq *q = vm->liov.queue[0];
	u64 before;

	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 4, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	/* Twenty commands for a queue of three completions that nobody takes. */
	ring(w, q, 0, 20);
	port_sleep_ns(w->be->home, 5000000);
	before = port_now_ns(w->be->home);
	vm_destroy(vm);
	CHECK_INT(w->be->nr_quarantined, 0);
	CHECK(!w->be->admin.dead);
	CHECK(port_now_ns(w->be->home) - before < w->be->cfg.timeout_ns);
	CHECK_INT(w->be->hwq[2].state, LIOV_HWQ_FREE);
}

static void test_destroy__guest_takes_no_completions__ends_in_time(void **state)
{
	world_run(*state, stalled);
}

/* What Delete SQ does when it waits: the host consumes in the guest's place. */
static void drain(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 1);
	struct liov_hwq *q = vm->liov.queue[0];
	u64 posted, bad;

	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 4, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	posted = nvme_counters(w->m->nvme)->cqes_posted;
	bad = nvme_counters(w->m->nvme)->doorbells_bad;
	ring(w, q, 0, 20);
	/* Three of four entries hold completions; then three more; past the end of the ring, too. */
	for (u32 i = 1; i <= 6; i++) {
		port_sleep_ns(w->be->home, 5000000);
		CHECK_INT(nvme_counters(w->m->nvme)->cqes_posted - posted, 3 * i);
		hwq_drain(q);
	}
	port_sleep_ns(w->be->home, 5000000);
	CHECK_INT(nvme_counters(w->m->nvme)->cqes_posted - posted, 20);
	CHECK_INT(nvme_counters(w->m->nvme)->doorbells_bad, bad);
	vm_destroy(vm);
}

static void test_drain__cq_full__controller_goes_on(void **state)
{
	world_run(*state, drain);
}

/* EXH-03: at most 100 log reads in a second. The error log of a doorbell names no queue: FFFFh, Base figure 206. */
static void storm(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 1);
	u32 n = 0, i;

	live(w, vm, 0, 64);
	w->traced[LIOV_TRACE_EVENT] = 0;
	w->nr_log = 0;
	for (u32 ms = 0; ms < 1000; ms++) {
		for (u32 k = 0; k < 20; k++)
			port_mmio_wr32(&w->be->bar0, 0x1000 + 8 * 2, 0xFFFF);
		port_sleep_ns(w->be->home, 1000000);
	}
	n = w->traced[LIOV_TRACE_EVENT];
	CHECK(n > 10 && n <= 100);
	i = world_find(w, 0, LIOV_TRACE_EVENT, 0xFFFF, NVME_AEN_DOORBELL_VALUE);
	CHECK(i < w->nr_log && (u32)w->log[i].vm == LIOV_HOST_VM);
	/* The admin queue goes on working. */
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_delete_sq(&vm->liov, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
}

static void test_events__doorbell_errors_without_end__bounded(void **state)
{
	world_run(*state, storm);
}

/* One read by a guest that checks nothing; its status. */
static u32 raw_read(struct world *w, struct liov_hwq *q, u32 nth, u64 slba, u64 prp1)
{
	struct nvme_sqe sqe = { .opcode = NVME_CMD_READ, .cid = (u16)nth, .nsid = 1, .prp1 = prp1,
				.cdw10 = (u32)slba, .cdw12 = 7 };

	port_shm_copy_out(&q->sq, nth * 64, &sqe, sizeof(sqe));
	port_dma_wmb(w->be->home);
	port_mmio_wr32(&w->be->bar0, (u32)liov_doorbell(w->be, q->qid, false), nth + 1);
	port_sleep_ns(w->be->home, 1000000);
	return (u32)(port_shm_rd64(&q->cq, nth * 16 + 8) >> 49) & NVME_STATUS_CODE;
}

/* The controller knows what the queue may name, also after that changed. */
static void domains(struct world *w)
{
	struct port_vm *b = new_vm(w, 1, 1), *a = new_vm(w, 2, 1);
	u64 ram = 2ull << 32;
	struct liov_hwq *q = a->liov.queue[0];

	(void)b;
	live(w, a, 0, 64);
	CHECK_INT(raw_read(w, q, 0, 0x200000, ram), NVME_SC_DATA_TRANSFER);
	port_mutex_lock(&a->liov.lock);
	CHECK_INT(liov_vm_mem_register(&a->liov, (gpa_t){ ram }, 1 << 20), 0);
	port_mutex_unlock(&a->liov.lock);
	CHECK_INT(raw_read(w, q, 1, 0x200000, ram), 0);
	CHECK_INT(raw_read(w, q, 2, 0x2FFFF8, ram), 0);
	CHECK_INT(raw_read(w, q, 3, 0x2FFFF9, ram), NVME_SC_LBA_RANGE);
	CHECK_INT(raw_read(w, q, 4, 0x100000, ram), NVME_SC_LBA_RANGE);
	CHECK_INT(raw_read(w, q, 5, 0x200000, 0x100000), NVME_SC_DATA_TRANSFER);
	CHECK_INT(raw_read(w, q, 6, 0x200000, 1ull << 32), NVME_SC_DATA_TRANSFER);
	/* A balloon does not shrink the window; the region's end does. */
	port_mutex_lock(&a->liov.lock);
	CHECK_INT(liov_vm_mem_unregister(&a->liov, (gpa_t){ ram }, 0x1000), 0);
	port_mutex_unlock(&a->liov.lock);
	CHECK_INT(raw_read(w, q, 7, 0x200000, ram), 0);
	port_mutex_lock(&a->liov.lock);
	CHECK_INT(liov_vm_mem_unregister(&a->liov, (gpa_t){ ram + 0x1000 }, (1 << 20) - 0x1000), 0);
	port_mutex_unlock(&a->liov.lock);
	CHECK_INT(raw_read(w, q, 8, 0x200000, ram), NVME_SC_DATA_TRANSFER);
}

static void test_nrd__registration_changes__controller_told(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_NRD;
	w->cfg.ssd.resource_domains = true;
	w->cfg.ssd.dstrd = 10;
	world_run(w, domains);
}

static void release_one(struct world *w)
{
	struct port_vm *a = new_vm(w, 1, 2), *b;
	struct port_pages old;

	live(w, a, 0, 64);
	live(w, a, 1, 64);
	old = a->liov.queue[0]->sq_pages;
	CHECK_INT(liov_vm_queue_release(&a->liov, 2), -EINVAL);
	CHECK_INT(liov_vm_queue_release(&a->liov, 0), 0);
	CHECK_INT(liov_vm_queue_release(&a->liov, 0), -EINVAL);
	CHECK_INT(kind(a, SLOT(0)), LIOV_PAGE_NONE);
	CHECK_INT(kind(a, SLOT(1)), LIOV_PAGE_MEMORY);
	port_mutex_lock(&a->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&a->liov, 0, 64, true, 1), -EINVAL);
	port_mutex_unlock(&a->liov.lock);
	/* EPT-01: the pair is the next VM's, and only its. */
	b = new_vm(w, 2, 1);
	CHECK_INT(b->liov.queue[0]->qid, 2);
	live(w, b, 0, 64);
	CHECK_INT(kind(a, SLOT(0)), LIOV_PAGE_NONE);
	CHECK_INT(kind(b, SLOT(0)), LIOV_PAGE_MEMORY);
	(void)old;
	vm_destroy(a);
	CHECK_INT(w->be->hwq[2].state, LIOV_HWQ_LIVE);
	CHECK_INT(kind(b, SLOT(0)), LIOV_PAGE_MEMORY);
}

static void test_queue_release__reassigned__old_owner_has_nothing(void **state)
{
	world_run(*state, release_one);
}

static void shared_cq(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 2);
	struct liov_vm *l = &vm->liov;

	port_mutex_lock(&l->lock);
	CHECK_INT(liov_vm_queue_create_sq(l, 0, 64, 0), -EINVAL);
	CHECK_INT(liov_vm_queue_create_cq(l, 1, 64, false, 0), 0);
	CHECK_INT(liov_vm_queue_create_sq(l, 0, 64, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(l, 1, 64, 1), 0);
	CHECK_INT(liov_vm_queue_delete_sq(l, 1), 0);
	CHECK_INT(liov_vm_queue_delete_cq(l, 1), -EINVAL);
	port_mutex_unlock(&l->lock);
	ring(w, l->queue[0], 0, 3);
	port_sleep_ns(w->be->home, 5000000);
	CHECK(port_shm_rd64(&l->queue[1]->cq, 2 * 16 + 8) >> 48 & NVME_CQE_PHASE);
	/* Taking the CQ's pair takes the SQ that posts there. */
	CHECK_INT(liov_vm_queue_release(l, 1), 0);
	CHECK_INT(l->queue[0]->state, LIOV_HWQ_RESERVED);
	vm_destroy(vm);
	CHECK_INT(w->be->nr_quarantined, 0);
}

static void test_queue__cq_of_another_pair__lives_and_ends(void **state)
{
	world_run(*state, shared_cq);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_page__life_of_a_queue__only_what_exists),
		T(test_info__paper__says_where_things_are),
		T(test_queues_reset__junk_in_queues__zeroed),
		T(test_vector__guest_masks_and_moves__physical_follows),
		T(test_destroy__guest_takes_no_completions__ends_in_time),
		T(test_drain__cq_full__controller_goes_on),
		T(test_events__doorbell_errors_without_end__bounded),
		T(test_nrd__registration_changes__controller_told),
		T(test_queue_release__reassigned__old_owner_has_nothing),
		T(test_queue__cq_of_another_pair__lives_and_ends),
	};

	return cmocka_run_group_tests_name("core_queue", tests, NULL, NULL);
}
