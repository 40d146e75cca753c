/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_CPU_EPT_H
#define MODEL_CPU_EPT_H

/*
 * Walk of 4-level EPT paging structures in memory: Intel SDM volume 3, 29.3. No caching here.
 *
 * The processor has what IA32_VMX_EPT_VPID_CAP of a server reports: execute-only
 * translations, 2 MiB and 1 GiB pages, uncacheable and write-back paging structures,
 * accessed and dirty flags. It has no mode-based execute control.
 */

#include "bus.h"
#include "spec/ept.h"

#define EPT_MAXPHYADDR 46	/* CPUID.80000008H:EAX[7:0] of the Skylake servers the baseline is calibrated on */

enum ept_result { EPT_OK, EPT_VIOLATION, EPT_MISCONFIG };

struct ept_walk {
	hpa_t hpa;		/* of the byte asked for, on EPT_OK */
	u8 page_shift;		/* 12, 21 or 30 */
	u8 allowed;		/* EPT_ACCESS_* of the combined path, 0 when not present */
	u8 level;		/* of the entry that decided, 4..1; 0 when it was the EPTP */
	u64 entry;		/* that entry */
	hpa_t entry_addr;
};

/* Would VM entry take this EPTP? Its checks are in 27.2.1.1. */
bool ept_eptp_is_valid(u64 eptp);

/*
 * Translate @gpa for @access; sets accessed and dirty flags where EPTP enables them (29.3.5).
 * An EPTP that no VM entry would have taken is answered as a misconfiguration at level 0.
 */
enum ept_result ept_walk(struct bus *bus, u64 eptp, gpa_t gpa, u32 access, struct ept_walk *out);

#endif
