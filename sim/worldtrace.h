/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_WORLDTRACE_H
#define SIM_WORLDTRACE_H

/* What the simulated host adds to the model's stream of events: who was given what. */

#include "trace.h"

enum world_trace_kind {
	SIM_TRACE_FRAMES = TRACE_MODEL_END, /* a = hpa, b = bytes, c = owner, d = 1 taken, 0 free */
	SIM_TRACE_PAGE,		/* the host mapped a CMB page into a VM: a = vm, b = offset, c = hpa, d = writable */
	SIM_TRACE_NO_SLOT,	/* host: a guest-physical address that is nobody's: a = vm, b = gpa, c = write */
	SIM_TRACE_REVOKED,	/* host: the hypervisor was told to take pages away, and says it has: a = vm, b = offset, c = bytes */
	SIM_TRACE_IOVA,		/* host: a = iova, b = bytes, c = hpa, d = 1 mapped, 0 unmapped, 2 invalidated */
	SIM_TRACE_VM,		/* a = vm, b = 1 created, 0 gone, c = first LBA, d = blocks: as the host's request was answered */
	SIM_TRACE_QUEUE,	/* a = vm, b = hardware qid, c = 1 given, 0 taken */
	SIM_TRACE_FUNCTION,	/* a = requester id, b = vm: a function beside the SSD was assigned to it as a whole */
	SIM_TRACE_ZAPPED,	/* host: mappings of the CMB are gone for reasons of its own: a = vm, b = offset, c = bytes */
	SIM_TRACE_ZEROED,	/* host: it wrote zeros, or hands out memory that it did write them to: a = hpa, b = bytes */
	SIM_TRACE_ANSWER,	/* host: a trapped read was answered: a = vm, b = gpa or offset, c = value, d = bytes, 256 more: of configuration space */
	SIM_TRACE_WROTE,	/* host: it wrote into a VM's memory: a = vm, b = gpa, c = bytes; data */
	SIM_TRACE_MSG,		/* a scenario's own word: data */
	SIM_TRACE_WORLD_END
};

#define SIM_OWNER_HOST	0xFFFFFFFFu	/* of frames, blocks, queues: the host's own */
#define SIM_OWNER_NONE	0xFFFFFFFEu	/* free */

#endif
