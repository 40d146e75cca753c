// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and stores of a vCPU: TLB (Intel SDM volume 3, 29.4), EPT walk, memory, registers
 * and the exits in between.
 */
#include <assert.h>
#include <string.h>

#include "cpu/internal.h"

#define PIECE_MAX 8U
#define NO_HPA (~0ULL)

/* What is left to do of one load or store; one of @to and @from is NULL. */
struct access {
	gpa_t gpa;
	u32 kind;		/* EPT_ACCESS_R or EPT_ACCESS_W */
	unsigned int retries;	/* of the piece at @gpa */
	u8 *to;
	const u8 *from;
	size_t len_bytes;
};

static void tlb_clear(struct pcpu_tlb_entry *e)
{
	e->tag = 0;
	e->load_tag = 0;
	e->store_tag = 0;
}

void cpu_invept(struct cpu *cpu, unsigned int pcpu, u64 eptp)
{
	assert(pcpu < cpu->nr_pcpus);
	for (unsigned int i = 0; i < PCPU_TLB_ENTRIES; i++) {
		struct pcpu_tlb_entry *e = &cpu->pcpu[pcpu].tlb[i];

		if ((!eptp || !((e->eptp ^ eptp) & EPT_EPTP_ADDR)) && MODEL_STEP(ept_invalidate))
			tlb_clear(e);
	}
}

static void tlb_fill(struct cpu *cpu, struct pcpu_tlb_entry *e, u64 eptp, gpa_t gpa, const struct ept_walk *walk)
{
	u64 page = walk->hpa.v & ~(SPEC_PAGE_SIZE - 1);

	*e = (struct pcpu_tlb_entry){
		.tag = pcpu_tlb_tag(gpa),
		.eptp = eptp,
		.hpa = page,
		.access = walk->allowed,
		.is_ram = bus_is_ram(cpu->bus, (hpa_t){ page }, SPEC_PAGE_SIZE),
		.dirty = !(eptp & EPT_EPTP_AD) || (walk->entry & EPT_ENTRY_D),
	};
	if (e->is_ram && (e->access & EPT_ACCESS_R))
		e->load_tag = e->tag;
	if (e->is_ram && (e->access & EPT_ACCESS_W) && e->dirty)
		e->store_tag = e->tag;
}

/*
 * The cached translation of @gpa's page, walked for if need be. A cached permission that does not allow the access is a
 * violation even if the entry in memory has become wider since: 29.4.2 lets a processor do so, and this one does, for
 * hosts have to cope with it. The violation invalidates what was cached (29.4.3.1), so the next try walks.
 */
static enum ept_result translate(struct vcpu *vcpu, gpa_t gpa, u32 access, struct pcpu_tlb_entry **out,
				 struct ept_walk *walk)
{
	struct cpu *cpu = vcpu->cpu;
	struct pcpu *pcpu = &cpu->pcpu[vcpu->pcpu];
	struct pcpu_tlb_entry *e = pcpu_tlb_slot(pcpu, gpa);
	bool cached = e->tag == pcpu_tlb_tag(gpa) && e->eptp == vcpu->eptp;
	enum ept_result result;

	*out = e;
	if (cached && !MODEL_CHECK(ept_permission, !(access & ~(u32)e->access))) {
		*walk = (struct ept_walk){ .allowed = e->access };
		tlb_clear(e);
		return EPT_VIOLATION;
	}
	/* A first store through a clean translation walks again, to set the dirty flag in memory. */
	if (cached && (e->dirty || !(access & EPT_ACCESS_W))) {
		pcpu->tlb_hit++;
		return EPT_OK;
	}
	pcpu->tlb_miss++;
	vcpu->spent_ps += cpu->costs.walk_ps;
	result = ept_walk(cpu->bus, vcpu->eptp, gpa, access, walk);
	if (result == EPT_OK)
		tlb_fill(cpu, e, vcpu->eptp, gpa, walk);
	else if (result == EPT_VIOLATION && cached)
		tlb_clear(e);
	return result;
}

/* The naturally aligned piece of at most 8 bytes that @a begins with. */
static unsigned int piece_len(const struct access *a)
{
	unsigned int len = PIECE_MAX;

	while (len > a->len_bytes || (a->gpa.v & (len - 1)))
		len >>= 1;
	return len;
}

static u64 piece_load(const struct access *a, unsigned int len)
{
	u64 val = 0;

	if (a->from)
		memcpy(&val, a->from, len);
	return val;
}

static void trace_access(struct vcpu *vcpu, const struct access *a, u64 hpa, size_t len)
{
	trace_data(vcpu->cpu->trace, a->from ? TRACE_CPU_STORE : TRACE_CPU_LOAD, 0, vcpu->id, a->gpa.v, hpa, len,
		   a->from ? a->from : a->to, (u32)len);
}

/* A page of registers, of nobody, or of several: each piece is a transaction of its own. */
static size_t access_registers(struct vcpu *vcpu, const struct access *a, u64 hpa)
{
	struct cpu *cpu = vcpu->cpu;
	unsigned int len = piece_len(a);
	bool is_ram = bus_is_ram(cpu->bus, (hpa_t){ hpa }, len);
	u64 val = piece_load(a, len);

	if (a->from) {
		vcpu->spent_ps += is_ram ? 0 : cpu->costs.mmio_write_ps;
		trace_access(vcpu, a, hpa, len);
		bus_cpu_write(cpu->bus, (hpa_t){ hpa }, val, len);
	} else {
		vcpu->spent_ps += is_ram ? 0 : cpu->costs.mmio_read_ps;
		val = bus_cpu_read(cpu->bus, (hpa_t){ hpa }, len);
		memcpy(a->to, &val, len);
		trace_access(vcpu, a, hpa, len);
	}
	return len;
}

/* As much of @a as lies in the page of @e. */
static size_t access_mapped(struct vcpu *vcpu, const struct access *a, const struct pcpu_tlb_entry *e)
{
	u64 offset = a->gpa.v % SPEC_PAGE_SIZE, hpa = e->hpa + offset;
	size_t len = SPEC_PAGE_SIZE - offset;

	if (!e->is_ram)
		return access_registers(vcpu, a, hpa);
	if (len > a->len_bytes)
		len = a->len_bytes;
	if (a->from)
		store_write(vcpu->cpu->bus->store, hpa, a->from, len);
	else
		store_read(vcpu->cpu->bus->store, hpa, a->to, len);
	trace_access(vcpu, a, hpa, len);
	return len;
}

static enum exit_action call_handler(struct vcpu *vcpu, struct ept_exit *exit)
{
	enum exit_action action;

	vcpu->outside++;
	action = vcpu->ops->ept_exit(vcpu->opaque, vcpu, exit);
	assert(vcpu->state == VCPU_RUNNING);
	vcpu->outside--;
	vcpu_enter(vcpu);
	return action;
}

/*
 * One exit for the first piece of @a. Returns the bytes done with: 0 when it is to be tried again, which a
 * handler may ask for only so often.
 */
static size_t access_exits(struct vcpu *vcpu, struct access *a, const struct ept_walk *walk, bool misconfig)
{
	struct trace *trace = vcpu->cpu->trace;
	struct ept_exit exit = {
		.gpa = a->gpa,
		.access = a->kind,
		.misconfig = misconfig,
		.len = piece_len(a),
		.write = a->from != NULL,
		.val = a->from ? piece_load(a, piece_len(a)) : ~0ULL,
	};
	bool give_up = a->retries == EPT_RETRY_MAX;

	if (misconfig) {
		trace4(trace, TRACE_EPT_MISCONFIG, 0, vcpu->id, a->gpa.v, walk->level, walk->entry);
	} else {
		exit.qualification = (u32)(FIELD_PREP(EPT_QUAL_ACCESS, a->kind) |
					   FIELD_PREP(EPT_QUAL_ALLOWED, walk->allowed));
		trace4(trace, TRACE_EPT_VIOLATION, 0, vcpu->id, a->gpa.v, a->kind, exit.qualification);
	}
	vcpu_count_exit(vcpu, misconfig ? EXIT_EPT_MISCONFIG : EXIT_EPT_VIOLATION, a->gpa.v);

	if (call_handler(vcpu, &exit) == EXIT_EMULATED) {
		give_up = false;
	} else if (!give_up) {
		a->retries++;
		return 0;
	} else {
		exit.val = ~0ULL;
		vcpu->gave_up++;
	}
	if (a->to)
		memcpy(a->to, &exit.val, piece_len(a));
	if (give_up)
		trace_access(vcpu, a, NO_HPA, piece_len(a));
	return piece_len(a);
}

void vcpu_access(struct vcpu *vcpu, gpa_t gpa, void *to, const void *from, size_t len_bytes)
{
	struct access a = { .gpa = gpa, .kind = from ? EPT_ACCESS_W : EPT_ACCESS_R, .to = to, .from = from,
			    .len_bytes = len_bytes };

	/* Each turn finishes a byte at least, or spends a retry of the piece it is at. */
	while (a.len_bytes) {
		struct pcpu_tlb_entry *e;
		struct ept_walk walk;
		enum ept_result result;
		size_t done;

		assert(vcpu->state == VCPU_RUNNING);
		result = translate(vcpu, a.gpa, a.kind, &e, &walk);
		if (result == EPT_OK)
			done = access_mapped(vcpu, &a, e);
		else
			done = access_exits(vcpu, &a, &walk, result == EPT_MISCONFIG);
		if (!done)
			continue;
		a.retries = 0;
		a.gpa.v += done;
		a.len_bytes -= done;
		a.to = to ? a.to + done : NULL;
		a.from = from ? a.from + done : NULL;
	}
}
