// SPDX-License-Identifier: GPL-2.0
/* Get Log Page (Base 5.16): the VM's own logs; there is nothing in them that a neighbour did. */

#include "device.h"

#define LOG_ERROR_SIZE		64u	/* ELPE 0: one entry */
#define LOG_SMART_SIZE		512u
#define LOG_FIRMWARE_SIZE	512u
#define LOG_CHANGED_NS_SIZE	4096u
#define LOG_EFFECTS_SIZE	4096u
#define LOG_RAE			0x8000u

#define SMART_TEMPERATURE	1u
#define SMART_SPARE		3u
#define SMART_SPARE_THRESHOLD	4u
#define KELVIN_NORMAL		300u

#define EFFECT_SUPPORTED	1u
#define EFFECT_CONTENT		2u	/* logical block content change */
#define EFFECTS_IO		1024u	/* I/O commands follow 256 admin ones */

static void build_effects(struct liov_vm *vm)
{
	static const u8 admin[] = {
		NVME_ADM_DELETE_SQ, NVME_ADM_CREATE_SQ, NVME_ADM_GET_LOG_PAGE, NVME_ADM_DELETE_CQ, NVME_ADM_CREATE_CQ,
		NVME_ADM_IDENTIFY, NVME_ADM_ABORT, NVME_ADM_SET_FEATURES, NVME_ADM_GET_FEATURES, NVME_ADM_AER,
		LIOV_ADM_MEM_REGISTER, LIOV_ADM_MEM_UNREGISTER,
	};
	u8 *d = vm->dev.data;
	u16 oncs = liov_device_oncs(vm);
	u32 i;

	for (i = 0; i < sizeof(admin); i++)
		d[4 * admin[i]] = EFFECT_SUPPORTED;
	d[EFFECTS_IO + 4 * NVME_CMD_FLUSH] = EFFECT_SUPPORTED;
	d[EFFECTS_IO + 4 * NVME_CMD_READ] = EFFECT_SUPPORTED;
	d[EFFECTS_IO + 4 * NVME_CMD_WRITE] = EFFECT_SUPPORTED | EFFECT_CONTENT;
	if (oncs & NVME_ONCS_COMPARE)
		d[EFFECTS_IO + 4 * NVME_CMD_COMPARE] = EFFECT_SUPPORTED;
	if (oncs & NVME_ONCS_WRITE_ZEROES)
		d[EFFECTS_IO + 4 * NVME_CMD_WRITE_ZEROES] = EFFECT_SUPPORTED | EFFECT_CONTENT;
	if (oncs & NVME_ONCS_DSM)
		d[EFFECTS_IO + 4 * NVME_CMD_DSM] = EFFECT_SUPPORTED | EFFECT_CONTENT;
	if (oncs & NVME_ONCS_COPY)
		d[EFFECTS_IO + 4 * NVME_CMD_COPY] = EFFECT_SUPPORTED | EFFECT_CONTENT;
}

/* Into dev.data, zeroed before. Returns its size, 0: not offered. */
static u32 build(struct liov_vm *vm, u32 lid)
{
	u8 *d = vm->dev.data;

	switch (lid) {
	case NVME_LOG_ERROR:
		return LOG_ERROR_SIZE;
	case NVME_LOG_SMART:
		liov_device_put16(d, SMART_TEMPERATURE, KELVIN_NORMAL);
		d[SMART_SPARE] = 100;
		d[SMART_SPARE_THRESHOLD] = 10;
		return LOG_SMART_SIZE;
	case NVME_LOG_FIRMWARE:
		d[0] = 1;		/* slot 1 is active */
		memcpy(d + 8, "1.0     ", 8);
		return LOG_FIRMWARE_SIZE;
	case NVME_LOG_CHANGED_NS:
		return LOG_CHANGED_NS_SIZE;
	case NVME_LOG_EFFECTS:
		build_effects(vm);
		return LOG_EFFECTS_SIZE;
	default:
		return 0;
	}
}

u16 liov_device_get_log(struct liov_vm *vm, const struct nvme_sqe *sqe)
{
	u64 offset = sqe->cdw12 | (u64)sqe->cdw13 << 32;
	u64 asked = ((u64)(sqe->cdw10 >> 16 | sqe->cdw11 << 16) + 1) * 4;
	u32 lid = sqe->cdw10 & 0xFF, size, len;
	u16 status;

	liov_device_reply_clear(vm);
	size = build(vm, lid);
	if (!LIOV_CHECK(device_log_id, size != 0))
		return NVME_SC_LOG_PAGE_INVALID | NVME_DNR;
	if (!LIOV_CHECK(device_log_nsid, !sqe->nsid || sqe->nsid == 0xFFFFFFFF))
		return NVME_SC_INVALID_FIELD | NVME_DNR;	/* LPA bit 0: logs are of the controller */
	if (!LIOV_CHECK(device_log_offset, offset < size && !(offset & 3)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	len = size - (u32)offset;
	if (asked < len)
		len = (u32)asked;
	if (offset) {
		u32 i;

		for (i = 0; i < len; i++)
			vm->dev.data[i] = vm->dev.data[offset + i];
	}
	status = liov_device_reply(vm, sqe, len, asked);
	if (!status && !(sqe->cdw10 & LOG_RAE))
		liov_device_events_unmask(vm, lid);
	return status;
}
