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
	u64 more[2];		/* of 256 bits; else 0 */
};

static bool queue_is_wide(const struct vtd *vtd)
{
	return vtd->regs.iqa & VTD_IQA_DW;
}

static u32 desc_bytes(const struct vtd *vtd)
{
	return queue_is_wide(vtd) ? 32 : 16;
}

static u32 queue_bytes(const struct vtd *vtd)
{
	return (u32)SPEC_PAGE_SIZE << FIELD_GET(VTD_IQA_QS, vtd->regs.iqa);
}

static void queue_error(struct vtd *vtd, u8 info)
{
	trace4(vtd->trace, TRACE_VTD_IQE, 0, info, vtd->regs.iqh, vtd->regs.iqt, 0);
	vtd->regs.iqercd = FIELD_PREP(VTD_IQERCD_IQEI, info);
	vtd_fault_status(vtd, VTD_FSTS_IQE);
}

void vtd_queue_kick(struct vtd *vtd)
{
	u64 head = vtd->regs.iqh, tail = vtd->regs.iqt;

	if (!(vtd->regs.gsts & VTD_G_QIE) || (vtd->regs.fsts & VTD_FSTS_IQE))
		return;
	if (event_is_queued(&vtd->queue_event) || head == tail)
		return;
	/* The head lies outside only where software shrank a queue in use. */
	if (!MODEL_CHECK(iommu_queue_tail, tail < queue_bytes(vtd) && head < queue_bytes(vtd))) {
		queue_error(vtd, VTD_IQEI_TAIL);
		return;
	}
	if (queue_is_wide(vtd) && ((head | tail) & VTD_IQ_UNALIGNED)) {
		queue_error(vtd, VTD_IQEI_TAIL_ALIGN);
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
	if (!fault_hits(&vtd->ignores, VTD_QI_CONTEXT))
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
	if (!fault_hits(&vtd->ignores, VTD_QI_IOTLB))
		vtd_iotlb_invalidate(vtd, &inv);
	return 0;
}

static u8 do_iec(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	u8 index_mask = (u8)FIELD_GET(VTD_QI_IEC_LO_IM, desc->lo);
	bool global = !(desc->lo & VTD_QI_IEC_LO_G);

	if ((desc->lo & VTD_QI_IEC_LO_RSVD) || desc->hi || (!global && index_mask > VTD_MHMV_VALUE))
		return VTD_IQEI_RESERVED;
	if (!fault_hits(&vtd->ignores, VTD_QI_IEC))
		vtd_irte_invalidate(vtd, global, (u16)FIELD_GET(VTD_QI_IEC_LO_IIDX, desc->lo), index_mask);
	return 0;
}

/* 6.5.2.4: for pages of a PASID it names first-stage mappings only, of which there are none here. */
static u8 do_pasid_iotlb(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	u64 granularity = FIELD_GET(VTD_QI_PIOTLB_LO_G, desc->lo);

	if ((desc->lo & VTD_QI_PIOTLB_LO_RSVD) || granularity < VTD_QI_PIOTLB_PASID)
		return VTD_IQEI_RESERVED;
	if (granularity == VTD_QI_PIOTLB_PAGE)
		return (desc->hi & VTD_QI_IOTLB_HI_RSVD) || FIELD_GET(VTD_QI_IOTLB_HI_AM, desc->hi) > VTD_MAMV_VALUE ?
		       VTD_IQEI_RESERVED : 0;
	if (desc->hi)
		return VTD_IQEI_RESERVED;
	if (!fault_hits(&vtd->ignores, VTD_QI_PASID_IOTLB))
		vtd_iotlb_invalidate_pasid(vtd, (u16)FIELD_GET(VTD_QI_PIOTLB_LO_DID, desc->lo),
					   (u32)FIELD_GET(VTD_QI_PIOTLB_LO_PASID, desc->lo));
	return 0;
}

static u8 do_pasid_cache(struct vtd *vtd, const struct vtd_qi_desc *desc)
{
	struct vtd_pasid_inval inv = {
		.granularity = (u8)FIELD_GET(VTD_QI_PC_LO_G, desc->lo),
		.did = (u16)FIELD_GET(VTD_QI_PC_LO_DID, desc->lo),
		.pasid = (u32)FIELD_GET(VTD_QI_PC_LO_PASID, desc->lo),
	};

	if ((desc->lo & VTD_QI_PC_LO_RSVD) || desc->hi || inv.granularity == 2)
		return VTD_IQEI_RESERVED;
	if (!fault_hits(&vtd->ignores, VTD_QI_PASID_CACHE))
		vtd_pasid_invalidate(vtd, &inv);
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
	u64 type = FIELD_GET(VTD_QI_TYPE, desc->lo);

	if (type > VTD_QI_WAIT && !queue_is_wide(vtd))
		return VTD_IQEI_TYPE;
	if (desc->more[0] || desc->more[1])
		return VTD_IQEI_RESERVED;
	switch (type) {
	case VTD_QI_CONTEXT:
		return do_context(vtd, desc);
	case VTD_QI_IOTLB:
		return do_iotlb(vtd, desc);
	case VTD_QI_IEC:
		return do_iec(vtd, desc);
	case VTD_QI_WAIT:
		return do_wait(vtd, desc);
	case VTD_QI_PASID_IOTLB:
		return do_pasid_iotlb(vtd, desc);
	case VTD_QI_PASID_CACHE:
		return do_pasid_cache(vtd, desc);
	default:
		return VTD_IQEI_TYPE;
	}
}

static void queue_step(struct event *ev)
{
	struct vtd *vtd = container_of_event(ev, struct vtd, queue_event);
	u32 head = (u32)vtd->regs.iqh, len = desc_bytes(vtd);
	struct vtd_qi_desc desc = { 0 };
	hpa_t addr = { (vtd->regs.iqa & VTD_IQA_IQA) + head };
	u8 error = VTD_IQEI_FETCH;

	if (bus_ram_read(vtd->bus, addr, &desc, len))
		error = descriptor_do(vtd, &desc);
	if (!MODEL_CHECK(iommu_descriptor, !error)) {
		queue_error(vtd, error);
		return;
	}
	/* By mask: a queue shrunk by software while in use may not make the head run past it. */
	vtd->regs.iqh = (head + len) & (queue_bytes(vtd) - 1);
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
