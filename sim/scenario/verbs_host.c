// SPDX-License-Identifier: GPL-2.0
/* What a host with a bug does past LightIOV: entries written by hand, functions beside the SSD. */

#include "engine.h"
#include "host/host.h"
#include "pci/plain.h"

static struct run *check_m(lua_State *L)
{
	return object_check(L, 1, "machine");
}

struct irte {
	u64 lo, hi;
};

static u64 put_field(const struct args *a, const char *key, u64 mask, u64 entry)
{
	if (!args_has(a, key))
		return entry;
	return (entry & ~mask) | FIELD_PREP(mask, args_range(a, key, 0, 0, FIELD_GET(mask, mask)));
}

/* Who may use the entry, and what of it no field names. */
static void irte_fields(const struct args *a, struct irte *e)
{
	e->hi = put_field(a, "sid", VTD_IRTE_HI_SID, e->hi);
	e->hi = put_field(a, "sq", VTD_IRTE_HI_SQ, e->hi);
	e->hi = put_field(a, "svt", VTD_IRTE_HI_SVT, e->hi);
	e->lo |= args_u64(a, "lo", 0);
	e->hi |= args_u64(a, "hi", 0);
}

static void irte_posted(struct irte *e, u64 pid)
{
	e->lo |= VTD_IRTE_LO_IM | FIELD_PREP(VTD_IRTE_POSTED_LO_PDA, (pid & 0xFFFFFFFF) >> 6);
	e->hi |= FIELD_PREP(VTD_IRTE_POSTED_HI_PDA, pid >> 32);
}

/*
 * m:irte{ index = 0x8080, vector = 0x60, vm = B }: a new entry of the SSD's, posted to a vCPU; without
 * vm it goes to core @core. m:irte{ index = 0x12, edit = true, svt = 0 }: the present one, changed.
 */
static int m_irte(lua_State *L)
{
	struct run *r = check_m(L);
	struct args a = args_open(L, 2, "irte", "index vector vm vcpu core edit sid sq svt lo hi");
	u32 index = (u32)args_range(&a, "index", args_need(&a, "index"), 0, HOST_IRTES - 1);
	u64 vector = args_range(&a, "vector", 0x60, 0x10, 0xFF);
	struct script_vm *v = NULL;
	struct irte e = {
		.lo = VTD_IRTE_LO_P | FIELD_PREP(VTD_IRTE_LO_V, vector),
		.hi = FIELD_PREP(VTD_IRTE_HI_SID, MACHINE_SSD_RID) | FIELD_PREP(VTD_IRTE_HI_SQ, VTD_SQ_ALL) |
		      FIELD_PREP(VTD_IRTE_HI_SVT, VTD_SVT_SID_SQ),
	};

	if (args_bool(&a, "edit", false)) {
		host_irq_read_irte(r->m->host, index, &e.lo, &e.hi);
	} else if (args_has(&a, "vm")) {
		lua_getfield(L, 2, "vm");
		v = check_live_vm(L, lua_gettop(L));
		irte_posted(&e, v->vm->gv[args_range(&a, "vcpu", 0, 0, v->vm->cfg.vcpus - 1)].vcpu.pid.v);
	} else {
		e.lo |= FIELD_PREP(VTD_IRTE_LO_DST, args_range(&a, "core", 0, 0, r->cfg.pcpus - 1));
	}
	irte_fields(&a, &e);
	host_irq_write_irte(r->m->host, index, e.lo, e.hi);
	host_iommu_invalidate(r->m->host, FIELD_PREP(VTD_QI_TYPE, VTD_QI_IEC), 0);
	return 0;
}

/* m:irte_read(index) -> low half, high half */
static int m_irte_read(lua_State *L)
{
	struct run *r = check_m(L);
	u64 index = arg_u64(L, 2, "the index"), lo, hi;

	if (index >= HOST_IRTES)
		return luaL_error(L, "irte_read: the table has %d entries", HOST_IRTES);
	host_irq_read_irte(r->m->host, (u32)index, &lo, &hi);
	lua_pushinteger(L, (lua_Integer)lo);
	lua_pushinteger(L, (lua_Integer)hi);
	return 2;
}

/* m:frame(vm, gpa): where that is in the host's memory, which no guest knows */
static int m_frame(lua_State *L)
{
	struct script_vm *v;
	hpa_t hpa;

	check_m(L);
	v = check_live_vm(L, 2);
	if (!vm_gpa_to_hpa(v->vm, (gpa_t){ arg_u64(L, 3, "the address") }, 1, &hpa))
		return luaL_error(L, "frame: the address is not memory of VM %s", v->name);
	lua_pushinteger(L, (lua_Integer)hpa.v);
	return 1;
}

/* m:iommu_table(iova[, level]), m:descriptor(vm, vcpu): where the table of its entries of that level is, a vCPU's posted-interrupt descriptor */
static int m_iommu_table(lua_State *L)
{
	struct run *r = check_m(L);
	u64 iova = arg_u64(L, 2, "the address"), level = arg_u64_or(L, 3, "the level", 1);
	hpa_t hpa;

	if (level < 1 || level > 3)
		return luaL_error(L, "iommu_table: a level is 1 to 3");
	hpa = host_iommu_table(r->m->host, iova, (unsigned int)level);
	if (hpa_bad(hpa))
		return luaL_error(L, "iommu_table: there is none of level %d", (int)level);
	lua_pushinteger(L, (lua_Integer)hpa.v);
	return 1;
}

static int m_descriptor(lua_State *L)
{
	struct script_vm *v;
	u64 vcpu;

	check_m(L);
	v = check_live_vm(L, 2);
	vcpu = arg_u64_or(L, 3, "the vCPU", 0);
	if (vcpu >= v->vm->nr_gv)
		return luaL_error(L, "descriptor: VM %s has no vCPU %I", v->name, (lua_Integer)vcpu);
	lua_pushinteger(L, (lua_Integer)v->vm->gv[vcpu].vcpu.pid.v);
	return 1;
}

/* m:iommu_entry{ iova =, hpa =, level = 1, leaf = true, read = true, write = true }: an entry by hand, over what was there */
static int m_iommu_entry(lua_State *L)
{
	struct run *r = check_m(L);
	struct args a = args_open(L, 2, "iommu_entry", "iova hpa level leaf read write");
	u64 iova = args_range(&a, "iova", args_need(&a, "iova"), 0, (1ull << 48) - 1);
	u64 level = args_range(&a, "level", 1, 1, 3), entry = args_need(&a, "hpa") & VTD_SSPTE_ADDR;

	entry |= args_bool(&a, "read", true) ? VTD_SSPTE_R : 0;
	entry |= args_bool(&a, "write", true) ? VTD_SSPTE_W : 0;
	entry |= args_bool(&a, "leaf", true) && level > 1 ? VTD_SSPTE_PS : 0;
	host_iommu_entry(r->m->host, iova, (unsigned int)level, entry);
	host_iommu_flush(r->m->host);
	return 0;
}

/* m:iommu_context("absent"): the SSD's context is broken so */
static int m_iommu_context(lua_State *L)
{
	static const char *const defects[] = { "root", "absent", "reserved", "width", "pointer", "type", "fpd", NULL };
	struct run *r = check_m(L);

	host_iommu_break_context(r->m->host, (enum host_context_defect)luaL_checkoption(L, 2, NULL, defects));
	return 0;
}

/* m:iommu_descriptor(lo, hi), m:iommu_tail(bytes): as they stand. True: the queue stopped over it, and goes on. */
static int m_iommu_descriptor(lua_State *L)
{
	struct run *r = check_m(L);

	lua_pushboolean(L, host_iommu_descriptor(r->m->host, arg_u64(L, 2, "the low half"), arg_u64(L, 3, "the high half")));
	return 1;
}

static int m_iommu_tail(lua_State *L)
{
	struct run *r = check_m(L);

	lua_pushboolean(L, host_iommu_tail(r->m->host, arg_u64(L, 2, "the tail")));
	return 1;
}

/* m:iommu_faults() -> how many records wait, whether more were lost (PFO); they are cleared */
static int m_iommu_faults(lua_State *L)
{
	struct run *r = check_m(L);
	bool lost;

	lua_pushinteger(L, host_iommu_faults(r->m->host, &lost));
	lua_pushboolean(L, lost);
	return 2;
}

/* m:compatibility_format(): the host lets messages of that format pass, which remapping in x2APIC mode forbids (5.1.4) */
static int m_compatibility_format(lua_State *L)
{
	struct run *r = check_m(L);

	if (r->cfg.vtd.x2apic)
		return luaL_error(L, "compatibility_format: nothing passes in x2APIC mode; set machine = { iommu = { x2apic = false } }");
	host_iommu_let_compat(r->m->host);
	return 0;
}

/* m:ssd_reg(offset[, bytes]), m:ssd_config(offset): the physical controller's, as the host reads them */
static int m_ssd_reg(lua_State *L)
{
	struct run *r = check_m(L);
	u64 off = arg_u64(L, 2, "the offset"), len = arg_u64_or(L, 3, "the width", 4);

	if (off > 0x3FFF || (len != 4 && len != 8))
		return luaL_error(L, "ssd_reg: a register below 0x4000, of 4 or 8 bytes");
	lua_pushinteger(L, (lua_Integer)bus_cpu_read(&r->m->bus, (hpa_t){ pci_bar_base(nvme_function(r->m->nvme), 0) + off }, (unsigned int)len));
	return 1;
}

static int m_ssd_config(lua_State *L)
{
	struct run *r = check_m(L);

	lua_pushinteger(L, pci_cfg_read(&r->m->root, MACHINE_SSD_RID, (u32)arg_u64(L, 2, "the offset") & ~3u, 4));
	return 1;
}

/* m:msix(vector) -> address, data, masked: the physical table's entry */
static int m_msix(lua_State *L)
{
	struct run *r = check_m(L);
	u64 v = arg_u64(L, 2, "the vector");
	u32 word[4], i;

	if (v >= r->m->host->nr_vectors)
		return luaL_error(L, "msix: there are %d vectors", (int)r->m->host->nr_vectors);
	for (i = 0; i < 4; i++)
		word[i] = (u32)bus_cpu_read(&r->m->bus, (hpa_t){ r->m->host->msix_table + v * PCIS_MSIX_ENTRY_SIZE + 4 * i }, 4);
	lua_pushinteger(L, (lua_Integer)word[1] << 32 | word[0]);
	lua_pushinteger(L, word[2]);
	lua_pushboolean(L, word[3] & PCIS_MSIX_ENTRY_MASKED);
	return 3;
}

/* m:add_function{ rid = 0x0200, vm = A } -> a function beside the SSD, the VM's as a whole */
static int m_add_function(lua_State *L)
{
	struct run *r = check_m(L);
	struct args a = args_open(L, 2, "add_function", "rid vm");
	u16 rid = (u16)args_range(&a, "rid", args_need(&a, "rid"), 0, 0xFFFF);
	struct pci_plain *p;
	struct script_vm *v;

	lua_getfield(L, 2, "vm");
	v = check_live_vm(L, lua_gettop(L));
	p = host_add_function(r->m, rid, v->vm->cfg.id);
	if (!p)
		return luaL_error(L, "add_function: the requester id is taken, or there are %d already", MACHINE_OTHERS_MAX);
	object_push(L, "function", p);
	return 1;
}

static int fn_write32(lua_State *L)
{
	struct pci_plain *p = object_check(L, 1, "function");

	pci_plain_write32(p, (iova_t){ arg_u64(L, 2, "the address") }, (u32)arg_u64(L, 3, "the value"));
	return 0;
}

/* The dword, or nil where the read came back as an error. */
static int fn_read32(lua_State *L)
{
	struct pci_plain *p = object_check(L, 1, "function");
	u32 val;

	if (pci_plain_read32(p, (iova_t){ arg_u64(L, 2, "the address") }, &val))
		lua_pushinteger(L, val);
	else
		lua_pushnil(L);
	return 1;
}

static int fn_fields(lua_State *L)
{
	struct pci_plain *p = object_test(L, 1, "function");
	const char *name = lua_tostring(L, 2);

	if (!p || strcmp(name, "bar0") != 0)
		return 0;
	lua_pushinteger(L, (lua_Integer)pci_bar_base(&p->fn, 0));
	return 1;
}

void verbs_open_host(lua_State *L)
{
	static const luaL_Reg verbs[] = {
		{ "irte", m_irte }, { "irte_read", m_irte_read }, { "add_function", m_add_function }, { "frame", m_frame },
		{ "iommu_table", m_iommu_table }, { "descriptor", m_descriptor }, { "iommu_entry", m_iommu_entry },
		{ "iommu_context", m_iommu_context }, { "iommu_descriptor", m_iommu_descriptor }, { "iommu_tail", m_iommu_tail },
		{ "iommu_faults", m_iommu_faults }, { "compatibility_format", m_compatibility_format }, { "ssd_reg", m_ssd_reg },
		{ "ssd_config", m_ssd_config }, { "msix", m_msix }, { NULL, NULL }
	};
	static const luaL_Reg fn_verbs[] = { { "write32", fn_write32 }, { "read32", fn_read32 }, { NULL, NULL } };

	object_verbs(L, "machine", verbs);
	object_kind(L, "function", fn_verbs, fn_fields);
}
