/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_VFIO_TOY_H
#define HARNESS_UNIT_VFIO_TOY_H

/* A device that only notes what is asked of it, to see what a session makes of its client's messages. */

#include "vfio_rig.h"

#define TOY_BAR0 0x1000u
#define TOY_BAR2 0x2000u
#define TOY_VECTORS 20u		/* more than files in a message */
#define TOY_LOG 64u

struct toy {
	struct vfio_device device;	/* first */
	struct vfio_guest *guest;
	u8 bar0[TOY_BAR0], config[4096];
	struct toy_access { bool write; u32 region; u64 off, val; u32 len; } log[TOY_LOG];
	u32 nr_log;
	u32 opened, closed, resets, maps, unmaps;
	u64 mapped_bytes;
	bool refuses_maps;
	bool open[TOY_VECTORS];
};

static inline u8 *toy_bytes(struct toy *t, u32 region, u64 off, u32 len)
{
	u8 *base = region == VFIO_PCI_CONFIG_REGION_INDEX ? t->config : t->bar0;

	assert_true(t->guest && (len == 1 || len == 2 || len == 4 || len == 8) && off % len == 0);
	assert_true(len <= 4 || region != VFIO_PCI_CONFIG_REGION_INDEX);
	assert_true(off + len <= t->device.region[region].size_bytes);
	return region == 2 ? NULL : base + off;
}

static inline void toy_note(struct toy *t, struct toy_access a)
{
	if (t->nr_log < TOY_LOG)
		t->log[t->nr_log] = a;
	t->nr_log++;
}

static inline u64 toy_read(struct vfio_device *d, u32 region, u64 off, u32 len)
{
	struct toy *t = (struct toy *)d;
	u8 *p = toy_bytes(t, region, off, len);
	u64 val = 0;

	if (p)
		memcpy(&val, p, len);
	toy_note(t, (struct toy_access){ false, region, off, val, len });
	return val;
}

static inline void toy_write(struct vfio_device *d, u32 region, u64 off, u64 val, u32 len)
{
	struct toy *t = (struct toy *)d;
	u8 *p = toy_bytes(t, region, off, len);

	if (p)
		memcpy(p, &val, len);
	toy_note(t, (struct toy_access){ true, region, off, val, len });
}

static inline bool toy_open(struct vfio_device *d, struct vfio_guest *g)
{
	struct toy *t = (struct toy *)d;

	assert_null(t->guest);
	t->guest = g;
	t->opened++;
	return true;
}

/* All that was mapped and open is closed before. */
static inline void toy_close(struct vfio_device *d)
{
	struct toy *t = (struct toy *)d;

	assert_non_null(t->guest);
	assert_int_equal(t->mapped_bytes, 0);
	for (u32 v = 0; v < TOY_VECTORS; v++)
		assert_false(t->open[v]);
	t->guest = NULL;
	t->closed++;
}

static inline void toy_reset(struct vfio_device *d)
{
	((struct toy *)d)->resets++;
}

static inline void toy_vector(struct vfio_device *d, u32 vec, bool open)
{
	struct toy *t = (struct toy *)d;

	assert_true(vec < TOY_VECTORS && t->open[vec] != open);
	t->open[vec] = open;
}

static inline bool toy_map(struct vfio_device *d, u64 addr, u64 len_bytes)
{
	struct toy *t = (struct toy *)d;

	assert_true(len_bytes && !((addr | len_bytes) & 0xFFF) && addr + (len_bytes - 1) >= addr);
	if (t->refuses_maps)
		return false;
	t->maps++;
	t->mapped_bytes += len_bytes;
	return true;
}

static inline void toy_unmap(struct vfio_device *d, u64 addr, u64 len_bytes)
{
	struct toy *t = (struct toy *)d;

	(void)addr;
	t->unmaps++;
	t->mapped_bytes -= len_bytes;
}

static const struct vfio_device_ops toy_ops = {
	.open = toy_open, .close = toy_close, .reset = toy_reset, .read = toy_read, .write = toy_write, .vector = toy_vector,
	.map = toy_map, .unmap = toy_unmap,
};

static inline void toy_init(struct toy *t)
{
	*t = (struct toy){ .device = { .ops = &toy_ops, .vectors = TOY_VECTORS } };
	for (u32 i = 0; i < VFIO_REGIONS; i++)
		t->device.region[i].fd = -1;
	t->device.region[0].size_bytes = TOY_BAR0;
	t->device.region[2].size_bytes = TOY_BAR2;
	t->device.region[2].fd = rig_memory(TOY_BAR2, NULL);
	t->device.region[VFIO_REGION_CONFIG].size_bytes = sizeof(t->config);
}

#endif
