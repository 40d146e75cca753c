// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "flat.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct store {
	u8 *bytes;
	u64 size;
	int file;
};

struct store *store_new(u64 size_bytes, u64 max_bytes, unsigned int flags)
{
	struct store *s = calloc(1, sizeof(*s));

	(void)max_bytes, (void)flags;
	if (!s)
		return NULL;
	s->size = size_bytes;
	s->file = memfd_create("guest", MFD_CLOEXEC);
	if (s->file < 0 || ftruncate(s->file, (off_t)size_bytes))
		goto out;
	s->bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->file, 0);
	if (s->bytes == MAP_FAILED)
		goto out;
	return s;
out:
	if (s->file >= 0)
		close(s->file);
	free(s);
	return NULL;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	munmap(s->bytes, s->size);
	close(s->file);
	free(s);
}

void *flat_at(struct store *s, u64 offset)
{
	assert(offset < s->size);
	return s->bytes + offset;
}

int flat_file(const struct store *s)
{
	return s->file;
}

/* No write is ever lost here. */
void store_on_over_budget(struct store *s, void (*fn)(void *opaque), void *opaque)
{
	(void)s, (void)fn, (void)opaque;
}

static u8 *range(struct store *s, u64 offset, u64 len_bytes)
{
	assert(len_bytes <= s->size && offset <= s->size - len_bytes);
	return s->bytes + offset;
}

void store_read(struct store *s, u64 offset, void *buf, size_t len_bytes)
{
	memcpy(buf, range(s, offset, len_bytes), len_bytes);
}

void store_write(struct store *s, u64 offset, const void *buf, size_t len_bytes)
{
	memcpy(range(s, offset, len_bytes), buf, len_bytes);
}

void store_copy(struct store *dst, u64 dst_offset, struct store *src, u64 src_offset, u64 len_bytes)
{
	memcpy(range(dst, dst_offset, len_bytes), range(src, src_offset, len_bytes), len_bytes);
}

void store_zero(struct store *s, u64 offset, u64 len_bytes)
{
	memset(range(s, offset, len_bytes), 0, len_bytes);
}

bool store_equal(struct store *a, u64 a_offset, struct store *b, u64 b_offset, u64 len_bytes)
{
	return memcmp(range(a, a_offset, len_bytes), range(b, b_offset, len_bytes), len_bytes) == 0;
}
