// SPDX-License-Identifier: GPL-2.0
/*
 * Functions beside the SSD. The host gives each a BAR and bus mastering, and passes it through
 * to a VM; it has no context entry, so the IOMMU lets nothing of it but interrupts through.
 */

#include "host.h"
#include "pci/plain.h"

#include <stdlib.h>

struct pci_plain *host_add_function(struct machine *m, u16 rid, u32 vm)
{
	struct pci_plain *p;

	if (m->nr_others == MACHINE_OTHERS_MAX)
		return NULL;
	p = malloc(sizeof(*p));
	if (!p || pci_plain_init(p, rid, &m->root)) {
		free(p);
		return NULL;
	}
	pci_cfg_write(&m->root, rid, PCIS_BAR0, (u32)(MACHINE_OTHERS_BASE + m->nr_others * PCI_PLAIN_BAR_SIZE), 4);
	pci_cfg_write(&m->root, rid, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER, 2);
	m->other[m->nr_others++] = p;
	trace4(&m->trace, SIM_TRACE_FUNCTION, 0, rid, vm, 0, 0);
	return p;
}
