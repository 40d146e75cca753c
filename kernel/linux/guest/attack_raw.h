/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_GUEST_ATTACK_RAW_H
#define LINUX_GUEST_ATTACK_RAW_H

/* What a case of the attack corpus is made of: attack.c has the tools, attack_cases.c the cases. */

#include "liov/frontend.h"
#include "nvme.h"

#define ATTACK_PAGES	10u

struct attack {
	struct liov_frontend *fe;
	bool direct;			/* hardware queues, absolute numbers; else the mediator's */
	struct port_shm mem;		/* ATTACK_PAGES of the attacker's own */
	gpa_t gpa;
	u16 cid;
	u32 len;			/* of the report */
	char report[2048];
};

/* What an attacker can guess; told by whoever loads the module. */
struct attack_facts {
	unsigned long long own_lba, victim_lba;	/* where blocks start on the SSD */
	unsigned long long victim_page;	/* IOVA of a page of the victim's memory */
	unsigned long long victim_sq, victim_cq, admin_sq;	/* IOVAs of queues */
	unsigned int victim_qid, victim_irte;
};
extern struct attack_facts attack_facts;

struct attack_case {
	const char *id;
	void (*run)(struct attack *a);
};
extern const struct attack_case attack_cases[];	/* ends with id NULL */

/* A line of the report. */
__printf(2, 3) void attack_say(struct attack *a, const char *fmt, ...);
/* The command into hardware queue 1 as it is, and its completion: SCT << 8 | SC, or ATTACK_SILENT. */
#define ATTACK_SILENT	0xffffu
void attack_submit(struct attack *a, struct nvme_sqe sqe);
u16 attack_wait(struct attack *a);
void attack_say_status(struct attack *a, u16 status);
/* Any doorbell there is, where the attacker has doorbells. */
void attack_ring(struct attack *a, u32 qid, bool cq, u32 val);

#endif
