// SPDX-License-Identifier: GPL-2.0
/* mdevtest POLICY|watched SEED UUID UUID: what LightIOV's mdevs do for a VMM, and what they do not let its guest do. */

#define _GNU_SOURCE	/* mremap() */

#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate_pattern.h"
#include "mdevguest.h"

#define BLOCK		512u
#define HOST_BLOCKS	2048u		/* of the module, unless told otherwise */
#define BLOCKS		8192u		/* of the first VM: its attribute was written */

static bool mediated, watched;
static unsigned long long seed;

static void said(const struct guest *g, const char *what)
{
	printf("mdevtest: %s: VM %c: %s\n", watched ? "watched" : mediated ? "mediated" : "paper",
	       g->uuid[strlen(g->uuid) - 1] == '1' ? 'A' : 'B', what);
	fflush(stdout);
}

static void fill(struct guest *g, u64 gpa, u8 tag)
{
	u32 i;

	for (i = 0; i < BLOCK; i++)
		g->ram[gpa + i] = (u8)(tag + i * 7);
}

static bool is_filled(struct guest *g, u64 gpa, u8 tag)
{
	u32 i;

	for (i = 0; i < BLOCK && g->ram[gpa + i] == (u8)(tag + i * 7); i++)
		;
	return i == BLOCK;
}

static bool is_byte(struct guest *g, u64 gpa, u8 byte)
{
	u32 i;

	for (i = 0; i < BLOCK && g->ram[gpa + i] == byte; i++)
		;
	return i == BLOCK;
}

/* Its whole memory, and a queue pair each. */
static void start(struct guest *g)
{
	guest_start(g);
	CHECK(!guest_memory(g, true, 0, RAM_BYTES));
	CHECK(guest_attr(g, "pinned_pages") == RAM_BYTES / 4096);
	guest_queue_create(g, 1);
	guest_queue_create(g, 2);
}

static void store(struct guest *g, u64 off, u32 val)
{
	*(volatile u32 *)(g->cmb + off) = val;
}

/* A load of nothing finds ones. A store is in nobody's page, and soon cannot be read back. */
static void nothing(struct guest *g)
{
	u64 sq = LIOV_CMB_SLOTS + LIOV_SLOT_SQ, cq = LIOV_CMB_SLOTS + LIOV_SLOT_CQ;

	CHECK(guest_attr(g, "faults") == 0);
	CHECK(!guest_touch(g, sq, false) && !guest_touch(g, cq, false));
	CHECK(guest_attr(g, "faults_refused") == 2);
	store(g, sq, 0x11111111);
	CHECK(guest_asked(g, sq) == ~0u && guest_load(g, cq) == ~0u);
	AWAIT(guest_load(g, sq) == ~0u);
	CHECK(guest_attr(g, "faults") == 0);
	store(g, LIOV_CMB_INFO, 0x22222222);
	CHECK(guest_asked(g, LIOV_CMB_INFO) == LIOV_INFO_MAGIC);
	AWAIT(guest_load(g, LIOV_CMB_INFO) == LIOV_INFO_MAGIC);
	CHECK(guest_attr(g, "faults") == 1);
	/* Now it is mapped for reading. */
	store(g, LIOV_CMB_INFO + 4, 0x33333333);
	CHECK(guest_asked(g, LIOV_CMB_INFO + 4) == (LIOV_ABI_MAJOR | LIOV_ABI_MINOR << 16));
	AWAIT(guest_load(g, LIOV_CMB_INFO) == LIOV_INFO_MAGIC);
	CHECK(guest_load(g, LIOV_CMB_INFO + 4) == (LIOV_ABI_MAJOR | LIOV_ABI_MINOR << 16));
	CHECK(guest_attr(g, "faults") == 2);
	/* Left for the queues and the doorbells to take the place of. */
	CHECK(!guest_touch(g, sq, false) && !guest_touch(g, cq, false));
	CHECK(guest_touch(g, LIOV_CMB_DOORBELLS, false) == watched);
	said(g, "ones where nothing is, and stores are lost");
}

/* What one VM stored to nothing is not seen by another, nor by whoever has the device next. */
static void nothing_shared(struct guest *a, struct guest *b)
{
	const u64 past = LIOV_CMB_SIZE_MIN - 0x1000;

	store(a, past, 0x44444444);
	store(b, past + 8, 0x55555555);
	CHECK(guest_load(b, past) == ~0u);
	store(b, past, 0x66666666);
	guest_close(b);
	guest_open(b, b->uuid);
	store(b, past + 8, 0x77777777);
	CHECK(guest_load(b, past) == ~0u);
}

/* One fault a page; nothing where nothing is. */
static void pages(struct guest *g)
{
	u64 sq = LIOV_CMB_SLOTS + LIOV_SLOT_SQ, cq = LIOV_CMB_SLOTS + LIOV_SLOT_CQ;
	long long faults = guest_attr(g, "faults"), i;

	start(g);
	CHECK(guest_attr(g, "faults") == faults);	/* the info page was mapped before */
	for (i = 0; i < 1000; i++)
		CHECK(guest_touch(g, sq, true));
	CHECK(guest_attr(g, "faults") == faults + 1);
	for (i = 0; i < 1000; i++)
		CHECK(guest_touch(g, cq + 8, false));
	CHECK(guest_attr(g, "faults") == faults + 2);
	/* 32 entries are half a page of the SQ: the next page is nobody's. */
	CHECK(!guest_touch(g, sq + 4096, false));
	CHECK(guest_touch(g, LIOV_CMB_DOORBELLS, false) == (!mediated || watched));
	said(g, "one fault a page, nothing behind the others");
}

/* No part of a mapping can be cut off or moved away from what revokes it. */
static void mappings(struct guest *g)
{
	CHECK(munmap((void *)(g->cmb + 0x1000), 0x1000) < 0);
	CHECK(mremap((void *)g->cmb, g->cmb_size, g->cmb_size, MREMAP_MAYMOVE | MREMAP_FIXED, (char *)g->ram - (64 << 20)) ==
	      MAP_FAILED);
	CHECK(guest_touch(g, LIOV_CMB_INFO, false));
}

static void io(struct guest *g, u8 tag)
{
	long long faults, traps, refused;
	u32 i, q;

	CHECK(g->info.lba_count == (u64)guest_attr(g, "blocks"));
	/* What was there before is wiped. */
	memset(g->ram + DATA_GPA, 0xee, BLOCK);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 5, DATA_GPA) && is_byte(g, DATA_GPA, 0));
	for (q = 1; q <= QUEUES; q++) {
		guest_interrupts(g, q);
		fill(g, DATA_GPA, (u8)(tag + q));
		CHECK(!guest_io(g, q, NVME_CMD_WRITE, q * 100, DATA_GPA));
		memset(g->ram + DATA_GPA + 0x1000, 0, BLOCK);
		CHECK(!guest_io(g, q, NVME_CMD_READ, q * 100, DATA_GPA + 0x1000));
		CHECK(is_filled(g, DATA_GPA + 0x1000, (u8)(tag + q)));
		AWAIT(guest_interrupts(g, q));
	}
	CHECK(!guest_io(g, 1, NVME_CMD_READ, g->info.lba_count - 1, DATA_GPA));
	faults = guest_attr(g, "faults");
	refused = guest_attr(g, "faults_refused");
	traps = guest_attr(g, "traps");
	for (i = 0; i < 200; i++)
		CHECK(!guest_io(g, 1 + i % 2, i & 2 ? NVME_CMD_READ : NVME_CMD_WRITE, i, DATA_GPA));
	CHECK(guest_attr(g, "faults") == faults && guest_attr(g, "faults_refused") == refused);
	/* Two doorbells a command trap under mediated, unless they are watched; none otherwise. */
	CHECK(guest_attr(g, "traps") == traps + (mediated && !watched ? 400 : 0));
	said(g, "data as written on both queues, interrupts, no fault in 200 commands");
}

/* A block that is the host's, whose content the image's maker knows. */
static void foreign(struct guest *g)
{
	const u64 block = 40;
	u64 slba = mediated ? g->info.lba_count : block, word;
	u16 status;
	u32 i;

	CHECK(block < HOST_BLOCKS);
	memset(g->ram + DATA_GPA, 0xa5, BLOCK);
	guest_submit(g, 1, NVME_CMD_READ, slba, DATA_GPA + g->info.dma_offset);
	status = guest_complete(g, 1);
	if (mediated) {
		CHECK(status == NVME_SC_LBA_RANGE && is_byte(g, DATA_GPA, 0xa5));
		said(g, "foreign LBA refused 0/0x80");
		return;
	}
	CHECK(status == 0);
	for (i = 0; i < BLOCK; i += 8) {
		memcpy(&word, g->ram + DATA_GPA + i, 8);
		CHECK(word == gate_pattern(seed, block * BLOCK + i));
	}
	said(g, "foreign LBA read: the host's block, as the policy has it");
}

/* What the VMM unmaps is not the guest's to use, whatever it registered. */
static void unmapped(struct guest *g)
{
	guest_map_half(g, 1, false);
	CHECK(guest_attr(g, "pinned_pages") == RAM_BYTES / 2 / 4096);
	/* Under paper the IOMMU would stop it, with a fault that this boot is not to have. */
	if (mediated)
		CHECK(guest_io(g, 1, NVME_CMD_READ, 1, RAM_BYTES / 2) == NVME_SC_DATA_TRANSFER);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 1, DATA_GPA));
	CHECK(guest_memory(g, true, RAM_BYTES / 2, RAM_BYTES / 2) != 0);
	CHECK(guest_attr(g, "pinned_pages") == RAM_BYTES / 2 / 4096);
	guest_map_half(g, 1, true);
	CHECK(!guest_memory(g, true, RAM_BYTES / 2, RAM_BYTES / 2));
	CHECK(guest_attr(g, "pinned_pages") == RAM_BYTES / 4096);
	fill(g, RAM_BYTES - 0x1000, 77);
	CHECK(!guest_io(g, 2, NVME_CMD_WRITE, 9, RAM_BYTES - 0x1000));
	CHECK(!guest_io(g, 2, NVME_CMD_READ, 9, DATA_GPA) && is_filled(g, DATA_GPA, 77));
	/* One page from the middle of a large one: its neighbours stay. */
	CHECK(!guest_memory(g, false, 0x201000, 0x1000));
	CHECK(guest_attr(g, "pinned_pages") == RAM_BYTES / 4096 - 1);
	CHECK(!guest_io(g, 2, NVME_CMD_READ, 9, 0x200000) && is_filled(g, 0x200000, 77));
	CHECK(!guest_io(g, 2, NVME_CMD_READ, 9, 0x202000) && is_filled(g, 0x202000, 77));
	said(g, "memory unmapped by the VMM is unpinned, and comes back");
}

/* A page is gone when its queue is, and when the function was reset. */
static void revoked(struct guest *g)
{
	u64 sq = LIOV_CMB_SLOTS + LIOV_CMB_SLOT_STRIDE + LIOV_SLOT_SQ;
	long long faults = guest_attr(g, "faults");

	CHECK(guest_touch(g, sq, false) && guest_attr(g, "faults") == faults);
	guest_queue_delete(g, 2);
	CHECK(!guest_touch(g, sq, false));
	guest_queue_create(g, 2);
	CHECK(guest_touch(g, sq, false) && guest_attr(g, "faults") == faults + 1);
	CHECK(!guest_io(g, 2, NVME_CMD_READ, 9, DATA_GPA) && is_filled(g, DATA_GPA, 77));
	CHECK(!ioctl(g->device, VFIO_DEVICE_RESET));
	CHECK(!guest_touch(g, sq, false) && !guest_touch(g, LIOV_CMB_SLOTS, false));
	CHECK(guest_attr(g, "pinned_pages") == 0);
	CHECK(!(guest_reg_rd(g, NVME_REG_CSTS) & NVME_CSTS_RDY));
	start(g);
	CHECK(!guest_io(g, 2, NVME_CMD_READ, 9, DATA_GPA) && is_filled(g, DATA_GPA, 77));
	said(g, "pages go with their queue and with a reset; data stays");
}

/* The same by a vCPU: KVM ends no VM for any of it. */
static void through_kvm(struct guest *g)
{
	const u32 info = LIOV_CMB_INFO, sq = LIOV_CMB_SLOTS + LIOV_CMB_SLOT_STRIDE + LIOV_SLOT_SQ;
	struct guest_vcpu v;

	guest_vcpu_open(g, &v);
	CHECK(guest_vcpu_load(&v, info) == LIOV_INFO_MAGIC);
	guest_vcpu_store(&v, info, 0x11111111);
	CHECK(guest_asked(g, info) == LIOV_INFO_MAGIC);
	AWAIT(guest_vcpu_load(&v, info) == LIOV_INFO_MAGIC);
	guest_vcpu_store(&v, sq + 16, 0x22222222);
	CHECK(guest_asked(g, sq + 16) == 0x22222222);
	guest_queue_delete(g, 2);
	CHECK(guest_vcpu_load(&v, sq) == ~0u && guest_vcpu_load(&v, sq + 16) == ~0u);
	guest_vcpu_store(&v, sq + 32, 0x33333333);
	CHECK(guest_vcpu_load(&v, sq) == ~0u && guest_asked(g, sq + 32) == ~0u);
	guest_queue_create(g, 2);
	CHECK(guest_vcpu_load(&v, sq) == 0 && guest_vcpu_load(&v, sq + 32) == 0);
	CHECK(guest_vcpu_load(&v, sq + LIOV_SLOT_CQ) != ~0u);
	guest_vcpu_store(&v, sq + 16, 0x44444444);
	CHECK(guest_asked(g, sq + 16) == 0x44444444);
	guest_vcpu_close(&v);
	said(g, "KVM runs a vCPU into what is not there, and on");
}

/* The function that all share is reset: mediated queues live on, others are made again by the guest. */
static void outage(struct guest *g)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/../reset", g->uuid);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0 && write(fd, "1", 1) == 1);
	close(fd);
	CHECK(guest_reg_rd(g, NVME_REG_CSTS) == NVME_CSTS_RDY);
	CHECK(guest_touch(g, LIOV_CMB_INFO, false));
	if (!mediated) {
		CHECK(!guest_touch(g, LIOV_CMB_SLOTS, false) && !guest_touch(g, LIOV_CMB_DOORBELLS, false));
		guest_queue_create(g, 1);
		guest_queue_create(g, 2);
	}
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 9, DATA_GPA) && is_filled(g, DATA_GPA, 77));
	CHECK(!guest_io(g, 2, NVME_CMD_READ, 9, DATA_GPA) && is_filled(g, DATA_GPA, 77));
	said(g, "a reset of the controller is survived");
}

/* The device's own pages are no memory that it could be told to use, also where the VMM maps them like memory. */
static void own_pages(struct guest *g)
{
	const u64 on = NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE;
	long long faults = guest_attr(g, "faults"), refused = guest_attr(g, "faults_refused");

	guest_map_cmb(g, true);
	CHECK(guest_memory(g, true, CMB_GPA, 0x1000) != 0);
	CHECK(guest_memory(g, true, CMB_GPA + LIOV_CMB_SLOTS, 0x1000) != 0);
	guest_reg_wr(g, NVME_REG_CMBMSC, CMB_GPA | on, 8);
	CHECK(guest_reg_rd(g, NVME_REG_CMBSTS) == 0);
	guest_reg_wr(g, NVME_REG_CMBMSC, (RAM_BYTES - 0x1000) | on, 8);
	CHECK(guest_reg_rd(g, NVME_REG_CMBSTS) == NVME_CMBSTS_CBAI);
	guest_reg_wr(g, NVME_REG_CMBMSC, RAM_BYTES | on, 8);
	CHECK(guest_reg_rd(g, NVME_REG_CMBSTS) == 0);
	guest_reg_wr(g, NVME_REG_CMBMSC, 0, 8);
	guest_map_cmb(g, false);
	CHECK(guest_attr(g, "faults") == faults && guest_attr(g, "faults_refused") == refused);
	CHECK(guest_attr(g, "pinned_pages") == RAM_BYTES / 4096);
	said(g, "its own pages are not taken for memory");
}

/* What comes while a vector is masked is not lost. */
static void masked(struct guest *g)
{
	guest_vector(g, 1, false);
	guest_interrupts(g, 1);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 1, DATA_GPA));
	usleep(50000);
	CHECK(guest_interrupts(g, 1) == 0);
	guest_vector(g, 1, true);
	AWAIT(guest_interrupts(g, 1));
	said(g, "an interrupt waits behind its mask");
}

/* A vector that is the VM's alone is offered to the KVM that has its eventfd, and is taken back before that eventfd goes. */
static void posted(struct guest *g, int vm)
{
	const int own = mediated ? 0 : 1, event = g->event[1];
	int other;

	CHECK(guest_attr(g, "posted_vectors") == 0);
	guest_irq_take(vm, event, true);
	CHECK(guest_attr(g, "posted_vectors") == own);
	guest_irq_came(vm);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 1, DATA_GPA));
	AWAIT(guest_irq_came(vm));
	guest_vector(g, 1, false);
	CHECK(guest_attr(g, "posted_vectors") == 0);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 1, DATA_GPA));
	CHECK(!guest_irq_came(vm));
	guest_vector(g, 1, true);
	CHECK(guest_attr(g, "posted_vectors") == own);
	AWAIT(guest_irq_came(vm));
	other = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CHECK(other > 0);
	g->event[1] = other;
	guest_vector(g, 1, true);
	CHECK(guest_attr(g, "posted_vectors") == 0);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 1, DATA_GPA));
	AWAIT(guest_interrupts(g, 1));
	CHECK(!guest_irq_came(vm));
	g->event[1] = event;
	guest_vector(g, 1, true);
	CHECK(guest_attr(g, "posted_vectors") == own);
	guest_queue_delete(g, 1);
	CHECK(guest_attr(g, "posted_vectors") == 0);
	guest_queue_create(g, 1);
	CHECK(guest_attr(g, "posted_vectors") == own);
	guest_irq_take(vm, event, false);
	CHECK(guest_attr(g, "posted_vectors") == 0);
	close(other);
	said(g, mediated ? "its vectors are not KVM's to take" : "KVM takes the vectors whose eventfds it has");
}

/* In a process of its own: touch when told to, and say how it went; at the end as fast as it can, until told. */
static void toucher(struct guest *g, u64 off, int from, int to)
{
	char c, r;
	int n = 0;

	g->cmb = mmap(NULL, g->cmb_size, PROT_READ | PROT_WRITE, MAP_SHARED, g->device, (off_t)g->bar2);
	CHECK(g->cmb != MAP_FAILED);
	while (read(from, &c, 1) == 1 && c == 't') {
		r = guest_touch(g, off, true) ? 'y' : 'n';
		CHECK(write(to, &r, 1) == 1);
	}
	CHECK(!fcntl(from, F_SETFL, O_NONBLOCK));
	while (read(from, &c, 1) < 0) {
		store(g, off + 32, 0x88888888);
		n += guest_load(g, off) != ~0u;
	}
	_exit(n > 0 ? 0 : 1);
}

static char ask(const int *down, const int *up)
{
	char c = 't';

	CHECK(write(down[1], &c, 1) == 1 && read(up[0], &c, 1) == 1);
	return c;
}

/* A page is taken from every process that has it, and never comes back by a race. */
static void two_processes(struct guest *g)
{
	u64 sq = LIOV_CMB_SLOTS + LIOV_CMB_SLOT_STRIDE + LIOV_SLOT_SQ;
	int down[2], up[2], status, i;
	pid_t pid;

	CHECK(!pipe(down) && !pipe(up));
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		toucher(g, sq, down[0], up[1]);
	CHECK(guest_touch(g, sq, true) && ask(down, up) == 'y');
	guest_queue_delete(g, 2);
	CHECK(ask(down, up) == 'n' && !guest_touch(g, sq, true));
	guest_queue_create(g, 2);
	CHECK(ask(down, up) == 'y');
	CHECK(write(down[1], "r", 1) == 1);
	for (i = 0; i < 25; i++) {
		usleep(2000);
		guest_queue_delete(g, 2);
		CHECK(!guest_touch(g, sq, false));
		guest_queue_create(g, 2);
	}
	CHECK(!munmap((void *)g->cmb, g->cmb_size));
	g->cmb = mmap(NULL, g->cmb_size, PROT_READ | PROT_WRITE, MAP_SHARED, g->device, (off_t)g->bar2);
	CHECK(g->cmb != MAP_FAILED);
	guest_queue_delete(g, 2);
	CHECK(write(down[1], "e", 1) == 1);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(!guest_touch(g, sq, false));
	guest_queue_create(g, 2);
	g->queue[1].sq = (void *)(g->cmb + g->info.queue[0].sq);
	g->queue[1].cq = (void *)(g->cmb + g->info.queue[0].cq);
	CHECK(!guest_io(g, 1, NVME_CMD_READ, 9, DATA_GPA) && is_filled(g, DATA_GPA, 77));
	said(g, "pages are taken from every process");
}

/* A VMM that ends with commands in flight and everything open. */
static void killed(const char *uuid)
{
	struct guest g;
	pid_t pid = fork();
	int status;
	u32 i;

	CHECK(pid >= 0);
	if (pid == 0) {
		guest_open(&g, uuid);
		start(&g);
		fill(&g, DATA_GPA, 200);
		CHECK(!guest_io(&g, 1, NVME_CMD_WRITE, 5, DATA_GPA));
		for (i = 0; i < DEPTH - 1; i++)
			guest_submit(&g, 1, NVME_CMD_WRITE, i + g.info.lba_start, DATA_GPA + g.info.dma_offset);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	guest_open(&g, uuid);
	CHECK(guest_attr(&g, "pinned_pages") == 0);
	start(&g);
	for (i = 0; i < DEPTH; i++) {
		memset(g.ram + DATA_GPA, 0xee, BLOCK);
		CHECK(!guest_io(&g, 1, NVME_CMD_READ, i, DATA_GPA) && is_byte(&g, DATA_GPA, 0));
	}
	said(&g, "VMM ended with commands in flight; the next finds nothing of its data");
	guest_close(&g);
}

int main(int argc, char **argv)
{
	struct guest a, b;
	int vm = guest_irq_vm();	/* throughout: QEMU's SVM has hung when it was turned off and on again */

	CHECK(argc == 5);
	watched = !strcmp(argv[1], "watched");
	mediated = watched || !strcmp(argv[1], "mediated");
	seed = strtoull(argv[2], NULL, 0);
	guest_open(&a, argv[3]);
	nothing(&a);
	pages(&a);
	CHECK(a.info.lba_count == BLOCKS);
	mappings(&a);
	io(&a, 10);
	foreign(&a);
	guest_open(&b, argv[4]);
	nothing_shared(&a, &b);
	start(&b);
	io(&b, 60);
	/* The other one's blocks of the same number are others. */
	CHECK(!guest_io(&a, 1, NVME_CMD_READ, 200, DATA_GPA) && is_filled(&a, DATA_GPA, 12));
	guest_close(&b);
	unmapped(&a);
	revoked(&a);
	through_kvm(&a);
	outage(&a);
	own_pages(&a);
	masked(&a);
	posted(&a, vm);
	two_processes(&a);
	guest_close(&a);
	killed(argv[4]);
	CHECK(guest_attr(&b, "pinned_pages") == 0);
	printf("mdevtest: %s: passed\n", argv[1]);
	return 0;
}
