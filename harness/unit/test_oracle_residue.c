// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "oracle/residue.h"

#define P 0x123000ull

static void test_touched__by_one_vm__stale_for_the_next_line_by_line(void **state)
{
	struct residue *r = residue_new();

	(void)state;
	assert_false(residue_is_stale(r, P, 4096, 1));
	residue_touched(r, P + 0x48, 8, 1);
	residue_touched(r, P + 0xFF8, 8, 1);
	assert_false(residue_is_stale(r, P, 4096, 1));
	assert_true(residue_is_stale(r, P + 0x40, 1, 2));
	assert_true(residue_is_stale(r, P + 0x7F, 1, 2));
	assert_true(residue_is_stale(r, P + 0xFC0, 64, 2));
	assert_false(residue_is_stale(r, P, 0x40, 2));
	assert_false(residue_is_stale(r, P + 0x80, 0xF40, 2));
	assert_false(residue_is_stale(r, P + 0x1000, 4096, 2));
	residue_free(r);
}

static void test_touched__by_the_next__does_not_clean(void **state)
{
	struct residue *r = residue_new();

	(void)state;
	residue_touched(r, P, 64, 1);
	residue_touched(r, P, 8, 2);
	assert_true(residue_is_stale(r, P, 64, 2));
	residue_touched(r, P + 64, 64, 2);
	assert_false(residue_is_stale(r, P + 64, 64, 2));
	assert_true(residue_is_stale(r, P + 64, 64, 3));
	residue_free(r);
}

static void test_zeroed__whole_or_part__cleans_what_it_covers(void **state)
{
	struct residue *r = residue_new();

	(void)state;
	residue_touched(r, P, 4096, 1);
	residue_touched(r, P + 4096, 4096, 1);
	residue_zeroed(r, P + 0x800, 0x1000);
	assert_true(residue_is_stale(r, P + 0x7FF, 1, 2));
	assert_false(residue_is_stale(r, P + 0x800, 0x800, 2));
	assert_false(residue_is_stale(r, P + 0x1000, 0x800, 2));
	assert_true(residue_is_stale(r, P + 0x1800, 1, 2));
	residue_zeroed(r, 0, 1ull << 40);
	assert_false(residue_is_stale(r, P, 4096, 3));
	assert_false(residue_is_stale(r, P + 0x1000, 4096, 3));
	residue_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touched__by_one_vm__stale_for_the_next_line_by_line),
		cmocka_unit_test(test_touched__by_the_next__does_not_clean),
		cmocka_unit_test(test_zeroed__whole_or_part__cleans_what_it_covers),
	};

	return cmocka_run_group_tests_name("oracle_residue", tests, NULL, NULL);
}
