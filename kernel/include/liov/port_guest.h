/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_PORT_GUEST_H
#define LIOV_PORT_GUEST_H

/*
 * The port, guest part: for the frontend. port_types.h defines struct port_guest: a virtual
 * NVMe function in the guest kernel's hands. Contexts as in port_base.h.
 */

#include "port_base.h"

static inline struct port_home *port_guest_home(struct port_guest *g);

/* The virtual function. P */
static inline u32 port_guest_cfg_rd32(struct port_guest *g, u32 off);
static inline void port_guest_cfg_wr32(struct port_guest *g, u32 off, u32 val);
/* BAR 0 as registers; the CMB BAR as memory and, for doorbells in it, as registers; its guest-physical base. */
static inline int port_guest_map(struct port_guest *g, struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs,
				 gpa_t *cmb_gpa, u64 *cmb_size_bytes);

/* Zeroed guest memory that the device may use, page aligned. P */
static inline int port_guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa);
static inline void port_guest_dma_free(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t gpa);
/* The guest's memory ranges, @i from 0; false past the last. They are registered with the device at bring-up. */
static inline bool port_guest_mem_range(struct port_guest *g, u32 i, gpa_t *gpa, u64 *len_bytes);

/* Route MSI-X vector @vec to fn(arg), in interrupt context. request, free: P */
static inline u32 port_guest_irq_count(struct port_guest *g);
static inline int port_guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg);
static inline void port_guest_irq_free(struct port_guest *g, u32 vec);

/* A request given to liov_frontend_submit() ended: @status 0, or an NVMe status code. IAP */
static inline void port_guest_complete(struct port_guest *g, void *cookie, u16 status);

#include "port_guest_impl.h"

#endif
