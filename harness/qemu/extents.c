// SPDX-License-Identifier: GPL-2.0
/*
 * extents IMAGE SEED TAG:BLOCKS:FILLED ...
 *
 * Look at the disk when all is over. Of each VM named by its tag, with so many blocks: its first
 * FILLED blocks are as it wrote them, the rest so, or full of its tag, or zero; its place is where
 * its block 0 is. No two overlap, and every block of no VM is as the image was made.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate_pattern.h"
#include "pattern.h"

#define VMS_MAX 8

struct vm {
	char tag;
	uint64_t filler;	/* each word of a block that is full of the tag */
	uint64_t blocks, filled, start;
	bool found;
};

static struct vm vms[VMS_MAX];
static uint64_t *image, nr_blocks, seed;
static unsigned int nr_vms;

static uint64_t *block_of(uint64_t lba)
{
	return image + lba * PATTERN_WORDS;
}

static void load(const char *path)
{
	FILE *f = fopen(path, "rb");
	long bytes;

	if (!f || fseek(f, 0, SEEK_END) || (bytes = ftell(f)) <= 0 || fseek(f, 0, SEEK_SET))
		goto failed;
	image = malloc((size_t)bytes);
	if (!image || fread(image, (size_t)bytes, 1, f) != 1)
		goto failed;
	nr_blocks = (uint64_t)bytes / PATTERN_BLOCK;
	fclose(f);
	return;
failed:
	perror(path);
	exit(2);
}

static void vm_parse(const char *arg)
{
	struct vm *v = &vms[nr_vms];
	unsigned long long blocks, filled;

	if (nr_vms == VMS_MAX || sscanf(arg, "%c:%llu:%llu", &v->tag, &blocks, &filled) != 3 || !filled || filled > blocks) {
		fprintf(stderr, "extents: not a VM: %s\n", arg);
		exit(2);
	}
	v->blocks = blocks;
	v->filled = filled;
	memset(&v->filler, v->tag, sizeof(v->filler));
	nr_vms++;
}

static bool is_initial(uint64_t lba)
{
	const uint64_t *word = block_of(lba);
	uint32_t i;

	for (i = 0; i < PATTERN_WORDS && word[i] == gate_pattern(seed, lba * PATTERN_BLOCK + i * 8); i++)
		;
	return i == PATTERN_WORDS;
}

static bool is_filler(const struct vm *v, const uint64_t *word)
{
	uint32_t i;

	for (i = 0; i < PATTERN_WORDS && word[i] == v->filler; i++)
		;
	return i == PATTERN_WORDS;
}

static struct vm *owner_of(uint64_t lba)
{
	unsigned int i;

	for (i = 0; i < nr_vms; i++)
		if (vms[i].found && lba >= vms[i].start && lba - vms[i].start < vms[i].blocks)
			return &vms[i];
	return NULL;
}

/* Each VM is where its block 0 is; that the others follow from it, the check of all blocks says. */
static int find(void)
{
	unsigned int i, j;
	uint64_t lba;

	for (i = 0; i < nr_vms; i++) {
		struct vm *v = &vms[i];

		for (lba = 0; lba + v->blocks <= nr_blocks && !v->found; lba++) {
			v->found = pattern_is(block_of(lba), v->tag, 0);
			v->start = lba;
		}
		if (!v->found) {
			printf("extents: nothing of VM %c\n", v->tag);
			return 1;
		}
		for (j = 0; j < i; j++)
			if (v->start < vms[j].start + vms[j].blocks && vms[j].start < v->start + v->blocks) {
				printf("extents: VMs %c and %c overlap\n", vms[j].tag, v->tag);
				return 1;
			}
	}
	return 0;
}

static bool is_right(uint64_t lba)
{
	const struct vm *v = owner_of(lba);
	uint64_t index;

	if (!v)
		return is_initial(lba);
	index = lba - v->start;
	if (pattern_is(block_of(lba), v->tag, index))
		return true;
	return index >= v->filled && (is_filler(v, block_of(lba)) || pattern_is_zero(block_of(lba)));
}

int main(int argc, char **argv)
{
	uint64_t lba, wrong = 0, nobodys = 0;
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: extents IMAGE SEED TAG:BLOCKS:FILLED ...\n");
		return 2;
	}
	load(argv[1]);
	seed = strtoull(argv[2], NULL, 0);
	for (i = 3; i < argc; i++)
		vm_parse(argv[i]);
	if (find())
		return 1;
	for (lba = 0; lba < nr_blocks; lba++) {
		const struct vm *v = owner_of(lba);

		nobodys += !v;
		if (is_right(lba))
			continue;
		if (wrong++ < 5)
			printf("extents: block %llu of %s%c is %016llx %016llx\n", (unsigned long long)lba, v ? "VM " : "nobody",
			       v ? v->tag : ' ', (unsigned long long)block_of(lba)[0], (unsigned long long)block_of(lba)[1]);
	}
	for (i = 0; i < (int)nr_vms; i++)
		printf("extents: VM %c: blocks %llu to %llu are its own\n", vms[i].tag, (unsigned long long)vms[i].start,
		       (unsigned long long)(vms[i].start + vms[i].blocks - 1));
	printf("extents: %llu blocks of nobody %s\n", (unsigned long long)nobodys, wrong ? "or somebody are wrong" : "are untouched");
	return wrong ? 1 : 0;
}
