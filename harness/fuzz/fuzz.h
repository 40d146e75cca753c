/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_FUZZ_FUZZ_H
#define HARNESS_FUZZ_FUZZ_H

/*
 * What the fuzz targets share: an input is a list of actions, read from the front of the
 * bytes that libFuzzer or a file of the corpus gives. Where the bytes end, everything
 * reads as zero, so that a shortened input is an input. A target ends by abort() where what
 * it watches does not hold; crashes, sanitizers and time are watched by who calls it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "spec/spec_types.h"

/* The rigs of the unit tests: their memory from the sanitizer's allocator, which is faster and finds more. */
#undef test_calloc
#undef test_free
#define test_calloc(n, size) calloc(n, size)
#define test_free(p) free(p)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_in {
	const u8 *at, *end;
};

static inline struct fuzz_in fuzz_open(const uint8_t *data, size_t size)
{
	return (struct fuzz_in){ data, data + size };
}

static inline bool fuzz_more(const struct fuzz_in *in)
{
	return in->at < in->end;
}

static inline void fuzz_bytes(struct fuzz_in *in, void *buf, size_t len)
{
	size_t n = (size_t)(in->end - in->at) < len ? (size_t)(in->end - in->at) : len;

	memcpy(buf, in->at, n);
	memset((u8 *)buf + n, 0, len - n);
	in->at += n;
}

static inline u8 fuzz_u8(struct fuzz_in *in)
{
	u8 v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline u16 fuzz_u16(struct fuzz_in *in)
{
	u16 v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline u32 fuzz_u32(struct fuzz_in *in)
{
	u32 v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

static inline u64 fuzz_u64(struct fuzz_in *in)
{
	u64 v;

	fuzz_bytes(in, &v, sizeof(v));
	return v;
}

/* A small number mostly costs one byte, so that mutations of it matter. @below at most 65536. */
static inline u32 fuzz_pick(struct fuzz_in *in, u32 below)
{
	return (below <= 256 ? fuzz_u8(in) : fuzz_u16(in)) % below;
}

static inline void fuzz_expect(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: does not hold: %s\n", what);
	abort();
}

#endif
