// SPDX-License-Identifier: GPL-2.0
/* The rings of queues that the host drives: its own, and all of them under mediated. */

#include "internal.h"

int liov_hwq_start_driving(struct liov_hwq *q, u32 entries, liov_completion_fn fn, void *arg)
{
	unsigned long flags;
	int err;

	if (entries > q->depth_max)
		entries = q->depth_max;
	flags = port_lock_irqsave(&q->lock);
	q->host_driven = true;
	q->sq_tail = 0;
	q->sq_head = 0;
	q->cq_head = 0;
	q->cq_head_rung = 0;
	q->cq_phase = true;
	q->complete = fn;
	q->complete_arg = arg;
	port_unlock_irqrestore(&q->lock, flags);

	err = liov_hwq_create_cq(q, entries, true);
	if (err)
		return err;
	err = liov_hwq_create_sq(q, entries, q);
	if (err) {
		(void)liov_hwq_delete_cq(q);
		return err;
	}
	liov_hwq_unmask(q);
	return 0;
}

int liov_hwq_submit(struct liov_hwq *q, const struct nvme_sqe *sqe)
{
	unsigned long flags = port_lock_irqsave(&q->lock);
	u32 next = liov_ring_next(q->sq_tail, q->sq_entries);
	int err = 0;

	if (!q->sq_live) {
		err = -EIO;
	} else if (next == q->sq_head) {
		err = -EBUSY;
	} else {
		port_shm_copy_out(&q->sq, q->sq_tail * (u32)sizeof(*sqe), sqe, sizeof(*sqe));
		port_dma_wmb(q->be->home);
		q->sq_tail = next;
		port_mmio_wr32(&q->be->bar0, (u32)liov_doorbell(q->be, q->qid, false), next);
	}
	port_unlock_irqrestore(&q->lock, flags);
	return err;
}

/* The next completion, if there is one. */
static bool ring_pop(struct liov_hwq *q, struct nvme_cqe *cqe)
{
	unsigned long flags = port_lock_irqsave(&q->lock);
	u32 off = q->cq_head * (u32)sizeof(*cqe);
	bool found = false;
	u64 word[2];

	if (!q->cq_live)
		goto out;
	/* The half with the phase tag first: where it is new, the other half is there. */
	word[1] = port_shm_rd64(&q->cq, off + 8);
	if (((word[1] >> 48 & NVME_CQE_PHASE) != 0) != q->cq_phase && LIOV_STEP(mediator_cqe_phase))
		goto out;
	port_dma_rmb(q->be->home);
	word[0] = port_shm_rd64(&q->cq, off);
	memcpy(cqe, word, sizeof(*cqe));
	/* Under paper anybody's DMA can write here: what is no index is not believed. */
	if (LIOV_CHECK(backend_cqe_sqhd, cqe->sqhd < q->sq_entries))
		q->sq_head = cqe->sqhd;
	liov_ring_step(&q->cq_head, &q->cq_phase, q->cq_entries);
	found = true;
out:
	port_unlock_irqrestore(&q->lock, flags);
	return found;
}

u32 liov_hwq_poll(struct liov_hwq *q)
{
	struct nvme_cqe cqe;
	unsigned long flags;
	u32 n;

	for (n = 0; n < q->depth_max && ring_pop(q, &cqe); n++)
		q->complete(q->complete_arg, &cqe);
	/* Two may poll at once; writing the same value twice is an error to the controller. */
	flags = port_lock_irqsave(&q->lock);
	if (q->cq_live && q->cq_head != q->cq_head_rung) {
		q->cq_head_rung = q->cq_head;
		port_mmio_wr32(&q->be->bar0, (u32)liov_doorbell(q->be, q->qid, true), q->cq_head);
	}
	port_unlock_irqrestore(&q->lock, flags);
	return n;
}
