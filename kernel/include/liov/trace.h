/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_TRACE_H
#define LIOV_TRACE_H

/*
 * What LightIOV tells about its decisions: refusals, protections it put up, and the life of
 * VMs and queues. Homes turn these into tracepoints or simulator events. Nothing reads them back.
 */

#include "types.h"

enum liov_component { LIOV_FRONTEND, LIOV_MEDIATOR, LIOV_DEVICE, LIOV_BACKEND, LIOV_COMPONENTS };

#define LIOV_TRACE_SELF	(~0u - 1)	/* vm of a trace from inside a VM: the home knows which */

enum liov_trace_kind {
	LIOV_TRACE_DENY,	/* refused a request: code = NVMe status or 0, a = offending value, b = its length */
	LIOV_TRACE_GUARD,	/* a protection now stands: code = enum liov_guard, a = start, b = length */
	LIOV_TRACE_EMULATED,	/* answered an admin command in software: code = status, a = opcode, b = CDW10 */
	LIOV_TRACE_SUBMIT,	/* a command goes to a hardware queue: code = qid, a = cid, b = slba */
	LIOV_TRACE_COMPLETE,	/* code = status, a = cid, b = qid */
	LIOV_TRACE_QUEUE,	/* code = 1 created, 0 deleted, 2 quarantined; a = hardware qid */
	LIOV_TRACE_VM,		/* code = 1 created, 0 destroyed; a = first LBA, b = blocks */
	LIOV_TRACE_RESET,	/* of the physical controller: code = 1 begins, 0 done */
	/* asynchronous event, a = DW0. LIOV_BACKEND: of the physical controller; vm: whose queue the error log */
	/* names, if any; code = SQID (FFFFh: none). LIOV_DEVICE: of the VM's virtual one */
	LIOV_TRACE_EVENT,
	LIOV_TRACE_KINDS
};

enum liov_guard {
	LIOV_GUARD_PAGES_REVOKED,	/* a = offset in the CMB BAR, b = bytes: no vCPU has it mapped any more */
	LIOV_GUARD_IOVA_REVOKED,	/* a = IOVA, b = bytes: unmapped and synced */
	LIOV_GUARD_LBA_WIPED,		/* a = first block, b = blocks */
	LIOV_GUARD_COPIED,		/* mediator works on a private copy: a = guest address, b = bytes */
	LIOV_GUARD_QUEUE_QUIET,		/* a = hardware qid: deleted, nothing of it in flight */
	LIOV_GUARD_CQ_FULL,		/* mediator: a = virtual SQ, b = its full CQ: nothing is taken until an entry is free */
	LIOV_GUARD_OWN_QUEUE,		/* mediator: a trapped doorbell names the VM's own queue: a = offset, b = value */
	LIOV_GUARD_QUEUE_ZEROED,	/* a = qid, b = bytes: a new queue holds nothing of an earlier owner's */
	LIOV_GUARD_NOTHING_NEW,		/* an interrupt for which there was no completion was let pass: a = hardware qid */
	LIOV_GUARD_HOME			/* the home's: a step without which something would be lost or left within reach */
};

struct liov_trace {
	u32 kind;		/* enum liov_trace_kind */
	u32 component;		/* enum liov_component */
	u32 vm;			/* id given at creation; ~0: the host itself */
	u32 code;
	u64 a, b;
};

#endif
