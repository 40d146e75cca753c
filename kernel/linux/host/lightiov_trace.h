/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM lightiov

#if !defined(LINUX_HOST_LIGHTIOV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LINUX_HOST_LIGHTIOV_TRACE_H

/* lightiov:decision, one event for all that liov/trace.h knows; off until somebody listens. */

#include <linux/device.h>
#include <linux/tracepoint.h>

#include "liov/trace.h"

TRACE_EVENT(decision,
	TP_PROTO(struct device *dev, const struct liov_trace *t),
	TP_ARGS(dev, t),
	TP_STRUCT__entry(
		__string(dev, dev_name(dev))
		__field(u32, kind)
		__field(u32, component)
		__field(u32, vm)
		__field(u32, code)
		__field(u64, a)
		__field(u64, b)
	),
	TP_fast_assign(
		__assign_str(dev, dev_name(dev));
		__entry->kind = t->kind;
		__entry->component = t->component;
		__entry->vm = t->vm;
		__entry->code = t->code;
		__entry->a = t->a;
		__entry->b = t->b;
	),
	TP_printk("%s vm %d %s %s code %#x a %#llx b %#llx", __get_str(dev), (int)__entry->vm,
		  __print_symbolic(__entry->component, { LIOV_FRONTEND, "frontend" }, { LIOV_MEDIATOR, "mediator" },
				   { LIOV_DEVICE, "device" }, { LIOV_BACKEND, "backend" }),
		  __print_symbolic(__entry->kind, { LIOV_TRACE_DENY, "deny" }, { LIOV_TRACE_GUARD, "guard" },
				   { LIOV_TRACE_EMULATED, "emulated" }, { LIOV_TRACE_SUBMIT, "submit" },
				   { LIOV_TRACE_COMPLETE, "complete" }, { LIOV_TRACE_QUEUE, "queue" },
				   { LIOV_TRACE_VM, "vm" }, { LIOV_TRACE_RESET, "reset" },
				   { LIOV_TRACE_EVENT, "event" }),
		  __entry->code, __entry->a, __entry->b)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE lightiov_trace
#include <trace/define_trace.h>
