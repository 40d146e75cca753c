// SPDX-License-Identifier: GPL-2.0
/* vm:workload{...} and what it came to. */

#include "engine.h"

#include <stdlib.h>
#include <string.h>

static int vm_workload(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	struct args a = args_open(L, 2, "workload", "queue depth blocks read_percent random first span requests cpu buffers verify may_fail seed");
	struct workload_config cfg = {
		.queue = (u32)args_range(&a, "queue", 1, 1, LIOV_VM_QUEUES_MAX) - 1, .depth = (u32)args_range(&a, "depth", 1, 1, LIOV_QUEUE_DEPTH_MAX),
		.blocks = (u32)args_range(&a, "blocks", 8, 1, 256), .read_percent = (u32)args_range(&a, "read_percent", 100, 0, 100),
		.random = args_bool(&a, "random", true), .first_block = args_u64(&a, "first", 0), .span_blocks = args_u64(&a, "span", 0x10000),
		.requests = args_u64(&a, "requests", 0), .cpu_ps = args_u64(&a, "cpu", 0), .verify = args_bool(&a, "verify", true),
		.buffers = (u32)args_range(&a, "buffers", 0, 0, 1 << 20),
		.stock = v->is_stock ? v->stock : NULL,
	};
	struct script_workload *w = calloc(1, sizeof(*w));
	char name[64];

	if (!w)
		return luaL_error(L, "no memory for a workload");
	w->vm = v;
	w->may_fail = args_bool(&a, "may_fail", false);
	snprintf(name, sizeof(name), "workload %s %u", v->name, cfg.queue);
	cfg.secret = secret_of_workload(v->run, v->vm->cfg.id);
	cfg.seed = args_u64(&a, "seed", rng_split_seed(v->run->opt->seed, name)) ^ cfg.secret;
	w->next = v->run->workloads;
	v->run->workloads = w;
	w->w = workload_start(v->vm, &cfg);
	if (!w->w) {
		v->run->workloads = w->next;
		free(w);
		return luaL_error(L, "workload: refused; the driver must be up, the queue the VM's, and 'span' a multiple of 'blocks' inside its blocks");
	}
	object_push(L, "workload", w);
	return 1;
}

static int w_stop(lua_State *L)
{
	struct script_workload *w = object_check(L, 1, "workload");

	lua_pushboolean(L, workload_stop(w->w, arg_u64_or(L, 2, "the time to wait", SCENARIO_WAIT_PS)));
	return 1;
}

static int w_join(lua_State *L)
{
	struct script_workload *w = object_check(L, 1, "workload");

	lua_pushboolean(L, workload_join(w->w, arg_u64_or(L, 2, "the time to wait", 10 * SCENARIO_WAIT_PS)));
	return 1;
}

static void set(lua_State *L, const char *name, u64 v)
{
	lua_pushinteger(L, (lua_Integer)v);
	lua_setfield(L, -2, name);
}

static int w_result(lua_State *L)
{
	struct script_workload *w = object_check(L, 1, "workload");
	struct workload_result r = workload_result(w->w);
	u64 span = r.last_ps > r.first_ps ? r.last_ps - r.first_ps : 0;

	lua_newtable(L);
	set(L, "submitted", r.submitted);
	set(L, "completed", r.completed);
	set(L, "errors", r.errors);
	set(L, "wrong", r.wrong);
	set(L, "twice", r.twice);
	set(L, "outstanding", r.outstanding);
	set(L, "first", r.first_ps);
	set(L, "last", r.last_ps);
	set(L, "stall", r.stall_ps);
	set(L, "iops", span ? (u64)((unsigned __int128)(r.completed - 1) * 1000000000000ull / span) : 0);
	set(L, "mean", hist_mean(r.latency));
	set(L, "p50", hist_percentile(r.latency, 50, 100));
	set(L, "p99", hist_percentile(r.latency, 99, 100));
	set(L, "p999", hist_percentile(r.latency, 999, 1000));
	return 1;
}

void verbs_open_workload(lua_State *L)
{
	static const luaL_Reg vm_verbs[] = { { "workload", vm_workload }, { NULL, NULL } };
	static const luaL_Reg verbs[] = { { "stop", w_stop }, { "join", w_join }, { "result", w_result }, { NULL, NULL } };

	object_verbs(L, "vm", vm_verbs);
	object_kind(L, "workload", verbs, NULL);
}
