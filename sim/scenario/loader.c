// SPDX-License-Identifier: GPL-2.0
/* Reading a file's header without running it. */

#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct scenario_file *file;
	struct run *run;		/* for the checks of machine and VMs; nothing of it runs */
};

static int read_header(lua_State *L)
{
	struct reading *rd = sandbox_of(L)->opaque;
	struct run *r = rd->run;
	u32 v;

	header_read(L, rd->file);
	/* Mistakes in what is declared show now, under each policy, not when it runs. */
	for (v = 0; v < rd->file->nr_variants; v++) {
		int p;

		for (p = 0; p < LIOV_POLICIES; p++) {
			r->variant = v;
			r->policy = (enum liov_policy)p;
			r->nr_wishes = 0;
			header_machine(L, r);
			header_vms(L, r);
			header_events(L, r);
		}
	}
	return 0;
}

/* @text: NULL, and the file at @path is read. */
static int read_scenario(const char *path, const char *text, size_t len, struct scenario_file *out, char err[SCENARIO_ERROR_MAX])
{
	static const struct scenario_options opt;
	struct run *r = calloc(1, sizeof(*r));
	struct reading rd = { out, r };
	struct sandbox sb = { .opaque = &rd };
	struct sandbox_thread main;
	int ret = -1;

	*out = (struct scenario_file){ .nr_variants = 0 };
	if (!r || strlen(path) >= sizeof(out->path)) {
		snprintf(err, SCENARIO_ERROR_MAX, "%.300s:1: %s", path, r ? "the path is too long; use at most 255 characters" : "no memory");
		free(r);
		return -1;
	}
	strcpy(out->path, path);
	r->file = out;
	r->opt = &opt;
	if (sandbox_init(&sb, &main)) {
		snprintf(err, SCENARIO_ERROR_MAX, "%s:1: no memory", path);
		free(r);
		return -1;
	}
	header_open(sb.L);
	if ((text ? sandbox_load_text(&sb, path, text, len, err) : sandbox_load(&sb, path, err)) == 0 &&
	    sandbox_pcall(sb.L, 0, 0, err) == 0) {
		lua_pushcfunction(sb.L, read_header);
		ret = sandbox_pcall(sb.L, 0, 0, err);
		if (ret)
			header_place(sb.L, path, err);
	}
	sandbox_fini(&sb);
	free(r);
	return ret;
}

int scenario_read(const char *path, struct scenario_file *out, char err[SCENARIO_ERROR_MAX])
{
	return read_scenario(path, NULL, 0, out, err);
}

int scenario_read_text(const char *name, const char *text, size_t len, struct scenario_file *out, char err[SCENARIO_ERROR_MAX])
{
	return read_scenario(name, text, len, out, err);
}
