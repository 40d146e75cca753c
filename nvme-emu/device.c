// SPDX-License-Identifier: GPL-2.0
#include "cmdline.h"

#include <stdlib.h>
#include <string.h>

/*
 * -device nvme, nvme-ns and intel-iommu: QEMU's properties by name, and what becomes of each.
 */

#define NN 256			/* QEMU's highest NSID */
#define MQES_DEFAULT 0x7FF
#define SLOTS 32
#define VENDOR_REDHAT 0x1B36
#define DEVICE_REDHAT_NVME 0x0010
#define VENDOR_INTEL 0x8086
#define DEVICE_INTEL_NVME 0x5845

enum prop_id {
	PROP_IGNORED,	/* changes nothing that a client of the controller could ask for */
	PROP_ONLY,	/* the model has these values and no others */
	PROP_ID, PROP_BUS, PROP_ADDR, PROP_SERIAL, PROP_DRIVE, PROP_CMB, PROP_QUEUES, PROP_ALL_QUEUES, PROP_MSIX, PROP_MDTS,
	PROP_AERL, PROP_MQES, PROP_INTEL, PROP_MODEL, PROP_FIRMWARE, PROP_NSID, PROP_EIM
};

struct prop {
	const char *name;
	enum prop_id id;
	u64 min, max;
	const char *only;	/* alternatives, separated by '|' */
};

static const struct prop nvme_props[] = {
	{ "id", PROP_ID, 0, 0, NULL }, { "bus", PROP_ONLY, 0, 0, "pcie.0|pci.0" }, { "addr", PROP_ADDR, 0, 0, NULL },
	{ "serial", PROP_SERIAL, 0, 0, NULL }, { "drive", PROP_DRIVE, 0, 0, NULL },
	{ "cmb_size_mb", PROP_CMB, 0, 1024, NULL }, { "max_ioqpairs", PROP_QUEUES, 1, 511, NULL },
	{ "num_queues", PROP_ALL_QUEUES, 0, 512, NULL }, { "msix_qsize", PROP_MSIX, 1, PCI_MSIX_VECTORS_MAX, NULL },
	{ "mdts", PROP_MDTS, 0, 31, NULL }, { "aerl", PROP_AERL, 0, 255, NULL }, { "mqes", PROP_MQES, 1, 0xFFFF, NULL },
	{ "use-intel-id", PROP_INTEL, 0, 0, NULL },
	{ "model", PROP_MODEL, 0, 0, NULL }, { "firmware-version", PROP_FIRMWARE, 0, 0, NULL },
	{ "atomic.dn", PROP_ONLY, 0, 0, "off" }, { "atomic.awun", PROP_ONLY, 0, 0, "0" }, { "atomic.awupf", PROP_ONLY, 0, 0, "0" },
	{ "ctratt.mem", PROP_ONLY, 0, 0, "off" }, { "spdm_port", PROP_ONLY, 0, 0, "0" },
	{ "legacy-cmb", PROP_ONLY, 0, 0, "off" }, { "pmrdev", PROP_ONLY, 0, 0, "" }, { "subsys", PROP_ONLY, 0, 0, "" },
	{ "sriov_max_vfs", PROP_ONLY, 0, 0, "0" }, { "sriov_max_vi_per_vf", PROP_ONLY, 0, 0, "0" },
	{ "sriov_max_vq_per_vf", PROP_ONLY, 0, 0, "0" }, { "sriov_vi_flexible", PROP_ONLY, 0, 0, "0" },
	{ "sriov_vq_flexible", PROP_ONLY, 0, 0, "0" }, { "zoned.zasl", PROP_ONLY, 0, 0, "0" },
	{ "logical_block_size", PROP_ONLY, 0, 0, "0|512" }, { "dbcs", PROP_ONLY, 0, 0, "off" },
	{ "ocp", PROP_ONLY, 0, 0, "off" }, { "smart_critical_warning", PROP_ONLY, 0, 0, "0" },
	{ "msix-exclusive-bar", PROP_ONLY, 0, 0, "off" }, { "write-cache", PROP_ONLY, 0, 0, "on|auto" },
	{ "account-failed", PROP_IGNORED, 0, 0, NULL }, { "account-invalid", PROP_IGNORED, 0, 0, NULL },
	{ "acpi-index", PROP_IGNORED, 0, 0, NULL }, { "aer_max_queued", PROP_IGNORED, 0, 0, NULL },
	{ "backend_defaults", PROP_IGNORED, 0, 0, NULL }, { "bootindex", PROP_IGNORED, 0, 0, NULL },
	{ "discard_granularity", PROP_IGNORED, 0, 0, NULL }, { "ioeventfd", PROP_IGNORED, 0, 0, NULL },
	{ "min_io_size", PROP_IGNORED, 0, 0, NULL }, { "multifunction", PROP_IGNORED, 0, 0, NULL },
	{ "opt_io_size", PROP_IGNORED, 0, 0, NULL }, { "physical_block_size", PROP_IGNORED, 0, 0, NULL },
	{ "rombar", PROP_IGNORED, 0, 0, NULL }, { "romfile", PROP_IGNORED, 0, 0, NULL }, { "romsize", PROP_IGNORED, 0, 0, NULL },
	{ "share-rw", PROP_IGNORED, 0, 0, NULL }, { "vsl", PROP_IGNORED, 0, 0, NULL },
	{ "x-pcie-extcap-init", PROP_IGNORED, 0, 0, NULL }, { "x-pcie-lnksta-dllla", PROP_IGNORED, 0, 0, NULL },
	{ "zoned.auto_transition", PROP_IGNORED, 0, 0, NULL }, { "busnr", PROP_IGNORED, 0, 0, NULL },
	{ "failover_pair_id", PROP_IGNORED, 0, 0, NULL }, { "spdm_trans", PROP_IGNORED, 0, 0, NULL },
	{ "sriov-pf", PROP_IGNORED, 0, 0, NULL }, { "stats-intervals", PROP_IGNORED, 0, 0, NULL },
	{ "x-max-bounce-buffer-size", PROP_IGNORED, 0, 0, NULL }, { "x-pcie-ari-nextfn-1", PROP_IGNORED, 0, 0, NULL },
	{ "x-pcie-err-unc-mask", PROP_IGNORED, 0, 0, NULL }, { "x-pcie-ext-tag", PROP_IGNORED, 0, 0, NULL },
};

static const struct prop ns_props[] = {
	{ "id", PROP_IGNORED, 0, 0, NULL }, { "bus", PROP_BUS, 0, 0, NULL }, { "drive", PROP_DRIVE, 0, 0, NULL },
	{ "nsid", PROP_NSID, 0, NVME_NAMESPACES_MAX, NULL },
	{ "detached", PROP_ONLY, 0, 0, "off" }, { "ms", PROP_ONLY, 0, 0, "0" }, { "pi", PROP_ONLY, 0, 0, "0" },
	{ "zoned", PROP_ONLY, 0, 0, "off" }, { "logical_block_size", PROP_ONLY, 0, 0, "0|512" },
	{ "write-cache", PROP_ONLY, 0, 0, "on|auto" },
	{ "bootindex", PROP_IGNORED, 0, 0, NULL }, { "eui64", PROP_IGNORED, 0, 0, NULL },
	{ "eui64-default", PROP_IGNORED, 0, 0, NULL }, { "mcl", PROP_IGNORED, 0, 0, NULL }, { "mset", PROP_IGNORED, 0, 0, NULL },
	{ "msrc", PROP_IGNORED, 0, 0, NULL }, { "mssrl", PROP_IGNORED, 0, 0, NULL },
	{ "physical_block_size", PROP_IGNORED, 0, 0, NULL }, { "pif", PROP_IGNORED, 0, 0, NULL }, { "pil", PROP_IGNORED, 0, 0, NULL },
	{ "share-rw", PROP_IGNORED, 0, 0, NULL }, { "shared", PROP_IGNORED, 0, 0, NULL }, { "uuid", PROP_IGNORED, 0, 0, NULL },
	{ "nguid", PROP_IGNORED, 0, 0, NULL }, { "account-failed", PROP_IGNORED, 0, 0, NULL },
	{ "account-invalid", PROP_IGNORED, 0, 0, NULL }, { "backend_defaults", PROP_IGNORED, 0, 0, NULL },
	{ "discard_granularity", PROP_IGNORED, 0, 0, NULL }, { "min_io_size", PROP_IGNORED, 0, 0, NULL },
	{ "opt_io_size", PROP_IGNORED, 0, 0, NULL }, { "stats-intervals", PROP_IGNORED, 0, 0, NULL },
	{ "fdp.ruhs", PROP_ONLY, 0, 0, "" }, { "atomic.nabo", PROP_ONLY, 0, 0, "0" }, { "atomic.nabsn", PROP_ONLY, 0, 0, "0" },
	{ "atomic.nabspf", PROP_ONLY, 0, 0, "0" }, { "atomic.nawun", PROP_ONLY, 0, 0, "0" }, { "atomic.nawupf", PROP_ONLY, 0, 0, "0" },
	/* Of a zoned namespace, which is refused. */
	{ "zoned.cross_read", PROP_IGNORED, 0, 0, NULL }, { "zoned.descr_ext_size", PROP_IGNORED, 0, 0, NULL },
	{ "zoned.max_active", PROP_IGNORED, 0, 0, NULL }, { "zoned.max_open", PROP_IGNORED, 0, 0, NULL },
	{ "zoned.numzrwa", PROP_IGNORED, 0, 0, NULL }, { "zoned.zone_capacity", PROP_IGNORED, 0, 0, NULL },
	{ "zoned.zone_size", PROP_IGNORED, 0, 0, NULL }, { "zoned.zrwafg", PROP_IGNORED, 0, 0, NULL },
	{ "zoned.zrwas", PROP_IGNORED, 0, 0, NULL },
};

static const struct prop vtd_props[] = {
	{ "id", PROP_IGNORED, 0, 0, NULL }, { "eim", PROP_EIM, 0, 0, NULL },
	{ "aw-bits", PROP_ONLY, 0, 0, "39|48" }, { "intremap", PROP_ONLY, 0, 0, "on|auto" },
	{ "caching-mode", PROP_ONLY, 0, 0, "off" }, { "device-iotlb", PROP_ONLY, 0, 0, "off" },
	{ "dma-drain", PROP_ONLY, 0, 0, "on" }, { "dma-translation", PROP_ONLY, 0, 0, "on" }, { "pt", PROP_ONLY, 0, 0, "on" },
	{ "snoop-control", PROP_ONLY, 0, 0, "off" }, { "x-scalable-mode", PROP_ONLY, 0, 0, "off" },
	{ "scalable-mode", PROP_ONLY, 0, 0, "off" }, { "x-pasid-mode", PROP_ONLY, 0, 0, "off" },
	{ "pasid-bits", PROP_ONLY, 0, 0, "0" }, { "svm", PROP_ONLY, 0, 0, "off" }, { "fsts", PROP_ONLY, 0, 0, "off" },
	{ "x-flts", PROP_ONLY, 0, 0, "off" }, { "stale-tm", PROP_ONLY, 0, 0, "off" },
	{ "version", PROP_IGNORED, 0, 0, NULL }, { "x-buggy-eim", PROP_IGNORED, 0, 0, NULL },
	{ "fs1gp", PROP_IGNORED, 0, 0, NULL },
};

/* What a device is put together from while its properties are read. */
struct pending {
	struct cmdline *c;
	const char *driver;
	struct emu_nvme *nvme;
	u32 index;		/* of the controller */
	const struct drive *drive;
	u32 nsid;
	bool has_addr;
};

static bool is_one_of(const char *only, const char *val)
{
	size_t n = strlen(val);

	for (; *only; only += strcspn(only, "|"), only += *only == '|')
		if (strcspn(only, "|") == n && !strncmp(only, val, n))
			return true;
	return false;
}

/* "yes" is as good as "on". */
static const char *plain(const char *val)
{
	int b = opts_bool(val);

	return b < 0 ? val : b ? "on" : "off";
}

static const struct drive *find_drive(const struct cmdline *c, const char *id)
{
	for (u32 i = 0; i < c->nr_drives; i++)
		if (!strcmp(c->drive[i].id, id))
			return &c->drive[i];
	return NULL;
}

/* "SLOT" or "SLOT.FUNCTION", both hexadecimal. */
static int take_addr(struct pending *p, const char *val)
{
	char *end;
	unsigned long slot = strtoul(val, &end, 16), function = 0;

	if (end != val && *end == '.')
		function = strtoul(end + 1, &end, 16);
	if (end == val || *end || slot >= SLOTS || function > 7 || !(slot | function))
		return cmdline_fail(p->c, "-device %s: addr=%s: give SLOT or SLOT.FUNCTION, as 04.0; 00.0 is the host bridge",
				    p->driver, val);
	p->nvme->cfg.rid = (u16)(slot << 3 | function);
	p->has_addr = true;
	return 0;
}

/* Into room that the command line has for it. */
static int take_text(struct pending *p, const char *name, const char *val, char *room, size_t size)
{
	if (strlen(val) >= size)
		return cmdline_fail(p->c, "-device %s: %s=%s: at most %zu characters", p->driver, name, val, size - 1);
	strcpy(room, val);
	return 0;
}

static int take_drive(struct pending *p, const char *val)
{
	p->drive = find_drive(p->c, val);
	return p->drive ? 0 : cmdline_fail(p->c, "-device %s: drive=%s: there is no drive of this id", p->driver, val);
}

/* A namespace's bus is its controller's id, or has it: "n0", "n0.0". */
static int take_bus(struct pending *p, const char *val)
{
	for (u32 i = 0; i < p->c->emu.nr_nvme; i++) {
		size_t n = strlen(p->c->nvme[i].id);

		if (!n || strncmp(val, p->c->nvme[i].id, n) || (val[n] && val[n] != '.'))
			continue;
		p->nvme = &p->c->emu.nvme[i];
		return 0;
	}
	return cmdline_fail(p->c, "-device %s: bus=%s: no nvme before it has this id", p->driver, val);
}

static int take_number(struct pending *p, const struct prop *prop, const char *val)
{
	struct nvme_config *cfg = &p->nvme->cfg;
	u64 v;

	if (!opts_number(val, &v) || v < prop->min || v > prop->max || (prop->id == PROP_CMB && (v & (v - 1))) ||
	    (prop->id == PROP_ALL_QUEUES && v == 1))
		return cmdline_fail(p->c, "-device %s: %s=%s: the model takes %llu to %llu%s", p->driver, prop->name, val,
				    (unsigned long long)prop->min, (unsigned long long)prop->max,
				    prop->id == PROP_CMB ? ", powers of two" : "");
	switch (prop->id) {
	case PROP_CMB:
		cfg->cmb_size_bytes = v << 20;
		break;
	case PROP_QUEUES:
		cfg->io_queues = (u16)v;
		break;
	case PROP_ALL_QUEUES:	/* the older word: with the admin pair; 0: not given */
		cfg->io_queues = v ? (u16)(v - 1) : cfg->io_queues;
		break;
	case PROP_MSIX:
		cfg->msix_vectors = (u16)v;
		break;
	case PROP_MDTS:
		cfg->mdts = (u8)v;
		break;
	case PROP_AERL:
		cfg->aerl = (u8)v;
		break;
	case PROP_MQES:
		cfg->mqes = (u16)v;
		break;
	default:
		p->nsid = (u32)v;
		break;
	}
	return 0;
}

static int take_switch(struct pending *p, const struct prop *prop, const char *val)
{
	int on = opts_bool(val);

	if (prop->id == PROP_EIM && !strcmp(val, "auto"))
		on = 1;
	if (on < 0)
		return cmdline_fail(p->c, "-device %s: %s=%s: give on or off", p->driver, prop->name, val);
	if (prop->id == PROP_EIM) {
		p->c->emu.vtd_x2apic = on;
	} else {
		p->nvme->cfg.vendor_id = on ? VENDOR_INTEL : VENDOR_REDHAT;
		p->nvme->cfg.device_id = on ? DEVICE_INTEL_NVME : DEVICE_REDHAT_NVME;
	}
	return 0;
}

static int take(struct pending *p, const struct prop *prop, const char *val)
{
	struct nvme_text *text = &p->c->nvme[p->index];

	switch (prop->id) {
	case PROP_IGNORED:
		return 0;
	case PROP_ONLY:
		return is_one_of(prop->only, plain(val)) ? 0 :
		       cmdline_fail(p->c, "-device %s: %s=%s: the model has no such thing%s%s", p->driver, prop->name, val,
				    *prop->only ? "; it takes " : "", prop->only);
	case PROP_ID:
		return take_text(p, prop->name, val, text->id, sizeof(text->id));
	case PROP_BUS:
		return take_bus(p, val);
	case PROP_ADDR:
		return take_addr(p, val);
	case PROP_SERIAL:
		return take_text(p, prop->name, val, text->serial, sizeof(text->serial));
	case PROP_MODEL:
		return take_text(p, prop->name, val, text->model, sizeof(text->model));
	case PROP_FIRMWARE:
		return take_text(p, prop->name, val, text->firmware, sizeof(text->firmware));
	case PROP_DRIVE:
		return take_drive(p, val);
	case PROP_INTEL: case PROP_EIM:
		return take_switch(p, prop, val);
	default:
		return take_number(p, prop, val);
	}
}

static int take_all(struct pending *p, const struct opts *o, const struct prop *props, size_t nr)
{
	for (u32 i = 0; i < o->nr; i++) {
		size_t k = 0;

		if (!strcmp(o->opt[i].key, "driver"))
			continue;
		while (k < nr && strcmp(props[k].name, o->opt[i].key))
			k++;
		if (k == nr)
			return cmdline_fail(p->c, "-device %s: there is no property '%s'", p->driver, o->opt[i].key);
		if (take(p, &props[k], o->opt[i].val))
			return -1;
	}
	return 0;
}

static int add_namespace(struct pending *p)
{
	struct emu_media *ns;
	u32 i = p->nsid ? p->nsid - 1 : 0;

	while (!p->nsid && i < NVME_NAMESPACES_MAX && p->nvme->ns[i].blocks)
		i++;
	if (i == NVME_NAMESPACES_MAX || p->nvme->ns[i].blocks)
		return cmdline_fail(p->c, "-device %s: nsid=%u is taken, or there are more than %u", p->driver, i + 1,
				    NVME_NAMESPACES_MAX);
	if (!p->drive || p->drive->size_bytes < STORE_SECTOR_SIZE)
		return cmdline_fail(p->c, "-device %s: no drive, or one of less than a block", p->driver);
	ns = &p->nvme->ns[i];
	ns->path = *p->drive->path ? p->drive->path : NULL;
	ns->blocks = p->drive->size_bytes / STORE_SECTOR_SIZE;
	return 0;
}

static bool slot_is_free(const struct cmdline *c, u32 slot)
{
	for (u32 i = 0; i < c->emu.nr_nvme; i++)
		if (c->emu.nvme[i].cfg.rid >> 3 == (int)slot)
			return false;
	return true;
}

/* QEMU gives out the lowest slot; its boards and their default devices have the first ones. */
static u16 free_rid(const struct cmdline *c)
{
	u32 slot = c->emu.board == EMU_BOARD_Q35 ? 1 : 2;

	if (!c->no_defaults)
		slot += !c->no_vga + !c->no_net;
	while (slot < SLOTS - 1 && !slot_is_free(c, slot))
		slot++;
	return (u16)(slot << 3);
}

static int add_nvme(struct cmdline *c, const struct opts *o)
{
	u32 i = c->emu.nr_nvme;
	struct pending p = { .c = c, .driver = "nvme", .index = i };
	struct nvme_text *text;

	if (i == EMU_NVME_MAX)
		return cmdline_fail(c, "-device nvme: the model has at most %u functions", EMU_NVME_MAX);
	text = &c->nvme[i];
	*text = (struct nvme_text){ .model = "LightIOV NVMe model", .firmware = "1.0" };
	p.nvme = &c->emu.nvme[i];
	p.nvme->cfg = (struct nvme_config){
		.vendor_id = VENDOR_REDHAT, .device_id = DEVICE_REDHAT_NVME,
		.serial = text->serial, .model = text->model, .firmware = text->firmware, .nn = NN, .io_queues = 64, .msix_vectors = 65,
		.mqes = MQES_DEFAULT, .mdts = 7, .aerl = 3, .acl = 3, .elpe = 63,
		.cqr = true, .cmb_lists = true, .sgls = true,
		.oncs = NVME_ONCS_COMPARE | NVME_ONCS_DSM | NVME_ONCS_WRITE_ZEROES | NVME_ONCS_COPY,
	};
	if (take_all(&p, o, nvme_props, sizeof(nvme_props) / sizeof(nvme_props[0])))
		return -1;
	if (!opts_get(o, "serial"))
		return cmdline_fail(c, "-device nvme: serial is missing");
	if (!p.has_addr)
		p.nvme->cfg.rid = free_rid(c);
	for (u32 k = 0; k < i; k++)
		if (c->emu.nvme[k].cfg.rid == p.nvme->cfg.rid)
			return cmdline_fail(c, "-device nvme: addr=%02x.%x is taken", p.nvme->cfg.rid >> 3, p.nvme->cfg.rid & 7);
	if (p.drive && add_namespace(&p))
		return -1;
	c->emu.nr_nvme++;
	return 0;
}

static int add_ns(struct cmdline *c, const struct opts *o)
{
	struct pending p = { .c = c, .driver = "nvme-ns" };

	if (!c->emu.nr_nvme)
		return cmdline_fail(c, "-device nvme-ns: there is no nvme before it");
	p.nvme = &c->emu.nvme[c->emu.nr_nvme - 1];
	if (take_all(&p, o, ns_props, sizeof(ns_props) / sizeof(ns_props[0])))
		return -1;
	return add_namespace(&p);
}

static int add_vtd(struct cmdline *c, const struct opts *o)
{
	struct pending p = { .c = c, .driver = "intel-iommu" };

	if (c->emu.board != EMU_BOARD_Q35)
		return cmdline_fail(c, "-device intel-iommu: only a q35 machine has it");
	c->emu.has_vtd = true;
	c->emu.vtd_x2apic = true;
	return take_all(&p, o, vtd_props, sizeof(vtd_props) / sizeof(vtd_props[0]));
}

int cmdline_device(struct cmdline *c, const char *text)
{
	struct opts o;
	const char *driver;

	if (!opts_parse(&o, text, "driver"))
		return cmdline_fail(c, "-device: cannot be read: %.200s", text);
	driver = opts_get(&o, "driver");
	if (c->emu.board == EMU_BOARD_NONE)
		return cmdline_fail(c, "-device %.100s: the machine 'none' has no bus for it", driver ? driver : "");
	if (driver && !strcmp(driver, "nvme"))
		return add_nvme(c, &o);
	if (driver && !strcmp(driver, "nvme-ns"))
		return add_ns(c, &o);
	if (driver && !strcmp(driver, "intel-iommu"))
		return add_vtd(c, &o);
	return cmdline_fail(c, "-device %.100s: the model has nvme, nvme-ns and intel-iommu", driver ? driver : "");
}

static void help(FILE *f, const char *driver, const struct prop *prop, size_t nr)
{
	for (; nr--; prop++) {
		fprintf(f, "property\t%s\t%s\t", driver, prop->name);
		if (prop->id == PROP_IGNORED)
			fprintf(f, "ignored\n");
		else if (prop->id == PROP_ONLY)
			fprintf(f, "%s%s\n", *prop->only ? "only " : "refused", prop->only);
		else if (prop->max)
			fprintf(f, "%llu..%llu\n", (unsigned long long)prop->min, (unsigned long long)prop->max);
		else
			fprintf(f, "taken\n");
	}
}

void cmdline_device_help(FILE *f)
{
	help(f, "nvme", nvme_props, sizeof(nvme_props) / sizeof(nvme_props[0]));
	help(f, "nvme-ns", ns_props, sizeof(ns_props) / sizeof(ns_props[0]));
	help(f, "intel-iommu", vtd_props, sizeof(vtd_props) / sizeof(vtd_props[0]));
}
