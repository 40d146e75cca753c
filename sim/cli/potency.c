// SPDX-License-Identifier: GPL-2.0
/*
 * Is a verdict potent? "contained by X" means something only if without X there would be harm. So
 * the run is repeated without X's sites: the checks that refused in the attack's span, and the
 * steps that were taken. The smallest set whose absence does harm is what the verdict is due to: X's
 * sites, or, where the table names others that would stop it too ([also Y]), X's and theirs. A verdict
 * without harm behind it is INERT.
 *
 * Harm of a control, against the run as it is:
 *  1. the oracle sees an escape, or a violation that it did not see before;
 *  2. an expectation of the scenario, or a workload's check of its data, does not hold, and
 *     nobody refused whom the row names beside X: his refusal has another status, no more;
 *  3. the simulator does not survive it: what a check kept in range was out of range in the model;
 *  4. it does not end: what a check bounded is not;
 *  5. the row's code is not seen any more, and none whom the row names refused in its place: a
 *     wrong status;
 *  6. the IOMMU had to block what it never saw before, and the row does not name it: DMA that
 *     should not be;
 *  7. the row's bound does not hold;
 *  8. what had to be rejected was accepted.
 * That the script itself cannot go on (RUN_ERROR), or never comes to the attack, is none: it says
 * nothing of the attack. Nor is what happens without the attack as well: a machine that does not work
 * without a step shows nothing of who that step keeps out.
 */

#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_MAX 6u		/* a check left out may show the one behind it */

struct examination {
	struct run_result *base;
	struct run_result *seen;	/* of the last control */
	struct run_result *innocent;	/* of the run without its attack; NULL: not run yet */
	potency_run_fn run;
	void *opaque;
	bool beside;			/* the row names others */
};

/* A set of components: bit of enum verdict_component. */
static u32 component_bit(const char *name, size_t len)
{
	int c;

	for (c = COMPONENT_FRONTEND; c <= COMPONENT_CONTROLLER; c++) {
		const char *n = verdict_component_name((enum verdict_component)c);

		if (strlen(n) == len && memcmp(n, name, len) == 0)
			return 1u << c;
	}
	return 0;
}

/* "... [also irte, backend]" of a row's reason. */
static u32 also_of(const char *why)
{
	const char *at = strstr(why, "[also ");
	u32 mask = 0;

	if (!at)
		return 0;
	for (at += 6; *at && *at != ']';) {
		size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyz");

		mask |= component_bit(at, n);
		at += n ? n : 1;
	}
	return mask;
}

/* Of @from those that belong to @components. */
static struct site_set of_components(const struct site_set *from, u32 components)
{
	struct site_set out = { { 0 } };
	u32 i;

	for (i = 0; i < site_count(); i++) {
		const char *name = site_at(i)->component;

		if (site_set_has(from, i) && (component_bit(name, strlen(name)) & components))
			site_set_add(&out, i);
	}
	return out;
}

static struct site_set joined(const struct site_set *a, const struct site_set *b)
{
	struct site_set out;
	u32 i;

	for (i = 0; i < SITES_MAX / 64; i++)
		out.bit[i] = a->bit[i] | b->bit[i];
	return out;
}

static bool same(const struct site_set *a, const struct site_set *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Did one of the row's own act again: the one credited by a refusal, those named beside it in any way? */
static bool named_acts(const struct run_result *base, const struct verdict *v)
{
	u32 also = also_of(base->expected.why), i;

	for (i = 0; i < v->nr_evidence; i++) {
		const struct evidence *e = &v->evidence[i];

		if ((e->kind == EVIDENCE_REFUSED && e->component == base->verdict.component) || (also & 1u << e->component))
			return true;
	}
	return false;
}

/* Did one who is named beside the one credited refuse? Then isolation held by him, with a status of his. */
static bool beside_refused(const struct run_result *base, const struct verdict *v)
{
	u32 also = base->has_expected ? also_of(base->expected.why) : 0, i;

	for (i = 0; i < v->nr_evidence; i++)
		if (v->evidence[i].kind == EVIDENCE_REFUSED && (also & 1u << v->evidence[i].component))
			return true;
	return false;
}

/* A fault reason that only the control has. */
static const char *new_fault(const struct run_result *base, const struct verdict *v)
{
	u32 i, k;

	for (i = 0; i < v->nr_codes; i++) {
		if (strncmp(v->code[i], "vtd:", 4) && strncmp(v->code[i], "csts:", 5))
			continue;
		for (k = 0; k < base->verdict.nr_codes && strcmp(base->verdict.code[k], v->code[i]); k++)
			;
		if (k == base->verdict.nr_codes)
			return v->code[i];
	}
	return NULL;
}

static bool harm_of_row(const struct run_result *base, const struct run_result *r, char *gave, size_t size)
{
	const struct expected_row *row = &base->expected;
	/* The backend stands for the home's mappings, too. */
	u32 iommu = 1u << COMPONENT_IOMMU | 1u << COMPONENT_IRTE | 1u << COMPONENT_BACKEND;
	const char *fault = new_fault(base, &r->verdict);
	char why[120];

	if (!base->has_expected)
		return false;
	if (base->verdict.kind == VERDICT_REJECTED && r->verdict.kind != VERDICT_REJECTED) {
		snprintf(gave, size, "the configuration was accepted");
		return true;
	}
	if (!expected_bound_holds(row->bound, r->measure, r->nr_measures, strcmp(row->variant, "mutant") == 0, why, sizeof(why))) {
		snprintf(gave, size, "bound: %s", why);
		return true;
	}
	if (!expected_codes_hold(row->code, &r->verdict) && !named_acts(base, &r->verdict)) {
		snprintf(gave, size, "%.60s is seen no more (now %s)", row->code, r->verdict.nr_codes ? r->verdict.code[0] : "none");
		return true;
	}
	if (fault && !((also_of(row->why) | 1u << base->verdict.component) & iommu)) {
		snprintf(gave, size, "DMA that should not be: %s", fault);
		return true;
	}
	return false;
}

/* Did the control do harm that the base did not? @gave: what it was, or why there was none. */
static bool harm_of(const struct run_result *base, const struct run_result *r, char *gave, size_t size)
{
	const char *place;

	if (r->verdict.kind == VERDICT_ESCAPED && r->outcome != RUN_INTERNAL) {
		snprintf(gave, size, "ESCAPED (%s%s, %s)", strcmp(r->victim, "host") && strcmp(r->victim, "nobody") ? "VM " : "", r->victim,
			 oracle_claim_name(r->verdict.claim));
		return true;
	}
	if (r->violations_seen > base->violations_seen) {
		snprintf(gave, size, "the oracle saw a violation (%s)", r->nr_violations ? r->violation[0].claim : "-");
		return true;
	}
	switch (r->outcome) {
	case RUN_INTERNAL:
		snprintf(gave, size, "out of range: the simulator did not survive it");
		return true;
	case RUN_HUNG:
		if (!r->has_attack) {
			snprintf(gave, size, "no harm: it did not come to the attack");
			return false;
		}
		snprintf(gave, size, "it does not end");
		return true;
	case RUN_ERROR:
		snprintf(gave, size, "the script could not go on: %.110s", r->nr_failures ? r->failure[0].text : "");
		return false;
	default:
		break;
	}
	if (r->nr_failures > base->nr_failures && !beside_refused(base, &r->verdict)) {
		place = strstr(r->failure[0].text, ".lua:");
		while (place && place > r->failure[0].text && place[-1] != '/')
			place--;
		snprintf(gave, size, "%.150s", place ? place : r->failure[0].text);
		return true;
	}
	if (harm_of_row(base, r, gave, size))
		return true;
	snprintf(gave, size, "no harm: %s by %s", verdict_kind_name(r->verdict.kind), verdict_component_name(r->verdict.component));
	return false;
}

static bool is_broken(const struct run_result *r, const struct run_result *innocent)
{
	return r->violations_seen > innocent->violations_seen || r->nr_failures > innocent->nr_failures || r->outcome == RUN_INTERNAL ||
	       r->outcome == RUN_HUNG || r->outcome == RUN_ERROR;
}

/* The attack left out, is the machine in order with these sites? Where the script cannot go on without it, nobody knows. */
static bool breaks_anyway(struct examination *x, const struct site_set *without, bool late)
{
	struct control_way way = { .no_attack = true };

	if (!x->innocent) {
		x->innocent = calloc(1, sizeof(*x->innocent));
		if (!x->innocent)
			return false;
		x->run(x->opaque, &way, x->innocent);
	}
	if (is_broken(x->innocent, x->innocent))
		return false;
	way.without = *without;
	way.late = late;
	x->run(x->opaque, &way, x->seen);
	return is_broken(x->seen, x->innocent);
}

static void run_control(struct examination *x, struct run_control *c, bool late)
{
	struct control_way way = { .without = c->without, .late = late };
	u32 i;

	x->run(x->opaque, &way, x->seen);
	c->late = late;
	c->harm = harm_of(x->base, x->seen, c->gave, sizeof(c->gave));
	c->reached = c->harm && (x->seen->verdict.kind == VERDICT_ESCAPED || x->seen->violations_seen > x->base->violations_seen);
	for (i = 0; i < SITES_MAX / 64; i++)
		c->met.bit[i] |= x->seen->refused.bit[i] | (x->seen->taken.bit[i] & ~x->base->taken.bit[i]);
}

/*
 * The control without these; each set is run once, and once more from the attack on where what comes
 * before it needs them. NULL: there is none.
 */
static const struct run_control *control_of(struct examination *x, const struct site_set *without)
{
	struct potency *p = &x->base->potency;
	struct run_control *c;
	bool unfit;
	u32 i;

	for (i = 0; i < p->nr_controls; i++)
		if (same(&p->control[i].without, without))
			return &p->control[i];
	if (p->nr_controls == RESULT_CONTROLS_MAX || site_set_size(without) == 0)
		return NULL;
	c = &p->control[p->nr_controls++];
	c->without = *without;
	run_control(x, c, false);
	unfit = c->harm ? breaks_anyway(x, without, false) : !x->seen->has_attack;
	if (unfit) {
		run_control(x, c, true);
		if (c->harm && breaks_anyway(x, without, true)) {
			c->harm = false;
			snprintf(c->gave, sizeof(c->gave), "no harm of the attack's: without it as well");
		}
	}
	return c;
}

static bool harms(struct examination *x, const struct site_set *without)
{
	const struct run_control *c = control_of(x, without);

	return c && c->harm;
}

/* One alone of @from, the first that does. */
static bool one_harms(struct examination *x, const struct site_set *from, struct site_set *by)
{
	u32 i;

	for (i = 0; i < site_count(); i++) {
		struct site_set one = { { 0 } };

		if (!site_set_has(from, i))
			continue;
		site_set_add(&one, i);
		if (harms(x, &one)) {
			*by = one;
			return true;
		}
	}
	return false;
}

/* What does no harm when it is put back, is put back. */
static void shrink(struct examination *x, struct site_set *by)
{
	u32 i;

	/* From the last, the host's own steps, to the first. */
	for (i = site_count(); i-- > 0 && site_set_size(by) > 1;) {
		struct site_set less = *by;

		if (!site_set_has(by, i))
			continue;
		less.bit[i / 64] &= ~(1ull << (i % 64));
		if (harms(x, &less))
			*by = less;
	}
}

/* All that refused, and what refuses then in its place. */
static bool all_harm(struct examination *x, u32 components, struct site_set *by)
{
	struct site_set without = of_components(&x->base->refused, components), more;
	u32 round;

	for (round = 0; round < ROUNDS_MAX; round++) {
		const struct run_control *c = control_of(x, &without);

		if (!c)
			return false;
		if (c->harm) {
			*by = without;
			shrink(x, by);
			return true;
		}
		more = of_components(&c->met, components);
		more = joined(&more, &without);
		if (same(&more, &without))
			return false;
		without = more;
	}
	return false;
}

static bool checks_harm(struct examination *x, u32 components, struct site_set *by)
{
	struct site_set refused = of_components(&x->base->refused, components);

	return one_harms(x, &refused, by) || all_harm(x, components, by);
}

/* The checks that refused, and one step of @steps: the wall behind them. */
static bool wall_harms(struct examination *x, const struct site_set *refused, const struct site_set *steps, struct site_set *by)
{
	struct site_set both;
	u32 i;

	for (i = 0; i < site_count(); i++) {
		if (!site_set_has(steps, i))
			continue;
		both = *refused;
		site_set_add(&both, i);
		if (harms(x, &both)) {
			*by = both;
			shrink(x, by);
			return true;
		}
	}
	return false;
}

/* Two walls, of the one credited and of the backend, each enough: what stands between is taken away with both. */
static bool walls_harm(struct examination *x, u32 components, const struct site_set *refused, const struct site_set *steps, struct site_set *by)
{
	struct site_set own = of_components(&x->base->taken, components & ~(1u << COMPONENT_BACKEND)), with;
	u32 i;

	if (wall_harms(x, refused, steps, by))
		return true;
	for (i = 0; i < site_count(); i++) {
		with = *refused;
		site_set_add(&with, i);
		if (site_set_has(&own, i) && wall_harms(x, &with, steps, by))
			return true;
	}
	return false;
}

/* One of many steps that are left out can hide the harm of the rest: it is put back. */
static bool all_but_one_harm(struct examination *x, struct site_set *all)
{
	struct site_set less;
	u32 i;

	for (i = site_count(); i-- > 0;) {
		if (!site_set_has(all, i))
			continue;
		less = *all;
		less.bit[i / 64] &= ~(1ull << (i % 64));
		if (harms(x, &less)) {
			*all = less;
			return true;
		}
	}
	return false;
}

/*
 * Where checks do no harm. Beside others who said no did it by a check: of the steps the backend's are
 * looked at, whose walls stand before anybody runs into them.
 */
static bool steps_harm(struct examination *x, u32 components, struct site_set *by)
{
	struct site_set refused = of_components(&x->base->refused, components), taken, all;
	u32 named = components;

	if (site_set_size(&refused) && x->beside)
		components &= 1u << COMPONENT_BACKEND;
	taken = of_components(&x->base->taken, components);
	if (!x->beside && (one_harms(x, &taken, by) || wall_harms(x, &refused, &taken, by)))
		return true;
	if (x->beside && walls_harm(x, named, &refused, &taken, by))
		return true;
	all = joined(&refused, &taken);
	if (!harms(x, &all) && !all_but_one_harm(x, &all))
		return false;
	*by = all;
	shrink(x, by);
	return true;
}

static void differs(struct run_result *r, const char *what, const struct site_set *s)
{
	char names[200];

	site_set_text(s, names, sizeof(names));
	if (r->nr_failures < RESULT_FAILURES_MAX)
		snprintf(r->failure[r->nr_failures++].text, sizeof(r->failure[0].text), "%s%s", what, names);
	r->outcome = RUN_DIFFERS;
}

/* Where nothing was expected nothing is failed: the controls are shown, no more. */
static void inert(struct run_result *r)
{
	const struct potency *p = &r->potency;
	char what[300];

	if (r->outcome == RUN_EXPLORED)
		return;
	snprintf(what, sizeof(what), "INERT: nothing shows that %s stopped it; %u controls, the last: %s; without ",
		 verdict_component_name(r->verdict.component), p->nr_controls, p->nr_controls ? p->control[p->nr_controls - 1].gave : "none, for no site of it was met");
	differs(r, what, p->nr_controls ? &p->control[p->nr_controls - 1].without : &(struct site_set){ { 0 } });
	r->verdict.kind = VERDICT_INERT;
}

/* Of several that are named each alone contains: nothing of another's is reached without the one that is credited. */
static void alone(struct examination *x, u32 self)
{
	const struct potency *p = &x->base->potency;
	struct site_set own = of_components(&p->by, self);
	const struct run_control *c = same(&own, &p->by) ? control_of(x, &p->by) : NULL;

	if (c && c->harm && c->reached)
		differs(x->base, "the table says [also ...], but what is another's is reached without: ", &p->by);
}

static bool is_credited(const struct run_result *r)
{
	return r->has_attack && r->verdict.component != COMPONENT_NONE &&
	       (r->verdict.kind == VERDICT_CONTAINED || r->verdict.kind == VERDICT_REJECTED);
}

void potency_examine(struct run_result *base, potency_run_fn run, void *opaque)
{
	struct examination x = { .base = base, .run = run, .opaque = opaque, .seen = calloc(1, sizeof(*base)) };
	struct potency *p = &base->potency;
	u32 self = 1u << base->verdict.component, also = base->has_expected ? also_of(base->expected.why) : 0;
	bool waived;

	if (!is_credited(base) || !x.seen) {
		free(x.seen);
		return;
	}
	p->asked = true;
	x.beside = also != 0;
	/* A row may say that there is no control, and why; then no check may do harm by its absence. */
	waived = base->has_expected && strstr(base->expected.why, "[no control]");
	p->potent = checks_harm(&x, self, &p->by) || (also && checks_harm(&x, self | also, &p->by)) ||
		    (!waived && steps_harm(&x, self | also, &p->by));
	if (p->potent && also)
		alone(&x, self);
	if (p->potent && waived)
		differs(base, "the table says [no control], but there is harm without: ", &p->by);
	else if (!p->potent && !waived)
		inert(base);
	free(x.innocent);
	free(x.seen);
}
