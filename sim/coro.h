/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_CORO_H
#define SIM_CORO_H

/*
 * Coroutines with stacks of their own: a vCPU or a host thread runs code written as if it
 * could wait, and waits by giving control back to whoever resumed it. Nothing runs at
 * the same time; who runs next is always somebody's explicit call. Resuming nests: a coroutine may
 * resume another. A coroutine stays on the thread that made it.
 */

#include "spec/spec_types.h"

struct coro;

#define CORO_STACK_BYTES (256U * 1024)

/*
 * A coroutine that will call @fn(@arg) when first resumed, with at least @stack_bytes of
 * stack over a page that faults. NULL without memory.
 */
struct coro *coro_new(void (*fn)(void *arg), void *arg, size_t stack_bytes);

/*
 * Also of one that has not finished: its stack is dropped, nothing on it is unwound. Not
 * of one that is running or has resumed another that is.
 */
void coro_free(struct coro *c);

/* Let @c run until it yields or its function returns. It is neither done nor running. */
void coro_resume(struct coro *c);

/* Go back to who resumed the running coroutine; returns when it is resumed. Only inside one. */
void coro_yield(void);

/* Has its function returned? */
bool coro_done(const struct coro *c);

/* The one that runs, or NULL outside of all. */
struct coro *coro_current(void);

#endif
