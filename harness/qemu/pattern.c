// SPDX-License-Identifier: GPL-2.0
/*
 * pattern fill DEVICE TAG FIRST COUNT    write blocks of the VM's own
 * pattern check DEVICE TAG FIRST COUNT   are they as written?
 * pattern zero DEVICE FIRST COUNT        are they all zeros?
 *
 * In a VM. Blocks of 512 bytes; past the page cache.
 */

#define _GNU_SOURCE	/* O_DIRECT */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"

#define CHUNK 128u	/* blocks at a time */

static uint64_t buf[CHUNK][PATTERN_WORDS] __attribute__((aligned(4096)));

enum verb { FILL, CHECK, ZERO };

static int chunk_write(int fd, char tag, uint64_t first, uint64_t count)
{
	size_t bytes = count * PATTERN_BLOCK;
	uint64_t i;

	for (i = 0; i < count; i++)
		pattern_make(buf[i], tag, first + i);
	return pwrite(fd, buf, bytes, (off_t)(first * PATTERN_BLOCK)) == (ssize_t)bytes ? 0 : -1;
}

static int chunk_check(int fd, enum verb verb, char tag, uint64_t first, uint64_t count)
{
	size_t bytes = count * PATTERN_BLOCK;
	uint64_t i;

	if (pread(fd, buf, bytes, (off_t)(first * PATTERN_BLOCK)) != (ssize_t)bytes)
		return -1;
	for (i = 0; i < count; i++) {
		if (verb == CHECK ? pattern_is(buf[i], tag, first + i) : pattern_is_zero(buf[i]))
			continue;
		fprintf(stderr, "pattern: block %llu is not %s: %016llx %016llx\n", (unsigned long long)(first + i),
			verb == CHECK ? "as written" : "zero", (unsigned long long)buf[i][0], (unsigned long long)buf[i][1]);
		return 1;
	}
	return 0;
}

static int run(int fd, enum verb verb, char tag, uint64_t first, uint64_t count)
{
	int err = 0;

	while (count && !err) {
		uint64_t n = count < CHUNK ? count : CHUNK;

		err = verb == FILL ? chunk_write(fd, tag, first, n) : chunk_check(fd, verb, tag, first, n);
		first += n;
		count -= n;
	}
	return err ? err : verb == FILL ? fsync(fd) : 0;
}

int main(int argc, char **argv)
{
	enum verb verb;
	int fd, err;
	char **arg;

	if (argc == 6 && !strcmp(argv[1], "fill")) {
		verb = FILL;
	} else if (argc == 6 && !strcmp(argv[1], "check")) {
		verb = CHECK;
	} else if (argc == 5 && !strcmp(argv[1], "zero")) {
		verb = ZERO;
	} else {
		fprintf(stderr, "usage: pattern fill|check DEVICE TAG FIRST COUNT | zero DEVICE FIRST COUNT\n");
		return 2;
	}
	fd = open(argv[2], O_RDWR | O_DIRECT);
	if (fd < 0) {
		perror(argv[2]);
		return 1;
	}
	arg = argv + (verb == ZERO ? 3 : 4);
	err = run(fd, verb, argv[3][0], strtoull(arg[0], NULL, 0), strtoull(arg[1], NULL, 0));
	if (err < 0)
		perror("pattern");
	return err ? 1 : 0;
}
