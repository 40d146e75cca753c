// SPDX-License-Identifier: GPL-2.0
/*
 * The host's own commands on its own queue: one caller at a time, who may have several in
 * flight. A command that is not answered keeps its slot, so that a late completion is not
 * taken for another's; the queue is then of no use before the controller was reset.
 */

#include "internal.h"

#define HOSTIO_SLOTS	64u
#define HOSTIO_CHUNK	65536u		/* blocks of one Write Zeroes: all that NLB can say */
#define LIST_ENTRIES	((u32)SPEC_PAGE_SIZE / 8)
#define FILL		0xA5A5A5A5A5A5A5A5ULL

struct liov_hostio {
	struct port_mutex lock;		/* callers */
	struct port_event done;
	struct port_lock slot_lock;	/* what follows */
	u64 busy;			/* bit: slot in flight */
	u32 in_flight;
	u32 status;			/* of the first that failed since reset by a caller */
	bool lost;
	/* A PRP list and a page of zeros that the device may only read; a page that it may write. */
	struct port_pages ro, rw;
	struct port_shm list, data;
	iova_t ro_iova, rw_iova;
	bool ro_mapped, rw_mapped, has_iova;
};
_Static_assert(HOSTIO_SLOTS <= 64, "slots are bits of a u64");

static void hostio_complete(void *arg, const struct nvme_cqe *cqe)
{
	struct liov_hostio *io = arg;
	unsigned long flags = port_lock_irqsave(&io->slot_lock);
	u64 bit = cqe->cid < HOSTIO_SLOTS ? 1ULL << cqe->cid : 0;

	if (io->busy & bit) {
		u32 status = (u32)cqe->status >> 1 & NVME_STATUS_CODE;

		io->busy &= ~bit;
		io->in_flight--;
		if (io->status == 0)
			io->status = status;
	}
	port_unlock_irqrestore(&io->slot_lock, flags);
	port_event_signal(&io->done);
}

/* Until at most @max commands are in flight. */
static int hostio_wait(struct liov_hwq *q, u32 max)
{
	struct liov_hostio *io = q->io;

	for (;;) {
		unsigned long flags;
		u32 left, lost;

		port_event_reset(&io->done);
		flags = port_lock_irqsave(&io->slot_lock);
		left = io->in_flight;
		lost = io->lost;
		port_unlock_irqrestore(&io->slot_lock, flags);
		if (lost)
			return -EIO;
		if (left <= max)
			return 0;
		if (!port_event_wait(&io->done, q->be->cfg.timeout_ns)) {
			io->lost = true;
			return -ETIMEDOUT;
		}
	}
}

/* Caller holds io->lock. */
static int hostio_submit(struct liov_hwq *q, struct nvme_sqe *sqe)
{
	struct liov_hostio *io = q->io;
	u32 room = q->sq_entries - 1 < HOSTIO_SLOTS ? q->sq_entries - 1 : HOSTIO_SLOTS;
	unsigned long flags;
	int err = hostio_wait(q, room - 1);
	u32 slot;

	if (err)
		return err;
	flags = port_lock_irqsave(&io->slot_lock);
	for (slot = 0; slot < HOSTIO_SLOTS - 1 && io->busy & 1ULL << slot; slot++)
		;
	io->busy |= 1ULL << slot;
	io->in_flight++;
	port_unlock_irqrestore(&io->slot_lock, flags);

	sqe->cid = (u16)slot;
	err = liov_hwq_submit(q, sqe);
	if (err) {
		flags = port_lock_irqsave(&io->slot_lock);
		if (io->busy & 1ULL << slot) {
			io->busy &= ~(1ULL << slot);
			io->in_flight--;
		}
		port_unlock_irqrestore(&io->slot_lock, flags);
	}
	return err;
}

/* A new batch; returns with io->lock held on success. */
static int hostio_begin(struct liov_hwq *q)
{
	port_mutex_lock(&q->io->lock);
	if (q->io->lost) {
		port_mutex_unlock(&q->io->lock);
		return -EIO;
	}
	q->io->status = 0;
	return 0;
}

static int hostio_end(struct liov_hwq *q, int err)
{
	int wait_err = hostio_wait(q, 0);
	int status = (int)q->io->status;

	port_mutex_unlock(&q->io->lock);
	return err ? err : wait_err ? wait_err : status;
}

/* With PRACT the controller makes and checks protection information by itself: there is no second buffer. */
static struct nvme_sqe hostio_rw(const struct liov_backend *be, u8 opcode, u32 nsid, u64 slba, u32 nlb)
{
	struct nvme_sqe sqe = { .opcode = opcode, .nsid = nsid, .cdw10 = (u32)slba, .cdw11 = (u32)(slba >> 32) };

	if (opcode == NVME_CMD_FLUSH)
		return sqe;
	sqe.cdw12 = nlb - 1;
	if (be->info.pi) {
		sqe.cdw12 |= (u32)NVME_RW_PRACT;
		sqe.cdw14 = (u32)slba;
	}
	return sqe;
}

/* PRPs for @pages pages from @iova on, or for the same page each time. */
static void hostio_prps(struct liov_hostio *io, struct nvme_sqe *sqe, iova_t iova, u32 pages, bool same)
{
	u64 step = same ? 0 : SPEC_PAGE_SIZE;

	sqe->prp1 = iova.v;
	if (pages == 2)
		sqe->prp2 = iova.v + step;
	if (pages <= 2)
		return;
	for (u32 i = 1; i < pages; i++) {
		u64 entry = iova.v + i * step;

		port_shm_copy_out(&io->list, (i - 1) * 8, &entry, 8);
	}
	sqe->prp2 = io->ro_iova.v;
}

/* Bytes that one command moves at most: MDTS, and one PRP list. */
static u32 hostio_max_bytes(const struct liov_backend *be)
{
	u32 max = LIST_ENTRIES * (u32)SPEC_PAGE_SIZE;

	return be->info.mdts_bytes != 0 && be->info.mdts_bytes < max ? be->info.mdts_bytes : max;
}

int liov_hostio_zero(struct liov_hwq *q, u8 opcode, u32 nsid, u64 start, u64 nr)
{
	struct liov_backend *be = q->be;
	u32 shift = be->info.lba_shift;
	u64 chunk = opcode == NVME_CMD_WRITE ? hostio_max_bytes(be) >> shift : HOSTIO_CHUNK;
	int err = hostio_begin(q);
	iova_t zeros = { q->io->ro_iova.v + SPEC_PAGE_SIZE };

	if (err)
		return err;
	while (nr > 0 && !err && q->io->status == 0) {
		u32 n = (u32)(nr < chunk ? nr : chunk);
		struct nvme_sqe sqe = hostio_rw(be, opcode, nsid, start, n);

		/* Every entry of the list is the page of zeros: commands in flight share it, a shorter one reads less of it. */
		if (opcode == NVME_CMD_WRITE)
			hostio_prps(q->io, &sqe, zeros, (u32)(((u64)n << shift) + SPEC_PAGE_SIZE - 1) >> SPEC_PAGE_SHIFT, true);
		err = hostio_submit(q, &sqe);
		start += n;
		nr -= n;
	}
	if (!err)
		err = hostio_wait(q, 0);
	if (!err && q->io->status == 0) {
		struct nvme_sqe sqe = hostio_rw(be, NVME_CMD_FLUSH, nsid, 0, 0);

		err = hostio_submit(q, &sqe);
	}
	return hostio_end(q, err);
}

int liov_hostio_check_zero(struct liov_hwq *q, u32 nsid, u64 start, u64 nr, bool *zero)
{
	u64 page_blocks = SPEC_PAGE_SIZE >> q->be->info.lba_shift;
	u32 n = (u32)(nr < page_blocks ? nr : page_blocks);
	u32 bytes = n << q->be->info.lba_shift;
	struct liov_hostio *io = q->io;
	struct nvme_sqe sqe = hostio_rw(q->be, NVME_CMD_READ, nsid, start, n);
	u64 fill = FILL;
	int err;

	*zero = false;
	err = hostio_begin(q);
	if (err)
		return err;
	/* Device writes that are blocked on their way are not reported: what is not zero cannot be a page nobody wrote. */
	for (u32 off = 0; off < bytes; off += 8)
		port_shm_copy_out(&io->data, off, &fill, 8);
	port_dma_wmb(q->be->home);
	sqe.prp1 = io->rw_iova.v;
	err = hostio_submit(q, &sqe);
	if (!err)
		err = hostio_wait(q, 0);
	if (!err && io->status == 0) {
		u64 any = 0;

		port_dma_rmb(q->be->home);
		for (u32 off = 0; off < bytes; off += 8)
			any |= port_shm_rd64(&io->data, off);
		*zero = any == 0;
	}
	return hostio_end(q, err);
}

/* --- the public call --- */

static int hostio_map(struct liov_backend *be, const struct port_pages *pages, u32 nr, u8 opcode, iova_t *iova)
{
	u32 prot = opcode == NVME_CMD_READ ? PORT_WRITE : PORT_READ;
	int err;

	port_mutex_lock(&be->lock);
	err = liov_extents_take(&be->iovas, nr * SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, &iova->v);
	if (!err) {
		err = port_iommu_map(be->host, *iova, pages, nr, prot);
		if (err)
			(void)liov_extents_give(&be->iovas, iova->v, nr * SPEC_PAGE_SIZE);
	}
	port_mutex_unlock(&be->lock);
	return err;
}

/*
 * Also when the command may still run: late DMA then ends at the unmapped IOVA. But the IOVA
 * is then given to nobody else, since it would not end there.
 */
static void hostio_unmap(struct liov_backend *be, u32 nr, iova_t iova, bool reuse)
{
	if (LIOV_STEP(backend_hostio_unmap))
		port_iommu_unmap(be->host, iova, nr * SPEC_PAGE_SIZE);
	if (LIOV_STEP(backend_hostio_sync))
		port_iommu_sync(be->host);
	if (!reuse)
		return;
	port_mutex_lock(&be->lock);
	(void)liov_extents_give(&be->iovas, iova.v, nr * SPEC_PAGE_SIZE);
	port_mutex_unlock(&be->lock);
}

int liov_host_io(struct liov_backend *be, struct liov_hwq *q, u8 opcode, plba_t slba, u32 nlb,
		 const struct port_pages *pages)
{
	struct nvme_sqe sqe = hostio_rw(be, opcode, LIOV_HOST_NSID, slba.v, nlb);
	u64 bytes = (u64)nlb << be->info.lba_shift;
	u32 nr = (u32)((bytes + SPEC_PAGE_SIZE - 1) >> SPEC_PAGE_SHIFT);
	iova_t iova = { 0 };
	bool sent = false;
	int err;

	if (!q->io || (opcode != NVME_CMD_FLUSH && (nlb == 0 || nlb > HOSTIO_CHUNK)) ||
	    (pages && (opcode == NVME_CMD_FLUSH || bytes > hostio_max_bytes(be))))
		return -EINVAL;
	if (pages) {
		err = hostio_map(be, pages, nr, opcode, &iova);
		if (err)
			return err;
	}
	err = hostio_begin(q);
	if (!err) {
		if (pages)
			hostio_prps(q->io, &sqe, iova, nr, false);
		port_dma_wmb(be->home);
		err = hostio_submit(q, &sqe);
		sent = !err;
		err = hostio_end(q, err);
	}
	if (pages)
		hostio_unmap(be, nr, iova, !sent || err >= 0);
	return err;
}

/* --- life --- */

static int hostio_memory(struct liov_backend *be, struct liov_hostio *io)
{
	int err;

	port_mutex_lock(&be->lock);
	err = liov_extents_take(&be->iovas, 3 * SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, &io->ro_iova.v);
	port_mutex_unlock(&be->lock);
	if (err)
		return err;
	io->has_iova = true;
	io->rw_iova = (iova_t){ io->ro_iova.v + 2 * SPEC_PAGE_SIZE };
	err = port_pages_alloc(be->host, 2, &io->ro);
	if (err)
		return err;
	err = port_iommu_map(be->host, io->ro_iova, &io->ro, 2, PORT_READ);
	if (err) {
		port_pages_put(&io->ro);
		return err;
	}
	io->ro_mapped = true;
	err = port_pages_alloc(be->host, 1, &io->rw);
	if (err)
		return err;
	err = port_iommu_map(be->host, io->rw_iova, &io->rw, 1, PORT_WRITE);
	if (err) {
		port_pages_put(&io->rw);
		return err;
	}
	io->rw_mapped = true;
	io->list = port_pages_shm(&io->ro);
	io->data = port_pages_shm(&io->rw);
	return 0;
}

void liov_hostio_fini(struct liov_hwq *q)
{
	struct liov_backend *be = q->be;
	struct liov_hostio *io = q->io;

	if (!io)
		return;
	if (io->ro_mapped)
		port_iommu_unmap(be->host, io->ro_iova, 2 * SPEC_PAGE_SIZE);
	if (io->rw_mapped)
		port_iommu_unmap(be->host, io->rw_iova, SPEC_PAGE_SIZE);
	port_iommu_sync(be->host);
	if (io->ro_mapped)
		port_pages_put(&io->ro);
	if (io->rw_mapped)
		port_pages_put(&io->rw);
	/* What is late may still come to these IOVAs: nobody else's then. */
	if (io->has_iova && io->in_flight == 0) {
		port_mutex_lock(&be->lock);
		(void)liov_extents_give(&be->iovas, io->ro_iova.v, 3 * SPEC_PAGE_SIZE);
		port_mutex_unlock(&be->lock);
	}
	q->io = NULL;
	port_free(be->home, io);
}

int liov_hostio_init(struct liov_hwq *q)
{
	struct liov_backend *be = q->be;
	int err;

	q->io = port_alloc(be->home, sizeof(*q->io));
	if (!q->io)
		return -ENOMEM;
	port_mutex_init(be->home, &q->io->lock);
	port_lock_init(be->home, &q->io->slot_lock);
	port_event_init(be->home, &q->io->done);
	err = hostio_memory(be, q->io);
	if (err)
		liov_hostio_fini(q);
	return err;
}

int liov_hostio_start(struct liov_hwq *q)
{
	struct liov_hostio *io = q->io;
	u32 entries = q->be->cfg.queue_depth;
	unsigned long flags = port_lock_irqsave(&io->slot_lock);

	io->busy = 0;
	io->in_flight = 0;
	io->lost = false;
	port_unlock_irqrestore(&io->slot_lock, flags);
	return liov_hwq_start_driving(q, entries, hostio_complete, io);
}

void liov_hostio_abort(struct liov_hwq *q)
{
	unsigned long flags = port_lock_irqsave(&q->io->slot_lock);

	q->io->lost = true;
	port_unlock_irqrestore(&q->io->slot_lock, flags);
	port_event_signal(&q->io->done);
	/* Whoever waited has left when the lock was free once. */
	port_mutex_lock(&q->io->lock);
	port_mutex_unlock(&q->io->lock);
}

int liov_host_queue_create(struct liov_backend *be, u32 flags, struct liov_hwq **out)
{
	struct liov_hwq *q;
	int err;

	if (flags & ~LIOV_HWQ_SQ_IN_CMB)
		return -EINVAL;
	err = liov_hwq_reserve(be, NULL, flags, &q);
	if (err)
		return err;
	err = liov_hostio_init(q);
	if (err)
		goto out_release;
	err = liov_hostio_start(q);
	if (err)
		goto out_io;
	*out = q;
	return 0;
out_io:
	liov_hostio_fini(q);
	err = err > 0 ? -EIO : err;
out_release:
	if (q->state == LIOV_HWQ_RESERVED)
		liov_hwq_release(q);
	else
		q->orphaned = true;
	return err;
}

int liov_host_queue_destroy(struct liov_backend *be, struct liov_hwq *q)
{
	int err;

	if (q->be != be || q->owner != LIOV_HOST_VM || !q->io)
		return -EINVAL;
	port_mutex_lock(&q->io->lock);
	err = liov_hwq_delete_sq(q);
	if (!err)
		err = liov_hwq_delete_cq(q);
	q->io->lost = true;
	port_mutex_unlock(&q->io->lock);
	liov_hwq_mask(q);
	liov_hostio_fini(q);
	if (err)
		q->orphaned = true;
	else
		liov_hwq_release(q);
	return err;
}
