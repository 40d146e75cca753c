// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* SGLs: NVMe Base 4.1.2, the SGL rows of the table of I/O status codes, and EXH-08. */

#define D(status) ((u16)((status) | NVME_DNR))
#define DATA 0x00
#define BUCKET 0x10
#define SEGMENT 0x20
#define LAST 0x30

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_io *f;

	cfg.sgls = true;
	f = rig_io_up(&cfg);
	for (u64 i = 0; i < 256; i++)
		store_write(f->r->media, i * 512, &i, sizeof(i));
	*state = f;
	return 0;
}

static u64 half(u32 length, u8 id)
{
	return (u64)id << 56 | length;
}

static void desc(struct rig_io *f, u64 list, u32 slot, u64 addr, u32 length, u8 id)
{
	rig_set64(f->r, list + 16 * slot, addr);
	rig_set64(f->r, list + 16 * slot + 8, half(length, id));
}

static u16 io(struct rig_io *f, u8 opcode, u32 blocks, u64 addr, u32 length, u8 id)
{
	struct nvme_sqe sqe = rig_rw(opcode, 0, blocks - 1, addr, half(length, id));

	sqe.flags = 0x40;
	return rig_cmd(f->r, &f->q, sqe);
}

static void test_sgl__one_block__moves_at_any_alignment(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(io(f, NVME_CMD_READ, 24, RIG_BUF + 0x123, 24 * 512, DATA), 0);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 0x123 + 512), 1);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 0x123 + 23 * 512), 23);
	store_zero(f->r->media, 512, 512);
	assert_int_equal(io(f, NVME_CMD_WRITE, 24, RIG_BUF + 0x123, 24 * 512, DATA), 0);
	assert_int_equal(rig_media_byte(f->r, 1), 1);
}

static void test_sgl__segments__chain(void **state)
{
	struct rig_io *f = *state;

	desc(f, RIG_LIST, 0, RIG_BUF, 512, DATA);
	desc(f, RIG_LIST, 1, 0, 0, DATA);	/* an empty block is legal */
	desc(f, RIG_LIST, 2, RIG_LIST + 0x2FF8, 32, LAST);	/* its first descriptor lies across two pages */
	desc(f, RIG_LIST + 0x2FF8, 0, RIG_BUF + 0x5000, 1024, DATA);
	desc(f, RIG_LIST + 0x2FF8, 1, RIG_BUF + 0x7000, 512, DATA);
	assert_int_equal(io(f, NVME_CMD_READ, 4, RIG_LIST, 48, SEGMENT), 0);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 0x5000), 1);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 0x5200), 2);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 0x7000), 3);
}

static void test_sgl__256_blocks_of_512__fit_mdts(void **state)
{
	struct rig_io *f = *state;

	for (u32 i = 0; i < 256; i++)
		desc(f, RIG_LIST, i, RIG_BUF + 0x1000 * (255 - i), 512, DATA);
	assert_int_equal(io(f, NVME_CMD_READ, 256, RIG_LIST, 4096, LAST), 0);
	assert_int_equal(rig_mem64(f->r, RIG_BUF), 255);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 0x1000 * 55), 200);
}

/* 514 pieces are within the bound of descriptors; 257 are what there is room for. */
static void test_sgl__512_blocks_of_256__more_than_there_is_room_for(void **state)
{
	struct rig_io *f = *state;

	for (u32 i = 0; i < 512; i++)
		desc(f, RIG_LIST, i, RIG_BUF + 256 * i, 256, DATA);
	assert_int_equal(io(f, NVME_CMD_READ, 256, RIG_LIST, 512 * 16, LAST), D(0x00E));
}

static void test_sgl__length_wrong__data_length_invalid(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(io(f, NVME_CMD_READ, 2, RIG_BUF, 512, DATA), D(0x00F));	/* too short */
	assert_int_equal(io(f, NVME_CMD_READ, 2, RIG_BUF, 1025, DATA), D(0x00F));	/* too long */
	assert_int_equal(io(f, NVME_CMD_READ, 2, ~0ULL - 100, 1024, DATA), D(0x00F));	/* wraps */
	desc(f, RIG_LIST, 0, RIG_BUF, 1024, DATA);
	desc(f, RIG_LIST, 1, RIG_BUF, 512, DATA);
	assert_int_equal(io(f, NVME_CMD_READ, 2, RIG_LIST, 32, LAST), D(0x00F));
	assert_int_equal(io(f, NVME_CMD_READ, 4, RIG_LIST, 32, LAST), D(0x00F));
}

static void test_sgl__segment_wrong__segment_invalid(void **state)
{
	struct rig_io *f = *state;

	desc(f, RIG_LIST, 0, RIG_BUF, 512, DATA);
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 0, LAST), D(0x00D));
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 24, LAST), D(0x00D));
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 0, SEGMENT), D(0x00D));
	assert_int_equal(io(f, NVME_CMD_READ, 1, ~0ULL - 15, 32, LAST), D(0x00D));
	/* A last segment that goes on. */
	desc(f, RIG_LIST, 1, RIG_LIST + 0x1000, 16, SEGMENT);
	assert_int_equal(io(f, NVME_CMD_READ, 2, RIG_LIST, 32, LAST), D(0x00D));
}

static void test_sgl__descriptor_wrong__count_or_type_invalid(void **state)
{
	struct rig_io *f = *state;

	desc(f, RIG_LIST, 0, RIG_LIST + 0x1000, 16, SEGMENT);
	desc(f, RIG_LIST, 1, RIG_BUF, 512, DATA);
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 32, SEGMENT), D(0x00E));
	desc(f, RIG_LIST, 0, RIG_BUF, 512, 0xA0);
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 16, LAST), D(0x011));
	desc(f, RIG_LIST, 0, RIG_BUF, 512, 0x01);
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 16, LAST), D(0x011));
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_BUF, 512, 0xA0), D(0x011));
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_BUF, 512, BUCKET), D(0x011));
}

static void test_sgl__never_finishes__is_refused(void **state)
{
	struct rig_io *f = *state;
	u32 dma;

	/* Empty blocks, and a pointer to itself. */
	desc(f, RIG_LIST, 0, RIG_BUF, 0, DATA);
	desc(f, RIG_LIST, 1, RIG_LIST, 32, SEGMENT);
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 32, SEGMENT), D(0x00D));
	/* A byte each time around: ends with the descriptors that a command may spend. */
	desc(f, RIG_LIST, 0, RIG_BUF, 1, DATA);
	f->r->nr_ev = 0;
	assert_int_equal(io(f, NVME_CMD_READ, 256, RIG_LIST, 32, SEGMENT) & 0x7FF, 0x00D);
	dma = rig_count(f->r, TRACE_DMA);
	assert_true(dma <= 3 + 257);
	/* 2 MiB of empty descriptors. */
	rig_fill(f->r, RIG_LIST, 0x200000, 0);
	f->r->nr_ev = 0;
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_LIST, 0x200000, LAST) & 0x7FF, 0x00D);
	assert_int_equal(rig_count(f->r, TRACE_DMA), 3);
}

static void test_sgl__lists_and_data_blocked_or_own__data_transfer_error(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_NO_TARGET, 16, LAST), 0x004);
	assert_int_equal(io(f, NVME_CMD_WRITE, 1, RIG_NO_TARGET, 512, DATA), 0x004);
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_BAR0 + 0x1000, 512, DATA), D(0x004));
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_BAR0 + 0x1000, 16, LAST), D(0x004));
	assert_int_equal(io(f, NVME_CMD_READ, 1, RIG_BAR0 - 8, 512, DATA), D(0x004));
}

static void test_psdt__reserved_or_admin__invalid_field(void **state)
{
	struct rig_io *f = *state;
	struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 512);

	sqe.flags = 0xC0;
	assert_int_equal(rig_cmd(f->r, &f->q, sqe), D(0x002));
	sqe.flags = 0x80;
	assert_int_equal(rig_cmd(f->r, &f->q, sqe), 0);
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .flags = 0x40, .prp1 = RIG_BUF,
							    .prp2 = 4096, .cdw10 = 1 }), D(0x002));
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .prp1 = RIG_BUF, .cdw10 = 1 }),
			 0);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 536) & 3, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, rig_io_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_sgl__one_block__moves_at_any_alignment),
		T(test_sgl__segments__chain),
		T(test_sgl__256_blocks_of_512__fit_mdts),
		T(test_sgl__512_blocks_of_256__more_than_there_is_room_for),
		T(test_sgl__length_wrong__data_length_invalid),
		T(test_sgl__segment_wrong__segment_invalid),
		T(test_sgl__descriptor_wrong__count_or_type_invalid),
		T(test_sgl__never_finishes__is_refused),
		T(test_sgl__lists_and_data_blocked_or_own__data_transfer_error),
		T(test_psdt__reserved_or_admin__invalid_field),
	};

	return cmocka_run_group_tests_name("nvme_sgl", tests, NULL, NULL);
}
