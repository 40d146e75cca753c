// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/*
 * Metadata in a buffer of its own, and protection information of type 1: NVM 5.2.
 */

#define META (RIG_BUF + 0x8000)
#define PRACT (1u << 29)
#define GUARD (1u << 28)
#define APP (1u << 27)
#define REF (1u << 26)
#define D(status) ((u16)((status) | NVME_DNR))

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();

	cfg.metadata = true;
	cfg.oncs |= NVME_ONCS_COPY;
	*state = rig_io_up(&cfg);
	return 0;
}

static u16 rw(struct rig_io *f, u8 opcode, u64 slba, u32 cdw12, u64 mptr, u32 ref)
{
	struct nvme_sqe sqe = rig_rw(opcode, slba, 0, RIG_BUF, 0);

	sqe.cdw12 = cdw12;
	sqe.cdw14 = ref;
	sqe.cdw15 = 0xFFFF0000 | 0x1234;
	sqe.mptr = mptr;
	return rig_cmd(f->r, &f->q, sqe);
}

static u64 meta(struct rig_io *f, u32 i)
{
	return rig_mem64(f->r, META + 8 * i);
}

/* Bit by bit, as NVM 5.2.2.1 and T10 SBC have it. */
static u16 guard_of(u8 byte)
{
	u16 reg = 0;

	for (u32 i = 0; i < 512 * 8; i++) {
		u16 in = (u16)((byte >> (7 - i % 8)) & 1), out = reg >> 15;

		reg = (u16)(reg << 1);
		if (in ^ out)
			reg ^= 0x8BB7;
	}
	return reg;
}

static void test_identify__metadata__is_told(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .nsid = 1, .prp1 = RIG_BUF }), 0);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 128) & 0xFFFFFFFF, 9 << 16 | 8);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 27), 2);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 28), 0x11);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 29), 1);
}

static void test_write_read__metadata__round_trip_across_pages(void **state)
{
	struct rig_io *f = *state;

	for (u32 i = 0; i < 4; i++)
		rig_set64(f->r, META + 0xFF0 + 8 * i, 0x1000 + i);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x10, 3, META + 0xFF0, 0), 0);
	rig_fill(f->r, META, 0x3000, 0);
	f->r->nr_ev = 0;
	assert_int_equal(rw(f, NVME_CMD_READ, 0x10, 3, META + 0x1FF4, 0), 0);
	for (u32 i = 0; i < 4; i++)
		assert_true(rig_mem64(f->r, META + 0x1FF4 + 8 * i) == 0x1000 + i);
	assert_int_equal(rig_count(f->r, TRACE_PRP), 3);	/* data, and two pages of metadata */
}

static void test_pract__information__is_made_and_taken_away(void **state)
{
	struct rig_io *f = *state;
	u16 guard = guard_of(0xA5);

	rig_fill(f->r, RIG_BUF, 0x1000, 0xA5);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x20, 1 | PRACT, RIG_NO_TARGET, 0x20), 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0x20, 1 | PRACT | GUARD | APP | REF, RIG_NO_TARGET, 0x20), 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0x20, 1, META, 0), 0);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(rig_byte(f->r, META + 8 * i) << 8 | rig_byte(f->r, META + 8 * i + 1), guard);
		assert_int_equal(rig_byte(f->r, META + 8 * i + 2) << 8 | rig_byte(f->r, META + 8 * i + 3), 0x1234);
		assert_int_equal(rig_byte(f->r, META + 8 * i + 7), 0x20 + i);
	}
	assert_int_equal(rw(f, NVME_CMD_READ, 0x20, PRACT | REF, 0, 0x21), 0x284);
}

static void test_prchk__wrong_information__is_told(void **state)
{
	struct rig_io *f = *state;

	rig_fill(f->r, RIG_BUF, 0x200, 0xA5);
	rig_set64(f->r, META, 0);		/* guard, tag and reference 0 */
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x30, GUARD, META, 0), 0x282);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x30, APP, META, 0), 0x283);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x30, 0, META, 0), 0);
	rig_fill(f->r, RIG_BUF, 0x200, 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0x30, GUARD, META, 0), 0x282);
	assert_int_equal(rig_byte(f->r, RIG_BUF), 0);	/* nothing moved */
	assert_int_equal(rw(f, NVME_CMD_READ, 0x30, REF, META, 0), 0);
	/* Never written: all ones, not looked at. */
	assert_int_equal(rw(f, NVME_CMD_READ, 0x31, GUARD | APP | REF, META, 7), 0);
	assert_true(meta(f, 0) == ~0ull);
}

static void test_mptr__not_a_buffer__refused_before_any_dma(void **state)
{
	struct rig_io *f = *state;

	rig_fill(f->r, RIG_BUF, 0x1000, 0x11);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0, META + 2, 0), D(0x002));
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0, RIG_BAR0 + 0x1000, 0), D(0x004));
	assert_int_equal(rig_byte(f->r, RIG_BUF), 0x11);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0, 0, RIG_NO_TARGET, 0), 0x004);
	/* Posted: the controller does not learn. */
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0, RIG_NO_TARGET, 0), 0);
}

static void test_zeroes_and_copy__metadata__follows(void **state)
{
	struct rig_io *f = *state;
	struct nvme_copy_range range = { .slba = 0x40, .nlb = 1 };
	struct nvme_sqe sqe = rig_rw(NVME_CMD_COPY, 0x50, 0, RIG_BUF, 0);

	rig_set64(f->r, META, 0x1111);
	rig_set64(f->r, META + 8, 0x2222);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x40, 1, META, 0), 0);
	store_write(f->r->memory, RIG_BUF, &range, sizeof(range));
	sqe.cdw12 = 0;
	assert_int_equal(rig_cmd(f->r, &f->q, sqe), 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0x50, 1, META + 0x100, 0), 0);
	assert_true(meta(f, 0x20) == 0x1111 && meta(f, 0x21) == 0x2222);
	assert_int_equal(rw(f, NVME_CMD_COMPARE, 0x50, 1, META, 0), 0);
	rig_set64(f->r, META + 8, 0x2223);
	assert_int_equal(rw(f, NVME_CMD_COMPARE, 0x50, 1, META, 0), 0x285);
	assert_int_equal(rw(f, NVME_CMD_WRITE_ZEROES, 0x50, 0, 0, 0), 0);
	assert_int_equal(rw(f, NVME_CMD_WRITE_ZEROES, 0x51, PRACT, 0, 0x51), 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0x50, 1, META, 0), 0);
	assert_true(meta(f, 0) == 0);
	assert_true(meta(f, 1) == 0x5100000034120000ull);	/* guard of zeros, tag 1234h, reference 51h */
}

static void test_domain__mptr_outside__refused(void **state)
{
	struct nvme_config cfg = rig_config();
	struct nvme_nrd nrd = { .magic = NVME_NRD_MAGIC, .nsid = 1, .nr_lba = 1, .nr_dma = 1,
				.lba = { { 0, RIG_NSZE } }, .dma = { { RIG_BUF, 0x1000 } } };
	struct rig_io f;

	(void)state;
	cfg.metadata = cfg.resource_domains = true;
	f.r = rig_up(&cfg);
	f.q = rig_pair(f.r, 4, 64, 64);
	memset(nrd.opcodes, 0xFF, sizeof(nrd.opcodes));
	store_write(f.r->memory, RIG_LIST, &nrd, sizeof(nrd));
	assert_int_equal(rig_admin(f.r, (struct nvme_sqe){ .opcode = NVME_ADM_NRD_BIND, .prp1 = RIG_LIST, .cdw10 = 4 }), 0);
	rig_fill(f.r, META, 0x1000, 0x11);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, 0, META, 0), D(0x004));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, 0, RIG_BUF + 0xFFC, 0), D(0x004));
	assert_int_equal(rig_byte(f.r, META), 0x11);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, 0, RIG_BUF + 0xFF8, 0), 0);
	rig_free(f.r);
}

static void test_mdts__metadata_beyond_the_scratch__no_controller(void **state)
{
	struct nvme_config cfg = rig_config();

	(void)state;
	cfg.metadata = true;
	cfg.mdts = 9;
	assert_null(nvme_new(&cfg, NULL, NULL, NULL, NULL));
	cfg.mdts = 0;
	assert_null(nvme_new(&cfg, NULL, NULL, NULL, NULL));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, rig_io_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_identify__metadata__is_told),
		T(test_write_read__metadata__round_trip_across_pages),
		T(test_pract__information__is_made_and_taken_away),
		T(test_prchk__wrong_information__is_told),
		T(test_mptr__not_a_buffer__refused_before_any_dma),
		T(test_zeroes_and_copy__metadata__follows),
		cmocka_unit_test(test_domain__mptr_outside__refused),
		cmocka_unit_test(test_mdts__metadata_beyond_the_scratch__no_controller),
	};

	return cmocka_run_group_tests_name("nvme_meta", tests, NULL, NULL);
}
