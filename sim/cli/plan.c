// SPDX-License-Identifier: GPL-2.0
/* From paths to runs. */

#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEPTH_MAX 8
#define FILES_MAX 4096

struct paths {
	char **path;
	u32 nr, cap;
};

static bool add_path(struct paths *l, const char *path)
{
	if (l->nr == l->cap) {
		u32 cap = l->cap ? 2 * l->cap : 32;
		char **more = realloc(l->path, cap * sizeof(*more));

		if (!more)
			return false;
		l->path = more;
		l->cap = cap;
	}
	l->path[l->nr] = strdup(path);
	return l->path[l->nr++] != NULL;
}

static void free_paths(struct paths *l)
{
	while (l->nr)
		free(l->path[--l->nr]);
	free(l->path);
	*l = (struct paths){ 0 };
}

static bool is_lua(const char *name)
{
	size_t n = strlen(name);

	return n > 4 && strcmp(name + n - 4, ".lua") == 0;
}

/* Folders whose Lua is not scenarios. */
static bool is_passed_over(const char *name)
{
	return name[0] == '.' || !strcmp(name, "lib") || !strcmp(name, "platforms") || !strcmp(name, "policies");
}

/* All of one folder: scenarios to @files, folders to @folders. How much of it cannot be looked at, each with a message. */
static u32 scan(const char *folder, struct paths *files, struct paths *folders)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char path[512];
	struct stat st;
	u32 missed = 0;

	if (!d) {
		fprintf(stderr, "lightiov: %s: %s\n", folder, strerror(errno));
		return 1;
	}
	while ((e = readdir(d))) {
		if (is_passed_over(e->d_name))
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= sizeof(path)) {
			fprintf(stderr, "lightiov: %s/%s: %s\n", folder, e->d_name, strerror(ENAMETOOLONG));
			missed++;
		} else if (stat(path, &st)) {
			if (is_lua(e->d_name)) {
				fprintf(stderr, "lightiov: %s: %s\n", path, strerror(errno));
				missed++;
			}
		} else if (S_ISDIR(st.st_mode)) {
			add_path(folders, path);
		} else if (S_ISREG(st.st_mode) && is_lua(e->d_name)) {
			add_path(files, path);
		}
	}
	closedir(d);
	return missed;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_files(const struct cli_options *o, struct paths *files, u32 *missed)
{
	struct paths level = { 0 }, next = { 0 };
	struct stat st;
	u32 i, depth;

	for (i = 0; i < o->nr_paths; i++) {
		char path[512];
		size_t n = (size_t)snprintf(path, sizeof(path), "%s", o->path[i]);

		while (n > 1 && n < sizeof(path) && path[n - 1] == '/')
			path[--n] = '\0';
		if (stat(path, &st)) {
			fprintf(stderr, "lightiov: %s: %s; give scenario files or folders\n", path, strerror(errno));
			free_paths(&level);
			return -1;
		}
		add_path(S_ISDIR(st.st_mode) ? &level : files, path);
	}
	for (depth = 0; depth < DEPTH_MAX && level.nr; depth++) {
		for (i = 0; i < level.nr; i++)
			*missed += scan(level.path[i], files, &next);
		free_paths(&level);
		level = next;
		next = (struct paths){ 0 };
	}
	*missed += level.nr;
	for (i = 0; i < level.nr; i++)
		fprintf(stderr, "lightiov: %s: not looked into, it is more than %u folders down\n", level.path[i], DEPTH_MAX);
	free_paths(&level);
	if (files->nr)
		qsort(files->path, files->nr, sizeof(files->path[0]), compare_paths);
	return 0;
}

/* The table that stands nearest above a scenario. */
static bool table_path(const char *scenario, char path[512])
{
	size_t n = strlen(scenario);
	struct stat st;
	char folder[512];

	snprintf(folder, sizeof(folder), "%s", scenario);
	while (n) {
		while (n && folder[n - 1] != '/')
			n--;
		folder[n] = '\0';
		snprintf(path, 512, "%.480sexpected.tsv", folder);
		if (stat(path, &st) == 0)
			return true;
		while (n && folder[n - 1] == '/')
			folder[--n] = '\0';
	}
	return false;
}

/* @out: the table for a scenario, read at most once; NULL where there is none. */
static int table_for(struct plan *p, const struct cli_options *o, const char *scenario, s32 *out)
{
	char path[512], err[SCENARIO_ERROR_MAX];
	struct expected_table *more;
	u32 i;

	*out = -1;
	if (o->expected)
		snprintf(path, sizeof(path), "%s", o->expected);
	else if (!table_path(scenario, path))
		return 0;
	for (i = 0; i < p->nr_tables; i++)
		if (strcmp(p->table[i].path, path) == 0)
			break;
	if (i == p->nr_tables) {
		more = realloc(p->table, (i + 1) * sizeof(*more));
		if (!more)
			return CLI_BUG;
		p->table = more;
		if (expected_read(path, &p->table[i], err, sizeof(err))) {
			fprintf(stderr, "%s\n", err);
			return CLI_USAGE;
		}
		p->nr_tables++;
	}
	*out = (s32)i;
	return 0;
}

static int add_runs(struct plan *p, const struct cli_options *o, const struct scenario_file *f, const struct expected_table *t)
{
	u32 v;

	for (v = 0; v < f->nr_variants; v++) {
		int pol;

		if (o->variant && strcmp(o->variant, f->variant[v].name))
			continue;
		for (pol = 0; pol < LIOV_POLICIES; pol++) {
			struct planned *r;

			if (!(o->policies & f->variant[v].policies & 1u << pol))
				continue;
			r = realloc(p->run, (p->nr_runs + 1) * sizeof(*r));
			if (!r)
				return CLI_BUG;
			p->run = r;
			r = &p->run[p->nr_runs++];
			*r = (struct planned){ .file = f, .variant = v, .policy = (enum liov_policy)pol };
			if (t)
				r->row = expected_find(t, f->id, f->variant[v].name, policy_name((enum liov_policy)pol));
			r->result = calloc(1, sizeof(*r->result));
			if (!r->result)
				return CLI_BUG;
		}
	}
	return 0;
}

static int read_files(struct plan *p, const struct cli_options *o, const struct paths *files)
{
	char err[SCENARIO_ERROR_MAX];
	s32 *table = calloc(files->nr, sizeof(*table));
	int ret = 0;
	u32 i;

	p->file = calloc(files->nr, sizeof(*p->file));
	if (!p->file || !table)
		ret = CLI_BUG;
	for (i = 0; i < files->nr && !ret; i++) {
		if (i && strcmp(files->path[i], files->path[i - 1]) == 0)
			continue;
		if (scenario_read(files->path[i], &p->file[p->nr_files], err)) {
			fprintf(stderr, "%s\n", err);
			p->nr_mistakes++;
			continue;
		}
		ret = table_for(p, o, files->path[i], &table[p->nr_files++]);
	}
	for (i = 0; i < p->nr_files && !ret; i++)
		ret = add_runs(p, o, &p->file[i], table[i] < 0 ? NULL : &p->table[table[i]]);
	free(table);
	return ret;
}

int plan_make(struct plan *p, const struct cli_options *o)
{
	struct paths files = { 0 };
	int ret = CLI_USAGE;

	*p = (struct plan){ 0 };
	if (find_files(o, &files, &p->nr_mistakes) == 0) {
		if (files.nr == 0 || files.nr > FILES_MAX)
			fprintf(stderr, "lightiov: %s\n", files.nr ? "more than 4096 scenarios; name fewer" : "no scenario (*.lua) there");
		else
			ret = read_files(p, o, &files);
	}
	free_paths(&files);
	return ret;
}

void plan_free(struct plan *p)
{
	u32 i;

	for (i = 0; i < p->nr_runs; i++) {
		free(p->run[i].recorded);
		free(p->run[i].result);
	}
	for (i = 0; i < p->nr_tables; i++)
		expected_free(&p->table[i]);
	free(p->table);
	free(p->run);
	free(p->file);
}

void scenario_class(const struct scenario_file *file, char out[24])
{
	size_t n = strspn(file->id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (n && file->id[n] == '-')
		snprintf(out, 24, "%.*s", (int)n, file->id);
	else
		snprintf(out, 24, "%s", file->nr_tags ? file->tag[0] : "other");
}

int plan_exit_code(const struct plan *p)
{
	static const struct { enum run_outcome outcome; int code; } worst_first[] = {
		{ RUN_INTERNAL, CLI_BUG }, { RUN_ERROR, CLI_USAGE }, { RUN_HUNG, CLI_LIVENESS }, { RUN_DIFFERS, CLI_DIFFERS },
	};
	u32 i, k;

	for (k = 0; k < 4; k++) {
		for (i = 0; i < p->nr_runs; i++)
			if (p->run[i].result->outcome == worst_first[k].outcome)
				return worst_first[k].code;
		if (worst_first[k].code == CLI_USAGE && p->nr_mistakes)
			return CLI_USAGE;
	}
	return p->nr_runs ? CLI_OK : CLI_SKIPPED;
}

/* @word as a shell takes it, behind what stands in @buf. */
static void put_word(char *buf, size_t size, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./,:=@%+~";
	bool quote = !*word || word[strspn(word, plain)];
	size_t n = strlen(buf);

	n += (size_t)snprintf(buf + n, size - n, quote ? " '" : " ");
	for (; *word && n + 8 < size; word++)
		n += (size_t)snprintf(buf + n, size - n, quote && *word == '\'' ? "'\\''" : "%c", *word);
	snprintf(buf + n, size - n, "%s", quote ? "'" : "");
}

static void put_ablated(char *buf, size_t size, const struct site_set *s)
{
	const char *before = " --ablate ";
	u32 i;

	for (i = 0; i < site_count(); i++) {
		size_t n = strlen(buf);

		if (!site_set_has(s, i))
			continue;
		snprintf(buf + n, size - n, "%s%s", before, site_at(i)->name);
		before = ",";
	}
}

void replay_command(const struct planned *r, const struct cli_options *o, char *buf, size_t size)
{
	/* A run that died said nothing of what it did: it is what it was told. */
	const char *told = o->scenario.schedule ? o->scenario.schedule : "";
	const char *schedule = *r->result->schedule ? r->result->schedule : told;
	size_t n;

	snprintf(buf, size, "lightiov run");
	put_word(buf, size, r->file->path);
	n = strlen(buf);
	snprintf(buf + n, size - n, " --variant %s --policy %s --seed %llu%s%s%s", r->file->variant[r->variant].name, policy_name(r->policy),
		 (unsigned long long)o->scenario.seed, o->scenario.content_bytes ? " --content=bytes" : "", o->no_controls ? "" : " --why",
		 o->noninterference ? " --noninterference" : "");
	if (o->expected) {
		put_word(buf, size, "--expected");
		put_word(buf, size, o->expected);
	}
	put_ablated(buf, size, &o->scenario.ablate);
	n = strlen(buf);
	if (o->scenario.faults)
		n += (size_t)snprintf(buf + n, size - n, " --faults %llu", (unsigned long long)o->scenario.faults);
	snprintf(buf + n, size - n, "%s%s --verbose", *schedule ? " --schedule " : "", schedule);
}
