// SPDX-License-Identifier: GPL-2.0
/* The frontend's data path: what it refuses and what it sends (Base 4.1.1, 3.3.3.1; NVM 3.2). */
#include "core_frontend_rig.h"

#define PAGE 0x1000ull
#define LBAS 0x100000ull		/* world_vm() */

static struct rig rig;

static hpa_t hpa_of(struct rig *r, u64 gpa)
{
	hpa_t hpa = { 0 };

	vm_gpa_to_hpa(r->vm, (gpa_t){ gpa }, 8, &hpa);
	return hpa;
}

static u64 ram64(struct rig *r, u64 gpa)
{
	bool ok;

	return bus_rd64(&r->vm->m->bus, hpa_of(r, gpa), &ok);
}

static int submit(struct rig *r, enum liov_op op, u64 slba, u32 blocks, const struct liov_segment *seg, u32 nr)
{
	struct liov_request rq = {
		.op = op, .slba = { slba }, .blocks = blocks, .nr_segments = nr, .segments = seg, .cookie = r,
	};

	return liov_frontend_submit(&r->fe, 0, &rq);
}

#define SEGS(...) (const struct liov_segment[]){ __VA_ARGS__ }, (u32)(sizeof((struct liov_segment[]){ __VA_ARGS__ }) / sizeof(struct liov_segment))
#define AT(off, len) { { RIG_RAM + (off) }, (len) }

/* --- what is refused --- */

/* Nothing rang, no tag was taken. */
static void nothing_sent(struct world *w, struct rig *r)
{
	CHECK_INT(r->doorbells, 0);
	CHECK_INT(r->fe.queue[0].nr_free, 15);
	CHECK_INT(r->fe.queue[0].sq_tail, 0);
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_sqe, 0);
	CHECK_INT(r->nr_done, 0);
}

static void shapes(struct world *w)
{
	static struct liov_segment many[LIOV_FE_SEGMENTS_MAX + 1];
	struct rig *r = &rig;
	u32 i;

	rig_start(w, r, 1, 16);
	r->doorbells = 0;
	CHECK_INT(r->fe.mdts_bytes, 32 * PAGE);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, NULL, 0), -EINVAL);
	for (i = 0; i < LIOV_FE_SEGMENTS_MAX + 1; i++)
		many[i] = (struct liov_segment)AT(i * PAGE, PAGE);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 272, many, LIOV_FE_SEGMENTS_MAX + 1), -EINVAL);
	r->fe.mdts_bytes = 0;		/* no limit of the device's: the frontend has one */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 272, many, LIOV_FE_SEGMENTS_MAX + 1), -EINVAL);
	r->fe.mdts_bytes = 32 * PAGE;
	/* Base 4.1.1: PRP entries are dword aligned. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 1, SEGS(AT(1, 512))), -EINVAL);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 1, SEGS(AT(2, 512))), -EINVAL);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS(AT(0, 0), AT(0x1000, 4096))), -EINVAL);
	/* Only the first entry may have an offset, so all but the last end at a page's end. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 2, SEGS(AT(0, 512), AT(0x1000, 512))), -EINVAL);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 9, SEGS(AT(0, 4096), AT(0x1200, 512))), -EINVAL);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 10, SEGS(AT(0, 4096), AT(0x1000, 512), AT(0x2000, 512))), -EINVAL);
	/* Length and blocks differ. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 7, SEGS(AT(0, 4096))), -EINVAL);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 9, SEGS(AT(0, 4096))), -EINVAL);
	/* MDTS: 128 KiB here; a block more is too much. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 257, SEGS(AT(0, 257 * 512))), -EINVAL);
	/* What the data's own length says does not matter: 65536 blocks are 0 in 16 bits. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 0x10000, SEGS(AT(0, 4096))), -EINVAL);
	/* NLB is 16 bits, 0's based: at most 65536 blocks. */
	CHECK_INT(submit(r, LIOV_OP_WRITE_ZEROES, 0, 0x10001, NULL, 0), -EINVAL);
	CHECK_INT(submit(r, (enum liov_op)6, 0, 8, SEGS(AT(0, 4096))), -EINVAL);
	CHECK_INT(submit(r, (enum liov_op)-1, 0, 8, SEGS(AT(0, 4096))), -EINVAL);
	CHECK_INT(liov_frontend_submit(&r->fe, 1, &(struct liov_request){ .op = LIOV_OP_FLUSH }), -EINVAL);
	/* The three beyond MDTS are refusals (LBA-06); the others are mistakes of the caller's. */
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 3);
	nothing_sent(w, r);
}

static void test_frontend_submit__shapes_prps_cannot_say__einval(void **state)
{
	world_run(*state, shapes);
}

/* One refusal by the frontend, in the name of the VM. */
static void denied(struct world *w, u64 a, u64 len)
{
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 1);
	CHECK(w->nr_log > 0);
	if (w->nr_log == 0)
		return;
	CHECK_INT(w->log[w->nr_log - 1].kind, LIOV_TRACE_DENY);
	CHECK_INT(w->log[w->nr_log - 1].component, LIOV_FRONTEND);
	CHECK_INT(w->log[w->nr_log - 1].vm, 1);
	CHECK_INT(w->log[w->nr_log - 1].a, a);
	CHECK_INT(w->log[w->nr_log - 1].b, len);
	w->traced[LIOV_TRACE_DENY] = 0;
}

static void outside_blocks(struct world *w)
{
	/* LBA-03: across the end; LBA-04: at the end; LBA-05: a sum that wraps; and far away. */
	static const struct { u64 slba; u32 blocks; } bad[] = {
		{ LBAS - 7, 8 }, { LBAS, 1 }, { LBAS, 8 }, { ~0ull, 1 }, { ~0ull, 2 }, { ~0ull - 6, 8 }, { ~0ull - 7, 8 },
		{ 1ull << 63, 8 }, { 0x100000000ull, 8 },
	};
	static const enum liov_op ops[] = { LIOV_OP_READ, LIOV_OP_WRITE, LIOV_OP_COMPARE, LIOV_OP_WRITE_ZEROES, LIOV_OP_DISCARD };
	struct rig *r = &rig;
	u32 i, k;

	rig_start(w, r, 1, 16);
	CHECK_INT(r->fe.blocks, LBAS);
	r->doorbells = 0;
	w->traced[LIOV_TRACE_DENY] = 0;
	for (k = 0; k < sizeof(ops) / sizeof(ops[0]); k++) {
		for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			CHECK_INT(submit(r, ops[k], bad[i].slba, bad[i].blocks, SEGS(AT(0, bad[i].blocks * 512))), -EIO);
			denied(w, bad[i].slba, bad[i].blocks);
		}
		CHECK_INT(submit(r, ops[k], 0, 0, SEGS(AT(0, 512))), -EIO);
		denied(w, 0, 0);
	}
	/* A discard may name more blocks than a read, but no more than there are. */
	CHECK_INT(submit(r, LIOV_OP_DISCARD, 0, (u32)LBAS + 1, NULL, 0), -EIO);
	denied(w, 0, LBAS + 1);
	nothing_sent(w, r);

	/* The last blocks are the VM's own. */
	CHECK_INT(submit(r, LIOV_OP_READ, LBAS - 8, 8, SEGS(AT(0, 4096))), 0);
	CHECK(rig_wait(r, 1));
	CHECK_INT(r->done[0].status, 0);
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 0);
}

static void test_frontend_submit__lba_03_04_05__eio_and_told(void **state)
{
	world_run(*state, outside_blocks);
}

static void outside_memory(struct world *w)
{
	struct rig *r = &rig;

	rig_start(w, r, 1, 16);
	r->doorbells = 0;
	w->traced[LIOV_TRACE_DENY] = 0;
	/* Another VM's, across the end, below, a page in the middle; the page refused is what is told. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS({ { 2ull << 32 }, 4096 })), -EIO);
	denied(w, 2ull << 32, 4096);
	CHECK_INT(submit(r, LIOV_OP_WRITE, 0, 16, SEGS(AT(RIG_RAM_BYTES - PAGE, 8192))), -EIO);
	denied(w, RIG_RAM + RIG_RAM_BYTES, 4096);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS({ { RIG_RAM - 2048 }, 4096 })), -EIO);
	denied(w, RIG_RAM - 2048, 2048);
	CHECK_INT(submit(r, LIOV_OP_COMPARE, 0, 24, SEGS(AT(0, 4096), { { 0x1000 }, 4096 }, AT(0x2000, 4096))), -EIO);
	denied(w, 0x1000, 4096);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS({ { ~0ull - 0xFFF }, 4096 })), -EIO);
	denied(w, ~0ull - 0xFFF, 4096);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS({ { ~0ull - 0x7FF }, 4096 })), -EIO);
	denied(w, ~0ull - 0x7FF, 2048);
	/* The device's own: queue pages and doorbells are in no registered range. */
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS({ { VM_CMB_GPA }, 4096 })), -EIO);
	denied(w, VM_CMB_GPA, 4096);
	nothing_sent(w, r);
	/* The list page of a tag lies in memory that was taken back. */
	CHECK_INT(liov_frontend_mem_unregister(&r->fe, r->fe.queue[0].lists_gpa, 16 * PAGE), 0);
	r->doorbells = 0;
	w->traced[LIOV_TRACE_DENY] = 0;
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 24, SEGS(AT(0, 12288))), -EIO);
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 1);
	CHECK_INT(submit(r, LIOV_OP_DISCARD, 0, 8, NULL, 0), -EIO);
	CHECK_INT(w->traced[LIOV_TRACE_DENY], 2);
	nothing_sent(w, r);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 16, SEGS(AT(0, 8192))), 0);
	CHECK(rig_wait(r, 1));
}

static void test_frontend_submit__memory_not_registered__eio_and_told(void **state)
{
	world_run(*state, outside_memory);
}

/* --- what is sent --- */

/* One more request; its SQE as the SSD got it. */
static const struct nvme_sqe *sent(struct world *w, struct rig *r, enum liov_op op, u64 slba, u32 blocks,
				   const struct liov_segment *seg, u32 nr)
{
	u32 n = r->nr_sqe, done = r->nr_done;

	CHECK_INT(submit(r, op, slba, blocks, seg, nr), 0);
	CHECK(rig_wait(r, done + 1));
	CHECK_INT(r->nr_sqe, n + 1);
	CHECK_INT(r->done[done].status, 0);
	CHECK(r->done[done].cookie == r);
	return &r->sqe[n];
}

/* Base 4.1.1: PRP1; PRP2 is the second page, or of three and more the list of all but the first. */
static void prps(struct world *w)
{
	struct rig *r = &rig;
	const struct nvme_sqe *s;
	u64 start, off, list;
	u32 i;

	rig_start(w, r, 1, 16);
	start = r->vm->liov.lba.start;
	off = r->vm->liov.dma_offset;
	CHECK_INT(start, w->cfg.backend.host_lbas);
	CHECK(w->cfg.backend.dma_offset ? off == r->vm->liov.window.start && off != 0 : off == 0);

	s = sent(w, r, LIOV_OP_READ, 5, 8, SEGS(AT(0x3000, 4096)));
	CHECK_INT(s->opcode, 0x02);
	CHECK_INT(s->flags, 0);
	CHECK_INT(s->nsid, 1);
	CHECK_INT(s->prp1, off + RIG_RAM + 0x3000);
	CHECK_INT(s->prp2, 0);
	CHECK_INT(s->cdw10 | (u64)s->cdw11 << 32, start + 5);
	CHECK_INT(s->cdw12, 7);

	/* An offset, and not to the page's end. */
	s = sent(w, r, LIOV_OP_WRITE, 0, 1, SEGS(AT(0x3204, 512)));
	CHECK_INT(s->opcode, 0x01);
	CHECK_INT(s->prp1, off + RIG_RAM + 0x3204);
	CHECK_INT(s->prp2, 0);

	/* 4 KiB with an offset are two pages. */
	s = sent(w, r, LIOV_OP_READ, 0, 8, SEGS(AT(0x3800, 4096)));
	CHECK_INT(s->prp1, off + RIG_RAM + 0x3800);
	CHECK_INT(s->prp2, off + RIG_RAM + 0x4000);

	s = sent(w, r, LIOV_OP_READ, 0, 24, SEGS(AT(0x3000, 4096), AT(0x9000, 4096), AT(0x7000, 4096)));
	list = s->prp2 - off;
	CHECK_INT(s->prp1, off + RIG_RAM + 0x3000);
	CHECK_INT(list & 0xFFF, 0);
	CHECK(list >= r->fe.queue[0].lists_gpa.v && list < r->fe.queue[0].lists_gpa.v + 16 * PAGE);
	CHECK_INT(ram64(r, list), off + RIG_RAM + 0x9000);
	CHECK_INT(ram64(r, list + 8), off + RIG_RAM + 0x7000);

	/* 128 KiB with an offset: 33 pages, 32 entries in the list. */
	for (i = 0; i < 256; i++)
		store_write_tag(w->m->media, (start + 64 + i) * 512, 0x1000 + i);
	s = sent(w, r, LIOV_OP_READ, 64, 256, SEGS(AT(0x100200, 128 << 10)));
	list = s->prp2 - off;
	CHECK_INT(s->prp1, off + RIG_RAM + 0x100200);
	for (i = 0; i < 32; i++)
		CHECK_INT(ram64(r, list + 8 * i), off + RIG_RAM + 0x101000 + i * PAGE);
	for (i = 0; i < 256; i++)
		CHECK(store_sector_is(w->m->memory, hpa_of(r, RIG_RAM + 0x100200 + i * 512).v, 0x1000 + i));
	CHECK_INT(s->cdw12, 255);
}

static void test_frontend_submit__1_2_3_33_pages__prps_by_the_book(void **state)
{
	world_run(*state, prps);
}

static void test_frontend_submit__dma_offset__is_added(void **state)
{
	struct world *w = *state;

	w->cfg.backend.dma_offset = true;
	world_run(w, prps);
}

static void other_commands(struct world *w)
{
	struct rig *r = &rig;
	const struct nvme_sqe *s;
	struct liov_request fua = { .op = LIOV_OP_WRITE, .blocks = 8, .fua = true, .cookie = r };
	u64 start, list;

	rig_start(w, r, 1, 16);
	start = r->vm->liov.lba.start;
	CHECK(!w->cfg.backend.dma_offset == !r->vm->liov.dma_offset);
	s = sent(w, r, LIOV_OP_FLUSH, 0, 0, NULL, 0);
	CHECK_INT(s->opcode, 0x00);
	CHECK_INT(s->nsid, 1);
	s = sent(w, r, LIOV_OP_WRITE_ZEROES, 16, 0x10000, NULL, 0);
	CHECK_INT(s->opcode, 0x08);
	CHECK_INT(s->cdw10 | (u64)s->cdw11 << 32, start + 16);
	CHECK_INT(s->cdw12 & 0xFFFF, 0xFFFF);
	CHECK_INT(s->prp1, 0);
	s = sent(w, r, LIOV_OP_COMPARE, 16, 8, SEGS(AT(0x3000, 4096)));
	CHECK_INT(s->opcode, 0x05);
	/* NVM 3.2.3: one range, 0's based count; attribute deallocate; the LBAs are in the payload. */
	s = sent(w, r, LIOV_OP_DISCARD, 24, 0x20000, NULL, 0);
	CHECK_INT(s->opcode, 0x09);
	CHECK_INT(s->cdw10, 0);
	CHECK_INT(s->cdw11, 4);
	list = s->prp1 - r->vm->liov.dma_offset;
	CHECK_INT(ram64(r, list), 0x20000ull << 32);
	CHECK_INT(ram64(r, list + 8), start + 24);
	/* NVM 3.2.6: FUA is bit 30. */
	fua.segments = (const struct liov_segment[]){ AT(0x3000, 4096) };
	fua.nr_segments = 1;
	CHECK_INT(liov_frontend_submit(&r->fe, 0, &fua), 0);
	CHECK(rig_wait(r, 5));
	CHECK_INT(r->sqe[r->nr_sqe - 1].cdw12, 1u << 30 | 7);
}

static void test_frontend_submit__other_commands__by_the_book(void **state)
{
	world_run(*state, other_commands);
}

static void test_frontend_submit__other_commands_dma_offset__is_added(void **state)
{
	struct world *w = *state;

	w->cfg.backend.dma_offset = true;
	world_run(w, other_commands);
}

/* Base 5.1: bit 0 of dword 0 set, the command was not aborted; the device lets I/O commands end by themselves. */
static void abort_one(struct world *w)
{
	struct rig *r = &rig;
	int other;

	rig_start(w, r, 1, 16);
	CHECK_INT(submit(r, LIOV_OP_READ, 0, 8, SEGS(AT(0, 4096))), 0);
	CHECK_INT(liov_frontend_abort(&r->fe, 0, &other), -ENOENT);
	CHECK_INT(liov_frontend_abort(&r->fe, 1, r), -ENOENT);
	CHECK_INT(liov_frontend_abort(&r->fe, 0, r), -EBUSY);
	CHECK(rig_wait(r, 1));
	CHECK_INT(r->done[0].status, 0);
	CHECK_INT(liov_frontend_abort(&r->fe, 0, r), -ENOENT);
}

static void test_frontend_abort__what_is_outstanding__is_asked_for(void **state)
{
	world_run(*state, abort_one);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frontend_submit__shapes_prps_cannot_say__einval),
		TEST(test_frontend_submit__lba_03_04_05__eio_and_told),
		TEST(test_frontend_submit__memory_not_registered__eio_and_told),
		TEST(test_frontend_submit__1_2_3_33_pages__prps_by_the_book),
		TEST(test_frontend_submit__dma_offset__is_added),
		TEST(test_frontend_submit__other_commands__by_the_book),
		TEST(test_frontend_submit__other_commands_dma_offset__is_added),
		TEST(test_frontend_abort__what_is_outstanding__is_asked_for),
	};

	return cmocka_run_group_tests_name("core_frontend_io", tests, NULL, NULL);
}
