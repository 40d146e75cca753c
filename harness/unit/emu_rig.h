/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_EMU_RIG_H
#define HARNESS_UNIT_EMU_RIG_H

/*
 * The machine of nvme-emu, built from QEMU's option words and driven by lines of QEMU's test
 * protocol only, and a small host that talks NVMe over it.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nvme-emu/cmdline.h"
#include "nvme-emu/qtest.h"

#define RIG_NVME "-drive if=none,id=d0,file=null-co://,file.read-zeroes=on,format=raw " \
	"-device nvme,serial=feas,drive=d0,addr=03.0,cmb_size_mb=2,max_ioqpairs=8,msix_qsize=9,mdts=5"
#define RIG_Q35 "-M q35,accel=tcg -m 256 -nodefaults -display none " RIG_NVME
#define RIG_VTD_Q35 "-M q35,accel=tcg -m 256 -nodefaults -device intel-iommu,intremap=on,aw-bits=48 " RIG_NVME

#define RIG_DEVFN 0x18
#define RIG_BAR0 0xFE000000ULL
#define RIG_BAR2 0xFD000000ULL
#define RIG_MSIX_TABLE (RIG_BAR0 + 0x2000)
#define RIG_CBA 0x40000000ULL
#define RIG_ASQ 0x100000ULL
#define RIG_ACQ 0x101000ULL
#define RIG_SQ1 0x102000ULL
#define RIG_CQ1 0x103000ULL
#define RIG_BUF 0x200000ULL
#define RIG_MAILBOX 0x180000ULL	/* memory that interrupt messages are pointed at */
#define RIG_DEPTH 16U

struct emu_rig {
	struct cmdline c;
	struct emu *m;
	struct qtest q;
	char *out;		/* all that was answered since it was last taken */
	size_t out_len, out_room;
	u32 tail[4], head[4];
	u8 phase[4];
	u64 sq[4], cq[4];
};

struct rig_sqe {
	u8 opcode;
	u32 nsid;
	u64 prp1, prp2;
	u32 cdw10, cdw11, cdw12;
};

static inline void rig_send(void *opaque, const char *data, size_t len)
{
	struct emu_rig *r = opaque;

	while (r->out_len + len + 1 > r->out_room) {
		r->out_room = r->out_room ? 2 * r->out_room : 4096;
		r->out = realloc(r->out, r->out_room);
		assert_non_null(r->out);
	}
	memcpy(r->out + r->out_len, data, len);
	r->out_len += len;
	r->out[r->out_len] = '\0';
}

/* As a shell would cut them: at blanks. The words must outlive the rig, so they stay allocated with it. */
static inline int rig_parse(struct cmdline *c, const char *options, char **kept)
{
	char *argv[128] = { (char *)"qtest" }, *at, *word;
	int argc = 1;

	*kept = strdup(options);
	for (at = *kept; (word = strtok_r(at, " ", &at)) && argc < 128;)
		argv[argc++] = word;
	return cmdline_parse(c, argc, argv);
}

static inline struct emu_rig *rig_new(const char *options)
{
	struct emu_rig *r = calloc(1, sizeof(*r));
	char line[2048], *kept;
	char why[256] = "";

	assert_non_null(r);
	snprintf(line, sizeof(line), "%s -qtest null", options);
	if (rig_parse(&r->c, line, &kept))
		fail_msg("%s", r->c.why);
	free(kept);
	r->m = emu_new(&r->c.emu, why, sizeof(why));
	if (!r->m)
		fail_msg("%s", why);
	qtest_init(&r->q, r->m, rig_send, r);
	return r;
}

static inline void rig_free(struct emu_rig *r)
{
	qtest_fini(&r->q);
	emu_free(r->m);
	free(r->out);
	free(r);
}

/* Sends @text as it is; the answers stay in r->out. */
static inline void rig_feed(struct emu_rig *r, const char *text, size_t len)
{
	r->out_len = 0;
	rig_send(r, "", 0);
	qtest_receive(&r->q, text, len);
}

/* One line, one answer, without its line end. */
static inline const char *rig_line(struct emu_rig *r, const char *line)
{
	rig_feed(r, line, strlen(line));
	qtest_receive(&r->q, "\n", 1);
	assert_true(r->out_len > 0);
	assert_int_equal(r->out[r->out_len - 1], '\n');
	r->out[r->out_len - 1] = '\0';
	assert_null(strchr(r->out, '\n'));
	return r->out;
}

static inline const char *__attribute__((format(printf, 2, 3))) rig_ask(struct emu_rig *r, const char *format, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	return rig_line(r, line);
}

static inline u64 rig_value(const char *answer)
{
	if (strncmp(answer, "OK 0x", 5))
		fail_msg("%s", answer);
	return strtoull(answer + 3, NULL, 16);
}

static inline void rig_ok(const char *answer)
{
	assert_string_equal(answer, "OK");
}

static inline u64 rig_rd(struct emu_rig *r, char width, u64 addr)
{
	return rig_value(rig_ask(r, "read%c 0x%llx", width, (unsigned long long)addr));
}

static inline void rig_wr(struct emu_rig *r, char width, u64 addr, u64 val)
{
	rig_ok(rig_ask(r, "write%c 0x%llx 0x%llx", width, (unsigned long long)addr, (unsigned long long)val));
}

static inline void rig_mem_write(struct emu_rig *r, u64 addr, const void *buf, size_t len)
{
	const u8 *p = buf;
	char *line = malloc(2 * len + 128);
	int n = sprintf(line, "write 0x%llx 0x%zx 0x", (unsigned long long)addr, len);

	for (size_t i = 0; i < len; i++)
		n += sprintf(line + n, "%02x", p[i]);
	rig_ok(rig_line(r, line));
	free(line);
}

static inline void rig_mem_read(struct emu_rig *r, u64 addr, void *buf, size_t len)
{
	const char *answer = rig_ask(r, "read 0x%llx 0x%zx", (unsigned long long)addr, len);
	unsigned int byte;

	assert_int_equal(strlen(answer), 5 + 2 * len);
	for (size_t i = 0; i < len; i++) {
		assert_int_equal(sscanf(answer + 5 + 2 * i, "%2x", &byte), 1);
		((u8 *)buf)[i] = (u8)byte;
	}
}

static inline u32 rig_cfg_rd(struct emu_rig *r, u32 devfn, u32 off)
{
	rig_ok(rig_ask(r, "outl 0xcf8 0x%x", 0x80000000U | devfn << 8 | off));
	return (u32)rig_value(rig_line(r, "inl 0xcfc"));
}

static inline void rig_cfg_wr(struct emu_rig *r, u32 devfn, u32 off, u32 val)
{
	rig_ok(rig_ask(r, "outl 0xcf8 0x%x", 0x80000000U | devfn << 8 | off));
	rig_ok(rig_ask(r, "outl 0xcfc 0x%x", val));
}

/* BARs, memory decoding and bus mastering, MSI-X with all vectors open; vector v writes 0x100 + v to RIG_MAILBOX + 4 * v. */
static inline void rig_pci_setup(struct emu_rig *r)
{
	rig_cfg_wr(r, RIG_DEVFN, 0x10, (u32)RIG_BAR0);
	rig_cfg_wr(r, RIG_DEVFN, 0x14, 0);
	rig_cfg_wr(r, RIG_DEVFN, 0x18, (u32)RIG_BAR2);
	rig_cfg_wr(r, RIG_DEVFN, 0x1C, 0);
	rig_cfg_wr(r, RIG_DEVFN, 0x04, 0x6);
	for (u32 cap = rig_cfg_rd(r, RIG_DEVFN, 0x34) & 0xFC; cap; cap = rig_cfg_rd(r, RIG_DEVFN, cap) >> 8 & 0xFC) {
		u32 head = rig_cfg_rd(r, RIG_DEVFN, cap);

		if ((head & 0xFF) == 0x11)
			rig_cfg_wr(r, RIG_DEVFN, cap, 0x80000000U | (head & 0xFFFF));
	}
	for (u32 v = 0; v < 9; v++) {
		rig_wr(r, 'l', RIG_MSIX_TABLE + 16 * v, RIG_MAILBOX + 4 * v);
		rig_wr(r, 'l', RIG_MSIX_TABLE + 16 * v + 4, 0);
		rig_wr(r, 'l', RIG_MSIX_TABLE + 16 * v + 8, 0x100 + v);
		rig_wr(r, 'l', RIG_MSIX_TABLE + 16 * v + 12, 0);
	}
}

static inline void rig_queue(struct emu_rig *r, u32 qid, u64 sq, u64 cq)
{
	r->sq[qid] = sq;
	r->cq[qid] = cq;
	r->tail[qid] = r->head[qid] = 0;
	r->phase[qid] = 1;
}

/* Base 3.5.1: queues, then CC with 64-byte SQEs, 16-byte CQEs, EN; then CSTS.RDY. */
static inline void rig_enable(struct emu_rig *r)
{
	rig_wr(r, 'l', RIG_BAR0 + 0x24, (RIG_DEPTH - 1) << 16 | (RIG_DEPTH - 1));
	rig_wr(r, 'q', RIG_BAR0 + 0x28, RIG_ASQ);
	rig_wr(r, 'q', RIG_BAR0 + 0x30, RIG_ACQ);
	rig_wr(r, 'l', RIG_BAR0 + 0x14, 4 << 20 | 6 << 16 | 1);
	assert_int_equal(rig_rd(r, 'l', RIG_BAR0 + 0x1C), 1);
	rig_queue(r, 0, RIG_ASQ, RIG_ACQ);
}

static inline void rig_ring(struct emu_rig *r, u32 qid, const struct rig_sqe *sqe, u16 cid)
{
	u32 dw[16] = { sqe->opcode | (u32)cid << 16, sqe->nsid, 0, 0, 0, 0, (u32)sqe->prp1, (u32)(sqe->prp1 >> 32),
		       (u32)sqe->prp2, (u32)(sqe->prp2 >> 32), sqe->cdw10, sqe->cdw11, sqe->cdw12 };

	rig_mem_write(r, r->sq[qid] + 64 * r->tail[qid], dw, sizeof(dw));
	r->tail[qid] = (r->tail[qid] + 1) % RIG_DEPTH;
	rig_wr(r, 'l', RIG_BAR0 + 0x1000 + 8 * qid, r->tail[qid]);
}

/* SCT and SC of the next completion, 0x8000 while there is none; DW0 in *@dw0 unless NULL. */
static inline u32 rig_reap(struct emu_rig *r, u32 qid, u32 *dw0)
{
	u32 dw[4];

	rig_mem_read(r, r->cq[qid] + 16 * r->head[qid], dw, sizeof(dw));
	if ((dw[3] >> 16 & 1) != r->phase[qid])
		return 0x8000;
	r->head[qid] = (r->head[qid] + 1) % RIG_DEPTH;
	r->phase[qid] ^= !r->head[qid];
	rig_wr(r, 'l', RIG_BAR0 + 0x1004 + 8 * qid, r->head[qid]);
	if (dw0)
		*dw0 = dw[0];
	return dw[3] >> 17 & 0x7FF;
}

static inline u32 rig_do(struct emu_rig *r, u32 qid, struct rig_sqe sqe)
{
	rig_ring(r, qid, &sqe, 7);
	return rig_reap(r, qid, NULL);
}

/* I/O pair 1 with vector 1, its SQ at @sq as the controller sees it. */
static inline void rig_pair(struct emu_rig *r, u64 sq, u64 sq_seen)
{
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x05, .prp1 = RIG_CQ1, .cdw10 = (RIG_DEPTH - 1) << 16 | 1,
							.cdw11 = 1 << 16 | 3 }), 0);
	assert_int_equal(rig_do(r, 0, (struct rig_sqe){ .opcode = 0x01, .prp1 = sq_seen, .cdw10 = (RIG_DEPTH - 1) << 16 | 1,
							.cdw11 = 1 << 16 | 1 }), 0);
	rig_queue(r, 1, sq, RIG_CQ1);
}

#endif
