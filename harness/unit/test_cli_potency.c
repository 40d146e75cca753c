// SPDX-License-Identifier: GPL-2.0
/* Which controls are run, and what they must show: by a machine of which it is known what keeps its attacker out. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/control.c"

struct fake {
	struct run_result base;
	struct site_set walls;		/* without all of these the attack gets through */
	struct site_set needed;		/* without one of these the machine does not come as far as the attack */
	struct site_set vital;		/* without one of these everybody fails, attack or not */
	struct site_set behind;		/* refuses where the first does not */
	u32 runs;
};

static struct site_set of(const char *names)
{
	struct site_set s = { { 0 } };
	char bad[64];

	assert_int_equal(site_set_parse(&s, names, bad), 0);
	return s;
}

static bool has_all(const struct site_set *s, const struct site_set *all)
{
	u32 i;

	for (i = 0; i < SITES_MAX / 64; i++)
		if (all->bit[i] & ~s->bit[i])
			return false;
	return true;
}

static bool has_any(const struct site_set *s, const struct site_set *any)
{
	u32 i;

	for (i = 0; i < SITES_MAX / 64; i++)
		if (any->bit[i] & s->bit[i])
			return true;
	return false;
}

static void run(void *opaque, const struct control_way *way, struct run_result *out)
{
	struct fake *f = opaque;
	bool early = !way->late;

	f->runs++;
	memset(out, 0, sizeof(*out));
	out->outcome = RUN_EXPLORED;
	out->taken = f->base.taken;
	if (early && has_any(&way->without, &f->needed)) {
		out->outcome = RUN_ERROR;
		return;
	}
	out->has_attack = true;
	out->verdict.kind = VERDICT_CONTAINED;
	out->refused = f->behind;
	if (has_any(&way->without, &f->vital)) {
		out->nr_failures = 1;
		snprintf(out->failure[0].text, sizeof(out->failure[0].text), "x.lua:1: nothing works");
	}
	if (!way->no_attack && site_set_size(&f->walls) && has_all(&way->without, &f->walls))
		out->verdict.kind = VERDICT_ESCAPED;
}

static struct fake *fake(const char *refused, const char *taken, enum verdict_component who, const char *why)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->base.outcome = RUN_AS_EXPECTED;
	f->base.has_attack = true;
	f->base.verdict.kind = VERDICT_CONTAINED;
	f->base.verdict.component = who;
	f->base.refused = of(refused);
	f->base.taken = of(taken);
	f->base.has_expected = true;
	snprintf(f->base.expected.why, sizeof(f->base.expected.why), "%s", why);
	snprintf(f->base.expected.code, sizeof(f->base.expected.code), "-");
	snprintf(f->base.expected.bound, sizeof(f->base.expected.bound), "-");
	return f;
}

static void expect(struct fake *f, const char *by)
{
	struct site_set set = of(by);

	potency_examine(&f->base, run, f);
	assert_int_equal(f->base.potency.potent, *by != '\0');
	assert_memory_equal(&f->base.potency.by, &set, sizeof(set));
}

static void inert(struct fake *f)
{
	expect(f, "");
	assert_int_equal(f->base.verdict.kind, VERDICT_INERT);
	assert_int_equal(f->base.outcome, RUN_DIFFERS);
	free(f);
}

static void potent(struct fake *f, const char *by)
{
	expect(f, by);
	assert_int_equal(f->base.verdict.kind, VERDICT_CONTAINED);
	assert_int_equal(f->base.outcome, RUN_AS_EXPECTED);
	free(f);
}

static void test_examine__one_check_keeps_it_out__due_to_it(void **state)
{
	struct fake *f = fake("mediator_opcode,mediator_lba_range,controller_nsid", "", COMPONENT_MEDIATOR, "");

	(void)state;
	f->walls = of("mediator_lba_range");
	potent(f, "mediator_lba_range");
}

static void test_examine__no_harm_without_it__inert(void **state)
{
	(void)state;
	inert(fake("mediator_lba_range", "", COMPONENT_MEDIATOR, ""));
}

/* Another's check is none of the component that is credited, unless the row names it. */
static void test_examine__somebody_elses_check__counts_only_if_named(void **state)
{
	struct fake *f = fake("mediator_lba_range,controller_lba_range", "", COMPONENT_MEDIATOR, "");

	(void)state;
	f->walls = of("mediator_lba_range,controller_lba_range");
	inert(f);
	f = fake("mediator_lba_range,controller_lba_range", "", COMPONENT_MEDIATOR, "x [also controller]");
	f->walls = of("mediator_lba_range,controller_lba_range");
	potent(f, "mediator_lba_range,controller_lba_range");
}

static void test_examine__a_check_behind_the_first__both_are_found(void **state)
{
	struct fake *f = fake("mediator_opcode", "", COMPONENT_MEDIATOR, "");

	(void)state;
	f->walls = of("mediator_opcode,mediator_nsid");
	f->behind = of("mediator_nsid");
	potent(f, "mediator_opcode,mediator_nsid");
}

static void test_examine__a_step__due_to_it(void **state)
{
	struct fake *f = fake("", "backend_mem_unmap,backend_mem_sync", COMPONENT_BACKEND, "");

	(void)state;
	f->walls = of("backend_mem_sync");
	potent(f, "backend_mem_sync");
}

/* A machine that does not work without a step shows nothing of whom it keeps out. */
static void test_examine__harm_without_the_attack_too__inert(void **state)
{
	struct fake *f = fake("", "device_cqid_virtual", COMPONENT_DEVICE, "");

	(void)state;
	f->vital = of("device_cqid_virtual");
	inert(f);
}

static void test_examine__needed_before_the_attack__left_out_from_there_on(void **state)
{
	struct fake *f = fake("", "device_cfg_virtual", COMPONENT_DEVICE, "");

	(void)state;
	f->walls = f->needed = of("device_cfg_virtual");
	expect(f, "device_cfg_virtual");
	assert_true(f->base.potency.control[0].late);
	free(f);
}

static void test_examine__a_step_too_many__is_put_back(void **state)
{
	struct fake *f = fake("", "backend_mem_release,backend_delete_sq,host_invept", COMPONENT_BACKEND, "");

	(void)state;
	f->walls = of("backend_mem_release,backend_delete_sq");
	f->needed = of("host_invept");
	f->vital = of("host_invept");
	potent(f, "backend_mem_release,backend_delete_sq");
}

static void test_examine__no_control__must_be_true(void **state)
{
	struct fake *f = fake("mediator_sq_tail", "", COMPONENT_MEDIATOR, "x [no control]");

	(void)state;
	expect(f, "");
	assert_int_equal(f->base.outcome, RUN_AS_EXPECTED);
	assert_int_equal(f->base.verdict.kind, VERDICT_CONTAINED);
	free(f);
	f = fake("mediator_sq_tail", "", COMPONENT_MEDIATOR, "x [no control]");
	f->walls = of("mediator_sq_tail");
	expect(f, "mediator_sq_tail");
	assert_int_equal(f->base.outcome, RUN_DIFFERS);
	free(f);
}

static void test_examine__escaped__no_control_is_run(void **state)
{
	struct fake *f = fake("mediator_sq_tail", "", COMPONENT_NONE, "");

	(void)state;
	f->base.verdict.kind = VERDICT_ESCAPED;
	potency_examine(&f->base, run, f);
	assert_int_equal(f->runs, 0);
	assert_false(f->base.potency.asked);
	free(f);
}

/* A status is what waitpid() gives: a signal's number, or eight bits above. */
static void test_control__ended_by_others__shows_nothing(void **state)
{
	(void)state;
	assert_int_equal(made(-1, 0), MADE_NOT);
	assert_int_equal(made(1, MADE_NOT << 8), MADE_NOT);
	assert_int_equal(made(1, SIGKILL), MADE_NOT);
	assert_int_equal(made(1, SIGSEGV), MADE_DIED);
	assert_int_equal(made(1, SIGXCPU), MADE_DIED);
	assert_int_equal(made(1, 1 << 8), MADE_DIED);
	assert_int_equal(made(1, 0), MADE_RESULT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examine__one_check_keeps_it_out__due_to_it),
		cmocka_unit_test(test_examine__no_harm_without_it__inert),
		cmocka_unit_test(test_examine__somebody_elses_check__counts_only_if_named),
		cmocka_unit_test(test_examine__a_check_behind_the_first__both_are_found),
		cmocka_unit_test(test_examine__a_step__due_to_it),
		cmocka_unit_test(test_examine__harm_without_the_attack_too__inert),
		cmocka_unit_test(test_examine__needed_before_the_attack__left_out_from_there_on),
		cmocka_unit_test(test_examine__a_step_too_many__is_put_back),
		cmocka_unit_test(test_examine__no_control__must_be_true),
		cmocka_unit_test(test_examine__escaped__no_control_is_run),
		cmocka_unit_test(test_control__ended_by_others__shows_nothing),
	};

	return cmocka_run_group_tests_name("potency", tests, NULL, NULL);
}
