// SPDX-License-Identifier: GPL-2.0
/*
 * First fit over ranges of numbers: LBAs, IOVAs, windows, CMB offsets. A table in ascending
 * order, never two entries that touch, so that what was given back can be taken as one again.
 */

#include "internal.h"

void liov_extents_init(struct liov_extents *x, u64 start, u64 count)
{
	LIOV_ASSERT(count == 0 || start <= ~0ULL - (count - 1));
	memset(x, 0, sizeof(*x));
	if (count != 0) {
		x->free[0] = (struct liov_range){ start, count };
		x->nr = 1;
	}
}

static void entry_remove(struct liov_extents *x, u32 i)
{
	for (x->nr--; i < x->nr; i++)
		x->free[i] = x->free[i + 1];
}

static void entry_insert(struct liov_extents *x, u32 at, struct liov_range r)
{
	for (u32 i = x->nr; i > at; i--)
		x->free[i] = x->free[i - 1];
	x->free[at] = r;
	x->nr++;
}

int liov_extents_take(struct liov_extents *x, u64 count, u64 align, u64 *start)
{
	LIOV_ASSERT(align != 0 && (align & (align - 1)) == 0);
	if (count == 0)
		return -ENOSPC;
	for (u32 i = 0; i < x->nr; i++) {
		struct liov_range *f = &x->free[i];
		u64 skip = (align - (f->start & (align - 1))) & (align - 1);
		u64 rest;

		if (skip >= f->count || f->count - skip < count)
			continue;
		rest = f->count - skip - count;
		if (skip != 0 && rest != 0 && x->nr == LIOV_EXTENTS_MAX)
			continue;	/* would need an entry more */
		*start = f->start + skip;
		if (skip != 0) {
			f->count = skip;
			if (rest != 0)
				entry_insert(x, i + 1, (struct liov_range){ *start + count, rest });
		} else if (rest != 0) {
			*f = (struct liov_range){ *start + count, rest };
		} else {
			entry_remove(x, i);
		}
		return 0;
	}
	return -ENOSPC;
}

int liov_extents_take_at(struct liov_extents *x, u64 start, u64 count)
{
	for (u32 i = 0; i < x->nr; i++) {
		struct liov_range *f = &x->free[i];
		u64 skip, rest;

		if (!liov_range_inside(f->start, f->count, start, count))
			continue;
		skip = start - f->start;
		rest = f->count - skip - count;
		if (skip != 0 && rest != 0 && x->nr == LIOV_EXTENTS_MAX)
			return -ENOSPC;
		if (skip == 0 && rest == 0) {
			entry_remove(x, i);
		} else if (skip == 0) {
			*f = (struct liov_range){ start + count, rest };
		} else {
			f->count = skip;
			if (rest != 0)
				entry_insert(x, i + 1, (struct liov_range){ start + count, rest });
		}
		return 0;
	}
	return -EBUSY;
}

int liov_extents_give(struct liov_extents *x, u64 start, u64 count)
{
	struct liov_range *prev, *next;
	bool joins_prev, joins_next;
	u32 i;

	LIOV_ASSERT(count != 0 && start <= ~0ULL - (count - 1));
	for (i = 0; i < x->nr && x->free[i].start <= start; i++)
		;
	prev = i > 0 ? &x->free[i - 1] : NULL;
	next = i < x->nr ? &x->free[i] : NULL;
	LIOV_ASSERT(!prev || start - prev->start >= prev->count);
	LIOV_ASSERT(!next || next->start - start >= count);
	joins_prev = prev && start - prev->start == prev->count;
	joins_next = next && next->start - start == count;

	if (joins_prev && joins_next) {
		prev->count += count + next->count;
		entry_remove(x, i);
	} else if (joins_prev) {
		prev->count += count;
	} else if (joins_next) {
		next->start = start;
		next->count += count;
	} else if (x->nr < LIOV_EXTENTS_MAX) {
		entry_insert(x, i, (struct liov_range){ start, count });
	} else {
		return -ENOSPC;
	}
	return 0;
}
