// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/*
 * A host gone mad, from a seed: garbage in queues, doorbells, registers and lists. The
 * controller must not crash or hang (sanitizers and the event limit watch), must tell each fetched
 * command once at most, and must work again after a reset.
 */

#define STEPS 20000

static u64 rnd(u64 *s)
{
	*s += 0x9E3779B97F4A7C15ULL;
	u64 z = *s;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static u64 pick(u64 *s, u64 below)
{
	return rnd(s) % below;
}

static u64 some_address(u64 *s)
{
	switch (pick(s, 10)) {
	case 0:
		return RIG_NO_TARGET;
	case 1:
		return RIG_BAR0 + pick(s, 0x4000);
	case 2:
		return RIG_CBA + pick(s, 0x210000);
	case 3:
		return 0xFEE00000 + pick(s, 0x10000);
	case 4:
		return rnd(s);
	case 5:
		return RIG_LIST + pick(s, 0x2000);
	case 6:
		return ~0ULL - pick(s, 0x2000);
	default:
		return RIG_BUF + (pick(s, 0x100) << 12) + (pick(s, 3) ? 0 : pick(s, 0x1000));
	}
}

static struct nvme_sqe some_sqe(u64 *s)
{
	static const u8 opcodes[] = { 0, 1, 2, 2, 1, 5, 8, 9, 0x19, 4, 6, 0xA, 0xC, 0x80, 0xC1, 0x7F };
	struct nvme_sqe sqe = { .opcode = opcodes[pick(s, sizeof(opcodes))], .nsid = pick(s, 8) ? 1 : (u32)rnd(s),
				.cid = (u16)(1 + pick(s, 0xFFFF)), .prp1 = some_address(s), .prp2 = some_address(s) };

	if (!pick(s, 16))
		sqe.flags = (u8)rnd(s);
	if (!pick(s, 4)) {
		static const u8 ids[] = { 0x00, 0x20, 0x30, 0x10 };

		sqe.flags = 0x40;
		sqe.prp2 = (u64)ids[pick(s, 4)] << 56 | (pick(s, 2) ? 16 * pick(s, 300) : 512 * pick(s, 300));
	}
	sqe.cdw10 = (u32)(pick(s, 3) ? pick(s, 0x1000) : rnd(s));
	sqe.cdw11 = (u32)(pick(s, 3) ? pick(s, 8) & pick(s, 8) & 4 : rnd(s));
	sqe.cdw12 = (u32)(pick(s, 2) ? pick(s, 300) : rnd(s));
	sqe.cdw13 = pick(s, 8) ? 0 : (u32)rnd(s);
	sqe.cdw14 = pick(s, 8) ? 0 : (u32)rnd(s);
	return sqe;
}

static void some_admin(struct rig *r, u64 *s)
{
	struct nvme_sqe sqe = some_sqe(s);

	if (!pick(s, 3)) {
		sqe.opcode = (u8)(pick(s, 2) ? NVME_ADM_CREATE_CQ : NVME_ADM_CREATE_SQ);
		sqe.prp1 = RIG_IO_QUEUES + (pick(s, 64) << 16);
		sqe.cdw10 = (u32)(pick(s, 8) | pick(s, 64) << 16);
		sqe.cdw11 = (u32)(pick(s, 4) | pick(s, 8) << 16);
		sqe.nsid = 0;
	} else if (!pick(s, 3)) {
		sqe.opcode = (u8)(pick(s, 2) ? NVME_ADM_DELETE_SQ : NVME_ADM_ABORT);
		sqe.cdw10 = (u32)(pick(s, 8) | pick(s, 0x10000) << 16);
		sqe.nsid = 0;
	}
	rig_put(r, &r->admin, sqe);
	rig_ring(r, &r->admin);
}

/* Now and then the host consumes: without that, full CQs would stall all. */
static void drain(struct rig *r, struct rig_queue *q)
{
	struct nvme_cqe cqe;

	for (int i = 0; i < 64 && rig_peek(r, q, &cqe, false); i++)
		;
	rig_wr32(r, rig_doorbell(r, q->qid, true), q->head);
}

static void step(struct rig *r, struct rig_queue *io, u64 *s)
{
	switch (pick(s, 14)) {
	case 0:
	case 1:
		some_admin(r, s);
		break;
	case 2:
		if (pick(s, 2))
			rig_wr32(r, NVME_REG_DBS + 4 * pick(s, 140), pick(s, 70));
		else
			rig_wr32(r, NVME_REG_DBS + 8 * (1 + pick(s, 3)), pick(s, 64));
		break;
	case 3:
		rig_wr32(r, NVME_REG_DBS + 4 * pick(s, 18), pick(s, 2) ? pick(s, 64) : rnd(s));
		break;
	case 4:
		rig_wr32(r, 8 * pick(s, 6) + 0x38, rnd(s));
		break;
	case 5:
		if (!pick(s, 20))
			rig_wr(r, pick(s, 0x60), rnd(s), 1u << pick(s, 4));
		break;
	case 6:
		rig_wr(r, NVME_REG_CMBMSC, RIG_CBA | pick(s, 4), 8);
		break;
	case 9:
	case 10:
		drain(r, &io[pick(s, 3)]);
		drain(r, &r->admin);
		break;
	case 7:
		rig_set64(r, RIG_LIST + 8 * pick(s, 1024), some_address(s));
		break;
	case 8:
		for (int i = 0; i < 8; i++) {
			struct nvme_sqe sqe = some_sqe(s);
			u64 at = RIG_IO_QUEUES + 0x20000 * (1 + pick(s, 3)) + 64 * pick(s, 64);

			assert_true(bus_ram_write(&r->bus, (hpa_t){ at }, &sqe, 64));
		}
		break;
	default:
		rig_run(r, pick(s, 30) * PS_PER_US);
		break;
	}
}

static void restart(struct rig *r, struct rig_queue *io, u64 *s)
{
	rig_wr32(r, NVME_REG_CC, 0);
	rig_run(r, RIG_SECOND_PS);
	/* A shutdown asked for while disabled stays told until the next enable. */
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4) & ~NVME_CSTS_SHST, 0);
	rig_wr(r, NVME_REG_CMBMSC, 0, 8);
	rig_enable(r);
	for (u16 q = 0; q < 3; q++) {
		io[q] = rig_pair(r, (u16)(q + 1), 64, 64);
		for (int i = 0; i < 64; i++)
			rig_put(r, &io[q], some_sqe(s));
	}
}

static void test_controller__random_host__survives(void **state)
{
	struct nvme_config cfg = rig_config();
	struct nvme_counters before;
	struct rig_queue io[3] = { 0 };
	struct rig *r;
	u64 s = 1;

	(void)state;
	cfg.cmb_size_bytes = 0x200000;
	cfg.cmb_lists = true;
	cfg.cmb_cqs = true;
	cfg.cqr = false;
	cfg.sgls = true;
	cfg.resource_domains = true;
	cfg.oncs |= NVME_ONCS_COPY;
	r = rig_up(&cfg);
	r->trace.mask[0] = r->trace.mask[1] = 0;
	sched_limit_events(r->sched, 100 * STEPS);
	restart(r, io, &s);
	for (int i = 0; i < STEPS; i++) {
		step(r, io, &s);
		if (i % 200 == 199)
			restart(r, io, &s);
	}
	/* Everything fetched from here on is told once, and the controller is as new. */
	before = *nvme_counters(r->nvme);
	for (int i = 0; i < 200; i++)
		assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0x7E }), NVME_SC_INVALID_OPCODE | NVME_DNR);
	assert_int_equal(nvme_counters(r->nvme)->sqes_fetched - before.sqes_fetched, 200);
	assert_int_equal(nvme_counters(r->nvme)->cqes_posted - before.cqes_posted, 200);
	assert_true(before.cqes_posted <= before.sqes_fetched);
	assert_true(before.read_blocks > 1000 && before.written_blocks > 1000 && before.refused > 1000);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_controller__random_host__survives),
	};

	return cmocka_run_group_tests_name("nvme_chaos", tests, NULL, NULL);
}
