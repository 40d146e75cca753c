// SPDX-License-Identifier: GPL-2.0
/*
 * Where a vCPU runs, and what its posted-interrupt descriptor says about it: the host's part
 * of the protocol, after KVM's vmx_vcpu_pi_load(), vmx_vcpu_pi_put() and pi_enable_wakeup_handler().
 */

#include "host.h"
#include "sites.h"
#include "vm/vm.h"

static u64 control_rd(struct gvcpu *gv)
{
	bool ok;

	return bus_rd64(&gv->vm->m->bus, (hpa_t){ gv->vcpu.pid.v + PID_CONTROL_OFF }, &ok);
}

static void control_wr(struct gvcpu *gv, u64 c)
{
	bus_wr64(&gv->vm->m->bus, (hpa_t){ gv->vcpu.pid.v + PID_CONTROL_OFF }, c);
}

static bool pir_empty(struct gvcpu *gv)
{
	u64 any = 0;
	bool ok;
	u32 i;

	for (i = 0; i < 4; i++)
		any |= bus_rd64(&gv->vm->m->bus, (hpa_t){ gv->vcpu.pid.v + i * 8 }, &ok);
	return any == 0;
}

/* In xAPIC mode the id stands in bits 15:8 of the field (9.11). */
u32 host_ndst(const struct machine *m, u32 pcpu)
{
	return m->cfg.vtd.x2apic ? m->cpu.pcpu[pcpu].apic_id : m->cpu.pcpu[pcpu].apic_id << 8;
}

/* To those who watch: what would have been lost is not. */
static void say_guard(struct gvcpu *gv, u64 what)
{
	trace4(&gv->vm->m->trace, SIM_TRACE_LIOV + LIOV_TRACE_GUARD, 0, gv->vm->cfg.id,
	       (u64)LIOV_BACKEND << 32 | LIOV_GUARD_HOME, what, gv->index);
}

void host_vcpu_run(struct gvcpu *gv)
{
	u32 omit = gv->vm->m->host->omit;
	u64 c = control_rd(gv) & ~(PID_CONTROL_NV | PID_CONTROL_SN);

	c |= FIELD_PREP(PID_CONTROL_NV, HOST_NV_POSTED);
	if (!(omit & HOST_OMIT_NDST) && HOST_STEP(host_vcpu_ndst))
		c = (c & ~PID_CONTROL_NDST) | FIELD_PREP(PID_CONTROL_NDST, host_ndst(gv->vm->m, gv->vcpu.pcpu));
	/* While SN was set a vector may have come in without ON: look again (KVM c112b5f50232). */
	if (!pir_empty(gv) && !(c & PID_CONTROL_ON) && !(omit & HOST_OMIT_PIR_CHECK) && HOST_STEP(host_pir_check)) {
		c |= PID_CONTROL_ON;
		say_guard(gv, PID_CONTROL_ON);
	}
	control_wr(gv, c);
	vcpu_run(&gv->vcpu, gv->vcpu.pcpu);
	if (vcpu_irq_pending(&gv->vcpu))
		vm_irq_ready(gv, &gv->vcpu);
}

void host_vcpu_preempt(struct gvcpu *gv)
{
	vcpu_preempt(&gv->vcpu);
	control_wr(gv, control_rd(gv) | PID_CONTROL_SN);
}

/* Off its core and onto another: the descriptor names the new one before the vCPU is entered there. */
void host_vcpu_migrate(struct gvcpu *gv, u32 pcpu)
{
	if (gv->vcpu.state == VCPU_RUNNING)
		host_vcpu_preempt(gv);
	gv->vcpu.pcpu = pcpu;
	host_vcpu_run(gv);
	if (!(gv->vm->m->host->omit & HOST_OMIT_NDST))
		say_guard(gv, PID_CONTROL_NDST);
}

/* The wake-up vector instead of the notification; what came in before it was set is seen at once. */
void host_vcpu_halt(struct gvcpu *gv)
{
	u64 c = (control_rd(gv) & ~PID_CONTROL_NV) | FIELD_PREP(PID_CONTROL_NV, HOST_NV_WAKEUP);

	vcpu_halt(&gv->vcpu);
	control_wr(gv, c);
	if (c & PID_CONTROL_ON)
		cpu_deliver(&gv->vm->m->cpu, gv->vm->m->cpu.pcpu[gv->vcpu.pcpu].apic_id, HOST_NV_WAKEUP, 0);
}

/* Wake every halted vCPU of that core that has something outstanding. */
void host_wakeup(struct machine *m, unsigned int pcpu)
{
	u32 i;

	for (i = 0; i < m->nr_vcpus; i++) {
		struct gvcpu *gv = m->gvcpus[i];

		if (gv && gv->vcpu.state == VCPU_HALTED && gv->vcpu.pcpu == pcpu && (control_rd(gv) & PID_CONTROL_ON))
			task_wake_all(&gv->idle_wait);
	}
}
