// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/rng.c"

/* First outputs of Vigna's splitmix64.c from 1234567, as widely published. */
static void test_rng_splitmix__published_seed__gives_published_numbers(void **state)
{
	static const u64 expected[] = {
		6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL,
		4593380528125082431ULL, 16408922859458223821ULL,
	};
	u64 seed = 1234567;

	(void)state;
	for (size_t i = 0; i < 5; i++)
		assert_true(rng_splitmix(&seed) == expected[i]);
}

/* First outputs of Blackman and Vigna's xoshiro256starstar.c from the state 1, 2, 3, 4. */
static void test_rng_u64__published_state__gives_published_numbers(void **state)
{
	static const u64 expected[] = {
		11520ULL, 0ULL, 1509978240ULL, 1215971899390074240ULL, 1216172134540287360ULL,
		607988272756665600ULL, 16172922978634559625ULL, 8476171486693032832ULL,
		10595114339597558777ULL, 2904607092377533576ULL,
	};
	struct rng r = { .s = { 1, 2, 3, 4 } };

	(void)state;
	for (size_t i = 0; i < 10; i++)
		assert_true(rng_u64(&r) == expected[i]);
}

static void test_rng_init__seed__state_is_four_of_splitmix(void **state)
{
	struct rng r;

	(void)state;
	rng_init(&r, 1234567);
	assert_true(r.s[0] == 6457827717110365317ULL && r.s[1] == 3203168211198807973ULL);
	assert_true(r.s[2] == 9817491932198370423ULL && r.s[3] == 4593380528125082431ULL);
}

static void test_rng_split__name_or_seed_differs__streams_differ(void **state)
{
	struct rng a, b, c, again;
	u64 first;

	(void)state;
	rng_split(&a, 7, "vm0");
	rng_split(&b, 7, "vm1");
	rng_split(&c, 8, "vm0");
	rng_split(&again, 7, "vm0");
	first = rng_u64(&a);
	assert_true(first != rng_u64(&b) && first != rng_u64(&c));
	assert_true(first == rng_u64(&again));
	assert_true(rng_split_seed(rng_split_seed(7, "vm0"), "cpu1") != rng_split_seed(rng_split_seed(7, "vm1"), "cpu0"));
}

/* Chi squared of 16 cells exceeds 44.3 (15 degrees of freedom) once in 10,000 fair streams. */
static void expect_fair(const u64 cell[16], u64 expected)
{
	u64 chi = 0;

	for (int i = 0; i < 16; i++) {
		u64 diff = cell[i] > expected ? cell[i] - expected : expected - cell[i];

		chi += diff * diff;
	}
	assert_true(chi * 10 < 443 * expected);
}

static void test_rng_below__any_bound__is_below_and_fair(void **state)
{
	static const u64 bound[] = { 1, 2, 3, 1000, (1ULL << 32) + 1, 1ULL << 63, ~0ULL };
	u64 cell[16] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 1);
	for (size_t i = 0; i < sizeof(bound) / sizeof(bound[0]); i++)
		for (int n = 0; n < 1000; n++)
			assert_true(rng_below(&r, bound[i]) < bound[i]);
	for (int n = 0; n < 16000; n++)
		cell[rng_below(&r, 16)]++;
	expect_fair(cell, 1000);
}

/*
 * Three quarters of 2^64: without rejection a third of the results would be met twice as
 * often as the others.
 */
static void test_rng_below__bound_that_does_not_divide__is_unbiased(void **state)
{
	u64 n = 3ULL << 62, cell[16] = { 0 }, residue[3] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 2);
	for (int i = 0; i < 16000; i++) {
		u64 value = rng_below(&r, n);

		cell[value / (3ULL << 58)]++;
		residue[value % 3]++;
	}
	expect_fair(cell, 1000);
	for (int i = 0; i < 3; i++)
		assert_in_range(residue[i], 5333 - 240, 5333 + 240);	/* four standard deviations of 59.6 */
}

static void test_rng_range__both_ends__are_met(void **state)
{
	bool met[5] = { false };
	struct rng r;

	(void)state;
	rng_init(&r, 3);
	for (int i = 0; i < 200; i++) {
		u64 value = rng_range(&r, ~0ULL - 4, ~0ULL);

		assert_true(value >= ~0ULL - 4);
		met[value - (~0ULL - 4)] = true;
	}
	assert_true(met[0] && met[1] && met[2] && met[3] && met[4]);
	assert_true(rng_range(&r, 9, 9) == 9);
	(void)rng_range(&r, 0, ~0ULL);
}

static void test_rng_chance__never_and_always__draw_once_each(void **state)
{
	struct rng a, b;

	(void)state;
	rng_init(&a, 4);
	rng_init(&b, 4);
	for (int i = 0; i < 100; i++) {
		assert_false(rng_chance(&a, 0, 8));
		assert_true(rng_chance(&a, 8, 8));
		(void)rng_u64(&b);
		(void)rng_u64(&b);
	}
	assert_memory_equal(&a, &b, sizeof(a));
}

static void test_rng_pick__weights__zero_is_never_and_heavy_is_often(void **state)
{
	static const u32 weight[] = { 0, 1, 0, 3, 0 };
	unsigned int count[5] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 5);
	for (int i = 0; i < 4000; i++)
		count[rng_pick(&r, weight, 5)]++;
	assert_true(!count[0] && !count[2] && !count[4]);
	assert_in_range(count[1], 1000 - 110, 1000 + 110);	/* four standard deviations of 27.4 */
}

static void test_rng_shuffle__three_elements__all_orders_alike(void **state)
{
	unsigned int count[27] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 6);
	for (int i = 0; i < 6000; i++) {
		u16 card[3] = { 0, 1, 2 };

		rng_shuffle(&r, card, 3, sizeof(card[0]));
		count[card[0] * 9 + card[1] * 3 + card[2]]++;
	}
	for (unsigned int a = 0; a < 3; a++)
		for (unsigned int b = 0; b < 3; b++)
			if (a != b)
				assert_in_range(count[a * 9 + b * 3 + (3 - a - b)], 1000 - 116, 1000 + 116);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rng_splitmix__published_seed__gives_published_numbers),
		cmocka_unit_test(test_rng_u64__published_state__gives_published_numbers),
		cmocka_unit_test(test_rng_init__seed__state_is_four_of_splitmix),
		cmocka_unit_test(test_rng_split__name_or_seed_differs__streams_differ),
		cmocka_unit_test(test_rng_below__any_bound__is_below_and_fair),
		cmocka_unit_test(test_rng_below__bound_that_does_not_divide__is_unbiased),
		cmocka_unit_test(test_rng_range__both_ends__are_met),
		cmocka_unit_test(test_rng_chance__never_and_always__draw_once_each),
		cmocka_unit_test(test_rng_pick__weights__zero_is_never_and_heavy_is_often),
		cmocka_unit_test(test_rng_shuffle__three_elements__all_orders_alike),
	};

	return cmocka_run_group_tests_name("sim_rng", tests, NULL, NULL);
}
