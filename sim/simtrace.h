/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SIMTRACE_H
#define SIM_SIMTRACE_H

/* LightIOV's own events in the stream: a = vm, b = component << 32 | code, c and d its a and b. */

#include "liov/trace.h"
#include "worldtrace.h"

enum {
	SIM_TRACE_LIOV = SIM_TRACE_WORLD_END,	/* + enum liov_trace_kind */
	SIM_TRACE_END = SIM_TRACE_LIOV + LIOV_TRACE_KINDS
};

_Static_assert(SIM_TRACE_END <= 128, "trace masks are two 64-bit words");

#endif
