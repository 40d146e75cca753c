// SPDX-License-Identifier: GPL-2.0
/*
 * On x86-64 a switch saves what the System V ABI lets a callee rely on (3.2.1: rbx, rbp,
 * r12 to r15, rsp, the control words of SSE and x87) on the stack it leaves. Elsewhere, or
 * with CORO_UCONTEXT, it is swapcontext(), which also saves the signal mask.
 *
 * The switch ends in a jump: a return would be predicted to go where the latest call came from, which
 * it never does here, and that costs more than all the rest.
 */
#include "coro.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__x86_64__) && !defined(CORO_UCONTEXT)
#define CORO_UCONTEXT
#endif

#ifdef CORO_UCONTEXT
#include <ucontext.h>

struct context {
	ucontext_t uc;
};

static void context_make(struct context *to, u8 *stack, size_t size_bytes, void (*entry)(void))
{
	getcontext(&to->uc);
	to->uc.uc_stack.ss_sp = stack;
	to->uc.uc_stack.ss_size = size_bytes;
	to->uc.uc_link = NULL;
	makecontext(&to->uc, entry, 0);
}

static void context_switch(struct context *from, struct context *to)
{
	swapcontext(&from->uc, &to->uc);
}

#else
struct context {
	u64 *sp;
};

void coro_switch_stack(u64 **save_sp, u64 *load_sp);

__asm__(".text\n"
	".p2align 4\n"
	".hidden coro_switch_stack\n"
	".globl coro_switch_stack\n"
	".type coro_switch_stack, @function\n"
	"coro_switch_stack:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	subq $8, %rsp\n"
	"	stmxcsr (%rsp)\n"
	"	fnstcw 4(%rsp)\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	ldmxcsr (%rsp)\n"
	"	fldcw 4(%rsp)\n"
	"	addq $8, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	popq %rcx\n"
	"	jmpq *%rcx\n"
	".size coro_switch_stack, . - coro_switch_stack\n");

/* What coro_switch_stack() pops, lowest address first. */
enum frame_word {
	FRAME_CONTROL,
	FRAME_R15,
	FRAME_R14,
	FRAME_R13,
	FRAME_R12,
	FRAME_RBX,
	FRAME_RBP,
	FRAME_GO_ON,
	FRAME_WORDS
};

/*
 * The first switch jumps to @entry as if it were called: the stack pointer is 8 above a
 * multiple of 16, at a null return address, where a debugger's walk ends.
 */
static void context_make(struct context *to, u8 *stack, size_t size_bytes, void (*entry)(void))
{
	u64 *entry_sp = (u64 *)(void *)(stack + size_bytes) - 3;
	u64 *frame = entry_sp - FRAME_WORDS;
	u32 mxcsr;
	u16 x87;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	frame[FRAME_CONTROL] = (u64)x87 << 32 | mxcsr;
	frame[FRAME_GO_ON] = (u64)(uintptr_t)entry;
	to->sp = frame;
}

static void context_switch(struct context *from, struct context *to)
{
	coro_switch_stack(&from->sp, to->sp);
}
#endif

/* AddressSanitizer has to be told which stack is in use. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CORO_ASAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CORO_ASAN
#endif

#ifdef CORO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

/* A stack as AddressSanitizer knows it. */
struct stack {
	const void *bottom;
	size_t size_bytes;
	void *fake;
};

enum coro_state {
	CORO_READY,		/* may be resumed */
	CORO_ACTIVE,		/* runs, or has resumed another that is active */
	CORO_DONE,
};

struct coro {
	struct context context;
	struct context back;	/* of who resumed it */
	struct coro *resumer;	/* NULL: the thread itself */
	enum coro_state state;
	void (*fn)(void *arg);
	void *arg;
	u8 *map;		/* guard page, then the stack */
	size_t map_bytes;
	struct stack own, resumer_stack;
};

static _Thread_local struct coro *current;

/* @leave is NULL if the stack that is left is left for good. */
static void stack_leave(struct stack *leave, const struct stack *enter)
{
#ifdef CORO_ASAN
	__sanitizer_start_switch_fiber(leave ? &leave->fake : NULL, enter->bottom, enter->size_bytes);
#else
	(void)leave;
	(void)enter;
#endif
}

/* Running on @enter again, come from @left, which learns its bounds. */
static void stack_entered(const struct stack *enter, struct stack *left)
{
#ifdef CORO_ASAN
	__sanitizer_finish_switch_fiber(enter->fake, &left->bottom, &left->size_bytes);
#else
	(void)enter;
	(void)left;
#endif
}

static void coro_entry(void)
{
	struct coro *c = current;

	stack_entered(&c->own, &c->resumer_stack);
	c->fn(c->arg);
	c->state = CORO_DONE;
	current = c->resumer;
	stack_leave(NULL, &c->resumer_stack);
	context_switch(&c->context, &c->back);
	abort();
}

struct coro *coro_new(void (*fn)(void *arg), void *arg, size_t stack_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct coro *c;

	if (stack_bytes > SIZE_MAX / 2)
		return NULL;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->fn = fn;
	c->arg = arg;
	c->map_bytes = (stack_bytes + page - 1) / page * page + page;
	c->map = mmap(NULL, c->map_bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (c->map == MAP_FAILED)
		goto out_free;
	if (mprotect(c->map, page, PROT_NONE))
		goto out_unmap;
	c->own = (struct stack){ .bottom = c->map + page, .size_bytes = c->map_bytes - page };
	context_make(&c->context, c->map + page, c->map_bytes - page, coro_entry);
	return c;

out_unmap:
	munmap(c->map, c->map_bytes);
out_free:
	free(c);
	return NULL;
}

void coro_free(struct coro *c)
{
	if (!c)
		return;
	assert(c->state != CORO_ACTIVE);
#ifdef CORO_ASAN
	/* Frames that never returned left their marks for whoever gets the memory next. */
	__asan_unpoison_memory_region(c->own.bottom, c->own.size_bytes);
#endif
	munmap(c->map, c->map_bytes);
	free(c);
}

void coro_resume(struct coro *c)
{
	assert(c->state == CORO_READY);
	c->state = CORO_ACTIVE;
	c->resumer = current;
	current = c;
	stack_leave(&c->resumer_stack, &c->own);
	context_switch(&c->back, &c->context);
	stack_entered(&c->resumer_stack, &c->own);
}

void coro_yield(void)
{
	struct coro *c = current;

	assert(c);
	c->state = CORO_READY;
	current = c->resumer;
	stack_leave(&c->own, &c->resumer_stack);
	context_switch(&c->context, &c->back);
	stack_entered(&c->own, &c->resumer_stack);
}

bool coro_done(const struct coro *c)
{
	return c->state == CORO_DONE;
}

struct coro *coro_current(void)
{
	return current;
}
