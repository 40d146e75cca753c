/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_PORT_TYPES_H
#define SIM_PORT_TYPES_H

/*
 * The simulator's handles for the port. Addresses are host-physical for the host's home and
 * guest-physical for a guest's; which it is, the home knows.
 */

#include "spec_types.h"

struct port_home;
struct port_host;
struct port_vm;
struct port_guest;
struct task;

struct port_mmio {
	struct port_home *home;
	u64 base;
};

struct port_shm {
	struct port_home *home;
	u64 base;
};

/* @nr frames from @hpa on; their count of references is the frame allocator's. */
struct port_pages {
	struct port_host *host;
	u64 hpa;
	u32 nr;
};

/* Tasks that wait, in the order they came. */
struct port_waitq {
	struct task *head, *tail;
};

struct port_watch {
	struct port_host *host;
	struct port_pages pages;
	void (*fn)(void *arg);
	void *arg;
	struct port_watch *next;	/* of the host's */
	struct task *task;		/* calls fn */
	struct port_waitq idle;
	bool stored;			/* since fn was last called */
	bool ended;
};

struct port_lock {
	struct port_home *home;
	bool held;
	struct port_waitq waiters;
};

struct port_mutex {
	struct port_home *home;
	bool held;
	struct port_waitq waiters;
};

struct port_event {
	struct port_home *home;
	bool signalled;
	struct port_waitq waiters;
};

struct port_work {
	struct port_home *home;
	void (*fn)(void *arg);
	void *arg;
	struct port_work *next;
	bool queued, running;
	u32 cancelling;		/* who waits for its end: it cannot be queued meanwhile */
	struct port_waitq idle;
};

struct port_timer {
	struct port_home *home;
	void (*fn)(void *arg);
	void *arg;
	u64 event[8];		/* a struct event */
};

#endif
