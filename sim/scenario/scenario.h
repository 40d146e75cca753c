/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_SCENARIO_H
#define SIM_SCENARIO_SCENARIO_H

/*
 * A scenario file: a header that says what it is and which machine it wants, and run(m) or
 * several variants of it. One run is (file, variant, policy) on a fresh machine. Results
 * hold no pointers, so that a run may happen in another process.
 */

#include "judge/verdict.h"
#include "liov/liov.h"
#include "expected.h"
#include "report/view.h"
#include "schedule.h"
#include "secret.h"
#include "sites.h"

#define SCENARIO_VARIANTS_MAX	16
#define SCENARIO_TAGS_MAX	8
#define SCENARIO_ERROR_MAX	512
#define RESULT_FAILURES_MAX	16
#define RESULT_VIOLATIONS_MAX	16
#define RESULT_MEASURES_MAX	64
#define RESULT_CHAIN_MAX	48
#define RESULT_LOG_BYTES	4096
#define RESULT_VMS_MAX		16

struct scenario_variant {
	char name[16];		/* "-": run(m) itself */
	char about[240];
	char attacker[16];
	u32 policies;		/* bit: enum liov_policy */
};

struct scenario_file {
	char path[256];
	char id[24], name[80], about[240], attacker[16];
	char tag[SCENARIO_TAGS_MAX][24];
	u32 nr_tags;
	bool benign;		/* tagged so */
	u32 nr_variants;
	struct scenario_variant variant[SCENARIO_VARIANTS_MAX];
};

struct scenario_options {
	u64 seed;
	bool content_bytes;
	u32 record_max;		/* events to hand over; 0: none */
	u64 faults;			/* seed of late DMA and interrupts; 0: none */
	u32 schedules;			/* explore so many; 0: one run, as @schedule says */
	const char *schedule;		/* "12.1,87.3"; NULL: the order by default */
	struct site_set ablate;	/* sites that are left out */
	bool ablate_late;	/* from where the first attack begins */
	bool no_attack;		/* what stands inside attack() and configure() is not done */
	u64 limit_events;	/* 0: the scenario's own */
	const struct secret *secret;	/* NULL: all as it is */
	struct view *view;	/* to see the run with; NULL: none */
	/* Above so many events of the trace @stuck is called, where one event of the simulation may never end; it does not return. */
	u64 limit_trace;
	void (*stuck)(void *opaque, bool attacked);
	void *stuck_opaque;
};

enum run_outcome {
	RUN_AS_EXPECTED,
	RUN_DIFFERS,		/* a verdict or a check */
	RUN_EXPLORED,		/* nothing was expected: evidence only */
	RUN_HUNG,		/* no end within the bounds */
	RUN_ERROR,		/* the scenario's mistake, or the machine it asks for */
	RUN_INTERNAL,		/* our bug */
};

struct run_failure {
	char text[SCENARIO_ERROR_MAX];	/* "file:line: seen; expected" */
};

struct run_violation {
	char claim[24], by[24], victim[24], what[160];
	u64 time_ps, io_id;
};

/* What a recording that was asked for holds; its events follow the result. */
struct run_recorded {
	u64 seen, in_attack;			/* events of the run; of its attack */
	u32 nr;
	u32 nr_vms;
	char vm[RESULT_VMS_MAX][24];		/* names, by id */
};

struct run_measure {
	char name[48];
	s64 micro;		/* value in millionths */
};

/* A control: the same run without some of the sites. See sim/cli/potency.c for what harm is. */
struct run_control {
	struct site_set without, met;	/* met: what refused then, or was stepped through for the first time */
	bool late;		/* left out from where the attack begins: what came before needed them */
	bool harm;
	bool reached;		/* ... and it is that what is another's was reached */
	char gave[160];		/* "ESCAPED (VM B, lba)", "still contained by mediator", in words */
};

#define RESULT_CONTROLS_MAX 128

/* What stands behind a "contained by X". */
struct potency {
	bool asked;		/* controls were run */
	bool potent;		/* without @by there is harm */
	struct site_set by;	/* the smallest set found */
	u32 nr_controls;
	struct run_control control[RESULT_CONTROLS_MAX];
};

/* Was the attacker's view the same with other secrets of its victims? See report/view.h. */
enum nonint_kind {
	NONINT_NOT_ASKED,
	NONINT_NO_ATTACKER,	/* nobody attacks from a VM: a configuration, or no attack */
	NONINT_SAME,
	NONINT_ORDER,		/* but for the order of completions, which is time's */
	NONINT_LEAK,
	NONINT_ESCAPED,		/* it is no secret any more: scenarios/known-escapes */
	NONINT_NOTHING_SECRET,	/* no secret of the victims' was another: nothing is shown */
	NONINT_FAILED,		/* the run with other secrets did not come to its end */
};

struct noninterference {
	enum nonint_kind kind;
	bool known;		/* a leak that is listed, with this reason */
	char why[160];
	struct view_comparison seen;
};

struct run_result {
	enum run_outcome outcome;
	enum liov_policy policy;
	u64 seed;
	bool has_attack;
	struct verdict verdict;
	char victim[24];			/* name of verdict.victim */
	bool has_expected;
	struct expected_row expected;
	u32 nr_failures, nr_violations, nr_measures, nr_chain;
	u64 violations_seen;
	struct run_failure failure[RESULT_FAILURES_MAX];
	struct run_violation violation[RESULT_VIOLATIONS_MAX];
	struct run_measure measure[RESULT_MEASURES_MAX];
	char chain[RESULT_CHAIN_MAX][200];	/* events of the I/O that the verdict names, in words */
	u64 chain_io_id;
	char digest[33];
	u64 time_ps, events, cpu_exits;
	u64 attack_ps, attack_exits;		/* while the attack's span was open */
	u32 attack_line;			/* of the scenario's file; 0: none */
	struct run_recorded recorded;
	char log[RESULT_LOG_BYTES];
	/* Schedules explored; @schedule: what this result is of, empty without one. */
	u32 schedules, schedules_different;
	char schedule[SCHEDULE_TEXT_MAX];
	u64 attackers;		/* bit: VM id */
	struct run_place place[SECRET_VMS_MAX];
	struct site_set refused, taken, met;	/* as sites_met(), sites_met_ever() */
	struct potency potency;
	struct noninterference nonint;
};

/* Read the header. -1: @err has "file:line: what is wrong; what would be right". */
int scenario_read(const char *path, struct scenario_file *out, char err[SCENARIO_ERROR_MAX]);
/* The same of what stands in memory; @name stands for its path in messages. */
int scenario_read_text(const char *name, const char *text, size_t len, struct scenario_file *out, char err[SCENARIO_ERROR_MAX]);

/*
 * Run variant number @variant under @policy and judge it by @expected (NULL: explore). Mistakes
 * are an outcome and a failure with their text. @taken is called at the end with the
 * @out->recorded.nr events that opt->record_max asked for, if it did; they live during the call only.
 */
struct recorded_event;
void scenario_run_recorded(const struct scenario_file *file, u32 variant, enum liov_policy policy, const struct scenario_options *opt,
			   const struct expected_row *expected, struct run_result *out,
			   void (*taken)(void *opaque, const struct recorded_event *ev), void *opaque);
void scenario_run(const struct scenario_file *file, u32 variant, enum liov_policy policy, const struct scenario_options *opt,
		  const struct expected_row *expected, struct run_result *out);

const char *policy_name(enum liov_policy p);
/* LIOV_POLICIES when there is none of that name. */
enum liov_policy policy_from_name(const char *name);
const char *run_outcome_name(enum run_outcome o);

#endif
