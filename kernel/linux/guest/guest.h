/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_GUEST_GUEST_H
#define LINUX_GUEST_GUEST_H

/*
 * The guest's side of one virtual function, and what the files of this module say to each
 * other: main.c is its life, port.c the port, block.c the disk.
 */

#include <linux/blk-mq.h>
#include <linux/mutex.h>
#include <linux/pci.h>

#include "liov/frontend.h"

#define LIOV_MODULE "lightiov_guest"

/* An MSI-X vector; fn is NULL while nobody requested it. */
struct guest_vector {
	void (*fn)(void *arg);
	void *arg;
	char name[24];
};

struct port_guest {
	struct port_home home;
	struct pci_dev *pdev;
	void __iomem *bar0, *cmb;
	u32 nr_vectors;
	struct guest_vector vector[LIOV_VM_QUEUES_MAX + 1];
};

struct guest {
	struct port_guest port;
	struct liov_frontend fe;
	struct mutex lock;		/* the frontend is up and stays so: changed under it */
	bool up;
	bool dead;			/* for good: every request fails */
	bool resting;			/* down on purpose */
	struct work_struct revive;	/* down and up again */
	/* block.c */
	int index;
	u32 lba_shift;
	u64 blocks;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
};

/* port.c */
int port_guest_init(struct port_guest *g, struct pci_dev *pdev);
void port_guest_fini(struct port_guest *g);

/* block.c: a disk for the frontend that is up. */
int block_add(struct guest *gu);
/* Waits until the disk's requests have ended. */
void block_remove(struct guest *gu);
/* Is the frontend, up again, still what the disk was made for? */
bool block_fits(const struct guest *gu);
/* Nothing is submitted between these; what completes as aborted waits. */
void block_stop(struct guest *gu);
void block_go(struct guest *gu);

#endif
