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

/*
 * Reads go to the two buffers in turn, and the core puts the one at the IOVA where the other
 * was: a translation that outlived its sync sends the data to the wrong one.
 */
struct gate {
	struct liov_backend *be;
	struct device *dev;
	u64 seed;
	u8 *copy;
	struct port_pages buffer[2];
	u32 nr_reads;
};

/* The first byte at which the copy is not the image's content from byte @off on, or -1. */
static int gate_differs(const struct gate *g, u64 off)
{
	int i;

	for (i = 0; i < SPEC_PAGE_SIZE; i += 8) {
		u64 word;

		memcpy(&word, g->copy + i, 8);
		if (word != gate_pattern(g->seed, off + i))
			return i;
	}
	return -1;
}

static int gate_read(struct gate *g, struct liov_hwq *q, u64 block)
{
	const struct port_pages *pages = &g->buffer[g->nr_reads++ % 2];
	struct port_shm shm = port_pages_shm(pages);
	u32 shift = g->be->info.lba_shift;
	int err, at;

	port_shm_zero(&shm, 0, SPEC_PAGE_SIZE);
	err = liov_host_io(g->be, q, NVME_CMD_READ, (plba_t){ block }, SPEC_PAGE_SIZE >> shift, pages);
	if (err) {
		dev_err(g->dev, "gate: read of block %llu on queue %u: %d\n", block, q->qid, err);
		return err > 0 ? -EIO : err;
	}
	port_shm_copy_in(&shm, 0, g->copy, SPEC_PAGE_SIZE);
	at = gate_differs(g, block << shift);
	dev_info(g->dev, "gate: queue %u block %llu: %16phN... %s\n", q->qid, block, g->copy,
		 at < 0 ? "as in the image" : "DIFFERS");
	return at < 0 ? 0 : -EIO;
}

static bool gate_sq_in_cmb(const struct liov_backend *be, const struct liov_hwq *q)
{
	u64 base = be->cmb_bus_addr + be->info.cmb_off;

	return be->info.cmb_size && q->sq_iova.v >= base && q->sq_iova.v - base < be->info.cmb_size;
}

static int gate_queue_create(struct gate *g, u32 flags, struct liov_hwq **out)
{
	int err = liov_host_queue_create(g->be, flags, out);
	struct liov_hwq *q = *out;

	if (err) {
		dev_err(g->dev, "gate: queue with flags %#x: %d\n", flags, err);
		return err;
	}
	dev_info(g->dev, "gate: queue %u: SQ at %#llx (%s), CQ at %#llx, vector %u\n", q->qid, q->sq_iova.v,
		 gate_sq_in_cmb(g->be, q) ? "CMB" : "memory", q->cq_iova.v, q->vector);
	if (gate_sq_in_cmb(g->be, q) == (flags == LIOV_HWQ_SQ_IN_CMB))
		return 0;
	dev_err(g->dev, "gate: the SQ is not where it was asked for\n");
	liov_host_queue_destroy(g->be, q);
	return -EIO;
}

static int gate_reads(struct gate *g, struct liov_hwq *const q[2])
{
	int err = gate_read(g, q[0], GATE_BLOCK_CMB);

	return err ? err : gate_read(g, q[1], GATE_BLOCK_MEMORY);
}

/* Both live together; read before and after a function level reset and the controller's recovery from it. */
static int gate_queues(struct gate *g, struct liov_hwq *const q[2])
{
	int err = gate_reads(g, q);

	if (err)
		return err;
	err = port_flr(g->be->host);
	dev_info(g->dev, "gate: function level reset: %d\n", err);
	if (err)
		return err;
	err = liov_backend_reset(g->be);
	dev_info(g->dev, "gate: controller back: %d\n", err);
	return err ? err : gate_reads(g, q);
}

static int gate_run(struct gate *g)
{
	struct liov_hwq *q[2];
	int err, end;

	err = gate_queue_create(g, LIOV_HWQ_SQ_IN_CMB, &q[0]);
	if (err)
		return err;
	err = gate_queue_create(g, 0, &q[1]);
	if (err)
		goto out_cmb;
	err = gate_queues(g, q);
	end = liov_host_queue_destroy(g->be, q[1]);
	err = err ? err : end;
out_cmb:
	end = liov_host_queue_destroy(g->be, q[0]);
	return err ? err : end;
}

int host_selftest(struct liov_backend *be, u64 seed)
{
	struct gate g = { .be = be, .dev = be->home->dev, .seed = seed };
	int err = -ENOMEM;

	g.copy = port_alloc(be->home, SPEC_PAGE_SIZE);
	if (!g.copy)
		return -ENOMEM;
	if (port_pages_alloc(be->host, 1, &g.buffer[0]))
		goto out_copy;
	if (port_pages_alloc(be->host, 1, &g.buffer[1]))
		goto out_buffer;
	err = gate_run(&g);
	if (!err && host_is_broken())
		err = -EIO;
	port_pages_put(&g.buffer[1]);
out_buffer:
	port_pages_put(&g.buffer[0]);
out_copy:
	port_free(be->home, g.copy);
	return err;
}
