/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_INTERNAL_H
#define LIOV_CORE_INTERNAL_H

/* What the host-side files of the core say to each other. Not for homes. */

#include "liov/liov.h"
#include "nvme.h"
#include "pci.h"

/* --- extent.c: first fit over ranges of numbers --- */
void liov_extents_init(struct liov_extents *x, u64 start, u64 count);
/* Lowest fit, @align a power of two. -ENOSPC. */
int liov_extents_take(struct liov_extents *x, u64 count, u64 align, u64 *start);
/* Give back; overlap with what is free is our bug. -ENOSPC when the table is full (the range is lost, said in the trace). */
int liov_extents_give(struct liov_extents *x, u64 start, u64 count);

/* --- ctrl.c: the physical controller --- */
int liov_ctrl_start(struct liov_backend *be);
void liov_ctrl_stop(struct liov_backend *be);
/* CC.EN 0, then 1 with the admin queue as before; I/O queues are gone after it. */
int liov_ctrl_reset(struct liov_backend *be);

/* --- admin.c: its admin queue --- */
/* One admin command; @cid is filled in. Returns 0, -ETIMEDOUT, -EIO, or the positive status (SCT << 8 | SC). @dw0 may be NULL. */
int liov_admin_cmd(struct liov_backend *be, struct nvme_sqe *sqe, u32 *dw0);
/* The admin data page (4 KiB), valid under the caller's liov_admin_lock. */
int liov_admin_identify(struct liov_backend *be, u32 cns, u32 nsid, void *buf4k);

/* --- hwq.c: physical I/O queue pairs --- */
/* Reserve a free pair with pages of its own for @owner. */
int liov_hwq_reserve(struct liov_backend *be, u32 owner, u32 flags, struct liov_hwq **out);
void liov_hwq_release(struct liov_hwq *q);	/* RESERVED -> FREE: pages unmapped, synced, put */
int liov_hwq_create_cq(struct liov_hwq *q, u32 entries, bool irq);
int liov_hwq_create_sq(struct liov_hwq *q, u32 entries, struct liov_hwq *cq);
/* Delete what exists, SQ first; -ETIMEDOUT or -EIO: quarantined. Pages are zeroed for the next use. */
int liov_hwq_delete_sq(struct liov_hwq *q);
int liov_hwq_delete_cq(struct liov_hwq *q);
/* Host-driven: submit (IAP; -EBUSY when full; cid is the caller's, unique in the queue); completions come through q->complete. */
int liov_hwq_start_driving(struct liov_hwq *q, u32 entries, liov_completion_fn fn, void *arg);
int liov_hwq_submit(struct liov_hwq *q, const struct nvme_sqe *sqe);
void liov_hwq_poll(struct liov_hwq *q);

/* --- queue operations of a VM, asked for by the virtual device; index 0 .. --- */
int liov_vm_queue_create_cq(struct liov_vm *vm, u32 index, u32 entries, bool irq, u16 vvec);
int liov_vm_queue_create_sq(struct liov_vm *vm, u32 index, u32 entries, u32 cq_index);
int liov_vm_queue_delete_sq(struct liov_vm *vm, u32 index); /* doorbells and pages revoked first */
int liov_vm_queue_delete_cq(struct liov_vm *vm, u32 index);
/* The VM's virtual controller was disabled or reset: all its queues are deleted, pages zeroed. */
void liov_vm_queues_reset(struct liov_vm *vm);
/* Virtual vector @vvec changed (mask, message): the physical vectors behind it follow. */
void liov_vm_vector_update(struct liov_vm *vm, u16 vvec);

/* --- memory registration --- */
int liov_vm_mem_register(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
int liov_vm_mem_unregister(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
/* Wholly inside one registered, not releasing range? Takes a reference on success when @hold. IAP */
bool liov_vm_mem_check(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, bool hold);
void liov_vm_mem_drop(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);

/* --- device.c and its files --- */
int liov_device_init(struct liov_vm *vm);
/* Raise virtual vector @vvec: pending while masked. IAP */
void liov_device_irq(struct liov_vm *vm, u16 vvec);
/* A virtual event: completes an AER, or waits for one. P (writes guest memory) */
void liov_device_event(struct liov_vm *vm, u32 dw0);
/* Guest-visible end of an outage: registers say so and the frontend is told to re-create its queues. */
void liov_device_announce_reset(struct liov_vm *vm);

/* --- mediator.c --- */
int liov_mediator_init(struct liov_vm *vm);
void liov_mediator_fini(struct liov_vm *vm);
/* Virtual queues, bound to guest memory or to the VM's CMB slot (prp1 as the guest gave it). Return an NVMe status. */
u16 liov_mediator_create_cq(struct liov_vm *vm, u32 qid, u32 entries, u64 prp1, bool irq, u16 vvec);
u16 liov_mediator_create_sq(struct liov_vm *vm, u32 qid, u32 entries, u64 prp1, u32 cqid);
void liov_mediator_delete_sq(struct liov_vm *vm, u32 qid);
void liov_mediator_delete_cq(struct liov_vm *vm, u32 qid);
/* A trapped doorbell: @val as written. Process context. */
void liov_mediator_doorbell(struct liov_vm *vm, u32 qid, bool cq, u32 val);
/* Page of a virtual queue in the CMB, for liov_backend_page(). */
struct liov_page liov_mediator_page(struct liov_vm *vm, u32 index, u64 slot_off);
/* Around a reset of the physical controller. */
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
