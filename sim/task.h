/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_TASK_H
#define SIM_TASK_H

/*
 * Tasks: what runs on a vCPU or as a host thread, a coroutine that may wait for simulated
 * time or for another task. One runs at a time; a wake-up is an event of its own, so the
 * order is the event queue's.
 */

#include "sched.h"
#include "port_types.h"

struct coro;
struct gvcpu;

#define TASK_FOREVER (~0ull)

struct task {
	struct coro *coro;
	struct sched *sched;
	struct event wake;
	struct task *next_waiting;
	struct port_waitq *waiting;	/* queue it stands in */
	bool timed_out;
	bool done;
	struct gvcpu *gvcpu;		/* whose code it runs; NULL: the host's */
	const char *name;
	void (*fn)(void *arg);
	void *arg;
	struct task *next;		/* in the machine's list */
	struct port_waitq joiners;
};

/* Make a task that will run fn(arg) at the present time. @name must outlive it. NULL without memory. */
struct task *task_new(struct sched *s, struct task **list, const char *name, void (*fn)(void *arg), void *arg);

/* Free all tasks of a list, whether they ended or not. Not from inside one. */
void task_free_all(struct task **list);

/* The task that runs, or NULL in event (interrupt) context. */
struct task *task_current(void);

/* Let @ps pass. Only in a task. */
void task_sleep(u64 ps);

/* Stand in @q until woken: true; or until @timeout_ps passed: false. Only in a task. */
bool task_wait(struct port_waitq *q, u64 timeout_ps);

/* From anywhere. */
void task_wake_one(struct port_waitq *q);
void task_wake_all(struct port_waitq *q);

/* Wait until @t has ended. */
void task_join(struct task *t);

#endif
