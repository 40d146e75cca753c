// SPDX-License-Identifier: GPL-2.0
/*
 * The base, table and math libraries as scenarios have them. What Lua leaves to hash
 * order, addresses, the clock or chance is replaced or left out.
 */

#include "sandbox.h"

#include <lualib.h>
#include <stdlib.h>
#include <string.h>

/* Copy @names of the library table at @from into the table on top. */
static void copy_names(lua_State *L, int from, const char *const *names)
{
	for (; *names; names++) {
		lua_getfield(L, from, *names);
		lua_setfield(L, -2, *names);
	}
}

static bool has_address(lua_State *L, int i)
{
	int type = lua_type(L, i);

	return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TTHREAD || type == LUA_TLIGHTUSERDATA;
}

/* Tables and functions have no name of their own: their kind, not their address. */
static int lib_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	if (has_address(L, 1))
		lua_pushstring(L, luaL_typename(L, 1));
	else
		luaL_tolstring(L, 1, NULL);
	return 1;
}

/* Running out of a budget goes through to the top. */
static int lib_pcall(lua_State *L)
{
	struct sandbox_thread *t = sandbox_thread_of(L);
	u32 depth = t->depth;
	int status;

	luaL_checkany(L, 1);
	sandbox_enter(L);
	status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
	t->depth = depth;
	if (status == LUA_ERRMEM && !t->sb->over)
		t->sb->over = t->sb->work > t->sb->work_max ? SANDBOX_OVER_WORK : SANDBOX_OVER_MEMORY;
	if (status != LUA_OK && t->sb->over)
		return lua_error(L);
	lua_pushboolean(L, status == LUA_OK);
	lua_insert(L, 1);
	return lua_gettop(L);
}

/* A key in the order of pairs(): whole numbers, then texts by bytes, then false and true. */
struct key {
	int rank;
	lua_Integer n;
	const char *text;
	size_t len;
};

static int key_compare(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;
	size_t len = a->len < b->len ? a->len : b->len;
	int c;

	if (a->rank != b->rank)
		return a->rank - b->rank;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	c = len ? memcmp(a->text, b->text, len) : 0;
	if (c)
		return c;
	return a->len == b->len ? 0 : a->len < b->len ? -1 : 1;
}

static struct key key_of(lua_State *L, int i)
{
	struct key k = { .rank = 0 };

	switch (lua_type(L, i)) {
	case LUA_TNUMBER:
		if (!lua_isinteger(L, i))
			luaL_error(L, "pairs: a key is the fraction %f; use whole numbers or texts as keys", lua_tonumber(L, i));
		k.n = lua_tointeger(L, i);
		break;
	case LUA_TSTRING:
		k.rank = 1;
		k.text = lua_tolstring(L, i, &k.len);
		break;
	case LUA_TBOOLEAN:
		k.rank = 2;
		k.n = lua_toboolean(L, i);
		break;
	default:
		luaL_error(L, "pairs: a key is a %s, which has no order; use whole numbers or texts as keys", luaL_typename(L, i));
	}
	return k;
}

static void key_push(lua_State *L, const struct key *k)
{
	if (k->rank == 1)
		lua_pushlstring(L, k->text, k->len);
	else if (k->rank == 2)
		lua_pushboolean(L, (int)k->n);
	else
		lua_pushinteger(L, k->n);
}

/* Upvalues: keys in order, how many are done. Keys that lost their value meanwhile are passed over. */
static int pairs_step(lua_State *L)
{
	lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));

	for (;;) {
		if (lua_rawgeti(L, lua_upvalueindex(1), ++i) == LUA_TNIL)
			return 1;
		lua_pushvalue(L, -1);
		if (lua_rawget(L, 1) != LUA_TNIL)
			break;
		lua_pop(L, 2);
	}
	lua_pushinteger(L, i);
	lua_replace(L, lua_upvalueindex(2));
	return 2;
}

static int lib_pairs(lua_State *L)
{
	struct key *keys;
	size_t n = 0, i;

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
		n++;
	sandbox_charge(L, n * 8);
	keys = lua_newuserdatauv(L, n * sizeof(*keys) + 1, 0);
	for (i = 0, lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
		keys[i++] = key_of(L, -2);
	qsort(keys, n, sizeof(*keys), key_compare);
	lua_createtable(L, (int)n, 0);
	for (i = 0; i < n; i++) {
		key_push(L, &keys[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, pairs_step, 2);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}

void sandbox_open_base(lua_State *L)
{
	static const char *const base[] = { "assert", "error", "ipairs", "rawequal", "rawlen", "select", "tonumber", "type", NULL };
	static const char *const math[] = { "abs", "ceil", "floor", "fmod", "max", "min", "tointeger", "type", "ult", "huge",
					    "maxinteger", "mininteger", NULL };

	lua_pushcfunction(L, luaopen_base);
	lua_call(L, 0, 1);
	lua_insert(L, -2);
	copy_names(L, lua_gettop(L) - 1, base);
	lua_remove(L, -2);
	lua_pushcfunction(L, lib_tostring);
	lua_setfield(L, -2, "tostring");
	lua_pushcfunction(L, lib_pcall);
	lua_setfield(L, -2, "pcall");
	lua_pushcfunction(L, lib_pairs);
	lua_setfield(L, -2, "pairs");
	lua_pushcfunction(L, luaopen_math);
	lua_call(L, 0, 1);
	lua_newtable(L);
	copy_names(L, lua_gettop(L) - 1, math);
	lua_setfield(L, -3, "math");
	lua_pop(L, 1);
}

/* Is element @a less than @b (stack indices)? By the function at 2, or by <. */
static bool sort_less(lua_State *L, int a, int b)
{
	bool less;

	if (lua_isnil(L, 2))
		return lua_compare(L, a, b, LUA_OPLT);
	lua_pushvalue(L, 2);
	lua_pushvalue(L, a);
	lua_pushvalue(L, b);
	lua_call(L, 2, 1);
	less = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return less;
}

/* Merge [lo, mid) and [mid, hi) of the table at 1 into the one at 3. */
static void sort_merge(lua_State *L, lua_Integer lo, lua_Integer mid, lua_Integer hi)
{
	lua_Integer a = lo, b = mid, out;

	for (out = lo; out < hi; out++) {
		bool second = a == mid;

		if (a < mid && b < hi) {
			lua_rawgeti(L, 1, a);
			lua_rawgeti(L, 1, b);
			second = sort_less(L, lua_gettop(L), lua_gettop(L) - 1);
			lua_pop(L, 2);
		}
		lua_rawgeti(L, 1, second ? b++ : a++);
		lua_rawseti(L, 3, out);
	}
}

/* Lua's own picks pivots by the clock. Merging is stable, and any comparison function ends. */
static int lib_sort(lua_State *L)
{
	lua_Integer n, width, lo, i;

	luaL_checktype(L, 1, LUA_TTABLE);
	if (!lua_isnoneornil(L, 2))
		luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_settop(L, 2);
	n = (lua_Integer)lua_rawlen(L, 1);
	sandbox_charge(L, (u64)n * 32);
	sandbox_enter(L);
	lua_createtable(L, (int)n, 0);
	for (width = 1; width < n; width *= 2) {
		for (lo = 1; lo <= n; lo += 2 * width) {
			lua_Integer mid = lo + width > n ? n + 1 : lo + width;
			lua_Integer hi = mid + width > n ? n + 1 : mid + width;

			sort_merge(L, lo, mid, hi);
		}
		for (i = 1; i <= n; i++) {
			lua_rawgeti(L, 3, i);
			lua_rawseti(L, 1, i);
		}
	}
	sandbox_leave(L);
	return 0;
}

/* Library functions that move elements: charged by how many, then called as they are (upvalue 1). */
static int lib_moving(lua_State *L)
{
	lua_CFunction f = lua_tocfunction(L, lua_upvalueindex(1));

	luaL_checktype(L, 1, LUA_TTABLE);
	sandbox_charge(L, lua_rawlen(L, 1) / 8);
	return f(L);
}

static int lib_move(lua_State *L)
{
	lua_CFunction f = lua_tocfunction(L, lua_upvalueindex(1));
	lua_Integer from = luaL_checkinteger(L, 2), to = luaL_checkinteger(L, 3);

	if (to >= from)
		sandbox_charge(L, (u64)to - (u64)from);
	return f(L);
}

void sandbox_open_table(lua_State *L)
{
	static const char *const table[] = { "concat", "pack", "unpack", NULL };
	int lib, top;

	lua_pushcfunction(L, luaopen_table);
	lua_call(L, 0, 1);
	lib = lua_gettop(L);
	lua_newtable(L);
	top = lua_gettop(L);
	copy_names(L, lib, table);
	lua_getfield(L, lib, "insert");
	lua_pushcclosure(L, lib_moving, 1);
	lua_setfield(L, top, "insert");
	lua_getfield(L, lib, "remove");
	lua_pushcclosure(L, lib_moving, 1);
	lua_setfield(L, top, "remove");
	lua_getfield(L, lib, "move");
	lua_pushcclosure(L, lib_move, 1);
	lua_setfield(L, top, "move");
	lua_pushcfunction(L, lib_sort);
	lua_setfield(L, top, "sort");
	lua_setfield(L, lib - 1, "table");
	lua_settop(L, lib - 1);
}
