/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_WORKLOAD_WORKLOAD_H
#define SIM_WORKLOAD_WORKLOAD_H

/*
 * A closed-loop generator, after fio: on one queue of a VM, so many requests outstanding,
 * each checked: what is read is what was last written, nothing is lost or completed twice.
 */

#include "hist.h"
#include "rng.h"
#include "vm/io.h"

struct workload_config {
	u32 queue;
	u32 depth;			/* requests outstanding */
	u32 blocks;			/* a request, of 512 bytes */
	u32 read_percent;		/* rest: writes */
	bool random;			/* else sequential */
	u64 first_block, span_blocks;	/* of the VM's LBAs; span is a multiple of blocks */
	u64 requests;			/* stop after so many; 0: until told */
	u64 cpu_ps;			/* guest's work a request */
	u32 buffers;			/* of so many, one by chance for each request; 0: one for each of depth */
	bool verify;
	u64 seed;
	u64 secret;			/* of what is written: with another, all content is another */
	struct stock_driver *stock;	/* through this driver instead of the frontend */
};

struct workload;

/* Start on vCPU queue % vcpus. NULL: no memory, or a bad configuration (span outside the VM). */
struct workload *workload_start(struct port_vm *vm, const struct workload_config *cfg);
/* Submit no more; returns when nothing is outstanding, false after @timeout_ps. In any task. */
bool workload_stop(struct workload *w, u64 timeout_ps);
/* Wait until cfg.requests have completed. */
bool workload_join(struct workload *w, u64 timeout_ps);
void workload_free(struct workload *w);

struct workload_result {
	u64 submitted, completed, errors;
	u64 wrong;			/* reads whose data was not what was last written */
	u64 twice;			/* completions of what was not outstanding */
	u64 outstanding;
	u64 first_ps, last_ps;		/* of completions */
	u64 stall_ps;			/* longest time without a success */
	const struct hist *latency;
};

struct workload_result workload_result(const struct workload *w);

/* The tag that stands for the content of (vm, block, generation) as workloads write it; never 0. */
u64 workload_tag(u32 vm, u64 block, u32 generation);

#endif
