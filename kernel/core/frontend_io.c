// SPDX-License-Identifier: GPL-2.0
/*
 * The frontend's data path: a request is checked, translated, written as an SQE into the
 * hardware queue's page and its doorbell rung; completions are read from the CQ page. No
 * call here allocates or waits, but for a queue's start and stop.
 */

#include "frontend.h"
#include "frontend_check.h"

#define FE_PAGE		4096u
#define FE_LIST_ENTRIES	512u

static void fe_ring_sq(struct liov_fe_queue *q)
{
	const struct port_mmio *m = q->doorbell_in_cmb ? &q->fe->cmb_regs : &q->fe->bar0;

	port_dma_wmb(q->fe->home);
	port_mmio_wr32(m, q->sq_doorbell, q->sq_tail);
}

static void fe_ring_cq(struct liov_fe_queue *q)
{
	const struct port_mmio *m = q->doorbell_in_cmb ? &q->fe->cmb_regs : &q->fe->bar0;

	port_mmio_wr32(m, q->cq_doorbell, q->cq_head);
}

static u32 fe_list_off(u16 tag)
{
	return (u32)tag * FE_PAGE;
}

/* Address of page number @i of the data; its length in *len. */
struct fe_pages {
	const struct liov_segment *seg;
	u32 left_segments;
	u64 addr;
	u32 left;
};

static bool fe_next_page(struct fe_pages *p, gpa_t *gpa, u32 *len)
{
	if (p->left == 0) {
		if (p->left_segments == 0)
			return false;
		p->addr = p->seg->addr.v;
		p->left = p->seg->len_bytes;
		p->seg++;
		p->left_segments--;
	}
	*len = liov_page_part(p->addr, p->left);
	*gpa = (gpa_t){ p->addr };
	p->addr += *len;
	p->left -= *len;
	return true;
}

/*@ logic integer segment_bytes{L}(struct liov_segment *s, integer nr) =
  @   nr <= 0 ? 0 : segment_bytes(s, nr - 1) + s[nr - 1].len_bytes;
  @ predicate segment_ok{L}(struct liov_segment *s, integer i, integer nr) =
  @   s[i].len_bytes != 0 && s[i].addr.v % 4 == 0 && (i > 0 ==> s[i].addr.v % 4096 == 0) &&
  @   (i + 1 < nr ==> (s[i].addr.v % 4096 + s[i].len_bytes) % 4096 == 0);
  @*/
/* Shape of a data buffer: what PRPs can express. 0 or -EINVAL; *bytes is its length. */
/*@ requires \valid_read(s + (0 .. nr - 1)) && \valid(bytes) && \separated(bytes, s + (0 .. nr - 1));
  @ assigns *bytes;
  @ ensures either: \result == 0 || \result == -EINVAL;
  @ ensures number: \result == 0 ==> 1 <= nr <= LIOV_FE_SEGMENTS_MAX;
  @ ensures shape: \result == 0 ==> \forall integer i; 0 <= i < nr ==> segment_ok{Pre}(s, i, nr);
  @ ensures sum: \result == 0 ==> *bytes == segment_bytes{Pre}(s, nr);
  @*/
static int fe_check_shape(const struct liov_segment *s, u32 nr, u32 *bytes)
{
	u64 sum = 0;

	if (nr == 0 || nr > LIOV_FE_SEGMENTS_MAX)
		return -EINVAL;
	/*@ loop invariant bound: 0 <= i <= nr && sum <= i * 0xFFFFFFFF;
	  @ loop invariant shape: \forall integer j; 0 <= j < i ==> segment_ok(s, j, nr);
	  @ loop invariant sum: sum == segment_bytes(s, i);
	  @ loop assigns i, sum;
	  @ loop variant nr - i;
	  @*/
	for (u32 i = 0; i < nr; i++) {
		u64 off = s[i].addr.v % FE_PAGE;

		if (s[i].len_bytes == 0 || off % 4 != 0 || (i > 0 && off != 0))
			return -EINVAL;
		if (i + 1 < nr && (off + s[i].len_bytes) % FE_PAGE != 0)
			return -EINVAL;
		sum += s[i].len_bytes;
	}
	if (sum > 0xFFFFFFFFu)
		return -EINVAL;
	*bytes = (u32)sum;
	return 0;
}

/*
 * PRP1, PRP2 or the tag's list page (Base 4.1.1), every address checked and translated.
 * Data of at most 33 pages: one list page suffices, no chaining.
 */
static int fe_build_prps(struct liov_fe_queue *q, const struct liov_request *rq, u16 tag, struct nvme_sqe *sqe)
{
	struct liov_frontend *fe = q->fe;
	struct fe_pages it = { .seg = rq->segments, .left_segments = rq->nr_segments };
	gpa_t list = { q->lists_gpa.v + fe_list_off(tag) };
	u64 off = fe->info.dma_offset, second = 0;
	u32 n = 0, len;
	gpa_t gpa;

	while (fe_next_page(&it, &gpa, &len)) {
		u64 entry = liov_dma_translate(off, gpa).v;

		if (!LIOV_CHECK(frontend_transfer_size, n <= FE_LIST_ENTRIES))
			return -EINVAL;
		if (!fe_memory_ok(q, gpa, len)) {
			fe_trace(fe, LIOV_TRACE_DENY, 0, gpa.v, len);
			return -EIO;
		}
		if (n == 0)
			sqe->prp1 = entry;
		else if (n == 1)
			second = entry;
		if (n == 2)
			port_shm_copy_out(&q->lists, fe_list_off(tag), &second, 8);
		if (n >= 2)
			port_shm_copy_out(&q->lists, fe_list_off(tag) + (n - 1) * 8, &entry, 8);
		n++;
	}
	if (n > 2) {
		if (!fe_memory_ok(q, list, FE_PAGE)) {
			fe_trace(fe, LIOV_TRACE_DENY, 0, list.v, FE_PAGE);
			return -EIO;
		}
		second = liov_dma_translate(off, list).v;
	}
	sqe->prp2 = n > 1 ? second : 0;
	return 0;
}

/* Discard: the LBAs are in the payload, so the payload is what is checked and translated. */
static int fe_build_dsm(struct liov_fe_queue *q, const struct liov_request *rq, u16 tag, struct nvme_sqe *sqe)
{
	struct nvme_dsm_range range = {
		.nlb = rq->blocks,
		.slba = liov_lba_translate(q->fe->info.lba_start, rq->slba).v,
	};
	gpa_t list = { q->lists_gpa.v + fe_list_off(tag) };

	if (!fe_memory_ok(q, list, sizeof(range))) {
		fe_trace(q->fe, LIOV_TRACE_DENY, 0, list.v, sizeof(range));
		return -EIO;
	}
	port_shm_copy_out(&q->lists, fe_list_off(tag), &range, sizeof(range));
	sqe->prp1 = liov_dma_translate(q->fe->info.dma_offset, list).v;
	sqe->cdw11 = (u32)NVME_DSM_AD;
	return 0;
}

static int fe_build_rw(struct liov_fe_queue *q, const struct liov_request *rq, u16 tag, struct nvme_sqe *sqe)
{
	struct liov_frontend *fe = q->fe;
	u64 slba = liov_lba_translate(fe->info.lba_start, rq->slba).v;
	u32 bytes;
	int ret;

	if (rq->blocks == 0 || rq->blocks > 0x10000u)
		return -EINVAL;
	sqe->cdw10 = (u32)slba;
	sqe->cdw11 = (u32)(slba >> 32);
	sqe->cdw12 = (rq->blocks - 1) | (rq->fua ? (u32)NVME_RW_FUA : 0);
	if (fe->info.flags & LIOV_INFO_PROTECTED) {
		sqe->cdw12 |= (u32)NVME_RW_PRACT;
		sqe->cdw14 = (u32)slba;
	}
	if (rq->op == LIOV_OP_WRITE_ZEROES)
		return 0;
	if (!fe_size_ok(fe, rq->blocks)) {
		fe_trace(fe, LIOV_TRACE_DENY, 0, rq->slba.v, rq->blocks);
		return -EINVAL;
	}
	ret = fe_check_shape(rq->segments, rq->nr_segments, &bytes);
	if (ret)
		return ret;
	if ((u64)rq->blocks << fe->lba_shift != bytes || !fe_size_ok(fe, rq->blocks))
		return -EINVAL;
	return fe_build_prps(q, rq, tag, sqe);
}

static int fe_build(struct liov_fe_queue *q, const struct liov_request *rq, u16 tag, struct nvme_sqe *sqe)
{
	static const u8 opcodes[] = {
		[LIOV_OP_READ] = NVME_CMD_READ,	    [LIOV_OP_WRITE] = NVME_CMD_WRITE,
		[LIOV_OP_FLUSH] = NVME_CMD_FLUSH,   [LIOV_OP_WRITE_ZEROES] = NVME_CMD_WRITE_ZEROES,
		[LIOV_OP_DISCARD] = NVME_CMD_DSM,   [LIOV_OP_COMPARE] = NVME_CMD_COMPARE,
	};

	if ((u32)rq->op >= sizeof(opcodes))
		return -EINVAL;
	*sqe = (struct nvme_sqe){ .opcode = opcodes[rq->op], .cid = tag,
				  .nsid = q->fe->info.nsid ? q->fe->info.nsid : 1 };
	if (rq->op == LIOV_OP_FLUSH)
		return 0;
	if (!fe_blocks_ok(q->fe, rq->slba, rq->blocks)) {
		fe_trace(q->fe, LIOV_TRACE_DENY, 0, rq->slba.v, rq->blocks);
		return -EIO;
	}
	if (rq->op == LIOV_OP_DISCARD)
		return fe_build_dsm(q, rq, tag, sqe);
	return fe_build_rw(q, rq, tag, sqe);
}

int liov_frontend_submit(struct liov_frontend *fe, u32 qi, const struct liov_request *rq)
{
	struct liov_fe_queue *q;
	struct nvme_sqe sqe;
	unsigned long flags;
	u16 tag;
	int ret;

	if (qi >= fe->nr_queues)
		return -EINVAL;
	q = &fe->queue[qi];
	flags = port_lock_irqsave(&q->lock);
	if (!q->live || q->nr_free == 0) {
		ret = q->live ? -EAGAIN : -ENODEV;
		goto out;
	}
	tag = q->free_tags[q->nr_free - 1];
	ret = fe_build(q, rq, tag, &sqe);
	if (ret)
		goto out;
	q->nr_free--;
	q->tags[tag].busy = true;
	q->tags[tag].cookie = rq->cookie;
	port_shm_copy_out(&fe->cmb, q->sq + q->sq_tail * 64u, &sqe, sizeof(sqe));
	q->sq_tail = liov_ring_next(q->sq_tail, q->entries);
	fe_ring_sq(q);
out:
	port_unlock_irqrestore(&q->lock, flags);
	return ret;
}

static int fe_find_cid(struct liov_fe_queue *q, const void *cookie)
{
	unsigned long flags = port_lock_irqsave(&q->lock);
	int cid = -ENOENT;
	u32 i;

	for (i = 0; i < q->entries && cid < 0; i++)
		if (q->tags[i].busy && q->tags[i].cookie == cookie)
			cid = (int)i;
	port_unlock_irqrestore(&q->lock, flags);
	return cid;
}

int liov_frontend_abort(struct liov_frontend *fe, u32 qi, const void *cookie)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_ABORT };
	u32 not_aborted;
	int ret;

	if (qi >= fe->nr_queues)
		return -ENOENT;
	ret = fe_find_cid(&fe->queue[qi], cookie);
	if (ret < 0)
		return ret;
	sqe.cdw10 = fe->queue[qi].qid | (u32)ret << 16;
	ret = liov_frontend_admin(fe, &sqe, &not_aborted);
	if (ret)
		return ret < 0 ? ret : -EIO;
	return not_aborted & 1 ? -EBUSY : 0;
}

/* Take one completion: true, its request and status; false when there is none. Base 3.3.3.2. */
static bool fe_next_cqe(struct liov_fe_queue *q, void **cookie, u16 *status, bool *known)
{
	struct liov_frontend *fe = q->fe;
	u32 off = q->cq + q->cq_head * 16u;
	u64 high = port_shm_rd64(&fe->cmb, off + 8);
	u16 cid = (u16)(high >> 32);

	if (((high >> 48) & NVME_CQE_PHASE) != (u64)q->cq_phase)
		return false;
	port_dma_rmb(fe->home);
	liov_ring_step(&q->cq_head, &q->cq_phase, q->entries);
	q->sq_head = (u32)(high & 0xFFFF);
	*known = cid < q->entries && q->tags[cid].busy;
	if (!*known)
		return true;
	*cookie = q->tags[cid].cookie;
	*status = (u16)((high >> 49) & NVME_STATUS_CODE);
	q->tags[cid].busy = false;
	q->free_tags[q->nr_free++] = cid;
	return true;
}

u32 liov_frontend_poll(struct liov_frontend *fe, u32 qi)
{
	struct liov_fe_queue *q = &fe->queue[qi];
	u32 done = 0, seen = 0;
	unsigned long flags;

	/* A device that keeps answering cannot keep us here: at most the ring's length a call. */
	while (seen < q->entries) {
		void *cookie = NULL;
		u16 status = 0;
		bool known = false, any;

		flags = port_lock_irqsave(&q->lock);
		any = q->live && fe_next_cqe(q, &cookie, &status, &known);
		port_unlock_irqrestore(&q->lock, flags);
		if (!any)
			break;
		seen++;
		if (known) {
			done++;
			port_guest_complete(fe->guest, cookie, status);
		}
	}
	/* Under the lock: two who poll must not ring an older head last, nor anybody after the queue was closed. */
	flags = port_lock_irqsave(&q->lock);
	if (seen && q->live)
		fe_ring_cq(q);
	port_unlock_irqrestore(&q->lock, flags);
	return done;
}

static void fe_queue_irq(void *arg)
{
	struct liov_fe_queue *q = arg;
	u32 n;

	/* The CQ may hold more than one ring's worth while we drain; each pass frees what it took. */
	do {
		n = liov_frontend_poll(q->fe, q->qid - 1);
	} while (n == q->entries);
}

static void fe_queue_rings_reset(struct liov_fe_queue *q)
{
	u32 i;

	q->sq_tail = q->sq_head = q->cq_head = 0;
	q->cq_phase = true;
	q->nr_free = 0;
	for (i = q->entries - 1; i > 0; i--) {
		q->tags[i - 1].busy = false;
		q->free_tags[q->nr_free++] = (u16)(i - 1);
	}
}

static int fe_create_queues(struct liov_fe_queue *q)
{
	struct liov_frontend *fe = q->fe;
	u32 vec = port_guest_irq_count(fe->guest) > q->qid ? q->qid : 0;
	struct nvme_sqe sqe = { .opcode = NVME_ADM_CREATE_CQ };
	int ret;

	sqe.prp1 = fe->cmb_gpa.v + q->cq;
	sqe.cdw10 = q->qid | (q->entries - 1) << 16;
	sqe.cdw11 = (u32)(NVME_QUEUE_PC | NVME_CQ_IEN | FIELD_PREP(NVME_CQ_IV, vec));
	ret = liov_frontend_admin(fe, &sqe, NULL);
	if (ret)
		return ret < 0 ? ret : -EIO;
	sqe = (struct nvme_sqe){ .opcode = NVME_ADM_CREATE_SQ, .prp1 = fe->cmb_gpa.v + q->sq };
	sqe.cdw10 = q->qid | (q->entries - 1) << 16;
	sqe.cdw11 = (u32)(NVME_QUEUE_PC | FIELD_PREP(NVME_SQ_CQID, q->qid));
	ret = liov_frontend_admin(fe, &sqe, NULL);
	if (ret == 0)
		return 0;
	sqe = (struct nvme_sqe){ .opcode = NVME_ADM_DELETE_CQ, .cdw10 = q->qid };
	liov_frontend_admin(fe, &sqe, NULL);
	return ret < 0 ? ret : -EIO;
}

/* After a reset of the shared controller: the same rings from their beginning. */
int fe_queue_restart(struct liov_frontend *fe, u32 index)
{
	struct liov_fe_queue *q = &fe->queue[index];
	int ret;

	fe_queue_rings_reset(q);
	ret = fe_create_queues(q);
	if (ret == 0)
		q->live = true;
	return ret;
}

int fe_queue_start(struct liov_frontend *fe, u32 index)
{
	struct liov_fe_queue *q = &fe->queue[index];
	const struct liov_info_queue *iq = &fe->info.queue[index];
	int ret;

	q->fe = fe;
	q->qid = index + 1;
	q->mem = fe->mem;
	port_lock_init(fe->home, &q->lock);
	q->entries = fe->cfg.depth && fe->cfg.depth < iq->depth_max ? fe->cfg.depth : iq->depth_max;
	q->sq = iq->sq;
	q->cq = iq->cq;
	q->doorbell_in_cmb = (fe->info.flags & LIOV_INFO_DOORBELLS) != 0;
	q->sq_doorbell = q->doorbell_in_cmb ? iq->sq_doorbell : LIOV_BAR0_DOORBELLS + q->qid * 8;
	q->cq_doorbell = q->doorbell_in_cmb ? iq->cq_doorbell : LIOV_BAR0_DOORBELLS + q->qid * 8 + 4;
	ret = port_guest_dma_alloc(fe->guest, q->entries, &q->lists, &q->lists_gpa);
	if (ret)
		return ret;
	q->has_lists = true;
	if (q->qid < port_guest_irq_count(fe->guest)) {
		ret = port_guest_irq_request(fe->guest, q->qid, fe_queue_irq, q);
		if (ret)
			return ret;
	}
	return fe_queue_restart(fe, index);
}

/* From here on nobody touches its pages. */
void fe_queue_close(struct liov_frontend *fe, u32 index)
{
	struct liov_fe_queue *q = &fe->queue[index];
	unsigned long flags = port_lock_irqsave(&q->lock);

	q->live = false;
	port_unlock_irqrestore(&q->lock, flags);
}

/* Outstanding requests end as if their SQ had been deleted under them (0/0x08). */
void fe_queue_stop(struct liov_frontend *fe, u32 index)
{
	struct liov_fe_queue *q = &fe->queue[index];
	u32 i;

	fe_queue_close(fe, index);
	for (i = 0; i < q->entries; i++) {
		if (!q->tags[i].busy)
			continue;
		q->tags[i].busy = false;
		port_guest_complete(fe->guest, q->tags[i].cookie, NVME_SC_ABORT_SQ_DELETION);
	}
}

void fe_queue_free(struct liov_frontend *fe, u32 index)
{
	struct liov_fe_queue *q = &fe->queue[index];

	if (!q->has_lists)
		return;
	if (q->qid < port_guest_irq_count(fe->guest))
		port_guest_irq_free(fe->guest, q->qid);
	port_guest_dma_free(fe->guest, q->entries, &q->lists, q->lists_gpa);
	q->has_lists = false;
}
