// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts as host software sets them up: MSI-X table entries that name remapping
 * entries, entries that name a host vector or a vCPU's posted-interrupt descriptor, and
 * what the host does when a vector of its own arrives.
 */

#include "host.h"
#include "vm/vm.h"

#include <assert.h>

#define HOST_IRQ_LATENCY_PS (700 * PS_PER_NS)
#define HOST_RUNNING_WAIT_PS (1 * PS_PER_US)

static u32 irte_index(u32 vec)
{
	return MACHINE_IRTE_BASE + vec;
}

void host_irq_write_irte(struct port_host *h, u32 index, u64 lo, u64 hi)
{
	hpa_t at = { h->irta.v + (u64)index * VTD_IRTE_SIZE };

	/* Never present and half written: Linux uses cmpxchg16b. */
	bus_wr64(&h->m->bus, at, 0);
	bus_wr64(&h->m->bus, (hpa_t){ at.v + 8 }, hi);
	bus_wr64(&h->m->bus, at, lo);
}

void host_irq_read_irte(struct port_host *h, u32 index, u64 *lo, u64 *hi)
{
	hpa_t at = { h->irta.v + (u64)index * VTD_IRTE_SIZE };
	bool ok;

	*lo = bus_rd64(&h->m->bus, at, &ok);
	*hi = bus_rd64(&h->m->bus, (hpa_t){ at.v + 8 }, &ok);
}

static void irte_flush(struct port_host *h, u32 index)
{
	if (HOST_STEP(host_irte_flush))
		host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_IEC) | VTD_QI_IEC_LO_G |
				      FIELD_PREP(VTD_QI_IEC_LO_IIDX, index), 0);
}

static u64 irte_source(void)
{
	if (!HOST_STEP(host_irte_source))
		return 0;
	return FIELD_PREP(VTD_IRTE_HI_SID, MACHINE_SSD_RID) | FIELD_PREP(VTD_IRTE_HI_SQ, VTD_SQ_ALL) |
	       FIELD_PREP(VTD_IRTE_HI_SVT, VTD_SVT_SID_SQ);
}

/* Vector @vec goes to the host: a core and a vector of its own. */
static void irte_remapped(struct port_host *h, u32 vec)
{
	u64 lo = VTD_IRTE_LO_P | FIELD_PREP(VTD_IRTE_LO_V, HOST_VECTOR_BASE + vec % HOST_VECTORS_PER_CORE) |
		 FIELD_PREP(VTD_IRTE_LO_DST, vec / HOST_VECTORS_PER_CORE);

	host_irq_write_irte(h, irte_index(vec), lo, irte_source());
}

static void msix_write(struct port_host *h, u32 vec, u32 field, u32 val)
{
	bus_cpu_write(&h->m->bus, (hpa_t){ h->msix_table + vec * PCIS_MSIX_ENTRY_SIZE + field }, val, 4);
}

static void run_handlers(struct port_host *h)
{
	u32 v;

	for (v = 0; v < h->nr_vectors; v++) {
		struct host_irq *i = &h->irq[v];

		if (!i->pending)
			continue;
		i->pending = false;
		i->running = true;
		if (i->requested)
			i->fn(i->arg);
		i->running = false;
	}
}

/*
 * Where schedules are explored handlers run in a task, as on a core of their own, so that they can
 * be preempted, and wait for a lock, like all else.
 */
static void host_irq_main(void *arg)
{
	struct port_host *h = arg;

	for (;;) {
		if (!h->irq_due)
			task_wait(&h->irq_wait, TASK_FOREVER);
		h->irq_due = false;
		run_handlers(h);
	}
}

static void host_irq_run(struct event *ev)
{
	struct port_host *h = container_of_event(ev, struct port_host, irq_event);

	if (!h->irq_task) {
		run_handlers(h);
		return;
	}
	h->irq_due = true;
	task_wake_one(&h->irq_wait);
}

void host_irq_arrive(void *opaque, unsigned int pcpu, u8 vector)
{
	struct port_host *h = opaque;
	u32 v;

	if (vector == HOST_NV_WAKEUP) {
		host_wakeup(h->m, pcpu);
		return;
	}
	if (vector == HOST_NV_FAULT) {
		host_fault_arrive(h);
		return;
	}
	if (vector < HOST_VECTOR_BASE || vector >= HOST_VECTOR_BASE + HOST_VECTORS_PER_CORE)
		return;	/* a notification that came too late, or spurious */
	v = pcpu * HOST_VECTORS_PER_CORE + vector - HOST_VECTOR_BASE;
	if (v >= h->nr_vectors)
		return;
	h->irq[v].pending = true;
	if (!event_is_queued(&h->irq_event))
		sched_after(h->m->sched, &h->irq_event, HOST_IRQ_LATENCY_PS);
}

int host_irq_init(struct port_host *h)
{
	struct pci_function *fn = nvme_function(h->m->nvme);
	u32 v, cap = fn->cap_msix, control;

	h->m->cpu.host_irq = host_irq_arrive;
	h->m->cpu.host_opaque = h;
	event_init(&h->irq_event, host_irq_run, EVENT_PRIO_IRQ);
	if (h->m->cfg.schedule && !h->irq_task)
		h->irq_task = machine_task(h->m, "host irq", host_irq_main, h);
	control = pci_cfg_read(&h->m->root, MACHINE_SSD_RID, cap + PCIS_MSIX_CONTROL, 2);
	h->nr_vectors = (control & PCIS_MSIX_TABLE_SIZE) + 1;
	h->msix_table = pci_bar_base(fn, fn->cfg.msix_bar) + fn->cfg.msix_table_off;
	pci_cfg_write(&h->m->root, MACHINE_SSD_RID, cap + PCIS_MSIX_CONTROL, control | PCIS_MSIX_ENABLE, 2);
	for (v = 0; v < h->nr_vectors; v++) {
		u64 addr = VTD_MSI_ADDRESS(irte_index(v), false);

		msix_write(h, v, PCIS_MSIX_ENTRY_CONTROL, PCIS_MSIX_ENTRY_MASKED);
		msix_write(h, v, PCIS_MSIX_ENTRY_ADDR_LO, (u32)addr);
		msix_write(h, v, PCIS_MSIX_ENTRY_ADDR_HI, (u32)(addr >> 32));
		msix_write(h, v, PCIS_MSIX_ENTRY_DATA, 0);
		irte_remapped(h, v);
	}
	return 0;
}

u32 sim_irq_count(struct port_host *h)
{
	return h->nr_vectors;
}

int sim_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg)
{
	if (vec >= h->nr_vectors)
		return -EINVAL;
	if (h->irq[vec].requested)
		return -EBUSY;
	if (fault_hits(&h->home.no_memory, 1))
		return -ENOMEM;
	h->irq[vec] = (struct host_irq){ .requested = true, .fn = fn, .arg = arg };
	sim_irq_unmask(h, vec);
	return 0;
}

void sim_irq_free(struct port_host *h, u32 vec)
{
	sim_irq_mask_sync(h, vec);
	h->irq[vec].requested = false;
}

void sim_irq_mask_sync(struct port_host *h, u32 vec)
{
	if ((h->omit & HOST_OMIT_IRQ_MASK) || !HOST_STEP(host_irq_mask))
		return;
	msix_write(h, vec, PCIS_MSIX_ENTRY_CONTROL, PCIS_MSIX_ENTRY_MASKED);
	while (h->irq[vec].pending || h->irq[vec].running)
		task_sleep(HOST_RUNNING_WAIT_PS);
}

void sim_irq_unmask(struct port_host *h, u32 vec)
{
	msix_write(h, vec, PCIS_MSIX_ENTRY_CONTROL, 0);
}

int sim_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi)
{
	u32 dest = (u32)FIELD_GET(VTD_MSI_COMPAT_DEST, msi->addr);
	u8 vector = (u8)msi->data;
	hpa_t pid;

	if (!h->m->cfg.posted_interrupts)
		return -EOPNOTSUPP;
	if (vec >= h->nr_vectors || dest >= vm->nr_gv || vector < 16)
		return -EINVAL;
	pid = vm->gv[dest].vcpu.pid;
	h->irq[vec].posted_vm = vm;
	host_irq_write_irte(h, irte_index(vec),
			    VTD_IRTE_LO_P | VTD_IRTE_LO_IM | FIELD_PREP(VTD_IRTE_LO_V, vector) |
			    FIELD_PREP(VTD_IRTE_POSTED_LO_PDA, (pid.v & 0xFFFFFFFF) >> 6),
			    irte_source() | FIELD_PREP(VTD_IRTE_POSTED_HI_PDA, pid.v >> 32));
	irte_flush(h, irte_index(vec));
	return 0;
}

void sim_irq_unpost_sync(struct port_host *h, u32 vec)
{
	if (vec >= h->nr_vectors || !h->irq[vec].posted_vm || (h->omit & HOST_OMIT_IRQ_UNPOST) || !HOST_STEP(host_irq_unpost))
		return;
	h->irq[vec].posted_vm = NULL;
	irte_remapped(h, vec);
	irte_flush(h, irte_index(vec));
}

/* As KVM does it (vmx_deliver_posted_interrupt): PIR bit, then ON, then a notification where the vCPU runs. */
void host_post(struct gvcpu *gv, u8 vector)
{
	struct machine *m = gv->vm->m;
	hpa_t word = { gv->vcpu.pid.v + (vector / 64) * 8 }, control = { gv->vcpu.pid.v + PID_CONTROL_OFF };
	bool ok;
	u64 c;

	bus_wr64(&m->bus, word, bus_rd64(&m->bus, word, &ok) | 1ull << (vector & 63));
	c = bus_rd64(&m->bus, control, &ok);
	if (c & (PID_CONTROL_ON | PID_CONTROL_SN))
		return;
	bus_wr64(&m->bus, control, c | PID_CONTROL_ON);
	cpu_deliver(&m->cpu, (u32)FIELD_GET(PID_CONTROL_NDST, c) >> (m->cfg.vtd.x2apic ? 0 : 8), (u8)FIELD_GET(PID_CONTROL_NV, c), 0);
}

void sim_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi)
{
	u32 dest = (u32)FIELD_GET(VTD_MSI_COMPAT_DEST, msi->addr);

	if (!vm->dead && dest < vm->nr_gv && (msi->data & 0xFF) >= 16)
		host_post(&vm->gv[dest], (u8)msi->data);
}
