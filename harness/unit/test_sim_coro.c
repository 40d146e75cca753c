// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/coro.c"
#include "sim/rng.h"

#ifdef CORO_UCONTEXT
#define GROUP "sim_coro_ucontext"
#else
#define GROUP "sim_coro"
#endif

/* What ran, in order. */
static char trail[64];

static void leave_mark(char mark)
{
	size_t len = strlen(trail);

	assert_true(len + 1 < sizeof(trail));
	trail[len] = mark;
	trail[len + 1] = '\0';
}

static void expect_trail(const char *expected)
{
	assert_string_equal(trail, expected);
	trail[0] = '\0';
}

static void three_marks(void *arg)
{
	const char *mark = arg;

	for (int i = 0; i < 3; i++) {
		leave_mark(*mark);
		if (i < 2)
			coro_yield();
	}
}

static void test_coro_resume__two_in_turn__each_goes_on_where_it_was(void **state)
{
	struct coro *a = coro_new(three_marks, "a", CORO_STACK_BYTES), *b = coro_new(three_marks, "b", 1);

	(void)state;
	assert_true(a && b && !coro_current());
	for (int i = 0; i < 3; i++) {
		assert_false(coro_done(a) || coro_done(b));
		coro_resume(a);
		leave_mark('.');
		coro_resume(b);
	}
	expect_trail("a.ba.ba.b");
	assert_true(coro_done(a) && coro_done(b) && !coro_current());
	coro_free(a);
	coro_free(b);
}

static void outer(void *arg)
{
	struct coro *inner = arg, *self = coro_current();

	while (!coro_done(inner)) {
		leave_mark('<');
		coro_resume(inner);
		assert_ptr_equal(coro_current(), self);
		leave_mark('>');
		coro_yield();
	}
}

static void test_coro_yield__inside_a_nested_one__returns_to_its_resumer(void **state)
{
	struct coro *inner = coro_new(three_marks, "i", CORO_STACK_BYTES);
	struct coro *o = coro_new(outer, inner, CORO_STACK_BYTES);

	(void)state;
	while (!coro_done(o)) {
		coro_resume(o);
		leave_mark('.');
	}
	expect_trail("<i>.<i>.<i>..");
	coro_free(inner);
	coro_free(o);
}

static void test_coro_resume__by_another_than_before__yields_to_the_new_resumer(void **state)
{
	struct coro *inner = coro_new(three_marks, "i", CORO_STACK_BYTES);
	struct coro *o = coro_new(outer, inner, CORO_STACK_BYTES);

	(void)state;
	coro_resume(o);
	leave_mark('.');
	coro_resume(inner);
	leave_mark('.');
	coro_resume(o);
	expect_trail("<i>.i.<i>");
	assert_true(coro_done(inner) && !coro_done(o));
	coro_free(inner);
	coro_free(o);
}

#define TOWER 50

static void climb(void *arg)
{
	unsigned int *height = arg;
	struct coro *next;

	if (++*height == TOWER)
		return;
	next = coro_new(climb, height, 16384);
	assert_non_null(next);
	coro_resume(next);
	assert_true(coro_done(next));
	coro_free(next);
}

static void test_coro__one_inside_the_other_many_deep__unwinds(void **state)
{
	unsigned int height = 0;
	struct coro *c = coro_new(climb, &height, 16384);

	(void)state;
	coro_resume(c);
	assert_true(coro_done(c) && height == TOWER);
	coro_free(c);
}

/* Fills most of a stack, gives up control at the deepest point, and finds all as it was. */
static u64 descend(unsigned int depth, u64 seed)
{
	volatile u64 frame[32];
	u64 sum = 0;

	for (unsigned int i = 0; i < 32; i++)
		frame[i] = rng_splitmix(&seed);
	if (depth)
		sum = descend(depth - 1, seed);
	else
		coro_yield();
	for (unsigned int i = 0; i < 32; i++)
		sum += frame[i];
	return sum;
}

struct dive {
	u64 seed, sum;
	struct coro *c;
};

static void dive(void *arg)
{
	struct dive *d = arg;

	d->sum = descend(1000, d->seed);
}

static u64 dive_expected(u64 seed)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < 1001 * 32; i++)
		sum += rng_splitmix(&seed);
	return sum;
}

static void test_coro__deep_stacks_side_by_side__stay_apart(void **state)
{
	struct dive d[8];

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		d[i] = (struct dive){ .seed = i, .c = coro_new(dive, &d[i], 1024 * 1024) };
		assert_non_null(d[i].c);
		coro_resume(d[i].c);
	}
	for (unsigned int i = 8; i-- > 0;) {
		coro_resume(d[i].c);
		assert_true(coro_done(d[i].c));
		assert_true(d[i].sum == dive_expected(i));
		coro_free(d[i].c);
	}
}

static void test_coro_free__not_finished__drops_its_stack(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		struct dive d = { .seed = i, .c = NULL };
		struct coro *fresh = coro_new(dive, &d, 1024 * 1024);

		d.c = coro_new(dive, &d, 1024 * 1024);
		coro_resume(d.c);
		coro_free(d.c);
		coro_free(fresh);
	}
}

/* The rounding mode that arithmetic follows, which need not be the one fegetround() reads. */
static int rounding(void)
{
	volatile double one = 1, three = 3;
	volatile double third = one / three, minus_third = -one / three;

	if (third == -minus_third)
		return third * three < one ? FE_TOWARDZERO : FE_TONEAREST;
	return third < -minus_third ? FE_DOWNWARD : FE_UPWARD;
}

static void round_up(void *arg)
{
	int *mode = arg;

	mode[0] = fegetround();
	mode[1] = rounding();
	fesetround(FE_UPWARD);
	coro_yield();
	mode[2] = fegetround();
	mode[3] = rounding();
}

/* mxcsr and the x87 control word are the callee's to keep (System V ABI 3.2.1). */
static void test_coro__rounding_mode__belongs_to_each(void **state)
{
	int mode[4] = { -1, -1, -1, -1 };
	struct coro *c;

	(void)state;
	fesetround(FE_DOWNWARD);
	c = coro_new(round_up, mode, CORO_STACK_BYTES);
	coro_resume(c);
	assert_int_equal(fegetround(), FE_DOWNWARD);
	assert_int_equal(rounding(), FE_DOWNWARD);
	fesetround(FE_TOWARDZERO);
	coro_resume(c);
	assert_int_equal(fegetround(), FE_TOWARDZERO);
	assert_int_equal(rounding(), FE_TOWARDZERO);
	fesetround(FE_TONEAREST);
	assert_int_equal(rounding(), FE_TONEAREST);
	assert_true(mode[0] == FE_DOWNWARD && mode[1] == FE_DOWNWARD);
	assert_true(mode[2] == FE_UPWARD && mode[3] == FE_UPWARD);
	coro_free(c);
}

#ifdef __x86_64__
static void clobber(void *arg)
{
	(void)arg;
	for (;;) {
		__asm__ volatile("movq $-1, %%rbx; movq $-1, %%r12; movq $-1, %%r13; movq $-1, %%r14; movq $-1, %%r15"
				 : : : "rbx", "r12", "r13", "r14", "r15");
		coro_yield();
	}
}

static void test_coro_resume__callee_saved_registers__survive(void **state)
{
	struct coro *c = coro_new(clobber, NULL, CORO_STACK_BYTES);
	u64 sum = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		register u64 r12 __asm__("r12") = 3, r13 __asm__("r13") = 5, r14 __asm__("r14") = 7;
		register u64 r15 __asm__("r15") = 11, rbx __asm__("rbx") = 13;

		__asm__ volatile("" : "+r"(r12), "+r"(r13), "+r"(r14), "+r"(r15), "+r"(rbx));
		coro_resume(c);
		__asm__ volatile("" : "+r"(r12), "+r"(r13), "+r"(r14), "+r"(r15), "+r"(rbx));
		sum += r12 * r13 * r14 * r15 * rbx;
	}
	assert_true(sum == 3 * 15015);
	coro_free(c);
}

/* A vector spilled to the stack with an aligned store faults if the entry misaligned it. */
static void measure_stack(void *arg)
{
	*(uintptr_t *)arg = (uintptr_t)__builtin_frame_address(0);
}

static void test_coro_new__first_resume__stack_is_aligned(void **state)
{
	uintptr_t frame = 0;
	struct coro *c = coro_new(measure_stack, &frame, CORO_STACK_BYTES);

	(void)state;
	coro_resume(c);
	assert_int_equal(frame % 16, 0);
	coro_free(c);
}
#endif

static void overrun(void *arg)
{
	(void)arg;
	(void)descend(1000, 1);
}

static void test_coro__below_the_stack__a_page_faults(void **state)
{
	struct coro *c = coro_new(overrun, NULL, 16384);
	volatile u8 *bottom = (u8 *)(uintptr_t)c->own.bottom;
	pid_t child;
	int status;

	(void)state;
	*bottom = 1;
	child = fork();
	if (!child) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
		signal(SIGSEGV, SIG_DFL);	/* cmocka's would go on with the next test */
		bottom[-1] = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	coro_free(c);
}

static void test_coro_new__stack_that_cannot_be__is_null(void **state)
{
	(void)state;
	assert_null(coro_new(overrun, NULL, SIZE_MAX));
	assert_null(coro_new(overrun, NULL, SIZE_MAX / 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coro_resume__two_in_turn__each_goes_on_where_it_was),
		cmocka_unit_test(test_coro_yield__inside_a_nested_one__returns_to_its_resumer),
		cmocka_unit_test(test_coro_resume__by_another_than_before__yields_to_the_new_resumer),
		cmocka_unit_test(test_coro__one_inside_the_other_many_deep__unwinds),
		cmocka_unit_test(test_coro__deep_stacks_side_by_side__stay_apart),
		cmocka_unit_test(test_coro_free__not_finished__drops_its_stack),
		cmocka_unit_test(test_coro__rounding_mode__belongs_to_each),
#ifdef __x86_64__
		cmocka_unit_test(test_coro_resume__callee_saved_registers__survive),
		cmocka_unit_test(test_coro_new__first_resume__stack_is_aligned),
#endif
		cmocka_unit_test(test_coro__below_the_stack__a_page_faults),
		cmocka_unit_test(test_coro_new__stack_that_cannot_be__is_null),
	};

	return cmocka_run_group_tests_name(GROUP, tests, NULL, NULL);
}
