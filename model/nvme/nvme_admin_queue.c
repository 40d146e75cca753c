// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/* Create and delete I/O queues, Base 5.4 to 5.7. */

static u16 cmd_qid(const struct nvme_sqe *sqe)
{
	return (u16)(sqe->cdw10 & 0xFFFF);
}

/* 0's based in the command. */
static u32 cmd_qsize(const struct nvme_sqe *sqe)
{
	return (sqe->cdw10 >> 16) + 1;
}

/*
 * Base 3.1.3.5: a host sets the sizes of I/O entries before it creates the first queue, after it
 * has read in Identify Controller, with the controller enabled, which sizes there are.
 */
static u16 check_size(const struct nvme *n, u32 size, u64 entry_size, u64 wanted)
{
	if (!MODEL_CHECK(controller_queue_size, size >= 2 && size <= n->cfg.mqes + 1u && entry_size == wanted))
		return NVME_SC_QSIZE_INVALID | NVME_DNR;
	return NVME_SC_SUCCESS;
}

/*
 * Where the queue lies. A contiguous one is in the CMB or not at all; one made of pages
 * has its list read now and kept, and none of its pages in the CMB (CMBLOC.CQMMS, CQPDS = 0).
 */
static u16 queue_mem(struct nvme_cmd *cmd, u64 bytes, bool cmb_offered, u64 *pages, struct nvme_queue_mem *mem)
{
	struct nvme *n = cmd->nvme;
	u64 base = cmd->sqe.prp1;

	*mem = (struct nvme_queue_mem){ .base = base, .contiguous = cmd->sqe.cdw11 & NVME_QUEUE_PC };
	if (!mem->contiguous)
		return nvme_prp_queue_pages(cmd, base, (u32)((bytes + NVME_PAGE_SIZE - 1) / NVME_PAGE_SIZE), pages);
	if (!nvme_cmb_hit(n, base, bytes))
		return NVME_SC_SUCCESS;
	if (!MODEL_CHECK(controller_queue_cmb, cmb_offered && nvme_cmb_covers(n, base, bytes)))
		return NVME_SC_INVALID_CMB_USE | NVME_DNR;
	mem->in_cmb = true;
	mem->cmb_off = base - n->cmb_base;
	return NVME_SC_SUCCESS;
}

static u16 check_base(const struct nvme_cmd *cmd)
{
	if (!MODEL_CHECK(controller_queue_align, !NVME_PAGE_OFFSET(cmd->sqe.prp1)))
		return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	return NVME_SC_SUCCESS;
}

static u16 check_contiguous(const struct nvme_cmd *cmd)
{
	if (!MODEL_CHECK(controller_queue_contiguous, (cmd->sqe.cdw11 & NVME_QUEUE_PC) || !cmd->nvme->cfg.cqr))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	return NVME_SC_SUCCESS;
}

static u16 check_vector(const struct nvme *n, u16 vector)
{
	if (!MODEL_CHECK(controller_queue_vector, vector < n->cfg.msix_vectors && (!vector || pci_msix_enabled(&n->fn))))
		return NVME_SC_VECTOR_INVALID | NVME_DNR;
	return NVME_SC_SUCCESS;
}

u16 nvme_admin_create_cq(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 qid = cmd_qid(&cmd->sqe);
	u32 size = cmd_qsize(&cmd->sqe);
	u16 vector = (u16)FIELD_GET(NVME_CQ_IV, cmd->sqe.cdw11);
	u64 iocqes = FIELD_GET(NVME_CC_IOCQES, n->reg[NVME_R_CC]);
	struct nvme_queue_mem mem;
	struct nvme_binding to;
	u16 status;

	if (!qid || qid > n->granted_cqs || !MODEL_CHECK(controller_queue_twice, !n->cq[qid].live))
		return NVME_SC_QID_INVALID | NVME_DNR;
	to = nvme_bind_take(&n->cq[qid].next);
	status = check_size(n, size, iocqes, NVME_CC_IOCQES_16);
	if (!status)
		status = check_base(cmd);
	if (!status)
		status = check_vector(n, vector);
	if (!status)
		status = check_contiguous(cmd);
	if (!status)
		status = queue_mem(cmd, (u64)size * sizeof(struct nvme_cqe), n->reg[NVME_R_CMBSZ] & NVME_CMBSZ_CQS,
				   n->cq[qid].mem.pages, &mem);
	if (status)
		return status;
	nvme_cq_open(n, qid, size, &mem, cmd->sqe.cdw11 & NVME_CQ_IEN, vector, to.pasid);
	n->nr_io_cqs++;
	return NVME_SC_SUCCESS;
}

u16 nvme_admin_create_sq(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 qid = cmd_qid(&cmd->sqe);
	u32 size = cmd_qsize(&cmd->sqe);
	u16 cqid = (u16)FIELD_GET(NVME_SQ_CQID, cmd->sqe.cdw11);
	u64 iosqes = FIELD_GET(NVME_CC_IOSQES, n->reg[NVME_R_CC]);
	struct nvme_queue_mem mem;
	struct nvme_binding to;
	u16 status;

	if (!qid || qid > n->granted_sqs || !MODEL_CHECK(controller_queue_twice, !n->sq[qid].live) || !cqid ||
	    cqid > n->granted_cqs)
		return NVME_SC_QID_INVALID | NVME_DNR;
	to = nvme_bind_take(&n->sq[qid].next);
	if (!MODEL_CHECK(controller_queue_no_cq, n->cq[cqid].live))
		return NVME_SC_CQ_INVALID | NVME_DNR;
	status = check_size(n, size, iosqes, NVME_CC_IOSQES_64);
	if (!status)
		status = check_base(cmd);
	if (!status)
		status = check_contiguous(cmd);
	if (!status)
		status = queue_mem(cmd, (u64)size * sizeof(struct nvme_sqe), true, n->sq[qid].mem.pages, &mem);
	if (status)
		return status;
	nvme_sq_open(n, qid, cqid, size, &mem, to);
	n->nr_io_sqs++;
	return NVME_SC_SUCCESS;
}

/*
 * Commands of the queue end before the queue, and the queue before this command: when the
 * host sees its CQE, no DMA of the queue can follow.
 */
u16 nvme_admin_delete_sq(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 qid = cmd_qid(&cmd->sqe);

	if (!qid || qid >= n->nr_queues || !n->sq[qid].live)
		return NVME_SC_QID_INVALID | NVME_DNR;
	if (MODEL_STEP(controller_delete_flush))
		nvme_cmd_flush_sq(n, qid);
	nvme_sq_close(n, qid);
	n->nr_io_sqs--;
	return NVME_SC_SUCCESS;
}

u16 nvme_admin_delete_cq(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 qid = cmd_qid(&cmd->sqe);

	if (!qid || qid >= n->nr_queues || !n->cq[qid].live)
		return NVME_SC_QID_INVALID | NVME_DNR;
	if (!MODEL_CHECK(controller_cq_in_use, n->cq[qid].first_sq == NVME_QUEUE_NONE))
		return NVME_SC_QUEUE_DELETION;
	n->cq[qid].live = false;
	n->nr_io_cqs--;
	return NVME_SC_SUCCESS;
}
