// SPDX-License-Identifier: GPL-2.0
/*
 * Address spaces of the SSD's by PASID: the tables of VT-d's scalable mode, and what host
 * software does when a PASID comes and goes. All PASIDs lie in one table of 64; number 0 is the
 * function's domain, and what requests without PASID are taken for.
 */

#include "host.h"
#include "vm/vm.h"

#include <assert.h>

#define LEVELS 4
#define ENTRIES VTD_SSPTE_COUNT

static u64 rd(struct port_host *h, hpa_t a)
{
	bool ok;

	return bus_rd64(&h->m->bus, a, &ok);
}

static hpa_t entry_of(const struct port_host *h, u32 pasid)
{
	return (hpa_t){ h->pasid_table.v + pasid * VTD_PASID_ENTRY_SIZE };
}

/* 9.6: second-stage tables, the word with P last. */
static void entry_write(struct port_host *h, u32 pasid)
{
	hpa_t at = entry_of(h, pasid);

	bus_wr64(&h->m->bus, (hpa_t){ at.v + 8 }, FIELD_PREP(VTD_PASID_HI_DID, h->space[pasid].did));
	bus_wr64(&h->m->bus, at, h->space[pasid].top.v | FIELD_PREP(VTD_PASID_LO_PGTT, VTD_PGTT_SECOND_STAGE) |
		 FIELD_PREP(VTD_PASID_LO_AW, VTD_AW_48BIT) | VTD_PASID_LO_P);
}

bool host_pasid_init(struct port_host *h)
{
	u32 bus = MACHINE_SSD_RID >> 8, devfn = MACHINE_SSD_RID & 0xFF;
	hpa_t ctx = { h->context_table.v + devfn % VTD_SMCTX_PER_TABLE * VTD_SMCTX_SIZE };
	hpa_t root = { h->root_table.v + bus * VTD_ROOT_ENTRY_SIZE + (devfn & VTD_SMCTX_PER_TABLE ? 8 : 0) };

	h->pasid_dir = host_table_new(h);
	h->pasid_table = host_table_new(h);
	if (hpa_bad(h->pasid_dir) || hpa_bad(h->pasid_table))
		return false;
	entry_write(h, 0);
	bus_wr64(&h->m->bus, h->pasid_dir, h->pasid_table.v | VTD_PASIDDIR_P);
	/* RID_PASID is 0, and the smallest directory has room for more PASIDs than there are. */
	bus_wr64(&h->m->bus, ctx, h->pasid_dir.v | VTD_SMCTX_LO_PASIDE | VTD_SMCTX_LO_P);
	bus_wr64(&h->m->bus, root, h->context_table.v | VTD_SMROOT_P);
	host_pasid_enable(h);
	return true;
}
_Static_assert(HOST_PASIDS == VTD_PASID_PER_TABLE, "one table");

void host_pasid_enable(struct port_host *h)
{
	const struct pci_function *fn = nvme_function(h->m->nvme);

	if (h->m->cfg.vtd.scalable && fn->cap_pasid)
		pci_cfg_write(&h->m->root, MACHINE_SSD_RID, fn->cap_pasid + PCIS_PASID_CONTROL, PCIS_PASID_ENABLE, 2);
}

struct host_space *host_space_at(struct port_host *h, u64 iova)
{
	u32 i;

	for (i = 0; i < MACHINE_VMS_MAX; i++) {
		struct port_vm *vm = h->m->vms[i];

		if (vm && vm->has_liov && vm->liov.pasid < HOST_PASIDS && sim_vm_mem_overlaps(vm, (gpa_t){ iova }, 1))
			return &h->space[vm->liov.pasid];
	}
	/* A queue's, maybe: no two have the same. */
	for (i = HOST_PASIDS - 1; i > 0 && !(h->space[i].top.v && host_space_has(h, &h->space[i], iova)); i--)
		;
	return &h->space[i];
}

int sim_pasid_alloc(struct port_host *h, u32 *pasid)
{
	u32 i;

	if (!h->m->cfg.vtd.scalable || !pci_pasid_enabled(nvme_function(h->m->nvme)))
		return -EOPNOTSUPP;
	for (i = 1; i < HOST_PASIDS && h->space[i].top.v; i++)
		;
	if (i == HOST_PASIDS)
		return -ENOSPC;
	h->space[i].top = host_table_new(h);
	if (hpa_bad(h->space[i].top)) {
		h->space[i].top.v = 0;
		return -ENOMEM;
	}
	h->space[i].h = h;
	h->space[i].did = (u16)(HOST_DOMAIN + (HOST_STEP(host_pasid_did) ? i : 1));
	/* CAP.CM is 0: that the entry was not present is nowhere remembered. */
	entry_write(h, i);
	*pasid = i;
	return 0;
}

/* The tables of a space, without recursion: at each level the entry that is looked at next. */
static void tables_free(struct port_host *h, hpa_t top)
{
	hpa_t table[LEVELS] = { top };
	u32 at[LEVELS] = { 0 }, depth = 0;

	for (;;) {
		u64 e;

		if (at[depth] == ENTRIES || depth == LEVELS - 1) {
			host_frames_give(h, &h->low, table[depth], SPEC_PAGE_SIZE);
			if (depth-- == 0)
				return;
			continue;
		}
		e = rd(h, (hpa_t){ table[depth].v + 8 * at[depth]++ });
		if (!(e & (VTD_SSPTE_R | VTD_SSPTE_W)) || (e & VTD_SSPTE_PS))
			continue;
		table[++depth].v = e & VTD_SSPTE_ADDR;
		at[depth] = 0;
	}
}

/* As VT-d's guidance has it (6.5.3.3, table 25): the entry, the PASID cache, then translations and tables of the domain. */
void sim_pasid_free(struct port_host *h, u32 pasid)
{
	struct host_space *s = &h->space[pasid];

	assert(pasid && pasid < HOST_PASIDS && s->top.v);
	if (HOST_STEP(host_pasid_clear)) {
		bus_wr64(&h->m->bus, entry_of(h, pasid), 0);
		bus_wr64(&h->m->bus, (hpa_t){ entry_of(h, pasid).v + 8 }, 0);
	}
	if (HOST_STEP(host_pasid_flush))
		host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_PASID_CACHE) | FIELD_PREP(VTD_QI_PC_LO_G, VTD_QI_PC_PASID) |
				      FIELD_PREP(VTD_QI_PC_LO_DID, s->did) | FIELD_PREP(VTD_QI_PC_LO_PASID, pasid), 0);
	if (HOST_STEP(host_pasid_flush_iotlb))
		host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_IOTLB) | FIELD_PREP(VTD_QI_IOTLB_LO_G, VTD_GRAN_DOMAIN) |
				      FIELD_PREP(VTD_QI_IOTLB_LO_DID, s->did) | VTD_QI_IOTLB_LO_DW | VTD_QI_IOTLB_LO_DR, 0);
	host_space_free_empty(h, s);
	tables_free(h, s->top);
	s->top.v = 0;
	s->mapped_bytes = 0;
}

int sim_pasid_map(struct port_host *h, u32 pasid, iova_t iova, u64 hpa, u64 len, u32 prot)
{
	return host_space_map(h, &h->space[pasid], iova.v, hpa, len, prot);
}

int sim_pasid_map_vm(struct port_host *h, u32 pasid, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot)
{
	return host_space_map_vm(h, &h->space[pasid], iova.v, vm, gpa, len, prot);
}

void sim_pasid_unmap(struct port_host *h, u32 pasid, iova_t iova, u64 len)
{
	if (!(h->omit & HOST_OMIT_IOMMU_UNMAP) && HOST_STEP(host_iommu_unmap))
		host_space_unmap(h, &h->space[pasid], iova.v, len);
}

void sim_pasid_sync(struct port_host *h, u32 pasid)
{
	host_space_sync(h, &h->space[pasid]);
}
