// SPDX-License-Identifier: GPL-2.0
/*
 * A small NVMe driver by the book, with queues in guest memory: what runs in a VM that was
 * never changed for LightIOV. Works under the mediated policy only.
 */

#include "vm/io.h"

#include <assert.h>
#include <stdlib.h>

#define ADMIN_ENTRIES 16u
#define QUEUES_MAX LIOV_VM_QUEUES_MAX
#define STOCK_DEPTH 64u
#define TIMEOUT_NS 3000000000ull
#define READY_POLLS 4000u

struct stock_queue {
	struct stock_driver *d;
	u32 qid, entries;
	struct port_shm sq, cq;
	gpa_t sq_gpa, cq_gpa;
	u32 tail, head;
	bool phase;
	u32 nr_free;
	u16 free[LIOV_QUEUE_DEPTH_MAX];
	struct vm_io *io[LIOV_QUEUE_DEPTH_MAX];
};

struct stock_driver {
	struct port_vm *vm;
	struct port_mmio bar0;
	struct stock_queue admin, q[QUEUES_MAX];
	u32 nr_queues, stride;
	struct port_shm data;
	gpa_t data_gpa;
	u64 blocks;
	struct port_event admin_done;
	u32 admin_dw0;
	u16 admin_status;
};

static void ring(struct stock_queue *q, bool cq, u32 val)
{
	port_dma_wmb(&q->d->vm->guest.home);
	port_mmio_wr32(&q->d->bar0, NVME_REG_DBS + (2 * q->qid + cq) * q->d->stride, val);
}

static int queue_alloc(struct stock_driver *d, struct stock_queue *q, u32 qid, u32 entries)
{
	struct port_guest *g = &d->vm->guest;
	u32 i;

	q->d = d;
	q->qid = qid;
	q->entries = entries;
	q->phase = true;
	for (i = 0; i + 1 < entries; i++)
		q->free[q->nr_free++] = (u16)i;
	if (sim_guest_dma_alloc(g, (entries * 64 + 4095) / 4096, &q->sq, &q->sq_gpa))
		return -ENOMEM;
	return sim_guest_dma_alloc(g, (entries * 16 + 4095) / 4096, &q->cq, &q->cq_gpa);
}

static bool next_cqe(struct stock_queue *q, struct nvme_cqe *cqe)
{
	port_shm_copy_in(&q->cq, q->head * 16, cqe, sizeof(*cqe));
	if (!!(cqe->status & NVME_CQE_PHASE) != q->phase)
		return false;
	if (++q->head == q->entries) {
		q->head = 0;
		q->phase = !q->phase;
	}
	return true;
}

static void io_irq(void *arg)
{
	struct stock_queue *q = arg;
	struct nvme_cqe cqe;
	u32 n;

	for (n = 0; n < q->entries && next_cqe(q, &cqe); n++) {
		struct vm_io *io = cqe.cid < q->entries ? q->io[cqe.cid] : NULL;

		if (!io)
			continue;
		q->io[cqe.cid] = NULL;
		q->free[q->nr_free++] = cqe.cid;
		q->d->vm->guest.complete(q->d->vm->guest.complete_opaque, io, (u16)(cqe.status >> 1 & NVME_STATUS_CODE));
	}
	if (n)
		ring(q, true, q->head);
}

static void admin_irq(void *arg)
{
	struct stock_driver *d = arg;
	struct nvme_cqe cqe;
	u32 n;

	for (n = 0; n < ADMIN_ENTRIES && next_cqe(&d->admin, &cqe); n++) {
		d->admin_status = (u16)(cqe.status >> 1 & NVME_STATUS_CODE);
		d->admin_dw0 = cqe.dw0;
		port_event_signal(&d->admin_done);
	}
	if (n)
		ring(&d->admin, true, d->admin.head);
}

static void put(struct stock_queue *q, const struct nvme_sqe *sqe)
{
	port_shm_copy_out(&q->sq, q->tail * 64, sqe, sizeof(*sqe));
	q->tail = q->tail + 1 == q->entries ? 0 : q->tail + 1;
	ring(q, false, q->tail);
}

int stock_admin(struct stock_driver *d, struct nvme_sqe *sqe, u32 *dw0)
{
	port_event_reset(&d->admin_done);
	put(&d->admin, sqe);
	if (!port_event_wait(&d->admin_done, TIMEOUT_NS))
		return -ETIMEDOUT;
	if (dw0)
		*dw0 = d->admin_dw0;
	return d->admin_status;
}

static int enable(struct stock_driver *d)
{
	u32 i;

	port_mmio_wr32(&d->bar0, NVME_REG_CC, 0);
	for (i = 0; port_mmio_rd32(&d->bar0, NVME_REG_CSTS) & NVME_CSTS_RDY; i++) {
		if (i == READY_POLLS)
			return -ETIMEDOUT;
		port_sleep_ns(&d->vm->guest.home, 500000);
	}
	port_mmio_wr32(&d->bar0, NVME_REG_AQA, (ADMIN_ENTRIES - 1) | (ADMIN_ENTRIES - 1) << 16);
	port_mmio_wr64(&d->bar0, NVME_REG_ASQ, d->admin.sq_gpa.v);
	port_mmio_wr64(&d->bar0, NVME_REG_ACQ, d->admin.cq_gpa.v);
	port_mmio_wr32(&d->bar0, NVME_REG_CC, (u32)(NVME_CC_EN | FIELD_PREP(NVME_CC_IOSQES, NVME_CC_IOSQES_64) |
						    FIELD_PREP(NVME_CC_IOCQES, NVME_CC_IOCQES_16)));
	for (i = 0; !(port_mmio_rd32(&d->bar0, NVME_REG_CSTS) & NVME_CSTS_RDY); i++) {
		if (i == READY_POLLS || port_mmio_rd32(&d->bar0, NVME_REG_CSTS) & NVME_CSTS_CFS)
			return -EIO;
		port_sleep_ns(&d->vm->guest.home, 500000);
	}
	return 0;
}

static int create_queue(struct stock_driver *d, u32 i, u32 depth)
{
	struct stock_queue *q = &d->q[i];
	struct nvme_sqe sqe = { .opcode = NVME_ADM_CREATE_CQ };
	int ret = queue_alloc(d, q, i + 1, depth);

	if (ret)
		return ret;
	ret = sim_guest_irq_request(&d->vm->guest, q->qid, io_irq, q);
	if (ret)
		return ret;
	sqe.prp1 = q->cq_gpa.v;
	sqe.cdw10 = q->qid | (depth - 1) << 16;
	sqe.cdw11 = (u32)(NVME_QUEUE_PC | NVME_CQ_IEN) | q->qid << 16;
	ret = stock_admin(d, &sqe, NULL);
	if (ret)
		return ret < 0 ? ret : -EIO;
	sqe = (struct nvme_sqe){ .opcode = NVME_ADM_CREATE_SQ, .prp1 = q->sq_gpa.v };
	sqe.cdw10 = q->qid | (depth - 1) << 16;
	sqe.cdw11 = (u32)NVME_QUEUE_PC | q->qid << 16;
	ret = stock_admin(d, &sqe, NULL);
	return ret <= 0 ? ret : -EIO;
}

static int bring_up(struct stock_driver *d, u32 queues, u32 depth)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_IDENTIFY, .nsid = 1, .cdw10 = NVME_CNS_NS };
	u32 i, dw0;
	int ret;

	ret = queue_alloc(d, &d->admin, 0, ADMIN_ENTRIES);
	if (ret == 0)
		ret = sim_guest_dma_alloc(&d->vm->guest, 1, &d->data, &d->data_gpa);
	if (ret == 0)
		ret = sim_guest_irq_request(&d->vm->guest, 0, admin_irq, d);
	if (ret == 0)
		ret = enable(d);
	if (ret)
		return ret;
	sqe.prp1 = d->data_gpa.v;
	ret = stock_admin(d, &sqe, NULL);
	if (ret)
		return ret < 0 ? ret : -EIO;
	d->blocks = port_shm_rd64(&d->data, NVME_ID_NS_NSZE);
	sqe = (struct nvme_sqe){ .opcode = NVME_ADM_SET_FEATURES, .cdw10 = NVME_FEAT_NUM_QUEUES };
	sqe.cdw11 = (queues - 1) | (queues - 1) << 16;
	ret = stock_admin(d, &sqe, &dw0);
	if (ret)
		return ret < 0 ? ret : -EIO;
	for (i = 0; i < queues && i <= (dw0 & 0xFFFF); i++) {
		ret = create_queue(d, i, depth);
		if (ret)
			return ret;
		d->nr_queues++;
	}
	return 0;
}

int stock_start(struct port_vm *vm, u32 queues, u32 depth, struct stock_driver **out)
{
	struct stock_driver *d;
	gpa_t cmb_gpa;
	struct port_shm cmb;
	struct port_mmio cmb_regs;
	u64 cmb_size;
	u32 command;
	int ret;

	queues = queues ? queues : vm->cfg.liov.nr_queues;
	depth = depth ? depth : STOCK_DEPTH;
	if (queues > QUEUES_MAX || depth < 2 || depth > LIOV_QUEUE_DEPTH_MAX)
		return -EINVAL;
	d = sim_alloc(&vm->guest.home, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->vm = vm;
	port_event_init(&vm->guest.home, &d->admin_done);
	vm_io_attach(vm);
	sim_guest_map(&vm->guest, &d->bar0, &cmb, &cmb_regs, &cmb_gpa, &cmb_size);
	command = sim_guest_cfg_rd32(&vm->guest, PCIS_COMMAND) & 0xFFFF;
	sim_guest_cfg_wr32(&vm->guest, PCIS_COMMAND, command | PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER);
	d->stride = 4u << FIELD_GET(NVME_CAP_DSTRD, port_mmio_rd64(&d->bar0, NVME_REG_CAP));
	ret = bring_up(d, queues, depth);
	if (ret) {
		stock_stop(d);
		return ret;
	}
	*out = d;
	return 0;
}

void stock_stop(struct stock_driver *d)
{
	u32 i;

	port_mmio_wr32(&d->bar0, NVME_REG_CC, 0);
	for (i = 0; i < d->nr_queues; i++)
		sim_guest_irq_free(&d->vm->guest, d->q[i].qid);
	sim_guest_irq_free(&d->vm->guest, 0);
	sim_free(&d->vm->guest.home, d);
}

int stock_submit(struct stock_driver *d, u32 queue, struct nvme_sqe *sqe, struct vm_io *io)
{
	struct stock_queue *q = &d->q[queue];

	if (queue >= d->nr_queues)
		return -ENODEV;
	if (q->nr_free == 0)
		return -EAGAIN;
	vm_io_begin(d->vm, io);
	sqe->cid = q->free[--q->nr_free];
	q->io[sqe->cid] = io;
	put(q, sqe);
	return 0;
}

u64 stock_blocks(const struct stock_driver *d)
{
	return d->blocks;
}
