// SPDX-License-Identifier: GPL-2.0
/*
 * A VM's life in the host: its memory in EPT as it is touched, taken out and put in, and what
 * is left when it ends, in peace or in the middle of something.
 */
#include "core_world.h"
#include "vm/io.h"

#define RAM (1ull << 32)
#define RAM_BYTES (64ull << 20)
#define PAGE 0x1000ull
#define TWO_MIB 0x200000ull
#define SLOT0 (VM_CMB_GPA + LIOV_CMB_SLOTS)

static struct port_vm *vm;

static bool guest(struct world *w)
{
	CHECK_INT(world_vm(w, 1, 2, &vm), 0);
	if (w->failed_line)
		return false;
	task_current()->gvcpu = &vm->gv[0];
	return true;
}

static u64 load(u64 gpa)
{
	u64 v = 0;

	vm_load(&vm->gv[0], (gpa_t){ gpa }, &v, 8);
	return v;
}

static void store(u64 gpa, u64 v)
{
	vm_store(&vm->gv[0], (gpa_t){ gpa }, &v, 8);
}

static struct ept_walk walk(struct world *w, u64 gpa, u32 access, enum ept_result want)
{
	struct ept_walk e = { 0 };

	CHECK_INT(ept_walk(&w->m->bus, vm->eptp, (gpa_t){ gpa }, access, &e), want);
	return e;
}

/* --- EPT --- */

static void touched(struct world *w)
{
	struct ept_walk e;
	u64 faults;

	if (!guest(w))
		return;
	walk(w, RAM + 8, EPT_ACCESS_R, EPT_VIOLATION);
	faults = vm->ept_faults;
	store(RAM + 8, 0x1234);
	CHECK_INT(vm->ept_faults, faults + 1);
	e = walk(w, RAM + 8, EPT_ACCESS_W, EPT_OK);
	CHECK_INT(e.page_shift, 21);
	CHECK_INT(e.hpa.v, vm->ram[0].hpa.v + 8);
	CHECK_INT(FIELD_GET(EPT_ENTRY_MT, e.entry), EPT_MT_WB);
	/* Two MiB cost one. */
	CHECK_INT(load(RAM + TWO_MIB - 8), 0);
	CHECK_INT(load(RAM + 8), 0x1234);
	CHECK_INT(vm->ept_faults, faults + 1);
	load(RAM + TWO_MIB);
	CHECK_INT(vm->ept_faults, faults + 2);
	/* No memory there, and nobody's device: all ones, dropped. */
	CHECK_INT(load(RAM + RAM_BYTES), ~0ull);
	store(RAM - 8, 1);
	CHECK_INT(load(0x1000), ~0ull);
	CHECK_INT(vm->ept_faults, faults + 2);
	CHECK_INT(vm->ept_refused, 3);
}

static void test_ept__memory_touched__2_mib_at_a_time(void **state)
{
	world_run(*state, touched);
}

static void cmb(struct world *w)
{
	struct ept_walk e;
	u64 hwq, refused;

	if (!guest(w))
		return;
	CHECK_INT(vm_frontend_start(vm, 1, 16), 0);
	hwq = vm->liov.queue[0]->sq_pages.hpa;
	/* The info page: its content, and not to be written. */
	CHECK_INT((u32)load(VM_CMB_GPA), LIOV_INFO_MAGIC);
	e = walk(w, VM_CMB_GPA, EPT_ACCESS_R, EPT_OK);
	CHECK_INT(e.allowed, EPT_ACCESS_R);
	refused = vm->ept_refused;
	store(VM_CMB_GPA, 0);
	CHECK_INT(vm->ept_refused, refused + 1);
	CHECK_INT((u32)load(VM_CMB_GPA), LIOV_INFO_MAGIC);
	/* Queue memory is memory; a doorbell is a register. */
	store(SLOT0, 5);
	e = walk(w, SLOT0, EPT_ACCESS_W, EPT_OK);
	CHECK_INT(e.hpa.v, hwq);
	CHECK_INT(e.page_shift, 12);
	CHECK_INT(FIELD_GET(EPT_ENTRY_MT, e.entry), EPT_MT_WB);
	load(VM_CMB_GPA + LIOV_CMB_DOORBELLS);
	e = walk(w, VM_CMB_GPA + LIOV_CMB_DOORBELLS, EPT_ACCESS_W, EPT_OK);
	CHECK_INT(e.hpa.v, pci_bar_base(nvme_function(w->m->nvme), 0) + NVME_REG_DBS);
	CHECK_INT(FIELD_GET(EPT_ENTRY_MT, e.entry), EPT_MT_UC);
	/* The pair that was not created, and past the BAR. */
	refused = vm->ept_refused;
	CHECK_INT(load(SLOT0 + LIOV_CMB_SLOT_STRIDE), ~0ull);
	CHECK_INT(load(VM_CMB_GPA + vm->liov.cmb_size), ~0ull);
	CHECK_INT(vm->ept_refused, refused + 2);
	/* Taken away: no core knows it any more, and it does not come back by itself. */
	CHECK_INT(vm_queue_release(vm, 0), 0);
	walk(w, SLOT0, EPT_ACCESS_R, EPT_VIOLATION);
	CHECK_INT(load(SLOT0), ~0ull);
	walk(w, VM_CMB_GPA + LIOV_CMB_DOORBELLS, EPT_ACCESS_W, EPT_VIOLATION);
}

static void test_ept__cmb_pages__kind_and_rights_of_each(void **state)
{
	world_run(*state, cmb);
}

/* --- memory out and in --- */

static void balloon(struct world *w)
{
	const u64 hole = RAM + 7 * PAGE;
	u64 faults;
	hpa_t hpa, frame;
	u32 i;

	if (!guest(w))
		return;
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ hole }, 0), -EINVAL);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ hole + 8 }, PAGE), -EINVAL);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ hole }, PAGE + 8), -EINVAL);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM - PAGE }, PAGE), -EINVAL);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + RAM_BYTES - PAGE }, 2 * PAGE), -EINVAL);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + RAM_BYTES }, PAGE), -EINVAL);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ ~0ull - PAGE + 1 }, 2 * PAGE), -EINVAL);
	CHECK_INT(vm->nr_ram, 1);
	for (i = 0; i < 16; i++)
		store(RAM + i * PAGE, 0x100 + i);
	CHECK(vm_gpa_to_hpa(vm, (gpa_t){ hole }, PAGE, &frame));
	faults = vm->ept_faults;

	CHECK_INT(vm_balloon_out(vm, (gpa_t){ hole }, 2 * PAGE), 0);
	CHECK_INT(vm->nr_ram, 2);
	CHECK(!vm_gpa_to_hpa(vm, (gpa_t){ hole }, 8, &hpa));
	CHECK(!vm_gpa_to_hpa(vm, (gpa_t){ hole - 8 }, 16, &hpa));
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ hole }, PAGE), -EINVAL);
	/* The hole is one; what was around it is there, mapped as it was. */
	for (i = 0; i < 16; i++)
		CHECK_INT(load(RAM + i * PAGE), i == 7 || i == 8 ? ~0ull : 0x100 + i);
	store(hole, 1);
	CHECK_INT(load(RAM + TWO_MIB - 8), 0);
	CHECK_INT(vm->ept_faults, faults);
	CHECK_INT(walk(w, RAM, EPT_ACCESS_W, EPT_OK).page_shift, 12);

	/* Put in again: zeros, by a page of its own. First fit gives the same frame. */
	CHECK_INT(vm_plug(vm, (gpa_t){ hole }, PAGE), 0);
	CHECK(vm_gpa_to_hpa(vm, (gpa_t){ hole }, PAGE, &hpa));
	CHECK_INT(hpa.v, frame.v);
	CHECK_INT(load(hole), 0);
	CHECK_INT(load(hole + PAGE), ~0ull);
	CHECK_INT(vm->ept_faults, faults + 1);
	CHECK_INT(vm_plug(vm, (gpa_t){ hole }, PAGE), -EINVAL);
	CHECK_INT(vm_plug(vm, (gpa_t){ hole }, 2 * PAGE), -EINVAL);
	CHECK_INT(vm_plug(vm, (gpa_t){ hole + PAGE }, PAGE + 1), -EINVAL);
	CHECK_INT(vm_plug(vm, (gpa_t){ hole + PAGE }, 0), -EINVAL);
	CHECK_INT(vm_plug(vm, (gpa_t){ RAM * 8 }, 1ull << 40), -ENOMEM);
	/* No more ranges than there is room for. */
	for (i = 0; vm->nr_ram < VM_RAM_MAX; i++)
		CHECK_INT(vm_plug(vm, (gpa_t){ RAM * 8 + i * 2 * PAGE }, PAGE), 0);
	CHECK_INT(vm_plug(vm, (gpa_t){ RAM * 9 }, PAGE), -ENOSPC);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + TWO_MIB }, PAGE), -ENOSPC);
	/* An end, or a whole range, needs none. */
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + RAM_BYTES - PAGE }, PAGE), 0);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM }, PAGE), 0);
	CHECK_INT(vm->nr_ram, VM_RAM_MAX);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM * 8 }, PAGE), 0);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + TWO_MIB }, PAGE), 0);
	CHECK_INT(vm->nr_ram, VM_RAM_MAX);
}

static void test_vm_balloon__hole_and_back__the_rest_stays(void **state)
{
	world_run(*state, balloon);
}

/* --- life and end --- */

struct left {
	u64 low, high;
	u32 nr_high, gvcpus;
};

static struct left left(struct world *w)
{
	struct port_host *h = w->m->host;
	struct left l = { .nr_high = h->high.nr };
	u32 i;

	for (i = 0; i < h->low.nr; i++)
		l.low += h->low.free[i].len;
	for (i = 0; i < h->high.nr; i++)
		l.high += h->high.free[i].len;
	for (i = 0; i < MACHINE_VCPUS_MAX; i++)
		l.gvcpus += w->m->gvcpus[i] != NULL;
	return l;
}

static void same(struct world *w, struct left a, struct left b)
{
	CHECK_INT(b.low, a.low);
	CHECK_INT(b.high, a.high);
	CHECK_INT(b.nr_high, a.nr_high);
	CHECK_INT(b.gvcpus, a.gvcpus);
}

static void one_life(struct world *w)
{
	struct vm_io io = { 0 };
	struct liov_segment seg = { { RAM }, 4096 };
	struct liov_request rq = { .op = LIOV_OP_READ, .blocks = 8, .nr_segments = 1, .segments = &seg };

	if (!guest(w))
		return;
	CHECK_INT(vm_frontend_start(vm, 2, 16), 0);
	CHECK_INT(vm_submit(vm, 0, &rq, &io), 0);
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS) && io.status == 0);
	CHECK_INT(liov_frontend_mem_unregister(vm->fe, (gpa_t){ RAM + TWO_MIB }, PAGE), 0);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + TWO_MIB }, PAGE), 0);
	CHECK_INT(vm_plug(vm, (gpa_t){ RAM * 4 }, PAGE), 0);
	load(RAM * 4);
	/* A large page out and in again is large again; the table of its small ones goes. */
	load(RAM + 2 * TWO_MIB);
	CHECK_INT(vm_balloon_out(vm, (gpa_t){ RAM + 2 * TWO_MIB }, TWO_MIB), 0);
	CHECK_INT(vm_plug(vm, (gpa_t){ RAM + 2 * TWO_MIB }, TWO_MIB), 0);
	load(RAM + 2 * TWO_MIB);
	CHECK_INT(walk(w, RAM + 2 * TWO_MIB, EPT_ACCESS_R, EPT_OK).page_shift, 21);
	task_current()->gvcpu = NULL;
	vm_destroy(vm);
	vm_destroy(vm);
	CHECK_INT(vm->nr_ram, 0);
	CHECK_INT(vm->pinned_bytes, 0);
	world_forget(w, 1);
}

static void lives(struct world *w)
{
	struct left before;
	u32 i;

	one_life(w);		/* tables that the host keeps are made */
	before = left(w);
	CHECK_INT(before.nr_high, 1);
	CHECK_INT(before.high, w->m->cfg.high_ram_bytes);
	CHECK_INT(before.gvcpus, 0);
	for (i = 0; i < 5 && !w->failed_line; i++) {
		one_life(w);
		same(w, before, left(w));
	}
}

static void test_vm_destroy__five_lives__all_given_back(void **state)
{
	world_run(*state, lives);
}

static void create(struct world *w, struct vm_config c, int want, u32 line)
{
	struct left before = left(w);
	struct port_vm *out = NULL;
	int got;

	c.id = 1;
	c.name = "vm";
	got = vm_create(w->m, &c, &out);
	if (got != want) {
		fprintf(stderr, "line %u: %d\n", line, got);
		CHECK_INT(got, want);
	}
	CHECK(out == NULL);
	same(w, before, left(w));
	world_forget(w, 1);
}

#define GOOD .vcpus = 1, .nr_ram = 1, .ram = { { RAM, RAM_BYTES } }, .liov = { .nr_queues = 1, .lbas = 0x1000 }

static void refused(struct world *w)
{
	const struct vm_config good = { GOOD };
	struct vm_config c;

	one_life(w);
	c = good, c.vcpus = 0, create(w, c, -EINVAL, __LINE__);
	c = good, c.vcpus = VM_VCPUS_MAX + 1, create(w, c, -EINVAL, __LINE__);
	c = good, c.nr_ram = 0, create(w, c, -EINVAL, __LINE__);
	c = good, c.nr_ram = VM_RAM_MAX + 1, create(w, c, -EINVAL, __LINE__);
	c = good, c.ram[0].len_bytes = 0, create(w, c, -EINVAL, __LINE__);
	c = good, c.ram[0].len_bytes = 0x1800, create(w, c, -EINVAL, __LINE__);
	c = good, c.ram[0].gpa = RAM + 4, create(w, c, -EINVAL, __LINE__);
	c = good, c.ram[0].gpa = 1ull << EPT_GPA_BITS, create(w, c, -EINVAL, __LINE__);
	c = good, c.ram[0].gpa = ~0ull - PAGE + 1, create(w, c, -EINVAL, __LINE__);
	/* The second range lies in the first: which had its frames already. */
	c = good, c.nr_ram = 2, c.ram[1].gpa = RAM + PAGE, c.ram[1].len_bytes = PAGE, create(w, c, -EINVAL, __LINE__);
	c = good, c.nr_ram = 2, c.ram[1].gpa = RAM - PAGE, c.ram[1].len_bytes = 2 * PAGE, create(w, c, -EINVAL, __LINE__);
	c = good, c.nr_ram = 2, c.ram[1].gpa = RAM * 2, c.ram[1].len_bytes = 1ull << 40, create(w, c, -ENOMEM, __LINE__);
	/* LightIOV says no when all else stands. */
	c = good, c.liov.nr_queues = LIOV_VM_QUEUES_MAX + 1, create(w, c, -EINVAL, __LINE__);
	c = good, c.liov.lbas = 1ull << 40, create(w, c, -ENOSPC, __LINE__);
}

static void test_vm_create__refused__nothing_is_left(void **state)
{
	world_run(*state, refused);
}

static void no_core(struct world *w)
{
	const struct vm_config good = { GOOD };
	struct vm_config c;

	one_life(w);
	/* A core for each vCPU, and the machine has two. */
	c = good, c.vcpus = 3, create(w, c, -ENOSPC, __LINE__);
}

static void test_vm_create__more_vcpus_than_cores__nothing_is_left(void **state)
{
	struct world *w = *state;

	w->cfg.pcpus = 2;
	world_run(w, no_core);
}

/* --- killed in the middle of something --- */

static u64 laps;

static void busy_guest(void *arg)
{
	u32 i;

	(void)arg;
	for (i = 0;; i++) {
		/* An exit to the device, one that maps, one that nobody answers, memory. */
		load(VM_BAR0_GPA + NVME_REG_CSTS);
		load(RAM + (i % 32) * TWO_MIB);
		load(VM_CMB_GPA + (i % 16) * PAGE);
		store(VM_BAR0_GPA + LIOV_BAR0_DOORBELLS, i);
		store(RAM - 8, i);
		laps++;
	}
}

static void killed(struct world *w)
{
	struct left before;
	u64 at_end;
	u32 i;

	one_life(w);
	before = left(w);
	for (i = 0; i < 60 && !w->failed_line; i++) {
		laps = 0;
		if (!guest(w))
			return;
		CHECK_INT(vm_frontend_start(vm, 1, 16), 0);
		task_current()->gvcpu = NULL;
		vm_task(&vm->gv[0], "busy", busy_guest, NULL);
		/* A lap takes some 5 us; the end comes at any place of it. */
		task_sleep(20 * PS_PER_US + i * 137 * PS_PER_NS);
		at_end = laps;
		CHECK(at_end > 0);
		vm_destroy(vm);
		CHECK(laps <= at_end);
		task_sleep(PS_PER_MS);
		CHECK(laps <= at_end);
		same(w, before, left(w));
		world_forget(w, 1);
	}
}

static void test_vm_destroy__in_the_middle_of_an_exit__ends_there(void **state)
{
	world_run(*state, killed);
}

/* Its frontend is coming up: admin commands, exits and waits of all kinds. */
static void comes_up(void *arg)
{
	(void)arg;
	for (;;) {
		if (vm_frontend_start(vm, 2, 16) == 0)
			vm_frontend_stop(vm);
		laps++;
	}
}

static void killed_in_bring_up(struct world *w)
{
	struct left before;
	u32 i;

	one_life(w);
	before = left(w);
	for (i = 0; i < 40 && !w->failed_line; i++) {
		if (!guest(w))
			return;
		task_current()->gvcpu = NULL;
		vm_task(&vm->gv[0], "up", comes_up, NULL);
		task_sleep((u64)i * 97 * PS_PER_US);
		vm_destroy(vm);
		task_sleep(PS_PER_MS);
		same(w, before, left(w));
		world_forget(w, 1);
	}
}

static void test_vm_destroy__while_its_frontend_comes_up__all_given_back(void **state)
{
	world_run(*state, killed_in_bring_up);
}

/* A store that was not fenced is on its way when the VM ends: it may not arrive in what is somebody else's by then. */
static hpa_t taken;

static void takes_frames(void *arg)
{
	struct world *w = arg;

	task_sleep(2 * PS_PER_US);
	taken = host_frames_take(w->m->host, &w->m->host->high, TWO_MIB, TWO_MIB, 2);
}

static void late_store(struct world *w)
{
	struct port_shm shm;
	struct port_mmio reg;
	u64 value = 0x1234;
	hpa_t frame;
	bool ok;

	if (!guest(w))
		return;
	shm = (struct port_shm){ &vm->guest.home, RAM + 0x5000 };
	reg = (struct port_mmio){ &vm->guest.home, RAM };
	store(RAM, 0);			/* mapped */
	frame = vm->ram[0].hpa;
	port_shm_copy_out(&shm, 0, &value, 8);
	port_mmio_wr32(&reg, 0, 1);
	task_current()->gvcpu = NULL;
	machine_task(w->m, "takes", takes_frames, w);
	vm_destroy(vm);
	task_sleep(PS_PER_MS);
	CHECK_INT(taken.v, frame.v);
	CHECK_INT(bus_rd64(&w->m->bus, (hpa_t){ frame.v + 0x5000 }, &ok), 0);
}

static void test_vm_destroy__store_on_its_way__does_not_arrive_late(void **state)
{
	world_run(*state, late_store);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ept__memory_touched__2_mib_at_a_time),
		TEST(test_ept__cmb_pages__kind_and_rights_of_each),
		TEST(test_vm_balloon__hole_and_back__the_rest_stays),
		TEST(test_vm_destroy__five_lives__all_given_back),
		TEST(test_vm_create__refused__nothing_is_left),
		TEST(test_vm_create__more_vcpus_than_cores__nothing_is_left),
		TEST(test_vm_destroy__in_the_middle_of_an_exit__ends_there),
		TEST(test_vm_destroy__store_on_its_way__does_not_arrive_late),
		TEST(test_vm_destroy__while_its_frontend_comes_up__all_given_back),
	};

	return cmocka_run_group_tests_name("sim_vm", tests, NULL, NULL);
}
