// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a VM, or of one of its queues. The order is the protocol, and no step relies on
 * the guest:
 *
 *  1. pages and doorbells revoked: no vCPU reaches the hardware (LIF-05, EPT-01)
 *  2. SQs deleted: nothing of the VM is in flight at the controller (LIF-01)
 *  3. CQs deleted, vectors masked and unposted: no completion, no interrupt (INT-10)
 *  4. IOVAs unmapped and synced, then memory unpinned (IOM-01)
 *  5. queue memory zeroed, unmapped, synced, put; LBAs back to the pool, wiped for the next owner
 *
 * Where step 2 or 3 failed the queue is quarantined. The VM's memory is safe all the same,
 * since step 4 stands between; but numbers are not: an IOVA or an LBA that a late command
 * still names must not become somebody else's. They wait in a grave for a controller reset,
 * with the queue and its memory, which the controller may still read and write.
 */

#include "internal.h"

static void give_back(struct liov_extents *x, struct liov_range *r)
{
	if (r->count != 0)
		(void)liov_extents_give(x, r->start, r->count);
	*r = (struct liov_range){ 0, 0 };
}

static void vm_numbers_release(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	struct liov_grave *g;

	/* A namespace that could not be deleted keeps its blocks. */
	if (LIOV_CHECK(backend_siov_quiet, !vm->unquiet) && liov_siov_close(be, &vm->pasid, &vm->nsid))
		vm->unquiet = true;
	port_mutex_lock(&be->lock);
	g = vm->grave;
	vm->grave = NULL;
	if (vm->unquiet && g && LIOV_STEP(backend_grave)) {
		g->vm_id = vm->cfg.id;
		g->lba = vm->lba;
		g->window = vm->window;
		g->pasid = vm->pasid;
		g->nsid = vm->nsid;
		g->next = be->graves;
		be->graves = g;
		g = NULL;
	} else {
		give_back(&be->lbas, &vm->lba);
		give_back(&be->windows, &vm->window);
	}
	for (u32 i = 0; i < LIOV_VMS_MAX; i++)
		if (be->vms[i] == vm)
			be->vms[i] = NULL;
	port_mutex_unlock(&be->lock);
	if (g)
		port_free(be->home, g);
	if (vm->nrd)
		port_free(be->home, vm->nrd);
	vm->nrd = NULL;
}

void liov_graves_open(struct liov_backend *be)
{
	port_mutex_lock(&be->lock);
	while (be->graves) {
		struct liov_grave *g = be->graves;

		be->graves = g->next;
		/* One that cannot be deleted now stays, and with it whoever would be given its blocks is refused. */
		(void)liov_siov_close(be, &g->pasid, &g->nsid);
		give_back(&be->lbas, &g->lba);
		give_back(&be->windows, &g->window);
		port_free(be->home, g);
	}
	port_mutex_unlock(&be->lock);
}

void liov_graves_close_namespaces(struct liov_backend *be)
{
	u32 none = LIOV_NO_PASID;

	/* The PASID is for the queues, which are quiet only after the controller was disabled. */
	for (struct liov_grave *g = be->graves; g; g = g->next)
		(void)liov_siov_close(be, &none, &g->nsid);
}

/* Back to the pool, or an orphan until the controller was reset. */
static void vm_queue_drop(struct liov_vm *vm, u32 index)
{
	struct liov_hwq *q = vm->queue[index];
	unsigned long flags;

	if (!q)
		return;
	flags = port_lock_irqsave(&vm->page_lock);
	vm->queue[index] = NULL;
	port_unlock_irqrestore(&vm->page_lock, flags);
	if (q->state == LIOV_HWQ_QUARANTINED) {
		flags = port_lock_irqsave(&q->lock);
		q->vm = NULL;
		q->orphaned = true;
		port_unlock_irqrestore(&q->lock, flags);
	} else {
		liov_hwq_release(q);
	}
}

static void vm_hide(struct liov_vm *vm)
{
	unsigned long flags = port_lock_irqsave(&vm->page_lock);

	vm->live = false;
	vm->dying = true;
	port_unlock_irqrestore(&vm->page_lock, flags);
}

void liov_vm_dismantle(struct liov_vm *vm)
{
	port_mutex_lock(&vm->lock);
	vm_hide(vm);
	port_mutex_unlock(&vm->lock);
	if (vm->has_mediator)
		liov_mediator_pause(vm);

	port_mutex_lock(&vm->lock);
	if (vm->has_device)
		liov_vm_revoke_from(vm, 0);
	(void)liov_vm_queues_shut(vm, (1u << vm->cfg.nr_queues) - 1);
	port_mutex_unlock(&vm->lock);
	if (vm->has_mediator)
		liov_mediator_fini(vm);
	vm->has_mediator = false;

	port_mutex_lock(&vm->lock);
	liov_vm_mem_release_all(vm);
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		vm_queue_drop(vm, i);
	if (vm->has_info_page)
		port_pages_put(&vm->info_page);
	vm->has_info_page = false;
	vm->has_device = false;
	vm_numbers_release(vm);
	port_mutex_unlock(&vm->lock);
}

void liov_vm_destroy(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	struct liov_range lba;

	port_mutex_lock(&be->control);
	lba = vm->lba;
	if (vm->live) {
		liov_vm_dismantle(vm);
		port_trace(be->home, &(struct liov_trace){ LIOV_TRACE_VM, LIOV_BACKEND, vm->cfg.id, 0, lba.start, lba.count });
	}
	port_mutex_unlock(&be->control);
}

int liov_vm_queue_release(struct liov_vm *vm, u32 index)
{
	struct liov_backend *be = vm->be;
	int err = -EINVAL;

	port_mutex_lock(&be->control);
	port_mutex_lock(&vm->lock);
	/* The mediator's hardware queue is its own affair. */
	if (vm->live && be->cfg.policy != LIOV_POLICY_MEDIATED && index < vm->cfg.nr_queues && vm->queue[index]) {
		err = liov_vm_queues_shut(vm, 1u << index);
		vm_queue_drop(vm, index);
	}
	port_mutex_unlock(&vm->lock);
	port_mutex_unlock(&be->control);
	return err;
}
