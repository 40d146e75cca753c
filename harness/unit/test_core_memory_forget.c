// SPDX-License-Identifier: GPL-2.0
/* Guest memory that the home takes away: unmapped and unpinned, whatever the VM does. */
#include "core_world.h"

#define RAM (1ull << 32)	/* of VM 1: 64 MiB */
#define MIB (1ull << 20)

static gpa_t at(u64 off)
{
	return (gpa_t){ RAM + off };
}

/* Takes the VM's lock for the calls that want it held. */
static int reg(struct liov_vm *vm, u64 off, u64 len)
{
	int err;

	port_mutex_lock(&vm->lock);
	err = liov_vm_mem_register(vm, at(off), len);
	port_mutex_unlock(&vm->lock);
	return err;
}

static int unreg(struct liov_vm *vm, u64 off, u64 len)
{
	int err;

	port_mutex_lock(&vm->lock);
	err = liov_vm_mem_unregister(vm, at(off), len);
	port_mutex_unlock(&vm->lock);
	return err;
}

static bool revoked(struct world *w, u64 off)
{
	return world_find(w, 0, LIOV_TRACE_GUARD, LIOV_GUARD_IOVA_REVOKED, RAM + off) < w->nr_log;
}

static void parts(struct world *w)
{
	struct port_vm *p;

	CHECK_INT(world_vm(w, 1, 1, &p), 0);
	CHECK_INT(reg(&p->liov, 0, 4 * MIB), 0);
	CHECK_INT(reg(&p->liov, 8 * MIB, MIB), 0);
	CHECK_INT(p->pinned_bytes, 5 * MIB);
	/* Nothing of it is registered. */
	liov_vm_mem_forget(&p->liov, at(4 * MIB), 4 * MIB);
	liov_vm_mem_forget(&p->liov, at(0), 0);
	liov_vm_mem_forget(&p->liov, at(0), ~0ull);
	CHECK_INT(p->pinned_bytes, 5 * MIB);
	/* The end of one, all of another, and what is not whole pages. */
	liov_vm_mem_forget(&p->liov, at(3 * MIB + 0x800), 7 * MIB);
	CHECK(revoked(w, 3 * MIB) && revoked(w, 8 * MIB));
	CHECK_INT(p->pinned_bytes, 3 * MIB);
	CHECK(liov_vm_mem_check(&p->liov, at(0), 3 * MIB, false));
	CHECK(!liov_vm_mem_check(&p->liov, at(3 * MIB), 1, false));
	CHECK(!liov_vm_mem_check(&p->liov, at(8 * MIB), 1, false));
	CHECK_INT(p->liov.nr_mem, 1);
	/* It may come back. */
	CHECK_INT(reg(&p->liov, 3 * MIB, MIB), 0);
	liov_vm_mem_forget(&p->liov, at(0), 64 * MIB);
	CHECK_INT(p->liov.nr_mem, 0);
	CHECK_INT(p->pinned_bytes, 0);
}

static void test_forget__parts__only_these(void **state)
{
	world_run(*state, parts);
}

/* Pages that are counted in 2^64 bytes must not come to none. */
static void everything(struct world *w)
{
	struct port_vm *p;

	CHECK_INT(world_vm(w, 1, 1, &p), 0);
	CHECK_INT(reg(&p->liov, 0, 4 * MIB), 0);
	CHECK_INT(p->pinned_bytes, 4 * MIB);
	liov_vm_mem_forget(&p->liov, (gpa_t){ 0 }, ~0ull);
	CHECK_INT(p->pinned_bytes, 0);
	CHECK_INT(p->liov.nr_mem, 0);
}

static void test_forget__all_addresses__everything(void **state)
{
	world_run(*state, everything);
}

static void full(struct world *w)
{
	struct port_vm *p;
	u32 n = 0;

	CHECK_INT(world_vm(w, 1, 1, &p), 0);
	CHECK_INT(reg(&p->liov, 0, 64 * MIB), 0);
	while (n < 1000 && unreg(&p->liov, 0x1000 + n * 0x2000ull, 0x1000) == 0)
		n++;
	CHECK(n > 0 && n < 1000);
	/* The last entry is the rest of the memory: there is no room to split it. */
	liov_vm_mem_forget(&p->liov, at(32 * MIB), 0x1000);
	CHECK(!liov_vm_mem_check(&p->liov, at(32 * MIB), 0x1000, false));
	CHECK(!liov_vm_mem_check(&p->liov, at(63 * MIB), 0x1000, false));
	CHECK(liov_vm_mem_check(&p->liov, at(0), 0x1000, false));
	liov_vm_mem_forget(&p->liov, at(0), 64 * MIB);
	CHECK_INT(p->pinned_bytes, 0);
}

static void test_forget__no_room_to_split__all_of_the_entry(void **state)
{
	world_run(*state, full);
}

static void held(struct world *w)
{
	struct port_vm *p;
	u64 before;

	CHECK_INT(world_vm(w, 1, 1, &p), 0);
	CHECK_INT(reg(&p->liov, 0, MIB), 0);
	CHECK(liov_vm_mem_check(&p->liov, at(0x1800), 0x1000, true));
	before = port_now_ns(w->be->home);
	liov_vm_mem_forget(&p->liov, at(0), MIB);
	CHECK(port_now_ns(w->be->home) - before >= w->be->cfg.timeout_ns);
	/* A command that does not end holds nobody up: unmapped, unpinned, refused; once. */
	CHECK_INT(p->pinned_bytes, 0);
	CHECK(revoked(w, 0));
	CHECK(!liov_vm_mem_check(&p->liov, at(0), 1, false));
	liov_vm_mem_forget(&p->liov, at(0), MIB);
	CHECK_INT(unreg(&p->liov, 0x1000, 0x1000), -EINVAL);
	CHECK_INT(unreg(&p->liov, 0, MIB), -EBUSY);
	CHECK_INT(reg(&p->liov, 0, MIB), -EINVAL);
	/* It ends after all. */
	liov_vm_mem_drop(&p->liov, at(0x1800), 0x1000);
	CHECK_INT(unreg(&p->liov, 0, MIB), 0);
	CHECK_INT(p->liov.nr_mem, 0);
	CHECK_INT(reg(&p->liov, 0, MIB), 0);
	CHECK_INT(p->pinned_bytes, MIB);
	/* And once that it never does: the VM's end does not unpin twice (which asserts). */
	CHECK(liov_vm_mem_check(&p->liov, at(0), 1, true));
	liov_vm_mem_forget(&p->liov, at(0), MIB);
	vm_destroy(p);
	CHECK_INT(p->pinned_bytes, 0);
}

static void test_forget__held__taken_all_the_same(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, held);
}

/* With register_all what comes later is registered as what was there; without, the VM does that itself. */
static void learn(struct world *w)
{
	struct vm_config c = { .id = 1, .name = "vm", .vcpus = 1, .nr_ram = 1, .ram = { { RAM, MIB } },
			       .liov = { .nr_queues = 1, .lbas = 0x1000 } };
	struct port_vm *p;
	u32 i;

	for (i = 0; i < 2; i++) {
		c.id = 1 + i;
		c.ram[0].gpa = RAM + i * 16 * MIB;
		c.liov.register_all = i;
		CHECK_INT(vm_create(w->m, &c, &p), 0);
		CHECK_INT(p->pinned_bytes, i * MIB);
		CHECK_INT(vm_plug(p, at(i * 16 * MIB + 4 * MIB), MIB), 0);
		CHECK_INT(liov_vm_mem_learn(&p->liov, at(i * 16 * MIB + 4 * MIB), MIB), 0);
		CHECK_INT(p->pinned_bytes, i * 2 * MIB);
		CHECK_INT(liov_vm_mem_check(&p->liov, at(i * 16 * MIB + 4 * MIB), MIB, false), i);
		/* What is registered, and what is no memory. */
		CHECK_INT(liov_vm_mem_learn(&p->liov, at(i * 16 * MIB + 4 * MIB), MIB), i ? -EINVAL : 0);
		CHECK_INT(liov_vm_mem_learn(&p->liov, at(i * 16 * MIB + 8 * MIB), MIB), i ? -EINVAL : 0);
	}
}

static void test_learn__memory_that_comes_later__registered_with_register_all(void **state)
{
	struct world *w = *state;

	w->cfg.backend.policy = LIOV_POLICY_MEDIATED;
	world_run(w, learn);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		T(test_forget__parts__only_these),
		T(test_forget__all_addresses__everything),
		T(test_forget__no_room_to_split__all_of_the_entry),
		T(test_forget__held__taken_all_the_same),
		T(test_learn__memory_that_comes_later__registered_with_register_all),
	};

	return cmocka_run_group_tests_name("core_memory_forget", tests, NULL, NULL);
}
