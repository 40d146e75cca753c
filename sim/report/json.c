// SPDX-License-Identifier: GPL-2.0
/*
 * Results for programs: one document, keys sorted, addresses and 64-bit numbers of the
 * machine as "0x..." texts. schema_version changes when the meaning of a key does.
 */

#include "report/document.h"

#include <errno.h>
#include <string.h>

#define SCHEMA "lightiov.result/1"

json_t *document_text(const char *s)
{
	json_t *j = json_string(s);
	char clean[2048];
	size_t n = 0;

	if (j)
		return j;
	for (; *s && n < sizeof(clean) - 5; s++) {
		if ((unsigned char)*s < 0x80)
			clean[n++] = *s;
		else
			n += (size_t)snprintf(clean + n, 5, "\\x%02x", (unsigned char)*s);
	}
	clean[n] = '\0';
	return json_string(clean);
}

json_t *document_hex(u64 v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)v);
	return json_string(buf);
}

static json_t *integer(u64 v)
{
	return json_integer((json_int_t)v);
}

static json_t *evidence_json(const struct verdict *v)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < v->nr_evidence; i++)
		json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:o}", "component", verdict_component_name(v->evidence[i].component),
						      "kind", evidence_kind_name(v->evidence[i].kind), "io", document_hex(v->evidence[i].io_id),
						      "text", document_text(v->evidence[i].text), "time_ps", integer(v->evidence[i].time_ps)));
	return list;
}

static json_t *violations_json(const struct run_result *r)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < r->nr_violations; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "by", document_text(r->violation[i].by), "claim", document_text(r->violation[i].claim),
						      "io", document_hex(r->violation[i].io_id), "time_ps", integer(r->violation[i].time_ps),
						      "victim", document_text(r->violation[i].victim), "what", document_text(r->violation[i].what)));
	return list;
}

/* Measures in millionths: whole numbers, so that no reader rounds them otherwise. */
static json_t *measures_json(const struct run_result *r)
{
	json_t *o = json_object();
	u32 i;

	for (i = 0; i < r->nr_measures; i++)
		json_object_set_new(o, r->measure[i].name, json_integer(r->measure[i].micro));
	return o;
}

static json_t *lines_json(const char *first, size_t stride, u32 nr)
{
	json_t *list = json_array();
	u32 i;

	for (i = 0; i < nr; i++)
		json_array_append_new(list, document_text(first + i * stride));
	return list;
}

static json_t *expected_json(const struct run_result *r)
{
	const struct expected_row *e = &r->expected;

	if (!r->has_expected)
		return json_null();
	return json_pack("{s:o, s:o, s:s, s:i, s:s, s:o}", "bound", document_text(e->bound), "code", document_text(e->code), "component",
			 verdict_component_name(e->component), "line", (int)e->line, "verdict", verdict_kind_name(e->verdict), "why", document_text(e->why));
}

static json_t *verdict_json(const struct run_result *r)
{
	const struct verdict *v = &r->verdict;

	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:s, s:o, s:o}", "claim", v->kind == VERDICT_ESCAPED ? oracle_claim_name(v->claim) : "",
			 "code", document_text(run_code(r)), "codes", lines_json(v->code[0], sizeof(v->code[0]), v->nr_codes),
			 "component", verdict_component_name(v->component), "evidence", evidence_json(v), "kind", verdict_kind_name(v->kind),
			 "resource", document_text(v->resource), "victim", document_text(v->kind == VERDICT_ESCAPED ? r->victim : ""));
}

static json_t *sites_json(const struct site_set *s)
{
	json_t *a = json_array();
	u32 i;

	for (i = 0; i < site_count(); i++)
		if (site_set_has(s, i))
			json_array_append_new(a, document_text(site_at(i)->name));
	return a;
}

/* null: no controls were run. */
static json_t *potency_json(const struct potency *p)
{
	json_t *controls = json_array();
	u32 i;

	if (!p->asked) {
		json_decref(controls);
		return json_null();
	}
	for (i = 0; i < p->nr_controls; i++)
		json_array_append_new(controls, json_pack("{s:s, s:b, s:b, s:o}", "gave", p->control[i].gave, "harm", p->control[i].harm,
							  "late", p->control[i].late, "without", sites_json(&p->control[i].without)));
	return json_pack("{s:o, s:o, s:b}", "controls", controls, "due_to", sites_json(&p->by), "potent", p->potent);
}

/* null: not asked for. */
static json_t *noninterference_json(const struct noninterference *n)
{
	const struct view_comparison *c = &n->seen;
	char digest[2][20];
	u32 i;

	if (n->kind == NONINT_NOT_ASKED)
		return json_null();
	for (i = 0; i < 2; i++)
		snprintf(digest[i], sizeof(digest[i]), "%016llx", (unsigned long long)c->digest[i]);
	return json_pack("{s:[s, s], s:o, s:b, s:o, s:{s:b, s:b, s:b, s:b}, s:o, s:o, s:o, s:b, s:o, s:o}", "digests", digest[0], digest[1],
			 "kind", document_text(nonint_kind_name(n->kind)), "known", n->known, "late", document_text(c->late),
			 "other", "accesses", c->accesses, "blocks", c->blocks, "data", c->data, "frames", c->frames,
			 "source", document_text(c->source), "timing_ps", integer(c->timing_ps), "values", integer(c->observations[0]),
			 "views_same", c->same, "what", document_text(c->what), "why", document_text(n->why));
}

static json_t *run_json(const struct planned *p, const struct cli_options *o, bool timelines)
{
	const struct run_result *r = p->result;
	const struct scenario_variant *v = &p->file->variant[p->variant];
	char replay[CLI_REPLAY_MAX], class[24], seen[128];
	json_t *j = json_object();

	replay_command(p, o, replay, sizeof(replay));
	json_object_set_new(j, "about", document_text(*v->about ? v->about : p->file->about));
	json_object_set_new(j, "attack_exits", integer(r->attack_exits));
	json_object_set_new(j, "attack_line", integer(r->attack_line));
	json_object_set_new(j, "attack_ps", integer(r->attack_ps));
	json_object_set_new(j, "attacker", document_text(v->attacker));
	json_object_set_new(j, "chain", lines_json(r->chain[0], sizeof(r->chain[0]), r->nr_chain));
	json_object_set_new(j, "chain_io", document_hex(r->chain_io_id));
	scenario_class(p->file, class);
	json_object_set_new(j, "class", document_text(class));
	json_object_set_new(j, "digest", document_text(r->digest));
	json_object_set_new(j, "events", integer(r->events));
	json_object_set_new(j, "exits", integer(r->cpu_exits));
	json_object_set_new(j, "expected", expected_json(r));
	json_object_set_new(j, "failures", lines_json(r->failure[0].text, sizeof(r->failure[0]), r->nr_failures));
	json_object_set_new(j, "id", document_text(p->file->id));
	json_object_set_new(j, "log", document_text(r->log));
	json_object_set_new(j, "measures_micro", measures_json(r));
	json_object_set_new(j, "name", document_text(p->file->name));
	json_object_set_new(j, "outcome", document_text(run_outcome_name(r->outcome)));
	json_object_set_new(j, "path", document_text(p->file->path));
	json_object_set_new(j, "policy", document_text(policy_name(p->policy)));
	json_object_set_new(j, "replay", document_text(replay));
	if (*r->schedule)
		json_object_set_new(j, "schedule", document_text(r->schedule));
	if (r->schedules) {
		json_object_set_new(j, "schedules", json_integer(r->schedules));
		json_object_set_new(j, "schedules_different", json_integer(r->schedules_different));
	}
	json_object_set_new(j, "seed", document_hex(o->scenario.seed));
	run_seen(p, false, seen, sizeof(seen));
	json_object_set_new(j, "seen", document_text(seen));
	json_object_set_new(j, "simulated_ps", integer(r->time_ps));
	json_object_set_new(j, "variant", document_text(v->name));
	json_object_set_new(j, "verdict", r->has_attack || r->has_expected ? verdict_json(r) : json_null());
	json_object_set_new(j, "violations", violations_json(r));
	json_object_set_new(j, "violations_seen", integer(r->violations_seen));
	json_object_set_new(j, "potency", potency_json(&r->potency));
	json_object_set_new(j, "noninterference", noninterference_json(&r->nonint));
	json_object_set_new(j, "sites", sites_json(&r->met));
	if (timelines) {
		json_object_set_new(j, "timeline", document_timeline(p));
		json_object_set_new(j, "timeline_of", integer(r->recorded.in_attack));
	}
	return j;
}

static json_t *summary_json(const struct plan *p)
{
	u32 count[RUN_INTERNAL + 1] = { 0 }, i;

	for (i = 0; i < p->nr_runs; i++)
		count[p->run[i].result->outcome]++;
	return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "as_expected", (int)count[RUN_AS_EXPECTED], "bugs", (int)count[RUN_INTERNAL],
			 "differ", (int)count[RUN_DIFFERS], "exit_code", plan_exit_code(p), "explored", (int)count[RUN_EXPLORED],
			 "hung", (int)count[RUN_HUNG], "mistakes", (int)(count[RUN_ERROR] + p->nr_mistakes), "runs", (int)p->nr_runs);
}

int document_put(json_t *doc, const char *path)
{
	FILE *f = path ? fopen(path, "w") : stdout;
	int ret;

	if (!f) {
		ret = -errno;
		json_decref(doc);
		return ret;
	}
	ret = json_dumpf(doc, f, JSON_SORT_KEYS | JSON_INDENT(2)) || fputc('\n', f) == EOF ? -EIO : 0;
	if ((path ? fclose(f) : fflush(f)) && !ret)
		ret = -errno;
	json_decref(doc);
	return ret;
}

static json_t *policies_json(void)
{
	json_t *list = json_array();
	int pol;

	for (pol = 0; pol < LIOV_POLICIES; pol++)
		json_array_append_new(list, json_string(policy_name((enum liov_policy)pol)));
	return list;
}

json_t *document_runs(const struct plan *p, const struct cli_options *o, bool timelines)
{
	json_t *doc = json_object(), *runs = json_array();
	u32 i;

	for (i = 0; i < p->nr_runs; i++)
		json_array_append_new(runs, run_json(&p->run[i], o, timelines));
	json_object_set_new(doc, "command", document_text(o->command));
	json_object_set_new(doc, "policies", policies_json());
	json_object_set_new(doc, "runs", runs);
	json_object_set_new(doc, "schema", json_string(SCHEMA));
	json_object_set_new(doc, "schema_version", json_integer(1));
	json_object_set_new(doc, "summary", summary_json(p));
	return doc;
}

int report_json(const struct plan *p, const struct cli_options *o)
{
	return document_put(document_runs(p, o, false), o->json_path);
}

static json_t *file_json(const struct scenario_file *s)
{
	json_t *variants = json_array(), *policies, *j = json_object();
	u32 i;
	int pol;

	for (i = 0; i < s->nr_variants; i++) {
		policies = json_array();
		for (pol = 0; pol < LIOV_POLICIES; pol++)
			if (s->variant[i].policies & 1u << pol)
				json_array_append_new(policies, document_text(policy_name((enum liov_policy)pol)));
		json_array_append_new(variants, json_pack("{s:o, s:o, s:o, s:o}", "about", document_text(s->variant[i].about), "attacker",
							  document_text(s->variant[i].attacker), "name", document_text(s->variant[i].name), "policies", policies));
	}
	json_object_set_new(j, "about", document_text(s->about));
	json_object_set_new(j, "id", document_text(s->id));
	json_object_set_new(j, "name", document_text(s->name));
	json_object_set_new(j, "path", document_text(s->path));
	json_object_set_new(j, "tags", lines_json(s->tag[0], sizeof(s->tag[0]), s->nr_tags));
	json_object_set_new(j, "variants", variants);
	return j;
}

int report_json_list(const struct plan *p, const struct cli_options *o)
{
	json_t *doc = json_object(), *files = json_array();
	u32 i;

	for (i = 0; i < p->nr_files; i++)
		json_array_append_new(files, file_json(&p->file[i]));
	json_object_set_new(doc, "command", document_text(o->command));
	json_object_set_new(doc, "scenarios", files);
	json_object_set_new(doc, "schema", json_string(SCHEMA));
	json_object_set_new(doc, "schema_version", json_integer(1));
	return document_put(doc, o->json_path);
}
