/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_STORE_H
#define MODEL_STORE_H

/*
 * Injected content: a sparse space of bytes that is system memory or an SSD's medium.
 * A 512-byte sector that nobody has looked into may be held as a 64-bit tag that stands
 * for its content; store_copy() of whole aligned sectors then moves tags. What a reader
 * sees is the same either way. sim/store.c implements it; offsets and lengths are bytes.
 *
 * Offsets at or beyond the size given at creation are a caller's bug (assert).
 */

#include "spec/spec_types.h"

#define STORE_SECTOR_SIZE 512ULL

struct store;

void store_read(struct store *s, u64 offset, void *buf, size_t len_bytes);
void store_write(struct store *s, u64 offset, const void *buf, size_t len_bytes);

/* Both stores may be the same; the ranges must not overlap. */
void store_copy(struct store *dst, u64 dst_offset, struct store *src, u64 src_offset, u64 len_bytes);

/* Make the range read as zeros. Cheap for large aligned ranges. */
void store_zero(struct store *s, u64 offset, u64 len_bytes);

/* Are the two ranges equal? For NVMe Compare. */
bool store_equal(struct store *a, u64 a_offset, struct store *b, u64 b_offset, u64 len_bytes);

#endif
