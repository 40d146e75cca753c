// SPDX-License-Identifier: GPL-2.0
/*
 * The CMB BAR in a VMM's address space, and from there in the VM's: empty until touched, a page
 * for a touch. The core says what a page is; the answer is used under map_lock, which a
 * revocation takes after the core has begun to answer "nothing". So a page is either mapped
 * before and taken away, or never.
 *
 * Where nothing is, a load finds all ones and a store is lost. A fault that fails would end the
 * VM (KVM_RUN: -EFAULT), so stand-ins are mapped there: for loads a page of ones that nobody
 * can write, for stores another, which is taken away and emptied soon after. It is not the
 * same page: a guest that goes on while its queues are gone would find its own commands where
 * it looks for completions. What stands where a page appears goes as a revoked page does.
 */

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "vm.h"

#define EMPTY_MS	10	/* after which a store to nothing cannot be read back */

/* A VMA: the one that was made by mmap(), which is neither split, moved nor copied. */
struct vm_map {
	struct list_head list;
	struct port_vm *vm;
	struct vm_area_struct *vma;
	u64 zapped;			/* number of the last zap that it has seen */
};

static u64 vma_off(const struct vm_area_struct *vma)
{
	return (u64)vma->vm_pgoff << PAGE_SHIFT & VM_REGION_MASK;
}

/* --- a touch --- */

static unsigned long page_bar_pfn(const struct port_vm *vm, unsigned int bar, u64 off)
{
	return (unsigned long)((pci_resource_start(vm->parent->be->host->pdev, bar) + off) >> PAGE_SHIFT);
}

/* map_lock held. */
static vm_fault_t page_insert(struct port_vm *vm, struct vm_fault *vmf, const struct liov_page *page)
{
	struct vm_area_struct *vma = vmf->vma;
	pgprot_t prot = vm_get_page_prot(page->writable ? vma->vm_flags : vma->vm_flags & ~VM_WRITE);
	unsigned long pfn;

	switch (page->kind) {
	case LIOV_PAGE_MEMORY:
		pfn = page_to_pfn(page->pages.page) + page->index;
		break;
	case LIOV_PAGE_BAR0:
		pfn = page_bar_pfn(vm, 0, page->bar_off);
		prot = pgprot_noncached(prot);
		break;
	case LIOV_PAGE_CMB:
		pfn = page_bar_pfn(vm, vm->parent->be->info.cmb_bar, page->bar_off);
		prot = pgprot_noncached(prot);
		break;
	default:
		return VM_FAULT_SIGBUS;
	}
	return vmf_insert_pfn_prot(vma, vmf->address, pfn, prot);
}

/* map_lock held. */
static vm_fault_t stand_in_insert(struct port_vm *vm, struct vm_fault *vmf, u64 off, bool write)
{
	struct vm_area_struct *vma = vmf->vma;
	pgprot_t prot = vm_get_page_prot(write ? vma->vm_flags : vma->vm_flags & ~VM_WRITE);

	__set_bit((unsigned int)(off >> PAGE_SHIFT), vm->stood_in);
	if (write)
		queue_delayed_work(system_unbound_wq, &vm->empty, msecs_to_jiffies(EMPTY_MS));
	return vmf_insert_pfn_prot(vma, vmf->address, page_to_pfn(vm->stand_in[write]), prot);
}

static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct vm_map *map = vmf->vma->vm_private_data;
	struct port_vm *vm = map->vm;
	bool write = vmf->flags & FAULT_FLAG_WRITE, there;
	u64 off = (u64)vmf->pgoff << PAGE_SHIFT & VM_REGION_MASK;
	struct liov_page page;
	vm_fault_t ret;

	/* The device's own BAR is no memory that it could be told to use: vm_mem.c looks, nobody touches. */
	if (READ_ONCE(vm->looking) == current)
		return VM_FAULT_SIGBUS;
	mutex_lock(&vm->map_lock);
	page = liov_backend_page(vm->liov, off, write);
	there = page.kind != LIOV_PAGE_NONE && (page.writable || !write);
	ret = there ? page_insert(vm, vmf, &page) : stand_in_insert(vm, vmf, off, write);
	mutex_unlock(&vm->map_lock);
	atomic64_inc(there && ret == VM_FAULT_NOPAGE ? &vm->faults : &vm->faults_refused);
	return ret;
}

/* A store to what is mapped read-only, which the kernel would make writable: the page goes, and the store faults anew. */
static vm_fault_t map_store(struct vm_fault *vmf)
{
	zap_vma_ptes(vmf->vma, vmf->address, PAGE_SIZE);
	return VM_FAULT_NOPAGE;
}

/* --- a VMA's life --- */

static int map_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

/* The kernel moves the page table's entries back, and unmaps the copy. */
static int map_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static void map_close(struct vm_area_struct *vma)
{
	struct vm_map *map = vma->vm_private_data;

	if (map->vma != vma)
		return;
	mutex_lock(&map->vm->map_lock);
	list_del(&map->list);
	mutex_unlock(&map->vm->map_lock);
	kfree(map);
}

static const struct vm_operations_struct map_ops = {
	.close = map_close,
	.may_split = map_may_split,
	.mremap = map_mremap,
	.fault = map_fault,
	.pfn_mkwrite = map_store,
};

int vm_map_make(struct vfio_device *vdev, struct vm_area_struct *vma)
{
	struct port_vm *vm = to_port_vm(vdev);
	u64 len = vma->vm_end - vma->vm_start, size = vm->liov->cmb_size;
	struct vm_map *map;

	if ((u64)vma->vm_pgoff >> (VM_REGION_SHIFT - PAGE_SHIFT) != VFIO_PCI_BAR0_REGION_INDEX + LIOV_CMB_BAR ||
	    !(vma->vm_flags & VM_SHARED) || vma_off(vma) >= size || len > size - vma_off(vma))
		return -EINVAL;
	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return -ENOMEM;
	map->vm = vm;
	map->vma = vma;
	vma->vm_flags = (vma->vm_flags | VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY) & ~VM_MAYEXEC;
	vma->vm_private_data = map;
	vma->vm_ops = &map_ops;
	mutex_lock(&vm->map_lock);
	map->zapped = vm->zaps;
	list_add_tail(&map->list, &vm->maps);
	mutex_unlock(&vm->map_lock);
	return 0;
}

/* --- taking away --- */

/* mmap_lock held for writing: not even an unmapping that is half done goes on meanwhile. */
static void map_zap(struct vm_map *map)
{
	unsigned long first = (unsigned long)(vma_off(map->vma) >> PAGE_SHIFT), end = first + vma_pages(map->vma);
	unsigned long from, to;

	for_each_set_bitrange(from, to, map->vm->zapping, HOST_CMB_PAGES) {
		unsigned long at = max(from, first), stop = min(to, end);

		if (at < stop)
			zap_vma_ptes(map->vma, map->vma->vm_start + ((at - first) << PAGE_SHIFT), (stop - at) << PAGE_SHIFT);
	}
	map->zapped = map->vm->zaps;
}

/* map_lock held. */
static struct vm_map *map_not_zapped(struct port_vm *vm)
{
	struct vm_map *map;

	list_for_each_entry(map, &vm->maps, list)
		if (map->zapped != vm->zaps)
			return map;
	return NULL;
}

static void maps_zap_mm(struct port_vm *vm, struct mm_struct *mm)
{
	struct vm_map *map;

	mmap_write_lock(mm);
	mutex_lock(&vm->map_lock);
	list_for_each_entry(map, &vm->maps, list)
		if (map->vma->vm_mm == mm)
			map_zap(map);
	mutex_unlock(&vm->map_lock);
	mmap_write_unlock(mm);
}

/* zap_lock and map_lock held. mmap_lock is outside map_lock, so the list is looked at anew after each. */
static void maps_zap(struct port_vm *vm)
{
	struct vm_map *map;

	vm->zaps++;
	/* Not after: what is put there meanwhile follows the core's new answer. */
	bitmap_andnot(vm->stood_in, vm->stood_in, vm->zapping, HOST_CMB_PAGES);
	while ((map = map_not_zapped(vm))) {
		struct mm_struct *mm = map->vma->vm_mm;

		if (!mmget_not_zero(mm)) {
			map->zapped = vm->zaps;		/* no thread runs in it any more, and its page tables go */
			continue;
		}
		mutex_unlock(&vm->map_lock);
		maps_zap_mm(vm, mm);
		mmput(mm);
		mutex_lock(&vm->map_lock);
	}
}

/* @len bytes from @off on go from all mappings, or only what stands in there. */
static void pages_zap(struct port_vm *vm, u64 off, u64 len, bool stand_ins)
{
	mutex_lock(&vm->zap_lock);
	mutex_lock(&vm->map_lock);
	bitmap_zero(vm->zapping, HOST_CMB_PAGES);
	bitmap_set(vm->zapping, (unsigned int)(off >> PAGE_SHIFT), (unsigned int)(len >> PAGE_SHIFT));
	if (stand_ins)
		bitmap_and(vm->zapping, vm->zapping, vm->stood_in, HOST_CMB_PAGES);
	if (!bitmap_empty(vm->zapping, HOST_CMB_PAGES))
		maps_zap(vm);
	mutex_unlock(&vm->map_lock);
	mutex_unlock(&vm->zap_lock);
}

void liov_home_vm_revoke(struct port_vm *vm, u64 off, u64 len)
{
	pages_zap(vm, off, len, false);
}

void liov_home_vm_reveal(struct port_vm *vm, u64 off, u64 len)
{
	pages_zap(vm, off, len, true);
}

/* A store after the zap maps the page again, and so has it emptied again. */
static void stand_in_empty(struct work_struct *work)
{
	struct port_vm *vm = container_of(to_delayed_work(work), struct port_vm, empty);

	pages_zap(vm, 0, LIOV_CMB_SIZE_MIN, true);
	memset(page_address(vm->stand_in[true]), 0xff, PAGE_SIZE);
}

int vm_map_open(struct port_vm *vm)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(vm->stand_in); i++) {
		vm->stand_in[i] = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!vm->stand_in[i])
			goto out_free;
		memset(page_address(vm->stand_in[i]), 0xff, PAGE_SIZE);
	}
	bitmap_zero(vm->stood_in, HOST_CMB_PAGES);
	INIT_DELAYED_WORK(&vm->empty, stand_in_empty);
	return 0;

out_free:
	while (i--)
		__free_page(vm->stand_in[i]);
	return -ENOMEM;
}

void vm_map_close(struct port_vm *vm)
{
	u32 i;

	cancel_delayed_work_sync(&vm->empty);
	for (i = 0; i < ARRAY_SIZE(vm->stand_in); i++)
		__free_page(vm->stand_in[i]);
}

/* --- read() and write() --- */

static u64 mem_load(const void *at, u32 len)
{
	switch (len) {
	case 1:
		return READ_ONCE(*(const u8 *)at);
	case 2:
		return READ_ONCE(*(const u16 *)at);
	case 4:
		return READ_ONCE(*(const u32 *)at);
	default:
		return READ_ONCE(*(const u64 *)at);
	}
}

static void mem_store(void *at, u64 val, u32 len)
{
	switch (len) {
	case 1:
		WRITE_ONCE(*(u8 *)at, (u8)val);
		break;
	case 2:
		WRITE_ONCE(*(u16 *)at, (u16)val);
		break;
	case 4:
		WRITE_ONCE(*(u32 *)at, (u32)val);
		break;
	default:
		WRITE_ONCE(*(u64 *)at, val);
		break;
	}
}

static u64 io_load(const void __iomem *at, u32 len)
{
	switch (len) {
	case 1:
		return readb(at);
	case 2:
		return readw(at);
	case 4:
		return readl(at);
	default:
		return readq(at);
	}
}

static void io_store(void __iomem *at, u64 val, u32 len)
{
	switch (len) {
	case 1:
		writeb((u8)val, at);
		break;
	case 2:
		writew((u16)val, at);
		break;
	case 4:
		writel((u32)val, at);
		break;
	default:
		writeq(val, at);
		break;
	}
}

/* map_lock held. False: no page is there for this. */
static bool page_access(struct port_vm *vm, u64 off, u64 *val, u32 len, bool write)
{
	struct liov_page page = liov_backend_page(vm->liov, off, write);
	u32 bar_nr = page.kind == LIOV_PAGE_BAR0 ? 0 : vm->parent->be->info.cmb_bar;
	struct port_mmio bar = { };
	void __iomem *at;
	u64 bus_addr;

	if (page.kind == LIOV_PAGE_NONE || (write && !page.writable))
		return false;
	if (page.kind == LIOV_PAGE_MEMORY) {
		void *mem = page_address(page.pages.page + page.index) + offset_in_page(off);

		if (write)
			mem_store(mem, *val, len);
		else
			*val = mem_load(mem, len);
		return true;
	}
	if (liov_home_bar(vm->parent->be->host, bar_nr, &bar, &bus_addr))
		return false;
	at = bar.base + page.bar_off + offset_in_page(off);
	if (write)
		io_store(at, *val, len);
	else
		*val = io_load(at, len);
	return true;
}

u64 vm_cmb_access(struct port_vm *vm, u64 off, u64 val, u32 len, bool write)
{
	bool done;

	mutex_lock(&vm->map_lock);
	done = page_access(vm, off, &val, len, write);
	mutex_unlock(&vm->map_lock);
	if (done)
		return val;
	if (!write)
		return liov_device_cmb_rd(vm->liov, off, len);
	liov_device_cmb_wr(vm->liov, off, val, len);
	return 0;
}
