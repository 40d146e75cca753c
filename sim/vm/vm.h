/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_VM_VM_H
#define SIM_VM_VM_H

/*
 * A VM: its memory slots and vCPUs as the host keeps them, and the guest kernel's part:
 * who handles which interrupt, where its drivers' memory comes from.
 */

#include "home.h"
#include "liov/frontend.h"

#define VM_VCPUS_MAX	8
#define VM_RAM_MAX	32
#define VM_BAR0_GPA	0xE0000000ull
#define VM_CMB_GPA	0xE1000000ull
#define VM_IRQ_BASE	0x40		/* guest vector of MSI-X entry v: this + v */
#define VM_PENDING_STORES 4

/* A range of guest memory and the frames behind it. */
struct vm_ram {
	gpa_t gpa;
	u64 len_bytes;
	hpa_t hpa;
	bool no_frames;		/* it was only believed to be memory */
	bool no_read, no_write;	/* by the VM's devices: as VFIO_IOMMU_MAP_DMA is told */
};

struct vm_config {
	u32 id;
	const char *name;
	u32 vcpus;
	bool halt_when_idle;		/* HLT; else the idle loop polls and never exits */
	u32 nr_ram;
	struct { u64 gpa, len_bytes; bool no_read, no_write; } ram[VM_RAM_MAX];
	struct liov_vm_config liov;
};

/* A vCPU and the guest kernel's state of it. */
struct gvcpu {
	struct vcpu vcpu;
	struct port_vm *vm;
	u32 index;
	u32 irq_off;			/* nesting of what keeps interrupts out */
	bool in_irq;			/* the handler of irq_vector runs */
	u8 irq_vector;
	u64 busy_until_ps;		/* tasks of one vCPU share its time */
	struct port_waitq irq_wait;	/* its interrupt task */
	struct port_waitq idle_wait;	/* tasks waiting for something to happen on it */
	u64 interrupts;
	u64 handled;			/* of them, those whose handler has ended */
	bool kicked;			/* woken since it halted */
	/* Stores to shared memory not yet fenced. */
	struct { u64 gpa; u32 len; u8 data[64]; } store[VM_PENDING_STORES];
	u32 nr_stores;
	struct event store_drain;
};

struct port_guest {
	struct port_home home;		/* first: the handles' home */
	struct port_vm *vm;
	struct { void (*fn)(void *arg); void *arg; } handler[256];
	gpa_t dma_next;			/* drivers' memory: from the top of RAM downwards */
	gpa_t dma_limit;
	void (*complete)(void *opaque, void *cookie, u16 status);
	void *complete_opaque;
};

struct port_vm {
	struct machine *m;
	struct vm_config cfg;
	struct vm_ram ram[VM_RAM_MAX];
	u32 nr_ram;
	u64 eptp;
	hpa_t ept_root;
	hpa_t pids;			/* a page of posted-interrupt descriptors, one a vCPU */
	struct gvcpu gv[VM_VCPUS_MAX];
	u32 nr_gv;
	struct liov_vm liov;
	bool has_liov, dead;
	u64 ept_faults;			/* violations that mapped a page */
	u64 ept_refused;		/* violations that nobody answered */
	u64 device_exits;		/* trapped accesses to the virtual device */
	u64 pages_mapped;
	u64 revocations;		/* as KVM's mmu_invalidate_seq: what was asked before may not be mapped after */
	u32 page_faults[LIOV_CMB_SIZE_MIN / SPEC_PAGE_SIZE];	/* violations by page of the CMB that were answered, since the last zap */
	bool page_answered[LIOV_CMB_SIZE_MIN / SPEC_PAGE_SIZE];
	u64 pinned_bytes;		/* frames LightIOV asked to keep in place */
	bool exited;			/* its memory is freed as soon as nothing pins it */
	struct port_guest guest;
	struct liov_frontend *fe;	/* NULL but while it is up */
	bool fe_changing;		/* being brought up or down */
	u32 fe_users;			/* tasks inside the frontend */
	struct port_waitq fe_idle;
};

/*
 * Make a VM: memory, EPT, vCPUs on cores of their own, its virtual NVMe device from
 * LightIOV. In a host task. 0 or -errno, and then nothing is left of it but its id:
 * a machine uses each once, for tasks may still stand on what was that VM.
 */
int vm_create(struct machine *m, const struct vm_config *cfg, struct port_vm **out);

/* The VM ends at once: its vCPUs never run again; LightIOV takes everything back. In a host task. */
void vm_destroy(struct port_vm *vm);

/* Queue pair @index goes back to LightIOV's pool, and those who watch are told. In a host task. */
int vm_queue_release(struct port_vm *vm, u32 index);

/*
 * The host takes memory out of a running VM (a balloon): unmapped in EPT, LightIOV told, frames
 * freed. Or puts some in, at @gpa. Multiples of 4 KiB. -EINVAL: not the VM's, or overlapping. In a host task.
 */
int vm_balloon_out(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
int vm_plug(struct port_vm *vm, gpa_t gpa, u64 len_bytes);
/* ... at @hpa: free frames, else -EBUSY; or what a host with a bug takes for memory. */
int vm_plug_at(struct port_vm *vm, gpa_t gpa, u64 len_bytes, hpa_t hpa);

/* Has a vCPU its place on @core, whether it runs there now or not? */
bool vm_core_is_taken(const struct machine *m, u32 core);

/* Let what the vCPU's accesses cost pass, and @extra_ps more. In a task standing on it. */
void vm_pass(struct gvcpu *gv, u64 extra_ps);

/* Wait until an interrupt was handled on this vCPU, or time out. In a task standing on it. */
bool vm_idle(struct gvcpu *gv, u64 timeout_ps);

/* A task standing on @gv. */
struct task *vm_task(struct gvcpu *gv, const char *name, void (*fn)(void *arg), void *arg);

/*
 * A task runs its vCPU's code only while the vCPU runs: wait until it does. Does not return
 * once the VM is dead: whoever handles an exit for it calls this before going back.
 */
void vm_enter(struct gvcpu *gv);

/* A store to registers: passes earlier stores to memory that were not fenced, which drain later. */
void vm_post_store(struct gvcpu *gv, gpa_t gpa, const void *buf, u32 len);

/* Guest accesses by the running task's vCPU. */
void vm_load(struct gvcpu *gv, gpa_t gpa, void *buf, u32 len);
void vm_store(struct gvcpu *gv, gpa_t gpa, const void *buf, u32 len);

/* A write to the virtual function's configuration space, of 1, 2 or 4 bytes or what else the guest tries. */
void vm_cfg_wr(struct port_guest *g, u32 off, u32 val, u32 len);

/* Stores that were not fenced reach memory now. */
void vm_drain_stores(struct gvcpu *gv);

/* Model callback: an interrupt is deliverable. */
void vm_irq_ready(void *opaque, struct vcpu *vcpu);

/* Host-physical address of guest memory; false where the VM has none. */
bool vm_gpa_to_hpa(const struct port_vm *vm, gpa_t gpa, u64 len_bytes, hpa_t *out);

/* Allocate @nr pages of guest memory for a driver or a buffer; {~0} when there is no more. */
gpa_t vm_alloc_pages(struct port_vm *vm, u32 nr);

#endif
