// SPDX-License-Identifier: GPL-2.0
#include "pci_rig.h"

#define RIG struct rig *rig = *state

static bool decoded(struct rig *rig, u64 base)
{
	return bus_is_mmio(&rig->bus, (hpa_t){ base }, 1);
}

static void test_pci_bar__all_ones_to_32_bit__reads_its_size(void **state)
{
	RIG;

	assert_int_equal(rig_cfg_read(rig, 0x18, 4), 0);
	rig_cfg_write(rig, 0x18, 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x18, 4), 0xFFFFF000);
	rig_cfg_write(rig, 0x18, 0xE0001FFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x18, 4), 0xE0001000);
	assert_int_equal(pci_bar_base(&rig->fn, 2), 0xE0001000);
}

static void test_pci_bar__all_ones_to_64_bit__reads_its_size(void **state)
{
	RIG;

	assert_int_equal(rig_cfg_read(rig, 0x20, 4), 0xC);	/* 64-bit, prefetchable */
	rig_cfg_write(rig, 0x20, 0xFFFFFFFF, 4);
	rig_cfg_write(rig, 0x24, 0xFFFFFFFF, 4);
	/* 8 GiB: bit 33 is the lowest that can be written. */
	assert_int_equal(rig_cfg_read(rig, 0x20, 4), 0x0000000C);
	assert_int_equal(rig_cfg_read(rig, 0x24, 4), 0xFFFFFFFE);
	rig_cfg_write(rig, 0x10, 0xFFFFFFFF, 4);
	rig_cfg_write(rig, 0x14, 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x10, 4), 0xFFFF0004);
	assert_int_equal(rig_cfg_read(rig, 0x14, 4), 0xFFFFFFFF);
	assert_int_equal(pci_bar_base(&rig->fn, 0), 0xFFFFFFFFFFFF0000ULL);
}

static void test_pci_bar__absent__reads_zero(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x1C, 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x1C, 4), 0);
	assert_int_equal(pci_bar_base(&rig->fn, 3), 0);
	assert_int_equal(pci_bar_base(&rig->fn, 6), 0);
}

static void test_pci_bar__written_by_bytes__same_as_by_dword(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x1B, 0xE1, 1);
	rig_cfg_write(rig, 0x1A, 0x23, 1);
	rig_cfg_write(rig, 0x18, 0x4567, 2);
	assert_int_equal(rig_cfg_read(rig, 0x18, 4), 0xE1234000);
}

static void test_pci_decode__memory_enable__on_and_off(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x10, (u32)RIG_BAR0, 4);
	assert_false(decoded(rig, RIG_BAR0));
	rig_cfg_write(rig, 0x04, 0x0002, 2);
	assert_true(decoded(rig, RIG_BAR0));
	assert_true(decoded(rig, RIG_BAR0 + RIG_BAR0_SIZE - 1));
	assert_false(decoded(rig, RIG_BAR0 + RIG_BAR0_SIZE));
	rig_cfg_write(rig, 0x04, 0x0004, 2);
	assert_false(decoded(rig, RIG_BAR0));
}

static void test_pci_decode__bar_moved__old_place_empty(void **state)
{
	RIG;

	rig_enable(rig);
	rig_cfg_write(rig, 0x14, 0x20, 4);
	assert_false(decoded(rig, RIG_BAR0));
	assert_true(decoded(rig, 0x20F0000000ULL));
	bus_cpu_write(&rig->bus, (hpa_t){ 0x20F0001008ULL }, 7, 4);
	assert_int_equal(rig->writes, 1);
	assert_int_equal(rig->bar, 0);
	assert_int_equal(rig->off, 0x1008);
	assert_int_equal(rig->val, 7);
	assert_int_equal(rig->len, 4);
}

static void test_pci_decode__access__reaches_the_bar_hit(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x18, 0xE0000000, 4);
	rig_cfg_write(rig, 0x24, 0x40, 4);
	rig_enable(rig);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ 0xE0000FF8 }, 8), 0x1122334455667788ULL);
	assert_int_equal(rig->bar, 2);
	assert_int_equal(rig->off, 0xFF8);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ 0x41FFFFFFFCULL }, 4), 0x55667788);
	assert_int_equal(rig->bar, 4);
	assert_int_equal(rig->off, 0x1FFFFFFFC);
}

static void test_pci_decode__over_memory__not_decoded(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x18, 0x80000, 4);
	rig_enable(rig);
	assert_false(decoded(rig, 0x80000));
	bus_cpu_write(&rig->bus, (hpa_t){ 0x80000 }, 5, 4);
	assert_int_equal(rig->writes, 0);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ 0x80000 }, 4), 5);
	/* BAR4 left at 0 with memory there is not decoded either; BAR0 is. */
	assert_true(decoded(rig, RIG_BAR0));
	assert_int_equal(rig->fn.bar_decoded[4], ~0ULL);
}

static void test_pci_decode__over_the_interrupt_range__not_decoded(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x18, 0xFEE00000, 4);
	rig_enable(rig);
	assert_false(decoded(rig, 0xFEE00000));
	rig_cfg_write(rig, 0x18, 0xFEEFF000, 4);
	assert_false(decoded(rig, 0xFEEFF000));
	rig_cfg_write(rig, 0x18, 0xFEF00000, 4);
	assert_true(decoded(rig, 0xFEF00000));
	rig_cfg_write(rig, 0x18, 0xFEDFF000, 4);
	assert_true(decoded(rig, 0xFEDFF000));
}

static void test_pci_decode__place_taken__decoded_once_free(void **state)
{
	RIG;

	rig_enable(rig);
	rig_cfg_write(rig, 0x18, (u32)RIG_BAR0 + 0x1000, 4);
	assert_int_equal(rig->fn.bar_decoded[2], ~0ULL);
	rig_cfg_write(rig, 0x10, 0xD0000000, 4);
	assert_int_equal(rig->fn.bar_decoded[2], RIG_BAR0 + 0x1000);
	bus_cpu_read(&rig->bus, (hpa_t){ RIG_BAR0 + 0x1000 }, 4);
	assert_int_equal(rig->bar, 2);
}

static void test_pci_decode__another_functions_place__decoded_once_free(void **state)
{
	RIG;
	static struct pci_function other;
	struct pci_function_config cfg = rig_config();

	cfg.rid = 0x0200;
	assert_int_equal(pci_function_init(&other, &cfg, &rig->root, &rig_ops, rig), 0);
	rig_enable(rig);
	pci_cfg_write(&rig->root, 0x0200, 0x10, (u32)RIG_BAR0, 4);
	pci_cfg_write(&rig->root, 0x0200, 0x04, 0x0002, 2);
	assert_int_equal(other.bar_decoded[0], ~0ULL);
	rig_cfg_write(rig, 0x04, 0, 2);
	assert_int_equal(other.bar_decoded[0], RIG_BAR0);
	assert_int_equal(rig->fn.bar_decoded[0], ~0ULL);
}

static void test_pci_decode__another_functions_place__who_has_it_keeps_it(void **state)
{
	RIG;
	static struct pci_function other;
	struct pci_function_config cfg = rig_config();

	cfg.rid = 0x0200;
	assert_int_equal(pci_function_init(&other, &cfg, &rig->root, &rig_ops, rig), 0);
	pci_cfg_write(&rig->root, 0x0200, 0x10, (u32)RIG_BAR0, 4);
	pci_cfg_write(&rig->root, 0x0200, 0x04, 0x0002, 2);
	rig_enable(rig);
	assert_int_equal(other.bar_decoded[0], RIG_BAR0);
	assert_int_equal(rig->fn.bar_decoded[0], ~0ULL);
	assert_false(pci_addr_is_own_bar(&rig->fn, RIG_BAR0, 1));
}

static void test_pci_decode__sized_while_on__comes_back(void **state)
{
	RIG;

	rig_enable(rig);
	rig_cfg_write(rig, 0x10, 0xFFFFFFFF, 4);
	rig_cfg_write(rig, 0x14, 0xFFFFFFFF, 4);
	assert_false(decoded(rig, RIG_BAR0));
	assert_true(decoded(rig, ~0ULL));
	rig_cfg_write(rig, 0x10, (u32)RIG_BAR0, 4);
	rig_cfg_write(rig, 0x14, 0, 4);
	assert_false(decoded(rig, ~0ULL));
	assert_true(decoded(rig, RIG_BAR0));
}

static void test_pci_addr_is_own_bar__edges__exact(void **state)
{
	RIG;

	assert_false(pci_addr_is_own_bar(&rig->fn, RIG_BAR0, 1));
	rig_enable(rig);
	assert_true(pci_addr_is_own_bar(&rig->fn, RIG_BAR0, 1));
	assert_true(pci_addr_is_own_bar(&rig->fn, RIG_BAR0 - 1, 2));
	assert_false(pci_addr_is_own_bar(&rig->fn, RIG_BAR0 - 1, 1));
	assert_true(pci_addr_is_own_bar(&rig->fn, RIG_BAR0 + RIG_BAR0_SIZE - 1, 1));
	assert_false(pci_addr_is_own_bar(&rig->fn, RIG_BAR0 + RIG_BAR0_SIZE, 0x1000));
	assert_false(pci_addr_is_own_bar(&rig->fn, RIG_BAR0, 0));
	assert_true(pci_addr_is_own_bar(&rig->fn, 0x1000, ~0ULL));
	assert_false(pci_addr_is_own_bar(&rig->fn, ~0ULL, 0x1000));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pci_bar__all_ones_to_32_bit__reads_its_size),
		T(test_pci_bar__all_ones_to_64_bit__reads_its_size),
		T(test_pci_bar__absent__reads_zero),
		T(test_pci_bar__written_by_bytes__same_as_by_dword),
		T(test_pci_decode__memory_enable__on_and_off),
		T(test_pci_decode__bar_moved__old_place_empty),
		T(test_pci_decode__access__reaches_the_bar_hit),
		T(test_pci_decode__over_memory__not_decoded),
		T(test_pci_decode__over_the_interrupt_range__not_decoded),
		T(test_pci_decode__place_taken__decoded_once_free),
		T(test_pci_decode__another_functions_place__decoded_once_free),
		T(test_pci_decode__another_functions_place__who_has_it_keeps_it),
		T(test_pci_decode__sized_while_on__comes_back),
		T(test_pci_addr_is_own_bar__edges__exact),
	};

	return cmocka_run_group_tests_name("pci_bar", tests, NULL, NULL);
}
