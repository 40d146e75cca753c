/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_EXPECTED_H
#define SIM_SCENARIO_EXPECTED_H

/*
 * The table of expected verdicts (scenarios/expected.tsv): what it says, and whether what
 * was seen agrees. Kept apart from scenarios, so that none can grade itself.
 */

#include "judge/verdict.h"

struct expected_row {
	char id[24], variant[16], attacker[16], policy[16];
	enum verdict_kind verdict;
	enum verdict_component component;
	char code[96], bound[160], why[160];
	u32 line;
};

struct expected_table {
	char path[256];
	u32 nr;
	struct expected_row *row;
};

/* Read @path. -1: @err has "file:line: what is wrong; what would be right". */
int expected_read(const char *path, struct expected_table *t, char *err, size_t err_size);
void expected_free(struct expected_table *t);

/* The row of (case, variant, policy), or NULL. */
const struct expected_row *expected_find(const struct expected_table *t, const char *id, const char *variant, const char *policy);

/* Is any row of @id there? */
bool expected_knows(const struct expected_table *t, const char *id);

/* Does @expr ('|' alternatives of '+' conjunctions) hold of the codes seen? "-" always does. */
bool expected_codes_hold(const char *expr, const struct verdict *v);

/*
 * Does each condition of @bound hold of what was measured? What does not, or is malformed, is said in @why. "-" always does.
 * @mutant: of a run with a planted bug, which breaks the condition that stands before "mutant:".
 */
struct run_measure;
bool expected_bound_holds(const char *bound, const struct run_measure *m, u32 nr, bool mutant, char *why, size_t why_size);

/* May a measure be called so? */
bool expected_name_ok(const char *name);

/* Is the syntax of a bound right? For the reader. */
bool expected_bound_parses(const char *bound, char *why, size_t why_size);

#endif
