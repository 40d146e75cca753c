/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_IMAGE_KERNEL_H
#define GUEST_IMAGE_KERNEL_H

/*
 * The little kernel around the frontend. What it does to memory and ports is four calls, which
 * are instructions in the image (start.S) and the modelled vCPU's where the same sources run in
 * the machine's own process (model.c).
 */

#include <stddef.h>

#include "guest.h"
#include "port_types.h"

/* Any guest-physical address; what is not RAM is accessed in 4 bytes at a time, with instructions the VMM knows. */
void guest_read(u64 gpa, void *buf, u32 len_bytes);
void guest_write(u64 gpa, const void *buf, u32 len_bytes);
u32 guest_in(u32 port);
void guest_out(u32 port, u32 val);

void *memcpy(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

/* Ends the guest. */
void guest_fail(u32 line) __attribute__((noreturn));

void guest_zero(u64 gpa, u32 len_bytes);
bool guest_event_wait(struct port_event *ev, u64 timeout_ns);
void guest_sleep_ns(struct port_home *home, u64 ns);
void guest_work_queue(struct port_work *w);
void guest_work_cancel(struct port_work *w);
/* Zeroed. */
void *guest_alloc(size_t bytes);
u32 guest_cfg_rd32(u32 off);
void guest_cfg_wr32(u32 off, u32 val);
int guest_map(struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs, gpa_t *cmb_gpa, u64 *cmb_size);
int guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa);
int guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg);
void guest_irq_free(struct port_guest *g, u32 vec);
/* Call the handlers of what came in, after a wait. */
void guest_wait_irq(struct port_home *home);
/* And then do the work they left. Not inside an admin command. */
void guest_idle(struct port_home *home);

/* A line of the log. Of formats: %s, %u (u32), %x (u64). */
void guest_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* main.c */
void guest_completed(void *cookie, u16 status);
void guest_main(void);

#endif
