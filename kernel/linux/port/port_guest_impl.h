/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_PORT_PORT_GUEST_IMPL_H
#define LINUX_PORT_PORT_GUEST_IMPL_H

/* Linux's side of port_guest.h. Included by it, after the declarations. What is more than a call is in ../guest. */

#include <linux/gfp.h>
#include <linux/io.h>

struct port_home *liov_guest_home_of(struct port_guest *g);
u32 liov_guest_cfg_rd32(struct port_guest *g, u32 off);
void liov_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val);
int liov_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_mmio *cmb, gpa_t *cmb_gpa);
bool liov_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len_bytes);
u32 liov_guest_irq_count(struct port_guest *g);
int liov_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg);
void liov_guest_irq_free(struct port_guest *g, u32 vec);
void liov_guest_complete(struct port_guest *g, void *cookie, u16 status);

static inline struct port_home *port_guest_home(struct port_guest *g)
{
	return liov_guest_home_of(g);
}

static inline u32 port_guest_cfg_rd32(struct port_guest *g, u32 off)
{
	return liov_guest_cfg_rd32(g, off);
}

static inline void port_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val)
{
	liov_guest_cfg_wr32(g, off, val);
}

static inline int port_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs,
				 gpa_t *cmb_gpa, u64 *cmb_size_bytes)
{
	int err = liov_guest_map(g, bar0, cmb_regs, cmb_gpa);

	if (err)
		return err;
	*cmb = (struct port_shm){ .io = cmb_regs->base, .len_bytes = (u32)cmb_regs->len_bytes };
	*cmb_size_bytes = cmb_regs->len_bytes;
	return 0;
}

/* No IOMMU of the guest's stands between (main.c sees to that): an address on the bus is a physical one. */
static inline int port_guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa)
{
	u32 len_bytes = nr_pages << PAGE_SHIFT;
	void *mem = alloc_pages_exact(len_bytes, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);

	if (!mem)
		return -ENOMEM;
	*s = (struct port_shm){ .mem = mem, .len_bytes = len_bytes };
	*gpa = (gpa_t){ virt_to_phys(mem) };
	return 0;
}

static inline void port_guest_dma_free(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t gpa)
{
	free_pages_exact(s->mem, nr_pages << PAGE_SHIFT);
	*s = (struct port_shm){ };
}

static inline bool port_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len_bytes)
{
	return liov_guest_mem_range(g, i, gpa, len_bytes);
}

static inline u32 port_guest_irq_count(struct port_guest *g)
{
	return liov_guest_irq_count(g);
}

static inline int port_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg)
{
	return liov_guest_irq_request(g, vec, fn, arg);
}

static inline void port_guest_irq_free(struct port_guest *g, u32 vec)
{
	liov_guest_irq_free(g, vec);
}

static inline void port_guest_complete(struct port_guest *g, void *cookie, u16 status)
{
	liov_guest_complete(g, cookie, status);
}

#endif
