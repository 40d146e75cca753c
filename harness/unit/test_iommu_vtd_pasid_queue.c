// SPDX-License-Identifier: GPL-2.0
/* Scalable mode: what stays cached until it is invalidated, and the descriptors that do. */
#include "iommu_pasid.h"

static void test_pasid_cache__entry_changed__served_until_invalidated(void **state)
{
	struct fx *f = *state;

	assert_goes(f, A, IOVA, true, HPA_A);
	pasid(f, A, TOP_B | SECOND_STAGE | AW_48 | 1, DID_B);
	invalidate(f, FX_IOTLB_GLOBAL, 0);
	invalidate(f, FX_CTX_GLOBAL, 0);
	assert_goes(f, A, IOVA, true, HPA_A);
	/* Another PASID, another domain: not this one. */
	invalidate(f, PC_PASID(DID_A, B), 0);
	invalidate(f, PC_PASID(DID_B, A), 0);
	invalidate(f, PC_DOMAIN(DID_B), 0);
	assert_goes(f, A, IOVA, true, HPA_A);
	invalidate(f, PC_PASID(DID_A, A), 0);
	assert_goes(f, A, IOVA, true, HPA_B);
	pasid(f, A, TOP_A | SECOND_STAGE | AW_48 | 1, DID_A);
	invalidate(f, PC_DOMAIN(DID_B), 0);
	assert_goes(f, A, IOVA, true, HPA_A);
	pasid(f, A, TOP_B | SECOND_STAGE | AW_48 | 1, DID_B);
	invalidate(f, PC_GLOBAL, 0);
	assert_goes(f, A, IOVA, true, HPA_B);
}

static void test_iotlb__invalidated_by_domain_and_page(void **state)
{
	struct fx *f = *state;

	assert_goes(f, A, IOVA, true, HPA_A);
	assert_goes(f, B, IOVA, true, HPA_B);
	map(f, TOP_A, IOVA, 0);
	map(f, TOP_B, IOVA, 0);
	invalidate(f, PC_GLOBAL, 0);
	assert_goes(f, A, IOVA, true, HPA_A);
	invalidate(f, FX_IOTLB_DOMAIN(DID_A), 0);
	assert_blocked(f, A, IOVA, true, 0x85);
	assert_goes(f, B, IOVA, true, HPA_B);
	invalidate(f, FX_IOTLB_PAGE(DID_B), IOVA + 0x1000);
	assert_goes(f, B, IOVA, true, HPA_B);
	invalidate(f, FX_IOTLB_PAGE(DID_B), IOVA);
	assert_blocked(f, B, IOVA, true, 0x85);
}

/* 6.5.2.4, table 21: translations with this domain and PASID go; pages are first-stage's alone. */
static void test_pasid_iotlb__takes_translations_of_the_pasid(void **state)
{
	struct fx *f = *state;

	pasid(f, A + 1, TOP_A | SECOND_STAGE | AW_48 | 1, DID_A);	/* the same tables, another PASID */
	assert_goes(f, A, IOVA, true, HPA_A);
	assert_goes(f, A + 1, IOVA, true, HPA_A);
	map(f, TOP_A, IOVA, 0);
	invalidate(f, PIOTLB_PAGE(DID_A, A), IOVA);
	invalidate(f, PIOTLB_ALL(DID_B, A), 0);
	invalidate(f, PIOTLB_ALL(DID_A, B), 0);
	assert_goes(f, A, IOVA, true, HPA_A);
	invalidate(f, PIOTLB_ALL(DID_A, A), 0);
	assert_blocked(f, A, IOVA, true, 0x85);
	assert_goes(f, A + 1, IOVA, true, HPA_A);
}

/* ... and tables on the way stay: they are kept by domain. */
static void test_pasid_iotlb__leaves_tables_cached(void **state)
{
	struct fx *f = *state;
	u64 old = fx_peek(f, fx_entry(f, TOP_A, 4, IOVA, 2, FX_RW)) & ~0xFFFULL;

	assert_goes(f, A, IOVA, true, HPA_A);
	fx_poke(f, fx_entry(f, TOP_A, 4, IOVA, 2, FX_RW), 0);
	invalidate(f, PIOTLB_ALL(DID_A, A), 0);
	assert_goes(f, A, IOVA, true, HPA_A);
	fx_poke(f, old + 8 * (IOVA >> 12 & 511), 0xB00000 | FX_RW);
	invalidate(f, PIOTLB_ALL(DID_A, A), 0);
	assert_goes(f, A, IOVA, true, 0xB00000);
	invalidate(f, FX_IOTLB_DOMAIN(DID_A), 0);
	assert_blocked(f, A, IOVA, true, 0x85);
}

/* The reason in IQERCD, and that the head stays at the descriptor. */
static void assert_refused(struct fx *f, u64 lo, u64 hi, u64 more, u64 info)
{
	u64 at = FX_QUEUE + 32ULL * f->queue_tail, head = fx_rd64(f, 0x80);

	fx_poke(f, at, lo);
	fx_poke(f, at + 8, hi);
	fx_poke(f, at + 16, more);
	fx_poke(f, at + 24, 0);
	fx_wr64(f, 0x88, (u64)(f->queue_tail + 1) << 5);
	fx_run(f);
	assert_int_equal(fx_rd32(f, FX_FSTS) >> 4 & 1, 1);
	assert_int_equal(fx_rd64(f, 0xB0) & 0xF, info);
	assert_int_equal(fx_rd64(f, 0x80), head);
	fx_wr64(f, 0x88, head);
	fx_wr32(f, FX_FSTS, 0x10);
	fx_run(f);
}

static void test_queue__reserved_in_descriptors__refused(void **state)
{
	struct fx *f = *state;

	for (u64 bit = 6; bit < 64; bit++) {
		if ((bit >= 16 && bit < 52))
			continue;
		assert_refused(f, PIOTLB_ALL(DID_A, A) | 1ULL << bit, 0, 0, 4);
		assert_refused(f, PC_PASID(DID_A, A) | 1ULL << bit, 0, 0, 4);
	}
	assert_refused(f, PIOTLB_ALL(DID_A, A) & ~0x30ULL, 0, 0, 4);		/* granularities 0 and 1 */
	assert_refused(f, (PIOTLB_ALL(DID_A, A) & ~0x30ULL) | 0x10, 0, 0, 4);
	assert_refused(f, 7 | 2 << 4, 0, 0, 4);
	assert_refused(f, PC_GLOBAL, 1, 0, 4);
	assert_refused(f, PIOTLB_PAGE(DID_A, A), IOVA | 1 << 7, 0, 4);
	assert_refused(f, PIOTLB_PAGE(DID_A, A), IOVA | 19, 0, 4);		/* AM above MAMV */
	assert_refused(f, PC_GLOBAL, 0, 1, 4);					/* the upper half */
	assert_refused(f, FX_IOTLB_GLOBAL, 0, 1ULL << 63, 4);
	assert_refused(f, 8, 0, 0, 3);
	invalidate(f, PC_GLOBAL, 0);
}

static void test_queue__tail_inside_a_descriptor__6(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0x88, 0x10);
	fx_run(f);
	assert_int_equal(fx_rd32(f, FX_FSTS) >> 4 & 1, 1);
	assert_int_equal(fx_rd64(f, 0xB0) & 0xF, 6);
}

/* 128 descriptors of 256 bits in a page: the 129th would lie outside. */
static void test_queue__wide__half_as_many(void **state)
{
	struct fx *f = *state;

	for (int i = 0; i < 130; i++)
		invalidate(f, PC_GLOBAL, 0);
	assert_int_equal(fx_rd64(f, 0x80), 2 << 5);
	fx_wr64(f, 0x88, 128 << 5);
	fx_run(f);
	assert_int_equal(fx_rd64(f, 0xB0) & 0xF, 1);
}

static void test_queue__narrow__knows_no_pasids(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0x88, 0);
	fx_gcmd(f, 0, 1U << 26);
	fx_wr64(f, 0x90, FX_QUEUE);
	fx_gcmd(f, 1U << 26, 0);
	f->queue_tail = 0;
	fx_invalidate(f, FX_IOTLB_GLOBAL, 0);
	fx_submit(f, PC_GLOBAL, 0);
	fx_run(f);
	assert_int_equal(fx_rd64(f, 0xB0) & 0xF, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pasid_cache__entry_changed__served_until_invalidated),
		T(test_iotlb__invalidated_by_domain_and_page),
		T(test_pasid_iotlb__takes_translations_of_the_pasid),
		T(test_pasid_iotlb__leaves_tables_cached),
		T(test_queue__reserved_in_descriptors__refused),
		T(test_queue__tail_inside_a_descriptor__6),
		T(test_queue__wide__half_as_many),
		T(test_queue__narrow__knows_no_pasids),
	};

	return cmocka_run_group_tests_name("iommu_vtd_pasid_queue", tests, NULL, NULL);
}
