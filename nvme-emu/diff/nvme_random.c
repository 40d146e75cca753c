// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

void nvme_random(struct stream *st, u64 seed)
{
	stream_addf(st, "machine");
	for (u32 i = 0; i < 10; i++)
		stream_addf(st, "io op=2 slba=%u nlb=7", diff_below(&seed, 100));
}
