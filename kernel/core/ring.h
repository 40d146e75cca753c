/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_RING_H
#define LIOV_CORE_RING_H

/*
 * Arithmetic of rings whose indices stay below their length (PCIe 3.1.2, Base 3.3.1.2). One entry stays
 * unused, so that full is not empty. Pure, with contracts (check.h says how they are meant).
 */

#include "liov/types.h"

/*@ predicate in_ring(integer index, integer entries) = 0 <= index < entries;
  @ // (to - from) mod entries
  @ logic integer distance(integer from, integer to, integer entries) =
  @   to >= from ? to - from : entries - from + to;
  @ // consumed: entries ever taken; lap: how often the index came round; the tag is 1 in the first lap.
  @ predicate at(integer index, integer phase, integer entries, integer consumed, integer lap) =
  @   in_ring(index, entries) && 0 <= lap && consumed == lap * entries + index && (phase != 0 <==> lap % 2 == 0);
  @*/

/*@ requires in_ring(index, entries);
  @ assigns \nothing;
  @ ensures below: in_ring(\result, entries);
  @ ensures next: \result == (index + 1 == entries ? 0 : index + 1);
  @*/
static inline u32 liov_ring_next(u32 index, u32 entries)
{
	return index + 1 < entries ? index + 1 : 0;
}

/* Entries from @head on up to @tail. */
/*@ requires in_ring(head, entries) && in_ring(tail, entries);
  @ assigns \nothing;
  @ ensures exact: \result == distance(head, tail, entries);
  @ ensures below: \result < entries;
  @ ensures sum: head + \result == tail || head + \result == tail + entries;
  @*/
static inline u32 liov_ring_used(u32 head, u32 tail, u32 entries)
{
	return tail >= head ? tail - head : entries - head + tail;
}

/*@ requires in_ring(head, entries) && in_ring(tail, entries);
  @ assigns \nothing;
  @ ensures one_unused: \result + distance(head, tail, entries) == entries - 1;
  @*/
static inline u32 liov_ring_free(u32 head, u32 tail, u32 entries)
{
	return entries - 1 - liov_ring_used(head, tail, entries);
}

/* A head doorbell: a new one, and not beyond what was posted, which would free entries that are not there (QD-04). */
/*@ requires in_ring(head, entries) && in_ring(tail, entries);
  @ assigns \nothing;
  @ ensures exact: \result != 0 <==>
  @   in_ring(value, entries) && 0 < distance(head, value, entries) <= distance(head, tail, entries);
  @ ensures rest: \result != 0 ==>
  @   distance(value, tail, entries) == distance(head, tail, entries) - distance(head, value, entries);
  @*/
static inline bool liov_ring_head_ok(u32 head, u32 tail, u32 value, u32 entries)
{
	return value < entries && value != head &&
	       liov_ring_used(head, value, entries) <= liov_ring_used(head, tail, entries);
}

/* One entry on; the phase tag changes where the index comes round (Base 3.3.3.2.2). */
/*@ requires \valid(index) && \valid(phase) && \separated(index, phase);
  @ requires in_ring(*index, entries) && (*phase == 0 || *phase == 1);
  @ assigns *index, *phase;
  @ ensures below: in_ring(*index, entries);
  @ ensures same_lap: \old(*index) + 1 < entries ==> \forall integer consumed, lap;
  @   \old(at(*index, *phase, entries, consumed, lap)) ==> at(*index, *phase, entries, consumed + 1, lap);
  @ ensures next_lap: \old(*index) + 1 == entries ==> \forall integer consumed, lap;
  @   \old(at(*index, *phase, entries, consumed, lap)) ==> at(*index, *phase, entries, consumed + 1, lap + 1);
  @*/
static inline void liov_ring_step(u32 *index, bool *phase, u32 entries)
{
	*index = liov_ring_next(*index, entries);
	if (*index == 0)
		*phase = !*phase;
}

#endif
