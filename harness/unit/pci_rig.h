/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_PCI_RIG_H
#define HARNESS_UNIT_PCI_RIG_H

/*
 * A machine for the tests of model/pci: 1 MiB of memory at 0 and at 4 GiB, one function
 * 01:00.0 with three BARs, whose device notes what reaches it, and a trace that remembers.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "event.h"
#include "pci/pci.h"
#include "store.h"
#include "sim/store.h"

#define RIG_RID 0x0100
#define RIG_RAM_SIZE 0x100000ULL
#define RIG_HIGH_RAM 0x100000000ULL
#define RIG_VECTORS 65
#define RIG_TABLE 0x4000
#define RIG_PBA 0x5000
#define RIG_BAR0 0xF0000000ULL
#define RIG_BAR0_SIZE 0x10000ULL
#define RIG_BAR2_SIZE 0x1000ULL
#define RIG_BAR4_SIZE 0x200000000ULL
#define RIG_EVENTS 64

struct rig {
	struct store *memory;
	struct sched *sched;
	struct bus bus;
	struct trace trace;
	struct pci_root root;
	struct pci_function fn;
	struct trace_event events[RIG_EVENTS];
	unsigned int nr_events;
	/* What the device saw last, and how often. */
	unsigned int reads, writes, resets, bar, len;
	u64 off, val;
	/* Messages that reached the processors without remapping. */
	unsigned int nr_msi;
	u64 msi_addr[8];
	u32 msi_data[8];
};

static inline u64 rig_mmio_read(void *dev, unsigned int bar, u64 off, unsigned int len)
{
	struct rig *rig = dev;

	rig->reads++;
	rig->bar = bar;
	rig->off = off;
	rig->len = len;
	return 0x1122334455667788ULL;
}

static inline void rig_mmio_write(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len)
{
	struct rig *rig = dev;

	rig->writes++;
	rig->bar = bar;
	rig->off = off;
	rig->val = val;
	rig->len = len;
}

static inline void rig_reset(void *dev)
{
	((struct rig *)dev)->resets++;
}

static const struct pci_ops rig_ops = {
	.mmio_read = rig_mmio_read,
	.mmio_write = rig_mmio_write,
	.reset = rig_reset,
};

static inline void rig_msi(void *opaque, u64 addr, u32 data)
{
	struct rig *rig = opaque;

	if (rig->nr_msi < 8) {
		rig->msi_addr[rig->nr_msi] = addr;
		rig->msi_data[rig->nr_msi] = data;
	}
	rig->nr_msi++;
}

static inline void rig_trace(void *opaque, const struct trace_event *ev)
{
	struct rig *rig = opaque;

	if (rig->nr_events < RIG_EVENTS)
		rig->events[rig->nr_events] = *ev;
	rig->nr_events++;
}

static inline unsigned int rig_count(const struct rig *rig, u32 kind)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rig->nr_events && i < RIG_EVENTS; i++)
		n += rig->events[i].kind == kind;
	return n;
}

/* The @nth event of a kind, from 0; the test fails without one. */
static inline const struct trace_event *rig_event(const struct rig *rig, u32 kind, unsigned int nth)
{
	for (unsigned int i = 0; i < rig->nr_events && i < RIG_EVENTS; i++) {
		if (rig->events[i].kind == kind && !nth--)
			return &rig->events[i];
	}
	fail_msg("no such event: kind %u", kind);
	return NULL;
}

static inline struct pci_function_config rig_config(void)
{
	return (struct pci_function_config){
		.rid = RIG_RID,
		.vendor_id = 0x1AF4,
		.device_id = 0x5845,
		.subsystem_vendor_id = 0xABCD,
		.subsystem_id = 0x1234,
		.class_code = 0x010802,
		.bar[0] = { .size_bytes = RIG_BAR0_SIZE, .is_64bit = true },
		.bar[2] = { .size_bytes = RIG_BAR2_SIZE },
		.bar[4] = { .size_bytes = RIG_BAR4_SIZE, .is_64bit = true, .prefetchable = true },
		.msix_vectors = RIG_VECTORS,
		.msix_table_off = RIG_TABLE,
		.msix_pba_off = RIG_PBA,
		.link = { .mps_bytes = 256, .mrrs_bytes = 512 },
	};
}

static inline u32 rig_cfg_read(struct rig *rig, u32 off, unsigned int len)
{
	return pci_cfg_read(&rig->root, RIG_RID, off, len);
}

static inline void rig_cfg_write(struct rig *rig, u32 off, u32 val, unsigned int len)
{
	pci_cfg_write(&rig->root, RIG_RID, off, val, len);
}

/* Walk the list as software does; 0 when the capability is not there. */
static inline u32 rig_find_cap(struct rig *rig, u8 id)
{
	u32 at = rig_cfg_read(rig, 0x34, 1);

	for (int i = 0; at && i < 48; i++) {
		if (rig_cfg_read(rig, at, 1) == id)
			return at;
		at = rig_cfg_read(rig, at + 1, 1);
	}
	return 0;
}

/* Memory decoding and bus mastering on, BAR0 at its place. */
static inline void rig_enable(struct rig *rig)
{
	rig_cfg_write(rig, 0x10, (u32)RIG_BAR0, 4);
	rig_cfg_write(rig, 0x14, 0, 4);
	rig_cfg_write(rig, 0x04, 0x0006, 2);
}

static inline int rig_setup_with(void **state, const struct pci_function_config *cfg, struct vtd *vtd)
{
	static struct rig rig;

	memset(&rig, 0, sizeof(rig));
	rig.memory = store_new(RIG_HIGH_RAM + RIG_RAM_SIZE, STORE_NO_BUDGET, 0);
	rig.sched = sched_new();
	rig.trace = (struct trace){ .mask = { ~0ULL, ~0ULL }, .sched = rig.sched, .fn = rig_trace, .opaque = &rig };
	bus_init(&rig.bus, rig.memory);
	if (bus_add_ram(&rig.bus, 0, RIG_RAM_SIZE) || bus_add_ram(&rig.bus, RIG_HIGH_RAM, RIG_RAM_SIZE))
		return -1;
	pci_root_init(&rig.root, &rig.bus, vtd, rig.sched, &rig.trace);
	rig.root.msi = rig_msi;
	rig.root.msi_opaque = &rig;
	*state = &rig;
	return pci_function_init(&rig.fn, cfg, &rig.root, &rig_ops, &rig);
}

static inline int rig_setup(void **state)
{
	struct pci_function_config cfg = rig_config();

	return rig_setup_with(state, &cfg, NULL);
}

static inline int rig_setup_enabled(void **state)
{
	if (rig_setup(state))
		return -1;
	rig_enable(*state);
	((struct rig *)*state)->nr_events = 0;
	return 0;
}

static inline int rig_teardown(void **state)
{
	struct rig *rig = *state;

	store_free(rig->memory);
	sched_free(rig->sched);
	return 0;
}

#endif
