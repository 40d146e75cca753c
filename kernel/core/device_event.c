// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous events and Abort (Base 5.1, 5.2) of the virtual controller. An event is this
 * VM's own: what the physical controller reports never passes through unlooked at.
 */

#include "device.h"

#define EVENT_TYPE(dw0)	((dw0) & 7u)
#define EVENT_LOG(dw0)	((dw0) >> 16 & 0xFFu)
#define EVENT_VENDOR	7u

#define EVENTS_MAX (sizeof(((struct liov_device *)0)->event_pending) / sizeof(u32))

void liov_device_events_deliver(struct liov_vm *vm)
{
	struct liov_device *dev = &vm->dev;

	while (dev->nr_events && dev->nr_aer && liov_device_running(vm) && !liov_device_admin_cq_full(vm)) {
		u32 dw0 = dev->event_pending[0], i;
		u16 cid = dev->aer_cid[0];

		dev->nr_events--;
		for (i = 0; i < dev->nr_events; i++)
			dev->event_pending[i] = dev->event_pending[i + 1];
		dev->nr_aer--;
		for (i = 0; i < dev->nr_aer; i++)
			dev->aer_cid[i] = dev->aer_cid[i + 1];
		liov_device_admin_post(vm, cid, NVME_SC_SUCCESS, dw0);
	}
}

/*
 * Reported once, then masked until the log page that explains it is read (Base 5.2). A
 * vendor event has no log page: it is only kept from being queued twice.
 */
void liov_device_event(struct liov_vm *vm, u32 dw0)
{
	struct liov_device *dev = &vm->dev;
	u32 type = EVENT_TYPE(dw0), i;

	if (!liov_device_running(vm) || (dev->events_masked & 1u << type) || dev->nr_events == EVENTS_MAX)
		return;
	for (i = 0; i < dev->nr_events; i++)
		if (dev->event_pending[i] == dw0)
			return;
	port_trace(vm->be->home, &(struct liov_trace){ LIOV_TRACE_EVENT, LIOV_DEVICE, vm->cfg.id, 0, dw0, 0 });
	dev->event_pending[dev->nr_events++] = dw0;
	if (type != EVENT_VENDOR)
		dev->events_masked |= 1u << type;
	liov_device_events_deliver(vm);
}

void liov_device_event_others(struct liov_backend *be, const struct liov_vm *vm, u32 dw0)
{
	u32 i;

	for (i = 0; i < LIOV_VMS_MAX; i++) {
		struct liov_vm *other = be->vms[i];

		if (!other || other == vm)
			continue;
		port_mutex_lock(&other->lock);
		liov_device_event(other, dw0);
		port_mutex_unlock(&other->lock);
	}
}

/* Errors are type 0 and log 01h, SMART type 1 and log 02h, notices type 2 and log 03h, 04h. */
void liov_device_events_unmask(struct liov_vm *vm, u32 lid)
{
	switch (lid) {
	case NVME_LOG_ERROR:
		vm->dev.events_masked &= ~1u;
		break;
	case NVME_LOG_SMART:
		vm->dev.events_masked &= ~2u;
		break;
	case NVME_LOG_FIRMWARE:
	case NVME_LOG_CHANGED_NS:
		vm->dev.events_masked &= ~4u;
		break;
	default:
		break;
	}
}

u16 liov_device_aer(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	struct liov_device *dev = &vm->dev;

	if (!LIOV_CHECK(device_aer_limit, dev->nr_aer != LIOV_AERL + 1))
		return NVME_SC_AER_LIMIT;
	dev->aer_cid[dev->nr_aer++] = sqe->cid;
	return DEVICE_DEFERRED;
}

/* An AER that waits is ended; the rest of the array moves up. False: none, or no room to say so. */
static bool abort_aer(struct liov_vm *vm, u16 cid)
{
	struct liov_device *dev = &vm->dev;
	u32 n = (u32)FIELD_GET(NVME_AQA_ACQS, dev->aqa) + 1, i;

	/* Two completions: of the AER, and of the Abort. */
	if (liov_ring_free(dev->cq_head, dev->cq_tail, n) < 2)
		return false;
	for (i = 0; i < dev->nr_aer; i++)
		if (dev->aer_cid[i] == cid)
			break;
	if (i == dev->nr_aer)
		return false;
	for (dev->nr_aer--; i < dev->nr_aer; i++)
		dev->aer_cid[i] = dev->aer_cid[i + 1];
	liov_device_admin_post(vm, cid, NVME_SC_ABORT_REQUESTED, 0);
	return true;
}

/*
 * SQIDs are virtual. Only AERs can be found: other admin commands are over before the next is
 * fetched, and I/O commands are left to end by themselves, which Base 5.1 allows.
 */
u16 liov_device_abort(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 nth, u32 *dw0)
{
	u32 sqid = sqe->cdw10 & 0xFFFF;

	if (!LIOV_CHECK(device_abort_limit, nth <= DEVICE_ACL + 1))
		return NVME_SC_ABORT_LIMIT;
	if (!LIOV_CHECK(device_abort_sqid, sqid <= vm->cfg.nr_queues && (!sqid || vm->dev.sq[sqid].created)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	/* Ids are the VM's own, and mean nothing to the controller. */
	if (!LIOV_STEP(device_abort_own)) {
		struct nvme_sqe out = { .opcode = NVME_ADM_ABORT, .cdw10 = sqe->cdw10 };

		return liov_admin_cmd(vm->be, &out, dw0) ? NVME_SC_INTERNAL : 0;
	}
	*dw0 = sqid == 0 && abort_aer(vm, (u16)(sqe->cdw10 >> 16)) ? 0 : 1;
	return 0;
}
