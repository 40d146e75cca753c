/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_DIFF_REPORT_H
#define NVME_EMU_DIFF_REPORT_H

/* What a run has to say, for a reader and for a machine. */

#include "diff/diff.h"

struct run_result {
	char witness[160];	/* its version */
	u64 seed;
	u32 not_shown;		/* entries of the table that apply and never showed */
	u32 rows_missed;
	u32 unknown;
};

/* An unknown difference: the operations that show it, and how to play them again; the lines both were sent are written to @out. */
void report_difference(struct bench *b, const struct stream *st, const struct mismatch *m, const char *out);
/* Into a file in @out, which is made. */
void report_stream(const struct stream *st, const char *out, const char *name);
void report_mismatch(FILE *f, const struct mismatch *m);
/* Fills in what did not show, when @complete. */
void report_run(const struct bench *b, struct run_result *r, bool complete);
bool report_json(const struct bench *b, const struct run_result *r, const char *path);

#endif
