// SPDX-License-Identifier: GPL-2.0
/* QMP as QEMU's docs/interop/qmp-spec has it: greeting, capabilities, answers with id, errors, events. */

#include "emu_rig.h"
#include "nvme-emu/qmp.h"

#include <jansson.h>

struct side {
	struct emu_rig *r;
	struct qmp *q;
};

static int up(void **state)
{
	struct side *s = calloc(1, sizeof(*s));

	s->r = rig_new("-smp 2 " RIG_VTD_Q35);
	s->q = calloc(1, sizeof(*s->q));
	qmp_init(s->q, s->r->m, rig_send, s->r);
	rig_send(s->r, "", 0);
	qmp_connect(s->q);
	*state = s;
	return 0;
}

static int down(void **state)
{
	struct side *s = *state;

	rig_free(s->r);
	free(s->q);
	free(s);
	return 0;
}

/* Answer number @nr of those that @text caused; each is one line that ends with CR LF. */
static json_t *tell(struct side *s, const char *text, u32 nr)
{
	json_t *value;
	char *at, *end;

	s->r->out_len = 0;
	rig_send(s->r, "", 0);
	qmp_receive(s->q, text, strlen(text));
	at = s->r->out;
	while (nr--) {
		end = strstr(at, "\r\n");
		assert_non_null(end);
		at = end + 2;
	}
	end = strstr(at, "\r\n");
	if (!end)
		fail_msg("no answer to %s", text);
	value = json_loadb(at, (size_t)(end - at), 0, NULL);
	assert_non_null(value);
	return value;
}

static void expect_return(struct side *s, const char *text)
{
	json_t *value = tell(s, text, 0);

	assert_non_null(json_object_get(value, "return"));
	json_decref(value);
}

static void expect_error(struct side *s, const char *text, const char *class)
{
	json_t *value = tell(s, text, 0);
	const char *got = json_string_value(json_object_get(json_object_get(value, "error"), "class"));

	if (!got || strcmp(got, class))
		fail_msg("%s: %s, not %s", text, got ? got : "no error", class);
	json_decref(value);
}

static void negotiate(struct side *s)
{
	expect_return(s, "{\"execute\": \"qmp_capabilities\"}\n");
}

static void test_greeting__on_connection__version_and_capabilities(void **state)
{
	struct side *s = *state;
	json_t *value = json_loads(s->r->out, JSON_DISABLE_EOF_CHECK, NULL), *greeting = json_object_get(value, "QMP");

	assert_true(json_is_integer(json_object_get(json_object_get(json_object_get(greeting, "version"), "qemu"), "major")));
	assert_true(json_is_array(json_object_get(greeting, "capabilities")));
	json_decref(value);
}

static void test_commands__before_negotiation__refused(void **state)
{
	expect_error(*state, "{\"execute\": \"query-version\"}", "CommandNotFound");
	negotiate(*state);
	expect_return(*state, "{\"execute\": \"query-version\"}");
}

static void test_answers__id__is_given_back(void **state)
{
	struct side *s = *state;
	json_t *value;

	negotiate(s);
	value = tell(s, "{\"execute\":\"query-status\",\"id\":{\"a\":[1]}}", 0);
	assert_non_null(json_object_get(json_object_get(value, "id"), "a"));
	assert_true(json_is_true(json_object_get(json_object_get(value, "return"), "running")));
	json_decref(value);
	value = tell(s, "{\"execute\":\"dance\",\"id\":7}", 0);
	assert_int_equal(json_integer_value(json_object_get(value, "id")), 7);
	json_decref(value);
}

static void test_queries__machines_and_types__what_a_test_looks_for(void **state)
{
	struct side *s = *state;
	json_t *value;

	negotiate(s);
	value = tell(s, "{\"execute\":\"query-machines\"}", 0);
	assert_int_equal(json_array_size(json_object_get(value, "return")), 3);
	json_decref(value);
	value = tell(s, "{\"execute\":\"qom-list-types\",\"arguments\":{\"implements\":\"device\",\"abstract\":true}}", 0);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(value, "return"), 0), "name")), "nvme");
	json_decref(value);
}

/* QEMU's MachineInfo has "acpi" since 8.0, and its test library takes neither its absence nor, before, its presence. */
static void test_queries__machines__as_the_version_has_them(void **state)
{
	struct side *s = *state;
	json_t *value;

	negotiate(s);
	value = tell(s, "{\"execute\":\"query-machines\"}", 0);
	assert_true(json_is_boolean(json_object_get(json_array_get(json_object_get(value, "return"), 0), "acpi")));
	json_decref(value);
	s->q->major = 7;
	s->q->minor = 2;
	value = tell(s, "{\"execute\":\"query-machines\"}", 0);
	assert_null(json_object_get(json_array_get(json_object_get(value, "return"), 0), "acpi"));
	json_decref(value);
	value = tell(s, "{\"execute\":\"query-version\"}", 0);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(json_object_get(value, "return"), "qemu"), "major")), 7);
	json_decref(value);
}

static void test_reset__answer_then_event__and_the_machine_is_new(void **state)
{
	struct side *s = *state;
	json_t *value;

	negotiate(s);
	rig_pci_setup(s->r);
	value = tell(s, "{\"execute\":\"system_reset\"}", 1);
	assert_string_equal(json_string_value(json_object_get(value, "event")), "RESET");
	assert_non_null(json_object_get(json_object_get(value, "timestamp"), "seconds"));
	json_decref(value);
	assert_int_equal(rig_rd(s->r, 'l', RIG_BAR0), 0xFFFFFFFF);
}

static void test_human__info_lapic__vectors_that_arrived(void **state)
{
	struct side *s = *state;
	json_t *value;

	negotiate(s);
	emu_lapic_message(s->r->m, 0xFEE01000, 0x61);
	value = tell(s, "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"info lapic 1\"}}", 0);
	assert_non_null(strstr(json_string_value(json_object_get(value, "return")), "IRR\t 97 "));
	json_decref(value);
	value = tell(s, "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"info lapic 0\"}}", 0);
	assert_non_null(strstr(json_string_value(json_object_get(value, "return")), "IRR\t (none)"));
	json_decref(value);
	value = tell(s, "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"info lapic 2\"}}", 0);
	assert_non_null(strstr(json_string_value(json_object_get(value, "return")), "No CPU"));
	json_decref(value);
	expect_error(s, "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"device_add x\"}}", "GenericError");
	expect_error(s, "{\"execute\":\"human-monitor-command\"}", "GenericError");
}

static void test_quit__answers_and_ends(void **state)
{
	struct side *s = *state;

	negotiate(s);
	assert_false(s->q->quit);
	qmp_receive(s->q, "{\"execute\":\"quit\"}{\"execute\":\"query-status\"}", 44);
	assert_true(s->q->quit);
}

static void test_input__cut_anywhere_and_run_together__each_answered(void **state)
{
	static const char text[] = " {\"execute\":\"query-status\",\"id\":\"}{\\\"\"}{\"execute\":\"stop\"}\n\n{\"execute\":\"cont\"}";
	struct side *s = *state;

	negotiate(s);
	for (size_t step = 1; step < sizeof(text); step++) {
		u32 answers = 0;

		s->r->out_len = 0;
		for (size_t at = 0; at < sizeof(text) - 1; at += step)
			qmp_receive(s->q, text + at, sizeof(text) - 1 - at < step ? sizeof(text) - 1 - at : step);
		for (const char *at = s->r->out; (at = strstr(at, "\"return\"")); at++)
			answers++;
		assert_int_equal(answers, 3);
	}
}

static void test_input__what_is_no_command__an_error_and_on(void **state)
{
	static const char *const bad[] = {
		"x\n", "}\n", "]", "[]", "{}", "{\"execute\":1}", "{\"execute\"}", "\"a\"\n", "{\"execute\":\"stop\",\"execute\":\"stop\"}", "{{}}",
		"nul\n", "{\"execute\":\"query-\\u0000\"}",
	};
	struct side *s = *state;

	negotiate(s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_error(s, bad[i], "GenericError");
	expect_return(s, "{\"execute\":\"stop\"}");
}

static void test_input__deep_or_long__one_error_and_on(void **state)
{
	struct side *s = *state;
	char *text = malloc(200002);

	negotiate(s);
	memset(text, '[', 30000);
	memset(text + 30000, ']', 30000);
	text[60000] = '\0';
	expect_error(s, text, "GenericError");
	memset(text, 'a', 200000);
	memcpy(text, "{\"execute\":\"", 12);
	memcpy(text + 199998, "\"}", 3);
	expect_error(s, text, "GenericError");
	expect_return(s, "{\"execute\":\"stop\"}");
	free(text);
}

static void test_input__random_bytes__no_harm(void **state)
{
	static const char letters[] = "{}[]\",:\\ \n\rexecutquisop_-aby0123\x80\xff";
	struct side *s = *state;
	u64 seed = 2463534242ULL;

	negotiate(s);
	for (u32 i = 0; i < 300000; i++) {
		char c;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		c = seed % 16 ? letters[(seed >> 8) % (sizeof(letters) - 1)] : (char)(seed >> 32);
		qmp_receive(s->q, &c, 1);
		s->r->out_len = 0;
	}
	qmp_connect(s->q);
	negotiate(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_greeting__on_connection__version_and_capabilities, up, down),
		cmocka_unit_test_setup_teardown(test_commands__before_negotiation__refused, up, down),
		cmocka_unit_test_setup_teardown(test_answers__id__is_given_back, up, down),
		cmocka_unit_test_setup_teardown(test_queries__machines_and_types__what_a_test_looks_for, up, down),
		cmocka_unit_test_setup_teardown(test_queries__machines__as_the_version_has_them, up, down),
		cmocka_unit_test_setup_teardown(test_reset__answer_then_event__and_the_machine_is_new, up, down),
		cmocka_unit_test_setup_teardown(test_human__info_lapic__vectors_that_arrived, up, down),
		cmocka_unit_test_setup_teardown(test_quit__answers_and_ends, up, down),
		cmocka_unit_test_setup_teardown(test_input__cut_anywhere_and_run_together__each_answered, up, down),
		cmocka_unit_test_setup_teardown(test_input__what_is_no_command__an_error_and_on, up, down),
		cmocka_unit_test_setup_teardown(test_input__deep_or_long__one_error_and_on, up, down),
		cmocka_unit_test_setup_teardown(test_input__random_bytes__no_harm, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
