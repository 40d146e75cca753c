// SPDX-License-Identifier: GPL-2.0
/*
 * What a VM finds in its CMB BAR: the info page, and the answer to the first touch of any
 * other page. The answer is looked up by (VM, slot) and never makes anything.
 */

#include "internal.h"

static const struct liov_page nothing = { .kind = LIOV_PAGE_NONE };

int liov_info_page_init(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	bool direct = be->cfg.policy != LIOV_POLICY_MEDIATED;
	struct liov_info info = {
		.magic = LIOV_INFO_MAGIC,
		.major = LIOV_ABI_MAJOR,
		.minor = LIOV_ABI_MINOR,
		/* Under mediated the mediator translates, and sees to protection. */
		.flags = (direct || be->cfg.watch_doorbells ? LIOV_INFO_DOORBELLS : 0) |
			 (direct && be->info.pi ? LIOV_INFO_PROTECTED : 0),
		.nr_queues = vm->cfg.nr_queues,
		/* So the guest's numbers are its own. */
		.lba_start = direct ? liov_vm_lba_base(vm) : 0,
		.lba_count = vm->lba.count,
		.nsid = vm->nsid,
		.dma_offset = direct ? vm->dma_offset : 0,
	};
	struct port_shm s;
	int err = port_pages_alloc(be->host, 1, &vm->info_page);

	if (err)
		return err;
	vm->has_info_page = true;
	for (u32 i = 0; i < vm->cfg.nr_queues; i++) {
		struct liov_info_queue *q = &info.queue[i];
		u32 slot = LIOV_CMB_SLOTS + i * LIOV_CMB_SLOT_STRIDE;

		q->sq = slot + LIOV_SLOT_SQ;
		q->cq = slot + LIOV_SLOT_CQ;
		q->depth_max = vm->queue[direct ? i : 0]->depth_max;
		if (direct && be->own_doorbell_pages) {
			q->sq_doorbell = slot + LIOV_SLOT_SQ_DOORBELL;
			q->cq_doorbell = slot + LIOV_SLOT_CQ_DOORBELL;
		} else if (direct) {
			u32 base = LIOV_CMB_DOORBELLS - NVME_REG_DBS;

			q->sq_doorbell = base + (u32)liov_doorbell(be, vm->queue[i]->qid, false);
			q->cq_doorbell = base + (u32)liov_doorbell(be, vm->queue[i]->qid, true);
		} else if (be->cfg.watch_doorbells) {
			q->sq_doorbell = LIOV_CMB_DOORBELLS + 8 * (i + 1);
			q->cq_doorbell = q->sq_doorbell + 4;
		}
	}
	s = port_pages_shm(&vm->info_page);
	port_shm_copy_out(&s, 0, &info, sizeof(info));
	return 0;
}

/* What of queue @q may be mapped now. Everything in one look under its lock. */
struct queue_view {
	bool sq, cq;		/* live, and nobody is taking it away */
	u32 sq_bytes, cq_bytes;
};

static struct queue_view queue_look(struct liov_vm *vm, struct liov_hwq *q)
{
	struct queue_view v = { 0 };
	unsigned long flags;

	if (!q)
		return v;
	flags = port_lock_irqsave(&q->lock);
	if (LIOV_CHECK(backend_page_owner, q->vm == vm) &&
	    LIOV_CHECK(backend_page_quarantine, q->state != LIOV_HWQ_QUARANTINED)) {
		v.sq = LIOV_CHECK(backend_page_live, q->sq_live && !q->sq_closed);
		v.cq = LIOV_CHECK(backend_page_live, q->cq_live && !q->cq_closed);
		v.sq_bytes = q->sq_entries * (u32)sizeof(struct nvme_sqe);
		v.cq_bytes = q->cq_entries * (u32)sizeof(struct nvme_cqe);
	}
	port_unlock_irqrestore(&q->lock, flags);
	return v;
}

/* A controller that was unplugged reads all ones: what takes its place on the bus is not the VM's (LIF-07). */
static bool controller_gone(const struct liov_backend *be)
{
	return port_mmio_rd32(&be->bar0, NVME_REG_CSTS) == ~0u;
}

static struct liov_page page_doorbell(const struct liov_backend *be, u64 bar_off)
{
	if (!LIOV_CHECK(backend_doorbell_inside, liov_range_inside(0, be->bar0_size, bar_off, SPEC_PAGE_SIZE)) ||
	    !LIOV_CHECK(backend_controller_there, !controller_gone(be)))
		return nothing;
	return (struct liov_page){ .kind = LIOV_PAGE_BAR0, .bar_off = bar_off, .writable = true };
}

/* The page that all VMs share: only for who has a queue that it can ring. */
static struct liov_page page_shared_doorbells(struct liov_vm *vm)
{
	if (!LIOV_CHECK(backend_doorbells_apart, !vm->be->own_doorbell_pages))
		return nothing;
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		if (queue_look(vm, vm->queue[i]).sq)
			return page_doorbell(vm->be, NVME_REG_DBS);
	return nothing;
}

static struct liov_page page_slot(struct liov_vm *vm, u32 index, u64 off)
{
	struct liov_backend *be = vm->be;
	/* By VM and slot: the slot's number alone would name anybody's queue. */
	struct liov_hwq *q = index < vm->cfg.nr_queues || LIOV_STEP(backend_page_lookup) ? vm->queue[index] : &be->hwq[index + 1];
	struct queue_view v = queue_look(vm, q);

	if (off < LIOV_SLOT_CQ) {
		if (!v.sq || !LIOV_CHECK(backend_page_bounds, off < v.sq_bytes) ||
		    ((q->flags & LIOV_HWQ_SQ_IN_CMB) && !LIOV_CHECK(backend_controller_there, !controller_gone(be))))
			return nothing;
		if (q->flags & LIOV_HWQ_SQ_IN_CMB)
			return (struct liov_page){ .kind = LIOV_PAGE_CMB, .writable = true,
						   .bar_off = be->info.cmb_off + q->cmb_off + off };
		return (struct liov_page){ .kind = LIOV_PAGE_MEMORY, .pages = q->sq_pages, .writable = true,
					   .index = (u32)(off >> SPEC_PAGE_SHIFT) };
	}
	if (off < LIOV_SLOT_SQ_DOORBELL) {
		if (!v.cq || !LIOV_CHECK(backend_page_bounds, off - LIOV_SLOT_CQ < v.cq_bytes))
			return nothing;
		return (struct liov_page){ .kind = LIOV_PAGE_MEMORY, .pages = q->cq_pages, .writable = true,
					   .index = (u32)((off - LIOV_SLOT_CQ) >> SPEC_PAGE_SHIFT) };
	}
	if (be->own_doorbell_pages && off == LIOV_SLOT_SQ_DOORBELL && v.sq)
		return page_doorbell(be, liov_doorbell(be, q->qid, false));
	if (be->own_doorbell_pages && off == LIOV_SLOT_CQ_DOORBELL && v.cq)
		return page_doorbell(be, liov_doorbell(be, q->qid, true));
	return nothing;
}

/* Writable only when nobody asks: the check above stands before. */
static struct liov_page info_page(struct liov_vm *vm, bool write)
{
	return (struct liov_page){ .kind = LIOV_PAGE_MEMORY, .pages = vm->info_page, .writable = write };
}

/* A queue's slot, and what lies there. */
struct slot {
	u64 index, off;
};

/*@ requires slots: LIOV_CMB_SLOTS <= page;
  @ assigns \nothing;
  @ ensures exact: LIOV_CMB_SLOTS + \result.index * LIOV_CMB_SLOT_STRIDE + \result.off == page;
  @ ensures inside: \result.off < LIOV_CMB_SLOT_STRIDE;
  @*/
static struct slot page_in_slot(u64 page)
{
	struct slot s;

	s.index = (page - LIOV_CMB_SLOTS) / LIOV_CMB_SLOT_STRIDE;
	s.off = (page - LIOV_CMB_SLOTS) % LIOV_CMB_SLOT_STRIDE;
	return s;
}

static struct liov_page page_find(struct liov_vm *vm, u64 off, bool write)
{
	bool direct = vm->be->cfg.policy != LIOV_POLICY_MEDIATED;
	u64 page = off - off % SPEC_PAGE_SIZE;
	struct slot at;

	if (!LIOV_CHECK(backend_page_bar, off < vm->cmb_size))
		return nothing;
	if (page == LIOV_CMB_INFO)
		return LIOV_CHECK(backend_info_readonly, !write) ? info_page(vm, write) : nothing;
	if (page == LIOV_CMB_DOORBELLS)
		return direct ? page_shared_doorbells(vm) : liov_mediator_doorbell_page(vm);
	if (page < LIOV_CMB_SLOTS)
		return nothing;
	at = page_in_slot(page);
	if (at.index >= LIOV_VM_QUEUES_MAX || !LIOV_CHECK(backend_page_slot, at.index < vm->cfg.nr_queues))
		return nothing;
	if (direct || at.index >= vm->cfg.nr_queues)
		return page_slot(vm, (u32)at.index, at.off);
	return liov_mediator_page(vm, (u32)at.index, at.off);
}

struct liov_page liov_backend_page(struct liov_vm *vm, u64 off, bool write)
{
	unsigned long flags = port_lock_irqsave(&vm->page_lock);
	struct liov_page p = nothing;

	/*
	 * A reset is about to take its queues, or has: nothing is there until they are created
	 * again. A mediated VM's are the mediator's and stay.
	 */
	if (LIOV_CHECK(backend_page_dying, vm->live && !vm->dying) &&
	    LIOV_CHECK(backend_page_reset,
		       !vm->be->resetting || vm->has_mediator || (off & ~(SPEC_PAGE_SIZE - 1)) == LIOV_CMB_INFO))
		p = page_find(vm, off, write);
	port_unlock_irqrestore(&vm->page_lock, flags);
	/* Past the slots is no page of anybody's: the device answers for what is left of the BAR. */
	if (p.kind == LIOV_PAGE_NONE && off < LIOV_CMB_SLOTS + (u64)LIOV_VM_QUEUES_MAX * LIOV_CMB_SLOT_STRIDE)
		liov_deny(vm->be, LIOV_BACKEND, vm->cfg.id, 0, off, write);
	return p;
}
