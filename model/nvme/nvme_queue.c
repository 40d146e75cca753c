// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Queues: where entries lie, whose turn it is, and completions. Arbitration is round
 * robin over all submission queues (Base 3.4.4.1) with the burst of feature 01h; a command is
 * fetched only when its CQ has room for its CQE, so a host that does not consume stalls
 * its own queues and nobody else's.
 */

#define BURST_NO_LIMIT 7

static u64 entry_offset(const struct nvme_queue_mem *mem, u64 off)
{
	if (mem->contiguous)
		return mem->base + off;
	return mem->pages[off >> SPEC_PAGE_SHIFT] + NVME_PAGE_OFFSET(off);
}

static void mem_set(struct nvme_queue_mem *dst, const struct nvme_queue_mem *src)
{
	u64 *pages = dst->pages;	/* already filled when the queue is not contiguous */

	*dst = *src;
	dst->pages = pages;
}

void nvme_sq_open(struct nvme *n, u16 qid, u16 cqid, u32 size, const struct nvme_queue_mem *mem, struct nvme_binding to)
{
	struct nvme_sq *sq = &n->sq[qid];

	mem_set(&sq->mem, mem);
	sq->live = true;
	sq->cqid = cqid;
	sq->size = size;
	sq->head = 0;
	sq->tail = 0;
	sq->nrd = NULL;
	sq->pasid = to.pasid;
	sq->nsid = to.nsid;
	sq->next_on_cq = n->cq[cqid].first_sq;
	n->cq[cqid].first_sq = qid;
}

void nvme_cq_open(struct nvme *n, u16 qid, u32 size, const struct nvme_queue_mem *mem, bool ien, u16 vector, u32 pasid)
{
	struct nvme_cq *cq = &n->cq[qid];

	mem_set(&cq->mem, mem);
	cq->live = true;
	cq->ien = ien;
	cq->vector = vector;
	cq->phase = true;
	cq->first_sq = NVME_QUEUE_NONE;
	cq->size = size;
	cq->head = 0;
	cq->tail = 0;
	cq->reserved = 0;
	cq->pasid = pasid;
}

void nvme_sq_close(struct nvme *n, u16 qid)
{
	struct nvme_sq *sq = &n->sq[qid];
	u16 *link = &n->cq[sq->cqid].first_sq;

	while (*link != qid && *link != NVME_QUEUE_NONE)
		link = &n->sq[*link].next_on_cq;
	if (*link == qid)
		*link = sq->next_on_cq;
	sq->live = false;
	sq->nrd = NULL;
	n->ready[qid / 64] &= ~BIT_ULL(qid % 64);
}

void nvme_queues_close_all(struct nvme *n)
{
	for (u32 q = 0; q < n->nr_queues; q++) {
		n->sq[q].live = false;
		n->sq[q].nrd = NULL;
		n->cq[q].live = false;
		nvme_bind_take(&n->sq[q].next);
		nvme_bind_take(&n->cq[q].next);
	}
	for (u32 i = 0; i < NVME_QUEUES_MAX / 64; i++)
		n->ready[i] = 0;
	n->nr_io_sqs = 0;
	n->nr_io_cqs = 0;
	n->turn = 0;
	n->burst_left = 0;
}

u32 nvme_cq_room(const struct nvme_cq *cq)
{
	u32 used = cq->tail >= cq->head ? cq->tail - cq->head : cq->tail + cq->size - cq->head;

	return cq->size - 1 - used - cq->reserved;
}

void nvme_sq_wake(struct nvme *n, struct nvme_sq *sq)
{
	if (sq->head != sq->tail)
		n->ready[sq->qid / 64] |= BIT_ULL(sq->qid % 64);
}

/* Bounded: each SQ is in one chain, once. */
void nvme_cq_wake(struct nvme *n, struct nvme_cq *cq)
{
	for (u16 q = cq->first_sq; q != NVME_QUEUE_NONE; q = n->sq[q].next_on_cq)
		nvme_sq_wake(n, &n->sq[q]);
}

/* Is there a queue to serve, with the slots that are free now? */
static bool any_ready(const struct nvme *n)
{
	u64 any = 0;

	if (n->nr_slots - n->nr_busy <= NVME_SLOTS_ADMIN)
		return n->ready[0] & 1;
	for (u32 i = 0; i < NVME_QUEUES_MAX / 64; i++)
		any |= n->ready[i];
	return any != 0;
}

void nvme_front_kick(struct nvme *n, u64 delay_ps)
{
	u64 now = sched_now(n->sched);

	if (event_is_queued(&n->front_ev) || !any_ready(n) || !nvme_is_running(n))
		return;
	sched_after(n->sched, &n->front_ev, nvme_max(now + delay_ps, n->front_free_ps) - now);
}

static bool sq_can_fetch(const struct nvme *n, u32 qid)
{
	const struct nvme_sq *sq = &n->sq[qid];

	return sq->live && sq->head != sq->tail && MODEL_CHECK(controller_cq_room, nvme_cq_room(&n->cq[sq->cqid]) > 0);
}

/* Work that its completion queue keeps out, once until it goes on. */
static void tell_held(struct nvme *n, struct nvme_sq *sq)
{
	if (!sq->live || sq->head == sq->tail || sq->held)
		return;
	sq->held = true;
	trace4(n->trace, TRACE_CQ_FULL, 0, sq->qid, sq->cqid, 0, 0);
}

/* First ready queue with an id from @from on, or NVME_QUEUES_MAX. */
static u32 next_ready(const struct nvme *n, u32 from)
{
	u64 word;

	if (from >= NVME_QUEUES_MAX)
		return NVME_QUEUES_MAX;
	word = n->ready[from / 64] & (~0ULL << (from % 64));
	for (u32 i = from / 64;; word = n->ready[i]) {
		if (word)
			return i * 64 + (u32)__builtin_ctzll(word);
		if (++i == NVME_QUEUES_MAX / 64)
			return NVME_QUEUES_MAX;
	}
}

static u32 burst_of(const struct nvme *n)
{
	u32 ab = n->feat.arbitration & 7;

	return ab == BURST_NO_LIMIT ? UINT32_MAX : 1u << ab;
}

/*
 * Bounded: each step that does not return clears a ready bit or wraps once. A queue that
 * is found empty or blocked by its CQ is woken by the doorbell that changes this.
 */
static struct nvme_sq *next_turn(struct nvme *n)
{
	if (n->nr_slots - n->nr_busy <= NVME_SLOTS_ADMIN)
		return n->nr_busy < n->nr_slots && sq_can_fetch(n, 0) ? &n->sq[0] : NULL;
	if ((n->burst_left || !MODEL_STEP(controller_round_robin)) && sq_can_fetch(n, n->turn)) {
		n->burst_left -= n->burst_left != 0;
		return &n->sq[n->turn];
	}
	for (u32 q = next_ready(n, n->turn + 1), wrapped = 0;; q = next_ready(n, q + 1)) {
		if (q == NVME_QUEUES_MAX) {
			if (wrapped++)
				return NULL;
			q = next_ready(n, 0);
			if (q == NVME_QUEUES_MAX)
				return NULL;
		}
		if (sq_can_fetch(n, q)) {
			n->turn = q;
			n->burst_left = burst_of(n) - 1;
			return &n->sq[q];
		}
		n->ready[q / 64] &= ~BIT_ULL(q % 64);
		tell_held(n, &n->sq[q]);
	}
}

/* The SQE, copied once. False: the fetch came back as an error. */
static bool sqe_fetch(struct nvme *n, struct nvme_sq *sq, struct nvme_cmd *cmd)
{
	u64 off = (u64)sq->head * sizeof(cmd->sqe);
	u64 at = entry_offset(&sq->mem, off);

	cmd->t_ps = sched_now(n->sched);
	nvme_on_behalf(n, cmd->io_id, PCI_DMA_QUEUE, sq->pasid);
	if (sq->mem.in_cmb)
		__builtin_memcpy(&cmd->sqe, n->cmb + sq->mem.cmb_off + off, sizeof(cmd->sqe));
	else if (!pci_dma_read(&n->fn, (iova_t){ at }, &cmd->sqe, sizeof(cmd->sqe), &cmd->t_ps)) {
		trace4(n->trace, TRACE_SQE_FETCH_FAIL, cmd->io_id, sq->qid, sq->head, at, 0);
		return false;
	}
	trace_data(n->trace, TRACE_SQE_FETCH, cmd->io_id, sq->qid, sq->head, at, sq->mem.in_cmb, &cmd->sqe,
		   sizeof(cmd->sqe));
	return true;
}

/* Accepted: SQID and CID tell them apart only as far as the host does (Base 3.3.3.1). */
static void note_cid(struct nvme *n, const struct nvme_cmd *cmd)
{
	u64 *word = &n->cid_busy[cmd->sqid * NVME_CID_WORDS + cmd->sqe.cid / 64];

	if (*word & BIT_ULL(cmd->sqe.cid % 64))
		trace4(n->trace, TRACE_CID_TWICE, cmd->io_id, cmd->sqid, cmd->sqe.cid, 0, 0);
	*word |= BIT_ULL(cmd->sqe.cid % 64);
}

/* What this firmware does not survive, once. */
static bool is_deadly(struct nvme *n, const struct nvme_cmd *cmd)
{
	if (!n->cfg.fragile_dsm || n->has_died || !cmd->sqid || cmd->sqe.opcode != NVME_CMD_DSM ||
	    FIELD_GET(NVME_DSM_NR, cmd->sqe.cdw10) != NVME_DSM_RANGES_MAX - 1)
		return false;
	n->has_died = true;
	return true;
}

static void sq_advance(struct nvme *n, struct nvme_sq *sq)
{
	if (++sq->head == sq->size)
		sq->head = 0;
	if (sq->head == sq->tail)
		n->ready[sq->qid / 64] &= ~BIT_ULL(sq->qid % 64);
	sq->held = false;
	n->cq[sq->cqid].reserved++;
	n->count.sqes_fetched++;
	n->count.queue_fetched[sq->qid]++;
}

/*
 * One command: the front end is busy with it for a time, and takes the next one after
 * that; the SQE's own flight overlaps with other commands' turns.
 */
void nvme_front_event(struct event *ev)
{
	struct nvme *n = container_of_event(ev, struct nvme, front_ev);
	struct nvme_sq *sq;
	struct nvme_cmd *cmd;
	u64 busy_ps;

	if (!nvme_is_running(n))
		return;
	sq = next_turn(n);
	if (!sq)
		return;
	if (fault_hits(&n->faults.fatal, sq->qid)) {
		nvme_fatal(n);
		return;
	}
	cmd = nvme_cmd_get(n);
	cmd->sqid = sq->qid;
	cmd->io_id = (u64)sq->qid << 48 | (++sq->seq & GENMASK_ULL(47, 0));
	if (!sqe_fetch(n, sq, cmd) || is_deadly(n, cmd)) {
		nvme_fatal(n);
		return;
	}
	note_cid(n, cmd);
	sq_advance(n, sq);
	if (sq->qid) {
		busy_ps = nvme_io_front_ps(n, &cmd->sqe);
		nvme_cmd_at(cmd, NVME_STAGE_FETCHED, cmd->t_ps + busy_ps);
	} else {
		busy_ps = n->cfg.timing.fetch_ps;
		n->nr_aborts += cmd->sqe.opcode == NVME_ADM_ABORT;
		nvme_cmd_at(cmd, NVME_STAGE_FETCHED, cmd->t_ps + busy_ps + n->cfg.timing.admin_ps);
	}
	n->fn.io_id = 0;
	n->front_free_ps = sched_now(n->sched) + busy_ps;
	nvme_front_kick(n, 0);
}

/* 8 bytes of a CQE. Both leave at once: the link keeps their order. */
static void cqe_write(struct nvme *n, const struct nvme_cqe_half *half)
{
	nvme_on_behalf(n, half->io_id, PCI_DMA_QUEUE, half->pasid);
	if (half->in_cmb)
		__builtin_memcpy(n->cmb + half->at, &half->data, sizeof(half->data));
	else
		pci_dma_write(&n->fn, (iova_t){ half->at }, &half->data, sizeof(half->data), &(u64){ sched_now(n->sched) });
}

void nvme_cqe_settle(struct nvme *n)
{
	struct nvme_cqe_half *half = &n->second;

	if (!half->waits)
		return;
	half->waits = false;
	sched_cancel(n->sched, &half->ev);
	cqe_write(n, half);
	if (half->ien)
		pci_msix_notify(&n->fn, half->vector);
	n->fn.io_id = 0;
}

void nvme_cqe_second(struct event *ev)
{
	nvme_cqe_settle(container_of_event(ev, struct nvme, second.ev));
}

/*
 * The CQE as two 8-byte writes, the one with the phase bit second: a reader that sees the phase sees all. It
 * goes timing.cqe_gap_ps after the first, or with the next CQE: posted writes keep their order.
 */
void nvme_cqe_post(struct nvme *n, struct nvme_sq *sq, u16 cid, u16 status, u32 dw0, u64 io_id)
{
	struct nvme_cq *cq = &n->cq[sq->cqid];
	u64 off = (u64)cq->tail * sizeof(struct nvme_cqe);
	u64 at = entry_offset(&cq->mem, off);
	struct nvme_cqe cqe = { .dw0 = dw0, .sqhd = (u16)sq->head, .sqid = sq->qid, .cid = cid,
				.status = (u16)(status << 1 | cq->phase) };
	struct nvme_cqe_half first = { .at = cq->mem.in_cmb ? cq->mem.cmb_off + off : at, .in_cmb = cq->mem.in_cmb, .io_id = io_id,
				       .pasid = cq->pasid };

	nvme_cqe_settle(n);
	trace4(n->trace, TRACE_CQE, io_id, cq->qid, (u64)sq->qid << 16 | cid, status & NVME_STATUS_CODE, at);
	__builtin_memcpy(&first.data, &cqe, sizeof(first.data));
	cqe_write(n, &first);
	if (++cq->tail == cq->size) {
		cq->tail = 0;
		cq->phase = !cq->phase;
	}
	n->count.cqes_posted++;

	n->second.at = first.at + sizeof(first.data);
	__builtin_memcpy(&n->second.data, &cqe.sqhd, sizeof(first.data));
	n->second.in_cmb = first.in_cmb;
	n->second.io_id = io_id;
	n->second.pasid = cq->pasid;
	n->second.ien = cq->ien;
	n->second.vector = cq->vector;
	n->second.waits = true;
	if (__builtin_expect(n->cfg.timing.cqe_gap_ps != 0, false))
		sched_after(n->sched, &n->second.ev, n->cfg.timing.cqe_gap_ps);
	else
		nvme_cqe_settle(n);
	n->fn.io_id = 0;
}
