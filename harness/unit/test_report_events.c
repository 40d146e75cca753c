// SPDX-License-Identifier: GPL-2.0
/* Events in pieces, and what a recording hands over of many. */

#include "report/recorder.h"
#include "report/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static u64 number(const struct event_number *n, u32 nr, const char *name)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (strcmp(n[i].name, name) == 0)
			return n[i].value;
	fail_msg("no number '%s'", name);
	return 0;
}

/* The packings are those that model/trace.def names. */
static void test_event_numbers__packed__are_taken_apart(void **state)
{
	struct trace_event dma = { .kind = TRACE_DMA, .a = 0x0100 | 1ull << 16 | 2ull << 17 | 5ull << 32, .b = 0x1000, .c = 0x2000, .d = 64 };
	struct trace_event cqe = { .kind = TRACE_CQE, .a = 5, .b = 7ull << 16 | 0xABCD, .c = 0x80, .d = ~0ull };
	struct trace_event bell = { .kind = TRACE_DOORBELL, .a = 0x1008, .b = 3, .c = 9 };
	struct event_number n[EVENT_NUMBERS_MAX];
	struct event_words w;
	u32 nr;

	(void)state;
	event_words(&dma, &w);
	assert_string_equal(w.component, "pci");
	assert_string_equal(w.text, "dma");
	nr = event_numbers(&w, n);
	assert_int_equal(nr, 7);
	assert_int_equal(number(n, nr, "pasid+1"), 5);
	assert_int_equal(number(n, nr, "rid"), 0x0100);
	assert_int_equal(number(n, nr, "write"), 1);
	assert_int_equal(number(n, nr, "dma_kind"), 2);
	assert_int_equal(number(n, nr, "len"), 64);

	event_words(&cqe, &w);
	nr = event_numbers(&w, n);
	assert_int_equal(number(n, nr, "sqid"), 7);
	assert_int_equal(number(n, nr, "cid"), 0xABCD);
	assert_true(number(n, nr, "iova") == ~0ull);

	event_words(&bell, &w);
	nr = event_numbers(&w, n);
	assert_int_equal(number(n, nr, "qid"), 4);
	assert_int_equal(number(n, nr, "cq"), 1);
}

static struct machine *machine(void)
{
	struct machine_config cfg;

	machine_config_defaults(&cfg);
	return machine_new(&cfg);
}

/* 10,000 loads, an attack with a store among 1,000 more, and 10,000 loads: of 100, the attack's, and the store shown. */
static void test_recording__more_than_wanted__is_of_the_attack(void **state)
{
	struct recording_choice c = { .max = 100 };
	struct machine *m = machine();
	struct recording *r = recording_new(m);
	const struct recorded_event *ev;
	u32 i, nr, shown = 0, stores = 0, in_attack = 0;

	(void)state;
	for (i = 0; i < 21000; i++) {
		recording_attack(r, i >= 10000 && i < 11000);
		trace4(&m->trace, i == 10500 ? TRACE_CPU_STORE : TRACE_CPU_LOAD, 0, 0, i, 0x1000, 8);
	}
	assert_int_equal(recording_seen(r), 21000);
	assert_int_equal(recording_in_attack(r), 1000);
	nr = recording_choose(r, &c);
	assert_int_equal(nr, 100);
	ev = recording_events(r);
	for (i = 0; i < nr; i++) {
		assert_true(i == 0 || ev[i].ev.b > ev[i - 1].ev.b);
		in_attack += (ev[i].mark & RECORDED_IN_ATTACK) != 0;
		shown += (ev[i].mark & RECORDED_SHOWN) != 0;
		stores += ev[i].ev.kind == TRACE_CPU_STORE && ev[i].mark & RECORDED_SHOWN;
	}
	assert_int_equal(shown, RECORDING_SHOWN);
	assert_int_equal(stores, 1);
	assert_true(in_attack >= shown);
	recording_free(r);
	machine_free(m);
}

/* More than are held: the latest. */
static void test_recording__more_than_held__lets_the_oldest_go(void **state)
{
	struct recording_choice c = { .max = 2 * RECORDING_HELD };
	struct machine *m = machine();
	struct recording *r = recording_new(m);
	u32 i, nr;

	(void)state;
	for (i = 0; i < RECORDING_HELD + 1000; i++)
		trace4(&m->trace, TRACE_CPU_LOAD, 0, 0, i, 0x1000, 8);
	nr = recording_choose(r, &c);
	assert_int_equal(nr, RECORDING_HELD);
	assert_int_equal(recording_events(r)[0].ev.b, 1000);
	assert_int_equal(recording_events(r)[nr - 1].ev.b, RECORDING_HELD + 999);
	recording_free(r);
	machine_free(m);
}

/* What the verdict rests on is shown and marked, wherever it lies. */
static void test_recording__a_moment__is_shown_and_marked(void **state)
{
	struct recording_choice c = { .max = 1000, .moment_ps = { 0 }, .nr_moments = 1 };
	struct machine *m = machine();
	struct recording *r = recording_new(m);
	u32 nr;

	(void)state;
	c.moment_ps[0] = sched_now(m->sched);
	trace4(&m->trace, TRACE_MEDIA, 1ull << 48 | 3, 1, 2, 0x100, 8);
	nr = recording_choose(r, &c);
	assert_int_equal(nr, 1);
	assert_int_equal(recording_events(r)[0].mark, RECORDED_SHOWN | RECORDED_OF_VERDICT);
	recording_free(r);
	machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_numbers__packed__are_taken_apart),
		cmocka_unit_test(test_recording__more_than_wanted__is_of_the_attack),
		cmocka_unit_test(test_recording__more_than_held__lets_the_oldest_go),
		cmocka_unit_test(test_recording__a_moment__is_shown_and_marked),
	};

	return cmocka_run_group_tests_name("report_events", tests, NULL, NULL);
}
