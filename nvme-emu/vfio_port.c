// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "vfio_port.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	stop |= signal != SIGALRM;
}

/* Ends arrive only while we wait. The alarm interrupts a write that does not end. */
static void catch_signals(sigset_t *while_waiting)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t blocked;

	stop = 0;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sigaddset(&blocked, ends[i]);
		sigaction(ends[i], &sa, NULL);
	}
	sigaction(SIGALRM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &blocked, while_waiting);
}

/* Each client has eventfds and memory that are open here. */
static void raise_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

int vfio_port_open(struct vfio_port *p)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct stat st;

	if (strlen(p->path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(addr.sun_path, p->path);
	p->listen = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->listen < 0)
		return -1;
	if (!lstat(p->path, &st) && S_ISSOCK(st.st_mode))
		unlink(p->path);
	if (!bind(p->listen, (struct sockaddr *)&addr, sizeof(addr)) && !listen(p->listen, BACKLOG))
		return 0;
	close(p->listen);
	p->listen = -1;
	return -1;
}

static void client_end(struct vfio_port *p)
{
	const char *why = vfio_user_why(p->client);

	fprintf(stderr, "lightiov serve: %s: client %u %s%s\n", p->path, p->clients, why ? "is ended: " : "left", why ? why : "");
	p->errors += why != NULL;
	vfio_user_free(p->client);
	p->client = NULL;
}

void vfio_port_close(struct vfio_port *p)
{
	if (p->client)
		client_end(p);
	if (p->listen < 0)
		return;
	close(p->listen);
	p->listen = -1;
	unlink(p->path);
}

/* False: somebody is at the door and cannot come in, for want of files or memory. */
static bool port_ready(struct vfio_port *p)
{
	int fd;

	if (p->client) {
		if (!vfio_user_ready(p->client))
			client_end(p);
		return true;
	}
	fd = accept4(p->listen, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM;
	p->client = vfio_user_new(p->dev, fd);
	if (p->client)
		fprintf(stderr, "lightiov serve: %s: client %u\n", p->path, ++p->clients);
	return true;
}

static bool all_gone(const struct vfio_port *ports, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		if (ports[i].client || !ports[i].clients)
			return false;
	return true;
}

int vfio_ports_serve(struct vfio_port *ports, u32 nr, bool once, int (*work)(void *opaque), void *opaque)
{
	static const struct timespec at_once, a_while = { .tv_nsec = 100000000 };
	struct pollfd *fds = calloc(nr, sizeof(*fds));
	sigset_t while_waiting;
	int more = fds ? 0 : -1;
	bool full = false;

	raise_files();
	catch_signals(&while_waiting);
	while (more >= 0 && !stop && !(once && all_gone(ports, nr))) {
		for (u32 i = 0; i < nr; i++) {
			struct vfio_port *p = &ports[i];

			/* A door at which one waits is always ready: with no room, look again later. */
			fds[i].fd = p->client ? vfio_user_fd(p->client) : full ? -1 : p->listen;
			fds[i].events = p->client ? vfio_user_events(p->client) : POLLIN;
		}
		if (ppoll(fds, nr, more ? &at_once : full ? &a_while : NULL, &while_waiting) < 0)
			continue;
		full = false;
		for (u32 i = 0; i < nr; i++)
			if (fds[i].revents && !port_ready(&ports[i]))
				full = true;
		more = work(opaque);
	}
	free(fds);
	sigprocmask(SIG_SETMASK, &while_waiting, NULL);
	return more < 0 ? more : 0;
}
