// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/event.c"
#include "sim/rng.h"

#define ITEMS 96

struct world;

struct item {
	struct event ev;
	struct world *world;
	unsigned int id;
};

/* The queue under test beside a plain list of who is due, kept in the order of addition. */
struct world {
	struct sched *s;
	struct rng rng;
	struct item item[ITEMS];
	unsigned int due[ITEMS];	/* ids, oldest addition first */
	u64 due_ps[ITEMS];
	unsigned int count;
	u64 ran;
};

static void log_run(struct event *ev);

static void world_init(struct world *w, u64 seed)
{
	memset(w, 0, sizeof(*w));
	w->s = sched_new();
	assert_non_null(w->s);
	rng_init(&w->rng, seed);
	for (unsigned int i = 0; i < ITEMS; i++) {
		w->item[i].world = w;
		w->item[i].id = i;
		event_init(&w->item[i].ev, log_run, (enum event_prio)(i % EVENT_PRIO_COUNT));
	}
}

/* Small delays make ties; large ones cross every bit of the time. */
static u64 random_delay(struct rng *r)
{
	switch (rng_below(r, 4)) {
	case 0:
		return 0;
	case 1:
		return rng_below(r, 4);
	case 2:
		return rng_below(r, 64);
	default:
		return rng_below(r, 1ULL << rng_range(r, 1, 40));
	}
}

static void world_add(struct world *w, unsigned int id, u64 delay_ps)
{
	w->due[w->count] = id;
	w->due_ps[w->count] = sched_now(w->s) + delay_ps;
	w->count++;
	sched_after(w->s, &w->item[id].ev, delay_ps);
}

static void world_forget(struct world *w, unsigned int at)
{
	w->count--;
	memmove(&w->due[at], &w->due[at + 1], (w->count - at) * sizeof(w->due[0]));
	memmove(&w->due_ps[at], &w->due_ps[at + 1], (w->count - at) * sizeof(w->due_ps[0]));
}

/* First of (time, priority, order of addition). */
static unsigned int world_first(const struct world *w)
{
	unsigned int best = 0;

	for (unsigned int i = 1; i < w->count; i++) {
		unsigned int prio = w->due[i] % EVENT_PRIO_COUNT, best_prio = w->due[best] % EVENT_PRIO_COUNT;

		if (w->due_ps[i] < w->due_ps[best] || (w->due_ps[i] == w->due_ps[best] && prio < best_prio))
			best = i;
	}
	return best;
}

static void world_step(struct world *w)
{
	unsigned int id = (unsigned int)rng_below(&w->rng, ITEMS);

	if (!event_is_queued(&w->item[id].ev)) {
		world_add(w, id, random_delay(&w->rng));
	} else if (rng_chance(&w->rng, 1, 4)) {
		for (unsigned int i = 0; i < w->count; i++)
			if (w->due[i] == id)
				world_forget(w, i);
		sched_cancel(w->s, &w->item[id].ev);
		assert_false(event_is_queued(&w->item[id].ev));
	}
	if (rng_chance(&w->rng, 1, 3)) {
		u64 next_ps = w->count ? w->due_ps[world_first(w)] : SCHED_NEVER;

		assert_true(sched_next_time(w->s) == next_ps);
	}
}

static void log_run(struct event *ev)
{
	struct item *item = container_of_event(ev, struct item, ev);
	struct world *w = item->world;
	unsigned int first = world_first(w);

	assert_true(w->count > 0);
	assert_int_equal(w->due[first], item->id);
	assert_true(sched_now(w->s) == w->due_ps[first]);
	assert_false(event_is_queued(ev));
	world_forget(w, first);
	w->ran++;
	for (u64 n = rng_below(&w->rng, 4); n; n--)
		world_step(w);
}

static void test_sched__random_adds_and_cancels__run_as_the_sorted_list(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 40; seed++) {
		struct world w;

		world_init(&w, seed);
		for (unsigned int round = 0; round < 500; round++) {
			for (u64 n = rng_below(&w.rng, 12); n; n--)
				world_step(&w);
			if (rng_chance(&w.rng, 1, 2)) {
				unsigned int waiting = w.count;

				assert_int_equal(sched_run_one(w.s), waiting > 0);
			} else {
				u64 to_ps = sched_now(w.s) + random_delay(&w.rng);

				sched_limit_events(w.s, 50);
				if (sched_run_until(w.s, to_ps) == SCHED_REACHED) {
					assert_true(sched_now(w.s) == to_ps);
					assert_true(!w.count || w.due_ps[world_first(&w)] > to_ps);
				}
			}
			assert_int_equal(sched_empty(w.s), w.count == 0);
			assert_true(sched_events_run(w.s) == w.ran);
		}
		assert_true(w.ran > 1000);
		sched_free(w.s);
	}
}

/* A script of events that note their id. */
struct note {
	struct event ev;
	unsigned int id;
};

static unsigned int noted[16], notes;

static void note_run(struct event *ev)
{
	noted[notes++] = container_of_event(ev, struct note, ev)->id;
}

static struct note note(unsigned int id, enum event_prio prio)
{
	struct note n = { .id = id };

	event_init(&n.ev, note_run, prio);
	return n;
}

static void expect_notes(const unsigned int *id, unsigned int count)
{
	assert_int_equal(notes, count);
	assert_memory_equal(noted, id, count * sizeof(*id));
	notes = 0;
}

static void test_sched__same_time_and_priority__runs_in_order_of_addition(void **state)
{
	struct note a = note(1, EVENT_PRIO_HW), b = note(2, EVENT_PRIO_HW), c = note(3, EVENT_PRIO_HW);
	struct note step = note(0, EVENT_PRIO_HW);
	struct sched *s = sched_new();

	(void)state;
	/* a is filed far away at 0, b nearer at 1024, c when 1030 is almost there. */
	sched_after(s, &a.ev, 1030);
	sched_after(s, &step.ev, 1024);
	assert_true(sched_run_one(s));
	sched_after(s, &b.ev, 6);
	assert_int_equal(sched_run_until(s, 1029), SCHED_REACHED);
	sched_after(s, &c.ev, 1);
	assert_int_equal(sched_run_until(s, 1030), SCHED_REACHED);
	expect_notes((unsigned int[]){ 0, 1, 2, 3 }, 4);
	sched_free(s);
}

static void test_sched__same_time__lower_priority_value_runs_first(void **state)
{
	struct note end = note(5, EVENT_PRIO_END), timeout = note(4, EVENT_PRIO_TIMEOUT), cpu = note(3, EVENT_PRIO_CPU);
	struct note irq = note(2, EVENT_PRIO_IRQ), hw = note(1, EVENT_PRIO_HW);
	struct sched *s = sched_new();

	(void)state;
	sched_after(s, &end.ev, 7);
	sched_after(s, &timeout.ev, 7);
	sched_after(s, &cpu.ev, 7);
	sched_after(s, &irq.ev, 7);
	sched_after(s, &hw.ev, 7);
	assert_int_equal(sched_run_until(s, 7), SCHED_REACHED);
	expect_notes((unsigned int[]){ 1, 2, 3, 4, 5 }, 5);
	sched_free(s);
}

static void test_sched_run_until__time_between_events__leaves_the_later(void **state)
{
	struct note a = note(1, EVENT_PRIO_HW), b = note(2, EVENT_PRIO_HW), c = note(3, EVENT_PRIO_HW);
	struct sched *s = sched_new();

	(void)state;
	sched_after(s, &a.ev, 10);
	sched_after(s, &b.ev, 30);
	assert_int_equal(sched_run_until(s, 20), SCHED_REACHED);
	expect_notes((unsigned int[]){ 1 }, 1);
	assert_true(sched_now(s) == 20 && sched_next_time(s) == 30);
	/* Added after the queue looked at 30, and due before it. */
	sched_after(s, &c.ev, 1);
	assert_true(sched_next_time(s) == 21);
	assert_int_equal(sched_run_until(s, 30), SCHED_REACHED);
	expect_notes((unsigned int[]){ 3, 2 }, 2);
	/* Time does not go back. */
	assert_int_equal(sched_run_until(s, 5), SCHED_REACHED);
	assert_true(sched_now(s) == 30);
	sched_free(s);
}

static void test_sched_cancel__event_not_queued__nothing_happens(void **state)
{
	struct note a = note(1, EVENT_PRIO_HW), b = note(2, EVENT_PRIO_HW);
	struct sched *s = sched_new();

	(void)state;
	sched_cancel(s, &a.ev);
	sched_after(s, &a.ev, 1);
	sched_after(s, &b.ev, 1);
	sched_cancel(s, &a.ev);
	sched_cancel(s, &a.ev);
	assert_int_equal(sched_run_until(s, 1), SCHED_REACHED);
	expect_notes((unsigned int[]){ 2 }, 1);
	sched_cancel(s, &b.ev);
	assert_true(sched_empty(s) && sched_next_time(s) == SCHED_NEVER && !sched_run_one(s));
	sched_free(s);
}

static void test_sched_after__delay_past_the_end_of_time__is_last_not_now(void **state)
{
	struct note never = note(1, EVENT_PRIO_HW), soon = note(2, EVENT_PRIO_HW);
	struct sched *s = sched_new();

	(void)state;
	assert_int_equal(sched_run_until(s, 100), SCHED_REACHED);
	sched_after(s, &never.ev, ~0ULL);
	sched_after(s, &soon.ev, 1000);
	assert_int_equal(sched_run_until(s, ~0ULL - 1), SCHED_REACHED);
	expect_notes((unsigned int[]){ 2 }, 1);
	assert_true(event_is_queued(&never.ev));
	sched_free(s);
}

struct ticker {
	struct event ev;
	struct sched *s;
	bool stop;
};

static void tick(struct event *ev)
{
	struct ticker *t = container_of_event(ev, struct ticker, ev);

	sched_after(t->s, ev, 0);
	if (t->stop)
		sched_stop(t->s);
}

static void test_sched_run_until__events_without_progress__end_at_the_limit(void **state)
{
	struct sched *s = sched_new();
	struct ticker t = { .s = s };

	(void)state;
	event_init(&t.ev, tick, EVENT_PRIO_HW);
	sched_after(s, &t.ev, 5);
	sched_limit_events(s, 1000);
	assert_int_equal(sched_run_until(s, 10), SCHED_EXHAUSTED);
	assert_true(sched_events_run(s) == 1000 && sched_now(s) == 5);
	sched_free(s);
}

static void test_sched_stop__from_an_event__returns_after_it(void **state)
{
	struct sched *s = sched_new();
	struct ticker t = { .s = s, .stop = true };

	(void)state;
	event_init(&t.ev, tick, EVENT_PRIO_END);
	sched_after(s, &t.ev, 5);
	assert_int_equal(sched_run_until(s, 10), SCHED_STOPPED);
	assert_true(sched_events_run(s) == 1 && sched_now(s) == 5);
	sched_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sched__random_adds_and_cancels__run_as_the_sorted_list),
		cmocka_unit_test(test_sched__same_time_and_priority__runs_in_order_of_addition),
		cmocka_unit_test(test_sched__same_time__lower_priority_value_runs_first),
		cmocka_unit_test(test_sched_run_until__time_between_events__leaves_the_later),
		cmocka_unit_test(test_sched_cancel__event_not_queued__nothing_happens),
		cmocka_unit_test(test_sched_after__delay_past_the_end_of_time__is_last_not_now),
		cmocka_unit_test(test_sched_run_until__events_without_progress__end_at_the_limit),
		cmocka_unit_test(test_sched_stop__from_an_event__returns_after_it),
	};

	return cmocka_run_group_tests_name("sim_event", tests, NULL, NULL);
}
