/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_FIO_WORLD_H
#define HARNESS_FIO_WORLD_H

/*
 * The simulated machine behind a process's fio jobs: an SSD that LightIOV shares among VMs, and on
 * it a queue for each job. One thread runs it, and time goes on only while every job waits, so that
 * all jobs live on one clock, whatever the threads of fio do in what order. Knows nothing of fio.
 */

#include <stdbool.h>
#include <stdint.h>

#define WORLD_JOBS_MAX 64

/* Alike for all jobs of a machine. */
struct world_options {
	int policy;			/* enum liov_policy */
	uint32_t vms;			/* which the jobs are dealt to */
	uint64_t medium_ns;		/* fixed: everything else costs nothing; 0: the reference SSD */
	uint32_t servers;		/* of a fixed medium: I/Os at a time */
};

enum world_op { WORLD_READ, WORLD_WRITE, WORLD_FLUSH, WORLD_DISCARD };

/* An I/O; the caller's to fill. */
struct world_io {
	enum world_op op;
	uint64_t offset;		/* in the VM's namespace, in bytes as the length */
	uint32_t len;
	void *data;			/* NULL: nobody looks at the content */
	void *cookie;
	int error;			/* at its end: 0 or errno */
};

struct world_job;

/* Before any is started. NULL: the machine has no room for one more of this @depth with I/Os of @io_bytes. */
struct world_job *world_job_add(const struct world_options *o, uint32_t depth, uint32_t io_bytes, uint64_t guest_cpu_ns);
uint64_t world_job_bytes(void);		/* the size of each VM's namespace */

/*
 * The job takes part from now on. The first one has the machine built. @expected, asked until it says
 * no, tells whether a job is on its way here that time has to wait for. An error in words, or NULL.
 */
const char *world_job_start(struct world_job *j, bool (*expected)(void));
void world_job_stop(struct world_job *j);

/* False: as many as the depth are outstanding. */
bool world_submit(struct world_job *j, const struct world_io *io);

/*
 * Wait until @min I/Os have ended, or @timeout_ns have passed; take up to @max. -1: the machine has
 * failed, and said so.
 */
#define WORLD_FOREVER UINT64_MAX
int world_wait(struct world_job *j, uint32_t min, uint32_t max, uint64_t timeout_ns);
/* The @i-th of those that were taken. */
const struct world_io *world_taken(const struct world_job *j, uint32_t i);

/* clock.c: what clock_gettime(CLOCK_MONOTONIC) and the sleeps of the process's threads are. */
bool clock_is_ours(void);		/* are they this library's? */
void clock_hold(uint64_t ns);		/* from now on the machine's time, which is @ns */
void clock_set(uint64_t ns);
void clock_release(void);		/* going on from there as the processor's does */
/* The calling thread is @j's, or NULL, nobody's: its sleeps pass in the machine. */
void clock_belongs_to(struct world_job *j);
void clock_job_is_active(void);		/* the calling thread's job did something but look at the clock */

#endif
