// SPDX-License-Identifier: GPL-2.0
/*
 * Data of mediated commands. PRPs and lists (Base 4.1.1) are copied once, checked on the
 * copy, and translated into a private page that only the host can write; every page they
 * name is held until the command completes. The guest's list may change as it likes then.
 */

#include "mediator.h"
#include "dsm.h"

u16 liov_mediator_read_list(struct liov_mediator *med, u64 list, u64 *to, u32 nr)
{
	if (!LIOV_CHECK(mediator_list_window, !port_vm_mem_rd(med->vm->port, (gpa_t){ list }, to, nr * 8)))
		return NVME_SC_DATA_TRANSFER;
	liov_guard(med->vm->be, LIOV_MEDIATOR, med->vm->cfg.id, LIOV_GUARD_COPIED, list, nr * 8);
	return 0;
}

bool liov_mediator_hold_page(struct liov_mediator *med, gpa_t gpa, u32 len_bytes)
{
	if (LIOV_CHECK(mediator_mem_prot, liov_vm_mem_may(med->vm, gpa, len_bytes, med->need)) &&
	    LIOV_CHECK(mediator_prp_window, liov_vm_mem_check(med->vm, gpa, len_bytes, true)))
		return true;
	liov_mediator_deny(med, NVME_SC_DATA_TRANSFER, gpa.v, len_bytes);
	return false;
}

void liov_mediator_drop_page(struct liov_mediator *med, gpa_t gpa, u32 len_bytes)
{
	liov_vm_mem_drop(med->vm, gpa, len_bytes);
}

u16 liov_mediator_map(struct liov_mediator *med, const struct nvme_sqe *in, u32 bytes, u32 tag)
{
	struct med_tag *t = &med->tags[tag];
	u64 dma = med->vm->dma_offset;
	u32 nr = liov_prp_more_pages(in->prp1, bytes), off;
	struct port_shm *list = liov_mediator_list(med, tag, &off);
	u16 status = liov_prp_gather(med, in->prp1, in->prp2, med->entries, nr);

	if (!LIOV_CHECK(mediator_prp_shape, !status)) {
		liov_mediator_deny(med, status, in->prp1, in->prp2);
		return status;
	}
	med->need = in->opcode == NVME_CMD_READ ? PORT_WRITE : PORT_READ;
	if (!liov_prp_hold(med, in->prp1, bytes, med->entries, nr))
		return NVME_SC_DATA_TRANSFER;
	t->first = (gpa_t){ in->prp1 };
	t->bytes = bytes;
	t->sqe.prp1 = liov_dma_translate(dma, t->first).v;
	liov_prp_translate(med->entries, nr, dma);
	if (nr == 1)
		t->sqe.prp2 = med->entries[0];
	if (nr > 1) {
		port_shm_copy_out(list, off, med->entries, nr * 8);
		t->sqe.prp2 = liov_mediator_list_iova(med, tag).v;
		if (!LIOV_STEP(mediator_list_private))
			t->sqe.prp2 = liov_dma_translate(dma, (gpa_t){ in->prp2 }).v;
	}
	return 0;
}

/* In interrupt context: what was held stands in the private list, which nobody but the host writes. */
void liov_mediator_unmap(struct liov_mediator *med, u32 tag)
{
	struct med_tag *t = &med->tags[tag];
	u64 dma = med->vm->dma_offset;
	u32 nr, off, i;
	struct port_shm *list = liov_mediator_list(med, tag, &off);

	if (t->bytes == 0)
		return;
	nr = liov_prp_more_pages(t->first.v, t->bytes);
	for (i = 0; i < nr; i++) {
		u64 iova = nr == 1 ? t->sqe.prp2 : port_shm_rd64(list, off + i * 8);

		liov_vm_mem_drop(med->vm, (gpa_t){ iova - dma }, liov_prp_page_bytes(t->first.v, t->bytes, i));
	}
	liov_vm_mem_drop(med->vm, t->first, liov_prp_first_bytes(t->first.v, t->bytes));
	t->bytes = 0;
}

/* --- LBAs in the payload: Dataset Management (LBA-07), and Copy's in mediator_copy.c --- */

u16 liov_mediator_payload(struct liov_mediator *med, const struct nvme_sqe *in, u32 bytes)
{
	struct liov_vm *vm = med->vm;
	u32 first = liov_prp_first_bytes(in->prp1, bytes);
	u8 *to = (u8 *)med->entries;

	if (!LIOV_CHECK(mediator_dsm_align, !(in->prp1 & 3) && (bytes <= first || !(in->prp2 & LIOV_PRP_OFFSET))))
		return NVME_SC_INVALID_PRP_OFFSET;
	if (!LIOV_CHECK(mediator_dsm_window, !port_vm_mem_rd(vm->port, (gpa_t){ in->prp1 }, to, first)))
		return NVME_SC_DATA_TRANSFER;
	if (bytes > first &&
	    !LIOV_CHECK(mediator_dsm_window, !port_vm_mem_rd(vm->port, (gpa_t){ in->prp2 }, to + first, bytes - first)))
		return NVME_SC_DATA_TRANSFER;
	liov_guard(vm->be, LIOV_MEDIATOR, vm->cfg.id, LIOV_GUARD_COPIED, in->prp1, bytes);
	return 0;
}
_Static_assert(NVME_DSM_RANGES_MAX * sizeof(struct nvme_dsm_range) == MED_LIST_ENTRIES * sizeof(u64), "one page holds all");

static u16 check_ranges(struct liov_mediator *med, u32 nr)
{
	struct nvme_dsm_range *r = (struct nvme_dsm_range *)med->entries;
	u32 bad = liov_dsm_check(r, nr, med->vm->lba.count);

	if (!LIOV_CHECK(mediator_dsm_range, bad == nr)) {
		liov_mediator_deny(med, NVME_SC_LBA_RANGE, r[bad].slba, r[bad].nlb);
		return NVME_SC_LBA_RANGE;
	}
	liov_dsm_translate(r, nr, med->vm->lba.start);
	return 0;
}

u16 liov_mediator_ranges(struct liov_mediator *med, const struct nvme_sqe *in, u32 tag)
{
	u32 nr = (u32)FIELD_GET(NVME_DSM_NR, in->cdw10) + 1, off;
	u32 bytes = nr * (u32)sizeof(struct nvme_dsm_range);
	struct port_shm *list = liov_mediator_list(med, tag, &off);
	u16 status = liov_mediator_payload(med, in, bytes);

	if (status) {
		liov_mediator_deny(med, status, in->prp1, bytes);
		return status;
	}
	status = check_ranges(med, nr);
	if (status)
		return status;
	port_shm_copy_out(list, off, med->entries, bytes);
	med->tags[tag].sqe.prp1 = liov_mediator_list_iova(med, tag).v;
	if (!LIOV_STEP(mediator_dsm_private)) {
		med->tags[tag].sqe.prp1 = liov_dma_translate(med->vm->dma_offset, (gpa_t){ in->prp1 }).v;
		med->tags[tag].sqe.prp2 = liov_dma_translate(med->vm->dma_offset, (gpa_t){ in->prp2 }).v;
	}
	return 0;
}
