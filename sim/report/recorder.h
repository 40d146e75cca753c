/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_REPORT_RECORDER_H
#define SIM_REPORT_RECORDER_H

/*
 * Listens to a machine: the run's digest, and the last events, of which those of one I/O
 * are kept when somebody takes an interest in it. Loads and stores of vCPUs are left out: to
 * listen to them would take every access off its fast path; and what the host answers, for views (view.h).
 */

#include "digest.h"
#include "machine.h"

#define RECORDER_RING	1024u		/* events; a power of two */
#define RECORDER_KEPT	24u
#define RECORDER_LINE	200u

struct recorder;

/* Attach before anything runs, before the oracle, so that what it judges is recorded. NULL without memory. */
struct recorder *recorder_new(struct machine *m);
void recorder_free(struct recorder *r);

/* From now on keep the events of @io_id, and those of it still in the ring. Only the first call counts; 0 is no I/O. */
void recorder_interest(struct recorder *r, u64 io_id);
u64 recorder_io_id(const struct recorder *r);

/* An attack's span begins, or ends; what all spans took: simulated time, and exits of all vCPUs. */
void recorder_attack(struct recorder *r, bool open);
u64 recorder_attack_ps(const struct recorder *r);
u64 recorder_attack_exits(const struct recorder *r);
/* Of all vCPUs in the whole run, those of VMs that are gone included. */
u64 recorder_exits(const struct recorder *r);

/* What was kept, or the last events where nothing was, in words: how many of at most @max lines. */
u32 recorder_lines(const struct recorder *r, char (*line)[RECORDER_LINE], u32 max);

/* Events so far, then all content of memory and media. */
void recorder_digest(struct recorder *r, char hex[DIGEST_HEX_SIZE]);

/* "nvme sqe fetch sqid=4 slot=0 ...": an event in words; trace.def's. Returns the length that it would take. */
int event_text(const struct trace_event *ev, char *buf, size_t size);

/* The same in pieces: who, what, and up to four named numbers (a name that is NULL: unused). */
struct event_words {
	char component[16], text[64];
	const char *name[4];
	u64 value[4];
};
void event_words(const struct trace_event *ev, struct event_words *out);

/*
 * The numbers of an event one by one: those that trace.def packs into one ("sqid<<16|cid", "qid*2+cq")
 * taken apart. Returns how many.
 */
#define EVENT_NUMBERS_MAX 12
struct event_number {
	char name[16];
	u64 value;
};
u32 event_numbers(const struct event_words *w, struct event_number out[EVENT_NUMBERS_MAX]);

#endif
