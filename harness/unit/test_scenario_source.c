// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scenario/scenario.h"
#include "scenario/source.h"

static void expect_right(const char *text)
{
	char err[SOURCE_ERROR_MAX];

	if (source_check("f.lua", text, strlen(text), err))
		fail_msg("'%s': %s", text, err);
}

static void expect_wrong_len(const char *text, size_t len, const char *place, const char *words)
{
	char err[SOURCE_ERROR_MAX] = "";

	if (!source_check("f.lua", text, len, err))
		fail_msg("'%s' passes", text);
	if (strncmp(err, place, strlen(place)) || !strstr(err, words))
		fail_msg("'%s': '%s' does not begin with '%s', or has no '%s'", text, err, place, words);
}

static void expect_wrong(const char *text, const char *place, const char *words)
{
	expect_wrong_len(text, strlen(text), place, words);
}

static void test_numbers__that_lua_would_bend__refused_where_they_stand(void **state)
{
	(void)state;
	expect_wrong("x = { a = -1 }", "f.lua:1:11:", "negative");
	expect_wrong("x = 0x", "f.lua:1:5:", "hexadecimal");
	expect_wrong("x =\n  0x1_0000", "f.lua:2:3:", "hexadecimal");
	expect_wrong("x = 1e9", "f.lua:1:5:", "no number");
	expect_wrong("x = 18446744073709551616", "f.lua:1:5:", "2^63");
	expect_wrong("x = 9223372036854775808", "f.lua:1:5:", "2^63");
	expect_wrong("x = 0x10000000000000000", "f.lua:1:5:", "64 bits");
	expect_wrong("x = 007", "f.lua:1:5:", "leading zeros");
	expect_wrong("x = 4kib", "f.lua:1:5:", "no number");
	expect_wrong("x = 1.", "f.lua:1:5:", "no number");
	expect_wrong("x = 1.5.2", "f.lua:1:5:", "no number");
	expect_wrong_len("x = 1\0002", 7, "f.lua:1:5:", "no number");
	expect_wrong("x = \xEF\xBC\x91", "f.lua:1:5:", "0xEF");
	expect_wrong("x = 1\xEF\xBC\x91", "f.lua:1:5:", "no number");
	expect_wrong("\xEF\xBB\xBFx = 1", "f.lua:1:1:", "0xEF");
	expect_wrong_len("x = \0", 5, "f.lua:1:5:", "0x00");
}

static void test_numbers__as_they_are_written__pass(void **state)
{
	(void)state;
	expect_right("x = 0 y = 10 z = 0xFFFFFFFFFFFFFFFF w = 9223372036854775807 v = 0.5 u = 12.25");
	expect_right("for i = 10, 1, -1 do x = i - 1 end");
	expect_right("local x = -1 return -1, { 1, -1, a = b - 1 }");
	expect_right("x = t[1].y .. '1e9' -- 1e9 \xEF\xBC\x91");
	expect_right("x = \"007 \\\" -1\" y = [[ 0x ]] z = [==[ 1e9 ]] ]==] --[[ 1e9\n ]] --[=[ ]] 08 ]=]\n");
	expect_right("x = 1\r\ny = 2\r\n");
	expect_right("");
}

static void test_keys__twice_in_one_table__refused(void **state)
{
	(void)state;
	expect_wrong("x = { a = 1, b = 2,\n  a = 3 }", "f.lua:2:3:", "has already");
	expect_wrong("x = { y = { a = 1 }, z = 1, y = 2 }", "f.lua:1:29:", "has already");
	expect_right("x = { a = 1, { a = 1 }, b = { a = 1 }, aa = 1 }");
	expect_right("x = { a = 1, f = function() local a, a = 1, 2 if a then a = 3 end end, b = a == a }");
	expect_right("a = 1 a = 2 f(a, a)");
}

static void test_nesting__without_end__refused(void **state)
{
	char text[400000];
	size_t i;

	(void)state;
	memset(text, '{', sizeof(text));
	expect_wrong_len(text, sizeof(text), "f.lua:1:65:", "nested");
	for (i = 0; i + 3 <= sizeof(text); i += 3)
		memcpy(text + i, "do ", 3);
	expect_wrong_len(text, i, "f.lua:1:193:", "nested");
	memset(text, ')', sizeof(text));
	assert_int_equal(source_check("f.lua", text, sizeof(text), text), 0);
}

static void test_read_text__of_a_scenario__as_of_a_file(void **state)
{
	static const char good[] = "scenario { id = \"X-1\", vms = { { name = \"A\" } } } function run(m) end";
	static const char bad[] = "scenario { id = \"X-1\", vms = { { name = \"A\", nosuch = 1 } } } function run(m) end";
	struct scenario_file *f = malloc(sizeof(*f));
	char err[SCENARIO_ERROR_MAX];

	(void)state;
	assert_int_equal(scenario_read_text("t", good, strlen(good), f, err), 0);
	assert_string_equal(f->id, "X-1");
	assert_int_equal(scenario_read_text("t", bad, strlen(bad), f, err), -1);
	assert_non_null(strstr(err, "t:1:"));
	assert_non_null(strstr(err, "nosuch"));
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers__that_lua_would_bend__refused_where_they_stand),
		cmocka_unit_test(test_numbers__as_they_are_written__pass),
		cmocka_unit_test(test_keys__twice_in_one_table__refused),
		cmocka_unit_test(test_nesting__without_end__refused),
		cmocka_unit_test(test_read_text__of_a_scenario__as_of_a_file),
	};

	return cmocka_run_group_tests_name("scenario_source", tests, NULL, NULL);
}
