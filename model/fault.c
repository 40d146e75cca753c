// SPDX-License-Identifier: GPL-2.0
#include "fault.h"

bool fault_occasion(struct fault_site *f, u32 key)
{
	if (f->key != FAULT_ALL && f->key != key)
		return false;
	if (f->skip) {
		f->skip--;
		return false;
	}
	if (f->gap)
		f->skip = f->gap(f->opaque);
	f->hits++;
	if (--f->left == 0)
		f->armed = false;
	return true;
}
