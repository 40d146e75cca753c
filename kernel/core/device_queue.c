// SPDX-License-Identifier: GPL-2.0
/*
 * Create and delete I/O queues (Base 5.4 to 5.7) of the virtual controller. Queue ids are
 * virtual, 1 to what was reserved for the VM, so no number names another VM's queue. Where a
 * queue is, the guest does not choose: PRP1 must be the place in the CMB that the info page
 * names, or, under mediated, the VM's own memory.
 */

#include "device.h"
#include "check.h"

#define CREATION_COST_NS	2000000ull
#define CREATION_BURST_NS	(CREATION_COST_NS * 4 * LIOV_VM_QUEUES_MAX)

bool liov_device_cmb_offset(const struct liov_vm *vm, u64 addr, u64 *off)
{
	const struct liov_device *dev = &vm->dev;
	u64 bar = liov_device_bar(vm, LIOV_CMB_BAR), cba = dev->cmbmsc & NVME_CMBMSC_CBA;
	bool has_cba = (dev->cmbmsc & NVME_CMBMSC_CRE) && (dev->cmbmsc & NVME_CMBMSC_CMSE) &&
		       !(dev->cmbsts & NVME_CMBSTS_CBAI);

	if (bar && liov_range_inside(bar, vm->cmb_size, addr, 1)) {
		*off = addr - bar;
		return true;
	}
	if (has_cba && liov_range_inside(cba, vm->cmb_size, addr, 1)) {
		*off = addr - cba;
		return true;
	}
	return false;
}

/* A queue of @entries fits its slot by liov_device_depth_max(). */
_Static_assert(LIOV_QUEUE_DEPTH_MAX * DEVICE_SQ_BYTES <= LIOV_SLOT_CQ - LIOV_SLOT_SQ, "an SQ fits its place");
_Static_assert(LIOV_QUEUE_DEPTH_MAX * DEVICE_CQ_BYTES <= LIOV_SLOT_SQ_DOORBELL - LIOV_SLOT_CQ, "a CQ fits its place");

/* Checks of both kinds of queue, in the order of the table of expected status codes. */
static u16 check_create(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 qid, bool created, u32 place)
{
	u32 qsize = sqe->cdw10 >> 16;
	u64 off;

	if (!LIOV_CHECK(device_create_qid, qid != 0 && qid <= vm->cfg.nr_queues) || !LIOV_CHECK(device_create_twice, !created))
		return NVME_SC_QID_INVALID | NVME_DNR;
	if (!LIOV_CHECK(device_create_size, qsize != 0 && qsize < liov_device_depth_max(vm)))
		return NVME_SC_QSIZE_INVALID | NVME_DNR;
	if (!LIOV_CHECK(device_create_align, !(sqe->prp1 & (SPEC_PAGE_SIZE - 1))))
		return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	if (!LIOV_CHECK(device_create_contiguous, sqe->cdw11 & NVME_QUEUE_PC))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (liov_device_cmb_offset(vm, sqe->prp1, &off))
		return LIOV_CHECK(device_create_slot, off == LIOV_CMB_SLOTS + (u64)(qid - 1) * LIOV_CMB_SLOT_STRIDE + place)
			       ? 0 : NVME_SC_INVALID_CMB_USE | NVME_DNR;
	/* Hardware queues are nowhere else; the mediator looks at guest memory itself. */
	return LIOV_CHECK(device_create_place, liov_device_mediated(vm)) ? 0 : NVME_SC_INVALID_CMB_USE | NVME_DNR;
}

/* What went wrong below is the host's, not the guest's: it may try again. */
static u16 status_of(int err)
{
	if (err == 0)
		return 0;
	return err == -EINVAL ? NVME_SC_INVALID_FIELD | NVME_DNR : NVME_SC_INTERNAL;
}

/*
 * Creating costs the admin queue that all VMs share two commands, and two to delete again. A
 * guest that does so in a loop is slowed down to a steady rate once its allowance is used up
 * (LIF-04); only its own virtual CPU waits.
 */
static void pay_for_creation(struct liov_vm *vm)
{
	u64 now = port_now_ns(vm->be->home), *due = &vm->dev.creation_due_ns;

	if (!LIOV_STEP(device_creation_rate))
		return;

	if (*due < now)
		*due = now;
	*due += CREATION_COST_NS;
	if (*due > now + CREATION_BURST_NS)
		port_sleep_ns(vm->be->home, *due - now - CREATION_BURST_NS);
}

static u16 create_hardware_cq(struct liov_vm *vm, u32 qid, u32 entries, bool irq, u16 vvec)
{
	pay_for_creation(vm);
	return status_of(liov_vm_queue_create_cq(vm, qid - 1, entries, irq, vvec));
}

static u16 create_hardware_sq(struct liov_vm *vm, u32 qid, u32 entries, u32 cqid)
{
	pay_for_creation(vm);
	return status_of(liov_vm_queue_create_sq(vm, qid - 1, entries, cqid - 1));
}

u16 liov_device_create_cq(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	u32 qid = sqe->cdw10 & 0xFFFF, entries = (sqe->cdw10 >> 16) + 1;
	u16 vvec = (u16)FIELD_GET(NVME_CQ_IV, sqe->cdw11);
	bool irq = sqe->cdw11 & NVME_CQ_IEN;
	bool created = qid <= LIOV_VM_QUEUES_MAX && vm->dev.cq[qid].created;
	u16 status = check_create(vm, sqe, qid, created, LIOV_SLOT_CQ);

	if (status)
		return status;
	if (!LIOV_CHECK(device_create_vector, vvec < liov_device_vectors(vm) &&
					      (!vvec || (liov_device_msix_control(vm) & PCIS_MSIX_ENABLE))))
		return NVME_SC_VECTOR_INVALID | NVME_DNR;
	if (liov_device_mediated(vm))
		status = liov_mediator_create_cq(vm, qid, entries, sqe->prp1, irq, vvec);
	else
		status = create_hardware_cq(vm, qid, entries, irq, vvec);
	if (status)
		return status;
	vm->dev.cq[qid].created = true;
	vm->dev.cq[qid].entries = entries;
	vm->dev.cq[qid].vector = vvec;
	vm->dev.cq[qid].irq_enabled = irq;
	vm->dev.nq_set = true;
	return 0;
}

/* QPRIO has no meaning: CC.AMS can only be round robin, so no guest gets at the urgent class. */
u16 liov_device_create_sq(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	u32 qid = sqe->cdw10 & 0xFFFF, entries = (sqe->cdw10 >> 16) + 1;
	u32 cqid = (u32)FIELD_GET(NVME_SQ_CQID, sqe->cdw11);
	bool created = qid <= LIOV_VM_QUEUES_MAX && vm->dev.sq[qid].created;
	u16 status = check_create(vm, sqe, qid, created, LIOV_SLOT_SQ);

	if (status)
		return status;
	if (!LIOV_CHECK(device_create_cqid, cqid != 0 && cqid <= vm->cfg.nr_queues))
		return NVME_SC_QID_INVALID | NVME_DNR;
	if (!LIOV_CHECK(device_create_no_cq, cqid <= LIOV_VM_QUEUES_MAX && vm->dev.cq[cqid].created))
		return NVME_SC_CQ_INVALID | NVME_DNR;
	if (liov_device_mediated(vm))
		status = liov_mediator_create_sq(vm, qid, entries, sqe->prp1, cqid);
	else
		status = create_hardware_sq(vm, qid, entries, cqid);
	if (status)
		return status;
	vm->dev.sq[qid].created = true;
	vm->dev.sq[qid].entries = entries;
	vm->dev.sq[qid].cqid = cqid;
	vm->dev.nq_set = true;
	return 0;
}

static bool cq_in_use(const struct liov_vm *vm, u32 cqid)
{
	u32 i;

	for (i = 1; i <= LIOV_VM_QUEUES_MAX; i++)
		if (vm->dev.sq[i].created && vm->dev.sq[i].cqid == cqid)
			return true;
	return false;
}

/* Whatever the physical queue does, the virtual one is gone: its pages were taken away first. */
u16 liov_device_delete_sq(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	u32 qid = sqe->cdw10 & 0xFFFF;

	if (!LIOV_CHECK(device_delete_sq, qid != 0 && qid <= vm->cfg.nr_queues && vm->dev.sq[qid].created))
		return NVME_SC_QID_INVALID | NVME_DNR;
	vm->dev.sq[qid].created = false;
	if (!liov_device_mediated(vm))
		return status_of(liov_vm_queue_delete_sq(vm, qid - 1));
	liov_mediator_delete_sq(vm, qid);
	return 0;
}

u16 liov_device_delete_cq(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	u32 qid = sqe->cdw10 & 0xFFFF;

	if (!LIOV_CHECK(device_delete_cq, qid != 0 && qid <= vm->cfg.nr_queues && vm->dev.cq[qid].created))
		return NVME_SC_QID_INVALID | NVME_DNR;
	if (!LIOV_CHECK(device_cq_in_use, !cq_in_use(vm, qid)))
		return NVME_SC_QUEUE_DELETION | NVME_DNR;
	vm->dev.cq[qid].created = false;
	if (!liov_device_mediated(vm))
		return status_of(liov_vm_queue_delete_cq(vm, qid - 1));
	liov_mediator_delete_cq(vm, qid);
	return 0;
}

void liov_device_queues_reset(struct liov_vm *vm)
{
	liov_vm_queues_reset(vm);
	memset(vm->dev.sq, 0, sizeof(vm->dev.sq));
	memset(vm->dev.cq, 0, sizeof(vm->dev.cq));
}
