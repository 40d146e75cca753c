/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SITES_H
#define SIM_SITES_H

/*
 * The named checks and steps of LightIOV (kernel/core/sites.def), of the modelled hardware
 * (model/sites.def) and of the simulated host (sim/host/sites.def), in this order under one
 * numbering. Which are left out is set before a machine is made, for the whole process: neither core nor
 * model keeps state of its own. A process makes one run after the other.
 */

#include "spec/spec_types.h"

#define SITES_MAX 384

enum host_site {
#define HOST_SITE(name, component, what) HOST_SITE_##name,
#include "host/sites.def"
#undef HOST_SITE
	HOST_SITES
};

struct site_set {
	u64 bit[SITES_MAX / 64];
};

struct site {
	const char *name, *component, *what;
};

u32 site_count(void);
const struct site *site_at(u32 i);
/* -1: there is none of that name. */
s32 site_find(const char *name);

static inline void site_set_add(struct site_set *s, u32 i)
{
	s->bit[i / 64] |= 1ull << (i % 64);
}

static inline bool site_set_has(const struct site_set *s, u32 i)
{
	return s->bit[i / 64] >> (i % 64) & 1;
}

u32 site_set_size(const struct site_set *s);
/* "a,b" added to @s; -1 and the name that is none in @bad. */
int site_set_parse(struct site_set *s, const char *names, char bad[64]);
/* "a, b" */
void site_set_text(const struct site_set *s, char *buf, size_t size);

/* Leave these out from now on (NULL: none), and forget what was met. */
void sites_ablate(const struct site_set *s);
/* A planted bug: one more is left out, or is there again. */
void sites_plant(u32 i, bool out);
/* What is met from now on is met in the span of an attack, or not. */
void sites_span(bool open);
/* All that refused or was stepped through, at any time. */
void sites_met_ever(struct site_set *met);
/* Checks that refused while the span was open, and steps that were taken at any time: a wall stands before it is run into. */
void sites_met(struct site_set *refused, struct site_set *taken);

/* For sim/host, as LIOV_CHECK and LIOV_STEP. */
bool host_site_refuses(enum host_site site);
bool host_site_steps(enum host_site site);
#define HOST_STEP(site) host_site_steps(HOST_SITE_##site)
#define HOST_CHECK(site, cond) ((cond) || !host_site_refuses(HOST_SITE_##site))

#endif
