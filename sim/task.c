// SPDX-License-Identifier: GPL-2.0
#include "task.h"
#include "coro.h"

#include <assert.h>
#include <stdlib.h>

static _Thread_local struct task *current;

static void task_main(void *arg)
{
	struct task *t = arg;

	t->fn(t->arg);
	t->done = true;
	task_wake_all(&t->joiners);
}

static void task_run(struct event *ev)
{
	struct task *t = container_of_event(ev, struct task, wake);
	struct task *outer = current;

	if (t->waiting) {	/* the time-out came first */
		struct port_waitq *q = t->waiting;
		struct task **p = &q->head, *prev = NULL;

		while (*p != t) {
			prev = *p;
			p = &(*p)->next_waiting;
		}
		*p = t->next_waiting;
		if (q->tail == t)
			q->tail = prev;
		t->waiting = NULL;
		t->timed_out = true;
	}
	current = t;
	coro_resume(t->coro);
	current = outer;
}

struct task *task_new(struct sched *s, struct task **list, const char *name, void (*fn)(void *arg), void *arg)
{
	struct task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->coro = coro_new(task_main, t, CORO_STACK_BYTES);
	if (!t->coro) {
		free(t);
		return NULL;
	}
	t->sched = s;
	t->name = name;
	t->fn = fn;
	t->arg = arg;
	event_init(&t->wake, task_run, EVENT_PRIO_CPU);
	t->next = *list;
	*list = t;
	sched_after(s, &t->wake, 0);
	return t;
}

void task_free_all(struct task **list)
{
	while (*list) {
		struct task *t = *list;

		*list = t->next;
		sched_cancel(t->sched, &t->wake);
		coro_free(t->coro);
		free(t);
	}
}

struct task *task_current(void)
{
	return current;
}

void task_sleep(u64 ps)
{
	struct task *t = current;

	assert(t);
	sched_after(t->sched, &t->wake, ps);
	coro_yield();
}

bool task_wait(struct port_waitq *q, u64 timeout_ps)
{
	struct task *t = current;

	assert(t);
	t->next_waiting = NULL;
	if (q->tail)
		q->tail->next_waiting = t;
	else
		q->head = t;
	q->tail = t;
	t->waiting = q;
	t->timed_out = false;
	if (timeout_ps != TASK_FOREVER)
		sched_after(t->sched, &t->wake, timeout_ps);
	coro_yield();
	return !t->timed_out;
}

void task_wake_one(struct port_waitq *q)
{
	struct task *t = q->head;

	if (!t)
		return;
	q->head = t->next_waiting;
	if (!q->head)
		q->tail = NULL;
	t->waiting = NULL;
	sched_cancel(t->sched, &t->wake);
	sched_after(t->sched, &t->wake, 0);
}

void task_wake_all(struct port_waitq *q)
{
	while (q->head)
		task_wake_one(q);
}

void task_join(struct task *t)
{
	while (!t->done)
		task_wait(&t->joiners, TASK_FOREVER);
}
