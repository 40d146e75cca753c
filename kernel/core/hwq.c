// SPDX-License-Identifier: GPL-2.0
/*
 * Physical I/O queue pairs: memory and vector for as long as somebody has them, creation and
 * deletion at the controller, quarantine, and the rings of those that the host drives.
 */

#include "internal.h"

static u32 round_pages(u32 bytes)
{
	return (bytes + (u32)SPEC_PAGE_SIZE - 1) >> SPEC_PAGE_SHIFT;
}

static u32 hwq_sq_pages(const struct liov_hwq *q)
{
	return round_pages(q->depth_max * (u32)sizeof(struct nvme_sqe));
}

static u32 hwq_cq_pages(const struct liov_hwq *q)
{
	return round_pages(q->depth_max * (u32)sizeof(struct nvme_cqe));
}

/* What the page answer and the rings look at changes under the queue's lock. */
static void hwq_set(struct liov_hwq *q, bool cq_live, bool sq_live)
{
	unsigned long flags = port_lock_irqsave(&q->lock);

	q->cq_live = cq_live;
	q->sq_live = sq_live;
	q->state = sq_live ? LIOV_HWQ_LIVE : cq_live ? LIOV_HWQ_CQ_LIVE : LIOV_HWQ_RESERVED;
	port_unlock_irqrestore(&q->lock, flags);
}

void liov_hwq_set_closed(struct liov_hwq *q, bool sq, bool cq)
{
	unsigned long flags = port_lock_irqsave(&q->lock);

	q->sq_closed = sq && LIOV_STEP(backend_close);
	q->cq_closed = cq && LIOV_STEP(backend_close);
	port_unlock_irqrestore(&q->lock, flags);
}

static void hwq_trace(const struct liov_hwq *q, u32 code)
{
	port_trace(q->be->home, &(struct liov_trace){ LIOV_TRACE_QUEUE, LIOV_BACKEND, q->owner, code, q->qid, 0 });
}

/* Its memory, IOVAs and vector stay as they are: the controller may still use them. */
static void hwq_quarantine(struct liov_hwq *q)
{
	struct liov_backend *be = q->be;
	unsigned long flags;

	if (q->state == LIOV_HWQ_QUARANTINED)
		return;
	flags = port_lock_irqsave(&q->lock);
	q->state = LIOV_HWQ_QUARANTINED;
	q->sq_closed = true;
	q->cq_closed = true;
	q->cq_live = false;
	q->sq_live = false;
	port_unlock_irqrestore(&q->lock, flags);
	if (q->vm && LIOV_STEP(backend_quarantine))
		q->vm->unquiet = true;
	port_mutex_lock(&be->lock);
	be->nr_quarantined++;
	port_mutex_unlock(&be->lock);
	hwq_trace(q, 2);
}

/* --- vector --- */

static void hwq_irq(void *arg)
{
	struct liov_hwq *q = arg;

	if (q->host_driven) {
		/* Anybody may have sent it (INT-05): what counts is the ring. */
		if (liov_hwq_poll(q))
			return;
		if (!LIOV_STEP(mediator_irq_own) && q->vm)
			liov_device_irq(q->vm, 1);
		else
			liov_guard(q->be, q->vm ? LIOV_MEDIATOR : LIOV_BACKEND, q->owner, LIOV_GUARD_NOTHING_NEW, q->qid, 0);
	} else if (q->vm) {
		liov_device_irq(q->vm, q->vvec);
	}
}

/* Masks do not nest: a home may count them. */
void liov_hwq_mask(struct liov_hwq *q)
{
	if (!q->vector_masked && LIOV_STEP(backend_irq_mask))
		port_irq_mask_sync(q->be->host, q->vector);
	q->vector_masked = true;
}

void liov_hwq_unmask(struct liov_hwq *q)
{
	if (q->vector_masked)
		port_irq_unmask(q->be->host, q->vector);
	q->vector_masked = false;
}

void liov_hwq_unpost(struct liov_hwq *q)
{
	if (q->vector_posted && LIOV_STEP(backend_irq_unpost))
		port_irq_unpost_sync(q->be->host, q->vector);
	q->vector_posted = false;
}

/* --- memory --- */

static int hwq_take_sq_cmb(struct liov_hwq *q)
{
	struct liov_backend *be = q->be;
	u32 len = hwq_sq_pages(q) * (u32)SPEC_PAGE_SIZE;
	int err;

	if (!be->info.cmb_sqs)
		return -EOPNOTSUPP;
	err = liov_extents_take(&be->cmb, len, SPEC_PAGE_SIZE, &q->cmb_off);
	if (err)
		return err;
	err = port_bar_shm(be->host, be->info.cmb_bar, be->info.cmb_off + q->cmb_off, len, &q->sq);
	if (err) {
		(void)liov_extents_give(&be->cmb, q->cmb_off, len);
		return err;
	}
	q->sq_iova = (iova_t){ be->cmb_bus_addr + q->cmb_off };
	return 0;
}

/*
 * Queue memory is mapped readable and writable, as dma_alloc_coherent() maps it: that is the
 * paper's practice, and why a raw PRP can hit it (GPA-03, GPA-04). Only a check of the
 * command, by mediator or controller, stands before it.
 */
static int hwq_take_pages(const struct liov_hwq *q, u32 nr, struct port_pages *p, struct port_shm *s, iova_t *iova)
{
	struct liov_backend *be = q->be;
	int err = port_pages_alloc(be->host, nr, p);

	if (err)
		return err;
	err = liov_extents_take(&be->iovas, nr * SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, &iova->v);
	if (err)
		goto out_pages;
	err = liov_dma_map(be, q->pasid, *iova, p, nr, PORT_READ | PORT_WRITE);
	if (err)
		goto out_iova;
	*s = port_pages_shm(p);
	return 0;
out_iova:
	(void)liov_extents_give(&be->iovas, iova->v, nr * SPEC_PAGE_SIZE);
out_pages:
	port_pages_put(p);
	return err;
}

static void hwq_unmap(struct liov_hwq *q)
{
	if (q->has_sq_pages && LIOV_STEP(backend_queue_unmap))
		liov_dma_unmap(q->be, q->pasid, q->sq_iova, hwq_sq_pages(q) * SPEC_PAGE_SIZE);
	if (q->has_cq_pages && LIOV_STEP(backend_queue_unmap))
		liov_dma_unmap(q->be, q->pasid, q->cq_iova, hwq_cq_pages(q) * SPEC_PAGE_SIZE);
	if (LIOV_STEP(backend_queue_sync))
		liov_dma_sync(q->be, q->pasid);
}

/* Zeroed, for the next owner of what the home may hand out next. Caller holds be->lock. */
static void hwq_put_memory(struct liov_hwq *q)
{
	struct liov_backend *be = q->be;

	hwq_unmap(q);
	if (q->has_sq_pages) {
		if (LIOV_STEP(backend_queue_zero))
			port_shm_zero(&q->sq, 0, hwq_sq_pages(q) * (u32)SPEC_PAGE_SIZE);
		(void)liov_extents_give(&be->iovas, q->sq_iova.v, hwq_sq_pages(q) * SPEC_PAGE_SIZE);
		port_pages_put(&q->sq_pages);
		q->has_sq_pages = false;
	} else if (q->flags & LIOV_HWQ_SQ_IN_CMB) {
		if (LIOV_STEP(backend_queue_zero))
			port_shm_zero(&q->sq, 0, hwq_sq_pages(q) * (u32)SPEC_PAGE_SIZE);
		(void)liov_extents_give(&be->cmb, q->cmb_off, hwq_sq_pages(q) * SPEC_PAGE_SIZE);
		q->flags &= ~LIOV_HWQ_SQ_IN_CMB;
	}
	if (q->has_cq_pages) {
		if (LIOV_STEP(backend_queue_zero))
			port_shm_zero(&q->cq, 0, hwq_cq_pages(q) * (u32)SPEC_PAGE_SIZE);
		(void)liov_extents_give(&be->iovas, q->cq_iova.v, hwq_cq_pages(q) * SPEC_PAGE_SIZE);
		port_pages_put(&q->cq_pages);
		q->has_cq_pages = false;
	}
}

static int hwq_take_memory(struct liov_hwq *q, u32 flags)
{
	struct liov_backend *be = q->be;
	int err;

	q->flags = 0;
	q->depth_max = be->depth_max;
	if (flags & LIOV_HWQ_SQ_IN_CMB) {
		err = hwq_take_sq_cmb(q);
		if (!err)
			q->flags = LIOV_HWQ_SQ_IN_CMB;
	} else {
		err = hwq_take_pages(q, hwq_sq_pages(q), &q->sq_pages, &q->sq, &q->sq_iova);
		q->has_sq_pages = !err;
	}
	if (!err) {
		err = hwq_take_pages(q, hwq_cq_pages(q), &q->cq_pages, &q->cq, &q->cq_iova);
		q->has_cq_pages = !err;
	}
	if (err)
		hwq_put_memory(q);
	return err;
}

/* --- life --- */

static int hwq_acquire(struct liov_hwq *q, const struct liov_vm *vm, u32 flags)
{
	struct liov_backend *be = q->be;
	int err;

	if (q->qid >= port_irq_count(be->host))
		return -ENOSPC;
	q->pasid = vm ? vm->pasid : LIOV_NO_PASID;
	err = hwq_take_memory(q, flags);
	if (err)
		return err;
	q->vector = q->qid;
	q->vm = NULL;
	q->host_driven = false;
	q->irq_enabled = false;
	err = port_irq_request(be->host, q->vector, hwq_irq, q);
	if (err) {
		hwq_put_memory(q);
		return err;
	}
	q->vector_requested = true;
	q->vector_masked = false;
	q->vector_posted = false;
	liov_hwq_mask(q);
	q->owner = vm ? vm->cfg.id : LIOV_HOST_VM;
	q->orphaned = false;
	q->sq_closed = false;
	q->cq_closed = false;
	hwq_set(q, false, false);
	return 0;
}

int liov_hwq_reserve(struct liov_backend *be, const struct liov_vm *vm, u32 flags, struct liov_hwq **out)
{
	int err = -ENOSPC;

	port_mutex_lock(&be->lock);
	for (u32 qid = 1; qid <= be->info.io_queues; qid++) {
		if (be->hwq[qid].state != LIOV_HWQ_FREE)
			continue;
		err = hwq_acquire(&be->hwq[qid], vm, flags);
		if (!err)
			*out = &be->hwq[qid];
		break;
	}
	port_mutex_unlock(&be->lock);
	return err;
}

int liov_hwq_reserve_at(struct liov_backend *be, const struct liov_vm *vm, u32 qid, struct liov_hwq **out)
{
	int err;

	/* Pair 0 is the admin queue, with vector 0. */
	if (qid > be->info.io_queues || !LIOV_CHECK(backend_qid, qid != 0))
		return -EINVAL;
	port_mutex_lock(&be->lock);
	*out = &be->hwq[qid];
	err = LIOV_CHECK(backend_qid_free, (*out)->state == LIOV_HWQ_FREE) ? hwq_acquire(*out, vm, 0) : -EBUSY;
	port_mutex_unlock(&be->lock);
	return err;
}

void liov_hwq_release(struct liov_hwq *q)
{
	struct liov_backend *be = q->be;
	unsigned long flags;

	LIOV_ASSERT(q->state == LIOV_HWQ_RESERVED);
	liov_hwq_mask(q);
	liov_hwq_unpost(q);
	if (q->vector_requested)
		port_irq_free(be->host, q->vector);
	q->vector_requested = false;
	port_mutex_lock(&be->lock);
	hwq_put_memory(q);
	q->owner = LIOV_HOST_VM;
	q->vm = NULL;
	q->host_driven = false;
	q->orphaned = false;
	flags = port_lock_irqsave(&q->lock);
	q->state = LIOV_HWQ_FREE;
	port_unlock_irqrestore(&q->lock, flags);
	port_mutex_unlock(&be->lock);
}

void liov_hwq_forget(struct liov_hwq *q)
{
	if (q->state == LIOV_HWQ_FREE)
		return;
	liov_hwq_mask(q);
	liov_hwq_unpost(q);
	q->irq_enabled = false;
	hwq_set(q, false, false);
	port_shm_zero(&q->sq, 0, hwq_sq_pages(q) * (u32)SPEC_PAGE_SIZE);
	port_shm_zero(&q->cq, 0, hwq_cq_pages(q) * (u32)SPEC_PAGE_SIZE);
}

int liov_hwq_create_cq(struct liov_hwq *q, u32 entries, bool irq)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_CREATE_CQ, .prp1 = q->cq_iova.v };
	int err;

	if (q->state == LIOV_HWQ_QUARANTINED || q->cq_live || entries < 2 || entries > q->depth_max)
		return -EINVAL;
	/* A stale entry with the right phase would be taken for a completion (REM-04). */
	if (LIOV_STEP(backend_cq_zero)) {
		port_shm_zero(&q->cq, 0, hwq_cq_pages(q) * (u32)SPEC_PAGE_SIZE);
		liov_guard(q->be, LIOV_BACKEND, q->owner, LIOV_GUARD_QUEUE_ZEROED, q->qid, hwq_cq_pages(q) * SPEC_PAGE_SIZE);
	}
	port_dma_wmb(q->be->home);
	sqe.cdw10 = q->qid | (entries - 1) << 16;
	sqe.cdw11 = (u32)(NVME_QUEUE_PC | (irq ? NVME_CQ_IEN : 0) | FIELD_PREP(NVME_CQ_IV, q->vector));
	err = q->pasid != LIOV_NO_PASID && LIOV_STEP(backend_siov_bind_cq) ? liov_siov_bind(q, true) : 0;
	if (!err)
		err = liov_admin_cmd(q->be, &sqe, NULL);
	if (err == -ETIMEDOUT)
		hwq_quarantine(q);
	if (err)
		return err;
	q->cq_entries = entries;
	q->irq_enabled = irq;
	hwq_set(q, true, q->sq_live);
	return 0;
}

int liov_hwq_create_sq(struct liov_hwq *q, u32 entries, struct liov_hwq *cq)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_CREATE_SQ, .prp1 = q->sq_iova.v };
	int err;

	if (q->state == LIOV_HWQ_QUARANTINED || q->sq_live || !cq->cq_live || entries < 2 || entries > q->depth_max)
		return -EINVAL;
	port_shm_zero(&q->sq, 0, hwq_sq_pages(q) * (u32)SPEC_PAGE_SIZE);
	liov_guard(q->be, LIOV_BACKEND, q->owner, LIOV_GUARD_QUEUE_ZEROED, q->qid, hwq_sq_pages(q) * SPEC_PAGE_SIZE);
	port_dma_wmb(q->be->home);
	sqe.cdw10 = q->qid | (entries - 1) << 16;
	sqe.cdw11 = (u32)(NVME_QUEUE_PC | FIELD_PREP(NVME_SQ_CQID, cq->qid));
	/* Whoever could ring it must not find it there and not bound: a binding is of the creation that follows. */
	err = q->pasid != LIOV_NO_PASID && LIOV_STEP(backend_siov_bind_sq) ? liov_siov_bind(q, false) : 0;
	if (!err)
		err = liov_admin_cmd(q->be, &sqe, NULL);
	if (err == -ETIMEDOUT)
		hwq_quarantine(q);
	if (err)
		return err;
	q->sq_entries = entries;
	q->cq_qid = cq->qid;
	/* Its doorbell must not be reachable before the controller knows what the queue may name. */
	if (q->vm && q->be->cfg.policy == LIOV_POLICY_NRD && LIOV_STEP(backend_nrd_bind))
		err = liov_nrd_bind(q->vm, q);
	if (err) {
		liov_hwq_set_closed(q, true, q->cq_closed);
		hwq_set(q, q->cq_live, true);
		(void)liov_hwq_delete_sq(q);
		return err;
	}
	hwq_set(q, q->cq_live, true);
	hwq_trace(q, 1);
	return 0;
}

/*
 * A guest that stopped consuming can keep its CQ full, and the controller from completing what
 * Delete SQ must end. Nobody but us reaches the queue any more, so the host consumes: the
 * controller's tail is where the phase tag changes. Entries are what the guest left there: a
 * forged one makes the doorbell value wrong, which the controller ignores.
 */
static void hwq_drain(void *arg)
{
	const struct liov_hwq *q = arg;
	struct liov_hwq *cq = &q->be->hwq[q->cq_qid];
	u32 first = 0, i;

	for (i = 0; i < cq->cq_entries; i++) {
		u32 phase = (u32)(port_shm_rd64(&cq->cq, i * (u32)sizeof(struct nvme_cqe) + 8) >> 48) & NVME_CQE_PHASE;

		if (i == 0)
			first = phase;
		else if (phase != first)
			break;
	}
	if (i >= cq->cq_entries)
		i = 0;
	port_mmio_wr32(&q->be->bar0, (u32)liov_doorbell(q->be, cq->qid, true), i);
}

int liov_hwq_delete_sq(struct liov_hwq *q)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_DELETE_SQ, .cdw10 = q->qid };
	int err;

	if (q->state == LIOV_HWQ_QUARANTINED)
		return -EIO;
	if (!q->sq_live)
		return 0;
	if (LIOV_STEP(backend_delete_sq))
		err = liov_admin_cmd_stalled(q->be, &sqe, q->host_driven ? NULL : hwq_drain, q);
	else
		err = 0;
	if (err) {
		hwq_quarantine(q);
		return err < 0 ? err : -EIO;
	}
	hwq_set(q, q->cq_live, false);
	liov_guard(q->be, LIOV_BACKEND, q->owner, LIOV_GUARD_QUEUE_QUIET, q->qid, 0);
	port_shm_zero(&q->sq, 0, hwq_sq_pages(q) * (u32)SPEC_PAGE_SIZE);
	hwq_trace(q, 0);
	return 0;
}

int liov_hwq_delete_cq(struct liov_hwq *q)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_DELETE_CQ, .cdw10 = q->qid };
	int err;

	if (q->state == LIOV_HWQ_QUARANTINED)
		return -EIO;
	if (!q->cq_live)
		return 0;
	err = LIOV_STEP(backend_delete_cq) ? liov_admin_cmd(q->be, &sqe, NULL) : 0;
	if (err) {
		hwq_quarantine(q);
		return err < 0 ? err : -EIO;
	}
	hwq_set(q, false, q->sq_live);
	liov_hwq_mask(q);
	liov_hwq_unpost(q);
	q->irq_enabled = false;
	port_shm_zero(&q->cq, 0, hwq_cq_pages(q) * (u32)SPEC_PAGE_SIZE);
	return 0;
}
