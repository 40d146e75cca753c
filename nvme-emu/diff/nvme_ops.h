/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_DIFF_NVME_OPS_H
#define NVME_EMU_DIFF_NVME_OPS_H

/* Operations on registers, MSI-X, configuration space and memory (machine_ops.c), for the table in nvme_ops.c. */

#include "diff/diff.h"

void play_read(struct side *s, const struct op *op, struct seen *seen);
void play_write(struct side *s, const struct op *op, struct seen *seen);
void play_regs(struct side *s, const struct op *op, struct seen *seen);
void play_msix(struct side *s, const struct op *op, struct seen *seen);
void play_msixctl(struct side *s, const struct op *op, struct seen *seen);
void play_pending(struct side *s, const struct op *op, struct seen *seen);
void play_config(struct side *s, const struct op *op, struct seen *seen);
void play_configw(struct side *s, const struct op *op, struct seen *seen);
void play_put(struct side *s, const struct op *op, struct seen *seen);
void play_words(struct side *s, const struct op *op, struct seen *seen);
void play_list(struct side *s, const struct op *op, struct seen *seen);
void play_see(struct side *s, const struct op *op, struct seen *seen);
void play_see_ctrl(struct side *s, const struct op *op, struct seen *seen);
void play_see_ns(struct side *s, const struct op *op, struct seen *seen);

/* Where queue @q lies when nothing else is asked for: the SQ; the CQ is 32 KiB on. */
u64 diff_queue_base(u32 q);

#endif
