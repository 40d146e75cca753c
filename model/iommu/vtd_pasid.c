// SPDX-License-Identifier: GPL-2.0
#include "vtd_internal.h"

/*
 * Scalable mode, VT-d 3.4.3: root entry, context entry, PASID directory, PASID table. The entry
 * found there says what a context entry says in legacy mode. A request without PASID is the
 * RID_PASID's of its context. First-stage tables are not offered (ECAP.FSTS = 0), so what
 * belongs to them in an entry is reserved.
 */

#define PASID_ENTRY_WORDS (VTD_PASID_ENTRY_SIZE / 8)

static u8 smctx_check(const u64 word[4])
{
	if (!MODEL_CHECK(iommu_sm_context_present, word[0] & VTD_SMCTX_LO_P))
		return VTD_FR_SM_CONTEXT_NOT_PRESENT;
	/* ECAP.DT and PRS are 0: their bits are as reserved as the others. */
	if (!MODEL_CHECK(iommu_sm_context_reserved,
			 !(word[0] & (VTD_SMCTX_LO_DTE | VTD_SMCTX_LO_PRE | VTD_SMCTX_LO_RSVD | VTD_ABOVE_HAW)) &&
			 !(word[1] & VTD_SMCTX_HI_RSVD) && !word[2] && !word[3]))
		return VTD_FR_SM_CONTEXT_RSVD;
	return 0;
}

/* False: not memory. */
static bool words_read(struct vtd *vtd, u64 addr, u64 *word, unsigned int nr)
{
	bool ok = true;

	for (unsigned int i = 0; i < nr && ok; i++)
		word[i] = bus_rd64(vtd->bus, (hpa_t){ addr + 8 * i }, &ok);
	return ok;
}

static u8 smctx_read(struct vtd *vtd, u16 rid, u64 word[4])
{
	u64 half = vtd->root + (u64)(rid >> 8) * VTD_ROOT_ENTRY_SIZE + (rid & VTD_SMCTX_PER_TABLE ? 8 : 0), root;

	if (!words_read(vtd, half, &root, 1))
		return VTD_FR_SM_ROOT_ACCESS;
	if (!MODEL_CHECK(iommu_sm_root_present, root & VTD_SMROOT_P))
		return VTD_FR_SM_ROOT_NOT_PRESENT;
	if (!MODEL_CHECK(iommu_sm_root_reserved, !(root & (VTD_SMROOT_RSVD | VTD_ABOVE_HAW))))
		return VTD_FR_SM_ROOT_RSVD;
	root &= VTD_SMROOT_CTP;
	return words_read(vtd, root + (u64)(rid % VTD_SMCTX_PER_TABLE) * VTD_SMCTX_SIZE, word, 4) ? 0 :
	       VTD_FR_SM_CONTEXT_ACCESS;
}

/* The function's context; on a fault only @out->fpd means anything. */
static u8 smctx_get(struct vtd *vtd, u16 rid, struct vtd_smctx *out)
{
	const struct vtd_smctx *hit = vtd_smctx_hit(vtd, rid);
	u64 word[4] = { 0 };
	u8 reason;

	if (hit) {
		*out = *hit;
		return 0;
	}
	vtd->counters.context_miss++;
	reason = smctx_read(vtd, rid, word);
	*out = (struct vtd_smctx){ .fpd = !!(word[0] & VTD_SMCTX_LO_FPD) };
	if (!reason)
		reason = smctx_check(word);
	if (reason)
		return reason;
	out->valid = true;
	out->rid = rid;
	out->paside = word[0] & VTD_SMCTX_LO_PASIDE;
	out->nr_pasids = (u32)VTD_PASID_PER_TABLE << (FIELD_GET(VTD_SMCTX_LO_PDTS, word[0]) + 7);
	out->rid_pasid = (u32)FIELD_GET(VTD_SMCTX_HI_RID_PASID, word[1]);
	out->dir = word[0] & VTD_SMCTX_LO_DIR;
	vtd_smctx_fill(vtd, out);
	return 0;
}

/* Address of the PASID's entry. */
static u8 dir_read(struct vtd *vtd, u64 dir, u32 pasid, u64 *entry, bool *fpd)
{
	u64 word;

	if (!words_read(vtd, dir + (u64)(pasid / VTD_PASID_PER_TABLE) * VTD_PASIDDIR_SIZE, &word, 1))
		return VTD_FR_SM_DIR_ACCESS;
	*fpd |= !!(word & VTD_PASIDDIR_FPD);
	if (!MODEL_CHECK(iommu_pasid_dir_present, word & VTD_PASIDDIR_P))
		return VTD_FR_SM_DIR_NOT_PRESENT;
	if (!MODEL_CHECK(iommu_pasid_dir_reserved, !(word & (VTD_PASIDDIR_RSVD | VTD_ABOVE_HAW))))
		return VTD_FR_SM_DIR_RSVD;
	*entry = (word & VTD_PASIDDIR_TABLE) + (u64)(pasid % VTD_PASID_PER_TABLE) * VTD_PASID_ENTRY_SIZE;
	return 0;
}

static bool pasid_reserved_clear(const u64 word[PASID_ENTRY_WORDS])
{
	if ((word[0] & (VTD_PASID_LO_SSADE | VTD_PASID_LO_RSVD)) || (word[1] & VTD_PASID_HI_RSVD))
		return false;
	for (unsigned int i = 2; i < PASID_ENTRY_WORDS; i++) {
		if (word[i])
			return false;
	}
	/* Pass-through has no tables to point to. */
	return FIELD_GET(VTD_PASID_LO_PGTT, word[0]) == VTD_PGTT_PASS_THROUGH ||
	       !(word[0] & VTD_PASID_LO_SSPTPTR & VTD_ABOVE_HAW);
}

static u8 pasid_check(const u64 word[PASID_ENTRY_WORDS])
{
	u64 pgtt = FIELD_GET(VTD_PASID_LO_PGTT, word[0]);

	if (!MODEL_CHECK(iommu_pasid_present, word[0] & VTD_PASID_LO_P))
		return VTD_FR_SM_PASID_NOT_PRESENT;
	if (!MODEL_CHECK(iommu_pasid_reserved, pasid_reserved_clear(word)))
		return VTD_FR_SM_PASID_RSVD;
	if (!MODEL_CHECK(iommu_pasid_type, pgtt == VTD_PGTT_SECOND_STAGE || pgtt == VTD_PGTT_PASS_THROUGH))
		return VTD_FR_SM_PASID_INVALID;
	if (!MODEL_CHECK(iommu_pasid_width, vtd_width_is_supported(FIELD_GET(VTD_PASID_LO_AW, word[0]))))
		return VTD_FR_SM_PASID_INVALID;
	return 0;
}

/* From the tables; fills the cache. */
static u8 pasid_read(struct vtd *vtd, const struct vtd_smctx *ctx, u32 pasid, struct vtd_context *out)
{
	u64 word[PASID_ENTRY_WORDS], entry;
	u8 reason;

	vtd->counters.pasid_miss++;
	reason = dir_read(vtd, ctx->dir, pasid, &entry, &out->fpd);
	if (reason)
		return reason;
	if (!words_read(vtd, entry, word, PASID_ENTRY_WORDS))
		return VTD_FR_SM_PASID_ACCESS;
	out->fpd |= !!(word[0] & VTD_PASID_LO_FPD);
	reason = pasid_check(word);
	if (reason)
		return reason;
	out->valid = true;
	out->scalable = true;
	out->rid = ctx->rid;
	out->pasid = pasid;
	out->did = (u16)FIELD_GET(VTD_PASID_HI_DID, word[1]);
	out->pass_through = FIELD_GET(VTD_PASID_LO_PGTT, word[0]) == VTD_PGTT_PASS_THROUGH;
	out->levels = (u8)(FIELD_GET(VTD_PASID_LO_AW, word[0]) + 2);
	out->limit = vtd_limit(vtd, out->levels);
	out->table = word[0] & VTD_PASID_LO_SSPTPTR;
	vtd_pasid_fill(vtd, out);
	return 0;
}

u8 vtd_pasid_get(struct vtd *vtd, u16 rid, u32 pasid, struct vtd_context *out)
{
	const struct vtd_context *hit;
	struct vtd_smctx ctx;
	u8 reason = smctx_get(vtd, rid, &ctx);

	*out = (struct vtd_context){ .fpd = ctx.fpd };
	if (reason)
		return reason;
	if (!MODEL_CHECK(iommu_pasid_enabled, pasid == VTD_NO_PASID || ctx.paside))
		return VTD_FR_SM_PASID_DISABLED;
	if (pasid == VTD_NO_PASID) {
		pasid = ctx.rid_pasid;
		if (!MODEL_CHECK(iommu_rid_pasid_bounds, pasid < ctx.nr_pasids))
			return VTD_FR_SM_RID_PASID;
	} else if (!MODEL_CHECK(iommu_pasid_bounds, pasid < ctx.nr_pasids)) {
		return VTD_FR_SM_PASID_TOO_LARGE;
	}
	hit = vtd_pasid_hit(vtd, rid, pasid);
	if (!hit)
		return pasid_read(vtd, &ctx, pasid, out);
	*out = *hit;
	return 0;
}
