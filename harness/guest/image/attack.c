// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that are taken away or were never there, and attacks by the names they have in
 * scenarios/expected.tsv; what each does is what the scenario of that name does.
 */

#include "workload.h"

#define PAGE		((u32)SPEC_PAGE_SIZE)
#define PAGES		10u
#define OWN_QID		3u		/* the pair that the frontend leaves alone */
#define OWN_ENTRIES	16u
#define MARK		0x5a5a5a5a5a5a5a5aull
#define HARM		0x0bad0bad0bad0badull
#define POLL_NS		100000u
#define POLLS		1000u
#define SILENT		0xffffu

struct attack {
	struct liov_frontend *fe;
	const struct guest_page *asked;
	struct port_shm mem;
	gpa_t gpa;
	u16 cid;
};

/* --- pages --- */

void guest_touch(struct liov_frontend *fe, const char *what, u32 off)
{
	u64 word = MARK;

	port_shm_copy_out(&fe->cmb, off, &word, 8);
	guest_say("%s.word %lx", what, port_shm_rd64(&fe->cmb, off));
}

static void create(struct liov_frontend *fe)
{
	const struct liov_info_queue *iq = &fe->info.queue[OWN_QID - 1];
	struct nvme_sqe cq = { .opcode = NVME_ADM_CREATE_CQ, .prp1 = fe->cmb_gpa.v + iq->cq,
			       .cdw10 = (OWN_ENTRIES - 1) << 16 | OWN_QID, .cdw11 = (u32)NVME_QUEUE_PC };
	struct nvme_sqe sq = { .opcode = NVME_ADM_CREATE_SQ, .prp1 = fe->cmb_gpa.v + iq->sq,
			       .cdw10 = (OWN_ENTRIES - 1) << 16 | OWN_QID,
			       .cdw11 = (u32)(NVME_QUEUE_PC | FIELD_PREP(NVME_SQ_CQID, OWN_QID)) };

	if (liov_frontend_admin(fe, &cq, NULL) || liov_frontend_admin(fe, &sq, NULL))
		guest_fail(__LINE__);
}

static void delete(struct liov_frontend *fe)
{
	struct nvme_sqe sq = { .opcode = NVME_ADM_DELETE_SQ, .cdw10 = OWN_QID };
	struct nvme_sqe cq = { .opcode = NVME_ADM_DELETE_CQ, .cdw10 = OWN_QID };

	if (liov_frontend_admin(fe, &sq, NULL) || liov_frontend_admin(fe, &cq, NULL))
		guest_fail(__LINE__);
}

/* EPT-01: a queue pair deleted under its pages; then it is there again, and its pages are new. */
void guest_stale(struct liov_frontend *fe)
{
	u32 sq = fe->info.queue[OWN_QID - 1].sq, cq = fe->info.queue[OWN_QID - 1].cq;

	create(fe);
	guest_touch(fe, "stale.live-sq", sq);
	guest_say("stale.live-cq.word %lx", port_shm_rd64(&fe->cmb, cq));
	delete(fe);
	guest_touch(fe, "stale.deleted-sq", sq);
	guest_say("stale.deleted-cq.word %lx", port_shm_rd64(&fe->cmb, cq));
	create(fe);
	guest_say("stale.fresh-sq.word %lx", port_shm_rd64(&fe->cmb, sq));
	guest_touch(fe, "stale.again-sq", sq);
	delete(fe);
}

void guest_readonly(struct liov_frontend *fe)
{
	struct liov_info now;
	u32 i, word = 0;

	for (i = 0; i < 4; i++)
		port_mmio_wr32(&fe->cmb_regs, LIOV_CMB_INFO + i * 4, word);
	port_shm_copy_in(&fe->cmb, LIOV_CMB_INFO, &now, sizeof(now));
	guest_say("readonly.info %s", memcmp(&now, &fe->info, sizeof(now)) ? "changed" : "same");
}

/* --- the attacker's hand on the first queue --- */

static u64 own(const struct attack *a, u32 page)
{
	return a->fe->info.dma_offset + a->gpa.v + page * PAGE;
}

static void fill(struct attack *a, u32 page, u64 word)
{
	u32 off;

	for (off = 0; off < PAGE; off += 8)
		port_shm_copy_out(&a->mem, page * PAGE + off, &word, 8);
}

static void ring(struct attack *a, bool cq, u32 val)
{
	struct liov_fe_queue *q = &a->fe->queue[0];

	port_mmio_wr32(q->doorbell_in_cmb ? &a->fe->cmb_regs : &a->fe->bar0, cq ? q->cq_doorbell : q->sq_doorbell, val);
}

static bool next_cqe(struct attack *a, u64 *high)
{
	struct liov_fe_queue *q = &a->fe->queue[0];

	*high = port_shm_rd64(&a->fe->cmb, q->cq + q->cq_head * (u32)sizeof(struct nvme_cqe) + 8);
	if ((*high >> 48 & NVME_CQE_PHASE) != (u64)q->cq_phase)
		return false;
	q->cq_head = (q->cq_head + 1) % q->entries;
	q->cq_phase ^= q->cq_head == 0;
	ring(a, true, q->cq_head);
	return true;
}

/* The command as it is; its status. */
static u16 io(struct attack *a, u8 opcode, u64 slba, u32 nlb, u64 prp1)
{
	struct liov_fe_queue *q = &a->fe->queue[0];
	struct nvme_sqe sqe = { .opcode = opcode, .cid = ++a->cid, .nsid = 1, .prp1 = prp1, .cdw10 = (u32)slba,
				.cdw11 = (u32)(slba >> 32), .cdw12 = nlb };
	u64 high;
	u32 i;

	port_shm_copy_out(&a->fe->cmb, q->sq + q->sq_tail * (u32)sizeof(sqe), &sqe, sizeof(sqe));
	q->sq_tail = (q->sq_tail + 1) % q->entries;
	ring(a, false, q->sq_tail);
	for (i = 0; i < POLLS; i++) {
		if (next_cqe(a, &high) && (u16)(high >> 32) == a->cid)
			return (u16)(high >> 49 & NVME_STATUS_CODE);
		port_sleep_ns(a->fe->home, POLL_NS);
	}
	return SILENT;
}

static void strike(struct attack *a, const char *id, u8 opcode, u64 slba, u64 prp1)
{
	u16 status = io(a, opcode, slba, 7, prp1);

	if (status == SILENT)
		guest_say("%s.status silent", id);
	else
		guest_say("%s.status %x/0x%x%x", id, (u32)status >> 8, (u32)status >> 4 & 0xf, (u32)status & 0xf);
}

/* --- the cases --- */

static void lba(struct attack *a)
{
	fill(a, 0, MARK);
	strike(a, "LBA-01", NVME_CMD_READ, a->asked->victim_lba, own(a, 0));
	guest_say("LBA-01.word %lx", port_shm_rd64(&a->mem, 0));
	fill(a, 0, HARM);
	strike(a, "LBA-02", NVME_CMD_WRITE, a->asked->victim_lba, own(a, 0));
}

static void gpa(struct attack *a)
{
	u64 lba = a->fe->info.lba_start;

	fill(a, 0, HARM);
	strike(a, "GPA-01.prepare", NVME_CMD_WRITE, lba, own(a, 0));
	strike(a, "GPA-01", NVME_CMD_READ, lba, a->asked->victim_page);
	strike(a, "GPA-02", NVME_CMD_WRITE, lba, a->asked->victim_page);
	strike(a, "GPA-02.read", NVME_CMD_READ, lba, own(a, 0));
	guest_say("GPA-02.word %lx", port_shm_rd64(&a->mem, 0));
}

/* Memory given back, and named all the same: the translation was cached before. */
static void iom_01(struct attack *a)
{
	gpa_t page = { a->gpa.v + 8 * PAGE };
	u64 lba = a->fe->info.lba_start;

	strike(a, "IOM-01.prepare", NVME_CMD_READ, lba, own(a, 8));
	guest_say("IOM-01.unregister %u", (u32)liov_frontend_mem_unregister(a->fe, page, PAGE));
	fill(a, 8, MARK);
	strike(a, "IOM-01", NVME_CMD_READ, lba, own(a, 8));
	guest_say("IOM-01.word %lx", port_shm_rd64(&a->mem, 8 * PAGE));
}

/* The neighbour's doorbell, in the page that all share; a page that is nobody's where each has its own. */
static void qd_01(struct attack *a)
{
	port_mmio_wr32(&a->fe->cmb_regs, LIOV_CMB_DOORBELLS + a->asked->victim_qid * 8, 5);
	port_mmio_wr32(&a->fe->bar0, LIOV_BAR0_DOORBELLS + a->asked->victim_qid * 8, 5);
	port_sleep_ns(a->fe->home, 1000000);
}

/* Slots of queues that the VM does not have. */
static void cmb_02(struct attack *a)
{
	guest_touch(a->fe, "CMB-02.slot-4", LIOV_CMB_SLOTS + 3 * LIOV_CMB_SLOT_STRIDE);
	guest_touch(a->fe, "CMB-02.slot-6", LIOV_CMB_SLOTS + 5 * LIOV_CMB_SLOT_STRIDE);
}

void guest_attack(struct liov_frontend *fe, const struct guest_page *asked)
{
	struct attack a = { .fe = fe, .asked = asked };

	if (guest_dma_alloc(fe->guest, PAGES, &a.mem, &a.gpa))
		guest_fail(__LINE__);
	fe->queue[0].live = false;
	lba(&a);
	gpa(&a);
	iom_01(&a);
	cmb_02(&a);
	qd_01(&a);
}
