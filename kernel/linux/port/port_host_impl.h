/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_PORT_PORT_HOST_IMPL_H
#define LINUX_PORT_PORT_HOST_IMPL_H

/* Linux's side of port_host.h. Included by it, after the declarations. What is more than a call is in ../host. */

#include <linux/gfp.h>
#include <linux/mm.h>

struct port_home *liov_home_of(struct port_host *h);
u32 liov_home_cfg_rd32(struct port_host *h, u32 off);
void liov_home_cfg_wr32(struct port_host *h, u32 off, u32 val);
int liov_home_flr(struct port_host *h);
int liov_home_bar(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *bus_addr);
int liov_home_node(struct port_host *h);
int liov_home_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg),
			  void *arg);
void liov_home_pages_unwatch_sync(struct port_watch *w);
int liov_home_iommu_map(struct port_host *h, u64 iova, phys_addr_t pa, u64 len_bytes, u32 prot);
u64 liov_home_iommu_last(struct port_host *h);
void liov_home_iommu_unmap(struct port_host *h, u64 iova, u64 len_bytes);
void liov_home_iommu_sync(struct port_host *h);
u32 liov_home_irq_count(struct port_host *h);
int liov_home_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg);
void liov_home_irq_free(struct port_host *h, u32 vec);
void liov_home_irq_mask_sync(struct port_host *h, u32 vec);
void liov_home_irq_unmask(struct port_host *h, u32 vec);
int liov_home_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes, u32 prot);
int liov_home_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi);
void liov_home_irq_unpost_sync(struct port_host *h, u32 vec);
void liov_home_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi);
void liov_home_vm_revoke(struct port_vm *vm, u64 off, u64 len_bytes);
void liov_home_vm_reveal(struct port_vm *vm, u64 off, u64 len_bytes);
int liov_home_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len_bytes);
int liov_home_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len_bytes);
bool liov_home_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
bool liov_home_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
int liov_home_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
void liov_home_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len_bytes);

static inline struct port_home *port_host_home(struct port_host *h)
{
	return liov_home_of(h);
}

static inline u32 port_cfg_rd32(struct port_host *h, u32 off)
{
	return liov_home_cfg_rd32(h, off);
}

static inline void port_cfg_wr32(struct port_host *h, u32 off, u32 val)
{
	liov_home_cfg_wr32(h, off, val);
}

static inline int port_flr(struct port_host *h)
{
	return liov_home_flr(h);
}

static inline int port_bar_map(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *size_bytes, u64 *bus_addr)
{
	int err = liov_home_bar(h, bar, m, bus_addr);

	if (!err)
		*size_bytes = m->len_bytes;
	return err;
}

/* The mapping itself lasts as long as the function is ours: parts of it may be in use as memory. */
static inline void port_bar_unmap(struct port_host *h, unsigned int bar, struct port_mmio *m)
{
	*m = (struct port_mmio){ };
}

static inline int port_bar_shm(struct port_host *h, unsigned int bar, u64 off, u32 len_bytes, struct port_shm *s)
{
	struct port_mmio m;
	u64 bus_addr;
	int err = liov_home_bar(h, bar, &m, &bus_addr);

	if (err)
		return err;
	if (off > m.len_bytes || len_bytes > m.len_bytes - off)
		return -EINVAL;
	*s = (struct port_shm){ .io = m.base + off, .len_bytes = len_bytes };
	return 0;
}

/*
 * Pages of their own that lie side by side: each has its count. Of a compound page all but the
 * first count none, and KVM refuses to map such a page for a guest.
 */
static inline int port_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p)
{
	unsigned int order = get_order((unsigned long)nr << PAGE_SHIFT);
	u32 i;

	if (!nr || order >= MAX_ORDER)
		return -EINVAL;
	p->page = alloc_pages_node(liov_home_node(h), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, order);
	p->nr = nr;
	if (!p->page)
		return -ENOMEM;
	split_page(p->page, order);
	for (i = nr; i < 1u << order; i++)
		__free_page(p->page + i);
	return 0;
}

static inline void port_pages_get(const struct port_pages *p)
{
	u32 i;

	for (i = 0; i < p->nr; i++)
		get_page(p->page + i);
}

static inline void port_pages_put(struct port_pages *p)
{
	u32 i;

	for (i = 0; i < p->nr; i++)
		put_page(p->page + i);
	*p = (struct port_pages){ };
}

static inline struct port_shm port_pages_shm(const struct port_pages *p)
{
	return (struct port_shm){ .mem = page_address(p->page), .len_bytes = p->nr << PAGE_SHIFT };
}

static inline int port_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg),
				   void *arg)
{
	return liov_home_pages_watch(h, p, w, fn, arg);
}

static inline void port_pages_unwatch_sync(struct port_watch *w)
{
	liov_home_pages_unwatch_sync(w);
}

static inline int port_iommu_map(struct port_host *h, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot)
{
	if (!nr_pages || nr_pages > p->nr)
		return -EINVAL;
	return liov_home_iommu_map(h, iova.v, page_to_phys(p->page), (u64)nr_pages << PAGE_SHIFT, prot);
}

static inline u64 port_iommu_last(struct port_host *h)
{
	return liov_home_iommu_last(h);
}

static inline void port_iommu_unmap(struct port_host *h, iova_t iova, u64 len_bytes)
{
	liov_home_iommu_unmap(h, iova.v, len_bytes);
}

static inline void port_iommu_sync(struct port_host *h)
{
	liov_home_iommu_sync(h);
}

/* Linux 6.1 gives a driver no address space by PASID of its own: its PASIDs are for processes (SVA). */
static inline int port_pasid_alloc(struct port_host *h, u32 *pasid)
{
	return -EOPNOTSUPP;
}

static inline void port_pasid_free(struct port_host *h, u32 pasid)
{
}

static inline int port_pasid_map(struct port_host *h, u32 pasid, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot)
{
	return -EOPNOTSUPP;
}

static inline int port_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes,
				    u32 prot)
{
	return -EOPNOTSUPP;
}

static inline void port_pasid_unmap(struct port_host *h, u32 pasid, iova_t iova, u64 len_bytes)
{
}

static inline void port_pasid_sync(struct port_host *h, u32 pasid)
{
}

static inline u32 port_irq_count(struct port_host *h)
{
	return liov_home_irq_count(h);
}

static inline int port_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg)
{
	return liov_home_irq_request(h, vec, fn, arg);
}

static inline void port_irq_free(struct port_host *h, u32 vec)
{
	liov_home_irq_free(h, vec);
}

static inline void port_irq_mask_sync(struct port_host *h, u32 vec)
{
	liov_home_irq_mask_sync(h, vec);
}

static inline void port_irq_unmask(struct port_host *h, u32 vec)
{
	liov_home_irq_unmask(h, vec);
}

static inline int port_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi)
{
	return liov_home_irq_post(h, vec, vm, msi);
}

static inline void port_irq_unpost_sync(struct port_host *h, u32 vec)
{
	liov_home_irq_unpost_sync(h, vec);
}

/* --- a VM: the mdev in ../host/vm*.c --- */

static inline int port_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes, u32 prot)
{
	return liov_home_iommu_map_vm(h, iova, vm, gpa, len_bytes, prot);
}

static inline void port_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi)
{
	liov_home_vm_irq_raise(vm, msi);
}

static inline void port_vm_revoke(struct port_vm *vm, u64 off, u64 len_bytes)
{
	liov_home_vm_revoke(vm, off, len_bytes);
}

static inline void port_vm_reveal(struct port_vm *vm, u64 off, u64 len_bytes)
{
	liov_home_vm_reveal(vm, off, len_bytes);
}

static inline int port_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len_bytes)
{
	return liov_home_vm_mem_rd(vm, gpa, buf, len_bytes);
}

static inline int port_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len_bytes)
{
	return liov_home_vm_mem_wr(vm, gpa, buf, len_bytes);
}

static inline bool port_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return liov_home_vm_mem_is_ram(vm, gpa, len_bytes);
}

/* What can be pinned for writing can be read: a mapping for less is refused when it is pinned. */
static inline u32 port_vm_mem_prot(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	(void)vm;
	(void)gpa;
	(void)len_bytes;
	return PORT_READ | PORT_WRITE;
}

static inline bool port_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return liov_home_vm_mem_overlaps(vm, gpa, len_bytes);
}

/*
 * VFIO has no list of a container's mappings for a parent, and at the VM's creation there are
 * none yet. So all of a VM's memory cannot be registered for it: the mdev refuses
 * register_all with -EOPNOTSUPP, and nobody asks the core for it.
 */
static inline bool port_vm_mem_range(struct port_vm *vm, u32 i, gpa_t *gpa, u64 *len_bytes)
{
	return false;
}

static inline int port_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return liov_home_vm_mem_pin(vm, gpa, len_bytes);
}

static inline void port_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	liov_home_vm_mem_unpin(vm, gpa, len_bytes);
}

#endif
