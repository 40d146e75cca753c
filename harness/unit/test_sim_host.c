// SPDX-License-Identifier: GPL-2.0
/*
 * The host's frames, and VT-d tables as it builds them: the unit itself says what they mean
 * (VT-d 3.7, 6.2, 7.1).
 */
#include "core_world.h"
#include "liov/port_host.h"
#include "spec/vtd.h"

#define PAGE 0x1000ull
#define TWO_MIB 0x200000ull
#define IOVA (1ull << 41)		/* nothing of LightIOV's there */
#define RW (PORT_READ | PORT_WRITE)

/* --- frames --- */

static struct { u64 a, len, owner, taken; } told;

static void frames_event(void *opaque, const struct trace_event *ev)
{
	(void)opaque;
	told.a = ev->a;
	told.len = ev->b;
	told.owner = ev->c;
	told.taken = ev->d;
}

static struct machine *new_machine(void)
{
	struct machine_config cfg;
	struct machine *m;
	u64 mask[2] = { 0 };

	machine_config_defaults(&cfg);
	cfg.high_ram_bytes = 1 << 30;
	m = machine_new(&cfg);
	assert_non_null(m);
	trace_mask_add(mask, SIM_TRACE_FRAMES);
	machine_listen(m, mask, frames_event, NULL);
	return m;
}

#define BASE MACHINE_HIGH_RAM

static u64 take(struct machine *m, struct host_frames *f, u64 len, u64 align)
{
	return host_frames_take(m->host, f, len, align, 7).v;
}

static void give(struct machine *m, struct host_frames *f, u64 at, u64 len)
{
	host_frames_give(m->host, f, (hpa_t){ at }, len);
}

static void test_frames__first_fit__lowest_zeroed_and_told(void **state)
{
	struct machine *m = new_machine();
	struct host_frames f = { .free = { { BASE, 16 * PAGE } }, .nr = 1 };

	(void)state;
	store_write_tag(m->memory, BASE + PAGE, 0x1234);
	assert_int_equal(take(m, &f, PAGE, PAGE), BASE);
	assert_int_equal(take(m, &f, 3 * PAGE, PAGE), BASE + PAGE);
	assert_true(store_sector_is(m->memory, BASE + PAGE, STORE_TAG_ZERO));
	assert_int_equal(told.a, BASE + PAGE);
	assert_int_equal(told.len, 3 * PAGE);
	assert_int_equal(told.owner, 7);
	assert_int_equal(told.taken, 1);
	/* What was freed is the first to be used again, by who fits. */
	give(m, &f, BASE, PAGE);
	assert_int_equal(told.a, BASE);
	assert_int_equal(told.taken, 0);
	assert_int_equal(take(m, &f, 2 * PAGE, PAGE), BASE + 4 * PAGE);
	assert_int_equal(take(m, &f, PAGE, PAGE), BASE);
	/* Aligned: what lies before stays free. */
	assert_int_equal(take(m, &f, PAGE, 8 * PAGE), BASE + 8 * PAGE);
	assert_int_equal(take(m, &f, 2 * PAGE, PAGE), BASE + 6 * PAGE);
	assert_int_equal(take(m, &f, 8 * PAGE, PAGE), ~0ull);
	assert_int_equal(take(m, &f, 7 * PAGE, PAGE), BASE + 9 * PAGE);
	assert_int_equal(f.nr, 0);
	assert_int_equal(take(m, &f, PAGE, PAGE), ~0ull);
	machine_free(m);
}

static void test_frames__given_back_in_any_order__one_range_again(void **state)
{
	static const u8 orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct machine *m = new_machine();
	struct host_frames f = { .free = { { BASE, 3 * PAGE } }, .nr = 1 };
	u32 i, k;

	(void)state;
	for (i = 0; i < 6; i++) {
		for (k = 0; k < 3; k++)
			assert_int_equal(take(m, &f, PAGE, PAGE), BASE + k * PAGE);
		for (k = 0; k < 3; k++)
			give(m, &f, BASE + orders[i][k] * PAGE, PAGE);
		assert_int_equal(f.nr, 1);
		assert_int_equal(f.free[0].start, BASE);
		assert_int_equal(f.free[0].len, 3 * PAGE);
	}
	machine_free(m);
}

/* More holes than there is room for: frames are lost, nothing else. */
static void test_frames__too_fragmented__some_are_lost(void **state)
{
	struct machine *m = new_machine();
	static struct host_frames f;
	u32 i;

	(void)state;
	f = (struct host_frames){ .free = { { BASE, 3 * HOST_FREE_MAX * PAGE } }, .nr = 1 };
	assert_int_equal(take(m, &f, 3 * HOST_FREE_MAX * PAGE, PAGE), BASE);
	for (i = 0; i < HOST_FREE_MAX + 10; i++)
		give(m, &f, BASE + 2 * i * PAGE, PAGE);
	assert_int_equal(f.nr, HOST_FREE_MAX);
	/* No room to split one. */
	assert_int_equal(take(m, &f, PAGE, PAGE), BASE);
	give(m, &f, BASE + PAGE, PAGE);
	assert_int_equal(f.nr, HOST_FREE_MAX - 1);
	assert_int_equal(take(m, &f, 2 * PAGE, PAGE), BASE + PAGE);
	machine_free(m);
}

static void test_pages__references__freed_with_the_last(void **state)
{
	struct machine *m = new_machine();
	struct port_pages p, again;
	u64 hpa;

	(void)state;
	assert_int_equal(port_pages_alloc(m->host, 3, &p), 0);
	hpa = p.hpa;
	again = p;
	port_pages_get(&p);
	port_pages_put(&p);
	assert_int_equal(told.taken, 1);
	port_pages_put(&again);
	assert_int_equal(told.taken, 0);
	assert_int_equal(told.a, hpa);
	assert_int_equal(told.len, 3 * PAGE);
	assert_int_equal(port_pages_alloc(m->host, 1 << 20, &p), -ENOMEM);
	machine_free(m);
}

/* --- VT-d --- */

static struct vtd *unit;

/* What the unit makes of a request by the SSD: an address, or ~0 where it is blocked. */
static u64 dma(u64 iova, bool write)
{
	hpa_t hpa = { 0 };
	u64 latency = 0;

	return vtd_translate(unit, MACHINE_SSD_RID, VTD_NO_PASID, (iova_t){ iova }, write, &hpa, &latency) == VTD_OK ? hpa.v : ~0ull;
}

static int map(struct world *w, u64 iova, u64 hpa, u64 len, u32 prot)
{
	return host_iommu_map(w->m->host, iova, hpa, len, prot);
}

static void small(struct world *w)
{
	unit = w->m->vtd;
	CHECK_INT(map(w, IOVA, 0x5000000, 3 * PAGE, RW), 0);
	CHECK_INT(dma(IOVA, true), 0x5000000);
	CHECK_INT(dma(IOVA + 2 * PAGE + 0x123, false), 0x5002123);
	CHECK_INT(dma(IOVA + 3 * PAGE, false), ~0ull);
	CHECK_INT(dma(IOVA - 1, false), ~0ull);
	CHECK_INT(map(w, IOVA + 0x10000, 0x6000000, PAGE, PORT_READ), 0);
	CHECK_INT(dma(IOVA + 0x10000, false), 0x6000000);
	CHECK_INT(dma(IOVA + 0x10000, true), ~0ull);
	CHECK_INT(map(w, IOVA + 0x11000, 0x6000000, PAGE, PORT_WRITE), 0);
	CHECK_INT(dma(IOVA + 0x11000, true), 0x6000000);
	CHECK_INT(dma(IOVA + 0x11000, false), ~0ull);
}

static void test_iommu_map__pages__as_allowed_and_no_further(void **state)
{
	world_run(*state, small);
}

static void refused(struct world *w)
{
	const u64 top = 1ull << 48;

	unit = w->m->vtd;
	CHECK_INT(map(w, IOVA, 0x5000000, 0, RW), -EINVAL);
	CHECK_INT(map(w, IOVA + 1, 0x5000000, PAGE, RW), -EINVAL);
	CHECK_INT(map(w, IOVA, 0x5000800, PAGE, RW), -EINVAL);
	CHECK_INT(map(w, IOVA, 0x5000000, PAGE + 4, RW), -EINVAL);
	CHECK_INT(map(w, IOVA, 0x5000000, PAGE, 0), -EINVAL);
	CHECK_INT(map(w, top, 0x5000000, PAGE, RW), -EINVAL);
	CHECK_INT(map(w, top - PAGE, 0x5000000, 2 * PAGE, RW), -EINVAL);
	/* An end that wraps is past the end, too. */
	CHECK_INT(map(w, ~0ull - PAGE + 1, 0x5000000, 2 * PAGE, RW), -EINVAL);
	CHECK_INT(map(w, PAGE, 0x5000000, ~0ull - PAGE + 1, RW), -EINVAL);
	CHECK_INT(map(w, top - PAGE, 0x5000000, PAGE, RW), 0);
	CHECK_INT(dma(top - PAGE, true), 0x5000000);

	CHECK_INT(map(w, IOVA, 0x8000000, 2 * TWO_MIB, RW), 0);
	CHECK_INT(map(w, IOVA, 0x5000000, PAGE, RW), -EBUSY);
	CHECK_INT(map(w, IOVA + TWO_MIB - PAGE, 0x5000000, PAGE, RW), -EBUSY);
	CHECK_INT(map(w, IOVA - PAGE, 0x5000000, 2 * PAGE, RW), -EBUSY);
	CHECK_INT(dma(IOVA - PAGE, false), ~0ull);	/* nothing of it was done */
	CHECK_INT(map(w, IOVA - TWO_MIB, 0x20000000, 8 * TWO_MIB, RW), -EBUSY);
	CHECK_INT(map(w, IOVA + 8 * TWO_MIB + PAGE, 0x5000000, PAGE, RW), 0);
	CHECK_INT(map(w, IOVA + 8 * TWO_MIB, 0x8000000, TWO_MIB, RW), -EBUSY);
	CHECK_INT(map(w, IOVA + 2 * TWO_MIB, 0x8000000, 20 * TWO_MIB, RW), -EBUSY);
	CHECK_INT(map(w, IOVA + 2 * TWO_MIB, 0x8000000, 6 * TWO_MIB, RW), 0);
}

static void test_iommu_map__bad_or_taken__refused(void **state)
{
	world_run(*state, refused);
}

static u64 leaf_entry(struct world *w, u64 iova, unsigned int level)
{
	u64 table = w->m->host->space[0].top.v, e = 0;
	unsigned int l;
	bool ok;

	for (l = 4; l >= level; l--) {
		e = bus_rd64(&w->m->bus, (hpa_t){ table + VTD_LEVEL_INDEX(iova, l) * 8 }, &ok);
		table = e & VTD_SSPTE_ADDR;
	}
	return e;
}

/* A hole in a 2 MiB leaf: the rest says what it said, page by page. */
static void splits(struct world *w)
{
	const u64 hole = IOVA + TWO_MIB + 5 * PAGE;
	u32 i;

	unit = w->m->vtd;
	CHECK_INT(map(w, IOVA, 0x8000000, 2 * TWO_MIB, RW), 0);
	CHECK(leaf_entry(w, IOVA, 2) & VTD_SSPTE_PS);
	CHECK(leaf_entry(w, IOVA + TWO_MIB, 2) & VTD_SSPTE_PS);
	CHECK_INT(dma(hole, true), 0x8000000 + TWO_MIB + 5 * PAGE);
	port_iommu_unmap(w->m->host, (iova_t){ hole }, 2 * PAGE);
	/* Until the unit is told it may use what it has (VT-d 6.5): it does. */
	CHECK_INT(dma(hole, true), 0x8000000 + TWO_MIB + 5 * PAGE);
	port_iommu_sync(w->m->host);
	for (i = 0; i < 512; i++) {
		u64 at = IOVA + TWO_MIB + i * PAGE;

		CHECK_INT(dma(at + 8, true), i == 5 || i == 6 ? ~0ull : 0x8000000 + TWO_MIB + i * PAGE + 8);
		CHECK_INT(dma(at + 8, false), i == 5 || i == 6 ? ~0ull : 0x8000000 + TWO_MIB + i * PAGE + 8);
	}
	CHECK(leaf_entry(w, IOVA, 2) & VTD_SSPTE_PS);
	CHECK_INT(dma(IOVA + TWO_MIB - 8, true), 0x8000000 + TWO_MIB - 8);

	/* Whole leaves go whole; what was never mapped does not matter. */
	port_iommu_unmap(w->m->host, (iova_t){ IOVA - TWO_MIB }, 4 * TWO_MIB);
	port_iommu_sync(w->m->host);
	for (i = 0; i < 1024; i++)
		CHECK_INT(dma(IOVA + i * PAGE, false), ~0ull);

	/* And again elsewhere: where small pages were, small pages come; both mean the same. */
	CHECK_INT(map(w, IOVA, 0x10000000, 2 * TWO_MIB, RW), 0);
	CHECK_INT(dma(IOVA, true), 0x10000000);
	CHECK_INT(dma(hole, true), 0x10000000 + TWO_MIB + 5 * PAGE);
	CHECK_INT(dma(IOVA + 2 * TWO_MIB - 1, true), 0x10000000 + 2 * TWO_MIB - 1);
}

static void test_iommu_unmap__hole_in_a_large_leaf__the_rest_stays(void **state)
{
	world_run(*state, splits);
}

static void read_only_split(struct world *w)
{
	unit = w->m->vtd;
	CHECK_INT(map(w, IOVA, 0x8000000, TWO_MIB, PORT_READ), 0);
	port_iommu_unmap(w->m->host, (iova_t){ IOVA }, PAGE);
	port_iommu_sync(w->m->host);
	CHECK_INT(dma(IOVA + PAGE, false), 0x8000000 + PAGE);
	CHECK_INT(dma(IOVA + PAGE, true), ~0ull);
}

static void test_iommu_unmap__read_only_leaf_split__stays_read_only(void **state)
{
	world_run(*state, read_only_split);
}

static void guest_memory(struct world *w)
{
	struct port_vm *vm;
	hpa_t hpa = { 0 };

	unit = w->m->vtd;
	CHECK_INT(world_vm(w, 1, 1, &vm), 0);
	if (w->failed_line)
		return;
	CHECK(vm_gpa_to_hpa(vm, (gpa_t){ (1ull << 32) + 0x3000 }, PAGE, &hpa));
	CHECK_INT(port_iommu_map_vm(w->m->host, (iova_t){ IOVA }, vm, (gpa_t){ (1ull << 32) + 0x3000 }, PAGE, RW), 0);
	CHECK_INT(dma(IOVA + 4, true), hpa.v + 4);
	CHECK_INT(port_iommu_map_vm(w->m->host, (iova_t){ IOVA + PAGE }, vm, (gpa_t){ (1ull << 32) + (64 << 20) - PAGE },
				    2 * PAGE, RW), -EFAULT);
	CHECK_INT(port_iommu_map_vm(w->m->host, (iova_t){ IOVA + PAGE }, vm, (gpa_t){ 0 }, PAGE, RW), -EFAULT);
	CHECK_INT(dma(IOVA + PAGE, false), ~0ull);
	/* Copies by the host see the same memory, and nothing outside. */
	CHECK_INT(port_vm_mem_rd(vm, (gpa_t){ 0 }, &hpa, 8), -EFAULT);
	CHECK_INT(port_vm_mem_rd(vm, (gpa_t){ (1ull << 32) + (64 << 20) - 4 }, &hpa, 8), -EFAULT);
	CHECK_INT(port_vm_mem_rd(vm, (gpa_t){ ~0ull - 3 }, &hpa, 8), -EFAULT);
	CHECK_INT(port_vm_mem_rd(vm, (gpa_t){ (1ull << 32) + (64 << 20) - 8 }, &hpa, 8), 0);
}

static void test_iommu_map_vm__guest_memory__only_that(void **state)
{
	world_run(*state, guest_memory);
}

/* Two tasks invalidate at once: each waits for its own, and both end (VT-d 6.5.2.8). */
static u32 synced;

static void syncs(void *arg)
{
	u32 i;

	for (i = 0; i < 200; i++)	/* more than the queue has entries */
		port_iommu_sync(arg);
	synced++;
}

static void many_syncs(struct world *w)
{
	synced = 0;
	machine_task(w->m, "a", syncs, w->m->host);
	machine_task(w->m, "b", syncs, w->m->host);
	task_sleep(100 * PS_PER_MS);
	CHECK_INT(synced, 2);
}

static void test_iommu_sync__from_two_tasks__the_queue_wraps_and_both_end(void **state)
{
	world_run(*state, many_syncs);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames__first_fit__lowest_zeroed_and_told),
		cmocka_unit_test(test_frames__given_back_in_any_order__one_range_again),
		cmocka_unit_test(test_frames__too_fragmented__some_are_lost),
		cmocka_unit_test(test_pages__references__freed_with_the_last),
		TEST(test_iommu_map__pages__as_allowed_and_no_further),
		TEST(test_iommu_map__bad_or_taken__refused),
		TEST(test_iommu_unmap__hole_in_a_large_leaf__the_rest_stays),
		TEST(test_iommu_unmap__read_only_leaf_split__stays_read_only),
		TEST(test_iommu_map_vm__guest_memory__only_that),
		TEST(test_iommu_sync__from_two_tasks__the_queue_wraps_and_both_end),
	};

	return cmocka_run_group_tests_name("sim_host", tests, NULL, NULL);
}
