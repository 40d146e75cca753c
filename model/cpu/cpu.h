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
 *
 * Not modelled: guest paging (so guest linear addresses, and bits 7 and up of an exit
 * qualification, read 0), paging-structure caches (29.4.1; a core caches leaves only),
 * cacheability (a memory type is checked, not acted upon), VPIDs, TPR and interrupt
 * masking by RFLAGS.IF, logical and broadcast interrupt destinations.
 */

#include "bus.h"
#include "sched.h"
#include "trace.h"
#include "cpu/ept.h"

#define CPU_PCPUS_MAX 64
#define PCPU_TLB_ENTRIES 256

/* Violations of one access that may be retried before the processor gives up on its host: see vcpu_read(). */
#define EPT_RETRY_MAX 8

struct vcpu;
struct cpu;

enum vcpu_state { VCPU_PREEMPTED, VCPU_RUNNING, VCPU_HALTED };

/* Exit reasons: Intel SDM appendix C, basic exit reasons. */
enum exit_reason {
	EXIT_EXCEPTION_NMI = 0,
	EXIT_EXTERNAL_INTERRUPT = 1,
	EXIT_INIT = 3,
	EXIT_HLT = 12,
	EXIT_EPT_VIOLATION = 48,
	EXIT_EPT_MISCONFIG = 49,
	EXIT_PREEMPTION_TIMER = 52,
	EXIT_REASON_COUNT = 64
};

/* How an interrupt came: the "posted" of TRACE_IRQ_ACCEPT. */
enum cpu_irq_route {
	CPU_IRQ_HOST = 0,		/* host's vector on a core; "vcpu" runs there, or ~0; fourth number: delivery mode */
	CPU_IRQ_POSTED = 1,		/* guest's vector, by a notification, no exit */
	CPU_IRQ_SYNCED = 2,		/* guest's vector, found in the descriptor by software */
	CPU_IRQ_INJECTED = 3	/* guest's vector, vcpu_inject() */
};

/* Delivery modes of an interrupt message: SDM 11.11.2. */
enum cpu_irq_mode { CPU_IRQ_MODE_FIXED = 0, CPU_IRQ_MODE_LOWEST = 1, CPU_IRQ_MODE_NMI = 4, CPU_IRQ_MODE_INIT = 5 };

struct ept_exit {
	gpa_t gpa;
	u32 access;		/* EPT_ACCESS_* that was tried */
	u32 qualification;	/* Table 28-7: bits 0-2 tried, 3-5 allowed; 0 for a misconfiguration */
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
	/*
	 * An access left the guest. May wait (the owner runs it where it can), and the vCPU may be preempted
	 * and run elsewhere meanwhile, but it is running again on return. Until then the vCPU is outside
	 * the guest: its core takes notifications as host interrupts, and the return is an entry.
	 */
	enum exit_action (*ept_exit)(void *opaque, struct vcpu *vcpu, struct ept_exit *exit);
	/* An interrupt is deliverable to a vCPU that runs. Called on each arrival and each entry: may repeat itself. */
	void (*irq_ready)(void *opaque, struct vcpu *vcpu);
};

/*
 * A translation held by a core; content is what the walk gave, until invalidated. Each tag is
 * the page's guest-physical address with bit 0 set, or 0. The last two equal the first where an
 * access can go straight to memory: one comparison then stands for presence, permission and target.
 */
struct pcpu_tlb_entry {
	u64 tag;
	u64 load_tag, store_tag;
	u64 eptp;
	u64 hpa;		/* of the 4 KiB page */
	u8 access;		/* EPT_ACCESS_* allowed */
	bool is_ram;
	bool dirty;		/* D already set in the leaf, or flags not kept */
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
	unsigned int nr_pcpus;
	u64 irq_dropped;		/* messages to no core, or with an illegal vector */
	/* Host vectors: interrupts that reach a core and are not a posted notification for the vCPU it runs. */
	void (*host_irq)(void *opaque, unsigned int pcpu, u8 vector);
	void *host_opaque;
	struct pcpu pcpu[CPU_PCPUS_MAX];	/* of which nr_pcpus are there; the rest is never touched */
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
	u32 outside;			/* exits being handled; not 0: it runs for the host, not in the guest */
	unsigned int pcpu;		/* core it runs or last ran on */
	u64 virr[4], visr[4];		/* virtual APIC page: requested, in service */
	u64 spent_ps;			/* cost not yet let pass by the owner */
	u64 exits[EXIT_REASON_COUNT];	/* counted by reason */
	u64 gave_up;			/* accesses answered with all ones after EPT_RETRY_MAX vain retries */
	u64 posted;			/* interrupts taken from the descriptor without an exit */
};

/* Cores 0..@nr_pcpus-1 with their number as APIC id; set host_irq afterwards. */
void cpu_init(struct cpu *cpu, unsigned int nr_pcpus, const struct cpu_costs *costs, struct bus *bus,
	      struct sched *sched, struct trace *trace);

/*
 * An interrupt message for APIC id @dest (the shape vtd_irq_sink wants; @opaque is the cpu). Fixed and
 * lowest-priority messages whose vector is the notification vector of the vCPU that is in the guest there
 * are posted-interrupt processing (30.6). All else is the host's: an exit if a vCPU is in the guest, then
 * host_irq() with the vector, whatever the delivery mode. A message to no core, or fixed with a vector below 16,
 * is dropped (11.5.2).
 */
void cpu_deliver(void *opaque, u32 dest, u8 vector, u8 mode);

void vcpu_init(struct vcpu *vcpu, u32 id, struct cpu *cpu, const struct vcpu_ops *ops, void *opaque);

/*
 * VM entry on a core that runs none: from preempted or halted to running. Does what a host does right before entry
 * (KVM: vmx_sync_pir_to_irr): if ON is set in the descriptor, PIR goes to the virtual IRR. With ON clear PIR is not
 * looked at: who clears SN must set ON if PIR is not empty, as KVM does. NV, NDST and SN are the host's to write.
 */
void vcpu_run(struct vcpu *vcpu, unsigned int pcpu);

/*
 * VM exit for good, of a running vCPU: descheduled, or halted. Counts no exit for preemption by the host's own will;
 * halting counts EXIT_HLT. Pending interrupts do not keep a vCPU from halting: its owner looks first.
 */
void vcpu_preempt(struct vcpu *vcpu);
void vcpu_halt(struct vcpu *vcpu);

/* Count and charge an exit that the owner causes itself (timer, hypercall). */
void vcpu_count_exit(struct vcpu *vcpu, enum exit_reason reason, u64 gpa);

/* vcpu_read() and vcpu_write() where a load or store is more than a copy; one of @to and @from is NULL. */
void vcpu_access(struct vcpu *vcpu, gpa_t gpa, void *to, const void *from, size_t len_bytes);

static inline struct pcpu_tlb_entry *pcpu_tlb_slot(struct pcpu *pcpu, gpa_t gpa)
{
	return &pcpu->tlb[(gpa.v >> SPEC_PAGE_SHIFT) % PCPU_TLB_ENTRIES];
}

static inline u64 pcpu_tlb_tag(gpa_t gpa)
{
	return (gpa.v & ~(SPEC_PAGE_SIZE - 1)) | 1;
}

static inline bool gpa_in_one_page(gpa_t gpa, size_t len_bytes)
{
	return len_bytes <= SPEC_PAGE_SIZE - (gpa.v & (SPEC_PAGE_SIZE - 1));
}

/*
 * Guest accesses to guest-physical memory by a running vCPU. Any length; split at pages, and at 8 bytes (naturally
 * aligned pieces) where registers are hit or an exit is taken. 8-byte aligned pieces are not torn. What nobody
 * answers reads all ones. An access that faults again EPT_RETRY_MAX times although its handler says "retry" is
 * given up: it reads all ones, or writes nothing, gave_up counts it, and its TRACE_CPU_* has ~0 for an address.
 */
static inline void vcpu_read(struct vcpu *vcpu, gpa_t gpa, void *buf, size_t len_bytes)
{
	struct cpu *cpu = vcpu->cpu;
	struct pcpu *pcpu = &cpu->pcpu[vcpu->pcpu];
	const struct pcpu_tlb_entry *e = pcpu_tlb_slot(pcpu, gpa);

	if (e->load_tag == pcpu_tlb_tag(gpa) && e->eptp == vcpu->eptp && vcpu->state == VCPU_RUNNING &&
	    gpa_in_one_page(gpa, len_bytes) && !trace_wants(cpu->trace, TRACE_CPU_LOAD)) {
		pcpu->tlb_hit++;
		store_read(cpu->bus->store, e->hpa + gpa.v % SPEC_PAGE_SIZE, buf, len_bytes);
		return;
	}
	vcpu_access(vcpu, gpa, buf, NULL, len_bytes);
}

static inline void vcpu_write(struct vcpu *vcpu, gpa_t gpa, const void *buf, size_t len_bytes)
{
	struct cpu *cpu = vcpu->cpu;
	struct pcpu *pcpu = &cpu->pcpu[vcpu->pcpu];
	const struct pcpu_tlb_entry *e = pcpu_tlb_slot(pcpu, gpa);

	if (e->store_tag == pcpu_tlb_tag(gpa) && e->eptp == vcpu->eptp && vcpu->state == VCPU_RUNNING &&
	    gpa_in_one_page(gpa, len_bytes) && !trace_wants(cpu->trace, TRACE_CPU_STORE)) {
		pcpu->tlb_hit++;
		store_write(cpu->bus->store, e->hpa + gpa.v % SPEC_PAGE_SIZE, buf, len_bytes);
		return;
	}
	vcpu_access(vcpu, gpa, NULL, buf, len_bytes);
}

/*
 * Highest-priority requested vector that may be taken now: moved to in service and returned, or -1. It may be taken
 * when its class (bits 7:4) is above that in service (30.2.1, TPR 0), so vectors below 16 never are.
 */
int vcpu_irq_accept(struct vcpu *vcpu);
bool vcpu_irq_pending(const struct vcpu *vcpu);
/* Ends the highest in service. What that makes deliverable is not announced: its caller looks. */
void vcpu_eoi(struct vcpu *vcpu);
/* Software injection at entry (KVM's way for unposted interrupts): request @vector. */
void vcpu_inject(struct vcpu *vcpu, u8 vector);
/*
 * PIR into the virtual IRR, ON cleared first: hardware does it on a notification, software on entry. True if
 * anything moved. A vCPU without a descriptor, or with one that is not 64-byte aligned memory, has nothing.
 */
bool vcpu_pid_sync(struct vcpu *vcpu);

/*
 * INVEPT on one core: single-context (all that was cached under bits 51:12 of @eptp, 29.4.3.1) or, with
 * @eptp 0, global. The other cores keep what they have: a shootdown is the host's work.
 */
void cpu_invept(struct cpu *cpu, unsigned int pcpu, u64 eptp);

#endif
