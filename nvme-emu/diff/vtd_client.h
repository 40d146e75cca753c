/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_DIFF_VTD_CLIENT_H
#define NVME_EMU_DIFF_VTD_CLIENT_H

/*
 * What operations on VT-d have in common (vtd_client.c): where things lie, and what is looked at
 * after each. VT-d 4.1, legacy mode. Nothing is remembered here: registers tell all.
 */

#include "diff/diff.h"

#include "spec/vtd.h"

#define VTD_BASE	0xFED90000ULL
#define VTD_ROOT	(DIFF_FREE + 0x0000)
#define VTD_CONTEXTS	(DIFF_FREE + 0x1000)	/* of bus 0 */
#define VTD_QUEUE	(DIFF_FREE + 0x4000)	/* 256 descriptors, 512 if asked for */
#define VTD_STATUS	(DIFF_FREE + 0x8000)	/* of wait descriptors */
#define VTD_IRTES	(DIFF_FREE + 0x10000)	/* 256 */
#define VTD_IRTES_NR	256
#define VTD_TREES	(DIFF_FREE + 0x100000)	/* two trees of tables */
#define VTD_TREE_SIZE	0x80000ULL
#define VTD_LEAVES	16			/* tables of level 1, for 2 MiB each from 0 on */
#define VTD_IDENTITY	4			/* of them map addresses to themselves */
#define VTD_SID		DIFF_DEVFN

/* The table of a tree that serves @iova at @level; 0: there is none. */
u64 vtd_table(u32 tree, u64 iova, u32 level);
/* Root, contexts and both trees as they are at first: identity below 8 MiB, nothing above. */
void vtd_tables(struct side *s);
/* Context entry of the controller, as put together from its fields. */
u64 vtd_context_lo(u32 tree, u32 levels, u64 tt, bool fpd, bool present);

u64 vtd_read(struct side *s, u64 reg, unsigned int width);
/* Set and clear bits of GCMD, keeping the others, and one-shot commands. */
void vtd_command(struct side *s, u32 set, u32 clear);

/* Which vectors have come to processor 0. */
void vtd_see_irr(struct side *s, struct seen *seen);
/* Registers that tell what happened: GSTS, FSTS, FECTL, ICS, IECTL, IQH. */
void vtd_see_status(struct side *s, struct seen *seen);
/* The first fault that is pending; @clear: serve all. */
void vtd_see_fault(struct side *s, bool clear, struct seen *seen);

#endif
