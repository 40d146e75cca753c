// SPDX-License-Identifier: GPL-2.0
#include "pci_rig.h"
#include "iommu/vtd.h"

/* Requests with PASID, against an IOMMU of the test's own that maps each address to itself and notes who asks. */

#define RIG struct rig *rig = *state

struct vtd {
	unsigned int translations, interrupts, blocks;
	u32 pasid;
};

static struct vtd unit;

enum vtd_result vtd_translate(struct vtd *vtd, u16 rid, u32 pasid, iova_t addr, bool write, hpa_t *out, u64 *latency_ps)
{
	(void)rid, (void)write, (void)latency_ps;
	vtd->translations++;
	vtd->pasid = pasid;
	*out = (hpa_t){ addr.v };
	return addr.v < 0xFEE00000 ? VTD_OK : VTD_BLOCKED;
}

enum vtd_result vtd_interrupt(struct vtd *vtd, u16 rid, u64 addr, u32 data, u32 len_bytes)
{
	(void)rid, (void)addr, (void)data, (void)len_bytes;
	vtd->interrupts++;
	return VTD_OK;
}

void vtd_block(struct vtd *vtd, u16 rid, iova_t addr, bool write, u8 reason)
{
	(void)rid, (void)addr, (void)write, (void)reason;
	vtd->blocks++;
}

void vtd_on_behalf(struct vtd *vtd, u64 io_id)
{
	(void)vtd, (void)io_id;
}

static int setup(void **state)
{
	struct pci_function_config cfg = rig_config();

	cfg.pasid = true;
	memset(&unit, 0, sizeof(unit));
	if (rig_setup_with(state, &cfg, &unit))
		return -1;
	rig_enable(*state);
	((struct rig *)*state)->nr_events = 0;
	return 0;
}

static bool dma_read(struct rig *rig, u64 addr, void *to, u32 len)
{
	u64 done = 0;

	return pci_dma_read(&rig->fn, (iova_t){ addr }, to, len, &done);
}

static void dma_write(struct rig *rig, u64 addr, const void *from, u32 len)
{
	u64 done = 0;

	pci_dma_write(&rig->fn, (iova_t){ addr }, from, len, &done);
}

/* PCIe 7.8.9: at 0x100, 20 bits, neither execute nor privileged mode. */
static void test_capability__enabled_by_software_cleared_by_flr(void **state)
{
	RIG;

	assert_int_equal(pci_cfg_read(&rig->root, RIG_RID, 0x100, 4), 0x0001001B);
	assert_int_equal(pci_cfg_read(&rig->root, RIG_RID, 0x104, 4), 0x00001400);
	assert_false(pci_pasid_enabled(&rig->fn));
	pci_cfg_write(&rig->root, RIG_RID, 0x104, 0xFFFFFFFF, 4);
	assert_int_equal(pci_cfg_read(&rig->root, RIG_RID, 0x104, 4), 0x00011400);
	assert_true(pci_pasid_enabled(&rig->fn));
	pci_cfg_write(&rig->root, RIG_RID, rig->fn.cap_pcie + 8u, 0x8000, 2);
	assert_false(pci_pasid_enabled(&rig->fn));
}

static void test_request__carries_it_to_the_iommu(void **state)
{
	RIG;
	u8 got[0x100] = { 0 };

	pci_cfg_write(&rig->root, RIG_RID, 0x106, 1, 2);
	rig->nr_events = 0;
	dma_write(rig, 0x1F80, got, 0x100);
	assert_int_equal(unit.pasid, VTD_NO_PASID);
	rig->fn.pasid = 0xABCDE;
	dma_write(rig, 0x1F80, got, 0x100);
	assert_int_equal(unit.pasid, 0xABCDE);
	unit.pasid = 0;
	assert_true(dma_read(rig, 0x1F80, got, 0x100));
	assert_int_equal(unit.pasid, 0xABCDE);
	assert_int_equal(unit.translations, 6);
	assert_int_equal(rig_event(rig, TRACE_DMA, 0)->a, RIG_RID | 1 << 16);
	assert_int_equal(rig_event(rig, TRACE_DMA, 2)->a, RIG_RID | 1 << 16 | 0xABCDFULL << 32);
}

/* VT-d 3.14: such a request is memory's, wherever it goes; a message never has one (PCIe 6.20). */
static void test_interrupt_range__is_memory_to_the_request(void **state)
{
	RIG;
	u64 table = pci_bar_decoded(&rig->fn, rig->fn.cfg.msix_bar) + rig->fn.cfg.msix_table_off;
	u32 data = 0x41;

	pci_cfg_write(&rig->root, RIG_RID, 0x106, 1, 2);
	rig->fn.pasid = 7;
	dma_write(rig, 0xFEE00000, &data, 4);
	assert_false(dma_read(rig, 0xFEE00000, &data, 4));
	assert_int_equal(unit.interrupts, 0);
	assert_int_equal(unit.blocks, 0);
	assert_int_equal(unit.translations, 2);
	pci_cfg_write(&rig->root, RIG_RID, rig->fn.cap_msix + 2u, 0x8000, 2);
	bus_cpu_write(&rig->bus, (hpa_t){ table }, 0xFEE00000, 4);
	bus_cpu_write(&rig->bus, (hpa_t){ table + 12 }, 0, 4);
	pci_msix_notify(&rig->fn, 0);
	assert_int_equal(unit.interrupts, 1);
	assert_int_equal(unit.translations, 2);
}

static void test_request__not_enabled__nothing_is_sent(void **state)
{
	RIG;
	u8 got[4] = { 0 };

	rig->fn.pasid = 7;
	dma_write(rig, 0, got, 4);
	assert_false(dma_read(rig, 0, got, 4));
	assert_int_equal(unit.translations, 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_capability__enabled_by_software_cleared_by_flr),
		T(test_request__carries_it_to_the_iommu),
		T(test_interrupt_range__is_memory_to_the_request),
		T(test_request__not_enabled__nothing_is_sent),
	};

	return cmocka_run_group_tests_name("pci_pasid", tests, NULL, NULL);
}
