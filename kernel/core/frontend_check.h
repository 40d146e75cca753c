/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_FRONTEND_CHECK_H
#define LIOV_CORE_FRONTEND_CHECK_H

/*
 * Every isolation check of the frontend, in one place, so that a build can leave them all
 * out (LIOV_NO_FRONTEND_CHECKS): a frontend runs in the guest, and but for the paper's policy
 * nothing may depend on it.
 */

#include "liov/frontend.h"
#include "check.h"
#include "range.h"
#include "site.h"

static inline bool fe_blocks_ok(const struct liov_frontend *fe, vlba_t slba, u64 blocks)
{
#ifdef LIOV_NO_FRONTEND_CHECKS
	(void)fe, (void)slba;
	return blocks != 0;
#else
	return LIOV_CHECK(frontend_lba_range, liov_lba_inside(fe->blocks, slba, blocks));
#endif
}

/* No more than the controller moves in one command: counted in 64 bits, as the data's own length may say otherwise (LBA-06). */
static inline bool fe_size_ok(const struct liov_frontend *fe, u64 blocks)
{
#ifdef LIOV_NO_FRONTEND_CHECKS
	(void)fe, (void)blocks;
	return true;
#else
	return LIOV_CHECK(frontend_transfer_size, fe->mdts_bytes == 0 || blocks << fe->lba_shift <= fe->mdts_bytes);
#endif
}

/* Wholly inside one range registered with the device? Data pages and PRP list pages alike. Under q->lock. */
static inline bool fe_memory_ok(const struct liov_fe_queue *q, gpa_t gpa, u64 len_bytes)
{
#ifdef LIOV_NO_FRONTEND_CHECKS
	(void)q, (void)gpa, (void)len_bytes;
	return true;
#else
	u32 i;

	for (i = 0; i < q->mem->nr; i++)
		if (liov_range_inside(q->mem->range[i].start, q->mem->range[i].count, gpa.v, len_bytes))
			return true;
	return LIOV_CHECK(frontend_memory, false);
#endif
}

#endif
