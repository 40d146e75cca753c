/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_PCI_PLAIN_H
#define MODEL_PCI_PLAIN_H

/*
 * A function that stands beside others on the bus: BAR 0 is memory but for an MSI-X
 * table that nobody programs, and it reads and writes any address it is told to, as a bus master may.
 */

#include "pci/pci.h"

#define PCI_PLAIN_BAR_SIZE (2 * SPEC_PAGE_SIZE)

struct pci_plain {
	struct pci_function fn;
	u8 memory[PCI_PLAIN_BAR_SIZE];
};

/* As pci_function_init(); the caller owns the memory. */
int pci_plain_init(struct pci_plain *p, u16 rid, struct pci_root *root);

/* One dword at @addr, now. False: the read came back as an error; writes are posted. */
bool pci_plain_read32(struct pci_plain *p, iova_t addr, u32 *val);
void pci_plain_write32(struct pci_plain *p, iova_t addr, u32 val);

#endif
