// SPDX-License-Identifier: GPL-2.0
/* What a script can not do: reach out, see addresses or chance, run on for ever, or catch that it was stopped. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scenario/sandbox.h"

struct script {
	struct sandbox sb;
	struct sandbox_thread main;
	char err[SANDBOX_ERROR_MAX];
};

static void script_init(struct script *s)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(sandbox_init(&s->sb, &s->main), 0);
	s->sb.work_max = 4000000;
}

/* Run @text as the chunk t.lua; 0 or -1. */
static int script_run(struct script *s, const char *text)
{
	if (luaL_loadbufferx(s->sb.L, text, strlen(text), "@t.lua", "t") != LUA_OK) {
		snprintf(s->err, sizeof(s->err), "%s", lua_tostring(s->sb.L, -1));
		return -1;
	}
	return sandbox_pcall(s->sb.L, 0, 1, s->err);
}

static void expect_error(const char *text, const char *place, const char *words)
{
	struct script s;

	script_init(&s);
	assert_int_equal(script_run(&s, text), -1);
	if (strncmp(s.err, place, strlen(place)) || !strstr(s.err, words))
		fail_msg("'%s': '%s' is not '%s...%s'", text, s.err, place, words);
	sandbox_fini(&s.sb);
}

static void expect_text(const char *text, const char *wanted)
{
	struct script s;

	script_init(&s);
	if (script_run(&s, text))
		fail_msg("'%s': %s", text, s.err);
	assert_string_equal(lua_tostring(s.sb.L, -1), wanted);
	sandbox_fini(&s.sb);
}

static void test_globals__what_reaches_out__is_absent(void **state)
{
	static const char *const names[] = { "io", "os", "package", "debug", "dofile", "loadfile", "load", "require", "collectgarbage",
					     "next", "setmetatable", "getmetatable", "coroutine", "rawset", "xpcall", "print" };
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "return tostring(%s)", names[i]);
		expect_text(text, "nil");
	}
	expect_text("return tostring(math.random) .. tostring(math.randomseed) .. tostring(string.dump)", "nilnilnil");
}

static void test_pairs__keys_of_all_kinds__come_in_order(void **state)
{
	(void)state;
	expect_text("local s = '' for k in pairs{ z=1, b=1, [10]=1, [2]=1, [-1]=1, aa=1, a=1, [true]=1, [false]=1 } do s = s .. tostring(k) .. ' ' end return s",
		    "-1 2 10 a aa b z false true ");
}

static void test_pairs__value_removed_on_the_way__is_passed_over(void **state)
{
	(void)state;
	expect_text("local t = { a=1, b=2, c=3 } local s = '' for k, v in pairs(t) do s = s .. k .. v t.b = nil end return s", "a1c3");
}

static void test_pairs__key_without_order__is_an_error(void **state)
{
	(void)state;
	expect_error("for k in pairs{ [{}] = 1 } do end", "t.lua:1: ", "no order");
	expect_error("for k in pairs{ [0.5] = 1 } do end", "t.lua:1: ", "fraction");
}

static void test_tostring__tables_and_functions__show_no_address(void **state)
{
	(void)state;
	expect_text("return tostring({}) .. tostring(pairs) .. ('%s'):format({}) .. string.format('%10s|', print or pairs)", "tablefunctiontable  function|");
	expect_error("return ('%p'):format({})", "t.lua:1: ", "address");
	expect_error("return ('\\0%p'):format({})", "t.lua:1: ", "address");
	expect_error("return ('%-20p'):format({})", "t.lua:1: ", "address");
}

static void test_sort__equal_elements_and_odd_functions__end_and_are_stable(void **state)
{
	(void)state;
	expect_text("local t = {} for i = 1, 9 do t[i] = { k = i % 3, i = i } end table.sort(t, function(a, b) return a.k < b.k end) "
		    "local s = '' for _, e in ipairs(t) do s = s .. e.i end return s", "369147258");
	expect_text("local t = { 3, 1, 2 } table.sort(t, function() return true end) return tostring(#t)", "3");
	expect_text("local t = { 5, 3, 9, 1 } table.sort(t) return table.concat(t, ' ')", "1 3 5 9");
	expect_error("table.sort({ 1, {}, 2 })", "t.lua:1: ", "compare");
}

static void test_budget__endless_loop__ends_with_its_line(void **state)
{
	(void)state;
	expect_error("\nwhile true do end", "t.lua:2: ", "instructions");
}

static void test_budget__pcall_around_it__does_not_catch(void **state)
{
	(void)state;
	expect_error("while true do pcall(function() while true do end end) end", "t.lua:1: ", "instructions");
	expect_error("pcall(function() local s = 'x' while true do s = s .. s end end) return 'caught'", "t.lua:1: ", "MiB");
	expect_error("local t = {} pcall(function() while true do t[#t + 1] = {} end end) return 'caught'", "t.lua:1: ", "MiB");
}

static void test_budget__work_in_c__is_charged(void **state)
{
	(void)state;
	expect_error("local s = ('x'):rep(1 << 21) while true do local _ = s:reverse() end", "t.lua:1: ", "instructions");
	expect_error("table.move({ 1 }, 1, 1 << 60, 2)", "t.lua:1: ", "instructions");
	expect_error("local t = {} for i = 1, 200000 do table.insert(t, 1, i) end", "t.lua:1: ", "instructions");
}

static void test_rep__huge__is_refused_at_once(void **state)
{
	(void)state;
	expect_error("return ('x'):rep(1 << 40)", "t.lua:1: ", "longer than");
	expect_error("return ('x'):rep(1 << 62, 'yy')", "t.lua:1: ", "longer than");
}

static void test_pattern__backtracking__is_refused(void **state)
{
	(void)state;
	expect_error("return (('a'):rep(1000):find('.-.-.-.-b'))", "t.lua:1: ", "too long");
	expect_text("return (('key = value'):match('(%w+) = '))", "key");
	expect_text("return (('a.b'):find('.', 1, true)) .. ''", "2");
}

static void test_depth__c_calling_lua_calling_c__is_bounded(void **state)
{
	(void)state;
	expect_error("local function f() return (('a'):gsub('a', f)) end f()", "t.lua:1: ", "nested");
	expect_text("local function f(n) local ok, e = pcall(f, n + 1) return ok and n or n end return tostring(f(1))", "1");
	/* What a caught error undid does not count any more. */
	expect_text("local function f() error('x') end for i = 1, 100 do pcall(pcall, f) end return 'fine'", "fine");
}

static void test_error__not_a_text__says_so_with_its_line(void **state)
{
	(void)state;
	expect_error("\n\nerror({})", "t.lua:3: ", "give it a text");
	expect_error("\nlocal x = nil; x.y = 1", "t.lua:2: ", "nil");
}

static void test_load__compiled_or_long_or_missing__is_refused(void **state)
{
	struct script s;
	char path[] = "/tmp/test_scenario_sandbox.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	unsigned int i;

	(void)state;
	script_init(&s);
	fputs("\x1bLua", f);
	fclose(f);
	assert_int_equal(sandbox_load(&s.sb, path, s.err), -1);
	assert_non_null(strstr(s.err, "compiled"));
	f = fopen(path, "w");
	for (i = 0; i <= SANDBOX_CHUNK_MAX; i++)
		fputc('-', f);
	fclose(f);
	assert_int_equal(sandbox_load(&s.sb, path, s.err), -1);
	assert_non_null(strstr(s.err, "longer than"));
	remove(path);
	assert_int_equal(sandbox_load(&s.sb, path, s.err), -1);
	assert_non_null(strstr(s.err, "cannot be opened"));
	sandbox_fini(&s.sb);
}

static void test_thread__own_budget_of_depth__shares_work(void **state)
{
	struct script s;
	struct sandbox_thread t;
	char err[SANDBOX_ERROR_MAX];

	(void)state;
	script_init(&s);
	assert_non_null(sandbox_thread_new(&s.sb, &t));
	assert_int_equal(luaL_loadstring(t.L, "while true do end"), LUA_OK);
	assert_int_equal(sandbox_pcall(t.L, 0, 0, err), -1);
	assert_non_null(strstr(err, "instructions"));
	assert_int_equal(script_run(&s, "for i = 1, 5000 do end return 'ran'"), -1);
	sandbox_fini(&s.sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globals__what_reaches_out__is_absent),
		cmocka_unit_test(test_pairs__keys_of_all_kinds__come_in_order),
		cmocka_unit_test(test_pairs__value_removed_on_the_way__is_passed_over),
		cmocka_unit_test(test_pairs__key_without_order__is_an_error),
		cmocka_unit_test(test_tostring__tables_and_functions__show_no_address),
		cmocka_unit_test(test_sort__equal_elements_and_odd_functions__end_and_are_stable),
		cmocka_unit_test(test_budget__endless_loop__ends_with_its_line),
		cmocka_unit_test(test_budget__pcall_around_it__does_not_catch),
		cmocka_unit_test(test_budget__work_in_c__is_charged),
		cmocka_unit_test(test_rep__huge__is_refused_at_once),
		cmocka_unit_test(test_pattern__backtracking__is_refused),
		cmocka_unit_test(test_depth__c_calling_lua_calling_c__is_bounded),
		cmocka_unit_test(test_error__not_a_text__says_so_with_its_line),
		cmocka_unit_test(test_load__compiled_or_long_or_missing__is_refused),
		cmocka_unit_test(test_thread__own_budget_of_depth__shares_work),
	};

	return cmocka_run_group_tests_name("scenario_sandbox", tests, NULL, NULL);
}
