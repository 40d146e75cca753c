// SPDX-License-Identifier: GPL-2.0
#include "nvme_rig.h"

/* PRPs: NVMe Base 4.1.1 and cases GPA-05, GPA-07 to GPA-12, CMB-05. */

#define D(status) ((u16)((status) | NVME_DNR))
#define PAGE 4096ULL

struct fixture {
	struct rig *r;
	struct rig_queue q;
};

static struct fixture up(const struct nvme_config *cfg)
{
	struct fixture f = { .r = rig_up(cfg) };

	f.q = rig_pair(f.r, 4, 64, 64);
	return f;
}

static struct fixture up_mdts(u8 mdts)
{
	struct nvme_config cfg = rig_config();

	cfg.mdts = mdts;
	return up(&cfg);
}

static u16 rw(struct fixture *f, u8 opcode, u32 nlb_field, u64 prp1, u64 prp2)
{
	return rig_cmd(f->r, &f->q, rig_rw(opcode, 0, nlb_field, prp1, prp2));
}

static u64 entry(struct fixture *f, u64 list, u32 slot, u64 val)
{
	rig_set64(f->r, list + 8 * slot, val);
	return val;
}

/* Each block of the medium starts with its own number. */
static void number_blocks(struct fixture *f, u32 blocks)
{
	for (u64 i = 0; i < blocks; i++)
		store_write(f->r->media, i * 512, &i, sizeof(i));
}

static void test_prp1__with_offset__splits_at_page(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	number_blocks(&f, 16);
	assert_int_equal(rw(&f, NVME_CMD_READ, 7, RIG_BUF + 0x204, RIG_BUF + 0x5000), 0);
	assert_int_equal(rig_mem64(f.r, RIG_BUF + 0x204 + 0x200) & 0xFFFFFFFF, 1);
	/* 0xDFC bytes in the first page: block 7 starts 4 bytes into the second. */
	assert_int_equal(rig_mem64(f.r, RIG_BUF + 0x5000 + 7 * 0x200 - 0xDFC), 7);
	assert_int_equal(rig_mem64(f.r, RIG_BUF + 0x5000 + 0x204), 0);
	rig_free(f.r);
}

static void test_prp1__not_dword_aligned__invalid_offset(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_BUF + 2, 0), D(0x013));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_BUF + 1, 0), D(0x013));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_BUF + 4, 0), 0);
	rig_free(f.r);
}

static void test_prp2__data_pointer_with_offset__invalid_offset(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	assert_int_equal(rw(&f, NVME_CMD_READ, 0xF, RIG_BUF, RIG_BUF + 0x1008), D(0x013));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0xF, RIG_BUF, RIG_BUF + 0x1000), 0);
	rig_free(f.r);
}

static void test_list__pointer_misaligned__invalid_offset(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x3F, RIG_BUF, RIG_LIST + 4), D(0x013));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x3F, RIG_BUF, RIG_LIST + 0xFFC), D(0x013));
	rig_free(f.r);
}

static void test_list__later_entry_with_offset__whole_command_refused(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	number_blocks(&f, 24);
	entry(&f, RIG_LIST, 0, RIG_BUF + PAGE);
	entry(&f, RIG_LIST, 1, RIG_BUF + 2 * PAGE + 0x200);
	rig_fill(f.r, RIG_BUF, 4 * PAGE, 0xCC);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x17, RIG_BUF, RIG_LIST), D(0x013));
	for (u64 i = 0; i < 4; i++)
		assert_int_equal(rig_byte(f.r, RIG_BUF + i * PAGE), 0xCC);
	rig_free(f.r);
}

static void test_list__fetch_blocked__data_transfer_error(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x3F, RIG_BUF, RIG_NO_TARGET), 0x004);
	rig_free(f.r);
}

static void test_prp__zero__is_an_address(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	number_blocks(&f, 16);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0xF, PAGE, 0), 0);
	assert_int_equal(rig_mem64(f.r, 0x200), 9);
	rig_free(f.r);
}

static void test_prp__own_registers__data_transfer_error(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_BAR0 + 0x1000, 0), D(0x004));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_BAR0, 0), D(0x004));
	assert_int_equal(rw(&f, NVME_CMD_WRITE, 0xF, RIG_BUF, RIG_BAR0), D(0x004));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x3F, RIG_BUF, RIG_BAR0 + 0x1000), D(0x004));
	entry(&f, RIG_LIST, 0, RIG_BAR0 + 0x1000);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x17, RIG_BUF, RIG_LIST), D(0x004));
	assert_int_equal(rig_rd(f.r, NVME_REG_CSTS, 4), NVME_CSTS_RDY);
	rig_free(f.r);
}

/* A list of @entries data pages from slot @slot of RIG_LIST on, chained page by page; data pages are two apart. */
static void build_list(struct fixture *f, u32 slot, u32 entries)
{
	u64 page = RIG_LIST;

	for (u32 i = 0; i < entries;) {
		if (slot == 511 && entries - i > 1) {
			entry(f, page, slot, page + 2 * PAGE);
			page += 2 * PAGE;
			slot = 0;
			continue;
		}
		entry(f, page, slot++, RIG_BUF + 2 * PAGE * (i + 1));
		i++;
	}
}

static void check_pages(struct fixture *f, u32 entries)
{
	for (u32 i = 0; i < entries; i++)
		assert_int_equal(rig_mem64(f->r, RIG_BUF + 2 * PAGE * (i + 1)), 8ULL * (i + 1));
}

static void test_list__511_to_513_entries__chain_only_when_more_remains(void **state)
{
	static const u32 counts[] = { 510, 511, 512, 513, 1023, 1024, 1025 };
	struct fixture f = up_mdts(11);

	(void)state;
	number_blocks(&f, 8 * 1026);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		build_list(&f, 0, counts[i]);
		rig_fill(f.r, RIG_BUF, 2 * PAGE * 1027, 0);
		assert_int_equal(rw(&f, NVME_CMD_READ, 8 * (counts[i] + 1) - 1, RIG_BUF, RIG_LIST), 0);
		check_pages(&f, counts[i]);
		assert_int_equal(rig_mem64(f.r, RIG_BUF + 2 * PAGE * (counts[i] + 1)), 0);
	}
	rig_free(f.r);
}

static void test_list__starts_near_page_end__chains(void **state)
{
	static const u32 slots[] = { 509, 510, 511 };
	struct fixture f = up_mdts(9);

	(void)state;
	number_blocks(&f, 4096);
	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++) {
		build_list(&f, slots[i], 31);
		rig_fill(f.r, RIG_BUF, 2 * PAGE * 33, 0);
		assert_int_equal(rw(&f, NVME_CMD_READ, 8 * 32 - 1, RIG_BUF, RIG_LIST + 8 * slots[i]), 0);
		check_pages(&f, 31);
	}
	/* One page left and one slot: data, not a pointer. */
	entry(&f, RIG_LIST, 510, RIG_BUF + 2 * PAGE);
	entry(&f, RIG_LIST, 511, RIG_BUF + 4 * PAGE);
	assert_int_equal(rw(&f, NVME_CMD_READ, 8 * 3 - 1, RIG_BUF, RIG_LIST + 8 * 510), 0);
	assert_int_equal(rig_mem64(f.r, RIG_BUF + 4 * PAGE), 16);
	rig_free(f.r);
}

static void test_list__chain_pointer_with_offset__invalid_offset(void **state)
{
	struct fixture f = up_mdts(9);

	(void)state;
	entry(&f, RIG_LIST, 510, RIG_BUF + PAGE);
	entry(&f, RIG_LIST, 511, RIG_LIST + 2 * PAGE + 8);
	assert_int_equal(rw(&f, NVME_CMD_READ, 8 * 4 - 1, RIG_BUF, RIG_LIST + 8 * 510), D(0x013));
	rig_free(f.r);
}

/* GPA-10: 1101 entries from a list page whose last slot names the page itself. */
static void test_list__chains_to_itself__ends_with_the_length(void **state)
{
	struct fixture f = up_mdts(11);
	u32 reads = 0;

	(void)state;
	for (u32 i = 0; i < 511; i++)
		entry(&f, RIG_LIST, i, RIG_BUF + PAGE * (i + 1));
	entry(&f, RIG_LIST, 511, RIG_LIST);
	rig_put(f.r, &f.q, rig_rw(NVME_CMD_READ, 0, 1102 * 8 - 1, RIG_BUF, RIG_LIST + 0xFF0));
	rig_ring(f.r, &f.q);
	rig_run(f.r, 10 * PS_PER_US);
	for (u32 i = 0; i < f.r->nr_ev; i++)
		reads += f.r->ev[i].kind == TRACE_DMA && f.r->ev[i].b >= RIG_LIST && f.r->ev[i].b < RIG_LIST + PAGE;
	/* 1 entry from the part page, then 511, 511 and the last 78. */
	assert_int_equal(reads, 4);
	rig_run(f.r, 100 * PS_PER_MS);
	assert_int_equal(nvme_counters(f.r->nvme)->read_blocks, 1102 * 8);
	rig_free(f.r);
}

static void test_list__rewritten_in_flight__the_copy_counts(void **state)
{
	struct fixture f = up_mdts(5);
	struct nvme_cqe cqe;

	(void)state;
	number_blocks(&f, 24);
	entry(&f, RIG_LIST, 0, RIG_BUF + PAGE);
	entry(&f, RIG_LIST, 1, RIG_BUF + 2 * PAGE);
	rig_put(f.r, &f.q, rig_rw(NVME_CMD_READ, 0, 0x17, RIG_BUF, RIG_LIST));
	rig_ring(f.r, &f.q);
	rig_run(f.r, 10 * PS_PER_US);	/* fetched and mapped; the dies take 58 us */
	entry(&f, RIG_LIST, 1, RIG_BUF + 5 * PAGE);
	rig_run(f.r, PS_PER_MS);
	assert_true(rig_peek(f.r, &f.q, &cqe, true));
	assert_int_equal(rig_mem64(f.r, RIG_BUF + 2 * PAGE), 16);
	assert_int_equal(rig_mem64(f.r, RIG_BUF + 5 * PAGE), 0);
	rig_free(f.r);
}

static void test_address__end_of_space__does_not_wrap(void **state)
{
	struct fixture f = up_mdts(5);

	(void)state;
	number_blocks(&f, 8);
	assert_int_equal(rw(&f, NVME_CMD_READ, 7, 0xFFFFFFFFFFFFF000ULL, 0), 0);
	assert_int_equal(rig_mem64(f.r, 0x200), 0);
	assert_int_equal(rw(&f, NVME_CMD_WRITE, 7, 0xFFFFFFFFFFFFF000ULL, 0), 0x004);
	rig_free(f.r);
}

static void cmb_on(struct rig *r)
{
	rig_wr(r, NVME_REG_CMBMSC, RIG_CBA | NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE, 8);
	assert_int_equal(rig_rd(r, NVME_REG_CMBSTS, 4), 0);
}

static u64 cmb64(struct rig *r, u64 off)
{
	return bus_cpu_read(&r->bus, (hpa_t){ RIG_BAR2 + off }, 8);
}

static void test_cmb__data_and_lists_offered__move(void **state)
{
	struct nvme_config cfg = rig_config();
	struct fixture f;

	(void)state;
	cfg.cmb_size_bytes = 0x200000;
	cfg.cmb_lists = true;
	f = up(&cfg);
	cmb_on(f.r);
	number_blocks(&f, 24);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0xF, RIG_CBA + 0x1000, RIG_CBA + 0x3000), 0);
	assert_int_equal(cmb64(f.r, 0x1200), 1);
	assert_int_equal(cmb64(f.r, 0x3000), 8);
	/* And back, to other blocks, with the list in the CMB. */
	bus_cpu_write(&f.r->bus, (hpa_t){ RIG_BAR2 + 0x8000 }, RIG_CBA + 0x3000, 8);
	bus_cpu_write(&f.r->bus, (hpa_t){ RIG_BAR2 + 0x8008 }, RIG_CBA + 0x1FF000, 8);
	assert_int_equal(rig_cmd(f.r, &f.q, rig_rw(NVME_CMD_WRITE, 100, 0x17, RIG_CBA + 0x1000, RIG_CBA + 0x8000)), 0);
	assert_int_equal(rig_media_byte(f.r, 101), 1);
	assert_int_equal(rig_media_byte(f.r, 108), 8);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0xF, RIG_CBA + 0x1000, RIG_BUF), D(0x012));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0xF, RIG_BUF, RIG_CBA + 0x1000), D(0x012));
	rig_free(f.r);
}

static void test_cmb__lists_not_offered__invalid_use(void **state)
{
	struct nvme_config cfg = rig_config();
	struct fixture f;

	(void)state;
	cfg.cmb_size_bytes = 0x200000;
	f = up(&cfg);
	/* Not decoded yet: an address like any other, here of nobody. */
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_CBA, 0), 0);
	cmb_on(f.r);
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_CBA, 0), D(0x012));
	assert_int_equal(rw(&f, NVME_CMD_WRITE, 0xF, RIG_BUF, RIG_CBA), D(0x012));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0x3F, RIG_BUF, RIG_CBA + 0x1000), D(0x012));
	assert_int_equal(rw(&f, NVME_CMD_READ, 0, RIG_CBA + 0x200000, 0), 0);	/* just behind its end */
	rig_free(f.r);
}

/* CMB-03 b: a base that wraps is not decoded, so the address is one of host memory, and nobody's. */
static void test_cmb__base_wraps__is_not_decoded(void **state)
{
	struct nvme_config cfg = rig_config();
	struct fixture f;

	(void)state;
	cfg.cmb_size_bytes = 0x200000;
	cfg.cmb_lists = true;
	f = up(&cfg);
	rig_wr(f.r, NVME_REG_CMBMSC, 0xFFFFFFFFFFF00000ULL | NVME_CMBMSC_CRE | NVME_CMBMSC_CMSE, 8);
	assert_int_equal(rw(&f, NVME_CMD_WRITE, 0, 0xFFFFFFFFFFF00000ULL, 0), 0x004);
	assert_int_equal(rw(&f, NVME_CMD_WRITE, 0, RIG_BUF, 0), 0);
	rig_free(f.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prp1__with_offset__splits_at_page),
		cmocka_unit_test(test_prp1__not_dword_aligned__invalid_offset),
		cmocka_unit_test(test_prp2__data_pointer_with_offset__invalid_offset),
		cmocka_unit_test(test_list__pointer_misaligned__invalid_offset),
		cmocka_unit_test(test_list__later_entry_with_offset__whole_command_refused),
		cmocka_unit_test(test_list__fetch_blocked__data_transfer_error),
		cmocka_unit_test(test_prp__zero__is_an_address),
		cmocka_unit_test(test_prp__own_registers__data_transfer_error),
		cmocka_unit_test(test_list__511_to_513_entries__chain_only_when_more_remains),
		cmocka_unit_test(test_list__starts_near_page_end__chains),
		cmocka_unit_test(test_list__chain_pointer_with_offset__invalid_offset),
		cmocka_unit_test(test_list__chains_to_itself__ends_with_the_length),
		cmocka_unit_test(test_list__rewritten_in_flight__the_copy_counts),
		cmocka_unit_test(test_address__end_of_space__does_not_wrap),
		cmocka_unit_test(test_cmb__data_and_lists_offered__move),
		cmocka_unit_test(test_cmb__lists_not_offered__invalid_use),
		cmocka_unit_test(test_cmb__base_wraps__is_not_decoded),
	};

	return cmocka_run_group_tests_name("nvme_prp", tests, NULL, NULL);
}
