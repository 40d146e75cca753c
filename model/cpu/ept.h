/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_CPU_EPT_H
#define MODEL_CPU_EPT_H

/* Walk of 4-level EPT paging structures in memory: Intel SDM volume 3, 29.3. No caching here. */

#include "bus.h"
#include "spec/ept.h"

enum ept_result { EPT_OK, EPT_VIOLATION, EPT_MISCONFIG };

struct ept_walk {
	hpa_t hpa;		/* of the byte asked for, on EPT_OK */
	u8 page_shift;		/* 12, 21 or 30 */
	u8 allowed;		/* EPT_ACCESS_* of the combined path, 0 when not present */
	u8 level;		/* of the entry that decided, 4..1 */
	u64 entry;		/* that entry */
	hpa_t entry_addr;
};

/* Translate @gpa for @access; sets accessed and dirty flags where EPTP enables them (29.3.5). */
enum ept_result ept_walk(struct bus *bus, u64 eptp, gpa_t gpa, u32 access, struct ept_walk *out);

#endif
