// SPDX-License-Identifier: GPL-2.0
/* race(fn) and choose{ ... }: where a run may go in several ways. */

#include "engine.h"

/* race(function() ... end): its schedules are what --schedules explores and --schedule repeats. */
static int g_race(lua_State *L)
{
	struct run *r = run_live(L);

	luaL_checktype(L, 1, LUA_TFUNCTION);
	lua_settop(L, 1);
	if (r->raced)
		return luaL_error(L, "race: a run has one race; put all that races into it");
	r->raced = true;
	explore_race(r);
	sandbox_enter(L);
	lua_call(L, 0, 0);
	sandbox_leave(L);
	r->schedule->open = false;
	return 0;
}

static u32 chosen(struct run *r, u32 n)
{
	return r->schedule->open ? schedule_choose(r->schedule, SCHEDULE_CHOOSE, n) : (u32)rng_below(&r->choices, n);
}

/* choose(n): 1 to n. choose{ a, b, c }: one of them. Of a race all are tried; elsewhere the seed decides. */
static int g_choose(lua_State *L)
{
	struct run *r = run_live(L);
	lua_Integer n = lua_istable(L, 1) ? (lua_Integer)lua_rawlen(L, 1) : luaL_checkinteger(L, 1);

	if (n < 1 || n > (lua_Integer)SCHEDULE_OPTIONS_MAX)
		return luaL_error(L, "choose: %I alternatives; give 1 to %d", n, (int)SCHEDULE_OPTIONS_MAX);
	n = chosen(r, (u32)n) + 1;
	if (lua_istable(L, 1))
		lua_rawgeti(L, 1, n);
	else
		lua_pushinteger(L, n);
	return 1;
}

void verbs_open_race(lua_State *L)
{
	static const luaL_Reg globals[] = { { "race", g_race }, { "choose", g_choose }, { NULL, NULL } };

	lua_pushglobaltable(L);
	luaL_setfuncs(L, globals, 0);
	lua_pop(L, 1);
}
