/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_DEVICE_H
#define LIOV_CORE_DEVICE_H

/*
 * The virtual NVMe function, between its own files. All state is virtual: no access and no
 * command of a guest is ever passed on to the physical function. Everything here is called
 * under the VM's lock, in process context.
 */

#include "internal.h"

#define DEVICE_ACL	3u	/* Abort Command Limit, 0's based */
#define DEVICE_CQ_BYTES	16u
#define DEVICE_SQ_BYTES	64u

/* What a command handler returns besides a status: no completion yet (an AER). */
#define DEVICE_DEFERRED	0x8000u

static inline bool liov_device_mediated(const struct liov_vm *vm)
{
	return vm->be->cfg.policy == LIOV_POLICY_MEDIATED;
}

static inline u32 liov_device_vectors(const struct liov_vm *vm)
{
	return vm->cfg.nr_vectors ? vm->cfg.nr_vectors : vm->cfg.nr_queues + 1;
}

static inline void liov_device_deny(struct liov_vm *vm, u32 code, u64 a, u64 b)
{
	liov_deny(vm->be, LIOV_DEVICE, vm->cfg.id, code, a, b);
}

static inline void liov_device_put16(u8 *bytes, u32 off, u32 val)
{
	bytes[off] = (u8)(val & 0xff);
	bytes[off + 1] = (u8)(val >> 8 & 0xff);
}

static inline void liov_device_put32(u8 *bytes, u32 off, u32 val)
{
	liov_device_put16(bytes, off, val);
	liov_device_put16(bytes, off + 2, val >> 16);
}

static inline void liov_device_put64(u8 *bytes, u32 off, u64 val)
{
	liov_device_put32(bytes, off, (u32)val);
	liov_device_put32(bytes, off + 4, (u32)(val >> 32));
}

/* device.c */
/* Entries a queue may have: ours and the physical controller's limit. */
u32 liov_device_depth_max(const struct liov_vm *vm);
/* Controller level reset (Base 3.7.2): queues, events, features and registered memory are gone. */
void liov_device_controller_reset(struct liov_vm *vm);
/* The same, and the registers that only a function level reset touches. */
void liov_device_function_reset(struct liov_vm *vm);
/* The virtual controller's own memory can not be reached: CSTS.CFS, and nothing more is processed. */
void liov_device_fatal(struct liov_vm *vm, u64 addr, u64 len);
bool liov_device_running(const struct liov_vm *vm);

/* device_pci.c */
void liov_device_config_reset(struct liov_vm *vm);
u64 liov_device_bar(const struct liov_vm *vm, u32 bar);
u16 liov_device_msix_control(const struct liov_vm *vm);

/* device_msix.c */
void liov_device_msix_reset(struct liov_vm *vm);
/* Enable or function mask changed: every vector is looked at again. */
void liov_device_msix_changed(struct liov_vm *vm);
u32 liov_device_msix_rd(struct liov_vm *vm, u32 off);
void liov_device_msix_wr(struct liov_vm *vm, u32 off, u32 val);

/* device_admin.c */
/* The virtual admin doorbells. */
void liov_device_admin_doorbell(struct liov_vm *vm, bool cq, u32 val);
bool liov_device_admin_cq_full(const struct liov_vm *vm);
void liov_device_admin_post(struct liov_vm *vm, u16 cid, u16 status, u32 dw0);
/* A reply is built in dev.data, which had another. */
void liov_device_reply_clear(struct liov_vm *vm);
/* Reply of @len bytes in dev.data to the command's PRPs; @asked is the transfer length the PRPs are laid out for. */
u16 liov_device_reply(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 len, u64 asked);

/* device_event.c */
u16 liov_device_aer(struct liov_vm *vm, const struct nvme_sqe *sqe);
u16 liov_device_abort(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 nth, u32 *dw0);
/* Complete AERs with what waits, as far as the admin CQ has room. */
void liov_device_events_deliver(struct liov_vm *vm);
/* The log page @lid was read: its events may be reported again. */
void liov_device_events_unmask(struct liov_vm *vm, u32 lid);

/* device_identify.c, device_log.c, device_features.c, device_queue.c: a command each */
u16 liov_device_identify(struct liov_vm *vm, const struct nvme_sqe *sqe);
u16 liov_device_get_log(struct liov_vm *vm, const struct nvme_sqe *sqe);
void liov_device_features_reset(struct liov_vm *vm);
u16 liov_device_set_features(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 *dw0);
u16 liov_device_get_features(struct liov_vm *vm, const struct nvme_sqe *sqe, u32 *dw0);
u16 liov_device_create_cq(struct liov_vm *vm, const struct nvme_sqe *sqe);
u16 liov_device_create_sq(struct liov_vm *vm, const struct nvme_sqe *sqe);
u16 liov_device_delete_cq(struct liov_vm *vm, const struct nvme_sqe *sqe);
u16 liov_device_delete_sq(struct liov_vm *vm, const struct nvme_sqe *sqe);
void liov_device_queues_reset(struct liov_vm *vm);
/* Is @addr in the CMB as this guest sees it (BAR, or CMBMSC.CBA)? Then its offset. */
bool liov_device_cmb_offset(const struct liov_vm *vm, u64 addr, u64 *off);
/* I/O commands this VM is offered: bits of ONCS. */
u16 liov_device_oncs(const struct liov_vm *vm);
/* Maximum data transfer: 4 KiB << this, 0: unlimited. */
u32 liov_device_mdts(const struct liov_vm *vm);

#endif
