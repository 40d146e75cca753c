// SPDX-License-Identifier: GPL-2.0
#include "emu.h"
#include "event.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KIB 1024ULL
#define GIB (1ULL << 30)
#define HIGH_RAM (4 * GIB)
#define RAM_BUDGET GIB
#define MEDIA_BUDGET GIB
#define CHUNK 65536U

/* Bounds of one step: a client that asks for more gets it over several. */
#define STEP_EVENTS 65536U
#define STEP_BLOCKS (1ULL << 22)

/* Memory below 4 GiB ends where the board's host bridge lets devices begin. */
static u64 low_ram(const struct emu_config *cfg)
{
	if (cfg->board == EMU_BOARD_Q35)
		return cfg->ram_bytes >= 0xB0000000ULL ? 0x80000000ULL : cfg->ram_bytes;
	return cfg->ram_bytes >= 0xE0000000ULL ? 0xC0000000ULL : cfg->ram_bytes;
}

/* From 640 KiB to 1 MiB no memory is seen: at reset the bridge sends these addresses to video and firmware. */
static int map_ram(struct emu *m)
{
	u64 low = low_ram(&m->cfg);

	if (!low)
		return 0;
	if (bus_add_ram(&m->bus, 0, low < 640 * KIB ? low : 640 * KIB))
		return -1;
	if (low > 1024 * KIB && bus_add_ram(&m->bus, 1024 * KIB, low - 1024 * KIB))
		return -1;
	if (m->cfg.ram_bytes > low)
		return bus_add_ram(&m->bus, HIGH_RAM, m->cfg.ram_bytes - low);
	return 0;
}

static void lapic_vector(void *opaque, unsigned int pcpu, u8 vector)
{
	struct emu *m = opaque;

	m->lapic[pcpu].irr[vector / 64] |= BIT_ULL(vector % 64);
}

static int devices_new(struct emu *m)
{
	static const struct cpu_costs no_costs;
	struct vtd_irq_sink sink = { .deliver = emu_lapic_deliver, .opaque = m };
	struct vtd_config vtd = { .reg_base = { EMU_VTD_BASE }, .x2apic = m->cfg.vtd_x2apic };

	bus_init(&m->bus, m->ram);
	if (map_ram(m))
		return -1;
	cpu_init(&m->cpu, m->cfg.cpus, &no_costs, &m->bus, m->sched, &m->trace);
	m->cpu.host_irq = lapic_vector;
	m->cpu.host_opaque = m;
	if (emu_lapic_reset(m))
		return -1;
	if (m->cfg.has_vtd) {
		m->vtd = vtd_new(&vtd, &m->bus, m->sched, &m->trace, &sink);
		if (!m->vtd)
			return -1;
	}
	pci_root_init(&m->root, &m->bus, m->vtd, m->sched, &m->trace);
	m->root.msi = emu_lapic_message;
	m->root.msi_opaque = m;
	for (u32 i = 0; i < m->cfg.nr_nvme; i++) {
		m->nvme[i] = nvme_new(&m->cfg.nvme[i].cfg, &m->root, m->sched, &m->trace, m->media[i]);
		if (!m->nvme[i])
			return -1;
	}
	emu_pci_host_reset(m);
	m->fw_key = 0;
	m->fw_offset = 0;
	return 0;
}

static void devices_free(struct emu *m)
{
	for (u32 i = 0; i < m->cfg.nr_nvme; i++) {
		nvme_free(m->nvme[i]);
		m->nvme[i] = NULL;
	}
	vtd_free(m->vtd);
	m->vtd = NULL;
}

static void over_budget(void *opaque)
{
	struct emu *m = opaque;

	m->over_budget = true;
}

static bool is_zero(const u8 *p, size_t len)
{
	return !p[0] && !memcmp(p, p + 1, len - 1);
}

/* Zeros are what a store holds anyway: only what is not costs memory. */
static int read_file(int fd, struct store *to, u64 offset, u64 len_bytes)
{
	u8 chunk[CHUNK];
	u64 at = 0;

	while (at < len_bytes) {
		size_t want = len_bytes - at < CHUNK ? (size_t)(len_bytes - at) : CHUNK;
		ssize_t got = pread(fd, chunk, want, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : 0;
		if (!is_zero(chunk, (size_t)got))
			store_write(to, offset + at, chunk, (size_t)got);
		at += (u64)got;
	}
	return 0;
}

static int load(struct store *to, u64 first_block, const struct emu_media *ns)
{
	int fd, ret;

	if (!ns->path)
		return 0;
	fd = open(ns->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read_file(fd, to, first_block * STORE_SECTOR_SIZE, ns->blocks * STORE_SECTOR_SIZE);
	close(fd);
	return ret;
}

/* Namespaces lie one behind the other on the controller's medium. */
static int media_new(struct emu *m, u32 i, char *why, size_t why_size)
{
	struct emu_nvme *nvme = &m->cfg.nvme[i];
	u64 next = 0;
	int ret;

	for (u32 k = 0; k < NVME_NAMESPACES_MAX; k++) {
		u64 blocks = nvme->ns[k].blocks;

		nvme->cfg.ns[k] = (struct nvme_ns_config){ .first_block = next, .nsze = blocks, .ncap = blocks };
		if (blocks > STORE_SIZE_MAX / STORE_SECTOR_SIZE - next) {
			snprintf(why, why_size, "the namespaces of a controller are larger than 16 TiB");
			return -1;
		}
		next += blocks;
	}
	m->media[i] = store_new((next ? next : 1) * STORE_SECTOR_SIZE, m->cfg.media_budget_bytes, 0);
	if (!m->media[i]) {
		snprintf(why, why_size, "no memory");
		return -1;
	}
	store_on_over_budget(m->media[i], over_budget, m);
	for (u32 k = 0; k < NVME_NAMESPACES_MAX; k++) {
		ret = nvme->ns[k].blocks ? load(m->media[i], nvme->cfg.ns[k].first_block, &nvme->ns[k]) : 0;
		if (ret || m->over_budget) {
			snprintf(why, why_size, "%s: %s", nvme->ns[k].path,
				 ret ? strerror(-ret) : "more data than the budget of one controller's drives");
			return -1;
		}
	}
	return 0;
}

static int config_check(const struct emu_config *cfg, char *why, size_t why_size)
{
	if (!cfg->cpus || cfg->cpus > EMU_CPUS_MAX || cfg->nr_nvme > EMU_NVME_MAX ||
	    cfg->ram_bytes > EMU_RAM_MAX || cfg->ram_bytes % SPEC_PAGE_SIZE) {
		snprintf(why, why_size, "memory, processors or controllers are out of their bounds");
		return -1;
	}
	return 0;
}

struct emu *emu_new(const struct emu_config *cfg, char *why, size_t why_size)
{
	struct emu *m;

	if (config_check(cfg, why, why_size))
		return NULL;
	m = calloc(1, sizeof(*m));
	snprintf(why, why_size, "no memory");
	if (!m)
		return NULL;
	m->cfg = *cfg;
	if (!m->cfg.media_budget_bytes)
		m->cfg.media_budget_bytes = MEDIA_BUDGET;
	m->sched = sched_new();
	if (!m->sched)
		goto out;
	m->trace.sched = m->sched;
	m->ram = store_new(HIGH_RAM + cfg->ram_bytes, RAM_BUDGET, 0);
	if (!m->ram)
		goto out;
	store_on_over_budget(m->ram, over_budget, m);
	for (u32 i = 0; i < cfg->nr_nvme; i++) {
		m->cfg.nvme[i].cfg.timing = (struct nvme_timing){ .dies = 1 };
		if (media_new(m, i, why, why_size))
			goto out;
	}
	snprintf(why, why_size, "two devices want one place, or a property of a controller is out of its bounds");
	if (devices_new(m))
		goto out;
	return m;
out:
	emu_free(m);
	return NULL;
}

void emu_free(struct emu *m)
{
	if (!m)
		return;
	devices_free(m);
	for (u32 i = 0; i < EMU_NVME_MAX; i++)
		store_free(m->media[i]);
	store_free(m->ram);
	sched_free(m->sched);
	free(m);
}

void emu_reset(struct emu *m)
{
	devices_free(m);
	if (devices_new(m))
		m->over_budget = true;	/* it could be built before: only memory can be short now */
}

static u64 blocks_moved(const struct emu *m)
{
	u64 n = 0;

	for (u32 i = 0; i < m->cfg.nr_nvme; i++) {
		const struct nvme_counters *c = nvme_counters(m->nvme[i]);

		n += c->read_blocks + c->written_blocks;
	}
	return n;
}

void emu_settle(struct emu *m)
{
	u64 now = sched_now(m->sched), limit = blocks_moved(m) + STEP_BLOCKS;

	for (u32 n = 0; n < STEP_EVENTS && sched_next_time(m->sched) <= now && blocks_moved(m) < limit; n++)
		sched_run_one(m->sched);
}

u64 emu_clock_ns(const struct emu *m)
{
	return sched_now(m->sched) / PS_PER_NS;
}

/* Bounded by events, as a step is; the time is then that of the last of them. */
void emu_clock_advance(struct emu *m, u64 ns)
{
	if (ns <= emu_clock_ns(m))
		return;
	sched_limit_events(m->sched, STEP_EVENTS);
	sched_run_until(m->sched, ns * PS_PER_NS);
	sched_limit_events(m->sched, SCHED_NEVER);
}

bool emu_clock_next(struct emu *m, u64 *ns)
{
	u64 next = sched_next_time(m->sched);

	if (next == SCHED_NEVER)
		return false;
	*ns = next / PS_PER_NS + (next % PS_PER_NS != 0);
	return true;
}
