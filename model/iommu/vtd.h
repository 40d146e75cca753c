/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_IOMMU_VTD_H
#define MODEL_IOMMU_VTD_H

/*
 * One VT-d remapping unit: registers, root and context tables and second-level page tables
 * walked in memory, in scalable mode also PASID directories and tables; caches of contexts,
 * PASID entries and translations that keep what they hold until invalidated, queued
 * invalidation, primary fault recording, interrupt remapping and posting. Intel VT-d specification, revision 4.1.
 */

#include "bus.h"
#include "fault.h"
#include "sched.h"
#include "trace.h"
#include "spec/vtd.h"

#define VTD_IOTLB_SETS 64
#define VTD_IOTLB_WAYS 4
#define VTD_CONTEXT_CACHE 32
#define VTD_PASID_CACHE 64
#define VTD_PAGING_CACHE 64
#define VTD_FAULT_RECORDS 8

struct vtd_config {
	hpa_t reg_base;			/* 4 KiB register page, put on the bus */
	bool posted_interrupts;		/* CAP.PI */
	bool x2apic;			/* ECAP.EIM */
	bool scalable;			/* ECAP.SMTS, with second-stage tables and PASIDs of 20 bits */
	u8 mgaw_bits;			/* CAP.MGAW + 1, up to 48; 0: 48 */
	u32 iotlb_sets;			/* of VTD_IOTLB_WAYS entries: a power of two up to VTD_IOTLB_SETS; 0: that */
	u64 iotlb_miss_ps;		/* adder of a page walk */
	u64 invalidation_ps;		/* from tail write to completion of a descriptor */
};

/* Where interrupt messages end up: a processor complex. */
struct vtd_irq_sink {
	/* @dest is an APIC id, @mode the delivery mode (0: fixed). */
	void (*deliver)(void *opaque, u32 dest, u8 vector, u8 mode);
	void *opaque;
};

struct vtd_counters {
	u64 iotlb_hit, iotlb_miss, context_miss, pasid_miss;
	u64 faults, faults_overflowed, irte_faults;
	u64 queue_hit[512], queue_miss[512];	/* of the IOTLB's, by the queue that an io_id names */
	u64 remapped, posted, notified, invalidations;
};

struct vtd;

/* NULL: no memory, registers overlap something on @bus, or @cfg is out of its bounds. @sink is copied. */
struct vtd *vtd_new(const struct vtd_config *cfg, struct bus *bus, struct sched *sched, struct trace *trace,
		    const struct vtd_irq_sink *sink);
void vtd_free(struct vtd *vtd);

enum vtd_result { VTD_OK, VTD_BLOCKED };

#define VTD_NO_PASID	(~0u)
#define VTD_NO_INDEX	(~0u)	/* TRACE_IRTE_FAULT: the write was none of one dword, and so never asked for an entry */

/*
 * Translate one access that does not cross a 4 KiB boundary. With translation off, *out is
 * the address itself. VTD_BLOCKED: the fault is recorded (3.9, 7.1). Adds to *latency_ps.
 * @pasid: VTD_NO_PASID, or the one the request carries; such a request is memory's wherever it
 * goes, the interrupt range too (3.14).
 */
enum vtd_result vtd_translate(struct vtd *vtd, u16 rid, u32 pasid, iova_t addr, bool write, hpa_t *out,
			      u64 *latency_ps);

/*
 * A dword write to 0xFEEx_xxxx by @rid (5.1): remapped, posted, passed (compatibility
 * format, or remapping off) or blocked with a fault. @len_bytes other than 4 is blocked.
 */
enum vtd_result vtd_interrupt(struct vtd *vtd, u16 rid, u64 addr, u32 data, u32 len_bytes);

/* A read of the interrupt range without PASID, or another such request the unit must refuse: record @reason. */
void vtd_block(struct vtd *vtd, u16 rid, iova_t addr, bool write, u8 reason);

/* The requests that follow are of command @io_id, as struct trace_event has it; for the trace. 0: of none. */
void vtd_on_behalf(struct vtd *vtd, u64 io_id);

const struct vtd_counters *vtd_counters(const struct vtd *vtd);

/*
 * Fault injection: an invalidation descriptor completes, and its cache keeps what it had. Key: the
 * descriptor's type, VTD_QI_*. The owner's to arm.
 */
struct fault_site *vtd_ignores(struct vtd *vtd);

#endif
