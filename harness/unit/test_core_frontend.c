// SPDX-License-Identifier: GPL-2.0
/*
 * The frontend's life: which functions it takes for LightIOV's, a bring-up that fails and
 * leaves nothing, an info page that lies, memory registration, a reset of the controller.
 */
#include "core_frontend_rig.h"
#include "frontend.h"
#include "pci.h"

#define EXIT_IO_INSTRUCTION 30

static struct rig rig;

/* --- probe --- */

static u32 find_cap(const u8 *config, u8 id)
{
	u32 off = config[PCIS_CAP_POINTER], i;

	for (i = 0; i < 48 && off; i++, off = config[off + 1])
		if (config[off] == id)
			return off;
	return 0;
}

static void probe(struct world *w)
{
	struct rig *r = &rig;
	u8 *config, keep, bars[8];
	u32 vendor, off, last = 0, i;
	u64 before;

	rig_vm(w, r, 1);
	config = r->vm->liov.dev.config;
	vendor = find_cap(config, PCIS_CAP_ID_VENDOR);
	CHECK(vendor != 0);
	CHECK_INT(liov_frontend_probe(&r->vm->guest), 0);

	/* Somebody else's vendor capability. */
	config[vendor + 4] ^= 1;
	CHECK_INT(liov_frontend_probe(&r->vm->guest), -ENODEV);
	/* No such capability: a stock NVMe function. */
	config[vendor] = PCIS_CAP_ID_PM;
	config[vendor + 4] ^= 1;
	CHECK_INT(liov_frontend_probe(&r->vm->guest), -ENODEV);

	/* PCI 3.0 6.7: the list ends with 0; this one goes round. */
	for (off = config[PCIS_CAP_POINTER], i = 0; i < 48 && off; i++, off = config[off + 1])
		last = off;
	config[last + 1] = config[PCIS_CAP_POINTER];
	before = r->vm->gv[0].vcpu.exits[EXIT_IO_INSTRUCTION];
	CHECK_INT(liov_frontend_probe(&r->vm->guest), -ENODEV);
	/* Configuration space has room for 48 capabilities: (256 - 64) / 4. */
	CHECK(r->vm->gv[0].vcpu.exits[EXIT_IO_INSTRUCTION] - before <= 2 + 2 * 48);
	config[last + 1] = 0;

	config[vendor] = PCIS_CAP_ID_VENDOR;
	CHECK_INT(liov_frontend_probe(&r->vm->guest), 0);
	/* A list pointer into the header is no list, whatever a BAR may look like. */
	keep = config[PCIS_CAP_POINTER];
	config[PCIS_CAP_POINTER] = PCIS_BAR0;
	memcpy(bars, config + PCIS_BAR0, 8);
	memcpy(config + PCIS_BAR0, config + vendor, 8);
	CHECK_INT(liov_frontend_probe(&r->vm->guest), -ENODEV);
	memcpy(config + PCIS_BAR0, bars, 8);
	config[PCIS_CAP_POINTER] = keep;
	/* Not an NVMe controller. */
	config[PCIS_REVISION + 1] = 0x03;
	CHECK_INT(liov_frontend_probe(&r->vm->guest), -ENODEV);
}

static void test_frontend_probe__functions__only_lightiovs_is_taken(void **state)
{
	world_run(*state, probe);
}

/* --- bring-up --- */

/* As before the frontend came: nothing of it in the guest, nothing of the guest's in the host. */
static void nothing_left(struct world *w, struct rig *r, u64 dma_next)
{
	struct liov_vm *v = &r->vm->liov;
	u32 i;

	CHECK(r->fe.queue == NULL);
	CHECK(!r->fe.live);
	CHECK(r->vm->guest.home.chunks == NULL);
	CHECK_INT(r->vm->guest.dma_next.v, dma_next);
	for (i = 0; i < 256; i++)
		CHECK(r->vm->guest.handler[i].fn == NULL);
	CHECK_INT(v->dev.cc & NVME_CC_EN, 0);
	for (i = 0; i < v->cfg.nr_queues; i++)
		CHECK(!v->queue[i] || (!v->queue[i]->sq_live && !v->queue[i]->cq_live));
}

static void undone(struct world *w)
{
	struct rig *r = &rig;
	u64 dma_next, limit;

	rig_vm(w, r, 3);
	dma_next = r->vm->guest.dma_next.v;

	/* The host has taken pair 3 back: creating it is refused when 1 and 2 stand. */
	CHECK_INT(vm_queue_release(r->vm, 2), 0);
	CHECK_INT(rig_up(r, 0, 0), -EIO);
	nothing_left(w, r, dma_next);

	/* No memory for the second queue's PRP lists: 3 pages are the admin queue's. */
	limit = r->vm->guest.dma_limit.v;
	r->vm->guest.dma_limit.v = dma_next - (3 + 16 + 15) * SPEC_PAGE_SIZE;
	CHECK_INT(rig_up(r, 2, 16), -ENOMEM);
	nothing_left(w, r, dma_next);

	/* None for the admin queue. */
	r->vm->guest.dma_limit.v = dma_next - 2 * SPEC_PAGE_SIZE;
	CHECK_INT(rig_up(r, 2, 16), -ENOMEM);
	nothing_left(w, r, dma_next);
	r->vm->guest.dma_limit.v = limit;

	/* And it can come up; an orderly end leaves as little; and again. */
	CHECK_INT(rig_up(r, 2, 16), 0);
	CHECK_INT(r->fe.nr_queues, 2);
	CHECK_INT(r->fe.queue[1].entries, 16);
	liov_frontend_stop(&r->fe);
	nothing_left(w, r, dma_next);
	CHECK_INT(rig_up(r, 2, 16), 0);
	CHECK_INT(rig_rw(r, 1, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, r), 0);
	CHECK(rig_wait(r, 1) && r->done[0].status == 0);
	liov_frontend_stop(&r->fe);
	liov_frontend_stop(&r->fe);
	nothing_left(w, r, dma_next);
}

static void test_frontend_start__fails_half_way__is_undone(void **state)
{
	world_run(*state, undone);
}

/* An end with a request outstanding: it ends 0/0x08, Command Aborted due to SQ Deletion. */
static void stop_outstanding(struct world *w)
{
	struct rig *r = &rig;

	rig_start(w, r, 1, 16);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, r), 0);
	liov_frontend_stop(&r->fe);
	CHECK_INT(r->nr_done, 1);
	CHECK(r->done[0].cookie == r);
	CHECK_INT(r->done[0].status, 0x008);
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_done, 1);
}

static void test_frontend_stop__outstanding__ends_0_08_once(void **state)
{
	world_run(*state, stop_outstanding);
}

/* --- the info page --- */

static void lie(struct world *w, struct rig *r, const struct liov_info *truth, const struct liov_info *told, int want,
		u32 line)
{
	u64 dma_next = r->vm->guest.dma_next.v;
	struct port_shm page = port_pages_shm(&r->vm->liov.info_page);
	int got;

	port_shm_copy_out(&page, 0, told, sizeof(*told));
	got = rig_up(r, 0, 0);
	if (got != want) {
		fprintf(stderr, "lie at line %u: %d\n", line, got);
		CHECK_INT(got, want);
	}
	nothing_left(w, r, dma_next);
	CHECK_INT(r->vm->liov.nr_mem, 0);
	CHECK_INT(r->doorbells, 0);
	port_shm_copy_out(&page, 0, truth, sizeof(*truth));
}

#define LIE(change, want) do { \
	struct liov_info told = truth; \
	told.change; \
	lie(w, r, &truth, &told, want, __LINE__); \
} while (0)

static void info_lies(struct world *w)
{
	struct rig *r = &rig;
	struct port_shm page;
	struct liov_info truth;
	u32 size;

	rig_vm(w, r, 2);
	size = (u32)r->vm->liov.cmb_size;
	page = port_pages_shm(&r->vm->liov.info_page);
	port_shm_copy_in(&page, 0, &truth, sizeof(truth));
	CHECK(truth.flags & LIOV_INFO_DOORBELLS);
	LIE(magic = 0, -ENODEV);
	LIE(major = LIOV_ABI_MAJOR + 1, -ENODEV);
	LIE(major = 0, -ENODEV);
	LIE(nr_queues = 0, -EINVAL);
	LIE(nr_queues = LIOV_VM_QUEUES_MAX + 1, -EINVAL);
	LIE(nr_queues = ~0u, -EINVAL);
	LIE(queue[1].depth_max = 0, -EINVAL);
	LIE(queue[1].depth_max = 1, -EINVAL);
	LIE(queue[1].depth_max = LIOV_QUEUE_DEPTH_MAX + 1, -EINVAL);
	LIE(queue[1].depth_max = ~0u, -EINVAL);
	LIE(queue[1].sq = size, -EINVAL);
	LIE(queue[1].sq = size - truth.queue[1].depth_max * 64 + 4, -EINVAL);
	LIE(queue[1].sq = 0xFFFFFFC0u, -EINVAL);
	LIE(queue[0].cq = size - truth.queue[0].depth_max * 16 + 4, -EINVAL);
	LIE(queue[0].cq = ~0u, -EINVAL);
	LIE(queue[0].sq_doorbell = size - 3, -EINVAL);
	LIE(queue[0].cq_doorbell = ~0u, -EINVAL);
	/* A newer minor version is understood (abi.h). */
	truth.minor = 7;
	port_shm_copy_out(&page, 0, &truth, sizeof(truth));
	CHECK_INT(rig_up(r, 0, 0), 0);
}

static void test_frontend_start__info_page_lies__refused_and_nothing_touched(void **state)
{
	world_run(*state, info_lies);
}

/* --- memory --- */

static bool has_range(const struct liov_frontend *fe, u64 start, u64 count)
{
	u32 i;

	for (i = 0; i < fe->mem->nr; i++)
		if (fe->mem->range[i].start == start && fe->mem->range[i].count == count)
			return true;
	return false;
}

static void memory(struct world *w)
{
	struct rig *r = &rig;
	struct liov_frontend *fe = &r->fe;
	const u64 end = RIG_RAM + RIG_RAM_BYTES;
	u32 i;

	rig_start(w, r, 1, 16);
	CHECK_INT(fe->mem->nr, 1);
	CHECK(has_range(fe, RIG_RAM, RIG_RAM_BYTES));

	/* A hole splits, an end cuts. */
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0x10000 }, 0x1000), 0);
	CHECK_INT(fe->mem->nr, 2);
	CHECK(has_range(fe, RIG_RAM, 0x10000) && has_range(fe, RIG_RAM + 0x11000, end - RIG_RAM - 0x11000));
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM }, 0x1000), 0);
	CHECK(has_range(fe, RIG_RAM + 0x1000, 0xF000));
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0xF000 }, 0x1000), 0);
	CHECK(has_range(fe, RIG_RAM + 0x1000, 0xE000));
	CHECK_INT(fe->mem->nr, 2);

	/* What is not registered, wholly and in one range, cannot be taken back. */
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0x10000 }, 0x1000), -EINVAL);
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0xE000 }, 0x4000), -EINVAL);
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ end - 0x1000 }, 0x2000), -EINVAL);
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0x2000 }, 0), -EINVAL);
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ ~0ull - 0xFFF }, 0x1000), -EINVAL);
	CHECK_INT(fe->mem->nr, 2);

	/* Not inside is -EIO, and inside goes; whole requests only. */
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM + 0x10000 }, r), -EIO);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 16, (gpa_t){ RIG_RAM + 0xE000 }, r), -EIO);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM + 0xE000 }, r), 0);
	CHECK(rig_wait(r, 1) && r->done[0].status == 0);

	/* Back again. Two ranges side by side stay two. */
	CHECK_INT(liov_frontend_mem_register(fe, (gpa_t){ RIG_RAM + 0x10000 }, 0x1000), 0);
	CHECK_INT(fe->mem->nr, 3);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM + 0x10000 }, r), 0);
	/* The device refuses what is not memory: a status, and nothing is remembered. */
	CHECK(liov_frontend_mem_register(fe, (gpa_t){ VM_BAR0_GPA }, 0x1000) > 0);
	CHECK_INT(fe->mem->nr, 3);

	for (i = 0; fe->mem->nr < LIOV_FE_RANGES_MAX; i++)
		CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0x100000 + i * 0x2000ull }, 0x1000), 0);
	CHECK_INT(i, LIOV_FE_RANGES_MAX - 3);
	/* Full: a hole would need one more entry, an end does not. */
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0x200000 }, 0x1000), -ENOSPC);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM + 0x200000 }, r), 0);
	CHECK_INT(liov_frontend_mem_register(fe, (gpa_t){ RIG_RAM }, 0x1000), -ENOSPC);
	CHECK_INT(liov_frontend_mem_unregister(fe, (gpa_t){ RIG_RAM + 0x1000 }, 0x1000), 0);
	CHECK_INT(fe->mem->nr, LIOV_FE_RANGES_MAX);
	CHECK(rig_wait(r, 3));
}

static void test_frontend_mem__holes_and_ends__ranges_are_split(void **state)
{
	world_run(*state, memory);
}

/* --- reset of the shared controller --- */

static void reset_once(struct world *w, struct rig *r, u32 nth)
{
	u32 before = r->nr_done, i, aborted = 0;
	u64 end;

	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, &r->done[0]), 0);
	CHECK_INT(rig_rw(r, 1, LIOV_OP_READ, 8, 8, (gpa_t){ RIG_RAM + 0x1000 }, &r->done[1]), 0);
	CHECK_INT(liov_backend_reset(w->be), 0);
	CHECK(rig_wait(r, before + 2));
	vm_idle(&r->vm->gv[0], PS_PER_MS);
	CHECK_INT(r->nr_done, before + 2);
	for (i = before; i < r->nr_done; i++)
		aborted += r->done[i].status == 0x008;
	CHECK_INT(aborted, 2);
	CHECK(r->done[before].cookie != r->done[before + 1].cookie);
	/* Both queues were made anew, from their beginning. */
	end = sched_now(w->m->sched) + 100 * PS_PER_MS;
	while (!(r->fe.queue[0].live && r->fe.queue[1].live) && sched_now(w->m->sched) < end)
		vm_idle(&r->vm->gv[0], 100 * PS_PER_US);
	for (i = 0; i < 2; i++) {
		CHECK(r->fe.queue[i].live);
		CHECK_INT(r->fe.queue[i].sq_tail, 0);
		CHECK_INT(r->fe.queue[i].nr_free, r->fe.queue[i].entries - 1);
		CHECK_INT(rig_rw(r, i, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, r), 0);
		CHECK(rig_wait(r, before + 3 + i));
		CHECK_INT(r->done[before + 2 + i].status, 0);
	}
	if (w->failed_line)
		fprintf(stderr, "reset %u\n", nth);
}

static void reset(struct world *w)
{
	u32 i;

	rig_start(w, &rig, 2, 16);
	/* The event's request is put back each time, and no log has to be read to hear of the next. */
	for (i = 0; i < 3; i++)
		reset_once(w, &rig, i);
}

static void test_frontend__controller_reset__outstanding_end_0_08_and_queues_return(void **state)
{
	world_run(*state, reset);
}

/* A queue that the device does not take back is told: the caller has to start anew. */
static void queue_lost(struct world *w)
{
	struct rig *r = &rig;
	gpa_t cmb;
	u64 end;

	rig_start(w, r, 1, 16);
	cmb = r->fe.cmb_gpa;
	r->fe.cmb_gpa.v += 0x1000;		/* not where its pages are */
	CHECK_INT(liov_backend_reset(w->be), 0);
	end = sched_now(w->m->sched) + 100 * PS_PER_MS;
	while (!r->fe.failed && sched_now(w->m->sched) < end)
		vm_idle(&r->vm->gv[0], 100 * PS_PER_US);
	CHECK(r->fe.failed);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, r), -ENODEV);
	r->fe.cmb_gpa = cmb;
	liov_frontend_stop(&r->fe);
	CHECK_INT(rig_up(r, 1, 16), 0);
	CHECK(!r->fe.failed);
	CHECK_INT(rig_rw(r, 0, LIOV_OP_READ, 0, 8, (gpa_t){ RIG_RAM }, r), 0);
	CHECK(rig_wait(r, 1));
	CHECK_INT(r->done[0].status, 0);
}

static void test_frontend__queue_lost_in_a_reset__told_and_cured_by_a_start(void **state)
{
	world_run(*state, queue_lost);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, world_setup, world_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frontend_probe__functions__only_lightiovs_is_taken),
		TEST(test_frontend_start__fails_half_way__is_undone),
		TEST(test_frontend_stop__outstanding__ends_0_08_once),
		TEST(test_frontend_start__info_page_lies__refused_and_nothing_touched),
		TEST(test_frontend_mem__holes_and_ends__ranges_are_split),
		TEST(test_frontend__controller_reset__outstanding_end_0_08_and_queues_return),
		TEST(test_frontend__queue_lost_in_a_reset__told_and_cured_by_a_start),
	};

	return cmocka_run_group_tests_name("core_frontend", tests, NULL, NULL);
}
