// SPDX-License-Identifier: GPL-2.0
#include "nvme_siov.h"

/* Namespace Management and Attachment. */

static void test_create__anywhere__first_place_with_room(void **state)
{
	struct siov *f = *state;
	u32 a, b, c;

	assert_int_equal(siov_create(f, 0x100, ANYWHERE, &a), 0);
	assert_int_equal(siov_create(f, 0x200, ANYWHERE, &b), 0);
	assert_int_equal(a, 2);			/* 1 is the host's */
	assert_int_equal(b, 3);
	assert_int_equal(siov_attach(f, a), 0);
	assert_int_equal(siov_attach(f, b), 0);
	rig_media_fill(f->r, HOST_BLOCKS, 1, 0xAA);
	rig_media_fill(f->r, HOST_BLOCKS + 0x100, 1, 0xBB);
	assert_int_equal(siov_read(f, &f->q, a, 0), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 0x2000), 0xAA);
	assert_int_equal(siov_read(f, &f->q, b, 0), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 0x2000), 0xBB);
	/* A hole that is too small is passed, one that fits is taken, with the lowest NSID. */
	assert_int_equal(siov_delete(f, a), 0);
	assert_int_equal(siov_create(f, 0x101, ANYWHERE, &c), 0);
	assert_int_equal(c, a);
	assert_int_equal(siov_create(f, 0x100, ANYWHERE, &c), 0);
	assert_int_equal(siov_attach(f, c), 0);
	assert_int_equal(siov_read(f, &f->q, c, 0), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 0x2000), 0xAA);
}

static void test_create__at_a_place__there_or_not_at_all(void **state)
{
	struct siov *f = *state;
	static const struct { u64 first, blocks; } taken[] = {
		{ 0x4000, 0x100 }, { 0x3FFF, 2 }, { 0x40FF, 2 }, { 0x4010, 1 }, { 0x3000, 0x2000 },
		{ 0, 1 }, { HOST_BLOCKS - 1, 1 }, { MEDIUM, 1 }, { MEDIUM - 1, 2 }, { ~0ULL - 1, 1 }, { 1ULL << 63, 1ULL << 54 },
	};
	u32 nsid = siov_namespace(f, 0x100, 0x4000), other;

	rig_media_fill(f->r, 0x40FF, 1, 0xCC);
	assert_int_equal(siov_read(f, &f->q, nsid, 0xFF), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 0x2000), 0xCC);
	assert_int_equal(siov_read(f, &f->q, nsid, 0x100), D(0x080));
	for (unsigned int i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		assert_int_equal(siov_create(f, taken[i].blocks, taken[i].first, NULL), D(NO_CAPACITY));
	/* Beside it, and up to the end. */
	assert_int_equal(siov_create(f, 1, 0x3FFF, &other), 0);
	assert_int_equal(siov_create(f, 1, 0x4100, &other), 0);
	assert_int_equal(siov_create(f, 1, MEDIUM - 1, &other), 0);
}

static void test_create__medium_or_ids_used_up__refused(void **state)
{
	struct siov *f = *state;
	u32 nsid;

	assert_int_equal(siov_create(f, MEDIUM - HOST_BLOCKS + 1, ANYWHERE, NULL), D(NO_CAPACITY));
	for (u32 i = 2; i <= NVME_NAMESPACES_MAX; i++) {
		assert_int_equal(siov_create(f, 1, ANYWHERE, &nsid), 0);
		assert_int_equal(nsid, i);
	}
	assert_int_equal(siov_create(f, 1, ANYWHERE, NULL), D(NO_NSID));
	assert_int_equal(siov_delete(f, 17), 0);
	assert_int_equal(siov_create(f, 1, ANYWHERE, &nsid), 0);
	assert_int_equal(nsid, 17);
}

static void wish_byte(struct siov *f, u32 off, u8 val, u16 status)
{
	struct nvme_cqe cqe;

	siov_wish(f, 0x100, 0x100, ANYWHERE);
	store_write(f->r->memory, RIG_BUF + off, &val, 1);
	cqe = siov_create_wished(f);
	assert_int_equal(rig_status(&cqe), status);
}

static void wish_size(struct siov *f, u64 nsze, u64 ncap, u16 status)
{
	struct nvme_cqe cqe;

	siov_wish(f, nsze, ncap, ANYWHERE);
	cqe = siov_create_wished(f);
	assert_int_equal(rig_status(&cqe), status);
}

static void test_create__what_is_not_offered__refused(void **state)
{
	struct siov *f = *state;

	wish_byte(f, 26, 1, D(INVALID_FORMAT));		/* FLBAS */
	wish_byte(f, 29, 1, D(INVALID_FIELD));		/* DPS, without metadata */
	wish_byte(f, 30, 1, D(INVALID_FIELD));		/* NMIC */
	wish_size(f, 0, 0, D(INVALID_FIELD));
	wish_size(f, 0x100, 0, D(INVALID_FIELD));
	wish_size(f, 0x100, 0x101, D(INVALID_FIELD));
	wish_size(f, ~0ULL, 1, D(INVALID_FIELD));
	wish_size(f, 0x200, 0x100, 0);			/* thin */
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x0D, .prp1 = RIG_BUF, .cdw10 = 2 }), D(INVALID_FIELD));
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x0D, .prp1 = RIG_BUF, .nsid = 1 }), D(INVALID_FIELD));
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x15, .prp1 = RIG_BUF, .nsid = 1, .cdw10 = 2 }), D(INVALID_FIELD));
	/* The wish cannot be fetched. */
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x0D, .prp1 = RIG_NO_TARGET }) & 0x7FF, 0x004);
	assert_int_equal(rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x15, .prp1 = RIG_NO_TARGET, .nsid = 1 }) & 0x7FF, 0x004);
}

static void test_attach__life_of_a_namespace__active_only_while_attached(void **state)
{
	struct siov *f = *state;
	u32 nsid;

	assert_int_equal(siov_read(f, &f->q, 2, 0), D(INVALID_FIELD));
	assert_int_equal(siov_create(f, 0x100, 0x4000, &nsid), 0);
	assert_int_equal(siov_read(f, &f->q, nsid, 0), D(INVALID_FIELD));
	assert_int_equal(siov_detach(f, nsid), D(NOT_ATTACHED));
	assert_int_equal(siov_attach(f, nsid), 0);
	assert_int_equal(siov_attach(f, nsid), D(IS_ATTACHED));
	assert_int_equal(siov_read(f, &f->q, nsid, 0), 0);
	assert_int_equal(siov_detach(f, nsid), 0);
	assert_int_equal(siov_read(f, &f->q, nsid, 0), D(INVALID_FIELD));
	assert_int_equal(siov_attach(f, nsid), 0);
	assert_int_equal(siov_delete(f, nsid), 0);
	assert_int_equal(siov_read(f, &f->q, nsid, 0), D(INVALID_FIELD));
	/* Who has the number next starts unattached. */
	assert_int_equal(siov_create(f, 0x100, 0x5000, NULL), 0);
	assert_int_equal(siov_read(f, &f->q, nsid, 0), D(INVALID_FIELD));
}

static void test_attach__to_nothing_or_nobody__refused(void **state)
{
	struct siov *f = *state;
	static const u32 none[] = { 0, 2, 64, 65, 0x10002, 0xFFFFFFFE };

	for (unsigned int i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_int_equal(siov_attach(f, none[i]), D(INVALID_NSID));
		assert_int_equal(siov_detach(f, none[i]), D(INVALID_NSID));
		assert_int_equal(siov_delete(f, none[i]), D(INVALID_NSID));
	}
	assert_int_equal(siov_attach(f, 0xFFFFFFFF), D(INVALID_NSID));
	assert_int_equal(siov_detach(f, 0xFFFFFFFF), D(INVALID_NSID));
	assert_int_equal(siov_attach_list(f, 1, true, 0, 0), D(BAD_LIST));
	assert_int_equal(siov_attach_list(f, 1, true, 2, 0), D(BAD_LIST));
	assert_int_equal(siov_attach_list(f, 1, true, 1, 1), D(BAD_LIST));
	assert_int_equal(siov_attach_list(f, 1, true, 0xFFFF, 0), D(BAD_LIST));
	assert_int_equal(siov_read(f, &f->q, 1, 0), 0);
}

/* Base 5.24.1: commands in flight end, with a status, and before the place can be somebody else's. */
static void test_delete__commands_in_flight__end_and_move_nothing(void **state)
{
	struct siov *f = *state;

	for (u32 how = 0; how < 2; how++) {
		u32 nsid = siov_namespace(f, 0x100, 0x4000);
		struct nvme_cqe cqe;

		rig_fill(f->r, RIG_BUF + 0x2000, 512, 0x11);
		rig_media_fill(f->r, 0x4000, 1, 0x22);
		rig_put(f->r, &f->q, siov_io(0x02, nsid, 0));
		rig_ring(f->r, &f->q);
		rig_run(f->r, 10 * PS_PER_US);		/* fetched, the medium is at work */
		assert_int_equal(how ? siov_detach(f, nsid) : siov_delete(f, nsid), 0);
		rig_run(f->r, PS_PER_MS);
		assert_true(rig_peek(f->r, &f->q, &cqe, true));
		assert_int_equal(rig_status(&cqe) & 0x7FF, INVALID_NSID);
		assert_int_equal(rig_byte(f->r, RIG_BUF + 0x2000), 0x11);
	}
}

static void test_delete__all__nothing_is_left_and_all_can_be_had(void **state)
{
	struct siov *f = *state;
	u32 nsid;

	siov_namespace(f, 0x100, 0x4000);
	siov_namespace(f, 0x100, 0x8000);
	assert_int_equal(siov_delete(f, 0xFFFFFFFF), 0);
	for (nsid = 1; nsid <= 3; nsid++)
		assert_int_equal(siov_read(f, &f->q, nsid, 0), D(INVALID_FIELD));
	assert_int_equal(siov_create(f, MEDIUM, 0, &nsid), 0);
	assert_int_equal(nsid, 1);
}

/* Base 3.7.2: a controller reset changes no namespace and no attachment. */
static void test_reset__namespaces__stay(void **state)
{
	struct siov *f = *state;
	u32 there = siov_namespace(f, 0x100, 0x4000), detached = siov_namespace(f, 0x100, 0x8000);

	assert_int_equal(siov_detach(f, detached), 0);
	rig_wr32(f->r, NVME_REG_CC, 0);
	rig_run(f->r, PS_PER_MS);
	rig_enable(f->r);
	f->q = rig_pair(f->r, 1, 64, 64);
	assert_int_equal(siov_read(f, &f->q, there, 0), 0);
	assert_int_equal(siov_read(f, &f->q, detached, 0), D(INVALID_FIELD));
	assert_int_equal(siov_create(f, 1, 0x4000, NULL), D(NO_CAPACITY));
}

static void test_not_offered__opcodes_are_unknown(void **state)
{
	struct nvme_config cfg = rig_config();
	struct rig *r = rig_up(&cfg);

	(void)state;
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0x0D, .prp1 = RIG_BUF }), D(0x001));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0x15, .prp1 = RIG_BUF, .nsid = 1 }), D(0x001));
	assert_int_equal(rig_admin(r, (struct nvme_sqe){ .opcode = 0xC2, .cdw10 = 1 }), D(0x001));
	rig_free(r);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, siov_setup, siov_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_create__anywhere__first_place_with_room),
		T(test_create__at_a_place__there_or_not_at_all),
		T(test_create__medium_or_ids_used_up__refused),
		T(test_create__what_is_not_offered__refused),
		T(test_attach__life_of_a_namespace__active_only_while_attached),
		T(test_attach__to_nothing_or_nobody__refused),
		T(test_delete__commands_in_flight__end_and_move_nothing),
		T(test_delete__all__nothing_is_left_and_all_can_be_had),
		T(test_reset__namespaces__stay),
		cmocka_unit_test(test_not_offered__opcodes_are_unknown),
	};

	return cmocka_run_group_tests_name("nvme_ns", tests, NULL, NULL);
}
