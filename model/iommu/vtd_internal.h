/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_IOMMU_VTD_INTERNAL_H
#define MODEL_IOMMU_VTD_INTERNAL_H

/*
 * Inside of the remapping unit. vtd.c: registers and life; vtd_walk.c: translation;
 * vtd_pasid.c: contexts and PASIDs of scalable mode;
 * vtd_cache.c: what is kept until invalidated; vtd_queue.c: invalidation; vtd_fault.c: records and
 * events; vtd_ir.c: interrupts. Section numbers are VT-d 4.1's.
 */

#include "iommu/vtd.h"
#include "site.h"

#define VTD_IOTLB_OFFSET	0x200U	/* ECAP.IRO */
#define VTD_FRCD_OFFSET		0x220U	/* CAP.FRO */
#define VTD_HAW			46	/* host address width: as the processors', EPT_MAXPHYADDR */
#define VTD_MGAW_BITS		48
#define VTD_MAMV_VALUE		18	/* one invalidation covers at most 1 GiB */
#define VTD_MHMV_VALUE		15
#define VTD_IR_CACHE		256
#define VTD_LEAF_SIZES		3	/* 4 KiB, 2 MiB, 1 GiB */

/* Bits of a table pointer or page address that no memory of this host can have. */
#define VTD_ABOVE_HAW		GENMASK_ULL(63, VTD_HAW)

struct vtd_regs {
#define VTD_REG(name, offset, bytes, reset, write, clear) u64 name;
#include "vtd_regs.def"
#undef VTD_REG
};

struct vtd_frcd {
	u64 lo, hi;
};

/* What translates a request, decoded for the hot path: a context entry, or in scalable mode a PASID table entry. */
struct vtd_context {
	bool valid, fpd, pass_through, scalable;
	u8 levels;
	u16 rid, did;
	u32 pasid;		/* scalable */
	u64 limit;		/* first address beyond min(AW, MGAW) */
	u64 table;		/* SSPTPTR */
};

/* A scalable-mode context entry: where the PASIDs of a function are looked up. */
struct vtd_smctx {
	bool valid, fpd, paside;
	u16 rid;
	u32 nr_pasids;		/* that the directory has room for */
	u32 rid_pasid;
	u64 dir;
};

/* @key 0: empty. */
struct vtd_iotlb_entry {
	u64 key;
	u64 hpa;
	u32 pasid;		/* scalable mode; else 0 */
	u8 perm;		/* VTD_SSPTE_R | VTD_SSPTE_W, over all levels */
};

struct vtd_iotlb {
	struct vtd_iotlb_entry way[VTD_IOTLB_SETS][VTD_IOTLB_WAYS];
	u8 next[VTD_IOTLB_SETS];	/* the way replaced next: oldest first */
	bool large;			/* a 2 MiB or 1 GiB page was entered since the last flush of all */
	u32 set_mask;
};

/* What a non-leaf entry leads to: the table of @level for one region of one domain. */
struct vtd_paging_entry {
	u64 table;
	u64 base;		/* first address the table serves */
	u16 did;
	u8 level;		/* of the table; 0: empty */
	u8 perm;
};

struct vtd_irte {
	u64 lo, hi;
	bool valid;
	u16 index;
};

struct vtd {
	struct bus *bus;
	struct sched *sched;
	struct trace *trace;
	struct vtd_config cfg;
	struct vtd_irq_sink sink;
	struct vtd_counters counters;
	struct fault_site ignores;
	struct vtd_regs regs;
	struct vtd_frcd frcd[VTD_FAULT_RECORDS];
	u32 frcd_next;			/* record the next fault goes to */
	u64 io_id;			/* command on whose behalf requests come; for the trace */
	/* Latched by SRTP and SIRTP; the registers behind them may change without effect. */
	u64 root;
	u64 ir_table;
	u32 ir_entries;
	u8 root_mode;
	bool eime;
	struct event queue_event;	/* the descriptor at the head is done */
	struct vtd_iotlb iotlb;
	struct vtd_context context[VTD_CONTEXT_CACHE];
	struct vtd_smctx smctx[VTD_CONTEXT_CACHE];
	struct vtd_context pasid[VTD_PASID_CACHE];
	struct vtd_paging_entry paging[VTD_PAGING_CACHE];
	struct vtd_irte irte[VTD_IR_CACHE];
};

/* vtd_cache.c */

static inline unsigned int vtd_context_slot(u16 rid)
{
	return (rid ^ rid >> 5) % VTD_CONTEXT_CACHE;
}

static inline const struct vtd_context *vtd_context_hit(const struct vtd *vtd, u16 rid)
{
	const struct vtd_context *ctx = &vtd->context[vtd_context_slot(rid)];

	return ctx->valid && ctx->rid == rid ? ctx : NULL;
}

static inline const struct vtd_smctx *vtd_smctx_hit(const struct vtd *vtd, u16 rid)
{
	const struct vtd_smctx *ctx = &vtd->smctx[vtd_context_slot(rid)];

	return ctx->valid && ctx->rid == rid ? ctx : NULL;
}

static inline unsigned int vtd_pasid_slot(u16 rid, u32 pasid)
{
	return (rid ^ pasid ^ pasid >> 6) % VTD_PASID_CACHE;
}

static inline const struct vtd_context *vtd_pasid_hit(const struct vtd *vtd, u16 rid, u32 pasid)
{
	const struct vtd_context *entry = &vtd->pasid[vtd_pasid_slot(rid, pasid)];

	return entry->valid && entry->rid == rid && entry->pasid == pasid ? entry : NULL;
}

/* 36 bits of page number, the domain, the level of the page; bit 63 tells it from an empty entry. */
static inline u64 vtd_iotlb_key(u16 did, u64 iova, unsigned int level)
{
	return BIT_ULL(63) | (u64)level << 60 | (u64)did << 36 | iova >> VTD_LEVEL_SHIFT(level);
}

static inline u32 vtd_iotlb_set(const struct vtd_iotlb *tlb, u64 iova, unsigned int level)
{
	u64 page = iova >> VTD_LEVEL_SHIFT(level);

	return (u32)(page ^ page >> 6 ^ page >> 12) & tlb->set_mask;
}

static inline const struct vtd_iotlb_entry *vtd_iotlb_hit_level(const struct vtd_iotlb *tlb, u16 did, u32 pasid,
								u64 iova, unsigned int level)
{
	const struct vtd_iotlb_entry *entry = tlb->way[vtd_iotlb_set(tlb, iova, level)];
	u64 key = vtd_iotlb_key(did, iova, level);

	for (unsigned int i = 0; i < VTD_IOTLB_WAYS; i++) {
		if (entry[i].key == key && entry[i].pasid == pasid)
			return &entry[i];
	}
	return NULL;
}

void vtd_context_fill(struct vtd *vtd, const struct vtd_context *ctx);
void vtd_smctx_fill(struct vtd *vtd, const struct vtd_smctx *ctx);
void vtd_pasid_fill(struct vtd *vtd, const struct vtd_context *entry);
void vtd_iotlb_fill(struct vtd *vtd, const struct vtd_context *ctx, u64 iova, u64 hpa, u8 perm, unsigned int level);
/* The deepest cached table that serves @iova; NULL: start at the root of the domain's tables. */
const struct vtd_paging_entry *vtd_paging_find(const struct vtd *vtd, u16 did, u64 iova, unsigned int top_level);
void vtd_paging_fill(struct vtd *vtd, u16 did, u64 iova, unsigned int level, u64 table, u8 perm);
const struct vtd_irte *vtd_irte_find(const struct vtd *vtd, u32 index);
void vtd_irte_fill(struct vtd *vtd, const struct vtd_irte *irte);

/* Requests as descriptors and registers both make them. @granularity is one of VTD_GRAN_*. */
struct vtd_context_inval {
	u8 granularity;
	u8 function_mask;
	u16 did, sid;
};

struct vtd_iotlb_inval {
	u8 granularity;
	u8 address_mask;
	bool hint;
	u16 did;
	u64 addr;
};

/* @granularity is one of VTD_QI_PC_*. */
struct vtd_pasid_inval {
	u8 granularity;
	u16 did;
	u32 pasid;
};

void vtd_context_invalidate(struct vtd *vtd, const struct vtd_context_inval *inv);
void vtd_iotlb_invalidate(struct vtd *vtd, const struct vtd_iotlb_inval *inv);
void vtd_pasid_invalidate(struct vtd *vtd, const struct vtd_pasid_inval *inv);
/* All translations of a PASID in a domain, and nothing else (6.5.2.4). */
void vtd_iotlb_invalidate_pasid(struct vtd *vtd, u16 did, u32 pasid);
void vtd_irte_invalidate(struct vtd *vtd, bool global, u16 index, u8 index_mask);

/*
 * vtd_walk.c: the context of @rid, in scalable mode of its PASID, from a cache or from the tables;
 * 0 or a fault reason.
 */
u8 vtd_context_get(struct vtd *vtd, u16 rid, u32 pasid, struct vtd_context *out);
/* May the unit have tables of this depth (SAGAW)? */
bool vtd_width_is_supported(u64 aw);

/* vtd_pasid.c: the same for the scalable mode. */
u8 vtd_pasid_get(struct vtd *vtd, u16 rid, u32 pasid, struct vtd_context *out);

/* vtd_fault.c */

/* Block a DMA request. A qualified fault under FPD is not recorded, but happened all the same. */
void vtd_fault_dma(struct vtd *vtd, u16 rid, u32 pasid, u64 iova, bool write, u8 reason, bool fpd);
void vtd_fault_ir(struct vtd *vtd, u16 rid, u32 index, u64 addr, u8 reason, bool fpd);
/* An error of the invalidation queue: sets @status in FSTS and raises the fault event. */
void vtd_fault_status(struct vtd *vtd, u64 status);
/* Software cleared something of FSTS or a record's F. */
void vtd_fault_cleared(struct vtd *vtd);
void vtd_event_invalidation_done(struct vtd *vtd);
/* FECTL or IECTL written: a pending event goes out once it is unmasked. */
void vtd_event_unmask(struct vtd *vtd);

/* vtd_queue.c */
void vtd_queue_init(struct vtd *vtd);
void vtd_queue_enable(struct vtd *vtd);
void vtd_queue_disable(struct vtd *vtd);
/* Tail written, or an error cleared: fetch if there is something and nothing stops it. */
void vtd_queue_kick(struct vtd *vtd);
void vtd_ccmd_written(struct vtd *vtd);
void vtd_iotlb_cmd_written(struct vtd *vtd);

/* vtd_ir.c: an interrupt leaves the unit in the format of an MSI, unremapped. */
void vtd_message(struct vtd *vtd, u64 addr, u32 data);

/* First address beyond what tables of @levels and the unit translate. */
static inline u64 vtd_limit(const struct vtd *vtd, u32 levels)
{
	u64 tables = BIT_ULL(VTD_LEVEL_SHIFT(levels + 1)), unit = BIT_ULL(vtd->cfg.mgaw_bits);

	return tables < unit ? tables : unit;
}

#endif
