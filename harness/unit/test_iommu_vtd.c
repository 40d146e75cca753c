// SPDX-License-Identifier: GPL-2.0
#include "iommu_fixture.h"

static void test_vtd_new__capabilities__tell_what_is_modelled(void **state)
{
	struct fx *f = *state;
	u64 cap = fx_rd64(f, 0x08), ecap = fx_rd64(f, 0x10);

	assert_int_equal(fx_rd32(f, 0x00), 0x10);
	assert_int_equal(cap >> 8 & 0x1F, 0x6);		/* SAGAW: 39 and 48 bits */
	assert_int_equal(cap >> 16 & 0x3F, 47);		/* MGAW */
	assert_int_equal((cap >> 24 & 0x3FF) * 16, FX_FRCD);
	assert_int_equal(cap >> 34 & 0xF, 3);		/* 2 MiB and 1 GiB */
	assert_int_equal(cap >> 40 & 0xFF, 7);		/* 8 records */
	assert_int_equal(cap >> 48 & 0x3F, 18);		/* MAMV */
	assert_true(cap >> 39 & 1);			/* PSI */
	assert_true(cap >> 59 & 1);			/* PI */
	assert_false(cap >> 7 & 1);			/* CM */
	assert_int_equal(ecap & 0x5F, 0x5B);		/* C, QI, IR, EIM, PT; no DT */
	assert_int_equal((ecap >> 8 & 0x3FF) * 16, 0x200);
	assert_int_equal(ecap >> 20 & 0xF, 15);
}

static void test_vtd_new__no_posting_no_x2apic__not_offered(void **state)
{
	struct fx *f = fx_new(false, false);
	void *own = f;

	(void)state;
	assert_false(fx_rd64(f, 0x08) >> 59 & 1);
	assert_false(fx_rd64(f, 0x10) >> 4 & 1);
	fx_teardown(&own);
}

static void test_vtd_new__bad_config__null(void **state)
{
	struct fx *f = *state;
	struct vtd_irq_sink sink = { .deliver = fx_deliver, .opaque = f };
	struct vtd_config cfg = { .reg_base = { FX_REGS } };

	assert_null(vtd_new(&cfg, &f->bus, f->sched, &f->trace, &sink));	/* taken */
	cfg = (struct vtd_config){ .reg_base = { 0xFED91800 } };
	assert_null(vtd_new(&cfg, &f->bus, f->sched, &f->trace, &sink));
	cfg = (struct vtd_config){ .reg_base = { 0xFED92000 }, .iotlb_sets = 3 };
	assert_null(vtd_new(&cfg, &f->bus, f->sched, &f->trace, &sink));
	cfg.iotlb_sets = 128;
	assert_null(vtd_new(&cfg, &f->bus, f->sched, &f->trace, &sink));
	cfg = (struct vtd_config){ .reg_base = { 0xFED92000 }, .mgaw_bits = 49 };
	assert_null(vtd_new(&cfg, &f->bus, f->sched, &f->trace, &sink));
}

static void test_regs__odd_accesses__dropped(void **state)
{
	struct fx *f = *state;

	bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + 0x3C }, 0x11, 1);
	bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + 0x3C }, 0x1111, 2);
	bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + 0x3E }, 0x11111111, 4);
	bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + 0x3C }, 0x1111111111111111, 8);
	assert_int_equal(fx_rd32(f, 0x3C), 0);
	assert_int_equal(bus_cpu_read(&f->bus, (hpa_t){ FX_REGS + 0x08 }, 2), 0xFFFF);
	assert_int_equal(fx_rd32(f, 0xFFC), 0);
}

static void test_regs__read_only__not_written(void **state)
{
	struct fx *f = *state;
	u64 cap = fx_rd64(f, 0x08), ecap = fx_rd64(f, 0x10);
	u32 gsts = fx_rd32(f, 0x1C);

	fx_wr64(f, 0x08, 0);
	fx_wr64(f, 0x10, 0);
	fx_wr32(f, 0x1C, 0);
	fx_wr64(f, 0x80, 0x7FFF0);
	fx_wr32(f, FX_FSTS, 0);
	assert_int_equal(fx_rd64(f, 0x08), cap);
	assert_int_equal(fx_rd64(f, 0x10), ecap);
	assert_int_equal(fx_rd32(f, 0x1C), gsts);
	assert_int_equal(fx_rd64(f, 0x80), 0);
	assert_int_equal(fx_rd32(f, 0x18), 0);
}

static void test_regs__halves__written_apart(void **state)
{
	struct fx *f = *state;

	fx_wr32(f, 0x24, 0x1);
	fx_wr32(f, 0x20, 0x5FFF);
	assert_int_equal(fx_rd64(f, 0x20), 0x100005C00ULL);	/* TTM and address; 9:0 reserved */
	assert_int_equal(fx_rd32(f, 0x24), 0x1);
}

/* 11.4.7.5, 11.4.9.8: the upper addresses of event messages are there with extended interrupt mode only. */
static void test_regs__upper_addresses__with_eim_only(void **state)
{
	struct fx *f = *state, *without = fx_new(false, false);
	void *own = without;

	fx_wr32(f, 0x44, 0x100);
	fx_wr32(f, 0xAC, 0x100);
	assert_int_equal(fx_rd32(f, 0x44), 0x100);
	assert_int_equal(fx_rd32(f, 0xAC), 0x100);
	fx_wr32(without, 0x44, 0x100);
	fx_wr32(without, 0xAC, 0x100);
	fx_wr64(without, 0x40, 0x100FEE00000ULL);
	assert_int_equal(fx_rd64(without, 0x40), 0xFEE00000);
	assert_int_equal(fx_rd32(without, 0xAC), 0);
	fx_teardown(&own);
}

static void test_gcmd__bits__status_follows(void **state)
{
	struct fx *f = *state;

	assert_int_equal(fx_rd32(f, 0x1C), 1U << 31 | 1U << 30 | 1U << 26 | 1U << 24);
	fx_gcmd(f, 1U << 25, 0);
	fx_gcmd(f, 1U << 23, 0);
	assert_int_equal(fx_rd32(f, 0x1C), 1U << 31 | 1U << 30 | 1U << 26 | 1U << 25 | 1U << 24 | 1U << 23);
	fx_gcmd(f, 1U << 27, 0);				/* WBF: nothing to flush, nothing shown */
	fx_gcmd(f, 0, 1U << 23);
	fx_gcmd(f, 0, 1U << 31);
	assert_int_equal(fx_rd32(f, 0x1C), 1U << 30 | 1U << 26 | 1U << 25 | 1U << 24);
}

static void test_gcmd__root_pointer__taken_at_srtp_only(void **state)
{
	struct fx *f = *state;

	fx_map(f, 0x5000, 0x700000, FX_RW);
	fx_wr64(f, 0x20, 0x9000);				/* an empty page */
	assert_dma_ok(f, 0x5000, true, 0x700000);
	fx_gcmd(f, 1U << 30, 0);
	assert_dma_ok(f, 0x5000, true, 0x700000);		/* caches are not SRTP's business */
	fx_invalidate(f, FX_CTX_GLOBAL, 0);
	assert_dma_fault(f, 0x5000, true, 0x1);
}

static void test_translate__off__address_itself(void **state)
{
	struct fx *f = *state;

	fx_gcmd(f, 0, 1U << 31);
	assert_dma_ok(f, 0x123456789, true, 0x123456789);
	assert_int_equal(f->latency_ps, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FX_TEST(test_vtd_new__capabilities__tell_what_is_modelled),
		cmocka_unit_test(test_vtd_new__no_posting_no_x2apic__not_offered),
		FX_TEST(test_vtd_new__bad_config__null),
		FX_TEST(test_regs__odd_accesses__dropped),
		FX_TEST(test_regs__read_only__not_written),
		FX_TEST(test_regs__halves__written_apart),
		FX_TEST(test_regs__upper_addresses__with_eim_only),
		FX_TEST(test_gcmd__bits__status_follows),
		FX_TEST(test_gcmd__root_pointer__taken_at_srtp_only),
		FX_TEST(test_translate__off__address_itself),
	};

	return cmocka_run_group_tests_name("iommu_vtd", tests, NULL, NULL);
}
