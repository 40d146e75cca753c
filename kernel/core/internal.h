/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_INTERNAL_H
#define LIOV_CORE_INTERNAL_H

/*
 * What the host-side files of the core say to each other. Not for homes.
 *
 * Locks, outermost first: be->control, vm->lock, be->lock, the mutex of a host queue's I/O,
 * admin.lock, then spin locks, which are leaves but for vm->page_lock before a queue's.
 * "V": the caller holds vm->lock. Whoever V functions wait for may not take vm->lock.
 */

#include "liov/liov.h"
#include "nvme.h"
#include "pci.h"
#include "check.h"
#include "range.h"
#include "ring.h"
#include "site.h"

/* --- extent.c: first fit over ranges of numbers --- */
void liov_extents_init(struct liov_extents *x, u64 start, u64 count);
/* Lowest fit, @align a power of two. -ENOSPC. */
int liov_extents_take(struct liov_extents *x, u64 count, u64 align, u64 *start);
/* Just these. -EBUSY: not all of them are free; -ENOSPC: the table is full. */
int liov_extents_take_at(struct liov_extents *x, u64 start, u64 count);
/* Give back; overlap with what is free is our bug. -ENOSPC when the table is full (the range is lost, said in the trace). */
int liov_extents_give(struct liov_extents *x, u64 start, u64 count);

/* --- ctrl.c: the physical controller --- */
int liov_ctrl_start(struct liov_backend *be);
/* Disabled, bus mastering off: nothing is in flight any more. */
void liov_ctrl_halt(struct liov_backend *be);
void liov_ctrl_stop(struct liov_backend *be);
/* CC.EN 0, then 1 with the admin queue as before; I/O queues are gone after it. */
int liov_ctrl_reset(struct liov_backend *be);
/* Offset in BAR 0 of a queue's doorbell. */
/*@ requires \valid_read(be) && qid <= 0xFFFF && cq <= 1;
  @ assigns \nothing;
  @ ensures exact: \result == 4096 + (2 * qid + cq) * be->info.doorbell_stride;
  @*/
static inline u64 liov_doorbell(const struct liov_backend *be, u32 qid, bool cq)
{
	return NVME_REG_DBS + ((u64)qid * 2 + cq) * be->info.doorbell_stride;
}

/* --- admin.c: its admin queue --- */
int liov_admin_init(struct liov_backend *be);	/* memory, mapping, vector; registers are ctrl.c's */
void liov_admin_fini(struct liov_backend *be);
/* Rings to their start, memory zeroed: before each CC.EN 1. Vector quiet. */
void liov_admin_rewind(struct liov_backend *be);
/* Interrupts, then asynchronous events, after CSTS.RDY 1. */
void liov_admin_go(struct liov_backend *be);
void liov_admin_post_aers(struct liov_backend *be);
/* Nothing is handled any more when it returns. */
void liov_admin_quiesce(struct liov_backend *be);
/*
 * One admin command; @cid is filled in. Returns 0, -ETIMEDOUT, -EIO (dead before it was sent), or the
 * positive status (SCT << 8 | SC). @dw0 may be NULL.
 */
int liov_admin_cmd(struct liov_backend *be, struct nvme_sqe *sqe, u32 *dw0);
/* The same; @stalled(arg) is called each time a sixteenth of the timeout passed in vain. */
int liov_admin_cmd_stalled(struct liov_backend *be, struct nvme_sqe *sqe, void (*stalled)(void *arg), void *arg);
/* The same with the admin data page at PRP1: @buf (at most 4 KiB) copied to it before, or from it after. */
int liov_admin_cmd_out(struct liov_backend *be, struct nvme_sqe *sqe, const void *buf, u32 len_bytes, u32 *dw0);
int liov_admin_cmd_in(struct liov_backend *be, struct nvme_sqe *sqe, void *buf, u32 len_bytes);
int liov_admin_identify(struct liov_backend *be, u32 cns, u32 nsid, void *buf4k);

/* --- hwq.c: physical I/O queue pairs --- */
/*
 * Reserve the lowest free pair with pages and a vector of its own for @vm, or the host; vector masked.
 * -ENOSPC, -ENOMEM. Takes be->lock.
 */
int liov_hwq_reserve(struct liov_backend *be, const struct liov_vm *vm, u32 flags, struct liov_hwq **out);
/* The same with pair @qid. -EINVAL: there is none for VMs of that number; -EBUSY: it is somebody's. */
int liov_hwq_reserve_at(struct liov_backend *be, const struct liov_vm *vm, u32 qid, struct liov_hwq **out);
void liov_hwq_release(struct liov_hwq *q);	/* RESERVED -> FREE: pages unmapped, synced, put. Takes be->lock */
/* After a controller reset: the controller knows it no more. LIVE or QUARANTINED -> RESERVED, memory zeroed. */
void liov_hwq_forget(struct liov_hwq *q);
void liov_hwq_mask(struct liov_hwq *q);
void liov_hwq_unmask(struct liov_hwq *q);
void liov_hwq_unpost(struct liov_hwq *q);
/* No page or doorbell of the SQ, of the CQ, may be mapped into its VM any more, or again. */
void liov_hwq_set_closed(struct liov_hwq *q, bool sq, bool cq);
int liov_hwq_create_cq(struct liov_hwq *q, u32 entries, bool irq);
int liov_hwq_create_sq(struct liov_hwq *q, u32 entries, struct liov_hwq *cq);
/* 0, or positive status: as before; -EIO: controller lost; -ETIMEDOUT: quarantined. */
/* Delete what exists, SQ first; 0 when there is nothing; an error: quarantined. Memory is zeroed for the next use. */
int liov_hwq_delete_sq(struct liov_hwq *q);
int liov_hwq_delete_cq(struct liov_hwq *q);
/*
 * Host-driven: submit (IAP; -EBUSY when full, -EIO not live; cid is the caller's, unique in the
 * queue); completions come through q->complete.
 */
int liov_hwq_start_driving(struct liov_hwq *q, u32 entries, liov_completion_fn fn, void *arg);
int liov_hwq_submit(struct liov_hwq *q, const struct nvme_sqe *sqe);
/* How many completions it found. */
u32 liov_hwq_poll(struct liov_hwq *q);

/* --- hostio.c: the host's own commands --- */
int liov_hostio_init(struct liov_hwq *q);
void liov_hostio_fini(struct liov_hwq *q);
/* (Re-)create the queue at the controller and drive it; what was outstanding is forgotten. */
int liov_hostio_start(struct liov_hwq *q);
/* A controller reset begins: outstanding commands end with -EIO. */
void liov_hostio_abort(struct liov_hwq *q);
/* Write zeros over @nr blocks of a namespace, several commands in flight, then flush. As liov_host_io(). */
int liov_hostio_zero(struct liov_hwq *q, u8 opcode, u32 nsid, u64 start, u64 nr);
/* Read one page's worth of blocks (or @nr, if less) and say whether all of it is zero. */
int liov_hostio_check_zero(struct liov_hwq *q, u32 nsid, u64 start, u64 nr, bool *zero);

/* --- wipe.c --- */
/* Overwrite the VM's blocks and verify a sample of them. -ETIMEDOUT: writes may still be on their way. */
int liov_wipe(const struct liov_vm *vm);

/* --- page.c --- */
int liov_info_page_init(struct liov_vm *vm);

/* --- vmqueue.c: queue operations of a VM, asked for by the virtual device. V --- */
/*
 * @index from 0. Errors are those of hwq's calls, -EBUSY while the controller is being reset,
 * -EINVAL no such queue, or not in that state. Under mediated the hardware queue does not
 * follow the virtual ones: only queues_reset and vector_update may be called.
 */
int liov_vm_queue_create_cq(struct liov_vm *vm, u32 index, u32 entries, bool irq, u16 vvec);
int liov_vm_queue_create_sq(struct liov_vm *vm, u32 index, u32 entries, u32 cq_index);
int liov_vm_queue_delete_sq(struct liov_vm *vm, u32 index); /* doorbells and pages revoked first */
int liov_vm_queue_delete_cq(struct liov_vm *vm, u32 index);
void liov_vm_close_queues(struct liov_vm *vm);	/* no page answers, interrupts masked and unposted; V */
/* Close all queues, then take the CMB from @off on from every vCPU. */
void liov_vm_revoke_from(struct liov_vm *vm, u64 off);
/*
 * Queues with their bit in @which: pages revoked, SQs deleted, CQs deleted, vectors unposted. An
 * error: some are in quarantine.
 */
int liov_vm_queues_shut(struct liov_vm *vm, u32 which);
/*
 * The VM's virtual controller was disabled or reset: all its queues are deleted, pages zeroed. Under
 * mediated: the virtual ones.
 */
void liov_vm_queues_reset(struct liov_vm *vm);
/* Virtual vector @vvec changed (mask, message, MSI-X enable): the physical vectors behind it follow. */
void liov_vm_vector_update(struct liov_vm *vm, u16 vvec);

/* --- nrd.c: resource domains --- */
int liov_nrd_bind(struct liov_vm *vm, struct liov_hwq *q);
int liov_nrd_rebind(struct liov_vm *vm);	/* all live SQs, after registrations changed. V */

/* --- siov.c: a PASID and a namespace of the VM's own --- */
/* Under siov: make both; the VM has its blocks. Else nothing. What was made is undone by liov_siov_close(). */
int liov_siov_open(struct liov_vm *vm);
/* Give both back, which become LIOV_NO_PASID and LIOV_HOST_NSID. An error: the namespace may still be there. */
int liov_siov_close(struct liov_backend *be, u32 *pasid, u32 *nsid);
/* Tell the controller what the requests of a queue with a PASID carry, and what an SQ may name. As liov_hwq_create_*(). */
int liov_siov_bind(const struct liov_hwq *q, bool cq);
/* What the VM's queues call its first block. */
static inline u64 liov_vm_lba_base(const struct liov_vm *vm)
{
	return vm->nsid == LIOV_HOST_NSID ? vm->lba.start : 0;
}
/* In the address space of @pasid, or for LIOV_NO_PASID in the function's domain. As port_iommu_*(). */
int liov_dma_map(struct liov_backend *be, u32 pasid, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot);
int liov_dma_map_vm(const struct liov_vm *vm, iova_t iova, gpa_t gpa, u64 len_bytes, u32 prot);
void liov_dma_unmap(struct liov_backend *be, u32 pasid, iova_t iova, u64 len_bytes);
void liov_dma_sync(struct liov_backend *be, u32 pasid);

/* --- memory.c: memory registration. V, but for check and drop --- */
int liov_vm_mem_register(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
int liov_vm_mem_unregister(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
/* May the controller be told of these IOVAs at all? Not the host's window, the interrupt range, or the controller's own BARs. */
bool liov_iova_allowed(const struct liov_backend *be, u64 iova, u64 len_bytes);
/* Could DMA to this range end at, or come from, another VM, alive or in its grave? With dma_offset never. Takes be->lock. */
bool liov_iova_is_free(struct liov_backend *be, const struct liov_vm *self, gpa_t gpa, u64 len_bytes);
/* The VM's DMA may name these IOVAs from now on: remembered to its end. -ENOSPC. Takes be->lock. */
int liov_grave_note(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
/* Wholly inside one registered, not releasing range? Takes a reference on success when @hold (mediated). IAP */
bool liov_vm_mem_check(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, bool hold);
/* Is @need (PORT_READ, PORT_WRITE) what devices may do there? True also of what is not registered. */
bool liov_vm_mem_may(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, u32 need);
/* Give a held reference back: the same range. Unregistering waits for this with vm->lock held. IAP */
void liov_vm_mem_drop(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
/* All of it, at the VM's end: nothing of the VM's is in flight, or it ends at the unmapped IOVA. */
void liov_vm_mem_release_all(struct liov_vm *vm);

/* --- teardown.c --- */
#define LIOV_GRAVE_RANGES_MAX (2 * LIOV_MEM_RANGES_MAX)

/* What queues that are not quiet can still reach: kept from everybody until the controller was reset. */
struct liov_grave {
	struct liov_grave *next;
	u32 vm_id;
	struct liov_range lba, window;
	u32 pasid, nsid;
	u32 nr_iova;			/* where IOVA = guest address: all the VM ever had; under be->lock */
	struct liov_range iova[LIOV_GRAVE_RANGES_MAX];
};
/* Undo all of liov_vm_create() that was done. Takes vm->lock. */
void liov_vm_dismantle(struct liov_vm *vm);
/* After a controller reset: all that was quarantined is clean again. Under control. */
void liov_graves_open(struct liov_backend *be);
/* The end of the backend: VMs' namespaces do not outlive it, quiet or not. While the admin queue lives; under control. */
void liov_graves_close_namespaces(struct liov_backend *be);

/* --- device.c and its files. V, but for init (nobody else knows the VM yet) and irq --- */
int liov_device_init(struct liov_vm *vm);
/* Would @vvec deliver now (enabled, nothing masked, a message that may be sent)? Then @msi. IAP */
bool liov_device_vector_open(struct liov_vm *vm, u16 vvec, struct liov_msi *msi);
/* Raise virtual vector @vvec: pending while masked. IAP */
void liov_device_irq(struct liov_vm *vm, u16 vvec);
/* A virtual event: completes an AER, or waits for one. P (writes guest memory) */
void liov_device_event(struct liov_vm *vm, u32 dw0);
/* The bug that the sites of events keep out: every VM but @vm is told. */
void liov_device_event_others(struct liov_backend *be, const struct liov_vm *vm, u32 dw0);
/* Guest-visible end of an outage: registers say so and the frontend is told to re-create its queues. */
void liov_device_announce_reset(struct liov_vm *vm);

/* --- mediator.c. create, delete, doorbell: V; init: nobody else knows the VM yet; page: A --- */
int liov_mediator_init(struct liov_vm *vm);
/* Called without vm->lock, after pause and after the hardware queue was deleted: nothing completes any more. Frees all. */
void liov_mediator_fini(struct liov_vm *vm);
/* Virtual queues, bound to guest memory or to the VM's CMB slot (prp1 as the guest gave it). Return an NVMe status. */
u16 liov_mediator_create_cq(struct liov_vm *vm, u32 qid, u32 entries, u64 prp1, bool irq, u16 vvec);
u16 liov_mediator_create_sq(struct liov_vm *vm, u32 qid, u32 entries, u64 prp1, u32 cqid);
void liov_mediator_delete_sq(struct liov_vm *vm, u32 qid);
void liov_mediator_delete_cq(struct liov_vm *vm, u32 qid);
/* A doorbell, trapped or seen: @val as written. Process context. */
void liov_mediator_doorbell(struct liov_vm *vm, u32 qid, bool cq, u32 val);
/* Page of a virtual queue in the CMB, for liov_backend_page(). */
struct liov_page liov_mediator_page(struct liov_vm *vm, u32 index, u64 slot_off);
/* The page of watched doorbells, where the VM has one. */
struct liov_page liov_mediator_doorbell_page(struct liov_vm *vm);
/*
 * Around a reset of the physical controller, and (pause) at the VM's end: no submission after pause
 * returned. Called without vm->lock.
 */
void liov_mediator_pause(struct liov_vm *vm);
void liov_mediator_replay(struct liov_vm *vm);

static inline void liov_deny(struct liov_backend *be, enum liov_component who, u32 vm, u32 code, u64 a, u64 b)
{
	port_trace(be->home, &(struct liov_trace){ LIOV_TRACE_DENY, who, vm, code, a, b });
}

static inline void liov_guard(struct liov_backend *be, enum liov_component who, u32 vm, enum liov_guard g, u64 a, u64 b)
{
	port_trace(be->home, &(struct liov_trace){ LIOV_TRACE_GUARD, who, vm, g, a, b });
}

#endif
