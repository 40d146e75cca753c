// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "vtd_internal.h"

struct vtd_reg {
	u16 offset;
	u8 bytes;
	u64 reset, write, clear;
};

static const struct vtd_reg vtd_reg_table[] = {
#define VTD_REG(name, offset, bytes, reset, write, clear) { offset, bytes, reset, write, clear },
#include "vtd_regs.def"
#undef VTD_REG
};

#define VTD_NR_REGS (sizeof(vtd_reg_table) / sizeof(vtd_reg_table[0]))
#define VTD_FRCD_END (VTD_FRCD_OFFSET + VTD_FAULT_RECORDS * VTD_FRCD_SIZE)

_Static_assert(sizeof(struct vtd_regs) == VTD_NR_REGS * sizeof(u64), "one word a register, in the table's order");

static u64 *reg_value(struct vtd *vtd, size_t nr)
{
	return (u64 *)&vtd->regs + nr;
}

static bool frcd_covers(u64 off)
{
	return off >= VTD_FRCD_OFFSET && off < VTD_FRCD_END;
}

static u32 frcd_read(const struct vtd *vtd, u64 off)
{
	const struct vtd_frcd *rec = &vtd->frcd[(off - VTD_FRCD_OFFSET) / VTD_FRCD_SIZE];

	return (u32)((off & 8 ? rec->hi : rec->lo) >> 8 * (off & 4));
}

static void frcd_write(struct vtd *vtd, u64 off, u32 val)
{
	struct vtd_frcd *rec = &vtd->frcd[(off - VTD_FRCD_OFFSET) / VTD_FRCD_SIZE];

	if ((off & 15) != 12 || !((u64)val << 32 & VTD_FRCD_HI_F))
		return;
	rec->hi &= ~VTD_FRCD_HI_F;
	vtd_fault_cleared(vtd);
}

static u32 dword_read(struct vtd *vtd, u64 off)
{
	if (frcd_covers(off))
		return frcd_read(vtd, off);
	for (size_t i = 0; i < VTD_NR_REGS; i++) {
		const struct vtd_reg *reg = &vtd_reg_table[i];

		if (off >= reg->offset && off < (u64)reg->offset + reg->bytes)
			return (u32)(*reg_value(vtd, i) >> 8 * (off - reg->offset));
	}
	return 0;
}

/* 11.4.7.5, 11.4.9.8: upper addresses of event messages are reserved without extended interrupt mode. */
static bool is_reserved(const struct vtd *vtd, u64 off)
{
	return !vtd->cfg.x2apic && (off == VTD_REG_FEUADDR || off == VTD_REG_IEUADDR);
}

/* 11.4.9.3: bits of the dword at @off that the register has only where the unit offers what they are for. */
static u32 not_offered(const struct vtd *vtd, u64 off)
{
	return !vtd->cfg.scalable && off == VTD_REG_IQA ? (u32)VTD_IQA_DW : 0;
}

static void dword_store(struct vtd *vtd, u64 off, u32 val)
{
	if (is_reserved(vtd, off))
		return;
	val &= ~not_offered(vtd, off);
	for (size_t i = 0; i < VTD_NR_REGS; i++) {
		const struct vtd_reg *reg = &vtd_reg_table[i];
		u64 *word = reg_value(vtd, i);
		unsigned int shift;
		u64 write;

		if (off < reg->offset || off >= (u64)reg->offset + reg->bytes)
			continue;
		shift = 8 * (unsigned int)(off - reg->offset);
		write = reg->write & 0xFFFFFFFFULL << shift;
		*word = (*word & ~write) | ((u64)val << shift & write);
		*word &= ~((u64)val << shift & reg->clear);
		return;
	}
}

/* The bits are commands, one at a time (11.4.4.1); a bit that does not change asks for nothing. */
static void gcmd_written(struct vtd *vtd, u64 val)
{
	struct vtd_regs *regs = &vtd->regs;
	u64 changed = val ^ regs->gsts;

	if (val & VTD_G_SRTP) {
		vtd->root = regs->rtaddr & VTD_RTADDR_RTA;
		vtd->root_mode = (u8)FIELD_GET(VTD_RTADDR_TTM, regs->rtaddr);
		regs->gsts |= VTD_G_SRTP;
	}
	if (val & VTD_G_SIRTP) {
		vtd->ir_table = regs->irta & VTD_IRTA_IRTA;
		vtd->ir_entries = 2U << FIELD_GET(VTD_IRTA_S, regs->irta);
		vtd->eime = vtd->cfg.x2apic && (regs->irta & VTD_IRTA_EIME);
		regs->gsts |= VTD_G_SIRTP;
	}
	if (changed & VTD_G_QIE) {
		regs->gsts ^= VTD_G_QIE;
		if (val & VTD_G_QIE)
			vtd_queue_enable(vtd);
		else
			vtd_queue_disable(vtd);
	}
	/* WBF: nothing is buffered (CAP.RWBF = 0). EAFL, SFL: no advanced fault log (CAP.AFL = 0). */
	regs->gsts ^= changed & (VTD_G_IRE | VTD_G_CFI | VTD_G_TE);
}

/* What a write to the dword at @off sets going, once its value is stored. */
static void dword_written(struct vtd *vtd, u64 off, u32 val)
{
	switch (off) {
	case VTD_REG_GCMD:
		gcmd_written(vtd, val);
		break;
	case VTD_REG_CCMD + 4:
		vtd_ccmd_written(vtd);
		break;
	case VTD_IOTLB_OFFSET + VTD_IOTLB_REG_CMD + 4:
		vtd_iotlb_cmd_written(vtd);
		break;
	case VTD_REG_FSTS:
		vtd_fault_cleared(vtd);
		vtd_queue_kick(vtd);
		break;
	case VTD_REG_FECTL:
	case VTD_REG_IECTL:
		vtd_event_unmask(vtd);
		break;
	case VTD_REG_ICS:
		if (!(vtd->regs.ics & VTD_ICS_IWC))
			vtd->regs.iectl &= ~VTD_ECTL_IP;
		break;
	case VTD_REG_IQT:
		vtd_queue_kick(vtd);
		break;
	default:
		break;
	}
}

/* 11.2: registers are accessed as aligned dwords or quadwords; what else arrives is dropped. */
static bool access_is_valid(u64 off, unsigned int len)
{
	return (len == 4 || len == 8) && off % len == 0 && off <= VTD_REG_PAGE_SIZE - len;
}

static u64 vtd_mmio_read(void *opaque, u64 off, unsigned int len)
{
	struct vtd *vtd = opaque;
	u64 val;

	if (!access_is_valid(off, len))
		return ~0ULL;
	val = dword_read(vtd, off);
	if (len == 8)
		val |= (u64)dword_read(vtd, off + 4) << 32;
	return val;
}

static void vtd_mmio_write(void *opaque, u64 off, u64 val, unsigned int len)
{
	struct vtd *vtd = opaque;

	if (!access_is_valid(off, len))
		return;
	if (frcd_covers(off)) {
		for (unsigned int i = 0; i < len; i += 4)
			frcd_write(vtd, off + i, (u32)(val >> 8 * i));
		return;
	}
	/* Both halves are stored before either acts. */
	for (unsigned int i = 0; i < len; i += 4)
		dword_store(vtd, off + i, (u32)(val >> 8 * i));
	for (unsigned int i = 0; i < len; i += 4)
		dword_written(vtd, off + i, (u32)(val >> 8 * i));
}

static const struct bus_mmio_ops vtd_mmio_ops = { .read = vtd_mmio_read, .write = vtd_mmio_write };

static void regs_reset(struct vtd *vtd)
{
	for (size_t i = 0; i < VTD_NR_REGS; i++)
		*reg_value(vtd, i) = vtd_reg_table[i].reset;
	vtd->regs.cap = FIELD_PREP(VTD_CAP_ND, 6) |
			FIELD_PREP(VTD_CAP_SAGAW, BIT_ULL(VTD_AW_39BIT) | BIT_ULL(VTD_AW_48BIT)) |
			FIELD_PREP(VTD_CAP_MGAW, vtd->cfg.mgaw_bits - 1u) |
			FIELD_PREP(VTD_CAP_FRO, VTD_FRCD_OFFSET / 16) |
			FIELD_PREP(VTD_CAP_SLLPS, 3) | VTD_CAP_PSI |
			FIELD_PREP(VTD_CAP_NFR, VTD_FAULT_RECORDS - 1) |
			FIELD_PREP(VTD_CAP_MAMV, VTD_MAMV_VALUE) | VTD_CAP_DWD | VTD_CAP_DRD |
			(vtd->cfg.posted_interrupts ? VTD_CAP_PI : 0);
	vtd->regs.ecap = VTD_ECAP_C | VTD_ECAP_QI | VTD_ECAP_IR | (vtd->cfg.x2apic ? VTD_ECAP_EIM : 0) |
			 VTD_ECAP_PT | FIELD_PREP(VTD_ECAP_IRO, VTD_IOTLB_OFFSET / 16) |
			 FIELD_PREP(VTD_ECAP_MHMV, VTD_MHMV_VALUE) |
			 (vtd->cfg.scalable ? VTD_ECAP_SMTS | VTD_ECAP_SSTS | VTD_ECAP_PASID |
					      FIELD_PREP(VTD_ECAP_PSS, VTD_PASID_BITS - 1) : 0);
}

static bool config_is_valid(const struct vtd_config *cfg)
{
	return cfg->mgaw_bits <= VTD_MGAW_BITS && (cfg->mgaw_bits == 0 || cfg->mgaw_bits >= 36) &&
	       cfg->iotlb_sets <= VTD_IOTLB_SETS && !(cfg->iotlb_sets & (cfg->iotlb_sets - 1)) &&
	       cfg->reg_base.v % VTD_REG_PAGE_SIZE == 0;
}

struct vtd *vtd_new(const struct vtd_config *cfg, struct bus *bus, struct sched *sched, struct trace *trace,
		    const struct vtd_irq_sink *sink)
{
	struct vtd *vtd;

	if (!config_is_valid(cfg))
		return NULL;
	vtd = calloc(1, sizeof(*vtd));
	if (!vtd)
		return NULL;
	vtd->bus = bus;
	vtd->sched = sched;
	vtd->trace = trace;
	vtd->cfg = *cfg;
	vtd->cfg.mgaw_bits = cfg->mgaw_bits ? cfg->mgaw_bits : VTD_MGAW_BITS;
	vtd->sink = *sink;
	vtd->iotlb.set_mask = (cfg->iotlb_sets ? cfg->iotlb_sets : VTD_IOTLB_SETS) - 1;
	regs_reset(vtd);
	vtd_queue_init(vtd);
	if (bus_map_mmio(bus, cfg->reg_base.v, VTD_REG_PAGE_SIZE, &vtd_mmio_ops, vtd) < 0) {
		free(vtd);
		return NULL;
	}
	return vtd;
}

void vtd_free(struct vtd *vtd)
{
	if (!vtd)
		return;
	sched_cancel(vtd->sched, &vtd->queue_event);
	bus_unmap_mmio(vtd->bus, vtd->cfg.reg_base.v);
	free(vtd);
}

void vtd_on_behalf(struct vtd *vtd, u64 io_id)
{
	vtd->io_id = io_id;
}

struct fault_site *vtd_ignores(struct vtd *vtd)
{
	return &vtd->ignores;
}

const struct vtd_counters *vtd_counters(const struct vtd *vtd)
{
	return &vtd->counters;
}
