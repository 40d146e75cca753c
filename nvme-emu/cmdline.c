// SPDX-License-Identifier: GPL-2.0
#include "cmdline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB (1ULL << 20)
#define RAM_DEFAULT (128 * MIB)
#define RAM_UNIT 8192ULL	/* QEMU rounds memory up to this */
#define NULL_CO_SIZE (1ULL << 30)
#define SCSI_LIMIT (1ULL << 43)	/* of one drive */

int cmdline_fail(struct cmdline *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(c->why, sizeof(c->why), format, ap);
	va_end(ap);
	return -1;
}

static int take_machine(struct cmdline *c, const char *text)
{
	struct opts o;
	const char *type;

	if (!opts_parse(&o, text, "type"))
		return cmdline_fail(c, "-machine: cannot be read: %.200s", text);
	type = opts_get(&o, "type");
	if (!type)
		return 0;
	if (!strcmp(type, "none"))
		c->emu.board = EMU_BOARD_NONE;
	else if (!strcmp(type, "q35") || !strncmp(type, "pc-q35-", 7))
		c->emu.board = EMU_BOARD_Q35;
	else if (!strcmp(type, "pc") || !strncmp(type, "pc-i440fx-", 10))
		c->emu.board = EMU_BOARD_PC;
	else
		return cmdline_fail(c, "-machine %.100s: the model has q35, pc and none", type);
	return 0;
}

static int take_memory(struct cmdline *c, const char *text)
{
	struct opts o;
	const char *size;
	u64 v;

	if (!opts_parse(&o, text, "size"))
		return cmdline_fail(c, "-m: cannot be read: %.200s", text);
	size = opts_get(&o, "size");
	if (!size)
		return 0;
	if (!opts_size(size, MIB, &v) || v < MIB || v > EMU_RAM_MAX)
		return cmdline_fail(c, "-m %.100s: the model takes 1M to 1T", size);
	c->emu.ram_bytes = (v + RAM_UNIT - 1) & ~(RAM_UNIT - 1);
	return 0;
}

static int take_smp(struct cmdline *c, const char *text)
{
	struct opts o;
	const char *cpus;
	u64 v;

	if (!opts_parse(&o, text, "cpus"))
		return cmdline_fail(c, "-smp: cannot be read: %.200s", text);
	cpus = opts_get(&o, "cpus");
	if (!cpus)
		return 0;
	if (!opts_number(cpus, &v) || !v || v > EMU_CPUS_MAX)
		return cmdline_fail(c, "-smp %.100s: the model takes 1 to %u", cpus, EMU_CPUS_MAX);
	c->emu.cpus = (u32)v;
	return 0;
}

static int take_size(struct cmdline *c, struct drive *d, const char *size)
{
	if (!opts_size(size, 1, &d->size_bytes) || d->size_bytes > SCSI_LIMIT)
		return cmdline_fail(c, "drive '%s': size=%.100s: the model takes up to 8T", d->id, size);
	return 0;
}

static int take_file(struct cmdline *c, struct drive *d, const char *path)
{
	struct stat st;

	if (!strncmp(path, "file:", 5))
		path += 5;
	if (strlen(path) >= sizeof(d->path))
		return cmdline_fail(c, "drive '%s': the path is too long", d->id);
	strcpy(d->path, path);
	if (stat(path, &st))
		return cmdline_fail(c, "drive '%s': %.200s: %s", d->id, path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cmdline_fail(c, "drive '%s': %.200s: not a regular file", d->id, path);
	if ((u64)st.st_size > SCSI_LIMIT)
		return cmdline_fail(c, "drive '%s': %.200s: the model takes up to 8T", d->id, path);
	d->size_bytes = (u64)st.st_size;
	return 0;
}

static struct drive *new_drive(struct cmdline *c, const char *id)
{
	struct drive *d;

	for (u32 i = 0; i < c->nr_drives; i++) {
		if (!strcmp(c->drive[i].id, id)) {
			cmdline_fail(c, "there are two drives '%s'", id);
			return NULL;
		}
	}
	if (c->nr_drives == CMDLINE_DRIVES_MAX || strlen(id) >= CMDLINE_NAME_MAX) {
		cmdline_fail(c, "at most %u drives, with an id of at most %u characters", CMDLINE_DRIVES_MAX, CMDLINE_NAME_MAX - 1);
		return NULL;
	}
	d = &c->drive[c->nr_drives++];
	*d = (struct drive){ .size_bytes = NULL_CO_SIZE };
	strcpy(d->id, id);
	return d;
}

static bool is_null(const char *driver)
{
	return driver && (!strcmp(driver, "null-co") || !strcmp(driver, "null-aio"));
}

/* Drives without an id are no NVMe controller's. */
static int take_drive(struct cmdline *c, const char *text)
{
	const char *id, *file, *format, *size;
	struct drive *d;
	struct opts o;

	if (!opts_parse(&o, text, "file"))
		return cmdline_fail(c, "-drive: cannot be read: %.200s", text);
	id = opts_get(&o, "id");
	file = opts_get(&o, "file");
	format = opts_get(&o, "format");
	if (!id)
		return 0;
	d = new_drive(c, id);
	if (!d)
		return -1;
	if (!file)
		file = opts_get(&o, "file.filename");
	size = opts_get(&o, "size");
	if (!size)
		size = opts_get(&o, "file.size");
	if (is_null(opts_get(&o, "driver")) || is_null(opts_get(&o, "file.driver")) || (file && !strncmp(file, "null-", 5)))
		return size ? take_size(c, d, size) : 0;
	if (format && strcmp(format, "raw"))
		return cmdline_fail(c, "drive '%s': format=%.100s: the model reads raw files", id, format);
	return file ? take_file(c, d, file) : cmdline_fail(c, "drive '%s': no file", id);
}

static int take_blockdev(struct cmdline *c, const char *text)
{
	const char *driver, *node, *path, *size;
	struct drive *d;
	struct opts o;

	if (!opts_parse(&o, text, "driver"))
		return cmdline_fail(c, "-blockdev: cannot be read: %.200s", text);
	driver = opts_get(&o, "driver");
	node = opts_get(&o, "node-name");
	if (!driver || !node)
		return cmdline_fail(c, "-blockdev: give driver= and node-name=");
	d = new_drive(c, node);
	if (!d)
		return -1;
	size = opts_get(&o, "size");
	path = opts_get(&o, "filename");
	if (!path)
		path = opts_get(&o, "file.filename");
	if (is_null(driver) || is_null(opts_get(&o, "file.driver")))
		return size ? take_size(c, d, size) : 0;
	if ((!strcmp(driver, "file") || !strcmp(driver, "raw")) && path)
		return take_file(c, d, path);
	return cmdline_fail(c, "-blockdev %.100s: the model has null-co, and file or raw with filename=", driver);
}

static int take_monitor(struct cmdline *c, const char *text)
{
	if (c->nr_qmp_texts == CMDLINE_MONITORS_MAX)
		return cmdline_fail(c, "at most %u monitors", CMDLINE_MONITORS_MAX);
	c->qmp_text[c->nr_qmp_texts++] = text;
	return 0;
}

/* A monitor of the human kind is not there. */
static int take_mon(struct cmdline *c, const char *text)
{
	const char *chardev, *mode;
	struct opts o;

	if (!opts_parse(&o, text, "chardev"))
		return cmdline_fail(c, "-mon: cannot be read: %.200s", text);
	chardev = opts_get(&o, "chardev");
	mode = opts_get(&o, "mode");
	if (!chardev)
		return cmdline_fail(c, "-mon: give chardev=");
	return mode && !strcmp(mode, "control") ? take_monitor(c, text) : 0;
}

static int take_device(struct cmdline *c, const char *text)
{
	if (c->nr_devices == CMDLINE_DEVICES_MAX)
		return cmdline_fail(c, "at most %u -device", CMDLINE_DEVICES_MAX);
	c->device[c->nr_devices++] = text;
	return 0;
}

static int take_qtest(struct cmdline *c, const char *text)
{
	c->qtest_text = text;
	return 0;
}

static int take_log(struct cmdline *c, const char *text)
{
	c->log = strcmp(text, "none") ? text : NULL;
	return 0;
}

static int take_vga(struct cmdline *c, const char *text)
{
	c->no_vga = !strcmp(text, "none");
	return 0;
}

static int take_net(struct cmdline *c, const char *text)
{
	c->no_net = !strcmp(text, "none");
	return 0;
}

static int take_no_defaults(struct cmdline *c, const char *text)
{
	(void)text;
	c->no_defaults = true;
	return 0;
}

static int take_help(struct cmdline *c, const char *text)
{
	(void)text;
	c->help = true;
	return 0;
}

struct word {
	const char *name;
	bool has_value;
	int (*take)(struct cmdline *c, const char *value);	/* NULL: ignored */
};

static const struct word words[] = {
	{ "qtest", true, take_qtest }, { "qtest-log", true, take_log },
	{ "machine", true, take_machine }, { "M", true, take_machine }, { "m", true, take_memory }, { "smp", true, take_smp },
	{ "device", true, take_device }, { "drive", true, take_drive }, { "blockdev", true, take_blockdev },
	{ "chardev", true, cmdline_chardev }, { "mon", true, take_mon }, { "qmp", true, take_monitor },
	{ "qmp-pretty", true, take_monitor }, { "nodefaults", false, take_no_defaults }, { "vga", true, take_vga },
	{ "net", true, take_net }, { "nic", true, take_net }, { "help", false, take_help }, { "h", false, take_help },
	{ "S", false, NULL }, { "accel", true, NULL }, { "enable-kvm", false, NULL }, { "cpu", true, NULL },
	{ "display", true, NULL }, { "nographic", false, NULL }, { "curses", false, NULL }, { "bios", true, NULL },
	{ "L", true, NULL }, { "monitor", true, NULL }, { "serial", true, NULL }, { "parallel", true, NULL },
	{ "object", true, NULL }, { "global", true, NULL }, { "name", true, NULL }, { "uuid", true, NULL },
	{ "no-reboot", false, NULL }, { "no-shutdown", false, NULL }, { "action", true, NULL }, { "no-acpi", false, NULL },
	{ "no-hpet", false, NULL }, { "no-user-config", false, NULL }, { "boot", true, NULL }, { "snapshot", false, NULL },
	{ "rtc", true, NULL }, { "icount", true, NULL }, { "msg", true, NULL }, { "trace", true, NULL }, { "d", true, NULL },
	{ "D", true, NULL }, { "dfilter", true, NULL }, { "sandbox", true, NULL }, { "overcommit", true, NULL },
	{ "only-migratable", false, NULL }, { "usb", false, NULL }, { "audiodev", true, NULL }, { "audio", true, NULL },
	{ "netdev", true, NULL }, { "pidfile", true, NULL }, { "k", true, NULL }, { "compat", true, NULL },
	{ "watchdog-action", true, NULL }, { "add-fd", true, NULL }, { "set", true, NULL }, { "numa", true, NULL },
	{ "mem-path", true, NULL }, { "mem-prealloc", false, NULL }, { "kernel", true, NULL }, { "initrd", true, NULL },
	{ "append", true, NULL }, { "fw_cfg", true, NULL }, { "smbios", true, NULL }, { "run-with", true, NULL },
	{ "hda", true, NULL }, { "hdb", true, NULL }, { "hdc", true, NULL }, { "hdd", true, NULL }, { "cdrom", true, NULL },
	{ "fda", true, NULL }, { "fdb", true, NULL }, { "mtdblock", true, NULL }, { "sd", true, NULL }, { "pflash", true, NULL },
	{ "acpitable", true, NULL }, { "debugcon", true, NULL }, { "dtb", true, NULL }, { "echr", true, NULL },
	{ "fsdev", true, NULL }, { "virtfs", true, NULL }, { "gdb", true, NULL }, { "s", false, NULL }, { "iscsi", true, NULL },
	{ "option-rom", true, NULL }, { "plugin", true, NULL }, { "seed", true, NULL }, { "spice", true, NULL },
	{ "tpmdev", true, NULL }, { "usbdevice", true, NULL }, { "vnc", true, NULL }, { "rotate", true, NULL },
	{ "portrait", false, NULL }, { "full-screen", false, NULL }, { "singlestep", false, NULL }, { "async-teardown", false, NULL },
	{ "enable-sync-profile", false, NULL }, { "no-fd-bootchk", false, NULL }, { "win2k-hack", false, NULL },
};

#define NR_WORDS (sizeof(words) / sizeof(words[0]))

/* QEMU takes -word and --word alike. */
static int take_word(struct cmdline *c, int argc, char **argv, int *at)
{
	const char *name = argv[*at];
	const struct word *w;

	if (*name != '-')
		return cmdline_fail(c, "'%.200s': a disk image without an option is no NVMe controller's", name);
	name += name[1] == '-' ? 2 : 1;
	for (w = words; w < words + NR_WORDS && strcmp(w->name, name); w++)
		;
	if (w == words + NR_WORDS)
		return cmdline_fail(c, "no such option: %.200s; lightiov qtest --help lists what it takes", argv[*at]);
	if (w->has_value && ++*at == argc)
		return cmdline_fail(c, "a value is missing after -%s", w->name);
	++*at;
	return w->take ? w->take(c, w->has_value ? argv[*at - 1] : NULL) : 0;
}

/* -qmp's word is an endpoint; what came by -mon says which chardev. */
static const struct chardev *monitor_endpoint(struct cmdline *c, const char *text)
{
	struct opts o;
	const char *id;
	char endpoint[CMDLINE_NAME_MAX + 8];

	if (!opts_parse(&o, text, "chardev") || !opts_get(&o, "mode"))
		return cmdline_endpoint(c, text);
	id = opts_get(&o, "chardev");
	snprintf(endpoint, sizeof(endpoint), "chardev:%.*s", CMDLINE_NAME_MAX - 1, id ? id : "");
	return cmdline_endpoint(c, endpoint);
}

static int resolve(struct cmdline *c)
{
	u32 stdios = 0;

	for (u32 i = 0; i < c->nr_devices; i++)
		if (cmdline_device(c, c->device[i]))
			return -1;
	for (u32 i = 0; i < c->emu.nr_nvme; i++) {
		const struct emu_nvme *n = &c->emu.nvme[i];
		u32 ns = 0;

		while (ns < NVME_NAMESPACES_MAX && !n->ns[ns].blocks)
			ns++;
		if (ns == NVME_NAMESPACES_MAX)
			return cmdline_fail(c, "-device nvme,serial=%s: give it a drive, or an nvme-ns", c->nvme[i].serial);
	}
	if (c->qtest_text) {
		c->qtest = cmdline_endpoint(c, c->qtest_text);
		if (!c->qtest)
			return -1;
	}
	for (u32 i = 0; i < c->nr_qmp_texts; i++) {
		c->qmp[i] = monitor_endpoint(c, c->qmp_text[i]);
		if (!c->qmp[i])
			return -1;
		c->nr_qmp++;
		stdios += c->qmp[i]->kind == CHARDEV_STDIO;
	}
	stdios += c->qtest && c->qtest->kind == CHARDEV_STDIO;
	if (stdios > 1)
		return cmdline_fail(c, "stdio can be used once");
	if (!c->qtest && !c->nr_qmp)
		return cmdline_fail(c, "nobody to talk to: give -qtest stdio, or -qtest unix:PATH");
	return 0;
}

int cmdline_parse(struct cmdline *c, int argc, char **argv)
{
	int at = 1;

	*c = (struct cmdline){ .emu = { .board = EMU_BOARD_PC, .ram_bytes = RAM_DEFAULT, .cpus = 1 } };
	while (at < argc) {
		if (take_word(c, argc, argv, &at))
			return -1;
		if (c->help)
			return 0;
	}
	return resolve(c);
}

void cmdline_help(FILE *f)
{
	fputs("usage: lightiov qtest [QEMU'S OPTIONS] -qtest stdio|unix:PATH[,server=on]|fd:N|chardev:ID\n"
	      "\n"
	      "The model behind QEMU's qtest protocol: a PC with VT-d and NVMe controllers, asked for in QEMU's own words.\n"
	      "Called as qemu-system-ARCH, or qemu-MAJOR.MINOR-system-ARCH, the command is this one.\n"
	      "Below, separated by tabs: each option, and each property of -device with what the model takes of it.\n"
	      "\n"
	      "exit: 0 the client is done, 2 usage, or more content than there may be\n"
	      "\n", f);
	for (const struct word *w = words; w < words + NR_WORDS; w++)
		fprintf(f, "option\t-%s\t%s\t%s\n", w->name, w->has_value ? "VALUE" : "-", w->take ? "taken" : "ignored");
	cmdline_device_help(f);
}
