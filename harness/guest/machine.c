// SPDX-License-Identifier: GPL-2.0
/* The machine of the bare guest: what stands behind its ports and addresses. */

#include "machine.h"
#include "event.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HIGH_RAM_BYTES	(64ull << 20)
#define SSD_BLOCKS	0x40000ull
#define HOST_BLOCKS	0x8000ull		/* more than a VM's: a number on the SSD is none of the VM's own */
#define VM_BLOCKS	0x4000ull
#define VICTIM_BYTES	0x200000ull
#define WAIT_PS		(1000 * PS_PER_MS)
#define QUIET_PS	(1 * PS_PER_MS)

/* --- what is asked of the modelled machine runs in a task of its own --- */

static void task_main(void *arg)
{
	struct guest_machine *gm = arg;

	for (;;) {
		if (gm->fn) {
			gm->fn(gm, gm->arg);
			gm->fn = NULL;
			gm->done = true;
		}
		task_wait(&gm->asked, TASK_FOREVER);
	}
}

/* @gv: on this vCPU, or NULL: by the host. */
static void do_in_task(struct guest_machine *gm, struct gvcpu *gv, void (*fn)(struct guest_machine *gm, void *arg), void *arg)
{
	gm->fn = fn;
	gm->arg = arg;
	gm->done = false;
	gm->task->gvcpu = gv;
	task_wake_all(&gm->asked);
	while (!gm->done)
		if (!sched_run_one(gm->m->sched)) {
			fprintf(stderr, "guest: nothing is left to happen, and what was asked is not done\n");
			exit(3);
		}
}

/* --- what the host does to the CMB BAR --- */

static void saw_page(struct guest_machine *gm, u64 off, hpa_t hpa, bool writable)
{
	u64 page = off >> SPEC_PAGE_SHIFT;

	assert(page < sizeof(gm->is_mapped));
	gm->now.pages++;
	gm->now.order = (gm->now.order ^ page) * 0x100000001b3ull;
	gm->is_mapped[page] = true;
	if (gm->mapped)
		gm->mapped(gm->opaque, off, hpa, writable);
}

static void saw_revoked(struct guest_machine *gm, u64 off, u64 len)
{
	u64 page, end = (off + len) >> SPEC_PAGE_SHIFT;

	gm->now.revokes++;
	for (page = off >> SPEC_PAGE_SHIFT; page < end && page < sizeof(gm->is_mapped); page++) {
		gm->now.revoked += gm->is_mapped[page];
		gm->is_mapped[page] = false;
	}
	if (gm->revoked && gm->opt.bug != GUEST_BUG_FORGET)
		gm->revoked(gm->opaque, off, len);
}

static void saw(void *opaque, const struct trace_event *ev)
{
	struct guest_machine *gm = opaque;

	if (!gm->vm || ev->a != gm->vm->cfg.id)
		return;
	if (ev->kind == SIM_TRACE_PAGE)
		saw_page(gm, ev->b, (hpa_t){ ev->c }, ev->d);
	else
		saw_revoked(gm, ev->b, ev->c);
}

/* --- making it --- */

static void configure(struct machine_config *cfg, const struct guest_options *opt)
{
	machine_config_defaults(cfg);
	cfg->seed = opt->seed;
	cfg->high_ram_bytes = HIGH_RAM_BYTES;
	cfg->ssd.nsze = cfg->ssd.ncap = SSD_BLOCKS;
	cfg->backend.host_lbas = HOST_BLOCKS;
	cfg->backend.policy = opt->policy;
	if (opt->policy == LIOV_POLICY_NRD) {
		cfg->ssd.resource_domains = true;
		cfg->ssd.dstrd = 10;
	}
}

static int make_vm(struct guest_machine *gm, u32 id, u64 gpa, u64 len, u32 queues, struct port_vm **out)
{
	struct vm_config cfg = {
		.id = id, .name = id ? "guest" : "victim", .vcpus = 1, .nr_ram = 1, .ram = { { gpa, len } },
		/* Nobody brings the victim's memory up: it is there for devices all the same. */
		.liov = { .nr_queues = queues, .lbas = VM_BLOCKS, .register_all = id == 0 },
	};

	return vm_create(gm->m, &cfg, out);
}

static void boot(struct guest_machine *gm, void *arg)
{
	int *err = arg;

	*err = host_boot_liov(gm->m);
	if (!*err)
		*err = make_vm(gm, 0, GUEST_VICTIM_RAM, VICTIM_BYTES, 1, &gm->victim);
	if (!*err)
		*err = make_vm(gm, 1, GUEST_RAM, GUEST_RAM_BYTES, GUEST_QUEUES, &gm->vm);
}

static void vector_came(void *arg)
{
	u64 *slot = arg;

	*slot = 1;
}

/* The victim's blocks and memory hold a word by which they are known. */
static void plant(struct guest_machine *gm)
{
	u64 word = GUEST_VICTIM_WORD, off;

	for (off = 0; off < SPEC_PAGE_SIZE; off += 8) {
		store_write(gm->m->media, gm->victim->liov.lba.start * STORE_SECTOR_SIZE + off, &word, 8);
		store_write(gm->m->memory, gm->victim->ram[0].hpa.v + off, &word, 8);
	}
}

int guest_machine_new(struct guest_machine *gm, const struct guest_options *opt)
{
	u64 mask[2] = { 0 };
	struct machine_config cfg;
	int err = 0;
	u32 v;

	memset(gm, 0, sizeof(*gm));
	gm->opt = *opt;
	configure(&cfg, opt);
	gm->m = machine_new(&cfg);
	if (!gm->m)
		return -ENOMEM;
	trace_mask_add(mask, SIM_TRACE_PAGE);
	trace_mask_add(mask, SIM_TRACE_REVOKED);
	machine_listen(gm->m, mask, saw, gm);
	gm->task = machine_task(gm->m, "bare guest", task_main, gm);
	if (!gm->task)
		return -ENOMEM;
	do_in_task(gm, NULL, boot, &err);
	if (err)
		return err;
	for (v = 0; v <= GUEST_QUEUES; v++) {
		gm->vm->guest.handler[VM_IRQ_BASE + v].fn = vector_came;
		gm->vm->guest.handler[VM_IRQ_BASE + v].arg = &gm->came[v];
	}
	if (opt->bug == GUEST_BUG_FORGET)
		gm->m->host->omit |= HOST_OMIT_VM_REVOKE;
	plant(gm);
	return 0;
}

void guest_machine_free(struct guest_machine *gm)
{
	machine_free(gm->m);
	gm->m = NULL;
}

hpa_t guest_machine_ram(const struct guest_machine *gm)
{
	return gm->vm->ram[0].hpa;
}

bool guest_machine_load(struct guest_machine *gm, const char *image)
{
	u64 at = guest_machine_ram(gm).v + (GUEST_IMAGE - GUEST_RAM), max = GUEST_RAM_BYTES / 2, len = 0;
	FILE *f = fopen(image, "rb");
	u8 buf[4096];
	size_t n;

	if (!f)
		return false;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0 && n <= max - len) {
		store_write(gm->m->memory, at + len, buf, n);
		len += n;
	}
	fclose(f);
	return n == 0 && len > 0;
}

void guest_machine_ask(struct guest_machine *gm)
{
	struct guest_page page = {
		.ios = gm->opt.ios, .seed = gm->opt.seed, .attack = gm->opt.attack,
		.victim_lba = gm->victim->liov.lba.start, .victim_page = gm->victim->liov.dma_offset + GUEST_VICTIM_RAM,
		.victim_qid = gm->opt.policy == LIOV_POLICY_MEDIATED ? 1 : gm->victim->liov.queue[0]->qid,
	};

	store_write(gm->m->memory, guest_machine_ram(gm).v, &page, sizeof(page));
}

/* --- accesses --- */

struct access {
	u64 gpa;
	void *buf;
	u32 len;
	bool write, again;
};

static void access_task(struct guest_machine *gm, void *arg)
{
	struct access *a = arg;
	struct gvcpu *gv = &gm->vm->gv[0];

	if (a->write)
		vm_store(gv, (gpa_t){ a->gpa }, a->buf, a->len);
	else
		vm_load(gv, (gpa_t){ a->gpa }, a->buf, a->len);
}

void guest_machine_access(struct guest_machine *gm, u64 gpa, void *buf, u32 len, bool write)
{
	struct vcpu *vcpu = &gm->vm->gv[0].vcpu;
	const struct pcpu_tlb_entry *e = pcpu_tlb_slot(&gm->m->cpu.pcpu[vcpu->pcpu], (gpa_t){ gpa });
	struct access a = { .gpa = gpa, .buf = buf, .len = len, .write = write };

	/* Memory that the TLB has takes no time that anybody waits for. */
	if ((write ? e->store_tag : e->load_tag) == pcpu_tlb_tag((gpa_t){ gpa }) && gpa_in_one_page((gpa_t){ gpa }, len))
		write ? vcpu_write(vcpu, (gpa_t){ gpa }, buf, len) : vcpu_read(vcpu, (gpa_t){ gpa }, buf, len);
	else
		do_in_task(gm, &gm->vm->gv[0], access_task, &a);
}

static void exit_task(struct guest_machine *gm, void *arg)
{
	struct access *a = arg;
	struct gvcpu *gv = &gm->vm->gv[0];
	struct ept_exit exit = { .gpa = { a->gpa }, .access = a->write ? EPT_ACCESS_W : EPT_ACCESS_R, .len = a->len,
				 .write = a->write, .val = ~0ull };

	if (a->write)
		memcpy(&exit.val, a->buf, a->len);
	vcpu_count_exit(&gv->vcpu, EXIT_EPT_VIOLATION, a->gpa);
	a->again = host_ept_exit(gv, &gv->vcpu, &exit) == EXIT_RETRY;
	if (!a->write)
		memcpy(a->buf, &exit.val, a->len);
}

bool guest_machine_exit(struct guest_machine *gm, u64 gpa, u64 *val, u32 len, bool write)
{
	struct access a = { .gpa = gpa, .buf = val, .len = len, .write = write };

	do_in_task(gm, &gm->vm->gv[0], exit_task, &a);
	return a.again;
}

void guest_machine_doorbell(struct guest_machine *gm, hpa_t at, u32 val)
{
	bus_cpu_write(&gm->m->bus, at, val, 4);
}

/* --- ports --- */

static void config_read(struct guest_machine *gm, void *arg)
{
	u32 *val = arg;

	*val = port_guest_cfg_rd32(&gm->vm->guest, gm->config_address & 0xFC);
}

static void config_write(struct guest_machine *gm, void *arg)
{
	u32 *val = arg;

	port_guest_cfg_wr32(&gm->vm->guest, gm->config_address & 0xFC, *val);
}

static u32 take_vectors(struct guest_machine *gm)
{
	u32 came = 0, v;

	for (v = 0; v <= GUEST_QUEUES; v++) {
		came |= (u32)gm->came[v] << v;
		gm->came[v] = 0;
	}
	return came;
}

/*
 * Until an interrupt came in, and then until nothing follows: how many come at once, and so how often a
 * CQ's doorbell rings, must not hang on what a home's accesses cost.
 */
static u32 wait_irq(struct guest_machine *gm)
{
	struct sched *s = gm->m->sched;
	u64 end = sched_now(s) + WAIT_PS, quiet;
	u32 came = take_vectors(gm);

	for (;;) {
		quiet = sched_now(s) + QUIET_PS;
		if (sched_next_time(s) > (came && quiet < end ? quiet : end))
			break;
		sched_run_one(s);
		came |= take_vectors(gm);
	}
	if (!came)
		sched_run_until(s, end);
	return came;
}

static void reset(struct guest_machine *gm, void *arg)
{
	*(int *)arg = liov_backend_reset(&gm->m->backend);
}

static struct guest_counts counts(struct guest_machine *gm)
{
	struct guest_counts c = gm->now;

	c.refused = gm->vm->ept_refused;
	c.registers = gm->vm->device_exits;
	c.fixed = gm->fixed ? gm->fixed(gm->opaque) : c.pages;
	return c;
}

static void begin(struct guest_machine *gm, u32 phase)
{
	u64 val;

	if (phase >= GUEST_PHASES)
		return;
	if (phase == GUEST_FIRST && gm->opt.bug == GUEST_BUG_EAGER)
		guest_machine_exit(gm, VM_CMB_GPA + LIOV_CMB_SLOTS, &val, 4, false);
	gm->at[phase] = counts(gm);
}

u32 guest_machine_in(struct guest_machine *gm, u32 port)
{
	u32 val = ~0u;

	if (port == GUEST_PORT_CONFIG_DATA) {
		gm->now.config++;
		do_in_task(gm, &gm->vm->gv[0], config_read, &val);
	} else if (port == GUEST_PORT_IRQ) {
		val = wait_irq(gm);
	}
	return val;
}

void guest_machine_out(struct guest_machine *gm, u32 port, u32 val)
{
	int err = 0;

	switch (port) {
	case GUEST_PORT_CONFIG:
		gm->config_address = val;
		break;
	case GUEST_PORT_CONFIG_DATA:
		gm->now.config++;
		do_in_task(gm, &gm->vm->gv[0], config_write, &val);
		break;
	case GUEST_PORT_SLEEP:
		sched_run_until(gm->m->sched, sched_now(gm->m->sched) + val * PS_PER_NS);
		break;
	case GUEST_PORT_PHASE:
		begin(gm, val);
		break;
	case GUEST_PORT_RESET:
		do_in_task(gm, NULL, reset, &err);
		break;
	case GUEST_PORT_END:
		gm->at[GUEST_PHASES] = counts(gm);
		gm->ended = true;
		gm->end = val;
		break;
	default:
		break;
	}
	if (err) {
		fprintf(stderr, "guest: the controller's reset fails: %d\n", err);
		exit(70);
	}
}
