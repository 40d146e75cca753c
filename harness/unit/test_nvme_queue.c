// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/*
 * Queues: completions, back pressure, arbitration, deletion, interrupts, CMB, and time.
 * Cases QD-11, QD-13, EXH-09, LIF-01, CMB-06.
 */

static struct rig *up(void)
{
	struct nvme_config cfg = rig_config();

	return rig_up(&cfg);
}

static void put_reads(struct rig *r, struct rig_queue *q, int count)
{
	for (int i = 0; i < count; i++)
		rig_put(r, q, rig_rw(NVME_CMD_READ, 8ULL * (u64)i, 7, RIG_BUF, 0));
	rig_ring(r, q);
}

static u64 fetched(const struct rig *r, u16 qid)
{
	return nvme_counters(r->nvme)->queue_fetched[qid];
}

static void test_cq__full__sq_stalls_until_head_moves(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 2);
	struct rig_queue other = rig_pair(r, 5, 64, 64);
	struct nvme_cqe cqe;
	u64 posted = nvme_counters(r->nvme)->cqes_posted;

	(void)state;
	put_reads(r, &q, 63);
	rig_run(r, PS_PER_MS);
	assert_int_equal(fetched(r, 4), 1);
	assert_int_equal(nvme_counters(r->nvme)->cqes_posted, posted + 1);
	/* Nobody else waits. */
	assert_int_equal(rig_cmd(r, &other, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	for (u16 i = 0; i < 63; i++) {
		assert_int_equal(fetched(r, 4), i + 1);
		assert_true(rig_peek(r, &q, &cqe, true));
		rig_run(r, PS_PER_MS);
	}
	assert_int_equal(fetched(r, 4), 63);
	assert_false(rig_peek(r, &q, &cqe, true));
	rig_free(r);
}

static void test_cq__outstanding_commands__never_exceed_its_room(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 8);

	(void)state;
	put_reads(r, &q, 40);
	rig_run(r, 30 * PS_PER_US);	/* none has completed: media takes 58 us */
	assert_int_equal(fetched(r, 4), 7);
	rig_free(r);
}

static void test_phase__inverts_at_wrap__and_head_is_told(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 3);
	u16 phases = 0;

	(void)state;
	for (int i = 0; i < 9; i++) {
		struct nvme_cqe cqe = rig_cqe(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));

		phases = (u16)(phases << 1 | (cqe.status & 1));
		assert_int_equal(cqe.sqhd, i + 1);
	}
	assert_int_equal(phases, 0x1C7);	/* 111 000 111 */
	rig_free(r);
}

static void test_cqe__is_two_writes__phase_second(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);
	u32 last = 0;

	(void)state;
	r->nr_ev = 0;
	assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	for (u32 i = 0; i < r->nr_ev; i++) {
		const struct trace_event *e = &r->ev[i];

		if (e->kind == TRACE_DMA && (e->b == q.cq || e->b == q.cq + 8)) {
			assert_int_equal(e->d, 8);
			assert_int_equal(e->b, last ? q.cq + 8 : q.cq);
			assert_int_equal(e->io_id, 4ULL << 48 | 1);
			last++;
		}
	}
	assert_int_equal(last, 2);
	rig_free(r);
}

static void test_io_id__counts_commands_of_its_queue(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);
	u32 seen = 0;

	(void)state;
	r->nr_ev = 0;
	put_reads(r, &q, 3);
	rig_run(r, PS_PER_MS);
	for (u32 i = 0; i < r->nr_ev; i++)
		if (r->ev[i].kind == TRACE_SQE_FETCH)
			assert_int_equal(r->ev[i].io_id, 4ULL << 48 | ++seen);
	assert_int_equal(seen, 3);
	rig_free(r);
}

static void test_arbitration__equal_shares_whatever_the_depth(void **state)
{
	struct rig *r = up();
	struct rig_queue q[4];

	(void)state;
	for (u16 i = 0; i < 4; i++)
		q[i] = rig_pair(r, (u16)(i + 1), 512, 512);
	for (int i = 0; i < 4; i++)
		put_reads(r, &q[i], i ? 500 : 100);
	rig_run(r, 588 * PS_PER_US);	/* 400 turns of 1.47 us */
	for (u16 i = 1; i <= 4; i++)
		assert_in_range(fetched(r, i), 99, 101);
	rig_free(r);
}

static void test_arbitration__burst__is_taken_in_one_turn(void **state)
{
	struct rig *r = up();
	struct rig_queue a = rig_pair(r, 1, 64, 64), b = rig_pair(r, 2, 64, 64);
	u32 run = 0, longest = 0;
	u64 last = 0;

	(void)state;
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_SET_FEATURES, .cdw10 = 1, .cdw11 = 3 }), 0);
	r->nr_ev = 0;
	put_reads(r, &a, 40);
	put_reads(r, &b, 40);
	rig_run(r, 10 * PS_PER_MS);
	for (u32 i = 0; i < r->nr_ev && fetched(r, 1); i++) {
		if (r->ev[i].kind != TRACE_SQE_FETCH)
			continue;
		run = r->ev[i].a == last ? run + 1 : 1;
		last = r->ev[i].a;
		longest = run > longest ? run : longest;
	}
	assert_int_equal(longest, 8);	/* 2^3 */
	rig_free(r);
}

/* EXH-09: errors cost the front end a turn each, and the others get theirs. */
static void test_arbitration__errors_only__others_progress(void **state)
{
	struct rig *r = up();
	struct rig_queue bad = rig_pair(r, 1, 512, 512), good = rig_pair(r, 2, 64, 64);

	(void)state;
	for (int i = 0; i < 500; i++)
		rig_put(r, &bad, rig_rw(0x7F, 0, 0, 0, 0));
	rig_ring(r, &bad);
	put_reads(r, &good, 60);
	rig_run(r, 147 * PS_PER_US);	/* 100 turns */
	assert_in_range(fetched(r, 1), 48, 52);
	assert_in_range(fetched(r, 2), 48, 52);
	rig_free(r);
}

static void test_rate__many_reads__front_end_bounds_it(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 1, 1024, 1024);
	u64 from, took;

	(void)state;
	for (int i = 0; i < 1000; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_READ, 8ULL * (u64)i, 7, RIG_BUF, 0));
	from = sched_now(r->sched);
	rig_ring(r, &q);
	while (nvme_counters(r->nvme)->read_blocks < 8000)
		rig_run(r, PS_PER_US);
	took = sched_now(r->sched) - from;
	/* 1000 turns of 1.47 us and one latency of some 70 us. */
	assert_in_range(took, 1470 * PS_PER_US, 1560 * PS_PER_US);
	rig_free(r);
}

static void test_latency__one_read__is_the_sum_of_its_hops(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 1, 64, 64);
	u64 from;
	u32 msis;

	(void)state;
	rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0));
	msis = r->msis;
	from = sched_now(r->sched);
	rig_ring(r, &q);
	while (r->msis == msis)
		assert_true(sched_run_one(r->sched));
	/*
	 * ns: doorbell 200, SQE 600 + 6.1 + 22.3 (24 and 88 bytes at 3.938 GB/s), front end 1470,
	 * die 58000, rest 10000, data (4096 + 16 * 24) / 3.938 = 1137.6 + 200.
	 */
	assert_in_range(sched_now(r->sched) - from, 71634 * PS_PER_NS, 71638 * PS_PER_NS);
	assert_int_equal(r->last_msi, 0x41);
	rig_free(r);
}

static void test_dies__same_die__reads_wait_for_each_other(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 1, 64, 64);

	(void)state;
	/* 72 dies of 4 KiB stripes: these are all on die 0. */
	for (u64 i = 0; i < 4; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_READ, i * 72 * 8, 7, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, 200 * PS_PER_US);
	assert_int_equal(nvme_counters(r->nvme)->read_blocks, 3 * 8);
	rig_run(r, 60 * PS_PER_US);
	assert_int_equal(nvme_counters(r->nvme)->read_blocks, 4 * 8);
	rig_free(r);
}

static void test_slots__all_taken__rest_waits_and_admin_does_not(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_queue q[3];
	struct rig *r;

	(void)state;
	cfg.timing.read_ps = 10 * PS_PER_MS;
	cfg.timing.fetch_ps = 0;
	r = rig_up(&cfg);
	for (u16 i = 0; i < 3; i++)
		q[i] = rig_pair(r, (u16)(i + 1), 1024, 1024);
	for (u16 i = 0; i < 3; i++)
		put_reads(r, &q[i], 1000);
	rig_run(r, 5 * PS_PER_MS);
	assert_int_equal(fetched(r, 1) + fetched(r, 2) + fetched(r, 3), 1024);
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0x7E }), NVME_SC_INVALID_OPCODE | NVME_DNR);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 2), 0);
	assert_int_equal(nvme_counters(r->nvme)->read_blocks, 0);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(nvme_counters(r->nvme)->read_blocks, 2000 * 8);
	rig_free(r);
}

/* LIF-01: after the Delete's CQE no DMA of the queue, and each command told once. */
static void test_delete_sq__in_flight__all_told_and_silent_after(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);
	struct nvme_cqe cqe;
	u32 aborted = 0, told = 0, before;

	(void)state;
	put_reads(r, &q, 40);
	rig_run(r, 75 * PS_PER_US);
	assert_true(nvme_counters(r->nvme)->read_blocks > 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 4), 0);
	before = r->nr_ev;
	while (rig_peek(r, &q, &cqe, false)) {
		told++;
		aborted += rig_status(&cqe) == 0x008;
		assert_true(rig_status(&cqe) == 0 || rig_status(&cqe) == 0x008);
	}
	assert_int_equal(told, fetched(r, 4));
	assert_true(aborted > 0);
	rig_run(r, RIG_SECOND_PS);
	assert_false(rig_peek(r, &q, &cqe, false));
	for (u32 i = before; i < r->nr_ev; i++)
		assert_int_equal(r->ev[i].io_id >> 48, 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 4), 0);
	rig_free(r);
}

static void test_msix__masked_vector__pending_until_unmasked(void **state)
{
	struct rig *r = up();
	struct rig_queue q = rig_pair(r, 4, 64, 64);
	u32 msis;

	(void)state;
	rig_msix_entry(r, 4, true);
	msis = r->msis;
	put_reads(r, &q, 2);
	rig_run(r, PS_PER_MS);
	assert_int_equal(r->msis, msis);
	assert_int_equal(rig_rd(r, r->fn->cfg.msix_pba_off, 8), 1 << 4);
	rig_msix_entry(r, 4, false);
	assert_int_equal(r->msis, msis + 1);
	assert_int_equal(r->last_msi, 0x44);
	rig_free(r);
}

static void test_cq__interrupts_off__none_sent(void **state)
{
	struct rig *r = up();
	struct rig_queue q;
	u32 msis;

	(void)state;
	q = rig_queue(4, RIG_IO_QUEUES, 64, RIG_IO_QUEUES + 0x10000, 64);
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_CREATE_CQ, .prp1 = q.cq,
							 .cdw10 = 63 << 16 | 4, .cdw11 = 4 << 16 | 1 }), 0);
	assert_int_equal(rig_create_sq(r, 4, 64, q.sq, 4), 0);
	msis = r->msis;
	assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	assert_int_equal(r->msis, msis);
	rig_free(r);
}

static struct rig *up_cmb(bool cqs)
{
	struct nvme_config cfg = rig_config();
	struct rig *r;

	cfg.cmb_size_bytes = 0x200000;
	cfg.cmb_cqs = cqs;
	r = rig_up(&cfg);
	rig_wr(r, NVME_REG_CMBMSC, RIG_CBA | NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE, 8);
	return r;
}

static void cmb_put(struct rig *r, u64 off, const struct nvme_sqe *sqe)
{
	u64 word[8];

	memcpy(word, sqe, sizeof(word));
	for (u64 i = 0; i < 8; i++)
		bus_cpu_write(&r->bus, (hpa_t){ RIG_BAR2 + off + 8 * i }, word[i], 8);
}

static void test_cmb__sq_inside__is_fetched_without_dma(void **state)
{
	struct rig *r = up_cmb(false);
	struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0);
	struct nvme_cqe cqe;
	struct rig_queue q = rig_queue(4, 0, 64, RIG_IO_QUEUES, 64);

	(void)state;
	rig_media_fill(r, 0, 8, 0x6B);
	assert_int_equal(rig_create_cq(r, 4, 64, RIG_IO_QUEUES, 4), 0);
	assert_int_equal(rig_create_sq(r, 4, 64, RIG_CBA + 0x4000, 4), 0);
	sqe.cid = 0x321;
	cmb_put(r, 0x4000, &sqe);
	r->nr_ev = 0;
	rig_wr32(r, rig_doorbell(r, 4, false), 1);
	rig_run(r, PS_PER_MS);
	assert_true(rig_peek(r, &q, &cqe, true));
	assert_int_equal(cqe.cid, 0x321);
	assert_int_equal(rig_byte(r, RIG_BUF), 0x6B);
	for (u32 i = 0; i < r->nr_ev; i++)
		if (r->ev[i].kind == TRACE_SQE_FETCH)
			assert_int_equal(r->ev[i].d, 1);
	/* With CMSE off and on again elsewhere the queue stays where it was made. */
	rig_wr(r, NVME_REG_CMBMSC, 0, 8);
	cmb_put(r, 0x4040, &sqe);
	rig_wr32(r, rig_doorbell(r, 4, false), 2);
	rig_run(r, PS_PER_MS);
	assert_true(rig_peek(r, &q, &cqe, true));
	rig_free(r);
}

static void test_cmb__queue_unsupported_or_half_outside__invalid_use(void **state)
{
	struct rig *r = up_cmb(false);

	(void)state;
	assert_int_equal(rig_create_cq(r, 4, 64, RIG_CBA, 4), 0x012 | NVME_DNR);
	assert_int_equal(rig_create_cq(r, 4, 1024, RIG_CBA - 0x1000, 4), 0x012 | NVME_DNR);
	assert_int_equal(rig_create_cq(r, 4, 64, RIG_IO_QUEUES, 4), 0);
	assert_int_equal(rig_create_sq(r, 4, 128, RIG_CBA + 0x1FF000, 4), 0x012 | NVME_DNR);
	assert_int_equal(rig_create_sq(r, 4, 64, RIG_CBA + 0x1FF000, 4), 0);
	rig_free(r);
}

static void test_cmb__cq_inside__is_posted_there(void **state)
{
	struct rig *r = up_cmb(true);
	struct rig_queue q = rig_queue(4, RIG_IO_QUEUES, 64, 0, 64);

	(void)state;
	assert_int_equal(rig_create_cq(r, 4, 64, RIG_CBA + 0x1000, 4), 0);
	assert_int_equal(rig_create_sq(r, 4, 64, RIG_IO_QUEUES, 4), 0);
	rig_put(r, &q, rig_rw(0x7F, 0, 0, 0, 0));
	rig_ring(r, &q);
	rig_run(r, PS_PER_MS);
	/* DNR, status 0/0x01, phase 1; CID in the low half. */
	assert_int_equal(bus_cpu_read(&r->bus, (hpa_t){ RIG_BAR2 + 0x100C }, 4) >> 16, 0x8003);
	rig_free(r);
}

static void test_cmb_bar__past_its_end__nothing(void **state)
{
	struct rig *r = up_cmb(false);
	const struct pci_ops *ops = r->fn->ops;

	(void)state;
	ops->mmio_write(r->nvme, 2, 0x1FFFFF, 0xFFFFFFFF, 4);
	assert_int_equal(ops->mmio_read(r->nvme, 2, 0x1FFFFF, 1), 0);
	assert_int_equal(ops->mmio_read(r->nvme, 2, 0x1FFFFC, 8), ~0ULL);
	assert_int_equal(ops->mmio_read(r->nvme, 2, 0x200000, 4), ~0ULL);
	rig_free(r);
}

static void test_write__buffer__latency_and_drain(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_queue q;
	struct rig *r;

	(void)state;
	cfg.timing.write_drain_ps = 20 * PS_PER_US;
	r = rig_up(&cfg);
	q = rig_pair(r, 1, 64, 64);
	for (u64 i = 0; i < 10; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_WRITE, i * 8, 7, RIG_BUF, 0));
	r->nr_ev = 0;
	rig_ring(r, &q);
	/* The n-th is told some 20 n + 5 + 5 us after the doorbell. */
	rig_run(r, 115 * PS_PER_US);
	assert_int_equal(rig_count(r, TRACE_CQE), 5);
	rig_run(r, 100 * PS_PER_US);
	assert_int_equal(rig_count(r, TRACE_CQE), 10);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cq__full__sq_stalls_until_head_moves),
		cmocka_unit_test(test_cq__outstanding_commands__never_exceed_its_room),
		cmocka_unit_test(test_phase__inverts_at_wrap__and_head_is_told),
		cmocka_unit_test(test_cqe__is_two_writes__phase_second),
		cmocka_unit_test(test_io_id__counts_commands_of_its_queue),
		cmocka_unit_test(test_arbitration__equal_shares_whatever_the_depth),
		cmocka_unit_test(test_arbitration__burst__is_taken_in_one_turn),
		cmocka_unit_test(test_arbitration__errors_only__others_progress),
		cmocka_unit_test(test_rate__many_reads__front_end_bounds_it),
		cmocka_unit_test(test_latency__one_read__is_the_sum_of_its_hops),
		cmocka_unit_test(test_dies__same_die__reads_wait_for_each_other),
		cmocka_unit_test(test_slots__all_taken__rest_waits_and_admin_does_not),
		cmocka_unit_test(test_delete_sq__in_flight__all_told_and_silent_after),
		cmocka_unit_test(test_msix__masked_vector__pending_until_unmasked),
		cmocka_unit_test(test_cq__interrupts_off__none_sent),
		cmocka_unit_test(test_cmb__sq_inside__is_fetched_without_dma),
		cmocka_unit_test(test_cmb__queue_unsupported_or_half_outside__invalid_use),
		cmocka_unit_test(test_cmb__cq_inside__is_posted_there),
		cmocka_unit_test(test_cmb_bar__past_its_end__nothing),
		cmocka_unit_test(test_write__buffer__latency_and_drain),
	};

	return cmocka_run_group_tests_name("nvme_queue", tests, NULL, NULL);
}
