// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* Admin commands: the table "Admin commands and queues", and what Identify, features and logs tell. */

#define D(status) ((u16)((status) | NVME_DNR))
#define QMEM (RIG_IO_QUEUES + 0x400000)

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();

	*state = rig_up(&cfg);
	return 0;
}

static int teardown(void **state)
{
	rig_free(*state);
	return 0;
}

static struct nvme_sqe create(u8 opcode, u32 qid, u32 qsize_field, u64 base, u32 cdw11)
{
	return (struct nvme_sqe){ .opcode = opcode, .prp1 = base, .cdw10 = qsize_field << 16 | qid, .cdw11 = cdw11 };
}

static void test_admin__opcode_unknown__invalid_opcode(void **state)
{
	static const u8 opcodes[] = { 0x7E, 0x84, 0x10, 0x11, 0x0D, 0x15, 0x81, 0x1C, 0xC1, 0xFF };

	for (size_t i = 0; i < sizeof(opcodes); i++)
		assert_int_equal(rig_admin(*state, (struct nvme_sqe){ .opcode = opcodes[i] }), D(0x001));
}

static void test_admin__sgl_or_fused__invalid_field(void **state)
{
	static const u8 flags[] = { 0x40, 0x80, 0xC0, 0x01, 0x02 };

	for (size_t i = 0; i < sizeof(flags); i++)
		assert_int_equal(rig_admin(*state, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .flags = flags[i],
								      .prp1 = RIG_BUF, .cdw10 = 1 }), D(0x002));
	assert_int_equal(rig_admin(*state, (struct nvme_sqe){ .opcode = NVME_ADM_DELETE_SQ, .nsid = 1, .cdw10 = 1 }),
			 D(0x002));
}

static void test_create_cq__bad_field__as_table_says(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 0, 63, QMEM, 1)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 65, 63, QMEM, 1)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 0xFFFF, 63, QMEM, 1)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 4, 63, QMEM, 1)), 0);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 4, 63, QMEM, 1)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 0, QMEM, 1)), D(0x102));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 0x400, QMEM, 1)), D(0x102));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 0xFFFF, QMEM, 1)), D(0x102));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 63, QMEM, 1 | 65 << 16)), D(0x108));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 63, QMEM + 0x200, 1)), D(0x013));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 63, QMEM, 0)), D(0x002));
	pci_cfg_write(&r->root, RIG_RID, r->fn->cap_msix + PCIS_MSIX_CONTROL, 0, 2);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 63, QMEM, 1 | 1 << 16)), D(0x108));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 5, 0x3FF, QMEM, 1)), 0);
}

static void test_create_sq__bad_field__as_table_says(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_CQ, 4, 63, QMEM, 1)), 0);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 0, 63, QMEM, 1 | 4 << 16)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 65, 63, QMEM, 1 | 4 << 16)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM, 1)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM, 1 | 200 << 16)), D(0x101));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM, 1 | 5 << 16)), D(0x100));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 0, QMEM, 1 | 4 << 16)), D(0x102));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 0x400, QMEM, 1 | 4 << 16)), D(0x102));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM + 0x200, 1 | 4 << 16)), D(0x013));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM, 4 << 16)), D(0x002));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM, 1 | 4 << 16)), 0);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 63, QMEM, 1 | 4 << 16)), D(0x101));
}

static void test_delete__order_and_ids__as_table_says(void **state)
{
	struct rig *r = *state;

	rig_pair(r, 4, 64, 64);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 4), 0x10C);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 0), D(0x101));
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 0), D(0x101));
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 5), D(0x101));
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 0xFFFF), D(0x101));
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 0xFFFF), D(0x101));
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 4), 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 4), D(0x101));
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 4), 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 4), D(0x101));
	rig_pair(r, 4, 64, 64);
}

static void test_delete_cq__shared_by_two_sqs__needs_both_gone(void **state)
{
	struct rig *r = *state;

	rig_pair(r, 4, 64, 64);
	assert_int_equal(rig_create_sq(r, 5, 64, QMEM, 4), 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 4), 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 4), 0x10C);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_SQ, 5), 0);
	assert_int_equal(rig_delete(r, NVME_ADM_DELETE_CQ, 4), 0);
}

static void test_create__not_contiguous__list_is_used_and_checked(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig_queue q;
	struct rig *r;

	(void)state;
	cfg.cqr = false;
	r = rig_up(&cfg);
	assert_int_equal((rig_rd(r, NVME_REG_CAP, 8) >> 16) & 1, 0);
	/* 128 SQEs in two pages that are apart; the CQ is contiguous. */
	rig_set64(r, RIG_LIST, QMEM);
	rig_set64(r, RIG_LIST + 8, QMEM + 0x4000);
	rig_fill(r, QMEM, 0x6000, 0);
	assert_int_equal(rig_create_cq(r, 4, 256, QMEM + 0x10000, 4), 0);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 4, 127, RIG_LIST, 4 << 16)), 0);
	q = rig_queue(4, QMEM, 64, QMEM + 0x10000, 256);
	for (int i = 0; i < 63; i++)
		assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0)), 0);
	/* Entry 64 lies in the second page. */
	rig_put(r, &q, rig_rw(NVME_CMD_READ, 0, 0, RIG_BUF, 0));
	q.sq = QMEM + 0x4000 - 64 * 64;
	q.sq_size = 128;
	q.tail = 64;
	rig_put(r, &q, rig_rw(0x7F, 0, 0, 0, 0));
	rig_ring(r, &q);
	rig_run(r, PS_PER_MS);
	assert_int_equal(nvme_counters(r->nvme)->queue_fetched[4], 65);
	assert_int_equal(nvme_counters(r->nvme)->refused, 1);
	rig_set64(r, RIG_LIST + 8, QMEM + 0x4200);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 5, 127, RIG_LIST, 4 << 16)), D(0x013));
	rig_set64(r, RIG_LIST + 8, RIG_BAR0);
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 5, 127, RIG_LIST, 4 << 16)), D(0x004));
	assert_int_equal(rig_admin(r, create(NVME_ADM_CREATE_SQ, 5, 127, RIG_NO_TARGET, 4 << 16)), 0x004);
	rig_free(r);
}

static struct nvme_sqe identify(u8 cns, u32 nsid)
{
	return (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .nsid = nsid, .prp1 = RIG_BUF, .cdw10 = cns };
}

static u64 buf_field(struct rig *r, u32 off, u32 len)
{
	u64 val = 0;

	assert_true(bus_ram_read(&r->bus, (hpa_t){ RIG_BUF + off }, &val, len));
	return val;
}

static void test_identify__controller__tells_configuration(void **state)
{
	struct rig *r = *state;
	char text[40];

	assert_int_equal(rig_admin(r, identify(1, 0)), 0);
	assert_true(bus_ram_read(&r->bus, (hpa_t){ RIG_BUF + 4 }, text, 20));
	assert_memory_equal(text, "SN0001              ", 20);
	assert_true(bus_ram_read(&r->bus, (hpa_t){ RIG_BUF + 24 }, text, 40));
	assert_memory_equal(text, "Model                                   ", 40);
	assert_int_equal(buf_field(r, 77, 1), 5);		/* MDTS */
	assert_int_equal(buf_field(r, 80, 4), 0x10400);		/* VER */
	assert_int_equal(buf_field(r, 256, 2), 2);		/* OACS: Format */
	assert_int_equal(buf_field(r, 259, 1), 3);		/* AERL */
	assert_int_equal(buf_field(r, 512, 1), 0x66);
	assert_int_equal(buf_field(r, 513, 1), 0x44);
	assert_int_equal(buf_field(r, 516, 4), 4);		/* NN */
	assert_int_equal(buf_field(r, 520, 2), 0xD);		/* ONCS */
	assert_int_equal(buf_field(r, 536, 4), 0);		/* SGLS */
	assert_int_equal(buf_field(r, 3072, 4), 0);		/* no resource domains */
}

static void test_identify__namespace__active_inactive_and_wrong(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, identify(0, 1)), 0);
	assert_int_equal(buf_field(r, 0, 8), RIG_NSZE);
	assert_int_equal(buf_field(r, 8, 8), RIG_NSZE);
	assert_int_equal(buf_field(r, 33, 1), 1);		/* DLFEAT: reads zero */
	assert_int_equal(buf_field(r, 128, 4), 9 << 16);	/* LBADS 9 */
	assert_true(buf_field(r, 104, 8) && buf_field(r, 120, 8));
	assert_int_equal(rig_admin(r, identify(0, 2)), 0);
	assert_int_equal(buf_field(r, 0, 8), 0);
	assert_int_equal(rig_admin(r, identify(0, 0)), D(0x00B));
	assert_int_equal(rig_admin(r, identify(0, 5)), D(0x00B));
	assert_int_equal(rig_admin(r, identify(0, 0xFFFFFFFF)), D(0x00B));
}

static void test_identify__lists_and_unknown_cns(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, identify(2, 0)), 0);
	assert_int_equal(buf_field(r, 0, 8), 1);
	assert_int_equal(rig_admin(r, identify(2, 1)), 0);
	assert_int_equal(buf_field(r, 0, 8), 0);
	assert_int_equal(rig_admin(r, identify(2, 0xFFFFFFFE)), D(0x00B));
	assert_int_equal(rig_admin(r, identify(3, 1)), 0);
	assert_int_equal(buf_field(r, 0, 2), 0x0801);		/* EUI64, 8 bytes */
	assert_int_equal(buf_field(r, 12, 2), 0x1002);		/* NGUID, 16 bytes */
	assert_int_equal(buf_field(r, 32, 2), 0x1003);		/* UUID */
	assert_int_equal(buf_field(r, 52, 4), 0);		/* end of list */
	assert_int_equal(rig_admin(r, identify(3, 2)), D(0x002));
	for (u32 cns = 4; cns < 256; cns++)
		assert_int_equal(rig_admin(r, identify((u8)cns, 1)), D(0x002));
}

static void test_identify__buffer_over_two_pages__is_split(void **state)
{
	struct rig *r = *state;
	struct nvme_sqe sqe = identify(1, 0);

	sqe.prp1 = RIG_BUF + 0xFF8;
	sqe.prp2 = RIG_BUF + 0x5000;
	rig_fill(r, RIG_BUF + 0x1000, 0x1000, 0xEE);
	assert_int_equal(rig_admin(r, sqe), 0);
	assert_int_equal(buf_field(r, 0x5000 + 512 - 8, 2), 0x4466);
	assert_int_equal(rig_byte(r, RIG_BUF + 0x1000), 0xEE);
	sqe.prp1 = RIG_BAR0;
	assert_int_equal(rig_admin(r, sqe), D(0x004));
}

static struct nvme_sqe get_log(u8 lid, u32 dwords, u64 offset)
{
	return (struct nvme_sqe){ .opcode = NVME_ADM_GET_LOG_PAGE, .nsid = 0xFFFFFFFF, .prp1 = RIG_BUF,
				  .prp2 = RIG_BUF + 0x1000, .cdw10 = ((dwords - 1) & 0xFFFF) << 16 | lid,
				  .cdw11 = (dwords - 1) >> 16, .cdw12 = (u32)offset, .cdw13 = (u32)(offset >> 32) };
}

static void test_log__bad_request__as_table_says(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, get_log(0x00, 4, 0)), D(0x109));
	assert_int_equal(rig_admin(r, get_log(0x23, 4, 0)), D(0x109));
	assert_int_equal(rig_admin(r, get_log(4, 0x400, 0x1000)), D(0x002));
	assert_int_equal(rig_admin(r, get_log(4, 0x400, 0xFFFFFFFC)), D(0x002));
	assert_int_equal(rig_admin(r, get_log(4, 0x400, ~3ULL)), D(0x002));
	assert_int_equal(rig_admin(r, get_log(4, 0x400, 2)), D(0x002));
	assert_int_equal(rig_admin(r, get_log(4, 0xFFFFFFFF, 0)), D(0x002));	/* above MDTS */
	assert_int_equal(rig_admin(r, get_log(4, 0x400, 0)), 0);
}

static void test_log__shorter_than_asked__rest_is_untouched(void **state)
{
	struct rig *r = *state;

	rig_fill(r, RIG_BUF, 0x2000, 0xEE);
	assert_int_equal(rig_admin(r, get_log(2, 0x400, 500)), 0);	/* 12 of 512 bytes */
	assert_int_equal(rig_byte(r, RIG_BUF + 11), 0);
	assert_int_equal(rig_byte(r, RIG_BUF + 12), 0xEE);
}

static void test_log__error__newest_first(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0x7E }), D(0x001));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_DELETE_SQ, .cdw10 = 9, .cid = 0x77 }),
			 D(0x101));
	assert_int_equal(rig_admin(r, get_log(1, 32, 0)), 0);
	assert_int_equal(buf_field(r, 0, 8), 2);
	assert_int_equal(buf_field(r, 8, 2), 0);
	assert_int_equal(buf_field(r, 10, 2), 0x77);
	assert_int_equal(buf_field(r, 12, 2), 0x8000 | 0x101 << 1);
	assert_int_equal(buf_field(r, 64, 8), 1);
}

static void test_log__smart_firmware_effects__tell(void **state)
{
	struct rig *r = *state;
	struct rig_queue q = rig_pair(r, 1, 64, 64);

	for (int i = 0; i < 251; i++)	/* 2008 blocks: 3 units of 1000, rounded up */
		assert_int_equal(rig_cmd(r, &q, rig_rw(NVME_CMD_READ, 0, 7, RIG_BUF, 0)), 0);
	assert_int_equal(rig_admin(r, get_log(2, 128, 0)), 0);
	assert_int_equal(buf_field(r, 32, 8), 3);
	assert_int_equal(buf_field(r, 64, 8), 251);
	assert_int_equal(buf_field(r, 48, 8), 0);
	assert_int_equal(rig_admin(r, get_log(3, 128, 0)), 0);
	assert_int_equal(buf_field(r, 0, 1), 1);
	assert_int_equal(buf_field(r, 8, 3), 0x302E31);	/* "1.0" */
	assert_int_equal(rig_admin(r, get_log(5, 1024, 0)), 0);
	assert_int_equal(buf_field(r, 4 * 0x06, 4), 1);
	assert_int_equal(buf_field(r, 4 * 0x80, 4), 3);
	assert_int_equal(buf_field(r, 4 * 0xC1, 4), 0);
	assert_int_equal(buf_field(r, 1024 + 4 * 0x02, 4), 1);
	assert_int_equal(buf_field(r, 1024 + 4 * 0x01, 4), 3);
}

static struct nvme_sqe feature(u8 opcode, u32 fid, u32 cdw11)
{
	return (struct nvme_sqe){ .opcode = opcode, .cdw10 = fid, .cdw11 = cdw11 };
}

static u32 get_feature(struct rig *r, u32 cdw10, u32 cdw11)
{
	struct nvme_cqe cqe = rig_cqe(r, &r->admin, feature(NVME_ADM_GET_FEATURES, cdw10, cdw11));

	assert_int_equal(rig_status(&cqe), 0);
	return cqe.dw0;
}

static void test_feature__number_of_queues__rules(void **state)
{
	struct rig *r = *state;
	struct nvme_cqe cqe;

	assert_int_equal(get_feature(r, 7, 0), 63 << 16 | 63);
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 7, 0xFFFF)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 7, 0xFFFF0000)), D(0x002));
	cqe = rig_cqe(r, &r->admin, feature(NVME_ADM_SET_FEATURES, 7, 0xFFFE0003));
	assert_int_equal(rig_status(&cqe), 0);
	assert_int_equal(cqe.dw0, 63 << 16 | 3);
	assert_int_equal(rig_create_cq(r, 5, 64, QMEM, 0), 0);
	assert_int_equal(rig_create_sq(r, 5, 64, QMEM, 5), D(0x101));	/* above what was granted */
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 7, 0)), D(0x00C));
}

static void test_feature__bad_request__as_table_says(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 0x7F, 0)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 0, 0)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 3, 0)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 0x80000004, 0)), D(0x10D));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_SET_FEATURES, .nsid = 1, .cdw10 = 4 }),
			 D(0x10F));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_SET_FEATURES, .nsid = 9, .cdw10 = 4 }),
			 D(0x00B));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 2, 1)), D(0x002));	/* one power state */
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 9, 65)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 4, 1 << 16)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 5, 0)), D(0x00B));	/* needs a namespace */
	assert_int_equal(rig_admin(r, feature(NVME_ADM_GET_FEATURES, 0x7F, 0)), D(0x002));
	assert_int_equal(rig_admin(r, feature(NVME_ADM_GET_FEATURES, 4 << 8 | 1, 0)), D(0x002));
	/* Base 5.15: of all namespaces at once there is no value. 5.27: they can be set at once. */
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_GET_FEATURES, .nsid = ~0u, .cdw10 = 5 }), D(0x00B));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_SET_FEATURES, .nsid = ~0u, .cdw10 = 5 }), 0);
}

static void test_feature__set__is_read_back_until_reset(void **state)
{
	struct rig *r = *state;

	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 1, 0x04030203)), 0);
	assert_int_equal(get_feature(r, 1, 0), 0x04030203);
	assert_int_equal(get_feature(r, 1 << 8 | 1, 0), 0);		/* default */
	assert_int_equal(get_feature(r, 3 << 8 | 1, 0), 4);		/* changeable */
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 4, 0x150)), 0);
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 4, 1 << 20 | 0x100)), 0);
	assert_int_equal(get_feature(r, 4, 0), 0x150);
	assert_int_equal(get_feature(r, 4, 1 << 20), 0x100);
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 9, 1 << 16 | 64)), 0);
	assert_int_equal(get_feature(r, 9, 64), 1 << 16 | 64);
	assert_int_equal(get_feature(r, 9, 63), 63);
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 6, 0)), 0);
	assert_int_equal(get_feature(r, 6, 0), 0);
	assert_int_equal(rig_admin(r, feature(NVME_ADM_SET_FEATURES, 11, 0x1F)), 0);
	assert_int_equal(get_feature(r, 11, 0), 0x1F);
	rig_wr32(r, NVME_REG_CC, 0);
	rig_run(r, RIG_SECOND_PS);
	rig_enable(r);
	assert_int_equal(get_feature(r, 1, 0), 0);
	assert_int_equal(get_feature(r, 6, 0), 1);
}

static void test_format__wipes_namespace(void **state)
{
	struct rig *r = *state;
	struct nvme_sqe sqe = { .opcode = NVME_ADM_FORMAT, .nsid = 0xFFFFFFFF };

	rig_media_fill(r, 0, 1, 7);
	rig_media_fill(r, RIG_NSZE - 1, 1, 7);
	sqe.cdw10 = 1;
	assert_int_equal(rig_admin(r, sqe), D(0x10A));
	sqe.cdw10 = 3 << 9;
	assert_int_equal(rig_admin(r, sqe), D(0x002));
	sqe.cdw10 = 0;
	sqe.nsid = 0;
	assert_int_equal(rig_admin(r, sqe), D(0x00B));
	sqe.nsid = 2;
	assert_int_equal(rig_admin(r, sqe), D(0x002));
	assert_int_equal(rig_media_byte(r, 0), 7);
	sqe.nsid = 1;
	sqe.cdw10 = 1 << 9;
	assert_int_equal(rig_admin(r, sqe), 0);
	assert_int_equal(rig_media_byte(r, 0), 0);
	assert_int_equal(rig_media_byte(r, RIG_NSZE - 1), 0);
}

/* NVM, Error Recovery (FID 05h): specific to a namespace, so each has its own. */
static void test_feature__of_a_namespace__is_that_ones_alone(void **state)
{
	struct nvme_config cfg = rig_config();
	struct nvme_sqe set = { .opcode = NVME_ADM_SET_FEATURES, .nsid = 3, .cdw10 = 5, .cdw11 = 7 };
	struct nvme_sqe get = { .opcode = NVME_ADM_GET_FEATURES, .nsid = 1, .cdw10 = 5 };
	struct rig *r;

	(void)state;
	cfg.ns[0] = (struct nvme_ns_config){ .nsze = 0x1000, .ncap = 0x1000 };
	cfg.ns[2] = (struct nvme_ns_config){ .first_block = 0x1000, .nsze = 0x100, .ncap = 0x100 };
	r = rig_up(&cfg);
	assert_int_equal(rig_admin(r, set), 0);
	assert_int_equal(rig_cqe(r, &r->admin, get).dw0, 0);
	get.nsid = 3;
	assert_int_equal(rig_cqe(r, &r->admin, get).dw0, 7);
	set.nsid = NVME_NSID_ALL;
	set.cdw11 = 9;
	assert_int_equal(rig_admin(r, set), 0);
	assert_int_equal(rig_cqe(r, &r->admin, get).dw0, 9);
	get.nsid = 1;
	assert_int_equal(rig_cqe(r, &r->admin, get).dw0, 9);
	rig_free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_admin__opcode_unknown__invalid_opcode),
		T(test_admin__sgl_or_fused__invalid_field),
		T(test_create_cq__bad_field__as_table_says),
		T(test_create_sq__bad_field__as_table_says),
		T(test_delete__order_and_ids__as_table_says),
		T(test_delete_cq__shared_by_two_sqs__needs_both_gone),
		cmocka_unit_test(test_feature__of_a_namespace__is_that_ones_alone),
		cmocka_unit_test(test_create__not_contiguous__list_is_used_and_checked),
		T(test_identify__controller__tells_configuration),
		T(test_identify__namespace__active_inactive_and_wrong),
		T(test_identify__lists_and_unknown_cns),
		T(test_identify__buffer_over_two_pages__is_split),
		T(test_log__bad_request__as_table_says),
		T(test_log__shorter_than_asked__rest_is_untouched),
		T(test_log__error__newest_first),
		T(test_log__smart_firmware_effects__tell),
		T(test_feature__number_of_queues__rules),
		T(test_feature__bad_request__as_table_says),
		T(test_feature__set__is_read_back_until_reset),
		T(test_format__wipes_namespace),
	};

	return cmocka_run_group_tests_name("nvme_admin", tests, NULL, NULL);
}
