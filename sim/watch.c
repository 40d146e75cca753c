// SPDX-License-Identifier: GPL-2.0
#include "watch.h"
#include "vm/vm.h"

_Static_assert(ORACLE_VMS_MAX >= MACHINE_VMS_MAX && ORACLE_VCPUS_MAX >= MACHINE_VCPUS_MAX, "the oracle sees all");

static u32 vcpu_vm(void *opaque, u32 vcpu)
{
	struct machine *m = opaque;

	return vcpu < MACHINE_VCPUS_MAX && m->gvcpus[vcpu] ? m->gvcpus[vcpu]->vm->cfg.id : SIM_OWNER_NONE;
}

static u64 vcpu_pid(void *opaque, u32 vcpu)
{
	struct machine *m = opaque;

	return vcpu < MACHINE_VCPUS_MAX && m->gvcpus[vcpu] ? m->gvcpus[vcpu]->vcpu.pid.v : 0;
}

static void violated(void *opaque, const struct oracle_violation *v)
{
	struct machine *m = opaque;

	if (m->violated)
		m->violated(m->violated_opaque, v);
}

struct oracle *oracle_new(struct machine *m, void (*fn)(void *opaque, const struct oracle_violation *v), void *opaque)
{
	struct oracle_world w = {
		.media = m->media, .blocks = m->cfg.ssd.nsze, .ssd = nvme_function(m->nvme), .dstrd = m->cfg.ssd.dstrd,
		.irte_base = MACHINE_IRTE_BASE, .vectors = m->cfg.ssd.msix_vectors, .vcpu_vm = vcpu_vm, .vcpu_pid = vcpu_pid, .violated = violated, .opaque = m,
	};
	u64 mask[2] = { 0 };
	struct oracle *o = oracle_create(&w, mask);

	if (!o)
		return NULL;
	m->violated = fn;
	m->violated_opaque = opaque;
	machine_listen(m, mask, oracle_event, o);
	return o;
}
