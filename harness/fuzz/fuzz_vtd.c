// SPDX-License-Identifier: GPL-2.0
/*
 * The IOMMU: table entries, registers, descriptors of the invalidation queue, DMA and
 * interrupt messages in any order. Each request has an answer, a translated address lies
 * where memory can be, and a write of the tail is followed by a bounded number of steps.
 */

#include "fuzz.h"
#include "iommu_fixture.h"

#define LOW_MEMORY	0x40000ULL	/* where the fixture's tables are */
#define STEPS_MAX	(1u << 15)	/* descriptors of the largest queue */
#define MAXPHYADDR	46
#define PAGES		16u		/* mapped from the start, at IOVA 0 on */

/* Mostly plausible: pointing at tables, at memory, at nothing. */
static u64 entry(struct fuzz_in *in)
{
	u8 kind = fuzz_u8(in);

	switch (kind % 4) {
	case 0:
		return fuzz_u64(in);
	case 1:
		return (u64)fuzz_pick(in, 64) << 12 | (kind >> 2 & 0xF);
	case 2:
		return (u64)fuzz_u16(in) << 21 | 0x80 | (kind >> 2 & 0xF);
	default:
		return (u64)fuzz_u16(in) << 12 | (kind >> 2 & 0xF);
	}
}

static void run_queue(struct fx *f)
{
	u64 before = sched_events_run(f->sched);

	while (sched_run_one(f->sched))
		fuzz_expect(sched_events_run(f->sched) - before <= STEPS_MAX, "the invalidation queue comes to rest");
}

static void request(struct fx *f, struct fuzz_in *in)
{
	u8 how = fuzz_u8(in);
	u64 iova = how & 2 ? fuzz_u64(in) : fuzz_u16(in);
	u16 rid = how & 4 ? fuzz_u16(in) : FX_RID;

	if (fx_dma_rid(f, rid, iova, how & 1) == VTD_OK)
		fuzz_expect(f->out.v >> MAXPHYADDR == 0 || f->out.v == iova, "a translated address is below MAXPHYADDR");
}

/* @leaves: the table of the pages mapped at the start, whatever became of those above it. */
static void action(struct fx *f, u64 leaves, struct fuzz_in *in)
{
	u64 at;

	switch (fuzz_pick(in, 9)) {
	case 6:
		at = leaves + 8 * fuzz_pick(in, PAGES);
		fx_poke(f, at, entry(in));
		break;
	case 0:
		fx_poke(f, ((u64)fuzz_u16(in) << 3) % LOW_MEMORY, entry(in));
		break;
	case 1:
		at = FX_IRT + 8 * fuzz_pick(in, 128);
		fx_poke(f, at, fuzz_u64(in));
		break;
	case 2:
		at = fuzz_pick(in, 0x2C0);
		bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + at }, fuzz_u64(in), 1u << fuzz_pick(in, 4));
		break;
	case 3:
		at = fuzz_pick(in, 0x2C0);
		bus_cpu_read(&f->bus, (hpa_t){ FX_REGS + at }, 1u << fuzz_pick(in, 4));
		break;
	case 4:
		at = fuzz_u64(in);
		fx_submit(f, at, fuzz_u64(in));
		run_queue(f);
		break;
	case 5:
		at = fuzz_u16(in);
		vtd_interrupt(f->vtd, at & 1 ? fuzz_u16(in) : FX_RID, 0xFEE00000 | (at & 0xFFFC), fuzz_u16(in), at & 2 ? fuzz_u32(in) : 4);
		break;
	default:
		request(f, in);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = fuzz_open(data, size);
	u8 how = fuzz_u8(&in);
	struct fx *f = fx_new(how & 1, how & 2);
	void *state = f;
	u64 leaves = fx_leaf(f, 0);

	for (u32 i = 0; i < PAGES; i++)
		fx_map(f, i * 4096, 0x100000 + i * 4096, FX_RW);
	fx_start(f, how & 2);
	if (how & 4)
		fx_gcmd(f, 1U << 25, 0);
	while (fuzz_more(&in))
		action(f, leaves, &in);
	run_queue(f);
	fx_teardown(&state);
	return 0;
}
