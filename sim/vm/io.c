// SPDX-License-Identifier: GPL-2.0
/* Requests and raw commands of a guest through its LightIOV frontend. */

#include "vm/io.h"

#include <assert.h>
#include <stdlib.h>

#define FRONTEND_TIMEOUT_NS 3000000000ull

static void vm_io_completed(void *opaque, void *cookie, u16 status)
{
	struct port_vm *vm = opaque;
	struct vm_io *io = cookie;

	io->completed = true;
	io->status = status;
	io->completed_ps = sched_now(vm->m->sched);
	task_wake_all(&io->wait);
	if (io->done)
		io->done(io);
}

void vm_io_begin(struct port_vm *vm, struct vm_io *io)
{
	io->completed = false;
	io->status = 0;
	io->wait = (struct port_waitq){ 0 };
	io->submitted_ps = sched_now(vm->m->sched);
}

void vm_io_attach(struct port_vm *vm)
{
	vm->guest.complete = vm_io_completed;
	vm->guest.complete_opaque = vm;
}

int vm_frontend_start(struct port_vm *vm, u32 queues, u32 depth)
{
	struct liov_fe_config cfg = { .nr_queues = queues, .depth = depth, .timeout_ns = FRONTEND_TIMEOUT_NS };
	int ret;

	if (vm->fe)
		return -EBUSY;
	vm_io_attach(vm);
	vm->fe = sim_alloc(&vm->guest.home, sizeof(*vm->fe));
	if (!vm->fe)
		return -ENOMEM;
	ret = liov_frontend_probe(&vm->guest);
	if (ret == 0)
		ret = liov_frontend_start(vm->fe, &vm->guest, &cfg);
	if (ret) {
		sim_free(&vm->guest.home, vm->fe);
		vm->fe = NULL;
	}
	return ret;
}

void vm_frontend_stop(struct port_vm *vm)
{
	if (!vm->fe)
		return;
	liov_frontend_stop(vm->fe);
	sim_free(&vm->guest.home, vm->fe);
	vm->fe = NULL;
}

int vm_submit(struct port_vm *vm, u32 queue, struct liov_request *rq, struct vm_io *io)
{
	if (!vm->fe)
		return -ENODEV;
	vm_io_begin(vm, io);
	rq->cookie = io;
	return liov_frontend_submit(vm->fe, queue, rq);
}

/* What a patched driver does: the ring is kept in order, nothing is looked at. */
int vm_submit_raw(struct port_vm *vm, u32 queue, struct nvme_sqe *sqe, struct vm_io *io)
{
	struct liov_fe_queue *q;
	unsigned long flags;
	int ret = 0;
	u16 tag;

	if (!vm->fe || queue >= vm->fe->nr_queues)
		return -ENODEV;
	vm_io_begin(vm, io);
	q = &vm->fe->queue[queue];
	flags = port_lock_irqsave(&q->lock);
	if (!q->live || q->nr_free == 0) {
		ret = q->live ? -EAGAIN : -ENODEV;
		goto out;
	}
	tag = q->free_tags[--q->nr_free];
	q->tags[tag].busy = true;
	q->tags[tag].cookie = io;
	sqe->cid = tag;
	port_shm_copy_out(&vm->fe->cmb, q->sq + q->sq_tail * 64u, sqe, sizeof(*sqe));
	q->sq_tail = q->sq_tail + 1 == q->entries ? 0 : q->sq_tail + 1;
	port_dma_wmb(vm->fe->home);
	port_mmio_wr32(q->doorbell_in_cmb ? &vm->fe->cmb_regs : &vm->fe->bar0, q->sq_doorbell, q->sq_tail);
out:
	port_unlock_irqrestore(&q->lock, flags);
	return ret;
}

bool vm_io_wait(struct vm_io *io, u64 timeout_ps)
{
	struct task *t = task_current();
	u64 end;

	assert(t);
	end = timeout_ps == TASK_FOREVER ? TASK_FOREVER : sched_now(t->sched) + timeout_ps;
	while (!io->completed) {
		u64 now = sched_now(t->sched);

		if (now >= end || !task_wait(&io->wait, end == TASK_FOREVER ? TASK_FOREVER : end - now))
			return io->completed;
	}
	return true;
}

int vm_admin(struct port_vm *vm, struct nvme_sqe *sqe, u32 *dw0)
{
	return vm->fe ? liov_frontend_admin(vm->fe, sqe, dw0) : -ENODEV;
}
