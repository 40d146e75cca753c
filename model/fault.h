/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_FAULT_H
#define MODEL_FAULT_H

/*
 * A place where hardware may fail, or be slow, in a way that its specification knows. Each time
 * it could happen is an occasion; whoever owns the model arms a place with which occasions it
 * happens at. A place that is not armed costs a branch.
 */

#include "spec/spec_types.h"

#define FAULT_ALL (~0u)		/* key: any */

struct fault_site {
	bool armed;
	u32 key;		/* only of this queue, vector, ...: as the place says; FAULT_ALL */
	u64 skip;		/* occasions that pass before the next */
	u64 left;		/* how often it is still to happen */
	u64 arg;		/* a time in ps, where the fault is one of time */
	u64 hits;		/* how often it happened */
	/* After one that happened: how many occasions pass before the next. NULL: none. */
	u64 (*gap)(void *opaque);
	void *opaque;
};

/* An occasion of an armed place: does it happen? */
bool fault_occasion(struct fault_site *f, u32 key);

static inline bool fault_hits(struct fault_site *f, u32 key)
{
	return __builtin_expect(f->armed, false) && fault_occasion(f, key);
}

#endif
