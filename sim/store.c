// SPDX-License-Identifier: GPL-2.0
/*
 * Keeping content. How a sector is held follows what is written to it, never who reads
 * it: reading a tag makes bytes for the reader and keeps the tag.
 */
#include "store_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Memory and its budget */

static void store_lost(struct store *s)
{
	if (s->over)
		return;
	s->over = true;
	if (s->over_fn)
		s->over_fn(s->over_opaque);
}

static void *store_alloc(struct store *s, size_t size_bytes)
{
	void *p = NULL;

	if (size_bytes <= s->max_bytes - s->allocated_bytes)
		p = calloc(1, size_bytes);
	if (p)
		s->allocated_bytes += size_bytes;
	else
		store_lost(s);
	return p;
}

static void store_release(struct store *s, void *p, size_t size_bytes)
{
	if (!p)
		return;
	free(p);
	s->allocated_bytes -= size_bytes;
}

static void page_drop(struct store *s, struct page **slot)
{
	if (!*slot)
		return;
	store_release(s, (*slot)->bytes, PAGE);
	store_release(s, *slot, sizeof(**slot));
	*slot = NULL;
}

static void leaf_drop(struct store *s, struct leaf **slot)
{
	if (!*slot)
		return;
	for (size_t i = 0; i < LEAF_PAGES; i++)
		page_drop(s, &(*slot)->page[i]);
	store_release(s, *slot, sizeof(**slot));
	*slot = NULL;
}

/* The page at @offset, made if absent; NULL if the budget does not allow it. */
static struct page *page_make(struct store *s, u64 offset)
{
	struct leaf **leaf = &s->table[offset >> LEAF_SHIFT];
	struct page **slot;

	if (!*leaf) {
		*leaf = store_alloc(s, sizeof(**leaf));
		if (!*leaf)
			return NULL;
		s->used[offset >> GROUP_SHIFT >> 6] |= 1ULL << (offset >> GROUP_SHIFT & 63);
	}
	slot = &(*leaf)->page[offset >> SPEC_PAGE_SHIFT & (LEAF_PAGES - 1)];
	if (!*slot)
		*slot = store_alloc(s, sizeof(**slot));
	return *slot;
}

struct store *store_new(u64 size_bytes, u64 max_bytes, unsigned int flags)
{
	struct store *s;

	if (!size_bytes || size_bytes > STORE_SIZE_MAX || size_bytes % SECTOR)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->size_bytes = size_bytes;
	s->max_bytes = max_bytes;
	s->keep_bytes = (flags & STORE_BYTES) != 0;
	s->leaves = (size_bytes + LEAF_SIZE - 1) >> LEAF_SHIFT;
	s->used = calloc((size_bytes >> GROUP_SHIFT >> 6) + 1, sizeof(u64));
	if (!s->used)
		goto out_free;
	s->table = mmap(NULL, s->leaves * sizeof(struct leaf *), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->table == MAP_FAILED)
		goto out_free_used;
	return s;

out_free_used:
	free(s->used);
out_free:
	free(s);
	return NULL;
}

void store_free(struct store *s)
{
	if (!s)
		return;
	store_zero(s, 0, s->size_bytes);
	munmap(s->table, s->leaves * sizeof(struct leaf *));
	free(s->used);
	free(s);
}

u64 store_size_bytes(const struct store *s)
{
	return s->size_bytes;
}

u64 store_bytes_allocated(const struct store *s)
{
	return s->allocated_bytes;
}

bool store_over_budget(const struct store *s)
{
	return s->over;
}

void store_on_over_budget(struct store *s, void (*fn)(void *opaque), void *opaque)
{
	s->over_fn = fn;
	s->over_opaque = opaque;
}

/* Bytes of one page */

/* Most copies are a register, a submission or completion entry, or a page. */
static void copy_bytes(void *dst, const void *src, size_t len_bytes)
{
	switch (len_bytes) {
	case 4:
		memcpy(dst, src, 4);
		break;
	case 8:
		memcpy(dst, src, 8);
		break;
	case 16:
		memcpy(dst, src, 16);
		break;
	case 64:
		memcpy(dst, src, 64);
		break;
	default:
		memcpy(dst, src, len_bytes);
	}
}

static void page_read(const struct page *p, size_t at, u8 *buf, size_t len_bytes)
{
	while (len_bytes) {
		size_t n = min_u64(len_bytes, SECTOR - at % SECTOR);

		if (page_has_bytes(p, at, n))
			memcpy(buf, p->bytes + at, n);
		else
			store_tag_read(p->tag[at / SECTOR], at % SECTOR, buf, n);
		at += n;
		buf += n;
		len_bytes -= n;
	}
}

static void page_materialise(struct page *p, size_t sector)
{
	if (!(p->raw >> sector & 1))
		store_tag_expand(p->tag[sector], p->bytes + sector * SECTOR);
}

/*
 * Turn the sectors that [at, at + len) touches into bytes, for the caller to fill that
 * range: only sectors it does not cover whole get their old content. NULL: over budget.
 */
static u8 *page_open(struct store *s, struct page *p, size_t at, size_t len_bytes)
{
	size_t end = at + len_bytes;

	if (page_has_bytes(p, at, len_bytes))
		return p->bytes + at;
	if (!p->bytes) {
		p->bytes = store_alloc(s, PAGE);
		if (!p->bytes)
			return NULL;
	}
	if (at % SECTOR)
		page_materialise(p, at / SECTOR);
	if (end % SECTOR && (at % SECTOR == 0 || end / SECTOR != at / SECTOR))
		page_materialise(p, end / SECTOR);
	p->raw |= (u8)sector_mask(at, len_bytes);
	return p->bytes + at;
}

static void page_set_tag(struct store *s, struct page *p, size_t sector, u64 tag)
{
	u8 *bytes;

	if (s->keep_bytes && tag != STORE_TAG_ZERO) {
		bytes = page_open(s, p, sector * SECTOR, SECTOR);
		if (bytes)
			store_tag_expand(tag, bytes);
		return;
	}
	p->tag[sector] = tag;
	p->raw &= (u8)~(1U << sector);
	if (!p->raw && p->bytes) {
		store_release(s, p->bytes, PAGE);
		p->bytes = NULL;
	}
}

static void page_zero(struct store *s, struct page *p, size_t at, size_t len_bytes)
{
	while (len_bytes) {
		size_t n = min_u64(len_bytes, SECTOR - at % SECTOR);
		u8 *bytes;

		if (n == SECTOR) {
			page_set_tag(s, p, at / SECTOR, STORE_TAG_ZERO);
		} else if (page_has_bytes(p, at, n) || p->tag[at / SECTOR] != STORE_TAG_ZERO) {
			bytes = page_open(s, p, at, n);
			if (bytes)
				memset(bytes, 0, n);
		}
		at += n;
		len_bytes -= n;
	}
}

/* The contract of model/store.h */

/*
 * The bytes of [offset, offset + len) if they lie in one page that has them, as they do for
 * nearly every access of queues. A length of 0 takes the long way.
 */
static u8 *bytes_at(const struct store *s, u64 offset, size_t len_bytes)
{
	size_t at = offset % PAGE;
	const struct page *p;

	if (len_bytes - 1 >= PAGE - at)
		return NULL;
	p = page_find(s, offset);
	return p && page_has_bytes(p, at, len_bytes) ? p->bytes + at : NULL;
}

static __attribute__((noinline)) void read_pages(const struct store *s, u64 offset, u8 *to, size_t len_bytes)
{
	while (len_bytes) {
		size_t at = offset % PAGE, n = min_u64(len_bytes, PAGE - at);
		const struct page *p = page_find(s, offset);

		if (p)
			page_read(p, at, to, n);
		else
			memset(to, 0, n);
		offset += n;
		to += n;
		len_bytes -= n;
	}
}

static __attribute__((noinline)) void write_pages(struct store *s, u64 offset, const u8 *from, size_t len_bytes)
{
	static const u8 zeros[PAGE];

	while (len_bytes) {
		size_t at = offset % PAGE, n = min_u64(len_bytes, PAGE - at);

		/* Zeros change nothing where nothing is. */
		if (page_find(s, offset) || memcmp(from, zeros, n)) {
			struct page *p = page_make(s, offset);
			u8 *bytes = p ? page_open(s, p, at, n) : NULL;

			if (!bytes)
				return;
			memcpy(bytes, from, n);
		}
		offset += n;
		from += n;
		len_bytes -= n;
	}
}

void store_read(struct store *s, u64 offset, void *buf, size_t len_bytes)
{
	const u8 *bytes;

	store_check(s, offset, len_bytes);
	bytes = bytes_at(s, offset, len_bytes);
	if (bytes)
		copy_bytes(buf, bytes, len_bytes);
	else
		read_pages(s, offset, buf, len_bytes);
}

void store_write(struct store *s, u64 offset, const void *buf, size_t len_bytes)
{
	u8 *bytes;

	store_check(s, offset, len_bytes);
	bytes = bytes_at(s, offset, len_bytes);
	if (bytes)
		copy_bytes(bytes, buf, len_bytes);
	else
		write_pages(s, offset, buf, len_bytes);
}

void store_write_tag(struct store *s, u64 offset, u64 tag)
{
	struct page *p;

	store_check(s, offset, SECTOR);
	assert(offset % SECTOR == 0);
	p = tag == STORE_TAG_ZERO ? page_find(s, offset) : page_make(s, offset);
	if (p)
		page_set_tag(s, p, offset % PAGE / SECTOR, tag);
}

/* Zero whole pages from @offset, a page's start; as many as one step finds. Says how many bytes. */
static u64 store_zero_pages(struct store *s, u64 offset, u64 len_bytes)
{
	struct leaf **leaf = &s->table[offset >> LEAF_SHIFT];
	u64 n;

	len_bytes -= len_bytes % PAGE;
	if (!group_used(s, offset))
		return min_u64(len_bytes, GROUP_SIZE - offset % GROUP_SIZE);
	n = min_u64(len_bytes, LEAF_SIZE - offset % LEAF_SIZE);
	if (n == LEAF_SIZE)
		leaf_drop(s, leaf);
	else if (*leaf)
		for (u64 at = offset; at < offset + n; at += PAGE)
			page_drop(s, &(*leaf)->page[at >> SPEC_PAGE_SHIFT & (LEAF_PAGES - 1)]);
	return n;
}

void store_zero(struct store *s, u64 offset, u64 len_bytes)
{
	store_check(s, offset, len_bytes);
	/* Nothing lives behind the end: the last page and leaf are whole with it. */
	if (len_bytes && offset + len_bytes == s->size_bytes)
		len_bytes = s->leaves * LEAF_SIZE - offset;
	while (len_bytes) {
		u64 at = offset % PAGE, n = min_u64(len_bytes, PAGE - at);
		struct page *p;

		if (n == PAGE) {
			n = store_zero_pages(s, offset, len_bytes);
		} else {
			p = page_find(s, offset);
			if (p)
				page_zero(s, p, at, n);
		}
		offset += n;
		len_bytes -= n;
	}
}

/* Copy whole sectors that lie in one page on each side: tags stay tags. */
static void store_copy_sectors(struct store *dst, u64 dst_offset, const struct page *from, size_t at,
			       size_t len_bytes)
{
	struct page *to = page_make(dst, dst_offset);
	size_t sector = dst_offset % PAGE / SECTOR;

	if (!to)
		return;
	if (!from->raw && len_bytes == PAGE && !dst->keep_bytes) {
		memcpy(to->tag, from->tag, sizeof(to->tag));
		to->raw = 0;
		store_release(dst, to->bytes, PAGE);
		to->bytes = NULL;
		return;
	}
	for (; len_bytes; at += SECTOR, len_bytes -= SECTOR, sector++) {
		u8 *bytes;

		if (!page_has_bytes(from, at, SECTOR)) {
			page_set_tag(dst, to, sector, from->tag[at / SECTOR]);
			continue;
		}
		bytes = page_open(dst, to, sector * SECTOR, SECTOR);
		if (!bytes)
			return;
		memcpy(bytes, from->bytes + at, SECTOR);
	}
}

void store_copy(struct store *dst, u64 dst_offset, struct store *src, u64 src_offset, u64 len_bytes)
{
	u8 buf[SECTOR];

	store_check(dst, dst_offset, len_bytes);
	store_check(src, src_offset, len_bytes);
	while (len_bytes) {
		size_t at = src_offset % PAGE;
		u64 n = min_u64(len_bytes, min_u64(PAGE - at, PAGE - dst_offset % PAGE));
		const struct page *from = page_find(src, src_offset);

		if (!from) {
			store_zero(dst, dst_offset, n);
		} else if (page_has_bytes(from, at, n)) {
			store_write(dst, dst_offset, from->bytes + at, n);
		} else if ((src_offset | dst_offset) % SECTOR == 0 && n >= SECTOR) {
			n -= n % SECTOR;
			store_copy_sectors(dst, dst_offset, from, at, n);
		} else {
			n = min_u64(n, SECTOR - at % SECTOR);
			page_read(from, at, buf, n);
			store_write(dst, dst_offset, buf, n);
		}
		src_offset += n;
		dst_offset += n;
		len_bytes -= n;
	}
}
