// SPDX-License-Identifier: GPL-2.0
#include "rng.h"

#include <assert.h>
#include <string.h>
#include <xxhash.h>

u64 rng_splitmix(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* SplitMix64 never gives four zeros in a row, the one state xoshiro cannot leave. */
void rng_init(struct rng *r, u64 seed)
{
	for (size_t i = 0; i < 4; i++)
		r->s[i] = rng_splitmix(&seed);
}

u64 rng_split_seed(u64 seed, const char *name)
{
	return XXH3_64bits_withSeed(name, strlen(name), seed);
}

void rng_split(struct rng *r, u64 seed, const char *name)
{
	rng_init(r, rng_split_seed(seed, name));
}

static u64 rotl(u64 x, int k)
{
	return x << k | x >> (64 - k);
}

u64 rng_u64(struct rng *r)
{
	u64 *s = r->s;
	u64 result = rotl(s[1] * 5, 7) * 9;
	u64 t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

/*
 * The high half of draw * n is uniform once the low halves below 2^64 mod n are thrown
 * away (Lemire 2019). The division is only met with probability n / 2^64.
 */
u64 rng_below(struct rng *r, u64 n)
{
	unsigned __int128 product = (unsigned __int128)rng_u64(r) * n;
	u64 reject;

	assert(n);
	if ((u64)product >= n)
		return (u64)(product >> 64);
	reject = (0 - n) % n;
	while ((u64)product < reject)
		product = (unsigned __int128)rng_u64(r) * n;
	return (u64)(product >> 64);
}

u64 rng_range(struct rng *r, u64 lo, u64 hi)
{
	assert(lo <= hi);
	if (hi - lo == ~0ULL)
		return rng_u64(r);
	return lo + rng_below(r, hi - lo + 1);
}

bool rng_chance(struct rng *r, u64 num, u64 den)
{
	return rng_below(r, den) < num;
}

size_t rng_pick(struct rng *r, const u32 *weight, size_t count)
{
	u64 sum = 0, at;
	size_t i;

	for (i = 0; i < count; i++)
		sum += weight[i];
	at = rng_below(r, sum);
	for (i = 0; at >= weight[i]; i++)
		at -= weight[i];
	return i;
}

static void swap_bytes(u8 *a, u8 *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		u8 t = a[i];

		a[i] = b[i];
		b[i] = t;
	}
}

/* Fisher-Yates, from the end. */
void rng_shuffle(struct rng *r, void *base, size_t count, size_t size_bytes)
{
	u8 *bytes = base;

	for (size_t i = count; i > 1; i--)
		swap_bytes(bytes + (i - 1) * size_bytes, bytes + rng_below(r, i) * size_bytes, size_bytes);
}
