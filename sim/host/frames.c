// SPDX-License-Identifier: GPL-2.0
/* Page frames: who has which. Every change of hands is told, for the oracle to know owners by. */

#include "host.h"

#include <assert.h>
#include <stdlib.h>
#include <uthash.h>

struct host_pages {
	u64 hpa;
	u32 nr, refs;
	UT_hash_handle hh;
};

static void frames_insert(struct host_frames *f, u32 i, struct host_range r)
{
	memmove(&f->free[i + 1], &f->free[i], (f->nr - i) * sizeof(f->free[0]));
	f->free[i] = r;
	f->nr++;
}

static hpa_t take(struct port_host *h, struct host_frames *f, u64 len, u64 align, u32 owner, bool as_it_is)
{
	u32 i;

	for (i = 0; i < f->nr; i++) {
		struct host_range r = f->free[i];
		u64 start = (r.start + align - 1) & ~(align - 1);
		u64 lead = start - r.start;

		if (lead > r.len || r.len - lead < len)
			continue;
		if (lead && lead + len < r.len) {
			if (f->nr == HOST_FREE_MAX)
				break;
			memmove(&f->free[i + 1], &f->free[i], (f->nr - i) * sizeof(f->free[0]));
			f->nr++;
			f->free[i].len = lead;
			f->free[i + 1] = (struct host_range){ start + len, r.len - lead - len };
		} else if (lead) {
			f->free[i].len = lead;
		} else if (len < r.len) {
			f->free[i] = (struct host_range){ start + len, r.len - len };
		} else {
			memmove(&f->free[i], &f->free[i + 1], (f->nr - i - 1) * sizeof(f->free[0]));
			f->nr--;
		}
		if (!as_it_is && HOST_STEP(host_frames_zero)) {
			store_zero(h->m->memory, start, len);
			trace4(&h->m->trace, SIM_TRACE_ZEROED, 0, start, len, 0, 0);
		}
		trace4(&h->m->trace, SIM_TRACE_FRAMES, 0, start, len, owner, 1);
		return (hpa_t){ start };
	}
	return (hpa_t){ ~0ull };
}

hpa_t host_frames_take(struct port_host *h, struct host_frames *f, u64 len, u64 align, u32 owner)
{
	return take(h, f, len, align, owner, false);
}

bool host_frames_take_at(struct port_host *h, hpa_t hpa, u64 len, u32 owner)
{
	struct host_frames *f = hpa.v < MACHINE_LOW_RAM ? &h->low : &h->high;
	u32 i;

	for (i = 0; i < f->nr; i++) {
		struct host_range r = f->free[i];
		u64 lead = hpa.v - r.start;

		if (hpa.v < r.start || lead >= r.len || len > r.len - lead || f->nr == HOST_FREE_MAX)
			continue;
		/* What is left stays free: before, behind, or nothing. */
		memmove(&f->free[i], &f->free[i + 1], (f->nr - i - 1) * sizeof(f->free[0]));
		f->nr--;
		if (lead + len < r.len)
			frames_insert(f, i, (struct host_range){ hpa.v + len, r.len - lead - len });
		if (lead)
			frames_insert(f, i, (struct host_range){ r.start, lead });
		store_zero(h->m->memory, hpa.v, len);
		trace4(&h->m->trace, SIM_TRACE_ZEROED, 0, hpa.v, len, 0, 0);
		trace4(&h->m->trace, SIM_TRACE_FRAMES, 0, hpa.v, len, owner, 1);
		return true;
	}
	return false;
}

void host_frames_give(struct port_host *h, struct host_frames *f, hpa_t hpa, u64 len)
{
	u32 i = 0;

	trace4(&h->m->trace, SIM_TRACE_FRAMES, 0, hpa.v, len, SIM_OWNER_NONE, 0);
	while (i < f->nr && f->free[i].start < hpa.v)
		i++;
	assert(i == f->nr || hpa.v + len <= f->free[i].start);
	if (i > 0 && f->free[i - 1].start + f->free[i - 1].len == hpa.v) {
		f->free[i - 1].len += len;
		if (i < f->nr && f->free[i].start == hpa.v + len) {
			f->free[i - 1].len += f->free[i].len;
			memmove(&f->free[i], &f->free[i + 1], (f->nr - i - 1) * sizeof(f->free[0]));
			f->nr--;
		}
	} else if (i < f->nr && f->free[i].start == hpa.v + len) {
		f->free[i].start = hpa.v;
		f->free[i].len += len;
	} else if (f->nr < HOST_FREE_MAX) {
		memmove(&f->free[i + 1], &f->free[i], (f->nr - i) * sizeof(f->free[0]));
		f->free[i] = (struct host_range){ hpa.v, len };
		f->nr++;
	} /* else lost: too fragmented to keep track of */
}

int sim_pages_alloc(struct port_host *h, u32 nr, struct port_pages *p)
{
	struct host_pages *e;
	hpa_t hpa;

	if (fault_hits(&h->home.no_memory, 0))
		return -ENOMEM;
	hpa = take(h, &h->low, (u64)nr * SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, SIM_OWNER_HOST, h->omit & HOST_OMIT_PAGES_ZERO);
	if (hpa_bad(hpa))
		return -ENOMEM;
	e = calloc(1, sizeof(*e));
	if (!e) {
		host_frames_give(h, &h->low, hpa, (u64)nr * SPEC_PAGE_SIZE);
		return -ENOMEM;
	}
	e->hpa = hpa.v;
	e->nr = nr;
	e->refs = 1;
	HASH_ADD(hh, h->pages, hpa, sizeof(e->hpa), e);
	*p = (struct port_pages){ h, hpa.v, nr };
	return 0;
}

static struct host_pages *pages_find(const struct port_pages *p)
{
	struct host_pages *e;

	HASH_FIND(hh, p->host->pages, &p->hpa, sizeof(p->hpa), e);
	assert(e && e->refs);
	return e;
}

void sim_pages_get(const struct port_pages *p)
{
	pages_find(p)->refs++;
}

void sim_pages_put(struct port_pages *p)
{
	struct host_pages *e = pages_find(p);
	struct port_host *h = p->host;

	if (--e->refs == 0) {
		HASH_DEL(h->pages, e);
		host_frames_give(h, &h->low, (hpa_t){ e->hpa }, (u64)e->nr * SPEC_PAGE_SIZE);
		free(e);
	}
	*p = (struct port_pages){ 0 };
}

struct port_shm sim_pages_shm(const struct port_pages *p)
{
	return (struct port_shm){ &p->host->home, p->hpa };
}

void host_pages_fini(struct port_host *h)
{
	struct host_pages *e, *tmp;

	HASH_ITER(hh, h->pages, e, tmp) {
		HASH_DEL(h->pages, e);
		free(e);
	}
}
