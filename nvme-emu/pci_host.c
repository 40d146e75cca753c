// SPDX-License-Identifier: GPL-2.0
#include "emu.h"

#include <string.h>

/*
 * The host bridge: configuration mechanism #1 (PCI 3.2.2.3.2), its own configuration space,
 * and on a q35 the ECAM (PCIe 7.2.2) whose place and length PCIEXBAR tells (Intel 3 series
 * datasheet, 5.1.15). All functions are on bus 0.
 */

#define ADDRESS_ENABLE		0x80000000U
#define BRIDGE_VENDOR		0x8086
#define BRIDGE_82441FX		0x1237
#define BRIDGE_82G33		0x29C0
#define CLASS_HOST_BRIDGE	0x0600
#define PCIEXBAR		0x60
#define PCIEXBAR_RESET		0xB0000000ULL
#define PCIEXBAR_ENABLE		BIT_ULL(0)
#define PCIEXBAR_LENGTH		GENMASK_ULL(2, 1)	/* 256, 128 or 64 MiB; 3 is reserved */
#define PCIEXBAR_LENGTH_RSVD	3
#define PCIEXBAR_WRITABLE	(GENMASK_ULL(35, 26) | PCIEXBAR_LENGTH | PCIEXBAR_ENABLE)

static u64 pciexbar(const struct emu *m)
{
	u64 val;

	memcpy(&val, m->host.bridge + PCIEXBAR, sizeof(val));
	return val;
}

static u32 bridge_read(const struct emu *m, u32 off, unsigned int len)
{
	u32 val = 0;

	if (off < sizeof(m->host.bridge))
		memcpy(&val, m->host.bridge + off, len);
	return val;
}

static u32 config_read(struct emu *m, u16 rid, u32 off, unsigned int len)
{
	if (off & (len - 1))
		return 0xFFFFFFFFU >> (32 - 8 * len);
	return rid ? pci_cfg_read(&m->root, rid, off, len) : bridge_read(m, off, len);
}

static u64 page_read(void *opaque, u64 off, unsigned int len)
{
	struct emu_ecam_page *page = opaque;

	if (len == 8)
		return page_read(page, off, 4) | page_read(page, off + 4, 4) << 32;
	return config_read(page->m, page->rid, (u32)off, len);
}

static void config_write(struct emu *m, u16 rid, u32 off, u32 val, unsigned int len);

static void page_write(void *opaque, u64 off, u64 val, unsigned int len)
{
	struct emu_ecam_page *page = opaque;
	struct emu_ecam_page copy = *page;	/* a write to PCIEXBAR moves the page it came through */

	if (len == 8) {
		config_write(copy.m, copy.rid, (u32)off, (u32)val, 4);
		config_write(copy.m, copy.rid, (u32)off + 4, (u32)(val >> 32), 4);
	} else {
		config_write(copy.m, copy.rid, (u32)off, (u32)val, len);
	}
}

static const struct bus_mmio_ops page_ops = { .read = page_read, .write = page_write };

/* Absent functions have no page: nobody answers there. A page whose place is taken has to wait. */
static void ecam_map(struct emu *m)
{
	u64 bar = pciexbar(m);
	u64 length = FIELD_GET(PCIEXBAR_LENGTH, bar);
	u64 base = bar & GENMASK_ULL(35, 26) & ~((1ULL << (28 - length)) - 1);

	for (u32 i = 0; i <= m->cfg.nr_nvme; i++) {
		struct emu_ecam_page *page = &m->host.page[i];
		u64 at = base + ((u64)page->rid << SPEC_PAGE_SHIFT);

		if (page->base)
			bus_unmap_mmio(&m->bus, page->base);
		page->base = 0;
		if ((bar & PCIEXBAR_ENABLE) && length != PCIEXBAR_LENGTH_RSVD &&
		    !bus_map_mmio(&m->bus, at, SPEC_PAGE_SIZE, &page_ops, page))
			page->base = at;
	}
}

static void bridge_write(struct emu *m, u32 off, u32 val, unsigned int len)
{
	u64 old = pciexbar(m), new = old;

	if (m->cfg.board != EMU_BOARD_Q35 || off < PCIEXBAR || off + len > PCIEXBAR + sizeof(new))
		return;
	memcpy((u8 *)&new + (off - PCIEXBAR), &val, len);
	new = (old & ~PCIEXBAR_WRITABLE) | (new & PCIEXBAR_WRITABLE);
	memcpy(m->host.bridge + PCIEXBAR, &new, sizeof(new));
	ecam_map(m);
}

static void config_write(struct emu *m, u16 rid, u32 off, u32 val, unsigned int len)
{
	if (off & (len - 1))
		return;
	if (rid)
		pci_cfg_write(&m->root, rid, off, val, len);
	else
		bridge_write(m, off, val, len);
}

/*
 * Bits 1:0 of the address register are 0 by the specification. Here they are kept and added to the byte of
 * the data register, as in QEMU, whose test library asks so for registers that are not aligned to 4.
 */
static bool data_target(const struct emu *m, unsigned int byte, u16 *rid, u32 *off)
{
	*rid = (u16)(m->host.address >> 8);
	*off = (m->host.address & 0xFF) | byte;
	return m->host.address & ADDRESS_ENABLE;
}

u32 emu_pci_data_read(struct emu *m, unsigned int byte, unsigned int len)
{
	u16 rid;
	u32 off;

	if (!data_target(m, byte, &rid, &off))
		return 0xFFFFFFFFU >> (32 - 8 * len);
	return config_read(m, rid, off, len);
}

void emu_pci_data_write(struct emu *m, unsigned int byte, u32 val, unsigned int len)
{
	u16 rid;
	u32 off;

	if (data_target(m, byte, &rid, &off))
		config_write(m, rid, off, val, len);
}

static void put16(u8 *p, u32 off, u16 val)
{
	memcpy(p + off, &val, sizeof(val));
}

void emu_pci_host_reset(struct emu *m)
{
	bool q35 = m->cfg.board == EMU_BOARD_Q35;
	u64 bar = PCIEXBAR_RESET;

	m->host = (struct emu_pci_host){ 0 };
	put16(m->host.bridge, PCIS_VENDOR_ID, BRIDGE_VENDOR);
	put16(m->host.bridge, PCIS_DEVICE_ID, q35 ? BRIDGE_82G33 : BRIDGE_82441FX);
	put16(m->host.bridge, PCIS_REVISION + 2, CLASS_HOST_BRIDGE);
	if (q35)
		memcpy(m->host.bridge + PCIEXBAR, &bar, sizeof(bar));
	for (u32 i = 0; i <= m->cfg.nr_nvme; i++)
		m->host.page[i] = (struct emu_ecam_page){ .m = m, .rid = i ? m->cfg.nvme[i - 1].cfg.rid : 0 };
}
