// SPDX-License-Identifier: GPL-2.0
/* The port's base part: what is the same for the host and for a guest. */

#include "home.h"
#include "host/host.h"
#include "vm/vm.h"
#include "store.h"

#include <assert.h>
#include <stdlib.h>

_Static_assert(sizeof(struct event) <= sizeof(((struct port_timer *)0)->event), "a timer holds an event");

struct sim_chunk {
	struct sim_chunk *next, *prev;
	u64 pad[2];		/* keeps what follows aligned */
};

static struct gvcpu *home_gvcpu(struct port_home *home)
{
	struct task *t = task_current();

	assert(home->vm && t && t->gvcpu && t->gvcpu->vm == home->vm);
	return t->gvcpu;
}

u64 sim_mmio_rd(struct port_home *home, u64 addr, unsigned int len)
{
	u64 val = 0;

	if (!home->vm) {
		schedule_point(home->m);
		return bus_cpu_read(&home->m->bus, (hpa_t){ addr }, len);
	}
	vm_load(home_gvcpu(home), (gpa_t){ addr }, &val, len);
	return val;
}

void sim_mmio_wr(struct port_home *home, u64 addr, u64 val, unsigned int len)
{
	if (home->vm) {
		vm_post_store(home_gvcpu(home), (gpa_t){ addr }, &val, len);
		return;
	}
	schedule_point(home->m);
	bus_cpu_write(&home->m->bus, (hpa_t){ addr }, val, len);
}

void sim_shm_rd(struct port_home *home, u64 addr, void *dst, u32 len)
{
	if (home->vm) {
		vm_load(home_gvcpu(home), (gpa_t){ addr }, dst, len);
		return;
	}
	schedule_point(home->m);
	if (!bus_ram_read(&home->m->bus, (hpa_t){ addr }, dst, len)) {
		u8 *p = dst;
		u32 i;

		/* A queue in the controller's own memory: registers as far as the bus is concerned. */
		for (i = 0; i < len; i++)
			p[i] = (u8)bus_cpu_read(&home->m->bus, (hpa_t){ addr + i }, 1);
	}
}

void sim_shm_wr(struct port_home *home, u64 addr, const void *src, u32 len)
{
	struct gvcpu *gv;

	if (!home->vm) {
		const u8 *p = src;
		u32 i;

		schedule_point(home->m);
		if (bus_ram_write(&home->m->bus, (hpa_t){ addr }, src, len))
			return;
		for (i = 0; i + 8 <= len; i += 8) {
			u64 v;

			memcpy(&v, p + i, 8);
			bus_cpu_write(&home->m->bus, (hpa_t){ addr + i }, v, 8);
		}
		for (; i < len; i++)
			bus_cpu_write(&home->m->bus, (hpa_t){ addr + i }, p[i], 1);
		return;
	}
	gv = home_gvcpu(home);
	if (len > sizeof(gv->store[0].data)) {
		vm_store(gv, (gpa_t){ addr }, src, len);
		return;
	}
	while (gv->nr_stores == VM_PENDING_STORES)	/* again: another task of this vCPU may have stored meanwhile */
		vm_drain_stores(gv);
	gv->store[gv->nr_stores].gpa = addr;
	gv->store[gv->nr_stores].len = len;
	memcpy(gv->store[gv->nr_stores].data, src, len);
	gv->nr_stores++;
}

void sim_shm_zero(struct port_home *home, u64 addr, u32 len)
{
	static const u8 zeros[4096];
	u32 n;

	if (!home->vm) {
		if (home->m->host && (home->m->host->omit & HOST_OMIT_SHM_ZERO))
			return;
		trace4(&home->m->trace, SIM_TRACE_ZEROED, 0, addr, len, 0, 0);
	}
	for (; len; len -= n, addr += n) {
		n = (u32)(4096 - (addr & 4095));
		if (n > len)
			n = len;
		sim_shm_wr(home, addr, zeros, n);
		if (home->vm)
			vm_drain_stores(home_gvcpu(home));
	}
}

void sim_wmb(struct port_home *home)
{
	if (home->vm) {
		struct gvcpu *gv = home_gvcpu(home);

		if (gv->nr_stores)
			vm_drain_stores(gv);
	}
}

/* A guest's lock keeps interrupts off its vCPU; the host's is never held while waiting. */
unsigned long sim_lock(struct port_lock *l)
{
	struct task *t = task_current();

	schedule_point(l->home->m);
	if (l->home->vm)
		home_gvcpu(l->home)->irq_off++;
	while (l->held) {
		assert(t && "a lock is held by a task that waits, and wanted in interrupt context");
		task_wait(&l->waiters, TASK_FOREVER);
	}
	l->held = true;
	return 0;
}

void sim_unlock(struct port_lock *l, unsigned long flags)
{
	(void)flags;
	assert(l->held);
	l->held = false;
	task_wake_one(&l->waiters);
	if (l->home->vm) {
		struct gvcpu *gv = home_gvcpu(l->home);

		if (--gv->irq_off == 0 && gv->irq_wait.head && vcpu_irq_pending(&gv->vcpu))
			task_wake_one(&gv->irq_wait);
	}
	schedule_point(l->home->m);
}

void sim_mutex_lock(struct port_mutex *m)
{
	while (m->held)
		task_wait(&m->waiters, TASK_FOREVER);
	m->held = true;
}

void sim_mutex_unlock(struct port_mutex *m)
{
	assert(m->held);
	m->held = false;
	task_wake_one(&m->waiters);
}

void sim_event_signal(struct port_event *ev)
{
	ev->signalled = true;
	task_wake_all(&ev->waiters);
}

bool sim_event_wait(struct port_event *ev, u64 timeout_ns)
{
	struct sched *s = ev->home->m->sched;
	u64 end = sched_now(s) + timeout_ns * PS_PER_NS;

	while (!ev->signalled) {
		u64 now = sched_now(s);

		if (now >= end || !task_wait(&ev->waiters, end - now))
			return ev->signalled;
	}
	return true;
}

static void worker_main(void *arg)
{
	struct port_home *home = arg;

	for (;;) {
		struct port_work *w = home->worker.head;

		if (!w || home->dead) {
			task_wait(&home->worker.wait, TASK_FOREVER);
			continue;
		}
		home->worker.head = w->next;
		if (!w->next)
			home->worker.tail = NULL;
		w->queued = false;
		w->running = true;
		w->fn(w->arg);
		w->running = false;
		task_wake_all(&w->idle);
	}
}

void sim_work_queue(struct port_work *w)
{
	struct worker *k = &w->home->worker;

	if (w->queued || w->cancelling)
		return;
	w->queued = true;
	w->next = NULL;
	if (k->tail)
		k->tail->next = w;
	else
		k->head = w;
	k->tail = w;
	task_wake_one(&k->wait);
}

void sim_work_cancel_sync(struct port_work *w)
{
	struct worker *k;

	if (!w->home)
		return;
	k = &w->home->worker;
	if (w->queued) {
		struct port_work **p = &k->head, *prev = NULL;

		while (*p != w) {
			prev = *p;
			p = &(*p)->next;
		}
		*p = w->next;
		if (k->tail == w)
			k->tail = prev;
		w->queued = false;
	}
	w->cancelling++;
	while (w->running)
		task_wait(&w->idle, TASK_FOREVER);
	w->cancelling--;
}

static void timer_fire(struct event *ev)
{
	struct port_timer *t = container_of_event(ev, struct port_timer, event);

	t->fn(t->arg);
}

void sim_timer_init(struct port_timer *t)
{
	event_init((struct event *)(void *)t->event, timer_fire, EVENT_PRIO_TIMEOUT);
}

void sim_timer_arm(struct port_timer *t, u64 delay_ns)
{
	struct event *ev = (struct event *)(void *)t->event;

	sched_cancel(t->home->m->sched, ev);
	sched_after(t->home->m->sched, ev, delay_ns * PS_PER_NS);
}

void sim_timer_cancel(struct port_timer *t)
{
	if (t->home)
		sched_cancel(t->home->m->sched, (struct event *)(void *)t->event);
}

void sim_sleep_ns(struct port_home *home, u64 ns)
{
	(void)home;
	task_sleep(ns * PS_PER_NS);
}

u64 sim_now_ns(struct port_home *home)
{
	return sched_now(home->m->sched) / PS_PER_NS;
}

void sim_trace(struct port_home *home, const struct liov_trace *t)
{
	u32 vm = t->vm == LIOV_TRACE_SELF && home->vm ? home->vm->cfg.id : t->vm;

	trace4(&home->m->trace, SIM_TRACE_LIOV + t->kind, 0, vm, (u64)t->component << 32 | t->code, t->a, t->b);
}

void *sim_alloc(struct port_home *home, size_t bytes)
{
	struct sim_chunk *c;

	home->allocs++;
	if (fault_hits(&home->no_memory, 0))
		return NULL;
	c = calloc(1, sizeof(*c) + bytes);
	if (!c)
		return NULL;
	c->next = home->chunks;
	if (c->next)
		c->next->prev = c;
	home->chunks = c;
	return c + 1;
}

void sim_free(struct port_home *home, void *p)
{
	struct sim_chunk *c;

	if (!p)
		return;
	c = (struct sim_chunk *)p - 1;
	if (c->prev)
		c->prev->next = c->next;
	else
		home->chunks = c->next;
	if (c->next)
		c->next->prev = c->prev;
	free(c);
}

void home_init(struct port_home *home, struct machine *m, struct port_vm *vm, struct gvcpu *worker_gvcpu)
{
	struct task *t;

	*home = (struct port_home){ .m = m, .vm = vm };
	t = machine_task(m, vm ? "guest work" : "host work", worker_main, home);
	if (t)
		t->gvcpu = worker_gvcpu;
}

void home_fini(struct port_home *home)
{
	while (home->chunks)
		sim_free(home, home->chunks + 1);
}
