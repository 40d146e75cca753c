/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_HIST_H
#define SIM_HIST_H

/*
 * A latency histogram of u64 picoseconds over the whole range, log-linear as fio's: 64 bins
 * an octave, so a percentile is at most 1/64 above a value that was added. Count, sum,
 * least and greatest are exact. Integers only.
 */

#include "spec/spec_types.h"

#define HIST_BIN_BITS 6
#define HIST_OCTAVE_BINS (1U << HIST_BIN_BITS)
/* Values below 64 have a bin each; the octaves from 2^6 to 2^63 have 64 bins each. */
#define HIST_BINS (HIST_OCTAVE_BINS * (64 - HIST_BIN_BITS + 1))

struct hist {
	u64 count;
	u64 min_ps;		/* ~0 when empty */
	u64 max_ps;
	unsigned __int128 sum_ps;
	u64 bin[HIST_BINS];
};

void hist_init(struct hist *h);
void hist_add(struct hist *h, u64 value_ps);

/* Add all that @from holds. */
void hist_merge(struct hist *h, const struct hist *from);

/* 0 when empty; rounded down. */
u64 hist_mean(const struct hist *h);

/*
 * The smallest bin's end such that at least num/den of the values do not exceed it, but
 * never more than the greatest value: hist_percentile(h, 999, 1000) is p99.9. num <= den,
 * den is not 0; num = 0 gives the least value. 0 when empty.
 */
u64 hist_percentile(const struct hist *h, u64 num, u64 den);

/* Greatest value that falls into bin @index, for those who draw the histogram. */
u64 hist_bin_end(unsigned int index);

#endif
