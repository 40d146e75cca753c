/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_IMAGE_WORKLOAD_H
#define GUEST_IMAGE_WORKLOAD_H

/* What the guest does besides I/O: queues under its pages, and a few attacks of the corpus. */

#include "liov/frontend.h"
#include "nvme.h"

void guest_begin(enum guest_phase phase);
/* A store to the page at @off of the CMB and a load from it: what is read is said. */
void guest_touch(struct liov_frontend *fe, const char *what, u32 off);
void guest_stale(struct liov_frontend *fe);
void guest_readonly(struct liov_frontend *fe);
/* Takes the frontend's first queue for good. */
void guest_attack(struct liov_frontend *fe, const struct guest_page *asked);

#endif
