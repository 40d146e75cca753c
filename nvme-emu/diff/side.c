// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "diff/diff.h"

#include "base64.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A machine as a process, and the qtest protocol with it: lines are queued and sent together, answers
 * are put where who asked wants them. A process that ends or does not answer makes the side
 * dead; from then on all reads give SEEN_NOTHING.
 */

#define ANSWER_MS 8000		/* what does not answer for so long does not answer */
#define FD_FLOOR 100		/* ours lie above those a child is given */
#define CHILD_MONITOR 3
#define CHILD_MEDIA 4		/* and 5 */
#define CHILD_BIOS 6
#define BIOS_SIZE 65536
#define BIOS_RESET (BIOS_SIZE - 16)
#define ARGV_MAX 48
#define ONE_SYNC_MAX (1u << 20)

enum want_kind { WANT_OK, WANT_NUMBER, WANT_BLOCK };

struct want {
	enum want_kind kind;
	void *to;
	u32 len;
};

static int high_fd(int fd)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);

	assert(fd >= 0 && up >= 0);
	close(fd);
	return up;
}

static void pair(int *ours, int *theirs)
{
	int fd[2];
	int ret = socketpair(AF_UNIX, SOCK_STREAM, 0, fd);

	assert(!ret);
	*ours = high_fd(fd[0]);
	*theirs = high_fd(fd[1]);
}

static int media(u64 bytes)
{
	int fd = high_fd(memfd_create("media", MFD_CLOEXEC));
	int ret = ftruncate(fd, (off_t)bytes);

	assert(!ret);
	return fd;
}

/* For a QEMU without accel=qtest: a processor that halts at once and for ever. */
static int halting_bios(void)
{
	static const u8 halt[] = { 0xFA, 0xF4, 0xEB, 0xFD };	/* cli; again: hlt; jmp again */
	int fd = media(BIOS_SIZE);
	ssize_t n = pwrite(fd, halt, sizeof(halt), BIOS_RESET);

	assert(n == sizeof(halt));
	return fd;
}

struct words {
	char *word[ARGV_MAX];
	u32 nr;
};

static void __attribute__((format(printf, 2, 3))) add(struct words *w, const char *format, ...)
{
	va_list ap;
	int ret;

	assert(w->nr < ARGV_MAX - 1);
	va_start(ap, format);
	ret = vasprintf(&w->word[w->nr++], format, ap);
	va_end(ap);
	assert(ret >= 0);
}

static void add_drive(struct words *w, u32 i)
{
	add(w, "-drive");
	add(w, "if=none,id=d%u,file=/proc/self/fd/%u,format=raw,discard=unmap", i, CHILD_MEDIA + i);
}

static void command_line(const struct side *s, const struct op *machine, struct words *w)
{
	add(w, "%s", s->program);
	if (s->is_model)
		add(w, "qtest");
	add(w, "-machine");
	add(w, "q35");
	add(w, "-accel");
	add(w, "%s", s->has_qtest_accel ? "qtest" : "tcg");
	if (!s->has_qtest_accel) {
		add(w, "-bios");
		add(w, "/proc/self/fd/%u", CHILD_BIOS);
	}
	add(w, "-m");
	add(w, "%u", DIFF_RAM_MIB);
	add(w, "-nodefaults");
	add(w, "-display");
	add(w, "none");
	if (op_get(machine, "vtd")) {
		add(w, "-device");
		add(w, "intel-iommu,intremap=on,aw-bits=48,eim=off");
	}
	add_drive(w, 0);
	add_drive(w, 1);
	add(w, "-device");
	add(w, "nvme,id=n0,serial=diff,drive=d0,addr=3,cmb_size_mb=%llu,max_ioqpairs=%llu,msix_qsize=%llu,mdts=%llu,aerl=%llu",
	    (unsigned long long)op_get(machine, "cmb"), (unsigned long long)op_get(machine, "pairs"),
	    (unsigned long long)op_get(machine, "vectors"), (unsigned long long)op_get(machine, "mdts"),
	    (unsigned long long)op_get(machine, "aerl"));
	add(w, "-device");
	add(w, "nvme-ns,drive=d1,bus=n0,nsid=3");
	add(w, "-qtest");
	add(w, "stdio");
	add(w, "-qtest-log");
	add(w, "none");
	add(w, "-chardev");
	add(w, "socket,id=m0,fd=%u", CHILD_MONITOR);
	add(w, "-mon");
	add(w, "chardev=m0,mode=control");
}

static void become(char *const argv[], const int *fds, u32 nr, int words_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(fds[0], 0);
	dup2(fds[0], 1);
	dup2(words_fd, 2);
	for (u32 i = 1; i < nr; i++)
		dup2(fds[i], CHILD_MONITOR + (int)i - 1);
	execvp(argv[0], argv);
	_exit(127);
}

void side_start(struct side *s, const struct op *machine)
{
	int fds[5];
	struct words w = { 0 };

	pair(&s->fd, &fds[0]);
	pair(&s->monitor_fd, &fds[1]);
	fds[2] = media(DIFF_NS1_BLOCKS * 512ULL);
	fds[3] = media(DIFF_NS3_BLOCKS * 512ULL);
	fds[4] = halting_bios();
	s->words_fd = high_fd(memfd_create("stderr", MFD_CLOEXEC));
	command_line(s, machine, &w);
	s->dead = s->has_monitor = false;
	s->how = 0;
	s->out_len = s->in_len = s->in_at = 0;
	s->nr_wants = 0;
	s->refused = 0;
	s->pid = fork();
	assert(s->pid >= 0);
	if (!s->pid)
		become(w.word, fds, 5, s->words_fd);
	for (u32 i = 0; i < 5; i++)
		close(fds[i]);
	for (u32 i = 0; i < w.nr; i++)
		free(w.word[i]);
	nvme_client_reset(s);
}

static void die(struct side *s, int how)
{
	if (s->dead)
		return;
	s->dead = true;
	s->how = how;
	if (how < 0)
		kill(s->pid, SIGKILL);
	waitpid(s->pid, how < 0 ? NULL : &s->how, 0);
	s->pid = 0;
}

/* What a dead one wrote to stderr, as remarks in the log. */
static void log_words(struct side *s)
{
	char words[4096];
	ssize_t n = pread(s->words_fd, words, sizeof(words) - 1, 0);

	words[n > 0 ? n : 0] = '\0';
	fprintf(s->log, "# it ended (%d), or gave no answer (-1)\n", s->how);
	for (char *at = words, *word; (word = strtok_r(at, "\n", &at));)
		fprintf(s->log, "# %s\n", word);
}

void side_stop(struct side *s)
{
	if (s->dead && s->log)
		log_words(s);
	if (s->pid) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
		s->pid = 0;
	}
	close(s->fd);
	close(s->monitor_fd);
	close(s->words_fd);
}

bool side_version(const char *program, char *text, size_t size)
{
	char command[512];
	FILE *f;
	bool ok;

	snprintf(command, sizeof(command), "'%s' --version 2>&1", program);
	f = popen(command, "r");
	ok = f && fgets(text, (int)size, f);
	if (ok)
		text[strcspn(text, "\n")] = '\0';
	return f && !pclose(f) && ok;
}

/* --- lines --- */

static void out_room(struct side *s, size_t len)
{
	if (s->out_room - s->out_len >= len)
		return;
	s->out_room = 2 * s->out_room + len;
	s->out = realloc(s->out, s->out_room);
	assert(s->out);
}

static void want(struct side *s, enum want_kind kind, void *to, u32 len)
{
	if (s->nr_wants == s->wants_room) {
		s->wants_room = s->wants_room ? 2 * s->wants_room : 256;
		s->want = realloc(s->want, s->wants_room * sizeof(*s->want));
		assert(s->want);
	}
	s->want[s->nr_wants++] = (struct want){ kind, to, len };
}

static void __attribute__((format(printf, 2, 3))) line(struct side *s, const char *format, ...)
{
	va_list ap;
	int n;

	out_room(s, 128);
	va_start(ap, format);
	n = vsnprintf(s->out + s->out_len, 128, format, ap);
	va_end(ap);
	assert(n > 0 && n < 128);
	s->out_len += (size_t)n;
}

static char letter(unsigned int width)
{
	return width == 1 ? 'b' : width == 2 ? 'w' : width == 4 ? 'l' : 'q';
}

void side_write(struct side *s, u64 addr, unsigned int width, u64 value)
{
	line(s, "write%c 0x%llx 0x%llx\n", letter(width), (unsigned long long)addr, (unsigned long long)value);
	want(s, WANT_OK, NULL, 0);
}

void side_read(struct side *s, u64 addr, unsigned int width, u64 *to)
{
	line(s, "read%c 0x%llx\n", letter(width), (unsigned long long)addr);
	want(s, WANT_NUMBER, to, width);
}

void side_put(struct side *s, u64 addr, const void *from, u32 len)
{
	line(s, "b64write 0x%llx 0x%x ", (unsigned long long)addr, len);
	out_room(s, 4 * (len / 3 + 1) + 1);
	s->out_len += base64_encode(s->out + s->out_len, from, len);
	s->out[s->out_len++] = '\n';
	want(s, WANT_OK, NULL, 0);
	if (s->out_len > ONE_SYNC_MAX)
		side_sync(s);
}

void side_get(struct side *s, u64 addr, void *to, u32 len)
{
	line(s, "b64read 0x%llx 0x%x\n", (unsigned long long)addr, len);
	want(s, WANT_BLOCK, to, len);
}

void side_fill(struct side *s, u64 addr, u8 byte, u32 len)
{
	line(s, "memset 0x%llx 0x%x 0x%x\n", (unsigned long long)addr, len, byte);
	want(s, WANT_OK, NULL, 0);
}

void side_port_write(struct side *s, u16 port, unsigned int width, u32 value)
{
	line(s, "out%c 0x%x 0x%x\n", letter(width), port, value);
	want(s, WANT_OK, NULL, 0);
}

void side_port_read(struct side *s, u16 port, unsigned int width, u64 *to)
{
	line(s, "in%c 0x%x\n", letter(width), port);
	want(s, WANT_NUMBER, to, width);
}

/* Whatever there is to read, within the time; false: nothing, or no more. */
static ssize_t receive(struct side *s, int fd, char *to, size_t room, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	int ready = poll(&p, 1, ANSWER_MS);
	ssize_t n = 0;

	if (ready <= 0) {
		die(s, -1);
		return -1;
	}
	if (p.revents & POLLIN) {
		n = recv(fd, to, room, MSG_DONTWAIT);
		if (n <= 0) {
			die(s, 0);
			return -1;
		}
	} else if (!(p.revents & POLLOUT)) {
		die(s, 0);
		return -1;
	}
	return n;
}

static void in_grow(struct side *s)
{
	if (s->in_at) {
		memmove(s->in, s->in + s->in_at, s->in_len - s->in_at);
		s->in_len -= s->in_at;
		s->in_at = 0;
	}
	if (s->in_len + 65536 > s->in_room) {
		s->in_room = 2 * s->in_room + 2 * 65536;
		s->in = realloc(s->in, s->in_room);
		assert(s->in);
	}
}

/* Sending and receiving go together, or both sides could wait for room. */
static void send_all(struct side *s)
{
	size_t sent = 0;

	while (sent < s->out_len && !s->dead) {
		ssize_t n = send(s->fd, s->out + sent, s->out_len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			sent += (size_t)n;
			continue;
		}
		if (n < 0 && errno != EAGAIN) {
			die(s, 0);
			return;
		}
		in_grow(s);
		n = receive(s, s->fd, s->in + s->in_len, s->in_room - s->in_len, POLLIN | POLLOUT);
		s->in_len += n > 0 ? (size_t)n : 0;
	}
}

/* The next line, which ends with a zero; NULL: dead. */
static char *next_line(struct side *s)
{
	for (;;) {
		char *from = s->in + s->in_at;
		char *end = s->in_len > s->in_at ? memchr(from, '\n', s->in_len - s->in_at) : NULL;
		ssize_t n;

		if (end) {
			*end = '\0';
			s->in_at = (size_t)(end + 1 - s->in);
			if (strncmp(from, "IRQ ", 4))
				return from;
			continue;
		}
		in_grow(s);
		n = receive(s, s->fd, s->in + s->in_len, s->in_room - s->in_len, POLLIN);
		if (n < 0)
			return NULL;
		s->in_len += (size_t)n;
	}
}

static u64 ones(u32 width)
{
	return width >= 8 ? ~0ULL : (1ULL << (8 * width)) - 1;
}

static void give_nothing(const struct want *w)
{
	u64 nothing = SEEN_NOTHING;

	if (w->kind == WANT_NUMBER)
		memcpy(w->to, &nothing, sizeof(nothing));
	else if (w->kind == WANT_BLOCK)
		memset(w->to, 0xFF, w->len);
}

static void give(struct side *s, const struct want *w, const char *answer)
{
	size_t len = w->len;
	u64 val;

	if (strncmp(answer, "OK", 2)) {
		s->refused++;
		give_nothing(w);
	} else if (w->kind == WANT_NUMBER) {
		val = strtoull(answer + 2, NULL, 0) & ones(w->len);
		memcpy(w->to, &val, sizeof(val));
	} else if (w->kind == WANT_BLOCK && (!base64_decode(w->to, &len, answer + 3) || len != w->len)) {
		s->refused++;
	}
}

void side_sync(struct side *s)
{
	u32 i = 0;

	if (s->log)
		fwrite(s->out, 1, s->out_len, s->log);
	if (!s->dead)
		send_all(s);
	for (; i < s->nr_wants && !s->dead; i++) {
		const char *answer = next_line(s);

		if (!answer)
			break;
		give(s, &s->want[i], answer);
	}
	for (; i < s->nr_wants; i++)
		give_nothing(&s->want[i]);
	s->nr_wants = 0;
	s->out_len = 0;
}

u64 side_read_now(struct side *s, u64 addr, unsigned int width)
{
	u64 val;

	side_read(s, addr, width, &val);
	side_sync(s);
	return val;
}

static void config_address(struct side *s, u32 off)
{
	side_port_write(s, 0xCF8, 4, 0x80000000u | DIFF_DEVFN << 8 | (off & 0xFC));
}

u32 side_config_read(struct side *s, u32 off, unsigned int width)
{
	u64 val;

	config_address(s, off);
	side_port_read(s, (u16)(0xCFC + (off & 3)), width, &val);
	side_sync(s);
	return (u32)val;
}

void side_config_write(struct side *s, u32 off, unsigned int width, u32 value)
{
	config_address(s, off);
	side_port_write(s, (u16)(0xCFC + (off & 3)), width, value);
}
