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
	static const luaL_Reg verbs[] = { { "irte", m_irte }, { "add_function", m_add_function }, { NULL, NULL } };
	static const luaL_Reg fn_verbs[] = { { "write32", fn_write32 }, { "read32", fn_read32 }, { NULL, NULL } };

	object_verbs(L, "machine", verbs);
	object_kind(L, "function", fn_verbs, fn_fields);
}
