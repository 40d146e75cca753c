/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_STORE_INTERNAL_H
#define SIM_STORE_INTERNAL_H

/*
 * What store.c, which changes content, and store_content.c, which looks at it, share.
 *
 * A table of leaves, reserved for the whole size and touched where it is used; a leaf of
 * 64 page pointers; a page of eight sectors, each a tag or bytes. What is absent is zeros.
 */

#include <assert.h>

#include "store.h"

#define SECTOR STORE_SECTOR_SIZE
#define PAGE SPEC_PAGE_SIZE
#define PAGE_SECTORS (PAGE / SECTOR)
#define PAGE_RAW 0xffU

#define LEAF_PAGES 64
#define LEAF_SHIFT (SPEC_PAGE_SHIFT + 6)
#define LEAF_SIZE (1ULL << LEAF_SHIFT)

/* Entries of the table that fill one of its own pages share a bit in used[]. */
#define GROUP_SHIFT (LEAF_SHIFT + 9)
#define GROUP_SIZE (1ULL << GROUP_SHIFT)

struct page {
	u64 tag[PAGE_SECTORS];	/* of sectors not in raw */
	u8 *bytes;		/* the whole page's, valid where raw; NULL if raw is 0 */
	u8 raw;			/* sectors held as bytes */
};

struct leaf {
	struct page *page[LEAF_PAGES];
};

struct store {
	struct leaf **table;
	u64 size_bytes;
	bool keep_bytes;	/* STORE_BYTES */
	bool over;
	u64 allocated_bytes;
	u64 max_bytes;
	void (*over_fn)(void *opaque);
	void *over_opaque;
	u64 leaves;		/* entries of the table */
	u64 *used;		/* groups that ever had a leaf */
};

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline void store_check(const struct store *s, u64 offset, u64 len_bytes)
{
	assert(len_bytes <= s->size_bytes && offset <= s->size_bytes - len_bytes);
}

static inline struct page *page_find(const struct store *s, u64 offset)
{
	const struct leaf *leaf = s->table[offset >> LEAF_SHIFT];

	return leaf ? leaf->page[offset >> SPEC_PAGE_SHIFT & (LEAF_PAGES - 1)] : NULL;
}

static inline bool group_used(const struct store *s, u64 offset)
{
	return s->used[offset >> GROUP_SHIFT >> 6] >> (offset >> GROUP_SHIFT & 63) & 1;
}

/* The sectors of a page that [at, at + len) touches; len is not 0. */
static inline unsigned int sector_mask(size_t at, size_t len_bytes)
{
	return PAGE_RAW << (at / SECTOR) & PAGE_RAW >> (PAGE_SECTORS - 1 - (at + len_bytes - 1) / SECTOR);
}

static inline bool page_has_bytes(const struct page *p, size_t at, size_t len_bytes)
{
	unsigned int mask = sector_mask(at, len_bytes);

	return (p->raw & mask) == mask;
}

/* @len_bytes at @at of what @tag stands for, inside a sector. */
void store_tag_read(u64 tag, size_t at, u8 *buf, size_t len_bytes);

#endif
