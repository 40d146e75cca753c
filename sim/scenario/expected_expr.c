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

/* One condition of a bound: lo <= measure <= hi, where hi and lo may be a factor of another measure. */
struct bound {
	char name[48], factor[48];	/* factor empty: 1 */
	bool has_lo, has_hi;
	s64 lo, hi;			/* millionths */
};

static void blanks(const char **p)
{
	*p += strspn(*p, " ");
}

static bool name(const char **p, char out[48])
{
	size_t n = strspn(*p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");

	if (n == 0 || n >= 48 || (**p >= '0' && **p <= '9'))
		return false;
	memcpy(out, *p, n);
	out[n] = '\0';
	*p += n;
	return true;
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

static bool parse_limit(const char **p, struct bound *b, bool lo)
{
	s64 v;

	if (!number(p, &v))
		return false;
	if (take(p, "*") && !name(p, b->factor))
		return false;
	b->has_lo = lo;
	b->has_hi = !lo;
	*(lo ? &b->lo : &b->hi) = v;
	return true;
}

static bool parse_one(const char **p, struct bound *b)
{
	s64 v, tolerance = 0;

	*b = (struct bound){ .has_lo = false };
	blanks(p);
	if (!name(p, b->name))
		return false;
	if (take(p, ">="))
		return parse_limit(p, b, true);
	if (take(p, "<="))
		return parse_limit(p, b, false);
	b->has_lo = b->has_hi = true;
	if (take(p, "=")) {
		if (!number(p, &v))
			return false;
		if (take(p, "+-") && (!number(p, &tolerance) || !take(p, "%")))
			return false;
		tolerance = v / 100 * (tolerance / MICRO);	/* whole per cents */
		b->lo = v - tolerance;
		b->hi = v + tolerance;
		return true;
	}
	return number(p, &b->lo) && take(p, "..") && number(p, &b->hi);
}

/* Call @fn for each condition until one fails. */
static bool each(const char *text, bool (*fn)(const struct bound *b, void *arg), void *arg, char *why, size_t why_size)
{
	const char *p = text;
	struct bound b;

	if (strcmp(text, "-") == 0)
		return true;
	for (;;) {
		if (!parse_one(&p, &b)) {
			snprintf(why, why_size, "at \"%.40s\"", p);
			return false;
		}
		blanks(&p);
		if (*p != '\0' && *p != ';') {
			snprintf(why, why_size, "at \"%.40s\"", p);
			return false;
		}
		if (fn && !fn(&b, arg))
			return false;
		if (*p++ == '\0')
			return true;
	}
}

bool expected_bound_parses(const char *bound, char *why, size_t why_size)
{
	return each(bound, NULL, NULL, why, why_size);
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

static bool holds(const struct bound *b, void *arg)
{
	struct check *c = arg;
	s64 v, factor = MICRO, lo, hi;

	if (!measured(c, b->name, &v) || (*b->factor && !measured(c, b->factor, &factor)))
		return false;
	lo = (s64)((__int128)b->lo * factor / MICRO);
	hi = (s64)((__int128)b->hi * factor / MICRO);
	if ((!b->has_lo || v >= lo) && (!b->has_hi || v <= hi))
		return true;
	snprintf(c->why, c->why_size, "%s is %lld.%06lld, not %s%lld.%06lld%s%lld.%06lld", b->name, (long long)(v / MICRO),
		 (long long)(v < 0 ? -v % MICRO : v % MICRO), b->has_lo ? "from " : "", (long long)((b->has_lo ? lo : 0) / MICRO),
		 (long long)((b->has_lo ? lo : 0) % MICRO), b->has_hi ? " to " : " up, from ",
		 (long long)((b->has_hi ? hi : lo) / MICRO), (long long)((b->has_hi ? hi : lo) % MICRO));
	return false;
}

bool expected_bound_holds(const char *bound, const struct run_measure *m, u32 nr, char *why, size_t why_size)
{
	struct check c = { m, nr, why, why_size };

	return each(bound, holds, &c, why, why_size);
}
