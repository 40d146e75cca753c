// SPDX-License-Identifier: GPL-2.0
/*
 * Controls of a run: the same again without some checks, each in a process that it may kill, corrupt or keep busy.
 * They are forked by a process that runs nothing itself: one that did would leave them its memory to copy, page by page.
 */

#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL_EVENTS	200000ull
#define CONTROL_TRACE	2000000ull
#define CONTROL_CPU_S	60u

struct request {
	u32 run;
	u64 limit_events, limit_trace;
	struct control_way way;
};

/* What came of a control; also its process' exit status. */
enum made { MADE_RESULT, MADE_DIED, MADE_NOT };

/* In the control's process. */
static void stuck(void *opaque, bool attacked)
{
	struct run_result *shared = opaque;

	memset(shared, 0, sizeof(*shared));
	shared->outcome = RUN_HUNG;
	shared->has_attack = attacked;
	_exit(MADE_RESULT);
}

/* The same. What the machine complains of on its way is no message of ours. */
static void control(const struct plan *p, const struct cli_options *o, const struct request *q, struct run_result *shared)
{
	struct rlimit cpu = { CONTROL_CPU_S, CONTROL_CPU_S + 1 }, core = { 0, 0 };
	const struct planned *r = &p->run[q->run];
	struct run_result *res = calloc(1, sizeof(*res));
	struct scenario_options opt = o->scenario;

	opt.ablate = q->way.without;
	opt.ablate_late = q->way.late;
	opt.no_attack = q->way.no_attack;
	opt.limit_events = q->limit_events;
	opt.limit_trace = q->limit_trace;
	opt.record_max = 0;
	opt.stuck = stuck;
	opt.stuck_opaque = shared;
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &core);
	if (!res || !freopen("/dev/null", "w", stderr))
		_exit(MADE_NOT);
	scenario_run(r->file, r->variant, r->policy, &opt, NULL, res);
	*shared = *res;
	_exit(res->outcome == RUN_INTERNAL ? MADE_NOT : MADE_RESULT);	/* it had no memory */
}

/* One that is killed, by a machine without memory or by somebody, was not made. */
static u8 made(pid_t pid, int status)
{
	if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == MADE_NOT) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
		return MADE_NOT;
	return WIFEXITED(status) && WEXITSTATUS(status) == MADE_RESULT ? MADE_RESULT : MADE_DIED;
}

/* A byte of enum made for each request. */
static void serve(const struct plan *p, const struct cli_options *o, struct run_result *shared, int fd)
{
	struct request q;

	while (read(fd, &q, sizeof(q)) == sizeof(q)) {
		pid_t pid = fork();
		int status = 0;
		u8 answer;

		if (pid == 0)
			control(p, o, &q, shared);
		while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		answer = made(pid, status);
		if (write(fd, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

int controls_start(struct controls *c, const struct plan *p, const struct cli_options *o)
{
	int fds[2];

	*c = (struct controls){ .pid = 0 };
	if (o->no_controls || o->scenario.schedules || o->scenario.schedule || o->scenario.faults)
		return 0;
	c->shared = mmap(NULL, sizeof(*c->shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->shared == MAP_FAILED)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return -errno;
	fflush(NULL);
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (c->pid == 0) {
		close(fds[0]);
		serve(p, o, c->shared, fds[1]);
	}
	close(fds[1]);
	c->fd = fds[0];
	return 0;
}

void controls_end(struct controls *c)
{
	if (c->pid <= 0)
		return;
	close(c->fd);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	munmap(c->shared, sizeof(*c->shared));
}

struct asked {
	struct controls *c;
	struct request q;
};

/* One that dies: RUN_INTERNAL. One that could not be made shows nothing, and ends the process of the run. */
static void ask(void *opaque, const struct control_way *way, struct run_result *out)
{
	struct asked *a = opaque;
	u8 answer = MADE_NOT;

	a->q.way = *way;
	if (send(a->c->fd, &a->q, sizeof(a->q), MSG_NOSIGNAL) != sizeof(a->q) || read(a->c->fd, &answer, sizeof(answer)) != sizeof(answer) ||
	    answer == MADE_NOT) {
		fputs("lightiov: no process for a control\n", stderr);
		exit(1);
	}
	if (answer == MADE_RESULT) {
		*out = *a->c->shared;
		return;
	}
	memset(out, 0, sizeof(*out));
	out->outcome = RUN_INTERNAL;
}

void run_controls(struct controls *c, const struct planned *r, u32 run)
{
	struct asked a = { .c = c, .q = { .run = run } };

	if (c->pid <= 0 || (r->result->outcome != RUN_AS_EXPECTED && r->result->outcome != RUN_EXPLORED))
		return;
	/* One that goes round in circles ends after a few times as many events. */
	a.q.limit_events = CONTROL_EVENTS + 4 * r->result->events;
	a.q.limit_trace = CONTROL_TRACE + 100 * r->result->events;
	potency_examine(r->result, ask, &a);
}
