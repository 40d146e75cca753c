// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Get and Set Features, Base 5.15 and 5.27. No feature is saveable, all are changeable; their
 * values live until the next controller reset. Interrupt coalescing is stored and told, and
 * not acted upon: the feature is a recommendation (Base 5.27.1.6).
 */

#define TEMP_OVER_DEFAULT 0x0157	/* 343 K, as WCTEMP */
#define IRQ_CONFIG_VECTORS(n) ((n)->cfg.msix_vectors)
#define NQ_INVALID 0xFFFF
#define TMPSEL_COMPOSITE 0
#define TMPSEL_ALL 0xF

static u32 granted(const struct nvme *n)
{
	return (u32)(FIELD_PREP(NVME_FEAT_NQ_NSQ, n->granted_sqs - 1) |
		     FIELD_PREP(NVME_FEAT_NQ_NCQ, n->granted_cqs - 1));
}

void nvme_features_reset(struct nvme *n)
{
	n->feat = (struct nvme_features){ .temp_over = TEMP_OVER_DEFAULT, .volatile_wc = 1 };
	nvme_resv_reset(n);
	n->granted_sqs = n->cfg.io_queues;
	n->granted_cqs = n->cfg.io_queues;
}

static bool is_known(const struct nvme *n, u8 fid)
{
	if (fid == NVME_FEAT_HOST_ID)
		return n->cfg.oncs & NVME_ONCS_RESERVATIONS;
	return (fid >= NVME_FEAT_ARBITRATION && fid <= NVME_FEAT_POWER) ||
	       (fid >= NVME_FEAT_TEMPERATURE && fid <= NVME_FEAT_ASYNC_EVENT);
}

static bool is_ns_specific(u8 fid)
{
	return fid == NVME_FEAT_ERROR_RECOVERY;
}

/* The value's place, for features that are a number and nothing more. @nsid: of a namespace, where they are specific to one. */
static u32 *plain_value(struct nvme_features *f, u8 fid, u32 nsid)
{
	switch (fid) {
	case NVME_FEAT_ARBITRATION:
		return &f->arbitration;
	case NVME_FEAT_POWER:
		return &f->power;
	case NVME_FEAT_ERROR_RECOVERY:
		return &f->error_recovery[nsid - 1];
	case NVME_FEAT_VOLATILE_WC:
		return &f->volatile_wc;
	case NVME_FEAT_IRQ_COALESCE:
		return &f->irq_coalesce;
	case NVME_FEAT_WRITE_ATOMIC:
		return &f->write_atomic;
	case NVME_FEAT_ASYNC_EVENT:
		return &f->async_event;
	default:
		return NULL;
	}
}

/* Bits that mean something; the rest is reserved and reads 0. */
static u32 plain_mask(u8 fid)
{
	switch (fid) {
	case NVME_FEAT_ARBITRATION:
		return 0xFFFFFF07;
	case NVME_FEAT_ERROR_RECOVERY:
		return 0x0000FFFF;	/* DULBE needs NSFEAT bit 2 */
	case NVME_FEAT_VOLATILE_WC:
	case NVME_FEAT_WRITE_ATOMIC:
		return 1;
	case NVME_FEAT_IRQ_COALESCE:
		return 0x0000FFFF;
	default:
		return 0xFFFFFFFF;
	}
}

/* All namespaces at once can be set and not be got: they may differ (Base 5.15, Invalid Namespace or Format). */
static u16 check_nsid(const struct nvme *n, u8 fid, u32 nsid, bool set)
{
	if (is_ns_specific(fid) && nsid == NVME_NSID_ALL)
		return set ? NVME_SC_SUCCESS : NVME_SC_INVALID_NSID | NVME_DNR;
	if (is_ns_specific(fid))
		return nvme_nsid_check(n, nsid);
	if (!nsid || nsid == NVME_NSID_ALL)
		return NVME_SC_SUCCESS;
	return nsid <= n->cfg.nn ? NVME_SC_NOT_NS_SPECIFIC | NVME_DNR : NVME_SC_INVALID_NSID | NVME_DNR;
}

static u16 set_num_queues(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u32 nsq = (u32)FIELD_GET(NVME_FEAT_NQ_NSQ, cmd->sqe.cdw11);
	u32 ncq = (u32)FIELD_GET(NVME_FEAT_NQ_NCQ, cmd->sqe.cdw11);

	if (nsq == NQ_INVALID || ncq == NQ_INVALID)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (n->nr_io_sqs || n->nr_io_cqs)
		return NVME_SC_SEQUENCE | NVME_DNR;
	n->granted_sqs = (u32)nvme_min(nsq + 1, n->cfg.io_queues);
	n->granted_cqs = (u32)nvme_min(ncq + 1, n->cfg.io_queues);
	cmd->dw0 = granted(n);
	return NVME_SC_SUCCESS;
}

/* One sensor: the composite temperature. NULL for another. */
static u32 *threshold(struct nvme_features *f, u32 cdw11)
{
	u64 sel = FIELD_GET(NVME_FEAT_TEMP_SELECT, cdw11), under = FIELD_GET(NVME_FEAT_TEMP_UNDER, cdw11);

	if ((sel != TMPSEL_COMPOSITE && sel != TMPSEL_ALL) || under > 1)
		return NULL;
	return under ? &f->temp_under : &f->temp_over;
}

static u16 set_temperature(struct nvme *n, u32 cdw11)
{
	u32 *val = threshold(&n->feat, cdw11);

	if (!val)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	*val = cdw11 & 0xFFFF;
	return NVME_SC_SUCCESS;
}

static u16 set_irq_config(struct nvme *n, u32 cdw11)
{
	u32 vector = (u32)FIELD_GET(NVME_FEAT_IRQ_VECTOR, cdw11);
	u8 bit = (u8)(1u << (vector % 8));

	if (vector >= IRQ_CONFIG_VECTORS(n))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (cdw11 & NVME_FEAT_IRQ_CD)
		n->feat.irq_config_cd[vector / 8] |= bit;
	else
		n->feat.irq_config_cd[vector / 8] &= (u8)~bit;
	return NVME_SC_SUCCESS;
}

/* Base 5.27.1.25: 8 bytes of data; CTRATT bit 0 = 0, so no longer identifiers. */
static u16 host_id(struct nvme_cmd *cmd, bool set, u64 val)
{
	struct nvme *n = cmd->nvme;
	u16 status;

	if (cmd->sqe.cdw11 & NVME_FEAT_HOST_ID_EXTENDED)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	status = nvme_prp_map(cmd, sizeof(val), set ? NVME_FROM_HOST : NVME_TO_HOST);
	if (status)
		return status;
	if (!set)
		nvme_buf_to_host(cmd, &val);
	else if (!nvme_buf_from_host(cmd, &n->host_id))
		return NVME_SC_DATA_TRANSFER;
	return NVME_SC_SUCCESS;
}

static void set_plain(struct nvme *n, u8 fid, u32 nsid, u32 val)
{
	if (!is_ns_specific(fid) || nsid != NVME_NSID_ALL) {
		*plain_value(&n->feat, fid, nsid) = val;
		return;
	}
	for (u32 i = 1; i <= NVME_NAMESPACES_MAX; i++)
		*plain_value(&n->feat, fid, i) = val;
}

u16 nvme_admin_set_features(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	u8 fid = (u8)FIELD_GET(NVME_FEAT_FID, sqe->cdw10);
	u16 status;

	if (!is_known(n, fid))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (sqe->cdw10 & NVME_FEAT_SAVE)
		return NVME_SC_NOT_SAVEABLE | NVME_DNR;
	status = check_nsid(n, fid, sqe->nsid, true);
	if (status)
		return status;
	if (fid == NVME_FEAT_NUM_QUEUES)
		return set_num_queues(cmd);
	if (fid == NVME_FEAT_HOST_ID)
		return host_id(cmd, true, 0);
	if (fid == NVME_FEAT_TEMPERATURE)
		return set_temperature(n, sqe->cdw11);
	if (fid == NVME_FEAT_IRQ_CONFIG)
		return set_irq_config(n, sqe->cdw11);
	/* NPSS = 0: there is one power state. */
	if (fid == NVME_FEAT_POWER && (sqe->cdw11 & 0x1F))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	set_plain(n, fid, sqe->nsid, sqe->cdw11 & plain_mask(fid));
	return NVME_SC_SUCCESS;
}

static u16 get_value(const struct nvme *n, struct nvme_features *f, u8 fid, u32 nsid, u32 cdw11, u32 *val)
{
	u32 vector = (u32)FIELD_GET(NVME_FEAT_IRQ_VECTOR, cdw11);
	u32 *at;

	if (fid == NVME_FEAT_NUM_QUEUES) {
		*val = granted(n);
		return NVME_SC_SUCCESS;
	}
	if (fid == NVME_FEAT_IRQ_CONFIG) {
		if (vector >= IRQ_CONFIG_VECTORS(n))
			return NVME_SC_INVALID_FIELD | NVME_DNR;
		*val = vector | ((f->irq_config_cd[vector / 8] >> (vector % 8)) & 1 ? (u32)NVME_FEAT_IRQ_CD : 0);
		return NVME_SC_SUCCESS;
	}
	at = fid == NVME_FEAT_TEMPERATURE ? threshold(f, cdw11) : plain_value(f, fid, nsid);
	if (!at)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	*val = *at;
	return NVME_SC_SUCCESS;
}

u16 nvme_admin_get_features(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_sqe *sqe = &cmd->sqe;
	u8 fid = (u8)FIELD_GET(NVME_FEAT_FID, sqe->cdw10);
	u64 select = FIELD_GET(NVME_FEAT_SELECT, sqe->cdw10);
	struct nvme_features defaults = { .temp_over = TEMP_OVER_DEFAULT, .volatile_wc = 1 };
	u16 status;

	if (!is_known(n, fid) || select > NVME_FEAT_SELECT_CAPS)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	status = check_nsid(n, fid, sqe->nsid, false);
	if (status)
		return status;
	if (select == NVME_FEAT_SELECT_CAPS) {
		cmd->dw0 = NVME_FEAT_CAP_CHANGEABLE | (is_ns_specific(fid) ? NVME_FEAT_CAP_NS_SPECIFIC : 0);
		return NVME_SC_SUCCESS;
	}
	if (fid == NVME_FEAT_HOST_ID)
		return host_id(cmd, false, select == NVME_FEAT_SELECT_CURRENT ? n->host_id : 0);
	/* Base 5.15: where saving is not supported, the saved value is the default. */
	return get_value(n, select == NVME_FEAT_SELECT_CURRENT ? &n->feat : &defaults, fid, sqe->nsid, sqe->cdw11,
			 &cmd->dw0);
}
