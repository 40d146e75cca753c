// SPDX-License-Identifier: GPL-2.0
/*
 * The self-test behind gate=1: what a controller must do with this module before anybody
 * builds on it. Uses the core's public interface alone.
 */

#include "port_host.h"
#include "nvme.h"
#include "gate_pattern.h"

/* Blocks within what the host keeps, each queue its own, neither the first. */
#define GATE_BLOCK_CMB		16u
#define GATE_BLOCK_MEMORY	1000u

/* Returns the first byte at which @buf is not the image's content at byte @off, or -1. */
static int gate_differs(const u8 *buf, u64 off, u64 seed)
{
	int i;

	for (i = 0; i < SPEC_PAGE_SIZE; i += 8) {
		u64 word;

		memcpy(&word, buf + i, 8);
		if (word != gate_pattern(seed, off + i))
			return i;
	}
	return -1;
}

static int gate_read(struct liov_backend *be, struct liov_hwq *q, u64 block, u64 seed)
{
	struct device *dev = be->home->dev;
	u32 shift = be->info.lba_shift;
	struct port_pages pages;
	struct port_shm shm;
	u8 *buf;
	int err, at;

	buf = port_alloc(be->home, SPEC_PAGE_SIZE);
	if (!buf)
		return -ENOMEM;
	err = port_pages_alloc(be->host, 1, &pages);
	if (err)
		goto out_buf;
	err = liov_host_io(be, q, NVME_CMD_READ, (plba_t){ block }, SPEC_PAGE_SIZE >> shift, &pages);
	if (err) {
		dev_err(dev, "gate: read of block %llu on queue %u: %d\n", block, q->qid, err);
		err = err > 0 ? -EIO : err;
		goto out_pages;
	}
	shm = port_pages_shm(&pages);
	port_shm_copy_in(&shm, 0, buf, SPEC_PAGE_SIZE);
	at = gate_differs(buf, block << shift, seed);
	dev_info(dev, "gate: queue %u block %llu: %16phN... %s\n", q->qid, block, buf, at < 0 ? "as in the image" : "DIFFERS");
	if (at >= 0) {
		dev_err(dev, "gate: data of block %llu differs at byte %d\n", block, at);
		err = -EIO;
	}
out_pages:
	port_pages_put(&pages);
out_buf:
	port_free(be->home, buf);
	return err;
}

static bool gate_sq_in_cmb(const struct liov_backend *be, const struct liov_hwq *q)
{
	u64 base = be->cmb_bus_addr + be->info.cmb_off;

	return be->info.cmb_size && q->sq_iova.v >= base && q->sq_iova.v - base < be->info.cmb_size;
}

static int gate_queue_create(struct liov_backend *be, u32 flags, struct liov_hwq **q)
{
	struct device *dev = be->home->dev;
	int err = liov_host_queue_create(be, flags, q);

	if (err) {
		dev_err(dev, "gate: queue with flags %#x: %d\n", flags, err);
		return err;
	}
	dev_info(dev, "gate: queue %u: SQ at %#llx (%s), CQ at %#llx, vector %u\n", (*q)->qid, (*q)->sq_iova.v,
		 gate_sq_in_cmb(be, *q) ? "CMB" : "memory", (*q)->cq_iova.v, (*q)->vector);
	if (gate_sq_in_cmb(be, *q) == (flags == LIOV_HWQ_SQ_IN_CMB))
		return 0;
	dev_err(dev, "gate: the SQ is not where it was asked for\n");
	liov_host_queue_destroy(be, *q);
	return -EIO;
}

static int gate_reads(struct liov_backend *be, struct liov_hwq *const q[2], u64 seed)
{
	int err = gate_read(be, q[0], GATE_BLOCK_CMB, seed);

	return err ? err : gate_read(be, q[1], GATE_BLOCK_MEMORY, seed);
}

/* Both live together; read before and after a function level reset and the controller's recovery from it. */
static int gate_queues(struct liov_backend *be, struct liov_hwq *const q[2], u64 seed)
{
	struct device *dev = be->home->dev;
	int err = gate_reads(be, q, seed);

	if (err)
		return err;
	err = port_flr(be->host);
	dev_info(dev, "gate: function level reset: %d\n", err);
	if (err)
		return err;
	err = liov_backend_reset(be);
	dev_info(dev, "gate: controller back: %d\n", err);
	return err ? err : gate_reads(be, q, seed);
}

int host_selftest(struct liov_backend *be, u64 seed)
{
	struct liov_hwq *q[2];
	int err, end;

	err = gate_queue_create(be, LIOV_HWQ_SQ_IN_CMB, &q[0]);
	if (err)
		return err;
	err = gate_queue_create(be, 0, &q[1]);
	if (err)
		goto out_cmb;
	err = gate_queues(be, q, seed);
	end = liov_host_queue_destroy(be, q[1]);
	err = err ? err : end;
out_cmb:
	end = liov_host_queue_destroy(be, q[0]);
	err = err ? err : end;
	if (!err && host_is_broken())
		err = -EIO;
	return err;
}
