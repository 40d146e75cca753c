// SPDX-License-Identifier: GPL-2.0
/*
 * The backend's life, and the making of a VM.
 *
 * Locks, outermost first: be->control (VMs come and go, reset), vm->lock, be->lock (pools and
 * tables), a host queue's I/O, admin.lock, then spin locks. The page answer and the interrupt
 * handlers take spin locks only.
 */

#include "internal.h"

#define WINDOW_ALIGN	0x100000ULL	/* host structures start at a whole MiB */
#define TIMEOUT_NS	1000000000ULL
#define DEPTH		128u

static bool range_wraps(const struct liov_range *r)
{
	return r->count != 0 && r->start > ~0ULL - (r->count - 1);
}

static int config_check(struct liov_backend_config *c)
{
	if (c->policy >= LIOV_POLICIES ||
	    !LIOV_CHECK(backend_config_wrap, !range_wraps(&c->host_iova) && !range_wraps(&c->vm_iova)))
		return -EINVAL;
	if (!LIOV_CHECK(backend_config_watch, !c->watch_doorbells || c->policy == LIOV_POLICY_MEDIATED))
		return -EINVAL;
	if (!LIOV_CHECK(backend_config_host_window, c->host_iova.count >= 2 * WINDOW_ALIGN &&
			!((c->host_iova.start | c->host_iova.count) & (SPEC_PAGE_SIZE - 1))))
		return -EINVAL;
	/* Shifts and alignment: a power of two. */
	if (!LIOV_CHECK(backend_config_vm_window, !c->dma_offset ||
			(c->vm_iova_window >= SPEC_PAGE_SIZE && !(c->vm_iova_window & (c->vm_iova_window - 1)) &&
			 c->vm_iova.count >= c->vm_iova_window)))
		return -EINVAL;
	if (c->timeout_ns == 0)
		c->timeout_ns = TIMEOUT_NS;
	if (c->queue_depth < 2)
		c->queue_depth = DEPTH;
	return 0;
}

static int queues_init(struct liov_backend *be)
{
	be->hwq = port_alloc(be->home, (be->info.io_queues + 1) * sizeof(*be->hwq));
	if (!be->hwq)
		return -ENOMEM;
	for (u32 qid = 0; qid <= be->info.io_queues; qid++) {
		struct liov_hwq *q = &be->hwq[qid];

		q->be = be;
		q->qid = qid;
		q->owner = LIOV_HOST_VM;
		q->pasid = LIOV_NO_PASID;
		q->state = LIOV_HWQ_FREE;
		port_lock_init(be->home, &q->lock);
	}
	return 0;
}

/* What is there to give: only now the controller has said how much. */
static int pools_init(struct liov_backend *be)
{
	struct liov_backend_config *c = &be->cfg;

	if (!LIOV_CHECK(backend_host_lbas, c->host_lbas <= be->info.nsze))
		return -EINVAL;
	if (!LIOV_CHECK(backend_windows_allowed, !c->dma_offset || liov_iova_allowed(be, c->vm_iova.start, c->vm_iova.count)))
		return -EINVAL;
	/* The host's window must not be what the controller decodes as its own. */
	if (!LIOV_CHECK(backend_host_window_clear,
			!liov_range_overlaps(c->host_iova.start, c->host_iova.count, be->cmb_bus_addr, be->info.cmb_size) &&
			!liov_range_overlaps(c->host_iova.start, c->host_iova.count, be->bar0_bus_addr, be->bar0_size) &&
			!liov_range_overlaps(c->host_iova.start, c->host_iova.count, PCIS_IRQ_RANGE_BASE,
					     PCIS_IRQ_RANGE_LAST - PCIS_IRQ_RANGE_BASE + 1)))
		return -EINVAL;
	/* Under siov VMs get what no namespace has yet; NSID 1 is the host's, and starts the medium. */
	if (c->policy == LIOV_POLICY_SIOV && be->info.capacity < be->info.nsze)
		return -EINVAL;
	if (c->policy == LIOV_POLICY_SIOV)
		liov_extents_init(&be->lbas, be->info.nsze, be->info.capacity - be->info.nsze);
	else
		liov_extents_init(&be->lbas, c->host_lbas, be->info.nsze - c->host_lbas);
	liov_extents_init(&be->windows, c->vm_iova.start, c->dma_offset ? c->vm_iova.count : 0);
	liov_extents_init(&be->cmb, 0, be->info.cmb_size);
	return 0;
}

static void backend_undo(struct liov_backend *be)
{
	if (be->hostq)
		(void)liov_host_queue_destroy(be, be->hostq);
	be->hostq = NULL;
	liov_graves_close_namespaces(be);
	liov_ctrl_halt(be);
	for (u32 qid = 1; be->hwq && qid <= be->info.io_queues; qid++) {
		struct liov_hwq *q = &be->hwq[qid];

		if (q->state == LIOV_HWQ_FREE)
			continue;
		/* A disabled controller has no queues. */
		liov_hostio_fini(q);
		liov_hwq_forget(q);
		liov_hwq_release(q);
	}
	liov_graves_open(be);
	liov_ctrl_stop(be);
	if (be->hwq)
		port_free(be->home, be->hwq);
	be->hwq = NULL;
}

int liov_backend_start(struct liov_backend *be, struct port_host *host, const struct liov_backend_config *cfg)
{
	u64 first;
	int err;

	if (be->started)
		return -EBUSY;
	memset(be, 0, sizeof(*be));
	be->host = host;
	be->home = port_host_home(host);
	be->cfg = *cfg;
	port_mutex_init(be->home, &be->lock);
	port_mutex_init(be->home, &be->control);
	err = config_check(&be->cfg);
	if (err)
		return err;
	first = (WINDOW_ALIGN - (be->cfg.host_iova.start & (WINDOW_ALIGN - 1))) & (WINDOW_ALIGN - 1);
	liov_extents_init(&be->iovas, be->cfg.host_iova.start + first, be->cfg.host_iova.count - first);

	err = liov_ctrl_start(be);
	if (err)
		return err;
	err = queues_init(be);
	if (!err)
		err = pools_init(be);
	if (!err)
		err = liov_host_queue_create(be, 0, &be->hostq);
	if (err) {
		backend_undo(be);
		return err;
	}
	liov_admin_post_aers(be);
	be->started = true;
	return 0;
}

int liov_backend_stop(struct liov_backend *be)
{
	int err = be->started ? 0 : -EINVAL;

	if (err)
		return err;
	port_mutex_lock(&be->control);
	for (u32 i = 0; i < LIOV_VMS_MAX; i++)
		if (be->vms[i])
			err = -EBUSY;
	if (!err) {
		be->started = false;
		backend_undo(be);
	}
	port_mutex_unlock(&be->control);
	return err;
}

/* --- a VM --- */

/* A configuration is refused: what was asked for, and what it runs into. */
static void vm_deny(struct liov_backend *be, u32 vm, struct liov_range wanted, struct liov_range taken)
{
	liov_deny(be, LIOV_BACKEND, vm, 0, wanted.start, wanted.count);
	if (taken.count != 0)
		liov_deny(be, LIOV_BACKEND, vm, 0, taken.start, taken.count);
}

static int vm_config_check(struct liov_backend *be, struct liov_vm_config *c)
{
	if (c->nr_vectors == 0)
		c->nr_vectors = c->nr_queues + 1;
	if (!LIOV_CHECK(backend_vm_config,
			c->id != LIOV_HOST_VM && c->nr_queues >= 1 && c->nr_queues <= LIOV_VM_QUEUES_MAX &&
			c->lbas != 0 && c->nr_vectors <= LIOV_VECTORS_MAX)) {
		vm_deny(be, c->id, (struct liov_range){ c->lba_start, c->lbas },
			(struct liov_range){ c->nr_queues, c->nr_vectors });
		return -EINVAL;
	}
	for (u32 i = 0; i < LIOV_VMS_MAX; i++)
		if (be->vms[i] && !LIOV_CHECK(backend_vm_id, be->vms[i]->cfg.id != c->id))
			return -EINVAL;
	return 0;
}

/*
 * The VM's memory must fit into the one address space that all share, but under siov: in a window of its
 * own, or where IOVA = guest address apart from all others, from the host's structures and
 * from what the controller does not send to the host at all (CFG-02, CMB-04, IOM-08).
 */
static int vm_memory_check(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	gpa_t gpa;
	u64 len;

	for (u32 i = 0; port_vm_mem_range(vm->port, i, &gpa, &len); i++) {
		if (i >= LIOV_MEM_RANGES_MAX ||
		    !LIOV_CHECK(backend_vm_memory, len != 0 && !((gpa.v | len) & (SPEC_PAGE_SIZE - 1))))
			goto out_deny;
		if (be->cfg.dma_offset) {
			if (!LIOV_CHECK(backend_vm_window, liov_range_inside(0, be->cfg.vm_iova_window, gpa.v, len)))
				goto out_deny;
		} else if (!LIOV_CHECK(backend_iova_allowed, liov_iova_allowed(be, gpa.v, len)) ||
			   !LIOV_CHECK(backend_iova_free, liov_iova_is_free(be, vm, gpa, len)) || liov_grave_note(vm, gpa, len)) {
			goto out_deny;
		}
	}
	return 0;
out_deny:
	vm_deny(be, vm->cfg.id, (struct liov_range){ gpa.v, len }, (struct liov_range){ 0, 0 });
	return -EINVAL;
}

/* Whose blocks are those? The VM's that has some of them, or all that VMs may have. Under be->lock. */
static struct liov_range lbas_holder(const struct liov_backend *be, u64 start, u64 count)
{
	for (u32 i = 0; i < LIOV_VMS_MAX; i++)
		if (be->vms[i] && liov_range_overlaps(be->vms[i]->lba.start, be->vms[i]->lba.count, start, count))
			return be->vms[i]->lba;
	return (struct liov_range){ be->cfg.host_lbas, be->info.nsze - be->cfg.host_lbas };
}

/* Under be->lock. */
static int vm_take_lbas(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	struct liov_range want = { vm->cfg.lba_start, vm->cfg.lbas };
	u64 blocks = be->cfg.policy == LIOV_POLICY_SIOV ? be->info.capacity : be->info.ncap;
	int err;

	if (vm->cfg.lbas_at)
		err = LIOV_CHECK(backend_lba_place, liov_extents_take_at(&be->lbas, want.start, want.count) == 0) ? 0 : -EBUSY;
	else
		err = liov_extents_take(&be->lbas, want.count, 1, &want.start);
	if (err) {
		vm_deny(be, vm->cfg.id, want, lbas_holder(be, want.start, want.count));
		return err;
	}
	vm->lba = want;
	/* LBA-12: a namespace may have more block numbers than blocks. */
	if (!LIOV_CHECK(backend_capacity, want.start + want.count <= blocks)) {
		vm_deny(be, vm->cfg.id, want, (struct liov_range){ 0, blocks });
		return -EINVAL;
	}
	return 0;
}

static int vm_take_numbers(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	u64 window = be->cfg.vm_iova_window;
	int err;

	port_mutex_lock(&be->lock);
	err = vm_take_lbas(vm);
	if (!err && be->cfg.dma_offset) {
		err = liov_extents_take(&be->windows, window, window, &vm->window.start);
		if (!err) {
			vm->window.count = window;
			vm->dma_offset = vm->window.start;
		}
	}
	port_mutex_unlock(&be->lock);
	return err;
}

static int vm_take_memory(struct liov_vm *vm)
{
	vm->grave = port_alloc(vm->be->home, sizeof(*vm->grave));
	if (!vm->grave)
		return -ENOMEM;
	if (vm->be->cfg.policy == LIOV_POLICY_NRD) {
		vm->nrd = port_alloc(vm->be->home, sizeof(*vm->nrd));
		if (!vm->nrd)
			return -ENOMEM;
	}
	return 0;
}

/* The mediator drives one pair for all of the VM's virtual queues: the controller's turns go round VMs then. */
static int vm_take_queues(struct liov_vm *vm)
{
	u32 pairs = vm->be->cfg.policy == LIOV_POLICY_MEDIATED ? 1 : vm->cfg.nr_queues;

	for (u32 i = 0; i < pairs; i++) {
		struct liov_hwq *q;
		int err = vm->cfg.queues_at ? liov_hwq_reserve_at(vm->be, vm, vm->cfg.first_qid + i, &q) :
					      liov_hwq_reserve(vm->be, vm, 0, &q);

		if (err) {
			vm_deny(vm->be, vm->cfg.id, (struct liov_range){ vm->cfg.first_qid + i, 1 },
				(struct liov_range){ 1, vm->be->info.io_queues });
			return err;
		}
		q->vm = vm;
		vm->queue[i] = q;
	}
	return liov_info_page_init(vm);
}

/* Late writes of a wipe that timed out can still hit the extent. */
static int vm_wipe(struct liov_vm *vm)
{
	int err = LIOV_STEP(backend_wipe) ? liov_wipe(vm) : 0;

	if (err == -ETIMEDOUT)
		vm->unquiet = true;
	return err;
}

static int vm_register_all(struct liov_vm *vm)
{
	gpa_t gpa;
	u64 len;
	int err = 0;

	port_mutex_lock(&vm->lock);
	for (u32 i = 0; vm->cfg.register_all && !err && port_vm_mem_range(vm->port, i, &gpa, &len); i++)
		err = liov_vm_mem_register(vm, gpa, len);
	port_mutex_unlock(&vm->lock);
	return err;
}

static int vm_build(struct liov_vm *vm)
{
	int err = vm_take_memory(vm);

	if (!err)
		err = vm_memory_check(vm);
	if (!err)
		err = vm_take_numbers(vm);
	/* Before the queues, whose vectors a message of their last owner's may still be on its way to. */
	if (!err)
		err = liov_device_init(vm);
	if (!err)
		err = liov_siov_open(vm);
	if (!err)
		err = vm_take_queues(vm);
	if (!err)
		err = vm_wipe(vm);
	if (err)
		return err;
	vm->has_device = true;
	if (vm->be->cfg.policy == LIOV_POLICY_MEDIATED) {
		err = liov_mediator_init(vm);
		if (err)
			return err;
		vm->has_mediator = true;
	}
	return vm_register_all(vm);
}

static void vm_init(struct liov_backend *be, struct liov_vm *vm, struct port_vm *port, const struct liov_vm_config *cfg)
{
	memset(vm, 0, sizeof(*vm));
	vm->be = be;
	vm->port = port;
	vm->cfg = *cfg;
	vm->cmb_size = LIOV_CMB_SIZE_MIN;
	vm->nsid = LIOV_HOST_NSID;
	vm->pasid = LIOV_NO_PASID;
	port_mutex_init(be->home, &vm->lock);
	port_lock_init(be->home, &vm->mem_lock);
	port_lock_init(be->home, &vm->page_lock);
}
_Static_assert(LIOV_CMB_SLOTS + LIOV_VM_QUEUES_MAX * LIOV_CMB_SLOT_STRIDE <= LIOV_CMB_SIZE_MIN, "all slots fit");

/* From here on others see what memory it has; nobody can use it yet. */
static int vm_claim(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	int err = -ENOSPC;

	port_mutex_lock(&be->lock);
	for (u32 i = 0; err && i < LIOV_VMS_MAX; i++) {
		if (be->vms[i])
			continue;
		be->vms[i] = vm;
		err = 0;
	}
	port_mutex_unlock(&be->lock);
	return err;
}

static void vm_go(struct liov_vm *vm)
{
	unsigned long flags = port_lock_irqsave(&vm->page_lock);

	vm->live = true;
	port_unlock_irqrestore(&vm->page_lock, flags);
	port_trace(vm->be->home,
		   &(struct liov_trace){ LIOV_TRACE_VM, LIOV_BACKEND, vm->cfg.id, 1, vm->lba.start, vm->lba.count });
}

int liov_vm_create(struct liov_backend *be, struct liov_vm *vm, struct port_vm *port, const struct liov_vm_config *cfg)
{
	struct liov_vm_config c = *cfg;
	int err;

	port_mutex_lock(&be->control);
	err = be->started ? vm_config_check(be, &c) : -EINVAL;
	if (err)
		goto out;
	vm_init(be, vm, port, &c);
	err = vm_claim(vm);
	if (!err)
		err = vm_build(vm);
	if (!err)
		vm_go(vm);
	else if (LIOV_STEP(backend_vm_undo))
		liov_vm_dismantle(vm);
	if (err > 0)
		err = -EIO;
out:
	port_mutex_unlock(&be->control);
	return err;
}
