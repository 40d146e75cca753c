/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_HOSTILE_GUEST_H
#define HARNESS_UNIT_HOSTILE_GUEST_H

/*
 * A guest kernel gone hostile, from a seed: on each vCPU a task that does one random or nearly
 * valid thing after another with all that its VM can reach. It knows more than a real one could
 * (where the victim and the host are), and asks for nothing but accesses of its vCPUs.
 */

#include "host/host.h"
#include "nvme/nvme.h"
#include "rng.h"
#include "vm/io.h"

#define HOSTILE_PAGES	16u	/* of data, lists, rings: all mixed */
#define HOSTILE_RINGS	2u	/* ... the first of them: queues in guest memory */
#define VM_LBAS_SAFE	0x1000u		/* what every attacker has at least */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

struct hostile;

struct hostile_vcpu {
	struct hostile *h;
	struct rng rng;
	bool ended;
};

/* One life of the attacking VM. */
struct hostile {
	struct port_vm *vm;
	const struct port_vm *victim;
	u64 *steps;			/* left, over all lives */
	gpa_t pages;			/* HOSTILE_PAGES, then the admin queue's two */
	bool coming_up;
	u32 entries;			/* of queues that the driver made */
	u32 tail[LIOV_VM_QUEUES_MAX + 1];
	u32 admin_tail;
	struct hostile_vcpu vcpu[VM_VCPUS_MAX];
	struct hostile *next;
};

/* --- what to name: addresses, blocks, commands --- */

static u64 edge(struct rng *r)
{
	return rng_below(r, 33) - 16;
}

static u64 own_page(struct hostile *h, struct rng *r)
{
	return h->pages.v + rng_below(r, HOSTILE_PAGES + 2) * SPEC_PAGE_SIZE;
}

static u64 slot(struct rng *r)
{
	return LIOV_CMB_SLOTS + rng_below(r, LIOV_VM_QUEUES_MAX + 1) * LIOV_CMB_SLOT_STRIDE;
}

/* Of what the device may not touch for this VM, or of nobody. */
static u64 forbidden_address(struct hostile *h, struct rng *r)
{
	struct liov_backend *be = &h->vm->m->backend;
	const struct liov_hwq *q = &be->hwq[rng_below(r, be->info.io_queues + 1)];
	u64 off = rng_chance(r, 1, 2) ? 0 : rng_below(r, 0x2000);

	switch (rng_below(r, 12)) {
	case 0:
		return h->victim->cfg.ram[0].gpa + h->victim->liov.dma_offset + rng_below(r, 512) * SPEC_PAGE_SIZE + off;
	case 1:
		return h->victim->cfg.ram[0].gpa + h->victim->cfg.ram[0].len_bytes - rng_below(r, 16) * SPEC_PAGE_SIZE + off;
	case 2:
		return be->admin.iova.v + off;
	case 3:
		return (rng_chance(r, 1, 2) ? q->sq_iova.v : q->cq_iova.v) + off;
	case 4:
		return be->bar0_bus_addr + (rng_chance(r, 1, 2) ? NVME_REG_DBS : 0) + off;
	case 5:
		return be->cmb_bus_addr + off;
	case 6:
		return 0xFEE00000 + rng_below(r, 0x100000);
	case 7:
		return VM_CMB_GPA + slot(r) + off;
	case 8:
		return h->vm->cfg.ram[0].gpa + h->vm->cfg.ram[0].len_bytes + (rng_below(r, 3) - 1) * SPEC_PAGE_SIZE + off;
	case 9:
		return (1ull << rng_below(r, 64)) - off;
	case 10:
		return 0 - off;
	default:
		return rng_u64(r);
	}
}

static u64 some_address(struct hostile *h, struct rng *r)
{
	u64 a = own_page(h, r);

	if (rng_chance(r, 1, 4))
		return forbidden_address(h, r);
	if (h->vm->m->cfg.backend.policy != LIOV_POLICY_MEDIATED && rng_chance(r, 7, 8))
		a += h->vm->liov.dma_offset;
	if (rng_chance(r, 1, 8))
		a += rng_below(r, SPEC_PAGE_SIZE);
	return a;
}

static u64 some_lba(struct hostile *h, struct rng *r)
{
	const struct liov_range *mine = &h->vm->liov.lba, *theirs = &h->victim->liov.lba;
	bool physical = h->vm->m->cfg.backend.policy != LIOV_POLICY_MEDIATED;

	switch (rng_below(r, 10)) {
	case 0:
		return theirs->start + rng_below(r, h->victim->cfg.liov.lbas);
	case 1:
		return theirs->start + edge(r);
	case 2:
		return theirs->start + theirs->count + edge(r);
	case 3:
		return mine->start + edge(r);
	case 4:
		return mine->start + mine->count + edge(r);
	case 5:
		return h->vm->m->cfg.ssd.nsze + edge(r);
	case 6:
		return (1ull << rng_below(r, 64)) + edge(r);
	case 7:
		return edge(r);
	default:
		return (physical ? mine->start : 0) + rng_below(r, h->vm->cfg.liov.lbas);
	}
}

static u32 some_blocks(struct rng *r)
{
	static const u32 nlb[] = { 0, 7, 7, 8, 15, 63, 254, 255, 256, 0xFFFF };

	return nlb[rng_below(r, COUNT(nlb))];
}

static void garbage(struct rng *r, void *buf, u32 len)
{
	u8 *p = buf;
	u32 i;

	for (i = 0; i < len; i++)
		p[i] = (u8)rng_u64(r);
}

static void some_io(struct hostile *h, struct rng *r, struct nvme_sqe *sqe)
{
	static const u8 opcodes[] = {
		NVME_CMD_READ, NVME_CMD_READ, NVME_CMD_READ, NVME_CMD_WRITE, NVME_CMD_WRITE, NVME_CMD_COMPARE, NVME_CMD_FLUSH,
		NVME_CMD_WRITE_ZEROES, NVME_CMD_DSM, NVME_CMD_DSM, NVME_CMD_COPY, 0x04, 0x0C, 0x0D, 0x7F, 0x80, NVME_ADM_NRD_BIND,
	};
	static const u32 nsids[] = { 1, 1, 1, 1, 1, 1, 1, 0, 2, NVME_NSID_ALL };
	u64 slba = some_lba(h, r);
	u32 own = h->vm->liov.nsid;

	*sqe = (struct nvme_sqe){
		.opcode = opcodes[rng_below(r, COUNT(opcodes))], .cid = (u16)rng_u64(r), .nsid = nsids[rng_below(r, COUNT(nsids))],
		.prp1 = some_address(h, r), .prp2 = some_address(h, r), .cdw10 = (u32)slba, .cdw11 = (u32)(slba >> 32),
		.cdw12 = some_blocks(r),
	};
	/* Some must be good: what is refused at once is never in flight. */
	if (rng_chance(r, 1, 3)) {
		slba = (h->vm->m->cfg.backend.policy == LIOV_POLICY_MEDIATED || own != 1 ? 0 : h->vm->liov.lba.start) +
		       rng_below(r, VM_LBAS_SAFE);
		sqe->nsid = 1;
		sqe->cdw10 = (u32)slba;
		sqe->cdw11 = 0;
		sqe->cdw12 = (u32)rng_below(r, 16);
		sqe->prp2 &= ~(SPEC_PAGE_SIZE - 1);
	}
	/* Under siov 1 is the host's, and 2 or 3 the victim's. */
	if (own != 1 && sqe->nsid == 1 && rng_chance(r, 7, 8))
		sqe->nsid = own;
	if (sqe->opcode == NVME_CMD_DSM) {
		sqe->cdw10 = (u32)rng_below(r, rng_chance(r, 1, 2) ? 4 : 256);
		sqe->cdw11 = rng_chance(r, 3, 4) ? (u32)NVME_DSM_AD : (u32)rng_u64(r);
	}
	if (rng_chance(r, 1, 8))
		sqe->flags = (u8)(rng_chance(r, 1, 2) ? 0x40 : rng_u64(r));
	if (rng_chance(r, 1, 16))
		sqe->mptr = some_address(h, r);
	if (rng_chance(r, 1, 16))
		sqe->cdw12 |= (u32)rng_u64(r) & 0xFFFF0000;
	if (rng_chance(r, 1, 32))
		garbage(r, sqe, sizeof(*sqe));
}

/* --- commands for the virtual admin queue --- */

static void admin_fields(struct hostile *h, struct rng *r, struct nvme_sqe *s)
{
	u32 qid = (u32)rng_below(r, h->vm->cfg.liov.nr_queues + 3);
	static const u32 sizes[] = { 0, 1, 7, 31, 63, 63, 1023, 1024, 0xFFFF };
	static const u8 feats[] = { 1, 2, 4, 5, 6, 7, 7, 8, 9, 0xA, 0xB, 0xB, 0xF };
	u64 gpa = own_page(h, r);
	u64 len = rng_range(r, 1, 32) * SPEC_PAGE_SIZE;

	switch (s->opcode) {
	case NVME_ADM_CREATE_SQ:
	case NVME_ADM_CREATE_CQ:
		s->cdw10 = qid | sizes[rng_below(r, COUNT(sizes))] << 16;
		s->cdw11 = (u32)(rng_below(r, 8) ? 1 : 0) | (u32)rng_below(r, 2) << 1 |
			   (rng_chance(r, 3, 4) ? qid : (u32)rng_below(r, 20)) << 16;
		if (rng_chance(r, 1, 2))
			s->prp1 = VM_CMB_GPA + slot(r) + (s->opcode == NVME_ADM_CREATE_CQ ? LIOV_SLOT_CQ : 0);
		else if (rng_chance(r, 1, 2))
			s->prp1 = h->pages.v + qid % HOSTILE_RINGS * SPEC_PAGE_SIZE;
		break;
	case NVME_ADM_DELETE_SQ:
	case NVME_ADM_DELETE_CQ:
		s->cdw10 = qid;
		break;
	case NVME_ADM_GET_FEATURES:
	case NVME_ADM_SET_FEATURES:
		s->cdw10 = feats[rng_below(r, COUNT(feats))] | (u32)(rng_chance(r, 1, 4) ? rng_u64(r) : 0) << 8;
		break;
	case NVME_ADM_GET_LOG_PAGE:
		s->cdw10 = (u32)rng_below(r, 8) | (u32)rng_below(r, 0x400) << 16;
		break;
	case NVME_ADM_ABORT:
		s->cdw10 = qid | (u32)rng_below(r, 64) << 16;
		break;
	case LIOV_ADM_MEM_REGISTER:
	case LIOV_ADM_MEM_UNREGISTER:
		if (rng_chance(r, 1, 4)) {
			gpa = rng_chance(r, 1, 2) ? h->vm->cfg.ram[0].gpa : forbidden_address(h, r);
			len = rng_chance(r, 1, 2) ? h->vm->cfg.ram[0].len_bytes : rng_u64(r) >> rng_below(r, 64);
		}
		s->cdw10 = (u32)gpa;
		s->cdw11 = (u32)(gpa >> 32);
		s->cdw12 = (u32)len;
		s->cdw13 = (u32)(len >> 32);
		break;
	default:
		break;
	}
}

static void some_admin(struct hostile *h, struct rng *r, struct nvme_sqe *s)
{
	static const u8 opcodes[] = {
		NVME_ADM_DELETE_SQ, NVME_ADM_CREATE_SQ, NVME_ADM_CREATE_SQ, NVME_ADM_CREATE_SQ, NVME_ADM_GET_LOG_PAGE, NVME_ADM_DELETE_CQ,
		NVME_ADM_CREATE_CQ, NVME_ADM_CREATE_CQ, NVME_ADM_IDENTIFY, NVME_ADM_ABORT, NVME_ADM_SET_FEATURES, NVME_ADM_GET_FEATURES,
		NVME_ADM_AER, NVME_ADM_FORMAT, NVME_ADM_NRD_BIND, 0x0D, 0x10, 0x11, 0x7C, 0x84, LIOV_ADM_MEM_REGISTER, LIOV_ADM_MEM_REGISTER,
		LIOV_ADM_MEM_UNREGISTER, 0xC0, 0xFF,
	};

	*s = (struct nvme_sqe){
		.opcode = opcodes[rng_below(r, COUNT(opcodes))], .cid = (u16)rng_u64(r), .nsid = (u32)rng_below(r, 3),
		.prp1 = rng_chance(r, 3, 4) ? own_page(h, r) : some_address(h, r), .prp2 = some_address(h, r), .cdw10 = (u32)rng_below(r, 6),
	};
	admin_fields(h, r, s);
	if (rng_chance(r, 1, 16))
		s->nsid = (u32)rng_u64(r);
	if (rng_chance(r, 1, 32))
		s->flags = (u8)rng_u64(r);
	if (rng_chance(r, 1, 32))
		garbage(r, s, sizeof(*s));
}

#endif
