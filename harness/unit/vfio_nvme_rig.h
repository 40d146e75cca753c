/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_VFIO_NVME_RIG_H
#define HARNESS_UNIT_VFIO_NVME_RIG_H

/*
 * A small NVMe driver that reaches its controller through a vfio-user session: what a guest and its
 * VMM do between them. One I/O queue pair, completions told by eventfd.
 */

#include "vfio_rig.h"

#include "nvme-emu/serve.h"
#include "spec/nvme.h"
#include "spec/pci.h"

#define DRV_MEM 0x100000ull	/* where the guest's memory begins, and how much there is */
#define DRV_MEM_BYTES 0x40000ull
#define DRV_ASQ (DRV_MEM + 0x0000)
#define DRV_ACQ (DRV_MEM + 0x1000)
#define DRV_SQ (DRV_MEM + 0x2000)
#define DRV_CQ (DRV_MEM + 0x3000)
#define DRV_DATA (DRV_MEM + 0x10000)
#define DRV_DEPTH 16u
#define DRV_BAR0 0xFE000000u
#define DRV_BAR2 0xFD000000u
#define DRV_WORK 100u

struct drv {
	struct vfio_rig rig;
	struct serve_world *w;
	u8 *mem;
	int fd, ev[2];
	u32 tail[2], head[2];
	bool phase[2];
	u16 cid;
	u64 sq;			/* the I/O SQ's address ... */
	u8 *sq_at;		/* ... and where we see it */
};

static inline struct serve_world *drv_world(const struct serve_kind *kind, const char *const *sockets, u32 nr)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	struct serve_world *w;
	char why[512] = "";

	for (u32 i = 0; i < nr; i++)
		assert_true(opts_parse(&o->socket[i], sockets[i], "path"));
	o->nr_sockets = nr;
	w = kind->make(o, why, sizeof(why));
	if (!w)
		fail_msg("%s", why);
	free(o);
	return w;
}

/* The world goes on until it is quiet. */
static inline void drv_work(struct drv *d)
{
	for (u32 i = 0; d->w->due(d->w) && i < DRV_WORK; i++)
		assert_true(d->w->work(d->w));
	assert_false(d->w->due(d->w));
}

static inline u64 drv_rd(struct drv *d, u32 region, u64 off, u32 len)
{
	u64 val = 0;

	assert_int_equal(rig_read(&d->rig, region, off, &val, len), 0);
	return val;
}

static inline void drv_wr(struct drv *d, u32 region, u64 off, u64 val, u32 len)
{
	assert_int_equal(rig_write(&d->rig, region, off, &val, len), 0);
}

#define drv_cfg_rd(d, off, len) drv_rd(d, VFIO_PCI_CONFIG_REGION_INDEX, off, len)
#define drv_cfg_wr(d, off, val, len) drv_wr(d, VFIO_PCI_CONFIG_REGION_INDEX, off, val, len)

static inline u32 drv_cap(struct drv *d, u8 id)
{
	u32 off = (u32)drv_cfg_rd(d, PCIS_CAP_POINTER, 1);

	for (u32 i = 0; i < 48 && off; i++, off = (u32)drv_cfg_rd(d, off + 1, 1))
		if (drv_cfg_rd(d, off, 1) == id)
			return off;
	fail_msg("no capability %u", id);
	return 0;
}

/* A new guest: memory, interrupts, BARs. */
static inline void drv_connect(struct drv *d, struct serve_world *w, u32 i)
{
	*d = (struct drv){ .w = w };
	rig_start(&d->rig, w->device[i]);
	d->fd = rig_memory(DRV_MEM_BYTES, &d->mem);
	assert_int_equal(rig_dma_map(&d->rig, d->fd, 0, DRV_MEM, DRV_MEM_BYTES, 3), 0);
	for (u32 v = 0; v < 2; v++)
		d->ev[v] = eventfd(0, EFD_NONBLOCK);
	assert_int_equal(rig_irqs(&d->rig, VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 2, NULL, 0, d->ev, 2), 0);
}

static inline void drv_disconnect(struct drv *d)
{
	rig_leave(&d->rig);
	drv_work(d);
	close(d->fd);
	munmap(d->mem, DRV_MEM_BYTES);
	for (u32 v = 0; v < 2; v++)
		close(d->ev[v]);
}

static inline u16 drv_command(struct drv *d, u32 q, struct nvme_sqe sqe, u32 *dw0)
{
	struct nvme_cqe cqe;
	u8 *sq = q ? d->sq_at : d->mem + (DRV_ASQ - DRV_MEM);

	sqe.cid = ++d->cid;
	memcpy(sq + d->tail[q] * sizeof(sqe), &sqe, sizeof(sqe));
	d->tail[q] = (d->tail[q] + 1) % DRV_DEPTH;
	drv_wr(d, 0, NVME_REG_DBS + q * 8, d->tail[q], 4);
	drv_work(d);
	memcpy(&cqe, d->mem + ((q ? DRV_CQ : DRV_ACQ) - DRV_MEM) + d->head[q] * sizeof(cqe), sizeof(cqe));
	assert_int_equal(cqe.status & NVME_CQE_PHASE, d->phase[q]);
	assert_int_equal(cqe.cid, sqe.cid);
	assert_int_equal(rig_eventfd_count(d->ev[q]), 1);
	d->head[q] = (d->head[q] + 1) % DRV_DEPTH;
	d->phase[q] ^= d->head[q] == 0;
	drv_wr(d, 0, NVME_REG_DBS + q * 8 + 4, d->head[q], 4);
	if (dw0)
		*dw0 = cqe.dw0;
	return (cqe.status >> 1) & NVME_STATUS_CODE;
}

/* From whatever state to a controller that is ready, and empty admin queues. */
static inline void drv_enable(struct drv *d)
{
	drv_cfg_wr(d, PCIS_BAR(0), DRV_BAR0, 4);
	drv_cfg_wr(d, PCIS_BAR(1), 0, 4);
	drv_cfg_wr(d, PCIS_BAR(2), DRV_BAR2, 4);
	drv_cfg_wr(d, PCIS_BAR(3), 0, 4);
	drv_cfg_wr(d, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER, 2);
	drv_wr(d, 0, NVME_REG_CC, 0, 4);
	drv_work(d);
	memset(d->mem, 0, 0x4000);
	memset(d->tail, 0, sizeof(d->tail));
	memset(d->head, 0, sizeof(d->head));
	d->phase[0] = d->phase[1] = true;
	drv_wr(d, 0, NVME_REG_AQA, (DRV_DEPTH - 1) << 16 | (DRV_DEPTH - 1), 4);
	drv_wr(d, 0, NVME_REG_ASQ, DRV_ASQ, 8);
	drv_wr(d, 0, NVME_REG_ACQ, DRV_ACQ, 8);
	drv_wr(d, 0, NVME_REG_CC, NVME_CC_EN | 6 << 16 | 4 << 20, 4);
	drv_work(d);
	assert_int_equal(drv_rd(d, 0, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
}

/* The I/O queue pair, its SQ at @sq, which is seen at @sq_at. */
static inline void drv_queues(struct drv *d, u64 sq, u8 *sq_at)
{
	struct nvme_sqe cq_sqe = { .opcode = 0x05, .prp1 = DRV_CQ, .cdw10 = (DRV_DEPTH - 1) << 16 | 1, .cdw11 = 1 << 16 | 3 };
	struct nvme_sqe sq_sqe = { .opcode = 0x01, .prp1 = sq, .cdw10 = (DRV_DEPTH - 1) << 16 | 1, .cdw11 = 1 << 16 | 1 };

	assert_int_equal(drv_command(d, 0, (struct nvme_sqe){ .opcode = 0x09, .cdw10 = 7, .cdw11 = 0 }, NULL), 0);
	assert_int_equal(drv_command(d, 0, cq_sqe, NULL), 0);
	assert_int_equal(drv_command(d, 0, sq_sqe, NULL), 0);
	d->sq = sq;
	d->sq_at = sq_at;
}

static inline void drv_bring_up(struct drv *d)
{
	drv_enable(d);
	drv_queues(d, DRV_SQ, d->mem + (DRV_SQ - DRV_MEM));
}

/* Opcode 1 writes, 2 reads @blocks of 512 bytes at @addr. */
static inline u16 drv_io(struct drv *d, u8 opcode, u64 slba, u32 blocks, u64 addr)
{
	struct nvme_sqe sqe = { .opcode = opcode, .nsid = 1, .prp1 = addr, .prp2 = addr + 0x1000, .cdw10 = (u32)slba,
				.cdw11 = (u32)(slba >> 32), .cdw12 = blocks - 1 };

	return drv_command(d, 1, sqe, NULL);
}

static inline u16 drv_identify(struct drv *d, u32 cns)
{
	return drv_command(d, 0, (struct nvme_sqe){ .opcode = 0x06, .nsid = cns == 0, .prp1 = DRV_DATA, .cdw10 = cns }, NULL);
}

static inline u8 *drv_data(struct drv *d, u32 page)
{
	return d->mem + (DRV_DATA - DRV_MEM) + page * 4096;
}

#endif
