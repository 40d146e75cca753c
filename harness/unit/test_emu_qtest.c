// SPDX-License-Identifier: GPL-2.0
/* The test protocol itself: expectations from QEMU's description of it (docs/devel/testing, "QTest Protocol"). */

#include "emu_rig.h"
#include "nvme-emu/base64.h"

static int up(void **state)
{
	*state = rig_new(RIG_VTD_Q35);
	return 0;
}

static int down(void **state)
{
	rig_free(*state);
	return 0;
}

static bool fails(struct emu_rig *r, const char *line)
{
	return !strncmp(rig_line(r, line), "FAIL", 4);
}

static void test_numbers__memory__little_endian_values_of_each_width(void **state)
{
	struct emu_rig *r = *state;

	rig_ok(rig_line(r, "writeq 0x1000 0x1122334455667788"));
	assert_string_equal(rig_line(r, "readb 0x1000"), "OK 0x0000000000000088");
	assert_string_equal(rig_line(r, "readw 0x1001"), "OK 0x0000000000006677");
	assert_string_equal(rig_line(r, "readl 4097"), "OK 0x0000000044556677");
	assert_string_equal(rig_line(r, "readq 010000"), "OK 0x1122334455667788");
	rig_ok(rig_line(r, "writeb 0x1000 0x1ff"));
	rig_ok(rig_line(r, "writew 0x1002 0xabcd"));
	rig_ok(rig_line(r, "writel 0x1004 -1"));
	assert_string_equal(rig_line(r, "readq 0x1000"), "OK 0xffffffffabcd77ff");
}

static void test_blocks__hex__short_data_is_filled_with_zeros(void **state)
{
	struct emu_rig *r = *state;

	rig_ok(rig_line(r, "memset 0x1000 0x10 0xee"));
	rig_ok(rig_line(r, "write 0x1000 0x6 0x0102aBcD"));
	assert_string_equal(rig_line(r, "read 0x1000 0x8"), "OK 0x0102abcd0000eeee");
	rig_ok(rig_line(r, "write 0x1000 0x2 0x0a0b0c0d"));
	assert_string_equal(rig_line(r, "read 0x1000 0x4"), "OK 0x0a0babcd");
	rig_ok(rig_line(r, "write 0x1000 0x2 0x1"));
	assert_string_equal(rig_line(r, "read 0x1000 0x3"), "OK 0x0000ab");
	assert_string_equal(rig_line(r, "write 0x1000 0x1 0x"), "ERR invalid argument size");
}

static void test_blocks__memset__zero_size_does_nothing(void **state)
{
	struct emu_rig *r = *state;

	rig_ok(rig_line(r, "memset 0x1000 0x0 0x55"));
	assert_string_equal(rig_line(r, "readl 0x1000"), "OK 0x0000000000000000");
	rig_ok(rig_line(r, "memset 0x1ffe 0x2004 0x55"));
	assert_string_equal(rig_line(r, "read 0x1ffc 0x4"), "OK 0x00005555");
	assert_string_equal(rig_line(r, "read 0x4000 0x4"), "OK 0x55550000");
}

/* RFC 4648, section 10. */
static const char *const vectors[][2] = {
	{ "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
};

static void test_base64__vectors_of_rfc_4648__both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		size_t len = strlen(vectors[i][0]), room = 16;
		char text[16] = "";
		u8 data[16];

		assert_int_equal(base64_encode(text, (const u8 *)vectors[i][0], len), strlen(vectors[i][1]));
		assert_string_equal(text, vectors[i][1]);
		assert_true(base64_decode(data, &room, vectors[i][1]));
		assert_int_equal(room, len);
		assert_memory_equal(data, vectors[i][0], len);
	}
}

static void test_base64__not_base64__refused(void **state)
{
	static const char *const bad[] = { "Zg=", "Z===", "Zm9vY", "Zm 9", "Zm9*", "=", "Zg==Zg==" };
	u8 data[16];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		size_t room = sizeof(data);

		if (base64_decode(data, &room, bad[i]))
			fail_msg("%s was taken", bad[i]);
	}
}

static void test_blocks__base64__as_hex_would(void **state)
{
	struct emu_rig *r = *state;

	rig_ok(rig_line(r, "b64write 0x1000 0x6 Zm9vYmFy"));
	assert_string_equal(rig_line(r, "read 0x1000 0x8"), "OK 0x666f6f6261720000");
	assert_string_equal(rig_line(r, "b64read 0x1000 0x5"), "OK Zm9vYmE=");
	rig_ok(rig_line(r, "b64write 0x1000 0x3 eHh4eHh4"));
	assert_string_equal(rig_line(r, "b64read 0x1000 6"), "OK eHh4YmFy");
	rig_ok(rig_line(r, "b64write 0x2000 0x6 Zm9v"));
	assert_string_equal(rig_line(r, "read 0x2000 0x4"), "OK 0x666f6f00");
}

static void test_unknown__any__fails_and_names_it(void **state)
{
	struct emu_rig *r = *state;

	assert_string_equal(rig_line(r, "dance 1 2"), "FAIL Unknown command 'dance'");
	assert_string_equal(rig_line(r, ""), "FAIL Unknown command ''");
	assert_true(fails(r, "module_load a b"));
}

static void test_endianness__always__little(void **state)
{
	assert_string_equal(rig_line(*state, "endianness"), "OK little");
}

static void test_clock__step_and_set__monotonic_nanoseconds(void **state)
{
	struct emu_rig *r = *state;

	assert_string_equal(rig_line(r, "clock_step"), "OK 0");
	assert_string_equal(rig_line(r, "clock_step 100"), "OK 100");
	assert_string_equal(rig_line(r, "clock_set 5000"), "OK 5000");
	assert_string_equal(rig_line(r, "clock_set 10"), "OK 5000");
	assert_string_equal(rig_line(r, "clock_step -7"), "OK 5000");
	assert_true(fails(r, "clock_set 0xffffffffffffffff"));
	assert_true(fails(r, "clock_step 18446744073709551615"));
	assert_true(fails(r, "clock_set"));
	assert_string_equal(rig_line(r, "clock_step 0"), "OK 5000");
}

static void test_intercept__one_device__others_fail(void **state)
{
	struct emu_rig *r = *state;

	assert_string_equal(rig_line(r, "irq_intercept_in nothing"), "FAIL Unknown device");
	rig_ok(rig_line(r, "irq_intercept_in ioapic"));
	rig_ok(rig_line(r, "irq_intercept_in ioapic"));
	assert_string_equal(rig_line(r, "irq_intercept_out /machine/unattached"), "FAIL IRQ intercept already enabled");
}

static void test_bad_words__each__fails_and_changes_nothing(void **state)
{
	static const char *const bad[] = {
		"outl", "outl 0xcf8", "outl 0xcf8 x", "outl 0x10000 1", "outb 1 2x", "inl", "inl -", "inl 0x1ffff", "writel", "writel 0x1000",
		"writel 0x1000 0x", "writel 0x1000 0x123456789abcdef01", "writel 0xg 1", "readq", "readl ''", "read 0x1000", "read 0x1000 0",
		"read 0x1000 0x1000001", "read 0x1000 0xffffffffffffffff", "b64read 0 0xffffffffffffffff", "write 0x1000 4 1234567",
		"write 0x1000 4 0x12zz", "write 0x1000 0x1000001 0x12", "b64write 0x1000 4 ****", "memset 0x1000 4", "memset 0x1000 4 z",
		"memset 0 0xffffffffffffffff 1", "memset 0x1000 0x4000001 1", "clock_step x", "irq_intercept_in", "set_irq_in a b 0 1",
	};
	struct emu_rig *r = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!fails(r, bad[i]))
			fail_msg("'%s' was answered '%s'", bad[i], r->out);
	assert_string_equal(rig_line(r, "readq 0x1000"), "OK 0x0000000000000000");
}

static void test_lines__cut_anywhere__answered_in_order(void **state)
{
	static const char text[] = "writel 0x1000 0x11\r\n  readl   0x1000  \nreadl 0x1000 extra words here\nendianness\n";
	static const char wanted[] = "OK\nOK 0x0000000000000011\nOK 0x0000000000000011\nOK little\n";
	struct emu_rig *r = *state;

	for (size_t step = 1; step < sizeof(text); step++) {
		r->out_len = 0;
		for (size_t at = 0; at < sizeof(text) - 1; at += step)
			qtest_receive(&r->q, text + at, sizeof(text) - 1 - at < step ? sizeof(text) - 1 - at : step);
		assert_string_equal(r->out, wanted);
	}
}

static void test_lines__zero_byte__fails_and_goes_on(void **state)
{
	struct emu_rig *r = *state;

	rig_feed(r, "readl\0 0x1000\nendianness\n", 25);
	assert_string_equal(r->out, "FAIL a zero byte is in the line\nOK little\n");
}

static void test_lines__too_long__one_failure_and_goes_on(void **state)
{
	struct emu_rig *r = *state;
	char *piece = malloc(1 << 20);

	memset(piece, 'a', 1 << 20);
	rig_feed(r, "write 0x1000 0x1000000 0x", 25);
	for (u32 i = 0; i < 40; i++)
		qtest_receive(&r->q, piece, 1 << 20);
	qtest_receive(&r->q, "\nendianness\n", 12);
	assert_string_equal(r->out, "FAIL a line has at most 32 MiB\nOK little\n");
	free(piece);
}

static void test_lines__largest_write__fits(void **state)
{
	struct emu_rig *r = *state;
	char *line = malloc(QTEST_LINE_MAX);
	int n = sprintf(line, "write 0x100000 0x%llx 0x", (unsigned long long)QTEST_DATA_MAX / 2);

	memset(line + n, '5', QTEST_DATA_MAX);
	line[n + (int)QTEST_DATA_MAX] = '\0';
	rig_ok(rig_line(r, line));
	assert_string_equal(rig_line(r, "readl 0x8ffffc"), "OK 0x0000000055555555");
	assert_string_equal(rig_line(r, "readl 0x900000"), "OK 0x0000000000000000");
	free(line);
}

static void test_disconnect__half_a_line__next_client_starts_anew(void **state)
{
	struct emu_rig *r = *state;

	rig_feed(r, "writel 0x1000 0x", 16);
	qtest_disconnect(&r->q);
	assert_string_equal(rig_line(r, "endianness"), "OK little");
}

/* Bytes that look like the protocol, and bytes that do not: an answer for each line, and no end before its time. */
static void test_random__bytes_and_words__an_answer_a_line(void **state)
{
	static const char *const pieces[] = {
		"outl ", "outb ", "inl ", "writel ", "writeq ", "readq ", "readb ", "read ", "write ", "b64read ", "b64write ", "memset ",
		"clock_step ", "clock_set ", "0xcf8 ", "0xcfc ", "0x80001810 ", "0x80001804 ", "0x80000060 ", "0xb0000001 ", "0xfe000000 ",
		"0xfe000014 ", "0xfe001000 ", "0x460001 ", "0xfd1ffffe ", "0xfed90018 ", "0xfee000b0 ", "0xffffffffffffffff ", "0xfffffffffffffff8 ",
		"-1 ", "0x7 ", "0x100 ", "0x0 ", "0x1 ", "0x6 ", "Zm9vYmFy ", "0x0102030405060708 ", "\n", "\n", "\n", " ", "\t", "=",
	};
	struct emu_rig *r = *state;
	u64 seed = 88172645463325252ULL;
	u32 lines = 0, answers = 0;

	r->out_len = 0;
	rig_send(r, "", 0);
	for (u32 i = 0; i < 200000; i++) {
		char byte;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		byte = (char)(seed >> 24);
		if (seed % 8) {
			const char *piece = pieces[(seed >> 16) % (sizeof(pieces) / sizeof(pieces[0]))];

			lines += *piece == '\n';
			qtest_receive(&r->q, piece, strlen(piece));
		} else {
			lines += byte == '\n';
			qtest_receive(&r->q, &byte, 1);
		}
		for (size_t k = 0; k < r->out_len; k++)
			answers += r->out[k] == '\n';
		r->out_len = 0;
	}
	assert_true(lines > 10000);
	assert_int_equal(lines, answers);
	rig_feed(r, "\n", 1);
	assert_string_equal(rig_line(r, "endianness"), "OK little");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_numbers__memory__little_endian_values_of_each_width, up, down),
		cmocka_unit_test_setup_teardown(test_blocks__hex__short_data_is_filled_with_zeros, up, down),
		cmocka_unit_test_setup_teardown(test_blocks__memset__zero_size_does_nothing, up, down),
		cmocka_unit_test(test_base64__vectors_of_rfc_4648__both_ways),
		cmocka_unit_test(test_base64__not_base64__refused),
		cmocka_unit_test_setup_teardown(test_blocks__base64__as_hex_would, up, down),
		cmocka_unit_test_setup_teardown(test_unknown__any__fails_and_names_it, up, down),
		cmocka_unit_test_setup_teardown(test_endianness__always__little, up, down),
		cmocka_unit_test_setup_teardown(test_clock__step_and_set__monotonic_nanoseconds, up, down),
		cmocka_unit_test_setup_teardown(test_intercept__one_device__others_fail, up, down),
		cmocka_unit_test_setup_teardown(test_bad_words__each__fails_and_changes_nothing, up, down),
		cmocka_unit_test_setup_teardown(test_lines__cut_anywhere__answered_in_order, up, down),
		cmocka_unit_test_setup_teardown(test_lines__zero_byte__fails_and_goes_on, up, down),
		cmocka_unit_test_setup_teardown(test_lines__too_long__one_failure_and_goes_on, up, down),
		cmocka_unit_test_setup_teardown(test_lines__largest_write__fits, up, down),
		cmocka_unit_test_setup_teardown(test_disconnect__half_a_line__next_client_starts_anew, up, down),
		cmocka_unit_test_setup_teardown(test_random__bytes_and_words__an_answer_a_line, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
