/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TEST_CPU_MACHINE_H
#define TEST_CPU_MACHINE_H

/*
 * The machine the tests of model/cpu share: memory, a page of registers, EPT built entry by
 * entry, a host that answers exits as the test says, and a record of all that was traced.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "cpu/cpu.h"
#include "sim/event.h"
#include "sim/store.h"

#define RAM_SIZE	0x80000000ULL		/* 2 GiB from 0 */
#define MMIO_BASE	0xE0000000ULL		/* one page of registers */
#define NOBODY_BASE	0xF0000000ULL
#define HIGH_RAM_BASE	0x100000000ULL		/* 4 GiB from 4 GiB */
#define TABLES_BASE	0x100000ULL
#define NR_PCPUS	4
#define RECORD_MAX	4096
#define LEAF_RWX	(EPT_ENTRY_RWX | FIELD_PREP(EPT_ENTRY_MT, EPT_MT_WB))

static const struct cpu_costs test_costs = {
	.walk_ps = 1, .exit_ps = 100, .mmio_write_ps = 10000, .mmio_read_ps = 1000000, .posted_delivery_ps = 100000000,
};

struct machine {
	struct store *store;
	struct sched *sched;
	struct bus bus;
	struct trace trace;
	struct cpu cpu;
	struct vcpu vcpu[3];
	u64 next_table;
	u64 eptp;

	/* Registers: last access and how many. */
	u64 mmio_off, mmio_val, mmio_answer;
	unsigned int mmio_len, mmio_reads, mmio_writes;

	/* Exits: what the host does, and what it was asked. */
	enum exit_action (*on_exit)(struct machine *m, struct vcpu *vcpu, struct ept_exit *exit);
	struct ept_exit exit;
	unsigned int exits, irq_ready, host_irqs;
	unsigned int host_pcpu;
	u8 host_vector;
	void (*on_host_irq)(struct machine *m);

	struct trace_event record[RECORD_MAX];
	u8 record_data[RECORD_MAX][8];
	unsigned int nr_record;
};

static u64 machine_mmio_read(void *opaque, u64 off, unsigned int len)
{
	struct machine *m = opaque;

	m->mmio_reads++;
	m->mmio_off = off;
	m->mmio_len = len;
	return m->mmio_answer;
}

static void machine_mmio_write(void *opaque, u64 off, u64 val, unsigned int len)
{
	struct machine *m = opaque;

	m->mmio_writes++;
	m->mmio_off = off;
	m->mmio_val = val;
	m->mmio_len = len;
}

static const struct bus_mmio_ops machine_mmio_ops = { machine_mmio_read, machine_mmio_write };

static enum exit_action machine_ept_exit(void *opaque, struct vcpu *vcpu, struct ept_exit *exit)
{
	struct machine *m = opaque;

	m->exits++;
	m->exit = *exit;
	assert_non_null(m->on_exit);
	return m->on_exit(m, vcpu, exit);
}

static void machine_irq_ready(void *opaque, struct vcpu *vcpu)
{
	struct machine *m = opaque;

	assert_int_equal(vcpu->state, VCPU_RUNNING);
	m->irq_ready++;
}

static const struct vcpu_ops machine_vcpu_ops = { machine_ept_exit, machine_irq_ready };

static void machine_host_irq(void *opaque, unsigned int pcpu, u8 vector)
{
	struct machine *m = opaque;

	m->host_irqs++;
	m->host_pcpu = pcpu;
	m->host_vector = vector;
	if (m->on_host_irq)
		m->on_host_irq(m);
}

static void machine_trace(void *opaque, const struct trace_event *ev)
{
	struct machine *m = opaque;

	assert_true(m->nr_record < RECORD_MAX);
	m->record[m->nr_record] = *ev;
	if (ev->data)
		memcpy(m->record_data[m->nr_record], ev->data, ev->data_len < 8 ? ev->data_len : 8);
	m->nr_record++;
}

static inline void machine_listen(struct machine *m, u32 kind)
{
	m->trace.mask[kind >> 6] |= 1ULL << (kind & 63);
}

/* How often @kind was traced; the last one in *@last. */
static inline unsigned int machine_traced(const struct machine *m, u32 kind, struct trace_event *last)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->nr_record; i++) {
		if (m->record[i].kind != kind)
			continue;
		n++;
		if (last)
			*last = m->record[i];
	}
	return n;
}

static inline u64 machine_peek(struct machine *m, u64 hpa)
{
	u64 val = 0;

	store_read(m->store, hpa, &val, sizeof(val));
	return val;
}

static inline void machine_poke(struct machine *m, u64 hpa, u64 val)
{
	store_write(m->store, hpa, &val, sizeof(val));
}

static inline u64 machine_new_table(struct machine *m)
{
	u64 table = m->next_table;

	m->next_table += SPEC_PAGE_SIZE;
	return table;
}

/* A fresh EPT with nothing in it. */
static inline u64 machine_new_eptp(struct machine *m, u64 flags)
{
	return machine_new_table(m) | FIELD_PREP(EPT_EPTP_MT, EPT_MT_WB) | FIELD_PREP(EPT_EPTP_WALK, EPT_EPTP_WALK_4) |
	       flags;
}

/* Where the entry of @level for @gpa is; tables above it are made, with all permissions. */
static inline u64 machine_entry(struct machine *m, u64 eptp, u64 gpa, int level)
{
	u64 table = eptp & EPT_EPTP_ADDR;

	for (int l = 4; l > level; l--) {
		u64 addr = table + 8 * EPT_INDEX(gpa, l);

		if (!machine_peek(m, addr))
			machine_poke(m, addr, machine_new_table(m) | EPT_ENTRY_RWX);
		table = machine_peek(m, addr) & EPT_ENTRY_ADDR;
	}
	return table + 8 * EPT_INDEX(gpa, level);
}

static inline void machine_map(struct machine *m, u64 eptp, u64 gpa, u64 hpa, u64 perm)
{
	machine_poke(m, machine_entry(m, eptp, gpa, 1), hpa | perm | FIELD_PREP(EPT_ENTRY_MT, EPT_MT_WB));
}

static int machine_setup(void **state)
{
	struct machine *m = test_calloc(1, sizeof(*m));

	m->store = store_new(HIGH_RAM_BASE * 2, STORE_NO_BUDGET, 0);
	m->sched = sched_new();
	bus_init(&m->bus, m->store);
	assert_int_equal(bus_add_ram(&m->bus, 0, RAM_SIZE), 0);
	assert_int_equal(bus_add_ram(&m->bus, HIGH_RAM_BASE, HIGH_RAM_BASE), 0);
	assert_int_equal(bus_map_mmio(&m->bus, MMIO_BASE, SPEC_PAGE_SIZE, &machine_mmio_ops, m), 0);
	m->trace = (struct trace){ .sched = m->sched, .fn = machine_trace, .opaque = m };
	m->next_table = TABLES_BASE;
	m->eptp = machine_new_eptp(m, 0);

	cpu_init(&m->cpu, NR_PCPUS, &test_costs, &m->bus, m->sched, &m->trace);
	m->cpu.host_irq = machine_host_irq;
	m->cpu.host_opaque = m;
	for (u32 i = 0; i < 3; i++) {
		vcpu_init(&m->vcpu[i], 10 + i, &m->cpu, &machine_vcpu_ops, m);
		m->vcpu[i].eptp = m->eptp;
	}
	*state = m;
	return 0;
}

static int machine_teardown(void **state)
{
	struct machine *m = *state;

	sched_free(m->sched);
	store_free(m->store);
	test_free(m);
	return 0;
}

#define MACHINE_TEST(fn) cmocka_unit_test_setup_teardown(fn, machine_setup, machine_teardown)

#endif
