// SPDX-License-Identifier: GPL-2.0
/*
 * From events to a verdict: whose refusals count, how much each says, what was put up
 * before, and what the scenario adds. Events are made by hand on a machine that does nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "host/host.h"
#include "judge/verdict.h"
#include "machine.h"
#include "store.h"
#include "vm/vm.h"
#include "watch.h"

#define BY 1			/* the attacker; its queue, its vCPU */
#define VICTIM 2
#define QUEUE(vm) ((vm) + 10)
#define VCPU(vm) ((vm) + 3)
#define LBA(vm) ((vm) * 0x1000ull)

static struct machine *m;
static struct oracle *o;
static struct judge *j;
static struct verdict v;
static struct port_vm *vms;

static void event_io(u64 io_id, u32 kind, u64 a, u64 b, u64 c, u64 d)
{
	trace4(&m->trace, kind, io_id, a, b, c, d);
}

static void event(u32 kind, u64 a, u64 b, u64 c, u64 d)
{
	event_io(0, kind, a, b, c, d);
}

static void liov(u32 kind, u32 vm, enum liov_component who, u32 code, u64 a, u64 b)
{
	event(SIM_TRACE_LIOV + kind, vm, (u64)who << 32 | code, a, b);
}

static int setup(void **state)
{
	struct machine_config cfg;
	u32 vm;

	(void)state;
	machine_config_defaults(&cfg);
	cfg.high_ram_bytes = 1 << 30;
	m = machine_new(&cfg);
	vms = calloc(3, sizeof(*vms));
	if (!m || !vms)
		return -1;
	o = oracle_new(m, NULL, NULL);
	j = judge_new(m, o);
	for (vm = 1; vm <= 2; vm++) {
		vms[vm].cfg.id = vm;
		vms[vm].gv[0].vm = &vms[vm];
		m->gvcpus[VCPU(vm)] = &vms[vm].gv[0];
		event(SIM_TRACE_VM, vm, 1, LBA(vm), 0x1000);
		event(SIM_TRACE_QUEUE, vm, QUEUE(vm), 1, 0);
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	judge_free(j);
	oracle_free(o);
	machine_free(m);
	free(vms);
	return 0;
}

static void verdict_is_(enum verdict_kind kind, enum verdict_component who, int line)
{
	judge_verdict(j, &v);
	if (v.kind != kind || v.component != who)
		print_error("line %d: %s %s\n", line, verdict_kind_name(v.kind), verdict_component_name(v.component));
	assert_int_equal(v.kind, kind);
	assert_int_equal(v.component, who);
}

#define verdict_is(kind, who) verdict_is_(kind, who, __LINE__)

static bool has_code(const char *code)
{
	u32 i, n = 0;

	judge_verdict(j, &v);
	for (i = 0; i < v.nr_codes; i++)
		n += strcmp(v.code[i], code) == 0;
	assert_true(n <= 1);
	return n == 1;
}

/* A new judge, and the span open. */
static void anew(void)
{
	void *state = NULL;

	teardown(&state);
	assert_int_equal(setup(&state), 0);
	judge_open(j, BY);
}

static void deny(u32 vm, enum liov_component who)
{
	liov(LIOV_TRACE_DENY, vm, who, 0, 1, 2);
}

static void test_verdict__nothing_seen__inert(void **state)
{
	(void)state;
	verdict_is(VERDICT_INERT, COMPONENT_NONE);
	judge_open(j, BY);
	judge_close(j);
	verdict_is(VERDICT_INERT, COMPONENT_NONE);
	assert_int_equal(v.nr_evidence, 0);
	assert_int_equal(v.victim, SIM_OWNER_NONE);
}

static void test_verdict__each_refusal__names_its_component_and_code(void **state)
{
	static const enum verdict_component who[LIOV_COMPONENTS] = {
		[LIOV_FRONTEND] = COMPONENT_FRONTEND, [LIOV_MEDIATOR] = COMPONENT_MEDIATOR, [LIOV_DEVICE] = COMPONENT_DEVICE,
		[LIOV_BACKEND] = COMPONENT_BACKEND,
	};
	const u64 io = (u64)QUEUE(BY) << 48 | 1;
	u32 i;

	(void)state;
	for (i = 0; i < LIOV_COMPONENTS; i++) {
		anew();
		liov(LIOV_TRACE_DENY, BY, (enum liov_component)i, 0x4180, 7, 8);
		verdict_is(VERDICT_CONTAINED, who[i]);
		assert_true(has_code("nvme:1/0x80"));	/* DNR is no part of a code */
	}
	anew();
	event_io(io, TRACE_CMD_REFUSED, QUEUE(BY), 1, 0x80, 2);
	verdict_is(VERDICT_CONTAINED, COMPONENT_CONTROLLER);
	assert_int_equal(v.evidence[0].io_id, io);
	event(TRACE_CQE, QUEUE(BY), (u64)QUEUE(BY) << 16 | 1, 0x80, 0);
	assert_true(has_code("nvme:0/0x80"));
	anew();
	event(TRACE_DOORBELL_BAD, 0x1008, 99, 0x00010100, 1);
	verdict_is(VERDICT_CONTAINED, COMPONENT_CONTROLLER);
	assert_true(has_code("aer:0x00010100"));
	anew();
	event(TRACE_DMA_NO_TARGET, 0x100, 1, 2, 3);
	verdict_is(VERDICT_CONTAINED, COMPONENT_PCI);
	anew();
	event_io(io, TRACE_VTD_FAULT, 0x10100, 0x5000, 0x05, 0);
	verdict_is(VERDICT_CONTAINED, COMPONENT_IOMMU);
	assert_true(has_code("vtd:0x05"));
	anew();
	event_io(io, TRACE_IRTE_FAULT, 0x100, 5, 0x26, 0xFEE00000);
	verdict_is(VERDICT_CONTAINED, COMPONENT_IRTE);
	assert_true(has_code("vtd:0x26"));
	anew();
	event(SIM_TRACE_NO_SLOT, BY, 0xDEAD000, 1, 0);
	verdict_is(VERDICT_CONTAINED, COMPONENT_EPT);
}

/* A violation that maps a page is how a VM gets its pages: a code, and no evidence. */
static void test_verdict__ept_violation__is_a_code(void **state)
{
	(void)state;
	judge_open(j, BY);
	event(TRACE_EPT_VIOLATION, VCPU(BY), 0x1000, EPT_ACCESS_W, 0);
	event(TRACE_EPT_VIOLATION, VCPU(VICTIM), 0x1000, EPT_ACCESS_R, 0);
	event(TRACE_EPT_VIOLATION, 63, 0x1000, EPT_ACCESS_X, 0);
	event(TRACE_EPT_VIOLATION, 100000, 0x1000, EPT_ACCESS_X, 0);
	verdict_is(VERDICT_INERT, COMPONENT_NONE);
	assert_int_equal(v.nr_codes, 1);
	assert_true(has_code("ept:violation-w"));
	event(TRACE_EPT_VIOLATION, VCPU(BY), 0x1000, EPT_ACCESS_R, 0);
	event(TRACE_EPT_VIOLATION, VCPU(BY), 0x1000, EPT_ACCESS_X, 0);
	assert_true(has_code("ept:violation-r") && has_code("ept:violation-x"));
	event(TRACE_CFS, 3, 0, 0, 0);
	assert_true(has_code("csts:cfs"));
}

static void test_verdict__what_others_do_or_at_other_times__does_not_count(void **state)
{
	(void)state;
	deny(BY, LIOV_MEDIATOR);			/* before */
	judge_status(j, 0x80);
	judge_open(j, BY);
	deny(VICTIM, LIOV_MEDIATOR);			/* somebody else's */
	liov(LIOV_TRACE_GUARD, VICTIM, LIOV_BACKEND, LIOV_GUARD_QUEUE_QUIET, 1, 1);
	liov(LIOV_TRACE_EMULATED, VICTIM, LIOV_DEVICE, 0x80, 6, 0);
	event(TRACE_CMD_REFUSED, QUEUE(VICTIM), 1, 0x80, 2);
	event(TRACE_CQE, QUEUE(VICTIM), (u64)QUEUE(VICTIM) << 16 | 1, 0x80, 0);
	event(SIM_TRACE_NO_SLOT, VICTIM, 0xDEAD000, 1, 0);
	liov(LIOV_TRACE_DENY, BY, LIOV_COMPONENTS, 0, 1, 2);	/* no such component */
	judge_close(j);
	deny(BY, LIOV_MEDIATOR);			/* after */
	event(TRACE_VTD_FAULT, 0x10100, 0x5000, 0x05, 0);
	judge_code(j, "late");
	verdict_is(VERDICT_INERT, COMPONENT_NONE);
	assert_int_equal(v.nr_codes, 0);
	/* The attacker's other VM goes on: its refusals count from here. */
	judge_open(j, VICTIM);
	deny(BY, LIOV_FRONTEND);
	deny(VICTIM, LIOV_DEVICE);
	verdict_is(VERDICT_CONTAINED, COMPONENT_DEVICE);
	assert_int_equal(v.nr_evidence, 1);
}

static void test_verdict__faults__of_the_attackers_commands_only(void **state)
{
	const u64 victims = (u64)QUEUE(VICTIM) << 48 | 4, hosts = 40ull << 48 | 1, attackers = (u64)QUEUE(BY) << 48 | 1;
	static const u32 kinds[] = { TRACE_VTD_FAULT, TRACE_IRTE_FAULT, TRACE_DMA_NO_TARGET };
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		anew();
		event_io(victims, kinds[i], 0x10100, 0x5000, 0x05, 0);
		event_io(hosts, kinds[i], 0x10100, 0x5000, 0x05, 0);
		verdict_is(VERDICT_INERT, COMPONENT_NONE);
		assert_int_equal(v.nr_codes, 0);
		event_io(attackers, kinds[i], 0x10100, 0x5000, 0x05, 0);
		judge_verdict(j, &v);
		assert_int_equal(v.kind, VERDICT_CONTAINED);
		assert_int_equal(v.nr_evidence, 1);
		assert_int_equal(v.evidence[0].io_id, attackers);
		/* Nobody's command any more: its queue was taken in the attack. */
		event(SIM_TRACE_QUEUE, BY, QUEUE(BY), 0, 0);
		event_io(attackers, kinds[i], 0x10100, 0x5000, 0x05, 0);
		judge_verdict(j, &v);
		assert_int_equal(v.nr_evidence, 2);
	}
}

static void guard(u32 vm, enum liov_component who, enum liov_guard g, u64 a, u64 b)
{
	liov(LIOV_TRACE_GUARD, vm, who, g, a, b);
}

/* A refusal says more than a cover, a cover more than what let it pass; of equals the first acted. */
static void test_verdict__strengths__refused_covers_passed(void **state)
{
	(void)state;
	judge_open(j, BY);
	guard(BY, LIOV_MEDIATOR, LIOV_GUARD_COPIED, 0x1000, 64);
	verdict_is(VERDICT_CONTAINED, COMPONENT_MEDIATOR);
	assert_int_equal(v.evidence[0].kind, EVIDENCE_PASSED);
	liov(LIOV_TRACE_EMULATED, BY, LIOV_DEVICE, 0, 6, 0);
	guard(BY, LIOV_DEVICE, LIOV_GUARD_OWN_QUEUE, 0x1008, 1);
	verdict_is(VERDICT_CONTAINED, COMPONENT_MEDIATOR);
	assert_true(has_code("nvme:0/0x00"));
	guard(BY, LIOV_BACKEND, LIOV_GUARD_QUEUE_QUIET, 3, 0);
	verdict_is(VERDICT_CONTAINED, COMPONENT_BACKEND);
	assert_int_equal(v.evidence[3].kind, EVIDENCE_COVERS);
	deny(BY, LIOV_FRONTEND);
	verdict_is(VERDICT_CONTAINED, COMPONENT_FRONTEND);
	event(SIM_TRACE_NO_SLOT, BY, 0xDEAD000, 1, 0);
	deny(BY, LIOV_DEVICE);
	verdict_is(VERDICT_CONTAINED, COMPONENT_FRONTEND);
	assert_int_equal(v.nr_evidence, 7);
	anew();
	guard(BY, LIOV_BACKEND, LIOV_GUARD_PAGES_REVOKED, 0x10000, 0x1000);
	verdict_is(VERDICT_CONTAINED, COMPONENT_BACKEND);
	assert_int_equal(v.evidence[0].kind, EVIDENCE_COVERS);
	guard(BY, LIOV_BACKEND, (enum liov_guard)99, 0, 0);	/* no such guard */
	judge_verdict(j, &v);
	assert_int_equal(v.nr_evidence, 1);
}

/* Much that says little does not keep out what says more. */
static void test_verdict__evidence_full__stronger_gets_in(void **state)
{
	u32 i;

	(void)state;
	judge_open(j, BY);
	for (i = 0; i < VERDICT_EVIDENCE + 5; i++)
		guard(BY, LIOV_DEVICE, LIOV_GUARD_OWN_QUEUE, 0x1008, i);
	verdict_is(VERDICT_CONTAINED, COMPONENT_DEVICE);
	assert_int_equal(v.nr_evidence, VERDICT_EVIDENCE);
	deny(BY, LIOV_MEDIATOR);
	verdict_is(VERDICT_CONTAINED, COMPONENT_MEDIATOR);
	assert_int_equal(v.nr_evidence, VERDICT_EVIDENCE);
	for (i = 0; i < VERDICT_EVIDENCE + 5; i++)
		deny(BY, LIOV_BACKEND);
	/* The first refusal still decides, and all the room is taken by refusals. */
	judge_verdict(j, &v);
	for (i = 0; i < VERDICT_EVIDENCE; i++)
		assert_int_equal(v.evidence[i].kind, EVIDENCE_REFUSED);
}

/* What LightIOV took away earlier stops the attacker now: its doing, though the IOMMU says no. */
static void test_verdict__fault_where_it_was_revoked__backend(void **state)
{
	const u64 io = (u64)QUEUE(BY) << 48 | 1;

	(void)state;
	guard(BY, LIOV_BACKEND, LIOV_GUARD_IOVA_REVOKED, 0x100000, 0x2000);
	guard(VICTIM, LIOV_BACKEND, LIOV_GUARD_IOVA_REVOKED, 0x900000, 0x1000);
	judge_open(j, BY);
	event_io(io, TRACE_VTD_FAULT, 0x10100, 0x101FFF, 0x05, 0);
	verdict_is(VERDICT_CONTAINED, COMPONENT_BACKEND);
	assert_int_equal(v.evidence[0].kind, EVIDENCE_REFUSED);
	assert_true(has_code("vtd:0x05"));
	anew();
	judge_close(j);
	guard(BY, LIOV_BACKEND, LIOV_GUARD_IOVA_REVOKED, 0x100000, 0x2000);
	guard(VICTIM, LIOV_BACKEND, LIOV_GUARD_IOVA_REVOKED, 0x900000, 0x1000);
	judge_open(j, BY);
	event_io(io, TRACE_VTD_FAULT, 0x10100, 0x102000, 0x05, 0);	/* just past */
	verdict_is(VERDICT_CONTAINED, COMPONENT_IOMMU);
	event_io(io, TRACE_VTD_FAULT, 0x10100, 0x900000, 0x05, 0);	/* another's */
	judge_verdict(j, &v);
	assert_int_equal(v.evidence[1].component, COMPONENT_IOMMU);
}

static void test_verdict__reads_what_was_wiped__backend(void **state)
{
	u32 i;

	(void)state;
	guard(BY, LIOV_BACKEND, LIOV_GUARD_LBA_WIPED, LBA(BY), 0x1000);
	/* More than there is room for: the latest are known. */
	for (i = 0; i < 100; i++)
		guard(VICTIM, LIOV_BACKEND, LIOV_GUARD_LBA_WIPED, 0x10000 + i, 1);
	guard(BY, LIOV_BACKEND, LIOV_GUARD_LBA_WIPED, LBA(BY), 0x1000);
	judge_open(j, BY);
	event(TRACE_MEDIA, QUEUE(VICTIM), NVME_CMD_READ, LBA(VICTIM), 8);
	event(TRACE_MEDIA, QUEUE(BY), NVME_CMD_WRITE, LBA(BY), 8);
	verdict_is(VERDICT_INERT, COMPONENT_NONE);
	/* It reads back what it wrote itself. */
	event(TRACE_MEDIA, QUEUE(BY), NVME_CMD_READ, LBA(BY), 8);
	verdict_is(VERDICT_INERT, COMPONENT_NONE);
	event(TRACE_MEDIA, QUEUE(BY), NVME_CMD_READ, LBA(BY) + 8, 8);
	verdict_is(VERDICT_CONTAINED, COMPONENT_BACKEND);
	assert_int_equal(v.evidence[0].kind, EVIDENCE_COVERS);
}

static void escape(void)
{
	event_io((u64)QUEUE(BY) << 48 | 5, TRACE_MEDIA, QUEUE(BY), NVME_CMD_READ, LBA(VICTIM), 8);
}

static void test_verdict__violation__escaped_whatever_else(void **state)
{
	(void)state;
	escape();			/* before the attack: not of it */
	judge_open(j, BY);
	deny(BY, LIOV_MEDIATOR);
	verdict_is(VERDICT_CONTAINED, COMPONENT_MEDIATOR);
	judge_sister(j);
	judge_measured(j, VERDICT_DEGRADED);
	judge_rejected(j, COMPONENT_BACKEND);
	judge_close(j);
	escape();			/* after it: its consequence */
	verdict_is(VERDICT_ESCAPED, COMPONENT_NONE);
	assert_int_equal(v.victim, VICTIM);
	assert_int_equal(v.claim, ORACLE_LBA);
	assert_int_equal(v.io_id, (u64)QUEUE(BY) << 48 | 5);
	assert_string_equal(v.resource, "VM 1: reads blocks 0x2000 + 0x8 of VM 2");
}

static void test_verdict__sister__na_unless_refused(void **state)
{
	(void)state;
	judge_open(j, BY);
	judge_sister(j);
	verdict_is(VERDICT_NA, COMPONENT_NONE);
	guard(BY, LIOV_MEDIATOR, LIOV_GUARD_COPIED, 0x1000, 64);
	guard(BY, LIOV_BACKEND, LIOV_GUARD_PAGES_REVOKED, 0, 0x1000);
	verdict_is(VERDICT_NA, COMPONENT_NONE);
	deny(BY, LIOV_DEVICE);
	verdict_is(VERDICT_CONTAINED, COMPONENT_DEVICE);
}

static void test_verdict__rejected_and_measured__as_told(void **state)
{
	(void)state;
	judge_open(j, BY);
	judge_rejected(j, COMPONENT_BACKEND);
	verdict_is(VERDICT_REJECTED, COMPONENT_BACKEND);
	anew();
	deny(BY, LIOV_DEVICE);
	judge_measured(j, VERDICT_OUTAGE);
	verdict_is(VERDICT_OUTAGE, COMPONENT_NONE);
	anew();
	judge_measured(j, VERDICT_DEGRADED);
	verdict_is(VERDICT_DEGRADED, COMPONENT_NONE);
}

static void test_codes__each_once_and_no_more_than_fit(void **state)
{
	char code[24];
	u32 i;

	(void)state;
	judge_open(j, BY);
	for (i = 0; i < 3; i++) {
		judge_status(j, 0x0080);
		judge_status(j, 0x0180);
		judge_code(j, "csts:cfs");
	}
	judge_verdict(j, &v);
	assert_int_equal(v.nr_codes, 3);
	assert_string_equal(v.code[0], "nvme:0/0x80");
	assert_string_equal(v.code[1], "nvme:1/0x80");
	assert_string_equal(v.code[2], "csts:cfs");
	for (i = 0; i < 2 * VERDICT_CODES; i++) {
		snprintf(code, sizeof(code), "code %u", i);
		judge_code(j, code);
	}
	judge_code(j, "a code that is longer than there is room for one");
	judge_verdict(j, &v);
	assert_int_equal(v.nr_codes, VERDICT_CODES);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_verdict__nothing_seen__inert),
		TEST(test_verdict__each_refusal__names_its_component_and_code),
		TEST(test_verdict__ept_violation__is_a_code),
		TEST(test_verdict__what_others_do_or_at_other_times__does_not_count),
		TEST(test_verdict__faults__of_the_attackers_commands_only),
		TEST(test_verdict__strengths__refused_covers_passed),
		TEST(test_verdict__evidence_full__stronger_gets_in),
		TEST(test_verdict__fault_where_it_was_revoked__backend),
		TEST(test_verdict__reads_what_was_wiped__backend),
		TEST(test_verdict__violation__escaped_whatever_else),
		TEST(test_verdict__sister__na_unless_refused),
		TEST(test_verdict__rejected_and_measured__as_told),
		TEST(test_codes__each_once_and_no_more_than_fit),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
