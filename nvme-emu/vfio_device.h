/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_DEVICE_H
#define NVME_EMU_VFIO_DEVICE_H

/*
 * A PCI device and the virtual machine it serves, as they see each other: what a vfio-user
 * session, a recording and a replay stand between. Regions are numbered as VFIO does.
 */

#include "spec/spec_types.h"

#define VFIO_REGION_BAR(n)	(n)
#define VFIO_REGION_CONFIG	7U
#define VFIO_REGIONS		9U
#define VFIO_VECTORS_MAX	512U

/* The virtual machine, as its device has it. Embedded in who plays it. */
struct vfio_guest {
	/* DMA within a page. False: nothing is mapped there, or not for this, or it cannot be had. */
	bool (*read)(struct vfio_guest *g, u64 addr, void *buf, size_t len_bytes);
	bool (*write)(struct vfio_guest *g, u64 addr, const void *buf, size_t len_bytes);
	/* MSI-X vector @vec is sent; only while it is open. */
	void (*interrupt)(struct vfio_guest *g, u32 vec);
};

struct vfio_device;

/* One guest at a time; calls come only between open and close. */
struct vfio_device_ops {
	/* A guest is there: the device is as at power-on. May change region[].fd. False: it cannot be had. */
	bool (*open)(struct vfio_device *d, struct vfio_guest *g);
	/* It is gone; its memory can not be had any more. */
	void (*close)(struct vfio_device *d);
	/* Function level reset that is asked for by other means than the configuration space. */
	void (*reset)(struct vfio_device *d);
	/* 1, 2, 4 or 8 bytes (configuration space: at most 4), aligned, inside the region. */
	u64 (*read)(struct vfio_device *d, u32 region, u64 off, u32 len);
	void (*write)(struct vfio_device *d, u32 region, u64 off, u64 val, u32 len);
	/* Interrupts of @vec can, or can no longer, be sent: the place of its entry in the MSI-X table. */
	void (*vector)(struct vfio_device *d, u32 vec, bool open);
	/* Memory comes and goes; whole pages, ranges do not overlap. False: there is no place for it. May be NULL. */
	bool (*map)(struct vfio_device *d, u64 addr, u64 len_bytes);
	void (*unmap)(struct vfio_device *d, u64 addr, u64 len_bytes);
};

struct vfio_region {
	u64 size_bytes;		/* 0: absent */
	int fd;			/* its memory, which clients may map; -1: every access is to come here */
};

struct vfio_device {
	const struct vfio_device_ops *ops;
	struct vfio_region region[VFIO_REGIONS];
	u32 vectors;		/* of MSI-X */
};

#endif
