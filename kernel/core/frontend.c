// SPDX-License-Identifier: GPL-2.0
/* The frontend's life: probe, bring-up, memory registration, the end. */

#include "frontend.h"
#include "frontend_check.h"
#include "pci.h"

#define FE_CAPS_MAX	48u	/* a capability list that loops ends here */

int liov_frontend_probe(struct port_guest *g)
{
	u32 off, i;

	if (port_guest_cfg_rd32(g, PCIS_REVISION) >> 8 != LIOV_PCI_CLASS)
		return -ENODEV;
	off = port_guest_cfg_rd32(g, PCIS_CAP_POINTER) & 0xFC;
	for (i = 0; i < FE_CAPS_MAX && off >= 0x40; i++) {
		u32 head = port_guest_cfg_rd32(g, off);

		if ((head & 0xFF) == PCIS_CAP_ID_VENDOR && port_guest_cfg_rd32(g, off + 4) == LIOV_VNDR_SIGNATURE)
			return 0;
		off = (head >> 8) & 0xFC;
	}
	return -ENODEV;
}

/* Copied once, then only the copy is looked at; whatever the page says stays inside the BAR. */
static int fe_read_info(struct liov_frontend *fe)
{
	struct liov_info *info = &fe->info;
	u32 i;

	port_shm_copy_in(&fe->cmb, LIOV_CMB_INFO, info, sizeof(*info));
	if (info->magic != LIOV_INFO_MAGIC || info->major != LIOV_ABI_MAJOR)
		return -ENODEV;
	if (info->nr_queues == 0 || info->nr_queues > LIOV_VM_QUEUES_MAX)
		return -EINVAL;
	for (i = 0; i < info->nr_queues; i++) {
		const struct liov_info_queue *q = &info->queue[i];

		if (q->depth_max < 2 || q->depth_max > LIOV_QUEUE_DEPTH_MAX)
			return -EINVAL;
		if (!liov_range_inside(0, fe->cmb_size, q->sq, q->depth_max * 64u) ||
		    !liov_range_inside(0, fe->cmb_size, q->cq, q->depth_max * 16u))
			return -EINVAL;
		if ((info->flags & LIOV_INFO_DOORBELLS) &&
		    (!liov_range_inside(0, fe->cmb_size, q->sq_doorbell, 4) ||
		     !liov_range_inside(0, fe->cmb_size, q->cq_doorbell, 4)))
			return -EINVAL;
	}
	return 0;
}

static int fe_identify(struct liov_frontend *fe)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_IDENTIFY, .cdw10 = NVME_CNS_CTRL };
	u32 d = FE_ADMIN_DATA;
	u8 byte[4];
	int ret;

	sqe.prp1 = fe_admin_data_gpa(fe).v;
	ret = liov_frontend_admin(fe, &sqe, NULL);
	if (ret)
		return ret < 0 ? ret : -EIO;
	port_shm_copy_in(&fe->admin, d + NVME_ID_CTRL_MDTS, byte, 1);
	fe->mdts_bytes = byte[0] && byte[0] < 16 ? 4096u << byte[0] : 0;
	port_shm_copy_in(&fe->admin, d + NVME_ID_CTRL_ONCS, &fe->oncs, 2);
	port_shm_copy_in(&fe->admin, d + NVME_ID_CTRL_VWC, byte, 1);
	fe->write_cache = byte[0] & 1;
	port_shm_copy_in(&fe->admin, d + NVME_ID_CTRL_SN, fe->serial, 20);

	sqe = (struct nvme_sqe){ .opcode = NVME_ADM_IDENTIFY, .nsid = 1, .cdw10 = NVME_CNS_NS };
	sqe.prp1 = fe_admin_data_gpa(fe).v;
	ret = liov_frontend_admin(fe, &sqe, NULL);
	if (ret)
		return ret < 0 ? ret : -EIO;
	port_shm_copy_in(&fe->admin, d + NVME_ID_NS_NSZE, &fe->blocks, 8);
	port_shm_copy_in(&fe->admin, d + NVME_ID_NS_LBAF0, byte, 4);
	fe->lba_shift = byte[2];
	if (fe->lba_shift < 9 || fe->lba_shift > 12)
		return -EINVAL;
	return 0;
}

static int fe_set_queues(struct liov_frontend *fe)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_SET_FEATURES, .cdw10 = NVME_FEAT_NUM_QUEUES };
	u32 want = fe->cfg.nr_queues && fe->cfg.nr_queues < fe->info.nr_queues ? fe->cfg.nr_queues : fe->info.nr_queues;
	u32 dw0, granted;
	int ret;

	sqe.cdw11 = (want - 1) | (want - 1) << 16;
	ret = liov_frontend_admin(fe, &sqe, &dw0);
	if (ret)
		return ret < 0 ? ret : -EIO;
	granted = ((dw0 & 0xFFFF) < dw0 >> 16 ? dw0 & 0xFFFF : dw0 >> 16) + 1;
	fe->nr_queues = granted < want ? granted : want;
	return 0;
}

static int fe_memory_command(struct liov_frontend *fe, u8 opcode, gpa_t gpa, u64 len_bytes)
{
	struct nvme_sqe sqe = { .opcode = opcode };

	sqe.cdw10 = (u32)gpa.v;
	sqe.cdw11 = (u32)(gpa.v >> 32);
	sqe.cdw12 = (u32)len_bytes;
	sqe.cdw13 = (u32)(len_bytes >> 32);
	return liov_frontend_admin(fe, &sqe, NULL);
}

/*
 * @next holds from now on: queue by queue, so that a submitter holds no lock but its own. Submitters
 * look under it: once it was ours, nobody stands between a look at the old table and its doorbell.
 * A queue that was never started has no lock yet.
 */
static void fe_memory_switch(struct liov_frontend *fe, struct liov_fe_memory *next)
{
	u32 i;

	fe->mem = next;
	for (i = 0; fe->queue && i < fe->nr_queues; i++) {
		struct liov_fe_queue *q = &fe->queue[i];
		unsigned long flags;

		if (!q->fe)
			continue;
		flags = port_lock_irqsave(&q->lock);
		q->mem = next;
		port_unlock_irqrestore(&q->lock, flags);
	}
}

/* The table that does not hold, as a copy of the one that does. */
static struct liov_fe_memory *fe_memory_copy(struct liov_frontend *fe)
{
	struct liov_fe_memory *next = fe->mem == &fe->memory[0] ? &fe->memory[1] : &fe->memory[0];

	*next = *fe->mem;
	return next;
}

static void fe_remember_memory(struct liov_frontend *fe, u64 gpa, u64 len)
{
	struct liov_fe_memory *next = fe_memory_copy(fe);

	next->range[next->nr++] = (struct liov_range){ gpa, len };
	fe_memory_switch(fe, next);
}

int liov_frontend_mem_register(struct liov_frontend *fe, gpa_t gpa, u64 len_bytes)
{
	int ret = -ENOSPC;

	port_mutex_lock(&fe->mem_lock);
	if (fe->mem->nr < LIOV_FE_RANGES_MAX)
		ret = fe_memory_command(fe, LIOV_ADM_MEM_REGISTER, gpa, len_bytes);
	if (ret == 0)
		fe_remember_memory(fe, gpa.v, len_bytes);
	port_mutex_unlock(&fe->mem_lock);
	return ret;
}

/* Forget [gpa, gpa + len) before the device is told: nothing new may name it. */
static int fe_forget_memory(struct liov_frontend *fe, u64 gpa, u64 len)
{
	struct liov_fe_memory *next = fe_memory_copy(fe);
	u32 i;

	for (i = 0; i < next->nr; i++) {
		struct liov_range r = next->range[i];

		if (!liov_range_inside(r.start, r.count, gpa, len))
			continue;
		if (gpa > r.start && gpa + len < r.start + r.count && next->nr == LIOV_FE_RANGES_MAX)
			return -ENOSPC;
		next->range[i] = next->range[--next->nr];
		if (gpa > r.start)
			next->range[next->nr++] = (struct liov_range){ r.start, gpa - r.start };
		if (gpa + len < r.start + r.count)
			next->range[next->nr++] = (struct liov_range){ gpa + len, r.start + r.count - gpa - len };
		fe_memory_switch(fe, next);
		return 0;
	}
	return -EINVAL;
}

int liov_frontend_mem_unregister(struct liov_frontend *fe, gpa_t gpa, u64 len_bytes)
{
	int ret;

	port_mutex_lock(&fe->mem_lock);
	ret = fe_forget_memory(fe, gpa.v, len_bytes);
	if (ret == 0)
		ret = fe_memory_command(fe, LIOV_ADM_MEM_UNREGISTER, gpa, len_bytes);
	port_mutex_unlock(&fe->mem_lock);
	return ret;
}

static int fe_register_all(struct liov_frontend *fe)
{
	u64 len;
	gpa_t gpa;
	u32 i;

	for (i = 0; port_guest_mem_range(fe->guest, i, &gpa, &len); i++) {
		int ret = liov_frontend_mem_register(fe, gpa, len);

		if (ret)
			return ret < 0 ? ret : -EIO;
	}
	return 0;
}

/* An event, or a reset of the shared controller: what was outstanding is lost, queues start anew. */
static void fe_reset_work(void *arg)
{
	struct liov_frontend *fe = arg;
	u32 i;

	if (!fe->live)
		return;
	if (fe->resets_seen) {
		fe->resets_seen = 0;
		fe->failed = false;
		for (i = 0; i < fe->nr_queues; i++)
			fe_queue_stop(fe, i);
		for (i = 0; i < fe->nr_queues; i++)
			if (fe_queue_restart(fe, i))
				fe->failed = true;
	}
	fe_admin_post_aer(fe);
}

/*
 * The queues' pages go with the controller's enable bit, so they are left alone before. Requests end
 * after it: while its queues stand the device may write to what they name. Memory goes back in the
 * reverse order.
 */
static void fe_undo(struct liov_frontend *fe)
{
	u32 i;

	fe->live = false;
	port_work_cancel_sync(&fe->reset_work);
	for (i = 0; fe->queue && i < fe->nr_queues; i++)
		if (fe->queue[i].has_lists)
			fe_queue_close(fe, i);
	fe_set_enable(fe, false);
	for (i = 0; fe->queue && i < fe->nr_queues; i++)
		if (fe->queue[i].has_lists)
			fe_queue_stop(fe, i);
	for (i = fe->queue ? fe->nr_queues : 0; i > 0; i--)
		fe_queue_free(fe, i - 1);
	fe_admin_stop(fe);
	/* A last event may have come in before its handler was gone. */
	port_work_cancel_sync(&fe->reset_work);
	port_free(fe->home, fe->queue);
	fe->queue = NULL;
	fe->nr_queues = 0;
	fe->mem->nr = 0;
}

static int fe_bring_up(struct liov_frontend *fe)
{
	u32 i;
	int ret;

	ret = fe_read_info(fe);
	if (ret == 0)
		ret = fe_identify(fe);
	if (ret == 0)
		ret = fe_set_queues(fe);
	if (ret == 0)
		ret = fe_register_all(fe);
	if (ret)
		return ret;
	fe->queue = port_alloc(fe->home, fe->nr_queues * sizeof(*fe->queue));
	if (!fe->queue)
		return -ENOMEM;
	for (i = 0; i < fe->nr_queues; i++) {
		ret = fe_queue_start(fe, i);
		if (ret)
			return ret;
	}
	return fe_admin_post_aer(fe);
}

int liov_frontend_start(struct liov_frontend *fe, struct port_guest *g, const struct liov_fe_config *cfg)
{
	u32 command;
	int ret;

	memset(fe, 0, sizeof(*fe));
	fe->guest = g;
	fe->home = port_guest_home(g);
	fe->cfg = *cfg;
	fe->mem = &fe->memory[0];
	port_mutex_init(fe->home, &fe->admin_lock);
	port_mutex_init(fe->home, &fe->mem_lock);
	port_event_init(fe->home, &fe->admin_done);
	port_work_init(fe->home, &fe->reset_work, fe_reset_work, fe);
	ret = port_guest_map(g, &fe->bar0, &fe->cmb, &fe->cmb_regs, &fe->cmb_gpa, &fe->cmb_size);
	if (ret)
		return ret;
	command = port_guest_cfg_rd32(g, PCIS_COMMAND) & 0xFFFF;
	port_guest_cfg_wr32(g, PCIS_COMMAND, command | PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER);
	ret = fe_admin_start(fe);
	if (ret) {
		port_work_cancel_sync(&fe->reset_work);
		return ret;
	}
	fe->live = true;
	ret = fe_bring_up(fe);
	if (ret)
		fe_undo(fe);
	return ret;
}

void liov_frontend_stop(struct liov_frontend *fe)
{
	if (fe->live)
		fe_undo(fe);
}
