// SPDX-License-Identifier: GPL-2.0
/* A vCPU of KVM's that has the CMB as a memory slot and does one load or store at a time, in real mode. */

#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mdevguest.h"

#define CODE_LOAD	0x100u
#define CODE_STORE	0x200u
#define CMB_AT		0x10000u	/* in the 20 bits of real mode: the BAR's first part only */
#define CMB_BYTES	0x80000u

static void add_slot(struct guest_vcpu *v, u32 slot, u64 gpa, volatile void *from, u64 size)
{
	struct kvm_userspace_memory_region r = {
		.slot = slot, .guest_phys_addr = gpa, .memory_size = size, .userspace_addr = (u64)from,
	};

	CHECK(!ioctl(v->vm, KVM_SET_USER_MEMORY_REGION, &r));
}

void guest_vcpu_open(struct guest *g, struct guest_vcpu *v)
{
	static const u8 load[] = { 0x66, 0x8b, 0x07, 0xf4 };	/* mov (%bx),%eax; hlt */
	static const u8 store[] = { 0x66, 0x89, 0x07, 0xf4 };	/* mov %eax,(%bx); hlt */
	int size;

	v->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	CHECK(v->kvm >= 0);
	v->vm = ioctl(v->kvm, KVM_CREATE_VM, 0);
	CHECK(v->vm >= 0);
	v->code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(v->code != MAP_FAILED);
	memcpy(v->code + CODE_LOAD, load, sizeof(load));
	memcpy(v->code + CODE_STORE, store, sizeof(store));
	add_slot(v, 0, 0, v->code, 4096);
	add_slot(v, 1, CMB_AT, g->cmb, CMB_BYTES);
	v->vcpu = ioctl(v->vm, KVM_CREATE_VCPU, 0);
	size = ioctl(v->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	CHECK(v->vcpu >= 0 && size > 0);
	v->run_bytes = (u32)size;
	v->run = mmap(NULL, v->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->vcpu, 0);
	CHECK(v->run != MAP_FAILED);
}

void guest_vcpu_close(struct guest_vcpu *v)
{
	munmap(v->run, v->run_bytes);
	close(v->vcpu);
	close(v->vm);
	close(v->kvm);
	munmap(v->code, 4096);
}

static u32 run(struct guest_vcpu *v, u32 code, u32 off, u32 val)
{
	const struct kvm_run *exit = v->run;
	struct kvm_sregs sregs;
	struct kvm_regs regs = { .rip = code, .rax = val, .rflags = 2 };

	CHECK(off < CMB_BYTES && off % 16 == 0);
	CHECK(!ioctl(v->vcpu, KVM_GET_SREGS, &sregs));
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	sregs.ds.base = CMB_AT + off;
	sregs.ds.selector = (u16)(sregs.ds.base / 16);
	CHECK(!ioctl(v->vcpu, KVM_SET_SREGS, &sregs));
	CHECK(!ioctl(v->vcpu, KVM_SET_REGS, &regs));
	CHECK(!ioctl(v->vcpu, KVM_RUN, 0));
	CHECK(exit->exit_reason == KVM_EXIT_HLT);
	CHECK(!ioctl(v->vcpu, KVM_GET_REGS, &regs));
	return (u32)regs.rax;
}

u32 guest_vcpu_load(struct guest_vcpu *v, u32 off)
{
	return run(v, CODE_LOAD, off, 0);
}

void guest_vcpu_store(struct guest_vcpu *v, u32 off, u32 val)
{
	run(v, CODE_STORE, off, val);
}

int guest_irq_vm(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm;

	CHECK(kvm >= 0);
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	CHECK(vm >= 0 && !ioctl(vm, KVM_CREATE_IRQCHIP, 0));
	close(kvm);
	return vm;
}

void guest_irq_take(int vm, int event, bool take)
{
	struct kvm_irqfd irqfd = { .fd = (u32)event, .gsi = 5, .flags = take ? 0 : KVM_IRQFD_FLAG_DEASSIGN };

	CHECK(!ioctl(vm, KVM_IRQFD, &irqfd));
}

/* Its interrupt controller keeps the edge until somebody asks. Nothing is written back where none came: it may come in between. */
bool guest_irq_came(int vm)
{
	struct kvm_irqchip chip = { .chip_id = KVM_IRQCHIP_PIC_MASTER };

	CHECK(!ioctl(vm, KVM_GET_IRQCHIP, &chip));
	if (!(chip.chip.pic.irr & 1 << 5))
		return false;
	chip.chip.pic.irr &= (u8)~(1 << 5);
	/* Looked at between up and down, the line would stay up for good, and no edge would come again. */
	chip.chip.pic.last_irr &= (u8)~(1 << 5);
	CHECK(!ioctl(vm, KVM_SET_IRQCHIP, &chip));
	return true;
}
