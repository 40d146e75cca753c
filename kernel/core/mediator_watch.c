// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbells that are watched, not trapped: a page of memory in the VM's CMB BAR, laid out as
 * those of BAR 0. A store there costs the guest no exit; the home tells of it soon after. What
 * changed since the last look is rung as if it had been trapped, with the same checks. A value
 * that a later one overtook is never seen, which a doorbell allows: only the last one counts.
 */

#include "mediator.h"

static struct liov_page nothing(void)
{
	return (struct liov_page){ .kind = LIOV_PAGE_NONE };
}

/* One look at all of the page; what the guest stores from here on is the next one's. */
static void watch_look(struct liov_mediator *med)
{
	struct liov_vm *vm = med->vm;
	u32 now[MED_DOORBELLS], i, n = (vm->cfg.nr_queues + 1) * 2;
	struct port_shm s = port_pages_shm(&med->doorbells);

	port_shm_copy_in(&s, 0, now, n * 4);
	/* What the guest stored before it rang is there from here on. */
	port_dma_rmb(vm->be->home);
	/* From queue 1: the admin queue's are trapped. */
	for (i = 2; i < n && liov_device_running(vm); i++) {
		u32 val = now[i] & 0xFFFF;	/* PCIe 3.1.2: upper half reserved */

		if (val == med->rung[i])
			continue;
		med->rung[i] = (u16)val;
		liov_mediator_doorbell(vm, i / 2, i & 1, val);
	}
}

static void watch_seen(void *arg)
{
	struct liov_mediator *med = arg;
	struct liov_vm *vm = med->vm;

	port_mutex_lock(&vm->lock);
	if (vm->live && !vm->dying)
		watch_look(med);
	port_mutex_unlock(&vm->lock);
}

int liov_mediator_watch(struct liov_mediator *med)
{
	struct liov_backend *be = med->vm->be;
	int err;

	if (!be->cfg.watch_doorbells)
		return 0;
	err = port_pages_alloc(be->host, 1, &med->doorbells);
	if (err)
		return err;
	med->has_doorbells = true;
	err = port_pages_watch(be->host, &med->doorbells, &med->watch, watch_seen, med);
	med->watched = !err;
	return err;
}

void liov_mediator_unwatch(struct liov_mediator *med)
{
	if (med->watched)
		port_pages_unwatch_sync(&med->watch);
	med->watched = false;
}

void liov_mediator_doorbell_reset(struct liov_mediator *med, u32 qid, bool cq)
{
	struct port_shm s;

	if (!med->has_doorbells)
		return;
	s = port_pages_shm(&med->doorbells);
	port_shm_zero(&s, (qid * 2 + cq) * 4, 4);
	med->rung[qid * 2 + cq] = 0;
}

struct liov_page liov_mediator_doorbell_page(struct liov_vm *vm)
{
	struct liov_mediator *med = vm->med;

	if (!med || !med->has_doorbells)
		return nothing();
	return (struct liov_page){ .kind = LIOV_PAGE_MEMORY, .pages = med->doorbells, .writable = true };
}
