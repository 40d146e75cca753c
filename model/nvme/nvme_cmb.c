// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Controller memory buffer, Base 8.5. The host reaches it through BAR 2; commands name it
 * by controller addresses from CMBMSC.CBA on, and only while CMBMSC says so.
 */

u64 nvme_cmb_mmio_read(const struct nvme *n, u64 off, unsigned int len)
{
	u64 val = 0;

	if (len > 8 || off > n->cfg.cmb_size_bytes || n->cfg.cmb_size_bytes - off < len)
		return ~0ULL;
	__builtin_memcpy(&val, n->cmb + off, len);
	return val;
}

void nvme_cmb_mmio_write(struct nvme *n, u64 off, u64 val, unsigned int len)
{
	if (len > 8 || off > n->cfg.cmb_size_bytes || n->cfg.cmb_size_bytes - off < len)
		return;
	__builtin_memcpy(n->cmb + off, &val, len);
}

/*
 * Judged anew at each write from the register's present value, so the order in which
 * software writes its halves does not matter in the end.
 */
void nvme_cmb_update(struct nvme *n)
{
	u64 msc = n->reg[NVME_R_CMBMSC];
	u64 base = msc & NVME_CMBMSC_CBA;
	bool wanted = (msc & NVME_CMBMSC_CRE) && (msc & NVME_CMBMSC_CMSE) && n->cmb;
	bool wraps = !MODEL_CHECK(controller_cmb_base, base + (n->cfg.cmb_size_bytes - 1) >= base);

	n->cmb_active = wanted && !wraps;
	n->cmb_base = n->cmb_active ? base : 0;
	n->reg[NVME_R_CMBSTS] = wanted && wraps ? NVME_CMBSTS_CBAI : 0;
}

bool nvme_cmb_hit(const struct nvme *n, u64 addr, u64 len_bytes)
{
	if (!n->cmb_active)
		return false;
	return addr < n->cmb_base ? n->cmb_base - addr < len_bytes : addr - n->cmb_base < n->cfg.cmb_size_bytes;
}

bool nvme_cmb_covers(const struct nvme *n, u64 addr, u64 len_bytes)
{
	u64 off = addr - n->cmb_base;

	return n->cmb_active && addr >= n->cmb_base && off < n->cfg.cmb_size_bytes &&
	       n->cfg.cmb_size_bytes - off >= len_bytes;
}

u8 *nvme_cmb_data(struct nvme_cmd *cmd, u64 addr, u32 len_bytes, bool write)
{
	struct nvme *n = cmd->nvme;

	if (!nvme_cmb_covers(n, addr, len_bytes))
		return NULL;
	trace4(n->trace, TRACE_CMB, cmd->io_id, cmd->sqid, write, addr - n->cmb_base, len_bytes);
	return n->cmb + (addr - n->cmb_base);
}
