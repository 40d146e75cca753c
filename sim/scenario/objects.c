// SPDX-License-Identifier: GPL-2.0
/* What scripts hold of the machine: pointers of a kind, with verbs. What they point to lives to the end of the run. */

#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Upvalues: verbs, fields function or nil, kind. */
static int object_index(lua_State *L)
{
	lua_pushvalue(L, 2);
	if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
		return 1;
	lua_pop(L, 1);
	if (lua_iscfunction(L, lua_upvalueindex(2)) && lua_type(L, 2) == LUA_TSTRING &&
	    lua_tocfunction(L, lua_upvalueindex(2))(L) == 1)
		return 1;
	if (!lua_getmetatable(L, 1) || lua_getfield(L, -1, "names") != LUA_TSTRING)
		lua_pushliteral(L, "");
	return luaL_error(L, "%s has no '%s'; its verbs are:%s", lua_tostring(L, lua_upvalueindex(3)),
			  lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2), lua_tostring(L, -1));
}

/* Keep the verbs' names, in their order, for that message: the metatable is on top. */
static void add_names(lua_State *L, const luaL_Reg *verbs)
{
	if (lua_getfield(L, -1, "names") != LUA_TSTRING) {
		lua_pop(L, 1);
		lua_pushliteral(L, "");
	}
	for (; verbs->name; verbs++) {
		lua_pushfstring(L, " %s", verbs->name);
		lua_concat(L, 2);
	}
	lua_setfield(L, -2, "names");
}

static int object_newindex(lua_State *L)
{
	return luaL_error(L, "nothing can be stored in this; keep it in a local");
}

static int object_tostring(lua_State *L)
{
	struct script_vm *v = object_test(L, 1, "vm");

	if (v)
		lua_pushfstring(L, "VM %s", v->name);
	else
		lua_pushvalue(L, lua_upvalueindex(1));
	return 1;
}

void object_kind(lua_State *L, const char *kind, const luaL_Reg *verbs, lua_CFunction fields)
{
	luaL_newmetatable(L, kind);
	add_names(L, verbs);
	lua_newtable(L);
	luaL_setfuncs(L, verbs, 0);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, "verbs");
	if (fields)
		lua_pushcfunction(L, fields);
	else
		lua_pushnil(L);
	lua_pushstring(L, kind);
	lua_pushcclosure(L, object_index, 3);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, object_newindex);
	lua_setfield(L, -2, "__newindex");
	lua_pushstring(L, kind);
	lua_pushcclosure(L, object_tostring, 1);
	lua_setfield(L, -2, "__tostring");
	lua_pop(L, 1);
}

void object_verbs(lua_State *L, const char *kind, const luaL_Reg *verbs)
{
	luaL_getmetatable(L, kind);
	add_names(L, verbs);
	lua_getfield(L, -1, "verbs");
	luaL_setfuncs(L, verbs, 0);
	lua_pop(L, 2);
}

void object_push(lua_State *L, const char *kind, void *p)
{
	void **ud = lua_newuserdatauv(L, sizeof(p), 0);

	*ud = p;
	luaL_setmetatable(L, kind);
}

void *object_test(lua_State *L, int index, const char *kind)
{
	void **ud = luaL_testudata(L, index, kind);

	return ud ? *ud : NULL;
}

void *object_check(lua_State *L, int index, const char *kind)
{
	void *p = object_test(L, index, kind);

	if (!p)
		luaL_error(L, "a %s is wanted as argument %d, not a %s; call verbs as object:verb(...)", kind, index, luaL_typename(L, index));
	return p;
}

struct script_vm *check_live_vm(lua_State *L, int index)
{
	struct script_vm *v = check_vm(L, index);

	if (!v->vm || v->vm->dead)
		luaL_error(L, "VM %s is gone; make another with m:create_vm{...}", v->name);
	return v;
}

const char *errno_word(int err)
{
	switch (err < 0 ? -err : err) {
	case EINVAL: return "EINVAL";
	case ENOMEM: return "ENOMEM";
	case ENOSPC: return "ENOSPC";
	case EBUSY: return "EBUSY";
	case EFAULT: return "EFAULT";
	case EIO: return "EIO";
	case ENODEV: return "ENODEV";
	case ETIMEDOUT: return "ETIMEDOUT";
	case EAGAIN: return "EAGAIN";
	case EOPNOTSUPP: return "EOPNOTSUPP";
	default: return "error";
	}
}

void status_text(u16 status, char buf[24])
{
	snprintf(buf, 24, "%u/0x%02X", status >> 8 & 7, status & 0xFF);
}

void push_status(lua_State *L, int ret)
{
	char buf[24];

	if (ret < 0) {
		lua_pushstring(L, errno_word(ret));
		return;
	}
	status_text((u16)ret, buf);
	lua_pushstring(L, buf);
}
