// SPDX-License-Identifier: GPL-2.0
#include "oracle/residue.h"

#include <assert.h>
#include <stdlib.h>

#define LINE_SHIFT 6
#define HINTS 256

struct residue_page {
	u64 page;		/* number */
	u64 own, stale;		/* bit a line */
	u32 vm;
};

struct residue {
	struct residue_page *pages;
	u32 nr, cap;
	u32 hint[HINTS];	/* where a page was found last */
};

struct residue *residue_new(void)
{
	return calloc(1, sizeof(struct residue));
}

void residue_free(struct residue *r)
{
	if (r)
		free(r->pages);
	free(r);
}

static struct residue_page *find(struct residue *r, u64 hpa)
{
	u64 page = hpa >> SPEC_PAGE_SHIFT;
	u32 *hint = &r->hint[page % HINTS], i;

	if (*hint < r->nr && r->pages[*hint].page == page)
		return &r->pages[*hint];
	for (i = 0; i < r->nr; i++) {
		if (r->pages[i].page == page) {
			*hint = i;
			return &r->pages[i];
		}
	}
	return NULL;
}

static struct residue_page *add(struct residue *r, u64 hpa, u32 vm)
{
	if (r->nr == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->pages = realloc(r->pages, r->cap * sizeof(*r->pages));
		assert(r->pages);
	}
	r->pages[r->nr] = (struct residue_page){ .page = hpa >> SPEC_PAGE_SHIFT, .vm = vm };
	return &r->pages[r->nr++];
}

/* Lines of one page that [hpa, hpa + len) touches. */
static u64 lines(u64 hpa, u64 len)
{
	u64 first = (hpa & (SPEC_PAGE_SIZE - 1)) >> LINE_SHIFT;
	u64 last = ((hpa & (SPEC_PAGE_SIZE - 1)) + len - 1) >> LINE_SHIFT;

	if (last > 63)
		last = 63;
	return (last - first == 63 ? ~0ull : (1ull << (last - first + 1)) - 1) << first;
}

/* What the owner before left is not the new one's. */
static void hand_over(struct residue_page *p, u32 vm)
{
	if (p->vm == vm)
		return;
	p->stale |= p->own;
	p->own = 0;
	p->vm = vm;
}

void residue_touched(struct residue *r, u64 hpa, u64 len, u32 vm)
{
	struct residue_page *p = find(r, hpa);

	if (!p)
		p = add(r, hpa, vm);
	hand_over(p, vm);
	p->own |= lines(hpa, len);
}

/* Few pages are known, but whole VMs are zeroed. */
void residue_zeroed(struct residue *r, u64 hpa, u64 len)
{
	u32 i;

	for (i = 0; i < r->nr; i++) {
		struct residue_page *p = &r->pages[i];
		u64 start = p->page << SPEC_PAGE_SHIFT, end = start + SPEC_PAGE_SIZE, gone;

		if (start >= hpa + len || end <= hpa)
			continue;
		start = start > hpa ? start : hpa;
		end = end < hpa + len ? end : hpa + len;
		gone = lines(start, end - start);
		p->own &= ~gone;
		p->stale &= ~gone;
	}
}

bool residue_is_stale(struct residue *r, u64 hpa, u64 len, u32 vm)
{
	struct residue_page *p = find(r, hpa);

	if (!p)
		return false;
	hand_over(p, vm);
	return p->stale & lines(hpa, len);
}
