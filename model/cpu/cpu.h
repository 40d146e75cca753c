/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_CPU_CPU_H
#define MODEL_CPU_CPU_H

/*
 * Processor cores that run vCPUs: loads and stores through EPT with a TLB per core, exits,
 * and a local APIC with posted-interrupt processing. Intel SDM volume 3, chapters 29 (EPT),
 * 30 (APIC virtualisation, posted interrupts) and 28 (exits).
 *
 * A vCPU's code is somebody else's: it calls vcpu_read() and vcpu_write(), and asks for
 * interrupts. What an access or an exit costs is added to vcpu->spent_ps; its owner lets
 * that time pass.
 */

#include "bus.h"
#include "sched.h"
#include "trace.h"
#include "cpu/ept.h"

#define CPU_PCPUS_MAX 64
#define PCPU_TLB_ENTRIES 256

struct vcpu;
struct cpu;

enum vcpu_state { VCPU_PREEMPTED, VCPU_RUNNING, VCPU_HALTED };

/* Exit reasons: Intel SDM appendix C, basic exit reasons. */
enum exit_reason {
	EXIT_EXTERNAL_INTERRUPT = 1,
	EXIT_HLT = 12,
	EXIT_EPT_VIOLATION = 48,
	EXIT_EPT_MISCONFIG = 49,
	EXIT_PREEMPTION_TIMER = 52,
	EXIT_REASON_COUNT = 64
};

struct ept_exit {
	gpa_t gpa;
	u32 access;		/* EPT_ACCESS_* that was tried */
	u32 qualification;	/* Table 28-7: bits 0-2 tried, 3-5 allowed */
	bool misconfig;
	unsigned int len;	/* 1..8 bytes of this piece */
	bool write;
	u64 val;		/* write: what is stored; read: the handler's answer when emulated */
};

enum exit_action {
	EXIT_RETRY,		/* the mapping was made: run the instruction again */
	EXIT_EMULATED		/* done in software; @val answers a read */
};

struct vcpu_ops {
	/* An access left the guest. May wait (the owner runs it where it can). */
	enum exit_action (*ept_exit)(void *opaque, struct vcpu *vcpu, struct ept_exit *exit);
	/* An interrupt became deliverable to a vCPU that runs (no exit). */
	void (*irq_ready)(void *opaque, struct vcpu *vcpu);
};

/* A translation held by a core; content is what the walk gave, until invalidated. */
struct pcpu_tlb_entry {
	u64 tag;		/* gpa page | valid bit 0 */
	u64 eptp;
	u64 hpa;		/* of the 4 KiB page */
	u8 access;		/* EPT_ACCESS_* allowed */
	bool is_ram;
	bool dirty;		/* D already set in the leaf */
};

struct pcpu {
	u32 apic_id;
	struct vcpu *current;
	struct pcpu_tlb_entry tlb[PCPU_TLB_ENTRIES];
	u64 tlb_hit, tlb_miss;
};

struct cpu_costs {
	u64 walk_ps;		/* EPT walk on a TLB miss */
	u64 exit_ps;		/* exit and entry, kernel handled */
	u64 mmio_write_ps;	/* store that leaves the core for a device */
	u64 mmio_read_ps;
	u64 posted_delivery_ps;
};

struct cpu {
	struct bus *bus;
	struct sched *sched;
	struct trace *trace;
	struct cpu_costs costs;
	struct pcpu pcpu[CPU_PCPUS_MAX];
	unsigned int nr_pcpus;
	/* Host vectors: interrupts that reach a core and are not a posted notification for the vCPU it runs. */
	void (*host_irq)(void *opaque, unsigned int pcpu, u8 vector);
	void *host_opaque;
};

struct vcpu {
	struct cpu *cpu;
	const struct vcpu_ops *ops;
	void *opaque;
	u32 id;				/* unique in the machine; names it in traces */
	u64 eptp;
	hpa_t pid;			/* posted-interrupt descriptor, 64 bytes in memory */
	u8 notification_vector;		/* ANV: the vector that means "process the descriptor" */
	enum vcpu_state state;
	unsigned int pcpu;		/* core it runs or last ran on */
	u64 virr[4], visr[4];		/* virtual APIC page: requested, in service */
	u64 spent_ps;			/* cost not yet let pass by the owner */
	u64 exits[EXIT_REASON_COUNT];	/* counted by reason */
	u64 posted;			/* interrupts taken from the descriptor without an exit */
};

void cpu_init(struct cpu *cpu, unsigned int nr_pcpus, const struct cpu_costs *costs, struct bus *bus, struct sched *sched,
	      struct trace *trace);

/* An interrupt message for APIC id @dest (the shape vtd_irq_sink wants; @opaque is the cpu). */
void cpu_deliver(void *opaque, u32 dest, u8 vector, u8 mode);

void vcpu_init(struct vcpu *vcpu, u32 id, struct cpu *cpu, const struct vcpu_ops *ops, void *opaque);

/* VM entry on a core: from preempted or halted to running. Takes over what the descriptor holds (SDM 30.6 is hardware's part). */
void vcpu_run(struct vcpu *vcpu, unsigned int pcpu);
/* VM exit for good: descheduled, or halted. Counts no exit for preemption by the host's own will; halting counts EXIT_HLT. */
void vcpu_preempt(struct vcpu *vcpu);
void vcpu_halt(struct vcpu *vcpu);

/* Count and charge an exit that the owner causes itself (timer, hypercall). */
void vcpu_count_exit(struct vcpu *vcpu, enum exit_reason reason, u64 gpa);

/*
 * Guest accesses to guest-physical memory. Any length; split at pages, and at 8 bytes where
 * registers are hit or an exit is taken. 8-byte aligned pieces are not torn. What nobody answers reads all ones.
 */
void vcpu_read(struct vcpu *vcpu, gpa_t gpa, void *buf, size_t len_bytes);
void vcpu_write(struct vcpu *vcpu, gpa_t gpa, const void *buf, size_t len_bytes);

/* Highest-priority requested vector that may be taken now: moved to in service and returned, or -1. */
int vcpu_irq_accept(struct vcpu *vcpu);
bool vcpu_irq_pending(const struct vcpu *vcpu);
void vcpu_eoi(struct vcpu *vcpu);
/* Software injection at entry (KVM's way for unposted interrupts): request @vector. */
void vcpu_inject(struct vcpu *vcpu, u8 vector);
/* PIR into the virtual IRR: hardware does it on a notification, software on entry. True if anything moved. */
bool vcpu_pid_sync(struct vcpu *vcpu);

/* INVEPT on one core: single-context (this @eptp) or, with @eptp 0, global. */
void cpu_invept(struct cpu *cpu, unsigned int pcpu, u64 eptp);

#endif
