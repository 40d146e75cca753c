// SPDX-License-Identifier: GPL-2.0
/*
 * The runs, in worker processes that take one after the other: one that dies of our bug takes only its own run with
 * it, and how many there are changes nothing. A process for each run would pay its pages' faults each time.
 */

#include "cli.h"
#include "report/recording.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDED_ALL	400000u	/* events that all runs together hand over to a trace, */
#define RECORDED_LEAST	1000u	/* and one at least */

#define KEPT_BYTES	(256 << 20)	/* of a worker's memory that is free */
#define MAPPED_BYTES	(32 << 20)	/* what is smaller is not mapped for itself */

struct worker {
	pid_t pid;		/* 0: there is none */
	int fd;			/* numbers of runs to it, results from it */
	bool busy;
	u32 run;
	size_t got;
};

static void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		p += n;
		len -= (size_t)n;
	}
}

u32 record_max(const struct cli_options *o, u32 nr_runs)
{
	u32 share = nr_runs ? RECORDED_ALL / nr_runs : 0;

	if (o->perfetto_path)
		return share > RECORDED_LEAST ? share : RECORDED_LEAST;
	return o->html_path ? RECORDING_SHOWN : 0;
}

/* Events go behind the result, which is ready later than they are. */
struct taken {
	struct run_result *result;
	struct recorded_event *events;
};

static void take(void *opaque, const struct recorded_event *ev)
{
	struct taken *t = opaque;
	size_t bytes = t->result->recorded.nr * sizeof(*ev);

	t->events = malloc(bytes + 1);
	if (t->events && ev)
		memcpy(t->events, ev, bytes);
	else
		t->result->recorded.nr = 0;
}

static void run_here(const struct plan *p, const struct cli_options *o, struct controls *c, const struct planned *r, u32 run, int fd)
{
	struct scenario_options opt = o->scenario;
	struct taken t = { r->result, NULL };

	/* Of many schedules no one's events are the run's: --schedule records the one that failed. */
	opt.record_max = opt.schedules ? 0 : record_max(o, p->nr_runs);
	scenario_run_recorded(r->file, r->variant, r->policy, &opt, r->row, r->result, take, &t);
	run_controls(c, r, run);
	run_with_secrets(r, o);
	write_all(fd, r->result, sizeof(*r->result));
	if (t.events)
		write_all(fd, t.events, r->result->recorded.nr * sizeof(*t.events));
	free(t.events);
}

/* The worker's side, until nothing more comes. */
static void work(const struct plan *p, const struct cli_options *o, int fd)
{
	struct controls c;
	struct planned r;
	u32 run;

	if (controls_start(&c, p, o))
		exit(1);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	while (read(fd, &run, sizeof(run)) == sizeof(run)) {
		r = p->run[run];
		r.result = calloc(1, sizeof(*r.result));
		if (!r.result)
			exit(1);
		run_here(p, o, &c, &r, run, fd);
		free(r.result);
	}
	controls_end(&c);
	exit(0);	/* not _exit: leaks and coverage of its runs are counted */
}

/* @w[0..@jobs) are its fellows: it holds no end of theirs. */
static int hire(const struct plan *p, const struct cli_options *o, struct worker *w, u32 jobs, struct worker *new)
{
	int fds[2];
	u32 i;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return -errno;
	fflush(NULL);
	new->pid = fork();
	if (new->pid < 0) {
		new->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return -errno;
	}
	if (new->pid == 0) {
		for (i = 0; i < jobs; i++)
			if (w[i].pid)
				close(w[i].fd);
		close(fds[0]);
		work(p, o, fds[1]);
	}
	close(fds[1]);
	new->fd = fds[0];
	return 0;
}

/* One that is dead does not take it, which shows where the result is read. */
static void give(struct worker *w, u32 run)
{
	w->busy = true;
	w->run = run;
	w->got = 0;
	send(w->fd, &run, sizeof(run), MSG_NOSIGNAL);
}

/* Its exit status, as waitpid() has it. */
static int dismiss(struct worker *w)
{
	int status = 0;

	close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	w->busy = false;
	return status;
}

/* A run whose process said less than a whole result died. */
static void died(const struct planned *r, int status)
{
	struct run_result *res = r->result;

	memset(res, 0, sizeof(*res));
	res->outcome = RUN_INTERNAL;
	res->policy = r->policy;
	res->nr_failures = 1;
	if (WIFSIGNALED(status))
		snprintf(res->failure[0].text, sizeof(res->failure[0].text), "%s:1: the simulator died of signal %d (%s); this is its bug, please report it",
			 r->file->path, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(res->failure[0].text, sizeof(res->failure[0].text), "%s:1: the simulator ended with %d and no result; this is its bug, please report it",
			 r->file->path, WEXITSTATUS(status));
}

/* Of a result and the events behind it: where the next bytes go, and how many are missing. */
static char *missing(struct planned *r, size_t got, size_t *len)
{
	size_t bytes;

	if (got < sizeof(*r->result)) {
		*len = sizeof(*r->result) - got;
		return (char *)r->result + got;
	}
	got -= sizeof(*r->result);
	bytes = r->result->recorded.nr * sizeof(*r->recorded);
	if (bytes && !r->recorded)
		r->recorded = malloc(bytes);
	*len = r->recorded ? bytes - got : 0;
	return (char *)r->recorded + got;
}

/* More of a result, or its end. True when the run is over. */
static bool receive(struct plan *p, struct worker *w)
{
	struct planned *r = &p->run[w->run];
	size_t len;
	char *to = missing(r, w->got, &len);
	ssize_t n = read(w->fd, to, len);

	if (n < 0 && errno == EINTR)
		return false;
	if (n <= 0) {
		free(r->recorded);
		r->recorded = NULL;
		died(r, dismiss(w));
		return true;
	}
	w->got += (size_t)n;
	missing(r, w->got, &len);
	if (len)
		return false;
	w->busy = false;
	/* No memory for its events: they are on their way, and would be taken for the next result. */
	if (r->result->recorded.nr && !r->recorded) {
		kill(w->pid, SIGKILL);
		dismiss(w);
	}
	return true;
}

/* One line: how many are done, and which was begun last. */
static void progress(const struct plan *p, u32 done, u32 next)
{
	const struct planned *r = next ? &p->run[next - 1] : NULL;

	if (!isatty(STDERR_FILENO) || getenv("CI"))
		return;
	if (r && done < p->nr_runs)
		fprintf(stderr, "\r\033[K%u of %u  %.24s %.16s %s", done, p->nr_runs, r->file->id, r->file->variant[r->variant].name,
			policy_name(r->policy));
	else
		fputs("\r\033[K", stderr);
}

/* No more runs. One that ends badly now has shown a leak, or a bug of its own. */
static int dismiss_all(struct worker *w, u32 jobs)
{
	int ret = 0;
	u32 i;

	for (i = 0; i < jobs; i++) {
		bool busy = w[i].busy;

		if (!w[i].pid)
			continue;
		if (busy)
			kill(w[i].pid, SIGKILL);
		if (dismiss(&w[i]) && !busy)
			ret = -ECHILD;
	}
	if (ret)
		fputs("lightiov: a process of the simulator ended badly after its runs; this is its bug, please report it\n", stderr);
	return ret;
}

int plan_execute(struct plan *p, const struct cli_options *o)
{
	u32 jobs = o->jobs, next = 0, done = 0, i;
	struct worker w[CLI_JOBS_MAX] = { 0 };
	struct pollfd fds[CLI_JOBS_MAX];
	int ret = 0, end;

	while (!ret && done < p->nr_runs) {
		for (i = 0; i < jobs && next < p->nr_runs && !ret; i++) {
			if (w[i].busy)
				continue;
			if (!w[i].pid)
				ret = hire(p, o, w, jobs, &w[i]);
			if (!ret)
				give(&w[i], next++);
		}
		for (i = 0; i < jobs; i++)
			fds[i] = (struct pollfd){ .fd = w[i].busy ? w[i].fd : -1, .events = POLLIN };
		progress(p, done, next);
		if (!ret && poll(fds, jobs, -1) < 0 && errno != EINTR)
			ret = -errno;
		for (i = 0; i < jobs; i++)
			if (w[i].busy && (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) && receive(p, &w[i]))
				done++;
	}
	progress(p, p->nr_runs, 0);
	end = dismiss_all(w, jobs);
	return ret ? ret : end;
}
