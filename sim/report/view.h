/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_REPORT_VIEW_H
#define SIM_REPORT_VIEW_H

/*
 * What some VMs are given to see, and nothing that they do themselves:
 *
 *  memory    what devices (data, completions) and the host (the virtual device's) write into their memory
 *  load      what their loads find where no memory of theirs is: queues' pages, registers, another's memory
 *  completion ... in a CQ in their CMB: the whole entry that they looked at
 *  register  what the host answers to a trapped read of the virtual controller's BARs
 *  config    ... and of its configuration space
 *  interrupt which vCPU took which vector
 *  frames    what their frames held when they were given them, where it was not zeros
 *  page      what a page of their CMB held when it was first mapped
 *
 * Each place is a channel of its own: a sequence of values without time, for what comes first at two
 * places is time. A place that is polled counts when its value changes. Not in it is what a VM writes, so
 * that an attacker may use addresses that it guessed, and other ones in another run. Beside each value
 * stands how long after the VM's last act (store, exit) it came: the view's times.
 *
 * Two runs with different secrets of others (scenario/secret.h) must give equal views: noninterference.
 */

#include "machine.h"

struct view;

/* Of VMs @vms, by bit; NULL without memory. It may live longer than the machine. */
struct view *view_new(u64 vms);
void view_free(struct view *v);
/* Before anything runs. */
void view_attach(struct view *v, struct machine *m);

struct view_comparison {
	bool failed;			/* no memory: nothing is said */
	bool same;			/* all channels */
	bool order;			/* ... or all but how completions follow on each other in their queues */
	u64 digest[2], observations[2];
	char what[240];			/* the first that differs: where, and both values */
	/* What was another secret: content that devices moved to and from others' memory, where their frames and blocks are, which blocks they used. */
	bool data, frames, blocks, accesses;
	u64 timing_ps;			/* where views are the same: the largest difference of one of their times, */
	char late[120];			/* of what, */
	char source[160];		/* and where it comes from: the first step that took another time */
};

void view_compare(struct view *a, struct view *b, struct view_comparison *out);

#endif
