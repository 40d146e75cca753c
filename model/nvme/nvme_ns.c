// SPDX-License-Identifier: GPL-2.0
#include "nvme/nvme_priv.h"

/*
 * Namespace Management and Attachment, Base 5.23 and 5.24: namespaces come and go, by their place
 * in the medium, and I/O commands find those that are attached. Of what is not allocated the
 * controller takes the first place that is large enough; a host may name one (spec/nvme.h).
 */

#define SEL_CREATE 0
#define SEL_DELETE 1
#define SEL_ATTACH 0
#define SEL_DETACH 1

static u64 end_of(const struct nvme_ns_config *ns)
{
	return ns->first_block + ns->ncap;
}

/* The end of a namespace that meets the range, 0 if none does. */
static u64 taken_up_to(const struct nvme *n, u64 first, u64 nlb)
{
	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++) {
		const struct nvme_ns_config *ns = &n->cfg.ns[i];

		if (ns->nsze && first < end_of(ns) && ns->first_block < first + nlb)
			return end_of(ns);
	}
	return 0;
}

u64 nvme_ns_unallocated(const struct nvme *n)
{
	u64 blocks = n->capacity;

	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++)
		if (n->cfg.ns[i].nsze)
			blocks -= n->cfg.ns[i].ncap;
	return blocks;
}

/* Bounded: each step passes a namespace. False: there is no such place. */
static bool place_find(const struct nvme *n, u64 ncap, u64 *first)
{
	u64 end;

	for (*first = 0; *first <= n->capacity && n->capacity - *first >= ncap; *first = end) {
		end = taken_up_to(n, *first, ncap);
		if (!end)
			return true;
	}
	return false;
}

static bool place_is_free(const struct nvme *n, u64 first, u64 ncap)
{
	return first <= n->capacity && n->capacity - first >= ncap && !taken_up_to(n, first, ncap);
}

static u16 check_wish(const struct nvme *n, const struct nvme_ns_wish *w)
{
	if (w->flbas & 0xF)
		return NVME_SC_FORMAT_INVALID | NVME_DNR;
	/* No sharing, protection as with metadata; and blocks there must be. */
	if (!MODEL_CHECK(controller_ns_wish, w->dps <= n->cfg.metadata && !w->nmic && w->ncap && w->ncap <= w->nsze &&
			 w->nsze <= NVME_NSZE_MAX))
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	return NVME_SC_SUCCESS;
}

/* Where a namespace of the wish comes to lie. */
static bool place_of(const struct nvme *n, const struct nvme_ns_wish *w, u64 *first)
{
	if (w->place_magic != NVME_NS_PLACE_MAGIC)
		return place_find(n, w->ncap, first);
	*first = w->first_block;
	return MODEL_CHECK(controller_ns_place, place_is_free(n, *first, w->ncap));
}

static u16 create(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	const struct nvme_ns_wish *w = (const void *)n->scratch;
	u64 first = 0;
	u32 i = 0;
	u16 status = nvme_prp_map(cmd, sizeof(*w), NVME_FROM_HOST);

	if (status)
		return status;
	if (!nvme_buf_from_host(cmd, n->scratch))
		return NVME_SC_DATA_TRANSFER;
	status = check_wish(n, w);
	if (status)
		return status;
	while (i < NVME_NAMESPACES_MAX && i < n->cfg.nn && n->cfg.ns[i].nsze)
		i++;
	if (i == NVME_NAMESPACES_MAX || i == n->cfg.nn)
		return NVME_SC_NSID_UNAVAILABLE | NVME_DNR;
	if (!place_of(n, w, &first))
		return NVME_SC_NS_CAPACITY | NVME_DNR;
	n->cfg.ns[i] = (struct nvme_ns_config){ .first_block = first, .nsze = w->nsze, .ncap = w->ncap, .pi = w->dps };
	if (MODEL_STEP(controller_ns_detached))
		n->ns_attached &= ~BIT_ULL(i);
	n->resv[i] = (struct nvme_resv){ .gen = 0 };
	cmd->dw0 = i + 1;
	return NVME_SC_SUCCESS;
}

/* What is outstanding in it ends before it is gone: no command keeps its place (Base 5.24.1). */
static void close(struct nvme *n, u32 i)
{
	if (MODEL_STEP(controller_ns_flush))
		nvme_cmd_flush_ns(n, &n->cfg.ns[i]);
	n->ns_attached &= ~BIT_ULL(i);
}

static u16 delete(struct nvme *n, u32 nsid)
{
	if (!MODEL_CHECK(controller_ns_allocated, nsid == NVME_NSID_ALL || nvme_ns_allocated(n, nsid)))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	for (u32 i = 0; i < NVME_NAMESPACES_MAX; i++) {
		if (nsid != NVME_NSID_ALL && nsid != i + 1)
			continue;
		close(n, i);
		n->cfg.ns[i] = (struct nvme_ns_config){ .nsze = 0 };
	}
	return NVME_SC_SUCCESS;
}

u16 nvme_admin_ns_manage(struct nvme_cmd *cmd)
{
	switch (FIELD_GET(NVME_NS_SEL, cmd->sqe.cdw10)) {
	case SEL_CREATE:
		return cmd->sqe.nsid ? NVME_SC_INVALID_FIELD | NVME_DNR : create(cmd);
	case SEL_DELETE:
		return delete(cmd->nvme, cmd->sqe.nsid);
	default:
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	}
}

/* A list of controllers is a count and identifiers, 16 bits each. There is one controller, number 0. */
static u16 check_controllers(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u16 list[2];
	u16 status = nvme_prp_map(cmd, NVME_ID_SIZE, NVME_FROM_HOST);

	if (status)
		return status;
	if (!nvme_buf_from_host(cmd, n->scratch))
		return NVME_SC_DATA_TRANSFER;
	__builtin_memcpy(list, n->scratch, sizeof(list));
	return MODEL_CHECK(controller_ns_controller, list[0] == 1 && !list[1]) ? NVME_SC_SUCCESS :
	       NVME_SC_CONTROLLER_LIST | NVME_DNR;
}

u16 nvme_admin_ns_attach(struct nvme_cmd *cmd)
{
	struct nvme *n = cmd->nvme;
	u32 nsid = cmd->sqe.nsid;
	u64 sel = FIELD_GET(NVME_NS_SEL, cmd->sqe.cdw10);
	bool attached;
	u16 status;

	if (sel > SEL_DETACH)
		return NVME_SC_INVALID_FIELD | NVME_DNR;
	if (!nsid || nsid > NVME_NAMESPACES_MAX || !MODEL_CHECK(controller_ns_allocated, nvme_ns_allocated(n, nsid)))
		return NVME_SC_INVALID_NSID | NVME_DNR;
	status = check_controllers(cmd);
	if (status)
		return status;
	attached = n->ns_attached & BIT_ULL(nsid - 1);
	if (sel == SEL_DETACH) {
		if (!MODEL_CHECK(controller_ns_twice, attached))
			return NVME_SC_NS_NOT_ATTACHED | NVME_DNR;
		close(n, nsid - 1);
		return NVME_SC_SUCCESS;
	}
	if (!MODEL_CHECK(controller_ns_twice, !attached))
		return NVME_SC_NS_ATTACHED | NVME_DNR;
	n->ns_attached |= BIT_ULL(nsid - 1);
	return NVME_SC_SUCCESS;
}
