/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_QTEST_H
#define NVME_EMU_QTEST_H

/*
 * QEMU's test protocol (docs/devel/testing, "QTest Protocol"): a line asks, a line answers.
 * What QEMU ends itself over (numbers that are none, words that are missing) is answered
 * with FAIL; so is what would take more than a bound.
 */

#include "emu.h"

#include <stdio.h>

#define QTEST_DATA_MAX	(16ULL << 20)	/* bytes of one read or write */
#define QTEST_FILL_MAX	(64ULL << 20)	/* bytes of one memset */
#define QTEST_LINE_MAX	(2 * QTEST_DATA_MAX + 256)

struct qtest {
	struct emu *m;
	FILE *log;		/* NULL: none */
	void (*send)(void *opaque, const char *data, size_t len_bytes);
	void *opaque;
	char *line;		/* bytes that are no whole line yet */
	size_t line_len, line_room;
	bool too_long;		/* the line that is coming in is thrown away */
	u8 *data;		/* of the request that is being answered; [data_room] */
	char *reply;		/* [2 * data_room + 16] */
	size_t data_room;
	char intercepted[64];	/* device whose pins are listened to; "": none */
};

/* The rest of @q is the caller's to set. */
void qtest_init(struct qtest *q, struct emu *m, void (*send)(void *opaque, const char *data, size_t len_bytes),
		void *opaque);
void qtest_fini(struct qtest *q);

/* Bytes from the client, cut anywhere. */
void qtest_receive(struct qtest *q, const char *bytes, size_t len_bytes);

/* The client is gone: what it left unfinished is dropped. */
void qtest_disconnect(struct qtest *q);

#endif
