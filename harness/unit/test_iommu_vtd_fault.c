// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"

#define IOVA 0x200050000ULL

static u64 record_lo(struct fx *f, unsigned int nr)
{
	return fx_rd64(f, FX_FRCD + 16 * nr);
}

static u64 record_hi(struct fx *f, unsigned int nr)
{
	return fx_rd64(f, FX_FRCD + 16 * nr + 8);
}

static void test_record__dma__page_source_reason_and_type(void **state)
{
	struct fx *f = *state;

	fx_dma(f, IOVA + 0x123, true);
	fx_dma(f, IOVA + 0x1FFF, false);
	assert_int_equal(record_lo(f, 0), IOVA);
	assert_int_equal(record_hi(f, 0), 1ULL << 63 | 5ULL << 32 | FX_RID);
	assert_int_equal(record_lo(f, 1), IOVA + 0x1000);
	assert_int_equal(record_hi(f, 1), 3ULL << 62 | 6ULL << 32 | FX_RID);
	assert_int_equal(fx_rd32(f, FX_FSTS), 2);		/* PPF; FRI 0 is the first */
	assert_int_equal(f->last[TRACE_VTD_FAULT].a, FX_RID);
	assert_int_equal(f->last[TRACE_VTD_FAULT].b, IOVA + 0x1FFF);
	assert_int_equal(f->last[TRACE_VTD_FAULT].c, 6);
}

static void test_record__all_in_use__overflow_until_cleared(void **state)
{
	struct fx *f = *state;

	for (u64 i = 0; i < 8; i++)
		fx_dma(f, IOVA + i * 4096, true);
	assert_int_equal(fx_rd32(f, FX_FSTS), 2);
	assert_int_equal(fx_dma(f, IOVA + 0x8000, true), VTD_BLOCKED);	/* lost, blocked all the same */
	assert_int_equal(fx_dma(f, IOVA + 0x9000, true), VTD_BLOCKED);
	assert_int_equal(fx_rd32(f, FX_FSTS), 3);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(record_lo(f, i), IOVA + i * 4096);
	assert_int_equal(vtd_counters(f->vtd)->faults, 10);
	assert_int_equal(vtd_counters(f->vtd)->faults_overflowed, 2);
	/* Records free again, PFO not cleared: still lost. */
	for (u64 i = 0; i < 8; i++)
		fx_wr32(f, FX_FRCD + 16 * i + 12, 1U << 31);
	assert_int_equal(fx_rd32(f, FX_FSTS), 1);
	fx_dma(f, IOVA + 0xA000, true);
	assert_int_equal(fx_rd32(f, FX_FSTS), 1);
	fx_wr32(f, FX_FSTS, 1);
	fx_dma(f, IOVA + 0xB000, true);
	assert_int_equal(fx_rd32(f, FX_FSTS), 2);
	assert_int_equal(record_lo(f, 0), IOVA + 0xB000);	/* round again */
}

static void test_record__fri__first_pending(void **state)
{
	struct fx *f = *state;

	for (u64 i = 0; i < 3; i++)
		fx_dma(f, IOVA + i * 4096, true);
	fx_faults_clear(f);
	fx_dma(f, IOVA, true);
	fx_dma(f, IOVA, true);
	assert_int_equal(fx_rd32(f, FX_FSTS), 3 << 8 | 2);
	fx_wr64(f, FX_FRCD + 16 * 3 + 8, 1ULL << 63);
	assert_int_equal(fx_rd32(f, FX_FSTS) & 2, 2);		/* one is left */
	fx_wr64(f, FX_FRCD + 16 * 4 + 8, 1ULL << 63);
	assert_int_equal(fx_rd32(f, FX_FSTS), 0);
}

static void test_record__written_otherwise__unchanged(void **state)
{
	struct fx *f = *state;

	fx_dma(f, IOVA, true);
	fx_wr64(f, FX_FRCD, ~0ULL);
	fx_wr32(f, FX_FRCD + 8, 0xFFFFFFFF);
	fx_wr32(f, FX_FRCD + 12, 0x7FFFFFFF);
	fx_wr32(f, FX_FSTS, 2);					/* PPF is not cleared by itself */
	assert_int_equal(record_lo(f, 0), IOVA);
	assert_int_equal(record_hi(f, 0), 1ULL << 63 | 5ULL << 32 | FX_RID);
	assert_int_equal(fx_rd32(f, FX_FSTS), 2);
}

static void test_event__unmasked__one_message_until_served(void **state)
{
	struct fx *f = *state;

	fx_wr32(f, 0x3C, 0x0444);				/* vector 0x44, NMI */
	fx_wr32(f, 0x40, 0xFEE02000);
	fx_wr32(f, 0x38, 0);
	fx_dma(f, IOVA, true);
	fx_dma(f, IOVA, true);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 2);
	assert_int_equal(f->irq[0].vector, 0x44);
	assert_int_equal(f->irq[0].mode, 4);
	fx_faults_clear(f);
	fx_dma(f, IOVA, true);
	assert_int_equal(f->nr_irq, 2);
}

static void test_event__masked__pending_then_sent(void **state)
{
	struct fx *f = *state;

	fx_wr32(f, 0x3C, 0x44);
	fx_wr32(f, 0x40, 0xFEE02000);
	assert_int_equal(fx_rd32(f, 0x38), 1U << 31);		/* masked at reset */
	fx_dma(f, IOVA, true);
	assert_int_equal(f->nr_irq, 0);
	assert_int_equal(fx_rd32(f, 0x38), 3U << 30);
	fx_wr32(f, 0x38, 0);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(fx_rd32(f, 0x38), 0);
}

static void test_event__served_while_masked__not_sent(void **state)
{
	struct fx *f = *state;

	fx_dma(f, IOVA, true);
	fx_faults_clear(f);
	assert_int_equal(fx_rd32(f, 0x38), 1U << 31);
	fx_wr32(f, 0x38, 0);
	assert_int_equal(f->nr_irq, 0);
}

static void test_event__own_message__not_remapped(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 1U << 25, 0);
	fx_wr32(f, 0x3C, 0x44);
	fx_wr32(f, 0x40, 0xFEE02000);
	fx_wr32(f, 0x44, 0x300);
	fx_wr32(f, 0x38, 0);
	fx_dma(f, IOVA, true);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 0x302);
	assert_int_equal(f->count[TRACE_IRTE_FAULT], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_record__dma__page_source_reason_and_type),
		FX_TEST(test_record__all_in_use__overflow_until_cleared),
		FX_TEST(test_record__fri__first_pending),
		FX_TEST(test_record__written_otherwise__unchanged),
		FX_TEST(test_event__unmasked__one_message_until_served),
		FX_TEST(test_event__masked__pending_then_sent),
		FX_TEST(test_event__served_while_masked__not_sent),
		FX_TEST(test_event__own_message__not_remapped),
	};

	return cmocka_run_group_tests_name("iommu_vtd_fault", tests, NULL, NULL);
}
