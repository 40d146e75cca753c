// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

#include <stdlib.h>

/*
 * Making and unmaking a controller: the configuration is judged as a whole, then all
 * memory it will ever use is allocated.
 */

#define VENDOR_DEFAULT 0x8086
#define DEVICE_DEFAULT 0x0A54	/* the SSD whose timing is the baseline */
#define CLASS_NVME 0x010802

static size_t text_len(const char *s, size_t max)
{
	size_t n = 0;

	while (s && n <= max && s[n])
		n++;
	return s ? n : max + 1;
}

static bool overlap(const struct nvme_ns_config *a, const struct nvme_ns_config *b)
{
	return a->first_block < b->first_block + b->ncap && b->first_block < a->first_block + a->ncap;
}

static bool ns_is_valid(const struct nvme_config *cfg, u32 i)
{
	const struct nvme_ns_config *ns = &cfg->ns[i];

	if (i >= cfg->nn || ns->nsze > NVME_NSZE_MAX || !ns->ncap || ns->ncap > ns->nsze || ns->first_block > NVME_NSZE_MAX)
		return false;
	for (u32 k = 0; k < i; k++)
		if (cfg->ns[k].nsze && overlap(ns, &cfg->ns[k]))
			return false;
	return true;
}

static bool namespaces_are_valid(const struct nvme_config *cfg)
{
	bool any = false;

	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++) {
		if (!cfg->ns[i].nsze)
			continue;
		if (!ns_is_valid(cfg, i))
			return false;
		any = true;
	}
	return any;
}

static bool config_is_valid(const struct nvme_config *cfg)
{
	if (text_len(cfg->serial, 20) > 20 || text_len(cfg->model, 40) > 40 || text_len(cfg->firmware, 8) > 8)
		return false;
	if (!cfg->nn || !namespaces_are_valid(cfg))
		return false;
	/* Base 1.4 figure 249: NN up to 0xFFFFFFFE, as all ones is the broadcast value. */
	if (cfg->nn == UINT32_MAX)
		return false;
	if (!cfg->io_queues || cfg->io_queues >= NVME_QUEUES_MAX || !cfg->mqes || cfg->dstrd > 15)
		return false;
	if (!cfg->msix_vectors || cfg->msix_vectors > PCI_MSIX_VECTORS_MAX)
		return false;
	if (cfg->oncs & ~(NVME_ONCS_COMPARE | NVME_ONCS_DSM | NVME_ONCS_WRITE_ZEROES | NVME_ONCS_RESERVATIONS |
			  NVME_ONCS_COPY))
		return false;
	if (cfg->metadata && (!cfg->mdts || cfg->mdts > NVME_META_MDTS_MAX))
		return false;
	/* CMBSZ counts in 4 KiB with 20 bits; a BAR is a power of two. */
	if (cfg->cmb_size_bytes & (cfg->cmb_size_bytes - 1))
		return false;
	if (cfg->cmb_size_bytes && (cfg->cmb_size_bytes < NVME_PAGE_SIZE || cfg->cmb_size_bytes > 1ULL << 31))
		return false;
	return cfg->timing.dies && cfg->timing.dies <= NVME_DIES_MAX;
}

/* Every namespace has a place on the medium; NSID 1 starts it. */
u64 nvme_media_blocks(const struct nvme_config *cfg)
{
	u64 end = cfg->ncap;

	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++)
		end = nvme_max(end, cfg->ns[i].first_block + cfg->ns[i].ncap);
	return end;
}

static u64 page_up(u64 val)
{
	return (val + NVME_PAGE_SIZE - 1) & ~(NVME_PAGE_SIZE - 1);
}

/* Doorbells, then the MSI-X table, then the PBA, none sharing a page with another (PCIe 7.7.2). */
static void bar_layout(struct nvme *n, struct pci_function_config *fc)
{
	u64 stride = 4ULL << n->cfg.dstrd;
	u64 table, pba, end, size = 0x4000;

	n->db_end = page_up(NVME_REG_DBS + 2 * (u64)n->nr_queues * stride);
	table = n->db_end;
	pba = table + page_up(16ULL * n->cfg.msix_vectors);
	end = pba + NVME_PAGE_SIZE;
	while (size < end)
		size *= 2;
	fc->bar[0] = (struct pci_bar_config){ .size_bytes = size, .is_64bit = true };
	fc->msix_vectors = n->cfg.msix_vectors;
	fc->msix_table_off = (u32)table;
	fc->msix_pba_off = (u32)pba;
	if (n->cfg.cmb_size_bytes)
		fc->bar[2] = (struct pci_bar_config){ .size_bytes = n->cfg.cmb_size_bytes, .is_64bit = true,
						      .prefetchable = true };
}

static void sizes_init(struct nvme *n)
{
	/* Base figure 275, MDTS; NLB is 16 bits wide, so more than 32 MiB cannot be asked for. */
	u32 pages = !n->cfg.mdts || n->cfg.mdts > 13 ? 8192 : 1u << n->cfg.mdts;
	u64 queued;

	n->nr_queues = n->cfg.io_queues + 1u;
	n->max_transfer_bytes = pages * (u32)NVME_PAGE_SIZE;
	/* An SGL may come in blocks of 512 bytes and still move what MDTS allows. */
	n->max_frags = pages * (n->cfg.sgls ? 8 : 1) + 1;
	queued = (u64)n->nr_queues * n->cfg.mqes;
	n->nr_slots = (u32)nvme_min(queued, NVME_SLOTS_MAX);
	n->nr_slots = (u32)nvme_min(n->nr_slots, NVME_FRAGS_BUDGET / n->max_frags);
	n->nr_slots = (u32)nvme_max(n->nr_slots, NVME_SLOTS_MIN) + NVME_SLOTS_ADMIN;
	n->pages_per_queue = (u32)(page_up((n->cfg.mqes + 1ULL) * sizeof(struct nvme_sqe)) / NVME_PAGE_SIZE);
}

static bool memory_alloc(struct nvme *n)
{
	n->sq = calloc(n->nr_queues, sizeof(*n->sq));
	n->cq = calloc(n->nr_queues, sizeof(*n->cq));
	n->cmd = calloc(n->nr_slots, sizeof(*n->cmd));
	n->back = calloc(n->nr_slots, sizeof(*n->back));
	n->frags = calloc((size_t)n->nr_slots * n->max_frags, sizeof(*n->frags));
	n->frag_lens = calloc((size_t)n->nr_slots * n->max_frags, sizeof(*n->frag_lens));
	n->die_free_ps = calloc(n->cfg.timing.dies, sizeof(*n->die_free_ps));
	n->cid_busy = calloc((size_t)n->nr_queues * NVME_CID_WORDS, sizeof(*n->cid_busy));
	if (!n->cid_busy || !n->sq || !n->cq || !n->cmd || !n->back || !n->frags || !n->frag_lens || !n->die_free_ps)
		return false;
	if (!n->cfg.cqr) {
		n->queue_pages = calloc((size_t)n->nr_queues * 2 * n->pages_per_queue, sizeof(*n->queue_pages));
		if (!n->queue_pages)
			return false;
	}
	if (n->cfg.resource_domains) {
		n->nrd = calloc(n->nr_queues, sizeof(*n->nrd));
		if (!n->nrd)
			return false;
	}
	if (n->cfg.cmb_size_bytes) {
		n->cmb = n->cfg.cmb_memory ? n->cfg.cmb_memory : calloc(1, n->cfg.cmb_size_bytes);
		if (!n->cmb)
			return false;
	}
	return true;
}

static void queues_init(struct nvme *n)
{
	for (u32 q = 0; q < n->nr_queues; q++) {
		n->sq[q].qid = (u16)q;
		n->cq[q].qid = (u16)q;
		n->sq[q].pasid = PCI_NO_PASID;
		n->cq[q].pasid = PCI_NO_PASID;
		n->sq[q].next.pasid = PCI_NO_PASID;
		n->cq[q].next.pasid = PCI_NO_PASID;
		if (n->queue_pages) {
			n->sq[q].mem.pages = n->queue_pages + (size_t)2 * q * n->pages_per_queue;
			n->cq[q].mem.pages = n->sq[q].mem.pages + n->pages_per_queue;
		}
	}
}

static const struct pci_ops nvme_pci_ops = {
	.mmio_read = nvme_mmio_read,
	.mmio_write = nvme_mmio_write,
	.reset = nvme_flr,
};

struct nvme *nvme_new(const struct nvme_config *cfg, struct pci_root *root, struct sched *sched, struct trace *trace,
		      struct store *media)
{
	struct pci_function_config fc = { .rid = cfg->rid, .class_code = CLASS_NVME, .pasid = cfg->pasid, .link = cfg->link };
	struct nvme *n;

	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->cfg = *cfg;
	if (!n->cfg.ns[0].nsze)
		n->cfg.ns[0] = (struct nvme_ns_config){ .nsze = cfg->nsze, .ncap = cfg->ncap, .pi = cfg->metadata };
	if (!config_is_valid(&n->cfg))
		goto out_free;
	n->sched = sched;
	n->trace = trace;
	n->media = media;
	sizes_init(n);
	if (!memory_alloc(n))
		goto out_free;
	queues_init(n);
	n->ns_attached = ~0ULL;
	n->meta_off = nvme_media_blocks(&n->cfg) << NVME_BLOCK_SHIFT;
	n->capacity = nvme_media_blocks(&n->cfg);
	nvme_regs_init(n);
	fc.vendor_id = cfg->vendor_id ? cfg->vendor_id : VENDOR_DEFAULT;
	fc.device_id = cfg->device_id ? cfg->device_id : DEVICE_DEFAULT;
	fc.subsystem_vendor_id = fc.vendor_id;
	fc.subsystem_id = fc.device_id;
	bar_layout(n, &fc);
	if (pci_function_init(&n->fn, &fc, root, &nvme_pci_ops, n))
		goto out_free;
	return n;

out_free:
	nvme_free(n);
	return NULL;
}

void nvme_free(struct nvme *n)
{
	if (!n)
		return;
	for (u32 i = 0; n->cmd && i < n->nr_touched; i++)
		sched_cancel(n->sched, &n->cmd[i].ev);
	if (n->sched) {
		sched_cancel(n->sched, &n->front_ev);
		sched_cancel(n->sched, &n->second.ev);
		sched_cancel(n->sched, &n->ready_ev);
		sched_cancel(n->sched, &n->shutdown_ev);
	}
	pci_function_fini(&n->fn);
	if (!n->cfg.cmb_memory)
		free(n->cmb);
	free(n->nrd);
	free(n->cid_busy);
	free(n->queue_pages);
	free(n->die_free_ps);
	free(n->frag_lens);
	free(n->frags);
	free(n->back);
	free(n->cmd);
	free(n->cq);
	free(n->sq);
	free(n);
}

struct pci_function *nvme_function(struct nvme *n)
{
	return &n->fn;
}

struct nvme_faults *nvme_faults(struct nvme *n)
{
	return &n->faults;
}

const struct nvme_counters *nvme_counters(const struct nvme *n)
{
	return &n->count;
}
