/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

/*
 * Chance: xoshiro256** seeded through SplitMix64 (Blackman, Vigna). One stream an actor, split
 * from the run's seed by the actor's name, so that a new actor does not shift what the
 * others draw. Integers only: the same numbers on any machine.
 */

#include "spec/spec_types.h"

struct rng {
	u64 s[4];
};

void rng_init(struct rng *r, u64 seed);

/*
 * The seed of the part called @name of what has @seed: an actor's own seed, from which
 * its streams may be split again.
 */
u64 rng_split_seed(u64 seed, const char *name);

/* The stream of the actor called @name in a run, or an actor, with @seed. */
void rng_split(struct rng *r, u64 seed, const char *name);

/* Next of SplitMix64: good for seeds, and for hashing small numbers. */
u64 rng_splitmix(u64 *state);

u64 rng_u64(struct rng *r);

/* Uniform in [0, n); n is not 0. Unbiased, so it may draw more than once. */
u64 rng_below(struct rng *r, u64 n);

/* Uniform in [lo, hi]; lo <= hi. */
u64 rng_range(struct rng *r, u64 lo, u64 hi);

/* True in @num of @den cases; den is not 0. Always draws. */
bool rng_chance(struct rng *r, u64 num, u64 den);

/* Index i with probability weight[i] / sum of all; the sum is not 0. */
size_t rng_pick(struct rng *r, const u32 *weight, size_t count);

/* Put @count elements of @size_bytes into a random order, all equally likely. */
void rng_shuffle(struct rng *r, void *base, size_t count, size_t size_bytes);

#endif
