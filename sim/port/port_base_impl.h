/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_PORT_BASE_IMPL_H
#define SIM_PORT_BASE_IMPL_H

/* The port's base part in the simulator: sim/home.c does the work. */

#include <assert.h>
#include <string.h>

#define LIOV_ASSERT(cond) assert(cond)

u64 sim_mmio_rd(struct port_home *home, u64 addr, unsigned int len);
void sim_mmio_wr(struct port_home *home, u64 addr, u64 val, unsigned int len);
void sim_shm_rd(struct port_home *home, u64 addr, void *dst, u32 len);
void sim_shm_wr(struct port_home *home, u64 addr, const void *src, u32 len);
void sim_shm_zero(struct port_home *home, u64 addr, u32 len);
void sim_wmb(struct port_home *home);
unsigned long sim_lock(struct port_lock *l);
void sim_unlock(struct port_lock *l, unsigned long flags);
void sim_mutex_lock(struct port_mutex *m);
void sim_mutex_unlock(struct port_mutex *m);
void sim_event_signal(struct port_event *ev);
bool sim_event_wait(struct port_event *ev, u64 timeout_ns);
void sim_work_queue(struct port_work *w);
void sim_work_cancel_sync(struct port_work *w);
void sim_timer_init(struct port_timer *t);
void sim_timer_arm(struct port_timer *t, u64 delay_ns);
void sim_timer_cancel(struct port_timer *t);
void sim_sleep_ns(struct port_home *home, u64 ns);
u64 sim_now_ns(struct port_home *home);
void sim_trace(struct port_home *home, const struct liov_trace *t);
void *sim_alloc(struct port_home *home, size_t bytes);
void sim_free(struct port_home *home, void *p);

static inline u32 port_mmio_rd32(const struct port_mmio *m, u32 off)
{
	return (u32)sim_mmio_rd(m->home, m->base + off, 4);
}

static inline u64 port_mmio_rd64(const struct port_mmio *m, u32 off)
{
	return sim_mmio_rd(m->home, m->base + off, 8);
}

static inline void port_mmio_wr32(const struct port_mmio *m, u32 off, u32 val)
{
	sim_mmio_wr(m->home, m->base + off, val, 4);
}

static inline void port_mmio_wr64(const struct port_mmio *m, u32 off, u64 val)
{
	sim_mmio_wr(m->home, m->base + off, val, 8);
}

static inline u64 port_shm_rd64(const struct port_shm *s, u32 off)
{
	u64 v;

	sim_shm_rd(s->home, s->base + off, &v, 8);
	return v;
}

static inline void port_shm_copy_in(const struct port_shm *s, u32 off, void *dst, u32 len_bytes)
{
	sim_shm_rd(s->home, s->base + off, dst, len_bytes);
}

static inline void port_shm_copy_out(const struct port_shm *s, u32 off, const void *src, u32 len_bytes)
{
	sim_shm_wr(s->home, s->base + off, src, len_bytes);
}

static inline void port_shm_zero(const struct port_shm *s, u32 off, u32 len_bytes)
{
	sim_shm_zero(s->home, s->base + off, len_bytes);
}

static inline void port_dma_wmb(struct port_home *home)
{
	sim_wmb(home);
}

/* Loads are never reordered here. */
static inline void port_dma_rmb(struct port_home *home)
{
	(void)home;
}

static inline void port_lock_init(struct port_home *home, struct port_lock *l)
{
	*l = (struct port_lock){ .home = home };
}

static inline unsigned long port_lock_irqsave(struct port_lock *l)
{
	return sim_lock(l);
}

static inline void port_unlock_irqrestore(struct port_lock *l, unsigned long flags)
{
	sim_unlock(l, flags);
}

static inline void port_mutex_init(struct port_home *home, struct port_mutex *m)
{
	*m = (struct port_mutex){ .home = home };
}

static inline void port_mutex_lock(struct port_mutex *m)
{
	sim_mutex_lock(m);
}

static inline void port_mutex_unlock(struct port_mutex *m)
{
	sim_mutex_unlock(m);
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
	sim_event_signal(ev);
}

static inline bool port_event_wait(struct port_event *ev, u64 timeout_ns)
{
	return sim_event_wait(ev, timeout_ns);
}

static inline void port_work_init(struct port_home *home, struct port_work *w, void (*fn)(void *arg), void *arg)
{
	*w = (struct port_work){ .home = home, .fn = fn, .arg = arg };
}

static inline void port_work_queue(struct port_work *w)
{
	sim_work_queue(w);
}

static inline void port_work_cancel_sync(struct port_work *w)
{
	sim_work_cancel_sync(w);
}

static inline void port_timer_init(struct port_home *home, struct port_timer *t, void (*fn)(void *arg), void *arg)
{
	*t = (struct port_timer){ .home = home, .fn = fn, .arg = arg };
	sim_timer_init(t);
}

static inline void port_timer_arm(struct port_timer *t, u64 delay_ns)
{
	sim_timer_arm(t, delay_ns);
}

static inline void port_timer_cancel_sync(struct port_timer *t)
{
	sim_timer_cancel(t);
}

static inline void port_sleep_ns(struct port_home *home, u64 ns)
{
	sim_sleep_ns(home, ns);
}

static inline u64 port_now_ns(struct port_home *home)
{
	return sim_now_ns(home);
}

static inline void port_trace(struct port_home *home, const struct liov_trace *t)
{
	sim_trace(home, t);
}

/* sim/sites.c: which are left out, and where each was met. Read and written here, for this is on every path. */
extern bool sim_site_ablated[];
extern u8 sim_site_met[], sim_site_now;

static inline bool port_site_ablated(u32 site)
{
	return sim_site_ablated[site];
}

static inline void port_site_refused(u32 site)
{
	sim_site_met[site] |= sim_site_now;
}

static inline void port_site_taken(u32 site)
{
	sim_site_met[site] |= (u8)(sim_site_now << 4);	/* a step, not a refusal */
}

static inline void *port_alloc(struct port_home *home, size_t bytes)
{
	return sim_alloc(home, bytes);
}

static inline void port_free(struct port_home *home, void *p)
{
	sim_free(home, p);
}

#endif
