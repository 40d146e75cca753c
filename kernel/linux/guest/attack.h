/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_GUEST_ATTACK_H
#define LINUX_GUEST_ATTACK_H

/*
 * A hostile guest kernel, for the test boots only: built with ATTACK=1 and loaded with attack=ready,
 * the module registers no disk; what is then written to its parameter attack is a case of the attack
 * corpus, carried out with the frontend's own mappings.
 */

#include "liov/frontend.h"

#ifdef LIOV_ATTACK

bool attack_wanted(void);
/* @fe has started and belongs to the attacks until attack_end(). */
int attack_run(struct liov_frontend *fe);
/* Before liov_frontend_stop(): no case runs any more, none begins. Without a run before it does nothing. */
void attack_end(struct liov_frontend *fe);

#else

static inline bool attack_wanted(void)
{
	return false;
}

static inline int attack_run(struct liov_frontend *fe)
{
	return -ENODEV;
}

static inline void attack_end(struct liov_frontend *fe)
{
}

#endif

#endif
