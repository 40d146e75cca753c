// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* Faults of the controller and its function: each happens when it is armed, as often as said, and not else. */

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();

	*state = rig_io_up(&cfg);
	return 0;
}

static struct fault_site armed(u64 skip, u64 count, u64 arg)
{
	return (struct fault_site){ .armed = true, .key = FAULT_ALL, .skip = skip, .left = count, .arg = arg };
}

static u16 rw(struct rig_io *f, u8 opcode, u64 slba)
{
	return rig_cmd(f->r, &f->q, rig_rw(opcode, slba, 7, RIG_BUF, 0));
}

static void submit(struct rig_io *f, u8 opcode, u64 slba)
{
	rig_put(f->r, &f->q, rig_rw(opcode, slba, 7, RIG_BUF, 0));
	rig_ring(f->r, &f->q);
}

static u64 three(void *opaque)
{
	++*(u32 *)opaque;
	return 3;
}

static void test_site__occasions__as_armed(void **state)
{
	struct fault_site f = armed(2, 2, 0), gapped = armed(0, 3, 0);
	u32 asked = 0, i, seen = 0;

	(void)state;
	for (i = 0; i < 10; i++)
		seen |= (u32)fault_hits(&f, 0) << i;
	assert_int_equal(seen, 0xC);
	assert_int_equal(f.hits, 2);
	assert_false(f.armed);
	gapped.gap = three;
	gapped.opaque = &asked;
	gapped.key = 7;
	for (i = 0, seen = 0; i < 16; i++) {
		assert_false(fault_hits(&gapped, 8));
		seen |= (u32)fault_hits(&gapped, 7) << i;
	}
	assert_int_equal(seen, 0x111);
	assert_int_equal(asked, 3);
}

static void test_poisoned__data__is_a_transfer_error_and_parity(void **state)
{
	struct rig_io *f = *state;

	rig_fill(f->r, RIG_BUF, 0x1000, 0xA5);
	f->r->fn->faults.poisoned[PCI_DMA_DATA] = armed(0, 1, 0);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0), 0x004);
	assert_int_equal(rig_media_byte(f->r, 0), 0);
	assert_int_equal(pci_cfg_read(&f->r->root, RIG_RID, PCIS_STATUS, 2) & PCIS_STATUS_PARITY, PCIS_STATUS_PARITY);
	assert_int_equal(rw(f, NVME_CMD_WRITE, 0), 0);
	assert_int_equal(rig_media_byte(f->r, 0), 0xA5);
}

static void test_poisoned__command__is_fatal(void **state)
{
	struct rig_io *f = *state;

	f->r->fn->faults.poisoned[PCI_DMA_QUEUE] = armed(0, 1, 0);
	submit(f, NVME_CMD_READ, 0);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(rig_rd(f->r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS, NVME_CSTS_CFS);
}

static void test_fatal__in_place_of_a_fetch__of_its_queue_only(void **state)
{
	struct rig_io *f = *state;

	nvme_faults(f->r->nvme)->fatal = armed(0, 1, 0);
	nvme_faults(f->r->nvme)->fatal.key = 5;
	assert_int_equal(rw(f, NVME_CMD_READ, 0), 0);
	nvme_faults(f->r->nvme)->fatal.key = 4;
	submit(f, NVME_CMD_READ, 0);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(rig_rd(f->r, NVME_REG_CSTS, 4) & NVME_CSTS_CFS, NVME_CSTS_CFS);
}

/* A command that is late is overtaken, and its CQE is later than its data. */
static void test_delay__of_a_read__data_before_its_cqe(void **state)
{
	struct rig_io *f = *state;
	struct nvme_cqe cqe;

	rig_media_fill(f->r, 0, 8, 0x51);
	nvme_faults(f->r->nvme)->dma_delay = armed(1, 1, 500 * PS_PER_US);
	submit(f, NVME_CMD_READ, 0);
	rig_run(f->r, 400 * PS_PER_US);
	assert_false(rig_peek(f->r, &f->q, &cqe, false));
	assert_int_equal(rig_byte(f->r, RIG_BUF), 0);
	/* The data is late (its second step), and comes first. */
	rig_run(f->r, 200 * PS_PER_US);
	assert_int_equal(rig_byte(f->r, RIG_BUF), 0x51);
	assert_true(rig_peek(f->r, &f->q, &cqe, true));
	assert_int_equal(rig_status(&cqe), 0);
}

static void test_silent__command__ends_with_its_queue(void **state)
{
	struct rig_io *f = *state;
	struct nvme_cqe cqe;

	nvme_faults(f->r->nvme)->silent = armed(0, 1, 0);
	nvme_faults(f->r->nvme)->silent.key = 4;
	submit(f, NVME_CMD_READ, 0);
	rig_run(f->r, 100 * PS_PER_MS);
	assert_false(rig_peek(f->r, &f->q, &cqe, false));
	assert_int_equal(rig_delete(f->r, NVME_ADM_DELETE_SQ, 4), 0);
	assert_true(rig_peek(f->r, &f->q, &cqe, false));
	assert_int_equal(rig_status(&cqe), NVME_SC_ABORT_SQ_DELETION);
}

static void test_msi__lost_and_late(void **state)
{
	struct rig_io *f = *state;
	u32 before = f->r->msis;

	f->r->fn->faults.msi_lost = armed(0, 1, 0);
	submit(f, NVME_CMD_READ, 0);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(f->r->msis, before);
	f->r->fn->faults.msi_late = armed(0, 2, 5 * PS_PER_MS);
	submit(f, NVME_CMD_READ, 0);
	submit(f, NVME_CMD_READ, 8);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(f->r->msis, before);
	rig_run(f->r, 5 * PS_PER_MS);
	assert_int_equal(f->r->msis, before + 2);
	submit(f, NVME_CMD_READ, 0);
	rig_run(f->r, PS_PER_MS);
	assert_int_equal(f->r->msis, before + 3);
}

/* QD-13: whoever looks in the gap finds the first half, and no new phase. */
static void test_cqe__with_a_gap__second_half_later_or_with_the_next(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_io f;
	u64 at;

	(void)state;
	cfg.timing.cqe_gap_ps = 50 * PS_PER_US;
	f.r = rig_up(&cfg);
	f.q = rig_pair(f.r, 4, 64, 64);
	at = f.q.cq;
	rig_set64(f.r, at, ~0ULL);
	submit(&f, NVME_CMD_FLUSH, 0);
	rig_run(f.r, 40 * PS_PER_US);
	assert_int_equal(rig_mem64(f.r, at), 0);
	assert_int_equal(rig_mem64(f.r, at + 8), 0);
	rig_run(f.r, 40 * PS_PER_US);
	assert_int_equal(rig_mem64(f.r, at + 8) >> 48 & 1, 1);
	submit(&f, NVME_CMD_FLUSH, 0);
	submit(&f, NVME_CMD_FLUSH, 0);
	rig_run(f.r, 40 * PS_PER_US);
	assert_int_equal(rig_mem64(f.r, at + 24) >> 48 & 1, 1);
	assert_int_equal(rig_mem64(f.r, at + 40) >> 48 & 1, 0);
	rig_free(f.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site__occasions__as_armed),
		cmocka_unit_test_setup_teardown(test_poisoned__data__is_a_transfer_error_and_parity, setup, rig_io_down),
		cmocka_unit_test_setup_teardown(test_poisoned__command__is_fatal, setup, rig_io_down),
		cmocka_unit_test_setup_teardown(test_fatal__in_place_of_a_fetch__of_its_queue_only, setup, rig_io_down),
		cmocka_unit_test_setup_teardown(test_delay__of_a_read__data_before_its_cqe, setup, rig_io_down),
		cmocka_unit_test_setup_teardown(test_silent__command__ends_with_its_queue, setup, rig_io_down),
		cmocka_unit_test_setup_teardown(test_msi__lost_and_late, setup, rig_io_down),
		cmocka_unit_test(test_cqe__with_a_gap__second_half_later_or_with_the_next),
	};

	return cmocka_run_group_tests_name("nvme_fault", tests, NULL, NULL);
}
