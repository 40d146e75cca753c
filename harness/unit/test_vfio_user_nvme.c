// SPDX-License-Identifier: GPL-2.0
/* NVMe commands from end to end: a client's message in, an eventfd out, on bare controllers and on LightIOV's devices. */

#include "vfio_nvme_rig.h"

#include "sim/serve/serve_liov.c"	/* its world's parts are looked at, and one is broken */

static const char *const two[] = { "a,size=1M", "b,size=2M" };

struct fixture {
	const struct serve_kind *kind;
	struct serve_world *w;
	struct drv a, b;
	u32 files;
};

static int up(void **state, const struct serve_kind *kind, const char *const *sockets, u32 nr)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->files = rig_open_files();
	f->kind = kind;
	f->w = drv_world(kind, sockets, nr);
	drv_connect(&f->a, f->w, 0);
	*state = f;
	return 0;
}

static int up_bare(void **state)
{
	static const char *const sockets[] = { "a,size=1M,serial=ONE,cmb_size_mb=1", "b,size=2M" };

	return up(state, &serve_nvme, sockets, 2);
}

static int up_mediated(void **state)
{
	return up(state, &serve_mediated, two, 2);
}

static int down(void **state)
{
	struct fixture *f = *state;

	drv_disconnect(&f->a);
	f->w->free(f->w);
	assert_int_equal(rig_open_files(), f->files);
	free(f);
	return 0;
}

static void fill(u8 *p, u32 bytes, u32 seed)
{
	for (u32 i = 0; i < bytes; i++)
		p[i] = (u8)(seed += 0x9E3779B1u, seed >> 24);
}

/* --- both kinds --- */

static void test_function__is_an_nvme_controller(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;
	u32 msix = drv_cap(d, 0x11);

	assert_int_equal(drv_cfg_rd(d, PCIS_REVISION, 4) >> 8, 0x010802);
	drv_cfg_wr(d, PCIS_BAR(0), ~0u, 4);
	assert_int_equal((u32)(~(drv_cfg_rd(d, PCIS_BAR(0), 4) & ~0xFull) + 1), f->w->device[0]->region[0].size_bytes);
	assert_int_equal((drv_cfg_rd(d, msix + 2, 2) & 0x7FF) + 1, f->w->device[0]->vectors);
	/* VFIO's way: on while there are eventfds. */
	assert_true(drv_cfg_rd(d, msix + 2, 2) & 0x8000);
	drv_cfg_wr(d, msix + 2, 0, 2);
	assert_true(drv_cfg_rd(d, msix + 2, 2) & 0x8000);
	assert_int_equal(rig_irqs(&d->rig, VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_TRIGGER, 0, 0, NULL, 0, NULL, 0), 0);
	assert_false(drv_cfg_rd(d, msix + 2, 2) & 0x8000);
}

static void test_io__written__is_read_back(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;
	u64 nsze;

	drv_bring_up(d);
	assert_int_equal(drv_identify(d, 0), 0);
	memcpy(&nsze, drv_data(d, 0), 8);
	assert_int_equal(nsze, (1 << 20) / 512);
	for (u32 i = 0; i < 40; i++) {
		fill(drv_data(d, 0), 8192, i);
		memset(drv_data(d, 2), 0, 8192);
		assert_int_equal(drv_io(d, 1, i * 16, 16, DRV_DATA), 0);
		assert_int_equal(drv_io(d, 2, i * 16, 16, DRV_DATA + 0x2000), 0);
		assert_memory_equal(drv_data(d, 0), drv_data(d, 2), 8192);
	}
	/* Base figure 128: LBA Out of Range. */
	assert_int_equal(drv_io(d, 2, nsze, 1, DRV_DATA), 0x80);
	assert_int_equal(drv_io(d, 1, nsze - 1, 2, DRV_DATA), 0x80);
}

static void test_io__from_memory_that_is_not_the_guests__fails_and_the_next_one_works(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;

	drv_bring_up(d);
	assert_int_not_equal(drv_io(d, 1, 0, 8, DRV_MEM + DRV_MEM_BYTES), 0);
	assert_int_not_equal(drv_io(d, 1, 0, 8, 0xFEE00000), 0);
	assert_int_not_equal(drv_io(d, 1, 0, 8, ~0xFFFull), 0);
	assert_int_equal(drv_io(d, 2, 0, 8, DRV_DATA), 0);
	assert_int_equal(rig_dma_unmap(&d->rig, DRV_MEM, DRV_MEM_BYTES, 0), 0);
	assert_int_equal(rig_dma_map(&d->rig, d->fd, 0, DRV_MEM, DRV_MEM_BYTES, 3), 0);
	assert_int_equal(drv_io(d, 2, 0, 8, DRV_DATA), 0);
}

static void resets(struct drv *d, bool by_flr)
{
	u32 exp = drv_cap(d, 0x10);

	drv_bring_up(d);
	fill(drv_data(d, 0), 4096, 5);
	assert_int_equal(drv_io(d, 1, 0, 8, DRV_DATA), 0);
	if (by_flr)
		drv_cfg_wr(d, exp + 8, drv_cfg_rd(d, exp + 8, 2) | 0x8000, 2);
	else
		assert_int_equal(rig_call(&d->rig, CMD_RESET, NULL, 0), 0);
	drv_work(d);
	/* PCIe 6.6.2: registers at their defaults. Interrupts are the client's, and stay. */
	assert_true(drv_cfg_rd(d, drv_cap(d, 0x11) + 2, 2) & 0x8000);
	assert_int_equal(drv_cfg_rd(d, PCIS_COMMAND, 2) & 7, 0);
	assert_int_equal(drv_cfg_rd(d, PCIS_BAR(0), 4) & ~0xFull, 0);
	drv_cfg_wr(d, PCIS_COMMAND, PCIS_COMMAND_MEMORY, 2);
	assert_int_equal(drv_rd(d, 0, NVME_REG_CC, 4), 0);
	assert_int_equal(drv_rd(d, 0, NVME_REG_CSTS, 4), 0);
	/* drv_command() looks for them. */
	drv_bring_up(d);
	assert_int_equal(drv_io(d, 2, 0, 8, DRV_DATA + 0x1000), 0);
	assert_memory_equal(drv_data(d, 0), drv_data(d, 1), 4096);
}

static void test_flr__by_devctl__resets_the_function(void **state)
{
	resets(&((struct fixture *)*state)->a, true);
}

static void test_reset__by_message__resets_the_function(void **state)
{
	resets(&((struct fixture *)*state)->a, false);
}

/* Power-on for the device, but the blocks are those that were there. */
static void test_reconnect__new_guest__finds_the_device_reset_and_its_blocks(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;

	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(drv_cfg_rd(d, PCIS_COMMAND, 2) & 7, 0);
		assert_int_equal(drv_rd(d, 0, NVME_REG_CSTS, 4), 0);
		drv_bring_up(d);
		fill(drv_data(d, 0), 4096, i);
		if (i) {
			u8 want[4096];

			fill(want, 4096, i - 1);
			assert_int_equal(drv_io(d, 2, 0, 8, DRV_DATA + 0x1000), 0);
			assert_memory_equal(want, drv_data(d, 1), 4096);
		}
		assert_int_equal(drv_io(d, 1, 0, 8, DRV_DATA), 0);
		drv_disconnect(d);
		drv_connect(d, f->w, 0);
	}
}

/* The guest vanishes with a command on its way: whoever comes next is not hit by it. */
static void test_client__leaves_with_commands_outstanding__device_is_quiet(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;
	struct nvme_sqe sqe = { .opcode = 2, .nsid = 1, .cid = 9, .prp1 = DRV_DATA, .cdw12 = 7 };

	for (u32 i = 0; i < 8; i++) {
		drv_bring_up(d);
		for (u32 k = 0; k < 8; k++)
			memcpy(d->mem + 0x2000 + k * 64, &sqe, 64);
		drv_wr(d, 0, NVME_REG_DBS + 8, 8, 4);
		drv_disconnect(d);
		drv_connect(d, f->w, 0);
		memset(d->mem, 0xA5, DRV_MEM_BYTES);
		drv_work(d);
		for (u32 k = 0; k < DRV_MEM_BYTES; k++)
			assert_int_equal(d->mem[k], 0xA5);
	}
}

static void test_two_guests__at_once__each_has_its_own_blocks(void **state)
{
	struct fixture *f = *state;
	json_t *doc = json_object();
	u64 nsze;

	drv_connect(&f->b, f->w, 1);
	drv_bring_up(&f->a);
	drv_bring_up(&f->b);
	assert_int_equal(drv_identify(&f->b, 0), 0);
	memcpy(&nsze, drv_data(&f->b, 0), 8);
	assert_int_equal(nsze, (2 << 20) / 512);
	for (u32 i = 0; i < 20; i++) {
		fill(drv_data(&f->a, 0), 4096, 100 + i);
		fill(drv_data(&f->b, 0), 4096, 200 + i);
		assert_int_equal(drv_io(&f->a, 1, i * 8, 8, DRV_DATA), 0);
		assert_int_equal(drv_io(&f->b, 1, i * 8, 8, DRV_DATA), 0);
		assert_int_equal(drv_io(&f->a, 2, i * 8, 8, DRV_DATA + 0x1000), 0);
		assert_int_equal(drv_io(&f->b, 2, i * 8, 8, DRV_DATA + 0x1000), 0);
		assert_memory_equal(drv_data(&f->a, 0), drv_data(&f->a, 1), 4096);
		assert_memory_equal(drv_data(&f->b, 0), drv_data(&f->b, 1), 4096);
	}
	/* One is reset while the other goes on. */
	assert_int_equal(rig_call(&f->a.rig, CMD_RESET, NULL, 0), 0);
	assert_int_equal(drv_io(&f->b, 2, 0, 8, DRV_DATA), 0);
	assert_int_equal(f->w->report(f->w, doc), 0);
	json_decref(doc);
	drv_disconnect(&f->b);
}

/* --- bare controllers --- */

static void test_bare__identify__says_the_words_of_its_socket(void **state)
{
	struct fixture *f = *state;

	drv_enable(&f->a);
	assert_int_equal(drv_identify(&f->a, 1), 0);
	assert_memory_equal(drv_data(&f->a, 0) + 4, "ONE                 ", 20);
}

/* A DMA read that fails is 0/04, Data Transfer Error; of a write to memory that goes nowhere the device learns nothing. */
static void test_bare__dma_outside__fails_as_pcie_has_it(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;

	drv_bring_up(d);
	assert_int_equal(drv_io(d, 1, 0, 8, DRV_MEM + DRV_MEM_BYTES), 0x04);
	assert_int_equal(drv_io(d, 2, 0, 8, DRV_MEM + DRV_MEM_BYTES), 0);
}

static u8 *map_cmb(struct drv *d)
{
	struct vfio_region_info info = { .argsz = sizeof(info), .index = 2 };
	u8 *p;

	assert_int_equal(rig_call(&d->rig, CMD_REGION_INFO, &info, sizeof(info)), 0);
	assert_true(d->rig.reply_fd >= 0);
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, d->rig.reply_fd, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

/* Queue and data in the CMB, stored there without a message. */
static void test_bare__cmb__is_shared_with_who_maps_it(void **state)
{
	struct fixture *f = *state;
	struct drv *d = &f->a;
	u64 cba = 0x40000000;
	u8 *cmb = map_cmb(d);

	drv_enable(d);
	drv_wr(d, 0, NVME_REG_CMBMSC, cba | 3, 8);
	drv_queues(d, cba, cmb);
	fill(cmb + 0x8000, 4096, 77);
	assert_int_equal(drv_io(d, 1, 0, 8, cba + 0x8000), 0);
	assert_int_equal(drv_io(d, 2, 0, 8, DRV_DATA), 0);
	assert_memory_equal(drv_data(d, 0), cmb + 0x8000, 4096);
	assert_int_equal(drv_io(d, 2, 0, 8, cba + 0x9000), 0);
	assert_memory_equal(cmb + 0x9000, cmb + 0x8000, 4096);
	assert_int_equal(drv_rd(d, 2, 0x9004, 4), *(u32 *)(cmb + 0x9004));
	/* Nobody can cut it off, and who maps it after us sees none of it. */
	assert_int_equal(ftruncate(d->rig.reply_fd, 4096), -1);
	drv_disconnect(d);
	drv_connect(d, f->w, 0);
	assert_int_equal(drv_rd(d, 2, 0x9004, 4), 0);
	cmb[0] = 0x77;
	assert_int_equal(drv_rd(d, 2, 0, 4), 0);
	munmap(cmb, 1 << 20);
}

static void test_bare__words_that_are_wrong__are_refused(void **state)
{
	static const struct { const char *socket, *why; } cases[] = {
		{ "s,size=3Q", "size" }, { "s,nonsense=1", "there is no property 'nonsense'" }, { "s,cmb_size_mb=3", "powers of two" },
		{ "s,max_ioqpairs=0", "max_ioqpairs" }, { "s,file=/does/not/exist", "No such file" }, { "s,size=1", "less than a block" },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct serve_options *o = calloc(1, sizeof(*o));
		char why[512] = "";

		assert_true(opts_parse(&o->socket[0], cases[i].socket, "path"));
		o->nr_sockets = 1;
		assert_null(serve_nvme.make(o, why, sizeof(why)));
		if (!strstr(why, cases[i].why))
			fail_msg("%s: '%s'", cases[i].socket, why);
		free(o);
	}
}

/* --- LightIOV's devices --- */

static void test_mediated__memory_that_cannot_be__ends_the_client(void **state)
{
	static const struct { u64 addr, size; } bad[] = {
		{ VM_BAR0_GPA, 0x1000 }, { VM_CMB_GPA - 0x1000, 0x2000 }, { 1ull << 40, 0x1000 }, { (16ull << 30) - 0x1000, 0x2000 },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(rig_dma_map(&f->a.rig, f->a.fd, 0, bad[i].addr, bad[i].size, 3), -1);
		assert_non_null(strstr(f->a.rig.why, "no place"));
		close(f->a.rig.fd);
		rig_start(&f->a.rig, f->w->device[0]);
	}
	/* As many pieces as there is room for, and then one too many. */
	for (u32 i = 0; i < VM_RAM_MAX; i++)
		assert_int_equal(rig_dma_map(&f->a.rig, f->a.fd, 0, i * 0x2000ull, 0x1000, 3), 0);
	assert_int_equal(rig_dma_map(&f->a.rig, f->a.fd, 0, 0x10000000, 0x1000, 3), -1);
	close(f->a.rig.fd);
	rig_start(&f->a.rig, f->w->device[0]);
	/* All of it was given back. */
	assert_int_equal(rig_dma_map(&f->a.rig, f->a.fd, 0, 0, DRV_MEM_BYTES, 3), 0);
}

/* The control: a host that takes one VM's blocks for another's is seen. */
static void test_mediated__blocks_of_another__oracle_says_so(void **state)
{
	struct fixture *f = *state;
	struct liov_world *w = (struct liov_world *)f->w;
	json_t *doc = json_object();

	drv_bring_up(&f->a);
	assert_int_equal(drv_io(&f->a, 2, 0, 8, DRV_DATA), 0);
	assert_int_equal(f->w->report(f->w, doc), 0);
	assert_string_equal(json_string_value(json_object_get(doc, "verdict")), "isolated");
	w->vm[0].vm->liov.lba.start = w->vm[1].vm->liov.lba.start;
	assert_int_equal(drv_io(&f->a, 2, 0, 8, DRV_DATA), 0);
	assert_int_equal(f->w->report(f->w, doc), 1);
	assert_string_equal(json_string_value(json_object_get(doc, "verdict")), "ESCAPED");
	assert_int_equal(json_integer_value(json_object_get(doc, "violations")), 1);
	json_decref(doc);
}

#define BARE(name) { "bare: " #name, name, up_bare, down, NULL }
#define MEDIATED(name) { "mediated: " #name, name, up_mediated, down, NULL }
#define BOTH(name) BARE(name), MEDIATED(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_function__is_an_nvme_controller),
		BOTH(test_io__written__is_read_back),
		BOTH(test_io__from_memory_that_is_not_the_guests__fails_and_the_next_one_works),
		BOTH(test_flr__by_devctl__resets_the_function),
		BOTH(test_reset__by_message__resets_the_function),
		BOTH(test_reconnect__new_guest__finds_the_device_reset_and_its_blocks),
		BOTH(test_client__leaves_with_commands_outstanding__device_is_quiet),
		BOTH(test_two_guests__at_once__each_has_its_own_blocks),
		BARE(test_bare__identify__says_the_words_of_its_socket),
		BARE(test_bare__dma_outside__fails_as_pcie_has_it),
		BARE(test_bare__cmb__is_shared_with_who_maps_it),
		cmocka_unit_test(test_bare__words_that_are_wrong__are_refused),
		MEDIATED(test_mediated__memory_that_cannot_be__ends_the_client),
		MEDIATED(test_mediated__blocks_of_another__oracle_says_so),
	};

	return cmocka_run_group_tests_name("vfio_user_nvme", tests, NULL, NULL);
}
