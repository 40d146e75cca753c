// SPDX-License-Identifier: GPL-2.0
#include "report/recording.h"
#include "vm/vm.h"

#include <stdlib.h>
#include <string.h>

#define QUEUES 256u
#define BEFORE 8u			/* events shown of what led to a moment */

struct recording {
	struct machine *m;
	u64 seen, in_attack;
	bool attack;
	u32 owner_of[QUEUES];		/* of hardware queues: VM id */
	u32 cap;
	struct recorded_event *held;	/* a ring once RECORDING_HELD is reached */
	struct recorded_event *chosen;
};

/* A VM's memory that holds @hpa, as the machine is now. */
static bool find_owner(const struct machine *m, u64 hpa, struct recorded_event *e)
{
	u32 v, i;

	for (v = 0; v < MACHINE_VMS_MAX; v++) {
		const struct port_vm *vm = m->vms[v];

		for (i = 0; vm && i < vm->nr_ram; i++) {
			if (hpa < vm->ram[i].hpa.v || hpa - vm->ram[i].hpa.v >= vm->ram[i].len_bytes)
				continue;
			e->owner = vm->cfg.id;
			e->gpa = vm->ram[i].gpa.v + (hpa - vm->ram[i].hpa.v);
			return true;
		}
	}
	return false;
}

static u32 vm_of_vcpu(const struct machine *m, u64 vcpu)
{
	return vcpu < MACHINE_VCPUS_MAX && m->gvcpus[vcpu] ? m->gvcpus[vcpu]->vm->cfg.id : SIM_OWNER_NONE;
}

static u32 vm_of_queue(const struct recording *r, u64 qid)
{
	return qid < QUEUES ? r->owner_of[qid] : SIM_OWNER_NONE;
}

static const struct port_vm *live_vm(const struct machine *m, u32 id)
{
	return id < MACHINE_VMS_MAX ? m->vms[id] : NULL;
}

/* Whose doing it is. */
static u32 find_actor(const struct recording *r, const struct trace_event *ev)
{
	switch (ev->kind) {
	case TRACE_CPU_STORE: case TRACE_CPU_LOAD: case TRACE_VCPU_EXIT: case TRACE_EPT_VIOLATION: case TRACE_EPT_MISCONFIG:
	case TRACE_IRQ_ACCEPT:
		return vm_of_vcpu(r->m, ev->a);
	case SIM_TRACE_PAGE: case SIM_TRACE_NO_SLOT: case SIM_TRACE_REVOKED: case SIM_TRACE_VM: case SIM_TRACE_QUEUE:
		return (u32)ev->a;
	default:
		break;
	}
	if (ev->kind >= SIM_TRACE_LIOV && ev->kind < SIM_TRACE_END)
		return live_vm(r->m, (u32)ev->a) ? (u32)ev->a : SIM_OWNER_NONE;
	return ev->io_id ? vm_of_queue(r, ev->io_id >> 48) : SIM_OWNER_NONE;
}

/* Addresses of other spaces for the one that the event names. */
static void find_addresses(const struct recording *r, struct recorded_event *e)
{
	const struct trace_event *ev = &e->ev;
	const struct port_vm *vm = live_vm(r->m, e->vm);
	bool dma = ev->kind == TRACE_DMA || ev->kind == TRACE_DMA_NO_TARGET;

	e->owner = SIM_OWNER_NONE;
	e->gpa = e->named_gpa = RECORDED_NO_ADDRESS;
	if (dma || ev->kind == TRACE_CPU_STORE || ev->kind == TRACE_CPU_LOAD) {
		if (!find_owner(r->m, ev->c, e) && ev->c < MACHINE_LOW_RAM)
			e->owner = SIM_OWNER_HOST;
	}
	/* Of lists and data; where a queue lies the host said. LightIOV's own commands have no VM. */
	if (vm && ((dma && (ev->a >> 17 & 0x7FFF) != PCI_DMA_QUEUE) || ev->kind == TRACE_VTD_FAULT) && ev->b >= vm->liov.dma_offset)
		e->named_gpa = ev->b - vm->liov.dma_offset;
}

static bool grow(struct recording *r)
{
	u32 cap = r->cap ? 4 * r->cap : 1024;
	struct recorded_event *more;

	if (r->cap == RECORDING_HELD)
		return true;
	more = realloc(r->held, cap * sizeof(*more));
	if (!more) {
		r->m->failed = true;
		return false;
	}
	r->held = more;
	r->cap = cap;
	return true;
}

static void recording_event(void *opaque, const struct trace_event *ev)
{
	struct recording *r = opaque;
	struct recorded_event *e;

	if (ev->kind == SIM_TRACE_QUEUE && ev->b < QUEUES)
		r->owner_of[ev->b] = ev->c ? (u32)ev->a : SIM_OWNER_NONE;
	if (r->seen >= r->cap && !grow(r))
		return;
	e = &r->held[r->seen++ % r->cap];
	e->ev = *ev;
	e->ev.data = NULL;
	e->ev.data_len = ev->data_len < RECORDING_DATA ? ev->data_len : RECORDING_DATA;
	if (e->ev.data_len)
		memcpy(e->data, ev->data, e->ev.data_len);
	e->mark = r->attack ? RECORDED_IN_ATTACK : 0;
	r->in_attack += r->attack;
	e->vm = find_actor(r, ev);
	find_addresses(r, e);
}

struct recording *recording_new(struct machine *m)
{
	struct recording *r = calloc(1, sizeof(*r));
	u64 mask[2] = { ~0ull, ~0ull };

	/* For views (view.h): what a guest makes of them is a load, or nothing. */
	mask[SIM_TRACE_ANSWER >> 6] &= ~(1ull << (SIM_TRACE_ANSWER & 63));
	mask[SIM_TRACE_WROTE >> 6] &= ~(1ull << (SIM_TRACE_WROTE & 63));
	u32 i;

	if (!r)
		return NULL;
	r->m = m;
	for (i = 0; i < QUEUES; i++)
		r->owner_of[i] = SIM_OWNER_NONE;
	machine_listen(m, mask, recording_event, r);
	return r;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	free(r->chosen);
	free(r->held);
	free(r);
}

void recording_attack(struct recording *r, bool open)
{
	r->attack = open;
}

static u32 nr_held(const struct recording *r)
{
	return r->seen < r->cap ? (u32)r->seen : r->cap;
}

/* The @i-th of those held, oldest first. */
static struct recorded_event *held(struct recording *r, u32 i)
{
	u64 first = r->seen - nr_held(r);

	return &r->held[(first + i) % r->cap];
}

static bool is_moment(const struct recording_choice *c, u64 time_ps)
{
	u32 i;

	for (i = 0; i < c->nr_moments; i++)
		if (c->moment_ps[i] == time_ps)
			return true;
	return false;
}

/* Show up to @budget events that are not shown yet and that @wanted is true of. */
static u32 show(struct recording *r, const struct recording_choice *c, u32 budget,
		bool (*wanted)(const struct recording_choice *c, const struct recorded_event *e))
{
	u32 i, n = nr_held(r);

	for (i = 0; i < n && budget; i++) {
		struct recorded_event *e = held(r, i);

		if (e->mark & RECORDED_SHOWN || !wanted(c, e))
			continue;
		e->mark |= RECORDED_SHOWN;
		budget--;
	}
	return budget;
}

static bool is_of_verdict(const struct recording_choice *c, const struct recorded_event *e)
{
	(void)c;
	return e->mark & RECORDED_OF_VERDICT;
}

static bool is_of_io(const struct recording_choice *c, const struct recorded_event *e)
{
	return c->io_id && e->ev.io_id == c->io_id;
}

/* Loads are the many that wait for something. */
static bool is_of_attack(const struct recording_choice *c, const struct recorded_event *e)
{
	(void)c;
	return e->mark & RECORDED_IN_ATTACK && e->ev.kind != TRACE_CPU_LOAD;
}

static bool is_load_of_attack(const struct recording_choice *c, const struct recorded_event *e)
{
	(void)c;
	return e->mark & RECORDED_IN_ATTACK;
}

/* What led to the verdict: the last few events of the attack before the first that it is of. */
static u32 show_before(struct recording *r, u32 budget)
{
	u32 i, back, n = nr_held(r);

	for (i = 0; i < n && !(held(r, i)->mark & RECORDED_OF_VERDICT); i++)
		;
	for (back = 0; i < n && i-- > 0 && back < BEFORE && budget; ) {
		struct recorded_event *e = held(r, i);

		if (!is_of_attack(NULL, e) || e->mark & RECORDED_SHOWN)
			continue;
		e->mark |= RECORDED_SHOWN;
		back++;
		budget--;
	}
	return budget;
}

static void mark(struct recording *r, const struct recording_choice *c)
{
	u32 i, n = nr_held(r), budget = RECORDING_SHOWN;

	for (i = 0; i < n; i++)
		if (is_moment(c, held(r, i)->ev.time_ps))
			held(r, i)->mark |= RECORDED_OF_VERDICT;
	budget -= RECORDING_SHOWN / 3 - show(r, c, RECORDING_SHOWN / 3, is_of_verdict);
	budget = show_before(r, budget);
	budget -= RECORDING_SHOWN / 3 - show(r, c, RECORDING_SHOWN / 3, is_of_io);
	budget = show(r, c, budget, is_of_attack);
	show(r, c, budget, is_load_of_attack);
}

/* Where more are held than wanted: those from a little before the attack on; what is shown is always there. */
u32 recording_choose(struct recording *r, const struct recording_choice *c)
{
	u32 n = nr_held(r), first = 0, i, shown = 0, plain, nr = 0;

	mark(r, c);
	for (i = 0; i < n; i++)
		shown += (held(r, i)->mark & RECORDED_SHOWN) != 0;
	plain = c->max > shown ? c->max - shown : 0;
	if (n > c->max) {
		while (first < n && !(held(r, first)->mark & RECORDED_IN_ATTACK))
			first++;
		first = first == n ? n - plain : first > plain / 8 ? first - plain / 8 : 0;
	}
	r->chosen = malloc((shown + plain + 1) * sizeof(*r->chosen));
	if (!r->chosen)
		return 0;
	for (i = 0; i < n; i++) {
		struct recorded_event *e = held(r, i);

		if (e->mark & RECORDED_SHOWN)
			r->chosen[nr++] = *e;
		else if (i >= first && plain && plain--)
			r->chosen[nr++] = *e;
	}
	return nr;
}

const struct recorded_event *recording_events(const struct recording *r)
{
	return r->chosen;
}

u64 recording_seen(const struct recording *r)
{
	return r->seen;
}

u64 recording_in_attack(const struct recording *r)
{
	return r->in_attack;
}
