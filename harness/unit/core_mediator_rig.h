/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_CORE_MEDIATOR_RIG_H
#define HARNESS_UNIT_CORE_MEDIATOR_RIG_H

/* The mediator: what reaches the hardware queue for what a guest put into its virtual one. Expected values: the table of expected status codes, Base 4.1.1. */

#include "core_device_rig.h"

#define ENTRIES	64u
#define BUF	(RAM_BASE + 0x200000)
#define LIST	(RAM_BASE + 0x20000)

/* The guest's side of queue pair 1 .. 3; SQE and CQE memory is found as the guest would. */
static u32 sq_tail[4], cq_head[4], cq_size[4];
static bool cq_phase[4];
static bool in_ram[4];

static inline u8 *place(u32 qid, u64 slot_off)
{
	struct liov_page p;

	if (in_ram[qid])
		return (u8 *)ram(slot_off < 0x10000 ? IOSQ + qid * 0x20000 : IOCQ + qid * 0x20000) + (slot_off & 0xFFFF);
	p = liov_mediator_page(&rig->vm, qid - 1, slot_off & ~0xFFFull);
	assert_int_equal(p.kind, LIOV_PAGE_MEMORY);
	return (u8 *)(uintptr_t)p.pages.hpa + p.index * 4096 + (slot_off & 0xFFF);
}

static inline void create_pair(u32 qid, u32 sq_entries, u32 cq_entries, bool ram_queue)
{
	in_ram[qid] = ram_queue;
	sq_tail[qid] = cq_head[qid] = 0;
	cq_phase[qid] = true;
	cq_size[qid] = cq_entries;
	assert_int_equal(rig_create_cq_at(qid, cq_entries, ram_queue ? IOCQ + qid * 0x20000 : rig_slot(qid) + 0x10000,
					  3 | qid << 16), 0);
	assert_int_equal(rig_create_sq_at(qid, sq_entries, ram_queue ? IOSQ + qid * 0x20000 : rig_slot(qid), qid), 0);
}

static inline int setup(void **state)
{
	(void)state;
	rig_setup(LIOV_POLICY_MEDIATED);
	rig_enable();
	create_pair(1, ENTRIES, ENTRIES, false);
	rig->nr_msi = 0;
	return 0;
}

static inline int teardown(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < RAM_SIZE / 4096; i++)
		assert_int_equal(rig->held[i], 0);
	rig_teardown();
	return 0;
}

static inline void put(u32 qid, const struct nvme_sqe *sqe)
{
	memcpy(place(qid, sq_tail[qid] * 64), sqe, 64);
	sq_tail[qid] = (sq_tail[qid] + 1) % ENTRIES;
}

static inline void ring(u32 qid)
{
	wr32(0x1000 + qid * 8, sq_tail[qid]);
}

static inline bool get(u32 qid, struct nvme_cqe *cqe)
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

static inline void consume(u32 qid)
{
	wr32(0x1004 + qid * 8, cq_head[qid]);
}

static inline void run_work(void)
{
	struct port_work *w = rig->work;

	rig->work = NULL;
	if (w && w->queued) {
		w->queued = false;
		w->fn(w->arg);
	}
}

/* A completion of the hardware queue. */
static inline void complete(u16 cid, u32 status)
{
	struct nvme_cqe cqe = { .cid = cid, .status = (u16)(status << 1) };

	rig->hwq[0].complete(rig->hwq[0].complete_arg, &cqe);
}

/* The hardware answers the @i-th command it got. */
static inline void answer(u32 i, u32 status)
{
	complete(rig->hw.sqe[i].cid, status);
}

/* All queues' commands go to one hardware queue: the blocks tell whose the @i-th was, where the test chose them so. */
static inline u64 block_of(u32 qid)
{
	return qid * 0x1000;
}

static inline u32 queue_of(u32 i)
{
	return (rig->hw.sqe[i].cdw10 - (u32)LBA_START) / 0x1000;
}

static inline struct nvme_sqe rw(u8 opcode, u64 slba, u32 nlb, u64 prp1, u64 prp2)
{
	return (struct nvme_sqe){ .opcode = opcode, .cid = 0xBEEF, .nsid = 1, .cdw10 = (u32)slba, .cdw11 = (u32)(slba >> 32),
				  .cdw12 = nlb, .prp1 = prp1, .prp2 = prp2 };
}

/* Refused on the copy: completed at once, nothing sent, nothing held. Returns the status. */
static inline u32 refused(struct nvme_sqe sqe)
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

static inline const struct nvme_sqe *sent(struct nvme_sqe sqe)
{
	u32 nr = rig->hw.nr;

	put(1, &sqe);
	ring(1);
	assert_int_equal(rig->hw.nr, nr + 1);
	return &rig->hw.sqe[nr];
}

static inline void finish(u32 status, u32 want)
{
	struct nvme_cqe cqe;

	answer(rig->hw.nr - 1, status);
	assert_true(get(1, &cqe));
	consume(1);
	assert_int_equal(cqe.cid, 0xBEEF);
	assert_int_equal(cqe.sqid, 1);
	assert_int_equal(status_of_cqe(&cqe), want);
}

static inline const u64 *private_list(const struct nvme_sqe *sqe)
{
	struct liov_mediator *med = rig->vm.med;
	u32 off;
	struct port_shm *s = liov_mediator_list(med, sqe->cid, &off);

	assert_true(sqe->prp2 == med->list_iova.v + sqe->cid * 4096ull || sqe->prp1 == med->list_iova.v + sqe->cid * 4096ull);
	return (const u64 *)(uintptr_t)(s->base + off);
}

#endif
