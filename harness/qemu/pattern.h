/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QEMU_PATTERN_H
#define QEMU_PATTERN_H

/*
 * A block of the disk that says whose it is and where its owner wrote it: tag and index in plain,
 * the rest derived from both. Written in the VMs, recognised there and in the image.
 */

#include <stdbool.h>
#include <stdint.h>

#define PATTERN_BLOCK	512u
#define PATTERN_WORDS	(PATTERN_BLOCK / 8)
#define PATTERN_MAGIC	0x4c494f5653544b00ull	/* the tag is the lowest byte */

static inline void pattern_make(uint64_t *word, char tag, uint64_t index)
{
	uint64_t x = index << 8 | (uint8_t)tag;
	uint32_t i;

	word[0] = PATTERN_MAGIC | (uint8_t)tag;
	word[1] = index;
	for (i = 2; i < PATTERN_WORDS; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		word[i] = x ^ x >> 29;
	}
}

static inline bool pattern_is(const uint64_t *word, char tag, uint64_t index)
{
	uint64_t want[PATTERN_WORDS];
	uint32_t i;

	pattern_make(want, tag, index);
	for (i = 0; i < PATTERN_WORDS && word[i] == want[i]; i++)
		;
	return i == PATTERN_WORDS;
}

static inline bool pattern_is_zero(const uint64_t *word)
{
	uint32_t i;

	for (i = 0; i < PATTERN_WORDS && word[i] == 0; i++)
		;
	return i == PATTERN_WORDS;
}

#endif
