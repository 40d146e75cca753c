// SPDX-License-Identifier: GPL-2.0
/* Verbs of a VM other than memory and I/O: vm:... */

#include "engine.h"
#include "host/host.h"

#include <string.h>

/* The actor's own vCPU, if it stands on this VM; else the first. */
struct stand stand_on(lua_State *L, struct script_vm *v)
{
	struct actor *a = actor_now();
	struct stand s = { .task = task_current() };

	if (!v->vm || v->vm->dead)
		luaL_error(L, "VM %s is gone; make another with m:create_vm{...}", v->name);
	s.before = s.task->gvcpu;
	s.gv = &v->vm->gv[a->vm == v && a->vcpu < v->vm->nr_gv ? a->vcpu : 0];
	s.task->gvcpu = s.gv;
	return s;
}

/* What the accesses cost passes; then the task stands where it stood. */
void stand_off(struct stand *s)
{
	if (!s->gv->vm->dead) {
		vm_drain_stores(s->gv);
		vm_pass(s->gv, 0);
	}
	s->task->gvcpu = s->before;
}

static int vm_start(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u32 queues = 0, depth = 0;
	struct stand s;
	int ret;

	if (!lua_isnoneornil(L, 2)) {
		struct args a = args_open(L, 2, "start", "queues depth driver");
		const char *driver = args_text(&a, "driver", v->is_stock ? "stock" : "lightiov");

		queues = (u32)args_range(&a, "queues", 0, 0, LIOV_VM_QUEUES_MAX);
		depth = (u32)args_range(&a, "depth", 0, 0, LIOV_QUEUE_DEPTH_MAX);
		if (!word_in("stock lightiov", driver))
			return luaL_error(L, "start: no driver '%s'; there are lightiov and stock", driver);
		v->is_stock = strcmp(driver, "stock") == 0;
	}
	s = stand_on(L, v);
	ret = run_start_vm(v, queues, depth);
	stand_off(&s);
	push_status(L, ret);
	return 1;
}

static int vm_stop(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	struct stand s = stand_on(L, v);

	if (v->is_stock && v->stock)
		stock_stop(v->stock);
	else
		vm_frontend_stop(v->vm);
	v->stock = NULL;
	stand_off(&s);
	return 0;
}

static int vm_kill(lua_State *L)
{
	vm_destroy(check_live_vm(L, 1)->vm);
	return 0;
}

static void set(lua_State *L, const char *name, u64 v)
{
	lua_pushinteger(L, (lua_Integer)v);
	lua_setfield(L, -2, name);
}

/* What queue pair @i (from 1) is: hardware's number, its pages and doorbells as the guest's and as the device's addresses. */
static int vm_queue(lua_State *L)
{
	struct script_vm *v = check_vm(L, 1);
	u64 i = arg_u64(L, 2, "the queue");
	const struct liov_hwq *q;
	u64 slot;

	if (!v->vm || i == 0 || i > v->vm->cfg.liov.nr_queues)
		return luaL_error(L, "VM %s has no queue %I; they count from 1", v->name, (lua_Integer)i);
	slot = VM_CMB_GPA + LIOV_CMB_SLOTS + (i - 1) * LIOV_CMB_SLOT_STRIDE;
	lua_newtable(L);
	set(L, "slot", slot);
	set(L, "sq_gpa", slot + LIOV_SLOT_SQ);
	set(L, "cq_gpa", slot + LIOV_SLOT_CQ);
	if (v->vm->has_liov && v->vm->liov.queue[i - 1]) {
		q = v->vm->liov.queue[i - 1];
		set(L, "qid", q->qid);
		set(L, "sq_iova", q->sq_iova.v);
		set(L, "cq_iova", q->cq_iova.v);
	}
	if (v->vm->fe && i <= v->vm->fe->nr_queues) {
		const struct liov_fe_queue *f = &v->vm->fe->queue[i - 1];
		u64 base = f->doorbell_in_cmb ? VM_CMB_GPA : VM_BAR0_GPA;

		set(L, "entries", f->entries);
		set(L, "sq_tail", f->sq_tail);
		set(L, "cq_head", f->cq_head);
		set(L, "sq_doorbell", base + f->sq_doorbell);
		set(L, "cq_doorbell", base + f->cq_doorbell);
	}
	return 1;
}

static int vm_admin_verb(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	struct args a = args_open(L, 2, "admin", "opcode flags nsid prp1 prp2 cdw2 cdw3 cdw10 cdw11 cdw12 cdw13 cdw14 cdw15");
	struct nvme_sqe sqe = {
		.opcode = (u8)args_need(&a, "opcode"), .flags = (u8)args_u64(&a, "flags", 0), .nsid = (u32)args_u64(&a, "nsid", 0),
		.cdw2 = (u32)args_u64(&a, "cdw2", 0), .cdw3 = (u32)args_u64(&a, "cdw3", 0),
		.prp1 = args_u64(&a, "prp1", 0), .prp2 = args_u64(&a, "prp2", 0),
		.cdw10 = (u32)args_u64(&a, "cdw10", 0), .cdw11 = (u32)args_u64(&a, "cdw11", 0), .cdw12 = (u32)args_u64(&a, "cdw12", 0),
		.cdw13 = (u32)args_u64(&a, "cdw13", 0), .cdw14 = (u32)args_u64(&a, "cdw14", 0), .cdw15 = (u32)args_u64(&a, "cdw15", 0),
	};
	struct run *r = v->run;
	u32 dw0 = 0;
	int ret;
	struct stand s = stand_on(L, v);

	ret = v->is_stock ? (v->stock ? stock_admin(v->stock, &sqe, &dw0) : -ENODEV) : vm_admin(v->vm, &sqe, &dw0);
	stand_off(&s);
	if (ret >= 0 && r->attack_open && (r->attackers >> v->vm->cfg.id & 1))
		judge_status(r->judge, (u16)(ret & NVME_STATUS_CODE));
	push_status(L, ret < 0 ? ret : ret & NVME_STATUS_CODE);
	lua_pushinteger(L, dw0);
	return 2;
}

static int vm_cfg_read(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u32 off = (u32)arg_u64(L, 2, "the offset"), val;
	struct stand s = stand_on(L, v);

	val = sim_guest_cfg_rd32(&v->vm->guest, off);
	stand_off(&s);
	lua_pushinteger(L, val);
	return 1;
}

static int vm_cfg_write(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u32 off = (u32)arg_u64(L, 2, "the offset"), val = (u32)arg_u64(L, 3, "the value");
	u32 len = (u32)arg_u64_or(L, 4, "the width", 4);
	struct stand s = stand_on(L, v);

	vm_cfg_wr(&v->vm->guest, off, val, len);
	stand_off(&s);
	return 0;
}

static int memory_verb(lua_State *L, bool add)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), len = arg_u64(L, 3, "the length");
	struct stand s = stand_on(L, v);
	struct liov_frontend *fe = vm_frontend_enter(v->vm);
	int ret;

	if (!fe)
		ret = -ENODEV;
	else if (add)
		ret = liov_frontend_mem_register(fe, (gpa_t){ gpa }, len);
	else
		ret = liov_frontend_mem_unregister(fe, (gpa_t){ gpa }, len);
	if (fe)
		vm_frontend_leave(v->vm);
	stand_off(&s);
	push_status(L, ret);
	return 1;
}

static int vm_register_memory(lua_State *L)
{
	return memory_verb(L, true);
}

static int vm_unregister_memory(lua_State *L)
{
	return memory_verb(L, false);
}

static struct gvcpu *check_vcpu(lua_State *L, struct script_vm *v, int index)
{
	u64 i = arg_u64_or(L, index, "the vCPU", 0);

	if (i >= v->vm->nr_gv)
		luaL_error(L, "VM %s has no vCPU %I; they count from 0", v->name, (lua_Integer)i);
	return &v->vm->gv[i];
}

static int vm_preempt(lua_State *L)
{
	struct gvcpu *gv = check_vcpu(L, check_live_vm(L, 1), 2);

	if (gv->vcpu.state == VCPU_RUNNING && gv->vcpu.outside == 0)
		host_vcpu_preempt(gv);
	return 0;
}

/* vm:run(vcpu, core): back on its core, or on another. */
static int vm_run(lua_State *L)
{
	struct run *r = run_of(L);
	struct gvcpu *gv = check_vcpu(L, check_live_vm(L, 1), 2);

	if (gv->vcpu.state != VCPU_RUNNING) {
		u64 core = arg_u64_or(L, 3, "the core", gv->vcpu.pcpu);

		if (core != gv->vcpu.pcpu && (core >= r->cfg.pcpus || vm_core_is_taken(r->m, (u32)core)))
			return luaL_error(L, "run: core %I is another vCPU's, or not there; there are %d", (lua_Integer)core, (int)r->cfg.pcpus);
		gv->vcpu.pcpu = (unsigned int)core;
		host_vcpu_run(gv);
	}
	task_wake_all(&gv->idle_wait);
	task_wake_one(&gv->irq_wait);
	return 0;
}

/* vm:migrate(vcpu, core): to a core that is nobody's, where it runs on. */
static int vm_migrate(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	struct gvcpu *gv = check_vcpu(L, v, 2);
	u64 core = arg_u64(L, 3, "the core");

	if (core >= v->run->cfg.pcpus || vm_core_is_taken(v->run->m, (u32)core) || gv->vcpu.outside)
		return luaL_error(L, "migrate: core %I is another vCPU's, or not there; there are %d", (lua_Integer)core, (int)v->run->cfg.pcpus);
	host_vcpu_migrate(gv, (u32)core);
	task_wake_all(&gv->idle_wait);
	task_wake_one(&gv->irq_wait);
	return 0;
}

/* Exits of all vCPUs, by basic reason or together. */
static int vm_exits(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 reason = arg_u64_or(L, 2, "the exit reason", ~0ull), n = 0;
	u32 i, k;

	for (i = 0; i < v->vm->nr_gv; i++)
		for (k = 0; k < EXIT_REASON_COUNT; k++)
			if (reason == ~0ull || reason == k)
				n += v->vm->gv[i].vcpu.exits[k];
	lua_pushinteger(L, (lua_Integer)n);
	return 1;
}

static int vm_interrupts(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 n = 0;
	u32 i;

	for (i = 0; i < v->vm->nr_gv; i++)
		n += v->vm->gv[i].interrupts;
	lua_pushinteger(L, (lua_Integer)n);
	return 1;
}

static u32 most_faults(const struct port_vm *vm)
{
	u32 most = 0, i;

	for (i = 0; i < sizeof(vm->page_faults) / sizeof(vm->page_faults[0]); i++)
		if (vm->page_faults[i] > most)
			most = vm->page_faults[i];
	return most;
}

static int vm_fields(lua_State *L)
{
	const struct script_vm *v = object_test(L, 1, "vm");
	const char *name = lua_tostring(L, 2);
	const struct port_vm *vm = v ? v->vm : NULL;

	if (!v)
		return 0;
	if (strcmp(name, "name") == 0) {
		lua_pushstring(L, v->name);
		return 1;
	}
	if (strcmp(name, "alive") == 0) {
		lua_pushboolean(L, vm && !vm->dead);
		return 1;
	}
	if (!vm)
		return 0;
	if (strcmp(name, "id") == 0)
		lua_pushinteger(L, vm->cfg.id);
	else if (strcmp(name, "lba_start") == 0)
		lua_pushinteger(L, (lua_Integer)vm->liov.lba.start);
	else if (strcmp(name, "lba_base") == 0)	/* what a driver adds: lba_start, or 0 where the mediator does */
		lua_pushinteger(L, vm->fe ? (lua_Integer)vm->fe->info.lba_start : 0);
	else if (strcmp(name, "nsid") == 0)	/* what its commands name: 1, or under siov a namespace of its own */
		lua_pushinteger(L, vm->liov.nsid);
	else if (strcmp(name, "pasid") == 0)	/* of all requests of its queues, under siov */
		lua_pushinteger(L, vm->liov.pasid);
	else if (strcmp(name, "lba_count") == 0)
		lua_pushinteger(L, (lua_Integer)vm->liov.lba.count);
	else if (strcmp(name, "dma_offset") == 0)
		lua_pushinteger(L, (lua_Integer)vm->liov.dma_offset);
	else if (strcmp(name, "memory") == 0)
		lua_pushinteger(L, (lua_Integer)vm->cfg.ram[0].gpa);
	else if (strcmp(name, "memory_len") == 0)
		lua_pushinteger(L, (lua_Integer)vm->cfg.ram[0].len_bytes);
	else if (strcmp(name, "bar0") == 0)
		lua_pushinteger(L, (lua_Integer)VM_BAR0_GPA);
	else if (strcmp(name, "cmb") == 0)
		lua_pushinteger(L, (lua_Integer)VM_CMB_GPA);
	else if (strcmp(name, "cmb_size") == 0)
		lua_pushinteger(L, (lua_Integer)vm->liov.cmb_size);
	else if (strcmp(name, "ept_faults") == 0)
		lua_pushinteger(L, (lua_Integer)vm->ept_faults);
	else if (strcmp(name, "ept_refused") == 0)
		lua_pushinteger(L, (lua_Integer)vm->ept_refused);
	else if (strcmp(name, "most_faults") == 0)
		lua_pushinteger(L, most_faults(vm));
	else if (strcmp(name, "device_exits") == 0)
		lua_pushinteger(L, (lua_Integer)vm->device_exits);
	else
		return 0;
	return 1;
}

void verbs_open_vm(lua_State *L)
{
	static const luaL_Reg verbs[] = {
		{ "start", vm_start }, { "stop", vm_stop }, { "kill", vm_kill }, { "queue", vm_queue }, { "admin", vm_admin_verb },
		{ "cfg_read", vm_cfg_read }, { "cfg_write", vm_cfg_write }, { "register_memory", vm_register_memory },
		{ "unregister_memory", vm_unregister_memory }, { "preempt", vm_preempt }, { "run", vm_run }, { "migrate", vm_migrate },
		{ "exits", vm_exits },
		{ "interrupts", vm_interrupts }, { NULL, NULL }
	};

	object_kind(L, "vm", verbs, vm_fields);
}
