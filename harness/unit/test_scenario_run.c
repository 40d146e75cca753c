// SPDX-License-Identifier: GPL-2.0
/* Whole runs of small scenarios: headers, verbs, outcomes, judgement by a row, digests. */

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

#define HEAD "scenario { id = \"T\", name = \"t\", tags = { \"benign\" }, vms = baseline() }\n"

static struct run_result result;	/* too large for the stack of a test */
static struct scenario_file file;

static int read_text(const char *text, char err[SCENARIO_ERROR_MAX])
{
	char path[] = "/tmp/test_scenario_run.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	return scenario_read(path, &file, err);
}

/* Read and run variant 0; the file is gone afterwards. */
static void run_text(const char *text, enum liov_policy policy, u64 seed, bool bytes, const struct expected_row *row)
{
	struct scenario_options opt = { .seed = seed, .content_bytes = bytes };
	char err[SCENARIO_ERROR_MAX];

	if (read_text(text, err))
		fail_msg("%s", err);
	scenario_run(&file, 0, policy, &opt, row, &result);
	unlink(file.path);
}

static void expect_ok(const char *body, enum liov_policy policy)
{
	char text[4096];

	snprintf(text, sizeof(text), HEAD "function run(m)\nlocal A, B, C = m:vm('A'), m:vm('B'), m:vm('C')\n%s\nend\n", body);
	run_text(text, policy, 1, false, NULL);
	if (result.outcome != RUN_AS_EXPECTED)
		fail_msg("%s: %s: %s", policy_name(policy), run_outcome_name(result.outcome), result.nr_failures ? result.failure[0].text : "");
}

static void expect_outcome(const char *text, enum run_outcome outcome, const char *place, const char *words)
{
	run_text(text, LIOV_POLICY_PAPER, 1, false, NULL);
	assert_int_equal(result.outcome, outcome);
	assert_true(result.nr_failures > 0);
	if (!strstr(result.failure[0].text, place) || !strstr(result.failure[0].text, words))
		fail_msg("'%s' has no '%s' or no '%s'", result.failure[0].text, place, words);
}

static void expect_unreadable(const char *text, const char *place, const char *words)
{
	char err[SCENARIO_ERROR_MAX];

	assert_int_equal(read_text(text, err), -1);
	unlink(file.path);
	if (!strstr(err, place) || !strstr(err, words))
		fail_msg("'%s' has no '%s' or no '%s'", err, place, words);
}

static void test_read__header_and_variants__are_declared_without_running(void **state)
{
	char err[SCENARIO_ERROR_MAX];

	(void)state;
	assert_int_equal(read_text("scenario { id = 'X-1', name = 'n', attacker = 'guest-user', tags = { 'lba', 'smoke' }, policies = { 'paper', 'nrd' } }\n"
				   "function run(m) error('must not run') end\n"
				   "variant('a', { about = 'first', attacker = 'host-bug', policies = { 'mediated' } }, function(m) end)\n"
				   "variant('mutant', function(m) end)\n", err), 0);
	unlink(file.path);
	assert_string_equal(file.id, "X-1");
	assert_int_equal(file.nr_tags, 2);
	assert_false(file.benign);
	assert_int_equal(file.nr_variants, 3);
	assert_string_equal(file.variant[0].name, "-");
	assert_int_equal(file.variant[0].policies, 1u << LIOV_POLICY_PAPER | 1u << LIOV_POLICY_NRD);
	assert_string_equal(file.variant[1].attacker, "host-bug");
	assert_int_equal(file.variant[1].policies, 1u << LIOV_POLICY_MEDIATED);
	assert_string_equal(file.variant[2].name, "mutant");
	assert_string_equal(file.variant[2].attacker, "guest-user");
}

static void test_read__mistakes__have_place_and_remedy(void **state)
{
	(void)state;
	expect_unreadable("function run(m) end", ":1: ", "no header");
	expect_unreadable("\nscenario { idd = 'x' }\nfunction run(m) end", ":2: ", "it takes: id name");
	expect_unreadable("scenario { id = 'x' }", ":1: ", "nothing to run");
	expect_unreadable("scenario { id = 'x' } scenario { id = 'y' }", ":1: ", "twice");
	expect_unreadable("\n\nscenario { machine = { ssd = { queues = 512 } } }\nfunction run(m) end", ":3: ", "1 to 511");
	expect_unreadable("scenario { machine = { cores = 'many' } }\nfunction run(m) end", ":1: ", "whole number");
	expect_unreadable("scenario { machine = { memory = '1T' } }\nfunction run(m) end", ":1: ", "\"64K\"");
	expect_unreadable("scenario { vms = { { queues = 1 } } }\nfunction run(m) end", ":1: ", "without a name");
	expect_unreadable("scenario { vms = { { name = 'A' }, { name = 'A' } } }\nfunction run(m) end", ":1: ", "two VMs");
	expect_unreadable("scenario { policies = { 'nobody' } }\nfunction run(m) end", ":1: ", "paper, mediated, nrd");
	expect_unreadable("scenario { attacker = 'nobody' }\nfunction run(m) end", ":1: ", "guest-user");
	expect_unreadable("scenario {}\nvariant('a', function() end)\nvariant('a', function() end)", ":3: ", "twice");
	expect_unreadable("scenario {", ":1: ", "expected");
}

/* The baseline of the attack corpus: who has which blocks, queues and memory. */
static void test_baseline__blocks_queues_memory__are_the_corpus_own(void **state)
{
	(void)state;
	expect_ok("expect.equal(B.lba_start, 0x100000) expect.equal(A.lba_start, 0x200000) expect.equal(C.lba_start, 0x300000)\n"
		  "expect.equal(A.lba_count, 0x100000)\n"
		  "expect.equal(B.memory, 0x100000000) expect.equal(A.memory, 0x200000000) expect.equal(C.memory, 0x300000000)\n"
		  "expect.equal(A.memory_len, 1 << 30)\n"
		  "expect.equal(B:queue(1).qid, 2) expect.equal(B:queue(2).qid, 3) expect.equal(A:queue(1).qid, 4)\n"
		  "expect.equal(A:queue(2).qid, 5) expect.equal(C:queue(1).qid, 6)\n"
		  "expect.equal(m.asq_iova, 0x100000)", LIOV_POLICY_PAPER);
}

static void test_io__written_data__is_read_back_under_each_policy(void **state)
{
	int p;

	(void)state;
	for (p = 0; p < LIOV_POLICIES; p++) {
		expect_ok("expect.status(A:write{ slba = 8, blocks = 256, tag = 77 }, '0/0x00')\n"
			  "local st, gpa = A:read{ slba = 8, blocks = 256, queue = 2 }\n"
			  "expect.status(st, '0/0x00') expect.holds(A, gpa, 256 * 512, 77)\n"
			  "expect.true_(m:media_holds(0x200008, 256, 77)) expect.false_(m:media_holds(0x200008, 256, 78))\n"
			  "expect.status(A:compare{ slba = 8, blocks = 2, tag = 77 }, '0/0x00')\n"
			  "expect.status(A:compare{ slba = 8, blocks = 2, tag = 78 }, '2/0x85')\n"
			  "expect.status(A:flush{}, '0/0x00')\n"
			  "expect.status(A:write_zeroes{ slba = 8, blocks = 8 }, '0/0x00')\n"
			  "expect.true_(m:media_holds(0x200008, 8, 0))\n"
			  "expect.status(A:write{ slba = 0, data = ('ab'):rep(256) }, '0/0x00')\n"
			  "expect.equal(m:media_read(0x200000):sub(1, 4), 'abab')\n"
			  "expect.violations(0)", (enum liov_policy)p);
	}
}

static void test_memory__stores__are_loaded(void **state)
{
	(void)state;
	expect_ok("local g = A:alloc(1) A:store64(g, -2) A:store8(g, 0x7F)\n"
		  "expect.equal(A:load32(g), 0xFFFFFF7F) expect.equal(A:load64(g), -129) expect.equal(A:load16(g + 6), 0xFFFF)\n"
		  "A:set_bytes(g, 'hello') expect.equal(A:bytes(g, 5), 'hello') expect.equal(A:peek(g, 5), 'hello')\n"
		  "A:fill(g, 1024, 5) expect.holds(A, g, 1024, 5) expect.true_(A:holds(g + 512, 512, 6)) expect.false_(A:holds(g, 512, 6))", LIOV_POLICY_PAPER);
}

static void test_spawn__actors__run_in_simulated_time(void **state)
{
	(void)state;
	expect_ok("local order = ''\n"
		  "local a = m:spawn(function() m:sleep(us(30)) order = order .. 'c' end)\n"
		  "local b = m:spawn{ vm = B, function() order = order .. 'a' m:sleep(us(10)) order = order .. 'b' end }\n"
		  "a:join() b:join() expect.equal(order, 'abc') expect.at_least(m:now(), us(30))", LIOV_POLICY_PAPER);
}

static void test_workload__verified__counts_what_it_did(void **state)
{
	(void)state;
	expect_ok("local w = A:workload{ depth = 8, blocks = 8, read_percent = 50, requests = 500, span = 1024 }\n"
		  "expect.true_(w:join()) local r = w:result() expect.equal(r.completed, 500) expect.equal(r.wrong, 0)\n"
		  "expect.equal(r.outstanding, 0) expect.at_least(r.p99, r.p50)", LIOV_POLICY_NRD);
}

static void test_outcome__each_end__is_told_apart(void **state)
{
	(void)state;
	expect_outcome(HEAD "function run(m)\nexpect.equal(1, 2)\nend", RUN_DIFFERS, ":3: ", "seen 1, expected 2");
	expect_outcome(HEAD "function run(m)\nlocal x = nil\nx.y = 1\nend", RUN_ERROR, ":4: ", "nil");
	expect_outcome(HEAD "function run(m)\nwhile true do end\nend", RUN_ERROR, ":3: ", "instructions");
	expect_outcome(HEAD "function run(m)\nm:sleep(s(31))\nend", RUN_HUNG, ":1: ", "has not ended");
	expect_outcome("scenario { limit = { events = 3000 }, vms = baseline() }\nfunction run(m) while true do m:sleep(1) end end", RUN_HUNG, ":1: ", "bound on events");
	expect_outcome(HEAD "function run(m)\nm:vm('A'):read{ sbla = 1 }\nend", RUN_ERROR, ":3: ", "it takes: slba");
	expect_outcome(HEAD "function run(m)\nm:vm('A'):reed{}\nend", RUN_ERROR, ":3: ", " read ");
	expect_outcome(HEAD "function run(m)\nm:vm('A'):kill() m:vm('A'):read{}\nend", RUN_ERROR, ":3: ", "is gone");
	expect_outcome(HEAD "function run(m)\nm:spawn(function() error('actor') end) m:sleep(us(1))\nend", RUN_ERROR, ":3: ", "actor");
	expect_outcome("scenario { vms = { { name = 'A', lbas = 1 << 40 } } } function run(m) end", RUN_ERROR, ":1: ", "ENOSPC");
}

static void test_failures__of_one_run__are_all_kept(void **state)
{
	(void)state;
	run_text(HEAD "function run(m)\nexpect.equal(1, 2)\nexpect.true_(false)\nexpect.at_least(1, 2)\nend", LIOV_POLICY_PAPER, 1, false, NULL);
	assert_int_equal(result.nr_failures, 3);
}

#define LBA01 "scenario { id = 'LBA-01', vms = baseline() }\nfunction run(m)\nlocal A, B = m:vm('A'), m:vm('B')\n" \
	"B:write{ slba = 0, blocks = 8, tag = 9 }\nlocal p = A:alloc(1)\n" \
	"attack(A, function() A:raw{ opcode = 2, slba = B.lba_start, nlb = 7, prp1 = p }:wait() end)\nend"

static struct expected_row row(enum verdict_kind kind, enum verdict_component c, const char *code)
{
	struct expected_row r = { .id = "LBA-01", .variant = "-", .verdict = kind, .component = c, .bound = "-", .why = "test" };

	strcpy(r.code, code);
	return r;
}

static void test_judgement__by_a_row__takes_verdict_component_and_code(void **state)
{
	struct expected_row right = row(VERDICT_CONTAINED, COMPONENT_CONTROLLER, "nvme:0/0x80"), verdict = row(VERDICT_ESCAPED, COMPONENT_NONE, "-"),
			    component = row(VERDICT_CONTAINED, COMPONENT_MEDIATOR, "nvme:0/0x80"), code = row(VERDICT_CONTAINED, COMPONENT_CONTROLLER, "nvme:0/0x04"),
			    bound = right;

	(void)state;
	strcpy(bound.bound, "b.share<=1");
	run_text(LBA01, LIOV_POLICY_NRD, 1, false, &right);
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
	run_text(LBA01, LIOV_POLICY_NRD, 1, false, &verdict);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	run_text(LBA01, LIOV_POLICY_NRD, 1, false, &component);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	run_text(LBA01, LIOV_POLICY_NRD, 1, false, &code);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	run_text(LBA01, LIOV_POLICY_NRD, 1, false, &bound);
	assert_int_equal(result.outcome, RUN_DIFFERS);
	run_text(LBA01, LIOV_POLICY_NRD, 1, false, NULL);
	assert_int_equal(result.outcome, RUN_EXPLORED);
}

static void test_judgement__escape__names_victim_and_chain(void **state)
{
	struct expected_row escaped = row(VERDICT_ESCAPED, COMPONENT_NONE, "nvme:0/0x00");
	bool sqe = false;
	u32 i;

	(void)state;
	run_text(LBA01, LIOV_POLICY_PAPER, 1, false, &escaped);
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
	assert_string_equal(result.victim, "B");
	assert_int_equal(result.nr_violations, 1);
	assert_string_equal(result.violation[0].claim, "lba");
	/* The command that did it is queue 4's, and its SQE is shown: opcode 2, slba 0x100000 in dword 10. */
	assert_int_equal(result.chain_io_id >> 48, 4);
	for (i = 0; i < result.nr_chain; i++)
		if (strstr(result.chain[i], "sqe:") && strstr(result.chain[i], " 00100000 00000000 00000007"))
			sqe = true;
	assert_true(sqe);
}

static void test_digest__same_run__is_the_same_whatever_holds_the_content(void **state)
{
	static const char text[] = HEAD "function run(m)\nlocal w = m:vm('A'):workload{ depth = 4, read_percent = 50, requests = 200, span = 512 } w:join()\n"
				   "m:vm('B'):write{ slba = rng.below(64), tag = 3 }\nend";
	char first[33];

	(void)state;
	run_text(text, LIOV_POLICY_PAPER, 1, false, NULL);
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
	strcpy(first, result.digest);
	assert_int_equal(strlen(first), 32);
	run_text(text, LIOV_POLICY_PAPER, 1, false, NULL);
	assert_string_equal(result.digest, first);
	run_text(text, LIOV_POLICY_PAPER, 1, true, NULL);
	assert_string_equal(result.digest, first);
	run_text(text, LIOV_POLICY_PAPER, 2, false, NULL);
	assert_string_not_equal(result.digest, first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read__header_and_variants__are_declared_without_running),
		cmocka_unit_test(test_read__mistakes__have_place_and_remedy),
		cmocka_unit_test(test_baseline__blocks_queues_memory__are_the_corpus_own),
		cmocka_unit_test(test_io__written_data__is_read_back_under_each_policy),
		cmocka_unit_test(test_memory__stores__are_loaded),
		cmocka_unit_test(test_spawn__actors__run_in_simulated_time),
		cmocka_unit_test(test_workload__verified__counts_what_it_did),
		cmocka_unit_test(test_outcome__each_end__is_told_apart),
		cmocka_unit_test(test_failures__of_one_run__are_all_kept),
		cmocka_unit_test(test_judgement__by_a_row__takes_verdict_component_and_code),
		cmocka_unit_test(test_judgement__escape__names_victim_and_chain),
		cmocka_unit_test(test_digest__same_run__is_the_same_whatever_holds_the_content),
	};

	return cmocka_run_group_tests_name("scenario_run", tests, NULL, NULL);
}
