// SPDX-License-Identifier: GPL-2.0
/*
 * The controller under its host: SQEs in its queues, doorbells, registers, lists, in any
 * order and at any time. It tells each command it fetched once at most, and is as new after a
 * reset, whatever was before.
 */

#include "fuzz.h"
#include "nvme_rig.h"

#define PAIRS		3u
#define ENTRIES		64u
#define EVENTS_MAX	2000000ull

static u64 address(struct fuzz_in *in)
{
	u8 kind = fuzz_u8(in);

	switch (kind % 8) {
	case 0:
		return fuzz_u64(in);
	case 1:
		return RIG_BAR0 + fuzz_pick(in, 0x4000);
	case 2:
		return RIG_CBA + fuzz_u32(in) % 0x210000;
	case 3:
		return 0xFEE00000 + fuzz_u16(in);
	case 4:
		return RIG_LIST + fuzz_pick(in, 0x2000);
	default:
		return RIG_BUF + ((u64)fuzz_u8(in) << 12) + (kind & 0x80 ? fuzz_pick(in, 0x1000) : 0);
	}
}

/* As a driver fills it, then some of it changed. */
static struct nvme_sqe command(struct fuzz_in *in)
{
	struct nvme_sqe sqe = { .opcode = fuzz_u8(in), .nsid = 1 };
	u8 how = fuzz_u8(in);

	sqe.cid = (u16)(1 + fuzz_u8(in));
	sqe.prp1 = address(in);
	sqe.prp2 = address(in);
	sqe.cdw10 = how & 1 ? fuzz_u32(in) : fuzz_u8(in);
	sqe.cdw11 = how & 2 ? fuzz_u32(in) : 0;
	sqe.cdw12 = how & 4 ? fuzz_u32(in) : fuzz_u8(in);
	if (how & 8)
		sqe.flags = fuzz_u8(in);
	if (how & 16)
		sqe.nsid = fuzz_u32(in);
	if (how & 32) {
		sqe.cdw13 = fuzz_u32(in);
		sqe.cdw14 = fuzz_u32(in);
		sqe.cdw15 = fuzz_u32(in);
	}
	if (how & 64)
		sqe.mptr = address(in);
	return sqe;
}

/* Admin commands name queues, pages and sizes that are nearly right. */
static void admin(struct rig *r, struct fuzz_in *in)
{
	struct nvme_sqe sqe = command(in);

	if (sqe.opcode == NVME_ADM_CREATE_CQ || sqe.opcode == NVME_ADM_CREATE_SQ) {
		sqe.prp1 = RIG_IO_QUEUES + ((u64)fuzz_pick(in, 64) << 16);
		sqe.cdw10 = fuzz_pick(in, 8) | (u32)fuzz_u8(in) << 16;
		sqe.cdw11 = fuzz_pick(in, 4) | (u32)fuzz_pick(in, 8) << 16;
		sqe.nsid = 0;
	}
	rig_put(r, &r->admin, sqe);
	rig_ring(r, &r->admin);
}

static void consume(struct rig *r, struct rig_queue *q)
{
	struct nvme_cqe cqe;
	u32 i;

	for (i = 0; i < ENTRIES && rig_peek(r, q, &cqe, false); i++)
		;
	rig_wr32(r, rig_doorbell(r, q->qid, true), q->head);
}

static void action(struct rig *r, struct rig_queue *io, struct fuzz_in *in)
{
	struct rig_queue *q = &io[fuzz_pick(in, PAIRS)];
	u64 at;

	switch (fuzz_pick(in, 10)) {
	case 0:
		admin(r, in);
		break;
	case 1:
	case 2:
		rig_put(r, q, command(in));
		rig_ring(r, q);
		break;
	case 3:
		at = NVME_REG_DBS + 4 * fuzz_pick(in, 140);
		rig_wr32(r, at, fuzz_u16(in));
		break;
	case 4:
		at = fuzz_pick(in, 0x60);
		rig_wr(r, at, fuzz_u64(in), 1u << fuzz_pick(in, 4));
		break;
	case 5:
		at = fuzz_pick(in, 0x2000);
		rig_rd(r, at, 1u << fuzz_pick(in, 4));
		break;
	case 6:
		rig_set64(r, RIG_LIST + 8 * fuzz_pick(in, 1024), address(in));
		break;
	case 7:
		at = RIG_CBA | fuzz_pick(in, 4);
		rig_wr(r, NVME_REG_CMBMSC, at, 8);
		break;
	case 8:
		consume(r, q);
		consume(r, &r->admin);
		break;
	default:
		(void)sched_run_until(r->sched, sched_now(r->sched) + fuzz_u8(in) * PS_PER_US);
		break;
	}
}

static void reset(struct rig *r)
{
	rig_wr32(r, NVME_REG_CC, 0);
	(void)sched_run_until(r->sched, sched_now(r->sched) + RIG_SECOND_PS);
	fuzz_expect((rig_rd(r, NVME_REG_CSTS, 4) & ~NVME_CSTS_SHST) == 0, "a disabled controller comes to rest");
	rig_wr(r, NVME_REG_CMBMSC, 0, 8);
	rig_enable(r);
	fuzz_expect(rig_admin(r, (struct nvme_sqe){ .opcode = 0x7E }) == (NVME_SC_INVALID_OPCODE | NVME_DNR), "a reset controller answers");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = fuzz_open(data, size);
	struct rig_queue io[PAIRS] = { 0 };
	struct nvme_config cfg = rig_config();
	u8 how = fuzz_u8(&in);
	struct rig *r;
	u16 q;

	cfg.cmb_size_bytes = 0x200000;
	cfg.cmb_lists = cfg.cmb_cqs = how & 1;
	cfg.cqr = how & 2;
	cfg.sgls = how & 4;
	cfg.resource_domains = how & 8;
	cfg.dstrd = how & 16 ? 10 : 0;
	cfg.oncs |= NVME_ONCS_COPY;
	cfg.timing.reset_ps = PS_PER_US;
	r = rig_up(&cfg);
	r->trace.mask[0] = r->trace.mask[1] = 0;
	sched_limit_events(r->sched, EVENTS_MAX);
	for (q = 0; q < PAIRS; q++)
		io[q] = rig_pair(r, (u16)(q + 1), ENTRIES, ENTRIES);
	while (fuzz_more(&in))
		action(r, io, &in);
	fuzz_expect(nvme_counters(r->nvme)->cqes_posted <= nvme_counters(r->nvme)->sqes_fetched, "no command is told twice");
	reset(r);
	rig_free(r);
	return 0;
}
