/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_STORE_H
#define SIM_STORE_H

/*
 * The simulator's side of model/store.h: makes stores, writes and recognises tags, and
 * digests content. Everything here but store_bytes_allocated() speaks of content: it
 * answers the same whether a sector is held as a tag or as bytes.
 */

#include "../model/store.h"

/* Content of every sector whose tag is written is kept as bytes: the check on lazy content. */
#define STORE_BYTES 1U

#define STORE_TAG_ZERO 0ULL		/* the content of a sector nobody wrote: zeros */
#define STORE_SIZE_MAX (1ULL << 44)	/* 16 TiB */
#define STORE_NO_BUDGET (~0ULL)

/*
 * A store of @size_bytes zeros (a multiple of 512, at most STORE_SIZE_MAX) that may take
 * @max_bytes of memory. NULL without memory or if the size is not as said.
 */
struct store *store_new(u64 size_bytes, u64 max_bytes, unsigned int flags);
void store_free(struct store *s);

u64 store_size_bytes(const struct store *s);

/* Memory taken by content and what describes it, in bytes. */
u64 store_bytes_allocated(const struct store *s);

/*
 * Did a write not fit the budget, or find no memory? It was then lost, in part or whole,
 * and all later content is not to be trusted: the run is to be ended as the
 * environment's fault. Stays true.
 */
bool store_over_budget(const struct store *s);

/* Have @fn called on the first write lost, from inside of it; it may only take note. */
void store_on_over_budget(struct store *s, void (*fn)(void *opaque), void *opaque);

/* Let the sector at @offset (aligned) hold what @tag stands for. */
void store_write_tag(struct store *s, u64 offset, u64 tag);

/* Does the sector at @offset (aligned) hold what @tag stands for? */
bool store_sector_is(const struct store *s, u64 offset, u64 tag);

/*
 * Does the sector at @offset (aligned) hold what some tag stands for? Says which. No two
 * tags stand for the same content.
 */
bool store_sector_tag(const struct store *s, u64 offset, u64 *tag);

/* XXH3-64 of the 512 bytes of the sector at @offset (aligned). */
u64 store_sector_hash(const struct store *s, u64 offset);

/* Add (offset, 512 bytes) of each sector that is not all zeros to @d, in the order of offsets. */
struct digest;
void store_digest(const struct store *s, struct digest *d);
/* ... of a range of whole 4 KiB pages, by their place in it. */
void store_digest_range(const struct store *s, u64 offset, u64 len_bytes, struct digest *d);

/*
 * What a tag stands for: 512 zeros for STORE_TAG_ZERO, else the little-endian words
 * w[i] = mix(mix(tag) + i * 0x9e3779b97f4a7c15), i = 0..63, with SplitMix64's mix(). mix()
 * is a bijection with mix(0) = 0, so w[0] alone tells the tag, and any word can be had
 * without the others.
 */
void store_tag_expand(u64 tag, u8 out[STORE_SECTOR_SIZE]);

#endif
