// SPDX-License-Identifier: GPL-2.0
/*
 * Every call that can fail, failing once: nothing may be left, and a retry must work
 * (LIF-10). The backend's sources are compiled in here, on a port whose calls can be told to
 * fail.
 */
#define sim_alloc	failing_alloc
#define sim_pages_alloc	failing_pages_alloc
#define sim_iommu_map	failing_iommu_map
#define sim_iommu_map_vm failing_iommu_map_vm
#define sim_pasid_alloc	failing_pasid_alloc
#define sim_pasid_map	failing_pasid_map
#define sim_pasid_map_vm failing_pasid_map_vm
#define sim_irq_request	failing_irq_request
#define sim_vm_mem_pin	failing_vm_mem_pin
#include "liov/port_host.h"
#undef sim_alloc
#undef sim_pages_alloc
#undef sim_iommu_map
#undef sim_iommu_map_vm
#undef sim_pasid_alloc
#undef sim_pasid_map
#undef sim_pasid_map_vm
#undef sim_irq_request
#undef sim_vm_mem_pin
#include "core_world.h"

void *sim_alloc(struct port_home *home, size_t bytes);
int sim_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p);
int sim_iommu_map(struct port_host *h, iova_t iova, u64 hpa, u64 len, u32 prot);
int sim_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot);
int sim_pasid_alloc(struct port_host *h, u32 *pasid);
int sim_pasid_map(struct port_host *h, u32 pasid, iova_t iova, u64 hpa, u64 len, u32 prot);
int sim_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot);
int sim_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg);
int sim_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len);

static u32 fail_in;	/* calls until the one that fails; 0: none does */
static bool failed;

static bool fails(void)
{
	if (fail_in == 0 || --fail_in != 0)
		return false;
	failed = true;
	return true;
}

void *failing_alloc(struct port_home *home, size_t bytes)
{
	return fails() ? NULL : sim_alloc(home, bytes);
}

int failing_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p)
{
	return fails() ? -ENOMEM : sim_pages_alloc(h, nr, p);
}

int failing_iommu_map(struct port_host *h, iova_t iova, u64 hpa, u64 len, u32 prot)
{
	return fails() ? -ENOMEM : sim_iommu_map(h, iova, hpa, len, prot);
}

int failing_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot)
{
	return fails() ? -ENOMEM : sim_iommu_map_vm(h, iova, vm, gpa, len, prot);
}

int failing_pasid_alloc(struct port_host *h, u32 *pasid)
{
	return fails() ? -ENOMEM : sim_pasid_alloc(h, pasid);
}

int failing_pasid_map(struct port_host *h, u32 pasid, iova_t iova, u64 hpa, u64 len, u32 prot)
{
	return fails() ? -ENOMEM : sim_pasid_map(h, pasid, iova, hpa, len, prot);
}

int failing_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot)
{
	return fails() ? -ENOMEM : sim_pasid_map_vm(h, pasid, iova, vm, gpa, len, prot);
}

int failing_irq_request(struct port_host *h, u32 vec, void (*fn)(void *arg), void *arg)
{
	return fails() ? -ENOMEM : sim_irq_request(h, vec, fn, arg);
}

int failing_vm_mem_pin(struct port_vm *vm, gpa_t gpa, u64 len)
{
	return fails() ? -ENOMEM : sim_vm_mem_pin(vm, gpa, len);
}

#include "admin.c"
#include "backend.c"
#include "ctrl.c"
#include "extent.c"
#include "hostio.c"
#include "hwq.c"
#include "memory.c"
#include "page.c"
#include "siov.c"
#include "teardown.c"

struct counts {
	u64 free_lbas, free_iovas, windows;
	u64 free_queues, requested, vms;	/* no padding: compared as bytes */
};

static u64 sum(const struct liov_extents *x)
{
	u64 n = 0;

	for (u32 i = 0; i < x->nr; i++)
		n += x->free[i].count;
	return n;
}

static struct counts count(struct world *w)
{
	struct counts c = { sum(&w->be->lbas), sum(&w->be->iovas), sum(&w->be->windows), 0, 0, 0 };

	for (u32 q = 1; w->be->hwq && q <= w->be->info.io_queues; q++)
		c.free_queues += w->be->hwq[q].state == LIOV_HWQ_FREE;
	for (u32 v = 0; v < w->m->host->nr_vectors; v++)
		c.requested += w->m->host->irq[v].requested;
	for (u32 i = 0; i < LIOV_VMS_MAX; i++)
		c.vms += w->be->vms[i] != NULL;
	return c;
}

static void start(struct world *w)
{
	u32 k;

	for (k = 1; k < 200; k++) {
		int err;

		failed = false;
		fail_in = k;
		err = liov_backend_start(w->be, w->m->host, &w->cfg.backend);
		fail_in = 0;
		if (!failed)
			break;
		CHECK(err < 0);
		CHECK(!w->be->started);
		CHECK(!w->m->host->pages);
		CHECK(!w->m->host->home.chunks);
		CHECK_INT(count(w).requested, 0);
	}
	CHECK(k > 10 && k < 200);
	CHECK(w->be->started);
	CHECK_INT(liov_host_io(w->be, w->be->hostq, NVME_CMD_FLUSH, (plba_t){ 0 }, 0, NULL), 0);
}

static void test_start__each_call_fails_once__nothing_left(void **state)
{
	world_run_without_boot(*state, start);
}

static void create(struct world *w)
{
	struct counts before = count(w), after;
	void *chunks = w->m->host->home.chunks;
	struct port_vm *vm;
	u32 k;

	for (k = 1; k < 200; k++) {
		struct vm_config *c = &w->vm_cfg;
		int err;

		*c = (struct vm_config){ .id = 1, .name = "vm", .vcpus = 1, .nr_ram = 2 };
		for (u32 i = 0; i < 2; i++) {
			c->ram[i].gpa = (4ull + i) << 30;
			c->ram[i].len_bytes = 16 << 20;
		}
		c->liov = (struct liov_vm_config){ .nr_queues = 3, .lbas = 0x1000, .register_all = true };
		failed = false;
		fail_in = k;
		err = vm_create(w->m, c, &vm);
		fail_in = 0;
		if (!failed)
			break;
		CHECK(err < 0);
		after = count(w);
		CHECK(memcmp(&before, &after, sizeof(after)) == 0);
		CHECK(w->m->host->home.chunks == chunks);
		CHECK_INT(w->m->vms[1]->pinned_bytes, 0);
		world_forget(w, 1);
	}
	CHECK(k > 12 && k < 200);
	CHECK_INT(vm->liov.nr_mem, 2);
	CHECK_INT(vm->liov.queue[0]->qid, 2);
	CHECK_INT(vm->liov.lba.start, 0x100000);
	vm_destroy(vm);
	after = count(w);
	CHECK(memcmp(&before, &after, sizeof(after)) == 0);
	CHECK_INT(w->be->nr_quarantined, 0);
}

static void test_vm_create__each_call_fails_once__nothing_left(void **state)
{
	world_run(*state, create);
}

static void test_vm_create__nrd__nothing_left(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_NRD;
	w->cfg.backend.dma_offset = true;
	w->cfg.ssd.resource_domains = true;
	w->cfg.ssd.dstrd = 10;
	world_run(w, create);
}

/* ... nor a PASID, nor a namespace: the blocks can be had again. */
static void create_siov(struct world *w)
{
	create(w);
	for (u32 i = 1; i < HOST_PASIDS; i++)
		CHECK_INT(w->m->host->space[i].top.v, 0);
	CHECK_INT(w->be->lbas.nr, 1);
	CHECK_INT(w->be->lbas.free[0].start, w->be->info.nsze);
}

static void test_vm_create__siov__nothing_left(void **state)
{
	struct world *w = *state;

	machine_config_policy(&w->cfg, LIOV_POLICY_SIOV);
	world_run(w, create_siov);
}

static void test_vm_create__mediated__nothing_left(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, create);
}

static void queue(struct world *w)
{
	struct port_vm *vm;
	int err;

	CHECK_INT(world_vm(w, 1, 1, &vm), 0);
	port_mutex_lock(&vm->liov.lock);
	for (u32 k = 1; k < 5; k++) {
		failed = false;
		fail_in = k;
		err = liov_vm_mem_register(&vm->liov, (gpa_t){ 1ull << 32 }, 1 << 20);
		fail_in = 0;
		if (!failed)
			break;
		CHECK(err < 0);
		CHECK_INT(vm->liov.nr_mem, 0);
		CHECK_INT(vm->pinned_bytes, 0);
		for (u32 i = 0; i < LIOV_MEM_RANGES_MAX; i++)
			CHECK_INT(vm->liov.region[i].len_bytes, 0);
	}
	CHECK(!failed && err == 0);
	port_mutex_unlock(&vm->liov.lock);
	vm_destroy(vm);
}

static void test_register__each_call_fails_once__nothing_left(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, queue);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_start__each_call_fails_once__nothing_left),
		T(test_vm_create__each_call_fails_once__nothing_left),
		T(test_vm_create__nrd__nothing_left),
		T(test_vm_create__siov__nothing_left),
		T(test_vm_create__mediated__nothing_left),
		T(test_register__each_call_fails_once__nothing_left),
	};

	return cmocka_run_group_tests_name("core_rollback", tests, NULL, NULL);
}
