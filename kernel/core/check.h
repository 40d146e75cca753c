/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_CHECK_H
#define LIOV_CORE_CHECK_H

/*
 * The isolation checks: pure functions on private copies, no memory but their arguments.
 * Each says true only when the whole range is inside. The comments that begin with an at
 * sign are contracts in ACSL, whose numbers have no end, so that a sum that wraps in C is
 * another number there; `make prove` shows that the code keeps them (harness/proof/README.md).
 */

#include "liov/types.h"

/*@ logic integer u64_end = 0x10000000000000000; */

/* Blocks [slba, slba + count) inside a VM of @size blocks; count is NLB + 1, at most 2^32. No sum that can wrap. */
/*@ assigns \nothing;
  @ ensures exact: \result != 0 <==> count != 0 && slba.v + count <= size;
  @*/
static inline bool liov_lba_inside(u64 size, vlba_t slba, u64 count)
{
	return count != 0 && count <= size && slba.v <= size - count;
}

/* VM's block to physical block; only after liov_lba_inside(). */
/*@ requires sum: lba_start + slba.v < u64_end;
  @ assigns \nothing;
  @ ensures exact: \result.v == lba_start + slba.v;
  @*/
static inline plba_t liov_lba_translate(u64 lba_start, vlba_t slba)
{
	return (plba_t){ lba_start + slba.v };
}

/* Bytes [addr, addr + len) inside [start, start + count). */
/*@ assigns \nothing;
  @ ensures exact: \result != 0 <==> len != 0 && start <= addr && addr + len <= start + count;
  @*/
static inline bool liov_range_inside(u64 start, u64 count, u64 addr, u64 len)
{
	return len != 0 && len <= count && addr >= start && addr - start <= count - len;
}

/* Do [a, a + alen) and [b, b + blen) share a byte? Neither wraps. */
/*@ assigns \nothing;
  @ ensures exact: \result != 0 <==> alen != 0 && blen != 0 && a < b + blen && b < a + alen;
  @*/
static inline bool liov_range_overlaps(u64 a, u64 alen, u64 b, u64 blen)
{
	return alen != 0 && blen != 0 && (a < b ? b - a < alen : a - b < blen);
}

/*
 * Length of the whole pages that [addr, addr + len) touches, counted from the start of the first. All 2^64 bytes
 * have no length: then it is all pages but the last.
 */
/*@ requires some: len != 0 && addr + len <= u64_end;
  @ assigns \nothing;
  @ ensures whole: \result % 4096 == 0;
  @ ensures all: addr - addr % 4096 + \result >= addr + len || \result == u64_end - 4096 && addr < 4096;
  @ ensures least: \result < addr % 4096 + len + 4096;
  @*/
static inline u64 liov_pages_bytes(u64 addr, u64 len)
{
	u64 more = (addr + (len - 1)) / SPEC_PAGE_SIZE - addr / SPEC_PAGE_SIZE;

	return (more < ~0ULL / SPEC_PAGE_SIZE ? more + 1 : more) * SPEC_PAGE_SIZE;
}

/* Guest-physical to what the controller is told; only for an address inside registered memory. */
/*@ requires sum: dma_offset + gpa.v < u64_end;
  @ assigns \nothing;
  @ ensures exact: \result.v == dma_offset + gpa.v;
  @*/
static inline iova_t liov_dma_translate(u64 dma_offset, gpa_t gpa)
{
	return (iova_t){ dma_offset + gpa.v };
}

#endif
