// SPDX-License-Identifier: GPL-2.0
/*
 * First fit over ranges of numbers: LBAs, IOVAs, windows, CMB offsets. A table in ascending
 * order, never two entries that touch, so that what was given back can be taken as one again.
 * Contracts as in check.h: what is free after a call is what was before, less or more the range.
 */

#include "internal.h"

/*@ logic integer start_of{L}(struct liov_extents *x, integer i) = x->free[i].start;
  @ logic integer end_of{L}(struct liov_extents *x, integer i) = x->free[i].start + x->free[i].count;
  @ predicate some{L}(struct liov_extents *x) =
  @   \forall integer i; 0 <= i < x->nr ==> start_of(x, i) < end_of(x, i) <= u64_end;
  @ predicate apart{L}(struct liov_extents *x) =
  @   \forall integer i, j; 0 <= i < j < x->nr ==> end_of(x, i) < start_of(x, j);
  @ predicate table{L}(struct liov_extents *x) = x->nr <= LIOV_EXTENTS_MAX && some(x) && apart(x);
  @ predicate in_entry{L}(struct liov_extents *x, integer i, integer n) = start_of(x, i) <= n < end_of(x, i);
  @ predicate is_free{L}(struct liov_extents *x, integer n) =
  @   \exists integer i; 0 <= i < x->nr && in_entry(x, i, n);
  @ predicate same{A, B}(struct liov_extents *x, integer from, integer to) =
  @   \forall integer i; from <= i < to ==>
  @     \at(x->free[i].start, B) == \at(x->free[i].start, A) && \at(x->free[i].count, B) == \at(x->free[i].count, A);
  @ predicate up{A, B}(struct liov_extents *x, integer from, integer to) =
  @   \forall integer i; from <= i < to ==>
  @     \at(x->free[i].start, B) == \at(x->free[i - 1].start, A) &&
  @     \at(x->free[i].count, B) == \at(x->free[i - 1].count, A);
  @ predicate down{A, B}(struct liov_extents *x, integer from, integer to) =
  @   \forall integer i; from <= i < to ==>
  @     \at(x->free[i].start, B) == \at(x->free[i + 1].start, A) &&
  @     \at(x->free[i].count, B) == \at(x->free[i + 1].count, A);
  @*/

/*@ requires \valid(x);
  @ requires no_wrap: start + count <= u64_end;
  @ assigns x->nr, x->free[0];
  @ ensures table: table(x);
  @ ensures exact: \forall integer n; is_free(x, n) <==> start <= n < start + count;
  @*/
void liov_extents_init(struct liov_extents *x, u64 start, u64 count)
{
	LIOV_ASSERT(count == 0 || start <= ~0ULL - (count - 1));
	x->nr = 0;
	if (count != 0) {
		x->free[0] = (struct liov_range){ start, count };
		x->nr = 1;
		/*@ assert one: \forall integer n; in_entry(x, 0, n) <==> start <= n < start + count; */
	}
}

/*@ requires \valid(x) && table(x) && 0 <= at < x->nr;
  @ assigns x->nr, x->free[0 .. LIOV_EXTENTS_MAX - 1];
  @ ensures fewer: x->nr == \old(x->nr) - 1;
  @ ensures table: table(x);
  @ ensures below: same{Pre, Post}(x, 0, at);
  @ ensures next: at < x->nr ==> start_of(x, at) == start_of{Pre}(x, at + 1);
  @ ensures exact: \forall integer n; is_free(x, n) <==> is_free{Pre}(x, n) && !in_entry{Pre}(x, at, n);
  @*/
static void entry_remove(struct liov_extents *x, u32 at)
{
	x->nr--;
	/*@ loop invariant bound: at <= i <= x->nr;
	  @ loop invariant below: same{Pre, Here}(x, 0, at);
	  @ loop invariant above: down{Pre, Here}(x, at, i);
	  @ loop invariant rest: same{Pre, Here}(x, i, x->nr + 1);
	  @ loop assigns i, x->free[0 .. LIOV_EXTENTS_MAX - 1];
	  @ loop variant x->nr - i;
	  @*/
	for (u32 i = at; i < x->nr; i++)
		x->free[i] = x->free[i + 1];
	/*@ assert kept: \forall integer i; at < i < \at(x->nr, Pre) ==>
	  @   start_of(x, i - 1) == start_of{Pre}(x, i) && end_of(x, i - 1) == end_of{Pre}(x, i);
	  @*/
	/*@ assert low: \forall integer i, j; 0 <= i < j < at ==> end_of(x, i) < start_of(x, j); */
	/*@ assert across: \forall integer i, j; 0 <= i < at <= j < x->nr ==> end_of(x, i) < start_of(x, j); */
	/*@ assert high: \forall integer i, j; at <= i < j < x->nr ==> end_of(x, i) < start_of(x, j); */
	/*@ assert some: some(x); */
	/*@ assert was: \forall integer n, i; 0 <= i < x->nr && in_entry(x, i, n) ==>
	  @   in_entry{Pre}(x, i < at ? i : i + 1, n);
	  @*/
	/*@ assert is: \forall integer n, i; 0 <= i < \at(x->nr, Pre) && i != at && in_entry{Pre}(x, i, n) ==>
	  @   in_entry(x, i < at ? i : i - 1, n);
	  @*/
	/*@ assert one: \forall integer n, i; 0 <= i < \at(x->nr, Pre) && i != at && in_entry{Pre}(x, i, n) ==>
	  @   !in_entry{Pre}(x, at, n);
	  @*/
}

/* Room for an entry at @at: what stands there and above moves up. The entry itself is the caller's to write. */
/*@ requires \valid(x) && 0 <= at <= x->nr < LIOV_EXTENTS_MAX;
  @ assigns x->nr, x->free[at .. LIOV_EXTENTS_MAX - 1];
  @ ensures more: x->nr == \old(x->nr) + 1;
  @ ensures above: up{Pre, Post}(x, at + 1, x->nr);
  @*/
static void entries_up(struct liov_extents *x, u32 at)
{
	/*@ loop invariant bound: at <= i <= x->nr;
	  @ loop invariant below: same{Pre, Here}(x, at, i);
	  @ loop invariant above: up{Pre, Here}(x, i + 1, x->nr + 1);
	  @ loop assigns i, x->free[at .. LIOV_EXTENTS_MAX - 1];
	  @ loop variant i;
	  @*/
	for (u32 i = x->nr; i > at; i--)
		x->free[i] = x->free[i - 1];
	x->nr++;
}

/*@ requires \valid(x) && table(x) && 0 <= at <= x->nr < LIOV_EXTENTS_MAX;
  @ requires some: 0 < r.count && r.start + r.count <= u64_end;
  @ requires after: at > 0 ==> end_of(x, at - 1) < r.start;
  @ requires before: at < x->nr ==> r.start + r.count < start_of(x, at);
  @ assigns x->nr, x->free[at .. LIOV_EXTENTS_MAX - 1];
  @ ensures more: x->nr == \old(x->nr) + 1;
  @ ensures table: table(x);
  @ ensures exact: \forall integer n; is_free(x, n) <==> is_free{Pre}(x, n) || r.start <= n < r.start + r.count;
  @*/
static void entry_insert(struct liov_extents *x, u32 at, struct liov_range r)
{
	entries_up(x, at);
	x->free[at].start = r.start;
	x->free[at].count = r.count;
	/*@ assert some: some(x); */
	/*@ assert under: \forall integer i; 0 <= i < at ==> end_of(x, i) < start_of(x, at); */
	/*@ assert over: \forall integer i; at < i < x->nr ==> end_of(x, at) < start_of(x, i); */
	/*@ assert low: \forall integer i, j; 0 <= i < j < at ==> end_of(x, i) < start_of(x, j); */
	/*@ assert across: \forall integer i, j; 0 <= i < at < j < x->nr ==> end_of(x, i) < start_of(x, j); */
	/*@ assert high: \forall integer i, j; at < i < j < x->nr ==> end_of(x, i) < start_of(x, j); */
	/*@ assert apart: apart(x); */
	/*@ assert here: \forall integer n; in_entry(x, at, n) <==> r.start <= n < r.start + r.count; */
	/*@ assert kept_low: \forall integer i, n; 0 <= i < at && in_entry{Pre}(x, i, n) ==> in_entry(x, i, n); */
	/*@ assert kept_high: \forall integer i, n; at <= i < x->nr - 1 && in_entry{Pre}(x, i, n) ==> in_entry(x, i + 1, n); */
	/*@ assert is: \forall integer n; is_free{Pre}(x, n) ==> is_free(x, n); */
	/*@ assert was_low: \forall integer i, n; 0 <= i < at && in_entry(x, i, n) ==> in_entry{Pre}(x, i, n); */
	/*@ assert was_high: \forall integer i, n; at < i < x->nr && in_entry(x, i, n) ==> in_entry{Pre}(x, i - 1, n); */
	/*@ assert was: \forall integer n; is_free(x, n) ==> is_free{Pre}(x, n) || in_entry(x, at, n); */
	/*@ assert new: \forall integer n; in_entry(x, at, n) ==> is_free(x, n); */
}

/*@ requires \valid(x) && table(x) && 0 <= at < x->nr;
  @ requires some: 0 < r.count && r.start + r.count <= u64_end;
  @ requires after: at > 0 ==> end_of(x, at - 1) < r.start;
  @ requires before: at + 1 < x->nr ==> r.start + r.count < start_of(x, at + 1);
  @ assigns x->free[at];
  @ ensures table: table(x);
  @ ensures new: start_of(x, at) == r.start && end_of(x, at) == r.start + r.count;
  @ ensures others: same{Pre, Post}(x, 0, at) && same{Pre, Post}(x, at + 1, x->nr);
  @ ensures exact: \forall integer n; is_free(x, n) <==>
  @   is_free{Pre}(x, n) && !in_entry{Pre}(x, at, n) || r.start <= n < r.start + r.count;
  @*/
static void entry_set(struct liov_extents *x, u32 at, struct liov_range r)
{
	x->free[at] = r;
}

/* What is left out at the start of a free range, for alignment. */
/*@ logic integer skipped(integer start, integer align) = start % align == 0 ? 0 : align - start % align; */
/*@ requires 0 < align;
  @ assigns \nothing;
  @ ensures exact: \result == skipped(start, align);
  @ ensures less: \result < align;
  @ ensures aligned: start % align == 0 ? \result == 0 : start + \result == align * (start / align + 1);
  @*/
static u64 left_out(u64 start, u64 align)
{
	u64 past = start % align;

	return past == 0 ? 0 : align - past;
}

/*@ predicate fits{L}(struct liov_extents *x, integer i, integer count, integer align) =
  @   \let s = skipped(start_of(x, i), align); s + count <= x->free[i].count &&
  @   (s == 0 || s + count == x->free[i].count || x->nr < LIOV_EXTENTS_MAX);
  @*/
/* Index of the first entry that @count numbers can be taken from without an entry more than there is room for, or x->nr. */
/*@ requires \valid_read(x) && table(x) && 0 < align && 0 < count;
  @ assigns \nothing;
  @ ensures bound: \result <= x->nr;
  @ ensures fits: \result < x->nr ==> fits(x, \result, count, align);
  @ ensures first: \forall integer i; 0 <= i < \result ==> !fits(x, i, count, align);
  @*/
static u32 entry_find(const struct liov_extents *x, u64 count, u64 align)
{
	u32 i;

	/*@ loop invariant bound: 0 <= i <= x->nr;
	  @ loop invariant first: \forall integer j; 0 <= j < i ==> !fits(x, j, count, align);
	  @ loop assigns i;
	  @ loop variant x->nr - i;
	  @*/
	for (i = 0; i < x->nr; i++) {
		u64 out = left_out(x->free[i].start, align);

		if (out >= x->free[i].count || x->free[i].count - out < count)
			continue;
		if (out == 0 || x->free[i].count - out == count || x->nr < LIOV_EXTENTS_MAX)
			break;
	}
	return i;
}

/*@ requires \valid(x) && table(x) && 0 <= i < x->nr && 0 < count;
  @ requires inside: start_of(x, i) <= start && start + count <= end_of(x, i);
  @ requires room: start == start_of(x, i) || start + count == end_of(x, i) || x->nr < LIOV_EXTENTS_MAX;
  @ assigns x->nr, x->free[0 .. LIOV_EXTENTS_MAX - 1];
  @ ensures table: table(x);
  @ ensures exact: \forall integer n; is_free(x, n) <==> is_free{Pre}(x, n) && !(start <= n < start + count);
  @*/
static void entry_cut(struct liov_extents *x, u32 i, u64 start, u64 count)
{
	struct liov_range f = x->free[i];
	u64 before = start - f.start, after = f.count - before - count;

	if (before != 0) {
		entry_set(x, i, (struct liov_range){ f.start, before });
		if (after != 0)
			entry_insert(x, i + 1, (struct liov_range){ start + count, after });
	} else if (after != 0) {
		entry_set(x, i, (struct liov_range){ start + count, after });
	} else {
		entry_remove(x, i);
	}
}

/*@ requires \valid(x) && table(x) && \valid(start) && \separated(start, x);
  @ requires power_of_two: align != 0 && (align & (align - 1)) == 0;
  @ assigns *start, x->nr, x->free[0 .. LIOV_EXTENTS_MAX - 1];
  @ ensures table: table(x);
  @ ensures either: \result == 0 || \result == -ENOSPC;
  @ ensures aligned: \result == 0 ==> \exists integer i; 0 <= i < \old(x->nr) &&
  @   *start == start_of{Pre}(x, i) + skipped(start_of{Pre}(x, i), align);
  @ ensures was_free: \result == 0 ==> \forall integer n; *start <= n < *start + count ==> is_free{Pre}(x, n);
  @ ensures exact: \result == 0 ==>
  @   \forall integer n; is_free(x, n) <==> is_free{Pre}(x, n) && !(*start <= n < *start + count);
  @ ensures none: \result != 0 && count != 0 ==>
  @   \forall integer i; 0 <= i < \old(x->nr) ==> !fits{Pre}(x, i, count, align);
  @ ensures kept: \result != 0 ==> x->nr == \old(x->nr) && same{Pre, Post}(x, 0, x->nr);
  @*/
int liov_extents_take(struct liov_extents *x, u64 count, u64 align, u64 *start)
{
	u64 at;
	u32 i;

	LIOV_ASSERT(align != 0 && (align & (align - 1)) == 0);
	if (count == 0)
		return -ENOSPC;
	i = entry_find(x, count, align);
	if (i == x->nr)
		return -ENOSPC;
	at = x->free[i].start + left_out(x->free[i].start, align);
	/*@ assert inside: \forall integer n; at <= n < at + count ==> in_entry(x, i, n); */
	entry_cut(x, i, at, count);
	/*@ ghost cut: ; */
	*start = at;
	/*@ assert still: x->nr == \at(x->nr, cut) && same{cut, Here}(x, 0, x->nr); */
	/*@ assert entries: \forall integer i, n; 0 <= i < x->nr ==> (in_entry(x, i, n) <==> in_entry{cut}(x, i, n)); */
	/*@ assert free: \forall integer n; is_free(x, n) <==> is_free{cut}(x, n); */
	return 0;
}

/*@ requires \valid(x) && table(x);
  @ assigns x->nr, x->free[0 .. LIOV_EXTENTS_MAX - 1];
  @ ensures table: table(x);
  @ ensures was_free: \result == 0 ==> \forall integer n; start <= n < start + count ==> is_free{Pre}(x, n);
  @ ensures exact: \result == 0 ==>
  @   \forall integer n; is_free(x, n) <==> is_free{Pre}(x, n) && !(start <= n < start + count);
  @ ensures busy: \result == -EBUSY ==> count == 0 ||
  @   \forall integer i; 0 <= i < \old(x->nr) ==> !(start_of{Pre}(x, i) <= start && start + count <= end_of{Pre}(x, i));
  @ ensures full: \result != 0 && \result != -EBUSY ==> \result == -ENOSPC && x->nr == LIOV_EXTENTS_MAX;
  @ ensures kept: \result != 0 ==> x->nr == \old(x->nr) && same{Pre, Post}(x, 0, x->nr);
  @*/
int liov_extents_take_at(struct liov_extents *x, u64 start, u64 count)
{
	u64 before;
	u32 i;

	/*@ loop invariant bound: 0 <= i <= x->nr;
	  @ loop invariant busy: \forall integer j; 0 <= j < i && count != 0 ==>
	  @   !(start_of(x, j) <= start && start + count <= end_of(x, j));
	  @ loop assigns i;
	  @ loop variant x->nr - i;
	  @*/
	for (i = 0; i < x->nr; i++)
		if (liov_range_inside(x->free[i].start, x->free[i].count, start, count))
			break;
	if (i == x->nr)
		return -EBUSY;
	before = start - x->free[i].start;
	if (before != 0 && x->free[i].count - before != count && x->nr == LIOV_EXTENTS_MAX)
		return -ENOSPC;
	/*@ assert inside: \forall integer n; start <= n < start + count ==> in_entry(x, i, n); */
	/*@ assert free: \forall integer n; start <= n < start + count ==> is_free(x, n); */
	entry_cut(x, i, start, count);
	return 0;
}

/* Index of the first entry beyond @start, or x->nr. */
/*@ requires \valid_read(x) && table(x);
  @ assigns \nothing;
  @ ensures bound: \result <= x->nr;
  @ ensures below: \forall integer i; 0 <= i < \result ==> start_of(x, i) <= start;
  @ ensures above: \forall integer i; \result <= i < x->nr ==> start < start_of(x, i);
  @*/
static u32 entry_after(const struct liov_extents *x, u64 start)
{
	u32 i;

	/*@ loop invariant bound: 0 <= i <= x->nr;
	  @ loop invariant below: \forall integer j; 0 <= j < i ==> start_of(x, j) <= start;
	  @ loop assigns i;
	  @ loop variant x->nr - i;
	  @*/
	for (i = 0; i < x->nr && x->free[i].start <= start; i++)
		;
	return i;
}

/*@ requires \valid(x) && table(x);
  @ requires some: count != 0;
  @ // With the very last number there could be a range of 2^64, which has no count.
  @ requires end: start + count < u64_end && \forall integer i; 0 <= i < x->nr ==> end_of(x, i) < u64_end;
  @ requires taken: \forall integer i; 0 <= i < x->nr ==> end_of(x, i) <= start || start + count <= start_of(x, i);
  @ assigns x->nr, x->free[0 .. LIOV_EXTENTS_MAX - 1];
  @ ensures table: table(x);
  @ ensures exact: \result == 0 ==>
  @   \forall integer n; is_free(x, n) <==> is_free{Pre}(x, n) || start <= n < start + count;
  @ ensures full: \result != 0 ==> \result == -ENOSPC && x->nr == LIOV_EXTENTS_MAX && same{Pre, Post}(x, 0, x->nr);
  @*/
int liov_extents_give(struct liov_extents *x, u64 start, u64 count)
{
	u32 i = entry_after(x, start);
	struct liov_range r = { start, count };

	LIOV_ASSERT(count != 0 && start <= ~0ULL - (count - 1));
	LIOV_ASSERT(i == 0 || start - x->free[i - 1].start >= x->free[i - 1].count);
	LIOV_ASSERT(i == x->nr || x->free[i].start - start >= count);
	/* With the neighbours that it touches it is one entry. */
	if (i < x->nr && x->free[i].start - start == count) {
		r.count += x->free[i].count;
		/*@ assert next: \forall integer n; in_entry(x, i, n) <==> start + count <= n < r.start + r.count; */
		entry_remove(x, i);
	}
	/*@ assert above: i < x->nr ==> r.start + r.count < start_of(x, i); */
	/*@ assert below: i > 0 ==> end_of(x, i - 1) <= start; */
	/*@ assert right: \forall integer n; is_free(x, n) || start <= n < r.start + r.count <==>
	  @   is_free{Pre}(x, n) || start <= n < start + count;
	  @*/
	if (i > 0 && start - x->free[i - 1].start == x->free[i - 1].count) {
		i--;
		r.start = x->free[i].start;
		r.count += x->free[i].count;
		/*@ assert prev: \forall integer n; in_entry(x, i, n) <==> r.start <= n < start; */
		entry_remove(x, i);
	}
	/*@ assert over: i < x->nr ==> r.start + r.count < start_of(x, i); */
	/*@ assert under: i > 0 ==> end_of(x, i - 1) < r.start; */
	/*@ assert left: \forall integer n; is_free(x, n) || r.start <= n < r.start + r.count <==>
	  @   is_free{Pre}(x, n) || start <= n < start + count;
	  @*/
	if (x->nr == LIOV_EXTENTS_MAX)
		return -ENOSPC;
	entry_insert(x, i, r);
	return 0;
}
