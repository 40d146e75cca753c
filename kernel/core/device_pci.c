// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration space of the virtual function: a private copy, and for each bit whether the
 * guest may write it. Nothing of it reaches the physical function: neither bus master nor
 * MSI-X enable nor a reset.
 */

#include "device.h"

#define CAP_PM		0x40u
#define CAP_MSIX	0x50u
#define CAP_PCIE	0x60u
#define CAP_VENDOR	0xA0u
#define CAP_VENDOR_SIZE	8u

#define MSIX_CONTROL	(CAP_MSIX + PCIS_MSIX_CONTROL)
#define DEVCTL		(CAP_PCIE + PCIS_EXP_DEVCTL)

_Static_assert(CAP_PM + PCIS_PM_SIZE <= CAP_MSIX, "capabilities overlap");
_Static_assert(CAP_MSIX + PCIS_MSIX_SIZE <= CAP_PCIE, "capabilities overlap");
_Static_assert(CAP_PCIE + PCIS_EXP_SIZE <= CAP_VENDOR, "capabilities overlap");
_Static_assert(CAP_VENDOR + CAP_VENDOR_SIZE <= PCIS_CONFIG_LEGACY_SIZE, "capability outside its space");

#define COMMAND_WRITABLE (PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER | PCIS_COMMAND_PARITY | \
			  PCIS_COMMAND_SERR | PCIS_COMMAND_INTX_OFF)
#define DEVCTL_WRITABLE (PCIS_EXP_DEVCTL_ERRORS | PCIS_EXP_DEVCTL_RELAXED | PCIS_EXP_DEVCTL_MPS | \
			 PCIS_EXP_DEVCTL_EXT_TAG | PCIS_EXP_DEVCTL_NOSNOOP | PCIS_EXP_DEVCTL_MRRS | \
			 PCIS_EXP_DEVCTL_FLR)

static u32 config_get32(const struct liov_vm *vm, u32 off)
{
	const u8 *c = vm->dev.config + off;

	return c[0] | (u32)c[1] << 8 | (u32)c[2] << 16 | (u32)c[3] << 24;
}

u16 liov_device_msix_control(const struct liov_vm *vm)
{
	return (u16)(vm->dev.config[MSIX_CONTROL] | vm->dev.config[MSIX_CONTROL + 1] << 8);
}

u64 liov_device_bar(const struct liov_vm *vm, u32 bar)
{
	u64 lo = config_get32(vm, PCIS_BAR(bar)), hi = config_get32(vm, PCIS_BAR(bar + 1));

	return (hi << 32 | lo) & ~(u64)PCIS_BAR_FLAGS;
}

static void reset_capabilities(struct liov_vm *vm)
{
	u8 *c = vm->dev.config;

	c[CAP_PM + PCIS_CAP_ID] = PCIS_CAP_ID_PM;
	c[CAP_PM + PCIS_CAP_NEXT] = CAP_MSIX;
	liov_device_put16(c, CAP_PM + PCIS_PM_CAPABILITIES, PCIS_PM_CAP_VERSION_3);
	liov_device_put16(c, CAP_PM + PCIS_PM_CONTROL, PCIS_PM_NO_SOFT_RESET);

	c[CAP_MSIX + PCIS_CAP_ID] = PCIS_CAP_ID_MSIX;
	c[CAP_MSIX + PCIS_CAP_NEXT] = CAP_PCIE;
	liov_device_put16(c, MSIX_CONTROL, liov_device_vectors(vm) - 1);
	liov_device_put32(c, CAP_MSIX + PCIS_MSIX_TABLE, LIOV_BAR0_MSIX_TABLE);
	liov_device_put32(c, CAP_MSIX + PCIS_MSIX_PBA, LIOV_BAR0_MSIX_PBA);

	c[CAP_PCIE + PCIS_CAP_ID] = PCIS_CAP_ID_PCIE;
	c[CAP_PCIE + PCIS_CAP_NEXT] = CAP_VENDOR;
	liov_device_put16(c, CAP_PCIE + PCIS_EXP_CAPABILITIES, PCIS_EXP_CAP_VERSION_2);
	liov_device_put32(c, CAP_PCIE + PCIS_EXP_DEVCAP, (u32)(PCIS_EXP_DEVCAP_FLR | PCIS_EXP_DEVCAP_RBER));
	liov_device_put16(c, DEVCTL, PCIS_EXP_DEVCTL_RESET);

	c[CAP_VENDOR + PCIS_CAP_ID] = PCIS_CAP_ID_VENDOR;
	c[CAP_VENDOR + 2] = CAP_VENDOR_SIZE;
	liov_device_put32(c, CAP_VENDOR + 4, LIOV_VNDR_SIGNATURE);
}

void liov_device_config_reset(struct liov_vm *vm)
{
	u8 *c = vm->dev.config;

	memset(c, 0, sizeof(vm->dev.config));
	liov_device_put16(c, PCIS_VENDOR_ID, LIOV_PCI_VENDOR);
	liov_device_put16(c, PCIS_DEVICE_ID, LIOV_PCI_DEVICE);
	liov_device_put16(c, PCIS_STATUS, PCIS_STATUS_CAP_LIST);
	liov_device_put32(c, PCIS_REVISION, LIOV_PCI_CLASS << 8);
	liov_device_put16(c, PCIS_SUBSYSTEM_VENDOR_ID, LIOV_PCI_VENDOR);
	liov_device_put16(c, PCIS_SUBSYSTEM_ID, LIOV_PCI_DEVICE);
	liov_device_put32(c, PCIS_BAR(0), PCIS_BAR_TYPE_64);
	liov_device_put32(c, PCIS_BAR(LIOV_CMB_BAR), PCIS_BAR_TYPE_64 | PCIS_BAR_PREFETCH);
	c[PCIS_CAP_POINTER] = CAP_PM;
	reset_capabilities(vm);
}

/* Bits of the dword at @off that the guest may write. A BAR's size is told by those it may not. */
static u32 write_mask(const struct liov_vm *vm, u32 off)
{
	switch (off) {
	case PCIS_COMMAND:
		return COMMAND_WRITABLE;	/* status: no bit of it is ever set by an error */
	case PCIS_CACHE_LINE_SIZE:
		return 0xFF;
	case PCIS_INTERRUPT_LINE:
		return 0xFF;
	case PCIS_BAR(0):
		return ~(LIOV_BAR0_SIZE - 1);
	case PCIS_BAR(1):
		return ~0u;
	case PCIS_BAR(LIOV_CMB_BAR):
		return (u32)~(vm->cmb_size - 1);
	case PCIS_BAR(LIOV_CMB_BAR + 1):
		return (u32)(~(vm->cmb_size - 1) >> 32);
	case CAP_PM + PCIS_PM_CONTROL:
		return PCIS_PM_STATE;
	case CAP_MSIX:
		return (u32)(PCIS_MSIX_ENABLE | PCIS_MSIX_FUNCTION_MASK) << 16;
	case DEVCTL:
		return DEVCTL_WRITABLE;
	default:
		return LIOV_CHECK(device_cfg_mask, false) ? ~0u : 0;
	}
}

/* One to four bytes that do not cross a dword, inside the 256 bytes that exist. */
static bool shape_ok(u32 off, u32 len)
{
	return (len == 1 || len == 2 || len == 4) && off % len == 0 && off < PCIS_CONFIG_SIZE;
}

u32 liov_device_cfg_rd(struct liov_vm *vm, u32 off, u32 len)
{
	u32 val = 0, i;

	if (!LIOV_CHECK(device_cfg_read, shape_ok(off, len)))
		return ~0u;
	/* PCIe 7.6.2: no extended capability, so all beyond reads zero. */
	if (off >= PCIS_CONFIG_LEGACY_SIZE)
		return 0;
	port_mutex_lock(&vm->lock);
	for (i = 0; i < len; i++)
		val |= (u32)vm->dev.config[off + i] << (8 * i);
	port_mutex_unlock(&vm->lock);
	return val;
}

/* Returns which of the writable bits changed, as a dword. */
static u32 config_merge(struct liov_vm *vm, u32 off, u32 val, u32 len)
{
	u32 dword = off & ~3u, shift = 8 * (off & 3);
	u32 bytes = (u32)(0xFFFFFFFFull >> (32 - 8 * len)) << shift;
	u32 mask = write_mask(vm, dword) & bytes;
	u32 old = config_get32(vm, dword), now = (old & ~mask) | ((val << shift) & mask);
	unsigned long flags = port_lock_irqsave(&vm->dev.msix_lock);

	liov_device_put32(vm->dev.config, dword, now);
	port_unlock_irqrestore(&vm->dev.msix_lock, flags);
	if (!LIOV_STEP(device_cfg_virtual))
		port_cfg_wr32(vm->be->host, dword, now);
	return old ^ now;
}

void liov_device_cfg_wr(struct liov_vm *vm, u32 off, u32 val, u32 len)
{
	u32 changed;

	if (!LIOV_CHECK(device_cfg_write, shape_ok(off, len) && off < PCIS_CONFIG_LEGACY_SIZE)) {
		liov_device_deny(vm, 0, off, len);
		return;
	}
	port_mutex_lock(&vm->lock);
	if (vm->live && !vm->dying) {
		changed = config_merge(vm, off, val, len);
		if ((off & ~3u) == CAP_MSIX && changed)
			liov_device_msix_changed(vm);
		if ((off & ~3u) == DEVCTL && (changed & PCIS_EXP_DEVCTL_FLR))
			liov_device_function_reset(vm);
	}
	port_mutex_unlock(&vm->lock);
}
