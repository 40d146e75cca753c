/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

/*
 * The simulator's side of model/sched.h: makes the queue of events and runs it. One
 * queue is one machine's time; it belongs to the thread that runs it.
 */

#include "sched.h"

/* Returned by sched_next_time() when nothing is queued. */
#define SCHED_NEVER (~0ULL)

/* Why sched_run_until() came back. */
enum sched_stop {
	SCHED_REACHED,		/* everything up to the time asked for has run */
	SCHED_STOPPED,		/* somebody called sched_stop() */
	SCHED_EXHAUSTED,	/* sched_limit_events(): no progress in time, or too long a run */
};

/* A queue at time 0, or NULL without memory. */
struct sched *sched_new(void);

/* Events still queued stay their owners', and may no longer be cancelled. */
void sched_free(struct sched *s);

/*
 * Run all events up to and at @time_ps, then let the time be @time_ps. A time in the
 * past runs nothing. On SCHED_STOPPED and SCHED_EXHAUSTED the time is that of the last
 * event run. An event's function may not call this or sched_run_one().
 */
enum sched_stop sched_run_until(struct sched *s, u64 time_ps);

/* Run the next event, whenever it is due. False if there is none. */
bool sched_run_one(struct sched *s);

/* Make the sched_run_until() that is running return after the present event. */
void sched_stop(struct sched *s);

/*
 * Let sched_run_until() run at most @count events more, over all its calls: the bound that
 * ends a world whose events re-arm themselves without time going on. SCHED_NEVER: no limit.
 */
void sched_limit_events(struct sched *s, u64 count);

/*
 * From now on @pick says which of @n events of one time and priority runs next: 0 is the one that was
 * added first, up to n - 1. NULL: first added, first run.
 */
void sched_shuffle(struct sched *s, u32 (*pick)(void *opaque, u32 n), void *opaque);

bool sched_empty(const struct sched *s);

/* When the next event is due, in ps; SCHED_NEVER if none is queued. */
u64 sched_next_time(struct sched *s);

/* Events run since sched_new(). */
u64 sched_events_run(const struct sched *s);

#endif
