/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_COPY_H
#define LIOV_CORE_COPY_H

/* Source ranges of a Copy command (NVM 3.2.2) in a private copy. Pure, with contracts (check.h). */

#include "check.h"
#include "nvme.h"

/*@ logic integer copy_blocks{L}(struct nvme_copy_range *r, integer nr) =
  @   nr <= 0 ? 0 : copy_blocks(r, nr - 1) + r[nr - 1].nlb + 1;
  @*/
/* Blocks of all ranges. */
/*@ requires nr <= 128 && \valid_read(r + (0 .. nr - 1));
  @ assigns \nothing;
  @ ensures sum: \result == copy_blocks(r, nr);
  @ ensures bound: \result <= nr * 65536;
  @*/
static inline u64 liov_copy_blocks(const struct nvme_copy_range *r, u32 nr)
{
	u64 total = 0;

	/*@ loop invariant bound: 0 <= i <= nr && total <= i * 65536;
	  @ loop invariant sum: total == copy_blocks(r, i);
	  @ loop assigns i, total;
	  @ loop variant nr - i;
	  @*/
	for (u32 i = 0; i < nr; i++)
		total += r[i].nlb + 1ull;
	return total;
}

/* Checked ranges as the controller gets them; the VM has (ghost) @size blocks from @lba_start on. */
/*@ requires \valid(r + (0 .. nr - 1));
  @ requires extent: lba_start + size <= u64_end;
  @ requires checked: \forall integer i; 0 <= i < nr ==> r[i].slba + r[i].nlb + 1 <= size;
  @ assigns r[0 .. nr - 1].slba;
  @ ensures exact: \forall integer i; 0 <= i < nr ==> r[i].slba == lba_start + \old(r[i].slba);
  @ ensures within: \forall integer i; 0 <= i < nr ==>
  @   lba_start <= r[i].slba && r[i].slba + r[i].nlb + 1 <= lba_start + size;
  @*/
static inline void liov_copy_translate(struct nvme_copy_range *r, u32 nr, u64 lba_start) /*@ ghost (u64 size) */
{
	/*@ loop invariant bound: 0 <= i <= nr;
	  @ loop invariant done: \forall integer j; 0 <= j < i ==> r[j].slba == lba_start + \at(r[j].slba, Pre);
		  @ loop invariant todo: \forall integer j; i <= j < nr ==> r[j].slba == \at(r[j].slba, Pre);
	  @ loop assigns i, r[0 .. nr - 1].slba;
	  @ loop variant nr - i;
	  @*/
	for (u32 i = 0; i < nr; i++)
		r[i].slba = liov_lba_translate(lba_start, (vlba_t){ r[i].slba }).v;
}

#endif
