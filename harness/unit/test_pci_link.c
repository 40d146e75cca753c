// SPDX-License-Identifier: GPL-2.0
#include "pci_rig.h"

/*
 * Times worked out by hand. The link carries 4000 bytes a microsecond, so a byte takes
 * 250 ps; MPS 256, MRRS 512, 24 bytes of overhead a TLP, 480 ns a read, 250 ns of flight.
 */

#define RIG struct rig *rig = *state
#define BYTE_PS 250ULL
#define READ_PS 480000ULL
#define FLIGHT_PS 250000ULL

static u8 buf[0x20000];

static int setup(void **state)
{
	struct pci_function_config cfg = rig_config();

	cfg.link = (struct pci_link_config){
		.bytes_per_us = 4000,
		.mps_bytes = 256,
		.mrrs_bytes = 512,
		.tlp_overhead_bytes = 24,
		.read_latency_ps = READ_PS,
		.write_flight_ps = FLIGHT_PS,
	};
	if (rig_setup_with(state, &cfg, NULL))
		return -1;
	rig_enable(*state);
	return 0;
}

static u64 read_done(struct rig *rig, u64 addr, u32 len, u64 start)
{
	assert_true(pci_dma_read(&rig->fn, (iova_t){ addr }, buf, len, &start));
	return start;
}

static u64 write_done(struct rig *rig, u64 addr, u32 len, u64 start)
{
	pci_dma_write(&rig->fn, (iova_t){ addr }, buf, len, &start);
	return start;
}

static void test_link_read__64_bytes__request_latency_data(void **state)
{
	RIG;

	/* 24 bytes up, 480 ns, 64 + 24 bytes down: 6000 + 480000 + 22000. */
	assert_int_equal(read_done(rig, 0x1000, 64, 1000), 1000 + 508000);
}

static void test_link_read__4_kib__8_requests_16_completions(void **state)
{
	RIG;

	assert_int_equal(read_done(rig, 0x1000, 4096, 0), 8 * 24 * BYTE_PS + READ_PS + (4096 + 16 * 24) * BYTE_PS);
}

static void test_link_write__4_kib__16_tlps(void **state)
{
	RIG;

	/* 16 x 280 bytes: the figure of the calibration table. */
	assert_int_equal(write_done(rig, 0x1000, 4096, 0), 4480 * BYTE_PS + FLIGHT_PS);
}

static void test_link_write__crosses_a_page__a_tlp_more(void **state)
{
	RIG;

	/* 256 bytes in two pages are two TLPs. */
	assert_int_equal(write_done(rig, 0x1F80, 256, 0), (256 + 2 * 24) * BYTE_PS + FLIGHT_PS);
	/* 100 + 4096 + 200 bytes: 1 + 16 + 1. */
	assert_int_equal(write_done(rig, 0x1F9C, 4396, PS_PER_MS), PS_PER_MS + (4396 + 18 * 24) * BYTE_PS + FLIGHT_PS);
}

static void test_link__second_write__waits_for_the_first(void **state)
{
	RIG;

	assert_int_equal(write_done(rig, 0x1000, 256, 0), 70000 + FLIGHT_PS);
	assert_int_equal(write_done(rig, 0x1000, 256, 10000), 140000 + FLIGHT_PS);
	/* An idle gap is not made up for. */
	assert_int_equal(write_done(rig, 0x1000, 256, 1000000), 1070000 + FLIGHT_PS);
}

static void test_link__directions__do_not_wait_for_each_other(void **state)
{
	RIG;

	/* The read holds "up" for its request only; its data come down while the write goes up. */
	assert_int_equal(read_done(rig, 0x1000, 512, 0), 6000 + READ_PS + (512 + 48) * BYTE_PS);
	assert_int_equal(write_done(rig, 0x1000, 256, 0), 6000 + 70000 + FLIGHT_PS);
	/* A second read's data follow the first's. */
	assert_int_equal(read_done(rig, 0x1000, 512, 0), 6000 + READ_PS + 2 * (512 + 48) * BYTE_PS);
}

static void test_link__rate_does_not_divide__rounds_up(void **state)
{
	RIG;

	rig->fn.cfg.link.bytes_per_us = 3000;
	/* 88 bytes at 333.33 ps: 29333.3. */
	assert_int_equal(write_done(rig, 0x1000, 64, 0), 29334 + FLIGHT_PS);
}

static void test_link__unlimited__latency_only(void **state)
{
	RIG;

	rig->fn.cfg.link.bytes_per_us = 0;
	assert_int_equal(read_done(rig, 0x1000, 4096, 5), 5 + READ_PS);
	assert_int_equal(write_done(rig, 0x1000, 4096, 7), 7 + FLIGHT_PS);
}

static void test_link__sizes_zero__a_page_a_tlp(void **state)
{
	RIG;

	rig->fn.cfg.link.mps_bytes = 0;
	rig->fn.cfg.link.mrrs_bytes = 0;
	assert_int_equal(write_done(rig, 0x1000, 4096, 0), 4120 * BYTE_PS + FLIGHT_PS);
	assert_int_equal(read_done(rig, 0x1000, 4096, PS_PER_MS), PS_PER_MS + 6000 + READ_PS + 4120 * BYTE_PS);
}

static void test_link_read__fails__costs_a_round_trip_and_a_header(void **state)
{
	RIG;
	u64 done = 0;

	assert_false(pci_dma_read(&rig->fn, (iova_t){ 0x80000000 }, buf, 64, &done));
	assert_int_equal(done, 6000 + READ_PS + 6000);
}

static void test_link__bus_master_off__nothing_sent(void **state)
{
	RIG;
	u64 done = 77;

	rig_cfg_write(rig, 0x04, 0x0002, 2);
	assert_false(pci_dma_read(&rig->fn, (iova_t){ 0x1000 }, buf, 64, &done));
	pci_dma_write(&rig->fn, (iova_t){ 0x1000 }, buf, 64, &done);
	assert_int_equal(done, 77);
	assert_int_equal(rig->fn.up_free_ps, 0);
}

static void test_link__message__takes_28_bytes_of_up(void **state)
{
	RIG;

	rig_cfg_write(rig, rig_find_cap(rig, 0x11) + 2, 0x8000, 2);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE }, 0xFEE00000, 8);
	bus_cpu_write(&rig->bus, (hpa_t){ RIG_BAR0 + RIG_TABLE + 8 }, 0, 8);
	sched_run_until(rig->sched, 5000);
	pci_msix_notify(&rig->fn, 0);
	assert_int_equal(rig->nr_msi, 1);
	assert_int_equal(rig->fn.up_free_ps, 5000 + 28 * BYTE_PS);
}

static void test_link__4_gib_less_1__does_not_overflow(void **state)
{
	RIG;
	u64 done = 0;

	rig->fn.cfg.link.mps_bytes = 128;
	rig->fn.cfg.link.tlp_overhead_bytes = 4096;
	rig->fn.cfg.link.bytes_per_us = 1;
	/* Beyond memory: nothing is copied, all is sent: 2^25 TLPs. */
	pci_dma_write(&rig->fn, (iova_t){ 0x200000000ULL }, buf, 0xFFFFFFFF, &done);
	assert_int_equal(done, (0xFFFFFFFFULL + (1ULL << 25) * 4096) * PS_PER_US + FLIGHT_PS);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_link_read__64_bytes__request_latency_data),
		T(test_link_read__4_kib__8_requests_16_completions),
		T(test_link_write__4_kib__16_tlps),
		T(test_link_write__crosses_a_page__a_tlp_more),
		T(test_link__second_write__waits_for_the_first),
		T(test_link__directions__do_not_wait_for_each_other),
		T(test_link__rate_does_not_divide__rounds_up),
		T(test_link__unlimited__latency_only),
		T(test_link__sizes_zero__a_page_a_tlp),
		T(test_link_read__fails__costs_a_round_trip_and_a_header),
		T(test_link__bus_master_off__nothing_sent),
		T(test_link__message__takes_28_bytes_of_up),
		T(test_link__4_gib_less_1__does_not_overflow),
	};

	return cmocka_run_group_tests_name("pci_link", tests, NULL, NULL);
}
