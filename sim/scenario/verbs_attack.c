// SPDX-License-Identifier: GPL-2.0
/* What a scenario tells the judge: whose attack it is, what was measured; and chance. */

#include "engine.h"

#include <stdlib.h>
#include <string.h>

/* Where the scenario attacks first: of its own file, also when what attacks is included. */
static void remember_line(lua_State *L, struct run *r)
{
	lua_Debug at;
	int level;

	for (level = 1; !r->res->attack_line && lua_getstack(L, level, &at); level++)
		if (lua_getinfo(L, "Sl", &at) && at.source[0] == '@' && !strcmp(at.source + 1, r->file->path) && at.currentline > 0)
			r->res->attack_line = (u32)at.currentline;
}

static void span(struct run *r, bool open)
{
	r->attack_open = open;
	recorder_attack(r->recorder, open);
	if (r->recording)
		recording_attack(r->recording, open);
}

/* From here on the sites of a late ablation are left out, which what came before needed. */
static void ablate_late(const struct run *r)
{
	u32 i;

	for (i = 0; r->opt->ablate_late && i < site_count(); i++)
		if (site_set_has(&r->opt->ablate, i))
			sites_plant(i, true);
}

/* attack(vm, function() ... end) or attack{ by = vm, sister = true, function() ... end } */
static int g_attack(lua_State *L)
{
	struct run *r = run_live(L);
	struct script_vm *v;
	bool sister = false, before = r->attack_open;

	if (lua_istable(L, 1)) {
		struct args a;

		lua_settop(L, 1);
		lua_rawgeti(L, 1, 1);
		lua_pushnil(L);
		lua_rawseti(L, 1, 1);
		a = args_open(L, 1, "attack", "by sister");
		sister = args_bool(&a, "sister", false);
		lua_getfield(L, 1, "by");
		v = check_vm(L, lua_gettop(L));
		lua_pop(L, 1);
	} else {
		v = check_vm(L, 1);
		lua_settop(L, 2);
	}
	luaL_checktype(L, 2, LUA_TFUNCTION);
	if (!v->vm)
		return luaL_error(L, "attack: VM %s was never there", v->name);
	if (sister)
		judge_sister(r->judge);
	r->attackers |= 1ull << v->vm->cfg.id;
	remember_line(L, r);
	ablate_late(r);
	if (r->opt->no_attack)
		return 0;
	span(r, true);
	judge_open(r->judge, v->vm->cfg.id);
	sandbox_enter(L);
	lua_call(L, 0, 0);
	sandbox_leave(L);
	span(r, before);
	if (!before)
		judge_close(r->judge);
	return 0;
}

/* configure(function() ... end): configurations that must be refused; configure{ legal = true, function() ... end }: that must not. */
static int g_configure(lua_State *L)
{
	struct run *r = run_live(L);
	bool legal = false;

	if (lua_istable(L, 1)) {
		struct args a;

		lua_settop(L, 1);
		lua_rawgeti(L, 1, 1);
		lua_pushnil(L);
		lua_rawseti(L, 1, 1);
		a = args_open(L, 1, "configure", "legal");
		legal = args_bool(&a, "legal", false);
	}
	luaL_checktype(L, -1, LUA_TFUNCTION);
	r->configured = true;
	if (r->opt->no_attack)
		return 0;
	judge_open_configuration(r->judge, legal);
	sandbox_enter(L);
	lua_call(L, 0, 0);
	sandbox_leave(L);
	judge_close(r->judge);
	return 0;
}

/* load(text): the loader reads a scenario that is a text. True, or nil and why it is refused. */
static int g_load(lua_State *L)
{
	struct run *r = run_live(L);
	struct scenario_file *f;
	char err[SCENARIO_ERROR_MAX];
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	int ret;

	sandbox_charge(L, len);
	f = malloc(sizeof(*f));
	if (!f)
		return luaL_error(L, "no memory for a scenario");
	ret = scenario_read_text("text", text, len, f, err);
	free(f);
	judge_configured(r->judge, ret == 0, COMPONENT_NONE);
	if (ret == 0) {
		lua_pushboolean(L, true);
		return 1;
	}
	lua_pushnil(L);
	lua_pushstring(L, err);
	return 2;
}

static int g_degraded(lua_State *L)
{
	judge_measured(run_live(L)->judge, VERDICT_DEGRADED);
	return 0;
}

static int g_outage(lua_State *L)
{
	judge_measured(run_live(L)->judge, VERDICT_OUTAGE);
	return 0;
}

/* rejected("backend"): a configuration was refused by it */
static int g_rejected(lua_State *L)
{
	const char *who = luaL_checkstring(L, 1);
	int c;

	for (c = COMPONENT_FRONTEND; c <= COMPONENT_CONTROLLER; c++) {
		if (strcmp(verdict_component_name((enum verdict_component)c), who) == 0) {
			judge_rejected(run_live(L)->judge, (enum verdict_component)c);
			return 0;
		}
	}
	return luaL_error(L, "rejected: no component '%s'; there are frontend, mediator, device, backend, host, ept, iommu, irte, pci, controller", who);
}

static int g_seen(lua_State *L)
{
	const char *code = luaL_checkstring(L, 1);

	/* Others the machine shows itself. */
	if (strncmp(code, "csts:", 5) && strncmp(code, "cmbsts:", 7))
		return luaL_error(L, "seen: '%s' is not for a script to say; only what a register showed is: csts:... or cmbsts:...", code);
	judge_code(run_live(L)->judge, code);
	return 0;
}

/* measure("b.share", value): whole, or a fraction kept to six places; true and false are 1 and 0 */
static int g_measure(lua_State *L)
{
	struct run_result *res = run_live(L)->res;
	const char *name = luaL_checkstring(L, 1);
	struct run_measure *m = NULL;
	u32 i;

	if (!expected_name_ok(name))
		return luaL_error(L, "measure: the name '%s' is too long or odd; use letters, digits, blanks and _ . , / ( ) -", name);
	for (i = 0; i < res->nr_measures; i++)
		if (strcmp(res->measure[i].name, name) == 0)
			m = &res->measure[i];
	if (!m && res->nr_measures == RESULT_MEASURES_MAX)
		return luaL_error(L, "measure: more than %d in one run; report fewer", RESULT_MEASURES_MAX);
	if (!m)
		m = &res->measure[res->nr_measures++];
	strcpy(m->name, name);
	if (lua_isboolean(L, 2)) {
		m->micro = lua_toboolean(L, 2) * 1000000;
	} else if (lua_isinteger(L, 2)) {
		lua_Integer v = lua_tointeger(L, 2);

		if (v > INT64_MAX / 1000000 || v < INT64_MIN / 1000000)
			return luaL_error(L, "measure: %s is too large; use a larger unit", name);
		m->micro = (s64)v * 1000000;
	} else {
		lua_Number v = luaL_checknumber(L, 2) * 1e6;

		if (!(v < 9e18 && v > -9e18))
			return luaL_error(L, "measure: %s is no number that can be reported", name);
		m->micro = (s64)(v < 0 ? v - 0.5 : v + 0.5);
	}
	return 0;
}

static int g_log(lua_State *L)
{
	luaL_Buffer b;
	int i, n = lua_gettop(L);

	luaL_buffinit(L, &b);
	for (i = 1; i <= n; i++) {
		if (i > 1)
			luaL_addchar(&b, ' ');
		if (lua_isuserdata(L, i) || lua_isstring(L, i) || lua_isboolean(L, i))
			luaL_tolstring(L, i, NULL);
		else
			lua_pushstring(L, luaL_typename(L, i));
		luaL_addvalue(&b);
	}
	luaL_pushresult(&b);
	run_log(run_of(L), lua_tostring(L, -1));
	return 0;
}

static int rng_below_verb(lua_State *L)
{
	u64 n = arg_u64(L, 1, "the bound");

	if (n == 0)
		return luaL_error(L, "rng.below: nothing is below 0; give at least 1");
	lua_pushinteger(L, (lua_Integer)rng_below(&run_live(L)->rng, n));
	return 1;
}

static int rng_range_verb(lua_State *L)
{
	u64 lo = arg_u64(L, 1, "the least"), hi = arg_u64(L, 2, "the greatest");

	if (lo > hi)
		return luaL_error(L, "rng.range: the least is above the greatest; swap them");
	lua_pushinteger(L, (lua_Integer)rng_range(&run_live(L)->rng, lo, hi));
	return 1;
}

static int rng_chance_verb(lua_State *L)
{
	u64 num = arg_u64(L, 1, "the numerator"), den = arg_u64(L, 2, "the denominator");

	if (den == 0 || num > den)
		return luaL_error(L, "rng.chance: %I of %I is no chance", (lua_Integer)num, (lua_Integer)den);
	lua_pushboolean(L, rng_chance(&run_live(L)->rng, num, den));
	return 1;
}

void verbs_open_attack(lua_State *L)
{
	static const luaL_Reg globals[] = {
		{ "attack", g_attack }, { "configure", g_configure }, { "load", g_load }, { "degraded", g_degraded }, { "outage", g_outage }, { "rejected", g_rejected },
		{ "seen", g_seen }, { "measure", g_measure }, { "log", g_log }, { "print", g_log }, { NULL, NULL }
	};
	static const luaL_Reg rng[] = {
		{ "below", rng_below_verb }, { "range", rng_range_verb }, { "chance", rng_chance_verb }, { NULL, NULL }
	};

	lua_pushglobaltable(L);
	luaL_setfuncs(L, globals, 0);
	luaL_newlib(L, rng);
	lua_setfield(L, -2, "rng");
	lua_pop(L, 1);
}
