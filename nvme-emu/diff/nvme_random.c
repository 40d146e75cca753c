// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

/*
 * NVMe by chance: mostly valid commands, many that are wrong in one thing, some that are hostile.
 * What QEMU is known to take wrongly, and what leaves memory or media different, comes seldom: it
 * ends its stream. What has no fixed outcome does not come: commands at work at the same time on the same
 * blocks, doorbells that make old entries be fetched anew.
 */

#define OPS 300
#define IO_PAGES 64		/* of the area that I/O commands move and that is compared */
#define ADMIN_DATA 0x250000	/* what admin commands tell is not compared here */
#define HOLE 0x10000000ULL	/* nobody answers */
#define BLOCKS_MAX 256		/* as MDTS = 5 has it */
#define LIST_ROOM 0x10000
#define VERIFY 0x0C
#define IO_MGMT_RECEIVE 0x12
#define IO_MGMT_SEND 0x1D
#define WRONG 1			/* CDW14, of no use here, for the table of differences: ranges or descriptors are wrong on purpose */

struct generator_state {
	struct stream *st;
	u64 seed;
	bool has_queue[DIFF_QUEUES_MAX];
};

static u32 below(struct generator_state *g, u32 n)
{
	return diff_below(&g->seed, n);
}

static bool one_in(struct generator_state *g, u32 n)
{
	return !below(g, n);
}

static unsigned long long data_page(struct generator_state *g, u32 pages)
{
	return DIFF_DATA + 0x1000ULL * below(g, IO_PAGES - pages + 1);
}

/* PRP1 and PRP2 of a command, and the list it leads to. */
struct prps {
	unsigned long long prp1, prp2;
};

/* Wrong in one entry or two: an offset, a register, both sides of the CMB's edge. */
static unsigned long long bad_page(struct generator_state *g)
{
	static const u64 bad[] = { DIFF_DATA + 0x1008, DIFF_DATA + 0x800, DIFF_BAR0, DIFF_BAR0 + 0x1000, DIFF_CBA + 0x20000 };

	return bad[below(g, sizeof(bad) / sizeof(bad[0]))];
}

/* @n entries; when they cross a page's end the last entry of the page leads on. */
static unsigned long long make_list(struct generator_state *g, u32 n, unsigned long long page, bool down)
{
	unsigned long long at = DIFF_LISTS + (one_in(g, 3) ? 8ULL * below(g, LIST_ROOM / 8 - 1024) : 0x1000ULL * below(g, 8));
	unsigned long long step = down ? -0x1000ULL : 0x1000;
	u32 slots = (u32)(0x1000 - (at & 0xFFF)) / 8;

	if (one_in(g, 4) && n < 500)
		slots = 1 + below(g, n), at = (at & ~0xFFFULL) + 0x1000 - 8ULL * slots;
	if (n <= slots) {
		stream_addf(g->st, "list at=0x%llx n=%u base=0x%llx step=0x%llx", at, n, page, step);
		return at;
	}
	if (slots > 1)
		stream_addf(g->st, "list at=0x%llx n=%u base=0x%llx step=0x%llx", at, slots - 1, page, step);
	stream_addf(g->st, "words at=0x%llx a=0x%llx", at + 8ULL * (slots - 1), (at & ~0xFFFULL) + 0x8000);
	stream_addf(g->st, "list at=0x%llx n=%u base=0x%llx step=0x%llx", (at & ~0xFFFULL) + 0x8000, n - slots + 1,
		    page + (slots - 1) * step, step);
	return at;
}

static struct prps make_prps(struct generator_state *g, u32 bytes)
{
	u32 offset = one_in(g, 3) ? 4 * below(g, 1024) : 0;
	u32 rest = bytes > 0x1000 - offset ? bytes - (0x1000 - offset) : 0;
	u32 pages = (rest + 0xFFF) / 0x1000;
	bool down = one_in(g, 6);
	unsigned long long page = data_page(g, pages + 1);
	struct prps p = { page + offset, 0 };

	page += down ? 0x1000ULL * pages : 0x1000;
	p.prp2 = pages <= 1 ? page : make_list(g, pages, page, down);
	if (!pages && one_in(g, 4))
		p.prp2 = diff_random(&g->seed) & ~7ULL;
	return p;
}

static u32 some_blocks(struct generator_state *g)
{
	u32 limit = one_in(g, 8) ? BLOCKS_MAX : one_in(g, 3) ? 64 : 16;

	return 1 + below(g, limit);
}

static u32 some_queue(struct generator_state *g)
{
	u32 q = 1 + below(g, DIFF_QUEUES_MAX - 1);

	return g->has_queue[q] ? q : 1 + below(g, 2);
}

/* In a namespace, now and then at its end. */
static unsigned long long some_lba(struct generator_state *g, u32 nsid, u32 nlb)
{
	u32 room = (nsid == 3 ? DIFF_NS3_BLOCKS : DIFF_NS1_BLOCKS) - nlb + 1;

	return one_in(g, 20) ? room - 1 : below(g, one_in(g, 2) ? 128 : room);
}

static void put_data(struct generator_state *g)
{
	stream_addf(g->st, "put at=0x%llx len=0x%x seed=%u", data_page(g, 8), 0x1000 + 0x1000 * below(g, 8),
		    one_in(g, 8) ? 0 : 1 + below(g, 1000));
}

static void see_data(struct generator_state *g, const struct prps *p)
{
	if (one_in(g, 16))
		stream_addf(g->st, "see at=0x%llx len=0x%x", DIFF_DATA, IO_PAGES * 0x1000);
	else
		stream_addf(g->st, "see at=0x%llx len=0x1000", p->prp1 & ~0xFFFULL);
}

/* Read, Write, Compare, as they should be. */
static void valid_move(struct generator_state *g)
{
	static const u8 op[] = { NVME_CMD_READ, NVME_CMD_READ, NVME_CMD_WRITE, NVME_CMD_WRITE, NVME_CMD_COMPARE };
	u32 k = op[below(g, sizeof(op))], nlb = some_blocks(g), nsid = one_in(g, 4) ? 3 : 1;
	struct prps p = make_prps(g, nlb * 512);

	if (k == NVME_CMD_WRITE && one_in(g, 2))
		put_data(g);
	stream_addf(g->st, "io q=%u op=%u nsid=%u slba=0x%llx nlb=%u prp1=0x%llx prp2=0x%llx%s", some_queue(g), k, nsid,
		    some_lba(g, nsid, nlb), nlb - 1, p.prp1, p.prp2, one_in(g, 10) ? " d12=0x40000000" : "");
	if (k == NVME_CMD_READ)
		see_data(g, &p);
}

/* In the CMB: data wholly, or the list. */
static void valid_cmb(struct generator_state *g)
{
	u32 nlb = 1 + below(g, 16), page = 0x20 + below(g, 32);
	unsigned long long bar = DIFF_BAR2 + 0x1000ULL * page, addr = DIFF_CBA + 0x1000ULL * page;

	if (one_in(g, 2)) {
		stream_addf(g->st, "io q=%u op=2 slba=%u nlb=%u prp1=0x%llx prp2=0x%llx", some_queue(g), below(g, 128), nlb - 1,
			    addr, addr + 0x1000);
		stream_addf(g->st, "see at=0x%llx len=0x2000", bar);
	} else {
		stream_addf(g->st, "put at=0x%llx len=0x1000 seed=%u", bar, 1 + below(g, 1000));
		stream_addf(g->st, "io q=%u op=1 slba=%u nlb=%u prp1=0x%llx prp2=0x%llx", some_queue(g), below(g, 128), nlb - 1,
			    addr, addr + 0x1000);
	}
}

static void valid_sgl(struct generator_state *g)
{
	u32 first = 1 + below(g, 0x7FF), skip = below(g, 3) * 0x100;
	unsigned long long page = data_page(g, 4), at = DIFF_LISTS + 0x10ULL * below(g, 0x300);

	if (one_in(g, 4))
		at = DIFF_LISTS + 0x1000 - 8 * (1 + below(g, 3));
	stream_addf(g->st, "words at=0x%llx a=0x%llx b=0x%x c=0x%llx d=0x%x", at, page + below(g, 0x800), first,
		    page + 0x1000 + skip, 0x1000 - first);
	stream_addf(g->st, "io q=%u op=%u flags=0x%x slba=%u nlb=7 prp1=0x%llx prp2=0x3000000000000020", some_queue(g),
		    1 + below(g, 2), one_in(g, 2) ? 0x40 : 0x80, below(g, 128), at);
	stream_addf(g->st, "see at=0x%llx len=0x4000", page);
}

static void valid_other(struct generator_state *g)
{
	u32 q = some_queue(g), nlb = 1 + below(g, 64);
	unsigned long long at = DIFF_LISTS + 0x20ULL * below(g, 0x100);

	switch (below(g, 4)) {
	case 0:
		stream_addf(g->st, "io q=%u op=0 nsid=%s", q, one_in(g, 2) ? "1" : "0xFFFFFFFF");
		break;
	case 1:
		stream_addf(g->st, "io q=%u op=8 slba=%llu nlb=%u", q, some_lba(g, 1, nlb), nlb - 1);
		break;
	case 2:
		stream_addf(g->st, "words at=0x%llx a=0x%llx b=%u c=0x%llx d=%u", at, (unsigned long long)(8 + 8 * below(g, 4)) << 32,
			    8 * below(g, 16), (unsigned long long)(8 + 8 * below(g, 4)) << 32, 8 * below(g, 16));
		stream_addf(g->st, "io q=%u op=9 prp1=0x%llx slba=0x%s00000001", q, at, one_in(g, 4) ? "3" : "4");
		break;
	default:
		stream_addf(g->st, "words at=0x%llx b=%u c=%u", at, below(g, 128), below(g, 128));
		stream_addf(g->st, "io q=%u op=0x19 nsid=3 prp1=0x%llx slba=%u", q, at, 256 + below(g, 256));
		break;
	}
}

/* Several at once, on blocks of their own. */
static void burst(struct generator_state *g)
{
	u32 q = some_queue(g), n = 2 + below(g, 12), op = 1 + below(g, 2);

	for (u32 i = 0; i < n; i++)
		stream_addf(g->st, "io q=%u op=%u slba=%u nlb=%u prp1=0x%llx ring=0", q, op, 16 * i, below(g, 8),
			    DIFF_DATA + 0x1000ULL * i);
	stream_addf(g->st, "ring q=%u", q);
	if (op == NVME_CMD_READ)
		stream_addf(g->st, "see at=0x%llx len=0x%x", DIFF_DATA, 0x1000 * n);
}

/* A valid command, but for one thing. */
static void nearly(struct generator_state *g)
{
	static const char *const wrong[] = {
		"nsid=0", "nsid=2", "nsid=0x100", "nsid=0x101", "nsid=0xFFFFFFFE", "nsid=0xFFFFFFFF", "flags=1", "flags=2", "flags=0xC0",
		"flags=0x3C", "nlb=0x100", "nlb=0xFFFF", "slba=0x2000", "slba=0x1FFF", "slba=0xFFFFFFFFFFFFFFFF", "slba=0x100000000",
		"slba=0x8000000000000000", "nlb=7 prp2=0x201004", "nlb=7 prp2=0x201800", "op=0x7F", "op=4", "op=0x0D", "op=0x55", "op=0xFF",
		"mptr=0x123", "d13=0xFFFFFFFF", "d15=0xFFFFFFFF", "cid=0xFFFF", "nsid=3", "nsid=3 slba=0x7FF",
	};
	u32 nlb = some_blocks(g);
	struct prps p = make_prps(g, nlb * 512);

	if (one_in(g, 60))
		p.prp1 |= 1 + below(g, 3);
	stream_addf(g->st, "io q=%u op=%u slba=%u nlb=%u prp1=0x%llx prp2=0x%llx %s", some_queue(g), 1 + below(g, 2), below(g, 128),
		    nlb - 1, p.prp1, p.prp2, wrong[below(g, sizeof(wrong) / sizeof(wrong[0]))]);
}

/* A list with one entry that may not be there. */
static void bad_list(struct generator_state *g)
{
	u32 n = 3 + below(g, 28), at = (u32)DIFF_LISTS + 0x1000 * below(g, 4), bad = below(g, n);

	stream_addf(g->st, "list at=0x%x n=%u base=0x%llx", at, n, DIFF_DATA + 0x1000);
	stream_addf(g->st, "words at=0x%x a=0x%llx", at + 8 * bad, bad_page(g));
	stream_addf(g->st, "io q=%u op=%u slba=0 nlb=%u prp1=0x%llx prp2=0x%x", some_queue(g), 1 + below(g, 2), 8 * n - 1, DIFF_DATA, at);
}

static void hostile_prp(struct generator_state *g)
{
	switch (below(g, 6)) {
	case 0:
		bad_list(g);
		break;
	case 1:
		stream_addf(g->st, "io q=%u op=%u slba=0 nlb=%u prp1=0x%llx prp2=0x%llx", some_queue(g), 1 + below(g, 2), below(g, 16),
			    bad_page(g) & ~3ULL, data_page(g, 1));
		break;
	case 2:
		stream_addf(g->st, "io q=%u op=%u slba=0 nlb=15 prp2=0x%llx", some_queue(g), 1 + below(g, 2), bad_page(g));
		break;
	case 3:
		stream_addf(g->st, "io q=%u op=2 slba=0 nlb=%u prp1=0x%llx prp2=0x%llx", some_queue(g), below(g, 32), HOLE,
			    HOLE + 0x1000);
		break;
	case 4:	/* a list that is its own data, and leads to itself */
		stream_addf(g->st, "list at=0x%llx n=512 base=0x%llx step=0", DIFF_LISTS, DIFF_LISTS);
		stream_addf(g->st, "io q=%u op=1 slba=0 nlb=255 prp2=0x%llx", some_queue(g), DIFF_LISTS + 8ULL * below(g, 512));
		break;
	default:
		stream_addf(g->st, "io q=%u op=%u slba=0 nlb=%u prp1=0x%llx prp2=0xFFFFFFFFFFFFF000", some_queue(g), 1 + below(g, 2),
			    8 + below(g, 200), DIFF_BAR0 + 0x1000ULL * below(g, 4));
		break;
	}
}

/* Descriptors by chance, of few kinds so that many are nearly right. */
static void hostile_sgl(struct generator_state *g)
{
	static const u8 type[] = { 0x00, 0x00, 0x00, 0x20, 0x30, 0x10, 0x40, 0x50, 0x01, 0xF0 };
	unsigned long long at = DIFF_LISTS + 0x1000ULL * below(g, 4), v[8];

	for (u32 i = 0; i < 8; i += 2) {
		u32 t = type[below(g, sizeof(type))];

		v[i] = t & 0xF0 ? DIFF_LISTS + 0x4000 + 0x1000ULL * (at >> 12 & 3) : data_page(g, 1) + below(g, 64);
		v[i + 1] = (unsigned long long)t << 56 | (t & 0xF0 ? 16 * below(g, 4) : 0x400 * (1 + below(g, 2)));
	}
	stream_addf(g->st, "words at=0x%llx a=0x%llx b=0x%llx c=0x%llx d=0x%llx e=0x%llx f=0x%llx g=0x%llx h=0x%llx", at,
		    v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]);
	stream_addf(g->st, "words at=0x%llx a=0x%llx b=0x800 c=0x%llx d=0x800", DIFF_LISTS + 0x4000 + 0x1000ULL * (at >> 12 & 3),
		    data_page(g, 1), data_page(g, 1));
	stream_addf(g->st, "io q=%u op=2 flags=0x40 slba=0 nlb=%u prp1=0x%llx prp2=0x%x000000000000%02x d14=%u", some_queue(g),
		    8 * below(g, 2) + 7, at, one_in(g, 2) ? 0x20 : 0x30, 16 * below(g, 5), WRONG);
}

/* Anything at all, but for what has ranges of its own, and what QEMU offers besides. */
static void noise(struct generator_state *g)
{
	u32 op = below(g, 256);

	if (op == NVME_CMD_DSM || op == NVME_CMD_COPY || op == VERIFY || op == IO_MGMT_RECEIVE || op == IO_MGMT_SEND)
		op = NVME_CMD_READ;
	stream_addf(g->st, "io q=%u op=%u flags=%u nsid=%u prp1=0x%llx prp2=0x%llx slba=0x%llx nlb=%u d12=0x%x d13=0x%x d14=0x%x",
		    some_queue(g), op, below(g, 2) * below(g, 4), below(g, 6), data_page(g, 1), data_page(g, 1),
		    (unsigned long long)diff_random(&g->seed) >> below(g, 64), below(g, 0x10000),
		    (u32)diff_random(&g->seed) & 0x40000000u, (u32)diff_random(&g->seed), (u32)diff_random(&g->seed));
}

static void admin_data(struct generator_state *g)
{
	static const u32 nsid[] = { 0, 1, 2, 3, 0x100, 0x101, 0xFFFFFFFE, 0xFFFFFFFF };

	switch (below(g, 3)) {
	case 0:
		stream_addf(g->st, "admin op=6 nsid=0x%x d10=%u prp1=0x%x prp2=0x%x", nsid[below(g, 8)],
			    one_in(g, 8) ? 0x7F : below(g, 4), ADMIN_DATA + 4 * below(g, 1024), ADMIN_DATA + 0x1000);
		break;
	case 1:
		stream_addf(g->st, "admin op=2 nsid=0xFFFFFFFF d10=0x%x d12=0x%x prp1=0x%x", below(g, 0x100) << 16 | (2 + below(g, 2)),
			    one_in(g, 3) ? 4 * below(g, 0x200) : 0, ADMIN_DATA);
		break;
	default:
		stream_addf(g->st, "admin op=6 nsid=%u d10=2 prp1=0x%llx", below(g, 4), data_page(g, 1));
		break;
	}
}

static void features(struct generator_state *g)
{
	static const u8 fid[] = { 0x00, 0x05, 0x06, 0x0B, 0x0D, 0x20, 0x7F, 0x83, 0xC0 };
	u32 f = fid[below(g, sizeof(fid))];

	stream_addf(g->st, "admin op=%u nsid=%u d10=0x%x d11=0x%x", one_in(g, 2) ? NVME_ADM_GET_FEATURES : NVME_ADM_SET_FEATURES,
		    f == 5 ? below(g, 4) : 0, f, below(g, 2));
}

static void queues(struct generator_state *g)
{
	u32 q = 3 + below(g, 6);

	if (g->has_queue[q]) {
		if (one_in(g, 2))
			stream_addf(g->st, "admin op=4 d10=%u", q);
		stream_addf(g->st, "admin op=0 d10=%u", q);
		stream_addf(g->st, "admin op=4 d10=%u", q);
	} else {
		stream_addf(g->st, "cq q=%u size=%u vec=%u flags=%u", q, 2 + below(g, 100), below(g, 9), one_in(g, 4) ? 1 : 3);
		stream_addf(g->st, "sq q=%u cq=%u size=%u", q, q, 2 + below(g, 100));
	}
	g->has_queue[q] = !g->has_queue[q];
}

static void bad_queues(struct generator_state *g)
{
	static const u32 qid[] = { 0, 1, 2, 9, 0x100, 0xFFFF };
	static const u32 size[] = { 1, 2, 0x800, 0x801, 0x10000 };

	if (one_in(g, 3))
		stream_addf(g->st, "admin op=%u d10=%u", one_in(g, 2) ? NVME_ADM_DELETE_SQ : NVME_ADM_DELETE_CQ,
			    one_in(g, 2) ? 0 : 9 + below(g, 1000));
	else if (one_in(g, 2))
		stream_addf(g->st, "cq q=%u size=%u at=0x%llx vec=%u", qid[below(g, 6)], size[below(g, 5)],
			    DIFF_QUEUES + 0xA0000ULL + below(g, 2) * 8, one_in(g, 2) ? 9 + below(g, 1000) : 1);
	else
		stream_addf(g->st, "sq q=%u size=%u cq=%u at=0x%llx", qid[below(g, 6)], size[below(g, 5)], below(g, 11),
			    DIFF_QUEUES + 0xA0000ULL + 8 + below(g, 2) * 8);
}

static void interrupts(struct generator_state *g)
{
	u32 v = below(g, 9);

	if (one_in(g, 6)) {
		stream_addf(g->st, "msixctl v=0xC000");
		valid_move(g);
		stream_addf(g->st, "pending");
		stream_addf(g->st, "msixctl v=0x8000");
	} else {
		stream_addf(g->st, "msix v=%u mask=1", v);
		valid_move(g);
		stream_addf(g->st, "pending");
		stream_addf(g->st, "msix v=%u mask=0", v);
	}
	stream_addf(g->st, "events");
}

static void doorbells(struct generator_state *g)
{
	if (one_in(g, 2))
		stream_addf(g->st, "admin op=12 wait=0");
	if (one_in(g, 2))
		stream_addf(g->st, "doorbell q=%u cq=%u v=%u", 1 + below(g, 2), below(g, 2), 64 + below(g, 1000));
	else
		stream_addf(g->st, "doorbell q=%u cq=%u v=%u", 9 + below(g, 200), below(g, 2), below(g, 64));
	stream_addf(g->st, "events");
	stream_addf(g->st, "admin op=2 nsid=0xFFFFFFFF d10=0x0F0001 prp1=0x%x", ADMIN_DATA);
	stream_addf(g->st, "regs from=0x14 to=0x24");
}

static void reset(struct generator_state *g)
{
	stream_addf(g->st, "disable");
	stream_addf(g->st, "enable");
	stream_addf(g->st, "cq q=1 vec=1 size=64");
	stream_addf(g->st, "sq q=1 size=%u", 8 + below(g, 60));
	stream_addf(g->st, "cq q=2 vec=2");
	stream_addf(g->st, "sq q=2 cq=2 at=0x%llx", DIFF_CBA + DIFF_CMB_QUEUE);
	for (u32 q = 3; q < DIFF_QUEUES_MAX; q++)
		g->has_queue[q] = false;
	/* QEMU's features outlive a reset. */
	stream_addf(g->st, "admin op=9 nsid=0xFFFFFFFF d10=5");
	stream_addf(g->st, "admin op=9 d10=6 d11=1");
	stream_addf(g->st, "admin op=9 d10=11");
}

static void wrong_range(struct generator_state *g)
{
	unsigned long long at = DIFF_LISTS + 0x20ULL * below(g, 0x100);

	stream_addf(g->st, "words at=0x%llx a=0x%llx b=0x%x", at, (unsigned long long)(2 + below(g, 99)) << 32, 0x1FFF + below(g, 99));
	stream_addf(g->st, "io q=%u op=9 prp1=0x%llx slba=0x400000000 d14=%u", some_queue(g), at, WRONG);
	stream_addf(g->st, "io q=%u op=8 slba=%u nlb=%u", some_queue(g), DIFF_NS1_BLOCKS - below(g, 8), 8 + below(g, 1000));
}

/* From behind the namespace: QEMU 11.1 may end by it. */
static void wrong_copy(struct generator_state *g)
{
	unsigned long long at = DIFF_LISTS + 0x20ULL * below(g, 0x100);

	if (!one_in(g, 4))
		return;
	stream_addf(g->st, "words at=0x%llx b=%u c=%u", at, DIFF_NS3_BLOCKS - below(g, 3), 3 + below(g, 5));
	stream_addf(g->st, "io q=%u op=0x19 nsid=3 prp1=0x%llx slba=%u", some_queue(g), at, 256 + below(g, 256));
}

void nvme_random(struct stream *st, u64 seed)
{
	static void (*const step[])(struct generator_state *) = {
		valid_move, valid_move, valid_move, valid_move, valid_move, valid_move, valid_move, valid_move, valid_cmb, valid_sgl,
		valid_other, valid_other, burst, nearly, nearly, nearly, nearly, hostile_prp, hostile_prp, hostile_sgl, noise,
		admin_data, features, queues, bad_queues, interrupts, doorbells, wrong_range, wrong_copy,
	};
	struct generator_state g = { .st = st, .seed = seed };

	stream_addf(st, "machine");
	stream_addf(st, "put at=0x%llx len=0x%x seed=%u", DIFF_DATA, IO_PAGES * 0x1000, 1 + below(&g, 1000));
	while (st->nr < OPS) {
		if (one_in(&g, 100))
			reset(&g);
		step[below(&g, sizeof(step) / sizeof(step[0]))](&g);
	}
	stream_addf(st, "see at=0x%llx len=0x%x", DIFF_DATA, IO_PAGES * 0x1000);
}
