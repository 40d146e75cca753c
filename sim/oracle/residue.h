/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_ORACLE_RESIDUE_H
#define SIM_ORACLE_RESIDUE_H

/*
 * What earlier owners left in pages that VMs reach by their CPUs: queue memory of the host's,
 * and the CMB. By lines of 64 bytes. A line is a VM's once the VM touched it or a command of its
 * own was completed there; when the page is another's it is stale, until the host zeroes it.
 * Storing to a part of a stale line does not clean it.
 */

#include "spec/spec_types.h"

struct residue;

struct residue *residue_new(void);
void residue_free(struct residue *r);

/* Bytes that VM @vm wrote or saw, or that were written for it. Within a page. */
void residue_touched(struct residue *r, u64 hpa, u64 len_bytes, u32 vm);
void residue_zeroed(struct residue *r, u64 hpa, u64 len_bytes);
/* Is there anything of another's in what @vm reads? */
bool residue_is_stale(struct residue *r, u64 hpa, u64 len_bytes, u32 vm);

#endif
