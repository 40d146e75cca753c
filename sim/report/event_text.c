// SPDX-License-Identifier: GPL-2.0
/* Events in words. */

#include "report/recorder.h"

#include <stdio.h>
#include <stdlib.h>
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
	[SIM_TRACE_ZAPPED - TRACE_MODEL_END] = { "host zaps CMB pages", "vm", "offset", "len", "-" },
	[SIM_TRACE_ZEROED - TRACE_MODEL_END] = { "host zeroes memory", "hpa", "len", "-", "-" },
	[SIM_TRACE_ANSWER - TRACE_MODEL_END] = { "host answers", "vm", "gpa", "value", "len" },
	[SIM_TRACE_WROTE - TRACE_MODEL_END] = { "host writes guest memory", "vm", "gpa", "len", "-" },
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

	return at + snprintf(room ? buf + at : NULL, room, " %s=0x%llx", name, (unsigned long long)v);
}

static const char *used(const char *name)
{
	return strcmp(name, "-") == 0 ? NULL : name;
}

/* "nvme sqe fetch": the first word is who. */
static void split(const char *words, struct event_words *out)
{
	size_t n = strcspn(words, " ");

	snprintf(out->component, sizeof(out->component), "%.*s", (int)n, words);
	snprintf(out->text, sizeof(out->text), "%s", words[n] ? words + n + 1 : words);
}

void event_words(const struct trace_event *ev, struct event_words *out)
{
	static const struct event_name liov = { "", "vm", "code", "a", "b" }, unknown = { "?", "a", "b", "c", "d" };
	const struct event_name *n = &unknown;

	*out = (struct event_words){ .value = { ev->a, ev->b, ev->c, ev->d } };
	if (ev->kind < TRACE_MODEL_END)
		n = &model_names[ev->kind];
	else if (ev->kind < SIM_TRACE_WORLD_END)
		n = &world_names[ev->kind - TRACE_MODEL_END];
	else if (ev->kind < SIM_TRACE_END)
		n = &liov;
	if (n == &liov) {
		snprintf(out->component, sizeof(out->component), "%s", ev->b >> 32 < LIOV_COMPONENTS ? liov_components[ev->b >> 32] : "?");
		snprintf(out->text, sizeof(out->text), "%s", liov_texts[ev->kind - SIM_TRACE_LIOV]);
		out->value[1] = (u32)ev->b;
	} else {
		split(n->text, out);
	}
	out->name[0] = used(n->a);
	out->name[1] = used(n->b);
	out->name[2] = used(n->c);
	out->name[3] = used(n->d);
}

static void add_number(struct event_number *out, u32 *nr, const char *name, size_t len, u64 value)
{
	if (*nr == EVENT_NUMBERS_MAX)
		return;
	snprintf(out[*nr].name, sizeof(out[0].name), "%.*s", (int)len, name);
	out[(*nr)++].value = value;
}

/* Where the field that begins at bit @from ends: where the next one of @name begins. */
static u32 field_end(const char *name, u32 from)
{
	const char *at = name;
	u32 end = 64;

	while ((at = strstr(at, "<<"))) {
		u32 shift = (u32)atoi(at += 2);

		if (shift > from && shift < end)
			end = shift;
	}
	return end;
}

/* "a|b<<16": the fields of one number, lowest bits without a shift. */
static void split_fields(const char *all, u64 value, struct event_number *out, u32 *nr)
{
	const char *name = all;
	size_t len;

	for (; *name; name += len + (name[len] != 0)) {
		const char *shift = strstr(name, "<<");
		u32 from, end;

		len = strcspn(name, "|");
		from = shift && shift < name + len ? (u32)atoi(shift + 2) : 0;
		end = field_end(all, from);
		add_number(out, nr, name, strcspn(name, "<|"), value >> from & (end - from >= 64 ? ~0ull : (1ull << (end - from)) - 1));
	}
}

u32 event_numbers(const struct event_words *w, struct event_number out[EVENT_NUMBERS_MAX])
{
	u32 i, nr = 0;

	for (i = 0; i < 4; i++) {
		const char *name = w->name[i], *cq = name ? strstr(name, "*2+") : NULL;

		if (!name)
			continue;
		if (cq) {
			add_number(out, &nr, name, (size_t)(cq - name), w->value[i] >> 1);
			add_number(out, &nr, cq + 3, strlen(cq + 3), w->value[i] & 1);
		} else {
			split_fields(name, w->value[i], out, &nr);
		}
	}
	return nr;
}

int event_text(const struct trace_event *ev, char *buf, size_t size)
{
	struct event_words w;
	u32 i;
	int at;

	event_words(ev, &w);
	at = snprintf(buf, size, "%7llu.%06llu us  %s %s", (unsigned long long)(ev->time_ps / PS_PER_US),
		      (unsigned long long)(ev->time_ps % PS_PER_US), w.component, w.text);
	for (i = 0; i < 4; i++)
		if (w.name[i])
			at = put(buf, size, at, w.name[i], w.value[i]);
	if (ev->io_id && (size_t)at < size)
		at += snprintf(buf + at, size - (size_t)at, "  io %llu#%llu", (unsigned long long)(ev->io_id >> 48),
			       (unsigned long long)(ev->io_id & ((1ull << 48) - 1)));
	return at;
}
