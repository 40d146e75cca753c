/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_CLI_CLI_H
#define SIM_CLI_CLI_H

/*
 * The lightiov command: what its sub-commands share. stdout is the result, stderr all else.
 */

#include "scenario/scenario.h"

#include <stdio.h>
#include <sys/types.h>

enum exit_code {
	CLI_OK = 0,		/* as expected */
	CLI_DIFFERS = 1,	/* a verdict or check differs */
	CLI_USAGE = 2,		/* usage, or a scenario's mistake */
	CLI_LIVENESS = 3,	/* no end within the bounds */
	CLI_BUG = 70,		/* ours */
	CLI_SKIPPED = 77	/* nothing to run */
};

#define CLI_PATHS_MAX	256
#define CLI_JOBS_MAX	256
#define CLI_SCHEDULES_MAX 100000
#define CLI_REPLAY_MAX	(16384 + SCHEDULE_TEXT_MAX)	/* with two paths, and all sites */

struct cli_options {
	const char *command;
	const char *path[CLI_PATHS_MAX];
	u32 nr_paths;
	u32 policies;			/* bit: enum liov_policy */
	const char *variant;		/* NULL: all */
	const char *expected;		/* NULL: looked for */
	struct scenario_options scenario;
	u32 jobs;
	bool json, hot, quiet, verbose;
	bool why, no_controls, sites, noninterference;
	const char *json_path;		/* NULL: stdout */
	const char *junit_path, *sarif_path, *html_path, *perfetto_path;
	u64 ios;			/* bench */
};

/* Returns -1 to go on, else the exit code. @takes: letters of the option groups that the command has. */
int options_parse(int argc, char **argv, struct cli_options *o);

/* One run that is to be made, and what came of it. */
struct planned {
	const struct scenario_file *file;
	u32 variant;
	enum liov_policy policy;
	const struct expected_row *row;
	struct run_result *result;
	struct recorded_event *recorded;	/* [result->recorded.nr]; NULL: not asked for, or lost */
};

struct plan {
	struct scenario_file *file;
	u32 nr_files;
	struct planned *run;
	u32 nr_runs;
	struct expected_table *table;	/* [nr_tables] */
	u32 nr_tables;
	u32 nr_mistakes;		/* files and folders that could not be read */
};

/* Find and read the scenarios of @o, in the order of their paths; complains on stderr. 0, or an exit code. */
int plan_make(struct plan *p, const struct cli_options *o);
void plan_free(struct plan *p);

/* Make all runs, in @o->jobs processes. 0 or -errno. */
int plan_execute(struct plan *p, const struct cli_options *o);

/* control.c: who makes controls, if @o asks for them: started in the process of the runs before the first of them. 0 or -errno. */
struct controls {
	struct run_result *shared;	/* of the control made last */
	int fd;
	pid_t pid;			/* 0: no controls */
};
int controls_start(struct controls *c, const struct plan *p, const struct cli_options *o);
void controls_end(struct controls *c);
/* After run number @run, if it is as expected: its controls, each in a process of its own. */
void run_controls(struct controls *c, const struct planned *r, u32 run);

/* noninterference.c: after a run, in its process: twice more, with other secrets of the victims the second time. */
void run_with_secrets(const struct planned *r, const struct cli_options *o);
/* After all runs: what interferes stands in known-leaks, beside the table, and what stands there interferes. 0, or an exit code. */
int plan_check_leaks(struct plan *p, const struct cli_options *o);
/* "same view", "LEAK: ...", and what the times tell. */
void nonint_text(const struct noninterference *n, char *buf, size_t size);
const char *nonint_kind_name(enum nonint_kind k);

/* potency.c: the controls of a verdict that a component is credited with; a verdict that proves nothing becomes INERT. */
struct control_way {
	struct site_set without;
	bool late;		/* ... from where the attack begins */
	bool no_attack;
};

typedef void (*potency_run_fn)(void *opaque, const struct control_way *way, struct run_result *out);
void potency_examine(struct run_result *base, potency_run_fn run, void *opaque);

/* What all outcomes together mean. */
int plan_exit_code(const struct plan *p);

/* Of the events of @nr_runs runs, how many each hands over for the reports that @o asks for; 0: none. */
u32 record_max(const struct cli_options *o, u32 nr_runs);

/* The class of attacks that a case is of: "LBA" of "LBA-01"; else its first tag. */
void scenario_class(const struct scenario_file *file, char out[24]);

/* The command that repeats a run. */
void replay_command(const struct planned *r, const struct cli_options *o, char *buf, size_t size);

/* term.c: what was seen, short ("contained by mediator 0/0x80", "ESCAPED (VM B, lba)"); the code that says most, or "". */
void run_seen(const struct planned *p, bool brief, char *buf, size_t size);
const char *run_code(const struct run_result *r);

/* report/, a file each. Those that write files: 0 or -errno. */
void report_runs(const struct plan *p, const struct cli_options *o, FILE *f);
void report_matrix(const struct plan *p, const struct cli_options *o, FILE *f);
void report_list(const struct plan *p, FILE *f);
void report_sites(FILE *f);
/* The chain behind the verdict of one run. */
void report_why(const struct planned *p, FILE *f);
int report_json(const struct plan *p, const struct cli_options *o);
int report_json_list(const struct plan *p, const struct cli_options *o);
int report_junit(const struct plan *p, const struct cli_options *o);
int report_sarif(const struct plan *p, const struct cli_options *o);
int report_html(const struct plan *p, const struct cli_options *o);
int report_perfetto(const struct plan *p, const struct cli_options *o);

int command_run(const struct cli_options *o);
int command_matrix(const struct cli_options *o);
int command_list(const struct cli_options *o);
int command_bench(const struct cli_options *o);

#endif
