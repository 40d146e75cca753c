// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/digest.c"
#include "sim/rng.h"

static void digest_start(struct digest *d)
{
	assert_int_equal(digest_init(d), 0);
}

/* XXH3-128 of no bytes with seed 0, as xxHash's own sanity check has it. */
static void test_digest__no_bytes__is_the_published_value(void **state)
{
	char hex[DIGEST_HEX_SIZE];
	struct digest d;

	(void)state;
	digest_start(&d);
	digest_hex(&d, hex);
	assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
	assert_true(digest_final(&d) == 0x6001c324468d497fULL);
	digest_fini(&d);
}

static void test_digest_bytes__any_split__is_the_digest_of_the_whole(void **state)
{
	struct digest d;
	u8 data[3000];
	struct rng r;

	(void)state;
	rng_init(&r, 1);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (u8)rng_u64(&r);
	digest_start(&d);
	for (int round = 0; round < 50; round++) {
		digest_reset(&d);
		for (size_t at = 0, n; at < sizeof(data); at += n) {
			n = rng_range(&r, 1, sizeof(data) - at);
			digest_bytes(&d, data + at, n);
			(void)digest_final(&d);
		}
		assert_true(digest_final(&d) == XXH3_128bits(data, sizeof(data)).low64);
	}
	digest_fini(&d);
}

static void test_digest_u64__value__is_its_little_endian_bytes(void **state)
{
	static const u8 bytes[8] = { 8, 7, 6, 5, 4, 3, 2, 1 };
	struct digest d;

	(void)state;
	digest_start(&d);
	digest_u64(&d, 0x0102030405060708ULL);
	assert_true(digest_final(&d) == XXH3_128bits(bytes, sizeof(bytes)).low64);
	digest_fini(&d);
}

static void test_digest_string__neighbours__do_not_run_into_each_other(void **state)
{
	struct digest a, b;

	(void)state;
	digest_start(&a);
	digest_start(&b);
	digest_string(&a, "ab");
	digest_string(&a, "c");
	digest_string(&b, "a");
	digest_string(&b, "bc");
	assert_true(digest_final(&a) != digest_final(&b));
	digest_fini(&a);
	digest_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digest__no_bytes__is_the_published_value),
		cmocka_unit_test(test_digest_bytes__any_split__is_the_digest_of_the_whole),
		cmocka_unit_test(test_digest_u64__value__is_its_little_endian_bytes),
		cmocka_unit_test(test_digest_string__neighbours__do_not_run_into_each_other),
	};

	return cmocka_run_group_tests_name("sim_digest", tests, NULL, NULL);
}
