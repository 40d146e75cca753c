/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_QEMU_MDEVGUEST_H
#define HARNESS_QEMU_MDEVGUEST_H

/*
 * A VMM and its guest in one process: the VFIO device of an mdev, memory that stands for the
 * guest's RAM from address 0 on, and a driver that does by hand what a guest's would. Whatever
 * fails here ends the process with a message.
 */

#include <stdbool.h>

#include "liov/abi.h"
#include "nvme.h"

#define RAM_BYTES	(16u << 20)	/* mapped for DMA in two halves */
#define BAR0_GPA	0xE0000000ull
#define CMB_GPA		0xE1000000ull
#define QUEUES		2u
#define VECTORS		(QUEUES + 1u)
#define DEPTH		32u
#define DATA_GPA	0x100000ull
#define CHECK(c)	check((c), #c, __FILE__, __LINE__)
/* Look until it is so; half a minute later it failed. */
#define AWAIT(c)	for (u64 since_ = 0; !(c); await(&since_, #c, __FILE__, __LINE__))

struct guest_queue {
	volatile struct nvme_sqe *sq;
	volatile struct nvme_cqe *cq;
	u32 tail, head;
	bool phase;
	u16 cid;
};

struct guest {
	const char *uuid;
	int container, group, device;
	u64 config, bar0, bar2;		/* file offsets */
	u64 cmb_size;
	u8 *ram, *ram_map;
	volatile u8 *cmb;
	int event[VECTORS];
	struct liov_info info;
	u32 admin_tail, admin_head;
	bool admin_phase;
	struct guest_queue queue[QUEUES + 1];	/* index: queue id */
};

/* A vCPU of KVM's beside it. */
struct guest_vcpu {
	int kvm, vm, vcpu;
	u8 *code;
	void *run;
	u32 run_bytes;
};

void check(bool ok, const char *what, const char *file, int line);
void await(u64 *us, const char *what, const char *file, int line);

/* The VMM's part. */
void guest_open(struct guest *g, const char *uuid);
void guest_close(struct guest *g);
void guest_map_half(struct guest *g, u32 half, bool map);
/* An attribute of the mdev, as a number. */
long long guest_attr(const struct guest *g, const char *name);
u32 guest_cfg_rd(struct guest *g, u32 off, u32 len);
void guest_cfg_wr(struct guest *g, u32 off, u32 val, u32 len);
u32 guest_reg_rd(struct guest *g, u32 off);
void guest_reg_wr(struct guest *g, u32 off, u64 val, u32 len);
/* What a load finds, a dword, through the mapping; through read(), where the core is asked. */
u32 guest_load(struct guest *g, u64 off);
u32 guest_asked(struct guest *g, u64 off);
/* A load of something else than ones, or a store beside it that read() finds too: is a page there? All agree. */
bool guest_touch(struct guest *g, u64 off, bool write);
/* A BAR of the device as DMA memory at its guest address, as VMMs do. */
void guest_map_cmb(struct guest *g, bool map);
/* The VMM gives the vector its eventfd, or none: masked. */
void guest_vector(struct guest *g, u32 vec, bool open);
/* How often the vector was raised since the last look. */
u64 guest_interrupts(struct guest *g, u32 vec);

/* A load or store of a dword at @off of the CMB, a multiple of 16, by the vCPU; nothing ends the VM. */
void guest_vcpu_open(struct guest *g, struct guest_vcpu *v);
void guest_vcpu_close(struct guest_vcpu *v);
u32 guest_vcpu_load(struct guest_vcpu *v, u32 off);
void guest_vcpu_store(struct guest_vcpu *v, u32 off, u32 val);

/* A VM of KVM's that takes an eventfd as its interrupt 5; did one come since the last look? */
int guest_irq_vm(void);
void guest_irq_take(int vm, int event, bool take);
bool guest_irq_came(int vm);

/* The guest's part: controller up, MSI-X on; a status as SCT << 8 | SC. */
void guest_start(struct guest *g);
u16 guest_admin(struct guest *g, struct nvme_sqe sqe, u32 *dw0);
u16 guest_memory(struct guest *g, bool add, u64 gpa, u64 len);
void guest_queue_create(struct guest *g, u32 qid);
void guest_queue_delete(struct guest *g, u32 qid);
/* One block at the controller's own number, its data where the controller itself must be told. */
void guest_submit(struct guest *g, u32 qid, u8 opcode, u64 raw_slba, u64 raw_addr);
u16 guest_complete(struct guest *g, u32 qid);
/* Both, with what the info page says added. */
u16 guest_io(struct guest *g, u32 qid, u8 opcode, u64 slba, u64 gpa);

#endif
