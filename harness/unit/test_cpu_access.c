// SPDX-License-Identifier: GPL-2.0
/* A vCPU's loads and stores: TLB, exits, registers, splitting. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_cpu_machine.h"

#define GPA	0x40000000ULL		/* its page is mapped to HPA by the tests */
#define HPA	0x7000000ULL
#define HPA2	0x7800000ULL

static u64 read64(struct vcpu *vcpu, u64 gpa)
{
	u64 val = 0;

	vcpu_read(vcpu, (gpa_t){ gpa }, &val, sizeof(val));
	return val;
}

static void write64(struct vcpu *vcpu, u64 gpa, u64 val)
{
	vcpu_write(vcpu, (gpa_t){ gpa }, &val, sizeof(val));
}

/* A running vCPU with one page of memory. */
static struct vcpu *running(struct machine *m, u64 perm)
{
	machine_map(m, m->eptp, GPA, HPA, perm);
	vcpu_run(&m->vcpu[0], 0);
	return &m->vcpu[0];
}

static enum exit_action map_and_retry(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit)
{
	machine_map(m, vcpu->eptp, exit->gpa.v & ~0xFFFULL, HPA, EPT_ENTRY_RWX);
	return EXIT_RETRY;
}

static enum exit_action emulate(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit)
{
	(void)m;
	(void)vcpu;
	exit->val = 0x1122334455667788ULL;
	return EXIT_EMULATED;
}

static enum exit_action retry_in_vain(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit)
{
	(void)m;
	(void)vcpu;
	exit->val = 0x55;
	return EXIT_RETRY;
}

static void test_vcpu_write__mapped__reaches_memory_and_reads_back(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);

	write64(v, GPA + 0x10, 0xA5A5);
	assert_int_equal(machine_peek(m, HPA + 0x10), 0xA5A5);
	assert_int_equal(read64(v, GPA + 0x10), 0xA5A5);
	assert_int_equal(m->exits, 0);
	assert_int_equal(m->cpu.pcpu[0].tlb_miss, 1);
	assert_int_equal(m->cpu.pcpu[0].tlb_hit, 1);
	assert_int_equal(v->spent_ps, test_costs.walk_ps);
}

static void test_vcpu_write__page_mapped_by_the_handler__one_violation_for_a_thousand_touches(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	m->on_exit = map_and_retry;
	vcpu_run(v, 0);
	for (u64 i = 0; i < 1000; i++)
		write64(v, GPA + 8 * (i % 512), i);
	assert_int_equal(v->exits[EXIT_EPT_VIOLATION], 1);
	assert_int_equal(m->exits, 1);
	assert_int_equal(m->cpu.pcpu[0].tlb_miss, 2);
	assert_int_equal(v->spent_ps, 2 * test_costs.walk_ps + test_costs.exit_ps);
	assert_int_equal(machine_peek(m, HPA + 8 * (999 % 512)), 999);
}

static void test_vcpu_access__qualification__says_tried_and_allowed(void **state)
{
	/* Table 28-7: bit 0 read, bit 1 write, bits 3, 4, 5 the path's R, W, X. */
	static const struct {
		u64 perm;
		bool write;
		u32 qualification;
	} rows[] = {
		{ 0, false, 0x01 }, { 0, true, 0x02 },
		{ EPT_ENTRY_R, true, 0x0A }, { EPT_ENTRY_R | EPT_ENTRY_X, true, 0x2A },
		{ EPT_ENTRY_X, false, 0x21 }, { EPT_ENTRY_X, true, 0x22 },
	};
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	m->on_exit = emulate;
	machine_listen(m, TRACE_EPT_VIOLATION);
	machine_listen(m, TRACE_VCPU_EXIT);
	vcpu_run(v, 0);
	for (u64 i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		u64 gpa = GPA + i * SPEC_PAGE_SIZE;
		struct trace_event ev = { 0 };

		machine_map(m, m->eptp, gpa, rows[i].perm ? HPA : 0, rows[i].perm);
		if (rows[i].write)
			write64(v, gpa, i);
		else
			assert_int_equal(read64(v, gpa), 0x1122334455667788ULL);
		assert_int_equal(m->exit.qualification, rows[i].qualification);
		assert_int_equal(m->exit.access, rows[i].write ? 2 : 1);
		assert_int_equal(m->exit.write, rows[i].write);
		assert_false(m->exit.misconfig);
		assert_int_equal(m->exit.gpa.v, gpa);
		assert_int_equal(v->exits[EXIT_EPT_VIOLATION], i + 1);
		assert_int_equal(machine_traced(m, TRACE_EPT_VIOLATION, &ev), i + 1);
		assert_int_equal(ev.a, 10);
		assert_int_equal(ev.b, gpa);
		assert_int_equal(ev.c, rows[i].write ? 2 : 1);
		assert_int_equal(ev.d, rows[i].qualification);
		assert_int_equal(machine_traced(m, TRACE_VCPU_EXIT, &ev), i + 1);
		assert_int_equal(ev.b, 48);
		assert_int_equal(ev.c, gpa);
	}
	assert_int_equal(machine_peek(m, HPA), 0);
}

static void test_vcpu_access__misconfigured__exits_49_and_is_emulated(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, EPT_ENTRY_W);
	struct trace_event ev = { 0 };

	m->on_exit = emulate;
	machine_listen(m, TRACE_EPT_MISCONFIG);
	assert_int_equal(read64(v, GPA), 0x1122334455667788ULL);
	assert_int_equal(v->exits[EXIT_EPT_MISCONFIG], 1);
	assert_int_equal(v->exits[EXIT_EPT_VIOLATION], 0);
	assert_true(m->exit.misconfig);
	assert_int_equal(m->exit.qualification, 0);
	assert_int_equal(machine_traced(m, TRACE_EPT_MISCONFIG, &ev), 1);
	assert_int_equal(ev.c, 1);
	assert_int_equal(ev.d, machine_peek(m, machine_entry(m, m->eptp, GPA, 1)));
}

static void test_vcpu_access__handler_never_maps__given_up_after_eight_retries(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];
	struct trace_event ev = { 0 };

	m->on_exit = retry_in_vain;
	machine_listen(m, TRACE_CPU_LOAD);
	vcpu_run(v, 0);
	assert_int_equal(read64(v, GPA), ~0ULL);
	assert_int_equal(m->exits, 9);
	assert_int_equal(v->gave_up, 1);
	assert_int_equal(machine_traced(m, TRACE_CPU_LOAD, &ev), 1);
	assert_int_equal(ev.c, ~0ULL);
	write64(v, GPA, 1);
	assert_int_equal(m->exits, 18);
	assert_int_equal(v->gave_up, 2);
}

static enum exit_action map_on_the_sixth_try(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit)
{
	return m->exits % 6 ? EXIT_RETRY : map_and_retry(m, vcpu, exit);
}

static void test_vcpu_access__progress_between_retries__each_piece_has_its_own(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];
	u8 out[64];

	m->on_exit = map_on_the_sixth_try;
	memset(out, 0x3C, sizeof(out));
	vcpu_run(v, 0);
	vcpu_write(v, (gpa_t){ GPA + 0xFE0 }, out, sizeof(out));
	assert_int_equal(m->exits, 12);
	assert_int_equal(v->gave_up, 0);
	assert_int_equal(machine_peek(m, HPA + 0x18), 0x3C3C3C3C3C3C3C3CULL);
}

static void test_vcpu_access__exit_in_an_unaligned_access__in_naturally_aligned_pieces(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];
	u8 buf[16];

	m->on_exit = emulate;
	vcpu_run(v, 0);
	/* 0x3..0x13: 1 at 3, 4 at 4, 8 at 8, 2 at 0x10, 1 at 0x12 */
	vcpu_read(v, (gpa_t){ GPA + 3 }, buf, sizeof(buf));
	assert_int_equal(m->exits, 5);
	assert_int_equal(m->exit.gpa.v, GPA + 0x12);
	assert_int_equal(m->exit.len, 1);
	assert_int_equal(buf[0], 0x88);
	assert_int_equal(buf[1], 0x88);
	assert_int_equal(buf[4], 0x55);
	assert_int_equal(buf[5], 0x88);
	assert_int_equal(buf[12], 0x11);
	assert_int_equal(buf[13], 0x88);
	assert_int_equal(buf[14], 0x77);
	assert_int_equal(buf[15], 0x88);
}

static void test_vcpu_write__exit__handler_is_told_the_value_of_the_piece(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];
	u32 val = 0xCAFE0123;

	m->on_exit = emulate;
	vcpu_run(v, 0);
	m->exit.val = 0;
	vcpu_write(v, (gpa_t){ GPA + 4 }, &val, sizeof(val));
	assert_int_equal(m->exits, 1);
	assert_int_equal(m->exit.val, 0xCAFE0123);
	assert_int_equal(m->exit.len, 4);
	assert_true(m->exit.write);
}

static void test_vcpu_write__across_pages__goes_to_both(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);
	u8 out[8192], in[8192];

	machine_map(m, m->eptp, GPA + 0x1000, HPA2, 7);
	machine_map(m, m->eptp, GPA + 0x2000, HPA + 0x5000, 7);
	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (u8)(i * 7 + i / 256);
	for (int round = 0; round < 2; round++) {
		vcpu_write(v, (gpa_t){ GPA + 0x7FD }, out, sizeof(out));
		vcpu_read(v, (gpa_t){ GPA + 0x7FD }, in, sizeof(in));
		assert_memory_equal(in, out, sizeof(out));
	}
	store_read(m->store, HPA2, in, 4096);
	assert_memory_equal(in, out + 0x803, 4096);
	assert_int_equal(machine_peek(m, HPA + 0x1000), 0);
	assert_int_equal(m->cpu.pcpu[0].tlb_miss, 3);
	assert_int_equal(m->exits, 0);
}

static void test_vcpu_write__next_page_absent__first_page_needs_no_exit(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);
	u8 out[32];

	m->on_exit = emulate;
	memset(out, 0x3C, sizeof(out));
	vcpu_write(v, (gpa_t){ GPA + 0xFF0 }, out, sizeof(out));
	assert_int_equal(m->exits, 2);
	assert_int_equal(m->exit.gpa.v, GPA + 0x1008);
	assert_int_equal(machine_peek(m, HPA + 0xFF8), 0x3C3C3C3C3C3C3C3CULL);
}

static void test_vcpu_access__registers__in_pieces_and_charged(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);
	u32 doorbell = 0x77;
	u8 buf[12];

	machine_map(m, m->eptp, GPA, MMIO_BASE, EPT_ENTRY_R | EPT_ENTRY_W);
	vcpu_write(v, (gpa_t){ GPA + 0x20 }, &doorbell, sizeof(doorbell));
	assert_int_equal(m->mmio_off, 0x20);
	assert_int_equal(m->mmio_val, 0x77);
	assert_int_equal(m->mmio_len, 4);
	assert_int_equal(v->spent_ps, test_costs.walk_ps + test_costs.mmio_write_ps);

	m->mmio_answer = 0x1122334455667788ULL;
	vcpu_read(v, (gpa_t){ GPA + 0x24 }, buf, sizeof(buf));
	assert_int_equal(m->mmio_reads, 2);
	assert_int_equal(m->mmio_off, 0x28);
	assert_int_equal(m->mmio_len, 8);
	assert_int_equal(buf[0], 0x88);
	assert_int_equal(buf[3], 0x55);
	assert_int_equal(buf[4], 0x88);
	assert_int_equal(buf[11], 0x11);
	assert_int_equal(v->spent_ps, test_costs.walk_ps + test_costs.mmio_write_ps + 2 * test_costs.mmio_read_ps);
	assert_int_equal(m->exits, 0);
}

static void test_vcpu_read__mapped_to_nobody__all_ones_and_no_exit(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);

	machine_map(m, m->eptp, GPA, NOBODY_BASE, 7);
	assert_int_equal(read64(v, GPA), ~0ULL);
	write64(v, GPA, 1);
	assert_int_equal(read64(v, GPA), ~0ULL);
	assert_int_equal(m->exits, 0);
}

static void test_vcpu_read__address_beyond_the_ept__violation_and_no_wrap(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);
	u64 buf[2] = { 0 };

	m->on_exit = emulate;
	vcpu_read(v, (gpa_t){ ~0ULL - 7 }, buf, 16);
	assert_int_equal(m->exits, 2);
	assert_int_equal(v->exits[EXIT_EPT_VIOLATION], 2);
}

/* EPT-01, EPT-02: a removed entry is used until INVEPT, on each core by itself. */
static void test_tlb__entry_removed__stale_until_invept_on_that_core(void **state)
{
	struct machine *m = *state;
	struct vcpu *a = running(m, 7), *b = &m->vcpu[1];

	m->on_exit = emulate;
	vcpu_run(b, 1);
	write64(a, GPA, 1);
	write64(b, GPA, 2);
	machine_poke(m, machine_entry(m, m->eptp, GPA, 1), 0);

	write64(a, GPA, 3);
	assert_int_equal(machine_peek(m, HPA), 3);
	cpu_invept(&m->cpu, 0, m->eptp);
	write64(a, GPA, 4);
	assert_int_equal(m->exits, 1);
	assert_int_equal(machine_peek(m, HPA), 3);

	write64(b, GPA, 5);
	assert_int_equal(m->exits, 1);
	assert_int_equal(machine_peek(m, HPA), 5);
	cpu_invept(&m->cpu, 1, m->eptp);
	write64(b, GPA, 6);
	assert_int_equal(m->exits, 2);
	assert_int_equal(machine_peek(m, HPA), 5);
}

static void test_tlb__entry_redirected__old_page_until_invept(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);

	machine_poke(m, HPA, 0x11);
	machine_poke(m, HPA2, 0x22);
	assert_int_equal(read64(v, GPA), 0x11);
	machine_map(m, m->eptp, GPA, HPA2, 7);
	assert_int_equal(read64(v, GPA), 0x11);
	vcpu_preempt(v);
	vcpu_run(v, 0);
	assert_int_equal(read64(v, GPA), 0x11);
	vcpu_preempt(v);
	vcpu_run(v, 2);
	assert_int_equal(read64(v, GPA), 0x22);
	vcpu_preempt(v);
	vcpu_run(v, 0);
	cpu_invept(&m->cpu, 0, 0);
	assert_int_equal(read64(v, GPA), 0x22);
}

static void test_tlb__doorbell_page_removed__stale_store_still_rings(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);

	m->on_exit = emulate;
	machine_map(m, m->eptp, GPA, MMIO_BASE, 3);
	write64(v, GPA, 1);
	machine_poke(m, machine_entry(m, m->eptp, GPA, 1), 0);
	write64(v, GPA, 2);
	assert_int_equal(m->mmio_writes, 2);
	cpu_invept(&m->cpu, 0, m->eptp);
	write64(v, GPA, 3);
	assert_int_equal(m->mmio_writes, 2);
	assert_int_equal(m->exits, 1);
}

static void test_tlb__two_vms_on_one_core__each_sees_its_own(void **state)
{
	struct machine *m = *state;
	struct vcpu *a = running(m, 7), *b = &m->vcpu[1];

	b->eptp = machine_new_eptp(m, 0);
	machine_map(m, b->eptp, GPA, HPA2, 7);
	machine_poke(m, HPA, 0x11);
	machine_poke(m, HPA2, 0x22);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(read64(a, GPA), 0x11);
		vcpu_preempt(a);
		vcpu_run(b, 0);
		assert_int_equal(read64(b, GPA), 0x22);
		vcpu_preempt(b);
		vcpu_run(a, 0);
	}
}

static void test_invept__single_context__leaves_other_eptps(void **state)
{
	struct machine *m = *state;
	struct vcpu *a = running(m, 7), *b = &m->vcpu[1];

	m->on_exit = emulate;
	b->eptp = machine_new_eptp(m, 0);
	machine_map(m, b->eptp, GPA + 0x1000, HPA2, 7);
	machine_poke(m, HPA2, 0x22);
	read64(a, GPA);
	vcpu_preempt(a);
	vcpu_run(b, 0);
	read64(b, GPA + 0x1000);
	machine_poke(m, machine_entry(m, m->eptp, GPA, 1), 0);
	machine_poke(m, machine_entry(m, b->eptp, GPA + 0x1000, 1), 0);
	/* Bits 51:12 count, the rest of the EPTP does not. */
	cpu_invept(&m->cpu, 0, m->eptp ^ EPT_EPTP_AD);
	assert_int_equal(read64(b, GPA + 0x1000), 0x22);
	assert_int_equal(m->exits, 0);
	vcpu_preempt(b);
	vcpu_run(a, 0);
	read64(a, GPA);
	assert_int_equal(m->exits, 1);
}

static void test_tlb__permission_widened__one_spurious_violation_then_walks(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, EPT_ENTRY_R);

	m->on_exit = map_and_retry;
	read64(v, GPA);
	machine_map(m, m->eptp, GPA, HPA, 7);
	write64(v, GPA, 9);
	assert_int_equal(m->exits, 1);
	assert_int_equal(m->exit.qualification, 0x0A);
	assert_int_equal(machine_peek(m, HPA), 9);
}

static void test_tlb__permission_narrowed__stale_until_invept(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);

	m->on_exit = emulate;
	write64(v, GPA, 1);
	machine_map(m, m->eptp, GPA, HPA, EPT_ENTRY_R);
	write64(v, GPA, 2);
	assert_int_equal(machine_peek(m, HPA), 2);
	cpu_invept(&m->cpu, 0, m->eptp);
	write64(v, GPA, 3);
	assert_int_equal(machine_peek(m, HPA), 2);
	assert_int_equal(m->exits, 1);
}

/* 29.4.3.1: a violation drops what the core had cached for the address. */
static void test_tlb__violation__invalidates_the_cached_translation(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, EPT_ENTRY_R);

	m->on_exit = emulate;
	machine_poke(m, HPA2, 0x22);
	read64(v, GPA);
	machine_map(m, m->eptp, GPA, HPA2, EPT_ENTRY_R);
	assert_int_equal(read64(v, GPA), 0);
	write64(v, GPA, 1);
	assert_int_equal(m->exits, 1);
	assert_int_equal(read64(v, GPA), 0x22);
}

static void test_tlb__first_store_through_a_clean_translation__sets_the_dirty_flag(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];
	u64 leaf;

	v->eptp = machine_new_eptp(m, EPT_EPTP_AD);
	machine_map(m, v->eptp, GPA, HPA, 7);
	leaf = machine_entry(m, v->eptp, GPA, 1);
	vcpu_run(v, 0);
	read64(v, GPA);
	assert_int_equal(machine_peek(m, leaf) & (EPT_ENTRY_A | EPT_ENTRY_D), EPT_ENTRY_A);
	write64(v, GPA, 1);
	assert_int_equal(machine_peek(m, leaf) & (EPT_ENTRY_A | EPT_ENTRY_D), EPT_ENTRY_A | EPT_ENTRY_D);
	/* A host that clears D without INVEPT is not told of later stores. */
	machine_poke(m, leaf, machine_peek(m, leaf) & ~EPT_ENTRY_D);
	write64(v, GPA, 2);
	assert_int_equal(machine_peek(m, leaf) & EPT_ENTRY_D, 0);
	cpu_invept(&m->cpu, 0, v->eptp);
	write64(v, GPA, 3);
	assert_int_equal(machine_peek(m, leaf) & EPT_ENTRY_D, EPT_ENTRY_D);
}

static enum exit_action migrate_and_map(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit)
{
	vcpu_preempt(vcpu);
	vcpu_run(vcpu, 3);
	return map_and_retry(m, vcpu, exit);
}

static void test_vcpu_access__migrated_inside_the_exit__goes_on_with_the_new_core(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	m->on_exit = migrate_and_map;
	vcpu_run(v, 0);
	write64(v, GPA, 7);
	assert_int_equal(machine_peek(m, HPA), 7);
	assert_int_equal(m->cpu.pcpu[0].tlb_miss, 1);
	assert_int_equal(m->cpu.pcpu[3].tlb_miss, 1);
	assert_null(m->cpu.pcpu[0].current);
	assert_ptr_equal(m->cpu.pcpu[3].current, v);
	assert_true(m->cpu.pcpu[0].tlb[(GPA >> 12) % PCPU_TLB_ENTRIES].tag == 0);
}

/* Code that runs on no core is our bug, also where its core still holds the translation. */
static void test_vcpu_access__not_running__asserts(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);
	int status = 0;
	pid_t child;

	read64(v, GPA);
	vcpu_preempt(v);
	child = fork();
	if (!child) {
		signal(SIGABRT, SIG_DFL);
		fclose(stderr);
		read64(v, GPA);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void test_trace__loads_and_stores__told_on_hit_and_miss_with_their_bytes(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m, 7);
	struct trace_event ev = { 0 };

	machine_listen(m, TRACE_CPU_STORE);
	machine_listen(m, TRACE_CPU_LOAD);
	write64(v, GPA, 0x42);
	write64(v, GPA + 8, 0x4243);
	assert_int_equal(machine_traced(m, TRACE_CPU_STORE, &ev), 2);
	assert_int_equal(ev.a, 10);
	assert_int_equal(ev.b, GPA + 8);
	assert_int_equal(ev.c, HPA + 8);
	assert_int_equal(ev.d, 8);
	assert_int_equal(m->record_data[1][0], 0x43);
	read64(v, GPA);
	assert_int_equal(machine_traced(m, TRACE_CPU_LOAD, &ev), 1);
	assert_int_equal(ev.c, HPA);
	assert_int_equal(m->record_data[2][0], 0x42);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(test_vcpu_write__mapped__reaches_memory_and_reads_back),
		MACHINE_TEST(test_vcpu_write__page_mapped_by_the_handler__one_violation_for_a_thousand_touches),
		MACHINE_TEST(test_vcpu_access__qualification__says_tried_and_allowed),
		MACHINE_TEST(test_vcpu_access__misconfigured__exits_49_and_is_emulated),
		MACHINE_TEST(test_vcpu_access__handler_never_maps__given_up_after_eight_retries),
		MACHINE_TEST(test_vcpu_access__progress_between_retries__each_piece_has_its_own),
		MACHINE_TEST(test_vcpu_access__exit_in_an_unaligned_access__in_naturally_aligned_pieces),
		MACHINE_TEST(test_vcpu_write__exit__handler_is_told_the_value_of_the_piece),
		MACHINE_TEST(test_vcpu_write__across_pages__goes_to_both),
		MACHINE_TEST(test_vcpu_write__next_page_absent__first_page_needs_no_exit),
		MACHINE_TEST(test_vcpu_access__registers__in_pieces_and_charged),
		MACHINE_TEST(test_vcpu_read__mapped_to_nobody__all_ones_and_no_exit),
		MACHINE_TEST(test_vcpu_read__address_beyond_the_ept__violation_and_no_wrap),
		MACHINE_TEST(test_tlb__entry_removed__stale_until_invept_on_that_core),
		MACHINE_TEST(test_tlb__entry_redirected__old_page_until_invept),
		MACHINE_TEST(test_tlb__doorbell_page_removed__stale_store_still_rings),
		MACHINE_TEST(test_tlb__two_vms_on_one_core__each_sees_its_own),
		MACHINE_TEST(test_invept__single_context__leaves_other_eptps),
		MACHINE_TEST(test_tlb__permission_widened__one_spurious_violation_then_walks),
		MACHINE_TEST(test_tlb__permission_narrowed__stale_until_invept),
		MACHINE_TEST(test_tlb__violation__invalidates_the_cached_translation),
		MACHINE_TEST(test_tlb__first_store_through_a_clean_translation__sets_the_dirty_flag),
		MACHINE_TEST(test_vcpu_access__migrated_inside_the_exit__goes_on_with_the_new_core),
		MACHINE_TEST(test_vcpu_access__not_running__asserts),
		MACHINE_TEST(test_trace__loads_and_stores__told_on_hit_and_miss_with_their_bytes),
	};

	return cmocka_run_group_tests_name("cpu_access", tests, NULL, NULL);
}
