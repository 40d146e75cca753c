// SPDX-License-Identifier: GPL-2.0
/* An NVMe controller as a client of the test protocol drives it: NVMe Base 1.4, NVM Command Set, PCIe transport. */

#include "emu_rig.h"

#include <unistd.h>

#define NEXT_PAGE 4096
#define BLOCKS_1_GIB 0x200000ULL

static int up(void **state)
{
	struct emu_rig *r = rig_new(RIG_Q35);

	*state = r;
	rig_pci_setup(r);
	rig_enable(r);
	return 0;
}

static int down(void **state)
{
	rig_free(*state);
	return 0;
}

static void fill(u8 *buf, u8 seed)
{
	for (u32 i = 0; i < NEXT_PAGE; i++)
		buf[i] = (u8)(seed + i * 7 + i / 256);
}

static u32 io(struct emu_rig *r, u8 opcode, u64 addr, u32 slba)
{
	return rig_do(r, 1, (struct rig_sqe){ .opcode = opcode, .nsid = 1, .prp1 = addr, .cdw10 = slba, .cdw12 = 7 });
}

/* Base 3.1.3.16: CRE, and CMSE with a base that no memory has. */
static void cmb_on(struct emu_rig *r)
{
	rig_wr(r, 'q', RIG_BAR0 + 0x50, 1);
	rig_wr(r, 'q', RIG_BAR0 + 0x50, RIG_CBA | 3);
	assert_int_equal(rig_rd(r, 'l', RIG_BAR0 + 0x58), 0);
}

/* Base figure 275. */
static void test_identify__controller__properties_of_the_command_line(void **state)
{
	struct emu_rig *r = *state;
	u8 id[NEXT_PAGE];

	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x06, .prp1 = RIG_BUF, .cdw10 = 1 }), 0);
	rig_mem_read(r, RIG_BUF, id, sizeof(id));
	assert_int_equal(id[0] | id[1] << 8, 0x1B36);
	assert_memory_equal(id + 4, "feas                ", 20);
	assert_int_equal(id[77], 5);
	assert_int_equal(id[512], 0x66);
	assert_int_equal(id[513], 0x44);
}

static void test_identify__namespace__size_of_the_drive(void **state)
{
	struct emu_rig *r = *state;
	u64 nsze;

	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x06, .nsid = 1, .prp1 = RIG_BUF }), 0);
	rig_mem_read(r, RIG_BUF, &nsze, sizeof(nsze));
	assert_int_equal(nsze, BLOCKS_1_GIB);
}

static void test_io__write_then_read__the_same_bytes(void **state)
{
	struct emu_rig *r = *state;
	u8 out[NEXT_PAGE], in[NEXT_PAGE];

	rig_pair(r, RIG_SQ1, RIG_SQ1);
	fill(out, 3);
	rig_mem_write(r, RIG_BUF, out, sizeof(out));
	assert_int_equal(io(r, 0x01, RIG_BUF, 40), 0);
	assert_int_equal(io(r, 0x02, RIG_BUF + NEXT_PAGE, 40), 0);
	rig_mem_read(r, RIG_BUF + NEXT_PAGE, in, sizeof(in));
	assert_memory_equal(in, out, sizeof(out));
	assert_int_equal(io(r, 0x02, RIG_BUF, (u32)BLOCKS_1_GIB - 7), 0x80);
}

static void test_cmb__queue_and_data__through_the_bar(void **state)
{
	struct emu_rig *r = *state;
	u8 out[NEXT_PAGE], in[NEXT_PAGE];

	cmb_on(r);
	rig_pair(r, RIG_BAR2 + 0x4000, RIG_CBA + 0x4000);
	fill(out, 9);
	rig_mem_write(r, RIG_BUF, out, sizeof(out));
	assert_int_equal(io(r, 0x01, RIG_BUF, 8), 0);
	assert_int_equal(io(r, 0x02, RIG_CBA + 0x8000, 8), 0);
	rig_mem_read(r, RIG_BAR2 + 0x8000, in, sizeof(in));
	assert_memory_equal(in, out, sizeof(out));
}

/* Base 3.1: 64-bit registers by one access, or by aligned halves in any order. */
static void test_cmbmsc__one_access_or_halves__the_same(void **state)
{
	static const u8 orders[][2] = { { 0, 4 }, { 4, 0 } };
	struct emu_rig *r = *state;
	const u64 wanted = 0x123450000003ULL;

	rig_wr(r, 'q', RIG_BAR0 + 0x50, wanted);
	assert_int_equal(rig_rd(r, 'q', RIG_BAR0 + 0x50), wanted);
	for (u32 i = 0; i < 2; i++) {
		rig_wr(r, 'q', RIG_BAR0 + 0x50, 0);
		for (u32 k = 0; k < 2; k++)
			rig_wr(r, 'l', RIG_BAR0 + 0x50 + orders[i][k], (u32)(wanted >> 8 * orders[i][k]));
		assert_int_equal(rig_rd(r, 'q', RIG_BAR0 + 0x50), wanted);
	}
}

static void test_msix__address_in_memory__data_appears_there(void **state)
{
	struct emu_rig *r = *state;

	rig_pair(r, RIG_SQ1, RIG_SQ1);
	rig_wr(r, 'l', RIG_MAILBOX, 0);
	assert_int_equal(rig_rd(r, 'l', RIG_MAILBOX + 4), 0);
	assert_int_equal(io(r, 0x02, RIG_BUF, 0), 0);
	assert_int_equal(rig_rd(r, 'l', RIG_MAILBOX + 4), 0x101);
	assert_int_equal(rig_rd(r, 'l', RIG_MAILBOX), 0);
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x06, .prp1 = RIG_BUF, .cdw10 = 1 }), 0);
	assert_int_equal(rig_rd(r, 'l', RIG_MAILBOX), 0x100);
}

static void test_msix__message_to_apic_0__vector_in_its_irr(void **state)
{
	struct emu_rig *r = *state;

	rig_wr(r, 'l', RIG_MSIX_TABLE, 0xFEE00000);
	rig_wr(r, 'l', RIG_MSIX_TABLE + 8, 0x61);
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x06, .prp1 = RIG_BUF, .cdw10 = 1 }), 0);
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x230), 1 << 1);
	rig_wr(r, 'l', EMU_LAPIC_BASE + 0xB0, 0);
	assert_int_equal(rig_rd(r, 'l', EMU_LAPIC_BASE + 0x230), 0);
}

/* A ring of commands rung with one doorbell is done when the next line is looked at. */
static void test_settle__many_commands__all_done_by_the_next_line(void **state)
{
	struct emu_rig *r = *state;

	rig_pair(r, RIG_SQ1, RIG_SQ1);
	for (u32 i = 0; i < RIG_DEPTH - 1; i++) {
		u32 dw[16] = { 0x02 | i << 16, 1, 0, 0, 0, 0, RIG_BUF, 0, 0, 0, i };

		rig_mem_write(r, RIG_SQ1 + 64 * i, dw, sizeof(dw));
	}
	rig_wr(r, 'l', RIG_BAR0 + 0x1008, RIG_DEPTH - 1);
	for (u32 i = 0; i < RIG_DEPTH - 1; i++)
		assert_int_equal(rig_reap(r, 1, NULL), 0);
	assert_int_equal(rig_reap(r, 1, NULL), 0x8000);
	assert_string_equal(rig_line(r, "clock_step"), "OK 0");
}

static void test_namespaces__nvme_ns_and_a_file__where_nsid_says(void **state)
{
	char path[] = "/tmp/emu_nvme.XXXXXX", options[512];
	int fd = mkstemp(path);
	struct emu_rig *r;
	u8 block[8192] = { 0 };
	u32 list[3];

	assert_true(fd >= 0);
	memcpy(block + 512, "second block of the file", 24);
	assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	close(fd);
	snprintf(options, sizeof(options), "-M q35 -nodefaults -drive if=none,id=d0,file=null-co://,size=1M -drive if=none,id=d1,format=raw,file=%s "
		 "-device nvme,id=n0,serial=s,addr=3,msix_qsize=9 -device nvme-ns,drive=d0,bus=n0 -device nvme-ns,drive=d1,bus=n0,nsid=5",
		 path);
	r = *state = rig_new(options);
	unlink(path);
	rig_pci_setup(r);
	rig_enable(r);
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x06, .prp1 = RIG_BUF, .cdw10 = 2 }), 0);
	rig_mem_read(r, RIG_BUF, list, sizeof(list));
	assert_int_equal(list[0], 1);
	assert_int_equal(list[1], 5);
	assert_int_equal(list[2], 0);
	rig_pair(r, RIG_SQ1, RIG_SQ1);
	assert_int_equal(rig_do(r, 1, (struct rig_sqe){ .opcode = 0x02, .nsid = 5, .prp1 = RIG_BUF, .cdw10 = 1 }), 0);
	rig_mem_read(r, RIG_BUF, block, 24);
	assert_memory_equal(block, "second block of the file", 24);
	assert_int_equal(rig_do(r, 1, (struct rig_sqe){ .opcode = 0x02, .nsid = 5, .prp1 = RIG_BUF, .cdw10 = 16 }), 0x80);
	assert_int_equal(rig_do(r, 1, (struct rig_sqe){ .opcode = 0x02, .nsid = 1, .prp1 = RIG_BUF, .cdw10 = 2047 }), 0);
}

static void test_functions__two__each_with_its_own_registers(void **state)
{
	struct emu_rig *r = *state = rig_new(RIG_Q35 " -drive if=none,id=d1,file=null-co:// -device nvme,serial=b,drive=d1,addr=05.1,mqes=63");

	rig_pci_setup(r);
	rig_cfg_wr(r, 0x29, 0x10, 0xFC000000);
	rig_cfg_wr(r, 0x29, 0x04, 0x6);
	assert_int_equal(rig_rd(r, 'l', RIG_BAR0) & 0xFFFF, 0x7FF);
	assert_int_equal(rig_rd(r, 'l', 0xFC000000) & 0xFFFF, 63);
	rig_enable(r);
	assert_int_equal(rig_rd(r, 'l', 0xFC00001C), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_identify__controller__properties_of_the_command_line, up, down),
		cmocka_unit_test_setup_teardown(test_identify__namespace__size_of_the_drive, up, down),
		cmocka_unit_test_setup_teardown(test_io__write_then_read__the_same_bytes, up, down),
		cmocka_unit_test_setup_teardown(test_cmb__queue_and_data__through_the_bar, up, down),
		cmocka_unit_test_setup_teardown(test_cmbmsc__one_access_or_halves__the_same, up, down),
		cmocka_unit_test_setup_teardown(test_msix__address_in_memory__data_appears_there, up, down),
		cmocka_unit_test_setup_teardown(test_msix__message_to_apic_0__vector_in_its_irr, up, down),
		cmocka_unit_test_setup_teardown(test_settle__many_commands__all_done_by_the_next_line, up, down),
		cmocka_unit_test_teardown(test_namespaces__nvme_ns_and_a_file__where_nsid_says, down),
		cmocka_unit_test_teardown(test_functions__two__each_with_its_own_registers, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
