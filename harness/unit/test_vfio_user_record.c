// SPDX-License-Identifier: GPL-2.0
/* Recordings: repeated without their guests they give the same; changed ones do not, and broken ones do no harm. */

#include "vfio_nvme_rig.h"
#include "nvme-emu/vfio_record.h"
#include "nvme-emu/vfio_replay.h"
#include "serve/serve_liov.h"
#include "sim/rng.h"

#define WORDS "--socket\0a,size=1M,serial=X\0"
#define BROKEN_FILES 500u

static const char *const bare_sockets[] = { "a,size=1M,cmb_size_mb=1", "b,size=1M" }, *const liov_sockets[] = { "a,size=1M", "b,size=1M" };

struct fixture {
	const struct serve_kind *kind;
	const char *const *sockets;
	char path[64];
	u8 *file;
	long bytes;
	struct vfio_replayed seen;	/* by the last replay */
	char report[32];
};

static void load(struct fixture *f)
{
	FILE *in = fopen(f->path, "rb");

	fseek(in, 0, SEEK_END);
	f->bytes = ftell(in);
	rewind(in);
	f->file = malloc((size_t)f->bytes);
	assert_int_equal(fread(f->file, 1, (size_t)f->bytes, in), f->bytes);
	fclose(in);
}

static void save(const struct fixture *f, const u8 *bytes, size_t n)
{
	FILE *out = fopen(f->path, "wb");

	fwrite(bytes, 1, n, out);
	assert_int_equal(fclose(out), 0);
}

/* The world behind a recording lets the devices go on as lightiov serve does. */
struct recorded_world {
	struct serve_world world;
	struct serve_world *inner;
	struct vfio_recording *rec;
};

static bool inner_due(struct serve_world *w)
{
	struct serve_world *inner = ((struct recorded_world *)w)->inner;

	return inner->due(inner);
}

static bool inner_work(struct serve_world *w)
{
	struct recorded_world *r = (struct recorded_world *)w;
	bool ok;

	vfio_record_work(r->rec);
	ok = r->inner->work(r->inner);
	vfio_record_worked(r->rec, ok ? 0 : -1);
	return ok;
}

/* Two guests, a reset, one that leaves and another that comes. */
static void make_recording(struct fixture *f)
{
	struct recorded_world w = { .world = { .due = inner_due, .work = inner_work } };
	struct drv a, b;

	w.inner = drv_world(f->kind, f->sockets, 2);
	w.rec = vfio_record_new(f->path, WORDS, sizeof(WORDS) - 1);
	assert_non_null(w.rec);
	for (u32 i = 0; i < 2; i++)
		w.world.device[i] = vfio_record_device(w.rec, i, w.inner->device[i]);
	drv_connect(&a, &w.world, 0);
	drv_connect(&b, &w.world, 1);
	drv_bring_up(&a);
	drv_bring_up(&b);
	assert_int_equal(drv_identify(&a, 0), 0);
	for (u32 i = 0; i < 10; i++) {
		memset(drv_data(&a, 0), (int)i, 8192);
		assert_int_equal(drv_io(&a, 1, i * 16, 16, DRV_DATA), 0);
		assert_int_equal(drv_io(&b, 2, i, 8, DRV_DATA), 0);
		assert_int_equal(drv_io(&a, 2, i * 16, 16, DRV_DATA + 0x2000), 0);
	}
	assert_int_equal(rig_call(&a.rig, CMD_RESET, NULL, 0), 0);
	drv_disconnect(&b);
	drv_connect(&b, &w.world, 1);
	drv_bring_up(&b);
	drv_disconnect(&a);
	drv_disconnect(&b);
	assert_int_equal(vfio_record_end(w.rec, "the report"), 0);
	w.inner->free(w.inner);
}

static int world_work(void *opaque)
{
	struct serve_world *w = opaque;

	return w->work(w) ? 0 : -1;
}

/* As vfio_replay_run() has it; 2 also where it cannot even be opened. */
static int replay(struct fixture *f, const char *const *sockets, char why[512])
{
	const char *words, *report;
	size_t n;
	struct vfio_replay *r = vfio_replay_open(f->path, &words, &n, why, 512);
	struct serve_world *w;
	int ret;

	if (!r)
		return 2;
	assert_int_equal(n, sizeof(WORDS) - 1);
	w = drv_world(f->kind, sockets, 2);
	ret = vfio_replay_run(r, w->device, 2, world_work, w, &report, why, 512);
	f->seen = vfio_replay_seen(r);
	snprintf(f->report, sizeof(f->report), "%s", report);
	vfio_replay_close(r);
	w->free(w);
	return ret;
}

static int up(void **state, const struct serve_kind *kind, const char *const *sockets)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->kind = kind;
	f->sockets = sockets;
	snprintf(f->path, sizeof(f->path), "/tmp/vfio_record.XXXXXX");
	close(mkstemp(f->path));
	make_recording(f);
	load(f);
	*state = f;
	return 0;
}

static int up_bare(void **state)
{
	return up(state, &serve_nvme, bare_sockets);
}

static int up_mediated(void **state)
{
	return up(state, &serve_mediated, liov_sockets);
}

static int down(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	free(f->file);
	free(f);
	return 0;
}

static void test_replay__of_a_recording__agrees__again_and_again(void **state)
{
	struct fixture *f = *state;
	char why[512];
	u64 digest = 0;

	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(replay(f, f->sockets, why), 0);
		assert_string_equal(why, "");
		assert_string_equal(f->report, "the report");
		/* 40 commands: an SQE read and a CQE written in two parts; 50 pages of data, a page of Identify. */
		assert_int_equal(f->seen.dma_reads, 40 + 20);
		assert_int_equal(f->seen.dma_writes, 2 * 40 + 30 + 1);
		assert_int_equal(f->seen.interrupts, 40);
		assert_true(!i || f->seen.digest == digest);
		digest = f->seen.digest;
	}
}

static struct record_entry *entry(struct fixture *f, u8 kind, u32 nth)
{
	u64 at = 8 + 4 + sizeof(WORDS) - 1;

	for (;;) {
		struct record_entry *e = (struct record_entry *)(f->file + at);

		assert_true(at < (u64)f->bytes);
		if (e->kind == kind && !nth--)
			return e;
		at += sizeof(*e) + (e->kind == RECORD_END || (e->kind == RECORD_DMA_READ && e->b && !e->region) ? e->bytes : 0);
	}
}

/* One thing is not as it was: each is found, at its place. */
static void test_replay__of_another_run__differs(void **state)
{
	static const struct { u8 kind; u32 nth; const char *why; } cases[] = {
		{ RECORD_ANSWER, 5, "answer" }, { RECORD_DMA_WRITE, 20, "DMA write" }, { RECORD_DMA_READ, 3, "DMA read" },
		{ RECORD_INTERRUPT, 2, "interrupt" },
	};
	struct fixture *f = *state;
	char why[512];

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_entry *e = entry(f, cases[i].kind, cases[i].nth), was;

		memcpy(&was, e, sizeof(was));
		if (cases[i].kind == RECORD_DMA_READ || cases[i].kind == RECORD_INTERRUPT)
			e->a ^= 1;
		else
			e->b ^= 1;
		save(f, f->file, (size_t)f->bytes);
		assert_int_equal(replay(f, f->sockets, why), 1);
		assert_non_null(strstr(why, cases[i].why));
		memcpy(e, &was, sizeof(was));
	}
}

/* What no guest could have done: no recording, and the device is not asked. */
static void test_replay__of_what_cannot_be_asked__is_refused(void **state)
{
	static const struct { u8 kind; struct record_entry with; } cases[] = {
		{ RECORD_OPEN, { RECORD_CLOSE, 0, 0, 0, 0, 0, 0 } }, { RECORD_WRITE, { RECORD_OPEN, 0, 0, 0, 0, 0, 0 } },
		{ RECORD_CLOSE, { RECORD_OPEN, 0, 0, 0, 0, 0, 0 } }, { RECORD_OPEN, { RECORD_RESET, 1, 0, 0, 0, 0, 0 } },
		{ RECORD_READ, { RECORD_READ, 0, 0, 3, 0, 0, 0 } }, { RECORD_READ, { RECORD_READ, 0, 0, 0, 0, 0, 0 } },
		{ RECORD_READ, { RECORD_READ, 0, 0, 8, 0, 4, 0 } }, { RECORD_READ, { RECORD_READ, 0, 0, 4, 0, 1ull << 40, 0 } },
		{ RECORD_READ, { RECORD_READ, 0, 0, 4, 0, ~3ull, 0 } }, { RECORD_READ, { RECORD_READ, 0, 8, 4, 0, 0, 0 } },
		{ RECORD_READ, { RECORD_READ, 0, 200, 4, 0, 0, 0 } }, { RECORD_READ, { RECORD_READ, 0, 7, 8, 0, 0, 0 } },
		{ RECORD_WRITE, { RECORD_WRITE, 0, 7, 4, 0, 4096, 0 } }, { RECORD_WRITE, { RECORD_WRITE, 2, 0, 4, 0, 0, 0 } },
		{ RECORD_VECTOR, { RECORD_VECTOR, 0, 0, 0, 0, 512, 1 } }, { RECORD_VECTOR, { RECORD_VECTOR, 0, 0, 0, 0, 0, 2 } },
		{ RECORD_VECTOR, { RECORD_VECTOR, 0, 0, 0, 0, 0, 0 } }, { RECORD_MAP, { RECORD_MAP, 0, 0, 0, 0, 1, 4096 } },
		{ RECORD_MAP, { RECORD_MAP, 0, 0, 0, 0, 0, 0 } }, { RECORD_MAP, { RECORD_MAP, 0, 0, 0, 0, ~0xFFFull, 8192 } },
		{ RECORD_WRITE, { 15, 0, 0, 0, 0, 0, 0 } }, { RECORD_WRITE, { 0, 0, 0, 0, 0, 0, 0 } },
	};
	struct fixture *f = *state;
	char why[512];

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_entry *e = entry(f, cases[i].kind, 0), was;
		int ret;

		memcpy(&was, e, sizeof(was));
		memcpy(e, &cases[i].with, sizeof(was));
		save(f, f->file, (size_t)f->bytes);
		ret = replay(f, f->sockets, why);
		if (ret != 2)
			fail_msg("case %u: %d: %s", i, ret, why);
		memcpy(e, &was, sizeof(was));
	}
}

/* The device is another one: less space, and so other answers. */
static void test_replay__on_another_device__differs(void **state)
{
	static const char *const other[] = { "a,size=2M", "b,size=1M" };
	struct fixture *f = *state;
	char why[512];

	assert_int_not_equal(replay(f, other, why), 0);
}

/* What the guest's memory held is part of the recording: another SQE is another command. */
static void test_replay__of_other_memory__differs(void **state)
{
	struct fixture *f = *state;
	struct record_entry *e;
	char why[512];
	u32 n = 0;

	do
		e = entry(f, RECORD_DMA_READ, n++);
	while (e->bytes != 64 || !e->b || e->region);
	((u8 *)(e + 1))[2] ^= 0x40;	/* its command identifier */
	save(f, f->file, (size_t)f->bytes);
	assert_int_equal(replay(f, f->sockets, why), 1);
	assert_non_null(strstr(why, "DMA write"));
}

/* Cut off anywhere, or with bytes of chance in it: an answer, and no harm. */
static void test_replay__of_a_broken_file__says_so(void **state)
{
	const char *given = getenv("VFIO_SEED");
	u64 seed = given ? strtoull(given, NULL, 0) : 20260802;
	struct fixture *f = *state;
	u8 *copy = malloc((size_t)f->bytes);
	u32 results[3] = { 0 };
	char why[512];
	struct rng r;

	print_message("VFIO_SEED=%llu\n", (unsigned long long)seed);
	rng_split(&r, seed, "record");
	for (u32 i = 0; i < BROKEN_FILES / (f->kind == &serve_nvme ? 1 : 10); i++) {
		size_t n = rng_chance(&r, 1, 4) ? rng_below(&r, (u64)f->bytes) : (size_t)f->bytes;
		u32 flips = rng_chance(&r, 1, 4) ? 0 : 1 + (u32)rng_below(&r, 3);

		memcpy(copy, f->file, (size_t)f->bytes);
		/* The words are of no interest here. */
		for (u32 k = 0; k < flips && n > 64; k++)
			copy[64 + rng_below(&r, n - 64)] ^= (u8)(1u << rng_below(&r, 8));
		save(f, copy, n);
		results[replay(f, f->sockets, why)]++;
	}
	print_message("%u agree, %u differ, %u are no recordings\n", results[0], results[1], results[2]);
	assert_true(results[1] && results[2]);
	free(copy);
}

static void test_open__what_is_no_recording__is_refused(void **state)
{
	struct fixture *f = *state;
	char why[512];

	save(f, (const u8 *)"LIOVREC2\0\0\0\0", 12);
	assert_int_equal(replay(f, f->sockets, why), 2);
	assert_string_equal(why, "not a recording of lightiov serve");
	save(f, (const u8 *)"LIOVREC1\xFF\xFF\xFF\xFF", 12);
	assert_int_equal(replay(f, f->sockets, why), 2);
	save(f, (const u8 *)"LIOVREC1\2\0\0\0xy", 14);
	assert_int_equal(replay(f, f->sockets, why), 2);
	unlink(f->path);
	assert_int_equal(replay(f, f->sockets, why), 2);
	assert_string_equal(why, "No such file or directory");
}

#define BOTH(name) { "bare: " #name, name, up_bare, down, NULL }, { "mediated: " #name, name, up_mediated, down, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_replay__of_a_recording__agrees__again_and_again),
		BOTH(test_replay__of_another_run__differs),
		BOTH(test_replay__of_what_cannot_be_asked__is_refused),
		BOTH(test_replay__on_another_device__differs),
		BOTH(test_replay__of_other_memory__differs),
		BOTH(test_replay__of_a_broken_file__says_so),
		BOTH(test_open__what_is_no_recording__is_refused),
	};

	return cmocka_run_group_tests_name("vfio_user_record", tests, NULL, NULL);
}
