// SPDX-License-Identifier: GPL-2.0
/*
 * m:fault{ ... }: hardware that fails as its specification knows, a host without memory, a vCPU that
 * does not get its core. Each kind has one place: arming it again replaces what was.
 */

#include "engine.h"
#include "host/host.h"

#include <stdlib.h>
#include <string.h>

#define STALL_RETRY_PS (100 * PS_PER_NS)

static const char fault_keys[] = "kind queue vector what after count chance time lba blocks vm vcpu";

static const char kinds[] = "dma_delay silent fatal poisoned media msi_lost msi_late invalidation_ignored no_memory vcpu_stall";

/* The place of @kind; NULL for those that are no occasions but states. @what: which of several, "" the usual. */
static struct fault_site *site_of(lua_State *L, struct run *r, const char *kind, const char *what)
{
	struct nvme_faults *nvme = nvme_faults(r->m->nvme);
	struct pci_faults *pci = &nvme_function(r->m->nvme)->faults;

	if (strcmp(kind, "dma_delay") == 0)
		return &nvme->dma_delay;
	if (strcmp(kind, "silent") == 0)
		return &nvme->silent;
	if (strcmp(kind, "fatal") == 0)
		return &nvme->fatal;
	if (strcmp(kind, "msi_lost") == 0)
		return &pci->msi_lost;
	if (strcmp(kind, "msi_late") == 0)
		return &pci->msi_late;
	if (strcmp(kind, "invalidation_ignored") == 0)
		return vtd_ignores(r->m->vtd);
	if (strcmp(kind, "no_memory") == 0)
		return &r->m->host->home.no_memory;
	if (strcmp(kind, "poisoned") == 0) {
		if (!word_in("sqe list data", *what ? what : "data"))
			luaL_error(L, "fault: what = '%s' is not read by a controller; there are sqe, list, data", what);
		return &pci->poisoned[strcmp(what, "sqe") == 0 ? PCI_DMA_QUEUE : strcmp(what, "list") == 0 ? PCI_DMA_LIST : PCI_DMA_DATA];
	}
	return NULL;
}

static u64 chance_gap(void *opaque)
{
	struct fault_chance *c = opaque;
	u64 n = 0;

	while (n < 1000000 && !rng_chance(&c->rng, c->num, c->den))
		n++;
	return n;
}

static void by_chance(struct run *r, struct fault_site *f, const char *kind, u64 seed, u64 num, u64 den)
{
	struct fault_chance *c = &r->chance[r->nr_chances++];

	rng_split(&c->rng, seed, kind);
	c->num = num;
	c->den = den;
	f->gap = chance_gap;
	f->opaque = c;
	f->skip += chance_gap(c);
}

/* chance = { 1, 100 } */
static void read_chance(lua_State *L, struct run *r, const struct args *a, struct fault_site *f, const char *kind)
{
	u64 num, den;

	if (!args_table(a, "chance"))
		return;
	lua_rawgeti(L, -1, 1);
	lua_rawgeti(L, -2, 2);
	num = (u64)luaL_checkinteger(L, -2);
	den = (u64)luaL_checkinteger(L, -1);
	lua_pop(L, 3);
	if (num == 0 || den == 0 || num > den)
		luaL_error(L, "fault: %I of %I is no chance of a fault; give { 1, 100 }", (lua_Integer)num, (lua_Integer)den);
	if (r->nr_chances == FAULT_CHANCES_MAX)
		luaL_error(L, "fault: more than %d faults by chance in one run", (int)FAULT_CHANCES_MAX);
	by_chance(r, f, kind, rng_split_seed(r->opt->seed, "faults"), num, den);
}

static u32 read_key(lua_State *L, const struct args *a, const char *kind, const char *what)
{
	if (strcmp(kind, "invalidation_ignored") == 0) {
		if (!*what)
			return FAULT_ALL;
		if (!word_in("context iotlb irte", what))
			luaL_error(L, "fault: what = '%s' is not invalidated; there are context, iotlb, irte", what);
		return strcmp(what, "context") == 0 ? VTD_QI_CONTEXT : strcmp(what, "iotlb") == 0 ? VTD_QI_IOTLB : VTD_QI_IEC;
	}
	if (strcmp(kind, "no_memory") == 0 && *what) {
		if (strcmp(what, "vector") != 0)
			return (u32)luaL_error(L, "fault: what = '%s' is not allocated alone; there is vector", what);
		return 1;
	}
	if (args_has(a, "vector"))
		return (u32)args_range(a, "vector", 0, 0, PCI_MSIX_VECTORS_MAX - 1);
	return args_has(a, "queue") ? (u32)args_range(a, "queue", 0, 0, 0xFFFF) : FAULT_ALL;
}

struct stall {
	struct gvcpu *gv;
	u64 time_ps;
};

/* The host's scheduler has others to run. */
static void stall_main(void *arg)
{
	struct stall s = *(struct stall *)arg;
	u32 tries;

	free(arg);
	for (tries = 0; tries < 1000 && !s.gv->vm->dead && (s.gv->vcpu.state != VCPU_RUNNING || s.gv->vcpu.outside); tries++)
		task_sleep(STALL_RETRY_PS);
	if (s.gv->vm->dead || s.gv->vcpu.state != VCPU_RUNNING || s.gv->vcpu.outside)
		return;
	host_vcpu_preempt(s.gv);
	task_sleep(s.time_ps);
	if (s.gv->vm->dead || s.gv->vcpu.state == VCPU_RUNNING)
		return;
	host_vcpu_run(s.gv);
	task_wake_all(&s.gv->idle_wait);
	task_wake_one(&s.gv->irq_wait);
}

static void stall(lua_State *L, struct run *r, const struct args *a)
{
	struct stall *s;
	struct script_vm *v;
	u32 vcpu;

	lua_getfield(L, a->table, "vm");
	v = check_live_vm(L, lua_gettop(L));
	lua_pop(L, 1);
	vcpu = (u32)args_range(a, "vcpu", 0, 0, v->vm->cfg.vcpus - 1);
	s = malloc(sizeof(*s));
	if (!s)
		luaL_error(L, "no memory for a stall");
	*s = (struct stall){ &v->vm->gv[vcpu], args_u64(a, "time", 100 * PS_PER_US) };
	if (!machine_task(r->m, "stall", stall_main, s)) {
		free(s);
		luaL_error(L, "no memory for a stall");
	}
}

static int m_fault(lua_State *L)
{
	struct run *r = object_check(L, 1, "machine");
	struct args a = args_open(L, 2, "fault", fault_keys);
	const char *kind = args_text(&a, "kind", ""), *what = args_text(&a, "what", "");
	struct fault_site *f, armed = { 0 };

	if (!*kind || !word_in(kinds, kind))
		return luaL_error(L, "fault: no kind '%s'; there are %s", kind, kinds);
	f = site_of(L, r, kind, what);
	if (!f && strcmp(kind, "media") == 0)
		nvme_media_break(r->m->nvme, args_need(&a, "lba"), args_u64(&a, "blocks", 1));
	else if (!f)
		stall(L, r, &a);
	if (!f)
		return 0;
	armed.key = read_key(L, &a, kind, what);
	armed.skip = args_u64(&a, "after", 0);
	armed.left = args_u64(&a, "count", args_has(&a, "chance") ? ~0ull : 1);
	armed.arg = args_range(&a, "time", 100 * PS_PER_US, 0, 1000 * PS_PER_MS * 100);
	armed.hits = f->hits;
	read_chance(L, r, &a, &armed, kind);
	armed.armed = armed.left != 0;
	*f = armed;
	return 0;
}

/* m:fault_hits(kind[, what]): how often it happened. */
static int m_fault_hits(lua_State *L)
{
	struct run *r = object_check(L, 1, "machine");
	const struct fault_site *f = site_of(L, r, luaL_checkstring(L, 2), luaL_optstring(L, 3, ""));

	if (!f)
		return luaL_error(L, "fault_hits: '%s' is not counted", lua_tostring(L, 2));
	lua_pushinteger(L, (lua_Integer)f->hits);
	return 1;
}

void faults_sprinkle(struct run *r)
{
	struct fault_site *late = &nvme_faults(r->m->nvme)->dma_delay, *msi = &nvme_function(r->m->nvme)->faults.msi_late;

	*late = (struct fault_site){ .armed = true, .key = FAULT_ALL, .left = ~0ull, .arg = 20 * PS_PER_US };
	by_chance(r, late, "dma_delay", r->opt->faults, 1, 16);
	*msi = (struct fault_site){ .armed = true, .key = FAULT_ALL, .left = ~0ull, .arg = 10 * PS_PER_US };
	by_chance(r, msi, "msi_late", r->opt->faults, 1, 16);
}

void verbs_open_fault(lua_State *L)
{
	static const luaL_Reg verbs[] = { { "fault", m_fault }, { "fault_hits", m_fault_hits }, { NULL, NULL } };

	object_verbs(L, "machine", verbs);
}
