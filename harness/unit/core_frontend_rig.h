/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_CORE_FRONTEND_RIG_H
#define HARNESS_UNIT_CORE_FRONTEND_RIG_H

/*
 * A VM whose frontend is under test: what it completes to its caller, and the I/O commands
 * as the SSD fetched them.
 */

#include "core_world.h"
#include "liov/frontend.h"
#include "spec/nvme.h"

#define RIG_RAM		(1ull << 32)	/* world_vm() 1: 64 MiB from here */
#define RIG_RAM_BYTES	(64ull << 20)
#define RIG_LOG		512
#define RIG_TIMEOUT_NS	3000000000ull

struct rig {
	struct port_vm *vm;
	struct liov_frontend fe;
	struct { void *cookie; u16 status; } done[RIG_LOG];
	u32 nr_done;
	struct nvme_sqe sqe[RIG_LOG];
	u32 nr_sqe;
	u32 doorbells;
};

static void rig_completed(void *opaque, void *cookie, u16 status)
{
	struct rig *r = opaque;

	if (r->nr_done < RIG_LOG) {
		r->done[r->nr_done].cookie = cookie;
		r->done[r->nr_done++].status = status;
	}
}

static void rig_event(void *opaque, const struct trace_event *ev)
{
	struct rig *r = opaque;

	if (ev->kind == TRACE_DOORBELL)
		r->doorbells += ev->c >= 2;
	else if (ev->a != 0 && r->nr_sqe < RIG_LOG)
		memcpy(&r->sqe[r->nr_sqe++], ev->data, sizeof(r->sqe[0]));
}

/* A VM with @queues pairs, the task standing on its vCPU; the frontend is not started. */
static inline void rig_vm(struct world *w, struct rig *r, u32 queues)
{
	u64 mask[2] = { 0 };
	int err;

	memset(r, 0, sizeof(*r));
	err = world_vm(w, 1, queues, &r->vm);
	CHECK_INT(err, 0);
	if (err)
		abort();
	trace_mask_add(mask, TRACE_SQE_FETCH);
	trace_mask_add(mask, TRACE_DOORBELL);
	machine_listen(w->m, mask, rig_event, r);
	r->vm->guest.complete = rig_completed;
	r->vm->guest.complete_opaque = r;
	task_current()->gvcpu = &r->vm->gv[0];
}

static inline int rig_up(struct rig *r, u32 queues, u32 depth)
{
	struct liov_fe_config cfg = { .nr_queues = queues, .depth = depth, .timeout_ns = RIG_TIMEOUT_NS };

	return liov_frontend_start(&r->fe, &r->vm->guest, &cfg);
}

static inline void rig_start(struct world *w, struct rig *r, u32 queues, u32 depth)
{
	int err;

	rig_vm(w, r, queues);
	err = rig_up(r, queues, depth);
	CHECK_INT(err, 0);
	if (err)
		abort();
	r->nr_sqe = 0;
}

/* Until @n requests in all have completed; false after 100 ms. */
static inline bool rig_wait(struct rig *r, u32 n)
{
	u64 end = sched_now(r->vm->m->sched) + 100 * PS_PER_MS;

	while (r->nr_done < n && sched_now(r->vm->m->sched) < end)
		vm_idle(&r->vm->gv[0], 10 * PS_PER_US);
	return r->nr_done >= n;
}

static inline int rig_rw(struct rig *r, u32 q, enum liov_op op, u64 slba, u32 blocks, gpa_t buf, void *cookie)
{
	struct liov_segment seg = { buf, blocks * 512 };
	struct liov_request rq = {
		.op = op, .slba = { slba }, .blocks = blocks, .nr_segments = 1, .segments = &seg, .cookie = cookie,
	};

	return liov_frontend_submit(&r->fe, q, &rq);
}

#endif
