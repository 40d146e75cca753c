// SPDX-License-Identifier: GPL-2.0
/* The port's guest part: BARs, vectors, the guest's memory. */

#include <linux/interrupt.h>
#include <linux/ioport.h>

#include "guest.h"

struct port_home *liov_guest_home_of(struct port_guest *g)
{
	return &g->home;
}

u32 liov_guest_cfg_rd32(struct port_guest *g, u32 off)
{
	u32 val = ~0u;

	pci_read_config_dword(g->pdev, (int)off, &val);
	return val;
}

void liov_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val)
{
	pci_write_config_dword(g->pdev, (int)off, val);
}

/* The queues' pages are mapped uncached, as registers are: stores reach them in order, and a page may be the controller's own. */
int liov_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_mmio *cmb, gpa_t *cmb_gpa)
{
	*bar0 = (struct port_mmio){ .base = g->bar0, .len_bytes = pci_resource_len(g->pdev, 0) };
	*cmb = (struct port_mmio){ .base = g->cmb, .len_bytes = pci_resource_len(g->pdev, LIOV_CMB_BAR) };
	*cmb_gpa = (gpa_t){ pci_resource_start(g->pdev, LIOV_CMB_BAR) };
	return 0;
}

/* --- memory --- */

struct range_walk {
	u32 left;		/* ranges to pass over */
	u64 start, len_bytes;	/* 0: not found */
};

/* Whole pages: the first range on a PC ends within one. */
static int range_visit(struct resource *res, void *arg)
{
	struct range_walk *w = arg;
	u64 start = PAGE_ALIGN(res->start), end = (res->end + 1) & PAGE_MASK;

	if (start >= end || w->left-- > 0)
		return 0;
	w->start = start;
	w->len_bytes = end - start;
	return 1;
}

bool liov_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len_bytes)
{
	struct range_walk w = { .left = i };

	walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM | IORESOURCE_BUSY, 0, -1, &w, range_visit);
	*gpa = (gpa_t){ w.start };
	*len_bytes = w.len_bytes;
	return w.len_bytes != 0;
}

/* --- interrupts --- */

u32 liov_guest_irq_count(struct port_guest *g)
{
	return g->nr_vectors;
}

static irqreturn_t vector_handle(int irq, void *data)
{
	struct guest_vector *v = data;

	v->fn(v->arg);
	return IRQ_HANDLED;
}

int liov_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg)
{
	struct guest_vector *v;
	int err;

	if (vec >= g->nr_vectors || g->vector[vec].fn)
		return -EINVAL;
	v = &g->vector[vec];
	*v = (struct guest_vector){ .fn = fn, .arg = arg };
	snprintf(v->name, sizeof(v->name), "%s-%u", pci_name(g->pdev), vec);
	err = request_irq((unsigned int)pci_irq_vector(g->pdev, vec), vector_handle, IRQF_NO_THREAD, v->name, v);
	if (err)
		v->fn = NULL;
	return err;
}

void liov_guest_irq_free(struct port_guest *g, u32 vec)
{
	struct guest_vector *v;

	if (vec >= g->nr_vectors || !g->vector[vec].fn)
		return;
	v = &g->vector[vec];
	free_irq((unsigned int)pci_irq_vector(g->pdev, vec), v);
	v->fn = NULL;
}

/* The admin queue's vector and one a queue pair, spread over the processors: there is no use for more pairs than these. */
static int vectors_init(struct port_guest *g)
{
	struct irq_affinity spread = { .pre_vectors = 1 };
	u32 wanted = min(num_possible_cpus(), LIOV_VM_QUEUES_MAX) + 1;
	int got = pci_alloc_irq_vectors_affinity(g->pdev, 2, wanted, PCI_IRQ_MSIX | PCI_IRQ_AFFINITY, &spread);

	if (got < 0) {
		dev_err(&g->pdev->dev, "no two MSI-X vectors: %d\n", got);
		return got;
	}
	g->nr_vectors = (u32)got;
	return 0;
}

/* --- the function --- */

int port_guest_init(struct port_guest *g, struct pci_dev *pdev)
{
	int err = -ENOMEM;

	g->home.dev = &pdev->dev;
	g->home.wq = alloc_workqueue("lightiov-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, pci_name(pdev));
	if (!g->home.wq)
		return -ENOMEM;
	g->bar0 = pci_ioremap_bar(pdev, 0);
	g->cmb = pci_ioremap_bar(pdev, LIOV_CMB_BAR);
	if (g->bar0 && g->cmb)
		err = vectors_init(g);
	if (err)
		port_guest_fini(g);
	return err;
}

void port_guest_fini(struct port_guest *g)
{
	if (g->nr_vectors)
		pci_free_irq_vectors(g->pdev);
	g->nr_vectors = 0;
	if (g->cmb)
		iounmap(g->cmb);
	if (g->bar0)
		iounmap(g->bar0);
	destroy_workqueue(g->home.wq);
}
