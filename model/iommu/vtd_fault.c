// SPDX-License-Identifier: GPL-2.0
#include "vtd_internal.h"

/* Conditions software has not seen to yet; while one stands no further event is raised (7.3). */
#define FSTS_PENDING (VTD_FSTS_PFO | VTD_FSTS_PPF | VTD_FSTS_IQE | VTD_FSTS_ICE | VTD_FSTS_ITE)

/* 7.4, 6.5.2.9: an event sends its message, or while masked leaves IP behind. */
static void event_raise(struct vtd *vtd, u64 *ctl, u64 addr, u64 upper, u64 data)
{
	if (*ctl & VTD_ECTL_IM)
		*ctl |= VTD_ECTL_IP;
	else
		vtd_message(vtd, upper << 32 | addr, (u32)data);
}

static void fault_event(struct vtd *vtd)
{
	struct vtd_regs *regs = &vtd->regs;

	event_raise(vtd, &regs->fectl, regs->feaddr, regs->feuaddr, regs->fedata);
}

static void invalidation_event(struct vtd *vtd)
{
	struct vtd_regs *regs = &vtd->regs;

	event_raise(vtd, &regs->iectl, regs->ieaddr, regs->ieuaddr, regs->iedata);
}

void vtd_event_invalidation_done(struct vtd *vtd)
{
	bool pending = vtd->regs.ics & VTD_ICS_IWC;

	vtd->regs.ics |= VTD_ICS_IWC;
	if (!pending)
		invalidation_event(vtd);
}

void vtd_event_unmask(struct vtd *vtd)
{
	if ((vtd->regs.fectl & (VTD_ECTL_IM | VTD_ECTL_IP)) == VTD_ECTL_IP) {
		vtd->regs.fectl &= ~VTD_ECTL_IP;
		fault_event(vtd);
	}
	if ((vtd->regs.iectl & (VTD_ECTL_IM | VTD_ECTL_IP)) == VTD_ECTL_IP) {
		vtd->regs.iectl &= ~VTD_ECTL_IP;
		invalidation_event(vtd);
	}
}

void vtd_fault_status(struct vtd *vtd, u64 status)
{
	u64 before = vtd->regs.fsts & FSTS_PENDING;

	vtd->regs.fsts |= status;
	if (!before)
		fault_event(vtd);
}

/* PPF is the OR of the records' F; when nothing is left to serve, neither is the pending event (11.4.7.2). */
void vtd_fault_cleared(struct vtd *vtd)
{
	bool recorded = false;

	for (unsigned int i = 0; i < VTD_FAULT_RECORDS; i++)
		recorded |= !!(vtd->frcd[i].hi & VTD_FRCD_HI_F);
	if (!recorded)
		vtd->regs.fsts &= ~(VTD_FSTS_PPF | VTD_FSTS_FRI);
	if (!(vtd->regs.fsts & VTD_FSTS_IQE))
		vtd->regs.iqercd = 0;
	if (!(vtd->regs.fsts & FSTS_PENDING))
		vtd->regs.fectl &= ~VTD_ECTL_IP;
}

/*
 * 7.2.1: records are used in turn; a fault that finds its record still in use, or PFO still
 * set, is lost and only PFO tells. Faults of one source are not collapsed, which the
 * specification allows and does not ask for.
 */
static void fault_record(struct vtd *vtd, u64 info, u64 hi)
{
	struct vtd_frcd *rec = &vtd->frcd[vtd->frcd_next];
	u64 status = VTD_FSTS_PPF;

	if ((vtd->regs.fsts & VTD_FSTS_PFO) || (rec->hi & VTD_FRCD_HI_F)) {
		vtd->counters.faults_overflowed++;
		vtd_fault_status(vtd, VTD_FSTS_PFO);
		return;
	}
	rec->lo = info;
	rec->hi = hi | VTD_FRCD_HI_F;
	if (!(vtd->regs.fsts & VTD_FSTS_PPF))
		status |= FIELD_PREP(VTD_FSTS_FRI, vtd->frcd_next);
	vtd->frcd_next = (vtd->frcd_next + 1) % VTD_FAULT_RECORDS;
	vtd_fault_status(vtd, status);
}

/* 7.1.3: which reasons a context entry's FPD speaks for; those before it was read are always recorded. */
static bool dma_fault_is_qualified(u8 reason)
{
	switch (reason) {
	case VTD_FR_ROOT_NOT_PRESENT:
	case VTD_FR_ROOT_ACCESS:
	case VTD_FR_ROOT_RSVD:
	case VTD_FR_CONTEXT_ACCESS:
	case VTD_FR_ROOT_TABLE_MODE:
	case VTD_FR_PASID_IN_LEGACY_MODE:
	case VTD_FR_SM_ROOT_ACCESS:
	case VTD_FR_SM_ROOT_NOT_PRESENT:
	case VTD_FR_SM_ROOT_RSVD:
	case VTD_FR_SM_CONTEXT_ACCESS:
		return false;
	default:
		return true;
	}
}

void vtd_fault_dma(struct vtd *vtd, u16 rid, u32 pasid, u64 iova, bool write, u8 reason, bool fpd)
{
	u64 with = pasid == VTD_NO_PASID ? 0 : VTD_FRCD_HI_PP | FIELD_PREP(VTD_FRCD_HI_PV, pasid & VTD_PASID_MASK);

	vtd->counters.faults++;
	trace4(vtd->trace, TRACE_VTD_FAULT, vtd->io_id, rid | (u64)write << 16, iova, reason,
	       pasid == VTD_NO_PASID ? 0 : pasid + 1ULL);
	if (fpd && dma_fault_is_qualified(reason))
		return;
	fault_record(vtd, iova & VTD_FRCD_LO_FI,
		     FIELD_PREP(VTD_FRCD_HI_SID, rid) | FIELD_PREP(VTD_FRCD_HI_FR, reason) |
		     with | (write ? 0 : VTD_FRCD_HI_T));
}

/* The index field has 16 bits: an index that did not fit is recorded cut, and traced whole. */
void vtd_fault_ir(struct vtd *vtd, u16 rid, u32 index, u64 addr, u8 reason, bool fpd)
{
	vtd->counters.irte_faults++;
	trace4(vtd->trace, TRACE_IRTE_FAULT, vtd->io_id, rid, index, reason, addr);
	if (fpd)
		return;
	fault_record(vtd, FIELD_PREP(VTD_FRCD_LO_INDEX, index == VTD_NO_INDEX ? 0 : index),
		     FIELD_PREP(VTD_FRCD_HI_SID, rid) | FIELD_PREP(VTD_FRCD_HI_FR, reason));
}
