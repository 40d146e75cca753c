// SPDX-License-Identifier: GPL-2.0
/* The command from inside: options, runs in processes of their own, what their ends mean, reports. */

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/cli.h"

static int parse(struct cli_options *o, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return options_parse(argc, argv, o);
}

#define PARSE(o, ...) parse(o, (char *[]){ "lightiov", __VA_ARGS__, NULL })

/* Complaints of the command are not this test's output. Returns what loud() needs. */
static int quiet(void)
{
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);

	fflush(stderr);
	dup2(null, STDERR_FILENO);
	close(null);
	return saved;
}

static void loud(int saved)
{
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static void test_options__well_formed__are_taken(void **state)
{
	struct cli_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "run", "--policy", "paper,nrd", "--seed=0x1f", "--jobs", "3", "--json", "a.lua", "--content=bytes", "b"), -1);
	assert_string_equal(o.command, "run");
	assert_int_equal(o.policies, 1u << LIOV_POLICY_PAPER | 1u << LIOV_POLICY_NRD);
	assert_int_equal(o.scenario.seed, 0x1f);
	assert_true(o.scenario.content_bytes);
	assert_int_equal(o.jobs, 3);
	assert_true(o.json);
	assert_null(o.json_path);
	assert_int_equal(o.nr_paths, 2);
	assert_string_equal(o.path[1], "b");
	assert_int_equal(PARSE(&o, "matrix", "--json=f", "x"), -1);
	assert_string_equal(o.json_path, "f");
	assert_int_equal(PARSE(&o, "bench", "--hot", "--ios", "5000"), -1);
	assert_true(o.hot);
}

static void test_options__in_any_order__mean_the_same(void **state)
{
	struct cli_options o;

	(void)state;
	assert_int_equal(PARSE(&o, "run", "--why", "x"), -1);
	assert_false(o.no_controls);
	assert_int_equal(PARSE(&o, "run", "x"), -1);
	assert_true(o.no_controls);
	assert_int_equal(PARSE(&o, "run", "--no-controls", "--why", "--faults", "1", "x"), -1);
	assert_true(o.no_controls);
	assert_int_equal(PARSE(&o, "run", "--ablate", "mediator_lba_range", "--why", "x"), -1);
	assert_true(o.no_controls);
	assert_int_equal(PARSE(&o, "run", "--seed", "010", "x"), -1);
	assert_int_equal(o.scenario.seed, 10);
	assert_int_equal(PARSE(&o, "matrix", "--faults", "2", "--noninterference", "x"), -1);
	assert_int_equal(o.scenario.faults, 2);
}

static void test_options__malformed__are_usage_errors(void **state)
{
	struct cli_options o;
	int saved = quiet();

	(void)state;
	assert_int_equal(parse(&o, (char *[]){ "lightiov", NULL }), CLI_USAGE);
	assert_int_equal(PARSE(&o, "dance"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "help", "dance"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--dance", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--policy", "paper,", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--policy", "nobody", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--seed", "-1", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--seed", "7x", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--seed"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--seed", "18446744073709551616", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--why", "--faults", "1", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--schedules", "9", "--why", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "list", "--sites", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "list", "--sites", "--json"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--jobs", "0", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--jobs", "257", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--content=words", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "run", "--hot", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "list", "--junit", "f", "x"), CLI_USAGE);
	assert_int_equal(PARSE(&o, "bench", "--hot", "x"), CLI_USAGE);
	loud(saved);
}

/* Three runs: a good one, one of a file that is not there any more, one that kills its process. */
static void make_plan(struct plan *p, struct scenario_file file[2], struct planned run[3], struct run_result *result)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	memset(file, 0, 2 * sizeof(*file));
	strcpy(file[0].path, "harness/unit/no-such-file.lua");
	strcpy(file[0].id, "gone<&\">");
	strcpy(file[0].variant[0].name, "-");
	file[0].nr_variants = 1;
	for (i = 0; i < 3; i++)
		run[i] = (struct planned){ .file = &file[0], .result = &result[i] };
	*p = (struct plan){ .file = file, .nr_files = 1, .run = run, .nr_runs = 3 };
}

static void test_execute__a_process_that_dies__is_our_bug_and_takes_no_other(void **state)
{
	static struct run_result result[3];
	static struct scenario_file file[2];
	struct planned run[3];
	struct cli_options o = { .scenario.seed = 1 };
	char path[] = "/tmp/test_cli.XXXXXX";
	struct plan p;
	int saved;
	FILE *f;

	(void)state;
	make_plan(&p, file, run, result);
	strcpy(file[0].path, "/dev/null");
	file[1] = file[0];
	strcpy(file[1].path, path);
	f = fdopen(mkstemp(file[1].path), "w");
	fputs("scenario {} function run(m) end", f);
	fclose(f);
	run[1].file = &file[1];
	run[1].variant = 0x7FFFFFFF;	/* far outside of everything: the process of this run dies */
	signal(SIGSEGV, SIG_DFL);
	/* With one worker the last run needs a new one. */
	for (o.jobs = 1; o.jobs <= 4; o.jobs++) {
		memset(result, 0, sizeof(result));
		saved = quiet();
		assert_int_equal(plan_execute(&p, &o), 0);
		loud(saved);
		assert_int_equal(result[0].outcome, RUN_ERROR);
		assert_int_equal(result[1].outcome, RUN_INTERNAL);
		assert_non_null(strstr(result[1].failure[0].text, "its bug"));
		assert_int_equal(result[2].outcome, RUN_ERROR);
		assert_non_null(strstr(result[0].failure[0].text, "/dev/null:1: "));
	}
	unlink(file[1].path);
}

static void test_replay__what_was_asked__is_asked_again(void **state)
{
	static struct run_result result[3];
	static struct scenario_file file[2];
	static char text[CLI_REPLAY_MAX];
	struct cli_options o;
	struct planned run[3];
	struct plan p;

	(void)state;
	make_plan(&p, file, run, result);
	run[0].policy = LIOV_POLICY_NRD;
	assert_int_equal(PARSE(&o, "run", "x"), -1);
	replay_command(&run[0], &o, text, sizeof(text));
	assert_string_equal(text, "lightiov run harness/unit/no-such-file.lua --variant - --policy nrd --seed 1 --verbose");

	strcpy(file[0].path, "it's here.lua");
	assert_int_equal(PARSE(&o, "run", "--why", "--noninterference", "--content=bytes", "--expected", "my table", "--seed", "7", "x"), -1);
	replay_command(&run[0], &o, text, sizeof(text));
	assert_string_equal(text, "lightiov run 'it'\\''s here.lua' --variant - --policy nrd --seed 7 --content=bytes --why --noninterference "
				  "--expected 'my table' --verbose");

	assert_int_equal(PARSE(&o, "run", "--ablate", "mediator_lba_range,backend_wipe", "--faults", "9", "x"), -1);
	strcpy(result[0].schedule, "3.1");
	replay_command(&run[0], &o, text, sizeof(text));
	assert_non_null(strstr(text, " --faults 9 --schedule 3.1 --verbose"));
	assert_non_null(strstr(text, " --ablate "));
	assert_non_null(strstr(text, "mediator_lba_range"));
	assert_non_null(strstr(text, "backend_wipe"));
	memset(result, 0, sizeof(result));
}

static void test_exit_code__of_many__is_the_worst(void **state)
{
	static struct run_result result[3];
	static struct scenario_file file[2];
	struct planned run[3];
	struct plan p;

	(void)state;
	make_plan(&p, file, run, result);
	result[0].outcome = RUN_EXPLORED;
	result[1].outcome = RUN_AS_EXPECTED;
	result[2].outcome = RUN_AS_EXPECTED;
	assert_int_equal(plan_exit_code(&p), CLI_OK);
	result[1].outcome = RUN_DIFFERS;
	assert_int_equal(plan_exit_code(&p), CLI_DIFFERS);
	result[2].outcome = RUN_HUNG;
	assert_int_equal(plan_exit_code(&p), CLI_LIVENESS);
	p.nr_mistakes = 1;
	assert_int_equal(plan_exit_code(&p), CLI_USAGE);
	result[0].outcome = RUN_INTERNAL;
	assert_int_equal(plan_exit_code(&p), CLI_BUG);
	p.nr_runs = 0;
	p.nr_mistakes = 0;
	assert_int_equal(plan_exit_code(&p), CLI_SKIPPED);
}

static void test_junit__odd_characters__are_escaped(void **state)
{
	static struct run_result result[3];
	static struct scenario_file file[2];
	char path[] = "/tmp/test_cli.XXXXXX", text[8192];
	struct cli_options o = { .command = "run", .junit_path = path };
	struct planned run[3];
	struct plan p;
	FILE *f;

	(void)state;
	close(mkstemp(path));
	make_plan(&p, file, run, result);
	result[0].outcome = RUN_DIFFERS;
	result[0].nr_failures = 1;
	strcpy(result[0].failure[0].text, "a < b && \"c\" > \x01\xff");
	result[1].outcome = RUN_ERROR;
	assert_int_equal(report_junit(&p, &o), 0);
	f = fopen(path, "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	unlink(path);
	assert_non_null(strstr(text, "tests=\"3\" failures=\"1\" errors=\"1\""));
	assert_non_null(strstr(text, "name=\"gone&lt;&amp;&quot;&gt; "));
	assert_non_null(strstr(text, "message=\"a &lt; b &amp;&amp; &quot;c&quot; &gt; ??\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options__well_formed__are_taken),
		cmocka_unit_test(test_options__in_any_order__mean_the_same),
		cmocka_unit_test(test_options__malformed__are_usage_errors),
		cmocka_unit_test(test_execute__a_process_that_dies__is_our_bug_and_takes_no_other),
		cmocka_unit_test(test_replay__what_was_asked__is_asked_again),
		cmocka_unit_test(test_exit_code__of_many__is_the_worst),
		cmocka_unit_test(test_junit__odd_characters__are_escaped),
	};

	return cmocka_run_group_tests_name("cli", tests, NULL, NULL);
}
