/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_OPTS_H
#define NVME_EMU_OPTS_H

/*
 * QEMU's option words: "first,key=value,flag,key=a,,b" (",," is a comma), or the same as a
 * JSON object.
 */

#include "spec/spec_types.h"

#define OPTS_TEXT_MAX	8192
#define OPTS_MAX	64

struct opts {
	char text[OPTS_TEXT_MAX];
	struct {
		const char *key, *val;
	} opt[OPTS_MAX];
	u32 nr;
};

/*
 * A first word without '=' is the value of @first; others are "on", and "off" for noWORD when they are
 * unknown to the reader: he asks for both. False: too long, too many, or bad JSON.
 */
bool opts_parse(struct opts *o, const char *text, const char *first);

/* The last value given, or NULL. */
const char *opts_get(const struct opts *o, const char *key);

/* Whole numbers as strtoull() takes them with base 0, and nothing behind. */
bool opts_number(const char *text, u64 *out);
/* A number with K, M, G or T; without one it counts in @unit bytes. */
bool opts_size(const char *text, u64 unit, u64 *out);
/* 1: on, yes, true, y; 0: off, no, false, n; -1: neither. */
int opts_bool(const char *text);

#endif
