// SPDX-License-Identifier: GPL-2.0
/*
 * The mediator between a guest's queues and the hardware queue. Whatever the guest puts
 * there: what is sent names blocks of the VM's, and memory that is registered and held;
 * and all that was held is let go when the hardware has answered.
 */

#include "fuzz.h"
#include "core_mediator_rig.h"

#define SENT_MAX 448u	/* of what the rig remembers */

static u64 address(struct fuzz_in *in)
{
	u8 kind = fuzz_u8(in);

	switch (kind % 4) {
	case 0:
		return fuzz_u64(in);
	case 1:
		return LIST + fuzz_pick(in, 0x2000);
	default:
		return BUF + ((u64)fuzz_u8(in) << 12) + (kind & 0x80 ? fuzz_pick(in, 0x1000) : 0);
	}
}

static struct nvme_sqe command(struct fuzz_in *in)
{
	static const u8 opcodes[] = { NVME_CMD_READ, NVME_CMD_WRITE, NVME_CMD_COMPARE, NVME_CMD_WRITE_ZEROES, NVME_CMD_DSM, NVME_CMD_FLUSH };
	u8 how = fuzz_u8(in);
	struct nvme_sqe sqe = { .opcode = how & 1 ? fuzz_u8(in) : opcodes[fuzz_pick(in, 6)], .nsid = 1 };

	sqe.cid = fuzz_u8(in);
	sqe.prp1 = address(in);
	sqe.prp2 = address(in);
	sqe.cdw10 = how & 2 ? fuzz_u32(in) : fuzz_u8(in);
	sqe.cdw11 = how & 4 ? fuzz_u32(in) : sqe.opcode == NVME_CMD_DSM ? (u32)NVME_DSM_AD : 0;
	sqe.cdw12 = how & 8 ? fuzz_u32(in) : fuzz_u8(in);
	if (how & 16)
		sqe.flags = fuzz_u8(in);
	if (how & 32)
		sqe.nsid = fuzz_u32(in);
	if (how & 64)
		sqe.mptr = address(in);
	return sqe;
}

static bool page_held(u64 iova)
{
	u64 gpa = iova - DMA_OFFSET;

	return gpa >= RAM_BASE && gpa < RAM_BASE + RAM_SIZE && rig->held[(gpa - RAM_BASE) / 4096] > 0;
}

static bool private_page(u64 iova)
{
	u64 base = rig->vm.med->list_iova.v;

	return iova >= base && iova < base + HW_DEPTH * 4096ull;
}

/* Pages that a transfer of @bytes from @prp1 on touches. */
static u32 pages_of(u64 prp1, u64 bytes)
{
	return (u32)(((prp1 & 0xFFF) + bytes + 4095) / 4096);
}

static void check_data(const struct nvme_sqe *sqe, u64 bytes)
{
	u32 pages = pages_of(sqe->prp1, bytes), i;
	const u64 *list;

	fuzz_expect(page_held(sqe->prp1), "the first page is the VM's and held");
	if (pages == 2)
		fuzz_expect(page_held(sqe->prp2), "the second page is the VM's and held");
	if (pages <= 2)
		return;
	fuzz_expect(private_page(sqe->prp2), "a list is the mediator's own");
	list = private_list(sqe);
	for (i = 0; i + 1 < pages; i++)
		fuzz_expect(page_held(list[i]) && (list[i] & 0xFFF) == 0, "each page of a list is the VM's and held");
}

static void check_ranges(const struct nvme_sqe *sqe)
{
	u32 off, i;
	const struct nvme_dsm_range *range;
	struct port_shm *s;

	fuzz_expect(private_page(sqe->prp1), "ranges are the mediator's own copy");
	s = liov_mediator_list(rig->vm.med, sqe->cid, &off);
	range = (const struct nvme_dsm_range *)(uintptr_t)(s->base + off);
	for (i = 0; i <= (sqe->cdw10 & NVME_DSM_NR); i++)
		fuzz_expect(range[i].nlb == 0 || (range[i].slba >= LBA_START && range[i].slba <= LBA_START + LBA_COUNT &&
						   range[i].nlb <= LBA_START + LBA_COUNT - range[i].slba), "each range is the VM's");
}

/* By the specification and the VM's resources, not by the mediator's own check. */
static void check_sent(const struct nvme_sqe *sqe)
{
	u64 slba = sqe->cdw10 | (u64)sqe->cdw11 << 32, blocks = (sqe->cdw12 & 0xFFFF) + 1;

	fuzz_expect(sqe->flags == 0 && sqe->mptr == 0 && sqe->nsid == 1, "what is sent is built anew");
	switch (sqe->opcode) {
	case NVME_CMD_FLUSH:
		return;
	case NVME_CMD_DSM:
		check_ranges(sqe);
		return;
	case NVME_CMD_READ:
	case NVME_CMD_WRITE:
	case NVME_CMD_COMPARE:
	case NVME_CMD_WRITE_ZEROES:
		fuzz_expect(slba >= LBA_START && slba < LBA_START + LBA_COUNT && blocks <= LBA_START + LBA_COUNT - slba, "blocks are the VM's");
		if (sqe->opcode != NVME_CMD_WRITE_ZEROES)
			check_data(sqe, blocks * 512);
		return;
	default:
		fuzz_expect(false, "only known opcodes are sent");
	}
}

static void check_new(u32 *checked)
{
	for (; *checked < rig->hw.nr; (*checked)++)
		check_sent(&rig->hw.sqe[*checked]);
}

/* The hardware answers the oldest that it has not. */
static void answer_one(u32 *answered, u16 status)
{
	if (*answered < rig->hw.nr)
		answer((*answered)++, status);
}

static void action(struct fuzz_in *in, u32 *answered)
{
	struct nvme_sqe sqe;
	u32 at;

	switch (fuzz_pick(in, 8)) {
	case 0:
	case 1:
	case 2:
		sqe = command(in);
		put(1, &sqe);
		ring(1);
		break;
	case 3:
		at = fuzz_pick(in, 8);
		wr32(0x1000 + 4 * at, fuzz_u16(in));
		break;
	case 4:
		at = 8 * fuzz_pick(in, 1024);
		*(u64 *)ram(LIST + at) = address(in);
		break;
	case 5:
		answer_one(answered, fuzz_u16(in) & 0x7FF);
		break;
	case 6:
		run_work();
		break;
	default:
		cq_head[1] = fuzz_pick(in, ENTRIES);
		consume(1);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = fuzz_open(data, size);
	u32 checked = 0, answered = 0;
	void *state = NULL;

	setup(&state);
	while (fuzz_more(&in) && rig->hw.nr < SENT_MAX) {
		action(&in, &answered);
		check_new(&checked);
	}
	liov_mediator_pause(&rig->vm);
	check_new(&checked);
	while (answered < rig->hw.nr)
		answer_one(&answered, 0);
	for (u32 i = 0; i < RAM_SIZE / 4096; i++)
		fuzz_expect(rig->held[i] == 0, "nothing is held when all was answered");
	rig_teardown();
	return 0;
}
