// SPDX-License-Identifier: GPL-2.0
#include "pci/pci_internal.h"

/*
 * MSI-X, PCIe 7.7.2 and 6.1.4: a table of messages and a bit array of those held back, both
 * in a BAR. Accesses are aligned dwords and qwords; what the specification leaves undefined
 * (other sizes, writes to the pending bits) does nothing and reads zero.
 */

static u64 table_bytes(const struct pci_function_config *cfg)
{
	return (u64)cfg->msix_vectors * PCIS_MSIX_ENTRY_SIZE;
}

static u64 pba_bytes(const struct pci_function_config *cfg)
{
	return (cfg->msix_vectors + 63ULL) / 64 * 8;
}

bool pci_msix_config_is_valid(const struct pci_function_config *cfg)
{
	u64 table = cfg->msix_table_off, pba = cfg->msix_pba_off, size;

	if (!cfg->msix_vectors || cfg->msix_vectors > PCI_MSIX_VECTORS_MAX || cfg->msix_bar >= PCIS_BAR_COUNT)
		return false;
	size = cfg->bar[cfg->msix_bar].size_bytes;
	if ((table | pba) & ~(u64)PCIS_MSIX_OFFSET)
		return false;
	if (table + table_bytes(cfg) > size || pba + pba_bytes(cfg) > size)
		return false;
	return table + table_bytes(cfg) <= pba || pba + pba_bytes(cfg) <= table;
}

void pci_msix_reset(struct pci_function *fn)
{
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS_MAX; i++) {
		fn->msix[i].addr = 0;
		fn->msix[i].data = 0;
		fn->msix[i].control = PCIS_MSIX_ENTRY_MASKED;
	}
	for (unsigned int i = 0; i < PCI_MSIX_VECTORS_MAX / 64; i++)
		fn->msix_pba[i] = 0;
}

static u16 msix_control(const struct pci_function *fn)
{
	return pci_config_get16(fn, fn->cap_msix + PCIS_MSIX_CONTROL);
}

bool pci_msix_enabled(const struct pci_function *fn)
{
	return msix_control(fn) & PCIS_MSIX_ENABLE;
}

static bool is_masked(const struct pci_function *fn, unsigned int vec)
{
	return (msix_control(fn) & PCIS_MSIX_FUNCTION_MASK) || (fn->msix[vec].control & PCIS_MSIX_ENTRY_MASKED);
}

static void late_next(struct pci_function *fn)
{
	u64 now = sched_now(fn->root->sched), at = fn->late[fn->late_first].at_ps;

	sched_after(fn->root->sched, &fn->late_ev, at > now ? at - now : 0);
}

static void late_arrives(struct event *ev)
{
	struct pci_function *fn = container_of_event(ev, struct pci_function, late_ev);
	u32 i = fn->late_first;

	fn->late_first = (i + 1) % PCI_LATE_MESSAGES;
	if (--fn->nr_late)
		late_next(fn);
	fn->msi_sent++;
	trace4(fn->root->trace, TRACE_MSI, 0, fn->cfg.rid, fn->late[i].vec, fn->late[i].addr, fn->late[i].data);
	pci_dma_message(fn, fn->late[i].addr, fn->late[i].data);
}

static bool send_late(struct pci_function *fn, unsigned int vec, u64 addr, u32 data)
{
	u32 i = (fn->late_first + fn->nr_late) % PCI_LATE_MESSAGES;

	if (fn->nr_late == PCI_LATE_MESSAGES)
		return false;
	fn->late[i].addr = addr;
	fn->late[i].data = data;
	fn->late[i].vec = vec;
	fn->late[i].at_ps = sched_now(fn->root->sched) + fn->faults.msi_late.arg;
	if (fn->nr_late++ == 0)
		late_next(fn);
	return true;
}

void pci_msix_init(struct pci_function *fn)
{
	event_init(&fn->late_ev, late_arrives, EVENT_PRIO_HW);
}

void pci_function_fini(struct pci_function *fn)
{
	if (fn->root && fn->nr_late)
		sched_cancel(fn->root->sched, &fn->late_ev);
}

static void send(struct pci_function *fn, unsigned int vec)
{
	u64 addr = fn->msix[vec].addr;
	u32 data = fn->msix[vec].data;

	if (fault_hits(&fn->faults.msi_lost, vec))
		return;
	if (fault_hits(&fn->faults.msi_late, vec) && send_late(fn, vec, addr, data))
		return;
	trace4(fn->root->trace, TRACE_MSI, fn->io_id, fn->cfg.rid, vec, addr, data);
	fn->msi_sent++;
	pci_dma_message(fn, addr, data);
}

void pci_msix_notify(struct pci_function *fn, unsigned int vec)
{
	if (vec >= fn->cfg.msix_vectors || !pci_msix_enabled(fn) || !pci_is_master(fn))
		return;
	if (is_masked(fn, vec)) {
		fn->msix_pba[vec / 64] |= BIT_ULL(vec % 64);
		trace4(fn->root->trace, TRACE_MSI_MASKED, fn->io_id, fn->cfg.rid, vec, 0, 0);
		return;
	}
	send(fn, vec);
}

/* The bit goes before the message: whoever the message wakes must not find it set. */
void pci_msix_flush(struct pci_function *fn)
{
	if (!pci_msix_enabled(fn) || !pci_is_master(fn))
		return;
	for (unsigned int vec = 0; vec < fn->cfg.msix_vectors; vec++) {
		if (!(fn->msix_pba[vec / 64] & BIT_ULL(vec % 64)) || is_masked(fn, vec))
			continue;
		fn->msix_pba[vec / 64] &= ~BIT_ULL(vec % 64);
		send(fn, vec);
	}
}

/* Both ranges lie inside the BAR and @off does too, so nothing wraps. */
static bool touches(u64 base, u64 size, u64 off, unsigned int len)
{
	return off < base + size && base < off + len;
}

static bool touches_table(const struct pci_function *fn, u64 off, unsigned int len)
{
	return touches(fn->cfg.msix_table_off, table_bytes(&fn->cfg), off, len);
}

bool pci_msix_claims(const struct pci_function *fn, unsigned int bar, u64 off, unsigned int len)
{
	if (bar != fn->cfg.msix_bar)
		return false;
	return touches_table(fn, off, len) || touches(fn->cfg.msix_pba_off, pba_bytes(&fn->cfg), off, len);
}

static u32 table_read32(const struct pci_function *fn, u64 off)
{
	u64 vec = off / PCIS_MSIX_ENTRY_SIZE;

	switch (off % PCIS_MSIX_ENTRY_SIZE) {
	case PCIS_MSIX_ENTRY_ADDR_LO:
		return (u32)fn->msix[vec].addr;
	case PCIS_MSIX_ENTRY_ADDR_HI:
		return (u32)(fn->msix[vec].addr >> 32);
	case PCIS_MSIX_ENTRY_DATA:
		return fn->msix[vec].data;
	default:
		return fn->msix[vec].control;
	}
}

static void table_write32(struct pci_function *fn, u64 off, u32 val)
{
	u64 vec = off / PCIS_MSIX_ENTRY_SIZE;
	u64 addr = fn->msix[vec].addr;

	switch (off % PCIS_MSIX_ENTRY_SIZE) {
	case PCIS_MSIX_ENTRY_ADDR_LO:
		fn->msix[vec].addr = (addr & ~0xFFFFFFFFULL) | (val & ~3U);
		break;
	case PCIS_MSIX_ENTRY_ADDR_HI:
		fn->msix[vec].addr = (addr & 0xFFFFFFFFULL) | (u64)val << 32;
		break;
	case PCIS_MSIX_ENTRY_DATA:
		fn->msix[vec].data = val;
		break;
	default:
		fn->msix[vec].control = val & PCIS_MSIX_ENTRY_MASKED;
		break;
	}
}

static bool is_aligned_access(u64 off, unsigned int len)
{
	return (len == 4 || len == 8) && !(off & (len - 1));
}

u64 pci_msix_mmio_read(struct pci_function *fn, u64 off, unsigned int len)
{
	u64 val;

	if (!is_aligned_access(off, len))
		return 0;
	if (touches_table(fn, off, len)) {
		off -= fn->cfg.msix_table_off;
		val = table_read32(fn, off);
		return len == 8 ? val | (u64)table_read32(fn, off + 4) << 32 : val;
	}
	off -= fn->cfg.msix_pba_off;
	val = fn->msix_pba[off / 8] >> (8 * (off % 8));
	return len == 8 ? val : (u32)val;
}

void pci_msix_mmio_write(struct pci_function *fn, u64 off, u64 val, unsigned int len)
{
	if (!is_aligned_access(off, len) || !touches_table(fn, off, len))
		return;
	off -= fn->cfg.msix_table_off;
	table_write32(fn, off, (u32)val);
	if (len == 8)
		table_write32(fn, off + 4, (u32)(val >> 32));
	pci_msix_flush(fn);
}
