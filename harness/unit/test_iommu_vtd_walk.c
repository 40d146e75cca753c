// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"

#define IOVA 0x200050000ULL
#define HPA  0x700000ULL

static void test_translate__four_levels__page_and_offset(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA + 0xABC, true, HPA + 0xABC);
	assert_int_equal(f->latency_ps, FX_WALK_PS);
	assert_dma_ok(f, IOVA + 0x10, false, HPA + 0x10);
	assert_int_equal(f->latency_ps, 0);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_hit, 1);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_miss, 1);
}

static void test_translate__three_levels__39_bits(void **state)
{
	struct fx *f = *state;

	fx_context(f, FX_RID, FX_TOP | 1, 1 | FX_DID << 8);
	fx_poke(f, fx_entry(f, FX_TOP, 3, IOVA, 1, FX_RW), HPA | FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	assert_dma_fault(f, 1ULL << 39, true, 0x4);
}

static void test_translate__large_pages__whole_page(void **state)
{
	struct fx *f = *state;

	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x40000000, 3, FX_RW), 0x80000000ULL | 0x83);
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x200000, 2, FX_RW), 0x4400000ULL | 0x83);
	assert_dma_ok(f, 0x40000000 + 0x2ABCDEF0, true, 0x80000000ULL + 0x2ABCDEF0);
	assert_dma_ok(f, 0x40000000, false, 0x80000000ULL);		/* same entry */
	assert_dma_ok(f, 0x200000 + 0x1FFFFF, true, 0x4400000ULL + 0x1FFFFF);
	assert_dma_ok(f, 0x200000, true, 0x4400000ULL);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_miss, 2);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_hit, 2);
}

static void test_translate__permissions__of_all_levels(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, 1);
	assert_dma_fault(f, IOVA, true, 0x5);
	assert_dma_ok(f, IOVA, false, HPA);
	assert_dma_fault(f, IOVA, true, 0x5);				/* by the IOTLB now */
	fx_map(f, IOVA + 0x1000, HPA + 0x1000, 2);
	assert_dma_fault(f, IOVA + 0x1000, false, 0x6);
	assert_dma_ok(f, IOVA + 0x1000, true, HPA + 0x1000);
	/* A read-only entry at level 3 covers what is writable below it. */
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x80000000, 1, FX_RW), HPA | FX_RW);
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x80000000, 3, FX_RW),
		(fx_peek(f, fx_entry(f, FX_TOP, 4, 0x80000000, 3, FX_RW)) & ~3ULL) | 1);
	assert_dma_ok(f, 0x80000000, false, HPA);
	assert_dma_fault(f, 0x80000000, true, 0x5);
	/* ... and so it does when the walk starts at a cached table below it. */
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x80001000, 1, FX_RW), HPA | FX_RW);
	assert_dma_fault(f, 0x80001000, true, 0x5);
}

static void test_translate__not_present_leaf__5_or_6(void **state)
{
	struct fx *f = *state;

	assert_dma_fault(f, IOVA, true, 0x5);
	assert_dma_fault(f, IOVA, false, 0x6);
	/* Other bits of a not-present entry mean nothing, reserved ones too. */
	fx_poke(f, fx_leaf(f, IOVA), 1ULL << 62 | 0x800 | HPA);
	assert_dma_fault(f, IOVA, true, 0x5);
}

static void test_translate__root_entry__1_8_a(void **state)
{
	struct fx *f = *state;

	assert_int_equal(fx_dma_rid(f, 0x0200, IOVA, true), VTD_BLOCKED);
	assert_int_equal(fx_fault(f, 0x0200), 0x1);
	fx_poke(f, FX_ROOT + 16, FX_CTX | 3);
	assert_dma_fault(f, IOVA, true, 0xA);
	fx_poke(f, FX_ROOT + 16, FX_CTX | 1);
	fx_poke(f, FX_ROOT + 24, 1);
	assert_dma_fault(f, IOVA, true, 0xA);
	fx_poke(f, FX_ROOT + 24, 0);
	fx_poke(f, FX_ROOT + 16, FX_CTX | 1ULL << 50 | 1);
	assert_dma_fault(f, IOVA, true, 0xA);
	fx_wr64(f, 0x20, FX_RAM);
	fx_gcmd(f, 1U << 30, 0);
	assert_dma_fault(f, IOVA, true, 0x8);
}

static void test_translate__scalable_root__refused(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0x20, FX_ROOT | 1U << 10);
	fx_gcmd(f, 1U << 30, 0);
	assert_dma_fault(f, IOVA, true, 0x30);
}

static void test_translate__context_entry__2_3_9_b(void **state)
{
	struct fx *f = *state;
	u64 good = 2 | FX_DID << 8;

	assert_int_equal(fx_dma_rid(f, 0x0101, IOVA, true), VTD_BLOCKED);
	assert_int_equal(fx_fault(f, 0x0101), 0x2);
	for (u64 bit = 4; bit < 12; bit++) {
		fx_context(f, FX_RID, FX_TOP | 1ULL << bit | 1, good);
		assert_dma_fault(f, IOVA, true, 0xB);
	}
	fx_context(f, FX_RID, FX_TOP | 1, good | 1U << 7);
	assert_dma_fault(f, IOVA, true, 0xB);
	fx_context(f, FX_RID, FX_TOP | 1, good | 1U << 24);
	assert_dma_fault(f, IOVA, true, 0xB);
	for (u64 aw = 0; aw < 8; aw++) {
		if (aw == 1 || aw == 2)
			continue;
		fx_context(f, FX_RID, FX_TOP | 1, aw | FX_DID << 8);
		assert_dma_fault(f, IOVA, true, 0x3);
	}
	fx_context(f, FX_RID, FX_TOP | 3 << 2 | 1, good);		/* TT reserved */
	assert_dma_fault(f, IOVA, true, 0x3);
	fx_context(f, FX_RID, FX_TOP | 1 << 2 | 1, good);		/* TT device-TLB, ECAP.DT = 0 */
	assert_dma_fault(f, IOVA, true, 0x3);
	fx_poke(f, FX_ROOT + 16, FX_RAM | 1);
	assert_dma_fault(f, IOVA, true, 0x9);
}

static void test_translate__table_pointer_outside_memory__3(void **state)
{
	struct fx *f = *state;

	fx_context(f, FX_RID, FX_RAM | 1, 2 | FX_DID << 8);
	assert_dma_fault(f, IOVA, true, 0x3);
	fx_invalidate(f, FX_CTX_GLOBAL, 0);
	fx_context(f, FX_RID, 1ULL << 45 | 1, 2 | FX_DID << 8);
	assert_dma_fault(f, IOVA, true, 0x3);
}

/* 9.3: SSPTPTR is reserved from the host address width on, where a context entry uses it. */
static void test_translate__table_pointer_above_width__b(void **state)
{
	struct fx *f = *state;

	for (u64 bit = 46; bit < 64; bit++) {
		fx_context(f, FX_RID, FX_TOP | 1ULL << bit | 1, 2 | FX_DID << 8);
		assert_dma_fault(f, IOVA, true, 0xB);
	}
	fx_context(f, FX_RID, 1ULL << 63 | 2 << 2 | 1, 2 | FX_DID << 8);
	assert_dma_ok(f, IOVA, true, IOVA);
}

static void test_translate__beyond_width__4(void **state)
{
	struct fx *f = *state;

	assert_dma_fault(f, 1ULL << 48, true, 0x4);
	assert_dma_fault(f, ~0xFFFULL, false, 0x4);
	/* The last page below the limit is walked. */
	fx_map(f, 0xFFFFFFFFF000, HPA, FX_RW);
	assert_dma_ok(f, 0xFFFFFFFFF000, true, HPA);
}

static void test_translate__entry_outside_memory__7(void **state)
{
	struct fx *f = *state;

	for (unsigned int level = 4; level > 1; level--) {
		fx_poke(f, fx_entry(f, FX_TOP, 4, IOVA, level, FX_RW), FX_RAM | FX_RW);
		assert_dma_fault(f, IOVA, true, 0x7);
		fx_poke(f, fx_entry(f, FX_TOP, 4, IOVA, level, FX_RW), 0);
		fx_invalidate(f, FX_IOTLB_GLOBAL, 0);
	}
}

static void test_translate__reserved_bits__c(void **state)
{
	struct fx *f = *state;
	u64 at = fx_leaf(f, IOVA);
	static const u64 leaf[] = { 1ULL << 11, 1ULL << 62, 1ULL << 46, 1ULL << 51 };

	for (unsigned int i = 0; i < 4; i++) {
		fx_poke(f, at, HPA | FX_RW | leaf[i]);
		assert_dma_fault(f, IOVA, true, 0xC);
	}
	/* Ignored: 2 to 6, 8 to 10, 52 to 61, 63 and, in a 4 KiB leaf, 7. */
	fx_poke(f, at, HPA | FX_RW | 0xBFF00000000007FCULL);
	assert_dma_ok(f, IOVA, true, HPA);
	/* Level 4 has no large page; large pages are aligned. */
	fx_poke(f, fx_entry(f, FX_TOP, 4, 1ULL << 39, 4, FX_RW), 0x83);
	assert_dma_fault(f, 1ULL << 39, true, 0xC);
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x40000000, 3, FX_RW), 0x20000000ULL | 0x83);
	assert_dma_fault(f, 0x40000000, true, 0xC);
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x200000, 2, FX_RW), 0x1000ULL | 0x83);
	assert_dma_fault(f, 0x200000, true, 0xC);
}

static void test_translate__result_in_interrupt_range__e(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, 0xFEE00000, FX_RW);
	assert_dma_fault(f, IOVA, true, 0xE);
	fx_map(f, IOVA, 0xFEEFF000, FX_RW);
	assert_dma_fault(f, IOVA, false, 0xE);
	fx_map(f, IOVA, 0xFEF00000, FX_RW);
	assert_dma_ok(f, IOVA, true, 0xFEF00000);
	/* A large page over the range serves its other half and blocks this one, cached or not. */
	fx_poke(f, fx_entry(f, FX_TOP, 4, 0x200000, 2, FX_RW), 0xFEE00000ULL | 0x83);
	assert_dma_ok(f, 0x300000, true, 0xFEF00000);
	assert_dma_fault(f, 0x200000, true, 0xE);
	assert_dma_ok(f, 0x3FF000, true, 0xFEFFF000);
	assert_dma_fault(f, 0x2FF000, true, 0xE);
	assert_dma_fault(f, 0x200000, false, 0xE);
	assert_dma_ok(f, 0x300123, false, 0xFEF00123);
}

static void test_translate__interrupt_range_as_address__never_memory(void **state)
{
	struct fx *f = *state;

	fx_poke(f, fx_entry(f, FX_TOP, 4, 0xFEE00000, 2, FX_RW), 0x4400000ULL | 0x83);
	assert_dma_ok(f, 0xFEF00000, true, 0x4500000);		/* same large page, next to the range */
	assert_dma_fault(f, 0xFEE00000, true, 0x5);
	assert_dma_fault(f, 0xFEEFF000, false, 0x6);
}

static void test_translate__pass_through__address_itself(void **state)
{
	struct fx *f = *state;

	fx_context(f, FX_RID, 2 << 2 | 1, 2 | FX_DID << 8);
	assert_dma_ok(f, IOVA, true, IOVA);
	assert_dma_fault(f, 1ULL << 48, true, 0x4);
}

static void test_translate__fault_processing_disabled__blocked_not_recorded(void **state)
{
	struct fx *f = *state;

	fx_context(f, FX_RID, FX_TOP | 3, 2 | FX_DID << 8);
	assert_dma_fault(f, IOVA, true, 0);
	assert_dma_fault(f, IOVA, true, 0);				/* and from the context cache */
	assert_int_equal(f->count[TRACE_VTD_FAULT], 2);
	assert_int_equal(f->last[TRACE_VTD_FAULT].c, 0x5);
	fx_context(f, FX_RID, 2, 0);					/* P = 0 */
	fx_invalidate(f, FX_CTX_GLOBAL, 0);
	assert_dma_fault(f, IOVA, true, 0);
	assert_int_equal(f->last[TRACE_VTD_FAULT].c, 0x2);
}

static void test_translate__self_referencing_tables__end(void **state)
{
	struct fx *f = *state;

	for (u64 i = 0; i < 512; i++)
		fx_poke(f, FX_TOP + 8 * i, FX_TOP | FX_RW);
	assert_dma_ok(f, IOVA + 0x123, true, FX_TOP + 0x123);
}

static void test_block__reason__recorded(void **state)
{
	struct fx *f = *state;

	vtd_block(f->vtd, FX_RID, (iova_t){ 0xFEE00000 }, false, 0x06);
	assert_int_equal(f->last[TRACE_VTD_FAULT].a, FX_RID);
	assert_int_equal(f->last[TRACE_VTD_FAULT].b, 0xFEE00000);
	assert_int_equal(fx_fault(f, FX_RID), 0x6);
	fx_context(f, FX_RID, FX_TOP | 3, 2 | FX_DID << 8);
	fx_invalidate(f, FX_CTX_GLOBAL, 0);
	vtd_block(f->vtd, FX_RID, (iova_t){ IOVA }, true, 0x0D);
	assert_int_equal(fx_fault(f, FX_RID), 0);
	assert_int_equal(f->last[TRACE_VTD_FAULT].c, 0xD);
	assert_int_equal(f->last[TRACE_VTD_FAULT].a, FX_RID | 1 << 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_translate__four_levels__page_and_offset),
		FX_TEST(test_translate__three_levels__39_bits),
		FX_TEST(test_translate__large_pages__whole_page),
		FX_TEST(test_translate__permissions__of_all_levels),
		FX_TEST(test_translate__not_present_leaf__5_or_6),
		FX_TEST(test_translate__root_entry__1_8_a),
		FX_TEST(test_translate__scalable_root__refused),
		FX_TEST(test_translate__context_entry__2_3_9_b),
		FX_TEST(test_translate__table_pointer_outside_memory__3),
		FX_TEST(test_translate__table_pointer_above_width__b),
		FX_TEST(test_translate__beyond_width__4),
		FX_TEST(test_translate__entry_outside_memory__7),
		FX_TEST(test_translate__reserved_bits__c),
		FX_TEST(test_translate__result_in_interrupt_range__e),
		FX_TEST(test_translate__interrupt_range_as_address__never_memory),
		FX_TEST(test_translate__pass_through__address_itself),
		FX_TEST(test_translate__fault_processing_disabled__blocked_not_recorded),
		FX_TEST(test_translate__self_referencing_tables__end),
		FX_TEST(test_block__reason__recorded),
	};

	return cmocka_run_group_tests_name("iommu_vtd_walk", tests, NULL, NULL);
}
