/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PROOF_PORT_TYPES_H
#define PROOF_PORT_TYPES_H

/* Handles of a home in which nothing runs: the proofs are of functions that do not use them. */

#include "spec_types.h"

struct port_home;
struct port_host;
struct port_vm;
struct port_guest;

struct port_mmio { u64 at; };
struct port_shm { u64 at; };
struct port_pages { u64 at; };
struct port_watch { u64 at; };
struct port_lock { u64 at; };
struct port_mutex { u64 at; };
struct port_event { u64 at; };
struct port_work { u64 at; };
struct port_timer { u64 at; };

#endif
