/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_SERVE_H
#define NVME_EMU_SERVE_H

/*
 * The command "serve": sockets and what stands behind them, a world of devices of one kind. The
 * kind without a name, bare controllers, is here; others are the caller's.
 */

#include "opts.h"
#include "vfio_device.h"

#include <jansson.h>
#include <stdio.h>

#define SERVE_SOCKETS_MAX 16

struct serve_options {
	const char *policy;		/* NULL: bare controllers */
	struct opts socket[SERVE_SOCKETS_MAX];	/* "path" and the device's own words */
	u32 nr_sockets;
	bool once, json, help;
	const char *json_path;		/* NULL: stdout */
	const char *record;
};

/* The maker's structure begins with it. */
struct serve_world {
	struct vfio_device *device[SERVE_SOCKETS_MAX];	/* by socket */
	/* Is there anything to do? Then let it be done, or a bounded part of it. False: the world is broken, and said why. */
	bool (*due)(struct serve_world *w);
	bool (*work)(struct serve_world *w);
	int broken;			/* the exit code, once it was false */
	/* What is known at the end: of each socket, and of all. The exit code. */
	void (*report_socket)(struct serve_world *w, u32 i, json_t *to);
	int (*report)(struct serve_world *w, json_t *to);
	void (*free)(struct serve_world *w);
};

struct serve_kind {
	const char *policy;
	/* NULL, with the reason in @why. */
	struct serve_world *(*make)(const struct serve_options *o, char *why, size_t why_size);
	void (*help)(FILE *f);
};

/* lightiov run --replay F. */
int serve_replay(const char *path, const struct serve_kind *kinds, u32 nr_kinds);

int serve_main(int argc, char **argv, const struct serve_kind *kinds, u32 nr_kinds);

/* serve_nvme.c */
extern const struct serve_kind serve_nvme;

#endif
