// SPDX-License-Identifier: GPL-2.0
/* The table of expected verdicts: what is malformed is refused with its line; codes and bounds mean what expected.md says. */

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

#define HEADER "case\tvariant\tattacker\tpolicy\tverdict\tcomponent\tcode\tbound\twhy\n"
#define ROW "LBA-01\t-\tguest-kernel\tpaper\tESCAPED\t-\tnvme:0/0x00\t-\tbecause\n"

static int read_text(const char *text, struct expected_table *t, char err[SCENARIO_ERROR_MAX])
{
	char path[] = "/tmp/test_scenario_expected.XXXXXX";
	int fd = mkstemp(path), ret;
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	ret = expected_read(path, t, err, SCENARIO_ERROR_MAX);
	unlink(path);
	return ret;
}

static void expect_refused(const char *text, u32 line, const char *words)
{
	struct expected_table t;
	char err[SCENARIO_ERROR_MAX], place[16];

	snprintf(place, sizeof(place), ":%u: ", line);
	assert_int_equal(read_text(text, &t, err), -1);
	if (!strstr(err, place) || !strstr(err, words))
		fail_msg("'%s' has no '%s' or no '%s'", err, place, words);
}

static void test_read__well_formed__finds_rows(void **state)
{
	struct expected_table t;
	char err[SCENARIO_ERROR_MAX];
	const struct expected_row *r;

	(void)state;
	assert_int_equal(read_text(HEADER ROW "LBA-01\t-\tguest-kernel\tnrd\tcontained\tcontroller\tnvme:0/0x80\t-\tx\n", &t, err), 0);
	assert_int_equal(t.nr, 2);
	r = expected_find(&t, "LBA-01", "-", "nrd");
	assert_non_null(r);
	assert_int_equal(r->verdict, VERDICT_CONTAINED);
	assert_int_equal(r->component, COMPONENT_CONTROLLER);
	assert_int_equal(r->line, 3);
	assert_null(expected_find(&t, "LBA-01", "a", "nrd"));
	assert_null(expected_find(&t, "LBA-01", "-", "mediated"));
	assert_true(expected_knows(&t, "LBA-01"));
	assert_false(expected_knows(&t, "LBA-02"));
	expected_free(&t);
}

static void test_read__malformed__says_line_and_what_is_right(void **state)
{
	(void)state;
	expect_refused("", 1, "name the columns");
	expect_refused("case\tvariant\n" ROW, 1, "name the columns");
	expect_refused(HEADER ROW "LBA-02\t-\tguest-kernel\tpaper\tESCAPED\t-\t-\t-\n", 3, "9, separated");
	expect_refused(HEADER "LBA-02\t-\tg\tpaper\tESCAPED\t-\t-\t-\tx\ty\n", 2, "9, separated");
	expect_refused(HEADER ROW ROW, 3, "earlier line");
	expect_refused(HEADER "LBA-02\t-\tg\tpeper\tESCAPED\t-\t-\t-\tx\n", 2, "policy");
	expect_refused(HEADER "LBA-02\t-\tg\tpaper\tescaped\t-\t-\t-\tx\n", 2, "verdict");
	expect_refused(HEADER "LBA-02\t-\tg\tpaper\tcontained\tguest\t-\t-\tx\n", 2, "component");
	expect_refused(HEADER "LBA-02\t-\tg\tpaper\tESCAPED\t-\tnvme\t-\tx\n", 2, "code");
	expect_refused(HEADER "LBA-02\t-\tg\tpaper\tESCAPED\t-\tnvme:0/0x00+\t-\tx\n", 2, "code");
	expect_refused(HEADER "LBA-02\t-\tg\tpaper\tDEGRADED\t-\t-\tb.share<0.5\tx\n", 2, "bound");
	expect_refused(HEADER "LBA-02\t\tg\tpaper\tESCAPED\t-\t-\t-\tx\n", 2, "empty");
	expect_refused(HEADER "LBA-02-is-a-name-that-is-too-long\t-\tg\tpaper\tESCAPED\t-\t-\t-\tx\n", 2, "too long");
}

static struct verdict seen(const char *a, const char *b)
{
	struct verdict v = { .nr_codes = 0 };

	if (a)
		strcpy(v.code[v.nr_codes++], a);
	if (b)
		strcpy(v.code[v.nr_codes++], b);
	return v;
}

static void test_codes__plus_binds_tighter_than_bar(void **state)
{
	struct verdict none = seen(NULL, NULL), one = seen("vtd:0x86", NULL), two = seen("nvme:0/0x04", "vtd:0x86"), other = seen("ept:violation-w", NULL);

	(void)state;
	assert_true(expected_codes_hold("-", &none));
	assert_false(expected_codes_hold("vtd:0x86", &none));
	assert_true(expected_codes_hold("vtd:0x86", &one));
	assert_false(expected_codes_hold("vtd:0x8", &one));
	assert_false(expected_codes_hold("vtd:0x86+nvme:0/0x04", &one));
	assert_true(expected_codes_hold("vtd:0x86+nvme:0/0x04", &two));
	assert_true(expected_codes_hold("vtd:0x86+nvme:0/0x04|ept:violation-w", &other));
	assert_false(expected_codes_hold("vtd:0x86|ept:violation-r+nvme:0/0x00", &other));
	assert_true(expected_codes_hold("ept:violation-r|ept:violation-w", &other));
}

static bool bound(const char *text, s64 share, s64 slowdown)
{
	struct run_measure m[3] = { { "b.share", share }, { "b.p99_slowdown", slowdown }, { "weight", 500000 } };
	char why[200];

	return expected_bound_holds(text, m, 3, false, why, sizeof(why));
}

static void test_bound__each_form__holds_to_its_edges(void **state)
{
	(void)state;
	assert_true(bound("-", 0, 0));
	assert_true(bound("b.share=0.111+-10%", 111000, 0));
	assert_true(bound("b.share=0.111+-10%", 122100, 0));
	assert_false(bound("b.share=0.111+-10%", 122101, 0));
	assert_true(bound("b.share=0.111+-10%", 99900, 0));
	assert_false(bound("b.share=0.111+-10%", 99899, 0));
	assert_true(bound("b.p99_slowdown 1.2..50", 0, 1200000));
	assert_true(bound("b.p99_slowdown 1.2..50", 0, 50000000));
	assert_false(bound("b.p99_slowdown 1.2..50", 0, 50000001));
	assert_false(bound("b.p99_slowdown 1.2..50", 0, 1199999));
	assert_true(bound("b.share>=0.9*weight", 450000, 0));
	assert_false(bound("b.share>=0.9*weight", 449999, 0));
	assert_true(bound("b.p99_slowdown<=3", 0, 3000000));
	assert_false(bound("b.p99_slowdown<=3", 0, 3000001));
	assert_true(bound("b.share>=0.9*weight; b.p99_slowdown<=3", 450000, 3000000));
	assert_false(bound("b.share>=0.9*weight; b.p99_slowdown<=3", 450000, 4000000));
	assert_false(bound("b.share>=0.9*weight; b.p99_slowdown<=3", 0, 3000000));
	assert_true(bound("b.share=0", 0, 0));
	assert_false(bound("b.share=0", 1, 0));
}

static bool said(const char *text, bool mutant, s64 leaks, s64 claim)
{
	struct run_measure m[3] = { { "irte, vector leaks", leaks }, { "events bounded", claim }, { "one walk", 2000000 } };
	char why[200];

	return expected_bound_holds(text, m, 3, mutant, why, sizeof(why));
}

static void test_bound__words__are_names_units_and_claims(void **state)
{
	(void)state;
	assert_true(said("irte, vector leaks=0 after 10000 cycles", false, 0, 0));
	assert_false(said("irte, vector leaks=0 after 10000 cycles", false, 1, 0));
	assert_true(said("irte, vector leaks<=100/s; events bounded", false, 100000000, 1000000));
	assert_false(said("irte, vector leaks<=100/s; events bounded", false, 100000000, 0));
	assert_false(said("irte, vector leaks<=100/s; events counted", false, 0, 1000000));
	assert_true(said("irte, vector leaks<=one walk", false, 2000000, 0));
	assert_false(said("irte, vector leaks<=one walk", false, 2000001, 0));
	assert_true(said("irte, vector leaks=no", false, 0, 0));
	assert_false(said("irte, vector leaks=no", false, 1000000, 0));
	assert_true(said("irte, vector leaks>0 and <=20 (unit)", false, 20000000, 0));
	assert_false(said("irte, vector leaks>0 and <=20 (unit)", false, 0, 0));
	assert_false(said("irte, vector leaks>0 and <=20 (unit)", false, 20000001, 0));
}

static void test_bound__of_a_mutant__is_broken(void **state)
{
	(void)state;
	assert_true(said("irte, vector leaks=0; mutant: >=2 (found)", false, 0, 0));
	assert_false(said("irte, vector leaks=0; mutant: >=2 (found)", true, 0, 0));
	assert_false(said("irte, vector leaks=0; mutant: >=2 (found)", true, 1000000, 0));
	assert_true(said("irte, vector leaks=0; mutant: >=2 (found)", true, 2000000, 0));
	assert_true(said("irte, vector leaks<=64 then error; mutant: more", true, 65000000, 0));
	assert_false(said("irte, vector leaks<=64 then error; mutant: more", true, 64000000, 0));
	assert_true(said("irte, vector leaks=0; mutant: events bounded", true, 1, 1000000));
	assert_false(said("irte, vector leaks=0; mutant: events bounded", true, 1, 0));
	assert_true(said("irte, vector leaks=0", true, 0, 0));
}

static void test_bound__not_measured__does_not_hold_and_says_so(void **state)
{
	char why[200];

	(void)state;
	assert_false(expected_bound_holds("b.share<=3", NULL, 0, false, why, sizeof(why)));
	assert_non_null(strstr(why, "b.share was not measured"));
	assert_false(bound("b.share>=0.9*nothing", 1, 1));
}

static void test_bound__other_forms__do_not_parse(void **state)
{
	static const char *const wrong[] = { "", "b.share", "b.share<3", "b.share<=", "b.share>=1 and >=2", "b.share<=2 and <=3", "a b..", "mutant: 5", "b.share 1..", "b.share=1+-", "b.share=1+-5", "=3", "3<=b.share",
					     "b.share<=3;", "b.share<=3 b.x<=4", "b.share<=1.0000001", "b.share<=99999999999" };
	char why[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (expected_bound_parses(wrong[i], why, sizeof(why)))
			fail_msg("'%s' parses", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read__well_formed__finds_rows),
		cmocka_unit_test(test_read__malformed__says_line_and_what_is_right),
		cmocka_unit_test(test_codes__plus_binds_tighter_than_bar),
		cmocka_unit_test(test_bound__each_form__holds_to_its_edges),
		cmocka_unit_test(test_bound__words__are_names_units_and_claims),
		cmocka_unit_test(test_bound__of_a_mutant__is_broken),
		cmocka_unit_test(test_bound__not_measured__does_not_hold_and_says_so),
		cmocka_unit_test(test_bound__other_forms__do_not_parse),
	};

	return cmocka_run_group_tests_name("scenario_expected", tests, NULL, NULL);
}
