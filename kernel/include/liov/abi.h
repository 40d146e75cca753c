/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_ABI_H
#define LIOV_ABI_H

/*
 * What a VM finds in its virtual NVMe function: how a LightIOV frontend recognises it, the
 * layout of the CMB BAR, the read-only info page, and the vendor-specific admin commands.
 * Versioned: a frontend refuses a major version it does not know.
 */

#include "types.h"

/* A vendor-specific capability (id 09h) in configuration space marks the function. */
#define LIOV_VNDR_SIGNATURE	0x564F494Cu	/* "LIOV", at offset 4 of the capability */
#define LIOV_PCI_VENDOR		0x1AF4
#define LIOV_PCI_DEVICE		0x10F5
#define LIOV_PCI_CLASS		0x010802

#define LIOV_ABI_MAJOR		1
#define LIOV_ABI_MINOR		1

/* BAR 0: registers, trapped. BAR 2: the CMB, mapped page by page on first touch. */
#define LIOV_BAR0_SIZE		0x4000u
#define LIOV_BAR0_DOORBELLS	0x1000u
#define LIOV_BAR0_MSIX_TABLE	0x2000u
#define LIOV_BAR0_MSIX_PBA	0x3000u
#define LIOV_CMB_BAR		2

/* CMB: the info page, the doorbell page where VMs share one or the host watches this VM's, then a slot a queue pair. */
#define LIOV_CMB_INFO		0x0u
#define LIOV_CMB_DOORBELLS	0x1000u
#define LIOV_CMB_SLOTS		0x10000u
#define LIOV_CMB_SLOT_STRIDE	0x20000u
#define LIOV_SLOT_SQ		0x0u		/* up to 64 KiB: 1024 entries */
#define LIOV_SLOT_CQ		0x10000u	/* up to 16 KiB */
#define LIOV_SLOT_SQ_DOORBELL	0x18000u	/* a page of its own, where the controller has one */
#define LIOV_SLOT_CQ_DOORBELL	0x19000u
#define LIOV_CMB_SIZE_MIN	0x200000u

#define LIOV_QUEUE_DEPTH_MAX	1024u
#define LIOV_VM_QUEUES_MAX	15u

#define LIOV_INFO_MAGIC		0x564F494Cu
#define LIOV_INFO_DOORBELLS	0x1u	/* doorbells are in the CMB at *_doorbell; else trapped in BAR 0 */
/* 1.1: blocks have protection information; commands set PRACT, and the block as initial reference tag */
#define LIOV_INFO_PROTECTED	0x2u

struct liov_info_queue {
	u32 sq, cq;			/* offsets in the CMB BAR */
	u32 sq_doorbell, cq_doorbell;	/* offsets in the CMB BAR, or 0 */
	u32 depth_max;			/* entries */
	u32 reserved[3];
};

/* At offset 0 of the CMB, read-only for the VM. */
struct liov_info {
	u32 magic;
	u16 major, minor;
	u32 flags;			/* LIOV_INFO_* */
	u32 nr_queues;			/* I/O queue pairs; virtual queue id k is queue[k - 1] */
	u64 lba_start;			/* added to every SLBA */
	u64 lba_count;			/* blocks of this VM */
	u64 dma_offset;			/* added to every guest-physical address handed to the controller */
	u32 nsid;			/* what commands in the queues name; 0, as 1.0 has it: 1 */
	u32 reserved0;
	u64 reserved[2];
	struct liov_info_queue queue[LIOV_VM_QUEUES_MAX];
};
_Static_assert(sizeof(struct liov_info) == 64 + 32 * LIOV_VM_QUEUES_MAX, "ABI 1.0, 1.1");

/*
 * Vendor-specific admin commands of the virtual controller. Guest memory must be registered
 * before a command names it: CDW10/11 guest-physical address, CDW12/13 length in bytes, both
 * multiples of 4 KiB. Unregister takes a sub-range of what was registered.
 */
#define LIOV_ADM_MEM_REGISTER	0xC8
#define LIOV_ADM_MEM_UNREGISTER	0xC9

/* Asynchronous event, type 7 (vendor specific): the shared controller was reset; re-create the I/O queues. */
#define LIOV_AEN_RESET		0x00000107u

#endif
