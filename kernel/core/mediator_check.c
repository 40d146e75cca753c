// SPDX-License-Identifier: GPL-2.0
/*
 * What a guest's I/O command may be, and the command that is sent in its place. Order of the
 * checks is that of the table of expected status codes: opcode, flags, namespace, transfer
 * size, LBA range; PRPs come after.
 */

#include "mediator.h"

#define COST_FLUSH	16u	/* it stops the device's cache for everybody (QOS-03) */

static bool offered(const struct liov_vm *vm, u8 opcode)
{
	u16 oncs = liov_device_oncs(vm);

	switch (opcode) {
	case NVME_CMD_FLUSH:
	case NVME_CMD_WRITE:
	case NVME_CMD_READ:
		return true;
	case NVME_CMD_COMPARE:
		return oncs & NVME_ONCS_COMPARE;
	case NVME_CMD_WRITE_ZEROES:
		return oncs & NVME_ONCS_WRITE_ZEROES;
	case NVME_CMD_DSM:
		return oncs & NVME_ONCS_DSM;
	case NVME_CMD_COPY:
		return oncs & NVME_ONCS_COPY;
	default:
		return false;
	}
}

static u16 check_nsid(const struct nvme_sqe *sqe)
{
	if (LIOV_CHECK(mediator_nsid, sqe->nsid == MED_NSID || (sqe->nsid == 0xFFFFFFFF && sqe->opcode == NVME_CMD_FLUSH)))
		return 0;
	return sqe->nsid == 0xFFFFFFFF ? NVME_SC_INVALID_FIELD : NVME_SC_INVALID_NSID;
}

/*
 * Read, Write, Compare, Write Zeroes. NLB + 1 is computed in 64 bits (LBA-05, LBA-06). The
 * virtual namespace has no metadata, so MPTR is not sent on; it still may not name what is
 * not the VM's (GPA-11).
 */
static u16 check_blocks(struct liov_vm *vm, const struct nvme_sqe *sqe, struct med_command *cmd)
{
	u64 count = FIELD_GET(NVME_RW_NLB, sqe->cdw12) + 1;
	u64 bytes = count << vm->be->info.lba_shift;
	bool data = sqe->opcode != NVME_CMD_WRITE_ZEROES;

	cmd->bad = sqe->cdw10 | (u64)sqe->cdw11 << 32;
	cmd->bad_len = count;
	if (!LIOV_CHECK(mediator_transfer_size, !data || bytes <= SPEC_PAGE_SIZE << liov_device_mdts(vm)))
		return NVME_SC_INVALID_FIELD;
	if (!LIOV_CHECK(mediator_lba_range, liov_lba_inside(vm->lba.count, (vlba_t){ cmd->bad }, count)))
		return NVME_SC_LBA_RANGE;
	if (!LIOV_CHECK(mediator_mptr_align, !data || !(sqe->mptr & 3))) {
		cmd->bad = sqe->mptr;
		return NVME_SC_INVALID_FIELD;
	}
	if (!LIOV_CHECK(mediator_mptr_window, !data || !sqe->mptr || liov_vm_mem_check(vm, (gpa_t){ sqe->mptr }, 4, false))) {
		cmd->bad = sqe->mptr;
		return NVME_SC_DATA_TRANSFER;
	}
	cmd->bytes = data ? (u32)bytes : 0;
	cmd->cost = (u32)((bytes + SPEC_PAGE_SIZE - 1) >> SPEC_PAGE_SHIFT);
	return 0;
}

u16 liov_mediator_check(struct liov_vm *vm, const struct nvme_sqe *sqe, struct med_command *cmd)
{
	u16 status;

	*cmd = (struct med_command){ .bad = sqe->opcode, .bad_len = sqe->nsid };
	if (!LIOV_CHECK(mediator_opcode, offered(vm, sqe->opcode)))
		return NVME_SC_INVALID_OPCODE;
	if (!LIOV_CHECK(mediator_flags, !(sqe->flags & (NVME_SQE_FUSE | NVME_SQE_PSDT))))
		return NVME_SC_INVALID_FIELD;
	status = check_nsid(sqe);
	if (status)
		return status;
	switch (sqe->opcode) {
	case NVME_CMD_FLUSH:
		cmd->cost = COST_FLUSH;
		return 0;
	case NVME_CMD_DSM:
		cmd->cost = (u32)FIELD_GET(NVME_DSM_NR, sqe->cdw10) + 1;
		return 0;
	case NVME_CMD_COPY:
		return liov_mediator_check_copy(vm, sqe, cmd);
	default:
		return check_blocks(vm, sqe, cmd);
	}
}

void liov_mediator_rebuild(const struct liov_vm *vm, const struct nvme_sqe *in, struct nvme_sqe *out)
{
	vlba_t slba = { in->cdw10 | (u64)in->cdw11 << 32 };
	u64 phys;

	*out = (struct nvme_sqe){ .opcode = in->opcode, .nsid = MED_NSID };
	switch (in->opcode) {
	case NVME_CMD_FLUSH:
		break;
	case NVME_CMD_DSM:
		out->cdw10 = (u32)(in->cdw10 & NVME_DSM_NR);
		out->cdw11 = (u32)(in->cdw11 & NVME_DSM_AD);
		break;
	default:
		phys = liov_lba_translate(vm->lba.start, slba).v;
		out->cdw10 = (u32)phys;
		out->cdw11 = (u32)(phys >> 32);
		if (in->opcode == NVME_CMD_COPY) {
			out->cdw12 = (u32)(in->cdw12 & (NVME_COPY_NR | NVME_RW_FUA));
			break;
		}
		out->cdw12 = (u32)(in->cdw12 & (NVME_RW_NLB | NVME_RW_FUA));
		if (in->opcode == NVME_CMD_WRITE_ZEROES)
			out->cdw12 |= (u32)(in->cdw12 & NVME_WZ_DEAC);
		if (vm->be->info.pi) {
			out->cdw12 |= (u32)NVME_RW_PRACT;
			out->cdw14 = (u32)phys;
		}
		break;
	}
}
