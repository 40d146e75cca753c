// SPDX-License-Identifier: GPL-2.0
/* Results for people. */

#include "cli/cli.h"
#include "sched.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELL_MAX 64

static bool coloured(FILE *f)
{
	const char *no = getenv("NO_COLOR");

	return f == stdout && isatty(STDOUT_FILENO) && !(no && *no);
}

static const char *colour(FILE *f, enum run_outcome o)
{
	if (!coloured(f))
		return "";
	switch (o) {
	case RUN_AS_EXPECTED: return "\033[32m";
	case RUN_EXPLORED: return "\033[33m";
	default: return "\033[31m";
	}
}

static const char *plain(FILE *f)
{
	return coloured(f) ? "\033[0m" : "";
}

/* Is @code one of those that @expr names? */
static bool names(const char *expr, const char *code)
{
	size_t n = strlen(code);
	const char *at;

	for (at = strstr(expr, code); at; at = strstr(at + 1, code))
		if ((at == expr || strchr("|+", at[-1])) && strchr("|+", at[n]))
			return true;
	return false;
}

/* How much a code says: an error before a fault, a fault before an exit, success last. */
static u32 weight(const char *code)
{
	static const char *const order[] = { "nvme:", "vtd:", "csts:", "cmbsts:", "aer:", "ept:" };
	u32 k;

	if (strcmp(code, "nvme:0/0x00") == 0)
		return 100;
	for (k = 0; k < sizeof(order) / sizeof(order[0]) && strncmp(code, order[k], strlen(order[k])); k++)
		;
	return k;
}

/* Of the codes seen the one that was expected, else the one that says most. */
const char *run_code(const struct run_result *r)
{
	const struct verdict *v = &r->verdict;
	const char *best = "";
	u32 i;

	for (i = 0; i < v->nr_codes; i++) {
		if (r->has_expected && names(r->expected.code, v->code[i]))
			return v->code[i];
		if (!*best || weight(v->code[i]) < weight(best))
			best = v->code[i];
	}
	return best;
}

/* "DEGRADED 2.4 x": by the slowdown that the scenario measured. */
static void degraded_text(const struct run_result *r, char *buf, size_t size)
{
	u32 i;

	for (i = 0; i < r->nr_measures; i++) {
		u64 tenths = (u64)(r->measure[i].micro < 0 ? 0 : r->measure[i].micro) / 100000;

		if (!strstr(r->measure[i].name, "slowdown"))
			continue;
		snprintf(buf, size, "DEGRADED %llu.%llu x", (unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10));
		return;
	}
	snprintf(buf, size, "DEGRADED");
}

/* What was seen, short: "contained by mediator 0/0x80", "ESCAPED (VM B, lba)". */
void run_seen(const struct planned *p, bool brief, char *buf, size_t size)
{
	const struct run_result *r = p->result;
	const struct verdict *v = &r->verdict;
	const char *code = run_code(r);
	const char *by = verdict_component_name(v->component);

	if (r->outcome == RUN_ERROR || r->outcome == RUN_INTERNAL) {
		snprintf(buf, size, "%s", run_outcome_name(r->outcome));
		return;
	}
	if (r->outcome == RUN_HUNG) {
		snprintf(buf, size, "HUNG");
		return;
	}
	if (!r->has_attack && !r->has_expected) {
		snprintf(buf, size, "%s", r->outcome == RUN_DIFFERS ? "checks differ" : "checks hold");
		return;
	}
	if (brief && strncmp(code, "nvme:", 5) == 0)
		code += 5;
	switch (v->kind) {
	case VERDICT_CONTAINED:
	case VERDICT_REJECTED:
		if (brief && v->kind == VERDICT_CONTAINED)
			snprintf(buf, size, "%s %s", by, code);
		else
			snprintf(buf, size, "%s by %s  %s", verdict_kind_name(v->kind), by, code);
		break;
	case VERDICT_ESCAPED:
		snprintf(buf, size, "ESCAPED (%s%s, %s)", strcmp(r->victim, "host") && strcmp(r->victim, "nobody") ? "VM " : "",
			 r->victim, oracle_claim_name(v->claim));
		break;
	case VERDICT_DEGRADED:
		degraded_text(r, buf, size);
		break;
	default:
		snprintf(buf, size, "%s  %s", verdict_kind_name(v->kind), code);
		break;
	}
}

static void put_micro(FILE *f, s64 micro)
{
	u64 v = micro < 0 ? (u64)-micro : (u64)micro;

	fprintf(f, "%s%llu", micro < 0 ? "-" : "", (unsigned long long)(v / 1000000));
	if (v % 1000000)
		fprintf(f, ".%06llu", (unsigned long long)(v % 1000000));
}

static void put_evidence(FILE *f, const struct run_result *r)
{
	u32 i;

	for (i = 0; i < r->verdict.nr_codes; i++)
		fprintf(f, "%s%s", i ? ", " : "      codes: ", r->verdict.code[i]);
	if (i)
		fputc('\n', f);
	for (i = 0; i < r->verdict.nr_evidence && i < 16; i++)
		fprintf(f, "      %s: %s: %s\n", evidence_kind_name(r->verdict.evidence[i].kind),
			verdict_component_name(r->verdict.evidence[i].component), r->verdict.evidence[i].text);
	for (i = 0; i < r->nr_violations && i < 8; i++)
		fprintf(f, "      violation: %s: by %s, victim %s: %s\n", r->violation[i].claim, r->violation[i].by, r->violation[i].victim, r->violation[i].what);
	if (r->violations_seen > i)
		fprintf(f, "      ... %llu violations in all\n", (unsigned long long)r->violations_seen);
	for (i = 0; i < r->nr_measures; i++) {
		fprintf(f, "      %s = ", r->measure[i].name);
		put_micro(f, r->measure[i].micro);
		fputc('\n', f);
	}
}

static void put_chain(FILE *f, const struct run_result *r)
{
	u32 i;

	if (!r->nr_chain)
		return;
	if (r->chain_io_id)
		fprintf(f, "      events of command %llu of queue %llu:\n", (unsigned long long)(r->chain_io_id & ((1ull << 48) - 1)),
			(unsigned long long)(r->chain_io_id >> 48));
	else
		fprintf(f, "      last events:\n");
	for (i = 0; i < r->nr_chain; i++)
		fprintf(f, "      %s\n", r->chain[i]);
}

static bool is_bad(enum run_outcome o)
{
	return o != RUN_AS_EXPECTED && o != RUN_EXPLORED;
}

static void put_details(const struct planned *p, const struct cli_options *o, FILE *f)
{
	const struct run_result *r = p->result;
	char replay[CLI_REPLAY_MAX], text[600];
	const char *line, *end;
	u32 i;

	if (r->nonint.kind && !o->quiet) {
		nonint_text(&r->nonint, text, sizeof(text));
		fprintf(f, "      %s%s%s\n", text, r->nonint.known ? "; known: " : "", r->nonint.why);
	}
	if (r->schedules)
		fprintf(f, "      %u schedules, %u different\n", r->schedules, r->schedules_different);
	for (i = 0; i < r->nr_failures; i++)
		fprintf(f, "      %s\n", r->failure[i].text);
	if (is_bad(r->outcome) || o->verbose || r->outcome == RUN_EXPLORED)
		put_evidence(f, r);
	if (o->why || r->verdict.kind == VERDICT_INERT)
		report_why(p, f);
	if (is_bad(r->outcome) || o->verbose)
		put_chain(f, r);
	if (o->verbose) {
		for (line = r->log; *line; line = *end ? end + 1 : end) {
			end = line + strcspn(line, "\n");
			fprintf(f, "      log: %.*s\n", (int)(end - line), line);
		}
		fprintf(f, "      %llu.%06llu ms simulated, %llu events, digest %s\n", (unsigned long long)(r->time_ps / PS_PER_MS),
			(unsigned long long)(r->time_ps % PS_PER_MS / 1000), (unsigned long long)r->events, r->digest);
	}
	if (is_bad(r->outcome)) {
		replay_command(p, o, replay, sizeof(replay));
		fprintf(f, "      replay: %s\n", replay);
	}
}

/* How many runs of each kind, and where time tells most. */
static void put_noninterference(const struct plan *p, FILE *f)
{
	u32 count[NONINT_FAILED + 1] = { 0 }, i, timed = 0, said = 0;
	const struct planned *worst = NULL;
	int k;

	for (i = 0; i < p->nr_runs; i++) {
		const struct noninterference *n = &p->run[i].result->nonint;

		count[n->kind]++;
		if (n->kind != NONINT_SAME || !n->seen.timing_ps)
			continue;
		timed++;
		if (!worst || n->seen.timing_ps > worst->result->nonint.seen.timing_ps)
			worst = &p->run[i];
	}
	fprintf(f, "noninterference:");
	for (k = NONINT_NO_ATTACKER; k <= NONINT_FAILED; k++)
		if (count[k] || k == NONINT_LEAK)
			fprintf(f, "%s %u %s", said++ ? "," : "", count[k], nonint_kind_name((enum nonint_kind)k));
	if (worst)
		fprintf(f, "; of the same views %u tell by time, at most %llu ns (%s %s)", timed, (unsigned long long)(worst->result->nonint.seen.timing_ps / 1000),
			worst->file->id, policy_name(worst->policy));
	fputc('\n', f);
}

static void put_summary(const struct plan *p, const struct cli_options *o, FILE *f)
{
	static const char *const words[] = { "as expected", "differ", "explored", "hung", "in error", "stopped by a bug" };
	u32 count[6] = { 0 }, i;

	if (o->noninterference)
		put_noninterference(p, f);
	for (i = 0; i < p->nr_runs; i++)
		count[p->run[i].result->outcome]++;
	count[RUN_ERROR] += p->nr_mistakes;
	fprintf(f, "%u runs: %u as expected", p->nr_runs, count[0]);
	for (i = 1; i < 6; i++)
		if (count[i] || i == RUN_DIFFERS)
			fprintf(f, ", %u %s", count[i], words[i]);
	fprintf(f, " (seed %llu)\n", (unsigned long long)o->scenario.seed);
}

void report_runs(const struct plan *p, const struct cli_options *o, FILE *f)
{
	char seen[CELL_MAX * 2];
	u32 i;

	for (i = 0; i < p->nr_runs; i++) {
		const struct planned *r = &p->run[i];

		if (o->quiet && !is_bad(r->result->outcome))
			continue;
		run_seen(r, false, seen, sizeof(seen));
		fprintf(f, "%s%-9s%s %-12s %-7s %-9s %s\n", colour(f, r->result->outcome), run_outcome_name(r->result->outcome), plain(f),
			r->file->id, r->file->variant[r->variant].name, policy_name(r->policy), seen);
		put_details(r, o, f);
	}
	put_summary(p, o, f);
}

/* First run of a row of the matrix, and where the next row begins. */
static u32 row_end(const struct plan *p, u32 at)
{
	u32 end = at;

	while (end < p->nr_runs && p->run[end].file == p->run[at].file && p->run[end].variant == p->run[at].variant)
		end++;
	return end;
}

static void cell_text(const struct planned *r, char buf[CELL_MAX])
{
	char seen[CELL_MAX - 12];

	run_seen(r, true, seen, sizeof(seen));
	snprintf(buf, CELL_MAX, "%s%s", seen, r->result->outcome == RUN_DIFFERS ? " DIFFERS" : r->result->outcome == RUN_EXPLORED ? " ?" : "");
}

static void put_row(const struct plan *p, u32 at, u32 end, const u32 width[LIOV_POLICIES], u32 policies, FILE *f)
{
	const struct scenario_file *file = p->run[at].file;
	const char *variant = file->variant[p->run[at].variant].name;
	char cell[CELL_MAX], name[48];
	int pol;

	snprintf(name, sizeof(name), "%s%s%s", file->id, strcmp(variant, "-") ? " " : "", strcmp(variant, "-") ? variant : "");
	fprintf(f, "%-15s %-40.40s", name, file->name);
	for (pol = 0; pol < LIOV_POLICIES; pol++) {
		const struct planned *r = NULL;
		u32 i;

		if (!(policies & 1u << pol))
			continue;
		for (i = at; i < end; i++)
			if (p->run[i].policy == (enum liov_policy)pol)
				r = &p->run[i];
		if (r)
			cell_text(r, cell);
		else
			snprintf(cell, sizeof(cell), "-");
		fprintf(f, "  %s%-*s%s", r ? colour(f, r->result->outcome) : "", (int)width[pol], cell, r ? plain(f) : "");
	}
	fputc('\n', f);
}

void report_matrix(const struct plan *p, const struct cli_options *o, FILE *f)
{
	u32 width[LIOV_POLICIES] = { 0 }, policies = 0, i, end;
	char cell[CELL_MAX];
	int pol;

	for (i = 0; i < p->nr_runs; i++) {
		u32 n;

		cell_text(&p->run[i], cell);
		n = (u32)strlen(cell);
		policies |= 1u << p->run[i].policy;
		if (n > width[p->run[i].policy])
			width[p->run[i].policy] = n;
	}
	fprintf(f, "%-15s %-40s", "attack", "");
	for (pol = 0; pol < LIOV_POLICIES; pol++)
		if (policies & 1u << pol) {
			if (width[pol] < strlen(policy_name((enum liov_policy)pol)))
				width[pol] = (u32)strlen(policy_name((enum liov_policy)pol));
			fprintf(f, "  %-*s", (int)width[pol], policy_name((enum liov_policy)pol));
		}
	fputc('\n', f);
	for (i = 0; i < p->nr_runs; i = end) {
		end = row_end(p, i);
		put_row(p, i, end, width, policies, f);
	}
	fputc('\n', f);
	for (i = 0; i < p->nr_runs; i++) {
		const struct planned *r = &p->run[i];

		if (!is_bad(r->result->outcome))
			continue;
		fprintf(f, "%s %s %s: %s\n", r->file->id, r->file->variant[r->variant].name, policy_name(r->policy), run_outcome_name(r->result->outcome));
		put_details(r, o, f);
	}
	put_summary(p, o, f);
}

void report_list(const struct plan *p, FILE *f)
{
	u32 i, k;

	for (i = 0; i < p->nr_files; i++) {
		const struct scenario_file *s = &p->file[i];

		fprintf(f, "%-14s %-48s", s->id, s->name);
		for (k = 0; k < s->nr_variants; k++)
			fprintf(f, "%s%s", k ? "," : " ", s->variant[k].name);
		for (k = 0; k < s->nr_tags; k++)
			fprintf(f, "%s%s", k ? "," : "  [", s->tag[k]);
		fprintf(f, "%s  %s\n", s->nr_tags ? "]" : "", s->path);
	}
}
