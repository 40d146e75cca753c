// SPDX-License-Identifier: GPL-2.0
/* The lightiov command. */

#include "cli/cli.h"
#include "nvme_emu.h"
#include "serve.h"
#include "serve/serve_liov.h"

#include <string.h>

static int serve(int argc, char **argv)
{
	const struct serve_kind kinds[] = { serve_nvme, serve_mediated };

	return serve_main(argc, argv, kinds, 2);
}

static int replay(const char *path)
{
	const struct serve_kind kinds[] = { serve_nvme, serve_mediated };

	return serve_replay(path, kinds, 2);
}

int main(int argc, char **argv)
{
	struct cli_options o;
	int ret;

	if (argc > 0 && nvme_emu_is_called_qemu(argv[0]))
		return nvme_emu_qtest(argc, argv);
	if (argc > 1 && !strcmp(argv[1], "qtest"))
		return nvme_emu_qtest(argc - 1, argv + 1);
	if (argc > 2 && !strcmp(argv[1], "help") && !strcmp(argv[2], "qtest"))
		return nvme_emu_qtest(2, (char *[]){ argv[2], "--help" });
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return serve(argc - 1, argv + 1);
	if (argc == 4 && !strcmp(argv[1], "run") && !strcmp(argv[2], "--replay"))
		return replay(argv[3]);
	if (argc == 3 && !strcmp(argv[1], "run") && !strncmp(argv[2], "--replay=", 9))
		return replay(argv[2] + 9);
	if (argc > 2 && !strcmp(argv[1], "help") && !strcmp(argv[2], "serve"))
		return serve(2, (char *[]){ argv[2], "--help" });
	ret = options_parse(argc, argv, &o);
	if (ret >= 0)
		return ret;
	if (strcmp(o.command, "run") == 0)
		return command_run(&o);
	if (strcmp(o.command, "matrix") == 0)
		return command_matrix(&o);
	if (strcmp(o.command, "list") == 0)
		return command_list(&o);
	return command_bench(&o);
}
