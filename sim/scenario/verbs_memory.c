// SPDX-License-Identifier: GPL-2.0
/* What a VM's vCPU does to memory and registers, and what the VM's memory holds when nobody's access is meant. */

#include "engine.h"
#include "store.h"

#include <string.h>

#define SECTOR STORE_SECTOR_SIZE

u64 guest_buffer(lua_State *L, struct script_vm *v, u64 bytes)
{
	u64 pages = (bytes + SPEC_PAGE_SIZE - 1) / SPEC_PAGE_SIZE;
	gpa_t gpa = { ~0ull };

	if (pages && pages < 1u << 20)
		gpa = vm_alloc_pages(v->vm, (u32)pages);
	if (gpa.v == ~0ull)
		luaL_error(L, "VM %s has no %I pages of memory left; use buffers again", v->name, (lua_Integer)pages);
	return gpa.v;
}

/* vm:alloc(pages) -> gpa */
static int vm_alloc(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);

	lua_pushinteger(L, (lua_Integer)guest_buffer(L, v, arg_u64_or(L, 2, "the number of pages", 1) * SPEC_PAGE_SIZE));
	return 1;
}

static int load(lua_State *L, u32 len)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), val = 0;
	struct stand s = stand_on(L, v);

	vm_load(s.gv, (gpa_t){ gpa }, &val, len);
	stand_off(&s);
	lua_pushinteger(L, (lua_Integer)val);
	return 1;
}

static int store(lua_State *L, u32 len)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), val = arg_u64(L, 3, "the value");
	struct stand s = stand_on(L, v);

	vm_store(s.gv, (gpa_t){ gpa }, &val, len);
	stand_off(&s);
	return 0;
}

#define ACCESS(bits) \
static int vm_load##bits(lua_State *L) { return load(L, (bits) / 8); } \
static int vm_store##bits(lua_State *L) { return store(L, (bits) / 8); }
ACCESS(8)
ACCESS(16)
ACCESS(32)
ACCESS(64)

static void check_length(lua_State *L, u64 len)
{
	if (len == 0 || len > SCENARIO_BYTES_MAX)
		luaL_error(L, "%I bytes at once; read or write 1 to %d", (lua_Integer)len, SCENARIO_BYTES_MAX);
	sandbox_charge(L, len / 8);
}

/* vm:bytes(gpa, len) -> text, by the vCPU's loads */
static int vm_bytes(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), len = arg_u64(L, 3, "the length");
	struct stand s;
	luaL_Buffer b;
	char *p;

	check_length(L, len);
	p = luaL_buffinitsize(L, &b, len);
	s = stand_on(L, v);
	vm_load(s.gv, (gpa_t){ gpa }, p, (u32)len);
	stand_off(&s);
	luaL_pushresultsize(&b, len);
	return 1;
}

static int vm_set_bytes(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address");
	size_t len;
	const char *p = luaL_checklstring(L, 3, &len);
	struct stand s;

	check_length(L, len);
	s = stand_on(L, v);
	vm_store(s.gv, (gpa_t){ gpa }, p, (u32)len);
	stand_off(&s);
	return 0;
}

static u64 check_sectors(lua_State *L, int gpa, int len)
{
	u64 n = arg_u64(L, len, "the length");

	if (n == 0 || n % SECTOR || arg_u64(L, gpa, "the address") % SECTOR || n > 64ull << 20)
		luaL_error(L, "address and length are not whole sectors; use multiples of 512");
	sandbox_charge(L, n / 64);
	return n / SECTOR;
}

/* vm:fill(gpa, len, tag): sector i holds the content that tag + i stands for; tag 0: zeros */
static int vm_fill(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), n = check_sectors(L, 2, 3), tag = arg_u64(L, 4, "the tag"), i;
	struct stand s = stand_on(L, v);
	u8 sector[SECTOR];

	for (i = 0; i < n; i++) {
		store_tag_expand(secret_tag(v->run, v->vm->cfg.id, tag ? tag + i : 0), sector);
		vm_store(s.gv, (gpa_t){ gpa + i * SECTOR }, sector, SECTOR);
	}
	stand_off(&s);
	return 0;
}

/* vm:holds(gpa, len, tag): as vm:fill() would leave it? By nobody's access. */
static int vm_holds(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), n = check_sectors(L, 2, 3), tag = arg_u64(L, 4, "the tag"), i;
	bool all = true;

	for (i = 0; i < n && all; i++) {
		hpa_t hpa;

		if (!vm_gpa_to_hpa(v->vm, (gpa_t){ gpa + i * SECTOR }, SECTOR, &hpa))
			return luaL_error(L, "address 0x%s is not memory of VM %s", lua_pushfstring(L, "%I", (lua_Integer)gpa), v->name);
		all = secret_sector_is(v->run, v->run->m->memory, hpa.v, tag ? tag + i : 0);
	}
	lua_pushboolean(L, all);
	return 1;
}

/* vm:peek(gpa, len) -> text, by nobody's access */
static int vm_peek(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), len = arg_u64(L, 3, "the length");
	luaL_Buffer b;
	hpa_t hpa;
	char *p;

	check_length(L, len);
	if (!vm_gpa_to_hpa(v->vm, (gpa_t){ gpa }, len, &hpa))
		return luaL_error(L, "the range is not memory of VM %s", v->name);
	p = luaL_buffinitsize(L, &b, len);
	store_read(v->run->m->memory, hpa.v, p, len);
	luaL_pushresultsize(&b, len);
	return 1;
}

static u32 check_width(lua_State *L, int index)
{
	u64 len = arg_u64_or(L, index, "the width", 4);

	if (len == 0 || len > 8)
		luaL_error(L, "a register access of %I bytes; use 1 to 8", (lua_Integer)len);
	return (u32)len;
}

/* vm:reg_read(offset[, bytes]): BAR 0 of the virtual controller */
static int vm_reg_read(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 off = arg_u64(L, 2, "the offset"), val = 0;
	u32 len = check_width(L, 3);
	struct stand s = stand_on(L, v);

	vm_load(s.gv, (gpa_t){ VM_BAR0_GPA + off }, &val, len);
	stand_off(&s);
	lua_pushinteger(L, (lua_Integer)val);
	return 1;
}

static int vm_reg_write(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 off = arg_u64(L, 2, "the offset"), val = arg_u64(L, 3, "the value");
	u32 len = check_width(L, 4);
	struct stand s = stand_on(L, v);

	vm_store(s.gv, (gpa_t){ VM_BAR0_GPA + off }, &val, len);
	stand_off(&s);
	return 0;
}

void verbs_open_memory(lua_State *L)
{
	static const luaL_Reg verbs[] = {
		{ "alloc", vm_alloc }, { "load8", vm_load8 }, { "load16", vm_load16 }, { "load32", vm_load32 }, { "load64", vm_load64 },
		{ "store8", vm_store8 }, { "store16", vm_store16 }, { "store32", vm_store32 }, { "store64", vm_store64 },
		{ "bytes", vm_bytes }, { "set_bytes", vm_set_bytes }, { "fill", vm_fill }, { "holds", vm_holds }, { "peek", vm_peek },
		{ "reg_read", vm_reg_read }, { "reg_write", vm_reg_write }, { NULL, NULL }
	};

	object_verbs(L, "vm", verbs);
}
