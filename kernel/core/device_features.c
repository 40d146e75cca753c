// SPDX-License-Identifier: GPL-2.0
/* Set and Get Features (Base 5.27): values are the virtual controller's and change nothing in the physical one. */

#include "device.h"

#define FID(cdw10)		((cdw10) & 0xFFu)
#define TEMP_UNDER		12u	/* features[]: where the under-temperature threshold is kept */
#define TEMP_DEFAULT		343u
#define TEMP_VALUE		0xFFFFu
#define TEMP_SENSOR		0xF0000u
#define TEMP_TYPE		0x300000u
#define TEMP_TYPE_UNDER		0x100000u
#define IRQ_VECTOR		0xFFFFu
#define IRQ_NO_COALESCE		0x10000u
#define ASYNC_SMART		0xFFu	/* OAES is 0: no notices */

_Static_assert(LIOV_VECTORS_MAX <= 32, "a bit a vector in one word");

void liov_device_features_reset(struct liov_vm *vm)
{
	u32 *f = vm->dev.features;

	memset(f, 0, sizeof(vm->dev.features));
	f[NVME_FEAT_TEMPERATURE] = TEMP_DEFAULT;
	f[NVME_FEAT_VOLATILE_WC] = 1;
}

static u32 granted_queues(const struct liov_vm *vm)
{
	u32 n = vm->cfg.nr_queues - 1;

	return n << 16 | n;
}

/* Base 5.27.1.5: only before the first I/O queue. What is asked for matters not: the grant is what was reserved. */
static u16 set_queues(struct liov_vm *vm, u32 val, u32 *dw0)
{
	if (!LIOV_CHECK(device_feature_value, (val & 0xFFFF) != 0xFFFF && val >> 16 != 0xFFFF))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (!LIOV_CHECK(device_queues_sequence, !vm->dev.nq_set))
		return NVME_SC_SEQUENCE | NVME_DNR;
	*dw0 = LIOV_STEP(device_queues_granted) ? granted_queues(vm) : val;
	return 0;
}

/* Sensor 0 is the composite one, and 15 sets all: there is but one. */
static u16 temperature(struct liov_vm *vm, u32 val, u32 **threshold)
{
	u32 sensor = val & TEMP_SENSOR, type = val & TEMP_TYPE;

	if ((sensor && sensor != TEMP_SENSOR) || type > TEMP_TYPE_UNDER)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	*threshold = &vm->dev.features[type ? TEMP_UNDER : NVME_FEAT_TEMPERATURE];
	return 0;
}

static u16 set_irq(struct liov_vm *vm, u32 val)
{
	u32 vector = val & IRQ_VECTOR;
	u32 *bits = &vm->dev.features[NVME_FEAT_IRQ_CONFIG];

	if (!LIOV_CHECK(device_feature_vector, vector < liov_device_vectors(vm)))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	*bits = (*bits & ~(1u << vector)) | (val & IRQ_NO_COALESCE ? 1u << vector : 0);
	return 0;
}

static u16 set_value(struct liov_vm *vm, u32 fid, u32 val, u32 *dw0)
{
	u32 *f = vm->dev.features, *threshold;
	u16 status;

	switch (fid) {
	case NVME_FEAT_NUM_QUEUES:
		return set_queues(vm, val, dw0);
	case NVME_FEAT_TEMPERATURE:
		status = temperature(vm, val, &threshold);
		if (!status)
			*threshold = val & TEMP_VALUE;
		return status;
	case NVME_FEAT_IRQ_CONFIG:
		return set_irq(vm, val);
	case NVME_FEAT_POWER:
		/* NPSS 0: one state */
		return LIOV_CHECK(device_feature_value, !(val & 0x1F)) ? 0 : NVME_SC_INVALID_FIELD | NVME_DNR;
	case NVME_FEAT_VOLATILE_WC:
		/* Shared with neighbours. */
		return LIOV_CHECK(device_feature_cache, val & 1) ? 0 : NVME_SC_NOT_CHANGEABLE | NVME_DNR;
	case NVME_FEAT_ERROR_RECOVERY:
		if (val & 0x10000)						/* DULBE: NSFEAT has it not */
			return NVME_SC_INVALID_FIELD | NVME_DNR;
		f[fid] = val & 0xFFFF;
		return 0;
	case NVME_FEAT_ASYNC_EVENT:
		f[fid] = val & ASYNC_SMART;
		return 0;
	case NVME_FEAT_ARBITRATION:
	case NVME_FEAT_IRQ_COALESCE:
	case NVME_FEAT_WRITE_ATOMIC:
		f[fid] = val;
		return 0;
	default:
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	}
}

/* Error recovery belongs to a namespace; all else to the controller, for which NSID is 0 or all. */
static u16 check_nsid(u32 fid, u32 nsid)
{
	if (LIOV_CHECK(device_feature_nsid,
		       nsid == 0 || nsid == 0xFFFFFFFF || (fid == NVME_FEAT_ERROR_RECOVERY && nsid == 1)))
		return 0;
	return (nsid == 1 ? NVME_SC_NOT_NS_SPECIFIC : NVME_SC_INVALID_NSID) | NVME_DNR;
}

u16 liov_device_set_features(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 *dw0)
{
	u32 fid = FID(sqe->cdw10);
	u16 status;

	if (!LIOV_CHECK(device_feature_id, fid >= NVME_FEAT_ARBITRATION && fid <= NVME_FEAT_ASYNC_EVENT))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (!LIOV_CHECK(device_feature_save, !(sqe->cdw10 & NVME_FEAT_SAVE)))
		return NVME_SC_NOT_SAVEABLE | NVME_DNR;
	status = check_nsid(fid, sqe->nsid);
	return status ? status : set_value(vm, fid, sqe->cdw11, dw0);
}

u16 liov_device_get_features(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 *dw0)
{
	u32 fid = FID(sqe->cdw10), vector = sqe->cdw11 & IRQ_VECTOR, *threshold;
	u16 status = check_nsid(fid, sqe->nsid);

	/* ONCS bit 4 is 0: there is only the current value. */
	if (FIELD_GET(NVME_FEAT_SELECT, sqe->cdw10))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	switch (fid) {
	case NVME_FEAT_NUM_QUEUES:
		*dw0 = granted_queues(vm);
		return status;
	case NVME_FEAT_TEMPERATURE:
		if (!status)
			status = temperature(vm, sqe->cdw11, &threshold);
		if (!status)
			*dw0 = *threshold;
		return status;
	case NVME_FEAT_IRQ_CONFIG:
		if (vector >= liov_device_vectors(vm))
			return NVME_SC_INVALID_FIELD | NVME_DNR;
		*dw0 = vector | (vm->dev.features[fid] >> vector & 1 ? IRQ_NO_COALESCE : 0);
		return status;
	case NVME_FEAT_ARBITRATION:
	case NVME_FEAT_POWER:
	case NVME_FEAT_ERROR_RECOVERY:
	case NVME_FEAT_VOLATILE_WC:
	case NVME_FEAT_IRQ_COALESCE:
	case NVME_FEAT_WRITE_ATOMIC:
	case NVME_FEAT_ASYNC_EVENT:
		*dw0 = vm->dev.features[fid];
		return status;
	default:
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	}
}
