// SPDX-License-Identifier: GPL-2.0
/*
 * Findings for code scanning, as SARIF 2.1.0 (OASIS standard): a rule is an isolation claim, a result a
 * run that broke it, at the line of the scenario that attacks. What was expected to escape is there too,
 * as a note that is suppressed with the reason of the table; so is every run that differs or has no verdict.
 */

#include "digest.h"
#include "report/document.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

/* Rules that are no claims. */
enum { RULE_DIFFERS = ORACLE_CLAIMS, RULE_HUNG, RULE_ERROR, RULES };

static const char *const claim_texts[ORACLE_CLAIMS] = {
	[ORACLE_LBA] = "A VM's command touches only its own blocks.",
	[ORACLE_FRAME] = "DMA caused by a VM touches only its own memory.",
	[ORACLE_HOST_MEMORY] = "DMA caused by a VM never touches the host's memory, or memory that is free.",
	[ORACLE_CPU] = "A vCPU's access reaches only memory that is its VM's.",
	[ORACLE_DOORBELL] = "A vCPU rings only doorbells of its VM's queues.",
	[ORACLE_VECTOR] = "A VM is interrupted only by its own queues' vectors.",
	[ORACLE_REMANENCE] = "Nobody reads what an earlier owner left.",
	[ORACLE_OVERLAP] = "Nothing has two owners.",
	[ORACLE_ADMIN] = "No guest causes an admin command of the physical controller.",
};

static const char *rule_id(u32 rule, char buf[48])
{
	static const char *const other[] = { "verdict/differs", "verdict/hung", "verdict/error" };

	if (rule >= ORACLE_CLAIMS)
		return other[rule - ORACLE_CLAIMS];
	snprintf(buf, 48, "isolation/%s", oracle_claim_name((enum oracle_claim)rule));
	return buf;
}

static const char *rule_text(u32 rule)
{
	static const char *const other[] = {
		"A run's verdict, component, code, bound and checks are those expected.", "A run comes to an end within its bounds.",
		"A scenario has no mistake, and the simulator no bug.",
	};

	if (rule >= ORACLE_CLAIMS)
		return other[rule - ORACLE_CLAIMS];
	return claim_texts[rule] ? claim_texts[rule] : "Isolation of VMs.";
}

static json_t *message(const char *text)
{
	return json_pack("{s:o}", "text", document_text(text));
}

static json_t *rules_json(void)
{
	json_t *list = json_array();
	char buf[48];
	u32 i;

	for (i = 0; i < RULES; i++)
		json_array_append_new(list, json_pack("{s:s, s:o, s:{s:s}}", "id", rule_id(i, buf), "shortDescription", message(rule_text(i)),
						      "defaultConfiguration", "level", "error"));
	return list;
}

/* Which rule a run breaks; RULES: none. */
static u32 broken_rule(const struct run_result *r)
{
	switch (r->outcome) {
	case RUN_HUNG:
		return RULE_HUNG;
	case RUN_ERROR: case RUN_INTERNAL:
		return RULE_ERROR;
	default:
		if (r->verdict.kind == VERDICT_ESCAPED)
			return r->verdict.claim;
		return r->outcome == RUN_DIFFERS ? RULE_DIFFERS : RULES;
	}
}

/* A path as a URI: relative to where the run was started, or of a file. */
static json_t *uri_json(const char *path)
{
	char buf[3 * 256 + 8];
	size_t at = (size_t)snprintf(buf, sizeof(buf), "%s", *path == '/' ? "file://" : "");

	for (; *path && at < sizeof(buf) - 4; path++)
		if (isalnum((unsigned char)*path) || strchr("/-._~", *path))
			buf[at++] = *path;
		else
			at += (size_t)snprintf(buf + at, 4, "%%%02X", (unsigned char)*path);
	buf[at] = '\0';
	return json_string(buf);
}

static json_t *location_json(const char *path, u32 line)
{
	json_t *artifact = json_pack("{s:o}", "uri", uri_json(path));

	if (*path != '/')
		json_object_set_new(artifact, "uriBaseId", json_string("%SRCROOT%"));
	return json_pack("{s:{s:o, s:{s:i}}}", "physicalLocation", "artifactLocation", artifact, "region", "startLine", line ? (int)line : 1);
}

/* Where a failure's own place begins with the scenario's path, its line; else the attack's. */
static u32 line_of(const struct planned *p)
{
	const struct run_result *r = p->result;
	size_t n = strlen(p->file->path);
	u32 i;

	for (i = 0; r->outcome != RUN_AS_EXPECTED && i < r->nr_failures; i++)
		if (strncmp(r->failure[i].text, p->file->path, n) == 0 && r->failure[i].text[n] == ':')
			return (u32)atoi(r->failure[i].text + n + 1);
	return r->attack_line;
}

/* The same finding in another run, of another seed, after lines were added above it. */
static void fingerprint(const struct planned *p, u32 rule, char hex[DIGEST_HEX_SIZE])
{
	struct digest d;
	char text[256], buf[48];

	hex[0] = '\0';
	snprintf(text, sizeof(text), "%s\n%s\n%s\n%s\n%s", p->file->id, p->file->variant[p->variant].name, policy_name(p->policy),
		 rule_id(rule, buf), rule < ORACLE_CLAIMS ? p->result->victim : "");
	if (digest_init(&d))
		return;
	digest_bytes(&d, text, strlen(text));
	digest_hex(&d, hex);
	digest_fini(&d);
}

static json_t *properties_json(const struct planned *p, const struct cli_options *o)
{
	const struct run_result *r = p->result;
	char replay[CLI_REPLAY_MAX], class[24];

	replay_command(p, o, replay, sizeof(replay));
	scenario_class(p->file, class);
	return json_pack("{s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o}", "attacker", document_text(p->file->variant[p->variant].attacker),
			 "class", document_text(class), "component", verdict_component_name(r->verdict.component),
			 "outcome", run_outcome_name(r->outcome), "policy", document_text(policy_name(p->policy)),
			 "verdict", r->has_attack || r->has_expected ? verdict_kind_name(r->verdict.kind) : "none",
			 "variant", document_text(p->file->variant[p->variant].name), "victim", document_text(r->verdict.kind == VERDICT_ESCAPED ? r->victim : ""),
			 "replay", document_text(replay));
}

/* The row of the table that expects it, if one does. */
static json_t *related_json(const struct plan *p, const struct planned *r)
{
	json_t *list = json_array(), *at;
	u32 i;

	for (i = 0; i < p->nr_tables && r->row; i++) {
		const struct expected_table *t = &p->table[i];

		if (r->row < t->row || r->row >= t->row + t->nr)
			continue;
		at = location_json(t->path, r->row->line);
		json_object_set_new(at, "message", message("what is expected"));
		json_array_append_new(list, at);
	}
	return list;
}

/* The command's way through the machine, step by step. */
static json_t *flow_json(const struct planned *p)
{
	const struct run_result *r = p->result;
	json_t *steps = json_array(), *at;
	u32 i;

	for (i = 0; i < r->nr_chain; i++) {
		at = location_json(p->file->path, line_of(p));
		json_object_set_new(at, "message", message(r->chain[i] + strspn(r->chain[i], " ")));
		json_array_append_new(steps, json_pack("{s:o}", "location", at));
	}
	return json_pack("[{s:[{s:o}]}]", "threadFlows", "locations", steps);
}

static void finding_text(const struct planned *p, u32 rule, char *buf, size_t size)
{
	const struct run_result *r = p->result;
	const char *variant = p->file->variant[p->variant].name;
	int n = snprintf(buf, size, "%s%s%s under %s: %s. ", p->file->id, strcmp(variant, "-") ? " " : "", strcmp(variant, "-") ? variant : "",
			 policy_name(p->policy), p->file->name);

	if (n < 0 || (size_t)n >= size)
		return;
	if (rule < ORACLE_CLAIMS)
		snprintf(buf + n, size - (size_t)n, "Escaped, victim %s: %s", r->victim, r->verdict.resource);
	else
		snprintf(buf + n, size - (size_t)n, "%s", r->nr_failures ? r->failure[0].text : run_outcome_name(r->outcome));
}

static json_t *result_json(const struct plan *p, const struct planned *r, u32 rule, const struct cli_options *o)
{
	char text[1024], hex[DIGEST_HEX_SIZE], buf[48];
	const char *level = r->result->outcome == RUN_AS_EXPECTED ? "note" : r->result->outcome == RUN_EXPLORED ? "warning" : "error";
	json_t *j;

	finding_text(r, rule, text, sizeof(text));
	fingerprint(r, rule, hex);
	j = json_pack("{s:s, s:i, s:s, s:s, s:o, s:[o], s:{s:s}, s:o, s:o}", "ruleId", rule_id(rule, buf), "ruleIndex", (int)rule,
		      "kind", "fail", "level", level, "message", message(text), "locations", location_json(r->file->path, line_of(r)),
		      "partialFingerprints", "lightiovFinding/v1", hex, "properties", properties_json(r, o),
		      "relatedLocations", related_json(p, r));
	if (r->result->nr_chain)
		json_object_set_new(j, "codeFlows", flow_json(r));
	if (r->result->outcome == RUN_AS_EXPECTED)
		json_object_set_new(j, "suppressions", json_pack("[{s:s, s:s, s:o}]", "kind", "external", "status", "accepted", "justification",
								document_text(r->row ? r->row->why : "the scenario expects it")));
	return j;
}

int report_sarif(const struct plan *p, const struct cli_options *o)
{
	json_t *results = json_array(), *doc;
	u32 i;

	for (i = 0; i < p->nr_runs; i++) {
		u32 rule = broken_rule(p->run[i].result);

		if (rule < RULES)
			json_array_append_new(results, result_json(p, &p->run[i], rule, o));
	}
	doc = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:o}}, s:[{s:b, s:i}], s:o}]}", "$schema", SCHEMA, "version", "2.1.0", "runs",
			"tool", "driver", "name", "lightiov", "rules", rules_json(),
			"invocations", "executionSuccessful", plan_exit_code(p) < CLI_USAGE, "exitCode", plan_exit_code(p), "results", results);
	return document_put(doc, o->sarif_path);
}
