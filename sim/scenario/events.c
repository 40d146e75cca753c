// SPDX-License-Identifier: GPL-2.0
/*
 * The header's events = { ... }: commands as they stand, at times that are known before anything
 * runs. All of it is checked when the file is read. What falls on one instant is sent in the order
 * of the list, whatever the order of the times in it.
 */

#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQE_DIGITS (2 * sizeof(struct nvme_sqe))
#define COUNT_MAX 1000u

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void read_sqe(const struct args *a, u8 out[sizeof(struct nvme_sqe)])
{
	const char *text = args_text(a, "sqe", "");
	size_t i;

	if (strlen(text) != SQE_DIGITS)
		luaL_error(a->L, "events: 'sqe' has %d digits; give the %d of 64 bytes", (int)strlen(text), (int)SQE_DIGITS);
	for (i = 0; i < SQE_DIGITS; i++) {
		int digit = hex_digit(text[i]);

		if (digit < 0)
			luaL_error(a->L, "events: 'sqe' has '%c' at %d; give digits 0 to 9, a to f", text[i], (int)i + 1);
		out[i / 2] = (u8)(i % 2 ? out[i / 2] | digit : digit << 4);
	}
}

static void read_times(const struct args *a, struct event_wish *e)
{
	e->at_ps = args_u64(a, "at", 0);
	e->count = args_u64(a, "count", 1);
	e->every_ps = args_u64(a, "every", 0);
	if (e->count == 0 || e->count > COUNT_MAX)
		luaL_error(a->L, "events: 'count' is %I; give 1 to %d", (lua_Integer)e->count, COUNT_MAX);
	if (e->count > 1 && e->every_ps == 0)
		luaL_error(a->L, "events: 'every' is 0 or missing; give the time between two of %I", (lua_Integer)e->count);
	if (e->at_ps > SCENARIO_TIME_MAX || e->every_ps > SCENARIO_TIME_MAX ||
	    e->count - 1 > (SCENARIO_TIME_MAX - e->at_ps) / (e->every_ps ? e->every_ps : 1))
		luaL_error(a->L, "events: it ends after an hour of simulated time, or never; give less of 'at', 'every' or 'count'");
}

static void read_target(const struct args *a, struct run *r, struct event_wish *e)
{
	const char *vm = args_text(a, "vm", "");

	for (e->vm = 0; e->vm < r->nr_wishes; e->vm++)
		if (strcmp(r->wish[e->vm].name, vm) == 0)
			break;
	if (e->vm == r->nr_wishes)
		luaL_error(a->L, "events: there is no VM '%s'; name one of vms = { ... }", vm);
	e->queue = (u32)args_range(a, "queue", 1, 1, r->wish[e->vm].cfg.liov.nr_queues);
}

void header_events(lua_State *L, struct run *r)
{
	lua_Integer i;

	r->nr_events = 0;
	lua_getfield(L, LUA_REGISTRYINDEX, "liov.header");
	lua_getfield(L, -1, "events");
	lua_remove(L, -2);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		return;
	}
	if (!lua_istable(L, -1))
		luaL_error(L, "scenario: 'events' is a %s; give a list { { at = us(1), vm = \"A\", sqe = \"...\" }, ... }", luaL_typename(L, -1));
	for (i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++) {
		struct event_wish *e = &r->event[r->nr_events];
		struct args a = args_open(L, -1, "events", "at every count vm queue sqe");

		if (r->nr_events == SCENARIO_EVENTS_MAX)
			luaL_error(L, "scenario: more than %d events; let run(m) send some", SCENARIO_EVENTS_MAX);
		*e = (struct event_wish){ .run = r };
		read_times(&a, e);
		read_target(&a, r, e);
		read_sqe(&a, e->sqe);
		r->nr_events++;
		lua_pop(L, 1);
	}
	if (lua_rawlen(L, -2) != r->nr_events)
		luaL_error(L, "scenario: 'events' is no list; write { { at = ... }, ... }");
	lua_pop(L, 2);
}

static void send(struct event_wish *e, struct script_vm *v)
{
	struct gvcpu *gv = &v->vm->gv[0];
	struct script_io *io = calloc(1, sizeof(*io));
	struct run *r = e->run;
	struct nvme_sqe sqe;

	if (!io)
		return;
	io->vm = v;
	io->next = r->ios;
	r->ios = io;
	r->nr_ios++;
	memcpy(&sqe, e->sqe, sizeof(sqe));
	task_current()->gvcpu = gv;
	if (vm_submit_raw(v->vm, e->queue - 1, &sqe, &io->io) == 0)
		r->events_sent++;
	if (!v->vm->dead) {
		vm_drain_stores(gv);
		vm_pass(gv, 0);
	}
	task_current()->gvcpu = NULL;
}

static void event_task(void *arg)
{
	struct event_wish *e = arg;
	struct sched *sched = e->run->m->sched;
	struct script_vm *v = &e->run->vms[e->vm];
	u64 start = sched_now(sched), n;

	for (n = 0; n < e->count; n++) {
		u64 due = start + e->at_ps + n * e->every_ps, now = sched_now(sched);

		if (due > now)
			task_sleep(due - now);
		if (!v->vm || v->vm->dead)
			return;
		send(e, v);
	}
}

int run_events(struct run *r)
{
	u32 i;

	for (i = 0; i < r->nr_events; i++)
		if (!machine_task(r->m, "event", event_task, &r->event[i]))
			return -ENOMEM;
	return 0;
}
