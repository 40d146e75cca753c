// SPDX-License-Identifier: GPL-2.0
/*
 * Registered memory: the only guest memory the controller may touch. Registered: checked,
 * pinned, mapped, and only then found by the checks. Unregistered in the reverse order, and
 * unpinned only after the IOMMU has forgotten it.
 */

#include "internal.h"

#define RELEASE_POLL_NS	50000ULL
#define SCAN_PAGES	512u	/* counters looked at under one hold of the lock */

bool liov_iova_allowed(const struct liov_backend *be, u64 iova, u64 len_bytes)
{
	const struct liov_range *host = &be->cfg.host_iova;

	if (!liov_range_until(iova, len_bytes, port_iommu_last(be->host)))
		return false;
	return !liov_range_overlaps(iova, len_bytes, host->start, host->count) &&
	       !liov_range_overlaps(iova, len_bytes, PCIS_IRQ_RANGE_BASE, PCIS_IRQ_RANGE_LAST - PCIS_IRQ_RANGE_BASE + 1) &&
	       !liov_range_overlaps(iova, len_bytes, be->bar0_bus_addr, be->bar0_size) &&
	       !liov_range_overlaps(iova, len_bytes, be->cmb_bus_addr, be->info.cmb_size);
}

static bool grave_holds(const struct liov_grave *g, u64 iova, u64 len_bytes)
{
	for (u32 i = 0; g && i < g->nr_iova; i++)
		if (liov_range_overlaps(g->iova[i].start, g->iova[i].count, iova, len_bytes))
			return true;
	return false;
}

bool liov_iova_is_free(struct liov_backend *be, const struct liov_vm *self, gpa_t gpa, u64 len_bytes)
{
	bool ok = true;

	/* Windows, or address spaces, of their own. */
	if (be->cfg.dma_offset || be->cfg.policy == LIOV_POLICY_SIOV)
		return true;
	port_mutex_lock(&be->lock);
	for (u32 i = 0; i < LIOV_VMS_MAX && ok; i++) {
		const struct liov_vm *vm = be->vms[i];

		if (vm && vm != self && (grave_holds(vm->grave, gpa.v, len_bytes) ||
					 port_vm_mem_overlaps(vm->port, gpa, len_bytes)))
			ok = false;
	}
	for (const struct liov_grave *g = be->graves; g && ok; g = g->next)
		ok = !grave_holds(g, gpa.v, len_bytes);
	port_mutex_unlock(&be->lock);
	return ok;
}

int liov_grave_note(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	struct liov_grave *g = vm->grave;
	int err = 0;
	u32 i;

	if (vm->be->cfg.dma_offset || vm->be->cfg.policy == LIOV_POLICY_SIOV)
		return 0;	/* the window, or the PASID, says it all */
	port_mutex_lock(&vm->be->lock);
	for (i = 0; i < g->nr_iova; i++)
		if (liov_range_inside(g->iova[i].start, g->iova[i].count, gpa.v, len_bytes))
			break;
	if (i == g->nr_iova && i == LIOV_GRAVE_RANGES_MAX)
		err = -ENOSPC;
	else if (i == g->nr_iova)
		g->iova[g->nr_iova++] = (struct liov_range){ gpa.v, len_bytes };
	port_mutex_unlock(&vm->be->lock);
	return err;
}

/* Index of the entry that holds all of the range, or nr_mem. Either lock held. */
static u32 mem_find(const struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	u32 i;

	for (i = 0; i < vm->nr_mem; i++)
		if (liov_range_inside(vm->mem[i].gpa.v, vm->mem[i].len_bytes, gpa.v, len_bytes))
			break;
	return i;
}

/* Add @delta to the counters of the range's pages; it lies in one region. mem_lock held. */
static void mem_count(struct liov_vm *vm, const struct liov_mem *m, gpa_t gpa, u64 len_bytes, bool up)
{
	struct liov_region *r = &vm->region[m->region];
	u64 first = liov_page_of(r->gpa.v, gpa.v), last = liov_page_of(r->gpa.v, gpa.v + (len_bytes - 1));

	if (!r->page_refs || !LIOV_STEP(mediator_hold))
		return;
	for (u64 p = first; p <= last; p++) {
		LIOV_ASSERT(up || r->page_refs[p] != 0);
		r->page_refs[p] += up ? 1u : ~0u;
	}
}

bool liov_vm_mem_check(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, bool hold)
{
	unsigned long flags = port_lock_irqsave(&vm->mem_lock);
	u32 i = mem_find(vm, gpa, len_bytes);
	bool ok = i < vm->nr_mem && LIOV_CHECK(mediator_releasing, !vm->mem[i].releasing);

	if (ok && hold)
		mem_count(vm, &vm->mem[i], gpa, len_bytes, true);
	port_unlock_irqrestore(&vm->mem_lock, flags);
	return ok;
}

bool liov_vm_mem_may(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, u32 need)
{
	unsigned long flags = port_lock_irqsave(&vm->mem_lock);
	u32 i = mem_find(vm, gpa, len_bytes);
	bool ok = i == vm->nr_mem || !(need & ~vm->mem[i].prot);

	port_unlock_irqrestore(&vm->mem_lock, flags);
	return ok;
}

/* Page by page: a range that is being released may have been split off in the middle of what is held. */
void liov_vm_mem_drop(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	unsigned long flags = port_lock_irqsave(&vm->mem_lock);

	while (len_bytes > 0) {
		u64 n = liov_page_part(gpa.v, len_bytes);
		u32 i = mem_find(vm, gpa, n);

		/* It is held: only an experiment without that check comes here with anything else. */
		LIOV_ASSERT(LIOV_CHECK(mediator_prp_window, i < vm->nr_mem));
		if (i < vm->nr_mem)
			mem_count(vm, &vm->mem[i], gpa, n, false);
		gpa.v += n;
		len_bytes -= n;
	}
	port_unlock_irqrestore(&vm->mem_lock, flags);
}

static void mem_insert(struct liov_vm *vm, u32 at, struct liov_mem m)
{
	for (u32 i = vm->nr_mem; i > at; i--)
		vm->mem[i] = vm->mem[i - 1];
	vm->mem[at] = m;
	vm->nr_mem++;
	vm->region[m.region].nr_mem++;
}

static void mem_remove(struct liov_vm *vm, u32 at)
{
	vm->region[vm->mem[at].region].nr_mem--;
	for (vm->nr_mem--; at < vm->nr_mem; at++)
		vm->mem[at] = vm->mem[at + 1];
}

/* Does the VM's request make sense, and is none of it in anybody's books? */
static int mem_register_check(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	struct liov_backend *be = vm->be;

	if (!LIOV_CHECK(backend_mem_shape, liov_pages_whole(gpa.v, len_bytes)))
		return -EINVAL;
	if (!LIOV_CHECK(backend_mem_window, !be->cfg.dma_offset || liov_range_inside(0, vm->window.count, gpa.v, len_bytes)))
		return -EINVAL;
	if (!LIOV_CHECK(backend_iova_allowed, liov_iova_allowed(be, liov_dma_translate(vm->dma_offset, gpa).v, len_bytes)))
		return -EINVAL;
	if (!LIOV_CHECK(backend_mem_ram, port_vm_mem_is_ram(vm->port, gpa, len_bytes)))
		return -EINVAL;
	for (u32 i = 0; i < vm->nr_mem; i++)
		if (!LIOV_CHECK(backend_mem_twice,
				!liov_range_overlaps(vm->mem[i].gpa.v, vm->mem[i].len_bytes, gpa.v, len_bytes)))
			return -EINVAL;
	/* Memory that was plugged in after creation may be anywhere. */
	if (!LIOV_CHECK(backend_iova_free, liov_iova_is_free(be, vm, gpa, len_bytes)))
		return -EINVAL;
	return LIOV_CHECK(backend_mem_room, vm->nr_mem < LIOV_MEM_RANGES_MAX) ? liov_grave_note(vm, gpa, len_bytes) : -ENOSPC;
}

static int region_open(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, u32 *index)
{
	u32 *refs = NULL;
	u32 i;

	/* No more regions than entries, and there is room for an entry. */
	for (i = 0; i < LIOV_MEM_RANGES_MAX - 1 && vm->region[i].len_bytes != 0; i++)
		;
	if (vm->be->cfg.policy == LIOV_POLICY_MEDIATED) {
		refs = port_alloc(vm->be->home, (size_t)(len_bytes >> SPEC_PAGE_SHIFT) * sizeof(*refs));
		if (!refs)
			return -ENOMEM;
	}
	vm->region[i] = (struct liov_region){ .gpa = gpa, .len_bytes = len_bytes, .page_refs = refs };
	*index = i;
	return 0;
}

static void region_close(struct liov_vm *vm, u32 i)
{
	u32 *refs = vm->region[i].page_refs;
	unsigned long flags = port_lock_irqsave(&vm->mem_lock);

	vm->region[i] = (struct liov_region){ .len_bytes = 0 };
	port_unlock_irqrestore(&vm->mem_lock, flags);
	if (refs)
		port_free(vm->be->home, refs);
}

/* Unmapped and forgotten by the IOMMU: only now the frames may be anything else. */
static void mem_unmap(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	struct liov_backend *be = vm->be;
	iova_t iova = liov_dma_translate(vm->dma_offset, gpa);

	if (LIOV_STEP(backend_mem_unmap))
		liov_dma_unmap(be, vm->pasid, iova, len_bytes);
	if (LIOV_STEP(backend_mem_sync))
		liov_dma_sync(be, vm->pasid);
	liov_guard(be, LIOV_BACKEND, vm->cfg.id, LIOV_GUARD_IOVA_REVOKED, iova.v, len_bytes);
	port_vm_mem_unpin(vm->port, gpa, len_bytes);
}

int liov_vm_mem_register(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	struct liov_backend *be = vm->be;
	struct liov_mem m = { .gpa = gpa, .len_bytes = len_bytes };
	int err = mem_register_check(vm, gpa, len_bytes);
	unsigned long flags;

	if (err)
		goto out_deny;
	err = region_open(vm, gpa, len_bytes, &m.region);
	if (err)
		goto out_deny;
	err = port_vm_mem_pin(vm->port, gpa, len_bytes);
	if (err)
		goto out_region;
	m.prot = port_vm_mem_prot(vm->port, gpa, len_bytes);
	err = liov_dma_map_vm(vm, liov_dma_translate(vm->dma_offset, gpa), gpa, len_bytes, m.prot);
	if (err) {
		port_vm_mem_unpin(vm->port, gpa, len_bytes);
		goto out_region;
	}
	err = liov_nrd_rebind(vm);
	if (err) {
		mem_unmap(vm, gpa, len_bytes);
		goto out_region;
	}
	flags = port_lock_irqsave(&vm->mem_lock);
	mem_insert(vm, vm->nr_mem, m);
	port_unlock_irqrestore(&vm->mem_lock, flags);
	return 0;

out_region:
	region_close(vm, m.region);
out_deny:
	liov_deny(be, LIOV_BACKEND, vm->cfg.id, 0, gpa.v, len_bytes);
	return err;
}

/* Make [gpa, len) an entry of its own, releasing; neighbours keep what is left. Returns its index. */
static u32 mem_split(struct liov_vm *vm, u32 i, gpa_t gpa, u64 len_bytes)
{
	unsigned long flags = port_lock_irqsave(&vm->mem_lock);
	struct liov_mem whole = vm->mem[i];
	struct liov_rest rest = liov_range_rest(whole.gpa.v, whole.len_bytes, gpa.v, len_bytes);

	vm->mem[i].gpa = gpa;
	vm->mem[i].len_bytes = len_bytes;
	vm->mem[i].releasing = true;
	if (rest.after != 0)
		mem_insert(vm, i + 1, (struct liov_mem){ { gpa.v + len_bytes }, rest.after,
							 whole.region, false, false, whole.prot });
	if (rest.before != 0)
		mem_insert(vm, i++, (struct liov_mem){ whole.gpa, rest.before, whole.region, false, false, whole.prot });
	port_unlock_irqrestore(&vm->mem_lock, flags);
	return i;
}

static void mem_unsplit(struct liov_vm *vm, u32 i, const struct liov_mem *whole)
{
	unsigned long flags = port_lock_irqsave(&vm->mem_lock);
	struct liov_rest rest = liov_range_rest(whole->gpa.v, whole->len_bytes, vm->mem[i].gpa.v, vm->mem[i].len_bytes);

	if (rest.after != 0)
		mem_remove(vm, i + 1);
	if (rest.before != 0)
		mem_remove(vm, --i);
	vm->mem[i] = *whole;
	port_unlock_irqrestore(&vm->mem_lock, flags);
}

/* No new reference can come to a releasing page: one that was seen at zero stays there. */
static bool mem_wait(struct liov_vm *vm, const struct liov_mem *m)
{
	const struct liov_region *r = &vm->region[m->region];
	u64 at = liov_page_of(r->gpa.v, m->gpa.v), end = liov_page_of(r->gpa.v, m->gpa.v + (m->len_bytes - 1)) + 1;
	u64 until = port_now_ns(vm->be->home) + vm->be->cfg.timeout_ns;

	while (r->page_refs && at < end) {
		unsigned long flags = port_lock_irqsave(&vm->mem_lock);
		u64 stop = end - at < SCAN_PAGES ? end : at + SCAN_PAGES;

		while (at < stop && r->page_refs[at] == 0)
			at++;
		port_unlock_irqrestore(&vm->mem_lock, flags);
		if (at == stop)
			continue;
		if (port_now_ns(vm->be->home) >= until)
			return false;
		port_sleep_ns(vm->be->home, RELEASE_POLL_NS);
	}
	return true;
}

/* Entry @i, which nothing holds any more, leaves the books. */
static void mem_end(struct liov_vm *vm, u32 i)
{
	struct liov_mem m = vm->mem[i];
	unsigned long flags;

	if (!m.gone)
		mem_unmap(vm, m.gpa, m.len_bytes);
	flags = port_lock_irqsave(&vm->mem_lock);
	mem_remove(vm, i);
	port_unlock_irqrestore(&vm->mem_lock, flags);
	if (vm->region[m.region].nr_mem == 0) {
		region_close(vm, m.region);
		/* Refused or not, nothing is mapped there any more. */
		(void)liov_nrd_rebind(vm);
	}
}

int liov_vm_mem_unregister(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	struct liov_mem whole, m;
	struct liov_rest rest;
	u32 i, parts;

	if (!liov_pages_whole(gpa.v, len_bytes))
		goto out_deny;
	i = mem_find(vm, gpa, len_bytes);
	if (i == vm->nr_mem)
		goto out_deny;
	whole = vm->mem[i];
	rest = liov_range_rest(whole.gpa.v, whole.len_bytes, gpa.v, len_bytes);
	parts = (rest.before != 0) + (rest.after != 0);
	if (whole.gone && parts)
		goto out_deny;
	if (vm->nr_mem + parts > LIOV_MEM_RANGES_MAX)
		return -ENOSPC;
	i = mem_split(vm, i, gpa, len_bytes);
	m = vm->mem[i];
	if (!mem_wait(vm, &m)) {
		mem_unsplit(vm, i, &whole);
		return -EBUSY;
	}
	mem_end(vm, i);
	return 0;
out_deny:
	liov_deny(vm->be, LIOV_BACKEND, vm->cfg.id, 0, gpa.v, len_bytes);
	return -EINVAL;
}

/* An entry of which some lies in the range and still is mapped, or nr_mem. */
static u32 mem_find_any(const struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	u32 i;

	for (i = 0; i < vm->nr_mem; i++)
		if (!vm->mem[i].gone && liov_range_overlaps(vm->mem[i].gpa.v, vm->mem[i].len_bytes, gpa.v, len_bytes))
			break;
	return i;
}

/*
 * Where the table has no room for what is left of the entry, all of it goes. What a lost command
 * holds stays in the books as releasing, so that the command is accounted for when it ends, but
 * the controller reaches it no more.
 */
static void mem_forget_in(struct liov_vm *vm, u32 i, gpa_t gpa, u64 len_bytes)
{
	struct liov_mem whole = vm->mem[i], m;
	struct liov_range part = { whole.gpa.v, whole.len_bytes };
	unsigned long flags;

	if (vm->nr_mem + 2 <= LIOV_MEM_RANGES_MAX)
		part = liov_range_shared(whole.gpa.v, whole.len_bytes, gpa.v, len_bytes);
	i = mem_split(vm, i, (gpa_t){ part.start }, part.count);
	m = vm->mem[i];
	if (mem_wait(vm, &m)) {
		mem_end(vm, i);
		return;
	}
	flags = port_lock_irqsave(&vm->mem_lock);
	vm->mem[i].gone = true;
	port_unlock_irqrestore(&vm->mem_lock, flags);
	mem_unmap(vm, m.gpa, m.len_bytes);
}

void liov_vm_mem_forget(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	u32 i;

	if (len_bytes == 0 || gpa.v > ~0ULL - (len_bytes - 1))
		return;
	/* Whole pages: the controller reaches no smaller part of one. */
	len_bytes = liov_pages_bytes(gpa.v, len_bytes);
	gpa.v &= ~(SPEC_PAGE_SIZE - 1);
	port_mutex_lock(&vm->lock);
	while ((i = mem_find_any(vm, gpa, len_bytes)) < vm->nr_mem)
		mem_forget_in(vm, i, gpa, len_bytes);
	port_mutex_unlock(&vm->lock);
}

int liov_vm_mem_learn(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	int err = 0;

	port_mutex_lock(&vm->lock);
	if (vm->cfg.register_all)
		err = liov_vm_mem_register(vm, gpa, len_bytes);
	port_mutex_unlock(&vm->lock);
	return err;
}

void liov_vm_mem_release_all(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;

	for (u32 i = 0; i < vm->nr_mem; i++)
		if (!vm->mem[i].gone && LIOV_STEP(backend_mem_release))
			liov_dma_unmap(be, vm->pasid, liov_dma_translate(vm->dma_offset, vm->mem[i].gpa), vm->mem[i].len_bytes);
	if (LIOV_STEP(backend_mem_release_sync))
		liov_dma_sync(be, vm->pasid);
	while (vm->nr_mem > 0) {
		struct liov_mem m = vm->mem[vm->nr_mem - 1];
		unsigned long flags = port_lock_irqsave(&vm->mem_lock);

		mem_remove(vm, vm->nr_mem - 1);
		port_unlock_irqrestore(&vm->mem_lock, flags);
		if (!m.gone) {
			liov_guard(be, LIOV_BACKEND, vm->cfg.id, LIOV_GUARD_IOVA_REVOKED,
				   liov_dma_translate(vm->dma_offset, m.gpa).v, m.len_bytes);
			port_vm_mem_unpin(vm->port, m.gpa, m.len_bytes);
		}
		if (vm->region[m.region].nr_mem == 0)
			region_close(vm, m.region);
	}
}
