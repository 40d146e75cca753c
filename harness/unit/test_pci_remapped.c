// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"
#include "pci/pci.h"

/*
 * The function behind the real remapping unit: what stops a request, what is recorded, and
 * what the device learns of it.
 */

#define BAR0 0xF0000000ULL
#define TABLE (BAR0 + 0x4000)
#define MAPPED 0x200000000ULL
#define READ_ONLY (MAPPED + 0x1000)
#define UNMAPPED (MAPPED + 0x2000)
#define TARGET 0x400000ULL

static struct fx *f;
static struct pci_root root;
static struct pci_function fn;

static u64 no_read(void *dev, unsigned int bar, u64 off, unsigned int len)
{
	(void)dev, (void)bar, (void)off, (void)len;
	return 0;
}

static void no_write(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len)
{
	(void)dev, (void)bar, (void)off, (void)val, (void)len;
}

static void no_reset(void *dev)
{
	(void)dev;
}

static const struct pci_ops ops = { .mmio_read = no_read, .mmio_write = no_write, .reset = no_reset };

static int setup(void **state)
{
	struct pci_function_config cfg = {
		.rid = FX_RID, .class_code = 0x010802,
		.bar[0] = { .size_bytes = 0x8000, .is_64bit = true },
		.msix_vectors = 65, .msix_table_off = 0x4000, .msix_pba_off = 0x5000,
		.link = { .mps_bytes = 256, .mrrs_bytes = 512 },
	};

	if (fx_setup(state))
		return -1;
	f = *state;
	pci_root_init(&root, &f->bus, f->vtd, f->sched, &f->trace);
	if (pci_function_init(&fn, &cfg, &root, &ops, NULL))
		return -1;
	pci_cfg_write(&root, FX_RID, 0x10, (u32)BAR0, 4);
	pci_cfg_write(&root, FX_RID, 0x04, 0x0006, 2);
	fx_map(f, MAPPED, TARGET, FX_RW);
	fx_map(f, READ_ONLY, TARGET + 0x1000, 1);
	return 0;
}

static bool dma_read(u64 addr, void *buf, u32 len, u64 *done)
{
	return pci_dma_read(&fn, (iova_t){ addr }, buf, len, done);
}

static void dma_write(u64 addr, const void *buf, u32 len)
{
	u64 done = 0;

	pci_dma_write(&fn, (iova_t){ addr }, buf, len, &done);
}

/* A remapped entry that only 01:00.0 may use: vector, to APIC id 3. */
static void irte(u32 index, u8 vector)
{
	fx_poke(f, FX_IRT + 16 * index, 3ULL << 32 | (u64)vector << 16 | 1);
	fx_poke(f, FX_IRT + 16 * index + 8, 1ULL << 18 | FX_RID);
}

static void remapping_on(void)
{
	fx_gcmd(f, 1U << 25, 0);
}

static void test_dma__mapped__moves_and_pays_for_the_walk_once(void **state)
{
	u32 val = 0xCAFEF00D, got = 0;
	u64 done = 0;

	(void)state;
	dma_write(MAPPED + 0x10, &val, 4);
	assert_int_equal(fx_peek(f, TARGET + 0x10), 0xCAFEF00D);
	fx_poke(f, TARGET + 0x18, 0x1234);
	assert_true(dma_read(MAPPED + 0x18, &got, 4, &done));
	assert_int_equal(got, 0x1234);
	assert_int_equal(done, 0);
	assert_true(dma_read(READ_ONLY, &got, 4, &done));
	assert_int_equal(done, FX_WALK_PS);
	assert_int_equal(fx_fault(f, FX_RID), 0);
}

static void test_dma__not_mapped__read_fails_write_is_posted(void **state)
{
	u32 val = 0xCAFEF00D;
	u64 done = 0;

	(void)state;
	assert_false(dma_read(UNMAPPED, &val, 4, &done));
	assert_int_equal(fx_fault(f, FX_RID), 0x06);
	dma_write(UNMAPPED, &val, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x05);
	dma_write(READ_ONLY, &val, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x05);
	assert_int_equal(fx_peek(f, TARGET + 0x1000), 0);
	assert_int_equal(f->count[TRACE_DMA], 0);
}

/* What is blocked is traced with the command it was blocked for: data, and an interrupt made by it. */
static void test_dma__blocked__trace_names_the_command(void **state)
{
	u32 val = 0;
	u64 done = 0;

	(void)state;
	fn.io_id = 7ULL << 48 | 3;
	dma_write(UNMAPPED, &val, 4);
	assert_int_equal(f->last[TRACE_VTD_FAULT].io_id, 7ULL << 48 | 3);
	remapping_on();
	dma_write(0xFEE00010 | 9 << 5, &val, 4);
	assert_int_equal(f->count[TRACE_IRTE_FAULT], 1);
	assert_int_equal(f->last[TRACE_IRTE_FAULT].io_id, 7ULL << 48 | 3);
	fn.io_id = 0;
	assert_false(dma_read(UNMAPPED, &val, 4, &done));
	assert_int_equal(f->last[TRACE_VTD_FAULT].io_id, 0);
}

static void test_dma__mapped_to_a_bar__has_no_target(void **state)
{
	u32 val = 0;
	u64 done = 0;

	(void)state;
	fx_map(f, UNMAPPED, BAR0, FX_RW);
	assert_false(dma_read(UNMAPPED, &val, 4, &done));
	dma_write(UNMAPPED, &val, 4);
	assert_int_equal(f->count[TRACE_DMA_NO_TARGET], 2);
	assert_int_equal(f->last[TRACE_DMA_NO_TARGET].c, BAR0);
}

static void test_interrupt_range__data_names_a_present_entry__is_delivered(void **state)
{
	u32 data = 0x2;

	(void)state;
	irte(0x12, 0x41);
	remapping_on();
	/* INT-02: handle 0x10 with subhandle 2. */
	dma_write(0xFEE00218, &data, 4);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].vector, 0x41);
	assert_int_equal(f->irq[0].dest, 3);
}

static void test_interrupt_range__index_past_the_table__is_blocked(void **state)
{
	u8 data[512] = { 0x93, 0x7F };

	(void)state;
	irte(0x12, 0x41);
	remapping_on();
	/* INT-03: 0x807F + 0x7F93 = 0x10012. */
	dma_write(0xFEE00FFC, data, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x21);
	assert_int_equal(f->nr_irq, 0);
}

static void test_interrupt_range__burst_or_read__is_blocked(void **state)
{
	u8 data[512] = { 0 };
	u64 done = 0;

	(void)state;
	irte(0, 0x41);
	remapping_on();
	dma_write(0xFEE00010, data, 512);
	assert_int_equal(fx_fault(f, FX_RID), 0x20);
	dma_write(0xFEE00012, data, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x20);
	assert_false(dma_read(0xFEE00010, data, 512, &done));
	assert_int_equal(fx_fault(f, FX_RID), 0x06);
	assert_int_equal(f->nr_irq, 0);
}

static void msix_arm(u64 addr, u32 data)
{
	pci_cfg_write(&root, FX_RID, fn.cap_msix + 2U, 0x8000, 2);
	bus_cpu_write(&f->bus, (hpa_t){ TABLE + 16 * 4 }, addr, 8);
	bus_cpu_write(&f->bus, (hpa_t){ TABLE + 16 * 4 + 8 }, data, 8);
}

static void test_message__remappable__uses_the_functions_source_id(void **state)
{
	(void)state;
	irte(0x14, 0x55);
	remapping_on();
	msix_arm(0xFEE00290, 0);
	pci_msix_notify(&fn, 4);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].vector, 0x55);
	/* The same message of another function: source-id check. */
	fx_poke(f, FX_IRT + 16 * 0x15, 3ULL << 32 | 0x560001);
	fx_poke(f, FX_IRT + 16 * 0x15 + 8, 1ULL << 18 | 0x0200);
	msix_arm(0xFEE002B0, 0);
	pci_msix_notify(&fn, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x26);
	assert_int_equal(f->nr_irq, 1);
}

static void test_message__compatibility_format__blocked(void **state)
{
	(void)state;
	remapping_on();
	msix_arm(0xFEE03000, 0x31);
	pci_msix_notify(&fn, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x25);
	assert_int_equal(f->nr_irq, 0);
}

static void test_message__high_dword__blocked(void **state)
{
	(void)state;
	irte(0x12, 0x41);
	remapping_on();
	msix_arm(0x1FEE00250ULL, 0);
	pci_msix_notify(&fn, 4);
	assert_int_equal(fx_fault(f, FX_RID), 0x20);
	assert_int_equal(f->nr_irq, 0);
}

static void test_message__remapping_off__reaches_the_processor_it_names(void **state)
{
	(void)state;
	fx_gcmd(f, 0, 1U << 31);
	msix_arm(0xFEE03000, 0x31);
	pci_msix_notify(&fn, 4);
	assert_int_equal(f->nr_irq, 1);
	assert_int_equal(f->irq[0].dest, 3);
	assert_int_equal(f->irq[0].vector, 0x31);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_dma__mapped__moves_and_pays_for_the_walk_once),
		T(test_dma__not_mapped__read_fails_write_is_posted),
		T(test_dma__blocked__trace_names_the_command),
		T(test_dma__mapped_to_a_bar__has_no_target),
		T(test_interrupt_range__data_names_a_present_entry__is_delivered),
		T(test_interrupt_range__index_past_the_table__is_blocked),
		T(test_interrupt_range__burst_or_read__is_blocked),
		T(test_message__remappable__uses_the_functions_source_id),
		T(test_message__compatibility_format__blocked),
		T(test_message__high_dword__blocked),
		T(test_message__remapping_off__reaches_the_processor_it_names),
	};

	return cmocka_run_group_tests_name("pci_remapped", tests, NULL, NULL);
}
