// SPDX-License-Identifier: GPL-2.0
/*
 * expect.*: what must hold. A check that does not is recorded with its place, and the
 * script goes on: one run shows all of them.
 */

#include "engine.h"
#include "store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* In words, without addresses; numbers above 9 in both bases. */
static const char *shown(lua_State *L, int i, char buf[128])
{
	if (lua_isinteger(L, i) && (u64)lua_tointeger(L, i) > 9)
		snprintf(buf, 128, "%" PRId64 " (0x%" PRIx64 ")", (s64)lua_tointeger(L, i), (u64)lua_tointeger(L, i));
	else if (lua_type(L, i) == LUA_TSTRING)
		snprintf(buf, 128, "\"%.100s\"", lua_tostring(L, i));
	else if (lua_type(L, i) == LUA_TNUMBER)
		snprintf(buf, 128, "%.14g", lua_tonumber(L, i));
	else if (lua_isboolean(L, i))
		snprintf(buf, 128, "%s", lua_toboolean(L, i) ? "true" : "false");
	else
		snprintf(buf, 128, "%s", luaL_typename(L, i));
	return buf;
}

static const char *message(lua_State *L, int i)
{
	return lua_isstring(L, i) ? lua_tostring(L, i) : "";
}

static const char *colon(lua_State *L, int i)
{
	return lua_isstring(L, i) ? ": " : "";
}

static int e_equal(lua_State *L)
{
	char a[128], b[128];

	luaL_checkany(L, 1);
	luaL_checkany(L, 2);
	if (!lua_compare(L, 1, 2, LUA_OPEQ))
		run_fail(L, "%s%sseen %s, expected %s", message(L, 3), colon(L, 3), shown(L, 1, a), shown(L, 2, b));
	return 0;
}

static int e_different(lua_State *L)
{
	char a[128];

	luaL_checkany(L, 1);
	luaL_checkany(L, 2);
	if (lua_compare(L, 1, 2, LUA_OPEQ))
		run_fail(L, "%s%sseen %s, expected anything else", message(L, 3), colon(L, 3), shown(L, 1, a));
	return 0;
}

/* expect.status(got, "0/0x80"[, "0/0x00" ...]) */
static int e_status(lua_State *L)
{
	char a[128], b[128];
	int i, n = lua_gettop(L);

	luaL_checkany(L, 1);
	luaL_checkstring(L, 2);
	for (i = 2; i <= n; i++)
		if (lua_compare(L, 1, i, LUA_OPEQ))
			return 0;
	run_fail(L, "status: seen %s, expected %s%s", shown(L, 1, a), shown(L, 2, b), n > 2 ? " or another named" : "");
	return 0;
}

static int e_true(lua_State *L)
{
	char a[128];

	luaL_checkany(L, 1);
	if (!lua_toboolean(L, 1))
		run_fail(L, "%s%sseen %s, expected true", message(L, 2), colon(L, 2), shown(L, 1, a));
	return 0;
}

static int e_false(lua_State *L)
{
	char a[128];

	if (lua_toboolean(L, 1))
		run_fail(L, "%s%sseen %s, expected false", message(L, 2), colon(L, 2), shown(L, 1, a));
	return 0;
}

static int e_at_least(lua_State *L)
{
	char a[128], b[128];

	luaL_checknumber(L, 1);
	luaL_checknumber(L, 2);
	if (lua_compare(L, 1, 2, LUA_OPLT))
		run_fail(L, "%s%sseen %s, expected at least %s", message(L, 3), colon(L, 3), shown(L, 1, a), shown(L, 2, b));
	return 0;
}

static int e_at_most(lua_State *L)
{
	char a[128], b[128];

	luaL_checknumber(L, 1);
	luaL_checknumber(L, 2);
	if (lua_compare(L, 2, 1, LUA_OPLT))
		run_fail(L, "%s%sseen %s, expected at most %s", message(L, 3), colon(L, 3), shown(L, 1, a), shown(L, 2, b));
	return 0;
}

/* Sectors of a VM's memory as vm:fill() leaves them; a part of a sector only for zeros. */
static void check_content(lua_State *L, u64 tag)
{
	struct script_vm *v = check_live_vm(L, 1);
	u64 gpa = arg_u64(L, 2, "the address"), len = arg_u64(L, 3, "the length"), i;
	hpa_t hpa;

	if (gpa % STORE_SECTOR_SIZE || len % STORE_SECTOR_SIZE || !len || !vm_gpa_to_hpa(v->vm, (gpa_t){ gpa }, len, &hpa))
		luaL_error(L, "the range is not whole sectors of VM %s's memory; use multiples of 512 inside it", v->name);
	sandbox_charge(L, len / 64);
	for (i = 0; i < len / STORE_SECTOR_SIZE; i++) {
		if (secret_sector_is(v->run, v->run->m->memory, hpa.v + i * STORE_SECTOR_SIZE, tag ? tag + i : 0))
			continue;
		run_fail(L, "memory of VM %s at 0x%" PRIx64 ": expected %s", v->name, (u64)(gpa + i * STORE_SECTOR_SIZE), tag ? "what was filled in" : "zeros");
		return;
	}
}

static int e_zero(lua_State *L)
{
	check_content(L, 0);
	return 0;
}

static int e_holds(lua_State *L)
{
	check_content(L, arg_u64(L, 4, "the tag"));
	return 0;
}

/* expect.violations(n): as many as the oracle has seen so far, and no more to the end unless an attack is judged. */
static int e_violations(lua_State *L)
{
	struct run *r = run_live(L);
	u64 n = arg_u64(L, 1, "the number of violations"), seen = oracle_count(r->oracle);

	r->violations_allowed = n;
	if (seen != n)
		run_fail(L, "violations: seen %" PRIu64 ", expected %" PRIu64, seen, n);
	return 0;
}

static int e_fail(lua_State *L)
{
	run_fail(L, "%s", luaL_checkstring(L, 1));
	return 0;
}

void verbs_open_expect(lua_State *L)
{
	static const luaL_Reg expect[] = {
		{ "equal", e_equal }, { "different", e_different }, { "status", e_status }, { "true_", e_true }, { "false_", e_false },
		{ "at_least", e_at_least }, { "at_most", e_at_most }, { "zero", e_zero }, { "holds", e_holds },
		{ "violations", e_violations }, { "fail", e_fail }, { NULL, NULL }
	};

	lua_pushglobaltable(L);
	luaL_newlib(L, expect);
	lua_setfield(L, -2, "expect");
	lua_pop(L, 1);
}

void verbs_open(lua_State *L)
{
	verbs_open_machine(L);
	verbs_open_host(L);
	verbs_open_vm(L);
	verbs_open_memory(L);
	verbs_open_io(L);
	verbs_open_workload(L);
	verbs_open_attack(L);
	verbs_open_race(L);
	verbs_open_fault(L);
	verbs_open_expect(L);
}
