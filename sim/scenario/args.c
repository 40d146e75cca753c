// SPDX-License-Identifier: GPL-2.0
#include "args.h"

#include <string.h>

bool word_in(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (*words) {
		size_t n = strcspn(words, " ");

		if (n == len && len && memcmp(words, word, n) == 0)
			return true;
		words += n + strspn(words + n, " ");
	}
	return false;
}

struct args args_open(lua_State *L, int index, const char *verb, const char *keys)
{
	struct args a = { L, lua_absindex(L, index), verb };

	if (!lua_istable(L, index))
		luaL_error(L, "%s: a %s was given; give a table { name = value } of: %s", verb, luaL_typename(L, index), keys);
	for (lua_pushnil(L); lua_next(L, a.table); lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			luaL_error(L, "%s: a value without a name; write name = value, of: %s", verb, keys);
		if (!word_in(keys, lua_tostring(L, -2)))
			luaL_error(L, "%s: '%s' is not known; it takes: %s", verb, lua_tostring(L, -2), keys);
	}
	return a;
}

bool args_has(const struct args *a, const char *key)
{
	bool has;

	lua_pushstring(a->L, key);
	has = lua_rawget(a->L, a->table) != LUA_TNIL;
	lua_pop(a->L, 1);
	return has;
}

static bool get(const struct args *a, const char *key)
{
	lua_pushstring(a->L, key);
	if (lua_rawget(a->L, a->table) != LUA_TNIL)
		return true;
	lua_pop(a->L, 1);
	return false;
}

u64 args_u64(const struct args *a, const char *key, u64 otherwise)
{
	lua_Integer n;
	int ok;

	if (!get(a, key))
		return otherwise;
	n = lua_type(a->L, -1) == LUA_TNUMBER ? lua_tointegerx(a->L, -1, &ok) : (ok = 0, 0);
	if (!ok)
		luaL_error(a->L, "%s: '%s' is a %s; give a whole number", a->verb, key,
			   lua_type(a->L, -1) == LUA_TNUMBER ? "fraction" : luaL_typename(a->L, -1));
	lua_pop(a->L, 1);
	return (u64)n;
}

u64 args_range(const struct args *a, const char *key, u64 otherwise, u64 min, u64 max)
{
	u64 v = args_u64(a, key, otherwise);

	if (args_has(a, key) && (v < min || v > max))
		luaL_error(a->L, "%s: '%s' is %I; give %I to %I", a->verb, key, (lua_Integer)v, (lua_Integer)min, (lua_Integer)max);
	return v;
}

u64 args_need(const struct args *a, const char *key)
{
	if (!args_has(a, key))
		luaL_error(a->L, "%s: '%s' is missing; give a whole number", a->verb, key);
	return args_u64(a, key, 0);
}

bool args_bool(const struct args *a, const char *key, bool otherwise)
{
	bool v;

	if (!get(a, key))
		return otherwise;
	if (!lua_isboolean(a->L, -1))
		luaL_error(a->L, "%s: '%s' is a %s; give true or false", a->verb, key, luaL_typename(a->L, -1));
	v = lua_toboolean(a->L, -1);
	lua_pop(a->L, 1);
	return v;
}

const char *args_text(const struct args *a, const char *key, const char *otherwise)
{
	const char *s;

	if (!get(a, key))
		return otherwise;
	if (lua_type(a->L, -1) != LUA_TSTRING)
		luaL_error(a->L, "%s: '%s' is a %s; give a text", a->verb, key, luaL_typename(a->L, -1));
	s = lua_tostring(a->L, -1);
	lua_pop(a->L, 1);
	return s;
}

bool args_table(const struct args *a, const char *key)
{
	if (!get(a, key))
		return false;
	if (!lua_istable(a->L, -1))
		luaL_error(a->L, "%s: '%s' is a %s; give a table", a->verb, key, luaL_typename(a->L, -1));
	return true;
}

u64 args_bytes(const struct args *a, const char *key, u64 otherwise)
{
	const char *text, *p;
	u64 n = 0;
	u32 shift;

	if (!args_has(a, key))
		return otherwise;
	lua_pushstring(a->L, key);
	if (lua_rawget(a->L, a->table) == LUA_TNUMBER) {
		lua_pop(a->L, 1);
		return args_u64(a, key, otherwise);
	}
	lua_pop(a->L, 1);
	text = args_text(a, key, "");
	for (p = text; *p >= '0' && *p <= '9' && n < 1ull << 40; p++)
		n = n * 10 + (u64)(*p - '0');
	shift = *p == 'K' ? 10 : *p == 'M' ? 20 : *p == 'G' ? 30 : 0;
	if (p == text || (*p && (!shift || p[1])) || n >= 1ull << 33)
		luaL_error(a->L, "%s: '%s' is \"%s\"; give bytes, or a text such as \"64K\", \"1M\", \"2G\"", a->verb, key, text);
	return n << shift;
}

u64 arg_u64(lua_State *L, int index, const char *what)
{
	lua_Integer n;
	int ok;

	n = lua_type(L, index) == LUA_TNUMBER ? lua_tointegerx(L, index, &ok) : (ok = 0, 0);
	if (!ok)
		luaL_error(L, "%s is a %s; give a whole number", what, lua_isnone(L, index) ? "missing value" : luaL_typename(L, index));
	return (u64)n;
}

u64 arg_u64_or(lua_State *L, int index, const char *what, u64 otherwise)
{
	return lua_isnoneornil(L, index) ? otherwise : arg_u64(L, index, what);
}
