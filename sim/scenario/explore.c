// SPDX-License-Identifier: GPL-2.0
/*
 * Exploring the schedules of a race. The machine is brought up once; from where race() begins
 * each schedule is a process of its own, forked from it, which goes on to the end of the run and
 * leaves what came of it in memory that both see. Every second schedule comes from an enumeration,
 * the others are by chance:
 *  - all combinations of what choose{} offers come first, since they cost nothing;
 *  - then one other choice than 0 at each place in turn, then two, and so on: bugs of
 *    concurrency need few preemptions (Musuvathi, Qadeer: iterative context bounding).
 * The first that fails is made smaller, and ends the search.
 */

#include "engine.h"
#include "event.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEPTH_MAX 6u		/* choices other than 0 of an enumerated schedule */
#define SHRINK_MAX 200u		/* runs to make a failure smaller */
#define EVENTS_MAX 1000000ull	/* of one schedule: more is a hang */

/* What a schedule's process says. */
struct told {
	bool whole;			/* it came to its end */
	enum run_outcome outcome;
	u64 digest;
	struct schedule schedule;	/* here, so that one that dies leaves it */
	struct run_result result;	/* where it is not as expected */
};

/* A schedule that was enumerated and run: further ones differ from it in a later choice. */
struct node {
	struct schedule_pick pick[DEPTH_MAX];
	u32 nr;
	u32 nr_choices;
	u8 *option;
};

struct explore {
	bool child;
	struct told *told;		/* shared */
	struct node *node;		/* [opt->schedules] */
	u32 nr_nodes;
	/* Where the enumeration is: what comes after node @base by @value at choice @at. */
	bool chosen;			/* all of choose{} is through */
	u32 base, at, value;
	u32 from, to;			/* nodes with one choice less than the next */
	u64 *digest;			/* [opt->schedules] */
	u32 nr_run;
	bool failed;
	struct run_result result;	/* if it failed: of the smallest schedule */
};

int explore_begin(struct run *r)
{
	u32 n = r->opt->schedules;
	struct explore *e = calloc(1, sizeof(*e));

	r->explore = e;
	if (!e)
		return -ENOMEM;
	e->node = calloc(n, sizeof(*e->node));
	e->digest = calloc(n, sizeof(*e->digest));
	e->told = mmap(NULL, sizeof(*e->told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (e->told == MAP_FAILED)
		e->told = NULL;
	if (!e->node || !e->digest || !e->told)
		return -ENOMEM;
	r->schedule = &e->told->schedule;
	return 0;
}

/* --- the enumeration --- */

static u32 after_last(const struct node *n)
{
	return n->nr ? n->pick[n->nr - 1].at + 1u : 0;
}

/* Can @value at choice @at follow @n? */
static bool follows(const struct node *n, u32 at, u32 value, bool chosen)
{
	return at >= after_last(n) && at < n->nr_choices && n->nr < DEPTH_MAX && value < (n->option[at] & 63u) &&
	       (n->option[at] >> 6 != SCHEDULE_CHOOSE) == chosen;
}

static void take(struct explore *e, const struct node *n, struct node *out)
{
	*out = *n;
	out->option = NULL;
	out->pick[out->nr++] = (struct schedule_pick){ (u16)e->at, (u8)e->value };
}

/* Every value of each choose{}, after every node there is, those made on the way included. */
static bool next_chosen(struct explore *e, struct node *out)
{
	for (; e->base < e->nr_nodes; e->base++, e->at = 0) {
		const struct node *n = &e->node[e->base];

		for (; e->at < n->nr_choices; e->at++, e->value = 0) {
			if (++e->value <= SCHEDULE_OPTIONS_MAX && follows(n, e->at, e->value, false)) {
				take(e, n, out);
				return true;
			}
		}
	}
	e->chosen = true;
	e->base = e->at = 0;
	e->value = 1;
	e->to = e->nr_nodes;
	return false;
}

/* By values, then places, then nodes: of a long race the whole length is seen early. */
static bool next_other(struct explore *e, struct node *out)
{
	for (; e->from < e->to; e->from = e->to, e->to = e->nr_nodes, e->value = 1, e->at = 0, e->base = e->from) {
		for (; e->value <= SCHEDULE_OPTIONS_MAX; e->value++, e->at = 0) {
			u32 longest = 0, i;

			for (i = e->from; i < e->to; i++)
				longest = e->node[i].nr_choices > longest ? e->node[i].nr_choices : longest;
			for (; e->at < longest; e->at++, e->base = e->from) {
				while (e->base < e->to) {
					const struct node *n = &e->node[e->base++];

					if (follows(n, e->at, e->value, true)) {
						take(e, n, out);
						return true;
					}
				}
			}
		}
	}
	return false;
}

/* The next enumerated schedule; false when there is none left. */
static bool next(struct explore *e, struct node *out)
{
	if (e->nr_nodes == 0) {
		*out = (struct node){ 0 };
		return true;
	}
	return (!e->chosen && next_chosen(e, out)) || next_other(e, out);
}

static void keep(struct explore *e, struct node *n)
{
	const struct schedule *s = &e->told->schedule;

	n->option = malloc(s->nr_choices + 1);
	if (!n->option)
		return;		/* nothing comes after it */
	memcpy(n->option, s->option, s->nr_choices);
	n->nr_choices = s->nr_choices;
	e->node[e->nr_nodes++] = *n;
}

/* --- one schedule --- */

static void died(struct run *r, struct told *t, int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	memset(&t->result, 0, sizeof(t->result));
	t->outcome = t->result.outcome = RUN_INTERNAL;
	t->result.policy = r->policy;
	t->result.seed = r->opt->seed;
	t->result.nr_failures = 1;
	snprintf(t->result.failure[0].text, sizeof(t->result.failure[0].text),
		 "%s:1: the simulator died of signal %d (%s); this is its bug, please report it", r->file->path, sig, strsignal(sig));
	schedule_text(&t->schedule, t->result.schedule);
}

/* True in the process of the schedule. In the first one: it has ended. */
static bool run_schedule(struct run *r)
{
	struct explore *e = r->explore;
	int status = 0;
	pid_t pid;

	e->told->whole = false;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		e->child = true;
		sched_limit_events(r->m->sched, r->limit_events < EVENTS_MAX ? r->limit_events : EVENTS_MAX);
		return true;
	}
	if (pid < 0) {
		run_break(r, RUN_INTERNAL, "no process for a schedule");
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!e->told->whole)
		died(r, e->told, status);
	return false;
}

static bool is_bad(enum run_outcome o)
{
	return o != RUN_AS_EXPECTED && o != RUN_EXPLORED;
}

/* Does it fail the same way without @pick[@at] to @pick[@at + @len - 1]? Then so it is from now on. True in the schedule's process. */
static bool try_without(struct run *r, struct schedule_pick *pick, u32 *nr, u32 at, u32 len, enum run_outcome outcome)
{
	struct explore *e = r->explore;
	struct schedule_pick less[SCHEDULE_PICKS_MAX];

	memcpy(less, pick, at * sizeof(*pick));
	memcpy(less + at, pick + at + len, (*nr - at - len) * sizeof(*pick));
	schedule_follow(r->schedule, less, *nr - len);
	if (run_schedule(r))
		return true;
	if (e->told->outcome == outcome && r->schedule->nr_made < *nr) {
		e->result = e->told->result;
		*nr = r->schedule->nr_made;
		memcpy(pick, r->schedule->made, *nr * sizeof(*pick));
	}
	return false;
}

/* Leave out half of its choices, a quarter, ... one after the other, from the end, as long as it still fails. */
static bool shrink(struct run *r)
{
	struct explore *e = r->explore;
	enum run_outcome outcome = e->told->outcome;
	struct schedule_pick pick[SCHEDULE_PICKS_MAX];
	u32 nr = r->schedule->nr_made, len, runs = 0;

	memcpy(pick, r->schedule->made, sizeof(pick));
	for (len = (nr + 1) / 2; len && nr; len /= 2) {
		u32 end = nr;

		while (end >= len && runs++ < SHRINK_MAX) {
			u32 before = nr;

			if (try_without(r, pick, &nr, end - len, len, outcome))
				return true;
			/* What is left may have become less than what was asked for. */
			end = nr < before ? (end - len < nr ? end - len : nr) : end - 1;
		}
	}
	return false;
}

/* Schedule number @i. True in its process. */
static bool run_number(struct run *r, u32 i)
{
	struct explore *e = r->explore;
	struct node n;
	bool listed = i % 2 == 0 && next(e, &n);

	if (listed)
		schedule_follow(r->schedule, n.pick, n.nr);
	else
		schedule_by_chance(r->schedule, r->opt->seed, i);
	if (run_schedule(r))
		return true;
	e->digest[e->nr_run++] = e->told->digest;
	if (is_bad(e->told->outcome)) {
		e->failed = true;
		e->result = e->told->result;
		return e->told->outcome != RUN_ERROR && shrink(r);
	}
	if (listed)
		keep(e, &n);
	return false;
}

void explore_race(struct run *r)
{
	struct explore *e = r->explore;
	u32 i;

	for (i = 0; e && i < r->opt->schedules && !e->failed && !r->broken; i++)
		if (run_number(r, i))
			break;
	if (e && !e->child)
		schedule_init(r->schedule);
	r->schedule->open = r->cfg.schedule != NULL;
}

/* --- the end --- */

static void tell(struct run *r)
{
	struct told *t = r->explore->told;
	char half[17] = "";

	t->outcome = r->res->outcome;
	memcpy(half, r->res->digest, sizeof(half) - 1);
	t->digest = strtoull(half, NULL, 16);
	if (is_bad(t->outcome))
		t->result = *r->res;
	t->whole = true;
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u32 count_different(struct explore *e)
{
	u32 i, n = 0;

	qsort(e->digest, e->nr_run, sizeof(e->digest[0]), by_value);
	for (i = 0; i < e->nr_run; i++)
		n += i == 0 || e->digest[i] != e->digest[i - 1];
	return n;
}

void explore_end(struct run *r)
{
	struct explore *e = r->explore;
	u32 i;

	if (!e)
		return;
	if (e->child) {
		tell(r);
		_exit(0);	/* what is buffered is the first process's to write */
	}
	if (!r->raced && !r->broken)
		run_break(r, RUN_ERROR, "no race(function() ... end) was run: there is nothing to explore");
	if (e->failed)
		*r->res = e->result;
	r->res->schedules = e->nr_run;
	r->res->schedules_different = count_different(e);
	for (i = 0; i < e->nr_nodes; i++)
		free(e->node[i].option);
	r->schedule = &r->own_schedule;
	r->cfg.schedule = NULL;
	if (e->told)
		munmap(e->told, sizeof(*e->told));
	free(e->node);
	free(e->digest);
	free(e);
	r->explore = NULL;
}
