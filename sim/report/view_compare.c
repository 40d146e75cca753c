// SPDX-License-Identifier: GPL-2.0
/* Are two views equal? If not, what was seen first that is not; if they are, which times are not, and why. */

#include "report/view_internal.h"
#include "report/recorder.h"

#include <stdio.h>

static const char *const kind_names[] = {
	[VIEW_MEMORY] = "memory", [VIEW_LOAD] = "load", [VIEW_REGISTER] = "register", [VIEW_CONFIG] = "config", [VIEW_INTERRUPT] = "interrupt",
	[VIEW_FRAMES] = "frames", [VIEW_PAGE] = "page", [VIEW_COMPLETION] = "completion",
};

/* The sum over channels, whose order is time's. */
static u64 digest_of(struct view *v)
{
	const struct view_channel *c;
	u64 sum = 0;
	u32 i;

	for (c = v->channels; c; c = c->hh.next) {
		digest_reset(&v->scratch);
		digest_bytes(&v->scratch, &c->place, sizeof(c->place));
		for (i = 0; i < c->nr; i++) {
			digest_u64(&v->scratch, c->seen[i].value);
			digest_u64(&v->scratch, c->seen[i].len);
		}
		sum += digest_final(&v->scratch);
	}
	return sum;
}

static struct view_channel *same_place(const struct view *v, const struct view_place *place)
{
	struct view_channel *c;

	HASH_FIND(hh, v->channels, place, sizeof(*place), c);
	return c;
}

static void value_text(const struct view_seen *s, char *buf, size_t size)
{
	if (!s)
		snprintf(buf, size, "nothing");
	else if (s->len <= 8)
		snprintf(buf, size, "0x%llx", (unsigned long long)s->value);
	else
		snprintf(buf, size, "%u bytes #%08x", s->len, (u32)s->value);
}

struct difference {
	u64 seq;			/* ~0: none */
	const struct view_channel *at;
	const struct view_seen *a, *b;
};

/* From @a's side; @swapped: from the other's. */
static void look(struct difference *d, const struct view *a, const struct view *b, bool swapped)
{
	const struct view_channel *c, *other;
	u32 i;

	for (c = a->channels; c; c = c->hh.next) {
		other = same_place(b, &c->place);
		for (i = 0; i < c->nr && c->seen[i].seq < d->seq; i++) {
			const struct view_seen *s = &c->seen[i], *t = other && i < other->nr ? &other->seen[i] : NULL;

			if (t && t->value == s->value && t->len == s->len)
				continue;
			*d = (struct difference){ s->seq, c, swapped ? t : s, swapped ? s : t };
			break;
		}
	}
}

static void put_place(const struct view_channel *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s 0x%llx", kind_names[c->place.kind], (unsigned long long)c->place.at);
}

static void put_difference(const struct difference *d, struct view_comparison *out)
{
	char place[40], a[48], b[48];

	put_place(d->at, place, sizeof(place));
	value_text(d->a, a, sizeof(a));
	value_text(d->b, b, sizeof(b));
	snprintf(out->what, sizeof(out->what), "%s: %s, and with other secrets %s", place, a, b);
}

/* The first step that took another time; where they part before that, the last that they had in common. */
static void put_source(const struct view *a, const struct view *b, char *buf, size_t size)
{
	struct event_words from = { .component = "-" }, to = from;
	u32 i, n = a->nr_steps < b->nr_steps ? a->nr_steps : b->nr_steps;

	for (i = 0; i < n; i++)
		if (a->step[i].kind != b->step[i].kind || a->step[i].after_ps != b->step[i].after_ps)
			break;
	if (i)
		event_words(&(struct trace_event){ .kind = a->step[i - 1].kind }, &from);
	if (i < n)
		event_words(&(struct trace_event){ .kind = a->step[i].kind }, &to);
	snprintf(buf, size, "%s %s -> %s %s", from.component, from.text, to.component, to.text);
}

static bool all_of(const struct view *a, const struct view *b)
{
	const struct view_mark *k, *other;

	for (k = a->came; k; k = k->hh.next) {
		HASH_FIND(hh, b->came, &k->hash, sizeof(k->hash), other);
		if (!other)
			return false;
	}
	return true;
}

static void look_at_times(const struct view *a, const struct view *b, struct view_comparison *out)
{
	const struct view_channel *c, *other;
	u32 i;

	for (c = a->channels; c; c = c->hh.next) {
		other = same_place(b, &c->place);
		for (i = 0; other && i < c->nr && i < other->nr; i++) {
			u64 s = c->seen[i].after_ps, t = other->seen[i].after_ps, d = s > t ? s - t : t - s;

			if (d <= out->timing_ps)
				continue;
			out->timing_ps = d;
			put_place(c, out->late, sizeof(out->late));
		}
	}
	if (out->timing_ps)
		put_source(a, b, out->source, sizeof(out->source));
}

void view_compare(struct view *a, struct view *b, struct view_comparison *out)
{
	struct difference d = { .seq = ~0ull };

	*out = (struct view_comparison){ .failed = a->failed || b->failed, .observations = { a->seq, b->seq } };
	out->digest[0] = digest_of(a);
	out->digest[1] = digest_of(b);
	out->data = a->data != b->data;
	out->frames = a->frames != b->frames;
	out->blocks = a->blocks != b->blocks;
	out->accesses = a->accesses != b->accesses;
	look(&d, a, b, false);
	look(&d, b, a, true);
	out->same = d.seq == ~0ull;
	out->order = all_of(a, b) && all_of(b, a);
	if (!out->same)
		put_difference(&d, out);
	look_at_times(a, b, out);
}
