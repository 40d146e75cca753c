// SPDX-License-Identifier: GPL-2.0
#include "diff/report.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* qemu-diff: play streams on QEMU and on the model, and compare. */

#define EXIT_DIFFERS 1		/* a row of the status table, or an entry that no longer shows */
#define EXIT_USAGE 2
#define EXIT_WITNESS 4		/* an unknown difference */
#define RANDOM_MAX 8

struct options {
	const char *witness, *model, *known, *status, *json, *out;
	struct {
		const struct generator *g;
		u64 operations;
	} random[RANDOM_MAX];
	u32 nr_random;
	u64 seed;
	bool complete, survey;
};

static void usage(FILE *f)
{
	fputs("usage: qemu-diff [OPTION]... [FILE.ops]...\n"
	      "Play the files' streams of operations, and random ones, on QEMU and on lightiov qtest; compare what is seen.\n"
	      "\n"
	      "  --witness PROGRAM   QEMU (default: $LIOV_QEMU, or qemu-system-x86_64)\n"
	      "  --model PROGRAM     lightiov (default: build/lightiov)\n"
	      "  --known FILE        table of known differences (default: nvme-emu/differences.tsv)\n"
	      "  --status FILE       table of status codes that rows (@NAME in operations) are compared with\n"
	      "  --random KIND:N     random streams with N operations of KIND in all: nvme, vtd\n"
	      "  --seed N            of the random streams (default: 1)\n"
	      "  --complete          it is an error when a known difference does not show, or a row is not met\n"
	      "  --survey            print unknown differences and go on, instead of stopping at the first and shrinking it\n"
	      "  --out DIR           where the operations and qtest lines of a difference go (default: build/qemu-diff)\n"
	      "  --json FILE         the report as one document\n"
	      "  --help\n"
	      "\n"
	      "exit: 0 the same but for what is known, 1 --complete or a status is wrong, 2 usage, 4 an unknown difference\n", f);
}

static bool take_random(struct options *o, const char *text)
{
	size_t len = strcspn(text, ":");
	char *end;

	if (o->nr_random == RANDOM_MAX || text[len] != ':')
		return false;
	for (const struct generator *g = generators; g->name; g++) {
		if (strlen(g->name) != len || strncmp(g->name, text, len))
			continue;
		o->random[o->nr_random].g = g;
		o->random[o->nr_random++].operations = strtoull(text + len + 1, &end, 0);
		return !*end && end != text + len + 1;
	}
	return false;
}

/* False: usage. */
static bool take_options(struct options *o, int argc, char **argv)
{
	static const struct option words[] = {
		{ "witness", 1, NULL, 'w' }, { "model", 1, NULL, 'm' }, { "known", 1, NULL, 'k' }, { "status", 1, NULL, 's' },
		{ "random", 1, NULL, 'r' }, { "seed", 1, NULL, 'n' }, { "complete", 0, NULL, 'c' }, { "survey", 0, NULL, 'v' },
		{ "out", 1, NULL, 'o' }, { "json", 1, NULL, 'j' }, { "help", 0, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	int c;
	char *end = "";

	while ((c = getopt_long(argc, argv, "", words, NULL)) >= 0) {
		switch (c) {
		case 'w': o->witness = optarg; break;
		case 'm': o->model = optarg; break;
		case 'k': o->known = optarg; break;
		case 's': o->status = optarg; break;
		case 'o': o->out = optarg; break;
		case 'j': o->json = optarg; break;
		case 'c': o->complete = true; break;
		case 'v': o->survey = true; break;
		case 'n': o->seed = strtoull(optarg, &end, 0); break;
		case 'r':
			if (take_random(o, optarg))
				break;
			fprintf(stderr, "--random %s: give KIND:NUMBER\n", optarg);
			return false;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			return false;
		}
		if (*end) {
			fprintf(stderr, "--seed: not a number\n");
			return false;
		}
	}
	return true;
}

/* True: go on. */
static bool play(struct bench *b, struct stream *st, const struct options *o, struct run_result *r)
{
	struct mismatch m;

	if (!bench_play(b, st, &m))
		return true;
	r->unknown++;
	report_stream(st, o->out, "difference.whole.ops");
	bench_shrink(b, st, &m);
	report_difference(b, st, &m, o->out);
	return false;
}

/* 0, or an exit code. */
static int play_file(struct bench *b, const char *path, const struct options *o, struct run_result *r)
{
	u32 nr;
	struct stream *st = streams_read(path, &nr);
	int ret = st ? 0 : EXIT_USAGE;

	for (u32 i = 0; i < nr; i++) {
		if (!ret && !play(b, &st[i], o, r))
			ret = EXIT_WITNESS;
		stream_free(&st[i]);
	}
	free(st);
	return ret;
}

static int play_random(struct bench *b, const struct generator *g, u64 operations, const struct options *o, struct run_result *r)
{
	u64 end = b->operations[g->unit] + operations, seed = o->seed;
	int ret = 0;

	for (u32 i = 1; !ret && b->operations[g->unit] < end; i++) {
		struct stream st = { 0 };

		g->make(&st, diff_random(&seed));
		snprintf(st.name, sizeof(st.name), "random %s, seed %llu, stream %u", g->name, (unsigned long long)o->seed, i);
		if (!play(b, &st, o, r))
			ret = EXIT_WITNESS;
		stream_free(&st);
	}
	return ret;
}

/* "QEMU emulator version 11.1.3 (...)" */
static const char *number_of(const char *version)
{
	const char *at = strstr(version, "version ");

	return at ? at + 8 : version;
}

static bool open_bench(struct bench *b, const struct options *o, struct run_result *r)
{
	const char *number;

	b->witness = (struct side){ .name = "witness", .program = o->witness };
	b->model = (struct side){ .name = "model", .program = o->model, .is_model = true, .has_qtest_accel = true };
	if (access(o->model, X_OK) || !side_version(o->witness, r->witness, sizeof(r->witness))) {
		fprintf(stderr, "there is no program %s, or '%s --version' does not work\n", o->model, o->witness);
		return false;
	}
	number = number_of(r->witness);
	/* Debian's packages have the accelerator since QEMU 11. */
	b->witness.has_qtest_accel = strtoul(number, NULL, 10) >= 11;
	b->known = known_read(o->known, number);
	b->rows = o->status ? rows_read(o->status) : NULL;
	b->seen_witness = calloc(1, sizeof(struct seen));
	b->seen_model = calloc(1, sizeof(struct seen));
	b->counting = true;
	b->survey = o->survey;
	return b->known && (b->rows || !o->status) && b->seen_witness && b->seen_model;
}

static void free_side(struct side *s)
{
	free(s->out);
	free(s->in);
	free(s->want);
}

static void close_bench(struct bench *b)
{
	seen_clear(b->seen_witness);
	seen_clear(b->seen_model);
	free(b->seen_witness);
	free(b->seen_model);
	known_free(b->known);
	rows_free(b->rows);
	free_side(&b->witness);
	free_side(&b->model);
}

int main(int argc, char **argv)
{
	const char *qemu = getenv("LIOV_QEMU");
	struct options o = { .witness = qemu ? qemu : "qemu-system-x86_64", .model = "build/lightiov",
			     .known = "nvme-emu/differences.tsv", .out = "build/qemu-diff", .seed = 1 };
	struct run_result r = { 0 };
	struct bench b = { 0 };
	int ret = 0;

	if (!take_options(&o, argc, argv) || (optind == argc && !o.nr_random)) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!open_bench(&b, &o, &r))
		return EXIT_USAGE;
	r.seed = o.seed;
	for (int i = optind; i < argc && !ret; i++)
		ret = play_file(&b, argv[i], &o, &r);
	for (u32 i = 0; i < o.nr_random && !ret; i++)
		ret = play_random(&b, o.random[i].g, o.random[i].operations, &o, &r);
	r.unknown += b.surveyed;
	if (ret != EXIT_USAGE) {
		report_run(&b, &r, o.complete && !ret);
		if (o.json && !report_json(&b, &r, o.json))
			ret = EXIT_USAGE;
	}
	if (!ret && b.surveyed)
		ret = EXIT_WITNESS;
	if (!ret && (b.rows_wrong || (o.complete && (r.not_shown || r.rows_missed))))
		ret = EXIT_DIFFERS;
	close_bench(&b);
	return ret;
}
