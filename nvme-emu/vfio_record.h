/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_RECORD_H
#define NVME_EMU_VFIO_RECORD_H

/*
 * A recording of all that goes between guests and their devices, and its replay without guests.
 * nvme-emu/README.md describes the file.
 */

#include "vfio_device.h"

#include <stddef.h>

#define RECORD_MAGIC "LIOVREC1"
#define RECORD_PORTS 16U
#define RECORD_TEXT_MAX 65536U	/* words of the command, and the report at the end */

enum record_kind {
	/* What is done to the devices ... */
	RECORD_OPEN = 1, RECORD_CLOSE, RECORD_RESET, RECORD_READ, RECORD_WRITE, RECORD_VECTOR, RECORD_MAP, RECORD_UNMAP, RECORD_WORK,
	/* ... and what they do or answer, each after what it comes of. */
	RECORD_ANSWER, RECORD_DMA_READ, RECORD_DMA_WRITE, RECORD_INTERRUPT,
	RECORD_END
};

struct record_entry {
	u8 kind, port;
	u8 region;		/* DMA_READ: 1: all bytes are zero, none follow; DMA_WRITE: 1: it arrived */
	u8 len;			/* READ, WRITE */
	u32 bytes;		/* DMA: how many; END: of the report that follows */
	u64 a, b;		/* offset or address and value; ANSWER: b; DMA_READ: b 1: what was read follows; DMA_WRITE: b is its hash */
};

_Static_assert(sizeof(struct record_entry) == 24, "as described");

struct vfio_recording;

/* A recording in @path of a command with these words (ended by a NUL each). NULL with errno. */
struct vfio_recording *vfio_record_new(const char *path, const char *words, size_t words_bytes);

/*
 * What stands in the place of @d from now on. None of its regions can be mapped, for accesses to them would not be seen.
 * NULL without memory. @port counts from 0.
 */
struct vfio_device *vfio_record_device(struct vfio_recording *r, u32 port, struct vfio_device *d);

/* The devices are let go on; what that returned. */
void vfio_record_work(struct vfio_recording *r);
void vfio_record_worked(struct vfio_recording *r, int ret);

/* With the report at the end. 0, or -1 with errno: some of it could not be written. */
int vfio_record_end(struct vfio_recording *r, const char *report);

/* The hash of what a DMA writes. */
u64 vfio_record_hash(const void *data, size_t len_bytes);

#endif
