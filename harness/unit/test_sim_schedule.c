// SPDX-License-Identifier: GPL-2.0
/* Choices: how they are written down and repeated, and what they do to a machine. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "event.h"
#include "machine.h"
#include "schedule.h"

#include <string.h>

static void assert_text(const struct schedule *s, const char *want)
{
	char text[SCHEDULE_TEXT_MAX];

	schedule_text(s, text);
	assert_string_equal(text, want);
}

static void test_parse__what_was_printed__is_followed(void **state)
{
	struct schedule s;
	u32 i;

	(void)state;
	assert_true(schedule_parse(&s, "2.1,5.3,9.7", 1));
	s.open = true;
	for (i = 0; i < 12; i++) {
		u32 want = i == 2 ? 1 : i == 5 ? 3 : i == 9 ? 4 : 0;	/* of five: what is too large is the last */

		assert_int_equal(schedule_choose(&s, SCHEDULE_CHOOSE, 5), want);
	}
	assert_text(&s, "2.1,5.3,9.4");
}

static void test_parse__what_is_none__is_refused(void **state)
{
	static const char *const bad[] = { "", "1", "1.", "1.0", "1.1,", "2.1,1.1", "1.1,1.2", "9999.1", "1.64", "~", "~x", "1.1 ", "-1.1" };
	struct schedule s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (schedule_parse(&s, bad[i], 1))
			fail_msg("'%s' is taken", bad[i]);
	assert_true(schedule_parse(&s, "-", 1));
}

static void test_choose__closed_or_without_alternative__is_not_counted(void **state)
{
	struct schedule s;

	(void)state;
	assert_true(schedule_parse(&s, "0.1", 1));
	assert_int_equal(schedule_choose(&s, SCHEDULE_CHOOSE, 3), 0);
	s.open = true;
	assert_int_equal(schedule_choose(&s, SCHEDULE_TIE, 1), 0);
	assert_int_equal(s.nr_choices, 0);
	assert_int_equal(schedule_choose(&s, SCHEDULE_TIE, 2), 1);
	assert_int_equal(s.nr_choices, 1);
	assert_int_equal(schedule_kind(&s, 0), SCHEDULE_TIE);
	assert_int_equal(schedule_options(&s, 0), 2);
}

/* By chance, and then as it was written down: the same choices. More than can be written down are not made. */
static void test_chance__written_down__repeats_itself(void **state)
{
	static struct schedule s, again;
	char text[SCHEDULE_TEXT_MAX];
	u32 number, i, different = 0;

	(void)state;
	for (number = 0; number < 20; number++) {
		schedule_by_chance(&s, 5, number);
		s.open = true;
		for (i = 0; i < 3000; i++)
			schedule_choose(&s, i % 3 ? SCHEDULE_SWITCH : SCHEDULE_TIE, i % 3 ? SCHEDULE_SWITCHES : 4);
		schedule_text(&s, text);
		assert_true(schedule_parse(&again, text, 99));
		again.open = true;
		for (i = 0; i < 3000; i++)
			schedule_choose(&again, i % 3 ? SCHEDULE_SWITCH : SCHEDULE_TIE, i % 3 ? SCHEDULE_SWITCHES : 4);
		assert_text(&again, text);
		assert_true(s.nr_made <= SCHEDULE_PICKS_MAX);
		different += s.nr_made > 0;
	}
	assert_int_equal(different, 20);
}

struct tie {
	struct event ev;
	char name;
	char *out;
};

static void tie_fire(struct event *ev)
{
	struct tie *t = container_of_event(ev, struct tie, ev);

	t->out[strlen(t->out)] = t->name;
}

static u32 last_of(void *opaque, u32 n)
{
	++*(u32 *)opaque;
	return n - 1;
}

static void run_ties(char out[16], bool shuffled, u32 *asked)
{
	struct sched *s = sched_new();
	struct tie t[5];
	u32 i;

	memset(out, 0, 16);
	if (shuffled)
		sched_shuffle(s, last_of, asked);
	for (i = 0; i < 5; i++) {
		t[i].name = (char)('a' + i);
		t[i].out = out;
		event_init(&t[i].ev, tie_fire, i == 1 ? EVENT_PRIO_TIMEOUT : EVENT_PRIO_HW);
		sched_after(s, &t[i].ev, i == 4 ? 20 : 10);
	}
	assert_int_equal(sched_run_until(s, 100), SCHED_REACHED);
	sched_free(s);
}

/* a, c, d are of one instant and priority; b has another priority, e another instant. */
static void test_shuffle__events_of_one_instant__run_as_picked(void **state)
{
	char out[16];
	u32 asked = 0;

	(void)state;
	run_ties(out, false, &asked);
	assert_string_equal(out, "acdbe");
	assert_int_equal(asked, 0);
	run_ties(out, true, &asked);
	assert_string_equal(out, "dcabe");
	assert_int_equal(asked, 2);
}

struct preempted {
	struct machine *m;
	struct event tick;
	u32 ticks;
	u64 seen_ps;
	u32 seen_ticks;
};

static void tick(struct event *ev)
{
	struct preempted *p = container_of_event(ev, struct preempted, tick);

	if (++p->ticks < 50)
		sched_after(p->m->sched, ev, 10 * PS_PER_NS);
}

static void preempted_task(void *arg)
{
	struct preempted *p = arg;
	u64 before = sched_now(p->m->sched);
	u32 ticks = p->ticks;

	p->m->cfg.schedule->open = true;
	schedule_point(p->m);
	p->m->cfg.schedule->open = false;
	p->seen_ps = sched_now(p->m->sched) - before;
	p->seen_ticks = p->ticks - ticks;
}

static struct preempted preempt_as(const char *text)
{
	static struct schedule s;
	struct preempted p = { 0 };
	struct machine_config cfg;

	assert_true(schedule_parse(&s, text, 1));
	machine_config_defaults(&cfg);
	cfg.schedule = &s;
	p.m = machine_new(&cfg);
	assert_non_null(p.m);
	event_init(&p.tick, tick, EVENT_PRIO_HW);
	sched_after(p.m->sched, &p.tick, 10 * PS_PER_NS);
	assert_non_null(machine_task(p.m, "preempted", preempted_task, &p));
	sched_run_until(p.m->sched, 1000 * PS_PER_NS);
	machine_free(p.m);
	return p;
}

static void test_switch__as_chosen__lets_other_events_pass(void **state)
{
	(void)state;
	assert_int_equal(preempt_as("-").seen_ps, 0);
	assert_int_equal(preempt_as("0.3").seen_ps, 30 * PS_PER_NS);
	assert_int_equal(preempt_as("0.3").seen_ticks, 3);
	assert_int_equal(preempt_as("0.6").seen_ticks, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse__what_was_printed__is_followed),
		cmocka_unit_test(test_parse__what_is_none__is_refused),
		cmocka_unit_test(test_choose__closed_or_without_alternative__is_not_counted),
		cmocka_unit_test(test_chance__written_down__repeats_itself),
		cmocka_unit_test(test_shuffle__events_of_one_instant__run_as_picked),
		cmocka_unit_test(test_switch__as_chosen__lets_other_events_pass),
	};

	return cmocka_run_group_tests_name("sim_schedule", tests, NULL, NULL);
}
