// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual queues in motion: a command is fetched only where its completion has an entry
 * reserved in the virtual CQ and a tag is free, so nothing is ever held back by a guest that
 * stops consuming (QOS-05), and completions go out in the order they came.
 */

#include "mediator.h"

static struct med_cq *cq_of(struct liov_mediator *med, u32 cqid)
{
	return &med->queue[cqid - 1].cq;
}

static u32 cq_used(const struct med_cq *cq)
{
	return liov_ring_used(cq->head, cq->tail, cq->entries);
}

/* --- towards the guest --- */

/* Under the lock. The entry was reserved. */
static void cq_fill(struct med_cq *cq, u32 sqid, u32 sqhd, u16 cid, u16 status)
{
	LIOV_ASSERT(cq->reserved && cq_used(cq) + 1 < cq->entries);
	cq->reserved--;
	cq->ring[cq->tail] = (struct nvme_cqe){
		.sqhd = (u16)sqhd, .sqid = (u16)sqid, .cid = cid,
		.status = (u16)((status & NVME_STATUS_CODE) << 1 | (status & NVME_DNR ? NVME_CQE_DNR : 0) |
				(cq->phase ? NVME_CQE_PHASE : 0)),
	};
	liov_ring_step(&cq->tail, &cq->phase, cq->entries);
}

/* Under the lock, any context: entries in the CMB. The half with the phase last (QD-13). True: the guest is to be told. */
static bool flush_cmb(struct liov_mediator *med, struct med_cq *cq)
{
	bool any = false;

	while (cq->live && cq->in_cmb && cq->flushed != cq->tail) {
		const struct nvme_cqe *cqe = &cq->ring[cq->flushed];
		u32 off = MED_CQ_OFFSET + cq->flushed * (u32)sizeof(*cqe);

		port_shm_copy_out(&cq->shm, off, cqe, 8);
		port_dma_wmb(med->vm->be->home);
		port_shm_copy_out(&cq->shm, off + 8, &cqe->sqhd, 8);
		port_dma_wmb(med->vm->be->home);
		cq->flushed = liov_ring_next(cq->flushed, cq->entries);
		any = true;
	}
	return any;
}

/* Entries in guest memory: process context and vm->lock, which keeps them in order. */
static bool flush_ram(struct liov_mediator *med, struct med_cq *cq)
{
	struct port_vm *port = med->vm->port;
	bool any = false;
	u32 n;

	for (n = 0; n < LIOV_QUEUE_DEPTH_MAX && cq->live && !cq->in_cmb; n++) {
		unsigned long flags = port_lock_irqsave(&med->lock);
		bool more = cq->flushed != cq->tail;
		struct nvme_cqe cqe = cq->ring[cq->flushed];
		gpa_t at = { cq->gpa.v + cq->flushed * sizeof(cqe) };

		port_unlock_irqrestore(&med->lock, flags);
		if (!more)
			break;
		if (port_vm_mem_wr(port, at, &cqe, 8)) {
			liov_device_fatal(med->vm, at.v, sizeof(cqe));
			break;
		}
		port_dma_wmb(med->vm->be->home);
		if (port_vm_mem_wr(port, (gpa_t){ at.v + 8 }, &cqe.sqhd, 8)) {
			liov_device_fatal(med->vm, at.v, sizeof(cqe));
			break;
		}
		flags = port_lock_irqsave(&med->lock);
		cq->flushed = liov_ring_next(cq->flushed, cq->entries);
		port_unlock_irqrestore(&med->lock, flags);
		any = true;
	}
	return any;
}

static void flush_cq(struct liov_mediator *med, struct med_cq *cq)
{
	unsigned long flags = port_lock_irqsave(&med->lock);
	bool any = flush_cmb(med, cq);

	port_unlock_irqrestore(&med->lock, flags);
	if (flush_ram(med, cq))
		any = true;
	if (any && cq->irq)
		liov_device_irq(med->vm, cq->vvec);
}

void liov_mediator_flush(struct liov_mediator *med)
{
	u32 i;

	for (i = 0; i < med->vm->cfg.nr_queues; i++)
		if (med->queue[i].cq.live)
			flush_cq(med, &med->queue[i].cq);
}

/* --- tags --- */

/* Under the lock. */
static void tag_put(struct liov_mediator *med, u32 tag)
{
	struct med_tag *t = &med->tags[tag];

	med->in_flight -= t->cost;
	t->busy = false;
	t->orphan = false;
	med->free_tags[med->nr_free++] = (u16)tag;
}

/* Under the lock. True: the SQ has nothing outstanding any more. */
static bool tag_complete(struct liov_mediator *med, u32 tag, u16 status)
{
	struct med_tag *t = &med->tags[tag];
	struct med_sq *sq = &med->queue[t->sqid - 1].sq;

	cq_fill(cq_of(med, sq->cqid), t->sqid, sq->head, t->cid, status);
	return --sq->outstanding == 0;
}

void liov_mediator_free_tag(struct liov_mediator *med, u32 tag)
{
	unsigned long flags;

	liov_mediator_unmap(med, tag);
	flags = port_lock_irqsave(&med->lock);
	tag_put(med, tag);
	port_unlock_irqrestore(&med->lock, flags);
}

void liov_mediator_fail_tag(struct liov_mediator *med, u32 tag, u16 status)
{
	unsigned long flags;

	liov_mediator_unmap(med, tag);
	flags = port_lock_irqsave(&med->lock);
	(void)tag_complete(med, tag, status);
	tag_put(med, tag);
	port_unlock_irqrestore(&med->lock, flags);
}

void liov_mediator_orphan(struct liov_mediator *med, u32 sqid, u16 status)
{
	unsigned long flags = port_lock_irqsave(&med->lock);
	u32 i;

	for (i = 0; i < med->nr_tags; i++) {
		struct med_tag *t = &med->tags[i];

		if (!t->busy || t->orphan || t->sqid != sqid)
			continue;
		(void)tag_complete(med, i, status);
		t->orphan = true;
	}
	port_unlock_irqrestore(&med->lock, flags);
}

/* --- from the hardware --- */

static bool work_waits(const struct liov_mediator *med)
{
	u32 i;

	for (i = 0; i < med->vm->cfg.nr_queues; i++) {
		const struct med_sq *sq = &med->queue[i].sq;
		const struct med_cq *cq = &med->queue[i].cq;

		if (sq->live && sq->head != sq->tail)
			return true;
		if (cq->live && cq->flushed != cq->tail)
			return true;
	}
	return false;
}

/* The controller's word is no index: only a command this queue has sent can complete, once. */
static bool tag_valid(const struct liov_mediator *med, u32 tag)
{
	return tag < med->nr_tags && med->tags[tag].busy;
}

static void deliver(struct liov_mediator *med, u32 tag, u16 status)
{
	struct med_cq *cq = NULL;
	bool tell = false, drained = false, more;
	unsigned long flags = port_lock_irqsave(&med->lock);

	if (!med->tags[tag].orphan) {
		cq = cq_of(med, med->queue[med->tags[tag].sqid - 1].sq.cqid);
		drained = tag_complete(med, tag, status);
		tell = flush_cmb(med, cq) && cq->irq;
	}
	tag_put(med, tag);
	med->silent = false;
	more = work_waits(med);
	port_unlock_irqrestore(&med->lock, flags);
	if (tell)
		liov_device_irq(med->vm, cq->vvec);
	if (drained)
		port_event_signal(&med->drained);
	if (more)
		port_work_queue(&med->work);
}

static u32 tag_of(const struct liov_mediator *med, u16 cid)
{
	u32 tag = 0;

	if (LIOV_STEP(mediator_cid_own))
		return cid;
	/* The guest's own would not tell its commands apart. */
	while (tag < med->nr_tags && (!med->tags[tag].busy || med->tags[tag].cid != cid))
		tag++;
	return tag;
}

void liov_mediator_complete(void *arg, const struct nvme_cqe *cqe)
{
	struct liov_mediator *med = arg;
	u16 status = (u16)(cqe->status >> 1 & NVME_STATUS_CODE);
	unsigned long flags = port_lock_irqsave(&med->lock);
	u32 tag = tag_of(med, cqe->cid);
	bool valid = tag_valid(med, tag);

	port_unlock_irqrestore(&med->lock, flags);
	if (!valid)
		return;
	port_trace(med->vm->be->home, &(struct liov_trace){ LIOV_TRACE_COMPLETE, LIOV_MEDIATOR, med->vm->cfg.id, status,
							    tag, liov_mediator_hw(med)->qid });
	liov_mediator_unmap(med, tag);
	deliver(med, tag, status | (cqe->status & NVME_CQE_DNR ? NVME_DNR : 0));
}

/* --- from the guest --- */

static int fetch(struct liov_mediator *med, struct med_sq *sq, struct nvme_sqe *sqe)
{
	u32 off = sq->head * (u32)sizeof(*sqe);
	gpa_t at = { sq->gpa.v + off };
	int err = 0;

	if (sq->in_cmb)
		port_shm_copy_in(&sq->shm, off, sqe, sizeof(*sqe));
	else
		err = port_vm_mem_rd(med->vm->port, at, sqe, sizeof(*sqe));
	if (err)
		liov_device_fatal(med->vm, at.v, sizeof(*sqe));
	return err;
}

/* Fill @tag with the command to send, or say why not. */
static u16 prepare(struct liov_mediator *med, const struct nvme_sqe *in, u32 sqid, u32 tag)
{
	struct med_tag *t = &med->tags[tag];
	struct med_command cmd;
	u16 status = liov_mediator_check(med->vm, in, &cmd);

	if (status) {
		liov_mediator_deny(med, status, cmd.bad, cmd.bad_len);
		return status;
	}
	t->bytes = 0;
	t->cost = cmd.cost;
	t->cid = in->cid;
	t->sqid = (u16)sqid;
	liov_mediator_rebuild(med->vm, in, &t->sqe);
	t->sqe.cid = LIOV_STEP(mediator_cid_own) ? (u16)tag : in->cid;
	if (in->opcode == NVME_CMD_DSM)
		return liov_mediator_ranges(med, in, tag);
	if (in->opcode == NVME_CMD_COPY)
		return liov_mediator_copy(med, in, tag);
	return cmd.bytes ? liov_mediator_map(med, in, cmd.bytes, tag) : 0;
}

static void refuse(struct liov_mediator *med, struct liov_mediated_queue *q, u32 tag, u16 cid, u16 status)
{
	struct med_cq *cq = cq_of(med, q->sq.cqid);
	unsigned long flags = port_lock_irqsave(&med->lock);

	med->free_tags[med->nr_free++] = (u16)tag;
	cq_fill(cq, q->index + 1, q->sq.head, cid, status);
	port_unlock_irqrestore(&med->lock, flags);
	flush_cq(med, cq);
}

static void send(struct liov_mediator *med, struct liov_mediated_queue *q, u32 tag)
{
	struct liov_vm *vm = med->vm;
	struct med_tag *t = &med->tags[tag];
	struct liov_hwq *hw = liov_mediator_hw(med);
	unsigned long flags = port_lock_irqsave(&med->lock);

	med->work_due_ns += (u64)t->cost * med->work_unit_ns;
	t->busy = true;
	t->orphan = false;
	med->in_flight += t->cost;
	q->sq.outstanding++;
	port_unlock_irqrestore(&med->lock, flags);
	port_trace(vm->be->home, &(struct liov_trace){ LIOV_TRACE_SUBMIT, LIOV_MEDIATOR, vm->cfg.id, hw->qid, tag,
						       t->sqe.cdw10 | (u64)t->sqe.cdw11 << 32 });
	/* The ring has room for every tag, so this is a controller that is lost. */
	if (med->dead || liov_hwq_submit(hw, &t->sqe)) {
		liov_mediator_fail_tag(med, tag, NVME_SC_INTERNAL);
		flush_cq(med, cq_of(med, q->sq.cqid));
	}
}

/* One command of @q: a private copy is taken, and the guest's memory is not looked at again. */
static bool serve(struct liov_mediator *med, struct liov_mediated_queue *q)
{
	struct med_cq *cq = cq_of(med, q->sq.cqid);
	struct nvme_sqe sqe;
	unsigned long flags;
	u32 tag;
	u16 status;

	if (fetch(med, &q->sq, &sqe))
		return false;
	flags = port_lock_irqsave(&med->lock);
	q->sq.head = liov_ring_next(q->sq.head, q->sq.entries);
	cq->reserved++;
	tag = med->free_tags[--med->nr_free];
	port_unlock_irqrestore(&med->lock, flags);
	status = prepare(med, &sqe, q->index + 1, tag);
	if (status)
		refuse(med, q, tag, sqe.cid, status | NVME_DNR);
	else
		send(med, q, tag);
	return true;
}

/* The next queue in turn that has a command, and a place for its completion. */
static struct liov_mediated_queue *next_queue(struct liov_mediator *med)
{
	struct liov_mediated_queue *found = NULL, *full = NULL;
	unsigned long flags = port_lock_irqsave(&med->lock);
	u32 n = med->vm->cfg.nr_queues, i;

	if (!LIOV_CHECK(mediator_budget, med->in_flight < med->budget))
		n = 0;
	for (i = 0; i < n && med->nr_free && !found; i++) {
		struct liov_mediated_queue *q = &med->queue[(med->next + i) % n];
		const struct med_cq *cq;

		if (q->sq.head == q->sq.tail || !LIOV_CHECK(mediator_fetch_live, q->sq.live))
			continue;
		cq = cq_of(med, q->sq.cqid);
		if (LIOV_CHECK(mediator_cq_room, cq_used(cq) + cq->reserved + 1 < cq->entries))
			found = q;
		else
			full = q;
	}
	if (found)
		med->next = (found->index + 1) % n;
	port_unlock_irqrestore(&med->lock, flags);
	if (full)
		liov_guard(med->vm->be, LIOV_MEDIATOR, med->vm->cfg.id, LIOV_GUARD_CQ_FULL, full->index + 1, full->sq.cqid);
	return found;
}

/* Is what the VM has started more than it may have? Then the timer goes on with it. V */
static bool over_limit(struct liov_mediator *med)
{
	u64 now;

	if (!med->work_unit_ns)
		return false;
	now = port_now_ns(med->vm->be->home);
	if (med->work_due_ns < now)
		med->work_due_ns = now;
	if (LIOV_CHECK(mediator_work_rate, med->work_due_ns <= now + MED_WORK_BURST_NS))
		return false;
	port_timer_arm(&med->work_timer, med->work_due_ns - now - MED_WORK_BURST_NS);
	return true;
}

void liov_mediator_work_timer(void *arg)
{
	struct liov_mediator *med = arg;

	port_work_queue(&med->work);
}

void liov_mediator_pump(struct liov_mediator *med)
{
	u32 n;

	for (n = 0; n < MED_PASS_MAX; n++) {
		struct liov_mediated_queue *q;

		if (med->paused || !liov_device_running(med->vm) || over_limit(med))
			return;
		q = next_queue(med);
		if (!q || !serve(med, q))
			return;
	}
	port_work_queue(&med->work);
}

void liov_mediator_work(void *arg)
{
	struct liov_mediator *med = arg;

	port_mutex_lock(&med->vm->lock);
	liov_mediator_flush(med);
	liov_mediator_pump(med);
	port_mutex_unlock(&med->vm->lock);
}
