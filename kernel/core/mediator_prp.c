// SPDX-License-Identifier: GPL-2.0
/*
 * Data of mediated commands. PRPs and lists (Base 4.1.1) are copied once, checked on the
 * copy, and translated into a private page that only the host can write; every page they
 * name is held until the command completes. The guest's list may change as it likes then.
 */

#include "mediator.h"

#define PRP_OFFSET	(SPEC_PAGE_SIZE - 1)

static u32 first_bytes(u64 prp1, u32 bytes)
{
	u32 room = (u32)(SPEC_PAGE_SIZE - (prp1 & PRP_OFFSET));

	return bytes < room ? bytes : room;
}

/* Pages after the first. */
static u32 more_pages(u64 prp1, u32 bytes)
{
	return (bytes - first_bytes(prp1, bytes) + (u32)PRP_OFFSET) >> SPEC_PAGE_SHIFT;
}

/* Bytes used of page @i of those after the first. */
static u32 page_bytes(u64 prp1, u32 bytes, u32 i)
{
	u32 left = bytes - first_bytes(prp1, bytes) - i * (u32)SPEC_PAGE_SIZE;

	return left < SPEC_PAGE_SIZE ? left : (u32)SPEC_PAGE_SIZE;
}

/*
 * The last slot of a list page is a pointer to the next page only where more entries remain
 * than slots; after the first page each brings at least 511 entries, so the loop ends.
 */
static u16 copy_list(struct liov_mediator *med, u64 list, u32 nr)
{
	u32 got = 0;

	if (list & 7)
		return NVME_SC_INVALID_PRP_OFFSET;
	while (got < nr) {
		u32 slots = (u32)(SPEC_PAGE_SIZE - (list & PRP_OFFSET)) / 8, take = nr - got;
		bool chained = take > slots;

		if (chained)
			take = slots;
		if (port_vm_mem_rd(med->vm->port, (gpa_t){ list }, &med->entries[got], take * 8))
			return NVME_SC_DATA_TRANSFER;
		liov_guard(med->vm->be, LIOV_MEDIATOR, med->vm->cfg.id, LIOV_GUARD_COPIED, list, take * 8);
		got += take;
		if (!chained)
			break;
		list = med->entries[--got];
		if (list & PRP_OFFSET)
			return NVME_SC_INVALID_PRP_OFFSET;
	}
	return 0;
}

/* entries[]: every page after the first, page aligned. */
static u16 gather(struct liov_mediator *med, const struct nvme_sqe *in, u32 nr)
{
	u16 status = 0;
	u32 i;

	if (in->prp1 & 3)
		return NVME_SC_INVALID_PRP_OFFSET;
	if (nr > MED_LIST_ENTRIES)
		return NVME_SC_INVALID_FIELD;
	if (nr == 1)
		med->entries[0] = in->prp2;
	else if (nr > 1)
		status = copy_list(med, in->prp2, nr);
	for (i = 0; i < nr && !status; i++)
		if (med->entries[i] & PRP_OFFSET)
			status = NVME_SC_INVALID_PRP_OFFSET;
	return status;
}

/* Take a reference to the first page and to @nr of entries[]; all or none. */
static u16 hold(struct liov_mediator *med, u64 prp1, u32 bytes, u32 nr)
{
	struct liov_vm *vm = med->vm;
	u32 i;

	if (!liov_vm_mem_check(vm, (gpa_t){ prp1 }, first_bytes(prp1, bytes), true)) {
		liov_mediator_deny(med, NVME_SC_DATA_TRANSFER, prp1, first_bytes(prp1, bytes));
		return NVME_SC_DATA_TRANSFER;
	}
	for (i = 0; i < nr; i++)
		if (!liov_vm_mem_check(vm, (gpa_t){ med->entries[i] }, page_bytes(prp1, bytes, i), true))
			break;
	if (i == nr)
		return 0;
	liov_mediator_deny(med, NVME_SC_DATA_TRANSFER, med->entries[i], page_bytes(prp1, bytes, i));
	while (i-- > 0)
		liov_vm_mem_drop(vm, (gpa_t){ med->entries[i] }, page_bytes(prp1, bytes, i));
	liov_vm_mem_drop(vm, (gpa_t){ prp1 }, first_bytes(prp1, bytes));
	return NVME_SC_DATA_TRANSFER;
}

u16 liov_mediator_map(struct liov_mediator *med, const struct nvme_sqe *in, u32 bytes, u32 tag)
{
	struct med_tag *t = &med->tags[tag];
	u64 dma = med->vm->dma_offset;
	u32 nr = more_pages(in->prp1, bytes), off, i;
	struct port_shm *list = liov_mediator_list(med, tag, &off);
	u16 status = gather(med, in, nr);

	if (status) {
		liov_mediator_deny(med, status, in->prp1, in->prp2);
		return status;
	}
	status = hold(med, in->prp1, bytes, nr);
	if (status)
		return status;
	t->first = (gpa_t){ in->prp1 };
	t->bytes = bytes;
	t->sqe.prp1 = liov_dma_translate(dma, t->first).v;
	for (i = 0; i < nr; i++)
		med->entries[i] = liov_dma_translate(dma, (gpa_t){ med->entries[i] }).v;
	if (nr == 1)
		t->sqe.prp2 = med->entries[0];
	if (nr > 1) {
		port_shm_copy_out(list, off, med->entries, nr * 8);
		t->sqe.prp2 = liov_mediator_list_iova(med, tag).v;
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
	nr = more_pages(t->first.v, t->bytes);
	for (i = 0; i < nr; i++) {
		u64 iova = nr == 1 ? t->sqe.prp2 : port_shm_rd64(list, off + i * 8);

		liov_vm_mem_drop(med->vm, (gpa_t){ iova - dma }, page_bytes(t->first.v, t->bytes, i));
	}
	liov_vm_mem_drop(med->vm, t->first, first_bytes(t->first.v, t->bytes));
	t->bytes = 0;
}

/* --- Dataset Management: LBAs in the payload (LBA-07) --- */

static u16 copy_ranges(struct liov_mediator *med, const struct nvme_sqe *in, u32 bytes)
{
	struct liov_vm *vm = med->vm;
	u32 first = first_bytes(in->prp1, bytes);
	u8 *to = (u8 *)med->entries;

	if ((in->prp1 & 3) || (bytes > first && (in->prp2 & PRP_OFFSET)))
		return NVME_SC_INVALID_PRP_OFFSET;
	if (port_vm_mem_rd(vm->port, (gpa_t){ in->prp1 }, to, first))
		return NVME_SC_DATA_TRANSFER;
	if (bytes > first && port_vm_mem_rd(vm->port, (gpa_t){ in->prp2 }, to + first, bytes - first))
		return NVME_SC_DATA_TRANSFER;
	liov_guard(vm->be, LIOV_MEDIATOR, vm->cfg.id, LIOV_GUARD_COPIED, in->prp1, bytes);
	return 0;
}
_Static_assert(NVME_DSM_RANGES_MAX * sizeof(struct nvme_dsm_range) == MED_LIST_ENTRIES * sizeof(u64), "one page holds all");

/* All ranges are looked at before any is sent. A range of no blocks names none, wherever it starts. */
static u16 check_ranges(struct liov_mediator *med, u32 nr)
{
	struct nvme_dsm_range *r = (struct nvme_dsm_range *)med->entries;
	u32 i;

	for (i = 0; i < nr; i++) {
		if (r[i].nlb == 0)
			r[i].slba = 0;
		else if (!liov_lba_inside(med->vm->lba.count, (vlba_t){ r[i].slba }, r[i].nlb))
			break;
	}
	if (i < nr) {
		liov_mediator_deny(med, NVME_SC_LBA_RANGE, r[i].slba, r[i].nlb);
		return NVME_SC_LBA_RANGE;
	}
	for (i = 0; i < nr; i++)
		r[i].slba = liov_lba_translate(med->vm->lba.start, (vlba_t){ r[i].slba }).v;
	return 0;
}

u16 liov_mediator_ranges(struct liov_mediator *med, const struct nvme_sqe *in, u32 tag)
{
	u32 nr = (u32)FIELD_GET(NVME_DSM_NR, in->cdw10) + 1, off;
	u32 bytes = nr * (u32)sizeof(struct nvme_dsm_range);
	struct port_shm *list = liov_mediator_list(med, tag, &off);
	u16 status = copy_ranges(med, in, bytes);

	if (status) {
		liov_mediator_deny(med, status, in->prp1, bytes);
		return status;
	}
	status = check_ranges(med, nr);
	if (status)
		return status;
	port_shm_copy_out(list, off, med->entries, bytes);
	med->tags[tag].sqe.prp1 = liov_mediator_list_iova(med, tag).v;
	return 0;
}
