// SPDX-License-Identifier: GPL-2.0
/*
 * A VM's hardware queues under paper and nrd, and the interrupts behind its virtual vectors.
 * Whatever is deleted is taken from the vCPUs first: a doorbell written after the controller
 * forgot the queue could be the next owner's.
 */

#include "internal.h"

#define ALL_QUEUES ((1u << LIOV_VM_QUEUES_MAX) - 1)

static struct liov_hwq *vm_queue(const struct liov_vm *vm, u32 index)
{
	return index < vm->cfg.nr_queues ? vm->queue[index] : NULL;
}

static void vm_revoke(struct liov_vm *vm, u64 off, u64 len_bytes)
{
	if (LIOV_STEP(backend_revoke))
		port_vm_revoke(vm->port, off, len_bytes);
	liov_guard(vm->be, LIOV_BACKEND, vm->cfg.id, LIOV_GUARD_PAGES_REVOKED, off, len_bytes);
}

/* The shared doorbell page goes too; whoever has another live queue gets it again. */
static void vm_revoke_doorbells(struct liov_vm *vm)
{
	if (!vm->be->own_doorbell_pages)
		vm_revoke(vm, LIOV_CMB_DOORBELLS, SPEC_PAGE_SIZE);
}

static u64 slot(u32 index, u64 off)
{
	return LIOV_CMB_SLOTS + (u64)index * LIOV_CMB_SLOT_STRIDE + off;
}

/* A queue is there, and with it maybe the page of doorbells. */
static void vm_reveal(struct liov_vm *vm, u32 index)
{
	port_vm_reveal(vm->port, slot(index, 0), LIOV_CMB_SLOT_STRIDE);
	port_vm_reveal(vm->port, LIOV_CMB_DOORBELLS, SPEC_PAGE_SIZE);
}

/* --- vectors --- */

static bool msi_same(const struct liov_msi *a, const struct liov_msi *b)
{
	return a->addr == b->addr && a->data == b->data && a->vector == b->vector;
}

/* The physical vector of one queue as its virtual one stands. Masked, the controller keeps the message pending. */
static void queue_vector_update(struct liov_vm *vm, struct liov_hwq *q)
{
	struct liov_msi msi;

	if (!q->cq_live || !q->irq_enabled || !liov_device_vector_open(vm, q->vvec, &msi)) {
		liov_hwq_mask(q);
		return;
	}
	if (q->vector_posted && !msi_same(&q->posted_msi, &msi)) {
		liov_hwq_mask(q);
		liov_hwq_unpost(q);
	}
	/* Whatever the home does not post, the handler forwards. */
	if (!q->vector_posted && port_irq_post(vm->be->host, q->vector, vm->port, &msi) == 0) {
		q->vector_posted = true;
		q->posted_msi = msi;
	}
	liov_hwq_unmask(q);
}

void liov_vm_vector_update(struct liov_vm *vm, u16 vvec)
{
	/* While the controller is being reset its queues are closed and masked, and go without the VM's lock. */
	if (vm->be->cfg.policy == LIOV_POLICY_MEDIATED || vm->be->resetting)
		return;
	for (u32 i = 0; i < vm->cfg.nr_queues; i++) {
		struct liov_hwq *q = vm->queue[i];

		if (q && q->cq_live && q->vvec == vvec)
			queue_vector_update(vm, q);
	}
}

/* --- creation, deletion, one by one --- */

int liov_vm_queue_create_cq(struct liov_vm *vm, u32 index, u32 entries, bool irq, u16 vvec)
{
	struct liov_hwq *q = vm_queue(vm, index);
	int err;

	if (!q || (irq && vvec >= vm->cfg.nr_vectors))
		return -EINVAL;
	if (vm->be->resetting || vm->dying)
		return -EBUSY;
	liov_hwq_set_closed(q, q->sq_closed, true);
	q->vvec = vvec;
	err = liov_hwq_create_cq(q, entries, irq);
	if (err)
		return err;
	liov_hwq_set_closed(q, q->sq_closed, false);
	vm_reveal(vm, index);
	queue_vector_update(vm, q);
	return 0;
}

int liov_vm_queue_create_sq(struct liov_vm *vm, u32 index, u32 entries, u32 cq_index)
{
	struct liov_hwq *q = vm_queue(vm, index), *cq = vm_queue(vm, cq_index);
	int err;

	if (!q || !cq)
		return -EINVAL;
	if (vm->be->resetting || vm->dying)
		return -EBUSY;
	/* A guest's number is one of its own queues, whatever the hardware calls them (QD-09). */
	if (!LIOV_STEP(device_cqid_virtual) && cq_index < vm->be->info.io_queues)
		cq = &vm->be->hwq[cq_index + 1];
	liov_hwq_set_closed(q, true, q->cq_closed);
	err = liov_hwq_create_sq(q, entries, cq);
	if (err)
		return err;
	liov_hwq_set_closed(q, false, q->cq_closed);
	vm_reveal(vm, index);
	return 0;
}

int liov_vm_queue_delete_sq(struct liov_vm *vm, u32 index)
{
	struct liov_hwq *q = vm_queue(vm, index);
	int err;

	if (!q || !q->sq_live)
		return -EINVAL;
	if (vm->be->resetting)
		return -EBUSY;
	liov_hwq_set_closed(q, true, q->cq_closed);
	vm_revoke(vm, slot(index, LIOV_SLOT_SQ), LIOV_SLOT_CQ - LIOV_SLOT_SQ);
	vm_revoke(vm, slot(index, LIOV_SLOT_SQ_DOORBELL), SPEC_PAGE_SIZE);
	vm_revoke_doorbells(vm);
	err = liov_hwq_delete_sq(q);
	if (!err)
		liov_hwq_set_closed(q, false, q->cq_closed);
	return err;
}

static bool cq_in_use(const struct liov_vm *vm, const struct liov_hwq *cq)
{
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		if (vm->queue[i] && vm->queue[i]->sq_live && vm->queue[i]->cq_qid == cq->qid)
			return true;
	return false;
}

int liov_vm_queue_delete_cq(struct liov_vm *vm, u32 index)
{
	struct liov_hwq *q = vm_queue(vm, index);
	int err;

	if (!q || !q->cq_live || !LIOV_CHECK(backend_cq_in_use, !cq_in_use(vm, q)))
		return -EINVAL;
	if (vm->be->resetting)
		return -EBUSY;
	liov_hwq_set_closed(q, q->sq_closed, true);
	vm_revoke(vm, slot(index, LIOV_SLOT_CQ), LIOV_SLOT_SQ_DOORBELL - LIOV_SLOT_CQ);
	vm_revoke(vm, slot(index, LIOV_SLOT_CQ_DOORBELL), SPEC_PAGE_SIZE);
	vm_revoke_doorbells(vm);
	err = liov_hwq_delete_cq(q);
	if (!err)
		liov_hwq_set_closed(q, q->sq_closed, false);
	return err;
}

/* --- many at once --- */

/* SQs that post to a CQ which is to go must go with it. */
static u32 with_dependent(const struct liov_vm *vm, u32 which)
{
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		for (u32 k = 0; k < vm->cfg.nr_queues; k++)
			if ((which & 1u << i) && vm->queue[i] && vm->queue[k] && vm->queue[k]->sq_live &&
			    vm->queue[k]->cq_qid == vm->queue[i]->qid)
				which |= 1u << k;
	return which;
}

int liov_vm_queues_shut(struct liov_vm *vm, u32 which)
{
	u32 sqs = with_dependent(vm, which);
	int err = 0;

	for (u32 i = 0; i < vm->cfg.nr_queues; i++) {
		if (!(sqs & 1u << i) || !vm->queue[i])
			continue;
		liov_hwq_set_closed(vm->queue[i], true, (which & 1u << i) || vm->queue[i]->cq_closed);
		vm_revoke(vm, slot(i, 0), LIOV_CMB_SLOT_STRIDE);
	}
	vm_revoke_doorbells(vm);
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		if ((sqs & 1u << i) && vm->queue[i] && liov_hwq_delete_sq(vm->queue[i]))
			err = -EIO;
	for (u32 i = 0; i < vm->cfg.nr_queues; i++) {
		if (!(which & 1u << i) || !vm->queue[i])
			continue;
		if (liov_hwq_delete_cq(vm->queue[i]))
			err = -EIO;
		/* In quarantine, too, it interrupts nobody. */
		liov_hwq_mask(vm->queue[i]);
		liov_hwq_unpost(vm->queue[i]);
	}
	return err;
}

void liov_vm_close_queues(struct liov_vm *vm)
{
	for (u32 i = 0; i < vm->cfg.nr_queues; i++) {
		if (!vm->queue[i])
			continue;
		liov_hwq_set_closed(vm->queue[i], true, true);
		liov_hwq_mask(vm->queue[i]);
		liov_hwq_unpost(vm->queue[i]);
	}
}

void liov_vm_revoke_from(struct liov_vm *vm, u64 off)
{
	liov_vm_close_queues(vm);
	vm_revoke(vm, off, vm->cmb_size - off);
}

static void queues_reset_mediated(struct liov_vm *vm)
{
	for (u32 qid = 1; qid <= vm->cfg.nr_queues; qid++)
		liov_mediator_delete_sq(vm, qid);
	for (u32 qid = 1; qid <= vm->cfg.nr_queues; qid++)
		liov_mediator_delete_cq(vm, qid);
}

/* The hardware queue under mediated stays: a guest that resets in a loop costs the admin queue nothing. */
void liov_vm_queues_reset(struct liov_vm *vm)
{
	if (vm->be->cfg.policy == LIOV_POLICY_MEDIATED) {
		queues_reset_mediated(vm);
		return;
	}
	/* While the controller is being reset they are gone already, and closed. */
	if (vm->be->resetting)
		return;
	(void)liov_vm_queues_shut(vm, ALL_QUEUES);
	for (u32 i = 0; i < vm->cfg.nr_queues; i++)
		if (vm->queue[i] && vm->queue[i]->state != LIOV_HWQ_QUARANTINED)
			liov_hwq_set_closed(vm->queue[i], false, false);
}
