/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_HOST_VM_H
#define LINUX_HOST_VM_H

/*
 * The home's side of one VM: an mdev. It holds its share of the controller from its creation
 * in sysfs, as a number; LightIOV's VM itself lives from the first open of the VFIO device to
 * its last close, so that whoever opens it next finds wiped blocks and queues of his own.
 */

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/idr.h>
#include <linux/mdev.h>
#include <linux/vfio.h>
#include <linux/xarray.h>

#include "port_host.h"

#define HOST_MDEV_TYPES	4
#define HOST_CMB_PAGES	(LIOV_CMB_SIZE_MIN / PAGE_SIZE)

/* Region @i of the VFIO device starts at file offset i << VM_REGION_SHIFT, as vfio-pci has it. */
#define VM_REGION_SHIFT	40
#define VM_REGION_MASK	((1ull << VM_REGION_SHIFT) - 1)

/* The parent: a physical function that VMs get parts of. */
struct host_mdev {
	struct mdev_parent parent;
	struct liov_backend *be;
	u64 default_blocks;
	struct mdev_type type[HOST_MDEV_TYPES];
	struct mdev_type *types[HOST_MDEV_TYPES];
	struct ida ids;			/* of VMs, as traces name them */
	struct mutex lock;		/* the next three: what mdevs hold, open or not */
	u32 nr_vms, pairs;
	u64 blocks;
};

struct vm_map;				/* vm_map.c */

struct port_vm {
	struct vfio_device vdev;
	struct host_mdev *parent;
	u32 id, nr_queues;
	bool has_share;
	struct mutex life;		/* open, blocks */
	bool open;
	u64 blocks;
	struct liov_vm *liov;
	/*
	 * vm_map.c. The lock: maps, and no answer of liov_backend_page() is used outside it. Inside
	 * the core's VM lock, zap_lock and mmap_lock, in this order.
	 */
	struct mutex map_lock;
	struct list_head maps;
	struct page *stand_in[2];	/* where nothing is: all ones; [true]: what stores fall into */
	DECLARE_BITMAP(stood_in, HOST_CMB_PAGES);	/* where one of them may be mapped */
	struct delayed_work empty;	/* what was stored is forgotten */
	struct mutex zap_lock;		/* one zap at a time: the next two */
	u64 zaps;			/* number of the last */
	DECLARE_BITMAP(zapping, HOST_CMB_PAGES);
	atomic64_t faults, faults_refused, traps;
	/* vm_mem.c. Under the core's VM lock. */
	struct xarray frames;		/* guest page -> frame, of all that is pinned */
	u64 nr_pinned;
	struct task_struct *looking;	/* who looks at what is behind a guest address */
	/* vm_irq.c */
	struct mutex irq_mutex;		/* changes of triggers, whole */
	spinlock_t irq_lock;
	struct eventfd_ctx *trigger[LIOV_VECTORS_MAX];	/* changed under post_lock too */
	struct mutex post_lock;		/* inside the core's VM lock */
	struct list_head posts;		/* physical vectors that are this VM's alone */
	atomic64_t posted_vectors;	/* of these, what a KVM has taken */
};

static inline struct port_vm *to_port_vm(struct vfio_device *vdev)
{
	return container_of(vdev, struct port_vm, vdev);
}

/* mdev.c. Nobody can make a VM before start or after stop, which waits until nobody has one open. */
int host_mdev_register(void);
void host_mdev_unregister(void);
int host_mdev_start(struct host_mdev *m, struct liov_backend *be, u64 default_blocks);
void host_mdev_stop(struct host_mdev *m);
/* The VM's share becomes @blocks large. -ENOSPC, -EBUSY while it is open. */
int host_mdev_resize(struct port_vm *vm, u64 blocks);

/* vm.c */
extern const struct vfio_device_ops vm_ops;

/* vm_map.c. Open before there is a VM, close when its last mapping is gone. */
int vm_map_open(struct port_vm *vm);
void vm_map_close(struct port_vm *vm);
int vm_map_make(struct vfio_device *vdev, struct vm_area_struct *vma);
/* A touch of the CMB BAR that does not come through a mapping. 1, 2, 4 or 8 bytes, naturally aligned. */
u64 vm_cmb_access(struct port_vm *vm, u64 off, u64 val, u32 len_bytes, bool write);

/* vm_irq.c */
u32 vm_irq_count(const struct port_vm *vm);
long vm_irq_set(struct port_vm *vm, unsigned long arg);
void vm_irq_release(struct port_vm *vm);

#endif
