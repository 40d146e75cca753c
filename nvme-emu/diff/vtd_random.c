// SPDX-License-Identifier: GPL-2.0
#include "diff/vtd_client.h"

#include <stdio.h>

/*
 * Random operations on VT-d: mostly what a driver does, some of it nearly so, some hostile. What the
 * specification leaves to the implementation is kept out: accesses through stale upper tables or
 * contexts, and those that a page cached with other rights meets (6.2: hardware may keep
 * what it read, and need not). Stale leaves are in: both machines keep them. The rest that
 * differs by design has a row in ../differences.tsv.
 */

#define OPERATIONS 300
#define PAGES 12
#define IOVA(page) (0xC00000ULL + (u64)(page) * SPEC_PAGE_SIZE)
#define LARGE_IOVA 0xE00000ULL
#define ONE_RIGHT_IOVA 0xCFF000ULL	/* as differences.tsv has it */
#define CHUNKS 4			/* pages of content on the medium at first */
#define READ_LBA 64			/* from here on the device writes what it read */
#define INDEXES 32
#define KEPT_MAX 3			/* faults left pending, less than the records of either machine */

struct page {
	u64 to[2];		/* where the entry points, by tree; 0: nowhere */
	u8 rights[2];
	u8 cached;		/* rights in the IOTLB, 0: not there */
	u64 cached_to;
};

struct state {
	struct stream *st;
	u64 random;
	struct page page[PAGES];
	u32 tree;		/* the context's */
	u64 index;		/* next IRTE without a cache to be cleared */
	u32 kept;
	bool qi, ir, stuck;	/* the queue stands at a bad descriptor */
	u64 mark;
	u32 hot;		/* a page, of an even number */
};

static u32 below(struct state *s, u32 n)
{
	return diff_below(&s->random, n);
}

static bool one_in(struct state *s, u32 n)
{
	return !below(s, n);
}

/* Some more often than others, so that something happens to them. */
static u32 any_page(struct state *s)
{
	return one_in(s, 3) ? below(s, PAGES) : s->hot ^ below(s, 2);
}

static u64 somewhere(struct state *s)
{
	return DIFF_DATA + 0x10000 + (u64)below(s, 64) * SPEC_PAGE_SIZE;
}

static void uncache_all(struct state *s)
{
	for (u32 i = 0; i < PAGES; i++)
		s->page[i].cached = 0;
}

static u32 did(const struct state *s)
{
	return s->tree + 1;
}

/* Global, of the domain, or of another: the last changes nothing. */
static void flush(struct state *s, bool must)
{
	u32 how = below(s, must ? 2 : 3);

	stream_addf(s->st, "vtd-invalidate type=2 g=%u did=%u mark=%llu", how ? 2 : 1, how == 2 ? did(s) + 7 : did(s),
		    (unsigned long long)++s->mark);
	if (how < 2)
		uncache_all(s);
}

static void flush_pages(struct state *s)
{
	u32 page = any_page(s), am = below(s, 4), first = page >> am << am;
	bool mine = !one_in(s, 6);

	stream_addf(s->st, "vtd-invalidate type=2 g=3 did=%u addr=0x%llx am=%u ih=%u mark=%llu", mine ? did(s) : did(s) + 7,
		    (unsigned long long)IOVA(page), am, below(s, 2), (unsigned long long)++s->mark);
	for (u32 i = first; mine && i < first + (1u << am) && i < PAGES; i++)
		s->page[i].cached = 0;
}

static void map(struct state *s)
{
	/* Bits that are ignored, then reserved ones. */
	static const u64 bits[] = { 0x4, 0x700, 1ULL << 52, 1ULL << 61, 1ULL << 63, 0x800, 1ULL << 62, 1ULL << 48, 1ULL << 51 };
	u32 n = any_page(s), tree = one_in(s, 4) ? !s->tree : s->tree;
	u32 bit = one_in(s, 4) ? below(s, sizeof(bits) / sizeof(bits[0])) : 0;
	struct page *p = &s->page[n];

	p->rights[tree] = (u8)(one_in(s, 3) ? below(s, 4) : 3);
	p->to[tree] = somewhere(s);
	stream_addf(s->st, "vtd-map iova=0x%llx to=0x%llx rights=%u xor=0x%llx tree=%u", (unsigned long long)IOVA(n),
		    (unsigned long long)p->to[tree], p->rights[tree], (unsigned long long)bits[bit], tree);
	/* A reserved bit with rights that do not do is two faults at once. */
	if (bit >= 5) {
		if (p->rights[tree] != 3)
			stream_addf(s->st, "vtd-map iova=0x%llx rights=0 tree=%u", (unsigned long long)IOVA(n), tree);
		p->rights[tree] = 0;
	}
}

/* True: what is cached does not stand in the way; @p is cached then if it can be. */
static bool reach(struct state *s, struct page *p, bool read)
{
	u8 need = read ? VTD_SSPTE_R : VTD_SSPTE_W;

	if (p->cached)
		return p->cached & need;
	if (p->rights[s->tree] & need) {
		p->cached = p->rights[s->tree];
		p->cached_to = p->to[s->tree];
	}
	return true;
}

static void dma(struct state *s)
{
	struct page *p, *p2;
	bool read = one_in(s, 3), two = one_in(s, 4), keep = s->kept < KEPT_MAX && one_in(s, 8);
	u32 n = any_page(s), n2 = below(s, PAGES);
	u64 offset, look = 0;

	p = &s->page[n];
	p2 = &s->page[n2];
	if (!reach(s, p, read))
		return;
	/* Behind a page that faults the device may go on, or not. */
	two = two && p->cached && n != n2;
	if (two && !reach(s, p2, read))
		return;
	/* Of two pages of data that were read the first's half is not enough to say what is on the medium. */
	if (p->cached && !(read && two))
		look = p->cached_to;
	offset = two ? 0x800 : 0;
	stream_addf(s->st, "vtd-dma read=%u iova=0x%llx iova2=0x%llx lba=%u blocks=8 look=0x%llx seed=%u keep=%u", read,
		    (unsigned long long)(IOVA(n) + offset), (unsigned long long)(two ? IOVA(n2) : 0), 8 * below(s, CHUNKS) + (read ? READ_LBA : 0),
		    (unsigned long long)look, below(s, 1000) + 1, keep);
	s->kept = keep ? s->kept + 1 : 0;
}

/* Whatever lies in a leaf: a large page or the table, or a table or page that is not one. */
static void large(struct state *s)
{
	static const u64 bits[] = { 0, 0, 0, 0x1000, 0x100000, 0x800, 1ULL << 62, 1ULL << 50 };
	u64 xor = bits[below(s, sizeof(bits) / sizeof(bits[0]))];
	bool is_large = !one_in(s, 3);

	/* As an address of a table bits 12 and 20 lead to some other. */
	if (!is_large && xor < 0x200000 && xor != 0x800)
		xor = 0;
	stream_addf(s->st, "vtd-map iova=0x%llx to=0x200000 level=2 large=%u rights=%u xor=0x%llx tree=%u",
		    (unsigned long long)LARGE_IOVA, is_large, one_in(s, 6) ? 0 : 3, (unsigned long long)xor, s->tree);
	flush(s, true);
	if (one_in(s, 3))
		stream_addf(s->st, "vtd-dma iova=0x%llx lba=%u read=1", LARGE_IOVA + 0x20000, READ_LBA);
	else
		stream_addf(s->st, "vtd-dma iova=0x%llx look=0x%llx lba=%u", LARGE_IOVA + 0x20000, 0x220000ULL, 8 * below(s, CHUNKS));
	/* Another page of it, from the IOTLB. */
	stream_addf(s->st, "vtd-dma iova=0x%llx look=0x%llx lba=%u", LARGE_IOVA + 0x31000, 0x231000ULL, 8 * below(s, CHUNKS));
	s->kept = 0;
}

static void switch_context(struct state *s)
{
	u32 old = did(s);
	u32 g = 1 + below(s, 3);

	s->tree = below(s, 2);
	stream_addf(s->st, "vtd-context tree=%u did=%u aw=2 fpd=%u", s->tree, did(s), one_in(s, 5));
	stream_addf(s->st, "vtd-invalidate type=1 g=%u did=%u mark=%llu", g, old, (unsigned long long)++s->mark);
	stream_addf(s->st, "vtd-invalidate type=2 g=1 mark=%llu", (unsigned long long)++s->mark);
	uncache_all(s);
}

static void switch_translation(struct state *s)
{
	stream_addf(s->st, "vtd-command clear=0x80000000");
	stream_addf(s->st, "vtd-dma iova=0x%llx look=0x%llx", (unsigned long long)somewhere(s), (unsigned long long)somewhere(s));
	stream_addf(s->st, "vtd-command set=0x80000000");
	stream_addf(s->st, "vtd-invalidate type=1");
	stream_addf(s->st, "vtd-invalidate type=2");
	uncache_all(s);
	s->kept = 0;
}

/* An entry right, or with one thing wrong with it, then its interrupt. */
static void interrupt(struct state *s)
{
	static const u64 lo[] = { 0x8, 0x10, 0x100, 0x800, 0x1000, 0x4000, 0x1000000, 0x80000000 };
	u32 wrong = below(s, 10), svt = below(s, 4);
	u32 sid = wrong == 2 ? below(s, 0x40) : VTD_SID ^ (one_in(s, 3) ? below(s, 8) : 0);
	u64 index = s->qi ? below(s, INDEXES) : s->index++;

	if (!s->qi && index >= INDEXES)
		return;
	/* The ends of a range of buses: QEMU has them the other way round. */
	if (svt == VTD_SVT_BUS_RANGE)
		sid = wrong == 2 ? 0x0101 : 0;
	stream_addf(s->st, "vtd-irte index=%llu p=%u fpd=%u v=0x%x sid=0x%x sq=%u svt=%u lo=0x%llx hi=0x%llx",
		    (unsigned long long)index, wrong != 1, one_in(s, 8), 0x20 + below(s, 0xE0),
		    sid, below(s, 4), svt, wrong == 3 ? (unsigned long long)lo[below(s, 8)] : 0,
		    wrong == 4 ? 1ULL << (20 + below(s, 44)) : 0);
	if (s->qi)
		stream_addf(s->st, "vtd-invalidate type=4 g=%u addr=%llu am=%u mark=%llu", below(s, 2), (unsigned long long)index,
			    below(s, 3), (unsigned long long)++s->mark);
	if (wrong == 5)
		index = one_in(s, 2) ? VTD_IRTES_NR : index + (VTD_IRTES_NR << below(s, 8));
	if (one_in(s, 4) && index)
		stream_addf(s->st, "vtd-interrupt handle=%llu shv=1 data=%llu", (unsigned long long)(index - 1), 1ULL);
	else
		stream_addf(s->st, "vtd-interrupt handle=%llu data=%u", (unsigned long long)index & 0xFFFF, below(s, 256));
	s->kept = 0;
}

/* A descriptor of a known type with some bit of it wrong, and what software does after the error. */
static void bad_descriptor(struct state *s)
{
	static const u64 type[] = { VTD_QI_CONTEXT | 1 << 4, VTD_QI_IOTLB | 1 << 4, VTD_QI_IOTLB | 3 << 4,
				    VTD_QI_WAIT | 1 << 5, 0, 0xB, 0xE, 0xF };
	static const u64 reserved[] = { VTD_QI_CTX_LO_RSVD, VTD_QI_IOTLB_LO_RSVD, VTD_QI_IOTLB_LO_RSVD, VTD_QI_WAIT_LO_RSVD };
	u32 i = below(s, 8);
	u64 lo = type[i], hi = i == 3 ? VTD_STATUS : 0;

	if (i < 4 && one_in(s, 2)) {
		u64 bit = 1ULL << below(s, 64);

		lo |= bit & reserved[i] ? bit : 0x800;
	} else if (i < 4) {
		hi |= i == 3 ? 1 + below(s, 3) : i ? 0x80u << below(s, 5) : 1ULL << below(s, 64);
	}
	stream_addf(s->st, "vtd-descriptor lo=0x%llx hi=0x%llx", (unsigned long long)lo, (unsigned long long)hi);
	if (one_in(s, 3))
		stream_addf(s->st, "vtd-descriptor lo=0x%llx hi=0x%llx", 0x700000025ULL, VTD_STATUS);
	stream_addf(s->st, "vtd-recover");
}

static void many_descriptors(struct state *s)
{
	stream_addf(s->st, "vtd-descriptor lo=0x%llx hi=0x%llx n=%u", 0x25ULL | (u64)below(s, 1000) << 32, VTD_STATUS,
		    1 + below(s, 250));
}

static void event(struct state *s)
{
	stream_addf(s->st, "vtd-event inv=%u v=0x%x im=%u", s->qi && one_in(s, 2), 0x20 + below(s, 0xE0), below(s, 2));
	if (s->qi && one_in(s, 2))
		stream_addf(s->st, "vtd-descriptor lo=0x15");
	if (one_in(s, 2))
		stream_addf(s->st, "vtd-write at=0x9C v=1");
}

/* Registers by themselves, whose values nothing takes before a command does. */
static void write_register(struct state *s)
{
	static const struct {
		u16 at, where;
		u32 mask;
	} reg[] = {
		{ 0x38, 0, 0x80000000 }, { 0x20, 0, ~0u }, { 0x24, 0, ~0u }, { 0xA0, 0, 0x80000000 },
{ 0xB8, 0, ~0u }, { 0xBC, 0, ~0u }, { 0x34, 0, ~0u }, { 0x9C, 0, ~0u }, { 0x00, 0, ~0u },
		{ 0x08, 0, ~0u }, { 0x14, 0, ~0u }, { 0x1C, 0, ~0u }, { 0x80, 0, ~0u }, { 0x8, 1, 0xFFFFFFFF },
		{ 0x0, 2, ~0u }, { 0x4, 2, ~0u }, { 0x8, 2, ~0u }, { 0x64, 0, ~0u },
	};
	u32 i = below(s, sizeof(reg) / sizeof(reg[0]));

	stream_addf(s->st, "vtd-write at=0x%x where=%u v=0x%x", reg[i].at, reg[i].where, (u32)diff_random(&s->random) & reg[i].mask);
}

/* A page that is cached with one right is asked for the other: what follows is not the same on both machines. */
static void miss_a_right(struct state *s)
{
	u32 read = below(s, 2);

	stream_addf(s->st, "vtd-map iova=0x%llx to=0x220000 rights=%u tree=%u", ONE_RIGHT_IOVA, read ? 1 : 2, s->tree);
	stream_addf(s->st, "vtd-dma read=%u iova=0x%llx look=0x220000 lba=%u", read, ONE_RIGHT_IOVA, read ? READ_LBA : 0);
	stream_addf(s->st, "vtd-dma read=%u iova=0x%llx lba=%u%s", !read, ONE_RIGHT_IOVA, read ? 0 : READ_LBA, read ? " look=0x220000" : "");
}

/* A context or root entry that cannot be used kills the controller. */
static void break_context(struct state *s)
{
	switch (below(s, 4)) {
	case 0:
		stream_addf(s->st, "vtd-context p=%u tt=%u aw=%u fpd=%u", below(s, 2), below(s, 2) ? 3 : 1, below(s, 8), below(s, 2));
		break;
	case 1:
		stream_addf(s->st, "vtd-context lo=0x%x", 0x10u << below(s, 8));
		break;
	case 2:
		stream_addf(s->st, "vtd-context hi=0x%llx", 1ULL << (one_in(s, 4) ? 7 : 24 + below(s, 40)));
		break;
	default:
		stream_addf(s->st, "vtd-root lo=0x%x hi=0x%x", 1u << below(s, 12), below(s, 2));
		break;
	}
	stream_addf(s->st, "vtd-invalidate type=1");
	stream_addf(s->st, "vtd-invalidate type=2");
	stream_addf(s->st, "vtd-dma iova=0x%llx", (unsigned long long)IOVA(0));
}

static void step(struct state *s)
{
	u32 n = below(s, 100);

	if (one_in(s, 10))
		s->hot = below(s, PAGES / 2) * 2;
	if (n < 28)
		dma(s);
	else if (n < 48)
		map(s);
	else if (n < 58)
		flush_pages(s);
	else if (n < 63)
		flush(s, false);
	else if (n < 68)
		large(s);
	else if (n < 71)
		switch_context(s);
	else if (n < 73)
		switch_translation(s);
	else if (n < 85)
		s->ir ? interrupt(s) : dma(s);
	else if (n < 89)
		s->qi ? bad_descriptor(s) : flush(s, false);
	else if (n < 91)
		s->qi ? many_descriptors(s) : flush_pages(s);
	else if (n < 94)
		event(s);
	else if (n < 98)
		write_register(s);
	else
		stream_addf(s->st, "vtd-faults");
}

void vtd_random(struct stream *st, u64 seed)
{
	struct state s = { .st = st, .random = seed };

	s.qi = !one_in(&s, 3);
	s.ir = !one_in(&s, 3);
	stream_addf(st, "machine vtd=1");
	for (u32 i = 0; i < CHUNKS; i++) {
		stream_addf(st, "put at=0x200000 seed=%u", below(&s, 1000) + 1);
		stream_addf(st, "io op=1 slba=%u nlb=7", 8 * i);
	}
	stream_addf(st, "vtd-on qi=%u ir=%u qs=%u levels=%u", s.qi, s.ir, below(&s, 2), 4 - one_in(&s, 4));
	/* Until they have another, for no processor takes vectors below 16. */
	stream_addf(st, "vtd-event v=0x21 im=1");
	stream_addf(st, "vtd-event inv=1 v=0x22 im=1");
	while (st->nr < OPERATIONS)
		step(&s);
	if (one_in(&s, 3))
		miss_a_right(&s);
	else
		break_context(&s);
}
