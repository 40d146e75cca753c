// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"

#define SID_CHECK ((1ULL << 18) | FX_RID)	/* SVT = 1, SQ = 0 */

static int ir_setup(void **state)
{
	struct fx *f = fx_new(true, true);

	fx_start(f, true);
	fx_gcmd(f, 1U << 25, 0);
	*state = f;
	return 0;
}

static int xapic_setup(void **state)
{
	struct fx *f = fx_new(true, true);

	fx_start(f, false);
	fx_gcmd(f, 1U << 25, 0);
	*state = f;
	return 0;
}

static int no_posting_setup(void **state)
{
	struct fx *f = fx_new(false, true);

	fx_start(f, true);
	fx_gcmd(f, 1U << 25, 0);
	*state = f;
	return 0;
}

static void irte(struct fx *f, u32 index, u64 lo, u64 hi)
{
	fx_poke(f, FX_IRT + 16ULL * index, lo);
	fx_poke(f, FX_IRT + 16ULL * index + 8, hi);
}

/* 9.9: remapped, fixed delivery to an x2APIC id */
static u64 remapped(u32 dest, u8 vector)
{
	return (u64)dest << 32 | (u64)vector << 16 | 1;
}

/* 9.10: posted to the descriptor at @pda */
static void irte_posted(struct fx *f, u32 index, u8 vector, u64 pda, u64 flags)
{
	irte(f, index, (pda >> 6 & 0x3FFFFFF) << 38 | (u64)vector << 16 | 1 << 15 | 1 | flags,
	     pda >> 32 << 32 | SID_CHECK);
}

/* Descriptor control word: NDST, NV, SN, ON */
static void pid_control(struct fx *f, u32 ndst, u8 nv, u64 sn, u64 on)
{
	fx_poke(f, FX_PID + 32, (u64)ndst << 32 | (u64)nv << 16 | sn << 1 | on);
}

/* 5.1.2.2: handle without subhandle */
static enum vtd_result request(struct fx *f, u16 rid, u32 handle)
{
	return vtd_interrupt(f->vtd, rid, 0xFEE00010 | (handle & 0x7FFF) << 5 | (handle >> 15) << 2, 0, 4);
}

static unsigned int fault_index(struct fx *f)
{
	return (unsigned int)(fx_rd64(f, FX_FRCD + 16 * (fx_rd32(f, FX_FSTS) >> 8)) >> 48);
}

#define assert_ir_fault(f, call, rid, reason) do { \
	unsigned int before_ = (f)->nr_irq; \
	assert_int_equal(call, VTD_BLOCKED); \
	assert_int_equal(fx_fault(f, rid), reason); \
	assert_int_equal((f)->last[TRACE_IRTE_FAULT].c, reason); \
	assert_int_equal((f)->nr_irq, before_); \
} while (0)

static void test_ir__remapped__vector_and_destination(void **state)
{
	struct fx *f = *state;

	irte(f, 0x12, remapped(0x12345678, 0x41) | 1 << 5, SID_CHECK);
	assert_int_equal(request(f, FX_RID, 0x12), VTD_OK);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 0x12345678);
	assert_int_equal(f->irq[0].vector, 0x41);
	assert_int_equal(f->irq[0].mode, 1);
	assert_int_equal(f->last[TRACE_IRTE_REMAP].a, FX_RID);
	assert_int_equal(f->last[TRACE_IRTE_REMAP].b, 0x12);
	assert_int_equal(f->last[TRACE_IRTE_REMAP].c, 0x41);
	assert_int_equal(f->last[TRACE_IRTE_REMAP].d, 0x12345678);
}

static void test_ir__index__handle_and_subhandle(void **state)
{
	struct fx *f = *state;

	irte(f, 0x12, remapped(1, 0x42), SID_CHECK);
	irte(f, 0x8070, remapped(1, 0x43), SID_CHECK);
	/* INT-02: both forms name 0x12. */
	assert_int_equal(vtd_interrupt(f->vtd, FX_RID, 0xFEE00250, 0, 4), VTD_OK);
	assert_int_equal(vtd_interrupt(f->vtd, FX_RID, 0xFEE00218, 2, 4), VTD_OK);
	/* Data is not looked at without SHV. */
	assert_int_equal(vtd_interrupt(f->vtd, FX_RID, 0xFEE00250, 0xFFFFFFFF, 4), VTD_OK);
	assert_int_equal(request(f, FX_RID, 0x8070), VTD_OK);
	assert_int_equal(f->nr_irq, 4);
	assert_int_equal(f->irq[1].vector, 0x42);
	assert_int_equal(f->irq[3].vector, 0x43);
}

static void test_ir__index_sum_beyond_16_bits__21(void **state)
{
	struct fx *f = *state;

	/* INT-03: 0x807F + 0x7F93 = 0x10012 */
	irte(f, 0x12, remapped(1, 0x41), SID_CHECK);
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE00FFC, 0x7F93, 4), FX_RID, 0x21);
	assert_int_equal(f->last[TRACE_IRTE_FAULT].b, 0x10012);
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEEFFFFC, 0xFFFF, 4), FX_RID, 0x21);
	assert_int_equal(f->last[TRACE_IRTE_FAULT].b, 0x1FFFE);
}

static void test_ir__table_end__21_behind_it(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0xB8, FX_IRT | 1 << 11 | 5);			/* 2^6 entries */
	fx_gcmd(f, 1U << 24, 0);
	irte(f, 63, remapped(1, 0x41), SID_CHECK);
	irte(f, 64, remapped(1, 0x42), SID_CHECK);
	assert_int_equal(request(f, FX_RID, 63), VTD_OK);
	assert_ir_fault(f, request(f, FX_RID, 64), FX_RID, 0x21);
}

static void test_ir__not_present__22_with_index(void **state)
{
	struct fx *f = *state;

	assert_int_equal(request(f, FX_RID, 0x33), VTD_BLOCKED);
	assert_int_equal(fault_index(f), 0x33);
	assert_int_equal(fx_fault(f, FX_RID), 0x22);
	assert_int_equal(vtd_counters(f->vtd)->irte_faults, 1);
	irte(f, 0x33, 2, 0);					/* FPD */
	assert_int_equal(request(f, FX_RID, 0x33), VTD_BLOCKED);
	assert_int_equal(fx_rd32(f, FX_FSTS), 0);
}

static void test_ir__table_outside_memory__23(void **state)
{
	struct fx *f = *state;

	fx_wr64(f, 0xB8, FX_RAM | 1 << 11 | 15);
	fx_gcmd(f, 1U << 24, 0);
	assert_ir_fault(f, request(f, FX_RID, 0), FX_RID, 0x23);
}

static void test_ir__reserved_bits__24(void **state)
{
	struct fx *f = *state;
	static const u8 lo[] = { 12, 13, 14, 24, 31 }, hi[] = { 20, 63 };
	static const u8 posted_lo[] = { 2, 3, 7, 12, 13, 24, 37 }, posted_hi[] = { 20, 31 };

	for (unsigned int i = 0; i < sizeof(lo); i++) {
		irte(f, 1, remapped(1, 0x41) | 1ULL << lo[i], SID_CHECK);
		assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x24);
	}
	for (unsigned int i = 0; i < sizeof(hi); i++) {
		irte(f, 1, remapped(1, 0x41), SID_CHECK | 1ULL << hi[i]);
		assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x24);
	}
	for (unsigned int i = 0; i < sizeof(posted_lo); i++) {
		irte_posted(f, 1, 0x41, FX_PID, 1ULL << posted_lo[i]);
		assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x24);
	}
	for (unsigned int i = 0; i < sizeof(posted_hi); i++) {
		irte(f, 1, (FX_PID >> 6) << 38 | 1 << 15 | 1, SID_CHECK | 1ULL << posted_hi[i]);
		assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x24);
	}
	for (u64 mode = 3; mode <= 6; mode += 3) {
		irte(f, 1, remapped(1, 0x41) | mode << 5, SID_CHECK);
		assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x24);
	}
	assert_int_equal(fx_peek(f, FX_PID), 0);
	irte(f, 1, remapped(1, 0x41) | 0xF00, SID_CHECK);		/* AVAIL is software's */
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
}

static void test_ir__posted_without_capability__24(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0x41, FX_PID, 0);
	assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x24);
}

static void test_ir__compatibility_format__25_unless_cfi(void **state)
{
	struct fx *f = *state;
	static const u32 data[] = { 0x30, 0x400, 0x500, 0x608 };	/* INT-04 */

	for (unsigned int i = 0; i < 4; i++)
		assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE03000, data[i], 4), FX_RID, 0x25);
	fx_gcmd(f, 1U << 23, 0);
	assert_int_equal(vtd_interrupt(f->vtd, FX_RID, 0xFEE03000, 0x608, 4), VTD_OK);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 3);
	assert_int_equal(f->irq[0].vector, 8);
	assert_int_equal(f->irq[0].mode, 6);
}

static void test_ir__compatibility_format_x2apic__25_despite_cfi(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 1U << 23, 0);
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE03000, 0x30, 4), FX_RID, 0x25);
}

static void test_ir__off__passes(void **state)
{
	struct fx *f = *state;

	assert_int_equal(vtd_interrupt(f->vtd, FX_RID, 0xFEE07000, 0x55, 4), VTD_OK);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 7);
	assert_int_equal(f->irq[0].vector, 0x55);
}

static void test_ir__source_check__26(void **state)
{
	struct fx *f = *state;
	static const u16 ignored[4] = { 0, 4, 6, 7 };

	/* INT-05: SVT = 0 lets anybody through. */
	irte(f, 0x12, remapped(1, 0x41), FX_RID);
	assert_int_equal(request(f, 0x0200, 0x12), VTD_OK);
	irte(f, 0x13, remapped(1, 0x41), SID_CHECK);
	assert_ir_fault(f, request(f, 0x0200, 0x13), 0x0200, 0x26);
	for (unsigned int sq = 0; sq < 4; sq++) {
		irte(f, 0x20 + sq, remapped(1, 0x41), SID_CHECK | (u64)sq << 16);
		for (u16 bit = 0; bit < 16; bit++) {
			u16 rid = (u16)(FX_RID ^ 1U << bit);

			if (ignored[sq] >> bit & 1)
				assert_int_equal(request(f, rid, 0x20 + sq), VTD_OK);
			else
				assert_ir_fault(f, request(f, rid, 0x20 + sq), rid, 0x26);
		}
	}
	/* SVT = 2: buses 1 to 3 */
	irte(f, 0x30, remapped(1, 0x41), 2ULL << 18 | 0x0103);
	assert_int_equal(request(f, 0x0100, 0x30), VTD_OK);
	assert_int_equal(request(f, 0x03FF, 0x30), VTD_OK);
	assert_ir_fault(f, request(f, 0x00FF, 0x30), 0x00FF, 0x26);
	assert_ir_fault(f, request(f, 0x0400, 0x30), 0x0400, 0x26);
	/* SVT = 3: nobody */
	irte(f, 0x31, remapped(1, 0x41), 3ULL << 18 | FX_RID);
	assert_ir_fault(f, request(f, FX_RID, 0x31), FX_RID, 0x26);
}

static void test_ir__request_malformed__20(void **state)
{
	struct fx *f = *state;

	irte(f, 0, remapped(1, 0x41), SID_CHECK);
	/* INT-06 */
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE00010, 0, 512), FX_RID, 0x20);
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE00010, 0, 2), FX_RID, 0x20);
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE00012, 0, 4), FX_RID, 0x20);
	/* INT-11: a high dword */
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0x1FEE00010, 0, 4), FX_RID, 0x20);
	/* Data 31:16 with a subhandle */
	assert_ir_fault(f, vtd_interrupt(f->vtd, FX_RID, 0xFEE00018, 0x10000, 4), FX_RID, 0x20);
	assert_int_equal(request(f, FX_RID, 0), VTD_OK);
}

static void test_ir__entry_changed__served_until_invalidated(void **state)
{
	struct fx *f = *state;

	irte(f, 0x10, remapped(1, 0x41), SID_CHECK);
	irte(f, 0x13, remapped(1, 0x43), SID_CHECK);
	request(f, FX_RID, 0x10);
	request(f, FX_RID, 0x13);
	irte(f, 0x10, 0, 0);
	irte(f, 0x13, 0, 0);
	assert_int_equal(request(f, FX_RID, 0x10), VTD_OK);
	assert_ir_fault(f, request(f, 0x0200, 0x10), 0x0200, 0x26);	/* who asks is checked each time */
	fx_invalidate(f, FX_IEC_GLOBAL | 1 << 4 | 0x11ULL << 32, 0);
	assert_int_equal(request(f, FX_RID, 0x10), VTD_OK);
	fx_invalidate(f, FX_IEC_GLOBAL | 1 << 4 | 1 << 27 | 0x11ULL << 32, 0);	/* 0x10 and 0x11 */
	assert_ir_fault(f, request(f, FX_RID, 0x10), FX_RID, 0x22);
	assert_int_equal(request(f, FX_RID, 0x13), VTD_OK);
	fx_invalidate(f, FX_IEC_GLOBAL, 0);
	assert_ir_fault(f, request(f, FX_RID, 0x13), FX_RID, 0x22);
}

static void test_ir__fault_processing_disabled__blocked_not_recorded(void **state)
{
	struct fx *f = *state;

	irte(f, 1, remapped(1, 0x41) | 2, SID_CHECK);
	assert_int_equal(request(f, 0x0200, 1), VTD_BLOCKED);
	assert_int_equal(fx_rd32(f, FX_FSTS), 0);
	assert_int_equal(f->last[TRACE_IRTE_FAULT].c, 0x26);
}

static void test_ir__xapic__8_bit_destination(void **state)
{
	struct fx *f = *state;

	irte(f, 1, remapped(0x05 << 8, 0x41), SID_CHECK);
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(f->irq[0].dest, 5);
	irte(f, 2, remapped(0x10500, 0x41), SID_CHECK);
	assert_ir_fault(f, request(f, FX_RID, 2), FX_RID, 0x24);
	irte(f, 3, remapped(0x05, 0x41), SID_CHECK);
	assert_ir_fault(f, request(f, FX_RID, 3), FX_RID, 0x24);
}

static void test_ir__logical_destination__each_member(void **state)
{
	struct fx *f = *state;

	irte(f, 1, remapped(0x00020005, 0x41) | 1 << 2, SID_CHECK);	/* cluster 2, members 0 and 2 */
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(f->nr_irq, 2);
	assert_int_equal(f->irq[0].dest, 0x20);
	assert_int_equal(f->irq[1].dest, 0x22);
	irte(f, 2, remapped(0x0002000C, 0x41) | 1 << 2 | 1 << 3, SID_CHECK);	/* RH: one of them */
	assert_int_equal(request(f, FX_RID, 2), VTD_OK);
	assert_int_equal(f->nr_irq, 3);
	assert_int_equal(f->irq[2].dest, 0x22);
}

static void test_posting__idle_target__pir_on_and_notification(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 0x12, 0xA5, FX_PID, 0);
	pid_control(f, 0x10003, 0xF2, 0, 0);
	assert_int_equal(request(f, FX_RID, 0x12), VTD_OK);
	assert_int_equal(fx_peek(f, FX_PID + 16), 1ULL << (0xA5 - 128));
	assert_int_equal(fx_peek(f, FX_PID), 0);
	assert_int_equal(fx_peek(f, FX_PID + 8), 0);
	assert_int_equal(fx_peek(f, FX_PID + 24), 0);
	assert_int_equal(fx_peek(f, FX_PID + 32), 0x10003ULL << 32 | 0xF20001);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 0x10003);
	assert_int_equal(f->irq[0].vector, 0xF2);
	assert_int_equal(f->irq[0].mode, 0);
	assert_int_equal(f->last[TRACE_IRTE_POST].b, 0x12);
	assert_int_equal(f->last[TRACE_IRTE_POST].c, 0xA5);
	assert_int_equal(f->last[TRACE_IRTE_POST].d, FX_PID);
	assert_int_equal(f->last[TRACE_PI_NOTIFY].a, FX_PID);
	assert_int_equal(f->last[TRACE_PI_NOTIFY].b, 0xF2);
	assert_int_equal(f->last[TRACE_PI_NOTIFY].c, 0x10003);
}

static void test_posting__notification_outstanding__pir_only(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0x20, FX_PID, 0);
	irte_posted(f, 2, 0x21, FX_PID, 1 << 14);			/* urgent changes nothing with ON set */
	pid_control(f, 3, 0xF2, 0, 1);
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(request(f, FX_RID, 2), VTD_OK);
	assert_int_equal(fx_peek(f, FX_PID), 3ULL << 0x20);
	assert_int_equal(f->nr_irq, 0);
	assert_int_equal(vtd_counters(f->vtd)->posted, 2);
	assert_int_equal(vtd_counters(f->vtd)->notified, 0);
}

static void test_posting__suppressed__on_stays_clear(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0xFF, FX_PID, 0);
	pid_control(f, 3, 0xF2, 1, 0);
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(fx_peek(f, FX_PID + 24), 1ULL << 63);
	assert_int_equal(fx_peek(f, FX_PID + 32), 3ULL << 32 | 0xF20002);
	assert_int_equal(f->nr_irq, 0);
}

static void test_posting__suppressed_but_urgent__notified(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0x20, FX_PID, 1 << 14);
	pid_control(f, 3, 0xF2, 1, 0);
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(fx_peek(f, FX_PID + 32), 3ULL << 32 | 0xF20003);
	assert_int_equal(f->nr_irq, 1);
}

static void test_posting__xapic__destination_in_bits_15_8(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0x20, FX_PID, 0);
	pid_control(f, 0x0300, 0xF2, 0, 0);
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(f->irq[0].dest, 3);
	pid_control(f, 3, 0xF2, 0, 0);
	assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x28);
}

static void test_posting__descriptor_unusable__27_28(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0x20, FX_RAM, 0);
	assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x27);
	irte_posted(f, 2, 0x20, 0x123400000040ULL, 0);			/* above 4 GiB: all 64 bits count */
	assert_ir_fault(f, request(f, FX_RID, 2), FX_RID, 0x27);
	irte_posted(f, 3, 0x20, FX_PID, 0);
	fx_poke(f, FX_PID + 32, 4);
	assert_ir_fault(f, request(f, FX_RID, 3), FX_RID, 0x28);
	fx_poke(f, FX_PID + 32, 1 << 24);
	assert_ir_fault(f, request(f, FX_RID, 3), FX_RID, 0x28);
	assert_int_equal(fx_peek(f, FX_PID), 0);
}

/* INT-10: nothing but an invalidation keeps a cached entry from writing to freed memory. */
static void test_posting__entry_cleared__stray_write_until_invalidated(void **state)
{
	struct fx *f = *state;

	irte_posted(f, 1, 0x20, FX_PID, 0);
	request(f, FX_RID, 1);
	irte(f, 1, 0, 0);
	for (u64 i = 0; i < 64; i += 8)
		fx_poke(f, FX_PID + i, 0);
	assert_int_equal(request(f, FX_RID, 1), VTD_OK);
	assert_int_equal(fx_peek(f, FX_PID), 1ULL << 0x20);
	fx_invalidate(f, FX_IEC_GLOBAL, 0);
	assert_ir_fault(f, request(f, FX_RID, 1), FX_RID, 0x22);
}

#define IR(fn) cmocka_unit_test_setup_teardown(fn, ir_setup, fx_teardown)
#define XAPIC(fn) cmocka_unit_test_setup_teardown(fn, xapic_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IR(test_ir__remapped__vector_and_destination),
		IR(test_ir__index__handle_and_subhandle),
		IR(test_ir__index_sum_beyond_16_bits__21),
		IR(test_ir__table_end__21_behind_it),
		IR(test_ir__not_present__22_with_index),
		IR(test_ir__table_outside_memory__23),
		IR(test_ir__reserved_bits__24),
		cmocka_unit_test_setup_teardown(test_ir__posted_without_capability__24, no_posting_setup, fx_teardown),
		XAPIC(test_ir__compatibility_format__25_unless_cfi),
		IR(test_ir__compatibility_format_x2apic__25_despite_cfi),
		FX_TEST(test_ir__off__passes),
		IR(test_ir__source_check__26),
		IR(test_ir__request_malformed__20),
		IR(test_ir__entry_changed__served_until_invalidated),
		IR(test_ir__fault_processing_disabled__blocked_not_recorded),
		XAPIC(test_ir__xapic__8_bit_destination),
		IR(test_ir__logical_destination__each_member),
		IR(test_posting__idle_target__pir_on_and_notification),
		IR(test_posting__notification_outstanding__pir_only),
		IR(test_posting__suppressed__on_stays_clear),
		IR(test_posting__suppressed_but_urgent__notified),
		XAPIC(test_posting__xapic__destination_in_bits_15_8),
		IR(test_posting__descriptor_unusable__27_28),
		IR(test_posting__entry_cleared__stray_write_until_invalidated),
	};

	return cmocka_run_group_tests_name("iommu_vtd_ir", tests, NULL, NULL);
}
