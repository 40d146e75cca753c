/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_GUEST_FLAT_H
#define HARNESS_GUEST_FLAT_H

/*
 * Content as bytes in a file in memory, in the place of sim/store.c: what the model's bus and
 * DMA read and write is then memory that another processor can be given.
 */

#include "store.h"

/* The byte at @offset, good until the store is freed; and the file that holds it at that offset. */
void *flat_at(struct store *s, u64 offset);
int flat_file(const struct store *s);

#endif
