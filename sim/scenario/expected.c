// SPDX-License-Identifier: GPL-2.0
/* Reading the table of expected verdicts. */

#include "expected.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 9
#define LINE_MAX_BYTES 1024
#define ROWS_MAX 8192

static const char header[] = "case\tvariant\tattacker\tpolicy\tverdict\tcomponent\tcode\tbound\twhy";

static bool kind_from_name(const char *name, enum verdict_kind *out)
{
	int k;

	for (k = 0; k <= VERDICT_NA; k++) {
		if (strcmp(name, verdict_kind_name((enum verdict_kind)k)) == 0) {
			*out = (enum verdict_kind)k;
			return true;
		}
	}
	return false;
}

static bool component_from_name(const char *name, enum verdict_component *out)
{
	int c;

	for (c = 0; c <= COMPONENT_CONTROLLER; c++) {
		if (strcmp(name, verdict_component_name((enum verdict_component)c)) == 0) {
			*out = (enum verdict_component)c;
			return true;
		}
	}
	return false;
}

struct reader {
	const char *path;
	u32 line;
	char *err;
	size_t err_size;
};

static int bad(const struct reader *r, const char *what, const char *wanted)
{
	snprintf(r->err, r->err_size, "%s:%u: %s; %s", r->path, r->line, what, wanted);
	return -1;
}

static int copy_column(const struct reader *r, char *dst, size_t size, const char *text, const char *name)
{
	char what[160];

	if (*text && strlen(text) < size) {
		strcpy(dst, text);
		return 0;
	}
	snprintf(what, sizeof(what), "column '%s' is %s", name, *text ? "too long" : "empty");
	return bad(r, what, "write - where there is nothing to say");
}

/* Each term of a code is a word and a value: "nvme:0/0x80". */
static bool codes_parse(const char *expr)
{
	if (strcmp(expr, "-") == 0)
		return true;
	for (;;) {
		size_t n = strcspn(expr, "+|");
		const char *colon = memchr(expr, ':', n);

		if (!colon || colon == expr || colon == expr + n - 1 || memchr(expr, ' ', n))
			return false;
		if (expr[n] == '\0')
			return true;
		expr += n + 1;
	}
}

static int parse_row(const struct reader *r, char *col[COLUMNS], struct expected_row *row)
{
	char why[120], what[200];

	row->line = r->line;
	if (copy_column(r, row->id, sizeof(row->id), col[0], "case") ||
	    copy_column(r, row->variant, sizeof(row->variant), col[1], "variant") ||
	    copy_column(r, row->attacker, sizeof(row->attacker), col[2], "attacker") ||
	    copy_column(r, row->policy, sizeof(row->policy), col[3], "policy") ||
	    copy_column(r, row->code, sizeof(row->code), col[6], "code") ||
	    copy_column(r, row->bound, sizeof(row->bound), col[7], "bound") ||
	    copy_column(r, row->why, sizeof(row->why), col[8], "why"))
		return -1;
	if (strcmp(row->policy, "paper") && strcmp(row->policy, "mediated") && strcmp(row->policy, "nrd") && strcmp(row->policy, "siov"))
		return bad(r, "no such policy", "write paper, mediated, nrd or siov");
	if (!kind_from_name(col[4], &row->verdict))
		return bad(r, "no such verdict", "write contained, ESCAPED, DEGRADED, OUTAGE, REJECTED or N/A");
	if (!component_from_name(col[5], &row->component))
		return bad(r, "no such component", "write -, frontend, mediator, device, backend, host, ept, iommu, irte, pci or controller");
	if (!codes_parse(row->code))
		return bad(r, "the code cannot be read", "write as nvme:0/0x80, joined by + and |, or -");
	if (!expected_bound_parses(row->bound, why, sizeof(why))) {
		snprintf(what, sizeof(what), "the bound cannot be read: %s", why);
		return bad(r, what, "write as b.share>=0.9*weight, b.p99_slowdown<=3, b.x 1.2..50 or b.x=0.1+-10%, joined by '; ', or -");
	}
	return 0;
}

static int split(const struct reader *r, char *line, char *col[COLUMNS])
{
	char what[80];
	u32 n = 0;

	for (col[n++] = line; (line = strchr(line, '\t')); n++) {
		*line++ = '\0';
		if (n < COLUMNS)
			col[n] = line;
	}
	if (n == COLUMNS)
		return 0;
	snprintf(what, sizeof(what), "%u columns", n);
	return bad(r, what, "write 9, separated by tabs");
}

/* A line without its end; -1 when there is none, or it is too long or holds a NUL. */
static int next_line(FILE *f, struct reader *r, char line[LINE_MAX_BYTES])
{
	size_t n;

	if (!fgets(line, LINE_MAX_BYTES, f))
		return 0;
	r->line++;
	n = strlen(line);
	if (n == 0 || (line[n - 1] != '\n' && !feof(f)))
		return bad(r, "the line is too long, or not text", "write at most 1000 characters");
	if (n && line[n - 1] == '\n')
		line[n - 1] = '\0';
	return 1;
}

static int add_row(struct reader *r, struct expected_table *t, char *line)
{
	struct expected_row row = { .line = 0 }, *more;
	char *col[COLUMNS];

	if (split(r, line, col) || parse_row(r, col, &row))
		return -1;
	if (expected_find(t, row.id, row.variant, row.policy))
		return bad(r, "the case, variant and policy stand in an earlier line too", "keep one of them");
	if (t->nr == ROWS_MAX)
		return bad(r, "too many rows", "keep at most 8192");
	if ((t->nr & (t->nr - 1)) == 0 || t->nr == 0) {
		more = realloc(t->row, (t->nr ? 2 * t->nr : 1) * sizeof(*more));
		if (!more)
			return bad(r, "no memory", "give more");
		t->row = more;
	}
	t->row[t->nr++] = row;
	return 0;
}

int expected_read(const char *path, struct expected_table *t, char *err, size_t err_size)
{
	struct reader r = { path, 0, err, err_size };	/* line: the last one read */
	char line[LINE_MAX_BYTES];
	FILE *f = fopen(path, "r");
	int ret;

	*t = (struct expected_table){ .nr = 0 };
	snprintf(t->path, sizeof(t->path), "%s", path);
	if (!f) {
		snprintf(err, err_size, "%s:1: cannot be opened: %s; give --expected FILE", path, strerror(errno));
		return -1;
	}
	ret = next_line(f, &r, line);
	if (ret == 0)
		r.line = 1;
	if (ret == 0 || (ret > 0 && strcmp(line, header) != 0))
		ret = bad(&r, "the first line does not name the columns", "write case, variant, attacker, policy, verdict, component, code, bound, why, separated by tabs");
	while (ret > 0) {
		ret = next_line(f, &r, line);
		if (ret > 0 && *line && add_row(&r, t, line))
			ret = -1;
	}
	fclose(f);
	if (ret < 0)
		expected_free(t);
	return ret < 0 ? -1 : 0;
}

void expected_free(struct expected_table *t)
{
	free(t->row);
	t->row = NULL;
	t->nr = 0;
}

const struct expected_row *expected_find(const struct expected_table *t, const char *id, const char *variant, const char *policy)
{
	u32 i;

	for (i = 0; i < t->nr; i++)
		if (!strcmp(t->row[i].id, id) && !strcmp(t->row[i].variant, variant) && !strcmp(t->row[i].policy, policy))
			return &t->row[i];
	return NULL;
}

bool expected_knows(const struct expected_table *t, const char *id)
{
	u32 i;

	for (i = 0; i < t->nr; i++)
		if (!strcmp(t->row[i].id, id))
			return true;
	return false;
}
