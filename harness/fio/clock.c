// SPDX-License-Identifier: GPL-2.0
/*
 * fio's clock. The library is loaded before libc (LD_PRELOAD), so that fio's calls for the time and for
 * sleep come here. While a job runs, CLOCK_MONOTONIC is the machine's time, for all threads of fio;
 * otherwise it goes on as the processor's does, from where the machine's stood.
 */
#define _GNU_SOURCE
#include "world.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull
#define NS_PER_US 1000ull

/*
 * fio waits for short times by looking at the clock. Who looks so often and does nothing else waits;
 * from then on each look takes a microsecond, of which fio's waits are a multiple.
 */
#define LOOKS_FREE 64

static _Atomic bool held;
static _Atomic uint64_t held_ns;
static _Atomic uint64_t base_ns;	/* held: of the machine's time 0; else what is to be added to the processor's */
static _Thread_local struct world_job *mine;
static _Thread_local unsigned int looks;

#define PUBLIC __attribute__((visibility("default")))

static uint64_t processor_ns(void)
{
	struct timespec t;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void clock_hold(uint64_t ns)
{
	base_ns = processor_ns() + base_ns - ns;
	held_ns = ns;
	held = true;
}

void clock_set(uint64_t ns)
{
	held_ns = ns;
}

void clock_release(void)
{
	base_ns = base_ns + held_ns - processor_ns();
	held = false;
}

void clock_belongs_to(struct world_job *j)
{
	mine = j;
	looks = 0;
}

void clock_job_is_active(void)
{
	looks = 0;
}

static bool job_sleeps(uint64_t ns)
{
	if (!mine || !held)
		return false;
	looks = 0;
	/* fio asks for no time at all, until some has passed. */
	world_wait(mine, UINT32_MAX, 0, ns > NS_PER_US ? ns : NS_PER_US);
	return true;
}

static int get_time(clockid_t id, struct timespec *t)
{
	uint64_t ns;

	if (id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, t);
	if (mine && held && ++looks > LOOKS_FREE)
		world_wait(mine, UINT32_MAX, 0, NS_PER_US);
	ns = (held ? held_ns : processor_ns()) + base_ns;
	t->tv_sec = (time_t)(ns / NS_PER_S);
	t->tv_nsec = (long)(ns % NS_PER_S);
	return 0;
}

PUBLIC int clock_gettime(clockid_t id, struct timespec *t) __attribute__((alias("get_time")));

PUBLIC int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	if (job_sleeps((uint64_t)wanted->tv_sec * NS_PER_S + (uint64_t)wanted->tv_nsec))
		return 0;
	return (int)syscall(SYS_nanosleep, wanted, left);
}

PUBLIC int clock_nanosleep(clockid_t id, int flags, const struct timespec *wanted, struct timespec *left)
{
	if (!(flags & TIMER_ABSTIME) && job_sleeps((uint64_t)wanted->tv_sec * NS_PER_S + (uint64_t)wanted->tv_nsec))
		return 0;
	return syscall(SYS_clock_nanosleep, id, flags, wanted, left) ? errno : 0;
}

PUBLIC int usleep(useconds_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000L };

	return nanosleep(&t, NULL);
}

bool clock_is_ours(void)
{
	return dlsym(RTLD_DEFAULT, "clock_gettime") == (void *)get_time;
}
