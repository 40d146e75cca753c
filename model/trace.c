// SPDX-License-Identifier: GPL-2.0
#include "trace.h"
#include "sched.h"

void trace_emit(struct trace *t, struct trace_event *ev)
{
	ev->time_ps = sched_now(t->sched);
	t->fn(t->opaque, ev);
}
