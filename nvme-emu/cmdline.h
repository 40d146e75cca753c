/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_CMDLINE_H
#define NVME_EMU_CMDLINE_H

/*
 * QEMU's command line, as far as it concerns the model: what machine to build, and who talks
 * to it through what. Words that do not concern it are taken and ignored; a device or a
 * property that the model has not is an error that names it.
 */

#include "emu.h"
#include "opts.h"

#include <stdio.h>

#define CMDLINE_NAME_MAX	64
#define CMDLINE_DRIVES_MAX	64
#define CMDLINE_DEVICES_MAX	80
#define CMDLINE_CHARDEVS_MAX	16
#define CMDLINE_MONITORS_MAX	4
#define CMDLINE_PATH_MAX	108	/* of a unix socket */

enum chardev_kind { CHARDEV_NULL, CHARDEV_STDIO, CHARDEV_UNIX, CHARDEV_FD };

struct chardev {
	char id[CMDLINE_NAME_MAX];
	enum chardev_kind kind;
	char path[CMDLINE_PATH_MAX];
	bool server;		/* wait for clients at path; else connect to it */
	int fd;			/* CHARDEV_FD: a connected socket */
};

/* What a controller says of itself, and its name on the command line. */
struct nvme_text {
	char id[CMDLINE_NAME_MAX];
	char serial[21], model[41], firmware[9];
};

struct drive {
	char id[CMDLINE_NAME_MAX];
	char path[4096];	/* "": zeros */
	u64 size_bytes;
};

struct cmdline {
	struct emu_config emu;
	struct nvme_text nvme[EMU_NVME_MAX];	/* emu's configuration points here */
	struct drive drive[CMDLINE_DRIVES_MAX];
	u32 nr_drives;
	struct chardev chardev[CMDLINE_CHARDEVS_MAX];
	u32 nr_chardevs;
	const struct chardev *qtest, *qmp[CMDLINE_MONITORS_MAX];
	u32 nr_qmp;
	const char *log;		/* NULL: none */
	const char *device[CMDLINE_DEVICES_MAX];	/* as given: drives may come behind those who use them */
	u32 nr_devices;
	const char *qtest_text, *qmp_text[CMDLINE_MONITORS_MAX];
	u32 nr_qmp_texts;
	bool no_defaults, no_vga, no_net;
	bool help;
	char why[512];			/* what was wrong */
};

/* 0; -1 with the reason in c->why. @argv[0] is not looked at. With c->help set nothing else is of worth. */
int cmdline_parse(struct cmdline *c, int argc, char **argv);
void cmdline_help(FILE *f);

/* device.c: -device. The same. */
int cmdline_device(struct cmdline *c, const char *text);
void cmdline_device_help(FILE *f);

/* chardev.c: "unix:PATH,server=on", "stdio", "chardev:ID", "null", and -chardev's words. The same. */
int cmdline_chardev(struct cmdline *c, const char *text);
const struct chardev *cmdline_endpoint(struct cmdline *c, const char *text);

int cmdline_fail(struct cmdline *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
