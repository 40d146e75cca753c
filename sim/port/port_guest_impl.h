/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_PORT_GUEST_IMPL_H
#define SIM_PORT_GUEST_IMPL_H

/* The port's guest part in the simulator: sim/vm/port_guest.c does the work. */

struct port_home *sim_guest_home(struct port_guest *g);
u32 sim_guest_cfg_rd32(struct port_guest *g, u32 off);
void sim_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val);
int sim_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs,
		  gpa_t *cmb_gpa, u64 *cmb_size);
int sim_guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa);
void sim_guest_dma_free(struct port_guest *g, u32 nr_pages, gpa_t gpa);
bool sim_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len);
u32 sim_guest_irq_count(struct port_guest *g);
int sim_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg);
void sim_guest_irq_free(struct port_guest *g, u32 vec);
void sim_guest_complete(struct port_guest *g, void *cookie, u16 status);

static inline struct port_home *port_guest_home(struct port_guest *g)
{
	return sim_guest_home(g);
}

static inline u32 port_guest_cfg_rd32(struct port_guest *g, u32 off)
{
	return sim_guest_cfg_rd32(g, off);
}

static inline void port_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val)
{
	sim_guest_cfg_wr32(g, off, val);
}

static inline int port_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs,
				 gpa_t *cmb_gpa, u64 *cmb_size_bytes)
{
	return sim_guest_map(g, bar0, cmb, cmb_regs, cmb_gpa, cmb_size_bytes);
}

static inline int port_guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa)
{
	return sim_guest_dma_alloc(g, nr_pages, s, gpa);
}

static inline void port_guest_dma_free(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t gpa)
{
	(void)s;
	sim_guest_dma_free(g, nr_pages, gpa);
}

static inline bool port_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len_bytes)
{
	return sim_guest_mem_range(g, i, gpa, len_bytes);
}

static inline u32 port_guest_irq_count(struct port_guest *g)
{
	return sim_guest_irq_count(g);
}

static inline int port_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg)
{
	return sim_guest_irq_request(g, vec, fn, arg);
}

static inline void port_guest_irq_free(struct port_guest *g, u32 vec)
{
	sim_guest_irq_free(g, vec);
}

static inline void port_guest_complete(struct port_guest *g, void *cookie, u16 status)
{
	sim_guest_complete(g, cookie, status);
}

#endif
