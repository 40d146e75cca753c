// SPDX-License-Identifier: GPL-2.0
/*
 * Reset of the controller that all share: an outage with a bound. Everybody's way to it is
 * closed before, so that nobody rings a queue that is not there; what was quarantined is
 * clean after, since nothing survives CC.EN = 0.
 */

#include "internal.h"

/* The VM can neither reach the hardware nor have anything created there: its lock was held once since resetting was set. */
static void reset_close_vm(struct liov_vm *vm)
{
	if (vm->has_mediator)
		liov_mediator_pause(vm);
	port_mutex_lock(&vm->lock);
	/* Pages of virtual queues are the mediator's: a guest's stores there are not lost in a reset of the hardware. */
	if (vm->has_mediator)
		liov_vm_close_queues(vm);
	else
		/* The info page says the same afterwards. It stays: a touch would map it while it is being taken away. */
		liov_vm_revoke_from(vm, LIOV_CMB_DOORBELLS);
	port_mutex_unlock(&vm->lock);
}

static void reset_open_vm(struct liov_vm *vm)
{
	port_mutex_lock(&vm->lock);
	vm->unquiet = false;
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		if (vm->queue[i])
			liov_hwq_set_closed(vm->queue[i], false, false);
	if (!vm->has_mediator)
		liov_device_announce_reset(vm);
	port_mutex_unlock(&vm->lock);
	if (vm->has_mediator)
		liov_mediator_replay(vm);
}

/* The controller is lost: no queue comes back, and what the VM has under way is failed. */
static void reset_lost_vm(struct liov_vm *vm)
{
	if (vm->has_mediator) {
		liov_mediator_replay(vm);	/* finds no queue, and fails what it holds */
		return;
	}
	/* Its frontend asks for its queues anew, gets none, and fails what it holds. */
	port_mutex_lock(&vm->lock);
	liov_device_announce_reset(vm);
	port_mutex_unlock(&vm->lock);
}

/* The controller has forgotten all queues; so do we, and let go of those that nobody has. */
static void reset_queues(struct liov_backend *be)
{
	for (u32 qid = 1; qid <= be->info.io_queues; qid++) {
		struct liov_hwq *q = &be->hwq[qid];

		liov_hwq_forget(q);
		if (q->orphaned)
			liov_hwq_release(q);
	}
	port_mutex_lock(&be->lock);
	be->nr_quarantined = 0;
	port_mutex_unlock(&be->lock);
	liov_graves_open(be);
}

static int reset_host_queues(struct liov_backend *be)
{
	int ret = 0;

	for (u32 qid = 1; qid <= be->info.io_queues; qid++) {
		int err = be->hwq[qid].io ? liov_hostio_start(&be->hwq[qid]) : 0;

		if (err)
			ret = err < 0 ? err : -EIO;
	}
	return ret;
}

static void reset_trace(struct liov_backend *be, u32 code)
{
	port_trace(be->home, &(struct liov_trace){ LIOV_TRACE_RESET, LIOV_BACKEND, LIOV_HOST_VM, code, 0, 0 });
}

void liov_backend_reset_expected(struct liov_backend *be)
{
	port_mutex_lock(&be->admin.lock);
	be->admin.dead = true;
	port_mutex_unlock(&be->admin.lock);
}

int liov_backend_reset(struct liov_backend *be)
{
	int err;

	port_mutex_lock(&be->control);
	if (!be->started) {
		port_mutex_unlock(&be->control);
		return -EINVAL;
	}
	reset_trace(be, 1);
	be->resetting = true;
	for (u32 i = 0; i < LIOV_VMS_MAX; i++)
		if (be->vms[i])
			reset_close_vm(be->vms[i]);
	for (u32 qid = 1; qid <= be->info.io_queues; qid++)
		if (be->hwq[qid].io)
			liov_hostio_abort(&be->hwq[qid]);

	err = liov_ctrl_reset(be);
	if (!err) {
		reset_queues(be);
		err = reset_host_queues(be);
		liov_admin_post_aers(be);
	} else {
		/* Lost. Queues stay as they are, closed: whoever ends finds them unquiet. */
		liov_ctrl_halt(be);
	}
	be->resetting = false;
	for (u32 i = 0; i < LIOV_VMS_MAX; i++) {
		if (!be->vms[i])
			continue;
		if (!err)
			reset_open_vm(be->vms[i]);
		else
			reset_lost_vm(be->vms[i]);
	}
	reset_trace(be, 0);
	port_mutex_unlock(&be->control);
	return err;
}
