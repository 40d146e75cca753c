// SPDX-License-Identifier: GPL-2.0
/*
 * Pages that the host watches for a VM's stores. In the field a thread polls them; here the
 * stream of vCPU stores says when there is something to see, and a task stands for the
 * thread: it looks machine_config.watch_latency_ps later. A task a watch, so that one VM's
 * work does not hold another's up. What the polling core burns is not counted.
 */

#include "host.h"

/* A store that began on a page before reaches over its end: every byte counts. */
static void store_seen(void *opaque, const struct trace_event *ev)
{
	struct port_host *h = opaque;
	struct port_watch *w;

	for (w = h->watches; w; w = w->next) {
		u64 start = w->pages.hpa, len = w->pages.nr * SPEC_PAGE_SIZE;

		if (ev->c < start ? start - ev->c >= ev->d : ev->c - start >= len)
			continue;
		w->stored = true;
		task_wake_all(&w->idle);
	}
}

static void watch_main(void *arg)
{
	struct port_watch *w = arg;

	while (!w->ended) {
		if (!w->stored) {
			task_wait(&w->idle, TASK_FOREVER);
			continue;
		}
		task_sleep(w->host->m->cfg.watch_latency_ps);
		w->stored = false;
		if (!w->ended)
			w->fn(w->arg);
	}
}

int sim_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg), void *arg)
{
	u64 mask[2] = { 0 };

	*w = (struct port_watch){ .host = h, .pages = *p, .fn = fn, .arg = arg };
	w->task = machine_task(h->m, "host watch", watch_main, w);
	if (!w->task)
		return -ENOMEM;
	w->next = h->watches;
	h->watches = w;
	if (!h->listens) {
		trace_mask_add(mask, TRACE_CPU_STORE);
		machine_listen(h->m, mask, store_seen, h);
		h->listens = true;
	}
	return 0;
}

void sim_pages_unwatch_sync(struct port_watch *w)
{
	struct port_watch **at = &w->host->watches;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	w->ended = true;
	task_wake_all(&w->idle);
	task_join(w->task);
}
