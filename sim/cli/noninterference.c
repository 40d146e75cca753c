// SPDX-License-Identifier: GPL-2.0
/*
 * Noninterference: what an attacker sees may not depend on what is its victims'. Each attack is run with
 * two sets of secrets (scenario/secret.h), and the views of all VMs that attack in it (report/view.h) are compared.
 */

#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define OTHER_SECRETS 0x5EC4E7ull
#define LINE_BYTES 1024

/* A row of known-leaks: case, variant, policy, what ("LEAK" or "order"), reason. */
struct leak {
	char field[5][160];
	bool met;
};

struct leaks {
	char path[512];
	struct leak *row;
	u32 nr;
};

const char *nonint_kind_name(enum nonint_kind k)
{
	static const char *const names[] = {
		[NONINT_NOT_ASKED] = "-", [NONINT_NO_ATTACKER] = "no attacker", [NONINT_SAME] = "same view", [NONINT_ORDER] = "order",
		[NONINT_LEAK] = "LEAK", [NONINT_ESCAPED] = "escaped", [NONINT_NOTHING_SECRET] = "nothing secret", [NONINT_FAILED] = "failed",
	};

	return names[k];
}

static bool ended(const struct run_result *r)
{
	return r->outcome == RUN_AS_EXPECTED || r->outcome == RUN_EXPLORED || r->outcome == RUN_DIFFERS;
}

/* One run that is looked at. NULL without memory. */
static struct view *seen_run(const struct planned *r, const struct scenario_options *o, const struct secret *s, struct run_result *out)
{
	struct scenario_options opt = *o;

	opt.record_max = 0;
	opt.secret = s;
	opt.view = view_new(r->result->attackers);
	if (opt.view)
		scenario_run(r->file, r->variant, r->policy, &opt, r->row, out);
	return opt.view;
}

static enum nonint_kind kind_of(const struct run_result *base, const struct view_comparison *c)
{
	if (base->verdict.kind == VERDICT_ESCAPED)
		return NONINT_ESCAPED;
	if (!c->same)
		return c->order ? NONINT_ORDER : NONINT_LEAK;
	return c->data || c->frames || c->blocks || c->accesses ? NONINT_SAME : NONINT_NOTHING_SECRET;
}

static void compare(const struct planned *r, const struct cli_options *o, struct run_result *other)
{
	struct noninterference *n = &r->result->nonint;
	struct secret s = { .seed = OTHER_SECRETS, .attackers = r->result->attackers };
	struct view *a, *b;

	memcpy(s.place, r->result->place, sizeof(s.place));
	n->kind = NONINT_FAILED;
	a = seen_run(r, &o->scenario, NULL, other);
	b = a ? seen_run(r, &o->scenario, &s, other) : NULL;
	if (b && ended(other) && other->verdict.kind == VERDICT_ESCAPED && r->result->verdict.kind != VERDICT_ESCAPED) {
		n->kind = NONINT_LEAK;
		snprintf(n->seen.what, sizeof(n->seen.what), "with other secrets it ESCAPED (%.180s)", other->verdict.resource);
	} else if (b && ended(other)) {
		view_compare(a, b, &n->seen);
		if (!n->seen.failed)
			n->kind = kind_of(r->result, &n->seen);
	}
	if (n->kind == NONINT_FAILED)
		snprintf(n->seen.what, sizeof(n->seen.what), "%.200s", other->nr_failures ? other->failure[0].text : "no memory");
	view_free(a);
	view_free(b);
}

void run_with_secrets(const struct planned *r, const struct cli_options *o)
{
	struct run_result *other;

	if (!o->noninterference || !ended(r->result))
		return;
	if (!r->result->attackers) {
		r->result->nonint.kind = NONINT_NO_ATTACKER;
		return;
	}
	other = calloc(1, sizeof(*other));
	if (other)
		compare(r, o, other);
	free(other);
}

/* --- what is known --- */

static bool leak_read(struct leak *l, char *line)
{
	u32 i;

	for (i = 0; i < 5; i++) {
		size_t n = strcspn(line, "\t");

		if (n == 0 || n >= sizeof(l->field[i]))
			return false;
		memcpy(l->field[i], line, n);
		l->field[i][n] = '\0';
		line += n;
		if ((*line == '\t') != (i < 4))
			return false;
		line += *line == '\t';
	}
	return !strcmp(l->field[3], nonint_kind_name(NONINT_LEAK)) || !strcmp(l->field[3], nonint_kind_name(NONINT_ORDER));
}

/* Without a file nothing is known. */
static int leaks_read(struct leaks *l, const char *table)
{
	char line[LINE_BYTES];
	u32 number = 0;
	const char *end = strrchr(table, '/');
	int ret = 0;
	FILE *f;

	snprintf(l->path, sizeof(l->path), "%.*sknown-leaks", end ? (int)(end - table + 1) : 0, table);
	f = fopen(l->path, "r");
	while (f && !ret && fgets(line, sizeof(line), f)) {
		struct leak *more;

		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		more = realloc(l->row, (l->nr + 1) * sizeof(*more));
		if (!more) {
			ret = CLI_BUG;
			break;
		}
		l->row = more;
		memset(&l->row[l->nr], 0, sizeof(*more));
		if (leak_read(&l->row[l->nr++], line))
			continue;
		fprintf(stderr, "%s:%u: no leak; give case, variant, policy, LEAK or order, and a reason, with tabs between\n", l->path, number);
		ret = CLI_USAGE;
	}
	if (f)
		fclose(f);
	return ret;
}

static struct leak *leak_of(struct leaks *l, const struct planned *r)
{
	u32 i;

	for (i = 0; i < l->nr; i++)
		if (!strcmp(l->row[i].field[0], r->file->id) && !strcmp(l->row[i].field[1], r->file->variant[r->variant].name) &&
		    !strcmp(l->row[i].field[2], policy_name(r->policy)))
			return &l->row[i];
	return NULL;
}

static void judge(struct planned *r, struct leaks *l)
{
	struct noninterference *n = &r->result->nonint;
	struct leak *k = leak_of(l, r);
	char text[400];
	const char *what = NULL;

	if (n->kind == NONINT_NOT_ASKED)
		return;
	if (k && !strcmp(k->field[3], nonint_kind_name(n->kind))) {
		n->known = true;
		snprintf(n->why, sizeof(n->why), "%s", k->field[4]);
		return;
	}
	if (k)
		what = "known-leaks lists it otherwise";
	else if (n->kind == NONINT_LEAK || n->kind == NONINT_ORDER)
		what = "not in known-leaks";
	else if (n->kind == NONINT_NOTHING_SECRET || n->kind == NONINT_FAILED)
		what = "nothing is shown";
	if (!what)
		return;
	nonint_text(n, text, sizeof(text));
	if (r->result->nr_failures < RESULT_FAILURES_MAX)
		snprintf(r->result->failure[r->result->nr_failures++].text, sizeof(r->result->failure[0].text), "noninterference: %s (%s)", text, what);
	r->result->outcome = RUN_DIFFERS;
}

int plan_check_leaks(struct plan *p, const struct cli_options *o)
{
	struct leaks l = { .nr = 0 };
	int ret = 0;
	u32 i;

	if (!o->noninterference)
		return 0;
	for (i = 0; i < p->nr_tables && !ret; i++)
		ret = leaks_read(&l, p->table[i].path);
	for (i = 0; i < p->nr_runs && !ret; i++)
		judge(&p->run[i], &l);
	free(l.row);
	return ret;
}

static void put_secrets(const struct view_comparison *c, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s%s", c->data ? " data" : "", c->frames ? " frames" : "", c->blocks ? " blocks" : "", c->accesses ? " accesses" : "");
}

void nonint_text(const struct noninterference *n, char *buf, size_t size)
{
	char secrets[40], late[360] = "";
	const struct view_comparison *c = &n->seen;

	put_secrets(c, secrets, sizeof(secrets));
	if (c->timing_ps)
		snprintf(late, sizeof(late), "; timing tells %llu.%03llu ns: %s, by %s", (unsigned long long)(c->timing_ps / 1000),
			 (unsigned long long)(c->timing_ps % 1000), c->late, c->source);
	if (n->kind == NONINT_NO_ATTACKER)
		snprintf(buf, size, "no VM attacks");
	else if (*c->what)
		snprintf(buf, size, "%s: %s%s", nonint_kind_name(n->kind), c->what, late);
	else
		snprintf(buf, size, "%s: %llu values, other%s%s", nonint_kind_name(n->kind), (unsigned long long)c->observations[0],
			 *secrets ? secrets : " nothing", late);
}
