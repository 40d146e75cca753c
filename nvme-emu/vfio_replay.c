// SPDX-License-Identifier: GPL-2.0
#include "vfio_replay.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { AGREES, DIFFERS, BROKEN };

struct replay_port {
	struct vfio_guest guest;	/* first */
	struct vfio_replay *r;
	struct vfio_device *dev;
	bool open;
	bool vector[VFIO_VECTORS_MAX];
};

struct vfio_replay {
	FILE *f;
	u64 entry;			/* number of the one read last */
	char text[RECORD_TEXT_MAX + 1];
	struct replay_port port[RECORD_PORTS];
	u32 nr;
	int state;
	char why[256];
	struct vfio_replayed seen;
	XXH3_state_t *hash;
};

static const char *const names[] = {
	[RECORD_OPEN] = "open", [RECORD_CLOSE] = "close", [RECORD_RESET] = "reset", [RECORD_READ] = "read", [RECORD_WRITE] = "write",
	[RECORD_VECTOR] = "vector", [RECORD_MAP] = "map", [RECORD_UNMAP] = "unmap", [RECORD_WORK] = "work",
	[RECORD_ANSWER] = "answer", [RECORD_DMA_READ] = "DMA read", [RECORD_DMA_WRITE] = "DMA write",
	[RECORD_INTERRUPT] = "interrupt", [RECORD_END] = "end",
};

/* The first reason counts. */
static void stop(struct vfio_replay *r, int state, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void stop(struct vfio_replay *r, int state, const char *format, ...)
{
	va_list ap;

	if (r->state != AGREES)
		return;
	r->state = state;
	va_start(ap, format);
	vsnprintf(r->why, sizeof(r->why), format, ap);
	va_end(ap);
}

static void bad(struct vfio_replay *r, const char *what)
{
	stop(r, BROKEN, "entry %llu: %s", (unsigned long long)r->entry, what);
}

static bool bytes(struct vfio_replay *r, void *to, size_t n)
{
	if (r->state == AGREES && fread(to, 1, n, r->f) == n)
		return true;
	bad(r, "the file ends before the recording does");
	return false;
}

static bool next(struct vfio_replay *r, struct record_entry *e)
{
	r->entry++;
	if (!bytes(r, e, sizeof(*e)))
		return false;
	if (!e->kind || e->kind > RECORD_END || e->port >= r->nr)
		bad(r, "no such entry");
	return r->state == AGREES;
}

/* A device does @now: is it what was recorded? */
static bool expect(struct vfio_replay *r, const struct record_entry *now, struct record_entry *was)
{
	bool same;

	if (!next(r, was))
		return false;
	same = was->kind == now->kind && was->port == now->port && was->a == now->a && was->bytes == now->bytes &&
	       (now->kind == RECORD_DMA_READ || was->b == now->b);
	if (!same)
		stop(r, DIFFERS, "entry %llu: recorded: device %u: %s 0x%llx 0x%llx (%u bytes); now: device %u: %s 0x%llx 0x%llx (%u bytes)",
		     (unsigned long long)r->entry, was->port, names[was->kind], (unsigned long long)was->a,
		     (unsigned long long)was->b, was->bytes, now->port, names[now->kind], (unsigned long long)now->a,
		     (unsigned long long)now->b, now->bytes);
	XXH3_64bits_update(r->hash, now, sizeof(*now));
	return same;
}

static void expect_answer(struct vfio_replay *r, u8 port, u64 val)
{
	struct record_entry was;

	expect(r, &(struct record_entry){ .kind = RECORD_ANSWER, .port = port, .b = val }, &was);
}

/* --- the guest, as the device has it --- */

static u8 port_of(const struct replay_port *p)
{
	return (u8)(p - p->r->port);
}

static bool replay_read(struct vfio_guest *g, u64 addr, void *buf, size_t len_bytes)
{
	struct replay_port *p = (struct replay_port *)g;
	struct record_entry was, now = { RECORD_DMA_READ, port_of(p), 0, 0, (u32)len_bytes, addr, 0 };

	if (!expect(p->r, &now, &was))
		return false;
	p->r->seen.dma_reads++;
	if (was.region)
		memset(buf, 0, len_bytes);
	return was.b && (was.region || bytes(p->r, buf, len_bytes));
}

static bool replay_write(struct vfio_guest *g, u64 addr, const void *buf, size_t len_bytes)
{
	struct replay_port *p = (struct replay_port *)g;
	struct record_entry was, now = { RECORD_DMA_WRITE, port_of(p), 0, 0, (u32)len_bytes, addr, vfio_record_hash(buf, len_bytes) };

	if (!expect(p->r, &now, &was))
		return false;
	p->r->seen.dma_writes++;
	return was.region;
}

static void replay_interrupt(struct vfio_guest *g, u32 vec)
{
	struct replay_port *p = (struct replay_port *)g;
	struct record_entry was;

	if (expect(p->r, &(struct record_entry){ .kind = RECORD_INTERRUPT, .port = port_of(p), .a = vec }, &was))
		p->r->seen.interrupts++;
}

/* --- what was done to the devices --- */

static bool access_ok(const struct vfio_device *d, const struct record_entry *e)
{
	u64 size = e->region < VFIO_REGIONS ? d->region[e->region].size_bytes : 0;
	u32 len = e->len;

	if ((len != 1 && len != 2 && len != 4 && len != 8) || (len == 8 && e->region == VFIO_REGION_CONFIG))
		return false;
	return e->a % len == 0 && e->a < size && len <= size - e->a;
}

static bool range_ok(const struct record_entry *e)
{
	return e->b && !((e->a | e->b) % SPEC_PAGE_SIZE) && e->a + (e->b - 1) >= e->a;
}

static bool entry_ok(const struct replay_port *p, const struct record_entry *e)
{
	if (p->open == (e->kind == RECORD_OPEN))
		return false;
	switch (e->kind) {
	case RECORD_READ: case RECORD_WRITE:
		return access_ok(p->dev, e);
	case RECORD_VECTOR:
		return e->a < p->dev->vectors && e->b <= 1 && p->vector[e->a] != e->b;
	case RECORD_MAP: case RECORD_UNMAP:
		return range_ok(e);
	default:
		return true;
	}
}

static void play(struct vfio_replay *r, const struct record_entry *e)
{
	struct replay_port *p = &r->port[e->port];
	const struct vfio_device_ops *ops = p->dev->ops;

	if (!entry_ok(p, e)) {
		bad(r, "such a thing cannot be asked of the device now");
		return;
	}
	r->seen.accesses++;
	switch (e->kind) {
	case RECORD_OPEN:
		p->open = ops->open(p->dev, &p->guest);
		expect_answer(r, e->port, p->open);
		break;
	case RECORD_CLOSE:
		ops->close(p->dev);
		p->open = false;
		break;
	case RECORD_RESET:
		ops->reset(p->dev);
		break;
	case RECORD_READ:
		expect_answer(r, e->port, ops->read(p->dev, e->region, e->a, e->len) & (~0ULL >> (64 - 8 * e->len)));
		break;
	case RECORD_WRITE:
		ops->write(p->dev, e->region, e->a, e->b, e->len);
		break;
	case RECORD_VECTOR:
		p->vector[e->a] = e->b;
		ops->vector(p->dev, (u32)e->a, e->b);
		break;
	case RECORD_MAP:
		expect_answer(r, e->port, !ops->map || ops->map(p->dev, e->a, e->b));
		break;
	default:
		if (ops->unmap)
			ops->unmap(p->dev, e->a, e->b);
		break;
	}
}

static void end(struct vfio_replay *r, const struct record_entry *e)
{
	if (e->bytes > RECORD_TEXT_MAX) {
		bad(r, "a report of that length");
		return;
	}
	if (bytes(r, r->text, e->bytes))
		r->text[e->bytes] = '\0';
	for (u32 i = 0; i < r->nr; i++)
		if (r->port[i].open)
			bad(r, "a device is still open at the end");
}

/* Whatever state a stopped replay left: a device has no guest when it goes. */
static void close_all(struct vfio_replay *r)
{
	for (u32 i = 0; i < r->nr; i++) {
		if (r->port[i].open)
			r->port[i].dev->ops->close(r->port[i].dev);
		r->port[i].open = false;
	}
}

int vfio_replay_run(struct vfio_replay *r, struct vfio_device *const *dev, u32 nr, int (*work)(void *opaque), void *opaque,
		    const char **report, char *why, size_t why_size)
{
	struct record_entry e = { 0 };

	r->nr = nr;
	for (u32 i = 0; i < nr; i++)
		r->port[i] = (struct replay_port){ .guest = { replay_read, replay_write, replay_interrupt }, .r = r, .dev = dev[i] };
	while (e.kind != RECORD_END && next(r, &e)) {
		if (e.kind == RECORD_END)
			end(r, &e);
		else if (e.kind == RECORD_WORK)
			expect_answer(r, 0, (u64)work(opaque));
		else if (e.kind < RECORD_WORK)
			play(r, &e);
		else
			stop(r, DIFFERS, "entry %llu: recorded: device %u: %s 0x%llx 0x%llx (%u bytes); now: nothing",
			     (unsigned long long)r->entry, e.port, names[e.kind], (unsigned long long)e.a, (unsigned long long)e.b, e.bytes);
	}
	close_all(r);
	r->seen.digest = XXH3_64bits_digest(r->hash);
	*report = r->text;
	snprintf(why, why_size, "%s", r->why);
	return r->state;
}

struct vfio_replayed vfio_replay_seen(const struct vfio_replay *r)
{
	return r->seen;
}

struct vfio_replay *vfio_replay_open(const char *path, const char **words, size_t *words_bytes, char *why, size_t why_size)
{
	struct vfio_replay *r = calloc(1, sizeof(*r));
	char magic[8];
	u32 n = 0;

	snprintf(why, why_size, "no memory");
	if (!r)
		return NULL;
	r->hash = XXH3_createState();
	if (!r->hash)
		goto out;
	XXH3_64bits_reset(r->hash);
	r->f = fopen(path, "rbe");
	snprintf(why, why_size, "%s", strerror(errno));
	if (!r->f)
		goto out;
	snprintf(why, why_size, "not a recording of lightiov serve");
	if (fread(magic, sizeof(magic), 1, r->f) != 1 || memcmp(magic, RECORD_MAGIC, 8) || fread(&n, sizeof(n), 1, r->f) != 1 ||
	    n > RECORD_TEXT_MAX || fread(r->text, 1, n, r->f) != n || !n || r->text[n - 1])
		goto out;
	*words = r->text;
	*words_bytes = n;
	return r;
out:
	vfio_replay_close(r);
	return NULL;
}

void vfio_replay_close(struct vfio_replay *r)
{
	if (!r)
		return;
	if (r->f)
		fclose(r->f);
	XXH3_freeState(r->hash);
	free(r);
}
