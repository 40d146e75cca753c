// SPDX-License-Identifier: GPL-2.0
#include "cmdline.h"
#include "nvme_emu.h"
#include "qmp.h"
#include "qtest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * The command: builds the machine and serves the test protocol and QMP until the client is done. A client that we
 * connected to, or that we were started by, is done when it closes; one that connected to us may be followed by another.
 */

#define EXIT_USAGE 2
#define RECEIVE_BYTES 65536
#define BACKLOG 1

struct channel {
	const struct chardev *dev;
	int listen, in, out;		/* -1: none */
	struct qtest *qtest;		/* the one or the other */
	struct qmp *qmp;
	bool done;			/* nobody will come any more */
};

struct server {
	const char *name;		/* by which we were called */
	struct cmdline c;
	struct emu *m;
	struct qtest qtest;
	struct qmp qmp[CMDLINE_MONITORS_MAX];
	struct channel channel[1 + CMDLINE_MONITORS_MAX];
	u32 nr_channels;
};

/* Of sockets that are ours; for the signal handler, which can be given nothing else. */
static char listening[1 + CMDLINE_MONITORS_MAX][CMDLINE_PATH_MAX];

static void unlink_all(void)
{
	for (u32 i = 0; i < 1 + CMDLINE_MONITORS_MAX; i++)
		if (*listening[i])
			unlink(listening[i]);
}

/* SIGTERM is how a test ends us, and no failure. It must do so whatever goes on, and nothing here is worth finishing. */
static void end_signal(int signal)
{
	(void)signal;
	unlink_all();
	_exit(0);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = end_signal };

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What cannot be sent is lost: the next read says that the client is gone. */
static void channel_send(void *opaque, const char *data, size_t len_bytes)
{
	struct channel *ch = opaque;

	while (len_bytes && ch->out >= 0) {
		ssize_t n = write(ch->out, data, len_bytes);

		if (n < 0 && errno == EAGAIN) {
			poll(&(struct pollfd){ .fd = ch->out, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		data += n;
		len_bytes -= (size_t)n;
	}
}

static void channel_opened(struct channel *ch, int in, int out)
{
	ch->in = in;
	ch->out = out;
	if (ch->qmp)
		qmp_connect(ch->qmp);
}

static void channel_closed(struct channel *ch)
{
	if (ch->qtest)
		qtest_disconnect(ch->qtest);
	if (ch->in > STDERR_FILENO)
		close(ch->in);
	ch->in = ch->out = -1;
	ch->done = ch->listen < 0;
}

static int complain(const char *what, const char *which)
{
	fprintf(stderr, "lightiov qtest: %s %s: %s\n", what, which, strerror(errno));
	return -1;
}

static int open_unix(struct channel *ch, u32 slot)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stat st;

	memcpy(addr.sun_path, ch->dev->path, sizeof(addr.sun_path));
	if (fd < 0)
		return complain("cannot make a socket for", ch->dev->path);
	if (!ch->dev->server) {
		if (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
			close(fd);
			return complain("cannot connect to", ch->dev->path);
		}
		channel_opened(ch, fd, fd);
		return 0;
	}
	/* One that somebody left behind; nobody's file. */
	if (!lstat(ch->dev->path, &st) && S_ISSOCK(st.st_mode))
		unlink(ch->dev->path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, BACKLOG)) {
		close(fd);
		return complain("cannot listen on", ch->dev->path);
	}
	ch->listen = fd;
	memcpy(listening[slot], ch->dev->path, sizeof(listening[slot]));
	return 0;
}

static int channel_open(struct channel *ch, u32 slot)
{
	switch (ch->dev->kind) {
	case CHARDEV_UNIX:
		return open_unix(ch, slot);
	case CHARDEV_STDIO:
		channel_opened(ch, STDIN_FILENO, STDOUT_FILENO);
		return 0;
	case CHARDEV_FD:
		if (fcntl(ch->dev->fd, F_GETFD) < 0)
			return complain("cannot use", "the file descriptor");
		channel_opened(ch, ch->dev->fd, ch->dev->fd);
		return 0;
	default:
		ch->done = true;
		return 0;
	}
}

static void channel_accept(struct channel *ch)
{
	int fd = accept(ch->listen, NULL, NULL);

	if (fd >= 0)
		channel_opened(ch, fd, fd);
}

static void channel_receive(struct channel *ch)
{
	char bytes[RECEIVE_BYTES];
	ssize_t n = read(ch->in, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		channel_closed(ch);
	else if (ch->qtest)
		qtest_receive(ch->qtest, bytes, (size_t)n);
	else
		qmp_receive(ch->qmp, bytes, (size_t)n);
}

/* One client at a time: others wait at the door. */
static void serve_once(struct server *s)
{
	struct pollfd fds[1 + CMDLINE_MONITORS_MAX];

	for (u32 i = 0; i < s->nr_channels; i++) {
		struct channel *ch = &s->channel[i];

		fds[i] = (struct pollfd){ .fd = ch->in >= 0 ? ch->in : ch->listen, .events = POLLIN };
	}
	if (poll(fds, s->nr_channels, -1) < 0)
		return;		/* interrupted, by a debugger for one */
	for (u32 i = 0; i < s->nr_channels; i++) {
		if (!fds[i].revents)
			continue;
		if (s->channel[i].in >= 0)
			channel_receive(&s->channel[i]);
		else
			channel_accept(&s->channel[i]);
	}
}

/* The client of the test protocol decides; where there is none, those of QMP do. */
static bool all_done(const struct server *s)
{
	bool done = true;

	for (u32 i = 0; i < s->nr_channels; i++) {
		if (s->channel[i].qmp && s->channel[i].qmp->quit)
			return true;
		if (s->channel[i].qtest && s->channel[i].done)
			return true;
		done = done && s->channel[i].done;
	}
	return done;
}

static struct channel *add_channel(struct server *s, const struct chardev *dev)
{
	struct channel *ch = &s->channel[s->nr_channels++];

	*ch = (struct channel){ .dev = dev, .listen = -1, .in = -1, .out = -1 };
	return ch;
}

static const char *program_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool nvme_emu_is_called_qemu(const char *path)
{
	const char *name = program_name(path);

	return !strncmp(name, "qemu-", 5) && strstr(name, "-system-");
}

/* Of the name; false: it says none. */
static bool qemu_version(const char *path, u32 *major, u32 *minor)
{
	return sscanf(program_name(path), "qemu-%4u.%4u-", major, minor) == 2;
}

static int open_all(struct server *s)
{
	u32 major, minor;
	struct channel *ch;

	if (s->c.qtest && s->c.qtest->kind != CHARDEV_NULL) {
		ch = add_channel(s, s->c.qtest);
		ch->qtest = &s->qtest;
		qtest_init(&s->qtest, s->m, channel_send, ch);
	}
	for (u32 i = 0; i < s->c.nr_qmp; i++) {
		ch = add_channel(s, s->c.qmp[i]);
		ch->qmp = &s->qmp[i];
		qmp_init(&s->qmp[i], s->m, channel_send, ch);
		if (qemu_version(s->name, &major, &minor)) {
			s->qmp[i].major = major;
			s->qmp[i].minor = minor;
		}
	}
	if (s->c.log) {
		s->qtest.log = fopen(s->c.log, "w");
		if (!s->qtest.log)
			return complain("cannot write", s->c.log);
		setvbuf(s->qtest.log, NULL, _IOLBF, 0);
	}
	for (u32 i = 0; i < s->nr_channels; i++)
		if (channel_open(&s->channel[i], i))
			return -1;
	return 0;
}

static void close_all(struct server *s)
{
	unlink_all();
	if (s->qtest.log)
		fclose(s->qtest.log);
	qtest_fini(&s->qtest);
}

static int serve(struct server *s)
{
	char why[256];
	int ret = EXIT_USAGE;

	s->m = emu_new(&s->c.emu, why, sizeof(why));
	if (!s->m) {
		fprintf(stderr, "lightiov qtest: the machine cannot be built: %s\n", why);
		return EXIT_USAGE;
	}
	catch_signals();
	if (!open_all(s)) {
		while (!all_done(s) && !s->m->over_budget)
			serve_once(s);
		ret = s->m->over_budget ? EXIT_USAGE : 0;
		if (ret)
			fprintf(stderr, "lightiov qtest: more content than there may be: 1 GiB in memory, 1 GiB in %s\n",
				"a controller's drives");
	}
	close_all(s);
	emu_free(s->m);
	return ret;
}

int nvme_emu_qtest(int argc, char **argv)
{
	struct server *s = calloc(1, sizeof(*s));
	int ret;

	if (!s) {
		fprintf(stderr, "lightiov qtest: no memory\n");
		return EXIT_USAGE;
	}
	s->name = argv[0];
	if (cmdline_parse(&s->c, argc, argv)) {
		fprintf(stderr, "lightiov qtest: %s\n", s->c.why);
		ret = EXIT_USAGE;
	} else if (s->c.help) {
		cmdline_help(stdout);
		ret = 0;
	} else {
		ret = serve(s);
	}
	free(s);
	return ret;
}
