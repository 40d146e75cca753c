// SPDX-License-Identifier: GPL-2.0
#include "pci/plain.h"

#define PLAIN_VENDOR	0x1AF4
#define PLAIN_DEVICE	0x0001
#define PLAIN_CLASS	0xFF0000	/* unassigned */

static u64 plain_mmio_read(void *dev, unsigned int bar, u64 off, unsigned int len)
{
	const struct pci_plain *p = dev;
	u64 val = 0;

	(void)bar;
	__builtin_memcpy(&val, p->memory + off, len);
	return val;
}

static void plain_mmio_write(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len)
{
	struct pci_plain *p = dev;

	(void)bar;
	__builtin_memcpy(p->memory + off, &val, len);
}

static void plain_reset(void *dev)
{
	struct pci_plain *p = dev;

	__builtin_memset(p->memory, 0, sizeof(p->memory));
}

int pci_plain_init(struct pci_plain *p, u16 rid, struct pci_root *root)
{
	static const struct pci_ops ops = { .mmio_read = plain_mmio_read, .mmio_write = plain_mmio_write, .reset = plain_reset };
	struct pci_function_config cfg = {
		.rid = rid, .vendor_id = PLAIN_VENDOR, .device_id = PLAIN_DEVICE, .class_code = PLAIN_CLASS,
		.bar = { { .size_bytes = PCI_PLAIN_BAR_SIZE } }, .msix_vectors = 1, .msix_bar = 0,
		.msix_table_off = SPEC_PAGE_SIZE, .msix_pba_off = SPEC_PAGE_SIZE + 0x800,
	};

	plain_reset(p);
	if (pci_function_init(&p->fn, &cfg, root, &ops, p))
		return -1;
	p->fn.dma_kind = PCI_DMA_DATA;
	return 0;
}

bool pci_plain_read32(struct pci_plain *p, iova_t addr, u32 *val)
{
	u64 done_ps = sched_now(p->fn.root->sched);

	*val = ~0u;
	return pci_dma_read(&p->fn, addr, val, sizeof(*val), &done_ps);
}

void pci_plain_write32(struct pci_plain *p, iova_t addr, u32 val)
{
	u64 done_ps = sched_now(p->fn.root->sched);

	pci_dma_write(&p->fn, addr, &val, sizeof(val), &done_ps);
}
