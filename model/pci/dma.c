// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "iommu/vtd.h"
#include "pci/pci_internal.h"

/*
 * The function's memory requests. A request never crosses a 4 KiB boundary (PCIe 2.2.7),
 * so the IOMMU sees one page at a time. Reads come back or fail; writes are posted: what
 * stops one leaves its mark where it was stopped, and the function goes on.
 */

/* The device's end of a transfer: a buffer, or a piece of a store whose sectors move as tags. */
struct dma_data {
	u8 *in;			/* reads fill it */
	const u8 *out;		/* writes take from it */
	struct store *store;	/* instead of either */
	u64 off;		/* where the transfer is: in the buffer, or in the store */
};

static bool is_interrupt_range(u64 addr)
{
	return addr >= PCIS_IRQ_RANGE_BASE && addr <= PCIS_IRQ_RANGE_LAST;
}

/* Bytes of [addr, addr + len) that lie in the first page. */
static u32 in_page(u64 addr, u32 len_bytes)
{
	u64 room = SPEC_PAGE_SIZE - (addr & (SPEC_PAGE_SIZE - 1));

	return len_bytes < room ? len_bytes : (u32)room;
}

/* Bytes before the end of the address space: what would come after it has no address. */
static u32 before_wrap(u64 addr, u32 len_bytes)
{
	u64 room = ~addr;

	return len_bytes <= room ? len_bytes : (u32)room + 1;
}

static void trace_request(struct pci_function *fn, u32 pasid, u32 kind, bool write, u64 iova, u64 hpa, u32 len_bytes)
{
	u64 with = pasid == PCI_NO_PASID ? 0 : (pasid + 1ULL) << 32;

	trace4(fn->root->trace, kind, fn->io_id, fn->cfg.rid | (u64)write << 16 | (u64)fn->dma_kind << 17 | with, iova, hpa,
	       len_bytes);
}

/* Bus mastering on, and PASIDs where the request has one. */
static bool may_send(const struct pci_function *fn, u32 pasid)
{
	return pci_is_master(fn) && MODEL_CHECK(pci_pasid_enabled, pasid == PCI_NO_PASID || pci_pasid_enabled(fn));
}

static bool translate(struct pci_function *fn, u64 iova, bool write, hpa_t *hpa, struct pci_transfer *t)
{
	struct vtd *vtd = fn->root->vtd;

	if (vtd)
		return vtd_translate(vtd, fn->cfg.rid, t->pasid, (iova_t){ iova }, write, hpa, &t->latency_ps) == VTD_OK;
	*hpa = (hpa_t){ iova };
	return true;
}

static bool copy_in(struct bus *bus, hpa_t hpa, struct dma_data *d, u32 len_bytes)
{
	if (!d->store)
		return bus_ram_read(bus, hpa, d->in + d->off, len_bytes);
	return bus_ram_to_store(bus, hpa, d->store, d->off, len_bytes);
}

static bool copy_out(struct bus *bus, hpa_t hpa, const struct dma_data *d, u32 len_bytes)
{
	if (!d->store)
		return bus_ram_write(bus, hpa, d->out + d->off, len_bytes);
	return bus_ram_from_store(bus, hpa, d->store, d->off, len_bytes);
}

/* VT-d 3.14: without PASID, only dword writes mean anything in the interrupt range. */
static void refuse_interrupt_read(struct pci_function *fn, u64 iova, u32 len_bytes)
{
	if (fn->root->vtd)
		vtd_block(fn->root->vtd, fn->cfg.rid, (iova_t){ iova }, false, VTD_FR_READ);
	else
		trace_request(fn, PCI_NO_PASID, TRACE_DMA_NO_TARGET, false, iova, iova, len_bytes);
}

static bool read_page(struct pci_function *fn, u64 iova, struct dma_data *d, u32 len_bytes,
		      struct pci_transfer *t)
{
	hpa_t hpa;

	if (!MODEL_CHECK(iommu_interrupt_read, t->pasid != PCI_NO_PASID || !is_interrupt_range(iova))) {
		refuse_interrupt_read(fn, iova, len_bytes);
		return false;
	}
	if (!translate(fn, iova, false, &hpa, t))
		return false;
	if (!copy_in(fn->root->bus, hpa, d, len_bytes)) {
		trace_request(fn, t->pasid, TRACE_DMA_NO_TARGET, false, iova, hpa.v, len_bytes);
		return false;
	}
	trace_request(fn, t->pasid, TRACE_DMA, false, iova, hpa.v, len_bytes);
	return true;
}

static void on_behalf_of_command(struct pci_function *fn)
{
	if (fn->root->vtd)
		vtd_on_behalf(fn->root->vtd, fn->io_id);
}

/* The first error ends the transfer: its completion is a header without data. */
static bool dma_read(struct pci_function *fn, u64 iova, struct dma_data *d, u32 len_bytes, u64 *done_ps)
{
	struct pci_transfer t = { .pasid = fn->pasid };
	u32 left = before_wrap(iova, len_bytes);
	bool ok = left == len_bytes;

	if (!may_send(fn, t.pasid))
		return false;
	on_behalf_of_command(fn);
	if (fault_hits(&fn->faults.poisoned[fn->dma_kind], (u32)(fn->io_id >> 48))) {
		/* What arrived is not to be used (PCIe 2.7.2.2), so it counts as not arrived. */
		pci_config_poisoned(fn);
		t.requests = t.data_tlps = 1;
		left = 0;
		ok = false;
	}
	while (left) {
		u32 n = in_page(iova, left);

		t.requests += pci_link_requests(fn, n);
		if (!read_page(fn, iova, d, n, &t)) {
			t.data_tlps++;
			pci_config_read_failed(fn);
			ok = false;
			break;
		}
		t.data_tlps += pci_link_payloads(fn, n);
		t.data_bytes += n;
		iova += n;
		d->off += n;
		left -= n;
	}
	*done_ps = pci_link_read(fn, &t, *done_ps);
	return ok;
}

/* One TLP into the interrupt range. Four bytes that lie across two dwords are no dword write. */
static void write_interrupt(struct pci_function *fn, u64 addr, u32 data, u32 len_bytes)
{
	struct pci_root *root = fn->root;
	bool is_dword = len_bytes == 4 && !(addr & 3);

	if (root->vtd)
		vtd_interrupt(root->vtd, fn->cfg.rid, addr, data, len_bytes == 4 && !is_dword ? 8 : len_bytes);
	else if (is_dword && root->msi)
		root->msi(root->msi_opaque, addr, data);
	else
		trace_request(fn, PCI_NO_PASID, TRACE_DMA_NO_TARGET, true, addr, addr, len_bytes);
}

/*
 * What the interrupt logic sees is TLPs, so here the payload limit of the link counts: of
 * MPS + 4 bytes the last four are a dword write of their own.
 */
static void write_interrupt_page(struct pci_function *fn, u64 addr, const struct dma_data *d, u32 len_bytes)
{
	u32 mps = pci_link_mps(fn);

	for (u32 at = 0; at < len_bytes; at += mps) {
		u32 n = len_bytes - at < mps ? len_bytes - at : mps;
		u32 data = 0, known = n < sizeof(data) ? n : (u32)sizeof(data);

		if (d->store)
			store_read(d->store, d->off + at, &data, known);
		else
			memcpy(&data, d->out + d->off + at, known);
		write_interrupt(fn, addr + at, data, n);
	}
}

static void write_page(struct pci_function *fn, u64 iova, const struct dma_data *d, u32 len_bytes,
		       struct pci_transfer *t)
{
	hpa_t hpa;

	if (t->pasid == PCI_NO_PASID && is_interrupt_range(iova)) {
		write_interrupt_page(fn, iova, d, len_bytes);
		return;
	}
	if (!translate(fn, iova, true, &hpa, t))
		return;
	if (copy_out(fn->root->bus, hpa, d, len_bytes))
		trace_request(fn, t->pasid, TRACE_DMA, true, iova, hpa.v, len_bytes);
	else
		trace_request(fn, t->pasid, TRACE_DMA_NO_TARGET, true, iova, hpa.v, len_bytes);
}

static void dma_write(struct pci_function *fn, u64 iova, struct dma_data *d, u32 len_bytes, u64 *done_ps)
{
	struct pci_transfer t = { .pasid = fn->pasid };
	u32 left = before_wrap(iova, len_bytes);

	if (!may_send(fn, t.pasid))
		return;
	on_behalf_of_command(fn);
	while (left) {
		u32 n = in_page(iova, left);

		t.data_tlps += pci_link_payloads(fn, n);
		t.data_bytes += n;
		write_page(fn, iova, d, n, &t);
		iova += n;
		d->off += n;
		left -= n;
	}
	*done_ps = pci_link_write(fn, &t, *done_ps);
}

bool pci_dma_read(struct pci_function *fn, iova_t addr, void *buf, u32 len_bytes, u64 *done_ps)
{
	return dma_read(fn, addr.v, &(struct dma_data){ .in = buf }, len_bytes, done_ps);
}

bool pci_dma_to_store(struct pci_function *fn, iova_t addr, struct store *dst, u64 dst_offset, u32 len_bytes,
		      u64 *done_ps)
{
	return dma_read(fn, addr.v, &(struct dma_data){ .store = dst, .off = dst_offset }, len_bytes, done_ps);
}

void pci_dma_write(struct pci_function *fn, iova_t addr, const void *buf, u32 len_bytes, u64 *done_ps)
{
	dma_write(fn, addr.v, &(struct dma_data){ .out = buf }, len_bytes, done_ps);
}

void pci_dma_from_store(struct pci_function *fn, iova_t addr, struct store *src, u64 src_offset, u32 len_bytes,
			u64 *done_ps)
{
	dma_write(fn, addr.v, &(struct dma_data){ .store = src, .off = src_offset }, len_bytes, done_ps);
}

/*
 * A message is a dword write of the device's own. One whose address has a high dword above
 * 0xFEEx_xxxx is left to the remapper too, which refuses it by its reserved bits (5.1.2).
 */
void pci_dma_message(struct pci_function *fn, u64 addr, u32 data)
{
	struct pci_transfer t = { .data_tlps = 1, .data_bytes = sizeof(data), .pasid = PCI_NO_PASID };
	struct dma_data d = { .out = (const u8 *)&data };

	on_behalf_of_command(fn);
	if (fn->root->vtd && is_interrupt_range((u32)addr))
		write_interrupt(fn, addr, data, sizeof(data));
	else
		write_page(fn, addr, &d, sizeof(data), &t);
	pci_link_write(fn, &t, sched_now(fn->root->sched));
}
