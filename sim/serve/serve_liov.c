// SPDX-License-Identifier: GPL-2.0
#include "serve_liov.h"
#include "event.h"
#include "host/host.h"
#include "serve.h"
#include "store.h"
#include "vm/vm.h"
#include "watch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * The VM's vCPU 0 makes the accesses that the client's processors make: they go through its EPT, exit, and
 * are answered by LightIOV as any guest's, and the oracle sees them. Its interrupt handlers are the client's
 * eventfds. What the SSD and the host read and write of the VM's memory is the client's (struct bus_outside).
 *
 * Time is simulated. It stands still while nothing is to be done; a command's latency passes at once.
 */

#define QUEUES_DEFAULT 4
#define MEMORY_MAX (16ull << 30)	/* guest-physical addresses end here: a VM's IOVA window */
#define HOST_BUDGET (256ull << 20)	/* tables and queues in simulated memory */
#define STEP_EVENTS 65536u
#define CALL_EVENTS (1u << 24)		/* an access takes thousands; one that does not end is our bug */
#define BLOCK STORE_SECTOR_SIZE
#define EXIT_USAGE 2
#define EXIT_LIVENESS 3

enum call { CALL_READ, CALL_WRITE, CALL_VECTOR, CALL_RESET, CALL_MAP, CALL_UNMAP };

struct served {
	struct vfio_device device;	/* first */
	struct liov_world *w;
	struct vfio_guest *guest;	/* NULL: nobody is there */
	struct port_vm *vm;
	struct served_vector {
		struct served *s;
		bool open;
	} vector[LIOV_VECTORS_MAX];
	u32 cap_msix, cap_pcie;
	u64 blocks;
	u32 queues;
	/* What its task is to do, and what came of it. */
	struct port_waitq wait;
	struct task *task;
	enum call call;
	u64 region, off, val;
	u32 len;
	bool busy, ok;
	/* Seen. */
	u64 interrupts, denied, dma_failed;
};

struct liov_world {
	struct serve_world world;	/* first */
	struct machine *m;
	struct oracle *oracle;
	struct served vm[SERVE_SOCKETS_MAX];
	u32 nr;
	int error;
	bool up, hung;
};

/* --- the client's memory and interrupts --- */

static struct served *owner_of(struct liov_world *w, u64 hpa, gpa_t *gpa)
{
	for (u32 i = 0; i < w->nr; i++) {
		const struct port_vm *vm = w->vm[i].vm;

		for (u32 k = 0; vm && k < vm->nr_ram; k++) {
			if (hpa < vm->ram[k].hpa.v || hpa - vm->ram[k].hpa.v >= vm->ram[k].len_bytes)
				continue;
			gpa->v = vm->ram[k].gpa.v + (hpa - vm->ram[k].hpa.v);
			return w->vm[i].guest ? &w->vm[i] : NULL;
		}
	}
	return NULL;
}

static bool memory_read(void *opaque, u64 addr, void *buf, size_t len_bytes)
{
	gpa_t gpa;
	struct served *s = owner_of(opaque, addr, &gpa);
	bool ok = s && s->guest->read(s->guest, gpa.v, buf, len_bytes);

	if (s)
		s->dma_failed += !ok;
	return ok;
}

static bool memory_write(void *opaque, u64 addr, const void *buf, size_t len_bytes)
{
	gpa_t gpa;
	struct served *s = owner_of(opaque, addr, &gpa);
	bool ok = s && s->guest->write(s->guest, gpa.v, buf, len_bytes);

	if (s)
		s->dma_failed += !ok;
	return ok;
}

static void interrupt(void *arg)
{
	struct served_vector *v = arg;
	struct served *s = v->s;

	if (!s->guest || !v->open)
		return;
	s->interrupts++;
	s->guest->interrupt(s->guest, (u32)(v - s->vector));
}

/* --- a VM's task --- */

static void entry_write(struct served *s, u32 vec, u32 field, u32 val)
{
	liov_device_wr(&s->vm->liov, LIOV_BAR0_MSIX_TABLE + vec * PCIS_MSIX_ENTRY_SIZE + field, val, 4);
}

/* As the VFIO driver of Linux does: MSI-X is on while a vector is open, and both are put back after a reset. */
static void vectors_arm(struct served *s)
{
	struct liov_vm *vm = &s->vm->liov;
	u32 off = s->cap_msix + PCIS_MSIX_CONTROL, control = liov_device_cfg_rd(vm, off, 2);
	u32 want = control & ~(u32)PCIS_MSIX_ENABLE;

	for (u32 v = 0; v < s->device.vectors; v++) {
		u32 entry = LIOV_BAR0_MSIX_TABLE + v * PCIS_MSIX_ENTRY_SIZE;
		bool masked = liov_device_rd(vm, entry + PCIS_MSIX_ENTRY_CONTROL, 4) & PCIS_MSIX_ENTRY_MASKED;

		if (s->vector[v].open)
			want |= PCIS_MSIX_ENABLE;
		if (s->vector[v].open == !masked)
			continue;
		entry_write(s, v, PCIS_MSIX_ENTRY_ADDR_LO, PCIS_IRQ_RANGE_BASE);
		entry_write(s, v, PCIS_MSIX_ENTRY_ADDR_HI, 0);
		entry_write(s, v, PCIS_MSIX_ENTRY_DATA, VM_IRQ_BASE + v);
		entry_write(s, v, PCIS_MSIX_ENTRY_CONTROL, s->vector[v].open ? 0 : PCIS_MSIX_ENTRY_MASKED);
	}
	if (want != control)
		liov_device_cfg_wr(vm, off, want, 2);
}

static gpa_t region_gpa(const struct served *s)
{
	return (gpa_t){ (s->region == LIOV_CMB_BAR ? VM_CMB_GPA : VM_BAR0_GPA) + s->off };
}

static void do_read(struct served *s)
{
	s->val = 0;
	if (s->region == VFIO_REGION_CONFIG)
		s->val = liov_device_cfg_rd(&s->vm->liov, (u32)s->off, s->len);
	else
		vm_load(&s->vm->gv[0], region_gpa(s), &s->val, s->len);
}

static void do_write(struct served *s)
{
	if (s->region == VFIO_REGION_CONFIG) {
		liov_device_cfg_wr(&s->vm->liov, (u32)s->off, (u32)s->val, s->len);
		vectors_arm(s);
	} else {
		vm_store(&s->vm->gv[0], region_gpa(s), &s->val, s->len);
	}
}

static void do_reset(struct served *s)
{
	liov_device_cfg_wr(&s->vm->liov, s->cap_pcie + PCIS_EXP_DEVCTL, PCIS_EXP_DEVCTL_FLR, 2);
	vectors_arm(s);
}

/* Not where the VM's BARs stand in the simulated machine, wherever the client thinks they are. */
static bool do_map(struct served *s)
{
	u64 addr = s->off, len = s->val, cmb = s->vm->liov.cmb_size;

	if (len > MEMORY_MAX || addr > MEMORY_MAX - len || (addr < VM_BAR0_GPA + LIOV_BAR0_SIZE && VM_BAR0_GPA < addr + len) ||
	    (addr < VM_CMB_GPA + cmb && VM_CMB_GPA < addr + len))
		return false;
	if (vm_plug(s->vm, (gpa_t){ addr }, len))
		return false;
	if (!liov_vm_mem_learn(&s->vm->liov, (gpa_t){ addr }, len))
		return true;
	vm_balloon_out(s->vm, (gpa_t){ addr }, len);
	return false;
}

static void handle(struct served *s)
{
	struct gvcpu *gv = &s->vm->gv[0];

	/* What the host does for the VM costs its processor nothing. */
	s->task->gvcpu = s->call == CALL_READ || s->call == CALL_WRITE ? gv : NULL;
	switch (s->call) {
	case CALL_READ: do_read(s); break;
	case CALL_WRITE: do_write(s); break;
	case CALL_VECTOR: vectors_arm(s); break;
	case CALL_RESET: do_reset(s); break;
	case CALL_MAP: s->ok = do_map(s); break;
	case CALL_UNMAP: s->ok = !vm_balloon_out(s->vm, (gpa_t){ s->off }, s->val); break;
	}
	if (s->task->gvcpu)
		vm_pass(gv, 0);
	s->task->gvcpu = NULL;
}

static void vm_main(void *arg)
{
	struct served *s = arg;

	for (;;) {
		while (!s->busy)
			task_wait(&s->wait, TASK_FOREVER);
		handle(s);
		s->busy = false;
	}
}

/* Have the task do @call, and let the world go on until it has. */
static void call(struct served *s, enum call call)
{
	struct liov_world *w = s->w;
	u32 n = 0;

	if (w->hung)
		return;
	s->call = call;
	s->busy = true;
	s->ok = false;
	task_wake_one(&s->wait);
	while (s->busy && !w->hung)
		w->hung = ++n > CALL_EVENTS || !sched_run_one(w->m->sched);
}

/* --- the device as the session has it --- */

static u64 served_read(struct vfio_device *d, u32 region, u64 off, u32 len)
{
	struct served *s = (struct served *)d;

	s->region = region;
	s->off = off;
	s->len = len;
	s->val = ~0ull;
	call(s, CALL_READ);
	return s->val;
}

static void served_write(struct vfio_device *d, u32 region, u64 off, u64 val, u32 len)
{
	struct served *s = (struct served *)d;

	s->region = region;
	s->off = off;
	s->len = len;
	s->val = val;
	call(s, CALL_WRITE);
}

static void served_vector(struct vfio_device *d, u32 vec, bool open)
{
	struct served *s = (struct served *)d;

	s->vector[vec].open = open;
	call(s, CALL_VECTOR);
}

static void served_reset(struct vfio_device *d)
{
	call((struct served *)d, CALL_RESET);
}

static bool served_map(struct vfio_device *d, u64 addr, u64 len_bytes)
{
	struct served *s = (struct served *)d;

	s->off = addr;
	s->val = len_bytes;
	call(s, CALL_MAP);
	return s->ok;
}

static void served_unmap(struct vfio_device *d, u64 addr, u64 len_bytes)
{
	struct served *s = (struct served *)d;

	s->off = addr;
	s->val = len_bytes;
	call(s, CALL_UNMAP);
}

static bool served_open(struct vfio_device *d, struct vfio_guest *g)
{
	struct served *s = (struct served *)d;

	s->guest = g;
	return true;
}

static void served_close(struct vfio_device *d)
{
	struct served *s = (struct served *)d;

	served_reset(d);
	s->guest = NULL;
}

static const struct vfio_device_ops served_ops = {
	.open = served_open, .close = served_close, .reset = served_reset, .read = served_read, .write = served_write,
	.vector = served_vector, .map = served_map, .unmap = served_unmap,
};

/* --- the world comes up --- */

static u32 find_capability(struct liov_vm *vm, u8 id)
{
	u32 off = liov_device_cfg_rd(vm, PCIS_CAP_POINTER, 1);

	while (off && liov_device_cfg_rd(vm, off + PCIS_CAP_ID, 1) != id)
		off = liov_device_cfg_rd(vm, off + PCIS_CAP_NEXT, 1);
	assert(off);
	return off;
}

/* A VM that has no memory: all of it comes with the client. One page has to be there for it to be made. */
static int vm_up(struct served *s, u32 id)
{
	const gpa_t page = { 0 };
	struct vm_config cfg = {
		.id = id, .name = "served", .vcpus = 1, .nr_ram = 1, .ram = { { page.v, SPEC_PAGE_SIZE } },
		.liov = { .nr_queues = s->queues, .lbas = s->blocks, .register_all = true },
	};
	int err = vm_create(s->w->m, &cfg, &s->vm);

	if (err)
		return err;
	err = vm_balloon_out(s->vm, page, SPEC_PAGE_SIZE);
	s->cap_msix = find_capability(&s->vm->liov, PCIS_CAP_ID_MSIX);
	s->cap_pcie = find_capability(&s->vm->liov, PCIS_CAP_ID_PCIE);
	do_reset(s);
	s->device.vectors = s->queues + 1;
	s->device.region[0].size_bytes = LIOV_BAR0_SIZE;
	s->device.region[LIOV_CMB_BAR].size_bytes = s->vm->liov.cmb_size;
	s->device.region[VFIO_REGION_CONFIG].size_bytes = PCIS_CONFIG_SIZE;
	for (u32 v = 0; v < s->device.vectors; v++) {
		s->vector[v].s = s;
		s->vm->guest.handler[VM_IRQ_BASE + v].fn = interrupt;
		s->vm->guest.handler[VM_IRQ_BASE + v].arg = &s->vector[v];
	}
	s->task = machine_task(s->w->m, "served", vm_main, s);
	return s->task ? err : -ENOMEM;
}

static void world_up(void *arg)
{
	struct liov_world *w = arg;

	w->error = host_boot_liov(w->m);
	for (u32 i = 0; i < w->nr && !w->error; i++)
		w->error = vm_up(&w->vm[i], i);
	w->up = true;
}

/* Refusals, by the VM they are of. */
static void denied(void *opaque, const struct trace_event *ev)
{
	struct liov_world *w = opaque;

	if (ev->a < w->nr)
		w->vm[ev->a].denied++;
}

static int take_words(struct liov_world *w, const struct serve_options *o, char *why, size_t why_size)
{
	for (u32 i = 0; i < o->nr_sockets; i++) {
		const struct opts *so = &o->socket[i];
		const char *size = opts_get(so, "size"), *queues = opts_get(so, "queues");
		u64 bytes = 64ull << 20, n = QUEUES_DEFAULT;

		for (u32 k = 0; k < so->nr; k++) {
			const char *key = so->opt[k].key;

			if (!strcmp(key, "path") || !strcmp(key, "size") || !strcmp(key, "queues"))
				continue;
			snprintf(why, why_size, "%.100s: there is no word '%.40s'; a mediated VM has size and queues",
				 opts_get(so, "path"), key);
			return -1;
		}
		if ((size && !opts_size(size, 1, &bytes)) || bytes < SPEC_PAGE_SIZE || bytes % SPEC_PAGE_SIZE || bytes > 1ull << 43 ||
		    (queues && !opts_number(queues, &n)) || !n || n > LIOV_VM_QUEUES_MAX) {
			snprintf(why, why_size, "%.100s: size is 4K to 8T and a multiple of 4K, queues is 1 to %u",
				 opts_get(so, "path"), LIOV_VM_QUEUES_MAX);
			return -1;
		}
		w->vm[i] = (struct served){ .w = w, .blocks = bytes / BLOCK, .queues = (u32)n, .device.ops = &served_ops };
		for (u32 r = 0; r < VFIO_REGIONS; r++)
			w->vm[i].device.region[r].fd = -1;
		w->world.device[i] = &w->vm[i].device;
		w->nr++;
	}
	return 0;
}

/* Memory for all that the VMs can write, and for what describes it: no guest can use it up. */
static struct machine *machine_for(const struct liov_world *w)
{
	struct machine_config cfg;
	u64 blocks = 0;

	machine_config_defaults(&cfg);
	for (u32 i = 0; i < w->nr; i++)
		blocks += w->vm[i].blocks;
	cfg.high_ram_bytes = w->nr * MEMORY_MAX;
	cfg.ssd.nsze = cfg.ssd.ncap = cfg.backend.host_lbas + blocks;
	cfg.memory_budget_bytes = blocks * BLOCK + blocks * BLOCK / 16 + HOST_BUDGET + w->nr * MEMORY_MAX / 256;
	cfg.backend.policy = LIOV_POLICY_MEDIATED;
	cfg.backend.dma_offset = true;	/* the clients' guests all begin at 0 */
	cfg.backend.vm_iova_window = MEMORY_MAX;
	return machine_new(&cfg);
}

static int start(struct liov_world *w, char *why, size_t why_size)
{
	u64 mask[2] = { 0 };
	u32 n = 0;

	snprintf(why, why_size, "no memory for the simulated machine");
	w->m = machine_for(w);
	if (!w->m)
		return -1;
	w->m->bus.outside = (struct bus_outside){ MACHINE_HIGH_RAM, w->m->cfg.high_ram_bytes, memory_read, memory_write, w };
	w->oracle = oracle_new(w->m, NULL, NULL);
	trace_mask_add(mask, SIM_TRACE_LIOV + LIOV_TRACE_DENY);
	machine_listen(w->m, mask, denied, w);
	if (!w->oracle || !machine_task(w->m, "serve", world_up, w))
		return -1;
	while (!w->up && ++n < CALL_EVENTS && sched_run_one(w->m->sched))
		;
	if (!w->error && w->up)
		return 0;
	snprintf(why, why_size, "LightIOV does not start: %s", w->up ? strerror(-w->error) : "it does not get on");
	return -1;
}

/* --- and is served --- */

static bool due(struct serve_world *world)
{
	struct liov_world *w = (struct liov_world *)world;

	return w->hung || w->m->failed || !sched_empty(w->m->sched);
}

static bool work(struct serve_world *world)
{
	struct liov_world *w = (struct liov_world *)world;

	for (u32 n = 0; n < STEP_EVENTS && !w->hung && !w->m->failed && sched_run_one(w->m->sched); n++)
		;
	if (!w->hung && !w->m->failed)
		return true;
	fprintf(stderr, "lightiov serve: %s\n", w->hung ? "LightIOV does not answer" : "there is not enough memory for content");
	world->broken = w->hung ? EXIT_LIVENESS : EXIT_USAGE;
	return false;
}

static void put(json_t *to, const char *name, u64 val)
{
	json_object_set_new(to, name, json_integer((json_int_t)val));
}

static void report_socket(struct serve_world *world, u32 i, json_t *to)
{
	struct liov_world *w = (struct liov_world *)world;
	struct served *s = &w->vm[i];

	put(to, "vm", i);
	put(to, "first_block", s->vm->liov.lba.start);
	put(to, "blocks", s->vm->liov.lba.count);
	put(to, "commands", nvme_counters(w->m->nvme)->queue_fetched[s->vm->liov.queue[0]->qid]);
	put(to, "accesses_trapped", s->vm->device_exits);
	put(to, "interrupts", s->interrupts);
	put(to, "denied", s->denied);
	put(to, "dma_failed", s->dma_failed);
}

static int report(struct serve_world *world, json_t *to)
{
	struct liov_world *w = (struct liov_world *)world;
	u64 n = oracle_count(w->oracle);
	json_t *list = json_array();

	put(to, "simulated_us", sched_now(w->m->sched) / PS_PER_US);
	put(to, "violations", n);
	for (u32 i = 0; i < n && i < ORACLE_KEEP; i++) {
		const struct oracle_violation *v = oracle_violation(w->oracle, i);

		json_array_append_new(list, json_pack("{s:s, s:s}", "violation", oracle_claim_name(v->claim), "what", v->what));
	}
	json_object_set_new(to, "seen", list);
	json_object_set_new(to, "verdict", json_string(n ? "ESCAPED" : "isolated"));
	return n ? 1 : 0;
}

static void world_free(struct serve_world *world)
{
	struct liov_world *w = (struct liov_world *)world;

	oracle_free(w->oracle);
	machine_free(w->m);
	free(w);
}

static struct serve_world *make(const struct serve_options *o, char *why, size_t why_size)
{
	struct liov_world *w = calloc(1, sizeof(*w));

	if (!w) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	w->world = (struct serve_world){ .due = due, .work = work, .report_socket = report_socket, .report = report, .free = world_free };
	if (!take_words(w, o, why, why_size) && !start(w, why, why_size))
		return &w->world;
	world_free(&w->world);
	return NULL;
}

static void help(FILE *f)
{
	fputs("  --policy mediated   each socket is a VM of one simulated host, with LightIOV's virtual device on one modelled\n"
	      "                      SSD; an unmodified NVMe driver works on it. The oracle watches, and its verdict is printed.\n"
	      "Its words:\n"
	      "  size=SIZE           of the VM's blocks (default 64M)\n"
	      "  queues=N            queue pairs that its driver may create, 1 to 15 (default 4)\n"
	      "A VM's memory lies below 16 GiB, in at most 32 pieces: no vIOMMU. Latencies are the modelled SSD's, in simulated time.\n"
	      "\n", f);
}

const struct serve_kind serve_mediated = { .policy = "mediated", .make = make, .help = help };
