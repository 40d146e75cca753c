// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual admin queue: fetched once into a private copy, answered in software, default
 * deny. The physical admin queue is never involved but where a handler asks the backend.
 */

#include "device.h"

static u32 sq_entries(const struct liov_vm *vm)
{
	return (u32)FIELD_GET(NVME_AQA_ASQS, vm->dev.aqa) + 1;
}

static u32 cq_entries(const struct liov_vm *vm)
{
	return (u32)FIELD_GET(NVME_AQA_ACQS, vm->dev.aqa) + 1;
}

bool liov_device_admin_cq_full(const struct liov_vm *vm)
{
	return liov_ring_next(vm->dev.cq_tail, cq_entries(vm)) == vm->dev.cq_head;
}

/* The half with the phase goes last: a guest that sees it sees all (Base 3.3.3.2). */
void liov_device_admin_post(struct liov_vm *vm, u16 cid, u16 status, u32 dw0)
{
	struct liov_device *dev = &vm->dev;
	gpa_t at = { dev->acq + (u64)dev->cq_tail * DEVICE_CQ_BYTES };
	struct nvme_cqe cqe = { .dw0 = dw0, .sqhd = (u16)dev->sq_head, .cid = cid };

	LIOV_ASSERT(!liov_device_admin_cq_full(vm));
	cqe.status = (u16)((status & NVME_STATUS_CODE) << 1 | (status & NVME_DNR ? NVME_CQE_DNR : 0) |
			   (dev->cq_phase ? NVME_CQE_PHASE : 0));
	if (port_vm_mem_wr(vm->port, at, &cqe, 8)) {
		liov_device_fatal(vm, at.v, DEVICE_CQ_BYTES);
		return;
	}
	port_dma_wmb(vm->be->home);
	if (port_vm_mem_wr(vm->port, (gpa_t){ at.v + 8 }, &cqe.sqhd, 8)) {
		liov_device_fatal(vm, at.v, DEVICE_CQ_BYTES);
		return;
	}
	liov_ring_step(&dev->cq_tail, &dev->cq_phase, cq_entries(vm));
	liov_device_irq(vm, 0);
}
_Static_assert(offsetof(struct nvme_cqe, sqhd) == 8, "two halves of eight bytes");

/* --- data --- */

/* Where the second page of a transfer is: PRP2, or the first entry of the list it points to (Base 4.1.1). */
static u16 second_page(struct liov_vm *vm, const struct nvme_sqe *sqe, bool list, u64 *page)
{
	*page = sqe->prp2;
	if (list) {
		if (!LIOV_CHECK(device_list_align, !(sqe->prp2 & 7)))
			return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
		if (!LIOV_CHECK(device_list_window, !port_vm_mem_rd(vm->port, (gpa_t){ sqe->prp2 }, page, sizeof(*page))))
			return NVME_SC_DATA_TRANSFER | NVME_DNR;
	}
	return LIOV_CHECK(device_prp2_align, !(*page & (SPEC_PAGE_SIZE - 1))) ? 0 : NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
}

void liov_device_reply_clear(struct liov_vm *vm)
{
	if (LIOV_STEP(device_reply_zero))
		memset(vm->dev.data, 0, sizeof(vm->dev.data));
}

u16 liov_device_reply(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 len, u64 asked)
{
	u32 offset = (u32)(sqe->prp1 & (SPEC_PAGE_SIZE - 1)), first = (u32)SPEC_PAGE_SIZE - offset;
	u64 page = 0;
	u16 status;

	LIOV_ASSERT(len != 0 && len <= sizeof(vm->dev.data) && len <= asked);
	if (!LIOV_CHECK(device_prp1_align, !(sqe->prp1 & 3)))
		return NVME_SC_INVALID_PRP_OFFSET | NVME_DNR;
	if (first > len)
		first = len;
	/* Both pages are looked at before either is written. */
	if (len > first) {
		status = second_page(vm, sqe, offset + asked > 2 * SPEC_PAGE_SIZE, &page);
		if (status)
			return status;
		if (!LIOV_CHECK(device_reply_window, port_vm_mem_is_ram(vm->port, (gpa_t){ page }, len - first)))
			return NVME_SC_DATA_TRANSFER | NVME_DNR;
	}
	if (!LIOV_CHECK(device_reply_window, !port_vm_mem_wr(vm->port, (gpa_t){ sqe->prp1 }, vm->dev.data, first)))
		return NVME_SC_DATA_TRANSFER | NVME_DNR;
	if (len > first && port_vm_mem_wr(vm->port, (gpa_t){ page }, vm->dev.data + first, len - first))
		return NVME_SC_DATA_TRANSFER | NVME_DNR;
	return 0;
}

/* --- dispatch --- */

static u16 memory_command(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	gpa_t gpa = { sqe->cdw10 | (u64)sqe->cdw11 << 32 };
	u64 len = sqe->cdw12 | (u64)sqe->cdw13 << 32;
	int ret = sqe->opcode == LIOV_ADM_MEM_REGISTER ? liov_vm_mem_register(vm, gpa, len)
						       : liov_vm_mem_unregister(vm, gpa, len);

	if (ret == 0)
		return 0;
	if (ret == -EINVAL)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	return ret == -EFAULT ? NVME_SC_DATA_TRANSFER | NVME_DNR : NVME_SC_INTERNAL;
}

/* Of the commands that are offered, which may carry a namespace? */
static bool takes_nsid(u8 opcode)
{
	return opcode == NVME_ADM_IDENTIFY || opcode == NVME_ADM_GET_LOG_PAGE || opcode == NVME_ADM_SET_FEATURES ||
	       opcode == NVME_ADM_GET_FEATURES;
}

static bool offered(u8 opcode)
{
	switch (opcode) {
	case NVME_ADM_DELETE_SQ:
	case NVME_ADM_CREATE_SQ:
	case NVME_ADM_DELETE_CQ:
	case NVME_ADM_CREATE_CQ:
	case NVME_ADM_ABORT:
	case NVME_ADM_AER:
	case LIOV_ADM_MEM_REGISTER:
	case LIOV_ADM_MEM_UNREGISTER:
		return true;
	default:
		return takes_nsid(opcode);
	}
}

/* @nth: which Abort of those outstanding together. */
static u16 dispatch(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 nth, u32 *dw0)
{
	if (!LIOV_CHECK(device_admin_opcode, offered(sqe->opcode)))
		return NVME_SC_INVALID_OPCODE | NVME_DNR;
	if (!LIOV_CHECK(device_admin_fields, !sqe->flags && (!sqe->nsid || takes_nsid(sqe->opcode))))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	switch (sqe->opcode) {
	case NVME_ADM_DELETE_SQ:
		return liov_device_delete_sq(vm, sqe);
	case NVME_ADM_CREATE_SQ:
		return liov_device_create_sq(vm, sqe);
	case NVME_ADM_GET_LOG_PAGE:
		return liov_device_get_log(vm, sqe);
	case NVME_ADM_DELETE_CQ:
		return liov_device_delete_cq(vm, sqe);
	case NVME_ADM_CREATE_CQ:
		return liov_device_create_cq(vm, sqe);
	case NVME_ADM_IDENTIFY:
		return liov_device_identify(vm, sqe);
	case NVME_ADM_ABORT:
		return liov_device_abort(vm, sqe, nth, dw0);
	case NVME_ADM_SET_FEATURES:
		return liov_device_set_features(vm, sqe, dw0);
	case NVME_ADM_GET_FEATURES:
		return liov_device_get_features(vm, sqe, dw0);
	case NVME_ADM_AER:
		return liov_device_aer(vm, sqe);
	case LIOV_ADM_MEM_REGISTER:
	case LIOV_ADM_MEM_UNREGISTER:
		return memory_command(vm, sqe);
	default:
		return 0;	/* not offered */
	}
}

static void tell(struct liov_vm *vm, const struct nvme_sqe *sqe, u16 status)
{
	struct liov_trace t = { LIOV_TRACE_EMULATED, LIOV_DEVICE, vm->cfg.id, 0, sqe->opcode, sqe->cdw10 };

	if (status & NVME_STATUS_CODE) {
		vm->dev.admin_denied++;
		liov_device_deny(vm, status & NVME_STATUS_CODE, sqe->opcode, sqe->cdw10);
	} else {
		port_trace(vm->be->home, &t);
	}
}

static void execute(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 nth)
{
	u32 dw0 = 0;
	u16 status = dispatch(vm, sqe, nth, &dw0);

	tell(vm, sqe, status);
	if (!(status & DEVICE_DEFERRED) && liov_device_running(vm))
		liov_device_admin_post(vm, sqe->cid, status, dw0);
	liov_device_events_deliver(vm);
}

/* Bounded by the queue: the tail does not move while the VM's lock is held. */
static void process(struct liov_vm *vm)
{
	struct liov_device *dev = &vm->dev;
	u32 aborts = 0;

	while (dev->sq_head != dev->sq_tail && liov_device_running(vm) && !liov_device_admin_cq_full(vm)) {
		gpa_t at = { dev->asq + (u64)dev->sq_head * DEVICE_SQ_BYTES };
		struct nvme_sqe sqe;

		if (port_vm_mem_rd(vm->port, at, &sqe, sizeof(sqe))) {
			liov_device_fatal(vm, at.v, sizeof(sqe));
			return;
		}
		dev->sq_head = liov_ring_next(dev->sq_head, sq_entries(vm));
		if (sqe.opcode == NVME_ADM_ABORT)
			aborts++;
		execute(vm, &sqe, aborts);
	}
}

/* Base figure 146: out of range, unchanged, or a head beyond what was posted. */
static bool value_ok(const struct liov_vm *vm, bool cq, u32 val)
{
	const struct liov_device *dev = &vm->dev;

	if (!cq)
		return val < sq_entries(vm) && val != dev->sq_tail;
	return liov_ring_head_ok(dev->cq_head, dev->cq_tail, val, cq_entries(vm));
}

void liov_device_admin_doorbell(struct liov_vm *vm, bool cq, u32 val)
{
	if (!LIOV_CHECK(device_admin_doorbell, value_ok(vm, cq, val))) {
		liov_device_deny(vm, 0, LIOV_BAR0_DOORBELLS + (cq ? 4 : 0), val);
		liov_device_event(vm, NVME_AEN_DOORBELL_VALUE);
		return;
	}
	if (cq) {
		vm->dev.cq_head = val;
		liov_device_events_deliver(vm);
	} else {
		vm->dev.sq_tail = val;
	}
	process(vm);
}
