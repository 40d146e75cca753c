// SPDX-License-Identifier: GPL-2.0
/*
 * Address spaces by PASID as the simulated host makes and ends them, and what the unit makes of that
 * (VT-d 3.4, 6.2, 6.5); and PASID and namespace of a VM whose end went wrong.
 */
#include "core_world.h"
#include "liov/port_host.h"
#include "spec/vtd.h"

#define PAGE 0x1000ull
#define IOVA (1ull << 41)
#define RW (PORT_READ | PORT_WRITE)

static u64 dma(const struct world *w, u32 pasid, u64 iova)
{
	hpa_t hpa = { 0 };
	u64 latency = 0;

	return vtd_translate(w->m->vtd, MACHINE_SSD_RID, pasid, (iova_t){ iova }, true, &hpa, &latency) == VTD_OK ? hpa.v : ~0ull;
}

static int map(struct world *w, u32 pasid, u64 iova, u64 hpa)
{
	return sim_pasid_map(w->m->host, pasid, (iova_t){ iova }, hpa, PAGE, RW);
}

static void apart(struct world *w)
{
	struct port_host *h = w->m->host;
	u32 a, b;

	CHECK_INT(port_pasid_alloc(h, &a), 0);
	CHECK_INT(port_pasid_alloc(h, &b), 0);
	CHECK(a && b && a != b);
	CHECK_INT(map(w, a, IOVA, 0x5000000), 0);
	CHECK_INT(map(w, b, IOVA, 0x6000000), 0);
	CHECK_INT(map(w, b, IOVA + PAGE, 0x6001000), 0);
	CHECK_INT(dma(w, a, IOVA), 0x5000000);
	CHECK_INT(dma(w, b, IOVA), 0x6000000);
	CHECK_INT(dma(w, a, IOVA + PAGE), ~0ull);
	CHECK_INT(dma(w, VTD_NO_PASID, IOVA), ~0ull);
	CHECK_INT(dma(w, b, IOVA + PAGE), 0x6001000);
	/* One is taken away, from the cache too, and the other stays. */
	port_pasid_unmap(h, b, (iova_t){ IOVA }, PAGE);
	port_pasid_sync(h, b);
	CHECK_INT(dma(w, b, IOVA), ~0ull);
	CHECK_INT(dma(w, a, IOVA), 0x5000000);
}

static void ended(struct world *w)
{
	struct port_host *h = w->m->host;
	u64 frames = h->low.nr;
	u32 a, again;

	CHECK_INT(port_pasid_alloc(h, &a), 0);
	CHECK_INT(map(w, a, IOVA, 0x5000000), 0);
	CHECK_INT(dma(w, a, IOVA), 0x5000000);
	port_pasid_free(h, a);
	CHECK_INT(dma(w, a, IOVA), ~0ull);		/* no entry, and none that was cached */
	CHECK_INT(h->low.nr, frames);
	/* Who is given the number next finds nothing of it. */
	CHECK_INT(port_pasid_alloc(h, &again), 0);
	CHECK_INT(again, a);
	CHECK_INT(map(w, again, IOVA + PAGE, 0x7000000), 0);
	CHECK_INT(dma(w, again, IOVA + PAGE), 0x7000000);
	CHECK_INT(dma(w, again, IOVA), ~0ull);
}

static void used_up(struct world *w)
{
	struct port_host *h = w->m->host;
	u32 p[HOST_PASIDS], more;

	for (u32 i = 1; i < HOST_PASIDS; i++) {
		CHECK_INT(port_pasid_alloc(h, &p[i]), 0);
		CHECK_INT(p[i], i);
	}
	CHECK_INT(port_pasid_alloc(h, &more), -ENOSPC);
	port_pasid_free(h, 17);
	CHECK_INT(port_pasid_alloc(h, &more), 0);
	CHECK_INT(more, 17);
}

static void not_there(struct world *w)
{
	u32 pasid;

	CHECK_INT(port_pasid_alloc(w->m->host, &pasid), -EOPNOTSUPP);
}

/* --- the end of a VM --- */

static void come_and_go(struct world *w)
{
	struct port_vm *vm;
	u32 pasid = 0, nsid = 0;

	for (u32 i = 0; i < 3; i++) {
		CHECK_INT(world_vm(w, 1, 1, &vm), 0);
		CHECK(vm->liov.pasid && vm->liov.pasid < HOST_PASIDS && vm->liov.nsid > 1);
		if (i) {
			CHECK_INT(vm->liov.pasid, pasid);
			CHECK_INT(vm->liov.nsid, nsid);
		}
		pasid = vm->liov.pasid;
		nsid = vm->liov.nsid;
		liov_vm_destroy(&vm->liov);
		CHECK_INT(vm->liov.pasid, LIOV_NO_PASID);
		CHECK_INT(w->m->host->space[pasid].top.v, 0);
		world_forget(w, 1);
	}
}

/* A command of the host's in its namespace never came back: it may yet write there, until a reset. */
static void unquiet(struct world *w)
{
	struct fault_site *silent = &nvme_faults(w->m->nvme)->silent;
	struct liov_grave *g;
	struct port_vm *vm;
	u32 pasid, nsid;

	*silent = (struct fault_site){ .armed = true, .key = w->be->hostq->qid, .left = 1 };
	CHECK(world_vm(w, 1, 1, &vm) < 0);
	*silent = (struct fault_site){ .armed = false };
	g = w->be->graves;
	CHECK(g && g->pasid < HOST_PASIDS && g->nsid > 1);
	if (!g)
		return;
	pasid = g->pasid;
	nsid = g->nsid;
	CHECK(w->m->host->space[pasid].top.v != 0);
	CHECK_INT(liov_backend_reset(w->be), 0);
	CHECK(!w->be->graves);
	CHECK_INT(w->m->host->space[pasid].top.v, 0);
	CHECK_INT(world_vm(w, 2, 1, &vm), 0);
	CHECK_INT(vm->liov.pasid, pasid);
	CHECK_INT(vm->liov.nsid, nsid);
}

static void run(struct world *w, void (*fn)(struct world *w))
{
	machine_config_policy(&w->cfg, LIOV_POLICY_SIOV);
	world_run(w, fn);
}

static void test_pasids__same_address__each_its_own_memory(void **state) { run(*state, apart); }
static void test_pasid_free__translations_left__nobody_uses_them(void **state) { run(*state, ended); }
static void test_pasid_alloc__used_up__refused(void **state) { run(*state, used_up); }
static void test_pasid_alloc__legacy_mode__refused(void **state) { world_run(*state, not_there); }
static void test_vm__comes_and_goes__pasid_and_namespace_with_it(void **state) { run(*state, come_and_go); }
static void test_vm__end_without_quiet__both_kept_until_reset(void **state) { run(*state, unquiet); }

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pasids__same_address__each_its_own_memory),
		TEST(test_pasid_free__translations_left__nobody_uses_them),
		TEST(test_pasid_alloc__used_up__refused),
		TEST(test_pasid_alloc__legacy_mode__refused),
		TEST(test_vm__comes_and_goes__pasid_and_namespace_with_it),
		TEST(test_vm__end_without_quiet__both_kept_until_reset),
	};

	return cmocka_run_group_tests_name("sim_pasid", tests, NULL, NULL);
}
