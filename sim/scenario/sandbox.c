// SPDX-License-Identifier: GPL-2.0
/* The state, its budgets, and how errors leave it. */

#include "sandbox.h"
#include "source.h"

#include <errno.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOOK_INSTRUCTIONS 1000

/* Work of an allocation: copying and clearing what large objects are made of. */
#define WORK_PER_BYTES 64

struct sandbox_thread *sandbox_thread_of(lua_State *L)
{
	struct sandbox_thread *t;

	memcpy(&t, lua_getextraspace(L), sizeof(t));
	return t;
}

static void thread_set(lua_State *L, struct sandbox_thread *t)
{
	memcpy(lua_getextraspace(L), &t, sizeof(t));
}

/*
 * Where the running code is, for a message that Lua gives without a place. Reads the
 * call chain only: it is called from inside an allocation.
 */
static void where(lua_State *L, char *buf, size_t size)
{
	lua_Debug ar;
	int level;

	buf[0] = '\0';
	for (level = 0; L && level < 64 && lua_getstack(L, level, &ar); level++) {
		if (!lua_getinfo(L, "Sl", &ar) || ar.currentline <= 0)
			continue;
		snprintf(buf, size, "%s:%d: ", ar.short_src, ar.currentline);
		return;
	}
}

static void note_where(struct sandbox *sb)
{
	where(sb->running ? sb->running(sb) : sb->L, sb->over_where, sizeof(sb->over_where));
}

static void *sandbox_alloc(void *opaque, void *ptr, size_t osize, size_t nsize)
{
	struct sandbox *sb = opaque;
	size_t old = ptr ? osize : 0;
	void *p;

	if (nsize == 0) {
		free(ptr);
		sb->memory -= old;
		return NULL;
	}
	if (nsize > old) {
		sb->work += nsize / WORK_PER_BYTES;
		if (nsize > SANDBOX_BLOCK_MAX || sb->memory - old + nsize > sb->memory_max || sb->work > sb->work_max) {
			note_where(sb);
			return NULL;
		}
	}
	p = realloc(ptr, nsize);
	if (p)
		sb->memory += nsize - old;
	return p;
}

static int over_error(lua_State *L, int level)
{
	struct sandbox *sb = sandbox_of(L);

	sb->over = SANDBOX_OVER_WORK;
	luaL_where(L, level);
	lua_pushfstring(L, "the scenario ran more than %I instructions; end its loops, or let m:sleep() pass the time",
			(lua_Integer)sb->work_max);
	lua_concat(L, 2);
	return lua_error(L);
}

static void sandbox_hook(lua_State *L, lua_Debug *ar)
{
	struct sandbox *sb = sandbox_of(L);

	(void)ar;
	sb->work += HOOK_INSTRUCTIONS;
	if (sb->work > sb->work_max || sb->over)
		over_error(L, 0);
}

void sandbox_charge(lua_State *L, u64 work)
{
	struct sandbox *sb = sandbox_of(L);

	sb->work = work > sb->work_max ? sb->work_max + 1 : sb->work + work;
	if (sb->work > sb->work_max || sb->over)
		over_error(L, 1);
}

void sandbox_enter(lua_State *L)
{
	if (++sandbox_thread_of(L)->depth > SANDBOX_DEPTH_MAX)
		luaL_error(L, "calls back into the script are nested more than %d deep; use a loop", (int)SANDBOX_DEPTH_MAX);
}

void sandbox_leave(lua_State *L)
{
	sandbox_thread_of(L)->depth--;
}

/* An allowed few names, in a new table that replaces the globals. */
static void sandbox_globals(lua_State *L)
{
	lua_newtable(L);
	sandbox_open_base(L);
	sandbox_open_table(L);
	sandbox_open_string(L);
	lua_pushvalue(L, -1);
	lua_setfield(L, -2, "_G");
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

static int sandbox_setup(lua_State *L)
{
	sandbox_globals(L);
	return 0;
}

int sandbox_init(struct sandbox *sb, struct sandbox_thread *main)
{
	void *opaque = sb->opaque;

	*sb = (struct sandbox){ .memory_max = SANDBOX_MEMORY_MAX, .work_max = SANDBOX_WORK_MAX,
				.running = sb->running, .opaque = opaque };
	sb->L = lua_newstate(sandbox_alloc, sb);
	if (!sb->L)
		return -ENOMEM;
	*main = (struct sandbox_thread){ .sb = sb, .L = sb->L };
	thread_set(sb->L, main);
	lua_pushcfunction(sb->L, sandbox_setup);
	if (lua_pcall(sb->L, 0, 0, 0) != LUA_OK) {
		sandbox_fini(sb);
		return -ENOMEM;
	}
	sb->work = 0;
	lua_sethook(sb->L, sandbox_hook, LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
	return 0;
}

void sandbox_fini(struct sandbox *sb)
{
	if (sb->L)
		lua_close(sb->L);
	sb->L = NULL;
}

static int thread_make(lua_State *L)
{
	lua_newthread(L);
	lua_pushvalue(L, -1);
	luaL_ref(L, LUA_REGISTRYINDEX);
	return 1;
}

/* Runs on the main thread between two scripts' turns, so its own stack is left as it was. */
lua_State *sandbox_thread_new(struct sandbox *sb, struct sandbox_thread *t)
{
	lua_State *L = NULL;

	if (!lua_checkstack(sb->L, 4))
		return NULL;
	lua_pushcfunction(sb->L, thread_make);
	if (lua_pcall(sb->L, 0, 1, 0) == LUA_OK)
		L = lua_tothread(sb->L, -1);
	lua_pop(sb->L, 1);
	if (!L)
		return NULL;
	*t = (struct sandbox_thread){ .sb = sb, .L = L };
	thread_set(L, t);
	return L;
}

void sandbox_whole_path(const struct sandbox *sb, char text[SANDBOX_ERROR_MAX])
{
	char whole[SANDBOX_ERROR_MAX + sizeof(sb->path)];
	size_t tail, path = strlen(sb->path);

	if (strncmp(text, "...", 3) != 0)
		return;
	tail = strcspn(text + 3, ":");
	if (tail > path || strncmp(sb->path + path - tail, text + 3, tail) != 0)
		return;
	snprintf(whole, sizeof(whole), "%s%s", sb->path, text + 3 + tail);
	snprintf(text, SANDBOX_ERROR_MAX, "%.*s", (int)SANDBOX_ERROR_MAX - 1, whole);
}

static const char wanted[] = "give the path of a Lua text file";

static int compile_text(lua_State *L, const char *path, const char *text, size_t len, char err[SANDBOX_ERROR_MAX])
{
	char name[300];

	if (len > SANDBOX_CHUNK_MAX) {
		snprintf(err, SANDBOX_ERROR_MAX, "%s:1: longer than %u bytes; split the scenario", path, SANDBOX_CHUNK_MAX);
		return -1;
	}
	if (len && *text == *LUA_SIGNATURE) {
		snprintf(err, SANDBOX_ERROR_MAX, "%s:1: compiled Lua; %s", path, wanted);
		return -1;
	}
	if (source_check(path, text, len, err))
		return -1;
	snprintf(name, sizeof(name), "@%s", path);
	if (luaL_loadbufferx(L, text, len, name, "t") == LUA_OK)
		return 0;
	snprintf(err, SANDBOX_ERROR_MAX, "%s", lua_tostring(L, -1));
	sandbox_whole_path(sandbox_of(L), err);
	lua_pop(L, 1);
	return -1;
}

int sandbox_compile(lua_State *L, const char *path, char err[SANDBOX_ERROR_MAX])
{
	char *text = malloc(SANDBOX_CHUNK_MAX + 1);
	FILE *f = text ? fopen(path, "rb") : NULL;
	size_t len;
	int ret;

	if (!f) {
		snprintf(err, SANDBOX_ERROR_MAX, "%s:1: cannot be opened: %s; %s", path, text ? strerror(errno) : "no memory", wanted);
		free(text);
		return -1;
	}
	len = fread(text, 1, SANDBOX_CHUNK_MAX + 1, f);
	ret = ferror(f) ? errno : 0;
	fclose(f);
	if (ret)
		snprintf(err, SANDBOX_ERROR_MAX, "%s:1: cannot be read: %s; %s", path, strerror(ret), wanted);
	else
		ret = compile_text(L, path, text, len, err);
	free(text);
	return ret ? -1 : 0;
}

int sandbox_load(struct sandbox *sb, const char *path, char err[SANDBOX_ERROR_MAX])
{
	snprintf(sb->path, sizeof(sb->path), "%s", path);
	return sandbox_compile(sb->L, path, err);
}

int sandbox_load_text(struct sandbox *sb, const char *path, const char *text, size_t len, char err[SANDBOX_ERROR_MAX])
{
	snprintf(sb->path, sizeof(sb->path), "%s", path);
	return compile_text(sb->L, path, text, len, err);
}

static void error_text(lua_State *L, int status, char *err)
{
	struct sandbox *sb = sandbox_of(L);

	bool memory = status == LUA_ERRMEM || sb->over == SANDBOX_OVER_MEMORY;

	if (memory && sb->work > sb->work_max)
		snprintf(err, SANDBOX_ERROR_MAX, "%sthe scenario ran more than %llu instructions; end its loops, or let m:sleep() pass the time",
			 sb->over_where, (unsigned long long)sb->work_max);
	else if (memory)
		snprintf(err, SANDBOX_ERROR_MAX, "%sthe scenario wants more than %llu MiB of memory (%llu MiB at once); keep less, and leave bulk data to the VMs",
			 sb->over_where, (unsigned long long)sb->memory_max >> 20, SANDBOX_BLOCK_MAX >> 20);
	else
		snprintf(err, SANDBOX_ERROR_MAX, "%s", lua_tostring(L, -1));
	sandbox_whole_path(sb, err);
}

/* error() may be given anything, and C gives no place: say what and where while it is still known. */
static int message_handler(lua_State *L)
{
	char place[200], *colon;

	where(L, place, sizeof(place));
	colon = strchr(place, ':');
	if (lua_type(L, 1) == LUA_TSTRING && (!colon || strncmp(lua_tostring(L, 1), place, (size_t)(colon + 1 - place)) == 0)) {
		lua_settop(L, 1);
		return 1;
	}
	if (lua_type(L, 1) == LUA_TSTRING)
		lua_pushfstring(L, "%s%s", place, lua_tostring(L, 1));
	else
		lua_pushfstring(L, "%serror() was given a %s; give it a text", place, luaL_typename(L, 1));
	return 1;
}

int sandbox_pcall(lua_State *L, int nargs, int nresults, char err[SANDBOX_ERROR_MAX])
{
	struct sandbox_thread *t = sandbox_thread_of(L);
	int handler = lua_gettop(L) - nargs;
	u32 depth = t->depth;
	int status;

	lua_pushcfunction(L, message_handler);
	lua_insert(L, handler);
	status = lua_pcall(L, nargs, nresults, handler);
	lua_remove(L, handler);
	if (status == LUA_OK)
		return 0;
	t->depth = depth;
	if (status == LUA_ERRMEM && !t->sb->over)
		t->sb->over = t->sb->work > t->sb->work_max ? SANDBOX_OVER_WORK : SANDBOX_OVER_MEMORY;
	error_text(L, status, err);
	lua_pop(L, 1);
	return -1;
}
