// SPDX-License-Identifier: GPL-2.0
/* A session's DMA mappings and interrupts: the device's side of what a client sets up. */

#include "vfio_toy.h"

#include <signal.h>
#include <sys/stat.h>

#define KIB 1024ull
#define RW (VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE)
#define TRIGGER VFIO_IRQ_SET_ACTION_TRIGGER
#define EVENTFD (VFIO_IRQ_SET_DATA_EVENTFD | TRIGGER)

struct fixture {
	struct toy toy;
	struct vfio_rig rig;
	u32 files;
	u8 *mem;		/* 64 KiB, mapped nowhere yet */
	int fd;
};

static void ignore(int signal)
{
	(void)signal;
}

static int up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct sigaction sa = { .sa_handler = ignore };

	sigaction(SIGALRM, &sa, NULL);
	f->files = rig_open_files();
	toy_init(&f->toy);
	f->fd = rig_memory(64 * KIB, &f->mem);
	rig_start(&f->rig, &f->toy.device);
	*state = f;
	return 0;
}

static int down(void **state)
{
	struct fixture *f = *state;

	rig_leave(&f->rig);
	close(f->toy.device.region[2].fd);
	close(f->fd);
	munmap(f->mem, 64 * KIB);
	assert_int_equal(rig_open_files(), f->files);
	free(f);
	return 0;
}

static bool readable(struct fixture *f, u64 addr, size_t len)
{
	u8 buf[8192];

	return f->toy.guest->read(f->toy.guest, addr, buf, len);
}

static bool writable(struct fixture *f, u64 addr, size_t len)
{
	static const u8 zeros[8192];

	return f->toy.guest->write(f->toy.guest, addr, zeros, len);
}

static void ended(struct fixture *f, int ret, const char *why)
{
	assert_int_equal(ret, -1);
	assert_null(f->rig.u);
	if (!strstr(f->rig.why, why))
		fail_msg("ended because '%s', not '%s'", f->rig.why, why);
}

static void test_map__bytes_go_both_ways__and_exactly_there(void **state)
{
	struct fixture *f = *state;
	u8 buf[8] = { 0 };

	assert_int_equal(rig_dma_map(&f->rig, f->fd, 16 * KIB, 0x100000, 8 * KIB, RW), 0);
	memcpy(f->mem + 16 * KIB + 4090, "ABCDEF", 6);
	assert_true(f->toy.guest->read(f->toy.guest, 0x100000 + 4090, buf, 6));
	assert_memory_equal(buf, "ABCDEF", 6);
	assert_true(f->toy.guest->write(f->toy.guest, 0x100000 + 8 * KIB - 3, "xyz", 3));
	assert_memory_equal(f->mem + 24 * KIB - 3, "xyz\0", 4);
	assert_false(readable(f, 0x100000 + 8 * KIB - 3, 4));
	assert_false(readable(f, 0x100000 - 1, 1));
	assert_false(writable(f, 0x100000 - 1, 2));
	assert_false(readable(f, ~0ull, 1));
	assert_int_equal(f->toy.maps, 1);
}

static void test_map__read_only_or_without_a_file__dma_fails_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0, 4 * KIB, VFIO_DMA_MAP_FLAG_READ), 0);
	assert_int_equal(rig_dma_map(&f->rig, f->fd, 4 * KIB, 0x1000, 4 * KIB, VFIO_DMA_MAP_FLAG_WRITE), 0);
	assert_int_equal(rig_dma_map(&f->rig, -1, 0, 0x2000, 4 * KIB, RW), 0);
	assert_true(readable(f, 0, 4096) && !writable(f, 0, 4096));
	assert_true(!readable(f, 0x1000, 4096) && writable(f, 0x1000, 4096));
	assert_true(!readable(f, 0x2000, 4096) && !writable(f, 0x2000, 4096));
	/* The device is not told of what it can never reach. */
	assert_int_equal(f->toy.maps, 2);
	assert_int_equal(rig_dma_unmap(&f->rig, 0x2000, 4 * KIB, 0), 0);
	assert_int_equal(f->toy.unmaps, 0);
}

static void test_unmap__whole_mappings_in_a_range__a_part_is_refused(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < 4; i++)
		assert_int_equal(rig_dma_map(&f->rig, f->fd, i * 16 * KIB, 0x100000 + i * 0x10000, 16 * KIB, RW), 0);
	assert_int_equal(rig_dma_unmap(&f->rig, 0x100000, 4 * KIB, 0), EINVAL);
	assert_int_equal(rig_dma_unmap(&f->rig, 0x102000, 0x10000, 0), EINVAL);
	assert_true(readable(f, 0x100000, 4096));
	/* Nothing is there: as VFIO's type 1 has it, no error. */
	assert_int_equal(rig_dma_unmap(&f->rig, 0x104000, 4 * KIB, 0), 0);
	assert_int_equal(rig_dma_unmap(&f->rig, 0x108000, 0x20000, 0), 0);
	assert_true(readable(f, 0x100000, 4096) && !readable(f, 0x110000, 1) && !readable(f, 0x120000, 1) && readable(f, 0x130000, 4096));
	assert_int_equal(f->rig.reply_bytes, 24);
	assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0x110000, 16 * KIB, RW), 0);
	assert_int_equal(rig_dma_unmap(&f->rig, 0, 0, VFIO_DMA_UNMAP_FLAG_ALL), 0);
	assert_false(readable(f, 0x100000, 1));
	assert_int_equal(f->toy.maps, 5);
	assert_int_equal(f->toy.unmaps, 5);
}

/* All addresses: the last page's end is no address. */
static void test_map__last_page__does_not_wrap(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0ull - 0x1000, 4 * KIB, RW), 0);
	assert_true(readable(f, ~0ull, 1));
	assert_false(readable(f, ~0ull, 2));
	assert_false(readable(f, 0, 1));
	assert_int_equal(rig_dma_unmap(&f->rig, 0x1000, 0ull - 0x1000, 0), 0);
	assert_false(readable(f, ~0ull, 1));
}

static void test_map__nonsense__ends_the_client(void **state)
{
	static const struct { u64 offset, addr, size; u32 flags; const char *why; } cases[] = {
		{ 0, 0x800, 0x1000, RW, "makes no sense" }, { 0, 0, 0x1800, RW, "makes no sense" },
		{ 0x10, 0, 0x1000, RW, "makes no sense" }, { 0, 0, 0, RW, "makes no sense" },
		{ 0, 0ull - 0x1000, 0x2000, RW, "makes no sense" }, { 0, 0, 0x1000, 0x10, "makes no sense" },
		{ 1ull << 63, 0, 0x1000, RW, "makes no sense" }, { 0, 0, 0x11000, RW, "ends before" },
		{ 0x10000, 0, 0x1000, RW, "ends before" }, { 0x3FFFFFFFFFFFF000, 0, 0x1000, RW, "ends before" },
		{ 0, 0, 1ull << 62, RW, "ends before" },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ended(f, rig_dma_map(&f->rig, f->fd, cases[i].offset, cases[i].addr, cases[i].size, cases[i].flags), cases[i].why);
		close(f->rig.fd);
		rig_start(&f->rig, &f->toy.device);
	}
	assert_int_equal(f->toy.maps, 0);
}

static void test_map__overlapping__ends_the_client(void **state)
{
	static const struct { u64 addr, size; } cases[] = {
		{ 0x4000, 0x1000 }, { 0x3000, 0x2000 }, { 0x7000, 0x2000 }, { 0x5000, 0x1000 }, { 0x3000, 0x8000 }, { 0x4000, 0x4000 },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0x1000, 0x1000, RW), 0);
		assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0x4000, 0x4000, RW), 0);
		/* Side by side is not over each other. */
		assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0x2000, 0x1000, RW), 0);
		assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0x8000, 0x1000, RW), 0);
		ended(f, rig_dma_map(&f->rig, f->fd, 0, cases[i].addr, cases[i].size, RW), "overlap");
		close(f->rig.fd);
		rig_start(&f->rig, &f->toy.device);
	}
}

/* A pipe's read may never end, nor may that of a file system that the client runs. */
static void test_map__a_file_that_is_no_memory__ends_the_client(void **state)
{
	struct fixture *f = *state;
	int fds[2], file = open("/proc/self/status", O_RDONLY), zero = open("/dev/zero", O_RDWR);
	int *bad[] = { &fds[0], &file, &zero };

	assert_int_equal(pipe(fds), 0);
	for (u32 i = 0; i < 3; i++) {
		ended(f, rig_dma_map(&f->rig, *bad[i], 0, 0, 0x1000, VFIO_DMA_MAP_FLAG_READ), "no memfd");
		close(f->rig.fd);
		rig_start(&f->rig, &f->toy.device);
	}
	close(fds[0]);
	close(fds[1]);
	close(file);
	close(zero);
}

/* What the client itself could not write is not written for it, though we may open the file. */
static void test_map__file_opened_for_less__ends_the_client(void **state)
{
	struct fixture *f = *state;
	char path[64];
	int fd, how[] = { O_RDONLY, O_PATH };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	for (u32 i = 0; i < 2; i++) {
		fd = open(path, how[i]);
		assert_true(fd >= 0);
		if (how[i] == O_RDONLY)
			assert_int_equal(rig_dma_map(&f->rig, fd, 0, 0x10000, 0x1000, VFIO_DMA_MAP_FLAG_READ), 0);
		ended(f, rig_dma_map(&f->rig, fd, 0, 0, 0x1000, RW), "not open for");
		close(fd);
		close(f->rig.fd);
		rig_start(&f->rig, &f->toy.device);
	}
}

/* A mapped file would be SIGBUS here. */
static void test_memory__cut_off_by_the_client__fails_and_nothing_else(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0, 64 * KIB, RW), 0);
	assert_int_equal(ftruncate(f->fd, 4 * KIB), 0);
	assert_true(readable(f, 0, 4096));
	assert_false(readable(f, 4 * KIB, 1));
	assert_false(readable(f, 4000, 200));
	assert_int_equal(ftruncate(f->fd, 64 * KIB), 0);
	assert_true(readable(f, 60 * KIB, 4096));
}

/* Flags of the file that came are the client's to change; ours is another opening of it. */
static void test_memory__append_set_by_the_client__file_does_not_grow(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0, 64 * KIB, RW), 0);
	assert_int_equal(fcntl(f->fd, F_SETFL, O_APPEND), 0);
	f->mem[100] = 1;
	assert_true(writable(f, 0, 4096));
	assert_int_equal(fstat(f->fd, &st), 0);
	assert_int_equal(st.st_size, 64 * KIB);
	assert_int_equal(f->mem[100], 0);
}

static void test_map__device_has_no_place__ends_the_client(void **state)
{
	struct fixture *f = *state;

	f->toy.refuses_maps = true;
	ended(f, rig_dma_map(&f->rig, f->fd, 0, 0, 0x1000, RW), "no place");
	close(f->rig.fd);
	rig_start(&f->rig, &f->toy.device);
}

static void test_map__of_many_files__ends_the_client(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i <= VFIO_USER_FILES_MAX; i++) {
		int fd = rig_memory(0x1000, NULL);

		if (i < VFIO_USER_FILES_MAX)
			assert_int_equal(rig_dma_map(&f->rig, fd, 0, i * 0x1000ull, 0x1000, RW), 0);
		else
			ended(f, rig_dma_map(&f->rig, fd, 0, i * 0x1000ull, 0x1000, RW), "Too many open files");
		close(fd);
	}
	close(f->rig.fd);
	rig_start(&f->rig, &f->toy.device);
}

static void test_map__as_many_as_there_may_be__one_file_and_then_the_end(void **state)
{
	struct fixture *f = *state;
	u32 files;

	assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, 0, 0x1000, RW), 0);
	files = rig_open_files();
	/* From both ends, so that they are not in order. */
	for (u32 i = 1; i < VFIO_USER_MAPS_MAX; i++)
		assert_int_equal(rig_dma_map(&f->rig, f->fd, 0, (i & 1 ? i : 2 * VFIO_USER_MAPS_MAX - i) * 0x1000ull, 0x1000, RW), 0);
	assert_int_equal(rig_open_files(), files);
	ended(f, rig_dma_map(&f->rig, f->fd, 0, 1ull << 40, 0x1000, RW), "more than 8192 mappings");
	close(f->rig.fd);
	rig_start(&f->rig, &f->toy.device);
}

/* --- interrupts --- */

static void interrupt(struct fixture *f, u32 vec)
{
	f->toy.guest->interrupt(f->toy.guest, vec);
}

static void test_irqs__eventfds__each_vector_its_own(void **state)
{
	struct fixture *f = *state;
	int ev[TOY_VECTORS], none = -1;

	for (u32 i = 0; i < TOY_VECTORS; i++)
		ev[i] = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(rig_irqs(&f->rig, EVENTFD, 0, 16, NULL, 0, ev, 16), 0);
	assert_int_equal(rig_irqs(&f->rig, EVENTFD, 16, 4, NULL, 0, ev + 16, 4), 0);
	for (u32 i = 0; i < TOY_VECTORS; i++) {
		assert_true(f->toy.open[i]);
		interrupt(f, i);
		for (u32 k = 0; k < TOY_VECTORS; k++)
			assert_int_equal(rig_eventfd_count(ev[k]), k == i);
	}
	/* No files with a count: those have none any more. */
	assert_int_equal(rig_irqs(&f->rig, EVENTFD, 5, 2, NULL, 0, &none, 0), 0);
	assert_true(f->toy.open[4] && !f->toy.open[5] && !f->toy.open[6] && f->toy.open[7]);
	interrupt(f, 5);
	interrupt(f, TOY_VECTORS + 100);
	assert_int_equal(rig_eventfd_count(ev[5]), 0);
	/* Another one in its place. */
	assert_int_equal(rig_irqs(&f->rig, EVENTFD, 7, 1, NULL, 0, &ev[5], 1), 0);
	interrupt(f, 7);
	assert_int_equal(rig_eventfd_count(ev[5]), 1);
	assert_int_equal(rig_eventfd_count(ev[7]), 0);
	/* None at all. */
	assert_int_equal(rig_irqs(&f->rig, VFIO_IRQ_SET_DATA_NONE | TRIGGER, 0, 0, NULL, 0, &none, 0), 0);
	for (u32 i = 0; i < TOY_VECTORS; i++) {
		assert_false(f->toy.open[i]);
		close(ev[i]);
	}
}

static void test_irqs__masked__is_closed_until_unmasked(void **state)
{
	struct fixture *f = *state;
	const u8 which[3] = { 1, 0, 1 };
	int ev[3];

	for (u32 i = 0; i < 3; i++)
		ev[i] = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(rig_irqs(&f->rig, VFIO_IRQ_SET_DATA_BOOL | VFIO_IRQ_SET_ACTION_MASK, 0, 3, which, 3, NULL, 0), 0);
	assert_int_equal(rig_irqs(&f->rig, EVENTFD, 0, 3, NULL, 0, ev, 3), 0);
	assert_true(!f->toy.open[0] && f->toy.open[1] && !f->toy.open[2]);
	interrupt(f, 0);
	assert_int_equal(rig_eventfd_count(ev[0]), 0);
	assert_int_equal(rig_irqs(&f->rig, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, 0, 1, NULL, 0, NULL, 0), 0);
	assert_true(f->toy.open[0] && f->toy.open[1] && !f->toy.open[2]);
	interrupt(f, 0);
	assert_int_equal(rig_eventfd_count(ev[0]), 1);
	/* The client may have them sent itself. */
	assert_int_equal(rig_irqs(&f->rig, VFIO_IRQ_SET_DATA_BOOL | TRIGGER, 0, 3, which, 3, NULL, 0), 0);
	assert_int_equal(rig_eventfd_count(ev[0]), 1);
	assert_int_equal(rig_eventfd_count(ev[1]), 0);
	assert_int_equal(rig_eventfd_count(ev[2]), 0);
	for (u32 i = 0; i < 3; i++)
		close(ev[i]);
}

static void test_irqs__nonsense__ends_the_client(void **state)
{
	struct fixture *f = *state;
	int ev = eventfd(0, EFD_NONBLOCK), pipes[2], two[2] = { ev, ev };
	const u8 bools[4] = { 1, 1, 1, 1 };

	assert_int_equal(pipe(pipes), 0);
	for (u32 i = 0; i < 8; i++) {
		struct vfio_rig *r = &f->rig;

		switch (i) {
		case 0: ended(f, rig_irqs(r, EVENTFD, TOY_VECTORS, 1, NULL, 0, &ev, 1), "make no sense"); break;
		case 1: ended(f, rig_irqs(r, EVENTFD, 1, ~0u, NULL, 0, NULL, 0), "make no sense"); break;
		case 2: ended(f, rig_irqs(r, EVENTFD, ~0u, 2, NULL, 0, NULL, 0), "make no sense"); break;
		case 3: ended(f, rig_irqs(r, EVENTFD, 0, 3, NULL, 0, two, 2), "2 eventfds for 3"); break;
		case 4: ended(f, rig_irqs(r, EVENTFD, 0, 1, NULL, 0, &pipes[1], 1), "no eventfd"); break;
		case 5: ended(f, rig_irqs(r, VFIO_IRQ_SET_DATA_BOOL | TRIGGER, 0, 3, bools, 2, NULL, 0), "make no sense"); break;
		case 6: ended(f, rig_irqs(r, VFIO_IRQ_SET_DATA_NONE | TRIGGER | 0x40, 0, 1, NULL, 0, NULL, 0), "make no sense"); break;
		case 7: ended(f, rig_irqs(r, VFIO_IRQ_SET_DATA_NONE | TRIGGER, 0, 1, bools, 4, NULL, 0), "make no sense"); break;
		}
		close(f->rig.fd);
		rig_start(&f->rig, &f->toy.device);
	}
	assert_int_equal(rig_irqs(&f->rig, VFIO_IRQ_SET_DATA_NONE, 0, 1, NULL, 0, NULL, 0), EINVAL);
	close(ev);
	close(pipes[0]);
	close(pipes[1]);
}

/* A counter that is full makes a write wait, where the client wants that; it does not wait for good. */
static void test_irqs__eventfd_that_takes_no_more__ends_the_client(void **state)
{
	struct fixture *f = *state;
	u64 full = ~0ull - 1;
	int ev = eventfd(0, 0);

	assert_int_equal(write(ev, &full, sizeof(full)), sizeof(full));
	assert_int_equal(rig_irqs(&f->rig, EVENTFD, 0, 1, NULL, 0, &ev, 1), 0);
	interrupt(f, 0);
	assert_true(f->rig.u && vfio_user_why(f->rig.u));
	ended(f, rig_call(&f->rig, CMD_RESET, NULL, 0), "does not take its interrupt");
	close(f->rig.fd);
	rig_start(&f->rig, &f->toy.device);
	close(ev);
}

#define T(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_map__bytes_go_both_ways__and_exactly_there),
		T(test_map__read_only_or_without_a_file__dma_fails_there),
		T(test_unmap__whole_mappings_in_a_range__a_part_is_refused),
		T(test_map__last_page__does_not_wrap),
		T(test_map__nonsense__ends_the_client),
		T(test_map__overlapping__ends_the_client),
		T(test_map__a_file_that_is_no_memory__ends_the_client),
		T(test_map__file_opened_for_less__ends_the_client),
		T(test_memory__cut_off_by_the_client__fails_and_nothing_else),
		T(test_memory__append_set_by_the_client__file_does_not_grow),
		T(test_map__device_has_no_place__ends_the_client),
		T(test_map__of_many_files__ends_the_client),
		T(test_map__as_many_as_there_may_be__one_file_and_then_the_end),
		T(test_irqs__eventfds__each_vector_its_own),
		T(test_irqs__masked__is_closed_until_unmasked),
		T(test_irqs__nonsense__ends_the_client),
		T(test_irqs__eventfd_that_takes_no_more__ends_the_client),
	};

	return cmocka_run_group_tests_name("vfio_user_dma", tests, NULL, NULL);
}
