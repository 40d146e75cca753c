/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

/* Puts the oracle in front of a machine. */

#include "oracle/oracle.h"

struct machine;

/* Before anything runs. @fn (or NULL) is called at each violation. NULL without memory. */
struct oracle *oracle_new(struct machine *m, void (*fn)(void *opaque, const struct oracle_violation *v), void *opaque);

#endif
