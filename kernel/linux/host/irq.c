// SPDX-License-Identifier: GPL-2.0
/* Physical MSI-X vectors: allocated together (6.1 cannot add any later), requested one by one. */

#include <linux/interrupt.h>
#include <linux/irq.h>

#include "port_host.h"

int host_irq_init(struct port_host *h)
{
	int wanted = pci_msix_vec_count(h->pdev);
	int got;

	if (wanted < 0)
		return wanted;
	/* The admin queue's and one a queue pair; the machine may have fewer to give. */
	wanted = min(wanted, (int)LIOV_IO_QUEUES_MAX + 1);
	got = pci_alloc_irq_vectors(h->pdev, 1, (unsigned int)wanted, PCI_IRQ_MSIX);
	if (got < 0) {
		dev_err(&h->pdev->dev, "no MSI-X vectors: %d\n", got);
		return got;
	}
	h->vector = kvcalloc((size_t)got, sizeof(*h->vector), GFP_KERNEL);
	if (!h->vector) {
		pci_free_irq_vectors(h->pdev);
		return -ENOMEM;
	}
	h->nr_vectors = (u32)got;
	return 0;
}

void host_irq_fini(struct port_host *h)
{
	u32 vec;

	for (vec = 0; vec < h->nr_vectors; vec++)
		LIOV_ASSERT(!h->vector[vec].fn && !h->vector[vec].vm);
	pci_free_irq_vectors(h->pdev);
	kvfree(h->vector);
	h->nr_vectors = 0;
}

u32 liov_home_irq_count(struct port_host *h)
{
	return h->nr_vectors;
}

static irqreturn_t irq_handle(int irq, void *data)
{
	struct host_vector *v = data;

	v->fn(v->arg);
	return IRQ_HANDLED;
}

int liov_home_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg)
{
	struct host_vector *v;
	int irq, err = -EBUSY;

	if (vec >= h->nr_vectors || !fn)
		return -EINVAL;
	v = &h->vector[vec];
	irq = pci_irq_vector(h->pdev, vec);
	mutex_lock(&h->lock);
	if (v->fn)
		goto out;
	*v = (struct host_vector){ .fn = fn, .arg = arg };
	snprintf(v->name, sizeof(v->name), "lightiov-%u", vec);
	/* The core counts on interrupt context, also where others are made threads. */
	err = request_irq((unsigned int)irq, irq_handle, IRQF_NO_THREAD, v->name, v);
	if (err)
		v->fn = NULL;
	else	/* disable_irq() is to mask the vector in the function at once, not with the next message */
		irq_set_status_flags((unsigned int)irq, IRQ_DISABLE_UNLAZY);
out:
	mutex_unlock(&h->lock);
	return err;
}

void liov_home_irq_free(struct port_host *h, u32 vec)
{
	struct host_vector *v;
	int irq;

	if (vec >= h->nr_vectors || !h->vector[vec].fn) {
		LIOV_ASSERT(false);
		return;
	}
	v = &h->vector[vec];
	irq = pci_irq_vector(h->pdev, vec);
	mutex_lock(&h->lock);
	irq_clear_status_flags((unsigned int)irq, IRQ_DISABLE_UNLAZY);
	free_irq((unsigned int)irq, v);
	*v = (struct host_vector){ };
	mutex_unlock(&h->lock);
}

/* The read that follows the mask bit's write pushes messages before it ahead; disable_irq() waits for handlers. */
void liov_home_irq_mask_sync(struct port_host *h, u32 vec)
{
	if (vec >= h->nr_vectors)
		return;
	mutex_lock(&h->lock);
	if (h->vector[vec].fn && !h->vector[vec].masked) {
		h->vector[vec].masked = true;
		disable_irq((unsigned int)pci_irq_vector(h->pdev, vec));
	}
	mutex_unlock(&h->lock);
}

void liov_home_irq_unmask(struct port_host *h, u32 vec)
{
	if (vec >= h->nr_vectors)
		return;
	mutex_lock(&h->lock);
	if (h->vector[vec].fn && h->vector[vec].masked) {
		h->vector[vec].masked = false;
		enable_irq((unsigned int)pci_irq_vector(h->pdev, vec));
	}
	mutex_unlock(&h->lock);
}
