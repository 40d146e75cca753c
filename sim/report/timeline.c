// SPDX-License-Identifier: GPL-2.0
/* Recorded events as JSON: what a page's timeline shows of each. */

#include "report/document.h"
#include "report/recorder.h"
#include "report/recording.h"

#include <string.h>

json_t *document_numbers(const struct trace_event *ev)
{
	struct event_number number[EVENT_NUMBERS_MAX];
	struct event_words w;
	json_t *o = json_object();
	u32 i, nr;

	event_words(ev, &w);
	nr = event_numbers(&w, number);
	for (i = 0; i < nr; i++)
		json_object_set_new(o, number[i].name, document_hex(number[i].value));
	return o;
}

void document_status(u64 status, char buf[24])
{
	snprintf(buf, 24, "%u/0x%02X", (unsigned int)(status >> 8 & 7), (unsigned int)(status & 0xFF));
}

const char *document_owner(const struct run_result *r, u32 owner)
{
	if (owner < r->recorded.nr_vms)
		return r->recorded.vm[owner];
	return owner == SIM_OWNER_HOST ? "host" : "nobody";
}

static void set_address(json_t *o, const char *key, u64 addr)
{
	if (addr != RECORDED_NO_ADDRESS)
		json_object_set_new(o, key, document_hex(addr));
}

/* The bytes in their order in memory, two digits each. */
static json_t *bytes_json(const u8 *data, u32 len)
{
	char buf[2 * RECORDING_DATA + 1];
	u32 i;

	for (i = 0; i < len && i < RECORDING_DATA; i++)
		snprintf(buf + 2 * i, 3, "%02x", data[i]);
	return json_string(len ? buf : "");
}

static bool has_status(u32 kind)
{
	return kind == TRACE_CQE || kind == TRACE_CMD_REFUSED;
}

static json_t *event_json(const struct run_result *r, const struct recorded_event *e)
{
	struct event_words w;
	char status[24];
	json_t *o = json_object();

	event_words(&e->ev, &w);
	json_object_set_new(o, "component", document_text(w.component));
	json_object_set_new(o, "numbers", document_numbers(&e->ev));
	json_object_set_new(o, "text", document_text(w.text));
	json_object_set_new(o, "time_ps", json_integer((json_int_t)e->ev.time_ps));
	if (e->ev.io_id)
		json_object_set_new(o, "io", document_hex(e->ev.io_id));
	if (e->vm != SIM_OWNER_NONE)
		json_object_set_new(o, "vm", document_text(document_owner(r, e->vm)));
	if (e->owner != SIM_OWNER_NONE)
		json_object_set_new(o, "owner", document_text(document_owner(r, e->owner)));
	set_address(o, "owner_gpa", e->gpa);
	set_address(o, "named_gpa", e->named_gpa);
	if (has_status(e->ev.kind)) {
		document_status(e->ev.c, status);
		json_object_set_new(o, "status", json_string(status));
	}
	if (e->ev.data_len == RECORDING_DATA)
		json_object_set_new(o, "sqe", bytes_json(e->data, RECORDING_DATA));
	if (e->mark & RECORDED_OF_VERDICT)
		json_object_set_new(o, "decides", json_true());
	if (e->mark & RECORDED_IN_ATTACK)
		json_object_set_new(o, "in_attack", json_true());
	return o;
}

json_t *document_timeline(const struct planned *p)
{
	const struct run_result *r = p->result;
	json_t *list = json_array();
	u32 i;

	for (i = 0; p->recorded && i < r->recorded.nr; i++)
		if (p->recorded[i].mark & RECORDED_SHOWN)
			json_array_append_new(list, event_json(r, &p->recorded[i]));
	return list;
}
