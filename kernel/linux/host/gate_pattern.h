/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_HOST_GATE_PATTERN_H
#define LINUX_HOST_GATE_PATTERN_H

/*
 * Content of the disk image that the self-test reads: the little-endian 64-bit word at byte
 * offset @off. Written by harness/qemu/image.c outside the machine with a seed of its own for each
 * run, so that nothing but the device can be where the self-test got it from.
 */
static inline unsigned long long gate_pattern(unsigned long long seed, unsigned long long off)
{
	unsigned long long x = seed ^ (off + 1) * 0x9E3779B97F4A7C15ull;

	x ^= x >> 29;
	return x * 0xBF58476D1CE4E5B9ull;
}

#endif
