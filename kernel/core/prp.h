/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_PRP_H
#define LIOV_CORE_PRP_H

/*
 * What the PRPs of a command say (Base 4.1.1): how its data lie in pages, and the list of all pages after the
 * first, gathered into a private copy. Contracts as in check.h.
 */

#include "check.h"
#include "nvme.h"

#define LIOV_PRP_ENTRIES	512u	/* pages after the first: MDTS is at most 2 MiB */
#define LIOV_PRP_OFFSET		(SPEC_PAGE_SIZE - 1)

/*@ logic integer first_bytes(integer prp1, integer bytes) =
  @   bytes < 4096 - prp1 % 4096 ? bytes : 4096 - prp1 % 4096;
  @ logic integer more_pages(integer prp1, integer bytes) = (bytes - first_bytes(prp1, bytes) + 4095) / 4096;
  @ logic integer page_bytes(integer prp1, integer bytes, integer i) =
  @   bytes - first_bytes(prp1, bytes) - i * 4096 < 4096 ? bytes - first_bytes(prp1, bytes) - i * 4096 : 4096;
  @ predicate transfer(integer bytes) = 1 <= bytes <= 0xFFFFF000;
  @*/

/* Bytes on the first page. */
/*@ requires transfer(bytes);
  @ assigns \nothing;
  @ ensures exact: \result == first_bytes(prp1, bytes);
  @ ensures one_page: 1 <= \result && prp1 % 4096 + \result <= 4096 && \result <= bytes;
  @*/
static inline u32 liov_prp_first_bytes(u64 prp1, u32 bytes)
{
	u32 room = (u32)(SPEC_PAGE_SIZE - prp1 % SPEC_PAGE_SIZE);

	return bytes < room ? bytes : room;
}

/* Pages after the first. */
/*@ requires transfer(bytes);
  @ assigns \nothing;
  @ ensures exact: \result == more_pages(prp1, bytes);
  @ ensures enough: bytes - first_bytes(prp1, bytes) <= \result * 4096;
  @ ensures needed: \result > 0 ==> (\result - 1) * 4096 < bytes - first_bytes(prp1, bytes);
  @*/
static inline u32 liov_prp_more_pages(u64 prp1, u32 bytes)
{
	return (u32)((bytes - liov_prp_first_bytes(prp1, bytes) + LIOV_PRP_OFFSET) / SPEC_PAGE_SIZE);
}

/* Bytes used of page @i of those after the first. */
/*@ requires transfer(bytes) && i < more_pages(prp1, bytes);
  @ assigns \nothing;
  @ ensures exact: \result == page_bytes(prp1, bytes, i);
  @ ensures one_page: 1 <= \result <= 4096;
  @ ensures middle: i + 1 < more_pages(prp1, bytes) ==> \result == 4096;
  @ ensures last: i + 1 == more_pages(prp1, bytes) ==> first_bytes(prp1, bytes) + i * 4096 + \result == bytes;
  @*/
static inline u32 liov_prp_page_bytes(u64 prp1, u32 bytes, u32 i)
{
	u32 left = bytes - liov_prp_first_bytes(prp1, bytes) - i * (u32)SPEC_PAGE_SIZE;

	return left < SPEC_PAGE_SIZE ? left : (u32)SPEC_PAGE_SIZE;
}

/* All @nr pages begin where a page does. */
/*@ requires \valid_read(entries + (0 .. nr - 1));
  @ assigns \nothing;
  @ ensures exact: \result != 0 <==> (\forall integer i; 0 <= i < nr ==> entries[i] % 4096 == 0);
  @*/
static inline bool liov_prp_aligned(const u64 *entries, u32 nr)
{
	/*@ loop invariant bound: 0 <= i <= nr;
	  @ loop invariant before: \forall integer j; 0 <= j < i ==> entries[j] % 4096 == 0;
	  @ loop assigns i;
	  @ loop variant nr - i;
	  @*/
	for (u32 i = 0; i < nr; i++)
		if (entries[i] % SPEC_PAGE_SIZE != 0)
			return false;
	return true;
}

/* Checked pages of guest memory as the controller gets them. */
/*@ requires \valid(entries + (0 .. nr - 1));
  @ requires sum: \forall integer i; 0 <= i < nr ==> dma_offset + entries[i] < u64_end;
  @ assigns entries[0 .. nr - 1];
  @ ensures exact: \forall integer i; 0 <= i < nr ==> entries[i] == dma_offset + \old(entries[i]);
  @*/
static inline void liov_prp_translate(u64 *entries, u32 nr, u64 dma_offset)
{
	/*@ loop invariant bound: 0 <= i <= nr;
	  @ loop invariant done: \forall integer j; 0 <= j < i ==> entries[j] == dma_offset + \at(entries[j], Pre);
	  @ loop invariant todo: \forall integer j; i <= j < nr ==> entries[j] == \at(entries[j], Pre);
	  @ loop assigns i, entries[0 .. nr - 1];
	  @ loop variant nr - i;
	  @*/
	for (u32 i = 0; i < nr; i++)
		entries[i] = liov_dma_translate(dma_offset, (gpa_t){ entries[i] }).v;
}

/*
 * What the lists and the memory are is the caller's affair (mediator_prp.c): its functions are taken at their
 * word here. read_list: @nr entries from guest memory at @list, once, into @to, and no more than that; 0, or a
 * status. hold_page: true only where all of it lies in one registered range, which then is held.
 */
struct liov_mediator;
/*@ axiomatic Memory { predicate held(integer gpa, integer len); } */
/*@ requires \valid(to + (0 .. nr - 1)) && 1 <= nr;
  @ requires one_page: list % 8 == 0 && list % 4096 + nr * 8 <= 4096;
  @ assigns to[0 .. nr - 1];
  @*/
u16 liov_mediator_read_list(struct liov_mediator *med, u64 list, u64 *to, u32 nr);
/*@ requires one_page: 1 <= len_bytes && gpa.v % 4096 + len_bytes <= 4096;
  @ assigns \nothing;
  @ ensures held: \result != 0 ==> held(gpa.v, len_bytes);
  @*/
bool liov_mediator_hold_page(struct liov_mediator *med, gpa_t gpa, u32 len_bytes);
/*@ requires one_page: 1 <= len_bytes && gpa.v % 4096 + len_bytes <= 4096;
  @ assigns \nothing;
  @*/
void liov_mediator_drop_page(struct liov_mediator *med, gpa_t gpa, u32 len_bytes);

/* prp.c. entries[]: the @nr pages after the first, page aligned; 0, or the status that refuses the command. */
/*@ requires \valid(entries + (0 .. LIOV_PRP_ENTRIES - 1));
  @ assigns entries[0 .. LIOV_PRP_ENTRIES - 1];
  @ ensures bound: \result == 0 ==> nr <= LIOV_PRP_ENTRIES;
  @ ensures first: \result == 0 ==> prp1 % 4 == 0;
  @ ensures aligned: \result == 0 ==> \forall integer i; 0 <= i < nr ==> entries[i] % 4096 == 0;
  @ ensures one: \result == 0 && nr == 1 ==> entries[0] == prp2;
  @*/
u16 liov_prp_gather(struct liov_mediator *med, u64 prp1, u64 prp2, u64 *entries, u32 nr);

/* Hold the first page and those of @entries, each as far as the data go; all or none. */
/*@ requires transfer(bytes) && nr == more_pages(prp1, bytes);
  @ requires \valid_read(entries + (0 .. nr - 1));
  @ requires aligned: \forall integer i; 0 <= i < nr ==> entries[i] % 4096 == 0;
  @ assigns \nothing;
  @ ensures first: \result != 0 ==> held(prp1, first_bytes(prp1, bytes));
  @ ensures rest: \result != 0 ==>
  @   \forall integer i; 0 <= i < nr ==> held(entries[i], page_bytes(prp1, bytes, i));
  @*/
bool liov_prp_hold(struct liov_mediator *med, u64 prp1, u32 bytes, const u64 *entries, u32 nr);

#endif
