// SPDX-License-Identifier: GPL-2.0
/*
 * The events of runs as a trace for Perfetto's viewer, in the JSON trace-event format that it reads: a
 * process a run, a track a vCPU, queue and component, a slice an event, and a flow along the events of one
 * command; a command's life is an asynchronous slice of its own. Times are whole nanoseconds, which is what
 * the viewer keeps; picoseconds are among an event's arguments.
 *
 * Slices of one track must nest (the format's rule), so none lasts into the next. Thread numbers are
 * unique among all runs, for the viewer knows threads by them alone.
 */

#include "report/document.h"
#include "report/recorder.h"
#include "report/recording.h"
#include "sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS_MAX	256u
#define SLICE_NS	200u		/* at most */
#define FLOWS_MAX	65536u		/* commands of a run that have flows */

struct track {
	char name[48];
	u64 last;		/* its latest event, by number; for the lengths of slices */
};

struct writer {
	FILE *f;
	const struct planned *run;
	u32 pid, first_tid;
	bool comma;
	struct track track[TRACKS_MAX];
	u32 nr_tracks;
	u32 *length_ns;		/* [nr] of each event's slice */
	u8 *track_of;		/* [nr] */
};

static void put_event(struct writer *w, json_t *ev)
{
	fputs(w->comma ? ",\n" : "\n", w->f);
	w->comma = true;
	json_dumpf(ev, w->f, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(ev);
}

/* Microseconds with three digits: exact, where a double would be rounded. Jansson has no such number, so it is put in as text. */
static void put_timed(struct writer *w, json_t *ev, u64 time_ps, const u32 *length_ns)
{
	u64 ns = time_ps / PS_PER_NS;
	char *text = json_dumps(ev, JSON_COMPACT | JSON_SORT_KEYS);

	json_decref(ev);
	if (!text)
		return;
	fputs(w->comma ? ",\n" : "\n", w->f);
	w->comma = true;
	fprintf(w->f, "%.*s,\"ts\":%llu.%03u", (int)strlen(text) - 1, text, (unsigned long long)(ns / 1000), (u32)(ns % 1000));
	if (length_ns)
		fprintf(w->f, ",\"dur\":%u.%03u", *length_ns / 1000, *length_ns % 1000);
	fputc('}', w->f);
	free(text);
}

static void put_name(struct writer *w, const char *what, u32 tid, const char *name)
{
	put_event(w, json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "ph", "M", "name", what, "pid", (int)w->pid, "tid", (int)tid, "args",
			       "name", document_text(name)));
}

static u8 track_named(struct writer *w, const char *name)
{
	u32 i;

	for (i = 0; i < w->nr_tracks; i++)
		if (strcmp(w->track[i].name, name) == 0)
			return (u8)i;
	if (w->nr_tracks == TRACKS_MAX)
		return TRACKS_MAX - 1;
	snprintf(w->track[i].name, sizeof(w->track[i].name), "%s", name);
	w->track[i].last = ~0ull;
	w->nr_tracks++;
	return (u8)i;
}

/* vCPUs, queues and LightIOV's software (once a VM) have tracks of their own; else it is the component's. */
static u8 track_of(struct writer *w, const struct recorded_event *e)
{
	const struct run_result *r = w->run->result;
	struct event_number number[EVENT_NUMBERS_MAX];
	struct event_words words;
	char name[48];
	u32 nr, i;

	event_words(&e->ev, &words);
	nr = event_numbers(&words, number);
	for (i = 0; i < nr; i++) {
		if (strcmp(number[i].name, "vcpu") == 0 && e->vm != SIM_OWNER_NONE)
			snprintf(name, sizeof(name), "vCPU %u (VM %s)", (u32)number[i].value, document_owner(r, e->vm));
		else if ((strcmp(number[i].name, "sqid") == 0 || strcmp(number[i].name, "qid") == 0) && strcmp(words.component, "nvme") == 0)
			snprintf(name, sizeof(name), "queue %u", (u32)number[i].value & 0xFFFF);
		else
			continue;
		return track_named(w, name);
	}
	if (e->ev.kind >= SIM_TRACE_LIOV && e->vm != SIM_OWNER_NONE)
		snprintf(name, sizeof(name), "%s (VM %s)", words.component, document_owner(r, e->vm));
	else
		snprintf(name, sizeof(name), "%s", strcmp(words.component, "nvme") ? words.component : "controller");
	return track_named(w, name);
}

/* Each event's track, and the length of its slice. */
static void lay_out(struct writer *w)
{
	const struct recorded_event *ev = w->run->recorded;
	u32 nr = w->run->result->recorded.nr, i;

	for (i = nr; i-- > 0;) {
		struct track *t;
		u64 now = ev[i].ev.time_ps / PS_PER_NS, next;

		w->track_of[i] = track_of(w, &ev[i]);
		t = &w->track[w->track_of[i]];
		/* One that begins in the same nanosecond may last as long as its successor: they nest. */
		next = t->last == ~0ull ? now + SLICE_NS : ev[t->last].ev.time_ps / PS_PER_NS;
		w->length_ns[i] = next == now ? w->length_ns[t->last] : next - now < SLICE_NS ? (u32)(next - now) : SLICE_NS;
		t->last = i;
	}
}

/* Numbers of commands seen, in a table by hash of their id: io_id -> ordinal, how many events are left. */
struct command {
	u64 io_id;
	u32 events, seen, ordinal;
};

static struct command *command_of(struct command *table, u64 io_id)
{
	u64 at = io_id * 0x9E3779B97F4A7C15ull >> 48;
	u32 tries;

	for (tries = 0; tries < FLOWS_MAX; tries++, at++) {
		struct command *c = &table[at % FLOWS_MAX];

		if (c->io_id == io_id || !c->io_id)
			return c;
	}
	return NULL;
}

static struct command *find_commands(const struct writer *w)
{
	struct command *table = calloc(FLOWS_MAX, sizeof(*table)), *c;
	u32 i, nr = 0;

	for (i = 0; table && i < w->run->result->recorded.nr; i++) {
		u64 id = w->run->recorded[i].ev.io_id;

		c = id && nr < FLOWS_MAX / 2 ? command_of(table, id) : NULL;
		if (!c)
			continue;
		if (!c->io_id) {
			c->io_id = id;
			c->ordinal = ++nr;
		}
		c->events++;
	}
	return table;
}

static void put_life(struct writer *w, const struct recorded_event *e, const struct command *c)
{
	char id[32], name[40];
	bool ends = c->seen == c->events;

	snprintf(id, sizeof(id), "0x%x%08x", w->pid, c->ordinal);
	snprintf(name, sizeof(name), "queue %llu: command", (unsigned long long)(c->io_id >> 48));
	put_timed(w, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:{s:o}}", "ph", ends ? "e" : "b", "cat", "command", "name", name, "id", id,
			       "pid", (int)w->pid, "tid", (int)w->first_tid, "args", "io", document_hex(c->io_id)), e->ev.time_ps, NULL);
}

static void put_slice(struct writer *w, u32 i, const struct command *c)
{
	const struct recorded_event *e = &w->run->recorded[i];
	const struct run_result *r = w->run->result;
	struct event_words words;
	json_t *args = document_numbers(&e->ev), *j;
	char id[32];

	event_words(&e->ev, &words);
	json_object_set_new(args, "time_ps", json_integer((json_int_t)e->ev.time_ps));
	if (e->owner != SIM_OWNER_NONE)
		json_object_set_new(args, "owner", document_text(document_owner(r, e->owner)));
	if (e->mark & RECORDED_OF_VERDICT)
		json_object_set_new(args, "decides", json_true());
	j = json_pack("{s:s, s:o, s:o, s:i, s:i, s:o}", "ph", "X", "cat", document_text(words.component), "name", document_text(words.text),
		      "pid", (int)w->pid, "tid", (int)(w->first_tid + w->track_of[i]), "args", args);
	if (c && c->events > 1) {
		snprintf(id, sizeof(id), "0x%x%08x", w->pid, c->ordinal);
		json_object_set_new(j, "bind_id", json_string(id));
		if (c->seen > 1)
			json_object_set_new(j, "flow_in", json_true());
		if (c->seen < c->events)
			json_object_set_new(j, "flow_out", json_true());
	}
	put_timed(w, j, e->ev.time_ps, &w->length_ns[i]);
}

static void put_events(struct writer *w)
{
	struct command *table = find_commands(w);
	u32 i;

	for (i = 0; table && i < w->run->result->recorded.nr; i++) {
		const struct recorded_event *e = &w->run->recorded[i];
		struct command *c = e->ev.io_id ? command_of(table, e->ev.io_id) : NULL;

		if (c && !c->io_id)
			c = NULL;
		if (c)
			c->seen++;
		put_slice(w, i, c);
		if (c && c->events > 1 && (c->seen == 1 || c->seen == c->events))
			put_life(w, e, c);
	}
	free(table);
}

/* Violations: marks across all tracks of the run. */
static void put_marks(struct writer *w)
{
	const struct run_result *r = w->run->result;
	u32 i;

	for (i = 0; i < r->nr_violations; i++)
		put_timed(w, json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:{s:o, s:o, s:o}}", "ph", "i", "s", "p", "cat", "violation", "name", r->violation[i].claim,
				       "pid", (int)w->pid, "tid", (int)w->first_tid, "args", "by", document_text(r->violation[i].by),
				       "victim", document_text(r->violation[i].victim), "what", document_text(r->violation[i].what)),
			  r->violation[i].time_ps, NULL);
}

static int put_run(FILE *f, const struct planned *run, u32 pid, u32 *next_tid, bool *comma)
{
	u32 nr = run->recorded ? run->result->recorded.nr : 0, i;
	struct writer *w = calloc(1, sizeof(*w));
	const char *variant = run->file->variant[run->variant].name;
	char name[80];
	int ret = -ENOMEM;

	if (!w)
		return ret;
	*w = (struct writer){ .f = f, .run = run, .pid = pid, .first_tid = *next_tid, .comma = *comma };
	w->length_ns = calloc(nr + 1, sizeof(*w->length_ns));
	w->track_of = calloc(nr + 1, 1);
	if (w->length_ns && w->track_of) {
		snprintf(name, sizeof(name), "%s %s%s%s", run->file->id, strcmp(variant, "-") ? variant : "", strcmp(variant, "-") ? " " : "",
			 policy_name(run->policy));
		put_name(w, "process_name", w->first_tid, name);
		if (nr) {
			lay_out(w);
			for (i = 0; i < w->nr_tracks; i++)
				put_name(w, "thread_name", w->first_tid + i, w->track[i].name);
			put_events(w);
		}
		put_marks(w);
		*next_tid += TRACKS_MAX;
		*comma = w->comma;
		ret = 0;
	}
	free(w->track_of);
	free(w->length_ns);
	free(w);
	return ret;
}

int report_perfetto(const struct plan *p, const struct cli_options *o)
{
	FILE *f = fopen(o->perfetto_path, "w");
	u32 i, tid = 1;
	u64 left_out = 0;
	bool comma = false;
	int ret = 0;

	if (!f)
		return -errno;
	fputs("{\"traceEvents\":[", f);
	for (i = 0; i < p->nr_runs && !ret; i++) {
		const struct run_recorded *r = &p->run[i].result->recorded;

		ret = put_run(f, &p->run[i], i + 1, &tid, &comma);
		left_out += r->seen - r->nr;
	}
	fprintf(f, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"runs\":\"%u\",\"events_left_out\":\"%llu\",\"seed\":\"%llu\"}}\n", p->nr_runs,
		(unsigned long long)left_out, (unsigned long long)o->scenario.seed);
	if (fclose(f) && !ret)
		ret = -errno;
	return ret;
}
