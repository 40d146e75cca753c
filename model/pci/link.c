// SPDX-License-Identifier: GPL-2.0
#include "pci/pci_internal.h"

/*
 * The link: two directions, each busy until the last request's bytes have passed. A
 * request holds a direction as a whole, so the requests of one function do not interleave.
 */

#define TLP_OVERHEAD_MAX 4096

static bool is_tlp_size(u32 bytes)
{
	return !bytes || (bytes >= PCIS_MPS_MIN_BYTES && bytes <= SPEC_PAGE_SIZE && !(bytes & (bytes - 1)));
}

bool pci_link_config_is_valid(const struct pci_link_config *cfg)
{
	return is_tlp_size(cfg->mps_bytes) && is_tlp_size(cfg->mrrs_bytes) &&
	       cfg->tlp_overhead_bytes <= TLP_OVERHEAD_MAX;
}

static u64 tlps(u32 size, u32 len_bytes)
{
	u64 unit = size ? size : SPEC_PAGE_SIZE;

	return (len_bytes + unit - 1) / unit;
}

u32 pci_link_mps(const struct pci_function *fn)
{
	return fn->cfg.link.mps_bytes ? fn->cfg.link.mps_bytes : (u32)SPEC_PAGE_SIZE;
}

u64 pci_link_requests(const struct pci_function *fn, u32 len_bytes)
{
	return tlps(fn->cfg.link.mrrs_bytes, len_bytes);
}

u64 pci_link_payloads(const struct pci_function *fn, u32 len_bytes)
{
	return tlps(fn->cfg.link.mps_bytes, len_bytes);
}

/*
 * Rounded up: a byte has not arrived before its last bit. No overflow: one request carries
 * less than 2^32 bytes in less than 2^26 TLPs of at most 2^12 bytes of overhead.
 */
static u64 serialise_ps(const struct pci_link_config *cfg, u64 bytes)
{
	if (!cfg->bytes_per_us)
		return 0;
	return (bytes / cfg->bytes_per_us) * PS_PER_US +
	       ((bytes % cfg->bytes_per_us) * PS_PER_US + cfg->bytes_per_us - 1) / cfg->bytes_per_us;
}

static u64 occupy(u64 *free_ps, u64 start_ps, u64 busy_ps)
{
	if (start_ps < *free_ps)
		start_ps = *free_ps;
	*free_ps = start_ps + busy_ps;
	return *free_ps;
}

u64 pci_link_read(struct pci_function *fn, const struct pci_transfer *t, u64 start_ps)
{
	const struct pci_link_config *cfg = &fn->cfg.link;
	u64 up = serialise_ps(cfg, t->requests * cfg->tlp_overhead_bytes);
	u64 down = serialise_ps(cfg, t->data_bytes + t->data_tlps * cfg->tlp_overhead_bytes);
	u64 at = occupy(&fn->up_free_ps, start_ps, up);

	return occupy(&fn->down_free_ps, at + cfg->read_latency_ps + t->latency_ps, down);
}

u64 pci_link_write(struct pci_function *fn, const struct pci_transfer *t, u64 start_ps)
{
	const struct pci_link_config *cfg = &fn->cfg.link;
	u64 up = serialise_ps(cfg, t->data_bytes + t->data_tlps * cfg->tlp_overhead_bytes);

	return occupy(&fn->up_free_ps, start_ps, up) + cfg->write_flight_ps + t->latency_ps;
}
