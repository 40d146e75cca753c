// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Copy, NVM 3.2.2, source ranges of format 0h: LBAs hidden in the payload, as in Dataset
 * Management, and a second range in the command. All are judged before a block is read.
 */

#define BLOCKS_PER_4K 8

static u16 check_command(const struct nvme_cmd *cmd, u32 nr)
{
	if (!MODEL_CHECK(controller_copy_format, !FIELD_GET(NVME_COPY_FORMAT, cmd->sqe.cdw12)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (!MODEL_CHECK(controller_copy_limit, nr <= NVME_COPY_RANGES_MAX))
		return NVME_SC_COPY_LIMIT | NVME_DNR;
	return NVME_SC_SUCCESS;
}

/* *total: blocks of all ranges. */
static u16 check_ranges(const struct nvme_cmd *cmd, const struct nvme_copy_range *range, u32 nr, u64 *total)
{
	*total = 0;
	for (u32 i = 0; i < nr; i++) {
		u32 nlb = range[i].nlb + 1u;
		u16 status;

		if (!MODEL_CHECK(controller_copy_limit, nlb <= NVME_COPY_RANGE_MAX))
			return NVME_SC_COPY_LIMIT | NVME_DNR;
		status = nvme_io_check_range(cmd, range[i].slba, nlb);
		if (status)
			return status;
		if (nvme_media_is_broken(cmd->nvme, cmd->ns, range[i].slba, nlb))
			return NVME_SC_READ_ERROR;
		*total += nlb;
	}
	return MODEL_CHECK(controller_copy_limit, *total <= NVME_COPY_BLOCKS_MAX) ? NVME_SC_SUCCESS : NVME_SC_COPY_LIMIT | NVME_DNR;
}

static u16 check_destination(const struct nvme_cmd *cmd, u64 total)
{
	u16 status = nvme_io_check_range(cmd, cmd->slba, total);

	if (status)
		return status;
	if (!MODEL_CHECK(controller_capacity, cmd->slba + total <= cmd->ns->ncap))
		return NVME_SC_CAPACITY | NVME_DNR;
	return nvme_media_is_broken(cmd->nvme, cmd->ns, cmd->slba, total) ? NVME_SC_WRITE_FAULT : NVME_SC_SUCCESS;
}

static void commit(struct nvme_cmd *cmd, const struct nvme_copy_range *range, u32 nr, u64 total)
{
	struct nvme *n = cmd->nvme;
	u64 to = cmd->slba, read_ps = cmd->t_ps;

	for (u32 i = 0; i < nr; i++) {
		u32 nlb = range[i].nlb + 1u;
		u64 end_ps = nvme_media_read_time(n, cmd->ns->first_block + range[i].slba, nlb, cmd->t_ps);

		nvme_io_trace_media(cmd, NVME_CMD_READ, range[i].slba, nlb);
		nvme_media_copy(n, cmd->ns, to, range[i].slba, nlb);
		nvme_meta_copy(cmd, to, range[i].slba, nlb);
		read_ps = nvme_max(read_ps, end_ps);
		to += nlb;
	}
	nvme_io_trace_media(cmd, NVME_CMD_COPY, cmd->slba, total);
	n->count.read_blocks += total;
	n->count.written_blocks += total;
	n->count.write_commands++;
	cmd->t_ps = nvme_max(read_ps, nvme_media_write_time(n, (total + BLOCKS_PER_4K - 1) / BLOCKS_PER_4K, cmd->t_ps,
							    nvme_io_writes_through(cmd)));
}

u16 nvme_io_copy(struct nvme_cmd *cmd)
{
	u32 nr = (u32)FIELD_GET(NVME_COPY_NR, cmd->sqe.cdw12) + 1;
	struct nvme_copy_range range[NVME_COPY_NR + 1];
	u64 total;
	u16 status = check_command(cmd, nr);

	cmd->slba = (u64)cmd->sqe.cdw11 << 32 | cmd->sqe.cdw10;
	if (status)
		return status;
	status = nvme_data_map(cmd, nr * (u32)sizeof(range[0]), NVME_FROM_HOST);
	if (status)
		return status;
	if (!nvme_buf_from_host(cmd, range))
		return NVME_SC_DATA_TRANSFER;
	status = check_ranges(cmd, range, nr, &total);
	if (!status)
		status = check_destination(cmd, total);
	if (status)
		return status;
	commit(cmd, range, nr, total);
	return NVME_SC_SUCCESS;
}
