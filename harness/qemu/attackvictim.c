// SPDX-License-Identifier: GPL-2.0
/*
 * attackvictim SEED UUID ATTACKER: the VM that is attacked, and what it and its host notice of
 * it. ATTACKER is the mdev that attacks. First it prints its secrets, one a line:
 *
 *   secret 0xWORD             a first word of a block or page that is not the attacker's
 *
 * Then it is told on standard input:
 *
 *   mark                      from now on; answer: marked
 *   look                      what changed since? answer: the line below
 *   repair                    after look: what is not as it was is made so; answer: repaired
 *   again                     the controller was reset: make the queues again; answer: again
 *   end
 *
 *   noticed memory N queue N interrupts N blocks N io N host N violations N
 *
 * memory: pages; queue: bytes of its rings; interrupts that no completion of its own raised;
 * blocks; io: its own commands that failed; host: interrupts of the physical admin queue;
 * violations: touches by the attacker of what is not mapped for it.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate_pattern.h"
#include "mdevguest.h"

#define BLOCK		512u
#define HOST_BLOCKS	2048u		/* before the first VM's, of the module's own */
#define SECRET_GPA	0x200000u	/* from here to the end of its memory */
#define SECRET_BLOCKS	8u
#define FIRST_PAGES	16u		/* whose words are told */
#define LATER_GPA	0x180000u	/* for a look at its blocks */
#define RING_BYTES	4096u
#define WAIT_US		5000000u
#define SSD_SERIAL	"LIOVGATE01          "	/* harness/qemu/boot */

struct noticed {
	u64 memory, queue, interrupts, blocks, io;
};

static unsigned long long seed;
static u8 *memory;			/* what its memory should be, from SECRET_GPA on */
static u8 rings[2][QUEUES][RING_BYTES];	/* what its SQs and CQs should be */

static void secret_fill(u8 *at, u64 where, u64 bytes)
{
	u64 off;

	for (off = 0; off < bytes; off += 8) {
		u64 word = gate_pattern(seed, where + off);

		memcpy(at + off, &word, 8);
	}
}

/* Nowhere on the disk's image is what the victim has. */
static u64 memory_where(void)
{
	return 1ull << 40;
}

static u64 block_where(u64 block)
{
	return (1ull << 41) + block * BLOCK;
}

static void tell(u64 word)
{
	printf("secret 0x%016llx\n", (unsigned long long)word);
}

/* As attack_cases.c says it. */
static u64 serial_word(const void *serial)
{
	u64 part[3] = { 0 };

	memcpy(part, serial, 20);
	return part[0] * 5 + part[1] * 3 + part[2];
}

/* Of its own, and of blocks that are nobody's or the host's: the image's. */
static void tell_secrets(struct guest *g, u64 attacker_end)
{
	u64 i;

	for (i = 0; i < FIRST_PAGES; i++)
		tell(gate_pattern(seed, memory_where() + i * 4096));
	for (i = 0; i < SECRET_BLOCKS; i++)
		tell(gate_pattern(seed, block_where(i)));
	for (i = 0; i < SECRET_BLOCKS; i++) {
		tell(gate_pattern(seed, (attacker_end + i) * BLOCK));
		tell(gate_pattern(seed, i * BLOCK));
	}
	CHECK(!guest_admin(g, (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .prp1 = LATER_GPA, .cdw10 = NVME_CNS_CTRL }, NULL));
	tell(serial_word(g->ram + LATER_GPA + NVME_ID_CTRL_SN));
	tell(serial_word(SSD_SERIAL));
}

/* A command that may go unanswered. */
static bool io_ok(struct guest *g, u8 opcode, u64 block, u64 gpa)
{
	struct guest_queue *q = &g->queue[1];
	volatile struct nvme_cqe *cqe = &q->cq[q->head];
	u32 us;

	guest_submit(g, 1, opcode, block + g->info.lba_start, gpa + g->info.dma_offset);
	for (us = 0; (bool)(cqe->status & NVME_CQE_PHASE) != q->phase; us += 100) {
		if (us >= WAIT_US)
			return false;
		usleep(100);
	}
	return cqe->cid == q->cid && guest_complete(g, 1) == 0;
}

static u64 write_blocks(struct guest *g)
{
	u64 i, failed = 0;

	for (i = 0; i < SECRET_BLOCKS && !failed; i++) {
		secret_fill(g->ram + DATA_GPA, block_where(i), BLOCK);
		failed += !io_ok(g, NVME_CMD_WRITE, i, DATA_GPA);
	}
	return failed;
}

static void look_at_blocks(struct guest *g, struct noticed *n)
{
	u8 want[BLOCK];
	u64 i;

	for (i = 0; i < SECRET_BLOCKS && !n->io; i++) {
		secret_fill(want, block_where(i), BLOCK);
		memset(g->ram + LATER_GPA, 0, BLOCK);
		n->io += !io_ok(g, NVME_CMD_READ, i, LATER_GPA);
		n->blocks += !n->io && memcmp(g->ram + LATER_GPA, want, BLOCK) != 0;
	}
}

/* Its rings lie in pages of 4 KiB, of which it uses the first. */
static volatile u8 *ring(struct guest *g, u32 kind, u32 index)
{
	return kind ? (volatile u8 *)g->queue[index + 1].cq : (volatile u8 *)g->queue[index + 1].sq;
}

static void rings_save(struct guest *g)
{
	u32 kind, i, b;

	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < QUEUES; i++)
			for (b = 0; b < RING_BYTES; b++)
				rings[kind][i][b] = ring(g, kind, i)[b];
}

static u64 rings_changed(struct guest *g)
{
	u32 kind, i, b;
	u64 changed = 0;

	for (kind = 0; kind < 2; kind++)
		for (i = 0; i < QUEUES; i++)
			for (b = 0; b < RING_BYTES; b++)
				changed += ring(g, kind, i)[b] != rings[kind][i][b];
	return changed;
}

static u64 memory_changed(struct guest *g)
{
	u64 off, changed = 0;

	for (off = 0; off < RAM_BYTES - SECRET_GPA; off += 4096)
		changed += memcmp(g->ram + SECRET_GPA + off, memory + off, 4096) != 0;
	return changed;
}

static u64 interrupts(struct guest *g)
{
	u64 n = 0;
	u32 v;

	for (v = 0; v < VECTORS; v++)
		n += guest_interrupts(g, v);
	return n;
}

/* Of the physical admin queue: first column of numbers to the last, all processors. */
static u64 host_interrupts(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[512];
	u64 sum = 0;

	CHECK(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = strchr(line, ':'), *end;

		if (!at || !strstr(line, "lightiov-0\n"))
			continue;
		for (at++; ; at = end) {
			u64 n = strtoull(at, &end, 10);

			if (end == at)
				break;
			sum += n;
		}
	}
	fclose(f);
	return sum;
}

static u64 violations(const char *attacker)
{
	struct guest who = { .uuid = attacker };

	return (u64)guest_attr(&who, "faults_refused") + (u64)guest_attr(&who, "traps");
}

static void queues_create(struct guest *g)
{
	u32 qid;

	for (qid = 1; qid <= QUEUES; qid++)
		guest_queue_create(g, qid);
	CHECK(!write_blocks(g));
}

/* The attack's trace goes; what it broke is made anew. */
static void repair(struct guest *g, const struct noticed *n)
{
	bool rings_harmed = n->queue || n->io || n->interrupts;
	u32 qid;

	memcpy(g->ram + SECRET_GPA, memory, RAM_BYTES - SECRET_GPA);
	for (qid = 1; qid <= QUEUES && rings_harmed; qid++)
		guest_queue_delete(g, qid);
	if (rings_harmed)
		queues_create(g);
	else
		CHECK(!write_blocks(g));
}

/* Interrupts of its last commands may be still on their way. */
static void settle(struct guest *g)
{
	u32 quiet;

	for (quiet = 0; quiet < 3; quiet++) {
		usleep(5000);
		if (interrupts(g))
			quiet = 0;
	}
}

static struct noticed look(struct guest *g, const char *attacker, u64 host, u64 before)
{
	struct noticed n = { 0 };
	u64 violated = violations(attacker) - before;

	host = host_interrupts() - host;
	n.interrupts = interrupts(g);
	n.memory = memory_changed(g);
	n.queue = rings_changed(g);
	/* With rings that others wrote to there is nothing to be asked. */
	if (!n.queue)
		look_at_blocks(g, &n);
	printf("noticed memory %llu queue %llu interrupts %llu blocks %llu io %llu host %llu violations %llu\n",
	       (unsigned long long)n.memory, (unsigned long long)n.queue, (unsigned long long)n.interrupts,
	       (unsigned long long)n.blocks, (unsigned long long)n.io, (unsigned long long)host, (unsigned long long)violated);
	return n;
}

static void serve(struct guest *g, const char *attacker)
{
	struct noticed noticed = { 0 };
	u64 host = 0, before = 0;
	char line[32];

	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n")) {
		if (!strcmp(line, "look\n")) {
			noticed = look(g, attacker, host, before);
		} else if (!strcmp(line, "repair\n")) {
			repair(g, &noticed);
			printf("repaired\n");
		} else if (!strcmp(line, "again\n")) {
			queues_create(g);
			printf("again\n");
		} else {
			settle(g);
			rings_save(g);
			host = host_interrupts();
			before = violations(attacker);
			printf("marked\n");
		}
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct guest g, other = { 0 };

	CHECK(argc == 4);
	seed = strtoull(argv[1], NULL, 0);
	other.uuid = argv[3];
	guest_open(&g, argv[2]);
	guest_start(&g);
	CHECK(!guest_memory(&g, true, 0, RAM_BYTES));
	memory = malloc(RAM_BYTES - SECRET_GPA);
	CHECK(memory);
	secret_fill(memory, memory_where(), RAM_BYTES - SECRET_GPA);
	memcpy(g.ram + SECRET_GPA, memory, RAM_BYTES - SECRET_GPA);
	queues_create(&g);
	tell_secrets(&g, HOST_BLOCKS + (u64)guest_attr(&g, "blocks") + (u64)guest_attr(&other, "blocks"));
	printf("ready\n");
	fflush(stdout);
	serve(&g, argv[3]);
	guest_close(&g);
	return 0;
}
