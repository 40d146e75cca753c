// SPDX-License-Identifier: GPL-2.0
#include "diff/report.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Play the same operations on both machines and compare what is seen, one operation after the other. */

void see(struct seen *seen, u64 value, const char *format, ...)
{
	va_list ap;

	assert(seen->nr < SEEN_MAX);
	seen->item[seen->nr].value = value;
	va_start(ap, format);
	vsnprintf(seen->item[seen->nr++].name, SEEN_NAME_MAX, format, ap);
	va_end(ap);
}

u8 *see_bytes(struct seen *seen, u64 len)
{
	seen->bytes = realloc(seen->bytes, seen->nr_bytes + len);
	assert(seen->bytes);
	seen->nr_bytes += len;
	return seen->bytes + seen->nr_bytes - len;
}

void seen_clear(struct seen *seen)
{
	free(seen->bytes);
	seen->bytes = NULL;
	seen->nr_bytes = 0;
	seen->nr = 0;
}

/* The @nth item of a name, looked for from @hint on first. */
static u64 find(const struct seen *seen, const char *name, u32 nth, u32 hint)
{
	if (hint < seen->nr && !nth && !strcmp(seen->item[hint].name, name))
		return seen->item[hint].value;
	for (u32 i = 0; i < seen->nr; i++)
		if (!strcmp(seen->item[i].name, name) && !nth--)
			return seen->item[i].value;
	return SEEN_NOTHING;
}

static u32 nth_of(const struct seen *seen, u32 index)
{
	u32 n = 0;

	for (u32 i = 0; i < index; i++)
		n += !strcmp(seen->item[i].name, seen->item[index].name);
	return n;
}

struct comparison {
	struct bench *b;
	const struct stream *stream;
	const struct op *op;
	u32 index;
	bool said;		/* by a survey */
	bool ends;		/* a known difference after which the states differ */
};

static bool is_known(struct comparison *c, struct mismatch *m)
{
	bool ends = false;
	bool known;

	m->op = c->op;
	m->index = c->index;
	m->stream = c->stream;
	known = known_match(c->b->known, m, &ends);
	c->ends |= ends;
	if (!known && c->b->survey && c->b->counting) {
		if (!c->said)
			report_mismatch(stdout, m);
		c->said = !strncmp(m->name, "data+", 5);	/* of memory the first word will do */
		c->b->surveyed++;
		return true;
	}
	return known;
}

/* True: a difference that is not known. @swapped: items only the model has. */
static bool compare_items(struct comparison *c, struct mismatch *m, bool swapped)
{
	const struct seen *a = swapped ? c->b->seen_model : c->b->seen_witness;
	const struct seen *other = swapped ? c->b->seen_witness : c->b->seen_model;

	for (u32 i = 0; i < a->nr; i++) {
		u64 x = a->item[i].value, y;

		if (!swapped && i < other->nr && !strcmp(other->item[i].name, a->item[i].name) && other->item[i].value == x)
			continue;
		y = find(other, a->item[i].name, nth_of(a, i), i);
		if (x == y || (swapped && y != SEEN_NOTHING))
			continue;
		*m = (struct mismatch){ .witness = swapped ? y : x, .model = swapped ? x : y };
		snprintf(m->name, sizeof(m->name), "%s", a->item[i].name);
		if (!is_known(c, m))
			return true;
	}
	return false;
}

static bool compare_bytes(struct comparison *c, struct mismatch *m)
{
	const struct seen *w = c->b->seen_witness, *d = c->b->seen_model;
	u64 len = w->nr_bytes < d->nr_bytes ? w->nr_bytes : d->nr_bytes;

	for (u64 off = 0; off + 8 <= len; off += 8) {
		if (!memcmp(w->bytes + off, d->bytes + off, 8))
			continue;
		snprintf(m->name, sizeof(m->name), "data+0x%llx", (unsigned long long)off);
		memcpy(&m->witness, w->bytes + off, 8);
		memcpy(&m->model, d->bytes + off, 8);
		if (!is_known(c, m))
			return true;
	}
	return false;
}

static void play_one(struct side *s, const struct op *op, struct seen *seen)
{
	seen_clear(seen);
	s->refused = 0;
	op->kind->play(s, op, seen);
	if (s->dead)
		seen_clear(seen);
	see(seen, s->dead ? 1 + (u64)(u32)s->how : 0, "dead");
	see(seen, s->refused, "refused");
}

static void count(struct bench *b, const struct op *op)
{
	u64 status;

	if (!b->counting)
		return;
	b->operations[op->kind->unit]++;
	b->compared += b->seen_witness->nr + b->seen_witness->nr_bytes / 8;
	if (!b->rows || !*op->row)
		return;
	status = find(b->seen_model, "status", 0, 1);
	if (rows_met(b->rows, op->row, status))
		return;
	b->rows_wrong++;
	fprintf(stderr, "row %s: the model's status is 0x%llx\n  ", op->row, (unsigned long long)status);
	op_print(stderr, op);
}

bool bench_play(struct bench *b, const struct stream *st, struct mismatch *m)
{
	struct comparison c = { .b = b, .stream = st };
	bool differs = false;

	side_start(&b->witness, &st->machine);
	side_start(&b->model, &st->machine);
	b->machines += b->counting;
	for (u32 i = 0; i <= st->nr && !differs && !c.ends; i++) {
		c.op = i ? &st->op[i - 1] : &st->machine;
		c.index = i;
		c.said = false;
		play_one(&b->witness, c.op, b->seen_witness);
		play_one(&b->model, c.op, b->seen_model);
		count(b, c.op);
		differs = compare_items(&c, m, false) || compare_items(&c, m, true) || compare_bytes(&c, m);
		c.ends |= b->witness.dead || b->model.dead;
	}
	side_stop(&b->witness);
	side_stop(&b->model);
	return differs;
}
