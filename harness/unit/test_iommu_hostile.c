// SPDX-License-Identifier: GPL-2.0
/*
 * The unit under arbitrary table contents, register values and requests: it must always
 * come back, within its bounds, and never name memory that no table named.
 */
#include "iommu_fixture.h"

#define ROUNDS 3000

static u64 next(u64 *seed)
{
	u64 z = *seed += 0x9E3779B97F4A7C15ULL;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

/* A table entry as an attacker writes them: mostly plausible, pointing at tables and at nothing. */
static u64 entry(u64 *seed)
{
	u64 kind = next(seed) % 8;

	if (kind == 0)
		return next(seed);
	if (kind == 1)
		return FX_RAM | 3;
	if (kind == 2)
		return (next(seed) & 0x3FE00000) | (next(seed) & 3) | 0x80;
	return (next(seed) % 64) << 12 | (kind == 3 ? next(seed) & 3 : 3);
}

/* One of the first 64: arbitrary, remapped, or posting into whatever lies in low memory. */
static void irte(struct fx *f, u64 *seed)
{
	u64 at = FX_IRT + 16 * (next(seed) % 64), kind = next(seed) % 4;

	fx_poke(f, at, kind == 0 ? next(seed) :
		       kind == 1 ? (next(seed) & ~0xFF00FFE0ULL) | 1 : (next(seed) % 8192) << 38 | 0x418001);
	fx_poke(f, at + 8, kind == 0 ? next(seed) : next(seed) & 0xFFFFF);
}

static void scribble(struct fx *f, u64 *seed)
{
	for (unsigned int i = 0; i < 64; i++) {
		fx_poke(f, (next(seed) % 0x40000) & ~7ULL, entry(seed));
		irte(f, seed);
	}
	fx_poke(f, FX_ROOT + 24, 0);
	fx_poke(f, FX_ROOT + 16, next(seed) % 8 ? FX_CTX | 1 : next(seed));
	fx_context(f, FX_RID, (next(seed) % 64) << 12 | (next(seed) % 8 ? 1 : next(seed) & 0xF),
		   next(seed) % 8 ? 1 + next(seed) % 2 : next(seed));
}

static void test_hostile__tables_and_requests__always_an_answer(void **state)
{
	struct fx *f = *state;
	u64 seed = 1, ok = 0;

	fx_gcmd(f, 1U << 25, 0);
	for (u64 at = 0; at < 0x40000; at += 8)
		fx_poke(f, at, entry(&seed));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		scribble(f, &seed);
		for (unsigned int i = 0; i < 32; i++) {
			u64 iova = next(&seed) >> (next(&seed) % 52);

			if (fx_dma_rid(f, next(&seed) % 8 ? FX_RID : (u16)next(&seed), iova, next(&seed) & 1) == VTD_OK) {
				ok++;
				assert_true(f->out.v < 1ULL << 46 || f->out.v == iova);	/* the latter: pass-through */
				assert_false(f->out.v >> 20 == 0xFEE);
			}
			vtd_interrupt(f->vtd, (u16)next(&seed), 0xFEE00000 | (next(&seed) & 0xFFC), (u32)next(&seed) & 0x1003F,
				      next(&seed) % 8 ? 4 : (u32)next(&seed));
		}
		if (round % 4 == 0) {
			fx_wr64(f, 0x88, 0);
			fx_gcmd(f, 0, 1U << 26);
			fx_gcmd(f, 1U << 26, 0);
			f->queue_tail = 0;
			fx_invalidate(f, FX_CTX_GLOBAL, 0);
			fx_invalidate(f, FX_IOTLB_GLOBAL, 0);
			fx_invalidate(f, FX_IEC_GLOBAL, 0);
		}
		fx_faults_clear(f);
	}
	/* The interesting paths were taken. */
	assert_true(ok > ROUNDS);
	assert_true(vtd_counters(f->vtd)->posted > ROUNDS / 10);
	assert_true(vtd_counters(f->vtd)->remapped > 0);
}

static void test_hostile__registers_and_queue__bounded(void **state)
{
	struct fx *f = *state;
	u64 seed = 2;

	for (unsigned int round = 0; round < 20 * ROUNDS; round++) {
		u64 off = next(&seed) % 0x2C0, val = next(&seed) >> (next(&seed) % 64), before;
		unsigned int len = 1U << next(&seed) % 4;

		bus_cpu_read(&f->bus, (hpa_t){ FX_REGS + off }, len);
		bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + off }, val, len);
		fx_poke(f, FX_QUEUE + 8 * (next(&seed) % 512), val & (next(&seed) & 1 ? ~0ULL : 0xFF));
		if (round % 16)
			continue;
		/* One tail write is followed by at most the largest queue's descriptors, and then by silence. */
		before = sched_events_run(f->sched);
		fx_wr64(f, 0x88, (u64)(next(&seed) % 300) << 4);
		fx_run(f);
		assert_true(sched_events_run(f->sched) - before <= 1 << 15);
		fx_dma(f, next(&seed) >> 20, true);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_hostile__tables_and_requests__always_an_answer),
		FX_TEST(test_hostile__registers_and_queue__bounded),
	};

	return cmocka_run_group_tests_name("iommu_hostile", tests, NULL, NULL);
}
