// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* Abort: ADM-06, LIF-06, and the rows of the admin status table. */

#define D(status) ((u16)((status) | NVME_DNR))

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();

	*state = rig_up(&cfg);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static struct nvme_sqe abort_of(u16 sqid, u16 cid)
{
	return (struct nvme_sqe){ .opcode = NVME_ADM_ABORT, .cdw10 = (u32)cid << 16 | sqid };
}

static void test_abort__unknown__as_table_says(void **state)
{
	struct rig *r = *state;
	struct nvme_cqe cqe;

	cqe = rig_cqe(r, &r->admin, abort_of(2, 0));
	assert_int_equal(rig_status(&cqe), D(0x002));
	cqe = rig_cqe(r, &r->admin, abort_of(0xFFFF, 0));
	assert_int_equal(rig_status(&cqe), D(0x002));
	cqe = rig_cqe(r, &r->admin, abort_of(0, 0x999));
	assert_int_equal(rig_status(&cqe), 0);
	assert_int_equal(cqe.dw0 & 1, 1);
}

static void test_abort__outstanding_read__aborted_once(void **state)
{
	struct rig *r = *state;
	struct rig_queue q = rig_pair(r, 1, 64, 64);
	struct nvme_cqe cqe;
	u16 cid = rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0));

	rig_media_fill(r, 0, 8, 0x5A);
	rig_ring(r, &q);
	rig_run(r, 5 * PS_PER_US);
	rig_put(r, &r->admin, abort_of(1, cid));
	rig_ring(r, &r->admin);
	rig_run(r, PS_PER_MS);
	assert_true(rig_peek(r, &r->admin, &cqe, true));
	assert_int_equal(rig_status(&cqe), 0);
	assert_int_equal(cqe.dw0, 0);
	assert_true(rig_peek(r, &q, &cqe, true));
	assert_int_equal(cqe.cid, cid);
	assert_int_equal(rig_status(&cqe), 0x007);
	assert_false(rig_peek(r, &q, &cqe, true));
	assert_int_equal(rig_byte(r, RIG_BUF), 0);	/* its data never moved */
	/* And again: it is not there any more. */
	cqe = rig_cqe(r, &r->admin, abort_of(1, cid));
	assert_int_equal(cqe.dw0, 1);
}

static void test_abort__of_itself__is_not_done(void **state)
{
	struct rig *r = *state;
	struct nvme_sqe sqe = abort_of(0, 0x444);
	struct nvme_cqe cqe;
	u64 posted = nvme_counters(r->nvme)->cqes_posted;

	sqe.cid = 0x444;
	cqe = rig_cqe(r, &r->admin, sqe);
	assert_int_equal(rig_status(&cqe), 0);
	assert_int_equal(cqe.dw0, 1);
	rig_run(r, PS_PER_MS);
	assert_int_equal(nvme_counters(r->nvme)->cqes_posted, posted + 1);
}

static void test_abort__too_many_at_once__limit(void **state)
{
	struct rig *r = *state;
	struct nvme_cqe cqe;
	u32 refused = 0;

	for (int i = 0; i < 8; i++)
		rig_put(r, &r->admin, abort_of(0, 0x999));
	rig_ring(r, &r->admin);
	rig_run(r, PS_PER_MS);
	for (int i = 0; i < 8; i++) {
		assert_true(rig_peek(r, &r->admin, &cqe, true));
		refused += rig_status(&cqe) == 0x103;
	}
	assert_true(refused > 0);	/* ACL 3: four may be outstanding */
	cqe = rig_cqe(r, &r->admin, abort_of(0, 0x999));
	assert_int_equal(rig_status(&cqe), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_abort__unknown__as_table_says),
		T(test_abort__outstanding_read__aborted_once),
		T(test_abort__of_itself__is_not_done),
		T(test_abort__too_many_at_once__limit),
	};

	return cmocka_run_group_tests_name("nvme_abort", tests, NULL, NULL);
}
