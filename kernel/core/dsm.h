/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_DSM_H
#define LIOV_CORE_DSM_H

/*
 * Ranges of a Dataset Management command (NVM 3.2.3) in a private copy. All are looked at before any is
 * translated. A range of no blocks names none, wherever it starts. Pure, with contracts (check.h).
 */

#include "check.h"
#include "nvme.h"

/*@ predicate range_inside(integer slba, integer nlb, integer size) = nlb == 0 || slba + nlb <= size; */

/* Index of the first range that is not inside a VM of @size blocks; @nr: all are. */
/*@ requires \valid_read(r + (0 .. nr - 1));
  @ assigns \nothing;
  @ ensures bound: \result <= nr;
  @ ensures before: \forall integer i; 0 <= i < \result ==> range_inside(r[i].slba, r[i].nlb, size);
  @ ensures bad: \result < nr ==> !range_inside(r[\result].slba, r[\result].nlb, size);
  @*/
static inline u32 liov_dsm_check(const struct nvme_dsm_range *r, u32 nr, u64 size)
{
	u32 i;

	/*@ loop invariant bound: 0 <= i <= nr;
	  @ loop invariant before: \forall integer j; 0 <= j < i ==> range_inside(r[j].slba, r[j].nlb, size);
	  @ loop assigns i;
	  @ loop variant nr - i;
	  @*/
	for (i = 0; i < nr; i++)
		if (r[i].nlb != 0 && !liov_lba_inside(size, (vlba_t){ r[i].slba }, r[i].nlb))
			break;
	return i;
}

/* Checked ranges as the controller gets them; the VM has (ghost) @size blocks from @lba_start on. */
/*@ requires \valid(r + (0 .. nr - 1));
  @ requires extent: lba_start + size <= u64_end;
  @ requires checked: \forall integer i; 0 <= i < nr ==> range_inside(r[i].slba, r[i].nlb, size);
  @ assigns r[0 .. nr - 1].slba;
  @ ensures exact: \forall integer i; 0 <= i < nr && r[i].nlb != 0 ==> r[i].slba == lba_start + \old(r[i].slba);
  @ ensures within: \forall integer i; 0 <= i < nr && r[i].nlb != 0 ==>
  @   lba_start <= r[i].slba && r[i].slba + r[i].nlb <= lba_start + size;
  @ ensures none: \forall integer i; 0 <= i < nr && r[i].nlb == 0 ==> r[i].slba == lba_start;
  @*/
static inline void liov_dsm_translate(struct nvme_dsm_range *r, u32 nr, u64 lba_start) /*@ ghost (u64 size) */
{
	/*@ loop invariant bound: 0 <= i <= nr;
	  @ loop invariant done: \forall integer j; 0 <= j < i && r[j].nlb != 0 ==>
	  @   r[j].slba == lba_start + \at(r[j].slba, Pre);
	  @ loop invariant none: \forall integer j; 0 <= j < i && r[j].nlb == 0 ==> r[j].slba == lba_start;
	  @ loop invariant todo: \forall integer j; i <= j < nr ==> r[j].slba == \at(r[j].slba, Pre);
	  @ loop assigns i, r[0 .. nr - 1].slba;
	  @ loop variant nr - i;
	  @*/
	for (u32 i = 0; i < nr; i++)
		r[i].slba = liov_lba_translate(lba_start, (vlba_t){ r[i].nlb != 0 ? r[i].slba : 0 }).v;
}

#endif
