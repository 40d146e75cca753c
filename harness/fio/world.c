// SPDX-License-Identifier: GPL-2.0
#include "world.h"
#include "event.h"
#include "host/host.h"
#include "store.h"
#include "vm/io.h"
#include "watch.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECTOR 512u
#define PAGE_SHIFT 12
#define SSD_BLOCKS 3907029168ull	/* 2 TB, as the P4510 of the published figures */
#define VM_BLOCKS (10ull << 21)		/* 10 GiB, as there */
#define VM_RAM_BYTES (1ull << 30)
#define FULL_RETRY_PS (1 * PS_PER_US)
#define HANG_PS (60000 * PS_PER_MS)	/* no command takes that long, but those that never end */
#define BUILD_PS (100000000 * PS_PER_MS)
#define LOOK_NS 2000000l

/* One of as many as the job's depth. */
struct slot {
	struct vm_io vm_io;
	struct world_io io;
	struct world_job *job;
	struct slot *next;
	gpa_t buffer;
};

struct slots {
	struct slot *head, **tail;
};

struct world_job {
	uint32_t index, depth, io_bytes;
	u64 guest_cpu_ps;
	struct port_vm *vm;
	struct gvcpu *gv;
	uint32_t queue;
	struct slot *slot;		/* [depth] */
	struct slots idle, pending, ended;
	struct world_io *taken;		/* [depth] */
	uint32_t nr_ended;
	struct port_waitq submit_wait;	/* its task in the guest */
	bool started, waiting;
	uint32_t min;			/* waiting for this many, or until then */
	u64 until_ps;
	sem_t go;
};

/*
 * A process has one machine: its clock is the process's. The machine stays on one thread: that of the
 * job where there is only one for it, and it need not be switched to; else one of its own.
 */
static struct {
	pthread_mutex_t lock;		/* of all below; held while the machine runs */
	pthread_cond_t built;
	sem_t turn;			/* the machine's: the last job waits, or one has gone */
	bool has_thread, ready;
	const char *failed;
	struct world_options o;
	struct world_job job[WORLD_JOBS_MAX];
	uint32_t nr_jobs, nr_started;
	bool (*expected)(void);
	struct machine *m;
	struct oracle *oracle;
} w = { .lock = PTHREAD_MUTEX_INITIALIZER, .built = PTHREAD_COND_INITIALIZER };

static void put(struct slots *list, struct slot *s)
{
	if (!list->head)
		list->tail = &list->head;
	s->next = NULL;
	*list->tail = s;
	list->tail = &s->next;
}

static struct slot *take(struct slots *list)
{
	struct slot *s = list->head;

	if (s)
		list->head = s->next;
	return s;
}

static void fail(const char *why)
{
	if (!w.failed)
		fprintf(stderr, "lightiov: %s\n", why);
	w.failed = why;
	if (w.m)
		sched_stop(w.m->sched);
}

static hpa_t buffer_hpa(const struct slot *s)
{
	hpa_t hpa = { 0 };

	vm_gpa_to_hpa(s->job->vm, s->buffer, s->job->io_bytes, &hpa);
	return hpa;
}

/* The page cache's part. What nobody looks at is a tag a block: it takes no memory. */
static void fill_buffer(const struct slot *s)
{
	u64 at = buffer_hpa(s).v;

	if (s->io.data) {
		store_write(w.m->memory, at, s->io.data, s->io.len);
		return;
	}
	for (u32 done = 0; done < s->io.len; done += SECTOR)
		store_write_tag(w.m->memory, at + done, (s->io.offset + done) / SECTOR + 1);
}

static void slot_ended(struct slot *s, int error)
{
	struct world_job *j = s->job;

	if (!error && s->io.op == WORLD_READ && s->io.data)
		store_read(w.m->memory, buffer_hpa(s).v, s->io.data, s->io.len);
	s->io.error = error;
	put(&j->ended, s);
	j->nr_ended++;
	if (j->waiting && j->nr_ended >= j->min)
		sched_stop(w.m->sched);
}

static void vm_io_ended(struct vm_io *io)
{
	slot_ended((struct slot *)(void *)((char *)io - offsetof(struct slot, vm_io)), io->status ? EIO : 0);
}

static int submit(struct world_job *j, struct slot *s)
{
	static const enum liov_op op[] = {
		[WORLD_READ] = LIOV_OP_READ, [WORLD_WRITE] = LIOV_OP_WRITE, [WORLD_FLUSH] = LIOV_OP_FLUSH, [WORLD_DISCARD] = LIOV_OP_DISCARD,
	};
	struct liov_segment seg = { s->buffer, s->io.len };
	struct liov_request rq = {
		.op = op[s->io.op], .slba = { s->io.offset / SECTOR }, .blocks = s->io.len / SECTOR,
		.nr_segments = s->io.op == WORLD_READ || s->io.op == WORLD_WRITE, .segments = &seg,
	};

	return vm_submit(j->vm, j->queue, &rq, &s->vm_io);
}

/* In the guest: the block layer's submission, on the vCPU of the job's queue. */
static void job_main(void *arg)
{
	struct world_job *j = arg;

	for (;;) {
		struct slot *s = take(&j->pending);
		int ret;

		if (!s) {
			task_wait(&j->submit_wait, TASK_FOREVER);
			continue;
		}
		vm_pass(j->gv, j->guest_cpu_ps);
		if (s->io.op == WORLD_WRITE)
			fill_buffer(s);
		while ((ret = submit(j, s)) == -EAGAIN)
			vm_idle(j->gv, FULL_RETRY_PS);
		if (ret)
			slot_ended(s, -ret);
	}
}

static int build_job(struct world_job *j)
{
	u32 pages = (j->io_bytes + (1u << PAGE_SHIFT) - 1) >> PAGE_SHIFT;
	gpa_t base;

	j->vm = w.m->vms[j->index % w.o.vms];
	j->queue = j->index / w.o.vms;
	j->gv = &j->vm->gv[j->queue];
	if (j->io_bytes > j->vm->fe->mdts_bytes)
		return -EMSGSIZE;
	base = vm_alloc_pages(j->vm, pages * j->depth);
	j->slot = calloc(j->depth, sizeof(*j->slot));
	j->taken = calloc(j->depth, sizeof(*j->taken));
	if (!j->slot || !j->taken || base.v == ~0ull)
		return -ENOMEM;
	for (u32 i = 0; i < j->depth; i++) {
		struct slot *s = &j->slot[i];

		s->job = j;
		s->vm_io.done = vm_io_ended;
		s->buffer.v = base.v + ((u64)i * pages << PAGE_SHIFT);
		put(&j->idle, s);
	}
	return vm_task(j->gv, "fio", job_main, j) ? 0 : -ENOMEM;
}

static int build_vm(u32 id, u32 queues)
{
	struct vm_config cfg = {
		.id = id, .name = "fio", .vcpus = queues, .nr_ram = 1, .ram = { { (u64)(id + 1) << 32, VM_RAM_BYTES } },
		.liov = { .nr_queues = queues, .lbas = VM_BLOCKS },
	};
	struct task *t = task_current();
	struct port_vm *vm;
	int ret = vm_create(w.m, &cfg, &vm);

	if (ret)
		return ret;
	t->gvcpu = &vm->gv[0];
	ret = vm_frontend_start(vm, queues, 0);
	vm_pass(t->gvcpu, 0);
	t->gvcpu = NULL;
	return ret;
}

static void build_main(void *arg)
{
	u32 queues = (w.nr_jobs + w.o.vms - 1) / w.o.vms;
	int ret = host_boot_liov(w.m);

	(void)arg;
	for (u32 i = 0; i < w.o.vms && !ret; i++)
		ret = build_vm(i, queues);
	for (u32 i = 0; i < w.nr_jobs && !ret; i++)
		ret = build_job(&w.job[i]);
	if (ret)
		fail(ret == -EMSGSIZE ? "an I/O can have 128 KiB at most (bs)" : "the machine has no room for so many VMs, queues and I/Os");
	w.ready = !ret;
	sched_stop(w.m->sched);
}

/* A medium and nothing else. A write waits for its turn at the buffer's drain: as many servers in effect. */
static void fix_medium(struct machine_config *cfg)
{
	u64 ps = w.o.medium_ns * PS_PER_NS;

	cfg->cpu = (struct cpu_costs){ 0 };
	cfg->vtd.iotlb_miss_ps = 0;
	cfg->watch_latency_ps = 0;
	cfg->backend.timeout_ns = BUILD_PS / PS_PER_NS;	/* of a wipe at so slow a drain */
	cfg->ssd.link = (struct pci_link_config){ 0 };
	cfg->ssd.timing = (struct nvme_timing){
		.read_ps = ps, .dies = w.o.servers, .write_drain_ps = ps / w.o.servers, .write_ps = ps - ps / w.o.servers,
	};
}

static void violated(void *opaque, const struct oracle_violation *v)
{
	(void)opaque;
	fprintf(stderr, "lightiov: %s\n", v->what);
	fail("the oracle saw a VM reach what is not its own");
}

static void build(void)
{
	struct machine_config cfg;

	machine_config_defaults(&cfg);
	cfg.pcpus = CPU_PCPUS_MAX;
	machine_config_policy(&cfg, (enum liov_policy)w.o.policy);
	cfg.ssd.nsze = cfg.ssd.ncap = SSD_BLOCKS;
	if (w.o.medium_ns)
		fix_medium(&cfg);
	w.m = machine_new(&cfg);
	w.oracle = w.m ? oracle_new(w.m, violated, NULL) : NULL;
	if (!w.oracle || !machine_task(w.m, "build", build_main, NULL))
		fail("no memory for the machine");
	else if (sched_run_until(w.m->sched, BUILD_PS) != SCHED_STOPPED)
		fail("the machine does not come up");
}

static bool all_wait(void)
{
	for (u32 i = 0; i < w.nr_jobs; i++)
		if (w.job[i].started && !w.job[i].waiting)
			return false;
	return w.nr_started && !w.expected();
}

/* Everybody waits: let time go on until somebody need not any more. Says who, a bit a job. */
static u64 run(void)
{
	u64 now = sched_now(w.m->sched), until = now + HANG_PS, released = 0;

	for (u32 i = 0; i < w.nr_jobs; i++) {
		struct world_job *j = &w.job[i];

		if (j->pending.head)
			task_wake_all(&j->submit_wait);
		if (j->waiting && j->until_ps < until)
			until = j->until_ps;
	}
	if (!w.failed)
		sched_run_until(w.m->sched, until);
	if (w.m->failed)
		fail("more was written under verify= than the model keeps: 1 GiB");
	now = sched_now(w.m->sched);
	clock_set(now / PS_PER_NS);
	for (u32 i = 0; i < w.nr_jobs; i++) {
		struct world_job *j = &w.job[i];

		if (j->waiting && (j->nr_ended >= j->min || now >= j->until_ps || w.failed)) {
			j->waiting = false;
			released |= 1ull << i;
		}
	}
	if (!released && now == until)
		fail("an I/O has not ended in a minute");
	return released;
}

static void *world_main(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&w.lock);
	build();
	pthread_mutex_unlock(&w.lock);
	pthread_cond_broadcast(&w.built);
	for (;;) {
		struct timespec soon;
		u64 released = 0;

		/* Jobs on their way come by themselves, or end without a word: look from time to time. */
		clock_gettime(CLOCK_REALTIME, &soon);
		soon.tv_nsec += LOOK_NS;
		soon.tv_sec += soon.tv_nsec / 1000000000;
		soon.tv_nsec %= 1000000000;
		sem_timedwait(&w.turn, &soon);
		pthread_mutex_lock(&w.lock);
		while (!released && all_wait())
			released = run();
		pthread_mutex_unlock(&w.lock);
		for (u32 i = 0; released >> i; i++)
			if (released >> i & 1)
				sem_post(&w.job[i].go);
	}
	return NULL;
}

struct world_job *world_job_add(const struct world_options *o, uint32_t depth, uint32_t io_bytes, uint64_t guest_cpu_ns)
{
	struct world_job *j = &w.job[w.nr_jobs];

	if (w.nr_jobs == WORLD_JOBS_MAX || w.nr_jobs / o->vms == VM_VCPUS_MAX || depth >= LIOV_QUEUE_DEPTH_MAX)
		return NULL;
	w.o = *o;
	*j = (struct world_job){ .index = w.nr_jobs++, .depth = depth, .io_bytes = io_bytes, .guest_cpu_ps = guest_cpu_ns * PS_PER_NS };
	sem_init(&j->go, 0, 0);
	return j;
}

uint64_t world_job_bytes(void)
{
	return VM_BLOCKS * SECTOR;
}

const char *world_job_start(struct world_job *j, bool (*expected)(void))
{
	pthread_t thread;

	pthread_mutex_lock(&w.lock);
	w.expected = expected;
	if (w.nr_jobs == 1) {
		build();
	} else if (!w.has_thread && !w.failed) {
		w.has_thread = true;
		sem_init(&w.turn, 0, 0);
		if (pthread_create(&thread, NULL, world_main, NULL))
			fail("no thread for the machine");
	}
	while (!w.ready && !w.failed)
		pthread_cond_wait(&w.built, &w.lock);
	if (!w.failed) {
		j->started = true;
		if (w.nr_started++ == 0)
			clock_hold(sched_now(w.m->sched) / PS_PER_NS);
		clock_belongs_to(j);
	}
	pthread_mutex_unlock(&w.lock);
	return w.failed;
}

void world_job_stop(struct world_job *j)
{
	pthread_mutex_lock(&w.lock);
	if (j->started) {
		j->started = false;
		if (--w.nr_started == 0)
			clock_release();
		clock_belongs_to(NULL);
	}
	pthread_mutex_unlock(&w.lock);
	if (w.has_thread)
		sem_post(&w.turn);
}

bool world_submit(struct world_job *j, const struct world_io *io)
{
	struct slot *s;

	clock_job_is_active();
	pthread_mutex_lock(&w.lock);
	s = take(&j->idle);
	if (s) {
		s->io = *io;
		put(&j->pending, s);
	}
	pthread_mutex_unlock(&w.lock);
	return s;
}

/* Under the lock, which is let go of meanwhile. */
static void wait_for(struct world_job *j, uint32_t min, uint64_t timeout_ns)
{
	u64 now = sched_now(w.m->sched);
	bool last;

	j->min = min;
	j->until_ps = timeout_ns >= (TASK_FOREVER - now) / PS_PER_NS ? TASK_FOREVER : now + timeout_ns * PS_PER_NS;
	j->waiting = true;
	if (!w.has_thread) {
		while (j->waiting)
			run();
		return;
	}
	last = all_wait();
	pthread_mutex_unlock(&w.lock);
	if (last)
		sem_post(&w.turn);
	while (sem_wait(&j->go))
		;
	pthread_mutex_lock(&w.lock);
}

int world_wait(struct world_job *j, uint32_t min, uint32_t max, uint64_t timeout_ns)
{
	int n = 0;

	pthread_mutex_lock(&w.lock);
	if (j->nr_ended < min && !w.failed)
		wait_for(j, min, timeout_ns);
	for (; (uint32_t)n < max && j->ended.head; n++) {
		struct slot *s = take(&j->ended);

		j->taken[n] = s->io;
		put(&j->idle, s);
		j->nr_ended--;
	}
	if (w.failed)
		n = -1;
	else if (max)
		clock_job_is_active();
	pthread_mutex_unlock(&w.lock);
	return n;
}

const struct world_io *world_taken(const struct world_job *j, uint32_t i)
{
	return &j->taken[i];
}
