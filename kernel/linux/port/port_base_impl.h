/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_PORT_PORT_BASE_IMPL_H
#define LINUX_PORT_PORT_BASE_IMPL_H

/* Linux's side of port_base.h. Included by it, after the declarations. */

#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/slab.h>
#include <asm/unaligned.h>

/* Remembers for good that an assertion failed: no new VM or device is taken on after that. */
void liov_home_broken(void);
void liov_home_trace(struct port_home *home, const struct liov_trace *t);

/* Our own mistake: said once with a backtrace; the caller goes on to where it can stop cleanly. */
#define LIOV_ASSERT(cond) ((void)(WARN_ON_ONCE(!(cond)) ? liov_home_broken() : (void)0))

/* @off and @len_bytes inside something of @size bytes: offsets are the core's own, never a guest's. */
static inline bool liov_home_inside(u64 size, u32 off, u32 len_bytes)
{
	bool inside = (u64)off + len_bytes <= size;

	LIOV_ASSERT(inside);
	return inside;
}

static inline u32 port_mmio_rd32(const struct port_mmio *m, u32 off)
{
	return liov_home_inside(m->len_bytes, off, 4) ? readl(m->base + off) : ~0u;
}

static inline u64 port_mmio_rd64(const struct port_mmio *m, u32 off)
{
	return liov_home_inside(m->len_bytes, off, 8) ? readq(m->base + off) : ~0ull;
}

static inline void port_mmio_wr32(const struct port_mmio *m, u32 off, u32 val)
{
	if (liov_home_inside(m->len_bytes, off, 4))
		writel(val, m->base + off);
}

static inline void port_mmio_wr64(const struct port_mmio *m, u32 off, u64 val)
{
	if (liov_home_inside(m->len_bytes, off, 8))
		writeq(val, m->base + off);
}

static inline u64 liov_home_rd64(const struct port_shm *s, u32 off)
{
	return s->io ? __raw_readq(s->io + off) : READ_ONCE(*(u64 *)(s->mem + off));
}

static inline void liov_home_wr64(const struct port_shm *s, u32 off, u64 val)
{
	if (s->io)
		__raw_writeq(val, s->io + off);
	else
		WRITE_ONCE(*(u64 *)(s->mem + off), val);
}

static inline u8 liov_home_rd8(const struct port_shm *s, u32 off)
{
	return s->io ? __raw_readb(s->io + off) : READ_ONCE(*(u8 *)(s->mem + off));
}

static inline void liov_home_wr8(const struct port_shm *s, u32 off, u8 val)
{
	if (s->io)
		__raw_writeb(val, s->io + off);
	else
		WRITE_ONCE(*(u8 *)(s->mem + off), val);
}

static inline u64 port_shm_rd64(const struct port_shm *s, u32 off)
{
	if (!liov_home_inside(s->len_bytes, off, 8))
		return ~0ull;
	return liov_home_rd64(s, off);
}

/*
 * Each aligned 8 bytes are one load or store, each byte is touched once: memcpy() and
 * memcpy_toio() promise neither.
 */
static inline void port_shm_copy_in(const struct port_shm *s, u32 off, void *dst, u32 len_bytes)
{
	u8 *to = dst;

	if (!liov_home_inside(s->len_bytes, off, len_bytes)) {
		memset(dst, 0xff, len_bytes);
		return;
	}
	while (len_bytes) {
		if (IS_ALIGNED(off, 8) && len_bytes >= 8) {
			put_unaligned(liov_home_rd64(s, off), (u64 *)to);
			to += 8;
			off += 8;
			len_bytes -= 8;
		} else {
			*to++ = liov_home_rd8(s, off++);
			len_bytes--;
		}
	}
}

static inline void port_shm_copy_out(const struct port_shm *s, u32 off, const void *src, u32 len_bytes)
{
	const u8 *from = src;

	if (!liov_home_inside(s->len_bytes, off, len_bytes))
		return;
	while (len_bytes) {
		if (IS_ALIGNED(off, 8) && len_bytes >= 8) {
			liov_home_wr64(s, off, get_unaligned((const u64 *)from));
			from += 8;
			off += 8;
			len_bytes -= 8;
		} else {
			liov_home_wr8(s, off++, *from++);
			len_bytes--;
		}
	}
}

static inline void port_shm_zero(const struct port_shm *s, u32 off, u32 len_bytes)
{
	if (!liov_home_inside(s->len_bytes, off, len_bytes))
		return;
	while (len_bytes) {
		if (IS_ALIGNED(off, 8) && len_bytes >= 8) {
			liov_home_wr64(s, off, 0);
			off += 8;
			len_bytes -= 8;
		} else {
			liov_home_wr8(s, off++, 0);
			len_bytes--;
		}
	}
}

static inline void port_dma_wmb(struct port_home *home)
{
	/* Not dma_wmb(): an SQ in the CMB is device memory, whose stores only the full barrier orders. */
	wmb();
}

static inline void port_dma_rmb(struct port_home *home)
{
	rmb();	/* as above */
}

static inline void port_lock_init(struct port_home *home, struct port_lock *l)
{
	spin_lock_init(&l->lock);
}

static inline unsigned long port_lock_irqsave(struct port_lock *l)
{
	unsigned long flags;

	spin_lock_irqsave(&l->lock, flags);
	return flags;
}

static inline void port_unlock_irqrestore(struct port_lock *l, unsigned long flags)
{
	spin_unlock_irqrestore(&l->lock, flags);
}

static inline void port_mutex_init(struct port_home *home, struct port_mutex *m)
{
	mutex_init(&m->mutex);
}

static inline void port_mutex_lock(struct port_mutex *m)
{
	mutex_lock(&m->mutex);
}

static inline void port_mutex_unlock(struct port_mutex *m)
{
	mutex_unlock(&m->mutex);
}

/* From here on in place, so that lockdep tells the locks of different call sites apart. */
#define port_lock_init(home, l)		do { (void)(home); spin_lock_init(&(l)->lock); } while (0)
#define port_mutex_init(home, m)	do { (void)(home); mutex_init(&(m)->mutex); } while (0)

static inline void port_event_init(struct port_home *home, struct port_event *ev)
{
	init_completion(&ev->done);
}

static inline void port_event_reset(struct port_event *ev)
{
	reinit_completion(&ev->done);
}

static inline void port_event_signal(struct port_event *ev)
{
	complete_all(&ev->done);
}

/* One jiffy more: the current one has already begun. */
static inline bool port_event_wait(struct port_event *ev, u64 timeout_ns)
{
	return wait_for_completion_timeout(&ev->done, nsecs_to_jiffies(timeout_ns) + 1) != 0;
}

static inline void liov_home_work(struct work_struct *work)
{
	struct port_work *w = container_of(work, struct port_work, work);

	w->fn(w->arg);
}

static inline void port_work_init(struct port_home *home, struct port_work *w, void (*fn)(void *arg), void *arg)
{
	INIT_WORK(&w->work, liov_home_work);
	w->home = home;
	w->fn = fn;
	w->arg = arg;
}

static inline void port_work_queue(struct port_work *w)
{
	queue_work(w->home->wq, &w->work);
}

static inline void port_work_cancel_sync(struct port_work *w)
{
	cancel_work_sync(&w->work);
}

static inline enum hrtimer_restart liov_home_timer(struct hrtimer *timer)
{
	struct port_timer *t = container_of(timer, struct port_timer, timer);

	t->fn(t->arg);		/* may arm again: that is HRTIMER_NORESTART's business too */
	return HRTIMER_NORESTART;
}

static inline void port_timer_init(struct port_home *home, struct port_timer *t, void (*fn)(void *arg), void *arg)
{
	hrtimer_init(&t->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	t->timer.function = liov_home_timer;
	t->fn = fn;
	t->arg = arg;
}

static inline void port_timer_arm(struct port_timer *t, u64 delay_ns)
{
	hrtimer_start(&t->timer, ns_to_ktime(delay_ns), HRTIMER_MODE_REL_SOFT);
}

static inline void port_timer_cancel_sync(struct port_timer *t)
{
	hrtimer_cancel(&t->timer);
}

static inline void port_sleep_ns(struct port_home *home, u64 ns)
{
	fsleep(DIV_ROUND_UP_ULL(ns, NSEC_PER_USEC));
}

static inline u64 port_now_ns(struct port_home *home)
{
	return ktime_get_ns();
}

static inline void port_trace(struct port_home *home, const struct liov_trace *t)
{
	liov_home_trace(home, t);
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
	return kvzalloc(bytes, GFP_KERNEL);
}

static inline void port_free(struct port_home *home, void *p)
{
	kvfree(p);
}

#endif
