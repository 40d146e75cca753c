/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_VM_IO_H
#define SIM_VM_IO_H

/*
 * What runs in a guest above its NVMe driver: requests through the frontend, commands put
 * raw into a hardware queue by a kernel that has thrown its checks away, and the stock
 * driver with queues in its own memory. Calls are made in a task standing on the VM's vCPU.
 */

#include "vm/vm.h"
#include "spec/nvme.h"

/* A request or command on its way; embedded in whatever waits for it. */
struct vm_io {
	void (*done)(struct vm_io *io);	/* called when it completed; may be NULL */
	bool completed;
	u16 status;			/* NVMe status code, SCT << 8 | SC */
	u64 submitted_ps, completed_ps;
	struct port_waitq wait;
};

/* For drivers: completions of the VM's requests go to their vm_io; a vm_io is about to be submitted. */
void vm_io_attach(struct port_vm *vm);
void vm_io_begin(struct port_vm *vm, struct vm_io *io);

/* Bring up the frontend on all queues (or @queues of them, 0: all), @depth entries (0: most). 0 or -errno. */
int vm_frontend_start(struct port_vm *vm, u32 queues, u32 depth);
void vm_frontend_stop(struct port_vm *vm);

/* For calls into the frontend itself: it stays until left. NULL, and nothing to leave, where it is not up. */
struct liov_frontend *vm_frontend_enter(struct port_vm *vm);
void vm_frontend_leave(struct port_vm *vm);

/* A checked request through the frontend: -errno as liov_frontend_submit(). */
int vm_submit(struct port_vm *vm, u32 queue, struct liov_request *rq, struct vm_io *io);

/*
 * A raw command: only cid is filled in. Everything else goes to the SQ page and the doorbell
 * as it stands. -EAGAIN when the ring is full.
 */
int vm_submit_raw(struct port_vm *vm, u32 queue, struct nvme_sqe *sqe, struct vm_io *io);

/* Wait for completion: false after @timeout_ps. */
bool vm_io_wait(struct vm_io *io, u64 timeout_ps);

/* The frontend's admin queue with a command of the caller's own; status as liov_frontend_admin(). Data pages: the caller's guest memory in prp1. */
int vm_admin(struct port_vm *vm, struct nvme_sqe *sqe, u32 *dw0);

/* --- an NVMe driver that has never heard of LightIOV: queues in guest memory, doorbells in BAR 0 --- */
struct stock_driver;
/* @queues 0: all; @depth 0: 64 entries. 0 or -errno. */
int stock_start(struct port_vm *vm, u32 queues, u32 depth, struct stock_driver **out);
void stock_stop(struct stock_driver *d);
int stock_submit(struct stock_driver *d, u32 queue, struct nvme_sqe *sqe, struct vm_io *io);
/* Admin command: 0, -ETIMEDOUT or the positive status. */
int stock_admin(struct stock_driver *d, struct nvme_sqe *sqe, u32 *dw0);
u64 stock_blocks(const struct stock_driver *d);

#endif
