/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_CORE_WORLD_H
#define HARNESS_UNIT_CORE_WORLD_H

/*
 * A simulated machine with LightIOV's host side on it, for tests of the core. What a test
 * does runs in a host task; a check that fails there is remembered, and fails the test when
 * the task has ended: an assertion may not jump from one stack to another.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "event.h"
#include "host/host.h"
#include "internal.h"
#include "machine.h"
#include "store.h"
#include "vm/vm.h"

struct world {
	struct machine *m;
	struct liov_backend *be;
	void (*fn)(struct world *w);
	bool done;
	u32 failed_line;		/* first check that failed; 0: none */
	u32 traced[LIOV_TRACE_KINDS];	/* LightIOV's events by kind */
	struct { u32 kind, component, code; u64 vm, a, b; } log[4096];
	u32 nr_log;
	struct machine_config cfg;
	struct vm_config vm_cfg;
	struct port_vm *old[128];
	u32 nr_old;
};

/* The slot of VM @id is free again; its memory stays until the machine ends: its tasks may still be there. */
static inline void world_forget(struct world *w, u32 id)
{
	if (w->m->vms[id] && w->nr_old < sizeof(w->old) / sizeof(w->old[0]))
		w->old[w->nr_old++] = w->m->vms[id];
	w->m->vms[id] = NULL;
}

#define CHECK(c) do { if (!(c) && !w->failed_line) w->failed_line = __LINE__; } while (0)
#define CHECK_INT(got, want) do { \
	long long g_ = (long long)(got), w_ = (long long)(want); \
	if (g_ != w_ && !w->failed_line) { \
		w->failed_line = __LINE__; \
		fprintf(stderr, "line %d: got 0x%llx, want 0x%llx\n", __LINE__, g_, w_); \
	} \
} while (0)

static void world_event(void *opaque, const struct trace_event *ev)
{
	struct world *w = opaque;
	u32 kind = ev->kind - SIM_TRACE_LIOV;

	w->traced[kind]++;
	if (w->nr_log == sizeof(w->log) / sizeof(w->log[0]))
		return;
	w->log[w->nr_log].kind = kind;
	w->log[w->nr_log].vm = ev->a;
	w->log[w->nr_log].component = (u32)(ev->b >> 32);
	w->log[w->nr_log].code = (u32)ev->b;
	w->log[w->nr_log].a = ev->c;
	w->log[w->nr_log++].b = ev->d;
}

/* Position in the log of the first such event from @from on, or nr_log. */
static inline u32 world_find(const struct world *w, u32 from, u32 kind, u32 code, u64 a)
{
	u32 i;

	for (i = from; i < w->nr_log; i++)
		if (w->log[i].kind == kind && w->log[i].code == code && w->log[i].a == a)
			break;
	return i;
}

static void world_main(void *arg)
{
	struct world *w = arg;

	w->fn(w);
	w->done = true;
	sched_stop(w->m->sched);
}

/* Victim B, attacker A, and C of the reference machine; @id 1, 2, 3. */
static inline int world_vm(struct world *w, u32 id, u32 queues, struct port_vm **vm)
{
	struct vm_config *c = &w->vm_cfg;

	*c = (struct vm_config){ .id = id, .name = "vm", .vcpus = 1, .nr_ram = 1 };
	c->ram[0].gpa = (u64)id << 32;
	c->ram[0].len_bytes = 64 << 20;
	c->liov = (struct liov_vm_config){ .nr_queues = queues, .lbas = 0x100000 };
	return vm_create(w->m, c, vm);
}

static inline void world_run_without_boot(struct world *w, void (*fn)(struct world *w))
{
	u64 mask[2] = { 0 };

	w->m = machine_new(&w->cfg);
	assert_non_null(w->m);
	w->be = &w->m->backend;
	w->fn = fn;
	for (u32 k = 0; k < LIOV_TRACE_KINDS; k++)
		trace_mask_add(mask, SIM_TRACE_LIOV + k);
	machine_listen(w->m, mask, world_event, w);
	assert_non_null(machine_task(w->m, "test", world_main, w));
	(void)sched_run_until(w->m->sched, 300000 * PS_PER_MS);
	if (w->failed_line)
		fprintf(stderr, "check at line %u failed\n", w->failed_line);
	assert_int_equal(w->failed_line, 0);
	assert_true(w->done);
	machine_free(w->m);
	w->m = NULL;
	while (w->nr_old > 0) {
		home_fini(&w->old[--w->nr_old]->guest.home);
		free(w->old[w->nr_old]);
	}
}

static void (*world_after_boot)(struct world *w);

static void world_boot(struct world *w)
{
	int err = host_boot_liov(w->m);

	CHECK_INT(err, 0);
	if (!err)
		world_after_boot(w);
}

static inline void world_run(struct world *w, void (*fn)(struct world *w))
{
	world_after_boot = fn;
	world_run_without_boot(w, world_boot);
}

static inline int world_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	machine_config_defaults(&w->cfg);
	w->cfg.high_ram_bytes = 4ull << 30;
	*state = w;
	return 0;
}

static inline int world_teardown(void **state)
{
	free(*state);
	return 0;
}

#endif
