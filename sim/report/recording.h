/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_REPORT_RECORDING_H
#define SIM_REPORT_RECORDING_H

/*
 * What a report with a timeline needs of a run: its events, loads and stores of vCPUs included,
 * with the owner of the memory that each reached as it was at that moment. Made only when somebody
 * asks for such a report: to listen to loads and stores takes each off its fast path, which costs
 * time of the machine that simulates, and no simulated time.
 *
 * All of it happens in the run's process; what was chosen goes to the parent's behind the result.
 */

#include "machine.h"

#define RECORDING_HELD	(1u << 18)	/* events held in memory; older ones are let go */
#define RECORDING_SHOWN	64u		/* events of a page's timeline */
#define RECORDING_DATA	64u		/* an SQE */

enum recorded_mark {
	RECORDED_IN_ATTACK = 1,		/* the attack's span was open */
	RECORDED_SHOWN = 2,		/* chosen for a page's timeline */
	RECORDED_OF_VERDICT = 4		/* evidence, or the violation, is of this event */
};

/* How to choose, and what was there to choose from. */
struct recording_choice {
	u32 max;			/* events to hand over */
	u64 io_id;			/* of interest; 0: none */
	u64 moment_ps[32];		/* when evidence was seen, or a violation */
	u32 nr_moments;
};

struct recorded_event {
	struct trace_event ev;		/* without its data */
	u64 gpa;			/* in the owner's memory */
	u64 named_gpa;			/* DMA: the guest-physical address that the VM of the command gave */
	u32 owner;			/* of the memory reached: VM id, SIM_OWNER_HOST, SIM_OWNER_NONE */
	u32 vm;				/* whose command, vCPU or request; SIM_OWNER_NONE: nobody's */
	u32 mark;			/* enum recorded_mark */
	u8 data[RECORDING_DATA];
};

#define RECORDED_NO_ADDRESS (~0ull)

struct recording;

/* Attach before anything runs. NULL without memory. */
struct recording *recording_new(struct machine *m);
void recording_free(struct recording *r);

/* The attack's span begins, or ends. */
void recording_attack(struct recording *r, bool open);

/* Mark, choose, and put what was chosen, in its order, at the front. Returns how many. */
u32 recording_choose(struct recording *r, const struct recording_choice *c);
const struct recorded_event *recording_events(const struct recording *r);
/* Events so far; of those, in the attack's span. */
u64 recording_seen(const struct recording *r);
u64 recording_in_attack(const struct recording *r);

#endif
