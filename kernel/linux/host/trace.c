// SPDX-License-Identifier: GPL-2.0
/* The core's decisions: a tracepoint each, and a refusal also into the kernel's log, rate limited (a guest can cause it). */

#include <linux/device.h>

#include "port_host.h"

#define CREATE_TRACE_POINTS
#include "lightiov_trace.h"

void liov_home_trace(struct port_home *home, const struct liov_trace *t)
{
	trace_decision(home->dev, t);
	if (t->kind == LIOV_TRACE_DENY)
		dev_info_ratelimited(home->dev, "vm %d refused: component %u, code %#x, value %#llx, length %#llx\n",
				     (int)t->vm, t->component, t->code, t->a, t->b);
}
