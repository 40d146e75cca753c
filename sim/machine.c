// SPDX-License-Identifier: GPL-2.0
#include "machine.h"
#include "event.h"
#include "host/host.h"
#include "store.h"

#include <assert.h>
#include <stdlib.h>

#define GIB (1ull << 30)

/*
 * The reference machine: addresses, queues and windows of the attack corpus' baseline, costs
 * of an Intel P4510 behind a Skylake-SP. Grades: P primary source or measurement read, M raw
 * measurement data read, D derived by arithmetic from published figures, F fitted to
 * published figures (it explains, it does not predict), E estimate (take a factor of 2).
 */
static const struct nvme_timing p4510_timing = {
	.fetch_ps = 1470 * PS_PER_NS,		/* D: 1 / 680K IOPS of 4 KiB */
	.per_4k_ps = 1220 * PS_PER_NS,		/* D: 4 KiB / 3.2 GB/s sequential, less than fetch */
	.read_ps = 58 * PS_PER_US,		/* F: with 72 dies and the fixed part, 77 us at depth 1 */
	.write_ps = 5700 * PS_PER_NS,		/* D: 14.9 us in a VM at depth 1 less the software's share */
	.write_drain_ps = 2300 * PS_PER_NS,	/* D: 434.9K random writes/s before steady state */
	.flush_ps = 10 * PS_PER_US,		/* E */
	.fixed_ps = 10 * PS_PER_US,		/* F */
	.admin_ps = 10 * PS_PER_US,		/* E */
	.reset_ps = 1 * PS_PER_MS,		/* E */
	.dies = 72,				/* F: only dies * 1 / read_ps matters */
};

static const struct pci_link_config gen3_x4 = {
	.bytes_per_us = 3938,			/* P: 8 GT/s, 4 lanes, 128/130 */
	.mps_bytes = 256, .mrrs_bytes = 512,	/* E: server default */
	.tlp_overhead_bytes = 24,		/* P: MWr and MRd with 64-bit addresses, pcie-bench's model */
	.read_latency_ps = 480 * PS_PER_NS,	/* M: pcie-bench, 64-byte DMA read, median */
	.write_flight_ps = 250 * PS_PER_NS,	/* E */
};

static const struct cpu_costs skylake_costs = {
	.walk_ps = 40 * PS_PER_NS,		/* E: 20 to 100 cycles with cached tables */
	.exit_ps = 800 * PS_PER_NS,		/* P: 2008 cycles at 2.5 GHz, kvm-unit-tests outl_to_kernel */
	.mmio_write_ps = 100 * PS_PER_NS,	/* E */
	.mmio_read_ps = 900 * PS_PER_NS,	/* E */
	.posted_delivery_ps = 400 * PS_PER_NS,	/* E */
};

void machine_config_defaults(struct machine_config *cfg)
{
	*cfg = (struct machine_config){
		.high_ram_bytes = 64 * GIB,
		.pcpus = 16,
		.memory_budget_bytes = 1 * GIB,
		.posted_interrupts = true,
		.ssd = {
			.rid = MACHINE_SSD_RID,
			.serial = "LIOV0001", .model = "LightIOV model P4510", .firmware = "1.0",
			.nsze = 0x800000, .ncap = 0x800000, .nn = 2,
			.io_queues = 64, .msix_vectors = 65, .mqes = 0x3FF, .dstrd = 0, .mdts = 5,
			.aerl = 3, .acl = 3, .elpe = 63, .cqr = true,
			.oncs = NVME_ONCS_COMPARE | NVME_ONCS_DSM | NVME_ONCS_WRITE_ZEROES,
			.timing = p4510_timing, .link = gen3_x4,
		},
		.vtd = {
			.reg_base = { MACHINE_VTD_BASE }, .posted_interrupts = true, .x2apic = true,
			.iotlb_miss_ps = 280 * PS_PER_NS,	/* M: pcie-bench, IOTLB miss adder, median */
			.invalidation_ps = 800 * PS_PER_NS,	/* E: 2000 cycles */
		},
		.cpu = skylake_costs,
		.backend = {
			.policy = LIOV_POLICY_PAPER, .host_lbas = 0x100000,
			.host_iova = { 0x10000, 0xFFF0000 }, .queue_depth = 256, .timeout_ns = 500000000ull,
			.vm_iova = { 1ull << 40, 1ull << 40 }, .vm_iova_window = 1ull << 34,
		},
		.iommu_sync_ps = 1 * PS_PER_US,			/* E */
		.revoke_ps = 4 * PS_PER_US,			/* E: shootdown on all cores */
		.halt_wake_ps = 2500 * PS_PER_NS,		/* D: VFIO less native at depth 1, BM-Store (HPCA 2023) */
		.watch_latency_ps = 1 * PS_PER_US,		/* E: a poller with a core of its own, a few VMs to a turn */
	};
}

void machine_config_policy(struct machine_config *cfg, enum liov_policy policy)
{
	cfg->backend.policy = policy;
	if (policy == LIOV_POLICY_NRD || policy == LIOV_POLICY_SIOV)
		cfg->ssd.dstrd = 10;
	cfg->ssd.resource_domains = policy == LIOV_POLICY_NRD;
	if (policy == LIOV_POLICY_SIOV) {
		cfg->ssd.pasid = true;
		cfg->ssd.ns_management = true;
		cfg->ssd.nn = NVME_NAMESPACES_MAX;
		cfg->vtd.scalable = true;
	}
}

/* Where namespaces come and go there is at first the host's, and what is left of the medium is nobody's. */
static void machine_namespaces(struct machine_config *cfg)
{
	u64 blocks = cfg->backend.host_lbas ? cfg->backend.host_lbas : 8;

	if (cfg->ssd.ns_management && !cfg->ssd.ns[0].nsze)
		cfg->ssd.ns[0] = (struct nvme_ns_config){ .nsze = blocks, .ncap = blocks, .pi = cfg->ssd.metadata };
}

static void machine_trace(void *opaque, const struct trace_event *ev)
{
	struct machine *m = opaque;
	u32 i;

	for (i = 0; i < m->nr_listeners; i++)
		if ((m->listener[i].mask[ev->kind >> 6] >> (ev->kind & 63)) & 1)
			m->listener[i].fn(m->listener[i].opaque, ev);
}

void machine_listen(struct machine *m, const u64 mask[2], void (*fn)(void *opaque, const struct trace_event *ev), void *opaque)
{
	assert(m->nr_listeners < sizeof(m->listener) / sizeof(m->listener[0]));
	m->listener[m->nr_listeners].fn = fn;
	m->listener[m->nr_listeners].opaque = opaque;
	m->listener[m->nr_listeners].mask[0] = mask[0];
	m->listener[m->nr_listeners].mask[1] = mask[1];
	m->nr_listeners++;
	m->trace.mask[0] |= mask[0];
	m->trace.mask[1] |= mask[1];
}

struct task *machine_task(struct machine *m, const char *name, void (*fn)(void *arg), void *arg)
{
	struct task *t = task_new(m->sched, &m->tasks, name, fn, arg);

	if (!t)
		m->failed = true;
	return t;
}

static void machine_over_budget(void *opaque)
{
	struct machine *m = opaque;

	m->failed = true;
	sched_stop(m->sched);
}

/* Room for all that has a number, whatever its capacity. With metadata, 8 bytes a block more. */
static u64 media_blocks(const struct nvme_config *ssd)
{
	u64 blocks = nvme_media_blocks(ssd) > ssd->nsze ? nvme_media_blocks(ssd) : ssd->nsze;

	return ssd->metadata ? blocks + blocks / 64 + 1 : blocks;
}

static int machine_memory(struct machine *m)
{
	const struct machine_config *cfg = &m->cfg;
	unsigned int flags = cfg->content_bytes ? STORE_BYTES : 0;

	m->memory = store_new(MACHINE_HIGH_RAM + cfg->high_ram_bytes, cfg->memory_budget_bytes, flags);
	m->media = store_new(media_blocks(&cfg->ssd) * STORE_SECTOR_SIZE, cfg->memory_budget_bytes, flags);
	if (!m->memory || !m->media)
		return -ENOMEM;
	store_on_over_budget(m->memory, machine_over_budget, m);
	store_on_over_budget(m->media, machine_over_budget, m);
	bus_init(&m->bus, m->memory);
	if (bus_add_ram(&m->bus, 0, MACHINE_LOW_RAM) || bus_add_ram(&m->bus, MACHINE_HIGH_RAM, cfg->high_ram_bytes))
		return -EINVAL;
	return 0;
}

static int machine_devices(struct machine *m)
{
	struct vtd_irq_sink sink = { .deliver = cpu_deliver, .opaque = &m->cpu };
	const struct machine_config *cfg = &m->cfg;
	struct vtd_config vtd = cfg->vtd;

	if (cfg->pcpus == 0 || cfg->pcpus > CPU_PCPUS_MAX)
		return -EINVAL;
	cpu_init(&m->cpu, cfg->pcpus, &cfg->cpu, &m->bus, m->sched, &m->trace);
	vtd.posted_interrupts = cfg->posted_interrupts;
	m->vtd = vtd_new(&vtd, &m->bus, m->sched, &m->trace, &sink);
	if (!m->vtd)
		return -ENOMEM;
	pci_root_init(&m->root, &m->bus, m->vtd, m->sched, &m->trace);
	m->nvme = nvme_new(&cfg->ssd, &m->root, m->sched, &m->trace, m->media);
	return m->nvme ? 0 : -EINVAL;
}

struct machine *machine_new(const struct machine_config *cfg)
{
	struct machine *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->cfg = *cfg;
	machine_namespaces(&m->cfg);
	m->sched = sched_new();
	if (!m->sched)
		goto out;
	if (cfg->schedule)
		schedule_attach(m);
	m->trace.sched = m->sched;
	m->trace.fn = machine_trace;
	m->trace.opaque = m;
	if (machine_memory(m) || machine_devices(m))
		goto out;
	m->host = host_new(m);
	if (!m->host)
		goto out;
	return m;
out:
	machine_free(m);
	return NULL;
}

void machine_free(struct machine *m)
{
	if (!m)
		return;
	task_free_all(&m->tasks);
	/* These take their events out of the queue; what the host and its VMs have there just goes. */
	nvme_free(m->nvme);
	while (m->nr_others)
		free(m->other[--m->nr_others]);
	vtd_free(m->vtd);
	if (m->host)
		host_free(m->host);
	store_free(m->memory);
	store_free(m->media);
	sched_free(m->sched);
	free(m);
}
