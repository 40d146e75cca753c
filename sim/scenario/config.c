// SPDX-License-Identifier: GPL-2.0
/* The header's machine = { ... } and vms = { ... }. */

#include "engine.h"

#include <stdio.h>
#include <string.h>

enum field_kind { FIELD_NUMBER, FIELD_BYTES, FIELD_BOOL, FIELD_PS_AS_NS };

struct field {
	const char *key;
	u16 offset, size;
	enum field_kind kind;
	u64 min, max;
};

#define FIELD(key, member, kind, min, max) \
	{ key, offsetof(struct machine_config, member), sizeof(((struct machine_config *)0)->member), kind, min, max }
#define NUMBER(key, member, min, max) FIELD(key, member, FIELD_NUMBER, min, max)
#define TIME(key, member) FIELD(key, member, FIELD_NUMBER, 0, 1000 * PS_PER_MS * 100)

static const char ssd_keys[] = "queues msix mqes dstrd mdts nsze ncap namespaces cqr cmb cmb_lists cmb_cqs resource_domains oncs aerl acl elpe sgls keeps_deallocated fragile_doorbells fragile_dsm private_namespace metadata mpsmin mpsmax sqes cqes timing";
static const struct field ssd_fields[] = {
	NUMBER("queues", ssd.io_queues, 1, 511), NUMBER("msix", ssd.msix_vectors, 1, 512), NUMBER("mqes", ssd.mqes, 1, 0xFFFF),
	NUMBER("dstrd", ssd.dstrd, 0, 15), NUMBER("mdts", ssd.mdts, 0, 15), NUMBER("nsze", ssd.nsze, 1, 1ull << 34),
	NUMBER("ncap", ssd.ncap, 1, 1ull << 34), NUMBER("namespaces", ssd.nn, 1, 0xFFFF), FIELD("cqr", ssd.cqr, FIELD_BOOL, 0, 1),
	FIELD("cmb", ssd.cmb_size_bytes, FIELD_BYTES, 0, 1ull << 30), FIELD("cmb_lists", ssd.cmb_lists, FIELD_BOOL, 0, 1),
	FIELD("cmb_cqs", ssd.cmb_cqs, FIELD_BOOL, 0, 1), FIELD("resource_domains", ssd.resource_domains, FIELD_BOOL, 0, 1),
	NUMBER("oncs", ssd.oncs, 0, 0xFFFF), NUMBER("aerl", ssd.aerl, 0, 255), NUMBER("acl", ssd.acl, 0, 255),
	NUMBER("elpe", ssd.elpe, 0, 255), FIELD("sgls", ssd.sgls, FIELD_BOOL, 0, 1),
	FIELD("keeps_deallocated", ssd.keeps_deallocated, FIELD_BOOL, 0, 1),
	FIELD("fragile_dsm", ssd.fragile_dsm, FIELD_BOOL, 0, 1),
	FIELD("fragile_doorbells", ssd.fragile_doorbells, FIELD_BOOL, 0, 1),
	FIELD("metadata", ssd.metadata, FIELD_BOOL, 0, 1),
	NUMBER("private_namespace", ssd.ns[1].nsze, 1, 1ull << 34), { NULL }
};

static const char timing_keys[] = "fetch per_4k read write write_drain zeroes flush fixed admin reset cqe_gap dies";
static const struct field timing_fields[] = {
	TIME("fetch", ssd.timing.fetch_ps), TIME("per_4k", ssd.timing.per_4k_ps), TIME("read", ssd.timing.read_ps),
	TIME("write", ssd.timing.write_ps), TIME("write_drain", ssd.timing.write_drain_ps), TIME("zeroes", ssd.timing.zeroes_ps), TIME("flush", ssd.timing.flush_ps),
	TIME("fixed", ssd.timing.fixed_ps), TIME("admin", ssd.timing.admin_ps), TIME("reset", ssd.timing.reset_ps),
	TIME("cqe_gap", ssd.timing.cqe_gap_ps), NUMBER("dies", ssd.timing.dies, 1, 1024), { NULL }
};

static const char iommu_keys[] = "address_bits iotlb_sets iotlb_miss invalidation posted_interrupts x2apic fault_interrupts";
static const struct field iommu_fields[] = {
	NUMBER("address_bits", vtd.mgaw_bits, 36, 48),
	NUMBER("iotlb_sets", vtd.iotlb_sets, 1, VTD_IOTLB_SETS), TIME("iotlb_miss", vtd.iotlb_miss_ps),
	TIME("invalidation", vtd.invalidation_ps), FIELD("posted_interrupts", posted_interrupts, FIELD_BOOL, 0, 1),
	FIELD("x2apic", vtd.x2apic, FIELD_BOOL, 0, 1), FIELD("fault_interrupts", fault_interrupts, FIELD_BOOL, 0, 1), { NULL }
};

static const char backend_keys[] = "host_lbas queues queue_depth timeout dma_offset watch_doorbells";
static const struct field backend_fields[] = {
	NUMBER("host_lbas", backend.host_lbas, 0, 1ull << 34), NUMBER("queues", backend.io_queues, 0, 511),
	NUMBER("queue_depth", backend.queue_depth, 2, 1024), FIELD("timeout", backend.timeout_ns, FIELD_PS_AS_NS, PS_PER_US, 1000 * PS_PER_MS * 100),
	FIELD("dma_offset", backend.dma_offset, FIELD_BOOL, 0, 1),
	FIELD("watch_doorbells", backend.watch_doorbells, FIELD_BOOL, 0, 1), { NULL }
};

static const char machine_keys[] = "ssd iommu backend cores memory budget";
static const struct field machine_fields[] = {
	NUMBER("cores", pcpus, 1, CPU_PCPUS_MAX), FIELD("memory", high_ram_bytes, FIELD_BYTES, 1ull << 30, 1ull << 40),
	FIELD("budget", memory_budget_bytes, FIELD_BYTES, 1ull << 20, 1ull << 40), { NULL }
};

static void store(void *at, size_t size, u64 v)
{
	memcpy(at, &v, size);	/* little-endian, spec_types.h */
}

static void read_fields(const struct args *a, const struct field *f, struct machine_config *cfg)
{
	for (; f->key; f++) {
		u64 v;

		if (!args_has(a, f->key))
			continue;
		if (f->kind == FIELD_BOOL)
			v = args_bool(a, f->key, false);
		else if (f->kind == FIELD_BYTES)
			v = args_bytes(a, f->key, 0);
		else
			v = args_range(a, f->key, 0, f->min, f->max);
		if (v < f->min || v > f->max)
			luaL_error(a->L, "%s: '%s' is %I; give %I to %I", a->verb, f->key, (lua_Integer)v, (lua_Integer)f->min, (lua_Integer)f->max);
		store((char *)cfg + f->offset, f->size, f->kind == FIELD_PS_AS_NS ? v / PS_PER_NS : v);
	}
}

/* A range that a controller tells of itself: as Identify and CAP have it, least and most. */
static void check_sizes(const struct args *a, const char *key, const char *what, u64 least, u64 most, u64 modelled)
{
	if (least > most)
		luaL_error(a->L, "%s: '%s': %s %I is above the most, %I; no controller is like that", a->verb, key, what, (lua_Integer)least,
			   (lua_Integer)most);
	if (least != modelled || most != modelled)
		luaL_error(a->L, "%s: '%s': only %I is modelled; leave it out", a->verb, key, (lua_Integer)modelled);
}

static void check_capabilities(const struct args *a)
{
	u64 sqes = args_range(a, "sqes", 0x66, 0, 0xFF), cqes = args_range(a, "cqes", 0x44, 0, 0xFF);

	check_sizes(a, "mpsmin", "page size", args_range(a, "mpsmin", 0, 0, 15), args_range(a, "mpsmax", 0, 0, 15), 0);
	check_sizes(a, "sqes", "entry size", sqes & 15, sqes >> 4, 6);
	check_sizes(a, "cqes", "entry size", cqes & 15, cqes >> 4, 4);
}

static void read_group(lua_State *L, const struct args *parent, const char *key, const char *keys, const struct field *f,
		       struct machine_config *cfg)
{
	struct args a;
	char verb[32];

	if (!args_table(parent, key))
		return;
	snprintf(verb, sizeof(verb), "%s.%s", parent->verb, key);
	a = args_open(L, -1, verb, keys);
	read_fields(&a, f, cfg);
	if (f == ssd_fields) {
		check_capabilities(&a);
		read_group(L, &a, "timing", timing_keys, timing_fields, cfg);
		if (args_has(&a, "nsze") && !args_has(&a, "ncap"))
			cfg->ssd.ncap = cfg->ssd.nsze;
		if (args_has(&a, "queues") && !args_has(&a, "msix"))
			cfg->ssd.msix_vectors = (u16)(cfg->ssd.io_queues + 1);
		/* NSID 2, which LightIOV does not know: it lies behind NSID 1 on the medium. */
		if (args_has(&a, "private_namespace"))
			cfg->ssd.ns[1] = (struct nvme_ns_config){ .first_block = cfg->ssd.nsze, .nsze = cfg->ssd.ns[1].nsze,
								  .ncap = cfg->ssd.ns[1].nsze, .pi = cfg->ssd.metadata };
	}
	lua_pop(L, 1);
}

static void read_limits(lua_State *L, const struct args *h, struct run *r)
{
	struct args a;

	r->limit_ps = SCENARIO_LIMIT_PS;
	r->limit_events = SCENARIO_LIMIT_EVENTS;
	if (!args_table(h, "limit"))
		return;
	a = args_open(L, -1, "limit", "time events");
	r->limit_ps = args_range(&a, "time", r->limit_ps, PS_PER_US, SCENARIO_TIME_MAX);
	r->limit_events = args_range(&a, "events", r->limit_events, 1000, 1ull << 40);
	lua_pop(L, 1);
}

static void read_machine(lua_State *L, const struct args *h, struct machine_config *cfg)
{
	struct args a;

	if (!args_table(h, "machine"))
		return;
	a = args_open(L, -1, "machine", machine_keys);
	read_fields(&a, machine_fields, cfg);
	read_group(L, &a, "ssd", ssd_keys, ssd_fields, cfg);
	read_group(L, &a, "iommu", iommu_keys, iommu_fields, cfg);
	read_group(L, &a, "backend", backend_keys, backend_fields, cfg);
	lua_pop(L, 1);
}

void header_machine(lua_State *L, struct run *r)
{
	struct args h;

	machine_config_defaults(&r->cfg);
	machine_config_policy(&r->cfg, r->policy);
	r->cfg.seed = r->opt->seed;
	r->cfg.content_bytes = r->opt->content_bytes;
	lua_getfield(L, LUA_REGISTRYINDEX, "liov.header");
	h = (struct args){ L, lua_gettop(L), "scenario" };
	read_limits(L, &h, r);
	read_machine(L, &h, &r->cfg);
	lua_pop(L, 1);
	if (header_push_options(L, r->file->variant[r->variant].name)) {
		h = (struct args){ L, lua_gettop(L), "variant" };
		read_machine(L, &h, &r->cfg);
		lua_pop(L, 1);
	}
}

static void read_ram(lua_State *L, const struct args *a, struct vm_wish *w, u32 id)
{
	struct args range;
	lua_Integer i;

	w->cfg.nr_ram = 1;
	w->cfg.ram[0].gpa = args_u64(a, "gpa", (u64)(id + 1) << 32);
	w->cfg.ram[0].len_bytes = args_bytes(a, "memory", 1ull << 30);
	if (!args_table(a, "ram"))
		return;
	w->cfg.nr_ram = 0;
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		const char *dma;

		range = args_open(L, -1, "vms.ram", "gpa memory dma");
		dma = args_text(&range, "dma", "rw");
		if (!word_in("r w rw", dma))
			luaL_error(L, "vms.ram: 'dma' is \"%s\"; give \"r\", \"w\" or \"rw\"", dma);
		if (w->cfg.nr_ram == VM_RAM_MAX)
			luaL_error(L, "vms.ram: more than %d ranges; join them", VM_RAM_MAX);
		w->cfg.ram[w->cfg.nr_ram].gpa = args_need(&range, "gpa");
		w->cfg.ram[w->cfg.nr_ram].no_read = !strchr(dma, 'r');
		w->cfg.ram[w->cfg.nr_ram].no_write = !strchr(dma, 'w');
		w->cfg.ram[w->cfg.nr_ram++].len_bytes = args_bytes(&range, "memory", 0);
		lua_pop(L, 1);
	}
	lua_pop(L, 2);
}

void header_vm_wish(lua_State *L, int index, struct vm_wish *w, u32 id, enum liov_policy policy)
{
	struct args a = args_open(L, index, "vms", "name vcpus queues qid lbas lba_start work_per_s memory gpa ram driver start start_queues depth vectors halt_when_idle register_all");
	const char *name = args_text(&a, "name", ""), *driver = args_text(&a, "driver", "lightiov");

	*w = (struct vm_wish){ .start = args_bool(&a, "start", true), .start_queues = (u32)args_range(&a, "start_queues", 0, 0, LIOV_VM_QUEUES_MAX),
			       .start_depth = (u32)args_range(&a, "depth", 0, 0, LIOV_QUEUE_DEPTH_MAX) };
	if (!*name || strlen(name) >= sizeof(w->name))
		luaL_error(L, "vms: a VM without a name, or one longer than 23 characters; write { name = \"A\", ... }");
	strcpy(w->name, name);
	w->stock = strcmp(driver, "stock") == 0;
	if (!w->stock && strcmp(driver, "lightiov") != 0)
		luaL_error(L, "vms: no driver '%s'; there are lightiov and stock", driver);
	w->cfg.id = id;
	w->cfg.vcpus = (u32)args_range(&a, "vcpus", 1, 1, VM_VCPUS_MAX);
	w->cfg.halt_when_idle = args_bool(&a, "halt_when_idle", false);
	w->cfg.liov.nr_queues = (u32)args_u64(&a, "queues", 1);
	w->cfg.liov.lbas = args_u64(&a, "lbas", 0x100000);
	w->cfg.liov.lbas_at = args_has(&a, "lba_start");
	w->cfg.liov.lba_start = args_u64(&a, "lba_start", 0);
	w->cfg.liov.work_per_s = (u32)args_range(&a, "work_per_s", 0, 0, 1000000000);
	w->cfg.liov.queues_at = args_has(&a, "qid");
	w->cfg.liov.first_qid = (u32)args_range(&a, "qid", 0, 0, 0xFFFF);
	w->cfg.liov.nr_vectors = (u32)args_u64(&a, "vectors", 0);
	w->cfg.liov.register_all = args_bool(&a, "register_all", policy == LIOV_POLICY_MEDIATED && w->stock);
	read_ram(L, &a, w, id);
}

static bool push_vms(lua_State *L, struct run *r)
{
	if (header_push_options(L, r->file->variant[r->variant].name)) {
		lua_getfield(L, -1, "vms");
		lua_remove(L, -2);
		if (lua_istable(L, -1))
			return true;
		lua_pop(L, 1);
	}
	lua_getfield(L, LUA_REGISTRYINDEX, "liov.header");
	lua_getfield(L, -1, "vms");
	lua_remove(L, -2);
	if (lua_istable(L, -1))
		return true;
	if (!lua_isnil(L, -1))
		luaL_error(L, "scenario: 'vms' is a %s; give a list { { name = \"A\" }, ... }", luaL_typename(L, -1));
	lua_pop(L, 1);
	return false;
}

void header_vms(lua_State *L, struct run *r)
{
	lua_Integer i;
	u32 k;

	if (!push_vms(L, r))
		return;
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		struct vm_wish *w = &r->wish[r->nr_wishes];

		if (r->nr_wishes == RESULT_VMS_MAX)
			luaL_error(L, "scenario: more than %d VMs in the header; make more with m:create_vm", RESULT_VMS_MAX);
		header_vm_wish(L, -1, w, r->nr_wishes, r->policy);
		for (k = 0; k < r->nr_wishes; k++)
			if (strcmp(r->wish[k].name, w->name) == 0)
				luaL_error(L, "scenario: two VMs are called '%s'; give each a name of its own", w->name);
		r->nr_wishes++;
		lua_pop(L, 1);
	}
	if (r->nr_wishes == 0)
		luaL_error(L, "scenario: 'vms' holds no list; write vms = { { name = \"A\" }, ... }");
	lua_pop(L, 2);
}
