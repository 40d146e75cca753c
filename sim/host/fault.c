// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of the IOMMU as a host handles them that asked to be told: an interrupt, the records
 * read and cleared, and after that some quiet, so that a VM that makes nothing but faults takes
 * no more of a core than that. What the unit could not record in between it says by PFO only.
 */

#include "host.h"

#define FAULT_LATENCY_PS (700 * PS_PER_NS)
#define FAULT_ENTRY_PS	(1 * PS_PER_US)		/* E: the handler without records */
#define FAULT_RECORD_PS	(1 * PS_PER_US)		/* E: a record read over the bus, and looked at */
#define FAULT_QUIET_PS	(1 * PS_PER_MS)

static void reg_wr32(struct port_host *h, u32 reg, u32 val)
{
	bus_cpu_write(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + reg }, val, 4);
}

static void fault_run(struct event *ev)
{
	struct port_host *h = container_of_event(ev, struct port_host, fault_event);
	bool lost;
	u32 n;

	if (h->faults_quiet) {
		h->faults_quiet = false;
		reg_wr32(h, VTD_REG_FECTL, 0);	/* what came in meanwhile interrupts now (11.4.7.3) */
		return;
	}
	reg_wr32(h, VTD_REG_FECTL, (u32)VTD_ECTL_IM);
	n = host_iommu_faults(h, &lost);
	h->faults_read += n;
	h->faults_overflowed += lost;
	h->faults_ps += FAULT_ENTRY_PS + n * FAULT_RECORD_PS;
	h->faults_quiet = true;
	sched_after(h->m->sched, ev, FAULT_QUIET_PS);
}

void host_fault_init(struct port_host *h)
{
	event_init(&h->fault_event, fault_run, EVENT_PRIO_IRQ);
	reg_wr32(h, VTD_REG_FEDATA, HOST_NV_FAULT);
	reg_wr32(h, VTD_REG_FEADDR, (u32)VTD_MSI_BASE);		/* core 0 */
	reg_wr32(h, VTD_REG_FEUADDR, 0);
	reg_wr32(h, VTD_REG_FECTL, 0);
}

void host_fault_arrive(struct port_host *h)
{
	if (!event_is_queued(&h->fault_event))
		sched_after(h->m->sched, &h->fault_event, FAULT_LATENCY_PS);
}
