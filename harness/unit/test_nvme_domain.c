// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* Resource domains: LBA-01, LBA-07, LBA-09, GPA-01, GPA-05 with the controller as the one that refuses. */

#define D(status) ((u16)((status) | NVME_DNR))
#define WINDOW 0x200000ULL
#define BLOCKS 0x100000ULL
#define DMA_BASE RIG_BUF
#define DMA_SIZE 0x100000ULL
#define OUTSIDE (RIG_BUF + DMA_SIZE)
#define NRD_AT RIG_LIST

static struct nvme_nrd domain(void)
{
	struct nvme_nrd nrd = { .magic = NVME_NRD_MAGIC, .nsid = 1, .nr_lba = 1, .nr_dma = 1 };
	static const u8 allowed[] = { NVME_CMD_READ, NVME_CMD_WRITE, NVME_CMD_DSM, NVME_CMD_FLUSH };

	for (size_t i = 0; i < sizeof(allowed); i++)
		nrd.opcodes[allowed[i] / 8] |= (u8)(1 << allowed[i] % 8);
	nrd.lba[0] = (struct nvme_nrd_window){ WINDOW, BLOCKS };
	nrd.dma[0] = (struct nvme_nrd_window){ DMA_BASE, DMA_SIZE };
	return nrd;
}

static u16 bind(struct rig *r, u16 qid, const struct nvme_nrd *nrd)
{
	assert_true(bus_ram_write(&r->bus, (hpa_t){ NRD_AT }, nrd, sizeof(*nrd)));
	return rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_NRD_BIND, .prp1 = NRD_AT, .cdw10 = qid });
}

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();
	struct nvme_nrd nrd = domain();
	struct rig_io *f;

	cfg.resource_domains = true;
	cfg.sgls = true;
	f = rig_io_up(&cfg);
	assert_int_equal(bind(f->r, 4, &nrd), 0);
	*state = f;
	return 0;
}

static u16 rw(struct rig_io *f, u8 opcode, u64 slba, u32 nlb, u64 prp1, u64 prp2)
{
	return rig_cmd(f->r, &f->q, rig_rw(opcode, slba, nlb, prp1, prp2));
}

/* Refused with no DMA but the SQE and the CQE's halves. */
static void expect_refused(struct rig_io *f, struct nvme_sqe sqe, u16 status)
{
	f->r->nr_ev = 0;
	assert_int_equal(rig_cmd(f->r, &f->q, sqe), status);
	assert_int_equal(rig_count(f->r, TRACE_DMA), 3);
	assert_int_equal(rig_count(f->r, TRACE_MEDIA), 0);
}

static void test_domain__inside__works(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(rw(f, NVME_CMD_READ, WINDOW, 7, DMA_BASE, 0), 0);
	assert_int_equal(rw(f, NVME_CMD_WRITE, WINDOW + BLOCKS - 1, 0, DMA_BASE, 0), 0);
	assert_int_equal(rig_cmd(f->r, &f->q, (struct nvme_sqe){ .opcode = NVME_CMD_FLUSH, .nsid = 1 }), 0);
}

static void test_domain__lba_outside__refused(void **state)
{
	struct rig_io *f = *state;

	expect_refused(f, rig_rw(NVME_CMD_READ, 0x100000, 7, DMA_BASE, 0), D(0x080));
	expect_refused(f, rig_rw(NVME_CMD_WRITE, 0x100000, 0, DMA_BASE, 0), D(0x080));
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW + BLOCKS - 1, 1, DMA_BASE, 0), D(0x080));
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW - 1, 1, DMA_BASE, 0), D(0x080));
	expect_refused(f, rig_rw(NVME_CMD_READ, ~0ULL, 0, DMA_BASE, 0), D(0x080));
}

static void test_domain__opcode_or_nsid__refused(void **state)
{
	struct rig_io *f = *state;
	struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, WINDOW, 0, DMA_BASE, 0);

	expect_refused(f, rig_rw(NVME_CMD_WRITE_ZEROES, WINDOW, 0, 0, 0), D(0x001));
	expect_refused(f, rig_rw(NVME_CMD_COMPARE, WINDOW, 0, DMA_BASE, 0), D(0x001));
	expect_refused(f, (struct nvme_sqe){ .opcode = NVME_CMD_FLUSH, .nsid = 0xFFFFFFFF }, D(0x00B));
	sqe.nsid = 2;
	expect_refused(f, sqe, D(0x00B));	/* inactive, but a domain's queue is not told */
	sqe.nsid = 0xFFFFFFFF;
	expect_refused(f, sqe, D(0x002));
}

static void test_domain__other_nsid__refused(void **state)
{
	struct rig_io *f = *state;
	struct nvme_nrd nrd = domain();

	nrd.nsid = 2;
	assert_int_equal(bind(f->r, 4, &nrd), 0);
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW, 0, DMA_BASE, 0), D(0x00B));
}

static void test_domain__dsm_range_outside__nothing_deallocated(void **state)
{
	struct rig_io *f = *state;

	rig_media_fill(f->r, WINDOW, 1, 5);
	rig_set64(f->r, DMA_BASE, 1ULL << 32);
	rig_set64(f->r, DMA_BASE + 8, WINDOW);
	rig_set64(f->r, DMA_BASE + 16, 0x100000ULL << 32);
	rig_set64(f->r, DMA_BASE + 24, 0x100000);
	assert_int_equal(rig_cmd(f->r, &f->q, (struct nvme_sqe){ .opcode = NVME_CMD_DSM, .nsid = 1, .prp1 = DMA_BASE,
								 .cdw10 = 1, .cdw11 = 4 }), D(0x080));
	assert_int_equal(rig_media_byte(f->r, WINDOW), 5);
	assert_int_equal(rig_cmd(f->r, &f->q, (struct nvme_sqe){ .opcode = NVME_CMD_DSM, .nsid = 1, .prp1 = DMA_BASE,
								 .cdw10 = 0, .cdw11 = 4 }), 0);
	assert_int_equal(rig_media_byte(f->r, WINDOW), 0);
}

static void test_domain__dma_outside__refused_before_any(void **state)
{
	struct rig_io *f = *state;

	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW, 7, OUTSIDE, 0), D(0x004));
	expect_refused(f, rig_rw(NVME_CMD_WRITE, WINDOW, 7, OUTSIDE, 0), D(0x004));
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW, 0xF, DMA_BASE, OUTSIDE), D(0x004));
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW, 0x3F, DMA_BASE, OUTSIDE), D(0x004));
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW, 7, 0xFEE00000, 0), D(0x004));
	/* A piece that begins inside and ends outside. */
	expect_refused(f, rig_rw(NVME_CMD_READ, WINDOW, 0xF, OUTSIDE - 0x800, OUTSIDE), D(0x004));
}

static void test_domain__list_entry_outside__no_data_moves(void **state)
{
	struct rig_io *f = *state;

	rig_set64(f->r, DMA_BASE, DMA_BASE + 0x2000);
	rig_set64(f->r, DMA_BASE + 8, OUTSIDE);
	rig_fill(f->r, DMA_BASE + 0x1000, 0x2000, 0xEE);
	assert_int_equal(rw(f, NVME_CMD_READ, WINDOW, 0x17, DMA_BASE + 0x1000, DMA_BASE), D(0x004));
	assert_int_equal(rig_byte(f->r, DMA_BASE + 0x1000), 0xEE);
	assert_int_equal(rig_byte(f->r, DMA_BASE + 0x2000), 0xEE);
}

static void test_domain__chained_list_outside__is_not_fetched(void **state)
{
	struct rig_io *f = *state;

	rig_set64(f->r, DMA_BASE + 0xFF0, DMA_BASE + 0x2000);
	rig_set64(f->r, DMA_BASE + 0xFF8, OUTSIDE);
	f->r->nr_ev = 0;
	assert_int_equal(rw(f, NVME_CMD_READ, WINDOW, 0x27, DMA_BASE + 0x1000, DMA_BASE + 0xFF0), D(0x004));
	assert_int_equal(rig_count(f->r, TRACE_DMA), 4);	/* SQE, first list page, CQE */
}

static struct nvme_sqe sgl(u32 blocks, u64 addr, u32 length, u8 id)
{
	struct nvme_sqe sqe = rig_rw(NVME_CMD_READ, WINDOW, blocks - 1, addr, (u64)id << 56 | length);

	sqe.flags = 0x40;
	return sqe;
}

static void test_domain__sgl_outside__refused(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(rig_cmd(f->r, &f->q, sgl(8, DMA_BASE + 0x800, 4096, 0)), 0);
	expect_refused(f, sgl(8, OUTSIDE, 4096, 0), D(0x004));
	expect_refused(f, sgl(8, OUTSIDE - 0x800, 4096, 0), D(0x004));	/* ends outside */
	expect_refused(f, sgl(8, OUTSIDE, 16, 0x30), D(0x004));		/* list outside */
	rig_set64(f->r, DMA_BASE, OUTSIDE);
	rig_set64(f->r, DMA_BASE + 8, 4096);
	f->r->nr_ev = 0;
	assert_int_equal(rig_cmd(f->r, &f->q, sgl(8, DMA_BASE, 16, 0x30)), D(0x004));
	assert_int_equal(rig_count(f->r, TRACE_DMA), 4);	/* SQE, list, CQE: no data */
}

static void test_bind__bad_structure__refused(void **state)
{
	struct rig_io *f = *state;
	struct nvme_nrd nrd = domain();

	nrd.magic++;
	assert_int_equal(bind(f->r, 4, &nrd), D(0x002));
	nrd = domain();
	nrd.nr_lba = NVME_NRD_WINDOWS + 1;
	assert_int_equal(bind(f->r, 4, &nrd), D(0x002));
	nrd = domain();
	nrd.nr_dma = 0xFFFFFFFF;
	assert_int_equal(bind(f->r, 4, &nrd), D(0x002));
	nrd = domain();
	nrd.dma[0] = (struct nvme_nrd_window){ ~0ULL, 2 };
	assert_int_equal(bind(f->r, 4, &nrd), D(0x002));
	nrd = domain();
	assert_int_equal(bind(f->r, 0, &nrd), D(0x101));
	assert_int_equal(bind(f->r, 9, &nrd), D(0x101));
	assert_int_equal(bind(f->r, 0xFFFF, &nrd), D(0x101));
	/* The refused ones left the first binding in place. */
	expect_refused(f, rig_rw(NVME_CMD_READ, 0, 0, DMA_BASE, 0), D(0x080));
}

static void test_bind__copy__later_writes_to_it_change_nothing(void **state)
{
	struct rig_io *f = *state;

	rig_fill(f->r, NRD_AT, 0x1000, 0xFF);
	expect_refused(f, rig_rw(NVME_CMD_READ, 0, 0, DMA_BASE, 0), D(0x080));
}

static void test_bind__ends_with_queue_or_unbind(void **state)
{
	struct rig_io *f = *state;
	struct nvme_nrd nrd = domain();

	assert_int_equal(rig_delete(f->r, NVME_ADM_DELETE_SQ, 4), 0);
	assert_int_equal(rig_delete(f->r, NVME_ADM_DELETE_CQ, 4), 0);
	f->q = rig_pair(f->r, 4, 64, 64);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0, OUTSIDE, 0), 0);
	assert_int_equal(bind(f->r, 4, &nrd), 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0, OUTSIDE, 0), D(0x080));
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = NVME_ADM_NRD_BIND, .cdw10 = 4, .cdw11 = 1 }), 0);
	assert_int_equal(rw(f, NVME_CMD_READ, 0, 0, OUTSIDE, 0), 0);
}

static void test_identify__offered__magic_in_vendor_area(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .prp1 = RIG_BUF, .cdw10 = 1 }),
			 0);
	assert_int_equal(rig_mem64(f->r, RIG_BUF + 3072) & 0xFFFFFFFF, NVME_NRD_MAGIC);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, rig_io_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_domain__inside__works),
		T(test_domain__lba_outside__refused),
		T(test_domain__opcode_or_nsid__refused),
		T(test_domain__other_nsid__refused),
		T(test_domain__dsm_range_outside__nothing_deallocated),
		T(test_domain__dma_outside__refused_before_any),
		T(test_domain__list_entry_outside__no_data_moves),
		T(test_domain__chained_list_outside__is_not_fetched),
		T(test_domain__sgl_outside__refused),
		T(test_bind__bad_structure__refused),
		T(test_bind__copy__later_writes_to_it_change_nothing),
		T(test_bind__ends_with_queue_or_unbind),
		T(test_identify__offered__magic_in_vendor_area),
	};

	return cmocka_run_group_tests_name("nvme_domain", tests, NULL, NULL);
}
