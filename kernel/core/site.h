/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_SITE_H
#define LIOV_CORE_SITE_H

/*
 * Every isolation check of LightIOV, and every step of teardown and mapping that isolation
 * rests on, has a name (sites.def). A home that experiments can leave out one of them at run time,
 * and see what was refused by which; in all others the macros are the bare condition and
 * nothing of a site is left in the object code.
 */

#include "liov/port_base.h"

enum liov_site {
#define LIOV_SITE(name, component, what) LIOV_SITE_##name,
#include "sites.def"
#undef LIOV_SITE
	LIOV_SITES
};

static inline bool liov_site_refuses(u32 site)
{
	if (port_site_ablated(site))
		return false;
	port_site_refused(site);
	return true;
}

static inline bool liov_site_steps(u32 site)
{
	if (port_site_ablated(site))
		return false;
	port_site_taken(site);
	return true;
}

/* @cond, which must hold, is always evaluated; a refusal is told to the home. */
#define LIOV_CHECK(site, cond) ((cond) || !liov_site_refuses(LIOV_SITE_##site))
/* A protecting step is to be taken now: true. */
#define LIOV_STEP(site) liov_site_steps(LIOV_SITE_##site)

#endif
