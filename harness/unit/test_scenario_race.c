// SPDX-License-Identifier: GPL-2.0
/* Exploring: a lost update is found, its schedule repeats it, and all of choose{} is tried. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "scenario/scenario.h"

#define HEAD "scenario { id = \"T\", name = \"t\", tags = { \"benign\" }, vms = { { name = \"A\", vcpus = 2, memory = \"16M\", lbas = 0x100 } } }\n"

/* Two vCPUs add one each, by a load and a store. */
static const char lost_update[] = HEAD
	"function run(m)\n"
	"local A, page = m:vm('A'), m:vm('A'):alloc(1)\n"
	"A:store64(page, 0)\n"
	"race(function()\n"
	"  local function add() A:store64(page, A:load64(page) + 1) end\n"
	"  local other = m:spawn { vm = A, vcpu = 1, add }\n"
	"  m:sleep(us(10))\n"
	"  add()\n"
	"  other:join()\n"
	"end)\n"
	"expect.equal(A:load64(page), 2)\n"
	"end\n";

/* One of 5 x 7 x 6 combinations is bad. */
static const char one_of_many[] = HEAD
	"function run(m)\n"
	"race(function()\n"
	"  local a, b, c = choose(5), choose(7), choose { 'p', 'q', 'r', 's', 't', 'u' }\n"
	"  expect.false_(a == 4 and b == 6 and c == 't', 'this one')\n"
	"end)\n"
	"end\n";

static const char nothing[] = HEAD "function run(m) end\n";

static const char second[] = HEAD
	"function run(m) race(function() expect.true_(choose(2) == 1, 'the second') end) end\n";

static struct run_result result;	/* too large for the stack of a test */
static struct scenario_file file;

static void run_text(const char *text, const struct scenario_options *opt)
{
	char path[] = "/tmp/test_scenario_race.XXXXXX", err[SCENARIO_ERROR_MAX];
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	if (scenario_read(path, &file, err))
		fail_msg("%s", err);
	scenario_run(&file, 0, LIOV_POLICY_PAPER, opt, NULL, &result);
	unlink(path);
}

static void explore(const char *text, u32 schedules)
{
	run_text(text, &(struct scenario_options){ .seed = 1, .schedules = schedules });
}

static void repeat(const char *text, const char *schedule)
{
	run_text(text, &(struct scenario_options){ .seed = 1, .schedule = schedule });
}

static void test_explore__lost_update__is_found_and_repeated(void **state)
{
	char schedule[SCHEDULE_TEXT_MAX], said[SCENARIO_ERROR_MAX], digest[33];

	(void)state;
	run_text(lost_update, &(struct scenario_options){ .seed = 1 });
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
	explore(lost_update, 500);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	assert_true(result.schedules > 1);
	strcpy(schedule, result.schedule);
	strcpy(said, result.failure[0].text);
	strcpy(digest, result.digest);
	/* One preemption does it. */
	assert_null(strchr(schedule, ','));
	assert_string_not_equal(schedule, "-");

	repeat(lost_update, schedule);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	/* But for the name of the file, which is another. */
	assert_string_equal(strchr(result.failure[0].text, ':'), strchr(said, ':'));
	assert_string_equal(result.digest, digest);
	repeat(lost_update, "-");
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
}

static void test_explore__same_seed__is_the_same(void **state)
{
	char schedule[SCHEDULE_TEXT_MAX];
	u32 schedules;

	(void)state;
	explore(lost_update, 500);
	strcpy(schedule, result.schedule);
	schedules = result.schedules;
	explore(lost_update, 500);
	assert_string_equal(result.schedule, schedule);
	assert_int_equal(result.schedules, schedules);
}

/* 210 combinations, every second schedule. */
static void test_explore__choose__tries_all(void **state)
{
	(void)state;
	explore(one_of_many, 420);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	assert_string_equal(result.schedule, "0.3,1.5,2.4");
	repeat(one_of_many, "0.3,1.5,2.4");
	assert_int_equal(result.outcome, RUN_DIFFERS);
	repeat(one_of_many, "0.3,1.5,2.3");
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
}

static void test_explore__nothing_found__counts(void **state)
{
	(void)state;
	explore(second, 1);
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
	assert_int_equal(result.schedules, 1);
	assert_int_equal(result.schedules_different, 1);
	explore(second, 50);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	assert_string_equal(result.schedule, "0.1");
}

static void test_explore__mistakes__are_told(void **state)
{
	(void)state;
	explore(nothing, 10);
	assert_int_equal(result.outcome, RUN_ERROR);
	assert_non_null(strstr(result.failure[0].text, "nothing to explore"));
	repeat(lost_update, "1.1,x");
	assert_int_equal(result.outcome, RUN_ERROR);
	assert_non_null(strstr(result.failure[0].text, "is no schedule"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explore__lost_update__is_found_and_repeated),
		cmocka_unit_test(test_explore__same_seed__is_the_same),
		cmocka_unit_test(test_explore__choose__tries_all),
		cmocka_unit_test(test_explore__nothing_found__counts),
		cmocka_unit_test(test_explore__mistakes__are_told),
	};

	return cmocka_run_group_tests_name("scenario_race", tests, NULL, NULL);
}
