// SPDX-License-Identifier: GPL-2.0
/* run, matrix and list. */

#include "cli.h"

#include <string.h>

/* Plan, run, report in all the ways asked for. */
static int replay(const struct cli_options *o, void (*report)(const struct plan *p, const struct cli_options *o, FILE *f))
{
	struct plan p;
	int ret = plan_make(&p, o), err;

	if (ret) {
		plan_free(&p);
		return ret;
	}
	err = p.nr_runs ? plan_execute(&p, o) : 0;
	if (err) {
		fprintf(stderr, "lightiov %s: cannot run: %s\n", o->command, strerror(-err));
		plan_free(&p);
		return CLI_BUG;
	}
	ret = plan_check_leaks(&p, o);
	if (ret) {
		plan_free(&p);
		return ret;
	}
	if (!o->json || o->json_path)
		report(&p, o, stdout);
	ret = plan_exit_code(&p);
	if (o->json)
		err = report_json(&p, o);
	if (!err && o->junit_path)
		err = report_junit(&p, o);
	if (!err && o->sarif_path)
		err = report_sarif(&p, o);
	if (!err && o->html_path)
		err = report_html(&p, o);
	if (!err && o->perfetto_path)
		err = report_perfetto(&p, o);
	if (err || fflush(stdout)) {
		fprintf(stderr, "lightiov %s: cannot write the report: %s\n", o->command, err ? strerror(-err) : "stdout");
		ret = CLI_USAGE;
	}
	if (!p.nr_runs && !p.nr_mistakes)
		fprintf(stderr, "lightiov %s: no run is left; --policy or --variant leave none\n", o->command);
	plan_free(&p);
	return ret;
}

int command_run(const struct cli_options *o)
{
	return replay(o, report_runs);
}

int command_matrix(const struct cli_options *o)
{
	return replay(o, report_matrix);
}

int command_list(const struct cli_options *o)
{
	struct plan p;
	int ret, err = 0;

	if (o->sites) {
		report_sites(stdout);
		return CLI_OK;
	}
	ret = plan_make(&p, o);

	if (!ret) {
		if (o->json)
			err = report_json_list(&p, o);
		if (!o->json || o->json_path)
			report_list(&p, stdout);
		if (err || fflush(stdout))
			fprintf(stderr, "lightiov list: cannot write the report: %s\n", err ? strerror(-err) : "stdout");
		ret = p.nr_mistakes || err || ferror(stdout) ? CLI_USAGE : CLI_OK;
	}
	plan_free(&p);
	return ret;
}
