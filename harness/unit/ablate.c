// SPDX-License-Identifier: GPL-2.0
/*
 * Part of each test program, for harness/mutants: LIOV_ABLATE names a site that is left out, and
 * the sites that the program meets are appended to the file that LIOV_SITES_MET names.
 */
#include "sites.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void ablate(void)
{
	const char *name = getenv("LIOV_ABLATE");
	s32 i = name ? site_find(name) : -1;

	if (i >= 0)
		sites_plant((u32)i, true);
}

__attribute__((destructor)) static void tell(void)
{
	const char *path = getenv("LIOV_SITES_MET");
	FILE *f = path ? fopen(path, "a") : NULL;
	struct site_set met;
	u32 i;

	if (!f)
		return;
	sites_met_ever(&met);
	for (i = 0; i < site_count(); i++)
		if (site_set_has(&met, i))
			fprintf(f, "%s\n", site_at(i)->name);
	fclose(f);
}
