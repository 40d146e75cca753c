// SPDX-License-Identifier: GPL-2.0
/*
 * One program of the runner's self-test; WAY says how it ends. Each but the first two must
 * make the runner fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>

enum way { PASSES, SKIPS, FAILS, FAILS_IN_SETUP, CRASHES, ABORTS, HANGS, LEAVES, RUNS_NOTHING, HIDES_FAILURE, LATE_STATUS };

static int set_up(void **state)
{
	(void)state;
	return WAY == FAILS_IN_SETUP ? -1 : 0;
}

static void test_first__always__passes(void **state)
{
	(void)state;
}

static void test_second__planted__ends_its_way(void **state)
{
	volatile int *nowhere = NULL;

	(void)state;
	switch (WAY) {
	case SKIPS:
		skip();
		break;
	case FAILS:
	case HIDES_FAILURE:
		assert_int_equal(1, 2);
		break;
	case CRASHES:
		*nowhere = 1;
		break;
	case ABORTS:
		abort();
	case HANGS:
		pause();
		break;
	case LEAVES:
		_exit(0);
	default:
		break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first__always__passes),
		cmocka_unit_test_setup(test_second__planted__ends_its_way, set_up),
	};
	int failed;

	if (WAY == RUNS_NOTHING)
		return 0;
	failed = cmocka_run_group_tests_name("selftest", tests, NULL, NULL);
	if (WAY == HIDES_FAILURE)
		return 0;
	return WAY == LATE_STATUS ? 1 : failed;
}
