/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_PORT_HOST_H
#define LIOV_PORT_HOST_H

/*
 * The port, host part: for backend, mediator and device. LightIOV asks, its home does: the
 * core never sees VT-d tables, interrupt remapping entries or EPT. Contexts as in port_base.h.
 *
 * port_types.h defines besides: struct port_host (a physical NVMe function in the home's
 * hands), struct port_vm (the home's side of one VM), struct port_pages (by value),
 * struct port_watch (embedded, zeroed before use, immovable while it watches).
 */

#include "port_base.h"

#define PORT_READ	1u	/* the device may read */
#define PORT_WRITE	2u	/* the device may write */

static inline struct port_home *port_host_home(struct port_host *h);

/* The physical function. P */
static inline u32 port_cfg_rd32(struct port_host *h, u32 off);
static inline void port_cfg_wr32(struct port_host *h, u32 off, u32 val);
static inline int port_flr(struct port_host *h);
/* Map BAR @bar; @size_bytes out. -ENODEV where there is none. bus_addr: what the device sees as its own BAR. */
static inline int port_bar_map(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *size_bytes, u64 *bus_addr);
static inline void port_bar_unmap(struct port_host *h, unsigned int bar, struct port_mmio *m);
/* A part of a BAR as memory (a queue in the CMB). */
static inline int port_bar_shm(struct port_host *h, unsigned int bar, u64 off, u32 len_bytes, struct port_shm *s);

/*
 * @nr zeroed, physically contiguous pages with one reference. A page is freed when its last reference
 * goes. get/put: IAP; alloc: P
 */
static inline int port_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p);
static inline void port_pages_get(const struct port_pages *p);
static inline void port_pages_put(struct port_pages *p);
static inline struct port_shm port_pages_shm(const struct port_pages *p);

/*
 * Call fn(arg) in process context soon after a vCPU stored to the pages, which outlive the
 * watch. Stores in quick succession are one call; a store that fn may not have seen brings
 * another, and there may be calls without one. fn may wait; what other watches do does not hold
 * it up. -ENOMEM; -EOPNOTSUPP: the home can not. unwatch: when it returns fn does not run and is
 * not called again; not under a lock that fn takes. P
 */
static inline int port_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg),
				   void *arg);
static inline void port_pages_unwatch_sync(struct port_watch *w);

/*
 * LightIOV's own IOMMU domain. Mapping what is mapped is -EBUSY. After unmap the device may
 * still use what it cached, until sync has returned. P
 */
static inline int port_iommu_map(struct port_host *h, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot);
static inline int port_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes, u32 prot);
static inline void port_iommu_unmap(struct port_host *h, iova_t iova, u64 len_bytes);
static inline void port_iommu_sync(struct port_host *h);
/* The last address it can map: what lies above never reaches anything. */
static inline u64 port_iommu_last(struct port_host *h);

/*
 * Address spaces beside the domain, by PASID: what a queue that is bound to one causes goes
 * through it and nothing else. Empty at first; map to sync as above. free: nothing is mapped any
 * more, and when it returns the PASID reaches nothing. -EOPNOTSUPP: the home has none. P
 */
static inline int port_pasid_alloc(struct port_host *h, u32 *pasid);
static inline void port_pasid_free(struct port_host *h, u32 pasid);
static inline int port_pasid_map(struct port_host *h, u32 pasid, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot);
static inline int port_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len_bytes,
				    u32 prot);
static inline void port_pasid_unmap(struct port_host *h, u32 pasid, iova_t iova, u64 len_bytes);
static inline void port_pasid_sync(struct port_host *h, u32 pasid);

/* Physical MSI-X vectors. Handler runs in interrupt context. request, free: P */
static inline u32 port_irq_count(struct port_host *h);
static inline int port_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg);
static inline void port_irq_free(struct port_host *h, u32 vec);
/* Mask at the device; when it returns no handler runs and no message is on its way. P */
static inline void port_irq_mask_sync(struct port_host *h, u32 vec);
static inline void port_irq_unmask(struct port_host *h, u32 vec);
/*
 * Deliver @vec straight to the VM as @msi, without the host, when and where the home can; when it
 * can not, the requested handler goes on being called. -EOPNOTSUPP: it never can. P
 */
static inline int port_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi);
/* Back to the host's handler; when it returns no posted delivery for @vec can happen. P */
static inline void port_irq_unpost_sync(struct port_host *h, u32 vec);

/* Deliver a virtual interrupt. IAP */
static inline void port_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi);

/* Take the VM's mappings of [off, off + len) of its CMB BAR away; returns after every vCPU has lost them. P */
static inline void port_vm_revoke(struct port_vm *vm, u64 off, u64 len_bytes);
/*
 * Pages are in that range now, by the answer of liov_backend_page(), which were not. A home that
 * lets something stand where nothing is takes it away before this returns; pages that were there stay. P
 */
static inline void port_vm_reveal(struct port_vm *vm, u64 off, u64 len_bytes);

/* Guest memory by guest-physical address: -EFAULT where any byte is not the VM's memory, and then nothing is copied. P */
static inline int port_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len_bytes);
static inline int port_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len_bytes);
static inline bool port_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
/* PORT_READ, PORT_WRITE: what devices may do with all of the range, which is the VM's memory. P */
static inline u32 port_vm_mem_prot(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
/* Does any byte of the range belong to the VM's memory? */
static inline bool port_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
/* The VM's memory ranges, @i from 0; false past the last. For registering all of it at once. */
static inline bool port_vm_mem_range(struct port_vm *vm, u32 i, gpa_t *gpa, u64 *len_bytes);
/* Keep the range's frames in place while the device may use them; unpin only after port_iommu_sync(). P */
static inline int port_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
static inline void port_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len_bytes);

#include "port_host_impl.h"

#endif
