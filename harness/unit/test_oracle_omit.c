// SPDX-License-Identifier: GPL-2.0
/*
 * A host that leaves a verb of the port out is caught. Each case runs twice: as it should
 * be, and with the verb left out; only the second may show a violation.
 */
#include "core_world.h"
#include "vm/io.h"
#include "watch.h"

#define A 1
#define B 2
#define RAM(id) ((u64)(id) << 32)
#define PAGE 0x1000ull
#define SLOT(i) (LIOV_CMB_SLOTS + (i) * (u64)LIOV_CMB_SLOT_STRIDE)

struct fx {
	struct world w;			/* first: what world_setup() gave */
	struct oracle *o;
	u32 omit;
	struct oracle_violation first;
	u64 count;
	struct port_vm *a, *b;
};

static struct fx fx;
static void (*scene)(struct world *w);

static void watched(struct world *w)
{
	fx.o = oracle_new(w->m, NULL, NULL);
	CHECK_INT(host_boot_liov(w->m), 0);
	scene(w);
	fx.count = oracle_count(fx.o);
	if (fx.count)
		fx.first = *oracle_violation(fx.o, 0);
}

static void run(void (*fn)(struct world *w), enum liov_policy policy, u32 omit)
{
	memset(&fx, 0, sizeof(fx));
	machine_config_defaults(&fx.w.cfg);
	fx.w.cfg.high_ram_bytes = 4ull << 30;
	fx.w.cfg.backend.policy = policy;
	fx.omit = omit;
	scene = fn;
	world_run_without_boot(&fx.w, watched);
	oracle_free(fx.o);
}

/* The verbs stand: nothing. One is left out: the first violation is this. */
static void caught(void (*fn)(struct world *w), enum host_omit verb, enum oracle_claim claim, u32 by, u32 victim)
{
	run(fn, LIOV_POLICY_PAPER, 0);
	if (fx.count)
		print_error("without a bug: %s\n", fx.first.what);
	assert_int_equal(fx.count, 0);
	run(fn, LIOV_POLICY_PAPER, verb);
	if (fx.count)
		print_message("  %s: %s\n", oracle_claim_name(fx.first.claim), fx.first.what);
	assert_true(fx.count > 0);
	assert_int_equal(fx.first.claim, claim);
	assert_int_equal(fx.first.by, by);
	assert_int_equal(fx.first.victim, victim);
}

static void stand_on(struct port_vm *vm)
{
	task_current()->gvcpu = vm ? &vm->gv[0] : NULL;
}

static bool guests(struct world *w, u32 queues)
{
	CHECK_INT(world_vm(w, A, queues, &fx.a), 0);
	CHECK_INT(world_vm(w, B, 1, &fx.b), 0);
	if (w->failed_line)
		return false;
	stand_on(fx.a);
	CHECK_INT(vm_frontend_start(fx.a, 0, 16), 0);
	return w->failed_line == 0;
}

/* A reads its first blocks to where it says, without its frontend's checks. */
static void raw_read(struct world *w, struct vm_io *io, u64 gpa)
{
	struct nvme_sqe sqe = {
		.opcode = NVME_CMD_READ, .nsid = 1, .prp1 = gpa, .cdw10 = (u32)fx.a->liov.lba.start, .cdw12 = 7,
	};

	CHECK_INT(vm_submit_raw(fx.a, 0, &sqe, io), 0);
}

/* A page of A's is given back, the host gives its frame to B, and A names the address again. */
static void page_moves(struct world *w)
{
	struct vm_io io = { 0 };
	gpa_t page = { RAM(A) + 0x10000 };
	hpa_t was = { 0 }, is = { 0 };

	if (!guests(w, 1))
		return;
	/* The translation is used, and so known to the IOTLB. */
	raw_read(w, &io, page.v);
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS) && io.status == 0);
	CHECK(vm_gpa_to_hpa(fx.a, page, PAGE, &was));
	w->m->host->omit = fx.omit;
	CHECK_INT(liov_frontend_mem_unregister(fx.a->fe, page, PAGE), 0);
	stand_on(NULL);
	CHECK_INT(vm_balloon_out(fx.a, page, PAGE), 0);
	CHECK_INT(vm_plug(fx.b, (gpa_t){ RAM(B) + (1ull << 30) }, PAGE), 0);
	CHECK(vm_gpa_to_hpa(fx.b, (gpa_t){ RAM(B) + (1ull << 30) }, PAGE, &is));
	CHECK_INT(is.v, was.v);
	stand_on(fx.a);
	raw_read(w, &io, page.v);
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS));
}

static void test_iommu_unmap__left_out__frame(void **state)
{
	(void)state;
	caught(page_moves, HOST_OMIT_IOMMU_UNMAP, ORACLE_FRAME, A, B);
}

static void test_iommu_sync__left_out__frame(void **state)
{
	(void)state;
	caught(page_moves, HOST_OMIT_IOMMU_SYNC, ORACLE_FRAME, A, B);
}

/* A's queue is taken; A stores to the page where its entries were. */
static void queue_taken(struct world *w)
{
	struct vm_io io = { 0 };
	u64 entry = ~0ull;

	if (!guests(w, 2))
		return;
	raw_read(w, &io, RAM(A));
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS));
	stand_on(NULL);
	w->m->host->omit = fx.omit;
	CHECK_INT(vm_queue_release(fx.a, 0), 0);
	stand_on(fx.a);
	vm_store(&fx.a->gv[0], (gpa_t){ VM_CMB_GPA + SLOT(0) }, &entry, sizeof(entry));
}

static void test_vm_revoke__queue_released__cpu(void **state)
{
	(void)state;
	caught(queue_taken, HOST_OMIT_VM_REVOKE, ORACLE_CPU, A, SIM_OWNER_NONE);
}

/* A's SQ is deleted while its memory stays reserved for it: the page was taken away all the same. */
static void sq_deleted(struct world *w)
{
	struct vm_io io = { 0 };
	struct nvme_sqe del = { .opcode = NVME_ADM_DELETE_SQ, .cdw10 = 1 };
	u64 entry = ~0ull;

	if (!guests(w, 2))
		return;
	raw_read(w, &io, RAM(A));
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS));
	w->m->host->omit = fx.omit;
	CHECK_INT(vm_admin(fx.a, &del, NULL), 0);
	vm_store(&fx.a->gv[0], (gpa_t){ VM_CMB_GPA + SLOT(0) }, &entry, sizeof(entry));
}

static void test_vm_revoke__sq_deleted__cpu(void **state)
{
	(void)state;
	caught(sq_deleted, HOST_OMIT_VM_REVOKE, ORACLE_CPU, A, SIM_OWNER_HOST);
}

/* The host takes the queue pair that was A's for itself and uses it. */
static void host_uses(struct world *w, u32 qid)
{
	struct liov_hwq *q[64];
	u32 n = 0, i;

	for (n = 0; n < 64; n++) {
		CHECK_INT(liov_host_queue_create(w->be, 0, &q[n]), 0);
		if (w->failed_line)
			return;
		if (q[n]->qid == qid)
			break;
	}
	CHECK(n < 64);
	if (n < 64)
		CHECK(liov_host_io(w->be, q[n], NVME_CMD_FLUSH, (plba_t){ 0 }, 0, NULL) <= 0);
	for (i = 0; i <= n && n < 64; i++)
		liov_host_queue_destroy(w->be, q[i]);
}

static void vector_stays(struct world *w)
{
	u32 qid;

	if (!guests(w, 2))
		return;
	qid = fx.a->liov.queue[0]->qid;
	stand_on(NULL);
	w->m->host->omit = fx.omit;
	CHECK_INT(vm_queue_release(fx.a, 0), 0);
	host_uses(w, qid);
}

static void test_irq_unpost__queue_released__vector(void **state)
{
	(void)state;
	caught(vector_stays, HOST_OMIT_IRQ_UNPOST, ORACLE_VECTOR, SIM_OWNER_NONE, A);
}

/* The same when the VM is no more: the descriptor's frame is free, or somebody's. */
static void vector_outlives_vm(struct world *w)
{
	u32 qid;

	if (!guests(w, 1))
		return;
	qid = fx.a->liov.queue[0]->qid;
	stand_on(NULL);
	w->m->host->omit = fx.omit;
	vm_destroy(fx.a);
	host_uses(w, qid);
}

static void test_irq_unpost__vm_destroyed__vector(void **state)
{
	(void)state;
	caught(vector_outlives_vm, HOST_OMIT_IRQ_UNPOST, ORACLE_VECTOR, SIM_OWNER_NONE, SIM_OWNER_NONE);
}

/* A dies with a read outstanding: its memory may not be anybody's before the SSD is done with it. */
static void dies_reading(struct world *w)
{
	struct vm_io io = { 0 };
	u64 took;

	w->m->host->omit = fx.omit;
	if (!guests(w, 1))
		return;
	raw_read(w, &io, RAM(A));
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS));
	took = io.completed_ps - io.submitted_ps;
	raw_read(w, &io, RAM(A));
	/* Its data comes while the host is still taking the queue away. */
	task_sleep(took - 8 * PS_PER_US);
	CHECK(!io.completed);
	stand_on(NULL);
	vm_destroy(fx.a);
	CHECK_INT(fx.a->nr_ram, 0);
}

static void test_vm_mem_pin__dies_with_a_read_outstanding__host_memory(void **state)
{
	(void)state;
	caught(dies_reading, HOST_OMIT_VM_MEM_PIN, ORACLE_HOST_MEMORY, A, SIM_OWNER_NONE);
}

/*
 * No claim speaks of a mask: an interrupt of the VM's own queue is the VM's own. What a mask
 * promises is seen in the guest: while its vector is masked nothing comes.
 */
static u64 got_while_masked;

static void masked(struct world *w)
{
	u64 entry1 = VM_BAR0_GPA + LIOV_BAR0_MSIX_TABLE + PCIS_MSIX_ENTRY_SIZE + PCIS_MSIX_ENTRY_CONTROL, before;
	struct vm_io io = { 0 };
	u32 mask = PCIS_MSIX_ENTRY_MASKED;

	if (!guests(w, 1))
		return;
	raw_read(w, &io, RAM(A));
	CHECK(vm_io_wait(&io, 10 * PS_PER_MS));
	w->m->host->omit = fx.omit;
	vm_store(&fx.a->gv[0], (gpa_t){ entry1 }, &mask, 4);
	before = fx.a->gv[0].interrupts;
	raw_read(w, &io, RAM(A));
	vm_idle(&fx.a->gv[0], PS_PER_MS);
	got_while_masked = fx.a->gv[0].interrupts - before;
	CHECK_INT(liov_frontend_poll(fx.a->fe, 0), got_while_masked ? 0 : 1);
	CHECK(io.completed);
}

static void test_irq_mask__left_out__guest_is_interrupted_while_masked(void **state)
{
	(void)state;
	run(masked, LIOV_POLICY_PAPER, 0);
	assert_int_equal(got_while_masked, 0);
	assert_int_equal(fx.count, 0);
	run(masked, LIOV_POLICY_PAPER, HOST_OMIT_IRQ_MASK);
	assert_int_equal(got_while_masked, 1);
	assert_int_equal(fx.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_iommu_unmap__left_out__frame),
		cmocka_unit_test(test_iommu_sync__left_out__frame),
		cmocka_unit_test(test_vm_revoke__queue_released__cpu),
		cmocka_unit_test(test_vm_revoke__sq_deleted__cpu),
		cmocka_unit_test(test_irq_unpost__queue_released__vector),
		cmocka_unit_test(test_irq_unpost__vm_destroyed__vector),
		cmocka_unit_test(test_vm_mem_pin__dies_with_a_read_outstanding__host_memory),
		cmocka_unit_test(test_irq_mask__left_out__guest_is_interrupted_while_masked),
	};

	return cmocka_run_group_tests_name("oracle_omit", tests, NULL, NULL);
}
