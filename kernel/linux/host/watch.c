// SPDX-License-Identifier: GPL-2.0
/*
 * Watched pages: a thread a watch looks every watch_us microseconds whether they changed. A
 * write-protected page would exit at each store, and no processor tells of a store to memory
 * otherwise but to a core that waits for it (MONITOR).
 */

#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "port_host.h"

/* What is remembered is what was compared, so a store is seen by this look or differs at a later one. */
static bool watch_changed(struct port_watch *w)
{
	bool changed = false;
	u32 i;

	for (i = 0; i < w->nr_words; i++) {
		u64 now = READ_ONCE(w->words[i]);

		changed |= now != w->seen[i];
		w->seen[i] = now;
	}
	return changed;
}

static int watch_main(void *data)
{
	struct port_watch *w = data;

	while (!kthread_should_stop()) {
		if (watch_changed(w)) {
			/* fn must not look before we did: it could miss what we remember. */
			smp_mb();
			w->fn(w->arg);
		}
		usleep_idle_range(w->period_us, w->period_us + w->period_us / 2);
	}
	return 0;
}

int liov_home_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg),
			  void *arg)
{
	if (!h->watch_us)
		return -EOPNOTSUPP;
	*w = (struct port_watch){
		.fn = fn, .arg = arg, .words = page_address(p->page), .nr_words = (p->nr << PAGE_SHIFT) / sizeof(u64),
		.period_us = h->watch_us,
	};
	/* As the pages are when they are new. */
	w->seen = kvcalloc(w->nr_words, sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!w->seen)
		return -ENOMEM;
	w->task = kthread_run(watch_main, w, "lightiov-watch");
	if (IS_ERR(w->task)) {
		kvfree(w->seen);
		return -ENOMEM;
	}
	return 0;
}

void liov_home_pages_unwatch_sync(struct port_watch *w)
{
	kthread_stop(w->task);
	kvfree(w->seen);
}
