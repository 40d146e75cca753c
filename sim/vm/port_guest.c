// SPDX-License-Identifier: GPL-2.0
/* The port's guest part: what a guest kernel does for the frontend. */

#include "vm/vm.h"

#include <assert.h>

#define EXIT_IO_INSTRUCTION 30

static struct gvcpu *guest_gvcpu(struct port_guest *g)
{
	struct task *t = task_current();

	assert(t && t->gvcpu && t->gvcpu->vm == g->vm);
	return t->gvcpu;
}

struct port_home *sim_guest_home(struct port_guest *g)
{
	return &g->home;
}

/* Through the 0xCF8/0xCFC ports: one exit an access. */
u32 sim_guest_cfg_rd32(struct port_guest *g, u32 off)
{
	struct gvcpu *gv = guest_gvcpu(g);

	u32 val;

	vm_enter(gv);
	vcpu_count_exit(&gv->vcpu, EXIT_IO_INSTRUCTION, off);
	vm_pass(gv, 0);
	vm_enter(gv);
	val = liov_device_cfg_rd(&g->vm->liov, off, 4);
	trace4(&g->vm->m->trace, SIM_TRACE_ANSWER, 0, g->vm->cfg.id, off, val, 4 | 1 << 8);
	vm_enter(gv);
	return val;
}

void vm_cfg_wr(struct port_guest *g, u32 off, u32 val, u32 len)
{
	struct gvcpu *gv = guest_gvcpu(g);

	vm_enter(gv);
	vcpu_count_exit(&gv->vcpu, EXIT_IO_INSTRUCTION, off);
	vm_pass(gv, 0);
	vm_enter(gv);
	liov_device_cfg_wr(&g->vm->liov, off, val, len);
	vm_enter(gv);
}

void sim_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val)
{
	vm_cfg_wr(g, off, val, 4);
}

int sim_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs,
		  gpa_t *cmb_gpa, u64 *cmb_size)
{
	u64 base0 = sim_guest_cfg_rd32(g, PCIS_BAR0) & ~(u64)PCIS_BAR_FLAGS;
	u64 base2 = sim_guest_cfg_rd32(g, PCIS_BAR(LIOV_CMB_BAR)) & ~(u64)PCIS_BAR_FLAGS;
	u32 mask;

	/* Sizing, PCI 3.0 6.2.5.1 */
	sim_guest_cfg_wr32(g, PCIS_BAR(LIOV_CMB_BAR), 0xFFFFFFFF);
	mask = sim_guest_cfg_rd32(g, PCIS_BAR(LIOV_CMB_BAR)) & ~PCIS_BAR_FLAGS;
	sim_guest_cfg_wr32(g, PCIS_BAR(LIOV_CMB_BAR), (u32)base2);
	*bar0 = (struct port_mmio){ &g->home, base0 };
	*cmb = (struct port_shm){ &g->home, base2 };
	*cmb_regs = (struct port_mmio){ &g->home, base2 };
	*cmb_gpa = (gpa_t){ base2 };
	*cmb_size = (u32)(~mask + 1);
	return 0;
}

int sim_guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa)
{
	*gpa = vm_alloc_pages(g->vm, nr_pages);
	if (gpa->v == ~0ull)
		return -ENOMEM;
	*s = (struct port_shm){ &g->home, gpa->v };
	return 0;
}

/* A bump allocator that only the last allocation can go back to: drivers come and go in that order. */
void sim_guest_dma_free(struct port_guest *g, u32 nr_pages, gpa_t gpa)
{
	if (gpa.v == g->dma_next.v)
		g->dma_next.v += (u64)nr_pages * SPEC_PAGE_SIZE;
}

bool sim_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len)
{
	if (i >= g->vm->cfg.nr_ram)
		return false;
	*gpa = (gpa_t){ g->vm->cfg.ram[i].gpa };
	*len = g->vm->cfg.ram[i].len_bytes;
	return true;
}

/* Offset of the MSI-X capability, or 0. */
static u32 guest_msix_cap(struct port_guest *g)
{
	u32 off = sim_guest_cfg_rd32(g, PCIS_CAP_POINTER) & 0xFC, i;

	for (i = 0; i < 48 && off; i++) {
		u32 head = sim_guest_cfg_rd32(g, off);

		if ((head & 0xFF) == PCIS_CAP_ID_MSIX)
			return off;
		off = (head >> 8) & 0xFC;
	}
	return 0;
}

u32 sim_guest_irq_count(struct port_guest *g)
{
	u32 n = g->vm->cfg.liov.nr_vectors;

	return n ? n : g->vm->cfg.liov.nr_queues + 1;
}

static void guest_msix_write(struct port_guest *g, u32 vec, u32 field, u32 val)
{
	sim_mmio_wr(&g->home, VM_BAR0_GPA + LIOV_BAR0_MSIX_TABLE + vec * PCIS_MSIX_ENTRY_SIZE + field, val, 4);
}

int sim_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg)
{
	u32 cpu = vec ? (vec - 1) % g->vm->cfg.vcpus : 0, cap = guest_msix_cap(g), control;

	if (vec >= sim_guest_irq_count(g) || !cap)
		return -EINVAL;
	control = sim_guest_cfg_rd32(g, cap);
	if (!(control >> 16 & PCIS_MSIX_ENABLE))
		sim_guest_cfg_wr32(g, cap, control | (u32)PCIS_MSIX_ENABLE << 16);
	g->handler[VM_IRQ_BASE + vec].fn = fn;
	g->handler[VM_IRQ_BASE + vec].arg = arg;
	guest_msix_write(g, vec, PCIS_MSIX_ENTRY_ADDR_LO, (u32)(PCIS_IRQ_RANGE_BASE | cpu << 12));
	guest_msix_write(g, vec, PCIS_MSIX_ENTRY_ADDR_HI, 0);
	guest_msix_write(g, vec, PCIS_MSIX_ENTRY_DATA, VM_IRQ_BASE + vec);
	guest_msix_write(g, vec, PCIS_MSIX_ENTRY_CONTROL, 0);
	return 0;
}

/* As free_irq() does: what the handler uses may go when this returns. */
void sim_guest_irq_free(struct port_guest *g, u32 vec)
{
	u32 i;

	guest_msix_write(g, vec, PCIS_MSIX_ENTRY_CONTROL, PCIS_MSIX_ENTRY_MASKED);
	g->handler[VM_IRQ_BASE + vec].fn = NULL;
	for (i = 0; i < g->vm->nr_gv; i++) {
		struct gvcpu *gv = &g->vm->gv[i];

		while (gv->in_irq && gv->irq_vector == VM_IRQ_BASE + vec)
			task_wait(&gv->idle_wait, TASK_FOREVER);
	}
}

void sim_guest_complete(struct port_guest *g, void *cookie, u16 status)
{
	g->complete(g->complete_opaque, cookie, status);
}
