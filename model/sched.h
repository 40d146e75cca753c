/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SCHED_H
#define MODEL_SCHED_H

/*
 * Injected time. The model never reads a clock: it asks to be called after a delay.
 * sim/event.c implements this queue; unit tests may use it or one of their own.
 * Time is in picoseconds since the machine was made.
 */

#include "spec/spec_types.h"

struct sched;

/* Order of events that fall on the same picosecond; lower runs first. */
enum event_prio {
	EVENT_PRIO_HW,		/* devices, links, IOMMU */
	EVENT_PRIO_IRQ,		/* interrupts reach a core */
	EVENT_PRIO_CPU,		/* vCPUs and host threads go on */
	EVENT_PRIO_TIMEOUT,	/* timers: whatever could still happen has happened */
	EVENT_PRIO_END,		/* end of the simulation */
	EVENT_PRIO_COUNT
};

/*
 * An event is embedded in its owner and is not moved while queued.
 * Only fn and prio are the owner's; set them once with event_init().
 */
struct event {
	struct event *next, *prev;	/* queue's */
	u64 time_ps;			/* queue's: when it runs */
	void (*fn)(struct event *);
	u8 prio;			/* enum event_prio */
	u8 queued;			/* queue's: non-zero while waiting to run */
	u8 bucket;			/* queue's */
};

static inline void event_init(struct event *ev, void (*fn)(struct event *), enum event_prio prio)
{
	*ev = (struct event){ .fn = fn, .prio = (u8)prio };
}

static inline bool event_is_queued(const struct event *ev)
{
	return ev->queued != 0;
}

/* Time now, in ps. */
u64 sched_now(const struct sched *s);

/* Run @ev once, @delay_ps from now. @ev must not be queued. Events of one time and priority run in the order they were added. */
void sched_after(struct sched *s, struct event *ev, u64 delay_ps);

/* Take @ev out of the queue; nothing happens if it is not queued. */
void sched_cancel(struct sched *s, struct event *ev);

#define PS_PER_NS 1000ULL
#define PS_PER_US 1000000ULL
#define PS_PER_MS 1000000000ULL

#define container_of_event(ev, type, member) \
	((type *)(void *)((char *)(ev) - offsetof(type, member)))

#endif
