// SPDX-License-Identifier: GPL-2.0
#include "vtd_internal.h"

/* VT-d 9.8 without ECAP.SC and ECAP.DT: SNP and TM are reserved. */
#define SSPTE_RSVD	(VTD_SSPTE_SNP | VTD_SSPTE_TM | (VTD_SSPTE_ADDR & VTD_ABOVE_HAW))

struct walk {
	u64 iova;
	u64 table;		/* of @level */
	unsigned int level;
	u8 perm;		/* of the levels above */
	u8 need;
};

static bool in_interrupt_range(u64 addr)
{
	return addr - VTD_MSI_BASE < VTD_MSI_SIZE;
}

bool vtd_width_is_supported(u64 aw)
{
	return aw == VTD_AW_39BIT || aw == VTD_AW_48BIT;
}

/* 9.3, in the order of the legacy-mode fault conditions LCT.1 to LCT.4 (7.1.3). */
static u8 context_check(u64 lo, u64 hi)
{
	u64 aw = FIELD_GET(VTD_CTX_HI_AW, hi);
	u64 tt = FIELD_GET(VTD_CTX_LO_TT, lo);

	if (!MODEL_CHECK(iommu_context_present, lo & VTD_CTX_LO_P))
		return VTD_FR_CONTEXT_NOT_PRESENT;
	/* SSPTPTR is reserved above the host address width; pass-through ignores it. */
	if (!MODEL_CHECK(iommu_context_reserved, !(lo & VTD_CTX_LO_RSVD) && !(hi & VTD_CTX_HI_RSVD) &&
			 (tt == VTD_TT_PASS_THROUGH || !(lo & VTD_CTX_LO_SSPTPTR & VTD_ABOVE_HAW))))
		return VTD_FR_CONTEXT_RSVD;
	/* ECAP.DT is 0: the device-TLB type is as unsupported as the reserved one. */
	if (!MODEL_CHECK(iommu_context_type, tt == VTD_TT_MULTI_LEVEL || tt == VTD_TT_PASS_THROUGH))
		return VTD_FR_CONTEXT_INVALID;
	if (!MODEL_CHECK(iommu_context_width, vtd_width_is_supported(aw)))
		return VTD_FR_CONTEXT_INVALID;
	return 0;
}

static u8 context_read(struct vtd *vtd, u16 rid, u64 *lo, u64 *hi)
{
	u64 entry = vtd->root + (u64)(rid >> 8) * VTD_ROOT_ENTRY_SIZE;
	u64 root_lo, root_hi;
	bool ok, ok_hi;

	root_lo = bus_rd64(vtd->bus, (hpa_t){ entry }, &ok);
	root_hi = bus_rd64(vtd->bus, (hpa_t){ entry + 8 }, &ok_hi);
	if (!ok || !ok_hi)
		return VTD_FR_ROOT_ACCESS;
	if (!MODEL_CHECK(iommu_root_present, root_lo & VTD_ROOT_LO_P))
		return VTD_FR_ROOT_NOT_PRESENT;
	if (!MODEL_CHECK(iommu_root_reserved, !(root_lo & (VTD_ROOT_LO_RSVD | VTD_ABOVE_HAW)) && !root_hi))
		return VTD_FR_ROOT_RSVD;
	entry = (root_lo & VTD_ROOT_LO_CTP) + (u64)(rid & 0xFF) * VTD_CONTEXT_ENTRY_SIZE;
	*lo = bus_rd64(vtd->bus, (hpa_t){ entry }, &ok);
	*hi = bus_rd64(vtd->bus, (hpa_t){ entry + 8 }, &ok_hi);
	return ok && ok_hi ? 0 : VTD_FR_CONTEXT_ACCESS;
}

static u8 legacy_context_get(struct vtd *vtd, u16 rid, struct vtd_context *out)
{
	const struct vtd_context *hit = vtd_context_hit(vtd, rid);
	u64 lo = 0, hi = 0;
	u8 reason;

	if (hit) {
		*out = *hit;
		return 0;
	}
	vtd->counters.context_miss++;
	reason = context_read(vtd, rid, &lo, &hi);
	*out = (struct vtd_context){ .fpd = !!(lo & VTD_CTX_LO_FPD) };
	if (!reason)
		reason = context_check(lo, hi);
	if (reason)
		return reason;
	out->valid = true;
	out->rid = rid;
	out->did = (u16)FIELD_GET(VTD_CTX_HI_DID, hi);
	out->pass_through = FIELD_GET(VTD_CTX_LO_TT, lo) == VTD_TT_PASS_THROUGH;
	out->levels = (u8)(FIELD_GET(VTD_CTX_HI_AW, hi) + 2);
	out->limit = vtd_limit(vtd, out->levels);
	out->table = lo & VTD_CTX_LO_SSPTPTR;
	vtd_context_fill(vtd, out);
	return 0;
}

u8 vtd_context_get(struct vtd *vtd, u16 rid, u32 pasid, struct vtd_context *out)
{
	if (vtd->root_mode == VTD_TTM_SCALABLE && vtd->cfg.scalable)
		return vtd_pasid_get(vtd, rid, pasid, out);
	*out = (struct vtd_context){ 0 };
	if (vtd->root_mode != VTD_TTM_LEGACY)
		return VTD_FR_ROOT_TABLE_MODE;
	if (!MODEL_CHECK(iommu_pasid_legacy, pasid == VTD_NO_PASID))
		return VTD_FR_PASID_IN_LEGACY_MODE;
	return legacy_context_get(vtd, rid, out);
}

/* What becomes of a translation has other numbers in scalable mode; @iova is the request's. */
static u8 scalable_reason(u8 reason, u64 iova)
{
	switch (reason) {
	case VTD_FR_CONTEXT_INVALID:
		return VTD_FR_SM_TABLE_POINTER;
	case VTD_FR_ADDR_BEYOND_MGAW:
		return iova >> VTD_MGAW_BITS ? VTD_FR_SM_ADDR_BEYOND_MGAW : VTD_FR_SM_ADDR_BEYOND_AW;
	case VTD_FR_WRITE:
		return VTD_FR_SM_WRITE;
	case VTD_FR_READ:
		return VTD_FR_SM_READ;
	case VTD_FR_PAGING_ACCESS:
		return VTD_FR_SM_PAGING_ACCESS;
	case VTD_FR_PAGING_RSVD:
		return VTD_FR_SM_PAGING_RSVD;
	case VTD_FR_INTERRUPT_RANGE:
		return VTD_FR_SM_INTERRUPT_RANGE;
	default:
		return reason;
	}
}

static u8 not_permitted(u8 need)
{
	return need & VTD_SSPTE_W ? VTD_FR_WRITE : VTD_FR_READ;
}

/* One entry of a table: 0 to go on, or why it cannot be used. No bit says "present": R = W = 0 does (9.8). */
static u8 entry_check(const struct walk *w, u64 pte, bool leaf)
{
	u64 rsvd = SSPTE_RSVD;

	if (!MODEL_CHECK(iommu_page_present, pte & (VTD_SSPTE_R | VTD_SSPTE_W)))
		return not_permitted(w->need);
	if (w->level > 3)
		rsvd |= VTD_SSPTE_PS;
	if (leaf && w->level > 1)
		rsvd |= GENMASK_ULL(VTD_LEVEL_SHIFT(w->level) - 1, 12);
	if (!MODEL_CHECK(iommu_page_reserved, !(pte & rsvd)))
		return VTD_FR_PAGING_RSVD;
	return MODEL_CHECK(iommu_permission, w->perm & (u8)pte & w->need) ? 0 : not_permitted(w->need);
}

/*
 * The tables are read with untrusted pointers in them: at most one entry a level is read,
 * and the level goes down each time, whatever the entries say. On success w->table is the
 * page's address and w->level its size.
 */
static u8 walk_tables(struct vtd *vtd, const struct vtd_context *ctx, struct walk *w)
{
	for (;;) {
		bool ok, leaf;
		u64 pte = bus_rd64(vtd->bus, (hpa_t){ w->table + 8 * VTD_LEVEL_INDEX(w->iova, w->level) }, &ok);
		u8 reason;

		/* 7.1.3: a pointer of the context entry that leads nowhere is that entry's fault. */
		if (!ok)
			return w->level == ctx->levels ? VTD_FR_CONTEXT_INVALID : VTD_FR_PAGING_ACCESS;
		leaf = w->level == 1 || (w->level <= 3 && (pte & VTD_SSPTE_PS));
		reason = entry_check(w, pte, leaf);
		if (reason)
			return reason;
		w->perm &= (u8)pte;
		w->table = pte & VTD_SSPTE_ADDR;
		if (leaf)
			return 0;
		w->level--;
		vtd_paging_fill(vtd, ctx->did, w->iova, w->level, w->table, w->perm);
	}
}

/* IOTLB miss of a translated context: 0 and *out, or a fault reason. */
static u8 translate_walk(struct vtd *vtd, const struct vtd_context *ctx, u64 iova, bool write, hpa_t *out)
{
	const struct vtd_paging_entry *cached = vtd_paging_find(vtd, ctx->did, iova, ctx->levels);
	struct walk w = {
		.iova = iova, .table = ctx->table, .level = ctx->levels, .perm = VTD_SSPTE_R | VTD_SSPTE_W,
		.need = write ? VTD_SSPTE_W : VTD_SSPTE_R,
	};
	u8 reason;

	if (cached) {
		w.table = cached->table;
		w.level = cached->level;
		w.perm = cached->perm;
	}
	reason = walk_tables(vtd, ctx, &w);
	if (reason)
		return reason;
	out->v = w.table | (iova & (BIT_ULL(VTD_LEVEL_SHIFT(w.level)) - 1));
	/* 3.15: memory may not be where interrupts are, however the tables say so. */
	if (!MODEL_CHECK(iommu_interrupt_target, !in_interrupt_range(out->v)))
		return VTD_FR_INTERRUPT_RANGE;
	vtd_iotlb_fill(vtd, ctx, iova, w.table, w.perm & (VTD_SSPTE_R | VTD_SSPTE_W), w.level);
	return 0;
}

/* The entry for @iova and the mask of what it leaves of an address. */
static inline const struct vtd_iotlb_entry *iotlb_find(const struct vtd_iotlb *tlb, const struct vtd_context *ctx,
						       u64 iova, u64 *offset_mask)
{
	const struct vtd_iotlb_entry *entry = vtd_iotlb_hit_level(tlb, ctx->did, ctx->pasid, iova, 1);

	*offset_mask = SPEC_PAGE_SIZE - 1;
	for (unsigned int level = 2; !entry && tlb->large && level <= VTD_LEAF_SIZES; level++) {
		entry = vtd_iotlb_hit_level(tlb, ctx->did, ctx->pasid, iova, level);
		*offset_mask = BIT_ULL(VTD_LEVEL_SHIFT(level)) - 1;
	}
	return entry;
}

/*
 * 6.2.3.1: entries are tagged with the domain and the PASID that they were made for. One for the same page of
 * another is no hit; who left the tags out would take it.
 */
static const struct vtd_iotlb_entry *iotlb_foreign(const struct vtd_iotlb *tlb, u64 iova)
{
	const struct vtd_iotlb_entry *way = tlb->way[vtd_iotlb_set(tlb, iova, 1)];
	u64 page = vtd_iotlb_key(0, iova, 1), did = GENMASK_ULL(51, 36);

	for (unsigned int i = 0; i < VTD_IOTLB_WAYS; i++) {
		if (way[i].key && (way[i].key & ~did) == page)
			return MODEL_CHECK(iommu_iotlb_tag, false) ? &way[i] : NULL;
	}
	return NULL;
}

/* A request as it arrives. */
struct request {
	u16 rid;
	u32 pasid;
	u64 iova;
	bool write;
};

static enum vtd_result block(struct vtd *vtd, const struct request *rq, const struct vtd_context *ctx, u8 reason)
{
	if (ctx->scalable)
		reason = scalable_reason(reason, rq->iova);
	vtd_fault_dma(vtd, rq->rid, rq->pasid, rq->iova, rq->write, reason, ctx->fpd);
	return VTD_BLOCKED;
}

/* Not memory (3.14). With a PASID all addresses are. */
static bool is_interrupt(const struct request *rq)
{
	return rq->pasid == VTD_NO_PASID && in_interrupt_range(rq->iova);
}

/* From the IOTLB or the tables: 0 and *out, or a fault reason. */
static u8 translate_page(struct vtd *vtd, const struct vtd_context *ctx, u64 iova, bool write, hpa_t *out,
			 u64 *latency_ps)
{
	u8 need = write ? VTD_SSPTE_W : VTD_SSPTE_R;
	u64 offset_mask;
	const struct vtd_iotlb_entry *entry = iotlb_find(&vtd->iotlb, ctx, iova, &offset_mask);

	if (!entry) {
		entry = iotlb_foreign(&vtd->iotlb, iova);
		offset_mask = SPEC_PAGE_SIZE - 1;
	}
	if (!entry) {
		vtd->counters.iotlb_miss++;
		vtd->counters.queue_miss[vtd->io_id >> 48 & 511]++;
		*latency_ps += vtd->cfg.iotlb_miss_ps;
		return translate_walk(vtd, ctx, iova, write, out);
	}
	/* 6.2.4: permissions are those cached; a page made writable since is so after its invalidation. */
	vtd->counters.iotlb_hit++;
	vtd->counters.queue_hit[vtd->io_id >> 48 & 511]++;
	if (!MODEL_CHECK(iommu_permission, entry->perm & need))
		return not_permitted(need);
	out->v = entry->hpa | (iova & offset_mask);
	return MODEL_CHECK(iommu_interrupt_target, !in_interrupt_range(out->v)) ? 0 : VTD_FR_INTERRUPT_RANGE;
}

/* All that is not a plain hit. */
static enum vtd_result translate_slow(struct vtd *vtd, const struct request *rq, hpa_t *out, u64 *latency_ps)
{
	struct vtd_context ctx;
	u8 reason = vtd_context_get(vtd, rq->rid, rq->pasid, &ctx);

	if (reason)
		return block(vtd, rq, &ctx, reason);
	/* Callers bring writes to vtd_interrupt(); what comes here all the same is no interrupt. */
	if (!MODEL_CHECK(iommu_interrupt_range, !is_interrupt(rq)))
		return block(vtd, rq, &ctx, rq->write ? VTD_FR_WRITE : VTD_FR_READ);
	if (!MODEL_CHECK(iommu_address_width, rq->iova < ctx.limit))
		return block(vtd, rq, &ctx, VTD_FR_ADDR_BEYOND_MGAW);
	if (ctx.pass_through) {
		out->v = rq->iova;
		/* Untranslated the request would be one to the interrupt range, which with a PASID it cannot be. */
		return MODEL_CHECK(iommu_interrupt_target, !in_interrupt_range(rq->iova)) ? VTD_OK :
		       block(vtd, rq, &ctx, VTD_FR_INTERRUPT_RANGE);
	}
	reason = translate_page(vtd, &ctx, rq->iova, rq->write, out, latency_ps);
	return reason ? block(vtd, rq, &ctx, reason) : VTD_OK;
}

/* What is cached for the request, or NULL where it is not plain. */
static inline const struct vtd_context *context_hit(const struct vtd *vtd, const struct request *rq)
{
	const struct vtd_smctx *ctx;
	bool with_pasid = rq->pasid != VTD_NO_PASID;
	u32 pasid = rq->pasid;

	if (vtd->root_mode == VTD_TTM_LEGACY)
		return with_pasid ? NULL : vtd_context_hit(vtd, rq->rid);
	ctx = vtd_smctx_hit(vtd, rq->rid);
	if (!ctx || vtd->root_mode != VTD_TTM_SCALABLE || (with_pasid && !ctx->paside))
		return NULL;
	if (!with_pasid)
		pasid = ctx->rid_pasid;
	return pasid < ctx->nr_pasids ? vtd_pasid_hit(vtd, rq->rid, pasid) : NULL;
}

enum vtd_result vtd_translate(struct vtd *vtd, u16 rid, u32 pasid, iova_t addr, bool write, hpa_t *out,
			      u64 *latency_ps)
{
	const struct request rq = { .rid = rid, .pasid = pasid, .iova = addr.v, .write = write };
	const struct vtd_context *ctx;
	const struct vtd_iotlb_entry *entry;
	u64 offset_mask;

	if (!(vtd->regs.gsts & VTD_G_TE)) {
		out->v = addr.v;
		return VTD_OK;
	}
	ctx = context_hit(vtd, &rq);
	if (ctx && !ctx->pass_through && addr.v < ctx->limit && !is_interrupt(&rq)) {
		entry = iotlb_find(&vtd->iotlb, ctx, addr.v, &offset_mask);
		if (entry && (entry->perm & (write ? VTD_SSPTE_W : VTD_SSPTE_R))) {
			out->v = entry->hpa | (addr.v & offset_mask);
			/* Part of a large page may lie there. */
			if (!in_interrupt_range(out->v)) {
				vtd->counters.iotlb_hit++;
				vtd->counters.queue_hit[vtd->io_id >> 48 & 511]++;
				return VTD_OK;
			}
		}
	}
	return translate_slow(vtd, &rq, out, latency_ps);
}

void vtd_block(struct vtd *vtd, u16 rid, iova_t addr, bool write, u8 reason)
{
	const struct request rq = { .rid = rid, .pasid = VTD_NO_PASID, .iova = addr.v, .write = write };
	struct vtd_context ctx = { 0 };

	/* FPD is the context entry's; a broken entry does not change what was refused. */
	if (vtd->regs.gsts & VTD_G_TE)
		vtd_context_get(vtd, rid, VTD_NO_PASID, &ctx);
	block(vtd, &rq, &ctx, reason);
}
