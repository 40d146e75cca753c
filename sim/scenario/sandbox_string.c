// SPDX-License-Identifier: GPL-2.0
/*
 * The string library as scenarios have it. Pattern matching backtracks in C, where no
 * instruction is counted: its worst case is charged beforehand, and refused when it is absurd.
 */

#include "sandbox.h"

#include <lualib.h>
#include <string.h>

#define PATTERN_WORK_MAX 20000000ull

/* Steps of a match at worst: each repetition may try every length at every place. */
static u64 pattern_work(const char *pattern, size_t len, size_t subject)
{
	u64 work = subject + 1;
	size_t i;

	for (i = 0; i < len && work <= PATTERN_WORK_MAX; i++)
		if (strchr("*+-?", pattern[i]) && pattern[i] != '\0')
			work *= subject + 1;
	return work + subject * len;
}

static void charge_pattern(lua_State *L)
{
	size_t subject, len;
	const char *pattern;
	u64 work;

	luaL_checklstring(L, 1, &subject);
	pattern = luaL_checklstring(L, 2, &len);
	work = pattern_work(pattern, len, subject);
	if (work > PATTERN_WORK_MAX)
		luaL_error(L, "this pattern may take too long on %d bytes; use fewer of * + - ? or a shorter text", (int)subject);
	sandbox_charge(L, work / 8);
}

static int lib_pattern(lua_State *L)
{
	charge_pattern(L);
	return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static int lib_find(lua_State *L)
{
	size_t subject, len;

	luaL_checklstring(L, 1, &subject);
	luaL_checklstring(L, 2, &len);
	if (lua_toboolean(L, 4))
		sandbox_charge(L, (u64)subject * len / 16);
	else
		charge_pattern(L);
	return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static int lib_gsub(lua_State *L)
{
	int n;

	charge_pattern(L);
	sandbox_enter(L);
	n = lua_tocfunction(L, lua_upvalueindex(1))(L);
	sandbox_leave(L);
	return n;
}

/* %p and tables given to %s would show addresses. */
static int lib_format(lua_State *L)
{
	size_t len, at;
	const char *p = luaL_checklstring(L, 1, &len);
	int i, top = lua_gettop(L);

	for (at = 0; at < len; at++) {
		if (p[at] != '%')
			continue;
		at += 1 + strspn(p + at + 1, "-+ #0123456789.");
		if (at < len && p[at] == 'p')
			return luaL_error(L, "format: %%p would show an address; use %%s");
	}
	for (i = 2; i <= top; i++) {
		int type = lua_type(L, i);

		if (type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TTHREAD || type == LUA_TLIGHTUSERDATA) {
			lua_pushstring(L, lua_typename(L, type));
			lua_replace(L, i);
		}
	}
	return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* As string.rep(), with a message of its own. */
static int lib_rep(lua_State *L)
{
	size_t len, sep = 0;
	lua_Integer n = luaL_checkinteger(L, 2);

	luaL_checklstring(L, 1, &len);
	luaL_optlstring(L, 3, "", &sep);
	if (n > 0 && (len + sep) && (u64)n > SANDBOX_BLOCK_MAX / (len + sep))
		return luaL_error(L, "rep: the result would be longer than %d MiB; leave bulk data to the VMs",
				  (int)(SANDBOX_BLOCK_MAX >> 20));
	return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static void wrap(lua_State *L, int lib, const char *name, lua_CFunction fn)
{
	lua_getfield(L, lib, name);
	lua_pushcclosure(L, fn, 1);
	lua_setfield(L, lib, name);
}

void sandbox_open_string(lua_State *L)
{
	int lib;

	/* The library's own table is what methods of strings are looked up in: change it in place. */
	lua_pushcfunction(L, luaopen_string);
	lua_call(L, 0, 1);
	lib = lua_gettop(L);
	lua_pushnil(L);
	lua_setfield(L, lib, "dump");
	wrap(L, lib, "find", lib_find);
	wrap(L, lib, "match", lib_pattern);
	wrap(L, lib, "gmatch", lib_pattern);
	wrap(L, lib, "gsub", lib_gsub);
	wrap(L, lib, "format", lib_format);
	wrap(L, lib, "rep", lib_rep);
	lua_setfield(L, -2, "string");
}
