// SPDX-License-Identifier: GPL-2.0
/* Controls of a run: the same again without some checks, each in a process that it may kill or keep busy. */

#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL_EVENTS	200000ull
#define CONTROL_TRACE	2000000ull
#define CONTROL_CPU_S	60u

struct controls {
	const struct planned *r;
	struct scenario_options opt;
};

static bool put(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n <= 0 && errno != EINTR)
			return false;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return true;
}

/* False: less came than a whole result. */
static bool get(int fd, void *data, size_t len)
{
	char *p = data;

	while (len) {
		ssize_t n = read(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

struct answer {
	struct run_result *res;
	int fd;
};

static void stuck(void *opaque, bool attacked)
{
	struct answer *a = opaque;

	memset(a->res, 0, sizeof(*a->res));
	a->res->outcome = RUN_HUNG;
	a->res->has_attack = attacked;
	_exit(put(a->fd, a->res, sizeof(*a->res)) ? 0 : 1);
}

/* In the child. What the machine complains of on its way is no message of ours. */
static void apart(struct controls *c, int fd)
{
	struct rlimit cpu = { CONTROL_CPU_S, CONTROL_CPU_S }, core = { 0, 0 };
	struct run_result *res = calloc(1, sizeof(*res));
	struct answer a = { res, fd };

	c->opt.stuck = stuck;
	c->opt.stuck_opaque = &a;
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	if (!res || !freopen("/dev/null", "w", stderr))
		_exit(1);
	scenario_run(c->r->file, c->r->variant, c->r->policy, &c->opt, NULL, res);
	_exit(put(fd, res, sizeof(*res)) ? 0 : 1);
}

/* A run that says less than a whole result died: RUN_INTERNAL. */
static void control(void *opaque, const struct control_way *way, struct run_result *out)
{
	struct controls *c = opaque;
	bool whole = false;
	int fds[2];
	pid_t pid;

	c->opt.ablate = way->without;
	c->opt.ablate_late = way->late;
	c->opt.no_attack = way->no_attack;
	fflush(NULL);
	if (pipe(fds) == 0) {
		pid = fork();
		if (pid == 0) {
			close(fds[0]);
			apart(c, fds[1]);
		}
		close(fds[1]);
		whole = pid > 0 && get(fds[0], out, sizeof(*out));
		close(fds[0]);
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (!whole) {
		memset(out, 0, sizeof(*out));
		out->outcome = RUN_INTERNAL;
	}
}

void run_controls(const struct planned *r, const struct cli_options *o)
{
	struct controls c = { r, o->scenario };

	if (o->no_controls || o->scenario.schedules || o->scenario.schedule || o->scenario.faults ||
	    (r->result->outcome != RUN_AS_EXPECTED && r->result->outcome != RUN_EXPLORED))
		return;
	/* One that goes round in circles ends after a few times as many events. */
	c.opt.limit_events = CONTROL_EVENTS + 4 * r->result->events;
	c.opt.limit_trace = CONTROL_TRACE + 100 * r->result->events;
	c.opt.record_max = 0;
	potency_examine(r->result, control, &c);
}
