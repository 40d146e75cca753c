// SPDX-License-Identifier: GPL-2.0
/*
 * The image on KVM, in guest ring 3. Guest RAM is the model's memory. The CMB BAR is a memory
 * slot over a window of this process that begins empty: a touch of what is not mapped brings
 * the vCPU back here (KVM_RUN fails with EFAULT), the model is asked as its own vCPU's exits
 * are, and a page it answers with is mapped into the window; KVM then faults it in by itself
 * and counts that. What is taken away leaves the window, and KVM's MMU notifier drops the
 * translation. BAR 0, and stores to the info page, whose slot is read-only, are MMIO exits.
 * userfaultfd would tell the address only: neither width nor value, and it could not refuse.
 */

#define _GNU_SOURCE
#include "flat.h"
#include "machine.h"
#include "doorbells.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define CMB_BYTES	((u64)LIOV_CMB_SIZE_MIN)
#define RETRIES_MAX	8u
#define CPUID_ENTRIES	256u

#define TABLES_PDPT	0x1000ull	/* after the PML4, from GUEST_TABLES on */
#define TABLES_PD	0x2000ull
#define TABLES_GDT	0x8000ull
#define TABLES_TSS	0xA000ull
#define TSS_MAP_AT	102		/* where the map of I/O permissions begins, 16 bits */
#define TSS_MAP		104
#define TSS_BYTES	(TSS_MAP + 0x2000 + 1)
#define PTE_TABLE	0x07ull		/* present, writable, user */
#define PTE_LARGE	0x87ull

struct home {
	struct guest_machine gm;
	struct doorbells doorbells;
	int kvm, vm, vcpu, stats;
	struct kvm_run *run;
	u8 *ram, *window;
	u64 fixed_at;			/* of pf_fixed in the statistics */
	u64 exits_mmio, exits_io, faults;
	u64 last_fault;
	hpa_t first_sq;			/* GUEST_BUG_TWICE: what is at LIOV_CMB_SLOTS */
	u32 retries;
};

static void fail(const char *what)
{
	fprintf(stderr, "guest-kvm: %s: %s\n", what, strerror(errno));
	exit(70);
}

/* No KVM that can be used: not our fault, and not the guest's. */
static void skip(const char *what)
{
	fprintf(stderr, "SKIPPED guest-kvm: %s: %s\n", what, strerror(errno));
	exit(77);
}

static int need(int ret, const char *what)
{
	if (ret < 0)
		fail(what);
	return ret;
}

/* --- the window on the CMB BAR --- */

static void map_page(void *opaque, u64 off, hpa_t hpa, bool writable)
{
	struct home *h = opaque;
	struct store *memory = h->gm.m->memory;
	int prot = PROT_READ | (writable ? PROT_WRITE : 0), file = flat_file(memory);
	u64 at = hpa.v;

	if (off == LIOV_CMB_SLOTS)
		h->first_sq = hpa;
	if (!bus_is_ram(&h->gm.m->bus, hpa, SPEC_PAGE_SIZE)) {
		file = h->doorbells.file;
		at = doorbells_add(&h->doorbells, off, hpa);
	}
	if (mmap(h->window + off, SPEC_PAGE_SIZE, prot, MAP_SHARED | MAP_FIXED, file, (off_t)at) == MAP_FAILED)
		fail("a page of the CMB");
}

static void unmap_pages(void *opaque, u64 off, u64 len)
{
	struct home *h = opaque;

	if (off >= CMB_BYTES)
		return;
	if (len > CMB_BYTES - off)
		len = CMB_BYTES - off;
	doorbells_poll(&h->doorbells, &h->gm);
	doorbells_remove(&h->doorbells, off, len);
	if (mmap(h->window + off, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
		fail("the window on the CMB");
}

/* --- the vCPU --- */

static void add_slot(struct home *h, u32 slot, u64 gpa, u64 len, void *from, u32 flags)
{
	struct kvm_userspace_memory_region r = {
		.slot = slot, .guest_phys_addr = gpa, .memory_size = len, .userspace_addr = (u64)from, .flags = flags,
	};

	need(ioctl(h->vm, KVM_SET_USER_MEMORY_REGION, &r), "memory slot");
}

/* Addresses as they are, 4 GiB of them in 2 MiB pages. */
static void make_tables(struct home *h)
{
	u8 *at = h->ram + (GUEST_TABLES - GUEST_RAM);
	u64 *pml4 = (u64 *)(void *)at, *pdpt = (u64 *)(void *)(at + TABLES_PDPT), *pd = (u64 *)(void *)(at + TABLES_PD);
	u64 *gdt = (u64 *)(void *)(at + TABLES_GDT), i;
	u16 map = TSS_MAP;

	pml4[0] = (GUEST_TABLES + TABLES_PDPT) | PTE_TABLE;
	for (i = 0; i < 4; i++)
		pdpt[i] = (GUEST_TABLES + TABLES_PD + i * SPEC_PAGE_SIZE) | PTE_TABLE;
	for (i = 0; i < 4 * 512; i++)
		pd[i] = i << 21 | PTE_LARGE;
	gdt[3] = 0x00affb000000ffffull;		/* code and data of ring 3 */
	gdt[4] = 0x00cff3000000ffffull;
	/* All ports are allowed by the map: not every KVM keeps IOPL. */
	memcpy(at + TABLES_TSS + TSS_MAP_AT, &map, sizeof(map));
}

static struct kvm_segment segment(u16 selector, u8 type, bool code)
{
	return (struct kvm_segment){ .selector = selector, .type = type, .limit = ~0u, .present = 1, .s = 1, .g = 1, .dpl = 3,
				     .l = code, .db = !code };
}

static void set_registers(struct home *h)
{
	struct kvm_regs regs = { .rip = GUEST_IMAGE, .rflags = 2 };
	struct kvm_sregs s;

	need(ioctl(h->vcpu, KVM_GET_SREGS, &s), "KVM_GET_SREGS");
	s.cs = segment(0x1b, 11, true);
	s.ds = s.es = s.fs = s.gs = s.ss = segment(0x23, 3, false);
	s.tr = (struct kvm_segment){ .base = GUEST_TABLES + TABLES_TSS, .limit = TSS_BYTES - 1, .selector = 0x28, .type = 11, .present = 1 };
	s.gdt.base = GUEST_TABLES + TABLES_GDT;
	s.gdt.limit = 39;
	s.cr3 = GUEST_TABLES;
	s.cr4 = 0x220;		/* PAE, OSFXSR */
	s.cr0 = 0x80050033;	/* PG, AM, WP, NE, ET, MP, PE */
	s.efer = 0x500;		/* LME, LMA */
	need(ioctl(h->vcpu, KVM_SET_SREGS, &s), "KVM_SET_SREGS");
	need(ioctl(h->vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

static void set_cpuid(struct home *h)
{
	struct kvm_cpuid2 *c = calloc(1, sizeof(*c) + CPUID_ENTRIES * sizeof(c->entries[0]));

	if (!c)
		fail("memory");
	c->nent = CPUID_ENTRIES;
	need(ioctl(h->kvm, KVM_GET_SUPPORTED_CPUID, c), "KVM_GET_SUPPORTED_CPUID");
	need(ioctl(h->vcpu, KVM_SET_CPUID2, c), "KVM_SET_CPUID2");
	free(c);
}

/* Where KVM keeps pf_fixed in what KVM_GET_STATS_FD gives. */
static void find_fixed(struct home *h)
{
	struct kvm_stats_header head;
	struct {
		struct kvm_stats_desc desc;
		char name[128];
	} d;
	u32 i;

	h->stats = ioctl(h->vcpu, KVM_GET_STATS_FD, NULL);
	if (h->stats < 0)
		skip("KVM_GET_STATS_FD");
	if (pread(h->stats, &head, sizeof(head), 0) != sizeof(head) || head.name_size > sizeof(d.name))
		fail("KVM's statistics");
	for (i = 0; i < head.num_desc; i++) {
		u64 size = sizeof(d.desc) + head.name_size;

		if (pread(h->stats, &d, size, (off_t)(head.desc_offset + i * size)) != (ssize_t)size)
			fail("KVM's statistics");
		if (strcmp(d.desc.name, "pf_fixed") == 0)
			h->fixed_at = head.data_offset + d.desc.offset;
	}
	if (!h->fixed_at)
		skip("no pf_fixed");
}

static u64 fixed(void *opaque)
{
	struct home *h = opaque;
	u64 v = 0;

	if (pread(h->stats, &v, sizeof(v), (off_t)h->fixed_at) != sizeof(v))
		fail("pf_fixed");
	return v;
}

static void open_kvm(struct home *h)
{
	int size;

	h->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (h->kvm < 0)
		skip("/dev/kvm");
	h->vm = ioctl(h->kvm, KVM_CREATE_VM, 0);
	if (h->vm < 0)
		skip("KVM_CREATE_VM");
	h->window = mmap(NULL, CMB_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (h->window == MAP_FAILED)
		fail("the window on the CMB");
	h->ram = flat_at(h->gm.m->memory, guest_machine_ram(&h->gm).v);
	add_slot(h, 0, GUEST_RAM, GUEST_RAM_BYTES, h->ram, 0);
	add_slot(h, 1, VM_CMB_GPA, SPEC_PAGE_SIZE, h->window, KVM_MEM_READONLY);
	add_slot(h, 2, VM_CMB_GPA + SPEC_PAGE_SIZE, CMB_BYTES - SPEC_PAGE_SIZE, h->window + SPEC_PAGE_SIZE, 0);
	h->vcpu = need(ioctl(h->vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	size = need(ioctl(h->kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
	h->run = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, h->vcpu, 0);
	if (h->run == MAP_FAILED)
		fail("the vCPU's page");
	find_fixed(h);
	set_cpuid(h);
	make_tables(h);
	set_registers(h);
}

/* --- exits --- */

static bool in_window(u64 gpa, u32 len)
{
	return gpa >= VM_CMB_GPA && gpa - VM_CMB_GPA <= CMB_BYTES - len;
}

/* The image's two instructions that touch anything but RAM (start.S). */
static bool decode(const struct home *h, u64 rip, bool *write)
{
	const u8 *code = h->ram + (rip - GUEST_RAM);

	if (rip - GUEST_RAM >= GUEST_RAM_BYTES - 2 || code[1] != 0x02)
		return false;
	*write = code[0] == 0x89;
	return *write || code[0] == 0x8b;
}

/* Nothing was there: the model says what is to be, or does without. */
static void fault(struct home *h)
{
	struct kvm_regs regs;
	bool write;
	u64 val;

	need(ioctl(h->vcpu, KVM_GET_REGS, &regs), "KVM_GET_REGS");
	if (!decode(h, regs.rip, &write) || !in_window(regs.rdx, 4)) {
		fprintf(stderr, "guest-kvm: a fault at rip 0x%llx that no access to the CMB makes\n", regs.rip);
		exit(70);
	}
	h->faults++;
	val = regs.rax;
	if (guest_machine_exit(&h->gm, regs.rdx, &val, 4, write)) {
		h->retries = h->last_fault == regs.rdx ? h->retries + 1 : 0;
		h->last_fault = regs.rdx;
		if (h->retries > RETRIES_MAX) {
			fprintf(stderr, "guest-kvm: 0x%llx faults although it is mapped\n", regs.rdx);
			exit(70);
		}
		return;
	}
	if (!write)
		regs.rax = (u32)val;
	regs.rip += 2;
	need(ioctl(h->vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

/* Where KVM interprets the guest an unmapped page of a slot ends here too, and the access is made here when it is mapped. */
static void mmio(struct home *h)
{
	struct kvm_run *run = h->run;
	u64 val = 0;
	u32 len = run->mmio.len <= 8 ? run->mmio.len : 8;

	h->exits_mmio++;
	if (run->mmio.is_write)
		memcpy(&val, run->mmio.data, len);
	if (guest_machine_exit(&h->gm, run->mmio.phys_addr, &val, len, run->mmio.is_write)) {
		u8 *at = h->window + (run->mmio.phys_addr - VM_CMB_GPA);

		if (!in_window(run->mmio.phys_addr, len))
			fail("an address that is not the CMB's is mapped");
		if (run->mmio.is_write)
			memcpy(at, &val, len);
		else
			memcpy(&val, at, len);
	}
	if (!run->mmio.is_write)
		memcpy(run->mmio.data, &val, len);
}

static void port(struct home *h)
{
	u8 *data = (u8 *)h->run + h->run->io.data_offset;
	u32 val = 0;

	h->exits_io++;
	if (h->run->io.size != 4 || h->run->io.count != 1)
		return;
	if (h->run->io.direction == KVM_EXIT_IO_OUT) {
		memcpy(&val, data, 4);
		guest_machine_out(&h->gm, h->run->io.port, val);
		if (h->gm.opt.bug == GUEST_BUG_TWICE && h->run->io.port == GUEST_PORT_PHASE && val == GUEST_IO)
			map_page(h, LIOV_CMB_SLOTS, h->first_sq, true);
	} else {
		val = guest_machine_in(&h->gm, h->run->io.port);
		memcpy(data, &val, 4);
	}
}

static void stuck(struct home *h)
{
	struct kvm_regs regs = { 0 };
	struct kvm_sregs s = { 0 };

	ioctl(h->vcpu, KVM_GET_REGS, &regs);
	ioctl(h->vcpu, KVM_GET_SREGS, &s);
	fprintf(stderr, "guest-kvm: exit %u, rip 0x%llx, rdx 0x%llx, cr2 0x%llx\n", h->run->exit_reason, regs.rip, regs.rdx, s.cr2);
	exit(70);
}

static void run(struct home *h)
{
	while (!h->gm.ended) {
		int ret = ioctl(h->vcpu, KVM_RUN, 0);

		if (ret < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (ret < 0 && errno != EFAULT)
			fail("KVM_RUN");
		/* The guest stands still: what it rang meanwhile comes first. */
		doorbells_poll(&h->doorbells, &h->gm);
		if (ret < 0) {
			fault(h);
		} else if (h->run->exit_reason == KVM_EXIT_MMIO) {
			mmio(h);
		} else if (h->run->exit_reason == KVM_EXIT_IO) {
			port(h);
		} else {
			stuck(h);
		}
	}
}

int main(int argc, char **argv)
{
	static struct home h;
	struct guest_options opt;
	int err;

	guest_options(&opt, "kvm", argc, argv);
	err = guest_machine_new(&h.gm, &opt);
	if (!err && !guest_machine_load(&h.gm, opt.image)) {
		fprintf(stderr, "guest-kvm: '%s' is no image that can be read\n", opt.image);
		return 2;
	}
	if (!err)
		err = doorbells_init(&h.doorbells);
	if (err) {
		fprintf(stderr, "guest-kvm: the machine is not made: %s\n", strerror(-err));
		return 70;
	}
	guest_machine_ask(&h.gm);
	open_kvm(&h);
	h.gm.mapped = map_page;
	h.gm.revoked = unmap_pages;
	h.gm.fixed = fixed;
	h.gm.opaque = &h;
	run(&h);
	err = guest_machine_report(&h.gm);
	fprintf(stderr, "kvm: %llu faults, %llu MMIO exits, %llu port exits\n", (unsigned long long)h.faults,
		(unsigned long long)h.exits_mmio, (unsigned long long)h.exits_io);
	guest_machine_free(&h.gm);
	return err;
}
