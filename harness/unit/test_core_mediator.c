// SPDX-License-Identifier: GPL-2.0
/* The mediator: what it sends and what it refuses. Expected values: the table of expected status codes, the attack cases named. */

#include "core_mediator_rig.h"

/* --- what is sent --- */

static void test_read__one_page__is_rebuilt_and_translated(void **state)
{
	struct nvme_sqe in = rw(2, 0x10, 7 | 1u << 30 | 0xFu << 26, BUF + 0x200, 0x1234);
	const struct nvme_sqe *out;

	(void)state;
	in.flags = 0x04;		/* reserved bits */
	in.cdw2 = in.cdw3 = in.cdw13 = in.cdw14 = in.cdw15 = ~0u;
	in.cdw12 = 3 | 1u << 30 | 0xFu << 26;
	out = sent(in);
	assert_int_equal(out->opcode, 2);
	assert_int_equal(out->flags, 0);
	assert_int_equal(out->nsid, 1);
	assert_true((out->cdw10 | (u64)out->cdw11 << 32) == LBA_START + 0x10);
	assert_int_equal(out->cdw12, 3 | 1u << 30);
	assert_true(out->prp1 == DMA_OFFSET + BUF + 0x200);
	assert_true(out->prp2 == 0 && out->mptr == 0);
	assert_int_equal(out->cdw2 | out->cdw3 | out->cdw13 | out->cdw14 | out->cdw15, 0);
	assert_int_equal(rig->held[(BUF - RAM_BASE) / 4096], 1);
	finish(0, 0);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi.vector, 1);
}

/* NVM 5.2.2: the controller makes and checks protection information; the block is the initial reference tag. */
static void test_read__protected_blocks__pract_and_reference_tag(void **state)
{
	const struct nvme_sqe *out;

	(void)state;
	rig->be.info.pi = true;
	out = sent(rw(2, 0x10, 7 | 7u << 26, BUF, 0));
	assert_int_equal(out->cdw12, 7 | 1u << 29);
	assert_int_equal(out->cdw14, (u32)LBA_START + 0x10);
	finish(0, 0);
}

static void test_write__two_pages__prp2_is_the_second(void **state)
{
	const struct nvme_sqe *out = sent(rw(1, 0, 15, BUF, BUF + 0x8000));

	(void)state;
	assert_true(out->prp2 == DMA_OFFSET + BUF + 0x8000);
	finish(0x281, 0x281);
}

/* GPA-06: the device gets the checked copy. */
static void test_read__list__is_a_private_copy(void **state)
{
	u64 *list = ram(LIST);
	const struct nvme_sqe *out;
	const u64 *copy;

	(void)state;
	list[0] = BUF + 0x3000;
	list[1] = BUF + 0x1000;
	out = sent(rw(2, 0, 23, BUF + 0x10000, LIST));
	assert_int_equal(rig->nr_copied, 1);
	copy = private_list(out);
	list[1] = 0x100000000;
	assert_true(copy[0] == DMA_OFFSET + BUF + 0x3000);
	assert_true(copy[1] == DMA_OFFSET + BUF + 0x1000);
	assert_int_equal(rig->held[(BUF + 0x1000 - RAM_BASE) / 4096], 1);
	finish(0, 0);
}

/* The last slot is data where nothing remains after it. */
static void test_read__list_that_ends_with_its_page__has_no_chain_pointer(void **state)
{
	u64 *list = ram(LIST);
	const u64 *copy;

	(void)state;
	list[510] = BUF + 0x3000;
	list[511] = BUF + 0x5000;
	copy = private_list(sent(rw(2, 0, 23, BUF, LIST + 0xFF0)));
	assert_true(copy[0] == DMA_OFFSET + BUF + 0x3000);
	assert_true(copy[1] == DMA_OFFSET + BUF + 0x5000);
	finish(0, 0);
}

/* GPA-10: 513 pages, list from offset FF0h: 1 entry, then 510 of a page that chains to one with 1. MDTS 9. */
static void test_read__chained_lists__need_exactly_what_the_transfer_needs(void **state)
{
	u64 *a = ram(LIST), *b = ram(LIST + 0x1000), *c = ram(LIST + 0x2000);
	const struct nvme_sqe *out;
	const u64 *copy;
	u32 i;

	(void)state;
	rig->be.info.mdts_bytes = 0x200000;
	a[510] = BUF + 0x1000;
	a[511] = LIST + 0x1000;
	for (i = 0; i < 511; i++)
		b[i] = BUF + i % 256 * 0x1000;
	b[511] = LIST + 0x1000;			/* chains to itself: not needed, unless more remains */
	out = sent(rw(2, 0, 0xFFF, BUF, LIST + 0xFF0));
	copy = private_list(out);
	assert_true(copy[0] == DMA_OFFSET + BUF + 0x1000);
	assert_true(copy[510] == DMA_OFFSET + BUF + 509 % 256 * 0x1000);
	finish(0, 0);
	b[511] = LIST + 0x2000;
	c[0] = BUF + 0x7000;
	out = sent(rw(2, 0, 0xFFF, BUF + 0x200, LIST + 0xFF0));	/* one page more: 512 entries */
	copy = private_list(out);
	assert_true(copy[510] == DMA_OFFSET + BUF + 509 % 256 * 0x1000);
	assert_true(copy[511] == DMA_OFFSET + BUF + 510 % 256 * 0x1000);
	finish(0, 0);
}

static void test_flush__any_nsid__goes_to_the_one_namespace(void **state)
{
	struct nvme_sqe in = { .opcode = 0, .cid = 0xBEEF, .nsid = 0xFFFFFFFF, .prp1 = 0x100000000, .cdw10 = 55 };
	const struct nvme_sqe *out = sent(in);

	(void)state;
	assert_int_equal(out->nsid, 1);
	assert_true(out->prp1 == 0 && out->cdw10 == 0);
	finish(0, 0);
}

static void test_write_zeroes__beyond_mdts__is_allowed(void **state)
{
	const struct nvme_sqe *out = sent(rw(8, 1, 0xFFFF | 1u << 25, 0x100000000, 0));

	(void)state;
	assert_int_equal(out->cdw12, 0xFFFF | 1u << 25);
	assert_true(out->prp1 == 0);
	finish(0, 0);
}

/* --- what is refused --- */

/* LBA-01 to LBA-06, LBA-11 */
static void test_lba__outside_the_window__is_0_80(void **state)
{
	(void)state;
	assert_int_equal(refused(rw(2, 0x100000, 7, BUF, 0)), 0x80 | DNR);
	assert_true(rig->deny.a == 0x100000);
	assert_int_equal(refused(rw(1, 0xFFFFFFFFFFF00000, 7, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(2, ~0ull, 0, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(2, 0xFFFFF, 1, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(2, 1ull << 55, 0, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(8, 0xF0001, 0xFFFF, 0, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(5, 0x100000, 0, BUF, 0)), 0x80 | DNR);
	sent(rw(2, 0xFFFFF, 0, BUF, 0));
	finish(0, 0);
	assert_int_equal(refused(rw(2, 0, 0xFFFF, BUF, 0)), 0x02 | DNR);
	assert_int_equal(refused(rw(2, 0x800000, 0x100, BUF, 2)), 0x02 | DNR);
	assert_int_equal(refused(rw(2, 0x800000, 0, BUF + 1, 0)), 0x80 | DNR);
}

/* LBA-09, LBA-10, EXH-08 */
static void test_command__not_offered__is_refused(void **state)
{
	static const u8 opcodes[] = { 0x04, 0x0C, 0x0D, 0x0E, 0x11, 0x15, 0x7F, 0xC0 };
	struct nvme_sqe sqe;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(opcodes); i++)
		assert_int_equal(refused(rw(opcodes[i], 0, 0, BUF, 0)), 0x01 | DNR);
	sqe = rw(2, 0, 0, BUF, 0);
	sqe.flags = 0x40;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	sqe.flags = 0x01;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	sqe.flags = 0;
	sqe.nsid = 0;
	assert_int_equal(refused(sqe), 0x0B | DNR);
	sqe.nsid = 2;
	assert_int_equal(refused(sqe), 0x0B | DNR);
	sqe.nsid = 0x101;
	assert_int_equal(refused(sqe), 0x0B | DNR);
	sqe.nsid = 0xFFFFFFFF;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	rig->be.info.oncs = 0;
	assert_int_equal(refused(rw(5, 0, 0, BUF, 0)), 0x01 | DNR);
	assert_int_equal(refused(rw(8, 0, 0, BUF, 0)), 0x01 | DNR);
	assert_int_equal(refused(rw(9, 0, 0, BUF, 0)), 0x01 | DNR);
	assert_int_equal(refused(rw(0x19, 0, 0, BUF, 0)), 0x01 | DNR);
}

/* GPA-01 to GPA-05, GPA-11 to GPA-13, INT-01, CMB-05 */
static void test_prp__not_registered_memory__is_0_04(void **state)
{
	u64 *list = ram(LIST);
	struct nvme_sqe sqe;

	(void)state;
	assert_int_equal(refused(rw(2, 0, 7, 0x100002000, 0)), 0x04 | DNR);
	assert_true(rig->deny.a == 0x100002000);
	assert_int_equal(refused(rw(1, 0, 7, 0, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 7, 0xFEE00000, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 7, BAR2 + 0x1000, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 15, BUF, 0x100002000)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 0x3F, BUF, 0x100005000)), 0x04 | DNR);
	list[0] = BUF;
	list[1] = BUF + 0x1000;
	list[2] = 0x100002000;
	assert_int_equal(refused(rw(2, 0, 31, BUF, LIST)), 0x04 | DNR);
	assert_true(rig->deny.a == 0x100002000);
	assert_int_equal(refused(rw(2, 0, 15, RAM_BASE + RAM_SIZE - 0x1000, RAM_BASE + RAM_SIZE)), 0x04 | DNR);
	rig->released_from = BUF + 0x1000;
	assert_int_equal(refused(rw(2, 0, 15, BUF, BUF + 0x1000)), 0x04 | DNR);
	sqe = rw(2, 0, 7, BUF, 0);
	sqe.mptr = BUF + 2;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	sqe.mptr = 0x100004000;
	assert_int_equal(refused(sqe), 0x04 | DNR);
}

/* GPA-07 to GPA-09 */
/* IOM-07: the controller writes what a Read brings; what a Write takes it reads. */
static void test_prp__memory_that_devices_only_read__takes_no_read(void **state)
{
	(void)state;
	rig->read_only = BUF + 0x1000;
	assert_int_equal(refused(rw(2, 0, 7, BUF + 0x1000, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 15, BUF, BUF + 0x1000)), 0x04 | DNR);
	assert_int_equal(rig->held[(BUF - RAM_BASE) / 4096], 0);
	(void)sent(rw(1, 0, 15, BUF, BUF + 0x1000));
	finish(0, 0);
}

static void test_prp__offsets__are_0_13(void **state)
{
	u64 *list = ram(LIST);

	(void)state;
	list[0] = BUF + 0x1000;
	list[1] = BUF + 0x2200;
	assert_int_equal(refused(rw(2, 0, 23, BUF, LIST)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 15, BUF, BUF + 0x1008)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 0, BUF + 2, 0)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 63, BUF, LIST + 4)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 63, BUF, LIST + 0xFFC)), 0x13 | DNR);
	*(u64 *)ram(LIST + 0xFF8) = LIST + 0x1008;	/* the chain pointer */
	assert_int_equal(refused(rw(2, 0, 63, BUF, LIST + 0xFF8)), 0x13 | DNR);
}

/* LBA-07 */
static void test_dsm__ranges__are_checked_and_translated_on_a_copy(void **state)
{
	struct nvme_dsm_range *r = ram(BUF + 0xFF0);
	struct nvme_sqe in = { .opcode = 9, .cid = 0xBEEF, .nsid = 1, .cdw10 = 1, .cdw11 = 4, .prp1 = BUF + 0xFF0,
			       .prp2 = BUF + 0x1000 };
	const struct nvme_dsm_range *copy;
	const struct nvme_sqe *out;

	(void)state;
	r[0] = (struct nvme_dsm_range){ 0, 8, 0x100 };
	r[1] = (struct nvme_dsm_range){ 0, 1, LBA_COUNT - 1 };
	out = sent(in);
	copy = (const struct nvme_dsm_range *)private_list(out);
	assert_int_equal(out->cdw10, 1);
	assert_int_equal(out->cdw11, 4);
	r[1].slba = 0;
	assert_true(copy[0].slba == LBA_START + 0x100 && copy[0].nlb == 8);
	assert_true(copy[1].slba == LBA_START + LBA_COUNT - 1);
	finish(0, 0);
	r[1].slba = LBA_COUNT;
	assert_int_equal(refused(in), 0x80 | DNR);
	r[1] = (struct nvme_dsm_range){ 0, 0xFFFFFFFF, 0 };
	assert_int_equal(refused(in), 0x80 | DNR);
	in.prp2 = 0x1000;
	assert_int_equal(refused(in), 0x04 | DNR);
	in.prp2 = BUF + 8;
	assert_int_equal(refused(in), 0x13 | DNR);
}

/* LBA-08: NVM 3.2.2 */
static void test_copy__ranges_and_destination__are_checked_and_translated_on_a_copy(void **state)
{
	struct nvme_copy_range *r = ram(BUF);
	struct nvme_sqe in = { .opcode = 0x19, .cid = 0xBEEF, .nsid = 1, .cdw10 = 0x300, .cdw12 = 1 | 1u << 30 | 3u << 20,
			       .prp1 = BUF };
	const struct nvme_copy_range *copy;
	const struct nvme_sqe *out;

	(void)state;
	rig->be.info.copy.ranges = 128;
	rig->be.info.copy.range_blocks = 256;
	rig->be.info.copy.blocks = 300;
	r[0] = (struct nvme_copy_range){ .slba = 0x100, .nlb = 255, .reserved0 = ~0ull, .eilbrt = ~0u };
	r[1] = (struct nvme_copy_range){ .slba = LBA_COUNT - 44, .nlb = 43 };
	out = sent(in);
	copy = (const struct nvme_copy_range *)private_list(out);
	assert_int_equal(out->cdw10 | (u64)out->cdw11 << 32, LBA_START + 0x300);
	assert_int_equal(out->cdw12, 1 | 1u << 30);		/* ranges and FUA; no directive, no protection */
	r[1].slba = LBA_COUNT;
	assert_true(copy[0].slba == LBA_START + 0x100 && copy[0].nlb == 255);
	assert_true(copy[0].reserved0 == 0 && copy[0].eilbrt == 0);
	assert_true(copy[1].slba == LBA_START + LBA_COUNT - 44 && copy[1].nlb == 43);
	finish(0, 0);
	assert_int_equal(refused(in), 0x80 | DNR);
	r[1] = (struct nvme_copy_range){ .slba = 0, .nlb = 44 };	/* 301 blocks: more than MCL */
	assert_int_equal(refused(in), 0x183 | DNR);
	r[1] = (struct nvme_copy_range){ .slba = 0, .nlb = 256 };	/* more than MSSRL */
	assert_int_equal(refused(in), 0x183 | DNR);
	r[1] = (struct nvme_copy_range){ .slba = ~0ull, .nlb = 0 };
	assert_int_equal(refused(in), 0x80 | DNR);
	r[1] = (struct nvme_copy_range){ .slba = 0, .nlb = 0 };
	in.cdw10 = (u32)LBA_COUNT - 256;				/* 257 blocks to there */
	assert_int_equal(refused(in), 0x80 | DNR);
	in.cdw12 = 128;							/* 129 ranges: none is read */
	in.prp1 = 0x1000;
	assert_int_equal(refused(in), 0x183 | DNR);
	in.cdw12 = 0 | 1u << 8;						/* format 1h */
	assert_int_equal(refused(in), 0x02 | DNR);
	in.cdw12 = 0;
	assert_int_equal(refused(in), 0x04 | DNR);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_read__one_page__is_rebuilt_and_translated),
		T(test_read__protected_blocks__pract_and_reference_tag),
		T(test_write__two_pages__prp2_is_the_second),
		T(test_read__list__is_a_private_copy),
		T(test_read__list_that_ends_with_its_page__has_no_chain_pointer),
		T(test_read__chained_lists__need_exactly_what_the_transfer_needs),
		T(test_flush__any_nsid__goes_to_the_one_namespace),
		T(test_write_zeroes__beyond_mdts__is_allowed),
		T(test_lba__outside_the_window__is_0_80),
		T(test_command__not_offered__is_refused),
		T(test_prp__not_registered_memory__is_0_04),
		T(test_prp__memory_that_devices_only_read__takes_no_read),
		T(test_prp__offsets__are_0_13),
		T(test_dsm__ranges__are_checked_and_translated_on_a_copy),
		T(test_copy__ranges_and_destination__are_checked_and_translated_on_a_copy),
	};

	return cmocka_run_group_tests_name("core_mediator", tests, NULL, NULL);
}
