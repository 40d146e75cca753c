// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "cmdline.h"
#include "serve.h"
#include "store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Bare NVMe controllers for vfio-user clients: a machine of nvme-emu each, with nothing in it but the controller,
 * whose memory is the client's. Latencies are zero: what a write starts has ended when it is answered.
 */

#define EXIT_USAGE 2
#define RAM_END (~0ULL)		/* all addresses are the client's */
#define MESSAGE_ADDRESS PCIS_IRQ_RANGE_BASE

struct bare {
	struct vfio_device device;	/* first */
	struct vfio_guest *guest;	/* NULL: nobody is there */
	struct cmdline c;
	struct emu *m;
	struct pci_function *fn;
	u8 *cmb;
	bool open[VFIO_VECTORS_MAX];
	u64 interrupts, dma_failed;
};

struct bare_world {
	struct serve_world world;	/* first */
	struct bare *bare[SERVE_SOCKETS_MAX];
	u32 nr;
};

/* --- what the controller sees of its client --- */

static bool memory_read(void *opaque, u64 addr, void *buf, size_t len_bytes)
{
	struct bare *b = opaque;
	bool ok = b->guest && b->guest->read(b->guest, addr, buf, len_bytes);

	b->dma_failed += !ok;
	return ok;
}

static bool memory_write(void *opaque, u64 addr, const void *buf, size_t len_bytes)
{
	struct bare *b = opaque;
	bool ok = b->guest && b->guest->write(b->guest, addr, buf, len_bytes);

	b->dma_failed += !ok;
	return ok;
}

/* The MSI-X table is ours: an entry's data is its number. */
static void message(void *opaque, u64 addr, u32 data)
{
	struct bare *b = opaque;

	(void)addr;
	if (!b->guest || data >= b->device.vectors)
		return;
	b->interrupts++;
	b->guest->interrupt(b->guest, data);
}

/* --- and the client of the controller --- */

static void entry_write(struct bare *b, u32 vec, u32 field, u32 val)
{
	pci_bar_write(b->fn, b->fn->cfg.msix_bar, b->fn->cfg.msix_table_off + vec * PCIS_MSIX_ENTRY_SIZE + field, val, 4);
}

/*
 * As the VFIO driver of Linux does: MSI-X is on while a vector is open, whatever the guest writes, and
 * both are put back after a reset.
 */
static void vectors_arm(struct bare *b)
{
	u32 off = b->fn->cap_msix + PCIS_MSIX_CONTROL, control = pci_cfg_read(&b->m->root, b->fn->cfg.rid, off, 2);
	u32 want = control & ~(u32)PCIS_MSIX_ENABLE;

	for (u32 v = 0; v < b->device.vectors; v++) {
		if (b->open[v])
			want |= PCIS_MSIX_ENABLE;
		if (b->open[v] == !(b->fn->msix[v].control & PCIS_MSIX_ENTRY_MASKED))
			continue;
		entry_write(b, v, PCIS_MSIX_ENTRY_ADDR_LO, MESSAGE_ADDRESS);
		entry_write(b, v, PCIS_MSIX_ENTRY_ADDR_HI, 0);
		entry_write(b, v, PCIS_MSIX_ENTRY_DATA, v);
		entry_write(b, v, PCIS_MSIX_ENTRY_CONTROL, b->open[v] ? 0 : PCIS_MSIX_ENTRY_MASKED);
	}
	if (want != control)
		pci_cfg_write(&b->m->root, b->fn->cfg.rid, off, want, 2);
}

static void bare_vector(struct vfio_device *d, u32 vec, bool open)
{
	struct bare *b = (struct bare *)d;

	b->open[vec] = open;
	vectors_arm(b);
}

static void bare_reset(struct vfio_device *d)
{
	struct bare *b = (struct bare *)d;

	pci_cfg_write(&b->m->root, b->fn->cfg.rid, b->fn->cap_pcie + PCIS_EXP_DEVCTL, PCIS_EXP_DEVCTL_FLR, 2);
	vectors_arm(b);
}

static u64 bare_read(struct vfio_device *d, u32 region, u64 off, u32 len)
{
	struct bare *b = (struct bare *)d;

	if (region == VFIO_REGION_CONFIG)
		return pci_cfg_read(&b->m->root, b->fn->cfg.rid, (u32)off, len);
	return pci_bar_read(b->fn, region, off, len);
}

static void bare_write(struct vfio_device *d, u32 region, u64 off, u64 val, u32 len)
{
	struct bare *b = (struct bare *)d;

	if (region == VFIO_REGION_CONFIG) {
		pci_cfg_write(&b->m->root, b->fn->cfg.rid, (u32)off, (u32)val, len);
		vectors_arm(b);
	} else {
		pci_bar_write(b->fn, region, off, val, len);
	}
	emu_settle(b->m);
}

/*
 * The CMB lies in a file that the client may map. Each gets a new one, put in the old one's place: who was here
 * before keeps what he mapped, and nothing else. It is sealed, or a client could cut it off under us.
 */
static bool cmb_renew(struct bare *b)
{
	struct vfio_region *r = &b->device.region[2];
	int fd;

	if (!r->size_bytes)
		return true;
	fd = memfd_create("cmb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return false;
	if (ftruncate(fd, (off_t)r->size_bytes) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    mmap(b->cmb, r->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		close(fd);
		return false;
	}
	if (r->fd >= 0)
		close(r->fd);
	r->fd = fd;
	return true;
}

static bool bare_open(struct vfio_device *d, struct vfio_guest *g)
{
	struct bare *b = (struct bare *)d;

	if (!cmb_renew(b))
		return false;
	b->guest = g;
	return true;
}

static void bare_close(struct vfio_device *d)
{
	struct bare *b = (struct bare *)d;

	bare_reset(d);
	b->guest = NULL;
}

static const struct vfio_device_ops bare_ops = {
	.open = bare_open, .close = bare_close, .reset = bare_reset, .read = bare_read, .write = bare_write, .vector = bare_vector,
};

/* --- making one --- */

#define WORDS_MAX (2 * OPTS_TEXT_MAX)

/* @head and those words of the socket that are for it, in QEMU's way: a comma in a value is doubled. False: no room. */
static bool words(char to[WORDS_MAX], const char *head, const struct opts *o, bool for_drive)
{
	FILE *f = fmemopen(to, WORDS_MAX, "w");

	if (!f)
		return false;
	fputs(head, f);
	for (u32 k = 0; k < o->nr; k++) {
		const char *key = o->opt[k].key;

		if (!strcmp(key, "path") || !strcmp(key, "size") || !strcmp(key, "file") != for_drive)
			continue;
		fprintf(f, ",%s=", key);
		for (const char *c = o->opt[k].val; *c; c++)
			fprintf(f, *c == ',' ? ",," : "%c", *c);
	}
	return fclose(f) == 0;
}

static bool both_words(char *drive, char *device, const struct opts *o, u32 i)
{
	const char *size = opts_get(o, "size");
	char head[64];

	if (opts_get(o, "file"))
		snprintf(head, sizeof(head), "if=none,id=d,format=raw");
	else
		snprintf(head, sizeof(head), "if=none,id=d,driver=null-co,size=%.20s", size ? size : "64M");
	if (!words(drive, head, o, true))
		return false;
	/* Of two, the last counts. */
	snprintf(head, sizeof(head), "nvme,drive=d,serial=LIOV%04u", i + 1);
	return words(device, head, o, false);
}

static bool parse(struct bare *b, const struct opts *o, u32 i, char *why, size_t why_size)
{
	static const char *const fixed[] = { "serve", "-machine", "q35", "-nodefaults", "-qtest", "null" };
	char *text = malloc(2 * WORDS_MAX), *argv[10];
	bool ok;

	memcpy(argv, fixed, sizeof(fixed));
	argv[6] = (char *)"-drive";
	argv[7] = text;
	argv[8] = (char *)"-device";
	argv[9] = text ? text + WORDS_MAX : NULL;
	ok = text && both_words(argv[7], argv[9], o, i) && !cmdline_parse(&b->c, 10, argv);
	if (!ok)
		snprintf(why, why_size, "%.100s: %s", opts_get(o, "path"), text ? b->c.why : "no memory");
	free(text);
	return ok;
}

static u64 drives_bytes(const struct emu_nvme *n)
{
	u64 bytes = 0;

	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++)
		bytes += n->ns[i].blocks * STORE_SECTOR_SIZE;
	return bytes;
}

/* Memory for all that the drives can hold, and for what describes it: the guest cannot use it up. */
static void configure(struct bare *b)
{
	struct emu_config *cfg = &b->c.emu;
	u64 bytes = drives_bytes(&cfg->nvme[0]);

	cfg->board = EMU_BOARD_NONE;
	cfg->ram_bytes = 0;
	cfg->media_budget_bytes = bytes + bytes / 16 + (1 << 20);
	cfg->nvme[0].cfg.cmb_memory = b->cmb;
}

static void bare_free(struct bare *b)
{
	if (!b)
		return;
	emu_free(b->m);
	if (b->cmb)
		munmap(b->cmb, b->c.emu.nvme[0].cfg.cmb_size_bytes);
	if (b->device.region[2].fd >= 0)
		close(b->device.region[2].fd);
	free(b);
}

static bool cmb_reserve(struct bare *b)
{
	u64 size = b->c.emu.nvme[0].cfg.cmb_size_bytes;
	void *p;

	if (!size)
		return true;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	b->cmb = p == MAP_FAILED ? NULL : p;
	return b->cmb;
}

static void connect(struct bare *b)
{
	struct vfio_device *d = &b->device;

	b->fn = nvme_function(b->m->nvme[0]);
	b->m->bus.outside = (struct bus_outside){ 0, RAM_END, memory_read, memory_write, b };
	b->m->root.msi = message;
	b->m->root.msi_opaque = b;
	d->ops = &bare_ops;
	d->vectors = b->fn->cfg.msix_vectors;
	for (u32 i = 0; i < PCIS_BAR_COUNT; i++)
		d->region[i].size_bytes = b->fn->cfg.bar[i].size_bytes;
	d->region[VFIO_REGION_CONFIG].size_bytes = PCIS_CONFIG_SIZE;
}

static struct bare *bare_new(const struct opts *o, u32 i, char *why, size_t why_size)
{
	struct bare *b = calloc(1, sizeof(*b));
	char reason[256] = "no memory";

	if (!b) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	for (u32 r = 0; r < VFIO_REGIONS; r++)
		b->device.region[r].fd = -1;
	if (!parse(b, o, i, why, why_size)) {
		bare_free(b);
		return NULL;
	}
	if (cmb_reserve(b)) {
		configure(b);
		b->m = emu_new(&b->c.emu, reason, sizeof(reason));
	}
	if (!b->m) {
		snprintf(why, why_size, "%.100s: %s", opts_get(o, "path"), reason);
		bare_free(b);
		return NULL;
	}
	connect(b);
	return b;
}

static bool due(struct serve_world *world)
{
	struct bare_world *w = (struct bare_world *)world;
	u64 ns;

	for (u32 i = 0; i < w->nr; i++)
		if (emu_clock_next(w->bare[i]->m, &ns) && ns <= emu_clock_ns(w->bare[i]->m))
			return true;
	return false;
}

static bool work(struct serve_world *world)
{
	struct bare_world *w = (struct bare_world *)world;
	bool lost = false;

	for (u32 i = 0; i < w->nr; i++) {
		emu_settle(w->bare[i]->m);
		lost = lost || w->bare[i]->m->over_budget;
	}
	if (lost) {
		fprintf(stderr, "lightiov serve: there is not enough memory for a drive's content\n");
		world->broken = EXIT_USAGE;
	}
	return !lost;
}

static void report_socket(struct serve_world *world, u32 i, json_t *to)
{
	struct bare *b = ((struct bare_world *)world)->bare[i];
	const struct nvme_counters *c = nvme_counters(b->m->nvme[0]);
	const struct { const char *name; u64 val; } rows[] = {
		{ "commands", c->sqes_fetched }, { "admin_commands", c->admin_commands }, { "completions", c->cqes_posted },
		{ "refused", c->refused }, { "read_blocks", c->read_blocks }, { "written_blocks", c->written_blocks },
		{ "resets", c->resets }, { "interrupts", b->interrupts }, { "dma_failed", b->dma_failed },
	};

	for (u32 k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		json_object_set_new(to, rows[k].name, json_integer((json_int_t)rows[k].val));
}

static int report(struct serve_world *world, json_t *to)
{
	(void)world, (void)to;
	return 0;
}

static void world_free(struct serve_world *world)
{
	struct bare_world *w = (struct bare_world *)world;

	for (u32 i = 0; i < w->nr; i++)
		bare_free(w->bare[i]);
	free(w);
}

static struct serve_world *make(const struct serve_options *o, char *why, size_t why_size)
{
	struct bare_world *w = calloc(1, sizeof(*w));

	if (!w) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	w->world = (struct serve_world){ .due = due, .work = work, .report_socket = report_socket, .report = report, .free = world_free };
	for (u32 i = 0; i < o->nr_sockets; i++) {
		w->bare[i] = bare_new(&o->socket[i], i, why, why_size);
		if (!w->bare[i]) {
			world_free(&w->world);
			return NULL;
		}
		w->world.device[i] = &w->bare[i]->device;
		w->nr++;
	}
	return &w->world;
}

static void help(FILE *f)
{
	fputs("Without --policy each socket has an NVMe controller of its own, as the model has it. Its words:\n"
	      "  size=SIZE           of its drive, zeros at first (default 64M); all content is held in memory\n"
	      "  file=PATH           content of its drive at first, and its size; never written to\n"
	      "  any of QEMU's -device nvme: serial= cmb_size_mb= max_ioqpairs= msix_qsize= mdts= ... (lightiov qtest --help)\n"
	      "The CMB is BAR 2, and is mapped by the client unless --record is given. A command takes no time.\n"
	      "\n", f);
}

const struct serve_kind serve_nvme = { .policy = NULL, .make = make, .help = help };
