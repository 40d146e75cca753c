// SPDX-License-Identifier: GPL-2.0
/* The virtual function: configuration space, registers, MSI-X. Expected values: the table of expected status codes, the specification. */

#include "core_device_rig.h"

static int setup(void **state)
{
	(void)state;
	rig_setup(LIOV_POLICY_NRD);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_teardown();
	return 0;
}

/* --- configuration space --- */

static void test_config__read__says_what_the_abi_says(void **state)
{
	u32 cap;

	(void)state;
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0, 4), 0x10F51AF4);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 8, 4) >> 8, 0x010802);
	cap = rig_find_cap(PCIS_CAP_ID_VENDOR);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, cap + 4, 4), 0x564F494C);
	cap = rig_find_cap(PCIS_CAP_ID_MSIX);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, cap + 2, 2), NR_QUEUES);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, cap + 4, 4), 0x2000);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, cap + 8, 4), 0x3000);
	cap = rig_find_cap(PCIS_CAP_ID_PCIE);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, cap + 4, 4) >> 28 & 1, 1);
	rig_find_cap(PCIS_CAP_ID_PM);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x100, 4), 0);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 2, 4), 0xFFFFFFFF);
}

static void test_config__bar_sizing__gives_16k_and_cmb(void **state)
{
	u32 i;

	(void)state;
	for (i = 0x10; i < 0x28; i += 4)
		rig_cfg_wr(i, 0xFFFFFFFF, 4);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x10, 4), 0xFFFFC004);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x14, 4), 0xFFFFFFFF);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x18, 4), 0xFFE0000C);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x1C, 4), 0xFFFFFFFF);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x20, 4), 0);
	rig_cfg_wr(0x10, 0, 4);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x10, 4), 4);
}

/* ADM-10 */
static void test_config__partial_write__touches_its_bytes_only(void **state)
{
	(void)state;
	rig_cfg_wr(0x10, 0x12345678, 4);
	rig_cfg_wr(0x12, 0xAB, 1);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x10, 4), 0x12AB4004);
	rig_cfg_wr(0x12, 0xCDEF, 2);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0x10, 4), 0xCDEF4004);
	rig_cfg_wr(0, 0, 4);
	rig_cfg_wr(0x100, 0xFFFF, 2);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, 0, 4), 0x10F51AF4);
}

static void test_config__initiate_flr__resets_the_virtual_function_only(void **state)
{
	u32 cap;

	(void)state;
	rig_enable();
	cap = rig_find_cap(PCIS_CAP_ID_PCIE);
	rig_cfg_wr(cap + 8, 0x8000, 2);
	assert_int_equal(liov_device_cfg_rd(&rig->vm, cap + 8, 2) & 0x8000, 0);
	assert_int_equal(rd32(NVME_REG_CSTS), 0);
	assert_int_equal(rd32(NVME_REG_CC), 0);
	assert_int_equal(rd32(NVME_REG_AQA), 0);
	assert_int_equal(rd32(LIOV_BAR0_MSIX_TABLE + 12), 1);
}

/* --- registers --- */

static void test_registers__read__describe_the_virtual_controller(void **state)
{
	u64 cap = liov_device_rd(&rig->vm, 0, 8);

	(void)state;
	assert_int_equal(cap & 0xFFFF, 0x3FF);
	assert_int_equal(cap >> 16 & 1, 1);		/* CQR */
	assert_int_equal(cap >> 32 & 0xF, 0);		/* DSTRD */
	assert_int_equal(cap >> 37 & 0xFF, 1);		/* CSS */
	assert_int_equal(cap >> 48 & 0xFF, 0);		/* MPSMIN, MPSMAX */
	assert_int_equal(cap >> 57 & 1, 1);		/* CMBS */
	assert_int_equal(rd32(8), 0x00010400);
	assert_int_equal(rd32(0x1020), 0);
	assert_int_equal(rd32(NVME_REG_CMBSZ), 0);	/* CMBMSC.CRE = 0 */
	wr32(NVME_REG_CMBMSC, 1);
	assert_int_equal(rd32(NVME_REG_CMBLOC), 2);
	assert_int_equal(rd32(NVME_REG_CMBSZ), 0x200 << 12 | 3);
}

static void bad_enable(u32 aqa, u64 asq, u64 acq, u32 cc)
{
	wr32(NVME_REG_CC, 0);
	wr32(NVME_REG_AQA, aqa);
	liov_device_wr(&rig->vm, NVME_REG_ASQ, asq, 8);
	liov_device_wr(&rig->vm, NVME_REG_ACQ, acq, 8);
	wr32(NVME_REG_CC, cc);
	assert_int_equal(rd32(NVME_REG_CSTS), 2);
}

/* ADM-08 */
static void test_enable__bad_parameters__is_virtual_cfs(void **state)
{
	(void)state;
	bad_enable(0, ASQ, ACQ, CC_GOOD);
	bad_enable(0x1F, ASQ, ACQ, CC_GOOD);
	bad_enable(0x1F001F, ASQ + 0x10, ACQ, CC_GOOD);
	bad_enable(0x1F001F, ASQ, ACQ + 8, CC_GOOD);
	bad_enable(0x1F001F, 0x1000, ACQ, CC_GOOD);
	bad_enable(0x1F001F, ASQ, ACQ, CC_GOOD | 15 << 7);
	bad_enable(0x1F001F, ASQ, ACQ, 1 | 4 << 20);
	bad_enable(0x1F001F, ASQ, ACQ, 1 | 6 << 16);
	bad_enable(0x1F001F, ASQ, ACQ, CC_GOOD | 7 << 4);
	wr32(NVME_REG_CC, 0);
	assert_int_equal(rd32(NVME_REG_CSTS), 0);
	rig_enable();
	wr32(NVME_REG_NSSR, 0x4E564D65);
	wr32(NVME_REG_AQA, 0);
	assert_int_equal(rd32(NVME_REG_AQA), 0x1F001F);
	assert_int_equal(rd32(NVME_REG_CSTS), 1);
	wr32(NVME_REG_CC, CC_GOOD | 1 << 14);
	assert_int_equal(rd32(NVME_REG_CSTS), 1 | 2 << 2);
}

/* CMB-03 */
static void test_cmbmsc__wrap_or_overlap__is_refused_in_either_order(void **state)
{
	(void)state;
	wr32(NVME_REG_CMBMSC + 4, 0xFFFFFFFF);
	wr32(NVME_REG_CMBMSC, 0xFFF00003);
	assert_int_equal(rd32(NVME_REG_CMBSTS), 1);
	wr32(NVME_REG_CMBMSC, 0);
	wr32(NVME_REG_CMBMSC + 4, 0);
	wr32(NVME_REG_CMBMSC, 0xFFF00003);
	wr32(NVME_REG_CMBMSC + 4, 0xFFFFFFFF);
	assert_int_equal(rd32(NVME_REG_CMBSTS), 1);
	liov_device_wr(&rig->vm, NVME_REG_CMBMSC, 0x8000000003, 8);
	assert_int_equal(rd32(NVME_REG_CMBSTS), 0);
	rig->nr_deny = 0;
	liov_device_wr(&rig->vm, NVME_REG_CMBMSC, (RAM_BASE - 0x100000) | 3, 8);
	assert_int_equal(rig->nr_deny, 1);
	assert_int_equal(rig->deny.component, LIOV_DEVICE);
	assert_int_equal(rd32(NVME_REG_CMBSTS), 1);
	liov_device_wr(&rig->vm, NVME_REG_CMBMSC, 0xFFFFFFFFFFE00003, 8);
	assert_int_equal(rd32(NVME_REG_CMBSTS), 0);	/* ends with the last address */
}

/* CMB-01, QD-07 */
static void test_bars__odd_accesses__read_ones_and_are_dropped(void **state)
{
	(void)state;
	assert_true(liov_device_rd(&rig->vm, 0x3FFC, 8) == ~0ull);
	assert_true(liov_device_rd(&rig->vm, 0x4000, 4) == 0xFFFFFFFF);
	assert_true(liov_device_rd(&rig->vm, ~0ull - 3, 4) == 0xFFFFFFFF);
	assert_true(liov_device_rd(&rig->vm, 8, 1) == 0xFF);
	assert_true(liov_device_rd(&rig->vm, 10, 4) == 0xFFFFFFFF);
	assert_true(liov_device_cmb_rd(&rig->vm, 0x1FFFFC, 8) == ~0ull);
	rig->nr_deny = 0;
	liov_device_cmb_wr(&rig->vm, 0x1FFFFF, 0, 4);
	liov_device_wr(&rig->vm, 0x1020, 5, 8);
	liov_device_wr(&rig->vm, 0x1021, 5, 1);
	liov_device_wr(&rig->vm, 0x1022, 5, 4);
	assert_int_equal(rig->nr_deny, 4);
}

/* QD-06 c */
static void test_doorbell__before_ready__is_dropped(void **state)
{
	(void)state;
	wr32(0x1000, 1);
	wr32(0x1008, 1);
	assert_int_equal(rig->nr_deny, 2);
	assert_int_equal(rig->vm.dev.nr_events, 0);
}

/* --- MSI-X --- */

/* INT-11 */
static void test_msix__masked__is_pending_until_unmasked(void **state)
{
	(void)state;
	rig_enable();
	wr32(LIOV_BAR0_MSIX_TABLE + 12, 1);
	rig->nr_msi = 0;
	liov_device_irq(&rig->vm, 0);
	assert_int_equal(rig->nr_msi, 0);
	assert_int_equal(rd32(LIOV_BAR0_MSIX_PBA), 1);
	wr32(LIOV_BAR0_MSIX_PBA, 0xFF);
	assert_int_equal(rd32(LIOV_BAR0_MSIX_PBA), 1);
	wr32(LIOV_BAR0_MSIX_TABLE + 12, 0);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi.data, 0x40);
	assert_int_equal(rd32(LIOV_BAR0_MSIX_PBA), 0);
	rig_cfg_wr(rig_find_cap(PCIS_CAP_ID_MSIX) + PCIS_MSIX_CONTROL, PCIS_MSIX_ENABLE | PCIS_MSIX_FUNCTION_MASK, 2);
	liov_device_irq(&rig->vm, 1);
	assert_int_equal(rig->nr_msi, 1);
	rig_cfg_wr(rig_find_cap(PCIS_CAP_ID_MSIX) + PCIS_MSIX_CONTROL, PCIS_MSIX_ENABLE, 2);
	assert_int_equal(rig->nr_msi, 2);
	assert_int_equal(rig->msi.vector, 1);
	assert_int_equal(rd32(LIOV_BAR0_MSIX_TABLE + (NR_QUEUES + 1) * 16), 0xFFFFFFFF);
}

/* INT-11, INT-12 a */
static void test_msix__message_that_is_no_interrupt__is_never_sent(void **state)
{
	(void)state;
	rig_enable();
	rig->nr_msi = 0;
	wr32(LIOV_BAR0_MSIX_TABLE + 16 + 8, 15);
	assert_int_equal(rig->deny.component, LIOV_DEVICE);
	liov_device_irq(&rig->vm, 1);
	wr32(LIOV_BAR0_MSIX_TABLE + 16 + 8, 0x41);
	assert_int_equal(rig->nr_msi, 1);	/* was pending */
	wr32(LIOV_BAR0_MSIX_TABLE + 16 + 4, 1);
	liov_device_irq(&rig->vm, 1);
	wr32(LIOV_BAR0_MSIX_TABLE + 32, 0x1000);
	liov_device_irq(&rig->vm, 2);
	assert_int_equal(rig->nr_msi, 1);
}
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_config__read__says_what_the_abi_says),
		T(test_config__bar_sizing__gives_16k_and_cmb),
		T(test_config__partial_write__touches_its_bytes_only),
		T(test_config__initiate_flr__resets_the_virtual_function_only),
		T(test_registers__read__describe_the_virtual_controller),
		T(test_enable__bad_parameters__is_virtual_cfs),
		T(test_cmbmsc__wrap_or_overlap__is_refused_in_either_order),
		T(test_bars__odd_accesses__read_ones_and_are_dropped),
		T(test_doorbell__before_ready__is_dropped),
		T(test_msix__masked__is_pending_until_unmasked),
		T(test_msix__message_that_is_no_interrupt__is_never_sent),
	};

	return cmocka_run_group_tests_name("core_device", tests, NULL, NULL);
}
