/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_SOURCE_H
#define SIM_SCENARIO_SOURCE_H

/*
 * What Lua's own reader lets pass in a scenario's text, and this one does not: numbers that it
 * would bend (a hexadecimal one of more than 64 bits wraps, a decimal one becomes a fraction, and
 * so does 1e9), negative quantities, leading zeros, a key that a table names twice (the last one
 * would count), bytes that are no text, and nesting without end. With line and column.
 */

#include "spec/spec_types.h"

#include <stddef.h>

#define SOURCE_ERROR_MAX	512u	/* as SANDBOX_ERROR_MAX */
#define SOURCE_DEPTH_MAX	64u
#define SOURCE_KEYS_MAX		1024u	/* in all tables that are open at a place */

/* 0, or -1 and @err has "path:line:column: what is wrong; what would be right". */
int source_check(const char *path, const char *text, size_t len, char err[SOURCE_ERROR_MAX]);

#endif
