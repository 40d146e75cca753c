/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_GUEST_MACHINE_H
#define HARNESS_GUEST_MACHINE_H

/*
 * The machine that the bare guest runs on, whoever executes its instructions: the modelled SSD,
 * IOMMU and host with LightIOV, two VMs, the guest's ports. A home gives it the guest's accesses
 * in one of two ways: access() where the modelled vCPU is to do them, through its TLB and EPT;
 * exit() where another processor does, and only comes when it found nothing or may not.
 * It counts by phase, and prints; what homes print is compared.
 */

#include <stdio.h>

#include "guest.h"
#include "host/host.h"
#include "vm/vm.h"

/* Planted: what a comparison must notice. */
enum guest_bug {
	GUEST_BUG_NONE,
	GUEST_BUG_EAGER,	/* a page is mapped before it is touched */
	GUEST_BUG_FORGET,	/* what is revoked stays mapped */
	GUEST_BUG_TWICE,	/* KVM's home: a page is mapped anew under the guest, which so faults on it again */
};

struct guest_options {
	enum liov_policy policy;
	const char *policy_name, *home, *image;
	u64 ios, seed;
	bool attack;
	enum guest_bug bug;
};

struct guest_counts {
	u64 pages;		/* of the CMB BAR, mapped by a touch */
	u64 order;		/* digest of which, as they came */
	u64 refused;		/* touches of what is not there, or may not be stored to */
	u64 revokes, revoked;	/* calls; pages that were mapped and no longer are */
	u64 registers;		/* accesses to BAR 0 */
	u64 config;		/* accesses to configuration space */
	u64 fixed;		/* as pages, but by the processor's own account */
};

struct guest_machine {
	struct guest_options opt;
	struct machine *m;
	struct port_vm *vm, *victim;
	/* For who maps pages for another processor, or NULL. */
	void (*mapped)(void *opaque, u64 off, hpa_t hpa, bool writable);
	void (*revoked)(void *opaque, u64 off, u64 len_bytes);
	u64 (*fixed)(void *opaque);	/* translations that processor made so far; NULL: the model's pages */
	void *opaque;
	struct task *task;		/* runs what is asked of it */
	struct port_waitq asked;
	void (*fn)(struct guest_machine *gm, void *arg);
	void *arg;
	bool done;
	u64 came[GUEST_QUEUES + 1];	/* by vector: not asked for yet */
	u32 config_address;
	struct guest_counts at[GUEST_PHASES + 1];	/* [p]: when phase p began */
	struct guest_counts now;
	bool is_mapped[LIOV_CMB_SIZE_MIN / SPEC_PAGE_SIZE];	/* page of the CMB BAR */
	bool ended;
	u32 end;			/* what the guest ended with */
};

/* From the command line: exit 2 with a word on stderr where it is wrong. */
void guest_options(struct guest_options *opt, const char *home, int argc, char **argv);

/* Power on, LightIOV started, both VMs made. 0 or -errno. */
int guest_machine_new(struct guest_machine *gm, const struct guest_options *opt);
void guest_machine_free(struct guest_machine *gm);

/* Host-physical address of guest RAM. */
hpa_t guest_machine_ram(const struct guest_machine *gm);
/* The image to where it runs; false: it cannot be read, is empty or too long. */
bool guest_machine_load(struct guest_machine *gm, const char *image);
/* What is asked of the guest to its page. */
void guest_machine_ask(struct guest_machine *gm);

void guest_machine_access(struct guest_machine *gm, u64 gpa, void *buf, u32 len_bytes, bool write);
/* True: something is mapped now, do it again. False: done, *val answers a load. */
bool guest_machine_exit(struct guest_machine *gm, u64 gpa, u64 *val, u32 len_bytes, bool write);
/* The guest has stored to a doorbell page that its processor has mapped. */
void guest_machine_doorbell(struct guest_machine *gm, hpa_t at, u32 val);
u32 guest_machine_in(struct guest_machine *gm, u32 port);
void guest_machine_out(struct guest_machine *gm, u32 port, u32 val);

/* Everything that must be the same in all homes to stdout; the exit status. */
int guest_machine_report(struct guest_machine *gm);

#endif
