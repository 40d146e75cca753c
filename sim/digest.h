/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_DIGEST_H
#define SIM_DIGEST_H

/*
 * A running digest of what a machine did or holds: XXH3-128 over a stream of bytes. Same
 * scenario, seed and build give the same digest anywhere. It says whether two runs
 * differ; it does not resist an adversary.
 */

#include "spec/spec_types.h"

struct digest {
	struct XXH3_state_s *state;
};

/* 0, or -ENOMEM. The digest is then that of no bytes. */
int digest_init(struct digest *d);
void digest_fini(struct digest *d);

/* Begin anew. */
void digest_reset(struct digest *d);

/* Raw: the boundary between two calls leaves no mark. */
void digest_bytes(struct digest *d, const void *data, size_t len_bytes);

/* Eight bytes, little-endian. */
void digest_u64(struct digest *d, u64 value);

/* Length, then the characters: neighbouring strings cannot run into each other. */
void digest_string(struct digest *d, const char *text);

/* Low half of the digest so far; the stream may go on. */
u64 digest_final(const struct digest *d);

/* The whole digest so far as 32 hexadecimal digits in xxHash's canonical order, and a NUL. */
#define DIGEST_HEX_SIZE 33
void digest_hex(const struct digest *d, char hex[DIGEST_HEX_SIZE]);

#endif
