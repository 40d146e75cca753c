// SPDX-License-Identifier: GPL-2.0
#include "workload/workload.h"
#include "store.h"

#include <assert.h>
#include <stdlib.h>

#define SECTOR 512u
#define RETRY_PS (1 * PS_PER_US)
#define CHUNK_READERS_MAX 0x7F
#define CHUNK_WRITING 0xFF	/* a write is on the chunk, and nobody else */
#define POISON 0xFFFFFFFFu	/* generation of what a buffer holds before a read: not what any write leaves */

/* One of depth requests outstanding, with its own buffer. */
struct slot {
	struct vm_io io;
	struct workload *w;
	struct slot *next_free;
	struct liov_segment seg;
	gpa_t buffer;
	u64 block;
	bool busy, write;
	u32 generation;		/* writes: of the content being written */
};

struct workload {
	struct port_vm *vm;
	struct workload_config cfg;
	struct rng rng;
	struct task *task;
	struct gvcpu *gv;
	struct slot *slots;
	struct slot *free;
	u32 *generation;	/* a chunk of cfg.blocks each: last completed write, 0 never */
	u32 *attempt;		/* ... and last write since that failed, or 0: each of its blocks may be written or not */
	u8 *in_flight;		/* requests on the chunk: writes stay alone */
	u64 chunks, next_chunk;
	u64 last_ok_ps;		/* last success; at first the beginning */
	gpa_t pool;		/* cfg.buffers of them */
	bool stopping, ended;
	struct port_waitq waiters;
	struct workload_result res;
	struct hist latency;
};

u64 workload_tag(u32 vm, u64 block, u32 generation)
{
	u64 state = ((u64)vm << 56) ^ (block << 16) ^ generation;
	u64 tag = rng_splitmix(&state);

	return tag ? tag : 1;
}

static bool buffer_hpa(struct slot *s, hpa_t *out)
{
	return vm_gpa_to_hpa(s->w->vm, s->buffer, (u64)s->w->cfg.blocks * SECTOR, out);
}

/* The content of a chunk that was written @generation times: 0 reads as zeros. */
static u64 tag_of(const struct slot *s, u32 sector, u32 generation)
{
	return generation ? workload_tag(s->w->vm->cfg.id, s->block + sector, generation) ^ s->w->cfg.secret : STORE_TAG_ZERO;
}

static bool sector_right(const struct slot *s, hpa_t buffer, u32 sector, u32 first, u32 last)
{
	u32 g;

	for (g = first; g <= last; g++)
		if (store_sector_is(s->w->vm->m->memory, buffer.v + (u64)sector * SECTOR, tag_of(s, sector, g)))
			return true;
	return false;
}

static bool data_right(struct slot *s, u64 chunk)
{
	u32 first = s->w->generation[chunk], last = s->w->attempt[chunk], i;
	hpa_t buffer;

	if (!buffer_hpa(s, &buffer))
		return false;
	for (i = 0; i < s->w->cfg.blocks; i++)
		if (!sector_right(s, buffer, i, first, last > first ? last : first))
			return false;
	return true;
}

static void write_done(struct slot *s, u64 chunk)
{
	if (s->io.status) {
		s->w->attempt[chunk] = s->generation;
	} else {
		s->w->generation[chunk] = s->generation;
		s->w->attempt[chunk] = 0;
	}
}

static void fill_buffer(struct slot *s, u32 generation)
{
	u32 i;
	hpa_t buffer;

	if (!buffer_hpa(s, &buffer))
		return;
	for (i = 0; i < s->w->cfg.blocks; i++)
		store_write_tag(s->w->vm->m->memory, buffer.v + (u64)i * SECTOR, tag_of(s, i, generation));
}

static void note_success(struct workload *w, u64 now)
{
	if (now - w->last_ok_ps > w->res.stall_ps)
		w->res.stall_ps = now - w->last_ok_ps;
	w->last_ok_ps = now;
}

/* In the guest's interrupt handler: check, and let the generator go on. */
static void slot_done(struct vm_io *io)
{
	struct slot *s = (struct slot *)(void *)((char *)io - offsetof(struct slot, io));
	struct workload *w = s->w;
	u64 chunk = (s->block - w->cfg.first_block) / w->cfg.blocks;

	if (!s->busy) {
		w->res.twice++;
		return;
	}
	s->busy = false;
	w->in_flight[chunk] = s->write ? 0 : (u8)(w->in_flight[chunk] - 1);
	w->res.outstanding--;
	w->res.completed++;
	hist_add(&w->latency, io->completed_ps - io->submitted_ps);
	if (w->res.completed == 1)
		w->res.first_ps = io->completed_ps;
	w->res.last_ps = io->completed_ps;
	if (io->status)
		w->res.errors++;
	else
		note_success(w, io->completed_ps);
	if (s->write)
		write_done(s, chunk);
	else if (io->status == 0 && w->cfg.verify && !data_right(s, chunk))
		w->res.wrong++;
	s->next_free = w->free;
	w->free = s;
}

/* A chunk for the next request: a write wants it alone, a read wants no write on it. */
static bool pick_chunk(struct workload *w, bool write, u64 *chunk)
{
	u32 tries;

	for (tries = 0; tries < 64; tries++) {
		u64 c = w->cfg.random ? rng_below(&w->rng, w->chunks) : w->next_chunk++ % w->chunks;

		if (w->in_flight[c] == 0 || (!write && w->in_flight[c] < CHUNK_READERS_MAX)) {
			*chunk = c;
			return true;
		}
	}
	return false;
}

static int submit_stock(struct workload *w, struct slot *s)
{
	struct nvme_sqe sqe = {
		.opcode = s->write ? NVME_CMD_WRITE : NVME_CMD_READ, .nsid = 1,
		.cdw10 = (u32)s->block, .cdw11 = (u32)(s->block >> 32), .cdw12 = w->cfg.blocks - 1,
		.prp1 = s->buffer.v,
	};

	if (w->cfg.blocks * SECTOR > 4096)
		sqe.prp2 = s->buffer.v + 4096;
	return stock_submit(w->cfg.stock, w->cfg.queue, &sqe, &s->io);
}

static int submit_one(struct workload *w, struct slot *s)
{
	struct liov_request rq = {
		.op = s->write ? LIOV_OP_WRITE : LIOV_OP_READ, .slba = { s->block }, .blocks = w->cfg.blocks,
		.nr_segments = 1, .segments = &s->seg,
	};

	return w->cfg.stock ? submit_stock(w, s) : vm_submit(w->vm, w->cfg.queue, &rq, &s->io);
}

static u32 buffer_pages(const struct workload *w)
{
	return (u32)((w->cfg.blocks * SECTOR + SPEC_PAGE_SIZE - 1) / SPEC_PAGE_SIZE);
}

static bool next_request(struct workload *w)
{
	struct slot *s = w->free;
	u64 chunk;
	int ret;

	s->write = rng_below(&w->rng, 100) >= w->cfg.read_percent;
	if (w->cfg.buffers)
		s->buffer.v = w->pool.v + rng_below(&w->rng, w->cfg.buffers) * buffer_pages(w) * SPEC_PAGE_SIZE;
	s->seg = (struct liov_segment){ s->buffer, w->cfg.blocks * SECTOR };
	if (!pick_chunk(w, s->write, &chunk))
		return false;
	s->block = w->cfg.first_block + chunk * w->cfg.blocks;
	if (s->write) {
		s->generation = (w->attempt[chunk] ? w->attempt[chunk] : w->generation[chunk]) + 1;
		fill_buffer(s, s->generation);
		w->in_flight[chunk] = CHUNK_WRITING;
	} else {
		if (w->cfg.verify)
			fill_buffer(s, POISON);
		w->in_flight[chunk]++;
	}
	w->free = s->next_free;
	s->busy = true;
	w->res.outstanding++;
	ret = submit_one(w, s);
	if (ret == 0) {
		w->res.submitted++;
		return true;
	}
	s->busy = false;
	w->res.outstanding--;
	w->in_flight[chunk] = s->write ? 0 : (u8)(w->in_flight[chunk] - 1);
	s->next_free = w->free;
	w->free = s;
	if (ret != -EAGAIN)
		w->res.errors++;
	return false;
}

static bool wants_more(const struct workload *w)
{
	return !w->stopping && (w->cfg.requests == 0 || w->res.submitted < w->cfg.requests);
}

static void workload_main(void *arg)
{
	struct workload *w = arg;

	while (wants_more(w) || w->res.outstanding) {
		if (!wants_more(w) || !w->free) {
			vm_idle(w->gv, TASK_FOREVER);
			continue;
		}
		vm_pass(w->gv, w->cfg.cpu_ps);
		if (!next_request(w))
			vm_idle(w->gv, RETRY_PS);
	}
	w->ended = true;
	task_wake_all(&w->waiters);
}

static bool config_ok(const struct port_vm *vm, const struct workload_config *cfg)
{
	u64 blocks = cfg->stock ? stock_blocks(cfg->stock) : vm->fe ? vm->fe->blocks : 0;

	return cfg->depth && cfg->depth < LIOV_QUEUE_DEPTH_MAX && cfg->blocks && cfg->blocks <= 256 &&
	       (!cfg->stock || cfg->blocks <= 16) && !(cfg->buffers && (cfg->verify || cfg->read_percent < 100)) && cfg->read_percent <= 100 && cfg->span_blocks >= cfg->blocks &&
	       cfg->span_blocks <= blocks && cfg->first_block <= blocks - cfg->span_blocks;
}

/* Buffers are page aligned, so that PRPs fit any size. */
static int make_slots(struct workload *w)
{
	u32 pages = buffer_pages(w), i;
	gpa_t base = vm_alloc_pages(w->vm, pages * (w->cfg.buffers ? w->cfg.buffers : w->cfg.depth));

	w->slots = calloc(w->cfg.depth, sizeof(*w->slots));
	if (!w->slots || base.v == ~0ull)
		return -ENOMEM;
	w->pool = base;
	for (i = 0; i < w->cfg.depth; i++) {
		struct slot *s = &w->slots[i];

		s->w = w;
		s->io.done = slot_done;
		s->buffer.v = base.v + (u64)i * pages * 4096;
		s->seg = (struct liov_segment){ s->buffer, w->cfg.blocks * SECTOR };
		s->next_free = w->free;
		w->free = s;
	}
	return 0;
}

struct workload *workload_start(struct port_vm *vm, const struct workload_config *cfg)
{
	struct workload *w;

	if (!config_ok(vm, cfg))
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->vm = vm;
	w->cfg = *cfg;
	w->gv = &vm->gv[cfg->queue % vm->nr_gv];
	w->chunks = cfg->span_blocks / cfg->blocks;
	w->last_ok_ps = sched_now(vm->m->sched);
	rng_split(&w->rng, cfg->seed, "workload");
	hist_init(&w->latency);
	w->generation = calloc(w->chunks, sizeof(*w->generation));
	w->attempt = calloc(w->chunks, sizeof(*w->attempt));
	w->in_flight = calloc(w->chunks, 1);
	if (!w->generation || !w->attempt || !w->in_flight || make_slots(w))
		goto out;
	w->task = vm_task(w->gv, "workload", workload_main, w);
	if (!w->task)
		goto out;
	return w;
out:
	workload_free(w);
	return NULL;
}

bool workload_join(struct workload *w, u64 timeout_ps)
{
	u64 end = sched_now(w->vm->m->sched) + timeout_ps;

	while (!w->ended) {
		u64 now = sched_now(w->vm->m->sched);

		if (now >= end || !task_wait(&w->waiters, end - now))
			return w->ended;
	}
	return true;
}

bool workload_stop(struct workload *w, u64 timeout_ps)
{
	w->stopping = true;
	task_wake_all(&w->gv->idle_wait);
	return workload_join(w, timeout_ps);
}

void workload_free(struct workload *w)
{
	if (!w)
		return;
	free(w->generation);
	free(w->attempt);
	free(w->in_flight);
	free(w->slots);
	free(w);
}

struct workload_result workload_result(const struct workload *w)
{
	struct workload_result r = w->res;
	u64 since = sched_now(w->vm->m->sched) - w->last_ok_ps;

	if (!w->ended && since > r.stall_ps)
		r.stall_ps = since;
	r.latency = &w->latency;
	return r;
}
