// SPDX-License-Identifier: GPL-2.0
/*
 * The virtual MSI-X table and pending bits (PCIe 7.7.2). The physical table holds the host's
 * values only; a guest's message is given to the home, which delivers it inside the VM.
 */

#include "device.h"

#define LOWEST_VECTOR	16u	/* Intel SDM 3A 11.5.2: 0 to 15 are not interrupts */

/* Only a write to the VM's own interrupt controller is an interrupt: any other would be a write of the guest's choice. */
static bool message_ok(const struct liov_msi *msi)
{
	return msi->addr >= PCIS_IRQ_RANGE_BASE && msi->addr <= PCIS_IRQ_RANGE_LAST && (msi->data & 0xFF) >= LOWEST_VECTOR;
}

static bool vector_open(const struct liov_vm *vm, u16 vvec)
{
	u16 control = liov_device_msix_control(vm);

	return (control & PCIS_MSIX_ENABLE) && !(control & PCIS_MSIX_FUNCTION_MASK) && !vm->dev.msix_masked[vvec] &&
	       LIOV_CHECK(device_msix_message, message_ok(&vm->dev.msix[vvec]));
}

bool liov_device_vector_open(struct liov_vm *vm, u16 vvec, struct liov_msi *msi)
{
	unsigned long flags;
	bool open;

	if (vvec >= liov_device_vectors(vm))
		return false;
	flags = port_lock_irqsave(&vm->dev.msix_lock);
	open = vector_open(vm, vvec);
	*msi = vm->dev.msix[vvec];
	port_unlock_irqrestore(&vm->dev.msix_lock, flags);
	return open;
}

void liov_device_irq(struct liov_vm *vm, u16 vvec)
{
	unsigned long flags;
	struct liov_msi msi;
	bool open;

	if (vvec >= liov_device_vectors(vm))
		return;
	flags = port_lock_irqsave(&vm->dev.msix_lock);
	open = vector_open(vm, vvec);
	msi = vm->dev.msix[vvec];
	if (!open && (liov_device_msix_control(vm) & PCIS_MSIX_ENABLE))
		vm->dev.msix_pending[vvec] = true;
	port_unlock_irqrestore(&vm->dev.msix_lock, flags);
	if (open)
		port_vm_irq_raise(vm->port, &msi);
}

/* What waited behind a mask goes out; the backend points the physical vectors where they belong. */
static void vector_changed(struct liov_vm *vm, u16 vvec)
{
	unsigned long flags = port_lock_irqsave(&vm->dev.msix_lock);
	bool raise = vm->dev.msix_pending[vvec] && vector_open(vm, vvec);
	struct liov_msi msi = vm->dev.msix[vvec];

	if (raise)
		vm->dev.msix_pending[vvec] = false;
	port_unlock_irqrestore(&vm->dev.msix_lock, flags);
	if (raise)
		port_vm_irq_raise(vm->port, &msi);
	liov_vm_vector_update(vm, vvec);
}

void liov_device_msix_changed(struct liov_vm *vm)
{
	u16 v;

	for (v = 0; v < liov_device_vectors(vm); v++)
		vector_changed(vm, v);
}

void liov_device_msix_reset(struct liov_vm *vm)
{
	unsigned long flags = port_lock_irqsave(&vm->dev.msix_lock);
	u16 v;

	for (v = 0; v < LIOV_VECTORS_MAX; v++) {
		vm->dev.msix[v] = (struct liov_msi){ 0, 0, v };
		vm->dev.msix_masked[v] = true;
		vm->dev.msix_pending[v] = false;
	}
	port_unlock_irqrestore(&vm->dev.msix_lock, flags);
}

static u32 pending_rd(const struct liov_vm *vm, u32 off)
{
	u32 bits = 0, v;

	if (off != LIOV_BAR0_MSIX_PBA)
		return 0;
	for (v = 0; v < liov_device_vectors(vm); v++)
		bits |= (u32)vm->dev.msix_pending[v] << v;
	return bits;
}
_Static_assert(LIOV_VECTORS_MAX <= 32, "the pending bits are one dword");

u32 liov_device_msix_rd(struct liov_vm *vm, u32 off)
{
	const struct liov_device *dev = &vm->dev;
	u32 v = (off - LIOV_BAR0_MSIX_TABLE) / PCIS_MSIX_ENTRY_SIZE;

	if (off >= LIOV_BAR0_MSIX_PBA)
		return pending_rd(vm, off);
	if (!LIOV_CHECK(device_msix_read, v < liov_device_vectors(vm))) {
		liov_device_deny(vm, 0, off, 4);
		return ~0u;
	}
	switch (off % PCIS_MSIX_ENTRY_SIZE) {
	case PCIS_MSIX_ENTRY_ADDR_LO:
		return (u32)dev->msix[v].addr;
	case PCIS_MSIX_ENTRY_ADDR_HI:
		return (u32)(dev->msix[v].addr >> 32);
	case PCIS_MSIX_ENTRY_DATA:
		return dev->msix[v].data;
	default:
		return dev->msix_masked[v] ? PCIS_MSIX_ENTRY_MASKED : 0;
	}
}

static void table_store(struct liov_device *dev, u32 v, u32 field, u32 val)
{
	unsigned long flags = port_lock_irqsave(&dev->msix_lock);
	struct liov_msi *msi = &dev->msix[v];

	switch (field) {
	case PCIS_MSIX_ENTRY_ADDR_LO:
		msi->addr = (msi->addr & ~0xFFFFFFFFull) | (val & ~3u);
		break;
	case PCIS_MSIX_ENTRY_ADDR_HI:
		msi->addr = (msi->addr & 0xFFFFFFFFull) | (u64)val << 32;
		break;
	case PCIS_MSIX_ENTRY_DATA:
		msi->data = val;
		break;
	default:
		dev->msix_masked[v] = val & PCIS_MSIX_ENTRY_MASKED;
		break;
	}
	port_unlock_irqrestore(&dev->msix_lock, flags);
}

void liov_device_msix_wr(struct liov_vm *vm, u32 off, u32 val)
{
	u32 v = (off - LIOV_BAR0_MSIX_TABLE) / PCIS_MSIX_ENTRY_SIZE;

	/* The pending bits are the device's (PCIe 7.7.2.9). */
	if (!LIOV_CHECK(device_msix_write, off < LIOV_BAR0_MSIX_PBA && v < liov_device_vectors(vm))) {
		liov_device_deny(vm, 0, off, 4);
		return;
	}
	table_store(&vm->dev, v, off % PCIS_MSIX_ENTRY_SIZE, val);
	if (!LIOV_STEP(device_msix_virtual))
		port_mmio_wr32(&vm->be->bar0, (u32)vm->be->msix[0].start + (off - LIOV_BAR0_MSIX_TABLE), val);
	if (!vm->dev.msix_masked[v] && !LIOV_CHECK(device_msix_message, message_ok(&vm->dev.msix[v])))
		liov_device_deny(vm, 0, vm->dev.msix[v].addr, vm->dev.msix[v].data);
	vector_changed(vm, (u16)v);
}
