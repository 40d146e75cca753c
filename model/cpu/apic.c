// SPDX-License-Identifier: GPL-2.0
/*
 * Local APIC and posted-interrupt processing: Intel SDM volume 3, 11.5.2 (illegal vectors),
 * 30.2 (virtual interrupts), 30.6 (posted interrupts).
 */
#include "cpu/internal.h"

#define VECTOR_LOWEST 16
#define VECTOR_CLASS(vector) ((vector) >> 4)
#define NO_VCPU (~0ULL)

static int highest_vector(const u64 bits[4])
{
	for (int i = 3; i >= 0; i--) {
		if (bits[i])
			return i * 64 + 63 - __builtin_clzll(bits[i]);
	}
	return -1;
}

/* The vector to deliver now, or -1: 30.2.1 and 30.2.2 with a VTPR of 0. */
static int pending_vector(const struct vcpu *vcpu)
{
	int requested = highest_vector(vcpu->virr);
	int in_service = highest_vector(vcpu->visr);

	if (requested < 0 || VECTOR_CLASS(requested) <= (in_service < 0 ? 0 : VECTOR_CLASS(in_service)))
		return -1;
	return requested;
}

bool vcpu_irq_pending(const struct vcpu *vcpu)
{
	return pending_vector(vcpu) >= 0;
}

int vcpu_irq_accept(struct vcpu *vcpu)
{
	int vector = pending_vector(vcpu);

	if (vector < 0)
		return -1;
	vcpu->virr[vector / 64] &= ~BIT_ULL(vector % 64);
	vcpu->visr[vector / 64] |= BIT_ULL(vector % 64);
	return vector;
}

void vcpu_eoi(struct vcpu *vcpu)
{
	int vector = highest_vector(vcpu->visr);

	if (vector >= 0)
		vcpu->visr[vector / 64] &= ~BIT_ULL(vector % 64);
}

static void announce(struct vcpu *vcpu)
{
	if (vcpu_in_guest(vcpu) && vcpu_irq_pending(vcpu))
		vcpu->ops->irq_ready(vcpu->opaque, vcpu);
}

void vcpu_inject(struct vcpu *vcpu, u8 vector)
{
	vcpu->virr[vector / 64] |= BIT_ULL(vector % 64);
	trace4(vcpu->cpu->trace, TRACE_IRQ_ACCEPT, 0, vcpu->id, vector, CPU_IRQ_INJECTED, 0);
	announce(vcpu);
}

static bool pid_read_control(const struct vcpu *vcpu, u64 *control)
{
	bool ok = false;

	if (vcpu->pid.v && vcpu->pid.v % PID_ALIGN == 0)
		*control = bus_rd64(vcpu->cpu->bus, (hpa_t){ vcpu->pid.v + PID_CONTROL_OFF }, &ok);
	return ok;
}

/*
 * Steps 3 and 5 of 30.6. ON goes first: what is posted after that raises a notification of its own, so
 * nothing can be left in PIR unannounced. Returns how many vectors were requested.
 */
static unsigned int pid_take(struct vcpu *vcpu, enum cpu_irq_route route)
{
	struct bus *bus = vcpu->cpu->bus;
	unsigned int moved = 0;
	u64 control;
	bool ok;

	if (!pid_read_control(vcpu, &control))
		return 0;
	if (control & PID_CONTROL_ON)
		bus_wr64(bus, (hpa_t){ vcpu->pid.v + PID_CONTROL_OFF }, control & ~PID_CONTROL_ON);

	for (unsigned int i = 0; i < 4; i++) {
		hpa_t addr = { vcpu->pid.v + PID_PIR_OFF + 8 * i };
		u64 pir = bus_rd64(bus, addr, &ok);

		if (!pir)
			continue;
		bus_wr64(bus, addr, 0);
		vcpu->virr[i] |= pir;
		moved += (unsigned int)__builtin_popcountll(pir);
		for (; pir; pir &= pir - 1)
			trace4(vcpu->cpu->trace, TRACE_IRQ_ACCEPT, 0, vcpu->id, i * 64 + (u64)__builtin_ctzll(pir),
			       route, 0);
	}
	return moved;
}

bool vcpu_pid_sync(struct vcpu *vcpu)
{
	return pid_take(vcpu, CPU_IRQ_SYNCED) != 0;
}

void vcpu_enter(struct vcpu *vcpu)
{
	u64 control;

	if (!vcpu_in_guest(vcpu))
		return;
	if (pid_read_control(vcpu, &control) && (control & PID_CONTROL_ON))
		vcpu_pid_sync(vcpu);
	announce(vcpu);
}

static struct pcpu *find_pcpu(struct cpu *cpu, u32 apic_id)
{
	if (apic_id < cpu->nr_pcpus && cpu->pcpu[apic_id].apic_id == apic_id)
		return &cpu->pcpu[apic_id];
	for (unsigned int i = 0; i < cpu->nr_pcpus; i++) {
		if (cpu->pcpu[i].apic_id == apic_id)
			return &cpu->pcpu[i];
	}
	return NULL;
}

/* 30.6: the core takes the descriptor over and goes on in the guest. SN is not looked at. */
static void process_posted(struct vcpu *vcpu)
{
	unsigned int moved = pid_take(vcpu, CPU_IRQ_POSTED);

	vcpu->posted += moved;
	vcpu->spent_ps += vcpu->cpu->costs.posted_delivery_ps;
	if (moved)
		announce(vcpu);
}

static enum exit_reason exit_of_mode(u8 mode)
{
	if (mode == CPU_IRQ_MODE_NMI)
		return EXIT_EXCEPTION_NMI;
	return mode == CPU_IRQ_MODE_INIT ? EXIT_INIT : EXIT_EXTERNAL_INTERRUPT;
}

/*
 * The host may do anything meanwhile, even take the vCPU off the core; if it is still there the host enters it again.
 * What NMI, INIT, SMI or start-up would do to a core is not modelled: that they got here is what is to be seen.
 */
static void deliver_to_host(struct cpu *cpu, struct pcpu *pcpu, u8 vector, u8 mode)
{
	struct vcpu *vcpu = vcpu_in_guest(pcpu->current) ? pcpu->current : NULL;

	trace4(cpu->trace, TRACE_IRQ_ACCEPT, 0, vcpu ? vcpu->id : NO_VCPU, vector, CPU_IRQ_HOST, mode);
	if (vcpu) {
		vcpu_count_exit(vcpu, exit_of_mode(mode), 0);
		vcpu->outside++;
	}
	if (cpu->host_irq)
		cpu->host_irq(cpu->host_opaque, (unsigned int)(pcpu - cpu->pcpu), vector);
	if (vcpu) {
		vcpu->outside--;
		vcpu_enter(vcpu);
	}
}

void cpu_deliver(void *opaque, u32 dest, u8 vector, u8 mode)
{
	struct cpu *cpu = opaque;
	struct pcpu *pcpu = find_pcpu(cpu, dest);
	bool has_vector = mode == CPU_IRQ_MODE_FIXED || mode == CPU_IRQ_MODE_LOWEST;
	u64 control;

	if (!pcpu || (has_vector && vector < VECTOR_LOWEST)) {
		cpu->irq_dropped++;
		return;
	}
	if (has_vector && vcpu_in_guest(pcpu->current) && vector == pcpu->current->notification_vector &&
	    pid_read_control(pcpu->current, &control))
		process_posted(pcpu->current);
	else
		deliver_to_host(cpu, pcpu, vector, mode);
}
