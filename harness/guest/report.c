// SPDX-License-Identifier: GPL-2.0
/* What a home is asked on its command line, and what it tells: a line "name value" for each figure. */

#include "machine.h"

#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_S		240u		/* in the real world: even emulated twice over, a run is a minute */

static const char *const phase_name[GUEST_PHASES] = {
	[GUEST_START] = "start", "first", "io", "stale", "readonly", "restart", "attack", "stop",
};

/* --- the command line --- */

static void usage(const char *home, FILE *to)
{
	fprintf(to, "usage: guest-%s [--policy paper|mediated|nrd] [--ios N] [--seed N] [--attack] [--bug eager|forget|twice]%s\n",
		home, strcmp(home, "model") ? " IMAGE" : "");
}

static void wrong(const char *home, const char *what, const char *value)
{
	fprintf(stderr, "guest-%s: %s '%s'\n", home, what, value);
	usage(home, stderr);
	exit(2);
}

static u64 number(const char *home, const char *what, const char *text, u64 max)
{
	char *end;
	unsigned long long v = strtoull(text, &end, 0);

	if (!*text || *end || *text == '-' || v > max)
		wrong(home, what, text);
	return v;
}

static void set_policy(struct guest_options *opt, const char *name)
{
	static const char *const names[] = {
		[LIOV_POLICY_PAPER] = "paper", [LIOV_POLICY_MEDIATED] = "mediated", [LIOV_POLICY_NRD] = "nrd",
	};
	u32 i;

	for (i = 0; i < LIOV_POLICIES; i++) {
		if (strcmp(name, names[i]) == 0) {
			opt->policy = (enum liov_policy)i;
			opt->policy_name = names[i];
			return;
		}
	}
	wrong(opt->home, "no policy", name);
}

static void set_bug(struct guest_options *opt, const char *name)
{
	static const char *const names[] = {
		[GUEST_BUG_EAGER] = "eager", [GUEST_BUG_FORGET] = "forget", [GUEST_BUG_TWICE] = "twice",
	};
	u32 i;

	for (i = GUEST_BUG_EAGER; i <= GUEST_BUG_TWICE; i++) {
		if (strcmp(name, names[i]) == 0) {
			opt->bug = (enum guest_bug)i;
			return;
		}
	}
	wrong(opt->home, "no bug", name);
}

/* An image may run in circles: liveness is this program's to see to. */
static void too_long(int signal)
{
	static const char text[] = "guest: the guest does not end\n";

	(void)signal;
	(void)!write(2, text, sizeof(text) - 1);
	_exit(3);
}

void guest_options(struct guest_options *opt, const char *home, int argc, char **argv)
{
	static const struct option options[] = {
		{ "policy", 1, NULL, 'p' }, { "ios", 1, NULL, 'i' }, { "seed", 1, NULL, 's' }, { "attack", 0, NULL, 'a' },
		{ "bug", 1, NULL, 'b' }, { "help", 0, NULL, 'h' }, { 0 },
	};
	int o;

	*opt = (struct guest_options){ .home = home, .ios = 10000, .seed = 1, .policy_name = "nrd", .policy = LIOV_POLICY_NRD };
	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (o) {
		case 'p': set_policy(opt, optarg); break;
		case 'i': opt->ios = number(home, "no number of I/Os", optarg, 1u << 24); break;
		case 's': opt->seed = number(home, "no seed", optarg, ~0ull); break;
		case 'a': opt->attack = true; break;
		case 'b': set_bug(opt, optarg); break;
		case 'h': usage(home, stdout); exit(0);
		default: usage(home, stderr); exit(2);
		}
	}
	if (argc - optind != (strcmp(home, "model") != 0)) {
		usage(home, stderr);
		exit(2);
	}
	opt->image = argv[optind];
	signal(SIGALRM, too_long);
	alarm(LIMIT_S);
}

/* --- the figures --- */

static void report_phase(const struct guest_machine *gm, u32 p)
{
	const struct guest_counts *a = &gm->at[p], *b = &gm->at[p + 1];
	const char *name = phase_name[p];

	printf("%s.pages %llu\n", name, (unsigned long long)(b->pages - a->pages));
	printf("%s.fixed %llu\n", name, (unsigned long long)(b->fixed - a->fixed));
	printf("%s.refused %llu\n", name, (unsigned long long)(b->refused - a->refused));
	printf("%s.revokes %llu\n", name, (unsigned long long)(b->revokes - a->revokes));
	printf("%s.revoked %llu\n", name, (unsigned long long)(b->revoked - a->revoked));
	printf("%s.registers %llu\n", name, (unsigned long long)(b->registers - a->registers));
	printf("%s.config %llu\n", name, (unsigned long long)(b->config - a->config));
}

static u64 digest_media(const struct guest_machine *gm, const struct port_vm *vm)
{
	u64 digest = 0, block, words[STORE_SECTOR_SIZE / 8];
	u32 i;

	for (block = 0; block < vm->liov.lba.count; block++) {
		store_read(gm->m->media, (vm->liov.lba.start + block) * STORE_SECTOR_SIZE, words, sizeof(words));
		for (i = 0; i < STORE_SECTOR_SIZE / 8; i++)
			digest = (digest ^ words[i]) * 0x100000001b3ull;
	}
	return digest;
}

static bool intact(struct store *s, u64 off)
{
	u64 words[SPEC_PAGE_SIZE / 8];
	u32 i;

	store_read(s, off, words, sizeof(words));
	for (i = 0; i < SPEC_PAGE_SIZE / 8; i++)
		if (words[i] != GUEST_VICTIM_WORD)
			return false;
	return true;
}

/* What reached the SSD, and what it did. */
static void report_ssd(const struct guest_machine *gm)
{
	const struct nvme_counters *c = nvme_counters(gm->m->nvme);

	printf("ssd.sqes %llu\n", (unsigned long long)c->sqes_fetched);
	printf("ssd.cqes %llu\n", (unsigned long long)c->cqes_posted);
	printf("ssd.refused %llu\n", (unsigned long long)c->refused);
	printf("ssd.read-blocks %llu\n", (unsigned long long)c->read_blocks);
	printf("ssd.written-blocks %llu\n", (unsigned long long)c->written_blocks);
	printf("ssd.bad-doorbells %llu\n", (unsigned long long)c->doorbells_bad);
}

/* The guest's own lines. */
static void report_log(const struct guest_machine *gm)
{
	static struct guest_page page;

	store_read(gm->m->memory, guest_machine_ram(gm).v, &page, sizeof(page));
	if (page.log_bytes <= sizeof(page.log))
		fwrite(page.log, 1, page.log_bytes, stdout);
}

int guest_machine_report(struct guest_machine *gm)
{
	u32 p;

	printf("home %s\npolicy %s\n", gm->opt.home, gm->opt.policy_name);
	report_log(gm);
	printf("end %u\n", gm->end);
	/* RAM's first touches are each processor's own affair. */
	for (p = GUEST_WARM + 1; p < GUEST_PHASES; p++)
		report_phase(gm, p);
	report_ssd(gm);
	printf("pages.order %llx\n", (unsigned long long)gm->now.order);
	printf("blocks.digest %llx\n", (unsigned long long)digest_media(gm, gm->vm));
	printf("victim.blocks %s\n",
	       intact(gm->m->media, gm->victim->liov.lba.start * STORE_SECTOR_SIZE) ? "intact" : "changed");
	printf("victim.memory %s\n", intact(gm->m->memory, gm->victim->ram[0].hpa.v) ? "intact" : "changed");
	return gm->end ? 1 : 0;
}
