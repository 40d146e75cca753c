/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_CPU_INTERNAL_H
#define MODEL_CPU_INTERNAL_H

/* What the files of this folder share: leaving the guest for an exit, and coming back. */

#include "cpu/cpu.h"
#include "site.h"

/* Only then are notifications taken without an exit, and only then is an external interrupt an exit. */
static inline bool vcpu_in_guest(const struct vcpu *vcpu)
{
	return vcpu && vcpu->state == VCPU_RUNNING && !vcpu->outside;
}

/*
 * Entry: takes over the descriptor as vcpu_run() says, and announces what can be delivered. Nothing happens while
 * the vCPU is not in the guest, so the host may call it through vcpu_run() from inside an exit.
 */
void vcpu_enter(struct vcpu *vcpu);

#endif
