// SPDX-License-Identifier: GPL-2.0
/*
 * PRPs of mediated commands: lists gathered from guest memory into a private copy, and all pages held. The
 * contracts of what is not static stand in prp.h.
 */

#include "prp.h"

/*
 * The last slot of a list page is a pointer to the next page only where more entries remain
 * than slots; after the first page each brings at least 511 entries, so the loop ends.
 */
/*@ requires 1 <= nr <= LIOV_PRP_ENTRIES;
  @ requires \valid(entries + (0 .. LIOV_PRP_ENTRIES - 1));
  @ assigns entries[0 .. nr - 1];
  @*/
static u16 copy_list(struct liov_mediator *med, u64 list, u64 *entries, u32 nr)
{
	u32 got = 0;

	if (list % 8 != 0)
		return NVME_SC_INVALID_PRP_OFFSET;
	/*@ loop invariant bound: 0 <= got < nr;
	  @ loop invariant slot: list % 8 == 0;
	  @ loop invariant next: list % 4096 == 0 || list == \at(list, Pre) && got == 0;
	  @ loop assigns got, list, entries[0 .. nr - 1];
	  @ loop variant (list % 4096 == 0 ? 0 : 1);
	  @*/
	while (got < nr) {
		u32 slots = (u32)(SPEC_PAGE_SIZE - list % SPEC_PAGE_SIZE) / 8, take = nr - got;
		bool chained = take > slots;
		u16 status;

		if (chained)
			take = slots;
		status = liov_mediator_read_list(med, list, &entries[got], take);
		if (status)
			return status;
		got += take;
		if (!chained)
			break;
		list = entries[--got];
		if (list % SPEC_PAGE_SIZE != 0)
			return NVME_SC_INVALID_PRP_OFFSET;
	}
	return 0;
}

u16 liov_prp_gather(struct liov_mediator *med, u64 prp1, u64 prp2, u64 *entries, u32 nr)
{
	u16 status = 0;

	if (prp1 % 4 != 0)
		return NVME_SC_INVALID_PRP_OFFSET;
	if (nr > LIOV_PRP_ENTRIES)
		return NVME_SC_INVALID_FIELD;
	if (nr == 1)
		entries[0] = prp2;
	else if (nr > 1)
		status = copy_list(med, prp2, entries, nr);
	if (status)
		return status;
	return liov_prp_aligned(entries, nr) ? 0 : NVME_SC_INVALID_PRP_OFFSET;
}

bool liov_prp_hold(struct liov_mediator *med, u64 prp1, u32 bytes, const u64 *entries, u32 nr)
{
	u32 i;

	if (!liov_mediator_hold_page(med, (gpa_t){ prp1 }, liov_prp_first_bytes(prp1, bytes)))
		return false;
	/*@ loop invariant bound: 0 <= i <= nr;
	  @ loop invariant held: \forall integer j; 0 <= j < i ==> held(entries[j], page_bytes(prp1, bytes, j));
	  @ loop assigns i;
	  @ loop variant nr - i;
	  @*/
	for (i = 0; i < nr; i++)
		if (!liov_mediator_hold_page(med, (gpa_t){ entries[i] }, liov_prp_page_bytes(prp1, bytes, i)))
			break;
	if (i == nr)
		return true;
	/*@ loop invariant bound: 0 <= i < nr;
	  @ loop assigns i;
	  @ loop variant i;
	  @*/
	while (i > 0) {
		i--;
		liov_mediator_drop_page(med, (gpa_t){ entries[i] }, liov_prp_page_bytes(prp1, bytes, i));
	}
	liov_mediator_drop_page(med, (gpa_t){ prp1 }, liov_prp_first_bytes(prp1, bytes));
	return false;
}
