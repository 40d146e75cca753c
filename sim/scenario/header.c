// SPDX-License-Identifier: GPL-2.0
/*
 * What a scenario file declares: scenario { ... }, run(m), variant(name, { ... }, fn). The
 * declarations are kept in the registry; nothing of the machine is at hand while they are made.
 */

#include "engine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REG_HEADER "liov.header"
#define REG_VARIANTS "liov.variants"
#define REG_WHERE "liov.where"

static int decl_scenario(lua_State *L)
{
	args_open(L, 1, "scenario", "id name tags about attacker covers machine vms events policies limit");
	if (lua_getfield(L, LUA_REGISTRYINDEX, REG_HEADER) != LUA_TNIL)
		return luaL_error(L, "scenario: declared twice; keep one header a file");
	lua_pushvalue(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, REG_HEADER);
	luaL_where(L, 1);
	lua_setfield(L, LUA_REGISTRYINDEX, REG_WHERE);
	return 0;
}

void header_place(lua_State *L, const char *path, char err[SCENARIO_ERROR_MAX])
{
	char with[SCENARIO_ERROR_MAX + 300];
	size_t n = strlen(path);

	if (strncmp(err, path, n) == 0 && err[n] == ':')
		return;
	lua_settop(L, 0);
	lua_getfield(L, LUA_REGISTRYINDEX, REG_WHERE);
	if (lua_isstring(L, -1))
		snprintf(with, sizeof(with), "%s%s", lua_tostring(L, -1), err);
	else
		snprintf(with, sizeof(with), "%s:1: %s", path, err);
	snprintf(err, SCENARIO_ERROR_MAX, "%.*s", SCENARIO_ERROR_MAX - 1, with);
	sandbox_whole_path(sandbox_of(L), err);
	lua_settop(L, 0);
}

/* Variant entries: { name, options, function }. */
static int decl_variant(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);
	int fn = lua_isfunction(L, 2) ? 2 : 3;
	lua_Integer i, n;

	if (!lua_isfunction(L, fn))
		return luaL_error(L, "variant: no function; write variant(\"a\", { about = ... }, function(m) ... end)");
	if (strlen(name) >= sizeof(((struct scenario_variant *)0)->name) || !*name)
		return luaL_error(L, "variant: the name \"%s\" is empty or too long; use at most 15 characters", name);
	if (fn == 3)
		args_open(L, 2, "variant", "about attacker policies machine vms");
	lua_getfield(L, LUA_REGISTRYINDEX, REG_VARIANTS);
	n = (lua_Integer)lua_rawlen(L, -1);
	for (i = 1; i <= n; i++) {
		lua_rawgeti(L, -1, i);
		lua_rawgeti(L, -1, 1);
		if (strcmp(lua_tostring(L, -1), name) == 0)
			return luaL_error(L, "variant: \"%s\" is declared twice; give each a name of its own", name);
		lua_pop(L, 2);
	}
	if (n == SCENARIO_VARIANTS_MAX)
		return luaL_error(L, "variant: more than %d in one file; split it", SCENARIO_VARIANTS_MAX);
	lua_createtable(L, 3, 0);
	lua_pushvalue(L, 1);
	lua_rawseti(L, -2, 1);
	if (fn == 3)
		lua_pushvalue(L, 2);
	else
		lua_newtable(L);
	lua_rawseti(L, -2, 2);
	lua_pushvalue(L, fn);
	lua_rawseti(L, -2, 3);
	lua_rawseti(L, -2, n + 1);
	return 0;
}

/* The VMs of the attack corpus' baseline, in the order that gives them its blocks, queues and memory; fields may be changed: baseline { A = { queues = 8 } } */
static int decl_baseline(lua_State *L)
{
	static const struct { const char *name; int queues; } vm[] = { { "B", 2 }, { "A", 2 }, { "C", 1 } };
	u32 i;

	lua_settop(L, 1);
	if (!lua_isnil(L, 1))
		args_open(L, 1, "baseline", "A B C");
	lua_createtable(L, 3, 0);
	for (i = 0; i < 3; i++) {
		lua_newtable(L);
		lua_pushstring(L, vm[i].name);
		lua_setfield(L, -2, "name");
		lua_pushinteger(L, vm[i].queues);
		lua_setfield(L, -2, "queues");
		if (lua_istable(L, 1) && lua_getfield(L, 1, vm[i].name) == LUA_TTABLE) {
			for (lua_pushnil(L); lua_next(L, -2);) {
				lua_pushvalue(L, -2);
				lua_insert(L, -2);
				lua_settable(L, -5);
			}
			lua_pop(L, 1);
		} else if (lua_istable(L, 1)) {
			lua_pop(L, 1);
		}
		lua_rawseti(L, 2, i + 1);
	}
	return 1;
}

/*
 * include "name": the nearest lib/name.lua, beside the scenario or above it. A bare name, so that
 * nothing but what lies in such a folder can be reached. One that includes itself runs out of depth.
 */
static int decl_include(lua_State *L)
{
	size_t len, n = strlen(sandbox_of(L)->path);
	const char *name = luaL_checklstring(L, 1, &len), *scenario = sandbox_of(L)->path;
	char path[400], err[SANDBOX_ERROR_MAX];

	if (len == 0 || len > 32 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != len)
		return luaL_error(L, "include: '%s' is no name; give that of a file lib/NAME.lua, in small letters", name);
	do {
		while (n && scenario[n - 1] != '/')
			n--;
		snprintf(path, sizeof(path), "%.*slib/%s.lua", (int)n, scenario, name);
		if (access(path, R_OK) == 0)
			break;
	} while (n-- > 0);
	if (n == (size_t)-1)
		return luaL_error(L, "include: there is no lib/%s.lua beside the scenario or above it", name);
	if (sandbox_compile(L, path, err))
		return luaL_error(L, "%s", err);
	sandbox_enter(L);
	lua_call(L, 0, 1);
	sandbox_leave(L);
	return 1;
}

/* Durations are whole picoseconds: ns(40), us(5), ms(1), s(2). */
#define DURATION(fn, unit) \
static int fn(lua_State *L) \
{ \
	lua_pushinteger(L, (lua_Integer)(arg_u64(L, 1, "the duration") * (unit))); \
	return 1; \
}
DURATION(decl_ns, PS_PER_NS)
DURATION(decl_us, PS_PER_US)
DURATION(decl_ms, PS_PER_MS)
DURATION(decl_s, 1000 * PS_PER_MS)

static int unknown_global(lua_State *L)
{
	if (lua_type(L, 2) == LUA_TSTRING)
		return luaL_error(L, "'%s' is not known here; declare it with local, or see the list of verbs in scenarios/README.md", lua_tostring(L, 2));
	return luaL_error(L, "no such global");
}

void header_open(lua_State *L)
{
	static const luaL_Reg globals[] = {
		{ "scenario", decl_scenario }, { "variant", decl_variant }, { "baseline", decl_baseline }, { "include", decl_include },
		{ "ns", decl_ns }, { "us", decl_us }, { "ms", decl_ms }, { "s", decl_s }, { NULL, NULL }
	};

	lua_newtable(L);
	lua_setfield(L, LUA_REGISTRYINDEX, REG_VARIANTS);
	lua_pushglobaltable(L);
	luaL_setfuncs(L, globals, 0);
	lua_newtable(L);
	lua_pushcfunction(L, unknown_global);
	lua_setfield(L, -2, "__index");
	lua_setmetatable(L, -2);
	lua_pop(L, 1);
}

static void copy_text(lua_State *L, const struct args *a, const char *key, char *dst, size_t size)
{
	const char *s = args_text(a, key, "");

	if (strlen(s) >= size)
		luaL_error(L, "%s: '%s' is longer than %d characters; shorten it", a->verb, key, (int)size - 1);
	strcpy(dst, s);
}

static u32 read_policies(lua_State *L, const struct args *a, u32 otherwise)
{
	u32 mask = 0;
	lua_Integer i;

	if (!args_table(a, "policies"))
		return otherwise;
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		const char *name = lua_tostring(L, -1);
		enum liov_policy p = name ? policy_from_name(name) : LIOV_POLICIES;

		if (p == LIOV_POLICIES)
			luaL_error(L, "%s: no policy '%s'; there are paper, mediated, nrd, siov", a->verb, name ? name : "?");
		mask |= 1u << p;
		lua_pop(L, 1);
	}
	lua_pop(L, 2);
	if (!mask)
		luaL_error(L, "%s: 'policies' is empty; name some of paper, mediated, nrd, siov", a->verb);
	return mask;
}

static void read_tags(lua_State *L, const struct args *a, struct scenario_file *f)
{
	lua_Integer i;

	if (!args_table(a, "tags"))
		return;
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		const char *tag = lua_tostring(L, -1);

		if (!tag || strlen(tag) >= sizeof(f->tag[0]) || f->nr_tags == SCENARIO_TAGS_MAX)
			luaL_error(L, "scenario: 'tags' takes at most %d texts of at most 23 characters", SCENARIO_TAGS_MAX);
		strcpy(f->tag[f->nr_tags++], tag);
		f->benign = f->benign || strcmp(tag, "benign") == 0;
		lua_pop(L, 1);
	}
	lua_pop(L, 2);
}

/* A file without an id is called by its own name. */
static void default_id(struct scenario_file *f)
{
	const char *base = strrchr(f->path, '/');
	size_t n;

	base = base ? base + 1 : f->path;
	n = strcspn(base, ".");
	snprintf(f->id, sizeof(f->id), "%.*s", (int)(n < 23 ? n : 23), base);
}

static void check_attacker(lua_State *L, const char *verb, const char *who)
{
	if (*who && !word_in("guest-user guest-kernel host-bug config", who))
		luaL_error(L, "%s: no attacker '%s'; there are guest-user, guest-kernel, host-bug, config", verb, who);
}

static void read_variants(lua_State *L, struct scenario_file *f, u32 policies)
{
	lua_Integer i;

	if (lua_getglobal(L, "run") == LUA_TFUNCTION) {
		struct scenario_variant *v = &f->variant[f->nr_variants++];

		strcpy(v->name, "-");
		strcpy(v->attacker, f->attacker);
		v->policies = policies;
	}
	lua_pop(L, 1);
	lua_getfield(L, LUA_REGISTRYINDEX, REG_VARIANTS);
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL && f->nr_variants < SCENARIO_VARIANTS_MAX; i++) {
		struct scenario_variant *v = &f->variant[f->nr_variants++];
		struct args a;

		lua_rawgeti(L, -1, 1);
		strcpy(v->name, lua_tostring(L, -1));
		lua_rawgeti(L, -2, 2);
		a = (struct args){ L, lua_gettop(L), "variant" };
		copy_text(L, &a, "about", v->about, sizeof(v->about));
		copy_text(L, &a, "attacker", v->attacker, sizeof(v->attacker));
		if (!*v->attacker)
			strcpy(v->attacker, f->attacker);
		check_attacker(L, "variant", v->attacker);
		v->policies = read_policies(L, &a, policies);
		lua_pop(L, 3);
	}
	lua_pop(L, 2);
	if (f->nr_variants == 0)
		luaL_error(L, "%s:1: nothing to run; define function run(m), or variant(\"a\", function(m) ... end)", f->path);
}

void header_read(lua_State *L, struct scenario_file *f)
{
	struct args a;
	u32 policies;

	/* A plain lookup: an undefined run is no mistake. */
	lua_pushglobaltable(L);
	if (lua_getfield(L, LUA_REGISTRYINDEX, REG_HEADER) == LUA_TNIL)
		luaL_error(L, "%s:1: no header; begin with scenario { id = ..., name = ..., vms = { ... } }", f->path);
	a = (struct args){ L, lua_gettop(L), "scenario" };
	copy_text(L, &a, "id", f->id, sizeof(f->id));
	copy_text(L, &a, "name", f->name, sizeof(f->name));
	copy_text(L, &a, "about", f->about, sizeof(f->about));
	copy_text(L, &a, "attacker", f->attacker, sizeof(f->attacker));
	check_attacker(L, "scenario", f->attacker);
	if (!*f->id)
		default_id(f);
	read_tags(L, &a, f);
	policies = read_policies(L, &a, (1u << LIOV_POLICIES) - 1);
	lua_pushliteral(L, "run");
	if (lua_rawget(L, -3) == LUA_TNIL) {
		lua_pushboolean(L, false);	/* so that reading it does not raise */
		lua_setglobal(L, "run");
	}
	read_variants(L, f, policies);
	lua_settop(L, 0);
}

/* Push part @part of the variant's entry, alone. */
static bool push_entry(lua_State *L, const char *variant, int part)
{
	lua_Integer i;

	lua_getfield(L, LUA_REGISTRYINDEX, REG_VARIANTS);
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		lua_rawgeti(L, -1, 1);
		if (strcmp(lua_tostring(L, -1), variant) == 0) {
			lua_pop(L, 1);
			lua_rawgeti(L, -1, part);
			lua_replace(L, -3);
			lua_pop(L, 1);
			return true;
		}
		lua_pop(L, 2);
	}
	lua_pop(L, 2);
	return false;
}

bool header_push_options(lua_State *L, const char *variant)
{
	return strcmp(variant, "-") != 0 && push_entry(L, variant, 2);
}

void header_push_function(lua_State *L, const char *variant)
{
	if (strcmp(variant, "-") == 0)
		lua_getglobal(L, "run");
	else if (!push_entry(L, variant, 3))
		luaL_error(L, "no variant '%s' in this file", variant);
}
