// SPDX-License-Identifier: GPL-2.0
/* The virtual function's admin queue: commands, events, queues. Expected values: the table of expected status codes, the specification. */

#include "core_device_rig.h"

static int setup(void **state)
{
	(void)state;
	rig_setup(LIOV_POLICY_NRD);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_teardown();
	return 0;
}

/* --- admin commands --- */

/* ADM-01, ADM-02, LIF-03 */
static void test_admin__opcode_not_offered__is_0_01(void **state)
{
	static const u8 opcodes[] = { 0x80, 0x10, 0x11, 0x84, 0x0D, 0x15, 0x81, 0x1C, 0xC0, 0xC1, 0xFF, 0x7E, 0x7C, 0x03 };
	u32 i;

	(void)state;
	rig_enable();
	for (i = 0; i < sizeof(opcodes); i++) {
		assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = opcodes[i], .nsid = 1 }, NULL), 0x01 | DNR);
		assert_int_equal(rig->deny.component, LIOV_DEVICE);
		assert_int_equal(rig->deny.code, 0x01);
	}
	assert_int_equal(rig->nr_emulated, 0);
}

/* ADM-09 */
static void test_admin__sgl_fused_or_unused_nsid__is_0_02(void **state)
{
	(void)state;
	rig_enable();
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 6, .flags = 0x40, .cdw10 = 1, .prp1 = DATA }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 6, .flags = 0x01, .cdw10 = 1, .prp1 = DATA }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 6, .nsid = 1, .cdw10 = 1, .prp1 = DATA }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 8, .nsid = 1 }, NULL), 0x02 | DNR);
}

static u32 identify(u32 cns, u32 nsid)
{
	memset(ram(DATA), 0xEE, 4096);
	return rig_admin((struct nvme_sqe){ .opcode = 6, .nsid = nsid, .cdw10 = cns, .prp1 = DATA }, NULL);
}

/* ADM-03 */
static void test_identify__controller__is_built_for_the_vm(void **state)
{
	const u8 *d = ram(DATA);
	u32 i;

	(void)state;
	strcpy(rig->be.info.serial, "PHYSICALSERIAL");
	rig_enable();
	assert_int_equal(identify(1, 0), 0);
	assert_memory_equal(d + 4, "LIOV00000007        ", 20);
	assert_int_equal(d[77], 5);
	assert_int_equal(d[80] | d[81] << 8 | d[82] << 16, 0x10400);
	assert_int_equal(d[256] | d[257] << 8, 0);		/* OACS */
	assert_int_equal(d[259], LIOV_AERL);
	assert_int_equal(d[512], 0x66);
	assert_int_equal(d[513], 0x44);
	assert_int_equal(d[516], 1);				/* NN */
	assert_int_equal(d[520] | d[521] << 8, 0x010D);		/* Compare, DSM, Write Zeroes, Copy */
	assert_int_equal(d[536] | d[537] << 8 | d[538] << 16 | d[539] << 24, 0);
	for (i = 3072; i < 4096; i++)
		assert_int_equal(d[i], 0);
	assert_int_equal(rig->nr_emulated, 1);
}

static void test_identify__namespace__has_the_window_size(void **state)
{
	u64 nsze;

	(void)state;
	rig_enable();
	assert_int_equal(identify(0, 1), 0);
	memcpy(&nsze, ram(DATA), 8);
	assert_true(nsze == LBA_COUNT);
	assert_int_equal(*((u8 *)ram(DATA) + 130), 9);
	assert_int_equal(identify(2, 0), 0);
	assert_int_equal(*(u32 *)ram(DATA), 1);
	assert_int_equal(identify(2, 1), 0);
	assert_int_equal(*(u32 *)ram(DATA), 0);
	assert_int_equal(identify(3, 1), 0);
	assert_int_equal(*(u16 *)ram(DATA), 0x1002);
	assert_int_equal(identify(0, 0), 0x0B | DNR);
	assert_int_equal(identify(0, 2), 0x0B | DNR);
	assert_int_equal(identify(2, 0xFFFFFFFF), 0x0B | DNR);
	assert_int_equal(identify(0x12, 1), 0x02 | DNR);
	assert_int_equal(identify(0x13, 1), 0x02 | DNR);
}

static u32 identify_to(u64 prp1, u64 prp2)
{
	return rig_admin((struct nvme_sqe){ .opcode = 6, .cdw10 = 1, .prp1 = prp1, .prp2 = prp2 }, NULL);
}

/* ADM-11, GPA-13 a */
static void test_identify__buffers__are_checked_page_by_page(void **state)
{
	(void)state;
	rig_enable();
	assert_int_equal(identify_to(DATA + 0xFF8, DATA + 0x2000), 0);
	assert_memory_equal(ram(DATA + 0xFF8 + 4), "LIOV", 4);
	assert_memory_equal(ram(DATA + 0x2000), "00000007", 8);
	memset(ram(DATA), 0xEE, 0x1000);
	assert_int_equal(identify_to(DATA + 0xFF8, 0x1000), 0x04 | DNR);
	assert_int_equal(*((u8 *)ram(DATA + 0xFF8)), 0xEE);
	assert_int_equal(identify_to(0, 0), 0x04 | DNR);
	assert_int_equal(identify_to(BAR2, 0), 0x04 | DNR);
	assert_int_equal(identify_to(RAM_BASE + RAM_SIZE - 8, RAM_BASE + RAM_SIZE), 0x04 | DNR);
}

static void test_identify__prp_offsets__are_0_13(void **state)
{
	(void)state;
	rig_enable();
	assert_int_equal(identify_to(DATA + 2, DATA + 0x2000), 0x13 | DNR);
	assert_int_equal(identify_to(DATA + 8, DATA + 0x2008), 0x13 | DNR);
}

/* ADM-05 */
static void test_number_of_queues__abuse__is_answered_from_the_reservation(void **state)
{
	struct nvme_sqe sqe = { .opcode = 9, .cdw10 = 7, .cdw11 = 0xFFFF };
	u32 dw0;

	(void)state;
	rig_enable();
	assert_int_equal(rig_admin(sqe, NULL), 0x02 | DNR);
	sqe.cdw11 = 0xFFFF0000;
	assert_int_equal(rig_admin(sqe, NULL), 0x02 | DNR);
	sqe.cdw11 = 0xFFFEFFFE;
	assert_int_equal(rig_admin(sqe, &dw0), 0);
	assert_int_equal(dw0, (NR_QUEUES - 1) << 16 | (NR_QUEUES - 1));
	assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0);
	assert_int_equal(rig_admin(sqe, NULL), 0x0C | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 0xA, .cdw10 = 7 }, &dw0), 0);
	assert_int_equal(dw0, (NR_QUEUES - 1) << 16 | (NR_QUEUES - 1));
}

static void test_features__unknown_saved_or_fixed__are_refused(void **state)
{
	u32 dw0;

	(void)state;
	rig_enable();
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .cdw10 = 0x7F }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 0xA, .cdw10 = 0 }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .cdw10 = 0x80000004 }, NULL), 0x10D | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .cdw10 = 6, .cdw11 = 0 }, NULL), 0x10E | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .nsid = 1, .cdw10 = 4, .cdw11 = 300 }, NULL), 0x10F | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .cdw10 = 4, .cdw11 = 300 }, NULL), 0);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 0xA, .cdw10 = 4 }, &dw0), 0);
	assert_int_equal(dw0, 300);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .cdw10 = 9, .cdw11 = 4 }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 9, .cdw10 = 9, .cdw11 = 0x10003 }, NULL), 0);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 0xA, .cdw10 = 9, .cdw11 = 3 }, &dw0), 0);
	assert_int_equal(dw0, 0x10003);
}

static u32 get_log(u32 lid, u32 numd, u64 offset)
{
	return rig_admin((struct nvme_sqe){ .opcode = 2, .cdw10 = lid | numd << 16, .cdw12 = (u32)offset,
					    .cdw13 = (u32)(offset >> 32), .prp1 = DATA, .prp2 = DATA + 0x1000 }, NULL);
}

/* 12 KiB are asked for, of which 512 bytes are there: PRP2 is a list, and its first entry the second page. */
static void test_get_log__three_pages__prp2_is_a_list(void **state)
{
	struct nvme_sqe sqe = { .opcode = 2, .cdw10 = 2 | 3071u << 16, .prp1 = DATA + 0xF00, .prp2 = DATA + 0x2000 };

	(void)state;
	rig_enable();
	*(u64 *)ram(DATA + 0x2000) = DATA + 0x3000;
	assert_int_equal(rig_admin(sqe, NULL), 0);
	sqe.prp2 = DATA + 0x2004;
	memcpy(ram(DATA + 0x2004), &(u64){ DATA + 0x3000 }, 8);
	assert_int_equal(rig_admin(sqe, NULL), 0x13 | DNR);
	sqe.prp2 = 0x100000;
	assert_int_equal(rig_admin(sqe, NULL), 0x04 | DNR);
}

/* ADM-04 */
static void test_get_log__offsets__never_leave_the_log(void **state)
{
	(void)state;
	rig_enable();
	assert_int_equal(get_log(4, 0x3FF, 0x1000), 0x02 | DNR);
	assert_int_equal(get_log(4, 0x3FF, 0xFFFFFFFC), 0x02 | DNR);
	assert_int_equal(get_log(4, 0x3FF, 0xFFFFFFFFFFFFFFFCull), 0x02 | DNR);
	assert_int_equal(get_log(4, 0x3FF, 2), 0x02 | DNR);
	assert_int_equal(get_log(0x23, 0x3FF, 0), 0x109 | DNR);
	memset(ram(DATA), 0xEE, 0x1000);
	assert_int_equal(get_log(4, 0x3FF, 0xFFC), 0);
	assert_int_equal(*(u32 *)ram(DATA), 0);
	assert_int_equal(*(u32 *)ram(DATA + 4), 0xEEEEEEEE);
	assert_int_equal(get_log(2, 0, 0), 0);
	assert_int_equal(*(u32 *)ram(DATA) >> 8 & 0xFFFF, 300);
	assert_int_equal(get_log(5, 0, 1024 + 4 * 1), 0);
	assert_int_equal(*(u32 *)ram(DATA), 3);
}

/* --- events and abort --- */

static void put_aer(u16 cid)
{
	rig_admin_put(&(struct nvme_sqe){ .opcode = 0xC, .cid = cid });
}

static void get(u16 cid, u32 status, u32 dw0)
{
	struct nvme_cqe cqe;

	assert_true(rig_admin_get(&cqe));
	assert_int_equal(cqe.cid, cid);
	assert_int_equal(status_of_cqe(&cqe), status);
	assert_int_equal(cqe.dw0, dw0);
}

/* ADM-07, QD-06 under nrd */
static void test_aer__limit_and_events__are_the_vms_own(void **state)
{
	struct nvme_cqe cqe;
	u32 i;

	(void)state;
	rig_enable();
	for (i = 0; i < 5; i++)
		put_aer((u16)(10 + i));
	rig_admin_ring();
	get(14, 0x105, 0);
	assert_false(rig_admin_get(&cqe));
	wr32(0x1208, 1);
	get(10, 0, 0x00010000);
	wr32(0x1208, 1);			/* masked until the log is read */
	assert_false(rig_admin_get(&cqe));
	assert_int_equal(get_log(1, 15, 0), 0);
	wr32(0x1000, 0x10000 | 32);
	get(11, 0, 0x00010100);
	assert_int_equal(get_log(1 | 0x8000, 15, 0), 0);	/* RAE */
	liov_device_cmb_wr(&rig->vm, 0x10000 + 0x18000, 1, 4);
	assert_false(rig_admin_get(&cqe));
	assert_int_equal(get_log(1, 15, 0), 0);
	liov_device_cmb_wr(&rig->vm, 0x10000 + 0x18000, 1, 4);
	get(12, 0, 0x00010000);
}

static void test_aer__event_before_it__waits(void **state)
{
	(void)state;
	rig_enable();
	wr32(0x1000, 0);			/* unchanged */
	put_aer(1);
	rig_admin_ring();
	get(1, 0, 0x00010100);
	wr32(NVME_REG_CC, 0);
	assert_int_equal(rig->vm.dev.nr_aer, 0);
}

/* ADM-06 */
static void test_abort__aer__shifts_only_what_is_valid(void **state)
{
	struct nvme_sqe abort = { .opcode = 8, .cid = 99, .cdw10 = 11 << 16 };
	u32 dw0, i;

	(void)state;
	rig_enable();
	for (i = 0; i < 4; i++)
		put_aer((u16)(10 + i));
	rig_admin_put(&abort);
	rig_admin_ring();
	get(11, 0x07, 0);
	get(99, 0, 0);
	assert_int_equal(rig->vm.dev.nr_aer, 3);
	assert_int_equal(rig->vm.dev.aer_cid[1], 12);
	assert_int_equal(rig->vm.dev.aer_cid[2], 13);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 8, .cdw10 = 11 << 16 }, &dw0), 0);
	assert_int_equal(dw0, 1);
	rig->vm.dev.sq[1].created = true;
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 8, .cdw10 = 12 << 16 | 1 }, &dw0), 0);
	assert_int_equal(dw0, 1);		/* an I/O queue's command 12 is not the AER 12 */
	assert_int_equal(rig->vm.dev.nr_aer, 3);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 8, .cdw10 = 2 }, NULL), 0x02 | DNR);
	assert_int_equal(rig_admin((struct nvme_sqe){ .opcode = 8, .cdw10 = 0xFFFF }, NULL), 0x02 | DNR);
}

static void test_abort__more_than_acl__is_1_03(void **state)
{
	u32 i;

	(void)state;
	rig_enable();
	for (i = 0; i < 6; i++)
		rig_admin_put(&(struct nvme_sqe){ .opcode = 8, .cid = (u16)i });
	rig_admin_ring();
	for (i = 0; i < 4; i++)
		get((u16)i, 0, 1);
	get(4, 0x103, 0);
	get(5, 0x103, 0);
}

/* --- queues --- */

/* QD-08, CMB-06 */
static void test_create_cq__bad_fields__answer_as_the_table_says(void **state)
{
	u64 place = rig_slot(1) + 0x10000;

	(void)state;
	rig_enable();
	assert_int_equal(rig_create_cq_at(0, 64, place, 1), 0x101 | DNR);
	assert_int_equal(rig_create_cq_at(NR_QUEUES + 1, 64, place, 1), 0x101 | DNR);
	assert_int_equal(rig_create_cq_at(0xFFFF, 64, place, 1), 0x101 | DNR);
	assert_int_equal(rig_create_cq_at(1, 1, place, 1), 0x102 | DNR);
	assert_int_equal(rig_create_cq_at(1, 0x401, place, 1), 0x102 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, place, 1 | (NR_QUEUES + 1) << 16), 0x108 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, place + 0x200, 1), 0x13 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, place, 0), 0x02 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, rig_slot(2) + 0x10000, 1), 0x12 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, place + 0x1000, 1), 0x12 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, IOCQ, 1), 0x12 | DNR);
	assert_int_equal(rig->nr_created, 0);
	rig_cfg_wr(rig_find_cap(PCIS_CAP_ID_MSIX) + PCIS_MSIX_CONTROL, 0, 2);
	assert_int_equal(rig_create_cq_at(1, 64, place, 1 | 1 << 16), 0x108 | DNR);
	assert_int_equal(rig_create_cq_at(1, 0x400, place, 1), 0);
	assert_int_equal(rig_create_cq_at(1, 64, place, 1), 0x101 | DNR);
	assert_int_equal(rig->nr_created, 1);
}

static void test_create_cq__through_cmbmsc_base__is_found(void **state)
{
	(void)state;
	rig_enable();
	assert_int_equal(rig_create_cq_at(2, 64, 0x8000000000 + 0x40000, 1), 0x12 | DNR);
	liov_device_wr(&rig->vm, NVME_REG_CMBMSC, 0x8000000003, 8);
	assert_int_equal(rig_create_cq_at(2, 64, 0x8000000000 + 0x40000, 1), 0);
}

/* QD-09, QD-10 */
static void test_create_sq__and_deletes__keep_the_order(void **state)
{
	struct nvme_sqe del_cq = { .opcode = 4, .cdw10 = 1 }, del_sq = { .opcode = 0, .cdw10 = 1 };

	(void)state;
	rig_enable();
	assert_int_equal(rig_create_sq_at(1, 64, rig_slot(1), 0), 0x101 | DNR);
	assert_int_equal(rig_create_sq_at(1, 64, rig_slot(1), 200), 0x101 | DNR);
	assert_int_equal(rig_create_sq_at(1, 64, rig_slot(1), 1), 0x100 | DNR);
	assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0);
	assert_int_equal(rig_create_sq_at(1, 64, rig_slot(1) + 0x10000, 1), 0x12 | DNR);
	assert_int_equal(rig_create_sq_at(1, 64, rig_slot(1), 1), 0);
	assert_int_equal(rig_create_sq_at(1, 64, rig_slot(1), 1), 0x101 | DNR);
	assert_int_equal(rig_admin(del_cq, NULL), 0x10C | DNR);
	assert_int_equal(rig_admin(del_sq, NULL), 0);
	assert_int_equal(rig_admin(del_sq, NULL), 0x101 | DNR);
	assert_int_equal(rig_admin(del_cq, NULL), 0);
	assert_int_equal(rig_admin(del_cq, NULL), 0x101 | DNR);
	del_cq.cdw10 = del_sq.cdw10 = 0;
	assert_int_equal(rig_admin(del_cq, NULL), 0x101 | DNR);
	assert_int_equal(rig_admin(del_sq, NULL), 0x101 | DNR);
	rig->queue_err = -ETIMEDOUT;
	assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0x06);
}

/* LIF-04 */
static void test_create_cq__in_a_loop__is_slowed_down(void **state)
{
	struct nvme_sqe del = { .opcode = 4, .cdw10 = 1 };
	u32 i;

	(void)state;
	rig_enable();
	for (i = 0; i < 10; i++) {
		assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0);
		assert_int_equal(rig_admin(del, NULL), 0);
	}
	assert_int_equal(rig->slept_ns, 0);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0);
		assert_int_equal(rig_admin(del, NULL), 0);
	}
	assert_true(rig->slept_ns > 1500000000ull);
}

static void test_memory_commands__errors__have_their_status(void **state)
{
	struct nvme_sqe sqe = { .opcode = 0xC8, .cdw10 = (u32)RAM_BASE, .cdw11 = (u32)(RAM_BASE >> 32), .cdw12 = 0x10000 };

	(void)state;
	rig_enable();
	assert_int_equal(rig_admin(sqe, NULL), 0);
	sqe.cdw12 = 0x10001;
	assert_int_equal(rig_admin(sqe, NULL), 0x02 | DNR);
	sqe.cdw12 = 0x1000;
	sqe.cdw11 = 0;
	assert_int_equal(rig_admin(sqe, NULL), 0x04 | DNR);
	sqe.opcode = 0xC9;
	assert_int_equal(rig_admin(sqe, NULL), 0x06);
}

static void test_admin__full_cq__stops_and_resumes(void **state)
{
	struct nvme_sqe abort = { .opcode = 0x7E };
	struct nvme_cqe cqe;
	u32 i, n = 0;

	(void)state;
	rig_enable();
	wr32(NVME_REG_CC, 0);
	wr32(NVME_REG_AQA, 2 << 16 | 31);	/* CQ of three */
	memset(ram(ACQ), 0, 4096);
	wr32(NVME_REG_CC, CC_GOOD);
	rig->admin_tail = 0;
	for (i = 0; i < 10; i++) {
		abort.cid = (u16)i;
		rig_admin_put(&abort);
	}
	rig_admin_ring();
	for (i = 0; i < 10; i++) {
		memcpy(&cqe, ram(ACQ + i % 3 * 16), 16);
		assert_int_equal(cqe.status & 1, i / 3 % 2 == 0);
		assert_int_equal(cqe.cid, i);
		n++;
		wr32(0x1004, (i + 1) % 3);
	}
	assert_int_equal(n, 10);
}

static void test_admin__queue_memory_gone__is_virtual_cfs(void **state)
{
	(void)state;
	rig_enable();
	rig->vm.dev.asq = 0x1000;
	wr32(0x1000, 1);
	assert_int_equal(rd32(NVME_REG_CSTS), 3);
	wr32(0x1000, 2);
	wr32(NVME_REG_CC, 0);
	assert_int_equal(rd32(NVME_REG_CSTS), 0);
}

static void test_announce_reset__event__and_queues_are_gone(void **state)
{
	(void)state;
	rig_enable();
	assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0);
	put_aer(1);
	rig_admin_ring();
	liov_device_announce_reset(&rig->vm);
	get(1, 0, LIOV_AEN_RESET);
	assert_int_equal(rig_create_cq_at(1, 64, rig_slot(1) + 0x10000, 1), 0);
}
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_admin__opcode_not_offered__is_0_01),
		T(test_admin__sgl_fused_or_unused_nsid__is_0_02),
		T(test_identify__controller__is_built_for_the_vm),
		T(test_identify__namespace__has_the_window_size),
		T(test_identify__buffers__are_checked_page_by_page),
		T(test_identify__prp_offsets__are_0_13),
		T(test_number_of_queues__abuse__is_answered_from_the_reservation),
		T(test_features__unknown_saved_or_fixed__are_refused),
		T(test_get_log__three_pages__prp2_is_a_list),
		T(test_get_log__offsets__never_leave_the_log),
		T(test_aer__limit_and_events__are_the_vms_own),
		T(test_aer__event_before_it__waits),
		T(test_abort__aer__shifts_only_what_is_valid),
		T(test_abort__more_than_acl__is_1_03),
		T(test_create_cq__bad_fields__answer_as_the_table_says),
		T(test_create_cq__through_cmbmsc_base__is_found),
		T(test_create_sq__and_deletes__keep_the_order),
		T(test_create_cq__in_a_loop__is_slowed_down),
		T(test_memory_commands__errors__have_their_status),
		T(test_admin__full_cq__stops_and_resumes),
		T(test_admin__queue_memory_gone__is_virtual_cfs),
		T(test_announce_reset__event__and_queues_are_gone),
	};

	return cmocka_run_group_tests_name("core_device_admin", tests, NULL, NULL);
}
