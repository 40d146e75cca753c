// SPDX-License-Identifier: GPL-2.0
/*
 * The scenario loader and the language: a file of any bytes is read, or it is the body of
 * run(m) on a small machine with tight limits. A mistake has a place and a text; nothing
 * hangs, and no script reaches an assert.
 */

#include "fuzz.h"
#include "scenario/scenario.h"

#include <unistd.h>

#define FILE_MAX 4096u

static const char *path;

static const char head[] =
	"scenario { id = \"FUZZ\", name = \"fuzz\", machine = { cores = 2 }, vms = baseline(),\n"
	"limit = { time = ms(5), events = 50000 } }\nfunction run(m)\nlocal A, B, C = m:vm(\"A\"), m:vm(\"B\"), m:vm(\"C\")\n";

static void remove_file(void)
{
	unlink(path);
}

static void write_file(const char *before, const uint8_t *data, size_t size, const char *after)
{
	static char name[] = "/tmp/lightiov-fuzz-XXXXXX.lua";
	FILE *f;

	if (!path) {
		int fd = mkstemps(name, 4);

		fuzz_expect(fd >= 0, "a file for the scenario");
		close(fd);
		path = name;
		atexit(remove_file);
	}
	f = fopen(path, "wb");
	fuzz_expect(f != NULL, "the scenario's file is written");
	fprintf(f, "%s", before);
	fwrite(data, 1, size, f);
	fprintf(f, "%s", after);
	fclose(f);
}

/* "file:line: what" */
static void expect_place(const char *text)
{
	const char *at = strstr(text, path);

	fuzz_expect(at == text, "an error begins with its file");
	fuzz_expect(text[strlen(path)] == ':' && text[strlen(path) + 1] >= '0' && text[strlen(path) + 1] <= '9', "an error has its line");
}

static void run_all(const struct scenario_file *file)
{
	static struct run_result res;
	static const struct scenario_options opt = { .seed = 1 };
	int p;

	for (p = 0; p < LIOV_POLICIES; p++) {
		scenario_run(file, 0, (enum liov_policy)p, &opt, NULL, &res);
		fuzz_expect(res.outcome != RUN_INTERNAL, "no script shows a bug of ours");
		if (res.outcome == RUN_ERROR)
			fuzz_expect(res.nr_failures > 0, "an error has a text");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scenario_file file;
	char err[SCENARIO_ERROR_MAX] = "";
	bool whole = size > 0 && data[0] == '#';

	if (size > FILE_MAX)
		return 0;
	if (whole)
		write_file("", data + 1, size - 1, "");
	else
		write_file(head, data, size, "\nend\n");
	if (scenario_read(path, &file, err))
		expect_place(err);
	else if (!whole)
		run_all(&file);
	return 0;
}
