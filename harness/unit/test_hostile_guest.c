// SPDX-License-Identifier: GPL-2.0
/*
 * A victim that does its work, an attacker whose kernel does anything at all, and a host that
 * kills, resets and reclaims in between. Whatever the seed: the simulator ends in bounded
 * time, and where a policy promises isolation the victim notices nothing, the oracle sees
 * nothing, and all that was the attacker's can be given away again.
 *
 * LIOV_HOSTILE_SEED, LIOV_HOSTILE_SEEDS (how many from there) and LIOV_HOSTILE_STEPS ask for more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

#include "event.h"
#include "hostile_actions.h"
#include "last_words.h"
#include "watch.h"
#include "workload/workload.h"

#define SEED		1
#define SEEDS		40
#define STEPS		10000
#define LIVES_MAX	12
#define RESETS_MAX	2
#define RAM_BYTES	(64ull << 20)
#define VM_LBAS		0x4000
#define LIMIT_PS	(120ull * 1000 * PS_PER_MS)
#define LIMIT_EVENTS	100000000ull
#define WAIT_PS		(8ull * 1000 * PS_PER_MS)	/* longer than the core's longest wait for a queue */

struct world {
	enum liov_policy policy;
	u64 seed, steps;
	struct rng rng;
	struct machine_config cfg;
	struct machine *m;
	struct oracle *o;
	u64 violations;			/* that it saw */
	struct vm_config vm_cfg;	/* of the attacker, and of who comes after it */
	struct port_vm *victim, *heir;
	struct stock_driver *stock;	/* the victim's, or NULL */
	struct workload *work, *heir_work;
	struct hostile *lives, *now;
	u32 nr_lives, resets;
	u64 denied[LIOV_COMPONENTS];	/* refusals of what the attacker asked for, by component */
	u64 mediated;			/* commands of the attacker that the mediator sent */
	u64 free_bytes;			/* of all VMs' memory, before there were any */
	const char *where;		/* what the host is at */
	bool done;
	u32 failed;
};

static u64 number(const char *name, u64 otherwise)
{
	const char *s = getenv(name);

	return s && *s ? strtoull(s, NULL, 0) : otherwise;
}

static bool isolates(const struct world *w)
{
	return w->policy != LIOV_POLICY_PAPER;
}

static void expect(struct world *w, bool ok, const char *what)
{
	if (ok)
		return;
	w->failed++;
	print_message("policy %u seed %llu, %llu steps left, at \"%s\", %llu ns: %s\n", w->policy, (unsigned long long)w->seed,
		      (unsigned long long)w->steps, w->where, (unsigned long long)(sched_now(w->m->sched) / PS_PER_NS), what);
}

static u64 free_bytes(const struct host_frames *f)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < f->nr; i++)
		sum += f->free[i].len;
	return sum;
}

/* --- the world, which differs from seed to seed --- */

static void configure(struct world *w)
{
	struct machine_config *cfg = &w->cfg;
	struct rng *r = &w->rng;

	rng_split(r, w->seed, "world");
	machine_config_defaults(cfg);
	cfg->seed = w->seed;
	machine_config_policy(cfg, w->policy);
	cfg->backend.host_lbas = 0x1000;
	cfg->backend.timeout_ns = 50000000;
	cfg->backend.dma_offset = rng_chance(r, 1, 2);
	cfg->posted_interrupts = rng_chance(r, 3, 4);
	cfg->ssd.nsze = cfg->ssd.ncap = 0x1000 + 2 * VM_LBAS;	/* just enough: what one had is what the next gets */
	cfg->ssd.sgls = rng_chance(r, 1, 2);
	cfg->ssd.cqr = rng_chance(r, 1, 2);
	cfg->ssd.cmb_size_bytes = rng_chance(r, 1, 2) ? 1u << 20 : 0;
	cfg->ssd.cmb_lists = cfg->ssd.cmb_cqs = rng_chance(r, 1, 2);
	if (rng_chance(r, 1, 2))
		cfg->ssd.oncs |= (u16)NVME_ONCS_COPY;
	cfg->ssd.timing.reset_ps = 100 * PS_PER_US;
	if (w->policy == LIOV_POLICY_MEDIATED) {
		cfg->backend.watch_doorbells = rng_chance(r, 1, 2);
		cfg->ssd.fragile_doorbells = rng_chance(r, 1, 2);
	}
	w->vm_cfg = (struct vm_config){
		.name = "A", .vcpus = (u32)rng_range(r, 1, 3), .halt_when_idle = rng_chance(r, 1, 2),
		.nr_ram = 1, .ram = { { 2ull << 32, RAM_BYTES } },
		.liov = { .nr_queues = (u32)rng_range(r, 1, 4), .lbas = VM_LBAS,
			  .register_all = w->policy == LIOV_POLICY_MEDIATED && rng_chance(r, 1, 2) },
	};
	cfg->ssd.io_queues = (u16)(2 + w->vm_cfg.liov.nr_queues);
	cfg->ssd.msix_vectors = (u16)(cfg->ssd.io_queues + 1);
}

static struct workload *work_start(struct port_vm *vm, struct stock_driver *stock, u64 requests, u64 seed)
{
	struct workload_config cfg = {
		.depth = 4, .blocks = 16, .read_percent = 50, .random = true, .span_blocks = 0x400, .requests = requests,
		.cpu_ps = 100 * PS_PER_US, .verify = true, .seed = seed, .stock = stock,
	};

	return workload_start(vm, &cfg);
}

static int driver_start(struct port_vm *vm, struct stock_driver **stock)
{
	struct task *t = task_current();
	int ret;

	t->gvcpu = &vm->gv[0];
	ret = stock ? stock_start(vm, 1, 64, stock) : vm_frontend_start(vm, 1, 64);
	vm_pass(t->gvcpu, 0);
	t->gvcpu = NULL;
	return ret;
}

static bool start_victim(struct world *w)
{
	struct vm_config cfg = {
		.name = "B", .id = 0, .vcpus = 1, .nr_ram = 1, .ram = { { 1ull << 32, RAM_BYTES } },
		.liov = { .nr_queues = 1, .lbas = VM_LBAS },
	};
	bool stock = w->policy == LIOV_POLICY_MEDIATED && rng_chance(&w->rng, 1, 2);

	cfg.halt_when_idle = rng_chance(&w->rng, 1, 2);
	cfg.liov.register_all = stock;
	expect(w, vm_create(w->m, &cfg, &w->victim) == 0, "the victim is not created");
	if (!w->victim || driver_start(w->victim, stock ? &w->stock : NULL)) {
		expect(w, false, "the victim's driver does not start");
		return false;
	}
	w->work = work_start(w->victim, w->stock, 0, w->seed);
	return w->work != NULL;
}

/* --- what the host does meanwhile --- */

static bool attacker_start(struct world *w)
{
	struct hostile *h = calloc(1, sizeof(*h));
	struct vm_config cfg = w->vm_cfg;
	int ret;

	if (!h)
		return false;
	h->next = w->lives;
	w->lives = h;
	h->victim = w->victim;
	h->steps = &w->steps;
	cfg.id = ++w->nr_lives;
	w->where = "creation of the attacker";
	ret = vm_create(w->m, &cfg, &h->vm);
	expect(w, ret == 0 || !isolates(w), "the attacker's resources are not given again");
	w->now = ret ? NULL : h;
	if (w->now)
		hostile_start(h, w->seed * 1000 + w->nr_lives);
	return true;
}

static void host_kills(struct world *w)
{
	if (w->nr_lives == LIVES_MAX)
		return;
	w->where = "end of the attacker";
	if (w->now)
		vm_destroy(w->now->vm);
	attacker_start(w);
}

static void host_resets(struct world *w)
{
	int ret;

	if (w->resets == RESETS_MAX)
		return;
	w->where = "reset of the controller";
	w->resets++;
	ret = liov_backend_reset(&w->m->backend);
	expect(w, ret == 0 || !isolates(w), "the controller is not reset");
}

static void host_releases(struct world *w)
{
	w->where = "release of a queue";
	if (w->now)
		vm_queue_release(w->now->vm, (u32)rng_below(&w->rng, w->vm_cfg.liov.nr_queues + 1));
}

/* Without asking the guest, which may have registered it, and may be using it. */
static void host_balloons(struct world *w)
{
	u64 len = rng_range(&w->rng, 1, 64) * SPEC_PAGE_SIZE;
	gpa_t at = { w->vm_cfg.ram[0].gpa + RAM_BYTES - SPEC_PAGE_SIZE * rng_range(&w->rng, 64, 400) };

	w->where = "balloon";
	if (!w->now || vm_balloon_out(w->now->vm, at, len))
		return;
	task_sleep(rng_below(&w->rng, 200) * PS_PER_US);
	(void)vm_plug(w->now->vm, at, len);
}

static void host_schedules(struct world *w)
{
	struct gvcpu *gv;

	w->where = "scheduling";
	if (!w->now)
		return;
	gv = &w->now->vm->gv[rng_below(&w->rng, w->now->vm->nr_gv)];
	if (gv->vcpu.state == VCPU_RUNNING && gv->vcpu.outside == 0)
		host_vcpu_preempt(gv);
	task_sleep(rng_below(&w->rng, 100) * PS_PER_US);
	if (gv->vcpu.state == VCPU_PREEMPTED)
		host_vcpu_run(gv);
	task_wake_all(&gv->idle_wait);
	task_wake_one(&gv->irq_wait);
}

static void attack(struct world *w, bool resets)
{
	u64 end = sched_now(w->m->sched) + LIMIT_PS / 2;

	if (!attacker_start(w))
		return;
	while (w->now && !hostile_ended(w->now) && sched_now(w->m->sched) < end) {
		u64 what = rng_below(&w->rng, 100);

		task_sleep(rng_below(&w->rng, 400) * PS_PER_US);
		if (what < 1)
			host_kills(w);
		else if (what < 2 && resets)
			host_resets(w);
		else if (what < 4)
			host_releases(w);
		else if (what < 8)
			host_balloons(w);
		else
			host_schedules(w);
		w->where = "attack";
	}
	expect(w, w->steps == 0 || !isolates(w), "the attacker did not get to its end");
}

/* --- what must be so afterwards --- */

static u32 controller_status(const struct world *w)
{
	return (u32)bus_cpu_read(&w->m->bus, (hpa_t){ pci_bar_base(nvme_function(w->m->nvme), 0) + NVME_REG_CSTS }, 4);
}

static void check_work(struct world *w, struct workload *work, bool errors_allowed, const char *whose)
{
	struct workload_result r = workload_result(work);

	if (r.outstanding || r.twice || r.wrong || (r.errors && !errors_allowed) || r.completed == 0)
		print_message("%s: %llu submitted, %llu completed, %llu errors, %llu wrong, %llu twice, %llu lost\n", whose,
			      (unsigned long long)r.submitted, (unsigned long long)r.completed, (unsigned long long)r.errors,
			      (unsigned long long)r.wrong, (unsigned long long)r.twice, (unsigned long long)r.outstanding);
	expect(w, r.outstanding == 0 && r.twice == 0, "requests are lost, or completed twice");
	expect(w, r.wrong == 0, "data is wrong");
	expect(w, r.errors == 0 || errors_allowed, "requests fail");
	expect(w, r.completed > 0, "nothing was done");
}

/* Whoever is given what the attacker had finds it empty, and working. */
static void heir(struct world *w)
{
	struct vm_config cfg = w->vm_cfg;

	cfg.id = w->nr_lives + 1;
	cfg.name = "C";
	cfg.liov.register_all = false;
	w->where = "creation of the heir";
	expect(w, vm_create(w->m, &cfg, &w->heir) == 0, "the heir is not created");
	if (!w->heir)
		return;
	w->where = "work of the heir";
	expect(w, driver_start(w->heir, NULL) == 0, "the heir's driver does not start");
	w->heir_work = work_start(w->heir, NULL, 200, w->seed + 1);
	if (!w->heir_work) {
		expect(w, false, "the heir has no load");
		return;
	}
	expect(w, workload_join(w->heir_work, WAIT_PS), "the heir does not finish");
	check_work(w, w->heir_work, false, "heir");
}

static void teardown(struct world *w)
{
	int ret;

	w->where = "teardown";
	if (w->heir)
		vm_destroy(w->heir);
	vm_destroy(w->victim);
	w->where = "stop of the backend";
	ret = liov_backend_stop(&w->m->backend);
	expect(w, ret == 0, "the backend does not stop");
	expect(w, !w->m->host->home.chunks, "the core keeps memory");
	expect(w, free_bytes(&w->m->host->high) == w->free_bytes, "memory of VMs is not free again");
	w->done = true;
	sched_stop(w->m->sched);
}

static void scenario(void *arg)
{
	struct world *w = arg;
	bool resets = rng_chance(&w->rng, 1, 2);

	w->where = "boot";
	w->free_bytes = free_bytes(&w->m->host->high);
	expect(w, host_boot_liov(w->m) == 0, "LightIOV does not start");
	if (w->failed || !start_victim(w))
		return;
	task_sleep(PS_PER_MS);
	attack(w, resets);
	w->where = "end of the attacker";
	if (w->now)
		vm_destroy(w->now->vm);
	if (isolates(w)) {
		/* A blocked fetch of an SQE would be fatal for all (EXH-02): no guest can bring it about. */
		expect(w, !(controller_status(w) & NVME_CSTS_CFS), "the controller is fatal");
		expect(w, w->m->backend.nr_quarantined == 0, "a queue is in quarantine");
		heir(w);
	}
	w->where = "end of the victim's work";
	expect(w, workload_stop(w->work, WAIT_PS) || !isolates(w), "the victim's work does not end");
	if (isolates(w))
		check_work(w, w->work, w->resets && w->policy != LIOV_POLICY_MEDIATED, "victim");
	teardown(w);
}

static void world_free(struct world *w)
{
	machine_free(w->m);
	oracle_free(w->o);
	workload_free(w->work);
	workload_free(w->heir_work);
	while (w->lives) {
		struct hostile *h = w->lives;

		w->lives = h->next;
		free(h);
	}
}

static bool pages_have(const struct port_pages *p, u32 nr, u64 hpa)
{
	return hpa >= p->hpa && hpa - p->hpa < nr * SPEC_PAGE_SIZE;
}

/* Under siov a VM's queues lie in its own address space: it may name them, as it may store to them. */
static void violated(void *opaque, const struct oracle_violation *v)
{
	struct world *w = opaque;
	const char *at = strstr(v->what, " memory 0x");
	u64 hpa = at ? strtoull(at + 8, NULL, 16) : 0;
	u32 i;

	for (i = 1; w->policy == LIOV_POLICY_SIOV && hpa && i <= w->m->backend.info.io_queues; i++) {
		const struct liov_hwq *q = &w->m->backend.hwq[i];

		if (q->owner == v->by && ((q->has_sq_pages && pages_have(&q->sq_pages, 16, hpa)) ||
					  (q->has_cq_pages && pages_have(&q->cq_pages, 4, hpa))))
			return;
	}
	w->violations++;
}

static void show_violations(const struct world *w)
{
	u32 i;

	for (i = 0; w->violations && i < oracle_count(w->o) && i < 4; i++) {
		const struct oracle_violation *v = oracle_violation(w->o, i);

		print_message("violation at %llu ns: %s: %s\n", (unsigned long long)(v->time_ps / PS_PER_NS), oracle_claim_name(v->claim), v->what);
	}
}

static void count(void *opaque, const struct trace_event *ev)
{
	struct world *w = opaque;

	if (ev->a == 0 || ev->b >> 32 >= LIOV_COMPONENTS)
		return;
	if (ev->kind == SIM_TRACE_LIOV + LIOV_TRACE_DENY)
		w->denied[ev->b >> 32]++;
	else
		w->mediated++;
}

/* Over all seeds: an attack that nobody had to stop would prove nothing. */
struct totals {
	u64 sent_by_mediator, denied_by_mediator, denied_by_device, refused_by_controller, violations;
};

static void add_totals(const struct world *w, struct totals *t)
{
	t->sent_by_mediator += w->mediated;
	t->denied_by_mediator += w->denied[LIOV_MEDIATOR];
	t->denied_by_device += w->denied[LIOV_DEVICE];
	t->refused_by_controller += nvme_counters(w->m->nvme)->refused;
	t->violations += w->violations;
}

static void show_world(const struct world *w)
{
	print_message("policy %u seed %llu: %u lives, %u resets, %llu us, %llu events; %llu commands, %llu violations\n", w->policy,
		      (unsigned long long)w->seed, w->nr_lives, w->resets, (unsigned long long)(sched_now(w->m->sched) / PS_PER_US),
		      (unsigned long long)sched_events_run(w->m->sched), (unsigned long long)nvme_counters(w->m->nvme)->sqes_fetched,
		      (unsigned long long)oracle_count(w->o));
}

static u32 run_seed(enum liov_policy policy, u64 seed, struct totals *t)
{
	struct world w = { .policy = policy, .seed = seed, .steps = number("LIOV_HOSTILE_STEPS", STEPS) };
	u64 mask[2] = { 0 };
	enum sched_stop why;

	last_words_are("policy %u, LIOV_HOSTILE_SEED=%llu LIOV_HOSTILE_STEPS=%llu\n", policy, (unsigned long long)seed,
		       (unsigned long long)w.steps);
	configure(&w);
	w.m = machine_new(&w.cfg);
	assert_non_null(w.m);
	w.o = oracle_new(w.m, violated, &w);
	trace_mask_add(mask, SIM_TRACE_LIOV + LIOV_TRACE_DENY);
	trace_mask_add(mask, SIM_TRACE_LIOV + LIOV_TRACE_SUBMIT);
	machine_listen(w.m, mask, count, &w);
	machine_task(w.m, "scenario", scenario, &w);
	sched_limit_events(w.m->sched, LIMIT_EVENTS);
	why = sched_run_until(w.m->sched, LIMIT_PS);
	expect(&w, why != SCHED_EXHAUSTED, "events without end");
	expect(&w, w.done, "the run does not end");
	expect(&w, !w.m->failed, "the machine's own failure");
	if (isolates(&w)) {
		expect(&w, w.violations == 0, "the oracle saw isolation broken");
		show_violations(&w);
	}
	if (getenv("LIOV_HOSTILE_SEEDS"))
		show_world(&w);
	add_totals(&w, t);
	world_free(&w);
	return w.failed;
}

static void run(enum liov_policy policy, struct totals *t)
{
	u64 seed = number("LIOV_HOSTILE_SEED", SEED), n = number("LIOV_HOSTILE_SEEDS", SEEDS);
	u32 failed = 0;

	for (; n; n--, seed++)
		failed += run_seed(policy, seed, t);
	assert_int_equal(failed, 0);
}

static void test_hostile_guest__paper__simulator_goes_on(void **state)
{
	struct totals t = { 0 };

	(void)state;
	run(LIOV_POLICY_PAPER, &t);
	assert_true(t.violations > 0);
}

static void test_hostile_guest__mediated__is_contained(void **state)
{
	struct totals t = { 0 };

	(void)state;
	run(LIOV_POLICY_MEDIATED, &t);
	assert_true(t.sent_by_mediator > 0 && t.denied_by_mediator > 0 && t.denied_by_device > 0);
	assert_int_equal(t.refused_by_controller, 0);
}

static void test_hostile_guest__nrd__is_contained(void **state)
{
	struct totals t = { 0 };

	(void)state;
	run(LIOV_POLICY_NRD, &t);
	assert_true(t.refused_by_controller > 0 && t.denied_by_device > 0);
}

static void test_hostile_guest__siov__is_contained(void **state)
{
	struct totals t = { 0 };

	(void)state;
	run(LIOV_POLICY_SIOV, &t);
	assert_true(t.refused_by_controller > 0 && t.denied_by_device > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_guest__mediated__is_contained),
		cmocka_unit_test(test_hostile_guest__nrd__is_contained),
		cmocka_unit_test(test_hostile_guest__siov__is_contained),
		cmocka_unit_test(test_hostile_guest__paper__simulator_goes_on),
	};

	return cmocka_run_group_tests_name("hostile_guest", tests, NULL, NULL);
}
