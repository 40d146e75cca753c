// SPDX-License-Identifier: GPL-2.0
#include "sites.h"
#include "site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct site_set one(const char *name)
{
	struct site_set s = { { 0 } };
	char bad[64];

	assert_int_equal(site_set_parse(&s, name, bad), 0);
	return s;
}

static void test_sites__names__are_unique(void **state)
{
	(void)state;
	for (u32 i = 0; i < site_count(); i++)
		assert_int_equal(site_find(site_at(i)->name), i);
}

static void test_sites__check_that_does_not_hold__refuses_unless_left_out(void **state)
{
	struct site_set without = one("controller_lba_range"), refused, taken;

	(void)state;
	sites_ablate(NULL);
	sites_span(true);
	assert_false(MODEL_CHECK(controller_lba_range, false));
	sites_met(&refused, &taken);
	assert_true(site_set_has(&refused, (u32)site_find("controller_lba_range")));
	assert_int_equal(site_set_size(&refused), 1);
	sites_ablate(&without);
	sites_span(true);
	assert_true(MODEL_CHECK(controller_lba_range, false));
	assert_false(MODEL_CHECK(controller_capacity, false));
	sites_met(&refused, &taken);
	assert_false(site_set_has(&refused, (u32)site_find("controller_lba_range")));
	sites_ablate(NULL);
}

static void test_sites__refusal_outside_the_span__does_not_count(void **state)
{
	struct site_set refused, taken;

	(void)state;
	sites_ablate(NULL);
	assert_false(MODEL_CHECK(controller_lba_range, false));
	assert_true(MODEL_STEP(ept_invalidate));
	sites_met(&refused, &taken);
	assert_int_equal(site_set_size(&refused), 0);
	assert_true(site_set_has(&taken, (u32)site_find("ept_invalidate")));
}

static void test_sites__unknown_name__is_said(void **state)
{
	struct site_set s = { { 0 } };
	char bad[64];

	(void)state;
	assert_int_equal(site_set_parse(&s, "controller_opcode,nothing", bad), -1);
	assert_string_equal(bad, "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites__names__are_unique),
		cmocka_unit_test(test_sites__check_that_does_not_hold__refuses_unless_left_out),
		cmocka_unit_test(test_sites__refusal_outside_the_span__does_not_count),
		cmocka_unit_test(test_sites__unknown_name__is_said),
	};

	return cmocka_run_group_tests_name("sim_sites", tests, NULL, NULL);
}
