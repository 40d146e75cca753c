// SPDX-License-Identifier: GPL-2.0
/*
 * The mdev parent: types by number of queue pairs, and who holds how much of the controller.
 * The core hands out queues and blocks when a VM is opened; what is promised here before is
 * counted so that it will have them.
 */

#include <linux/module.h>

#include "vm.h"

static const struct {
	u32 nr_queues;
	const char *name, *pretty;
} kinds[HOST_MDEV_TYPES] = {
	{ 1, "1q", "LightIOV NVMe, 1 queue pair" },
	{ 2, "2q", "LightIOV NVMe, 2 queue pairs" },
	{ 4, "4q", "LightIOV NVMe, 4 queue pairs" },
	{ 8, "8q", "LightIOV NVMe, 8 queue pairs" },
};

static struct host_mdev *mdev_parent_of(struct mdev_type *type)
{
	return container_of(type->parent, struct host_mdev, parent);
}

static u32 mdev_nr_queues(struct mdev_type *type)
{
	return kinds[type - mdev_parent_of(type)->type].nr_queues;
}

/* Hardware pairs behind a VM: the mediator drives one for all virtual queues. */
static u32 mdev_pairs(const struct host_mdev *m, u32 nr_queues)
{
	return m->be->cfg.policy == LIOV_POLICY_MEDIATED ? 1 : nr_queues;
}

/* Each pair has a vector of its own; one pair is the host's. */
static u32 mdev_pairs_free(const struct host_mdev *m)
{
	const struct liov_backend *be = m->be;
	u32 all = min(be->info.io_queues, port_irq_count(be->host) - 1), used = m->pairs + be->nr_quarantined + 1;

	return all > used ? all - used : 0;
}

static u64 mdev_blocks_free(const struct host_mdev *m)
{
	return m->be->info.nsze - m->be->cfg.host_lbas - m->blocks;
}

static u32 mdev_vms_free(const struct host_mdev *m)
{
	u64 windows = div64_u64(m->be->cfg.vm_iova.count, m->be->cfg.vm_iova_window);

	return min_t(u32, LIOV_VMS_MAX, min_t(u64, windows, LIOV_VMS_MAX)) - m->nr_vms;
}

static unsigned int mdev_available(struct mdev_type *type)
{
	struct host_mdev *m = mdev_parent_of(type);
	u64 n;

	mutex_lock(&m->lock);
	n = min_t(u64, mdev_vms_free(m), mdev_pairs_free(m) / mdev_pairs(m, mdev_nr_queues(type)));
	n = min(n, div64_u64(mdev_blocks_free(m), m->default_blocks));
	mutex_unlock(&m->lock);
	return (unsigned int)n;
}

static ssize_t mdev_description(struct mdev_type *type, char *buf)
{
	struct host_mdev *m = mdev_parent_of(type);

	return sysfs_emit(buf, "%u queue pairs, %llu blocks of %u bytes unless set, policy %s\n", mdev_nr_queues(type),
			  m->default_blocks, 1u << m->be->info.lba_shift,
			  m->be->cfg.policy == LIOV_POLICY_MEDIATED ? "mediated" : "paper");
}

static int mdev_share_take(struct port_vm *vm)
{
	struct host_mdev *m = vm->parent;
	u32 pairs = mdev_pairs(m, vm->nr_queues);
	int err = -ENOSPC;

	mutex_lock(&m->lock);
	if (mdev_vms_free(m) && mdev_pairs_free(m) >= pairs && mdev_blocks_free(m) >= vm->blocks) {
		m->nr_vms++;
		m->pairs += pairs;
		m->blocks += vm->blocks;
		vm->has_share = true;
		err = 0;
	}
	mutex_unlock(&m->lock);
	return err;
}

static void mdev_share_give(struct port_vm *vm)
{
	struct host_mdev *m = vm->parent;

	if (!vm->has_share)
		return;
	mutex_lock(&m->lock);
	m->nr_vms--;
	m->pairs -= mdev_pairs(m, vm->nr_queues);
	m->blocks -= vm->blocks;
	mutex_unlock(&m->lock);
	vm->has_share = false;
}

int host_mdev_resize(struct port_vm *vm, u64 blocks)
{
	struct host_mdev *m = vm->parent;
	int err = 0;

	if (!blocks)
		return -EINVAL;
	mutex_lock(&vm->life);
	mutex_lock(&m->lock);
	if (vm->open) {
		err = -EBUSY;
	} else if (blocks > vm->blocks && blocks - vm->blocks > mdev_blocks_free(m)) {
		err = -ENOSPC;
	} else {
		m->blocks = m->blocks - vm->blocks + blocks;
		vm->blocks = blocks;
	}
	mutex_unlock(&m->lock);
	mutex_unlock(&vm->life);
	return err;
}

/* --- attributes of an mdev --- */

static ssize_t blocks_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct port_vm *vm = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", READ_ONCE(vm->blocks));
}

static ssize_t blocks_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len)
{
	u64 blocks;
	int err = kstrtou64(buf, 0, &blocks);

	if (!err)
		err = host_mdev_resize(dev_get_drvdata(dev), blocks);
	return err ? err : (ssize_t)len;
}
static DEVICE_ATTR_RW(blocks);

/* For guests with a stock driver: VFIO tells no parent what the VM's memory is, so it cannot be registered for them. */
static ssize_t register_all_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0\n");
}

static ssize_t register_all_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len)
{
	bool on;
	int err = kstrtobool(buf, &on);

	if (!err && on)
		err = -EOPNOTSUPP;
	return err ? err : (ssize_t)len;
}
static DEVICE_ATTR_RW(register_all);

/*
 * Pages that a touch mapped; touches that nothing answered; accesses that came through read() and
 * write(); physical vectors that a KVM may take past the host.
 */
#define COUNTER(name) \
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
{ \
	struct port_vm *vm = dev_get_drvdata(dev); \
\
	return sysfs_emit(buf, "%lld\n", (long long)atomic64_read(&vm->name)); \
} \
static DEVICE_ATTR_RO(name)

COUNTER(faults);
COUNTER(faults_refused);
COUNTER(traps);
COUNTER(posted_vectors);

static ssize_t pinned_pages_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct port_vm *vm = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%llu\n", READ_ONCE(vm->nr_pinned));
}
static DEVICE_ATTR_RO(pinned_pages);

static struct attribute *mdev_attrs[] = {
	&dev_attr_blocks.attr,
	&dev_attr_register_all.attr,
	&dev_attr_faults.attr,
	&dev_attr_faults_refused.attr,
	&dev_attr_traps.attr,
	&dev_attr_posted_vectors.attr,
	&dev_attr_pinned_pages.attr,
	NULL,
};
ATTRIBUTE_GROUPS(mdev);

/* --- an mdev's life --- */

static int mdev_probe(struct mdev_device *mdev)
{
	struct host_mdev *m = mdev_parent_of(mdev->type);
	struct port_vm *vm;
	int err, id;

	if (host_is_broken())
		return -EIO;
	vm = vfio_alloc_device(port_vm, vdev, &mdev->dev, &vm_ops);
	if (IS_ERR(vm))
		return PTR_ERR(vm);
	vm->parent = m;
	vm->nr_queues = mdev_nr_queues(mdev->type);
	vm->blocks = m->default_blocks;
	err = id = ida_alloc_max(&m->ids, LIOV_VMS_MAX - 1, GFP_KERNEL);
	if (id < 0)
		goto out_put;
	vm->id = (u32)id;
	err = mdev_share_take(vm);
	if (err)
		goto out_id;
	dev_set_drvdata(&mdev->dev, vm);
	err = vfio_register_emulated_iommu_dev(&vm->vdev);
	if (err)
		goto out_share;
	return 0;

out_share:
	mdev_share_give(vm);
out_id:
	ida_free(&m->ids, vm->id);
out_put:
	vfio_put_device(&vm->vdev);
	return err;
}

/* Unregistering waits until nobody has the device open: LightIOV's VM is gone then. */
static void mdev_remove(struct mdev_device *mdev)
{
	struct port_vm *vm = dev_get_drvdata(&mdev->dev);

	vfio_unregister_group_dev(&vm->vdev);
	mdev_share_give(vm);
	ida_free(&vm->parent->ids, vm->id);
	vfio_put_device(&vm->vdev);
}

static struct mdev_driver mdev_driver = {
	.device_api = VFIO_DEVICE_API_PCI_STRING,
	.probe = mdev_probe,
	.remove = mdev_remove,
	.get_available = mdev_available,
	.show_description = mdev_description,
	.driver = {
		.name = LIOV_MODULE "_vm",
		.owner = THIS_MODULE,
		.mod_name = KBUILD_MODNAME,
		.dev_groups = mdev_groups,
	},
};

int host_mdev_register(void)
{
	return mdev_register_driver(&mdev_driver);
}

void host_mdev_unregister(void)
{
	mdev_unregister_driver(&mdev_driver);
}

int host_mdev_start(struct host_mdev *m, struct liov_backend *be, u64 default_blocks)
{
	u32 i;
	int err;

	if (!default_blocks)
		return -EINVAL;
	m->be = be;
	m->default_blocks = default_blocks;
	mutex_init(&m->lock);
	ida_init(&m->ids);
	for (i = 0; i < HOST_MDEV_TYPES; i++) {
		m->type[i].sysfs_name = kinds[i].name;
		m->type[i].pretty_name = kinds[i].pretty;
		m->types[i] = &m->type[i];
	}
	err = mdev_register_parent(&m->parent, be->home->dev, &mdev_driver, m->types, HOST_MDEV_TYPES);
	if (err)
		ida_destroy(&m->ids);
	return err;
}

void host_mdev_stop(struct host_mdev *m)
{
	mdev_unregister_parent(&m->parent);
	ida_destroy(&m->ids);
}
