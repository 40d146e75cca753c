// SPDX-License-Identifier: GPL-2.0
/* The mediator: what reaches the hardware queue for what a guest put into its virtual one. Expected values: the table of expected status codes, Base 4.1.1. */

#include "core_device_rig.h"

#define ENTRIES	64u
#define BUF	(RAM_BASE + 0x200000)
#define LIST	(RAM_BASE + 0x20000)

/* The guest's side of queue pair 1 .. 3; SQE and CQE memory is found as the guest would. */
static u32 sq_tail[4], cq_head[4], cq_size[4];
static bool cq_phase[4];
static bool in_ram[4];

static u8 *place(u32 qid, u64 slot_off)
{
	struct liov_page p;

	if (in_ram[qid])
		return (u8 *)ram(slot_off < 0x10000 ? IOSQ + qid * 0x20000 : IOCQ + qid * 0x20000) + (slot_off & 0xFFFF);
	p = liov_mediator_page(&rig->vm, qid - 1, slot_off & ~0xFFFull);
	assert_int_equal(p.kind, LIOV_PAGE_MEMORY);
	return (u8 *)(uintptr_t)p.pages.hpa + p.index * 4096 + (slot_off & 0xFFF);
}

static void create_pair(u32 qid, u32 sq_entries, u32 cq_entries, bool ram_queue)
{
	in_ram[qid] = ram_queue;
	sq_tail[qid] = cq_head[qid] = 0;
	cq_phase[qid] = true;
	cq_size[qid] = cq_entries;
	assert_int_equal(rig_create_cq_at(qid, cq_entries, ram_queue ? IOCQ + qid * 0x20000 : rig_slot(qid) + 0x10000,
					  3 | qid << 16), 0);
	assert_int_equal(rig_create_sq_at(qid, sq_entries, ram_queue ? IOSQ + qid * 0x20000 : rig_slot(qid), qid), 0);
}

static int setup(void **state)
{
	(void)state;
	rig_setup(LIOV_POLICY_MEDIATED);
	rig_enable();
	create_pair(1, ENTRIES, ENTRIES, false);
	rig->nr_msi = 0;
	return 0;
}

static int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < RAM_SIZE / 4096; i++)
		assert_int_equal(rig->held[i], 0);
	rig_teardown();
	return 0;
}

static void put(u32 qid, const struct nvme_sqe *sqe)
{
	memcpy(place(qid, sq_tail[qid] * 64), sqe, 64);
	sq_tail[qid] = (sq_tail[qid] + 1) % ENTRIES;
}

static void ring(u32 qid)
{
	wr32(0x1000 + qid * 8, sq_tail[qid]);
}

static bool get(u32 qid, struct nvme_cqe *cqe)
{
	memcpy(cqe, place(qid, 0x10000 + cq_head[qid] * 16), 16);
	if ((cqe->status & 1) != cq_phase[qid])
		return false;
	if (++cq_head[qid] == cq_size[qid]) {
		cq_head[qid] = 0;
		cq_phase[qid] = !cq_phase[qid];
	}
	return true;
}

static void consume(u32 qid)
{
	wr32(0x1004 + qid * 8, cq_head[qid]);
}

static void run_work(void)
{
	struct port_work *w = rig->work;

	rig->work = NULL;
	if (w && w->queued) {
		w->queued = false;
		w->fn(w->arg);
	}
}

/* A completion of the hardware queue. */
static void complete(u16 cid, u32 status)
{
	struct nvme_cqe cqe = { .cid = cid, .status = (u16)(status << 1) };

	rig->hwq[0].complete(rig->hwq[0].complete_arg, &cqe);
}

/* The hardware answers the @i-th command it got. */
static void answer(u32 i, u32 status)
{
	complete(rig->hw.sqe[i].cid, status);
}

/* All queues' commands go to one hardware queue: the blocks tell whose the @i-th was, where the test chose them so. */
static u64 block_of(u32 qid)
{
	return qid * 0x1000;
}

static u32 queue_of(u32 i)
{
	return (rig->hw.sqe[i].cdw10 - (u32)LBA_START) / 0x1000;
}

static struct nvme_sqe rw(u8 opcode, u64 slba, u32 nlb, u64 prp1, u64 prp2)
{
	return (struct nvme_sqe){ .opcode = opcode, .cid = 0xBEEF, .nsid = 1, .cdw10 = (u32)slba, .cdw11 = (u32)(slba >> 32),
				  .cdw12 = nlb, .prp1 = prp1, .prp2 = prp2 };
}

/* Refused on the copy: completed at once, nothing sent, nothing held. Returns the status. */
static u32 refused(struct nvme_sqe sqe)
{
	struct nvme_cqe cqe;
	u32 nr = rig->hw.nr;

	rig->deny.component = LIOV_COMPONENTS;
	put(1, &sqe);
	ring(1);
	assert_true(get(1, &cqe));
	consume(1);
	assert_int_equal(rig->hw.nr, nr);
	assert_int_equal(cqe.cid, sqe.cid);
	assert_int_equal(rig->deny.component, LIOV_MEDIATOR);
	assert_int_equal(rig->deny.code, status_of_cqe(&cqe) & 0x7FF);
	return status_of_cqe(&cqe);
}

static const struct nvme_sqe *sent(struct nvme_sqe sqe)
{
	u32 nr = rig->hw.nr;

	put(1, &sqe);
	ring(1);
	assert_int_equal(rig->hw.nr, nr + 1);
	return &rig->hw.sqe[nr];
}

static void finish(u32 status, u32 want)
{
	struct nvme_cqe cqe;

	answer(rig->hw.nr - 1, status);
	assert_true(get(1, &cqe));
	consume(1);
	assert_int_equal(cqe.cid, 0xBEEF);
	assert_int_equal(cqe.sqid, 1);
	assert_int_equal(status_of_cqe(&cqe), want);
}

static const u64 *private_list(const struct nvme_sqe *sqe)
{
	struct liov_mediator *med = rig->vm.med;
	u32 off;
	struct port_shm *s = liov_mediator_list(med, sqe->cid, &off);

	assert_true(sqe->prp2 == med->list_iova.v + sqe->cid * 4096ull || sqe->prp1 == med->list_iova.v + sqe->cid * 4096ull);
	return (const u64 *)(uintptr_t)(s->base + off);
}

/* --- what is sent --- */

static void test_read__one_page__is_rebuilt_and_translated(void **state)
{
	struct nvme_sqe in = rw(2, 0x10, 7 | 1u << 30 | 0xFu << 26, BUF + 0x200, 0x1234);
	const struct nvme_sqe *out;

	(void)state;
	in.flags = 0x04;		/* reserved bits */
	in.cdw2 = in.cdw3 = in.cdw13 = in.cdw14 = in.cdw15 = ~0u;
	in.cdw12 = 3 | 1u << 30 | 0xFu << 26;
	out = sent(in);
	assert_int_equal(out->opcode, 2);
	assert_int_equal(out->flags, 0);
	assert_int_equal(out->nsid, 1);
	assert_true((out->cdw10 | (u64)out->cdw11 << 32) == LBA_START + 0x10);
	assert_int_equal(out->cdw12, 3 | 1u << 30);
	assert_true(out->prp1 == DMA_OFFSET + BUF + 0x200);
	assert_true(out->prp2 == 0 && out->mptr == 0);
	assert_int_equal(out->cdw2 | out->cdw3 | out->cdw13 | out->cdw14 | out->cdw15, 0);
	assert_int_equal(rig->held[(BUF - RAM_BASE) / 4096], 1);
	finish(0, 0);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi.vector, 1);
}

static void test_write__two_pages__prp2_is_the_second(void **state)
{
	const struct nvme_sqe *out = sent(rw(1, 0, 15, BUF, BUF + 0x8000));

	(void)state;
	assert_true(out->prp2 == DMA_OFFSET + BUF + 0x8000);
	finish(0x281, 0x281);
}

/* GPA-06: the device gets the checked copy. */
static void test_read__list__is_a_private_copy(void **state)
{
	u64 *list = ram(LIST);
	const struct nvme_sqe *out;
	const u64 *copy;

	(void)state;
	list[0] = BUF + 0x3000;
	list[1] = BUF + 0x1000;
	out = sent(rw(2, 0, 23, BUF + 0x10000, LIST));
	assert_int_equal(rig->nr_copied, 1);
	copy = private_list(out);
	list[1] = 0x100000000;
	assert_true(copy[0] == DMA_OFFSET + BUF + 0x3000);
	assert_true(copy[1] == DMA_OFFSET + BUF + 0x1000);
	assert_int_equal(rig->held[(BUF + 0x1000 - RAM_BASE) / 4096], 1);
	finish(0, 0);
}

/* The last slot is data where nothing remains after it. */
static void test_read__list_that_ends_with_its_page__has_no_chain_pointer(void **state)
{
	u64 *list = ram(LIST);
	const u64 *copy;

	(void)state;
	list[510] = BUF + 0x3000;
	list[511] = BUF + 0x5000;
	copy = private_list(sent(rw(2, 0, 23, BUF, LIST + 0xFF0)));
	assert_true(copy[0] == DMA_OFFSET + BUF + 0x3000);
	assert_true(copy[1] == DMA_OFFSET + BUF + 0x5000);
	finish(0, 0);
}

/* GPA-10: 513 pages, list from offset FF0h: 1 entry, then 510 of a page that chains to one with 1. MDTS 9. */
static void test_read__chained_lists__need_exactly_what_the_transfer_needs(void **state)
{
	u64 *a = ram(LIST), *b = ram(LIST + 0x1000), *c = ram(LIST + 0x2000);
	const struct nvme_sqe *out;
	const u64 *copy;
	u32 i;

	(void)state;
	rig->be.info.mdts_bytes = 0x200000;
	a[510] = BUF + 0x1000;
	a[511] = LIST + 0x1000;
	for (i = 0; i < 511; i++)
		b[i] = BUF + i % 256 * 0x1000;
	b[511] = LIST + 0x1000;			/* chains to itself: not needed, unless more remains */
	out = sent(rw(2, 0, 0xFFF, BUF, LIST + 0xFF0));
	copy = private_list(out);
	assert_true(copy[0] == DMA_OFFSET + BUF + 0x1000);
	assert_true(copy[510] == DMA_OFFSET + BUF + 509 % 256 * 0x1000);
	finish(0, 0);
	b[511] = LIST + 0x2000;
	c[0] = BUF + 0x7000;
	out = sent(rw(2, 0, 0xFFF, BUF + 0x200, LIST + 0xFF0));	/* one page more: 512 entries */
	copy = private_list(out);
	assert_true(copy[510] == DMA_OFFSET + BUF + 509 % 256 * 0x1000);
	assert_true(copy[511] == DMA_OFFSET + BUF + 510 % 256 * 0x1000);
	finish(0, 0);
}

static void test_flush__any_nsid__goes_to_the_one_namespace(void **state)
{
	struct nvme_sqe in = { .opcode = 0, .cid = 0xBEEF, .nsid = 0xFFFFFFFF, .prp1 = 0x100000000, .cdw10 = 55 };
	const struct nvme_sqe *out = sent(in);

	(void)state;
	assert_int_equal(out->nsid, 1);
	assert_true(out->prp1 == 0 && out->cdw10 == 0);
	finish(0, 0);
}

static void test_write_zeroes__beyond_mdts__is_allowed(void **state)
{
	const struct nvme_sqe *out = sent(rw(8, 1, 0xFFFF | 1u << 25, 0x100000000, 0));

	(void)state;
	assert_int_equal(out->cdw12, 0xFFFF | 1u << 25);
	assert_true(out->prp1 == 0);
	finish(0, 0);
}

/* --- what is refused --- */

/* LBA-01 to LBA-06, LBA-11 */
static void test_lba__outside_the_window__is_0_80(void **state)
{
	(void)state;
	assert_int_equal(refused(rw(2, 0x100000, 7, BUF, 0)), 0x80 | DNR);
	assert_true(rig->deny.a == 0x100000);
	assert_int_equal(refused(rw(1, 0xFFFFFFFFFFF00000, 7, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(2, ~0ull, 0, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(2, 0xFFFFF, 1, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(2, 1ull << 55, 0, BUF, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(8, 0xF0001, 0xFFFF, 0, 0)), 0x80 | DNR);
	assert_int_equal(refused(rw(5, 0x100000, 0, BUF, 0)), 0x80 | DNR);
	sent(rw(2, 0xFFFFF, 0, BUF, 0));
	finish(0, 0);
	assert_int_equal(refused(rw(2, 0, 0xFFFF, BUF, 0)), 0x02 | DNR);
	assert_int_equal(refused(rw(2, 0x800000, 0x100, BUF, 2)), 0x02 | DNR);
	assert_int_equal(refused(rw(2, 0x800000, 0, BUF + 1, 0)), 0x80 | DNR);
}

/* LBA-08, LBA-09, LBA-10, EXH-08 */
static void test_command__not_offered__is_refused(void **state)
{
	static const u8 opcodes[] = { 0x04, 0x0C, 0x0D, 0x0E, 0x11, 0x15, 0x19, 0x7F, 0xC0 };
	struct nvme_sqe sqe;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(opcodes); i++)
		assert_int_equal(refused(rw(opcodes[i], 0, 0, BUF, 0)), 0x01 | DNR);
	sqe = rw(2, 0, 0, BUF, 0);
	sqe.flags = 0x40;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	sqe.flags = 0x01;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	sqe.flags = 0;
	sqe.nsid = 0;
	assert_int_equal(refused(sqe), 0x0B | DNR);
	sqe.nsid = 2;
	assert_int_equal(refused(sqe), 0x0B | DNR);
	sqe.nsid = 0x101;
	assert_int_equal(refused(sqe), 0x0B | DNR);
	sqe.nsid = 0xFFFFFFFF;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	rig->be.info.oncs = 0;
	assert_int_equal(refused(rw(5, 0, 0, BUF, 0)), 0x01 | DNR);
	assert_int_equal(refused(rw(8, 0, 0, BUF, 0)), 0x01 | DNR);
	assert_int_equal(refused(rw(9, 0, 0, BUF, 0)), 0x01 | DNR);
}

/* GPA-01 to GPA-05, GPA-11 to GPA-13, INT-01, CMB-05 */
static void test_prp__not_registered_memory__is_0_04(void **state)
{
	u64 *list = ram(LIST);
	struct nvme_sqe sqe;

	(void)state;
	assert_int_equal(refused(rw(2, 0, 7, 0x100002000, 0)), 0x04 | DNR);
	assert_true(rig->deny.a == 0x100002000);
	assert_int_equal(refused(rw(1, 0, 7, 0, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 7, 0xFEE00000, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 7, BAR2 + 0x1000, 0)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 15, BUF, 0x100002000)), 0x04 | DNR);
	assert_int_equal(refused(rw(2, 0, 0x3F, BUF, 0x100005000)), 0x04 | DNR);
	list[0] = BUF;
	list[1] = BUF + 0x1000;
	list[2] = 0x100002000;
	assert_int_equal(refused(rw(2, 0, 31, BUF, LIST)), 0x04 | DNR);
	assert_true(rig->deny.a == 0x100002000);
	assert_int_equal(refused(rw(2, 0, 15, RAM_BASE + RAM_SIZE - 0x1000, RAM_BASE + RAM_SIZE)), 0x04 | DNR);
	rig->released_from = BUF + 0x1000;
	assert_int_equal(refused(rw(2, 0, 15, BUF, BUF + 0x1000)), 0x04 | DNR);
	sqe = rw(2, 0, 7, BUF, 0);
	sqe.mptr = BUF + 2;
	assert_int_equal(refused(sqe), 0x02 | DNR);
	sqe.mptr = 0x100004000;
	assert_int_equal(refused(sqe), 0x04 | DNR);
}

/* GPA-07 to GPA-09 */
static void test_prp__offsets__are_0_13(void **state)
{
	u64 *list = ram(LIST);

	(void)state;
	list[0] = BUF + 0x1000;
	list[1] = BUF + 0x2200;
	assert_int_equal(refused(rw(2, 0, 23, BUF, LIST)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 15, BUF, BUF + 0x1008)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 0, BUF + 2, 0)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 63, BUF, LIST + 4)), 0x13 | DNR);
	assert_int_equal(refused(rw(2, 0, 63, BUF, LIST + 0xFFC)), 0x13 | DNR);
	*(u64 *)ram(LIST + 0xFF8) = LIST + 0x1008;	/* the chain pointer */
	assert_int_equal(refused(rw(2, 0, 63, BUF, LIST + 0xFF8)), 0x13 | DNR);
}

/* LBA-07 */
static void test_dsm__ranges__are_checked_and_translated_on_a_copy(void **state)
{
	struct nvme_dsm_range *r = ram(BUF + 0xFF0);
	struct nvme_sqe in = { .opcode = 9, .cid = 0xBEEF, .nsid = 1, .cdw10 = 1, .cdw11 = 4, .prp1 = BUF + 0xFF0,
			       .prp2 = BUF + 0x1000 };
	const struct nvme_dsm_range *copy;
	const struct nvme_sqe *out;

	(void)state;
	r[0] = (struct nvme_dsm_range){ 0, 8, 0x100 };
	r[1] = (struct nvme_dsm_range){ 0, 1, LBA_COUNT - 1 };
	out = sent(in);
	copy = (const struct nvme_dsm_range *)private_list(out);
	assert_int_equal(out->cdw10, 1);
	assert_int_equal(out->cdw11, 4);
	r[1].slba = 0;
	assert_true(copy[0].slba == LBA_START + 0x100 && copy[0].nlb == 8);
	assert_true(copy[1].slba == LBA_START + LBA_COUNT - 1);
	finish(0, 0);
	r[1].slba = LBA_COUNT;
	assert_int_equal(refused(in), 0x80 | DNR);
	r[1] = (struct nvme_dsm_range){ 0, 0xFFFFFFFF, 0 };
	assert_int_equal(refused(in), 0x80 | DNR);
	in.prp2 = 0x1000;
	assert_int_equal(refused(in), 0x04 | DNR);
	in.prp2 = BUF + 8;
	assert_int_equal(refused(in), 0x13 | DNR);
}

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
		T(test_read__one_page__is_rebuilt_and_translated),
		T(test_write__two_pages__prp2_is_the_second),
		T(test_read__list__is_a_private_copy),
		T(test_read__list_that_ends_with_its_page__has_no_chain_pointer),
		T(test_read__chained_lists__need_exactly_what_the_transfer_needs),
		T(test_flush__any_nsid__goes_to_the_one_namespace),
		T(test_write_zeroes__beyond_mdts__is_allowed),
		T(test_lba__outside_the_window__is_0_80),
		T(test_command__not_offered__is_refused),
		T(test_prp__not_registered_memory__is_0_04),
		T(test_prp__offsets__are_0_13),
		T(test_dsm__ranges__are_checked_and_translated_on_a_copy),
		T(test_doorbell__bad_value_or_queue__is_a_virtual_event),
		T(test_doorbell__backwards__is_a_full_ring),
		T(test_cq__of_two__has_one_command_at_a_time),
		T(test_queue__in_guest_memory__is_served_by_work),
		T(test_completion__wrong_or_twice__is_ignored),
		T(test_completion__of_several_queues__each_to_its_own),
		T(test_budget__many_queues__share_one),
		T(test_delete_sq__outstanding__is_waited_for),
		T(test_delete_sq__hardware_silent__aborts_and_keeps_memory_held),
		T(test_reset__outstanding__is_sent_again_as_it_was),
		T(test_reset__controller_lost__fails_all),
	};

	return cmocka_run_group_tests_name("core_mediator", tests, NULL, NULL);
}
