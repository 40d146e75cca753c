// SPDX-License-Identifier: GPL-2.0
/*
 * The frontend's rings: full, round and round with the phase (Base 3.3.3.2.1), completions
 * of nobody's, a store that was not fenced.
 */
#include "core_frontend_rig.h"

#define PAGE 0x1000ull

static struct rig rig;

static void full(struct world *w)
{
	struct rig *r = &rig;
	char cookies[8];
	u32 i, k;

	rig_start(w, r, 1, 4);
	/* Touch what there is to touch, so that submitting does not wait. */
	for (i = 0; i < 4; i++) {
		CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, cookies), 0);
		CHECK(rig_wait(r, i + 1));
	}
	/* Base 3.3.1.4: a queue of 4 holds 3. */
	for (i = 0; i < 3; i++)
		CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, &cookies[i + 1]), 0);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, &cookies[4]), -EAGAIN);
	CHECK(rig_wait(r, 7));
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, &cookies[5]), 0);
	CHECK(rig_wait(r, 8));
	for (i = 1; i < 6; i++) {
		u32 seen = 0;

		for (k = 4; k < 8; k++)
			seen += r->done[k].cookie == &cookies[i];
		CHECK_INT(seen, i == 4 ? 0 : 1);
	}
}

static void test_frontend_submit__queue_full__eagain_until_one_completes(void **state)
{
	world_run(*state, full);
}

/* 50 requests through rings of 4, two at a time: each ends once; the phase turns with each round. */
static void wraps(struct world *w)
{
	struct rig *r = &rig;
	static char cookies[50];
	u32 i, k;

	rig_start(w, r, 1, 4);
	for (i = 0; i < 50; i += 2) {
		for (k = i; k < i + 2; k++)
			CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, k, 8, (gpa_t){ RIG_RAM + (k & 1) * PAGE }, &cookies[k]), 0);
		CHECK(rig_wait(r, i + 2));
		CHECK_INT(r->fe.queue[0].cq_head, (i + 2) % 4);
		CHECK_INT(r->fe.queue[0].cq_phase, ((i + 2) / 4) % 2 == 0);
		CHECK_INT(r->fe.queue[0].sq_tail, (i + 2) % 4);
	}
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_done, 50);
	for (i = 0; i < 50; i++) {
		u32 seen = 0;

		CHECK_INT(r->done[i].status, 0);
		for (k = 0; k < 50; k++)
			seen += r->done[k].cookie == &cookies[i];
		CHECK_INT(seen, 1);
	}
}

static void test_frontend__rings_wrap__phase_turns_and_each_ends_once(void **state)
{
	world_run(*state, wraps);
}

/* A completion that the SSD never made: no request has that CID. */
static void forged(struct world *w)
{
	static const u16 cids[] = { 0xFFFF, 16, 15, 3, 0x8000 };
	struct rig *r = &rig;
	struct port_shm cq;
	u32 i;

	rig_start(w, r, 1, 16);
	CHECK_INT(liov_frontend_poll(&r->fe, 0), 0);
	cq = r->vm->liov.queue[0]->cq;
	for (i = 0; i < sizeof(cids) / sizeof(cids[0]); i++) {
		struct nvme_cqe cqe = { .sqid = 1, .cid = cids[i], .status = 1 };

		port_shm_copy_out(&cq, i * 16, &cqe, sizeof(cqe));
		CHECK_INT(liov_frontend_poll(&r->fe, 0), 0);
		CHECK_INT(r->fe.queue[0].cq_head, i + 1);
		CHECK_INT(r->fe.queue[0].nr_free, 15);
	}
	CHECK_INT(r->nr_done, 0);
}

static void test_frontend_poll__cid_of_nobody__ignored(void **state)
{
	world_run(*state, forged);
}

/* A device that answers as fast as it is listened to, and without end. */
static void answers_again(void *opaque, void *cookie, u16 status)
{
	struct rig *r = opaque;
	struct liov_fe_queue *q = &r->fe.queue[0];
	struct nvme_cqe cqe = { .sqid = 1, .status = q->cq_phase };

	(void)cookie, (void)status;
	if (++r->nr_done == 100)
		return;
	q->tags[0].busy = true;
	q->nr_free--;
	port_shm_copy_out(&r->vm->liov.queue[0]->cq, q->cq_head * 16, &cqe, sizeof(cqe));
}

static void flood(struct world *w)
{
	struct rig *r = &rig;

	rig_start(w, r, 1, 16);
	r->vm->guest.complete = answers_again;
	answers_again(r, NULL, 0);
	CHECK_INT(liov_frontend_poll(&r->fe, 0), 16);
	CHECK_INT(r->nr_done, 1 + 16);
	CHECK_INT(liov_frontend_poll(&r->fe, 0), 16);
}

static void test_frontend_poll__answers_without_end__one_ring_a_call(void **state)
{
	world_run(*state, flood);
}

/* --- a driver without its barrier --- */

static void put_by_hand(struct rig *r, u16 cid, bool fence)
{
	struct liov_fe_queue *q = &r->fe.queue[0];
	struct nvme_sqe sqe = { .opcode = NVME_CMD_FLUSH, .cid = cid, .nsid = 1 };

	port_shm_copy_out(&r->fe.cmb, q->sq + q->sq_tail * 64u, &sqe, sizeof(sqe));
	q->sq_tail++;
	if (fence)
		port_dma_wmb(r->fe.home);
	port_mmio_wr32(&r->fe.cmb_regs, q->sq_doorbell, q->sq_tail);
}

static void unfenced(struct world *w)
{
	struct rig *r = &rig;
	struct nvme_sqe slot;

	rig_start(w, r, 1, 16);
	put_by_hand(r, 0x123, true);
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_sqe, 1);
	CHECK_INT(r->sqe[0].cid, 0x123);
	/* The doorbell is seen before the entry: the SSD fetches what was in the slot, zeros. */
	put_by_hand(r, 0x124, false);
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_sqe, 2);
	CHECK_INT(r->sqe[1].cid, 0);
	CHECK_INT(r->sqe[1].nsid, 0);
	/* The store came all the same, late. */
	port_shm_copy_in(&r->vm->liov.queue[0]->sq, 64, &slot, sizeof(slot));
	CHECK_INT(slot.cid, 0x124);
	put_by_hand(r, 0x125, true);
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_sqe, 3);
	CHECK_INT(r->sqe[2].cid, 0x125);
}

static void test_frontend__entry_not_fenced__device_fetches_the_old_one(void **state)
{
	world_run(*state, unfenced);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frontend_submit__queue_full__eagain_until_one_completes),
		TEST(test_frontend__rings_wrap__phase_turns_and_each_ends_once),
		TEST(test_frontend_poll__cid_of_nobody__ignored),
		TEST(test_frontend_poll__answers_without_end__one_ring_a_call),
		TEST(test_frontend__entry_not_fenced__device_fetches_the_old_one),
	};

	return cmocka_run_group_tests_name("core_frontend_ring", tests, NULL, NULL);
}
