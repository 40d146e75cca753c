/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SPEC_EPT_H
#define MODEL_SPEC_EPT_H

/*
 * Extended page tables and the posted-interrupt descriptor as constants and layouts: Intel
 * SDM volume 3 ("SDM"), 4-level EPT. Section and table numbers are the SDM's. Bits that
 * belong to features the model's processor does not have (mode-based execute control,
 * sub-page permissions, supervisor shadow stacks, #VE) are ignored bits here, as on a
 * processor without them.
 */

#include "spec_types.h"

/* EPT pointer, Table 25-9 */
#define EPT_EPTP_MT		GENMASK_ULL(2, 0)	/* of the paging structures: uncacheable or write-back */
#define EPT_EPTP_WALK		GENMASK_ULL(5, 3)	/* page-walk length minus 1 */
#define EPT_EPTP_WALK_4		3
#define EPT_EPTP_AD		BIT_ULL(6)		/* accessed and dirty flags are maintained */
#define EPT_EPTP_RSVD		GENMASK_ULL(11, 7)
#define EPT_EPTP_ADDR		GENMASK_ULL(51, 12)	/* PML4 table; also the tag of cached translations (EP4TA, 29.4.1) */

/* Memory types; 2, 3 and 7 are reserved */
#define EPT_MT_UC		0
#define EPT_MT_WC		1
#define EPT_MT_WT		4
#define EPT_MT_WP		5
#define EPT_MT_WB		6

/* An access, a permission and bits 2:0 of an entry have the same encoding. */
#define EPT_ACCESS_R		BIT_ULL(0)
#define EPT_ACCESS_W		BIT_ULL(1)
#define EPT_ACCESS_X		BIT_ULL(2)
#define EPT_ACCESS_RWX		GENMASK_ULL(2, 0)

/* Entries, Tables 29-1 to 29-6. An entry is present when any of bits 2:0 is set. */
#define EPT_ENTRY_R		EPT_ACCESS_R
#define EPT_ENTRY_W		EPT_ACCESS_W
#define EPT_ENTRY_X		EPT_ACCESS_X
#define EPT_ENTRY_RWX		EPT_ACCESS_RWX
#define EPT_ENTRY_MT		GENMASK_ULL(5, 3)	/* leaves; reserved in an entry that names a table */
#define EPT_ENTRY_IPAT		BIT_ULL(6)		/* leaves: ignore the guest's PAT; reserved elsewhere */
#define EPT_ENTRY_LARGE		BIT_ULL(7)		/* level 3: 1 GiB, level 2: 2 MiB; reserved at 4, ignored at 1 */
#define EPT_ENTRY_A		BIT_ULL(8)
#define EPT_ENTRY_D		BIT_ULL(9)		/* leaves */
#define EPT_ENTRY_ADDR		GENMASK_ULL(51, 12)
#define EPT_ENTRY_RSVD_PML4E	GENMASK_ULL(7, 3)
#define EPT_ENTRY_RSVD_TABLE	GENMASK_ULL(6, 3)	/* levels 3 and 2, bit 7 clear */
#define EPT_ENTRY_RSVD_1G	GENMASK_ULL(29, 12)
#define EPT_ENTRY_RSVD_2M	GENMASK_ULL(20, 12)

#define EPT_LEVELS		4
#define EPT_TABLE_ENTRIES	512
#define EPT_GPA_BITS		48			/* what four levels translate */
/* Level 4 is the PML4 table, level 1 the page table. */
#define EPT_LEVEL_SHIFT(level)	(12 + 9 * ((level) - 1))
#define EPT_INDEX(gpa, level)	(((u64)(gpa) >> EPT_LEVEL_SHIFT(level)) & (EPT_TABLE_ENTRIES - 1))

/* Exit qualification of an EPT violation, Table 28-7 */
#define EPT_QUAL_ACCESS_R	BIT_ULL(0)
#define EPT_QUAL_ACCESS_W	BIT_ULL(1)
#define EPT_QUAL_ACCESS_X	BIT_ULL(2)
#define EPT_QUAL_ACCESS		GENMASK_ULL(2, 0)	/* EPT_ACCESS_* that was tried */
#define EPT_QUAL_ALLOWED_R	BIT_ULL(3)
#define EPT_QUAL_ALLOWED_W	BIT_ULL(4)
#define EPT_QUAL_ALLOWED_X	BIT_ULL(5)
#define EPT_QUAL_ALLOWED	GENMASK_ULL(5, 3)	/* EPT_ACCESS_* of the path; 0 where an entry is not present */
#define EPT_QUAL_GLA_VALID	BIT_ULL(7)
#define EPT_QUAL_GLA_FINAL	BIT_ULL(8)

/*
 * Posted-interrupt descriptor, SDM Table 30-1 and VT-d specification 9.11: 64 bytes,
 * 64-byte aligned. Both processor and IOMMU change it by locked accesses.
 */
#define PID_SIZE		64
#define PID_ALIGN		64
#define PID_PIR_OFF		0			/* 256 bits, one a vector */
#define PID_CONTROL_OFF		32
#define PID_CONTROL_ON		BIT_ULL(0)		/* outstanding notification */
#define PID_CONTROL_SN		BIT_ULL(1)		/* suppress notifications */
#define PID_CONTROL_NV		GENMASK_ULL(23, 16)	/* notification vector */
#define PID_CONTROL_NDST	GENMASK_ULL(63, 32)	/* x2APIC: the APIC id */
#define PID_CONTROL_NDST_XAPIC	GENMASK_ULL(47, 40)	/* xAPIC: an 8-bit APIC id in bits 15:8 of NDST */

struct pid_descriptor {
	u64 pir[4];
	u64 control;
	u64 rsvd[3];
};

_Static_assert(sizeof(struct pid_descriptor) == PID_SIZE, "SDM Table 30-1");
_Static_assert(offsetof(struct pid_descriptor, control) == PID_CONTROL_OFF, "SDM Table 30-1");

#endif
