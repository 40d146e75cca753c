// SPDX-License-Identifier: GPL-2.0
/* The rest of the port's host part: the physical function, guest memory, the host's life. */

#include "host.h"
#include "vm/vm.h"

#include <stdlib.h>

struct port_home *sim_host_home(struct port_host *h)
{
	return &h->home;
}

u32 sim_cfg_rd32(struct port_host *h, u32 off)
{
	return pci_cfg_read(&h->m->root, MACHINE_SSD_RID, off, 4);
}

void sim_cfg_wr32(struct port_host *h, u32 off, u32 val)
{
	pci_cfg_write(&h->m->root, MACHINE_SSD_RID, off, val, 4);
}

/* Function level reset; configuration is saved and restored around it, as pci_reset_function() does. */
int sim_flr(struct port_host *h)
{
	struct pci_function *fn = nvme_function(h->m->nvme);
	u32 bars[6], command, control, i;
	u32 cap = fn->cap_pcie;

	for (i = 0; i < 6; i++)
		bars[i] = sim_cfg_rd32(h, PCIS_BAR0 + 4 * i);
	command = sim_cfg_rd32(h, PCIS_COMMAND) & 0xFFFF;
	control = pci_cfg_read(&h->m->root, MACHINE_SSD_RID, cap + PCIS_EXP_DEVCTL, 2);
	pci_cfg_write(&h->m->root, MACHINE_SSD_RID, cap + PCIS_EXP_DEVCTL, control | PCIS_EXP_DEVCTL_FLR, 2);
	task_sleep(100 * PS_PER_MS);
	for (i = 0; i < 6; i++)
		sim_cfg_wr32(h, PCIS_BAR0 + 4 * i, bars[i]);
	sim_cfg_wr32(h, PCIS_COMMAND, command);
	host_pasid_enable(h);
	return host_irq_init(h);
}

int sim_bar_map(struct port_host *h, unsigned int bar, struct port_mmio *m, u64 *size, u64 *bus_addr)
{
	struct pci_function *fn = nvme_function(h->m->nvme);

	if (bar > 5 || fn->cfg.bar[bar].size_bytes == 0)
		return -ENODEV;
	*bus_addr = pci_bar_base(fn, bar);
	*size = fn->cfg.bar[bar].size_bytes;
	*m = (struct port_mmio){ &h->home, *bus_addr };
	return 0;
}

int sim_bar_shm(struct port_host *h, unsigned int bar, u64 off, u32 len, struct port_shm *s)
{
	struct pci_function *fn = nvme_function(h->m->nvme);

	if (bar > 5 || off + len > fn->cfg.bar[bar].size_bytes)
		return -EINVAL;
	*s = (struct port_shm){ &h->home, pci_bar_base(fn, bar) + off };
	return 0;
}

static int vm_mem_copy(struct port_vm *vm, gpa_t gpa, void *to, const void *from, u32 len)
{
	hpa_t hpa;

	if (len == 0 || !vm_gpa_to_hpa(vm, gpa, len, &hpa))
		return -EFAULT;
	if (to)
		bus_ram_read(&vm->m->bus, hpa, to, len);
	else
		bus_ram_write(&vm->m->bus, hpa, from, len);
	return 0;
}

int sim_vm_mem_rd(struct port_vm *vm, gpa_t gpa, void *buf, u32 len)
{
	schedule_point(vm->m);
	return vm_mem_copy(vm, gpa, buf, NULL, len);
}

int sim_vm_mem_wr(struct port_vm *vm, gpa_t gpa, const void *buf, u32 len)
{
	int ret;

	schedule_point(vm->m);
	ret = vm_mem_copy(vm, gpa, NULL, buf, len);
	if (ret == 0)
		trace_data(&vm->m->trace, SIM_TRACE_WROTE, 0, vm->cfg.id, gpa.v, len, 0, buf, len);
	return ret;
}

bool sim_vm_mem_is_ram(struct port_vm *vm, gpa_t gpa, u64 len)
{
	hpa_t hpa;

	return vm_gpa_to_hpa(vm, gpa, len, &hpa);
}

/* Ranges are told apart by it, so what lies in one has one. */
u32 sim_vm_mem_prot(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u32 i;

	for (i = 0; i < vm->nr_ram; i++)
		if (gpa.v >= vm->ram[i].gpa.v && gpa.v - vm->ram[i].gpa.v < vm->ram[i].len_bytes &&
		    len <= vm->ram[i].len_bytes - (gpa.v - vm->ram[i].gpa.v))
			return vm->ram[i].no_read ? PORT_WRITE : vm->ram[i].no_write ? PORT_READ : PORT_READ | PORT_WRITE;
	return 0;
}

bool sim_vm_mem_overlaps(struct port_vm *vm, gpa_t gpa, u64 len)
{
	u32 i;

	for (i = 0; i < vm->nr_ram; i++) {
		u64 start = vm->ram[i].gpa.v;

		if (start < gpa.v ? gpa.v - start < vm->ram[i].len_bytes : start - gpa.v < len)
			return true;
	}
	return false;
}

bool sim_vm_mem_range(struct port_vm *vm, u32 i, gpa_t *gpa, u64 *len)
{
	if (i >= vm->nr_ram)
		return false;
	*gpa = vm->ram[i].gpa;
	*len = vm->ram[i].len_bytes;
	return true;
}

/* Firmware's part: BARs get addresses, largest first, naturally aligned; memory decoding on. */
static void firmware_place_bars(struct port_host *h)
{
	struct pci_function *fn = nvme_function(h->m->nvme);
	u64 base = MACHINE_BAR_BASE;
	bool placed[6] = { false };

	for (;;) {
		u64 size = 0;
		u32 i, best = 6;

		for (i = 0; i < 6; i++) {
			if (!placed[i] && fn->cfg.bar[i].size_bytes > size) {
				size = fn->cfg.bar[i].size_bytes;
				best = i;
			}
		}
		if (best == 6)
			break;
		placed[best] = true;
		base = (base + size - 1) & ~(size - 1);
		sim_cfg_wr32(h, PCIS_BAR0 + 4 * best, (u32)base);
		if (fn->cfg.bar[best].is_64bit)
			sim_cfg_wr32(h, PCIS_BAR0 + 4 * best + 4, (u32)(base >> 32));
		base += size;
	}
	sim_cfg_wr32(h, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER);
}

#define HOST_LOW_FREE 0x1000000ull	/* below are firmware and the host's own image */

struct port_host *host_new(struct machine *m)
{
	struct port_host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->m = m;
	home_init(&h->home, m, NULL, NULL);
	h->low.free[0] = (struct host_range){ HOST_LOW_FREE + m->cfg.low_skip_bytes, MACHINE_LOW_RAM - HOST_LOW_FREE - m->cfg.low_skip_bytes };
	h->low.nr = 1;
	h->high.free[0] = (struct host_range){ MACHINE_HIGH_RAM + m->cfg.high_skip_bytes, m->cfg.high_ram_bytes - m->cfg.high_skip_bytes };
	h->high.nr = 1;
	firmware_place_bars(h);
	if (host_iommu_init(h) || host_irq_init(h)) {
		host_free(h);
		return NULL;
	}
	if (m->cfg.fault_interrupts)
		host_fault_init(h);
	return h;
}

void host_free(struct port_host *h)
{
	u32 i;

	for (i = 0; i < MACHINE_VMS_MAX; i++) {
		if (h->m->vms[i]) {
			home_fini(&h->m->vms[i]->guest.home);
			free(h->m->vms[i]);
		}
	}
	host_pages_fini(h);
	home_fini(&h->home);
	free(h);
}

int host_boot_liov(struct machine *m)
{
	int err = liov_backend_start(&m->backend, m->host, &m->cfg.backend);

	if (!err && m->backend.hostq)
		trace4(&m->trace, SIM_TRACE_QUEUE, 0, SIM_OWNER_HOST, m->backend.hostq->qid, 1, 0);
	return err;
}
