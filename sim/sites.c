// SPDX-License-Identifier: GPL-2.0
#include "sites.h"
#include "../model/site.h"

#include <stdio.h>
#include <string.h>

/* Of the core only the list: its header is for the core's own files. */
enum { LIOV_SITES =
#define LIOV_SITE(name, component, what) +1
#include "sites.def"
#undef LIOV_SITE
};

#define MODEL_FIRST LIOV_SITES
#define HOST_FIRST (LIOV_SITES + MODEL_SITES)
#define ALL (LIOV_SITES + MODEL_SITES + HOST_SITES)
_Static_assert(ALL <= SITES_MAX, "a site is a bit of a set");

#define OUTSIDE 1u
#define IN_SPAN 2u
#define STEP_SHIFT 4	/* of the same bits for a step */

static const struct site sites[ALL] = {
#define SITE(name, component, what) { #name, #component, what },
#define LIOV_SITE SITE
#include "sites.def"
#define MODEL_SITE SITE
#include "../model/sites.def"
#define HOST_SITE SITE
#include "host/sites.def"
};

bool sim_site_ablated[SITES_MAX];
u8 sim_site_met[SITES_MAX], sim_site_now = OUTSIDE;

u32 site_count(void)
{
	return ALL;
}

const struct site *site_at(u32 i)
{
	return i < ALL ? &sites[i] : NULL;
}

s32 site_find(const char *name)
{
	u32 i;

	for (i = 0; i < ALL; i++)
		if (strcmp(sites[i].name, name) == 0)
			return (s32)i;
	return -1;
}

u32 site_set_size(const struct site_set *s)
{
	u32 i, n = 0;

	for (i = 0; i < SITES_MAX / 64; i++)
		n += (u32)__builtin_popcountll(s->bit[i]);
	return n;
}

int site_set_parse(struct site_set *s, const char *names, char bad[64])
{
	while (*names) {
		size_t n = strcspn(names, ",");
		s32 i;

		snprintf(bad, 64, "%.*s", (int)(n < 63 ? n : 63), names);
		i = site_find(bad);
		if (i < 0)
			return -1;
		site_set_add(s, (u32)i);
		names += n + (names[n] == ',');
	}
	return 0;
}

void site_set_text(const struct site_set *s, char *buf, size_t size)
{
	size_t at = 0;
	u32 i;

	if (size)
		buf[0] = '\0';
	for (i = 0; i < ALL; i++) {
		int n;

		if (!site_set_has(s, i))
			continue;
		n = snprintf(buf + at, size - at, "%s%s", at ? ", " : "", sites[i].name);
		if (n < 0 || (size_t)n >= size - at)
			return;
		at += (size_t)n;
	}
}

void sites_ablate(const struct site_set *s)
{
	u32 i;

	memset(sim_site_met, 0, sizeof(sim_site_met));
	sim_site_now = OUTSIDE;
	for (i = 0; i < SITES_MAX; i++)
		sim_site_ablated[i] = s && site_set_has(s, i);
}

void sites_plant(u32 i, bool out)
{
	sim_site_ablated[i] = out;
}

void sites_span(bool open)
{
	sim_site_now = open ? IN_SPAN : OUTSIDE;
}

void sites_met(struct site_set *refused, struct site_set *taken)
{
	u32 i;

	*refused = *taken = (struct site_set){ { 0 } };
	for (i = 0; i < ALL; i++) {
		if (sim_site_met[i] & IN_SPAN)
			site_set_add(refused, i);
		if (sim_site_met[i] >> STEP_SHIFT)
			site_set_add(taken, i);
	}
}

void sites_met_ever(struct site_set *met)
{
	u32 i;

	*met = (struct site_set){ { 0 } };
	for (i = 0; i < ALL; i++)
		if (sim_site_met[i])
			site_set_add(met, i);
}

/* Not left out: met now. */
static bool meet(u32 i, u32 shift)
{
	if (sim_site_ablated[i])
		return false;
	sim_site_met[i] |= (u8)(sim_site_now << shift);
	return true;
}

bool model_site_refuses(enum model_site site)
{
	return meet(MODEL_FIRST + site, 0);
}

bool model_site_steps(enum model_site site)
{
	return meet(MODEL_FIRST + site, STEP_SHIFT);
}

bool host_site_refuses(enum host_site site)
{
	return meet(HOST_FIRST + site, 0);
}

bool host_site_steps(enum host_site site)
{
	return meet(HOST_FIRST + site, STEP_SHIFT);
}
