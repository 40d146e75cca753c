// SPDX-License-Identifier: GPL-2.0
/* Whether what was seen agrees with the codes and bounds of a row. */

#include "expected.h"
#include "scenario.h"

#include <stdio.h>
#include <string.h>

#define MICRO 1000000

static bool code_seen(const struct verdict *v, const char *term, size_t len)
{
	u32 i;

	for (i = 0; i < v->nr_codes; i++)
		if (strlen(v->code[i]) == len && memcmp(v->code[i], term, len) == 0)
			return true;
	return false;
}

bool expected_codes_hold(const char *expr, const struct verdict *v)
{
	bool all = true;

	if (strcmp(expr, "-") == 0)
		return true;
	for (;;) {
		size_t n = strcspn(expr, "+|");

		all = all && code_seen(v, expr, n);
		if (expr[n] != '+') {
			if (all)
				return true;
			all = true;
		}
		if (expr[n] == '\0')
			return false;
		expr += n + 1;
	}
}

/*
 * A condition of a bound: "NAME op NUMBER", where NAME may have blanks, what follows the number is
 * its unit in words, and hi and lo may be a factor of another measure; or a claim in words, which
 * holds where the scenario measured it as true.
 */
struct bound {
	char name[48], factor[48];	/* factor empty: 1 */
	bool has_lo, has_hi, above;	/* above: lo itself is too little */
	s64 lo, hi;			/* millionths */
};

#define CONDITION_BYTES 160
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char name_bytes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_. ,/()-";

static void blanks(const char **p)
{
	*p += strspn(*p, " ");
}

bool expected_name_ok(const char *name)
{
	return *name && strlen(name) < sizeof(((struct bound *)0)->name) && strchr(letters, *name) &&
	       strspn(name, name_bytes) == strlen(name);
}

/* The first @n bytes of @p, without blanks around them. */
static bool name(const char *p, size_t n, char out[48])
{
	for (; n && *p == ' '; n--)
		p++;
	while (n && p[n - 1] == ' ')
		n--;
	if (n >= 48)
		return false;
	memcpy(out, p, n);
	out[n] = '\0';
	return expected_name_ok(out);
}

/* A decimal number of at most six places and nine digits before them. A dot not followed by a digit ends it. */
static bool number(const char **p, s64 *out)
{
	s64 v = 0, unit = MICRO;
	u32 digits = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++) {
		if (++digits > 9)
			return false;
		v = v * 10 + (**p - '0');
	}
	if (digits == 0)
		return false;
	v *= MICRO;
	if ((*p)[0] != '.' || (*p)[1] < '0' || (*p)[1] > '9') {
		*out = v;
		return true;
	}
	for ((*p)++; **p >= '0' && **p <= '9'; (*p)++) {
		unit /= 10;
		if (unit == 0)
			return false;
		v += (**p - '0') * unit;
	}
	*out = v;
	return true;
}

static bool take(const char **p, const char *token)
{
	size_t n = strlen(token);

	blanks(p);
	if (strncmp(*p, token, n) != 0)
		return false;
	*p += n;
	blanks(p);
	return true;
}

/* ... and what stands behind a number: its unit, in words. */
static bool words(const char *p)
{
	return *p == '\0' || (strchr(" /%", *p) && strspn(p + 1, name_bytes) == strlen(p + 1));
}

static bool parse_op(const char **p, struct bound *b, s64 **limit)
{
	if (take(p, "<="))
		b->has_hi = true;
	else if (take(p, ">="))
		b->has_lo = true;
	else if (take(p, ">"))
		b->has_lo = b->above = true;
	else
		return false;
	*limit = b->has_hi ? &b->hi : &b->lo;
	return true;
}

/* "=": a number and how far from it, or yes or no. */
static bool parse_equals(const char *p, struct bound *b)
{
	s64 v, tolerance = 0;

	b->has_lo = b->has_hi = true;
	if (strcmp(p, "yes") == 0 || strcmp(p, "no") == 0) {
		b->lo = b->hi = *p == 'y' ? MICRO : 0;
		return true;
	}
	if (!number(&p, &v))
		return false;
	if (strncmp(p, "+-", 2) == 0) {
		p += 2;
		if (!number(&p, &tolerance) || !take(&p, "%"))
			return false;
	}
	tolerance = v / 100 * (tolerance / MICRO);	/* whole per cents */
	b->lo = v - tolerance;
	b->hi = v + tolerance;
	return words(p);
}

/* "<=2 s", ">=0.9*weight", ">0 and <=20000 (unit)", "<=another measure". */
static bool parse_limits(const char *p, struct bound *b)
{
	s64 *limit;

	if (!parse_op(&p, b, &limit))
		return false;
	if (strchr(letters, *p)) {
		*limit = MICRO;
		return name(p, strlen(p), b->factor);
	}
	if (!number(&p, limit))
		return false;
	if (*p == '*')
		return name(p + 1, strlen(p + 1), b->factor);
	if (strncmp(p, " and ", 5) == 0 && strchr("<>", p[5])) {
		p += 5;
		if (b->has_hi || !parse_op(&p, b, &limit) || limit != &b->hi || !number(&p, limit))
			return false;
	}
	return words(p);
}

/* Without an operator: "NAME lo..hi", or a claim of several words. */
static bool parse_plain(const char *text, struct bound *b)
{
	const char *at = strrchr(text, ' '), *p = at ? at + 1 : NULL;

	if (!at)
		return false;
	b->has_lo = b->has_hi = true;
	if (strstr(p, ".."))
		return name(text, (size_t)(at - text), b->name) && number(&p, &b->lo) && take(&p, "..") && number(&p, &b->hi) &&
		       *p == '\0';
	b->lo = b->hi = MICRO;
	return name(text, strlen(text), b->name);
}

/* @same: the name that is meant where there is none. */
static bool parse_one(const char *text, const char *same, struct bound *b)
{
	const char *op = strpbrk(text, "<>=");

	*b = (struct bound){ .has_lo = false };
	if (!op)
		return parse_plain(text, b);
	if (op == text && same)
		strcpy(b->name, same);
	else if (!name(text, (size_t)(op - text), b->name))
		return false;
	if (*op != '=')
		return parse_limits(op, b);
	op++;
	blanks(&op);
	return parse_equals(op, b);
}

struct check {
	const struct run_measure *m;
	u32 nr;
	char *why;
	size_t why_size;
};

static bool measured(const struct check *c, const char *what, s64 *out)
{
	u32 i;

	for (i = 0; i < c->nr; i++) {
		if (strcmp(c->m[i].name, what) == 0) {
			*out = c->m[i].micro;
			return true;
		}
	}
	snprintf(c->why, c->why_size, "%s was not measured", what);
	return false;
}

/* @broken: it must be measured, and not hold. */
static bool holds(const struct bound *b, const struct check *c, bool broken)
{
	s64 v, factor = MICRO, lo, hi;
	bool ok;

	if (!measured(c, b->name, &v) || (*b->factor && !measured(c, b->factor, &factor)))
		return false;
	lo = (s64)((__int128)b->lo * factor / MICRO);
	hi = (s64)((__int128)b->hi * factor / MICRO);
	ok = (!b->has_lo || v > lo || (v == lo && !b->above)) && (!b->has_hi || v <= hi);
	if (ok != broken)
		return true;
	snprintf(c->why, c->why_size, "%s is %lld.%06lld, not %s%s%lld.%06lld%s%lld.%06lld", b->name, (long long)(v / MICRO),
		 (long long)(v < 0 ? -v % MICRO : v % MICRO), broken ? "outside " : "", b->has_lo ? "from " : "",
		 (long long)((b->has_lo ? lo : 0) / MICRO), (long long)((b->has_lo ? lo : 0) % MICRO),
		 b->has_hi ? " to " : " up, from ", (long long)((b->has_hi ? hi : lo) / MICRO),
		 (long long)((b->has_hi ? hi : lo) % MICRO));
	return false;
}

/* The next condition of @*text without blanks around it, NULL when it is malformed. */
static char *next_condition(const char **text, char buf[CONDITION_BYTES])
{
	size_t n = strcspn(*text, ";");
	char *p = buf;

	if (n >= CONDITION_BYTES)
		return NULL;
	memcpy(buf, *text, n);
	buf[n] = '\0';
	*text += n + ((*text)[n] == ';');
	p += strspn(p, " ");
	n = strlen(p);
	while (n && p[n - 1] == ' ')
		p[--n] = '\0';
	return *p ? p : NULL;
}

static bool is_mutants(const char **text)
{
	return take(text, "mutant:");
}

/*
 * Each condition of @text is looked at with @c (NULL: parsed only). What a row says of its mutant
 * ("leaked=0; mutant: >=1") holds of the mutant in place of the condition before, which is broken.
 */
static bool each(const char *text, const struct check *c, bool mutant, char *why, size_t why_size)
{
	char buf[CONDITION_BYTES], same[48] = "";
	bool more = true;

	if (strcmp(text, "-") == 0)
		return true;
	while (more) {
		const char *at = text, *one = next_condition(&text, buf), *next = text;
		struct bound b;
		bool extra = one && is_mutants(&one);

		more = next[-(next > at)] == ';';
		if (extra && strcmp(one, "more") == 0)
			continue;
		if (!one || !parse_one(one, extra ? same : NULL, &b)) {
			snprintf(why, why_size, "at \"%.40s\"", at);
			return false;
		}
		memcpy(same, b.name, sizeof(same));
		if (c && (mutant || !extra) && !holds(&b, c, mutant && !extra && is_mutants(&next)))
			return false;
	}
	return true;
}

bool expected_bound_parses(const char *bound, char *why, size_t why_size)
{
	return each(bound, NULL, false, why, why_size);
}

bool expected_bound_holds(const char *bound, const struct run_measure *m, u32 nr, bool mutant, char *why, size_t why_size)
{
	struct check c = { m, nr, why, why_size };

	return each(bound, &c, mutant, why, why_size);
}
