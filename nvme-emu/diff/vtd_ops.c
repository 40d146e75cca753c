// SPDX-License-Identifier: GPL-2.0
#include "diff/vtd_client.h"

/*
 * Operations on VT-d. DMA is provoked by NVMe commands of queue 1 whose PRPs are addresses to be
 * translated; interrupts by completions of the admin queue, whose vector 0 is programmed anew.
 */

#define BLOCKS 8			/* of a page */
#define DIRTY 0xEE			/* what a page holds before it is to be written */
#define QUIET_VECTOR_ADDR DIFF_MSI

/* Offsets in the page, behind ECAP.IRO, or in the record of the first pending fault. */
enum vtd_where { AT_PAGE, AT_IOTLB, AT_FRCD };

static u64 register_at(struct side *s, u64 at, u64 where)
{
	if (where == AT_IOTLB)
		return at + 16 * FIELD_GET(VTD_ECAP_IRO, vtd_read(s, VTD_REG_ECAP, 8));
	if (where == AT_FRCD)
		return at + 16 * (FIELD_GET(VTD_CAP_FRO, vtd_read(s, VTD_REG_CAP, 8)) +
				  FIELD_GET(VTD_FSTS_FRI, vtd_read(s, VTD_REG_FSTS, 4)));
	return at;
}

static void play_write(struct side *s, const struct op *op, struct seen *seen)
{
	u64 where = op_get(op, "where"), at = register_at(s, op_get(op, "at"), where) & (VTD_REG_PAGE_SIZE - 4);
	unsigned int width = op_get(op, "w") == 8 && at % 8 == 0 ? 8 : 4;
	bool pending = vtd_read(s, VTD_REG_FSTS, 4) & VTD_FSTS_PPF;
	u64 val;

	side_write(s, VTD_BASE + at, width, op_get(op, "v"));
	val = vtd_read(s, at, width);
	/* Records of no fault tell nothing. */
	if (where != AT_FRCD || pending)
		see(seen, at == VTD_REG_FSTS ? val & ~VTD_FSTS_FRI : val, "register");
	vtd_see_irr(s, seen);
	vtd_see_status(s, seen);
}

static void play_regs(struct side *s, const struct op *op, struct seen *seen)
{
	static const struct {
		const char *name;
		u16 offset, bytes, where;
	} reg[] = {
		{ "ver", VTD_REG_VER, 4, AT_PAGE }, { "cap", VTD_REG_CAP, 8, AT_PAGE },
		{ "ecap", VTD_REG_ECAP, 8, AT_PAGE }, { "gcmd", VTD_REG_GCMD, 4, AT_PAGE },
		{ "rtaddr", VTD_REG_RTADDR, 8, AT_PAGE }, { "ccmd", VTD_REG_CCMD, 8, AT_PAGE },
		{ "fedata", VTD_REG_FEDATA, 4, AT_PAGE }, { "feaddr", VTD_REG_FEADDR, 4, AT_PAGE },
		{ "feuaddr", VTD_REG_FEUADDR, 4, AT_PAGE }, { "iqt", VTD_REG_IQT, 8, AT_PAGE },
		{ "iqa", VTD_REG_IQA, 8, AT_PAGE }, { "iedata", VTD_REG_IEDATA, 4, AT_PAGE },
		{ "ieaddr", VTD_REG_IEADDR, 4, AT_PAGE }, { "ieuaddr", VTD_REG_IEUADDR, 4, AT_PAGE },
		{ "iqercd", VTD_REG_IQERCD, 8, AT_PAGE }, { "irta", VTD_REG_IRTA, 8, AT_PAGE },
		{ "iva", VTD_IOTLB_REG_IVA, 8, AT_IOTLB }, { "iotlb", VTD_IOTLB_REG_CMD, 8, AT_IOTLB },
	};

	(void)op;
	for (u32 i = 0; i < sizeof(reg) / sizeof(reg[0]); i++)
		see(seen, vtd_read(s, register_at(s, reg[i].offset, reg[i].where), reg[i].bytes), "%s", reg[i].name);
	vtd_see_status(s, seen);
}

/* Tables, their root pointer, the queue and the IRTEs as they are at first; then what is to be on. */
static void play_on(struct side *s, const struct op *op, struct seen *seen)
{
	u32 levels = (u32)op_get(op, "levels");
	u32 set = (op_get(op, "te") ? (u32)VTD_G_TE : 0) | (op_get(op, "ir") ? (u32)VTD_G_IRE : 0) |
		  (op_get(op, "qi") ? (u32)VTD_G_QIE : 0);

	vtd_tables(s);
	side_write(s, VTD_CONTEXTS + VTD_CONTEXT_ENTRY_SIZE * VTD_SID, 8, vtd_context_lo(0, levels, 0, false, true));
	side_write(s, VTD_CONTEXTS + VTD_CONTEXT_ENTRY_SIZE * VTD_SID + 8, 8,
		   FIELD_PREP(VTD_CTX_HI_DID, 1) | FIELD_PREP(VTD_CTX_HI_AW, levels - 2));
	side_write(s, VTD_BASE + VTD_REG_RTADDR, 8, VTD_ROOT);
	side_write(s, VTD_BASE + VTD_REG_IQA, 8, VTD_QUEUE | op_get(op, "qs"));
	side_write(s, VTD_BASE + VTD_REG_IRTA, 8, VTD_IRTES | 7);
	vtd_command(s, (u32)VTD_G_SRTP, 0);
	vtd_command(s, (u32)VTD_G_SIRTP, 0);
	for (u32 bit = 1u << 25; bit; bit <<= 1)
		if (set & bit)
			vtd_command(s, bit, 0);
	vtd_see_status(s, seen);
}

static void play_command(struct side *s, const struct op *op, struct seen *seen)
{
	vtd_command(s, (u32)op_get(op, "set"), (u32)op_get(op, "clear"));
	vtd_see_irr(s, seen);
	vtd_see_status(s, seen);
}

static void play_root(struct side *s, const struct op *op, struct seen *seen)
{
	(void)seen;
	side_write(s, VTD_ROOT, 8, (VTD_CONTEXTS | VTD_ROOT_LO_P) ^ op_get(op, "lo"));
	side_write(s, VTD_ROOT + 8, 8, op_get(op, "hi"));
	side_sync(s);
}

static void play_context(struct side *s, const struct op *op, struct seen *seen)
{
	u64 at = VTD_CONTEXTS + VTD_CONTEXT_ENTRY_SIZE * op_get(op, "sid"), aw = op_get(op, "aw");

	(void)seen;
	side_write(s, at, 8, vtd_context_lo((u32)op_get(op, "tree"), (u32)aw + 2, op_get(op, "tt"), op_get(op, "fpd"),
					    op_get(op, "p")) ^ op_get(op, "lo"));
	side_write(s, at + 8, 8, (FIELD_PREP(VTD_CTX_HI_DID, op_get(op, "did")) | FIELD_PREP(VTD_CTX_HI_AW, aw)) ^
				 op_get(op, "hi"));
	side_sync(s);
}

/*
 * The entry of @iova at @level is @to with @rights, at a level above the first a large page, or
 * the table below with @large=0. @n: so many, of pages one behind the other.
 */
static void play_map(struct side *s, const struct op *op, struct seen *seen)
{
	u32 tree = (u32)op_get(op, "tree"), level = (u32)op_get(op, "level");
	u64 iova = op_get(op, "iova"), table = vtd_table(tree, iova, level), pte;

	(void)seen;
	if (!table)
		return;
	if (level > 1 && !op_get(op, "large"))
		pte = vtd_table(tree, iova, level - 1);
	else
		pte = op_get(op, "to") | (level > 1 ? VTD_SSPTE_PS : 0);
	pte = (pte | op_get(op, "rights")) ^ op_get(op, "xor");
	for (u64 i = 0, first = VTD_LEVEL_INDEX(iova, level); i < op_get(op, "n") && first + i < VTD_SSPTE_COUNT; i++)
		side_write(s, table + 8 * (first + i), 8, pte + (i << VTD_LEVEL_SHIFT(level)));
	side_sync(s);
}

static void command(struct side *s, u32 q, struct nvme_sqe sqe, struct seen *seen)
{
	nvme_client_store(s, q, &sqe, true);
	nvme_client_ring(s, q);
	nvme_client_collect(s, q, seen);
}

static void see_page(struct side *s, u64 at, struct seen *seen)
{
	side_get(s, at, see_bytes(seen, SPEC_PAGE_SIZE), SPEC_PAGE_SIZE);
	side_sync(s);
}

/*
 * The device writes a page (a Read) or reads one (a Write) at @iova, and at @iova2 where the page ends.
 * @look: where it should arrive, or from where it should come; 0: it should not.
 */
static void play_dma(struct side *s, const struct op *op, struct seen *seen)
{
	u64 look = op_get(op, "look"), state = op_get(op, "seed"), word[SPEC_PAGE_SIZE / 8];
	bool reads = op_get(op, "read");
	struct nvme_sqe sqe = {
		.opcode = reads ? NVME_CMD_WRITE : NVME_CMD_READ, .nsid = 1, .prp1 = op_get(op, "iova"),
		.prp2 = op_get(op, "iova2"), .cdw10 = (u32)op_get(op, "lba"), .cdw12 = (u32)(op_get(op, "blocks") - 1) & 31,
	};

	if (reads)
		for (u32 i = 0; i < SPEC_PAGE_SIZE / 8; i++)
			word[i] = diff_random(&state);
	if (reads && look)
		side_put(s, look, word, sizeof(word));
	else if (look)
		side_fill(s, look, DIRTY, SPEC_PAGE_SIZE);
	command(s, 1, sqe, seen);
	vtd_see_irr(s, seen);
	vtd_see_status(s, seen);
	vtd_see_fault(s, !op_get(op, "keep"), seen);
	if (look && !reads)
		see_page(s, look, seen);
	/* What a Write without its data has written is nobody's business. */
	if (!reads || !look)
		return;
	sqe.opcode = NVME_CMD_READ;
	sqe.prp1 = DIFF_DATA;
	sqe.prp2 = DIFF_DATA + SPEC_PAGE_SIZE;
	command(s, 1, sqe, seen);
	see_page(s, DIFF_DATA, seen);
}

/* One admin command that completes through vector 0, which sends @data to @addr or is a remappable message. */
static void play_interrupt(struct side *s, const struct op *op, struct seen *seen)
{
	u64 addr = op_get(op, "addr"), entry = s->nvme.msix_table;

	if (!addr)
		addr = VTD_MSI_ADDRESS(op_get(op, "handle"), op_get(op, "shv"));
	side_write(s, entry, 4, (u32)addr);
	side_write(s, entry + 4, 4, addr >> 32);
	side_write(s, entry + 8, 4, op_get(op, "data"));
	side_sync(s);
	command(s, 0, (struct nvme_sqe){ .opcode = NVME_ADM_GET_FEATURES, .cdw10 = 7 }, seen);
	side_write(s, entry, 4, QUIET_VECTOR_ADDR);
	side_write(s, entry + 4, 4, 0);
	side_sync(s);
	vtd_see_irr(s, seen);
	vtd_see_status(s, seen);
	vtd_see_fault(s, !op_get(op, "keep"), seen);
}

static void play_irte(struct side *s, const struct op *op, struct seen *seen)
{
	u64 at = VTD_IRTES + VTD_IRTE_SIZE * (op_get(op, "index") % VTD_IRTES_NR);
	u64 lo = FIELD_PREP(VTD_IRTE_LO_P, op_get(op, "p")) | FIELD_PREP(VTD_IRTE_LO_FPD, op_get(op, "fpd")) |
		 FIELD_PREP(VTD_IRTE_LO_DLM, op_get(op, "dlm")) | FIELD_PREP(VTD_IRTE_LO_V, op_get(op, "v")) |
		 FIELD_PREP(VTD_IRTE_LO_DST_XAPIC, op_get(op, "dest"));
	u64 hi = FIELD_PREP(VTD_IRTE_HI_SID, op_get(op, "sid")) | FIELD_PREP(VTD_IRTE_HI_SQ, op_get(op, "sq")) |
		 FIELD_PREP(VTD_IRTE_HI_SVT, op_get(op, "svt"));

	(void)seen;
	side_write(s, at, 8, lo ^ op_get(op, "lo"));
	side_write(s, at + 8, 8, hi ^ op_get(op, "hi"));
	side_sync(s);
}

static void see_queue(struct side *s, struct seen *seen)
{
	see(seen, side_read_now(s, VTD_STATUS, 4), "wait-status");
	vtd_see_irr(s, seen);
	vtd_see_status(s, seen);
}

/* Put descriptors at the tail and ring it. */
static void enqueue(struct side *s, const u64 *word, u32 nr)
{
	u64 tail = FIELD_GET(VTD_IQ_INDEX, vtd_read(s, VTD_REG_IQT, 8)), size;

	size = 256ULL << FIELD_GET(VTD_IQA_QS, vtd_read(s, VTD_REG_IQA, 8));
	for (u32 i = 0; i < nr; i++, tail = (tail + 1) % size)
		side_put(s, VTD_QUEUE + 16 * (tail % 512), word + 2 * i, 16);
	side_write(s, VTD_BASE + VTD_REG_IQT, 8, FIELD_PREP(VTD_IQ_INDEX, tail));
	side_sync(s);
}

static void play_descriptor(struct side *s, const struct op *op, struct seen *seen)
{
	u64 word[2] = { op_get(op, "lo"), op_get(op, "hi") };

	for (u64 n = op_get(op, "n"), i = 0; i < n && i < 512; i++)
		enqueue(s, word, 1);
	see_queue(s, seen);
}

/* What stands at the head becomes a wait without effect, then the error is cleared and the tail rung again. */
static void play_recover(struct side *s, const struct op *op, struct seen *seen)
{
	u64 head = FIELD_GET(VTD_IQ_INDEX, vtd_read(s, VTD_REG_IQH, 8));
	u64 word[2] = { VTD_QI_WAIT | VTD_QI_WAIT_LO_SW, VTD_STATUS };

	(void)op;
	side_put(s, VTD_QUEUE + 16 * (head % 512), word, sizeof(word));
	side_write(s, VTD_BASE + VTD_REG_FSTS, 4, VTD_FSTS_IQE);
	enqueue(s, NULL, 0);
	see_queue(s, seen);
}

static void invalidate_by_register(struct side *s, const struct op *op, struct seen *seen)
{
	u64 g = op_get(op, "g"), did = op_get(op, "did"), at;

	if (op_get(op, "type") == VTD_QI_CONTEXT) {
		side_write(s, VTD_BASE + VTD_REG_CCMD, 8,
			   VTD_CCMD_ICC | FIELD_PREP(VTD_CCMD_CIRG, g) | FIELD_PREP(VTD_CCMD_DID, did) |
			   FIELD_PREP(VTD_CCMD_SID, op_get(op, "sid")) | FIELD_PREP(VTD_CCMD_FM, op_get(op, "fm")));
		see(seen, FIELD_GET(VTD_CCMD_CAIG | VTD_CCMD_ICC, vtd_read(s, VTD_REG_CCMD, 8)), "caig");
		return;
	}
	at = register_at(s, 0, AT_IOTLB);
	side_write(s, VTD_BASE + at + VTD_IOTLB_REG_IVA, 8,
		   op_get(op, "addr") | FIELD_PREP(VTD_IVA_AM, op_get(op, "am")) | FIELD_PREP(VTD_IVA_IH, op_get(op, "ih")));
	side_write(s, VTD_BASE + at + VTD_IOTLB_REG_CMD, 8,
		   VTD_IOTLB_CMD_IVT | FIELD_PREP(VTD_IOTLB_CMD_IIRG, g) | FIELD_PREP(VTD_IOTLB_CMD_DID, did));
	see(seen, FIELD_GET(VTD_IOTLB_CMD_IAIG, vtd_read(s, at + VTD_IOTLB_REG_CMD, 8)), "iaig");
}

/* By a descriptor and a wait if the queue is on, else by registers. */
static void play_invalidate(struct side *s, const struct op *op, struct seen *seen)
{
	u64 type = op_get(op, "type"), g = op_get(op, "g"), did = op_get(op, "did");
	u64 word[4] = { type, 0, FIELD_PREP(VTD_QI_WAIT_LO_DATA, op_get(op, "mark")) | VTD_QI_WAIT_LO_SW | VTD_QI_WAIT, VTD_STATUS };

	if (!(vtd_read(s, VTD_REG_GSTS, 4) & VTD_G_QIE)) {
		if (type == VTD_QI_CONTEXT || type == VTD_QI_IOTLB)
			invalidate_by_register(s, op, seen);
		vtd_see_status(s, seen);
		return;
	}
	if (type == VTD_QI_CONTEXT) {
		word[0] |= FIELD_PREP(VTD_QI_CTX_LO_G, g) | FIELD_PREP(VTD_QI_CTX_LO_DID, did) |
			   FIELD_PREP(VTD_QI_CTX_LO_SID, op_get(op, "sid")) | FIELD_PREP(VTD_QI_CTX_LO_FM, op_get(op, "fm"));
	} else if (type == VTD_QI_IOTLB) {
		word[0] |= FIELD_PREP(VTD_QI_IOTLB_LO_G, g) | FIELD_PREP(VTD_QI_IOTLB_LO_DID, did);
		word[1] = op_get(op, "addr") | FIELD_PREP(VTD_QI_IOTLB_HI_AM, op_get(op, "am")) |
			  FIELD_PREP(VTD_QI_IOTLB_HI_IH, op_get(op, "ih"));
	} else if (type == VTD_QI_IEC) {
		word[0] |= FIELD_PREP(VTD_QI_IEC_LO_G, g) | FIELD_PREP(VTD_QI_IEC_LO_IM, op_get(op, "am")) |
			   FIELD_PREP(VTD_QI_IEC_LO_IIDX, op_get(op, "addr"));
	}
	enqueue(s, word, 2);
	see_queue(s, seen);
}

static void play_event(struct side *s, const struct op *op, struct seen *seen)
{
	u64 at = op_get(op, "inv") ? VTD_REG_IECTL : VTD_REG_FECTL;

	side_write(s, VTD_BASE + at + 4, 4, op_get(op, "v"));
	side_write(s, VTD_BASE + at + 8, 4, op_get(op, "addr"));
	side_write(s, VTD_BASE + at, 4, op_get(op, "im") ? VTD_ECTL_IM : 0);
	side_sync(s);
	vtd_see_irr(s, seen);
	vtd_see_status(s, seen);
}

static void play_faults(struct side *s, const struct op *op, struct seen *seen)
{
	(void)op;
	vtd_see_fault(s, true, seen);
	vtd_see_status(s, seen);
}

const struct op_kind vtd_kinds[] = {
	{ "vtd-on", UNIT_VTD, { "levels=4", "te=1", "ir", "qi", "qs" }, play_on },
	{ "vtd-write", UNIT_VTD, { "at", "v", "w=4", "where" }, play_write },
	{ "vtd-regs", UNIT_VTD, { NULL }, play_regs },
	{ "vtd-command", UNIT_VTD, { "set", "clear" }, play_command },
	{ "vtd-root", UNIT_VTD, { "lo", "hi" }, play_root },
	{ "vtd-context", UNIT_VTD, { "p=1", "fpd", "tt", "aw=2", "did=1", "tree", "lo", "hi", "sid=0x18" }, play_context },
	{ "vtd-map", UNIT_VTD, { "iova", "to", "rights=3", "level=1", "large=1", "xor", "tree", "n=1" }, play_map },
	{ "vtd-dma", UNIT_VTD, { "read", "iova", "iova2", "lba", "blocks=8", "look", "seed=1", "keep" }, play_dma },
	{ "vtd-invalidate", UNIT_VTD, { "type=2", "g=1", "did=1", "sid=0x18", "fm", "addr", "am", "ih", "mark=1" }, play_invalidate },
	{ "vtd-descriptor", UNIT_VTD, { "lo", "hi", "n=1" }, play_descriptor },
	{ "vtd-recover", UNIT_VTD, { NULL }, play_recover },
	{ "vtd-irte", UNIT_VTD, { "index", "p=1", "fpd", "dlm", "v", "dest", "sid=0x18", "sq", "svt=1", "lo", "hi" }, play_irte },
	{ "vtd-interrupt", UNIT_VTD, { "handle", "shv", "data", "addr", "keep" }, play_interrupt },
	{ "vtd-event", UNIT_VTD, { "inv", "v", "addr=0xFEE00000", "im" }, play_event },
	{ "vtd-faults", UNIT_VTD, { NULL }, play_faults },
	{ NULL },
};
