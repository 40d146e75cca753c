// SPDX-License-Identifier: GPL-2.0
/*
 * The model's own run: the guest's sources in this process, each access of theirs to
 * guest-physical memory the modelled vCPU's. No instruction is executed by anybody else.
 */

#include "machine.h"
#include "image/kernel.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static struct guest_machine machine;
static jmp_buf end;

void guest_read(u64 gpa, void *buf, u32 len)
{
	u32 step = gpa - GUEST_RAM < GUEST_RAM_BYTES ? len : 4, i;

	for (i = 0; i < len; i += step)
		guest_machine_access(&machine, gpa + i, (u8 *)buf + i, step, false);
}

void guest_write(u64 gpa, const void *buf, u32 len)
{
	u32 step = gpa - GUEST_RAM < GUEST_RAM_BYTES ? len : 4, i;

	for (i = 0; i < len; i += step)
		guest_machine_access(&machine, gpa + i, (void *)((u64)buf + i), step, true);
}

u32 guest_in(u32 port)
{
	return guest_machine_in(&machine, port);
}

void guest_out(u32 port, u32 val)
{
	guest_machine_out(&machine, port, val);
	if (machine.ended)
		longjmp(end, 1);
}

void guest_fail(u32 line)
{
	guest_out(GUEST_PORT_END, line);
	abort();
}

int main(int argc, char **argv)
{
	struct guest_options opt;
	int err;

	guest_options(&opt, "model", argc, argv);
	err = guest_machine_new(&machine, &opt);
	if (err) {
		fprintf(stderr, "guest-model: the machine is not made: %s\n", strerror(-err));
		return 70;
	}
	guest_machine_ask(&machine);
	if (!setjmp(end)) {
		guest_main();
		guest_out(GUEST_PORT_END, 0);
	}
	err = guest_machine_report(&machine);
	guest_machine_free(&machine);
	return err;
}
