// SPDX-License-Identifier: GPL-2.0
/* What an attacker sees, and which difference between two views counts. The events are those that the host makes. */

#include "report/view.h"
#include "event.h"
#include "spec/nvme.h"
#include "worldtrace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define ATTACKER	1u
#define VICTIM		0u

struct rig {
	struct machine *m[2];
	struct view *v[2];
};

static void setup(struct rig *r)
{
	struct machine_config cfg;
	u32 i;

	machine_config_defaults(&cfg);
	for (i = 0; i < 2; i++) {
		r->m[i] = machine_new(&cfg);
		r->v[i] = view_new(1u << ATTACKER);
		assert_non_null(r->m[i]);
		assert_non_null(r->v[i]);
		view_attach(r->v[i], r->m[i]);
	}
}

static struct view_comparison compare(struct rig *r)
{
	struct view_comparison c;
	u32 i;

	view_compare(r->v[0], r->v[1], &c);
	for (i = 0; i < 2; i++) {
		machine_free(r->m[i]);
		view_free(r->v[i]);
	}
	assert_false(c.failed);
	return c;
}

static void answer(struct rig *r, u32 run, u32 vm, u64 at, u64 value)
{
	trace4(&r->m[run]->trace, SIM_TRACE_ANSWER, 0, vm, at, value, 4);
}

static void wrote(struct rig *r, u32 run, u32 vm, u64 gpa, const void *data, u32 len)
{
	trace_data(&r->m[run]->trace, SIM_TRACE_WROTE, 0, vm, gpa, len, 0, data, len);
}

static void test_view__equal_values__are_the_same_view(void **state)
{
	struct view_comparison c;
	struct rig r;
	u32 i;

	(void)state;
	setup(&r);
	for (i = 0; i < 2; i++) {
		answer(&r, i, ATTACKER, 0x1C, 1);
		wrote(&r, i, ATTACKER, 0x5000, "completed", 9);
	}
	c = compare(&r);
	assert_true(c.same);
	assert_true(c.digest[0] == c.digest[1]);
	assert_int_equal(c.observations[0], 2);
	assert_int_equal(c.timing_ps, 0);
	assert_string_equal(c.what, "");
}

static void test_view__a_value_that_differs__is_named_with_both(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	answer(&r, 0, ATTACKER, 0x14, 7);
	answer(&r, 1, ATTACKER, 0x14, 7);
	answer(&r, 0, ATTACKER, 0x1C, 1);
	answer(&r, 1, ATTACKER, 0x1C, 9);
	c = compare(&r);
	assert_false(c.same);
	assert_false(c.order);
	assert_true(c.digest[0] != c.digest[1]);
	assert_string_equal(c.what, "register 0x1c: 0x1, and with other secrets 0x9");
}

/* That something came at all tells as much as what it is. */
static void test_view__a_value_more__is_a_difference(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	wrote(&r, 1, ATTACKER, 0x5000, "\1\2\3\4", 4);
	c = compare(&r);
	assert_false(c.same);
	assert_string_equal(c.what, "memory 0x5000: nothing, and with other secrets 0x4030201");
}

static void test_view__a_register_that_is_polled__counts_when_it_changes(void **state)
{
	struct view_comparison c;
	struct rig r;
	u32 i;

	(void)state;
	setup(&r);
	for (i = 0; i < 5; i++)
		answer(&r, 0, ATTACKER, 0x1C, 0);
	answer(&r, 1, ATTACKER, 0x1C, 0);
	for (i = 0; i < 2; i++)
		answer(&r, i, ATTACKER, 0x1C, 1);
	c = compare(&r);
	assert_true(c.same);
	assert_int_equal(c.observations[0], 2);
	assert_int_equal(c.observations[1], 2);
}

/* Of configuration space and of a BAR: the same number is not the same place. */
static void test_view__config_space__is_not_the_bar(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	answer(&r, 0, ATTACKER, 4, 6);
	trace4(&r.m[1]->trace, SIM_TRACE_ANSWER, 0, ATTACKER, 4, 6, 256 + 4);
	c = compare(&r);
	assert_false(c.same);
}

static void test_view__what_others_see__is_not_looked_at(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	answer(&r, 0, VICTIM, 0x1C, 1);
	answer(&r, 1, VICTIM, 0x1C, 9);
	wrote(&r, 1, VICTIM, 0x5000, "secret", 6);
	c = compare(&r);
	assert_true(c.same);
	assert_int_equal(c.observations[0], 0);
	assert_int_equal(c.observations[1], 0);
}

/* Which of two places is first is time, not content. */
static void test_view__two_places_in_another_order__are_the_same(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	answer(&r, 0, ATTACKER, 0x14, 1);
	answer(&r, 0, ATTACKER, 0x1C, 2);
	answer(&r, 1, ATTACKER, 0x1C, 2);
	answer(&r, 1, ATTACKER, 0x14, 1);
	c = compare(&r);
	assert_true(c.same);
	assert_true(c.digest[0] == c.digest[1]);
}

static void completion(struct rig *r, u32 run, u64 gpa, u16 cid, u16 status)
{
	struct nvme_cqe cqe = { .sqid = 3, .cid = cid, .status = (u16)(status << 1 | 1) };

	wrote(r, run, ATTACKER, gpa, &cqe, sizeof(cqe));
}

/* Two commands that end the other way round: the same ends, in another order. */
static void test_view__completions_in_another_order__are_an_order(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	completion(&r, 0, 0x5000, 1, NVME_SC_SUCCESS);
	completion(&r, 0, 0x5010, 2, NVME_SC_LBA_RANGE);
	completion(&r, 1, 0x5000, 2, NVME_SC_LBA_RANGE);
	completion(&r, 1, 0x5010, 1, NVME_SC_SUCCESS);
	c = compare(&r);
	assert_false(c.same);
	assert_true(c.order);
}

/* ... but one that ends otherwise is none. */
static void test_view__a_status_that_differs__is_no_order(void **state)
{
	struct view_comparison c;
	struct rig r;

	(void)state;
	setup(&r);
	completion(&r, 0, 0x5000, 1, NVME_SC_SUCCESS);
	completion(&r, 1, 0x5000, 1, NVME_SC_LBA_RANGE);
	c = compare(&r);
	assert_false(c.same);
	assert_false(c.order);
}

static void test_view__the_same_later__is_the_same_and_timing_tells(void **state)
{
	struct view_comparison c;
	struct rig r;
	u32 i;

	(void)state;
	setup(&r);
	for (i = 0; i < 2; i++) {
		sched_run_until(r.m[i]->sched, sched_now(r.m[i]->sched) + 1000 + 250 * i);
		answer(&r, i, ATTACKER, 0x1C, 1);
	}
	c = compare(&r);
	assert_true(c.same);
	assert_int_equal(c.timing_ps, 250);
	assert_string_equal(c.late, "register 0x1c");
}

/* What is another's secret shows in what changed, so that a run with nothing secret proves nothing. */
static void test_view__others_blocks_and_frames__are_told_apart(void **state)
{
	struct view_comparison c;
	struct rig r;
	u32 i;

	(void)state;
	setup(&r);
	for (i = 0; i < 2; i++) {
		trace4(&r.m[i]->trace, SIM_TRACE_VM, 0, VICTIM, 1, 0x1000 + 0x100 * i, 0x100);
		trace4(&r.m[i]->trace, SIM_TRACE_VM, 0, ATTACKER, 1, 0x8000, 0x100);
		trace4(&r.m[i]->trace, SIM_TRACE_FRAMES, 0, 0x200000 + 0x100000 * i, 0x1000, VICTIM, 1);
	}
	c = compare(&r);
	assert_true(c.same);
	assert_true(c.blocks);
	assert_true(c.frames);
	assert_false(c.data);
	assert_false(c.accesses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_view__equal_values__are_the_same_view),
		cmocka_unit_test(test_view__a_value_that_differs__is_named_with_both),
		cmocka_unit_test(test_view__a_value_more__is_a_difference),
		cmocka_unit_test(test_view__a_register_that_is_polled__counts_when_it_changes),
		cmocka_unit_test(test_view__config_space__is_not_the_bar),
		cmocka_unit_test(test_view__what_others_see__is_not_looked_at),
		cmocka_unit_test(test_view__two_places_in_another_order__are_the_same),
		cmocka_unit_test(test_view__completions_in_another_order__are_an_order),
		cmocka_unit_test(test_view__a_status_that_differs__is_no_order),
		cmocka_unit_test(test_view__the_same_later__is_the_same_and_timing_tells),
		cmocka_unit_test(test_view__others_blocks_and_frames__are_told_apart),
	};

	return cmocka_run_group_tests_name("report_view", tests, NULL, NULL);
}
