// SPDX-License-Identifier: GPL-2.0
/*
 * An extent is overwritten before a VM gets it, and only then: what a destroyed VM left is
 * wiped once, when there is a next owner. Deallocation is no overwriting (REM-02), so Write
 * Zeroes is sent without DEAC, or else zeros are written. What is then read back is a sample:
 * first and last page's worth of blocks and 14 between them, evenly spread. It catches a
 * controller that ignored a command; not one that forgot single blocks.
 */

#include "internal.h"

#define WIPE_SAMPLES_LOG2 4

static int wipe_verify(const struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	const struct liov_range *lba = &vm->lba;
	u64 base = liov_vm_lba_base(vm);
	u64 page_blocks = SPEC_PAGE_SIZE >> be->info.lba_shift;
	u64 last = lba->count > page_blocks ? lba->count - page_blocks : 0;
	u64 step = last >> WIPE_SAMPLES_LOG2;
	int err = 0;

	for (u32 i = 0; i < 1u << WIPE_SAMPLES_LOG2 && !err; i++) {
		u64 at = i + 1 < 1u << WIPE_SAMPLES_LOG2 ? i * step : last;
		bool zero;

		err = liov_hostio_check_zero(be->hostq, vm->nsid, base + at, lba->count - at, &zero);
		if (!err && !LIOV_CHECK(backend_wipe_verify, zero))
			err = -EIO;
	}
	return err;
}

int liov_wipe(const struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	const struct liov_range *lba = &vm->lba;
	u64 base = liov_vm_lba_base(vm);
	int err = NVME_SC_INVALID_OPCODE;

	if (be->info.oncs & NVME_ONCS_WRITE_ZEROES)
		err = liov_hostio_zero(be->hostq, NVME_CMD_WRITE_ZEROES, vm->nsid, base, lba->count);
	if (err > 0)
		err = liov_hostio_zero(be->hostq, NVME_CMD_WRITE, vm->nsid, base, lba->count);
	if (!err)
		err = wipe_verify(vm);
	if (err)
		return err < 0 ? err : -EIO;
	liov_guard(be, LIOV_BACKEND, vm->cfg.id, LIOV_GUARD_LBA_WIPED, lba->start, lba->count);
	return 0;
}
