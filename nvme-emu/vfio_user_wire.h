/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_USER_WIRE_H
#define NVME_EMU_VFIO_USER_WIRE_H

/*
 * The protocol's messages: QEMU's docs/interop/vfio-user.rst, whose names these are; the structures in them are
 * those of linux/vfio.h. All is in the byte order of the host, and multiples of four bytes but for data.
 */

#include "spec/spec_types.h"

enum vfio_user_command {
	VFIO_USER_VERSION = 1,
	VFIO_USER_DMA_MAP = 2,
	VFIO_USER_DMA_UNMAP = 3,
	VFIO_USER_DEVICE_GET_INFO = 4,
	VFIO_USER_DEVICE_GET_REGION_INFO = 5,
	VFIO_USER_DEVICE_GET_REGION_IO_FDS = 6,
	VFIO_USER_DEVICE_GET_IRQ_INFO = 7,
	VFIO_USER_DEVICE_SET_IRQS = 8,
	VFIO_USER_REGION_READ = 9,
	VFIO_USER_REGION_WRITE = 10,
	VFIO_USER_DMA_READ = 11,
	VFIO_USER_DMA_WRITE = 12,
	VFIO_USER_DEVICE_RESET = 13,
	VFIO_USER_DIRTY_PAGES = 14,
	VFIO_USER_REGION_WRITE_MULTI = 15
};

struct vfio_user_header {
	u16 id, command;
	u32 size_bytes;		/* with the header */
	u32 flags;
	u32 error;		/* errno of a reply */
};

#define VFIO_USER_TYPE		0xFU
#define VFIO_USER_TYPE_COMMAND	0U
#define VFIO_USER_TYPE_REPLY	1U
#define VFIO_USER_NO_REPLY	0x10U
#define VFIO_USER_ERROR		0x20U

struct vfio_user_version {
	u16 major, minor;	/* then JSON, ended by a NUL */
};

struct vfio_user_dma_map {
	u32 argsz, flags;
	u64 offset, address, size_bytes;
};

#define VFIO_USER_DMA_READABLE	1U
#define VFIO_USER_DMA_WRITEABLE	2U

struct vfio_user_dma_unmap {
	u32 argsz, flags;
	u64 address, size_bytes;
};

#define VFIO_USER_UNMAP_DIRTY	1U
#define VFIO_USER_UNMAP_ALL	2U

struct vfio_user_device_info {
	u32 argsz, flags, regions, irqs;
};

#define VFIO_USER_INFO_RESET	1U
#define VFIO_USER_INFO_PCI	2U

struct vfio_user_region_info {
	u32 argsz, flags, index, cap_offset;
	u64 size_bytes, offset;
};

#define VFIO_USER_REGION_READABLE	1U
#define VFIO_USER_REGION_WRITEABLE	2U
#define VFIO_USER_REGION_MAPPABLE	4U

struct vfio_user_irq_info {
	u32 argsz, flags, index, count;
};

#define VFIO_USER_IRQ_MSIX	2U
#define VFIO_USER_IRQS		5U
#define VFIO_USER_IRQ_EVENTFD	1U
#define VFIO_USER_IRQ_MASKABLE	2U
#define VFIO_USER_IRQ_NORESIZE	8U

struct vfio_user_irq_set {
	u32 argsz, flags, index, start, count;
};

#define VFIO_USER_SET_NONE	0x01U
#define VFIO_USER_SET_BOOL	0x02U
#define VFIO_USER_SET_EVENTFD	0x04U
#define VFIO_USER_SET_DATA	0x07U
#define VFIO_USER_SET_MASK	0x08U
#define VFIO_USER_SET_UNMASK	0x10U
#define VFIO_USER_SET_TRIGGER	0x20U
#define VFIO_USER_SET_ACTION	0x38U

struct vfio_user_region_access {
	u64 offset;
	u32 region, count;	/* then the data */
};

_Static_assert(sizeof(struct vfio_user_header) == 16 && sizeof(struct vfio_user_version) == 4 &&
	       sizeof(struct vfio_user_dma_map) == 32 && sizeof(struct vfio_user_dma_unmap) == 24 &&
	       sizeof(struct vfio_user_device_info) == 16 && sizeof(struct vfio_user_region_info) == 32 &&
	       sizeof(struct vfio_user_irq_info) == 16 && sizeof(struct vfio_user_irq_set) == 20 &&
	       sizeof(struct vfio_user_region_access) == 16, "as the protocol has them");

#endif
