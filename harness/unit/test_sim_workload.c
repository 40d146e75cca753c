// SPDX-License-Identifier: GPL-2.0
/*
 * The generator's own checks, each against what it is to find: data that is not what was
 * written, a request that is lost, a completion too many.
 */
#include "core_world.h"
#include "workload/workload.h"

#define RAM (1ull << 32)
#define FIRST 0x400			/* of the VM's blocks: where the workload works */
#define SPAN 64
#define SECOND (1000 * PS_PER_MS)

static struct port_vm *vm;

static bool guest(struct world *w)
{
	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	if (w->failed_line)
		return false;
	task_current()->gvcpu = &vm->gv[0];
	CHECK_INT(vm_frontend_start(vm, 2, 64), 0);
	return w->failed_line == 0;
}

static const struct workload_config reads = {
	.depth = 4, .blocks = 8, .read_percent = 100, .first_block = FIRST, .span_blocks = SPAN, .requests = 64,
	.verify = true, .seed = 1,
};

static struct workload *started(struct world *w, const struct workload_config *cfg)
{
	struct workload *one = workload_start(vm, cfg);

	CHECK(one != NULL);
	if (!one)
		abort();
	return one;
}

static struct workload_result ran(struct world *w, const struct workload_config *cfg)
{
	struct workload *one = started(w, cfg);
	struct workload_result r;

	CHECK(workload_join(one, SECOND));
	r = workload_result(one);
	CHECK_INT(r.latency->count, r.completed);
	r.latency = NULL;
	workload_free(one);
	return r;
}

/* Block @b of the VM, on the medium. */
static u64 medium(u64 b)
{
	return (vm->liov.lba.start + b) * 512;
}

/* --- all is well --- */

static void mixed(struct world *w)
{
	struct workload_config cfg = reads;
	struct workload_result r;
	u32 i;

	if (!guest(w))
		return;
	cfg.read_percent = 50;
	cfg.random = true;
	cfg.requests = 2000;
	cfg.depth = 16;
	r = ran(w, &cfg);
	CHECK_INT(r.submitted, 2000);
	CHECK_INT(r.completed, 2000);
	CHECK_INT(r.wrong + r.errors + r.twice + r.outstanding, 0);
	CHECK(r.first_ps > 0 && r.last_ps > r.first_ps);
	/* It wrote where it was told to, and nowhere else. */
	for (i = 0; i < 32; i++) {
		CHECK(store_sector_is(w->m->media, medium(FIRST - 32 + i), STORE_TAG_ZERO));
		CHECK(store_sector_is(w->m->media, medium(FIRST + SPAN + i), STORE_TAG_ZERO));
	}
	for (i = 0; i < SPAN; i++)
		CHECK(!store_sector_is(w->m->media, medium(FIRST + i), STORE_TAG_ZERO));
}

static void test_workload__reads_and_writes__all_right(void **state)
{
	world_run(*state, mixed);
}

static void stock(struct world *w)
{
	struct vm_config c = {
		.id = 1, .name = "vm", .vcpus = 1, .nr_ram = 1, .ram = { { RAM, 64 << 20 } },
		.liov = { .nr_queues = 1, .lbas = 0x100000, .register_all = true },
	};
	struct workload_config cfg = reads;
	struct workload_result r;

	CHECK_INT(vm_create(w->m, &c, &vm), 0);
	if (w->failed_line)
		return;
	task_current()->gvcpu = &vm->gv[0];
	CHECK_INT(stock_start(vm, 1, 32, &cfg.stock), 0);
	cfg.read_percent = 50;
	cfg.requests = 500;
	r = ran(w, &cfg);
	CHECK_INT(r.completed, 500);
	CHECK_INT(r.wrong + r.errors + r.twice + r.outstanding, 0);
	cfg.blocks = 24;	/* more than two pages: this driver has no lists */
	CHECK(workload_start(vm, &cfg) == NULL);
	stock_stop(cfg.stock);
}

static void test_workload__stock_driver__all_right(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, stock);
}

/* --- wrong data --- */

static void changed(struct world *w)
{
	struct workload_result r;

	if (!guest(w))
		return;
	/* One sector of the last chunk: of 64 requests over 8 chunks, 8 read it. */
	store_write_tag(w->m->media, medium(FIRST + SPAN - 1), 0xBAD);
	r = ran(w, &reads);
	CHECK_INT(r.completed, 64);
	CHECK_INT(r.wrong, 8);
	CHECK_INT(r.errors, 0);
}

static void test_workload__medium_changed__wrong(void **state)
{
	world_run(*state, changed);
}

/* A write that was acknowledged and is not there: what was there before is read. */
static void write_lost(struct world *w)
{
	struct workload_config cfg = reads;
	struct workload *one;
	struct workload_result r;
	u64 old;
	bool known;
	u32 i;

	if (!guest(w))
		return;
	cfg.read_percent = 50;
	cfg.depth = 1;
	cfg.span_blocks = 8;
	cfg.requests = 0;
	one = started(w, &cfg);
	for (i = 0; i < 1000 && workload_result(one).completed < 50; i++)
		task_sleep(50 * PS_PER_US);
	CHECK_INT(workload_result(one).wrong, 0);
	known = store_sector_tag(w->m->media, medium(FIRST), &old);
	CHECK(known && old != STORE_TAG_ZERO);
	/* Put the first content back until it is seen: a write may heal it first. */
	for (i = 0; i < 1000 && workload_result(one).wrong == 0; i++) {
		task_sleep(200 * PS_PER_US);
		store_write_tag(w->m->media, medium(FIRST), old);
	}
	CHECK(workload_stop(one, SECOND));
	r = workload_result(one);
	CHECK(r.wrong > 0);
	CHECK_INT(r.outstanding, 0);
	workload_free(one);
}

static void test_workload__stale_generation__wrong(void **state)
{
	world_run(*state, write_lost);
}

/* A read whose data the IOMMU drops is reported as done (writes are posted): the buffer tells. */
static void dropped(struct world *w)
{
	struct workload_result r;
	u64 all = 64 << 20;

	if (!guest(w))
		return;
	host_iommu_unmap(w->m->host, RAM, all);
	port_iommu_sync(w->m->host);
	r = ran(w, &reads);
	CHECK_INT(r.completed, 64);
	CHECK_INT(r.errors, 0);
	CHECK_INT(r.wrong, 64);
	/* Teardown unmaps what is mapped. */
}

static void test_workload__data_never_came__wrong(void **state)
{
	world_run(*state, dropped);
}

static void not_verified(struct world *w)
{
	struct workload_config cfg = reads;
	struct workload_result r;

	if (!guest(w))
		return;
	cfg.verify = false;
	store_write_tag(w->m->media, medium(FIRST), 0xBAD);
	r = ran(w, &cfg);
	CHECK_INT(r.completed, 64);
	CHECK_INT(r.wrong, 0);
}

static void test_workload__not_asked_to_verify__does_not(void **state)
{
	world_run(*state, not_verified);
}

/* --- completions --- */

static void (*complete)(void *opaque, void *cookie, u16 status);
static u32 completions;

static void completes_twice(void *opaque, void *cookie, u16 status)
{
	complete(opaque, cookie, status);
	if (++completions % 8 == 0)
		complete(opaque, cookie, status);
}

static void twice(struct world *w)
{
	struct workload_result r;

	if (!guest(w))
		return;
	completions = 0;
	complete = vm->guest.complete;
	vm->guest.complete = completes_twice;
	r = ran(w, &reads);
	CHECK_INT(r.completed, 64);
	CHECK_INT(r.twice, 8);
	CHECK_INT(r.outstanding, 0);
	CHECK_INT(r.wrong, 0);
}

static void test_workload__completed_twice__counted(void **state)
{
	world_run(*state, twice);
}

static void loses_the_10th(void *opaque, void *cookie, u16 status)
{
	if (++completions != 10)
		complete(opaque, cookie, status);
}

static struct workload *load;

static void lost(struct world *w)
{
	struct workload_result r;

	if (!guest(w))
		return;
	completions = 0;
	complete = vm->guest.complete;
	vm->guest.complete = loses_the_10th;
	load = started(w, &reads);
	/* The end is waited for in vain; the rest went on. */
	CHECK(!workload_join(load, 100 * PS_PER_MS));
	r = workload_result(load);
	CHECK_INT(r.submitted, 64);
	CHECK_INT(r.completed, 63);
	CHECK_INT(r.outstanding, 1);
	CHECK(!workload_stop(load, PS_PER_MS));
	CHECK_INT(workload_result(load).outstanding, 1);
}

static void test_workload__completion_lost__stays_outstanding(void **state)
{
	world_run(*state, lost);
	/* Its task stood on it until the machine went. */
	workload_free(load);
}

static void fails(void *opaque, void *cookie, u16 status)
{
	complete(opaque, cookie, ++completions % 2 ? status : 0x281);
}

static void failed(struct world *w)
{
	struct workload_result r;

	if (!guest(w))
		return;
	completions = 0;
	complete = vm->guest.complete;
	vm->guest.complete = fails;
	r = ran(w, &reads);
	CHECK_INT(r.completed, 64);
	CHECK_INT(r.errors, 32);
	CHECK_INT(r.wrong, 0);
}

static void test_workload__status__an_error_and_not_wrong(void **state)
{
	world_run(*state, failed);
}

static u32 every;

static void fails_every(void *opaque, void *cookie, u16 status)
{
	complete(opaque, cookie, ++completions % every ? status : 0x281);
}

/* A write that failed may have been done or not: either is right, until the next that succeeds. */
static void writes_fail(struct world *w)
{
	struct workload_config cfg = reads;
	struct workload_result r;

	if (!guest(w))
		return;
	cfg.read_percent = 70;
	cfg.requests = 1000;
	completions = 0;
	every = 3;
	complete = vm->guest.complete;
	vm->guest.complete = fails_every;
	r = ran(w, &cfg);
	CHECK_INT(r.completed, 1000);
	CHECK_INT(r.errors, 333);
	CHECK_INT(r.wrong, 0);
}

static void test_workload__writes_fail_though_done__not_wrong(void **state)
{
	world_run(*state, writes_fail);
}

/* --- configuration --- */

static void bad(struct world *w)
{
	struct workload_config c;

	if (!guest(w))
		return;
	c = reads;
	c.depth = 0;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.depth = LIOV_QUEUE_DEPTH_MAX;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.blocks = 0;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.blocks = 257;
	c.span_blocks = 1024;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.read_percent = 101;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.span_blocks = 7;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.first_block = 0x100000 - SPAN + 1;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.first_block = ~0ull;
	CHECK(!workload_start(vm, &c));
	c = reads;
	c.span_blocks = 0x100008;
	CHECK(!workload_start(vm, &c));
	vm_frontend_stop(vm);
	CHECK(!workload_start(vm, &reads));
}

static void test_workload_start__bad_configuration__null(void **state)
{
	world_run(*state, bad);
}

static void test_workload_tag__vm_block_generation__all_differ(void **state)
{
	static u64 tags[3 * 16 * 16];
	u32 v, b, g, n = 0, i, k;

	(void)state;
	for (v = 0; v < 3; v++)
		for (b = 0; b < 16; b++)
			for (g = 0; g < 16; g++)
				tags[n++] = workload_tag(v, b * 8, g);
	for (i = 0; i < n; i++) {
		assert_int_not_equal(tags[i], STORE_TAG_ZERO);
		for (k = 0; k < i; k++)
			assert_int_not_equal(tags[i], tags[k]);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_workload__reads_and_writes__all_right),
		TEST(test_workload__stock_driver__all_right),
		TEST(test_workload__medium_changed__wrong),
		TEST(test_workload__stale_generation__wrong),
		TEST(test_workload__data_never_came__wrong),
		TEST(test_workload__not_asked_to_verify__does_not),
		TEST(test_workload__completed_twice__counted),
		TEST(test_workload__completion_lost__stays_outstanding),
		TEST(test_workload__status__an_error_and_not_wrong),
		TEST(test_workload__writes_fail_though_done__not_wrong),
		TEST(test_workload_start__bad_configuration__null),
		cmocka_unit_test(test_workload_tag__vm_block_generation__all_differ),
	};

	return cmocka_run_group_tests_name("sim_workload", tests, NULL, NULL);
}
