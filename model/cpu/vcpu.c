// SPDX-License-Identifier: GPL-2.0
/* A vCPU's life on cores: entry, leaving, exits counted. */
#include <assert.h>
#include <string.h>

#include "cpu/internal.h"

void cpu_init(struct cpu *cpu, unsigned int nr_pcpus, const struct cpu_costs *costs, struct bus *bus,
	      struct sched *sched, struct trace *trace)
{
	assert(nr_pcpus && nr_pcpus <= CPU_PCPUS_MAX);
	memset(cpu, 0, offsetof(struct cpu, pcpu) + nr_pcpus * sizeof(cpu->pcpu[0]));
	cpu->costs = *costs;
	cpu->bus = bus;
	cpu->sched = sched;
	cpu->trace = trace;
	cpu->nr_pcpus = nr_pcpus;
	for (unsigned int i = 0; i < nr_pcpus; i++)
		cpu->pcpu[i].apic_id = i;
}

void vcpu_init(struct vcpu *vcpu, u32 id, struct cpu *cpu, const struct vcpu_ops *ops, void *opaque)
{
	*vcpu = (struct vcpu){ .id = id, .cpu = cpu, .ops = ops, .opaque = opaque, .state = VCPU_PREEMPTED };
}

void vcpu_run(struct vcpu *vcpu, unsigned int pcpu)
{
	struct cpu *cpu = vcpu->cpu;

	assert(vcpu->state != VCPU_RUNNING);
	assert(pcpu < cpu->nr_pcpus && !cpu->pcpu[pcpu].current);
	cpu->pcpu[pcpu].current = vcpu;
	vcpu->pcpu = pcpu;
	vcpu->state = VCPU_RUNNING;
	vcpu_enter(vcpu);
}

static void leave_core(struct vcpu *vcpu, enum vcpu_state state)
{
	assert(vcpu->state == VCPU_RUNNING);
	vcpu->cpu->pcpu[vcpu->pcpu].current = NULL;
	vcpu->state = state;
}

void vcpu_preempt(struct vcpu *vcpu)
{
	leave_core(vcpu, VCPU_PREEMPTED);
}

void vcpu_halt(struct vcpu *vcpu)
{
	vcpu_count_exit(vcpu, EXIT_HLT, 0);
	leave_core(vcpu, VCPU_HALTED);
}

void vcpu_count_exit(struct vcpu *vcpu, enum exit_reason reason, u64 gpa)
{
	assert(reason < EXIT_REASON_COUNT);
	vcpu->exits[reason]++;
	vcpu->spent_ps += vcpu->cpu->costs.exit_ps;
	trace4(vcpu->cpu->trace, TRACE_VCPU_EXIT, 0, vcpu->id, reason, gpa, 0);
}
