// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * The admin command set, Base 5. What a command needs checked beyond opcode, FUSE and PSDT
 * stands with the command.
 */

static u16 admin_abort(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 sqid = (u16)FIELD_GET(NVME_ABORT_SQID, cmd->sqe.cdw10);
	u16 cid = (u16)FIELD_GET(NVME_ABORT_CID, cmd->sqe.cdw10);

	cmd->dw0 = NVME_ABORT_NOT_DONE;
	if (n->nr_aborts > n->cfg.acl + 1u)
		return NVME_SC_ABORT_LIMIT;
	if (sqid >= n->nr_queues || !n->sq[sqid].live)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (nvme_cmd_abort(n, sqid, cid) || (!sqid && nvme_aer_abort(n, cid)))
		cmd->dw0 = 0;
	return NVME_SC_SUCCESS;
}

/* Base 5.14. All LBA formats there are: one. Every block reads as zeros after it, whatever SES asks. */
static u16 admin_format(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	u16 status = sqe->nsid == NVME_NSID_ALL ? NVME_SC_SUCCESS : nvme_nsid_check(n, sqe->nsid);

	if (status)
		return status;
	if (FIELD_GET(NVME_FORMAT_LBAF, sqe->cdw10) || FIELD_GET(NVME_FORMAT_PI, sqe->cdw10) > n->cfg.metadata)
		return NVME_SC_FORMAT_INVALID | NVME_DNR;
	if (FIELD_GET(NVME_FORMAT_SES, sqe->cdw10) > NVME_FORMAT_SES_MAX)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	for (u32 nsid = 1; nsid <= NVME_NAMESPACES_MAX; nsid++) {
		const struct nvme_ns_config *ns = nvme_ns(n, nsid);

		if (!ns || (sqe->nsid != nsid && sqe->nsid != NVME_NSID_ALL))
			continue;
		trace4(n->trace, TRACE_MEDIA, cmd->io_id, cmd->sqid, sqe->opcode, ns->first_block, ns->ncap);
		nvme_media_zero(n, ns, 0, ns->ncap);
		nvme_meta_deallocate(n, ns, 0, ns->ncap);
		n->cfg.ns[nsid - 1].pi = FIELD_GET(NVME_FORMAT_PI, sqe->cdw10);
	}
	cmd->t_ps = nvme_media_flush_time(n, cmd->t_ps);
	return NVME_SC_SUCCESS;
}

/* Commands that use no namespace refuse one (Base 3.2.1.6 and figure 87: NSID cleared to 0h). */
static bool takes_no_nsid(u8 opcode)
{
	switch (opcode) {
	case NVME_ADM_CREATE_CQ:
	case NVME_ADM_CREATE_SQ:
	case NVME_ADM_DELETE_CQ:
	case NVME_ADM_DELETE_SQ:
	case NVME_ADM_ABORT:
	case NVME_ADM_AER:
		return true;
	default:
		return false;
	}
}

static bool is_offered(const struct nvme *n, u8 opcode)
{
	switch (opcode) {
	case NVME_ADM_DELETE_SQ:
	case NVME_ADM_CREATE_SQ:
	case NVME_ADM_GET_LOG_PAGE:
	case NVME_ADM_DELETE_CQ:
	case NVME_ADM_CREATE_CQ:
	case NVME_ADM_IDENTIFY:
	case NVME_ADM_ABORT:
	case NVME_ADM_SET_FEATURES:
	case NVME_ADM_GET_FEATURES:
	case NVME_ADM_AER:
	case NVME_ADM_FORMAT:
		return true;
	case NVME_ADM_NS_MANAGE:
	case NVME_ADM_NS_ATTACH:
		return n->cfg.ns_management;
	case NVME_ADM_NRD_BIND:
		return n->cfg.resource_domains;
	case NVME_ADM_QUEUE_BIND:
		return n->cfg.pasid;
	default:
		return false;
	}
}

static u16 dispatch(struct nvme_cmd *cmd)
{
	switch (cmd->sqe.opcode) {
	case NVME_ADM_DELETE_SQ:
		return nvme_admin_delete_sq(cmd);
	case NVME_ADM_CREATE_SQ:
		return nvme_admin_create_sq(cmd);
	case NVME_ADM_GET_LOG_PAGE:
		return nvme_admin_get_log(cmd);
	case NVME_ADM_DELETE_CQ:
		return nvme_admin_delete_cq(cmd);
	case NVME_ADM_CREATE_CQ:
		return nvme_admin_create_cq(cmd);
	case NVME_ADM_IDENTIFY:
		return nvme_admin_identify(cmd);
	case NVME_ADM_ABORT:
		return admin_abort(cmd);
	case NVME_ADM_SET_FEATURES:
		return nvme_admin_set_features(cmd);
	case NVME_ADM_GET_FEATURES:
		return nvme_admin_get_features(cmd);
	case NVME_ADM_AER:
		return nvme_aer_hold(cmd);
	case NVME_ADM_FORMAT:
		return admin_format(cmd);
	case NVME_ADM_NS_MANAGE:
		return nvme_admin_ns_manage(cmd);
	case NVME_ADM_NS_ATTACH:
		return nvme_admin_ns_attach(cmd);
	case NVME_ADM_QUEUE_BIND:
		return nvme_admin_queue_bind(cmd);
	default:
		return nvme_admin_nrd_bind(cmd);
	}
}

static u16 execute(struct nvme_cmd *cmd)
{
	const struct nvme_sqe *sqe = &cmd->sqe;

	if (!is_offered(cmd->nvme, sqe->opcode))
		return NVME_SC_INVALID_OPCODE | NVME_DNR;
	/* SGLs are not for the admin queue over PCIe (PCIe 3.3), and FUSE is for fused pairs, which are not offered. */
	if (sqe->flags & (NVME_SQE_FUSE | NVME_SQE_PSDT))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (takes_no_nsid(sqe->opcode) && sqe->nsid)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	return dispatch(cmd);
}

void nvme_admin_execute(struct nvme_cmd *cmd)
{
	u16 status;

	cmd->nvme->count.admin_commands++;
	status = execute(cmd);
	if (status == NVME_NO_CQE)
		return;
	cmd->t_ps += cmd->nvme->cfg.link.write_flight_ps;
	nvme_cmd_finish(cmd, status);
}
