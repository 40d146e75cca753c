// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupts as the host sets them up: its own, and posted to a vCPU that runs, is preempted
 * or halted (VT-d 5.2.3; SDM 30.6; KVM's protocol of the descriptor).
 */
#include "core_world.h"
#include "liov/port_host.h"

#define VEC 60				/* nobody's */
#define GUEST_VECTOR 0x91
#define LATENCY_PS (20 * PS_PER_US)	/* more than anything takes here */

static struct port_vm *vm;
static u32 host_got, guest_got;
static struct task *guest_in;

static void host_handler(void *arg)
{
	(void)arg;
	host_got++;
}

static void guest_handler(void *arg)
{
	(void)arg;
	guest_got++;
	guest_in = task_current();
}

static void fire(struct world *w)
{
	pci_msix_notify(nvme_function(w->m->nvme), VEC);
}

static void fire_and_wait(struct world *w)
{
	fire(w);
	task_sleep(LATENCY_PS);
}

static bool guest(struct world *w, u32 vcpus, bool halts)
{
	struct vm_config c = {
		.id = 1, .name = "vm", .vcpus = vcpus, .halt_when_idle = halts, .nr_ram = 1, .ram = { { 1ull << 32, 64 << 20 } },
		.liov = { .nr_queues = 1, .lbas = 0x1000 },
	};

	host_got = guest_got = 0;
	CHECK_INT(vm_create(w->m, &c, &vm), 0);
	if (w->failed_line)
		return false;
	vm->guest.handler[GUEST_VECTOR].fn = guest_handler;
	CHECK_INT(port_irq_request(w->m->host, VEC, host_handler, NULL), 0);
	return w->failed_line == 0;
}

static int post(struct world *w, u32 dest, u8 vector)
{
	struct liov_msi msi = { .addr = 0xFEE00000 | dest << 12, .data = vector };

	return port_irq_post(w->m->host, VEC, vm, &msi);
}

/* --- the host's own --- */

static void own(struct world *w)
{
	struct port_host *h = w->m->host;
	u32 n = port_irq_count(h);

	host_got = 0;
	CHECK_INT(n, w->m->cfg.ssd.msix_vectors);
	CHECK_INT(port_irq_request(h, n, host_handler, NULL), -EINVAL);
	CHECK_INT(port_irq_request(h, VEC, host_handler, NULL), 0);
	CHECK_INT(port_irq_request(h, VEC, host_handler, NULL), -EBUSY);
	fire(w);
	CHECK_INT(host_got, 0);			/* it takes its time */
	task_sleep(LATENCY_PS);
	CHECK_INT(host_got, 1);
	port_irq_mask_sync(h, VEC);
	fire_and_wait(w);
	fire_and_wait(w);
	CHECK_INT(host_got, 1);
	/* PCIe 6.1.4.5: what was pending is sent when unmasked, once. */
	port_irq_unmask(h, VEC);
	task_sleep(LATENCY_PS);
	CHECK_INT(host_got, 2);
	/* Masked with one on its way: it has run when the call returns. */
	fire(w);
	port_irq_mask_sync(h, VEC);
	CHECK_INT(host_got, 3);
	port_irq_unmask(h, VEC);
	port_irq_free(h, VEC);
	fire_and_wait(w);
	CHECK_INT(host_got, 3);
}

static void test_irq__hosts_own__masked_pending_freed(void **state)
{
	world_run(*state, own);
}

/* --- posted --- */

static void posted(struct world *w)
{
	const struct vtd_counters *c = vtd_counters(w->m->vtd);
	u64 notified, remapped, before;

	if (!guest(w, 2, false))
		return;
	CHECK_INT(post(w, 2, GUEST_VECTOR), -EINVAL);		/* no such vCPU */
	CHECK_INT(post(w, 0, 15), -EINVAL);			/* SDM 11.5.2: illegal vectors */
	CHECK_INT(port_irq_post(w->m->host, port_irq_count(w->m->host), vm, &(struct liov_msi){ .data = 0x41 }), -EINVAL);
	fire_and_wait(w);
	CHECK_INT(host_got, 1);

	CHECK_INT(post(w, 0, GUEST_VECTOR), 0);
	notified = c->notified;
	remapped = c->remapped;
	before = vm->gv[0].vcpu.exits[EXIT_EXTERNAL_INTERRUPT];
	fire_and_wait(w);
	CHECK_INT(guest_got, 1);
	CHECK(guest_in && guest_in->gvcpu == &vm->gv[0]);
	CHECK_INT(host_got, 1);
	CHECK_INT(c->notified, notified + 1);
	CHECK_INT(c->remapped, remapped);
	CHECK_INT(vm->gv[0].vcpu.exits[EXIT_EXTERNAL_INTERRUPT], before);
	CHECK_INT(vm->gv[0].vcpu.posted, 1);

	/* To the other vCPU, and back to the host. */
	CHECK_INT(post(w, 1, GUEST_VECTOR), 0);
	fire_and_wait(w);
	CHECK_INT(guest_got, 2);
	CHECK(guest_in && guest_in->gvcpu == &vm->gv[1]);
	port_irq_unpost_sync(w->m->host, VEC);
	fire_and_wait(w);
	CHECK_INT(guest_got, 2);
	CHECK_INT(host_got, 2);
	port_irq_unpost_sync(w->m->host, VEC);
	port_irq_unpost_sync(w->m->host, 1000);
}

static void test_irq_post__vcpu_runs__no_exit(void **state)
{
	world_run(*state, posted);
}

static void not_posted(struct world *w)
{
	if (!guest(w, 1, false))
		return;
	CHECK_INT(post(w, 0, GUEST_VECTOR), -EOPNOTSUPP);
	fire_and_wait(w);
	CHECK_INT(host_got, 1);
	CHECK_INT(guest_got, 0);
}

static void test_irq_post__unit_cannot__eopnotsupp(void **state)
{
	struct world *w = *state;

	w->cfg.posted_interrupts = false;
	world_run(w, not_posted);
}

static void raised(struct world *w)
{
	struct liov_msi msi = { .addr = 0xFEE00000, .data = GUEST_VECTOR };

	if (!guest(w, 1, false))
		return;
	port_vm_irq_raise(vm, &msi);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 1);
	/* A guest may have written anything into its table. */
	msi.addr = 0xFEE01000;
	port_vm_irq_raise(vm, &msi);
	msi = (struct liov_msi){ .addr = ~0ull, .data = ~0u };
	port_vm_irq_raise(vm, &msi);
	msi = (struct liov_msi){ .addr = 0xFEE00000, .data = 15 };
	port_vm_irq_raise(vm, &msi);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 1);
	vm_destroy(vm);
	msi.data = GUEST_VECTOR;
	port_vm_irq_raise(vm, &msi);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 1);
}

static void test_vm_irq_raise__by_software__only_what_there_is(void **state)
{
	world_run(*state, raised);
}

/* --- what the descriptor says of a vCPU --- */

static u64 control(struct world *w)
{
	bool ok;

	return bus_rd64(&w->m->bus, (hpa_t){ vm->gv[0].vcpu.pid.v + PID_CONTROL_OFF }, &ok);
}

static u64 pir(struct world *w)
{
	bool ok;

	return bus_rd64(&w->m->bus, (hpa_t){ vm->gv[0].vcpu.pid.v + GUEST_VECTOR / 64 * 8 }, &ok);
}

static void preempted(struct world *w)
{
	const struct vtd_counters *c = vtd_counters(w->m->vtd);
	struct gvcpu *gv;
	u64 notified;

	if (!guest(w, 1, false))
		return;
	gv = &vm->gv[0];
	CHECK_INT(post(w, 0, GUEST_VECTOR), 0);
	CHECK_INT(FIELD_GET(PID_CONTROL_NV, control(w)), HOST_NV_POSTED);
	CHECK_INT(FIELD_GET(PID_CONTROL_NDST, control(w)), w->m->cpu.pcpu[gv->vcpu.pcpu].apic_id);
	CHECK_INT(control(w) & (PID_CONTROL_SN | PID_CONTROL_ON), 0);
	host_vcpu_preempt(gv);
	CHECK_INT(gv->vcpu.state, VCPU_PREEMPTED);
	CHECK(control(w) & PID_CONTROL_SN);
	notified = c->notified;
	fire_and_wait(w);
	/* Kept, and nobody was disturbed: no notification, no ON. */
	CHECK_INT(c->notified, notified);
	CHECK_INT(pir(w), 1ull << (GUEST_VECTOR & 63));
	CHECK_INT(control(w) & PID_CONTROL_ON, 0);
	CHECK_INT(guest_got, 0);
	CHECK_INT(host_got, 0);
	/* It runs elsewhere: the descriptor says so, and what was kept is taken. */
	gv->vcpu.pcpu = 9;
	host_vcpu_run(gv);
	CHECK_INT(FIELD_GET(PID_CONTROL_NDST, control(w)), 9);
	CHECK_INT(control(w) & PID_CONTROL_SN, 0);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 1);
	CHECK_INT(pir(w), 0);
	fire_and_wait(w);
	CHECK_INT(guest_got, 2);
	CHECK_INT(c->notified, notified + 1);
}

static void test_vcpu__preempted__nothing_lost_and_nobody_disturbed(void **state)
{
	world_run(*state, preempted);
}

static bool woken;
static u64 woken_ps;

static void idles(void *arg)
{
	struct gvcpu *gv = arg;

	woken = vm_idle(gv, TASK_FOREVER);
	woken_ps = sched_now(gv->vm->m->sched);
}

static void halted(struct world *w)
{
	struct gvcpu *gv;
	u64 fired;

	woken = false;
	if (!guest(w, 1, true))
		return;
	gv = &vm->gv[0];
	CHECK_INT(post(w, 0, GUEST_VECTOR), 0);
	vm_task(gv, "idle", idles, gv);
	task_sleep(LATENCY_PS);
	CHECK_INT(gv->vcpu.state, VCPU_HALTED);
	CHECK_INT(gv->vcpu.exits[EXIT_HLT], 1);
	CHECK_INT(FIELD_GET(PID_CONTROL_NV, control(w)), HOST_NV_WAKEUP);
	fired = sched_now(w->m->sched);
	fire_and_wait(w);
	CHECK(woken);
	CHECK(woken_ps >= fired + w->m->cfg.halt_wake_ps);
	CHECK_INT(gv->vcpu.state, VCPU_RUNNING);
	CHECK_INT(guest_got, 1);
	CHECK_INT(FIELD_GET(PID_CONTROL_NV, control(w)), HOST_NV_POSTED);
	CHECK_INT(host_got, 0);
}

static void test_vcpu__halted__woken_through_the_wakeup_vector(void **state)
{
	world_run(*state, halted);
}

static void waits(void *arg)
{
	struct gvcpu *gv = arg;

	woken = task_wait(&gv->idle_wait, TASK_FOREVER);
}

/* A message between the last look and the change of NV: ON is set, and no notification will come for it. */
static void halts_late(struct world *w)
{
	struct gvcpu *gv;

	woken = false;
	if (!guest(w, 1, true))
		return;
	gv = &vm->gv[0];
	vm_task(gv, "idle", waits, gv);
	task_sleep(LATENCY_PS);
	CHECK(!woken);
	bus_wr64(&w->m->bus, (hpa_t){ gv->vcpu.pid.v + GUEST_VECTOR / 64 * 8 }, 1ull << (GUEST_VECTOR & 63));
	bus_wr64(&w->m->bus, (hpa_t){ gv->vcpu.pid.v + PID_CONTROL_OFF }, control(w) | PID_CONTROL_ON);
	host_vcpu_halt(gv);
	task_sleep(LATENCY_PS);
	CHECK(woken);
	host_vcpu_run(gv);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 1);
}

static void test_vcpu__halts_with_one_outstanding__is_woken(void **state)
{
	world_run(*state, halts_late);
}

/* A guest's lock keeps its interrupts out, and the last one to go lets them in. */
static struct port_lock lock[2];

static void locks(void *arg)
{
	struct world *w = arg;
	unsigned long outer, inner;

	outer = port_lock_irqsave(&lock[0]);
	inner = port_lock_irqsave(&lock[1]);
	fire(w);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 0);
	port_unlock_irqrestore(&lock[1], inner);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 0);
	port_unlock_irqrestore(&lock[0], outer);
	task_sleep(LATENCY_PS);
	CHECK_INT(guest_got, 1);
}

static void locked(struct world *w)
{
	struct task *t;

	if (!guest(w, 1, false))
		return;
	CHECK_INT(post(w, 0, GUEST_VECTOR), 0);
	port_lock_init(&vm->guest.home, &lock[0]);
	port_lock_init(&vm->guest.home, &lock[1]);
	t = vm_task(&vm->gv[0], "locks", locks, w);
	task_join(t);
	CHECK_INT(vm->gv[0].irq_off, 0);
}

static void test_lock__guest_holds_two__interrupts_wait_for_both(void **state)
{
	world_run(*state, locked);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_irq__hosts_own__masked_pending_freed),
		TEST(test_irq_post__vcpu_runs__no_exit),
		TEST(test_irq_post__unit_cannot__eopnotsupp),
		TEST(test_vm_irq_raise__by_software__only_what_there_is),
		TEST(test_vcpu__preempted__nothing_lost_and_nobody_disturbed),
		TEST(test_vcpu__halted__woken_through_the_wakeup_vector),
		TEST(test_vcpu__halts_with_one_outstanding__is_woken),
		TEST(test_lock__guest_holds_two__interrupts_wait_for_both),
	};

	return cmocka_run_group_tests_name("sim_host_irq", tests, NULL, NULL);
}
