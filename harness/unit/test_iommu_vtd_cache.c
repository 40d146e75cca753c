// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"

#define IOVA 0x200050000ULL
#define HPA  0x700000ULL
#define OTHER 0x900000ULL

static void test_iotlb__leaf_cleared__served_until_invalidated(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_submit(f, FX_IOTLB_PAGE(FX_DID), IOVA);
	assert_dma_ok(f, IOVA, true, HPA);			/* submitted is not done */
	fx_run(f);
	assert_dma_fault(f, IOVA, true, 0x5);
}

static void test_iotlb__not_present__not_cached(void **state)
{
	struct fx *f = *state;

	assert_dma_fault(f, IOVA, true, 0x5);
	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
}

static void test_iotlb__permission_widened__old_one_until_invalidated(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, 1);
	assert_dma_ok(f, IOVA, false, HPA);
	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_fault(f, IOVA, true, 0x5);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA | 1 << 6);
	assert_dma_ok(f, IOVA, true, HPA);
}

static void test_iotlb__wrong_domain__target_stays(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID + 1), IOVA);
	fx_invalidate(f, FX_IOTLB_DOMAIN(FX_DID + 1), 0);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_invalidate(f, FX_IOTLB_DOMAIN(FX_DID), 0);
	assert_dma_fault(f, IOVA, true, 0x5);
}

static void test_iotlb__address_mask__pages_of_the_block(void **state)
{
	struct fx *f = *state;

	for (u64 i = 0; i < 16; i++) {
		fx_map(f, IOVA + i * 4096, HPA + i * 4096, FX_RW);
		assert_dma_ok(f, IOVA + i * 4096, true, HPA + i * 4096);
		fx_map(f, IOVA + i * 4096, 0, 0);
	}
	/* 2^2 pages; the address points inside the block 4 to 7 and its low bits do not count. */
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), (IOVA + 6 * 4096) | 2);
	for (u64 i = 0; i < 16; i++) {
		if (i / 4 == 1)
			assert_dma_fault(f, IOVA + i * 4096, true, 0x5);
		else
			assert_dma_ok(f, IOVA + i * 4096, true, HPA + i * 4096);
	}
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA | 18);
	for (u64 i = 0; i < 16; i++)
		assert_dma_fault(f, IOVA + i * 4096, true, 0x5);
}

static void test_iotlb__page_of_a_large_page__all_of_it_goes(void **state)
{
	struct fx *f = *state;
	u64 at = fx_entry(f, FX_TOP, 4, 0x200000, 2, FX_RW);

	fx_poke(f, at, 0x4400000ULL | 0x83);
	assert_dma_ok(f, 0x200000, true, 0x4400000);
	fx_poke(f, at, 0);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), 0x400000);		/* next door */
	assert_dma_ok(f, 0x201000, true, 0x4401000);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), 0x3FF000);
	assert_dma_fault(f, 0x201000, true, 0x5);
}

static void test_iotlb__more_pages_than_ways__all_still_right(void **state)
{
	struct fx *f = *state;
	const u64 base = 0x200000000ULL;

	for (unsigned int round = 0; round < 2; round++) {
		for (u64 i = 0; i < 1024; i++) {
			if (!round)
				fx_map(f, base + i * 4096, HPA + i * 4096, FX_RW);
			assert_dma_ok(f, base + i * 4096, true, HPA + i * 4096);
		}
	}
	/* 256 entries, oldest out first: 1024 pages in turn never hit. */
	assert_int_equal(vtd_counters(f->vtd)->iotlb_miss, 2048);
	for (u64 i = 768; i < 1024; i++)
		assert_dma_ok(f, base + i * 4096, true, HPA + i * 4096);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_hit, 256);
}

static void test_iotlb__two_domains_one_address__own_page_each(void **state)
{
	struct fx *f = *state;
	u64 top = 0x400000;

	fx_context(f, 0x0108, top | 1, 2 | 8 << 8);
	fx_map(f, IOVA, HPA, FX_RW);
	fx_poke(f, fx_entry(f, top, 4, IOVA, 1, FX_RW), OTHER | FX_RW);
	for (unsigned int i = 0; i < 2; i++) {
		assert_dma_ok(f, IOVA, true, HPA);
		assert_int_equal(fx_dma_rid(f, 0x0108, IOVA, true), VTD_OK);
		assert_int_equal(f->out.v, OTHER);
	}
	fx_invalidate(f, FX_IOTLB_DOMAIN(8), 0);
	assert_dma_ok(f, IOVA, true, HPA);
	assert_int_equal(f->latency_ps, 0);
	assert_int_equal(fx_dma_rid(f, 0x0108, IOVA, true), VTD_OK);
	assert_int_equal(f->latency_ps, FX_WALK_PS);
}

/* The table page of a 2 MiB region is freed and filled by somebody else. */
static void table_page_reused(struct fx *f, u64 table)
{
	for (u64 i = 0; i < 512; i++)
		fx_poke(f, table + 8 * i, OTHER | FX_RW);
}

static void test_paging_cache__hint__freed_table_is_still_walked(void **state)
{
	struct fx *f = *state;
	u64 at = fx_entry(f, FX_TOP, 4, IOVA, 2, FX_RW), table;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	table = fx_peek(f, at) & ~0xFFFULL;
	fx_poke(f, at, 0);
	table_page_reused(f, table);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), (IOVA & ~0x1FFFFFULL) | 1 << 6 | 9);
	assert_dma_ok(f, IOVA, true, OTHER);
}

static void test_paging_cache__no_hint__tables_are_read_again(void **state)
{
	struct fx *f = *state;
	u64 at = fx_entry(f, FX_TOP, 4, IOVA, 2, FX_RW), table;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	table = fx_peek(f, at) & ~0xFFFULL;
	fx_poke(f, at, 0);
	table_page_reused(f, table);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA & ~0x1FFFFFULL);	/* one page of the region is enough */
	assert_dma_fault(f, IOVA + 0x1000, true, 0x5);
	assert_dma_ok(f, IOVA, true, HPA);			/* its page was not named */
}

static void test_paging_cache__other_region__not_touched(void **state)
{
	struct fx *f = *state;
	u64 at = fx_entry(f, FX_TOP, 4, IOVA, 2, FX_RW);

	fx_map(f, IOVA, HPA, FX_RW);
	fx_map(f, IOVA + 0x1000, HPA + 0x1000, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_poke(f, at, 0);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA + 0x200000);
	fx_invalidate(f, FX_IOTLB_DOMAIN(FX_DID + 1), 0);
	assert_dma_ok(f, IOVA + 0x1000, true, HPA + 0x1000);
	fx_invalidate(f, FX_IOTLB_GLOBAL, 0);
	assert_dma_fault(f, IOVA + 0x1000, true, 0x5);
}

static void test_context_cache__entry_cleared__served_until_invalidated(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_context(f, FX_RID, 0, 0);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_invalidate(f, FX_IOTLB_GLOBAL, 0);
	assert_dma_ok(f, IOVA, true, HPA);			/* not what that invalidates */
	fx_invalidate(f, FX_CTX_DEVICE(FX_DID, 0x0200), 0);
	fx_invalidate(f, FX_CTX_DEVICE(FX_DID + 1, FX_RID), 0);
	fx_invalidate(f, FX_CTX_DOMAIN(FX_DID + 1), 0);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_invalidate(f, FX_CTX_DEVICE(FX_DID, FX_RID), 0);
	assert_dma_fault(f, IOVA, true, 0x2);
}

static void test_context_cache__function_mask__neighbours_go_too(void **state)
{
	struct fx *f = *state;
	static const u16 kept[4] = { 0xFE, 0xEE, 0xAA, 0x00 };	/* bit n: function n stays when 0 is named with FM */

	fx_map(f, IOVA, HPA, FX_RW);
	for (unsigned int fm = 0; fm < 4; fm++) {
		for (u16 fn = 0; fn < 8; fn++) {
			fx_context(f, FX_RID | fn, FX_TOP | 1, 2 | FX_DID << 8);
			assert_int_equal(fx_dma_rid(f, FX_RID | fn, IOVA, true), VTD_OK);
			fx_context(f, FX_RID | fn, 0, 0);
		}
		fx_invalidate(f, FX_CTX_DEVICE(FX_DID, FX_RID) | (u64)fm << 48, 0);
		for (u16 fn = 0; fn < 8; fn++)
			assert_int_equal(fx_dma_rid(f, FX_RID | fn, IOVA, true) == VTD_OK, kept[fm] >> fn & 1);
		fx_invalidate(f, FX_CTX_DOMAIN(FX_DID), 0);
		fx_faults_clear(f);
	}
}

static void test_context_cache__conflicting_ids__each_its_own(void **state)
{
	struct fx *f = *state;
	u64 top = 0x400000;

	/* More functions than the cache holds, in two domains by turns. */
	fx_map(f, IOVA, HPA, FX_RW);
	fx_poke(f, fx_entry(f, top, 4, IOVA, 1, FX_RW), OTHER | FX_RW);
	for (u16 fn = 0; fn < 256; fn++)
		fx_context(f, 0x0100 | fn, (fn & 1 ? top : FX_TOP) | 1, 2 | (u64)(FX_DID + (fn & 1)) << 8);
	for (unsigned int round = 0; round < 2; round++) {
		for (u16 fn = 0; fn < 256; fn++) {
			assert_int_equal(fx_dma_rid(f, 0x0100 | fn, IOVA, true), VTD_OK);
			assert_int_equal(f->out.v, fn & 1 ? OTHER : HPA);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_iotlb__leaf_cleared__served_until_invalidated),
		FX_TEST(test_iotlb__not_present__not_cached),
		FX_TEST(test_iotlb__permission_widened__old_one_until_invalidated),
		FX_TEST(test_iotlb__wrong_domain__target_stays),
		FX_TEST(test_iotlb__address_mask__pages_of_the_block),
		FX_TEST(test_iotlb__page_of_a_large_page__all_of_it_goes),
		FX_TEST(test_iotlb__more_pages_than_ways__all_still_right),
		FX_TEST(test_iotlb__two_domains_one_address__own_page_each),
		FX_TEST(test_paging_cache__hint__freed_table_is_still_walked),
		FX_TEST(test_paging_cache__no_hint__tables_are_read_again),
		FX_TEST(test_paging_cache__other_region__not_touched),
		FX_TEST(test_context_cache__entry_cleared__served_until_invalidated),
		FX_TEST(test_context_cache__function_mask__neighbours_go_too),
		FX_TEST(test_context_cache__conflicting_ids__each_its_own),
	};

	return cmocka_run_group_tests_name("iommu_vtd_cache", tests, NULL, NULL);
}
