// SPDX-License-Identifier: GPL-2.0
#include "hist.h"

#include <assert.h>

void hist_init(struct hist *h)
{
	*h = (struct hist){ .min_ps = ~0ULL };
}

/*
 * The seven highest bits of a value choose its bin; an octave's first bin follows the last
 * of the one below.
 */
static unsigned int hist_index(u64 value)
{
	unsigned int shift;

	if (value < HIST_OCTAVE_BINS)
		return (unsigned int)value;
	shift = 63U - (unsigned int)__builtin_clzll(value) - HIST_BIN_BITS;
	return (shift << HIST_BIN_BITS) + (unsigned int)(value >> shift);
}

u64 hist_bin_end(unsigned int index)
{
	unsigned int shift;

	assert(index < HIST_BINS);
	if (index < HIST_OCTAVE_BINS)
		return index;
	shift = (index >> HIST_BIN_BITS) - 1;
	return ((u64)(index - (shift << HIST_BIN_BITS)) << shift) + (BIT_ULL(shift) - 1);
}

void hist_add(struct hist *h, u64 value_ps)
{
	h->bin[hist_index(value_ps)]++;
	h->count++;
	h->sum_ps += value_ps;
	if (value_ps < h->min_ps)
		h->min_ps = value_ps;
	if (value_ps > h->max_ps)
		h->max_ps = value_ps;
}

void hist_merge(struct hist *h, const struct hist *from)
{
	for (unsigned int i = 0; i < HIST_BINS; i++)
		h->bin[i] += from->bin[i];
	h->count += from->count;
	h->sum_ps += from->sum_ps;
	if (from->min_ps < h->min_ps)
		h->min_ps = from->min_ps;
	if (from->max_ps > h->max_ps)
		h->max_ps = from->max_ps;
}

u64 hist_mean(const struct hist *h)
{
	return h->count ? (u64)(h->sum_ps / h->count) : 0;
}

u64 hist_percentile(const struct hist *h, u64 num, u64 den)
{
	unsigned __int128 rank;
	u64 seen = 0, end;
	unsigned int i;

	assert(den && num <= den);
	if (!h->count)
		return 0;
	if (!num)
		return h->min_ps;
	rank = ((unsigned __int128)h->count * num + den - 1) / den;
	for (i = 0; i < HIST_BINS - 1; i++) {
		seen += h->bin[i];
		if (seen >= rank)
			break;
	}
	end = hist_bin_end(i);
	return end < h->max_ps ? end : h->max_ps;
}
