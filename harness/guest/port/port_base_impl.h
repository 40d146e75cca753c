/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_PORT_BASE_IMPL_H
#define GUEST_PORT_BASE_IMPL_H

/* The port's base part in the bare guest: image/kernel.c does the work. */

#include "image/kernel.h"

#define LIOV_ASSERT(cond) ((cond) ? (void)0 : guest_fail(__LINE__))

static inline u32 port_mmio_rd32(const struct port_mmio *m, u32 off)
{
	u32 val;

	guest_read(m->base + off, &val, 4);
	return val;
}

static inline u64 port_mmio_rd64(const struct port_mmio *m, u32 off)
{
	u64 low = port_mmio_rd32(m, off);

	return (u64)port_mmio_rd32(m, off + 4) << 32 | low;
}

static inline void port_mmio_wr32(const struct port_mmio *m, u32 off, u32 val)
{
	guest_write(m->base + off, &val, 4);
}

static inline void port_mmio_wr64(const struct port_mmio *m, u32 off, u64 val)
{
	port_mmio_wr32(m, off + 4, (u32)(val >> 32));
	port_mmio_wr32(m, off, (u32)val);
}

static inline u64 port_shm_rd64(const struct port_shm *s, u32 off)
{
	u64 val;

	guest_read(s->base + off, &val, 8);
	return val;
}

static inline void port_shm_copy_in(const struct port_shm *s, u32 off, void *dst, u32 len_bytes)
{
	guest_read(s->base + off, dst, len_bytes);
}

static inline void port_shm_copy_out(const struct port_shm *s, u32 off, const void *src, u32 len_bytes)
{
	guest_write(s->base + off, src, len_bytes);
}

static inline void port_shm_zero(const struct port_shm *s, u32 off, u32 len_bytes)
{
	guest_zero(s->base + off, len_bytes);
}

/* Stores are not reordered: volatile ones in program order, on a processor with total store order. */
static inline void port_dma_wmb(struct port_home *home)
{
	(void)home;
}

static inline void port_dma_rmb(struct port_home *home)
{
	(void)home;
}

static inline void port_lock_init(struct port_home *home, struct port_lock *l)
{
	(void)home;
	l->held = false;
}

static inline unsigned long port_lock_irqsave(struct port_lock *l)
{
	LIOV_ASSERT(!l->held);
	l->held = true;
	return 0;
}

static inline void port_unlock_irqrestore(struct port_lock *l, unsigned long flags)
{
	(void)flags;
	l->held = false;
}

static inline void port_mutex_init(struct port_home *home, struct port_mutex *m)
{
	(void)home;
	m->held = false;
}

static inline void port_mutex_lock(struct port_mutex *m)
{
	LIOV_ASSERT(!m->held);
	m->held = true;
}

static inline void port_mutex_unlock(struct port_mutex *m)
{
	m->held = false;
}

static inline void port_event_init(struct port_home *home, struct port_event *ev)
{
	*ev = (struct port_event){ .home = home };
}

static inline void port_event_reset(struct port_event *ev)
{
	ev->signalled = false;
}

static inline void port_event_signal(struct port_event *ev)
{
	ev->signalled = true;
}

static inline bool port_event_wait(struct port_event *ev, u64 timeout_ns)
{
	return guest_event_wait(ev, timeout_ns);
}

static inline void port_work_init(struct port_home *home, struct port_work *w, void (*fn)(void *arg), void *arg)
{
	*w = (struct port_work){ .home = home, .fn = fn, .arg = arg };
}

static inline void port_work_queue(struct port_work *w)
{
	guest_work_queue(w);
}

static inline void port_work_cancel_sync(struct port_work *w)
{
	guest_work_cancel(w);
}

/* The frontend has no timers. */
static inline void port_timer_init(struct port_home *home, struct port_timer *t, void (*fn)(void *arg), void *arg)
{
	(void)home, (void)t, (void)fn, (void)arg;
	guest_fail(__LINE__);
}

static inline void port_timer_arm(struct port_timer *t, u64 delay_ns)
{
	(void)t, (void)delay_ns;
	guest_fail(__LINE__);
}

static inline void port_timer_cancel_sync(struct port_timer *t)
{
	(void)t;
	guest_fail(__LINE__);
}

static inline void port_sleep_ns(struct port_home *home, u64 ns)
{
	guest_sleep_ns(home, ns);
}

static inline u64 port_now_ns(struct port_home *home)
{
	return home->now_ns;
}

static inline void port_trace(struct port_home *home, const struct liov_trace *t)
{
	(void)home, (void)t;
}

/* Nothing is ever left out here, and nobody counts. */
static inline bool port_site_ablated(u32 site)
{
	(void)site;
	return false;
}

static inline void port_site_refused(u32 site)
{
	(void)site;
}

static inline void port_site_taken(u32 site)
{
	(void)site;
}

static inline void *port_alloc(struct port_home *home, size_t bytes)
{
	(void)home;
	return guest_alloc(bytes);
}

/* What is allocated is allocated once: a guest that ends has no use for it. */
static inline void port_free(struct port_home *home, void *p)
{
	(void)home, (void)p;
}

#endif
