/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_IOMMU_PASID_H
#define HARNESS_UNIT_IOMMU_PASID_H

/*
 * A unit in scalable mode with two PASIDs beside RID_PASID 0. Layouts and reasons are written out
 * from VT-d 9.2, 9.4 to 9.6, 6.5.2 and 7.1.3 and not taken from spec/vtd.h. Where Linux's and
 * QEMU's drivers have a constant for one, it was compared with theirs
 * (drivers/iommu/intel/pasid.h, dmar.c; hw/i386/intel_iommu_internal.h).
 */

#include "iommu_fixture.h"

#define DIR		0x40000ULL	/* PASID directory */
#define PASIDS		0x41000ULL	/* table of PASIDs 0 to 63 */
#define PASIDS_64	0x42000ULL	/* 64 to 127 */
#define TOP_A		0x50000ULL	/* level 4 of PASID A */
#define TOP_B		0x60000ULL
#define A		5
#define B		70		/* in the second table */
#define DID_A		11
#define DID_B		12
#define IOVA		0x200050000ULL
#define HPA_A		0x700000ULL
#define HPA_B		0x900000ULL
#define SECOND_STAGE	(2ULL << 6)
#define AW_48		(2ULL << 2)

/* 9.4: P, PASIDE; PDTS 0, a directory of 128 entries: 8192 PASIDs */
static inline void context(struct fx *f, u64 lo, u64 hi)
{
	fx_poke(f, FX_CTX, lo);
	fx_poke(f, FX_CTX + 8, hi);
}

static inline u64 pasid_at(u32 pasid)
{
	return (pasid < 64 ? PASIDS : PASIDS_64) + 64ULL * (pasid % 64);
}

static inline void pasid(struct fx *f, u32 pasid, u64 lo, u64 hi)
{
	fx_poke(f, pasid_at(pasid), lo);
	fx_poke(f, pasid_at(pasid) + 8, hi);
}

static inline void map(struct fx *f, u64 top, u64 iova, u64 entry)
{
	fx_poke(f, fx_entry(f, top, 4, iova, 1, FX_RW), entry);
}

/* Queue of 256-bit descriptors (IQA.DW), 128 of them in a page. */
static inline void submit(struct fx *f, u64 lo, u64 hi)
{
	u64 at = FX_QUEUE + 32ULL * f->queue_tail;

	fx_poke(f, at, lo);
	fx_poke(f, at + 8, hi);
	fx_poke(f, at + 16, 0);
	fx_poke(f, at + 24, 0);
	f->queue_tail = (f->queue_tail + 1) % 128;
	fx_wr64(f, 0x88, (u64)f->queue_tail << 5);
}

static inline void invalidate(struct fx *f, u64 lo, u64 hi)
{
	submit(f, lo, hi);
	fx_run(f);
	assert_int_equal(fx_rd64(f, 0x80), (u64)f->queue_tail << 5);
}

#define PIOTLB_ALL(did, pasid)		(6ULL | 2 << 4 | (u64)(did) << 16 | (u64)(pasid) << 32)
#define PIOTLB_PAGE(did, pasid)		(6ULL | 3 << 4 | (u64)(did) << 16 | (u64)(pasid) << 32)
#define PC_DOMAIN(did)			(7ULL | (u64)(did) << 16)
#define PC_PASID(did, pasid)		(7ULL | 1 << 4 | (u64)(did) << 16 | (u64)(pasid) << 32)
#define PC_GLOBAL			(7ULL | 3 << 4)

static inline int setup(void **state)
{
	struct fx *f = fx_new_config(true, true, true);

	context(f, DIR | 1 << 3 | 1, 0);
	fx_poke(f, FX_ROOT + 16, FX_CTX | 1);
	fx_poke(f, FX_ROOT + 24, 0);
	fx_poke(f, DIR, PASIDS | 1);
	fx_poke(f, DIR + 8, PASIDS_64 | 1);
	pasid(f, 0, FX_TOP | SECOND_STAGE | AW_48 | 1, FX_DID);
	pasid(f, A, TOP_A | SECOND_STAGE | AW_48 | 1, DID_A);
	pasid(f, B, TOP_B | SECOND_STAGE | AW_48 | 1, DID_B);
	f->next_table = 0x80000;
	map(f, TOP_A, IOVA, HPA_A | FX_RW);
	map(f, TOP_B, IOVA, HPA_B | FX_RW);
	fx_wr64(f, 0x20, FX_ROOT | 1U << 10);
	fx_gcmd(f, 1U << 30, 0);
	fx_wr64(f, 0x90, FX_QUEUE | 1U << 11);
	fx_gcmd(f, 1U << 26, 0);
	fx_wr64(f, 0xB8, FX_IRT | 1U << 11 | 15);
	fx_gcmd(f, 1U << 24, 0);
	fx_gcmd(f, 1U << 31, 0);
	*state = f;
	return 0;
}

/* The reason, and that the record names the request: 7.2.2, 11.4.7.6. */
static inline unsigned int reason(struct fx *f, u32 pasid, u64 iova, bool write)
{
	u64 rec = FX_FRCD + 16 * (fx_rd32(f, FX_FSTS) >> 8 & 0xFF), hi = fx_rd64(f, rec + 8);

	if (!(fx_rd32(f, FX_FSTS) & 2))
		return 0;
	assert_int_equal(fx_rd64(f, rec), iova & ~0xFFFULL);
	assert_int_equal(hi & 0xFFFF, FX_RID);
	assert_int_equal(hi >> 62 & 1, !write);
	assert_int_equal(hi >> 31 & 1, pasid != VTD_NO_PASID);
	assert_int_equal(hi >> 40 & 0xFFFFF, pasid == VTD_NO_PASID ? 0 : pasid);
	fx_faults_clear(f);
	return (unsigned int)(hi >> 32 & 0xFF);
}

#define assert_goes(f, pasid, iova, write, hpa) do { \
	assert_int_equal(fx_dma_pasid(f, FX_RID, pasid, iova, write), VTD_OK); \
	assert_int_equal((f)->out.v, hpa); \
} while (0)

#define assert_blocked(f, pasid, iova, write, why) do { \
	assert_int_equal(fx_dma_pasid(f, FX_RID, pasid, iova, write), VTD_BLOCKED); \
	assert_int_equal(reason(f, pasid, iova, write), why); \
} while (0)

/* Nothing cached of contexts, PASIDs and pages. */
static inline void forget(struct fx *f)
{
	invalidate(f, FX_CTX_GLOBAL, 0);
	invalidate(f, PC_GLOBAL, 0);
	invalidate(f, FX_IOTLB_GLOBAL, 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, fx_teardown)

#endif
