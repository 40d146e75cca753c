// SPDX-License-Identifier: GPL-2.0
/* A vfio-user session: what its client's messages mean. Hostile ones are in test_vfio_user_hostile.c. */

#include "vfio_toy.h"

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
	rig_start(&f->rig, &f->toy.device);
	*state = f;
	return 0;
}

/* Whatever was done: the device is told, and no file stays open. */
static int down(void **state)
{
	struct fixture *f = *state;

	rig_leave(&f->rig);
	assert_int_equal(f->toy.opened, f->toy.closed);
	close(f->toy.device.region[2].fd);
	assert_int_equal(rig_open_files(), f->files);
	free(f);
	return 0;
}

static void test_version__as_qemu_says_it__is_answered_0_0_with_our_limits(void **state)
{
	struct fixture *f = *state;
	const struct vfio_rig *r = &f->rig;

	assert_memory_equal(r->reply, "\0\0\0\0", 4);
	assert_non_null(strstr((const char *)r->reply + 4, "\"max_msg_fds\":16"));
	assert_non_null(strstr((const char *)r->reply + 4, "\"max_data_xfer_size\":4096"));
	/* What is not there is not said to be. */
	assert_null(strstr((const char *)r->reply + 4, "write_multiple"));
	assert_int_equal(r->reply[r->reply_bytes - 1], 0);
	assert_int_equal(f->toy.opened, 1);
}

static void test_info__is_that_of_a_pci_device_that_can_be_reset(void **state)
{
	struct fixture *f = *state;
	struct vfio_device_info i = { .argsz = 16 };

	assert_int_equal(rig_call(&f->rig, CMD_INFO, &i, 16), 0);
	memcpy(&i, f->rig.reply, 16);
	assert_int_equal(f->rig.reply_bytes, 16);
	assert_int_equal(i.flags, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI);
	assert_int_equal(i.num_regions, VFIO_PCI_NUM_REGIONS);
	assert_int_equal(i.num_irqs, VFIO_PCI_NUM_IRQS);
}

static void test_region_info__says_size_and_rights__and_gives_what_can_be_mapped(void **state)
{
	struct fixture *f = *state;
	u64 sizes[VFIO_PCI_NUM_REGIONS] = { [0] = TOY_BAR0, [2] = TOY_BAR2, [VFIO_PCI_CONFIG_REGION_INDEX] = 4096 };
	u8 *p;

	for (u32 i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		struct vfio_region_info info = { .argsz = sizeof(info), .index = i };

		assert_int_equal(rig_call(&f->rig, CMD_REGION_INFO, &info, sizeof(info)), 0);
		assert_int_equal(f->rig.reply_bytes, sizeof(info));
		memcpy(&info, f->rig.reply, sizeof(info));
		assert_int_equal(info.index, i);
		assert_int_equal(info.size, sizes[i]);
		assert_int_equal(info.flags, !sizes[i] ? 0 : VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE |
						 (i == 2 ? VFIO_REGION_INFO_FLAG_MMAP : 0));
		assert_int_equal(info.offset, 0);
		assert_int_equal(f->rig.reply_fd >= 0, i >= 2);
	}
	p = mmap(NULL, TOY_BAR2, PROT_READ | PROT_WRITE, MAP_SHARED, f->rig.reply_fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	p[TOY_BAR2 - 1] = 0x5A;
	assert_int_equal(pread(f->toy.device.region[2].fd, p, 1, TOY_BAR2 - 1), 1);
	assert_int_equal(p[0], 0x5A);
	munmap(p, TOY_BAR2);
}

static void test_irq_info__msix_only(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < VFIO_PCI_NUM_IRQS; i++) {
		struct vfio_irq_info info = { .argsz = sizeof(info), .index = i };

		assert_int_equal(rig_call(&f->rig, CMD_IRQ_INFO, &info, sizeof(info)), 0);
		memcpy(&info, f->rig.reply, sizeof(info));
		assert_int_equal(info.count, i == VFIO_PCI_MSIX_IRQ_INDEX ? TOY_VECTORS : 0);
		assert_int_equal(info.flags, i == VFIO_PCI_MSIX_IRQ_INDEX ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE |
								    VFIO_IRQ_INFO_NORESIZE : 0);
	}
}

static void test_region_access__odd_sizes__come_as_aligned_pieces(void **state)
{
	struct fixture *f = *state;
	const u8 bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	static const struct { u32 region; u64 off; u32 count, len[8]; } cases[] = {
		{ 0, 0x10, 8, { 8 } }, { 0, 0x14, 8, { 4, 4 } }, { 0, 0x11, 7, { 1, 2, 4 } }, { 0, 0x17, 10, { 1, 8, 1 } },
		{ 0, TOY_BAR0 - 1, 1, { 1 } }, { VFIO_PCI_CONFIG_REGION_INDEX, 0x10, 8, { 4, 4 } },
		{ VFIO_PCI_CONFIG_REGION_INDEX, 0x42, 6, { 2, 4 } },
	};
	u8 got[16];

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 off = cases[i].off;
		u32 n = 0, done = 0;

		f->toy.nr_log = 0;
		assert_int_equal(rig_write(&f->rig, cases[i].region, off, bytes, cases[i].count), 0);
		assert_int_equal(rig_read(&f->rig, cases[i].region, off, got, cases[i].count), 0);
		assert_memory_equal(got, bytes, cases[i].count);
		for (; n < 8 && cases[i].len[n]; done += cases[i].len[n++]) {
			u64 val = 0;

			memcpy(&val, bytes + done, cases[i].len[n]);
			assert_true(f->toy.log[n].write);
			assert_int_equal(f->toy.log[n].off, off + done);
			assert_int_equal(f->toy.log[n].len, cases[i].len[n]);
			assert_int_equal(f->toy.log[n].val, val);
		}
		assert_int_equal(f->toy.nr_log, 2 * n);
	}
}

static void test_region_access__whole_transfer__is_taken(void **state)
{
	struct fixture *f = *state;
	u8 out[TOY_BAR0], in[TOY_BAR0];

	for (u32 i = 0; i < sizeof(out); i++)
		out[i] = (u8)(i * 7);
	assert_int_equal(rig_write(&f->rig, 0, 0, out, sizeof(out)), 0);
	assert_int_equal(rig_read(&f->rig, 0, 0, in, sizeof(in)), 0);
	assert_memory_equal(in, out, sizeof(in));
}

static void test_no_reply__asked_for__none_comes(void **state)
{
	struct fixture *f = *state;
	struct rig_access a = { 4, 0, 4, { 0xAA } };

	assert_true(rig_send(&f->rig, CMD_REGION_WRITE, FLAG_NO_REPLY, &a, 20, NULL, 0));
	assert_true(rig_send(&f->rig, CMD_REGION_IO_FDS, FLAG_NO_REPLY, &a, 16, NULL, 0));
	/* rig_call() sees that the reply is that of its own command. */
	assert_int_equal(rig_call(&f->rig, CMD_RESET, NULL, 0), 0);
	assert_int_equal(f->toy.bar0[4], 0xAA);
	assert_int_equal(f->toy.resets, 1);
}

static void test_message__byte_by_byte__is_one(void **state)
{
	struct fixture *f = *state;
	struct { struct rig_header h; u64 off; u32 region, count, data; } m = {
		{ 77, CMD_REGION_WRITE, sizeof(m), 0, 0 }, 8, 0, 4, 0x12345678 };

	_Static_assert(offsetof(typeof(m), data) == 32, "no holes");
	m.h.size = 36;
	for (u32 i = 0; i < 36; i++) {
		assert_int_equal(f->toy.nr_log, 0);
		assert_true(rig_send_raw(&f->rig, (u8 *)&m + i, 1, NULL, 0));
		rig_pump(&f->rig);
	}
	assert_true(rig_reply(&f->rig));
	assert_int_equal(f->rig.h.id, 77);
	assert_int_equal(f->toy.log[0].val, 0x12345678);
}

/* A client that sends and sends, and reads no reply: nothing is lost, and nothing piles up here. */
static void test_replies__not_read__are_kept_until_they_are(void **state)
{
	struct fixture *f = *state;
	struct rig_access a = { 0, 0, 4096, { 0 } };
	u32 sent = 0, got = 0;

	while (rig_send(&f->rig, CMD_REGION_READ, 0, &a, 16, NULL, 0) && sent < 100000) {
		sent++;
		rig_pump(&f->rig);
	}
	assert_true(sent > 10 && sent < 100000);
	assert_int_equal(vfio_user_events(f->rig.u), POLLOUT);
	for (; got < sent; got++) {
		while (!rig_take(&f->rig, &f->rig.h, sizeof(f->rig.h)))
			rig_pump(&f->rig);
		for (u32 left = f->rig.h.size - 16; left;) {
			ssize_t n = recv(f->rig.fd, f->rig.reply, left, MSG_DONTWAIT);

			if (n > 0)
				left -= (u32)n;
			else
				rig_pump(&f->rig);
		}
		assert_int_equal(f->rig.h.id, (u16)(got + 2));
	}
	assert_int_equal(rig_call(&f->rig, CMD_RESET, NULL, 0), 0);
}

static void test_unsupported__is_answered_so__and_the_session_goes_on(void **state)
{
	struct fixture *f = *state;
	struct { u32 argsz, flags; u64 address, size, bitmap[2]; } dirty = { 40, VFIO_DMA_UNMAP_FLAG_GET_DIRTY_BITMAP, 0, 0x1000, { 0 } };

	assert_int_equal(rig_call(&f->rig, CMD_REGION_IO_FDS, &dirty, 16), EOPNOTSUPP);
	assert_int_equal(rig_call(&f->rig, CMD_DIRTY_PAGES, &dirty, 8), EOPNOTSUPP);
	assert_int_equal(rig_call(&f->rig, CMD_DMA_UNMAP, &dirty, sizeof(dirty)), EOPNOTSUPP);
	assert_int_equal(rig_call(&f->rig, CMD_RESET, NULL, 0), 0);
}

static void test_reconnect__many_times__each_is_a_new_guest(void **state)
{
	struct fixture *f = *state;
	int fd = rig_memory(0x10000, NULL), ev = eventfd(0, 0);

	for (u32 i = 0; i < 50; i++) {
		assert_int_equal(rig_dma_map(&f->rig, fd, 0, 0x10000, 0x10000, 3), 0);
		assert_int_equal(rig_irqs(&f->rig, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 3, 1, NULL, 0, &ev, 1), 0);
		assert_true(f->toy.open[3]);
		rig_leave(&f->rig);
		assert_string_equal(f->rig.why, "");
		assert_int_equal(f->toy.closed, i + 1);
		assert_int_equal(f->toy.unmaps, i + 1);
		rig_start(&f->rig, &f->toy.device);
	}
	close(fd);
	close(ev);
}

#define T(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_version__as_qemu_says_it__is_answered_0_0_with_our_limits),
		T(test_info__is_that_of_a_pci_device_that_can_be_reset),
		T(test_region_info__says_size_and_rights__and_gives_what_can_be_mapped),
		T(test_irq_info__msix_only),
		T(test_region_access__odd_sizes__come_as_aligned_pieces),
		T(test_region_access__whole_transfer__is_taken),
		T(test_no_reply__asked_for__none_comes),
		T(test_message__byte_by_byte__is_one),
		T(test_replies__not_read__are_kept_until_they_are),
		T(test_unsupported__is_answered_so__and_the_session_goes_on),
		T(test_reconnect__many_times__each_is_a_new_guest),
	};

	return cmocka_run_group_tests_name("vfio_user", tests, NULL, NULL);
}
