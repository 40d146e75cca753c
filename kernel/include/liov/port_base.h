/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_PORT_BASE_H
#define LIOV_PORT_BASE_H

/*
 * The port, part for all: what LightIOV asks of any home. A home puts port_types.h,
 * port_errno.h and port_base_impl.h on the include path and defines each function as static
 * inline (which may call its own code). Contexts: I interrupt, A atomic (a lock is held),
 * P process; a call may be made in those named. Shared memory is reached only through
 * port_shm_*: never by dereference.
 *
 * port_types.h defines: struct port_home (what all handles belong to), port_mmio, port_shm
 * (both small, copied by value), port_lock, port_mutex, port_event, port_work, port_timer.
 */

#include "types.h"
#include "trace.h"
#include "port_types.h"

/* Device registers. Ordered among themselves. IAP */
static inline u32 port_mmio_rd32(const struct port_mmio *m, u32 off);
static inline u64 port_mmio_rd64(const struct port_mmio *m, u32 off);
static inline void port_mmio_wr32(const struct port_mmio *m, u32 off, u32 val);
static inline void port_mmio_wr64(const struct port_mmio *m, u32 off, u64 val); /* high half first where it is two writes */

/*
 * Memory shared with a device or a VM, which may change it at any time: read once, then look at the
 * copy. No tearing within an aligned 8 bytes. IAP
 */
static inline u64 port_shm_rd64(const struct port_shm *s, u32 off);
static inline void port_shm_copy_in(const struct port_shm *s, u32 off, void *dst, u32 len_bytes);
static inline void port_shm_copy_out(const struct port_shm *s, u32 off, const void *src, u32 len_bytes);
static inline void port_shm_zero(const struct port_shm *s, u32 off, u32 len_bytes);

/* Stores before (loads after) are seen by the device before the next register write (after the last load). IAP */
static inline void port_dma_wmb(struct port_home *home);
static inline void port_dma_rmb(struct port_home *home);

/* Spin lock, usable against interrupts; returns what unlock needs. IAP */
static inline void port_lock_init(struct port_home *home, struct port_lock *l);
static inline unsigned long port_lock_irqsave(struct port_lock *l);
static inline void port_unlock_irqrestore(struct port_lock *l, unsigned long flags);

/* Mutex. P */
static inline void port_mutex_init(struct port_home *home, struct port_mutex *m);
static inline void port_mutex_lock(struct port_mutex *m);
static inline void port_mutex_unlock(struct port_mutex *m);

/* Event: stays signalled until reset. Wait: P, false after timeout_ns; signal: IAP. */
static inline void port_event_init(struct port_home *home, struct port_event *ev);
static inline void port_event_reset(struct port_event *ev);
static inline void port_event_signal(struct port_event *ev);
static inline bool port_event_wait(struct port_event *ev, u64 timeout_ns);

/*
 * Run fn(arg) soon in process context. Queueing a queued work does nothing. queue: IAP; cancel_sync:
 * P, returns when it does not run and is not queued.
 */
static inline void port_work_init(struct port_home *home, struct port_work *w, void (*fn)(void *arg), void *arg);
static inline void port_work_queue(struct port_work *w);
static inline void port_work_cancel_sync(struct port_work *w);

/* Run fn(arg) in interrupt context after delay_ns. arm (again): IAP; cancel_sync: P. */
static inline void port_timer_init(struct port_home *home, struct port_timer *t, void (*fn)(void *arg), void *arg);
static inline void port_timer_arm(struct port_timer *t, u64 delay_ns);
static inline void port_timer_cancel_sync(struct port_timer *t);

/* Let the time pass. P */
static inline void port_sleep_ns(struct port_home *home, u64 ns);
/* Monotonic. IAP */
static inline u64 port_now_ns(struct port_home *home);

static inline void port_trace(struct port_home *home, const struct liov_trace *t);

/*
 * A named check refused, a named step is to be taken (core/site.h). Is it left out in this run? A home
 * that does not experiment has constants here, and nothing is left of them. IAP
 */
static inline bool port_site_ablated(u32 site);
static inline void port_site_refused(u32 site);
static inline void port_site_taken(u32 site);

/* Zeroed memory, or NULL. P, control paths only. */
static inline void *port_alloc(struct port_home *home, size_t bytes);
static inline void port_free(struct port_home *home, void *p);

#include "port_base_impl.h"	/* also: LIOV_ASSERT(cond), memcpy, memset, memcmp */

#endif
