// SPDX-License-Identifier: GPL-2.0
#include "emu.h"

#include <string.h>

/*
 * The processor's side: memory and ports. QEMU's fw_cfg is here as far as programs made for its test
 * protocol ask it for the size of memory (docs/specs/fw_cfg).
 */

#define PORT_PCI_ADDRESS	0xCF8
#define PORT_PCI_DATA		0xCFC
#define PORT_FW_SELECT		0x510
#define PORT_FW_DATA		0x511

enum fw_item { FW_SIGNATURE = 0, FW_ID = 1, FW_RAM_SIZE = 3, FW_NB_CPUS = 5, FW_FILE_DIR = 0x19 };

static u64 all_ones(unsigned int len)
{
	return ~0ULL >> (64 - 8 * len);
}

static unsigned int piece_len(u64 addr, u64 len_bytes, unsigned int width)
{
	unsigned int n = width;

	while (n > 1 && (n > len_bytes || addr % n))
		n /= 2;
	return n;
}

static void registers_read(struct emu *m, u64 addr, u8 *buf, u64 len_bytes, unsigned int width)
{
	for (u64 at = 0; at < len_bytes;) {
		unsigned int n = piece_len(addr + at, len_bytes - at, width);
		u64 val = bus_cpu_read(&m->bus, (hpa_t){ addr + at }, n);

		memcpy(buf + at, &val, n);
		at += n;
	}
}

static void registers_write(struct emu *m, u64 addr, const u8 *buf, u64 len_bytes, unsigned int width)
{
	for (u64 at = 0; at < len_bytes;) {
		unsigned int n = piece_len(addr + at, len_bytes - at, width);
		u64 val = 0;

		memcpy(&val, buf + at, n);
		bus_cpu_write(&m->bus, (hpa_t){ addr + at }, val, n);
		at += n;
	}
}

/* Bytes up to the end of the page: all that answers comes in whole pages. */
static u64 in_page(u64 addr, u64 len_bytes)
{
	u64 room = SPEC_PAGE_SIZE - addr % SPEC_PAGE_SIZE;

	return len_bytes < room ? len_bytes : room;
}

void emu_mem_read(struct emu *m, u64 addr, void *buf, u64 len_bytes, unsigned int width)
{
	u8 *to = buf;

	while (len_bytes) {
		u64 n = in_page(addr, len_bytes);

		if (!bus_ram_read(&m->bus, (hpa_t){ addr }, to, n) && bus_is_mmio(&m->bus, (hpa_t){ addr }, n))
			registers_read(m, addr, to, n, width);
		addr += n;
		to += n;
		len_bytes -= n;
		if (!addr)
			break;
	}
	memset(to, 0xFF, len_bytes);
}

void emu_mem_write(struct emu *m, u64 addr, const void *buf, u64 len_bytes, unsigned int width)
{
	const u8 *from = buf;

	while (len_bytes) {
		u64 n = in_page(addr, len_bytes);

		if (!bus_ram_write(&m->bus, (hpa_t){ addr }, from, n) && bus_is_mmio(&m->bus, (hpa_t){ addr }, n))
			registers_write(m, addr, from, n, width);
		addr += n;
		from += n;
		len_bytes = addr ? len_bytes - n : 0;
	}
}

void emu_mem_fill(struct emu *m, u64 addr, u8 byte, u64 len_bytes)
{
	u8 page[SPEC_PAGE_SIZE];

	memset(page, byte, sizeof(page));
	while (len_bytes) {
		u64 n = in_page(addr, len_bytes);

		emu_mem_write(m, addr, page, n, 4);
		addr += n;
		len_bytes = addr ? len_bytes - n : 0;
	}
}

static u8 fw_read(struct emu *m)
{
	u32 at = m->fw_offset++;
	u64 item = 0;

	switch (m->fw_key) {
	case FW_SIGNATURE:
		memcpy(&item, "QEMU", 4);
		break;
	case FW_ID:
		item = 1;
		break;
	case FW_RAM_SIZE:
		item = m->cfg.ram_bytes;
		break;
	case FW_NB_CPUS:
		item = m->cfg.cpus;
		break;
	default:	/* FW_FILE_DIR: no files; others: none */
		break;
	}
	if (at >= sizeof(item))
		return 0;
	return (u8)(item >> 8 * at);
}

static u32 port_read(struct emu *m, u16 port, unsigned int len)
{
	if (m->cfg.board == EMU_BOARD_NONE)
		return (u32)all_ones(len);
	if (port == PORT_PCI_ADDRESS && len == 4)
		return m->host.address;
	if (port >= PORT_PCI_DATA && port + len <= PORT_PCI_DATA + 4)
		return emu_pci_data_read(m, port - PORT_PCI_DATA, len);
	if (port == PORT_FW_DATA && len == 1)
		return fw_read(m);
	return (u32)all_ones(len);
}

static void port_write(struct emu *m, u16 port, u32 val, unsigned int len)
{
	if (m->cfg.board == EMU_BOARD_NONE)
		return;
	if (port == PORT_PCI_ADDRESS && len == 4) {
		m->host.address = val;
	} else if (port >= PORT_PCI_DATA && port + len <= PORT_PCI_DATA + 4) {
		emu_pci_data_write(m, port - PORT_PCI_DATA, val, len);
	} else if (port == PORT_FW_SELECT && len == 2) {
		m->fw_key = (u16)val;
		m->fw_offset = 0;
	}
}

/* What is not aligned goes by bytes, and ends with the last port. */
u32 emu_port_read(struct emu *m, u16 port, unsigned int len)
{
	u32 val = 0;

	if (!(port & (len - 1)))
		return port_read(m, port, len);
	for (unsigned int i = 0; i < len; i++)
		val |= (port + i > 0xFFFF ? 0xFF : port_read(m, (u16)(port + i), 1)) << 8 * i;
	return val;
}

void emu_port_write(struct emu *m, u16 port, u32 val, unsigned int len)
{
	if (!(port & (len - 1))) {
		port_write(m, port, val, len);
		return;
	}
	for (unsigned int i = 0; i < len && port + i <= 0xFFFF; i++)
		port_write(m, (u16)(port + i), val >> 8 * i & 0xFF, 1);
}
