/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SPEC_SPEC_TYPES_H
#define MODEL_SPEC_SPEC_TYPES_H

/*
 * Integers of a known width and addresses of a known kind, for all who read the
 * specifications' constants. An address is a one-member struct: a guest-physical
 * address handed to something that wants an IOVA does not compile. Only the page
 * walkers and liov_*_translate() turn one kind into another.
 */

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define BIT_ULL(n) (1ULL << (n))
#define GENMASK_ULL(h, l) ((~0ULL << (l)) & (~0ULL >> (63 - (h))))
/* The mask is a constant; its lowest set bit is the field's unit. */
#define FIELD_GET(mask, reg) (((u64)(reg) & (mask)) / ((mask) & (~(mask) + 1ULL)))
#define FIELD_PREP(mask, val) (((u64)(val) * ((mask) & (~(mask) + 1ULL))) & (mask))
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "wire structures are little-endian and read in place");

typedef struct { u64 v; } hpa_t;	/* host-physical (system) address */
typedef struct { u64 v; } gpa_t;	/* guest-physical address of one VM */
typedef struct { u64 v; } iova_t;	/* address in a device's DMA request */
typedef struct { u64 v; } vlba_t;	/* logical block as a VM counts it, from 0 */
typedef struct { u64 v; } plba_t;	/* logical block of the physical namespace */

#define SPEC_PAGE_SHIFT 12
#define SPEC_PAGE_SIZE 4096ULL

#endif
