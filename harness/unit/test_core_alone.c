// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of the backend that others stand behind, or that no guest reaches: each is asked where it alone can
 * answer, with what it looks at changed by hand.
 */
#include "core_world.h"
#include "mediator.h"

/* --- configurations --- */

static void refused_einval(struct world *w)
{
	CHECK_INT(host_boot_liov(w->m), -EINVAL);
	CHECK(!w->m->host->pages);
}

static void refused_unsupported(struct world *w)
{
	CHECK_INT(host_boot_liov(w->m), -EOPNOTSUPP);
	CHECK(!w->m->host->pages);
}

static void test_config__host_window_wraps__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.host_iova = (struct liov_range){ ~0ull - 0x1FFFFF, 0x400000 };
	world_run_without_boot(w, refused_einval);
}

static void test_config__host_window_not_of_pages__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.host_iova.start += 0x800;
	world_run_without_boot(w, refused_einval);
}

static void test_config__vm_window_no_power_of_two__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.dma_offset = true;
	w->cfg.backend.vm_iova = (struct liov_range){ 1ull << 40, 1ull << 40 };
	w->cfg.backend.vm_iova_window = 3ull << 30;
	world_run_without_boot(w, refused_einval);
}

static void test_config__vm_windows_over_interrupts__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.dma_offset = true;
	w->cfg.backend.vm_iova = (struct liov_range){ 0, 1ull << 40 };
	w->cfg.backend.vm_iova_window = 1ull << 30;
	world_run_without_boot(w, refused_einval);
}

static void test_config__host_window_over_interrupts__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.host_iova = (struct liov_range){ 0xFE000000, 0x2000000 };
	world_run_without_boot(w, refused_einval);
}

static void test_config__host_has_more_blocks_than_there_are__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.host_lbas = 0x800001;
	world_run_without_boot(w, refused_einval);
}

static void test_config__siov_on_an_ssd_without__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_SIOV;
	world_run_without_boot(w, refused_unsupported);
}

/* An SSD with its MSI-X table where the doorbells' page is. */
static void table_among_doorbells(struct world *w)
{
	u8 *config = nvme_function(w->m->nvme)->config;
	u8 at = config[PCIS_CAP_POINTER];

	while (at && config[at + PCIS_CAP_ID] != PCIS_CAP_ID_MSIX)
		at = config[at + PCIS_CAP_NEXT];
	CHECK(at != 0);
	config[at + PCIS_MSIX_TABLE] = 0;	/* BAR 0 */
	config[at + PCIS_MSIX_TABLE + 1] = 0x18;
	config[at + PCIS_MSIX_TABLE + 2] = 0;
	refused_unsupported(w);
}

static void test_start__msix_table_in_the_doorbells_page__refused(void **state)
{
	world_run_without_boot(*state, table_among_doorbells);
}

/* --- VMs --- */

/* An SSD that says that blocks are zero, and keeps what is there. */
static void keep_data(void *opaque, const struct trace_event *ev)
{
	struct world *w = opaque;
	u64 data = 0xDA7A;

	if ((u32)(ev->b >> 16) == w->be->hostq->qid)
		store_write(w->m->media, 0x100000ull * 512, &data, sizeof(data));
}

static void not_wiped(struct world *w)
{
	u64 mask[2] = { 0 };
	struct port_vm *vm;

	trace_mask_add(mask, TRACE_CQE);
	machine_listen(w->m, mask, keep_data, w);
	CHECK_INT(world_vm(w, 1, 1, &vm), -EIO);
}

static void test_vm_create__an_ssd_that_does_not_wipe__refused(void **state)
{
	world_run(*state, not_wiped);
}

static void more_than_capacity(struct world *w)
{
	struct port_vm *vm;

	CHECK_INT(world_vm(w, 1, 1, &vm), -EINVAL);
}

/* LBA-12: blocks have numbers up to NSZE, and are there up to NCAP only. */
static void test_vm_create__past_ncap__refused_before_it_is_wiped(void **state)
{
	struct world *w = *state;

	w->cfg.ssd.ns[0] = (struct nvme_ns_config){ .nsze = 0x800000, .ncap = 0x180000 };
	world_run(w, more_than_capacity);
}

/* --- pages: which check keeps a page from a VM whose queue is there --- */

static struct liov_page sq_page(struct port_vm *vm)
{
	return liov_backend_page(&vm->liov, LIOV_CMB_SLOTS + LIOV_SLOT_SQ, true);
}

static struct liov_page sq_doorbell(struct port_vm *vm)
{
	return liov_backend_page(&vm->liov, LIOV_CMB_SLOTS + LIOV_SLOT_SQ_DOORBELL, true);
}

static struct port_vm *vm_with_queue(struct world *w, u32 id)
{
	struct port_vm *vm;

	CHECK_INT(world_vm(w, id, 1, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	CHECK_INT(liov_vm_queue_create_sq(&vm->liov, 0, 64, 0), 0);
	port_mutex_unlock(&vm->liov.lock);
	CHECK_INT(sq_page(vm).kind, LIOV_PAGE_MEMORY);
	return vm;
}

static void pages(struct world *w)
{
	struct port_vm *a = vm_with_queue(w, 1), *b = vm_with_queue(w, 2);
	struct liov_hwq *own = a->liov.queue[0];
	u64 bar0 = w->be->bar0_size;

	CHECK_INT(sq_doorbell(a).kind, LIOV_PAGE_BAR0);
	a->liov.queue[0] = b->liov.queue[0];
	CHECK_INT(sq_page(a).kind, LIOV_PAGE_NONE);
	a->liov.queue[0] = own;

	own->state = LIOV_HWQ_QUARANTINED;
	CHECK_INT(sq_page(a).kind, LIOV_PAGE_NONE);
	own->state = LIOV_HWQ_LIVE;

	a->liov.dying = true;
	CHECK_INT(sq_page(a).kind, LIOV_PAGE_NONE);
	a->liov.dying = false;

	w->be->resetting = true;
	CHECK_INT(sq_page(a).kind, LIOV_PAGE_NONE);
	w->be->resetting = false;

	w->be->bar0_size = NVME_REG_DBS;
	CHECK_INT(sq_doorbell(a).kind, LIOV_PAGE_NONE);
	w->be->bar0_size = bar0;

	/* A function that does not decode answers all reads with ones. */
	port_cfg_wr32(w->m->host, PCIS_COMMAND, 0);
	CHECK_INT(sq_doorbell(a).kind, LIOV_PAGE_NONE);
	port_cfg_wr32(w->m->host, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER);
	CHECK_INT(sq_doorbell(a).kind, LIOV_PAGE_BAR0);
	vm_destroy(a);
	vm_destroy(b);
}

static void test_pages__one_thing_wrong__none(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_NRD;
	w->cfg.ssd.resource_domains = true;
	w->cfg.ssd.dstrd = 10;
	world_run(w, pages);
}

/* --- what queues leave, and what completions say --- */

static void nobody_waits(void *arg, const struct nvme_cqe *cqe)
{
	(void)arg, (void)cqe;
}

static void leftovers(struct world *w)
{
	struct port_vm *vm = vm_with_queue(w, 1);
	struct liov_hwq *q = vm->liov.queue[0];
	u64 mine = 0x0123456789ABCDEFull;
	u64 sq, cq;

	/* An SQ head that is no index of the queue. */
	port_shm_copy_out(&q->cq, 0, &(struct nvme_cqe){ .sqhd = 0xFFFF, .status = NVME_CQE_PHASE }, sizeof(struct nvme_cqe));
	q->complete = nobody_waits;
	q->cq_phase = true;
	CHECK_INT(liov_hwq_poll(q), 1);
	CHECK(q->sq_head < q->sq_entries);

	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_queue_delete_sq(&vm->liov, 0), 0);
	CHECK_INT(liov_vm_queue_delete_cq(&vm->liov, 0), 0);
	port_shm_copy_out(&q->cq, 32 * sizeof(struct nvme_cqe), &mine, sizeof(mine));
	CHECK_INT(liov_vm_queue_create_cq(&vm->liov, 0, 64, true, 1), 0);
	CHECK(port_shm_rd64(&q->cq, 32 * sizeof(struct nvme_cqe)) == 0);
	CHECK_INT(liov_vm_queue_delete_cq(&vm->liov, 0), 0);
	port_mutex_unlock(&vm->liov.lock);

	port_shm_copy_out(&q->sq, 0, &mine, sizeof(mine));
	port_shm_copy_out(&q->cq, 0, &mine, sizeof(mine));
	sq = q->sq_pages.hpa;
	cq = q->cq_pages.hpa;
	vm_destroy(vm);
	store_read(w->m->memory, sq, &mine, sizeof(mine));
	CHECK_INT(mine, 0);
	store_read(w->m->memory, cq, &mine, sizeof(mine));
	CHECK_INT(mine, 0);
}

static void test_queue__its_memory__zero_before_and_after(void **state)
{
	world_run(*state, leftovers);
}

/* An AER completes that was never sent: 0x100 + 7. It stands behind the answer to a command. */
static void forged_event(struct world *w)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_GET_FEATURES, .cdw10 = NVME_FEAT_NUM_QUEUES };
	struct nvme_cqe cqe = { .dw0 = 0x00010000, .cid = 0x107, .status = w->be->admin.cq_phase ? NVME_CQE_PHASE : 0 };

	port_shm_copy_out(&w->be->admin.shm, (u32)(SPEC_PAGE_SIZE + (w->be->admin.cq_head + 1) * sizeof(cqe)), &cqe, sizeof(cqe));
	CHECK_INT(liov_admin_cmd(w->be, &sqe, NULL), 0);
	port_sleep_ns(w->be->home, 1000000);
	CHECK_INT(w->be->admin.aers, 0xF);
	CHECK_INT(w->be->admin.nr_aer, 0);
	CHECK_INT(w->traced[LIOV_TRACE_EVENT], 0);
}

static void test_aer__completes_without_having_been_sent__ignored(void **state)
{
	world_run(*state, forged_event);
}

/* --- the end of a VM: nothing is given back of which the IOMMU may still know --- */

static struct {
	struct liov_range iova;		/* what is looked at */
	u64 frame;
	u32 unsynced, too_early, given;
} order;

static void watch(void *opaque, const struct trace_event *ev)
{
	(void)opaque;
	if (ev->kind == SIM_TRACE_IOVA) {
		order.unsynced = ev->d == 2 ? 0 : order.unsynced + (ev->d == 0 && liov_range_overlaps(order.iova.start, order.iova.count, ev->a, ev->b));
	} else if (ev->kind == SIM_TRACE_FRAMES ? !ev->d && ev->a == order.frame : (u32)ev->b == LIOV_GUARD_IOVA_REVOKED) {
		order.given++;
		order.too_early += order.unsynced != 0;
	}
}

static void ends(struct world *w)
{
	u64 mask[2] = { 0 };
	struct port_vm *vm;

	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	CHECK_INT(liov_vm_mem_register(&vm->liov, (gpa_t){ 1ull << 32 }, 4 << 20), 0);
	port_mutex_unlock(&vm->liov.lock);
	order.unsynced = order.too_early = order.given = 0;
	order.iova = (struct liov_range){ 1ull << 32, 4 << 20 };
	order.frame = ~0ull;
	if (vm->liov.med) {
		order.iova = (struct liov_range){ vm->liov.med->list_iova.v, SPEC_PAGE_SIZE };
		order.frame = vm->liov.med->list_pages[0].hpa;
	}
	trace_mask_add(mask, SIM_TRACE_IOVA);
	trace_mask_add(mask, SIM_TRACE_FRAMES);
	trace_mask_add(mask, SIM_TRACE_LIOV + LIOV_TRACE_GUARD);
	machine_listen(w->m, mask, watch, NULL);
	vm_destroy(vm);
	CHECK(order.given != 0);
	CHECK_INT(order.too_early, 0);
}

static void test_vm_destroy__what_is_given_back__was_invalidated(void **state)
{
	world_run(*state, ends);
}

static void test_vm_destroy__mediated__what_is_given_back__was_invalidated(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, ends);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_config__host_window_wraps__refused),
		T(test_config__host_window_not_of_pages__refused),
		T(test_config__vm_window_no_power_of_two__refused),
		T(test_config__vm_windows_over_interrupts__refused),
		T(test_config__host_window_over_interrupts__refused),
		T(test_config__host_has_more_blocks_than_there_are__refused),
		T(test_config__siov_on_an_ssd_without__refused),
		T(test_start__msix_table_in_the_doorbells_page__refused),
		T(test_vm_create__an_ssd_that_does_not_wipe__refused),
		T(test_vm_create__past_ncap__refused_before_it_is_wiped),
		T(test_pages__one_thing_wrong__none),
		T(test_queue__its_memory__zero_before_and_after),
		T(test_aer__completes_without_having_been_sent__ignored),
		T(test_vm_destroy__what_is_given_back__was_invalidated),
		T(test_vm_destroy__mediated__what_is_given_back__was_invalidated),
	};

	return cmocka_run_group_tests_name("core alone", tests, NULL, NULL);
}
