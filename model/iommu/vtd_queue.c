// SPDX-License-Identifier: GPL-2.0
#include "vtd_internal.h"

/*
 * Invalidation, VT-d 6.5. One descriptor is in work at a time: it takes invalidation_ps,
 * and only then the caches change, the status is written and the head moves on. So
 * descriptors complete in their order, and a wait descriptor after all before it whether
 * or not it asks for the fence. The tail is fixed between two writes of software, and a
 * turn ends at it: at most the queue's size of descriptors follow from one write.
 */

struct vtd_qi_desc {
	u64 lo, hi;
};

_Static_assert(sizeof(struct vtd_qi_desc) == 16, "6.5.2: 128-bit descriptors in legacy mode");

static u32 queue_size(const struct vtd *vtd)
{
	return 256U << FIELD_GET(VTD_IQA_QS, vtd->regs.iqa);
}

static void queue_error(struct vtd *vtd, u8 info)
{
	vtd->regs.iqercd = FIELD_PREP(VTD_IQERCD_IQEI, info);
	vtd_fault_status(vtd, VTD_FSTS_IQE);
}

void vtd_queue_kick(struct vtd *vtd)
{
	u64 head = FIELD_GET(VTD_IQ_INDEX, vtd->regs.iqh);
	u64 tail = FIELD_GET(VTD_IQ_INDEX, vtd->regs.iqt);

	if (!(vtd->regs.gsts & VTD_G_QIE) || (vtd->regs.fsts & VTD_FSTS_IQE))
		return;
	if (event_is_queued(&vtd->queue_event) || head == tail)
		return;
	/* The head lies outside only where software shrank a queue in use. */
	if (tail >= queue_size(vtd) || head >= queue_size(vtd)) {
		queue_error(vtd, VTD_IQEI_TAIL);
		return;
	}
	sched_after(vtd->sched, &vtd->queue_event, vtd->cfg.invalidation_ps);
}

static u8 do_context(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	struct vtd_context_inval inv = {
		.granularity = (u8)FIELD_GET(VTD_QI_CTX_LO_G, desc->lo),
		.function_mask = (u8)FIELD_GET(VTD_QI_CTX_LO_FM, desc->lo),
		.did = (u16)FIELD_GET(VTD_QI_CTX_LO_DID, desc->lo),
		.sid = (u16)FIELD_GET(VTD_QI_CTX_LO_SID, desc->lo),
	};

	if ((desc->lo & VTD_QI_CTX_LO_RSVD) || desc->hi || !inv.granularity)
		return VTD_IQEI_RESERVED;
	vtd_context_invalidate(vtd, &inv);
	return 0;
}

static u8 do_iotlb(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	struct vtd_iotlb_inval inv = {
		.granularity = (u8)FIELD_GET(VTD_QI_IOTLB_LO_G, desc->lo),
		.did = (u16)FIELD_GET(VTD_QI_IOTLB_LO_DID, desc->lo),
	};

	if ((desc->lo & VTD_QI_IOTLB_LO_RSVD) || (desc->hi & VTD_QI_IOTLB_HI_RSVD) || !inv.granularity)
		return VTD_IQEI_RESERVED;
	if (inv.granularity == VTD_GRAN_PAGE) {
		inv.address_mask = (u8)FIELD_GET(VTD_QI_IOTLB_HI_AM, desc->hi);
		inv.hint = desc->hi & VTD_QI_IOTLB_HI_IH;
		inv.addr = desc->hi & VTD_QI_IOTLB_HI_ADDR;
		if (inv.address_mask > VTD_MAMV_VALUE)
			return VTD_IQEI_RESERVED;
	}
	vtd_iotlb_invalidate(vtd, &inv);
	return 0;
}

static u8 do_iec(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	u8 index_mask = (u8)FIELD_GET(VTD_QI_IEC_LO_IM, desc->lo);
	bool global = !(desc->lo & VTD_QI_IEC_LO_G);

	if ((desc->lo & VTD_QI_IEC_LO_RSVD) || desc->hi || (!global && index_mask > VTD_MHMV_VALUE))
		return VTD_IQEI_RESERVED;
	vtd_irte_invalidate(vtd, global, (u16)FIELD_GET(VTD_QI_IEC_LO_IIDX, desc->lo), index_mask);
	return 0;
}

/* 6.5.2.8: status first, then the interrupt. A status address that is no memory loses the write and nothing else. */
static u8 do_wait(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	u32 status = (u32)FIELD_GET(VTD_QI_WAIT_LO_DATA, desc->lo);

	if ((desc->lo & VTD_QI_WAIT_LO_RSVD) || (desc->hi & VTD_QI_WAIT_HI_RSVD))
		return VTD_IQEI_RESERVED;
	if (desc->lo & VTD_QI_WAIT_LO_SW)
		bus_ram_write(vtd->bus, (hpa_t){ desc->hi & VTD_QI_WAIT_HI_ADDR }, &status, sizeof(status));
	if (desc->lo & VTD_QI_WAIT_LO_IF)
		vtd_event_invalidation_done(vtd);
	return 0;
}

/* 0, or what IQERCD tells. Nothing of a bad descriptor is done. */
static u8 descriptor_do(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	switch (FIELD_GET(VTD_QI_TYPE, desc->lo)) {
	case VTD_QI_CONTEXT:
		return do_context(vtd, desc);
	case VTD_QI_IOTLB:
		return do_iotlb(vtd, desc);
	case VTD_QI_IEC:
		return do_iec(vtd, desc);
	case VTD_QI_WAIT:
		return do_wait(vtd, desc);
	default:
		return VTD_IQEI_TYPE;
	}
}

static void queue_step(struct event *ev)
{
	struct vtd *vtd = container_of_event(ev, struct vtd, queue_event);
	u32 head = (u32)FIELD_GET(VTD_IQ_INDEX, vtd->regs.iqh);
	struct vtd_qi_desc desc;
	hpa_t addr = { (vtd->regs.iqa & VTD_IQA_IQA) + head * sizeof(desc) };
	u8 error = VTD_IQEI_FETCH;

	if (bus_ram_read(vtd->bus, addr, &desc, sizeof(desc)))
		error = descriptor_do(vtd, &desc);
	if (error) {
		queue_error(vtd, error);
		return;
	}
	/* By mask: a queue shrunk by software while in use may not make the head run past it. */
	vtd->regs.iqh = FIELD_PREP(VTD_IQ_INDEX, (head + 1) & (queue_size(vtd) - 1));
	vtd_queue_kick(vtd);
}

void vtd_queue_init(struct vtd *vtd)
{
	event_init(&vtd->queue_event, queue_step, EVENT_PRIO_HW);
}

/* 11.4.4.1: software has written the tail 0 before; if not, what lies up to it is done. */
void vtd_queue_enable(struct vtd *vtd)
{
	vtd_queue_kick(vtd);
}

/* Software has let the queue run empty before (6.5.2); a descriptor still in work is dropped, and no wait completes. */
void vtd_queue_disable(struct vtd *vtd)
{
	sched_cancel(vtd->sched, &vtd->queue_event);
	vtd->regs.iqh = 0;
}

/*
 * Register-based invalidation completes at once. With queued invalidation on it is not to
 * be used (6.5.1): nothing is invalidated, and the granularity performed reads 0.
 */
void vtd_ccmd_written(struct vtd *vtd)
{
	u64 ccmd = vtd->regs.ccmd;
	struct vtd_context_inval inv = {
		.granularity = (u8)FIELD_GET(VTD_CCMD_CIRG, ccmd),
		.function_mask = (u8)FIELD_GET(VTD_CCMD_FM, ccmd),
		.did = (u16)FIELD_GET(VTD_CCMD_DID, ccmd),
		.sid = (u16)FIELD_GET(VTD_CCMD_SID, ccmd),
	};
	bool done = inv.granularity && !(vtd->regs.gsts & VTD_G_QIE);

	if (!(ccmd & VTD_CCMD_ICC))
		return;
	if (done)
		vtd_context_invalidate(vtd, &inv);
	ccmd &= ~(VTD_CCMD_ICC | VTD_CCMD_CAIG);
	vtd->regs.ccmd = ccmd | FIELD_PREP(VTD_CCMD_CAIG, done ? inv.granularity : 0);
}

void vtd_iotlb_cmd_written(struct vtd *vtd)
{
	u64 cmd = vtd->regs.iotlb;
	struct vtd_iotlb_inval inv = {
		.granularity = (u8)FIELD_GET(VTD_IOTLB_CMD_IIRG, cmd),
		.did = (u16)FIELD_GET(VTD_IOTLB_CMD_DID, cmd),
	};
	bool done = inv.granularity && !(vtd->regs.gsts & VTD_G_QIE);

	if (!(cmd & VTD_IOTLB_CMD_IVT))
		return;
	if (inv.granularity == VTD_GRAN_PAGE) {
		inv.address_mask = (u8)FIELD_GET(VTD_IVA_AM, vtd->regs.iva);
		inv.hint = vtd->regs.iva & VTD_IVA_IH;
		inv.addr = vtd->regs.iva & VTD_IVA_ADDR;
		done = done && inv.address_mask <= VTD_MAMV_VALUE;
	}
	if (done)
		vtd_iotlb_invalidate(vtd, &inv);
	cmd &= ~(VTD_IOTLB_CMD_IVT | VTD_IOTLB_CMD_IAIG);
	vtd->regs.iotlb = cmd | FIELD_PREP(VTD_IOTLB_CMD_IAIG, done ? inv.granularity : 0);
}
