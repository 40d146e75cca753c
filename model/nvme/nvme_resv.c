// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Reservations, Base 7.2 to 7.5 (1.4: 6.10 to 6.13) and 8.19. A registrant is a host, told
 * by its Host Identifier and by nothing else: all queues of a controller are the same host,
 * and so are all VMs behind them. Other hosts exist here as identifiers that this controller
 * had before. Nothing persists through power loss, and nobody is notified.
 */

#define ACTION(cdw10) ((cdw10) & 7)
#define IEKEY BIT_ULL(3)
#define RTYPE(cdw10) ((cdw10) >> 8 & 0xFF)
#define CPTPL(cdw10) ((cdw10) >> 30)
#define CPTPL_SET 3

enum { REGISTER, UNREGISTER, REPLACE };
enum { ACQUIRE, PREEMPT, PREEMPT_AND_ABORT };
enum { RELEASE, CLEAR };

#define NOBODY 0xFF
#define STATUS_HEADER 24
#define STATUS_REGISTRANT 24
#define HOLDS 1

static struct nvme_resv *resv_of(const struct nvme_cmd *cmd)
{
	return &cmd->nvme->resv[cmd->ns - cmd->nvme->cfg.ns];
}

static bool is_all_registrants(u8 type)
{
	return type == NVME_RTYPE_WE_ALL || type == NVME_RTYPE_EA_ALL;
}

static u32 find(const struct nvme_resv *rv, u64 host)
{
	u32 i;

	for (i = 0; i < rv->nr; i++)
		if (rv->registrant[i].host == host)
			return i;
	return NOBODY;
}

static bool holds(const struct nvme_resv *rv, u32 i)
{
	return rv->type && i != NOBODY && (is_all_registrants(rv->type) || rv->holder == i);
}

/* The last slot moves into the gap. A reservation goes with its holder; one of all registrants with the last. */
static void drop(struct nvme_resv *rv, u32 i)
{
	u32 last = rv->nr - 1u;

	if (holds(rv, i) && (!is_all_registrants(rv->type) || !last))
		rv->type = NVME_RTYPE_NONE;
	if (rv->holder == last)
		rv->holder = (u8)i;
	rv->registrant[i] = rv->registrant[last];
	rv->nr--;
}

/* Base 8.19: registrations of a host without an identifier do not outlive the controller's reset. */
void nvme_resv_reset(struct nvme *n)
{
	n->host_id = 0;
	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++) {
		u32 r = find(&n->resv[i], 0);

		if (r != NOBODY)
			drop(&n->resv[i], r);
	}
}

u16 nvme_resv_check(const struct nvme_cmd *cmd, bool writes)
{
	const struct nvme_resv *rv;
	u32 me;

	if (!cmd->ns)
		return NVME_SC_SUCCESS;
	rv = resv_of(cmd);
	me = find(rv, cmd->nvme->host_id);
	switch (rv->type) {
	case NVME_RTYPE_NONE:
		return NVME_SC_SUCCESS;
	case NVME_RTYPE_WE:
		return !writes || holds(rv, me) ? NVME_SC_SUCCESS : NVME_SC_RESERVATION;
	case NVME_RTYPE_EA:
		return holds(rv, me) ? NVME_SC_SUCCESS : NVME_SC_RESERVATION;
	case NVME_RTYPE_WE_REG:
	case NVME_RTYPE_WE_ALL:
		return !writes || me != NOBODY ? NVME_SC_SUCCESS : NVME_SC_RESERVATION;
	default:
		return me != NOBODY ? NVME_SC_SUCCESS : NVME_SC_RESERVATION;
	}
}

static u16 do_register(struct nvme_cmd *cmd, u64 crkey, u64 nrkey)
{
	struct nvme_resv *rv = resv_of(cmd);
	u32 cdw10 = cmd->sqe.cdw10, me = find(rv, cmd->nvme->host_id);

	/* RESCAP bit 0 = 0. */
	if (ACTION(cdw10) > REPLACE || CPTPL(cdw10) == CPTPL_SET)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (ACTION(cdw10) == REGISTER) {
		if (me != NOBODY)
			return rv->registrant[me].key == nrkey ? NVME_SC_SUCCESS : NVME_SC_RESERVATION;
		if (rv->nr == NVME_REGISTRANTS_MAX)
			return NVME_SC_INTERNAL;
		rv->registrant[rv->nr].host = cmd->nvme->host_id;
		rv->registrant[rv->nr++].key = nrkey;
	} else {
		if (me == NOBODY || (!(cdw10 & IEKEY) && rv->registrant[me].key != crkey))
			return NVME_SC_RESERVATION;
		if (ACTION(cdw10) == UNREGISTER)
			drop(rv, me);
		else
			rv->registrant[me].key = nrkey;
	}
	rv->gen++;
	return NVME_SC_SUCCESS;
}

/* All registrants with this key go, but not the host that asks. Was there any? */
static bool drop_key(struct nvme_resv *rv, u64 key, u64 but)
{
	bool any = false;

	for (u32 i = rv->nr; i-- > 0;) {
		if (rv->registrant[i].key != key || rv->registrant[i].host == but)
			continue;
		drop(rv, i);
		any = true;
	}
	return any;
}

static void take(struct nvme_resv *rv, u64 host, u8 type)
{
	rv->type = type;
	rv->holder = (u8)find(rv, host);
}

/* Base 8.19.7 */
static u16 preempt(struct nvme_resv *rv, u64 host, u64 prkey, u8 type)
{
	bool all = is_all_registrants(rv->type);

	if (rv->type && (all ? !prkey : prkey == rv->registrant[rv->holder].key || rv->registrant[rv->holder].host == host)) {
		for (u32 i = rv->nr; i-- > 0;)
			if (rv->registrant[i].host != host && (all || rv->registrant[i].key == prkey))
				drop(rv, i);
		take(rv, host, type);
	} else if (!prkey) {
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	} else if (!drop_key(rv, prkey, host)) {
		return NVME_SC_RESERVATION;
	}
	rv->gen++;
	return NVME_SC_SUCCESS;
}

static u16 do_acquire(struct nvme_cmd *cmd, u64 crkey, u64 prkey)
{
	struct nvme_resv *rv = resv_of(cmd);
	u32 cdw10 = cmd->sqe.cdw10, me = find(rv, cmd->nvme->host_id);
	u8 type = (u8)RTYPE(cdw10);

	if (ACTION(cdw10) > PREEMPT_AND_ABORT || (cdw10 & IEKEY) || !type || type > NVME_RTYPE_EA_ALL)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (me == NOBODY || rv->registrant[me].key != crkey)
		return NVME_SC_RESERVATION;
	/* There is nothing to abort: the commands of other hosts are in other controllers. */
	if (ACTION(cdw10) != ACQUIRE)
		return preempt(rv, cmd->nvme->host_id, prkey, type);
	if (rv->type)
		return holds(rv, me) && rv->type == type ? NVME_SC_SUCCESS : NVME_SC_RESERVATION;
	take(rv, cmd->nvme->host_id, type);
	return NVME_SC_SUCCESS;
}

static u16 do_release(struct nvme_cmd *cmd, u64 crkey)
{
	struct nvme_resv *rv = resv_of(cmd);
	u32 cdw10 = cmd->sqe.cdw10, me = find(rv, cmd->nvme->host_id);

	if (ACTION(cdw10) > CLEAR || (cdw10 & IEKEY))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (me == NOBODY || rv->registrant[me].key != crkey)
		return NVME_SC_RESERVATION;
	if (ACTION(cdw10) == CLEAR) {
		*rv = (struct nvme_resv){ .gen = rv->gen + 1 };
		return NVME_SC_SUCCESS;
	}
	if (!holds(rv, me))
		return NVME_SC_SUCCESS;
	if (RTYPE(cdw10) != rv->type)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	rv->type = NVME_RTYPE_NONE;
	return NVME_SC_SUCCESS;
}

/* Reservation status, Base 7.4: with 64-bit identifiers, a registrant a structure. */
static u16 do_report(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_resv *rv = resv_of(cmd);
	u64 asked = (cmd->sqe.cdw10 + 1ull) * 4;
	u32 size = STATUS_HEADER + STATUS_REGISTRANT * rv->nr;
	u8 *p = n->scratch;
	u16 status;

	if (cmd->sqe.cdw11 & NVME_REPORT_EDS)
		return NVME_SC_HOST_ID_FORMAT | NVME_DNR;
	if (asked > n->max_transfer_bytes)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	__builtin_memset(p, 0, size);
	__builtin_memcpy(p, &rv->gen, sizeof(rv->gen));
	p[4] = rv->type;
	p[5] = rv->nr;
	for (u32 i = 0; i < rv->nr; i++) {
		u8 *r = p + STATUS_HEADER + STATUS_REGISTRANT * i;

		r[2] = holds(rv, i) ? HOLDS : 0;
		__builtin_memcpy(r + 8, &rv->registrant[i].host, sizeof(u64));
		__builtin_memcpy(r + 16, &rv->registrant[i].key, sizeof(u64));
	}
	status = nvme_data_map(cmd, (u32)nvme_min(asked, size), NVME_TO_HOST);
	if (!status)
		nvme_buf_to_host(cmd, p);
	return status;
}

u16 nvme_io_reservation(struct nvme_cmd *cmd)
{
	u8 opcode = cmd->sqe.opcode;
	u64 key[2] = { 0 };
	u16 status;

	if (opcode == NVME_CMD_RESV_REPORT)
		return do_report(cmd);
	status = nvme_data_map(cmd, opcode == NVME_CMD_RESV_RELEASE ? sizeof(key[0]) : sizeof(key), NVME_FROM_HOST);
	if (status)
		return status;
	if (!nvme_buf_from_host(cmd, key))
		return NVME_SC_DATA_TRANSFER;
	if (opcode == NVME_CMD_RESV_REGISTER)
		status = do_register(cmd, key[0], key[1]);
	else
		status = opcode == NVME_CMD_RESV_ACQUIRE ? do_acquire(cmd, key[0], key[1]) : do_release(cmd, key[0]);
	if (!status)
		trace4(cmd->nvme->trace, TRACE_RESERVATION, cmd->io_id, cmd->sqid, opcode, cmd->ns->first_block, cmd->ns->nsze);
	return status;
}
