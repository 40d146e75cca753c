// SPDX-License-Identifier: GPL-2.0
/*
 * Identify (Base 5.17, NVM 4.1.5), built for the VM. Of the physical controller only limits
 * show through: optional commands, transfer size, block size. No name, serial number or
 * neighbour does.
 */

#include "device.h"

#define NSID		1u
#define MEDIATED_MDTS	9u		/* 2 MiB: one PRP list page of the mediator's holds it */

/* Not in the constants of the specification's header. */
#define ID_CTRL_WCTEMP	266
#define ID_CTRL_CCTEMP	268
#define KELVIN_WARNING	343u
#define KELVIN_CRITICAL	353u
#define NIDT_NGUID	2u		/* NVM 4.1.5.3: type, then length */
#define NGUID_SIZE	16u

#define VWC_PRESENT	1u
#define VWC_NO_FLUSH_ALL (2u << 1)
#define VWC_FLUSH_ALL	(3u << 1)

u16 liov_device_oncs(const struct liov_vm *vm)
{
	return vm->be->info.oncs & (u16)(NVME_ONCS_COMPARE | NVME_ONCS_DSM | NVME_ONCS_WRITE_ZEROES | NVME_ONCS_COPY);
}

u32 liov_device_mdts(const struct liov_vm *vm)
{
	u32 bytes = vm->be->info.mdts_bytes, mdts = 0;

	while (mdts < 19 && SPEC_PAGE_SIZE << (mdts + 1) <= bytes)
		mdts++;
	if (liov_device_mediated(vm) && (mdts == 0 || mdts > MEDIATED_MDTS))
		mdts = MEDIATED_MDTS;
	return mdts;
}

static void put_text(u8 *to, u32 len, const char *text)
{
	u32 i;

	for (i = 0; i < len && text[i]; i++)
		to[i] = (u8)text[i];
}

/* ASCII fields are padded with spaces (Base 1.4). */
static void put_padded(u8 *to, u32 len, const char *text)
{
	memset(to, ' ', len);
	put_text(to, len, text);
}

static void put_hex(u8 *to, u32 val)
{
	u32 i;

	for (i = 0; i < 8; i++)
		to[i] = (u8)"0123456789ABCDEF"[val >> (28 - 4 * i) & 0xF];
}

static void build_names(struct liov_vm *vm)
{
	u8 *d = vm->dev.data;

	if (!LIOV_STEP(device_identify_own))
		return;
	put_padded(d + NVME_ID_CTRL_SN, 20, "LIOV");
	put_hex(d + NVME_ID_CTRL_SN + 4, vm->cfg.id);
	put_padded(d + NVME_ID_CTRL_MN, 40, "LightIOV virtual NVMe");
	put_padded(d + NVME_ID_CTRL_FR, 8, "1.0");
	put_text(d + NVME_ID_CTRL_SUBNQN, 256, "nqn.2023-04.io.lightiov:vm-");
	put_hex(d + NVME_ID_CTRL_SUBNQN + 27, vm->cfg.id);
}
_Static_assert(sizeof("nqn.2023-04.io.lightiov:vm-") == 27 + 1, "the number follows the name");

static void build_controller(struct liov_vm *vm)
{
	u8 *d = vm->dev.data;

	build_names(vm);
	liov_device_put16(d, NVME_ID_CTRL_VID, LIOV_PCI_VENDOR);
	liov_device_put16(d, NVME_ID_CTRL_SSVID, LIOV_PCI_VENDOR);
	d[NVME_ID_CTRL_MDTS] = (u8)liov_device_mdts(vm);
	liov_device_put16(d, NVME_ID_CTRL_CNTLID, 1);
	liov_device_put32(d, NVME_ID_CTRL_VER, NVME_VS_1_4);
	d[NVME_ID_CTRL_CNTRLTYPE] = 1;		/* I/O controller */
	d[NVME_ID_CTRL_ACL] = DEVICE_ACL;
	d[NVME_ID_CTRL_AERL] = LIOV_AERL;
	d[NVME_ID_CTRL_FRMW] = 1 << 1 | 1;	/* one slot, read-only */
	d[NVME_ID_CTRL_LPA] = 1 << 1 | 1 << 2;	/* effects; offsets and long lengths */
	liov_device_put16(d, ID_CTRL_WCTEMP, KELVIN_WARNING);
	liov_device_put16(d, ID_CTRL_CCTEMP, KELVIN_CRITICAL);
	d[NVME_ID_CTRL_SQES] = NVME_CC_IOSQES_64 << 4 | NVME_CC_IOSQES_64;
	d[NVME_ID_CTRL_CQES] = NVME_CC_IOCQES_16 << 4 | NVME_CC_IOCQES_16;
	liov_device_put32(d, NVME_ID_CTRL_NN, NSID);
	liov_device_put16(d, NVME_ID_CTRL_ONCS, liov_device_oncs(vm));
	/* The physical cache may be volatile: saying so costs a guest a Flush, denying it costs data. */
	d[NVME_ID_CTRL_VWC] = (u8)(VWC_PRESENT | (liov_device_mediated(vm) ? VWC_FLUSH_ALL : VWC_NO_FLUSH_ALL));
}

/* Vendor-chosen, by VM: no registered identifier is claimed. */
static void put_nguid(const struct liov_vm *vm, u8 *to)
{
	put_text(to, 4, "LIOV");
	to[NGUID_SIZE - 4] = (u8)(vm->cfg.id >> 24);
	to[NGUID_SIZE - 3] = (u8)(vm->cfg.id >> 16);
	to[NGUID_SIZE - 2] = (u8)(vm->cfg.id >> 8);
	to[NGUID_SIZE - 1] = (u8)vm->cfg.id;
}

static void build_namespace(struct liov_vm *vm)
{
	u8 *d = vm->dev.data;

	liov_device_put64(d, NVME_ID_NS_NSZE, vm->lba.count);
	liov_device_put64(d, NVME_ID_NS_NCAP, vm->lba.count);
	liov_device_put64(d, NVME_ID_NS_NUSE, vm->lba.count);
	if (liov_device_oncs(vm) & NVME_ONCS_COPY) {
		liov_device_put16(d, NVME_ID_NS_MSSRL, vm->be->info.copy.range_blocks);
		liov_device_put32(d, NVME_ID_NS_MCL, vm->be->info.copy.blocks);
		d[NVME_ID_NS_MSRC] = (u8)(vm->be->info.copy.ranges - 1);
	}
	put_nguid(vm, d + NVME_ID_NS_NGUID);
	liov_device_put32(d, NVME_ID_NS_LBAF0, vm->be->info.lba_shift << 16);
}

static u16 build(struct liov_vm *vm, u32 cns, u32 nsid)
{
	u8 *d = vm->dev.data;

	switch (cns) {
	case NVME_CNS_CTRL:
		if (!LIOV_CHECK(device_identify_nsid, !nsid))
			return NVME_SC_INVALID_FIELD;
		build_controller(vm);
		return 0;
	case NVME_CNS_NS:
		if (!LIOV_CHECK(device_identify_nsid, nsid == NSID))
			return NVME_SC_INVALID_NSID;
		build_namespace(vm);
		return 0;
	case NVME_CNS_NS_LIST:
		if (!LIOV_CHECK(device_identify_nsid, nsid < 0xFFFFFFFE))
			return NVME_SC_INVALID_NSID;
		if (nsid < NSID)
			liov_device_put32(d, 0, NSID);
		return 0;
	case NVME_CNS_NS_DESC:
		if (!LIOV_CHECK(device_identify_nsid, nsid == NSID))
			return NVME_SC_INVALID_NSID;
		d[0] = NIDT_NGUID;
		d[1] = NGUID_SIZE;
		put_nguid(vm, d + 4);
		return 0;
	default:
		return LIOV_CHECK(device_identify_cns, false) ? 0 : NVME_SC_INVALID_FIELD;
	}
}

u16 liov_device_identify(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	u16 status;

	liov_device_reply_clear(vm);
	status = build(vm, sqe->cdw10 & 0xFF, sqe->nsid);
	if (status)
		return status | NVME_DNR;
	return liov_device_reply(vm, sqe, NVME_ID_SIZE, NVME_ID_SIZE);
}
