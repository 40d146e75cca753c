// SPDX-License-Identifier: GPL-2.0
/*
 * What LightIOV is for, counted: once a VM's queue pages are mapped, 100,000 reads cause no
 * VM exit, and every mapped page cost exactly one EPT violation. Under mediated with watched
 * doorbells as well, but for the host's own interrupts, where they share the vCPU's core.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "event.h"
#include "host/host.h"
#include "watch.h"
#include "workload/workload.h"

#define READS 100000
#define WARM_UP 200
#define FOREVER (1ull << 62)

struct world {
	struct machine *m;
	struct port_vm *vm;
	struct workload *w;
	int error;
	u64 exits_before, exits_after;
};

/* Those that the guest caused. */
static u64 exits(const struct port_vm *vm)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < EXIT_REASON_COUNT; i++)
		sum += vm->gv[0].vcpu.exits[i];
	if (vm->m->cfg.backend.policy == LIOV_POLICY_MEDIATED)
		sum -= vm->gv[0].vcpu.exits[EXIT_EXTERNAL_INTERRUPT];
	return sum;
}

/* Warm up until every slot of the rings and every buffer was touched; then count exits over READS more. */
static int reads(struct world *w)
{
	struct workload_config cfg = {
		.depth = 32, .blocks = 8, .read_percent = 100, .random = true, .span_blocks = 0x10000,
		.requests = WARM_UP + READS, .cpu_ps = 1 * PS_PER_US, .verify = true, .seed = 1,
	};
	struct workload_result r;

	w->w = workload_start(w->vm, &cfg);
	if (!w->w)
		return -1;
	while (workload_result(w->w).completed < WARM_UP)
		task_sleep(10 * PS_PER_US);
	w->exits_before = exits(w->vm);
	if (!workload_join(w->w, FOREVER))
		return -2;
	w->exits_after = exits(w->vm);
	r = workload_result(w->w);
	workload_free(w->w);
	return r.completed == cfg.requests && r.errors == 0 && r.wrong == 0 && r.twice == 0 && r.outstanding == 0 ? 0 : -3;
}

static void scenario(void *arg)
{
	struct vm_config cfg = {
		.id = 0, .vcpus = 1, .nr_ram = 1, .ram = { { 1ull << 32, 1ull << 30 } },
		.liov = { .nr_queues = 1, .lbas = 0x100000 },
	};
	struct world *w = arg;

	w->error = host_boot_liov(w->m);
	if (!w->error)
		w->error = vm_create(w->m, &cfg, &w->vm);
	if (w->error)
		return;
	task_current()->gvcpu = &w->vm->gv[0];
	w->error = vm_frontend_start(w->vm, 1, 64);
	if (!w->error)
		w->error = reads(w);
	task_sleep(PS_PER_MS);	/* the last doorbell's exit ends */
	sched_stop(w->m->sched);
}

/* Exits during READS reads. */
static u64 run(enum liov_policy policy, bool watch_doorbells)
{
	struct machine_config cfg;
	struct world w = { 0 };
	struct oracle *o;

	machine_config_defaults(&cfg);
	machine_config_policy(&cfg, policy);
	cfg.backend.watch_doorbells = watch_doorbells;
	w.m = machine_new(&cfg);
	assert_non_null(w.m);
	o = oracle_new(w.m, NULL, NULL);
	w.error = -1000;
	machine_task(w.m, "scenario", scenario, &w);
	sched_run_until(w.m->sched, FOREVER);
	assert_int_equal(w.error, 0);
	assert_int_equal(w.vm->gv[0].vcpu.exits[EXIT_EPT_VIOLATION],
			 w.vm->pages_mapped + w.vm->device_exits + w.vm->ept_refused);
	assert_int_equal(w.vm->ept_faults, w.vm->pages_mapped);
	assert_int_equal(w.vm->ept_refused, 0);
	assert_true(w.vm->gv[0].interrupts > 0);
	/* A vCPU that is outside for a doorbell finds them when it comes back. */
	if (policy != LIOV_POLICY_MEDIATED || watch_doorbells)
		assert_true(w.vm->gv[0].vcpu.posted >= w.vm->gv[0].interrupts / 2);
	assert_int_equal(oracle_count(o), 0);
	machine_free(w.m);
	oracle_free(o);
	return w.exits_after - w.exits_before;
}

static void test_steady__paper__no_exit(void **state)
{
	(void)state;
	assert_int_equal(run(LIOV_POLICY_PAPER, false), 0);
}

static void test_steady__nrd__no_exit(void **state)
{
	(void)state;
	assert_int_equal(run(LIOV_POLICY_NRD, false), 0);
}

static void test_steady__siov__no_exit(void **state)
{
	(void)state;
	assert_int_equal(run(LIOV_POLICY_SIOV, false), 0);
}

static void test_steady__mediated_watched__no_exit(void **state)
{
	(void)state;
	assert_int_equal(run(LIOV_POLICY_MEDIATED, true), 0);
}

/* Without: each read's SQ doorbell exits. */
static void test_steady__mediated_trapped__an_exit_a_doorbell(void **state)
{
	(void)state;
	assert_true(run(LIOV_POLICY_MEDIATED, false) > READS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady__paper__no_exit),
		cmocka_unit_test(test_steady__nrd__no_exit),
		cmocka_unit_test(test_steady__siov__no_exit),
		cmocka_unit_test(test_steady__mediated_watched__no_exit),
		cmocka_unit_test(test_steady__mediated_trapped__an_exit_a_doorbell),
	};

	return cmocka_run_group_tests_name("steady", tests, NULL, NULL);
}
