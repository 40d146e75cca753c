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
	ORACLE_VECTOR,		/* a VM is interrupted only by its own queues' vectors; the host by no other entry than theirs */
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

#define ORACLE_VMS_MAX 64
#define ORACLE_VCPUS_MAX 64

struct store;
struct pci_function;

/* What of the world the oracle may look at: hardware, and who stands where. */
struct oracle_world {
	struct store *media;
	u64 blocks;
	struct pci_function *ssd;
	u32 dstrd;			/* as CAP.DSTRD */
	u32 irte_base, vectors;		/* remapping entry of vector v of so many: irte_base + v */
	/* VM of a model vCPU, or SIM_OWNER_NONE; address of its posted-interrupt descriptor, or 0 */
	u32 (*vcpu_vm)(void *opaque, u32 vcpu);
	u64 (*vcpu_pid)(void *opaque, u32 vcpu);
	/* Called at each violation, or NULL. */
	void (*violated)(void *opaque, const struct oracle_violation *v);
	void *opaque;
};

struct oracle;

/* NULL without memory. Adds the kinds of events it wants to @mask; they are to be given to oracle_event(). */
struct oracle *oracle_create(const struct oracle_world *w, u64 mask[2]);
void oracle_event(void *opaque, const struct trace_event *ev);
void oracle_free(struct oracle *o);

/* All violations so far, of which the first ORACLE_KEEP are kept. */
u64 oracle_count(const struct oracle *o);
const struct oracle_violation *oracle_violation(const struct oracle *o, u32 i);

const char *oracle_claim_name(enum oracle_claim c);

/* Has the owner of block @lba not written it since it was given it? */
bool oracle_block_unwritten(const struct oracle *o, u64 lba);

/* VM that owns hardware queue @qid, or SIM_OWNER_HOST / SIM_OWNER_NONE. */
u32 oracle_queue_owner(const struct oracle *o, u32 qid);

#endif
