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
	struct liov_frontend *fe;
	int ret;

	if (vm->fe || vm->fe_changing)
		return -EBUSY;
	vm_io_attach(vm);
	fe = sim_alloc(&vm->guest.home, sizeof(*fe));
	if (!fe)
		return -ENOMEM;
	vm->fe_changing = true;
	ret = liov_frontend_probe(&vm->guest);
	if (ret == 0)
		ret = liov_frontend_start(fe, &vm->guest, &cfg);
	vm->fe_changing = false;
	if (ret)
		sim_free(&vm->guest.home, fe);
	else
		vm->fe = fe;
	return ret;
}

/* Any of a guest's tasks may ask for anything at any time: the frontend goes when none is in it. */
void vm_frontend_stop(struct port_vm *vm)
{
	struct liov_frontend *fe = vm->fe;

	if (!fe)
		return;
	vm->fe = NULL;
	vm->fe_changing = true;
	while (vm->fe_users)
		task_wait(&vm->fe_idle, TASK_FOREVER);
	liov_frontend_stop(fe);
	sim_free(&vm->guest.home, fe);
	vm->fe_changing = false;
}

struct liov_frontend *vm_frontend_enter(struct port_vm *vm)
{
	if (vm->fe)
		vm->fe_users++;
	return vm->fe;
}

void vm_frontend_leave(struct port_vm *vm)
{
	assert(vm->fe_users);
	if (--vm->fe_users == 0)
		task_wake_all(&vm->fe_idle);
}

int vm_submit(struct port_vm *vm, u32 queue, struct liov_request *rq, struct vm_io *io)
{
	struct liov_frontend *fe = vm_frontend_enter(vm);
	int ret;

	if (!fe)
		return -ENODEV;
	vm_io_begin(vm, io);
	rq->cookie = io;
	ret = liov_frontend_submit(fe, queue, rq);
	vm_frontend_leave(vm);
	return ret;
}

/* What a patched driver does: the ring is kept in order, nothing is looked at. */
int vm_submit_raw(struct port_vm *vm, u32 queue, struct nvme_sqe *sqe, struct vm_io *io)
{
	struct liov_frontend *fe = vm->fe;
	struct liov_fe_queue *q;
	unsigned long flags;
	int ret = 0;
	u16 tag;

	if (!fe || queue >= fe->nr_queues)
		return -ENODEV;
	vm_frontend_enter(vm);
	vm_io_begin(vm, io);
	q = &fe->queue[queue];
	flags = port_lock_irqsave(&q->lock);
	if (!q->live || q->nr_free == 0) {
		ret = q->live ? -EAGAIN : -ENODEV;
		goto out;
	}
	tag = q->free_tags[--q->nr_free];
	q->tags[tag].busy = true;
	q->tags[tag].cookie = io;
	sqe->cid = tag;
	port_shm_copy_out(&fe->cmb, q->sq + q->sq_tail * 64u, sqe, sizeof(*sqe));
	q->sq_tail = q->sq_tail + 1 == q->entries ? 0 : q->sq_tail + 1;
	port_dma_wmb(fe->home);
	port_mmio_wr32(q->doorbell_in_cmb ? &fe->cmb_regs : &fe->bar0, q->sq_doorbell, q->sq_tail);
out:
	port_unlock_irqrestore(&q->lock, flags);
	vm_frontend_leave(vm);
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
	struct liov_frontend *fe = vm_frontend_enter(vm);
	int ret;

	if (!fe)
		return -ENODEV;
	ret = liov_frontend_admin(fe, sqe, dw0);
	vm_frontend_leave(vm);
	return ret;
}
