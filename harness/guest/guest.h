/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_GUEST_GUEST_H
#define HARNESS_GUEST_GUEST_H

/*
 * What the bare guest and the machine it runs on agree upon: where memory is, what is asked of
 * the guest, what it says, and the ports it speaks to. One vCPU in 64-bit mode with addresses
 * as they are; no interrupt is taken: the guest asks which vectors came in.
 */

#include "spec_types.h"

/* Below 2 GiB, and outside the IOVA window that the host keeps for itself under the paper's policy. */
#define GUEST_RAM		0x40000000ull
#define GUEST_RAM_BYTES		0x800000ull
#define GUEST_VICTIM_RAM	0x60000000ull	/* of another VM, which runs no code */

/* From the start of RAM: the page below, the image; from its end: page tables, the stack, and downwards the drivers' memory. */
#define GUEST_IMAGE		(GUEST_RAM + 0x10000)
#define GUEST_TABLES		(GUEST_RAM + GUEST_RAM_BYTES - 0x10000)
#define GUEST_STACK_BYTES	0x10000ull
#define GUEST_HEAP_END		(GUEST_TABLES - GUEST_STACK_BYTES)

#define GUEST_LOG_BYTES		(0x10000 - 128)
#define GUEST_QUEUES		3u		/* pairs the VM has; the frontend takes two of them */
#define GUEST_VICTIM_WORD	0x5EC4E75EC4E75EC4ull

/* At the start of RAM. */
struct guest_page {
	/* The machine's word to the guest. */
	u64 ios, seed;
	u64 victim_lba, victim_page;	/* what an attacker can guess */
	u32 victim_qid;
	u32 attack;			/* 1: and attack */
	u64 reserved[10];
	/* The guest's to who reads its log. */
	u32 log_bytes;
	u32 reserved2;
	char log[GUEST_LOG_BYTES];
};
_Static_assert(sizeof(struct guest_page) == 0x10000, "the image follows");

/* 32 bits each. Configuration space of the one function is behind the usual two. */
#define GUEST_PORT_CONFIG	0xCF8	/* address: enable bit, offset */
#define GUEST_PORT_CONFIG_DATA	0xCFC
#define GUEST_PORT_SLEEP	0x500	/* out: let so many nanoseconds pass */
#define GUEST_PORT_IRQ		0x504	/* in: wait for interrupts, a second at most; bit v: MSI-X vector v came in */
#define GUEST_PORT_PHASE	0x508	/* out: enum guest_phase begins */
#define GUEST_PORT_RESET	0x50C	/* out: the host resets the shared controller, now */
#define GUEST_PORT_END		0x510	/* out: the guest ends: 0 well, else the line of what went wrong */

enum guest_phase {
	GUEST_WARM,		/* all memory touched once */
	GUEST_START,		/* probe and bring-up */
	GUEST_FIRST,		/* I/O until each ring has gone round */
	GUEST_IO,		/* the I/Os asked for */
	GUEST_STALE,		/* a queue deleted under its pages, and made again */
	GUEST_READONLY,		/* stores to the info page */
	GUEST_RESTART,		/* the shared controller is reset, I/O goes on */
	GUEST_ATTACK,
	GUEST_STOP,		/* the frontend's end, and touches after it */
	GUEST_PHASES
};

#endif
