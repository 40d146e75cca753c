// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* Doorbells and the events they cause: cases QD-03 to QD-07 and the table "Registers, doorbells and events". */

static struct rig *up(void)
{
	struct nvme_config cfg = rig_config();

	return rig_up(&cfg);
}

static void post_aer(struct rig *r)
{
	rig_put(r, &r->admin, (struct nvme_sqe){ .opcode = NVME_ADM_AER });
	rig_ring(r, &r->admin);
	rig_run(r, 100 * PS_PER_US);
}

/* DW0 of the AER that has completed; 0: none has. */
static u32 take_aer(struct rig *r)
{
	struct nvme_cqe cqe;

	rig_run(r, 100 * PS_PER_US);
	if (!rig_peek(r, &r->admin, &cqe, true))
		return 0;
	assert_int_equal(rig_status(&cqe), 0);
	return cqe.dw0;
}

static void read_error_log(struct rig *r)
{
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_GET_LOG_PAGE, .nsid = NVME_NSID_ALL,
							 .prp1 = RIG_BUF, .cdw10 = 15 << 16 | NVME_LOG_ERROR }), 0);
}

/* Write @val at @off with one AER waiting: which event comes? */
static u32 event_of(struct rig *r, u64 off, u64 val, unsigned int len)
{
	u32 dw0;

	post_aer(r);
	rig_wr(r, off, val, len);
	dw0 = take_aer(r);
	if (dw0)
		read_error_log(r);
	return dw0;
}

static void abort_waiting(struct rig *r)
{
	struct nvme_cqe cqe;

	/* The AER's own CQE comes before the Abort's. */
	(void)rig_put(r, &r->admin, (struct nvme_sqe){ .opcode = NVME_ADM_ABORT, .cdw10 = (u32)r->next_cid << 16 });
	rig_ring(r, &r->admin);
	rig_run(r, 100 * PS_PER_US);
	assert_true(rig_peek(r, &r->admin, &cqe, true));
	assert_int_equal(rig_status(&cqe), NVME_SC_ABORT_REQUESTED);
	assert_true(rig_peek(r, &r->admin, &cqe, true));
	assert_int_equal(rig_status(&cqe), 0);
	assert_int_equal(cqe.dw0, 0);
}

static void expect_none(struct rig *r, u64 off, u64 val, unsigned int len)
{
	post_aer(r);
	rig_wr(r, off, val, len);
	assert_int_equal(take_aer(r), 0);
	abort_waiting(r);
}

static void test_tail__out_of_range__is_ignored_with_event(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);
	u64 off = rig_doorbell(r, 4, false);

	(void)state;
	assert_int_equal(off, 0x1020);
	assert_int_equal(event_of(r, off, 64, 4), 0x00010100);
	assert_int_equal(event_of(r, off, 0xFFFF, 4), 0x00010100);
	assert_int_equal(event_of(r, off, 0xFFFFFFFF, 4), 0x00010100);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 0);
	/* The upper half is masked: 0x00010001 is 1. */
	rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	rig_wr32(r, off, 0x00010001);
	rig_run(r, PS_PER_MS);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 1);
	rig_free(r);
}

static void test_tail__repeated__event_and_nothing_fetched(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);

	(void)state;
	assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	assert_int_equal(event_of(r, rig_doorbell(r, 4, false), 1, 4), 0x00010100);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 1);
	rig_free(r);
}

static void test_tail__backwards__is_a_count_modulo_size(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 16, 64);

	(void)state;
	for (int i = 0; i < 10; i++)
		assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	rig_wr32(r, rig_doorbell(r, 4, false), 9);
	rig_run(r, 10 * PS_PER_MS);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 10 + 15);
	rig_free(r);
}

static void test_head__beyond_tail_or_repeated__event_and_no_effect(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 32);
	u64 off = rig_doorbell(r, 4, true);
	struct nvme_cqe cqe;

	(void)state;
	for (int i = 0; i < 4; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, PS_PER_MS);
	assert_int_equal(event_of(r, off, 32, 4), 0x00010100);
	assert_int_equal(event_of(r, off, 9, 4), 0x00010100);
	assert_int_equal(event_of(r, off, 0, 4), 0x00010100);
	/* The free count is intact: 31 - 4 more fit, the rest waits for the head. */
	for (int i = 0; i < 40; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, 10 * PS_PER_MS);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 31);
	for (int i = 0; i < 44; i++) {
		rig_run(r, PS_PER_MS);
		assert_true(rig_peek(r, &q, &cqe, true));
	}
	rig_free(r);
}

/* A full CQ whose tail is right below its head: one past the last entry would seem to free one. */
static void test_head__size_of_a_full_queue__event_and_no_effect(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 32);
	struct nvme_cqe cqe;

	(void)state;
	for (int i = 0; i < 31; i++)
		assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	for (int i = 0; i < 31; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, 10 * PS_PER_MS);
	assert_int_equal(event_of(r, rig_doorbell(r, 4, true), 32, 4), 0x00010100);
	for (int i = 0; i < 31; i++)
		assert_true(rig_peek(r, &q, &cqe, true));
	rig_free(r);
}

static void test_doorbell__queue_missing__event_of_register(void **state)
{
	struct rig *r = up();

	(void)state;
	assert_int_equal(event_of(r, 0x11F8, 1, 4), 0x00010000);	/* SQ63, not created */
	assert_int_equal(event_of(r, 0x11FC, 1, 4), 0x00010000);	/* CQ63 */
	assert_int_equal(event_of(r, 0x1208, 1, 4), 0x00010000);	/* past the last doorbell */
	assert_int_equal(event_of(r, 0x1FFC, 1, 4), 0x00010000);
	rig_free(r);
}

static void test_doorbell__odd_access__is_ignored(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);

	(void)state;
	rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	expect_none(r, 0x1021, 1, 1);
	expect_none(r, 0x1022, 1, 2);
	expect_none(r, 0x1020, 1, 2);
	expect_none(r, 0x1020, 0x100000001ULL, 8);
	expect_none(r, 0x1022, 1, 4);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 0);
	assert_int_equal(rig_rd(r, 0x1020, 4), 0);
	rig_ring(r, &q);
	assert_int_equal(rig_rd(r, 0x1020, 4), 0);
	rig_free(r);
}

static void test_doorbell__not_ready__is_ignored(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);

	(void)state;
	rig_wr32(r, 0x1000, 1);
	rig_run(r, PS_PER_MS);
	rig_wr32(r, NVME_REG_AQA, 63 << 16 | 63);
	rig_wr(r, NVME_REG_ASQ, RIG_ASQ, 8);
	rig_wr(r, NVME_REG_ACQ, RIG_ACQ, 8);
	rig_wr32(r, NVME_REG_CC, RIG_CC_ENABLE);
	rig_wr32(r, 0x1000, 1);
	rig_run(r, PS_PER_MS);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
	assert_int_equal(nvme_counters(r->nvme)->sqes_fetched, 0);
	assert_int_equal(nvme_counters(r->nvme)->doorbells_bad, 0);
	rig_free(r);
}

static void test_event__none_waiting__is_not_kept(void **state)
{
	struct rig *r = up();

	(void)state;
	rig_wr32(r, 0x11F8, 1);
	post_aer(r);
	assert_int_equal(take_aer(r), 0);
	rig_free(r);
}

static void test_event__told_once__is_masked_until_log_is_read(void **state)
{
	struct rig *r = up();

	(void)state;
	post_aer(r);
	post_aer(r);
	for (int i = 0; i < 100; i++)
		rig_wr32(r, 0x11F8, 1);
	assert_int_equal(take_aer(r), 0x00010000);
	assert_int_equal(take_aer(r), 0);
	/* With Retain Asynchronous Event the read does not unmask. */
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_GET_LOG_PAGE, .prp1 = RIG_BUF,
							 .cdw10 = 15 << 16 | NVME_LOG_RAE | NVME_LOG_ERROR }), 0);
	rig_wr32(r, 0x11F8, 1);
	assert_int_equal(take_aer(r), 0);
	read_error_log(r);
	rig_wr32(r, 0x11F8, 1);
	assert_int_equal(take_aer(r), 0x00010000);
	rig_free(r);
}

static void test_aer__above_limit__is_refused(void **state)
{
	struct rig *r = up();
	struct nvme_cqe cqe;

	(void)state;
	for (int i = 0; i < 4; i++)	/* AERL = 3 is 0's based */
		post_aer(r);
	assert_false(rig_peek(r, &r->admin, &cqe, false));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_AER }), NVME_SC_AER_LIMIT);
	rig_free(r);
}

static void test_stride__of_a_page__names_queues_by_page(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r;
	struct rig_queue q;

	(void)state;
	cfg.dstrd = 10;
	r = rig_up(&cfg);
	q = rig_pair(r, 1, 64, 64);
	assert_int_equal(rig_doorbell(r, 1, false), 0x3000);
	assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	expect_none(r, 0x3004, 5, 4);	/* between two strides */
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[1], 1);
	rig_free(r);
}

/* CFG-03 b: doorbells begin at 0x1000, which is no multiple of such a stride. */
static void test_stride__above_a_page__counts_from_the_first_doorbell(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r;
	struct rig_queue q;

	(void)state;
	cfg.dstrd = 15;
	r = rig_up(&cfg);
	q = rig_pair(r, 1, 64, 64);
	assert_int_equal(rig_doorbell(r, 1, false), 0x1000 + 2 * 0x20000);
	assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	expect_none(r, 2 * 0x20000, 5, 4);
	rig_free(r);
}

/* LIF-02 */
static void test_fragile_dsm__first_of_256_ranges__is_fatal_once(void **state)
{
	struct nvme_config cfg = rig_config();
	struct nvme_sqe dsm = { .opcode = NVME_CMD_DSM, .nsid = 1, .prp1 = RIG_BUF, .cdw10 = 254, .cdw11 = 4 };
	struct rig_queue q;
	struct rig *r;

	(void)state;
	cfg.fragile_dsm = true;
	cfg.oncs = NVME_ONCS_DSM;
	r = rig_up(&cfg);
	q = rig_pair(r, 4, 64, 64);
	rig_cmd(r, &q, dsm);
	assert_false(rig_rd(r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS);
	dsm.cdw10 = 255;
	rig_put(r, &q, dsm);
	rig_ring(r, &q);
	rig_run(r, RIG_SECOND_PS);
	assert_true(rig_rd(r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS);
	rig_wr32(r, NVME_REG_CC, 0);
	rig_run(r, RIG_SECOND_PS);
	rig_enable(r);
	q = rig_pair(r, 4, 64, 64);
	rig_cmd(r, &q, dsm);
	assert_false(rig_rd(r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS);
	rig_free(r);
}

/* EXH-01 b */
static void test_doorbell__fragile_controller__is_fatal(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_queue q;
	struct rig *r;

	(void)state;
	cfg.fragile_doorbells = true;
	r = rig_up(&cfg);
	q = rig_pair(r, 4, 64, 64);
	rig_wr32(r, rig_doorbell(r, 4, false), 0xFFFF);
	assert_true(rig_rd(r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS);
	rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 0);
	rig_wr32(r, NVME_REG_CC, 0);
	rig_run(r, RIG_SECOND_PS);
	rig_enable(r);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail__out_of_range__is_ignored_with_event),
		cmocka_unit_test(test_tail__repeated__event_and_nothing_fetched),
		cmocka_unit_test(test_tail__backwards__is_a_count_modulo_size),
		cmocka_unit_test(test_head__beyond_tail_or_repeated__event_and_no_effect),
		cmocka_unit_test(test_head__size_of_a_full_queue__event_and_no_effect),
		cmocka_unit_test(test_doorbell__queue_missing__event_of_register),
		cmocka_unit_test(test_doorbell__odd_access__is_ignored),
		cmocka_unit_test(test_doorbell__not_ready__is_ignored),
		cmocka_unit_test(test_event__none_waiting__is_not_kept),
		cmocka_unit_test(test_event__told_once__is_masked_until_log_is_read),
		cmocka_unit_test(test_aer__above_limit__is_refused),
		cmocka_unit_test(test_doorbell__fragile_controller__is_fatal),
		cmocka_unit_test(test_stride__of_a_page__names_queues_by_page),
		cmocka_unit_test(test_stride__above_a_page__counts_from_the_first_doorbell),
		cmocka_unit_test(test_fragile_dsm__first_of_256_ranges__is_fatal_once),
	};

	return cmocka_run_group_tests_name("nvme_doorbell", tests, NULL, NULL);
}
