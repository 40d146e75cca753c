// SPDX-License-Identifier: GPL-2.0
/*
 * Guests that do anything with their device: registers, configuration space, queues full of chance,
 * memory that comes and goes, with a second guest that goes on beside them. Nothing ends but their
 * session, and the oracle sees nothing. VFIO_SEED=N repeats it with that seed.
 */

#include "vfio_nvme_rig.h"
#include "serve/serve_liov.h"
#include "sim/rng.h"

#define SESSIONS 60u
#define STEPS 150u

struct chaos {
	struct serve_world *w;
	struct drv bad, good;
	struct rng r;
};

static u64 any(struct rng *r)
{
	static const u64 seeds[] = { 0, 1, 0xFF, 0xFFF, 0x1000, DRV_MEM, DRV_DATA, DRV_SQ, 0xFEE00000, 0xE0000000, 0xE1000000, 1ull << 34, ~0ull };

	return rng_chance(r, 1, 2) ? seeds[rng_below(r, 13)] + rng_below(r, 3) * rng_below(r, 4096) : rng_u64(r) >> rng_below(r, 64);
}

static void queue_entry(struct chaos *c, u32 q, u32 slot)
{
	static const u8 admin[] = { 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 0x80, 0xC8, 0xC9 }, io[] = { 0, 1, 2, 5, 8, 9, 0x19 };
	struct nvme_sqe sqe = {
		.opcode = q ? io[rng_below(&c->r, sizeof(io))] : admin[rng_below(&c->r, sizeof(admin))],
		.flags = rng_chance(&c->r, 1, 20) ? (u8)any(&c->r) : 0, .cid = (u16)any(&c->r), .nsid = rng_chance(&c->r, 9, 10) ? 1 : (u32)any(&c->r),
		.prp1 = rng_chance(&c->r, 2, 3) ? DRV_DATA + (rng_below(&c->r, 32) << 12) : any(&c->r),
		.prp2 = rng_chance(&c->r, 2, 3) ? DRV_DATA + (rng_below(&c->r, 32) << 12) : any(&c->r),
		.cdw10 = rng_chance(&c->r, 2, 3) ? (u32)rng_below(&c->r, 20) : (u32)any(&c->r),
		.cdw11 = rng_chance(&c->r, 2, 3) ? (u32)rng_below(&c->r, 4) : (u32)any(&c->r),
		.cdw12 = rng_chance(&c->r, 2, 3) ? (u32)rng_below(&c->r, 64) : (u32)any(&c->r),
		.cdw13 = (u32)any(&c->r),
	};

	memcpy(c->bad.mem + (q ? 0x2000 : 0) + slot * 64, &sqe, sizeof(sqe));
}

static void access_anything(struct chaos *c)
{
	struct vfio_device *d = c->w->device[0];
	u32 region = rng_chance(&c->r, 1, 8) ? VFIO_PCI_CONFIG_REGION_INDEX : rng_chance(&c->r, 1, 8) ? 2 : 0;
	u64 size = d->region[region].size_bytes, val = any(&c->r), off;
	u32 len = 1u << rng_below(&c->r, 4);

	if (!size)
		return;
	off = region ? rng_below(&c->r, size - 8) : rng_chance(&c->r, 1, 2) ? rng_below(&c->r, 0x60) : 0xFF8 + rng_below(&c->r, 0x40);
	if (rng_chance(&c->r, 3, 4))
		off &= ~(u64)(len - 1);
	if (rng_chance(&c->r, 1, 3))
		rig_read(&c->bad.rig, region, off, &val, len);
	else
		rig_write(&c->bad.rig, region, off, &val, len);
}

static void doorbell(struct chaos *c)
{
	for (u32 i = 0; i < 2 * DRV_DEPTH && rng_chance(&c->r, 19, 20); i++)
		queue_entry(c, i & 1, i / 2);
	drv_wr(&c->bad, 0, NVME_REG_DBS + 4 * rng_below(&c->r, 6), rng_below(&c->r, DRV_DEPTH), 4);
}

/* Whatever it did to itself: after a reset all is as it was. */
static void revive(struct drv *d)
{
	assert_int_equal(rig_call(&d->rig, CMD_RESET, NULL, 0), 0);
	drv_work(d);
	rig_irqs(&d->rig, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK, 0, 2, NULL, 0, NULL, 0);
	for (u32 v = 0; v < 2; v++)
		rig_eventfd_count(d->ev[v]);
	drv_bring_up(d);
}

static void step(struct chaos *c)
{
	struct drv *d = &c->bad;

	if (rng_chance(&c->r, 1, 25))
		revive(d);
	switch (rng_below(&c->r, 12)) {
	case 0: case 1: case 2:
		access_anything(c);
		break;
	case 3: case 4: case 5: case 6:
		queue_entry(c, (u32)rng_below(&c->r, 2), (u32)rng_below(&c->r, DRV_DEPTH));
		break;
	case 7: case 8: case 9:
		doorbell(c);
		break;
	case 10:
		if (rng_chance(&c->r, 1, 6))
			rig_call(&d->rig, CMD_RESET, NULL, 0);
		else if (rng_chance(&c->r, 1, 2))
			rig_irqs(&d->rig, VFIO_IRQ_SET_DATA_NONE | 8u << rng_below(&c->r, 3), 0, 1 + (u32)rng_below(&c->r, 2), NULL, 0, NULL, 0);
		break;
	default:
		/* Its memory goes while it is used, and comes back. */
		if (rng_chance(&c->r, 1, 3)) {
			rig_dma_unmap(&d->rig, DRV_MEM, DRV_MEM_BYTES, 0);
			doorbell(c);
			rig_dma_map(&d->rig, d->fd, 0, DRV_MEM, DRV_MEM_BYTES, 3);
		}
		break;
	}
	if (rng_chance(&c->r, 1, 3))
		drv_work(d);
}

static void good_one(struct chaos *c, u32 round)
{
	memset(drv_data(&c->good, 0), (int)round, 4096);
	assert_int_equal(drv_io(&c->good, 1, round % 100 * 8, 8, DRV_DATA), 0);
	memset(drv_data(&c->good, 1), 0, 4096);
	assert_int_equal(drv_io(&c->good, 2, round % 100 * 8, 8, DRV_DATA + 0x1000), 0);
	assert_memory_equal(drv_data(&c->good, 0), drv_data(&c->good, 1), 4096);
}

static void run(const struct serve_kind *kind)
{
	static const char *const sockets[] = { "bad,size=1M", "good,size=1M" };
	const char *given = getenv("VFIO_SEED");
	u64 seed = given ? strtoull(given, NULL, 0) : 20260801;
	struct chaos *c = calloc(1, sizeof(*c));
	json_t *doc = json_object();
	u32 files = rig_open_files(), early = 0;

	print_message("VFIO_SEED=%llu\n", (unsigned long long)seed);
	rng_split(&c->r, seed, "guest");
	c->w = drv_world(kind, sockets, 2);
	drv_connect(&c->good, c->w, 1);
	drv_bring_up(&c->good);
	for (u32 i = 0; i < SESSIONS; i++) {
		drv_connect(&c->bad, c->w, 0);
		drv_bring_up(&c->bad);
		for (u32 k = 0; c->bad.rig.u && k < STEPS; k++)
			step(c);
		early += !c->bad.rig.u;
		drv_disconnect(&c->bad);
		good_one(c, i);
	}
	assert_int_equal(c->w->report(c->w, doc), 0);
	json_decref(doc);
	/* It came to something. */
	doc = json_object();
	c->w->report_socket(c->w, 0, doc);
	print_message("%llu commands, %u sessions ended early\n", (unsigned long long)json_integer_value(json_object_get(doc, "commands")), early);
	assert_true(json_integer_value(json_object_get(doc, "commands")) > 2 * SESSIONS);
	assert_int_equal(early, 0);
	json_decref(doc);
	drv_disconnect(&c->good);
	c->w->free(c->w);
	assert_int_equal(rig_open_files(), files);
	free(c);
}

static void test_guest__of_a_bare_controller__does_anything(void **state)
{
	(void)state;
	run(&serve_nvme);
}

static void test_guest__of_lightiov__does_anything(void **state)
{
	(void)state;
	run(&serve_mediated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guest__of_a_bare_controller__does_anything),
		cmocka_unit_test(test_guest__of_lightiov__does_anything),
	};

	return cmocka_run_group_tests_name("vfio_user_guest", tests, NULL, NULL);
}
