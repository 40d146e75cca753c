/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_SECRET_H
#define SIM_SCENARIO_SECRET_H

/*
 * The same run with other secrets. What is not the attackers' is made another, below the scenario's
 * text: what victims write as data (each tag stands for other content), where on the SSD their blocks
 * lie, which of them their workloads use and in what order, where the host's structures and all frames
 * lie in memory, and at which DMA addresses the host's queues. What an attacker owns or is told stays:
 * its blocks, its queues, its memory's addresses, its tags; so do texts that a scenario gives word for
 * word (data = "...", set_bytes).
 */

#include "spec/spec_types.h"

#define SECRET_VMS_MAX 64

/* A VM's blocks; none: it never came to be. */
struct run_place {
	u64 start, count;
};

struct secret {
	u64 seed;				/* not 0 */
	u64 attackers;				/* bit: VM id */
	struct run_place place[SECRET_VMS_MAX];	/* of each VM in the run as it is: attackers' stay there, others' go elsewhere */
};

struct machine_config;
struct run;
struct store;
struct vm_config;

/* Before the machine is made. */
void secret_machine(const struct secret *s, struct machine_config *cfg);
/* Before VM @cfg->id is made: where its blocks are to lie. */
void secret_vm(const struct run *r, struct vm_config *cfg);
/* The tag in place of @tag where VM @vm writes it. */
u64 secret_tag(const struct run *r, u32 vm, u64 tag);
/* Does the sector hold what a script calls @tag, whoever wrote it? */
bool secret_sector_is(const struct run *r, const struct store *s, u64 offset, u64 tag);
/* Of the chance in a workload of VM @vm, and in its data: 0 where nothing is to change. */
u64 secret_of_workload(const struct run *r, u32 vm);

#endif
