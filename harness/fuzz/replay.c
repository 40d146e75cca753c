// SPDX-License-Identifier: GPL-2.0
/*
 * A target's main() where there is no libFuzzer: the inputs in the files named, one after the other, after
 * --ablate SITE[,SITE] without these checks of the core or the model.
 */

#include "fuzz.h"
#include "sites.h"

#define INPUT_MAX (1u << 20)

static int replay(const char *path)
{
	static u8 input[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t len;
	u8 *exact;

	if (!f) {
		perror(path);
		return 1;
	}
	len = fread(input, 1, sizeof(input), f);
	fclose(f);
	fprintf(stderr, "%s: %zu bytes\n", path, len);
	/* In a block of its own size, so that a sanitizer sees a read past its end. */
	exact = malloc(len ? len : 1);
	if (!exact)
		return 1;
	memcpy(exact, input, len);
	LLVMFuzzerTestOneInput(exact, len);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	struct site_set ablated = { { 0 } };
	char unknown[64];
	int i = 1, bad = 0;

	if (argc > 2 && strcmp(argv[1], "--ablate") == 0) {
		if (site_set_parse(&ablated, argv[2], unknown)) {
			fprintf(stderr, "%s: there is no site '%s'\n", argv[0], unknown);
			return 2;
		}
		sites_ablate(&ablated);
		i = 3;
	}
	if (i == argc) {
		fprintf(stderr, "usage: %s [--ablate SITE[,SITE]] FILE...\n", argv[0]);
		return 2;
	}
	for (; i < argc; i++)
		bad |= replay(argv[i]);
	return bad;
}
