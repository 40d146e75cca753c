/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H

/*
 * Events out. The model says what happened; checkers, reports and digests listen. A
 * listener never changes the model, and never reads inside it.
 */

#include "spec/spec_types.h"

enum trace_kind {
#define TRACE(kind, text, a, b, c, d) TRACE_##kind,
#include "trace.def"
#undef TRACE
	TRACE_MODEL_END,	/* listeners number their own kinds from here, below 128 */
};

_Static_assert(TRACE_MODEL_END <= 64, "trace masks are two 64-bit words");

struct trace_event {
	u64 time_ps;		/* filled by trace_emit() */
	u64 io_id;		/* sqid << 48 | number of the command in its queue; 0: none */
	u32 kind;
	u32 data_len;
	u64 a, b, c, d;		/* as trace.def names them */
	const void *data;	/* valid during the call only */
};

struct sched;

struct trace {
	u64 mask[2];		/* kinds somebody listens to; the listener's */
	const struct sched *sched;
	void (*fn)(void *opaque, const struct trace_event *ev);
	void *opaque;
};

void trace_emit(struct trace *t, struct trace_event *ev);

static inline bool trace_wants(const struct trace *t, u32 kind)
{
	return (t->mask[kind >> 6] >> (kind & 63)) & 1;
}

static inline void trace4(struct trace *t, u32 kind, u64 io_id, u64 a, u64 b, u64 c, u64 d)
{
	if (trace_wants(t, kind))
		trace_emit(t, &(struct trace_event){ .kind = kind, .io_id = io_id, .a = a, .b = b, .c = c, .d = d });
}

static inline void trace_data(struct trace *t, u32 kind, u64 io_id, u64 a, u64 b, u64 c, u64 d,
			      const void *data, u32 len)
{
	if (trace_wants(t, kind))
		trace_emit(t, &(struct trace_event){ .kind = kind, .io_id = io_id, .a = a, .b = b, .c = c, .d = d,
						     .data = data, .data_len = len });
}

#endif
