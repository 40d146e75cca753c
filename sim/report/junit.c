// SPDX-License-Identifier: GPL-2.0
/* Results for CI: one test suite, a case a run. Times are simulated, so that the file depends on the runs alone. */

#include "cli/cli.h"

#include <errno.h>

/* XML 1.0 allows no other control characters; what is not ASCII is shown as a question mark. */
static void put(FILE *f, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '&': fputs("&amp;", f); break;
		case '<': fputs("&lt;", f); break;
		case '>': fputs("&gt;", f); break;
		case '"': fputs("&quot;", f); break;
		case '\n': fputs("&#10;", f); break;
		case '\t': fputs("&#9;", f); break;
		default: fputc((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7F ? '?' : *s, f);
		}
	}
}

static void put_case(FILE *f, const struct planned *p, const struct cli_options *o)
{
	const struct run_result *r = p->result;
	bool error = r->outcome == RUN_ERROR || r->outcome == RUN_INTERNAL, bad = error || r->outcome == RUN_DIFFERS || r->outcome == RUN_HUNG;
	char replay[640];
	u32 i;

	fputs("    <testcase classname=\"", f);
	put(f, p->file->id);
	fputs("\" name=\"", f);
	put(f, p->file->variant[p->variant].name);
	fprintf(f, " %s\" file=\"", policy_name(p->policy));
	put(f, p->file->path);
	fprintf(f, "\" time=\"%llu.%06llu\"", (unsigned long long)(r->time_ps / 1000000000000ull),
		(unsigned long long)(r->time_ps % 1000000000000ull / 1000000));
	if (!bad) {
		fputs("/>\n", f);
		return;
	}
	fprintf(f, ">\n      <%s type=\"%s\" message=\"", error ? "error" : "failure", run_outcome_name(r->outcome));
	put(f, r->nr_failures ? r->failure[0].text : "");
	fputs("\">", f);
	for (i = 0; i < r->nr_failures; i++) {
		put(f, r->failure[i].text);
		fputs("&#10;", f);
	}
	replay_command(p, o, replay, sizeof(replay));
	fputs("replay: ", f);
	put(f, replay);
	fprintf(f, "</%s>\n    </testcase>\n", error ? "error" : "failure");
}

int report_junit(const struct plan *p, const struct cli_options *o)
{
	u32 failures = 0, errors = 0, i;
	FILE *f = fopen(o->junit_path, "w");

	if (!f)
		return -errno;
	for (i = 0; i < p->nr_runs; i++) {
		enum run_outcome out = p->run[i].result->outcome;

		failures += out == RUN_DIFFERS || out == RUN_HUNG;
		errors += out == RUN_ERROR || out == RUN_INTERNAL;
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", f);
	fprintf(f, "  <testsuite name=\"lightiov\" tests=\"%u\" failures=\"%u\" errors=\"%u\">\n", p->nr_runs, failures, errors);
	for (i = 0; i < p->nr_runs; i++)
		put_case(f, &p->run[i], o);
	fputs("  </testsuite>\n</testsuites>\n", f);
	return fclose(f) ? -errno : 0;
}
