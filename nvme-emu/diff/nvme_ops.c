// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

#include "diff/nvme_ops.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Operations on queues and commands, and the set-up of a machine. */

#define READY_POLLS 2000

u64 diff_queue_base(u32 q)
{
	return DIFF_QUEUES + ((u64)q << 16);
}

static void submit(struct side *s, u32 q, struct nvme_sqe *sqe, const struct op *op, struct seen *seen)
{
	nvme_client_store(s, q, sqe, op_get(op, "wait"));
	if (!op_get(op, "ring"))
		return;
	nvme_client_ring(s, q);
	nvme_client_collect(s, q, seen);
}

static void play_admin(struct side *s, const struct op *op, struct seen *seen)
{
	struct nvme_sqe sqe = {
		.opcode = (u8)op_get(op, "op"), .flags = (u8)op_get(op, "flags"), .cid = (u16)op_get(op, "cid"),
		.nsid = (u32)op_get(op, "nsid"), .prp1 = op_get(op, "prp1"), .prp2 = op_get(op, "prp2"),
		.cdw10 = (u32)op_get(op, "d10"), .cdw11 = (u32)op_get(op, "d11"), .cdw12 = (u32)op_get(op, "d12"),
		.cdw13 = (u32)op_get(op, "d13"), .cdw14 = (u32)op_get(op, "d14"), .cdw15 = (u32)op_get(op, "d15"),
	};

	submit(s, 0, &sqe, op, seen);
}

static void play_io(struct side *s, const struct op *op, struct seen *seen)
{
	u64 slba = op_get(op, "slba");
	struct nvme_sqe sqe = {
		.opcode = (u8)op_get(op, "op"), .flags = (u8)op_get(op, "flags"), .cid = (u16)op_get(op, "cid"),
		.nsid = (u32)op_get(op, "nsid"), .mptr = op_get(op, "mptr"), .prp1 = op_get(op, "prp1"), .prp2 = op_get(op, "prp2"),
		.cdw10 = (u32)slba, .cdw11 = (u32)(slba >> 32), .cdw12 = (u32)(op_get(op, "nlb") | op_get(op, "d12")),
		.cdw13 = (u32)op_get(op, "d13"), .cdw14 = (u32)op_get(op, "d14"), .cdw15 = (u32)op_get(op, "d15"),
	};

	submit(s, (u32)op_get(op, "q") % DIFF_QUEUES_MAX, &sqe, op, seen);
}

static void play_ring(struct side *s, const struct op *op, struct seen *seen)
{
	u32 q = (u32)op_get(op, "q") % DIFF_QUEUES_MAX;

	nvme_client_ring(s, q);
	nvme_client_collect(s, q, seen);
}

/* What came on the admin CQ by itself. "repeated" says, for the table of differences, that a doorbell brought nothing new. */
static void play_events(struct side *s, const struct op *op, struct seen *seen)
{
	(void)op;
	s->nvme.sq[0].outstanding = 0;
	for (u32 i = 0; i < 4; i++)
		side_read_now(s, DIFF_BAR0 + NVME_REG_CSTS, 4);
	nvme_client_collect(s, 0, seen);
}

static void play_cq(struct side *s, const struct op *op, struct seen *seen)
{
	u64 q = op_get(op, "q"), at = op_get(op, "at"), size = op_get(op, "size");
	struct nvme_sqe sqe = {
		.opcode = NVME_ADM_CREATE_CQ, .prp1 = at ? at : diff_queue_base((u32)q % DIFF_QUEUES_MAX) + 0x8000,
		.cdw10 = (u32)(q & 0xFFFF) | (u32)(size - 1) << 16, .cdw11 = (u32)(op_get(op, "vec") << 16 | op_get(op, "flags")),
	};

	if (!at && q < DIFF_QUEUES_MAX && !s->nvme.cq[q].live)
		side_fill(s, sqe.prp1, 0, 0x8000);
	nvme_client_store(s, 0, &sqe, true);
	nvme_client_ring(s, 0);
	nvme_client_collect(s, 0, seen);
}

static void play_sq(struct side *s, const struct op *op, struct seen *seen)
{
	u64 q = op_get(op, "q"), at = op_get(op, "at");
	struct nvme_sqe sqe = {
		.opcode = NVME_ADM_CREATE_SQ, .prp1 = at ? at : diff_queue_base((u32)q % DIFF_QUEUES_MAX),
		.cdw10 = (u32)(q & 0xFFFF) | (u32)(op_get(op, "size") - 1) << 16,
		.cdw11 = (u32)(op_get(op, "cq") << 16 | op_get(op, "flags")),
	};

	nvme_client_store(s, 0, &sqe, true);
	nvme_client_ring(s, 0);
	nvme_client_collect(s, 0, seen);
}

/* Until CSTS.RDY is as CC.EN wants it, or the controller gives up. */
static void wait_ready(struct side *s, bool ready, struct seen *seen)
{
	u64 csts = 0;

	for (u32 i = 0; i < READY_POLLS && !s->dead; i++) {
		csts = side_read_now(s, DIFF_BAR0 + NVME_REG_CSTS, 4);
		if (!!(csts & NVME_CSTS_RDY) == ready || (csts & NVME_CSTS_CFS))
			break;
		if (i > 64)
			usleep(1000);
	}
	see(seen, csts, "csts");
}

static void play_enable(struct side *s, const struct op *op, struct seen *seen)
{
	u64 aqa = op_get(op, "aqa"), asq = op_get(op, "asq"), acq = op_get(op, "acq");

	nvme_client_open_admin(s, asq, acq, (u32)FIELD_GET(NVME_AQA_ASQS, aqa) + 1, (u32)FIELD_GET(NVME_AQA_ACQS, aqa) + 1);
	side_write(s, DIFF_BAR0 + NVME_REG_AQA, 4, aqa);
	side_write(s, DIFF_BAR0 + NVME_REG_ASQ, 4, (u32)asq);
	side_write(s, DIFF_BAR0 + NVME_REG_ASQ + 4, 4, asq >> 32);
	side_write(s, DIFF_BAR0 + NVME_REG_ACQ, 4, (u32)acq);
	side_write(s, DIFF_BAR0 + NVME_REG_ACQ + 4, 4, acq >> 32);
	side_write(s, DIFF_BAR0 + NVME_REG_CC, 4, op_get(op, "cc"));
	wait_ready(s, true, seen);
}

static void play_disable(struct side *s, const struct op *op, struct seen *seen)
{
	side_write(s, DIFF_BAR0 + NVME_REG_CC, 4, op_get(op, "cc"));
	for (u32 q = 0; q < DIFF_QUEUES_MAX; q++)
		s->nvme.sq[q].live = s->nvme.cq[q].live = false;
	wait_ready(s, false, seen);
}

/* The halves by themselves: QEMU takes the base when the low one is written. */
static void play_cmb(struct side *s, const struct op *op, struct seen *seen)
{
	u64 base = op_get(op, "base"), v;

	side_write(s, DIFF_BAR0 + NVME_REG_CMBMSC + 4, 4, base >> 32);
	side_write(s, DIFF_BAR0 + NVME_REG_CMBMSC, 4, (u32)base | op_get(op, "flags"));
	s->nvme.cba = op_get(op, "flags") == (NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE) ? base : 0;
	v = side_read_now(s, DIFF_BAR0 + NVME_REG_CMBSTS, 4);
	see(seen, v, "cmbsts");
}

static void play_doorbell(struct side *s, const struct op *op, struct seen *seen)
{
	side_write(s, DIFF_BAR0 + NVME_REG_DBS + 8 * op_get(op, "q") + 4 * op_get(op, "cq"), 4, op_get(op, "v"));
	see(seen, side_read_now(s, DIFF_BAR0 + NVME_REG_CSTS, 4), "csts");
}

static const char *const setup[][16] = {
	{ NULL },
	{ "msixctl v=0x8000", "enable", NULL },
	{ "admin op=9 d10=7 d11=0x70007", "cmb", "cq q=1 vec=1 size=64", "sq q=1 size=32", "cq q=2 vec=2 size=32",
	  "sq q=2 cq=2 size=32 at=0x8000001000", NULL },
};

static void play_line(struct side *s, const char *line, struct seen *seen)
{
	struct op op;
	char why[128];
	bool ok = op_parse(&op, line, why, sizeof(why));

	assert(ok);
	op.kind->play(s, &op, seen);
}

/* up=0: BARs; 1: MSI-X and the admin queue; 2: the CMB, queue 1 in memory, queue 2's SQ in the CMB. */
static void play_machine(struct side *s, const struct op *op, struct seen *seen)
{
	char line[64];

	side_fill(s, DIFF_QUEUES, 0, 0x100000);
	nvme_client_pci(s);
	side_sync(s);
	if (op_get(op, "up"))
		for (u32 v = 0; v < op_get(op, "vectors") && v < DIFF_VECTORS_MAX; v++) {
			snprintf(line, sizeof(line), "msix v=%u", v);
			play_line(s, line, seen);
		}
	for (u64 step = 1; step <= op_get(op, "up") && step < sizeof(setup) / sizeof(setup[0]); step++)
		for (u32 i = 0; setup[step][i]; i++)
			play_line(s, setup[step][i], seen);
}

const struct op_kind machine_kind = {
	"machine", UNIT_NONE, { "cmb=2", "pairs=8", "vectors=9", "mdts=5", "aerl=3", "vtd=0", "up=2" }, play_machine,
};

#define SQE_ARGS "op", "flags", "cid", "nsid", "prp1=0x200000", "prp2", "d12", "d13", "d14", "d15", "wait=1", "ring=1"

const struct op_kind nvme_kinds[] = {
	{ "admin", UNIT_NVME, { SQE_ARGS, "d10", "d11" }, play_admin },
	{ "io", UNIT_NVME, { "q=1", "op", "flags", "cid", "nsid=1", "prp1=0x200000", "prp2", "d12", "d13", "d14", "d15", "wait=1",
			     "ring=1", "slba", "nlb", "mptr" }, play_io },
	{ "ring", UNIT_NONE, { "q=1" }, play_ring },
	{ "events", UNIT_NONE, { "repeated" }, play_events },
	{ "cq", UNIT_NVME, { "q=1", "size=32", "at", "vec", "flags=3" }, play_cq },
	{ "sq", UNIT_NVME, { "q=1", "cq=1", "size=32", "at", "flags=1" }, play_sq },
	{ "enable", UNIT_NONE, { "aqa=0x1F001F", "asq=0x100000", "acq=0x108000", "cc=0x460001" }, play_enable },
	{ "disable", UNIT_NONE, { "cc=0" }, play_disable },
	{ "cmb", UNIT_NONE, { "base=0x8000000000", "flags=3" }, play_cmb },
	{ "doorbell", UNIT_NONE, { "q", "cq", "v" }, play_doorbell },
	{ "read", UNIT_NONE, { "at", "w=4" }, play_read },
	{ "write", UNIT_NONE, { "at", "v", "w=4" }, play_write },
	{ "regs", UNIT_NONE, { "from", "to", "w=4" }, play_regs },
	{ "msix", UNIT_NONE, { "v", "addr", "data", "mask" }, play_msix },
	{ "msixctl", UNIT_NONE, { "v" }, play_msixctl },
	{ "pending", UNIT_NONE, { NULL }, play_pending },
	{ "config", UNIT_NONE, { "at", "w=4" }, play_config },
	{ "configw", UNIT_NONE, { "at", "v", "w=4" }, play_configw },
	{ "put", UNIT_NONE, { "at=0x200000", "len=0x1000", "seed" }, play_put },
	{ "words", UNIT_NONE, { "at=0x400000", "a", "b", "c", "d", "e", "f", "g", "h" }, play_words },
	{ "list", UNIT_NONE, { "at=0x400000", "n=512", "base=0x200000", "step=0x1000" }, play_list },
	{ "see", UNIT_NONE, { "at=0x200000", "len=0x1000" }, play_see },
	{ "see-ctrl", UNIT_NONE, { "at=0x200000" }, play_see_ctrl },
	{ "see-ns", UNIT_NONE, { "at=0x200000" }, play_see_ns },
	{ NULL },
};
