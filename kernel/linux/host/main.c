// SPDX-License-Identifier: GPL-2.0
/*
 * LightIOV's host module: takes an NVMe function that was given to it by driver_override,
 * brings its controller up in a domain of its own, offers parts of it to VMs as mdevs, and
 * gives it back disabled.
 */

#include <linux/module.h>
#include <linux/pci.h>

#include "vm.h"

static bool gate;
module_param(gate, bool, 0444);
MODULE_PARM_DESC(gate, "read from the device in the self-test when it is bound; binding fails with it");

static unsigned long long gate_seed;
module_param(gate_seed, ullong, 0444);
MODULE_PARM_DESC(gate_seed, "seed of the image's content, for the self-test");

static unsigned long long host_blocks = 2048;
module_param(host_blocks, ullong, 0444);
MODULE_PARM_DESC(host_blocks, "blocks from 0 that stay the host's");

/* Queue pages and host structures: above every BAR and interrupt address, within 39-bit IOMMUs. */
static unsigned long long iova_start = 64ull << 30;
module_param(iova_start, ullong, 0444);
MODULE_PARM_DESC(iova_start, "start of the IOVA window for host structures");

static unsigned long long iova_bytes = 1ull << 30;
module_param(iova_bytes, ullong, 0444);
MODULE_PARM_DESC(iova_bytes, "its length in bytes");

/* A window for each VM's memory, whose addresses start at 0 in any of them: 16 VMs of up to 16 GiB. */
static unsigned long long vm_iova_start = 128ull << 30;
module_param(vm_iova_start, ullong, 0444);
MODULE_PARM_DESC(vm_iova_start, "start of the IOVA range for VMs");

static unsigned long long vm_iova_bytes = 256ull << 30;
module_param(vm_iova_bytes, ullong, 0444);
MODULE_PARM_DESC(vm_iova_bytes, "its length in bytes");

static unsigned long long vm_iova_window = 16ull << 30;
module_param(vm_iova_window, ullong, 0444);
MODULE_PARM_DESC(vm_iova_window, "of which each VM gets so much, a power of two: its guest addresses end there");

static unsigned long long vm_blocks = 2097152;
module_param(vm_blocks, ullong, 0444);
MODULE_PARM_DESC(vm_blocks, "blocks of a VM, until its attribute blocks is written");

static char *policy = "mediated";
module_param(policy, charp, 0444);
MODULE_PARM_DESC(policy, "mediated, or paper: VMs are trusted with block and DMA addresses");

#define WATCH_US_MAX	100000u

static unsigned int watch_us;
module_param(watch_us, uint, 0444);
MODULE_PARM_DESC(watch_us, "mediated: doorbells in memory that a thread a VM looks at every so many microseconds; 0: they trap");

static bool broken;
module_param(broken, bool, 0444);
MODULE_PARM_DESC(broken, "an assertion failed (to read, not to set)");

void liov_home_broken(void)
{
	WRITE_ONCE(broken, true);
}

bool host_is_broken(void)
{
	return READ_ONCE(broken);
}

struct lightiov {
	struct port_host host;
	struct liov_backend be;
	struct host_mdev mdev;
	bool stopped;
};

static void lightiov_report(struct lightiov *l)
{
	const struct liov_ctrl_info *i = &l->be.info;

	dev_info(&l->host.pdev->dev, "model '%s' serial '%s' firmware '%s', %llu blocks of %u bytes (%llu MiB)\n", i->model,
		 i->serial, i->firmware, i->nsze, 1u << i->lba_shift, i->nsze << i->lba_shift >> 20);
	dev_info(&l->host.pdev->dev, "NVMe %u.%u, %u queue pairs, doorbell stride %u, CMB %llu KiB in BAR %u%s, %u vectors\n",
		 i->vs >> 16, (i->vs >> 8) & 0xff, i->io_queues, i->doorbell_stride, i->cmb_size >> 10, i->cmb_bar,
		 i->cmb_sqs ? "" : " (no SQs)", l->host.nr_vectors);
}

static int lightiov_policy(enum liov_policy *p)
{
	if (!strcmp(policy, "mediated"))
		*p = LIOV_POLICY_MEDIATED;
	else if (!strcmp(policy, "paper"))
		*p = LIOV_POLICY_PAPER;
	else if (!strcmp(policy, "nrd") || !strcmp(policy, "siov"))
		return -EOPNOTSUPP;
	else
		return -EINVAL;
	return 0;
}

static int lightiov_check_windows(struct lightiov *l)
{
	int err = host_iommu_check_window(&l->host, iova_start, iova_bytes);
	bool overlap;

	if (err)
		return err;
	overlap = iova_start < vm_iova_start ? vm_iova_start - iova_start < iova_bytes
					     : iova_start - vm_iova_start < vm_iova_bytes;
	if (overlap || !is_power_of_2(vm_iova_window) || vm_iova_window < PAGE_SIZE || vm_iova_bytes < vm_iova_window) {
		dev_err(&l->host.pdev->dev, "the VMs' IOVA window is no power of two, does not fit, or overlaps the host's\n");
		return -EINVAL;
	}
	return host_iommu_check_window(&l->host, vm_iova_start, vm_iova_bytes);
}

static int lightiov_start(struct lightiov *l)
{
	struct liov_backend_config cfg = {
		.host_lbas = host_blocks,
		.host_iova = { iova_start, iova_bytes },
		.queue_depth = 64,
		.timeout_ns = 10ull * NSEC_PER_SEC,
		/* An unmodified VMM places its memory where it likes. */
		.dma_offset = true,
		.vm_iova = { vm_iova_start, vm_iova_bytes },
		.vm_iova_window = vm_iova_window,
		.watch_doorbells = watch_us != 0,
	};
	int err = lightiov_policy(&cfg.policy);

	if (err == -EOPNOTSUPP) {
		dev_err(&l->host.pdev->dev, "policy '%s': neither a controller nor Linux has what it rests on\n", policy);
		return err;
	}
	if (err) {
		dev_err(&l->host.pdev->dev, "no policy '%s'\n", policy);
		return err;
	}
	if (watch_us > WATCH_US_MAX || (watch_us && cfg.policy != LIOV_POLICY_MEDIATED)) {
		dev_err(&l->host.pdev->dev, "watch_us is above %u, or the policy is not mediated\n", WATCH_US_MAX);
		return -EINVAL;
	}
	l->host.watch_us = watch_us;
	err = lightiov_check_windows(l);
	if (err)
		return err;
	err = liov_backend_start(&l->be, &l->host, &cfg);
	if (err) {
		dev_err(&l->host.pdev->dev, "controller does not come up: %d\n", err);
		return err;
	}
	lightiov_report(l);
	if (!gate)
		return 0;
	err = host_selftest(&l->be, gate_seed);
	dev_info(&l->host.pdev->dev, "gate: self-test %s\n", err ? "FAILED" : "passed");
	if (err)
		liov_backend_stop(&l->be);
	return err;
}

/* Nobody has a VM. */
static void lightiov_stop(struct lightiov *l)
{
	int err = l->stopped ? 0 : liov_backend_stop(&l->be);

	LIOV_ASSERT(!err);
	l->stopped = true;
}

static int lightiov_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct lightiov *l;
	int err;

	if (host_is_broken())
		return -EIO;
	l = kvzalloc(sizeof(*l), GFP_KERNEL);
	if (!l)
		return -ENOMEM;
	err = pci_enable_device_mem(pdev);
	if (err)
		goto out_free;
	err = pci_request_mem_regions(pdev, LIOV_MODULE);
	if (err)
		goto out_disable;
	err = host_init(&l->host, pdev);
	if (err)
		goto out_regions;
	err = lightiov_start(l);
	if (err)
		goto out_host;
	pci_set_drvdata(pdev, l);
	/* Last: VMs may be made from here on. */
	err = host_mdev_start(&l->mdev, &l->be, vm_blocks);
	if (err)
		goto out_backend;
	return 0;

out_backend:
	lightiov_stop(l);
out_host:
	host_fini(&l->host);
out_regions:
	pci_release_mem_regions(pdev);
out_disable:
	pci_disable_device(pdev);
out_free:
	kvfree(l);
	return err;
}

/* Waits for whoever has a VM's device open. */
static void lightiov_remove(struct pci_dev *pdev)
{
	struct lightiov *l = pci_get_drvdata(pdev);

	host_mdev_stop(&l->mdev);
	lightiov_stop(l);
	host_fini(&l->host);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
	kvfree(l);
}

/* The controller must not go on fetching from memory that the next kernel uses. VMs that still run find it silent. */
static void lightiov_shutdown(struct pci_dev *pdev)
{
	struct lightiov *l = pci_get_drvdata(pdev);

	l->stopped = !liov_backend_stop(&l->be);
	pci_clear_master(pdev);
}

struct reset {
	struct work_struct work;
	struct liov_backend *be;
	int err;
};

static void reset_work(struct work_struct *work)
{
	struct reset *r = container_of(work, struct reset, work);

	r->err = liov_backend_reset(r->be);
}

/*
 * Somebody reset the function under us (sysfs): the controller has forgotten its queues. VMs are told in their
 * memory, which VFIO writes for their own process or for a kernel thread, not for whoever wrote to sysfs.
 */
static void lightiov_reset_done(struct pci_dev *pdev)
{
	struct lightiov *l = pci_get_drvdata(pdev);
	struct reset r = { .be = &l->be };

	INIT_WORK_ONSTACK(&r.work, reset_work);
	queue_work(l->host.home.wq, &r.work);
	flush_work(&r.work);
	destroy_work_on_stack(&r.work);
	dev_info(&pdev->dev, "reset from outside, controller back: %d\n", r.err);
}

static void lightiov_reset_prepare(struct pci_dev *pdev)
{
	struct lightiov *l = pci_get_drvdata(pdev);

	liov_backend_reset_expected(&l->be);
}

static const struct pci_error_handlers lightiov_err_handlers = {
	.reset_prepare = lightiov_reset_prepare,
	.reset_done = lightiov_reset_done,
};

/* Queues do not survive power off, and nobody could tell the VMs in time: the machine stays awake. */
static int lightiov_suspend(struct device *dev)
{
	return -EBUSY;
}

static DEFINE_SIMPLE_DEV_PM_OPS(lightiov_pm_ops, lightiov_suspend, NULL);

/* No id: only driver_override (or new_id) hands a function over, never the fact that it is an NVMe device. */
static struct pci_driver lightiov_driver = {
	.name = LIOV_MODULE,
	.probe = lightiov_probe,
	.remove = lightiov_remove,
	.shutdown = lightiov_shutdown,
	.err_handler = &lightiov_err_handlers,
	.driver.pm = pm_sleep_ptr(&lightiov_pm_ops),
	.driver_managed_dma = true,
};

static int __init lightiov_init(void)
{
	int err = host_mdev_register();

	if (err)
		return err;
	err = pci_register_driver(&lightiov_driver);
	if (err)
		host_mdev_unregister();
	return err;
}
module_init(lightiov_init);

static void __exit lightiov_exit(void)
{
	pci_unregister_driver(&lightiov_driver);
	host_mdev_unregister();
}
module_exit(lightiov_exit);

MODULE_DESCRIPTION("LightIOV host: hardware NVMe queues for VMs");
MODULE_LICENSE("GPL");
