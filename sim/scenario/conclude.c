// SPDX-License-Identifier: GPL-2.0
/* The end of a run: its verdict, what differs from what was expected, and what shows why. */

#include "engine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void differs(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void differs(struct run *r, const char *fmt, ...)
{
	struct run_result *res = r->res;
	va_list ap;

	if (res->nr_failures == RESULT_FAILURES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(res->failure[res->nr_failures++].text, sizeof(res->failure[0].text), fmt, ap);
	va_end(ap);
}

static void check_violations(struct run *r)
{
	u64 allowed = r->violations_allowed == ~0ull ? 0 : r->violations_allowed;

	if (r->res->violations_seen > allowed)
		differs(r, "the oracle saw %llu violations; expected %llu", (unsigned long long)r->res->violations_seen, (unsigned long long)allowed);
}

static void check_row(struct run *r)
{
	const struct expected_row *e = &r->res->expected;
	const struct verdict *v = &r->res->verdict;
	char why[200];

	if (v->kind != e->verdict)
		differs(r, "verdict: seen %s, expected %s (%s)", verdict_kind_name(v->kind), verdict_kind_name(e->verdict), e->why);
	else if ((e->verdict == VERDICT_CONTAINED || e->verdict == VERDICT_REJECTED) && v->component != e->component)
		differs(r, "component: seen %s, expected %s (%s)", verdict_component_name(v->component), verdict_component_name(e->component), e->why);
	if (strcmp(r->file->variant[r->variant].attacker, e->attacker) != 0)
		differs(r, "attacker: the scenario has %s, expected %s", r->file->variant[r->variant].attacker, e->attacker);
	if (!expected_codes_hold(e->code, v))
		differs(r, "code: expected %s, which is not among what was seen", e->code);
	if (!expected_bound_holds(e->bound, r->res->measure, r->res->nr_measures,
				  strcmp(e->variant, "mutant") == 0, why, sizeof(why)))
		differs(r, "bound: expected %s; %s", e->bound, why);
	/* What was reached before the attack began is no escape of it, and no less wrong. */
	if (v->kind != VERDICT_ESCAPED)
		check_violations(r);
}

static void check_workloads(struct run *r)
{
	struct script_workload *w;

	for (w = r->workloads; w; w = w->next) {
		struct workload_result res;

		if (w->may_fail)
			continue;
		res = workload_result(w->w);
		if (res.errors || res.wrong || res.twice)
			differs(r, "workload of VM %s: %llu errors, %llu wrong reads, %llu double completions; expected none", w->vm->name,
				(unsigned long long)res.errors, (unsigned long long)res.wrong, (unsigned long long)res.twice);
	}
}

static void keep_violations(struct run *r)
{
	struct run_result *res = r->res;
	char buf[24];
	u32 i;

	res->violations_seen = oracle_count(r->oracle);
	for (i = 0; i < res->violations_seen && i < ORACLE_KEEP && i < RESULT_VIOLATIONS_MAX; i++) {
		const struct oracle_violation *v = oracle_violation(r->oracle, i);
		struct run_violation *out = &res->violation[res->nr_violations++];

		snprintf(out->claim, sizeof(out->claim), "%s", oracle_claim_name(v->claim));
		snprintf(out->by, sizeof(out->by), "%s", run_vm_name(r, v->by, buf));
		snprintf(out->victim, sizeof(out->victim), "%s", run_vm_name(r, v->victim, buf));
		memcpy(out->what, v->what, sizeof(out->what));
		out->time_ps = v->time_ps;
		out->io_id = v->io_id;
	}
}

static void keep_chain(struct run *r)
{
	struct run_result *res = r->res;
	u32 i;

	for (i = res->verdict.nr_evidence; i-- > 0;)
		recorder_interest(r->recorder, res->verdict.evidence[i].io_id);
	if (res->verdict.io_id)
		recorder_interest(r->recorder, res->verdict.io_id);
	res->chain_io_id = recorder_io_id(r->recorder);
	res->nr_chain = recorder_lines(r->recorder, res->chain, RESULT_CHAIN_MAX);
}

/* What a report with a timeline is to show: above all what the verdict rests on. */
static void keep_recording(struct run *r)
{
	struct recording_choice c = { .max = r->opt->record_max, .io_id = r->res->chain_io_id };
	struct run_recorded *out = &r->res->recorded;
	const struct verdict *v = &r->res->verdict;
	u32 i;

	for (i = 0; i < r->res->nr_violations && c.nr_moments < 8; i++)
		c.moment_ps[c.nr_moments++] = r->res->violation[i].time_ps;
	for (i = 0; i < v->nr_evidence && c.nr_moments < 32; i++)
		c.moment_ps[c.nr_moments++] = v->evidence[i].time_ps;
	for (i = 0; i < r->next_vm && i < RESULT_VMS_MAX; i++)
		memcpy(out->vm[out->nr_vms++], r->vms[i].name, sizeof(out->vm[0]));
	out->nr = recording_choose(r->recording, &c);
	out->seen = recording_seen(r->recording);
	out->in_attack = recording_in_attack(r->recording);
}

/* Without a row: all checks hold, and, unless an attack is explored, nobody reached what is another's. */
static void judge_unlisted(struct run *r)
{
	bool explored = r->res->has_attack && !r->file->benign;

	if (!explored)
		check_violations(r);
	if (r->res->nr_failures)
		r->res->outcome = RUN_DIFFERS;
	else
		r->res->outcome = explored ? RUN_EXPLORED : RUN_AS_EXPECTED;
}

void run_conclude(struct run *r)
{
	struct run_result *res = r->res;
	char buf[24];

	res->attackers = r->attackers;
	res->has_attack = r->attackers != 0 || r->configured;
	judge_verdict(r->judge, &res->verdict);
	snprintf(res->victim, sizeof(res->victim), "%s", run_vm_name(r, res->verdict.victim, buf));
	res->cpu_exits = recorder_exits(r->recorder);
	keep_violations(r);
	keep_chain(r);
	res->attack_ps = recorder_attack_ps(r->recorder);
	res->attack_exits = recorder_attack_exits(r->recorder);
	if (r->recording)
		keep_recording(r);
	if (!r->broken) {
		check_workloads(r);
		if (res->has_expected)
			check_row(r);
		if (res->has_expected)
			res->outcome = res->nr_failures ? RUN_DIFFERS : RUN_AS_EXPECTED;
		else
			judge_unlisted(r);
	} else if (res->outcome == RUN_HUNG) {
		res->verdict.kind = VERDICT_HUNG;
	}
	recorder_digest(r->recorder, res->digest);
}
