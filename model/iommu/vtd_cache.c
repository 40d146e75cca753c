// SPDX-License-Identifier: GPL-2.0
#include "vtd_internal.h"

/*
 * Caching structures, VT-d 6.2. CAP.CM is 0: only present, error-free entries are kept.
 * Nothing but an invalidation or a replacement takes an entry out; in particular neither
 * SRTP nor a change of the tables does (6.5.1: software's duty), so whoever forgets to
 * invalidate is served what was. Replacement is by order of entry and so the same in each run.
 */

static bool ranges_overlap(u64 a, u64 a_size, u64 b, u64 b_size)
{
	return a < b ? b - a < a_size : a - b < b_size;
}

void vtd_context_fill(struct vtd *vtd, const struct vtd_context *ctx)
{
	vtd->context[vtd_context_slot(ctx->rid)] = *ctx;
}

void vtd_smctx_fill(struct vtd *vtd, const struct vtd_smctx *ctx)
{
	vtd->smctx[vtd_context_slot(ctx->rid)] = *ctx;
}

void vtd_pasid_fill(struct vtd *vtd, const struct vtd_context *entry)
{
	vtd->pasid[vtd_pasid_slot(entry->rid, entry->pasid)] = *entry;
}

/* A scalable-mode context has no domain: of its entries a request names the function, or all. */
static void smctx_invalidate(struct vtd *vtd, const struct vtd_context_inval *inv, u16 mask)
{
	for (unsigned int i = 0; i < VTD_CONTEXT_CACHE; i++) {
		if (inv->granularity == VTD_GRAN_DEVICE && ((vtd->smctx[i].rid ^ inv->sid) & mask))
			continue;
		if (vtd->smctx[i].valid && MODEL_STEP(iommu_sm_context_invalidate))
			vtd->smctx[i].valid = false;
	}
}

void vtd_context_invalidate(struct vtd *vtd, const struct vtd_context_inval *inv)
{
	/* 6.5.2.1: FM 1, 2, 3 leave out one, two, three bits of the function number, from the top of it down. */
	static const u16 ignored[4] = { 0, 4, 6, 7 };
	u16 mask = (u16)~ignored[inv->function_mask & 3];

	for (unsigned int i = 0; i < VTD_CONTEXT_CACHE; i++) {
		struct vtd_context *ctx = &vtd->context[i];

		if (inv->granularity != VTD_GRAN_GLOBAL && ctx->did != inv->did)
			continue;
		if (inv->granularity == VTD_GRAN_DEVICE && ((ctx->rid ^ inv->sid) & mask))
			continue;
		if (MODEL_STEP(iommu_context_invalidate))
			ctx->valid = false;
	}
	smctx_invalidate(vtd, inv, mask);
	vtd->counters.invalidations++;
	trace4(vtd->trace, TRACE_VTD_INVAL, 0, VTD_QI_CONTEXT, inv->did, inv->sid, inv->function_mask);
}

void vtd_pasid_invalidate(struct vtd *vtd, const struct vtd_pasid_inval *inv)
{
	for (unsigned int i = 0; i < VTD_PASID_CACHE; i++) {
		struct vtd_context *entry = &vtd->pasid[i];

		if (inv->granularity != VTD_QI_PC_GLOBAL && entry->did != inv->did)
			continue;
		if (inv->granularity == VTD_QI_PC_PASID && entry->pasid != inv->pasid)
			continue;
		if (entry->valid && MODEL_STEP(iommu_pasid_invalidate))
			entry->valid = false;
	}
	vtd->counters.invalidations++;
	trace4(vtd->trace, TRACE_VTD_INVAL, 0, VTD_QI_PASID_CACHE, inv->did, inv->pasid, inv->granularity);
}

void vtd_iotlb_fill(struct vtd *vtd, const struct vtd_context *ctx, u64 iova, u64 hpa, u8 perm, unsigned int level)
{
	struct vtd_iotlb *tlb = &vtd->iotlb;
	u32 set = vtd_iotlb_set(tlb, iova, level);
	unsigned int way = 0;

	while (way < VTD_IOTLB_WAYS && tlb->way[set][way].key)
		way++;
	if (way == VTD_IOTLB_WAYS) {
		way = tlb->next[set];
		tlb->next[set] = (u8)((way + 1) % VTD_IOTLB_WAYS);
	}
	tlb->way[set][way] = (struct vtd_iotlb_entry){
		.key = vtd_iotlb_key(ctx->did, iova, level), .hpa = hpa, .pasid = ctx->pasid, .perm = perm,
	};
	tlb->large |= level > 1;
}

static bool iotlb_entry_selected(const struct vtd_iotlb_entry *entry, const struct vtd_iotlb_inval *inv, u64 size)
{
	unsigned int level = (unsigned int)(entry->key >> 60 & 3);
	u64 page = entry->key & GENMASK_ULL(35, 0);

	if (inv->granularity == VTD_GRAN_GLOBAL)
		return true;
	if ((u16)(entry->key >> 36) != inv->did)
		return false;
	if (inv->granularity == VTD_GRAN_DOMAIN)
		return true;
	/* 6.5.2.3: a large page that meets the range goes, all of it. */
	return ranges_overlap(page << VTD_LEVEL_SHIFT(level), BIT_ULL(VTD_LEVEL_SHIFT(level)), inv->addr, size);
}

static void iotlb_drop(struct vtd *vtd, const struct vtd_iotlb_inval *inv, u64 size)
{
	for (unsigned int set = 0; set <= vtd->iotlb.set_mask; set++) {
		for (unsigned int i = 0; i < VTD_IOTLB_WAYS; i++) {
			struct vtd_iotlb_entry *entry = &vtd->iotlb.way[set][i];

			if (entry->key && iotlb_entry_selected(entry, inv, size) && MODEL_STEP(iommu_iotlb_invalidate))
				entry->key = 0;
		}
	}
	if (inv->granularity == VTD_GRAN_GLOBAL)
		vtd->iotlb.large = false;
}

static void paging_drop(struct vtd *vtd, const struct vtd_iotlb_inval *inv, u64 size)
{
	for (unsigned int i = 0; i < VTD_PAGING_CACHE; i++) {
		struct vtd_paging_entry *entry = &vtd->paging[i];

		if (!entry->level || (inv->granularity != VTD_GRAN_GLOBAL && entry->did != inv->did))
			continue;
		if (inv->granularity == VTD_GRAN_PAGE &&
		    !ranges_overlap(entry->base, BIT_ULL(VTD_LEVEL_SHIFT(entry->level + 1)), inv->addr, size))
			continue;
		if (MODEL_STEP(iommu_paging_invalidate))
			entry->level = 0;
	}
}

/* 6.5.2.3: low bits of the address under the mask are not looked at; the hint is for page granularity only. */
void vtd_iotlb_invalidate(struct vtd *vtd, const struct vtd_iotlb_inval *req)
{
	struct vtd_iotlb_inval inv = *req;
	u64 size = SPEC_PAGE_SIZE << inv.address_mask;

	inv.addr &= ~(size - 1);
	iotlb_drop(vtd, &inv, size);
	if (inv.granularity != VTD_GRAN_PAGE || !inv.hint)
		paging_drop(vtd, &inv, size);
	vtd->counters.invalidations++;
	trace4(vtd->trace, TRACE_VTD_INVAL, 0, VTD_QI_IOTLB, inv.did, inv.addr, inv.address_mask);
}

/*
 * 6.5.2.4, table 21: of second-stage mappings this takes the translations of the PASID; tables on
 * the way to them are kept by domain alone, and stay.
 */
void vtd_iotlb_invalidate_pasid(struct vtd *vtd, u16 did, u32 pasid)
{
	for (unsigned int set = 0; set <= vtd->iotlb.set_mask; set++) {
		for (unsigned int i = 0; i < VTD_IOTLB_WAYS; i++) {
			struct vtd_iotlb_entry *entry = &vtd->iotlb.way[set][i];

			if (entry->key && (u16)(entry->key >> 36) == did && entry->pasid == pasid &&
			    MODEL_STEP(iommu_pasid_iotlb_invalidate))
				entry->key = 0;
		}
	}
	vtd->counters.invalidations++;
	trace4(vtd->trace, TRACE_VTD_INVAL, 0, VTD_QI_PASID_IOTLB, did, pasid, 0);
}

static unsigned int paging_slot(u16 did, u64 iova, unsigned int level)
{
	u64 region = iova >> VTD_LEVEL_SHIFT(level + 1);

	return (unsigned int)((region ^ region >> 6 ^ did ^ level << 4) % VTD_PAGING_CACHE);
}

const struct vtd_paging_entry *vtd_paging_find(const struct vtd *vtd, u16 did, u64 iova, unsigned int top_level)
{
	for (unsigned int level = 1; level < top_level; level++) {
		const struct vtd_paging_entry *entry = &vtd->paging[paging_slot(did, iova, level)];

		if (entry->level == level && entry->did == did &&
		    entry->base == (iova >> VTD_LEVEL_SHIFT(level + 1)) << VTD_LEVEL_SHIFT(level + 1))
			return entry;
	}
	return NULL;
}

void vtd_paging_fill(struct vtd *vtd, u16 did, u64 iova, unsigned int level, u64 table, u8 perm)
{
	vtd->paging[paging_slot(did, iova, level)] = (struct vtd_paging_entry){
		.table = table, .did = did, .level = (u8)level, .perm = perm,
		.base = (iova >> VTD_LEVEL_SHIFT(level + 1)) << VTD_LEVEL_SHIFT(level + 1),
	};
}

const struct vtd_irte *vtd_irte_find(const struct vtd *vtd, u32 index)
{
	const struct vtd_irte *irte = &vtd->irte[index % VTD_IR_CACHE];

	return irte->valid && irte->index == index ? irte : NULL;
}

void vtd_irte_fill(struct vtd *vtd, const struct vtd_irte *irte)
{
	vtd->irte[irte->index % VTD_IR_CACHE] = *irte;
}

void vtd_irte_invalidate(struct vtd *vtd, bool global, u16 index, u8 index_mask)
{
	for (unsigned int i = 0; i < VTD_IR_CACHE; i++) {
		struct vtd_irte *irte = &vtd->irte[i];

		if ((global || (irte->index ^ index) >> index_mask == 0) && MODEL_STEP(irte_invalidate))
			irte->valid = false;
	}
	vtd->counters.invalidations++;
	trace4(vtd->trace, TRACE_VTD_INVAL, 0, VTD_QI_IEC, 0, index, index_mask);
}
