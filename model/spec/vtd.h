/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SPEC_VTD_H
#define MODEL_SPEC_VTD_H

/*
 * VT-d as constants: Intel Virtualization Technology for Directed I/O, revision 4.1.
 * Entries of 128 bits are two little-endian 64-bit words, _LO_ the one at the lower address;
 * masks of _HI_ are relative to that word's own bit 0. Of longer entries the other words are
 * _2_, _3_ ... Section numbers are the specification's.
 */

#include "spec_types.h"

/* Registers, 11.4: byte offsets in the 4 KiB register page */
#define VTD_REG_VER		0x00	/* 32 bits */
#define VTD_REG_CAP		0x08	/* 64 */
#define VTD_REG_ECAP		0x10	/* 64 */
#define VTD_REG_GCMD		0x18	/* 32 */
#define VTD_REG_GSTS		0x1C	/* 32 */
#define VTD_REG_RTADDR		0x20	/* 64 */
#define VTD_REG_CCMD		0x28	/* 64 */
#define VTD_REG_FSTS		0x34	/* 32 */
#define VTD_REG_FECTL		0x38	/* 32 */
#define VTD_REG_FEDATA		0x3C	/* 32 */
#define VTD_REG_FEADDR		0x40	/* 32 */
#define VTD_REG_FEUADDR		0x44	/* 32 */
#define VTD_REG_IQH		0x80	/* 64 */
#define VTD_REG_IQT		0x88	/* 64 */
#define VTD_REG_IQA		0x90	/* 64 */
#define VTD_REG_ICS		0x9C	/* 32 */
#define VTD_REG_IECTL		0xA0	/* 32 */
#define VTD_REG_IEDATA		0xA4	/* 32 */
#define VTD_REG_IEADDR		0xA8	/* 32 */
#define VTD_REG_IEUADDR		0xAC	/* 32 */
#define VTD_REG_IQERCD		0xB0	/* 64 */
#define VTD_REG_IRTA		0xB8	/* 64 */

#define VTD_REG_PAGE_SIZE	4096

#define VTD_VER_1_0		0x10

/* Capability register, 11.4.2 */
#define VTD_CAP_ND		GENMASK_ULL(2, 0)	/* domain-id width: 4 + 2 * ND */
#define VTD_CAP_AFL		BIT_ULL(3)
#define VTD_CAP_RWBF		BIT_ULL(4)
#define VTD_CAP_CM		BIT_ULL(7)
#define VTD_CAP_SAGAW		GENMASK_ULL(12, 8)	/* bit n: context-entry AW n */
#define VTD_CAP_MGAW		GENMASK_ULL(21, 16)	/* address bits - 1 */
#define VTD_CAP_ZLR		BIT_ULL(22)
#define VTD_CAP_FRO		GENMASK_ULL(33, 24)	/* units of 16 bytes */
#define VTD_CAP_SLLPS		GENMASK_ULL(37, 34)	/* bit 0: 2 MiB, bit 1: 1 GiB */
#define VTD_CAP_PSI		BIT_ULL(39)
#define VTD_CAP_NFR		GENMASK_ULL(47, 40)	/* records - 1 */
#define VTD_CAP_MAMV		GENMASK_ULL(53, 48)
#define VTD_CAP_DWD		BIT_ULL(54)
#define VTD_CAP_DRD		BIT_ULL(55)
#define VTD_CAP_PI		BIT_ULL(59)

/* Extended capability register, 11.4.3 */
#define VTD_ECAP_C		BIT_ULL(0)
#define VTD_ECAP_QI		BIT_ULL(1)
#define VTD_ECAP_DT		BIT_ULL(2)
#define VTD_ECAP_IR		BIT_ULL(3)
#define VTD_ECAP_EIM		BIT_ULL(4)
#define VTD_ECAP_PT		BIT_ULL(6)
#define VTD_ECAP_SC		BIT_ULL(7)
#define VTD_ECAP_IRO		GENMASK_ULL(17, 8)	/* units of 16 bytes */
#define VTD_ECAP_MHMV		GENMASK_ULL(23, 20)
#define VTD_ECAP_PSS		GENMASK_ULL(39, 35)	/* PASID bits - 1 */
#define VTD_ECAP_PASID		BIT_ULL(40)
#define VTD_ECAP_SMTS		BIT_ULL(43)		/* scalable mode */
#define VTD_ECAP_SSTS		BIT_ULL(46)		/* second-stage tables in scalable mode */

/* Global command and status, 11.4.4: the same bits in both */
#define VTD_G_CFI		BIT_ULL(23)
#define VTD_G_SIRTP		BIT_ULL(24)
#define VTD_G_IRE		BIT_ULL(25)
#define VTD_G_QIE		BIT_ULL(26)
#define VTD_G_WBF		BIT_ULL(27)
#define VTD_G_EAFL		BIT_ULL(28)
#define VTD_G_SFL		BIT_ULL(29)
#define VTD_G_SRTP		BIT_ULL(30)
#define VTD_G_TE		BIT_ULL(31)
/* What software keeps when it reads GSTS to write GCMD: not the one-shot bits */
#define VTD_G_PERSISTENT	(VTD_G_CFI | VTD_G_IRE | VTD_G_QIE | VTD_G_EAFL | VTD_G_TE)

/* Root table address, 11.4.5 */
#define VTD_RTADDR_TTM		GENMASK_ULL(11, 10)
#define VTD_TTM_LEGACY		0
#define VTD_TTM_SCALABLE	1
#define VTD_RTADDR_RTA		GENMASK_ULL(63, 12)

/* Context command, 11.4.6.1 */
#define VTD_CCMD_DID		GENMASK_ULL(15, 0)
#define VTD_CCMD_SID		GENMASK_ULL(31, 16)
#define VTD_CCMD_FM		GENMASK_ULL(33, 32)
#define VTD_CCMD_CAIG		GENMASK_ULL(60, 59)
#define VTD_CCMD_CIRG		GENMASK_ULL(62, 61)
#define VTD_CCMD_ICC		BIT_ULL(63)

/* IOTLB registers at 16 * ECAP.IRO, 11.4.6.2 */
#define VTD_IOTLB_REG_IVA	0x0			/* offset from there: invalidate address */
#define VTD_IOTLB_REG_CMD	0x8			/* the invalidate register itself */
#define VTD_IVA_AM		GENMASK_ULL(5, 0)
#define VTD_IVA_IH		BIT_ULL(6)
#define VTD_IVA_ADDR		GENMASK_ULL(63, 12)
#define VTD_IOTLB_CMD_DID	GENMASK_ULL(47, 32)
#define VTD_IOTLB_CMD_DW	BIT_ULL(48)
#define VTD_IOTLB_CMD_DR	BIT_ULL(49)
#define VTD_IOTLB_CMD_IAIG	GENMASK_ULL(58, 57)
#define VTD_IOTLB_CMD_IIRG	GENMASK_ULL(61, 60)
#define VTD_IOTLB_CMD_IVT	BIT_ULL(63)

/* Granularity of a context-cache or IOTLB invalidation, in registers and descriptors */
#define VTD_GRAN_GLOBAL		1
#define VTD_GRAN_DOMAIN		2
#define VTD_GRAN_DEVICE		3			/* context cache */
#define VTD_GRAN_PAGE		3			/* IOTLB: pages within a domain */

/* Fault status, 11.4.7.1 */
#define VTD_FSTS_PFO		BIT_ULL(0)		/* write 1 to clear */
#define VTD_FSTS_PPF		BIT_ULL(1)		/* some record's F is set */
#define VTD_FSTS_IQE		BIT_ULL(4)		/* write 1 to clear */
#define VTD_FSTS_ICE		BIT_ULL(5)
#define VTD_FSTS_ITE		BIT_ULL(6)
#define VTD_FSTS_FRI		GENMASK_ULL(15, 8)

/* Fault event and invalidation event control, 11.4.7.2 and 11.4.9.6 */
#define VTD_ECTL_IP		BIT_ULL(30)
#define VTD_ECTL_IM		BIT_ULL(31)

/* Fault recording register: 128 bits each, at 16 * CAP.FRO, 11.4.7.6 */
#define VTD_FRCD_SIZE		16
#define VTD_FRCD_LO_FI		GENMASK_ULL(63, 12)	/* page; interrupts: index in 63:48 */
#define VTD_FRCD_LO_INDEX	GENMASK_ULL(63, 48)
#define VTD_FRCD_HI_SID		GENMASK_ULL(15, 0)
#define VTD_FRCD_HI_PP		BIT_ULL(31)		/* the request had a PASID: the next field */
#define VTD_FRCD_HI_FR		GENMASK_ULL(39, 32)
#define VTD_FRCD_HI_PV		GENMASK_ULL(59, 40)
#define VTD_FRCD_HI_T		BIT_ULL(62)		/* 0: write, 1: read */
#define VTD_FRCD_HI_F		BIT_ULL(63)		/* write 1 to clear */

/* Invalidation queue, 11.4.9 */
#define VTD_IQ_INDEX		GENMASK_ULL(18, 4)	/* of IQH and IQT: descriptor number */
#define VTD_IQ_UNALIGNED	BIT_ULL(4)		/* of IQT, with descriptors of 256 bits */
#define VTD_IQA_QS		GENMASK_ULL(2, 0)	/* 2^(QS + 8) descriptors of 128 bits, half as many of 256 */
#define VTD_IQA_DW		BIT_ULL(11)		/* 256-bit descriptors; reserved without ECAP.SMTS */
#define VTD_IQA_IQA		GENMASK_ULL(63, 12)
#define VTD_ICS_IWC		BIT_ULL(0)
#define VTD_IQERCD_IQEI		GENMASK_ULL(3, 0)
#define VTD_IQEI_TAIL		1			/* tail beyond the queue */
#define VTD_IQEI_FETCH		2			/* descriptor not readable */
#define VTD_IQEI_TYPE		3			/* descriptor type unknown or not supported */
#define VTD_IQEI_RESERVED	4			/* reserved field or value in a descriptor */
#define VTD_IQEI_TAIL_ALIGN	6			/* tail inside a 256-bit descriptor */

/* Interrupt remapping table address, 11.4.10 */
#define VTD_IRTA_S		GENMASK_ULL(3, 0)	/* 2^(S + 1) entries */
#define VTD_IRTA_EIME		BIT_ULL(11)
#define VTD_IRTA_IRTA		GENMASK_ULL(63, 12)

/* Root entry, 9.1: indexed by bus */
#define VTD_ROOT_ENTRY_SIZE	16
#define VTD_ROOT_LO_P		BIT_ULL(0)
#define VTD_ROOT_LO_CTP		GENMASK_ULL(63, 12)
#define VTD_ROOT_LO_RSVD	GENMASK_ULL(11, 1)

/* Context entry, 9.3: indexed by device and function */
#define VTD_CONTEXT_ENTRY_SIZE	16
#define VTD_CTX_LO_P		BIT_ULL(0)
#define VTD_CTX_LO_FPD		BIT_ULL(1)
#define VTD_CTX_LO_TT		GENMASK_ULL(3, 2)
#define VTD_CTX_LO_RSVD		GENMASK_ULL(11, 4)
#define VTD_CTX_LO_SSPTPTR	GENMASK_ULL(63, 12)
#define VTD_CTX_HI_AW		GENMASK_ULL(2, 0)
#define VTD_CTX_HI_DID		GENMASK_ULL(23, 8)
#define VTD_CTX_HI_RSVD		(BIT_ULL(7) | GENMASK_ULL(63, 24))
#define VTD_TT_MULTI_LEVEL	0			/* untranslated requests go through the tables */
#define VTD_TT_DEV_IOTLB	1			/* as above, and device-TLBs are allowed */
#define VTD_TT_PASS_THROUGH	2
#define VTD_AW_39BIT		1			/* 3 levels */
#define VTD_AW_48BIT		2			/* 4 levels */
#define VTD_AW_57BIT		3			/* 5 levels */

/* PASIDs are 20 bits wide (PCIe 6.20). */
#define VTD_PASID_BITS		20
#define VTD_PASID_MASK		GENMASK_ULL(19, 0)

/* Scalable-mode root entry, 9.2: _LO_ serves devices 0 to 15 of the bus, _HI_ 16 to 31 */
#define VTD_SMROOT_P		BIT_ULL(0)
#define VTD_SMROOT_CTP		GENMASK_ULL(63, 12)
#define VTD_SMROOT_RSVD		GENMASK_ULL(11, 1)

/* Scalable-mode context entry, 9.4: 256 bits, indexed by the low 7 bits of device and function */
#define VTD_SMCTX_SIZE		32
#define VTD_SMCTX_PER_TABLE	128
#define VTD_SMCTX_LO_P		BIT_ULL(0)
#define VTD_SMCTX_LO_FPD	BIT_ULL(1)
#define VTD_SMCTX_LO_DTE	BIT_ULL(2)		/* reserved without ECAP.DT */
#define VTD_SMCTX_LO_PASIDE	BIT_ULL(3)		/* requests with PASID are allowed */
#define VTD_SMCTX_LO_PRE	BIT_ULL(4)		/* reserved without ECAP.PRS */
#define VTD_SMCTX_LO_RSVD	GENMASK_ULL(8, 5)
#define VTD_SMCTX_LO_PDTS	GENMASK_ULL(11, 9)	/* directory of 2^(PDTS + 7) entries */
#define VTD_SMCTX_LO_DIR	GENMASK_ULL(63, 12)	/* PASIDDIRPTR */
#define VTD_SMCTX_HI_RID_PASID	GENMASK_ULL(19, 0)	/* stands for requests without one */
#define VTD_SMCTX_HI_RSVD	GENMASK_ULL(63, 20)	/* bit 20, RID_PRIV, without ECAP.SRS */

/* PASID directory entry, 9.5: 64 bits, indexed by PASID 19:6 */
#define VTD_PASIDDIR_SIZE	8
#define VTD_PASIDDIR_P		BIT_ULL(0)
#define VTD_PASIDDIR_FPD	BIT_ULL(1)
#define VTD_PASIDDIR_RSVD	GENMASK_ULL(11, 2)
#define VTD_PASIDDIR_TABLE	GENMASK_ULL(63, 12)	/* SMPTBLPTR */

/* PASID table entry, 9.6: 512 bits, indexed by PASID 5:0 */
#define VTD_PASID_ENTRY_SIZE	64
#define VTD_PASID_PER_TABLE	64
#define VTD_PASID_LO_P		BIT_ULL(0)
#define VTD_PASID_LO_FPD	BIT_ULL(1)
#define VTD_PASID_LO_AW		GENMASK_ULL(4, 2)	/* VTD_AW_* */
#define VTD_PASID_LO_PGTT	GENMASK_ULL(8, 6)
#define VTD_PASID_LO_SSADE	BIT_ULL(9)		/* reserved without ECAP.SSADS */
#define VTD_PASID_LO_RSVD	(BIT_ULL(5) | GENMASK_ULL(11, 10))
#define VTD_PASID_LO_SSPTPTR	GENMASK_ULL(63, 12)
#define VTD_PASID_HI_DID	GENMASK_ULL(15, 0)
#define VTD_PASID_HI_RSVD	GENMASK_ULL(63, 16)	/* 31:23 and the upper half without SMPWCS, SC and MTS */
#define VTD_PGTT_FIRST_STAGE	1
#define VTD_PGTT_SECOND_STAGE	2
#define VTD_PGTT_NESTED		3
#define VTD_PGTT_PASS_THROUGH	4

/* Second-stage paging entry, 9.8 */
#define VTD_SSPTE_R		BIT_ULL(0)
#define VTD_SSPTE_W		BIT_ULL(1)
#define VTD_SSPTE_PS		BIT_ULL(7)		/* levels 2 and 3: this is a leaf */
#define VTD_SSPTE_SNP		BIT_ULL(11)		/* reserved without ECAP.SC */
#define VTD_SSPTE_TM		BIT_ULL(62)		/* reserved without ECAP.DT */
#define VTD_SSPTE_ADDR		GENMASK_ULL(51, 12)
#define VTD_SSPTE_COUNT		512
/* Level 1 is the 4 KiB leaf: bits below it, and the entry of an address */
#define VTD_LEVEL_SHIFT(level)	(12 + 9 * ((level) - 1))
#define VTD_LEVEL_INDEX(addr, level) (((addr) >> VTD_LEVEL_SHIFT(level)) & 511)

/* Interrupt requests, 5.1.2: a dword write to 0xFEEx_xxxx */
#define VTD_MSI_BASE		0xFEE00000ULL
#define VTD_MSI_SIZE		0x00100000ULL
#define VTD_MSI_REMAPPABLE	BIT_ULL(4)		/* interrupt format; 0: compatibility */
#define VTD_MSI_SHV		BIT_ULL(3)		/* subhandle in data 15:0 */
#define VTD_MSI_HANDLE_14_0	GENMASK_ULL(19, 5)
#define VTD_MSI_HANDLE_15	BIT_ULL(2)
#define VTD_MSI_DATA_SUBHANDLE	GENMASK_ULL(15, 0)
#define VTD_MSI_DATA_RSVD	GENMASK_ULL(31, 16)	/* with SHV */
/* Compatibility format, and the messages of the unit's own events */
#define VTD_MSI_COMPAT_DEST	GENMASK_ULL(19, 12)
#define VTD_MSI_COMPAT_RH	BIT_ULL(3)
#define VTD_MSI_COMPAT_DM	BIT_ULL(2)
#define VTD_MSI_DATA_VECTOR	GENMASK_ULL(7, 0)
#define VTD_MSI_DATA_DLM	GENMASK_ULL(10, 8)

/* Address of a remappable message; data is the subhandle when @shv, else 0 */
#define VTD_MSI_ADDRESS(handle, shv) \
	(VTD_MSI_BASE | VTD_MSI_REMAPPABLE | FIELD_PREP(VTD_MSI_HANDLE_14_0, (handle) & 0x7FFF) | \
	 FIELD_PREP(VTD_MSI_HANDLE_15, (handle) >> 15 & 1) | ((shv) ? VTD_MSI_SHV : 0))

/* Interrupt remapping table entry, 9.9 (remapped) and 9.10 (posted) */
#define VTD_IRTE_SIZE		16
#define VTD_IRTE_LO_P		BIT_ULL(0)
#define VTD_IRTE_LO_FPD		BIT_ULL(1)
#define VTD_IRTE_LO_DM		BIT_ULL(2)		/* 1: logical destination */
#define VTD_IRTE_LO_RH		BIT_ULL(3)
#define VTD_IRTE_LO_TM		BIT_ULL(4)
#define VTD_IRTE_LO_DLM		GENMASK_ULL(7, 5)
#define VTD_IRTE_LO_AVAIL	GENMASK_ULL(11, 8)
#define VTD_IRTE_LO_IM		BIT_ULL(15)		/* 0: remapped, 1: posted */
#define VTD_IRTE_LO_V		GENMASK_ULL(23, 16)
#define VTD_IRTE_LO_DST		GENMASK_ULL(63, 32)	/* x2APIC id */
#define VTD_IRTE_LO_DST_XAPIC	GENMASK_ULL(47, 40)	/* the rest of DST is reserved then */
#define VTD_IRTE_LO_RSVD	(GENMASK_ULL(14, 12) | GENMASK_ULL(31, 24))
#define VTD_IRTE_HI_SID		GENMASK_ULL(15, 0)
#define VTD_IRTE_HI_SQ		GENMASK_ULL(17, 16)
#define VTD_IRTE_HI_SVT		GENMASK_ULL(19, 18)
#define VTD_IRTE_HI_RSVD	GENMASK_ULL(63, 20)
#define VTD_IRTE_POSTED_LO_URG	BIT_ULL(14)
#define VTD_IRTE_POSTED_LO_PDA	GENMASK_ULL(63, 38)	/* descriptor address 31:6 */
#define VTD_IRTE_POSTED_LO_RSVD	(GENMASK_ULL(7, 2) | GENMASK_ULL(13, 12) | GENMASK_ULL(37, 24))
#define VTD_IRTE_POSTED_HI_PDA	GENMASK_ULL(63, 32)	/* descriptor address 63:32 */
#define VTD_IRTE_POSTED_HI_RSVD	GENMASK_ULL(31, 20)
#define VTD_SVT_NONE		0
#define VTD_SVT_SID_SQ		1
#define VTD_SVT_BUS_RANGE	2
#define VTD_SQ_ALL		0			/* all 16 bits of the source-id count */
#define VTD_DLM_FIXED		0
#define VTD_DLM_LOWEST		1
#define VTD_DLM_SMI		2
#define VTD_DLM_NMI		4
#define VTD_DLM_INIT		5
#define VTD_DLM_EXTINT		7

/* Posted-interrupt descriptor, 9.11: 64 bytes, 64-byte aligned */
struct vtd_pid {
	u64 pir[4];		/* bit v: vector v is requested */
	u64 control;
	u64 reserved[3];
};
_Static_assert(sizeof(struct vtd_pid) == 64, "9.11: 64 bytes");
_Static_assert(offsetof(struct vtd_pid, control) == 32, "9.11: ON is bit 256");

#define VTD_PID_ALIGN		64
#define VTD_PID_CONTROL		32			/* byte offset of the control word */
#define VTD_PID_ON		BIT_ULL(0)		/* descriptor bit 256 */
#define VTD_PID_SN		BIT_ULL(1)		/* 257 */
#define VTD_PID_NV		GENMASK_ULL(23, 16)	/* 279:272 */
#define VTD_PID_NDST		GENMASK_ULL(63, 32)	/* 319:288, x2APIC id */
#define VTD_PID_NDST_XAPIC	GENMASK_ULL(47, 40)	/* 303:296, the rest of NDST is reserved then */
#define VTD_PID_RSVD		(GENMASK_ULL(15, 2) | GENMASK_ULL(31, 24))

/* Invalidation descriptors, 6.5.2: 128 bits, or these and 128 bits of zeros (IQA.DW) */
#define VTD_QI_TYPE		GENMASK_ULL(3, 0)
#define VTD_QI_CONTEXT		1
#define VTD_QI_IOTLB		2
#define VTD_QI_DEV_IOTLB	3
#define VTD_QI_IEC		4
#define VTD_QI_WAIT		5
#define VTD_QI_PASID_IOTLB	6			/* of 256 bits only, as the next */
#define VTD_QI_PASID_CACHE	7

#define VTD_QI_CTX_LO_G		GENMASK_ULL(5, 4)	/* VTD_GRAN_* */
#define VTD_QI_CTX_LO_DID	GENMASK_ULL(31, 16)
#define VTD_QI_CTX_LO_SID	GENMASK_ULL(47, 32)
#define VTD_QI_CTX_LO_FM	GENMASK_ULL(49, 48)
#define VTD_QI_CTX_LO_RSVD	(GENMASK_ULL(15, 6) | GENMASK_ULL(63, 50))

#define VTD_QI_IOTLB_LO_G	GENMASK_ULL(5, 4)	/* VTD_GRAN_* */
#define VTD_QI_IOTLB_LO_DW	BIT_ULL(6)
#define VTD_QI_IOTLB_LO_DR	BIT_ULL(7)
#define VTD_QI_IOTLB_LO_DID	GENMASK_ULL(31, 16)
#define VTD_QI_IOTLB_LO_RSVD	(GENMASK_ULL(15, 8) | GENMASK_ULL(63, 32))
#define VTD_QI_IOTLB_HI_AM	GENMASK_ULL(5, 0)	/* 2^AM pages */
#define VTD_QI_IOTLB_HI_IH	BIT_ULL(6)		/* only leaf entries were changed */
#define VTD_QI_IOTLB_HI_ADDR	GENMASK_ULL(63, 12)
#define VTD_QI_IOTLB_HI_RSVD	GENMASK_ULL(11, 7)

#define VTD_QI_IEC_LO_G		BIT_ULL(4)		/* 0: global, 1: index-selective */
#define VTD_QI_IEC_LO_IM	GENMASK_ULL(31, 27)	/* 2^IM entries */
#define VTD_QI_IEC_LO_IIDX	GENMASK_ULL(47, 32)
#define VTD_QI_IEC_LO_RSVD	(GENMASK_ULL(26, 5) | GENMASK_ULL(63, 48))

#define VTD_QI_WAIT_LO_IF	BIT_ULL(4)		/* interrupt on completion */
#define VTD_QI_WAIT_LO_SW	BIT_ULL(5)		/* write status data */
#define VTD_QI_WAIT_LO_FN	BIT_ULL(6)		/* fence */
#define VTD_QI_WAIT_LO_DATA	GENMASK_ULL(63, 32)
#define VTD_QI_WAIT_LO_RSVD	GENMASK_ULL(31, 7)
#define VTD_QI_WAIT_HI_ADDR	GENMASK_ULL(63, 2)
#define VTD_QI_WAIT_HI_RSVD	GENMASK_ULL(1, 0)

/* PASID-based IOTLB invalidation, 6.5.2.4 */
#define VTD_QI_PIOTLB_LO_G	GENMASK_ULL(5, 4)
#define VTD_QI_PIOTLB_LO_RSVD	(GENMASK_ULL(15, 6) | GENMASK_ULL(63, 52))
#define VTD_QI_PIOTLB_LO_DID	GENMASK_ULL(31, 16)
#define VTD_QI_PIOTLB_LO_PASID	GENMASK_ULL(51, 32)
#define VTD_QI_PIOTLB_PASID	2			/* all of the PASID */
#define VTD_QI_PIOTLB_PAGE	3			/* pages of it: address, mask and hint as in VTD_QI_IOTLB_HI_* */

/* PASID-cache invalidation, 6.5.2.2 */
#define VTD_QI_PC_LO_G		GENMASK_ULL(5, 4)
#define VTD_QI_PC_LO_RSVD	(GENMASK_ULL(15, 6) | GENMASK_ULL(63, 52))
#define VTD_QI_PC_LO_DID	GENMASK_ULL(31, 16)
#define VTD_QI_PC_LO_PASID	GENMASK_ULL(51, 32)
#define VTD_QI_PC_DOMAIN	0
#define VTD_QI_PC_PASID		1			/* within the domain */
#define VTD_QI_PC_GLOBAL	3

/* Fault reasons, 7.1.3 */
#define VTD_FR_ROOT_NOT_PRESENT		0x01
#define VTD_FR_CONTEXT_NOT_PRESENT	0x02
#define VTD_FR_CONTEXT_INVALID		0x03
#define VTD_FR_ADDR_BEYOND_MGAW		0x04
#define VTD_FR_WRITE			0x05
#define VTD_FR_READ			0x06
#define VTD_FR_PAGING_ACCESS		0x07
#define VTD_FR_ROOT_ACCESS		0x08
#define VTD_FR_CONTEXT_ACCESS		0x09
#define VTD_FR_ROOT_RSVD		0x0A
#define VTD_FR_CONTEXT_RSVD		0x0B
#define VTD_FR_PAGING_RSVD		0x0C
#define VTD_FR_TRANSLATION_TYPE		0x0D
#define VTD_FR_INTERRUPT_RANGE		0x0E
#define VTD_FR_IR_REQUEST_RSVD		0x20
#define VTD_FR_IR_INDEX			0x21
#define VTD_FR_IR_NOT_PRESENT		0x22
#define VTD_FR_IR_ACCESS		0x23
#define VTD_FR_IR_ENTRY_RSVD		0x24
#define VTD_FR_IR_COMPATIBILITY		0x25
#define VTD_FR_IR_SOURCE		0x26
#define VTD_FR_IR_PID_ACCESS		0x27
#define VTD_FR_IR_PID_RSVD		0x28
#define VTD_FR_ROOT_TABLE_MODE		0x30
/* In scalable mode, and of requests with PASID */
#define VTD_FR_PASID_IN_LEGACY_MODE	0x31
#define VTD_FR_SM_ROOT_ACCESS		0x38
#define VTD_FR_SM_ROOT_NOT_PRESENT	0x39
#define VTD_FR_SM_ROOT_RSVD		0x3A
#define VTD_FR_SM_CONTEXT_ACCESS	0x40
#define VTD_FR_SM_CONTEXT_NOT_PRESENT	0x41
#define VTD_FR_SM_CONTEXT_RSVD		0x42
#define VTD_FR_SM_PASID_DISABLED	0x45	/* PASIDE is 0 */
#define VTD_FR_SM_PASID_TOO_LARGE	0x46	/* beyond the directory */
#define VTD_FR_SM_RID_PASID		0x48
#define VTD_FR_SM_DIR_ACCESS		0x50
#define VTD_FR_SM_DIR_NOT_PRESENT	0x51
#define VTD_FR_SM_DIR_RSVD		0x52
#define VTD_FR_SM_PASID_ACCESS		0x58
#define VTD_FR_SM_PASID_NOT_PRESENT	0x59
#define VTD_FR_SM_PASID_RSVD		0x5A
#define VTD_FR_SM_PASID_INVALID		0x5B
#define VTD_FR_SM_PAGING_ACCESS		0x78	/* second stage */
#define VTD_FR_SM_PAGING_RSVD		0x7A
#define VTD_FR_SM_TABLE_POINTER		0x7B	/* the PASID entry's SSPTPTR leads nowhere */
#define VTD_FR_SM_ADDR_BEYOND_MGAW	0x83
#define VTD_FR_SM_ADDR_BEYOND_AW	0x84
#define VTD_FR_SM_WRITE			0x85
#define VTD_FR_SM_READ			0x86
#define VTD_FR_SM_INTERRUPT_RANGE	0x87

#endif
