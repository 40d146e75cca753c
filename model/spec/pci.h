/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SPEC_PCI_H
#define MODEL_SPEC_PCI_H

/*
 * PCI configuration space as constants: PCI Local Bus 3.0 ("PCI"), PCI Express Base 5.0
 * ("PCIe"), PCI Bus Power Management 1.2 ("PM"). Names start with PCIS_, so that
 * they stand beside Linux's <linux/pci_regs.h> without collision. Masks are of the
 * register at the named offset, at its own width.
 */

#include "spec_types.h"

#define PCIS_CONFIG_SIZE	4096	/* PCIe 7.2.2: extended configuration space */
#define PCIS_CONFIG_LEGACY_SIZE	256	/* capabilities live below, extended ones above */

/* Type 0 header, PCI 6.1, PCIe 7.5.1 */
#define PCIS_VENDOR_ID		0x00
#define PCIS_DEVICE_ID		0x02
#define PCIS_COMMAND		0x04
#define PCIS_STATUS		0x06
#define PCIS_REVISION		0x08
#define PCIS_CLASS_CODE		0x09	/* three bytes: interface, sub-class, base class */
#define PCIS_CACHE_LINE_SIZE	0x0C
#define PCIS_LATENCY_TIMER	0x0D
#define PCIS_HEADER_TYPE	0x0E
#define PCIS_BIST		0x0F
#define PCIS_BAR0		0x10
#define PCIS_BAR(n)		(PCIS_BAR0 + 4 * (n))
#define PCIS_BAR_COUNT		6
#define PCIS_CARDBUS_CIS	0x28
#define PCIS_SUBSYSTEM_VENDOR_ID 0x2C
#define PCIS_SUBSYSTEM_ID	0x2E
#define PCIS_ROM_BASE		0x30
#define PCIS_CAP_POINTER	0x34
#define PCIS_INTERRUPT_LINE	0x3C
#define PCIS_INTERRUPT_PIN	0x3D
#define PCIS_HEADER_SIZE	0x40

/* Command, PCIe 7.5.1.1.3 */
#define PCIS_COMMAND_IO		0x0001
#define PCIS_COMMAND_MEMORY	0x0002
#define PCIS_COMMAND_MASTER	0x0004
#define PCIS_COMMAND_PARITY	0x0040
#define PCIS_COMMAND_SERR	0x0100
#define PCIS_COMMAND_INTX_OFF	0x0400

/* Status, PCIe 7.5.1.1.4; bits of PCIS_STATUS_RW1C are cleared by writing ones */
#define PCIS_STATUS_INTX	0x0008
#define PCIS_STATUS_CAP_LIST	0x0010
#define PCIS_STATUS_MASTER_PARITY 0x0100
#define PCIS_STATUS_SIG_TARGET_ABORT 0x0800
#define PCIS_STATUS_REC_TARGET_ABORT 0x1000
#define PCIS_STATUS_REC_MASTER_ABORT 0x2000
#define PCIS_STATUS_SIG_SYSTEM_ERROR 0x4000
#define PCIS_STATUS_PARITY	0x8000
#define PCIS_STATUS_RW1C	0xF900

/* Base address registers, PCI 6.2.5.1 */
#define PCIS_BAR_IO		0x1U
#define PCIS_BAR_TYPE		0x6U
#define PCIS_BAR_TYPE_32	0x0U
#define PCIS_BAR_TYPE_64	0x4U
#define PCIS_BAR_PREFETCH	0x8U
#define PCIS_BAR_FLAGS		0xFU	/* of a memory BAR: not part of the address */

/* Capability header, PCI 6.7: id, then offset of the next */
#define PCIS_CAP_ID		0x0
#define PCIS_CAP_NEXT		0x1
#define PCIS_CAP_NEXT_MASK	0xFCU
#define PCIS_CAP_ID_PM		0x01
#define PCIS_CAP_ID_MSI		0x05
#define PCIS_CAP_ID_VENDOR	0x09
#define PCIS_CAP_ID_PCIE	0x10
#define PCIS_CAP_ID_MSIX	0x11

/* Power management, PM 3.2, PCIe 7.5.2 */
#define PCIS_PM_CAPABILITIES	0x2
#define PCIS_PM_CAP_VERSION_3	0x0003
#define PCIS_PM_CONTROL		0x4
#define PCIS_PM_STATE		0x0003	/* D0 = 0 .. D3hot = 3 */
#define PCIS_PM_STATE_D0	0
#define PCIS_PM_STATE_D3HOT	3
#define PCIS_PM_NO_SOFT_RESET	0x0008
#define PCIS_PM_SIZE		0x8

/* MSI-X capability, PCIe 7.7.2 */
#define PCIS_MSIX_CONTROL	0x2
#define PCIS_MSIX_TABLE_SIZE	0x07FF	/* number of vectors - 1 */
#define PCIS_MSIX_FUNCTION_MASK	0x4000
#define PCIS_MSIX_ENABLE	0x8000
#define PCIS_MSIX_TABLE		0x4
#define PCIS_MSIX_PBA		0x8
#define PCIS_MSIX_BIR		0x00000007U
#define PCIS_MSIX_OFFSET	0xFFFFFFF8U
#define PCIS_MSIX_SIZE		0xC
#define PCIS_MSIX_VECTORS_MAX	2048

/* MSI-X table entry, PCIe 7.7.2.5 to 7.7.2.8 */
#define PCIS_MSIX_ENTRY_ADDR_LO	0x0	/* bits 1:0 are always zero */
#define PCIS_MSIX_ENTRY_ADDR_HI	0x4
#define PCIS_MSIX_ENTRY_DATA	0x8
#define PCIS_MSIX_ENTRY_CONTROL	0xC
#define PCIS_MSIX_ENTRY_MASKED	0x1U	/* vector control; reset value 1 */
#define PCIS_MSIX_ENTRY_SIZE	16

/* PCI Express capability, PCIe 7.5.3 */
#define PCIS_EXP_CAPABILITIES	0x02
#define PCIS_EXP_CAP_VERSION_2	0x0002
#define PCIS_EXP_CAP_TYPE	0x00F0	/* 0: endpoint */
#define PCIS_EXP_DEVCAP		0x04
#define PCIS_EXP_DEVCAP_MPS	GENMASK_ULL(2, 0)	/* 128 << n bytes */
#define PCIS_EXP_DEVCAP_EXT_TAG	BIT_ULL(5)
#define PCIS_EXP_DEVCAP_RBER	BIT_ULL(15)	/* role-based error reporting */
#define PCIS_EXP_DEVCAP_FLR	BIT_ULL(28)
#define PCIS_EXP_DEVCTL		0x08
#define PCIS_EXP_DEVCTL_ERRORS	0x000F	/* correctable, non-fatal, fatal, unsupported request */
#define PCIS_EXP_DEVCTL_RELAXED	0x0010
#define PCIS_EXP_DEVCTL_MPS	0x00E0
#define PCIS_EXP_DEVCTL_EXT_TAG	0x0100
#define PCIS_EXP_DEVCTL_NOSNOOP	0x0800
#define PCIS_EXP_DEVCTL_MRRS	0x7000	/* 128 << n bytes; reset value 2 */
#define PCIS_EXP_DEVCTL_FLR	0x8000	/* initiate FLR; reads 0 */
#define PCIS_EXP_DEVCTL_RESET	0x2810	/* MRRS 512, no snoop, relaxed ordering */
#define PCIS_EXP_DEVSTA		0x0A
#define PCIS_EXP_DEVSTA_RW1C	0x000F
#define PCIS_EXP_DEVSTA_PENDING	0x0020	/* transactions pending */
#define PCIS_EXP_LNKCAP		0x0C
#define PCIS_EXP_LNKCAP_SPEED	GENMASK_ULL(3, 0)
#define PCIS_EXP_LNKCAP_WIDTH	GENMASK_ULL(9, 4)
#define PCIS_EXP_LNKCTL		0x10
#define PCIS_EXP_LNKSTA		0x12
#define PCIS_EXP_DEVCAP2	0x24
#define PCIS_EXP_DEVCTL2	0x28
#define PCIS_EXP_LNKCAP2	0x2C
#define PCIS_EXP_SIZE		0x3C

#define PCIS_MPS_MIN_BYTES	128U	/* units of the MPS and MRRS encodings */

/* Extended capability header, PCIe 7.6.3: id 15:0, version 19:16, offset of the next 31:20 */
#define PCIS_EXT_CAP_BASE	0x100
#define PCIS_EXT_CAP_ID		GENMASK_ULL(15, 0)
#define PCIS_EXT_CAP_VERSION	GENMASK_ULL(19, 16)
#define PCIS_EXT_CAP_NEXT	GENMASK_ULL(31, 20)

/* PASID, PCIe 7.8.9 */
#define PCIS_EXT_CAP_ID_PASID	0x1B
#define PCIS_PASID_CAPABILITY	0x4
#define PCIS_PASID_WIDTH	GENMASK_ULL(12, 8)
#define PCIS_PASID_CONTROL	0x6
#define PCIS_PASID_ENABLE	0x0001
#define PCIS_PASID_BITS		20

/* Requester id, PCIe 2.2.4.2 */
#define PCIS_RID_BUS		0xFF00
#define PCIS_RID_DEVICE		0x00F8
#define PCIS_RID_FUNCTION	0x0007

/* Interrupt address range, VT-d 3.14, Intel SDM 3A 11.11.1: dword writes here are interrupt requests. */
#define PCIS_IRQ_RANGE_BASE	0xFEE00000ULL
#define PCIS_IRQ_RANGE_LAST	0xFEEFFFFFULL

#endif
