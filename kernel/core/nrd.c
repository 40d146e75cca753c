// SPDX-License-Identifier: GPL-2.0
/*
 * Resource domains: what a VM's submission queue may name, told to the controller, which
 * then refuses everything else before any DMA. LBAs are the VM's extent; DMA windows are the
 * memory regions as they were registered, so a balloon does not shrink them: what was
 * unregistered is protected by the IOMMU alone.
 */

#include "internal.h"

static void nrd_allow(struct nvme_nrd *n, u8 opcode)
{
	n->opcodes[opcode >> 3] |= (u8)(1u << (opcode & 7));
}

static void nrd_build(const struct liov_vm *vm, struct nvme_nrd *n)
{
	u16 oncs = vm->be->info.oncs;

	memset(n, 0, sizeof(*n));
	n->magic = NVME_NRD_MAGIC;
	n->nsid = 1;
	nrd_allow(n, NVME_CMD_READ);
	nrd_allow(n, NVME_CMD_WRITE);
	nrd_allow(n, NVME_CMD_FLUSH);
	if (!LIOV_STEP(backend_nrd_opcode))
		memset(n->opcodes, 0xFF, sizeof(n->opcodes));
	if (oncs & NVME_ONCS_COMPARE)
		nrd_allow(n, NVME_CMD_COMPARE);
	if (oncs & NVME_ONCS_WRITE_ZEROES)
		nrd_allow(n, NVME_CMD_WRITE_ZEROES);
	if (oncs & NVME_ONCS_DSM)
		nrd_allow(n, NVME_CMD_DSM);
	if (oncs & NVME_ONCS_COPY)
		nrd_allow(n, NVME_CMD_COPY);
	n->lba[0] = (struct nvme_nrd_window){ vm->lba.start, vm->lba.count };
	if (!LIOV_STEP(backend_nrd_lba))
		n->lba[0] = (struct nvme_nrd_window){ 0, ~0ULL };
	n->nr_lba = 1;
	for (u32 i = 0; i < LIOV_MEM_RANGES_MAX; i++) {
		const struct liov_region *r = &vm->region[i];

		if (r->len_bytes == 0)
			continue;
		n->dma[n->nr_dma++] = (struct nvme_nrd_window){ liov_dma_translate(vm->dma_offset, r->gpa).v, r->len_bytes };
	}
	if (!LIOV_STEP(backend_nrd_dma)) {
		n->dma[0] = (struct nvme_nrd_window){ 0, ~0ULL };
		n->nr_dma = 1;
	}
}
_Static_assert(LIOV_MEM_RANGES_MAX <= NVME_NRD_WINDOWS, "a window for each region");

int liov_nrd_bind(struct liov_vm *vm, struct liov_hwq *q)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_NRD_BIND, .cdw10 = q->qid };

	nrd_build(vm, vm->nrd);
	return liov_admin_cmd_out(vm->be, &sqe, vm->nrd, sizeof(*vm->nrd), NULL);
}

int liov_nrd_rebind(struct liov_vm *vm)
{
	if (vm->be->cfg.policy != LIOV_POLICY_NRD)
		return 0;
	for (u32 i = 0; i < vm->cfg.nr_queues; i++) {
		struct liov_hwq *q = vm->queue[i];
		int err;

		if (!q || !q->sq_live)
			continue;
		err = liov_nrd_bind(vm, q);
		if (err)
			return err < 0 ? err : -EIO;
	}
	return 0;
}
