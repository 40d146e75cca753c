// SPDX-License-Identifier: GPL-2.0
#include "pci/pci_internal.h"

void pci_root_init(struct pci_root *root, struct bus *bus, struct vtd *vtd, struct sched *sched,
		   struct trace *trace)
{
	*root = (struct pci_root){ .bus = bus, .vtd = vtd, .sched = sched, .trace = trace };
}

struct pci_function *pci_root_find(struct pci_root *root, u16 rid)
{
	for (unsigned int i = 0; i < root->nr_fn; i++) {
		if (root->fn[i]->cfg.rid == rid)
			return root->fn[i];
	}
	return NULL;
}

int pci_function_init(struct pci_function *fn, const struct pci_function_config *cfg, struct pci_root *root,
		      const struct pci_ops *ops, void *dev)
{
	if (root->nr_fn == PCI_ROOT_FUNCTIONS_MAX || pci_root_find(root, cfg->rid))
		return -1;
	if (!pci_bar_config_is_valid(cfg) || !pci_msix_config_is_valid(cfg) || !pci_link_config_is_valid(&cfg->link))
		return -1;
	*fn = (struct pci_function){ .cfg = *cfg, .ops = ops, .dev = dev, .root = root, .pasid = PCI_NO_PASID };
	for (unsigned int i = 0; i < PCIS_BAR_COUNT; i++)
		fn->bar_decoded[i] = PCI_BAR_NOT_DECODED;
	pci_config_reset(fn);
	pci_msix_reset(fn);
	pci_msix_init(fn);
	root->fn[root->nr_fn++] = fn;
	return 0;
}
