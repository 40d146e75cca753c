// SPDX-License-Identifier: GPL-2.0
/* lightiov serve as a VMM meets it: a process behind sockets, whose clients come, misbehave and go. */

#include "vfio_rig.h"
#include "nvme-emu/serve.h"
#include "serve/serve_liov.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#define PATIENCE_MS 20000

struct side {
	char dir[64];
	pid_t pid;
	int out, err;		/* what it prints */
	u32 files;		/* it may have open; 0: no limit */
};

static int up(void **state)
{
	struct side *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/vfio_port.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	*state = s;
	return 0;
}

static int down(void **state)
{
	struct side *s = *state;
	char command[128];

	if (s->pid > 0)
		kill(s->pid, SIGKILL);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->dir);
	assert_int_equal(system(command), 0);
	close(s->out);
	close(s->err);
	free(s);
	return 0;
}

/* With the words of @options, in which % stands for the folder. */
static void start(struct side *s, const char *options)
{
	const struct serve_kind kinds[] = { serve_nvme, serve_mediated };
	char *argv[32] = { (char *)"serve" }, line[1024] = "", *at, *word;
	int argc = 1, out[2], err[2];

	for (const char *c = options; *c; c++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%.*s", *c == '%' ? 64 : 1, *c == '%' ? s->dir : c);
	for (at = line; (word = strtok_r(at, " ", &at));)
		argv[argc++] = word;
	assert_int_equal(pipe(out) | pipe(err), 0);
	fflush(NULL);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		if (s->files)
			setrlimit(RLIMIT_NOFILE, &(struct rlimit){ s->files, s->files });
		exit(serve_main(argc, argv, kinds, 2));
	}
	close(out[1]);
	close(err[1]);
	s->out = out[0];
	s->err = err[0];
}

static int ended(struct side *s)
{
	int status = -1;

	for (u32 ms = 0; ms < PATIENCE_MS; ms += 5) {
		if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
			s->pid = 0;
			return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
		}
		poll(NULL, 0, 5);
	}
	return -1;
}

/* All that is printed until it ends. */
static void all(int fd, char text[8192])
{
	size_t n = 0;
	ssize_t got;

	while (n < 8191 && (got = read(fd, text + n, 8191 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
}

static int connect_to(const struct side *s, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", s->dir, name);
	for (u32 ms = 0; ms < PATIENCE_MS; ms += 5) {
		if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			return fd;
		poll(NULL, 0, 5);
	}
	fail_msg("nobody listens on %s", name);
	return -1;
}

static bool take(int fd, void *to, size_t n)
{
	struct pollfd p = { fd, POLLIN, 0 };

	while (n) {
		ssize_t got = poll(&p, 1, PATIENCE_MS) == 1 ? read(fd, to, n) : -1;

		if (got <= 0)
			return false;
		to = (u8 *)to + got;
		n -= (size_t)got;
	}
	return true;
}

/* A command's reply; false: the server hung up. */
static bool ask(int fd, u16 command, const void *p, u32 bytes)
{
	struct rig_header h = { 3, command, 16 + bytes, 0, 0 };
	struct iovec parts[] = { { &h, 16 }, { (void *)p, bytes } };
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	u8 rest[4096];

	/* At once: after the header alone the server may hang up already. */
	assert_int_equal(sendmsg(fd, &msg, MSG_NOSIGNAL), 16 + bytes);
	return take(fd, &h, 16) && h.size >= 16 && h.size <= 16 + sizeof(rest) && take(fd, rest, h.size - 16) && !h.error;
}

static int client(const struct side *s, const char *name)
{
	int fd = connect_to(s, name);

	assert_true(ask(fd, CMD_VERSION, "\0\0\0\0", 4));
	return fd;
}

static json_t *report(struct side *s)
{
	char text[8192];
	json_t *doc;

	all(s->out, text);
	doc = json_loads(text, 0, NULL);
	if (!doc)
		fail_msg("no JSON: %s", text);
	return doc;
}

static json_int_t number(json_t *doc, u32 i, const char *key)
{
	json_t *n = json_object_get(json_array_get(json_object_get(doc, "sockets"), i), key);

	assert_true(json_is_integer(n));
	return json_integer_value(n);
}

static void test_once__ends_when_the_last_client_left(void **state)
{
	struct side *s = *state;
	int a, b;
	json_t *doc;

	start(s, "--socket %/a,size=1M --socket %/b,size=1M --once --json");
	a = client(s, "a");
	close(a);
	/* The other has had none yet. */
	a = client(s, "a");
	b = client(s, "b");
	close(a);
	assert_true(ask(b, CMD_RESET, NULL, 0));
	close(b);
	assert_int_equal(ended(s), 0);
	doc = report(s);
	assert_int_equal(number(doc, 0, "clients"), 2);
	assert_int_equal(number(doc, 1, "clients"), 1);
	json_decref(doc);
}

static void test_sigterm__ends_with_the_report__and_no_socket_is_left(void **state)
{
	struct side *s = *state;
	char path[128];
	struct stat st;
	json_t *doc;
	int a;

	start(s, "--policy mediated --socket %/a,size=1M,queues=2 --json");
	a = client(s, "a");
	kill(s->pid, SIGTERM);
	assert_int_equal(ended(s), 0);
	doc = report(s);
	assert_string_equal(json_string_value(json_object_get(doc, "verdict")), "isolated");
	assert_int_equal(number(doc, 0, "blocks"), 2048);
	json_decref(doc);
	snprintf(path, sizeof(path), "%s/a", s->dir);
	assert_int_equal(stat(path, &st), -1);
	close(a);
}

static void test_client__with_errors__is_ended__others_go_on(void **state)
{
	struct side *s = *state;
	char text[8192];
	int a, b, second;

	start(s, "--socket %/a,size=1M --socket %/b,size=1M --once");
	b = client(s, "b");
	for (u32 i = 0; i < 20; i++) {
		a = client(s, "a");
		assert_false(ask(a, 99, NULL, 0));
		close(a);
		assert_true(ask(b, CMD_RESET, NULL, 0));
	}
	/* One that waits at the door is served when the first has gone. */
	a = client(s, "a");
	second = connect_to(s, "a");
	close(a);
	assert_true(ask(second, CMD_VERSION, "\0\0\0\0", 4));
	close(second);
	close(b);
	assert_int_equal(ended(s), 0);
	all(s->err, text);
	assert_non_null(strstr(text, "/a: client 20 is ended: command 99 is none\n"));
	assert_non_null(strstr(text, "/b: client 1 left\n"));
	all(s->out, text);
	assert_non_null(strstr(text, "clients 22, ended_for_errors 20"));
}

/* In ppoll(), with a timeout or with none: its third argument. Skips where nobody may know. */
static bool asleep(const struct side *s, bool timed)
{
	unsigned long fds, nfds, timeout = 1;
	char path[64], text[256];
	long nr = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/syscall", s->pid);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		skip();
	fclose(f);
	return sscanf(text, "%ld %lx %lx %lx", &nr, &fds, &nfds, &timeout) == 4 && nr == SYS_ppoll && !timeout == !timed;
}

static bool falls_asleep(const struct side *s, bool timed, u32 samples)
{
	u32 seen = 0;

	for (u32 ms = 0; seen < samples && ms < PATIENCE_MS; ms += 5) {
		seen = asleep(s, timed) ? seen + 1 : 0;
		poll(NULL, 0, 5);
	}
	return seen == samples;
}

/* Who finds no file left waits at the door, and the server does not spin meanwhile. */
static void test_files__are_used_up__who_waits_is_served_when_one_leaves(void **state)
{
	enum { DOORS = 10, ROOM = 3 };
	struct side *s = *state;
	char options[256] = "--once --json";
	int door[DOORS], before;
	json_t *doc;

	for (u32 i = 0; i < DOORS; i++)
		snprintf(options + strlen(options), sizeof(options) - strlen(options), " --socket %%/%u,size=1M", i);
	/* Of its doors, and of what it has from us: the lowest free one tells. */
	before = dup(0);
	close(before);
	s->files = (u32)before + 4 + DOORS + ROOM;
	start(s, options);
	for (u32 i = 0; i < DOORS; i++)
		door[i] = connect_to(s, (char[2]){ (char)('0' + i) });
	assert_true(falls_asleep(s, true, 10));
	for (u32 i = 0; i < DOORS; i++) {
		assert_true(ask(door[i], CMD_VERSION, "\0\0\0\0", 4));
		close(door[i]);
	}
	assert_int_equal(ended(s), 0);
	doc = report(s);
	for (u32 i = 0; i < DOORS; i++)
		assert_int_equal(number(doc, i, "clients"), 1);
	json_decref(doc);
}

static void test_idle__sleeps_until_somebody_speaks(void **state)
{
	static const char *const kinds[] = { "--socket %/a,size=1M", "--policy mediated --socket %/a,size=1M" };
	struct side *s = *state;
	int a;

	for (u32 i = 0; i < 2; i++) {
		start(s, kinds[i]);
		a = client(s, "a");
		assert_true(ask(a, CMD_RESET, NULL, 0));
		assert_true(falls_asleep(s, false, 1));
		close(a);
		kill(s->pid, SIGTERM);
		assert_int_equal(ended(s), 0);
		close(s->out);
		close(s->err);
	}
	s->out = s->err = -1;
}

static void test_usage__mistakes__are_named(void **state)
{
	static const struct { const char *options, *why; } cases[] = {
		{ "", "give --socket" }, { "--socket", "not understood" }, { "--socket %/a --socket %/a", "twice" },
		{ "--socket ,size=1", "give a path" }, { "--socket %/a --policy paper", "only mediated" }, { "--nonsense", "not understood" },
		{ "--socket %/no/such/folder", "No such file" }, { "--policy mediated --socket %/a,serial=x", "no word 'serial'" },
		{ "--policy mediated --socket %/a,queues=16", "1 to 15" }, { "--socket %/a --record %/no/such/f --once", "No such file" },
		{ "--socket %/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "too long" },
	};
	struct side *s = *state;
	char text[8192];

	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(s, cases[i].options);
		assert_int_equal(ended(s), 2);
		all(s->err, text);
		if (!strstr(text, cases[i].why))
			fail_msg("%s: %s", cases[i].options, text);
		all(s->out, text);
		assert_string_equal(text, "");
		close(s->out);
		close(s->err);
	}
	s->out = s->err = -1;
}

#define T(name) cmocka_unit_test_setup_teardown(name, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_once__ends_when_the_last_client_left),
		T(test_sigterm__ends_with_the_report__and_no_socket_is_left),
		T(test_client__with_errors__is_ended__others_go_on),
		T(test_files__are_used_up__who_waits_is_served_when_one_leaves),
		T(test_idle__sleeps_until_somebody_speaks),
		T(test_usage__mistakes__are_named),
	};

	return cmocka_run_group_tests_name("vfio_user_port", tests, NULL, NULL);
}
