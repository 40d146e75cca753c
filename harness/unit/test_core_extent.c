// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "extent.c"

#define MAX LIOV_EXTENTS_MAX

static struct liov_extents x;

static void expect_free(u32 i, u64 start, u64 count)
{
	assert_true(i < x.nr);
	assert_true(x.free[i].start == start);
	assert_true(x.free[i].count == count);
}

static u64 take(u64 count, u64 align)
{
	u64 start = 0xDEAD;

	assert_int_equal(liov_extents_take(&x, count, align, &start), 0);
	return start;
}

static void test_take__empty__no_space(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, 5, 0);
	assert_int_equal(x.nr, 0);
	assert_int_equal(liov_extents_take(&x, 1, 1, &start), -ENOSPC);
}

static void test_take__in_turn__lowest_first(void **state)
{
	(void)state;
	liov_extents_init(&x, 0x100000, 0x700000);
	assert_true(take(0x100000, 1) == 0x100000);
	assert_true(take(0x100000, 1) == 0x200000);
	expect_free(0, 0x300000, 0x500000);
	assert_int_equal(x.nr, 1);
}

static void test_take__all_of_it__table_empty(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, 7, 9);
	assert_true(take(9, 1) == 7);
	assert_int_equal(x.nr, 0);
	assert_int_equal(liov_extents_take(&x, 1, 1, &start), -ENOSPC);
}

static void test_take_at__inside_what_is_free__splits_it(void **state)
{
	(void)state;
	liov_extents_init(&x, 100, 100);
	assert_int_equal(liov_extents_take_at(&x, 120, 10), 0);
	assert_int_equal(x.nr, 2);
	expect_free(0, 100, 20);
	expect_free(1, 130, 70);
	assert_int_equal(liov_extents_take_at(&x, 100, 20), 0);
	assert_int_equal(liov_extents_take_at(&x, 130, 5), 0);
	expect_free(0, 135, 65);
	assert_int_equal(liov_extents_take_at(&x, 190, 10), 0);
	expect_free(0, 135, 55);
}

static void test_take_at__taken_outside_or_wrapping__busy(void **state)
{
	(void)state;
	liov_extents_init(&x, 100, 100);
	assert_int_equal(liov_extents_take_at(&x, 150, 10), 0);
	assert_int_equal(liov_extents_take_at(&x, 150, 10), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, 159, 1), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, 145, 6), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, 199, 2), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, 99, 2), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, 120, 0), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, 180, ~0ULL - 10), -EBUSY);
	assert_int_equal(liov_extents_take_at(&x, ~0ULL - 9, 10), -EBUSY);
	assert_int_equal(x.nr, 2);
}

static void test_take_at__table_full__no_space_and_nothing_changed(void **state)
{
	u32 i;

	(void)state;
	liov_extents_init(&x, 0, 1);
	for (i = 1; i < MAX; i++)
		assert_int_equal(liov_extents_give(&x, 10 * i, i == MAX - 1 ? 9 : 1), 0);
	assert_int_equal(liov_extents_take_at(&x, 10 * (MAX - 1) + 2, 1), -ENOSPC);
	assert_int_equal(x.nr, MAX);
	expect_free(MAX - 1, 10 * (MAX - 1), 9);
}

static void test_take__nothing__refused(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, 0, 10);
	assert_int_equal(liov_extents_take(&x, 0, 1, &start), -ENOSPC);
	expect_free(0, 0, 10);
}

static void test_take__more_than_any_hole__no_space(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, 0, 10);
	assert_true(take(4, 1) == 0);
	assert_true(take(2, 1) == 4);
	assert_int_equal(liov_extents_give(&x, 0, 4), 0);
	assert_int_equal(x.nr, 2);
	assert_int_equal(liov_extents_take(&x, 5, 1, &start), -ENOSPC);
	assert_true(take(4, 1) == 0);
}

static void test_take__aligned__hole_before_and_after_kept(void **state)
{
	(void)state;
	liov_extents_init(&x, 0x10000, 0xFFF0000);
	assert_true(take(0x3000, 0x100000) == 0x100000);
	assert_int_equal(x.nr, 2);
	expect_free(0, 0x10000, 0xF0000);
	expect_free(1, 0x103000, 0xFFFFFFF - 0x103000 + 1);
}

static void test_take__alignment_past_the_end__no_space(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, 1, 7);
	assert_int_equal(liov_extents_take(&x, 1, 8, &start), -ENOSPC);
	liov_extents_init(&x, ~0ULL - 1, 2);
	assert_int_equal(liov_extents_take(&x, 1, 4, &start), -ENOSPC);
}

static void test_take__top_of_the_numbers__no_wrap(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, ~0ULL - 9, 10);
	assert_int_equal(liov_extents_take(&x, 11, 1, &start), -ENOSPC);
	assert_int_equal(liov_extents_take(&x, ~0ULL, 1, &start), -ENOSPC);
	assert_true(take(10, 1) == ~0ULL - 9);
	assert_int_equal(liov_extents_give(&x, ~0ULL - 9, 10), 0);
	expect_free(0, ~0ULL - 9, 10);
}

static void test_give__between_two__all_three_one(void **state)
{
	(void)state;
	liov_extents_init(&x, 0, 30);
	take(30, 1);
	assert_int_equal(liov_extents_give(&x, 0, 10), 0);
	assert_int_equal(liov_extents_give(&x, 20, 10), 0);
	assert_int_equal(x.nr, 2);
	assert_int_equal(liov_extents_give(&x, 10, 10), 0);
	assert_int_equal(x.nr, 1);
	expect_free(0, 0, 30);
}

static void test_give__touching_one_side__joined(void **state)
{
	(void)state;
	liov_extents_init(&x, 0, 40);
	take(40, 1);
	assert_int_equal(liov_extents_give(&x, 20, 5), 0);
	assert_int_equal(liov_extents_give(&x, 25, 5), 0);
	expect_free(0, 20, 10);
	assert_int_equal(liov_extents_give(&x, 15, 5), 0);
	expect_free(0, 15, 15);
	assert_int_equal(liov_extents_give(&x, 0, 5), 0);
	assert_int_equal(x.nr, 2);
	expect_free(0, 0, 5);
	expect_free(1, 15, 15);
}

/* 2 * MAX + 1 numbers, of which every second one is free: the table holds no more holes than that. */
static void fragment(void)
{
	liov_extents_init(&x, 0, 2 * MAX + 1);
	take(2 * MAX + 1, 1);
	for (u64 i = 0; i < MAX; i++)
		assert_int_equal(liov_extents_give(&x, 2 * i, 1), 0);
	assert_int_equal(x.nr, MAX);
}

static void test_give__table_full__no_space_and_unchanged(void **state)
{
	(void)state;
	fragment();
	assert_int_equal(liov_extents_give(&x, 2 * MAX, 1), -ENOSPC);
	assert_int_equal(x.nr, MAX);
	for (u32 i = 0; i < MAX; i++)
		expect_free(i, 2 * i, 1);
}

static void test_give__table_full_but_joins__taken_back(void **state)
{
	(void)state;
	fragment();
	assert_int_equal(liov_extents_give(&x, 1, 1), 0);
	assert_int_equal(x.nr, MAX - 1);
	expect_free(0, 0, 3);
}

static void test_take__table_full_and_would_split__next_hole_or_no_space(void **state)
{
	u64 start;

	(void)state;
	liov_extents_init(&x, 0, 4 * MAX);
	take(4 * MAX, 1);
	for (u64 i = 0; i < MAX; i++)
		assert_int_equal(liov_extents_give(&x, 4 * i + 1, 3), 0);
	/* [1, 4) would be split around 2 into two holes: there is no entry for the second. */
	assert_int_equal(liov_extents_take(&x, 1, 2, &start), -ENOSPC);
	assert_int_equal(x.nr, MAX);
	assert_true(take(1, 1) == 1);
	assert_true(take(1, 2) == 2);
}

/* Against a map of single numbers. */
static void test_any__random_walk__same_as_bitmap(void **state)
{
	enum { N = 256 };
	bool free_map[N];
	struct liov_range held[N];
	u32 nr_held = 0, seed = 12345;

	(void)state;
	liov_extents_init(&x, 0, N);
	for (u32 i = 0; i < N; i++)
		free_map[i] = true;
	for (u32 step = 0; step < 20000; step++) {
		u64 start, want = N;
		u64 count, align;

		seed = seed * 1664525u + 1013904223u;
		count = 1 + (seed >> 16) % 12;
		align = 1ULL << (seed >> 28) % 4;
		if (nr_held > 0 && (seed >> 8) % 2) {
			u32 k = (seed >> 20) % nr_held;

			assert_int_equal(liov_extents_give(&x, held[k].start, held[k].count), 0);
			for (u64 i = 0; i < held[k].count; i++)
				free_map[held[k].start + i] = true;
			held[k] = held[--nr_held];
			continue;
		}
		for (u64 s = 0; want == N && s + count <= N; s += align) {
			bool all = true;

			for (u64 i = 0; i < count; i++)
				all = all && free_map[s + i];
			if (all)
				want = s;
		}
		if (want == N) {
			assert_int_equal(liov_extents_take(&x, count, align, &start), -ENOSPC);
			continue;
		}
		assert_true(take(count, align) == want);
		held[nr_held++] = (struct liov_range){ want, count };
		for (u64 i = 0; i < count; i++)
			free_map[want + i] = false;
	}
	for (u32 i = 0; i < x.nr; i++) {
		assert_true(x.free[i].count != 0);
		if (i > 0)
			assert_true(x.free[i - 1].start + x.free[i - 1].count < x.free[i].start);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take__empty__no_space),
		cmocka_unit_test(test_take__in_turn__lowest_first),
		cmocka_unit_test(test_take__all_of_it__table_empty),
		cmocka_unit_test(test_take_at__inside_what_is_free__splits_it),
		cmocka_unit_test(test_take_at__taken_outside_or_wrapping__busy),
		cmocka_unit_test(test_take_at__table_full__no_space_and_nothing_changed),
		cmocka_unit_test(test_take__nothing__refused),
		cmocka_unit_test(test_take__more_than_any_hole__no_space),
		cmocka_unit_test(test_take__aligned__hole_before_and_after_kept),
		cmocka_unit_test(test_take__alignment_past_the_end__no_space),
		cmocka_unit_test(test_take__top_of_the_numbers__no_wrap),
		cmocka_unit_test(test_give__between_two__all_three_one),
		cmocka_unit_test(test_give__touching_one_side__joined),
		cmocka_unit_test(test_give__table_full__no_space_and_unchanged),
		cmocka_unit_test(test_give__table_full_but_joins__taken_back),
		cmocka_unit_test(test_take__table_full_and_would_split__next_hole_or_no_space),
		cmocka_unit_test(test_any__random_walk__same_as_bitmap),
	};

	return cmocka_run_group_tests_name("core_extent", tests, NULL, NULL);
}
