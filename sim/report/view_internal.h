/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_REPORT_VIEW_INTERNAL_H
#define SIM_REPORT_VIEW_INTERNAL_H

/* What view.c, which collects, and view_compare.c share. */

#include "digest.h"
#include "report/view.h"

#include <uthash.h>

enum view_kind { VIEW_MEMORY, VIEW_LOAD, VIEW_REGISTER, VIEW_CONFIG, VIEW_INTERRUPT, VIEW_FRAMES, VIEW_PAGE, VIEW_COMPLETION };

/* Where something is seen. Hashed as bytes: no padding. */
struct view_place {
	u32 vm, kind;
	u64 at;
};

struct view_seen {
	u64 value;		/* of up to 8 bytes; of more their hash */
	u64 seq;		/* among all of the view */
	u64 after_ps;
	u32 len;
};

struct view_channel {
	struct view_place place;
	u32 nr, cap;
	struct view_seen *seen;
	UT_hash_handle hh;
};

/* A step on the way to what is seen: an event of the VMs' own commands, vCPUs, queues. */
struct view_step {
	u64 after_ps;
	u32 kind, vm;
};

/* Something that came at all, however often, and in whatever order. */
struct view_mark {
	u64 hash;
	UT_hash_handle hh;
};

struct view {
	u64 vms;
	struct machine *m;
	struct digest scratch;
	u8 buf[SPEC_PAGE_SIZE];		/* not on the stack of whoever makes the event */
	bool failed;
	struct view_channel *channels;	/* in the order of their first values */
	struct view_mark *sent;		/* sectors that devices read from the VMs' memory */
	struct view_mark *came;		/* what came to them: sectors that they had not sent, statuses, answers, frames' content */
	u64 seq;
	struct view_step *step;
	u32 nr_steps, cap_steps;
	u64 acted_ps[MACHINE_VMS_MAX];
	u32 queue_owner[512];
	u64 lba_start[MACHINE_VMS_MAX];
	/* Of those who are not looked at: sums and chains of hashes. */
	u64 data, frames, blocks, accesses;
};

#endif
