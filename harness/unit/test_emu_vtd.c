// SPDX-License-Identifier: GPL-2.0
/* VT-d before the controller, set up through the test protocol: Intel VT-d specification 4.1. */

#include "emu_rig.h"

#define VTD 0xFED90000ULL
#define GCMD (VTD + 0x18)
#define GSTS (VTD + 0x1C)
#define RTADDR (VTD + 0x20)
#define CCMD (VTD + 0x28)
#define FSTS (VTD + 0x34)
#define FECTL (VTD + 0x38)
#define IQH (VTD + 0x80)
#define IQT (VTD + 0x88)
#define IQA (VTD + 0x90)
#define IRTA (VTD + 0xB8)
#define TE (1U << 31)
#define SRTP (1U << 30)
#define QIE (1U << 26)
#define IRE (1U << 25)
#define SIRTP (1U << 24)
#define PPF 0x2U

#define ROOT 0x400000ULL
#define CONTEXT 0x401000ULL
#define SL4 0x402000ULL
#define SL3 0x403000ULL
#define SL2 0x404000ULL
#define SL1 0x405000ULL		/* IOVA 0 .. 2 MiB */
#define QUEUE 0x406000ULL
#define STATUS 0x407000ULL
#define IRTES 0x408000ULL
#define READ_WRITE 3U

#define IOVA_BUF 0x150000ULL	/* mapped to RIG_BUF */
#define IOVA_NONE 0x151000ULL
#define IOVA_READ_ONLY 0x152000ULL

static int down(void **state)
{
	rig_free(*state);
	return 0;
}

static struct emu_rig *up(void **state)
{
	struct emu_rig *r = *state = rig_new(RIG_VTD_Q35);

	rig_pci_setup(r);
	rig_enable(r);
	return r;
}

static void map(struct emu_rig *r, u64 iova, u64 to, u32 rights)
{
	rig_wr(r, 'q', SL1 + 8 * (iova >> 12), to | rights);
}

/* Root and context entries of 00:03.0, 48-bit second-level tables of 4 levels, domain 1; queues and mailbox map to themselves. */
static void remap(struct emu_rig *r)
{
	rig_wr(r, 'q', ROOT, CONTEXT | 1);
	rig_wr(r, 'q', CONTEXT + 16 * RIG_DEVFN, SL4 | 1);
	rig_wr(r, 'q', CONTEXT + 16 * RIG_DEVFN + 8, 1 << 8 | 2);
	rig_wr(r, 'q', SL4, SL3 | READ_WRITE);
	rig_wr(r, 'q', SL3, SL2 | READ_WRITE);
	rig_wr(r, 'q', SL2, SL1 | READ_WRITE);
	for (u64 page = RIG_ASQ; page < RIG_ASQ + 0x4000; page += 0x1000)
		map(r, page, page, READ_WRITE);
	map(r, RIG_MAILBOX, RIG_MAILBOX, READ_WRITE);
	map(r, IOVA_BUF, RIG_BUF, READ_WRITE);
	map(r, IOVA_READ_ONLY, RIG_BUF, 1);
	rig_wr(r, 'q', RTADDR, ROOT);
	rig_wr(r, 'l', GCMD, SRTP);
	assert_int_equal(rig_rd(r, 'l', GSTS), SRTP);
	rig_wr(r, 'l', GCMD, TE);
	assert_int_equal(rig_rd(r, 'l', GSTS), SRTP | TE);
}

static u64 frcd(struct emu_rig *r)
{
	return VTD + 16 * (rig_rd(r, 'q', VTD + 8) >> 24 & 0x3FF);
}

/* 11.4.14: F, T, FR, SID; and the page. The first record since it was cleared. */
static void expect_fault(struct emu_rig *r, u32 reason, u64 page)
{
	u64 lo = rig_rd(r, 'q', frcd(r)), hi = rig_rd(r, 'q', frcd(r) + 8);

	assert_int_equal(rig_rd(r, 'l', FSTS) & PPF, PPF);
	assert_int_equal(hi >> 63, 1);
	assert_int_equal(hi >> 32 & 0xFF, reason);
	assert_int_equal(hi & 0xFFFF, RIG_DEVFN);
	assert_int_equal(lo, page);
}

static u32 identify(struct emu_rig *r, u64 prp1)
{
	return rig_do(r, 0, (struct rig_sqe){ .opcode = 0x06, .prp1 = prp1, .cdw10 = 1 });
}

static void test_registers__reset__version_and_capabilities(void **state)
{
	struct emu_rig *r = up(state);
	u64 cap = rig_rd(r, 'q', VTD + 8), ecap = rig_rd(r, 'q', VTD + 0x10);

	assert_int_equal(rig_rd(r, 'l', VTD), 0x10);
	assert_int_equal(cap >> 8 & 0x1F, 1 << 1 | 1 << 2);	/* SAGAW: 39 and 48 bits */
	assert_int_equal(cap >> 16 & 0x3F, 47);			/* MGAW */
	assert_int_equal(ecap & 0xA, 0xA);			/* QI, IR */
	assert_int_equal(rig_rd(r, 'l', VTD + 8), (u32)cap);
	assert_int_equal(rig_rd(r, 'l', VTD + 12), cap >> 32);
}

static void test_translation__mapped_page__data_goes_where_the_table_says(void **state)
{
	struct emu_rig *r = up(state);

	remap(r);
	assert_int_equal(identify(r, IOVA_BUF), 0);
	assert_int_equal(rig_rd(r, 'w', RIG_BUF), 0x1B36);
	assert_int_equal(rig_rd(r, 'l', FSTS), 0);
}

static void test_fault__device_writes_unmapped__posted_and_recorded(void **state)
{
	struct emu_rig *r = up(state);

	remap(r);
	assert_int_equal(identify(r, IOVA_NONE), 0);
	expect_fault(r, 5, IOVA_NONE);
	rig_wr(r, 'l', frcd(r) + 12, 0x80000000);
	assert_int_equal(rig_rd(r, 'l', FSTS), 0);
	assert_int_equal(identify(r, IOVA_READ_ONLY), 0);
}

static void test_fault__device_reads_unmapped__the_command_fails(void **state)
{
	struct emu_rig *r = up(state);

	remap(r);
	rig_pair(r, RIG_SQ1, RIG_SQ1);
	assert_int_equal(rig_do(r, 1, (struct rig_sqe){ .opcode = 0x01, .nsid = 1, .prp1 = IOVA_NONE }), 0x04);
	expect_fault(r, 6, IOVA_NONE);
}

static void test_fault__no_context_entry__queue_fetch_is_fatal(void **state)
{
	struct emu_rig *r = up(state);

	remap(r);
	rig_wr(r, 'q', CONTEXT + 16 * RIG_DEVFN, 0);
	assert_int_equal(identify(r, IOVA_BUF), 0x8000);
	expect_fault(r, 2, RIG_ASQ);
	assert_int_equal(rig_rd(r, 'l', RIG_BAR0 + 0x1C) & 2, 2);
}

/* FECTL 11.4.11: unmasked, a fault sends its message. */
static void test_fault__event_unmasked__vector_arrives(void **state)
{
	struct emu_rig *r = up(state);

	remap(r);
	rig_wr(r, 'l', VTD + 0x3C, 0x41);
	rig_wr(r, 'l', VTD + 0x40, 0xFEE00000);
	rig_wr(r, 'l', FECTL, 0);
	assert_int_equal(identify(r, IOVA_NONE), 0);
	assert_true(emu_lapic_requested(r->m, 0, 0x41));
}

/* 6.5.2: what was cached stays until it is invalidated; the wait descriptor writes its status word. */
static void test_queued_invalidation__iotlb_and_wait__then_the_table_counts(void **state)
{
	struct emu_rig *r = up(state);

	remap(r);
	assert_int_equal(identify(r, IOVA_BUF), 0);
	map(r, IOVA_BUF, 0, 0);
	assert_int_equal(identify(r, IOVA_BUF), 0);
	assert_int_equal(rig_rd(r, 'l', FSTS), 0);
	rig_wr(r, 'q', IQA, QUEUE);
	rig_wr(r, 'l', GCMD, TE | QIE);
	rig_wr(r, 'q', QUEUE, 1 << 4 | 2);
	rig_wr(r, 'q', QUEUE + 16, 0xC0DEULL << 32 | 1 << 5 | 5);
	rig_wr(r, 'q', QUEUE + 24, STATUS);
	rig_wr(r, 'q', IQT, 2 << 4);
	assert_int_equal(rig_rd(r, 'q', IQH), 2 << 4);
	assert_int_equal(rig_rd(r, 'l', STATUS), 0xC0DE);
	assert_int_equal(identify(r, IOVA_BUF), 0);
	expect_fault(r, 5, IOVA_BUF);
}

static void test_queued_invalidation__bad_descriptor__iqe_and_head_stays(void **state)
{
	struct emu_rig *r = up(state);

	rig_wr(r, 'q', IQA, QUEUE);
	rig_wr(r, 'l', GCMD, QIE);
	rig_wr(r, 'q', QUEUE, 0xF);
	rig_wr(r, 'q', IQT, 1 << 4);
	assert_int_equal(rig_rd(r, 'l', FSTS) & 0x10, 0x10);
	assert_int_equal(rig_rd(r, 'q', IQH), 0);
}

/* A table of 256 IRTEs; vector 0 of the controller uses @handle. Data must reach memory: translation is off. */
static void interrupts(struct emu_rig *r, u32 handle)
{
	rig_wr(r, 'q', IRTA, IRTES | 7);
	rig_wr(r, 'l', GCMD, SIRTP);
	rig_wr(r, 'l', GCMD, IRE);
	assert_int_equal(rig_rd(r, 'l', GSTS), SIRTP | IRE);
	rig_wr(r, 'l', RIG_MSIX_TABLE, 0xFEE00010 | (handle & 0x7FFF) << 5);
	rig_wr(r, 'l', RIG_MSIX_TABLE + 8, 0);
}

/* 9.9: P, vector 0x61, APIC id 0; SVT 1: the whole source-id. */
static void irte(struct emu_rig *r, u32 index, u16 sid)
{
	rig_wr(r, 'q', IRTES + 16 * index, 0x61 << 16 | 1);
	rig_wr(r, 'q', IRTES + 16 * index + 8, 1 << 18 | sid);
}

static void test_interrupt__remapped__its_entry_says_the_vector(void **state)
{
	struct emu_rig *r = up(state);

	irte(r, 5, RIG_DEVFN);
	interrupts(r, 5);
	assert_int_equal(identify(r, RIG_BUF), 0);
	assert_true(emu_lapic_requested(r->m, 0, 0x61));
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x230), 1 << 1);
	assert_int_equal(rig_rd(r, 'l', FSTS), 0);
}

static void blocked(struct emu_rig *r, u32 reason, u64 index)
{
	assert_int_equal(identify(r, RIG_BUF), 0);
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x230), 0);
	expect_fault(r, reason, index << 48);
}

static void test_interrupt__entry_not_present__fault_22(void **state)
{
	struct emu_rig *r = up(state);

	interrupts(r, 6);
	blocked(r, 0x22, 6);
}

static void test_interrupt__index_behind_the_table__fault_21(void **state)
{
	struct emu_rig *r = up(state);

	interrupts(r, 300);
	blocked(r, 0x21, 300);
}

static void test_interrupt__another_source__fault_26(void **state)
{
	struct emu_rig *r = up(state);

	irte(r, 7, 0x20);
	interrupts(r, 7);
	blocked(r, 0x26, 7);
}

static void test_interrupt__compatibility_format__fault_25(void **state)
{
	struct emu_rig *r = up(state);

	interrupts(r, 0);
	rig_wr(r, 'l', RIG_MSIX_TABLE, 0xFEE00000);
	rig_wr(r, 'l', RIG_MSIX_TABLE + 8, 0x61);
	blocked(r, 0x25, 0);
}

static void test_interrupt__remapping_off__compatibility_passes(void **state)
{
	struct emu_rig *r = up(state);

	rig_wr(r, 'l', RIG_MSIX_TABLE, 0xFEE00000);
	rig_wr(r, 'l', RIG_MSIX_TABLE + 8, 0x62);
	assert_int_equal(identify(r, RIG_BUF), 0);
	assert_true(emu_lapic_requested(r->m, 0, 0x62));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_registers__reset__version_and_capabilities, down),
		cmocka_unit_test_teardown(test_translation__mapped_page__data_goes_where_the_table_says, down),
		cmocka_unit_test_teardown(test_fault__device_writes_unmapped__posted_and_recorded, down),
		cmocka_unit_test_teardown(test_fault__device_reads_unmapped__the_command_fails, down),
		cmocka_unit_test_teardown(test_fault__no_context_entry__queue_fetch_is_fatal, down),
		cmocka_unit_test_teardown(test_fault__event_unmasked__vector_arrives, down),
		cmocka_unit_test_teardown(test_queued_invalidation__iotlb_and_wait__then_the_table_counts, down),
		cmocka_unit_test_teardown(test_queued_invalidation__bad_descriptor__iqe_and_head_stays, down),
		cmocka_unit_test_teardown(test_interrupt__remapped__its_entry_says_the_vector, down),
		cmocka_unit_test_teardown(test_interrupt__entry_not_present__fault_22, down),
		cmocka_unit_test_teardown(test_interrupt__index_behind_the_table__fault_21, down),
		cmocka_unit_test_teardown(test_interrupt__another_source__fault_26, down),
		cmocka_unit_test_teardown(test_interrupt__compatibility_format__fault_25, down),
		cmocka_unit_test_teardown(test_interrupt__remapping_off__compatibility_passes, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
