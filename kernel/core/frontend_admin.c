// SPDX-License-Identifier: GPL-2.0
/*
 * The frontend's way to the virtual controller: registers, the admin queue and asynchronous
 * events. All of it traps; none of it is on the data path.
 */

#include "frontend.h"

#define FE_POLL_NS	50000u
#define FE_READY_NS	2000000000ull

/* CC.EN, and CSTS.RDY following it: Base 3.5. */
int fe_set_enable(struct liov_frontend *fe, bool enable)
{
	u64 waited;
	u32 cc = enable ? (u32)(NVME_CC_EN | FIELD_PREP(NVME_CC_IOSQES, NVME_CC_IOSQES_64) |
				FIELD_PREP(NVME_CC_IOCQES, NVME_CC_IOCQES_16))
			: 0;

	port_mmio_wr32(&fe->bar0, NVME_REG_CC, cc);
	for (waited = 0; waited < FE_READY_NS; waited += FE_POLL_NS) {
		u32 csts = port_mmio_rd32(&fe->bar0, NVME_REG_CSTS);

		if (csts & NVME_CSTS_CFS)
			return enable ? -EIO : 0;
		if (!!(csts & NVME_CSTS_RDY) == enable)
			return 0;
		port_sleep_ns(fe->home, FE_POLL_NS);
	}
	return -ETIMEDOUT;
}

static void fe_admin_ring_reset(struct liov_frontend *fe)
{
	fe->admin_sq_tail = 0;
	fe->admin_cq_head = 0;
	fe->admin_phase = true;
	fe->admin_waiting = false;
	port_shm_zero(&fe->admin, 0, FE_ADMIN_PAGES * 4096u);
}

static void fe_admin_put(struct liov_frontend *fe, const struct nvme_sqe *sqe)
{
	port_shm_copy_out(&fe->admin, FE_ADMIN_SQ + fe->admin_sq_tail * 64u, sqe, sizeof(*sqe));
	fe->admin_sq_tail = liov_ring_next(fe->admin_sq_tail, FE_ADMIN_ENTRIES);
	port_dma_wmb(fe->home);
	port_mmio_wr32(&fe->bar0, NVME_REG_DBS, fe->admin_sq_tail);
}

static void fe_admin_event(struct liov_frontend *fe, u32 dw0)
{
	if (dw0 == LIOV_AEN_RESET)
		fe->resets_seen++;
	port_work_queue(&fe->reset_work);
}

/* Vector 0. At most one queue's worth of entries a call: the ring is private, its content is not. */
static void fe_admin_irq(void *arg)
{
	struct liov_frontend *fe = arg;
	u32 n;

	for (n = 0; n < FE_ADMIN_ENTRIES; n++) {
		struct nvme_cqe cqe;
		u32 off = FE_ADMIN_CQ + fe->admin_cq_head * 16u;

		port_shm_copy_in(&fe->admin, off, &cqe, sizeof(cqe));
		if (!!(cqe.status & NVME_CQE_PHASE) != fe->admin_phase)
			break;
		liov_ring_step(&fe->admin_cq_head, &fe->admin_phase, FE_ADMIN_ENTRIES);
		if (cqe.cid == FE_AER_CID) {
			fe_admin_event(fe, cqe.dw0);
		} else if (fe->admin_waiting && cqe.cid == fe->admin_wait_cid) {
			fe->admin_status = (u16)((cqe.status >> 1) & NVME_STATUS_CODE);
			fe->admin_dw0 = cqe.dw0;
			fe->admin_waiting = false;
			port_event_signal(&fe->admin_done);
		}
	}
	if (n)
		port_mmio_wr32(&fe->bar0, NVME_REG_DBS + 4, fe->admin_cq_head);
}

int liov_frontend_admin(struct liov_frontend *fe, struct nvme_sqe *sqe, u32 *dw0)
{
	int ret;

	port_mutex_lock(&fe->admin_lock);
	sqe->cid = fe->admin_cid;
	fe->admin_cid = (u16)((fe->admin_cid + 1) & 0x7FFF);
	fe->admin_wait_cid = sqe->cid;
	fe->admin_waiting = true;
	port_event_reset(&fe->admin_done);
	fe_admin_put(fe, sqe);
	if (port_event_wait(&fe->admin_done, fe->cfg.timeout_ns)) {
		ret = fe->admin_status;
		if (dw0)
			*dw0 = fe->admin_dw0;
	} else {
		fe->admin_waiting = false;
		ret = -ETIMEDOUT;
	}
	port_mutex_unlock(&fe->admin_lock);
	return ret;
}

/* The asynchronous event request that is always outstanding; its completion is not waited for. */
int fe_admin_post_aer(struct liov_frontend *fe)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_AER, .cid = FE_AER_CID };

	port_mutex_lock(&fe->admin_lock);
	fe_admin_put(fe, &sqe);
	port_mutex_unlock(&fe->admin_lock);
	return 0;
}

int fe_admin_start(struct liov_frontend *fe)
{
	int ret;

	ret = port_guest_dma_alloc(fe->guest, FE_ADMIN_PAGES, &fe->admin, &fe->admin_gpa);
	if (ret)
		return ret;
	ret = port_guest_irq_request(fe->guest, 0, fe_admin_irq, fe);
	if (ret)
		goto out_free;
	ret = fe_set_enable(fe, false);
	if (ret)
		goto out_irq;
	fe_admin_ring_reset(fe);
	port_mmio_wr32(&fe->bar0, NVME_REG_AQA,
		       (u32)(FIELD_PREP(NVME_AQA_ASQS, FE_ADMIN_ENTRIES - 1) |
			     FIELD_PREP(NVME_AQA_ACQS, FE_ADMIN_ENTRIES - 1)));
	port_mmio_wr64(&fe->bar0, NVME_REG_ASQ, fe->admin_gpa.v + FE_ADMIN_SQ);
	port_mmio_wr64(&fe->bar0, NVME_REG_ACQ, fe->admin_gpa.v + FE_ADMIN_CQ);
	ret = fe_set_enable(fe, true);
	if (ret)
		goto out_irq;
	return 0;
out_irq:
	port_guest_irq_free(fe->guest, 0);
out_free:
	port_guest_dma_free(fe->guest, FE_ADMIN_PAGES, &fe->admin, fe->admin_gpa);
	return ret;
}

/* After the controller was disabled. */
void fe_admin_stop(struct liov_frontend *fe)
{
	port_guest_irq_free(fe->guest, 0);
	port_guest_dma_free(fe->guest, FE_ADMIN_PAGES, &fe->admin, fe->admin_gpa);
}
