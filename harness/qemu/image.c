// SPDX-License-Identifier: GPL-2.0
/* image SEED MIB > FILE: a disk of MIB MiB with the content that the module's self-test expects. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "gate_pattern.h"

int main(int argc, char **argv)
{
	unsigned long long seed, bytes, off;

	if (argc != 3) {
		fprintf(stderr, "usage: image SEED MIB > FILE\n");
		return 2;
	}
	seed = strtoull(argv[1], NULL, 0);
	bytes = strtoull(argv[2], NULL, 0) << 20;
	for (off = 0; off < bytes; off += 8) {
		uint64_t word = gate_pattern(seed, off);

		if (fwrite(&word, sizeof(word), 1, stdout) != 1)
			goto failed;
	}
	if (!fflush(stdout))
		return 0;
failed:
	perror("image");
	return 1;
}
