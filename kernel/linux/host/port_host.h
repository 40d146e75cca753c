/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_HOST_PORT_HOST_H
#define LINUX_HOST_PORT_HOST_H

/* A physical NVMe function in Linux's hands, and what the files of this module say to each other. */

#include <linux/iommu.h>
#include <linux/irqbypass.h>
#include <linux/mutex.h>
#include <linux/pci.h>

#include "liov/liov.h"

#define LIOV_MODULE "lightiov_host"

/* A physical MSI-X vector; fn is NULL while nobody requested it. */
struct host_vector {
	void (*fn)(void *arg);
	void *arg;
	bool masked;
	char name[24];
	/* vm_irq.c, while the vector is one VM's: what KVM may send past the handler. Under the VM's post_lock. */
	struct port_vm *vm;
	u16 vvec;
	struct list_head post;			/* in the VM's posts */
	struct irq_bypass_producer producer;	/* registered while it has a token */
};

struct port_host {
	struct port_home home;
	struct pci_dev *pdev;
	void __iomem *bar[PCI_STD_NUM_BARS];	/* mapped when first asked for, until the end */
	struct mutex lock;			/* bar[], vector[], and the domain below */
	u32 nr_vectors;
	struct host_vector *vector;
	struct iommu_group *group;
	struct iommu_domain *domain;
	struct iommu_iotlb_gather unmapped;	/* not flushed yet */
	bool flush_due;
	u32 watch_us;				/* period of a look at watched pages; 0: none can be */
};

/* host.c. init: memory decoding, bus mastering in the own domain, vectors. The function must be enabled. */
int host_init(struct port_host *h, struct pci_dev *pdev);
void host_fini(struct port_host *h);

/* iommu.c */
int host_iommu_init(struct port_host *h);
void host_iommu_fini(struct port_host *h);
/* May the window hold host structures: no BAR, no reserved address, within the IOMMU's reach? -EINVAL, and says why. */
int host_iommu_check_window(struct port_host *h, u64 start, u64 len_bytes);

/* irq.c */
int host_irq_init(struct port_host *h);
void host_irq_fini(struct port_host *h);

/* main.c: did an assertion of ours fail since the module was loaded? */
bool host_is_broken(void);

/* selftest.c: one read on a queue in the CMB and one beside it; the image's content is gate_pattern.h's. */
int host_selftest(struct liov_backend *be, u64 seed);

#endif
