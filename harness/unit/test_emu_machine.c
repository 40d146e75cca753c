// SPDX-License-Identifier: GPL-2.0
/* The PC around the controllers: PCI's two mechanisms, host bridges, memory, ports, local APIC. */

#include "emu_rig.h"

#define Q35_BRIDGE 0x29C08086U		/* 82G33/G31/P35/P31 DRAM controller */
#define PC_BRIDGE 0x12378086U		/* 82441FX */
#define ECAM 0xB0000000ULL
#define NOTHING 0xFFFFFFFFU

static struct emu_rig *up_with(void **state, const char *options)
{
	*state = rig_new(options);
	return *state;
}

static int down(void **state)
{
	rig_free(*state);
	return 0;
}

static void test_ports__enumeration__bridge_and_controller(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);
	u32 found = 0;

	for (u32 slot = 0; slot < 32; slot++)
		found |= (u32)(rig_cfg_rd(r, slot << 3, 0) != NOTHING) << slot;
	assert_int_equal(found, 1 << 0 | 1 << 3);
	assert_int_equal(rig_cfg_rd(r, 0, 0), Q35_BRIDGE);
	assert_int_equal(rig_cfg_rd(r, 0, 8) >> 16, 0x0600);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN, 0), 0x00101B36);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN, 8) >> 8, 0x010802);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN | 1, 0), NOTHING);
	assert_int_equal(rig_cfg_rd(r, 0x100 | RIG_DEVFN, 0), NOTHING);
}

/* PCI 3.2.2.3.2: without the enable bit no configuration access. */
static void test_ports__disabled__nothing(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	rig_ok(rig_line(r, "outl 0xcf8 0x1800"));
	assert_string_equal(rig_line(r, "inl 0xcf8"), "OK 0x1800");
	assert_string_equal(rig_line(r, "inl 0xcfc"), "OK 0xffffffff");
	assert_string_equal(rig_line(r, "inw 0x1234"), "OK 0xffff");
}

/* Narrow registers in the way of the specification (by the data port's byte) and of QEMU's test library (by the address). */
static void test_ports__narrow_registers__both_ways(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	rig_ok(rig_line(r, "outl 0xcf8 0x80001808"));
	assert_string_equal(rig_line(r, "inb 0xcff"), "OK 0x0001");
	assert_string_equal(rig_line(r, "inw 0xcfe"), "OK 0x0108");
	rig_ok(rig_line(r, "outl 0xcf8 0x8000180b"));
	assert_string_equal(rig_line(r, "inb 0xcfc"), "OK 0x0001");
	rig_ok(rig_line(r, "outl 0xcf8 0x8000180a"));
	assert_string_equal(rig_line(r, "inw 0xcfc"), "OK 0x0108");
	rig_ok(rig_line(r, "outl 0xcf8 0x80001804"));
	rig_ok(rig_line(r, "outw 0xcfc 0x6"));
	assert_string_equal(rig_line(r, "inw 0xcfc"), "OK 0x0006");
	rig_ok(rig_line(r, "outl 0xcf8 0x8000183c"));
	rig_ok(rig_line(r, "outb 0xcfc 0x5a"));
	assert_string_equal(rig_line(r, "inb 0xcfc"), "OK 0x005a");
}

/* PCI 6.2.5.1: all ones written, the bits that stay 0 tell the size. */
static void test_bars__sizing__16_kib_and_the_cmb(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	for (u32 off = 0x10; off < 0x20; off += 4)
		rig_cfg_wr(r, RIG_DEVFN, off, NOTHING);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN, 0x10), 0xFFFFC004);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN, 0x14), NOTHING);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN, 0x18), 0xFFE0000C);
	assert_int_equal(rig_cfg_rd(r, RIG_DEVFN, 0x1C), NOTHING);
}

static void test_bars__programmed__decoded_while_memory_space_is_on(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	rig_cfg_wr(r, RIG_DEVFN, 0x10, 0xC0000000);
	assert_int_equal(rig_rd(r, 'l', 0xC0000008), NOTHING);
	rig_cfg_wr(r, RIG_DEVFN, 0x04, 0x2);
	assert_int_equal(rig_rd(r, 'l', 0xC0000008), 0x00010400);
	rig_cfg_wr(r, RIG_DEVFN, 0x14, 0x5);
	assert_int_equal(rig_rd(r, 'l', 0xC0000008), NOTHING);
	assert_int_equal(rig_rd(r, 'l', 0x5C0000008), 0x00010400);
	rig_cfg_wr(r, RIG_DEVFN, 0x04, 0);
	assert_int_equal(rig_rd(r, 'l', 0x5C0000008), NOTHING);
}

static void test_ecam__pciexbar__there_when_enabled_and_where_it_says(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	assert_int_equal(rig_rd(r, 'l', ECAM), NOTHING);
	assert_int_equal(rig_cfg_rd(r, 0, 0x60), ECAM);
	rig_cfg_wr(r, 0, 0x60, ECAM | 1);
	assert_int_equal(rig_rd(r, 'l', ECAM), Q35_BRIDGE);
	assert_int_equal(rig_rd(r, 'l', ECAM + 0x60), ECAM | 1);
	assert_int_equal(rig_rd(r, 'l', ECAM + (3 << 15)), 0x00101B36);
	assert_int_equal(rig_rd(r, 'w', ECAM + (3 << 15) + 2), 0x0010);
	/* What is not aligned is two accesses. */
	assert_int_equal(rig_rd(r, 'l', ECAM + (3 << 15) + 2), 0x00000010);
	assert_int_equal(rig_rd(r, 'l', ECAM + (4 << 15)), NOTHING);
	assert_int_equal(rig_rd(r, 'l', ECAM + (1 << 20)), NOTHING);
	/* Extended space: this function has no extended capability (PCIe 7.6.2). */
	assert_int_equal(rig_rd(r, 'l', ECAM + (3 << 15) + 0x100), 0);
	rig_wr(r, 'q', ECAM + (3 << 15) + 0x10, 0x3C0000000);
	rig_wr(r, 'w', ECAM + (3 << 15) + 0x04, 0x2);
	assert_int_equal(rig_rd(r, 'l', 0x3C0000008), 0x00010400);
	/* It moves under the hand that moves it. */
	rig_wr(r, 'l', ECAM + 0x60, 0xC8000005);
	assert_int_equal(rig_rd(r, 'l', ECAM), NOTHING);
	assert_int_equal(rig_rd(r, 'l', 0xC8000000), Q35_BRIDGE);
	rig_cfg_wr(r, 0, 0x64, 0x1);
	assert_int_equal(rig_rd(r, 'l', 0x1C8000000), Q35_BRIDGE);
	rig_cfg_wr(r, 0, 0x60, 0xC8000007);
	assert_int_equal(rig_rd(r, 'l', 0x1C8000000), NOTHING);
}

static void test_pc__its_bridge_and_no_ecam(void **state)
{
	struct emu_rig *r = up_with(state, "-M pc -nodefaults " RIG_NVME);

	assert_int_equal(rig_cfg_rd(r, 0, 0), PC_BRIDGE);
	rig_cfg_wr(r, 0, 0x60, ECAM | 1);
	assert_int_equal(rig_rd(r, 'l', ECAM), NOTHING);
}

static void test_none__no_devices__memory_only(void **state)
{
	struct emu_rig *r = up_with(state, "-M none");

	assert_int_equal(rig_cfg_rd(r, 0, 0), NOTHING);
	rig_wr(r, 'l', 0x1000, 5);
	assert_int_equal(rig_rd(r, 'l', 0x1000), 5);
}

static void test_memory__its_ends__nobody_behind_them(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	rig_wr(r, 'q', 0x0FFFFFF8, 0x0102030405060708);
	assert_int_equal(rig_rd(r, 'q', 0x0FFFFFFC), 0xFFFFFFFF01020304);
	rig_wr(r, 'q', 0x0FFFFFFC, 0x1111111122222222);
	assert_int_equal(rig_rd(r, 'l', 0x0FFFFFFC), 0x22222222);
	assert_int_equal(rig_rd(r, 'l', 0x10000000), NOTHING);
	assert_int_equal(rig_rd(r, 'l', 0x9FFFC), 0);
	assert_int_equal(rig_rd(r, 'l', 0xA0000), NOTHING);
	assert_int_equal(rig_rd(r, 'l', 0x100000), 0);
}

/* QEMU: q35 splits from 2.75 GiB on, at 2 GiB; pc from 3.5 GiB on, at 3 GiB. The rest is above 4 GiB. */
static void test_memory__large__split_as_the_board_does(void **state)
{
	static const struct {
		const char *options;
		u64 low, high;
	} cases[] = {
		{ "-M q35 -m 2815M", 2815ULL << 20, 0 }, { "-M q35 -m 2816M", 2048ULL << 20, 768ULL << 20 }, { "-M q35 -m 3G", 2ULL << 30, 1ULL << 30 },
		{ "-M pc -m 3G", 3ULL << 30, 0 }, { "-M pc -m 3584M", 3ULL << 30, 512ULL << 20 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct emu_rig *r = up_with(state, cases[i].options);

		assert_int_equal(rig_rd(r, 'l', cases[i].low - 4), 0);
		assert_int_equal(rig_rd(r, 'l', cases[i].low), NOTHING);
		if (cases[i].high)
			assert_int_equal(rig_rd(r, 'l', (4ULL << 30) + cases[i].high - 4), 0);
		assert_int_equal(rig_rd(r, 'l', (4ULL << 30) + cases[i].high), NOTHING);
		if (i + 1 < sizeof(cases) / sizeof(cases[0]))
			rig_free(r);
	}
}

static void test_memory__end_of_all_addresses__does_not_go_round(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	rig_wr(r, 'l', 0, 0x12345678);
	assert_string_equal(rig_line(r, "read 0xfffffffffffffffc 8"), "OK 0xffffffffffffffff");
	rig_ok(rig_line(r, "write 0xfffffffffffffffc 0x8 0x0000000000000000"));
	rig_ok(rig_line(r, "memset 0xfffffffffffffff0 0x2000 0"));
	rig_wr(r, 'q', 0xFFFFFFFFFFFFFFFC, 0);
	assert_int_equal(rig_rd(r, 'l', 0), 0x12345678);
}

/* QEMU's docs/specs/fw_cfg: selector at 0x510, data at 0x511; key 3 is the size of memory. */
static void test_fw_cfg__memory_size__as_given(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);
	u64 size = 0;

	rig_ok(rig_line(r, "outw 0x510 0x3"));
	for (u32 i = 0; i < 8; i++)
		size |= rig_value(rig_line(r, "inb 0x511")) << 8 * i;
	assert_int_equal(size, 256ULL << 20);
	assert_string_equal(rig_line(r, "inb 0x511"), "OK 0x0000");
	rig_ok(rig_line(r, "outw 0x510 0x0"));
	assert_string_equal(rig_line(r, "inb 0x511"), "OK 0x0051");
}

static void test_reset__devices_forget__memory_stays(void **state)
{
	struct emu_rig *r = up_with(state, RIG_VTD_Q35);

	rig_pci_setup(r);
	rig_enable(r);
	rig_wr(r, 'q', 0xFED90020, 0x5000);
	rig_wr(r, 'l', 0x5000, 77);
	emu_reset(r->m);
	assert_int_equal(rig_rd(r, 'l', RIG_BAR0), NOTHING);
	assert_int_equal(rig_rd(r, 'q', 0xFED90020), 0);
	assert_int_equal(rig_rd(r, 'l', 0x5000), 77);
	rig_pci_setup(r);
	assert_int_equal(rig_rd(r, 'l', RIG_BAR0 + 0x14), 0);
	rig_enable(r);
}

static void test_lapic__registers__id_version_and_an_empty_irr(void **state)
{
	struct emu_rig *r = up_with(state, RIG_Q35);

	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x20), 0);
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x30) & 0xFF, 0x14);
	for (u32 i = 0; i < 8; i++)
		assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x200 + 16 * i), 0);
}

/* SDM 11.11: fixed, to APIC id 1; logical, flat, to ids 0 and 1; lowest priority to one of them; id 9 is nobody. */
static void test_lapic__messages__reach_whom_they_name(void **state)
{
	struct emu_rig *r = up_with(state, "-smp 2 " RIG_Q35);

	emu_lapic_message(r->m, 0xFEE01000, 0x51);
	assert_true(emu_lapic_requested(r->m, 1, 0x51));
	assert_false(emu_lapic_requested(r->m, 0, 0x51));
	emu_lapic_message(r->m, 0xFEE03004, 0x52);
	assert_true(emu_lapic_requested(r->m, 0, 0x52) && emu_lapic_requested(r->m, 1, 0x52));
	emu_lapic_message(r->m, 0xFEE03004, 0x153);
	assert_true(emu_lapic_requested(r->m, 0, 0x53) != emu_lapic_requested(r->m, 1, 0x53));
	emu_lapic_message(r->m, 0xFEE09000, 0x54);
	emu_lapic_message(r->m, 0xFEE00000, 0x455);	/* NMI: its vector is nobody's */
	assert_false(emu_lapic_requested(r->m, 0, 0x54) || emu_lapic_requested(r->m, 0, 0x55));
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x220), emu_lapic_requested(r->m, 0, 0x53) ? 0x0C0000 : 0x040000);
	rig_wr(r, 'l', EMU_LAPIC_BASE + 0xB0, 0);
	rig_wr(r, 'l', EMU_LAPIC_BASE + 0xB0, 0);
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x220), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ports__enumeration__bridge_and_controller, down),
		cmocka_unit_test_teardown(test_ports__disabled__nothing, down),
		cmocka_unit_test_teardown(test_ports__narrow_registers__both_ways, down),
		cmocka_unit_test_teardown(test_bars__sizing__16_kib_and_the_cmb, down),
		cmocka_unit_test_teardown(test_bars__programmed__decoded_while_memory_space_is_on, down),
		cmocka_unit_test_teardown(test_ecam__pciexbar__there_when_enabled_and_where_it_says, down),
		cmocka_unit_test_teardown(test_pc__its_bridge_and_no_ecam, down),
		cmocka_unit_test_teardown(test_none__no_devices__memory_only, down),
		cmocka_unit_test_teardown(test_memory__its_ends__nobody_behind_them, down),
		cmocka_unit_test_teardown(test_memory__large__split_as_the_board_does, down),
		cmocka_unit_test_teardown(test_memory__end_of_all_addresses__does_not_go_round, down),
		cmocka_unit_test_teardown(test_fw_cfg__memory_size__as_given, down),
		cmocka_unit_test_teardown(test_reset__devices_forget__memory_stays, down),
		cmocka_unit_test_teardown(test_lapic__registers__id_version_and_an_empty_irr, down),
		cmocka_unit_test_teardown(test_lapic__messages__reach_whom_they_name, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
