// SPDX-License-Identifier: GPL-2.0
/*
 * The disk: a blk-mq hardware context for each of the frontend's queues. What a request may be
 * is told to the block layer from Identify; what it is becomes the core's request, one to one.
 */

#include <linux/blk-mq-pci.h>
#include <linux/blkdev.h>
#include <linux/idr.h>
#include <linux/module.h>

#include "guest.h"
#include "nvme.h"

#define DATA_BYTES_MAX	((LIOV_FE_SEGMENTS_MAX - 1) * PAGE_SIZE)	/* at any offset */
#define TRIES_MAX	5

static unsigned int io_timeout_s = 30;
module_param(io_timeout_s, uint, 0444);
MODULE_PARM_DESC(io_timeout_s, "seconds after which a request is aborted; after as many again the virtual controller is reset");

static DEFINE_IDA(block_ids);

/* What goes along with a request. */
struct block_request {
	u16 status;
	u8 tries;
	bool aborted;
};

static const struct block_device_operations block_ops = {
	.owner = THIS_MODULE,
};

/* --- to the core --- */

static bool request_op(struct request *rq, enum liov_op *op)
{
	switch (req_op(rq)) {
	case REQ_OP_READ:
		*op = LIOV_OP_READ;
		return true;
	case REQ_OP_WRITE:
		*op = LIOV_OP_WRITE;
		return true;
	case REQ_OP_FLUSH:
		*op = LIOV_OP_FLUSH;
		return true;
	case REQ_OP_DISCARD:
		*op = LIOV_OP_DISCARD;
		return true;
	case REQ_OP_WRITE_ZEROES:
		*op = LIOV_OP_WRITE_ZEROES;
		return true;
	default:
		return false;
	}
}

/* Bios that were merged may go on within a page: one segment. False: more segments than there can be. */
static bool request_segments(struct request *rq, struct liov_segment *seg, u32 *nr)
{
	struct req_iterator it;
	struct bio_vec bv;

	*nr = 0;
	if (!blk_rq_nr_phys_segments(rq) || op_is_discard(req_op(rq)) || req_op(rq) == REQ_OP_WRITE_ZEROES)
		return true;
	rq_for_each_bvec(bv, rq, it) {
		u64 addr = page_to_phys(bv.bv_page) + bv.bv_offset;

		if (*nr && seg[*nr - 1].addr.v + seg[*nr - 1].len_bytes == addr) {
			seg[*nr - 1].len_bytes += bv.bv_len;
			continue;
		}
		if (*nr == LIOV_FE_SEGMENTS_MAX)
			return false;
		seg[*nr].addr = (gpa_t){ addr };
		seg[*nr].len_bytes = bv.bv_len;
		(*nr)++;
	}
	return true;
}

static blk_status_t submit_status(struct guest *gu, int err)
{
	switch (err) {
	case 0:
		return BLK_STS_OK;
	case -ENODEV:	/* its queue is on its way back after a reset, or did not come back */
		if (READ_ONCE(gu->fe.failed))
			schedule_work(&gu->revive);
		return BLK_STS_RESOURCE;
	case -EAGAIN:
		return BLK_STS_RESOURCE;
	default:
		return BLK_STS_IOERR;
	}
}

static blk_status_t block_queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct guest *gu = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	struct block_request *br = blk_mq_rq_to_pdu(rq);
	struct liov_segment seg[LIOV_FE_SEGMENTS_MAX];
	u32 shift = gu->lba_shift - SECTOR_SHIFT;
	struct liov_request lr = {
		.slba = { blk_rq_pos(rq) >> shift },
		.blocks = blk_rq_sectors(rq) >> shift,
		.fua = rq->cmd_flags & REQ_FUA,
		.segments = seg,
		.cookie = rq,
	};

	if (READ_ONCE(gu->dead))
		return BLK_STS_IOERR;
	if (!request_op(rq, &lr.op))
		return BLK_STS_NOTSUPP;
	if (!request_segments(rq, seg, &lr.nr_segments))
		return BLK_STS_IOERR;
	if (!(rq->rq_flags & RQF_DONTPREP)) {
		rq->rq_flags |= RQF_DONTPREP;
		br->tries = 0;
	}
	br->aborted = false;
	blk_mq_start_request(rq);
	return submit_status(gu, liov_frontend_submit(&gu->fe, hctx->queue_num, &lr));
}

/* --- and back --- */

static blk_status_t request_status(u16 status)
{
	switch (status) {
	case 0:
		return BLK_STS_OK;
	case NVME_SC_INVALID_OPCODE:
		return BLK_STS_NOTSUPP;
	case NVME_SC_LBA_RANGE:
		return BLK_STS_TARGET;
	case NVME_SC_WRITE_FAULT:
	case NVME_SC_READ_ERROR:
		return BLK_STS_MEDIUM;
	default:
		return BLK_STS_IOERR;
	}
}

void liov_guest_complete(struct port_guest *g, void *cookie, u16 status)
{
	struct request *rq = cookie;
	struct block_request *br = blk_mq_rq_to_pdu(rq);

	br->status = status;
	blk_mq_complete_request(rq);
}

/* A request whose queue went away under it may not have been looked at: it is sent again. */
static void block_done(struct request *rq)
{
	struct block_request *br = blk_mq_rq_to_pdu(rq);
	struct guest *gu = rq->q->queuedata;
	bool aborted = br->status == NVME_SC_ABORT_SQ_DELETION || br->status == NVME_SC_ABORT_REQUESTED;

	if (aborted && br->tries < TRIES_MAX && !READ_ONCE(gu->dead)) {
		br->tries++;
		blk_mq_requeue_request(rq, true);
		return;
	}
	blk_mq_end_request(rq, request_status(br->status));
}

/* @gu's frontend is up, and its lock held. Has it completed, only that nobody was told? */
static bool timeout_found(struct guest *gu, struct request *rq)
{
	liov_frontend_poll(&gu->fe, rq->mq_hctx->queue_num);
	return blk_mq_rq_state(rq) != MQ_RQ_IN_FLIGHT;
}

/* A command that does not end is aborted first; then the controller is reset. */
static enum blk_eh_timer_return block_timeout(struct request *rq)
{
	struct block_request *br = blk_mq_rq_to_pdu(rq);
	struct guest *gu = rq->q->queuedata;
	enum blk_eh_timer_return ret = BLK_EH_RESET_TIMER;

	if (!mutex_trylock(&gu->lock))
		return ret;		/* on its way down or up: that ends it */
	if (gu->up && timeout_found(gu, rq)) {
		dev_warn(&gu->port.pdev->dev, "a completion was there without an interrupt\n");
		ret = BLK_EH_DONE;
	} else if (gu->up && !br->aborted) {
		int err;

		br->aborted = true;
		err = liov_frontend_abort(&gu->fe, rq->mq_hctx->queue_num, rq);
		dev_warn(&gu->port.pdev->dev, "a request timed out, abort: %d\n", err);
	} else if (gu->up) {
		schedule_work(&gu->revive);
	}
	mutex_unlock(&gu->lock);
	return ret;
}

static void block_map_queues(struct blk_mq_tag_set *tags)
{
	struct guest *gu = tags->driver_data;

	blk_mq_pci_map_queues(&tags->map[HCTX_TYPE_DEFAULT], gu->port.pdev, 1);
}

static const struct blk_mq_ops block_mq_ops = {
	.queue_rq = block_queue_rq,
	.complete = block_done,
	.timeout = block_timeout,
	.map_queues = block_map_queues,
};

/* --- the disk's life --- */

static u32 depth_of(const struct liov_frontend *fe)
{
	u32 i, depth = LIOV_QUEUE_DEPTH_MAX;

	for (i = 0; i < fe->nr_queues; i++)
		depth = min(depth, fe->queue[i].entries - 1);
	return depth;
}

static void block_limits(struct guest *gu, struct request_queue *q)
{
	const struct liov_frontend *fe = &gu->fe;
	u32 block = 1u << fe->lba_shift, bytes = DATA_BYTES_MAX;

	if (fe->mdts_bytes)
		bytes = min(bytes, fe->mdts_bytes);
	blk_queue_logical_block_size(q, block);
	blk_queue_max_hw_sectors(q, bytes >> SECTOR_SHIFT);
	blk_queue_max_segments(q, LIOV_FE_SEGMENTS_MAX);
	/* What a PRP list can say: Base 4.1.1. */
	blk_queue_virt_boundary(q, PAGE_SIZE - 1);
	blk_queue_dma_alignment(q, 3);
	blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_write_cache(q, fe->write_cache, fe->write_cache);
	if (fe->oncs & NVME_ONCS_DSM) {
		q->limits.discard_granularity = block;
		blk_queue_max_discard_sectors(q, UINT_MAX >> SECTOR_SHIFT);
	}
	if (fe->oncs & NVME_ONCS_WRITE_ZEROES)
		blk_queue_max_write_zeroes_sectors(q, 0x10000u << (fe->lba_shift - SECTOR_SHIFT));
}

/* Also after a reset, when the virtual controller may have become another. */
bool block_fits(const struct guest *gu)
{
	return gu->fe.nr_queues == gu->tags.nr_hw_queues && gu->fe.lba_shift == gu->lba_shift && gu->fe.blocks == gu->blocks;
}

static int block_disk(struct guest *gu)
{
	struct gendisk *disk = blk_mq_alloc_disk(&gu->tags, gu);
	int err;

	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->fops = &block_ops;
	disk->private_data = gu;
	snprintf(disk->disk_name, sizeof(disk->disk_name), "lightiov%d", gu->index);
	block_limits(gu, disk->queue);
	set_capacity(disk, gu->blocks << (gu->lba_shift - SECTOR_SHIFT));
	gu->disk = disk;
	err = device_add_disk(&gu->port.pdev->dev, disk, NULL);
	if (err) {
		gu->disk = NULL;
		put_disk(disk);
	}
	return err;
}

int block_add(struct guest *gu)
{
	int err;

	gu->lba_shift = gu->fe.lba_shift;
	gu->blocks = gu->fe.blocks;
	gu->tags = (struct blk_mq_tag_set){
		.ops = &block_mq_ops,
		.nr_hw_queues = gu->fe.nr_queues,
		.queue_depth = depth_of(&gu->fe),
		.numa_node = dev_to_node(&gu->port.pdev->dev),
		.cmd_size = sizeof(struct block_request),
		.flags = BLK_MQ_F_SHOULD_MERGE,
		.timeout = max(io_timeout_s, 1u) * HZ,
		.driver_data = gu,
	};
	err = gu->index = ida_alloc(&block_ids, GFP_KERNEL);
	if (err < 0)
		return err;
	err = blk_mq_alloc_tag_set(&gu->tags);
	if (err)
		goto out_id;
	err = block_disk(gu);
	if (err)
		goto out_tags;
	dev_info(&gu->port.pdev->dev, "%s: %llu blocks of %u bytes, %u queues of %u\n", gu->disk->disk_name, gu->blocks,
		 1u << gu->lba_shift, gu->tags.nr_hw_queues, gu->tags.queue_depth);
	return 0;

out_tags:
	blk_mq_free_tag_set(&gu->tags);
out_id:
	ida_free(&block_ids, gu->index);
	return err;
}

void block_remove(struct guest *gu)
{
	struct gendisk *disk = gu->disk;

	if (!disk)
		return;
	if (READ_ONCE(gu->dead))
		blk_mark_disk_dead(disk);
	del_gendisk(disk);
	cancel_work_sync(&gu->revive);
	gu->disk = NULL;
	put_disk(disk);
	blk_mq_free_tag_set(&gu->tags);
	ida_free(&block_ids, gu->index);
}

void block_stop(struct guest *gu)
{
	if (gu->disk)
		blk_mq_quiesce_queue(gu->disk->queue);
}

void block_go(struct guest *gu)
{
	if (!gu->disk)
		return;
	blk_mq_unquiesce_queue(gu->disk->queue);
	blk_mq_kick_requeue_list(gu->disk->queue);
}
