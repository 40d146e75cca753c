// SPDX-License-Identifier: GPL-2.0
/*
 * A client that means harm: commands of nearly valid words that aim at registers, queues, tables and doorbells of a
 * running machine. Whatever it does, each line is answered, and after a reset the machine works.
 */

#include "emu_rig.h"

#define LINES 30000U

static u64 next(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Where things happen: each BAR's ends, registers, doorbells, MSI-X, queues, VT-d, ECAM, APIC, ends of memory and of all. */
static u64 address(u64 *seed)
{
	static const u64 bases[] = {
		RIG_BAR0, RIG_BAR0 + 0x14, RIG_BAR0 + 0x24, RIG_BAR0 + 0x28, RIG_BAR0 + 0x30, RIG_BAR0 + 0x50, RIG_BAR0 + 0x1000,
		RIG_BAR0 + 0x1008, RIG_BAR0 + 0x100C, RIG_MSIX_TABLE, RIG_MSIX_TABLE + 0x1000, RIG_BAR0 + 0x3FF8, RIG_BAR2, RIG_BAR2 + 0x1FFFF8,
		RIG_ASQ, RIG_ASQ, RIG_ACQ, RIG_SQ1, RIG_SQ1, RIG_CQ1, RIG_BUF, 0x400000, 0x401180, 0xFED90018, 0xFED90020, 0xFED90028,
		0xFED90038, 0xFED90088, 0xFED90090, 0xFED900B8, 0xFED90220, 0xFED90F00, 0xB0000060, 0xB0018000, 0xB0018010, 0xFEE000B0, 0xFEE00200,
		0x0FFFFFF8, 0x9FFF8, 0xFFFFFFF8, 0xFFFFFFFFFFFFFFF8ULL,
	};
	u64 r = next(seed);

	return bases[r % (sizeof(bases) / sizeof(bases[0]))] + (r >> 16) % ((r >> 40) % 4 ? 4 : 64) * (r >> 50 & 1 ? 4 : 1);
}

static u64 value(u64 *seed)
{
	static const u64 values[] = {
		0, 1, 2, 3, 7, 15, 16, 0xFFFF, 0x10000, 0x460001, 0x464001, 0x460000, 0xF000F, RIG_ASQ, RIG_ACQ, RIG_SQ1, RIG_BUF, RIG_CBA | 3,
		0xFFFFFFFFFFE00003ULL, RIG_BAR0, RIG_BAR2, 0xFEE00000, 0xFEE00010, 0x80000000, 0xC0000000, 0x84000000, 0x400001, 0x401001,
		0xB0000001, 0x80001804, 0x80001810, 0x8000186A, 0x10008000, 0xFFFFFFFFFFFFFFFFULL,
	};
	u64 r = next(seed);

	return r % 8 ? values[(r >> 8) % (sizeof(values) / sizeof(values[0]))] : r >> (r >> 3) % 64;
}

static void sqe(struct emu_rig *r, u64 *seed)
{
	static const u8 opcodes[] = { 0, 1, 2, 4, 5, 6, 8, 9, 0xA, 0xC, 0x10, 0x19, 0x7C, 0x80, 0xC1, 0xFF };
	static const u64 pages[] = { RIG_BUF, RIG_BUF + 0x200, RIG_BUF + 0xFF8, RIG_CBA, RIG_CBA + 0x1FF000, RIG_CBA + 0x1FFFF8, RIG_BAR0, 0xFEE00000,
				     RIG_ASQ, RIG_SQ1, 0, 0x0FFFF000, 0x10000000, 0xFFFFFFFFFFFFF000ULL };
	u64 x = next(seed), y = next(seed);
	struct rig_sqe s = {
		.opcode = opcodes[x % sizeof(opcodes)], .nsid = (u32[]){ 1, 1, 1, 0, 2, 0xFFFFFFFF }[(x >> 8) % 6],
		.prp1 = pages[(x >> 16) % 14], .prp2 = pages[(x >> 24) % 14], .cdw10 = (u32)value(seed), .cdw11 = (u32)value(seed),
		.cdw12 = (u32)((y & 3) ? y >> 8 & 0xFF : y >> 8),
	};
	u32 q = (u32)(x >> 60 & 1);

	if (!r->sq[q])
		return;
	rig_ring(r, q, &s, (u16)y);
	if (x >> 61 & 1)
		rig_reap(r, q, NULL);
}

static void line(struct emu_rig *r, u64 *seed)
{
	static const char widths[] = "bwlq";
	u64 x = next(seed), addr = address(seed);
	char w = widths[x % 4];

	switch (x >> 8 & 15) {
	case 0: case 1: case 2: case 3: case 4:
		rig_wr(r, w, addr, value(seed));
		return;
	case 5: case 6:
		rig_rd(r, w, addr);
		return;
	case 7:
		rig_cfg_wr(r, x >> 16 & 1 ? RIG_DEVFN : 0, (u32)(x >> 20 & 0xFF), (u32)value(seed));
		return;
	case 8:
		rig_line(r, x >> 16 & 1 ? "clock_step 1000000" : "clock_step");
		return;
	case 9:
		rig_ok(rig_ask(r, "memset 0x%llx 0x%llx 0x%llx", (unsigned long long)addr, (unsigned long long)(x >> 20 & 0x3FF),
			       (unsigned long long)(x >> 40 & 0xFF)));
		return;
	case 10:
		rig_line(r, (x >> 16 & 1) ? "b64write 0x102000 0x30 AgAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAgAAAAAAD/////////fw==" : "read 0xfdfffff0 0x4020");
		return;
	default:
		sqe(r, seed);
	}
}

static void harm(u64 seed)
{
	struct emu_rig *r = rig_new(RIG_VTD_Q35);

	for (u32 i = 0; i < LINES; i++) {
		if (i % 500 == 0) {
			emu_reset(r->m);
			rig_cfg_wr(r, 0, 0x60, 0xB0000001);
			rig_pci_setup(r);
			rig_enable(r);
			rig_wr(r, 'q', RIG_BAR0 + 0x50, RIG_CBA | 3);
			rig_mem_write(r, RIG_ACQ, (u8[256]){ 0 }, 256);
			rig_mem_write(r, RIG_CQ1, (u8[256]){ 0 }, 256);
			rig_pair(r, i % 1000 ? RIG_SQ1 : RIG_BAR2, i % 1000 ? RIG_SQ1 : RIG_CBA);
		}
		line(r, &seed);
	}
	assert_false(r->m->over_budget);
	rig_free(r);
}

static void test_hostile__seed_1(void **state)
{
	(void)state;
	harm(1);
}

static void test_hostile__seed_2(void **state)
{
	(void)state;
	harm(0x9E3779B97F4A7C15ULL);
}

static void test_hostile__seed_3(void **state)
{
	(void)state;
	harm(0xD1B54A32D192ED03ULL);
}

/* One doorbell that asks for all the controller can do: the line is answered, the rest comes with the lines after it. */
static void test_hostile__much_work__bounded_a_line(void **state)
{
	struct emu_rig *r = rig_new("-M q35 -m 256 -nodefaults -drive if=none,id=d0,file=null-co:// "
				    "-device nvme,serial=a,drive=d0,addr=3,mdts=0,mqes=65535,msix_qsize=9");
	u64 *list = malloc(65536);
	u32 done = 0, lines = 0;

	(void)state;
	rig_pci_setup(r);
	rig_enable(r);
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x05, .prp1 = 0x2000000, .cdw10 = 65535U << 16 | 1, .cdw11 = 1 }), 0);
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x01, .prp1 = 0x1000000, .cdw10 = 65535U << 16 | 1, .cdw11 = 1 << 16 | 1 }), 0);
	/* 1000 reads of 32 MiB, over a PRP list that comes back to the same page. */
	for (u32 i = 0; i < 8192; i++)
		list[i] = i % 512 == 511 ? RIG_BUF + 0x1000 * (i / 512 + 1) : 0x800000 + 0x1000 * (i % 512);
	rig_mem_write(r, RIG_BUF, list, 65536);
	for (u32 i = 0; i < 1000; i++) {
		u32 dw[16] = { 0x02 | i << 16, 1, 0, 0, 0, 0, 0x800000, 0, RIG_BUF, 0, 0, 0, 0xFFFF };

		rig_mem_write(r, 0x1000000 + 64 * i, dw, sizeof(dw));
	}
	rig_wr(r, 'l', RIG_BAR0 + 0x1008, 1000);
	do {
		u32 dw3 = (u32)rig_rd(r, 'l', 0x2000000 + 16 * 999 + 12);

		done = dw3 >> 16 & 1;
	} while (!done && ++lines < 1000);
	assert_true(done);
	assert_true(lines > 0);
	free(list);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile__seed_1),
		cmocka_unit_test(test_hostile__seed_2),
		cmocka_unit_test(test_hostile__seed_3),
		cmocka_unit_test(test_hostile__much_work__bounded_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
