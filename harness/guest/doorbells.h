/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_GUEST_DOORBELLS_H
#define HARNESS_GUEST_DOORBELLS_H

/*
 * Doorbell pages for a processor that stores to them without anybody's knowledge: a page of
 * memory stands for each, and is looked at whenever the guest stands still. Between two looks
 * the last store counts; what nobody has stored to reads all ones.
 */

#include "machine.h"

#define DOORBELL_PAGES	16u
#define DOORBELL_WORDS	((u32)SPEC_PAGE_SIZE / 4)
#define DOORBELL_SILENT	(~0u)

struct doorbells {
	int file;			/* page i at i * SPEC_PAGE_SIZE */
	u32 *now;			/* the same, mapped here */
	struct doorbell_page {
		bool used;
		u64 off;		/* in the CMB BAR */
		hpa_t hpa;		/* of the registers */
	} page[DOORBELL_PAGES];
};

/* 0 or -errno. */
int doorbells_init(struct doorbells *d);
/* A page for the registers at @hpa; where it is in the file. */
u64 doorbells_add(struct doorbells *d, u64 off, hpa_t hpa);
void doorbells_remove(struct doorbells *d, u64 off, u64 len_bytes);
/* What was stored since the last time goes to the controller. */
void doorbells_poll(struct doorbells *d, struct guest_machine *gm);

#endif
