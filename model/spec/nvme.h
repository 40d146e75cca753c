/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_SPEC_NVME_H
#define MODEL_SPEC_NVME_H

/*
 * NVMe as constants and layouts: NVM Express Base Specification 2.0 ("Base"), NVM Command
 * Set 1.0 ("NVM"), NVMe over PCIe Transport 1.0 ("PCIe"). Section numbers are theirs.
 */

#include "spec_types.h"

/* Registers, Base 3.1.3 */
#define NVME_REG_CAP		0x00
#define NVME_REG_VS		0x08
#define NVME_REG_INTMS		0x0C
#define NVME_REG_INTMC		0x10
#define NVME_REG_CC		0x14
#define NVME_REG_CSTS		0x1C
#define NVME_REG_NSSR		0x20
#define NVME_REG_AQA		0x24
#define NVME_REG_ASQ		0x28
#define NVME_REG_ACQ		0x30
#define NVME_REG_CMBLOC		0x38
#define NVME_REG_CMBSZ		0x3C
#define NVME_REG_CMBMSC		0x50
#define NVME_REG_CMBSTS		0x58
#define NVME_REG_DBS		0x1000

#define NVME_CAP_MQES		GENMASK_ULL(15, 0)
#define NVME_CAP_CQR		BIT_ULL(16)
#define NVME_CAP_AMS		GENMASK_ULL(18, 17)
#define NVME_CAP_TO		GENMASK_ULL(31, 24)	/* units of 500 ms */
#define NVME_CAP_DSTRD		GENMASK_ULL(35, 32)
#define NVME_CAP_NSSRS		BIT_ULL(36)
#define NVME_CAP_CSS		GENMASK_ULL(44, 37)
#define NVME_CAP_CSS_NVM	BIT_ULL(37)
#define NVME_CAP_MPSMIN		GENMASK_ULL(51, 48)
#define NVME_CAP_MPSMAX		GENMASK_ULL(55, 52)
#define NVME_CAP_CMBS		BIT_ULL(57)

#define NVME_VS_1_4		0x00010400

#define NVME_CC_EN		BIT_ULL(0)
#define NVME_CC_CSS		GENMASK_ULL(6, 4)
#define NVME_CC_MPS		GENMASK_ULL(10, 7)
#define NVME_CC_AMS		GENMASK_ULL(13, 11)
#define NVME_CC_SHN		GENMASK_ULL(15, 14)
#define NVME_CC_IOSQES		GENMASK_ULL(19, 16)
#define NVME_CC_IOCQES		GENMASK_ULL(23, 20)
#define NVME_CC_IOSQES_64	6
#define NVME_CC_IOCQES_16	4

#define NVME_CSTS_RDY		BIT_ULL(0)
#define NVME_CSTS_CFS		BIT_ULL(1)
#define NVME_CSTS_SHST		GENMASK_ULL(3, 2)
#define NVME_CSTS_NSSRO		BIT_ULL(4)
#define NVME_SHST_NORMAL	0
#define NVME_SHST_OCCURRING	1
#define NVME_SHST_COMPLETE	2

#define NVME_AQA_ASQS		GENMASK_ULL(11, 0)
#define NVME_AQA_ACQS		GENMASK_ULL(27, 16)

#define NVME_CMBLOC_BIR		GENMASK_ULL(2, 0)
#define NVME_CMBLOC_CDPCILS	BIT_ULL(6)	/* lists may lie in the CMB whatever the queue's place */
#define NVME_CMBLOC_OFST	GENMASK_ULL(31, 12)
#define NVME_CMBSZ_SQS		BIT_ULL(0)
#define NVME_CMBSZ_CQS		BIT_ULL(1)
#define NVME_CMBSZ_LISTS	BIT_ULL(2)
#define NVME_CMBSZ_RDS		BIT_ULL(3)
#define NVME_CMBSZ_WDS		BIT_ULL(4)
#define NVME_CMBSZ_SZU		GENMASK_ULL(11, 8)
#define NVME_CMBSZ_SZ		GENMASK_ULL(31, 12)
#define NVME_CMBMSC_CRE		BIT_ULL(0)
#define NVME_CMBMSC_CMSE	BIT_ULL(1)
#define NVME_CMBMSC_CBA		GENMASK_ULL(63, 12)
#define NVME_CMBSTS_CBAI	BIT_ULL(0)

/* Submission queue entry, Base 3.3.3.1 */
struct nvme_sqe {
	u8 opcode;
	u8 flags;		/* FUSE 1:0, PSDT 7:6 */
	u16 cid;
	u32 nsid;
	u32 cdw2, cdw3;
	u64 mptr;
	u64 prp1, prp2;
	u32 cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};
_Static_assert(sizeof(struct nvme_sqe) == 64, "Base 3.3.3.1: 64 bytes");

#define NVME_SQE_FUSE		GENMASK_ULL(1, 0)
#define NVME_SQE_PSDT		GENMASK_ULL(7, 6)

#define NVME_PSDT_PRP		0
#define NVME_PSDT_RESERVED	3

/* SGL descriptor, Base 4.1.2; the first of a command takes the place of PRP1 and PRP2. */
struct nvme_sgl_desc {
	u64 addr;
	u32 length;
	u8 reserved[3];
	u8 id;			/* type 7:4, sub type 3:0 */
};
_Static_assert(sizeof(struct nvme_sgl_desc) == 16, "Base 4.1.2: 16 bytes");
#define NVME_SGL_DATA		0x00	/* ids with sub type 0: an address */
#define NVME_SGL_SEGMENT	0x20
#define NVME_SGL_LAST_SEGMENT	0x30
#define NVME_SGLS_SUPPORTED	1

/* Completion queue entry, Base 3.3.3.2 */
struct nvme_cqe {
	u32 dw0, dw1;
	u16 sqhd, sqid;
	u16 cid;
	u16 status;		/* phase 0, SC 8:1, SCT 11:9, CRD 13:12, M 14, DNR 15 */
};
_Static_assert(sizeof(struct nvme_cqe) == 16, "Base 3.3.3.2: 16 bytes");

#define NVME_CQE_PHASE		0x0001
#define NVME_CQE_SC		GENMASK_ULL(8, 1)
#define NVME_CQE_SCT		GENMASK_ULL(11, 9)
#define NVME_CQE_MORE		0x4000
#define NVME_CQE_DNR		0x8000

/* A status as one number: SCT << 8 | SC, with NVME_DNR where retrying is pointless. */
#define NVME_STATUS(sct, sc)	((sct) << 8 | (sc))
#define NVME_DNR		0x4000
#define NVME_STATUS_CODE	0x07FF	/* without NVME_DNR */

#define NVME_SC_SUCCESS			NVME_STATUS(0, 0x00)
#define NVME_SC_INVALID_OPCODE		NVME_STATUS(0, 0x01)
#define NVME_SC_INVALID_FIELD		NVME_STATUS(0, 0x02)
#define NVME_SC_CID_CONFLICT		NVME_STATUS(0, 0x03)
#define NVME_SC_DATA_TRANSFER		NVME_STATUS(0, 0x04)
#define NVME_SC_INTERNAL		NVME_STATUS(0, 0x06)
#define NVME_SC_ABORT_REQUESTED		NVME_STATUS(0, 0x07)
#define NVME_SC_ABORT_SQ_DELETION	NVME_STATUS(0, 0x08)
#define NVME_SC_INVALID_NSID		NVME_STATUS(0, 0x0B)
#define NVME_SC_SEQUENCE		NVME_STATUS(0, 0x0C)
#define NVME_SC_SGL_SEGMENT		NVME_STATUS(0, 0x0D)	/* invalid SGL segment descriptor */
#define NVME_SC_SGL_COUNT		NVME_STATUS(0, 0x0E)	/* invalid number of SGL descriptors */
#define NVME_SC_SGL_LENGTH		NVME_STATUS(0, 0x0F)	/* data SGL length invalid */
#define NVME_SC_SGL_TYPE		NVME_STATUS(0, 0x11)	/* SGL descriptor type invalid */
#define NVME_SC_INVALID_CMB_USE		NVME_STATUS(0, 0x12)
#define NVME_SC_INVALID_PRP_OFFSET	NVME_STATUS(0, 0x13)
#define NVME_SC_HOST_ID_FORMAT		NVME_STATUS(0, 0x18)	/* host identifier inconsistent format */
#define NVME_SC_LBA_RANGE		NVME_STATUS(0, 0x80)
#define NVME_SC_CAPACITY		NVME_STATUS(0, 0x81)
#define NVME_SC_RESERVATION		NVME_STATUS(0, 0x83)	/* reservation conflict */
#define NVME_SC_CQ_INVALID		NVME_STATUS(1, 0x00)
#define NVME_SC_QID_INVALID		NVME_STATUS(1, 0x01)
#define NVME_SC_QSIZE_INVALID		NVME_STATUS(1, 0x02)
#define NVME_SC_ABORT_LIMIT		NVME_STATUS(1, 0x03)
#define NVME_SC_AER_LIMIT		NVME_STATUS(1, 0x05)
#define NVME_SC_VECTOR_INVALID		NVME_STATUS(1, 0x08)
#define NVME_SC_LOG_PAGE_INVALID	NVME_STATUS(1, 0x09)
#define NVME_SC_FORMAT_INVALID		NVME_STATUS(1, 0x0A)
#define NVME_SC_QUEUE_DELETION		NVME_STATUS(1, 0x0C)
#define NVME_SC_NOT_SAVEABLE		NVME_STATUS(1, 0x0D)
#define NVME_SC_NOT_CHANGEABLE		NVME_STATUS(1, 0x0E)
#define NVME_SC_NOT_NS_SPECIFIC		NVME_STATUS(1, 0x0F)
#define NVME_SC_NS_CAPACITY		NVME_STATUS(1, 0x15)	/* namespace insufficient capacity */
#define NVME_SC_NSID_UNAVAILABLE	NVME_STATUS(1, 0x16)
#define NVME_SC_NS_ATTACHED		NVME_STATUS(1, 0x18)	/* already */
#define NVME_SC_NS_NOT_ATTACHED		NVME_STATUS(1, 0x1A)
#define NVME_SC_CONTROLLER_LIST		NVME_STATUS(1, 0x1C)
#define NVME_SC_COPY_LIMIT		NVME_STATUS(1, 0x83)	/* command size limit exceeded */
#define NVME_SC_WRITE_FAULT		NVME_STATUS(2, 0x80)
#define NVME_SC_READ_ERROR		NVME_STATUS(2, 0x81)
#define NVME_SC_GUARD			NVME_STATUS(2, 0x82)	/* end-to-end checks, NVM 5.2.2.5 */
#define NVME_SC_APP_TAG			NVME_STATUS(2, 0x83)
#define NVME_SC_REF_TAG			NVME_STATUS(2, 0x84)
#define NVME_SC_COMPARE			NVME_STATUS(2, 0x85)

/* Admin opcodes, Base 5 */
#define NVME_ADM_DELETE_SQ	0x00
#define NVME_ADM_CREATE_SQ	0x01
#define NVME_ADM_GET_LOG_PAGE	0x02
#define NVME_ADM_DELETE_CQ	0x04
#define NVME_ADM_CREATE_CQ	0x05
#define NVME_ADM_IDENTIFY	0x06
#define NVME_ADM_ABORT		0x08
#define NVME_ADM_SET_FEATURES	0x09
#define NVME_ADM_GET_FEATURES	0x0A
#define NVME_ADM_AER		0x0C
#define NVME_ADM_NS_MANAGE	0x0D
#define NVME_ADM_NS_ATTACH	0x15
#define NVME_ADM_FORMAT		0x80

/* NVM opcodes, NVM 3.2 */
#define NVME_CMD_FLUSH		0x00
#define NVME_CMD_WRITE		0x01
#define NVME_CMD_READ		0x02
#define NVME_CMD_COMPARE	0x05
#define NVME_CMD_WRITE_ZEROES	0x08
#define NVME_CMD_DSM		0x09
#define NVME_CMD_RESV_REGISTER	0x0D
#define NVME_CMD_RESV_REPORT	0x0E
#define NVME_CMD_RESV_ACQUIRE	0x11
#define NVME_CMD_RESV_RELEASE	0x15
#define NVME_CMD_COPY		0x19

/* Create I/O CQ and SQ, Base 5.4, 5.5: CDW10 QID 15:0, QSIZE 31:16 */
#define NVME_QUEUE_PC		BIT_ULL(0)	/* CDW11 */
#define NVME_CQ_IEN		BIT_ULL(1)	/* CDW11 of Create CQ; vector in 31:16 */
#define NVME_CQ_IV		GENMASK_ULL(31, 16)
#define NVME_SQ_CQID		GENMASK_ULL(31, 16)

/* Read, Write ... CDW12, NVM 3.2.4 */
#define NVME_RW_NLB		GENMASK_ULL(15, 0)	/* 0's based */
#define NVME_RW_PRCHK_REF	BIT_ULL(26)
#define NVME_RW_PRCHK_APP	BIT_ULL(27)
#define NVME_RW_PRCHK_GUARD	BIT_ULL(28)
#define NVME_RW_PRACT		BIT_ULL(29)
#define NVME_RW_FUA		BIT_ULL(30)
#define NVME_WZ_DEAC		BIT_ULL(25)

/* Dataset Management, NVM 3.2.3 */
#define NVME_DSM_NR		GENMASK_ULL(7, 0)	/* CDW10, 0's based */
#define NVME_DSM_AD		BIT_ULL(2)		/* CDW11 */
struct nvme_dsm_range {
	u32 attributes;
	u32 nlb;		/* blocks, not 0's based */
	u64 slba;
};
_Static_assert(sizeof(struct nvme_dsm_range) == 16, "NVM 3.2.3: 16 bytes");
#define NVME_DSM_RANGES_MAX	256

/* Copy, NVM 3.2.2: CDW10, 11 are the destination; CDW12 has the number of ranges, 0's based, and their format */
#define NVME_COPY_NR		GENMASK_ULL(7, 0)
#define NVME_COPY_FORMAT	GENMASK_ULL(11, 8)
struct nvme_copy_range {
	u64 reserved0;
	u64 slba;
	u16 nlb;		/* 0's based */
	u16 reserved18;
	u32 reserved20, eilbrt;
	u16 elbat, elbatm;
};
_Static_assert(sizeof(struct nvme_copy_range) == 32, "NVM 3.2.2: format 0h, 32 bytes");

/* Reservations, Base 7.2 to 7.5: types, and CDW11 of Report */
#define NVME_RTYPE_NONE			0
#define NVME_RTYPE_WE			1	/* write exclusive: of one holder */
#define NVME_RTYPE_EA			2	/* exclusive access */
#define NVME_RTYPE_WE_REG		3	/* registrants only */
#define NVME_RTYPE_EA_REG		4
#define NVME_RTYPE_WE_ALL		5	/* all registrants hold it */
#define NVME_RTYPE_EA_ALL		6
#define NVME_REPORT_EDS			BIT_ULL(0)
/* RESCAP: the six types, and Ignore Existing Key as of 1.3; no persistence through power loss */
#define NVME_RESCAP_ALL_TYPES		0xFE

/* Format NVM, Base 5.14: CDW10 */
#define NVME_FORMAT_LBAF		GENMASK_ULL(3, 0)
#define NVME_FORMAT_PI			GENMASK_ULL(7, 5)
#define NVME_FORMAT_SES			GENMASK_ULL(11, 9)
#define NVME_FORMAT_SES_MAX		2

/* Namespace Management and Attachment, Base 5.23, 5.24: CDW10 */
#define NVME_NS_SEL			GENMASK_ULL(3, 0)	/* 0: create or attach, 1: delete or detach */
#define NVME_NSZE_MAX			(1ULL << 54)		/* 2^63 bytes: this model's */

/* What a host wants of a namespace, NVM 4.1.6: 4 KiB at PRP1. Where it shall lie is vendor specific: this model's own. */
struct nvme_ns_wish {
	u64 nsze, ncap;
	u8 reserved16[10];
	u8 flbas;
	u8 reserved27[2];
	u8 dps, nmic;
	u8 reserved31[993];
	u32 place_magic;	/* NVME_NS_PLACE_MAGIC: the next field counts */
	u32 reserved1028;
	u64 first_block;	/* of the medium */
	u8 reserved1040[3056];
};
_Static_assert(sizeof(struct nvme_ns_wish) == 4096, "NVM 4.1.6: 4 KiB");
_Static_assert(offsetof(struct nvme_ns_wish, flbas) == 26 && offsetof(struct nvme_ns_wish, dps) == 29, "NVM 4.1.6");
_Static_assert(offsetof(struct nvme_ns_wish, place_magic) == 1024, "vendor specific from here on");
#define NVME_NS_PLACE_MAGIC		0x31434C50u	/* "PLC1" */

/* Abort, Base 5.1: CDW10 */
#define NVME_ABORT_SQID			GENMASK_ULL(15, 0)
#define NVME_ABORT_CID			GENMASK_ULL(31, 16)
#define NVME_ABORT_NOT_DONE		0x1	/* CQE DW0 */

#define NVME_NSID_ALL			0xFFFFFFFFu

/* Features, Base 5.27 */
#define NVME_FEAT_ARBITRATION		0x01
#define NVME_FEAT_POWER			0x02
#define NVME_FEAT_TEMPERATURE		0x04
#define NVME_FEAT_ERROR_RECOVERY	0x05
#define NVME_FEAT_VOLATILE_WC		0x06
#define NVME_FEAT_NUM_QUEUES		0x07
#define NVME_FEAT_IRQ_COALESCE		0x08
#define NVME_FEAT_IRQ_CONFIG		0x09
#define NVME_FEAT_WRITE_ATOMIC		0x0A
#define NVME_FEAT_ASYNC_EVENT		0x0B
#define NVME_FEAT_HOST_ID		0x81
#define NVME_FEAT_HOST_ID_EXTENDED	BIT_ULL(0)	/* CDW11: 128 bits */
#define NVME_FEAT_SAVE			BIT_ULL(31)	/* Set Features CDW10 */
#define NVME_FEAT_SELECT		GENMASK_ULL(10, 8) /* Get Features CDW10 */

#define NVME_FEAT_FID			GENMASK_ULL(7, 0)
#define NVME_FEAT_SELECT_CURRENT	0
#define NVME_FEAT_SELECT_DEFAULT	1
#define NVME_FEAT_SELECT_SAVED		2
#define NVME_FEAT_SELECT_CAPS		3
#define NVME_FEAT_CAP_NS_SPECIFIC	0x2
#define NVME_FEAT_CAP_CHANGEABLE	0x4
#define NVME_FEAT_NQ_NSQ		GENMASK_ULL(15, 0)	/* 0's based */
#define NVME_FEAT_NQ_NCQ		GENMASK_ULL(31, 16)
#define NVME_FEAT_TEMP_SELECT		GENMASK_ULL(19, 16)
#define NVME_FEAT_TEMP_UNDER		GENMASK_ULL(21, 20)	/* 1: under, 0: over */
#define NVME_FEAT_IRQ_VECTOR		GENMASK_ULL(15, 0)
#define NVME_FEAT_IRQ_CD		BIT_ULL(16)	/* coalescing disable */

/* Logs, Base 5.16 */
#define NVME_LOG_LID			GENMASK_ULL(7, 0)	/* CDW10 */
#define NVME_LOG_RAE			BIT_ULL(15)		/* CDW10: retain asynchronous event */
#define NVME_LOG_NUMDL			GENMASK_ULL(31, 16)	/* CDW10; upper half in CDW11 15:0 */
#define NVME_LOG_OT			BIT_ULL(23)		/* CDW14 */
#define NVME_LOG_ERROR_ENTRY_SIZE	64
#define NVME_LOG_ERROR		0x01
#define NVME_LOG_SMART		0x02
#define NVME_LOG_FIRMWARE	0x03
#define NVME_LOG_CHANGED_NS	0x04
#define NVME_LOG_EFFECTS	0x05

/* Identify, Base 5.17: CNS in CDW10 7:0, CNTID 31:16 */
#define NVME_CNS_NS		0x00
#define NVME_CNS_CTRL		0x01
#define NVME_CNS_NS_LIST	0x02
#define NVME_CNS_NS_DESC	0x03

/* Byte offsets in Identify Controller, Base figure 275 */
#define NVME_ID_CTRL_VID	0
#define NVME_ID_CTRL_SSVID	2
#define NVME_ID_CTRL_SN		4	/* 20 bytes */
#define NVME_ID_CTRL_MN		24	/* 40 bytes */
#define NVME_ID_CTRL_FR		64	/* 8 bytes */
#define NVME_ID_CTRL_RAB	72
#define NVME_ID_CTRL_MDTS	77
#define NVME_ID_CTRL_CNTLID	78
#define NVME_ID_CTRL_VER	80
#define NVME_ID_CTRL_OAES	92
#define NVME_ID_CTRL_CNTRLTYPE	111
#define NVME_ID_CTRL_OACS	256
#define NVME_ID_CTRL_ACL	258
#define NVME_ID_CTRL_AERL	259
#define NVME_ID_CTRL_FRMW	260
#define NVME_ID_CTRL_LPA	261
#define NVME_ID_CTRL_ELPE	262
#define NVME_ID_CTRL_NPSS	263
#define NVME_ID_CTRL_WCTEMP	266
#define NVME_ID_CTRL_CCTEMP	268
#define NVME_ID_CTRL_TNVMCAP	280	/* 16 bytes, as the next */
#define NVME_ID_CTRL_UNVMCAP	296
#define NVME_ID_CTRL_SQES	512
#define NVME_ID_CTRL_CQES	513
#define NVME_ID_CTRL_NN		516
#define NVME_ID_CTRL_ONCS	520
#define NVME_ID_CTRL_FNA	524
#define NVME_ID_CTRL_VWC	525
#define NVME_ID_CTRL_SGLS	536
#define NVME_ID_CTRL_SUBNQN	768	/* 256 bytes */
#define NVME_ID_CTRL_PSD0	2048	/* power state 0 */
#define NVME_ID_CTRL_VS		3072	/* vendor specific area */

#define NVME_OACS_FORMAT	BIT_ULL(1)
#define NVME_OACS_NS_MANAGE	BIT_ULL(3)
#define NVME_LPA_EFFECTS	BIT_ULL(1)
#define NVME_LPA_EXTENDED	BIT_ULL(2)	/* NUMDU and LPO of Get Log Page */
#define NVME_VWC_PRESENT	BIT_ULL(0)
#define NVME_VWC_FLUSH_ALL	(3 << 1)	/* Flush takes NSID FFFFFFFFh */

#define NVME_ONCS_COMPARE	BIT_ULL(0)
#define NVME_ONCS_DSM		BIT_ULL(2)
#define NVME_ONCS_WRITE_ZEROES	BIT_ULL(3)
#define NVME_ONCS_RESERVATIONS	BIT_ULL(5)
#define NVME_ONCS_COPY		BIT_ULL(8)

/* Byte offsets in Identify Namespace, NVM figure 97 */
#define NVME_ID_NS_NSZE		0
#define NVME_ID_NS_NCAP		8
#define NVME_ID_NS_NUSE		16
#define NVME_ID_NS_NSFEAT	24
#define NVME_ID_NS_NLBAF	25
#define NVME_ID_NS_FLBAS	26
#define NVME_ID_NS_MC		27	/* bit 1: metadata in a separate buffer */
#define NVME_ID_NS_DPC		28	/* bits 2:0 types offered, 4: in the last bytes of the metadata */
#define NVME_ID_NS_DPS		29	/* bits 2:0: type of protection information, 0 none */
#define NVME_ID_NS_DLFEAT	33
#define NVME_ID_NS_RESCAP	31
#define NVME_ID_NS_MSSRL	74	/* Copy: blocks of a range, of a command, and ranges (0's based) */
#define NVME_ID_NS_MCL		76
#define NVME_ID_NS_MSRC		80
#define NVME_ID_NS_NGUID	104
#define NVME_ID_NS_EUI64	120
#define NVME_ID_NS_LBAF0	128	/* MS 15:0, LBADS 23:16, RP 25:24 */
#define NVME_ID_SIZE		4096

/* Asynchronous events, Base figure 146: type 2:0, information 15:8, log page 23:16 */
#define NVME_AEN_DOORBELL_REG	0x00010000u
#define NVME_AEN_DOORBELL_VALUE	0x00010100u

/*
 * Resource domains: after NVMePass (HPCA 2025), which publishes the idea and not the
 * encoding; this one is the model's own. Admin command 0xC1 binds to submission queue
 * CDW10 15:0 the 4 KiB structure at PRP1. A bound queue's commands are refused where they
 * name an LBA, namespace, opcode or DMA address outside, before any DMA outside. The
 * binding ends when the queue is deleted. CDW11 bit 0: 0 binds, 1 unbinds. Offered when
 * the Identify Controller vendor area starts with NVME_NRD_MAGIC.
 */
#define NVME_ADM_NRD_BIND	0xC1
#define NVME_NRD_UNBIND		BIT_ULL(0)	/* CDW11 */
#define NVME_NRD_MAGIC		0x3144524Eu	/* "NRD1" */
#define NVME_NRD_WINDOWS	32

struct nvme_nrd_window {
	u64 start, length;	/* LBAs: blocks; DMA: bytes. length 0: unused */
};

struct nvme_nrd {
	u32 magic;
	u32 nsid;		/* the one namespace the queue may name */
	u32 nr_lba, nr_dma;	/* windows used */
	u8 opcodes[32];		/* bit opcode: allowed */
	struct nvme_nrd_window lba[NVME_NRD_WINDOWS];
	struct nvme_nrd_window dma[NVME_NRD_WINDOWS]; /* each page's part of data, PRP list or SGL lies in one */
	u8 reserved[4096 - 48 - 2 * NVME_NRD_WINDOWS * 16];
};
_Static_assert(sizeof(struct nvme_nrd) == 4096, "one page at PRP1");

/*
 * Queues with a PASID, as Scalable I/O Virtualization wants an assignable interface to have: the
 * encoding is the model's own. Admin command 0xC2 binds queue CDW10 15:0, bit 16 set a completion
 * queue, to the PASID in CDW11 19:0: every memory request that the queue causes carries it.
 * CDW12, of a submission queue: the namespace that its commands may name, or 0: any.
 *
 * The queue does not exist yet: its next creation takes the binding, or drops it where it fails. So
 * no doorbell finds a queue that is there and not bound, and no command sees a binding change. A
 * later binding replaces one that waits, a controller reset drops it. Offered when the Identify
 * Controller vendor area has NVME_BIND_MAGIC in its second dword.
 */
#define NVME_ADM_QUEUE_BIND	0xC2
#define NVME_BIND_QID		GENMASK_ULL(15, 0)	/* CDW10 */
#define NVME_BIND_CQ		BIT_ULL(16)
#define NVME_BIND_RSVD10	GENMASK_ULL(31, 17)
#define NVME_BIND_PASID		GENMASK_ULL(19, 0)	/* CDW11 */
#define NVME_BIND_RSVD11	GENMASK_ULL(31, 20)
#define NVME_BIND_MAGIC		0x31445350u	/* "PSD1" */

#endif
