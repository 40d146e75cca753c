// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"

#define IOVA 0x200050000ULL
#define HPA  0x700000ULL
#define FSTS_IQE 0x10U

/* The queue stands at a bad descriptor: IQE, head on it, @info in IQERCD. */
static void assert_stopped(struct fx *f, u64 head, u64 info)
{
	assert_int_equal(fx_rd32(f, FX_FSTS) & FSTS_IQE, FSTS_IQE);
	assert_int_equal(fx_rd64(f, 0x80), head << 4);
	assert_int_equal(fx_rd64(f, 0xB0) & 0xF, info);
}

static void test_queue__wait__status_after_its_time_and_in_order(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	fx_submit(f, FX_IOTLB_PAGE(FX_DID), IOVA);
	fx_submit(f, FX_WAIT_SW(0x12345678), FX_STATUS);
	sched_run_until(f->sched, FX_INVAL_PS - 1);
	assert_int_equal(fx_rd64(f, 0x80), 0);
	assert_dma_ok(f, IOVA, true, HPA);
	sched_run_until(f->sched, FX_INVAL_PS);
	assert_int_equal(fx_rd64(f, 0x80), 1 << 4);
	assert_dma_fault(f, IOVA, true, 0x5);
	sched_run_until(f->sched, 2 * FX_INVAL_PS - 1);
	assert_int_equal(fx_peek(f, FX_STATUS), 0);
	sched_run_until(f->sched, 2 * FX_INVAL_PS);
	assert_int_equal(fx_peek(f, FX_STATUS), 0x12345678);	/* a dword, what follows it untouched */
	assert_int_equal(fx_rd64(f, 0x80), 2 << 4);
	assert_true(sched_empty(f->sched));
}

static void test_queue__ignored_invalidation__completes_and_does_nothing(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	*vtd_ignores(f->vtd) = (struct fault_site){ .armed = true, .key = 2, .left = 1 };	/* an IOTLB descriptor */
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA);
	fx_invalidate(f, FX_WAIT_SW(1), FX_STATUS);
	assert_int_equal(fx_peek(f, FX_STATUS), 1);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA);
	assert_dma_fault(f, IOVA, true, 0x5);
}

static void test_queue__wrap__goes_on_at_the_start(void **state)
{
	struct fx *f = *state;

	for (unsigned int i = 0; i < 600; i++)
		fx_invalidate(f, FX_WAIT_SW(i), FX_STATUS);
	assert_int_equal(fx_peek(f, FX_STATUS), 599);
	assert_int_equal(fx_rd64(f, 0x80), 600 % 256 << 4);
	/* All but one slot in flight at once; tail and head then equal is empty. */
	for (unsigned int i = 0; i < 255; i++)
		fx_submit(f, FX_WAIT_SW(0x1000 + i), FX_STATUS);
	fx_run(f);
	assert_int_equal(fx_peek(f, FX_STATUS), 0x10FE);
	assert_int_equal(fx_rd64(f, 0x80), (600 + 255) % 256 << 4);
}

static void test_queue__larger_size__indices_beyond_256(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 0, 1U << 26);
	fx_wr64(f, 0x90, 0x40000 | 1);				/* 512 descriptors */
	fx_gcmd(f, 1U << 26, 0);
	for (unsigned int i = 0; i < 511; i++)
		fx_poke(f, 0x40000 + 16 * i, FX_IEC_GLOBAL);
	fx_wr64(f, 0x88, 511 << 4);
	fx_run(f);
	assert_int_equal(fx_rd64(f, 0x80), 511 << 4);
	assert_int_equal(vtd_counters(f->vtd)->invalidations, 511);
	assert_int_equal(fx_rd32(f, FX_FSTS), 0);
}

static void test_queue__tail_beyond_size__iqe(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0x88, 256 << 4);
	fx_run(f);
	assert_stopped(f, 0, 1);
	/* Cleared without mending the tail it is found again. */
	fx_wr32(f, FX_FSTS, FSTS_IQE);
	assert_stopped(f, 0, 1);
	fx_wr64(f, 0x88, 0);
	fx_wr32(f, FX_FSTS, FSTS_IQE);
	assert_int_equal(fx_rd32(f, FX_FSTS), 0);
}

static void test_queue__not_memory__iqe(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 0, 1U << 26);
	fx_wr64(f, 0x90, FX_RAM);
	fx_gcmd(f, 1U << 26, 0);
	fx_wr64(f, 0x88, 1 << 4);
	fx_run(f);
	assert_stopped(f, 0, 2);
}

static void test_queue__unknown_type__iqe(void **state)
{
	struct fx *f = *state;
	static const u64 types[] = { 0, 3, 6, 7, 8, 15 };	/* 3: device-TLB, with ECAP.DT = 0 */

	for (unsigned int i = 0; i < 6; i++) {
		fx_submit(f, types[i], 0);
		fx_run(f);
		assert_stopped(f, i, 3);
		/* Software's way out: a harmless descriptor in its place. */
		fx_poke(f, FX_QUEUE + 16 * i, 5);
		fx_wr32(f, FX_FSTS, FSTS_IQE);
		fx_run(f);
		assert_int_equal(fx_rd64(f, 0x80), (i + 1) << 4);
	}
}

static void test_queue__malformed__iqe_and_nothing_done(void **state)
{
	struct fx *f = *state;
	static const struct {
		u64 lo, hi;
	} bad[] = {
		{ 2 | FX_DID << 16, IOVA },				/* granularity 0 */
		{ FX_IOTLB_PAGE(FX_DID), IOVA | 63 },			/* AM above MAMV */
		{ FX_IOTLB_PAGE(FX_DID), IOVA | 19 },
		{ FX_IOTLB_PAGE(FX_DID), IOVA | 1 << 7 },		/* reserved bits */
		{ FX_IOTLB_GLOBAL | 1 << 8, 0 },
		{ FX_IOTLB_GLOBAL | 1ULL << 32, 0 },
		{ 1, 0 },
		{ FX_CTX_GLOBAL | 1 << 6, 0 },
		{ FX_CTX_GLOBAL | 1ULL << 50, 0 },
		{ FX_CTX_GLOBAL, 1 },
		{ FX_IEC_GLOBAL | 1 << 5, 0 },
		{ FX_IEC_GLOBAL, 1 },
		{ FX_IEC_GLOBAL | 1 << 4 | 16ULL << 27, 0 },		/* IM above MHMV */
		{ FX_WAIT_SW(1) | 1 << 8, FX_STATUS },
		{ FX_WAIT_SW(1), FX_STATUS | 2 },			/* status address not a dword's */
	};

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fx_submit(f, bad[i].lo, bad[i].hi);
		fx_run(f);
		assert_stopped(f, i, 4);
		fx_poke(f, FX_QUEUE + 16 * i, 5);
		fx_poke(f, FX_QUEUE + 16 * i + 8, 0);
		fx_wr32(f, FX_FSTS, FSTS_IQE);
		fx_run(f);
	}
	assert_int_equal(fx_peek(f, FX_STATUS), 0);
	assert_int_equal(vtd_counters(f->vtd)->invalidations, 0);
	assert_dma_ok(f, IOVA, true, HPA);
}

static void test_queue__stopped__what_follows_waits(void **state)
{
	struct fx *f = *state;

	fx_submit(f, 15, 0);
	fx_submit(f, FX_WAIT_SW(7), FX_STATUS);
	fx_run(f);
	assert_stopped(f, 0, 3);
	fx_submit(f, FX_WAIT_SW(8), FX_STATUS);		/* a tail write does not wake it */
	fx_run(f);
	assert_stopped(f, 0, 3);
	fx_poke(f, FX_QUEUE, 5);				/* nor does mending the descriptor */
	fx_wr64(f, 0x88, 3 << 4);
	fx_run(f);
	assert_stopped(f, 0, 3);
	assert_int_equal(fx_peek(f, FX_STATUS), 0);
	fx_wr32(f, FX_FSTS, FSTS_IQE);
	assert_int_equal(fx_rd64(f, 0xB0), 0);
	fx_run(f);
	assert_int_equal(fx_peek(f, FX_STATUS), 8);
	assert_int_equal(fx_rd64(f, 0x80), 3 << 4);
}

static void test_queue__error__fault_event(void **state)
{
	struct fx *f = *state;

	fx_wr32(f, 0x3C, 0x31);
	fx_wr32(f, 0x40, 0xFEE03000);
	fx_wr32(f, 0x38, 0);
	fx_submit(f, 15, 0);
	fx_run(f);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 3);
	assert_int_equal(f->irq[0].vector, 0x31);
}

static void test_wait__status_not_memory__lost_and_no_hang(void **state)
{
	struct fx *f = *state;

	fx_submit(f, FX_WAIT_SW(1), FX_RAM);
	fx_submit(f, FX_WAIT_SW(2), FX_REGS + 0x3C);		/* nor the unit's own registers */
	fx_submit(f, FX_WAIT_SW(3), FX_STATUS);
	fx_run(f);
	assert_int_equal(fx_rd32(f, FX_FSTS), 0);
	assert_int_equal(fx_rd32(f, 0x3C), 0);
	assert_int_equal(fx_peek(f, FX_STATUS), 3);
}

static void test_wait__interrupt__event_once_until_seen(void **state)
{
	struct fx *f = *state;

	fx_wr32(f, 0xA4, 0x41);
	fx_wr32(f, 0xA8, 0xFEE05000);
	fx_wr32(f, 0xAC, 0x100);				/* APIC id 31:8 */
	fx_invalidate(f, FX_WAIT_IF, 0);
	assert_int_equal(f->nr_irq, 0);				/* masked at reset */
	assert_int_equal(fx_rd32(f, 0xA0), 3U << 30);
	assert_int_equal(fx_rd32(f, 0x9C), 1);
	fx_wr32(f, 0xA0, 0);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 0x105);
	assert_int_equal(f->irq[0].vector, 0x41);
	assert_int_equal(fx_rd32(f, 0xA0), 0);
	fx_invalidate(f, FX_WAIT_IF, 0);			/* IWC still set: nothing new to say */
	assert_int_equal(f->nr_irq, 1);
	fx_wr32(f, 0x9C, 1);
	assert_int_equal(fx_rd32(f, 0x9C), 0);
	fx_invalidate(f, FX_WAIT_IF | FX_WAIT_SW(9), FX_STATUS);	/* both are done */
	assert_int_equal(f->nr_irq, 2);
	assert_int_equal(fx_peek(f, FX_STATUS), 9);
}

static void test_wait__masked_event_seen__not_sent_later(void **state)
{
	struct fx *f = *state;

	fx_invalidate(f, FX_WAIT_IF, 0);
	fx_wr32(f, 0x9C, 1);
	fx_wr32(f, 0xA0, 0);
	assert_int_equal(f->nr_irq, 0);
}

static void test_queue__disabled__nothing_happens(void **state)
{
	struct fx *f = *state;

	fx_submit(f, FX_WAIT_SW(1), FX_STATUS);
	fx_gcmd(f, 0, 1U << 26);
	fx_run(f);
	assert_int_equal(fx_peek(f, FX_STATUS), 0);
	assert_int_equal(fx_rd64(f, 0x80), 0);
	fx_wr64(f, 0x88, 5 << 4);
	assert_true(sched_empty(f->sched));
}

static void test_queue__shrunk_in_use__no_runaway(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 0, 1U << 26);
	fx_wr64(f, 0x90, 0x40000 | 1);
	fx_gcmd(f, 1U << 26, 0);
	for (unsigned int i = 0; i < 512; i++)
		fx_poke(f, 0x40000 + 16 * i, FX_IEC_GLOBAL);
	fx_wr64(f, 0x88, 300 << 4);
	fx_run(f);
	fx_wr64(f, 0x88, 310 << 4);
	fx_wr64(f, 0x90, 0x40000);				/* 256 now, head 300 */
	fx_run(f);
	fx_wr64(f, 0x88, 5 << 4);
	fx_run(f);
	assert_true(vtd_counters(f->vtd)->invalidations < 300 + 256);
	assert_true(sched_empty(f->sched));
}

static void test_registers__queue_off__invalidate_at_once(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 0, 1U << 26);
	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	fx_wr64(f, 0x200, IOVA);
	fx_wr64(f, 0x208, 1ULL << 63 | 3ULL << 60 | (FX_DID + 1ULL) << 32);
	assert_int_equal(fx_rd64(f, 0x208) >> 57, 3 << 3 | 3);		/* IVT clear, IIRG kept, IAIG = page */
	assert_dma_ok(f, IOVA, true, HPA);
	fx_wr64(f, 0x200, IOVA | 63);
	fx_wr64(f, 0x208, 1ULL << 63 | 3ULL << 60 | (u64)FX_DID << 32);
	assert_int_equal(fx_rd64(f, 0x208) >> 57 & 3, 0);		/* AM above MAMV: not done */
	assert_dma_ok(f, IOVA, true, HPA);
	fx_wr64(f, 0x200, IOVA);
	fx_wr64(f, 0x208, 1ULL << 63 | 3ULL << 60 | (u64)FX_DID << 32);
	assert_dma_fault(f, IOVA, true, 0x5);
	fx_context(f, FX_RID, 0, 0);
	fx_wr64(f, 0x28, 1ULL << 63 | 3ULL << 61 | FX_RID << 16 | FX_DID);
	assert_int_equal(fx_rd64(f, 0x28) >> 59, 3 << 2 | 3);
	assert_dma_fault(f, IOVA, true, 0x2);
}

static void test_registers__queue_on__nothing_performed(void **state)
{
	struct fx *f = *state;

	fx_map(f, IOVA, HPA, FX_RW);
	assert_dma_ok(f, IOVA, true, HPA);
	fx_map(f, IOVA, 0, 0);
	fx_context(f, FX_RID, 0, 0);
	fx_wr64(f, 0x208, 1ULL << 63 | 1ULL << 60);
	fx_wr64(f, 0x28, 1ULL << 63 | 1ULL << 61);
	assert_int_equal(fx_rd64(f, 0x208) >> 57, 1 << 3);
	assert_int_equal(fx_rd64(f, 0x28) >> 59, 1 << 2);
	assert_dma_ok(f, IOVA, true, HPA);
}

static void test_queue__trace__says_what_was_invalidated(void **state)
{
	struct fx *f = *state;

	fx_invalidate(f, FX_IOTLB_PAGE(FX_DID), IOVA | 3);
	assert_int_equal(f->last[TRACE_VTD_INVAL].a, 2);
	assert_int_equal(f->last[TRACE_VTD_INVAL].b, FX_DID);
	assert_int_equal(f->last[TRACE_VTD_INVAL].c, IOVA);
	assert_int_equal(f->last[TRACE_VTD_INVAL].d, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_queue__wait__status_after_its_time_and_in_order),
		FX_TEST(test_queue__ignored_invalidation__completes_and_does_nothing),
		FX_TEST(test_queue__wrap__goes_on_at_the_start),
		FX_TEST(test_queue__larger_size__indices_beyond_256),
		FX_TEST(test_queue__tail_beyond_size__iqe),
		FX_TEST(test_queue__not_memory__iqe),
		FX_TEST(test_queue__unknown_type__iqe),
		FX_TEST(test_queue__malformed__iqe_and_nothing_done),
		FX_TEST(test_queue__stopped__what_follows_waits),
		FX_TEST(test_queue__error__fault_event),
		FX_TEST(test_wait__status_not_memory__lost_and_no_hang),
		FX_TEST(test_wait__interrupt__event_once_until_seen),
		FX_TEST(test_wait__masked_event_seen__not_sent_later),
		FX_TEST(test_queue__disabled__nothing_happens),
		FX_TEST(test_queue__shrunk_in_use__no_runaway),
		FX_TEST(test_registers__queue_off__invalidate_at_once),
		FX_TEST(test_registers__queue_on__nothing_performed),
		FX_TEST(test_queue__trace__says_what_was_invalidated),
	};

	return cmocka_run_group_tests_name("iommu_vtd_queue", tests, NULL, NULL);
}
