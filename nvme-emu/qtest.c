// SPDX-License-Identifier: GPL-2.0
#include "qtest.h"
#include "base64.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 6
#define LINE_ROOM_FIRST 4096
#define BLOCK_WIDTH 4		/* registers that a block of bytes touches are accessed by dwords */
#define REPLY_SHORT 192

struct request {
	char *word[WORDS_MAX];	/* those not given are "" */
	u32 nr;
};

static void send(struct qtest *q, const char *text, size_t len)
{
	if (q->log)
		fprintf(q->log, "[S +%.6f] %.*s", (double)emu_clock_ns(q->m) / 1e9, (int)(len < 4096 ? len : 4096), text);
	q->send(q->opaque, text, len);
}

static void __attribute__((format(printf, 2, 3))) answer(struct qtest *q, const char *format, ...)
{
	char text[REPLY_SHORT];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text) - 1, format, ap);
	va_end(ap);
	if (n > (int)sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n++] = '\n';
	send(q, text, (size_t)n);
}

static void fail(struct qtest *q, const struct request *r, const char *why)
{
	answer(q, "FAIL %.32s: %s", r->word[0], why);
}

/* strtoull() with base 0, nothing before or behind: QEMU's qemu_strtou64(), which takes a minus sign too. */
static bool number(const char *text, u64 *out)
{
	const char *digits = *text == '-' || *text == '+' ? text + 1 : text;
	char *end;

	if (*digits < '0' || *digits > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 0);
	return !*end && !errno;
}

static bool numbers(struct qtest *q, const struct request *r, u64 *a, u64 *b)
{
	if (number(r->word[1], a) && (!b || number(r->word[2], b)))
		return true;
	fail(q, r, b ? "it wants two numbers" : "it wants a number");
	return false;
}

static unsigned int width_of(char letter)
{
	return letter == 'b' ? 1 : letter == 'w' ? 2 : letter == 'l' ? 4 : 8;
}

static void do_out(struct qtest *q, struct request *r)
{
	u64 port, val;

	if (!numbers(q, r, &port, &val))
		return;
	if (port > 0xFFFF) {
		fail(q, r, "there are 65536 ports");
		return;
	}
	emu_port_write(q->m, (u16)port, (u32)val, width_of(r->word[0][3]));
	answer(q, "OK");
}

static void do_in(struct qtest *q, struct request *r)
{
	unsigned int len = width_of(r->word[0][2]);
	u64 port;

	if (!numbers(q, r, &port, NULL))
		return;
	if (port > 0xFFFF) {
		fail(q, r, "there are 65536 ports");
		return;
	}
	answer(q, "OK 0x%04" PRIx32, emu_port_read(q->m, (u16)port, len) & (0xFFFFFFFFU >> (32 - 8 * len)));
}

static void do_write_number(struct qtest *q, struct request *r)
{
	u64 addr, val;

	if (!numbers(q, r, &addr, &val))
		return;
	emu_mem_write(q->m, addr, &val, width_of(r->word[0][5]), 8);
	answer(q, "OK");
}

static void do_read_number(struct qtest *q, struct request *r)
{
	u64 addr, val = 0;

	if (!numbers(q, r, &addr, NULL))
		return;
	emu_mem_read(q->m, addr, &val, width_of(r->word[0][4]), 8);
	answer(q, "OK 0x%016" PRIx64, val);
}

/* Address and length of a block, and room for it. */
static bool block(struct qtest *q, const struct request *r, u64 *addr, u64 *len)
{
	if (!numbers(q, r, addr, len))
		return false;
	if (*len > QTEST_DATA_MAX) {
		fail(q, r, "a block has at most 16 MiB");
		return false;
	}
	if (*len > q->data_room) {
		free(q->data);
		free(q->reply);
		q->data = malloc(*len);
		q->reply = malloc(2 * *len + 16);
		q->data_room = q->data && q->reply ? *len : 0;
	}
	if (*len > q->data_room) {
		fail(q, r, "no memory");
		return false;
	}
	return true;
}

/* Room for all of @len is there, as block() said. */
static void answer_block(struct qtest *q, const char *prefix, size_t (*encode)(char *, const u8 *, size_t), u64 len)
{
	size_t n = strlen(prefix);

	if (!len) {
		answer(q, "%s", prefix);
		return;
	}
	memcpy(q->reply, prefix, n);
	n += encode(q->reply + n, q->data, len);
	q->reply[n++] = '\n';
	send(q, q->reply, n);
}

static size_t hex_encode(char *to, const u8 *from, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		to[2 * i] = digits[from[i] >> 4];
		to[2 * i + 1] = digits[from[i] & 15];
	}
	return 2 * len;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What is not given is zero, half a byte too. */
static bool hex_decode(u8 *to, size_t len, const char *text)
{
	size_t given = strlen(text);

	for (size_t i = 0; i < given; i++)
		if (hex_digit(text[i]) < 0)
			return false;
	memset(to, 0, len);
	for (size_t i = 0; i < len && 2 * i + 1 < given; i++)
		to[i] = (u8)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
	return true;
}

static void do_read(struct qtest *q, struct request *r)
{
	bool base64 = r->word[0][0] == 'b';
	u64 addr, len;

	if (!block(q, r, &addr, &len))
		return;
	if (!len && !base64) {
		fail(q, r, "nothing to read");
		return;
	}
	emu_mem_read(q->m, addr, q->data, len, BLOCK_WIDTH);
	if (base64)
		answer_block(q, "OK ", base64_encode, len);
	else
		answer_block(q, "OK 0x", hex_encode, len);
}

static void do_write(struct qtest *q, struct request *r)
{
	bool base64 = r->word[0][0] == 'b';
	const char *data = r->word[3];
	u64 addr, len;
	size_t got;
	bool ok;

	if (!block(q, r, &addr, &len))
		return;
	if (strlen(data) < 3) {
		answer(q, "ERR invalid argument size");
		return;
	}
	got = len;
	if (base64)
		ok = base64_decode(q->data, &got, data);
	else
		ok = data[0] == '0' && (data[1] | 0x20) == 'x' && hex_decode(q->data, len, data + 2);
	if (!ok) {
		fail(q, r, base64 ? "the data is not base64" : "the data is not 0x and digits");
		return;
	}
	emu_mem_write(q->m, addr, q->data, got, BLOCK_WIDTH);
	answer(q, "OK");
}

static void do_memset(struct qtest *q, struct request *r)
{
	u64 addr, len, byte;

	if (!numbers(q, r, &addr, &len))
		return;
	if (!number(r->word[3], &byte) || len > QTEST_FILL_MAX) {
		fail(q, r, "it wants a value, and sets at most 64 MiB");
		return;
	}
	emu_mem_fill(q->m, addr, (u8)byte, len);
	answer(q, "OK");
}

static void do_endianness(struct qtest *q, struct request *r)
{
	(void)r;
	answer(q, "OK little");
}

/* Without a number: to the next event that is waiting, or nowhere. */
static void do_clock(struct qtest *q, struct request *r)
{
	u64 now = emu_clock_ns(q->m), to = now;
	bool set = !strcmp(r->word[0], "clock_set"), back = r->word[1][0] == '-';

	if (r->nr == 1 && !set) {
		emu_clock_next(q->m, &to);
	} else {
		if (!numbers(q, r, &to, NULL))
			return;
		if (back)
			to = now;
		else if (!set)
			to = to > EMU_CLOCK_MAX_NS - now ? ~0ULL : now + to;
		if (to > EMU_CLOCK_MAX_NS) {
			fail(q, r, "the clock ends at 2^64 ps");
			return;
		}
	}
	emu_clock_advance(q->m, to);
	answer(q, "OK %" PRIu64, emu_clock_ns(q->m));
}

/* No device of the model drives a pin: what is listened to stays silent. */
static void do_intercept(struct qtest *q, struct request *r)
{
	const char *path = r->word[1];

	if ((strcmp(path, "ioapic") && strncmp(path, "/machine", 8)) || strlen(path) >= sizeof(q->intercepted)) {
		answer(q, "FAIL Unknown device");
	} else if (*q->intercepted && strcmp(q->intercepted, path)) {
		answer(q, "FAIL IRQ intercept already enabled");
	} else {
		strcpy(q->intercepted, path);
		answer(q, "OK");
	}
}

static const struct command {
	const char *name;
	void (*run)(struct qtest *q, struct request *r);
} commands[] = {
	{ "outb", do_out }, { "outw", do_out }, { "outl", do_out }, { "inb", do_in }, { "inw", do_in }, { "inl", do_in },
	{ "writeb", do_write_number }, { "writew", do_write_number }, { "writel", do_write_number }, { "writeq", do_write_number },
	{ "readb", do_read_number }, { "readw", do_read_number }, { "readl", do_read_number }, { "readq", do_read_number },
	{ "read", do_read }, { "b64read", do_read }, { "write", do_write }, { "b64write", do_write }, { "memset", do_memset },
	{ "endianness", do_endianness }, { "clock_step", do_clock }, { "clock_set", do_clock },
	{ "irq_intercept_in", do_intercept }, { "irq_intercept_out", do_intercept },
};

static struct request split(char *line)
{
	struct request r = { 0 };

	for (char *at = line, *word; r.nr < WORDS_MAX && (word = strtok_r(at, " \t\r", &at));)
		r.word[r.nr++] = word;
	for (u32 i = r.nr; i < WORDS_MAX; i++)
		r.word[i] = "";
	return r;
}

/* What a request set going has happened, or the next part of it, before the next is looked at. */
static void process(struct qtest *q, char *line)
{
	struct request r;

	if (q->log)
		fprintf(q->log, "[R +%.6f] %.4096s\n", (double)emu_clock_ns(q->m) / 1e9, line);
	r = split(line);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, r.word[0]))
			continue;
		commands[i].run(q, &r);
		emu_settle(q->m);
		return;
	}
	/* That answers an empty line too: a client waits for one line for each. */
	answer(q, "FAIL Unknown command '%.64s'", r.word[0]);
}

static void line_add(struct qtest *q, const char *bytes, size_t len)
{
	size_t room = q->line_room ? q->line_room : LINE_ROOM_FIRST;
	char *line;

	if (q->too_long)
		return;
	if (len > QTEST_LINE_MAX - q->line_len) {
		q->too_long = true;
		return;
	}
	while (room < q->line_len + len + 1)
		room *= 2;
	if (room != q->line_room) {
		line = realloc(q->line, room);
		if (!line) {
			q->too_long = true;
			return;
		}
		q->line = line;
		q->line_room = room;
	}
	memcpy(q->line + q->line_len, bytes, len);
	q->line_len += len;
	q->line[q->line_len] = '\0';
}

static void line_end(struct qtest *q)
{
	if (q->too_long)
		answer(q, "FAIL a line has at most 32 MiB");
	else if (q->line && memchr(q->line, '\0', q->line_len))
		answer(q, "FAIL a zero byte is in the line");
	else if (q->line)
		process(q, q->line);
	qtest_disconnect(q);
}

void qtest_receive(struct qtest *q, const char *bytes, size_t len_bytes)
{
	while (len_bytes) {
		const char *end = memchr(bytes, '\n', len_bytes);
		size_t n = end ? (size_t)(end - bytes) : len_bytes;

		line_add(q, bytes, n);
		if (end)
			line_end(q);
		n += end != NULL;
		bytes += n;
		len_bytes -= n;
	}
}

void qtest_disconnect(struct qtest *q)
{
	q->line_len = 0;
	q->too_long = false;
	if (q->line)
		q->line[0] = '\0';
}

void qtest_init(struct qtest *q, struct emu *m, void (*send_fn)(void *opaque, const char *data, size_t len_bytes),
		void *opaque)
{
	*q = (struct qtest){ .m = m, .send = send_fn, .opaque = opaque };
}

void qtest_fini(struct qtest *q)
{
	free(q->line);
	free(q->data);
	free(q->reply);
}
