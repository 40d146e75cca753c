// SPDX-License-Identifier: GPL-2.0
#include "engine.h"
#include "store.h"

#define LOW_PAGES	0x1000u		/* frames of the host's that may be passed over: 16 MiB */
#define HIGH_UNITS	0x80u		/* of 2 MiB */
#define IOVA_UNITS	0x40u		/* of 1 MiB, of the host's window of 256 */

static u64 chance(const struct secret *s, u64 what)
{
	u64 state = s->seed ^ what << 48;

	return rng_splitmix(&state);
}

void secret_machine(const struct secret *s, struct machine_config *cfg)
{
	u64 iova;

	if (!s)
		return;
	cfg->low_skip_bytes = (1 + chance(s, 1) % LOW_PAGES) * SPEC_PAGE_SIZE;
	/* In whole large pages, for what can be mapped by them must not change. What VMs may have does not either. */
	cfg->high_skip_bytes = (1 + chance(s, 2) % HIGH_UNITS) << 21;
	cfg->high_ram_bytes += cfg->high_skip_bytes;
	iova = (1 + chance(s, 3) % IOVA_UNITS) << 20;
	if (cfg->backend.host_iova.count / 2 < iova)
		return;
	cfg->backend.host_iova.start += iova;
	cfg->backend.host_iova.count -= iova;
}

static bool is_victim(const struct run *r, u32 vm)
{
	return r->opt->secret && !(vm < SECRET_VMS_MAX && r->opt->secret->attackers >> vm & 1);
}

/* What must not be had: the first of @p, which may lie anywhere, that overlaps. */
static const struct run_place *in_the_way(const struct run_place *p, u64 mask, struct run_place want)
{
	u32 i;

	for (i = 0; i < SECRET_VMS_MAX; i++)
		if ((mask >> i & 1) && p[i].count && p[i].start < want.start + want.count && want.start < p[i].start + p[i].count)
			return &p[i];
	return NULL;
}

/* The SSD's other namespaces, where VMs' own are made beside them. */
static const struct nvme_ns_config *namespace_in_the_way(const struct run *r, struct run_place want)
{
	u32 i;

	for (i = 1; i < NVME_NAMESPACES_MAX; i++) {
		const struct nvme_ns_config *ns = &r->cfg.ssd.ns[i];

		if (ns->nsze && ns->first_block < want.start + want.count && want.start < ns->first_block + ns->ncap)
			return ns;
	}
	return NULL;
}

/* From the SSD's end downwards, clear of attackers' blocks, now or later, and of others' that were moved. */
static bool elsewhere(const struct run *r, u64 count, u64 *start)
{
	const struct liov_backend *be = &r->m->backend;
	bool siov = be->cfg.policy == LIOV_POLICY_SIOV;
	u64 first = siov ? be->info.nsze : be->cfg.host_lbas, end = siov ? be->info.capacity : be->info.ncap;
	const struct secret *s = r->opt->secret;

	while (end >= first + count) {
		struct run_place want = { end - count, count };
		const struct run_place *taken = in_the_way(s->place, s->attackers, want);
		const struct nvme_ns_config *ns = namespace_in_the_way(r, want);

		if (!taken)
			taken = in_the_way(r->res->place, ~0ull, want);
		if (!taken && !ns) {
			*start = want.start;
			return true;
		}
		end = taken ? taken->start : ns->first_block;
	}
	return false;
}

void secret_vm(const struct run *r, struct vm_config *cfg)
{
	const struct secret *s = r->opt->secret;
	const struct run_place *was;

	/* What the scenario says of places, or has refused, is not touched. */
	if (!s || cfg->id >= SECRET_VMS_MAX || cfg->liov.lbas_at || !s->place[cfg->id].count)
		return;
	was = &s->place[cfg->id];
	cfg->liov.lbas_at = true;
	if (!is_victim(r, cfg->id) || !elsewhere(r, was->count, &cfg->liov.lba_start))
		cfg->liov.lba_start = was->start;
}

static u64 other_tag(const struct secret *s, u64 tag)
{
	u64 state = tag ^ s->seed, other = rng_splitmix(&state);

	return other ? other : 1;
}

u64 secret_tag(const struct run *r, u32 vm, u64 tag)
{
	return tag && is_victim(r, vm) ? other_tag(r->opt->secret, tag) : tag;
}

bool secret_sector_is(const struct run *r, const struct store *s, u64 offset, u64 tag)
{
	return store_sector_is(s, offset, tag) || (tag && r->opt->secret && store_sector_is(s, offset, other_tag(r->opt->secret, tag)));
}

u64 secret_of_workload(const struct run *r, u32 vm)
{
	return is_victim(r, vm) ? chance(r->opt->secret, 4) : 0;
}
