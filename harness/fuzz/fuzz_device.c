// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual device as its guest reaches it: configuration space, registers, MSI-X table,
 * admin queue. What it answers stays within its width, its fixed fields do not change, and
 * after all of it a guest that begins anew has a working admin queue.
 */

#include "fuzz.h"
#include "core_device_rig.h"

static u64 address(struct fuzz_in *in)
{
	u8 kind = fuzz_u8(in);

	switch (kind % 4) {
	case 0:
		return fuzz_u64(in);
	case 1:
		return rig_slot(1 + fuzz_pick(in, NR_QUEUES + 1)) + (kind & 0x80 ? 0x10000 : 0);
	default:
		return RAM_BASE + ((u64)fuzz_u16(in) << 6) % (RAM_SIZE + 0x1000);
	}
}

static void admin(struct fuzz_in *in)
{
	struct nvme_sqe sqe = { .opcode = fuzz_u8(in), .cid = fuzz_u8(in) };
	u8 how = fuzz_u8(in);

	sqe.nsid = how & 1 ? fuzz_u32(in) : 1;
	sqe.prp1 = address(in);
	sqe.prp2 = address(in);
	sqe.cdw10 = how & 2 ? fuzz_u32(in) : fuzz_pick(in, 8) | (u32)fuzz_u8(in) << 16;
	sqe.cdw11 = how & 4 ? fuzz_u32(in) : fuzz_pick(in, 4) | (u32)fuzz_pick(in, 8) << 16;
	if (how & 8)
		sqe.flags = fuzz_u8(in);
	if (how & 16) {
		sqe.cdw12 = fuzz_u32(in);
		sqe.cdw13 = fuzz_u32(in);
		sqe.cdw14 = fuzz_u32(in);
	}
	rig_admin_put(&sqe);
	if (!(how & 32))
		rig_admin_ring();
}

/* What an access of @len bytes cannot give, but for one that is malformed: that reads as all ones. */
static void expect_width(u64 val, u32 at, u32 len)
{
	if (len < 8 && at % len == 0)
		fuzz_expect(val >> 8 * len == 0, "a read has its width");
}

static void action(struct fuzz_in *in)
{
	u32 len = 1u << fuzz_pick(in, 4), at;

	switch (fuzz_pick(in, 10)) {
	case 0:
	case 1:
		admin(in);
		break;
	case 2:
		at = fuzz_pick(in, 0x1000);
		liov_device_cfg_wr(&rig->vm, at, fuzz_u32(in), len > 4 ? 4 : len);
		break;
	case 3:
		at = fuzz_pick(in, 0x1000);
		len = len > 4 ? 4 : len;
		expect_width(liov_device_cfg_rd(&rig->vm, at, len), at, len);
		break;
	case 4:
		at = LIOV_BAR0_MSIX_TABLE + fuzz_pick(in, 256);
		liov_device_wr(&rig->vm, at, fuzz_u64(in), len);
		break;
	case 5:
		at = fuzz_pick(in, 0x60);
		liov_device_wr(&rig->vm, at, fuzz_u64(in), len);
		break;
	case 6:
		at = fuzz_pick(in, LIOV_BAR0_SIZE + 16);
		liov_device_wr(&rig->vm, at, fuzz_u64(in), fuzz_pick(in, 10));
		break;
	case 7:
		at = fuzz_pick(in, LIOV_BAR0_SIZE + 16);
		expect_width(liov_device_rd(&rig->vm, at, len), at, len);
		break;
	case 8:
		at = fuzz_pick(in, 0x2000);
		fuzz_bytes(in, rig->ram + at, 16);
		break;
	default:
		wr32(0x1000 + 4 * fuzz_pick(in, 2 * NR_QUEUES + 6), fuzz_u16(in));
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = fuzz_open(data, size);
	u32 id;

	rig_setup(fuzz_u8(&in) & 1 ? LIOV_POLICY_NRD : LIOV_POLICY_PAPER);
	id = liov_device_cfg_rd(&rig->vm, 0, 4);
	if (fuzz_u8(&in) & 1)
		rig_enable();
	while (fuzz_more(&in))
		action(&in);
	fuzz_expect(liov_device_cfg_rd(&rig->vm, 0, 4) == id, "vendor and device stay");
	wr32(NVME_REG_CC, 0);
	rig_cfg_wr(PCIS_COMMAND, 0, 2);
	rig_cfg_wr(PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER, 2);
	rig_cfg_wr(rig_find_cap(PCIS_CAP_ID_MSIX) + PCIS_MSIX_CONTROL, 0, 2);
	rig_enable();
	fuzz_expect((rig_admin((struct nvme_sqe){ .opcode = 0x7E }, NULL) & 0x7FF) == NVME_SC_INVALID_OPCODE, "a guest that begins anew has an admin queue");
	rig_teardown();
	return 0;
}
