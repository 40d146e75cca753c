// SPDX-License-Identifier: GPL-2.0
/*
 * Tasks: when each runs, in what order they wait and are woken, how a wait ends. What they do
 * is written into a trail: a letter, and the time in ps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "task.h"

static struct sched *s;
static struct task *tasks;
static struct port_waitq q;
static char trail[512];

static void mark(const char *what)
{
	size_t n = strlen(trail);

	snprintf(trail + n, sizeof(trail) - n, "%s%s@%llu", n ? " " : "", what, (unsigned long long)sched_now(s));
}

static void expect_trail(const char *want)
{
	assert_string_equal(trail, want);
	trail[0] = 0;
}

static int setup(void **state)
{
	(void)state;
	s = sched_new();
	tasks = NULL;
	q = (struct port_waitq){ 0 };
	trail[0] = 0;
	return s ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	task_free_all(&tasks);
	assert_null(tasks);
	sched_free(s);
	return 0;
}

static struct task *start(void (*fn)(void *arg), const char *name)
{
	struct task *t = task_new(s, &tasks, name, fn, (void *)(uintptr_t)name);

	assert_non_null(t);
	return t;
}

static void sleeper(void *arg)
{
	mark(arg);
	task_sleep(10);
	mark(arg);
	task_sleep(0);
	mark(arg);
}

static void test_task__sleep__time_passes_for_it_alone(void **state)
{
	struct task *a, *b;

	(void)state;
	assert_null(task_current());
	a = start(sleeper, "a");
	b = start(sleeper, "b");
	expect_trail("");		/* made is not run */
	sched_run_until(s, 9);
	expect_trail("a@0 b@0");
	assert_false(a->done);
	sched_run_until(s, 10);
	expect_trail("a@10 b@10 a@10 b@10");
	assert_true(a->done && b->done);
	assert_null(task_current());
	assert_true(sched_empty(s));
}

static void waiter(void *arg)
{
	bool woken = task_wait(&q, TASK_FOREVER);

	mark(woken ? arg : "timeout");
}

static void impatient(void *arg)
{
	bool woken = task_wait(&q, 100);

	mark(woken ? arg : "timeout");
	mark(arg);
}

static void test_task_wake_one__three_wait__first_come_first_served(void **state)
{
	(void)state;
	start(waiter, "a");
	start(waiter, "b");
	start(waiter, "c");
	sched_run_until(s, 5);
	task_wake_one(&q);
	expect_trail("");		/* a wake-up is an event of its own */
	sched_run_until(s, 6);
	expect_trail("a@5");
	task_wake_one(&q);
	task_wake_one(&q);
	sched_run_until(s, 7);
	expect_trail("b@6 c@6");
	task_wake_one(&q);		/* nobody waits: nothing is kept for who comes later */
	start(waiter, "d");
	sched_run_until(s, 1000);
	expect_trail("");
	assert_ptr_equal(q.head, q.tail);
	task_wake_all(&q);
	sched_run_until(s, 1001);
	expect_trail("d@1000");
	assert_null(q.head);
	assert_null(q.tail);
}

static void test_task_wake_all__three_wait__all_in_their_order(void **state)
{
	(void)state;
	start(waiter, "a");
	start(impatient, "b");
	start(waiter, "c");
	sched_run_until(s, 5);
	task_wake_all(&q);
	assert_null(q.head);
	sched_run_until(s, 500);
	expect_trail("a@5 b@5 b@5 c@5");
}

/* Who times out leaves the queue, wherever it stands; the rest keep their order. */
static void timeout_at(const char *order, const char *want)
{
	static const char *const names[] = { "a", "b", "c" };
	u32 i;

	for (i = 0; i < 3; i++)
		start(order[i] == 't' ? impatient : waiter, names[i]);
	sched_run_until(s, sched_now(s) + 100);
	task_wake_all(&q);
	sched_run_until(s, sched_now(s) + 1);
	expect_trail(want);
	assert_null(q.head);
	assert_null(q.tail);
}

static void test_task_wait__times_out__leaves_the_queue(void **state)
{
	(void)state;
	timeout_at("tww", "timeout@100 a@100 b@100 c@100");
	timeout_at("wtw", "timeout@201 b@201 a@201 c@201");
	timeout_at("wwt", "timeout@302 c@302 a@302 b@302");
	timeout_at("ttt", "timeout@403 a@403 timeout@403 b@403 timeout@403 c@403");
}

static struct event ev;

static void wake_at_last(struct event *e)
{
	(void)e;
	task_wake_one(&q);
}

static void test_task_wait__woken_when_time_is_up__woken_counts(void **state)
{
	(void)state;
	start(impatient, "a");
	sched_run_until(s, 1);
	/* Hardware's events come before tasks' of the same time. */
	event_init(&ev, wake_at_last, EVENT_PRIO_HW);
	sched_after(s, &ev, 99);
	sched_run_until(s, 200);
	expect_trail("a@100 a@100");
}

static void no_patience(void *arg)
{
	mark(arg);
	mark(task_wait(&q, 0) ? "woken" : "timeout");
}

static void test_task_wait__zero__ends_at_once_but_others_run(void **state)
{
	(void)state;
	start(no_patience, "a");
	start(sleeper, "b");
	sched_run_until(s, 0);
	expect_trail("a@0 b@0 timeout@0");
}

static struct task *joined;

static void joiner(void *arg)
{
	task_join(joined);
	mark(arg);
}

static void test_task_join__before_and_after_the_end__returns(void **state)
{
	(void)state;
	joined = start(sleeper, "a");
	start(joiner, "x");
	start(joiner, "y");
	sched_run_until(s, 100);
	expect_trail("a@0 a@10 a@10 x@10 y@10");
	start(joiner, "z");
	sched_run_until(s, 100);
	expect_trail("z@100");
}

static void parent(void *arg)
{
	struct task *me = task_current();

	mark(arg);
	start(sleeper, "child");
	mark(arg);
	joined = tasks;
	task_join(joined);
	mark(task_current() == me ? arg : "lost");
}

static void test_task_new__in_a_task__runs_after_it_waits(void **state)
{
	(void)state;
	start(parent, "p");
	sched_run_until(s, 100);
	expect_trail("p@0 p@0 child@0 child@10 child@10 p@10");
}

/* Ended or not, waiting, asleep or not yet begun: what is left is freed, and no event of it stays. */
static void test_task_free_all__in_any_state__nothing_left(void **state)
{
	(void)state;
	start(sleeper, "done");
	sched_run_until(s, 10);
	start(waiter, "waits");
	start(impatient, "waits for a time");
	start(sleeper, "sleeps");
	sched_run_until(s, 15);
	start(sleeper, "not begun");
	trail[0] = 0;
	task_free_all(&tasks);
	assert_null(tasks);
	assert_true(sched_empty(s));
	sched_run_until(s, 1000);
	expect_trail("");
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_task__sleep__time_passes_for_it_alone),
		TEST(test_task_wake_one__three_wait__first_come_first_served),
		TEST(test_task_wake_all__three_wait__all_in_their_order),
		TEST(test_task_wait__times_out__leaves_the_queue),
		TEST(test_task_wait__woken_when_time_is_up__woken_counts),
		TEST(test_task_wait__zero__ends_at_once_but_others_run),
		TEST(test_task_join__before_and_after_the_end__returns),
		TEST(test_task_new__in_a_task__runs_after_it_waits),
		TEST(test_task_free_all__in_any_state__nothing_left),
	};

	return cmocka_run_group_tests_name("sim_task", tests, NULL, NULL);
}
