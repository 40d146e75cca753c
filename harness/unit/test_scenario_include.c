// SPDX-License-Identifier: GPL-2.0
/* include "name": what lies in a lib folder beside a scenario or above it, and nothing else. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "scenario/scenario.h"

static struct scenario_file file;
static char top[64];

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", top, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A scenario two folders down, and lib folders at either end. */
static int setup(void **state)
{
	static const char *const folders[] = { "lib", "a", "a/b", "a/b/lib" };
	char path[128];
	size_t i;

	(void)state;
	strcpy(top, "/tmp/test_scenario_include.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", top, folders[i]);
		if (mkdir(path, 0700))
			return -1;
	}
	write_file("lib/far.lua", "return { id = 'FAR-1' }");
	write_file("lib/both.lua", "return { id = 'FAR-2' }");
	write_file("a/b/lib/both.lua", "return { id = 'NEAR-2' }");
	write_file("lib/bad.lua", "\nnonsense here");
	write_file("lib/raises.lua", "\n\nerror('on purpose')");
	write_file("lib/itself.lua", "return include 'itself'");
	write_file("a/secret.lua", "return { id = 'SECRET' }");
	return 0;
}

static int teardown(void **state)
{
	static const char *const names[] = {
		"lib/far.lua", "lib/both.lua", "a/b/lib/both.lua", "lib/bad.lua", "lib/raises.lua", "lib/itself.lua", "a/secret.lua",
		"a/b/s.lua", "a/b/lib", "a/b", "a", "lib", "",
	};
	char path[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, names[i]);
		if (remove(path))
			return -1;
	}
	return 0;
}

static int read_with(const char *what, char err[SCENARIO_ERROR_MAX])
{
	char text[256], path[128];

	snprintf(text, sizeof(text), "local lib = include %s\nscenario { id = lib.id }\nfunction run(m) end\n", what);
	write_file("a/b/s.lua", text);
	snprintf(path, sizeof(path), "%s/a/b/s.lua", top);
	return scenario_read(path, &file, err);
}

static void expect_id(const char *what, const char *id)
{
	char err[SCENARIO_ERROR_MAX];

	if (read_with(what, err))
		fail_msg("%s: %s", what, err);
	assert_string_equal(file.id, id);
}

static void expect_error(const char *what, const char *place, const char *words)
{
	char err[SCENARIO_ERROR_MAX];

	assert_int_equal(read_with(what, err), -1);
	if (!strstr(err, place) || !strstr(err, words))
		fail_msg("%s: '%s' has no '%s' or no '%s'", what, err, place, words);
}

static void test_include__file_in_lib__gives_what_it_returns(void **state)
{
	(void)state;
	expect_id("'far'", "FAR-1");
}

static void test_include__two_of_a_name__the_nearer_counts(void **state)
{
	(void)state;
	expect_id("'both'", "NEAR-2");
}

static void test_include__anything_but_a_bare_name__is_refused(void **state)
{
	static const char *const names[] = { "''", "'../secret'", "'a/../far'", "'/etc/passwd'", "'far.lua'", "'Far'", "'f\\0ar'" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_error(names[i], "s.lua:1: ", "no name");
	expect_error("'none'", "s.lua:1: ", "no lib/none.lua");
	expect_error("'secret'", "s.lua:1: ", "no lib/secret.lua");
}

static void test_include__mistakes_in_the_file__have_their_place(void **state)
{
	(void)state;
	expect_error("'bad'", "lib/bad.lua:2: ", "");
	expect_error("'raises'", "lib/raises.lua:3: ", "on purpose");
	expect_error("'itself'", "lib/itself.lua:1: ", "nested");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_include__file_in_lib__gives_what_it_returns),
		cmocka_unit_test(test_include__two_of_a_name__the_nearer_counts),
		cmocka_unit_test(test_include__anything_but_a_bare_name__is_refused),
		cmocka_unit_test(test_include__mistakes_in_the_file__have_their_place),
	};

	return cmocka_run_group_tests_name("scenario_include", tests, setup, teardown);
}
