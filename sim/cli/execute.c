// SPDX-License-Identifier: GPL-2.0
/*
 * Each run in a process of its own: one that dies of our bug takes no other with it, and
 * how many run at a time changes nothing. Results come back through pipes.
 */

#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
	pid_t pid;		/* 0: free */
	int fd;
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

static int start(struct plan *p, const struct cli_options *o, struct worker *w, u32 run)
{
	const struct planned *r = &p->run[run];
	int fds[2];

	if (pipe(fds))
		return -errno;
	fflush(NULL);
	w->pid = fork();
	if (w->pid < 0) {
		w->pid = 0;
		close(fds[0]);
		close(fds[1]);
		return -errno;
	}
	if (w->pid == 0) {
		close(fds[0]);
		scenario_run(r->file, r->variant, r->policy, &o->scenario, r->row, r->result);
		write_all(fds[1], r->result, sizeof(*r->result));
		exit(0);	/* not _exit: leaks and coverage of the run are counted */
	}
	close(fds[1]);
	w->fd = fds[0];
	w->run = run;
	w->got = 0;
	return 0;
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

/* More of a result, or its end. True when the worker is free again. */
static bool receive(struct plan *p, struct worker *w)
{
	struct run_result *res = p->run[w->run].result;
	int status = 0;
	ssize_t n = read(w->fd, (char *)res + w->got, sizeof(*res) - w->got);

	if (n < 0 && errno == EINTR)
		return false;
	if (n > 0) {
		w->got += (size_t)n;
		if (w->got < sizeof(*res))
			return false;
	}
	close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (w->got < sizeof(*res) || !WIFEXITED(status) || WEXITSTATUS(status))
		died(&p->run[w->run], status);
	w->pid = 0;
	return true;
}

static void progress(const struct plan *p, u32 done, bool end)
{
	if (isatty(STDERR_FILENO) && !getenv("CI"))
		fprintf(stderr, end ? "\r\033[K" : "\r\033[K%u of %u", done, p->nr_runs);
}

int plan_execute(struct plan *p, const struct cli_options *o)
{
	u32 jobs = o->jobs, next = 0, done = 0, i;
	struct worker *w = calloc(jobs, sizeof(*w));
	struct pollfd *fds = calloc(jobs, sizeof(*fds));
	int ret = w && fds ? 0 : -ENOMEM;

	while (!ret && done < p->nr_runs) {
		for (i = 0; i < jobs && next < p->nr_runs && !ret; i++)
			if (!w[i].pid)
				ret = start(p, o, &w[i], next++);
		for (i = 0; i < jobs; i++)
			fds[i] = (struct pollfd){ .fd = w[i].pid ? w[i].fd : -1, .events = POLLIN };
		progress(p, done, false);
		if (!ret && poll(fds, jobs, -1) < 0 && errno != EINTR)
			ret = -errno;
		for (i = 0; i < jobs; i++)
			if (w[i].pid && (fds[i].revents & (POLLIN | POLLHUP | POLLERR)) && receive(p, &w[i]))
				done++;
	}
	progress(p, done, true);
	for (i = 0; w && i < jobs; i++) {
		if (w[i].pid) {
			kill(w[i].pid, SIGKILL);
			waitpid(w[i].pid, NULL, 0);
			close(w[i].fd);
		}
	}
	free(w);
	free(fds);
	return ret;
}
