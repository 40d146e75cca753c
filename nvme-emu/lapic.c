// SPDX-License-Identifier: GPL-2.0
#include "emu.h"

/*
 * Local APICs as a window on what arrived: Intel SDM volume 3, chapter 11. No processor takes interrupts, so
 * a vector stays in IRR; a write to EOI takes the highest out, as if one had taken it and was done. They
 * accept messages from reset on, though hardware does so only once software has enabled them (11.4.7.2).
 */

#define REG_ID		0x020
#define REG_VERSION	0x030
#define REG_EOI		0x0B0
#define REG_IRR		0x200
#define REG_STEP	0x10
#define VERSION_50014	0x00050014U	/* version 14h, 6 LVT entries */

#define MSI_DEST	GENMASK_ULL(19, 12)
#define MSI_LOGICAL	BIT_ULL(2)
#define MSI_ONE_OF	BIT_ULL(3)
#define MSI_VECTOR	GENMASK_ULL(7, 0)
#define MSI_MODE	GENMASK_ULL(10, 8)

static u64 lapic_read(void *opaque, u64 off, unsigned int len)
{
	const struct emu *m = opaque;
	u64 word = (off - REG_IRR) / REG_STEP;

	if (len != 4)
		return ~0ULL;
	if (off == REG_VERSION)
		return VERSION_50014;
	if (off % REG_STEP == 0 && off >= REG_IRR && word < 8)
		return (u32)(m->lapic[0].irr[word / 2] >> 32 * (word % 2));
	return 0;	/* REG_ID: this is processor 0 */
}

static void lapic_write(void *opaque, u64 off, u64 val, unsigned int len)
{
	struct emu *m = opaque;

	(void)val;
	if (off != REG_EOI || len != 4)
		return;
	for (int i = 3; i >= 0; i--) {
		u64 *word = &m->lapic[0].irr[i];

		if (!*word)
			continue;
		*word &= ~(1ULL << (63 - __builtin_clzll(*word)));
		return;
	}
}

static const struct bus_mmio_ops lapic_ops = { .read = lapic_read, .write = lapic_write };

int emu_lapic_reset(struct emu *m)
{
	for (u32 i = 0; i < EMU_CPUS_MAX; i++)
		m->lapic[i] = (struct emu_lapic){ 0 };
	return bus_map_mmio(&m->bus, EMU_LAPIC_BASE, SPEC_PAGE_SIZE, &lapic_ops, m);
}

bool emu_lapic_requested(const struct emu *m, u32 cpu, u8 vector)
{
	return m->lapic[cpu].irr[vector / 64] >> vector % 64 & 1;
}

/* What is not an interrupt with a vector (NMI, SMI, INIT, start-up) has nobody to act on. */
void emu_lapic_deliver(void *opaque, u32 dest, u8 vector, u8 mode)
{
	struct emu *m = opaque;

	if (mode == CPU_IRQ_MODE_FIXED || mode == CPU_IRQ_MODE_LOWEST)
		cpu_deliver(&m->cpu, dest, vector, mode);
}

/* SDM 11.11. Logical destinations: flat model with bit n for APIC id n, as systems set it up. */
void emu_lapic_message(void *opaque, u64 addr, u32 data)
{
	struct emu *m = opaque;
	u32 dest = (u32)FIELD_GET(MSI_DEST, addr);
	u8 vector = (u8)FIELD_GET(MSI_VECTOR, data), mode = (u8)FIELD_GET(MSI_MODE, data);

	if (!(addr & MSI_LOGICAL)) {
		emu_lapic_deliver(m, dest, vector, mode);
		return;
	}
	for (u32 id = 0; id < 8; id++) {
		if (!(dest & BIT_ULL(id)))
			continue;
		emu_lapic_deliver(m, id, vector, mode);
		if ((addr & MSI_ONE_OF) || mode == CPU_IRQ_MODE_LOWEST)
			return;
	}
}
