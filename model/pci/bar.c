// SPDX-License-Identifier: GPL-2.0
#include "pci/pci_internal.h"

/*
 * Base address registers, PCI 6.2.5.1: a BAR's size is the number of low address bits that
 * cannot be written, which is also how software finds it out.
 */

#define BAR_SIZE_MIN 4096ULL
#define BAR_SIZE_32_MAX (1ULL << 31)

static bool is_upper_half(const struct pci_function_config *cfg, unsigned int bar)
{
	return bar > 0 && cfg->bar[bar - 1].size_bytes && cfg->bar[bar - 1].is_64bit;
}

bool pci_bar_config_is_valid(const struct pci_function_config *cfg)
{
	for (unsigned int i = 0; i < PCIS_BAR_COUNT; i++) {
		const struct pci_bar_config *bar = &cfg->bar[i];

		if (!bar->size_bytes)
			continue;
		if (bar->size_bytes < BAR_SIZE_MIN || (bar->size_bytes & (bar->size_bytes - 1)))
			return false;
		if (is_upper_half(cfg, i))
			return false;
		if (bar->is_64bit ? i == PCIS_BAR_COUNT - 1 : bar->size_bytes > BAR_SIZE_32_MAX)
			return false;
	}
	return true;
}

static void put32(u8 *bytes, u32 off, u32 val)
{
	for (unsigned int i = 0; i < 4; i++)
		bytes[off + i] = (u8)(val >> (8 * i));
}

void pci_bar_reset(struct pci_function *fn)
{
	for (unsigned int i = 0; i < PCIS_BAR_COUNT; i++) {
		const struct pci_bar_config *bar = &fn->cfg.bar[i];
		u64 mask = ~(bar->size_bytes - 1);
		u32 flags = 0;

		if (!bar->size_bytes)
			continue;
		if (bar->prefetchable)
			flags |= PCIS_BAR_PREFETCH;
		if (bar->is_64bit)
			flags |= PCIS_BAR_TYPE_64;
		put32(fn->config, PCIS_BAR(i), flags);
		put32(fn->write_mask, PCIS_BAR(i), (u32)mask);
		if (bar->is_64bit)
			put32(fn->write_mask, PCIS_BAR(i + 1), (u32)(mask >> 32));
	}
}

u64 pci_bar_base(const struct pci_function *fn, unsigned int bar)
{
	u64 base;

	if (bar >= PCIS_BAR_COUNT || !fn->cfg.bar[bar].size_bytes)
		return 0;
	base = pci_config_get32(fn, PCIS_BAR(bar)) & ~PCIS_BAR_FLAGS;
	if (fn->cfg.bar[bar].is_64bit)
		base |= (u64)pci_config_get32(fn, PCIS_BAR(bar + 1)) << 32;
	return base;
}

u64 pci_bar_read(struct pci_function *fn, unsigned int bar, u64 off, unsigned int len)
{
	if (pci_msix_claims(fn, bar, off, len))
		return pci_msix_mmio_read(fn, off, len);
	return fn->ops->mmio_read(fn->dev, bar, off, len);
}

void pci_bar_write(struct pci_function *fn, unsigned int bar, u64 off, u64 val, unsigned int len)
{
	if (pci_msix_claims(fn, bar, off, len))
		pci_msix_mmio_write(fn, off, val, len);
	else
		fn->ops->mmio_write(fn->dev, bar, off, val, len);
}

static u64 region_read(void *opaque, u64 off, unsigned int len)
{
	const struct pci_region *region = opaque;

	return pci_bar_read(region->fn, region->bar, off, len);
}

static void region_write(void *opaque, u64 off, u64 val, unsigned int len)
{
	const struct pci_region *region = opaque;

	pci_bar_write(region->fn, region->bar, off, val, len);
}

static const struct bus_mmio_ops region_ops = { .read = region_read, .write = region_write };

/* Where the BAR should be decoded now. Processors never send the interrupt range to a device. */
static u64 bar_wanted(const struct pci_function *fn, unsigned int bar)
{
	u64 size = fn->cfg.bar[bar].size_bytes;
	u64 base = pci_bar_base(fn, bar);

	if (!size || !pci_is_powered(fn) || !(pci_config_get16(fn, PCIS_COMMAND) & PCIS_COMMAND_MEMORY))
		return PCI_BAR_NOT_DECODED;
	if (base <= PCIS_IRQ_RANGE_LAST && base + (size - 1) >= PCIS_IRQ_RANGE_BASE)
		return PCI_BAR_NOT_DECODED;
	return base;
}

static void undecode_moved(struct pci_function *fn)
{
	for (unsigned int i = 0; i < PCIS_BAR_COUNT; i++) {
		u64 now = fn->bar_decoded[i];

		if (now == PCI_BAR_NOT_DECODED || now == bar_wanted(fn, i))
			continue;
		bus_unmap_mmio(fn->root->bus, now);
		fn->bar_decoded[i] = PCI_BAR_NOT_DECODED;
	}
}

static void decode_wanted(struct pci_function *fn)
{
	for (unsigned int i = 0; i < PCIS_BAR_COUNT; i++) {
		u64 base = bar_wanted(fn, i);

		if (base == PCI_BAR_NOT_DECODED || base == fn->bar_decoded[i])
			continue;
		fn->region[i] = (struct pci_region){ .fn = fn, .bar = i };
		if (!bus_map_mmio(fn->root->bus, base, fn->cfg.bar[i].size_bytes, &region_ops, &fn->region[i]))
			fn->bar_decoded[i] = base;
	}
}

/*
 * All leave before any comes, so BARs may trade places; and a BAR that found its place
 * taken gets it once it is free, whoever's it was. The specifications leave overlaps open.
 */
void pci_root_decode(struct pci_root *root)
{
	for (unsigned int i = 0; i < root->nr_fn; i++)
		undecode_moved(root->fn[i]);
	for (unsigned int i = 0; i < root->nr_fn; i++)
		decode_wanted(root->fn[i]);
}

bool pci_addr_is_own_bar(const struct pci_function *fn, u64 addr, u64 len_bytes)
{
	if (!len_bytes)
		return false;
	for (unsigned int i = 0; i < PCIS_BAR_COUNT; i++) {
		u64 base = fn->bar_decoded[i];

		if (base == PCI_BAR_NOT_DECODED)
			continue;
		if (addr < base ? base - addr < len_bytes : addr - base < fn->cfg.bar[i].size_bytes)
			return true;
	}
	return false;
}
