/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_FRONTEND_H
#define LIOV_FRONTEND_H

/*
 * LightIOV, guest side: finds the virtual function, brings it up, and puts commands straight
 * into the hardware queue pages mapped through the CMB. Structures are the caller's memory.
 * Data path calls never allocate. Errors are -errno.
 */

#include "abi.h"
#include "port_guest.h"

#define LIOV_FE_TAGS_MAX	LIOV_QUEUE_DEPTH_MAX
#define LIOV_FE_SEGMENTS_MAX	33u	/* of a request: 128 KiB with an offset */
#define LIOV_FE_RANGES_MAX	16u

enum liov_op { LIOV_OP_READ, LIOV_OP_WRITE, LIOV_OP_FLUSH, LIOV_OP_WRITE_ZEROES, LIOV_OP_DISCARD, LIOV_OP_COMPARE };

/* One request of the block layer; valid until submit returns, the data until it completes. */
struct liov_request {
	enum liov_op op;
	vlba_t slba;			/* as the guest counts */
	u32 blocks;			/* of 1 << lba_shift bytes */
	bool fua;
	u32 nr_segments;		/* read, write, compare: all but the first start, all but the last end at 4 KiB */
	const struct liov_segment *segments;
	void *cookie;			/* comes back in port_guest_complete() */
};

struct liov_fe_tag {
	void *cookie;
	bool busy;
};

/* Registered: the only addresses a command may name. */
struct liov_fe_memory {
	u32 nr;
	struct liov_range range[LIOV_FE_RANGES_MAX];
};

struct liov_frontend;

struct liov_fe_queue {
	struct liov_frontend *fe;
	u32 qid;			/* virtual */
	u32 entries;
	bool live;
	struct port_lock lock;		/* ring, tags, mem */
	const struct liov_fe_memory *mem;
	u32 sq, cq;			/* offsets in the CMB */
	u32 sq_doorbell, cq_doorbell;	/* offsets in the CMB, or in BAR 0 */
	bool doorbell_in_cmb;
	u32 sq_tail, sq_head, cq_head;
	bool cq_phase;
	struct port_shm lists;		/* a PRP list page a tag */
	gpa_t lists_gpa;
	bool has_lists;
	u16 free_tags[LIOV_FE_TAGS_MAX];
	u32 nr_free;
	struct liov_fe_tag tags[LIOV_FE_TAGS_MAX];
};

struct liov_fe_config {
	u32 nr_queues;			/* wanted; 0: all */
	u32 depth;			/* entries; 0: what the device allows */
	u64 timeout_ns;			/* of an admin command */
};

struct liov_frontend {
	struct port_guest *guest;
	struct port_home *home;
	struct liov_fe_config cfg;
	struct port_mmio bar0, cmb_regs;
	struct port_shm cmb;
	gpa_t cmb_gpa;
	u64 cmb_size;
	struct liov_info info;		/* private copy, checked */
	u32 lba_shift, mdts_bytes;
	u64 blocks;			/* of the virtual namespace */
	u16 oncs;
	bool write_cache;
	char serial[21];
	/* admin queue */
	struct port_mutex admin_lock;
	struct port_shm admin;		/* SQ page, CQ page, data page */
	gpa_t admin_gpa;
	u32 admin_sq_tail, admin_cq_head;
	bool admin_phase;
	u16 admin_cid;
	struct port_event admin_done;
	u16 admin_wait_cid, admin_status;
	u32 admin_dw0;
	bool admin_waiting;
	struct port_work reset_work;	/* the shared controller was reset */
	u32 nr_queues;
	struct liov_fe_queue *queue;	/* [nr_queues], from port_alloc */
	struct port_mutex mem_lock;	/* held while memory[] and the device's view of it change */
	struct liov_fe_memory memory[2], *mem;	/* mem: the one of the two that holds */
	u32 resets_seen;
	bool live;
	bool failed;			/* a queue did not come back after a reset: stop and start help, or the next reset */
};

/* Is this function a LightIOV device? 0, or -ENODEV. Reads configuration space only. */
int liov_frontend_probe(struct port_guest *g);
/* Bring-up: enable, identify, register memory, create queues. All undone on error. */
int liov_frontend_start(struct liov_frontend *fe, struct port_guest *g, const struct liov_fe_config *cfg);
/* Orderly end: requests outstanding are completed with status 0/0x08. */
void liov_frontend_stop(struct liov_frontend *fe);

/*
 * Check and translate a request and put it into hardware queue @q (0 ..). 0; -EAGAIN queue
 * full; -EINVAL shape; -EIO outside the VM's blocks or memory: nothing was sent. IAP
 */
int liov_frontend_submit(struct liov_frontend *fe, u32 q, const struct liov_request *rq);
/* Drain completions of @q: what its interrupt handler does. Returns how many. IAP */
u32 liov_frontend_poll(struct liov_frontend *fe, u32 q);
/*
 * Ask for the request with @cookie in queue @q to be aborted (Base 5.1); it still completes by
 * itself. 0; -ENOENT: it is not outstanding; -EBUSY: the device did not abort it; -ETIMEDOUT;
 * -EIO: refused. P
 */
int liov_frontend_abort(struct liov_frontend *fe, u32 q, const void *cookie);

/* (Un)register guest memory for DMA. Multiples of 4 KiB. P */
int liov_frontend_mem_register(struct liov_frontend *fe, gpa_t gpa, u64 len_bytes);
int liov_frontend_mem_unregister(struct liov_frontend *fe, gpa_t gpa, u64 len_bytes);
/* An admin command of the caller's own, waited for: 0, -ETIMEDOUT, or the positive status. P */
struct nvme_sqe;
int liov_frontend_admin(struct liov_frontend *fe, struct nvme_sqe *sqe, u32 *dw0);

#endif
