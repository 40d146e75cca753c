// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* I/O commands: what they do, and the table "I/O commands" of expected status codes. */

#define D(status) ((u16)((status) | NVME_DNR))

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();

	*state = rig_io_up(&cfg);
	return 0;
}

static u16 io(struct rig_io *f, struct nvme_sqe sqe)
{
	return rig_cmd(f->r, &f->q, sqe);
}

static u16 rw(struct rig_io *f, u8 opcode, u64 slba, u32 nlb_field)
{
	return io(f, rig_rw(opcode, slba, nlb_field, RIG_BUF, RIG_BUF + 0x1000));
}

/* A refused command touches neither medium nor memory. */
static void expect_untouched(struct rig_io *f, struct nvme_sqe sqe, u16 status)
{
	u32 dma, media;

	f->r->nr_ev = 0;
	assert_int_equal(io(f, sqe), status);
	media = rig_count(f->r, TRACE_MEDIA);
	dma = rig_count(f->r, TRACE_DMA);
	assert_int_equal(media, 0);
	assert_int_equal(dma, 3);	/* SQE, and a CQE in two halves */
	assert_int_equal(rig_count(f->r, TRACE_CMD_REFUSED), 1);
}

static void test_write_read__round_trip__content_is_kept(void **state)
{
	struct rig_io *f = *state;

	rig_fill(f->r, RIG_BUF, 0x1000, 0xA5);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0x1234, 7), 0);
	assert_int_equal(rig_media_byte(f->r, 0x1233), 0);
	assert_int_equal(rig_media_byte(f->r, 0x1234), 0xA5);
	assert_int_equal(rig_media_byte(f->r, 0x123B), 0xA5);
	assert_int_equal(rig_media_byte(f->r, 0x123C), 0);
	rig_fill(f->r, RIG_BUF, 0x2000, 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0x1234, 7), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 0xFFF), 0xA5);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 0x1000), 0);
}

static void test_read__last_block__succeeds(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, RIG_NSZE - 1, 1, 0x77);
	assert_int_equal(rw(f, NVME_CMD_READ, RIG_NSZE - 1, 0), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 511), 0x77);
}

static void test_opcode__not_supported__invalid_opcode(void **state)
{
	static const u8 opcodes[] = { 0x7F, 0xC0, 0x04, 0x0D, 0x19, 0x11, 0x06 };
	struct rig_io *f = *state;

	for (size_t i = 0; i < sizeof(opcodes); i++)
		expect_untouched(f, rig_rw(opcodes[i], 0, 0, RIG_BUF, 0), D(0x001));
}

static void test_oncs__not_offered__invalid_opcode(void **state)
{
	static const u8 opcodes[] = { NVME_CMD_COMPARE, NVME_CMD_DSM, NVME_CMD_WRITE_ZEROES };
	struct nvme_config cfg = rig_config();
	struct rig_io f;

	(void)state;
	cfg.oncs = 0;
	f.r = rig_up(&cfg);
	f.q = rig_pair(f.r, 4, 64, 64);
	for (size_t i = 0; i < sizeof(opcodes); i++)
		expect_untouched(&f, rig_rw(opcodes[i], 0, 0, RIG_BUF, 0), D(0x001));
	rig_free(f.r);
}

static void test_flags__fused_or_sgl__invalid_field(void **state)
{
	static const u8 flags[] = { 0x01, 0x02, 0x03, 0x40, 0x80, 0xC0 };
	struct rig_io *f = *state;

	for (size_t i = 0; i < sizeof(flags); i++) {
		struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0);

		sqe.flags = flags[i];
		expect_untouched(f, sqe, D(0x002));
	}
}

static void test_nsid__wrong__as_table_says(void **state)
{
	static const struct { u32 nsid; u16 status; } rows[] = {
		{ 0, D(0x00B) }, { 5, D(0x00B) }, { 0x101, D(0x00B) }, { 0xFFFFFFFE, D(0x00B) },
		{ 2, D(0x002) }, { 4, D(0x002) }, { 0xFFFFFFFF, D(0x002) },
	};
	struct rig_io *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0);

		sqe.nsid = rows[i].nsid;
		expect_untouched(f, sqe, rows[i].status);
	}
}

static void test_length__above_mdts__invalid_field(void **state)
{
	struct rig_io *f = *state;

	/* MDTS 5: 128 KiB, 256 blocks. */
	expect_untouched(f, rig_rw(NVME_CMD_READ, 0, 0x100, RIG_BUF, 0), D(0x002));
	expect_untouched(f, rig_rw(NVME_CMD_WRITE, 0, 0xFFFF, RIG_BUF, 0), D(0x002));
	expect_untouched(f, rig_rw(NVME_CMD_COMPARE, 0, 0xFFFF, RIG_BUF, 0), D(0x002));
	/* Length is judged before range. */
	expect_untouched(f, rig_rw(NVME_CMD_READ, RIG_NSZE, 0x100, RIG_BUF, 0), D(0x002));
}

static void test_range__outside__lba_out_of_range(void **state)
{
	static const struct { u64 slba; u32 nlb; } rows[] = {
		{ 0x800000, 0 }, { 0x7FFFFF, 1 }, { ~0ULL, 0 }, { ~0ULL, 7 }, { 1ULL << 55, 0 },
		{ (1ULL << 55) + 8, 0 },
		{ 0xFFFFFFFFFFF00000ULL, 7 }, { 0x7FFFFFFFFFFFFFFFULL, 0 },
	};
	static const u8 opcodes[] = { NVME_CMD_READ, NVME_CMD_WRITE, NVME_CMD_COMPARE, NVME_CMD_WRITE_ZEROES };
	struct rig_io *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < sizeof(opcodes); k++)
			expect_untouched(f, rig_rw(opcodes[k], rows[i].slba, rows[i].nlb, RIG_BUF, 0), D(0x080));
	/* Range is judged before PRPs. */
	expect_untouched(f, rig_rw(NVME_CMD_READ, 0x800000, 0, RIG_BUF + 2, 0), D(0x080));
}

static void test_capacity__beyond_ncap__writes_refused_reads_zero(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_io f;

	(void)state;
	cfg.ncap = 0x400000;
	f.r = rig_up(&cfg);
	f.q = rig_pair(f.r, 4, 64, 64);
	expect_untouched(&f, rig_rw(NVME_CMD_WRITE, 0x500000, 0, RIG_BUF, 0), D(0x081));
	expect_untouched(&f, rig_rw(NVME_CMD_WRITE, 0x3FFFFF, 1, RIG_BUF, 0), D(0x081));
	expect_untouched(&f, rig_rw(NVME_CMD_WRITE_ZEROES, 0x3FFFFF, 1, 0, 0), D(0x081));
	expect_untouched(&f, rig_rw(NVME_CMD_WRITE, 0x800000, 0, RIG_BUF, 0), D(0x080));
	assert_int_equal(rw(&f, NVME_CMD_WRITE, 0x3FFFFF, 0), 0);
	/* Deallocated blocks read as zeros (DLFEAT 001b), across the edge too. */
	rig_media_fill(f.r, 0x3FFFFF, 1, 0x11);
	rig_fill(f.r, RIG_BUF, 0x1000, 0xEE);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x3FFFFF, 1), 0);
	assert_int_equal(rig_byte(f.r, RIG_BUF), 0x11);
	assert_int_equal(rig_byte(f.r, RIG_BUF + 512), 0);
	assert_int_equal(rig_byte(f.r, RIG_BUF + 1023), 0);
	assert_int_equal(rig_byte(f.r, RIG_BUF + 1024), 0xEE);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x500000, 0), 0);
	assert_int_equal(rig_byte(f.r, RIG_BUF), 0);
	rig_free(f.r);
}

static void test_write__data_fetch_blocked__data_transfer_error(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, 0, 1, 0x33);
	assert_int_equal(io(f, rig_rw(NVME_CMD_WRITE, 0, 0, RIG_NO_TARGET, 0)), 0x004);
	assert_int_equal(rig_media_byte(f->r, 0), 0x33);
	assert_int_equal(io(f, rig_rw(NVME_CMD_COMPARE, 0, 0, RIG_NO_TARGET, 0)), 0x004);
}

static void test_read__data_blocked__is_posted_and_succeeds(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(io(f, rig_rw(NVME_CMD_READ, 0, 0, RIG_NO_TARGET, 0)), 0);
	assert_true(rig_count(f->r, TRACE_DMA_NO_TARGET) > 0);
}

static void test_cqe__blocked__is_lost_and_controller_goes_on(void **state)
{
	struct rig_io *f = *state;
	struct rig_queue lost;

	assert_int_equal(rig_create_cq(f->r, 5, 64, RIG_NO_TARGET, 5), 0);
	assert_int_equal(rig_create_sq(f->r, 5, 64, RIG_IO_QUEUES, 5), 0);
	lost = rig_queue(5, RIG_IO_QUEUES, 64, RIG_NO_TARGET, 64);
	rig_put(f->r, &lost, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	rig_ring(f->r, &lost);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(rig_rd(f->r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0), 0);
}

static void test_compare__same_and_different__success_and_mismatch(void **state)
{
	struct rig_io *f = *state;

	rig_fill(f->r, RIG_BUF, 0x2000, 0x42);
	rig_media_fill(f->r, 8, 16, 0x42);
	assert_int_equal(rw(f, NVME_CMD_COMPARE, 8, 15), 0);
	rig_media_fill(f->r, 23, 1, 0x43);
	assert_int_equal(rw(f, NVME_CMD_COMPARE, 8, 15), 0x285);
}

static void test_write_zeroes__above_mdts__is_allowed(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, 0, 1, 1);
	rig_media_fill(f->r, 0xFFFF, 2, 1);
	assert_int_equal(io(f, rig_rw(NVME_CMD_WRITE_ZEROES, 0, 0xFFFF, 0, 0)), 0);
	assert_int_equal(rig_media_byte(f->r, 0), 0);
	assert_int_equal(rig_media_byte(f->r, 0xFFFF), 0);
	assert_int_equal(rig_media_byte(f->r, 0x10000), 1);
}

static void put_range(struct rig *r, u32 index, u64 slba, u32 nlb)
{
	rig_set64(r, RIG_BUF + 16 * index, (u64)nlb << 32);
	rig_set64(r, RIG_BUF + 16 * index + 8, slba);
}

static struct nvme_sqe dsm(u32 ranges, bool deallocate)
{
	return (struct nvme_sqe){ .opcode = NVME_CMD_DSM, .nsid = 1, .prp1 = RIG_BUF, .cdw10 = ranges - 1,
				  .cdw11 = deallocate ? 4 : 0 };
}

static void test_dsm__deallocate__ranges_read_zero(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, 100, 8, 9);
	put_range(f->r, 0, 101, 2);
	put_range(f->r, 1, 105, 1);
	assert_int_equal(io(f, dsm(2, false)), 0);
	assert_int_equal(rig_media_byte(f->r, 101), 9);	/* a hint only */
	assert_int_equal(io(f, dsm(2, true)), 0);
	assert_int_equal(rig_media_byte(f->r, 100), 9);
	assert_int_equal(rig_media_byte(f->r, 101), 0);
	assert_int_equal(rig_media_byte(f->r, 102), 0);
	assert_int_equal(rig_media_byte(f->r, 103), 9);
	assert_int_equal(rig_media_byte(f->r, 105), 0);
}

static void test_dsm__one_range_bad__nothing_deallocated(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, 0, 8, 9);
	put_range(f->r, 0, 0, 4);
	put_range(f->r, 1, RIG_NSZE - 1, 2);
	assert_int_equal(io(f, dsm(2, true)), D(0x080));
	put_range(f->r, 1, ~0ULL, 0xFFFFFFFF);
	assert_int_equal(io(f, dsm(2, true)), D(0x080));
	assert_int_equal(rig_media_byte(f->r, 0), 9);
}

static void test_dsm__list_blocked__data_transfer_error(void **state)
{
	struct rig_io *f = *state;
	struct nvme_sqe sqe = dsm(256, true);

	sqe.prp1 = RIG_NO_TARGET;
	assert_int_equal(io(f, sqe), 0x004);
}

static void test_flush__one_or_all_namespaces__succeeds(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(io(f, (struct nvme_sqe){ .opcode = NVME_CMD_FLUSH, .nsid = 1 }), 0);
	assert_int_equal(io(f, (struct nvme_sqe){ .opcode = NVME_CMD_FLUSH, .nsid = 0xFFFFFFFF }), 0);
	assert_int_equal(io(f, (struct nvme_sqe){ .opcode = NVME_CMD_FLUSH, .nsid = 0 }), D(0x00B));
	assert_int_equal(io(f, (struct nvme_sqe){ .opcode = NVME_CMD_FLUSH, .nsid = 2 }), D(0x002));
}

static void test_cid__duplicate__both_complete(void **state)
{
	struct rig_io *f = *state;
	struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0);
	struct nvme_cqe cqe;

	sqe.cid = 7;
	rig_put(f->r, &f->q, sqe);
	rig_put(f->r, &f->q, sqe);
	rig_ring(f->r, &f->q);
	rig_run(f->r, PS_PER_MS);
	for (int i = 0; i < 2; i++) {
		assert_true(rig_peek(f->r, &f->q, &cqe, true));
		assert_int_equal(cqe.cid, 7);
		assert_int_equal(rig_status(&cqe), 0);
	}
}

static struct rig_io up(const struct nvme_config *cfg)
{
	struct rig_io f = { .r = rig_up(cfg) };

	f.q = rig_pair(f.r, 4, 64, 64);
	return f;
}

static void test_namespaces__two__have_their_own_blocks(void **state)
{
	struct nvme_config cfg = rig_config();
	struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0);
	struct rig_io f;

	(void)state;
	cfg.ns[1] = (struct nvme_ns_config){ .first_block = 0x1000, .nsze = 0x100, .ncap = 0x100 };
	cfg.ncap = 0x2000;	/* of the medium that the rig makes */
	cfg.ns[0] = (struct nvme_ns_config){ .nsze = 0x1000, .ncap = 0x1000 };
	f = up(&cfg);
	rig_media_fill(f.r, 0, 8, 0x11);
	rig_media_fill(f.r, 0x1000, 8, 0x22);
	sqe.nsid = 2;
	assert_int_equal(io(&f, sqe), 0);
	assert_int_equal(rig_byte(f.r, RIG_BUF), 0x22);
	sqe.cdw10 = 0xF9;
	assert_int_equal(io(&f, sqe), D(0x080));
	sqe.nsid = 3;
	assert_int_equal(io(&f, sqe), D(0x002));
	assert_int_equal(rig_admin(f.r, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .prp1 = RIG_BUF, .cdw10 = 2 }),
			 0);
	assert_int_equal(rig_mem64(f.r, RIG_BUF), 2ULL << 32 | 1);
	assert_int_equal(rig_admin(f.r, (struct nvme_sqe){ .opcode = NVME_ADM_FORMAT, .nsid = 2 }), 0);
	assert_int_equal(rig_media_byte(f.r, 0), 0x11);
	assert_int_equal(rig_media_byte(f.r, 0x1000), 0);
	rig_free(f.r);
}

static void put_copy(struct rig *r, u32 index, u64 slba, u16 nlb_field)
{
	rig_fill(r, RIG_BUF + 32 * index, 512, 0);
	rig_set64(r, RIG_BUF + 32 * index + 8, slba);
	rig_set64(r, RIG_BUF + 32 * index + 16, nlb_field);
}

static struct nvme_sqe copy(u64 to, u32 nr_field, u32 format)
{
	return (struct nvme_sqe){ .opcode = NVME_CMD_COPY, .nsid = 1, .prp1 = RIG_BUF, .cdw10 = (u32)to,
				  .cdw11 = (u32)(to >> 32), .cdw12 = format << 8 | nr_field };
}

/* LBA-08 */
static void test_copy__ranges__are_all_checked_first(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_io f;

	(void)state;
	cfg.oncs |= NVME_ONCS_COPY;
	f = up(&cfg);
	rig_media_fill(f.r, 0x100, 4, 0x31);
	rig_media_fill(f.r, 0x200, 4, 0x32);
	put_copy(f.r, 0, 0x100, 3);
	put_copy(f.r, 1, 0x200, 3);
	assert_int_equal(io(&f, copy(0x300, 1, 0)), 0);
	assert_int_equal(rig_media_byte(f.r, 0x300), 0x31);
	assert_int_equal(rig_media_byte(f.r, 0x304), 0x32);
	assert_int_equal(rig_media_byte(f.r, 0x308), 0);
	/* Overlapping by three blocks, upwards. */
	rig_media_fill(f.r, 0x100, 1, 0x41);
	put_copy(f.r, 0, 0x100, 3);
	assert_int_equal(io(&f, copy(0x101, 0, 0)), 0);
	assert_int_equal(rig_media_byte(f.r, 0x101), 0x41);
	assert_int_equal(rig_media_byte(f.r, 0x102), 0x31);
	put_copy(f.r, 0, 0x100, 3);
	put_copy(f.r, 1, RIG_NSZE - 1, 1);
	assert_int_equal(io(&f, copy(0x400, 1, 0)), D(0x080));
	assert_int_equal(io(&f, copy(RIG_NSZE - 1, 0, 0)), D(0x080));
	assert_int_equal(io(&f, copy(~0ULL, 0, 0)), D(0x080));
	assert_int_equal(rig_media_byte(f.r, 0x400), 0);
	assert_int_equal(io(&f, copy(0x400, 128, 0)), D(0x183));
	assert_int_equal(io(&f, copy(0x400, 0, 1)), D(0x002));
	put_copy(f.r, 0, 0, 256);
	assert_int_equal(io(&f, copy(0x400, 0, 0)), D(0x183));
	rig_free(f.r);
}

/* REM-05: what was not read leaves the buffer as it was. */
static void test_media__broken_block__partial_read_and_write_fault(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, 0, 16, 0x51);
	rig_fill(f->r, RIG_BUF, 0x2000, 0xEE);
	nvme_media_break(f->r->nvme, 10, 1);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 15), 0x281);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 10 * 512 - 1), 0x51);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 10 * 512), 0xEE);
	assert_int_equal(rw(f, NVME_CMD_READ, 11, 0), 0);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 10, 0), 0x280);
	assert_int_equal(io(f, rig_rw(NVME_CMD_WRITE_ZEROES, 0, 15, 0, 0)), 0x280);
	assert_int_equal(rig_media_byte(f->r, 0), 0x51);
	nvme_media_break(f->r->nvme, 0, 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 15), 0);
}

/* REM-02 */
static void test_dsm__controller_keeps_data__old_data_is_read(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_io f;

	(void)state;
	cfg.keeps_deallocated = true;
	f = up(&cfg);
	rig_media_fill(f.r, 0, 1, 0x61);
	put_range(f.r, 0, 0, 1);
	assert_int_equal(io(&f, dsm(1, true)), 0);
	assert_int_equal(rig_media_byte(f.r, 0), 0x61);
	assert_int_equal(rig_admin(f.r, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .nsid = 1, .prp1 = RIG_BUF }),
			 0);
	assert_int_equal(rig_byte(f.r, RIG_BUF + 33), 0);
	assert_int_equal(io(&f, rig_rw(NVME_CMD_WRITE_ZEROES, 0, 0, 0, 0)), 0);
	assert_int_equal(rig_media_byte(f.r, 0), 0);
	rig_free(f.r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, rig_io_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_write_read__round_trip__content_is_kept),
		T(test_read__last_block__succeeds),
		T(test_opcode__not_supported__invalid_opcode),
		cmocka_unit_test(test_oncs__not_offered__invalid_opcode),
		T(test_flags__fused_or_sgl__invalid_field),
		T(test_nsid__wrong__as_table_says),
		T(test_length__above_mdts__invalid_field),
		T(test_range__outside__lba_out_of_range),
		cmocka_unit_test(test_capacity__beyond_ncap__writes_refused_reads_zero),
		T(test_write__data_fetch_blocked__data_transfer_error),
		T(test_read__data_blocked__is_posted_and_succeeds),
		T(test_cqe__blocked__is_lost_and_controller_goes_on),
		T(test_compare__same_and_different__success_and_mismatch),
		T(test_write_zeroes__above_mdts__is_allowed),
		T(test_dsm__deallocate__ranges_read_zero),
		T(test_dsm__one_range_bad__nothing_deallocated),
		T(test_dsm__list_blocked__data_transfer_error),
		T(test_flush__one_or_all_namespaces__succeeds),
		T(test_cid__duplicate__both_complete),
		cmocka_unit_test(test_namespaces__two__have_their_own_blocks),
		cmocka_unit_test(test_copy__ranges__are_all_checked_first),
		T(test_media__broken_block__partial_read_and_write_fault),
		cmocka_unit_test(test_dsm__controller_keeps_data__old_data_is_read),
	};

	return cmocka_run_group_tests_name("nvme_io", tests, NULL, NULL);
}
