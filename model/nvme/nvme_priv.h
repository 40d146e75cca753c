/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_NVME_NVME_PRIV_H
#define MODEL_NVME_NVME_PRIV_H

/*
 * What the files of the controller share. A command's life: the front end takes an SQE
 * from the queue whose turn it is (nvme_queue.c) into a command slot; one event later it
 * is checked, its PRPs are read and its media time is booked (nvme_io.c, nvme_admin.c);
 * one event later its data moves; one event later its CQE is posted (nvme_cmd.c).
 *
 * All memory is allocated by nvme_new(). A slot is bound to a queue by number only, so a
 * queue can go while the slot's event is cancelled, never the other way round.
 */

#include "nvme/nvme.h"
#include "site.h"

#define NVME_PAGE_SIZE SPEC_PAGE_SIZE
#define NVME_PAGE_OFFSET(addr) ((addr) & (NVME_PAGE_SIZE - 1))
#define NVME_BLOCK_SHIFT 9
#define NVME_QUEUES_MAX 512		/* with the admin pair */
#define NVME_QUEUE_NONE 0xFFFF
#define NVME_CID_WORDS (65536 / 64)
#define NVME_SLOTS_MAX 1024		/* I/O commands in the controller at one time */
#define NVME_SLOTS_MIN 64
#define NVME_SLOTS_ADMIN 8		/* more that I/O cannot take: Abort and Delete do not wait for what they end */
#define NVME_FRAGS_MAX 8193		/* 65536 blocks of 512 bytes with an offset */
#define NVME_FRAGS_BUDGET (1u << 20)	/* entries of all slots together */
#define NVME_ERRORS_MAX 256		/* ELPE is an 8-bit field */
#define NVME_AERS_MAX 256
#define NVME_META_SIZE 8
#define NVME_META_MDTS_MAX 8		/* a command's metadata fits the scratch */
#define NVME_SCRATCH_SIZE (NVME_ERRORS_MAX * 64)
#define NVME_DIES_MAX 65536
/* Copy: told in Identify Namespace as MSRC, MSSRL, MCL. */
#define NVME_COPY_RANGES_MAX 128
#define NVME_COPY_RANGE_MAX 256
#define NVME_COPY_BLOCKS_MAX 4096
#define NVME_REGISTRANTS_MAX 8		/* hosts that can be registered with a namespace */

enum nvme_reg {
#define NVME_REG(name, off, width, reset, mask, clause) NVME_R_##name,
#include "nvme_regs.def"
#undef NVME_REG
	NVME_R_COUNT
};

/* A place in memory that the controller names: host memory or its own CMB. */
struct nvme_queue_mem {
	u64 base;
	u64 *pages;		/* of a queue that is not contiguous; nvme_new() made the room */
	u64 cmb_off;
	bool contiguous;
	bool in_cmb;		/* decided at creation: a later CMBMSC write does not move a queue */
};

/* What a queue is bound to. */
struct nvme_binding {
	u32 pasid;		/* or PCI_NO_PASID */
	u32 nsid;		/* of an SQ; 0: none */
};

struct nvme_sq {
	bool live;
	bool held;		/* by its CQ, and that was told */
	u16 qid, cqid;
	u16 next_on_cq;		/* chain of the SQs that share a CQ */
	u32 size, head, tail;
	u64 seq;		/* commands fetched, for io_id */
	struct nvme_queue_mem mem;
	const struct nvme_nrd *nrd;	/* NULL: no resource domain bound */
	u32 pasid;		/* or PCI_NO_PASID */
	u32 nsid;		/* bound to it; 0: to none */
	struct nvme_binding next;	/* for the next creation */
};

struct nvme_cq {
	bool live, ien, phase;
	u16 qid, vector;
	u16 first_sq;
	u32 size, head, tail;
	u32 reserved;		/* CQEs promised to commands that were fetched */
	u32 pasid;		/* or PCI_NO_PASID */
	struct nvme_binding next;
	struct nvme_queue_mem mem;
};

/* 8 bytes of a CQE that is being written. */
struct nvme_cqe_half {
	struct event ev;	/* of the second */
	u64 at;			/* an address, or an offset in the CMB */
	u64 data;
	u64 io_id;
	u32 pasid;
	u16 vector;
	bool in_cmb, ien, waits;
};

enum nvme_stage {
	NVME_STAGE_FREE,
	NVME_STAGE_FETCHED,	/* SQE is here; to be executed */
	NVME_STAGE_MEDIA,	/* media busy; data to be moved */
	NVME_STAGE_DONE		/* nothing left but the CQE */
};

struct nvme_cmd {
	struct event ev;
	struct nvme *nvme;
	struct nvme_sqe sqe;	/* the copy; queue memory is not read again */
	u64 io_id;
	const struct nvme_ns_config *ns;	/* NULL: none, or all */
	u64 slba;		/* in the namespace */
	u64 t_ps;		/* when the DMA issued so far is over */
	u64 *frag;		/* address of each piece of data, within a page */
	u32 *frag_len;		/* and its length */
	u32 nr_frags;
	u32 nlb;
	u32 len_bytes;		/* that the fragments cover */
	u32 dw0;
	u16 sqid;
	u16 status;
	u8 stage;
	bool data_in_cmb;
};

struct nvme_error {
	u64 count;
	u64 lba;
	u32 nsid;
	u16 sqid, cid, status, loc;
};

/* Feature values that software may set; defaults in nvme_features.c. */
struct nvme_features {
	u32 arbitration, power, temp_over, temp_under, volatile_wc, num_queues, irq_coalesce,
		write_atomic, async_event;
	u32 error_recovery[NVME_NAMESPACES_MAX];	/* by NSID - 1 */
	u8 irq_config_cd[PCI_MSIX_VECTORS_MAX / 8];	/* CD bit of each vector */
};

/* Of a namespace. */
struct nvme_resv {
	u32 gen;
	u8 type;		/* NVME_RTYPE_*; none: nobody holds it */
	u8 holder;		/* registrant[] index, where one holds it */
	u8 nr;
	struct {
		u64 host, key;
	} registrant[NVME_REGISTRANTS_MAX];
};

struct nvme {
	struct pci_function fn;
	struct sched *sched;
	struct trace *trace;
	struct store *media;
	struct nvme_config cfg;
	u64 reg[NVME_R_COUNT];
	u64 db_end;			/* BAR0 offset behind the doorbells' pages */
	u64 meta_off;			/* of the metadata in @media, in bytes */
	u32 max_transfer_bytes;
	u32 max_frags;

	/* Queues, by qid; 0 is the admin pair. */
	struct nvme_sq *sq;
	struct nvme_cq *cq;
	u32 nr_queues;			/* with the admin pair */
	u64 ready[NVME_QUEUES_MAX / 64];	/* SQs with something to fetch, as far as known */
	u32 turn;			/* qid that was served last */
	u32 burst_left;			/* commands it may still send in its turn */

	/* Commands. */
	struct nvme_cmd *cmd;
	u32 nr_slots, nr_busy;
	u32 nr_touched;			/* slots that were ever taken since the last reset, from the first on, */
	u16 *back;			/* and those of them that came back: taken first, the last one first */
	u32 nr_back;
	u64 *frags;			/* of all slots */
	u32 *frag_lens;
	u64 *cid_busy;			/* by qid, a bit for each identifier of a command inside */
	u64 *queue_pages;		/* of all queues; NULL with CAP.CQR */
	u32 pages_per_queue;

	/* Time. */
	struct event front_ev, ready_ev, shutdown_ev;
	u64 front_free_ps;
	u64 write_free_ps;
	u64 *die_free_ps;

	/* Admin state. */
	struct nvme_features feat;
	u16 aer_cid[NVME_AERS_MAX];
	u32 nr_aers, aer_masked;	/* one bit an event type */
	u32 nr_aborts;
	u32 granted_sqs, granted_cqs;
	u32 nr_io_sqs, nr_io_cqs;
	struct nvme_error error[NVME_ERRORS_MAX];
	u64 nr_errors;
	u64 host_id;
	struct nvme_resv resv[NVME_NAMESPACES_MAX];	/* by NSID - 1 */
	struct nvme_nrd *nrd;		/* by qid; NULL when not offered */
	u64 ns_attached;		/* bit NSID - 1 */
	u64 capacity;			/* blocks that namespaces may take */

	/* Controller memory buffer. */
	u8 *cmb;
	u64 cmb_base;			/* CBA while decoding is on */
	bool cmb_active;

	/* Within one event only. */
	u64 list[NVME_PAGE_SIZE / 8];
	u8 scratch[NVME_SCRATCH_SIZE];

	struct nvme_cqe_half second;	/* of the last CQE; written, and told of, as soon as anything else is posted */

	struct nvme_faults faults;
	u64 broken_block, broken_nlb;	/* of the medium; nlb 0: none */

	bool has_died;			/* of cfg.fragile_dsm */
	struct nvme_counters count;
};

static inline u64 nvme_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline u64 nvme_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* nvme_regs.c: registers, enable, shutdown, the reset of the controller. */
u64 nvme_mmio_read(void *dev, unsigned int bar, u64 off, unsigned int len);
void nvme_mmio_write(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len);
void nvme_flr(void *dev);
void nvme_regs_init(struct nvme *n);
/* CSTS.CFS: everything stops until the controller is reset (Base 9.5). */
void nvme_fatal(struct nvme *n);
/* Are commands fetched? */
bool nvme_is_running(const struct nvme *n);

/* nvme_cmb.c */
u64 nvme_cmb_mmio_read(const struct nvme *n, u64 off, unsigned int len);
void nvme_cmb_mmio_write(struct nvme *n, u64 off, u64 val, unsigned int len);
void nvme_cmb_update(struct nvme *n);
/* Does any byte of the range fall into the CMB as the controller decodes it? */
bool nvme_cmb_hit(const struct nvme *n, u64 addr, u64 len_bytes);
/* Does the whole range? */
/*
 * A piece of the command's data that is in the CMB: where, or NULL. Asked for each piece when it
 * moves, whatever was judged before. @write: into the CMB.
 */
u8 *nvme_cmb_data(struct nvme_cmd *cmd, u64 addr, u32 len_bytes, bool write);
bool nvme_cmb_covers(const struct nvme *n, u64 addr, u64 len_bytes);

/* nvme_doorbell.c */
void nvme_doorbell_write(struct nvme *n, u64 off, u64 val, unsigned int len);

/* nvme_queue.c */
/* What the function sends from now on: for this command, of this kind, with this PASID. */
static inline void nvme_on_behalf(struct nvme *n, u64 io_id, enum pci_dma_kind kind, u32 pasid)
{
	n->fn.io_id = io_id;
	n->fn.dma_kind = kind;
	n->fn.pasid = pasid == PCI_NO_PASID || MODEL_STEP(controller_queue_pasid) ? pasid : PCI_NO_PASID;
}
void nvme_sq_open(struct nvme *n, u16 qid, u16 cqid, u32 size, const struct nvme_queue_mem *mem, struct nvme_binding to);
void nvme_cq_open(struct nvme *n, u16 qid, u32 size, const struct nvme_queue_mem *mem, bool ien, u16 vector, u32 pasid);
void nvme_sq_close(struct nvme *n, u16 qid);
void nvme_queues_close_all(struct nvme *n);
u32 nvme_cq_room(const struct nvme_cq *cq);
/* The SQ or its CQ changed: it may have its turn again. */
void nvme_sq_wake(struct nvme *n, struct nvme_sq *sq);
void nvme_cq_wake(struct nvme *n, struct nvme_cq *cq);
/* Start the front end when it is idle and has work; not before @delay_ps. */
void nvme_front_kick(struct nvme *n, u64 delay_ps);
void nvme_front_event(struct event *ev);
/* Post a CQE and interrupt. There is room: a reservation or nvme_cq_room() says so. */
void nvme_cqe_post(struct nvme *n, struct nvme_sq *sq, u16 cid, u16 status, u32 dw0, u64 io_id);

/* The second half of the last CQE goes now, if it has not. */
void nvme_cqe_settle(struct nvme *n);
void nvme_cqe_second(struct event *ev);

/* nvme_cmd.c: command slots and their stages. */
struct nvme_cmd *nvme_cmd_get(struct nvme *n);
void nvme_cmd_put(struct nvme_cmd *cmd);
void nvme_cmd_event(struct event *ev);
void nvme_cmd_at(struct nvme_cmd *cmd, enum nvme_stage stage, u64 when_ps);
/* The command is over with @status; its CQE goes out when its DMA is (cmd->t_ps). */
void nvme_cmd_finish(struct nvme_cmd *cmd, u16 status);
/* The command is over now. */
void nvme_cmd_complete(struct nvme_cmd *cmd, u16 status);
/* Drop all commands without CQEs: reset and fatal status. */
void nvme_cmd_drop_all(struct nvme *n);
/* Complete what the SQ has outstanding, with 0/0x08 where data has not moved. */
void nvme_cmd_flush_sq(struct nvme *n, u16 sqid);
/* Complete what is outstanding in the namespace, which is to go, with 0/0x0B. */
void nvme_cmd_flush_ns(struct nvme *n, const struct nvme_ns_config *ns);
/* Abort (sqid, cid): false when there is no such command that can still be stopped. */
bool nvme_cmd_abort(struct nvme *n, u16 sqid, u16 cid);

/* nvme_prp.c */
enum nvme_dir { NVME_TO_HOST, NVME_FROM_HOST };
/*
 * Read the PRPs for @len_bytes into cmd->frag, checking each address; nothing else is
 * read or written. Returns a status; cmd->t_ps moves on by what the lists took.
 */
u16 nvme_prp_map(struct nvme_cmd *cmd, u32 len_bytes, enum nvme_dir dir);
/* nvme_sgl.c: the same for SGLs. */
u16 nvme_sgl_map(struct nvme_cmd *cmd, u32 len_bytes, enum nvme_dir dir);
/* Whichever PSDT says. */
u16 nvme_data_map(struct nvme_cmd *cmd, u32 len_bytes, enum nvme_dir dir);
/* Judge a piece of data of at most a page, and note it. The caller knows that there is room. */
u16 nvme_frag_add(struct nvme_cmd *cmd, u64 addr, u32 len_bytes, enum nvme_dir dir);
/* Judge a piece of the metadata's buffer, within a page; the CMB does not take any. */
u16 nvme_meta_check(struct nvme_cmd *cmd, u64 addr, u32 len_bytes);
/* Judge a piece of a list, within a page, and read it into n->list. */
u16 nvme_list_read(struct nvme_cmd *cmd, u64 addr, u32 len_bytes);
/* Pages of a queue that is not contiguous: @nr_pages entries of the list at @ptr. */
u16 nvme_prp_queue_pages(struct nvme_cmd *cmd, u64 ptr, u32 nr_pages, u64 *pages);
/* Move a buffer of the controller to or from the fragments; false: a read came back as an error. */
void nvme_buf_to_host(struct nvme_cmd *cmd, const void *buf);
bool nvme_buf_from_host(struct nvme_cmd *cmd, void *buf);

/* nvme_media.c: content of the namespaces and the time it takes. */
u64 nvme_media_read_time(struct nvme *n, u64 block, u32 nlb, u64 from_ps);
u64 nvme_media_zeroes_time(struct nvme *n, u64 nr_4k, u64 from_ps, bool through);
u64 nvme_media_write_time(struct nvme *n, u64 nr_4k, u64 from_ps, bool through);
u64 nvme_media_flush_time(struct nvme *n, u64 from_ps);
/* False: a block could not be read; those before it have moved. */
bool nvme_media_to_host(struct nvme_cmd *cmd);
bool nvme_media_from_host(struct nvme_cmd *cmd);
/* 0: equal, NVME_SC_COMPARE, or NVME_SC_DATA_TRANSFER. */
u16 nvme_media_compare(struct nvme_cmd *cmd);
void nvme_media_zero(struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb);
void nvme_media_copy(struct nvme *n, const struct nvme_ns_config *ns, u64 to, u64 from, u64 nlb);
bool nvme_media_is_broken(const struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb);

/* nvme_io.c */
void nvme_io_execute(struct nvme_cmd *cmd);
void nvme_io_transfer(struct nvme_cmd *cmd);
/* nvme_copy.c */
u16 nvme_io_copy(struct nvme_cmd *cmd);
/*
 * nvme_meta.c: metadata of the command's blocks; without any, and where PRACT keeps them from moving, what
 * moves them does nothing.
 */
bool nvme_meta_moves(const struct nvme_cmd *cmd);
/* Judge the buffer, before anything moves. */
u16 nvme_meta_map(struct nvme_cmd *cmd);
u16 nvme_meta_check_read(struct nvme_cmd *cmd);
void nvme_meta_to_host(struct nvme_cmd *cmd);
u16 nvme_meta_from_host(struct nvme_cmd *cmd);
u16 nvme_meta_compare(struct nvme_cmd *cmd);
void nvme_meta_zero(struct nvme_cmd *cmd);
void nvme_meta_deallocate(struct nvme *n, const struct nvme_ns_config *ns, u64 slba, u64 nlb);
void nvme_meta_copy(struct nvme_cmd *cmd, u64 to, u64 from, u32 nlb);
/* nvme_resv.c */
u16 nvme_io_reservation(struct nvme_cmd *cmd);
/* May this host read, or write, the namespace? A status. */
u16 nvme_resv_check(const struct nvme_cmd *cmd, bool writes);
void nvme_resv_reset(struct nvme *n);
/* Is the range in the namespace and the queue's domain? A status. */
u16 nvme_io_check_range(const struct nvme_cmd *cmd, u64 slba, u64 nlb);
/* @opcode: what is done to the blocks, which for Copy is two things. */
void nvme_io_trace_media(const struct nvme_cmd *cmd, u8 opcode, u64 slba, u64 nlb);
/* Forced unit access, or no volatile cache. */
bool nvme_io_writes_through(const struct nvme_cmd *cmd);
/* Serial time of the front end for this SQE. */
u64 nvme_io_front_ps(const struct nvme *n, const struct nvme_sqe *sqe);

/* nvme_admin.c, nvme_admin_queue.c: each returns a status, or NVME_NO_CQE. */
#define NVME_NO_CQE 0xFFFF	/* no completion now (AER) */
void nvme_admin_execute(struct nvme_cmd *cmd);
u16 nvme_admin_create_cq(struct nvme_cmd *cmd);
u16 nvme_admin_create_sq(struct nvme_cmd *cmd);
u16 nvme_admin_delete_cq(struct nvme_cmd *cmd);
u16 nvme_admin_delete_sq(struct nvme_cmd *cmd);
u16 nvme_admin_identify(struct nvme_cmd *cmd);
u16 nvme_admin_get_log(struct nvme_cmd *cmd);
u16 nvme_admin_set_features(struct nvme_cmd *cmd);
u16 nvme_admin_get_features(struct nvme_cmd *cmd);
u16 nvme_admin_nrd_bind(struct nvme_cmd *cmd);
/* nvme_bind.c */
u16 nvme_admin_queue_bind(struct nvme_cmd *cmd);
/* What waits for a creation, which takes it whether or not it succeeds. */
struct nvme_binding nvme_bind_take(struct nvme_binding *next);
/* May commands of this queue name the namespace, as far as its domain and its binding go? */
bool nvme_bind_nsid(const struct nvme_sq *sq, u32 nsid);
/* nvme_ns.c */
u16 nvme_admin_ns_manage(struct nvme_cmd *cmd);
u16 nvme_admin_ns_attach(struct nvme_cmd *cmd);
u64 nvme_ns_unallocated(const struct nvme *n);
void nvme_features_reset(struct nvme *n);
/* An NSID that cannot be: 0, or above NN and not the broadcast value. */
bool nvme_nsid_is_invalid(const struct nvme *n, u32 nsid);
/* The namespace of this NSID, or NULL; whether it is active or not. */
const struct nvme_ns_config *nvme_ns_allocated(const struct nvme *n, u32 nsid);
/* The active namespace of this NSID, or NULL. */
const struct nvme_ns_config *nvme_ns(const struct nvme *n, u32 nsid);
/* NSID names an active namespace? Else the status that says how not. */
u16 nvme_nsid_check(const struct nvme *n, u32 nsid);

/* nvme_event.c: asynchronous events and the error log. */
u16 nvme_aer_hold(struct nvme_cmd *cmd);
bool nvme_aer_abort(struct nvme *n, u16 cid);
void nvme_aer_raise(struct nvme *n, u32 dw0);
void nvme_error_log(struct nvme *n, u16 sqid, u16 cid, u16 status, u32 nsid, u64 lba);

/* nvme_domain.c: resource domains. All true or 0 for a queue that has none. */
bool nvme_domain_opcode(const struct nvme_nrd *nrd, u8 opcode);
bool nvme_domain_lba(const struct nvme_nrd *nrd, u64 slba, u64 nlb);
bool nvme_domain_dma(const struct nvme_nrd *nrd, u64 addr, u64 len_bytes);

#endif
