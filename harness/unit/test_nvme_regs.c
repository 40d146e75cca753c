// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* Registers, enable, shutdown, reset: the table "Registers, doorbells and events" and NVMe Base 3.1, 3.5 to 3.7. */

static void test_regs__reset_state__is_as_configured(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);
	u64 cap = rig_rd(r, 0x00, 8);

	(void)state;
	assert_int_equal(cap & 0xFFFF, 0x3FF);		/* MQES */
	assert_int_equal((cap >> 16) & 1, 1);		/* CQR */
	assert_int_equal((cap >> 32) & 0xF, 0);		/* DSTRD */
	assert_int_equal((cap >> 37) & 0xFF, 1);	/* CSS: NVM */
	assert_int_equal((cap >> 48) & 0xFF, 0);	/* MPSMIN, MPSMAX: 4 KiB */
	assert_int_equal(rig_rd(r, 0x00, 4), cap & 0xFFFFFFFF);
	assert_int_equal(rig_rd(r, 0x04, 4), cap >> 32);
	assert_int_equal(rig_rd(r, 0x08, 4), 0x00010400);
	assert_int_equal(rig_rd(r, 0x1C, 4), 0);
	rig_free(r);
}

static void test_regs__odd_access__reads_ones_and_writes_nothing(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);

	(void)state;
	assert_int_equal(rig_rd(r, 0x00, 2), 0xFFFF);
	assert_int_equal(rig_rd(r, 0x02, 4), 0xFFFFFFFF);
	assert_int_equal(rig_rd(r, 0x20, 8), ~0ULL);	/* two registers at once */
	assert_int_equal(rig_rd(r, 0x48, 4), 0);	/* reserved */
	rig_wr(r, NVME_REG_ASQ, 0x1000, 8);
	rig_wr(r, NVME_REG_ASQ, 0xFF, 1);
	rig_wr(r, NVME_REG_ASQ + 2, 0xFFFFFFFF, 4);
	assert_int_equal(rig_rd(r, NVME_REG_ASQ, 8), 0x1000);
	rig_wr32(r, NVME_REG_ASQ + 4, 0x12);
	assert_int_equal(rig_rd(r, NVME_REG_ASQ, 8), 0x1200001000ULL);
	rig_wr(r, NVME_REG_CAP, 0, 8);
	assert_int_equal(rig_rd(r, NVME_REG_CAP, 8) & 0xFFFF, 0x3FF);
	rig_free(r);
}

static void test_regs__interrupt_mask__is_set_and_cleared_by_ones(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);

	(void)state;
	rig_wr32(r, NVME_REG_INTMS, 0x5);
	rig_wr32(r, NVME_REG_INTMS, 0x2);
	assert_int_equal(rig_rd(r, NVME_REG_INTMS, 4), 0x7);
	rig_wr32(r, NVME_REG_INTMC, 0x3);
	assert_int_equal(rig_rd(r, NVME_REG_INTMS, 4), 0x4);
	assert_int_equal(rig_rd(r, NVME_REG_INTMC, 4), 0x4);
	rig_free(r);
}

static void test_enable__legal__ready_after_reset_time(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);

	(void)state;
	rig_wr32(r, NVME_REG_AQA, 63 << 16 | 63);
	rig_wr(r, NVME_REG_ASQ, RIG_ASQ, 8);
	rig_wr(r, NVME_REG_ACQ, RIG_ACQ, 8);
	rig_wr32(r, NVME_REG_CC, RIG_CC_ENABLE);
	rig_run(r, cfg.timing.reset_ps - 1);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0);
	rig_run(r, 1);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 1);
	rig_free(r);
}

struct bad_enable {
	u64 aqa, asq, acq, cc;
};

static void test_enable__illegal__is_fatal_and_recovers(void **state)
{
	static const struct bad_enable bad[] = {
		{ 0, RIG_ASQ, RIG_ACQ, RIG_CC_ENABLE },
		{ 63 << 16, RIG_ASQ, RIG_ACQ, RIG_CC_ENABLE },
		{ 63, RIG_ASQ, RIG_ACQ, RIG_CC_ENABLE },
		{ 63 << 16 | 63, RIG_ASQ + 0x10, RIG_ACQ, RIG_CC_ENABLE },
		{ 63 << 16 | 63, RIG_ASQ, RIG_ACQ + 0x10, RIG_CC_ENABLE },
		{ 63 << 16 | 63, RIG_ASQ, RIG_ACQ, RIG_CC_ENABLE | 15 << 7 },			/* MPS */
		{ 63 << 16 | 63, RIG_ASQ, RIG_ACQ, RIG_CC_ENABLE | 7 << 4 },			/* CSS */
	};
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rig_wr32(r, NVME_REG_AQA, bad[i].aqa);
		rig_wr(r, NVME_REG_ASQ, bad[i].asq, 8);
		rig_wr(r, NVME_REG_ACQ, bad[i].acq, 8);
		rig_wr32(r, NVME_REG_CC, bad[i].cc);
		rig_run(r, RIG_SECOND_PS);
		assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0x2);
		rig_wr32(r, NVME_REG_CC, 0);
		rig_run(r, RIG_SECOND_PS);
		assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0);
	}
	rig_enable(r);
	rig_free(r);
}

/* Base 3.1.3.5, IOSQES and IOCQES: set before the first I/O queue is created, not before EN. */
static void test_enable__no_entry_sizes__queues_are_refused_until_they_are_set(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_new(&cfg);

	(void)state;
	rig_enable(r);
	rig_wr32(r, NVME_REG_CC, NVME_CC_EN | FIELD_PREP(NVME_CC_IOSQES, 6));
	assert_int_equal(rig_rd(r, NVME_REG_CC, 4), NVME_CC_EN | FIELD_PREP(NVME_CC_IOSQES, 6));
	assert_int_equal(rig_create_cq(r, 1, 16, RIG_IO_QUEUES + 0x10000, 0), 0x102 | NVME_DNR);
	rig_wr32(r, NVME_REG_CC, NVME_CC_EN | FIELD_PREP(NVME_CC_IOCQES, 4));
	assert_int_equal(rig_create_cq(r, 1, 16, RIG_IO_QUEUES + 0x10000, 0), 0);
	assert_int_equal(rig_create_sq(r, 1, 16, RIG_IO_QUEUES, 1), 0x102 | NVME_DNR);
	rig_wr32(r, NVME_REG_CC, RIG_CC_ENABLE);
	assert_int_equal(rig_create_sq(r, 1, 16, RIG_IO_QUEUES, 1), 0);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
	rig_free(r);
}

static void test_nssr__not_supported__is_ignored(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);

	(void)state;
	rig_wr32(r, NVME_REG_NSSR, 0x4E564D65);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
	rig_free(r);
}

static void test_shutdown__normal__completes_and_fetches_no_more(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);

	(void)state;
	rig_wr32(r, NVME_REG_CC, RIG_CC_ENABLE | FIELD_PREP(NVME_CC_SHN, 1));
	assert_int_equal(FIELD_GET(NVME_CSTS_SHST, rig_rd(r, NVME_REG_CSTS, 4)), NVME_SHST_OCCURRING);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(FIELD_GET(NVME_CSTS_SHST, rig_rd(r, NVME_REG_CSTS, 4)), NVME_SHST_COMPLETE);
	rig_put(r, &r->admin, (struct nvme_sqe){ .opcode = 0x7E });
	rig_ring(r, &r->admin);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(nvme_counters(r->nvme)->sqes_fetched, 0);
	/* A reset and a new enable bring it back. */
	rig_wr32(r, NVME_REG_CC, 0);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0);
	rig_enable(r);
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0x7E }), NVME_SC_INVALID_OPCODE | NVME_DNR);
	rig_free(r);
}

static void test_reset__commands_in_flight__are_dropped_and_queues_gone(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);
	struct rig_queue q = rig_pair(r, 1, 64, 64);
	u64 posted = nvme_counters(r->nvme)->cqes_posted;
	struct nvme_cqe cqe;

	(void)state;
	rig_media_fill(r, 0, 8, 0x5A);
	for (int i = 0; i < 20; i++)
		rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, 20 * PS_PER_US);
	assert_true(nvme_counters(r->nvme)->queue_fetched[1] > 5);
	rig_wr32(r, NVME_REG_CC, 0);
	rig_run(r, RIG_SECOND_PS);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0);
	assert_int_equal(nvme_counters(r->nvme)->cqes_posted, posted);
	assert_false(rig_peek(r, &q, &cqe, false));
	assert_int_equal(rig_byte(r, RIG_BUF), 0);
	/* AQA, ASQ and ACQ are kept (Base 3.7.2), queue 1 is not. */
	assert_int_equal(rig_rd(r, NVME_REG_ASQ, 8), RIG_ASQ);
	rig_enable(r);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 1), NVME_SC_QID_INVALID | NVME_DNR);
	rig_free(r);
}

static void test_flr__while_busy__brings_reset_state(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);
	struct rig_queue q = rig_pair(r, 1, 64, 64);

	(void)state;
	rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0));
	rig_ring(r, &q);
	rig_run(r, 5 * PS_PER_US);
	pci_cfg_write(&r->root, RIG_RID, r->fn->cap_pcie + PCIS_EXP_DEVCTL, PCIS_EXP_DEVCTL_FLR, 2);
	rig_run(r, RIG_SECOND_PS);
	rig_pci_up(r);
	assert_int_equal(rig_rd(r, NVME_REG_CC, 4), 0);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0);
	assert_int_equal(rig_rd(r, NVME_REG_ASQ, 8), 0);
	assert_int_equal(rig_rd(r, NVME_REG_AQA, 4), 0);
	rig_enable(r);
	rig_free(r);
}

static void test_toggle__enable_again_at_once__becomes_ready_once(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);

	(void)state;
	rig_wr32(r, NVME_REG_CC, 0);
	rig_wr32(r, NVME_REG_CC, RIG_CC_ENABLE);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), 0);
	rig_run(r, cfg.timing.reset_ps);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
	rig_free(r);
}

static void test_sqe_fetch__blocked__is_fatal_for_all(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);
	struct rig_queue good = rig_pair(r, 2, 64, 64);
	struct nvme_cqe cqe;

	(void)state;
	assert_int_equal(rig_create_cq(r, 1, 64, RIG_IO_QUEUES, 1), 0);
	assert_int_equal(rig_create_sq(r, 1, 64, RIG_NO_TARGET, 1), 0);
	rig_wr32(r, rig_doorbell(r, 1, false), 1);
	rig_put(r, &good, rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0));
	rig_ring(r, &good);
	rig_run(r, RIG_SECOND_PS);
	assert_true(rig_rd(r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS);
	assert_int_equal(rig_count(r, TRACE_SQE_FETCH_FAIL), 1);
	assert_int_equal(rig_count(r, TRACE_CFS), 1);
	assert_false(rig_peek(r, &good, &cqe, false));
	rig_free(r);
}

static void test_cmbmsc__base_wraps__sets_cbai(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r;

	(void)state;
	cfg.cmb_size_bytes = 0x200000;
	r = rig_new(&cfg);
	assert_int_equal(rig_rd(r, NVME_REG_CMBSZ, 4), 0);	/* CRE = 0 */
	assert_int_equal((rig_rd(r, NVME_REG_CAP, 8) >> 57) & 1, 1);
	rig_wr(r, NVME_REG_CMBMSC, 0xFFFFFFFFFFF00000ULL | 3, 8);
	assert_int_equal(rig_rd(r, NVME_REG_CMBSTS, 4), 1);
	assert_int_equal(rig_rd(r, NVME_REG_CMBSZ, 4), 0x200 << 12 | 1);	/* 4 KiB units, SQS */
	assert_int_equal(rig_rd(r, NVME_REG_CMBLOC, 4) & 7, 2);
	/* Low half first, high half after: the pair as a whole counts. */
	rig_wr(r, NVME_REG_CMBMSC, 0, 8);
	rig_wr32(r, NVME_REG_CMBMSC, 0xFFF00003);
	rig_wr32(r, NVME_REG_CMBMSC + 4, 0xFFFFFFFF);
	assert_int_equal(rig_rd(r, NVME_REG_CMBSTS, 4), 1);
	rig_wr32(r, NVME_REG_CMBMSC + 4, 0x7);
	assert_int_equal(rig_rd(r, NVME_REG_CMBSTS, 4), 0);
	rig_free(r);
}

static void test_new__bad_configuration__is_refused(void **state)
{
	struct nvme_config good = rig_config(), cfg;
	struct rig *r = rig_new(&good);

	(void)state;
#define REFUSED(change) do { \
		cfg = good; \
		cfg.rid = 0x0200; \
		change; \
		assert_null(nvme_new(&cfg, &r->root, r->sched, &r->trace, r->media)); \
	} while (0)
	REFUSED(cfg.io_queues = 0);
	REFUSED(cfg.io_queues = 512);
	REFUSED(cfg.mqes = 0);
	REFUSED(cfg.dstrd = 16);
	REFUSED(cfg.ncap = cfg.nsze + 1);
	REFUSED(cfg.nsze = 1ULL << 55);
	REFUSED(cfg.serial = "123456789012345678901");
	REFUSED(cfg.serial = NULL);
	REFUSED(cfg.msix_vectors = 0);
	REFUSED(cfg.cmb_size_bytes = 0x3000);
	REFUSED(cfg.oncs = 1 << 6);
	REFUSED(cfg.timing.dies = 0);
	REFUSED(cfg.ns[1] = ((struct nvme_ns_config){ .first_block = cfg.ncap - 1, .nsze = 8, .ncap = 8 }));
	REFUSED(cfg.ns[cfg.nn] = ((struct nvme_ns_config){ .first_block = cfg.ncap, .nsze = 8, .ncap = 8 }));
	rig_free(r);
}

static void test_new__extreme_configuration__has_room_for_all_doorbells(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r;

	(void)state;
	cfg.dstrd = 10;
	cfg.mqes = 0xFFFF;
	cfg.mdts = 31;
	r = rig_up(&cfg);
	/* Queue 64's CQ doorbell: 0x1000 + 129 * 4 KiB, and the table behind it on its own page. */
	assert_true(r->fn->cfg.msix_table_off >= 0x1000 + 130 * 0x1000);
	assert_int_equal(r->fn->cfg.msix_table_off % 4096, 0);
	assert_int_equal(r->fn->cfg.msix_pba_off % 4096, 0);
	assert_true(r->fn->cfg.msix_pba_off > r->fn->cfg.msix_table_off);
	assert_int_equal(rig_create_cq(r, 64, 65536, RIG_IO_QUEUES, 64), 0);
	assert_int_equal(rig_create_sq(r, 64, 65536, RIG_IO_QUEUES + 0x100000, 64), 0);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regs__reset_state__is_as_configured),
		cmocka_unit_test(test_regs__odd_access__reads_ones_and_writes_nothing),
		cmocka_unit_test(test_regs__interrupt_mask__is_set_and_cleared_by_ones),
		cmocka_unit_test(test_enable__legal__ready_after_reset_time),
		cmocka_unit_test(test_enable__illegal__is_fatal_and_recovers),
		cmocka_unit_test(test_enable__no_entry_sizes__queues_are_refused_until_they_are_set),
		cmocka_unit_test(test_nssr__not_supported__is_ignored),
		cmocka_unit_test(test_shutdown__normal__completes_and_fetches_no_more),
		cmocka_unit_test(test_reset__commands_in_flight__are_dropped_and_queues_gone),
		cmocka_unit_test(test_flr__while_busy__brings_reset_state),
		cmocka_unit_test(test_toggle__enable_again_at_once__becomes_ready_once),
		cmocka_unit_test(test_sqe_fetch__blocked__is_fatal_for_all),
		cmocka_unit_test(test_cmbmsc__base_wraps__sets_cbai),
		cmocka_unit_test(test_new__bad_configuration__is_refused),
		cmocka_unit_test(test_new__extreme_configuration__has_room_for_all_doorbells),
	};

	return cmocka_run_group_tests_name("nvme_regs", tests, NULL, NULL);
}
