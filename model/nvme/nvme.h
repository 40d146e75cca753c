/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_NVME_NVME_H
#define MODEL_NVME_NVME_H

/*
 * An NVMe controller behind a PCI function: registers, doorbells, queues in host memory or
 * CMB, arbitration, PRP walking, the admin and NVM command sets, media and their timing,
 * resource domains (a queue's own windows of LBAs and DMA addresses, after NVMePass), and queues
 * with a PASID and a namespace of their own.
 * NVMe Base 1.4/2.0, NVM Command Set 1.0, PCIe Transport 1.0.
 */

#include "pci/pci.h"
#include "spec/nvme.h"

struct nvme;

/* What may go wrong inside the controller. Key: the submission queue. */
struct nvme_faults {
	struct fault_site dma_delay;	/* a step of a command, with its DMA, is late by arg; its CQE stays behind its data */
	struct fault_site silent;	/* a command that was fetched is never completed */
	struct fault_site fatal;	/* in the place of a fetch the controller gives up: CSTS.CFS (Base 9.5) */
};

struct nvme_timing {
	u64 fetch_ps;		/* controller front end, serial, per command */
	u64 per_4k_ps;		/* front end, serial, per further 4 KiB of data */
	u64 read_ps;		/* media: occupancy of a die per 4 KiB read */
	u64 write_ps;		/* write buffer: latency of a command */
	u64 write_drain_ps;	/* write buffer, serial, per 4 KiB or part: its bandwidth; 0: unlimited */
	u64 zeroes_ps;		/* ... of Write Zeroes, which moves no data; 0: as if it did */
	u64 flush_ps;
	u64 fixed_ps;		/* the rest of a read: firmware, ECC, bus */
	u64 admin_ps;		/* an admin command */
	u64 reset_ps;		/* CC.EN 1 to CSTS.RDY 1, and back */
	u64 cqe_gap_ps;		/* between the halves of a CQE: how late a reader can see the second */
	u32 dies;		/* that work in parallel */
};

#define NVME_NAMESPACES_MAX 64

/* A namespace's place in the medium, in blocks of 512 bytes. Places do not overlap. */
struct nvme_ns_config {
	u64 first_block;
	u64 nsze, ncap;		/* nsze 0: inactive */
	bool pi;		/* its metadata, where there is any, is protection information of type 1 */
};

struct nvme_config {
	u16 rid;
	u16 vendor_id, device_id;	/* 0: those of the baseline SSD */
	const char *serial, *model, *firmware;	/* at most 20, 40, 8 characters */
	u64 nsze, ncap;		/* blocks of 512 bytes of NSID 1, which starts the medium */
	struct nvme_ns_config ns[NVME_NAMESPACES_MAX];	/* by NSID - 1; an empty ns[0] is taken from nsze, ncap */
	u32 nn;			/* highest NSID there can be */
	u16 io_queues;		/* pairs supported, 1..511 */
	u16 msix_vectors;
	u16 mqes;		/* 0's based, as CAP.MQES */
	u8 dstrd;		/* as CAP.DSTRD: stride is 4 << dstrd bytes */
	u8 mdts;		/* as Identify: 2^mdts pages; 0: no limit */
	u8 aerl, acl, elpe;	/* 0's based, as Identify */
	bool cqr;		/* CAP.CQR */
	u64 cmb_size_bytes;	/* 0: no CMB; else BAR 2 */
	u8 *cmb_memory;		/* the CMB's bytes, where others reach them too; NULL: the model's own, zeros */
	bool cmb_lists;		/* CMBSZ.LISTS, and data in CMB (RDS, WDS) */
	bool cmb_cqs;		/* CMBSZ.CQS */
	u16 oncs;		/* optional NVM commands offered: NVME_ONCS_* */
	bool sgls;		/* SGLs for I/O commands; else refused with 0/0x02 */
	bool resource_domains;	/* offers the resource-domain admin command */
	bool ns_management;	/* namespaces come and go in the first @ncap blocks, and those of @ns are there at first */
	bool pasid;		/* has the PASID capability, and binds queues to PASIDs and namespaces */
	/*
	 * The LBA format has 8 bytes of metadata in a separate buffer, with protection information in NSID 1; MDTS 1
	 * to 8. @media holds them behind the namespaces' places: 8 bytes a block.
	 */
	bool metadata;
	bool keeps_deallocated;	/* DLFEAT 000b: Deallocate leaves old data to be read */
	bool fragile_dsm;	/* firmware dies (CSTS.CFS) of the first Dataset Management with 256 ranges it ever gets */
	bool fragile_doorbells;	/* an invalid doorbell write is fatal (CSTS.CFS), as on some controllers */
	struct nvme_timing timing;
	struct pci_link_config link;
};

struct nvme_counters {
	u64 sqes_fetched, cqes_posted, admin_commands, refused, doorbells, doorbells_bad, resets;
	u64 log_pages;
	u64 read_blocks, written_blocks, read_commands, write_commands;
	u64 queue_fetched[512];	/* SQEs fetched by queue: the arbitration's share */
};

/*
 * Build the controller and attach its function to @root. @media: the namespaces' content, as
 * large as their places and ncap need; cleared by nobody. NULL on a bad configuration.
 */
struct nvme *nvme_new(const struct nvme_config *cfg, struct pci_root *root, struct sched *sched, struct trace *trace,
		      struct store *media);
void nvme_free(struct nvme *nvme);

struct pci_function *nvme_function(struct nvme *nvme);
const struct nvme_counters *nvme_counters(const struct nvme *nvme);
struct nvme_faults *nvme_faults(struct nvme *nvme);	/* the owner's to arm */

/* Blocks up to the end of the last namespace's place: where the metadata of @media begins. */
u64 nvme_media_blocks(const struct nvme_config *cfg);

/*
 * Fault injection: from now on commands that touch these blocks of the medium fail: reads with
 * 2/0x81 after the blocks before them have moved, writes with 2/0x80 and no effect.
 * @nlb 0: the medium is whole again. One range at a time; a reset does not heal it.
 */
void nvme_media_break(struct nvme *nvme, u64 first_block, u64 nlb);

#endif
