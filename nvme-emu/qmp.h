/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_QMP_H
#define NVME_EMU_QMP_H

/*
 * QEMU's machine protocol (docs/interop/qmp-spec), as much of it as programs made for the test
 * protocol need: greeting, capabilities, quit, reset, a few queries, and 'info lapic N'.
 */

#include "emu.h"

#define QMP_OBJECT_MAX	65536U

struct qmp {
	struct emu *m;
	void (*send)(void *opaque, const char *data, size_t len_bytes);
	void *opaque;
	u32 major, minor;		/* of the QEMU whose QMP is spoken; some answers differ */
	bool negotiated, quit;
	char text[QMP_OBJECT_MAX];	/* of the value that is coming in */
	size_t len;
	u32 depth;
	bool in_string, escaped, too_long;
};

/* The version is the newest that was looked at, unless the caller sets another afterwards. */
void qmp_init(struct qmp *q, struct emu *m, void (*send)(void *opaque, const char *data, size_t len_bytes), void *opaque);

/* A client is there: greets it. */
void qmp_connect(struct qmp *q);

/* Bytes from the client, cut anywhere. @q->quit is set when it asked to end. */
void qmp_receive(struct qmp *q, const char *bytes, size_t len_bytes);

#endif
