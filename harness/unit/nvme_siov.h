/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_NVME_SIOV_H
#define HARNESS_UNIT_NVME_SIOV_H

/*
 * A controller whose namespaces come and go and whose queues can be bound. Opcodes, offsets and
 * statuses are written out from Base 5.23, 5.24, figures 95 and 98, and NVM 4.1.6; the binding
 * and the place of a namespace are the model's own (spec/nvme.h).
 */

#include "nvme_rig.h"

#define D(status) ((u16)((status) | NVME_DNR))
#define INVALID_FIELD	0x002
#define INVALID_NSID	0x00B
#define SEQUENCE	0x00C
#define INVALID_QID	0x101
#define INVALID_FORMAT	0x10A
#define NO_CAPACITY	0x115
#define NO_NSID		0x116
#define IS_ATTACHED	0x118
#define NOT_ATTACHED	0x11A
#define BAD_LIST	0x11C

#define HOST_BLOCKS 0x1000u
#define MEDIUM 0x10000u
#define PLACE_MAGIC 0x31434C50u
#define ANYWHERE (~0ULL)

struct siov {
	struct rig *r;
	struct rig_queue q;		/* pair 1, bound to nothing */
};

static inline struct nvme_config siov_config(void)
{
	struct nvme_config cfg = rig_config();

	cfg.nsze = cfg.ncap = MEDIUM;
	cfg.ns[0] = (struct nvme_ns_config){ .nsze = HOST_BLOCKS, .ncap = HOST_BLOCKS };
	cfg.nn = NVME_NAMESPACES_MAX;
	cfg.ns_management = true;
	cfg.pasid = true;
	return cfg;
}

/* PCIe 7.8.9.3: PASID Enable. */
static inline void siov_pasids(struct siov *f, bool on)
{
	pci_cfg_write(&f->r->root, RIG_RID, f->r->fn->cap_pasid + 6, on, 2);
}

static inline int siov_setup(void **state)
{
	struct nvme_config cfg = siov_config();
	struct siov *f = calloc(1, sizeof(*f));

	f->r = rig_up(&cfg);
	siov_pasids(f, true);
	f->q = rig_pair(f->r, 1, 64, 64);
	*state = f;
	return 0;
}

static inline int siov_teardown(void **state)
{
	struct siov *f = *state;

	rig_free(f->r);
	free(f);
	return 0;
}

/* --- namespaces --- */

static inline void put(u8 *p, u32 off, u64 val, u32 bytes)
{
	memcpy(p + off, &val, bytes);
}

/* What is wished for lies at RIG_BUF: NSZE 7:0, NCAP 15:8; the model's place from 1024 on. */
static inline void siov_wish(struct siov *f, u64 nsze, u64 ncap, u64 first)
{
	u8 p[4096] = { 0 };

	put(p, 0, nsze, 8);
	put(p, 8, ncap, 8);
	if (first != ANYWHERE) {
		put(p, 1024, PLACE_MAGIC, 4);
		put(p, 1032, first, 8);
	}
	store_write(f->r->memory, RIG_BUF, p, sizeof(p));
}

static inline struct nvme_cqe siov_create_wished(struct siov *f)
{
	return rig_cqe(f->r, &f->r->admin, (struct nvme_sqe){ .opcode = 0x0D, .prp1 = RIG_BUF });
}

static inline u16 siov_create(struct siov *f, u64 blocks, u64 first, u32 *nsid)
{
	struct nvme_cqe cqe;

	siov_wish(f, blocks, blocks, first);
	cqe = siov_create_wished(f);
	if (nsid)
		*nsid = cqe.dw0;
	return rig_status(&cqe);
}

static inline u16 siov_delete(struct siov *f, u32 nsid)
{
	return rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x0D, .nsid = nsid, .cdw10 = 1 });
}

/* To or from controllers @ids: a count, then 16 bits each. */
static inline u16 siov_attach_list(struct siov *f, u32 nsid, bool detach, u16 count, u16 id)
{
	u8 p[4096] = { 0 };

	put(p, 0, count, 2);
	put(p, 2, id, 2);
	store_write(f->r->memory, RIG_BUF, p, sizeof(p));
	return rig_admin(f->r, (struct nvme_sqe){ .opcode = 0x15, .nsid = nsid, .prp1 = RIG_BUF, .cdw10 = detach });
}

static inline u16 siov_attach(struct siov *f, u32 nsid)
{
	return siov_attach_list(f, nsid, false, 1, 0);
}

static inline u16 siov_detach(struct siov *f, u32 nsid)
{
	return siov_attach_list(f, nsid, true, 1, 0);
}

static inline u32 siov_namespace(struct siov *f, u64 blocks, u64 first)
{
	u32 nsid;

	assert_int_equal(siov_create(f, blocks, first, &nsid), 0);
	assert_int_equal(siov_attach(f, nsid), 0);
	return nsid;
}

static inline struct nvme_sqe siov_io(u8 opcode, u32 nsid, u64 slba)
{
	struct nvme_sqe sqe = rig_rw(opcode, slba, 0, RIG_BUF + 0x2000, 0);

	sqe.nsid = nsid;
	return sqe;
}

static inline u16 siov_read(struct siov *f, struct rig_queue *q, u32 nsid, u64 slba)
{
	return rig_cmd(f->r, q, siov_io(0x02, nsid, slba));
}

/* --- bindings --- */

static inline u16 siov_bind(struct siov *f, u32 cdw10, u32 pasid, u32 nsid)
{
	return rig_admin(f->r, (struct nvme_sqe){ .opcode = 0xC2, .cdw10 = cdw10, .cdw11 = pasid, .cdw12 = nsid });
}

#define BIND_CQ (1u << 16)

#endif
