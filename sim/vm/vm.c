// SPDX-License-Identifier: GPL-2.0
/* A VM's life, its vCPUs' time and interrupts. */

#include "vm/vm.h"
#include "host/host.h"

#include <assert.h>
#include <stdlib.h>

#define STORE_DRAIN_PS (5 * PS_PER_US)
#define IRQ_HANDLER_PS (300 * PS_PER_NS)	/* entry and exit of a guest's handler */

bool vm_gpa_to_hpa(const struct port_vm *vm, gpa_t gpa, u64 len, hpa_t *out)
{
	u32 i;

	for (i = 0; i < vm->nr_ram; i++) {
		const struct vm_ram *r = &vm->ram[i];

		if (gpa.v >= r->gpa.v && gpa.v - r->gpa.v < r->len_bytes && len <= r->len_bytes - (gpa.v - r->gpa.v)) {
			*out = (hpa_t){ r->hpa.v + (gpa.v - r->gpa.v) };
			return true;
		}
	}
	return false;
}

void vm_pass(struct gvcpu *gv, u64 extra_ps)
{
	u64 now = sched_now(gv->vm->m->sched);
	u64 cost = gv->vcpu.spent_ps + extra_ps;

	gv->vcpu.spent_ps = 0;
	if (cost == 0)
		return;
	if (gv->busy_until_ps < now)
		gv->busy_until_ps = now;
	gv->busy_until_ps += cost;
	task_sleep(gv->busy_until_ps - now);
}

void vm_enter(struct gvcpu *gv)
{
	while (gv->vm->dead || gv->vcpu.state == VCPU_PREEMPTED)
		task_wait(&gv->idle_wait, TASK_FOREVER);
	if (gv->vcpu.state == VCPU_HALTED)
		host_vcpu_run(gv);
}

static inline void vm_ensure_running(struct gvcpu *gv)
{
	if (gv->vcpu.state != VCPU_RUNNING || gv->vm->dead)
		vm_enter(gv);
}

void vm_load(struct gvcpu *gv, gpa_t gpa, void *buf, u32 len)
{
	schedule_point(gv->vm->m);
	vm_ensure_running(gv);
	if (gv->nr_stores)
		vm_drain_stores(gv);
	vcpu_read(&gv->vcpu, gpa, buf, len);
}

void vm_post_store(struct gvcpu *gv, gpa_t gpa, const void *buf, u32 len)
{
	schedule_point(gv->vm->m);
	vm_ensure_running(gv);
	if (gv->nr_stores && !event_is_queued(&gv->store_drain))
		sched_after(gv->vm->m->sched, &gv->store_drain, STORE_DRAIN_PS);
	vcpu_write(&gv->vcpu, gpa, buf, len);
}

void vm_store(struct gvcpu *gv, gpa_t gpa, const void *buf, u32 len)
{
	schedule_point(gv->vm->m);
	vm_ensure_running(gv);
	if (gv->nr_stores)
		vm_drain_stores(gv);
	vcpu_write(&gv->vcpu, gpa, buf, len);
}

void vm_drain_stores(struct gvcpu *gv)
{
	u32 i, n = gv->nr_stores;
	typeof(gv->store) store;

	/* A store may exit and wait, and another task of this vCPU fill the buffer meanwhile. */
	memcpy(store, gv->store, n * sizeof(store[0]));
	gv->nr_stores = 0;
	vm_ensure_running(gv);
	for (i = 0; i < n; i++) {
		schedule_point(gv->vm->m);
		vm_ensure_running(gv);
		vcpu_write(&gv->vcpu, (gpa_t){ store[i].gpa }, store[i].data, store[i].len);
	}
}

/* Nobody fenced them: they reach memory late, past the doorbell that followed. Straight to memory: no task stands here. */
static void store_drain_late(struct event *ev)
{
	struct gvcpu *gv = container_of_event(ev, struct gvcpu, store_drain);
	struct machine *m = gv->vm->m;
	u32 i;

	for (i = 0; i < gv->nr_stores; i++) {
		gpa_t gpa = { gv->store[i].gpa };
		u32 len = gv->store[i].len;
		struct ept_walk w;

		if (ept_walk(&m->bus, gv->vcpu.eptp, gpa, EPT_ACCESS_W, &w) != EPT_OK ||
		    !bus_ram_write(&m->bus, w.hpa, gv->store[i].data, len))
			continue;
		trace_data(&m->trace, TRACE_CPU_STORE, 0, gv->vcpu.id, gpa.v, w.hpa.v, len, gv->store[i].data, len);
	}
	gv->nr_stores = 0;
}

void vm_irq_ready(void *opaque, struct vcpu *vcpu)
{
	struct gvcpu *gv = opaque;

	(void)vcpu;
	if (gv->irq_off == 0)
		task_wake_one(&gv->irq_wait);
	task_wake_all(&gv->idle_wait);
}

/* The vCPU's interrupt handling: one task, which takes vectors as their priority lets them in. */
static void vm_irq_main(void *arg)
{
	struct gvcpu *gv = arg;
	struct port_guest *g = &gv->vm->guest;

	for (;;) {
		int vec = -1;

		if (!gv->vm->dead && gv->irq_off == 0 && gv->vcpu.state == VCPU_RUNNING)
			vec = vcpu_irq_accept(&gv->vcpu);
		if (vec < 0) {
			task_wait(&gv->irq_wait, TASK_FOREVER);
			continue;
		}
		gv->in_irq = true;
		gv->irq_vector = (u8)vec;
		gv->interrupts++;
		if (g->handler[vec].fn)
			g->handler[vec].fn(g->handler[vec].arg);
		vcpu_eoi(&gv->vcpu);
		gv->in_irq = false;
		vm_pass(gv, IRQ_HANDLER_PS);
		gv->handled++;
		task_wake_all(&gv->idle_wait);
	}
}

bool vm_idle(struct gvcpu *gv, u64 timeout_ps)
{
	u64 handled = gv->handled;
	bool woken;

	gv->kicked = false;
	vm_pass(gv, 0);
	/* What the caller waits for may have come while the time passed. */
	if (gv->handled != handled)
		return true;
	/* While another task's exit is handled the vCPU is the host's: it cannot halt. */
	if (gv->vm->cfg.halt_when_idle && gv->vcpu.state == VCPU_RUNNING && gv->vcpu.outside == 0 && !gv->vm->dead &&
	    !gv->in_irq && gv->irq_off == 0 && !vcpu_irq_pending(&gv->vcpu))
		host_vcpu_halt(gv);
	woken = gv->kicked || gv->handled != handled || task_wait(&gv->idle_wait, timeout_ps);
	if (gv->vcpu.state == VCPU_HALTED && !gv->vm->dead) {
		task_sleep(gv->vm->m->cfg.halt_wake_ps);
		if (gv->vcpu.state == VCPU_HALTED && !gv->vm->dead)
			host_vcpu_run(gv);
	}
	vm_ensure_running(gv);
	return woken;
}

struct task *vm_task(struct gvcpu *gv, const char *name, void (*fn)(void *arg), void *arg)
{
	struct task *t = machine_task(gv->vm->m, name, fn, arg);

	if (t)
		t->gvcpu = gv;
	return t;
}

static const struct vcpu_ops vm_vcpu_ops = { .ept_exit = host_ept_exit, .irq_ready = vm_irq_ready };

bool vm_core_is_taken(const struct machine *m, u32 core)
{
	u32 i;

	for (i = 0; i < MACHINE_VCPUS_MAX; i++)
		if (m->gvcpus[i] && m->gvcpus[i]->vcpu.pcpu == core)
			return true;
	return false;
}

/* @wanted, if it is nobody's, or the first that is; nr_pcpus: none. */
static u32 free_core(const struct machine *m, u32 wanted)
{
	u32 core = 0;

	if (!vm_core_is_taken(m, wanted))
		return wanted;
	while (core < m->cpu.nr_pcpus && vm_core_is_taken(m, core))
		core++;
	return core;
}

static int vm_init_vcpus(struct port_vm *vm)
{
	struct machine *m = vm->m;
	u32 i;

	vm->pids = host_frames_take(m->host, &m->host->low, SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, SIM_OWNER_HOST);
	if (hpa_bad(vm->pids))
		return -ENOMEM;
	for (i = 0; i < vm->cfg.vcpus; i++) {
		struct gvcpu *gv = &vm->gv[i];
		u32 id = 0, core;

		while (id < MACHINE_VCPUS_MAX && m->gvcpus[id])
			id++;
		if (id == MACHINE_VCPUS_MAX || id >= m->cpu.nr_pcpus)
			return -ENOSPC;
		core = free_core(m, id);
		if (core == m->cpu.nr_pcpus)
			return -ENOSPC;
		vcpu_init(&gv->vcpu, id, &m->cpu, &vm_vcpu_ops, gv);
		gv->vm = vm;
		gv->index = i;
		gv->vcpu.eptp = vm->eptp;
		gv->vcpu.pid.v = vm->pids.v + i * PID_SIZE;
		gv->vcpu.notification_vector = HOST_NV_POSTED;
		gv->vcpu.pcpu = core;
		event_init(&gv->store_drain, store_drain_late, EVENT_PRIO_CPU);
		m->gvcpus[id] = gv;
		if (id >= m->nr_vcpus)
			m->nr_vcpus = id + 1;
		vm->nr_gv++;
		if (!vm_task(gv, "guest irq", vm_irq_main, gv))
			return -ENOMEM;
		host_vcpu_run(gv);
	}
	return 0;
}

static int vm_init_memory(struct port_vm *vm)
{
	struct machine *m = vm->m;
	u32 i;

	for (i = 0; i < vm->cfg.nr_ram; i++) {
		u64 gpa = vm->cfg.ram[i].gpa, len = vm->cfg.ram[i].len_bytes;
		hpa_t hpa;

		if (len == 0 || ((gpa | len) & (SPEC_PAGE_SIZE - 1)) || gpa + len > 1ull << EPT_GPA_BITS || gpa + len < gpa)
			return -EINVAL;
		if (sim_vm_mem_overlaps(vm, (gpa_t){ gpa }, len))
			return -EINVAL;
		hpa = host_frames_take(m->host, &m->host->high, len, 0x200000, vm->cfg.id);
		if (hpa_bad(hpa))
			return -ENOMEM;
		vm->ram[vm->nr_ram++] = (struct vm_ram){ { gpa }, len, hpa, false, vm->cfg.ram[i].no_read, vm->cfg.ram[i].no_write };
	}
	return host_ept_init(vm);
}

static void vm_release(struct port_vm *vm)
{
	struct machine *m = vm->m;
	u32 i;

	for (i = 0; i < vm->nr_gv; i++) {
		struct gvcpu *gv = &vm->gv[i];

		if (gv->vcpu.state == VCPU_RUNNING)
			host_vcpu_preempt(gv);
		sched_cancel(m->sched, &gv->store_drain);
		m->gvcpus[gv->vcpu.id] = NULL;
	}
	host_ept_fini(vm);
	if (vm->pids.v && !hpa_bad(vm->pids))
		host_frames_give(m->host, &m->host->low, vm->pids, SPEC_PAGE_SIZE);
	vm->pids.v = 0;
}

/* A part of a range's frames is free, where they were any. */
static void vm_give_frames(struct port_vm *vm, const struct vm_ram *r, u64 off, u64 len)
{
	struct port_host *h = vm->m->host;

	if (!r->no_frames)
		host_frames_give(h, r->hpa.v < MACHINE_LOW_RAM ? &h->low : &h->high, (hpa_t){ r->hpa.v + off }, len);
}

/* The exit of the VMM's process: its memory goes but for what is pinned, and that with the last pin. */
static void vm_free_memory(struct port_vm *vm)
{
	u32 i;

	if (!vm->exited || vm->pinned_bytes)
		return;
	for (i = 0; i < vm->nr_ram; i++)
		vm_give_frames(vm, &vm->ram[i], 0, vm->ram[i].len_bytes);
	vm->nr_ram = 0;
}

int sim_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len)
{
	hpa_t hpa;

	if (!vm_gpa_to_hpa(vm, gpa, len, &hpa))
		return -EFAULT;
	if (!(vm->m->host->omit & HOST_OMIT_VM_MEM_PIN) && HOST_STEP(host_vm_mem_pin))
		vm->pinned_bytes += len;
	return 0;
}

void sim_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len)
{
	(void)gpa;
	if ((vm->m->host->omit & HOST_OMIT_VM_MEM_PIN) || !HOST_STEP(host_vm_mem_pin))
		return;
	assert(vm->pinned_bytes >= len);
	vm->pinned_bytes -= len;
	vm_free_memory(vm);
}

/* Queues the backend gave or took: what the host was told, for those who watch. */
static void vm_tell(struct port_vm *vm, bool created)
{
	struct machine *m = vm->m;
	u32 i;

	trace4(&m->trace, SIM_TRACE_VM, 0, vm->cfg.id, created, vm->liov.lba.start, vm->liov.lba.count);
	for (i = 0; created && i < vm->cfg.liov.nr_queues; i++)
		if (vm->liov.queue[i])
			trace4(&m->trace, SIM_TRACE_QUEUE, 0, vm->cfg.id, vm->liov.queue[i]->qid, 1, 0);
}

int vm_create(struct machine *m, const struct vm_config *cfg, struct port_vm **out)
{
	struct port_vm *vm;
	int ret;

	if (cfg->id >= MACHINE_VMS_MAX || cfg->vcpus == 0 || cfg->vcpus > VM_VCPUS_MAX || cfg->nr_ram == 0 ||
	    cfg->nr_ram > VM_RAM_MAX || m->vms[cfg->id])
		return -EINVAL;
	vm = calloc(1, sizeof(*vm));
	if (!vm)
		return -ENOMEM;
	vm->m = m;
	vm->cfg = *cfg;
	vm->guest.vm = vm;
	m->vms[cfg->id] = vm;
	ret = vm_init_memory(vm);
	if (ret == 0)
		ret = vm_init_vcpus(vm);
	if (ret)
		goto out;
	home_init(&vm->guest.home, m, vm, &vm->gv[0]);
	vm->guest.dma_next.v = cfg->ram[0].gpa + cfg->ram[0].len_bytes;
	vm->guest.dma_limit.v = cfg->ram[0].gpa + cfg->ram[0].len_bytes / 2;
	vm->cfg.liov.id = cfg->id;
	ret = liov_vm_create(&m->backend, &vm->liov, vm, &vm->cfg.liov);
	if (ret)
		goto out;
	vm->has_liov = true;
	/* Firmware's part in the VM: BARs at fixed places. */
	liov_device_cfg_wr(&vm->liov, PCIS_BAR0, (u32)VM_BAR0_GPA, 4);
	liov_device_cfg_wr(&vm->liov, PCIS_BAR(1), 0, 4);
	liov_device_cfg_wr(&vm->liov, PCIS_BAR(LIOV_CMB_BAR), (u32)VM_CMB_GPA, 4);
	liov_device_cfg_wr(&vm->liov, PCIS_BAR(LIOV_CMB_BAR + 1), 0, 4);
	vm_tell(vm, true);
	*out = vm;
	return 0;
out:
	vm->dead = vm->exited = true;
	vm->guest.home.dead = true;
	vm_release(vm);
	vm_free_memory(vm);
	return ret;
}

void vm_destroy(struct port_vm *vm)
{
	u32 i;

	if (vm->dead)
		return;
	vm->dead = true;
	vm->guest.home.dead = true;
	for (i = 0; i < vm->nr_gv; i++) {
		/* What its cores still hold back arrives while the memory is its own. */
		sched_cancel(vm->m->sched, &vm->gv[i].store_drain);
		store_drain_late(&vm->gv[i].store_drain);
		if (vm->gv[i].vcpu.state == VCPU_RUNNING && vm->gv[i].vcpu.outside == 0)
			host_vcpu_preempt(&vm->gv[i]);
	}
	vm->exited = true;
	vm_free_memory(vm);
	if (vm->has_liov)
		liov_vm_destroy(&vm->liov);
	vm->has_liov = false;
	vm_tell(vm, false);
	vm_release(vm);
}

int vm_queue_release(struct port_vm *vm, u32 index)
{
	struct liov_hwq *q = index < LIOV_VM_QUEUES_MAX ? vm->liov.queue[index] : NULL;
	u32 qid = q ? q->qid : 0;
	int ret = liov_vm_queue_release(&vm->liov, index);

	if (ret == 0)
		trace4(&vm->m->trace, SIM_TRACE_QUEUE, 0, vm->cfg.id, qid, 0, 0);
	return ret;
}

int vm_balloon_out(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u32 i;

	if (len == 0 || ((gpa.v | len) & (SPEC_PAGE_SIZE - 1)))
		return -EINVAL;
	for (i = 0; i < vm->nr_ram; i++) {
		struct vm_ram r = vm->ram[i];
		u64 lead = gpa.v - r.gpa.v, tail;

		if (gpa.v < r.gpa.v || lead >= r.len_bytes || len > r.len_bytes - lead)
			continue;
		tail = r.len_bytes - lead - len;
		if (vm->nr_ram - 1 + (lead != 0) + (tail != 0) > VM_RAM_MAX)
			return -ENOSPC;
		vm->ram[i] = vm->ram[--vm->nr_ram];
		if (lead)
			vm->ram[vm->nr_ram++] = (struct vm_ram){ r.gpa, lead, r.hpa, r.no_frames, r.no_read, r.no_write };
		if (tail)
			vm->ram[vm->nr_ram++] = (struct vm_ram){ { gpa.v + len }, tail, { r.hpa.v + lead + len }, r.no_frames, r.no_read,
								     r.no_write };
		host_ept_unmap(vm, gpa, len);
		/* It is no memory of the VM's any more, so nobody registers it again meanwhile. */
		if (vm->has_liov)
			liov_vm_mem_forget(&vm->liov, gpa, len);
		vm_give_frames(vm, &r, lead, len);
		return 0;
	}
	return -EINVAL;
}

static int plug_check(struct port_vm *vm, gpa_t gpa, u64 len)
{
	if (len == 0 || ((gpa.v | len) & (SPEC_PAGE_SIZE - 1)) || sim_vm_mem_overlaps(vm, gpa, len))
		return -EINVAL;
	return vm->nr_ram == VM_RAM_MAX ? -ENOSPC : 0;
}

int vm_plug_at(struct port_vm *vm, gpa_t gpa, u64 len, hpa_t hpa)
{
	bool memory = bus_is_ram(&vm->m->bus, hpa, len);
	int ret = plug_check(vm, gpa, len);

	if (ret == 0 && memory && !host_frames_take_at(vm->m->host, hpa, len, vm->cfg.id))
		ret = -EBUSY;
	if (ret == 0)
		vm->ram[vm->nr_ram++] = (struct vm_ram){ gpa, len, hpa, !memory, false, false };
	return ret;
}

int vm_plug(struct port_vm *vm, gpa_t gpa, u64 len)
{
	int ret = plug_check(vm, gpa, len);
	hpa_t hpa;

	if (ret)
		return ret;
	hpa = host_frames_take(vm->m->host, &vm->m->host->high, len, SPEC_PAGE_SIZE, vm->cfg.id);
	if (hpa_bad(hpa))
		return -ENOMEM;
	vm->ram[vm->nr_ram++] = (struct vm_ram){ gpa, len, hpa, false, false, false };
	return 0;
}

gpa_t vm_alloc_pages(struct port_vm *vm, u32 nr)
{
	struct port_guest *g = &vm->guest;

	if (g->dma_next.v - g->dma_limit.v < (u64)nr * SPEC_PAGE_SIZE)
		return (gpa_t){ ~0ull };
	g->dma_next.v -= (u64)nr * SPEC_PAGE_SIZE;
	return g->dma_next;
}
