// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * I/O commands. Each passes the same gates in the same order, so that a command wrong in
 * two ways has one answer: opcode, FUSE and PSDT, NSID, length, block range, addresses. Nothing of
 * the command's own is read or written before it has passed them all.
 */

enum io_kind { IO_NONE, IO_FLUSH, IO_WRITE, IO_READ, IO_COMPARE, IO_WRITE_ZEROES, IO_DSM, IO_COPY, IO_RESERVATION };

#define BLOCKS_PER_4K 8

static enum io_kind kind_of(const struct nvme *n, u8 opcode)
{
	switch (opcode) {
	case NVME_CMD_FLUSH:
		return IO_FLUSH;
	case NVME_CMD_WRITE:
		return IO_WRITE;
	case NVME_CMD_READ:
		return IO_READ;
	case NVME_CMD_COMPARE:
		return n->cfg.oncs & NVME_ONCS_COMPARE ? IO_COMPARE : IO_NONE;
	case NVME_CMD_WRITE_ZEROES:
		return n->cfg.oncs & NVME_ONCS_WRITE_ZEROES ? IO_WRITE_ZEROES : IO_NONE;
	case NVME_CMD_DSM:
		return n->cfg.oncs & NVME_ONCS_DSM ? IO_DSM : IO_NONE;
	case NVME_CMD_COPY:
		return n->cfg.oncs & NVME_ONCS_COPY ? IO_COPY : IO_NONE;
	case NVME_CMD_RESV_REGISTER:
	case NVME_CMD_RESV_REPORT:
	case NVME_CMD_RESV_ACQUIRE:
	case NVME_CMD_RESV_RELEASE:
		return n->cfg.oncs & NVME_ONCS_RESERVATIONS ? IO_RESERVATION : IO_NONE;
	default:
		return IO_NONE;
	}
}

static u64 sqe_slba(const struct nvme_sqe *sqe)
{
	return (u64)sqe->cdw11 << 32 | sqe->cdw10;
}

/* Bounded, and in more than the 16 bits of the field: 1 to 65536. */
static u32 sqe_nlb(const struct nvme_sqe *sqe)
{
	return (u32)FIELD_GET(NVME_RW_NLB, sqe->cdw12) + 1;
}

static bool moves_blocks(u8 opcode)
{
	return opcode == NVME_CMD_READ || opcode == NVME_CMD_WRITE || opcode == NVME_CMD_COMPARE;
}

u64 nvme_io_front_ps(const struct nvme *n, const struct nvme_sqe *sqe)
{
	const struct nvme_timing *t = &n->cfg.timing;
	u32 bytes = sqe_nlb(sqe) << NVME_BLOCK_SHIFT;

	if (!moves_blocks(sqe->opcode) || bytes > n->max_transfer_bytes)
		return t->fetch_ps;
	return t->fetch_ps + (bytes - 1) / NVME_PAGE_SIZE * t->per_4k_ps;
}

bool nvme_nsid_is_invalid(const struct nvme *n, u32 nsid)
{
	return !nsid || (nsid > n->cfg.nn && nsid != NVME_NSID_ALL);
}

const struct nvme_ns_config *nvme_ns_allocated(const struct nvme *n, u32 nsid)
{
	return nsid && nsid <= NVME_NAMESPACES_MAX && n->cfg.ns[nsid - 1].nsze ? &n->cfg.ns[nsid - 1] : NULL;
}

const struct nvme_ns_config *nvme_ns(const struct nvme *n, u32 nsid)
{
	return nsid && nsid <= NVME_NAMESPACES_MAX && (n->ns_attached & BIT_ULL(nsid - 1)) ?
	       nvme_ns_allocated(n, nsid) : NULL;
}

u16 nvme_nsid_check(const struct nvme *n, u32 nsid)
{
	if (nvme_nsid_is_invalid(n, nsid))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	return nvme_ns(n, nsid) ? NVME_SC_SUCCESS : NVME_SC_INVALID_FIELD | NVME_DNR;
}

/* A queue bound to a namespace, or with a domain, gets one answer for all NSIDs that are not its own: it does not learn which are active. */
static u16 check_nsid(struct nvme_cmd *cmd, enum io_kind kind)
{
	const struct nvme *n = cmd->nvme;
	u32 nsid = cmd->sqe.nsid;

	cmd->ns = nvme_ns(n, nsid);
	if (!MODEL_CHECK(controller_nsid, !nvme_nsid_is_invalid(n, nsid)))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	/* VWC says that Flush takes the broadcast value; no other command here does. */
	if (!MODEL_CHECK(controller_nsid_all, nsid != NVME_NSID_ALL || kind == IO_FLUSH))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (!MODEL_CHECK(controller_bind_nsid, nvme_bind_nsid(&n->sq[cmd->sqid], nsid)))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	if (!MODEL_CHECK(controller_nsid_active, cmd->ns || nsid == NVME_NSID_ALL))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	/* Flush of all names none; without the check above it is the first. */
	if (!cmd->ns)
		cmd->ns = &n->cfg.ns[0];
	return NVME_SC_SUCCESS;
}

/* Both kinds of SGL: without metadata, where MPTR points is of no account. */
static bool psdt_is_legal(const struct nvme *n, const struct nvme_sqe *sqe)
{
	u64 psdt = FIELD_GET(NVME_SQE_PSDT, sqe->flags);

	return psdt == NVME_PSDT_PRP || (n->cfg.sgls && psdt != NVME_PSDT_RESERVED);
}

static u16 check_header(struct nvme_cmd *cmd, enum io_kind kind)
{
	const struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	const struct nvme_nrd *nrd = n->sq[cmd->sqid].nrd;

	if (!MODEL_CHECK(controller_opcode, kind != IO_NONE) ||
	    !MODEL_CHECK(controller_nrd_opcode, nvme_domain_opcode(nrd, sqe->opcode)))
		return NVME_SC_INVALID_OPCODE | NVME_DNR;
	if (!MODEL_CHECK(controller_flags, !(sqe->flags & NVME_SQE_FUSE) && psdt_is_legal(n, sqe)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	return check_nsid(cmd, kind);
}

/* In blocks, before anything is shifted, and without a sum that could wrap. */
u16 nvme_io_check_range(const struct nvme_cmd *cmd, u64 slba, u64 nlb)
{
	const struct nvme *n = cmd->nvme;

	if (!MODEL_CHECK(controller_lba_range, slba < cmd->ns->nsze && cmd->ns->nsze - slba >= nlb))
		return NVME_SC_LBA_RANGE | NVME_DNR;
	if (!MODEL_CHECK(controller_nrd_lba, nvme_domain_lba(n->sq[cmd->sqid].nrd, slba, nlb)))
		return NVME_SC_LBA_RANGE | NVME_DNR;
	return NVME_SC_SUCCESS;
}

static u16 check_blocks(struct nvme_cmd *cmd, enum io_kind kind)
{
	const struct nvme *n = cmd->nvme;
	u16 status;

	cmd->slba = sqe_slba(&cmd->sqe);
	cmd->nlb = sqe_nlb(&cmd->sqe);
	if (!MODEL_CHECK(controller_transfer_size,
			 kind == IO_WRITE_ZEROES || (u64)cmd->nlb << NVME_BLOCK_SHIFT <= n->max_transfer_bytes))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	status = nvme_io_check_range(cmd, cmd->slba, cmd->nlb);
	if (status)
		return status;
	if (!MODEL_CHECK(controller_capacity,
			 (kind != IO_WRITE && kind != IO_WRITE_ZEROES) || cmd->slba + cmd->nlb <= cmd->ns->ncap))
		return NVME_SC_CAPACITY | NVME_DNR;
	return NVME_SC_SUCCESS;
}

void nvme_io_trace_media(const struct nvme_cmd *cmd, u8 opcode, u64 slba, u64 nlb)
{
	/* Told as a block of the medium: which namespace's it is, is for who listens to find out. */
	trace4(cmd->nvme->trace, TRACE_MEDIA, cmd->io_id, cmd->sqid, opcode, cmd->ns->first_block + slba, nlb);
}

bool nvme_io_writes_through(const struct nvme_cmd *cmd)
{
	return (cmd->sqe.cdw12 & NVME_RW_FUA) || !cmd->nvme->feat.volatile_wc;
}

static u64 pieces(u64 nlb)
{
	return (nlb + BLOCKS_PER_4K - 1) / BLOCKS_PER_4K;
}

static u16 do_write(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 status;

	if (nvme_media_is_broken(n, cmd->ns, cmd->slba, cmd->nlb))
		return NVME_SC_WRITE_FAULT;
	nvme_io_trace_media(cmd, cmd->sqe.opcode, cmd->slba, cmd->nlb);
	if (!nvme_media_from_host(cmd))
		return NVME_SC_DATA_TRANSFER;
	status = nvme_meta_from_host(cmd);
	if (status)
		return status;
	n->count.written_blocks += cmd->nlb;
	n->count.write_commands++;
	cmd->t_ps = nvme_media_write_time(n, pieces(cmd->nlb), cmd->t_ps, nvme_io_writes_through(cmd));
	return NVME_SC_SUCCESS;
}

static u16 do_write_zeroes(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;

	nvme_io_trace_media(cmd, cmd->sqe.opcode, cmd->slba, cmd->nlb);
	nvme_media_zero(n, cmd->ns, cmd->slba, cmd->nlb);
	nvme_meta_zero(cmd);
	n->count.written_blocks += cmd->nlb;
	n->count.write_commands++;
	cmd->t_ps = nvme_media_zeroes_time(n, pieces(cmd->nlb), cmd->t_ps, nvme_io_writes_through(cmd));
	return NVME_SC_SUCCESS;
}

/* NVM 3.2.3: attributes other than AD are hints. All ranges are judged before one is deallocated. */
static u16 do_dsm(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u32 nr = (u32)FIELD_GET(NVME_DSM_NR, cmd->sqe.cdw10) + 1;
	struct nvme_dsm_range range[NVME_DSM_RANGES_MAX];
	u16 status = nvme_data_map(cmd, nr * (u32)sizeof(range[0]), NVME_FROM_HOST);

	if (status)
		return status;
	if (!nvme_buf_from_host(cmd, range))
		return NVME_SC_DATA_TRANSFER;
	for (u32 i = 0; i < nr; i++) {
		status = nvme_io_check_range(cmd, range[i].slba, range[i].nlb);
		if (status)
			return status;
	}
	if (!(cmd->sqe.cdw11 & NVME_DSM_AD))
		return NVME_SC_SUCCESS;
	for (u32 i = 0; i < nr; i++) {
		nvme_io_trace_media(cmd, NVME_CMD_DSM, range[i].slba, range[i].nlb);
		if (n->cfg.keeps_deallocated)
			continue;
		nvme_media_zero(n, cmd->ns, range[i].slba, range[i].nlb);
		nvme_meta_deallocate(n, cmd->ns, range[i].slba, range[i].nlb);
	}
	cmd->t_ps = nvme_media_write_time(n, nr, cmd->t_ps, false);
	return NVME_SC_SUCCESS;
}

static u16 start_read(struct nvme_cmd *cmd)
{
	u64 block = cmd->ns->first_block + cmd->slba;

	nvme_cmd_at(cmd, NVME_STAGE_MEDIA, nvme_media_read_time(cmd->nvme, block, cmd->nlb, cmd->t_ps));
	return NVME_NO_CQE;
}

static u16 map_data(struct nvme_cmd *cmd, enum io_kind kind)
{
	u16 status = nvme_data_map(cmd, cmd->nlb << NVME_BLOCK_SHIFT, kind == IO_READ ? NVME_TO_HOST : NVME_FROM_HOST);

	return status ? status : nvme_meta_map(cmd);
}

static u16 execute(struct nvme_cmd *cmd)
{
	enum io_kind kind = kind_of(cmd->nvme, cmd->sqe.opcode);
	u16 status = check_header(cmd, kind);

	cmd->slba = 0;
	if (status)
		return status;
	if (kind == IO_RESERVATION)
		return nvme_io_reservation(cmd);
	status = nvme_resv_check(cmd, kind != IO_READ && kind != IO_COMPARE);
	if (status)
		return status;
	if (kind == IO_FLUSH) {
		cmd->t_ps = nvme_media_flush_time(cmd->nvme, cmd->t_ps);
		return NVME_SC_SUCCESS;
	}
	if (kind == IO_DSM)
		return do_dsm(cmd);
	if (kind == IO_COPY)
		return nvme_io_copy(cmd);
	status = check_blocks(cmd, kind);
	if (status)
		return status;
	if (kind == IO_WRITE_ZEROES)
		return nvme_media_is_broken(cmd->nvme, cmd->ns, cmd->slba, cmd->nlb) ? NVME_SC_WRITE_FAULT :
										       do_write_zeroes(cmd);
	status = map_data(cmd, kind);
	if (status)
		return status;
	return kind == IO_WRITE ? do_write(cmd) : start_read(cmd);
}

/* The CQE's own flight, where no data to the host has had it. */
static void finish_after_flight(struct nvme_cmd *cmd, u16 status)
{
	cmd->t_ps += cmd->nvme->cfg.link.write_flight_ps;
	nvme_cmd_finish(cmd, status);
}

void nvme_io_execute(struct nvme_cmd *cmd)
{
	u16 status = execute(cmd);

	if (status != NVME_NO_CQE)
		finish_after_flight(cmd, status);
}

/*
 * Writes to the host are posted: whatever becomes of them on their way, the controller
 * has done its part and reports success.
 */
void nvme_io_transfer(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 status;

	nvme_io_trace_media(cmd, cmd->sqe.opcode, cmd->slba, cmd->nlb);
	n->count.read_blocks += cmd->nlb;
	n->count.read_commands++;
	if (cmd->sqe.opcode == NVME_CMD_COMPARE) {
		status = nvme_media_compare(cmd);
		finish_after_flight(cmd, status ? status : nvme_meta_compare(cmd));
		return;
	}
	status = nvme_meta_check_read(cmd);
	if (status) {
		finish_after_flight(cmd, status);
		return;
	}
	status = nvme_media_to_host(cmd) ? NVME_SC_SUCCESS : NVME_SC_READ_ERROR;
	if (!status)
		nvme_meta_to_host(cmd);
	nvme_cmd_finish(cmd, status);
}
