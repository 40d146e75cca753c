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

/* One change of the control word: KVM uses cmpxchg. */
static u64 control_change(struct gvcpu *gv, u64 clear, u64 set)
{
	u64 c = (control_rd(gv) & ~clear) | set;

	control_wr(gv, c);
	return c;
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
	struct machine *m = gv->vm->m;
	u64 ndst = FIELD_PREP(PID_CONTROL_NDST, host_ndst(m, gv->vcpu.pcpu)), c;

	if ((m->host->omit & HOST_OMIT_NDST) || !HOST_STEP(host_vcpu_ndst))
		ndst = control_rd(gv) & PID_CONTROL_NDST;
	c = control_change(gv, PID_CONTROL_NV | PID_CONTROL_NDST | PID_CONTROL_SN, FIELD_PREP(PID_CONTROL_NV, HOST_NV_POSTED) | ndst);
	schedule_point(m);
	/* While SN was set a vector may have come in without ON: look again (KVM c112b5f50232). */
	if (!pir_empty(gv) && !(c & PID_CONTROL_ON) && !(m->host->omit & HOST_OMIT_PIR_CHECK) && HOST_STEP(host_pir_check)) {
		control_change(gv, 0, PID_CONTROL_ON);
		say_guard(gv, PID_CONTROL_ON);
	}
	schedule_point(m);
	/* Two tasks that stand on it may have found it off its core. */
	if (gv->vcpu.state == VCPU_RUNNING)
		return;
	vcpu_run(&gv->vcpu, gv->vcpu.pcpu);
	if (vcpu_irq_pending(&gv->vcpu))
		vm_irq_ready(gv, &gv->vcpu);
}

void host_vcpu_preempt(struct gvcpu *gv)
{
	vcpu_preempt(&gv->vcpu);
	schedule_point(gv->vm->m);
	/* It may have been run again meanwhile. */
	if (gv->vcpu.state == VCPU_PREEMPTED)
		control_change(gv, 0, PID_CONTROL_SN);
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
	struct machine *m = gv->vm->m;
	u64 c;

	gv->kicked = false;
	vcpu_halt(&gv->vcpu);
	schedule_point(m);
	/* Another task that stands on it may have run it again. */
	if (gv->vcpu.state != VCPU_HALTED)
		return;
	c = control_change(gv, PID_CONTROL_NV, FIELD_PREP(PID_CONTROL_NV, HOST_NV_WAKEUP));
	if ((c & PID_CONTROL_ON) && !(m->host->omit & HOST_OMIT_WAKEUP_RECHECK))
		cpu_deliver(&m->cpu, m->cpu.pcpu[gv->vcpu.pcpu].apic_id, HOST_NV_WAKEUP, 0);
}

/* Wake every halted vCPU of that core that has something outstanding. */
void host_wakeup(struct machine *m, unsigned int pcpu)
{
	u32 i;

	for (i = 0; i < m->nr_vcpus; i++) {
		struct gvcpu *gv = m->gvcpus[i];

		if (gv && gv->vcpu.state == VCPU_HALTED && gv->vcpu.pcpu == pcpu && (control_rd(gv) & PID_CONTROL_ON)) {
			gv->kicked = true;
			task_wake_all(&gv->idle_wait);
		}
	}
}
