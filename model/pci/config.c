// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "pci/pci_internal.h"

/*
 * Configuration space of a type 0 function: bytes, and for each bit whether software
 * may write it or clear it by writing one. Capabilities: power management, MSI-X, PCI
 * Express. The one extended capability is that of PASIDs, where the function has them: else offset
 * 0x100 reads zero (PCIe 7.6.2).
 */

#define CAP_PM		0x40
#define CAP_MSIX	0x50
#define CAP_PCIE	0x60

_Static_assert(CAP_PM + PCIS_PM_SIZE <= CAP_MSIX, "capabilities overlap");
_Static_assert(CAP_MSIX + PCIS_MSIX_SIZE <= CAP_PCIE, "capabilities overlap");
_Static_assert(CAP_PCIE + PCIS_EXP_SIZE <= PCIS_CONFIG_LEGACY_SIZE, "capability outside its space");

/* I/O Space Enable may be written though there is no I/O BAR (PCIe 7.5.1.1.3 permits either): some software looks. */
#define COMMAND_WRITABLE (PCIS_COMMAND_IO | PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER | \
			  PCIS_COMMAND_PARITY | PCIS_COMMAND_SERR | PCIS_COMMAND_INTX_OFF)
#define DEVCTL_WRITABLE (PCIS_EXP_DEVCTL_ERRORS | PCIS_EXP_DEVCTL_RELAXED | PCIS_EXP_DEVCTL_MPS | \
			 PCIS_EXP_DEVCTL_EXT_TAG | PCIS_EXP_DEVCTL_NOSNOOP | PCIS_EXP_DEVCTL_MRRS)

u16 pci_config_get16(const struct pci_function *fn, u32 off)
{
	return (u16)(fn->config[off] | fn->config[off + 1] << 8);
}

u32 pci_config_get32(const struct pci_function *fn, u32 off)
{
	return pci_config_get16(fn, off) | (u32)pci_config_get16(fn, off + 2) << 16;
}

static void put16(u8 *bytes, u32 off, u32 val)
{
	bytes[off] = (u8)val;
	bytes[off + 1] = (u8)(val >> 8);
}

static void put32(u8 *bytes, u32 off, u32 val)
{
	put16(bytes, off, val);
	put16(bytes, off + 2, val >> 16);
}

static void reset_header(struct pci_function *fn)
{
	const struct pci_function_config *cfg = &fn->cfg;

	put16(fn->config, PCIS_VENDOR_ID, cfg->vendor_id);
	put16(fn->config, PCIS_DEVICE_ID, cfg->device_id);
	put16(fn->config, PCIS_STATUS, PCIS_STATUS_CAP_LIST);
	put32(fn->config, PCIS_REVISION, cfg->class_code << 8);
	put16(fn->config, PCIS_SUBSYSTEM_VENDOR_ID, cfg->subsystem_vendor_id);
	put16(fn->config, PCIS_SUBSYSTEM_ID, cfg->subsystem_id);
	fn->config[PCIS_CAP_POINTER] = CAP_PM;

	put16(fn->write_mask, PCIS_COMMAND, COMMAND_WRITABLE);
	put16(fn->clear_mask, PCIS_STATUS, PCIS_STATUS_RW1C);
	fn->write_mask[PCIS_CACHE_LINE_SIZE] = 0xFF;
	fn->write_mask[PCIS_INTERRUPT_LINE] = 0xFF;
}

static void add_capability(struct pci_function *fn, u16 off, u8 id, u8 next)
{
	fn->config[off + PCIS_CAP_ID] = id;
	fn->config[off + PCIS_CAP_NEXT] = next;
}

/* Registers survive D3hot (No_Soft_Reset), so leaving it is not a reset. */
static void reset_pm(struct pci_function *fn)
{
	fn->cap_pm = CAP_PM;
	add_capability(fn, CAP_PM, PCIS_CAP_ID_PM, CAP_MSIX);
	put16(fn->config, CAP_PM + PCIS_PM_CAPABILITIES, PCIS_PM_CAP_VERSION_3);
	put16(fn->config, CAP_PM + PCIS_PM_CONTROL, PCIS_PM_NO_SOFT_RESET);
	put16(fn->write_mask, CAP_PM + PCIS_PM_CONTROL, PCIS_PM_STATE);
}

static void reset_msix_capability(struct pci_function *fn)
{
	const struct pci_function_config *cfg = &fn->cfg;

	fn->cap_msix = CAP_MSIX;
	add_capability(fn, CAP_MSIX, PCIS_CAP_ID_MSIX, CAP_PCIE);
	put16(fn->config, CAP_MSIX + PCIS_MSIX_CONTROL, cfg->msix_vectors - 1U);
	put16(fn->write_mask, CAP_MSIX + PCIS_MSIX_CONTROL, PCIS_MSIX_ENABLE | PCIS_MSIX_FUNCTION_MASK);
	put32(fn->config, CAP_MSIX + PCIS_MSIX_TABLE, cfg->msix_table_off | cfg->msix_bar);
	put32(fn->config, CAP_MSIX + PCIS_MSIX_PBA, cfg->msix_pba_off | cfg->msix_bar);
}

static u32 mps_encoding(u32 mps_bytes)
{
	u32 code = 0;

	while (code < 5 && PCIS_MPS_MIN_BYTES << code < mps_bytes)
		code++;
	return code;
}

/* Link registers read zero: the link's speed and width are not modelled, its bytes per microsecond are. */
static void reset_pcie(struct pci_function *fn)
{
	u32 devcap = PCIS_EXP_DEVCAP_FLR | PCIS_EXP_DEVCAP_RBER | PCIS_EXP_DEVCAP_EXT_TAG;

	fn->cap_pcie = CAP_PCIE;
	add_capability(fn, CAP_PCIE, PCIS_CAP_ID_PCIE, 0);
	put16(fn->config, CAP_PCIE + PCIS_EXP_CAPABILITIES, PCIS_EXP_CAP_VERSION_2);
	put32(fn->config, CAP_PCIE + PCIS_EXP_DEVCAP, devcap | mps_encoding(pci_link_mps(fn)));
	put16(fn->config, CAP_PCIE + PCIS_EXP_DEVCTL, PCIS_EXP_DEVCTL_RESET);
	put16(fn->write_mask, CAP_PCIE + PCIS_EXP_DEVCTL, DEVCTL_WRITABLE);
	put16(fn->clear_mask, CAP_PCIE + PCIS_EXP_DEVSTA, PCIS_EXP_DEVSTA_RW1C);
}

/* Neither execute nor privileged mode: they mean something to first-stage tables only. */
static void reset_pasid(struct pci_function *fn)
{
	if (!fn->cfg.pasid)
		return;
	fn->cap_pasid = PCIS_EXT_CAP_BASE;
	put32(fn->config, PCIS_EXT_CAP_BASE,
	      (u32)(FIELD_PREP(PCIS_EXT_CAP_ID, PCIS_EXT_CAP_ID_PASID) | FIELD_PREP(PCIS_EXT_CAP_VERSION, 1)));
	put16(fn->config, PCIS_EXT_CAP_BASE + PCIS_PASID_CAPABILITY, (u32)FIELD_PREP(PCIS_PASID_WIDTH, PCIS_PASID_BITS));
	put16(fn->write_mask, PCIS_EXT_CAP_BASE + PCIS_PASID_CONTROL, PCIS_PASID_ENABLE);
}

bool pci_pasid_enabled(const struct pci_function *fn)
{
	return fn->cap_pasid && (pci_config_get16(fn, fn->cap_pasid + PCIS_PASID_CONTROL) & PCIS_PASID_ENABLE);
}

void pci_config_reset(struct pci_function *fn)
{
	memset(fn->config, 0, sizeof(fn->config));
	memset(fn->write_mask, 0, sizeof(fn->write_mask));
	memset(fn->clear_mask, 0, sizeof(fn->clear_mask));
	reset_header(fn);
	pci_bar_reset(fn);
	reset_pm(fn);
	reset_msix_capability(fn);
	reset_pcie(fn);
	reset_pasid(fn);
}

bool pci_is_powered(const struct pci_function *fn)
{
	return (fn->config[fn->cap_pm + PCIS_PM_CONTROL] & PCIS_PM_STATE) == PCIS_PM_STATE_D0;
}

bool pci_is_master(const struct pci_function *fn)
{
	return MODEL_CHECK(pci_bus_master, pci_is_powered(fn) && (pci_config_get16(fn, PCIS_COMMAND) & PCIS_COMMAND_MASTER));
}

void pci_config_read_failed(struct pci_function *fn)
{
	put16(fn->config, PCIS_STATUS, pci_config_get16(fn, PCIS_STATUS) | PCIS_STATUS_REC_MASTER_ABORT);
}

/* PCIe 7.5.1.1.4: Detected Parity Error is set by a poisoned TLP whatever the command register says. */
void pci_config_poisoned(struct pci_function *fn)
{
	put16(fn->config, PCIS_STATUS, pci_config_get16(fn, PCIS_STATUS) | PCIS_STATUS_PARITY);
}

/*
 * Function level reset, PCIe 6.6.2. Max_Payload_Size stays: the far end of the link relies on it.
 * The device goes last, when nothing reaches it any more.
 */
static void function_level_reset(struct pci_function *fn)
{
	u32 devctl = fn->cap_pcie + PCIS_EXP_DEVCTL;
	u16 mps = pci_config_get16(fn, devctl) & PCIS_EXP_DEVCTL_MPS;

	pci_config_reset(fn);
	put16(fn->config, devctl, PCIS_EXP_DEVCTL_RESET | mps);
	pci_msix_reset(fn);
	pci_root_decode(fn->root);
	fn->ops->reset(fn->dev);
}

static bool is_aligned_request(u32 off, unsigned int len)
{
	return (len == 1 || len == 2 || len == 4) && !(off & (len - 1)) && off < PCIS_CONFIG_SIZE;
}

u32 pci_cfg_read(struct pci_root *root, u16 rid, u32 off, unsigned int len)
{
	const struct pci_function *fn = pci_root_find(root, rid);
	u32 val = 0;

	if (!fn || !is_aligned_request(off, len))
		return len == 1 ? 0xFF : len == 2 ? 0xFFFF : 0xFFFFFFFF;
	for (unsigned int i = 0; i < len; i++)
		val |= (u32)fn->config[off + i] << (8 * i);
	return val;
}

static bool starts_flr(const struct pci_function *fn, u32 off, u32 val, unsigned int len)
{
	u32 high = fn->cap_pcie + PCIS_EXP_DEVCTL + 1U;

	return off <= high && high < off + len && (val >> (8 * (high - off)) & (PCIS_EXP_DEVCTL_FLR >> 8));
}

static void write_byte(struct pci_function *fn, u32 off, u8 val)
{
	u8 mask = fn->write_mask[off];

	fn->config[off] = (u8)((fn->config[off] & ~mask) | (val & mask));
	fn->config[off] &= (u8)~(val & fn->clear_mask[off]);
}

void pci_cfg_write(struct pci_root *root, u16 rid, u32 off, u32 val, unsigned int len)
{
	struct pci_function *fn = pci_root_find(root, rid);
	u8 *pm_control, pm_old;

	if (!fn || !is_aligned_request(off, len))
		return;
	trace4(root->trace, TRACE_CFG_WRITE, 0, off, val, len, 0);
	if (starts_flr(fn, off, val, len)) {
		function_level_reset(fn);
		return;
	}
	pm_control = &fn->config[fn->cap_pm + PCIS_PM_CONTROL];
	pm_old = *pm_control;
	for (unsigned int i = 0; i < len; i++)
		write_byte(fn, off + i, (u8)(val >> (8 * i)));
	/* PM 3.2.4: a write that asks for a state the function does not have (D1, D2) changes no state. */
	if (!pci_is_powered(fn) && (*pm_control & PCIS_PM_STATE) != PCIS_PM_STATE_D3HOT)
		*pm_control = pm_old;
	pci_root_decode(root);
	pci_msix_flush(fn);
}
