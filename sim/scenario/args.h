/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_ARGS_H
#define SIM_SCENARIO_ARGS_H

/*
 * Named arguments of verbs and fields of the header: what is not known, or not of the
 * kind wanted, is an error that says what would be right. All raise Lua errors.
 */

#include "sandbox.h"

struct args {
	lua_State *L;
	int table;			/* absolute stack index */
	const char *verb;		/* for messages */
};

/* The table at @index takes only the names in @keys (separated by blanks). */
struct args args_open(lua_State *L, int index, const char *verb, const char *keys);

bool args_has(const struct args *a, const char *key);
u64 args_u64(const struct args *a, const char *key, u64 otherwise);
/* ... and within [min, max]. */
u64 args_range(const struct args *a, const char *key, u64 otherwise, u64 min, u64 max);
u64 args_need(const struct args *a, const char *key);
bool args_bool(const struct args *a, const char *key, bool otherwise);
/* Valid as long as the table holds it. */
const char *args_text(const struct args *a, const char *key, const char *otherwise);
/* Push the table @key, or false (nothing pushed). */
bool args_table(const struct args *a, const char *key);

/* A number of bytes: an integer, or a text such as "1M" (K, M, G). */
u64 args_bytes(const struct args *a, const char *key, u64 otherwise);

/* Positional integer, as unsigned. */
u64 arg_u64(lua_State *L, int index, const char *what);
u64 arg_u64_or(lua_State *L, int index, const char *what, u64 otherwise);

/* Is @word one of @words, separated by blanks? */
bool word_in(const char *words, const char *word);

#endif
