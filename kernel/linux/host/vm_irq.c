// SPDX-License-Identifier: GPL-2.0
/*
 * Virtual interrupts: an eventfd a vector, which KVM's irqfd or the VMM takes from there. Where a
 * physical vector is one VM's, it is offered to KVM's interrupt bypass under the same eventfd, as
 * vfio-pci does: where the machine can post, KVM points the vector's remapping entry at a vCPU,
 * and back. The host's handler stays, for all that is not posted.
 */

#include <linux/eventfd.h>
#include <linux/file.h>
#include <linux/uaccess.h>

#include "pci.h"
#include "vm.h"

u32 vm_irq_count(const struct port_vm *vm)
{
	return vm->nr_queues + 1;
}

/* IAP */
void liov_home_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi)
{
	unsigned long flags;

	if (msi->vector >= LIOV_VECTORS_MAX)
		return;
	spin_lock_irqsave(&vm->irq_lock, flags);
	if (vm->trigger[msi->vector])
		eventfd_signal(vm->trigger[msi->vector], 1);
	spin_unlock_irqrestore(&vm->irq_lock, flags);
}

/* --- KVM's interrupt bypass --- */

static int producer_taken(struct irq_bypass_producer *p, struct irq_bypass_consumer *consumer)
{
	atomic64_inc(&container_of(p, struct host_vector, producer)->vm->posted_vectors);
	return 0;
}

static void producer_back(struct irq_bypass_producer *p, struct irq_bypass_consumer *consumer)
{
	atomic64_dec(&container_of(p, struct host_vector, producer)->vm->posted_vectors);
}

/* post_lock held. No producer where there is no eventfd, or another vector has it already: the handler forwards. */
static void producer_start(struct host_vector *v)
{
	v->producer.token = v->vm->trigger[v->vvec];
	if (v->producer.token && irq_bypass_register_producer(&v->producer))
		v->producer.token = NULL;
}

/* post_lock held. When it returns KVM has given the vector back. */
static void producer_stop(struct host_vector *v)
{
	if (v->producer.token)
		irq_bypass_unregister_producer(&v->producer);
	v->producer.token = NULL;
}

/* The core posts a vector of a queue of the VM's, from under the VM's lock, and unposts it before the vector is freed. */
int liov_home_irq_post(struct port_host *h, u32 vec, struct port_vm *vm, const struct liov_msi *msi)
{
	struct host_vector *v;

	if (vec >= h->nr_vectors || !h->vector[vec].fn || h->vector[vec].vm || msi->vector >= LIOV_VECTORS_MAX)
		return -EINVAL;
	v = &h->vector[vec];
	mutex_lock(&vm->post_lock);
	v->vm = vm;
	v->vvec = msi->vector;
	v->producer = (struct irq_bypass_producer){
		.irq = pci_irq_vector(h->pdev, vec), .add_consumer = producer_taken, .del_consumer = producer_back,
	};
	list_add_tail(&v->post, &vm->posts);
	producer_start(v);
	mutex_unlock(&vm->post_lock);
	return 0;
}

void liov_home_irq_unpost_sync(struct port_host *h, u32 vec)
{
	struct host_vector *v = vec < h->nr_vectors ? &h->vector[vec] : NULL;
	struct port_vm *vm = v ? v->vm : NULL;

	if (!vm)
		return;
	mutex_lock(&vm->post_lock);
	producer_stop(v);
	list_del(&v->post);
	v->vm = NULL;
	mutex_unlock(&vm->post_lock);
}

/* --- triggers --- */

/* A producer names the eventfd it was registered with: none keeps the old one, which may go now. */
static void trigger_swap(struct port_vm *vm, u32 vec, struct eventfd_ctx *ctx)
{
	struct eventfd_ctx *old;
	struct host_vector *v;

	mutex_lock(&vm->post_lock);
	list_for_each_entry(v, &vm->posts, post)
		if (v->vvec == vec)
			producer_stop(v);
	spin_lock_irq(&vm->irq_lock);
	old = vm->trigger[vec];
	vm->trigger[vec] = ctx;
	spin_unlock_irq(&vm->irq_lock);
	list_for_each_entry(v, &vm->posts, post)
		if (v->vvec == vec)
			producer_start(v);
	mutex_unlock(&vm->post_lock);
	if (old)
		eventfd_ctx_put(old);
}

void vm_irq_release(struct port_vm *vm)
{
	u32 vec;

	LIOV_ASSERT(list_empty(&vm->posts));
	mutex_lock(&vm->irq_mutex);
	for (vec = 0; vec < LIOV_VECTORS_MAX; vec++)
		trigger_swap(vm, vec, NULL);
	mutex_unlock(&vm->irq_mutex);
}

/*
 * A VMM keeps the guest's table to itself and says with its eventfds which vectors are open.
 * The core's table follows, with a message that only has to look like one: where it goes is
 * the eventfd's affair.
 */
static void table_follow(struct port_vm *vm, u32 vec, bool open)
{
	u64 entry = LIOV_BAR0_MSIX_TABLE + vec * PCIS_MSIX_ENTRY_SIZE;

	if (open) {
		liov_device_wr(vm->liov, entry + PCIS_MSIX_ENTRY_ADDR_LO, PCIS_IRQ_RANGE_BASE, 4);
		liov_device_wr(vm->liov, entry + PCIS_MSIX_ENTRY_ADDR_HI, 0, 4);
		liov_device_wr(vm->liov, entry + PCIS_MSIX_ENTRY_DATA, 0x20 + vec, 4);
	}
	liov_device_wr(vm->liov, entry + PCIS_MSIX_ENTRY_CONTROL, open ? 0 : PCIS_MSIX_ENTRY_MASKED, 4);
}

static int trigger_set(struct port_vm *vm, u32 vec, s32 fd)
{
	struct eventfd_ctx *ctx = NULL;

	if (fd >= 0) {
		ctx = eventfd_ctx_fdget(fd);
		if (IS_ERR(ctx))
			return PTR_ERR(ctx);
	}
	/* Without an eventfd an interrupt would be lost: it waits behind the mask from before that one goes. */
	if (!ctx)
		table_follow(vm, vec, false);
	trigger_swap(vm, vec, ctx);
	if (ctx)
		table_follow(vm, vec, true);
	return 0;
}

static int triggers_set(struct port_vm *vm, const struct vfio_irq_set *set, const s32 *fds)
{
	u32 i;
	int err;

	for (i = 0; i < set->count; i++) {
		err = trigger_set(vm, set->start + i, fds ? fds[i] : -1);
		if (err)
			return err;
	}
	return 0;
}

/* Only eventfds as triggers are offered, and taking them away: with fd -1, or all with count 0. */
long vm_irq_set(struct port_vm *vm, unsigned long arg)
{
	size_t minsz = offsetofend(struct vfio_irq_set, count), size = 0;
	u32 n = vm_irq_count(vm);
	struct vfio_irq_set set;
	s32 *fds = NULL;
	int err;

	if (copy_from_user(&set, (void __user *)arg, minsz))
		return -EFAULT;
	err = vfio_set_irqs_validate_and_prepare(&set, set.index == VFIO_PCI_MSIX_IRQ_INDEX ? (int)n : 0, VFIO_PCI_NUM_IRQS,
						 &size);
	if (err)
		return err;
	if (set.index != VFIO_PCI_MSIX_IRQ_INDEX ||
	    (set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -EINVAL;
	switch (set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_EVENTFD:
		fds = memdup_user((void __user *)(arg + minsz), size);
		if (IS_ERR(fds))
			return PTR_ERR(fds);
		break;
	case VFIO_IRQ_SET_DATA_NONE:
		if (set.count)
			return -EINVAL;
		set.start = 0;
		set.count = n;
		break;
	default:
		return -EINVAL;
	}
	mutex_lock(&vm->irq_mutex);
	err = triggers_set(vm, &set, fds);
	mutex_unlock(&vm->irq_mutex);
	kfree(fds);
	return err;
}
