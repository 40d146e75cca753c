// SPDX-License-Identifier: GPL-2.0
#include "report/view_internal.h"
#include "spec/nvme.h"
#include "store.h"
#include "vm/vm.h"

#include <stdlib.h>
#include <string.h>

#define QUEUES		512u
#define STEPS_MAX	(1u << 20)

static u64 mixed(u64 h, u64 v)
{
	u64 state = h ^ v;

	return rng_splitmix(&state);
}

static bool is_seen(const struct view *v, u64 vm)
{
	return vm < MACHINE_VMS_MAX && (v->vms >> vm & 1);
}

/* What is short stands for itself. */
static u64 value_of(struct view *v, const void *data, size_t len)
{
	u64 val = 0;

	if (len <= sizeof(val)) {
		memcpy(&val, data, len);
		return val;
	}
	digest_reset(&v->scratch);
	digest_bytes(&v->scratch, data, len);
	return digest_final(&v->scratch);
}

static struct view_channel *channel_of(struct view *v, u32 vm, enum view_kind kind, u64 at)
{
	struct view_place place = { vm, kind, at };
	struct view_channel *c;

	HASH_FIND(hh, v->channels, &place, sizeof(place), c);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c) {
		v->failed = true;
		return NULL;
	}
	c->place = place;
	HASH_ADD(hh, v->channels, place, sizeof(c->place), c);
	return c;
}

static bool grow(void *array, u32 *cap, size_t size)
{
	u32 more = *cap ? 4 * *cap : 4;
	void **p = array, *bigger = realloc(*p, more * size);

	if (!bigger)
		return false;
	*p = bigger;
	*cap = more;
	return true;
}

static void mark(struct view *v, struct view_mark **set, u64 hash)
{
	struct view_mark *k;

	HASH_FIND(hh, *set, &hash, sizeof(hash), k);
	if (k)
		return;
	k = malloc(sizeof(*k));
	if (!k) {
		v->failed = true;
		return;
	}
	k->hash = hash;
	HASH_ADD(hh, *set, hash, sizeof(k->hash), k);
}

static void forget(struct view_mark **set)
{
	struct view_mark *k, *tmp;

	HASH_ITER(hh, *set, k, tmp) {
		HASH_DEL(*set, k);
		free(k);
	}
}

/* Something other than a completion, or content. */
static void came(struct view *v, enum view_kind kind, u64 at, u64 value)
{
	mark(v, &v->came, mixed(mixed(mixed(0, kind), at), value));
}

/* Data that came: what in it is not zeros, and was not theirs. */
static void data_came(struct view *v, const u8 *data, u64 len)
{
	static const u8 zeros[STORE_SECTOR_SIZE];
	u64 at, hash;

	for (at = 0; at + sizeof(zeros) <= len; at += sizeof(zeros)) {
		struct view_mark *own;

		if (memcmp(data + at, zeros, sizeof(zeros)) == 0)
			continue;
		hash = value_of(v, data + at, sizeof(zeros));
		HASH_FIND(hh, v->sent, &hash, sizeof(hash), own);
		if (!own)
			came(v, VIEW_MEMORY, 0, hash);
	}
}

/* @each: every time counts; else only another value than before. */
static void see(struct view *v, u32 vm, enum view_kind kind, u64 at, u64 value, u32 len, bool each)
{
	struct view_channel *c = channel_of(v, vm, kind, at);
	const struct view_seen *last;

	if (!c)
		return;
	last = c->nr ? &c->seen[c->nr - 1] : NULL;
	if (!each && last && last->value == value && last->len == len)
		return;
	if (c->nr == c->cap && !grow(&c->seen, &c->cap, sizeof(*c->seen))) {
		v->failed = true;
		return;
	}
	c->seen[c->nr++] = (struct view_seen){ value, v->seq++, sched_now(v->m->sched) - v->acted_ps[vm], len };
}

/* NULL: of the host's own, or of a VM that is gone. */
static const struct gvcpu *vcpu_of(const struct view *v, u64 vcpu)
{
	return vcpu < MACHINE_VCPUS_MAX ? v->m->gvcpus[vcpu] : NULL;
}

/* The VM whose memory that is, and where in it; NULL: nobody's. */
static const struct port_vm *ram_of(const struct view *v, u64 hpa, u64 *gpa)
{
	u32 i, k;

	for (i = 0; i < MACHINE_VMS_MAX; i++) {
		const struct port_vm *vm = v->m->vms[i];

		for (k = 0; vm && k < vm->nr_ram; k++)
			if (hpa >= vm->ram[k].hpa.v && hpa - vm->ram[k].hpa.v < vm->ram[k].len_bytes) {
				*gpa = vm->ram[k].gpa.v + (hpa - vm->ram[k].hpa.v);
				return vm;
			}
	}
	return NULL;
}

static void dma(struct view *v, const struct trace_event *ev)
{
	bool write = ev->a >> 16 & 1;
	u64 gpa, at;
	const struct port_vm *vm = ram_of(v, ev->c, &gpa);

	/* The link's requests are of a page at most. */
	if (!vm || ev->d > sizeof(v->buf))
		return;
	store_read(v->m->memory, ev->c, v->buf, ev->d);
	if (is_seen(v, vm->cfg.id) && write) {
		see(v, vm->cfg.id, VIEW_MEMORY, gpa, value_of(v, v->buf, ev->d), (u32)ev->d, true);
		data_came(v, v->buf, ev->d);
		return;
	}
	/* In whatever order, and wherever. */
	for (at = 0; at + STORE_SECTOR_SIZE <= ev->d; at += STORE_SECTOR_SIZE) {
		u64 hash = value_of(v, v->buf + at, STORE_SECTOR_SIZE);

		if (is_seen(v, vm->cfg.id))
			mark(v, &v->sent, hash);
		else
			v->data += hash;
	}
}

/* Of an entry what does not follow from the order in which commands end: no SQHD, CID, phase. */
static void completion_came(struct view *v, const u8 entry[16])
{
	struct nvme_cqe cqe;

	memcpy(&cqe, entry, sizeof(cqe));
	came(v, VIEW_COMPLETION, 0, (u64)cqe.dw1 << 32 | cqe.dw0);
	came(v, VIEW_COMPLETION, 8, (u64)cqe.sqid << 16 | (u16)(cqe.status >> 1));
}

/* Is there a CQ in the VM's CMB? */
static bool is_cq(u64 gpa)
{
	u64 in_slot = (gpa - VM_CMB_GPA - LIOV_CMB_SLOTS) % LIOV_CMB_SLOT_STRIDE;

	return gpa >= VM_CMB_GPA + LIOV_CMB_SLOTS && gpa - VM_CMB_GPA < LIOV_CMB_SIZE_MIN && in_slot >= LIOV_SLOT_CQ &&
	       in_slot < LIOV_SLOT_CQ + LIOV_QUEUE_DEPTH_MAX * sizeof(struct nvme_cqe);
}

/* Whoever looks at an entry could have all of it. */
static void completion(struct view *v, const struct trace_event *ev, u32 vm)
{
	u8 entry[sizeof(struct nvme_cqe)];
	u32 i;

	store_read(v->m->memory, ev->c & ~15ull, entry, sizeof(entry));
	for (i = 0; i < sizeof(entry); i += 8)
		see(v, vm, VIEW_COMPLETION, (ev->b & ~15ull) + i, value_of(v, entry + i, 8), 8, false);
	completion_came(v, entry);
}

static void load(struct view *v, const struct trace_event *ev)
{
	const struct gvcpu *gv = vcpu_of(v, ev->a);
	u64 gpa, value;
	u32 vm;

	if (!gv || !is_seen(v, gv->vm->cfg.id) || ram_of(v, ev->c, &gpa) == gv->vm)
		return;
	vm = gv->vm->cfg.id;
	if (is_cq(ev->b) && ev->data_len <= sizeof(struct nvme_cqe) && bus_is_ram(&v->m->bus, (hpa_t){ ev->c }, ev->data_len)) {
		completion(v, ev, vm);
		return;
	}
	value = value_of(v, ev->data, ev->data_len);
	see(v, vm, VIEW_LOAD, ev->b, value, ev->data_len, false);
	came(v, VIEW_LOAD, ev->b, value);
}

/* New frames: what is in them that is not zeros. */
static void frames(struct view *v, const struct trace_event *ev)
{
	u32 vm = (u32)ev->c;

	if (!ev->d)
		return;
	if (!is_seen(v, vm)) {
		v->frames = mixed(mixed(v->frames, ev->a), ev->b);
		return;
	}
	digest_reset(&v->scratch);
	store_digest_range(v->m->memory, ev->a, ev->b, &v->scratch);
	see(v, vm, VIEW_FRAMES, 0, digest_final(&v->scratch), (u32)(ev->b >> SPEC_PAGE_SHIFT), true);
	came(v, VIEW_FRAMES, 0, digest_final(&v->scratch));
}

/* The first time: later it has what the VM itself wrote. */
static void page(struct view *v, const struct trace_event *ev)
{
	struct view_channel *c;

	if (!is_seen(v, ev->a) || !bus_is_ram(&v->m->bus, (hpa_t){ ev->c }, sizeof(v->buf)))
		return;
	c = channel_of(v, (u32)ev->a, VIEW_PAGE, ev->b);
	if (!c || c->nr)
		return;
	store_read(v->m->memory, ev->c, v->buf, sizeof(v->buf));
	see(v, (u32)ev->a, VIEW_PAGE, ev->b, value_of(v, v->buf, sizeof(v->buf)), sizeof(v->buf), true);
	if (!is_cq(VM_CMB_GPA + ev->b))
		came(v, VIEW_PAGE, ev->b, c->seen[0].value);
}

static void media(struct view *v, const struct trace_event *ev)
{
	u32 vm = ev->a < QUEUES ? v->queue_owner[ev->a] : SIM_OWNER_NONE;

	if (vm < MACHINE_VMS_MAX && !is_seen(v, vm))
		v->accesses = mixed(mixed(v->accesses, ev->b), ev->c - v->lba_start[vm]);
}

static u32 whose(const struct view *v, const struct trace_event *ev)
{
	u64 qid = ev->io_id >> 48;

	switch (ev->kind) {
	case TRACE_CPU_STORE: case TRACE_CPU_LOAD: case TRACE_VCPU_EXIT: case TRACE_EPT_VIOLATION: case TRACE_IRQ_ACCEPT:
		return vcpu_of(v, ev->a) ? vcpu_of(v, ev->a)->vm->cfg.id : SIM_OWNER_NONE;
	case SIM_TRACE_ANSWER: case SIM_TRACE_WROTE:
		return (u32)ev->a;
	default:
		return qid && qid < QUEUES ? v->queue_owner[qid] : SIM_OWNER_NONE;
	}
}

static void step(struct view *v, const struct trace_event *ev, u32 vm)
{
	if (v->nr_steps == STEPS_MAX)
		return;
	if (v->nr_steps == v->cap_steps && !grow(&v->step, &v->cap_steps, sizeof(*v->step))) {
		v->failed = true;
		return;
	}
	v->step[v->nr_steps++] = (struct view_step){ ev->time_ps - v->acted_ps[vm], ev->kind, vm };
	if (ev->kind == TRACE_CPU_STORE || ev->kind == TRACE_VCPU_EXIT)
		v->acted_ps[vm] = ev->time_ps;
}

static void view_event(void *opaque, const struct trace_event *ev)
{
	struct view *v = opaque;
	u32 vm = whose(v, ev);

	if (is_seen(v, vm))
		step(v, ev, vm);
	switch (ev->kind) {
	case TRACE_DMA: dma(v, ev); break;
	case TRACE_CPU_LOAD: load(v, ev); break;
	case TRACE_MEDIA: media(v, ev); break;
	case TRACE_IRQ_ACCEPT:
		if (!is_seen(v, vm))
			break;
		came(v, VIEW_INTERRUPT, (u64)vcpu_of(v, ev->a)->index, ev->b);
		see(v, vm, VIEW_INTERRUPT, (u64)vcpu_of(v, ev->a)->index << 8 | ev->b, ev->b, 1, true);
		break;
	case TRACE_CQE:
		if (is_seen(v, vm))
			came(v, VIEW_COMPLETION, 16, ev->c);	/* whether or not somebody looks */
		break;
	case SIM_TRACE_ANSWER:
		if (!is_seen(v, vm))
			break;
		came(v, VIEW_REGISTER, ev->b, ev->c);
		see(v, vm, ev->d >> 8 ? VIEW_CONFIG : VIEW_REGISTER, ev->b, ev->c, ev->d & 0xFF, false);
		break;
	case SIM_TRACE_WROTE:
		if (!is_seen(v, vm))
			break;
		see(v, vm, VIEW_MEMORY, ev->b, value_of(v, ev->data, ev->data_len), ev->data_len, true);
		data_came(v, ev->data, ev->data_len);
		if (ev->data_len == sizeof(struct nvme_cqe))
			completion_came(v, ev->data);
		break;
	case SIM_TRACE_FRAMES: frames(v, ev); break;
	case SIM_TRACE_PAGE: page(v, ev); break;
	case SIM_TRACE_VM:
		if (ev->b)
			v->lba_start[ev->a] = ev->c;
		if (ev->b && !is_seen(v, ev->a))
			v->blocks = mixed(mixed(v->blocks, ev->c), ev->d);
		break;
	case SIM_TRACE_QUEUE:
		if (ev->b < QUEUES)
			v->queue_owner[ev->b] = ev->c ? (u32)ev->a : SIM_OWNER_NONE;
		break;
	default:
		break;
	}
}

struct view *view_new(u64 vms)
{
	struct view *v = calloc(1, sizeof(*v));
	u32 i;

	if (!v || digest_init(&v->scratch)) {
		free(v);
		return NULL;
	}
	v->vms = vms;
	for (i = 0; i < QUEUES; i++)
		v->queue_owner[i] = SIM_OWNER_NONE;
	return v;
}

void view_attach(struct view *v, struct machine *m)
{
	u64 all[2] = { ~0ull, ~0ull };

	v->m = m;
	machine_listen(m, all, view_event, v);
}

void view_free(struct view *v)
{
	struct view_channel *c, *tmp;

	if (!v)
		return;
	HASH_ITER(hh, v->channels, c, tmp) {
		HASH_DEL(v->channels, c);
		free(c->seen);
		free(c);
	}
	forget(&v->sent);
	forget(&v->came);
	free(v->step);
	digest_fini(&v->scratch);
	free(v);
}
