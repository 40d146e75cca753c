/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_PORT_HOST_IMPL_H
#define SIM_PORT_HOST_IMPL_H

/* The port's host part in the simulator: sim/host/port_host.c does the work. */

struct port_home *sim_host_home(struct port_host *h);
u32 sim_cfg_rd32(struct port_host *h, u32 off);
void sim_cfg_wr32(struct port_host *h, u32 off, u32 val);
int sim_flr(struct port_host *h);
int sim_bar_map(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *size, u64 *bus_addr);
int sim_bar_shm(struct port_host *h, unsigned int bar, u64 off, u32 len, struct port_shm *s);
int sim_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p);
void sim_pages_get(const struct port_pages *p);
void sim_pages_put(struct port_pages *p);
struct port_shm sim_pages_shm(const struct port_pages *p);
int sim_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg), void *arg);
void sim_pages_unwatch_sync(struct port_watch *w);
int sim_iommu_map(struct port_host *h, iova_t iova, u64 hpa, u64 len, u32 prot);
int sim_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot);
void sim_iommu_unmap(struct port_host *h, iova_t iova, u64 len);
void sim_iommu_sync(struct port_host *h);
u64 sim_iommu_last(struct port_host *h);
int sim_pasid_alloc(struct port_host *h, u32 *pasid);
void sim_pasid_free(struct port_host *h, u32 pasid);
int sim_pasid_map(struct port_host *h, u32 pasid, iova_t iova, u64 hpa, u64 len, u32 prot);
int sim_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot);
void sim_pasid_unmap(struct port_host *h, u32 pasid, iova_t iova, u64 len);
void sim_pasid_sync(struct port_host *h, u32 pasid);
u32 sim_irq_count(struct port_host *h);
int sim_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg);
void sim_irq_free(struct port_host *h, u32 vec);
void sim_irq_mask_sync(struct port_host *h, u32 vec);
void sim_irq_unmask(struct port_host *h, u32 vec);
int sim_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi);
void sim_irq_unpost_sync(struct port_host *h, u32 vec);
void sim_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi);
void sim_vm_revoke(struct port_vm *vm, u64 off, u64 len);
int sim_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len);
int sim_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len);
bool sim_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len);
u32 sim_vm_mem_prot(struct port_vm *vm, gpa_t gpa, u64 len);
bool sim_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len);
bool sim_vm_mem_range(struct port_vm *vm, u32 i, gpa_t *gpa, u64 *len);
int sim_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len);
void sim_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len);

static inline struct port_home *port_host_home(struct port_host *h)
{
	return sim_host_home(h);
}

static inline u32 port_cfg_rd32(struct port_host *h, u32 off)
{
	return sim_cfg_rd32(h, off);
}

static inline void port_cfg_wr32(struct port_host *h, u32 off, u32 val)
{
	sim_cfg_wr32(h, off, val);
}

static inline int port_flr(struct port_host *h)
{
	return sim_flr(h);
}

static inline int port_bar_map(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *size_bytes, u64 *bus_addr)
{
	return sim_bar_map(h, bar, m, size_bytes, bus_addr);
}

static inline void port_bar_unmap(struct port_host *h, unsigned int bar, struct port_mmio *m)
{
	(void)h, (void)bar;
	*m = (struct port_mmio){ 0 };
}

static inline int port_bar_shm(struct port_host *h, unsigned int bar, u64 off, u32 len_bytes, struct port_shm *s)
{
	return sim_bar_shm(h, bar, off, len_bytes, s);
}

static inline int port_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p)
{
	return sim_pages_alloc(h, nr, p);
}

static inline void port_pages_get(const struct port_pages *p)
{
	sim_pages_get(p);
}

static inline void port_pages_put(struct port_pages *p)
{
	sim_pages_put(p);
}

static inline struct port_shm port_pages_shm(const struct port_pages *p)
{
	return sim_pages_shm(p);
}

static inline int port_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg),
				   void *arg)
{
	return sim_pages_watch(h, p, w, fn, arg);
}

static inline void port_pages_unwatch_sync(struct port_watch *w)
{
	sim_pages_unwatch_sync(w);
}

static inline int port_iommu_map(struct port_host *h, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot)
{
	return sim_iommu_map(h, iova, p->hpa, (u64)nr_pages * SPEC_PAGE_SIZE, prot);
}

static inline int port_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes, u32 prot)
{
	return sim_iommu_map_vm(h, iova, vm, gpa, len_bytes, prot);
}

static inline void port_iommu_unmap(struct port_host *h, iova_t iova, u64 len_bytes)
{
	sim_iommu_unmap(h, iova, len_bytes);
}

static inline void port_iommu_sync(struct port_host *h)
{
	sim_iommu_sync(h);
}

static inline u64 port_iommu_last(struct port_host *h)
{
	return sim_iommu_last(h);
}

static inline int port_pasid_alloc(struct port_host *h, u32 *pasid)
{
	return sim_pasid_alloc(h, pasid);
}

static inline void port_pasid_free(struct port_host *h, u32 pasid)
{
	sim_pasid_free(h, pasid);
}

static inline int port_pasid_map(struct port_host *h, u32 pasid, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot)
{
	return sim_pasid_map(h, pasid, iova, p->hpa, (u64)nr_pages * SPEC_PAGE_SIZE, prot);
}

static inline int port_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes,
				    u32 prot)
{
	return sim_pasid_map_vm(h, pasid, iova, vm, gpa, len_bytes, prot);
}

static inline void port_pasid_unmap(struct port_host *h, u32 pasid, iova_t iova, u64 len_bytes)
{
	sim_pasid_unmap(h, pasid, iova, len_bytes);
}

static inline void port_pasid_sync(struct port_host *h, u32 pasid)
{
	sim_pasid_sync(h, pasid);
}

static inline u32 port_irq_count(struct port_host *h)
{
	return sim_irq_count(h);
}

static inline int port_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg)
{
	return sim_irq_request(h, vec, fn, arg);
}

static inline void port_irq_free(struct port_host *h, u32 vec)
{
	sim_irq_free(h, vec);
}

static inline void port_irq_mask_sync(struct port_host *h, u32 vec)
{
	sim_irq_mask_sync(h, vec);
}

static inline void port_irq_unmask(struct port_host *h, u32 vec)
{
	sim_irq_unmask(h, vec);
}

static inline int port_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi)
{
	return sim_irq_post(h, vec, vm, msi);
}

static inline void port_irq_unpost_sync(struct port_host *h, u32 vec)
{
	sim_irq_unpost_sync(h, vec);
}

static inline void port_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi)
{
	sim_vm_irq_raise(vm, msi);
}

static inline void port_vm_revoke(struct port_vm *vm, u64 off, u64 len_bytes)
{
	sim_vm_revoke(vm, off, len_bytes);
}

/* Where nothing is the EPT has no entry, so each touch asks. */
static inline void port_vm_reveal(struct port_vm *vm, u64 off, u64 len_bytes)
{
	(void)vm, (void)off, (void)len_bytes;
}

static inline int port_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len_bytes)
{
	return sim_vm_mem_rd(vm, gpa, buf, len_bytes);
}

static inline int port_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len_bytes)
{
	return sim_vm_mem_wr(vm, gpa, buf, len_bytes);
}

static inline bool port_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return sim_vm_mem_is_ram(vm, gpa, len_bytes);
}

static inline u32 port_vm_mem_prot(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return sim_vm_mem_prot(vm, gpa, len_bytes);
}

static inline bool port_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return sim_vm_mem_overlaps(vm, gpa, len_bytes);
}

static inline bool port_vm_mem_range(struct port_vm *vm, u32 i, gpa_t *gpa, u64 *len_bytes)
{
	return sim_vm_mem_range(vm, i, gpa, len_bytes);
}

static inline int port_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	return sim_vm_mem_pin(vm, gpa, len_bytes);
}

static inline void port_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len_bytes)
{
	sim_vm_mem_unpin(vm, gpa, len_bytes);
}

#endif
