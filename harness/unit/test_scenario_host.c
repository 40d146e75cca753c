// SPDX-License-Identifier: GPL-2.0
/* The verbs of a host with a bug: what they do to the machine, and what they refuse. */

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

static struct run_result result;	/* too large for the stack of a test */
static struct scenario_file file;

static void run_body(const char *machine, const char *body)
{
	struct scenario_options opt = { .seed = 1 };
	char path[] = "/tmp/test_scenario_host.XXXXXX", err[SCENARIO_ERROR_MAX];
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fprintf(f, "scenario { id = 'T', tags = { 'benign' }, machine = { %s }, vms = baseline() }\n"
		   "function run(m)\nlocal A, B, C = m:vm('A'), m:vm('B'), m:vm('C')\n%s\nend\n", machine, body);
	fclose(f);
	if (scenario_read(path, &file, err))
		fail_msg("%s", err);
	scenario_run(&file, 0, LIOV_POLICY_PAPER, &opt, NULL, &result);
	unlink(path);
}

static void expect_ok(const char *body)
{
	run_body("", body);
	if (result.outcome != RUN_AS_EXPECTED)
		fail_msg("%s: %s", run_outcome_name(result.outcome), result.nr_failures ? result.failure[0].text : "");
}

static void expect_mistake(const char *body, const char *words)
{
	run_body("", body);
	assert_int_equal(result.outcome, RUN_ERROR);
	if (!strstr(result.failure[0].text, words))
		fail_msg("'%s' has no '%s'", result.failure[0].text, words);
}

static void test_irte__edited__keeps_what_was_not_named(void **state)
{
	(void)state;
	expect_ok("local lo, hi = m:irte_read(0x12)\n"
		  "expect.equal(hi & 0xFFFFF, 0x40100, 'SVT = 1, SQ = 0, SID = 01:00.0')\n"
		  "m:irte { index = 0x12, edit = true, svt = 0, lo = 1 << 12 }\n"
		  "local lo2, hi2 = m:irte_read(0x12)\n"
		  "expect.equal(lo2, lo | 1 << 12) expect.equal(hi2, hi & ~(3 << 18))");
}

static void test_plug__at_frames__takes_them_if_they_are_free(void **state)
{
	(void)state;
	expect_ok("local at, frame = B.memory + B.memory_len, m:frame(A, 0x200050000)\n"
		  "A:store32(0x200050000, 7)\n"
		  "A:unregister_memory(0x200050000, 4096) m:balloon(A, 0x200050000, 4096)\n"
		  "m:plug(B, at, 4096, frame)\n"
		  "expect.equal(m:frame(B, at), frame) expect.equal(B:load32(at), 0, 'zeroed')");
	expect_mistake("m:plug(B, B.memory + B.memory_len, 4096, m:frame(A, A.memory))", "EBUSY");
}

static void test_iommu_entry__by_hand__is_what_the_unit_finds(void **state)
{
	(void)state;
	expect_ok("local page, other = A:alloc(1), A:alloc(1)\n"
		  "m:iommu_entry { iova = page, hpa = m:frame(A, other) }\n"
		  "expect.different(m:iommu_table(page), 0)\n"
		  "A:fill(other, 4096, 0xA00) A:write { slba = 0, blocks = 8, from = page }\n"
		  "expect.true_(m:media_holds(A.lba_start, 8, 0xA00))\n"
		  "m:iommu_entry { iova = page, hpa = m:frame(A, page), read = false }\n"
		  "expect.equal(A:raw { opcode = 1, slba = A.lba_base, nlb = 7, prp1 = page }:wait(), '0/0x04')\n"
		  "local n, lost = m:iommu_faults()\n"
		  "expect.equal(n, 1) expect.false_(lost) expect.equal(m:iommu_faults(), 0)");
}

static void test_iommu_entry__of_a_table__leads_on(void **state)
{
	(void)state;
	expect_ok("local page, there, leaf = A:alloc(1), 0x1000000000, 0x1040000000\n"
		  "A:fill(page, 4096, 0xA00)\n"
		  "m:iommu_entry { iova = there, level = 3, leaf = false, hpa = m:iommu_table(A.memory, 2) }\n"
		  "expect.equal(m:iommu_table(there, 2), m:iommu_table(A.memory, 2))\n"
		  "expect.equal(m:iommu_table(there, 3), m:iommu_table(A.memory, 3))\n"
		  "expect.status(A:raw { opcode = 1, slba = A.lba_base, nlb = 7, prp1 = there + page - A.memory }:wait(), '0/0x00')\n"
		  "expect.true_(m:media_holds(A.lba_start, 8, 0xA00))\n"
		  "m:iommu_entry { iova = leaf, level = 3, hpa = m:frame(A, A.memory) }\n"
		  "expect.status(A:raw { opcode = 1, slba = A.lba_base + 8, nlb = 7, prp1 = leaf + page - A.memory }:wait(), '0/0x00')\n"
		  "expect.true_(m:media_holds(A.lba_start + 8, 8, 0xA00))");
	expect_mistake("m:iommu_table(A.memory)", "none of level 1");
	expect_mistake("m:iommu_table(A.memory, 4)", "1 to 3");
}

static void test_iommu_queue__stopped__goes_on(void **state)
{
	(void)state;
	expect_ok("expect.true_(m:iommu_descriptor(15, 0)) expect.true_(m:iommu_tail(300 * 16))\n"
		  "expect.false_(m:iommu_descriptor(5, 0))\n"
		  "expect.status(A:unregister_memory(0x200050000, 4096), '0/0x00')");
}

static void test_migrate__free_core__takes_interrupts_along(void **state)
{
	(void)state;
	expect_ok("B:migrate(0, 9) expect.status(B:write { slba = 0, blocks = 8, tag = 1 }, '0/0x00')\n"
		  "local D = m:create_vm { name = 'D' }\n"
		  "expect.status(D:write { slba = 0, blocks = 8, tag = 2 }, '0/0x00')");
	expect_mistake("B:migrate(0, 1)", "another vCPU's");
	expect_mistake("B:migrate(0, 16)", "there are 16");
}

static void test_function__added__has_its_own_id(void **state)
{
	(void)state;
	expect_ok("local fn = m:add_function { rid = 0x0200, vm = A }\n"
		  "expect.equal(fn.bar0, 0xD0000000) expect.equal(fn:read32(0x1000), nil, 'it has no context')\n"
		  "expect.at_least(m:iommu_faults(), 1)");
	expect_mistake("m:add_function { rid = 0x0100, vm = A }", "taken");
}

static void test_physical__registers_and_vectors__are_seen(void **state)
{
	(void)state;
	expect_ok("expect.equal(m:ssd_reg(0x1C) & 1, 1, 'ready') expect.equal(m:ssd_config(8) >> 8, 0x010802)\n"
		  "local addr, data, masked = m:msix(2)\n"
		  "expect.equal(addr, 0xFEE00250) expect.equal(data, 0) expect.false_(masked)");
}

static void test_plant__a_check_by_name__is_left_out_for_this_run_only(void **state)
{
	static const char own_bar[] = "expect.equal(A:raw { opcode = 2, slba = A.lba_base, prp1 = m.bar0 + 0x1000 }:wait(), '0/0x04')";

	(void)state;
	expect_ok(own_bar);
	/* Past that check the IOMMU stops it, and a posted write tells nobody. */
	expect_ok("m:plant('controller_own_bar')\n"
		  "expect.equal(A:raw { opcode = 2, slba = A.lba_base, prp1 = m.bar0 + 0x1000 }:wait(), '0/0x00')");
	expect_ok(own_bar);
	expect_mistake("m:plant('nonsense')", "no 'nonsense'");
}

static void test_fault__no_vector__leaves_nothing_taken(void **state)
{
	(void)state;
	expect_ok("local D, why = m:create_vm { name = 'D', start = false }\n"
		  "D:kill()\n"
		  "local before = m:counters()\n"
		  "m:fault { kind = 'no_memory', what = 'vector' }\n"
		  "D, why = m:create_vm { name = 'D', start = false }\n"
		  "expect.equal(D, nil) expect.equal(why, 'ENOMEM') expect.equal(m:fault_hits('no_memory'), 1)\n"
		  "local after = m:counters()\n"
		  "for _, what in ipairs { 'queues_taken', 'vectors_taken', 'pages_mapped', 'pages_free' } do\n"
		  "expect.equal(after[what], before[what], what) end\n"
		  "D = m:create_vm { name = 'D', start = false }\n"
		  "after = m:counters()\n"
		  "expect.equal(after.queues_taken, before.queues_taken + 1) expect.equal(after.vectors_taken, before.vectors_taken + 1)\n"
		  "expect.equal(after.pages_mapped, before.pages_mapped + 20, 'an SQ of 16 pages, a CQ of 4')\n"
		  "expect.at_most(after.pages_free, before.pages_free - (1 << 18), 'its memory is 1 GiB')");
	expect_mistake("m:fault { kind = 'no_memory', what = 'list' }", "there is vector");
}

static void test_ram__dma__is_r_w_or_both(void **state)
{
	(void)state;
	run_body("iommu = { fault_interrupts = true }", "A:raw { opcode = 2, slba = A.lba_base, prp1 = 0x7FFFFFFFF000 }:wait()\n"
							"m:sleep(ms(1)) expect.equal(m:counters().faults_read, 1)");
	assert_int_equal(result.outcome, RUN_AS_EXPECTED);
	expect_mistake("m:create_vm { name = 'D', ram = { { gpa = 1 << 35, memory = '1M', dma = 'x' } } }", "\"rw\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_irte__edited__keeps_what_was_not_named),
		cmocka_unit_test(test_plug__at_frames__takes_them_if_they_are_free),
		cmocka_unit_test(test_iommu_entry__by_hand__is_what_the_unit_finds),
		cmocka_unit_test(test_iommu_entry__of_a_table__leads_on),
		cmocka_unit_test(test_iommu_queue__stopped__goes_on),
		cmocka_unit_test(test_migrate__free_core__takes_interrupts_along),
		cmocka_unit_test(test_function__added__has_its_own_id),
		cmocka_unit_test(test_physical__registers_and_vectors__are_seen),
		cmocka_unit_test(test_plant__a_check_by_name__is_left_out_for_this_run_only),
		cmocka_unit_test(test_fault__no_vector__leaves_nothing_taken),
		cmocka_unit_test(test_ram__dma__is_r_w_or_both),
	};

	return cmocka_run_group_tests_name("scenario_host", tests, NULL, NULL);
}
