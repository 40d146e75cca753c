/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_PORT_TYPES_H
#define GUEST_PORT_TYPES_H

/*
 * The bare guest's handles for the port. There is one vCPU, no interrupt is taken, and nothing
 * runs beside: locks have nothing to do. Addresses are guest-physical and used as they are.
 */

#include "spec_types.h"

struct port_home;
struct port_timer;

struct port_mmio {
	u64 base;
};

struct port_shm {
	u64 base;
};

struct port_lock {
	bool held;
};

struct port_mutex {
	bool held;
};

struct port_event {
	struct port_home *home;
	bool signalled;
};

struct port_work {
	struct port_home *home;
	void (*fn)(void *arg);
	void *arg;
	struct port_work *next;
	bool queued;
};

#define GUEST_VECTORS_MAX 16u

/* The function, and the little kernel around it. */
struct port_home {
	struct { void (*fn)(void *arg); void *arg; } handler[GUEST_VECTORS_MAX];
	struct port_work *work;
	u64 now_ns;			/* slept so far */
	u64 dma_next;			/* drivers' memory, downwards */
};

struct port_guest {
	struct port_home home;
};

#endif
