/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_ORACLE_ORACLE_H
#define SIM_ORACLE_ORACLE_H

/*
 * The oracle watches the stream of events and knows who owns what: frames, blocks, queues,
 * doorbells, vectors. It learns ownership only from the scenario and from what the host
 * was asked for and answered; it never steers. Includes nothing of kernel/.
 */

#include "spec/spec_types.h"
#include "trace.h"

enum oracle_claim {
	ORACLE_LBA,		/* a VM's command touches only its own blocks */
	ORACLE_FRAME,		/* DMA caused by a VM touches only its own memory */
	ORACLE_HOST_MEMORY,	/* ... and never the host's or free frames */
	ORACLE_CPU,		/* a vCPU's access reaches only memory that is the VM's */
	ORACLE_DOORBELL,	/* a vCPU rings only doorbells of the VM's queues */
	ORACLE_VECTOR,		/* a VM is interrupted only by its own queues' vectors */
	ORACLE_REMANENCE,	/* nobody reads what an earlier owner left */
	ORACLE_OVERLAP,		/* nothing has two owners */
	ORACLE_ADMIN,		/* no guest causes an admin command of the physical controller */
	ORACLE_CLAIMS
};

struct oracle_violation {
	enum oracle_claim claim;
	u64 time_ps, io_id;
	u32 by, victim;		/* VM ids; SIM_OWNER_HOST, SIM_OWNER_NONE */
	char what[160];		/* the resource and the access, in words */
};

#define ORACLE_KEEP 64		/* violations kept; more are counted */

struct machine;
struct oracle;

/* Attach to a machine before anything runs. @fn (or NULL) is called at each violation. */
struct oracle *oracle_new(struct machine *m, void (*fn)(void *opaque, const struct oracle_violation *v), void *opaque);
void oracle_free(struct oracle *o);

/* All violations so far, of which the first ORACLE_KEEP are kept. */
u64 oracle_count(const struct oracle *o);
const struct oracle_violation *oracle_violation(const struct oracle *o, u32 i);

const char *oracle_claim_name(enum oracle_claim c);

/* VM that owns hardware queue @qid, or SIM_OWNER_HOST / SIM_OWNER_NONE. */
u32 oracle_queue_owner(const struct oracle *o, u32 qid);

#endif
