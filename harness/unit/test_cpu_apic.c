// SPDX-License-Identifier: GPL-2.0
/* Interrupts: priorities (SDM 30.2), posted-interrupt processing (30.6), what goes to the host. */
#include "test_cpu_machine.h"

#define PID	0x200000ULL
#define ANV	0xF2

static void post(struct machine *m, u64 pid, u8 vector)
{
	u64 word = pid + 8 * (vector / 64);

	machine_poke(m, word, machine_peek(m, word) | 1ULL << (vector % 64));
	machine_poke(m, pid + 32, machine_peek(m, pid + 32) | 1);
}

static struct vcpu *running(struct machine *m)
{
	struct vcpu *v = &m->vcpu[0];

	v->pid.v = PID;
	v->notification_vector = ANV;
	machine_poke(m, PID + 32, (u64)ANV << 16 | 1ULL << 32);
	vcpu_run(v, 1);
	m->irq_ready = 0;
	return v;
}

static void test_irq_accept__several_requested__highest_class_first(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	vcpu_inject(v, 0x31);
	vcpu_inject(v, 0x52);
	vcpu_inject(v, 0x51);
	vcpu_inject(v, 0xFF);
	assert_int_equal(vcpu_irq_accept(v), 0xFF);
	assert_int_equal(vcpu_irq_accept(v), -1);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), 0x52);
	assert_false(vcpu_irq_pending(v));	/* 0x51 is of the same class */
	vcpu_eoi(v);
	assert_true(vcpu_irq_pending(v));
	assert_int_equal(vcpu_irq_accept(v), 0x51);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), 0x31);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), -1);
}

static void test_irq_accept__higher_class_arrives__nests_and_eoi_ends_the_highest(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	vcpu_inject(v, 0x41);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
	vcpu_inject(v, 0x4F);
	assert_int_equal(vcpu_irq_accept(v), -1);
	vcpu_inject(v, 0x50);
	assert_int_equal(vcpu_irq_accept(v), 0x50);
	vcpu_eoi(v);
	assert_int_equal(v->visr[1], 1ULL << (0x41 - 64));
	assert_int_equal(vcpu_irq_accept(v), -1);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), 0x4F);
}

static void test_irq_accept__vector_below_16__never(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	for (u8 vector = 0; vector < 16; vector++)
		vcpu_inject(v, vector);
	assert_int_equal(vcpu_irq_accept(v), -1);
	vcpu_inject(v, 16);
	assert_int_equal(vcpu_irq_accept(v), 16);
}

static void test_eoi__nothing_in_service__harmless(void **state)
{
	struct machine *m = *state;

	vcpu_eoi(&m->vcpu[0]);
	assert_int_equal(vcpu_irq_accept(&m->vcpu[0]), -1);
}

static void test_irq_accept__every_vector__taken_once_in_order(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = &m->vcpu[0];

	for (int vector = 16; vector < 256; vector++)
		vcpu_inject(v, (u8)vector);
	for (int vector = 255; vector >= 16; vector--) {
		assert_int_equal(vcpu_irq_accept(v), vector);
		vcpu_eoi(v);
	}
	assert_int_equal(vcpu_irq_accept(v), -1);
}

static void test_deliver__notification_to_a_running_vcpu__no_exit_and_on_cleared(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	u64 spent = v->spent_ps;
	struct trace_event ev = { 0 };

	machine_listen(m, TRACE_IRQ_ACCEPT);
	post(m, PID, 0x41);
	post(m, PID, 0xC3);
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(m->irq_ready, 1);
	assert_int_equal(m->host_irqs, 0);
	assert_int_equal(v->exits[EXIT_EXTERNAL_INTERRUPT], 0);
	assert_int_equal(v->posted, 2);
	assert_int_equal(v->spent_ps - spent, test_costs.posted_delivery_ps);
	/* ON is cleared, the host's fields stay; PIR is empty. */
	assert_int_equal(machine_peek(m, PID + 32), (u64)ANV << 16 | 1ULL << 32);
	for (int i = 0; i < 4; i++)
		assert_int_equal(machine_peek(m, PID + 8 * (u64)i), 0);
	assert_int_equal(machine_traced(m, TRACE_IRQ_ACCEPT, &ev), 2);
	assert_int_equal(ev.a, 10);
	assert_int_equal(ev.b, 0xC3);
	assert_int_equal(ev.c, 1);
	assert_int_equal(vcpu_irq_accept(v), 0xC3);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), -1);
}

static void test_deliver__notification_with_empty_pir__clears_on_only(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	machine_poke(m, PID + 32, machine_peek(m, PID + 32) | 1);
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(machine_peek(m, PID + 32) & 1, 0);
	assert_int_equal(m->irq_ready, 0);
	assert_int_equal(v->posted, 0);
	assert_int_equal(m->host_irqs, 0);
}

static void test_deliver__notification_of_a_vector_of_a_class_in_service__waits_for_eoi(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	vcpu_inject(v, 0x48);
	assert_int_equal(vcpu_irq_accept(v), 0x48);
	m->irq_ready = 0;
	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(m->irq_ready, 0);
	vcpu_eoi(v);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
}

static void test_deliver__notification_where_no_vcpu_runs__host_gets_it_and_descriptor_stays(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	vcpu_preempt(v);
	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(m->host_irqs, 1);
	assert_int_equal(m->host_pcpu, 1);
	assert_int_equal(m->host_vector, ANV);
	assert_int_equal(machine_peek(m, PID + 32) & 1, 1);
	assert_int_equal(m->irq_ready, 0);
	assert_int_equal(v->exits[EXIT_EXTERNAL_INTERRUPT], 0);
}

/* INT-09: the notification goes to the core the vCPU has left; the entry elsewhere still sees the interrupt. */
static void test_deliver__vcpu_moved__stale_notification_is_harmless(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m), *other = &m->vcpu[1];

	vcpu_preempt(v);
	other->pid.v = PID + 64;
	other->notification_vector = ANV;
	vcpu_run(other, 1);
	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(vcpu_irq_accept(other), -1);
	assert_int_equal(other->posted, 0);
	vcpu_run(v, 3);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
}

static void test_deliver__other_vector_while_a_vcpu_runs__external_interrupt_exit(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	u64 spent = v->spent_ps;
	struct trace_event ev = { 0 };

	machine_listen(m, TRACE_VCPU_EXIT);
	machine_listen(m, TRACE_IRQ_ACCEPT);
	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, 1, 0x33, 0);
	assert_int_equal(v->exits[EXIT_EXTERNAL_INTERRUPT], 1);
	assert_int_equal(v->spent_ps - spent, test_costs.exit_ps);
	assert_int_equal(m->host_irqs, 1);
	assert_int_equal(m->host_vector, 0x33);
	assert_int_equal(machine_traced(m, TRACE_VCPU_EXIT, &ev), 1);
	assert_int_equal(ev.b, 1);
	assert_int_equal(machine_traced(m, TRACE_IRQ_ACCEPT, NULL), 2);
	assert_int_equal(m->record[0].c, CPU_IRQ_HOST);
	assert_int_equal(m->record[0].b, 0x33);
	/* The entry after the exit takes the descriptor over. */
	assert_int_equal(v->posted, 0);
	assert_int_equal(m->irq_ready, 1);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
}

static void test_deliver__notification_vector_without_descriptor__host_interrupt(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	v->pid.v = 0;
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(m->host_irqs, 1);
	v->pid.v = PID + 8;
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(m->host_irqs, 2);
	v->pid.v = NOBODY_BASE;
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(m->host_irqs, 3);
	assert_int_equal(v->posted, 0);
}

static void test_deliver__nmi_and_init__never_posted(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, 1, ANV, CPU_IRQ_MODE_NMI);
	assert_int_equal(v->exits[EXIT_EXCEPTION_NMI], 1);
	cpu_deliver(&m->cpu, 1, 0, CPU_IRQ_MODE_INIT);
	assert_int_equal(v->exits[EXIT_INIT], 1);
	assert_int_equal(m->host_irqs, 2);
	assert_int_equal(v->posted, 0);
}

static void test_deliver__illegal_vector_or_no_such_core__dropped(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	cpu_deliver(&m->cpu, 1, 15, 0);
	cpu_deliver(&m->cpu, NR_PCPUS, 0x41, 0);
	cpu_deliver(&m->cpu, ~0U, 0x41, 0);
	assert_int_equal(m->cpu.irq_dropped, 3);
	assert_int_equal(m->host_irqs, 0);
	assert_int_equal(v->exits[EXIT_EXTERNAL_INTERRUPT], 0);
	cpu_deliver(&m->cpu, 1, 16, 0);
	assert_int_equal(m->host_irqs, 1);
}

static void test_deliver__apic_ids_renumbered__core_found_by_id(void **state)
{
	struct machine *m = *state;

	m->cpu.pcpu[0].apic_id = 2;
	m->cpu.pcpu[2].apic_id = 0x1FF;
	cpu_deliver(&m->cpu, 2, 0x41, 0);
	assert_int_equal(m->host_pcpu, 0);
	cpu_deliver(&m->cpu, 0x1FF, 0x41, 0);
	assert_int_equal(m->host_pcpu, 2);
	assert_int_equal(m->host_irqs, 2);
}

static void test_vcpu_run__on_set__pir_is_taken_over(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	struct trace_event ev = { 0 };

	vcpu_preempt(v);
	machine_listen(m, TRACE_IRQ_ACCEPT);
	post(m, PID, 0x41);
	vcpu_run(v, 2);
	assert_int_equal(m->irq_ready, 1);
	assert_int_equal(machine_peek(m, PID + 32) & 1, 0);
	assert_int_equal(machine_traced(m, TRACE_IRQ_ACCEPT, &ev), 1);
	assert_int_equal(ev.c, CPU_IRQ_SYNCED);
	assert_int_equal(v->posted, 0);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
}

/* INT-08: posted under SN, so ON is clear. A host that does not set it again loses the interrupt until it syncs. */
static void test_vcpu_run__pir_without_on__not_looked_at_until_synced(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	vcpu_preempt(v);
	post(m, PID, 0x41);
	machine_poke(m, PID + 32, machine_peek(m, PID + 32) & ~1ULL);
	vcpu_run(v, 1);
	assert_int_equal(vcpu_irq_accept(v), -1);
	assert_true(vcpu_pid_sync(v));
	assert_false(vcpu_pid_sync(v));
	assert_int_equal(vcpu_irq_accept(v), 0x41);
}

static void test_pid_sync__sn_nv_ndst__untouched(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	u64 control = 0x12345678ULL << 32 | 0xABULL << 16 | 2;

	machine_poke(m, PID + 32, control | 1);
	machine_poke(m, PID + 40, 0x5A5A);
	assert_false(vcpu_pid_sync(v));
	assert_int_equal(machine_peek(m, PID + 32), control);
	assert_int_equal(machine_peek(m, PID + 40), 0x5A5A);
}

static enum exit_action notify_inside_exit(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit)
{
	(void)exit;
	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, vcpu->pcpu, ANV, 0);
	assert_int_equal(m->irq_ready, 0);
	assert_int_equal(m->host_irqs, 1);
	return EXIT_EMULATED;
}

static void test_deliver__notification_inside_an_exit__host_interrupt_then_taken_on_entry(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	u64 val;

	m->on_exit = notify_inside_exit;
	vcpu_read(v, (gpa_t){ 0x1000 }, &val, sizeof(val));
	assert_int_equal(v->exits[EXIT_EXTERNAL_INTERRUPT], 0);
	assert_int_equal(v->posted, 0);
	assert_int_equal(m->irq_ready, 1);
	assert_int_equal(vcpu_irq_accept(v), 0x41);
	/* Back in the guest, notifications are posted again. */
	post(m, PID, 0x51);
	cpu_deliver(&m->cpu, 1, ANV, 0);
	assert_int_equal(v->posted, 1);
}

static void preempt_zero(struct machine *m)
{
	vcpu_preempt(&m->vcpu[0]);
	vcpu_run(&m->vcpu[1], 1);
}

static void test_deliver__host_switches_vcpus_on_an_interrupt__old_one_is_left_alone(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);

	m->on_host_irq = preempt_zero;
	post(m, PID, 0x41);
	cpu_deliver(&m->cpu, 1, 0x33, 0);
	assert_int_equal(v->state, VCPU_PREEMPTED);
	assert_int_equal(v->outside, 0);
	assert_ptr_equal(m->cpu.pcpu[1].current, &m->vcpu[1]);
	assert_int_equal(m->vcpu[1].outside, 0);
	assert_int_equal(machine_peek(m, PID + 32) & 1, 1);
	assert_int_equal(m->irq_ready, 0);
}

static void test_vcpu_halt__counts_an_exit_and_frees_the_core(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	u64 spent = v->spent_ps;

	vcpu_halt(v);
	assert_int_equal(v->state, VCPU_HALTED);
	assert_int_equal(v->exits[EXIT_HLT], 1);
	assert_int_equal(v->spent_ps - spent, test_costs.exit_ps);
	assert_null(m->cpu.pcpu[1].current);
	vcpu_run(v, 2);
	assert_int_equal(v->state, VCPU_RUNNING);
	assert_int_equal(v->pcpu, 2);
	vcpu_preempt(v);
	assert_int_equal(v->exits[EXIT_HLT], 1);
	for (int i = 0; i < EXIT_REASON_COUNT; i++)
		assert_int_equal(v->exits[i], i == EXIT_HLT);
}

static void test_vcpu_inject__running__announced_at_once(void **state)
{
	struct machine *m = *state;
	struct vcpu *v = running(m);
	struct trace_event ev = { 0 };

	machine_listen(m, TRACE_IRQ_ACCEPT);
	vcpu_inject(v, 0x61);
	assert_int_equal(m->irq_ready, 1);
	assert_int_equal(machine_traced(m, TRACE_IRQ_ACCEPT, &ev), 1);
	assert_int_equal(ev.c, CPU_IRQ_INJECTED);
	vcpu_preempt(v);
	vcpu_inject(v, 0x71);
	assert_int_equal(m->irq_ready, 1);
	vcpu_run(v, 1);
	assert_int_equal(m->irq_ready, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(test_irq_accept__several_requested__highest_class_first),
		MACHINE_TEST(test_irq_accept__higher_class_arrives__nests_and_eoi_ends_the_highest),
		MACHINE_TEST(test_irq_accept__vector_below_16__never),
		MACHINE_TEST(test_eoi__nothing_in_service__harmless),
		MACHINE_TEST(test_irq_accept__every_vector__taken_once_in_order),
		MACHINE_TEST(test_deliver__notification_to_a_running_vcpu__no_exit_and_on_cleared),
		MACHINE_TEST(test_deliver__notification_with_empty_pir__clears_on_only),
		MACHINE_TEST(test_deliver__notification_of_a_vector_of_a_class_in_service__waits_for_eoi),
		MACHINE_TEST(test_deliver__notification_where_no_vcpu_runs__host_gets_it_and_descriptor_stays),
		MACHINE_TEST(test_deliver__vcpu_moved__stale_notification_is_harmless),
		MACHINE_TEST(test_deliver__other_vector_while_a_vcpu_runs__external_interrupt_exit),
		MACHINE_TEST(test_deliver__notification_vector_without_descriptor__host_interrupt),
		MACHINE_TEST(test_deliver__nmi_and_init__never_posted),
		MACHINE_TEST(test_deliver__illegal_vector_or_no_such_core__dropped),
		MACHINE_TEST(test_deliver__apic_ids_renumbered__core_found_by_id),
		MACHINE_TEST(test_vcpu_run__on_set__pir_is_taken_over),
		MACHINE_TEST(test_vcpu_run__pir_without_on__not_looked_at_until_synced),
		MACHINE_TEST(test_pid_sync__sn_nv_ndst__untouched),
		MACHINE_TEST(test_deliver__notification_inside_an_exit__host_interrupt_then_taken_on_entry),
		MACHINE_TEST(test_deliver__host_switches_vcpus_on_an_interrupt__old_one_is_left_alone),
		MACHINE_TEST(test_vcpu_halt__counts_an_exit_and_frees_the_core),
		MACHINE_TEST(test_vcpu_inject__running__announced_at_once),
	};

	return cmocka_run_group_tests_name("cpu_apic", tests, NULL, NULL);
}
