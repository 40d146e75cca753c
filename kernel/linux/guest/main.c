// SPDX-License-Identifier: GPL-2.0
/*
 * LightIOV's guest module: takes every virtual function that says it is LightIOV's, brings
 * the core's frontend up on it and makes a disk of it; down and up again when the machine
 * sleeps, when the function is reset, and when a request hangs.
 */

#include <linux/module.h>

#include "attack.h"
#include "guest.h"

#define ADMIN_TIMEOUT_NS	(10ull * NSEC_PER_SEC)
#define DEPTH			256	/* a request costs a page for its PRP list */
#define REVIVE_TRIES		8	/* 100 ms after the first, then twice as long each: the shared controller may be away */
#define REVIVE_MS		100

static bool broken;
module_param(broken, bool, 0444);
MODULE_PARM_DESC(broken, "an assertion of the module's own failed: no further function is taken");

void liov_home_broken(void)
{
	WRITE_ONCE(broken, true);
}

/* What the frontend turns down is an I/O error of whoever asked: the block layer says it. */
void liov_home_trace(struct port_home *home, const struct liov_trace *t)
{
	dev_dbg(home->dev, "trace: kind %u a %#llx b %#llx\n", t->kind, t->a, t->b);
}

static int guest_up(struct guest *gu)
{
	struct liov_fe_config cfg = {
		.nr_queues = gu->port.nr_vectors - 1,
		.depth = DEPTH,
		.timeout_ns = ADMIN_TIMEOUT_NS,
	};
	int err;

	mutex_lock(&gu->lock);
	err = liov_frontend_start(&gu->fe, &gu->port, &cfg);
	if (!err && gu->disk && !block_fits(gu)) {
		liov_frontend_stop(&gu->fe);
		err = -ENXIO;
	}
	gu->up = !err;
	mutex_unlock(&gu->lock);
	if (err)
		dev_err(&gu->port.pdev->dev, "the virtual controller does not come up: %d\n", err);
	return err;
}

/* What was outstanding is handed back to the block layer and waits there. */
static void guest_down(struct guest *gu)
{
	attack_end(&gu->fe);
	block_stop(gu);
	mutex_lock(&gu->lock);
	liov_frontend_stop(&gu->fe);
	gu->up = false;
	mutex_unlock(&gu->lock);
}

/* Down, and nothing but guest_wake() brings it up. */
static void guest_rest(struct guest *gu)
{
	WRITE_ONCE(gu->resting, true);
	cancel_work_sync(&gu->revive);
	guest_down(gu);
}

/* Its requests go on, or fail for good. */
static int guest_again(struct guest *gu)
{
	u32 i;
	int err;

	err = guest_up(gu);
	for (i = 0; err && i < REVIVE_TRIES; i++) {
		msleep(REVIVE_MS << i);
		err = guest_up(gu);
	}
	if (err)
		WRITE_ONCE(gu->dead, true);
	block_go(gu);
	return err;
}

static int guest_wake(struct guest *gu)
{
	WRITE_ONCE(gu->resting, false);
	return guest_again(gu);
}

static void guest_revive(struct work_struct *work)
{
	struct guest *gu = container_of(work, struct guest, revive);

	if (READ_ONCE(gu->resting))
		return;
	dev_warn(&gu->port.pdev->dev, "the virtual controller is reset\n");
	guest_down(gu);
	guest_again(gu);
}

/* The frontend names guest-physical addresses; behind an IOMMU of the guest's own they would be none. */
static int guest_check(struct guest *gu)
{
	struct device *dev = &gu->port.pdev->dev;

	if (READ_ONCE(broken))
		return -EIO;
	if (liov_frontend_probe(&gu->port))
		return -ENODEV;
	if (device_iommu_mapped(dev)) {
		dev_err(dev, "behind an IOMMU of the guest's: not supported\n");
		return -EOPNOTSUPP;
	}
	return dma_set_mask_and_coherent(dev, DMA_BIT_MASK(64));
}

static int guest_start(struct guest *gu)
{
	int err = guest_up(gu);

	if (err)
		return err;
	err = attack_wanted() ? attack_run(&gu->fe) : block_add(gu);
	if (err)
		guest_down(gu);
	return err;
}

static int guest_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct guest *gu = kvzalloc(sizeof(*gu), GFP_KERNEL);
	int err;

	if (!gu)
		return -ENOMEM;
	gu->port.pdev = pdev;
	mutex_init(&gu->lock);
	INIT_WORK(&gu->revive, guest_revive);
	err = guest_check(gu);
	if (err)
		goto out_free;
	err = pci_enable_device_mem(pdev);
	if (err)
		goto out_free;
	err = pci_request_mem_regions(pdev, LIOV_MODULE);
	if (err)
		goto out_disable;
	pci_set_master(pdev);
	err = port_guest_init(&gu->port, pdev);
	if (err)
		goto out_regions;
	pci_set_drvdata(pdev, gu);
	err = guest_start(gu);
	if (err)
		goto out_port;
	return 0;

out_port:
	port_guest_fini(&gu->port);
out_regions:
	pci_clear_master(pdev);
	pci_release_mem_regions(pdev);
out_disable:
	pci_disable_device(pdev);
out_free:
	kvfree(gu);
	return err;
}

/* Requests under way end first; of a function that is gone they fail at once. */
static void guest_remove(struct pci_dev *pdev)
{
	struct guest *gu = pci_get_drvdata(pdev);

	if (!pci_device_is_present(pdev)) {
		WRITE_ONCE(gu->dead, true);
		guest_rest(gu);
		block_go(gu);
	}
	block_remove(gu);
	guest_rest(gu);
	port_guest_fini(&gu->port);
	pci_clear_master(pdev);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
	kvfree(gu);
}

static int guest_suspend(struct device *dev)
{
	guest_rest(dev_get_drvdata(dev));
	return 0;
}

static int guest_resume(struct device *dev)
{
	return guest_wake(dev_get_drvdata(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(guest_pm_ops, guest_suspend, guest_resume);

/* The next kernel must not find its memory written to. */
static void guest_shutdown(struct pci_dev *pdev)
{
	guest_rest(pci_get_drvdata(pdev));
	pci_clear_master(pdev);
}

/* Somebody resets the function (sysfs). */
static void guest_reset_prepare(struct pci_dev *pdev)
{
	guest_rest(pci_get_drvdata(pdev));
}

static void guest_reset_done(struct pci_dev *pdev)
{
	guest_wake(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers guest_err_handlers = {
	.reset_prepare = guest_reset_prepare,
	.reset_done = guest_reset_done,
};

/* By class; probe then looks for LightIOV's capability, so that no other NVMe function is taken. */
static const struct pci_device_id guest_ids[] = {
	{ PCI_DEVICE_CLASS(PCI_CLASS_STORAGE_EXPRESS, 0xffffff) },
	{ }
};
MODULE_DEVICE_TABLE(pci, guest_ids);

static struct pci_driver guest_driver = {
	.name = LIOV_MODULE,
	.id_table = guest_ids,
	.probe = guest_probe,
	.remove = guest_remove,
	.shutdown = guest_shutdown,
	.err_handler = &guest_err_handlers,
	.driver.pm = pm_sleep_ptr(&guest_pm_ops),
};
module_pci_driver(guest_driver);

MODULE_DESCRIPTION("LightIOV guest: a disk whose queues are the hardware's");
MODULE_LICENSE("GPL");
