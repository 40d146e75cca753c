// SPDX-License-Identifier: GPL-2.0
#include "vtd_internal.h"

/* An interrupt on its way to the processors. */
struct message {
	u32 dest;
	u8 vector, mode;
	bool logical, one_of;	/* DM; RH or lowest priority: one of those named */
	bool x2apic;
};

/*
 * Logical destinations become the APIC ids they stand for. x2APIC: the logical id is
 * derived from the id by the architecture (SDM 11.12.10.2). xAPIC: software writes the
 * logical id; flat model with bit n for APIC id n is assumed, as systems set it up. Of a
 * set of which one is to be chosen, the lowest id is.
 */
static void message_send(struct vtd *vtd, const struct message *msg)
{
	u32 base = msg->x2apic ? (msg->dest >> 16) << 4 : 0;
	u32 set = msg->dest & (msg->x2apic ? 0xFFFF : 0xFF);

	if (!msg->logical) {
		vtd->sink.deliver(vtd->sink.opaque, msg->dest, msg->vector, msg->mode);
		return;
	}
	for (u32 bit = 0; bit < 16; bit++) {
		if (!(set & BIT_ULL(bit)))
			continue;
		vtd->sink.deliver(vtd->sink.opaque, base | bit, msg->vector, msg->mode);
		if (msg->one_of)
			return;
	}
}

/* Compatibility format (5.1.2.1); the unit's own events have APIC id bits 31:8 in the upper address. */
void vtd_message(struct vtd *vtd, u64 addr, u32 data)
{
	u8 mode = (u8)FIELD_GET(VTD_MSI_DATA_DLM, data);
	struct message msg = {
		.dest = (u32)FIELD_GET(VTD_MSI_COMPAT_DEST, addr) | ((u32)(addr >> 32) & ~0xFFU),
		.vector = (u8)FIELD_GET(VTD_MSI_DATA_VECTOR, data),
		.mode = mode,
		.logical = addr & VTD_MSI_COMPAT_DM,
		.one_of = (addr & VTD_MSI_COMPAT_RH) || mode == VTD_DLM_LOWEST,
		.x2apic = vtd->eime,
	};

	message_send(vtd, &msg);
}

static bool delivery_mode_is_reserved(u64 lo)
{
	u64 mode = FIELD_GET(VTD_IRTE_LO_DLM, lo);

	return mode == 3 || mode == 6;
}

/* 9.9, 9.10: the entry by itself, whoever asks for it. */
static u8 irte_check(const struct vtd *vtd, const struct vtd_irte *irte)
{
	bool reserved;

	if (!MODEL_CHECK(irte_present, irte->lo & VTD_IRTE_LO_P))
		return VTD_FR_IR_NOT_PRESENT;
	if (irte->lo & VTD_IRTE_LO_IM) {
		reserved = !vtd->cfg.posted_interrupts || (irte->lo & VTD_IRTE_POSTED_LO_RSVD) ||
			   (irte->hi & VTD_IRTE_POSTED_HI_RSVD);
	} else {
		reserved = (irte->lo & VTD_IRTE_LO_RSVD) || (irte->hi & VTD_IRTE_HI_RSVD) ||
			   delivery_mode_is_reserved(irte->lo) ||
			   (!vtd->eime && (irte->lo & VTD_IRTE_LO_DST & ~VTD_IRTE_LO_DST_XAPIC));
	}
	return MODEL_CHECK(irte_reserved, !reserved) ? 0 : VTD_FR_IR_ENTRY_RSVD;
}

/* 9.9 SVT, SQ. SVT 3 is reserved: it lets nobody through. */
static bool source_is_valid(const struct vtd_irte *irte, u16 rid)
{
	static const u16 compared[4] = { 0xFFFF, 0xFFFB, 0xFFF9, 0xFFF8 };
	u16 sid = (u16)FIELD_GET(VTD_IRTE_HI_SID, irte->hi);

	switch (FIELD_GET(VTD_IRTE_HI_SVT, irte->hi)) {
	case VTD_SVT_NONE:
		return true;
	case VTD_SVT_SID_SQ:
		return !((rid ^ sid) & compared[FIELD_GET(VTD_IRTE_HI_SQ, irte->hi)]);
	case VTD_SVT_BUS_RANGE:
		return rid >> 8 >= sid >> 8 && rid >> 8 <= (sid & 0xFF);
	default:
		return false;
	}
}

static u8 irte_get(struct vtd *vtd, u32 index, struct vtd_irte *out)
{
	const struct vtd_irte *hit = vtd_irte_find(vtd, index);
	hpa_t addr = { vtd->ir_table + (u64)index * VTD_IRTE_SIZE };
	u8 reason;

	if (hit) {
		*out = *hit;
		return 0;
	}
	*out = (struct vtd_irte){ .valid = true, .index = (u16)index };
	if (!bus_ram_read(vtd->bus, addr, out, VTD_IRTE_SIZE)) {
		out->lo = 0;
		return VTD_FR_IR_ACCESS;
	}
	reason = irte_check(vtd, out);
	if (!reason)
		vtd_irte_fill(vtd, out);
	return reason;
}

static void remap(struct vtd *vtd, u16 rid, const struct vtd_irte *irte)
{
	struct message msg = {
		.vector = (u8)FIELD_GET(VTD_IRTE_LO_V, irte->lo),
		.mode = (u8)FIELD_GET(VTD_IRTE_LO_DLM, irte->lo),
		.logical = irte->lo & VTD_IRTE_LO_DM,
		.x2apic = vtd->eime,
	};

	msg.dest = (u32)(vtd->eime ? FIELD_GET(VTD_IRTE_LO_DST, irte->lo) : FIELD_GET(VTD_IRTE_LO_DST_XAPIC, irte->lo));
	msg.one_of = (irte->lo & VTD_IRTE_LO_RH) || msg.mode == VTD_DLM_LOWEST;
	vtd->counters.remapped++;
	trace4(vtd->trace, TRACE_IRTE_REMAP, vtd->io_id, rid, irte->index, msg.vector, msg.dest);
	message_send(vtd, &msg);
}

/*
 * 5.2.3. Hardware holds the descriptor's cache line between its read and its write; here
 * nothing else runs in between. A notification is sent when the target asked for it or the
 * source is urgent, and none is outstanding.
 */
static u8 post(struct vtd *vtd, u16 rid, const struct vtd_irte *irte)
{
	u64 pda = FIELD_GET(VTD_IRTE_POSTED_LO_PDA, irte->lo) << 6 | FIELD_GET(VTD_IRTE_POSTED_HI_PDA, irte->hi) << 32;
	u8 vector = (u8)FIELD_GET(VTD_IRTE_LO_V, irte->lo);
	struct message msg = { .mode = VTD_DLM_FIXED };
	struct vtd_pid pid;

	if (!bus_ram_read(vtd->bus, (hpa_t){ pda }, &pid, sizeof(pid)))
		return VTD_FR_IR_PID_ACCESS;
	if (!MODEL_CHECK(irte_descriptor_reserved, !(pid.control & VTD_PID_RSVD) &&
			 (vtd->eime || !(pid.control & VTD_PID_NDST & ~VTD_PID_NDST_XAPIC))))
		return VTD_FR_IR_PID_RSVD;
	bus_wr64(vtd->bus, (hpa_t){ pda + 8ULL * (vector / 64) }, pid.pir[vector / 64] | BIT_ULL(vector % 64));
	vtd->counters.posted++;
	trace4(vtd->trace, TRACE_IRTE_POST, vtd->io_id, rid, irte->index, vector, pda);
	if ((pid.control & VTD_PID_ON) || ((pid.control & VTD_PID_SN) && !(irte->lo & VTD_IRTE_POSTED_LO_URG)))
		return 0;
	bus_wr64(vtd->bus, (hpa_t){ pda + VTD_PID_CONTROL }, pid.control | VTD_PID_ON);
	msg.vector = (u8)FIELD_GET(VTD_PID_NV, pid.control);
	msg.dest = (u32)(vtd->eime ? FIELD_GET(VTD_PID_NDST, pid.control) : FIELD_GET(VTD_PID_NDST_XAPIC, pid.control));
	vtd->counters.notified++;
	trace4(vtd->trace, TRACE_PI_NOTIFY, vtd->io_id, pda, msg.vector, msg.dest, 0);
	message_send(vtd, &msg);
	return 0;
}

/* 5.1.3. The index of a message with a subhandle has 17 bits: 0xFFFF + 0xFFFF must not name a low entry. */
static u32 request_index(u64 addr, u32 data)
{
	u32 index = (u32)(FIELD_GET(VTD_MSI_HANDLE_14_0, addr) | FIELD_GET(VTD_MSI_HANDLE_15, addr) << 15);

	return addr & VTD_MSI_SHV ? index + (u32)FIELD_GET(VTD_MSI_DATA_SUBHANDLE, data) : index;
}

static enum vtd_result block(struct vtd *vtd, u16 rid, u32 index, u64 addr, u8 reason, bool fpd)
{
	vtd_fault_ir(vtd, rid, index, addr, reason, fpd);
	return VTD_BLOCKED;
}

static enum vtd_result remappable(struct vtd *vtd, u16 rid, u64 addr, u32 data)
{
	u32 index = request_index(addr, data);
	struct vtd_irte irte;
	u8 reason;

	if (!MODEL_CHECK(irte_message_reserved, !(addr & VTD_MSI_SHV) || !(data & VTD_MSI_DATA_RSVD)))
		return block(vtd, rid, index, addr, VTD_FR_IR_REQUEST_RSVD, false);
	if (!MODEL_CHECK(irte_index, index < vtd->ir_entries))
		return block(vtd, rid, index, addr, VTD_FR_IR_INDEX, false);
	reason = irte_get(vtd, index, &irte);
	if (!reason && !MODEL_CHECK(irte_source, source_is_valid(&irte, rid)))
		reason = VTD_FR_IR_SOURCE;
	if (!reason && (irte.lo & VTD_IRTE_LO_IM))
		reason = post(vtd, rid, &irte);
	else if (!reason)
		remap(vtd, rid, &irte);
	return reason ? block(vtd, rid, index, addr, reason, irte.lo & VTD_IRTE_LO_FPD) : VTD_OK;
}

enum vtd_result vtd_interrupt(struct vtd *vtd, u16 rid, u64 addr, u32 data, u32 len_bytes)
{
	/* 3.14: only one whole dword is an interrupt; a burst is never taken for several. */
	if (!MODEL_CHECK(iommu_message_shape, len_bytes == 4 && !(addr & 3) && addr - VTD_MSI_BASE < VTD_MSI_SIZE))
		return block(vtd, rid, VTD_NO_INDEX, addr, VTD_FR_IR_REQUEST_RSVD, false);
	if ((vtd->regs.gsts & VTD_G_IRE) && (addr & VTD_MSI_REMAPPABLE))
		return remappable(vtd, rid, addr, data);
	/* 5.1.4: in x2APIC mode there is no compatibility format whatever CFI says. */
	if ((vtd->regs.gsts & VTD_G_IRE) && !MODEL_CHECK(irte_compatibility, !vtd->eime && (vtd->regs.gsts & VTD_G_CFI)))
		return block(vtd, rid, 0, addr, VTD_FR_IR_COMPATIBILITY, false);
	trace4(vtd->trace, TRACE_MSI_COMPAT, vtd->io_id, rid, 0, addr, data);
	vtd_message(vtd, addr, data);
	return VTD_OK;
}
