/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_DIFF_DIFF_H
#define NVME_EMU_DIFF_DIFF_H

/*
 * The differential bench: the same operations are played on two machines behind QEMU's qtest
 * protocol, QEMU (the witness) and lightiov qtest (the model), and what is seen of both is
 * compared, operation by operation.
 *
 * An operation (struct op) is a kind and numbers, and has a form in text, a line "kind key=value ...".
 * A stream is a machine and operations. Streams come from files (sequences/) or from a
 * generator (random.c), and are written out again when they show a difference, after
 * shrink.c has taken away what is not needed for it. What of the differences is known stands in
 * ../differences.tsv (known.c), which rows of the status table were met in status.tsv (rows.c).
 *
 * Where VT-d plugs in: vtd_ops.c defines vtd_kinds[], which op.c lists beside nvme_kinds[]; what a
 * client of VT-d has to remember goes into struct side beside struct nvme_client; sequences/vtd-*.ops
 * are found by the makefile; vtd_random.c's generator is listed in random.c's table.
 */

#include "spec/nvme.h"

#include <stdio.h>
#include <sys/types.h>

/* --- what lies where, the same on both machines --- */

#define DIFF_RAM_MIB		64
#define DIFF_DEVFN		(3 << 3)
#define DIFF_BAR0		0xE0000000ULL
#define DIFF_BAR2		0xE1000000ULL	/* the CMB */
#define DIFF_BAR4		0xE2000000ULL
#define DIFF_CBA		0x8000000000ULL
#define DIFF_QUEUES		0x100000ULL	/* of queue q: 64 KiB from here + q * 64 KiB, CQ in the second half */
#define DIFF_MSI		0x1F0000ULL	/* vector v's message is stored at + 16 * v */
#define DIFF_DATA		0x200000ULL	/* 2 MiB */
#define DIFF_LISTS		0x400000ULL
#define DIFF_FREE		0x800000ULL	/* from here on: VT-d's tables */
#define DIFF_VECTORS_MAX	32
#define DIFF_QUEUES_MAX		9
#define DIFF_NS1_BLOCKS		8192
#define DIFF_NS3_BLOCKS		2048
#define DIFF_CMB_QUEUE		0x1000		/* where queue 2's SQ lies in the CMB */

/* --- operations and streams (op.c) --- */

#define OP_ARGS_MAX		18
#define OP_ROW_MAX		32

struct side;
struct seen;
struct op;

/* What is counted in the report. */
enum op_unit { UNIT_NONE, UNIT_NVME, UNIT_VTD };

struct op_kind {
	const char *name;
	enum op_unit unit;
	const char *args[OP_ARGS_MAX];	/* "name" (0 when not given) or "name=default" */
	void (*play)(struct side *s, const struct op *op, struct seen *seen);
};

extern const struct op_kind nvme_kinds[];	/* ended by an entry without a name */
extern const struct op_kind vtd_kinds[];
extern const struct op_kind machine_kind;	/* the first of a stream, and only there */

struct op {
	const struct op_kind *kind;
	u64 arg[OP_ARGS_MAX];		/* in the kind's order */
	u32 given;			/* a bit each: it was given, so it is written out */
	char row[OP_ROW_MAX];		/* of status.tsv, or "" */
};

struct stream {
	char name[64];
	struct op machine;
	struct op *op;
	u32 nr, room;
};

/* The value of an argument by its name; asserts that there is one. */
u64 op_get(const struct op *op, const char *name);
void op_set(struct op *op, const char *name, u64 value);
/* False with the reason in @why. */
bool op_parse(struct op *op, const char *line, char *why, size_t why_size);
void op_print(FILE *f, const struct op *op);
void stream_add(struct stream *st, const struct op *op);
/* A text that is known to be right; printf's words. */
void stream_addf(struct stream *st, const char *format, ...) __attribute__((format(printf, 2, 3)));
void stream_free(struct stream *st);
void stream_print(FILE *f, const struct stream *st);
/* Streams of a file, one from each "machine" on. NULL: an error was printed. */
struct stream *streams_read(const char *path, u32 *nr);

/* --- what is seen of an operation --- */

#define SEEN_MAX	4608	/* a page in bytes, and more */
#define SEEN_NAME_MAX	28
#define SEEN_NOTHING	(~0ULL)		/* where there was something on the other side */

struct seen {
	u32 nr;
	struct {
		char name[SEEN_NAME_MAX];
		u64 value;
	} item[SEEN_MAX];
	u8 *bytes;		/* of memory, compared as words, each named by its offset: "data+0x8" */
	u64 nr_bytes;
};

void __attribute__((format(printf, 3, 4))) see(struct seen *seen, u64 value, const char *format, ...);
/* Room for bytes to compare. */
u8 *see_bytes(struct seen *seen, u64 len);
void seen_clear(struct seen *seen);

/* --- a machine (side.c) --- */

struct nvme_ring {
	bool live, phase;
	u16 cq;			/* an SQ's */
	u32 size, at;		/* tail of an SQ, head of a CQ */
	u32 outstanding;	/* an SQ's commands that were rung and have to complete */
	u64 base;		/* as software reaches it */
};

/* What software remembers of the controller. */
struct nvme_client {
	struct nvme_ring sq[DIFF_QUEUES_MAX], cq[DIFF_QUEUES_MAX];
	struct nvme_sqe sent[DIFF_QUEUES_MAX][32];	/* by CID, to know at its end what a command has made */
	u16 next_cid;
	u64 msix_table, msix_pba;
	u32 msix_cap, msix_vectors;
	u64 cba;
};

struct want;

struct side {
	const char *name;		/* "witness", "model" */
	const char *program;
	bool is_model, has_qtest_accel;
	pid_t pid;			/* 0: not started */
	int fd, monitor_fd, words_fd;	/* qtest, QMP, what it wrote to stderr */
	bool has_monitor;		/* QMP is past its greeting */
	bool dead;			/* it ended, or does not answer: all there is to see from then on */
	int how;			/* wait()'s status, or -1: no answer */
	char *out, *in;
	size_t out_len, out_room, in_len, in_at, in_room;
	struct want *want;
	u32 nr_wants, wants_room;
	u32 refused;			/* lines answered with FAIL or ERR */
	FILE *log;			/* lines sent, or NULL */
	struct nvme_client nvme;
};

/* @machine: an operation of machine_kind. A program that cannot be started is a dead one. */
void side_start(struct side *s, const struct op *machine);
void side_stop(struct side *s);
/* "QEMU emulator version 11.1.3 (Debian ...)"; false: it does not start. */
bool side_version(const char *program, char *text, size_t size);

/* Queue a line; what it reads is there after side_sync(). Pointers must live until then. */
void side_write(struct side *s, u64 addr, unsigned int width, u64 value);
void side_read(struct side *s, u64 addr, unsigned int width, u64 *to);
void side_put(struct side *s, u64 addr, const void *from, u32 len);
void side_get(struct side *s, u64 addr, void *to, u32 len);
void side_fill(struct side *s, u64 addr, u8 byte, u32 len);
void side_port_write(struct side *s, u16 port, unsigned int width, u32 value);
void side_port_read(struct side *s, u16 port, unsigned int width, u64 *to);
void side_sync(struct side *s);
/* The same, at once. */
u64 side_read_now(struct side *s, u64 addr, unsigned int width);
/* A command of the human monitor, its answer with \n, cut to @size. */
void side_monitor(struct side *s, const char *command, char *answer, size_t size);

u32 side_config_read(struct side *s, u32 off, unsigned int width);
void side_config_write(struct side *s, u32 off, unsigned int width, u32 value);

/* nvme_client.c */
void nvme_client_reset(struct side *s);
/* Find the MSI-X capability, program BARs, switch on memory and bus mastering. */
void nvme_client_pci(struct side *s);
void nvme_client_open_admin(struct side *s, u64 asq, u64 acq, u32 asqs, u32 acqs);
/* Store @sqe at the tail; a CID of 0 is given one. */
void nvme_client_store(struct side *s, u32 q, struct nvme_sqe *sqe, bool completes);
void nvme_client_ring(struct side *s, u32 q);
/* Wait until nothing is outstanding on @q, or nothing comes any more, and see it all. */
void nvme_client_collect(struct side *s, u32 q, struct seen *seen);

/* --- known differences (known.c), and rows of the status table (rows.c) --- */

struct known;
struct rows;

struct mismatch {
	const struct op *op;
	const struct stream *stream;
	u32 index;		/* of the operation; 0: the machine's set-up */
	char name[SEEN_NAME_MAX];
	u64 witness, model;
};

struct known *known_read(const char *path, const char *version);
void known_free(struct known *k);
/* Is it known? Counts it. *ends: the machines' states differ from here on. */
bool known_match(struct known *k, const struct mismatch *m, bool *ends);
u64 known_total(const struct known *k);
/* Entries for this witness, in order, and the stream that showed each first (NULL: none did, and one must); false behind the last. */
bool known_entry(const struct known *k, u32 i, const char **id, u64 *count, const char **first);

struct rows *rows_read(const char *path);
void rows_free(struct rows *r);
/* The row a labelled operation belongs to was met with this status of the model. False: it is another, or no such row. */
bool rows_met(struct rows *r, const char *label, u64 status);
u32 rows_report(const struct rows *r, FILE *f);

/* --- playing (run.c) --- */

struct bench {
	struct side witness, model;
	struct known *known;
	struct rows *rows;		/* NULL: labels are not looked at */
	struct seen *seen_witness, *seen_model;
	bool counting;			/* not while shrinking */
	u64 operations[3], compared;	/* by unit; observations */
	u32 machines;
	u32 rows_wrong;
	bool survey;			/* print unknown differences and go on */
	u32 surveyed;
};

/* Play a stream on fresh machines up to the first difference that is not known. True: there is one, in @m. */
bool bench_play(struct bench *b, const struct stream *st, struct mismatch *m);

/* The shortest stream found that shows the same kind of difference as @m, which is made to fit it. */
void bench_shrink(struct bench *b, struct stream *st, struct mismatch *m);

/* --- generators (random.c) --- */

struct generator {
	const char *name;
	enum op_unit unit;
	/* A stream of its own from a seed: a machine and about 300 operations. */
	void (*make)(struct stream *st, u64 seed);
};

extern const struct generator generators[];	/* ended by an entry without a name */
void nvme_random(struct stream *st, u64 seed);
void vtd_random(struct stream *st, u64 seed);

/* splitmix64: the next number of a stream of random ones. */
static inline u64 diff_random(u64 *state)
{
	u64 z = *state += 0x9E3779B97F4A7C15ULL;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
	return z ^ (z >> 31);
}

static inline u32 diff_below(u64 *state, u32 n)
{
	return (u32)(diff_random(state) % n);
}

#endif
