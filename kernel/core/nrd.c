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

/*@ logic integer in_use{L}(struct liov_region *r, integer i) =
  @   i <= 0 ? 0 : in_use(r, i - 1) + (r[i - 1].len_bytes != 0 ? 1 : 0);
  @*/
/* A window for each region of memory in use, in their order; their number. */
/*@ requires \valid_read(r + (0 .. LIOV_MEM_RANGES_MAX - 1)) && \valid(w + (0 .. LIOV_MEM_RANGES_MAX - 1));
  @ requires \separated(r + (0 .. LIOV_MEM_RANGES_MAX - 1), w + (0 .. LIOV_MEM_RANGES_MAX - 1));
  @ requires sum: \forall integer i; 0 <= i < LIOV_MEM_RANGES_MAX && r[i].len_bytes != 0 ==> dma_offset + r[i].gpa.v < u64_end;
  @ assigns w[0 .. LIOV_MEM_RANGES_MAX - 1];
  @ ensures number: \result == in_use{Pre}(r, LIOV_MEM_RANGES_MAX) <= LIOV_MEM_RANGES_MAX;
  @*/
static u32 nrd_windows(const struct liov_region *r, u64 dma_offset, struct nvme_nrd_window *w)
{
	u32 nr = 0;

	/*@ loop invariant bound: 0 <= nr <= i <= LIOV_MEM_RANGES_MAX;
	  @ loop invariant number: nr == in_use{Pre}(r, i);
	  @ loop assigns i, nr, w[0 .. LIOV_MEM_RANGES_MAX - 1];
	  @ loop variant LIOV_MEM_RANGES_MAX - i;
	  @*/
	for (u32 i = 0; i < LIOV_MEM_RANGES_MAX; i++) {
		if (r[i].len_bytes == 0)
			continue;
		w[nr].start = liov_dma_translate(dma_offset, r[i].gpa).v;
		w[nr].length = r[i].len_bytes;
		/*@ assert this: w[nr].length == r[i].len_bytes && w[nr].start == dma_offset + r[i].gpa.v; */
		nr++;
	}
	return nr;
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
	n->nr_dma = nrd_windows(vm->region, vm->dma_offset, n->dma);
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
