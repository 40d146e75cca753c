// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Command slots. Whoever ends a command does it through nvme_cmd_finish() or
 * nvme_cmd_complete(): one CQE for each command that was fetched, except those a
 * reset or a fatal error drops.
 */

static struct nvme_cmd *touch(struct nvme *n)
{
	u32 i = n->nr_touched++;
	struct nvme_cmd *cmd = &n->cmd[i];

	event_init(&cmd->ev, nvme_cmd_event, EVENT_PRIO_HW);
	cmd->nvme = n;
	cmd->frag = n->frags + (size_t)i * n->max_frags;
	cmd->frag_len = n->frag_lens + (size_t)i * n->max_frags;
	return cmd;
}

struct nvme_cmd *nvme_cmd_get(struct nvme *n)
{
	struct nvme_cmd *cmd = n->nr_back ? &n->cmd[n->back[--n->nr_back]] : touch(n);

	n->nr_busy++;
	cmd->ns = NULL;
	cmd->slba = 0;
	cmd->nlb = 0;
	cmd->nr_frags = 0;
	cmd->len_bytes = 0;
	cmd->dw0 = 0;
	cmd->status = 0;
	cmd->data_in_cmb = false;
	return cmd;
}

void nvme_cmd_put(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;

	sched_cancel(n->sched, &cmd->ev);
	cmd->stage = NVME_STAGE_FREE;
	n->cid_busy[cmd->sqid * NVME_CID_WORDS + cmd->sqe.cid / 64] &= ~BIT_ULL(cmd->sqe.cid % 64);
	n->back[n->nr_back++] = (u16)(cmd - n->cmd);
	n->nr_busy--;
}

void nvme_cmd_at(struct nvme_cmd *cmd, enum nvme_stage stage, u64 when_ps)
{
	struct nvme *n = cmd->nvme;
	u64 now = sched_now(n->sched);

	cmd->stage = (u8)stage;
	sched_after(n->sched, &cmd->ev, nvme_max(when_ps, now) - now);
}

static bool is_abort(const struct nvme_cmd *cmd)
{
	return !cmd->sqid && cmd->sqe.opcode == NVME_ADM_ABORT;
}

/*
 * What the controller did not decide itself is no refusal: a media error, an abort that was
 * asked for, or DMA that somebody else stopped (0/0x04 where a retry may help, so without DNR).
 */
static bool is_refusal(u16 status)
{
	if (status == NVME_SC_DATA_TRANSFER)
		return false;
	switch (status & NVME_STATUS_CODE) {
	case NVME_SC_SUCCESS:
	case NVME_SC_ABORT_REQUESTED:
	case NVME_SC_ABORT_SQ_DELETION:
	case NVME_SC_COMPARE:
	case NVME_SC_READ_ERROR:
	case NVME_SC_WRITE_FAULT:
		return false;
	default:
		return true;
	}
}

static void report_status(struct nvme_cmd *cmd, u16 status)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;

	if (!(status & NVME_STATUS_CODE))
		return;
	nvme_error_log(n, cmd->sqid, sqe->cid, status, sqe->nsid, cmd->sqid ? cmd->slba : 0);
	if (!is_refusal(status))
		return;
	n->count.refused++;
	trace_data(n->trace, TRACE_CMD_REFUSED, cmd->io_id, cmd->sqid, sqe->cid, status & NVME_STATUS_CODE, sqe->opcode,
		   sqe, sizeof(*sqe));
}

/* Which queue is answered. An identifier alone is the queue of the first command that has it. */
static struct nvme_sq *answered(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_cmd *first = n->cmd;

	if (!cmd->sqid || MODEL_STEP(controller_command_own))
		return &n->sq[cmd->sqid];
	while (first->stage == NVME_STAGE_FREE || !first->sqid || first->sqe.cid != cmd->sqe.cid)
		first++;	/* ends at @cmd */
	return &n->sq[first->sqid];
}

void nvme_cmd_complete(struct nvme_cmd *cmd, u16 status)
{
	struct nvme *n = cmd->nvme;
	struct nvme_sq *sq = &n->sq[cmd->sqid];

	report_status(cmd, status);
	n->nr_aborts -= is_abort(cmd);
	n->cq[sq->cqid].reserved--;
	nvme_cqe_post(n, answered(cmd), cmd->sqe.cid, status, cmd->dw0, cmd->io_id);
	nvme_cmd_put(cmd);
	nvme_front_kick(n, 0);
}

void nvme_cmd_finish(struct nvme_cmd *cmd, u16 status)
{
	cmd->status = status;
	nvme_cmd_at(cmd, NVME_STAGE_DONE, cmd->t_ps);
}

/* The same step later, or never. */
static bool is_put_off(struct nvme_cmd *cmd)
{
	struct nvme_faults *f = &cmd->nvme->faults;

	if (fault_hits(&f->dma_delay, cmd->sqid)) {
		nvme_cmd_at(cmd, cmd->stage, sched_now(cmd->nvme->sched) + f->dma_delay.arg);
		return true;
	}
	return cmd->stage == NVME_STAGE_FETCHED && fault_hits(&f->silent, cmd->sqid);
}

void nvme_cmd_event(struct event *ev)
{
	struct nvme_cmd *cmd = container_of_event(ev, struct nvme_cmd, ev);

	if (is_put_off(cmd))
		return;
	nvme_on_behalf(cmd->nvme, cmd->io_id, PCI_DMA_DATA, cmd->nvme->sq[cmd->sqid].pasid);
	switch (cmd->stage) {
	case NVME_STAGE_FETCHED:
		cmd->t_ps = sched_now(cmd->nvme->sched);
		if (cmd->sqid)
			nvme_io_execute(cmd);
		else
			nvme_admin_execute(cmd);
		break;
	case NVME_STAGE_MEDIA:
		cmd->t_ps = sched_now(cmd->nvme->sched);
		nvme_io_transfer(cmd);
		break;
	case NVME_STAGE_DONE:
		nvme_cmd_complete(cmd, cmd->status);
		break;
	default:
		break;
	}
	cmd->nvme->fn.io_id = 0;
}

void nvme_cmd_drop_all(struct nvme *n)
{
	nvme_cqe_settle(n);
	sched_cancel(n->sched, &n->front_ev);
	for (u32 i = 0; i < n->nr_touched; i++) {
		sched_cancel(n->sched, &n->cmd[i].ev);
		n->cmd[i].stage = NVME_STAGE_FREE;
	}
	n->nr_touched = n->nr_back = n->nr_busy = 0;
}

/*
 * Base 5.7: after Delete I/O SQ no command of the queue does anything more. Data
 * that has moved was moved; such a command is told as it ended.
 */
void nvme_cmd_flush_sq(struct nvme *n, u16 sqid)
{
	for (u32 i = 0; i < n->nr_touched; i++) {
		struct nvme_cmd *cmd = &n->cmd[i];

		if (cmd->stage == NVME_STAGE_FREE || cmd->sqid != sqid)
			continue;
		nvme_cmd_complete(cmd, cmd->stage == NVME_STAGE_DONE ? cmd->status : NVME_SC_ABORT_SQ_DELETION);
	}
}

void nvme_cmd_flush_ns(struct nvme *n, const struct nvme_ns_config *ns)
{
	for (u32 i = 0; i < n->nr_touched; i++) {
		struct nvme_cmd *cmd = &n->cmd[i];

		if (cmd->stage == NVME_STAGE_MEDIA && cmd->ns == ns)
			nvme_cmd_complete(cmd, NVME_SC_INVALID_NSID);
	}
}

/*
 * Command identifiers may repeat (Base leaves it to the host); the oldest is meant. An
 * Abort is never aborted: the one that executes would end itself.
 */
bool nvme_cmd_abort(struct nvme *n, u16 sqid, u16 cid)
{
	struct nvme_cmd *found = NULL;

	for (u32 i = 0; i < n->nr_touched; i++) {
		struct nvme_cmd *cmd = &n->cmd[i];

		if (cmd->stage != NVME_STAGE_FETCHED && cmd->stage != NVME_STAGE_MEDIA)
			continue;
		if (cmd->sqid != sqid || cmd->sqe.cid != cid || is_abort(cmd))
			continue;
		if (!found || cmd->io_id < found->io_id)
			found = cmd;
	}
	if (!found)
		return false;
	nvme_cmd_complete(found, NVME_SC_ABORT_REQUESTED);
	return true;
}
