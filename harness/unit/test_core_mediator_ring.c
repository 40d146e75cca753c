// SPDX-License-Identifier: GPL-2.0
/* The mediator's rings: doorbells, completions, turns, and the end of queues and of the controller. */

#include "core_mediator_rig.h"

/* --- doorbells --- */

static u32 next_event(void)
{
	struct nvme_cqe cqe;

	rig_admin((struct nvme_sqe){ .opcode = 2, .cdw10 = 1 | 15 << 16, .prp1 = DATA }, NULL);
	rig_admin_put(&(struct nvme_sqe){ .opcode = 0xC, .cid = 1 });
	rig_admin_ring();
	return rig_admin_get(&cqe) ? cqe.dw0 : 0;
}

/* QD-03 to QD-06, EXH-01 */
static void test_doorbell__bad_value_or_queue__is_a_virtual_event(void **state)
{
	(void)state;
	wr32(0x1008, 64);
	assert_int_equal(next_event(), 0x00010100);
	wr32(0x1008, 0xFFFFFFFF);
	assert_int_equal(next_event(), 0x00010100);
	wr32(0x1008, 0);
	assert_int_equal(next_event(), 0x00010100);
	wr32(0x100C, 1);		/* nothing posted */
	assert_int_equal(next_event(), 0x00010100);
	wr32(0x1010, 1);
	assert_int_equal(next_event(), 0x00010000);
	wr32(0x11F8, 1);
	assert_int_equal(next_event(), 0x00010000);
	wr32(0x1FFC, 1);
	assert_int_equal(next_event(), 0x00010000);
	assert_int_equal(rig->deny.component, LIOV_MEDIATOR);
	assert_int_equal(rig->hw.nr, 0);
	rig->guard.code = 0;
	put(1, &(struct nvme_sqe){ .opcode = 0x7F });
	ring(1);
	assert_int_equal(rig->guard.code, LIOV_GUARD_OWN_QUEUE);
	assert_int_equal(rig->guard.component, LIOV_MEDIATOR);
}

/* QD-05 b, EXH-09: size - 1 stale SQEs, all zero: Flush of namespace 0. Each is checked. */
static void test_doorbell__backwards__is_a_full_ring(void **state)
{
	struct nvme_cqe cqe;
	u32 n = 0;

	(void)state;
	put(1, &(struct nvme_sqe){ .opcode = 0x7F });
	ring(1);
	assert_true(get(1, &cqe));
	consume(1);
	memset(place(1, 0), 0, 64);
	wr32(0x1008, 0);
	while (get(1, &cqe)) {
		assert_int_equal(status_of_cqe(&cqe), 0x0B | DNR);
		assert_int_equal(cqe.sqhd, (n + 2) % ENTRIES);
		n++;
	}
	assert_int_equal(n, 63);
}

/* QD-11, QOS-05 */
static void test_cq__of_two__has_one_command_at_a_time(void **state)
{
	struct nvme_sqe sqe = rw(2, 0, 7, BUF, 0);
	struct nvme_cqe cqe;
	u32 i;

	(void)state;
	create_pair(2, ENTRIES, 2, false);
	for (i = 0; i < 20; i++) {
		sqe.cid = (u16)i;
		put(2, &sqe);
	}
	ring(2);
	for (i = 0; i < 20; i++) {
		assert_int_equal(rig->hw.nr, i + 1);
		assert_false(get(2, &cqe));
		answer(i, 0);
		run_work();
		assert_int_equal(rig->hw.nr, i + 1);
		assert_true(get(2, &cqe));
		assert_int_equal(cqe.cid, i);
		assert_int_equal(cqe.sqhd, i + 1);
		consume(2);
	}
}

/* An unmodified driver's queues: completions are written in process context. */
static void test_queue__in_guest_memory__is_served_by_work(void **state)
{
	struct nvme_sqe sqe = rw(2, 0, 7, BUF, 0);
	struct nvme_cqe cqe;
	u32 i;

	(void)state;
	create_pair(3, ENTRIES, 3, true);
	assert_int_equal(liov_mediator_page(&rig->vm, 2, 0).kind, LIOV_PAGE_NONE);
	for (i = 0; i < 10; i++) {
		sqe.cid = (u16)i;
		put(3, &sqe);
		ring(3);
		answer(i, 0);
		assert_false(get(3, &cqe));
		run_work();
		assert_true(get(3, &cqe));
		assert_int_equal(cqe.cid, i);
		consume(3);
	}
	assert_int_equal(rig_create_cq_at(2, 64, 0x100000000, 3), 0x04 | DNR);
	assert_int_equal(rig_create_cq_at(2, 64, rig_slot(1) + 0x10000, 3), 0x12 | DNR);
}

/* QD-12, LIF-06: ids are the mediator's; an answer comes once, to whom it belongs. */
static void test_completion__wrong_or_twice__is_ignored(void **state)
{
	struct nvme_sqe sqe = rw(2, 0, 7, BUF, 0);
	struct nvme_cqe cqe;

	(void)state;
	put(1, &sqe);
	put(1, &sqe);
	ring(1);
	assert_int_not_equal(rig->hw.sqe[0].cid, rig->hw.sqe[1].cid);
	complete(999, 0);
	complete(0xFFFF, 0);
	complete(HW_DEPTH - 1, 0);		/* one past the last tag */
	complete(30, 0);			/* a tag that nobody has */
	assert_false(get(1, &cqe));
	answer(1, 0);
	assert_true(get(1, &cqe));
	answer(1, 0);
	assert_false(get(1, &cqe));
	answer(0, 0);
	assert_true(get(1, &cqe));
	answer(0, 0);
	assert_false(get(1, &cqe));
}

/* One hardware queue answers for all: in any order, each completion finds the virtual queue its command came from. */
static void test_completion__of_several_queues__each_to_its_own(void **state)
{
	struct nvme_sqe sqe = rw(2, 0, 7, BUF, 0);
	struct nvme_cqe cqe;
	u32 qid;

	(void)state;
	create_pair(2, ENTRIES, ENTRIES, false);
	create_pair(3, ENTRIES, ENTRIES, false);
	for (qid = 1; qid <= 3; qid++) {
		sqe.cid = (u16)(0x50 + qid);
		put(qid, &sqe);
		ring(qid);
	}
	for (qid = 3; qid >= 1; qid--) {
		u32 other;

		answer(qid - 1, 0x281);
		for (other = 1; other < qid; other++)
			assert_false(get(other, &cqe));
		assert_true(get(qid, &cqe));
		assert_int_equal(cqe.cid, 0x50 + qid);
		assert_int_equal(cqe.sqid, qid);
		assert_int_equal(status_of_cqe(&cqe), 0x281);
		answer(qid - 1, 0);
		for (other = 1; other <= 3; other++)
			assert_false(get(other, &cqe));
	}
}

/* QOS-02, QOS-03: a unit a millisecond, ten of them at once. */
static void test_rate__work_started__is_paid_for_before_more(void **state)
{
	u32 i;

	(void)state;
	rig->vm.med->work_unit_ns = 1000000;
	for (i = 0; i < 20; i++) {
		struct nvme_sqe sqe = rw(2, 8 * i, 7, BUF, 0);

		put(1, &sqe);
	}
	ring(1);
	assert_int_equal(rig->hw.nr, 11);
	assert_non_null(rig->timer);
	assert_int_equal(rig->timer_ns - rig->now_ns, 1000000);
	rig->now_ns += 5000000;
	liov_mediator_work_timer(rig->vm.med);
	run_work();
	assert_int_equal(rig->hw.nr, 16);
	rig->vm.med->work_unit_ns = 0;
	liov_mediator_work_timer(rig->vm.med);
	run_work();
	assert_int_equal(rig->hw.nr, 20);
	for (i = 0; i < 20; i++)
		answer(i, 0);
}

/* QOS-01, QOS-02: the budget is the VM's, and its queues take turns. */
static void test_budget__many_queues__share_one(void **state)
{
	struct nvme_sqe big = rw(2, 0, 63, BUF, LIST);
	u32 i, qid, sent_now, sent_of[4] = { 0 };
	u64 *list = ram(LIST);

	(void)state;
	create_pair(2, ENTRIES, ENTRIES, false);
	create_pair(3, ENTRIES, ENTRIES, false);
	for (i = 0; i < 60; i++) {
		for (qid = 1; qid <= 3; qid++) {
			struct nvme_sqe sqe = rw(2, block_of(qid), 7, BUF, 0);

			put(qid, &sqe);
		}
	}
	ring(1);
	assert_int_equal(rig->hw.nr, HW_DEPTH - 1);
	ring(2);
	ring(3);
	assert_int_equal(rig->hw.nr, HW_DEPTH - 1);
	for (i = 0; i < 30; i++) {
		answer(i, 0);
		run_work();
		assert_int_equal(rig->hw.nr, HW_DEPTH + i);
	}
	for (i = 0; i < rig->hw.nr; i++) {
		sent_of[queue_of(i)]++;
		if (i >= HW_DEPTH + 1)	/* in turn: no queue comes again within three */
			assert_true(queue_of(i) != queue_of(i - 1) && queue_of(i) != queue_of(i - 2));
	}
	assert_int_equal(sent_of[1], HW_DEPTH - 1 + 10);
	assert_int_equal(sent_of[2], 10);
	assert_int_equal(sent_of[3], 10);
	wr32(NVME_REG_CC, 0);
	for (i = 30; i < rig->hw.nr; i++)
		answer(i, 0);
	rig_enable();
	create_pair(1, ENTRIES, ENTRIES, false);
	for (i = 0; i < 7; i++)
		list[i] = BUF + i * 0x1000;
	sent_now = rig->hw.nr;
	for (i = 0; i < 20; i++)
		put(1, &big);
	ring(1);
	assert_int_equal(rig->hw.nr - sent_now, 4);	/* of 8 pages each: 32 */
	for (i = 0; i < 20; i++) {
		answer(sent_now + i, 0);
		run_work();
	}
}

/* --- the end of queues, and of the controller --- */

static void hardware_answers(void)
{
	answer(0, 0);
}

static void test_delete_sq__outstanding__is_waited_for(void **state)
{
	struct nvme_cqe cqe;

	(void)state;
	sent(rw(2, 0, 7, BUF, 0));
	rig->on_wait = hardware_answers;
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 0, .cdw10 = 1 }, NULL), 0);
	assert_true(get(1, &cqe));
	assert_int_equal(status_of_cqe(&cqe), 0);
	assert_int_equal(liov_mediator_page(&rig->vm, 0, 0).kind, LIOV_PAGE_NONE);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 4, .cdw10 = 1 }, NULL), 0);
	assert_int_equal(liov_mediator_page(&rig->vm, 0, 0x10000).kind, LIOV_PAGE_NONE);
}

static void test_delete_sq__hardware_silent__aborts_and_keeps_memory_held(void **state)
{
	struct nvme_cqe cqe;

	(void)state;
	sent(rw(2, 0, 7, BUF, 0));
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 0, .cdw10 = 1 }, NULL), 0);
	assert_true(get(1, &cqe));
	assert_int_equal(status_of_cqe(&cqe), 0x08);
	assert_int_equal(rig->held[(BUF - RAM_BASE) / 4096], 1);
	assert_int_equal(rig_create_sq_at(1, ENTRIES, rig_slot(1), 1), 0);
	answer(0, 0);
	assert_false(get(1, &cqe));
	assert_int_equal(rig->held[(BUF - RAM_BASE) / 4096], 0);
}

/* LIF-02 */
static void test_reset__outstanding__is_sent_again_as_it_was(void **state)
{
	struct nvme_sqe first, sqe = rw(1, 5, 7, BUF, 0);
	struct nvme_cqe cqe;

	(void)state;
	first = *sent(sqe);
	liov_mediator_pause(&rig->vm);
	put(1, &sqe);
	ring(1);
	assert_int_equal(rig->hw.nr, 1);
	liov_mediator_replay(&rig->vm);
	assert_int_equal(rig->hw.nr, 3);
	assert_memory_equal(&rig->hw.sqe[1], &first, 64);
	answer(1, 0);
	answer(2, 0);
	assert_true(get(1, &cqe));
	assert_true(get(1, &cqe));
	assert_false(get(1, &cqe));
}

/* LIF-07 */
static void test_reset__controller_lost__fails_all(void **state)
{
	struct nvme_sqe sqe = rw(1, 5, 7, BUF, 0);
	struct nvme_cqe cqe;

	(void)state;
	sent(sqe);
	liov_mediator_pause(&rig->vm);
	rig->hw_lost = true;
	liov_mediator_replay(&rig->vm);
	assert_true(get(1, &cqe));
	assert_int_equal(status_of_cqe(&cqe), 0x06);
	put(1, &sqe);
	ring(1);
	assert_true(get(1, &cqe));
	assert_int_equal(status_of_cqe(&cqe), 0x06);
	rig->hw_lost = false;
	liov_mediator_pause(&rig->vm);
	liov_mediator_replay(&rig->vm);
	assert_int_equal(rig->hw.nr, 1);
}
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_doorbell__bad_value_or_queue__is_a_virtual_event),
		T(test_doorbell__backwards__is_a_full_ring),
		T(test_cq__of_two__has_one_command_at_a_time),
		T(test_queue__in_guest_memory__is_served_by_work),
		T(test_completion__wrong_or_twice__is_ignored),
		T(test_completion__of_several_queues__each_to_its_own),
		T(test_budget__many_queues__share_one),
		T(test_rate__work_started__is_paid_for_before_more),
		T(test_delete_sq__outstanding__is_waited_for),
		T(test_delete_sq__hardware_silent__aborts_and_keeps_memory_held),
		T(test_reset__outstanding__is_sent_again_as_it_was),
		T(test_reset__controller_lost__fails_all),
	};

	return cmocka_run_group_tests_name("core_mediator_ring", tests, NULL, NULL);
}
