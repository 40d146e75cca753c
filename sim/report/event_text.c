// SPDX-License-Identifier: GPL-2.0
/* Events in words. */

#include "report/recorder.h"

#include <stdio.h>
#include <string.h>

struct event_name {
	const char *text, *a, *b, *c, *d;
};

static const struct event_name model_names[] = {
#define TRACE(kind, text, a, b, c, d) [TRACE_##kind] = { text, a, b, c, d },
#include "trace.def"
#undef TRACE
};

static const struct event_name world_names[] = {
	[SIM_TRACE_FRAMES - TRACE_MODEL_END] = { "host frames", "hpa", "len", "owner", "taken" },
	[SIM_TRACE_PAGE - TRACE_MODEL_END] = { "host maps CMB page", "vm", "offset", "hpa", "writable" },
	[SIM_TRACE_NO_SLOT - TRACE_MODEL_END] = { "host guest_no_such_address", "vm", "gpa", "write", "-" },
	[SIM_TRACE_REVOKED - TRACE_MODEL_END] = { "host takes CMB pages away", "vm", "offset", "len", "-" },
	[SIM_TRACE_IOVA - TRACE_MODEL_END] = { "host iova", "iova", "len", "hpa", "mapped" },
	[SIM_TRACE_VM - TRACE_MODEL_END] = { "host vm", "vm", "created", "first_lba", "blocks" },
	[SIM_TRACE_QUEUE - TRACE_MODEL_END] = { "host queue", "vm", "qid", "given", "-" },
	[SIM_TRACE_FUNCTION - TRACE_MODEL_END] = { "host assigns function", "rid", "vm", "-", "-" },
	[SIM_TRACE_MSG - TRACE_MODEL_END] = { "scenario says", "-", "-", "-", "-" },
};

static const char *const liov_texts[LIOV_TRACE_KINDS] = {
	[LIOV_TRACE_DENY] = "guest_denied", [LIOV_TRACE_GUARD] = "guard stands", [LIOV_TRACE_EMULATED] = "emulated",
	[LIOV_TRACE_SUBMIT] = "submit", [LIOV_TRACE_COMPLETE] = "complete", [LIOV_TRACE_QUEUE] = "queue",
	[LIOV_TRACE_VM] = "vm", [LIOV_TRACE_RESET] = "controller reset", [LIOV_TRACE_EVENT] = "controller event",
};

static const char *const liov_components[LIOV_COMPONENTS] = {
	[LIOV_FRONTEND] = "frontend", [LIOV_MEDIATOR] = "mediator", [LIOV_DEVICE] = "device", [LIOV_BACKEND] = "backend",
};

static int put(char *buf, size_t size, int at, const char *name, u64 v)
{
	size_t room = (size_t)at < size ? size - (size_t)at : 0;

	if (strcmp(name, "-") == 0)
		return at;
	return at + snprintf(room ? buf + at : NULL, room, " %s=0x%llx", name, (unsigned long long)v);
}

int event_text(const struct trace_event *ev, char *buf, size_t size)
{
	const struct event_name *n = NULL;
	struct event_name liov = { "?", "vm", "code", "a", "b" };
	char text[64];
	u64 b = ev->b;
	int at;

	if (ev->kind < TRACE_MODEL_END) {
		n = &model_names[ev->kind];
	} else if (ev->kind < SIM_TRACE_WORLD_END) {
		n = &world_names[ev->kind - TRACE_MODEL_END];
	} else if (ev->kind < SIM_TRACE_END) {
		snprintf(text, sizeof(text), "%s %s", ev->b >> 32 < LIOV_COMPONENTS ? liov_components[ev->b >> 32] : "?",
			 liov_texts[ev->kind - SIM_TRACE_LIOV]);
		liov.text = text;
		b = (u32)ev->b;
		n = &liov;
	}
	if (!n)
		return snprintf(buf, size, "?");
	at = snprintf(buf, size, "%7llu.%06llu us  %s", (unsigned long long)(ev->time_ps / PS_PER_US),
		      (unsigned long long)(ev->time_ps % PS_PER_US), n->text);
	at = put(buf, size, at, n->a, ev->a);
	at = put(buf, size, at, n->b, b);
	at = put(buf, size, at, n->c, ev->c);
	at = put(buf, size, at, n->d, ev->d);
	if (ev->io_id && (size_t)at < size)
		at += snprintf(buf + at, size - (size_t)at, "  io %llu#%llu", (unsigned long long)(ev->io_id >> 48),
			       (unsigned long long)(ev->io_id & ((1ull << 48) - 1)));
	return at;
}
