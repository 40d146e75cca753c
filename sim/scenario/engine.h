/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SCENARIO_ENGINE_H
#define SIM_SCENARIO_ENGINE_H

/* What the files of the scenario engine share about one run. */

#include "args.h"
#include "judge/verdict.h"
#include "oracle/oracle.h"
#include "report/recorder.h"
#include "report/recording.h"
#include "report/view.h"
#include "scenario.h"
#include "sites.h"
#include "vm/io.h"
#include "workload/workload.h"

#define SCENARIO_LIMIT_PS	(30000 * PS_PER_MS)
#define SCENARIO_LIMIT_EVENTS	100000000ull
#define SCENARIO_IOS_MAX	65536u
#define SCENARIO_EVENTS_MAX	64u
#define SCENARIO_TIME_MAX	(3600 * 1000 * PS_PER_MS)
#define SCENARIO_ACTORS_MAX	256u
#define SCENARIO_WAIT_PS	(1000 * PS_PER_MS)	/* what a verb waits unless told */
#define SCENARIO_BYTES_MAX	65536u			/* of memory or media that a verb reads into a text */

struct run;

/* A VM as the header wants it. */
struct vm_wish {
	char name[24];
	struct vm_config cfg;
	bool start, stock;
	u32 start_queues, start_depth;
};

/* Commands at known times, as the header wants them: the first at @at_ps from when all VMs are up. */
struct event_wish {
	struct run *run;
	u64 at_ps, every_ps, count;
	u32 vm, queue;			/* index of wish[]; from 1 */
	u8 sqe[64];
};

/* A VM as the script knows it, by id. */
struct script_vm {
	struct run *run;
	char name[24];
	bool is_stock;
	struct port_vm *vm;
	struct stock_driver *stock;
};

/* A task that runs a function of the script. */
struct actor {
	struct actor *next;
	struct run *run;
	struct sandbox_thread thread;
	struct task *task;
	struct script_vm *vm;		/* stands there by default, on this vCPU */
	u32 vcpu;
	bool done, failed;
};

/* A command on its way: lives to the end of the run. */
struct script_io {
	struct script_io *next;
	struct vm_io io;
	struct script_vm *vm;
	bool in_attack;			/* submitted by the attacker while the span was open */
};

struct script_workload {
	struct script_workload *next;
	struct workload *w;
	struct script_vm *vm;
	bool may_fail;
};

/* After how many occasions a fault happens again. */
#define FAULT_CHANCES_MAX 16u
struct fault_chance {
	struct rng rng;
	u64 num, den;
};

struct run {
	const struct scenario_options *opt;
	const struct scenario_file *file;
	u32 variant;
	enum liov_policy policy;
	struct run_result *res;
	struct sandbox sb;
	struct sandbox_thread main;
	struct machine_config cfg;
	u64 limit_ps, limit_events, traced;
	struct machine *m;
	struct recorder *recorder;
	struct recording *recording;	/* NULL: not asked for */
	struct oracle *oracle;
	struct judge *judge;
	struct rng rng;
	struct vm_wish wish[RESULT_VMS_MAX];
	u32 nr_wishes;
	struct event_wish event[SCENARIO_EVENTS_MAX];
	u32 nr_events;
	u64 events_sent;
	struct script_vm vms[MACHINE_VMS_MAX];
	u32 next_vm;			/* id */
	struct actor *actors;
	u32 nr_actors;
	struct script_io *ios;
	u32 nr_ios;
	struct script_workload *workloads;
	bool attack_open;
	bool configured;		/* configure() was called: it is a configuration's scenario */
	u64 attackers;			/* bit: VM id */
	struct site_set planted;	/* checks that the scenario had left out */
	u64 violations_allowed;		/* said by expect.violations(n); ~0: not said */
	struct schedule own_schedule, *schedule;	/* used where the options ask for one */
	struct explore *explore;	/* NULL: one run */
	bool raced;			/* race() was called */
	struct rng choices;		/* of choose{} outside race() */
	struct fault_chance chance[FAULT_CHANCES_MAX];	/* of faults that come by chance */
	u32 nr_chances;
	bool ended;			/* run(m) came back */
	bool broken;			/* a mistake ended it */
	size_t log_len;
};

static inline struct run *run_of(lua_State *L)
{
	return sandbox_of(L)->opaque;
}

/* ... of a verb that needs the machine: not while the file is only being read. */
struct run *run_live(lua_State *L);

/* The actor whose code runs, in a verb. */
struct actor *actor_now(void);

/* Record a check that did not hold, with the script's place. */
void run_fail(lua_State *L, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A mistake that ends the run: @text has its place. */
void run_break(struct run *r, enum run_outcome outcome, const char *text);
void run_log(struct run *r, const char *text);

/* conclude.c: from what happened to the result. Not after a mistake before anything ran. */
void run_conclude(struct run *r);

/*
 * explore.c. race(fn) is the part of a run whose schedules are explored: from its beginning each is run in a
 * process of its own, forked from the machine as it stands. explore_race() returns in each of them and, when all
 * are done, in the first process, with the choices of its own made by default.
 */
int explore_begin(struct run *r);	/* 0 or -errno; where the options ask for it */
void explore_race(struct run *r);
/* The end of a run: a process of a schedule hands its result over and ends; the first takes what was found. */
void explore_end(struct run *r);

/* verbs_fault.c: late DMA and late interrupts now and then, by the options' seed of faults: what no software may be upset by. */
void faults_sprinkle(struct run *r);

/* Make the VM of @w with the next id. 0 or -errno. In a host task. */
int run_create_vm(struct run *r, const struct vm_wish *w, struct script_vm **out);
/* Bring its driver up. 0 or -errno, or a positive NVMe status. */
int run_start_vm(struct script_vm *v, u32 queues, u32 depth);
const char *run_vm_name(const struct run *r, u32 id, char buf[24]);

/* A function on top of the stack of @L becomes a task. */
struct actor *run_spawn(struct run *r, lua_State *L, struct script_vm *v, u32 vcpu);

/* Stand on a vCPU of @v for the time of a verb. Nothing may raise between the two. */
struct stand {
	struct task *task;
	struct gvcpu *before, *gv;
};
struct stand stand_on(lua_State *L, struct script_vm *v);
void stand_off(struct stand *s);

/* header.c: what variants, machine and VMs the chunk on top of the stack declared */
void header_open(lua_State *L);
void header_read(lua_State *L, struct scenario_file *f);
/* Push the table of options given with @variant, or false. */
bool header_push_options(lua_State *L, const char *variant);
/* Push the function of @variant. */
void header_push_function(lua_State *L, const char *variant);
/* Give a message that has no place that of the header. */
void header_place(lua_State *L, const char *path, char err[SCENARIO_ERROR_MAX]);
void header_machine(lua_State *L, struct run *r);
void header_vms(lua_State *L, struct run *r);
/* @index: a table as in vms = { ... }; @id names its default memory. */
void header_vm_wish(lua_State *L, int index, struct vm_wish *w, u32 id, enum liov_policy policy);

/* events.c: after the VMs; and their tasks, when all is up: 0 or -ENOMEM */
void header_events(lua_State *L, struct run *r);
int run_events(struct run *r);

/* verbs*.c: metatables and globals of scripts */
void verbs_open(lua_State *L);		/* all */
void verbs_open_machine(lua_State *L);
void verbs_open_host(lua_State *L);
void verbs_open_vm(lua_State *L);
void verbs_open_memory(lua_State *L);
void verbs_open_io(lua_State *L);
void verbs_open_workload(lua_State *L);
void verbs_open_attack(lua_State *L);
void verbs_open_race(lua_State *L);
void verbs_open_fault(lua_State *L);
void verbs_open_expect(lua_State *L);

/* objects.c: userdata of the kinds "machine", "vm", "io", "workload", "actor" */
void object_kind(lua_State *L, const char *kind, const luaL_Reg *verbs, lua_CFunction fields);
/* Add verbs to a kind. */
void object_verbs(lua_State *L, const char *kind, const luaL_Reg *verbs);
void object_push(lua_State *L, const char *kind, void *p);
void *object_check(lua_State *L, int index, const char *kind);
void *object_test(lua_State *L, int index, const char *kind);

static inline struct script_vm *check_vm(lua_State *L, int index)
{
	return object_check(L, index, "vm");
}

/* A VM that was not destroyed. */
struct script_vm *check_live_vm(lua_State *L, int index);

const char *errno_word(int err);			/* of -err or err: "EINVAL" */
void status_text(u16 status, char buf[24]);		/* "0/0x80" */
void push_status(lua_State *L, int ret);		/* 0 or positive: status; negative: errno's word */

/* verbs_io.c */
struct script_io *io_new(lua_State *L, struct script_vm *v);
/* Guest memory for @bytes of data. Raises when there is no more. */
u64 guest_buffer(lua_State *L, struct script_vm *v, u64 bytes);

#endif
