// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "bus.h"
#include "sim/store.h"

struct world {
	struct store *memory;
	struct bus bus;
	u64 off, val;
	unsigned int len, reads, writes;
};

static u64 dev_read(void *opaque, u64 off, unsigned int len)
{
	struct world *w = opaque;

	w->reads++;
	w->off = off;
	w->len = len;
	return 0xA5A5A5A5DEADBEEFULL;
}

static void dev_write(void *opaque, u64 off, u64 val, unsigned int len)
{
	struct world *w = opaque;

	w->writes++;
	w->off = off;
	w->val = val;
	w->len = len;
}

static const struct bus_mmio_ops dev_ops = { .read = dev_read, .write = dev_write };

static int setup(void **state)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.memory = store_new(0x200000, STORE_NO_BUDGET, 0);
	bus_init(&w.bus, w.memory);
	*state = &w;
	return bus_add_ram(&w.bus, 0x1000, 0xF000) || bus_add_ram(&w.bus, 0x100000, 0x10000);
}

static int teardown(void **state)
{
	store_free(((struct world *)*state)->memory);
	return 0;
}

static void test_bus_add_ram__overlapping_or_wrapping__refused(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_add_ram(&w->bus, 0xF000, 0x2000), -1);
	assert_int_equal(bus_add_ram(&w->bus, 0, 0x1001), -1);
	assert_int_equal(bus_add_ram(&w->bus, 0, 0), -1);
	assert_int_equal(bus_add_ram(&w->bus, ~0ULL - 0xFFF, 0x2000), -1);
	assert_int_equal(bus_map_mmio(&w->bus, 0x20000, 0x1000, &dev_ops, w), 0);
	assert_int_equal(bus_add_ram(&w->bus, 0x1F000, 0x1001), -1);
	assert_int_equal(bus_add_ram(&w->bus, 0, 0x1000), 0);
}

static void test_bus_add_ram__table_full__refused(void **state)
{
	struct world *w = *state;

	for (u64 i = 2; i < BUS_RAM_MAX; i++)
		assert_int_equal(bus_add_ram(&w->bus, 0x1000000 + i * 0x2000, 0x1000), 0);
	assert_int_equal(bus_add_ram(&w->bus, 0x2000000, 0x1000), -1);
}

static void test_bus_is_ram__edges__exact(void **state)
{
	struct world *w = *state;

	assert_true(bus_is_ram(&w->bus, (hpa_t){ 0x1000 }, 0xF000));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0x1000 }, 0xF001));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0xFFF }, 2));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0x10000 }, 1));
	assert_true(bus_is_ram(&w->bus, (hpa_t){ 0x10FFFF }, 1));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0x10FFFF }, 2));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ ~0ULL }, 1));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0x2000 }, ~0ULL));
}

static void test_bus_is_ram__adjacent_ranges__are_one(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_add_ram(&w->bus, 0, 0x1000), 0);
	assert_true(bus_is_ram(&w->bus, (hpa_t){ 0x800 }, 0x1000));
	assert_true(bus_is_ram(&w->bus, (hpa_t){ 0 }, 0x10000));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0 }, 0x10001));
}

static void test_bus_is_ram__up_to_the_last_address__does_not_wrap(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_add_ram(&w->bus, 0, 0x1000), 0);
	assert_int_equal(bus_add_ram(&w->bus, 0ULL - 0x1000, 0x1000), 0);
	assert_true(bus_is_ram(&w->bus, (hpa_t){ 0ULL - 0x10 }, 0x10));
	assert_false(bus_is_ram(&w->bus, (hpa_t){ 0ULL - 0x10 }, 0x20));
}

static void test_bus_ram_read__not_memory__all_ones_and_false(void **state)
{
	struct world *w = *state;
	u8 buf[4] = { 0 }, ones[4] = { 0xFF, 0xFF, 0xFF, 0xFF };

	assert_int_equal(bus_map_mmio(&w->bus, 0x20000, 0x1000, &dev_ops, w), 0);
	assert_false(bus_ram_read(&w->bus, (hpa_t){ 0x20000 }, buf, 4));
	assert_memory_equal(buf, ones, 4);
	assert_int_equal(w->reads, 0);
	memset(buf, 0, 4);
	assert_false(bus_ram_read(&w->bus, (hpa_t){ 0xFFFE }, buf, 4));
	assert_memory_equal(buf, ones, 4);
}

static void test_bus_ram_write__partly_outside__nothing_written(void **state)
{
	struct world *w = *state;
	u32 val = 0xCAFEF00D, back = 0;

	assert_true(bus_ram_write(&w->bus, (hpa_t){ 0xFFFC }, &val, 4));
	assert_true(bus_ram_read(&w->bus, (hpa_t){ 0xFFFC }, &back, 4));
	assert_int_equal(back, 0xCAFEF00D);
	val = 0;
	assert_false(bus_ram_write(&w->bus, (hpa_t){ 0xFFFE }, &val, 4));
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0xFFFC }, 4), 0xCAFEF00D);
}

static void test_bus_map_mmio__overlap__refused(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_map_mmio(&w->bus, 0xF000, 0x1000, &dev_ops, w), -1);
	assert_int_equal(bus_map_mmio(&w->bus, 0x20000, 0x1000, &dev_ops, w), 0);
	assert_int_equal(bus_map_mmio(&w->bus, 0x1F000, 0x2000, &dev_ops, w), -1);
	assert_int_equal(bus_map_mmio(&w->bus, 0x20FFF, 1, &dev_ops, w), -1);
	assert_int_equal(bus_map_mmio(&w->bus, 0x30000, 0, &dev_ops, w), -1);
	assert_int_equal(bus_map_mmio(&w->bus, ~0ULL, 2, &dev_ops, w), -1);
	assert_int_equal(bus_map_mmio(&w->bus, 0x21000, 0x1000, &dev_ops, w), 0);
	bus_unmap_mmio(&w->bus, 0x20000);
	assert_int_equal(bus_map_mmio(&w->bus, 0x1F000, 0x2000, &dev_ops, w), 0);
}

static void test_bus_map_mmio__table_full__refused(void **state)
{
	struct world *w = *state;

	for (u64 i = 0; i < BUS_MMIO_MAX; i++)
		assert_int_equal(bus_map_mmio(&w->bus, 0x1000000 + i * 0x1000, 0x1000, &dev_ops, w), 0);
	assert_int_equal(bus_map_mmio(&w->bus, 0x2000000, 0x1000, &dev_ops, w), -1);
	bus_unmap_mmio(&w->bus, 0x1005000);
	assert_int_equal(bus_map_mmio(&w->bus, 0x2000000, 0x1000, &dev_ops, w), 0);
}

static void test_bus_is_mmio__one_byte_inside__true(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_map_mmio(&w->bus, 0x20000, 0x1000, &dev_ops, w), 0);
	assert_true(bus_is_mmio(&w->bus, (hpa_t){ 0x1FFFF }, 2));
	assert_false(bus_is_mmio(&w->bus, (hpa_t){ 0x1FFFF }, 1));
	assert_true(bus_is_mmio(&w->bus, (hpa_t){ 0x20FFF }, 1));
	assert_false(bus_is_mmio(&w->bus, (hpa_t){ 0x21000 }, 1));
	assert_true(bus_is_mmio(&w->bus, (hpa_t){ 0 }, ~0ULL));
	assert_false(bus_is_mmio(&w->bus, (hpa_t){ 0x20000 }, 0));
}

static void test_bus_cpu__register__offset_and_width_reach_the_device(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_map_mmio(&w->bus, 0x20000, 0x1000, &dev_ops, w), 0);
	assert_int_equal(bus_map_mmio(&w->bus, 0x40000, 0x1000, &dev_ops, w), 0);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x20010 }, 4), 0xDEADBEEF);
	assert_int_equal(w->off, 0x10);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x40020 }, 1), 0xEF);
	assert_int_equal(w->off, 0x20);
	bus_cpu_write(&w->bus, (hpa_t){ 0x20FF8 }, 0x1122334455667788ULL, 8);
	assert_int_equal(w->off, 0xFF8);
	assert_int_equal(w->val, 0x1122334455667788ULL);
	bus_cpu_write(&w->bus, (hpa_t){ 0x40002 }, 0x1122334455667788ULL, 2);
	assert_int_equal(w->off, 2);
	assert_int_equal(w->val, 0x7788);
	assert_int_equal(w->len, 2);
}

static void test_bus_cpu__unmapped_register__nobody_answers(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_map_mmio(&w->bus, 0x20000, 0x1000, &dev_ops, w), 0);
	bus_cpu_read(&w->bus, (hpa_t){ 0x20000 }, 4);
	bus_unmap_mmio(&w->bus, 0x20000);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x20000 }, 4), 0xFFFFFFFF);
	bus_cpu_write(&w->bus, (hpa_t){ 0x20000 }, 1, 4);
	assert_int_equal(w->reads, 1);
	assert_int_equal(w->writes, 0);
}

static void test_bus_cpu__across_the_end_of_a_target__nobody_answers(void **state)
{
	struct world *w = *state;

	assert_int_equal(bus_map_mmio(&w->bus, 0x10000, 0x1000, &dev_ops, w), 0);
	bus_cpu_write(&w->bus, (hpa_t){ 0xFFFC }, 0, 8);
	bus_cpu_write(&w->bus, (hpa_t){ 0x10FFC }, 0, 8);
	assert_int_equal(w->writes, 0);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0xFFFC }, 8), ~0ULL);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x10FFC }, 8), ~0ULL);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x2000 }, 3), ~0ULL);
	bus_cpu_write(&w->bus, (hpa_t){ 0x2000 }, 0x010203, 3);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x2000 }, 4), 0);
}

static void test_bus_cpu__memory__little_endian(void **state)
{
	struct world *w = *state;
	u8 bytes[8];

	bus_cpu_write(&w->bus, (hpa_t){ 0x2001 }, 0x0807060504030201ULL, 8);
	assert_true(bus_ram_read(&w->bus, (hpa_t){ 0x2001 }, bytes, 8));
	for (u8 i = 0; i < 8; i++)
		assert_int_equal(bytes[i], i + 1);
	assert_int_equal(bus_cpu_read(&w->bus, (hpa_t){ 0x2003 }, 2), 0x0403);
}

static void test_bus_rd64__not_memory__zero_and_not_ok(void **state)
{
	struct world *w = *state;
	bool ok;

	assert_true(bus_wr64(&w->bus, (hpa_t){ 0x100008 }, 0x123456789ABCDEF0ULL));
	assert_int_equal(bus_rd64(&w->bus, (hpa_t){ 0x100008 }, &ok), 0x123456789ABCDEF0ULL);
	assert_true(ok);
	assert_int_equal(bus_rd64(&w->bus, (hpa_t){ 0x20000 }, &ok), 0);
	assert_false(ok);
	assert_false(bus_wr64(&w->bus, (hpa_t){ 0x20000 }, 1));
}

/* Memory that is kept elsewhere: here, in val, and only its first 8 bytes can be had. */
static bool outside_read(void *opaque, u64 addr, void *buf, size_t len_bytes)
{
	struct world *w = opaque;

	if (addr - 0x8000 > sizeof(w->val) - len_bytes)
		return false;
	memcpy(buf, (u8 *)&w->val + (addr - 0x8000), len_bytes);
	return true;
}

static bool outside_write(void *opaque, u64 addr, const void *buf, size_t len_bytes)
{
	struct world *w = opaque;

	if (addr - 0x8000 > sizeof(w->val) - len_bytes)
		return false;
	memcpy((u8 *)&w->val + (addr - 0x8000), buf, len_bytes);
	return true;
}

static void test_bus_outside__is_asked_instead_of_the_store(void **state)
{
	struct world *w = *state;
	const u8 ones[4] = { 0xFF, 0xFF, 0xFF, 0xFF };
	u8 buf[4] = { 0 };

	store_write(w->memory, 0x7FFC, "near", 4);
	w->bus.outside = (struct bus_outside){ 0x8000, 0x1000, outside_read, outside_write, w };
	assert_true(bus_ram_write(&w->bus, (hpa_t){ 0x8002 }, "abcd", 4));
	assert_memory_equal((u8 *)&w->val + 2, "abcd", 4);
	assert_true(bus_ram_read(&w->bus, (hpa_t){ 0x8002 }, buf, 4));
	assert_memory_equal(buf, "abcd", 4);
	/* What cannot be had there is not in the store either. */
	assert_false(bus_ram_read(&w->bus, (hpa_t){ 0x8100 }, buf, 4));
	assert_memory_equal(buf, ones, 4);
	assert_false(bus_ram_write(&w->bus, (hpa_t){ 0x8100 }, "abcd", 4));
	store_read(w->memory, 0x8100, buf, 4);
	assert_memory_equal(buf, "\0\0\0\0", 4);
	assert_true(bus_ram_read(&w->bus, (hpa_t){ 0x7FFC }, buf, 4));
	assert_memory_equal(buf, "near", 4);
}

static void test_bus_outside__to_and_from_a_store__the_same(void **state)
{
	struct world *w = *state;
	struct store *other = store_new(4096, 1 << 20, 0);
	u8 buf[8];

	w->bus.outside = (struct bus_outside){ 0x8000, 0x1000, outside_read, outside_write, w };
	w->val = 0x1122334455667788ULL;
	assert_true(bus_ram_to_store(&w->bus, (hpa_t){ 0x8000 }, other, 100, 8));
	store_read(other, 100, buf, 8);
	assert_memory_equal(buf, &w->val, 8);
	store_write(other, 200, "12345678", 8);
	assert_true(bus_ram_from_store(&w->bus, (hpa_t){ 0x8000 }, other, 200, 8));
	assert_memory_equal(&w->val, "12345678", 8);
	assert_false(bus_ram_to_store(&w->bus, (hpa_t){ 0x8800 }, other, 0, 8));
	assert_false(bus_ram_from_store(&w->bus, (hpa_t){ 0x8800 }, other, 0, 8));
	/* Beside it all is as ever. */
	store_write(w->memory, 0x2000, "abcdefgh", 8);
	assert_true(bus_ram_to_store(&w->bus, (hpa_t){ 0x2000 }, other, 0, 8));
	assert_true(bus_ram_from_store(&w->bus, (hpa_t){ 0x3000 }, other, 0, 8));
	store_read(w->memory, 0x3000, buf, 8);
	assert_memory_equal(buf, "abcdefgh", 8);
	assert_false(bus_ram_to_store(&w->bus, (hpa_t){ 0x20000 }, other, 0, 8));
	store_free(other);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_bus_add_ram__overlapping_or_wrapping__refused),
		T(test_bus_add_ram__table_full__refused),
		T(test_bus_outside__is_asked_instead_of_the_store),
		T(test_bus_outside__to_and_from_a_store__the_same),
		T(test_bus_is_ram__edges__exact),
		T(test_bus_is_ram__adjacent_ranges__are_one),
		T(test_bus_is_ram__up_to_the_last_address__does_not_wrap),
		T(test_bus_ram_read__not_memory__all_ones_and_false),
		T(test_bus_ram_write__partly_outside__nothing_written),
		T(test_bus_map_mmio__overlap__refused),
		T(test_bus_map_mmio__table_full__refused),
		T(test_bus_is_mmio__one_byte_inside__true),
		T(test_bus_cpu__register__offset_and_width_reach_the_device),
		T(test_bus_cpu__unmapped_register__nobody_answers),
		T(test_bus_cpu__across_the_end_of_a_target__nobody_answers),
		T(test_bus_cpu__memory__little_endian),
		T(test_bus_rd64__not_memory__zero_and_not_ok),
	};

	return cmocka_run_group_tests_name("model_bus", tests, NULL, NULL);
}
