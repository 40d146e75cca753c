// SPDX-License-Identifier: GPL-2.0
/* A plain function beside another: its BAR, and what it reads and writes as a bus master. */

#include "pci_rig.h"
#include "pci/plain.h"

#define PLAIN_RID 0x0200
#define PLAIN_BAR 0xF8000000ull

static struct pci_plain plain;

static int setup(void **state)
{
	struct rig *rig;

	if (rig_setup(state) || pci_plain_init(&plain, PLAIN_RID, &((struct rig *)*state)->root))
		return -1;
	rig = *state;
	pci_cfg_write(&rig->root, PLAIN_RID, PCIS_BAR0, (u32)PLAIN_BAR, 4);
	pci_cfg_write(&rig->root, PLAIN_RID, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER, 2);
	return 0;
}

static void test_plain__same_rid__is_refused(void **state)
{
	static struct pci_plain other;

	assert_int_equal(pci_plain_init(&other, PLAIN_RID, &((struct rig *)*state)->root), -1);
	assert_int_equal(pci_plain_init(&other, RIG_RID, &((struct rig *)*state)->root), -1);
}

static void test_plain__bar__is_memory_until_a_reset(void **state)
{
	struct rig *rig = *state;
	u32 cap = plain.fn.cap_pcie, control = pci_cfg_read(&rig->root, PLAIN_RID, cap + PCIS_EXP_DEVCTL, 2);

	bus_cpu_write(&rig->bus, (hpa_t){ PLAIN_BAR + 0xFF8 }, 0x1122334455667788ull, 8);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ PLAIN_BAR + 0xFFC }, 4), 0x11223344);
	pci_cfg_write(&rig->root, PLAIN_RID, cap + PCIS_EXP_DEVCTL, control | PCIS_EXP_DEVCTL_FLR, 2);
	assert_int_equal(plain.memory[0xFF8], 0);
	/* A reset function decodes nothing. */
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ PLAIN_BAR }, 4), 0xFFFFFFFF);
}

static void test_plain__dma__moves_a_dword_or_fails(void **state)
{
	struct rig *rig = *state;
	u32 val;

	pci_plain_write32(&plain, (iova_t){ 0x1000 }, 0xCAFE);
	assert_true(pci_plain_read32(&plain, (iova_t){ 0x1000 }, &val));
	assert_int_equal(val, 0xCAFE);
	assert_int_equal(rig_event(rig, TRACE_DMA, 0)->a, PLAIN_RID | 1 << 16 | PCI_DMA_DATA << 17);
	assert_false(pci_plain_read32(&plain, (iova_t){ RIG_RAM_SIZE }, &val));
	assert_int_equal(val, 0xFFFFFFFF);
}

static void test_plain__write_into_the_interrupt_range__is_a_message(void **state)
{
	struct rig *rig = *state;

	pci_plain_write32(&plain, (iova_t){ 0xFEE00250 }, 7);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi_addr[0], 0xFEE00250);
	assert_int_equal(rig->msi_data[0], 7);
}

static void test_plain__not_a_master__does_nothing(void **state)
{
	struct rig *rig = *state;
	u32 val;

	pci_cfg_write(&rig->root, PLAIN_RID, PCIS_COMMAND, PCIS_COMMAND_MEMORY, 2);
	pci_plain_write32(&plain, (iova_t){ 0x1000 }, 0xCAFE);
	assert_false(pci_plain_read32(&plain, (iova_t){ 0x1000 }, &val));
	assert_int_equal(rig_count(rig, TRACE_DMA), 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain__same_rid__is_refused),
		TEST(test_plain__bar__is_memory_until_a_reset),
		TEST(test_plain__dma__moves_a_dword_or_fails),
		TEST(test_plain__write_into_the_interrupt_range__is_a_message),
		TEST(test_plain__not_a_master__does_nothing),
	};

	return cmocka_run_group_tests_name("pci_plain", tests, NULL, NULL);
}
