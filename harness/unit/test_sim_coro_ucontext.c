// SPDX-License-Identifier: GPL-2.0
/* The switch of other architectures, put to the same tests. */
#define CORO_UCONTEXT
#include "test_sim_coro.c"
