// SPDX-License-Identifier: GPL-2.0
#include "diff/nvme_ops.h"

#include <string.h>

/* Operations on registers, MSI-X, configuration space and memory. */

#define LEN_MAX (1u << 20)
#define LIST_MAX 4096
#define REGS_MAX 4096
#define MSIX_DATA 0xA5A50000u
#define MSIX_MESSAGE_CONTROL 2

static unsigned int width(const struct op *op)
{
	u64 w = op_get(op, "w");

	return w == 1 || w == 2 || w == 8 ? (unsigned int)w : 4;
}

void play_read(struct side *s, const struct op *op, struct seen *seen)
{
	see(seen, side_read_now(s, op_get(op, "at"), width(op)), "value");
}

void play_write(struct side *s, const struct op *op, struct seen *seen)
{
	side_write(s, op_get(op, "at"), width(op), op_get(op, "v"));
	side_sync(s);
	(void)seen;
}

/* Registers of BAR 0, each named by its offset. */
void play_regs(struct side *s, const struct op *op, struct seen *seen)
{
	unsigned int w = width(op);
	u64 val[REGS_MAX];
	u32 nr = 0;

	for (u64 off = op_get(op, "from"); off < op_get(op, "to") && nr < REGS_MAX; off += w)
		side_read(s, DIFF_BAR0 + off, w, &val[nr++]);
	side_sync(s);
	for (u32 i = 0; i < nr; i++)
		see(seen, val[i], "+0x%02llx", (unsigned long long)(op_get(op, "from") + i * w));
}

void play_msix(struct side *s, const struct op *op, struct seen *seen)
{
	u64 v = op_get(op, "v"), addr = op_get(op, "addr"), data = op_get(op, "data");
	u64 entry = s->nvme.msix_table + 16 * v, got[4];

	addr = addr ? addr : DIFF_MSI + 16 * v;
	data = data ? data : MSIX_DATA | (v + 1);
	side_write(s, entry, 4, (u32)addr);
	side_write(s, entry + 4, 4, addr >> 32);
	side_write(s, entry + 8, 4, data);
	side_write(s, entry + 12, 4, op_get(op, "mask"));
	for (u32 i = 0; i < 4; i++)
		side_read(s, entry + 4 * i, 4, &got[i]);
	side_sync(s);
	for (u32 i = 0; i < 4; i++)
		see(seen, got[i], "entry+%u", 4 * i);
}

void play_msixctl(struct side *s, const struct op *op, struct seen *seen)
{
	side_config_write(s, s->nvme.msix_cap + MSIX_MESSAGE_CONTROL, 2, (u32)op_get(op, "v"));
	see(seen, side_config_read(s, s->nvme.msix_cap + MSIX_MESSAGE_CONTROL, 2), "control");
}

void play_pending(struct side *s, const struct op *op, struct seen *seen)
{
	(void)op;
	see(seen, side_read_now(s, s->nvme.msix_pba, 8), "pba");
}

void play_config(struct side *s, const struct op *op, struct seen *seen)
{
	see(seen, side_config_read(s, (u32)op_get(op, "at"), width(op)), "value");
}

void play_configw(struct side *s, const struct op *op, struct seen *seen)
{
	side_config_write(s, (u32)op_get(op, "at"), width(op), (u32)op_get(op, "v"));
	see(seen, side_config_read(s, (u32)op_get(op, "at"), width(op)), "value");
}

static u32 length(const struct op *op)
{
	u64 len = op_get(op, "len");

	return (u32)(len < LEN_MAX ? len : LEN_MAX) & ~7u;
}

void play_put(struct side *s, const struct op *op, struct seen *seen)
{
	static u64 word[LEN_MAX / 8];
	u64 state = op_get(op, "seed");
	u32 len = length(op);

	(void)seen;
	if (!state) {
		side_fill(s, op_get(op, "at"), 0, len);
	} else if (len) {
		for (u32 i = 0; i < len / 8; i++)
			word[i] = diff_random(&state);
		side_put(s, op_get(op, "at"), word, len);
	}
	side_sync(s);
}

/* As many as are given, up to the last that is. */
void play_words(struct side *s, const struct op *op, struct seen *seen)
{
	u64 word[8];
	u32 nr = 0;

	(void)seen;
	for (u32 i = 0; i < 8; i++) {
		word[i] = op->arg[1 + i];
		if (op->given & (2u << i))
			nr = i + 1;
	}
	if (nr)
		side_put(s, op_get(op, "at"), word, 8 * nr);
	side_sync(s);
}

void play_list(struct side *s, const struct op *op, struct seen *seen)
{
	u64 word[LIST_MAX], n = op_get(op, "n");
	u32 nr = (u32)(n < LIST_MAX ? n : LIST_MAX);

	(void)seen;
	for (u32 i = 0; i < nr; i++)
		word[i] = op_get(op, "base") + i * op_get(op, "step");
	if (nr)
		side_put(s, op_get(op, "at"), word, 8 * nr);
	side_sync(s);
}

void play_see(struct side *s, const struct op *op, struct seen *seen)
{
	u32 len = length(op);

	if (len)
		side_get(s, op_get(op, "at"), see_bytes(seen, len), len);
	side_sync(s);
}

struct field {
	const char *name;
	u16 off, len;
};

/* Base figure 275, in its order. What lies between is seen as words named by their offset. */
static const struct field ctrl_fields[] = {
	{ "VID", 0, 2 }, { "SSVID", 2, 2 }, { "SN", 4, 20 }, { "MN", 24, 40 }, { "FR", 64, 8 }, { "RAB", 72, 1 },
	{ "IEEE", 73, 3 }, { "CMIC", 76, 1 }, { "MDTS", 77, 1 }, { "CNTLID", 78, 2 }, { "VER", 80, 4 }, { "RTD3R", 84, 4 },
	{ "RTD3E", 88, 4 }, { "OAES", 92, 4 }, { "CTRATT", 96, 4 }, { "CNTRLTYPE", 111, 1 }, { "VWCI", 254, 1 },
	{ "MEC", 255, 1 }, { "OACS", 256, 2 }, { "ACL", 258, 1 }, { "AERL", 259, 1 }, { "FRMW", 260, 1 }, { "LPA", 261, 1 },
	{ "ELPE", 262, 1 }, { "NPSS", 263, 1 }, { "WCTEMP", 266, 2 }, { "CCTEMP", 268, 2 }, { "SQES", 512, 1 },
	{ "CQES", 513, 1 }, { "MAXCMD", 514, 2 }, { "NN", 516, 4 }, { "ONCS", 520, 2 }, { "FUSES", 522, 2 }, { "FNA", 524, 1 },
	{ "VWC", 525, 1 }, { "AWUN", 526, 2 }, { "AWUPF", 528, 2 }, { "OCFS", 534, 2 }, { "SGLS", 536, 4 },
	{ "SUBNQN", 768, 256 }, { "PSD0", 2048, 32 }, { "VS", 3072, 1024 },
};

/* NVM figure 97. */
static const struct field ns_fields[] = {
	{ "NSZE", 0, 8 }, { "NCAP", 8, 8 }, { "NUSE", 16, 8 }, { "NSFEAT", 24, 1 }, { "NLBAF", 25, 1 }, { "FLBAS", 26, 1 },
	{ "MC", 27, 1 }, { "DPC", 28, 1 }, { "DPS", 29, 1 }, { "DLFEAT", 33, 1 }, { "NPWG", 64, 2 }, { "NPWA", 66, 2 },
	{ "NPDG", 68, 2 }, { "NPDA", 70, 2 }, { "NOWS", 72, 2 }, { "MSSRL", 74, 2 }, { "MCL", 76, 4 }, { "MSRC", 80, 1 },
	{ "NGUID", 104, 16 }, { "EUI64", 120, 8 }, { "LBAF0", 128, 4 }, { "LBAF1", 132, 4 }, { "LBAF2", 136, 4 },
	{ "LBAF3", 140, 4 }, { "LBAF4", 144, 4 }, { "LBAF5", 148, 4 }, { "LBAF6", 152, 4 }, { "LBAF7", 156, 4 },
};

static void see_page(struct side *s, const struct op *op, struct seen *seen, const struct field *f, u32 nr)
{
	u8 page[NVME_ID_SIZE];
	u32 at = 0;

	side_get(s, op_get(op, "at"), page, sizeof(page));
	side_sync(s);
	for (u32 i = 0; i <= nr; i++) {
		u32 end = i < nr ? f[i].off : (u32)sizeof(page);

		for (; at < end; at++)
			if (page[at])
				see(seen, page[at], "byte-%u", at);
		if (i == nr)
			break;
		for (u32 k = 0; k < f[i].len; k += 8) {
			u64 word = 0;
			u32 len = f[i].len - k < 8u ? f[i].len - k : 8;

			memcpy(&word, page + at + k, len);
			see(seen, word, k ? "%s+%u" : "%s", f[i].name, k);
		}
		at += f[i].len;
	}
}

void play_see_ctrl(struct side *s, const struct op *op, struct seen *seen)
{
	see_page(s, op, seen, ctrl_fields, sizeof(ctrl_fields) / sizeof(ctrl_fields[0]));
}

void play_see_ns(struct side *s, const struct op *op, struct seen *seen)
{
	see_page(s, op, seen, ns_fields, sizeof(ns_fields) / sizeof(ns_fields[0]));
}
