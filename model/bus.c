// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "bus.h"

#define ALL_ONES (~0ULL)

/* Ranges are kept with base + size - 1 not wrapping, so differences below cannot either. */
static bool range_holds(u64 base, u64 size, u64 addr, u64 len_bytes)
{
	u64 off = addr - base;

	return addr >= base && off < size && len_bytes <= size - off;
}

static bool range_overlaps(u64 base, u64 size, u64 addr, u64 len_bytes)
{
	if (!size || !len_bytes)
		return false;
	return addr < base ? base - addr < len_bytes : addr - base < size;
}

static bool range_is_sane(u64 base, u64 size)
{
	return size && base + (size - 1) >= base;
}

static bool range_is_free(const struct bus *bus, u64 base, u64 size)
{
	for (unsigned int i = 0; i < bus->nr_ram; i++) {
		if (range_overlaps(bus->ram[i].base, bus->ram[i].size, base, size))
			return false;
	}
	return !bus_is_mmio(bus, (hpa_t){ base }, size);
}

void bus_init(struct bus *bus, struct store *memory)
{
	*bus = (struct bus){ .store = memory };
}

int bus_add_ram(struct bus *bus, u64 base, u64 size)
{
	if (bus->nr_ram == BUS_RAM_MAX || !range_is_sane(base, size) || !range_is_free(bus, base, size))
		return -1;
	bus->ram[bus->nr_ram++] = (struct bus_ram){ .base = base, .size = size };
	return 0;
}

int bus_map_mmio(struct bus *bus, u64 base, u64 size, const struct bus_mmio_ops *ops, void *opaque)
{
	if (!range_is_sane(base, size) || !range_is_free(bus, base, size))
		return -1;
	for (unsigned int i = 0; i < BUS_MMIO_MAX; i++) {
		if (bus->mmio[i].size)
			continue;
		bus->mmio[i] = (struct bus_mmio){ .base = base, .size = size, .ops = ops, .opaque = opaque };
		return 0;
	}
	return -1;
}

void bus_unmap_mmio(struct bus *bus, u64 base)
{
	for (unsigned int i = 0; i < BUS_MMIO_MAX; i++) {
		if (bus->mmio[i].size && bus->mmio[i].base == base)
			bus->mmio[i] = (struct bus_mmio){ 0 };
	}
}

/* A range may go on from one declared piece of memory into the next: each turn leaves one piece behind. */
bool bus_is_ram(const struct bus *bus, hpa_t addr, u64 len_bytes)
{
	unsigned int i = 0;

	while (i < bus->nr_ram) {
		const struct bus_ram *ram = &bus->ram[i];
		u64 off = addr.v - ram->base;

		if (addr.v < ram->base || off >= ram->size) {
			i++;
			continue;
		}
		if (len_bytes <= ram->size - off)
			return true;
		len_bytes -= ram->size - off;
		addr.v = ram->base + ram->size;
		if (!addr.v)
			return false;
		i = 0;
	}
	return false;
}

bool bus_is_mmio(const struct bus *bus, hpa_t addr, u64 len_bytes)
{
	for (unsigned int i = 0; i < BUS_MMIO_MAX; i++) {
		if (range_overlaps(bus->mmio[i].base, bus->mmio[i].size, addr.v, len_bytes))
			return true;
	}
	return false;
}

static bool is_outside(const struct bus *bus, hpa_t addr, u64 len_bytes)
{
	return range_holds(bus->outside.base, bus->outside.size, addr.v, len_bytes);
}

static bool outside_read(struct bus *bus, hpa_t addr, void *buf, size_t len_bytes)
{
	bool ok = bus->outside.read(bus->outside.opaque, addr.v, buf, len_bytes);

	if (!ok)
		memset(buf, 0xFF, len_bytes);
	return ok;
}

bool bus_ram_read(struct bus *bus, hpa_t addr, void *buf, size_t len_bytes)
{
	if (is_outside(bus, addr, len_bytes))
		return outside_read(bus, addr, buf, len_bytes);
	if (!bus_is_ram(bus, addr, len_bytes)) {
		memset(buf, 0xFF, len_bytes);
		return false;
	}
	store_read(bus->store, addr.v, buf, len_bytes);
	return true;
}

bool bus_ram_write(struct bus *bus, hpa_t addr, const void *buf, size_t len_bytes)
{
	if (is_outside(bus, addr, len_bytes))
		return bus->outside.write(bus->outside.opaque, addr.v, buf, len_bytes);
	if (!bus_is_ram(bus, addr, len_bytes))
		return false;
	store_write(bus->store, addr.v, buf, len_bytes);
	return true;
}

bool bus_ram_to_store(struct bus *bus, hpa_t addr, struct store *dst, u64 dst_offset, size_t len_bytes)
{
	u8 page[SPEC_PAGE_SIZE];

	if (is_outside(bus, addr, len_bytes)) {
		if (len_bytes > sizeof(page) || !outside_read(bus, addr, page, len_bytes))
			return false;
		store_write(dst, dst_offset, page, len_bytes);
		return true;
	}
	if (!bus_is_ram(bus, addr, len_bytes))
		return false;
	store_copy(dst, dst_offset, bus->store, addr.v, len_bytes);
	return true;
}

bool bus_ram_from_store(struct bus *bus, hpa_t addr, struct store *src, u64 src_offset, size_t len_bytes)
{
	u8 page[SPEC_PAGE_SIZE];

	if (is_outside(bus, addr, len_bytes)) {
		if (len_bytes > sizeof(page))
			return false;
		store_read(src, src_offset, page, len_bytes);
		return bus->outside.write(bus->outside.opaque, addr.v, page, len_bytes);
	}
	if (!bus_is_ram(bus, addr, len_bytes))
		return false;
	store_copy(bus->store, addr.v, src, src_offset, len_bytes);
	return true;
}

/* The slot hit last is tried first: a doorbell page is touched far more often than anything else. */
static const struct bus_mmio *mmio_find(struct bus *bus, u64 addr, unsigned int len)
{
	const struct bus_mmio *mmio = &bus->mmio[bus->mmio_hit];

	if (range_holds(mmio->base, mmio->size, addr, len))
		return mmio;
	for (unsigned int i = 0; i < BUS_MMIO_MAX; i++) {
		mmio = &bus->mmio[i];
		if (range_holds(mmio->base, mmio->size, addr, len)) {
			bus->mmio_hit = i;
			return mmio;
		}
	}
	return NULL;
}

static bool is_cpu_size(unsigned int len)
{
	return len == 1 || len == 2 || len == 4 || len == 8;
}

u64 bus_cpu_read(struct bus *bus, hpa_t addr, unsigned int len)
{
	const struct bus_mmio *mmio;
	u64 val = 0;

	if (!is_cpu_size(len))
		return ALL_ONES;
	if (bus_is_ram(bus, addr, len)) {
		store_read(bus->store, addr.v, &val, len);
		return val;
	}
	mmio = mmio_find(bus, addr.v, len);
	val = mmio ? mmio->ops->read(mmio->opaque, addr.v - mmio->base, len) : ALL_ONES;
	return val & (ALL_ONES >> (64 - 8 * len));
}

void bus_cpu_write(struct bus *bus, hpa_t addr, u64 val, unsigned int len)
{
	const struct bus_mmio *mmio;

	if (!is_cpu_size(len))
		return;
	val &= ALL_ONES >> (64 - 8 * len);
	if (bus_is_ram(bus, addr, len)) {
		store_write(bus->store, addr.v, &val, len);
		return;
	}
	mmio = mmio_find(bus, addr.v, len);
	if (mmio)
		mmio->ops->write(mmio->opaque, addr.v - mmio->base, val, len);
}

u64 bus_rd64(struct bus *bus, hpa_t addr, bool *ok)
{
	u64 val = 0;

	*ok = bus_is_ram(bus, addr, sizeof(val));
	if (*ok)
		store_read(bus->store, addr.v, &val, sizeof(val));
	return val;
}

bool bus_wr64(struct bus *bus, hpa_t addr, u64 val)
{
	return bus_ram_write(bus, addr, &val, sizeof(val));
}
