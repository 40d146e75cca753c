/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_NVME_RIG_H
#define HARNESS_UNIT_NVME_RIG_H

/*
 * A machine of memory, one NVMe function and no remapping hardware, and a small host that
 * drives it: what the tests of model/nvme share. An address that is not memory stands
 * for one that the IOMMU blocks.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "store.h"
#include "nvme/nvme.h"

#define RIG_RID 0x0100
#define RIG_RAM_BYTES 0x40000000ULL
#define RIG_NO_TARGET 0x50000000ULL
#define RIG_BAR0 0x80000000ULL
#define RIG_BAR2 0xA0000000ULL
#define RIG_CBA 0x700000000ULL
#define RIG_ASQ 0x100000ULL
#define RIG_ACQ 0x101000ULL
#define RIG_IO_QUEUES 0x200000ULL	/* SQ of qid q at + q * 0x20000, its CQ 0x10000 above */
#define RIG_BUF 0x1000000ULL
#define RIG_LIST 0x2000000ULL
#define RIG_NSZE 0x800000ULL
#define RIG_SECOND_PS (1000 * PS_PER_MS)
#define RIG_TRACES 4096

struct rig_queue {
	u16 qid;
	u64 sq, cq;
	u32 sq_size, cq_size, tail, head;
	bool phase;
};

struct rig {
	struct sched *sched;
	struct store *memory, *media;
	struct bus bus;
	struct trace trace;
	struct pci_root root;
	struct nvme_config cfg;
	struct nvme *nvme;
	struct pci_function *fn;
	struct rig_queue admin;
	u32 msis;
	u32 last_msi;
	struct trace_event ev[RIG_TRACES];
	u32 nr_ev;
	u16 next_cid;
};

static inline struct nvme_config rig_config(void)
{
	return (struct nvme_config){
		.rid = RIG_RID, .serial = "SN0001", .model = "Model", .firmware = "1.0",
		.nsze = RIG_NSZE, .ncap = RIG_NSZE, .nn = 4, .io_queues = 64, .msix_vectors = 65, .mqes = 0x3FF,
		.mdts = 5, .aerl = 3, .acl = 3, .elpe = 63, .cqr = true,
		.oncs = NVME_ONCS_COMPARE | NVME_ONCS_DSM | NVME_ONCS_WRITE_ZEROES,
		.timing = { .fetch_ps = 1470 * PS_PER_NS, .read_ps = 58 * PS_PER_US, .write_ps = 5 * PS_PER_US,
			    .flush_ps = 10 * PS_PER_US, .fixed_ps = 10 * PS_PER_US, .admin_ps = 5 * PS_PER_US,
			    .reset_ps = 100 * PS_PER_US, .dies = 72 },
		.link = { .bytes_per_us = 3938, .mps_bytes = 256, .mrrs_bytes = 512, .tlp_overhead_bytes = 24,
			  .read_latency_ps = 600 * PS_PER_NS, .write_flight_ps = 200 * PS_PER_NS },
	};
}

static inline void rig_msi(void *opaque, u64 addr, u32 data)
{
	struct rig *r = opaque;

	assert_int_equal(addr, 0xFEE00000);
	r->msis++;
	r->last_msi = data;
}

static inline void rig_trace(void *opaque, const struct trace_event *ev)
{
	struct rig *r = opaque;

	if (r->nr_ev < RIG_TRACES)
		r->ev[r->nr_ev++] = *ev;
}

static inline u32 rig_count(const struct rig *r, u32 kind)
{
	u32 count = 0;

	for (u32 i = 0; i < r->nr_ev; i++)
		count += r->ev[i].kind == kind;
	return count;
}

static inline void rig_run(struct rig *r, u64 ps)
{
	assert_int_equal(sched_run_until(r->sched, sched_now(r->sched) + ps), SCHED_REACHED);
}

static inline u64 rig_rd(struct rig *r, u64 off, unsigned int len)
{
	return bus_cpu_read(&r->bus, (hpa_t){ RIG_BAR0 + off }, len);
}

static inline void rig_wr(struct rig *r, u64 off, u64 val, unsigned int len)
{
	bus_cpu_write(&r->bus, (hpa_t){ RIG_BAR0 + off }, val, len);
}

static inline void rig_wr32(struct rig *r, u64 off, u64 val)
{
	rig_wr(r, off, val, 4);
}

static inline u64 rig_mem64(struct rig *r, u64 addr)
{
	u64 val = 0;

	assert_true(bus_ram_read(&r->bus, (hpa_t){ addr }, &val, 8));
	return val;
}

static inline void rig_set64(struct rig *r, u64 addr, u64 val)
{
	assert_true(bus_ram_write(&r->bus, (hpa_t){ addr }, &val, 8));
}

static inline void rig_fill(struct rig *r, u64 addr, u64 len, u8 byte)
{
	u8 page[512];

	memset(page, byte, sizeof(page));
	for (u64 at = 0; at < len; at += sizeof(page))
		assert_true(bus_ram_write(&r->bus, (hpa_t){ addr + at }, page, sizeof(page)));
}

static inline u8 rig_byte(struct rig *r, u64 addr)
{
	u8 val;

	assert_true(bus_ram_read(&r->bus, (hpa_t){ addr }, &val, 1));
	return val;
}

static inline u8 rig_media_byte(struct rig *r, u64 lba)
{
	u8 val;

	store_read(r->media, lba * 512, &val, 1);
	return val;
}

static inline void rig_media_fill(struct rig *r, u64 lba, u64 blocks, u8 byte)
{
	u8 sector[512];

	memset(sector, byte, sizeof(sector));
	for (u64 i = 0; i < blocks; i++)
		store_write(r->media, (lba + i) * 512, sector, sizeof(sector));
}

static inline u64 rig_doorbell(const struct rig *r, u16 qid, bool cq)
{
	return NVME_REG_DBS + (2ULL * qid + cq) * (4ULL << r->cfg.dstrd);
}

static inline struct rig_queue rig_queue(u16 qid, u64 sq, u32 sq_size, u64 cq, u32 cq_size)
{
	return (struct rig_queue){ .qid = qid, .sq = sq, .cq = cq, .sq_size = sq_size, .cq_size = cq_size,
				   .phase = true };
}

/* Put an SQE at the tail without ringing. Returns its CID. */
static inline u16 rig_put(struct rig *r, struct rig_queue *q, struct nvme_sqe sqe)
{
	if (!sqe.cid)
		sqe.cid = ++r->next_cid;
	assert_true(bus_ram_write(&r->bus, (hpa_t){ q->sq + q->tail * 64ULL }, &sqe, 64));
	q->tail = (q->tail + 1) % q->sq_size;
	return sqe.cid;
}

static inline void rig_ring(struct rig *r, const struct rig_queue *q)
{
	rig_wr32(r, rig_doorbell(r, q->qid, false), q->tail);
}

/* Next CQE if there is one; @ack rings the head doorbell. */
static inline bool rig_peek(struct rig *r, struct rig_queue *q, struct nvme_cqe *cqe, bool ack)
{
	assert_true(bus_ram_read(&r->bus, (hpa_t){ q->cq + q->head * 16ULL }, cqe, 16));
	if ((cqe->status & NVME_CQE_PHASE) != q->phase)
		return false;
	if (++q->head == q->cq_size) {
		q->head = 0;
		q->phase = !q->phase;
	}
	if (ack)
		rig_wr32(r, rig_doorbell(r, q->qid, true), q->head);
	return true;
}

/* Status of a CQE as the tables write it: SCT << 8 | SC, with NVME_DNR. */
static inline u16 rig_status(const struct nvme_cqe *cqe)
{
	return cqe->status >> 1;
}

static inline struct nvme_cqe rig_cqe(struct rig *r, struct rig_queue *q, struct nvme_sqe sqe)
{
	struct nvme_cqe cqe;
	u16 cid = rig_put(r, q, sqe);

	rig_ring(r, q);
	for (int i = 0; i < 1000; i++) {
		rig_run(r, 100 * PS_PER_US);
		if (rig_peek(r, q, &cqe, true)) {
			assert_int_equal(cqe.cid, cid);
			assert_int_equal(cqe.sqid, q->qid);
			return cqe;
		}
	}
	fail_msg("no completion");
	return cqe;
}

static inline u16 rig_cmd(struct rig *r, struct rig_queue *q, struct nvme_sqe sqe)
{
	struct nvme_cqe cqe = rig_cqe(r, q, sqe);

	return rig_status(&cqe);
}

static inline u16 rig_admin(struct rig *r, struct nvme_sqe sqe)
{
	return rig_cmd(r, &r->admin, sqe);
}

static inline struct nvme_sqe rig_rw(u8 opcode, u64 slba, u32 nlb, u64 prp1, u64 prp2)
{
	return (struct nvme_sqe){ .opcode = opcode, .nsid = 1, .cdw10 = (u32)slba, .cdw11 = (u32)(slba >> 32),
				  .cdw12 = nlb, .prp1 = prp1, .prp2 = prp2 };
}

static inline u16 rig_create_cq(struct rig *r, u16 qid, u32 size, u64 base, u16 vector)
{
	return rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_CREATE_CQ, .prp1 = base,
					       .cdw10 = (size - 1) << 16 | qid,
					       .cdw11 = (u32)(NVME_QUEUE_PC | NVME_CQ_IEN) | (u32)vector << 16 });
}

static inline u16 rig_create_sq(struct rig *r, u16 qid, u32 size, u64 base, u16 cqid)
{
	return rig_admin(r, (struct nvme_sqe){ .opcode = NVME_ADM_CREATE_SQ, .prp1 = base,
					       .cdw10 = (size - 1) << 16 | qid,
					       .cdw11 = (u32)NVME_QUEUE_PC | (u32)cqid << 16 });
}

static inline u16 rig_delete(struct rig *r, u8 opcode, u16 qid)
{
	return rig_admin(r, (struct nvme_sqe){ .opcode = opcode, .cdw10 = qid });
}

/* A pair with its pages at the usual places, vector = qid. */
static inline struct rig_queue rig_pair(struct rig *r, u16 qid, u32 sq_size, u32 cq_size)
{
	u64 sq = RIG_IO_QUEUES + qid * 0x20000ULL, cq = sq + 0x10000;

	rig_fill(r, sq, 0x20000, 0);
	assert_int_equal(rig_create_cq(r, qid, cq_size, cq, qid), 0);
	assert_int_equal(rig_create_sq(r, qid, sq_size, sq, qid), 0);
	return rig_queue(qid, sq, sq_size, cq, cq_size);
}

static inline void rig_msix_entry(struct rig *r, u32 vec, bool masked)
{
	u64 at = r->fn->cfg.msix_table_off + vec * 16ULL;

	rig_wr32(r, at, 0xFEE00000);
	rig_wr32(r, at + 4, 0);
	rig_wr32(r, at + 8, 0x40 + vec);
	rig_wr32(r, at + 12, masked);
}

static inline void rig_pci_up(struct rig *r)
{
	pci_cfg_write(&r->root, RIG_RID, PCIS_BAR(0), (u32)RIG_BAR0, 4);
	pci_cfg_write(&r->root, RIG_RID, PCIS_BAR(2), (u32)RIG_BAR2, 4);
	pci_cfg_write(&r->root, RIG_RID, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER, 2);
	pci_cfg_write(&r->root, RIG_RID, r->fn->cap_msix + PCIS_MSIX_CONTROL, PCIS_MSIX_ENABLE, 2);
	for (u32 v = 0; v < r->cfg.msix_vectors; v++)
		rig_msix_entry(r, v, false);
}

#define RIG_CC_ENABLE (NVME_CC_EN | FIELD_PREP(NVME_CC_IOSQES, 6) | FIELD_PREP(NVME_CC_IOCQES, 4))

static inline void rig_enable(struct rig *r)
{
	rig_fill(r, RIG_ASQ, 0x2000, 0);
	r->admin = rig_queue(0, RIG_ASQ, 64, RIG_ACQ, 64);
	rig_wr32(r, NVME_REG_AQA, 63 << 16 | 63);
	rig_wr(r, NVME_REG_ASQ, RIG_ASQ, 8);
	rig_wr(r, NVME_REG_ACQ, RIG_ACQ, 8);
	rig_wr32(r, NVME_REG_CC, RIG_CC_ENABLE);
	rig_run(r, r->cfg.timing.reset_ps);
	assert_int_equal(rig_rd(r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
}

/* The machine with PCI set up and the controller still disabled. */
static inline struct rig *rig_new(const struct nvme_config *cfg)
{
	struct rig *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	r->cfg = *cfg;
	r->sched = sched_new();
	r->memory = store_new(RIG_RAM_BYTES, STORE_NO_BUDGET, 0);
	r->media = store_new(cfg->ncap * (cfg->metadata ? 520 : 512), STORE_NO_BUDGET, 0);
	bus_init(&r->bus, r->memory);
	assert_int_equal(bus_add_ram(&r->bus, 0, RIG_RAM_BYTES), 0);
	r->trace = (struct trace){ .mask = { ~0ULL, ~0ULL }, .sched = r->sched, .fn = rig_trace, .opaque = r };
	pci_root_init(&r->root, &r->bus, NULL, r->sched, &r->trace);
	r->root.msi = rig_msi;
	r->root.msi_opaque = r;
	r->nvme = nvme_new(cfg, &r->root, r->sched, &r->trace, r->media);
	assert_non_null(r->nvme);
	r->fn = nvme_function(r->nvme);
	rig_pci_up(r);
	return r;
}

static inline struct rig *rig_up(const struct nvme_config *cfg)
{
	struct rig *r = rig_new(cfg);

	rig_enable(r);
	return r;
}

static inline void rig_free(struct rig *r)
{
	nvme_free(r->nvme);
	sched_free(r->sched);
	store_free(r->media);
	store_free(r->memory);
	free(r);
}

/* A controller with a pair of I/O queues: the fixture of most tests of commands. */
struct rig_io {
	struct rig *r;
	struct rig_queue q;
};

static inline struct rig_io *rig_io_up(const struct nvme_config *cfg)
{
	struct rig_io *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->r = rig_up(cfg);
	f->q = rig_pair(f->r, 4, 64, 64);
	return f;
}

static inline int rig_io_down(void **state)
{
	struct rig_io *f = *state;

	rig_free(f->r);
	free(f);
	return 0;
}

#endif
