/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_LIOV_H
#define LIOV_LIOV_H

/*
 * LightIOV, host side: the backend that owns a physical NVMe controller and gives VMs
 * hardware queues of their own, the virtual NVMe device in front of them, and the mediator
 * that stands between where the policy wants one. All structures are the caller's memory,
 * zeroed before start or create, immovable until stop or destroy.
 *
 * Calls may be made in process context unless said otherwise; calls for one VM are
 * serialised by the VM's lock inside. Errors are -errno.
 */

#include "abi.h"
#include "port_host.h"

#define LIOV_IO_QUEUES_MAX	511u	/* of the physical controller that are used */
#define LIOV_VMS_MAX		256u
#define LIOV_MEM_RANGES_MAX	32u	/* registered memory of a VM */
#define LIOV_COPY_RANGES_MAX	128u	/* source ranges of a VM's Copy */
#define LIOV_EXTENTS_MAX	320u	/* free ranges an allocator can hold */
#define LIOV_VECTORS_MAX	(LIOV_VM_QUEUES_MAX + 1u) /* virtual vectors: admin and one a queue pair */
#define LIOV_ADMIN_DEPTH	32u
#define LIOV_AERL		3u	/* virtual, 0's based */
#define LIOV_PHYS_AERS		4u	/* outstanding on the physical controller, at most */
#define LIOV_HOST_VM		(~0u)	/* owner of the host's own queues */
#define LIOV_HOST_NSID		1u	/* the host's namespace, and all VMs' but under siov */
#define LIOV_NO_PASID		(~0u)

/* Who checks LBAs and DMA addresses, and what a VM's doorbell is (design.md). */
enum liov_policy { LIOV_POLICY_PAPER, LIOV_POLICY_MEDIATED, LIOV_POLICY_NRD, LIOV_POLICY_SIOV, LIOV_POLICIES };

struct liov_backend;
struct liov_vm;
struct liov_grave;			/* kernel/core/teardown.c */
struct liov_hostio;			/* kernel/core/hostio.c */
struct nvme_nrd;

/* Free ranges in ascending order, never adjacent. */
struct liov_extents {
	u32 nr;
	struct liov_range free[LIOV_EXTENTS_MAX];
};

enum liov_hwq_state {
	LIOV_HWQ_FREE,
	LIOV_HWQ_RESERVED,	/* belongs to a VM or the host; the controller does not know it */
	LIOV_HWQ_CQ_LIVE,	/* CQ created */
	LIOV_HWQ_LIVE,		/* CQ and SQ created */
	LIOV_HWQ_QUARANTINED	/* could not be proven quiet: never used again before a controller reset */
};

#define LIOV_HWQ_SQ_IN_CMB	1u	/* SQ memory in the controller's own CMB */

/* Called for each completion of a host-driven queue, in interrupt context, without locks held. */
struct nvme_cqe;
typedef void (*liov_completion_fn)(void *arg, const struct nvme_cqe *cqe);

/* One physical I/O queue pair; qid is its index in the backend's table. */
struct liov_hwq {
	struct liov_backend *be;
	u32 qid;
	u32 flags;			/* LIOV_HWQ_* */
	enum liov_hwq_state state;	/* changed under lock */
	bool cq_live, sq_live;		/* known to the controller; under lock. An SQ may post to another queue's CQ */
	bool sq_closed, cq_closed;	/* under lock: no page of it may be mapped into the VM */
	bool orphaned;			/* quarantined, and its VM gave it up */
	u32 owner;			/* VM id, or LIOV_HOST_VM */
	u32 cq_qid;			/* CQ the SQ posts to, while LIVE */
	u32 vector;			/* physical; = qid */
	bool vector_requested, vector_masked, vector_posted;
	struct liov_vm *vm;		/* of a VM's queue; its interrupt handler forwards there */
	u32 pasid;			/* where its memory is mapped, or LIOV_NO_PASID: in the function's domain */
	u16 vvec;			/* virtual vector of the CQ */
	bool irq_enabled;		/* IEN of the CQ */
	struct liov_msi posted_msi;	/* while vector_posted */
	u32 depth_max;			/* entries its pages hold */
	u64 cmb_off;			/* of the SQ in the physical CMB */
	u32 sq_entries, cq_entries;
	struct port_pages sq_pages, cq_pages;
	bool has_sq_pages, has_cq_pages;
	struct port_shm sq, cq;
	iova_t sq_iova, cq_iova;
	/* Host-driven queues (the host's own, and all under mediated): ring state under lock. */
	bool host_driven;
	struct port_lock lock;
	u32 sq_tail, sq_head, cq_head, cq_head_rung;
	bool cq_phase;
	liov_completion_fn complete;
	void *complete_arg;
	struct liov_hostio *io;		/* of the host's own queues */
};

struct liov_backend_config {
	enum liov_policy policy;
	u64 host_lbas;			/* blocks the host keeps for itself, from 0 */
	struct liov_range host_iova;	/* bytes: window for queue pages and host structures */
	u32 io_queues;			/* wanted; 0: all the controller has */
	u32 queue_depth;		/* of host-driven queues */
	u64 timeout_ns;			/* admin command, queue drain */
	bool dma_offset;		/* VMs get IOVA windows of their own; else IOVA = guest-physical address */
	struct liov_range vm_iova;	/* bytes: where those windows come from */
	u64 vm_iova_window;		/* bytes each */
	bool watch_doorbells;		/* mediated: besides those that trap, VMs get some in memory that is watched */
};

/* What bring-up learnt about the controller. */
struct liov_ctrl_info {
	u64 cap;
	u32 vs;
	u32 io_queues;			/* granted pairs */
	u32 doorbell_stride;		/* bytes */
	u64 nsze, ncap;			/* blocks of the namespace, and how many of them may be written */
	u32 lba_shift;
	u32 mdts_bytes;			/* 0: none */
	u16 oncs;
	/* Copy's limits, where ONCS offers it. */
	struct {
		u32 ranges, range_blocks, blocks;
	} copy;
	u8 aerl;
	bool has_nrd;
	bool pi;			/* blocks have protection information, which PRACT leaves to the controller */
	bool has_bind, has_ns_manage;	/* queues with PASIDs, namespaces that come and go */
	u64 capacity;			/* blocks of all namespaces there may be */
	bool cmb_sqs;			/* SQs may lie in the CMB */
	u64 cmb_size, cmb_off;
	u32 cmb_bar;
	char serial[21], model[41], firmware[9];
};

/* The physical admin queue: one command at a time; events outside it. */
struct liov_admin {
	struct port_mutex lock;		/* serialises commands */
	struct port_lock irq_lock;	/* what the interrupt handler shares */
	struct port_pages pages;	/* SQ, CQ, data page */
	struct port_shm shm;
	iova_t iova;
	u32 sq_tail, cq_head;
	bool cq_phase;
	u16 next_cid;
	u16 wait_cid;
	bool waiting;
	bool irq_requested, irq_masked;
	struct port_event done;
	u32 dw0;
	u16 status;			/* SCT << 8 | SC */
	bool dead;			/* a command timed out: only a controller reset helps */
	u32 aers;			/* bit: this AER is outstanding; under irq_lock, as are the next two */
	u32 aer_dw0[LIOV_PHYS_AERS];
	u32 nr_aer;
	u64 aer_handled_ns;		/* events are handled, and their log read, at a bounded rate */
	struct port_work aer_work;
	struct port_timer aer_timer;
};

struct liov_backend {
	struct port_host *host;
	struct port_home *home;
	struct liov_backend_config cfg;
	struct liov_ctrl_info info;
	struct port_mmio bar0, cmb_regs;
	bool has_bar0, has_cmb_bar;
	u64 bar0_size, bar0_bus_addr;
	u64 cmb_bus_addr;
	u64 cmb_bar_size, cmb_bar_bus;	/* with has_cmb_bar */
	struct liov_range msix[2];	/* bytes of BAR 0 that are MSI-X table and PBA */
	bool own_doorbell_pages;	/* each doorbell is a page: CAP.DSTRD >= 10 */
	u32 depth_max;			/* entries of a VM's queue: what its pages hold */
	struct port_mutex control;	/* creation and destruction of VMs, reset: outermost */
	struct liov_admin admin;
	struct port_mutex lock;		/* resources, VM table */
	struct liov_hwq *hwq;		/* [info.io_queues + 1], index = qid; 0 unused */
	struct liov_hwq *hostq;		/* the host's own */
	struct liov_extents lbas, iovas, windows;
	struct liov_extents cmb;	/* offsets in the physical CMB */
	struct liov_vm *vms[LIOV_VMS_MAX];
	u32 nr_quarantined;
	struct liov_grave *graves;	/* what destroyed VMs' unquiet queues could still reach; under control */
	bool started;
	bool resetting;			/* under control; seen by V functions and the page answer */
};

/* A memory range the VM registered: the only guest memory the controller may touch. */
struct liov_mem {
	gpa_t gpa;
	u64 len_bytes;
	u32 region;			/* index: what it was registered as part of */
	bool releasing;
	bool gone;			/* unmapped and unpinned already: the home took it away (liov_vm_mem_forget) */
	u32 prot;			/* PORT_READ, PORT_WRITE: what a device of the VM's may do there */
};

/*
 * A range as it was registered. Unregistering takes parts of it away; it ends with the last.
 * Under nrd it is the DMA window, which so does not shrink with a balloon.
 */
struct liov_region {
	gpa_t gpa;
	u64 len_bytes;			/* 0: unused */
	u32 nr_mem;			/* entries of mem[] that are left of it */
	u32 *page_refs;			/* under mediated: outstanding commands by page, under mem_lock */
};

/* Virtual PCI function, registers and admin queue: kernel/core/device*.c. */
struct liov_device {
	u8 config[256];
	u32 cc, csts, aqa, intm;
	u64 asq, acq, cmbmsc;
	u32 cmbsts;
	u32 sq_tail, sq_head;		/* virtual admin SQ */
	u32 cq_head, cq_tail;
	bool cq_phase;
	bool nq_set;			/* a queue exists or existed since enable */
	struct liov_msi msix[LIOV_VECTORS_MAX];
	bool msix_masked[LIOV_VECTORS_MAX];
	bool msix_pending[LIOV_VECTORS_MAX];
	u16 aer_cid[LIOV_AERL + 1];
	u32 nr_aer;
	u32 event_pending[8];		/* DW0 of events with no AER outstanding */
	u32 nr_events;
	u32 events_masked;		/* bit type: reported, its log not read since */
	u32 features[16];
	struct {
		bool created;
		u32 entries;
		u32 cqid;		/* SQs */
		u16 vector;		/* CQs: virtual */
		bool irq_enabled;
	} sq[LIOV_VM_QUEUES_MAX + 1], cq[LIOV_VM_QUEUES_MAX + 1];
	u32 admin_denied;		/* counters for the log */
	u64 creation_due_ns;		/* up to when hardware queues created are paid for */
	struct port_lock msix_lock;	/* msix*[] and MSI-X control in config: changed under both locks, read under either */
	u8 data[4096];			/* reply of the admin command being answered */
};

struct liov_mediator;			/* kernel/core/mediator.c */

struct liov_vm_config {
	u32 id;				/* names the VM in traces; unique, not LIOV_HOST_VM */
	u32 nr_queues;			/* pairs, 1..LIOV_VM_QUEUES_MAX */
	u64 lbas;			/* blocks */
	u32 work_per_s;			/* mediated: units of work (a command, or 4 KiB) it may start a second; 0: any */
	bool lbas_at, queues_at;	/* an operator's table: at lba_start and from first_qid on, or not at all */
	u64 lba_start;
	u32 first_qid;
	u32 nr_vectors;			/* virtual, 1..LIOV_VECTORS_MAX; 0: nr_queues + 1 */
	bool register_all;		/* register all of the VM's memory at creation (unmodified drivers; mediated) */
};

struct liov_vm {
	struct liov_backend *be;
	struct port_vm *port;
	struct liov_vm_config cfg;
	struct port_mutex lock;		/* everything below that is not said to be otherwise */
	bool live, dying;
	struct liov_range lba;		/* physical blocks */
	u32 nsid;			/* LIOV_HOST_NSID, or under siov the VM's own, which lies at lba */
	u32 pasid;			/* under siov the VM's address space, else LIOV_NO_PASID */
	u64 dma_offset;
	struct liov_range window;	/* IOVA window with dma_offset */
	struct port_pages info_page;
	bool has_info_page, has_device, has_mediator;
	struct port_lock page_lock;	/* queue[] and live: changed under both locks, read under either */
	struct liov_hwq *queue[LIOV_VM_QUEUES_MAX]; /* under mediated only the first, for all virtual queues */
	bool unquiet;			/* a queue of this VM was quarantined since the last controller reset */
	struct liov_grave *grave;	/* allocated in advance, for the day it is needed */
	struct nvme_nrd *nrd;		/* scratch for binding resource domains */
	struct port_lock mem_lock;	/* mem[], region[]: changed under both locks, read under either */
	struct liov_mem mem[LIOV_MEM_RANGES_MAX];
	u32 nr_mem;
	struct liov_region region[LIOV_MEM_RANGES_MAX];
	u64 cmb_size;
	struct liov_device dev;
	struct liov_mediator *med;	/* under mediated */
};

/* --- backend --- */

/* Take the controller: reset, admin queue, identify, queues, wipe nothing. On error everything is undone. */
int liov_backend_start(struct liov_backend *be, struct port_host *host, const struct liov_backend_config *cfg);
/* Give the controller back, disabled. -EBUSY while VMs exist. */
int liov_backend_stop(struct liov_backend *be);

/* A queue pair of the host's own; flags LIOV_HWQ_*. */
int liov_host_queue_create(struct liov_backend *be, u32 flags, struct liov_hwq **out);
int liov_host_queue_destroy(struct liov_backend *be, struct liov_hwq *q);
/*
 * One command on a host queue, waited for: physical LBAs of the host's own extent or of an extent being wiped. Data:
 * @pages mapped for the time of the command, or NULL. Returns 0, -ETIMEDOUT, -EINVAL, -EIO (controller lost), or the
 * positive NVMe status.
 */
int liov_host_io(struct liov_backend *be, struct liov_hwq *q, u8 opcode, plba_t slba, u32 nlb, const struct port_pages *pages);

/*
 * Give a VM queues, LBAs (wiped and verified), an IOVA window and a virtual device. Refused
 * cleanly, with nothing taken: -ENOSPC (queues, LBAs, windows, vectors run out), -EINVAL
 * (configuration; a guest range that the controller decodes as its CMB or BAR), -ENOMEM.
 */
int liov_vm_create(struct liov_backend *be, struct liov_vm *vm, struct port_vm *port, const struct liov_vm_config *cfg);

/*
 * Take everything back, whatever the guest does: doorbells and pages revoked, SQs deleted,
 * CQs deleted, interrupts unposted, IOVA unmapped and synced, memory unpinned, LBAs freed
 * (and wiped before they are anybody's again). A queue that cannot be proven quiet in time is
 * quarantined until the controller was reset, with the blocks and IOVAs it could still name;
 * the VM's memory is never kept, since the IOMMU stands before it. Never fails.
 */
void liov_vm_destroy(struct liov_vm *vm);

/* Take queue pair @index (0 ..) from a running VM and put it back to the pool. -ENOENT is -EINVAL. */
int liov_vm_queue_release(struct liov_vm *vm, u32 index);

/*
 * The home takes guest memory away (a balloon, memory unplugged, a VMM that unmaps it): what
 * of [gpa, gpa + len) is registered is unmapped, synced and unpinned, as is more of the same
 * entry where the books have no room for the rest. Under mediated commands that name it are
 * waited for first, within the backend's timeout. Never fails. P, takes the VM's lock.
 */
void liov_vm_mem_forget(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);
/*
 * The home has given the VM more memory: with register_all it is registered too. 0, or what
 * registering is refused with. P, takes the VM's lock.
 */
int liov_vm_mem_learn(struct liov_vm *vm, gpa_t gpa, u64 len_bytes);

/*
 * Reset the shared controller; every VM is told and its queues come back (re-created by its frontend,
 * or replayed under mediated).
 */
int liov_backend_reset(struct liov_backend *be);
/*
 * Somebody else is about to reset the function, and liov_backend_reset() follows: the admin command
 * under way ends before this returns, and others fail at once until then, where they would be lost. P
 */
void liov_backend_reset_expected(struct liov_backend *be);

/* What to map for a touch of the CMB BAR. */
enum liov_page_kind { LIOV_PAGE_NONE, LIOV_PAGE_MEMORY, LIOV_PAGE_BAR0, LIOV_PAGE_CMB };

struct liov_page {
	enum liov_page_kind kind;
	struct port_pages pages;	/* MEMORY: the page is number @index of these; no reference is taken */
	u32 index;
	u64 bar_off;			/* BAR0, CMB: offset in the physical BAR */
	bool writable;
};

/*
 * The VM touched @off of its CMB BAR for the first time since it was last revoked. Never
 * waits. NONE: nothing is there for this VM (drop the write, read all ones). A (the VM's memory may be locked)
 */
struct liov_page liov_backend_page(struct liov_vm *vm, u64 off, bool write);

/* --- device: all that traps --- */

u32 liov_device_cfg_rd(struct liov_vm *vm, u32 off, u32 len);
void liov_device_cfg_wr(struct liov_vm *vm, u32 off, u32 val, u32 len);
/* BAR 0 of the virtual function, 1 to 8 bytes. Accesses past its end or of odd shape read all ones and are dropped. */
u64 liov_device_rd(struct liov_vm *vm, u64 off, u32 len);
void liov_device_wr(struct liov_vm *vm, u64 off, u64 val, u32 len);
/* A touch of the CMB BAR that liov_backend_page() answered with NONE, or that does not fit the BAR. */
u64 liov_device_cmb_rd(struct liov_vm *vm, u64 off, u32 len);
void liov_device_cmb_wr(struct liov_vm *vm, u64 off, u64 val, u32 len);

#endif
