// SPDX-License-Identifier: GPL-2.0
#include "diff/report.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

static void value(FILE *f, u64 v)
{
	if (v == SEEN_NOTHING)
		fprintf(f, "nothing");
	else
		fprintf(f, "0x%llx", (unsigned long long)v);
}

void report_mismatch(FILE *f, const struct mismatch *m)
{
	fprintf(f, "%s: operation %u, %s: the witness has ", m->stream->name, m->index, m->name);
	value(f, m->witness);
	fprintf(f, ", the model ");
	value(f, m->model);
	fprintf(f, "\n  ");
	op_print(f, m->op);
}

static FILE *open_in(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return f;
}

void report_stream(const struct stream *st, const char *out, const char *name)
{
	FILE *f;

	mkdir(out, 0777);
	f = open_in(out, name);
	if (!f)
		return;
	stream_print(f, st);
	fclose(f);
}

/* Once more, writing down what is sent. */
static void write_lines(struct bench *b, const struct stream *st, const char *out)
{
	struct mismatch m;
	bool counting = b->counting;

	b->witness.log = open_in(out, "difference.witness.qtest");
	b->model.log = open_in(out, "difference.model.qtest");
	b->counting = false;
	if (b->witness.log && b->model.log)
		bench_play(b, st, &m);
	b->counting = counting;
	if (b->witness.log)
		fclose(b->witness.log);
	if (b->model.log)
		fclose(b->model.log);
	b->witness.log = b->model.log = NULL;
}

void report_difference(struct bench *b, const struct stream *st, const struct mismatch *m, const char *out)
{
	printf("UNKNOWN DIFFERENCE\n");
	report_mismatch(stdout, m);
	printf("shortest stream found, %u operations after the machine's set-up:\n", st->nr);
	stream_print(stdout, st);
	report_stream(st, out, "difference.ops");
	write_lines(b, st, out);
	printf("play it again: %s/difference.ops; before it was shrunk: %s/difference.whole.ops; the lines sent: %s/difference.*.qtest\n", out, out, out);
}

void report_run(const struct bench *b, struct run_result *r, bool complete)
{
	const char *id, *first;
	u64 count;

	printf("witness: %s\nseed: %llu\n", r->witness, (unsigned long long)r->seed);
	printf("machines: %u\noperations: %llu NVMe commands, %llu of VT-d, %llu others; %llu values compared\n", b->machines,
	       (unsigned long long)b->operations[UNIT_NVME], (unsigned long long)b->operations[UNIT_VTD],
	       (unsigned long long)b->operations[UNIT_NONE], (unsigned long long)b->compared);
	if (b->rows)
		r->rows_missed = rows_report(b->rows, stdout);
	printf("known differences: %llu, by entry of the table and with the stream that showed it first:\n", (unsigned long long)known_total(b->known));
	for (u32 i = 0; known_entry(b->known, i, &id, &count, &first); i++) {
		if (!first && complete)
			r->not_shown++;
		if (count || complete)
			printf("  %-28s %8llu  %s\n", id, (unsigned long long)count, first ? first : "NO LONGER SHOWS");
	}
	printf("unknown differences: %u\n", r->unknown);
}

bool report_json(const struct bench *b, const struct run_result *r, const char *path)
{
	json_t *known = json_object(), *root;
	const char *id, *first;
	u64 count;
	int ret;

	for (u32 i = 0; known_entry(b->known, i, &id, &count, &first); i++)
		json_object_set_new(known, id, json_integer((json_int_t)count));
	root = json_pack("{s:i,s:s,s:I,s:i,s:I,s:I,s:I,s:I,s:o,s:i,s:i,s:i,s:i}", "schema", 1, "witness", r->witness,
			 "seed", (json_int_t)r->seed, "machines", (int)b->machines,
			 "nvme_commands", (json_int_t)b->operations[UNIT_NVME], "vtd_operations", (json_int_t)b->operations[UNIT_VTD],
			 "other_operations", (json_int_t)b->operations[UNIT_NONE], "values_compared", (json_int_t)b->compared,
			 "known", known, "unknown", (int)r->unknown, "no_longer_shown", (int)r->not_shown,
			 "rows_missed", (int)r->rows_missed, "rows_wrong", (int)b->rows_wrong);
	ret = root ? json_dump_file(root, path, JSON_INDENT(1) | JSON_PRESERVE_ORDER) : -1;
	json_decref(root);
	if (ret)
		fprintf(stderr, "%s: cannot be written\n", path);
	return !ret;
}
