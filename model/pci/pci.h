/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_PCI_PCI_H
#define MODEL_PCI_PCI_H

/*
 * A PCI Express function and the root complex it hangs from: configuration space with
 * write masks, BARs and their decoding, MSI-X, function level reset, and the DMA path from
 * the function through the link and the IOMMU into memory. PCIe Base 5.0, PCI Local Bus 3.0.
 *
 * DMA happens when it is called (memory changes now); the time it takes is reported
 * through @done_ps, and the caller makes its next step happen then.
 */

#include "bus.h"
#include "fault.h"
#include "sched.h"
#include "trace.h"
#include "spec/pci.h"

struct vtd;

#define PCI_ROOT_FUNCTIONS_MAX 8
#define PCI_MSIX_VECTORS_MAX 512
#define PCI_LATE_MESSAGES 16	/* on their way at one time; more are in time */

/*
 * Costs of the link; sources at the defaults in sim/machine.c. The two sizes are what the platform
 * programmed into DevCtl: a power of two from 128 to 4096, or 0 for 4096.
 */
struct pci_link_config {
	u64 bytes_per_us;	/* payload + overhead the link carries one way; 0: unlimited */
	u32 mps_bytes;		/* max payload of a memory write or completion TLP */
	u32 mrrs_bytes;		/* max read request */
	u32 tlp_overhead_bytes;	/* header, framing and CRC of a TLP */
	u64 read_latency_ps;	/* memory read round trip without its serialisation */
	u64 write_flight_ps;	/* posted write, either way */
};

struct pci_bar_config {
	u64 size_bytes;		/* power of two, >= 4096; 0: absent */
	bool is_64bit;		/* takes this BAR and the next */
	bool prefetchable;
};

struct pci_ops {
	u64 (*mmio_read)(void *dev, unsigned int bar, u64 off, unsigned int len);
	void (*mmio_write)(void *dev, unsigned int bar, u64 off, u64 val, unsigned int len);
	void (*reset)(void *dev);	/* function level reset: registers to their defaults, nothing outstanding survives */
};

struct pci_function_config {
	u16 rid;			/* requester id: bus << 8 | device << 3 | function */
	u16 vendor_id, device_id, subsystem_vendor_id, subsystem_id;
	u32 class_code;			/* 0x010802: NVMe I/O controller */
	struct pci_bar_config bar[6];
	u16 msix_vectors;		/* table size, 1..PCI_MSIX_VECTORS_MAX */
	u8 msix_bar;			/* table and PBA lie in this BAR ... */
	u32 msix_table_off, msix_pba_off; /* ... at these offsets; accesses there never reach pci_ops */
	bool pasid;			/* has the PASID capability, of PCIS_PASID_BITS */
	struct pci_link_config link;
};

/* What a device's DMA is for; checkers judge an entry of a queue and a command's data by different rules. */
enum pci_dma_kind {
	PCI_DMA_QUEUE,		/* SQEs, CQEs */
	PCI_DMA_LIST,		/* PRP lists, payloads that are part of a command */
	PCI_DMA_DATA,		/* what the command transfers */
	PCI_DMA_KINDS
};

/* What may go wrong between the function and memory, by kind of transfer or by vector. */
struct pci_faults {
	struct fault_site poisoned[PCI_DMA_KINDS];	/* a read's completion has EP set (PCIe 2.7.2.2); key: queue */
	struct fault_site msi_lost;			/* key: vector */
	struct fault_site msi_late;			/* arg: by how much */
};

#define PCI_NO_PASID (~0u)

struct pci_root;
struct pci_function;

/* What a BAR's decoder on the bus is given. */
struct pci_region {
	struct pci_function *fn;
	unsigned int bar;
};

/* Members are pci's own; others use the functions below. */
struct pci_function {
	struct pci_function_config cfg;
	const struct pci_ops *ops;
	void *dev;
	struct pci_root *root;
	u8 config[4096];
	u8 write_mask[4096];		/* 1: software may change the bit */
	u8 clear_mask[4096];		/* 1: software clears the bit by writing 1 (RW1C) */
	u64 bar_decoded[6];		/* base now decoded on the bus, ~0 when not */
	struct pci_region region[6];
	u16 cap_pm, cap_pcie, cap_msix;	/* offsets of the capabilities */
	u16 cap_pasid;			/* 0: none */
	struct {
		u64 addr;
		u32 data, control;
	} msix[PCI_MSIX_VECTORS_MAX];
	u64 msix_pba[PCI_MSIX_VECTORS_MAX / 64];
	u64 up_free_ps, down_free_ps;	/* link directions are busy until */
	u64 msi_sent;			/* messages that left the function */
	struct pci_faults faults;	/* the owner's */
	/* Messages that are late: as they left, whatever the table says by now. In their order. */
	struct { u64 addr, at_ps; u32 data, vec; } late[PCI_LATE_MESSAGES];
	u32 late_first, nr_late;
	struct event late_ev;
	u8 dma_kind;			/* the device's: enum pci_dma_kind of what it moves now, for the trace */
	/*
	 * The device's: the PASID of the requests it makes now, or PCI_NO_PASID. Messages never
	 * have one (PCIe 6.20). Where software has not enabled PASIDs such a request is not made.
	 */
	u32 pasid;
	u64 io_id;			/* the device's: the command it now moves data for, for the trace; 0: none */
};

struct pci_root {
	struct bus *bus;
	struct vtd *vtd;		/* NULL: no remapping hardware */
	struct sched *sched;
	struct trace *trace;
	struct pci_function *fn[PCI_ROOT_FUNCTIONS_MAX];
	unsigned int nr_fn;
	/* An interrupt message when there is no remapping hardware. */
	void (*msi)(void *opaque, u64 addr, u32 data);
	void *msi_opaque;
};

void pci_root_init(struct pci_root *root, struct bus *bus, struct vtd *vtd, struct sched *sched,
		   struct trace *trace);

/*
 * Bring @fn up in its reset state and attach it to @root; caller owns the memory.
 * -1: too many functions, requester id taken, or a bad configuration.
 */
int pci_function_init(struct pci_function *fn, const struct pci_function_config *cfg, struct pci_root *root,
		      const struct pci_ops *ops, void *dev);

/*
 * Configuration requests by requester id. @len is 1, 2 or 4, naturally aligned; anything else,
 * and an absent function, reads all ones; writes there are dropped.
 */
u32 pci_cfg_read(struct pci_root *root, u16 rid, u32 off, unsigned int len);
void pci_cfg_write(struct pci_root *root, u16 rid, u32 off, u32 val, unsigned int len);

/* The function at @rid, or NULL. */
struct pci_function *pci_root_find(struct pci_root *root, u16 rid);

/* Base of @bar as software programmed it. */
u64 pci_bar_base(const struct pci_function *fn, unsigned int bar);

/* Base at which the bus decodes @bar now, ~0 when it does not. */
static inline u64 pci_bar_decoded(const struct pci_function *fn, unsigned int bar)
{
	return fn->bar_decoded[bar];
}

/*
 * A processor's access to @bar that whoever routes it says is the function's: @len is 1, 2, 4 or
 * 8, naturally aligned and inside the BAR. Accesses that go by address come from the bus.
 */
u64 pci_bar_read(struct pci_function *fn, unsigned int bar, u64 off, unsigned int len);
void pci_bar_write(struct pci_function *fn, unsigned int bar, u64 off, u64 val, unsigned int len);

bool pci_msix_enabled(const struct pci_function *fn);

/*
 * The device wants vector @vec: sends the message, or sets its pending bit while masked.
 * Dropped when MSI-X or bus mastering is off.
 */
void pci_msix_notify(struct pci_function *fn, unsigned int vec);

/*
 * Device reads memory (a non-posted request): false when it came back as an error
 * (blocked by the IOMMU, no target, bus mastering off); @buf is then undefined, and @dst
 * holds what had arrived before.
 * In: *done_ps is the earliest start. Out: when the last byte, or the error, has arrived.
 * The link is reserved in the order of calls: a start far ahead holds up what comes after.
 */
bool pci_dma_read(struct pci_function *fn, iova_t addr, void *buf, u32 len_bytes, u64 *done_ps);
bool pci_dma_to_store(struct pci_function *fn, iova_t addr, struct store *dst, u64 dst_offset, u32 len_bytes,
		      u64 *done_ps);

/*
 * Device writes memory. Posted: what is blocked is dropped and leaves a fault record; the
 * device never learns. A 4-byte write into 0xFEEx_xxxx is an interrupt request.
 * *done_ps in: the earliest start; out: when the write is in memory. Writes keep their
 * order on the link, so a write that follows another starts with it, not at its *done_ps.
 */
void pci_dma_write(struct pci_function *fn, iova_t addr, const void *buf, u32 len_bytes, u64 *done_ps);
void pci_dma_from_store(struct pci_function *fn, iova_t addr, struct store *src, u64 src_offset, u32 len_bytes,
			u64 *done_ps);

/* May the function send requests with PASID (PCIe 7.8.9.3)? */
bool pci_pasid_enabled(const struct pci_function *fn);

/* Before the function goes: nothing of it comes later. */
void pci_function_fini(struct pci_function *fn);

/* Does [addr, addr + len) touch any BAR that this function now decodes? For a device's own-range check. */
bool pci_addr_is_own_bar(const struct pci_function *fn, u64 addr, u64 len_bytes);

#endif
