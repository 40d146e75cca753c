// SPDX-License-Identifier: GPL-2.0
/* A mediated VM on a whole simulated machine: its hardware queue, what a guest sees of a reset, watched doorbells. */

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

static void test_mediated__reset__guest_stores_are_not_lost_watched(void **state)
{
	struct world *w = *state;

	w->cfg.backend.watch_doorbells = true;
	run(w, mediated_stores);
}

/* --- watched doorbells --- */

#define SQ_DOORBELL(qid) (LIOV_BAR0_DOORBELLS + 8 * (qid))
#define CQ_DOORBELL(qid) (SQ_DOORBELL(qid) + 4)

static void run_watched(struct world *w, void (*fn)(struct world *w))
{
	w->cfg.backend.watch_doorbells = true;
	run(w, fn);
}

/* The test's task goes on as the guest's. */
static struct port_vm *guest(struct world *w, u32 queues)
{
	struct port_vm *vm = new_vm(w, 1, queues);

	task_current()->gvcpu = &vm->gv[0];
	return vm;
}

static void store_doorbell(struct port_vm *vm, u32 off, u32 val)
{
	vm_store(&vm->gv[0], (gpa_t){ VM_CMB_GPA + LIOV_CMB_DOORBELLS - LIOV_BAR0_DOORBELLS + off }, &val, 4);
}

/* As above, and the host has looked. Returns how often the mediator refused something. */
static u32 denied(struct world *w, struct port_vm *vm, u32 off, u32 val)
{
	u32 n = 0;

	w->nr_log = 0;
	store_doorbell(vm, off, val);
	task_sleep(100 * PS_PER_US);
	for (u32 i = 0; i < w->nr_log; i++)
		if (w->log[i].kind == LIOV_TRACE_DENY && w->log[i].component == LIOV_MEDIATOR && w->log[i].a == off)
			n++;
	return n;
}

static void flush(struct world *w, struct port_vm *vm)
{
	struct liov_request rq = { .op = LIOV_OP_FLUSH };
	struct vm_io io = { 0 };

	CHECK_INT(vm_submit(vm, 0, &rq, &io), 0);
	CHECK(vm_io_wait(&io, 100 * PS_PER_MS));
	CHECK_INT(io.status, 0);
}

static void config(struct world *w)
{
	for (u32 p = 0; p < LIOV_POLICIES; p++) {
		w->m->cfg.backend.policy = p;
		CHECK_INT(host_boot_liov(w->m), p == LIOV_POLICY_MEDIATED ? 0 : -EINVAL);
		if (p == LIOV_POLICY_MEDIATED)
			CHECK_INT(liov_backend_stop(w->be), 0);
	}
}

static void test_watch__other_policies__refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.watch_doorbells = true;
	world_run_without_boot(w, config);
}

static void watch_page(struct world *w)
{
	struct port_vm *vm = new_vm(w, 1, 2), *other = new_vm(w, 2, 1);
	struct liov_page p = liov_backend_page(&vm->liov, LIOV_CMB_DOORBELLS + 8, true);
	struct port_shm s = port_pages_shm(&vm->liov.info_page);
	struct liov_info in;

	CHECK_INT(p.kind, LIOV_PAGE_MEMORY);
	CHECK(p.writable && p.index == 0 && p.pages.nr == 1);
	CHECK(liov_backend_page(&other->liov, LIOV_CMB_DOORBELLS, true).pages.hpa != p.pages.hpa);
	port_shm_copy_in(&s, 0, &in, sizeof(in));
	CHECK_INT(in.flags, LIOV_INFO_DOORBELLS);
	CHECK_INT(in.lba_start, 0);
	CHECK_INT(in.queue[0].sq_doorbell, 0x1008);
	CHECK_INT(in.queue[0].cq_doorbell, 0x100C);
	CHECK_INT(in.queue[1].sq_doorbell, 0x1010);
	CHECK_INT(in.queue[1].cq_doorbell, 0x1014);
	vm_destroy(vm);
	CHECK_INT(page_kind(vm, LIOV_CMB_DOORBELLS), LIOV_PAGE_NONE);
	CHECK(w->m->host->watches && !w->m->host->watches->next);
	vm_destroy(other);
	CHECK(!w->m->host->watches);
}

static void test_watch__page__is_the_vms_own(void **state)
{
	run_watched(*state, watch_page);
}

/* QD-03 to QD-06: the checks of a trapped doorbell, once for each value that is new. */
static void bad_values(struct world *w)
{
	struct port_vm *vm = guest(w, 2);

	CHECK_INT(denied(w, vm, SQ_DOORBELL(1), 5), 0);	/* controller not enabled */
	CHECK_INT(vm_frontend_start(vm, 1, 64), 0);
	CHECK_INT(denied(w, vm, SQ_DOORBELL(1), 64), 1);
	CHECK_INT(denied(w, vm, SQ_DOORBELL(1), 64), 0);
	CHECK_INT(denied(w, vm, SQ_DOORBELL(1), 0xFFFF), 1);
	CHECK_INT(denied(w, vm, SQ_DOORBELL(1), 0), 1);	/* the tail as it is */
	CHECK_INT(denied(w, vm, SQ_DOORBELL(1), 0xABCD0000), 0);
	CHECK_INT(denied(w, vm, CQ_DOORBELL(1), 1), 1);	/* nothing was posted */
	CHECK_INT(denied(w, vm, SQ_DOORBELL(2), 1), 1);	/* not created */
	CHECK_INT(denied(w, vm, CQ_DOORBELL(2), 1), 1);
	CHECK_INT(denied(w, vm, SQ_DOORBELL(0), 1), 0);	/* nobody looks there */
	CHECK_INT(denied(w, vm, SQ_DOORBELL(3), 1), 0);
	CHECK_INT(w->traced[LIOV_TRACE_SUBMIT], 0);
	flush(w, vm);
	CHECK_INT(w->traced[LIOV_TRACE_SUBMIT], 1);
}

static void test_watch__bad_values__refused_once(void **state)
{
	run_watched(*state, bad_values);
}

/* Four commands before the host looks: one doorbell. */
static void folded(struct world *w)
{
	struct liov_request rq = { .op = LIOV_OP_FLUSH };
	struct port_vm *vm = guest(w, 1);
	struct vm_io io[4] = { 0 };
	u32 at;

	CHECK_INT(vm_frontend_start(vm, 1, 64), 0);
	flush(w, vm);
	task_sleep(PS_PER_MS);
	w->nr_log = 0;
	for (u32 i = 0; i < 4; i++)
		CHECK_INT(vm_submit(vm, 0, &rq, &io[i]), 0);
	task_sleep(w->cfg.watch_latency_ps - 1);
	CHECK_INT(w->nr_log, 0);
	for (u32 i = 0; i < 4; i++)
		CHECK(vm_io_wait(&io[i], 100 * PS_PER_MS) && io[i].status == 0);
	at = world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_OWN_QUEUE, SQ_DOORBELL(1));
	CHECK(at < w->nr_log && w->log[at].b == 5);
	CHECK_INT(world_find(w, at + 1, LIOV_TRACE_GUARD, LIOV_GUARD_OWN_QUEUE, SQ_DOORBELL(1)), w->nr_log);
}

static void test_watch__stores_before_the_look__are_one(void **state)
{
	run_watched(*state, folded);
}

/* Each life of a queue rings the same values; so did a store from before it was there. */
static void lives(struct world *w)
{
	struct port_vm *vm = guest(w, 1);

	for (u32 i = 0; i < 3; i++) {
		CHECK_INT(vm_frontend_start(vm, 1, 64), 0);
		flush(w, vm);
		vm_frontend_stop(vm);
		store_doorbell(vm, SQ_DOORBELL(1), 1);
		store_doorbell(vm, CQ_DOORBELL(1), 1);
		task_sleep(PS_PER_MS);
	}
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 0);
}

static void test_watch__queue_starts_anew__doorbells_are_0(void **state)
{
	run_watched(*state, lives);
}

struct ringer {
	struct port_vm *vm;
	u32 rung;
};

static void ringer(void *arg)
{
	struct ringer *r = arg;

	for (;; r->rung++) {
		store_doorbell(r->vm, SQ_DOORBELL(1), r->rung & 63);
		task_sleep(300 * PS_PER_NS);
	}
}

/* A guest that rings without end, at whatever is in its queue. */
static void destroyed(struct world *w)
{
	struct ringer r = { .vm = guest(w, 1) };
	u32 rung;

	CHECK_INT(vm_frontend_start(r.vm, 1, 64), 0);
	task_current()->gvcpu = NULL;
	(void)vm_task(&r.vm->gv[0], "ringer", ringer, &r);
	task_sleep(PS_PER_MS);
	rung = r.rung;
	CHECK(rung > 1000);
	vm_destroy(r.vm);
	CHECK(!w->m->host->watches);
	CHECK_INT(w->be->nr_quarantined, 0);
	rung = r.rung;
	task_sleep(PS_PER_MS);
	CHECK_INT(r.rung, rung);
}

static void test_watch__destroyed_while_ringing__ends(void **state)
{
	run_watched(*state, destroyed);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_mediated__reset__hardware_queue_back),
		T(test_mediated__reset__guest_stores_are_not_lost),
		T(test_mediated__reset__guest_stores_are_not_lost_watched),
		T(test_watch__other_policies__refused),
		T(test_watch__page__is_the_vms_own),
		T(test_watch__bad_values__refused_once),
		T(test_watch__stores_before_the_look__are_one),
		T(test_watch__queue_starts_anew__doorbells_are_0),
		T(test_watch__destroyed_while_ringing__ends),
	};

	return cmocka_run_group_tests_name("core_mediated", tests, NULL, NULL);
}
