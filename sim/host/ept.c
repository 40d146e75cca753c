// SPDX-License-Identifier: GPL-2.0
/*
 * EPT as the hypervisor builds it, and what it does when an access leaves the guest: guest
 * memory is mapped, LightIOV is asked about CMB pages, registers are emulated by it.
 */

#include "host.h"
#include "vm/vm.h"

#include <assert.h>

#define TWO_MIB 0x200000ull
#define CMB_APERTURE 0x1000000ull	/* guest-physical space kept for the CMB BAR */

static u64 rd(struct port_vm *vm, hpa_t a)
{
	bool ok;

	return bus_rd64(&vm->m->bus, a, &ok);
}

static hpa_t table_new(struct port_vm *vm)
{
	struct port_host *h = vm->m->host;

	return host_frames_take(h, &h->low, SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, SIM_OWNER_HOST);
}

int host_ept_init(struct port_vm *vm)
{
	vm->ept_root = table_new(vm);
	if (hpa_bad(vm->ept_root))
		return -ENOMEM;
	vm->eptp = vm->ept_root.v | FIELD_PREP(EPT_EPTP_MT, EPT_MT_WB) | FIELD_PREP(EPT_EPTP_WALK, EPT_EPTP_WALK_4) |
		   EPT_EPTP_AD;
	return 0;
}

static void table_free(struct port_vm *vm, hpa_t table, unsigned int level)
{
	struct port_host *h = vm->m->host;
	hpa_t stack_table[EPT_LEVELS + 1];
	u32 index[EPT_LEVELS + 1] = { 0 };

	stack_table[level] = table;
	while (level <= EPT_LEVELS) {
		u64 e;

		if (level == 1 || index[level] == EPT_TABLE_ENTRIES) {
			host_frames_give(h, &h->low, stack_table[level], SPEC_PAGE_SIZE);
			level++;
			continue;
		}
		e = rd(vm, (hpa_t){ stack_table[level].v + 8 * index[level]++ });
		if ((e & EPT_ENTRY_RWX) && !(e & EPT_ENTRY_LARGE)) {
			level--;
			stack_table[level].v = e & EPT_ENTRY_ADDR;
			index[level] = 0;
		}
	}
}

void host_ept_fini(struct port_vm *vm)
{
	u32 i;

	if (vm->ept_root.v == 0)
		return;
	for (i = 0; i < vm->m->cpu.nr_pcpus; i++)
		cpu_invept(&vm->m->cpu, i, vm->eptp);
	table_free(vm, vm->ept_root, EPT_LEVELS);
	vm->ept_root.v = 0;
}

int host_ept_map(struct port_vm *vm, gpa_t gpa, hpa_t hpa, unsigned int page_shift, bool writable, u8 memory_type)
{
	unsigned int leaf = (page_shift - SPEC_PAGE_SHIFT) / 9 + 1, l;
	hpa_t table = vm->ept_root;
	hpa_t at = table;
	u64 e = 0;

	for (l = EPT_LEVELS; l >= leaf; l--) {
		at.v = table.v + EPT_INDEX(gpa.v, l) * 8;
		e = rd(vm, at);
		if (l == leaf)
			break;
		if (!(e & EPT_ENTRY_RWX)) {
			table = table_new(vm);
			if (hpa_bad(table))
				return -ENOMEM;
			bus_wr64(&vm->m->bus, at, table.v | EPT_ENTRY_RWX);
		} else {
			assert(!(e & EPT_ENTRY_LARGE));
			table.v = e & EPT_ENTRY_ADDR;
		}
	}
	bus_wr64(&vm->m->bus, at, hpa.v | EPT_ENTRY_R | (writable ? EPT_ENTRY_W : 0) |
		 FIELD_PREP(EPT_ENTRY_MT, memory_type) | (leaf > 1 ? EPT_ENTRY_LARGE : 0));
	/* Small pages that a balloon took, of a large one that is back: their table has nothing left. */
	if (leaf > 1 && (e & EPT_ENTRY_RWX) && !(e & EPT_ENTRY_LARGE))
		host_frames_give(vm->m->host, &vm->m->host->low, (hpa_t){ e & EPT_ENTRY_ADDR }, SPEC_PAGE_SIZE);
	vm->pages_mapped++;
	return 0;
}

/* A 2 MiB leaf becomes a table of small ones that say the same. */
static bool split(struct port_vm *vm, hpa_t at)
{
	u64 e = rd(vm, at);
	hpa_t table = table_new(vm);
	u32 i;

	if (hpa_bad(table))
		return false;
	for (i = 0; i < EPT_TABLE_ENTRIES; i++)
		bus_wr64(&vm->m->bus, (hpa_t){ table.v + i * 8 }, (e & ~EPT_ENTRY_LARGE) + i * SPEC_PAGE_SIZE);
	bus_wr64(&vm->m->bus, at, table.v | EPT_ENTRY_RWX);
	return true;
}

void host_ept_unmap(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u64 a;
	u32 i;

	for (a = gpa.v & ~(SPEC_PAGE_SIZE - 1); a < gpa.v + len; a += SPEC_PAGE_SIZE) {
		hpa_t table = vm->ept_root;
		unsigned int l;

		for (l = EPT_LEVELS; l >= 1; l--) {
			hpa_t at = { table.v + EPT_INDEX(a, l) * 8 };
			u64 e = rd(vm, at);

			if (!(e & EPT_ENTRY_RWX))
				break;
			if (l == 1)
				bus_wr64(&vm->m->bus, at, 0);
			if (l > 1 && (e & EPT_ENTRY_LARGE)) {
				assert(l == 2);
				if (!split(vm, at))
					vm->m->failed = true;
				e = rd(vm, at);
			}
			table.v = e & EPT_ENTRY_ADDR;
		}
	}
	vm->revocations++;
	if (task_current())
		task_sleep(vm->m->cfg.revoke_ps);
	if (vm->m->host->omit & HOST_OMIT_INVEPT)
		return;
	for (i = 0; i < vm->m->cpu.nr_pcpus && HOST_STEP(host_invept); i++)
		if (!(vm->m->host->omit & HOST_OMIT_SHOOTDOWN) || i == vm->gv[0].vcpu.pcpu)
			cpu_invept(&vm->m->cpu, i, vm->eptp);
}

void host_ept_zap(struct port_vm *vm)
{
	host_ept_unmap(vm, (gpa_t){ VM_CMB_GPA }, LIOV_CMB_SIZE_MIN);
	memset(vm->page_faults, 0, sizeof(vm->page_faults));
	trace4(&vm->m->trace, SIM_TRACE_ZAPPED, 0, vm->cfg.id, 0, LIOV_CMB_SIZE_MIN, 0);
}

void sim_vm_revoke(struct port_vm *vm, u64 off, u64 len)
{
	struct port_host *h = vm->m->host;

	h->revokes++;
	if (!(h->omit & HOST_OMIT_VM_REVOKE) && HOST_STEP(host_vm_revoke))
		host_ept_unmap(vm, (gpa_t){ VM_CMB_GPA + off }, len);
	trace4(&vm->m->trace, SIM_TRACE_REVOKED, 0, vm->cfg.id, off, len, 0);
}

static bool map_ram(struct port_vm *vm, gpa_t gpa)
{
	u64 large = gpa.v & ~(TWO_MIB - 1), small = gpa.v & ~(SPEC_PAGE_SIZE - 1);
	hpa_t hpa;

	if (vm_gpa_to_hpa(vm, (gpa_t){ large }, TWO_MIB, &hpa) && !(hpa.v & (TWO_MIB - 1)))
		return host_ept_map(vm, (gpa_t){ large }, hpa, 21, true, EPT_MT_WB) == 0;
	if (vm_gpa_to_hpa(vm, (gpa_t){ small }, SPEC_PAGE_SIZE, &hpa))
		return host_ept_map(vm, (gpa_t){ small }, hpa, 12, true, EPT_MT_WB) == 0;
	return false;
}

/* LightIOV says what is behind a CMB page, or that nothing is. */
static bool map_cmb(struct port_vm *vm, u64 off, bool write)
{
	u32 nr = (u32)(off >> SPEC_PAGE_SHIFT);
	u64 asked = vm->revocations;
	struct liov_page page = liov_backend_page(&vm->liov, off, write);
	u64 gpa = VM_CMB_GPA + (off & ~(SPEC_PAGE_SIZE - 1));
	u8 type = EPT_MT_UC;
	hpa_t hpa;

	switch (page.kind) {
	case LIOV_PAGE_MEMORY:
		hpa.v = page.pages.hpa + (u64)page.index * SPEC_PAGE_SIZE;
		type = EPT_MT_WB;
		break;
	case LIOV_PAGE_BAR0:
		hpa.v = pci_bar_base(nvme_function(vm->m->nvme), 0) + page.bar_off;
		break;
	case LIOV_PAGE_CMB:
		hpa.v = pci_bar_base(nvme_function(vm->m->nvme), 2) + page.bar_off;
		break;
	default:
		return false;
	}
	page.writable = HOST_CHECK(host_page_writable, page.writable);
	if (write && !page.writable)
		return false;
	/* As KVM's mmu_invalidate_retry(): the answer may have been taken back by now. The access asks again. */
	if (vm->revocations != asked && !(vm->m->host->omit & HOST_OMIT_EPT_RETRY))
		return true;
	vm->page_faults[nr]++;
	if ((vm->m->host->omit & HOST_OMIT_PAGE_AGAIN) && vm->page_answered[nr])
		return true;
	vm->page_answered[nr] = true;
	trace4(&vm->m->trace, SIM_TRACE_PAGE, 0, vm->cfg.id, off & ~(SPEC_PAGE_SIZE - 1), hpa.v, page.writable);
	/* Left out: one leaf for all that lies around it, as for RAM. */
	if (page.kind == LIOV_PAGE_BAR0 && !HOST_STEP(host_mmio_leaf))
		return host_ept_map(vm, (gpa_t){ gpa & ~(TWO_MIB - 1) }, (hpa_t){ hpa.v & ~(TWO_MIB - 1) }, 21, true, type) == 0;
	return host_ept_map(vm, (gpa_t){ gpa }, hpa, 12, page.writable, type) == 0;
}

/* The host's own address space: what no hypervisor does, and what keeps a VM inside its slots (host_no_slot). */
static bool map_identity(struct port_vm *vm, gpa_t gpa)
{
	u64 page = gpa.v & ~(SPEC_PAGE_SIZE - 1);

	return page >> EPT_MAXPHYADDR == 0 && host_ept_map(vm, (gpa_t){ page }, (hpa_t){ page }, 12, true, EPT_MT_UC) == 0;
}

static bool in(u64 base, u64 size, u64 addr)
{
	return addr >= base && addr - base < size;
}

static enum exit_action handle_exit(struct port_vm *vm, struct ept_exit *exit)
{
	if (map_ram(vm, exit->gpa)) {
		vm->ept_faults++;
		return EXIT_RETRY;
	}
	if (vm->has_liov && in(VM_BAR0_GPA, LIOV_BAR0_SIZE, exit->gpa.v)) {
		vm->device_exits++;
		if (exit->write)
			liov_device_wr(&vm->liov, exit->gpa.v - VM_BAR0_GPA, exit->val, exit->len);
		else
			exit->val = liov_device_rd(&vm->liov, exit->gpa.v - VM_BAR0_GPA, exit->len);
		return EXIT_EMULATED;
	}
	if (vm->has_liov && in(VM_CMB_GPA, CMB_APERTURE, exit->gpa.v)) {
		u64 off = exit->gpa.v - VM_CMB_GPA;

		/* Left out: the address space goes on where the BAR ends. */
		if (off >= vm->liov.cmb_size && HOST_CHECK(host_cmb_bounds, false) && map_identity(vm, exit->gpa))
			return EXIT_RETRY;
		if (off < vm->liov.cmb_size && map_cmb(vm, off, exit->write)) {
			vm->ept_faults++;
			return EXIT_RETRY;
		}
		vm->ept_refused++;
		if (exit->write)
			liov_device_cmb_wr(&vm->liov, off, exit->val, exit->len);
		else
			exit->val = liov_device_cmb_rd(&vm->liov, off, exit->len);
		return EXIT_EMULATED;
	}
	/* Left out: the hypervisor maps what is at that address of the host's. */
	if (!HOST_STEP(host_no_slot) && map_identity(vm, exit->gpa))
		return EXIT_RETRY;
	vm->ept_refused++;
	trace4(&vm->m->trace, SIM_TRACE_NO_SLOT, 0, vm->cfg.id, exit->gpa.v, exit->write, 0);
	exit->val = ~0ull;
	return EXIT_EMULATED;
}

enum exit_action host_ept_exit(void *opaque, struct vcpu *vcpu, struct ept_exit *exit)
{
	struct gvcpu *gv = opaque;
	enum exit_action action;

	(void)vcpu;
	vm_pass(gv, 0);
	if (gv->vm->dead)
		vm_enter(gv);
	action = handle_exit(gv->vm, exit);
	if (action == EXIT_EMULATED && !exit->write)
		trace4(&gv->vm->m->trace, SIM_TRACE_ANSWER, 0, gv->vm->cfg.id, exit->gpa.v, exit->val, exit->len);
	/* A VM that died meanwhile has its exit handled to the end, and is not gone back to. */
	if (gv->vm->dead)
		vm_enter(gv);
	return action;
}
