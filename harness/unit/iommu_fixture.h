/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_IOMMU_FIXTURE_H
#define HARNESS_UNIT_IOMMU_FIXTURE_H

/*
 * A remapping unit on a bus with memory, and the software that builds its tables: function
 * 01:00.0 is in domain 7 with 4-level tables. Written from the specification, apart from
 * the unit's code, so that the two can disagree.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "sim/store.h"
#include "iommu/vtd.h"

#define FX_REGS		0xFED90000ULL
#define FX_RAM		0x10000000ULL	/* 256 MiB at 0 */
#define FX_ROOT		0x1000ULL
#define FX_CTX		0x2000ULL	/* of bus 1 */
#define FX_QUEUE	0x3000ULL	/* 256 descriptors */
#define FX_STATUS	0x5000ULL
#define FX_TOP		0x10000ULL	/* level 4 */
#define FX_TABLES	0x20000ULL	/* further table pages */
#define FX_IRT		0x100000ULL	/* 65536 entries */
#define FX_PID		0x300040ULL
#define FX_RID		0x0100
#define FX_DID		7
#define FX_WALK_PS	280000
#define FX_INVAL_PS	1000000
#define FX_RW		3ULL

struct fx_irq {
	u32 dest;
	u8 vector, mode;
};

struct fx {
	struct store *mem;
	struct bus bus;
	struct sched *sched;
	struct trace trace;
	struct vtd *vtd;
	u64 next_table;
	u32 queue_tail;
	u64 latency_ps;
	hpa_t out;
	struct fx_irq irq[32];
	unsigned int nr_irq;
	struct trace_event last[TRACE_MODEL_END];	/* of each kind */
	u64 count[TRACE_MODEL_END];
};

static inline void fx_deliver(void *opaque, u32 dest, u8 vector, u8 mode)
{
	struct fx *f = opaque;

	if (f->nr_irq < 32)
		f->irq[f->nr_irq] = (struct fx_irq){ dest, vector, mode };
	f->nr_irq++;
}

static inline void fx_trace(void *opaque, const struct trace_event *ev)
{
	struct fx *f = opaque;

	f->last[ev->kind] = *ev;
	f->count[ev->kind]++;
}

static inline u32 fx_rd32(struct fx *f, u64 reg)
{
	return (u32)bus_cpu_read(&f->bus, (hpa_t){ FX_REGS + reg }, 4);
}

static inline u64 fx_rd64(struct fx *f, u64 reg)
{
	return bus_cpu_read(&f->bus, (hpa_t){ FX_REGS + reg }, 8);
}

static inline void fx_wr32(struct fx *f, u64 reg, u64 val)
{
	bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + reg }, val, 4);
}

static inline void fx_wr64(struct fx *f, u64 reg, u64 val)
{
	bus_cpu_write(&f->bus, (hpa_t){ FX_REGS + reg }, val, 8);
}

/* Memory. */
static inline void fx_poke(struct fx *f, u64 addr, u64 val)
{
	assert_true(bus_wr64(&f->bus, (hpa_t){ addr }, val));
}

static inline u64 fx_peek(struct fx *f, u64 addr)
{
	bool ok;
	u64 val = bus_rd64(&f->bus, (hpa_t){ addr }, &ok);

	assert_true(ok);
	return val;
}

/* As drivers do: one bit at a time, the one-shot bits of the status left out (11.4.4.1). */
static inline void fx_gcmd(struct fx *f, u64 set, u64 clear)
{
	u64 keep = fx_rd32(f, 0x1C) & 0x96FFFFFFULL;

	fx_wr32(f, 0x18, (keep | set) & ~clear);
}

/* 9.3 */
static inline void fx_context(struct fx *f, u16 rid, u64 lo, u64 hi)
{
	fx_poke(f, FX_CTX + 16 * (rid & 0xFF), lo);
	fx_poke(f, FX_CTX + 16 * (rid & 0xFF) + 8, hi);
}

/* The address of the entry of @iova at @level, tables above it made as needed with @perm. */
static inline u64 fx_entry(struct fx *f, u64 top, unsigned int top_level, u64 iova, unsigned int level, u64 perm)
{
	u64 table = top;

	for (unsigned int l = top_level; l > level; l--) {
		u64 at = table + 8 * (iova >> (12 + 9 * (l - 1)) & 511);

		if (!fx_peek(f, at)) {
			fx_poke(f, at, f->next_table | perm);
			f->next_table += 4096;
		}
		table = fx_peek(f, at) & 0xFFFFFFFFFF000ULL;
	}
	return table + 8 * (iova >> (12 + 9 * (level - 1)) & 511);
}

static inline u64 fx_leaf(struct fx *f, u64 iova)
{
	return fx_entry(f, FX_TOP, 4, iova, 1, FX_RW);
}

static inline void fx_map(struct fx *f, u64 iova, u64 hpa, u64 perm)
{
	fx_poke(f, fx_leaf(f, iova), hpa | perm);
}

static inline enum vtd_result fx_dma_pasid(struct fx *f, u16 rid, u32 pasid, u64 iova, bool write)
{
	f->out.v = 0;
	f->latency_ps = 0;
	return vtd_translate(f->vtd, rid, pasid, (iova_t){ iova }, write, &f->out, &f->latency_ps);
}

static inline enum vtd_result fx_dma_rid(struct fx *f, u16 rid, u64 iova, bool write)
{
	return fx_dma_pasid(f, rid, VTD_NO_PASID, iova, write);
}

static inline enum vtd_result fx_dma(struct fx *f, u64 iova, bool write)
{
	return fx_dma_rid(f, FX_RID, iova, write);
}

#define FX_FSTS	 0x34
#define FX_FRCD	 0x220

/* Clear all that is recorded, as a fault handler does. */
static inline void fx_faults_clear(struct fx *f)
{
	for (u64 i = 0; i < 8; i++)
		fx_wr32(f, FX_FRCD + 16 * i + 12, 0x80000000U);
	fx_wr32(f, FX_FSTS, 0x71);
}

/* The reason recorded at FRI, 0 if none is. Checks the source and clears. */
static inline unsigned int fx_fault(struct fx *f, u16 rid)
{
	u32 fsts = fx_rd32(f, FX_FSTS);
	u64 rec = FX_FRCD + 16 * (fsts >> 8 & 0xFF), hi;

	if (!(fsts & 2))
		return 0;
	hi = fx_rd64(f, rec + 8);
	assert_true(hi >> 63);
	assert_int_equal(hi & 0xFFFF, rid);
	fx_faults_clear(f);
	return (unsigned int)(hi >> 32 & 0xFF);
}

#define assert_dma_ok(f, iova, write, hpa) do { \
	assert_int_equal(fx_dma(f, iova, write), VTD_OK); \
	assert_int_equal((f)->out.v, hpa); \
} while (0)

#define assert_dma_fault(f, iova, write, reason) do { \
	assert_int_equal(fx_dma(f, iova, write), VTD_BLOCKED); \
	assert_int_equal(fx_fault(f, FX_RID), reason); \
} while (0)

/* Put a descriptor in the queue and write the tail; nothing runs yet. */
static inline void fx_submit(struct fx *f, u64 lo, u64 hi)
{
	fx_poke(f, FX_QUEUE + 16 * f->queue_tail, lo);
	fx_poke(f, FX_QUEUE + 16 * f->queue_tail + 8, hi);
	f->queue_tail = (f->queue_tail + 1) % 256;
	fx_wr64(f, 0x88, (u64)f->queue_tail << 4);
}

static inline void fx_run(struct fx *f)
{
	while (sched_run_one(f->sched))
		;
}

static inline void fx_invalidate(struct fx *f, u64 lo, u64 hi)
{
	fx_submit(f, lo, hi);
	fx_run(f);
	assert_int_equal(fx_rd64(f, 0x80), (u64)f->queue_tail << 4);
}

/* 6.5.2: type, granularity, domain */
#define FX_IOTLB_GLOBAL		(2ULL | 1 << 4)
#define FX_IOTLB_DOMAIN(did)	(2ULL | 2 << 4 | (u64)(did) << 16)
#define FX_IOTLB_PAGE(did)	(2ULL | 3 << 4 | (u64)(did) << 16)
#define FX_CTX_GLOBAL		(1ULL | 1 << 4)
#define FX_CTX_DOMAIN(did)	(1ULL | 2 << 4 | (u64)(did) << 16)
#define FX_CTX_DEVICE(did, sid)	(1ULL | 3 << 4 | (u64)(did) << 16 | (u64)(sid) << 32)
#define FX_IEC_GLOBAL		4ULL
#define FX_WAIT_SW(data)	(5ULL | 1 << 5 | (u64)(data) << 32)
#define FX_WAIT_IF		(5ULL | 1 << 4)

static inline struct fx *fx_new_config(bool posted, bool x2apic, bool scalable)
{
	struct fx *f = test_calloc(1, sizeof(*f));
	struct vtd_irq_sink sink = { .deliver = fx_deliver, .opaque = f };
	struct vtd_config cfg = {
		.reg_base = { FX_REGS }, .posted_interrupts = posted, .x2apic = x2apic, .scalable = scalable,
		.iotlb_miss_ps = FX_WALK_PS, .invalidation_ps = FX_INVAL_PS,
	};

	f->mem = store_new(FX_RAM, STORE_NO_BUDGET, 0);
	f->sched = sched_new();
	assert_non_null(f->mem);
	assert_non_null(f->sched);
	bus_init(&f->bus, f->mem);
	assert_int_equal(bus_add_ram(&f->bus, 0, FX_RAM), 0);
	f->trace = (struct trace){ .mask = { ~0ULL, ~0ULL }, .sched = f->sched, .fn = fx_trace, .opaque = f };
	f->vtd = vtd_new(&cfg, &f->bus, f->sched, &f->trace, &sink);
	assert_non_null(f->vtd);
	f->next_table = FX_TABLES;
	fx_poke(f, FX_ROOT + 16, FX_CTX | 1);
	fx_context(f, FX_RID, FX_TOP | 1, 2 | FX_DID << 8);
	return f;
}

static inline struct fx *fx_new(bool posted, bool x2apic)
{
	return fx_new_config(posted, x2apic, false);
}

/* Root table, queue and translation on; remapping table set but off. */
static inline void fx_start(struct fx *f, bool eime)
{
	fx_wr64(f, 0x20, FX_ROOT);
	fx_gcmd(f, 1U << 30, 0);
	fx_wr64(f, 0x90, FX_QUEUE);
	fx_gcmd(f, 1U << 26, 0);
	fx_wr64(f, 0xB8, FX_IRT | (eime ? 1U << 11 : 0) | 15);
	fx_gcmd(f, 1U << 24, 0);
	fx_gcmd(f, 1U << 31, 0);
}

static inline int fx_setup(void **state)
{
	struct fx *f = fx_new(true, true);

	fx_start(f, true);
	*state = f;
	return 0;
}

static inline int fx_teardown(void **state)
{
	struct fx *f = *state;

	vtd_free(f->vtd);
	sched_free(f->sched);
	store_free(f->mem);
	test_free(f);
	return 0;
}

#define FX_TEST(fn) cmocka_unit_test_setup_teardown(fn, fx_setup, fx_teardown)

#endif
