// SPDX-License-Identifier: GPL-2.0
/*
 * The port's base part in the simulator, on the host's home: what port_base.h promises of
 * locks, events, work, timers and memory. What happens is written into a trail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "home.h"
#include "host/host.h"
#include "liov/port_host.h"

static struct machine *m;
static struct port_home *home;
static char trail[512];

static void mark(const char *what)
{
	size_t n = strlen(trail);

	snprintf(trail + n, sizeof(trail) - n, "%s%s@%llu", n ? " " : "", what,
		 (unsigned long long)(sched_now(m->sched) / PS_PER_NS));
}

static void expect_trail(const char *want)
{
	assert_string_equal(trail, want);
	trail[0] = 0;
}

static int setup(void **state)
{
	struct machine_config cfg;

	(void)state;
	machine_config_defaults(&cfg);
	cfg.high_ram_bytes = 1 << 30;
	m = machine_new(&cfg);
	trail[0] = 0;
	home = m ? &m->host->home : NULL;
	return m ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	machine_free(m);
	return 0;
}

static struct task *start(void (*fn)(void *arg), const char *name)
{
	struct task *t = machine_task(m, name, fn, (void *)(uintptr_t)name);

	assert_non_null(t);
	return t;
}

static void run_ns(u64 until_ns)
{
	sched_run_until(m->sched, until_ns * PS_PER_NS);
}

/* --- locks --- */

static struct port_lock lock;
static struct port_mutex mutex;

static void holds_mutex(void *arg)
{
	port_mutex_lock(&mutex);
	mark(arg);
	port_sleep_ns(home, 10);
	mark(arg);
	port_mutex_unlock(&mutex);
}

static void test_mutex__three_want_it__one_at_a_time_in_order(void **state)
{
	(void)state;
	port_mutex_init(home, &mutex);
	start(holds_mutex, "a");
	start(holds_mutex, "b");
	start(holds_mutex, "c");
	run_ns(100);
	expect_trail("a@0 a@10 b@10 b@20 c@20 c@30");
	assert_false(mutex.held);
}

static void holds_lock(void *arg)
{
	unsigned long flags = port_lock_irqsave(&lock);

	mark(arg);
	port_sleep_ns(home, 10);
	mark(arg);
	port_unlock_irqrestore(&lock, flags);
}

static void test_lock__two_want_it__one_at_a_time(void **state)
{
	(void)state;
	port_lock_init(home, &lock);
	start(holds_lock, "a");
	start(holds_lock, "b");
	run_ns(100);
	expect_trail("a@0 a@10 b@10 b@20");
	assert_false(lock.held);
}

/* --- events --- */

static struct port_event ev;

static void waits_50(void *arg)
{
	mark(port_event_wait(&ev, 50) ? arg : "timeout");
}

static void signals_at_20(void *arg)
{
	(void)arg;
	port_sleep_ns(home, 20);
	port_event_signal(&ev);
}

static void test_event__signalled__all_go_on_and_it_stays(void **state)
{
	(void)state;
	port_event_init(home, &ev);
	start(waits_50, "a");
	start(waits_50, "b");
	start(signals_at_20, "s");
	run_ns(100);
	expect_trail("a@20 b@20");
	start(waits_50, "c");
	run_ns(200);
	expect_trail("c@100");
	port_event_reset(&ev);
	start(waits_50, "d");
	run_ns(300);
	expect_trail("timeout@250");
}

static void signals_and_resets(void *arg)
{
	(void)arg;
	port_sleep_ns(home, 20);
	port_event_signal(&ev);
	port_event_reset(&ev);
}

/* Reset before the woken one has looked: it waits on, and no longer than it said at first. */
static void test_event__reset_at_once__time_is_not_begun_anew(void **state)
{
	(void)state;
	port_event_init(home, &ev);
	start(waits_50, "a");
	start(signals_and_resets, "s");
	run_ns(49);
	expect_trail("");
	run_ns(200);
	expect_trail("timeout@50");
}

/* --- work --- */

static struct port_work work[3];

static void runs_10(void *arg)
{
	mark(arg);
	port_sleep_ns(home, 10);
}

static void test_work__queued_twice__runs_once(void **state)
{
	(void)state;
	port_work_init(home, &work[0], runs_10, (void *)(uintptr_t)"a");
	port_work_init(home, &work[1], runs_10, (void *)(uintptr_t)"b");
	port_work_queue(&work[0]);
	port_work_queue(&work[1]);
	port_work_queue(&work[0]);
	run_ns(5);
	/* It runs: it can be queued again, and then runs again, after what came before. */
	port_work_queue(&work[0]);
	run_ns(100);
	expect_trail("a@0 b@10 a@20");
}

static u32 cancelled;

static void cancels(void *arg)
{
	port_work_cancel_sync(&work[cancelled]);
	mark(arg);
}

static void test_work_cancel_sync__queued__does_not_run(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	static const char *const want[] = { "x@20 b@25 c@35", "x@65 a@70 c@80", "x@110 a@115 b@125" };
	u32 i, k;
	struct port_work busy;

	(void)state;
	port_work_init(home, &busy, runs_10, (void *)(uintptr_t)"busy");
	for (i = 0; i < 3; i++)
		port_work_init(home, &work[i], runs_10, (void *)(uintptr_t)names[i]);
	for (k = 0; k < 3; k++) {
		run_ns(15 + 45 * k);
		trail[0] = 0;
		port_work_queue(&busy);
		for (i = 0; i < 3; i++)
			port_work_queue(&work[i]);
		run_ns(20 + 45 * k);
		trail[0] = 0;
		cancelled = k;
		start(cancels, "x");
		run_ns(50 + 45 * k);
		expect_trail(want[k]);
		assert_null(home->worker.head);
		assert_null(home->worker.tail);
	}
}

/* The last of the queue is taken out: what comes after stands behind the one before. */
static void test_work_cancel_sync__last_queued__the_next_is_not_lost(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		port_work_init(home, &work[i], runs_10, (void *)(uintptr_t)names[i]);
	run_ns(1);
	port_work_queue(&work[0]);
	run_ns(5);
	port_work_queue(&work[1]);
	port_work_queue(&work[2]);
	port_work_cancel_sync(&work[2]);	/* queued: nothing to wait for */
	port_work_queue(&work[2]);
	port_work_cancel_sync(&work[2]);
	port_work_cancel_sync(&work[1]);
	port_work_queue(&work[2]);
	port_work_queue(&work[1]);
	run_ns(100);
	expect_trail("a@1 c@11 b@21");
}

static void test_work_cancel_sync__running__waits_for_its_end(void **state)
{
	(void)state;
	port_work_init(home, &work[0], runs_10, (void *)(uintptr_t)"a");
	port_work_queue(&work[0]);
	run_ns(5);
	cancelled = 0;
	start(cancels, "x");
	run_ns(100);
	expect_trail("a@0 x@10");
	start(cancels, "y");		/* neither queued nor running */
	memset(&work[1], 0, sizeof(work[1]));
	cancelled = 1;			/* never set up */
	run_ns(100);
	expect_trail("y@100");
}

static u32 rounds;

static void goes_round(void *arg)
{
	struct port_work *w = arg;

	mark("r");
	port_sleep_ns(home, 10);
	if (++rounds < 5)
		port_work_queue(w);
}

/* Neither running nor queued when it returns, though the work queues itself. */
static void test_work_cancel_sync__queues_itself__is_not_queued_after(void **state)
{
	(void)state;
	port_work_init(home, &work[0], goes_round, &work[0]);
	port_work_queue(&work[0]);
	run_ns(5);
	cancelled = 0;
	start(cancels, "x");
	run_ns(100);
	expect_trail("r@0 x@10");
	assert_false(work[0].queued);
	assert_false(work[0].running);
}

static void test_work__guest_is_dead__nothing_runs(void **state)
{
	(void)state;
	port_work_init(home, &work[0], runs_10, (void *)(uintptr_t)"a");
	home->dead = true;
	port_work_queue(&work[0]);
	run_ns(100);
	expect_trail("");
}

/* --- timers --- */

static struct port_timer timer;

static void fires(void *arg)
{
	assert_null(task_current());
	mark(arg);
}

static void test_timer__armed_again__fires_once_at_the_later_time(void **state)
{
	(void)state;
	port_timer_init(home, &timer, fires, (void *)(uintptr_t)"t");
	port_timer_arm(&timer, 10);
	run_ns(5);
	port_timer_arm(&timer, 10);
	run_ns(100);
	expect_trail("t@15");
	port_timer_arm(&timer, 10);
	port_timer_cancel_sync(&timer);
	port_timer_cancel_sync(&timer);
	run_ns(200);
	expect_trail("");
	assert_int_equal(port_now_ns(home), 200);
	memset(&timer, 0, sizeof(timer));
	port_timer_cancel_sync(&timer);	/* never set up */
}

/* --- memory --- */

static void test_alloc__zeroed_counted_and_found_again(void **state)
{
	u64 before = home->allocs;
	struct sim_chunk *held = home->chunks;
	u8 *p[3];
	u32 i, k;

	(void)state;
	for (i = 0; i < 3; i++) {
		p[i] = port_alloc(home, 100 + i);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (k = 0; k < 100 + i; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], 0xAA, 100 + i);
	}
	assert_int_equal(home->allocs, before + 3);
	port_free(home, NULL);
	port_free(home, p[1]);		/* the middle, the last, the first */
	port_free(home, p[2]);
	port_free(home, p[0]);
	assert_ptr_equal(home->chunks, held);
	/* What is held at the end goes with the machine: a leak checker says if not. */
	assert_non_null(port_alloc(home, 1 << 20));
	assert_int_equal(home->allocs, before + 4);
}

/* --- shared memory of the host's --- */

static void test_shm__odd_lengths__exactly_those_bytes(void **state)
{
	struct port_pages p;
	struct port_shm shm;
	u8 in[64], out[64];
	u32 len, i;

	(void)state;
	assert_int_equal(port_pages_alloc(m->host, 2, &p), 0);
	shm = port_pages_shm(&p);
	for (len = 1; len <= 17; len++) {
		memset(in, 0x11, sizeof(in));
		port_shm_copy_out(&shm, 4096 - 8, in, 32);	/* across two pages */
		memset(in, 0xEE, sizeof(in));
		port_shm_copy_out(&shm, 4096 - 5, in, len);
		port_shm_copy_in(&shm, 4096 - 8, out, 32);
		for (i = 0; i < 32; i++)
			assert_int_equal(out[i], i >= 3 && i < 3 + len ? 0xEE : 0x11);
		port_shm_zero(&shm, 4096 - 5, len);
		port_shm_copy_in(&shm, 4096 - 8, out, 32);
		for (i = 0; i < 32; i++)
			assert_int_equal(out[i], i >= 3 && i < 3 + len ? 0 : 0x11);
	}
	port_pages_put(&p);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mutex__three_want_it__one_at_a_time_in_order),
		TEST(test_lock__two_want_it__one_at_a_time),
		TEST(test_event__signalled__all_go_on_and_it_stays),
		TEST(test_event__reset_at_once__time_is_not_begun_anew),
		TEST(test_work__queued_twice__runs_once),
		TEST(test_work_cancel_sync__queued__does_not_run),
		TEST(test_work_cancel_sync__last_queued__the_next_is_not_lost),
		TEST(test_work_cancel_sync__running__waits_for_its_end),
		TEST(test_work_cancel_sync__queues_itself__is_not_queued_after),
		TEST(test_work__guest_is_dead__nothing_runs),
		TEST(test_timer__armed_again__fires_once_at_the_later_time),
		TEST(test_alloc__zeroed_counted_and_found_again),
		TEST(test_shm__odd_lengths__exactly_those_bytes),
	};

	return cmocka_run_group_tests_name("sim_home", tests, NULL, NULL);
}
