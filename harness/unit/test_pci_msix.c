// SPDX-License-Identifier: GPL-2.0
#include "pci_rig.h"

#define RIG struct rig *rig = *state
#define TABLE(vec) ((hpa_t){ RIG_BAR0 + RIG_TABLE + 16 * (vec) })
#define CONTROL(vec) ((hpa_t){ RIG_BAR0 + RIG_TABLE + 16 * (vec) + 12 })
#define PBA ((hpa_t){ RIG_BAR0 + RIG_PBA })

static void msix_control(struct rig *rig, u32 val)
{
	rig_cfg_write(rig, rig_find_cap(rig, 0x11) + 2, val, 2);
}

static void arm(struct rig *rig, u64 vec, u64 addr, u32 data)
{
	bus_cpu_write(&rig->bus, TABLE(vec), addr, 8);
	bus_cpu_write(&rig->bus, (hpa_t){ TABLE(vec).v + 8 }, data, 8);
}

/* MSI-X on, vectors 0, 4 and 64 armed. */
static int setup(void **state)
{
	struct rig *rig;

	if (rig_setup_enabled(state))
		return -1;
	rig = *state;
	arm(rig, 0, 0xFEE00218, 0x10);
	arm(rig, 4, 0xFEE00298, 0x14);
	arm(rig, 64, 0xFEE01000, 0x54);
	msix_control(rig, 0x8000);
	rig->nr_events = 0;
	return 0;
}

static void test_msix_table__reset__masked_and_zero(void **state)
{
	RIG;

	assert_int_equal(bus_cpu_read(&rig->bus, TABLE(1), 8), 0);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ TABLE(1).v + 8 }, 8), 0x100000000ULL);
	assert_int_equal(bus_cpu_read(&rig->bus, CONTROL(64), 4), 0);
	assert_int_equal(rig->reads, 0);
}

static void test_msix_table__dwords_and_qwords__same_entry(void **state)
{
	RIG;

	bus_cpu_write(&rig->bus, TABLE(2), 0xFEE01237, 4);
	bus_cpu_write(&rig->bus, (hpa_t){ TABLE(2).v + 4 }, 0x55, 4);
	bus_cpu_write(&rig->bus, (hpa_t){ TABLE(2).v + 8 }, 0xFFFFFFFE00004321ULL, 8);
	/* Address bits 1:0 and the reserved bits of vector control stay zero. */
	assert_int_equal(bus_cpu_read(&rig->bus, TABLE(2), 8), 0x55FEE01234ULL);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ TABLE(2).v + 8 }, 8), 0x00004321);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ TABLE(2).v + 4 }, 4), 0x55);
}

static void test_msix_table__other_sizes_or_unaligned__ignored(void **state)
{
	RIG;

	bus_cpu_write(&rig->bus, TABLE(4), 0xAAAA, 2);
	bus_cpu_write(&rig->bus, TABLE(4), 0xAA, 1);
	bus_cpu_write(&rig->bus, (hpa_t){ TABLE(4).v + 2 }, 0, 4);
	bus_cpu_write(&rig->bus, (hpa_t){ TABLE(4).v + 4 }, ~0ULL, 8);
	assert_int_equal(bus_cpu_read(&rig->bus, TABLE(4), 8), 0xFEE00298);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ TABLE(4).v + 8 }, 8), 0x14);
	assert_int_equal(bus_cpu_read(&rig->bus, TABLE(4), 2), 0);
	/* Nor may an access that begins before the table reach the device with a part of it. */
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE - 2 }, 0, 4);
	assert_int_equal(rig->writes, 0);
}

static void test_msix_table__beside_it__reaches_the_device(void **state)
{
	RIG;

	bus_cpu_write(&rig->bus, TABLE(65), 1, 4);
	assert_int_equal(rig->writes, 1);
	assert_int_equal(rig->off, RIG_TABLE + 0x410);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE - 4 }, 1, 4);
	assert_int_equal(rig->writes, 2);
	bus_cpu_read(&rig->bus, (hpa_t){ PBA.v + 16 }, 8);
	assert_int_equal(rig->reads, 1);
}

static void test_msix_notify__armed__sends_one_message(void **state)
{
	RIG;
	const struct trace_event *ev;

	pci_msix_notify(&rig->fn, 4);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi_addr[0], 0xFEE00298);
	assert_int_equal(rig->msi_data[0], 0x14);
	assert_int_equal(rig->fn.msi_sent, 1);
	ev = rig_event(rig, TRACE_MSI, 0);
	assert_int_equal(ev->a, RIG_RID);
	assert_int_equal(ev->b, 4);
	assert_int_equal(ev->c, 0xFEE00298);
	assert_int_equal(ev->d, 0x14);
}

static void test_msix_notify__vector_masked__pends_and_is_sent_once_when_unmasked(void **state)
{
	RIG;

	bus_cpu_write(&rig->bus, CONTROL(64), 1, 4);
	pci_msix_notify(&rig->fn, 64);
	pci_msix_notify(&rig->fn, 64);
	assert_int_equal(rig->nr_msi, 0);
	assert_int_equal(rig_count(rig, TRACE_MSI_MASKED), 2);
	assert_int_equal(bus_cpu_read(&rig->bus, PBA, 8), 0);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ PBA.v + 8 }, 8), 1);
	bus_cpu_write(&rig->bus, (hpa_t){ TABLE(64).v + 8 }, 0x99, 4);	/* new data while masked */
	bus_cpu_write(&rig->bus, CONTROL(64), 0, 4);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi_data[0], 0x99);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ PBA.v + 8 }, 8), 0);
	bus_cpu_write(&rig->bus, CONTROL(64), 1, 4);
	bus_cpu_write(&rig->bus, CONTROL(64), 0, 4);
	assert_int_equal(rig->nr_msi, 1);
}

static void test_msix_notify__function_masked__pends_until_unmasked(void **state)
{
	RIG;

	msix_control(rig, 0xC000);
	bus_cpu_write(&rig->bus, CONTROL(4), 1, 4);
	pci_msix_notify(&rig->fn, 0);
	pci_msix_notify(&rig->fn, 4);
	assert_int_equal(bus_cpu_read(&rig->bus, PBA, 4), 0x11);
	bus_cpu_write(&rig->bus, CONTROL(0), 0, 4);
	assert_int_equal(rig->nr_msi, 0);
	msix_control(rig, 0x8000);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi_addr[0], 0xFEE00218);
	assert_int_equal(bus_cpu_read(&rig->bus, PBA, 4), 0x10);
	bus_cpu_write(&rig->bus, CONTROL(4), 0, 4);
	assert_int_equal(rig->nr_msi, 2);
	assert_int_equal(rig->msi_addr[1], 0xFEE00298);
}

static void test_msix_pba__written__unchanged(void **state)
{
	RIG;

	bus_cpu_write(&rig->bus, CONTROL(4), 1, 4);
	pci_msix_notify(&rig->fn, 4);
	bus_cpu_write(&rig->bus, PBA, 0, 8);
	bus_cpu_write(&rig->bus, (hpa_t){ PBA.v + 8 }, ~0ULL, 8);
	assert_int_equal(bus_cpu_read(&rig->bus, PBA, 8), 0x10);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ PBA.v + 4 }, 4), 0);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ PBA.v + 8 }, 8), 0);
	assert_int_equal(rig->writes, 0);
}

static void test_msix_notify__off__dropped(void **state)
{
	RIG;

	msix_control(rig, 0);
	assert_false(pci_msix_enabled(&rig->fn));
	pci_msix_notify(&rig->fn, 0);
	msix_control(rig, 0x8000);
	assert_true(pci_msix_enabled(&rig->fn));
	rig_cfg_write(rig, 0x04, 0x0002, 2);
	pci_msix_notify(&rig->fn, 0);
	rig_cfg_write(rig, 0x04, 0x0006, 2);
	pci_msix_notify(&rig->fn, RIG_VECTORS);
	pci_msix_notify(&rig->fn, ~0U);
	assert_int_equal(rig->nr_msi, 0);
	assert_int_equal(rig->fn.msi_sent, 0);
	assert_int_equal(bus_cpu_read(&rig->bus, PBA, 8), 0);
}

static void test_msix_pending__unmasked_without_bus_master__sent_once_it_is_back(void **state)
{
	RIG;

	bus_cpu_write(&rig->bus, CONTROL(0), 1, 4);
	pci_msix_notify(&rig->fn, 0);
	rig_cfg_write(rig, 0x04, 0x0002, 2);
	bus_cpu_write(&rig->bus, CONTROL(0), 0, 4);
	assert_int_equal(rig->nr_msi, 0);
	rig_cfg_write(rig, 0x04, 0x0006, 2);
	assert_int_equal(rig->nr_msi, 1);
}

static void test_msix_notify__address_is_memory__plain_dword_write(void **state)
{
	RIG;

	arm(rig, 0, 0x8000, 0xFEEDFACE);
	pci_msix_notify(&rig->fn, 0);
	assert_int_equal(rig->nr_msi, 0);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ 0x8000 }, 8), 0xFEEDFACE);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_msix_table__reset__masked_and_zero),
		T(test_msix_table__dwords_and_qwords__same_entry),
		T(test_msix_table__other_sizes_or_unaligned__ignored),
		T(test_msix_table__beside_it__reaches_the_device),
		T(test_msix_notify__armed__sends_one_message),
		T(test_msix_notify__vector_masked__pends_and_is_sent_once_when_unmasked),
		T(test_msix_notify__function_masked__pends_until_unmasked),
		T(test_msix_pba__written__unchanged),
		T(test_msix_notify__off__dropped),
		T(test_msix_pending__unmasked_without_bus_master__sent_once_it_is_back),
		T(test_msix_notify__address_is_memory__plain_dword_write),
	};

	return cmocka_run_group_tests_name("pci_msix", tests, NULL, NULL);
}
