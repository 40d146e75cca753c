/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_SANDBOX_H
#define SIM_SCENARIO_SANDBOX_H

/*
 * A Lua 5.4 state for scenarios of any origin: no way to files, processes, clocks or
 * chance; an order for everything that has one; a bound on instructions and memory. Work
 * done in C on a script's behalf is charged to the same budget, so it is deterministic,
 * and running out of it cannot be caught by the script.
 *
 * Coroutines, metatables and load() are not offered: actors are tasks (m:spawn), each a
 * thread of the state with a C stack of its own.
 */

#include "spec/spec_types.h"

#include <lauxlib.h>
#include <lua.h>

#define SANDBOX_CHUNK_MAX	(256u * 1024)	/* bytes of a scenario file */
#define SANDBOX_MEMORY_MAX	(64ull << 20)
#define SANDBOX_BLOCK_MAX	(4ull << 20)	/* one allocation */
#define SANDBOX_WORK_MAX	50000000ull	/* instructions */
#define SANDBOX_DEPTH_MAX	16u		/* C calling Lua calling C ... on one C stack */
#define SANDBOX_ERROR_MAX	512u

enum sandbox_over { SANDBOX_WITHIN, SANDBOX_OVER_WORK, SANDBOX_OVER_MEMORY };

struct sandbox {
	lua_State *L;			/* main thread */
	u64 memory, memory_max;
	u64 work, work_max;
	enum sandbox_over over;
	char over_where[200];		/* "file:line: " of the allocation refused */
	char path[256];			/* of the file loaded */
	lua_State *(*running)(struct sandbox *sb); /* the embedder's: whose code runs now; NULL: the main thread's */
	void *opaque;			/* the embedder's */
};

/* What is known of one Lua thread; the caller's memory, as long as the thread lives. */
struct sandbox_thread {
	struct sandbox *sb;
	lua_State *L;
	u32 depth;
	void *opaque;			/* the embedder's */
};

/* 0 or -ENOMEM. @main describes the main thread. */
int sandbox_init(struct sandbox *sb, struct sandbox_thread *main);
void sandbox_fini(struct sandbox *sb);

/* A further thread, kept alive to the end of the state. NULL without memory. */
lua_State *sandbox_thread_new(struct sandbox *sb, struct sandbox_thread *t);

struct sandbox_thread *sandbox_thread_of(lua_State *L);
static inline struct sandbox *sandbox_of(lua_State *L)
{
	return sandbox_thread_of(L)->sb;
}

/* Compile the text file @path: leaves its function on the stack. -1 with a message in @err. */
int sandbox_compile(lua_State *L, const char *path, char err[SANDBOX_ERROR_MAX]);
/* ... that is the scenario itself, on the main thread. */
int sandbox_load(struct sandbox *sb, const char *path, char err[SANDBOX_ERROR_MAX]);
/* The same of a text; @path stands for its path in messages. */
int sandbox_load_text(struct sandbox *sb, const char *path, const char *text, size_t len, char err[SANDBOX_ERROR_MAX]);

/* As lua_pcall(); -1 with "file:line: message" in @err. */
int sandbox_pcall(lua_State *L, int nargs, int nresults, char err[SANDBOX_ERROR_MAX]);

/* Lua shortens long paths in its messages to "...tail": give @text, which begins with a place, the whole path. */
void sandbox_whole_path(const struct sandbox *sb, char text[SANDBOX_ERROR_MAX]);

/* Charge work done in C; raises when there is no more. */
void sandbox_charge(lua_State *L, u64 work);

/* C is about to call Lua: raises when nested too deep. Undone by sandbox_leave(), or by who catches the error. */
void sandbox_enter(lua_State *L);
void sandbox_leave(lua_State *L);

/* sandbox_lib.c, sandbox_string.c: put the allowed library into the table on top of the stack. */
void sandbox_open_base(lua_State *L);
void sandbox_open_table(lua_State *L);
void sandbox_open_string(lua_State *L);

#endif
