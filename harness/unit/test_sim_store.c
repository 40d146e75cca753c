// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <stdlib.h>
#include <xxhash.h>

#include "sim/digest.h"
#include "sim/rng.h"
#include "sim/store.h"

#define KIB 1024ULL
#define GIB (1024 * 1024 * KIB)
#define TIB (1024 * GIB)

/* Six leaves, so that the random ranges cross leaves, and a last page that is not whole. */
#define SIZE (6 * 256 * KIB + 5 * STORE_SECTOR_SIZE)

/* Two stores in each of two representations, beside plain arrays. */
struct world {
	struct store *tags[2], *bytes[2];
	u8 *plain[2];
	struct rng rng;
};

static u64 content(const struct store *s)
{
	struct digest d;
	u64 value;

	assert_int_equal(digest_init(&d), 0);
	store_digest(s, &d);
	value = digest_final(&d);
	digest_fini(&d);
	return value;
}

static u64 plain_content(const u8 *plain, u64 size)
{
	static const u8 zeros[STORE_SECTOR_SIZE];
	struct digest d;
	u64 value;

	assert_int_equal(digest_init(&d), 0);
	for (u64 at = 0; at < size; at += STORE_SECTOR_SIZE) {
		if (!memcmp(plain + at, zeros, STORE_SECTOR_SIZE))
			continue;
		digest_u64(&d, at);
		digest_bytes(&d, plain + at, STORE_SECTOR_SIZE);
	}
	value = digest_final(&d);
	digest_fini(&d);
	return value;
}

static void world_init(struct world *w, u64 seed)
{
	rng_init(&w->rng, seed);
	for (int i = 0; i < 2; i++) {
		w->tags[i] = store_new(SIZE, STORE_NO_BUDGET, 0);
		w->bytes[i] = store_new(SIZE, STORE_NO_BUDGET, STORE_BYTES);
		w->plain[i] = calloc(1, SIZE);
		assert_true(w->tags[i] && w->bytes[i] && w->plain[i]);
	}
}

static void world_fini(struct world *w)
{
	for (int i = 0; i < 2; i++) {
		store_free(w->tags[i]);
		store_free(w->bytes[i]);
		free(w->plain[i]);
	}
}

/* Lengths and alignments that the data path has, and some that it has not. */
static u64 random_len(struct rng *r)
{
	static const u64 len[] = { 4, 8, 16, 64, 512, 1024, 4096, 8192, 65536 };

	switch (rng_below(r, 8)) {
	case 0:
		return rng_below(r, 3000);
	case 1:
		return rng_chance(r, 1, 8) ? rng_below(r, SIZE / 2) : 256 * KIB;
	default:
		return len[rng_below(r, sizeof(len) / sizeof(len[0]))];
	}
}

static u64 random_offset(struct rng *r, u64 len)
{
	static const u64 align[] = { 1, 4, 8, 512, 4096, 256 * KIB };
	u64 offset = rng_range(r, 0, SIZE - len);

	return offset - offset % align[rng_below(r, sizeof(align) / sizeof(align[0]))];
}

static void write_random(struct world *w, int i, u64 offset, u64 len)
{
	u8 *buf = w->plain[i] + offset;

	for (u64 at = 0; at < len; at++)
		buf[at] = (u8)rng_u64(&w->rng);
	store_write(w->tags[i], offset, buf, len);
	store_write(w->bytes[i], offset, buf, len);
}

static void write_random_tags(struct world *w, int i, u64 offset, u64 len)
{
	offset -= offset % STORE_SECTOR_SIZE;
	for (u64 end = offset + len; offset + STORE_SECTOR_SIZE <= end; offset += STORE_SECTOR_SIZE) {
		u64 tag = rng_chance(&w->rng, 1, 5) ? STORE_TAG_ZERO : rng_u64(&w->rng);

		store_tag_expand(tag, w->plain[i] + offset);
		store_write_tag(w->tags[i], offset, tag);
		store_write_tag(w->bytes[i], offset, tag);
		assert_true(store_sector_is(w->tags[i], offset, tag));
		assert_true(store_sector_is(w->bytes[i], offset, tag));
	}
}

static void copy_random(struct world *w, int to, int from, u64 to_offset, u64 from_offset, u64 len)
{
	if (to == from && to_offset < from_offset + len && from_offset < to_offset + len)
		return;
	memcpy(w->plain[to] + to_offset, w->plain[from] + from_offset, len);
	store_copy(w->tags[to], to_offset, w->tags[from], from_offset, len);
	store_copy(w->bytes[to], to_offset, w->bytes[from], from_offset, len);
}

static void check_read(struct world *w, int i, u64 offset, u64 len)
{
	u8 *buf = malloc(len + 1);

	assert_non_null(buf);
	store_read(w->tags[i], offset, buf, len);
	assert_memory_equal(buf, w->plain[i] + offset, len);
	store_read(w->bytes[i], offset, buf, len);
	assert_memory_equal(buf, w->plain[i] + offset, len);
	free(buf);
}

static void check_equal(struct world *w, u64 a, u64 b, u64 len)
{
	bool same = memcmp(w->plain[0] + a, w->plain[1] + b, len) == 0;

	assert_int_equal(store_equal(w->tags[0], a, w->tags[1], b, len), same);
	assert_int_equal(store_equal(w->tags[0], a, w->bytes[1], b, len), same);
	assert_true(store_equal(w->tags[0], a, w->bytes[0], a, len));
}

static void world_step(struct world *w)
{
	struct rng *r = &w->rng;
	int i = (int)rng_below(r, 2), j = (int)rng_below(r, 2);
	u64 len = random_len(r), offset = random_offset(r, len), other = random_offset(r, len);

	switch (rng_below(r, 8)) {
	case 0:
		write_random(w, i, offset, len % 8192);
		break;
	case 1:
		write_random_tags(w, i, offset, len % 65536);
		break;
	case 2:
		memset(w->plain[i] + offset, 0, len);
		store_zero(w->tags[i], offset, len);
		store_zero(w->bytes[i], offset, len);
		break;
	case 3:
	case 4:
	case 5:
		copy_random(w, i, j, offset, other, len);
		break;
	case 6:
		check_read(w, i, offset, len);
		break;
	default:
		check_equal(w, offset, rng_chance(r, 1, 2) ? offset : other, len);
	}
}

static void test_store__random_operations__read_as_a_plain_array(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 12; seed++) {
		struct world w;

		world_init(&w, seed);
		for (int n = 0; n < 1500; n++)
			world_step(&w);
		for (int i = 0; i < 2; i++) {
			check_read(&w, i, 0, SIZE);
			assert_true(content(w.tags[i]) == plain_content(w.plain[i], SIZE));
			assert_true(content(w.bytes[i]) == plain_content(w.plain[i], SIZE));
			store_zero(w.tags[i], 0, SIZE);
			assert_true(store_bytes_allocated(w.tags[i]) == 0);
			assert_true(content(w.tags[i]) == plain_content(NULL, 0));
		}
		world_fini(&w);
	}
}

/* Tag 1, computed by hand from the definition in store.h. */
static void test_store_tag_expand__tag__is_what_the_definition_says(void **state)
{
	u64 word[64], state_word = 1 - 0x9e3779b97f4a7c15ULL;
	u8 zeros[STORE_SECTOR_SIZE] = { 0 };

	(void)state;
	state_word = rng_splitmix(&state_word) - 0x9e3779b97f4a7c15ULL;	/* mix(tag), one step back */
	store_tag_expand(1, (u8 *)word);
	for (int i = 0; i < 64; i++)
		assert_true(word[i] == rng_splitmix(&state_word));
	store_tag_expand(STORE_TAG_ZERO, (u8 *)word);
	assert_memory_equal(word, zeros, sizeof(zeros));
}

static void test_store_sector_tag__bytes_that_a_tag_stands_for__are_recognised(void **state)
{
	struct store *s = store_new(4096, STORE_NO_BUDGET, 0);
	u8 sector[STORE_SECTOR_SIZE];
	u64 tag;

	(void)state;
	store_tag_expand(0xfeedULL << 40, sector);
	store_write(s, 1024, sector, sizeof(sector));
	assert_true(store_sector_tag(s, 1024, &tag));
	assert_true(tag == 0xfeedULL << 40);
	assert_false(store_sector_is(s, 1024, 1));
	sector[511] ^= 1;
	store_write(s, 1024 + 511, &sector[511], 1);
	assert_false(store_sector_tag(s, 1024, &tag));
	/* Zeros written as bytes are zeros nobody wrote. */
	memset(sector, 0, sizeof(sector));
	store_write(s, 1024, sector, sizeof(sector));
	assert_true(store_sector_is(s, 1024, STORE_TAG_ZERO));
	assert_true(store_sector_is(s, 0, STORE_TAG_ZERO));
	assert_true(content(s) == plain_content(NULL, 0));
	store_free(s);
}

static void test_store_sector_hash__tag_and_its_bytes__hash_alike(void **state)
{
	struct store *tags = store_new(4096, STORE_NO_BUDGET, 0), *bytes = store_new(4096, STORE_NO_BUDGET, STORE_BYTES);
	u8 sector[STORE_SECTOR_SIZE];

	(void)state;
	store_write_tag(tags, 512, 77);
	store_write_tag(bytes, 512, 77);
	store_tag_expand(77, sector);
	assert_true(store_sector_hash(tags, 512) == XXH3_64bits(sector, sizeof(sector)));
	assert_true(store_sector_hash(bytes, 512) == XXH3_64bits(sector, sizeof(sector)));
	memset(sector, 0, sizeof(sector));
	assert_true(store_sector_hash(tags, 0) == XXH3_64bits(sector, sizeof(sector)));
	store_free(tags);
	store_free(bytes);
}

static void test_store_copy__whole_tagged_sectors__take_no_bytes(void **state)
{
	struct store *a = store_new(64 * KIB, STORE_NO_BUDGET, 0), *b = store_new(64 * KIB, STORE_NO_BUDGET, 0);
	u64 before;

	(void)state;
	for (u64 at = 0; at < 64 * KIB; at += STORE_SECTOR_SIZE)
		store_write_tag(a, at, at + 1);
	store_copy(b, 0, a, 0, 32 * KIB);
	before = store_bytes_allocated(b);
	store_copy(b, 512, a, 1024, 24 * KIB);
	assert_true(store_bytes_allocated(b) <= before + 4096);
	assert_true(before < 32 * KIB);
	assert_true(store_sector_is(b, 512, 1025) && store_sector_is(b, 24 * KIB, 24 * KIB + 513));
	store_free(a);
	store_free(b);
}

/* Else comparing the two modes would compare one with itself. */
static void test_store_copy__into_a_store_of_bytes__keeps_no_tags(void **state)
{
	struct store *tags = store_new(4096, STORE_NO_BUDGET, 0), *bytes = store_new(4096, STORE_NO_BUDGET, STORE_BYTES);

	(void)state;
	store_write_tag(tags, 0, 1);
	store_copy(bytes, 0, tags, 0, 4096);
	assert_true(store_bytes_allocated(tags) < 4096 && store_bytes_allocated(bytes) > 4096);
	assert_true(store_equal(tags, 0, bytes, 0, 4096));
	store_free(tags);
	store_free(bytes);
}

static void test_store_digest__content_far_apart__has_all_of_it_in_order(void **state)
{
	struct store *s = store_new(TIB, STORE_NO_BUDGET, 0);
	u8 sector[STORE_SECTOR_SIZE];
	struct digest d;

	(void)state;
	assert_int_equal(digest_init(&d), 0);
	/* Five neighbours at each power of eight pages, strangers on every level of the tree. */
	for (u64 i = 0; i < 50; i++) {
		u64 offset = (4 * KIB << i / 5 * 3) + i % 5 * STORE_SECTOR_SIZE;

		store_tag_expand(i + 1, sector);
		digest_u64(&d, offset);
		digest_bytes(&d, sector, sizeof(sector));
	}
	for (u64 i = 50; i-- > 0;)
		store_write_tag(s, (4 * KIB << i / 5 * 3) + i % 5 * STORE_SECTOR_SIZE, i + 1);
	assert_true(content(s) == digest_final(&d));
	digest_fini(&d);
	store_free(s);
}

static void test_store_write__part_of_a_tagged_sector__keeps_the_rest(void **state)
{
	struct store *s = store_new(4096, STORE_NO_BUDGET, 0);
	u8 expected[STORE_SECTOR_SIZE], got[STORE_SECTOR_SIZE];
	u64 value = 0x1122334455667788ULL;

	(void)state;
	store_write_tag(s, 3584, 9);
	store_tag_expand(9, expected);
	store_write(s, 3584 + 100, &value, sizeof(value));
	memcpy(expected + 100, &value, sizeof(value));
	store_read(s, 3584, got, sizeof(got));
	assert_memory_equal(got, expected, sizeof(got));
	store_free(s);
}

/* Sizes of a host's address space and of a large SSD: memory follows use, not size. */
static void test_store__huge_and_sparse__takes_memory_for_what_is_used(void **state)
{
	struct store *s = store_new(4 * TIB, STORE_NO_BUDGET, 0);
	u64 value = 0x55, got;

	(void)state;
	assert_non_null(s);
	for (u64 at = 0; at < 4 * TIB; at += 64 * GIB)
		store_write(s, at + 64 * GIB - 8, &value, sizeof(value));
	store_read(s, 4 * TIB - 8, &got, sizeof(got));
	assert_true(got == value);
	assert_true(store_bytes_allocated(s) <= 64 * 5 * KIB);
	store_zero(s, 512, 4 * TIB - 1024);
	store_read(s, 2 * TIB - 8, &got, sizeof(got));
	assert_true(got == 0);
	store_read(s, 4 * TIB - 8, &got, sizeof(got));
	assert_true(got == value);
	assert_true(store_bytes_allocated(s) <= 5 * KIB);
	store_free(s);
}

static void count_call(void *opaque)
{
	(*(int *)opaque)++;
}

static void test_store__over_budget__says_so_once_and_stays_within(void **state)
{
	struct store *s = store_new(GIB, 64 * KIB, 0);
	u8 page[4096];
	int calls = 0;

	(void)state;
	store_on_over_budget(s, count_call, &calls);
	memset(page, 0xaa, sizeof(page));
	for (u64 at = 0; at < 1024 * KIB; at += sizeof(page)) {
		store_write(s, at, page, sizeof(page));
		assert_true(store_bytes_allocated(s) <= 64 * KIB);
		assert_int_equal(calls, store_over_budget(s));
		if (at == 32 * KIB)
			assert_false(store_over_budget(s));
	}
	assert_true(store_over_budget(s));
	store_write_tag(s, 512 * KIB, 3);
	store_copy(s, 600 * KIB, s, 0, 4096);
	store_zero(s, 0, GIB);
	assert_true(store_bytes_allocated(s) == 0 && store_over_budget(s));
	store_free(s);
}

static void test_store_new__size_that_cannot_be__is_refused(void **state)
{
	(void)state;
	assert_null(store_new(0, STORE_NO_BUDGET, 0));
	assert_null(store_new(513, STORE_NO_BUDGET, 0));
	assert_null(store_new(STORE_SIZE_MAX + 512, STORE_NO_BUDGET, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_store__random_operations__read_as_a_plain_array),
		cmocka_unit_test(test_store_tag_expand__tag__is_what_the_definition_says),
		cmocka_unit_test(test_store_sector_tag__bytes_that_a_tag_stands_for__are_recognised),
		cmocka_unit_test(test_store_sector_hash__tag_and_its_bytes__hash_alike),
		cmocka_unit_test(test_store_copy__whole_tagged_sectors__take_no_bytes),
		cmocka_unit_test(test_store_copy__into_a_store_of_bytes__keeps_no_tags),
		cmocka_unit_test(test_store_digest__content_far_apart__has_all_of_it_in_order),
		cmocka_unit_test(test_store_write__part_of_a_tagged_sector__keeps_the_rest),
		cmocka_unit_test(test_store__huge_and_sparse__takes_memory_for_what_is_used),
		cmocka_unit_test(test_store__over_budget__says_so_once_and_stays_within),
		cmocka_unit_test(test_store_new__size_that_cannot_be__is_refused),
	};

	return cmocka_run_group_tests_name("sim_store", tests, NULL, NULL);
}
