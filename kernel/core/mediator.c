// SPDX-License-Identifier: GPL-2.0
/*
 * The mediator's life, its virtual queues and their doorbells. All memory is taken when the
 * VM is created: a guest that creates and deletes queues makes the host allocate nothing.
 */

#include "mediator.h"

_Static_assert(MED_SQ_PAGES * SPEC_PAGE_SIZE == LIOV_QUEUE_DEPTH_MAX * DEVICE_SQ_BYTES, "the deepest SQ");
_Static_assert(MED_CQ_PAGES * SPEC_PAGE_SIZE == LIOV_QUEUE_DEPTH_MAX * DEVICE_CQ_BYTES, "the deepest CQ");

static u64 slot(u32 index)
{
	return LIOV_CMB_SLOTS + (u64)index * LIOV_CMB_SLOT_STRIDE;
}

/* --- life --- */

static u32 hw_depth(const struct liov_backend *be)
{
	u32 d = be->cfg.queue_depth < be->depth_max ? be->cfg.queue_depth : be->depth_max;

	if (d > LIOV_QUEUE_DEPTH_MAX)
		d = LIOV_QUEUE_DEPTH_MAX;
	return d < 2 ? 2 : d;
}

static int take_lists(struct liov_mediator *med)
{
	struct liov_backend *be = med->vm->be;
	u32 chunks = (med->nr_tags + MED_LIST_CHUNK - 1) / MED_LIST_CHUNK, i;
	u64 bytes = chunks * MED_LIST_CHUNK * SPEC_PAGE_SIZE;
	int err;

	port_mutex_lock(&be->lock);
	err = liov_extents_take(&be->iovas, bytes, SPEC_PAGE_SIZE, &med->list_iova.v);
	port_mutex_unlock(&be->lock);
	if (err)
		return err;
	med->has_list_iova = true;
	for (i = 0; i < chunks; i++) {
		err = port_pages_alloc(be->host, MED_LIST_CHUNK, &med->list_pages[i]);
		if (err)
			return err;
		med->nr_chunks++;
		med->lists[i] = port_pages_shm(&med->list_pages[i]);
		err = port_iommu_map(be->host, liov_mediator_list_iova(med, i * MED_LIST_CHUNK), &med->list_pages[i],
				     MED_LIST_CHUNK, PORT_READ);
		if (err)
			return err;
		med->nr_mapped++;
	}
	return 0;
}

/* Where a queue could not be proven quiet the IOVA stays taken: a late fetch finds nothing there, ever. */
static void put_lists(struct liov_mediator *med)
{
	struct liov_backend *be = med->vm->be;
	u64 chunk = MED_LIST_CHUNK * SPEC_PAGE_SIZE;
	u64 bytes = (med->nr_tags + MED_LIST_CHUNK - 1) / MED_LIST_CHUNK * chunk;
	u32 i;

	if (med->nr_mapped) {
		if (LIOV_STEP(mediator_lists_unmap))
			port_iommu_unmap(be->host, med->list_iova, med->nr_mapped * chunk);
		if (LIOV_STEP(mediator_lists_sync))
			port_iommu_sync(be->host);
	}
	for (i = 0; i < med->nr_chunks; i++)
		port_pages_put(&med->list_pages[i]);
	if (med->has_list_iova && !med->vm->unquiet) {
		port_mutex_lock(&be->lock);
		(void)liov_extents_give(&be->iovas, med->list_iova.v, bytes);
		port_mutex_unlock(&be->lock);
	}
}

static int queue_init(struct liov_mediator *med, u32 index)
{
	struct liov_mediated_queue *q = &med->queue[index];
	struct liov_backend *be = med->vm->be;
	int err;

	q->index = index;
	q->cq.ring = port_alloc(be->home, LIOV_QUEUE_DEPTH_MAX * sizeof(*q->cq.ring));
	if (!q->cq.ring)
		return -ENOMEM;
	err = port_pages_alloc(be->host, MED_SQ_PAGES + MED_CQ_PAGES, &q->pages);
	if (err)
		return err;
	q->has_pages = true;
	q->shm = port_pages_shm(&q->pages);
	return 0;
}

static int tags_init(struct liov_mediator *med)
{
	struct port_home *home = med->vm->be->home;
	u32 i;

	med->nr_tags = hw_depth(med->vm->be) - 1;
	med->budget = med->nr_tags;
	med->work_unit_ns = med->vm->cfg.work_per_s ? 1000000000u / med->vm->cfg.work_per_s : 0;
	med->tags = port_alloc(home, med->nr_tags * sizeof(*med->tags));
	med->free_tags = port_alloc(home, med->nr_tags * sizeof(*med->free_tags));
	if (!med->tags || !med->free_tags)
		return -ENOMEM;
	for (i = 0; i < med->nr_tags; i++)
		med->free_tags[i] = (u16)(med->nr_tags - 1 - i);
	med->nr_free = med->nr_tags;
	return 0;
}

static int start_hardware(struct liov_mediator *med)
{
	int err = liov_hwq_start_driving(liov_mediator_hw(med), hw_depth(med->vm->be), liov_mediator_complete, med);

	return err > 0 ? -EIO : err;
}

static void release(struct liov_mediator *med)
{
	struct liov_vm *vm = med->vm;
	struct port_home *home = vm->be->home;
	u32 i;

	if (LIOV_STEP(mediator_pages_revoke))
		port_vm_revoke(vm->port, LIOV_CMB_DOORBELLS, slot(vm->cfg.nr_queues) - LIOV_CMB_DOORBELLS);
	put_lists(med);
	if (med->has_doorbells)
		port_pages_put(&med->doorbells);
	for (i = 0; i < vm->cfg.nr_queues; i++) {
		struct liov_mediated_queue *q = &med->queue[i];

		if (q->has_pages)
			port_pages_put(&q->pages);
		port_free(home, q->cq.ring);
	}
	port_free(home, med->free_tags);
	port_free(home, med->tags);
	port_free(home, med);
}

int liov_mediator_init(struct liov_vm *vm)
{
	struct liov_mediator *med = port_alloc(vm->be->home, sizeof(*med));
	u32 i;
	int err;

	if (!med)
		return -ENOMEM;
	med->vm = vm;
	port_lock_init(vm->be->home, &med->lock);
	port_event_init(vm->be->home, &med->drained);
	port_work_init(vm->be->home, &med->work, liov_mediator_work, med);
	port_timer_init(vm->be->home, &med->work_timer, liov_mediator_work_timer, med);
	err = tags_init(med);
	if (!err)
		err = take_lists(med);
	for (i = 0; i < vm->cfg.nr_queues && !err; i++)
		err = queue_init(med, i);
	if (!err)
		err = start_hardware(med);
	if (!err)
		err = liov_mediator_watch(med);
	if (err) {
		(void)liov_hwq_delete_sq(liov_mediator_hw(med));
		(void)liov_hwq_delete_cq(liov_mediator_hw(med));
		release(med);
		return err;
	}
	vm->med = med;
	return 0;
}

void liov_mediator_fini(struct liov_vm *vm)
{
	struct liov_mediator *med = vm->med;

	if (!med)
		return;
	liov_mediator_unwatch(med);
	/* Paused: the work arms the timer no more. */
	port_work_cancel_sync(&med->work);
	port_timer_cancel_sync(&med->work_timer);
	port_work_cancel_sync(&med->work);
	vm->med = NULL;
	release(med);
}

/* --- controller reset --- */

void liov_mediator_pause(struct liov_vm *vm)
{
	struct liov_mediator *med = vm->med;

	if (!med)
		return;
	port_mutex_lock(&vm->lock);
	med->paused = true;
	port_mutex_unlock(&vm->lock);
}

/*
 * Commands that had no completion are sent again, as they were checked and translated then:
 * the memory they name is still held. A write that the controller had done already is done
 * once more with the same data, before its completion lets the guest write there again.
 */
static void resend(struct liov_mediator *med)
{
	u32 i;

	for (i = 0; i < med->nr_tags; i++) {
		struct med_tag *t = &med->tags[i];

		if (!t->busy)
			continue;
		if (t->orphan)
			liov_mediator_free_tag(med, i);
		else if (liov_hwq_submit(liov_mediator_hw(med), &t->sqe))
			liov_mediator_fail_tag(med, i, NVME_SC_INTERNAL);
	}
}

void liov_mediator_replay(struct liov_vm *vm)
{
	struct liov_mediator *med = vm->med;
	u32 qid;

	if (!med)
		return;
	port_mutex_lock(&vm->lock);
	med->dead = start_hardware(med) != 0;
	med->paused = false;
	med->silent = false;
	if (med->dead) {
		for (qid = 1; qid <= vm->cfg.nr_queues; qid++)
			liov_mediator_orphan(med, qid, NVME_SC_INTERNAL);
	} else {
		resend(med);
	}
	liov_mediator_flush(med);
	liov_mediator_pump(med);
	port_mutex_unlock(&vm->lock);
}

/* --- virtual queues --- */

/* In the slot (the device has looked that it is the right one), or in the VM's own memory. */
static u16 place(const struct liov_vm *vm, u64 prp1, u64 bytes, bool *in_cmb)
{
	u64 off;

	*in_cmb = liov_device_cmb_offset(vm, prp1, &off);
	if (*in_cmb || LIOV_CHECK(mediator_queue_window, port_vm_mem_is_ram(vm->port, (gpa_t){ prp1 }, bytes)))
		return 0;
	return NVME_SC_DATA_TRANSFER | NVME_DNR;
}

/* Once more than at deletion, for the pages' first owner is not the VM. */
static void zero_place(struct liov_mediator *med, u32 index, u32 off, u32 pages)
{
	port_shm_zero(&med->queue[index].shm, off, pages * (u32)SPEC_PAGE_SIZE);
	liov_guard(med->vm->be, LIOV_BACKEND, med->vm->cfg.id, LIOV_GUARD_QUEUE_ZEROED, index + 1, pages * SPEC_PAGE_SIZE);
}

u16 liov_mediator_create_cq(struct liov_vm *vm, u32 qid, u32 entries, u64 prp1, bool irq, u16 vvec)
{
	struct liov_mediator *med = vm->med;
	struct med_cq *cq = &med->queue[qid - 1].cq;
	struct nvme_cqe *ring = cq->ring;
	unsigned long flags;
	bool in_cmb;
	u16 status = place(vm, prp1, (u64)entries * DEVICE_CQ_BYTES, &in_cmb);

	if (status)
		return status;
	liov_mediator_doorbell_reset(med, qid, true);
	flags = port_lock_irqsave(&med->lock);
	*cq = (struct med_cq){
		.live = true, .in_cmb = in_cmb, .entries = entries, .phase = true, .irq = irq, .vvec = vvec,
		.gpa = { prp1 }, .shm = med->queue[qid - 1].shm, .ring = ring,
	};
	port_unlock_irqrestore(&med->lock, flags);
	if (in_cmb) {
		zero_place(med, qid - 1, MED_CQ_OFFSET, MED_CQ_PAGES);
		port_vm_reveal(vm->port, slot(qid - 1), LIOV_CMB_SLOT_STRIDE);
	}
	return 0;
}

u16 liov_mediator_create_sq(struct liov_vm *vm, u32 qid, u32 entries, u64 prp1, u32 cqid)
{
	struct liov_mediator *med = vm->med;
	struct med_sq *sq = &med->queue[qid - 1].sq;
	unsigned long flags;
	bool in_cmb;
	u16 status = place(vm, prp1, (u64)entries * DEVICE_SQ_BYTES, &in_cmb);

	if (status)
		return status;
	liov_mediator_doorbell_reset(med, qid, false);
	flags = port_lock_irqsave(&med->lock);
	*sq = (struct med_sq){
		.live = true, .in_cmb = in_cmb, .entries = entries, .cqid = cqid,
		.gpa = { prp1 }, .shm = med->queue[qid - 1].shm,
	};
	port_unlock_irqrestore(&med->lock, flags);
	if (in_cmb) {
		zero_place(med, qid - 1, 0, MED_SQ_PAGES);
		port_vm_reveal(vm->port, slot(qid - 1), LIOV_CMB_SLOT_STRIDE);
	}
	return 0;
}

/* Wait for what the hardware has of the SQ, while there is hope: one timeout for all of a VM's queues. */
static void drain(struct liov_mediator *med, const struct med_sq *sq)
{
	struct port_home *home = med->vm->be->home;
	u64 start = port_now_ns(home), timeout = med->vm->be->cfg.timeout_ns;

	while (!med->paused && !med->silent && !med->dead) {
		u64 passed = port_now_ns(home) - start;
		unsigned long flags = port_lock_irqsave(&med->lock);
		bool busy = sq->outstanding;

		if (busy)
			port_event_reset(&med->drained);
		port_unlock_irqrestore(&med->lock, flags);
		if (!busy)
			break;
		if (passed >= timeout || !port_event_wait(&med->drained, timeout - passed))
			med->silent = true;
	}
}

void liov_mediator_delete_sq(struct liov_vm *vm, u32 qid)
{
	struct liov_mediator *med = vm->med;
	struct liov_mediated_queue *q = &med->queue[qid - 1];
	unsigned long flags;

	if (!q->sq.live)
		return;
	flags = port_lock_irqsave(&med->lock);
	q->sq.live = false;
	port_unlock_irqrestore(&med->lock, flags);
	if (LIOV_STEP(mediator_drain))
		drain(med, &q->sq);
	liov_mediator_orphan(med, qid, NVME_SC_ABORT_SQ_DELETION);
	liov_mediator_flush(med);
	if (q->sq.in_cmb) {
		if (LIOV_STEP(mediator_queue_revoke))
			port_vm_revoke(vm->port, slot(q->index) + LIOV_SLOT_SQ, MED_SQ_PAGES * SPEC_PAGE_SIZE);
		port_shm_zero(&q->shm, 0, MED_SQ_PAGES * (u32)SPEC_PAGE_SIZE);
	}
}

void liov_mediator_delete_cq(struct liov_vm *vm, u32 qid)
{
	struct liov_mediator *med = vm->med;
	struct liov_mediated_queue *q = &med->queue[qid - 1];
	unsigned long flags;

	if (!q->cq.live)
		return;
	flags = port_lock_irqsave(&med->lock);
	q->cq.live = false;
	port_unlock_irqrestore(&med->lock, flags);
	if (q->cq.in_cmb) {
		if (LIOV_STEP(mediator_queue_revoke))
			port_vm_revoke(vm->port, slot(q->index) + LIOV_SLOT_CQ, MED_CQ_PAGES * SPEC_PAGE_SIZE);
		port_shm_zero(&q->shm, MED_CQ_OFFSET, MED_CQ_PAGES * (u32)SPEC_PAGE_SIZE);
	}
}

/* Whole pages of the live queue, and nothing else of the slot. Atomic. */
struct liov_page liov_mediator_page(struct liov_vm *vm, u32 index, u64 slot_off)
{
	struct liov_page page = { .kind = LIOV_PAGE_NONE };
	struct liov_mediator *med = vm->med;
	struct liov_mediated_queue *q;
	unsigned long flags;

	if (!med || index >= vm->cfg.nr_queues)
		return page;
	q = &med->queue[index];
	page.pages = q->pages;
	page.writable = true;
	flags = port_lock_irqsave(&med->lock);
	if (q->sq.live && q->sq.in_cmb && slot_off - LIOV_SLOT_SQ < q->sq.entries * DEVICE_SQ_BYTES) {
		page.kind = LIOV_PAGE_MEMORY;
		page.index = (u32)(slot_off - LIOV_SLOT_SQ) >> SPEC_PAGE_SHIFT;
	} else if (q->cq.live && q->cq.in_cmb && slot_off >= LIOV_SLOT_CQ &&
		   slot_off - LIOV_SLOT_CQ < q->cq.entries * DEVICE_CQ_BYTES) {
		page.kind = LIOV_PAGE_MEMORY;
		page.index = MED_SQ_PAGES + ((u32)(slot_off - LIOV_SLOT_CQ) >> SPEC_PAGE_SHIFT);
	}
	port_unlock_irqrestore(&med->lock, flags);
	return page;
}

/* --- doorbells --- */

static bool value_ok(struct liov_mediator *med, const struct liov_mediated_queue *q, bool cq, u32 val)
{
	unsigned long flags = port_lock_irqsave(&med->lock);
	u32 n = cq ? q->cq.entries : q->sq.entries;
	bool ok = cq ? LIOV_CHECK(mediator_cq_head, liov_ring_head_ok(q->cq.head, q->cq.flushed, val, n))
		     : LIOV_CHECK(mediator_sq_tail, val < n && val != q->sq.tail);

	port_unlock_irqrestore(&med->lock, flags);
	return ok;
}

static void bad_doorbell(struct liov_vm *vm, u32 event)
{
	liov_device_event(vm, event);
	if (!LIOV_STEP(mediator_event_own))
		liov_device_event_others(vm->be, vm, event);
}

void liov_mediator_doorbell(struct liov_vm *vm, u32 qid, bool cq, u32 val)
{
	struct liov_mediator *med = vm->med;
	u64 off = LIOV_BAR0_DOORBELLS + (u64)qid * 8 + (cq ? 4 : 0);
	struct liov_mediated_queue *q;
	unsigned long flags;

	val &= 0xFFFF;		/* PCIe 3.1.2: upper half reserved */
	if (!med || !LIOV_CHECK(mediator_doorbell_qid, qid != 0 && qid <= vm->cfg.nr_queues) ||
	    !LIOV_CHECK(mediator_doorbell_live, cq ? med->queue[qid - 1].cq.live : med->queue[qid - 1].sq.live)) {
		liov_deny(vm->be, LIOV_MEDIATOR, vm->cfg.id, 0, off, val);
		bad_doorbell(vm, NVME_AEN_DOORBELL_REG);
		return;
	}
	q = &med->queue[qid - 1];
	if (!value_ok(med, q, cq, val)) {
		liov_mediator_deny(med, 0, off, val);
		bad_doorbell(vm, NVME_AEN_DOORBELL_VALUE);
		return;
	}
	if (!LIOV_STEP(mediator_doorbell_virtual)) {
		port_mmio_wr32(&vm->be->bar0, (u32)liov_doorbell(vm->be, qid, cq), val);
		return;
	}
	liov_guard(vm->be, LIOV_MEDIATOR, vm->cfg.id, LIOV_GUARD_OWN_QUEUE, off, val);
	flags = port_lock_irqsave(&med->lock);
	if (cq)
		q->cq.head = val;
	else
		q->sq.tail = val;
	port_unlock_irqrestore(&med->lock, flags);
	liov_mediator_pump(med);
}
