// SPDX-License-Identifier: GPL-2.0
/*
 * How fast the simulator is where it is used most: VMs that read 4 KiB at random on
 * queues mapped into them, with the oracle watching and every read checked. Processor time
 * is what is measured; nothing in the simulation sees it.
 */

#include "cli.h"
#include "event.h"
#include "host/host.h"
#include "watch.h"
#include "workload/workload.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define VMS 4u
#define DEPTH 128u
#define WARM_REQUESTS 2000u
#define GUEST_CPU_PS (5 * PS_PER_US)	/* a request's cost in the guest: libaio, batched, at depth 128 (3.6 to 6.1 us published) */

struct bench {
	const struct cli_options *o;
	struct machine *m;
	struct oracle *oracle;
	struct port_vm *vm[VMS];
	struct workload *w[VMS];
	int error;
	u64 ios, cpu_ns, events, simulated_ps, exits, faults, wrong;
	bool ended;
};

static u64 cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * 1000000000ull + (u64)ts.tv_nsec;
}

static int make_vm(struct bench *b, u32 i)
{
	struct vm_config cfg = {
		.id = i, .name = "bench", .vcpus = 1, .nr_ram = 1, .ram = { { (u64)(i + 1) << 32, 1ull << 30 } },
		.liov = { .nr_queues = 1, .lbas = 0x100000 },
	};
	struct task *t = task_current();
	int ret = vm_create(b->m, &cfg, &b->vm[i]);

	if (ret)
		return ret;
	t->gvcpu = &b->vm[i]->gv[0];
	ret = vm_frontend_start(b->vm[i], 1, 1024);
	vm_pass(t->gvcpu, 0);
	t->gvcpu = NULL;
	return ret;
}

static u64 completed(const struct bench *b)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < VMS; i++)
		n += workload_result(b->w[i]).completed;
	return n;
}

static u64 exits(const struct bench *b, u64 *faults)
{
	u64 n = 0;
	u32 i, k;

	*faults = 0;
	for (i = 0; i < VMS; i++) {
		for (k = 0; k < EXIT_REASON_COUNT; k++)
			n += b->vm[i]->gv[0].vcpu.exits[k];
		*faults += b->vm[i]->ept_faults;
	}
	return n;
}

/* Everything is mapped and warm before the clock starts; then it stops when enough was done. */
static void measure(struct bench *b)
{
	u64 ios, cpu, events, now, ex, f0, f1;

	while (completed(b) < VMS * WARM_REQUESTS)
		task_sleep(100 * PS_PER_US);
	ios = completed(b);
	events = sched_events_run(b->m->sched);
	now = sched_now(b->m->sched);
	ex = exits(b, &f0);
	cpu = cpu_ns();
	while (completed(b) - ios < b->o->ios)
		task_sleep(100 * PS_PER_US);
	b->cpu_ns = cpu_ns() - cpu;
	b->ios = completed(b) - ios;
	b->events = sched_events_run(b->m->sched) - events;
	b->simulated_ps = sched_now(b->m->sched) - now;
	b->exits = exits(b, &f1) - ex;
	b->faults = f1 - f0;
}

static void bench_main(void *arg)
{
	struct bench *b = arg;
	u32 i;

	b->error = host_boot_liov(b->m);
	for (i = 0; i < VMS && !b->error; i++)
		b->error = make_vm(b, i);
	for (i = 0; i < VMS && !b->error; i++) {
		struct workload_config cfg = {
			.depth = DEPTH, .blocks = 8, .read_percent = 100, .random = true, .span_blocks = 0x100000, .verify = true,
			.cpu_ps = GUEST_CPU_PS, .seed = b->o->scenario.seed + i,
		};

		b->w[i] = workload_start(b->vm[i], &cfg);
		b->error = b->w[i] ? 0 : -1;
	}
	if (!b->error)
		measure(b);
	for (i = 0; i < VMS && !b->error; i++) {
		struct workload_result r;

		workload_stop(b->w[i], 100 * PS_PER_MS);
		r = workload_result(b->w[i]);
		b->wrong += r.errors + r.wrong + r.twice + r.outstanding;
	}
	b->ended = true;
	sched_stop(b->m->sched);
}

static void report(const struct bench *b)
{
	struct rusage ru;
	u64 per_ms = b->simulated_ps / PS_PER_MS;

	getrusage(RUSAGE_SELF, &ru);
	printf("policy: %s\n", policy_name(b->m->cfg.backend.policy));
	printf("ios: %llu\n", (unsigned long long)b->ios);
	printf("ios_per_cpu_s: %llu\n", (unsigned long long)(b->cpu_ns ? b->ios * 1000000000ull / b->cpu_ns : 0));
	printf("peak_rss_mib: %ld\n", ru.ru_maxrss / 1024);
	printf("events_per_io: %llu.%02llu\n", (unsigned long long)(b->events / b->ios), (unsigned long long)(b->events % b->ios * 100 / b->ios));
	printf("ns_per_event: %llu\n", (unsigned long long)(b->events ? b->cpu_ns / b->events : 0));
	printf("simulated_iops: %llu\n", (unsigned long long)(per_ms ? b->ios * 1000 / per_ms : 0));
	printf("exits: %llu\n", (unsigned long long)b->exits);
	printf("ept_faults: %llu\n", (unsigned long long)b->faults);
	printf("violations: %llu\n", (unsigned long long)oracle_count(b->oracle));
	printf("wrong: %llu\n", (unsigned long long)b->wrong);
}

static enum liov_policy bench_policy(u32 mask)
{
	int p;

	for (p = 0; p < LIOV_POLICIES - 1 && !(mask & 1u << p); p++)
		;
	return (enum liov_policy)p;
}

static int bench_run(struct bench *b)
{
	struct machine_config cfg;

	machine_config_defaults(&cfg);
	cfg.seed = b->o->scenario.seed;
	machine_config_policy(&cfg, bench_policy(b->o->policies));
	b->m = machine_new(&cfg);
	b->oracle = b->m ? oracle_new(b->m, NULL, NULL) : NULL;
	if (!b->oracle || !machine_task(b->m, "bench", bench_main, b))
		return CLI_BUG;
	sched_run_until(b->m->sched, 3600ull * 1000 * PS_PER_MS);
	if (b->error || !b->ended) {
		fprintf(stderr, "lightiov bench: the world does not come up, or does not get on: %d\n", b->error);
		return b->ended ? CLI_BUG : CLI_LIVENESS;
	}
	report(b);
	return b->wrong || oracle_count(b->oracle) ? CLI_DIFFERS : CLI_OK;
}

int command_bench(const struct cli_options *o)
{
	struct bench b = { .o = o };
	int ret;
	u32 i;

	if (!o->hot) {
		fprintf(stderr, "lightiov bench: there is one benchmark so far: lightiov bench --hot\n");
		return CLI_USAGE;
	}
	ret = bench_run(&b);
	oracle_free(b.oracle);
	machine_free(b.m);
	for (i = 0; i < VMS; i++)
		workload_free(b.w[i]);
	return ret;
}
