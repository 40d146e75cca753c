/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SITE_H
#define MODEL_SITE_H

/*
 * Every check of the modelled hardware that keeps somebody out has a name (sites.def). Who uses the
 * model implements the two functions: one check can then be left out at run time, as a device with that
 * bug would, and refusals can be counted. The state is the implementer's; the model keeps none.
 */

#include "spec/spec_types.h"

enum model_site {
#define MODEL_SITE(name, component, what) MODEL_SITE_##name,
#include "sites.def"
#undef MODEL_SITE
	MODEL_SITES
};

/* A check did not hold. True: it refuses; false: it is left out and counts as held. */
bool model_site_refuses(enum model_site site);
/* A protecting step is to be taken. False: it is left out. */
bool model_site_steps(enum model_site site);

#define MODEL_CHECK(site, cond) ((cond) || !model_site_refuses(MODEL_SITE_##site))
#define MODEL_STEP(site) model_site_steps(MODEL_SITE_##site)

#endif
