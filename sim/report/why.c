// SPDX-License-Identifier: GPL-2.0
/* The chain behind a verdict: what was seen, which checks and steps that met, and what came of leaving them out. */

#include "cli/cli.h"

void report_sites(FILE *f)
{
	u32 i;

	for (i = 0; i < site_count(); i++)
		fprintf(f, "%-28s %-10s %s\n", site_at(i)->name, site_at(i)->component, site_at(i)->what);
}

static void put_set(FILE *f, const char *label, const struct site_set *s)
{
	char names[600];

	if (!site_set_size(s))
		return;
	site_set_text(s, names, sizeof(names));
	fprintf(f, "      %-9s %s\n", label, names);
}

void report_why(const struct planned *p, FILE *f)
{
	const struct run_result *r = p->result;
	const struct potency *po = &r->potency;
	char names[600];
	u32 i;

	for (i = 0; i < r->verdict.nr_evidence && i < 8; i++)
		fprintf(f, "      %-9s %s %s\n", evidence_kind_name(r->verdict.evidence[i].kind),
			verdict_component_name(r->verdict.evidence[i].component), r->verdict.evidence[i].text);
	put_set(f, "checks", &r->refused);
	for (i = 0; i < po->nr_controls; i++) {
		site_set_text(&po->control[i].without, names, sizeof(names));
		fprintf(f, "      %-9s %s%s: %s\n", "without", names, po->control[i].late ? ", from the attack on" : "", po->control[i].gave);
	}
	for (i = 0; po->potent && i < site_count(); i++)
		if (site_set_has(&po->by, i))
			fprintf(f, "      %-9s %s (%s): %s\n", "due to", site_at(i)->name, site_at(i)->component, site_at(i)->what);
}
