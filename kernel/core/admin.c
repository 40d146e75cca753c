// SPDX-License-Identifier: GPL-2.0
/*
 * The physical admin queue. One command at a time, so its completion needs no table; beside
 * it asynchronous event requests, whose completions come at any time and are handled in
 * process context. A command that is not answered in time leaves the queue dead: the
 * controller may still execute it, so nothing may be sent that relies on it not having been.
 */

#include "internal.h"

#define ADMIN_SQ	0x0000u		/* offsets in the admin memory */
#define ADMIN_CQ	0x1000u
#define ADMIN_DATA	0x2000u
#define ADMIN_PAGES	3u
#define ADMIN_ALIGN	0x100000u
#define AER_CID		0x0100u		/* + number; commands use cids below */

#define AER_INTERVAL_NS	12000000ULL	/* between two readings of a log: a guest's bad doorbells cost the host no more */
#define ERROR_LOG_SQID	8u		/* Base 5.16.1.2, figure 195: bytes 9:8 */

static void admin_complete(struct liov_admin *a, u16 cid, u16 status, u32 dw0)
{
	if (cid >= AER_CID) {
		/* Memory of the queue can be forged by DMA under paper (GPA-03): believe no more AERs than were sent. */
		if (!LIOV_CHECK(backend_aer_forged, cid - AER_CID < LIOV_PHYS_AERS && (a->aers & 1u << (cid - AER_CID))))
			return;
		a->aers &= ~(1u << (cid - AER_CID));
		if (status == NVME_SC_SUCCESS && a->nr_aer < LIOV_PHYS_AERS)
			a->aer_dw0[a->nr_aer++] = dw0;
		if (status == NVME_SC_SUCCESS)
			port_work_queue(&a->aer_work);
		return;
	}
	if (!a->waiting || cid != a->wait_cid)
		return;
	a->waiting = false;
	a->status = status;
	a->dw0 = dw0;
	port_event_signal(&a->done);
}

/* Vector 0. */
static void admin_irq(void *arg)
{
	struct liov_backend *be = arg;
	struct liov_admin *a = &be->admin;
	unsigned long flags = port_lock_irqsave(&a->irq_lock);
	u32 n;

	for (n = 0; n < LIOV_ADMIN_DEPTH; n++) {
		u32 off = ADMIN_CQ + a->cq_head * (u32)sizeof(struct nvme_cqe);
		u64 hi = port_shm_rd64(&a->shm, off + 8);
		u16 status = (u16)(hi >> 48);

		if (((status & NVME_CQE_PHASE) != 0) != a->cq_phase)
			break;
		port_dma_rmb(be->home);
		liov_ring_step(&a->cq_head, &a->cq_phase, LIOV_ADMIN_DEPTH);
		admin_complete(a, (u16)(hi >> 32), (u16)(status >> 1) & NVME_STATUS_CODE,
			       (u32)port_shm_rd64(&a->shm, off));
	}
	if (n > 0)
		port_mmio_wr32(&be->bar0, (u32)liov_doorbell(be, 0, true), a->cq_head);
	port_unlock_irqrestore(&a->irq_lock, flags);
}

/* Store and ring. Caller holds admin.lock. */
static void admin_send(struct liov_backend *be, const struct nvme_sqe *sqe)
{
	struct liov_admin *a = &be->admin;

	port_shm_copy_out(&a->shm, ADMIN_SQ + a->sq_tail * (u32)sizeof(*sqe), sqe, sizeof(*sqe));
	port_dma_wmb(be->home);
	a->sq_tail = liov_ring_next(a->sq_tail, LIOV_ADMIN_DEPTH);
	port_mmio_wr32(&be->bar0, (u32)liov_doorbell(be, 0, false), a->sq_tail);
}

static int admin_wait(struct liov_backend *be, void (*stalled)(void *arg), void *arg)
{
	struct liov_admin *a = &be->admin;
	u64 slice = be->cfg.timeout_ns >> 4;
	unsigned long flags;
	bool answered;

	for (u32 i = 0; i < 16; i++) {
		if (port_event_wait(&a->done, slice))
			break;
		if (stalled)
			stalled(arg);
	}
	flags = port_lock_irqsave(&a->irq_lock);
	answered = !a->waiting;
	a->waiting = false;
	port_unlock_irqrestore(&a->irq_lock, flags);
	return answered ? 0 : -ETIMEDOUT;
}

/* Caller holds admin.lock. */
static int admin_cmd(struct liov_backend *be, struct nvme_sqe *sqe, u32 *dw0, void (*stalled)(void *arg), void *arg)
{
	struct liov_admin *a = &be->admin;
	unsigned long flags;
	int err;

	if (a->dead)
		return -EIO;
	a->next_cid = (a->next_cid + 1) & (AER_CID - 1);
	sqe->cid = a->next_cid;
	port_event_reset(&a->done);
	flags = port_lock_irqsave(&a->irq_lock);
	a->wait_cid = sqe->cid;
	a->waiting = true;
	port_unlock_irqrestore(&a->irq_lock, flags);
	admin_send(be, sqe);
	err = admin_wait(be, stalled, arg);
	if (err) {
		a->dead = true;
		return err;
	}
	if (dw0)
		*dw0 = a->dw0;
	return a->status;
}

int liov_admin_cmd(struct liov_backend *be, struct nvme_sqe *sqe, u32 *dw0)
{
	int err;

	port_mutex_lock(&be->admin.lock);
	err = admin_cmd(be, sqe, dw0, NULL, NULL);
	port_mutex_unlock(&be->admin.lock);
	return err;
}

int liov_admin_cmd_stalled(struct liov_backend *be, struct nvme_sqe *sqe, void (*stalled)(void *arg), void *arg)
{
	int err;

	port_mutex_lock(&be->admin.lock);
	err = admin_cmd(be, sqe, NULL, stalled, arg);
	port_mutex_unlock(&be->admin.lock);
	return err;
}

int liov_admin_cmd_out(struct liov_backend *be, struct nvme_sqe *sqe, const void *buf, u32 len_bytes, u32 *dw0)
{
	struct liov_admin *a = &be->admin;
	int err;

	LIOV_ASSERT(len_bytes <= SPEC_PAGE_SIZE);
	port_mutex_lock(&a->lock);
	sqe->prp1 = a->iova.v + ADMIN_DATA;
	port_shm_zero(&a->shm, ADMIN_DATA, SPEC_PAGE_SIZE);
	port_shm_copy_out(&a->shm, ADMIN_DATA, buf, len_bytes);
	err = admin_cmd(be, sqe, dw0, NULL, NULL);
	port_mutex_unlock(&a->lock);
	return err;
}

int liov_admin_cmd_in(struct liov_backend *be, struct nvme_sqe *sqe, void *buf, u32 len_bytes)
{
	struct liov_admin *a = &be->admin;
	int err;

	LIOV_ASSERT(len_bytes <= SPEC_PAGE_SIZE);
	port_mutex_lock(&a->lock);
	sqe->prp1 = a->iova.v + ADMIN_DATA;
	port_shm_zero(&a->shm, ADMIN_DATA, SPEC_PAGE_SIZE);
	err = admin_cmd(be, sqe, NULL, NULL, NULL);
	port_dma_rmb(be->home);
	if (!err)
		port_shm_copy_in(&a->shm, ADMIN_DATA, buf, len_bytes);
	port_mutex_unlock(&a->lock);
	return err;
}

int liov_admin_identify(struct liov_backend *be, u32 cns, u32 nsid, void *buf4k)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_IDENTIFY, .nsid = nsid, .cdw10 = cns };

	return liov_admin_cmd_in(be, &sqe, buf4k, NVME_ID_SIZE);
}

void liov_admin_post_aers(struct liov_backend *be)
{
	struct liov_admin *a = &be->admin;
	u32 want = be->info.aerl + 1u < LIOV_PHYS_AERS ? be->info.aerl + 1u : LIOV_PHYS_AERS;

	port_mutex_lock(&a->lock);
	for (u32 i = 0; i < want && !a->dead; i++) {
		struct nvme_sqe sqe = { .opcode = NVME_ADM_AER, .cid = (u16)(AER_CID + i) };
		unsigned long flags = port_lock_irqsave(&a->irq_lock);
		bool sent = a->aers & 1u << i;

		a->aers |= 1u << i;
		port_unlock_irqrestore(&a->irq_lock, flags);
		if (!sent)
			admin_send(be, &sqe);
	}
	port_mutex_unlock(&a->lock);
}

/* Reading the log that the event names re-enables its type, Base 5.2. */
static void aer_handle(struct liov_backend *be, u32 dw0)
{
	u8 log[64];
	struct nvme_sqe sqe = { .opcode = NVME_ADM_GET_LOG_PAGE, .nsid = ~0u,
				.cdw10 = (dw0 >> 16 & 0xff) | (sizeof(log) / 4 - 1) << 16 };
	u32 sqid = 0xffff, vm = LIOV_HOST_VM;
	int err = liov_admin_cmd_in(be, &sqe, log, sizeof(log));

	if (!err && (dw0 >> 16 & 0xff) == NVME_LOG_ERROR)
		sqid = log[ERROR_LOG_SQID] | (u32)log[ERROR_LOG_SQID + 1] << 8;
	if (sqid != 0 && sqid <= be->info.io_queues && be->hwq)
		vm = be->hwq[sqid].owner;
	/*
	 * A bad doorbell names no queue (Base 5.16.1.2): whose it was, only the guest knows. An
	 * event of the shared controller is the host's: no VM's AER is completed by it (ADM-07).
	 */
	port_trace(be->home, &(struct liov_trace){ LIOV_TRACE_EVENT, LIOV_BACKEND, vm, sqid, dw0, 0 });
	if (!LIOV_STEP(backend_event_private))
		liov_device_event_others(be, NULL, dw0);
}

static void aer_work(void *arg)
{
	struct liov_backend *be = arg;
	struct liov_admin *a = &be->admin;
	u64 since = port_now_ns(be->home) - a->aer_handled_ns;
	unsigned long flags;
	u32 dw0 = 0, nr;

	if (a->aer_handled_ns != 0 && since < AER_INTERVAL_NS) {
		port_timer_arm(&a->aer_timer, AER_INTERVAL_NS - since);
		return;
	}
	flags = port_lock_irqsave(&a->irq_lock);
	nr = a->nr_aer;
	if (nr > 0)
		dw0 = a->aer_dw0[--a->nr_aer];
	port_unlock_irqrestore(&a->irq_lock, flags);
	if (nr == 0)
		return;
	a->aer_handled_ns = port_now_ns(be->home);
	aer_handle(be, dw0);
	liov_admin_post_aers(be);
	if (nr > 1)
		port_timer_arm(&a->aer_timer, AER_INTERVAL_NS);
}

static void aer_timer(void *arg)
{
	struct liov_backend *be = arg;

	port_work_queue(&be->admin.aer_work);
}

void liov_admin_rewind(struct liov_backend *be)
{
	struct liov_admin *a = &be->admin;

	port_shm_zero(&a->shm, 0, ADMIN_PAGES * (u32)SPEC_PAGE_SIZE);
	port_dma_wmb(be->home);
	a->sq_tail = 0;
	a->cq_head = 0;
	a->cq_phase = true;
	a->waiting = false;
	a->aers = 0;
	a->nr_aer = 0;
}

void liov_admin_go(struct liov_backend *be)
{
	be->admin.dead = false;
	if (be->admin.irq_masked)
		port_irq_unmask(be->host, 0);
	be->admin.irq_masked = false;
}

/* Ends with the vector masked, as it is after init. */
void liov_admin_quiesce(struct liov_backend *be)
{
	struct liov_admin *a = &be->admin;

	if (!a->irq_requested)
		return;
	port_mutex_lock(&a->lock);
	a->dead = true;
	port_mutex_unlock(&a->lock);
	if (!a->irq_masked)
		port_irq_mask_sync(be->host, 0);
	a->irq_masked = true;
	/* The work arms the timer, the timer queues the work: neither does so a second time without an interrupt. */
	port_work_cancel_sync(&a->aer_work);
	port_timer_cancel_sync(&a->aer_timer);
	port_work_cancel_sync(&a->aer_work);
	port_timer_cancel_sync(&a->aer_timer);
}

int liov_admin_init(struct liov_backend *be)
{
	struct liov_admin *a = &be->admin;
	int err;

	port_mutex_init(be->home, &a->lock);
	port_lock_init(be->home, &a->irq_lock);
	port_event_init(be->home, &a->done);
	port_work_init(be->home, &a->aer_work, aer_work, be);
	port_timer_init(be->home, &a->aer_timer, aer_timer, be);
	a->dead = true;

	err = liov_extents_take(&be->iovas, ADMIN_PAGES * SPEC_PAGE_SIZE, ADMIN_ALIGN, &a->iova.v);
	if (err)
		return err;
	err = port_pages_alloc(be->host, ADMIN_PAGES, &a->pages);
	if (err)
		goto out_iova;
	a->shm = port_pages_shm(&a->pages);
	err = port_iommu_map(be->host, a->iova, &a->pages, ADMIN_PAGES, PORT_READ | PORT_WRITE);
	if (err)
		goto out_pages;
	err = port_irq_request(be->host, 0, admin_irq, be);
	if (err)
		goto out_map;
	a->irq_requested = true;
	port_irq_mask_sync(be->host, 0);
	a->irq_masked = true;
	return 0;

out_map:
	port_iommu_unmap(be->host, a->iova, ADMIN_PAGES * SPEC_PAGE_SIZE);
	port_iommu_sync(be->host);
out_pages:
	port_pages_put(&a->pages);
out_iova:
	(void)liov_extents_give(&be->iovas, a->iova.v, ADMIN_PAGES * SPEC_PAGE_SIZE);
	return err;
}

/* The controller is disabled: it uses the memory no more. */
void liov_admin_fini(struct liov_backend *be)
{
	struct liov_admin *a = &be->admin;

	if (!a->irq_requested)
		return;
	liov_admin_quiesce(be);
	port_irq_free(be->host, 0);
	a->irq_requested = false;
	port_iommu_unmap(be->host, a->iova, ADMIN_PAGES * SPEC_PAGE_SIZE);
	port_iommu_sync(be->host);
	port_pages_put(&a->pages);
	(void)liov_extents_give(&be->iovas, a->iova.v, ADMIN_PAGES * SPEC_PAGE_SIZE);
}
