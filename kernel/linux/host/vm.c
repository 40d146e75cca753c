// SPDX-License-Identifier: GPL-2.0
/*
 * The VFIO device: a PCI function whose configuration space and BAR 0 are the core's, and whose
 * BAR 2 is mapped page by page.
 */

#include <linux/uaccess.h>

#include "pci.h"
#include "vm.h"

static int vm_init(struct vfio_device *vdev)
{
	struct port_vm *vm = to_port_vm(vdev);

	vm->liov = kvzalloc(sizeof(*vm->liov), GFP_KERNEL);
	if (!vm->liov)
		return -ENOMEM;
	mutex_init(&vm->life);
	mutex_init(&vm->map_lock);
	mutex_init(&vm->zap_lock);
	INIT_LIST_HEAD(&vm->maps);
	xa_init(&vm->frames);
	mutex_init(&vm->irq_mutex);
	spin_lock_init(&vm->irq_lock);
	mutex_init(&vm->post_lock);
	INIT_LIST_HEAD(&vm->posts);
	return 0;
}

static void vm_release(struct vfio_device *vdev)
{
	struct port_vm *vm = to_port_vm(vdev);

	LIOV_ASSERT(list_empty(&vm->maps) && xa_empty(&vm->frames));
	kvfree(vm->liov);
	vfio_free_device(vdev);
}

static int vm_open(struct vfio_device *vdev)
{
	struct port_vm *vm = to_port_vm(vdev);
	struct liov_vm_config cfg = { .id = vm->id, .nr_queues = vm->nr_queues };
	int err = host_is_broken() ? -EIO : 0;

	mutex_lock(&vm->life);
	cfg.lbas = vm->blocks;
	if (!err)
		err = vm_map_open(vm);
	if (err)
		goto out;
	err = liov_vm_create(vm->parent->be, vm->liov, vm, &cfg);
	if (err)
		vm_map_close(vm);
out:
	vm->open = !err;
	mutex_unlock(&vm->life);
	return err;
}

/* The last close: no mapping is left, since each holds the file. The container still stands, for what is pinned. */
static void vm_close(struct vfio_device *vdev)
{
	struct port_vm *vm = to_port_vm(vdev);

	mutex_lock(&vm->life);
	liov_vm_destroy(vm->liov);
	vm_map_close(vm);
	vm->open = false;
	mutex_unlock(&vm->life);
	vm_irq_release(vm);
	LIOV_ASSERT(vm->nr_pinned == 0);
}

static void vm_dma_unmap(struct vfio_device *vdev, u64 iova, u64 length)
{
	liov_vm_mem_forget(to_port_vm(vdev)->liov, (gpa_t){ iova }, length);
}

/* --- regions --- */

static u64 vm_region_size(const struct port_vm *vm, u32 index)
{
	switch (index) {
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return PCIS_CONFIG_SIZE;
	case VFIO_PCI_BAR0_REGION_INDEX:
		return LIOV_BAR0_SIZE;
	case VFIO_PCI_BAR0_REGION_INDEX + LIOV_CMB_BAR:
		return vm->liov->cmb_size;
	default:
		return 0;
	}
}

/*
 * A VMM answers for the BARs itself and does not hear of a reset that its guest asks for in
 * configuration space. PCIe 6.6.2 has it clear them, and the guest, which reads them as they
 * were, would not write them again: they stay where the VMM put them.
 */
static void vm_cfg_write(struct port_vm *vm, u32 off, u32 val, u32 len)
{
	bool to_bar = off >= PCIS_BAR0 && off < PCIS_BAR(PCIS_BAR_COUNT);
	u32 bar[PCIS_BAR_COUNT], i;

	for (i = 0; i < PCIS_BAR_COUNT; i++)
		bar[i] = liov_device_cfg_rd(vm->liov, PCIS_BAR(i), 4);
	liov_device_cfg_wr(vm->liov, off, val, len);
	for (i = 0; i < PCIS_BAR_COUNT && !to_bar; i++)
		if (liov_device_cfg_rd(vm->liov, PCIS_BAR(i), 4) != bar[i])
			liov_device_cfg_wr(vm->liov, PCIS_BAR(i), bar[i], 4);
}

/* One access, naturally aligned, at most 8 bytes. */
static u64 vm_access(struct port_vm *vm, u32 index, u64 off, u64 val, u32 len, bool write)
{
	if (index == VFIO_PCI_BAR0_REGION_INDEX + LIOV_CMB_BAR)
		return vm_cmb_access(vm, off, val, len, write);
	if (index == VFIO_PCI_CONFIG_REGION_INDEX) {
		if (!write)
			return liov_device_cfg_rd(vm->liov, (u32)off, len);
		vm_cfg_write(vm, (u32)off, (u32)val, len);
		return 0;
	}
	if (!write)
		return liov_device_rd(vm->liov, off, len);
	liov_device_wr(vm->liov, off, val, len);
	return 0;
}

static u32 vm_access_len(u32 index, u64 off, size_t left)
{
	u32 len = index == VFIO_PCI_CONFIG_REGION_INDEX ? 4 : 8;

	while (len > left || !IS_ALIGNED(off, len))
		len /= 2;
	return len;
}

static ssize_t vm_rw(struct port_vm *vm, char __user *buf, size_t count, loff_t *ppos, bool write)
{
	u32 index = (u32)((u64)*ppos >> VM_REGION_SHIFT);
	u64 off = (u64)*ppos & VM_REGION_MASK, size = vm_region_size(vm, index);
	size_t done = 0;

	if (off >= size)
		return -EINVAL;
	count = min_t(u64, count, size - off);
	while (done < count) {
		u32 len = vm_access_len(index, off + done, count - done);
		u64 val = 0;

		if (write && copy_from_user(&val, buf + done, len))
			return -EFAULT;
		val = vm_access(vm, index, off + done, val, len, write);
		if (!write && copy_to_user(buf + done, &val, len))
			return -EFAULT;
		atomic64_inc(&vm->traps);
		done += len;
	}
	*ppos += (loff_t)done;
	return (ssize_t)done;
}

static ssize_t vm_read(struct vfio_device *vdev, char __user *buf, size_t count, loff_t *ppos)
{
	return vm_rw(to_port_vm(vdev), buf, count, ppos, false);
}

static ssize_t vm_write(struct vfio_device *vdev, const char __user *buf, size_t count, loff_t *ppos)
{
	return vm_rw(to_port_vm(vdev), (char __user *)buf, count, ppos, true);
}

/* --- ioctls --- */

static long vm_info(unsigned long arg)
{
	size_t minsz = offsetofend(struct vfio_device_info, num_irqs);
	struct vfio_device_info info;

	if (copy_from_user(&info, (void __user *)arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz)
		return -EINVAL;
	info.flags = VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET;
	info.num_regions = VFIO_PCI_NUM_REGIONS;
	info.num_irqs = VFIO_PCI_NUM_IRQS;
	return copy_to_user((void __user *)arg, &info, minsz) ? -EFAULT : 0;
}

static long vm_region_info(struct port_vm *vm, unsigned long arg)
{
	size_t minsz = offsetofend(struct vfio_region_info, offset);
	struct vfio_region_info info;

	if (copy_from_user(&info, (void __user *)arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz || info.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	info.offset = (u64)info.index << VM_REGION_SHIFT;
	info.size = vm_region_size(vm, info.index);
	info.cap_offset = 0;
	info.flags = info.size ? VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE : 0;
	if (info.index == VFIO_PCI_BAR0_REGION_INDEX + LIOV_CMB_BAR)
		info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
	return copy_to_user((void __user *)arg, &info, minsz) ? -EFAULT : 0;
}

static long vm_irq_info(struct port_vm *vm, unsigned long arg)
{
	size_t minsz = offsetofend(struct vfio_irq_info, count);
	struct vfio_irq_info info;

	if (copy_from_user(&info, (void __user *)arg, minsz))
		return -EFAULT;
	if (info.argsz < minsz || info.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	info.count = info.index == VFIO_PCI_MSIX_IRQ_INDEX ? vm_irq_count(vm) : 0;
	info.flags = info.count ? VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE : 0;
	return copy_to_user((void __user *)arg, &info, minsz) ? -EFAULT : 0;
}

/* A function level reset, asked for as a guest would: in the PCI Express capability. */
static long vm_reset(struct port_vm *vm)
{
	u32 off = liov_device_cfg_rd(vm->liov, PCIS_CAP_POINTER, 1), i;

	for (i = 0; i < 48 && off; i++) {
		u32 head = liov_device_cfg_rd(vm->liov, off, 4);

		if ((head & 0xff) == PCIS_CAP_ID_PCIE) {
			u32 control = liov_device_cfg_rd(vm->liov, off + PCIS_EXP_DEVCTL, 2);

			liov_device_cfg_wr(vm->liov, off + PCIS_EXP_DEVCTL, control | (u32)PCIS_EXP_DEVCTL_FLR, 2);
			return 0;
		}
		off = head >> 8 & 0xfc;
	}
	return -EIO;
}

static long vm_ioctl(struct vfio_device *vdev, unsigned int cmd, unsigned long arg)
{
	struct port_vm *vm = to_port_vm(vdev);

	switch (cmd) {
	case VFIO_DEVICE_GET_INFO:
		return vm_info(arg);
	case VFIO_DEVICE_GET_REGION_INFO:
		return vm_region_info(vm, arg);
	case VFIO_DEVICE_GET_IRQ_INFO:
		return vm_irq_info(vm, arg);
	case VFIO_DEVICE_SET_IRQS:
		return vm_irq_set(vm, arg);
	case VFIO_DEVICE_RESET:
		return vm_reset(vm);
	default:
		return -ENOTTY;
	}
}

const struct vfio_device_ops vm_ops = {
	.name = "vfio-lightiov",
	.init = vm_init,
	.release = vm_release,
	.open_device = vm_open,
	.close_device = vm_close,
	.read = vm_read,
	.write = vm_write,
	.ioctl = vm_ioctl,
	.mmap = vm_map_make,
	.dma_unmap = vm_dma_unmap,
};
