/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_BUS_H
#define MODEL_BUS_H

/*
 * The system address map: which host-physical address is memory, which is a register of
 * a device, which is nobody's. Memory content is an injected store indexed by address.
 * One access never spans two targets: callers split at 4 KiB.
 */

#include "spec/spec_types.h"
#include "store.h"

#define BUS_RAM_MAX 16
#define BUS_MMIO_MAX 64

/* Registers of a device. @len is 1, 2, 4 or 8; @off is inside the region. */
struct bus_mmio_ops {
	u64 (*read)(void *opaque, u64 off, unsigned int len);
	void (*write)(void *opaque, u64 off, u64 val, unsigned int len);
};

struct bus_mmio {
	u64 base, size;			/* size 0: slot free */
	const struct bus_mmio_ops *ops;
	void *opaque;
};

struct bus_ram {
	u64 base, size;
};

/*
 * A range whose memory is kept elsewhere, such as another process's. Devices and the host's
 * software reach it, by bus_ram_*(); modelled processors do not. False: nothing is there, or
 * it cannot be had now.
 */
struct bus_outside {
	u64 base, size;			/* size 0: there is none */
	bool (*read)(void *opaque, u64 addr, void *buf, size_t len_bytes);
	bool (*write)(void *opaque, u64 addr, const void *buf, size_t len_bytes);
	void *opaque;
};

struct bus {
	struct store *store;		/* system memory, offset = address */
	struct bus_ram ram[BUS_RAM_MAX];
	struct bus_mmio mmio[BUS_MMIO_MAX];
	unsigned int nr_ram;
	unsigned int mmio_hit;		/* slot of the last processor access to registers */
	struct bus_outside outside;	/* goes before ram[]; the owner's, after bus_init() */
};

void bus_init(struct bus *bus, struct store *memory);

/* Declare a range of memory. -1 when it overlaps something or the table is full. */
int bus_add_ram(struct bus *bus, u64 base, u64 size);

/* Decode a range as a device's registers; -1 when it overlaps something or the table is full. */
int bus_map_mmio(struct bus *bus, u64 base, u64 size, const struct bus_mmio_ops *ops, void *opaque);
void bus_unmap_mmio(struct bus *bus, u64 base);

/* Is the whole range memory? */
bool bus_is_ram(const struct bus *bus, hpa_t addr, u64 len_bytes);

/* Is any byte of the range decoded as registers? */
bool bus_is_mmio(const struct bus *bus, hpa_t addr, u64 len_bytes);

/*
 * Memory only. False, and nothing done (reads: @buf filled with 0xFF), where the range is
 * not wholly memory. Used by page walkers, queue fetches and DMA: there is no peer-to-peer
 * routing below this root, so a device's access to another device's registers has no target.
 */
bool bus_ram_read(struct bus *bus, hpa_t addr, void *buf, size_t len_bytes);
bool bus_ram_write(struct bus *bus, hpa_t addr, const void *buf, size_t len_bytes);

/* The same from and to another store, sectors as they are held there; at most a page. */
bool bus_ram_to_store(struct bus *bus, hpa_t addr, struct store *dst, u64 dst_offset, size_t len_bytes);
bool bus_ram_from_store(struct bus *bus, hpa_t addr, struct store *src, u64 src_offset, size_t len_bytes);

/* Processor accesses of 1, 2, 4 or 8 bytes to memory or registers; nobody's address reads all ones. */
u64 bus_cpu_read(struct bus *bus, hpa_t addr, unsigned int len);
void bus_cpu_write(struct bus *bus, hpa_t addr, u64 val, unsigned int len);

/* Aligned 8-byte words of tables in memory; a read of what is not memory gives 0 and *ok = false. */
u64 bus_rd64(struct bus *bus, hpa_t addr, bool *ok);
bool bus_wr64(struct bus *bus, hpa_t addr, u64 val);

#endif
