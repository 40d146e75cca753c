// SPDX-License-Identifier: GPL-2.0
#include "vfio_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Stands between a device and its guest, and passes on and writes down what each asks of the other. */

#define BUFFER_BYTES (1U << 20)

struct recorded {
	struct vfio_device device;	/* first: the guest's */
	struct vfio_guest guest;	/* the device's; recorded_of() */
	struct vfio_device *inner;
	struct vfio_guest *outer;
	struct vfio_recording *to;
	u8 port;
};

struct vfio_recording {
	FILE *f;
	struct recorded port[RECORD_PORTS];
};

static struct recorded *recorded_of(struct vfio_guest *g)
{
	return (struct recorded *)((char *)g - offsetof(struct recorded, guest));
}

u64 vfio_record_hash(const void *data, size_t len_bytes)
{
	return XXH3_64bits(data, len_bytes);
}

static void put(struct vfio_recording *r, struct record_entry e, const void *data, size_t data_bytes)
{
	fwrite(&e, sizeof(e), 1, r->f);
	if (data_bytes)
		fwrite(data, data_bytes, 1, r->f);
}

static void answer(struct recorded *d, u64 val)
{
	put(d->to, (struct record_entry){ .kind = RECORD_ANSWER, .port = d->port, .b = val }, NULL, 0);
}

/* --- the device, as the guest has it --- */

static bool record_open(struct vfio_device *dev, struct vfio_guest *g)
{
	struct recorded *d = (struct recorded *)dev;
	bool ok;

	put(d->to, (struct record_entry){ .kind = RECORD_OPEN, .port = d->port }, NULL, 0);
	d->outer = g;
	ok = d->inner->ops->open(d->inner, &d->guest);
	answer(d, ok);
	return ok;
}

static void record_close(struct vfio_device *dev)
{
	struct recorded *d = (struct recorded *)dev;

	put(d->to, (struct record_entry){ .kind = RECORD_CLOSE, .port = d->port }, NULL, 0);
	d->inner->ops->close(d->inner);
}

static void record_reset(struct vfio_device *dev)
{
	struct recorded *d = (struct recorded *)dev;

	put(d->to, (struct record_entry){ .kind = RECORD_RESET, .port = d->port }, NULL, 0);
	d->inner->ops->reset(d->inner);
}

static u64 record_read(struct vfio_device *dev, u32 region, u64 off, u32 len)
{
	struct recorded *d = (struct recorded *)dev;
	u64 val;

	put(d->to, (struct record_entry){ RECORD_READ, d->port, (u8)region, (u8)len, 0, off, 0 }, NULL, 0);
	val = d->inner->ops->read(d->inner, region, off, len) & (~0ULL >> (64 - 8 * len));
	answer(d, val);
	return val;
}

static void record_write(struct vfio_device *dev, u32 region, u64 off, u64 val, u32 len)
{
	struct recorded *d = (struct recorded *)dev;

	put(d->to, (struct record_entry){ RECORD_WRITE, d->port, (u8)region, (u8)len, 0, off, val }, NULL, 0);
	d->inner->ops->write(d->inner, region, off, val, len);
}

static void record_vector(struct vfio_device *dev, u32 vec, bool open)
{
	struct recorded *d = (struct recorded *)dev;

	put(d->to, (struct record_entry){ .kind = RECORD_VECTOR, .port = d->port, .a = vec, .b = open }, NULL, 0);
	d->inner->ops->vector(d->inner, vec, open);
}

static bool record_map(struct vfio_device *dev, u64 addr, u64 len_bytes)
{
	struct recorded *d = (struct recorded *)dev;
	bool ok;

	put(d->to, (struct record_entry){ .kind = RECORD_MAP, .port = d->port, .a = addr, .b = len_bytes }, NULL, 0);
	ok = !d->inner->ops->map || d->inner->ops->map(d->inner, addr, len_bytes);
	answer(d, ok);
	return ok;
}

static void record_unmap(struct vfio_device *dev, u64 addr, u64 len_bytes)
{
	struct recorded *d = (struct recorded *)dev;

	put(d->to, (struct record_entry){ .kind = RECORD_UNMAP, .port = d->port, .a = addr, .b = len_bytes }, NULL, 0);
	if (d->inner->ops->unmap)
		d->inner->ops->unmap(d->inner, addr, len_bytes);
}

static const struct vfio_device_ops record_ops = {
	.open = record_open, .close = record_close, .reset = record_reset, .read = record_read, .write = record_write,
	.vector = record_vector, .map = record_map, .unmap = record_unmap,
};

/* --- the guest, as the device has it --- */

static bool is_zero(const u8 *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

static bool guest_read(struct vfio_guest *g, u64 addr, void *buf, size_t len_bytes)
{
	struct recorded *d = recorded_of(g);
	bool ok = d->outer->read(d->outer, addr, buf, len_bytes), zero = ok && is_zero(buf, len_bytes);

	put(d->to, (struct record_entry){ RECORD_DMA_READ, d->port, zero, 0, (u32)len_bytes, addr, ok }, buf,
	    ok && !zero ? len_bytes : 0);
	return ok;
}

static bool guest_write(struct vfio_guest *g, u64 addr, const void *buf, size_t len_bytes)
{
	struct recorded *d = recorded_of(g);
	bool ok = d->outer->write(d->outer, addr, buf, len_bytes);

	put(d->to, (struct record_entry){ RECORD_DMA_WRITE, d->port, ok, 0, (u32)len_bytes, addr, vfio_record_hash(buf, len_bytes) },
	    NULL, 0);
	return ok;
}

static void guest_interrupt(struct vfio_guest *g, u32 vec)
{
	struct recorded *d = recorded_of(g);

	put(d->to, (struct record_entry){ .kind = RECORD_INTERRUPT, .port = d->port, .a = vec }, NULL, 0);
	d->outer->interrupt(d->outer, vec);
}

/* --- the file --- */

struct vfio_recording *vfio_record_new(const char *path, const char *words, size_t words_bytes)
{
	struct vfio_recording *r = calloc(1, sizeof(*r));
	u32 n = (u32)words_bytes;

	if (!r)
		return NULL;
	r->f = fopen(path, "wbe");
	if (!r->f) {
		free(r);
		return NULL;
	}
	setvbuf(r->f, NULL, _IOFBF, BUFFER_BYTES);
	fwrite(RECORD_MAGIC, 8, 1, r->f);
	fwrite(&n, sizeof(n), 1, r->f);
	fwrite(words, n, 1, r->f);
	return r;
}

struct vfio_device *vfio_record_device(struct vfio_recording *r, u32 port, struct vfio_device *d)
{
	struct recorded *rec = &r->port[port];

	*rec = (struct recorded){ .device = *d, .inner = d, .to = r, .port = (u8)port };
	rec->device.ops = &record_ops;
	rec->guest = (struct vfio_guest){ guest_read, guest_write, guest_interrupt };
	for (u32 i = 0; i < VFIO_REGIONS; i++)
		rec->device.region[i].fd = -1;
	return &rec->device;
}

void vfio_record_work(struct vfio_recording *r)
{
	put(r, (struct record_entry){ .kind = RECORD_WORK }, NULL, 0);
}

void vfio_record_worked(struct vfio_recording *r, int ret)
{
	put(r, (struct record_entry){ .kind = RECORD_ANSWER, .b = (u64)ret }, NULL, 0);
}

int vfio_record_end(struct vfio_recording *r, const char *report)
{
	size_t n = strlen(report);
	int ret;

	put(r, (struct record_entry){ .kind = RECORD_END, .bytes = (u32)n }, report, n);
	ret = ferror(r->f) ? -1 : 0;
	if (fclose(r->f))
		ret = -1;
	free(r);
	return ret;
}
