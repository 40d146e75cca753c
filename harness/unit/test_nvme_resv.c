// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/*
 * Reservations, Base 7.2 to 7.5 and 8.19. One controller, so one host at a time: another is the
 * same controller with another Host Identifier.
 */

#define CONFLICT 0x083
#define D(status) ((u16)((status) | NVME_DNR))

static int setup(void **state)
{
	struct nvme_config cfg = rig_config();

	cfg.oncs |= NVME_ONCS_RESERVATIONS;
	*state = rig_io_up(&cfg);
	return 0;
}

static u16 resv(struct rig_io *f, u8 opcode, u32 cdw10, u64 first, u64 second)
{
	u64 key[2] = { first, second };
	struct nvme_sqe sqe = rig_rw(opcode, 0, 0, RIG_BUF, 0);

	sqe.cdw10 = cdw10;
	store_write(f->r->memory, RIG_BUF, key, sizeof(key));
	return rig_cmd(f->r, &f->q, sqe);
}

static void host(struct rig_io *f, u64 id)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_SET_FEATURES, .cdw10 = 0x81, .prp1 = RIG_BUF };

	store_write(f->r->memory, RIG_BUF, &id, sizeof(id));
	assert_int_equal(rig_cmd(f->r, &f->r->admin, sqe), 0);
}

static u16 do_register(struct rig_io *f, u64 key) { return resv(f, 0x0D, 0, 0, key); }
static u16 acquire(struct rig_io *f, u64 key, u32 type) { return resv(f, 0x11, type << 8, key, 0); }
static u16 rw(struct rig_io *f, u8 opcode) { return rig_cmd(f->r, &f->q, rig_rw(opcode, 0, 0, RIG_BUF, 0)); }

/* As Report tells: type, registrants, and which of them hold it (bit i), in byte order of the structure. */
static void expect_report(struct rig_io *f, u32 type, u32 nr, u32 holders)
{
	struct nvme_sqe sqe = rig_rw(0x0E, 0, 0, RIG_BUF + 0x1000, 0);
	u8 p[24 + 24 * 8];
	u32 got = 0;

	sqe.cdw10 = sizeof(p) / 4 - 1;
	assert_int_equal(rig_cmd(f->r, &f->q, sqe), 0);
	store_read(f->r->memory, RIG_BUF + 0x1000, p, sizeof(p));
	assert_int_equal(p[4], type);
	assert_int_equal(p[5] | p[6] << 8, nr);
	for (u32 i = 0; i < nr; i++)
		got |= (u32)(p[24 + 24 * i + 2] & 1) << i;
	assert_int_equal(got, holders);
}

static void test_identify__offered__says_which_types(void **state)
{
	struct rig_io *f = *state;
	struct nvme_sqe sqe = { .opcode = NVME_ADM_IDENTIFY, .nsid = 1, .prp1 = RIG_BUF };

	assert_int_equal(rig_cmd(f->r, &f->r->admin, sqe), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 31), 0xFE);
	sqe.nsid = 0;
	sqe.cdw10 = 1;
	assert_int_equal(rig_cmd(f->r, &f->r->admin, sqe), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF + 520) & 0x20, 0x20);
}

static void test_register__again__only_with_the_same_key(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(do_register(f, 0xA), 0);
	assert_int_equal(do_register(f, 0xA), 0);
	assert_int_equal(do_register(f, 0xB), CONFLICT);
	assert_int_equal(resv(f, 0x0D, 2, 0xC, 0xB), CONFLICT);		/* Replace, wrong key */
	assert_int_equal(resv(f, 0x0D, 2, 0xA, 0xB), 0);
	assert_int_equal(resv(f, 0x0D, 2 | 8, 0, 0xC), 0);		/* IEKEY */
	assert_int_equal(resv(f, 0x0D, 1, 0xA, 0), CONFLICT);
	assert_int_equal(resv(f, 0x0D, 1, 0xC, 0), 0);
	assert_int_equal(resv(f, 0x0D, 1, 0xC, 0), CONFLICT);		/* no registrant any more */
	assert_int_equal(resv(f, 0x0D, 3, 0, 0), D(0x002));
	assert_int_equal(resv(f, 0x0D, 3u << 30, 0, 1), D(0x002));	/* CPTPL: no persistence here */
	expect_report(f, 0, 0, 0);
}

static void test_acquire__not_registered_or_wrong__refused(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(acquire(f, 0xA, 1), CONFLICT);
	assert_int_equal(do_register(f, 0xA), 0);
	assert_int_equal(acquire(f, 0xB, 1), CONFLICT);
	assert_int_equal(acquire(f, 0xA, 0), D(0x002));
	assert_int_equal(acquire(f, 0xA, 7), D(0x002));
	assert_int_equal(resv(f, 0x11, 8 | 1 << 8, 0xA, 0), D(0x002));	/* IEKEY is not for Acquire (1.3) */
	assert_int_equal(acquire(f, 0xA, 1), 0);
	assert_int_equal(acquire(f, 0xA, 1), 0);
	assert_int_equal(acquire(f, 0xA, 2), CONFLICT);
	expect_report(f, 1, 1, 1);
}

/* Base figure "Command Behavior in the Presence of a Reservation". */
static void test_commands__by_type__are_let_through_as_the_table_says(void **state)
{
	/* What another host may: r read, w write; registered or not. */
	static const struct { u32 type; bool r, w, registered_r, registered_w; } row[] = {
		{ 1, true, false, true, false }, { 2, false, false, false, false }, { 3, true, false, true, true },
		{ 4, false, false, true, true }, { 5, true, false, true, true }, { 6, false, false, true, true },
	};
	struct rig_io *f = *state;

	for (u32 i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		host(f, 1);
		assert_int_equal(do_register(f, 0xA), 0);
		assert_int_equal(acquire(f, 0xA, row[i].type), 0);
		assert_int_equal(rw(f, NVME_CMD_READ) | rw(f, NVME_CMD_WRITE) | rw(f, NVME_CMD_WRITE_ZEROES), 0);
		host(f, 2);
		assert_int_equal(rw(f, NVME_CMD_READ), row[i].r ? 0 : CONFLICT);
		assert_int_equal(rw(f, NVME_CMD_WRITE), row[i].w ? 0 : CONFLICT);
		assert_int_equal(rw(f, NVME_CMD_FLUSH), row[i].w ? 0 : CONFLICT);
		assert_int_equal(do_register(f, 0xB), 0);
		assert_int_equal(rw(f, NVME_CMD_COMPARE) == CONFLICT, !row[i].registered_r);
		assert_int_equal(rw(f, NVME_CMD_WRITE), row[i].registered_w ? 0 : CONFLICT);
		expect_report(f, row[i].type, 2, row[i].type >= 5 ? 3 : 1);
		assert_int_equal(resv(f, 0x15, 1, 0xB, 0), 0);		/* Clear */
		expect_report(f, 0, 0, 0);
	}
}

static void test_release__by_the_holder__frees(void **state)
{
	struct rig_io *f = *state;

	host(f, 1);
	assert_int_equal(do_register(f, 0xA), 0);
	assert_int_equal(acquire(f, 0xA, 1), 0);
	assert_int_equal(resv(f, 0x15, 2 << 8, 0xA, 0), D(0x002));	/* another type than is held */
	host(f, 2);
	assert_int_equal(resv(f, 0x15, 1 << 8, 0xB, 0), CONFLICT);
	assert_int_equal(do_register(f, 0xB), 0);
	assert_int_equal(resv(f, 0x15, 1 << 8, 0xB, 0), 0);		/* not its own: nothing happens */
	expect_report(f, 1, 2, 1);
	host(f, 1);
	assert_int_equal(resv(f, 0x15, 1 << 8, 0xA, 0), 0);
	expect_report(f, 0, 2, 0);
}

static void test_unregister__of_holders__ends_the_reservation(void **state)
{
	struct rig_io *f = *state;

	for (u32 type = 1; type <= 5; type += 4) {
		host(f, 1);
		assert_int_equal(do_register(f, 0xA), 0);
		assert_int_equal(acquire(f, 0xA, type), 0);
		host(f, 2);
		assert_int_equal(do_register(f, 0xB), 0);
		host(f, 1);
		assert_int_equal(resv(f, 0x0D, 1, 0xA, 0), 0);
		/* Of all registrants: it lasts until the last goes. */
		expect_report(f, type == 5 ? 5 : 0, 1, type == 5 ? 1 : 0);
		host(f, 2);
		assert_int_equal(resv(f, 0x0D, 1, 0xB, 0), 0);
		expect_report(f, 0, 0, 0);
	}
}

static void test_preempt__the_holders_key__takes_over(void **state)
{
	struct rig_io *f = *state;

	host(f, 1);
	assert_int_equal(do_register(f, 0xA), 0);
	assert_int_equal(acquire(f, 0xA, 1), 0);
	host(f, 2);
	assert_int_equal(do_register(f, 0xB), 0);
	assert_int_equal(resv(f, 0x11, 1 | 2 << 8, 0xB, 0), D(0x002));	/* PRKEY 0 is for all-registrants types */
	assert_int_equal(resv(f, 0x11, 1 | 2 << 8, 0xB, 0xC), CONFLICT);
	assert_int_equal(resv(f, 0x11, 1 | 2 << 8, 0xB, 0xA), 0);
	expect_report(f, 2, 1, 1);
	host(f, 1);
	assert_int_equal(rw(f, NVME_CMD_READ), CONFLICT);
}

static void test_reset__a_host_without_identifier__loses_its_registration(void **state)
{
	struct rig_io *f = *state;

	assert_int_equal(do_register(f, 0xA), 0);
	assert_int_equal(acquire(f, 0xA, 1), 0);
	host(f, 2);
	assert_int_equal(do_register(f, 0xB), 0);
	rig_wr32(f->r, NVME_REG_CC, 0);
	rig_run(f->r, RIG_SECOND_PS);
	rig_enable(f->r);
	f->q = rig_pair(f->r, 4, 64, 64);
	expect_report(f, 0, 1, 0);
}

static void test_host_id__longer__refused(void **state)
{
	struct rig_io *f = *state;
	struct nvme_sqe sqe = { .opcode = NVME_ADM_GET_FEATURES, .cdw10 = 0x81, .cdw11 = 1, .prp1 = RIG_BUF };
	struct nvme_sqe report = rig_rw(0x0E, 0, 0, RIG_BUF, 0);

	assert_int_equal(rig_cmd(f->r, &f->r->admin, sqe), D(0x002));
	host(f, 0x1122);
	sqe.cdw11 = 0;
	assert_int_equal(rig_cmd(f->r, &f->r->admin, sqe), 0);
	assert_int_equal(rig_byte(f->r, RIG_BUF), 0x22);
	report.cdw10 = 5;
	report.cdw11 = 1;
	assert_int_equal(rig_cmd(f->r, &f->q, report), D(0x018));
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, rig_io_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_identify__offered__says_which_types),
		T(test_register__again__only_with_the_same_key),
		T(test_acquire__not_registered_or_wrong__refused),
		T(test_commands__by_type__are_let_through_as_the_table_says),
		T(test_release__by_the_holder__frees),
		T(test_unregister__of_holders__ends_the_reservation),
		T(test_preempt__the_holders_key__takes_over),
		T(test_reset__a_host_without_identifier__loses_its_registration),
		T(test_host_id__longer__refused),
	};

	return cmocka_run_group_tests_name("nvme_resv", tests, NULL, NULL);
}
