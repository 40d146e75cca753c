// SPDX-License-Identifier: GPL-2.0
#include "iommu_pasid.h"

static void test_capabilities__as_offered(void **state)
{
	struct fx *f = *state;
	u64 ecap = fx_rd64(f, 0x10);

	assert_int_equal(ecap >> 43 & 1, 1);		/* SMTS */
	assert_int_equal(ecap >> 46 & 1, 1);		/* SSTS */
	assert_int_equal(ecap >> 47 & 1, 0);		/* FSTS */
	assert_int_equal(ecap >> 40 & 1, 1);		/* PASID */
	assert_int_equal(ecap >> 35 & 0x1F, 19);	/* PSS: 20 bits */
	assert_int_equal(ecap >> 26 & 1, 0);		/* NEST */
}

static void test_translate__by_pasid__each_its_own_space(void **state)
{
	struct fx *f = *state;

	for (int again = 0; again < 2; again++) {
		assert_goes(f, A, IOVA + 0x123, true, HPA_A + 0x123);
		assert_goes(f, B, IOVA + 0x123, false, HPA_B + 0x123);
		assert_goes(f, A, IOVA, false, HPA_A);
	}
	assert_int_equal(vtd_counters(f->vtd)->pasid_miss, 2);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_miss, 2);
	assert_int_equal(vtd_counters(f->vtd)->iotlb_hit, 4);
}

static void test_translate__without_pasid__that_of_rid_pasid(void **state)
{
	struct fx *f = *state;

	assert_blocked(f, VTD_NO_PASID, IOVA, true, 0x85);
	map(f, FX_TOP, IOVA, 0xA00000 | FX_RW);
	assert_goes(f, VTD_NO_PASID, IOVA, true, 0xA00000);
	assert_goes(f, 0, IOVA, true, 0xA00000);	/* the same PASID, named */
	context(f, DIR | 1 << 3 | 1, B);
	assert_goes(f, VTD_NO_PASID, IOVA, true, 0xA00000);	/* cached context */
	invalidate(f, FX_CTX_DEVICE(0, FX_RID), 0);
	assert_goes(f, VTD_NO_PASID, IOVA, true, HPA_B);
}

static void test_translate__upper_half_of_bus__its_own_table(void **state)
{
	struct fx *f = *state;

	assert_int_equal(fx_dma_pasid(f, 0x0180, A, IOVA, true), VTD_BLOCKED);
	assert_int_equal(fx_fault(f, 0x0180), 0x39);
	fx_poke(f, FX_ROOT + 24, 0x43000 | 1);
	fx_poke(f, 0x43000 + 32, DIR | 1 << 3 | 1);	/* 01:10.1 */
	assert_int_equal(fx_dma_pasid(f, 0x0181, A, IOVA, true), VTD_OK);
	assert_int_equal(f->out.v, HPA_A);
}

static void test_translate__large_pages__as_in_legacy_mode(void **state)
{
	struct fx *f = *state;

	fx_poke(f, fx_entry(f, TOP_A, 4, 0x40000000, 3, FX_RW), 0x80000000ULL | 0x83);
	fx_poke(f, fx_entry(f, TOP_A, 4, 0x200000, 2, FX_RW), 0x4400000ULL | 0x83);
	assert_goes(f, A, 0x40000000 + 0x2ABCDEF0, true, 0x80000000ULL + 0x2ABCDEF0);
	assert_goes(f, A, 0x200000 + 0x1FFFFF, true, 0x4400000ULL + 0x1FFFFF);
	assert_blocked(f, B, 0x40000000, true, 0x85);
	assert_goes(f, A, 0x40000000, false, 0x80000000ULL);
}

static void test_permissions__85_and_86(void **state)
{
	struct fx *f = *state;

	assert_blocked(f, A, IOVA + 0x1000, true, 0x85);
	assert_blocked(f, A, IOVA + 0x1000, false, 0x86);
	map(f, TOP_A, IOVA, HPA_A | 1);
	assert_blocked(f, A, IOVA, true, 0x85);
	assert_goes(f, A, IOVA, false, HPA_A);
	assert_blocked(f, A, IOVA, true, 0x85);		/* by the IOTLB now */
	map(f, TOP_B, IOVA, HPA_B | 2);
	assert_blocked(f, B, IOVA, false, 0x86);
}

static void test_paging_entries__78_7a_7b(void **state)
{
	struct fx *f = *state;

	map(f, TOP_A, IOVA, HPA_A | FX_RW | 1ULL << 62);
	assert_blocked(f, A, IOVA, true, 0x7A);
	fx_poke(f, fx_entry(f, TOP_A, 4, IOVA, 2, FX_RW), FX_RAM | FX_RW);
	forget(f);
	assert_blocked(f, A, IOVA, true, 0x78);
	pasid(f, A, FX_RAM | SECOND_STAGE | AW_48 | 1, DID_A);
	forget(f);
	assert_blocked(f, A, IOVA, true, 0x7B);
}

static void test_address__beyond_the_widths__83_84(void **state)
{
	struct fx *f = *state;

	assert_blocked(f, A, 1ULL << 48, true, 0x83);
	pasid(f, A, TOP_A | SECOND_STAGE | 1 << 2 | 1, DID_A);	/* 39 bits */
	forget(f);
	assert_blocked(f, A, 1ULL << 39, true, 0x84);
	assert_blocked(f, A, ~0ULL, true, 0x83);
}

/* 3.14: with PASID memory like any other, and blocked where tables lead there (3.15). */
static void test_interrupt_range__with_pasid__is_memory(void **state)
{
	struct fx *f = *state;

	assert_blocked(f, A, 0xFEE00000, true, 0x85);
	assert_blocked(f, A, 0xFEE01000, false, 0x86);
	map(f, TOP_A, 0xFEE00000, HPA_A | FX_RW);
	assert_goes(f, A, 0xFEE00040, true, HPA_A + 0x40);
	map(f, TOP_A, IOVA, 0xFEE00000 | FX_RW);
	assert_blocked(f, A, IOVA, true, 0x87);
	assert_int_equal(f->nr_irq, 0);
	/* Without one it is no memory, and reading it no interrupt. */
	map(f, FX_TOP, 0xFEE00000, HPA_A | FX_RW);
	assert_blocked(f, VTD_NO_PASID, 0xFEE00000, false, 0x86);
}

static void test_pass_through__address_is_the_address(void **state)
{
	struct fx *f = *state;

	pasid(f, A, 4ULL << 6 | AW_48 | 1, DID_A);
	assert_goes(f, A, IOVA, true, IOVA);
	assert_blocked(f, A, 1ULL << 48, true, 0x83);
	assert_blocked(f, A, 0xFEE00000, true, 0x87);
}

static void test_root_entry__38_39_3a(void **state)
{
	struct fx *f = *state;

	fx_poke(f, FX_ROOT + 16, FX_CTX);
	assert_blocked(f, A, IOVA, true, 0x39);
	for (u64 bit = 1; bit < 12; bit++) {
		fx_poke(f, FX_ROOT + 16, FX_CTX | 1 | 1ULL << bit);
		assert_blocked(f, A, IOVA, true, 0x3A);
	}
	fx_poke(f, FX_ROOT + 16, FX_CTX | 1 | 1ULL << 50);
	assert_blocked(f, A, IOVA, true, 0x3A);
	fx_wr64(f, 0x20, FX_RAM | 1U << 10);
	fx_gcmd(f, 1U << 30, 0);
	assert_blocked(f, A, IOVA, true, 0x38);
}

static void test_context_entry__40_41_42(void **state)
{
	struct fx *f = *state;

	context(f, DIR | 1 << 3, 0);
	assert_blocked(f, A, IOVA, true, 0x41);
	/* DTE, PRE and 5 to 8: neither device-TLB nor page requests are offered. */
	for (u64 bit = 2; bit < 9; bit++) {
		context(f, DIR | 1 << 3 | 1 | 1ULL << bit, 0);
		if (bit != 3)
			assert_blocked(f, A, IOVA, true, 0x42);
	}
	context(f, DIR | 1ULL << 50 | 1 << 3 | 1, 0);
	assert_blocked(f, A, IOVA, true, 0x42);
	for (u64 bit = 20; bit < 64; bit++) {
		context(f, DIR | 1 << 3 | 1, 1ULL << bit);
		assert_blocked(f, A, IOVA, true, 0x42);
	}
	context(f, DIR | 1 << 3 | 1, 0);
	fx_poke(f, FX_CTX + 16, 1);
	assert_blocked(f, A, IOVA, true, 0x42);
	fx_poke(f, FX_CTX + 16, 0);
	fx_poke(f, FX_CTX + 24, 1ULL << 63);
	assert_blocked(f, A, IOVA, true, 0x42);
	fx_poke(f, FX_ROOT + 16, FX_RAM | 1);
	assert_blocked(f, A, IOVA, true, 0x40);
}

static void test_context_entry__pasids_it_allows__45_46_48(void **state)
{
	struct fx *f = *state;

	context(f, DIR | 1, 0);
	assert_blocked(f, A, IOVA, true, 0x45);
	map(f, FX_TOP, IOVA, HPA_A | FX_RW);
	assert_goes(f, VTD_NO_PASID, IOVA, true, HPA_A);
	assert_blocked(f, A, IOVA, true, 0x45);		/* by the cached context now */
	/* PDTS 0: 2^7 directory entries of 64 PASIDs. */
	context(f, DIR | 1 << 3 | 1, 8192);
	forget(f);
	assert_blocked(f, 8192, IOVA, true, 0x46);
	assert_blocked(f, 0xFFFFF, IOVA, true, 0x46);
	assert_blocked(f, 8191, IOVA, true, 0x51);
	assert_blocked(f, VTD_NO_PASID, IOVA, true, 0x48);
	/* PDTS 7: 2^14 of them, all 20 bits. */
	context(f, DIR | 7 << 9 | 1 << 3 | 1, 0);
	forget(f);
	fx_poke(f, DIR + 8 * 16383ULL, PASIDS | 1);
	fx_poke(f, PASIDS + 64 * 63ULL, TOP_A | SECOND_STAGE | AW_48 | 1);
	assert_goes(f, 0xFFFFF, IOVA, true, HPA_A);
}

static void test_directory__50_51_52(void **state)
{
	struct fx *f = *state;

	fx_poke(f, DIR, PASIDS);
	assert_blocked(f, A, IOVA, true, 0x51);
	for (u64 bit = 2; bit < 12; bit++) {
		fx_poke(f, DIR, PASIDS | 1 | 1ULL << bit);
		assert_blocked(f, A, IOVA, true, 0x52);
	}
	fx_poke(f, DIR, PASIDS | 1 | 1ULL << 46);
	assert_blocked(f, A, IOVA, true, 0x52);
	context(f, FX_RAM | 1 << 3 | 1, 0);
	forget(f);
	assert_blocked(f, A, IOVA, true, 0x50);
}

static void test_pasid_entry__58_59_5a(void **state)
{
	struct fx *f = *state;
	u64 good = TOP_A | SECOND_STAGE | AW_48 | 1;

	pasid(f, A, good & ~1ULL, DID_A);
	assert_blocked(f, A, IOVA, true, 0x59);
	/* SLEE, SSADE, 10, 11 and what no host address has */
	for (u64 bit = 5; bit < 64; bit++) {
		if (bit != 5 && (bit < 9 || bit > 11) && bit < 46)
			continue;
		pasid(f, A, good | 1ULL << bit, DID_A);
		assert_blocked(f, A, IOVA, true, 0x5A);
	}
	for (u64 bit = 16; bit < 64; bit++) {
		pasid(f, A, good, DID_A | 1ULL << bit);
		assert_blocked(f, A, IOVA, true, 0x5A);
	}
	pasid(f, A, good, DID_A);
	for (u64 word = 2; word < 8; word++) {
		fx_poke(f, pasid_at(A) + 8 * word, 1ULL << (9 * word));
		assert_blocked(f, A, IOVA, true, 0x5A);
		fx_poke(f, pasid_at(A) + 8 * word, 0);
	}
	assert_goes(f, A, IOVA, true, HPA_A);
	fx_poke(f, DIR + 8, FX_RAM | 1);
	assert_blocked(f, B, IOVA, true, 0x58);
}

static void test_pasid_entry__type_or_width_not_offered__5b(void **state)
{
	struct fx *f = *state;

	for (u64 pgtt = 0; pgtt < 8; pgtt++) {
		pasid(f, A, TOP_A | pgtt << 6 | AW_48 | 1, DID_A);
		if (pgtt != 2 && pgtt != 4)
			assert_blocked(f, A, IOVA, true, 0x5B);
	}
	for (u64 aw = 0; aw < 8; aw++) {
		pasid(f, A, TOP_A | SECOND_STAGE | aw << 2 | 1, DID_A);
		if (aw != 1 && aw != 2)
			assert_blocked(f, A, IOVA, true, 0x5B);
	}
}

/* FPD of context, directory and PASID entry: blocked, counted and not recorded. */
static void test_fpd__of_each_entry__not_recorded(void **state)
{
	struct fx *f = *state;
	u64 faults = vtd_counters(f->vtd)->faults;

	pasid(f, A, 2, 0);
	assert_int_equal(fx_dma_pasid(f, FX_RID, A, IOVA, true), VTD_BLOCKED);
	fx_poke(f, DIR + 8, 2);
	assert_int_equal(fx_dma_pasid(f, FX_RID, B, IOVA, true), VTD_BLOCKED);
	pasid(f, A, TOP_A | SECOND_STAGE | AW_48 | 3, DID_A);
	assert_int_equal(fx_dma_pasid(f, FX_RID, A, IOVA + 0x1000, true), VTD_BLOCKED);
	context(f, DIR | 1 << 3 | 3, 0);
	forget(f);
	assert_int_equal(fx_dma_pasid(f, FX_RID, 8192, IOVA, true), VTD_BLOCKED);
	assert_int_equal(vtd_counters(f->vtd)->faults, faults + 4);
	assert_int_equal(reason(f, A, IOVA, true), 0);
	/* What comes before the context entry cannot be told not to be. */
	fx_poke(f, FX_ROOT + 16, 0);
	invalidate(f, FX_CTX_GLOBAL, 0);
	assert_blocked(f, A, IOVA, true, 0x39);
}

static void test_legacy_mode__request_with_pasid__31(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0x20, FX_ROOT);
	fx_gcmd(f, 1U << 30, 0);
	assert_blocked(f, A, IOVA, true, 0x31);
	fx_wr64(f, 0x20, FX_ROOT | 2U << 10);
	fx_gcmd(f, 1U << 30, 0);
	assert_blocked(f, A, IOVA, true, 0x30);
}

/* A unit without scalable mode has neither its root mode nor wide descriptors. */
static void test_not_offered__as_before(void **state)
{
	struct fx *f = *state;
	struct fx *old = fx_new(true, true);

	(void)f;
	assert_int_equal(fx_rd64(old, 0x10) >> 35, 0);
	fx_wr64(old, 0x90, FX_QUEUE | 1U << 11);
	assert_int_equal(fx_rd64(old, 0x90), FX_QUEUE);
	fx_start(old, true);
	fx_wr64(old, 0x20, FX_ROOT | 1U << 10);
	fx_gcmd(old, 1U << 30, 0);
	assert_int_equal(fx_dma(old, IOVA, true), VTD_BLOCKED);
	assert_int_equal(fx_fault(old, FX_RID), 0x30);
	fx_teardown((void **)&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_capabilities__as_offered),
		T(test_translate__by_pasid__each_its_own_space),
		T(test_translate__without_pasid__that_of_rid_pasid),
		T(test_translate__upper_half_of_bus__its_own_table),
		T(test_translate__large_pages__as_in_legacy_mode),
		T(test_permissions__85_and_86),
		T(test_paging_entries__78_7a_7b),
		T(test_address__beyond_the_widths__83_84),
		T(test_interrupt_range__with_pasid__is_memory),
		T(test_pass_through__address_is_the_address),
		T(test_root_entry__38_39_3a),
		T(test_context_entry__40_41_42),
		T(test_context_entry__pasids_it_allows__45_46_48),
		T(test_directory__50_51_52),
		T(test_pasid_entry__58_59_5a),
		T(test_pasid_entry__type_or_width_not_offered__5b),
		T(test_fpd__of_each_entry__not_recorded),
		T(test_legacy_mode__request_with_pasid__31),
		T(test_not_offered__as_before),
	};

	return cmocka_run_group_tests_name("iommu_vtd_pasid", tests, NULL, NULL);
}
