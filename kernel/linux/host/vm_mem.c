// SPDX-License-Identifier: GPL-2.0
/*
 * Guest memory, as the VFIO container has it: IOVA there is the guest-physical address. There is
 * no list of what is mapped to ask for, so a page is memory if it can be pinned.
 */

#include <linux/slab.h>

#include "vm.h"

#define PIN_PROT	(IOMMU_READ | IOMMU_WRITE)
#define CHUNK		64u	/* pages pinned by one call */
#define RUN_PAGES	511u	/* mapped at once: never a large page, since the VM may unregister any small one of it */
#define LOOK_PAGES	256u	/* looked at one by one; of more only the first and last: pinning will see them all */

/*
 * Pin @nr pages, none of them a device's: another device's BAR in the container is no memory. The
 * virtual device's own pages are turned down by the fault that this makes (vm_map.c).
 */
static int pages_pin(struct port_vm *vm, u64 gpa, u32 nr, struct page **pages)
{
	u32 i;
	int got;

	WRITE_ONCE(vm->looking, current);
	got = vfio_pin_pages(&vm->vdev, gpa, (int)nr, PIN_PROT, pages);
	WRITE_ONCE(vm->looking, NULL);
	if (got < 0)
		return -EFAULT;
	for (i = 0; got == (int)nr && i < nr; i++)
		if (PageReserved(pages[i]))
			break;
	if (i == nr)
		return 0;
	if (got > 0)
		vfio_unpin_pages(&vm->vdev, gpa, got);
	return -EFAULT;
}

static bool page_is_memory(struct port_vm *vm, u64 gpa)
{
	struct page *page;

	if (pages_pin(vm, gpa, 1, &page))
		return false;
	vfio_unpin_pages(&vm->vdev, gpa, 1);
	return true;
}

/* First and last page of a range that does not wrap; false where it does, or is empty. */
static bool range_pages(gpa_t gpa, u64 len, u64 *first, u64 *nr)
{
	if (!len || gpa.v > ~0ull - (len - 1))
		return false;
	*first = gpa.v >> PAGE_SHIFT;
	*nr = ((gpa.v + (len - 1)) >> PAGE_SHIFT) - *first + 1;
	return true;
}

bool liov_home_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u64 first, nr, i;

	if (!range_pages(gpa, len, &first, &nr))
		return false;
	if (nr > LOOK_PAGES)
		return page_is_memory(vm, first << PAGE_SHIFT) && page_is_memory(vm, (first + nr - 1) << PAGE_SHIFT);
	for (i = 0; i < nr; i++)
		if (!page_is_memory(vm, (first + i) << PAGE_SHIFT))
			return false;
	return true;
}

/* Asked for ranges of a CMB BAR's size only. What is too large to look at is said to overlap: the caller refuses. */
bool liov_home_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u64 first, nr, i;

	if (!range_pages(gpa, len, &first, &nr) || nr > LIOV_CMB_SIZE_MIN >> PAGE_SHIFT)
		return true;
	for (i = 0; i < nr; i++)
		if (page_is_memory(vm, (first + i) << PAGE_SHIFT))
			return true;
	return false;
}

int liov_home_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len)
{
	return vfio_dma_rw(&vm->vdev, gpa.v, buf, len, false) ? -EFAULT : 0;
}

/* All or nothing: where more than a page is written, each is looked at before. */
int liov_home_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len)
{
	if (!len || (offset_in_page(gpa.v) + len > PAGE_SIZE && !liov_home_vm_mem_is_ram(vm, gpa, len)))
		return -EFAULT;
	return vfio_dma_rw(&vm->vdev, gpa.v, (void *)buf, len, true) ? -EFAULT : 0;
}

/* --- pinned memory --- */

static void chunk_unpin(struct port_vm *vm, u64 gpa, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		xa_erase(&vm->frames, (gpa >> PAGE_SHIFT) + i);
	vfio_unpin_pages(&vm->vdev, gpa, (int)nr);
	WRITE_ONCE(vm->nr_pinned, vm->nr_pinned - nr);
}

static int chunk_pin(struct port_vm *vm, u64 gpa, u32 nr, struct page **pages)
{
	int err = pages_pin(vm, gpa, nr, pages);
	u32 i;

	if (err)
		return err;
	WRITE_ONCE(vm->nr_pinned, vm->nr_pinned + nr);
	for (i = 0; i < nr && !err; i++)
		err = xa_err(xa_store(&vm->frames, (gpa >> PAGE_SHIFT) + i, xa_mk_value(page_to_pfn(pages[i])), GFP_KERNEL));
	if (err)
		chunk_unpin(vm, gpa, nr);
	return err;
}

void liov_home_vm_mem_unpin(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u64 nr = len >> PAGE_SHIFT;

	while (nr) {
		u32 n = min_t(u64, nr, CHUNK);

		chunk_unpin(vm, gpa.v, n);
		gpa.v += (u64)n << PAGE_SHIFT;
		nr -= n;
	}
}

int liov_home_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len)
{
	struct page **pages = kcalloc(CHUNK, sizeof(*pages), GFP_KERNEL);
	u64 nr = len >> PAGE_SHIFT, done = 0;
	int err = 0;

	if (!pages)
		return -ENOMEM;
	while (!err && done < nr) {
		u32 n = min_t(u64, nr - done, CHUNK);

		err = chunk_pin(vm, gpa.v + (done << PAGE_SHIFT), n, pages);
		if (!err)
			done += n;
		cond_resched();
	}
	kfree(pages);
	if (err)
		liov_home_vm_mem_unpin(vm, gpa, done << PAGE_SHIFT);
	return err;
}

/* Pages from @gpa on whose frames follow each other, at most @nr; 0 where the first is not pinned. */
static u64 frames_run(struct port_vm *vm, u64 gpa, u64 nr, unsigned long *pfn)
{
	u64 n;

	for (n = 0; n < nr; n++) {
		void *entry = xa_load(&vm->frames, (gpa >> PAGE_SHIFT) + n);

		if (!xa_is_value(entry))
			break;
		if (!n)
			*pfn = xa_to_value(entry);
		else if (xa_to_value(entry) != *pfn + n)
			break;
	}
	return n;
}

int liov_home_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot)
{
	u64 nr = len >> PAGE_SHIFT, done = 0;
	int err = 0;

	while (!err && done < nr) {
		u64 at = done << PAGE_SHIFT;
		unsigned long pfn = 0;
		u64 n = frames_run(vm, gpa.v + at, min_t(u64, nr - done, RUN_PAGES), &pfn);

		err = n ? liov_home_iommu_map(h, iova.v + at, PFN_PHYS(pfn), n << PAGE_SHIFT, prot) : -EFAULT;
		if (!err)
			done += n;
		cond_resched();
	}
	if (err && done) {
		liov_home_iommu_unmap(h, iova.v, done << PAGE_SHIFT);
		liov_home_iommu_sync(h);
	}
	return err;
}
