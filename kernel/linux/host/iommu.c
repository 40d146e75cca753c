// SPDX-License-Identifier: GPL-2.0
/*
 * LightIOV's own IOMMU domain. The function leaves the kernel's DMA API: its group is claimed,
 * so that no other driver can, and what it may reach is what is mapped here and nothing else.
 */

#include "port_host.h"

static int iommu_check(struct device *dev)
{
	if (!device_iommu_mapped(dev)) {
		dev_err(dev, "no IOMMU translates this function's DMA, so guests' queues could reach all memory: refused\n");
		return -ENODEV;
	}
	if (!device_iommu_capable(dev, IOMMU_CAP_INTR_REMAP)) {
		dev_err(dev, "no interrupt remapping, so guests' queues could write any interrupt: refused\n");
		return -ENODEV;
	}
	if (!device_iommu_capable(dev, IOMMU_CAP_CACHE_COHERENCY)) {
		dev_err(dev, "the IOMMU does not keep DMA coherent: refused\n");
		return -ENODEV;
	}
	return 0;
}

int host_iommu_init(struct port_host *h)
{
	struct device *dev = &h->pdev->dev;
	int err = iommu_check(dev);

	if (err)
		return err;
	h->group = iommu_group_get(dev);
	if (!h->group)
		return -ENODEV;
	err = iommu_group_claim_dma_owner(h->group, h);
	if (err) {
		dev_err(dev, "another driver uses a function of the same IOMMU group\n");
		goto out_group;
	}
	err = -ENOMEM;
	h->domain = iommu_domain_alloc(dev->bus);
	if (!h->domain)
		goto out_owner;
	iommu_iotlb_gather_init(&h->unmapped);
	err = iommu_attach_group(h->domain, h->group);
	if (err)
		goto out_domain;
	return 0;

out_domain:
	iommu_domain_free(h->domain);
out_owner:
	iommu_group_release_dma_owner(h->group);
out_group:
	iommu_group_put(h->group);
	return err;
}

void host_iommu_fini(struct port_host *h)
{
	liov_home_iommu_sync(h);
	iommu_detach_group(h->domain, h->group);
	iommu_domain_free(h->domain);
	iommu_group_release_dma_owner(h->group);
	iommu_group_put(h->group);
}

/* Addresses that the function or the IOMMU takes for something else before they are translated. */
static int window_check_bars(struct port_host *h, u64 start, u64 last)
{
	unsigned int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		u64 at = pci_bus_address(h->pdev, (int)bar), len = pci_resource_len(h->pdev, bar);

		if (len && start <= at + (len - 1) && at <= last) {
			dev_err(&h->pdev->dev, "IOVA window %#llx-%#llx overlaps BAR %u\n", start, last, bar);
			return -EINVAL;
		}
	}
	return 0;
}

static int window_check_reserved(struct port_host *h, u64 start, u64 last)
{
	struct iommu_resv_region *r, *next;
	LIST_HEAD(reserved);
	int err = iommu_get_group_resv_regions(h->group, &reserved);

	list_for_each_entry_safe(r, next, &reserved, list) {
		if (!err && r->length && start <= r->start + (r->length - 1) && r->start <= last) {
			dev_err(&h->pdev->dev, "IOVA window %#llx-%#llx overlaps what is reserved from %pa on\n", start, last,
				&r->start);
			err = -EINVAL;
		}
		list_del(&r->list);
		kfree(r);
	}
	return err;
}

int host_iommu_check_window(struct port_host *h, u64 start, u64 len_bytes)
{
	const struct iommu_domain_geometry *g = &h->domain->geometry;
	u64 last = start + (len_bytes - 1);
	int err;

	if (!len_bytes || last < start || (g->force_aperture && (start < g->aperture_start || last > g->aperture_end))) {
		dev_err(&h->pdev->dev, "IOVA window %#llx of %#llx bytes: the IOMMU translates up to %pad\n", start, len_bytes,
			&g->aperture_end);
		return -EINVAL;
	}
	err = window_check_bars(h, start, last);
	return err ? err : window_check_reserved(h, start, last);
}

u64 liov_home_iommu_last(struct port_host *h)
{
	const struct iommu_domain_geometry *g = &h->domain->geometry;

	return g->force_aperture ? g->aperture_end : U64_MAX;
}

static int iommu_prot(u32 prot)
{
	return IOMMU_CACHE | (prot & PORT_READ ? IOMMU_READ : 0) | (prot & PORT_WRITE ? IOMMU_WRITE : 0);
}

/* The IOMMU driver takes a mapping twice for a bug of the kernel's: looked at before, page by page. */
static int iommu_check_range(struct port_host *h, u64 iova, u64 len_bytes)
{
	const struct iommu_domain_geometry *g = &h->domain->geometry;
	u64 off;

	if (!IS_ALIGNED(iova | len_bytes, PAGE_SIZE) || !len_bytes || iova + (len_bytes - 1) < iova)
		return -EINVAL;
	if (g->force_aperture && (iova < g->aperture_start || iova + (len_bytes - 1) > g->aperture_end))
		return -EINVAL;
	for (off = 0; off < len_bytes; off += PAGE_SIZE)
		if (iommu_iova_to_phys(h->domain, iova + off))
			return -EBUSY;
	return 0;
}

int liov_home_iommu_map(struct port_host *h, u64 iova, phys_addr_t pa, u64 len_bytes, u32 prot)
{
	int err;

	mutex_lock(&h->lock);
	err = iommu_check_range(h, iova, len_bytes);
	if (!err)
		err = iommu_map(h->domain, iova, pa, len_bytes, iommu_prot(prot));
	mutex_unlock(&h->lock);
	return err;
}

/* The translations go from the tables; the IOTLB is flushed for all of them by the next sync. */
void liov_home_iommu_unmap(struct port_host *h, u64 iova, u64 len_bytes)
{
	size_t done;

	mutex_lock(&h->lock);
	done = iommu_unmap_fast(h->domain, iova, len_bytes, &h->unmapped);
	h->flush_due |= done != 0;
	mutex_unlock(&h->lock);
	LIOV_ASSERT(done == len_bytes);
}

void liov_home_iommu_sync(struct port_host *h)
{
	mutex_lock(&h->lock);
	if (h->flush_due) {
		iommu_iotlb_sync(h->domain, &h->unmapped);
		h->flush_due = false;
	}
	mutex_unlock(&h->lock);
}
