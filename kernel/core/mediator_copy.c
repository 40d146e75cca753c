// SPDX-License-Identifier: GPL-2.0
/*
 * Copy of mediated VMs (NVM 3.2.2, LBA-08): a destination in the command, which was copied
 * already, and source ranges in the payload, which is copied here. All are looked at before
 * the command is sent; what is sent points to the checked ranges, in a page of the host's.
 */

#include "copy.h"
#include "mediator.h"

_Static_assert(LIOV_COPY_RANGES_MAX * sizeof(struct nvme_copy_range) == SPEC_PAGE_SIZE, "one private page holds all");

/* Of the command alone: what Copy cannot be, and ranges that would not fit our copy, before any is read. */
u16 liov_mediator_check_copy(const struct liov_vm *vm, const struct nvme_sqe *sqe, struct med_command *cmd)
{
	cmd->bad = sqe->cdw10 | (u64)sqe->cdw11 << 32;
	cmd->bad_len = FIELD_GET(NVME_COPY_NR, sqe->cdw12) + 1;
	if (!LIOV_CHECK(mediator_copy_format, !FIELD_GET(NVME_COPY_FORMAT, sqe->cdw12)))
		return NVME_SC_INVALID_FIELD;
	return LIOV_CHECK(mediator_copy_limit, cmd->bad_len <= vm->be->info.copy.ranges) ? 0 : NVME_SC_COPY_LIMIT;
}

static u16 refuse(struct liov_mediator *med, u16 status, u64 slba, u64 count)
{
	liov_mediator_deny(med, status, slba, count);
	return status;
}

static u16 check_ranges(struct liov_mediator *med, const struct nvme_copy_range *r, u32 nr)
{
	const struct liov_vm *vm = med->vm;

	for (u32 i = 0; i < nr; i++) {
		u64 count = r[i].nlb + 1ull;

		if (!LIOV_CHECK(mediator_copy_limit, count <= vm->be->info.copy.range_blocks))
			return refuse(med, NVME_SC_COPY_LIMIT, r[i].slba, count);
		if (!LIOV_CHECK(mediator_copy_range, liov_lba_inside(vm->lba.count, (vlba_t){ r[i].slba }, count)))
			return refuse(med, NVME_SC_LBA_RANGE, r[i].slba, count);
	}
	return 0;
}

u16 liov_mediator_copy(struct liov_mediator *med, const struct nvme_sqe *in, u32 tag)
{
	struct nvme_copy_range *r = (struct nvme_copy_range *)med->entries;
	u32 asked = (u32)FIELD_GET(NVME_COPY_NR, in->cdw12) + 1;
	u32 nr = asked < LIOV_COPY_RANGES_MAX ? asked : LIOV_COPY_RANGES_MAX, bytes = nr * (u32)sizeof(*r), off, i;
	vlba_t to = { in->cdw10 | (u64)in->cdw11 << 32 };
	struct port_shm *list = liov_mediator_list(med, tag, &off);
	const struct liov_vm *vm = med->vm;
	u16 status = liov_mediator_payload(med, in, bytes);
	u64 total;

	if (status)
		return refuse(med, status, in->prp1, bytes);
	status = check_ranges(med, r, nr);
	if (status)
		return status;
	total = liov_copy_blocks(r, nr);
	if (!LIOV_CHECK(mediator_copy_limit, total <= vm->be->info.copy.blocks))
		return refuse(med, NVME_SC_COPY_LIMIT, to.v, total);
	if (!LIOV_CHECK(mediator_copy_target, liov_lba_inside(vm->lba.count, to, total)))
		return refuse(med, NVME_SC_LBA_RANGE, to.v, total);
	for (i = 0; i < nr; i++)
		r[i] = (struct nvme_copy_range){ .slba = r[i].slba, .nlb = r[i].nlb };
	liov_copy_translate(r, nr, vm->lba.start);
	port_shm_copy_out(list, off, r, bytes);
	med->tags[tag].sqe.prp1 = liov_mediator_list_iova(med, tag).v;
	if (!LIOV_STEP(mediator_copy_private))
		med->tags[tag].sqe.prp1 = liov_dma_translate(vm->dma_offset, (gpa_t){ in->prp1 }).v;
	/* Read and written. */
	med->tags[tag].cost = 2 * (u32)(((total << vm->be->info.lba_shift) + SPEC_PAGE_SIZE - 1) >> SPEC_PAGE_SHIFT);
	return 0;
}
