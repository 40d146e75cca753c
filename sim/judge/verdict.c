// SPDX-License-Identifier: GPL-2.0
#include "judge/verdict.h"
#include "machine.h"
#include "sites.h"
#include "vm/vm.h"

#include <stdio.h>
#include <stdlib.h>

#define STANDING_MAX 64

/* A range that LightIOV took away from a VM, or wiped for it: what is refused, or reads as zeros, there now is its doing. */
struct standing {
	enum liov_guard guard;
	u32 vm;
	u64 start, len;
};

struct judge {
	struct machine *m;
	struct oracle *o;
	bool open, sister, measured, rejected;
	bool foreign_irq;		/* another function than the SSD has fired an entry */
	bool configuring, tried, accepted, mixed;	/* a configuration: refused, taken, refused by different ones */
	enum verdict_component refused;		/* who refused first since the last attempt */
	u64 zeroed[MACHINE_VMS_MAX];	/* bit: a queue that was zeroed for it */
	u64 nr_seen;			/* pieces of evidence */
	u64 zapped;			/* bit: of VM id, pages are gone that it may have again */
	u32 by;
	u64 violations_before;
	struct standing standing[STANDING_MAX];
	u32 nr_standing;
	struct verdict v;
};

static const char *const kind_names[] = {
	[VERDICT_CONTAINED] = "contained", [VERDICT_ESCAPED] = "ESCAPED", [VERDICT_DEGRADED] = "DEGRADED",
	[VERDICT_OUTAGE] = "OUTAGE", [VERDICT_REJECTED] = "REJECTED", [VERDICT_NA] = "N/A", [VERDICT_INERT] = "INERT",
	[VERDICT_HUNG] = "HUNG", [VERDICT_UNMODELLED] = "UNMODELLED",
};

static const char *const component_names[] = {
	[COMPONENT_NONE] = "-", [COMPONENT_FRONTEND] = "frontend", [COMPONENT_MEDIATOR] = "mediator",
	[COMPONENT_DEVICE] = "device", [COMPONENT_BACKEND] = "backend", [COMPONENT_HOST] = "host", [COMPONENT_EPT] = "ept",
	[COMPONENT_IOMMU] = "iommu", [COMPONENT_IRTE] = "irte", [COMPONENT_PCI] = "pci", [COMPONENT_CONTROLLER] = "controller",
};

const char *verdict_kind_name(enum verdict_kind k)
{
	return kind_names[k];
}

const char *verdict_component_name(enum verdict_component c)
{
	return component_names[c];
}

const char *evidence_kind_name(enum evidence_kind k)
{
	return k == EVIDENCE_REFUSED ? "refused" : k == EVIDENCE_COVERS ? "covered" : "passed";
}

static void add_code(struct judge *j, const char *code)
{
	u32 i;

	if (!j->open)
		return;
	for (i = 0; i < j->v.nr_codes; i++)
		if (strcmp(j->v.code[i], code) == 0)
			return;
	if (j->v.nr_codes < VERDICT_CODES)
		snprintf(j->v.code[j->v.nr_codes++], sizeof(j->v.code[0]), "%s", code);
}

void judge_code(struct judge *j, const char *code)
{
	add_code(j, code);
}

void judge_status(struct judge *j, u16 status)
{
	char code[24];

	snprintf(code, sizeof(code), "nvme:%u/0x%02X", status >> 8 & 7, status & 0xFF);
	add_code(j, code);
}

/* Room for one more piece: when all is full, that of the last which says less. */
static struct evidence *evidence_slot(struct verdict *v, enum evidence_kind kind)
{
	u32 i;

	if (v->nr_evidence < VERDICT_EVIDENCE)
		return &v->evidence[v->nr_evidence++];
	for (i = VERDICT_EVIDENCE; i > 0; i--)
		if (v->evidence[i - 1].kind > kind)
			return &v->evidence[i - 1];
	return NULL;
}

static void add_evidence(struct judge *j, const struct trace_event *ev, enum verdict_component c, enum evidence_kind kind,
			 const char *text, u64 a, u64 b)
{
	struct evidence *e = j->open ? evidence_slot(&j->v, kind) : NULL;

	if (!e)
		return;
	*e = (struct evidence){ .seq = j->nr_seen++, .time_ps = ev->time_ps, .io_id = ev->io_id, .component = c, .kind = kind };
	snprintf(e->text, sizeof(e->text), "%s 0x%llx 0x%llx", text, (unsigned long long)a, (unsigned long long)b);
}

static bool is_attackers_queue(const struct judge *j, u64 qid)
{
	return oracle_queue_owner(j->o, (u32)qid) == j->by;
}

/* Did LightIOV take this away from the attacker, or wipe it? Then its wall stopped it, whatever hardware it is made of. */
static bool guard_stands(const struct judge *j, enum liov_guard guard, u64 addr)
{
	u32 i;

	for (i = 0; i < j->nr_standing && i < STANDING_MAX; i++) {
		const struct standing *r = &j->standing[i];

		if (r->guard == guard && r->vm == j->by && addr >= r->start && addr - r->start < r->len)
			return true;
	}
	return false;
}

static void remember_guard(struct judge *j, const struct trace_event *ev)
{
	/* Of more than there is room for, the latest. */
	j->standing[j->nr_standing++ % STANDING_MAX] =
		(struct standing){ (enum liov_guard)(u32)ev->b, (u32)ev->a, ev->c, ev->d };
}

static bool first_of_queue(struct judge *j, u32 vm, u64 qid)
{
	bool first;

	if (vm >= MACHINE_VMS_MAX)
		return false;
	first = !(j->zeroed[vm] >> (qid & 63) & 1);
	j->zeroed[vm] |= 1ull << (qid & 63);
	return first;
}

static enum evidence_kind guard_kind(u32 guard)
{
	return guard == LIOV_GUARD_OWN_QUEUE || guard == LIOV_GUARD_COPIED ? EVIDENCE_PASSED : EVIDENCE_COVERS;
}

static void liov_event(struct judge *j, const struct trace_event *ev, u32 kind)
{
	static const enum verdict_component components[LIOV_COMPONENTS] = {
		[LIOV_FRONTEND] = COMPONENT_FRONTEND, [LIOV_MEDIATOR] = COMPONENT_MEDIATOR, [LIOV_DEVICE] = COMPONENT_DEVICE,
		[LIOV_BACKEND] = COMPONENT_BACKEND,
	};
	static const char *const guards[] = {
		[LIOV_GUARD_PAGES_REVOKED] = "pages were revoked", [LIOV_GUARD_IOVA_REVOKED] = "mapping was revoked",
		[LIOV_GUARD_LBA_WIPED] = "blocks were wiped", [LIOV_GUARD_COPIED] = "works on a private copy of",
		[LIOV_GUARD_HOME] = "kept from being lost",
		[LIOV_GUARD_QUEUE_QUIET] = "queue was proven quiet", [LIOV_GUARD_OWN_QUEUE] = "is the VM's own virtual doorbell",
		[LIOV_GUARD_CQ_FULL] = "takes nothing while the CQ is full: SQ and CQ",
		[LIOV_GUARD_QUEUE_ZEROED] = "zeroed a new queue",
	};
	u32 component = (u32)(ev->b >> 32), code = (u32)ev->b;

	if (component >= LIOV_COMPONENTS)
		return;
	/* A handler that was called for nothing: it is the victim's, and what it shows is the attacker's interrupt. */
	if (kind == LIOV_TRACE_GUARD && code == LIOV_GUARD_NOTHING_NEW) {
		if (j->foreign_irq)
			add_evidence(j, ev, components[component], EVIDENCE_COVERS, "found nothing new in queue", ev->c, ev->d);
		return;
	}
	if (kind == LIOV_TRACE_GUARD && (code == LIOV_GUARD_IOVA_REVOKED || code == LIOV_GUARD_LBA_WIPED || code == LIOV_GUARD_HOME))
		remember_guard(j, ev);
	/* The controller names nobody; what it tells the host is of the attacker's doing while the span is open. */
	if (kind == LIOV_TRACE_EVENT && (component == LIOV_BACKEND || ev->a == j->by)) {
		char aer[24];

		snprintf(aer, sizeof(aer), "aer:0x%08X", (u32)ev->c);
		add_code(j, aer);
		if (component == LIOV_BACKEND)
			add_evidence(j, ev, COMPONENT_BACKEND, EVIDENCE_COVERS, "kept for itself the controller's event", ev->c, code);
	}
	/* A new owner's queue, not one that its owner makes again. */
	if (kind == LIOV_TRACE_GUARD && code == LIOV_GUARD_QUEUE_ZEROED && !first_of_queue(j, (u32)ev->a, ev->c))
		return;
	if (ev->a != j->by && !j->configuring)
		return;
	if (kind == LIOV_TRACE_DENY) {
		if (!j->refused)
			j->refused = components[component];
		add_evidence(j, ev, components[component], EVIDENCE_REFUSED, "refused", ev->c, ev->d);
		if (code)
			judge_status(j, (u16)(code & 0x7FF));
	} else if (kind == LIOV_TRACE_GUARD && code < sizeof(guards) / sizeof(guards[0])) {
		add_evidence(j, ev, components[component], guard_kind(code), guards[code], ev->c, ev->d);
	} else if (kind == LIOV_TRACE_EMULATED) {
		add_evidence(j, ev, components[component], EVIDENCE_PASSED, "answered in software, opcode", ev->c, ev->d);
		judge_status(j, (u16)(code & 0x7FF));
	}
}

/* Was it a command of somebody else's that ran into it? Then it is no answer to the attacker. */
static bool is_anothers(const struct judge *j, u64 io_id)
{
	u32 owner = oracle_queue_owner(j->o, (u32)(io_id >> 48));

	return io_id && owner != j->by && owner != SIM_OWNER_NONE;
}

static void fault_event(struct judge *j, const struct trace_event *ev)
{
	bool irte = ev->kind == TRACE_IRTE_FAULT;
	char code[24];

	if (is_anothers(j, ev->io_id))
		return;
	snprintf(code, sizeof(code), "vtd:0x%02X", (u32)ev->c & 0xFF);
	add_code(j, code);
	if (irte && ev->b == VTD_NO_INDEX)	/* no interrupt request at all (3.14) */
		add_evidence(j, ev, COMPONENT_IOMMU, EVIDENCE_REFUSED, "took for no interrupt, address and reason", ev->d, ev->c);
	else if (irte)
		add_evidence(j, ev, COMPONENT_IRTE, EVIDENCE_REFUSED, "blocked interrupt, index and reason", ev->b, ev->c);
	else if (guard_stands(j, LIOV_GUARD_HOME, ev->b))
		add_evidence(j, ev, COMPONENT_BACKEND, EVIDENCE_REFUSED, "had mapped no more than was there; DMA blocked at", ev->b, ev->c);
	else if (guard_stands(j, LIOV_GUARD_IOVA_REVOKED, ev->b))
		add_evidence(j, ev, COMPONENT_BACKEND, EVIDENCE_REFUSED, "had unmapped and synced; DMA blocked at", ev->b, ev->c);
	else
		add_evidence(j, ev, COMPONENT_IOMMU, EVIDENCE_REFUSED, "blocked DMA, address and reason", ev->b, ev->c);
}

static void violation_event(struct judge *j, const struct trace_event *ev)
{
	struct gvcpu *gv = ev->a < MACHINE_VCPUS_MAX ? j->m->gvcpus[ev->a] : NULL;

	if (!gv || gv->vm->cfg.id != j->by)
		return;
	add_code(j, ev->c & EPT_ACCESS_W ? "ept:violation-w" : ev->c & EPT_ACCESS_X ? "ept:violation-x" : "ept:violation-r");
}

static void cqe_event(struct judge *j, const struct trace_event *ev)
{
	if (is_attackers_queue(j, ev->b >> 16 & 0xFFFF))
		judge_status(j, (u16)(ev->c & 0x7FF));
}

/* The attacker reads a block of its own that it never wrote: what it sees there is what the wipe left. */
static void media_event(struct judge *j, const struct trace_event *ev)
{
	if (ev->b == NVME_CMD_READ && is_attackers_queue(j, ev->a) && guard_stands(j, LIOV_GUARD_LBA_WIPED, ev->c) &&
	    oracle_block_unwritten(j->o, ev->c))
		add_evidence(j, ev, COMPONENT_BACKEND, EVIDENCE_COVERS, "had wiped block", ev->c, ev->d);
}

/* What the controller says of a queue: of the attacker's it is evidence. */
static void queue_event(struct judge *j, const struct trace_event *ev)
{
	if (!is_attackers_queue(j, ev->a))
		return;
	switch (ev->kind) {
	case TRACE_CMD_REFUSED:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_REFUSED, "refused command, status and opcode", ev->c, ev->d);
		break;
	case TRACE_CID_TWICE:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_PASSED, "keeps commands apart that have one identifier: SQ and CID", ev->a, ev->b);
		break;
	case TRACE_PRP_LIST:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_PASSED, "walked a list no further than the data: CID and pages", ev->b, ev->c);
		break;
	case TRACE_READ_STOPPED:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_COVERS, "sent no more than it could read: CID and bytes", ev->b, ev->c);
		break;
	case TRACE_CQ_FULL:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_COVERS, "fetches nothing while the CQ is full: SQ and CQ", ev->a, ev->b);
		break;
	default:	/* of anybody else's blocks it would be a violation */
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_PASSED, "changed the reservation of its own namespace, blocks", ev->c, ev->d);
	}
}

static void judge_event(void *opaque, const struct trace_event *ev)
{
	struct judge *j = opaque;
	char code[24];

	if (ev->kind >= SIM_TRACE_LIOV && ev->kind < SIM_TRACE_END) {
		liov_event(j, ev, ev->kind - SIM_TRACE_LIOV);
		return;
	}
	if (ev->kind == SIM_TRACE_ZAPPED)
		j->zapped |= 1ull << ev->a;
	if (!j->open)
		return;
	switch (ev->kind) {
	case TRACE_CMD_REFUSED:
	case TRACE_CID_TWICE:
	case TRACE_PRP_LIST:
	case TRACE_READ_STOPPED:
	case TRACE_CQ_FULL:
	case TRACE_RESERVATION:
		queue_event(j, ev);
		break;
	case TRACE_DOORBELL_BAD:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_REFUSED, "ignored doorbell, offset and value", ev->a, ev->b);
		snprintf(code, sizeof(code), "aer:0x%08X", (u32)ev->c);
		add_code(j, code);
		break;
	case TRACE_DOORBELL_SHAPE:
		add_evidence(j, ev, COMPONENT_CONTROLLER, EVIDENCE_REFUSED, "ignored access to a doorbell, offset and length", ev->a, ev->c);
		break;
	case TRACE_CQE:
		cqe_event(j, ev);
		break;
	case TRACE_MEDIA:
		media_event(j, ev);
		break;
	case TRACE_VTD_IQE:
		add_code(j, "vtd:iqe");
		add_evidence(j, ev, COMPONENT_IOMMU, EVIDENCE_REFUSED, "stopped the invalidation queue, reason and head", ev->a, ev->b);
		break;
	case TRACE_IRTE_REMAP:
		if ((ev->a & 0xFFFF) != MACHINE_SSD_RID)
			j->foreign_irq = true;
		break;
	case TRACE_CFS:
		add_code(j, "csts:cfs");
		break;
	case TRACE_DMA_NO_TARGET:
		if (!is_anothers(j, ev->io_id))
			add_evidence(j, ev, COMPONENT_PCI, EVIDENCE_REFUSED, "no target for DMA at", ev->b, ev->d);
		break;
	case TRACE_VTD_FAULT:
	case TRACE_IRTE_FAULT:
		fault_event(j, ev);
		break;
	case TRACE_EPT_VIOLATION:
		violation_event(j, ev);
		break;
	case SIM_TRACE_PAGE:
		if (ev->a == j->by && (j->zapped >> ev->a & 1))
			add_evidence(j, ev, COMPONENT_BACKEND, EVIDENCE_COVERS, "was answered once more: page", ev->b, ev->c);
		break;
	case SIM_TRACE_NO_SLOT:
		if (ev->a == j->by)
			add_evidence(j, ev, COMPONENT_EPT, EVIDENCE_REFUSED, "is not mapped: guest-physical address", ev->b, 0);
		break;
	default:
		break;
	}
}

struct judge *judge_new(struct machine *m, struct oracle *o)
{
	static const u32 kinds[] = { TRACE_RESERVATION, TRACE_CMD_REFUSED, TRACE_DOORBELL_BAD, TRACE_CQE, TRACE_MEDIA, TRACE_CFS,
				     TRACE_DMA_NO_TARGET, TRACE_VTD_FAULT, TRACE_IRTE_FAULT, TRACE_IRTE_REMAP, TRACE_VTD_IQE, TRACE_EPT_VIOLATION,
				     SIM_TRACE_NO_SLOT, SIM_TRACE_LIOV + LIOV_TRACE_EVENT,
				     SIM_TRACE_LIOV + LIOV_TRACE_DENY, SIM_TRACE_LIOV + LIOV_TRACE_GUARD,
				     TRACE_DOORBELL_SHAPE, TRACE_CQ_FULL, TRACE_CID_TWICE, TRACE_PRP_LIST, TRACE_READ_STOPPED, SIM_TRACE_LIOV + LIOV_TRACE_EMULATED,
				     SIM_TRACE_ZAPPED, SIM_TRACE_PAGE };
	struct judge *j = calloc(1, sizeof(*j));
	u64 mask[2] = { 0 };
	u32 i;

	if (!j)
		return NULL;
	j->m = m;
	j->o = o;
	j->by = SIM_OWNER_NONE;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		trace_mask_add(mask, kinds[i]);
	machine_listen(m, mask, judge_event, j);
	return j;
}

void judge_free(struct judge *j)
{
	free(j);
}

void judge_open(struct judge *j, u32 vm)
{
	if (!j->open && j->v.nr_evidence == 0 && j->v.nr_codes == 0)
		j->violations_before = oracle_count(j->o);
	j->open = true;
	j->by = vm;
	sites_span(true);
}

void judge_close(struct judge *j)
{
	j->open = false;
	j->configuring = false;
	sites_span(false);
}

void judge_measured(struct judge *j, enum verdict_kind kind)
{
	j->measured = true;
	j->v.kind = kind;
}

void judge_sister(struct judge *j)
{
	j->sister = true;
}

void judge_rejected(struct judge *j, enum verdict_component who)
{
	j->rejected = true;
	j->v.component = who;
}

void judge_open_configuration(struct judge *j, bool legal)
{
	judge_open(j, SIM_OWNER_NONE);
	j->configuring = true;
	j->sister = legal;
	j->refused = COMPONENT_NONE;
}

void judge_configured(struct judge *j, bool accepted, enum verdict_component otherwise)
{
	enum verdict_component who = j->refused ? j->refused : otherwise;

	j->refused = COMPONENT_NONE;
	if (!j->configuring)
		return;
	if (accepted) {
		j->accepted = true;
		return;
	}
	if (!j->tried)
		j->v.component = who;
	else if (who != j->v.component)
		j->mixed = true;
	j->tried = true;
}

/* Pieces are not in their order once there were more than there is room for. */
static bool says_more(const struct evidence *a, const struct evidence *b)
{
	return a->kind != b->kind ? a->kind < b->kind : a->seq < b->seq;
}

/* Who acted first on what the attacker did; a refusal says more than a cover, a cover more than who let it pass. */
static const struct evidence *deciding(const struct verdict *v)
{
	const struct evidence *best = NULL;
	u32 i;

	for (i = 0; i < v->nr_evidence; i++)
		if (!best || says_more(&v->evidence[i], best))
			best = &v->evidence[i];
	return best;
}

void judge_verdict(const struct judge *j, struct verdict *out)
{
	const struct oracle_violation *bad;
	const struct evidence *e;

	*out = j->v;
	out->victim = SIM_OWNER_NONE;
	bad = oracle_violation(j->o, (u32)j->violations_before);
	e = deciding(out);
	if (bad) {
		out->kind = VERDICT_ESCAPED;
		out->component = COMPONENT_NONE;
		out->victim = bad->victim;
		out->claim = bad->claim;
		out->io_id = bad->io_id;
		snprintf(out->resource, sizeof(out->resource), "%s", bad->what);
	} else if (j->rejected || (j->tried && !j->accepted)) {
		out->kind = VERDICT_REJECTED;
		if (j->mixed)
			out->component = COMPONENT_HOST;	/* no single one stops it */
	} else if (j->accepted && !j->sister) {
		out->kind = VERDICT_INERT;	/* what must be refused was taken */
	} else if (j->sister) {
		out->kind = e && e->kind == EVIDENCE_REFUSED ? VERDICT_CONTAINED : VERDICT_NA;
		out->component = e && e->kind == EVIDENCE_REFUSED ? e->component : COMPONENT_NONE;
	} else if (j->measured) {
		out->component = COMPONENT_NONE;
	} else if (e) {
		out->kind = VERDICT_CONTAINED;
		out->component = e->component;
	} else {
		out->kind = VERDICT_INERT;
	}
}
