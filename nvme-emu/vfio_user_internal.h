/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_USER_INTERNAL_H
#define NVME_EMU_VFIO_USER_INTERNAL_H

/* What the files of a session share. */

#include "vfio_user.h"
#include "vfio_user_wire.h"

/* A file that a client's memory lies in: ours, opened anew, so that no flag the client sets later is on it. */
struct vfio_file {
	struct vfio_file *next;
	u64 device, inode;
	int fd;
	bool writable;
	u32 refs;
};

struct vfio_map {
	u64 addr, len_bytes, offset;
	u32 flags;			/* VFIO_USER_DMA_* */
	struct vfio_file *file;		/* NULL: nothing came with it; never read or written */
};

struct vfio_memory {
	struct vfio_map *map;		/* by address */
	u32 nr, room;
	struct vfio_file *files;
	u32 nr_files;
};

struct vfio_vector {
	int fd;				/* -1: none */
	bool masked;
};

struct vfio_user {
	struct vfio_guest guest;	/* first: what the device has of it */
	struct vfio_device *dev;
	int fd;
	bool versioned;			/* the client has introduced itself */
	bool open;			/* and the device knows */
	char why[256];
	struct vfio_memory memory;
	struct vfio_vector vector[VFIO_VECTORS_MAX];
	/* A message as it comes in, and what came with it. */
	union {
		u64 aligned;
		struct vfio_user_header header;
		u8 in[2 * VFIO_USER_TRANSFER_MAX];
	};
	u32 in_len;
	int in_fd[VFIO_USER_FDS_MAX];
	u32 nr_in_fds;
	/* The reply that the socket has not taken yet, and the file that goes with it; -1: none. */
	u8 out[sizeof(struct vfio_user_header) + sizeof(struct vfio_user_region_access) + VFIO_USER_TRANSFER_MAX];
	u32 out_len, out_sent;
	int out_fd;
};

/* The session is over, and why. Returns -1. */
int vfio_user_end(struct vfio_user *u, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first file that came with the message; -1: none. It is then the caller's. */
int vfio_user_take_fd(struct vfio_user *u);

/* A command's work: 0; an errno for the client; or -1, the session is over. */

/* vfio_user_dma.c */
int vfio_user_map(struct vfio_user *u, const struct vfio_user_dma_map *m);
int vfio_user_unmap(struct vfio_user *u, const struct vfio_user_dma_unmap *m);
void vfio_user_unmap_all(struct vfio_user *u);
bool vfio_user_dma_read(struct vfio_guest *g, u64 addr, void *buf, size_t len_bytes);
bool vfio_user_dma_write(struct vfio_guest *g, u64 addr, const void *buf, size_t len_bytes);

/* vfio_user_irq.c */
int vfio_user_set_irqs(struct vfio_user *u, const struct vfio_user_irq_set *s, const u8 *data, u32 data_bytes);
void vfio_user_interrupt(struct vfio_guest *g, u32 vec);
void vfio_user_drop_irqs(struct vfio_user *u);

#endif
