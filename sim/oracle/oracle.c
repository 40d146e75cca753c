// SPDX-License-Identifier: GPL-2.0
#include "oracle/oracle.h"
#include "oracle/residue.h"
#include "pci/pci.h"
#include "spec/nvme.h"
#include "store.h"
#include "worldtrace.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 512ull
#define CHUNK 32768ull		/* blocks */
#define QUEUES_MAX 512
#define PAGE_HINTS 256
#define OTHERS_MAX 8

/* Owner of a range of frames; ranges in ascending order. What is not listed is free. */
struct owned {
	u64 start, len;
	u32 owner;
};

struct oracle {
	struct oracle_world w;
	struct owned *frames;
	u32 nr_frames, cap_frames;
	u32 last;			/* frames[] index of the last hit */
	u32 queue_owner[QUEUES_MAX];
	bool host_made[QUEUES_MAX];	/* the host says that it has a queue of this number */
	struct { u32 rid, vm; } other[OTHERS_MAX];	/* functions beside the SSD */
	u32 nr_others;
	struct { u64 start, count; bool live; } lba[ORACLE_VMS_MAX];
	u64 *written;			/* bit a block: written by who owns it now */
	bool *any_written;		/* of each CHUNK of them; other parts of the bitmap have no memory yet */
	u64 msi_time;
	u32 msi_vector;
	bool msi_seen;
	struct page_owner *pages;	/* queue pages mapped into VMs */
	u32 nr_pages, cap_pages;
	struct residue *residue;	/* in those */
	u32 page_hint[PAGE_HINTS];	/* where in pages[] a page was found last */
	u64 count;
	struct oracle_violation kept[ORACLE_KEEP];
};

/* A host page that a VM may reach by its CPU: last VM it was mapped into wins, another's access is a violation. */
struct page_owner {
	u64 hpa;
	u64 off;			/* in that VM's CMB */
	u32 vm;
};

static const char *const claim_names[ORACLE_CLAIMS] = {
	[ORACLE_LBA] = "lba", [ORACLE_FRAME] = "frame", [ORACLE_HOST_MEMORY] = "host-memory", [ORACLE_CPU] = "cpu",
	[ORACLE_DOORBELL] = "doorbell", [ORACLE_VECTOR] = "vector", [ORACLE_REMANENCE] = "remanence",
	[ORACLE_OVERLAP] = "overlap", [ORACLE_ADMIN] = "admin",
};

const char *oracle_claim_name(enum oracle_claim c)
{
	return c < ORACLE_CLAIMS ? claim_names[c] : "?";
}

static const char *owner_text(u32 owner, char buf[16])
{
	if (owner == SIM_OWNER_HOST)
		return "the host";
	if (owner == SIM_OWNER_NONE)
		return "nobody";
	snprintf(buf, 16, "VM %u", owner);
	return buf;
}

static void violation(struct oracle *o, const struct trace_event *ev, enum oracle_claim claim, u32 by, u32 victim,
		      const char *what, u64 a, u64 len)
{
	struct oracle_violation v = { .claim = claim, .time_ps = ev->time_ps, .io_id = ev->io_id, .by = by, .victim = victim };
	char who[16], whose[16];

	snprintf(v.what, sizeof(v.what), "%s: %s 0x%llx + 0x%llx of %s", owner_text(by, who), what, (unsigned long long)a,
		 (unsigned long long)len, owner_text(victim, whose));
	if (o->count < ORACLE_KEEP)
		o->kept[o->count] = v;
	o->count++;
	if (o->w.violated)
		o->w.violated(o->w.opaque, &v);
}

/* --- frames --- */

static u32 frames_lower(const struct oracle *o, u64 addr)
{
	u32 lo = 0, hi = o->nr_frames;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (o->frames[mid].start + o->frames[mid].len <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static u32 frame_owner(struct oracle *o, u64 addr)
{
	const struct owned *r = &o->frames[o->last];
	u32 i;

	if (o->last < o->nr_frames && addr >= r->start && addr - r->start < r->len)
		return r->owner;
	i = frames_lower(o, addr);
	if (i == o->nr_frames || addr < o->frames[i].start)
		return SIM_OWNER_NONE;
	o->last = i;
	return o->frames[i].owner;
}

static void frames_insert(struct oracle *o, u32 i, struct owned r)
{
	if (o->nr_frames == o->cap_frames) {
		o->cap_frames = o->cap_frames ? o->cap_frames * 2 : 1024;
		o->frames = realloc(o->frames, o->cap_frames * sizeof(*o->frames));
		assert(o->frames);
	}
	memmove(&o->frames[i + 1], &o->frames[i], (o->nr_frames - i) * sizeof(o->frames[0]));
	o->frames[i] = r;
	o->nr_frames++;
}

static void frames_taken(struct oracle *o, const struct trace_event *ev)
{
	u32 i = frames_lower(o, ev->a);

	if (i < o->nr_frames && o->frames[i].start < ev->a + ev->b) {
		violation(o, ev, ORACLE_OVERLAP, (u32)ev->c, o->frames[i].owner, "is given frames", ev->a, ev->b);
		return;
	}
	/* Side by side and of one owner is one range: tables are taken page by page. */
	if (i > 0 && o->frames[i - 1].owner == ev->c && o->frames[i - 1].start + o->frames[i - 1].len == ev->a)
		o->frames[i - 1].len += ev->b;
	else
		frames_insert(o, i, (struct owned){ ev->a, ev->b, (u32)ev->c });
}

static void pages_forget(struct oracle *o, u64 start, u64 len)
{
	u32 i, n = 0;

	for (i = 0; i < o->nr_pages; i++)
		if (o->pages[i].hpa < start || o->pages[i].hpa - start >= len)
			o->pages[n++] = o->pages[i];
	o->nr_pages = n;
}

/* The whole of a range, or a part of one. */
static void frames_freed(struct oracle *o, const struct trace_event *ev)
{
	u32 i = frames_lower(o, ev->a);
	struct owned r;

	pages_forget(o, ev->a, ev->b);
	o->last = 0;
	if (i == o->nr_frames || o->frames[i].start > ev->a || ev->a + ev->b > o->frames[i].start + o->frames[i].len)
		return;
	r = o->frames[i];
	memmove(&o->frames[i], &o->frames[i + 1], (o->nr_frames - i - 1) * sizeof(o->frames[0]));
	o->nr_frames--;
	if (ev->a + ev->b < r.start + r.len)
		frames_insert(o, i, (struct owned){ ev->a + ev->b, r.start + r.len - ev->a - ev->b, r.owner });
	if (r.start < ev->a)
		frames_insert(o, i, (struct owned){ r.start, ev->a - r.start, r.owner });
}

/* --- blocks --- */

static u32 block_owner(const struct oracle *o, u64 lba)
{
	u32 i;

	for (i = 0; i < ORACLE_VMS_MAX; i++)
		if (o->lba[i].live && lba >= o->lba[i].start && lba - o->lba[i].start < o->lba[i].count)
			return i;
	return SIM_OWNER_HOST;
}

static void vm_changed(struct oracle *o, const struct trace_event *ev)
{
	u32 vm = (u32)ev->a, i;

	if (!ev->b) {
		o->lba[vm].live = false;
		for (i = 0; i < QUEUES_MAX; i++)
			if (o->queue_owner[i] == vm)
				o->queue_owner[i] = SIM_OWNER_NONE;
		return;
	}
	for (i = 0; i < ORACLE_VMS_MAX; i++)
		if (i != vm && o->lba[i].live && ev->c < o->lba[i].start + o->lba[i].count && o->lba[i].start < ev->c + ev->d)
			violation(o, ev, ORACLE_OVERLAP, vm, i, "is given blocks", ev->c, ev->d);
	o->lba[vm].start = ev->c;
	o->lba[vm].count = ev->d;
	o->lba[vm].live = true;
	/* What the host wrote while it prepared them does not count as the VM's own. */
	for (u64 b = ev->c; b < ev->c + ev->d && b < o->w.blocks; b++) {
		if (o->any_written[b / CHUNK])
			o->written[b >> 6] &= ~(1ull << (b & 63));
		else
			b |= CHUNK - 1;
	}
}

static void queue_changed(struct oracle *o, const struct trace_event *ev)
{
	u32 qid = (u32)ev->b, vm = (u32)ev->a;

	if (qid >= QUEUES_MAX)
		return;
	if (ev->c && o->queue_owner[qid] != vm && o->queue_owner[qid] < ORACLE_VMS_MAX)
		violation(o, ev, ORACLE_OVERLAP, vm, o->queue_owner[qid], "is given hardware queue", qid, 1);
	o->host_made[qid] = ev->c && vm == SIM_OWNER_HOST;
	o->queue_owner[qid] = ev->c ? vm : SIM_OWNER_NONE;
}

u32 oracle_queue_owner(const struct oracle *o, u32 qid)
{
	return qid < QUEUES_MAX ? o->queue_owner[qid] : SIM_OWNER_NONE;
}

bool oracle_block_unwritten(const struct oracle *o, u64 lba)
{
	return lba < o->w.blocks && !((o->written[lba >> 6] >> (lba & 63)) & 1);
}

static bool is_vm(u32 owner)
{
	return owner < ORACLE_VMS_MAX;
}

/* A stale block that is not zero reaches a VM that never wrote it. */
static void check_remanence(struct oracle *o, const struct trace_event *ev, u32 vm)
{
	u64 lba = ev->c, end = lba + ev->d;

	for (; lba < end; lba++) {
		if ((o->written[lba >> 6] >> (lba & 63)) & 1)
			continue;
		if (!store_sector_is(o->w.media, lba * BLOCK, STORE_TAG_ZERO)) {
			violation(o, ev, ORACLE_REMANENCE, vm, SIM_OWNER_NONE, "reads what an earlier owner left in block", lba, 1);
			return;
		}
	}
}

static void media_access(struct oracle *o, const struct trace_event *ev)
{
	u32 vm = oracle_queue_owner(o, (u32)ev->a), i;
	bool read = ev->b == NVME_CMD_READ || ev->b == NVME_CMD_COMPARE;
	u64 b;

	if (ev->a == 0 || !is_vm(vm) || ev->d == 0)
		return;
	/* No sum of the event's: it may wrap (LBA-04). */
	if (!o->lba[vm].live || ev->c < o->lba[vm].start || ev->d > o->lba[vm].count ||
	    ev->c - o->lba[vm].start > o->lba[vm].count - ev->d) {
		u64 first = ev->c >= o->lba[vm].start && ev->c < o->lba[vm].start + o->lba[vm].count ?
			    o->lba[vm].start + o->lba[vm].count : ev->c;

		violation(o, ev, ORACLE_LBA, vm, block_owner(o, first), read ? "reads blocks" : "changes blocks", ev->c, ev->d);
		return;
	}
	if (read) {
		check_remanence(o, ev, vm);
		return;
	}
	for (i = 0, b = ev->c; i < ev->d; i++, b++) {
		o->written[b >> 6] |= 1ull << (b & 63);
		o->any_written[b / CHUNK] = true;
	}
}

/* An entry in a completion queue is for whoever sent the command: a = CQ, b >> 16 = SQ (QD-09). */
static void completion(struct oracle *o, const struct trace_event *ev)
{
	u32 by = oracle_queue_owner(o, (u32)(ev->b >> 16) & 0xFFFF), owner = oracle_queue_owner(o, (u32)ev->a);

	if (by != owner && is_vm(by) && is_vm(owner))
		violation(o, ev, ORACLE_FRAME, by, owner, "completes a command into queue", ev->a, 1);
}

/* Who may use the namespace is everybody's affair who has blocks of it: c, d are the namespace's. */
static void reservation(struct oracle *o, const struct trace_event *ev)
{
	u32 vm = oracle_queue_owner(o, (u32)ev->a);

	if (!is_vm(vm) || (o->lba[vm].live && ev->c >= o->lba[vm].start && ev->c + ev->d <= o->lba[vm].start + o->lba[vm].count))
		return;
	violation(o, ev, ORACLE_LBA, vm, block_owner(o, ev->c), "changes the reservation of blocks", ev->c, ev->d);
}

static struct page_owner *page_find(struct oracle *o, u64 hpa)
{
	u32 *hint = &o->page_hint[(hpa >> SPEC_PAGE_SHIFT) % PAGE_HINTS], i;

	if (*hint < o->nr_pages && o->pages[*hint].hpa == hpa)
		return &o->pages[*hint];
	for (i = 0; i < o->nr_pages; i++) {
		if (o->pages[i].hpa == hpa) {
			*hint = i;
			return &o->pages[i];
		}
	}
	return NULL;
}

static void function_assigned(struct oracle *o, const struct trace_event *ev)
{
	assert(o->nr_others < OTHERS_MAX);
	o->other[o->nr_others].rid = (u32)ev->a;
	o->other[o->nr_others++].vm = (u32)ev->b;
}

/* Who made a request: the VM of the command that the SSD works on, or of the function that is all a VM's. */
static u32 requester(const struct oracle *o, u32 rid, u64 io_id)
{
	u32 i;

	for (i = 0; i < o->nr_others; i++)
		if (o->other[i].rid == rid)
			return o->other[i].vm;
	return oracle_queue_owner(o, (u32)(io_id >> 48));
}

/* --- DMA --- */

static void dma(struct oracle *o, const struct trace_event *ev)
{
	const struct page_owner *page;
	bool write = (ev->a >> 16) & 1;
	u32 kind = (ev->a >> 17) & 3, vm, owner;

	if (kind == PCI_DMA_QUEUE && write && is_vm(oracle_queue_owner(o, (u32)(ev->io_id >> 48))))
		residue_touched(o->residue, ev->c, ev->d, oracle_queue_owner(o, (u32)(ev->io_id >> 48)));
	if (kind == PCI_DMA_QUEUE)
		return;		/* entries of queues: the host chose their addresses */
	vm = requester(o, (u32)ev->a & 0xFFFF, ev->io_id);
	if (vm == SIM_OWNER_HOST)
		return;
	owner = frame_owner(o, ev->c);
	if (owner == vm && vm != SIM_OWNER_NONE)
		return;
	page = owner == SIM_OWNER_HOST ? page_find(o, ev->c & ~(SPEC_PAGE_SIZE - 1)) : NULL;
	if (owner == SIM_OWNER_HOST && kind == PCI_DMA_LIST && !write && (!page || page->vm == vm))
		return;		/* lists and payloads that host software prepared; never what is another's queue */
	if (page)
		owner = page->vm;	/* a queue's memory: whose queue it is */
	violation(o, ev, is_vm(owner) ? ORACLE_FRAME : ORACLE_HOST_MEMORY, vm, owner,
		  write ? "the SSD writes memory" : "the SSD reads memory", ev->c, ev->d);
}

/* The SSD's own memory holds queues, and no VM's data: it is given to nobody. */
static void cmb_data(struct oracle *o, const struct trace_event *ev)
{
	u32 vm = oracle_queue_owner(o, (u32)ev->a);

	if (is_vm(vm))
		violation(o, ev, ORACLE_HOST_MEMORY, vm, SIM_OWNER_HOST, ev->b ? "the SSD writes its CMB" : "the SSD reads its CMB", ev->c, ev->d);
}

/* --- processors --- */

/* A queue page of the host's goes to the VM it was last mapped into; the info page is not exclusive, but written by no VM. */
static void page_mapped(struct oracle *o, const struct trace_event *ev)
{
	u64 bar0 = pci_bar_decoded(o->w.ssd, 0);
	struct page_owner *p;

	if (ev->c >= bar0 && ev->c - bar0 < o->w.ssd->cfg.bar[0].size_bytes)
		return;		/* doorbells are judged one by one */
	p = page_find(o, ev->c);
	if (!p) {
		if (o->nr_pages == o->cap_pages) {
			u32 cap = o->cap_pages ? o->cap_pages * 2 : 64;
			struct page_owner *n = realloc(o->pages, cap * sizeof(*n));

			assert(n);
			o->pages = n;
			o->cap_pages = cap;
		}
		p = &o->pages[o->nr_pages++];
		p->hpa = ev->c;
	} else if (p->vm != ev->a && is_vm(p->vm)) {
		/* Of one VM until it was taken from it: the host's answer alone does not make it another's. */
		violation(o, ev, ORACLE_OVERLAP, (u32)ev->a, p->vm, "is given a page of a queue", ev->c, SPEC_PAGE_SIZE);
	}
	p->vm = (u32)ev->a;
	p->off = ev->b;
}

/* The host was asked to take pages from a VM and has: they are the host's alone until it maps them again. */
static void pages_revoked(struct oracle *o, const struct trace_event *ev)
{
	u32 i, n = 0;

	for (i = 0; i < o->nr_pages; i++)
		if (o->pages[i].vm != ev->a || o->pages[i].off < ev->b || o->pages[i].off - ev->b >= ev->c)
			o->pages[n++] = o->pages[i];
	o->nr_pages = n;
}

static void doorbell_rung(struct oracle *o, const struct trace_event *ev, u32 vm, u64 off)
{
	u32 stride = 4u << o->w.dstrd, n = (u32)((off - NVME_REG_DBS) / stride), qid = n / 2;
	u32 owner = qid == 0 ? SIM_OWNER_HOST : oracle_queue_owner(o, qid);

	/* What the stride leaves between two registers is nobody's, and the controller ignores it. */
	if ((off - NVME_REG_DBS) % stride || owner == vm)
		return;
	/* Nor is a queue's that nobody has made (QD-06). */
	if (owner == SIM_OWNER_HOST && qid && (qid >= QUEUES_MAX || !o->host_made[qid]))
		return;
	violation(o, ev, qid == 0 ? ORACLE_ADMIN : ORACLE_DOORBELL, vm, owner,
		  n & 1 ? "rings CQ head doorbell of queue" : "rings SQ tail doorbell of queue", qid, 1);
}

static void cpu_access(struct oracle *o, const struct trace_event *ev, bool store)
{
	struct pci_function *fn = o->w.ssd;
	u64 bar0 = pci_bar_decoded(fn, 0), page = ev->c & ~0xFFFull;
	struct page_owner *p;
	u32 vm, owner;

	vm = o->w.vcpu_vm(o->w.opaque, (u32)ev->a);
	if (vm == SIM_OWNER_NONE || ev->c == ~0ull)
		return;
	if (ev->c >= bar0 && ev->c - bar0 < fn->cfg.bar[0].size_bytes) {
		u64 off = ev->c - bar0;

		if (off < NVME_REG_DBS || off >= fn->cfg.msix_table_off)
			violation(o, ev, ORACLE_CPU, vm, SIM_OWNER_HOST, "reaches a register at", off, ev->d);
		else if (store)
			doorbell_rung(o, ev, vm, off);
		return;
	}
	owner = frame_owner(o, ev->c);
	if (owner == vm)
		return;
	p = page_find(o, page);
	if (owner == SIM_OWNER_HOST && p && p->vm == vm) {
		if (!store && residue_is_stale(o->residue, ev->c, ev->d, vm))
			violation(o, ev, ORACLE_REMANENCE, vm, SIM_OWNER_NONE, "reads what an earlier owner left in its queue's page",
				  ev->c, ev->d);
		residue_touched(o->residue, ev->c, ev->d, vm);
		return;
	}
	violation(o, ev, ORACLE_CPU, vm, p && owner == SIM_OWNER_HOST ? p->vm : owner, store ? "stores to memory" : "loads from memory",
		  ev->c, ev->d);
}

/* --- interrupts --- */

static void msi_sent(struct oracle *o, const struct trace_event *ev)
{
	o->msi_time = ev->time_ps;
	o->msi_vector = (u32)ev->b;
	o->msi_seen = true;
}

static u32 pid_owner(struct oracle *o, u64 pid)
{
	u32 i;

	for (i = 0; i < ORACLE_VCPUS_MAX; i++)
		if (o->w.vcpu_pid(o->w.opaque, i) == pid)
			return o->w.vcpu_vm(o->w.opaque, i);
	/* Of no vCPU, or of one that is gone: whoever has that memory now. */
	i = frame_owner(o, pid);
	return is_vm(i) ? i : SIM_OWNER_NONE;
}

/* An entry was used. By a message of a vector just sent, whose queue is the VM's: right. By anything else: DMA made it. */
static void interrupt(struct oracle *o, const struct trace_event *ev, bool posted)
{
	u32 victim = posted ? pid_owner(o, ev->d) : SIM_OWNER_HOST;
	bool own = o->msi_seen && o->msi_time == ev->time_ps && ev->b == o->w.irte_base + o->msi_vector;
	u32 by = own ? oracle_queue_owner(o, o->msi_vector) : requester(o, (u32)ev->a, ev->io_id);

	o->msi_seen = false;
	/* A queue that is nobody's any more has no right to a descriptor that is nobody's any more. */
	if (own && (!posted || (by == victim && is_vm(by))))
		return;
	/*
	 * Another function's message to a handler of the host's: it looks into the ring whoever calls it, so one
	 * call more is no harm. From the SSD itself a guest's data had become a message: one too many.
	 */
	if (!posted && ev->a != o->w.ssd->cfg.rid && ev->b >= o->w.irte_base && ev->b - o->w.irte_base < o->w.vectors)
		return;
	violation(o, ev, ORACLE_VECTOR, by, victim, own ? "its vector interrupts through entry" : "DMA interrupts through entry", ev->b, 1);
}

/* No entry says whose message that is, and it may name any core: nobody's data may become one. */
static void compat_message(struct oracle *o, const struct trace_event *ev)
{
	violation(o, ev, ORACLE_VECTOR, requester(o, (u32)ev->a, ev->io_id), SIM_OWNER_HOST, "sends a message past the entries,", ev->c, ev->d);
}

void oracle_event(void *opaque, const struct trace_event *ev)
{
	struct oracle *o = opaque;

	switch (ev->kind) {
	case TRACE_MEDIA: media_access(o, ev); break;
	case TRACE_CQE: completion(o, ev); break;
	case TRACE_RESERVATION: reservation(o, ev); break;
	case TRACE_DMA: dma(o, ev); break;
	case TRACE_CMB: cmb_data(o, ev); break;
	case TRACE_CPU_STORE: cpu_access(o, ev, true); break;
	case TRACE_CPU_LOAD: cpu_access(o, ev, false); break;
	case TRACE_MSI: msi_sent(o, ev); break;
	case TRACE_IRTE_POST: interrupt(o, ev, true); break;
	case TRACE_MSI_COMPAT: compat_message(o, ev); break;
	case TRACE_IRTE_REMAP: interrupt(o, ev, false); break;
	case SIM_TRACE_FRAMES:
		if (ev->d)
			frames_taken(o, ev);
		else
			frames_freed(o, ev);
		break;
	case SIM_TRACE_PAGE: page_mapped(o, ev); break;
	case SIM_TRACE_ZEROED: residue_zeroed(o->residue, ev->a, ev->b); break;
	case SIM_TRACE_REVOKED: pages_revoked(o, ev); break;
	case SIM_TRACE_VM: vm_changed(o, ev); break;
	case SIM_TRACE_QUEUE: queue_changed(o, ev); break;
	case SIM_TRACE_FUNCTION: function_assigned(o, ev); break;
	default: break;
	}
}

struct oracle *oracle_create(const struct oracle_world *w, u64 mask[2])
{
	static const u32 kinds[] = { TRACE_MEDIA, TRACE_CQE, TRACE_RESERVATION, TRACE_DMA, TRACE_CPU_STORE, TRACE_CPU_LOAD, TRACE_MSI, TRACE_IRTE_POST,
				     TRACE_MSI_COMPAT, TRACE_CMB,
				     TRACE_IRTE_REMAP, SIM_TRACE_FRAMES, SIM_TRACE_ZEROED, SIM_TRACE_PAGE, SIM_TRACE_REVOKED, SIM_TRACE_VM,
				     SIM_TRACE_QUEUE, SIM_TRACE_FUNCTION };
	struct oracle *o = calloc(1, sizeof(*o));
	u32 i;

	if (!o)
		return NULL;
	o->w = *w;
	o->written = calloc(w->blocks / 64 + 1, sizeof(*o->written));
	o->any_written = calloc(w->blocks / CHUNK + 1, sizeof(*o->any_written));
	o->residue = residue_new();
	if (!o->written || !o->any_written || !o->residue) {
		oracle_free(o);
		return NULL;
	}
	for (i = 0; i < QUEUES_MAX; i++)
		o->queue_owner[i] = SIM_OWNER_HOST;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		mask[kinds[i] >> 6] |= 1ull << (kinds[i] & 63);
	return o;
}

void oracle_free(struct oracle *o)
{
	if (!o)
		return;
	free(o->frames);
	free(o->written);
	free(o->any_written);
	residue_free(o->residue);
	free(o->pages);
	free(o);
}

u64 oracle_count(const struct oracle *o)
{
	return o->count;
}

const struct oracle_violation *oracle_violation(const struct oracle *o, u32 i)
{
	return i < o->count && i < ORACLE_KEEP ? &o->kept[i] : NULL;
}
