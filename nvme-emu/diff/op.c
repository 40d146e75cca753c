// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Operations and streams in memory and as text. A line has at most one operation; # begins a comment. */

#define LINE_MAX_LEN 1024

static const struct op_kind *const groups[] = { nvme_kinds, vtd_kinds };

static const struct op_kind *find_kind(const char *name)
{
	if (!strcmp(name, machine_kind.name))
		return &machine_kind;
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
		for (const struct op_kind *k = groups[g]; k->name; k++)
			if (!strcmp(k->name, name))
				return k;
	return NULL;
}

static size_t name_len(const char *arg)
{
	return strcspn(arg, "=");
}

static int find_arg(const struct op_kind *kind, const char *name, size_t len)
{
	for (int i = 0; i < OP_ARGS_MAX && kind->args[i]; i++)
		if (name_len(kind->args[i]) == len && !strncmp(kind->args[i], name, len))
			return i;
	return -1;
}

u64 op_get(const struct op *op, const char *name)
{
	int i = find_arg(op->kind, name, strlen(name));

	assert(i >= 0);
	return op->arg[i];
}

void op_set(struct op *op, const char *name, u64 value)
{
	int i = find_arg(op->kind, name, strlen(name));

	assert(i >= 0);
	op->arg[i] = value;
	op->given |= 1u << i;
}

static void set_defaults(struct op *op)
{
	for (u32 i = 0; i < OP_ARGS_MAX && op->kind->args[i]; i++) {
		const char *def = strchr(op->kind->args[i], '=');

		op->arg[i] = def ? strtoull(def + 1, NULL, 0) : 0;
	}
}

static bool take_word(struct op *op, const char *word, char *why, size_t why_size)
{
	size_t len = name_len(word);
	char *end;
	int i;

	if (*word == '@' && strlen(word) <= OP_ROW_MAX) {
		strcpy(op->row, word + 1);
		return true;
	}
	i = find_arg(op->kind, word, len);
	if (i < 0 || word[len] != '=') {
		snprintf(why, why_size, "%s has no '%.64s'", op->kind->name, word);
		return false;
	}
	errno = 0;
	op->arg[i] = strtoull(word + len + 1, &end, 0);
	op->given |= 1u << i;
	if (!*end && end != word + len + 1 && !errno)
		return true;
	snprintf(why, why_size, "'%.64s': not a number", word);
	return false;
}

bool op_parse(struct op *op, const char *line, char *why, size_t why_size)
{
	char copy[LINE_MAX_LEN], *at = copy, *word;

	*op = (struct op){ 0 };
	if (snprintf(copy, sizeof(copy), "%s", line) >= (int)sizeof(copy)) {
		snprintf(why, why_size, "the line is too long");
		return false;
	}
	word = strtok_r(copy, " \t\n", &at);
	op->kind = word ? find_kind(word) : NULL;
	if (!op->kind) {
		snprintf(why, why_size, "'%.64s': no such operation", word ? word : "");
		return false;
	}
	set_defaults(op);
	while ((word = strtok_r(NULL, " \t\n", &at)))
		if (!take_word(op, word, why, why_size))
			return false;
	return true;
}

void op_print(FILE *f, const struct op *op)
{
	fputs(op->kind->name, f);
	for (u32 i = 0; i < OP_ARGS_MAX && op->kind->args[i]; i++)
		if (op->given & (1u << i))
			fprintf(f, op->arg[i] < 10 ? " %.*s=%llu" : " %.*s=0x%llx", (int)name_len(op->kind->args[i]),
				op->kind->args[i], (unsigned long long)op->arg[i]);
	if (*op->row)
		fprintf(f, " @%s", op->row);
	fputc('\n', f);
}

void stream_add(struct stream *st, const struct op *op)
{
	if (st->nr == st->room) {
		st->room = st->room ? 2 * st->room : 64;
		st->op = realloc(st->op, st->room * sizeof(*st->op));
		assert(st->op);
	}
	st->op[st->nr++] = *op;
}

void stream_addf(struct stream *st, const char *format, ...)
{
	char line[LINE_MAX_LEN], why[128];
	struct op op;
	va_list ap;
	bool ok;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	ok = op_parse(&op, line, why, sizeof(why));
	if (!ok)
		fprintf(stderr, "%s: %s\n", line, why);
	assert(ok);
	if (op.kind == &machine_kind)
		st->machine = op;
	else
		stream_add(st, &op);
}

void stream_free(struct stream *st)
{
	free(st->op);
	*st = (struct stream){ 0 };
}

void stream_print(FILE *f, const struct stream *st)
{
	op_print(f, &st->machine);
	for (u32 i = 0; i < st->nr; i++)
		op_print(f, &st->op[i]);
}

static bool take_line(struct stream **st, u32 *nr, const char *line, char *why, size_t why_size)
{
	struct op op;

	if (!line[strspn(line, " \t\n")])
		return true;
	if (!op_parse(&op, line, why, why_size))
		return false;
	if (op.kind == &machine_kind) {
		*st = realloc(*st, (*nr + 1) * sizeof(**st));
		assert(*st);
		(*st)[(*nr)++] = (struct stream){ .machine = op };
		return true;
	}
	if (!*nr) {
		snprintf(why, why_size, "a stream begins with its machine");
		return false;
	}
	stream_add(&(*st)[*nr - 1], &op);
	return true;
}

struct stream *streams_read(const char *path, u32 *nr)
{
	FILE *f = fopen(path, "r");
	const char *base = strrchr(path, '/');
	struct stream *st = NULL;
	char line[LINE_MAX_LEN], why[128];
	u32 lines = 0;

	*nr = 0;
	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return NULL;
	}
	while (fgets(line, sizeof(line), f)) {
		lines++;
		line[strcspn(line, "#")] = '\0';
		if (take_line(&st, nr, line, why, sizeof(why)))
			continue;
		fprintf(stderr, "%s:%u: %s\n", path, lines, why);
		while (*nr)
			stream_free(&st[--*nr]);
		free(st);
		fclose(f);
		return NULL;
	}
	fclose(f);
	if (!*nr)
		fprintf(stderr, "%s: there is no stream in it\n", path);
	for (u32 i = 0; i < *nr; i++)
		snprintf(st[i].name, sizeof(st[i].name), "%.48s:%u", base ? base + 1 : path, i + 1);
	return st;
}
