// SPDX-License-Identifier: GPL-2.0
#include "report/recorder.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA_KEPT 64u

struct recorded {
	struct trace_event ev;
	u8 data[DATA_KEPT];
};

struct recorder {
	struct machine *m;
	struct digest digest;
	u64 count;			/* events put into the ring */
	u64 io_id;			/* of interest; 0: none */
	bool attack;			/* its span is open, since then */
	u64 attack_since_ps, attack_ps, attack_exits, exits;
	u32 nr_kept;
	struct recorded kept[RECORDER_KEPT];
	struct recorded ring[RECORDER_RING];
};

static void record(struct recorded *r, const struct trace_event *ev)
{
	r->ev = *ev;
	r->ev.data = NULL;
	r->ev.data_len = ev->data_len < DATA_KEPT ? ev->data_len : DATA_KEPT;
	if (r->ev.data_len)
		memcpy(r->data, ev->data, r->ev.data_len);
}

static void recorder_event(void *opaque, const struct trace_event *ev)
{
	struct recorder *r = opaque;
	u64 words[7] = { ev->time_ps, ev->io_id, ev->kind, ev->a, ev->b, ev->c, ev->d };

	digest_bytes(&r->digest, words, sizeof(words));
	r->exits += ev->kind == TRACE_VCPU_EXIT;
	r->attack_exits += r->attack && ev->kind == TRACE_VCPU_EXIT;
	record(&r->ring[r->count++ % RECORDER_RING], ev);
	if (r->io_id && ev->io_id == r->io_id && r->nr_kept < RECORDER_KEPT)
		record(&r->kept[r->nr_kept++], ev);
}

struct recorder *recorder_new(struct machine *m)
{
	struct recorder *r = calloc(1, sizeof(*r));
	u64 mask[2] = { ~0ull, ~0ull };

	if (!r || digest_init(&r->digest)) {
		free(r);
		return NULL;
	}
	r->m = m;
	mask[TRACE_CPU_LOAD >> 6] &= ~(1ull << (TRACE_CPU_LOAD & 63));
	mask[TRACE_CPU_STORE >> 6] &= ~(1ull << (TRACE_CPU_STORE & 63));
	mask[SIM_TRACE_ANSWER >> 6] &= ~(1ull << (SIM_TRACE_ANSWER & 63));
	mask[SIM_TRACE_WROTE >> 6] &= ~(1ull << (SIM_TRACE_WROTE & 63));
	machine_listen(m, mask, recorder_event, r);
	return r;
}

void recorder_free(struct recorder *r)
{
	if (!r)
		return;
	digest_fini(&r->digest);
	free(r);
}

void recorder_interest(struct recorder *r, u64 io_id)
{
	u64 i = r->count > RECORDER_RING ? r->count - RECORDER_RING : 0;

	if (r->io_id || !io_id)
		return;
	r->io_id = io_id;
	for (; i < r->count && r->nr_kept < RECORDER_KEPT; i++)
		if (r->ring[i % RECORDER_RING].ev.io_id == io_id)
			r->kept[r->nr_kept++] = r->ring[i % RECORDER_RING];
}

u64 recorder_io_id(const struct recorder *r)
{
	return r->io_id;
}

void recorder_attack(struct recorder *r, bool open)
{
	u64 now = sched_now(r->m->sched);

	if (r->attack)
		r->attack_ps += now - r->attack_since_ps;
	r->attack_since_ps = now;
	r->attack = open;
}

u64 recorder_attack_ps(const struct recorder *r)
{
	return r->attack_ps;
}

u64 recorder_attack_exits(const struct recorder *r)
{
	return r->attack_exits;
}

u64 recorder_exits(const struct recorder *r)
{
	return r->exits;
}

static u32 put_lines(const struct recorded *e, char (*line)[RECORDER_LINE], u32 n, u32 max)
{
	size_t len = 0;
	u32 i;

	if (n == max)
		return n;
	event_text(&e->ev, line[n++], RECORDER_LINE);
	if (e->ev.data_len != 64 || n == max)
		return n;
	/* The SQE, as its sixteen dwords. */
	len = (size_t)snprintf(line[n], RECORDER_LINE, "    sqe:");
	for (i = 0; i < 16; i++) {
		u32 dw;

		memcpy(&dw, e->data + 4 * i, 4);
		len += (size_t)snprintf(line[n] + len, RECORDER_LINE - len, " %08x", dw);
	}
	return n + 1;
}

u32 recorder_lines(const struct recorder *r, char (*line)[RECORDER_LINE], u32 max)
{
	u64 last = r->count < 16 ? r->count : 16, i;
	u32 n = 0;

	if (r->nr_kept) {
		for (i = 0; i < r->nr_kept; i++)
			n = put_lines(&r->kept[i], line, n, max);
		return n;
	}
	for (i = r->count - last; i < r->count; i++)
		n = put_lines(&r->ring[i % RECORDER_RING], line, n, max);
	return n;
}

void recorder_digest(struct recorder *r, char hex[DIGEST_HEX_SIZE])
{
	digest_u64(&r->digest, r->count);
	store_digest(r->m->memory, &r->digest);
	store_digest(r->m->media, &r->digest);
	digest_hex(&r->digest, hex);
}
