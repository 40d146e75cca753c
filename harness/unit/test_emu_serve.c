// SPDX-License-Identifier: GPL-2.0
/* The command as test programs use it: started as a process, talked to through sockets or pipes, ended by a signal. */

#include "emu_rig.h"
#include "nvme-emu/nvme_emu.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000

struct side {
	char *name;		/* by which it is called; NULL: qtest */
	char dir[64];
	pid_t pid;
};

static int up(void **state)
{
	struct side *s = calloc(1, sizeof(*s));

	strcpy(s->dir, "/tmp/emu_serve.XXXXXX");
	assert_non_null(mkdtemp(s->dir));
	signal(SIGPIPE, SIG_IGN);
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
	free(s);
	return 0;
}

/* Starts it with the words of @options, in which % stands for the folder. @in, @out: its stdin and stdout, -1 for /dev/null. */
static void start(struct side *s, const char *options, int in, int out)
{
	char *argv[64] = { s->name ? s->name : (char *)"qtest" }, line[1024] = "", *at, *word;
	int argc = 1, null = open("/dev/null", O_RDWR);

	for (const char *c = options; *c; c++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%.*s", *c == '%' ? 64 : 1, *c == '%' ? s->dir : c);
	for (at = line; (word = strtok_r(at, " ", &at));)
		argv[argc++] = word;
	fflush(NULL);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (s->pid) {
		close(null);
		return;
	}
	dup2(in < 0 ? null : in, 0);
	dup2(out < 0 ? null : out, 1);
	for (int fd = 3; fd < 64; fd++)
		if (fd != 50)
			close(fd);
	_exit(nvme_emu_qtest(argc, argv));
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

static struct sockaddr_un address(const struct side *s, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", s->dir, name);
	return addr;
}

static int listen_at(const struct side *s, const char *name)
{
	struct sockaddr_un addr = address(s, name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static int accept_at(int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	return accept(listener, NULL, NULL);
}

static int connect_to(const struct side *s, const char *name)
{
	struct sockaddr_un addr = address(s, name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	for (u32 ms = 0; ms < PATIENCE_MS; ms += 5) {
		if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			return fd;
		poll(NULL, 0, 5);
	}
	fail_msg("nobody listens at %s", addr.sun_path);
	return -1;
}

static const char *line_from(int fd)
{
	static char line[4096];
	size_t n = 0;

	while (n < sizeof(line) - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		if (read(fd, line + n, 1) != 1)
			break;
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return line;
}

static const char *ask(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return line_from(fd);
}

/* tests/qtest/libqtest.c: both sockets are the test's; endianness, the QMP handshake, and SIGTERM at the end. */
static void test_libqtest__its_whole_course__ends_with_0(void **state)
{
	struct side *s = *state;
	int qtest_listener = listen_at(s, "q"), qmp_listener = listen_at(s, "m"), qtest, qmp;

	start(s, "-qtest unix:%/q -qtest-log /dev/null -chardev socket,path=%/m,id=char0 -mon chardev=char0,mode=control -display none "
	      "-M pc -drive id=drv0,if=none,file=null-co://,file.read-zeroes=on,format=raw -device nvme,addr=04.0,drive=drv0,serial=foo,cmb_size_mb=2 "
	      "-accel qtest", -1, -1);
	qtest = accept_at(qtest_listener);
	qmp = accept_at(qmp_listener);
	assert_string_equal(ask(qtest, "endianness\n"), "OK little");
	assert_non_null(strstr(line_from(qmp), "\"QMP\""));
	assert_non_null(strstr(ask(qmp, "{\"execute\": \"qmp_capabilities\"}\n"), "\"return\""));
	assert_string_equal(ask(qtest, "outl 0xcf8 0x80002018\n"), "OK");
	assert_string_equal(ask(qtest, "outl 0xcfc 0xe0000000\n"), "OK");
	assert_string_equal(ask(qtest, "outl 0xcf8 0x80002004\n"), "OK");
	assert_string_equal(ask(qtest, "outw 0xcfc 0x7\n"), "OK");
	/* nvme-test.c, oob-cmb-access: the last byte of the CMB, and what lies behind it. */
	assert_string_equal(ask(qtest, "writel 0xe01fffff 0x44332211\n"), "OK");
	assert_string_equal(ask(qtest, "readb 0xe01fffff\n"), "OK 0x0000000000000011");
	assert_string_not_equal(ask(qtest, "readw 0xe01fffff\n"), "OK 0x0000000000002211");
	assert_string_not_equal(ask(qtest, "readl 0xe01fffff\n"), "OK 0x0000000044332211");
	assert_non_null(strstr(ask(qmp, "{\"execute\": \"system_reset\"}\n"), "\"return\""));
	assert_non_null(strstr(line_from(qmp), "RESET"));
	assert_string_equal(ask(qtest, "readb 0xe01fffff\n"), "OK 0x00000000000000ff");
	kill(s->pid, SIGTERM);
	assert_int_equal(ended(s), 0);
	close(qtest);
	close(qmp);
	close(qtest_listener);
	close(qmp_listener);
}

/* The name says which QEMU's QMP is spoken; one without a version, the newest's. */
static void test_name__of_a_qemu__its_version(void **state)
{
	static const struct {
		const char *name, *version;
	} cases[] = {
		{ "/x/qemu-7.2-system-x86_64", "\"minor\": 2, \"major\": 7" }, { "qemu-system-x86_64", "\"minor\": 1, \"major\": 11" },
	};
	struct side *s = *state;

	assert_true(nvme_emu_is_called_qemu("build/qemu-system-x86_64") && nvme_emu_is_called_qemu("qemu-7.2-system-i386"));
	assert_false(nvme_emu_is_called_qemu("build/lightiov") || nvme_emu_is_called_qemu("/qemu-system-x/lightiov"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int qmp;

		s->name = (char *)cases[i].name;
		start(s, "-M none -qmp unix:%/m,server=on,wait=off", -1, -1);
		qmp = connect_to(s, "m");
		assert_non_null(strstr(line_from(qmp), cases[i].version));
		kill(s->pid, SIGTERM);
		assert_int_equal(ended(s), 0);
		close(qmp);
	}
}

static void test_client__closes__ends_with_0(void **state)
{
	struct side *s = *state;
	int listener = listen_at(s, "q"), fd;

	start(s, "-M none -qtest unix:%/q -qmp unix:%/m,server=on,wait=off", -1, -1);
	fd = accept_at(listener);
	assert_string_equal(ask(fd, "endianness\n"), "OK little");
	close(fd);
	assert_int_equal(ended(s), 0);
	close(listener);
}

static void test_server__several_clients__one_machine_until_quit(void **state)
{
	struct side *s = *state;
	struct stat st;
	int fd, qmp;

	start(s, "-M none -qtest unix:%/q,server=on,wait=off -qmp unix:%/m,server=on,wait=off", -1, -1);
	fd = connect_to(s, "q");
	assert_string_equal(ask(fd, "writel 0x1000 0x5\n"), "OK");
	assert_int_equal(write(fd, "half a li", 9), 9);
	close(fd);
	fd = connect_to(s, "q");
	assert_string_equal(ask(fd, "readl 0x1000\n"), "OK 0x0000000000000005");
	qmp = connect_to(s, "m");
	line_from(qmp);
	ask(qmp, "{\"execute\":\"qmp_capabilities\"}");
	ask(qmp, "{\"execute\":\"quit\"}");
	assert_int_equal(ended(s), 0);
	close(fd);
	close(qmp);
	assert_int_equal(stat(address(s, "q").sun_path, &st), -1);
}

static void test_server__ended_by_signal__leaves_no_socket(void **state)
{
	struct side *s = *state;
	struct stat st;

	start(s, "-M none -qtest unix:%/q,server=on,wait=off -qmp unix:%/m,server=on,wait=off", -1, -1);
	close(connect_to(s, "q"));
	close(connect_to(s, "m"));
	kill(s->pid, SIGINT);
	assert_int_equal(ended(s), 0);
	assert_int_equal(stat(address(s, "q").sun_path, &st), -1);
	assert_int_equal(stat(address(s, "m").sun_path, &st), -1);
}

static void test_server__a_file_in_its_place__stays(void **state)
{
	struct side *s = *state;
	struct stat st;
	int fd = open(address(s, "q").sun_path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	start(s, "-M none -qtest unix:%/q,server=on,wait=off", -1, -1);
	assert_int_equal(ended(s), 2);
	assert_int_equal(stat(address(s, "q").sun_path, &st), 0);
}

static void test_fd__a_socket_of_the_parent__served(void **state)
{
	struct side *s = *state;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(dup2(pair[1], 50), 50);
	close(pair[1]);
	start(s, "-M none -chardev socket,id=c,fd=50 -qtest chardev:c", -1, -1);
	close(50);
	assert_string_equal(ask(pair[0], "endianness\n"), "OK little");
	close(pair[0]);
	assert_int_equal(ended(s), 0);
}

static void test_stdio__end_of_input__all_is_answered_first(void **state)
{
	struct side *s = *state;
	int in[2], out[2];
	u32 lines = 0;

	assert_int_equal(pipe(in) | pipe(out), 0);
	start(s, "-M q35 -qtest stdio -qtest-log %/log", in[0], out[1]);
	close(in[0]);
	close(out[1]);
	for (u32 i = 0; i < 500; i++)
		assert_int_equal(write(in[1], "readl 0x1000\n", 13), 13);
	close(in[1]);
	while (!strcmp(line_from(out[0]), "OK 0x0000000000000000"))
		lines++;
	assert_int_equal(lines, 500);
	close(out[0]);
	assert_int_equal(ended(s), 0);
}

/* A client that never reads must not be able to keep it from ending. */
static void test_client__does_not_read__ends_by_signal(void **state)
{
	struct side *s = *state;
	int in[2], out[2];

	assert_int_equal(pipe(in) | pipe(out), 0);
	start(s, "-M none -m 256 -qtest stdio", in[0], out[1]);
	close(in[0]);
	close(out[1]);
	assert_int_equal(write(in[1], "read 0 0x1000000\n", 17), 17);
	assert_int_equal(poll(&(struct pollfd){ .fd = out[0], .events = POLLIN }, 1, PATIENCE_MS), 1);
	kill(s->pid, SIGTERM);
	assert_int_equal(ended(s), 0);
	close(in[1]);
	close(out[0]);
}

static void test_content__more_than_there_may_be__ends_with_2(void **state)
{
	struct side *s = *state;
	int in[2];
	char line[64];

	assert_int_equal(pipe(in), 0);
	start(s, "-M none -m 8G -qtest stdio -qtest-log none", in[0], -1);
	close(in[0]);
	for (u64 at = 0x100000000ULL; at < 0x160000000ULL; at += QTEST_FILL_MAX) {
		int n = snprintf(line, sizeof(line), "memset 0x%llx 0x4000000 0x55\n", (unsigned long long)at);

		if (write(in[1], line, (size_t)n) < 0)
			break;
	}
	assert_int_equal(ended(s), 2);
	close(in[1]);
}

static void test_start__what_cannot_be__ends_with_2(void **state)
{
	static const char *const bad[] = {
		"-M q35", "-qtest unix:%/no/such/q", "-qtest unix:%/nobody", "-qtest fd:49", "-qtest stdio -qtest-log %/no/such/log",
		"-M q35 -drive id=d,file=null-co:// -device nvme,serial=a,drive=d,addr=4 -device nvme,serial=b,drive=d,addr=4 -qtest stdio",
	};
	struct side *s = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start(s, bad[i], -1, -1);
		if (ended(s) != 2)
			fail_msg("%s did not end with 2", bad[i]);
	}
	start(s, "--help", -1, -1);
	assert_int_equal(ended(s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_libqtest__its_whole_course__ends_with_0, up, down),
		cmocka_unit_test_setup_teardown(test_name__of_a_qemu__its_version, up, down),
		cmocka_unit_test_setup_teardown(test_client__closes__ends_with_0, up, down),
		cmocka_unit_test_setup_teardown(test_server__several_clients__one_machine_until_quit, up, down),
		cmocka_unit_test_setup_teardown(test_server__ended_by_signal__leaves_no_socket, up, down),
		cmocka_unit_test_setup_teardown(test_server__a_file_in_its_place__stays, up, down),
		cmocka_unit_test_setup_teardown(test_fd__a_socket_of_the_parent__served, up, down),
		cmocka_unit_test_setup_teardown(test_stdio__end_of_input__all_is_answered_first, up, down),
		cmocka_unit_test_setup_teardown(test_client__does_not_read__ends_by_signal, up, down),
		cmocka_unit_test_setup_teardown(test_content__more_than_there_may_be__ends_with_2, up, down),
		cmocka_unit_test_setup_teardown(test_start__what_cannot_be__ends_with_2, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
