// SPDX-License-Identifier: GPL-2.0
/*
 * The whole slice once: a VM comes up, reads 4 KiB through pages it faulted in, an SQE
 * fetched through VT-d and a posted interrupt; LBA-01 escapes where nothing checks, and is
 * stopped by the controller where it does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "event.h"
#include "host/host.h"
#include "judge/verdict.h"
#include "store.h"
#include "vm/io.h"
#include "watch.h"

#define VM_B 0
#define VM_A 1

struct world {
	struct machine *m;
	struct oracle *o;
	struct judge *j;
	struct port_vm *a, *b;
	struct vm_io io;
	bool done;
	struct verdict v;
	u64 exits_before, exits_after, faults_before, faults_after;
	int error;
};

static int make_vm(struct machine *m, u32 id, u32 queues, struct port_vm **out)
{
	struct vm_config cfg = {
		.id = id, .vcpus = 1, .nr_ram = 1, .ram = { { (id + 1ull) << 32, 1ull << 30 } },
		.liov = { .nr_queues = queues, .lbas = 0x100000 },
	};

	return vm_create(m, &cfg, out);
}

static void scenario(void *arg)
{
	struct world *w = arg;
	struct task *t = task_current();
	struct nvme_sqe sqe = { .opcode = NVME_CMD_READ, .nsid = 1, .cdw10 = 0x100000, .cdw12 = 7 };
	struct liov_segment seg;
	struct liov_request rq = { .op = LIOV_OP_READ, .blocks = 8, .nr_segments = 1, .segments = &seg };
	gpa_t buf;

	w->error = host_boot_liov(w->m);
	if (!w->error)
		w->error = make_vm(w->m, VM_B, 2, &w->b);
	if (!w->error)
		w->error = make_vm(w->m, VM_A, 2, &w->a);
	if (w->error)
		return;
	t->gvcpu = &w->a->gv[0];
	w->error = vm_frontend_start(w->a, 0, 0);
	if (w->error)
		return;
	buf = vm_alloc_pages(w->a, 1);
	seg = (struct liov_segment){ buf, 4096 };
	w->error = vm_submit(w->a, 0, &rq, &w->io);
	if (w->error || !vm_io_wait(&w->io, 100 * PS_PER_MS) || w->io.status) {
		w->error = -1000 - w->io.status;
		return;
	}
	w->exits_before = w->a->gv[0].vcpu.exits[EXIT_EPT_VIOLATION];
	rq.slba.v = 64;
	w->error = vm_submit(w->a, 0, &rq, &w->io);
	if (w->error || !vm_io_wait(&w->io, 100 * PS_PER_MS) || w->io.status) {
		w->error = -2000;
		return;
	}
	w->exits_after = w->a->gv[0].vcpu.exits[EXIT_EPT_VIOLATION];

	judge_open(w->j, VM_A);
	sqe.nsid = w->a->liov.nsid;
	sqe.prp1 = buf.v;
	w->error = vm_submit_raw(w->a, 0, &sqe, &w->io);
	if (!w->error && vm_io_wait(&w->io, 100 * PS_PER_MS))
		judge_status(w->j, w->io.status);
	judge_close(w->j);
	judge_verdict(w->j, &w->v);
	w->done = true;
}

static void violated(void *opaque, const struct oracle_violation *v)
{
	(void)opaque;
	print_message("oracle: %s: %s\n", oracle_claim_name(v->claim), v->what);
}

static void run(struct world *w, enum liov_policy policy)
{
	struct machine_config cfg;

	machine_config_defaults(&cfg);
	machine_config_policy(&cfg, policy);
	*w = (struct world){ 0 };
	w->m = machine_new(&cfg);
	assert_non_null(w->m);
	w->o = oracle_new(w->m, violated, NULL);
	w->j = judge_new(w->m, w->o);
	machine_task(w->m, "scenario", scenario, w);
	sched_run_until(w->m->sched, 20ull * 1000 * PS_PER_MS);
	if (w->error || !w->done)
		print_message("error %d done %d violations %llu\n", w->error, w->done, (unsigned long long)oracle_count(w->o));
}

static void finish(struct world *w)
{
	machine_free(w->m);
	judge_free(w->j);
	oracle_free(w->o);
}

static void show(const struct verdict *v)
{
	u32 i;

	print_message("%s %s %s\n", verdict_kind_name(v->kind), verdict_component_name(v->component), v->resource);
	for (i = 0; i < v->nr_codes; i++)
		print_message("  %s\n", v->code[i]);
	for (i = 0; i < v->nr_evidence; i++)
		print_message("  %s: %s\n", verdict_component_name(v->evidence[i].component), v->evidence[i].text);
}

static void test_gate__paper__lba01_escapes(void **state)
{
	struct world w;

	(void)state;
	run(&w, LIOV_POLICY_PAPER);
	assert_int_equal(w.error, 0);
	assert_true(w.done);
	show(&w.v);
	assert_true(w.a->gv[0].vcpu.exits[EXIT_EPT_VIOLATION] > 0);
	assert_int_equal(w.exits_before, w.exits_after);
	assert_true(w.a->gv[0].vcpu.posted > 0);
	assert_int_equal(w.v.kind, VERDICT_ESCAPED);
	assert_int_equal(w.v.victim, VM_B);
	finish(&w);
}

static void test_gate__nrd__controller_stops_lba01(void **state)
{
	struct world w;

	(void)state;
	run(&w, LIOV_POLICY_NRD);
	assert_int_equal(w.error, 0);
	assert_true(w.done);
	show(&w.v);
	assert_int_equal(w.v.kind, VERDICT_CONTAINED);
	assert_int_equal(w.v.component, COMPONENT_CONTROLLER);
	assert_string_equal(w.v.code[0], "nvme:0/0x80");
	finish(&w);
}

/* The SLBA is VM B's on the SSD, and beyond the namespace that is all VM A can name. */
static void test_gate__siov__controller_stops_lba01(void **state)
{
	struct world w;

	(void)state;
	run(&w, LIOV_POLICY_SIOV);
	assert_int_equal(w.error, 0);
	assert_true(w.done);
	show(&w.v);
	assert_int_equal(w.v.kind, VERDICT_CONTAINED);
	assert_int_equal(w.v.component, COMPONENT_CONTROLLER);
	assert_string_equal(w.v.code[0], "nvme:0/0x80");
	finish(&w);
}

static void test_gate__mediated__mediator_stops_lba01(void **state)
{
	struct world w;

	(void)state;
	run(&w, LIOV_POLICY_MEDIATED);
	assert_int_equal(w.error, 0);
	assert_true(w.done);
	show(&w.v);
	assert_int_equal(w.v.kind, VERDICT_CONTAINED);
	assert_int_equal(w.v.component, COMPONENT_MEDIATOR);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gate__paper__lba01_escapes),
		cmocka_unit_test(test_gate__nrd__controller_stops_lba01),
		cmocka_unit_test(test_gate__siov__controller_stops_lba01),
		cmocka_unit_test(test_gate__mediated__mediator_stops_lba01),
	};

	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
