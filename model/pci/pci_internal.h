/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_PCI_PCI_INTERNAL_H
#define MODEL_PCI_PCI_INTERNAL_H

/*
 * What the files of this folder tell each other. Nobody else includes it.
 */

#include "pci/pci.h"
#include "site.h"

#define PCI_BAR_NOT_DECODED (~0ULL)

/* Little-endian registers in the function's configuration space; @off + 4 is inside it. */
u16 pci_config_get16(const struct pci_function *fn, u32 off);
u32 pci_config_get32(const struct pci_function *fn, u32 off);

/* Power-on contents and masks of the configuration space; capability offsets are set here. */
void pci_config_reset(struct pci_function *fn);

/* In D0: the function answers memory requests if told to, and may send some (PM 5.4: not in D3hot). */
bool pci_is_powered(const struct pci_function *fn);

/* May the function send memory requests, messages included (PCIe 7.5.1.1.3, Bus Master Enable)? */
bool pci_is_master(const struct pci_function *fn);

/* A read of memory was answered "unsupported request" (PCIe 7.5.1.1.4, Received Master Abort). */
void pci_config_read_failed(struct pci_function *fn);
void pci_config_poisoned(struct pci_function *fn);

bool pci_bar_config_is_valid(const struct pci_function_config *cfg);

/* Registers and masks of the BARs in their reset state. */
void pci_bar_reset(struct pci_function *fn);

/* Make the bus decode what every function's command register, power state and BARs say. */
void pci_root_decode(struct pci_root *root);

bool pci_msix_config_is_valid(const struct pci_function_config *cfg);
void pci_msix_init(struct pci_function *fn);
void pci_msix_reset(struct pci_function *fn);

/* Send what is pending and no longer held back. Bounded by the table's size. */
void pci_msix_flush(struct pci_function *fn);

/* Does the access to @bar touch the table or the pending bits? Then no other register sees it. */
bool pci_msix_claims(const struct pci_function *fn, unsigned int bar, u64 off, unsigned int len);
u64 pci_msix_mmio_read(struct pci_function *fn, u64 off, unsigned int len);
void pci_msix_mmio_write(struct pci_function *fn, u64 off, u64 val, unsigned int len);

/* Send a message of the MSI-X table: a dword write like any other, once it is on the link. */
void pci_dma_message(struct pci_function *fn, u64 addr, u32 data);

/* What a request put on the link and met on its way. */
struct pci_transfer {
	u64 requests;		/* read request TLPs */
	u64 data_tlps;		/* memory write or completion TLPs */
	u64 data_bytes;		/* payload of these */
	u64 latency_ps;		/* added by the IOMMU */
	u32 pasid;		/* of the request, or PCI_NO_PASID */
};

bool pci_link_config_is_valid(const struct pci_link_config *cfg);
u32 pci_link_mps(const struct pci_function *fn);

/* TLPs for @len_bytes in one page, read requests and payloads. */
u64 pci_link_requests(const struct pci_function *fn, u32 len_bytes);
u64 pci_link_payloads(const struct pci_function *fn, u32 len_bytes);

/* Occupy the link. @start_ps: earliest start; returns when it is over as pci.h says of *done_ps. */
u64 pci_link_read(struct pci_function *fn, const struct pci_transfer *t, u64 start_ps);
u64 pci_link_write(struct pci_function *fn, const struct pci_transfer *t, u64 start_ps);

#endif
