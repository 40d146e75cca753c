// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * status.tsv: which status each wrong command has to have, by the specification. Operations of the
 * sequences name the row they show ("@row"), and the model has to give that row's status. A row
 * whose status is "-" is not modelled yet; any other has to be met.
 */

#define COLUMNS 4	/* row, condition, status ("0/0x80 D"), source */

struct row {
	char *text, *column[COLUMNS];
	u32 met;
};

struct rows {
	struct row *row;
	u32 nr;
};

static bool cut(struct row *r)
{
	char *at = r->text;

	r->text[strcspn(r->text, "\n")] = '\0';
	for (u32 i = 0; i < COLUMNS; i++) {
		r->column[i] = at;
		at += strcspn(at, "\t");
		if ((i < COLUMNS - 1) != (*at == '\t'))
			return false;
		if (*at)
			*at++ = '\0';
	}
	return true;
}

struct rows *rows_read(const char *path)
{
	FILE *f = fopen(path, "r");
	struct rows *rows = calloc(1, sizeof(*rows));
	char *line = NULL;
	size_t room = 0;

	assert(rows);
	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		free(rows);
		return NULL;
	}
	for (u32 lines = 1; getline(&line, &room, f) > 0; lines++) {
		struct row r = { .text = strdup(line) };

		assert(r.text);
		if (lines == 1 || !cut(&r)) {
			if (lines > 1)
				fprintf(stderr, "%s:%u: not %u columns\n", path, lines, COLUMNS);
			free(r.text);
			continue;
		}
		rows->row = realloc(rows->row, (rows->nr + 1) * sizeof(*rows->row));
		assert(rows->row);
		rows->row[rows->nr++] = r;
	}
	free(line);
	fclose(f);
	return rows;
}

void rows_free(struct rows *r)
{
	for (u32 i = 0; r && i < r->nr; i++)
		free(r->row[i].text);
	if (r)
		free(r->row);
	free(r);
}

/* "0/0x80 D" as a CQE's status field without the phase. */
static u64 status_of(const char *text)
{
	char *end;
	u64 sct = strtoull(text, &end, 0), sc = *end == '/' ? strtoull(end + 1, &end, 0) : 0;

	return NVME_STATUS(sct, sc) | (strchr(end, 'D') ? NVME_DNR : 0);
}

bool rows_met(struct rows *r, const char *label, u64 status)
{
	for (u32 i = 0; i < r->nr; i++) {
		if (strcmp(r->row[i].column[0], label))
			continue;
		r->row[i].met++;
		return *r->row[i].column[2] != '-' && status == status_of(r->row[i].column[2]);
	}
	return false;
}

u32 rows_report(const struct rows *r, FILE *f)
{
	u32 met = 0, later = 0, missed = 0;

	for (u32 i = 0; i < r->nr; i++) {
		later += *r->row[i].column[2] == '-';
		met += r->row[i].met > 0;
	}
	fprintf(f, "status table: %u of %u rows met\n", met, r->nr - later);
	for (u32 i = 0; i < r->nr; i++) {
		if (*r->row[i].column[2] == '-')
			fprintf(f, "  not yet: %s\n", r->row[i].column[1]);
		else if (!r->row[i].met && ++missed)
			fprintf(f, "  NOT MET: %s\n", r->row[i].column[0]);
	}
	return missed;
}
