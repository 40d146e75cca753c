// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Delta debugging: drop operations, then arguments, as long as the same kind of operation still
 * shows a difference in the same thing. Each try is played on fresh machines.
 */

#define TRIES_MAX 400

struct shrinking {
	struct bench *b;
	struct stream *st;
	struct mismatch *m;
	const struct op_kind *kind;
	char name[SEEN_NAME_MAX];
	bool same_values;
	u32 tries;
};

/* By the time arguments are dropped, what is seen has to stay what it was; words of memory may be others. */
static bool is_same(const struct shrinking *s, const struct mismatch *m)
{
	size_t len = strcspn(s->name, "+");

	if (m->op->kind != s->kind || strncmp(m->name, s->name, len))
		return false;
	return !s->same_values || s->name[len] || (m->witness == s->m->witness && m->model == s->m->model);
}

static bool still_differs(struct shrinking *s, const struct stream *st)
{
	struct mismatch m;

	if (s->tries++ >= TRIES_MAX || !bench_play(s->b, st, &m))
		return false;
	if (!is_same(s, &m))
		return false;
	*s->m = m;
	return true;
}

static void keep(struct shrinking *s, const struct stream *shorter)
{
	assert(shorter->nr <= s->st->room);
	memcpy(s->st->op, shorter->op, shorter->nr * sizeof(*shorter->op));
	s->st->nr = s->m->index < shorter->nr ? s->m->index : shorter->nr;
	s->m->stream = s->st;
	s->m->op = s->m->index ? &s->st->op[s->m->index - 1] : &s->st->machine;
}

static bool try_without(struct shrinking *s, u32 from, u32 nr)
{
	struct stream shorter = { .machine = s->st->machine };
	bool shows;

	for (u32 i = 0; i < s->st->nr; i++)
		if (i < from || i >= from + nr)
			stream_add(&shorter, &s->st->op[i]);
	shows = still_differs(s, &shorter);
	if (shows)
		keep(s, &shorter);
	stream_free(&shorter);
	return shows;
}

static void drop_operations(struct shrinking *s)
{
	for (u32 chunk = s->st->nr / 2 ? s->st->nr / 2 : 1;; chunk = chunk > 1 ? chunk / 2 : 1) {
		bool dropped = false;

		for (u32 end = s->st->nr; end && s->tries < TRIES_MAX;) {
			u32 from = end > chunk ? end - chunk : 0;

			dropped |= try_without(s, from, end - from);
			end = from < s->st->nr ? from : s->st->nr;
		}
		if (chunk == 1 && !dropped)
			return;
		if (s->tries >= TRIES_MAX)
			return;
	}
}

/* The argument as it is when it is not given. */
static bool try_default(struct shrinking *s, u32 i, u32 arg)
{
	struct stream copy = { .machine = s->st->machine };
	struct op *op;
	const char *def;
	bool shows;

	for (u32 k = 0; k < s->st->nr; k++)
		stream_add(&copy, &s->st->op[k]);
	op = &copy.op[i];
	def = strchr(op->kind->args[arg], '=');
	op->arg[arg] = def ? strtoull(def + 1, NULL, 0) : 0;
	op->given &= ~(1u << arg);
	shows = still_differs(s, &copy);
	if (shows)
		keep(s, &copy);
	stream_free(&copy);
	return shows;
}

static void drop_arguments(struct shrinking *s)
{
	for (u32 i = 0; i < s->st->nr; i++)
		for (u32 arg = 0; arg < OP_ARGS_MAX && i < s->st->nr; arg++)
			if (s->st->op[i].given & (1u << arg))
				try_default(s, i, arg);
}

void bench_shrink(struct bench *b, struct stream *st, struct mismatch *m)
{
	struct shrinking s = { .b = b, .st = st, .m = m, .kind = m->op->kind };
	bool counting = b->counting;

	memcpy(s.name, m->name, sizeof(s.name));
	b->counting = false;
	st->nr = m->index < st->nr ? m->index : st->nr;
	if (st->nr)
		drop_operations(&s);
	s.same_values = true;
	drop_arguments(&s);
	b->counting = counting;
}
