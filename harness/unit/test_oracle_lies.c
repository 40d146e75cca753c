// SPDX-License-Identifier: GPL-2.0
/*
 * A backend that lies: it grants one thing to two, maps what is another's, and says what it likes. What the
 * oracle knows of ownership comes from the first who was given something, until the host takes it back.
 */
#include "oracle_rig.h"

static void dma(u32 vm, bool write, u64 hpa)
{
	event_io((u64)QUEUE(vm) << 48 | 1, TRACE_DMA, 0x100 | (u64)write << 16 | PCI_DMA_DATA << 17, hpa, hpa, 512);
}

static void cpu(u32 vm, bool store, u64 hpa)
{
	event(store ? TRACE_CPU_STORE : TRACE_CPU_LOAD, VCPU(vm), 0x40000000, hpa, 8);
}

static void media(u32 vm, u64 lba)
{
	event_io((u64)QUEUE(vm) << 48 | 1, TRACE_MEDIA, QUEUE(vm), NVME_CMD_READ, lba, 8);
}

/* Whatever LightIOV says of itself (denials, guards, answers: all kinds of its own), for VM 1 and of what is VM 2's. */
static void claims(void)
{
	u32 kind;

	for (kind = SIM_TRACE_WORLD_END; kind < 128; kind++) {
		event(kind, 1, 0, RAM(2), 0x10000);
		event(kind, 1, 0, LBA(2), 0x1000);
		event(kind, 2, 0, RAM(2), 0x10000);
	}
}

static void test_core__claims_that_it_guards_and_grants__an_escape_is_one(void **state)
{
	(void)state;
	claims();
	legal();
	dma(1, true, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	media(1, LBA(2));
	breach(ORACLE_LBA, 1, 2);
	cpu(1, true, RAM(2));
	breach(ORACLE_CPU, 1, 2);
	claims();
	dma(1, true, RAM(1));
	media(1, LBA(1));
	legal();
}

static void test_core__is_not_listened_to__at_all(void **state)
{
	struct oracle_world w = { .media = f->media, .blocks = 8, .ssd = &f->fn };
	u64 mask[2] = { 0 };
	struct oracle *o = oracle_create(&w, mask);
	u32 kind;

	(void)state;
	for (kind = SIM_TRACE_WORLD_END; kind < 128; kind++)
		assert_false(mask[kind >> 6] >> (kind & 63) & 1);
	/* Nor to what was mapped for devices: who maps what is another's has not made it his. */
	assert_false(mask[SIM_TRACE_IOVA >> 6] >> (SIM_TRACE_IOVA & 63) & 1);
	oracle_free(o);
}

static void test_iova__mapped_to_anothers_frames__not_given_by_it(void **state)
{
	(void)state;
	event(SIM_TRACE_IOVA, 0x200000000ull, 0x10000, RAM(2), 1);
	dma(1, false, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	event(SIM_TRACE_IOVA, 0x200000000ull, 0x10000, HOST_RAM, 1);
	dma(1, true, HOST_RAM + 0x10000);
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_HOST);
}

static void test_frames__granted_twice__stay_the_firsts(void **state)
{
	(void)state;
	event(SIM_TRACE_FRAMES, RAM(2), 0x10000, 1, 1);
	breach(ORACLE_OVERLAP, 1, 2);
	dma(1, true, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	cpu(1, false, RAM(2) + 8);
	breach(ORACLE_CPU, 1, 2);
	dma(2, true, RAM(2));
	cpu(2, false, RAM(2) + 8);
	legal();
	/* Handed over in order it is the other's, and the first one's no more. */
	event(SIM_TRACE_FRAMES, RAM(2), 0x10000, SIM_OWNER_NONE, 0);
	event(SIM_TRACE_FRAMES, RAM(2), 0x10000, 1, 1);
	dma(1, true, RAM(2));
	legal();
	dma(2, true, RAM(2));
	breach(ORACLE_FRAME, 2, 1);
}

static void test_page__anothers_memory_is_answered_for_a_cmb_page__not_given_by_it(void **state)
{
	(void)state;
	event(SIM_TRACE_PAGE, 1, 0x10000, RAM(2), 1);
	cpu(1, true, RAM(2));
	breach(ORACLE_CPU, 1, 2);
	cpu(1, false, RAM(2));
	breach(ORACLE_CPU, 1, 2);
	/* And what is nobody's. */
	event(SIM_TRACE_PAGE, 1, 0x11000, 0x500000, 1);
	cpu(1, true, 0x500000);
	breach(ORACLE_CPU, 1, SIM_OWNER_NONE);
}

static void test_blocks__granted_twice__seen_at_once_and_their_content_too(void **state)
{
	(void)state;
	event_io((u64)QUEUE(2) << 48 | 1, TRACE_MEDIA, QUEUE(2), NVME_CMD_WRITE, LBA(2), 8);
	store_write_tag(f->media, LBA(2) * 512, 0x5EC4E7);
	legal();
	/* VM 1's blocks are said to be more: VM 2's, too. */
	event(SIM_TRACE_VM, 1, 1, LBA(1), 0x2000);
	breach(ORACLE_OVERLAP, 1, 2);
	/* What VM 2 wrote there is an earlier owner's now, whoever says that it is gone. */
	media(1, LBA(2));
	breach(ORACLE_REMANENCE, 1, SIM_OWNER_NONE);
}

static void test_queue__of_a_vm_given_to_another__seen_at_once(void **state)
{
	(void)state;
	event(SIM_TRACE_QUEUE, 1, QUEUE(2), 1, 0);
	breach(ORACLE_OVERLAP, 1, 2);
	/* Its commands are VM 1's from here: what they do to VM 2 is an escape. */
	event_io((u64)QUEUE(2) << 48 | 2, TRACE_DMA, 0x100 | 1 << 16 | PCI_DMA_DATA << 17, 0, RAM(2), 512);
	breach(ORACLE_FRAME, 1, 2);
}

static void test_vm__said_to_be_gone__its_frames_are_still_no_others(void **state)
{
	(void)state;
	event(SIM_TRACE_VM, 2, 0, LBA(2), 0x1000);
	dma(1, true, RAM(2));
	breach(ORACLE_FRAME, 1, 2);
	/* Taken back: free, and still not VM 1's. */
	event(SIM_TRACE_FRAMES, RAM(2), 0x10000, SIM_OWNER_NONE, 0);
	dma(1, true, RAM(2));
	breach(ORACLE_HOST_MEMORY, 1, SIM_OWNER_NONE);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_core__claims_that_it_guards_and_grants__an_escape_is_one),
		TEST(test_core__is_not_listened_to__at_all),
		TEST(test_iova__mapped_to_anothers_frames__not_given_by_it),
		TEST(test_frames__granted_twice__stay_the_firsts),
		TEST(test_page__anothers_memory_is_answered_for_a_cmb_page__not_given_by_it),
		TEST(test_blocks__granted_twice__seen_at_once_and_their_content_too),
		TEST(test_queue__of_a_vm_given_to_another__seen_at_once),
		TEST(test_vm__said_to_be_gone__its_frames_are_still_no_others),
	};

	return cmocka_run_group_tests_name("oracle_lies", tests, NULL, NULL);
}
