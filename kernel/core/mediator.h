/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_MEDIATOR_H
#define LIOV_CORE_MEDIATOR_H

/*
 * The mediator (policy mediated), between its own files. All of a VM's virtual queue pairs
 * are served by one host-driven hardware pair, vm->queue[0]; what goes there is built by the
 * host from private copies, with the host's own command ids.
 *
 * Fetching, checking and submitting happen under vm->lock only, in process context.
 * Completions come in interrupt context: what they share with the rest is under
 * liov_mediator.lock, a leaf.
 *
 * Fairness: a VM has one pool of tags and one budget of work in flight, cfg.queue_depth of
 * each, however many queues it has; a unit of work is a command or 4 KiB moved. A command is
 * admitted while less than the budget is in flight, so it is exceeded by one command at
 * most. Among the VM's queues admission goes round, and all go through one hardware queue
 * pair: the controller, which arbitrates per queue, gives VMs equal turns. What is beyond the
 * budget waits in the VM's own queues. With work_per_s a VM's work is bounded over time as well: what
 * a command costs (blocks it changes or moves, ranges, a flush) is paid for before the next is fetched.
 */

#include "internal.h"
#include "check.h"
#include "device.h"
#include "prp.h"

#define MED_LIST_CHUNK		32u			/* pages of private lists allocated together */
#define MED_LIST_CHUNKS		(LIOV_QUEUE_DEPTH_MAX / MED_LIST_CHUNK)
#define MED_SQ_PAGES		16u
#define MED_CQ_PAGES		4u
#define MED_CQ_OFFSET		(MED_SQ_PAGES * (u32)SPEC_PAGE_SIZE)	/* of the CQ in a pair's pages */
#define MED_LIST_ENTRIES	LIOV_PRP_ENTRIES
#define MED_PASS_MAX		128u			/* commands fetched before others get a turn (EXH-09) */
#define MED_WORK_BURST_NS	10000000ull		/* work that may be started at once, as time it takes to pay for */
#define MED_NSID		1u
#define MED_DOORBELLS		(2 * (LIOV_VM_QUEUES_MAX + 1)) /* as in BAR 0: SQ k at 2k, CQ k at 2k + 1 */

/* A command that the hardware has. */
struct med_tag {
	struct nvme_sqe sqe;		/* as sent: sent again after a controller reset */
	bool busy;
	bool orphan;			/* its virtual queue is gone: completes to nobody */
	u16 cid;			/* the guest's */
	u16 sqid;			/* virtual */
	u32 cost;
	gpa_t first;			/* data: first page; the others stand in PRP2 or the private list */
	u32 bytes;			/* 0: holds no memory */
};

struct med_sq {
	bool live, in_cmb;
	u32 entries, head, tail;
	u32 cqid;
	u32 outstanding;		/* tags, without orphans */
	gpa_t gpa;
	struct port_shm shm;
};

struct med_cq {
	bool live, in_cmb;
	u32 entries;
	u32 head;			/* the guest's */
	u32 tail;			/* next entry of ring[] */
	u32 flushed;			/* next entry that the guest does not see yet */
	u32 reserved;			/* commands that have an entry coming */
	bool phase;
	bool irq;
	u16 vvec;
	gpa_t gpa;
	struct port_shm shm;
	struct nvme_cqe *ring;		/* [LIOV_QUEUE_DEPTH_MAX], private */
};

struct liov_mediated_queue {
	u32 index;
	struct port_pages pages;	/* SQ, then CQ, in the VM's CMB slot; allocated for the VM's life */
	bool has_pages;
	struct port_shm shm;
	struct med_sq sq;
	struct med_cq cq;
};

struct liov_mediator {
	struct liov_vm *vm;
	struct port_lock lock;
	struct port_work work;		/* flushes queues in guest memory, goes on fetching */
	struct port_event drained;	/* an SQ has nothing outstanding any more */
	bool paused;			/* nothing is submitted */
	bool silent;			/* an SQ could not be drained in time, and no completion came since */
	bool dead;			/* the hardware queue did not come back: commands fail */
	u32 next;			/* queue whose turn it is */
	u32 need;			/* of the pages of the command that is being mapped: PORT_READ, PORT_WRITE */
	u32 budget, in_flight;		/* units of work */
	u32 work_unit_ns;		/* what a unit takes to pay for; 0: nothing is to be paid */
	u64 work_due_ns;		/* up to when the work that was started is paid for */
	struct port_timer work_timer;	/* goes on when that is not too far ahead */
	u32 nr_tags;
	struct med_tag *tags;
	u16 *free_tags;
	u32 nr_free;
	struct port_pages list_pages[MED_LIST_CHUNKS];
	struct port_shm lists[MED_LIST_CHUNKS];
	u32 nr_chunks, nr_mapped;	/* allocated; known to the IOMMU */
	iova_t list_iova;		/* a page a tag */
	bool has_list_iova;
	u64 entries[MED_LIST_ENTRIES];	/* PRP list, or ranges of DSM or Copy, of the command being looked at */
	struct liov_mediated_queue queue[LIOV_VM_QUEUES_MAX];
	/* With cfg.watch_doorbells. */
	struct port_pages doorbells;	/* a page */
	bool has_doorbells, watched;
	struct port_watch watch;
	u16 rung[MED_DOORBELLS];	/* values that were acted upon; under vm->lock */
};

/* What the check of a command found out. */
struct med_command {
	u32 bytes;			/* of data; 0: none */
	u32 cost;
	u64 bad, bad_len;		/* what a refusal is about, for the trace */
};

static inline void liov_mediator_deny(struct liov_mediator *med, u32 code, u64 a, u64 b)
{
	liov_deny(med->vm->be, LIOV_MEDIATOR, med->vm->cfg.id, code, a, b);
}

static inline struct port_shm *liov_mediator_list(struct liov_mediator *med, u32 tag, u32 *off)
{
	*off = tag % MED_LIST_CHUNK * (u32)SPEC_PAGE_SIZE;
	return &med->lists[tag / MED_LIST_CHUNK];
}

/* The hardware queue pair that all of the VM's commands go through. */
static inline struct liov_hwq *liov_mediator_hw(const struct liov_mediator *med)
{
	return med->vm->queue[0];
}

static inline iova_t liov_mediator_list_iova(const struct liov_mediator *med, u32 tag)
{
	return (iova_t){ med->list_iova.v + tag * SPEC_PAGE_SIZE };
}

/* mediator_check.c: looks at the private copy only. Status, 0 when the command may go on. */
u16 liov_mediator_check(struct liov_vm *vm, const struct nvme_sqe *sqe, struct med_command *cmd);
/* The command as the controller gets it, but for its PRPs and id: nothing of @in is there that was not understood. */
void liov_mediator_rebuild(const struct liov_vm *vm, const struct nvme_sqe *in, struct nvme_sqe *out);

/* mediator_prp.c: data of a checked command. On success @tag's sqe has PRPs and its memory is held. */
u16 liov_mediator_map(struct liov_mediator *med, const struct nvme_sqe *in, u32 bytes, u32 tag);
void liov_mediator_unmap(struct liov_mediator *med, u32 tag);
/* Copy a payload of at most a page from PRP1, PRP2 into entries[]. */
u16 liov_mediator_payload(struct liov_mediator *med, const struct nvme_sqe *in, u32 bytes);
/* Ranges of a Dataset Management into the tag's private page, checked and translated. */
u16 liov_mediator_ranges(struct liov_mediator *med, const struct nvme_sqe *in, u32 tag);

/* mediator_copy.c: the part of liov_mediator_check() that is Copy's; then its ranges and destination, as above. */
u16 liov_mediator_check_copy(const struct liov_vm *vm, const struct nvme_sqe *sqe, struct med_command *cmd);
u16 liov_mediator_copy(struct liov_mediator *med, const struct nvme_sqe *in, u32 tag);

/* mediator_watch.c */
/* The VM's doorbell page, where the backend is configured so; and look at it when told. */
int liov_mediator_watch(struct liov_mediator *med);
/* Nobody looks any more when it returns; the page is still there. Without vm->lock */
void liov_mediator_unwatch(struct liov_mediator *med);
/*
 * A queue starts: its doorbell is 0, whatever was stored there before (a tail of its predecessor would
 * hide the same tail of its own). V
 */
void liov_mediator_doorbell_reset(struct liov_mediator *med, u32 qid, bool cq);

/* mediator_ring.c */
/* Fetch and submit as far as there is work, room and budget; at most MED_PASS_MAX. V */
void liov_mediator_pump(struct liov_mediator *med);
/* What the guest does not see yet of all queues. V */
void liov_mediator_flush(struct liov_mediator *med);
void liov_mediator_work(void *arg);
void liov_mediator_work_timer(void *arg);
/* liov_completion_fn of the hardware queue; @arg is the mediator. */
void liov_mediator_complete(void *arg, const struct nvme_cqe *cqe);
/*
 * The SQ's outstanding commands complete with @status at once; their tags and memory stay held until
 * the hardware is done with them. V
 */
void liov_mediator_orphan(struct liov_mediator *med, u32 sqid, u16 status);
/* Give the tag back; nobody is told. */
void liov_mediator_free_tag(struct liov_mediator *med, u32 tag);
/* Complete outstanding command @tag with @status, without the hardware. V */
void liov_mediator_fail_tag(struct liov_mediator *med, u32 tag, u16 status);

#endif
