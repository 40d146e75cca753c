/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_PORT_PORT_TYPES_H
#define LINUX_PORT_PORT_TYPES_H

/* The port's handles as Linux has them. Members are this home's own: the core does not look inside. */

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/io-64-nonatomic-hi-lo.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct device;
struct page;

/* What all handles of one function belong to. */
struct port_home {
	struct device *dev;
	struct workqueue_struct *wq;
};

struct port_mmio {
	void __iomem *base;
	u64 len_bytes;
};

/* Memory: one of the two is NULL. */
struct port_shm {
	void *mem;
	void __iomem *io;		/* a queue in the CMB */
	u32 len_bytes;
};

struct port_lock {
	spinlock_t lock;
};

struct port_mutex {
	struct mutex mutex;
};

struct port_event {
	struct completion done;
};

struct port_work {
	struct work_struct work;
	struct port_home *home;
	void (*fn)(void *arg);
	void *arg;
};

struct port_timer {
	struct hrtimer timer;
	void (*fn)(void *arg);
	void *arg;
};

/* Pages side by side, of one reference each. */
struct port_pages {
	struct page *page;
	u32 nr;
};

struct port_watch {
	struct task_struct *task;
	void (*fn)(void *arg);
	void *arg;
	u32 period_us;
};

/* host/port_host.h: a physical NVMe function. */
struct port_host;

/* host/vm.h: an mdev. */
struct port_vm;

/* guest/guest.h: a virtual NVMe function. */
struct port_guest;

#endif
