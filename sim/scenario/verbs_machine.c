// SPDX-License-Identifier: GPL-2.0
/* Verbs of the machine and its host: m:... */

#include "engine.h"
#include "host/host.h"
#include "sites.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct run *check_m(lua_State *L)
{
	return object_check(L, 1, "machine");
}

static int m_vm(lua_State *L)
{
	struct run *r = check_m(L);
	const char *name = luaL_checkstring(L, 2);
	u32 i;

	for (i = r->next_vm; i-- > 0;) {
		if (r->vms[i].vm && strcmp(r->vms[i].name, name) == 0) {
			object_push(L, "vm", &r->vms[i]);
			return 1;
		}
	}
	return luaL_error(L, "there is no VM '%s'; name one of vms = { ... }", name);
}

static int m_create_vm(lua_State *L)
{
	struct run *r = check_m(L);
	struct script_vm *v;
	struct vm_wish w;
	struct stand st;
	int ret;

	header_vm_wish(L, 2, &w, r->next_vm, r->policy);
	ret = run_create_vm(r, &w, &v);
	judge_configured(r->judge, ret == 0, COMPONENT_HOST);
	if (ret == 0 && w.start) {
		st = stand_on(L, v);
		ret = run_start_vm(v, w.start_queues, w.start_depth);
		stand_off(&st);
		if (ret)
			return luaL_error(L, "the driver of VM %s does not start: %s", v->name, ret < 0 ? errno_word(ret) : "NVMe status");
	}
	if (ret) {
		lua_pushnil(L);
		lua_pushstring(L, errno_word(ret));
		return 2;
	}
	object_push(L, "vm", v);
	return 1;
}

static int m_destroy(lua_State *L)
{
	struct script_vm *v;

	check_m(L);
	v = check_live_vm(L, 2);
	vm_destroy(v->vm);
	return 0;
}

static int m_sleep(lua_State *L)
{
	check_m(L);
	task_sleep(arg_u64(L, 2, "the time to sleep"));
	return 0;
}

static int m_now(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)sched_now(check_m(L)->m->sched));
	return 1;
}

static int m_spawn(lua_State *L)
{
	struct run *r = check_m(L);
	struct script_vm *v = NULL;
	u32 vcpu = 0;

	if (lua_istable(L, 2)) {
		struct args a;

		lua_rawgeti(L, 2, 1);
		lua_pushnil(L);
		lua_rawseti(L, 2, 1);
		a = args_open(L, 2, "spawn", "vm vcpu");
		lua_getfield(L, 2, "vm");
		v = lua_isnil(L, -1) ? NULL : check_live_vm(L, lua_gettop(L));
		lua_pop(L, 1);
		vcpu = (u32)args_range(&a, "vcpu", 0, 0, v ? v->vm->cfg.vcpus - 1 : 0);
	} else {
		lua_settop(L, 2);
	}
	luaL_checktype(L, -1, LUA_TFUNCTION);
	object_push(L, "actor", run_spawn(r, L, v, vcpu));
	return 1;
}

static int m_reset_controller(lua_State *L)
{
	push_status(L, liov_backend_reset(&check_m(L)->m->backend));
	return 1;
}

static int m_plant(lua_State *L)
{
	static const struct { const char *name; u32 bit; } bugs[] = {
		{ "iommu_unmap", HOST_OMIT_IOMMU_UNMAP }, { "iommu_sync", HOST_OMIT_IOMMU_SYNC }, { "vm_revoke", HOST_OMIT_VM_REVOKE },
		{ "irq_unpost", HOST_OMIT_IRQ_UNPOST }, { "irq_mask", HOST_OMIT_IRQ_MASK }, { "vm_mem_pin", HOST_OMIT_VM_MEM_PIN },
		{ "iommu_range", HOST_OMIT_IOMMU_RANGE }, { "iommu_wait", HOST_OMIT_IOMMU_WAIT }, { "pir_check", HOST_OMIT_PIR_CHECK },
		{ "vcpu_ndst", HOST_OMIT_NDST }, { "iommu_lazy", HOST_SYNC_LAZY }, { "iommu_leaves", HOST_SYNC_LEAVES },
		{ "iommu_domain", HOST_SYNC_OTHER_DOMAIN },
		{ "invept", HOST_OMIT_INVEPT }, { "ept_retry", HOST_OMIT_EPT_RETRY }, { "wakeup_recheck", HOST_OMIT_WAKEUP_RECHECK },
		{ "shm_zero", HOST_OMIT_SHM_ZERO }, { "pages_zero", HOST_OMIT_PAGES_ZERO }, { "shootdown", HOST_OMIT_SHOOTDOWN }, { "page_again", HOST_OMIT_PAGE_AGAIN },
	};
	struct run *r = check_m(L);
	int i, top = lua_gettop(L);
	u32 k;

	for (i = 2; i <= top; i++) {
		const char *name = luaL_checkstring(L, i);
		s32 site = -1;

		for (k = 0; k < sizeof(bugs) / sizeof(bugs[0]) && strcmp(bugs[k].name, name); k++)
			;
		if (k == sizeof(bugs) / sizeof(bugs[0]))
			site = site_find(name);
		if (site < 0 && k == sizeof(bugs) / sizeof(bugs[0]))
			return luaL_error(L, "plant: no '%s' to leave out or do wrong; see m:plant in scenarios/README.md", name);
		if (site < 0) {
			r->m->host->omit |= bugs[k].bit;
			continue;
		}
		/* Sites are the process's: undone when the run is over. */
		site_set_add(&r->planted, (u32)site);
		sites_plant((u32)site, true);
	}
	return 0;
}

static int m_release_queue(lua_State *L)
{
	struct script_vm *v;

	check_m(L);
	v = check_live_vm(L, 2);
	push_status(L, vm_queue_release(v->vm, (u32)arg_u64(L, 3, "the queue") - 1));
	return 1;
}

/* m:balloon(vm, gpa, len): the host takes memory out of the VM; m:plug(vm, gpa, len) puts some in. */
static int host_memory(lua_State *L, int (*fn)(struct port_vm *vm, gpa_t gpa, u64 len_bytes), const char *verb)
{
	struct script_vm *v;
	int ret;

	check_m(L);
	v = check_live_vm(L, 2);
	ret = fn(v->vm, (gpa_t){ arg_u64(L, 3, "the address") }, arg_u64(L, 4, "the length"));
	if (ret)
		return luaL_error(L, "%s: %s; give whole pages of one memory range", verb, errno_word(ret));
	return 0;
}

static int m_balloon(lua_State *L)
{
	return host_memory(L, vm_balloon_out, "balloon");
}

static int m_plug(lua_State *L)
{
	struct script_vm *v;
	int ret;

	if (lua_isnoneornil(L, 5))
		return host_memory(L, vm_plug, "plug");
	check_m(L);
	v = check_live_vm(L, 2);
	ret = vm_plug_at(v->vm, (gpa_t){ arg_u64(L, 3, "the address") }, arg_u64(L, 4, "the length"), (hpa_t){ arg_u64(L, 5, "where it lies") & ~0xFFFull });
	if (ret)
		return luaL_error(L, "plug: %s; give whole pages that are not the VM's yet", errno_word(ret));
	return 0;
}

/* The host takes CC.EN to 0 and to 1 again, and nothing else. */
static int m_toggle_enable(lua_State *L)
{
	struct machine *m = check_m(L)->m;
	struct port_mmio *bar0 = &m->backend.bar0;
	u32 cc = port_mmio_rd32(bar0, NVME_REG_CC), i;

	port_mmio_wr32(bar0, NVME_REG_CC, cc & ~(u32)NVME_CC_EN);
	for (i = 0; i < 1000 && (port_mmio_rd32(bar0, NVME_REG_CSTS) & NVME_CSTS_RDY); i++)
		task_sleep(PS_PER_MS);
	port_mmio_wr32(bar0, NVME_REG_CC, cc);
	for (i = 0; i < 1000 && !(port_mmio_rd32(bar0, NVME_REG_CSTS) & NVME_CSTS_RDY); i++)
		task_sleep(PS_PER_MS);
	return 0;
}

/* A bug of the host's: what is mapped there goes, whoever uses it. */
static int m_iommu_unmap(lua_State *L)
{
	struct port_host *h = check_m(L)->m->host;
	u64 iova = arg_u64(L, 2, "the address");
	struct host_space *s = host_space_at(h, iova);

	host_space_unmap(h, s, iova, arg_u64(L, 3, "the length"));
	host_space_sync(h, s);
	return 0;
}

static int m_zap(lua_State *L)
{
	check_m(L);
	host_ept_zap(check_live_vm(L, 2)->vm);
	return 0;
}

static u64 check_blocks(lua_State *L, struct run *r, int slba, u64 blocks)
{
	u64 at = arg_u64(L, slba, "the block"), size = store_size_bytes(r->m->media) / STORE_SECTOR_SIZE;

	if (blocks == 0 || at >= size || blocks > size - at)
		luaL_error(L, "blocks outside the medium; it has %I of them", (lua_Integer)size);
	sandbox_charge(L, blocks);
	return at;
}

/* Does each of @blocks hold the content of tag, tag + 1 ...? As the platters have it: nobody's access. */
static int m_media_holds(lua_State *L)
{
	struct run *r = check_m(L);
	u64 blocks = arg_u64(L, 3, "the number of blocks"), tag = arg_u64(L, 4, "the tag"), i;
	u64 at = check_blocks(L, r, 2, blocks);
	bool all = true;

	for (i = 0; i < blocks && all; i++)
		all = secret_sector_is(r, r->m->media, (at + i) * STORE_SECTOR_SIZE, tag ? tag + i : 0);
	lua_pushboolean(L, all);
	return 1;
}

static int m_media_read(lua_State *L)
{
	struct run *r = check_m(L);
	u64 blocks = arg_u64_or(L, 3, "the number of blocks", 1), at = check_blocks(L, r, 2, blocks);
	luaL_Buffer b;
	char *p;

	if (blocks > SCENARIO_BYTES_MAX / STORE_SECTOR_SIZE)
		return luaL_error(L, "media_read: more than %d bytes at once; read less", SCENARIO_BYTES_MAX);
	p = luaL_buffinitsize(L, &b, blocks * STORE_SECTOR_SIZE);
	store_read(r->m->media, at * STORE_SECTOR_SIZE, p, blocks * STORE_SECTOR_SIZE);
	luaL_pushresultsize(&b, blocks * STORE_SECTOR_SIZE);
	return 1;
}

static void set(lua_State *L, const char *name, u64 v)
{
	lua_pushinteger(L, (lua_Integer)v);
	lua_setfield(L, -2, name);
}

/* What LightIOV and its host have given out, and what is left. */
static void count_taken(lua_State *L, struct run *r)
{
	const struct liov_backend *be = &r->m->backend;
	const struct port_host *h = r->m->host;
	u64 queues = 0, vectors = 0, mapped = 0, bytes = 0;
	u32 i;

	for (i = 1; i <= be->info.io_queues; i++)
		queues += be->hwq[i].state != LIOV_HWQ_FREE;
	for (i = 0; i < h->nr_vectors; i++)
		vectors += h->irq[i].requested;
	for (i = 0; i < HOST_PASIDS; i++)
		mapped += h->space[i].mapped_bytes;
	for (i = 0; i < h->low.nr; i++)
		bytes += h->low.free[i].len;
	for (i = 0; i < h->high.nr; i++)
		bytes += h->high.free[i].len;
	set(L, "queues_taken", queues);
	set(L, "vectors_taken", vectors);
	set(L, "pages_mapped", mapped >> SPEC_PAGE_SHIFT);
	set(L, "pages_free", bytes >> SPEC_PAGE_SHIFT);
}

static int m_counters(lua_State *L)
{
	struct run *r = check_m(L);
	const struct nvme_counters *c = nvme_counters(r->m->nvme);
	const struct vtd_counters *v = vtd_counters(r->m->vtd);

	lua_newtable(L);
	set(L, "sqes_fetched", c->sqes_fetched);
	set(L, "cqes_posted", c->cqes_posted);
	set(L, "admin_commands", c->admin_commands);
	set(L, "refused", c->refused);
	set(L, "doorbells", c->doorbells);
	set(L, "doorbells_bad", c->doorbells_bad);
	set(L, "log_pages", c->log_pages);
	set(L, "events_pending", r->m->backend.admin.nr_aer);
	set(L, "read_blocks", c->read_blocks);
	set(L, "written_blocks", c->written_blocks);
	set(L, "resets", c->resets);
	set(L, "iotlb_hit", v->iotlb_hit);
	set(L, "iotlb_miss", v->iotlb_miss);
	set(L, "vtd_faults", v->faults);
	set(L, "irte_faults", v->irte_faults);
	set(L, "posted", v->posted);
	set(L, "host_syncs", r->m->host->syncs);
	set(L, "faults_read", r->m->host->faults_read);
	set(L, "faults_overflowed", r->m->host->faults_overflowed);
	set(L, "faults_ps", r->m->host->faults_ps);
	set(L, "quarantined", r->m->backend.nr_quarantined);
	count_taken(L, r);
	return 1;
}

static int m_queue_fetched(lua_State *L)
{
	const struct nvme_counters *c = nvme_counters(check_m(L)->m->nvme);
	u64 qid = arg_u64(L, 2, "the hardware queue");

	lua_pushinteger(L, qid < 512 ? (lua_Integer)c->queue_fetched[qid] : 0);
	return 1;
}

/* Translations for a hardware queue's commands: found in the IOTLB, and not. */
static int m_queue_iotlb(lua_State *L)
{
	const struct vtd_counters *v = vtd_counters(check_m(L)->m->vtd);
	u64 qid = arg_u64(L, 2, "the hardware queue") & 511;

	lua_pushinteger(L, (lua_Integer)v->queue_hit[qid]);
	lua_pushinteger(L, (lua_Integer)v->queue_miss[qid]);
	return 2;
}

static int m_violations(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)oracle_count(check_m(L)->oracle));
	return 1;
}

static int m_fields(lua_State *L)
{
	struct run *r = check_m(L);
	const char *name = lua_tostring(L, 2);

	if (strcmp(name, "policy") == 0)
		lua_pushstring(L, policy_name(r->policy));
	else if (strcmp(name, "seed") == 0)
		lua_pushinteger(L, (lua_Integer)r->opt->seed);
	else if (strcmp(name, "bar0") == 0)
		lua_pushinteger(L, (lua_Integer)pci_bar_base(nvme_function(r->m->nvme), 0));
	else if (strcmp(name, "dstrd") == 0)
		lua_pushinteger(L, r->cfg.ssd.dstrd);
	else if (strcmp(name, "msix_table") == 0)
		lua_pushinteger(L, nvme_function(r->m->nvme)->cfg.msix_table_off);
	else if (strcmp(name, "cmb_iova") == 0)
		lua_pushinteger(L, (lua_Integer)r->m->backend.cmb_bus_addr);
	else if (strcmp(name, "events_sent") == 0)
		lua_pushinteger(L, (lua_Integer)r->events_sent);
	else if (strcmp(name, "csts") == 0)
		lua_pushinteger(L, port_mmio_rd32(&r->m->backend.bar0, NVME_REG_CSTS));
	else if (strcmp(name, "asq_iova") == 0)
		lua_pushinteger(L, (lua_Integer)r->m->backend.admin.iova.v);
	else if (strcmp(name, "admin_tail") == 0)
		lua_pushinteger(L, r->m->backend.admin.sq_tail);
	else if (strcmp(name, "blocks") == 0)
		lua_pushinteger(L, (lua_Integer)r->cfg.ssd.nsze);
	else
		return 0;
	return 1;
}

static int actor_join(lua_State *L)
{
	struct actor *a = object_check(L, 1, "actor");

	while (!a->done)
		task_wait(&a->task->joiners, TASK_FOREVER);
	return 0;
}

void verbs_open_machine(lua_State *L)
{
	static const luaL_Reg verbs[] = {
		{ "vm", m_vm }, { "create_vm", m_create_vm }, { "destroy", m_destroy }, { "sleep", m_sleep }, { "now", m_now },
		{ "spawn", m_spawn }, { "reset_controller", m_reset_controller }, { "plant", m_plant }, { "release_queue", m_release_queue },
		{ "toggle_enable", m_toggle_enable }, { "iommu_unmap", m_iommu_unmap }, { "zap", m_zap }, { "balloon", m_balloon }, { "plug", m_plug },
		{ "media_holds", m_media_holds }, { "media_read", m_media_read }, { "counters", m_counters },
		{ "queue_fetched", m_queue_fetched }, { "queue_iotlb", m_queue_iotlb }, { "violations", m_violations }, { NULL, NULL }
	};
	static const luaL_Reg actor_verbs[] = { { "join", actor_join }, { NULL, NULL } };

	object_kind(L, "machine", verbs, m_fields);
	object_kind(L, "actor", actor_verbs, NULL);
}
