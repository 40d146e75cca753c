// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "doorbells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int doorbells_init(struct doorbells *d)
{
	u64 bytes = DOORBELL_PAGES * SPEC_PAGE_SIZE;

	d->file = memfd_create("doorbells", MFD_CLOEXEC);
	if (d->file < 0 || ftruncate(d->file, (off_t)bytes))
		return -errno;
	d->now = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->file, 0);
	return d->now == MAP_FAILED ? -errno : 0;
}

u64 doorbells_add(struct doorbells *d, u64 off, hpa_t hpa)
{
	u32 i = 0;

	while (i < DOORBELL_PAGES && d->page[i].used)
		i++;
	if (i == DOORBELL_PAGES) {
		fprintf(stderr, "guest: more than %u doorbell pages at once\n", DOORBELL_PAGES);
		exit(70);
	}
	memset(d->now + i * DOORBELL_WORDS, 0xFF, SPEC_PAGE_SIZE);
	d->page[i].used = true;
	d->page[i].off = off;
	d->page[i].hpa.v = hpa.v & ~(SPEC_PAGE_SIZE - 1);
	return i * SPEC_PAGE_SIZE;
}

void doorbells_remove(struct doorbells *d, u64 off, u64 len_bytes)
{
	u32 i;

	for (i = 0; i < DOORBELL_PAGES; i++)
		if (d->page[i].used && d->page[i].off >= off && d->page[i].off - off < len_bytes)
			d->page[i].used = false;
}

static void poll_page(const struct doorbell_page *p, u32 *now, struct guest_machine *gm)
{
	u32 i;

	for (i = 0; i < DOORBELL_WORDS; i++) {
		if (now[i] == DOORBELL_SILENT)
			continue;
		guest_machine_doorbell(gm, (hpa_t){ p->hpa.v + i * 4 }, now[i]);
		now[i] = DOORBELL_SILENT;
	}
}

void doorbells_poll(struct doorbells *d, struct guest_machine *gm)
{
	u32 i;

	for (i = 0; i < DOORBELL_PAGES; i++)
		if (d->page[i].used)
			poll_page(&d->page[i], d->now + i * DOORBELL_WORDS, gm);
}
