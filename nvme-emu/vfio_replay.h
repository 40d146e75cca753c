/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_REPLAY_H
#define NVME_EMU_VFIO_REPLAY_H

/*
 * Plays a recording's guests to devices that were made anew: what was asked of them is asked again, what
 * they read of guest memory is what they read then, and all that they do and answer is compared. The file is not trusted.
 */

#include "vfio_record.h"

struct vfio_replay;

/* NULL, with the reason in @why. The words of the recorded command are at *words. */
struct vfio_replay *vfio_replay_open(const char *path, const char **words, size_t *words_bytes, char *why, size_t why_size);
void vfio_replay_close(struct vfio_replay *r);

/*
 * All of it, on @nr devices; work(opaque) lets them do what is due. 0: as recorded, up to the report, which is at *report;
 * 1: something differs, @why says what; 2: the file is no recording of these devices, @why says why.
 */
int vfio_replay_run(struct vfio_replay *r, struct vfio_device *const *dev, u32 nr, int (*work)(void *opaque), void *opaque,
		    const char **report, char *why, size_t why_size);

/* What was replayed so far, and a hash of all that the devices did and answered. */
struct vfio_replayed {
	u64 accesses, dma_reads, dma_writes, interrupts, digest;
};

struct vfio_replayed vfio_replay_seen(const struct vfio_replay *r);

#endif
