// SPDX-License-Identifier: GPL-2.0
/*
 * A monotone radix heap: nothing is ever added before the present, so an event can be
 * filed by the highest bit in which its time differs from the present. Events of the
 * present itself are *near*: one FIFO for each priority. All others are *far*: list b
 * holds the times whose highest bit different from the present is bit b.
 *
 * When the near lists are empty, the present moves to the earliest time of the lowest
 * far list, and that list alone is filed again. Each event so moves to lower lists
 * only: adding and running cost a few list operations, cancelling costs one.
 *
 * Order. Events of one time are always in the same list (near: one priority's), in the
 * order they were added, so no sequence number is kept:
 *  - the list is a function of the time, the priority and the present alone. Let the present
 *    move from P to P', no later than any queued event, and k be the highest bit in which
 *    they differ: far lists above k keep their events, as bits above k of the present
 *    stay as they were; lists below k, and the near ones, are empty, as they could hold
 *    nothing but times before P'; list k is filed again;
 *  - adding appends at the tail;
 *  - filing list k again walks it from its head and appends to lists that were empty.
 */
#include "event.h"

#include <assert.h>
#include <stdlib.h>

#define FAR_LISTS 64
#define LISTS (FAR_LISTS + EVENT_PRIO_COUNT)

struct sched {
	u64 now_ps;		/* what the lists are relative to */
	u64 far;		/* far lists that are not empty */
	u32 near;		/* near lists that are not empty, by priority */
	bool next_known;
	bool stop;
	bool running;
	u64 next_ps;		/* if next_known: earliest time of the far lists */
	u64 run;
	u64 run_limit;		/* value of run at which sched_run_until() gives up */
	u32 (*pick)(void *opaque, u32 n);	/* NULL: first added, first run */
	void *pick_opaque;
	struct event *head[LISTS];	/* head->prev is the tail, the tail's next is NULL */
};

struct sched *sched_new(void)
{
	struct sched *s = calloc(1, sizeof(*s));

	if (s)
		s->run_limit = SCHED_NEVER;
	return s;
}

void sched_free(struct sched *s)
{
	free(s);
}

u64 sched_now(const struct sched *s)
{
	return s->now_ps;
}

u64 sched_events_run(const struct sched *s)
{
	return s->run;
}

bool sched_empty(const struct sched *s)
{
	return !s->far && !s->near;
}

void sched_stop(struct sched *s)
{
	s->stop = true;
}

void sched_shuffle(struct sched *s, u32 (*pick)(void *opaque, u32 n), void *opaque)
{
	s->pick = pick;
	s->pick_opaque = opaque;
}

void sched_limit_events(struct sched *s, u64 count)
{
	s->run_limit = count > SCHED_NEVER - s->run ? SCHED_NEVER : s->run + count;
}

static void list_append(struct event **head, struct event *ev)
{
	struct event *first = *head;

	ev->next = NULL;
	if (!first) {
		ev->prev = ev;
		*head = ev;
		return;
	}
	ev->prev = first->prev;
	first->prev->next = ev;
	first->prev = ev;
}

static void list_remove(struct event **head, struct event *ev)
{
	if (*head == ev)
		*head = ev->next;
	else
		ev->prev->next = ev->next;
	if (ev->next)
		ev->next->prev = ev->prev;
	else if (*head)
		(*head)->prev = ev->prev;
}

/* Put @ev at the end of the list its time and priority name. */
static void sched_file(struct sched *s, struct event *ev)
{
	u64 diff = ev->time_ps ^ s->now_ps;

	if (diff) {
		ev->bucket = (u8)(63 - __builtin_clzll(diff));
		s->far |= BIT_ULL(ev->bucket);
	} else {
		ev->bucket = (u8)(FAR_LISTS + ev->prio);
		s->near |= 1U << ev->prio;
	}
	list_append(&s->head[ev->bucket], ev);
}

static void sched_unfile(struct sched *s, struct event *ev)
{
	list_remove(&s->head[ev->bucket], ev);
	if (s->head[ev->bucket])
		return;
	if (ev->bucket < FAR_LISTS)
		s->far &= ~BIT_ULL(ev->bucket);
	else
		s->near &= ~(1U << ev->prio);
}

/* Let the time be @time_ps, which is not before now and not after any queued event. */
static void sched_advance(struct sched *s, u64 time_ps)
{
	u64 diff = time_ps ^ s->now_ps;
	struct event *ev, *next;
	int list;

	s->now_ps = time_ps;
	if (!diff)
		return;
	list = 63 - __builtin_clzll(diff);
	ev = s->head[list];
	s->head[list] = NULL;
	s->far &= ~BIT_ULL(list);
	for (; ev; ev = next) {
		next = ev->next;
		sched_file(s, ev);
	}
}

/* Earliest far time; the lowest list that is not empty has it. There is such a list. */
static u64 sched_far_time(struct sched *s)
{
	const struct event *ev;

	if (s->next_known)
		return s->next_ps;
	ev = s->head[__builtin_ctzll(s->far)];
	s->next_ps = ev->time_ps;
	for (ev = ev->next; ev; ev = ev->next)
		if (ev->time_ps < s->next_ps)
			s->next_ps = ev->time_ps;
	s->next_known = true;
	return s->next_ps;
}

u64 sched_next_time(struct sched *s)
{
	if (s->near)
		return s->now_ps;
	return s->far ? sched_far_time(s) : SCHED_NEVER;
}

/*
 * A delay that ends after the last ps there is falls on it: what is asked for 213 days
 * ahead does not happen in a simulation, but must not happen now either.
 */
void sched_after(struct sched *s, struct event *ev, u64 delay_ps)
{
	assert(!ev->queued && ev->fn && ev->prio < EVENT_PRIO_COUNT);

	ev->time_ps = delay_ps > SCHED_NEVER - s->now_ps ? SCHED_NEVER : s->now_ps + delay_ps;
	ev->queued = 1;
	sched_file(s, ev);
	if (ev->bucket < FAR_LISTS && s->next_known && ev->time_ps < s->next_ps)
		s->next_ps = ev->time_ps;
}

void sched_cancel(struct sched *s, struct event *ev)
{
	if (!ev->queued)
		return;
	sched_unfile(s, ev);
	ev->queued = 0;
	if (ev->bucket < FAR_LISTS && ev->time_ps == s->next_ps)
		s->next_known = false;
}

/* Of the events of one time and priority, which are in the list of @first, the one that is picked. */
static struct event *sched_pick(struct sched *s, struct event *first)
{
	struct event *ev;
	u32 n = 0;

	for (ev = first; ev; ev = ev->next)
		n++;
	if (n == 1)
		return first;
	for (n = s->pick(s->pick_opaque, n), ev = first; n; n--)
		ev = ev->next;
	return ev;
}

/* Run the first event; there is one. Its owner may free it, so it is not looked at after. */
static void sched_run_first(struct sched *s)
{
	struct event *ev;

	if (!s->near) {
		sched_advance(s, sched_far_time(s));
		s->next_known = false;
	}
	ev = s->head[FAR_LISTS + __builtin_ctz(s->near)];
	if (__builtin_expect(s->pick != NULL, false))
		ev = sched_pick(s, ev);
	sched_unfile(s, ev);
	ev->queued = 0;
	s->run++;
	s->running = true;
	ev->fn(ev);
	s->running = false;
}

bool sched_run_one(struct sched *s)
{
	assert(!s->running);
	if (sched_empty(s))
		return false;
	sched_run_first(s);
	return true;
}

enum sched_stop sched_run_until(struct sched *s, u64 time_ps)
{
	assert(!s->running);
	s->stop = false;
	while (!sched_empty(s) && sched_next_time(s) <= time_ps) {
		if (s->run >= s->run_limit)
			return SCHED_EXHAUSTED;
		sched_run_first(s);
		if (s->stop)
			return SCHED_STOPPED;
	}
	if (time_ps > s->now_ps)
		sched_advance(s, time_ps);
	return SCHED_REACHED;
}
