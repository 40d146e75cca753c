// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

/* Streams by chance: each its own machine, so that what shows a difference is short to begin with. */

const struct generator generators[] = {
	{ "nvme", UNIT_NVME, nvme_random },
	{ "vtd", UNIT_VTD, vtd_random },
	{ NULL },
};
