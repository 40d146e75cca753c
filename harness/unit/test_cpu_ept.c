// SPDX-License-Identifier: GPL-2.0
/* EPT walk against Intel SDM volume 3, 29.3; expected values are read from its tables. */
#include "test_cpu_machine.h"

#include "cpu/ept.h"

#define GPA 0x0000123456789ABCULL

static enum ept_result walk(struct machine *m, u64 eptp, u64 gpa, u32 access, struct ept_walk *out)
{
	return ept_walk(&m->bus, eptp, (gpa_t){ gpa }, access, out);
}

static void test_ept_walk__4k_page__translates(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;
	u64 addr = machine_entry(m, m->eptp, GPA, 1);

	machine_poke(m, addr, 0x7654000 | LEAF_RWX);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_R, &w), EPT_OK);
	assert_int_equal(w.hpa.v, 0x7654ABC);
	assert_int_equal(w.page_shift, 12);
	assert_int_equal(w.level, 1);
	assert_int_equal(w.allowed, 7);
	assert_int_equal(w.entry_addr.v, addr);
	assert_int_equal(w.entry, 0x7654000 | LEAF_RWX);
}

static void test_ept_walk__2m_page__translates(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;

	machine_poke(m, machine_entry(m, m->eptp, GPA, 2), 0x40000000 | LEAF_RWX | EPT_ENTRY_LARGE);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_W, &w), EPT_OK);
	assert_int_equal(w.hpa.v, 0x40000000 + (GPA & 0x1FFFFF));
	assert_int_equal(w.page_shift, 21);
	assert_int_equal(w.level, 2);
}

static void test_ept_walk__1g_page__translates(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;

	machine_poke(m, machine_entry(m, m->eptp, GPA, 3), 0x180000000 | LEAF_RWX | EPT_ENTRY_LARGE);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_X, &w), EPT_OK);
	assert_int_equal(w.hpa.v, 0x180000000 + (GPA & 0x3FFFFFFF));
	assert_int_equal(w.page_shift, 30);
	assert_int_equal(w.level, 3);
}

/* 29.3.3: what an entry's bits 2:0 say by themselves, with execute-only translations supported. */
static const enum ept_result perm_result[8] = {
	EPT_VIOLATION, EPT_OK, EPT_MISCONFIG, EPT_OK, EPT_OK, EPT_OK, EPT_MISCONFIG, EPT_OK
};

static void check_perms(struct machine *m, const u64 addr[5], const u64 entry[5], unsigned int perms)
{
	enum ept_result sound = EPT_OK;
	unsigned int allowed = 7, level = 1;

	for (unsigned int l = 4; l >= 1; l--) {
		unsigned int perm = (perms >> (3 * (l - 1))) & 7;

		machine_poke(m, addr[l], (entry[l] & ~7ULL) | perm);
		allowed &= perm;
		if (sound == EPT_OK && perm_result[perm] != EPT_OK) {
			sound = perm_result[perm];
			level = l;
		}
	}
	if (sound != EPT_OK)
		allowed = 0;
	for (u32 access = 1; access <= 7; access++) {
		enum ept_result expected = sound != EPT_OK ? sound : (access & ~allowed) ? EPT_VIOLATION : EPT_OK;
		struct ept_walk w;

		assert_int_equal(walk(m, m->eptp, GPA, access, &w), expected);
		assert_int_equal(w.allowed, allowed);
		assert_int_equal(w.level, level);
	}
}

static void test_ept_walk__every_permission_at_every_level__is_the_and_of_the_path(void **state)
{
	struct machine *m = *state;
	u64 addr[5], entry[5];

	machine_map(m, m->eptp, GPA & ~0xFFFULL, 0x7654000, 7);
	for (int l = 4; l >= 1; l--) {
		addr[l] = machine_entry(m, m->eptp, GPA, l);
		entry[l] = machine_peek(m, addr[l]);
	}
	for (unsigned int perms = 0; perms < 8 * 8 * 8 * 8; perms++) {
		check_perms(m, addr, entry, perms);
		for (int l = 4; l >= 1; l--)
			machine_poke(m, addr[l], entry[l]);
	}
}

struct entry_kind {
	int level;
	u64 bits;		/* that make it this kind, with a sound address */
	u64 reserved;		/* Tables 29-1 to 29-6, MAXPHYADDR = 46 */
	u64 skip;		/* bits that make it another kind, or are fields with tests of their own */
};

#define BITS(h, l) GENMASK_ULL(h, l)

/* Page tables of the leaves below are made before, so a table entry's address is real. */
static const struct entry_kind kinds[] = {
	{ 4, EPT_ENTRY_RWX, BITS(7, 3) | BITS(51, 46), BITS(2, 0) | BITS(45, 12) },
	{ 3, EPT_ENTRY_RWX, BITS(6, 3) | BITS(51, 46), BITS(2, 0) | BIT_ULL(7) | BITS(45, 12) },
	{ 2, EPT_ENTRY_RWX, BITS(6, 3) | BITS(51, 46), BITS(2, 0) | BIT_ULL(7) | BITS(45, 12) },
	{ 3, LEAF_RWX | EPT_ENTRY_LARGE, BITS(29, 12) | BITS(51, 46), BITS(5, 0) | BIT_ULL(7) | BITS(45, 30) },
	{ 2, LEAF_RWX | EPT_ENTRY_LARGE, BITS(20, 12) | BITS(51, 46), BITS(5, 0) | BIT_ULL(7) | BITS(45, 21) },
	{ 1, LEAF_RWX, BITS(51, 46), BITS(5, 0) | BITS(45, 12) },
};

static void test_ept_walk__each_bit_of_each_entry__is_reserved_or_ignored_as_the_tables_say(void **state)
{
	struct machine *m = *state;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		u64 eptp = machine_new_eptp(m, 0), addr, entry;
		struct ept_walk w;

		machine_map(m, eptp, GPA & ~0xFFFULL, 0x7654000, 7);
		addr = machine_entry(m, eptp, GPA, kinds[k].level);
		entry = kinds[k].bits;
		if (kinds[k].level > 1 && !(entry & EPT_ENTRY_LARGE))
			entry |= machine_peek(m, addr);
		machine_poke(m, addr, entry);
		assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_R, &w), EPT_OK);
		for (int bit = 0; bit < 64; bit++) {
			if (kinds[k].skip & BIT_ULL(bit))
				continue;
			machine_poke(m, addr, entry | BIT_ULL(bit));
			assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_R, &w),
					 (kinds[k].reserved & BIT_ULL(bit)) ? EPT_MISCONFIG : EPT_OK);
			if (kinds[k].reserved & BIT_ULL(bit)) {
				assert_int_equal(w.level, kinds[k].level);
				assert_int_equal(w.entry, entry | BIT_ULL(bit));
				assert_int_equal(w.entry_addr.v, addr);
			}
		}
	}
}

static void test_ept_walk__memory_type__2_3_and_7_are_misconfigured(void **state)
{
	static const u64 large[4] = { 0, 0, EPT_ENTRY_LARGE, EPT_ENTRY_LARGE };
	struct machine *m = *state;

	for (int level = 1; level <= 3; level++) {
		u64 eptp = machine_new_eptp(m, 0), addr = machine_entry(m, eptp, GPA, level);

		for (u64 mt = 0; mt < 8; mt++) {
			struct ept_walk w;

			machine_poke(m, addr, EPT_ENTRY_RWX | mt << 3 | large[level]);
			assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_R, &w),
					 mt == 2 || mt == 3 || mt == 7 ? EPT_MISCONFIG : EPT_OK);
		}
	}
}

static void test_ept_walk__misconfigured_below_a_refusing_entry__is_a_misconfiguration(void **state)
{
	struct machine *m = *state;
	u64 leaf = machine_entry(m, m->eptp, GPA, 1), pde = machine_entry(m, m->eptp, GPA, 2);
	struct ept_walk w;

	machine_poke(m, pde, (machine_peek(m, pde) & ~7ULL) | EPT_ENTRY_R);
	machine_poke(m, leaf, 0x7654000 | EPT_ENTRY_W);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_W, &w), EPT_MISCONFIG);
	assert_int_equal(w.level, 1);
}

static void test_ept_walk__absent_entry_with_reserved_bits__is_a_violation(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;

	machine_poke(m, machine_entry(m, m->eptp, GPA, 3), ~7ULL);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_R, &w), EPT_VIOLATION);
	assert_int_equal(w.allowed, 0);
	assert_int_equal(w.level, 3);
}

static void test_ept_walk__address_beyond_48_bits__is_a_violation(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;

	machine_map(m, m->eptp, 0, 0x7654000, 7);
	assert_int_equal(walk(m, m->eptp, 0, EPT_ACCESS_R, &w), EPT_OK);
	assert_int_equal(walk(m, m->eptp, 1ULL << 48, EPT_ACCESS_R, &w), EPT_VIOLATION);
	assert_int_equal(walk(m, m->eptp, 1ULL << 63, EPT_ACCESS_R, &w), EPT_VIOLATION);
	assert_int_equal(w.allowed, 0);
}

static void test_ept_walk__tables_not_in_memory__misconfigured(void **state)
{
	struct machine *m = *state;
	u64 low = m->eptp & 0xFFF;
	struct ept_walk w;

	assert_int_equal(walk(m, NOBODY_BASE | low, GPA, EPT_ACCESS_R, &w), EPT_MISCONFIG);
	assert_int_equal(w.level, 4);
	assert_int_equal(walk(m, MMIO_BASE | low, GPA, EPT_ACCESS_R, &w), EPT_MISCONFIG);
	assert_int_equal(m->mmio_reads, 0);
	machine_poke(m, machine_entry(m, m->eptp, GPA, 2), NOBODY_BASE | EPT_ENTRY_RWX);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_R, &w), EPT_MISCONFIG);
	assert_int_equal(w.level, 1);
}

static void test_ept_eptp__fields_entry_refuses__are_invalid(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;

	assert_true(ept_eptp_is_valid(0x100000 | 3 << 3 | 6));
	assert_true(ept_eptp_is_valid(0x100000 | 3 << 3 | 0));
	assert_true(ept_eptp_is_valid(0x100000 | 3 << 3 | 6 | 1 << 6));
	assert_true(ept_eptp_is_valid((1ULL << 45) | 3 << 3 | 6));
	for (u64 mt = 1; mt <= 7; mt++)
		assert_int_equal(ept_eptp_is_valid(0x100000 | 3 << 3 | mt), mt == 6);
	for (u64 len = 0; len <= 7; len++)
		assert_int_equal(ept_eptp_is_valid(0x100000 | len << 3 | 6), len == 3);
	for (int bit = 7; bit <= 11; bit++)
		assert_false(ept_eptp_is_valid(0x100000 | 3 << 3 | 6 | 1ULL << bit));
	for (int bit = 46; bit <= 63; bit++)
		assert_false(ept_eptp_is_valid(0x100000 | 3 << 3 | 6 | 1ULL << bit));
	assert_int_equal(walk(m, 0, GPA, EPT_ACCESS_R, &w), EPT_MISCONFIG);
	assert_int_equal(w.level, 0);
}

/* 29.3.5 */
static void check_flags(struct machine *m, u64 eptp, int leaf, u64 upper_flags, u64 leaf_flags)
{
	for (int l = 4; l >= leaf; l--) {
		u64 entry = machine_peek(m, machine_entry(m, eptp, GPA, l));

		assert_int_equal(entry & (EPT_ENTRY_A | EPT_ENTRY_D), l == leaf ? leaf_flags : upper_flags);
	}
}

static void test_ept_walk__flags_enabled__set_in_memory(void **state)
{
	static const u64 large[4] = { 0, 0, EPT_ENTRY_LARGE, EPT_ENTRY_LARGE };
	struct machine *m = *state;

	for (int leaf = 1; leaf <= 3; leaf++) {
		u64 eptp = machine_new_eptp(m, EPT_EPTP_AD), entry = 0x40000000 | LEAF_RWX | large[leaf];
		u64 addr = machine_entry(m, eptp, GPA, leaf);
		struct ept_walk w;

		machine_poke(m, addr, entry);
		assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_R, &w), EPT_OK);
		check_flags(m, eptp, leaf, EPT_ENTRY_A, EPT_ENTRY_A);
		assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_W, &w), EPT_OK);
		check_flags(m, eptp, leaf, EPT_ENTRY_A, EPT_ENTRY_A | EPT_ENTRY_D);
		assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_R, &w), EPT_OK);
		check_flags(m, eptp, leaf, EPT_ENTRY_A, EPT_ENTRY_A | EPT_ENTRY_D);
		assert_int_equal(machine_peek(m, addr), entry | EPT_ENTRY_A | EPT_ENTRY_D);
		assert_int_equal(w.entry, entry | EPT_ENTRY_A | EPT_ENTRY_D);
	}
}

static void test_ept_walk__flags_disabled__memory_untouched(void **state)
{
	struct machine *m = *state;
	struct ept_walk w;

	machine_map(m, m->eptp, GPA & ~0xFFFULL, 0x7654000, 7);
	assert_int_equal(walk(m, m->eptp, GPA, EPT_ACCESS_W, &w), EPT_OK);
	check_flags(m, m->eptp, 1, 0, 0);
}

static void test_ept_walk__refused__sets_no_flags(void **state)
{
	struct machine *m = *state;
	u64 eptp = machine_new_eptp(m, EPT_EPTP_AD);
	struct ept_walk w;

	machine_map(m, eptp, GPA & ~0xFFFULL, 0x7654000, EPT_ENTRY_R);
	assert_int_equal(walk(m, eptp, GPA, EPT_ACCESS_W, &w), EPT_VIOLATION);
	check_flags(m, eptp, 1, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		MACHINE_TEST(test_ept_walk__4k_page__translates),
		MACHINE_TEST(test_ept_walk__2m_page__translates),
		MACHINE_TEST(test_ept_walk__1g_page__translates),
		MACHINE_TEST(test_ept_walk__every_permission_at_every_level__is_the_and_of_the_path),
		MACHINE_TEST(test_ept_walk__each_bit_of_each_entry__is_reserved_or_ignored_as_the_tables_say),
		MACHINE_TEST(test_ept_walk__memory_type__2_3_and_7_are_misconfigured),
		MACHINE_TEST(test_ept_walk__misconfigured_below_a_refusing_entry__is_a_misconfiguration),
		MACHINE_TEST(test_ept_walk__absent_entry_with_reserved_bits__is_a_violation),
		MACHINE_TEST(test_ept_walk__address_beyond_48_bits__is_a_violation),
		MACHINE_TEST(test_ept_walk__tables_not_in_memory__misconfigured),
		MACHINE_TEST(test_ept_eptp__fields_entry_refuses__are_invalid),
		MACHINE_TEST(test_ept_walk__flags_enabled__set_in_memory),
		MACHINE_TEST(test_ept_walk__flags_disabled__memory_untouched),
		MACHINE_TEST(test_ept_walk__refused__sets_no_flags),
	};

	return cmocka_run_group_tests_name("cpu_ept", tests, NULL, NULL);
}
