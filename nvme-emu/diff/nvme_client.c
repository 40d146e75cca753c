// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

#include "spec/pci.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The driver's half of the queues, for one machine: where SQEs go, which CQE is next, what the
 * commands that completed have made. It trusts nothing but the phase bit.
 */

#define CQES_MAX 256		/* of one wait */
#define CQES_AT_ONCE 4
#define POLLS_FAST 64
#define POLLS_SLOW 4000		/* a millisecond each, for QEMU's own threads: what is not there then does not come */
#define CAP_MSIX 0x11
#define MSIX_MESSAGE_CONTROL 2
#define COMMAND_MEMORY_MASTER 6
#define SENT_MASK 31

void nvme_client_reset(struct side *s)
{
	s->nvme = (struct nvme_client){ 0 };
}

static u64 bar_base(u32 bir)
{
	return bir == 0 ? DIFF_BAR0 : bir == 2 ? DIFF_BAR2 : DIFF_BAR4;
}

void nvme_client_pci(struct side *s)
{
	struct nvme_client *c = &s->nvme;
	static const u64 bar[] = { DIFF_BAR0, 0, DIFF_BAR2, 0, DIFF_BAR4, 0 };
	u32 at = side_config_read(s, 0x34, 1), table, pba;

	for (u32 i = 0; i < 6; i++)
		side_config_write(s, 0x10 + 4 * i, 4, (u32)bar[i]);
	side_config_write(s, 4, 2, COMMAND_MEMORY_MASTER);
	for (u32 n = 0; n < 48 && at && side_config_read(s, at, 1) != CAP_MSIX; n++)
		at = side_config_read(s, at + 1, 1);
	table = side_config_read(s, at + 4, 4);
	pba = side_config_read(s, at + 8, 4);
	c->msix_cap = at;
	c->msix_vectors = (side_config_read(s, at + MSIX_MESSAGE_CONTROL, 2) & 0x7FF) + 1;
	c->msix_table = bar_base(table & 7) + (table & ~7u);
	c->msix_pba = bar_base(pba & 7) + (pba & ~7u);
}

static void ring_open(struct nvme_ring *r, u64 base, u32 size, u16 cq)
{
	*r = (struct nvme_ring){ .live = true, .phase = true, .base = base, .size = size, .cq = cq };
}

void nvme_client_open_admin(struct side *s, u64 asq, u64 acq, u32 asqs, u32 acqs)
{
	struct nvme_client *c = &s->nvme;

	memset(c->sq, 0, sizeof(c->sq));
	memset(c->cq, 0, sizeof(c->cq));
	ring_open(&c->sq[0], asq, asqs, 0);
	ring_open(&c->cq[0], acq, acqs, 0);
	side_fill(s, acq, 0, 16 * acqs);
}

void nvme_client_store(struct side *s, u32 q, struct nvme_sqe *sqe, bool completes)
{
	struct nvme_client *c = &s->nvme;
	struct nvme_ring *sq = &c->sq[q];

	if (!sqe->cid)
		sqe->cid = ++c->next_cid ? c->next_cid : ++c->next_cid;
	c->sent[q][sqe->cid & SENT_MASK] = *sqe;
	if (!sq->live)
		return;
	side_put(s, sq->base + 64ULL * sq->at, sqe, sizeof(*sqe));
	sq->at = (sq->at + 1) % sq->size;
	sq->outstanding += completes;
}

void nvme_client_ring(struct side *s, u32 q)
{
	side_write(s, DIFF_BAR0 + NVME_REG_DBS + 8ULL * q, 4, s->nvme.sq[q].at);
}

/* Where software reaches an address that the controller was given. */
static u64 reach(const struct nvme_client *c, u64 addr)
{
	return c->cba && addr >= c->cba ? DIFF_BAR2 + (addr - c->cba) : addr;
}

/* What an admin command that succeeded has made of the queues. */
static void succeeded(struct side *s, const struct nvme_sqe *sqe)
{
	struct nvme_client *c = &s->nvme;
	u32 q = sqe->cdw10 & 0xFFFF, size = (sqe->cdw10 >> 16) + 1;

	if (q >= DIFF_QUEUES_MAX)
		return;
	switch (sqe->opcode) {
	case NVME_ADM_CREATE_SQ:
		ring_open(&c->sq[q], reach(c, sqe->prp1), size, (u16)(sqe->cdw11 >> 16));
		break;
	case NVME_ADM_CREATE_CQ:
		ring_open(&c->cq[q], reach(c, sqe->prp1), size, 0);
		break;
	case NVME_ADM_DELETE_SQ:
		c->sq[q].live = false;
		break;
	case NVME_ADM_DELETE_CQ:
		c->cq[q].live = false;
		break;
	default:
		break;
	}
}

struct harvest {
	struct nvme_cqe cqe[CQES_MAX];
	u32 nr;
};

static void take(struct side *s, struct nvme_ring *cq, const struct nvme_cqe *e, struct harvest *h)
{
	h->cqe[h->nr++] = *e;
	if (++cq->at == cq->size) {
		cq->at = 0;
		cq->phase = !cq->phase;
	}
	if (e->sqid < DIFF_QUEUES_MAX && s->nvme.sq[e->sqid].outstanding)
		s->nvme.sq[e->sqid].outstanding--;
	if (!e->sqid && !(e->status >> 1))
		succeeded(s, &s->nvme.sent[0][e->cid & SENT_MASK]);
}

/* What has come on the CQ; the head's doorbell is not rung yet. */
static void harvest(struct side *s, u32 cqid, struct harvest *h)
{
	struct nvme_ring *cq = &s->nvme.cq[cqid];
	struct nvme_cqe e[CQES_AT_ONCE];
	u32 nr, i;

	do {
		nr = cq->size - cq->at < CQES_AT_ONCE ? cq->size - cq->at : CQES_AT_ONCE;
		side_get(s, cq->base + 16ULL * cq->at, e, nr * (u32)sizeof(e[0]));
		side_sync(s);
		for (i = 0; i < nr && !s->dead && h->nr < CQES_MAX && (e[i].status & NVME_CQE_PHASE) == cq->phase; i++)
			take(s, cq, &e[i], h);
	} while (i == nr && nr);
}

static void ring_head(struct side *s, u32 cqid)
{
	side_write(s, DIFF_BAR0 + NVME_REG_DBS + 8ULL * cqid + 4, 4, s->nvme.cq[cqid].at);
}

static bool is_fatal(struct side *s)
{
	return side_read_now(s, DIFF_BAR0 + NVME_REG_CSTS, 4) & NVME_CSTS_CFS;
}

static int by_cid(const void *a, const void *b)
{
	const struct nvme_cqe *x = a, *y = b;

	return x->sqid != y->sqid ? (int)x->sqid - y->sqid : (int)x->cid - y->cid;
}

/* Messages lie where the vectors point at; @word was read there. */
static void see_interrupts(struct side *s, const u32 *word, u32 nr, struct seen *seen)
{
	u64 came = 0;
	u32 sum = 0;

	for (u32 v = 0; v < nr; v++) {
		came |= (u64)!!word[4 * v] << v;
		sum = sum * 31 + word[4 * v];
	}
	if (came)
		side_fill(s, DIFF_MSI, 0, 16 * nr);
	see(seen, came, "msi");
	see(seen, sum, "msi-data");
}

static void see_cqes(struct harvest *h, struct seen *seen)
{
	qsort(h->cqe, h->nr, sizeof(h->cqe[0]), by_cid);
	see(seen, h->nr, "completions");
	for (u32 i = 0; i < h->nr; i++) {
		const struct nvme_cqe *e = &h->cqe[i];

		see(seen, e->status >> 1, "status");
		see(seen, e->dw0, "dw0");
		see(seen, e->cid, "cid");
		see(seen, e->sqid, "sqid");
		/* Of several the order is the controller's choice, and the head with it. */
		if (h->nr == 1)
			see(seen, e->sqhd, "sqhd");
	}
}

void nvme_client_collect(struct side *s, u32 q, struct seen *seen)
{
	struct nvme_client *c = &s->nvme;
	struct harvest h = { .nr = 0 };
	u32 cqid = c->sq[q].cq;
	u32 word[4 * DIFF_VECTORS_MAX], vectors = c->msix_vectors < DIFF_VECTORS_MAX ? c->msix_vectors : DIFF_VECTORS_MAX;
	u64 csts;

	for (u32 polls = 0, had = 0; c->sq[q].live && c->cq[cqid].live && !s->dead; polls++, had = h.nr) {
		harvest(s, cqid, &h);
		if (h.nr > had)
			ring_head(s, cqid);
		if (!c->sq[q].outstanding || polls == (s->is_model ? POLLS_FAST : POLLS_FAST + POLLS_SLOW))
			break;
		if (polls >= POLLS_FAST) {
			if (is_fatal(s))
				break;
			usleep(1000);
		}
	}
	c->sq[q].outstanding = 0;
	side_read(s, DIFF_BAR0 + NVME_REG_CSTS, 4, &csts);
	side_get(s, DIFF_MSI, word, 16 * vectors);
	side_sync(s);
	see_cqes(&h, seen);
	see(seen, csts, "csts");
	see_interrupts(s, word, vectors, seen);
}
