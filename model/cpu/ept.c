// SPDX-License-Identifier: GPL-2.0
/* EPT walk: Intel SDM volume 3, 29.3.2 (translation), 29.3.3 (faults), 29.3.5 (flags). */
#include "cpu/ept.h"
#include "site.h"

#define ADDR_RSVD GENMASK_ULL(51, EPT_MAXPHYADDR)

struct step {
	hpa_t addr;
	u64 entry;
};

bool ept_eptp_is_valid(u64 eptp)
{
	u64 mt = FIELD_GET(EPT_EPTP_MT, eptp);

	return (mt == EPT_MT_UC || mt == EPT_MT_WB) && FIELD_GET(EPT_EPTP_WALK, eptp) == EPT_EPTP_WALK_4 &&
	       !(eptp & EPT_EPTP_RSVD) && !(eptp >> EPT_MAXPHYADDR);
}

static bool is_leaf(u64 entry, unsigned int level)
{
	return level == 1 || (level < EPT_LEVELS && (entry & EPT_ENTRY_LARGE));
}

static bool is_memory_type(u64 mt)
{
	return mt == EPT_MT_UC || mt == EPT_MT_WC || mt == EPT_MT_WT || mt == EPT_MT_WP || mt == EPT_MT_WB;
}

/* 29.3.3.1, of an entry that is present. */
static bool is_misconfigured(u64 entry, unsigned int level)
{
	u64 rsvd = ADDR_RSVD;

	if ((entry & EPT_ENTRY_W) && !(entry & EPT_ENTRY_R))
		return true;
	if (!is_leaf(entry, level)) {
		rsvd |= level == EPT_LEVELS ? EPT_ENTRY_RSVD_PML4E : EPT_ENTRY_RSVD_TABLE;
		return entry & rsvd;
	}
	if (level == 3)
		rsvd |= EPT_ENTRY_RSVD_1G;
	else if (level == 2)
		rsvd |= EPT_ENTRY_RSVD_2M;
	return (entry & rsvd) || !is_memory_type(FIELD_GET(EPT_ENTRY_MT, entry));
}

/*
 * The processor sets a flag with a locked update of the entry it read; nothing runs between
 * our read and this write, so the entry is still the same. 29.3.5 does not say whether a walk
 * that ends in a violation has set flags on its way; here it has not.
 */
static void set_flags(struct bus *bus, const struct step *steps, unsigned int nr, u32 access, struct ept_walk *out)
{
	for (unsigned int i = 0; i < nr; i++) {
		u64 entry = steps[i].entry | EPT_ENTRY_A;

		if (i == nr - 1) {
			entry |= (access & EPT_ACCESS_W) ? EPT_ENTRY_D : 0;
			out->entry = entry;
		}
		if (entry != steps[i].entry)
			bus_wr64(bus, steps[i].addr, entry);
	}
}

/* Tables that are not in memory read as all ones, which the checks then call a misconfiguration. */
static struct step read_entry(struct bus *bus, u64 table, gpa_t gpa, unsigned int level)
{
	struct step step = { .addr = { (table & EPT_ENTRY_ADDR) + 8 * EPT_INDEX(gpa.v, level) } };
	bool ok;

	step.entry = bus_rd64(bus, step.addr, &ok);
	if (!ok)
		step.entry = ~0ULL;
	return step;
}

enum ept_result ept_walk(struct bus *bus, u64 eptp, gpa_t gpa, u32 access, struct ept_walk *out)
{
	struct step steps[EPT_LEVELS];
	unsigned int nr = 0, level = EPT_LEVELS;
	u64 table = eptp, allowed = EPT_ACCESS_RWX, offset_mask;

	*out = (struct ept_walk){ .level = 0 };
	if (!ept_eptp_is_valid(eptp))
		return EPT_MISCONFIG;
	out->level = EPT_LEVELS;
	if (gpa.v >> EPT_GPA_BITS)
		return EPT_VIOLATION;

	for (;; level--) {
		struct step step = read_entry(bus, table, gpa, level);

		steps[nr++] = step;
		out->level = (u8)level;
		out->entry = step.entry;
		out->entry_addr = step.addr;
		if (!(step.entry & EPT_ENTRY_RWX))
			return EPT_VIOLATION;
		if (!MODEL_CHECK(ept_reserved, !is_misconfigured(step.entry, level)))
			return EPT_MISCONFIG;
		allowed &= step.entry;
		if (is_leaf(step.entry, level))		/* at level 1 at the latest */
			break;
		table = step.entry;
	}

	/* 29.3.3.3: permissions are judged last, when the whole path is known to be sound. */
	out->allowed = (u8)allowed;
	if (!MODEL_CHECK(ept_permission, !(access & ~allowed)))
		return EPT_VIOLATION;

	offset_mask = (1ULL << EPT_LEVEL_SHIFT(level)) - 1;
	out->page_shift = (u8)EPT_LEVEL_SHIFT(level);
	out->hpa.v = (out->entry & EPT_ENTRY_ADDR & ~offset_mask) | (gpa.v & offset_mask);
	if (eptp & EPT_EPTP_AD)
		set_flags(bus, steps, nr, access, out);
	return EPT_OK;
}
