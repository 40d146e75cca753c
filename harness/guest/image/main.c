// SPDX-License-Identifier: GPL-2.0
/*
 * What the bare guest does: it finds its function, does I/O and looks at every byte that comes
 * back, takes a queue away and puts it back, and says what it saw. Who runs it counts beside.
 */

#include "workload.h"
#include "pci.h"

#define DEPTH		128u		/* entries of a ring: two pages of the SQ, one of the CQ */
#define QUEUES		2u		/* of the frontend; the third is the guest's own */
#define BATCH		32u
#define UNIT_PAGES	4u		/* a request lies within a unit */
#define UNIT_BYTES	(UNIT_PAGES * (u32)SPEC_PAGE_SIZE)
#define UNITS_MAX	512u

struct io {
	u32 unit, pages;
	bool write, done;
	u16 status;
};

struct world {
	struct port_guest guest;
	struct liov_frontend fe;
	struct liov_fe_config cfg;
	struct guest_page asked;	/* but for the log */
	struct port_shm buffers;
	gpa_t buffers_gpa;
	u64 random, digest;
	u32 units, outstanding;
	u64 ios, wrong, failed;
	u32 version[UNITS_MAX * UNIT_PAGES];	/* of a page's content: times written */
	struct io io[BATCH];
};

static struct world world;

static u64 mix(u64 v)
{
	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

static u64 draw(struct world *w)
{
	w->random += 0x9e3779b97f4a7c15ull;
	return mix(w->random);
}

/* The word @i of page @page after @version writes; of none, zeros: LightIOV wipes. */
static u64 content(const struct world *w, u32 page, u32 version, u32 i)
{
	return version ? mix(w->asked.seed + ((u64)page << 40 | (u64)version << 12 | i)) : 0;
}

void guest_completed(void *cookie, u16 status)
{
	struct io *io = cookie;

	io->done = true;
	io->status = status;
	world.outstanding--;
}

static void fill(struct world *w, struct io *io, u32 slot)
{
	u64 words[SPEC_PAGE_SIZE / 8];
	u32 p, i;

	for (p = 0; p < io->pages; p++) {
		u32 page = io->unit * UNIT_PAGES + p;

		w->version[page]++;
		for (i = 0; i < SPEC_PAGE_SIZE / 8; i++)
			words[i] = content(w, page, w->version[page], i);
		port_shm_copy_out(&w->buffers, slot * UNIT_BYTES + p * (u32)SPEC_PAGE_SIZE, words, sizeof(words));
	}
}

static void verify(struct world *w, struct io *io, u32 slot)
{
	u64 words[SPEC_PAGE_SIZE / 8];
	u32 p, i;

	for (p = 0; p < io->pages; p++) {
		u32 page = io->unit * UNIT_PAGES + p;

		port_shm_copy_in(&w->buffers, slot * UNIT_BYTES + p * (u32)SPEC_PAGE_SIZE, words, sizeof(words));
		for (i = 0; i < SPEC_PAGE_SIZE / 8; i++) {
			w->wrong += words[i] != content(w, page, w->version[page], i);
			w->digest = (w->digest ^ words[i]) * 0x100000001b3ull;
		}
	}
}

/* No two requests of a batch are in one unit: what comes back does not hang on who is first. */
static void choose(struct world *w, u32 count)
{
	u32 first = (u32)(draw(w) % w->units), step = (u32)(draw(w) % (w->units / BATCH)) + 1, i;

	for (i = 0; i < count; i++) {
		u64 r = draw(w);

		w->io[i] = (struct io){ .unit = (first + i * step) % w->units, .pages = 1u << r % 3, .write = r >> 32 & 1 };
	}
}

static void submit(struct world *w, u32 slot)
{
	struct io *io = &w->io[slot];
	struct liov_segment segment = { { w->buffers_gpa.v + slot * UNIT_BYTES }, io->pages * (u32)SPEC_PAGE_SIZE };
	u32 shift = w->fe.lba_shift;
	struct liov_request rq = {
		.op = io->write ? LIOV_OP_WRITE : LIOV_OP_READ, .slba = { (u64)io->unit * UNIT_BYTES >> shift },
		.blocks = segment.len_bytes >> shift, .nr_segments = 1, .segments = &segment, .cookie = io,
	};

	if (io->write)
		fill(w, io, slot);
	else
		guest_zero(segment.addr.v, 64);
	if (liov_frontend_submit(&w->fe, slot % w->fe.nr_queues, &rq))
		guest_fail(__LINE__);
	w->outstanding++;
}

static void batch(struct world *w, u32 count)
{
	u32 i;

	choose(w, count);
	for (i = 0; i < count; i++)
		submit(w, i);
	while (w->outstanding)
		guest_idle(&w->guest.home);
	for (i = 0; i < count; i++) {
		w->ios++;
		w->failed += w->io[i].status != 0;
		if (!w->io[i].write && !w->io[i].status)
			verify(w, &w->io[i], i);
	}
}

static void run(struct world *w, u64 ios)
{
	while (ios) {
		u32 n = ios < BATCH ? (u32)ios : BATCH;

		batch(w, n);
		ios -= n;
	}
}

void guest_begin(enum guest_phase phase)
{
	guest_out(GUEST_PORT_PHASE, phase);
}

/* Whatever happens to a page of RAM later is not its first touch. */
static void warm(void)
{
	u64 gpa, word;

	for (gpa = GUEST_RAM; gpa < GUEST_RAM + GUEST_RAM_BYTES; gpa += SPEC_PAGE_SIZE) {
		guest_read(gpa, &word, 8);
		guest_write(gpa, &word, 8);
	}
}

static void bring_up(struct world *w)
{
	int err = liov_frontend_probe(&w->guest);

	w->cfg = (struct liov_fe_config){ .nr_queues = QUEUES, .depth = DEPTH, .timeout_ns = 3000000000ull };
	if (!err)
		err = liov_frontend_start(&w->fe, &w->guest, &w->cfg);
	if (!err)
		err = guest_dma_alloc(&w->guest, BATCH * UNIT_PAGES, &w->buffers, &w->buffers_gpa);
	guest_say("start %s %u", err ? "error" : "ok", (u32)-err);
	if (err)
		guest_fail(__LINE__);
	w->units = (u32)((w->fe.blocks << w->fe.lba_shift) / UNIT_BYTES);
	if (w->units > UNITS_MAX)
		w->units = UNITS_MAX;
}

static void say_io(struct world *w, const char *what)
{
	guest_say("%s.ios %u", what, (u32)w->ios);
	guest_say("%s.failed %u", what, (u32)w->failed);
	guest_say("%s.wrong %u", what, (u32)w->wrong);
	guest_say("%s.digest %lx", what, w->digest);
	w->ios = 0;
}

/* The host takes the controller from under all VMs; the frontend makes its queues again. */
static void restart(struct world *w)
{
	guest_out(GUEST_PORT_RESET, 0);
	do
		guest_idle(&w->guest.home);
	while (!w->fe.queue[0].live);
	run(w, 2 * QUEUES * DEPTH);
}

/* What stood before the end is not there after it. */
static void stop(struct world *w)
{
	u32 sq = w->fe.info.queue[0].sq;

	liov_frontend_stop(&w->fe);
	guest_touch(&w->fe, "stop", sq);
}

void guest_main(void)
{
	struct world *w = &world;

	guest_begin(GUEST_WARM);
	warm();
	w->guest.home.dma_next = GUEST_HEAP_END;
	guest_read(GUEST_RAM, &w->asked, offsetof(struct guest_page, log));
	w->random = w->asked.seed;
	guest_begin(GUEST_START);
	bring_up(w);
	guest_begin(GUEST_FIRST);
	run(w, 2 * QUEUES * DEPTH);
	say_io(w, "first");
	guest_begin(GUEST_IO);
	run(w, w->asked.ios);
	say_io(w, "io");
	guest_begin(GUEST_STALE);
	guest_stale(&w->fe);
	guest_begin(GUEST_READONLY);
	guest_readonly(&w->fe);
	guest_begin(GUEST_RESTART);
	restart(w);
	say_io(w, "restart");
	guest_begin(GUEST_ATTACK);
	if (w->asked.attack)
		guest_attack(&w->fe, &w->asked);
	guest_begin(GUEST_STOP);
	stop(w);
	if (w->failed || w->wrong)
		guest_fail(__LINE__);
}
