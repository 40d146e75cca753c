/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_JUDGE_VERDICT_H
#define SIM_JUDGE_VERDICT_H

/*
 * From events to a verdict. While an attack's span is open, refusals (somebody said no) and
 * guards (a protection that somebody put up earlier covers what is touched) caused by the
 * attacker are collected as evidence. The verdict follows from the oracle's violations and
 * this evidence; expected values stand in scenarios/expected.tsv and are not known here.
 */

#include "oracle/oracle.h"

enum verdict_kind {
	VERDICT_CONTAINED,
	VERDICT_ESCAPED,
	VERDICT_DEGRADED,
	VERDICT_OUTAGE,
	VERDICT_REJECTED,
	VERDICT_NA,		/* a legal sister case, which must succeed */
	VERDICT_INERT,		/* nothing escaped, and nobody stopped anything */
	VERDICT_HUNG,
	VERDICT_UNMODELLED,
};

enum verdict_component {
	COMPONENT_NONE, COMPONENT_FRONTEND, COMPONENT_MEDIATOR, COMPONENT_DEVICE, COMPONENT_BACKEND, COMPONENT_HOST,
	COMPONENT_EPT, COMPONENT_IOMMU, COMPONENT_IRTE, COMPONENT_PCI, COMPONENT_CONTROLLER
};

/* How much a piece of evidence says, most first. */
enum evidence_kind {
	EVIDENCE_REFUSED,	/* somebody said no */
	EVIDENCE_COVERS,	/* a protection put up earlier covers what was touched */
	EVIDENCE_PASSED		/* software in the way made it harmless: a private copy, a virtual doorbell, an emulated command */
};

struct evidence {
	u64 time_ps, io_id;
	u64 seq;		/* in the order in which it was seen */
	enum verdict_component component;
	enum evidence_kind kind;
	char text[120];
};

#define VERDICT_EVIDENCE 64
#define VERDICT_CODES 32

struct verdict {
	enum verdict_kind kind;
	enum verdict_component component;
	enum oracle_claim claim; /* ESCAPED: which was broken, by which command (0: none) */
	u64 io_id;
	u32 victim;		/* ESCAPED: VM id, SIM_OWNER_HOST ...; else SIM_OWNER_NONE */
	char resource[160];	/* ESCAPED: what was reached */
	u32 nr_evidence, nr_codes;
	struct evidence evidence[VERDICT_EVIDENCE];
	char code[VERDICT_CODES][24];	/* distinct codes seen: "nvme:0/0x80", "vtd:0x05", "ept:violation-w", "aer:0x00010000" ... */
};

struct judge;
struct machine;

/* Attach to a machine before anything runs, after the oracle. */
struct judge *judge_new(struct machine *m, struct oracle *o);
void judge_free(struct judge *j);

/* The span of an attack by VM @vm: evidence and violations count from here to the end. May be opened again by another VM of the attacker's. */
void judge_open(struct judge *j, u32 vm);
void judge_close(struct judge *j);
/* A code the attacker saw: the status of a command of its own. Only in an open span. */
void judge_status(struct judge *j, u16 status);
/* A code in words ("csts:cfs"). */
void judge_code(struct judge *j, const char *code);
/* The scenario says: harm is measured as degradation or outage; a legal sister case; a configuration was refused by @who. */
void judge_measured(struct judge *j, enum verdict_kind kind);
void judge_sister(struct judge *j);
void judge_rejected(struct judge *j, enum verdict_component who);
/*
 * The span of a bad configuration, or of a legal one: what any part of LightIOV refuses counts. Each
 * attempt then says how it ended; who refused is who said so, or else @otherwise.
 */
void judge_open_configuration(struct judge *j, bool legal);
void judge_configured(struct judge *j, bool accepted, enum verdict_component otherwise);

void judge_verdict(const struct judge *j, struct verdict *out);

const char *verdict_kind_name(enum verdict_kind k);
const char *evidence_kind_name(enum evidence_kind k);	/* "refused", "covered", "passed" */
const char *verdict_component_name(enum verdict_component c);

#endif
