/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_PORT_GUEST_IMPL_H
#define GUEST_PORT_GUEST_IMPL_H

/* The port's guest part in the bare guest: image/kernel.c does the work. */

static inline struct port_home *port_guest_home(struct port_guest *g)
{
	return &g->home;
}

static inline u32 port_guest_cfg_rd32(struct port_guest *g, u32 off)
{
	(void)g;
	return guest_cfg_rd32(off);
}

static inline void port_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val)
{
	(void)g;
	guest_cfg_wr32(off, val);
}

static inline int port_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs,
				 gpa_t *cmb_gpa, u64 *cmb_size_bytes)
{
	(void)g;
	return guest_map(bar0, cmb, cmb_regs, cmb_gpa, cmb_size_bytes);
}

static inline int port_guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa)
{
	return guest_dma_alloc(g, nr_pages, s, gpa);
}

static inline void port_guest_dma_free(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t gpa)
{
	(void)g, (void)nr_pages, (void)s, (void)gpa;
}

static inline bool port_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len_bytes)
{
	(void)g;
	*gpa = (gpa_t){ GUEST_RAM };
	*len_bytes = GUEST_RAM_BYTES;
	return i == 0;
}

static inline u32 port_guest_irq_count(struct port_guest *g)
{
	(void)g;
	return GUEST_QUEUES + 1;
}

static inline int port_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg)
{
	return guest_irq_request(g, vec, fn, arg);
}

static inline void port_guest_irq_free(struct port_guest *g, u32 vec)
{
	guest_irq_free(g, vec);
}

static inline void port_guest_complete(struct port_guest *g, void *cookie, u16 status)
{
	(void)g;
	guest_completed(cookie, status);
}

#endif
