// SPDX-License-Identifier: GPL-2.0
/*
 * Watched pages: a thread a watch asks its owner to look every watch_us microseconds. A
 * write-protected page would exit at each store, and no processor tells of a store to memory
 * otherwise but to a core that waits for it (MONITOR). Whether something changed only the owner
 * knows: a queue that is made anew may be rung with the value that its predecessor had last.
 */

#include <linux/delay.h>
#include <linux/kthread.h>

#include "port_host.h"

static int watch_main(void *data)
{
	struct port_watch *w = data;

	while (!kthread_should_stop()) {
		w->fn(w->arg);
		usleep_idle_range(w->period_us, w->period_us + w->period_us / 2);
	}
	return 0;
}

int liov_home_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg),
			  void *arg)
{
	if (!h->watch_us)
		return -EOPNOTSUPP;
	*w = (struct port_watch){ .fn = fn, .arg = arg, .period_us = h->watch_us };
	w->task = kthread_run(watch_main, w, "lightiov-watch");
	return IS_ERR(w->task) ? -ENOMEM : 0;
}

void liov_home_pages_unwatch_sync(struct port_watch *w)
{
	kthread_stop(w->task);
}
