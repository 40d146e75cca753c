// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "check.h"

#define MAX64 ~0ULL

static vlba_t v(u64 n)
{
	return (vlba_t){ n };
}

static void test_lba_inside__whole_window__true(void **state)
{
	(void)state;
	assert_true(liov_lba_inside(0x100000, v(0), 0x100000));
	assert_true(liov_lba_inside(0x100000, v(0xFFFFF), 1));
	assert_true(liov_lba_inside(1, v(0), 1));
	assert_true(liov_lba_inside(MAX64, v(MAX64 - 1), 1));
}

/* LBA-05: the last block plus one. */
static void test_lba_inside__one_past_the_end__false(void **state)
{
	(void)state;
	assert_false(liov_lba_inside(0x100000, v(0x100000), 1));
	assert_false(liov_lba_inside(0x100000, v(0xFFFFF), 2));
	assert_false(liov_lba_inside(0x100000, v(0), 0x100001));
}

/* LBA-03, LBA-04: sums that wrap. */
static void test_lba_inside__wraps__false(void **state)
{
	(void)state;
	assert_false(liov_lba_inside(0x100000, v(MAX64), 1));
	assert_false(liov_lba_inside(0x100000, v(MAX64), 2));
	assert_false(liov_lba_inside(0x100000, v(MAX64 - 0xFFFF + 1), 0x10000));
	assert_false(liov_lba_inside(MAX64, v(MAX64), 1));
}

/* LBA-06: NLB FFFFh is 65536 blocks, not none. */
static void test_lba_inside__largest_nlb__counted(void **state)
{
	(void)state;
	assert_true(liov_lba_inside(0x100000, v(0xF0000), 0x10000));
	assert_false(liov_lba_inside(0x100000, v(0xF0001), 0x10000));
	assert_false(liov_lba_inside(0xFFFF, v(0), 0x10000));
}

static void test_lba_inside__no_blocks__false(void **state)
{
	(void)state;
	assert_false(liov_lba_inside(0x100000, v(0), 0));
	assert_false(liov_lba_inside(0, v(0), 0));
	assert_false(liov_lba_inside(0, v(0), 1));
}

static void test_lba_translate__inside__start_added(void **state)
{
	(void)state;
	assert_true(liov_lba_translate(0x200000, v(0)).v == 0x200000);
	assert_true(liov_lba_translate(0x200000, v(0xFFFFF)).v == 0x2FFFFF);
}

static void test_range_inside__edges__exact(void **state)
{
	(void)state;
	assert_true(liov_range_inside(0x1000, 0x1000, 0x1000, 0x1000));
	assert_true(liov_range_inside(0x1000, 0x1000, 0x1FFF, 1));
	assert_false(liov_range_inside(0x1000, 0x1000, 0x1FFF, 2));
	assert_false(liov_range_inside(0x1000, 0x1000, 0xFFF, 1));
	assert_false(liov_range_inside(0x1000, 0x1000, 0xFFF, 2));
	assert_false(liov_range_inside(0x1000, 0x1000, 0x2000, 1));
	assert_false(liov_range_inside(0x1000, 0x1000, 0x1000, 0));
	assert_false(liov_range_inside(0x1000, 0, 0x1000, 1));
}

static void test_range_inside__top_of_the_numbers__no_wrap(void **state)
{
	(void)state;
	assert_true(liov_range_inside(MAX64 - 0xFFF, 0x1000, MAX64, 1));
	assert_false(liov_range_inside(MAX64 - 0xFFF, 0x1000, MAX64, 2));
	assert_false(liov_range_inside(0, 0x1000, MAX64, 2));
	assert_false(liov_range_inside(0x1000, 0x1000, 0x1800, MAX64));
}

static void test_range_overlaps__neighbours__false(void **state)
{
	(void)state;
	assert_false(liov_range_overlaps(0, 0x1000, 0x1000, 0x1000));
	assert_false(liov_range_overlaps(0x1000, 0x1000, 0, 0x1000));
	assert_false(liov_range_overlaps(0x1000, 0, 0x1000, 0x1000));
	assert_false(liov_range_overlaps(0x1000, 0x1000, 0x1800, 0));
}

static void test_range_overlaps__one_byte__true(void **state)
{
	(void)state;
	assert_true(liov_range_overlaps(0, 0x1001, 0x1000, 0x1000));
	assert_true(liov_range_overlaps(0x1000, 0x1000, 0, 0x1001));
	assert_true(liov_range_overlaps(0x1000, 0x1000, 0x1400, 1));
	assert_true(liov_range_overlaps(0x1400, 1, 0x1000, 0x1000));
	assert_true(liov_range_overlaps(MAX64, 1, MAX64 - 1, 2));
	assert_true(liov_range_overlaps(5, 5, 5, 5));
}

/* Every pair of ranges over eight numbers, against counting. */
static void test_ranges__all_small__as_counted(void **state)
{
	enum { N = 8 };

	(void)state;
	for (u64 a = 0; a < N; a++)
		for (u64 al = 0; a + al <= N; al++)
			for (u64 b = 0; b < N; b++)
				for (u64 bl = 0; b + bl <= N; bl++) {
					u32 shared = 0;

					for (u64 i = 0; i < N; i++)
						shared += i >= a && i < a + al && i >= b && i < b + bl;
					assert_int_equal(liov_range_overlaps(a, al, b, bl), shared != 0);
					assert_int_equal(liov_range_inside(a, al, b, bl), bl != 0 && shared == bl);
				}
}

static void test_dma_translate__offset__added(void **state)
{
	(void)state;
	assert_true(liov_dma_translate(0, (gpa_t){ 0x200005000 }).v == 0x200005000);
	assert_true(liov_dma_translate(0x4000000000, (gpa_t){ 0x5000 }).v == 0x4000005000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lba_inside__whole_window__true),
		cmocka_unit_test(test_lba_inside__one_past_the_end__false),
		cmocka_unit_test(test_lba_inside__wraps__false),
		cmocka_unit_test(test_lba_inside__largest_nlb__counted),
		cmocka_unit_test(test_lba_inside__no_blocks__false),
		cmocka_unit_test(test_lba_translate__inside__start_added),
		cmocka_unit_test(test_range_inside__edges__exact),
		cmocka_unit_test(test_range_inside__top_of_the_numbers__no_wrap),
		cmocka_unit_test(test_range_overlaps__neighbours__false),
		cmocka_unit_test(test_range_overlaps__one_byte__true),
		cmocka_unit_test(test_ranges__all_small__as_counted),
		cmocka_unit_test(test_dma_translate__offset__added),
	};

	return cmocka_run_group_tests_name("core_check", tests, NULL, NULL);
}
