// SPDX-License-Identifier: GPL-2.0
/* Looking at content: what tags stand for, recognition, comparison, digests. */
#include "store_internal.h"

#include <string.h>
#include <xxhash.h>

#include "digest.h"

#define TAG_STEP 0x9e3779b97f4a7c15ULL

static u64 tag_mix(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/*
 * The way back: multiplications by the inverses modulo 2^64, shifts repeated until they
 * leave the word.
 */
static u64 tag_unmix(u64 z)
{
	z = (z ^ (z >> 31) ^ (z >> 62)) * 0x319642b2d24d8ec3ULL;
	z = (z ^ (z >> 27) ^ (z >> 54)) * 0x96de1b173f119089ULL;
	return z ^ (z >> 30) ^ (z >> 60);
}

void store_tag_expand(u64 tag, u8 out[SECTOR])
{
	u64 z = tag_mix(tag);

	if (tag == STORE_TAG_ZERO) {
		memset(out, 0, SECTOR);
		return;
	}
	for (size_t at = 0; at < SECTOR; at += sizeof(u64), z += TAG_STEP) {
		u64 word = tag_mix(z);

		memcpy(out + at, &word, sizeof(word));
	}
}

void store_tag_read(u64 tag, size_t at, u8 *buf, size_t len_bytes)
{
	u8 sector[SECTOR];

	if (tag == STORE_TAG_ZERO) {
		memset(buf, 0, len_bytes);
	} else if (len_bytes == SECTOR) {
		store_tag_expand(tag, buf);
	} else if (at % sizeof(u64) == 0 && len_bytes == sizeof(u64)) {
		u64 word = tag_mix(tag_mix(tag) + at / sizeof(u64) * TAG_STEP);

		memcpy(buf, &word, sizeof(word));
	} else {
		store_tag_expand(tag, sector);
		memcpy(buf, sector + at, len_bytes);
	}
}

bool store_equal(struct store *a, u64 a_offset, struct store *b, u64 b_offset, u64 len_bytes)
{
	u8 a_buf[SECTOR], b_buf[SECTOR];

	store_check(a, a_offset, len_bytes);
	store_check(b, b_offset, len_bytes);
	while (len_bytes) {
		u64 n = min_u64(len_bytes, min_u64(SECTOR - a_offset % SECTOR, SECTOR - b_offset % SECTOR));
		const struct page *ap = page_find(a, a_offset), *bp = page_find(b, b_offset);

		if (ap || bp) {
			store_read(a, a_offset, a_buf, n);
			store_read(b, b_offset, b_buf, n);
			if (memcmp(a_buf, b_buf, n))
				return false;
		}
		a_offset += n;
		b_offset += n;
		len_bytes -= n;
	}
	return true;
}

/* The sector at @offset as bytes: in place, or made in @buf. */
static const u8 *sector_bytes(const struct store *s, u64 offset, u8 buf[SECTOR])
{
	const struct page *p = page_find(s, offset);
	size_t at = offset % PAGE;

	if (p && page_has_bytes(p, at, SECTOR))
		return p->bytes + at;
	store_tag_expand(p ? p->tag[at / SECTOR] : STORE_TAG_ZERO, buf);
	return buf;
}

static void sector_check(const struct store *s, u64 offset)
{
	store_check(s, offset, SECTOR);
	assert(offset % SECTOR == 0);
}

bool store_sector_tag(const struct store *s, u64 offset, u64 *tag)
{
	const struct page *p = page_find(s, offset);
	u8 expected[SECTOR];
	const u8 *bytes;
	u64 word;

	sector_check(s, offset);
	if (!p || !page_has_bytes(p, offset % PAGE, SECTOR)) {
		*tag = p ? p->tag[offset % PAGE / SECTOR] : STORE_TAG_ZERO;
		return true;
	}
	bytes = p->bytes + offset % PAGE;
	memcpy(&word, bytes, sizeof(word));
	*tag = tag_unmix(tag_unmix(word));
	store_tag_expand(*tag, expected);
	return memcmp(bytes, expected, SECTOR) == 0;
}

bool store_sector_is(const struct store *s, u64 offset, u64 tag)
{
	u64 held;

	return store_sector_tag(s, offset, &held) && held == tag;
}

u64 store_sector_hash(const struct store *s, u64 offset)
{
	u8 buf[SECTOR];

	sector_check(s, offset);
	return XXH3_64bits(sector_bytes(s, offset, buf), SECTOR);
}

static void page_digest(const struct store *s, u64 offset, u64 base, struct digest *d)
{
	static const u8 zeros[SECTOR];
	u8 buf[SECTOR];
	u64 end = min_u64(offset + PAGE, s->size_bytes);

	for (; offset < end; offset += SECTOR) {
		const u8 *bytes = sector_bytes(s, offset, buf);

		if (!memcmp(bytes, zeros, SECTOR))
			continue;
		digest_u64(d, offset - base);
		digest_bytes(d, bytes, SECTOR);
	}
}

/* Pages of a range that begins and ends with whole ones. */
static void pages_digest(const struct store *s, u64 offset, u64 end, struct digest *d)
{
	u64 base = offset;

	while (offset < end) {
		if (!group_used(s, offset)) {
			offset = (offset | (GROUP_SIZE - 1)) + 1;
		} else if (!s->table[offset >> LEAF_SHIFT]) {
			offset = (offset | (LEAF_SIZE - 1)) + 1;
		} else {
			if (page_find(s, offset))
				page_digest(s, offset, base, d);
			offset += PAGE;
		}
	}
}

void store_digest(const struct store *s, struct digest *d)
{
	pages_digest(s, 0, s->size_bytes, d);
}

void store_digest_range(const struct store *s, u64 offset, u64 len_bytes, struct digest *d)
{
	store_check(s, offset, len_bytes);
	assert(((offset | len_bytes) & (PAGE - 1)) == 0);
	pages_digest(s, offset, offset + len_bytes, d);
}
