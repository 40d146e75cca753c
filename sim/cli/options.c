// SPDX-License-Identifier: GPL-2.0
/* The command line. */

#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage_all[] =
"usage: lightiov COMMAND [OPTION...] [PATH...]\n"
"\n"
"  run PATH...     replay scenarios (files or folders); a line each, then a summary\n"
"  run --replay F  repeat a recording of serve without its guests, and compare\n"
"  matrix PATH...  attacks down, policies across: who stopped it\n"
"  list PATH...    what scenarios there are\n"
"  bench --hot     speed of the simulator on the hot path\n"
"  qtest ...       the model behind QEMU's qtest protocol, with QEMU's options\n"
"  serve ...       the model as vfio-user PCI devices, for a VMM\n"
"  help [COMMAND]  this, or a command's options\n"
"\n"
"exit: 0 as expected, 1 a verdict or check differs, 2 usage or scenario, 3 liveness, 70 our bug, 77 nothing to run\n";

static const char usage_run[] =
"usage: lightiov %s [OPTION...] PATH...\n"
"\n"
"  --policy P[,P...]   only under these: %s (default: all the scenario knows)\n"
"  --variant V         only this variant (- is run(m) itself)\n"
"  --seed N            of all chance (default 1)\n"
"  --schedules N       explore N schedules of each scenario's race(); the first that fails is printed\n"
"  --schedule S        run the race by this schedule, as printed; - is the order by default, ~7 one by chance\n"
"  --faults SEED       DMA and interrupts are late now and then, by chance of this seed\n"
"  --jobs N            runs at the same time (default 1); the output does not depend on it\n"
"  --expected FILE     table of expected verdicts (default: expected.tsv in the scenario's folder or above)\n"
"  --why               run the controls, which show of each 'contained by X' that without X there is harm, and\n"
"                      print the chain behind each verdict; --no-controls for evidence and sites only\n"
"  --noninterference   run each attack again with other secrets of its victims (data, LBAs, addresses): what the attacker\n"
"                      sees must be the same, or stand in known-leaks beside the table; times that differ are shown\n"
"  --ablate SITE[,...] without these named checks or steps (see help list), and without controls\n"
"  --content=MODE      tags (default) or bytes: how content is held; results are the same\n"
"  --json[=FILE]       the results as one JSON document on stdout, or in FILE\n"
"  --junit FILE        the results for CI, as JUnit's XML\n"
"  --sarif FILE        what escaped or differs, as SARIF 2.1.0\n"
"  --html FILE         one page that needs nothing else: the matrix, and each case hop by hop\n"
"  --perfetto FILE     all events as a trace for Perfetto's viewer (ui.perfetto.dev)\n"
"  --quiet             only what differs, and the summary\n"
"  --verbose           evidence, measures and the script's log of every run\n";

static const char usage_list[] =
"usage: lightiov list [--policy P[,P...]] [--json[=FILE]] PATH...\n"
"       lightiov list --sites    the named checks and protecting steps\n";

static const char usage_bench[] =
"usage: lightiov bench --hot [--policy P] [--seed N] [--ios N]\n"
"\n"
"  --hot       four VMs, queue depth 128, 4 KiB random reads, all checks on: I/Os per second of processor time\n"
"  --policy P  one of %s (default: the first)\n"
"  --ios N     I/Os to measure (default 400000)\n";

/* "paper, mediated, nrd" */
static const char *policy_list(char buf[128])
{
	size_t at = 0;
	int p;

	buf[0] = '\0';
	for (p = 0; p < LIOV_POLICIES && at < 100; p++)
		at += (size_t)snprintf(buf + at, 128 - at, "%s%s", p ? ", " : "", policy_name((enum liov_policy)p));
	return buf;
}

static int usage(FILE *f, const char *command)
{
	char list[128];

	if (command && (!strcmp(command, "run") || !strcmp(command, "matrix")))
		fprintf(f, usage_run, command, policy_list(list));
	else if (command && !strcmp(command, "list"))
		fputs(usage_list, f);
	else if (command && !strcmp(command, "bench"))
		fprintf(f, usage_bench, policy_list(list));
	else
		fputs(usage_all, f);
	return f == stdout ? CLI_OK : CLI_USAGE;
}

enum { OPT_POLICY = 256, OPT_VARIANT, OPT_SEED, OPT_SCHEDULES, OPT_SCHEDULE, OPT_FAULTS, OPT_JOBS, OPT_EXPECTED, OPT_CONTENT, OPT_JSON, OPT_JUNIT, OPT_SARIF, OPT_HTML, OPT_PERFETTO, OPT_QUIET, OPT_VERBOSE,
       OPT_HOT, OPT_IOS, OPT_WHY, OPT_NO_CONTROLS, OPT_ABLATE, OPT_SITES, OPT_NONINTERFERENCE, OPT_HELP };

static const struct option all_options[] = {
	{ "policy", required_argument, NULL, OPT_POLICY }, { "variant", required_argument, NULL, OPT_VARIANT },
	{ "seed", required_argument, NULL, OPT_SEED }, { "jobs", required_argument, NULL, OPT_JOBS },
	{ "schedules", required_argument, NULL, OPT_SCHEDULES }, { "schedule", required_argument, NULL, OPT_SCHEDULE },
	{ "faults", required_argument, NULL, OPT_FAULTS },
	{ "expected", required_argument, NULL, OPT_EXPECTED }, { "content", required_argument, NULL, OPT_CONTENT },
	{ "json", optional_argument, NULL, OPT_JSON }, { "junit", required_argument, NULL, OPT_JUNIT },
	{ "sarif", required_argument, NULL, OPT_SARIF }, { "html", required_argument, NULL, OPT_HTML },
	{ "perfetto", required_argument, NULL, OPT_PERFETTO },
	{ "quiet", no_argument, NULL, OPT_QUIET }, { "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "hot", no_argument, NULL, OPT_HOT }, { "ios", required_argument, NULL, OPT_IOS },
	{ "why", no_argument, NULL, OPT_WHY }, { "no-controls", no_argument, NULL, OPT_NO_CONTROLS },
	{ "ablate", required_argument, NULL, OPT_ABLATE }, { "sites", no_argument, NULL, OPT_SITES },
	{ "noninterference", no_argument, NULL, OPT_NONINTERFERENCE },
	{ "help", no_argument, NULL, OPT_HELP }, { NULL, 0, NULL, 0 }
};

/* Options that a command takes. */
static bool takes(const char *command, int opt)
{
	bool bench = strcmp(command, "bench") == 0, list = strcmp(command, "list") == 0;

	switch (opt) {
	case OPT_HELP: case OPT_POLICY:
		return true;
	case OPT_SEED:
		return !list;
	case OPT_HOT: case OPT_IOS:
		return bench;
	case OPT_JSON:
		return !bench;
	case OPT_SITES:
		return list;
	default:
		return !bench && !list;
	}
}

static bool number(const char *text, u64 min, u64 max, u64 *out)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, hex ? 16 : 10);
	*out = v;
	return *text >= '0' && *text <= '9' && *end == '\0' && !errno && v >= min && v <= max;
}

static int complain(const struct cli_options *o, const char *option, const char *given, const char *wanted)
{
	fprintf(stderr, "lightiov %s: %s: '%s'; give %s\n", o->command, option, given, wanted);
	return CLI_USAGE;
}

static bool policies(const char *text, u32 *mask)
{
	char word[16];

	*mask = 0;
	for (;;) {
		size_t n = strcspn(text, ",");
		enum liov_policy p;

		if (n == 0 || n >= sizeof(word))
			return false;
		memcpy(word, text, n);
		word[n] = '\0';
		p = policy_from_name(word);
		if (p == LIOV_POLICIES)
			return false;
		*mask |= 1u << p;
		if (!text[n])
			return true;
		text += n + 1;
	}
}

static int take_ablate(struct cli_options *o, const char *arg)
{
	char bad[64];

	o->no_controls = true;
	if (site_set_parse(&o->scenario.ablate, arg, bad))
		return complain(o, "--ablate", bad, "names of 'lightiov list --sites', separated by commas");
	return -1;
}

static int take(struct cli_options *o, int opt, const char *arg)
{
	char list[128], wanted[160];
	u64 v;

	switch (opt) {
	case OPT_POLICY:
		snprintf(wanted, sizeof(wanted), "some of %s, separated by commas", policy_list(list));
		return policies(arg, &o->policies) ? -1 : complain(o, "--policy", arg, wanted);
	case OPT_VARIANT:
		o->variant = arg;
		return -1;
	case OPT_SEED:
		return number(arg, 0, ~0ull, &o->scenario.seed) ? -1 : complain(o, "--seed", arg, "a whole number, as 7 or 0x1f");
	case OPT_JOBS:
		if (!number(arg, 1, CLI_JOBS_MAX, &v))
			return complain(o, "--jobs", arg, "1 to 256");
		o->jobs = (u32)v;
		return -1;
	case OPT_SCHEDULES:
		if (!number(arg, 1, CLI_SCHEDULES_MAX, &v))
			return complain(o, "--schedules", arg, "1 to 100000");
		o->scenario.schedules = (u32)v;
		return -1;
	case OPT_FAULTS:
		return number(arg, 1, ~0ull, &o->scenario.faults) ? -1 : complain(o, "--faults", arg, "a seed, a whole number from 1 on");
	case OPT_SCHEDULE:
		o->scenario.schedule = arg;
		return -1;
	case OPT_EXPECTED:
		o->expected = arg;
		return -1;
	case OPT_CONTENT:
		o->scenario.content_bytes = strcmp(arg, "bytes") == 0;
		return strcmp(arg, "bytes") && strcmp(arg, "tags") ? complain(o, "--content", arg, "tags or bytes") : -1;
	case OPT_JSON:
		o->json = true;
		o->json_path = arg;
		return -1;
	case OPT_JUNIT:
		o->junit_path = arg;
		return -1;
	case OPT_SARIF:
		o->sarif_path = arg;
		return -1;
	case OPT_HTML:
		o->html_path = arg;
		return -1;
	case OPT_PERFETTO:
		o->perfetto_path = arg;
		return -1;
	case OPT_IOS:
		return number(arg, 1000, 1ull << 40, &o->ios) ? -1 : complain(o, "--ios", arg, "at least 1000");
	case OPT_QUIET:
		o->quiet = true;
		return -1;
	case OPT_VERBOSE:
		o->verbose = true;
		return -1;
	case OPT_HOT:
		o->hot = true;
		return -1;
	case OPT_WHY:
		o->why = true;
		return -1;
	case OPT_NO_CONTROLS:
		o->no_controls = true;
		return -1;
	case OPT_ABLATE:
		return take_ablate(o, arg);
	case OPT_NONINTERFERENCE:
		o->noninterference = true;
		return -1;
	case OPT_SITES:
		o->sites = true;
		return -1;
	default:
		return usage(stdout, o->command);
	}
}

static int parse_rest(int argc, char **argv, struct cli_options *o)
{
	int opt, ret, index;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", all_options, &index)) != -1) {
		if (opt == ':' || opt == '?') {
			char letter[] = { '-', (char)optopt, '\0' };

			fprintf(stderr, "lightiov %s: %s '%s'; lightiov %s --help lists what it takes\n", o->command,
				opt == ':' ? "a value is missing after" : "no such option, or it takes no value:",
				optopt > 0 && optopt < OPT_POLICY ? letter : argv[optind - 1], o->command);
			return CLI_USAGE;
		}
		if (!takes(o->command, opt)) {
			fprintf(stderr, "lightiov %s: --%s is not for this command; lightiov %s --help lists what it takes\n", o->command,
				all_options[index].name, o->command);
			return CLI_USAGE;
		}
		ret = take(o, opt, optarg);
		if (ret >= 0)
			return ret;
	}
	for (; optind < argc; optind++) {
		if (o->nr_paths == CLI_PATHS_MAX)
			return complain(o, "PATH", argv[optind], "at most 256, or a folder");
		o->path[o->nr_paths++] = argv[optind];
	}
	return -1;
}

int options_parse(int argc, char **argv, struct cli_options *o)
{
	static const char *const commands[] = { "run", "matrix", "list", "bench" };
	bool help;
	u32 i;
	int ret;

	*o = (struct cli_options){ .policies = (1u << LIOV_POLICIES) - 1, .scenario.seed = 1, .jobs = 1, .ios = 400000 };
	if (argc < 2)
		return usage(stderr, NULL);
	help = !strcmp(argv[1], "help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || (help && (argc == 2 || !strcmp(argv[2], "help"))))
		return usage(stdout, NULL);
	for (i = 0; i < 4 && strcmp(commands[i], argv[1 + help]); i++)
		;
	if (i == 4) {
		fprintf(stderr, "lightiov: no command '%s'; there are run, matrix, list, bench, qtest, serve, help\n", argv[1 + help]);
		return CLI_USAGE;
	}
	o->command = commands[i];
	if (help)
		return usage(stdout, o->command);
	ret = parse_rest(argc - 1, argv + 1, o);
	if (ret >= 0)
		return ret;
	if (o->why && !o->no_controls && (o->scenario.schedules || o->scenario.schedule || o->scenario.faults))
		return complain(o, "--why", "with a schedule or faults", "--no-controls too: controls are made without");
	o->no_controls |= !o->why;
	if (o->scenario.schedules && o->scenario.schedule)
		return complain(o, "--schedule", o->scenario.schedule, "it without --schedules: one schedule, or many");
	if (o->noninterference && (o->scenario.schedules || o->scenario.schedule))
		return complain(o, "--noninterference", "with a schedule", "one of both: with other secrets the choices are others");
	if (o->sites)
		return o->nr_paths || o->json ? complain(o, "--sites", "with more", "it alone: it is a list of its own") : -1;
	if (i == 3 ? o->nr_paths != 0 : o->nr_paths == 0) {
		fprintf(stderr, "lightiov %s: %s\n", o->command, i == 3 ? "it takes no PATH" : "no PATH; give scenario files or folders");
		return CLI_USAGE;
	}
	return -1;
}
