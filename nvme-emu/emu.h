/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_EMU_H
#define NVME_EMU_EMU_H

/*
 * The modelled hardware put together as a PC that another program drives: memory, PCI with
 * the two ways into its configuration space, VT-d, local APICs as far as arriving vectors
 * can be seen, and NVMe functions. There is no processor: all accesses come from outside.
 * Latencies are zero, so time passes only when emu_clock_advance() lets it.
 */

#include "cpu/cpu.h"
#include "iommu/vtd.h"
#include "nvme/nvme.h"
#include "pci/pci.h"

#define EMU_NVME_MAX	PCI_ROOT_FUNCTIONS_MAX
#define EMU_CPUS_MAX	CPU_PCPUS_MAX
#define EMU_RAM_MAX	(1ULL << 40)
#define EMU_CLOCK_MAX_NS (~0ULL / PS_PER_NS)
#define EMU_VTD_BASE	0xFED90000ULL
#define EMU_LAPIC_BASE	0xFEE00000ULL

enum emu_board {
	EMU_BOARD_NONE,		/* no devices at all */
	EMU_BOARD_PC,		/* host bridge 82441FX: configuration by ports only */
	EMU_BOARD_Q35		/* host bridge 82G33: ECAM where PCIEXBAR says */
};

/* The content of one namespace at power-on. */
struct emu_media {
	const char *path;	/* raw file, read once and never written; NULL: zeros */
	u64 blocks;		/* 0: no such namespace */
};

struct emu_nvme {
	struct nvme_config cfg;	/* namespaces and timing are filled by emu_new() */
	struct emu_media ns[NVME_NAMESPACES_MAX];	/* by NSID - 1 */
};

struct emu_config {
	enum emu_board board;
	u64 ram_bytes;		/* 0: none but what is outside (struct bus_outside) */
	u64 media_budget_bytes;	/* of memory for the content of a controller's drives; 0: 1 GiB */
	u32 cpus;
	bool has_vtd, vtd_x2apic;
	u32 nr_nvme;
	struct emu_nvme nvme[EMU_NVME_MAX];
};

struct emu;

/* A function's 4 KiB of ECAM. */
struct emu_ecam_page {
	struct emu *m;
	u64 base;		/* 0: not mapped */
	u16 rid;
};

struct emu_pci_host {
	u32 address;		/* what was written to port 0xCF8 */
	u8 bridge[256];		/* configuration space of 00:00.0 */
	struct emu_ecam_page page[1 + EMU_NVME_MAX];
};

struct emu_lapic {
	u64 irr[4];
};

struct emu {
	struct emu_config cfg;
	struct sched *sched;
	struct trace trace;
	struct store *ram, *media[EMU_NVME_MAX];
	struct bus bus;
	struct cpu cpu;
	struct vtd *vtd;
	struct pci_root root;
	struct nvme *nvme[EMU_NVME_MAX];
	struct emu_pci_host host;
	struct emu_lapic lapic[EMU_CPUS_MAX];
	u16 fw_key;		/* fw_cfg: item selected, and how far it was read */
	u32 fw_offset;
	bool over_budget;	/* content was lost for want of memory: nothing is to be trusted any more */
};

/* NULL, with the reason in @why: a bad configuration, no memory, or a file that cannot be read. */
struct emu *emu_new(const struct emu_config *cfg, char *why, size_t why_size);
void emu_free(struct emu *m);

/* Hard reset: devices are as at power-on, memory and media stay. */
void emu_reset(struct emu *m);

/*
 * Let the devices do what is due now, until they are quiet or have done as much as one step
 * may do; what is left is done in the next.
 */
void emu_settle(struct emu *m);

/* Virtual time in ns, and its advance to @ns; a time that is past changes nothing. @ns is at most EMU_CLOCK_MAX_NS. */
u64 emu_clock_ns(const struct emu *m);
void emu_clock_advance(struct emu *m, u64 ns);
/* When the next device's event is due; false: never. */
bool emu_clock_next(struct emu *m, u64 *ns);

/*
 * Accesses as a processor makes them. Memory takes any; for registers they are cut into
 * naturally aligned pieces of at most @width bytes (1, 2, 4 or 8), low addresses first. What
 * nobody answers reads all ones.
 */
void emu_mem_read(struct emu *m, u64 addr, void *buf, u64 len_bytes, unsigned int width);
void emu_mem_write(struct emu *m, u64 addr, const void *buf, u64 len_bytes, unsigned int width);
void emu_mem_fill(struct emu *m, u64 addr, u8 byte, u64 len_bytes);
u32 emu_port_read(struct emu *m, u16 port, unsigned int len);
void emu_port_write(struct emu *m, u16 port, u32 val, unsigned int len);

/* pci_host.c */
void emu_pci_host_reset(struct emu *m);
u32 emu_pci_data_read(struct emu *m, unsigned int byte, unsigned int len);
void emu_pci_data_write(struct emu *m, unsigned int byte, u32 val, unsigned int len);

/* lapic.c */
int emu_lapic_reset(struct emu *m);
/* As struct vtd_irq_sink has it. */
void emu_lapic_deliver(void *opaque, u32 dest, u8 vector, u8 mode);
/* An interrupt message that no remapping hardware stands before. */
void emu_lapic_message(void *opaque, u64 addr, u32 data);
bool emu_lapic_requested(const struct emu *m, u32 cpu, u8 vector);

#endif
