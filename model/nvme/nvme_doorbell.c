// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Doorbells, PCIe 3.1.2. A doorbell write carries no sender: what is known is which queue
 * it names and what the queue allows. Values that Base figure 146 calls invalid change
 * nothing and are told by an asynchronous event.
 */

static void bad(struct nvme *n, u64 off, u64 val, u32 qid, u32 event)
{
	n->count.doorbells_bad++;
	trace4(n->trace, TRACE_DOORBELL_BAD, 0, off, val, event, qid);
	nvme_error_log(n, NVME_QUEUE_NONE, NVME_QUEUE_NONE, 0, 0, 0);
	if (n->cfg.fragile_doorbells)
		nvme_fatal(n);
	else
		nvme_aer_raise(n, event);
}

/* "Backwards" is legal: a tail is a count modulo the size. Repeating the tail is not. */
static bool sq_tail(struct nvme *n, struct nvme_sq *sq, u32 tail)
{
	if (!MODEL_CHECK(controller_sq_tail, tail < sq->size && tail != sq->tail))
		return false;
	sq->tail = tail;
	nvme_sq_wake(n, sq);
	return true;
}

/* A head frees entries that were posted, at least one and no more than there are. */
static bool cq_head(struct nvme *n, struct nvme_cq *cq, u32 head)
{
	u32 freed, used;

	if (!MODEL_CHECK(controller_cq_head, head < cq->size))
		return false;
	freed = head >= cq->head ? head - cq->head : head + cq->size - cq->head;
	used = cq->tail >= cq->head ? cq->tail - cq->head : cq->tail + cq->size - cq->head;
	if (!MODEL_CHECK(controller_cq_posted, freed && freed <= used))
		return false;
	cq->head = head;
	nvme_cq_wake(n, cq);
	return true;
}

void nvme_doorbell_write(struct nvme *n, u64 off, u64 val, unsigned int len)
{
	u32 shift = 2u + n->cfg.dstrd;
	u64 index = (off - NVME_REG_DBS) >> shift;
	u32 qid = (u32)(index >> 1);
	u32 value = (u32)(val & 0xFFFF);	/* the upper half is reserved */
	bool is_cq = index & 1, ok;

	/* One write is one doorbell: other widths, places between two strides and pages behind the last are none. */
	if (!MODEL_CHECK(controller_doorbell_shape, len == 4 && off < n->db_end && !((off - NVME_REG_DBS) & ((1ULL << shift) - 1)))) {
		trace4(n->trace, TRACE_DOORBELL_SHAPE, 0, off, val, len, 0);
		return;
	}
	if (!nvme_is_running(n))
		return;
	if (!MODEL_CHECK(controller_doorbell_qid, qid < n->nr_queues)) {
		bad(n, off, val, qid, NVME_AEN_DOORBELL_REG);
		return;
	}
	qid %= n->nr_queues;	/* not looked at, it would be another queue's */
	if (!MODEL_CHECK(controller_doorbell_live, is_cq ? n->cq[qid].live : n->sq[qid].live)) {
		bad(n, off, val, qid, NVME_AEN_DOORBELL_REG);
		return;
	}
	ok = is_cq ? cq_head(n, &n->cq[qid], value) : sq_tail(n, &n->sq[qid], value);
	if (!ok) {
		bad(n, off, val, qid, NVME_AEN_DOORBELL_VALUE);
		return;
	}
	n->count.doorbells++;
	trace4(n->trace, TRACE_DOORBELL, 0, off, val, 2ULL * qid + is_cq, 0);
	/* The store takes its flight; that the value is known before it matters to an idle front end only. */
	nvme_front_kick(n, n->cfg.link.write_flight_ps);
}
