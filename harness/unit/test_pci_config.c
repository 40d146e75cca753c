// SPDX-License-Identifier: GPL-2.0
#include "pci_rig.h"

/* Offsets and values are those of PCI Local Bus 3.0 and PCIe Base 5.0, spelled as numbers. */

#define RIG struct rig *rig = *state

static void test_pci_cfg__header__identifies_the_function(void **state)
{
	RIG;

	assert_int_equal(rig_cfg_read(rig, 0x00, 4), 0x58451AF4);
	assert_int_equal(rig_cfg_read(rig, 0x08, 4), 0x01080200);
	assert_int_equal(rig_cfg_read(rig, 0x0E, 1), 0);
	assert_int_equal(rig_cfg_read(rig, 0x2C, 4), 0x1234ABCD);
	assert_int_equal(rig_cfg_read(rig, 0x06, 2), 0x0010);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0);
}

static void test_pci_cfg__all_ones_to_the_header__only_writable_bits_change(void **state)
{
	RIG;

	for (u32 off = 0; off < 0x40; off += 4)
		rig_cfg_write(rig, off, 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x00, 4), 0x58451AF4);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0x0547);
	assert_int_equal(rig_cfg_read(rig, 0x08, 4), 0x01080200);
	assert_int_equal(rig_cfg_read(rig, 0x0C, 4), 0x000000FF);
	assert_int_equal(rig_cfg_read(rig, 0x28, 4), 0);
	assert_int_equal(rig_cfg_read(rig, 0x2C, 4), 0x1234ABCD);
	assert_int_equal(rig_cfg_read(rig, 0x30, 4), 0);
	assert_int_equal(rig_cfg_read(rig, 0x3C, 4), 0x000000FF);
}

static void test_pci_cfg__intx_disable__is_stored(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x04, 0x0400, 2);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0x0400);
	rig_cfg_write(rig, 0x05, 0, 1);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0);
}

static void test_pci_cfg__failed_read__sets_master_abort_until_written_one(void **state)
{
	RIG;
	u64 done = 0;
	u32 buf;

	rig_cfg_write(rig, 0x04, 0x0004, 2);
	assert_false(pci_dma_read(&rig->fn, (iova_t){ 0x80000000 }, &buf, 4, &done));
	assert_int_equal(rig_cfg_read(rig, 0x06, 2), 0x2010);
	rig_cfg_write(rig, 0x06, 0xDFFF, 2);
	assert_int_equal(rig_cfg_read(rig, 0x06, 2), 0x2010);
	rig_cfg_write(rig, 0x06, 0x2000, 2);
	assert_int_equal(rig_cfg_read(rig, 0x06, 2), 0x0010);
}

static void test_pci_cfg__unaligned_or_odd_size__all_ones_and_dropped(void **state)
{
	RIG;

	assert_int_equal(rig_cfg_read(rig, 0x01, 2), 0xFFFF);
	assert_int_equal(rig_cfg_read(rig, 0x02, 4), 0xFFFFFFFF);
	assert_int_equal(rig_cfg_read(rig, 0x00, 3), 0xFFFFFFFF);
	assert_int_equal(rig_cfg_read(rig, 0x00, 8), 0xFFFFFFFF);
	assert_int_equal(rig_cfg_read(rig, 0x00, 0), 0xFFFFFFFF);
	assert_int_equal(rig_cfg_read(rig, 0x1000, 1), 0xFF);
	assert_int_equal(rig_cfg_read(rig, 0xFFFFFFFC, 4), 0xFFFFFFFF);
	rig_cfg_write(rig, 0x03, 0x06060606, 4);
	rig_cfg_write(rig, 0x04, 6, 3);
	rig_cfg_write(rig, 0x04, 6, 8);
	rig_cfg_write(rig, 0xFFFFFFFC, 6, 4);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0);
	assert_int_equal(rig_count(rig, TRACE_CFG_WRITE), 0);
}

static void test_pci_cfg__absent_function__all_ones_and_dropped(void **state)
{
	RIG;

	assert_int_equal(pci_cfg_read(&rig->root, 0x0101, 0, 4), 0xFFFFFFFF);
	assert_int_equal(pci_cfg_read(&rig->root, 0x0101, 0, 2), 0xFFFF);
	pci_cfg_write(&rig->root, 0x0101, 4, 6, 2);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0);
	assert_null(pci_root_find(&rig->root, 0x0101));
	assert_ptr_equal(pci_root_find(&rig->root, RIG_RID), &rig->fn);
}

static void test_pci_cfg__write__is_traced(void **state)
{
	RIG;
	const struct trace_event *ev;

	rig_cfg_write(rig, 0x04, 0x0006, 2);
	ev = rig_event(rig, TRACE_CFG_WRITE, 0);
	assert_int_equal(ev->a, 0x04);
	assert_int_equal(ev->b, 0x0006);
	assert_int_equal(ev->c, 2);
}

static void test_pci_cfg__extended_space__no_capability(void **state)
{
	RIG;

	rig_cfg_write(rig, 0x100, 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x100, 4), 0);
	assert_int_equal(rig_cfg_read(rig, 0xFFC, 4), 0);
}

static void test_pci_cap__list__pm_then_msix_then_pcie(void **state)
{
	RIG;
	u32 pm = rig_cfg_read(rig, 0x34, 1), msix, pcie;

	assert_int_equal(rig_cfg_read(rig, pm, 1), 0x01);
	msix = rig_cfg_read(rig, pm + 1, 1);
	assert_int_equal(rig_cfg_read(rig, msix, 1), 0x11);
	pcie = rig_cfg_read(rig, msix + 1, 1);
	assert_int_equal(rig_cfg_read(rig, pcie, 1), 0x10);
	assert_int_equal(rig_cfg_read(rig, pcie + 1, 1), 0);
	for (u32 off = 0x34; off < 0x100; off += off == 0x34 ? 0xC : 4)
		rig_cfg_write(rig, off, off == ((pcie + 8) & ~3U) ? 0 : 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, 0x34, 1), pm);
	assert_int_equal(rig_cfg_read(rig, pm, 2), msix << 8 | 0x01);
	assert_int_equal(rig_cfg_read(rig, msix, 2), pcie << 8 | 0x11);
	assert_int_equal(rig_cfg_read(rig, pcie, 2), 0x0010);
}

static void test_pci_cap__msix__size_bar_and_offsets(void **state)
{
	RIG;
	u32 msix = rig_find_cap(rig, 0x11);

	assert_int_equal(rig_cfg_read(rig, msix + 2, 2), 64);
	assert_int_equal(rig_cfg_read(rig, msix + 4, 4), 0x4000);
	assert_int_equal(rig_cfg_read(rig, msix + 8, 4), 0x5000);
	rig_cfg_write(rig, msix + 2, 0xFFFF, 2);
	rig_cfg_write(rig, msix + 4, 0xFFFFFFFF, 4);
	rig_cfg_write(rig, msix + 8, 0xFFFFFFFF, 4);
	assert_int_equal(rig_cfg_read(rig, msix + 2, 2), 0xC040);
	assert_int_equal(rig_cfg_read(rig, msix + 4, 4), 0x4000);
	assert_int_equal(rig_cfg_read(rig, msix + 8, 4), 0x5000);
}

static void test_pci_cap__pcie__offers_flr_and_the_links_payload(void **state)
{
	RIG;
	u32 pcie = rig_find_cap(rig, 0x10);
	u32 devcap = rig_cfg_read(rig, pcie + 4, 4);

	assert_int_equal(rig_cfg_read(rig, pcie + 2, 2), 0x0002);
	assert_int_equal(devcap >> 28 & 1, 1);
	assert_int_equal(devcap & 7, 1);		/* 256 bytes */
	assert_int_equal(devcap >> 15 & 1, 1);
	assert_int_equal(rig_cfg_read(rig, pcie + 8, 2), 0x2810);
	rig_cfg_write(rig, pcie + 8, 0x7FFF, 2);
	assert_int_equal(rig_cfg_read(rig, pcie + 8, 2), 0x79FF);
	assert_int_equal(rig->resets, 0);
}

static void program(struct rig *rig)
{
	u32 msix = rig_find_cap(rig, 0x11), pcie = rig_find_cap(rig, 0x10);

	rig_enable(rig);
	rig_cfg_write(rig, 0x3C, 11, 1);
	rig_cfg_write(rig, msix + 2, 0x8000, 2);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE }, 0xFEE01000, 8);
	pci_msix_notify(&rig->fn, 0);
	rig_cfg_write(rig, pcie + 8, 0x2830, 2);	/* payload of 256 bytes */
}

static void test_pci_flr__initiated__all_back_to_reset_values(void **state)
{
	RIG;
	u32 msix = rig_find_cap(rig, 0x11), pcie = rig_find_cap(rig, 0x10);

	program(rig);
	assert_int_equal(rig->fn.msix_pba[0], 1);
	rig_cfg_write(rig, pcie + 8, 0xA830, 2);
	assert_int_equal(rig->resets, 1);
	assert_int_equal(rig_cfg_read(rig, 0x04, 2), 0);
	assert_int_equal(rig_cfg_read(rig, 0x10, 4), 0x4);
	assert_int_equal(rig_cfg_read(rig, 0x3C, 1), 0);
	assert_int_equal(rig_cfg_read(rig, msix + 2, 2), 64);
	assert_false(pci_msix_enabled(&rig->fn));
	assert_false(bus_is_mmio(&rig->bus, (hpa_t){ RIG_BAR0 }, RIG_BAR0_SIZE));
	/* Initiate FLR reads zero; Max_Payload_Size is kept, PCIe 6.6.2. */
	assert_int_equal(rig_cfg_read(rig, pcie + 8, 2), 0x2830);
	rig_enable(rig);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE }, 8), 0);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE + 12 }, 4), 1);
	assert_int_equal(bus_cpu_read(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_PBA }, 8), 0);
}

static void test_pci_flr__any_access_that_carries_the_bit__resets(void **state)
{
	RIG;
	u32 pcie = rig_find_cap(rig, 0x10);

	rig_cfg_write(rig, pcie + 8, 0x80, 1);
	assert_int_equal(rig->resets, 0);
	rig_cfg_write(rig, pcie + 9, 0x80, 1);
	assert_int_equal(rig->resets, 1);
	rig_cfg_write(rig, pcie + 8, 0x00008000, 4);
	assert_int_equal(rig->resets, 2);
	rig_cfg_write(rig, pcie + 10, 0x8000, 2);
	rig_cfg_write(rig, pcie + 8, 0x80000000, 4);
	rig_cfg_write(rig, pcie + 4, 0xFFFFFFFF, 4);
	assert_int_equal(rig->resets, 2);
}

static void test_pci_pm__d3hot__no_registers_no_dma(void **state)
{
	RIG;
	u32 pm = rig_find_cap(rig, 0x01), buf;
	u64 done = 0;

	rig_enable(rig);
	rig_cfg_write(rig, pm + 4, 3, 2);
	assert_int_equal(rig_cfg_read(rig, pm + 4, 2), 0x000B);
	assert_false(bus_is_mmio(&rig->bus, (hpa_t){ RIG_BAR0 }, 1));
	assert_false(pci_dma_read(&rig->fn, (iova_t){ 0 }, &buf, 4, &done));
	rig_cfg_write(rig, pm + 4, 0, 2);
	assert_true(bus_is_mmio(&rig->bus, (hpa_t){ RIG_BAR0 }, 1));
	assert_true(pci_dma_read(&rig->fn, (iova_t){ 0 }, &buf, 4, &done));
	assert_int_equal(rig->resets, 0);
}

static void test_pci_pm__state_it_does_not_have__stays(void **state)
{
	RIG;
	u32 pm = rig_find_cap(rig, 0x01);

	rig_cfg_write(rig, pm + 4, 1, 2);
	assert_int_equal(rig_cfg_read(rig, pm + 4, 2) & 3, 0);
	rig_cfg_write(rig, pm + 4, 3, 1);
	rig_cfg_write(rig, pm + 4, 2, 1);
	assert_int_equal(rig_cfg_read(rig, pm + 4, 2) & 3, 3);
}

static void assert_refused(struct rig *rig, const struct pci_function_config *cfg)
{
	static struct pci_function fn;

	assert_int_equal(pci_function_init(&fn, cfg, &rig->root, &rig_ops, rig), -1);
}

static void test_pci_function_init__impossible_config__refused(void **state)
{
	RIG;
	struct pci_function_config good = rig_config(), cfg;

	assert_refused(rig, &good);			/* requester id taken */
	good.rid = 0x0200;
#define REFUSE(change) do { cfg = good; cfg.change; assert_refused(rig, &cfg); } while (0)
	REFUSE(bar[0].size_bytes = 0x3000);
	REFUSE(bar[2].size_bytes = 0x800);
	REFUSE(bar[1].size_bytes = 0x1000);		/* upper half of BAR0 */
	REFUSE(bar[2].size_bytes = 1ULL << 32);
	REFUSE(bar[3] = ((struct pci_bar_config){ 0x1000, true, false }));
	REFUSE(bar[5] = ((struct pci_bar_config){ 0x1000, true, false }));
	REFUSE(msix_vectors = 0);
	REFUSE(msix_vectors = PCI_MSIX_VECTORS_MAX + 1);
	REFUSE(msix_bar = 6);
	REFUSE(msix_bar = 3);
	REFUSE(msix_table_off = 0x4004);
	REFUSE(msix_pba_off = 0x4408);			/* inside the table */
	REFUSE(msix_table_off = 0xFC00);		/* 16 bytes too long */
	REFUSE(msix_pba_off = 0xFFF8);			/* 65 vectors need two qwords */
	REFUSE(link.mps_bytes = 64);
	REFUSE(link.mrrs_bytes = 768);
#undef REFUSE
	assert_int_equal(rig->root.nr_fn, 1);
}

static void test_pci_function_init__root_full__refused(void **state)
{
	RIG;
	static struct pci_function fn[PCI_ROOT_FUNCTIONS_MAX];
	struct pci_function_config cfg = rig_config();

	for (u16 i = 1; i < PCI_ROOT_FUNCTIONS_MAX; i++) {
		cfg.rid = (u16)(RIG_RID + i);
		assert_int_equal(pci_function_init(&fn[i], &cfg, &rig->root, &rig_ops, rig), 0);
	}
	cfg.rid = 0x0300;
	assert_refused(rig, &cfg);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_pci_cfg__header__identifies_the_function),
		T(test_pci_cfg__all_ones_to_the_header__only_writable_bits_change),
		T(test_pci_cfg__intx_disable__is_stored),
		T(test_pci_cfg__failed_read__sets_master_abort_until_written_one),
		T(test_pci_cfg__unaligned_or_odd_size__all_ones_and_dropped),
		T(test_pci_cfg__absent_function__all_ones_and_dropped),
		T(test_pci_cfg__write__is_traced),
		T(test_pci_cfg__extended_space__no_capability),
		T(test_pci_cap__list__pm_then_msix_then_pcie),
		T(test_pci_cap__msix__size_bar_and_offsets),
		T(test_pci_cap__pcie__offers_flr_and_the_links_payload),
		T(test_pci_flr__initiated__all_back_to_reset_values),
		T(test_pci_flr__any_access_that_carries_the_bit__resets),
		T(test_pci_pm__d3hot__no_registers_no_dma),
		T(test_pci_pm__state_it_does_not_have__stays),
		T(test_pci_function_init__impossible_config__refused),
		T(test_pci_function_init__root_full__refused),
	};

	return cmocka_run_group_tests_name("pci_config", tests, NULL, NULL);
}
