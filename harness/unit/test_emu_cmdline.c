// SPDX-License-Identifier: GPL-2.0
/* QEMU's command line: what test programs and reproducers start QEMU with, and what must be refused. */

#include "emu_rig.h"

#define DRIVE "-drive id=d,if=none,file=null-co://,format=raw "

struct side {
	struct cmdline c;
	char *kept;
};

static int up(void **state)
{
	*state = calloc(1, sizeof(struct side));
	return *state ? 0 : -1;
}

static int down(void **state)
{
	struct side *s = *state;

	free(s->kept);
	free(s);
	return 0;
}

static struct cmdline *taken(void **state, const char *options)
{
	struct side *s = *state;

	free(s->kept);
	if (rig_parse(&s->c, options, &s->kept))
		fail_msg("%s: %s", options, s->c.why);
	return &s->c;
}

/* Refused with a reason that has @word in it. */
static void refused(void **state, const char *options, const char *word)
{
	struct side *s = *state;

	free(s->kept);
	if (!rig_parse(&s->c, options, &s->kept))
		fail_msg("%s was taken", options);
	if (!strstr(s->c.why, word))
		fail_msg("%s: '%s' has no '%s'", options, s->c.why, word);
}

/* As tests/qtest/libqtest.c starts it, with the options of tests/qtest/nvme-test.c. */
static void test_libqtest__its_words__taken(void **state)
{
	const struct cmdline *c = taken(state,
		"-qtest unix:/tmp/qtest-1.sock -qtest-log /dev/null -chardev socket,path=/tmp/qtest-1.qmp,id=char0 -mon chardev=char0,mode=control "
		"-display none -M pc -drive id=drv0,if=none,file=null-co://,file.read-zeroes=on,format=raw "
		"-object memory-backend-ram,id=pmr0,share=on,size=8 -device nvme,addr=04.0,drive=drv0,serial=foo,cmb_size_mb=2 -accel qtest");

	assert_int_equal(c->qtest->kind, CHARDEV_UNIX);
	assert_false(c->qtest->server);
	assert_string_equal(c->qtest->path, "/tmp/qtest-1.sock");
	assert_int_equal(c->nr_qmp, 1);
	assert_string_equal(c->qmp[0]->path, "/tmp/qtest-1.qmp");
	assert_string_equal(c->log, "/dev/null");
	assert_int_equal(c->emu.nr_nvme, 1);
	assert_int_equal(c->emu.nvme[0].cfg.rid, 0x20);
	assert_int_equal(c->emu.nvme[0].cfg.cmb_size_bytes, 2 << 20);
	assert_int_equal(c->emu.nvme[0].ns[0].blocks, 1 << 21);
}

static void test_reproducer__its_words__taken(void **state)
{
	const struct cmdline *c = taken(state, "-display none -machine accel=qtest,type=q35 -m 512M -nodefaults -drive file=null-co://,if=none,"
		"format=raw,id=disk0 -device nvme,drive=disk0,serial=1 -S -no-shutdown -monitor none -serial none -cpu max -qtest stdio");

	assert_int_equal(c->qtest->kind, CHARDEV_STDIO);
	assert_int_equal(c->emu.board, EMU_BOARD_Q35);
	assert_int_equal(c->emu.ram_bytes, 512ULL << 20);
	assert_int_equal(c->emu.nvme[0].cfg.rid, 1 << 3);
}

/* Slots as QEMU gives them: seen with 'info pci'. */
static void test_slots__as_in_qemu__by_board_and_defaults(void **state)
{
	static const struct {
		const char *options;
		u32 slot;
	} cases[] = {
		{ "-M q35", 3 }, { "-M q35 -nodefaults", 1 }, { "-M pc", 4 }, { "-M pc -nodefaults", 2 }, { "-M q35 -vga none", 2 },
		{ "-M q35 -net none -vga none", 1 }, { "-M pc-q35-7.2 -nodefaults", 1 }, { "-M pc-i440fx-7.2 -nodefaults", 2 },
	};
	char line[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "%s " DRIVE "-device nvme,serial=a,drive=d -device nvme,serial=b,drive=d -qtest stdio",
			 cases[i].options);
		assert_int_equal(taken(state, line)->emu.nvme[0].cfg.rid, cases[i].slot << 3);
		assert_int_equal(((struct side *)*state)->c.emu.nvme[1].cfg.rid, (cases[i].slot + 1) << 3);
	}
}

static void test_properties__taken__in_the_configuration(void **state)
{
	const struct nvme_config *cfg = &taken(state, DRIVE "-device nvme,serial=a,drive=d,max_ioqpairs=3,msix_qsize=4,mdts=2,aerl=9,mqes=255,"
		"use-intel-id=yes,id=n,addr=0x1e.7,bus=pci.0 -qtest stdio")->emu.nvme[0].cfg;

	assert_int_equal(cfg->io_queues, 3);
	assert_int_equal(cfg->msix_vectors, 4);
	assert_int_equal(cfg->mdts, 2);
	assert_int_equal(cfg->aerl, 9);
	assert_int_equal(cfg->mqes, 255);
	assert_int_equal(cfg->vendor_id, 0x8086);
	assert_int_equal(cfg->rid, 0x1E << 3 | 7);
	assert_string_equal(cfg->serial, "a");
	cfg = &taken(state, DRIVE "-device nvme,serial=a,drive=d,model=QEMU,firmware-version=12345678 -qtest stdio")->emu.nvme[0].cfg;
	assert_string_equal(cfg->model, "QEMU");
	assert_string_equal(cfg->firmware, "12345678");
	assert_int_equal(taken(state, DRIVE "-device nvme,serial=a,drive=d,num_queues=5 -qtest stdio")->emu.nvme[0].cfg.io_queues, 4);
}

static void test_properties__the_model_has_not__named(void **state)
{
	static const char *const bad[][2] = {
		{ "pmrdev=p", "pmrdev" }, { "subsys=s", "subsys" }, { "sriov_max_vfs=4", "sriov_max_vfs" }, { "legacy-cmb=on", "legacy-cmb" },
		{ "legacy-cmb", "legacy-cmb" }, { "zoned.zasl=1", "zoned.zasl" }, { "dbcs=on", "dbcs" }, { "mdts=32", "mdts" },
		{ "cmb_size_mb=3", "cmb_size_mb" }, { "cmb_size_mb=2048", "cmb_size_mb" }, { "cmb_size_mb=x", "cmb_size_mb" },
		{ "max_ioqpairs=0", "max_ioqpairs" }, { "max_ioqpairs=512", "max_ioqpairs" }, { "num_queues=1", "num_queues" },
		{ "msix_qsize=513", "msix_qsize" }, { "mqes=0", "mqes" }, { "mqes=-1", "mqes" }, { "aerl=256", "aerl" },
		{ "logical_block_size=4096", "logical_block_size" }, { "addr=00.0", "addr" }, { "addr=20", "addr" }, { "addr=1.8", "addr" },
		{ "addr=", "addr" }, { "bus=rp0", "bus" }, { "drive=e", "drive" }, { "serial=123456789012345678901", "serial" },
		{ "use-intel-id=maybe", "use-intel-id" }, { "dance=1", "dance" }, { "atomic.awun=1", "atomic.awun" },
		{ "model=12345678901234567890123456789012345678901", "model" }, { "firmware-version=123456789", "firmware-version" },
	};
	char line[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), DRIVE "-device nvme,serial=a,drive=d,%s -qtest stdio", bad[i][0]);
		refused(state, line, bad[i][1]);
	}
	refused(state, DRIVE "-device nvme,drive=d -qtest stdio", "serial");
	refused(state, DRIVE "-device nvme,serial=a -qtest stdio", "drive");
}

static void test_iommu__properties__taken_or_named(void **state)
{
	static const char *const bad[] = {
		"caching-mode=on", "device-iotlb=on", "intremap=off", "aw-bits=57", "x-scalable-mode=on", "scalable-mode=modern", "x-pasid-mode=on",
		"snoop-control=on", "pt=off", "dma-translation=off", "eim=x", "dance",
	};
	char line[256], word[32];

	assert_true(taken(state, "-M q35 -device intel-iommu,intremap=on,aw-bits=48,eim=auto,caching-mode=off -qtest stdio")->emu.has_vtd);
	assert_false(taken(state, "-M q35 -device intel-iommu,eim=off -qtest stdio")->emu.vtd_x2apic);
	assert_false(taken(state, "-M q35 -qtest stdio")->emu.has_vtd);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "-M q35 -device intel-iommu,%s -qtest stdio", bad[i]);
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(bad[i], "="), bad[i]);
		refused(state, line, word);
	}
	refused(state, "-M pc -device intel-iommu -qtest stdio", "q35");
}

static void test_devices__unknown__named(void **state)
{
	refused(state, "-device virtio-blk-pci,drive=d -qtest stdio", "virtio-blk-pci");
	refused(state, "-device , -qtest stdio", "-device");
	refused(state, "-M none " DRIVE "-device nvme,serial=a,drive=d -qtest stdio", "none");
	refused(state, "-device nvme-ns,drive=d -qtest stdio", "nvme-ns");
	refused(state, DRIVE "-device nvme,serial=a,drive=d -device nvme-ns,drive=d,nsid=1 -qtest stdio", "nsid");
	refused(state, DRIVE "-device nvme,serial=a,drive=d -device nvme-ns,drive=d,nsid=65 -qtest stdio", "nsid");
	refused(state, DRIVE "-device nvme,serial=a,drive=d,id=x -device nvme-ns,drive=d,bus=y -qtest stdio", "bus");
}

static void test_json__device_and_blockdev__as_words(void **state)
{
	const struct cmdline *c = taken(state, "-blockdev {\"driver\":\"raw\",\"node-name\":\"d\",\"file\":{\"driver\":\"null-co\"},\"size\":1048576} "
		"-device {\"driver\":\"nvme\",\"serial\":\"s\",\"drive\":\"d\",\"cmb_size_mb\":4,\"use-intel-id\":true} -qtest stdio");

	assert_int_equal(c->emu.nvme[0].cfg.cmb_size_bytes, 4 << 20);
	assert_int_equal(c->emu.nvme[0].cfg.vendor_id, 0x8086);
	assert_int_equal(c->emu.nvme[0].ns[0].blocks, 2048);
	refused(state, "-device {\"driver\":\"nvme\" -qtest stdio", "cannot be read");
	refused(state, "-device {\"driver\":[1]} -qtest stdio", "cannot be read");
}

static void test_sizes__memory_and_drives__bounded(void **state)
{
	assert_int_equal(taken(state, "-m 1G -qtest stdio")->emu.ram_bytes, 1ULL << 30);
	assert_int_equal(taken(state, "-m size=2048,slots=2,maxmem=8G -qtest stdio")->emu.ram_bytes, 1ULL << 31);
	assert_int_equal(taken(state, "-smp 4,sockets=2 -qtest stdio")->emu.cpus, 4);
	refused(state, "-m 2T -qtest stdio", "-m");
	refused(state, "-m 0 -qtest stdio", "-m");
	refused(state, "-m 18446744073709551615G -qtest stdio", "-m");
	refused(state, "-smp 65 -qtest stdio", "-smp");
	refused(state, "-drive id=d,file=null-co://,size=9T -qtest stdio", "size");
	refused(state, "-drive id=d,file=/nowhere/x,format=raw -qtest stdio", "/nowhere/x");
	refused(state, "-drive id=d,file=/dev/null,format=raw -qtest stdio", "/dev/null");
	refused(state, "-drive id=d,file=/etc/passwd,format=qcow2 -qtest stdio", "qcow2");
}

static void test_endpoints__kinds__told_apart(void **state)
{
	const struct cmdline *c = taken(state, "-qtest unix:/tmp/a,server=on,wait=off -qmp unix:/tmp/b,server,nowait");

	assert_true(c->qtest->server && c->qmp[0]->server);
	c = taken(state, "-chardev socket,id=q,fd=5 -qtest chardev:q");
	assert_int_equal(c->qtest->kind, CHARDEV_FD);
	assert_int_equal(c->qtest->fd, 5);
	assert_int_equal(taken(state, "-qtest fd:7")->qtest->fd, 7);
	refused(state, "-qtest chardev:none", "none");
	refused(state, "-qtest tcp:localhost:1", "tcp");
	refused(state, "-chardev socket,id=q,host=h,port=1 -qtest stdio", "path=");
	refused(state, "-qtest stdio -qmp stdio", "stdio");
	refused(state, "-mon chardev=c,mode=control", "'c'");
	refused(state, "-M q35", "-qtest");
	refused(state, "-qtest", "-qtest");
	refused(state, "-dance 1 -qtest stdio", "-dance");
	refused(state, "disk.img -qtest stdio", "disk.img");
	refused(state, "-M virt -qtest stdio", "virt");
	refused(state, "-daemonize -qtest stdio", "daemonize");
	refused(state, DRIVE DRIVE "-qtest stdio", "two drives");
	refused(state, "-chardev null,id=a -chardev stdio,id=a -qtest stdio", "two chardevs");
}

static void test_long_and_many__words__refused(void **state)
{
	char *line = malloc(40000);

	memset(line, 'a', 39999);
	line[39999] = '\0';
	memcpy(line, "-device nvme,", 13);
	refused(state, line, "cannot be read");
	memcpy(line, "-qtest unix:/", 13);
	refused(state, line, "cannot be read");
	line[400] = '\0';
	refused(state, line, "path");
	line[400] = 'a';
	memcpy(line, "-device nvme,", 13);
	memcpy(line + 39980, " -qtest stdio      ", 19);
	refused(state, line, "cannot be read");
	line[0] = '\0';
	for (u32 i = 0; i < 41; i++)
		strcat(line, "-device nvme,serial=a ");
	strcat(line, "-qtest stdio");
	refused(state, line, "functions");
	line[0] = '\0';
	for (u32 i = 0; i < 5; i++)
		strcat(line, "-qmp null ");
	refused(state, line, "monitors");
	free(line);
}

/* Words of the command line in any order, whole and in pieces: taken or refused with a reason. */
static void test_random__words__taken_or_refused(void **state)
{
	static const char *const words[] = {
		"-device", "nvme", ",", "=", "serial", "drive", "d", "addr", "03.0", "-drive", "id=d", "file=null-co://", "size=1M", ",,", "{", "}", "\"driver\":",
		"\"nvme\"", "[1]", "-M", "q35", "-m", "1G", "-smp", "99999999999999999999", "-1", "0x", "cmb_size_mb=2", "nvme-ns", "nsid=2", "intel-iommu",
		"-qtest", "unix:/x", "stdio", "chardev:c", "-chardev", "socket,id=c", "fd=3", "-mon", "mode=control", "-qmp", "-blockdev", "node-name=d",
		"file.driver=null-co", "-S", "--", "-", "-nodefaults", " ", " ", " ", " ",
	};
	struct side *s = *state;
	u64 seed = 88172645463325252ULL;
	u32 good = 0;
	char line[512];

	for (u32 i = 0; i < 50000; i++) {
		line[0] = '\0';
		while (strlen(line) < 400) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			if (seed % 31 == 0)
				break;
			strcat(line, words[(seed >> 20) % (sizeof(words) / sizeof(words[0]))]);
			if (seed >> 40 & 1)
				strcat(line, " ");
		}
		free(s->kept);
		if (!rig_parse(&s->c, line, &s->kept))
			good++;
		else
			assert_true(strlen(s->c.why) > 0);
	}
	assert_true(good < 50000);
}

static void test_help__each_option_and_property__a_line(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_true(taken(state, "-M q35 --help")->help);
	cmdline_help(f);
	fclose(f);
	assert_non_null(strstr(text, "\noption\t-qtest\tVALUE\ttaken\n"));
	assert_non_null(strstr(text, "\noption\t-S\t-\tignored\n"));
	assert_non_null(strstr(text, "\nproperty\tnvme\tmax_ioqpairs\t1..511\n"));
	assert_non_null(strstr(text, "\nproperty\tnvme\tpmrdev\trefused\n"));
	assert_non_null(strstr(text, "\nproperty\tintel-iommu\tcaching-mode\tonly off\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_libqtest__its_words__taken, up, down),
		cmocka_unit_test_setup_teardown(test_reproducer__its_words__taken, up, down),
		cmocka_unit_test_setup_teardown(test_slots__as_in_qemu__by_board_and_defaults, up, down),
		cmocka_unit_test_setup_teardown(test_properties__taken__in_the_configuration, up, down),
		cmocka_unit_test_setup_teardown(test_properties__the_model_has_not__named, up, down),
		cmocka_unit_test_setup_teardown(test_iommu__properties__taken_or_named, up, down),
		cmocka_unit_test_setup_teardown(test_devices__unknown__named, up, down),
		cmocka_unit_test_setup_teardown(test_json__device_and_blockdev__as_words, up, down),
		cmocka_unit_test_setup_teardown(test_sizes__memory_and_drives__bounded, up, down),
		cmocka_unit_test_setup_teardown(test_endpoints__kinds__told_apart, up, down),
		cmocka_unit_test_setup_teardown(test_long_and_many__words__refused, up, down),
		cmocka_unit_test_setup_teardown(test_random__words__taken_or_refused, up, down),
		cmocka_unit_test_setup_teardown(test_help__each_option_and_property__a_line, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
