// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/hist.c"
#include "sim/rng.h"

static void test_hist_index__every_power_of_two__bins_follow_each_other(void **state)
{
	(void)state;
	for (u64 v = 0; v < 128; v++)
		assert_true(hist_index(v) == v && hist_bin_end((unsigned int)v) == v);
	for (int bit = 7; bit < 64; bit++) {
		u64 v = 1ULL << bit;

		assert_int_equal(hist_index(v), hist_index(v - 1) + 1);
		assert_true(hist_bin_end(hist_index(v - 1)) == v - 1);
	}
	assert_int_equal(hist_index(~0ULL), HIST_BINS - 1);
	assert_true(hist_bin_end(HIST_BINS - 1) == ~0ULL);
	for (unsigned int i = 1; i < HIST_BINS; i++) {
		assert_int_equal(hist_index(hist_bin_end(i)), i);
		assert_int_equal(hist_index(hist_bin_end(i - 1) + 1), i);
	}
}

static void test_hist_percentile__values_below_128__is_exact(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	for (u64 v = 1; v <= 100; v++)
		hist_add(&h, v);
	assert_true(hist_percentile(&h, 0, 100) == 1);
	assert_true(hist_percentile(&h, 1, 100) == 1);
	assert_true(hist_percentile(&h, 50, 100) == 50);
	assert_true(hist_percentile(&h, 501, 1000) == 51);
	assert_true(hist_percentile(&h, 99, 100) == 99);
	assert_true(hist_percentile(&h, 100, 100) == 100);
	assert_true(hist_mean(&h) == 50);	/* 50.5, rounded down */
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

#define VALUES 5000

static void test_hist_percentile__random_values__is_within_a_bin_of_the_sorted_list(void **state)
{
	static u64 value[VALUES];
	struct hist h;
	struct rng r;

	(void)state;
	rng_init(&r, 1);
	hist_init(&h);
	for (int i = 0; i < VALUES; i++) {
		value[i] = rng_u64(&r) >> rng_below(&r, 64);
		hist_add(&h, value[i]);
	}
	qsort(value, VALUES, sizeof(value[0]), compare);
	for (u64 permille = 1; permille <= 1000; permille++) {
		u64 exact = value[(VALUES * permille + 999) / 1000 - 1], got = hist_percentile(&h, permille, 1000);

		assert_true(got >= exact && got - exact <= exact / 64);
	}
	assert_true(hist_percentile(&h, 1, 1) == value[VALUES - 1]);
}

static void test_hist_merge__halves__are_the_whole(void **state)
{
	struct hist whole, even, odd;
	struct rng r;

	(void)state;
	rng_init(&r, 2);
	hist_init(&whole);
	hist_init(&even);
	hist_init(&odd);
	for (int i = 0; i < 1000; i++) {
		u64 v = rng_below(&r, 1ULL << 40);

		hist_add(&whole, v);
		hist_add(i & 1 ? &odd : &even, v);
	}
	hist_merge(&even, &odd);
	assert_true(even.count == 1000 && even.min_ps == whole.min_ps && even.max_ps == whole.max_ps);
	assert_true(hist_mean(&even) == hist_mean(&whole));
	assert_memory_equal(even.bin, whole.bin, sizeof(whole.bin));
	hist_init(&odd);
	hist_merge(&even, &odd);
	assert_true(even.count == 1000 && even.min_ps == whole.min_ps);
}

static void test_hist__empty__answers_zero(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	assert_true(hist_mean(&h) == 0 && hist_percentile(&h, 1, 2) == 0);
}

static void test_hist_mean__sum_beyond_64_bits__is_exact(void **state)
{
	struct hist h;

	(void)state;
	hist_init(&h);
	hist_add(&h, ~0ULL);
	hist_add(&h, ~0ULL);
	hist_add(&h, ~0ULL - 3);
	assert_true(hist_mean(&h) == ~0ULL - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hist_index__every_power_of_two__bins_follow_each_other),
		cmocka_unit_test(test_hist_percentile__values_below_128__is_exact),
		cmocka_unit_test(test_hist_percentile__random_values__is_within_a_bin_of_the_sorted_list),
		cmocka_unit_test(test_hist_merge__halves__are_the_whole),
		cmocka_unit_test(test_hist__empty__answers_zero),
		cmocka_unit_test(test_hist_mean__sum_beyond_64_bits__is_exact),
	};

	return cmocka_run_group_tests_name("sim_hist", tests, NULL, NULL);
}
