// SPDX-License-Identifier: GPL-2.0
#include "diff/vtd_client.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 4
#define ENTRIES VTD_SSPTE_COUNT

static u64 tree_base(u32 tree)
{
	return VTD_TREES + (tree & 1) * VTD_TREE_SIZE;
}

/* A tree: a table each of levels 4 to 2, then the leaves. */
u64 vtd_table(u32 tree, u64 iova, u32 level)
{
	u64 leaf = iova >> VTD_LEVEL_SHIFT(2);

	if (level < 1 || level > LEVELS_MAX || (level < LEVELS_MAX && iova >> VTD_LEVEL_SHIFT(level + 1) && level > 1))
		return 0;
	if (level > 1)
		return tree_base(tree) + (LEVELS_MAX - level) * SPEC_PAGE_SIZE;
	return leaf < VTD_LEAVES ? tree_base(tree) + (4 + leaf) * SPEC_PAGE_SIZE : 0;
}

static void put_tree(struct side *s, u32 tree)
{
	static u64 page[ENTRIES];
	u64 rights = VTD_SSPTE_R | VTD_SSPTE_W;

	side_fill(s, tree_base(tree), 0, VTD_TREE_SIZE);
	for (u32 level = LEVELS_MAX; level > 2; level--)
		side_write(s, vtd_table(tree, 0, level), 8, vtd_table(tree, 0, level - 1) | rights);
	for (u64 leaf = 0; leaf < VTD_LEAVES; leaf++) {
		u64 iova = leaf << VTD_LEVEL_SHIFT(2);

		side_write(s, vtd_table(tree, 0, 2) + 8 * leaf, 8, vtd_table(tree, iova, 1) | rights);
		if (leaf >= VTD_IDENTITY)
			continue;
		for (u64 i = 0; i < ENTRIES; i++)
			page[i] = (iova + i * SPEC_PAGE_SIZE) | rights;
		side_put(s, vtd_table(tree, iova, 1), page, sizeof(page));
	}
}

u64 vtd_context_lo(u32 tree, u32 levels, u64 tt, bool fpd, bool present)
{
	return vtd_table(tree, 0, levels < 2 || levels > LEVELS_MAX ? LEVELS_MAX : levels) | FIELD_PREP(VTD_CTX_LO_TT, tt) |
	       (fpd ? VTD_CTX_LO_FPD : 0) | (present ? VTD_CTX_LO_P : 0);
}

void vtd_tables(struct side *s)
{
	side_fill(s, VTD_ROOT, 0, VTD_IRTES - VTD_ROOT + VTD_IRTES_NR * VTD_IRTE_SIZE);
	side_write(s, VTD_ROOT, 8, VTD_CONTEXTS | VTD_ROOT_LO_P);
	put_tree(s, 0);
	put_tree(s, 1);
	side_sync(s);
}

u64 vtd_read(struct side *s, u64 reg, unsigned int width)
{
	return side_read_now(s, VTD_BASE + reg, width);
}

void vtd_command(struct side *s, u32 set, u32 clear)
{
	u32 now = (u32)(vtd_read(s, VTD_REG_GSTS, 4) & VTD_G_PERSISTENT);

	side_write(s, VTD_BASE + VTD_REG_GCMD, 4, (now | set) & ~clear);
	side_sync(s);
}

void vtd_see_irr(struct side *s, struct seen *seen)
{
	char text[8192];
	u64 irr[4] = { 0 };
	const char *at;

	side_monitor(s, "info lapic 0", text, sizeof(text));
	at = strstr(text, "IRR");
	for (at = at ? at + 3 : ""; *at && *at != '\n'; at++) {
		char *end;
		unsigned long vector = strtoul(at, &end, 10);

		if (end == at)
			continue;
		if (vector < 256)
			irr[vector / 64] |= 1ULL << vector % 64;
		at = end - 1;
	}
	for (u32 i = 0; i < 4; i++)
		see(seen, irr[i], "irr%u", i);
}

void vtd_see_status(struct side *s, struct seen *seen)
{
	static const struct {
		const char *name;
		u16 reg, width;
	} status[] = {
		{ "gsts", VTD_REG_GSTS, 4 }, { "fsts", VTD_REG_FSTS, 4 }, { "fectl", VTD_REG_FECTL, 4 },
		{ "ics", VTD_REG_ICS, 4 }, { "iectl", VTD_REG_IECTL, 4 }, { "iqh", VTD_REG_IQH, 8 },
	};
	u64 val[sizeof(status) / sizeof(status[0])];
	u32 nr = sizeof(status) / sizeof(status[0]);

	for (u32 i = 0; i < nr; i++)
		side_read(s, VTD_BASE + status[i].reg, status[i].width, &val[i]);
	side_sync(s);
	/* Which record is the first is the machine's choice. */
	val[1] &= ~VTD_FSTS_FRI;
	for (u32 i = 0; i < nr; i++)
		see(seen, val[i], "%s", status[i].name);
}

static void serve(struct side *s, u64 frcd, u32 nr)
{
	for (u32 i = 0; i < nr; i++)
		side_write(s, frcd + VTD_FRCD_SIZE * i + 12, 4, VTD_FRCD_HI_F >> 32);
	side_write(s, VTD_BASE + VTD_REG_FSTS, 4, VTD_FSTS_PFO);
	side_sync(s);
}

void vtd_see_fault(struct side *s, bool clear, struct seen *seen)
{
	u64 fsts, cap, frcd, lo, hi;

	side_read(s, VTD_BASE + VTD_REG_FSTS, 4, &fsts);
	side_read(s, VTD_BASE + VTD_REG_CAP, 8, &cap);
	side_sync(s);
	if (s->dead || !(fsts & (VTD_FSTS_PPF | VTD_FSTS_PFO)))
		return;
	frcd = VTD_BASE + 16 * FIELD_GET(VTD_CAP_FRO, cap);
	side_read(s, frcd + VTD_FRCD_SIZE * FIELD_GET(VTD_FSTS_FRI, fsts), 8, &lo);
	side_read(s, frcd + VTD_FRCD_SIZE * FIELD_GET(VTD_FSTS_FRI, fsts) + 8, 8, &hi);
	side_sync(s);
	see(seen, fsts & VTD_FSTS_PFO, "fault-overflow");
	see(seen, FIELD_GET(VTD_FRCD_HI_FR, hi), "fault-reason");
	see(seen, lo, "fault-info");
	see(seen, FIELD_GET(VTD_FRCD_HI_SID, hi), "fault-source");
	see(seen, FIELD_GET(VTD_FRCD_HI_T, hi), "fault-type");
	see(seen, FIELD_GET(VTD_FRCD_HI_F, hi), "fault-f");
	if (clear)
		serve(s, frcd, (u32)FIELD_GET(VTD_CAP_NFR, cap) + 1);
}
