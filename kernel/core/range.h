/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_RANGE_H
#define LIOV_CORE_RANGE_H

/*
 * Whole pages and parts of ranges: what registered memory and the frontend's segments count with. Pure, with
 * contracts (check.h). A range may end at 2^64, so no function adds up where one ends.
 */

#include "check.h"

/* Whole pages, at least one, that end at 2^64 or before. */
/*@ assigns \nothing;
  @ ensures exact: \result != 0 <==> len != 0 && addr % 4096 == 0 && len % 4096 == 0 && addr + len <= u64_end;
  @*/
static inline bool liov_pages_whole(u64 addr, u64 len)
{
	return len != 0 && addr % SPEC_PAGE_SIZE == 0 && len % SPEC_PAGE_SIZE == 0 && addr <= ~0ULL - (len - 1);
}

/* Is no byte of [addr, addr + len) after @last? */
/*@ assigns \nothing;
  @ ensures exact: \result != 0 <==> len != 0 && addr + len - 1 <= last;
  @*/
static inline bool liov_range_until(u64 addr, u64 len, u64 last)
{
	return len != 0 && len - 1 <= last && addr <= last - (len - 1);
}

/* Number of the page that @addr is in, from the page at @start on; (ghost) @len bytes of whole pages hold it. */
/*@ requires whole: start % 4096 == 0 && len % 4096 == 0;
  @ requires inside: start <= addr < start + len;
  @ assigns \nothing;
  @ ensures page: start + \result * 4096 <= addr < start + (\result + 1) * 4096;
  @ ensures index: \result < len / 4096;
  @*/
static inline u64 liov_page_of(u64 start, u64 addr) /*@ ghost (u64 len) */
{
	return (addr - start) / SPEC_PAGE_SIZE;
}

/* How much of [addr, addr + len) lies on the page of its first byte. */
/*@ requires some: len != 0;
  @ assigns \nothing;
  @ ensures one_page: 1 <= \result <= len && addr % 4096 + \result <= 4096;
  @ ensures all: \result == len || addr % 4096 + \result == 4096;
  @*/
static inline u32 liov_page_part(u64 addr, u64 len)
{
	u32 room = (u32)(SPEC_PAGE_SIZE - addr % SPEC_PAGE_SIZE);

	return len < room ? (u32)len : room;
}

/* What is left of a range on both sides of a part of it. */
struct liov_rest {
	u64 before, after;
};

/*@ requires inside: start <= addr && addr + len <= start + count;
  @ assigns \nothing;
  @ ensures before: start + \result.before == addr;
  @ ensures after: addr + len + \result.after == start + count;
  @*/
static inline struct liov_rest liov_range_rest(u64 start, u64 count, u64 addr, u64 len)
{
	struct liov_rest r;

	r.before = addr - start;
	r.after = count - r.before - len;
	return r;
}

/* The numbers that two ranges share; there are some. */
/*@ requires shared: 0 < count && 0 < len && start < addr + len && addr < start + count;
  @ requires ends: start + count <= u64_end && addr + len <= u64_end;
  @ assigns \nothing;
  @ ensures some: 0 < \result.count;
  @ ensures exact: \forall integer n; \result.start <= n < \result.start + \result.count <==>
  @   start <= n < start + count && addr <= n < addr + len;
  @*/
static inline struct liov_range liov_range_shared(u64 start, u64 count, u64 addr, u64 len)
{
	struct liov_range r;

	r.start = addr > start ? addr : start;
	count -= r.start - start;
	len -= r.start - addr;
	r.count = count < len ? count : len;
	return r;
}

#endif
