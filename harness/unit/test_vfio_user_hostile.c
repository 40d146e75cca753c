// SPDX-License-Identifier: GPL-2.0
/*
 * A session against clients that mean no good. Whatever comes, the session answers or ends with a
 * reason, no file stays open, and the device (vfio_toy.h) sees nothing that it may not.
 * VFIO_SEED=N repeats the fuzzing with that seed.
 */

#include "vfio_toy.h"
#include "sim/rng.h"

#include <signal.h>

#define SESSIONS 3000u
#define MESSAGES 60u

struct fixture {
	struct toy toy;
	struct vfio_rig rig;
	u32 files;
};

static int up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->files = rig_open_files();
	toy_init(&f->toy);
	*state = f;
	return 0;
}

static int down(void **state)
{
	struct fixture *f = *state;

	close(f->toy.device.region[2].fd);
	assert_int_equal(rig_open_files(), f->files);
	assert_int_equal(f->toy.opened, f->toy.closed);
	free(f);
	return 0;
}

static void ended(struct fixture *f, const char *why)
{
	rig_pump(&f->rig);
	assert_null(f->rig.u);
	if (!strstr(f->rig.why, why))
		fail_msg("ended because '%s', not '%s'", f->rig.why, why);
	close(f->rig.fd);
	if (f->rig.reply_fd >= 0)
		close(f->rig.reply_fd);
}

static void test_header__nonsense__ends_the_client(void **state)
{
	static const struct { u16 command; u32 size, flags; const char *why; } cases[] = {
		{ CMD_INFO, 0, 0, "a message of 0 bytes" }, { CMD_INFO, 15, 0, "a message of 15 bytes" },
		{ CMD_INFO, ~0u, 0, "a message of 4294967295 bytes" }, { CMD_REGION_WRITE, 4096 + 33, 0, "a message of 4129 bytes" },
		{ CMD_INFO, 32, 1, "no command" }, { CMD_INFO, 32, 2, "no command" }, { CMD_INFO, 32, 0x40, "no command" },
		{ CMD_INFO, 32, 0x20, "no command" },
		{ 0, 16, 0, "command 0 is none" }, { CMD_DMA_READ, 32, 0, "command 11 is none" }, { CMD_DMA_WRITE, 32, 0, "command 12 is none" },
		{ CMD_WRITE_MULTI, 32, 0, "command 15 is none" }, { 0xFFFF, 32, 0, "command 65535 is none" },
		{ CMD_INFO, 31, 0, "15 bytes of command 4" }, { CMD_INFO, 33, 0, "17 bytes of command 4" },
		{ CMD_RESET, 17, 0, "1 bytes of command 13" }, { CMD_REGION_WRITE, 32, 0, "16 bytes of command 10" },
		{ CMD_REGION_READ, 33, 0, "17 bytes of command 9" }, { CMD_DMA_MAP, 47, 0, "31 bytes" }, { CMD_SET_IRQS, 35, 0, "19 bytes" },
		{ CMD_INFO, 32, 0, "knows 0 bytes of 16" }, { CMD_VERSION, 32, 0, "a second version" },
	};
	struct fixture *f = *state;
	u8 m[8192] = { 0 };

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig_header h = { 9, cases[i].command, cases[i].size, cases[i].flags, 0 };

		rig_start(&f->rig, &f->toy.device);
		memcpy(m, &h, sizeof(h));
		assert_true(rig_send_raw(&f->rig, m, cases[i].size < 16 || cases[i].size > 8192 ? 16 : cases[i].size, NULL, 0));
		ended(f, cases[i].why);
	}
}

static void test_version__nonsense__ends_the_client(void **state)
{
	static const struct { const char *bytes; u32 len; const char *why; } cases[] = {
		{ "\1\0\0\0", 4, "version 1.0" }, { "\0\0\0\0{}", 6, "without JSON" }, { "\0\0\0\0[1]", 8, "without JSON" },
		{ "\0\0\0\0{\"a\":", 10, "without JSON" }, { "\0\0\0\0\0", 5, "without JSON" }, { "\0\0", 2, "2 bytes of command 1" },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_connect(&f->rig, &f->toy.device);
		assert_true(rig_send(&f->rig, CMD_VERSION, 0, cases[i].bytes, cases[i].len, NULL, 0));
		ended(f, cases[i].why);
	}
	rig_connect(&f->rig, &f->toy.device);
	assert_true(rig_send(&f->rig, CMD_RESET, 0, NULL, 0, NULL, 0));
	ended(f, "before a version");
	assert_int_equal(f->toy.opened, 0);
}

static void test_access__outside_a_region__ends_the_client(void **state)
{
	static const struct { u64 off; u32 region, count; } cases[] = {
		{ TOY_BAR0, 0, 1 }, { TOY_BAR0 - 4, 0, 8 }, { ~0ull, 0, 1 }, { ~0ull - 3, 0, 4 }, { 0, 0, 0 }, { 0, 0, 4097 }, { 0, 0, ~0u },
		{ 0, 1, 4 }, { 0, 8, 4 }, { 0, 9, 4 }, { 0, ~0u, 4 }, { 4093, VFIO_PCI_CONFIG_REGION_INDEX, 4 },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig_access a = { cases[i].off, cases[i].region, cases[i].count, { 0 } };

		rig_start(&f->rig, &f->toy.device);
		assert_true(rig_send(&f->rig, CMD_REGION_READ, 0, &a, 16, NULL, 0));
		ended(f, "of region");
		rig_start(&f->rig, &f->toy.device);
		assert_true(rig_send(&f->rig, CMD_REGION_WRITE, 0, &a, 20, NULL, 0));
		ended(f, "of region");
	}
	/* A count that is not what came. */
	rig_start(&f->rig, &f->toy.device);
	assert_true(rig_send(&f->rig, CMD_REGION_WRITE, 0, &(struct rig_access){ 0, 0, 8, { 0 } }, 20, NULL, 0));
	ended(f, "4 bytes came with a write of 8");
	assert_int_equal(f->toy.nr_log, 0);
}

static void test_files__too_many__are_closed_and_end_the_client(void **state)
{
	struct fixture *f = *state;
	int fds[32];
	struct { u32 argsz, flags, index, start, count; } s = { 20, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 2, 0, 17 };

	for (u32 i = 0; i < 32; i++)
		fds[i] = eventfd(0, 0);
	rig_start(&f->rig, &f->toy.device);
	assert_true(rig_send(&f->rig, CMD_SET_IRQS, 0, &s, sizeof(s), fds, 17));
	ended(f, "more than 16 files");
	/* Some with each byte of a message. */
	rig_start(&f->rig, &f->toy.device);
	for (u32 i = 0; f->rig.u && i < 4; i++) {
		static const struct rig_header h = { 5, CMD_SET_IRQS, 36, 0, 0 };

		assert_true(rig_send_raw(&f->rig, (const u8 *)&h + i, 1, fds, 5));
		rig_pump(&f->rig);
	}
	ended(f, "more than 16 files");
	/* With a command that has none. */
	rig_start(&f->rig, &f->toy.device);
	assert_true(rig_send(&f->rig, CMD_RESET, 0, NULL, 0, fds, 1));
	ended(f, "1 files with command 13");
	assert_int_equal(f->toy.resets, 0);
	for (u32 i = 0; i < 32; i++)
		close(fds[i]);
}

static void test_leaving__in_the_middle_of_a_message__is_said(void **state)
{
	struct fixture *f = *state;

	for (u32 n = 1; n < 36; n++) {
		struct { struct rig_header h; struct rig_access a; } m = { { 5, CMD_REGION_WRITE, 36, 0, 0 }, { 0, 0, 4, { 1 } } };

		rig_start(&f->rig, &f->toy.device);
		assert_true(rig_send_raw(&f->rig, &m, n, NULL, 0));
		rig_leave(&f->rig);
		assert_string_equal(f->rig.why, "left in the middle of a message");
	}
	assert_int_equal(f->toy.nr_log, 0);
}

/* --- seeded --- */

struct fuzz {
	struct fixture *f;
	struct rng r;
	int memory, event;
};

static u64 some(struct fuzz *z, u64 likely_below)
{
	static const u64 edges[] = { 0, 1, 3, 4, 7, 8, 0xFFF, 0x1000, 0x1001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1ull << 32, 1ull << 63, ~0ull };

	return rng_chance(&z->r, 79, 80) ? rng_below(&z->r, likely_below) : edges[rng_below(&z->r, sizeof(edges) / sizeof(edges[0]))];
}

/* A payload that is right more often than not. */
static u32 payload(struct fuzz *z, u16 command, u8 *p)
{
	u32 w[8] = { 0 };
	u64 q[4];

	switch (command) {
	case CMD_VERSION:
		memcpy(p, "\0\0\0\0{\"capabilities\":{}}", 24);
		return 24;
	case CMD_DMA_MAP:
		q[0] = some(z, 13) << 12;
		q[1] = some(z, 64) << 12;
		q[2] = (1 + some(z, 4)) << 12;
		w[0] = 32;
		w[1] = (u32)some(z, 4);
		memcpy(p, w, 8);
		memcpy(p + 8, q, 24);
		return 32;
	case CMD_DMA_UNMAP:
		w[0] = 24;
		w[1] = rng_chance(&z->r, 1, 20) ? (u32)some(z, 3) : 0;
		q[0] = some(z, 64) << 12;
		q[1] = (1 + some(z, 32)) << 12;
		memcpy(p, w, 8);
		memcpy(p + 8, q, 16);
		return 24;
	case CMD_SET_IRQS:
		w[0] = 20;
		w[1] = (u32)(1u << rng_below(&z->r, 3) | 8u << rng_below(&z->r, 3));
		w[2] = rng_chance(&z->r, 1, 30) ? (u32)some(z, 4) : 2;
		w[3] = (u32)some(z, TOY_VECTORS - 3);
		w[4] = rng_chance(&z->r, 1, 20) ? (u32)some(z, 4) : 1;
		memcpy(p, w, 20);
		memset(p + 20, 1, 16);
		return 20 + (w[1] & 2 && w[4] < 16 ? w[4] : 0);
	case CMD_REGION_READ: case CMD_REGION_WRITE:
		q[0] = some(z, 4050);
		w[0] = (u32)(rng_chance(&z->r, 9, 10) ? 7 * rng_below(&z->r, 2) : some(z, 10));
		w[1] = 1 + (u32)some(z, 40);
		memcpy(p, q, 8);
		memcpy(p + 8, w, 8);
		return command == CMD_REGION_READ ? 16 : 16 + (w[1] < 4096 ? w[1] : 4);
	default:
		w[0] = 32;
		w[2] = (u32)some(z, 5);
		memcpy(p, w, 32);
		return command == CMD_REGION_INFO ? 32 : command == CMD_RESET ? 0 : 16;
	}
}

static void one_message(struct fuzz *z)
{
	struct vfio_rig *r = &z->f->rig;
	u8 m[16 + 8192] = { 0 };
	static const u16 real[] = { 2, 3, 3, 4, 5, 6, 7, 8, 9, 9, 10, 10, 10, 13, 14 };
	u16 command = rng_chance(&z->r, 1, 100) ? (u16)some(z, 16) : real[rng_below(&z->r, 15)];
	u32 bytes = payload(z, command, m + 16), nr_fds = 0, sent = 0;
	struct rig_header h = { 1, command, 16 + bytes, rng_chance(&z->r, 1, 8) ? FLAG_NO_REPLY : 0, 0 };
	int fds[20];

	if (rng_chance(&z->r, 1, 60))
		h.size = (u32)some(z, 8192);
	if (rng_chance(&z->r, 1, 60))
		h.flags = (u32)some(z, 64);
	memcpy(m, &h, sizeof(h));
	if (rng_chance(&z->r, 1, 40))
		m[rng_below(&z->r, 16 + bytes)] ^= (u8)(1u << rng_below(&z->r, 8));
	if (command == CMD_DMA_MAP || command == CMD_SET_IRQS || rng_chance(&z->r, 1, 100))
		nr_fds = rng_chance(&z->r, 29, 30) ? 1 : (u32)rng_below(&z->r, 20);
	for (u32 i = 0; i < nr_fds; i++)
		fds[i] = rng_chance(&z->r, 1, 30) ? 0 : command == CMD_DMA_MAP ? z->memory : z->event;
	/* At once, or in pieces. */
	while (sent < 16 + bytes) {
		u32 n = rng_chance(&z->r, 3, 4) ? 16 + bytes - sent : 1 + (u32)rng_below(&z->r, 16 + bytes - sent);

		if (!rig_send_raw(r, m + sent, n, fds, sent ? 0 : nr_fds))
			return;
		sent += n;
		if (rng_chance(&z->r, 1, 2))
			rig_pump(r);
	}
}

static void device_acts(struct fuzz *z)
{
	struct vfio_guest *g = z->f->toy.guest;
	u8 buf[4096] = { 0 };
	u64 addr = some(z, 64) << 12, len = 1 + rng_below(&z->r, 4096);

	if (!g)
		return;
	if (rng_chance(&z->r, 1, 2))
		g->read(g, addr, buf, len);
	else
		g->write(g, addr, buf, len);
	g->interrupt(g, (u32)some(z, TOY_VECTORS));
}

static void session(struct fuzz *z)
{
	struct vfio_rig *r = &z->f->rig;
	u32 messages = 1 + (u32)rng_below(&z->r, MESSAGES);
	u8 waste[4096];

	rig_connect(r, &z->f->toy.device);
	if (rng_chance(&z->r, 19, 20))
		rig_version(r);
	for (u32 i = 0; r->u && i < messages; i++) {
		one_message(z);
		rig_pump(r);
		if (r->u)
			device_acts(z);
		while (rng_chance(&z->r, 7, 8) && recv(r->fd, waste, sizeof(waste), MSG_DONTWAIT) > 0)
			;
		if (rng_chance(&z->r, 1, 50))
			assert_int_equal(ftruncate(z->memory, (off_t)(rng_below(&z->r, 17) << 12)), 0);
	}
	if (r->u)
		rig_leave(r);
	else
		close(r->fd);
	if (r->reply_fd >= 0)
		close(r->reply_fd);
}

static void test_seeded__thousands_of_sessions__none_does_harm(void **state)
{
	const char *given = getenv("VFIO_SEED");
	u64 seed = given ? strtoull(given, NULL, 0) : 20260731;
	struct fuzz z = { .f = *state };
	u32 whys = 0, done = 0;

	print_message("VFIO_SEED=%llu\n", (unsigned long long)seed);
	rng_split(&z.r, seed, "vfio_user");
	for (u32 i = 0; i < SESSIONS; i++) {
		z.memory = rig_memory(16 << 12, NULL);
		z.event = eventfd(0, EFD_NONBLOCK);
		session(&z);
		close(z.memory);
		close(z.event);
		whys += *z.f->rig.why != '\0';
		done += z.f->toy.nr_log;
		z.f->toy.nr_log = 0;
		assert_null(z.f->toy.guest);
	}
	print_message("%u accesses, %u mappings, %u sessions ended for a reason\n", done, z.f->toy.maps, whys);
	/* It came to something: accesses were made, and sessions ended for both reasons. */
	assert_true(done > SESSIONS);
	assert_true(z.f->toy.maps > SESSIONS / 10);
	assert_in_range(whys, SESSIONS / 10, SESSIONS - SESSIONS / 10);
}

#define T(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_header__nonsense__ends_the_client),
		T(test_version__nonsense__ends_the_client),
		T(test_access__outside_a_region__ends_the_client),
		T(test_files__too_many__are_closed_and_end_the_client),
		T(test_leaving__in_the_middle_of_a_message__is_said),
		T(test_seeded__thousands_of_sessions__none_does_harm),
	};

	return cmocka_run_group_tests_name("vfio_user_hostile", tests, NULL, NULL);
}
