// SPDX-License-Identifier: GPL-2.0
/*
 * Scalable mode under arbitrary tables: entries that loop, point at tables of another kind, at
 * themselves and at nothing, PASIDs out of range. What the unit answers is compared, request by request,
 * with a walk that was written here from VT-d 9.2, 9.4 to 9.6, 9.8 and 7.1.3: the same address or
 * the same reason. No two PASID entries name one domain, as software must see to (9.6).
 */
#include "iommu_pasid.h"

#define ROUNDS 2000
#define REQUESTS 32
#define AREA 0x400000ULL	/* pages of tables: directories, PASID tables, second-stage tables */
#define DIRS 4
#define PASID_TABLES 8
#define PAGES 64
#define ABOVE_HAW (~0ULL << 46)
#define IR(addr) ((addr) >> 20 == 0xFEE)

static u64 next(u64 *seed)
{
	u64 z = *seed += 0x9E3779B97F4A7C15ULL;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
	return z ^ z >> 31;
}

/* --- tables --- */

/* One of @nr pages from @first on; now and then any, or none. */
static u64 page(u64 *seed, u64 first, u64 nr)
{
	u64 kind = next(seed) % 64;

	return kind == 0 ? FX_RAM : kind == 1 ? AREA + 0x1000 * (next(seed) % PAGES) : AREA + 0x1000 * (first + next(seed) % nr);
}

static u64 page_entry(u64 *seed)
{
	u64 kind = next(seed) % 16, to = page(seed, DIRS + PASID_TABLES, PAGES - DIRS - PASID_TABLES);

	if (kind == 0)
		return next(seed);
	if (kind == 1)
		return 0xFEE00000 | (next(seed) & 0xFF000) | 3;
	if (kind == 2)
		return (next(seed) & 0x3FE00000) | 0x83;
	return to | (kind < 5 ? next(seed) & 3 : 3) | (kind == 5 ? 1ULL << next(seed) % 64 : 0);
}

static u64 pasid_entry_word(u64 *seed, u64 word, u64 at)
{
	u64 odd = next(seed) % 16;

	if (word == 0)
		return page(seed, DIRS + PASID_TABLES, PAGES - DIRS - PASID_TABLES) | SECOND_STAGE | (odd < 4 ? 1 << 2 : AW_48) |
		       (odd == 5 ? (next(seed) & 0xFFC) : 0) | (odd != 6) | (odd == 7 ? 1ULL << next(seed) % 64 : 0);
	if (word == 1)
		return (at >> 6 & 0xFFFF) | (odd == 8 ? 1ULL << (16 + next(seed) % 48) : 0);
	return odd == 9 && word == 2 + next(seed) % 64 ? 1 : 0;
}

static void scribble_at(struct fx *f, u64 *seed, u64 at)
{
	u64 nr = (at - AREA) >> 12, word = at >> 3 & 7;

	if (nr < DIRS)
		fx_poke(f, at, page(seed, DIRS, PASID_TABLES) | (next(seed) % 16 != 0) | (next(seed) % 64 ? 0 : 1ULL << next(seed) % 64));
	else if (nr < DIRS + PASID_TABLES || word == 1)	/* the domain: also where a table of pages is taken for one of PASIDs */
		fx_poke(f, at, pasid_entry_word(seed, word, at));
	else
		fx_poke(f, at, page_entry(seed));
}

static void scribble(struct fx *f, u64 *seed)
{
	u64 odd = next(seed) % 32;

	for (unsigned int i = 0; i < 128; i++)
		scribble_at(f, seed, AREA + (next(seed) % (PAGES << 12) & ~7ULL));
	fx_poke(f, FX_ROOT + 16, odd == 0 ? next(seed) : odd == 1 ? FX_RAM | 1 : FX_CTX | 1);
	fx_poke(f, FX_ROOT + 24, odd == 2 ? 0 : FX_CTX | 1);
	context(f, odd == 3 ? next(seed) : page(seed, 0, DIRS) | (next(seed) & 0xE00) | (odd != 4) << 3 | (odd != 5),
		odd == 6 ? next(seed) : odd == 7 ? next(seed) % 0x100000 : next(seed) % 64);
	fx_poke(f, FX_CTX + 16, odd == 8);
}

/* --- the walk, from the specification --- */

static bool rd(struct fx *f, u64 at, u64 *word, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (at + 8 * i >= FX_RAM)
			return false;
		word[i] = fx_peek(f, at + 8 * i);
	}
	return true;
}

/*
 * 9.8 and 3.7: an entry a level, permissions of all levels. A unit that has the tables on the way cached may
 * come to a broken entry below one that does not permit the access: @alt (6.2.4).
 */
static unsigned int walk_pages(struct fx *f, u64 table, int top, u64 iova, bool write, u64 *hpa, unsigned int *alt)
{
	unsigned int no = write ? 0x85 : 0x86, perm = 3, why = 0;

	for (int level = top;; level--) {
		u64 size = 1ULL << (12 + 9 * (level - 1)), e, rsvd = 1ULL << 11 | 1ULL << 62 | (ABOVE_HAW & ~(~0ULL << 52));
		bool leaf;

		if (!rd(f, table + 8 * (iova / size % 512), &e, 1))
			return *alt = level == top ? 0x7B : 0x78, why ? why : *alt;
		if (!(e & 3))
			return no;
		leaf = level == 1 || (level < 4 && (e & 1 << 7));
		if (level == 4)
			rsvd |= 1 << 7;
		if (leaf)
			rsvd |= (size - 1) & ~0xFFFULL;
		if (e & rsvd)
			return *alt = 0x7A, why ? why : *alt;
		perm &= (unsigned int)e;
		if (!(perm & (write ? 2 : 1)))
			why = no;
		table = e & ~0xFFFULL & ~(~0ULL << 52);
		if (!leaf)
			continue;
		*hpa = table | (iova & (size - 1));
		return why || !IR(*hpa) ? why : 0x87;
	}
}

static unsigned int pasid_word_check(const u64 e[8])
{
	u64 pgtt = e[0] >> 6 & 7, aw = e[0] >> 2 & 7, more = 0;

	for (int i = 2; i < 8; i++)
		more |= e[i];
	if (!(e[0] & 1))
		return 0x59;
	if ((e[0] & 0xE20) || e[1] >> 16 || more || (pgtt != 4 && (e[0] & ABOVE_HAW)))
		return 0x5A;
	return (pgtt != 2 && pgtt != 4) || (aw != 1 && aw != 2) ? 0x5B : 0;
}

/* From the root to the PASID's entry, or why not. */
static unsigned int walk_pasid(struct fx *f, u16 rid, u32 pasid, u64 e[8])
{
	u64 root, ctx[4], dir;
	u32 limit;

	if (!rd(f, FX_ROOT + 16ULL * (rid >> 8) + (rid & 0x80 ? 8 : 0), &root, 1))
		return 0x38;
	if (!(root & 1))
		return 0x39;
	if (root & (0xFFE | ABOVE_HAW))
		return 0x3A;
	if (!rd(f, (root & ~0xFFFULL) + 32ULL * (rid & 0x7F), ctx, 4))
		return 0x40;
	if (!(ctx[0] & 1))
		return 0x41;
	if ((ctx[0] & (0x1F4 | ABOVE_HAW)) || ctx[1] >> 20 || ctx[2] || ctx[3])
		return 0x42;
	if (pasid != VTD_NO_PASID && !(ctx[0] & 8))
		return 0x45;
	limit = 64u << (7 + (ctx[0] >> 9 & 7));
	if (pasid == VTD_NO_PASID ? ctx[1] >= limit : pasid >= limit)
		return pasid == VTD_NO_PASID ? 0x48 : 0x46;
	if (pasid == VTD_NO_PASID)
		pasid = (u32)ctx[1];
	if (!rd(f, (ctx[0] & ~0xFFFULL) + 8ULL * (pasid >> 6), &dir, 1))
		return 0x50;
	if (!(dir & 1))
		return 0x51;
	if (dir & (0xFFC | ABOVE_HAW))
		return 0x52;
	return rd(f, (dir & ~0xFFFULL) + 64ULL * (pasid & 63), e, 8) ? pasid_word_check(e) : 0x58;
}

static unsigned int walk(struct fx *f, u16 rid, u32 pasid, u64 iova, bool write, u64 *hpa, unsigned int *alt)
{
	u64 e[8];
	unsigned int why = walk_pasid(f, rid, pasid, e);
	int levels;

	if (why)
		return why;
	levels = 2 + (int)(e[0] >> 2 & 7);
	if (pasid == VTD_NO_PASID && IR(iova))
		return write ? 0x85 : 0x86;
	if (iova >> 48)
		return 0x83;
	if (iova >> (12 + 9 * levels))
		return 0x84;
	if ((e[0] >> 6 & 7) == 4) {
		*hpa = iova;
		return IR(iova) ? 0x87 : 0;
	}
	return walk_pages(f, e[0] & ~0xFFFULL, levels, iova, write, hpa, alt);
}

/* --- */

struct tally {
	u32 reason[256], unrecorded;
};

static void request(struct fx *f, u64 *seed, struct tally *t)
{
	u64 iova = next(seed) >> (next(seed) % 4 ? 25 : next(seed) % 52), hpa = 0, kind = next(seed) % 16;
	u32 pasid = kind == 0 ? VTD_NO_PASID : kind == 1 ? (u32)next(seed) & 0xFFFFF : (u32)next(seed) % 256;
	u16 rid = next(seed) % 64 ? FX_RID : (u16)(0x100 | (next(seed) & 0xFF));
	bool write = next(seed) & 1;
	unsigned int why, alt = 0;

	if (kind == 2)
		iova = 0xFEE00000 | (iova & 0xFFFFF);
	why = walk(f, rid, pasid, iova, write, &hpa, &alt);
	if (fx_dma_pasid(f, rid, pasid, iova, write) == VTD_OK) {
		assert_int_equal(why, 0);
		assert_int_equal(f->out.v, hpa);
	} else {
		u32 fsts = fx_rd32(f, FX_FSTS);

		assert_int_not_equal(why, 0);
		/* FPD of an entry on the way keeps it out of the record. */
		if (fsts & 2) {
			unsigned int is = fx_rd64(f, FX_FRCD + 16 * (fsts >> 8 & 0xFF) + 8) >> 32 & 0xFF;

			if (is != alt)
				assert_int_equal(is, why);
		} else {
			t->unrecorded++;
		}
		fx_faults_clear(f);
	}
	t->reason[why]++;
}

static void test_hostile__tables_of_scalable_mode__as_the_specification_walks_them(void **state)
{
	static const u8 all[] = { 0, 0x39, 0x3A, 0x40, 0x41, 0x42, 0x45, 0x46, 0x48, 0x50, 0x51, 0x52, 0x58, 0x59, 0x5A, 0x5B,
				  0x78, 0x7A, 0x7B, 0x83, 0x84, 0x85, 0x86, 0x87 };
	struct fx *f = *state;
	struct tally t = { { 0 }, 0 };
	u64 seed = 1;

	for (u64 at = AREA; at < AREA + (PAGES << 12); at += 8)
		scribble_at(f, &seed, at);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		scribble(f, &seed);
		forget(f);
		for (unsigned int i = 0; i < REQUESTS; i++)
			request(f, &seed, &t);
	}
	/* All reasons came up, and requests that went through; FPD hid some. */
	for (unsigned int i = 0; i < sizeof(all); i++)
		assert_int_not_equal(t.reason[all[i]], 0);
	assert_true(t.reason[0] > ROUNDS);
	assert_true(t.unrecorded && t.unrecorded < ROUNDS * REQUESTS / 8);
}

/* One that is legal, for any domain and PASID; or anything. */
static u64 descriptor(u64 *seed)
{
	u64 did = next(seed) & 0xFFFF, pasid = next(seed) & 0xFFFFF;
	const u64 legal[] = { FX_CTX_GLOBAL, FX_IOTLB_GLOBAL, FX_IEC_GLOBAL, PC_GLOBAL, PC_DOMAIN(did), PC_PASID(did, pasid),
			      PIOTLB_ALL(did, pasid), PIOTLB_PAGE(did, pasid) };

	return next(seed) % 4 ? legal[next(seed) % 8] : next(seed) >> next(seed) % 64;
}

/* Descriptors into the wide queue: it stops over what is none, goes on after the rest, and ends. */
static void test_hostile__wide_queue__bounded(void **state)
{
	struct fx *f = *state;
	u64 seed = 2, stopped = 0, went = 0;

	for (unsigned int round = 0; round < 10 * ROUNDS; round++) {
		u64 at = FX_QUEUE + 32ULL * f->queue_tail, before = sched_events_run(f->sched);

		fx_poke(f, at, descriptor(&seed));
		for (unsigned int i = 1; i < 4; i++)
			fx_poke(f, at + 8 * i, next(&seed) % 64 ? 0 : next(&seed));
		f->queue_tail = (f->queue_tail + 1) % 128;
		fx_wr64(f, 0x88, (u64)f->queue_tail << 5);
		fx_run(f);
		assert_true(sched_events_run(f->sched) - before <= 128);
		if (fx_rd32(f, FX_FSTS) & 1 << 4) {
			/* The error's remedy: off, on, from the first entry. */
			stopped++;
			fx_faults_clear(f);
			fx_gcmd(f, 0, 1U << 26);
			fx_wr64(f, 0x88, 0);
			f->queue_tail = 0;
			fx_gcmd(f, 1U << 26, 0);
		} else {
			went++;
			assert_int_equal(fx_rd64(f, 0x80), (u64)f->queue_tail << 5);
		}
		fx_dma_pasid(f, FX_RID, (u32)next(&seed) & 0xFFFFF, next(&seed) >> 16, true);
	}
	assert_true(stopped > ROUNDS && went > ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_hostile__tables_of_scalable_mode__as_the_specification_walks_them),
		T(test_hostile__wide_queue__bounded),
	};

	return cmocka_run_group_tests_name("iommu_hostile_pasid", tests, NULL, NULL);
}
