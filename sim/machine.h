/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

/*
 * One simulated world: the modelled hardware put together, the host that runs on it, its
 * VMs, and what watches them. Everything of a run hangs from here; two machines share nothing.
 */

#include "cpu/cpu.h"
#include "iommu/vtd.h"
#include "liov/liov.h"
#include "nvme/nvme.h"
#include "pci/pci.h"
#include "rng.h"
#include "schedule.h"
#include "simtrace.h"
#include "task.h"

#define MACHINE_VMS_MAX		64
#define MACHINE_VCPUS_MAX	64

/* The machine's address map (host-physical). */
#define MACHINE_LOW_RAM		0x80000000ull	/* 0 .. 2 GiB: the host's */
#define MACHINE_BAR_BASE	0xC0000000ull	/* BARs are placed from here */
#define MACHINE_VTD_BASE	0xFED90000ull
#define MACHINE_HIGH_RAM	0x100000000ull	/* VMs' memory from here */
#define MACHINE_OTHERS_BASE	0xD0000000ull	/* BARs of functions beside the SSD */
#define MACHINE_OTHERS_MAX	4
#define MACHINE_SSD_RID		0x0100
#define MACHINE_IRTE_BASE	0x10		/* IRTE of vector v: this + v */

struct machine_config {
	u64 seed;
	u64 high_ram_bytes;
	u64 low_skip_bytes, high_skip_bytes;	/* at the beginning of each: the host hands out none of it */
	u32 pcpus;
	bool content_bytes;		/* keep all content as bytes */
	u64 memory_budget_bytes;	/* of materialised content */
	bool posted_interrupts;
	bool fault_interrupts;		/* the host handles the IOMMU's faults */
	struct nvme_config ssd;
	struct vtd_config vtd;
	struct cpu_costs cpu;
	struct liov_backend_config backend;
	u64 iommu_sync_ps;		/* host software around an invalidation */
	u64 revoke_ps;			/* shootdown of a mapping on all cores */
	u64 halt_wake_ps;		/* scheduler trip of a halted vCPU */
	u64 watch_latency_ps;		/* from a store to a watched page to the host's looking at it */
	struct schedule *schedule;	/* the owner's; NULL: the one order in which things happen by default */
};

struct pci_plain;
struct port_host;
struct port_vm;
struct oracle_violation;

struct machine {
	struct machine_config cfg;
	struct sched *sched;
	struct trace trace;
	struct store *memory, *media;
	struct bus bus;
	struct vtd *vtd;
	struct cpu cpu;
	struct pci_root root;
	struct nvme *nvme;
	struct pci_plain *other[MACHINE_OTHERS_MAX];	/* functions beside it */
	u32 nr_others;
	struct task *tasks;
	struct port_host *host;
	struct liov_backend backend;
	struct port_vm *vms[MACHINE_VMS_MAX];	/* by id */
	u32 nr_vms;
	u32 nr_vcpus;
	struct gvcpu *gvcpus[MACHINE_VCPUS_MAX];/* by model vcpu id */
	void (*violated)(void *opaque, const struct oracle_violation *v);	/* watch.c's */
	void *violated_opaque;
	bool failed;			/* the environment's fault: out of memory or budget */
	/* Listeners, called in this order for each event they asked for. */
	struct {
		void (*fn)(void *opaque, const struct trace_event *ev);
		void *opaque;
		u64 mask[2];
	} listener[8];
	u32 nr_listeners;
};

/* Filled with the reference machine: attacks.md's baseline, P4510-like costs. */
void machine_config_defaults(struct machine_config *cfg);
/* What a policy asks of the hardware. */
void machine_config_policy(struct machine_config *cfg, enum liov_policy policy);

/* Build and power on: firmware places BARs, the host boots. LightIOV is started by host_boot_liov(). NULL without memory or on a bad configuration. */
struct machine *machine_new(const struct machine_config *cfg);
void machine_free(struct machine *m);

/* Before anything runs, or later by who needs not hear the beginning; for good. */
void machine_listen(struct machine *m, const u64 mask[2], void (*fn)(void *opaque, const struct trace_event *ev), void *opaque);

static inline void trace_mask_add(u64 mask[2], u32 kind)
{
	mask[kind >> 6] |= 1ull << (kind & 63);
}

/* A place where the task that runs may be preempted. */
static inline void schedule_point(struct machine *m)
{
	if (__builtin_expect(m->cfg.schedule != NULL, false))
		schedule_switch(m);
}

struct task *machine_task(struct machine *m, const char *name, void (*fn)(void *arg), void *arg);

#endif
