// SPDX-License-Identifier: GPL-2.0
#include "pci_rig.h"
#include "iommu/vtd.h"

/*
 * The DMA path against an IOMMU of the test's own: it notes every request, adds 280 ns to
 * each, maps IOVA 1 GiB + x to x and the very last page to 0x8000, and blocks the rest.
 */

#define RIG struct rig *rig = *state
#define WINDOW 0x40000000ULL
#define HOLE (WINDOW + 0x5000)		/* a page in the window that is blocked */
#define LAST_PAGE (~0ULL - 0xFFF)
#define CALLS 64

struct vtd {
	unsigned int translations, interrupts, blocks;
	struct {
		u16 rid;
		u64 iova;
		bool write;
	} translated[CALLS];
	struct {
		u16 rid;
		u64 addr;
		u32 data, len;
	} interrupt[CALLS];
	struct {
		u16 rid;
		u64 iova;
		bool write;
		u8 reason;
	} blocked;
	u64 io_id;
};

static struct vtd unit;

enum vtd_result vtd_translate(struct vtd *vtd, u16 rid, u32 pasid, iova_t addr, bool write, hpa_t *out, u64 *latency_ps)
{
	assert_true(vtd->translations < CALLS);
	assert_int_equal(pasid, VTD_NO_PASID);
	vtd->translated[vtd->translations].rid = rid;
	vtd->translated[vtd->translations].iova = addr.v;
	vtd->translated[vtd->translations++].write = write;
	*latency_ps += 280 * PS_PER_NS;
	if (addr.v >= LAST_PAGE) {
		*out = (hpa_t){ 0x8000 + (addr.v - LAST_PAGE) };
		return VTD_OK;
	}
	if (addr.v < WINDOW || addr.v >= 2 * WINDOW || (addr.v & ~0xFFFULL) == HOLE)
		return VTD_BLOCKED;
	*out = (hpa_t){ addr.v - WINDOW };
	return VTD_OK;
}

enum vtd_result vtd_interrupt(struct vtd *vtd, u16 rid, u64 addr, u32 data, u32 len_bytes)
{
	assert_true(vtd->interrupts < CALLS);
	vtd->interrupt[vtd->interrupts].rid = rid;
	vtd->interrupt[vtd->interrupts].addr = addr;
	vtd->interrupt[vtd->interrupts].data = data;
	vtd->interrupt[vtd->interrupts++].len = len_bytes;
	return VTD_OK;
}

void vtd_block(struct vtd *vtd, u16 rid, iova_t addr, bool write, u8 reason)
{
	vtd->blocks++;
	vtd->blocked.rid = rid;
	vtd->blocked.iova = addr.v;
	vtd->blocked.write = write;
	vtd->blocked.reason = reason;
}

void vtd_on_behalf(struct vtd *vtd, u64 io_id)
{
	vtd->io_id = io_id;
}

static u8 buf[0x4000];

static void fill(u8 *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (u8)(i * 7 + i / 251 + 1);
}

static int setup(void **state)
{
	struct pci_function_config cfg = rig_config();

	memset(&unit, 0, sizeof(unit));
	fill(buf, sizeof(buf));
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

static void assert_memory_is(struct rig *rig, u64 hpa, const void *want, size_t len)
{
	static u8 got[0x4000];

	assert_true(bus_ram_read(&rig->bus, (hpa_t){ hpa }, got, len));
	assert_memory_equal(got, want, len);
}

static void test_dma_write__across_pages__one_request_a_page(void **state)
{
	RIG;
	const struct trace_event *ev;

	rig->fn.io_id = 42;
	dma_write(rig, WINDOW + 0x1F00, buf, 0x1200);
	assert_int_equal(unit.translations, 3);
	assert_int_equal(unit.translated[0].iova, WINDOW + 0x1F00);
	assert_int_equal(unit.translated[1].iova, WINDOW + 0x2000);
	assert_int_equal(unit.translated[2].iova, WINDOW + 0x3000);
	assert_int_equal(unit.translated[2].rid, RIG_RID);
	assert_true(unit.translated[2].write);
	assert_memory_is(rig, 0x1F00, buf, 0x1200);
	assert_int_equal(rig_count(rig, TRACE_DMA), 3);
	ev = rig_event(rig, TRACE_DMA, 2);
	assert_int_equal(ev->a, RIG_RID | 1 << 16);
	assert_int_equal(ev->b, WINDOW + 0x3000);
	assert_int_equal(ev->c, 0x3000);
	assert_int_equal(ev->d, 0x100);
	assert_int_equal(ev->io_id, 42);
}

static void test_dma_read__across_pages__one_request_a_page(void **state)
{
	RIG;
	u8 got[0x1200];

	assert_true(bus_ram_write(&rig->bus, (hpa_t){ 0x1F00 }, buf, sizeof(got)));
	assert_true(dma_read(rig, WINDOW + 0x1F00, got, sizeof(got)));
	assert_memory_equal(got, buf, sizeof(got));
	assert_int_equal(unit.translations, 3);
	assert_false(unit.translated[1].write);
	assert_int_equal(rig_event(rig, TRACE_DMA, 0)->a, RIG_RID);
	assert_int_equal(rig_event(rig, TRACE_DMA, 0)->d, 0x100);
}

static void test_dma_read__blocked_page__fails_and_asks_no_more(void **state)
{
	RIG;
	u8 got[0x3000];

	assert_false(dma_read(rig, HOLE - 0x1000, got, sizeof(got)));
	assert_int_equal(unit.translations, 2);
	assert_int_equal(rig_count(rig, TRACE_DMA), 1);
	assert_int_equal(rig_count(rig, TRACE_DMA_NO_TARGET), 0);
}

static void test_dma_write__blocked_page__dropped_and_the_rest_written(void **state)
{
	RIG;
	u8 zeros[0x1000] = { 0 };

	dma_write(rig, HOLE - 0x1000, buf, 0x3000);
	assert_int_equal(unit.translations, 3);
	assert_memory_is(rig, 0x4000, buf, 0x1000);
	assert_memory_is(rig, 0x5000, zeros, 0x1000);
	assert_memory_is(rig, 0x6000, buf + 0x2000, 0x1000);
	assert_int_equal(rig_cfg_read(rig, 0x06, 2), 0x0010);
}

static void test_dma__target_is_no_memory__read_fails_write_dropped(void **state)
{
	RIG;
	u32 val = 0;

	assert_false(dma_read(rig, WINDOW + RIG_RAM_SIZE, &val, 4));
	dma_write(rig, WINDOW + RIG_RAM_SIZE, &val, 4);
	assert_int_equal(rig_count(rig, TRACE_DMA_NO_TARGET), 2);
	assert_int_equal(rig_event(rig, TRACE_DMA_NO_TARGET, 0)->a, RIG_RID);
	assert_int_equal(rig_event(rig, TRACE_DMA_NO_TARGET, 1)->a, RIG_RID | 1 << 16);
	assert_int_equal(rig_event(rig, TRACE_DMA_NO_TARGET, 1)->b, WINDOW + RIG_RAM_SIZE);
	assert_int_equal(rig_event(rig, TRACE_DMA_NO_TARGET, 1)->c, RIG_RAM_SIZE);
	assert_int_equal(rig_count(rig, TRACE_DMA), 0);
}

static void test_dma__own_or_peer_registers__never_reached(void **state)
{
	RIG;
	u32 val = 0;

	/* Were a BAR mapped by mistake (GPA-12): still no register is touched. */
	rig_cfg_write(rig, 0x10, 0x10000000, 4);
	dma_write(rig, WINDOW + 0x10001000, &val, 4);
	assert_false(dma_read(rig, WINDOW + 0x10001000, &val, 4));
	assert_int_equal(rig->reads + rig->writes, 0);
	assert_int_equal(rig_count(rig, TRACE_DMA_NO_TARGET), 2);
}

static void test_dma__bus_master_off__read_fails_write_dropped(void **state)
{
	RIG;
	u32 val = 0x12345678, zero = 0;

	rig_cfg_write(rig, 0x04, 0x0002, 2);
	dma_write(rig, WINDOW + 0x2000, &val, 4);
	dma_write(rig, 0xFEE00000, &val, 4);
	assert_false(dma_read(rig, WINDOW + 0x2000, &val, 4));
	assert_memory_is(rig, 0x2000, &zero, 4);
	assert_int_equal(unit.translations + unit.interrupts + unit.blocks, 0);
}

static void test_dma__latency_of_the_iommu__is_in_the_time(void **state)
{
	RIG;
	u64 done = 0;

	assert_true(pci_dma_read(&rig->fn, (iova_t){ WINDOW }, buf, 8, &done));
	assert_int_equal(done, 280000);
	done = 1000;
	pci_dma_write(&rig->fn, (iova_t){ WINDOW + 0x1F00 }, buf, 0x1200, &done);
	assert_int_equal(done, 1000 + 3 * 280000);
}

static void test_dma__past_the_end_of_addresses__does_not_wrap(void **state)
{
	RIG;
	u8 got[8], zeros[8] = { 0 };

	dma_write(rig, ~0ULL - 3, buf, 8);
	assert_memory_is(rig, 0x8FFC, buf, 4);
	assert_memory_is(rig, 0x9000, zeros, 4);
	assert_memory_is(rig, 0, zeros, 8);
	assert_false(dma_read(rig, ~0ULL - 3, got, 8));
	assert_true(dma_read(rig, ~0ULL - 3, got, 4));
	assert_memory_equal(got, buf, 4);
	assert_int_equal(unit.translations, 3);
}

static void test_dma__near_the_end_of_addresses__exact_length(void **state)
{
	RIG;
	u8 zero = 0;

	dma_write(rig, ~0ULL - 4, buf, 4);
	assert_memory_is(rig, 0x8FFB, buf, 4);
	assert_memory_is(rig, 0x8FFF, &zero, 1);
	assert_true(dma_read(rig, ~0ULL - 4, buf, 4));
}

static void test_dma_store__both_ways__content_moves(void **state)
{
	RIG;
	struct store *medium = store_new(0x100000, STORE_NO_BUDGET, 0);
	u64 done = 0;

	for (u64 i = 0; i < 16; i++)
		store_write_tag(medium, i * 512, 1000 + i);
	pci_dma_from_store(&rig->fn, (iova_t){ WINDOW + 0x2000 }, medium, 0, 0x2000, &done);
	assert_int_equal(unit.translations, 2);
	for (u64 i = 0; i < 16; i++)
		assert_true(store_sector_is(rig->memory, 0x2000 + i * 512, 1000 + i));
	assert_true(pci_dma_to_store(&rig->fn, (iova_t){ WINDOW + 0x2000 }, medium, 0x8000, 0x2000, &done));
	assert_true(store_equal(medium, 0, medium, 0x8000, 0x2000));
	/* Odd offsets in memory: bytes, split at the page. */
	assert_true(pci_dma_to_store(&rig->fn, (iova_t){ WINDOW + 0x2F04 }, medium, 0x10000, 0x200, &done));
	assert_true(store_equal(medium, 0xF04, medium, 0x10000, 0x200));
	store_free(medium);
}

static void test_dma_store__blocked__read_fails_write_dropped(void **state)
{
	RIG;
	struct store *medium = store_new(0x100000, STORE_NO_BUDGET, 0);
	u64 done = 0;

	store_write_tag(medium, 0, 7);
	store_write_tag(rig->memory, 0x5000, 8);
	pci_dma_from_store(&rig->fn, (iova_t){ HOLE }, medium, 0, 512, &done);
	assert_true(store_sector_is(rig->memory, 0x5000, 8));
	assert_false(pci_dma_to_store(&rig->fn, (iova_t){ HOLE }, medium, 0, 512, &done));
	assert_true(store_sector_is(medium, 0, 7));
	pci_dma_from_store(&rig->fn, (iova_t){ WINDOW + RIG_RAM_SIZE }, medium, 0, 512, &done);
	assert_false(pci_dma_to_store(&rig->fn, (iova_t){ WINDOW + RIG_RAM_SIZE }, medium, 0, 512, &done));
	assert_int_equal(rig_count(rig, TRACE_DMA_NO_TARGET), 2);
	store_free(medium);
}

static void assert_interrupt(unsigned int nth, u64 addr, u32 data, u32 len)
{
	assert_true(nth < unit.interrupts);
	assert_int_equal(unit.interrupt[nth].rid, RIG_RID);
	assert_int_equal(unit.interrupt[nth].addr, addr);
	assert_int_equal(unit.interrupt[nth].data, data);
	assert_int_equal(unit.interrupt[nth].len, len);
}

static void test_interrupt_range__dword_write__is_a_request(void **state)
{
	RIG;
	u32 data = 0x2;

	dma_write(rig, 0xFEE00218, &data, 4);
	dma_write(rig, 0xFEEFFFFC, &data, 4);
	assert_int_equal(unit.interrupts, 2);
	assert_interrupt(0, 0xFEE00218, 0x2, 4);
	assert_interrupt(1, 0xFEEFFFFC, 0x2, 4);
	assert_int_equal(unit.translations, 0);
}

static void test_interrupt_range__just_outside__is_memory(void **state)
{
	RIG;
	u32 data = 0x2;

	dma_write(rig, 0xFEDFFFFC, &data, 4);
	dma_write(rig, 0xFEF00000, &data, 4);
	dma_write(rig, 0x1FEE00218ULL, &data, 4);
	assert_int_equal(unit.interrupts, 0);
	assert_int_equal(unit.translations, 3);
}

/* INT-01: four bytes left in the page are a request of their own; PRP2's page follows. */
static void test_interrupt_range__first_fragment_of_four_bytes__is_a_request(void **state)
{
	RIG;
	u32 first = 0x00017F93;

	memcpy(buf, &first, 4);
	dma_write(rig, 0xFEE00FFC, buf, 4);
	dma_write(rig, WINDOW + 0x3000, buf + 4, 508);
	assert_int_equal(unit.interrupts, 1);
	assert_interrupt(0, 0xFEE00FFC, 0x00017F93, 4);
	assert_memory_is(rig, 0x3000, buf + 4, 508);
	/* The same as one write: the second page's part is no dword. */
	dma_write(rig, 0xFEE00FFC, buf, 16);
	assert_int_equal(unit.interrupts, 3);
	assert_interrupt(1, 0xFEE00FFC, 0x00017F93, 4);
	assert_int_equal(unit.interrupt[2].addr, 0xFEE01000);
	assert_int_equal(unit.interrupt[2].len, 12);
}

/* INT-06: a burst is never several interrupts. */
static void test_interrupt_range__burst__is_no_dword_write(void **state)
{
	RIG;

	dma_write(rig, 0xFEE00000, buf, 512);
	assert_int_equal(unit.interrupts, 2);		/* payloads of 256 bytes */
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(unit.interrupt[i].len, 256);
	dma_write(rig, 0xFEE00000, buf, 2);
	dma_write(rig, 0xFEE00000, buf, 8);
	assert_int_equal(unit.interrupt[2].len, 2);
	assert_int_equal(unit.interrupt[3].len, 8);
	/* Four bytes across two dwords. */
	dma_write(rig, 0xFEE00002, buf, 4);
	assert_int_not_equal(unit.interrupt[4].len, 4);
	assert_int_equal(unit.translations, 0);
}

static void test_interrupt_range__payload_limit_leaves_a_dword__is_a_request(void **state)
{
	RIG;
	u32 last;

	dma_write(rig, 0xFEE00000, buf, 260);
	memcpy(&last, buf + 256, 4);
	assert_int_equal(unit.interrupts, 2);
	assert_int_equal(unit.interrupt[0].len, 256);
	assert_interrupt(1, 0xFEE00100, last, 4);
}

static void test_interrupt_range__dword_from_a_store__is_a_request(void **state)
{
	RIG;
	struct store *medium = store_new(0x100000, STORE_NO_BUDGET, 0);
	u32 first = 0xA5A50011, last = 0x5A5A0022;
	u64 done = 0;

	store_write(medium, 0x100, &first, 4);
	store_write(medium, 0x200, &last, 4);
	pci_dma_from_store(&rig->fn, (iova_t){ 0xFEE00250 }, medium, 0x100, 4, &done);
	pci_dma_from_store(&rig->fn, (iova_t){ 0xFEE00250 }, medium, 0x100, 260, &done);
	assert_int_equal(unit.interrupts, 3);
	assert_interrupt(0, 0xFEE00250, first, 4);
	assert_interrupt(1, 0xFEE00250, first, 256);
	assert_interrupt(2, 0xFEE00350, last, 4);
	store_free(medium);
}

static void test_interrupt_range__read__blocked_with_no_read_permission(void **state)
{
	RIG;

	assert_false(dma_read(rig, 0xFEE00000, buf, 512));
	assert_int_equal(unit.blocks, 1);
	assert_int_equal(unit.blocked.rid, RIG_RID);
	assert_int_equal(unit.blocked.iova, 0xFEE00000);
	assert_false(unit.blocked.write);
	assert_int_equal(unit.blocked.reason, 0x06);
	assert_int_equal(unit.translations + unit.interrupts, 0);
}

static void test_message__of_the_table__goes_to_the_remapper(void **state)
{
	RIG;

	rig_cfg_write(rig, rig_find_cap(rig, 0x11) + 2, 0x8000, 2);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE }, 0xFEE00290, 8);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE + 8 }, 0x3, 8);
	pci_msix_notify(&rig->fn, 0);
	assert_int_equal(unit.interrupts, 1);
	assert_interrupt(0, 0xFEE00290, 0x3, 4);
	/* INT-11: with a high dword the remapper is asked too, and sees it. */
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE + 4 }, 0x1, 4);
	pci_msix_notify(&rig->fn, 0);
	assert_interrupt(1, 0x1FEE00290ULL, 0x3, 4);
	assert_int_equal(rig->nr_msi, 0);
}

static void test_message__aimed_at_memory__is_translated(void **state)
{
	RIG;
	u32 data = 0x1234;

	rig_cfg_write(rig, rig_find_cap(rig, 0x11) + 2, 0x8000, 2);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE }, WINDOW + 0x7000, 8);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE + 8 }, data, 8);
	pci_msix_notify(&rig->fn, 0);
	assert_int_equal(unit.interrupts, 0);
	assert_int_equal(unit.translations, 1);
	assert_memory_is(rig, 0x7000, &data, 4);
}

static void test_no_iommu__interrupt_range__dwords_reach_processors(void **state)
{
	RIG;
	u32 data = 0x41;

	rig->root.vtd = NULL;
	dma_write(rig, 0xFEE01000, &data, 4);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->msi_addr[0], 0xFEE01000);
	assert_int_equal(rig->msi_data[0], 0x41);
	dma_write(rig, 0xFEE00000, buf, 8);
	dma_write(rig, 0xFEE00002, buf, 4);
	assert_false(dma_read(rig, 0xFEE00000, buf, 4));
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig_count(rig, TRACE_DMA_NO_TARGET), 3);
	rig->root.msi = NULL;
	dma_write(rig, 0xFEE01000, &data, 4);
	assert_int_equal(rig->nr_msi, 1);
}

static void test_no_iommu__address__is_the_address(void **state)
{
	RIG;
	u8 got[0x1200];

	rig->root.vtd = NULL;
	dma_write(rig, RIG_HIGH_RAM + 0x80, buf, sizeof(got));
	assert_memory_is(rig, RIG_HIGH_RAM + 0x80, buf, sizeof(got));
	assert_true(dma_read(rig, RIG_HIGH_RAM + 0x80, got, sizeof(got)));
	assert_memory_equal(got, buf, sizeof(got));
}

static void test_dma__nobody_listens__no_event(void **state)
{
	RIG;

	rig->trace.mask[0] = 0;
	dma_write(rig, WINDOW, buf, 4);
	assert_int_equal(rig->nr_events, 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_dma_write__across_pages__one_request_a_page),
		T(test_dma_read__across_pages__one_request_a_page),
		T(test_dma_read__blocked_page__fails_and_asks_no_more),
		T(test_dma_write__blocked_page__dropped_and_the_rest_written),
		T(test_dma__target_is_no_memory__read_fails_write_dropped),
		T(test_dma__own_or_peer_registers__never_reached),
		T(test_dma__bus_master_off__read_fails_write_dropped),
		T(test_dma__latency_of_the_iommu__is_in_the_time),
		T(test_dma__past_the_end_of_addresses__does_not_wrap),
		T(test_dma__near_the_end_of_addresses__exact_length),
		T(test_dma_store__both_ways__content_moves),
		T(test_dma_store__blocked__read_fails_write_dropped),
		T(test_interrupt_range__dword_write__is_a_request),
		T(test_interrupt_range__just_outside__is_memory),
		T(test_interrupt_range__first_fragment_of_four_bytes__is_a_request),
		T(test_interrupt_range__burst__is_no_dword_write),
		T(test_interrupt_range__payload_limit_leaves_a_dword__is_a_request),
		T(test_interrupt_range__dword_from_a_store__is_a_request),
		T(test_interrupt_range__read__blocked_with_no_read_permission),
		T(test_message__of_the_table__goes_to_the_remapper),
		T(test_message__aimed_at_memory__is_translated),
		T(test_no_iommu__interrupt_range__dwords_reach_processors),
		T(test_no_iommu__address__is_the_address),
		T(test_dma__nobody_listens__no_event),
	};

	return cmocka_run_group_tests_name("pci_dma", tests, NULL, NULL);
}
