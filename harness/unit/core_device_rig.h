/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UNIT_CORE_DEVICE_RIG_H
#define UNIT_CORE_DEVICE_RIG_H

/*
 * The virtual device and the mediator between a scripted guest and a scripted backend: this
 * file is the home (one VM with 4 MiB of memory) and the hardware queues, which keep what is
 * submitted until the test completes it. Locks say when they are taken twice.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>

#include "device.h"
#include "mediator.h"

#define RAM_BASE	0x200000000ull
#define RAM_SIZE	0x400000ull
#define ASQ		RAM_BASE
#define ACQ		(RAM_BASE + 0x1000)
#define ADMIN_ENTRIES	32u
#define DATA		(RAM_BASE + 0x10000)
#define IOSQ		(RAM_BASE + 0x100000)
#define IOCQ		(RAM_BASE + 0x110000)
#define BAR2		0x7000000000ull
#define CMB_SIZE	0x200000ull
#define LBA_START	0x200000ull
#define LBA_COUNT	0x100000ull
#define DMA_OFFSET	0x4000000000ull
#define HW_DEPTH	33u		/* 32 tags */
#define NR_QUEUES	3u
#define DNR		NVME_DNR

/* What was submitted to the one hardware queue that a mediated VM has. */
struct rig_hw {
	struct nvme_sqe sqe[512];
	u32 nr;
	u32 depth;
};

struct rig {
	struct liov_backend be;
	struct liov_vm vm;
	struct liov_hwq hwq[NR_QUEUES];
	struct rig_hw hw;
	u8 ram[RAM_SIZE];
	u32 held[RAM_SIZE / 4096];
	u64 released_from;		/* guest memory from here on is not registered */
	u64 read_only;			/* a page that devices may only read; 0: none */
	u64 now_ns, slept_ns;
	struct port_timer *timer;	/* armed last, and for when */
	u64 timer_ns;
	struct port_work *work;
	void (*on_wait)(void);
	struct liov_trace deny, guard;	/* the last of each */
	u32 nr_deny, nr_emulated, nr_copied;
	struct liov_msi msi;
	u32 nr_msi, nr_updates;
	u32 admin_tail, admin_head;
	bool admin_phase;
	int queue_err;
	bool hw_lost;
	u32 nr_created;
};

static struct rig *rig;

/* --- the home --- */

void sim_shm_rd(struct port_home *home, u64 addr, void *dst, u32 len)
{
	(void)home;
	memcpy(dst, (void *)(uintptr_t)addr, len);
}

void sim_shm_wr(struct port_home *home, u64 addr, const void *src, u32 len)
{
	(void)home;
	memcpy((void *)(uintptr_t)addr, src, len);
}

void sim_shm_zero(struct port_home *home, u64 addr, u32 len)
{
	(void)home;
	memset((void *)(uintptr_t)addr, 0, len);
}

/* The virtual device and its mediator touch no register of the SSD. */
void sim_mmio_wr(struct port_home *home, u64 addr, u64 val, unsigned int len)
{
	(void)home, (void)addr, (void)val, (void)len;
	fail();
}

void sim_wmb(struct port_home *home)
{
	(void)home;
}

unsigned long sim_lock(struct port_lock *l)
{
	assert_false(l->held);
	l->held = true;
	return 0;
}

void sim_unlock(struct port_lock *l, unsigned long flags)
{
	(void)flags;
	l->held = false;
}

void sim_mutex_lock(struct port_mutex *m)
{
	assert_false(m->held);
	m->held = true;
}

void sim_mutex_unlock(struct port_mutex *m)
{
	m->held = false;
}

void sim_event_signal(struct port_event *ev)
{
	ev->signalled = true;
}

bool sim_event_wait(struct port_event *ev, u64 timeout_ns)
{
	if (!ev->signalled && rig->on_wait)
		rig->on_wait();
	if (!ev->signalled)
		rig->now_ns += timeout_ns;
	return ev->signalled;
}

void sim_work_queue(struct port_work *w)
{
	w->queued = true;
	rig->work = w;
}

void sim_work_cancel_sync(struct port_work *w)
{
	w->queued = false;
	rig->work = NULL;
}

void sim_timer_init(struct port_timer *t)
{
	(void)t;
}

void sim_timer_arm(struct port_timer *t, u64 delay_ns)
{
	rig->timer = t;
	rig->timer_ns = rig->now_ns + delay_ns;
}

void sim_timer_cancel(struct port_timer *t)
{
	(void)t;
	rig->timer = NULL;
}

void sim_sleep_ns(struct port_home *home, u64 ns)
{
	(void)home;
	rig->now_ns += ns;
	rig->slept_ns += ns;
}

u64 sim_now_ns(struct port_home *home)
{
	(void)home;
	return rig->now_ns;
}

void sim_trace(struct port_home *home, const struct liov_trace *t)
{
	(void)home;
	if (t->kind == LIOV_TRACE_DENY) {
		rig->deny = *t;
		rig->nr_deny++;
	} else if (t->kind == LIOV_TRACE_GUARD) {
		rig->guard = *t;
		rig->nr_copied += t->code == LIOV_GUARD_COPIED;
	} else if (t->kind == LIOV_TRACE_EMULATED) {
		rig->nr_emulated++;
	}
}

void *sim_alloc(struct port_home *home, size_t bytes)
{
	(void)home;
	return test_calloc(1, bytes);
}

void sim_free(struct port_home *home, void *p)
{
	(void)home;
	test_free(p);
}

int sim_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p)
{
	*p = (struct port_pages){ h, (u64)(uintptr_t)test_calloc(nr, 4096), nr };
	return 0;
}

void sim_pages_put(struct port_pages *p)
{
	test_free((void *)(uintptr_t)p->hpa);
}

struct port_shm sim_pages_shm(const struct port_pages *p)
{
	return (struct port_shm){ NULL, p->hpa };
}

int sim_pages_watch(struct port_host *h, const struct port_pages *p, struct port_watch *w, void (*fn)(void *arg), void *arg)
{
	(void)h, (void)p, (void)w, (void)fn, (void)arg;
	return -EOPNOTSUPP;
}

void sim_pages_unwatch_sync(struct port_watch *w)
{
	(void)w;
	fail();
}

int sim_iommu_map(struct port_host *h, iova_t iova, u64 hpa, u64 len, u32 prot)
{
	(void)h, (void)iova, (void)hpa, (void)len;
	assert_int_equal(prot, PORT_READ);
	return 0;
}

void sim_iommu_unmap(struct port_host *h, iova_t iova, u64 len)
{
	(void)h, (void)iova, (void)len;
}

u64 sim_iommu_last(struct port_host *h)
{
	(void)h;
	return ~0ull;
}

void sim_iommu_sync(struct port_host *h)
{
	(void)h;
}

void sim_vm_irq_raise(struct port_vm *vm, const struct liov_msi *msi)
{
	(void)vm;
	rig->msi = *msi;
	rig->nr_msi++;
}

void sim_vm_revoke(struct port_vm *vm, u64 off, u64 len)
{
	(void)vm;
	assert_true(off + len <= CMB_SIZE);
}

bool sim_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len)
{
	(void)vm;
	return liov_range_inside(RAM_BASE, RAM_SIZE, gpa.v, len);
}

bool sim_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len)
{
	(void)vm;
	return liov_range_overlaps(RAM_BASE, RAM_SIZE, gpa.v, len);
}

int sim_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len)
{
	if (!sim_vm_mem_is_ram(vm, gpa, len))
		return -EFAULT;
	memcpy(buf, rig->ram + (gpa.v - RAM_BASE), len);
	return 0;
}

int sim_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len)
{
	if (!sim_vm_mem_is_ram(vm, gpa, len))
		return -EFAULT;
	memcpy(rig->ram + (gpa.v - RAM_BASE), buf, len);
	return 0;
}

/* --- the backend --- */

/* Nothing of a guest's reaches the controller's own admin queue. */
int liov_admin_cmd(struct liov_backend *be, struct nvme_sqe *sqe, u32 *dw0)
{
	(void)be, (void)sqe, (void)dw0;
	fail();
	return -EIO;
}

void sim_cfg_wr32(struct port_host *h, u32 off, u32 val)
{
	(void)h, (void)off, (void)val;
	fail();
}

int liov_hwq_start_driving(struct liov_hwq *q, u32 entries, liov_completion_fn fn, void *arg)
{
	assert_ptr_equal(q, &rig->hwq[0]);
	if (rig->hw_lost)
		return -EIO;
	q->complete = fn;
	q->complete_arg = arg;
	rig->hw.depth = entries;
	return 0;
}

int liov_hwq_submit(struct liov_hwq *q, const struct nvme_sqe *sqe)
{
	assert_ptr_equal(q, &rig->hwq[0]);
	if (rig->hw_lost)
		return -EIO;
	assert_true(rig->hw.nr < sizeof(rig->hw.sqe) / sizeof(rig->hw.sqe[0]));
	rig->hw.sqe[rig->hw.nr++] = *sqe;
	return 0;
}

int liov_hwq_delete_sq(struct liov_hwq *q)
{
	(void)q;
	return 0;
}

int liov_hwq_delete_cq(struct liov_hwq *q)
{
	(void)q;
	return 0;
}

int liov_vm_queue_create_cq(struct liov_vm *vm, u32 index, u32 entries, bool irq, u16 vvec)
{
	(void)vm, (void)index, (void)entries, (void)irq, (void)vvec;
	rig->nr_created++;
	return rig->queue_err;
}

int liov_vm_queue_create_sq(struct liov_vm *vm, u32 index, u32 entries, u32 cq_index)
{
	(void)vm, (void)index, (void)entries, (void)cq_index;
	rig->nr_created++;
	return rig->queue_err;
}

int liov_vm_queue_delete_sq(struct liov_vm *vm, u32 index)
{
	(void)vm, (void)index;
	return rig->queue_err;
}

int liov_vm_queue_delete_cq(struct liov_vm *vm, u32 index)
{
	(void)vm, (void)index;
	return rig->queue_err;
}

void liov_vm_queues_reset(struct liov_vm *vm)
{
	u32 qid;

	for (qid = 1; liov_device_mediated(vm) && qid <= NR_QUEUES; qid++)
		liov_mediator_delete_sq(vm, qid);
	for (qid = 1; liov_device_mediated(vm) && qid <= NR_QUEUES; qid++)
		liov_mediator_delete_cq(vm, qid);
}

void liov_vm_vector_update(struct liov_vm *vm, u16 vvec)
{
	(void)vm, (void)vvec;
	rig->nr_updates++;
}

int liov_vm_mem_register(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	(void)vm;
	if (gpa.v & 0xFFF || len_bytes & 0xFFF)
		return -EINVAL;
	return sim_vm_mem_is_ram(NULL, gpa, len_bytes) ? 0 : -EFAULT;
}

int liov_vm_mem_unregister(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	(void)vm, (void)gpa, (void)len_bytes;
	return -ENOSPC;
}

bool liov_vm_mem_check(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, bool hold)
{
	(void)vm;
	assert_true((gpa.v & 0xFFF) + len_bytes <= 4096);
	if (!liov_range_inside(RAM_BASE, rig->released_from - RAM_BASE, gpa.v, len_bytes))
		return false;
	rig->held[(gpa.v - RAM_BASE) / 4096] += hold;
	return true;
}

bool liov_vm_mem_may(struct liov_vm *vm, gpa_t gpa, u64 len_bytes, u32 need)
{
	(void)vm, (void)len_bytes;
	return !(need & PORT_WRITE) || (gpa.v & ~0xFFFull) != rig->read_only;
}

void liov_vm_mem_drop(struct liov_vm *vm, gpa_t gpa, u64 len_bytes)
{
	(void)vm, (void)len_bytes;
	assert_true(rig->held[(gpa.v - RAM_BASE) / 4096]--);
}

/* --- the guest --- */

static inline u32 rd32(u64 off)
{
	return (u32)liov_device_rd(&rig->vm, off, 4);
}

static inline void wr32(u64 off, u32 val)
{
	liov_device_wr(&rig->vm, off, val, 4);
}

static inline void *ram(u64 gpa)
{
	return rig->ram + (gpa - RAM_BASE);
}

static inline void rig_setup(enum liov_policy policy)
{
	u32 i;

	rig = test_calloc(1, sizeof(*rig));
	rig->be.info.cap = 0x3FF;
	rig->be.info.oncs = 0xFFFF;
	rig->be.info.lba_shift = 9;
	rig->be.info.mdts_bytes = 0x20000;
	rig->be.depth_max = 1024;
	rig->be.cfg = (struct liov_backend_config){ .policy = policy, .queue_depth = HW_DEPTH, .timeout_ns = 1000 };
	liov_extents_init(&rig->be.iovas, 0x100000, 0x10000000);
	rig->released_from = RAM_BASE + RAM_SIZE;
	rig->admin_phase = true;
	rig->vm.be = &rig->be;
	rig->vm.cfg = (struct liov_vm_config){ .id = 7, .nr_queues = NR_QUEUES, .nr_vectors = NR_QUEUES + 1 };
	rig->vm.lba = (struct liov_range){ LBA_START, LBA_COUNT };
	rig->vm.dma_offset = policy == LIOV_POLICY_MEDIATED ? DMA_OFFSET : 0;
	rig->vm.nsid = LIOV_HOST_NSID;
	rig->vm.pasid = LIOV_NO_PASID;
	rig->vm.cmb_size = CMB_SIZE;
	rig->vm.live = true;
	for (i = 0; i < (policy == LIOV_POLICY_MEDIATED ? 1 : NR_QUEUES); i++) {
		rig->hwq[i].qid = i + 1;
		rig->vm.queue[i] = &rig->hwq[i];
	}
	assert_int_equal(liov_device_init(&rig->vm), 0);
	if (policy == LIOV_POLICY_MEDIATED)
		assert_int_equal(liov_mediator_init(&rig->vm), 0);
}

/* Everything that was held is let go when the hardware has answered all. */
static inline void rig_teardown(void)
{
	if (liov_device_mediated(&rig->vm)) {
		liov_mediator_pause(&rig->vm);
		liov_mediator_fini(&rig->vm);
	}
	test_free(rig);
	rig = NULL;
}

static inline void rig_cfg_wr(u32 off, u32 val, u32 len)
{
	liov_device_cfg_wr(&rig->vm, off, val, len);
}

static inline u32 rig_find_cap(u8 id)
{
	u32 at = liov_device_cfg_rd(&rig->vm, PCIS_CAP_POINTER, 1);

	while (at && liov_device_cfg_rd(&rig->vm, at, 1) != id)
		at = liov_device_cfg_rd(&rig->vm, at + 1, 1);
	assert_int_not_equal(at, 0);
	return at;
}

#define CC_GOOD (1u | 6u << 16 | 4u << 20)

static inline void rig_enable(void)
{
	u32 v;

	rig_cfg_wr(PCIS_BAR(2), (u32)BAR2, 4);
	rig_cfg_wr(PCIS_BAR(3), (u32)(BAR2 >> 32), 4);
	for (v = 0; v <= NR_QUEUES; v++) {
		wr32(LIOV_BAR0_MSIX_TABLE + v * 16, 0xFEE01000);
		wr32(LIOV_BAR0_MSIX_TABLE + v * 16 + 8, 0x40 + v);
		wr32(LIOV_BAR0_MSIX_TABLE + v * 16 + 12, 0);
	}
	rig_cfg_wr(rig_find_cap(PCIS_CAP_ID_MSIX) + PCIS_MSIX_CONTROL, PCIS_MSIX_ENABLE, 2);
	wr32(NVME_REG_AQA, (ADMIN_ENTRIES - 1) << 16 | (ADMIN_ENTRIES - 1));
	liov_device_wr(&rig->vm, NVME_REG_ASQ, ASQ, 8);
	liov_device_wr(&rig->vm, NVME_REG_ACQ, ACQ, 8);
	wr32(NVME_REG_CC, CC_GOOD);
	assert_int_equal(rd32(NVME_REG_CSTS), 1);
	rig->admin_tail = rig->admin_head = 0;
	rig->admin_phase = true;
	memset(ram(ACQ), 0, 4096);
}

static inline void rig_admin_put(const struct nvme_sqe *sqe)
{
	memcpy(ram(ASQ + rig->admin_tail * 64), sqe, 64);
	rig->admin_tail = (rig->admin_tail + 1) % ADMIN_ENTRIES;
}

static inline void rig_admin_ring(void)
{
	wr32(0x1000, rig->admin_tail);
}

static bool rig_admin_get(struct nvme_cqe *cqe)
{
	memcpy(cqe, ram(ACQ + rig->admin_head * 16), 16);
	if ((cqe->status & 1) != rig->admin_phase)
		return false;
	rig->admin_head = (rig->admin_head + 1) % ADMIN_ENTRIES;
	if (rig->admin_head == 0)
		rig->admin_phase = !rig->admin_phase;
	wr32(0x1004, rig->admin_head);
	return true;
}

/* SCT << 8 | SC, with DNR as NVME_DNR. */
static inline u32 status_of_cqe(const struct nvme_cqe *cqe)
{
	return (cqe->status >> 1 & 0x7FF) | (cqe->status & 0x8000 ? DNR : 0);
}

static inline u32 rig_admin(struct nvme_sqe sqe, u32 *dw0)
{
	struct nvme_cqe cqe;

	sqe.cid = (u16)(0x100 + rig->admin_tail);
	rig_admin_put(&sqe);
	rig_admin_ring();
	assert_true(rig_admin_get(&cqe));
	assert_int_equal(cqe.cid, sqe.cid);
	if (dw0)
		*dw0 = cqe.dw0;
	return status_of_cqe(&cqe);
}

static inline u64 rig_slot(u32 qid)
{
	return BAR2 + 0x10000 + (qid - 1) * 0x20000ull;
}

static inline u32 rig_create_cq_at(u32 qid, u32 entries, u64 prp1, u32 cdw11)
{
	return rig_admin((struct nvme_sqe){ .opcode = 5, .cdw10 = qid | (entries - 1) << 16, .cdw11 = cdw11, .prp1 = prp1 }, NULL);
}

static inline u32 rig_create_sq_at(u32 qid, u32 entries, u64 prp1, u32 cqid)
{
	return rig_admin((struct nvme_sqe){ .opcode = 1, .cdw10 = qid | (entries - 1) << 16, .cdw11 = cqid << 16 | 1,
					    .prp1 = prp1 }, NULL);
}

#endif
