// SPDX-License-Identifier: GPL-2.0
/* The lightiov command. */

#include "cli/cli.h"

#include <string.h>

int main(int argc, char **argv)
{
	struct cli_options o;
	int ret = options_parse(argc, argv, &o);

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
