/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_HOME_H
#define SIM_HOME_H

/*
 * What the host's and the guests' sides of the port share: locks, events, deferred work,
 * timers and memory of LightIOV's in the simulator. A home belongs to the host or to one VM;
 * a VM's accesses go through the vCPU that the running task stands on.
 */

#include "machine.h"

/* Runs a home's deferred work in a task of its own (a guest's stands on its vCPU 0). */
struct worker {
	struct port_work *head, *tail;
	struct port_waitq wait;
};

struct port_home {
	struct machine *m;
	struct port_vm *vm;		/* NULL: the host's */
	struct worker worker;
	struct sim_chunk *chunks;	/* what sim_alloc() gave and sim_free() has not had back */
	u64 allocs;			/* calls of sim_alloc() */
	struct fault_site no_memory;	/* ... and of verbs that take frames, or (key 1) a vector: one fails */
	bool dead;			/* the guest was killed: its work is not run any more */
};

/* Set up, and start the worker task. */
void home_init(struct port_home *home, struct machine *m, struct port_vm *vm, struct gvcpu *worker_gvcpu);
/* Free all memory still held. Not while its tasks may run. */
void home_fini(struct port_home *home);

#endif
