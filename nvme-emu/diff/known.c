// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "diff/diff.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* differences.tsv: its columns are explained in ../README.md. */

enum column { C_ID, C_VERSIONS, C_OP, C_WHEN, C_SEEN, C_WITNESS, C_MODEL, C_BITS, C_THEN, C_RIGHT, C_EVIDENCE, C_INPUT, C_NR };

struct entry {
	char *text;		/* the line, cut into columns */
	char *column[C_NR];
	bool applies;		/* to this version of the witness */
	u64 count;
	char first[64];		/* stream that showed it first */
};

struct known {
	struct entry *entry;
	u32 nr;
};

static u32 version_number(const char *text, char **end)
{
	u32 major = (u32)strtoul(text, end, 10);

	return major * 1000 + (**end == '.' ? (u32)strtoul(*end + 1, end, 10) : 0);
}

/* "7.2..11.1", "11.1" or "*"; a "?" behind it: what shows it is the witness's chance. */
static bool version_applies(const char *range, const char *version)
{
	char *end;
	u32 v = version_number(version, &end), low, high;

	if (*range == '*')
		return true;
	low = version_number(range, &end);
	high = strncmp(end, "..", 2) ? low : version_number(end + 2, &end);
	return v >= low && v <= high;
}

static bool cut(struct entry *e)
{
	char *at = e->text;

	e->text[strcspn(e->text, "\n")] = '\0';
	for (u32 i = 0; i < C_NR; i++) {
		e->column[i] = at;
		at += strcspn(at, "\t");
		if ((i < C_NR - 1) != (*at == '\t'))
			return false;
		if (*at)
			*at++ = '\0';
	}
	return !strcmp(e->column[C_THEN], "goes-on") || !strcmp(e->column[C_THEN], "ends");
}

struct known *known_read(const char *path, const char *version)
{
	FILE *f = fopen(path, "r");
	struct known *k = calloc(1, sizeof(*k));
	char *line = NULL;
	size_t room = 0;
	u32 lines = 0;

	assert(k);
	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		known_free(k);
		return NULL;
	}
	while (getline(&line, &room, f) > 0) {
		struct entry e = { .text = strdup(line) };

		lines++;
		assert(e.text);
		if (*line == '#' || *line == '\n' || lines == 1) {
			free(e.text);
			continue;
		}
		if (!cut(&e)) {
			fprintf(stderr, "%s:%u: not %u columns, or 'then' is neither goes-on nor ends\n", path, lines, C_NR);
			free(e.text);
			known_free(k);
			k = NULL;
			break;
		}
		e.applies = version_applies(e.column[C_VERSIONS], version);
		k->entry = realloc(k->entry, (k->nr + 1) * sizeof(*k->entry));
		assert(k->entry);
		k->entry[k->nr++] = e;
	}
	free(line);
	fclose(f);
	return k;
}

void known_free(struct known *k)
{
	for (u32 i = 0; k && i < k->nr; i++)
		free(k->entry[i].text);
	if (k)
		free(k->entry);
	free(k);
}

static bool compare(u64 a, const char *operator, u64 b)
{
	switch (*operator) {
	case '=':
		return a == b;
	case '!':
		return a != b;
	case '<':
		return a < b;
	default:
		return a > b;
	}
}

/* "name&mask=value": one condition on the operation's arguments. What the operation has not fits nothing. */
static bool condition_holds(const struct op *op, const char *text)
{
	size_t len = strcspn(text, "&=!<>");
	u64 mask = ~0ULL, value;
	const char *operator;
	char *end;

	for (u32 i = 0; i < OP_ARGS_MAX && op->kind->args[i]; i++) {
		const char *arg = op->kind->args[i];

		if (strcspn(arg, "=") != len || strncmp(arg, text, len))
			continue;
		operator = text + len;
		if (*operator == '&') {
			mask = strtoull(operator + 1, &end, 0);
			operator = end;
		}
		value = strtoull(operator + strspn(operator, "=!<>"), NULL, 0);
		return compare(op->arg[i] & mask, operator, value);
	}
	return false;
}

static bool conditions_hold(const struct op *op, const char *text)
{
	char copy[256], *at = copy;

	if (!strcmp(text, "*"))
		return true;
	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word; (word = strtok_r(at, " ", &at));)
		if (!condition_holds(op, word))
			return false;
	return true;
}

/* "*", or one of "0x13|0x16|nothing". */
static bool value_fits(const char *text, u64 value)
{
	if (!strcmp(text, "*"))
		return true;
	for (;; text += strcspn(text, "|") + 1) {
		u64 v = strncmp(text, "nothing", 7) ? strtoull(text, NULL, 0) : SEEN_NOTHING;

		if (v == value)
			return true;
		if (!text[strcspn(text, "|")])
			return false;
	}
}

static bool bits_fit(const char *text, const struct mismatch *m)
{
	return !strcmp(text, "*") || !((m->witness ^ m->model) & ~strtoull(text, NULL, 0));
}

static bool fits(const struct entry *e, const struct mismatch *m)
{
	return e->applies && !fnmatch(e->column[C_OP], m->op->kind->name, FNM_EXTMATCH) && !fnmatch(e->column[C_SEEN], m->name, FNM_EXTMATCH) &&
	       value_fits(e->column[C_WITNESS], m->witness) && value_fits(e->column[C_MODEL], m->model) &&
	       bits_fit(e->column[C_BITS], m) && conditions_hold(m->op, e->column[C_WHEN]);
}

bool known_match(struct known *k, const struct mismatch *m, bool *ends)
{
	for (u32 i = 0; i < k->nr; i++) {
		if (!fits(&k->entry[i], m))
			continue;
		if (!k->entry[i].count++)
			snprintf(k->entry[i].first, sizeof(k->entry[i].first), "%s", m->stream->name);
		*ends = !strcmp(k->entry[i].column[C_THEN], "ends");
		return true;
	}
	return false;
}

u64 known_total(const struct known *k)
{
	u64 sum = 0;

	for (u32 i = 0; i < k->nr; i++)
		sum += k->entry[i].count;
	return sum;
}

static bool by_chance(const struct entry *e)
{
	return strchr(e->column[C_VERSIONS], '?');
}

bool known_entry(const struct known *k, u32 i, const char **id, u64 *count, const char **first)
{
	for (u32 n = 0; n < k->nr; n++) {
		if (!k->entry[n].applies || i--)
			continue;
		*id = k->entry[n].column[C_ID];
		*count = k->entry[n].count;
		*first = k->entry[n].count ? k->entry[n].first : by_chance(&k->entry[n]) ? "not this time" : NULL;
		return true;
	}
	return false;
}
