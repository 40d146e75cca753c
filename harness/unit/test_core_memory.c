// SPDX-License-Identifier: GPL-2.0
/* Registration of guest memory: what is refused, what is mapped, what an end waits for. */
#include "core_world.h"

#define RAM (1ull << 32)	/* of VM 1: 64 MiB */
#define MIB (1ull << 20)

static gpa_t at(u64 off)
{
	return (gpa_t){ RAM + off };
}

static struct liov_vm *locked_vm(struct world *w)
{
	struct port_vm *vm;
	int err = world_vm(w, 1, 1, &vm);

	CHECK_INT(err, 0);
	if (err)
		abort();
	port_mutex_lock(&vm->liov.lock);
	return &vm->liov;
}

static void refused(struct world *w)
{
	struct liov_vm *vm = locked_vm(w);

	CHECK_INT(liov_vm_mem_register(vm, at(0), 0), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(0x800), 0x1000), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(0), 0x1800), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(0), ~0xFFFull), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(64 * MIB), 0x1000), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(64 * MIB - 0x1000), 0x2000), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, (gpa_t){ RAM - 0x1000 }, 0x2000), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, (gpa_t){ 0x100000 }, 0x1000), -EINVAL);
	CHECK_INT(vm->nr_mem, 0);
	CHECK_INT(liov_vm_mem_register(vm, at(MIB), MIB), 0);
	CHECK_INT(liov_vm_mem_register(vm, at(MIB), MIB), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(0), MIB + 0x1000), -EINVAL);
	CHECK_INT(liov_vm_mem_register(vm, at(2 * MIB - 0x1000), 0x2000), -EINVAL);
	CHECK_INT(liov_vm_mem_unregister(vm, at(0), MIB), -EINVAL);
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB), MIB + 0x1000), -EINVAL);
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB), 0), -EINVAL);
	CHECK_INT(vm->nr_mem, 1);
}

static void test_register__bad_ranges__refused(void **state)
{
	world_run(*state, refused);
}

static void splits(struct world *w)
{
	struct liov_vm *vm = locked_vm(w);

	CHECK_INT(liov_vm_mem_register(vm, at(0), 4 * MIB), 0);
	CHECK(liov_vm_mem_check(vm, at(0), 4 * MIB, false));
	w->nr_log = 0;
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB), MIB), 0);
	CHECK_INT(world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_IOVA_REVOKED, RAM + MIB) < w->nr_log, 1);
	CHECK(liov_vm_mem_check(vm, at(0), MIB, false));
	CHECK(liov_vm_mem_check(vm, at(2 * MIB), 2 * MIB, false));
	CHECK(!liov_vm_mem_check(vm, at(MIB), 1, false));
	CHECK(!liov_vm_mem_check(vm, at(2 * MIB - 1), 1, false));
	CHECK(!liov_vm_mem_check(vm, at(MIB - 1), 2, false));
	CHECK_INT(vm->nr_mem, 2);
	/* The window of a resource domain stays what it was registered as. */
	CHECK_INT(vm->region[0].len_bytes, 4 * MIB);
	/* A balloon that comes back. */
	CHECK_INT(liov_vm_mem_register(vm, at(MIB), MIB), 0);
	CHECK(liov_vm_mem_check(vm, at(MIB), MIB, false));
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB), MIB), 0);
	CHECK_INT(liov_vm_mem_unregister(vm, at(0), MIB), 0);
	CHECK_INT(liov_vm_mem_unregister(vm, at(2 * MIB), 2 * MIB), 0);
	CHECK_INT(vm->nr_mem, 0);
	for (u32 i = 0; i < LIOV_MEM_RANGES_MAX; i++)
		CHECK_INT(vm->region[i].len_bytes, 0);
}

static void test_unregister__middle__neighbours_stay(void **state)
{
	world_run(*state, splits);
}

/* EXH-07: in 4 KiB steps until the table is full; nothing is lost by being refused. */
static void many(struct world *w)
{
	struct liov_vm *vm = locked_vm(w);
	u32 n = 0;

	while (n < 1000 && liov_vm_mem_register(vm, at(n * 0x2000ull), 0x1000) == 0)
		n++;
	CHECK_INT(n, LIOV_MEM_RANGES_MAX);
	CHECK_INT(liov_vm_mem_register(vm, at(32 * MIB), MIB), -ENOSPC);
	for (u32 i = 0; i < n; i++)
		CHECK_INT(liov_vm_mem_unregister(vm, at(i * 0x2000ull), 0x1000), 0);
	CHECK_INT(liov_vm_mem_register(vm, at(0), 64 * MIB), 0);
	/* Holes until no entry is left for another. */
	for (n = 0; n < 1000; n++)
		if (liov_vm_mem_unregister(vm, at(0x1000 + n * 0x2000ull), 0x1000))
			break;
	/* n holes make n + 1 entries; what is being released is one more until it is gone. */
	CHECK_INT(n, LIOV_MEM_RANGES_MAX - 2);
	CHECK(liov_vm_mem_check(vm, at(0x1000 + n * 0x2000ull), 0x1000, false));
}

static void test_register__too_many__refused(void **state)
{
	world_run(*state, many);
}

static void held(struct world *w)
{
	struct liov_vm *vm = locked_vm(w);
	u64 before = port_now_ns(w->be->home);

	CHECK_INT(liov_vm_mem_register(vm, at(0), 8 * MIB), 0);
	CHECK(liov_vm_mem_check(vm, at(MIB + 0x800), 0x3000, true));
	/* Its neighbours are no concern of it. */
	CHECK_INT(liov_vm_mem_unregister(vm, at(0), MIB), 0);
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB + 0x4000), 0x1000), 0);
	CHECK(port_now_ns(w->be->home) - before < w->be->cfg.timeout_ns);
	/* The last byte held is at 1 MiB + 37FFh. */
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB + 0x3000), 0x1000), -EBUSY);
	CHECK(port_now_ns(w->be->home) - before >= w->be->cfg.timeout_ns);
	CHECK(liov_vm_mem_check(vm, at(MIB), 0x4000, false));
	CHECK_INT(vm->nr_mem, 2);
	liov_vm_mem_drop(vm, at(MIB + 0x800), 0x3000);
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB + 0x3000), 0x1000), 0);
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB), 0x3000), 0);
	CHECK(!liov_vm_mem_check(vm, at(MIB), 1, true));
	CHECK_INT(liov_vm_mem_unregister(vm, at(MIB + 0x5000), 8 * MIB - MIB - 0x5000), 0);
	CHECK_INT(vm->nr_mem, 0);
}

static void test_unregister__held__waits_and_is_refused(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, held);
}

struct dropper {
	struct liov_vm *vm;
	struct world *w;
	bool refused_meanwhile;
};

static void drop_later(void *arg)
{
	struct dropper *d = arg;

	port_sleep_ns(d->w->be->home, 1000000);
	d->refused_meanwhile = !liov_vm_mem_check(d->vm, at(0x1000), 0x1000, true) &&
			       liov_vm_mem_check(d->vm, at(0x3000), 0x1000, false);
	liov_vm_mem_drop(d->vm, at(0x1000), 0x1000);
}

static void waits(struct world *w)
{
	static struct dropper d;
	struct liov_vm *vm = locked_vm(w);

	d = (struct dropper){ vm, w, false };
	CHECK_INT(liov_vm_mem_register(vm, at(0), MIB), 0);
	CHECK(liov_vm_mem_check(vm, at(0x1000), 0x1000, true));
	CHECK(machine_task(w->m, "drop", drop_later, &d) != NULL);
	CHECK_INT(liov_vm_mem_unregister(vm, at(0x1000), 0x2000), 0);
	/* LIF-08: refused at once, released when the last command had ended. */
	CHECK(d.refused_meanwhile);
}

static void test_unregister__command_ends__released(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, waits);
}

static void offset(struct world *w)
{
	struct port_vm *a, *b;

	/* The same guest addresses twice: windows keep them apart. */
	w->vm_cfg = (struct vm_config){ .id = 1, .name = "vm", .vcpus = 1, .nr_ram = 1, .liov = { .nr_queues = 1, .lbas = 64 } };
	w->vm_cfg.ram[0].len_bytes = 16 * MIB;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &a), 0);
	w->vm_cfg.id = 2;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &b), 0);
	CHECK_INT(a->liov.dma_offset, 1ull << 40);
	CHECK_INT(b->liov.dma_offset, (1ull << 40) + (1ull << 34));
	port_mutex_lock(&a->liov.lock);
	port_mutex_lock(&b->liov.lock);
	CHECK_INT(liov_vm_mem_register(&a->liov, (gpa_t){ 0 }, 16 * MIB), 0);
	CHECK_INT(liov_vm_mem_register(&b->liov, (gpa_t){ 0 }, 16 * MIB), 0);
	port_mutex_unlock(&a->liov.lock);
	port_mutex_unlock(&b->liov.lock);
	/* Memory past the window. */
	w->vm_cfg.id = 3;
	w->vm_cfg.ram[0].gpa = (1ull << 34) - MIB;
	CHECK_INT(vm_create(w->m, &w->vm_cfg, &a), -EINVAL);
}

static void test_create__dma_offset__windows_of_their_own(void **state)
{
	struct world *w = *state;

	w->cfg.backend.dma_offset = true;
	world_run(w, offset);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_register__bad_ranges__refused),
		T(test_unregister__middle__neighbours_stay),
		T(test_register__too_many__refused),
		T(test_unregister__held__waits_and_is_refused),
		T(test_unregister__command_ends__released),
		T(test_create__dma_offset__windows_of_their_own),
	};

	return cmocka_run_group_tests_name("core_memory", tests, NULL, NULL);
}
