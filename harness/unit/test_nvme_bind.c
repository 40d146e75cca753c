// SPDX-License-Identifier: GPL-2.0
#include "nvme_siov.h"

/* PASID and namespace of a queue: bound before it is created, and from its first request on. */

#define SQ_PASID 0x12345u
#define CQ_PASID 0x54321u
#define QID 3
#define WITHOUT 0u	/* as the trace tells a PASID: one more */

/* All DMA since the last look, by queue: what PASID + 1 its requests carried, or ~0 where they differ. */
struct seen {
	u32 fetch, list, data, cqe, nr;
};

static void note(u32 *slot, u32 pasid, u32 *nr)
{
	*slot = (*nr)++ && *slot != pasid && *slot != 0xFFFFFFFE ? ~0u : pasid;
}

static struct seen look(struct siov *f, u16 qid)
{
	struct seen s = { 0xFFFFFFFE, 0xFFFFFFFE, 0xFFFFFFFE, 0xFFFFFFFE, 0 };

	for (u32 i = 0; i < f->r->nr_ev; i++) {
		const struct trace_event *ev = &f->r->ev[i];
		u32 kind = ev->a >> 17 & 3, pasid = (u32)(ev->a >> 32);

		if (ev->kind != TRACE_DMA || ev->io_id >> 48 != qid)
			continue;
		if (kind == PCI_DMA_QUEUE)
			note(ev->a >> 16 & 1 ? &s.cqe : &s.fetch, pasid, &s.nr);
		else
			note(kind == PCI_DMA_LIST ? &s.list : &s.data, pasid, &s.nr);
	}
	f->r->nr_ev = 0;
	return s;
}

static struct rig_queue pair(struct siov *f, u32 nsid)
{
	assert_int_equal(siov_bind(f, BIND_CQ | QID, CQ_PASID, 0), 0);
	assert_int_equal(siov_bind(f, QID, SQ_PASID, nsid), 0);
	return rig_pair(f->r, QID, 64, 64);
}

static void test_bind__before_creation__all_requests_carry_it(void **state)
{
	struct siov *f = *state;
	struct rig_queue q = pair(f, 0);
	struct nvme_sqe sqe = rig_rw(0x02, 0, 8 * 4 - 1, RIG_BUF, RIG_LIST);
	struct seen s;

	for (u32 i = 0; i < 3; i++)
		rig_set64(f->r, RIG_LIST + 8 * i, RIG_BUF + 0x1000 * (i + 1));
	f->r->nr_ev = 0;
	assert_int_equal(rig_cmd(f->r, &q, sqe), 0);
	s = look(f, QID);
	assert_int_equal(s.fetch, SQ_PASID + 1);
	assert_int_equal(s.list, SQ_PASID + 1);
	assert_int_equal(s.data, SQ_PASID + 1);
	assert_int_equal(s.cqe, CQ_PASID + 1);
	/* Others' do not: the admin queue's, and a pair's that is bound to nothing. */
	assert_int_equal(siov_read(f, &f->q, 1, 0), 0);
	s = look(f, 1);
	assert_int_equal(s.fetch, WITHOUT);
	assert_int_equal(s.data, WITHOUT);
	assert_int_equal(s.cqe, WITHOUT);
	assert_int_equal(siov_delete(f, 2), D(INVALID_NSID));
	s = look(f, 0);
	assert_int_equal(s.fetch, WITHOUT);
	assert_int_equal(s.cqe, WITHOUT);
}

/* Whoever can ring while the queue is being made: the first fetch has the PASID already. */
static void test_bind__rung_all_the_while__no_fetch_without(void **state)
{
	struct siov *f = *state;
	u64 sq = RIG_IO_QUEUES + QID * 0x20000ULL, cq = sq + 0x10000;
	struct rig_queue q = rig_queue(QID, sq, 64, cq, 64);
	struct nvme_cqe cqe;
	bool created = false;
	struct seen s;

	rig_fill(f->r, sq, 0x20000, 0);
	assert_int_equal(siov_bind(f, BIND_CQ | QID, CQ_PASID, 0), 0);
	assert_int_equal(siov_bind(f, QID, SQ_PASID, 0), 0);
	assert_int_equal(rig_create_cq(f->r, QID, 64, cq, QID), 0);
	rig_put(f->r, &q, siov_io(0x02, 1, 0));
	rig_put(f->r, &f->r->admin, (struct nvme_sqe){ .opcode = 0x01, .prp1 = sq, .cdw10 = 63u << 16 | QID, .cdw11 = QID << 16 | 1 });
	f->r->nr_ev = 0;
	rig_ring(f->r, &f->r->admin);
	for (u32 i = 0; i < 2000; i++) {
		rig_ring(f->r, &q);
		rig_run(f->r, 50 * PS_PER_NS);
		created |= rig_peek(f->r, &f->r->admin, &cqe, true);
	}
	assert_true(created);
	assert_true(rig_peek(f->r, &q, &cqe, true));
	assert_int_equal(rig_status(&cqe), 0);
	s = look(f, QID);
	assert_int_equal(s.fetch, SQ_PASID + 1);
	assert_int_equal(s.cqe, CQ_PASID + 1);
}

static void test_bind__queue_exists__refused_and_unchanged(void **state)
{
	struct siov *f = *state;
	u32 nsid = siov_namespace(f, 0x100, 0x4000);
	struct rig_queue q = pair(f, nsid);
	struct seen s;

	assert_int_equal(siov_bind(f, QID, 7, 0), D(SEQUENCE));
	assert_int_equal(siov_bind(f, BIND_CQ | QID, 7, 0), D(SEQUENCE));
	assert_int_equal(siov_bind(f, 1, 7, 0), D(SEQUENCE));
	f->r->nr_ev = 0;
	assert_int_equal(siov_read(f, &q, nsid, 0), 0);
	assert_int_equal(siov_read(f, &q, 1, 0), D(INVALID_NSID));
	s = look(f, QID);
	assert_int_equal(s.fetch, SQ_PASID + 1);
	assert_int_equal(s.cqe, CQ_PASID + 1);
	assert_int_equal(siov_read(f, &f->q, 1, 0), 0);
	s = look(f, 1);
	assert_int_equal(s.fetch, WITHOUT);
}

/* The queue after it, with the same number, is bound to nothing. */
static void expect_unbound(struct siov *f)
{
	struct rig_queue q = rig_pair(f->r, QID, 64, 64);
	struct seen s;

	f->r->nr_ev = 0;
	assert_int_equal(siov_read(f, &q, 1, 0), 0);
	s = look(f, QID);
	assert_int_equal(s.fetch, WITHOUT);
	assert_int_equal(s.data, WITHOUT);
	assert_int_equal(s.cqe, WITHOUT);
}

static void test_bind__queue_deleted__next_one_is_unbound(void **state)
{
	struct siov *f = *state;

	pair(f, siov_namespace(f, 0x100, 0x4000));
	assert_int_equal(rig_delete(f->r, 0x00, QID), 0);
	assert_int_equal(rig_delete(f->r, 0x04, QID), 0);
	expect_unbound(f);
}

static void test_bind__creation_fails__binding_is_dropped(void **state)
{
	struct siov *f = *state;
	u64 sq = RIG_IO_QUEUES + QID * 0x20000ULL, cq = sq + 0x10000;

	assert_int_equal(siov_bind(f, BIND_CQ | QID, CQ_PASID, 0), 0);
	assert_int_equal(rig_create_cq(f->r, QID, 64, cq + 8, QID), D(0x013));
	assert_int_equal(siov_bind(f, QID, SQ_PASID, 1), 0);
	assert_int_equal(rig_create_sq(f->r, QID, 64, sq, 9), D(0x100));	/* no such CQ */
	expect_unbound(f);
}

static void test_bind__reset__binding_is_dropped(void **state)
{
	struct siov *f = *state;

	assert_int_equal(siov_bind(f, BIND_CQ | QID, CQ_PASID, 0), 0);
	assert_int_equal(siov_bind(f, QID, SQ_PASID, 1), 0);
	rig_wr32(f->r, NVME_REG_CC, 0);
	rig_run(f->r, PS_PER_MS);
	rig_enable(f->r);
	expect_unbound(f);
}

static void test_bind__twice__the_last_counts(void **state)
{
	struct siov *f = *state;
	struct rig_queue q;
	struct seen s;

	assert_int_equal(siov_bind(f, QID, 7, 1), 0);
	q = pair(f, 0);
	f->r->nr_ev = 0;
	assert_int_equal(siov_read(f, &q, 1, 0), 0);
	s = look(f, QID);
	assert_int_equal(s.fetch, SQ_PASID + 1);
}

static void test_bind__out_of_range_or_reserved__refused(void **state)
{
	struct siov *f = *state;
	static const u32 none[] = { 0, 65, 511, 0xFFFF };

	for (unsigned int i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(siov_bind(f, none[i], 1, 0), D(INVALID_QID));
		assert_int_equal(siov_bind(f, BIND_CQ | none[i], 1, 0), D(INVALID_QID));
	}
	for (u32 bit = 17; bit < 32; bit++)
		assert_int_equal(siov_bind(f, 1u << bit | QID, 1, 0), D(INVALID_FIELD));
	for (u32 bit = 20; bit < 32; bit++)
		assert_int_equal(siov_bind(f, QID, 1u << bit, 0), D(INVALID_FIELD));
	assert_int_equal(siov_bind(f, BIND_CQ | QID, 1, 1), D(INVALID_FIELD));
	assert_int_equal(siov_bind(f, QID, 0xFFFFF, 0), 0);	/* 20 bits, PCIe 6.20 */
}

/* Fewer queues were granted (Number of Queues): others are none. */
static void test_bind__queue_not_granted__refused(void **state)
{
	struct nvme_config cfg = siov_config();
	struct siov f = { .r = rig_up(&cfg) };

	(void)state;
	siov_pasids(&f, true);
	assert_int_equal(rig_admin(f.r, (struct nvme_sqe){ .opcode = 0x09, .cdw10 = 7, .cdw11 = 3u << 16 | 1 }), 0);
	assert_int_equal(siov_bind(&f, 2, 1, 0), 0);
	assert_int_equal(siov_bind(&f, 3, 1, 0), D(INVALID_QID));
	assert_int_equal(siov_bind(&f, BIND_CQ | 4, 1, 0), 0);
	assert_int_equal(siov_bind(&f, BIND_CQ | 5, 1, 0), D(INVALID_QID));
	rig_free(f.r);
}

static void test_bind__pasids_not_enabled__refused_and_not_sent(void **state)
{
	struct siov *f = *state;
	struct rig_queue q = pair(f, 0);

	siov_pasids(f, false);
	assert_int_equal(siov_bind(f, 4, 1, 0), D(SEQUENCE));
	/* PCIe 7.8.9.3: such a request is not made. An SQE that cannot be fetched is fatal. */
	f->r->nr_ev = 0;
	rig_put(f->r, &q, siov_io(0x02, 1, 0));
	rig_ring(f->r, &q);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(look(f, QID).nr, 0);
	assert_int_equal(rig_rd(f->r, NVME_REG_CSTS, 4) & 2, 2);
}

static void test_bind__namespace_not_active__refused(void **state)
{
	struct siov *f = *state;
	static const u32 none[] = { 2, 64, 65, 0xFFFFFFFE, 0xFFFFFFFF };
	u32 nsid;

	for (unsigned int i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(siov_bind(f, QID, 1, none[i]), D(INVALID_NSID));
	assert_int_equal(siov_create(f, 0x100, 0x4000, &nsid), 0);
	assert_int_equal(siov_bind(f, QID, 1, nsid), D(INVALID_NSID));
	assert_int_equal(siov_attach(f, nsid), 0);
	assert_int_equal(siov_bind(f, QID, 1, nsid), 0);
}

/* Of other namespaces it does not learn which there are: one answer for all. */
static void test_bound_queue__other_namespaces__one_answer(void **state)
{
	struct siov *f = *state;
	u32 own = siov_namespace(f, 0x100, 0x4000), other = siov_namespace(f, 0x100, 0x8000);
	struct rig_queue q = pair(f, own);
	static const u8 ops[] = { 0x01, 0x02, 0x05, 0x08, 0x09, 0x00 };

	for (unsigned int i = 0; i < sizeof(ops); i++) {
		assert_int_equal(rig_cmd(f->r, &q, siov_io(ops[i], other, 0)), D(INVALID_NSID));
		assert_int_equal(rig_cmd(f->r, &q, siov_io(ops[i], 1, 0)), D(INVALID_NSID));
		assert_int_equal(rig_cmd(f->r, &q, siov_io(ops[i], 33, 0)), D(INVALID_NSID));
		assert_int_equal(rig_cmd(f->r, &q, siov_io(ops[i], 0, 0)), D(INVALID_NSID));
		assert_int_equal(rig_cmd(f->r, &q, siov_io(ops[i], 0x101, 0)), D(INVALID_NSID));
	}
	/* All: only Flush may name them, and from a bound queue not even that. */
	assert_int_equal(rig_cmd(f->r, &q, siov_io(0x00, 0xFFFFFFFF, 0)), D(INVALID_NSID));
	assert_int_equal(rig_cmd(f->r, &q, siov_io(0x09, 0xFFFFFFFF, 0)), D(INVALID_FIELD));
	assert_int_equal(rig_cmd(f->r, &f->q, siov_io(0x00, 0xFFFFFFFF, 0)), 0);
	assert_int_equal(siov_read(f, &q, own, 0), 0);
	assert_int_equal(rig_cmd(f->r, &q, siov_io(0x00, own, 0)), 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, siov_setup, siov_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_bind__before_creation__all_requests_carry_it),
		T(test_bind__rung_all_the_while__no_fetch_without),
		T(test_bind__queue_exists__refused_and_unchanged),
		T(test_bind__queue_deleted__next_one_is_unbound),
		T(test_bind__creation_fails__binding_is_dropped),
		T(test_bind__reset__binding_is_dropped),
		T(test_bind__twice__the_last_counts),
		T(test_bind__out_of_range_or_reserved__refused),
		cmocka_unit_test(test_bind__queue_not_granted__refused),
		T(test_bind__pasids_not_enabled__refused_and_not_sent),
		T(test_bind__namespace_not_active__refused),
		T(test_bound_queue__other_namespaces__one_answer),
	};

	return cmocka_run_group_tests_name("nvme_bind", tests, NULL, NULL);
}
