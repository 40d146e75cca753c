// SPDX-License-Identifier: GPL-2.0
/* The physical function: configuration space, BARs, reset. */

#include "port_host.h"

struct port_home *liov_home_of(struct port_host *h)
{
	return &h->home;
}

int liov_home_node(struct port_host *h)
{
	return dev_to_node(&h->pdev->dev);
}

u32 liov_home_cfg_rd32(struct port_host *h, u32 off)
{
	u32 val = ~0u;

	pci_read_config_dword(h->pdev, (int)off, &val);
	return val;
}

void liov_home_cfg_wr32(struct port_host *h, u32 off, u32 val)
{
	pci_write_config_dword(h->pdev, (int)off, val);
}

/* PCIe 6.6.2 clears configuration space: what the kernel set there is kept over it. */
int liov_home_flr(struct port_host *h)
{
	int err;

	if (pcie_reset_flr(h->pdev, PCI_RESET_PROBE))
		return -EOPNOTSUPP;
	pci_cfg_access_lock(h->pdev);
	err = pci_save_state(h->pdev);
	if (!err) {
		err = pcie_reset_flr(h->pdev, PCI_RESET_DO_RESET);
		pci_restore_state(h->pdev);
	}
	pci_cfg_access_unlock(h->pdev);
	return err ? -EIO : 0;
}

/* Uncached: right for registers, and for the CMB stores then reach the device in order. */
int liov_home_bar(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *bus_addr)
{
	struct pci_dev *pdev = h->pdev;
	int err = 0;

	if (bar >= PCI_STD_NUM_BARS || !(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) || !pci_resource_len(pdev, bar))
		return -ENODEV;
	mutex_lock(&h->lock);
	if (!h->bar[bar])
		h->bar[bar] = pci_ioremap_bar(pdev, (int)bar);
	if (!h->bar[bar])
		err = -ENOMEM;
	mutex_unlock(&h->lock);
	*m = (struct port_mmio){ .base = h->bar[bar], .len_bytes = pci_resource_len(pdev, bar) };
	*bus_addr = pci_bus_address(pdev, (int)bar);
	return err;
}

int host_init(struct port_host *h, struct pci_dev *pdev)
{
	int err;

	h->pdev = pdev;
	h->home.dev = &pdev->dev;
	mutex_init(&h->lock);
	h->home.wq = alloc_workqueue("lightiov-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0, pci_name(pdev));
	if (!h->home.wq)
		return -ENOMEM;
	err = host_iommu_init(h);
	if (err)
		goto out_wq;
	/* Not before the domain stands: until now the function could reach nothing. */
	pci_set_master(pdev);
	err = host_irq_init(h);
	if (err)
		goto out_master;
	return 0;

out_master:
	pci_clear_master(pdev);
	host_iommu_fini(h);
out_wq:
	destroy_workqueue(h->home.wq);
	return err;
}

void host_fini(struct port_host *h)
{
	unsigned int bar;

	host_irq_fini(h);
	pci_clear_master(h->pdev);
	host_iommu_fini(h);
	destroy_workqueue(h->home.wq);
	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++)
		if (h->bar[bar])
			iounmap(h->bar[bar]);
}
