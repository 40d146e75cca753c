/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_HOST_HOST_H
#define SIM_HOST_HOST_H

/*
 * The host kernel's and hypervisor's part, as software on the modelled hardware: page
 * frames, VT-d tables and interrupt remapping entries, EPT, exits. What Linux does for
 * LightIOV in the field; the verbs of the port's host part end here.
 */

#include "home.h"
#include "sites.h"

struct port_vm;
struct gvcpu;

#define HOST_NV_POSTED	0xF2	/* notification vector of a vCPU that runs */
#define HOST_NV_WAKEUP	0xF1	/* ... that is halted */
#define HOST_NV_FAULT	0x22	/* the IOMMU's fault event */
#define HOST_VECTOR_BASE 0x30	/* of the device's vectors, on each core */
#define HOST_VECTORS_PER_CORE 160
#define HOST_IRTES	65536
#define HOST_DOMAIN	1	/* VT-d domain of the one function; PASIDs have the ones above it */
#define HOST_PASIDS	64	/* PASID 0 stands for requests without: the domain */
#define HOST_FREE_MAX	1024
#define HOST_TABLES_MAX	64

/* Verbs of the port that a planted bug leaves out. */
enum host_omit {
	HOST_OMIT_IOMMU_UNMAP = 1u << 0,
	HOST_OMIT_IOMMU_SYNC = 1u << 1,
	HOST_OMIT_VM_REVOKE = 1u << 2,
	HOST_OMIT_IRQ_UNPOST = 1u << 3,
	HOST_OMIT_IRQ_MASK = 1u << 4,
	HOST_OMIT_VM_MEM_PIN = 1u << 5,
	/* Steps of the host's own within them. */
	HOST_OMIT_IOMMU_RANGE = 1u << 6,	/* what is mapped may lie where interrupts are */
	HOST_OMIT_IOMMU_WAIT = 1u << 7,		/* nobody waits for an invalidation */
	HOST_OMIT_PIR_CHECK = 1u << 8,		/* what came in while SN was set is not looked at */
	HOST_OMIT_NDST = 1u << 9,		/* a vCPU that moved has its old core in the descriptor */
	HOST_OMIT_SHM_ZERO = 1u << 20,
	HOST_OMIT_PAGES_ZERO = 1u << 21,	/* of pages_alloc */
	HOST_OMIT_SHOOTDOWN = 1u << 22,		/* pages are taken, and only vCPU 0's core forgets its translations */
	HOST_OMIT_PAGE_AGAIN = 1u << 23,	/* a page of the CMB is mapped at its first touch only */
	/* Invalidations that are not what they should be. */
	HOST_SYNC_LAZY = 1u << 16,		/* at 10 ms or 256 of them */
	HOST_SYNC_LEAVES = 1u << 17,		/* of leaves only (IH = 1) */
	HOST_SYNC_OTHER_DOMAIN = 1u << 18,
	/* Steps of what is done at the same time by others. */
	HOST_OMIT_INVEPT = 1u << 10,	/* a revocation clears entries, and leaves what cores cached */
	HOST_OMIT_EPT_RETRY = 1u << 11,	/* a page that was revoked while it was asked about is mapped all the same */
	HOST_OMIT_WAKEUP_RECHECK = 1u << 12,	/* ON is not looked at after the wake-up vector was set */
};

struct host_range {
	u64 start, len;
};

/* Second-level tables, and the domain that the IOMMU keeps what it cached of them by. */
struct host_space {
	struct port_host *h;
	hpa_t top;			/* {0}: none */
	u16 did;
	hpa_t empty[HOST_TABLES_MAX];	/* tables taken out of the tree, to be freed after the next invalidation */
	u32 nr_empty;
	struct host_range unmapped;	/* last */
	u32 lazy;			/* invalidations put off */
	u64 mapped_bytes;
};

/* First fit over free memory, lowest address first: what was freed is soon used again. */
struct host_frames {
	struct host_range free[HOST_FREE_MAX];
	u32 nr;
};


struct host_pages;	/* pages LightIOV holds, with their references */

struct host_irq {
	bool requested;
	void (*fn)(void *arg);
	void *arg;
	struct port_vm *posted_vm;	/* NULL: remapped to the host */
	bool pending, running;
};

struct port_host {
	struct port_home home;		/* first: the handles' home */
	struct machine *m;
	struct host_frames low, high;
	struct host_pages *pages;
	u64 iova_last;			/* what can be mapped */
	hpa_t root_table, context_table;	/* VT-d */
	hpa_t pasid_dir, pasid_table;	/* scalable mode */
	struct host_space space[HOST_PASIDS];
	hpa_t iq, iq_status, irta;
	u32 iq_tail;
	u32 wait_seq;
	struct port_mutex iq_lock;
	struct host_irq irq[PCI_MSIX_VECTORS_MAX];
	struct event irq_event;
	struct task *irq_task;		/* where handlers run; NULL: in the event */
	struct port_waitq irq_wait;
	bool irq_due;
	struct event fault_event;
	bool faults_quiet;		/* the handler ran: no more interrupts for a while */
	u64 faults_read, faults_overflowed, faults_ps;
	u32 nr_vectors;
	u64 msix_table;			/* address of the MSI-X table */
	u32 omit;			/* enum host_omit */
	struct port_watch *watches;
	bool listens;			/* to vCPUs' stores, since the first watch */
	u64 syncs, revokes;
};

struct port_host *host_new(struct machine *m);
void host_free(struct port_host *h);

/* Start LightIOV on the SSD. In a host task. */
int host_boot_liov(struct machine *m);

/* --- frames.c --- @owner as in SIM_TRACE_FRAMES; zeroed; {~0} when there is no more */
hpa_t host_frames_take(struct port_host *h, struct host_frames *f, u64 len_bytes, u64 align, u32 owner);
/* These very frames, if they are free. */
bool host_frames_take_at(struct port_host *h, hpa_t hpa, u64 len_bytes, u32 owner);
void host_frames_give(struct port_host *h, struct host_frames *f, hpa_t hpa, u64 len_bytes);
void host_pages_fini(struct port_host *h);
static inline bool hpa_bad(hpa_t a)
{
	return a.v == ~0ull;
}

/* --- iommu.c --- */
int host_iommu_init(struct port_host *h);
int host_iommu_map(struct port_host *h, u64 iova, u64 hpa, u64 len, u32 prot);
void host_iommu_unmap(struct port_host *h, u64 iova, u64 len);
int host_space_map(struct port_host *h, struct host_space *s, u64 iova, u64 hpa, u64 len, u32 prot);
int host_space_map_vm(struct port_host *h, struct host_space *s, u64 iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot);
void host_space_unmap(struct port_host *h, struct host_space *s, u64 iova, u64 len);
void host_space_flush(struct port_host *h, const struct host_space *s);
void host_space_sync(struct port_host *h, struct host_space *s);
void host_space_free_empty(struct port_host *h, struct host_space *s);
bool host_space_has(struct port_host *h, const struct host_space *s, u64 iova);
/* Where a VM's memory, or queue, at this address is mapped: in scalable mode its own. */
struct host_space *host_space_at(struct port_host *h, u64 iova);
hpa_t host_table_new(struct port_host *h);
/* Put a descriptor into the queue; the tail is not written. */
void host_iommu_push(struct port_host *h, u64 lo, u64 hi);
/* Queue a descriptor and a wait, and wait. In a task. */
void host_iommu_invalidate(struct port_host *h, u64 lo, u64 hi);
/* All of LightIOV's domain, and of all PASIDs. In a task. */
void host_iommu_flush(struct port_host *h);
/* An entry as it stands, at level 1, 2 or 3, whatever was there. */
void host_iommu_entry(struct port_host *h, u64 iova, unsigned int level, u64 entry);
/* The table with the entries of @level, 1 to 3, that serves @iova; {~0}: none. */
hpa_t host_iommu_table(struct port_host *h, u64 iova, unsigned int level);

/* --- iommu_raw.c: what a host with a bug does to the unit --- */
enum host_context_defect {
	HOST_CONTEXT_ROOT, HOST_CONTEXT_ABSENT, HOST_CONTEXT_RESERVED, HOST_CONTEXT_WIDTH, HOST_CONTEXT_POINTER,
	HOST_CONTEXT_TYPE, HOST_CONTEXT_FPD
};
void host_iommu_break_context(struct port_host *h, enum host_context_defect what);
/* A descriptor as it stands, or a tail. True: it ended with IQE, and the queue was brought to work again. In a task. */
bool host_iommu_descriptor(struct port_host *h, u64 lo, u64 hi);
bool host_iommu_tail(struct port_host *h, u64 tail);
/* Fault records that wait, and whether more were lost. Cleared, as a handler does. */
u32 host_iommu_faults(struct port_host *h, bool *lost);
/* Messages of the compatibility format pass from now on (not in x2APIC mode). */
void host_iommu_let_compat(struct port_host *h);

/* --- others.c --- A plain function joins the bus and is assigned to @vm as a whole. NULL: rid taken, no room. */
struct pci_plain *host_add_function(struct machine *m, u16 rid, u32 vm);

/* --- fault.c --- The IOMMU's faults interrupt the host from now on. */
void host_fault_init(struct port_host *h);
void host_fault_arrive(struct port_host *h);

/* --- pasid.c --- */
/* The tables of scalable mode, with the domain as PASID 0; false: no memory. And what the function must be told. */
bool host_pasid_init(struct port_host *h);
void host_pasid_enable(struct port_host *h);

/* --- irq.c --- */
int host_irq_init(struct port_host *h);
void host_irq_write_irte(struct port_host *h, u32 index, u64 lo, u64 hi);
void host_irq_read_irte(struct port_host *h, u32 index, u64 *lo, u64 *hi);
/* Host vectors arrive here (struct cpu's hook). */
void host_irq_arrive(void *opaque, unsigned int pcpu, u8 vector);
/* Software's way to a VM: PIR bit, ON, notification. */
void host_post(struct gvcpu *gv, u8 vector);

/* --- vcpu.c: running, preempted, halted --- */
void host_vcpu_run(struct gvcpu *gv);
void host_vcpu_preempt(struct gvcpu *gv);
void host_vcpu_halt(struct gvcpu *gv);
u32 host_ndst(const struct machine *m, u32 pcpu);
void host_vcpu_migrate(struct gvcpu *gv, u32 pcpu);
void host_wakeup(struct machine *m, unsigned int pcpu);

/* --- ept.c --- */
int host_ept_init(struct port_vm *vm);
int host_ept_map(struct port_vm *vm, gpa_t gpa, hpa_t hpa, unsigned int page_shift, bool writable, u8 memory_type);
void host_ept_unmap(struct port_vm *vm, gpa_t gpa, u64 len);	/* and the shootdown; waits */
/* All mappings of its CMB, for reasons of the host's own. In a task. */
void host_ept_zap(struct port_vm *vm);
void host_ept_fini(struct port_vm *vm);
enum exit_action host_ept_exit(void *opaque, struct vcpu *vcpu, struct ept_exit *exit);

#endif
