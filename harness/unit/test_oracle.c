// SPDX-License-Identifier: GPL-2.0
/*
 * Each claim of the oracle with events made by hand: what is legal says nothing, the breach
 * beside it gives one violation that names who and whose.
 */
#include "oracle_rig.h"

static void media(u32 qid, u8 opcode, u64 slba, u64 nlb)
{
	event_io((u64)qid << 48 | 1, TRACE_MEDIA, qid, opcode, slba, nlb);
}

static void dma(u32 vm, bool write, enum pci_dma_kind kind, u64 hpa)
{
	event_io((u64)QUEUE(vm) << 48 | 1, TRACE_DMA, 0x100 | (u64)write << 16 | (u64)kind << 17, 0, hpa, 512);
}

static void test_lba__own_blocks__only_those(void **state)
{
	static const u8 ops_[] = { NVME_CMD_READ, NVME_CMD_WRITE, NVME_CMD_COMPARE, NVME_CMD_WRITE_ZEROES, NVME_CMD_DSM };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(ops_); i++) {
		media(QUEUE(1), ops_[i], LBA(1), 0x1000);
		media(QUEUE(1), ops_[i], LBA(1) + 0xFFF, 1);
		legal();
		media(QUEUE(1), ops_[i], LBA(2), 1);
		breach(ORACLE_LBA, 1, 2);
		assert_int_equal(oracle_violation(f->o, i * 5)->io_id, (u64)QUEUE(1) << 48 | 1);
		media(QUEUE(1), ops_[i], LBA(2) - 1, 2);	/* from its own into the other's */
		breach(ORACLE_LBA, 1, 2);
		media(QUEUE(2), ops_[i], LBA(2) - 1, 2);	/* and the other way round */
		breach(ORACLE_LBA, 2, 1);
		media(QUEUE(1), ops_[i], 0, 8);
		breach(ORACLE_LBA, 1, SIM_OWNER_HOST);
		media(QUEUE(2), ops_[i], LBA(3), 8);
		breach(ORACLE_LBA, 2, SIM_OWNER_HOST);
	}
	media(QUEUE(1), NVME_CMD_FLUSH, 0, 0);		/* names no block */
	media(7, NVME_CMD_READ, LBA(1), 8);		/* a queue of the host's */
	media(0, 0x80, 0, 0x10000);			/* admin: Format */
	legal();
	/* Its VM is gone: a command that is still on its way is nobody's. */
	event(SIM_TRACE_VM, 1, 0, LBA(1), 0x1000);
	assert_int_equal(oracle_queue_owner(f->o, QUEUE(1)), SIM_OWNER_NONE);
	assert_int_equal(oracle_queue_owner(f->o, QUEUE(2)), 2);
	assert_int_equal(oracle_queue_owner(f->o, 7), SIM_OWNER_HOST);
}

static void test_frame__own_memory__only_that(void **state)
{
	(void)state;
	dma(1, true, PCI_DMA_DATA, RAM(1));
	dma(1, false, PCI_DMA_DATA, RAM(1) + 0xFE00);
	dma(1, false, PCI_DMA_LIST, RAM(1));
	dma(1, true, PCI_DMA_QUEUE, HOST_RAM);
	legal();
	dma(1, true, PCI_DMA_DATA, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	dma(1, false, PCI_DMA_DATA, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	dma(1, false, PCI_DMA_LIST, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	/* The memory that holds another's queue is that other's. */
	event(SIM_TRACE_PAGE, 2, 0x10000, QUEUE_PAGE(2), 1);
	dma(1, true, PCI_DMA_DATA, QUEUE_PAGE(2) + 64);
	breach(ORACLE_FRAME, 1, 2);
	dma(1, false, PCI_DMA_LIST, QUEUE_PAGE(2));
	breach(ORACLE_FRAME, 1, 2);
	dma(2, false, PCI_DMA_LIST, QUEUE_PAGE(2));
	legal();
	/* Commands of the host's queues may name anything. */
	event_io(7ull << 48 | 1, TRACE_DMA, 0x100 | 1 << 16 | PCI_DMA_DATA << 17, 0, RAM(2), 512);
	legal();
}

static void test_host_memory__hosts_and_free_frames__never(void **state)
{
	(void)state;
	dma(1, false, PCI_DMA_LIST, HOST_RAM);		/* a list that the mediator wrote */
	legal();
	dma(1, true, PCI_DMA_DATA, HOST_RAM);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_HOST);
	dma(1, false, PCI_DMA_DATA, HOST_RAM + 0xFF000);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_HOST);
	dma(1, true, PCI_DMA_LIST, HOST_RAM);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_HOST);
	dma(1, true, PCI_DMA_DATA, HOST_RAM + 0x100000);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_NONE);
	dma(1, false, PCI_DMA_LIST, 0x500000);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_NONE);
	/* The queue was taken away, its memory is still there: the command should not be. */
	event(SIM_TRACE_QUEUE, 1, QUEUE(1), 0, 0);
	dma(1, true, PCI_DMA_DATA, RAM(1));
	breach(ORACLE_FRAME, SIM_OWNER_NONE, 1);
	dma(1, true, PCI_DMA_DATA, 0x500000);
	breach(ORACLE_HOST_MEMORY, SIM_OWNER_NONE, SIM_OWNER_NONE);
}

static void cpu(u32 vm, bool store, u64 hpa)
{
	event(store ? TRACE_CPU_STORE : TRACE_CPU_LOAD, VCPU(vm), 0, hpa, 8);
}

static void test_cpu__memory__own_and_mapped_queue_pages(void **state)
{
	(void)state;
	cpu(1, true, RAM(1));
	cpu(1, false, RAM(1) + 0xFFF8);
	event(SIM_TRACE_PAGE, 1, 0x10000, QUEUE_PAGE(1), 1);
	cpu(1, true, QUEUE_PAGE(1) + 8);
	event(TRACE_CPU_STORE, VCPU(1), 0, ~0ull, 8);	/* given up by the processor: nothing happened */
	event(TRACE_CPU_STORE, 60, 0, RAM(1), 8);	/* a vCPU of no VM's */
	legal();
	cpu(1, false, RAM(2));
	breach(ORACLE_CPU, 1, 2);
	cpu(2, true, RAM(1));
	breach(ORACLE_CPU, 2, 1);
	cpu(1, false, HOST_RAM + 0x80000);
	breach(ORACLE_CPU, 1, SIM_OWNER_HOST);
	cpu(1, false, 0x500000);
	breach(ORACLE_CPU, 1, SIM_OWNER_NONE);
	cpu(2, true, QUEUE_PAGE(1));
	breach(ORACLE_CPU, 2, 1);
	/* The page is mapped into another VM while it is the first one's: two owners. */
	event(SIM_TRACE_PAGE, 2, 0x10000, QUEUE_PAGE(1), 1);
	breach(ORACLE_OVERLAP, 2, 1);
	cpu(2, true, QUEUE_PAGE(1));
	legal();
	cpu(1, true, QUEUE_PAGE(1));
	breach(ORACLE_CPU, 1, 2);
	/* Taken from it by its place in the CMB; another's pages, and other places, stay. */
	event(SIM_TRACE_PAGE, 1, 0x10000, QUEUE_PAGE(3), 1);
	event(SIM_TRACE_PAGE, 2, 0x12000, QUEUE_PAGE(4), 1);
	event(SIM_TRACE_REVOKED, 2, 0x10000, 0x2000, 0);
	cpu(1, true, QUEUE_PAGE(3));
	cpu(2, true, QUEUE_PAGE(4));
	legal();
	cpu(2, true, QUEUE_PAGE(1));
	breach(ORACLE_CPU, 2, SIM_OWNER_HOST);
	event(SIM_TRACE_PAGE, 2, 0x10000, QUEUE_PAGE(1), 1);
	cpu(2, true, QUEUE_PAGE(1));
	legal();
	/* It goes back to the host and comes as something else: it is nobody's queue. */
	event(SIM_TRACE_FRAMES, QUEUE_PAGE(1), PAGE, 0, 0);
	cpu(2, true, QUEUE_PAGE(1));
	breach(ORACLE_CPU, 2, SIM_OWNER_NONE);
	event(SIM_TRACE_FRAMES, QUEUE_PAGE(1), PAGE, SIM_OWNER_HOST, 1);
	cpu(2, true, QUEUE_PAGE(1));
	breach(ORACLE_CPU, 2, SIM_OWNER_HOST);
}

static void test_cpu__registers__doorbells_only(void **state)
{
	(void)state;
	cpu(1, false, BAR0 + NVME_REG_CSTS);
	breach(ORACLE_CPU, 1, SIM_OWNER_HOST);
	cpu(1, true, BAR0 + NVME_REG_DBS - 4);
	breach(ORACLE_CPU, 1, SIM_OWNER_HOST);
	cpu(1, false, BAR0 + MSIX_TABLE);
	breach(ORACLE_CPU, 1, SIM_OWNER_HOST);
	cpu(1, true, BAR0 + MSIX_TABLE + 0x10);
	breach(ORACLE_CPU, 1, SIM_OWNER_HOST);
	cpu(1, false, BAR0 + NVME_REG_DBS);		/* a doorbell tells nothing */
	legal();
}

static void ring(u32 vm, u32 qid, bool cq, u32 stride)
{
	cpu(vm, true, BAR0 + NVME_REG_DBS + (2 * qid + cq) * stride);
}

static void test_cqe__in_anothers_queue__is_seen(void **state)
{
	(void)state;
	event(TRACE_CQE, QUEUE(1), (u64)QUEUE(1) << 16 | 7, 0, 0);
	legal();
	event(TRACE_CQE, QUEUE(2), (u64)QUEUE(1) << 16 | 7, 0, 0);
	breach(ORACLE_FRAME, 1, 2);
}

static void test_reservation__of_the_shared_namespace__is_seen(void **state)
{
	(void)state;
	event(TRACE_RESERVATION, 1, 0x0D, 0, 0x800000);		/* the host's own */
	legal();
	event(TRACE_RESERVATION, QUEUE(1), 0x0D, 0, 0x800000);
	breach(ORACLE_LBA, 1, SIM_OWNER_HOST);
}

static void test_doorbell__own_queues__only_those(void **state)
{
	(void)state;
	ring(1, QUEUE(1), false, 4);
	ring(1, QUEUE(1), true, 4);
	legal();
	ring(1, QUEUE(2), false, 4);
	breach(ORACLE_DOORBELL, 1, 2);
	ring(2, QUEUE(1), true, 4);
	breach(ORACLE_DOORBELL, 2, 1);
	ring(1, 7, false, 4);
	legal();			/* a queue that nobody has made (QD-06) */
	event(SIM_TRACE_QUEUE, SIM_OWNER_HOST, 7, 1, 0);
	ring(1, 7, false, 4);
	breach(ORACLE_DOORBELL, 1, SIM_OWNER_HOST);
	event(SIM_TRACE_QUEUE, 1, QUEUE(1), 0, 0);
	ring(1, QUEUE(1), false, 4);
	breach(ORACLE_DOORBELL, 1, SIM_OWNER_NONE);
	/* Doorbells of a page each: what lies between is no register (PCIe 3.1.2.1, 3.1.2.2). */
	watch(10);
	ring(1, QUEUE(1), false, 4096);
	cpu(1, true, BAR0 + NVME_REG_DBS + 2 * QUEUE(2) * 4096 + 4);
	legal();
	ring(1, QUEUE(2), true, 4096);
	breach(ORACLE_DOORBELL, 1, 2);
}

static void test_admin__its_doorbells__the_hosts(void **state)
{
	(void)state;
	ring(1, 0, false, 4);
	breach(ORACLE_ADMIN, 1, SIM_OWNER_HOST);
	ring(2, 0, true, 4);
	breach(ORACLE_ADMIN, 2, SIM_OWNER_HOST);
}

static void irte(u32 kind, u64 io_id, u32 vector, u64 pid)
{
	event_io(io_id, kind, 0x100, IRTE_BASE + vector, kind == TRACE_IRTE_POST ? 0x41 : 0x30, pid);
}

static void test_vector__message_of_own_queue__only_that(void **state)
{
	const u64 of_1 = (u64)QUEUE(1) << 48 | 9, of_2 = (u64)QUEUE(2) << 48 | 5;

	(void)state;
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, of_1, QUEUE(1), PID(1));
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);	/* not posted (yet): the host forwards it */
	irte(TRACE_IRTE_REMAP, of_1, QUEUE(1), 0);
	event(TRACE_MSI, 0x100, 7, 0, 0);
	irte(TRACE_IRTE_REMAP, 0, 7, 0);
	legal();
	/* Its message into another's descriptor: the entry is wrong. */
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, of_1, QUEUE(1), PID(2));
	breach(ORACLE_VECTOR, 1, 2);
	/* DMA into the interrupt range: no message was sent. Whatever moved last was another's. */
	dma(2, true, PCI_DMA_DATA, RAM(2));
	irte(TRACE_IRTE_POST, of_1, QUEUE(2), PID(2));
	breach(ORACLE_VECTOR, 1, 2);
	irte(TRACE_IRTE_REMAP, of_2, 7, 0);
	breach(ORACLE_VECTOR, 2, SIM_OWNER_HOST);
	/* A message speaks for its own entry, and once. */
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_REMAP, of_1, 7, 0);
	breach(ORACLE_VECTOR, 1, SIM_OWNER_HOST);
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, of_1, QUEUE(2), PID(2));
	breach(ORACLE_VECTOR, 1, 2);
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, of_1, QUEUE(1), PID(1));
	irte(TRACE_IRTE_POST, of_2, QUEUE(1), PID(1));
	breach(ORACLE_VECTOR, 2, 1);
}

/* A function that is all VM 2's: what it reads, writes and fires is VM 2's doing. */
static void test_function__of_a_vm__answers_for_it(void **state)
{
	(void)state;
	event(SIM_TRACE_FUNCTION, 0x200, 2, 0, 0);
	event(TRACE_DMA, 0x200 | 1 << 16 | PCI_DMA_DATA << 17, 0, RAM(2), 4);
	legal();
	event(TRACE_DMA, 0x200 | 1 << 16 | PCI_DMA_DATA << 17, 0, RAM(1), 4);
	breach(ORACLE_FRAME, 2, 1);
	event(TRACE_IRTE_POST, 0x200, IRTE_BASE + QUEUE(1), 0x41, PID(1));
	breach(ORACLE_VECTOR, 2, 1);
	event(TRACE_IRTE_POST, 0x200, 0x100, 0x41, PID(2));
	breach(ORACLE_VECTOR, 2, 2);
	/* A handler of the SSD's is called once too often; any other entry is the host's for something else. */
	event(TRACE_IRTE_REMAP, 0x200, IRTE_BASE + QUEUE(1), 0x30, 0);
	legal();
	event(TRACE_IRTE_REMAP, 0x200, IRTE_BASE + 8, 0x30, 0);
	breach(ORACLE_VECTOR, 2, SIM_OWNER_HOST);
	/* The SSD's own message next to it is not covered by that. */
	irte(TRACE_IRTE_REMAP, (u64)QUEUE(2) << 48 | 1, QUEUE(1), 0);
	breach(ORACLE_VECTOR, 2, SIM_OWNER_HOST);
}

/* The entry was not taken back with the queue: a late message, of nobody's, to a vCPU that is there or not. */
static void test_vector__queue_was_taken__posted_to_nobody_any_more(void **state)
{
	(void)state;
	event(SIM_TRACE_QUEUE, 1, QUEUE(1), 0, 0);
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, 0, QUEUE(1), PID(1));
	breach(ORACLE_VECTOR, SIM_OWNER_NONE, 1);
	f->gone[1] = true;
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, 0, QUEUE(1), PID(1));
	breach(ORACLE_VECTOR, SIM_OWNER_NONE, SIM_OWNER_NONE);
	event(SIM_TRACE_QUEUE, 2, QUEUE(1), 1, 0);
	event(TRACE_MSI, 0x100, QUEUE(1), 0, 0);
	irte(TRACE_IRTE_POST, 0, QUEUE(1), PID(1));
	breach(ORACLE_VECTOR, 2, SIM_OWNER_NONE);
}

static void test_remanence__stale_blocks__not_to_who_never_wrote_them(void **state)
{
	u64 lba = LBA(1) + 10;

	(void)state;
	media(QUEUE(1), NVME_CMD_READ, LBA(1), 0x1000);	/* zeros tell nothing */
	legal();
	store_write_tag(f->media, lba * 512, 0xABC);
	assert_true(oracle_block_unwritten(f->o, lba));
	media(QUEUE(1), NVME_CMD_READ, LBA(1), 0x1000);
	breach(ORACLE_REMANENCE, 1, SIM_OWNER_NONE);
	media(QUEUE(1), NVME_CMD_COMPARE, lba, 1);
	breach(ORACLE_REMANENCE, 1, SIM_OWNER_NONE);
	media(QUEUE(1), NVME_CMD_WRITE, lba, 1);
	assert_false(oracle_block_unwritten(f->o, lba));
	assert_true(oracle_block_unwritten(f->o, lba + 1));
	media(QUEUE(1), NVME_CMD_READ, lba - 1, 3);
	legal();
	/* Given to another, who wrote none of it. */
	event(SIM_TRACE_VM, 1, 0, LBA(1), 0x1000);
	event(SIM_TRACE_VM, 3, 1, LBA(1) + 5, 100);
	event(SIM_TRACE_QUEUE, 3, QUEUE(1), 1, 0);
	legal();
	assert_true(oracle_block_unwritten(f->o, lba));
	media(QUEUE(1), NVME_CMD_READ, lba, 1);
	breach(ORACLE_REMANENCE, 3, SIM_OWNER_NONE);
	store_zero(f->media, lba * 512, 512);
	media(QUEUE(1), NVME_CMD_READ, lba, 1);
	legal();
}

static void test_overlap__two_owners__never(void **state)
{
	(void)state;
	event(SIM_TRACE_FRAMES, RAM(1) + 0xF000, 0x2000, 2, 1);
	breach(ORACLE_OVERLAP, 2, 1);
	event(SIM_TRACE_FRAMES, HOST_RAM - 0x1000, 0x1001, 1, 1);
	breach(ORACLE_OVERLAP, 1, SIM_OWNER_HOST);
	event(SIM_TRACE_FRAMES, RAM(1) + 0x10000, 0x1000, 2, 1);	/* side by side */
	legal();
	event(SIM_TRACE_VM, 3, 1, LBA(2) + 0xFFF, 8);
	breach(ORACLE_OVERLAP, 3, 2);
	event(SIM_TRACE_VM, 4, 1, LBA(3) + 0x1000, 8);
	legal();
	event(SIM_TRACE_QUEUE, 2, QUEUE(1), 1, 0);
	breach(ORACLE_OVERLAP, 2, 1);
	event(SIM_TRACE_QUEUE, 2, QUEUE(2), 1, 0);	/* its own again */
	event(SIM_TRACE_QUEUE, 1, 9, 1, 0);
	event(SIM_TRACE_QUEUE, 1, 9, 0, 0);
	event(SIM_TRACE_QUEUE, 2, 9, 1, 0);
	event(SIM_TRACE_QUEUE, 2, 100000, 1, 0);	/* no such queue */
	legal();
}

static void test_frames__partly_freed__both_sides_stay(void **state)
{
	(void)state;
	event(SIM_TRACE_FRAMES, RAM(1) + 0x4000, 0x1000, 0, 0);
	dma(1, true, PCI_DMA_DATA, RAM(1) + 0x3E00);
	dma(1, true, PCI_DMA_DATA, RAM(1) + 0x5000);
	legal();
	dma(1, true, PCI_DMA_DATA, RAM(1) + 0x4000);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_NONE);
	event(SIM_TRACE_FRAMES, RAM(1) + 0x4000, 0x1000, 2, 1);
	dma(2, true, PCI_DMA_DATA, RAM(1) + 0x4000);
	legal();
	dma(1, true, PCI_DMA_DATA, RAM(1) + 0x4800);
	breach(ORACLE_FRAME, 1, 2);
	event(SIM_TRACE_FRAMES, RAM(1), 0x1000, 0, 0);		/* the beginning */
	event(SIM_TRACE_FRAMES, RAM(1) + 0xF000, 0x1000, 0, 0);	/* the end */
	dma(1, true, PCI_DMA_DATA, RAM(1) + 0x1000);
	dma(1, true, PCI_DMA_DATA, RAM(1) + 0xE000);
	legal();
	cpu(1, true, RAM(1));
	breach(ORACLE_CPU, 1, SIM_OWNER_NONE);
	cpu(1, true, RAM(1) + 0xF000);
	breach(ORACLE_CPU, 1, SIM_OWNER_NONE);
	event(SIM_TRACE_FRAMES, RAM(1), 0x1000, 1, 1);
	legal();
}

/* A host takes its tables page by page, and as many as guests make it take. */
static void test_frames__thousands_of_ranges__each_known(void **state)
{
	const u64 base = 0x100000000ull;
	u32 i;

	(void)state;
	for (i = 0; i < 10000; i++)
		event(SIM_TRACE_FRAMES, base + i * 2 * PAGE, PAGE, i % 2 ? SIM_OWNER_HOST : 1, 1);
	legal();
	for (i = 0; i < 10000; i += 2) {
		dma(1, true, PCI_DMA_DATA, base + i * 2 * PAGE + 8);
		legal();
	}
	dma(1, true, PCI_DMA_DATA, base + 9999 * 2 * PAGE);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_HOST);
	dma(1, true, PCI_DMA_DATA, base + PAGE);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_NONE);
	/* Three taken side by side, given back out of order. */
	for (i = 0; i < 3; i++)
		event(SIM_TRACE_FRAMES, 0x900000 + i * PAGE, PAGE, 1, 1);
	event(SIM_TRACE_FRAMES, 0x900000 + PAGE, PAGE, 0, 0);
	dma(1, true, PCI_DMA_DATA, 0x900000);
	dma(1, true, PCI_DMA_DATA, 0x900000 + 2 * PAGE);
	legal();
	dma(1, true, PCI_DMA_DATA, 0x900000 + PAGE);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_NONE);
	event(SIM_TRACE_FRAMES, 0x900000 + 2 * PAGE, PAGE, 0, 0);
	event(SIM_TRACE_FRAMES, 0x900000, PAGE, 0, 0);
	event(SIM_TRACE_FRAMES, 0x900000, 3 * PAGE, 2, 1);
	legal();
}

static void test_violations__many__all_counted_some_kept(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < ORACLE_KEEP + 10; i++)
		dma(1, true, PCI_DMA_DATA, RAM(2));
	assert_int_equal(oracle_count(f->o), ORACLE_KEEP + 10);
	assert_int_equal(f->told, ORACLE_KEEP + 10);
	assert_non_null(oracle_violation(f->o, ORACLE_KEEP - 1));
	assert_null(oracle_violation(f->o, ORACLE_KEEP));
	assert_string_equal(oracle_violation(f->o, 0)->what, "VM 1: the SSD writes memory 0x2000000 + 0x200 of VM 2");
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_lba__own_blocks__only_those),
		TEST(test_frame__own_memory__only_that),
		TEST(test_host_memory__hosts_and_free_frames__never),
		TEST(test_cpu__memory__own_and_mapped_queue_pages),
		TEST(test_cpu__registers__doorbells_only),
		TEST(test_doorbell__own_queues__only_those),
		TEST(test_cqe__in_anothers_queue__is_seen),
		TEST(test_reservation__of_the_shared_namespace__is_seen),
		TEST(test_admin__its_doorbells__the_hosts),
		TEST(test_vector__message_of_own_queue__only_that),
		TEST(test_function__of_a_vm__answers_for_it),
		TEST(test_vector__queue_was_taken__posted_to_nobody_any_more),
		TEST(test_remanence__stale_blocks__not_to_who_never_wrote_them),
		TEST(test_overlap__two_owners__never),
		TEST(test_frames__partly_freed__both_sides_stay),
		TEST(test_frames__thousands_of_ranges__each_known),
		TEST(test_violations__many__all_counted_some_kept),
	};

	return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
