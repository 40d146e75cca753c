// SPDX-License-Identifier: GPL-2.0
/* A mediated VM on a whole simulated machine: its hardware queue, and what a guest sees of a reset. */

#include "core_world.h"
#include "vm/io.h"

static struct port_vm *new_vm(struct world *w, u32 id, u32 queues)
{
	struct port_vm *vm;
	int err = world_vm(w, id, queues, &vm);

	CHECK_INT(err, 0);
	if (err)
		abort();
	return vm;
}

static u32 page_kind(struct port_vm *vm, u64 off)
{
	return liov_backend_page(&vm->liov, off, true).kind;
}

static void run(struct world *w, void (*fn)(struct world *w))
{
	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, fn);
}

static void mediated(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 2);

	/* One pair for both virtual ones. */
	CHECK_INT(vm->liov.queue[0]->state, LIOV_HWQ_LIVE);
	CHECK(vm->liov.queue[0]->host_driven);
	CHECK(!vm->liov.queue[1]);
	CHECK_INT(w->be->hwq[3].state, LIOV_HWQ_FREE);
	CHECK_INT(page_kind(vm, LIOV_CMB_DOORBELLS), LIOV_PAGE_NONE);
	CHECK_INT(page_kind(vm, LIOV_CMB_SLOTS), LIOV_PAGE_NONE);
	CHECK_INT(liov_backend_reset(w->be), 0);
	CHECK_INT(vm->liov.queue[0]->state, LIOV_HWQ_LIVE);
	vm_destroy(vm);
	CHECK_INT(w->be->nr_quarantined, 0);
	for (u32 q = 2; q < 5; q++)
		CHECK_INT(w->be->hwq[q].state, LIOV_HWQ_FREE);
}

static void test_mediated__reset__hardware_queue_back(void **state)
{
	run(*state, mediated);
}

/* A guest that goes on submitting while the shared controller is reset. */
#define LATE_IOS 8u

struct late_guest {
	struct world *w;
	struct port_vm *vm;
	struct vm_io io[LATE_IOS];
	bool done;
};

static void late_guest(void *arg)
{
	struct late_guest *g = arg;
	struct world *w = g->w;
	gpa_t buf = vm_alloc_pages(g->vm, 1);
	struct liov_segment seg = { buf, 4096 };
	struct liov_request rq = { .op = LIOV_OP_WRITE, .blocks = 8, .nr_segments = 1, .segments = &seg };

	CHECK_INT(vm_frontend_start(g->vm, 1, 64), 0);
	CHECK_INT(vm_submit(g->vm, 0, &rq, &g->io[0]), 0);
	CHECK(vm_io_wait(&g->io[0], 100 * PS_PER_MS));
	while (!w->be->resetting)
		task_sleep(10 * PS_PER_US);
	for (u32 i = 1; i < LATE_IOS; i++) {
		CHECK_INT(vm_submit(g->vm, 0, &rq, &g->io[i]), 0);
		CHECK(w->be->resetting);
	}
	for (u32 i = 1; i < LATE_IOS; i++)
		CHECK(vm_io_wait(&g->io[i], 1000 * PS_PER_MS));
	g->done = true;
}

static void mediated_stores(struct world *w)
{
	struct late_guest g = { .w = w, .vm = new_vm(w, 1, 1) };
	struct task *t = vm_task(&g.vm->gv[0], "late guest", late_guest, &g);

	task_sleep(500 * PS_PER_MS);
	CHECK(g.io[0].completed);
	CHECK_INT(liov_backend_reset(w->be), 0);
	task_join(t);
	CHECK(g.done);
	for (u32 i = 0; i < LATE_IOS; i++) {
		CHECK(g.io[i].completed);
		CHECK_INT(g.io[i].status, 0);
	}
	CHECK_INT(g.vm->fe->resets_seen, 0);
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 0);
}

/* What the guest stores into its virtual SQ while the hardware is reset is there, and served, when that is over. */
static void test_mediated__reset__guest_stores_are_not_lost(void **state)
{
	run(*state, mediated_stores);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_mediated__reset__hardware_queue_back),
		T(test_mediated__reset__guest_stores_are_not_lost),
	};

	return cmocka_run_group_tests_name("core_mediated", tests, NULL, NULL);
}
