/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_ORACLE_RIG_H
#define HARNESS_UNIT_ORACLE_RIG_H

/*
 * An oracle that is fed by hand: two VMs with blocks, memory, a queue and a vCPU each, and the
 * host. legal() says that nothing new was found, breach() that one violation was, and which.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "oracle/oracle.h"
#include "pci/pci.h"
#include "spec/nvme.h"
#include "store.h"
#include "worldtrace.h"

#define BAR0 0xC0000000ull
#define BAR0_SIZE 0x400000ull
#define MSIX_TABLE 0x300000u
#define IRTE_BASE 0x10
#define PAGE 0x1000ull

/* Two VMs: blocks, memory, a queue, a vCPU each; and the host. */
#define LBA(vm) ((vm) * 0x1000ull)	/* 0x1000 blocks */
#define RAM(vm) ((vm) * 0x1000000ull)	/* 64 KiB */
#define QUEUE(vm) ((vm) + 2)
#define VCPU(vm) ((vm) + 4)
#define PID(vm) (0x7000ull + (vm) * 64)
#define HOST_RAM 0x8000000ull
#define QUEUE_PAGE(vm) (HOST_RAM + (vm) * PAGE)

struct fx {
	struct store *memory, *media;
	struct bus bus;
	struct pci_root root;
	struct pci_function fn;
	struct trace trace;
	struct oracle *o;
	u32 told;
	bool gone[8];		/* VM's vCPU is no more */
};

static struct fx *f;

static u32 vcpu_vm(void *opaque, u32 vcpu)
{
	(void)opaque;
	return (vcpu == VCPU(1) || vcpu == VCPU(2)) && !f->gone[vcpu - 4] ? vcpu - 4 : SIM_OWNER_NONE;
}

static u64 vcpu_pid(void *opaque, u32 vcpu)
{
	return vcpu_vm(opaque, vcpu) == SIM_OWNER_NONE ? 0 : PID(vcpu - 4);
}

static void violated(void *opaque, const struct oracle_violation *v)
{
	(void)v;
	((struct fx *)opaque)->told++;
}

static void event_io(u64 io_id, u32 kind, u64 a, u64 b, u64 c, u64 d)
{
	struct trace_event ev = { .time_ps = 1000, .io_id = io_id, .kind = kind, .a = a, .b = b, .c = c, .d = d };

	oracle_event(f->o, &ev);
}

static void event(u32 kind, u64 a, u64 b, u64 c, u64 d)
{
	event_io(0, kind, a, b, c, d);
}

/* Since the last look: nothing; or one, so. */
static u64 looked;

static void legal_(int line)
{
	if (oracle_count(f->o) != looked)
		print_error("line %d: %s\n", line, oracle_violation(f->o, (u32)looked)->what);
	assert_int_equal(oracle_count(f->o), looked);
}

static void breach_(enum oracle_claim claim, u32 by, u32 victim, int line)
{
	const struct oracle_violation *v = oracle_violation(f->o, (u32)looked);

	if (oracle_count(f->o) != looked + 1 || v->claim != claim || v->by != by || v->victim != victim)
		print_error("line %d: %s %s\n", line, v ? oracle_claim_name(v->claim) : "-", v ? v->what : "-");
	assert_int_equal(oracle_count(f->o), looked + 1);
	assert_int_equal(v->claim, claim);
	assert_int_equal(v->by, by);
	assert_int_equal(v->victim, victim);
	assert_int_equal(v->time_ps, 1000);
	assert_int_equal(f->told, looked + 1);
	looked++;
}

#define legal() legal_(__LINE__)
#define breach(claim, by, victim) breach_(claim, by, victim, __LINE__)

static void no_write(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len)
{
	(void)dev, (void)bar, (void)off, (void)val, (void)len;
}

static u64 no_read(void *dev, unsigned int bar, u64 off, unsigned int len)
{
	(void)dev, (void)bar, (void)off, (void)len;
	return 0;
}

static void no_reset(void *dev)
{
	(void)dev;
}

static const struct pci_ops ops = { .mmio_read = no_read, .mmio_write = no_write, .reset = no_reset };

static void watch(u32 dstrd)
{
	struct oracle_world w = {
		.media = f->media, .blocks = 0x10000, .ssd = &f->fn, .dstrd = dstrd, .irte_base = IRTE_BASE, .vectors = 8,
		.vcpu_vm = vcpu_vm, .vcpu_pid = vcpu_pid, .violated = violated, .opaque = f,
	};
	u64 mask[2] = { 0 };
	u32 vm;

	oracle_free(f->o);
	f->o = oracle_create(&w, mask);
	assert_non_null(f->o);
	assert_true(mask[TRACE_MEDIA >> 6] >> (TRACE_MEDIA & 63) & 1);
	assert_true(mask[SIM_TRACE_VM >> 6] >> (SIM_TRACE_VM & 63) & 1);
	looked = 0;
	f->told = 0;
	event(SIM_TRACE_FRAMES, HOST_RAM, 0x100000, SIM_OWNER_HOST, 1);
	for (vm = 1; vm <= 2; vm++) {
		event(SIM_TRACE_FRAMES, RAM(vm), 0x10000, vm, 1);
		event(SIM_TRACE_VM, vm, 1, LBA(vm), 0x1000);
		event(SIM_TRACE_QUEUE, vm, QUEUE(vm), 1, 0);
	}
	legal();
}

static int setup(void **state)
{
	struct pci_function_config cfg = {
		.rid = 0x100, .class_code = 0x010802, .bar[0] = { .size_bytes = BAR0_SIZE, .is_64bit = true },
		.msix_vectors = 65, .msix_table_off = MSIX_TABLE, .msix_pba_off = MSIX_TABLE + 0x10000,
		.link = { .mps_bytes = 256, .mrrs_bytes = 512 },
	};

	(void)state;
	f = calloc(1, sizeof(*f));
	f->memory = store_new(1 << 20, STORE_NO_BUDGET, 0);
	f->media = store_new(0x10000 * 512, STORE_NO_BUDGET, 0);
	bus_init(&f->bus, f->memory);
	pci_root_init(&f->root, &f->bus, NULL, NULL, &f->trace);
	if (pci_function_init(&f->fn, &cfg, &f->root, &ops, NULL))
		return -1;
	pci_cfg_write(&f->root, 0x100, PCIS_BAR0, (u32)BAR0, 4);
	pci_cfg_write(&f->root, 0x100, PCIS_COMMAND, PCIS_COMMAND_MEMORY, 2);
	watch(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	oracle_free(f->o);
	store_free(f->memory);
	store_free(f->media);
	free(f);
	return 0;
}

#endif
