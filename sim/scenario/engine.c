// SPDX-License-Identifier: GPL-2.0
/* One run: a fresh machine, its watchers, the script's tasks, and how it ended. */

#include "engine.h"
#include "event.h"
#include "host/host.h"
#include "watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const policy_names[LIOV_POLICIES] = {
	[LIOV_POLICY_PAPER] = "paper", [LIOV_POLICY_MEDIATED] = "mediated", [LIOV_POLICY_NRD] = "nrd",
	[LIOV_POLICY_SIOV] = "siov",
};

const char *policy_name(enum liov_policy p)
{
	return policy_names[p];
}

enum liov_policy policy_from_name(const char *name)
{
	int p;

	for (p = 0; p < LIOV_POLICIES; p++)
		if (strcmp(policy_names[p], name) == 0)
			break;
	return (enum liov_policy)p;
}

const char *run_outcome_name(enum run_outcome o)
{
	static const char *const names[] = {
		[RUN_AS_EXPECTED] = "ok", [RUN_DIFFERS] = "FAIL", [RUN_EXPLORED] = "explored", [RUN_HUNG] = "HUNG",
		[RUN_ERROR] = "ERROR", [RUN_INTERNAL] = "BUG",
	};

	return names[o];
}

struct actor *actor_now(void)
{
	struct task *t = task_current();

	return t ? t->arg : NULL;
}

struct run *run_live(lua_State *L)
{
	struct run *r = run_of(L);

	if (!r->m)
		luaL_error(L, "there is no machine while the file is read; call this from run(m) or a variant's function");
	return r;
}

static lua_State *running(struct sandbox *sb)
{
	struct task *t = task_current();

	return t ? ((struct actor *)t->arg)->thread.L : sb->L;
}

void run_log(struct run *r, const char *text)
{
	size_t room = sizeof(r->res->log) - r->log_len;
	int n = snprintf(r->res->log + r->log_len, room, "%s\n", text);

	if (n > 0)
		r->log_len += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_failure(struct run *r, const char *text)
{
	struct run_result *res = r->res;

	if (res->nr_failures < RESULT_FAILURES_MAX)
		snprintf(res->failure[res->nr_failures++].text, sizeof(res->failure[0].text), "%s", text);
}

void run_fail(lua_State *L, const char *fmt, ...)
{
	char text[SCENARIO_ERROR_MAX];
	size_t n;
	va_list ap;

	luaL_where(L, 1);
	n = (size_t)snprintf(text, sizeof(text), "%s", lua_tostring(L, -1));
	lua_pop(L, 1);
	if (n >= sizeof(text))
		n = sizeof(text) - 1;
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - n, fmt, ap);
	va_end(ap);
	sandbox_whole_path(sandbox_of(L), text);
	add_failure(run_of(L), text);
}

void run_break(struct run *r, enum run_outcome outcome, const char *text)
{
	if (!r->broken) {
		r->res->outcome = outcome;
		add_failure(r, text);
	}
	r->broken = true;
	if (r->m)
		sched_stop(r->m->sched);
}

static void actor_main(void *arg)
{
	struct actor *a = arg;
	char err[SANDBOX_ERROR_MAX];

	if (sandbox_pcall(a->thread.L, lua_gettop(a->thread.L) - 1, 0, err)) {
		a->failed = true;
		run_break(a->run, RUN_ERROR, err);
	}
	a->done = true;
}

/* The function on top of @L and, where it is the script's first, the machine as its argument. */
struct actor *run_spawn(struct run *r, lua_State *L, struct script_vm *v, u32 vcpu)
{
	struct actor *a;

	if (r->nr_actors == SCENARIO_ACTORS_MAX)
		luaL_error(L, "more than %d actors; let one do the work of several", SCENARIO_ACTORS_MAX);
	a = calloc(1, sizeof(*a));
	if (!a)
		luaL_error(L, "no memory for an actor");
	a->run = r;
	a->vm = v;
	a->vcpu = vcpu;
	a->next = r->actors;
	r->actors = a;
	r->nr_actors++;
	if (!sandbox_thread_new(&r->sb, &a->thread))
		luaL_error(L, "no memory for an actor");
	lua_xmove(L, a->thread.L, 1);
	object_push(a->thread.L, "machine", r);
	a->task = machine_task(r->m, "scenario", actor_main, a);
	if (!a->task)
		luaL_error(L, "no memory for an actor");
	return a;
}

const char *run_vm_name(const struct run *r, u32 id, char buf[24])
{
	if (id < r->next_vm)
		return r->vms[id].name;
	snprintf(buf, 24, "%s", id == SIM_OWNER_HOST ? "host" : "nobody");
	return buf;
}

int run_create_vm(struct run *r, const struct vm_wish *w, struct script_vm **out)
{
	struct script_vm *v = &r->vms[r->next_vm];
	struct vm_wish mine = *w;
	int ret;

	if (r->next_vm == MACHINE_VMS_MAX)
		return -ENOSPC;
	mine.cfg.id = r->next_vm++;
	*v = (struct script_vm){ .run = r, .is_stock = w->stock };
	strcpy(v->name, w->name);
	mine.cfg.name = v->name;
	secret_vm(r, &mine.cfg);
	ret = vm_create(r->m, &mine.cfg, &v->vm);
	if (ret == 0)
		r->res->place[mine.cfg.id] = (struct run_place){ v->vm->liov.lba.start, v->vm->liov.lba.count };
	if (ret)
		v->vm = NULL;
	*out = v;
	return ret;
}

int run_start_vm(struct script_vm *v, u32 queues, u32 depth)
{
	return v->is_stock ? stock_start(v->vm, queues, depth, &v->stock) : vm_frontend_start(v->vm, queues, depth);
}

/* The header's VMs, their drivers, then run(m). */
static void world_up(struct run *r)
{
	char text[SCENARIO_ERROR_MAX];
	struct task *t = task_current();
	int ret = host_boot_liov(r->m);
	u32 i;

	if (ret) {
		snprintf(text, sizeof(text), "%s:1: LightIOV does not start on this machine: %s; change machine = { ... }", r->file->path, errno_word(ret));
		run_break(r, RUN_ERROR, text);
		return;
	}
	for (i = 0; i < r->nr_wishes && !r->broken; i++) {
		const struct vm_wish *w = &r->wish[i];
		struct script_vm *v;

		ret = run_create_vm(r, w, &v);
		if (ret == 0 && w->start) {
			t->gvcpu = &v->vm->gv[0];
			ret = run_start_vm(v, w->start_queues, w->start_depth);
			vm_pass(t->gvcpu, 0);
			t->gvcpu = NULL;
			if (ret == 0)
				continue;
			snprintf(text, sizeof(text), "%s:1: the driver of VM %s does not start: %s %d; set start = false to start it in run(m)",
				 r->file->path, w->name, ret < 0 ? errno_word(ret) : "NVMe status", ret);
			run_break(r, RUN_ERROR, text);
		} else if (ret) {
			snprintf(text, sizeof(text), "%s:1: VM %s is refused: %s; ask for less in vms = { ... }, or try it with m:create_vm{...}",
				 r->file->path, w->name, errno_word(ret));
			run_break(r, RUN_ERROR, text);
		}
	}
}

static void main_task(void *arg)
{
	struct actor *a = arg;
	struct run *r = a->run;

	world_up(r);
	if (r->opt->faults)
		faults_sprinkle(r);
	if (!r->broken && run_events(r))
		run_break(r, RUN_INTERNAL, "no memory");
	if (!r->broken)
		actor_main(a);
	r->ended = !r->broken;
	sched_stop(r->m->sched);
}

static void violated(void *opaque, const struct oracle_violation *v)
{
	struct run *r = opaque;

	recorder_interest(r->recorder, v->io_id);
}

/* The schedule of the run, if it is to have one. */
static int schedule_up(struct run *r)
{
	char text[SCENARIO_ERROR_MAX];

	if (!r->schedule)
		r->schedule = &r->own_schedule;
	if (r->opt->schedule && !schedule_parse(r->schedule, r->opt->schedule, r->opt->seed)) {
		snprintf(text, sizeof(text), "%s:1: '%.80s' is no schedule; give one as it was printed, - or ~7", r->file->path, r->opt->schedule);
		run_break(r, RUN_ERROR, text);
		return -1;
	}
	if (r->opt->schedule || r->opt->schedules)
		r->cfg.schedule = r->schedule;
	return 0;
}

static void count_trace(void *opaque, const struct trace_event *ev)
{
	struct run *r = opaque;

	(void)ev;
	if (++r->traced > r->opt->limit_trace)
		r->opt->stuck(r->opt->stuck_opaque, r->attackers != 0 || r->configured);
}

static int machine_up(struct run *r)
{
	static const u64 all[2] = { ~0ull, ~0ull };
	char text[SCENARIO_ERROR_MAX];

	if (schedule_up(r))
		return -1;
	secret_machine(r->opt->secret, &r->cfg);
	r->m = machine_new(&r->cfg);
	if (!r->m) {
		snprintf(text, sizeof(text), "%s:1: no such machine can be built; change machine = { ... }", r->file->path);
		run_break(r, RUN_ERROR, text);
		return -1;
	}
	if (r->opt->stuck)
		machine_listen(r->m, all, count_trace, r);
	r->recorder = recorder_new(r->m);
	/* Of many schedules none is: the one that fails is repeated. */
	if (r->opt->record_max && !r->explore)
		r->recording = recording_new(r->m);
	r->oracle = oracle_new(r->m, violated, r);
	if (r->opt->view)
		view_attach(r->opt->view, r->m);
	r->judge = r->oracle ? judge_new(r->m, r->oracle) : NULL;
	if (!r->recorder || !r->judge || (r->opt->record_max && !r->explore && !r->recording)) {
		run_break(r, RUN_INTERNAL, "no memory");
		return -1;
	}
	rng_split(&r->rng, r->opt->seed, "scenario");
	rng_split(&r->choices, r->opt->seed, "choose");
	return 0;
}

static int load(lua_State *L)
{
	struct run *r = run_of(L);

	/* The file may have changed since its header was read. */
	if (lua_getfield(L, LUA_REGISTRYINDEX, "liov.header") != LUA_TTABLE)
		return luaL_error(L, "no header; begin with scenario { id = ..., name = ..., vms = { ... } }");
	lua_pop(L, 1);
	header_machine(L, r);
	header_vms(L, r);
	header_events(L, r);
	header_push_function(L, r->file->variant[r->variant].name);
	return 1;
}

/* Compile and declare; leaves the variant's function on the main thread's stack. */
static int script_up(struct run *r)
{
	char err[SANDBOX_ERROR_MAX];
	lua_State *L;

	r->sb.opaque = r;
	r->sb.running = running;
	if (sandbox_init(&r->sb, &r->main)) {
		run_break(r, RUN_INTERNAL, "no memory");
		return -1;
	}
	L = r->sb.L;
	header_open(L);
	verbs_open(L);
	if (sandbox_load(&r->sb, r->file->path, err) || sandbox_pcall(L, 0, 0, err)) {
		run_break(r, RUN_ERROR, err);
		return -1;
	}
	lua_pushcfunction(L, load);
	if (sandbox_pcall(L, 0, 1, err)) {
		header_place(L, r->file->path, err);
		run_break(r, RUN_ERROR, err);
		return -1;
	}
	return 0;
}

static int spawn_main(lua_State *L)
{
	struct run *r = run_of(L);
	struct actor *a = run_spawn(r, L, NULL, 0);

	a->task->fn = main_task;
	return 0;
}

static void simulate(struct run *r)
{
	char text[SCENARIO_ERROR_MAX], err[SANDBOX_ERROR_MAX];
	lua_State *L = r->sb.L;
	enum sched_stop why;

	lua_pushcfunction(L, spawn_main);
	lua_insert(L, -2);
	if (sandbox_pcall(L, 1, 0, err)) {
		run_break(r, RUN_INTERNAL, err);
		return;
	}
	if (r->opt->limit_events && r->opt->limit_events < r->limit_events)
		r->limit_events = r->opt->limit_events;
	sched_limit_events(r->m->sched, r->limit_events);
	why = sched_run_until(r->m->sched, r->limit_ps);
	if (r->m->failed) {
		snprintf(text, sizeof(text), "%s:1: the machine's memory budget is used up; raise machine = { budget = ... }, or touch less", r->file->path);
		run_break(r, RUN_ERROR, text);
	} else if (!r->ended && !r->broken) {
		snprintf(text, sizeof(text), "%s:1: run(m) has not ended after %llu ms of simulated time and %llu events%s", r->file->path,
			 (unsigned long long)(sched_now(r->m->sched) / PS_PER_MS), (unsigned long long)sched_events_run(r->m->sched),
			 why == SCHED_EXHAUSTED ? " (the bound on events)" : "; raise limit = { time = s(...) } if it should take longer");
		run_break(r, RUN_HUNG, text);
	}
}

static void machine_down(struct run *r)
{
	u32 i;

	for (i = 0; i < site_count(); i++)
		if (site_set_has(&r->planted, i))
			sites_plant(i, false);
	if (r->m) {
		r->res->time_ps = sched_now(r->m->sched);
		r->res->events = sched_events_run(r->m->sched);
	}
	judge_free(r->judge);
	oracle_free(r->oracle);
	recorder_free(r->recorder);
	recording_free(r->recording);
	machine_free(r->m);
	sandbox_fini(&r->sb);
	while (r->actors) {
		struct actor *a = r->actors;

		r->actors = a->next;
		free(a);
	}
	while (r->ios) {
		struct script_io *io = r->ios;

		r->ios = io->next;
		free(io);
	}
	while (r->workloads) {
		struct script_workload *w = r->workloads;

		r->workloads = w->next;
		workload_free(w->w);
		free(w);
	}
}

void scenario_run_recorded(const struct scenario_file *file, u32 variant, enum liov_policy policy, const struct scenario_options *opt,
			   const struct expected_row *expected, struct run_result *out,
			   void (*taken)(void *opaque, const struct recorded_event *ev), void *opaque)
{
	struct run *r = calloc(1, sizeof(*r));

	memset(out, 0, sizeof(*out));
	out->policy = policy;
	out->seed = opt->seed;
	if (expected) {
		out->has_expected = true;
		out->expected = *expected;
	}
	if (!r) {
		out->outcome = RUN_INTERNAL;
		return;
	}
	sites_ablate(opt->ablate_late ? NULL : &opt->ablate);
	*r = (struct run){ .opt = opt, .file = file, .variant = variant, .policy = policy, .res = out, .violations_allowed = ~0ull };
	if (opt->schedules && explore_begin(r))
		run_break(r, RUN_INTERNAL, "no memory");
	else if (script_up(r) == 0 && machine_up(r) == 0) {
		simulate(r);
		run_conclude(r);
		if (r->recording)
			taken(opaque, recording_events(r->recording));
	}
	if (r->cfg.schedule)
		schedule_text(r->schedule, out->schedule);
	explore_end(r);
	sites_met(&out->refused, &out->taken);
	sites_met_ever(&out->met);
	machine_down(r);
	free(r);
}

void scenario_run(const struct scenario_file *file, u32 variant, enum liov_policy policy, const struct scenario_options *opt,
		  const struct expected_row *expected, struct run_result *out)
{
	struct scenario_options o = *opt;

	o.record_max = 0;
	scenario_run_recorded(file, variant, policy, &o, expected, out, NULL, NULL);
}
