// SPDX-License-Identifier: GPL-2.0
/*
 * Results for CI: a test suite a class of attacks, a case a run. Times are simulated, so that the file depends
 * on the runs alone. harness/report/junit.xsd says what of the format is used.
 */

#include "cli/cli.h"

#include <errno.h>
#include <string.h>

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

static void put_attribute(FILE *f, const char *name, const char *value)
{
	fprintf(f, " %s=\"", name);
	put(f, value);
	fputc('"', f);
}

static void put_property(FILE *f, const char *indent, const char *name, const char *value)
{
	fprintf(f, "%s<property", indent);
	put_attribute(f, "name", name);
	put_attribute(f, "value", value);
	fputs("/>\n", f);
}

/* What is true of some runs: of a class (NULL: of all). */
struct sums {
	u32 tests, failures, errors;
	u64 time_ps;
};

static bool is_error(enum run_outcome o)
{
	return o == RUN_ERROR || o == RUN_INTERNAL;
}

static bool is_of_class(const struct planned *p, const char *class)
{
	char mine[24];

	if (!class)
		return true;
	scenario_class(p->file, mine);
	return strcmp(mine, class) == 0;
}

static struct sums sums_of(const struct plan *p, const char *class)
{
	struct sums s = { 0 };
	u32 i;

	for (i = 0; i < p->nr_runs; i++) {
		const struct run_result *r = p->run[i].result;

		if (!is_of_class(&p->run[i], class))
			continue;
		s.tests++;
		s.failures += r->outcome == RUN_DIFFERS || r->outcome == RUN_HUNG;
		s.errors += is_error(r->outcome);
		s.time_ps += r->time_ps;
	}
	return s;
}

static void put_time(FILE *f, u64 ps)
{
	fprintf(f, " time=\"%llu.%06llu\"", (unsigned long long)(ps / 1000000000000ull), (unsigned long long)(ps % 1000000000000ull / 1000000));
}

static void put_sums(FILE *f, struct sums s)
{
	/* Jenkins' schema takes no more than three digits here. */
	fprintf(f, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%llu.%03llu\"", s.tests, s.failures, s.errors,
		(unsigned long long)(s.time_ps / 1000000000000ull), (unsigned long long)(s.time_ps % 1000000000000ull / 1000000000));
}

static void put_failure(FILE *f, const struct run_result *r, const char *replay)
{
	const char *tag = is_error(r->outcome) ? "error" : "failure";
	u32 i;

	fprintf(f, "      <%s", tag);
	put_attribute(f, "type", run_outcome_name(r->outcome));
	put_attribute(f, "message", r->nr_failures ? r->failure[0].text : "");
	fputc('>', f);
	for (i = 0; i < r->nr_failures; i++) {
		put(f, r->failure[i].text);
		fputs("&#10;", f);
	}
	for (i = 0; i < r->nr_chain; i++) {
		put(f, r->chain[i]);
		fputs("&#10;", f);
	}
	fputs("replay: ", f);
	put(f, replay);
	fprintf(f, "</%s>\n", tag);
}

static void put_case(FILE *f, const char *class, const struct planned *p, const struct cli_options *o)
{
	const struct run_result *r = p->result;
	char replay[CLI_REPLAY_MAX], seen[128], name[80], classname[64], text[600];

	replay_command(p, o, replay, sizeof(replay));
	run_seen(p, false, seen, sizeof(seen));
	snprintf(name, sizeof(name), "%s %s %s", p->file->id, p->file->variant[p->variant].name, policy_name(p->policy));
	snprintf(classname, sizeof(classname), "lightiov.%s", class);
	fputs("    <testcase", f);
	put_attribute(f, "name", name);
	put_attribute(f, "classname", classname);
	put_time(f, r->time_ps);
	put_attribute(f, "file", p->file->path);
	fprintf(f, " line=\"%u\">\n      <properties>\n", r->attack_line ? r->attack_line : 1);
	put_property(f, "        ", "policy", policy_name(p->policy));
	put_property(f, "        ", "variant", p->file->variant[p->variant].name);
	put_property(f, "        ", "seen", seen);
	put_property(f, "        ", "expected", r->has_expected ? verdict_kind_name(r->expected.verdict) : "-");
	put_property(f, "        ", "digest", r->digest);
	if (r->nonint.kind) {
		nonint_text(&r->nonint, text, sizeof(text));
		put_property(f, "        ", "noninterference", text);
	}
	put_property(f, "        ", "replay", replay);
	fputs("      </properties>\n", f);
	if (r->outcome != RUN_AS_EXPECTED && r->outcome != RUN_EXPLORED)
		put_failure(f, r, replay);
	fputs("    </testcase>\n", f);
}

static void put_suite(FILE *f, const char *class, const struct plan *p, const struct cli_options *o)
{
	char seed[24];
	u32 i;

	fputs("  <testsuite", f);
	put_attribute(f, "name", class);
	put_sums(f, sums_of(p, class));
	fputs(">\n    <properties>\n", f);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)o->scenario.seed);
	put_property(f, "      ", "seed", seed);
	put_property(f, "      ", "command", o->command);
	put_property(f, "      ", "time", "simulated");
	fputs("    </properties>\n", f);
	for (i = 0; i < p->nr_runs; i++)
		if (is_of_class(&p->run[i], class))
			put_case(f, class, &p->run[i], o);
	fputs("  </testsuite>\n", f);
}

/* What could not be read has no run, and is an error all the same; which it was is told on stderr. */
static void put_mistakes(FILE *f, u32 nr)
{
	u32 i;

	fprintf(f, "  <testsuite name=\"unreadable\" tests=\"%u\" failures=\"0\" errors=\"%u\" skipped=\"0\" time=\"0.000\">\n    <properties>\n", nr, nr);
	put_property(f, "      ", "time", "simulated");
	fputs("    </properties>\n", f);
	for (i = 1; i <= nr; i++) {
		fprintf(f, "    <testcase name=\"%u\" classname=\"lightiov.unreadable\" time=\"0.000000\" file=\"-\" line=\"1\">\n      <properties>\n", i);
		put_property(f, "        ", "seen", "nothing");
		fputs("      </properties>\n      <error type=\"ERROR\" message=\"a scenario or folder could not be read\"></error>\n    </testcase>\n", f);
	}
	fputs("  </testsuite>\n", f);
}

int report_junit(const struct plan *p, const struct cli_options *o)
{
	FILE *f = fopen(o->junit_path, "w");
	struct sums sums = sums_of(p, NULL);
	u32 i, k;

	if (!f)
		return -errno;
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"lightiov\"", f);
	sums.tests += p->nr_mistakes;
	sums.errors += p->nr_mistakes;
	put_sums(f, sums);
	fputs(">\n", f);
	for (i = 0; i < p->nr_runs; i++) {
		char class[24];

		scenario_class(p->run[i].file, class);
		for (k = 0; k < i && !is_of_class(&p->run[k], class); k++)
			;
		if (k == i)
			put_suite(f, class, p, o);
	}
	if (p->nr_mistakes)
		put_mistakes(f, p->nr_mistakes);
	fputs("</testsuites>\n", f);
	return fclose(f) ? -errno : 0;
}
