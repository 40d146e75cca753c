// SPDX-License-Identifier: GPL-2.0
/* VT-d as a host with a bug programs it: broken contexts, descriptors and tails. Never what LightIOV asks for. */

#include "host.h"

#define POLL_PS PS_PER_US
#define POLLS_MAX 100000u

static u64 reg_rd64(struct port_host *h, u32 reg)
{
	return bus_cpu_read(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + reg }, 8);
}

static void reg_wr64(struct port_host *h, u32 reg, u64 val)
{
	bus_cpu_write(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + reg }, val, 8);
}

static bool queue_error(struct port_host *h)
{
	return bus_cpu_read(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + VTD_REG_FSTS }, 4) & VTD_FSTS_IQE;
}

static void edit(struct port_host *h, hpa_t at, u64 clear, u64 set)
{
	bool ok;

	bus_wr64(&h->m->bus, at, (bus_rd64(&h->m->bus, at, &ok) & ~clear) | set);
}

/* The same defects in scalable mode; what a context says of its domain in legacy mode, each PASID's entry does. */
static void break_scalable(struct port_host *h, enum host_context_defect what)
{
	hpa_t root = { h->root_table.v + (MACHINE_SSD_RID >> 8) * VTD_ROOT_ENTRY_SIZE };
	hpa_t ctx = { h->context_table.v + MACHINE_SSD_RID % VTD_SMCTX_PER_TABLE * VTD_SMCTX_SIZE };
	u32 i;

	for (i = 0; i < HOST_PASIDS; i++) {
		hpa_t pasid = { h->pasid_table.v + i * VTD_PASID_ENTRY_SIZE };

		if (what == HOST_CONTEXT_WIDTH)
			edit(h, pasid, VTD_PASID_LO_AW, FIELD_PREP(VTD_PASID_LO_AW, VTD_AW_57BIT));
		else if (what == HOST_CONTEXT_POINTER)
			edit(h, pasid, VTD_PASID_LO_SSPTPTR, MACHINE_BAR_BASE - SPEC_PAGE_SIZE);
		else if (what == HOST_CONTEXT_TYPE || what == HOST_CONTEXT_FPD)
			edit(h, pasid, 0, VTD_PASID_LO_PGTT);
	}
	if (what == HOST_CONTEXT_ROOT)
		edit(h, root, VTD_SMROOT_P, 0);
	else if (what == HOST_CONTEXT_ABSENT)
		edit(h, ctx, VTD_SMCTX_LO_P, 0);
	else if (what == HOST_CONTEXT_RESERVED)
		edit(h, ctx, 0, VTD_SMCTX_LO_RSVD & -VTD_SMCTX_LO_RSVD);
	else if (what == HOST_CONTEXT_FPD)
		edit(h, ctx, 0, VTD_SMCTX_LO_FPD);
}

static void break_legacy(struct port_host *h, enum host_context_defect what)
{
	hpa_t root = { h->root_table.v + (MACHINE_SSD_RID >> 8) * VTD_ROOT_ENTRY_SIZE };
	hpa_t lo = { h->context_table.v + (MACHINE_SSD_RID & 0xFF) * VTD_CONTEXT_ENTRY_SIZE }, hi = { lo.v + 8 };

	switch (what) {
	case HOST_CONTEXT_ROOT: edit(h, root, VTD_ROOT_LO_P, 0); break;
	case HOST_CONTEXT_ABSENT: edit(h, lo, VTD_CTX_LO_P, 0); break;
	case HOST_CONTEXT_RESERVED: edit(h, lo, 0, VTD_CTX_LO_RSVD & -VTD_CTX_LO_RSVD); break;
	case HOST_CONTEXT_WIDTH: edit(h, hi, VTD_CTX_HI_AW, FIELD_PREP(VTD_CTX_HI_AW, VTD_AW_57BIT)); break;
	/* Inside the host's address width, and outside its memory. */
	case HOST_CONTEXT_POINTER: edit(h, lo, VTD_CTX_LO_SSPTPTR, MACHINE_BAR_BASE - SPEC_PAGE_SIZE); break;
	case HOST_CONTEXT_FPD: edit(h, lo, 0, VTD_CTX_LO_FPD | VTD_CTX_LO_TT); break;
	case HOST_CONTEXT_TYPE: edit(h, lo, 0, VTD_CTX_LO_TT); break;
	}
}

/* What the SSD's requests find. Caches are told, so that the defect and not what was shows. */
void host_iommu_break_context(struct port_host *h, enum host_context_defect what)
{
	bool scalable = h->m->cfg.vtd.scalable;

	if (scalable)
		break_scalable(h, what);
	else
		break_legacy(h, what);
	host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_CONTEXT) | FIELD_PREP(VTD_QI_CTX_LO_G, VTD_GRAN_GLOBAL), 0);
	if (scalable)
		host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_PASID_CACHE) | FIELD_PREP(VTD_QI_PC_LO_G, VTD_QI_PC_GLOBAL), 0);
	host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_IOTLB) | FIELD_PREP(VTD_QI_IOTLB_LO_G, VTD_GRAN_GLOBAL), 0);
}

/* Until the queue has run empty or stopped. */
static bool run(struct port_host *h, u64 tail)
{
	u32 polls;

	reg_wr64(h, VTD_REG_IQT, tail);
	for (polls = 0; polls < POLLS_MAX && !queue_error(h) && reg_rd64(h, VTD_REG_IQH) != tail; polls++)
		task_sleep(POLL_PS);
	return !queue_error(h);
}

/* As Linux's qi_check_fault(): a wait in the place of what the unit did not like, IQE cleared, and on. */
static void recover(struct port_host *h)
{
	u64 head = reg_rd64(h, VTD_REG_IQH), tail = h->iq_tail;

	if (head != tail) {
		bus_wr64(&h->m->bus, (hpa_t){ h->iq.v + head }, FIELD_PREP(VTD_QI_TYPE, VTD_QI_WAIT) | VTD_QI_WAIT_LO_FN);
		bus_wr64(&h->m->bus, (hpa_t){ h->iq.v + head + 8 }, 0);
	}
	reg_wr64(h, VTD_REG_IQT, tail);
	bus_cpu_write(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + VTD_REG_FSTS }, VTD_FSTS_IQE, 4);
	run(h, tail);
}

bool host_iommu_tail(struct port_host *h, u64 tail)
{
	bool stopped;

	port_mutex_lock(&h->iq_lock);
	stopped = !run(h, tail);
	if (stopped)
		recover(h);
	port_mutex_unlock(&h->iq_lock);
	return stopped;
}

bool host_iommu_descriptor(struct port_host *h, u64 lo, u64 hi)
{
	bool stopped;

	port_mutex_lock(&h->iq_lock);
	host_iommu_push(h, lo, hi);
	stopped = !run(h, h->iq_tail);
	if (stopped)
		recover(h);
	port_mutex_unlock(&h->iq_lock);
	return stopped;
}

u32 host_iommu_faults(struct port_host *h, bool *lost)
{
	u64 cap = reg_rd64(h, VTD_REG_CAP), at = FIELD_GET(VTD_CAP_FRO, cap) * 16, i, n = FIELD_GET(VTD_CAP_NFR, cap) + 1;
	hpa_t fsts = { MACHINE_VTD_BASE + VTD_REG_FSTS };
	u32 found = 0;

	for (i = 0; i < n; i++) {
		u32 hi = (u32)at + (u32)i * VTD_FRCD_SIZE + 8;

		if (!(reg_rd64(h, hi) & VTD_FRCD_HI_F))
			continue;
		found++;
		reg_wr64(h, hi, VTD_FRCD_HI_F);
	}
	*lost = bus_cpu_read(&h->m->bus, fsts, 4) & VTD_FSTS_PFO;
	bus_cpu_write(&h->m->bus, fsts, VTD_FSTS_PFO, 4);
	return found;
}

void host_iommu_let_compat(struct port_host *h)
{
	bus_cpu_write(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + VTD_REG_GCMD },
		      VTD_G_QIE | VTD_G_TE | VTD_G_IRE | VTD_G_CFI, 4);
}
