// SPDX-License-Identifier: GPL-2.0
/*
 * The image on Unicorn. Before each load and store Unicorn calls here, and the modelled vCPU
 * makes the access, through its TLB and EPT. What it loads is put where Unicorn then looks:
 * for RAM that is where it was, for all else a page that only carries the answer. So nothing is
 * mapped or protected while code runs, and no access is ever repeated. Instruction fetches are
 * Unicorn's own: the modelled vCPU has none.
 */

#include "flat.h"
#include "machine.h"

#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#define REGISTERS_BYTES	0x10000ull

struct home {
	struct guest_machine gm;
	uc_engine *uc;
	u64 loads, stores;
	uc_err err;
};

struct window {
	struct home *h;
	u64 gpa, len;
	u8 *carries;		/* where Unicorn looks */
};

static void access_seen(uc_engine *uc, uc_mem_type type, u64 gpa, int len, s64 value, void *opaque)
{
	struct window *w = opaque;
	u64 val = (u64)value;

	(void)uc;
	if (type == UC_MEM_WRITE) {
		w->h->stores++;
		guest_machine_access(&w->h->gm, gpa, &val, (u32)len, true);
	} else {
		w->h->loads++;
		guest_machine_access(&w->h->gm, gpa, w->carries + (gpa - w->gpa), (u32)len, false);
	}
}

static u32 port_in(uc_engine *uc, u32 port, int len, void *opaque)
{
	struct home *h = opaque;

	(void)uc, (void)len;
	return guest_machine_in(&h->gm, port);
}

static void port_out(uc_engine *uc, u32 port, int len, u32 val, void *opaque)
{
	struct home *h = opaque;

	(void)len;
	guest_machine_out(&h->gm, port, val);
	if (h->gm.ended)
		uc_emu_stop(uc);
}

static void need(uc_err err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "guest-unicorn: %s: %s\n", what, uc_strerror(err));
	exit(70);
}

/* uc_hook_add() takes each kind of function as a void *. */
#define HOOK(fn) ((void *)(uintptr_t)(fn))

static void add_window(struct home *h, struct window *w, u64 gpa, u64 len, void *carries, u32 prot)
{
	uc_hook hook;

	*w = (struct window){ h, gpa, len, carries };
	need(uc_mem_map_ptr(h->uc, gpa, len, prot, carries), "map");
	need(uc_hook_add(h->uc, &hook, UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, HOOK(access_seen), w, gpa, gpa + len - 1), "hook");
}

static void run(struct home *h)
{
	static u8 registers[REGISTERS_BYTES] __attribute__((aligned(4096))), cmb[LIOV_CMB_SIZE_MIN] __attribute__((aligned(4096)));
	static struct window window[3];
	uc_hook in, out;

	need(uc_open(UC_ARCH_X86, UC_MODE_64, &h->uc), "open");
	add_window(h, &window[0], GUEST_RAM, GUEST_RAM_BYTES, flat_at(h->gm.m->memory, guest_machine_ram(&h->gm).v), UC_PROT_ALL);
	add_window(h, &window[1], VM_BAR0_GPA, sizeof(registers), registers, UC_PROT_READ | UC_PROT_WRITE);
	add_window(h, &window[2], VM_CMB_GPA, sizeof(cmb), cmb, UC_PROT_READ | UC_PROT_WRITE);
	need(uc_hook_add(h->uc, &in, UC_HOOK_INSN, HOOK(port_in), h, 1, 0, UC_X86_INS_IN), "hook");
	need(uc_hook_add(h->uc, &out, UC_HOOK_INSN, HOOK(port_out), h, 1, 0, UC_X86_INS_OUT), "hook");
	need(uc_emu_start(h->uc, GUEST_IMAGE, 0, 0, 0), "run");
	uc_close(h->uc);
}

int main(int argc, char **argv)
{
	static struct home h;
	struct guest_options opt;
	int err;

	guest_options(&opt, "unicorn", argc, argv);
	err = guest_machine_new(&h.gm, &opt);
	if (!err && !guest_machine_load(&h.gm, opt.image)) {
		fprintf(stderr, "guest-unicorn: '%s' is no image that can be read\n", opt.image);
		return 2;
	}
	if (err) {
		fprintf(stderr, "guest-unicorn: the machine is not made: %s\n", strerror(-err));
		return 70;
	}
	guest_machine_ask(&h.gm);
	run(&h);
	err = guest_machine_report(&h.gm);
	fprintf(stderr, "unicorn: %llu loads and %llu stores through the modelled EPT\n", (unsigned long long)h.loads,
		(unsigned long long)h.stores);
	guest_machine_free(&h.gm);
	return err;
}
