// SPDX-License-Identifier: GPL-2.0
/*
 * The hostile guest kernel's tools: its own hand on the frontend's first queue, and the parameter
 * that starts a case and tells what came of it.
 */

#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "attack.h"
#include "attack_raw.h"

#define WAIT_US		10000000u
#define RESTART_US	10000000u
#define POLL_US		100u

struct attack_facts attack_facts;

#define FACT(name, type, text) \
	module_param_named(name, attack_facts.name, type, 0444); \
	MODULE_PARM_DESC(name, text)

FACT(own_lba, ullong, "first block of the attacker on the SSD");
FACT(victim_lba, ullong, "first block of the victim on the SSD");
FACT(victim_page, ullong, "IOVA of a page of the victim's memory");
FACT(victim_sq, ullong, "IOVA of the victim's submission queue");
FACT(victim_cq, ullong, "IOVA of the victim's completion queue");
FACT(admin_sq, ullong, "IOVA of the host's admin submission queue");
FACT(victim_qid, uint, "hardware queue of the victim");
FACT(victim_irte, uint, "interrupt remapping entry of the victim's queue");

static DEFINE_MUTEX(attack_lock);
static struct attack attack;	/* fe NULL: there is nothing to attack with */
static bool wanted;

void attack_say(struct attack *a, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	a->len += vscnprintf(a->report + a->len, sizeof(a->report) - a->len, fmt, args);
	va_end(args);
}

void attack_say_status(struct attack *a, u16 status)
{
	if (status == ATTACK_SILENT)
		attack_say(a, "status silent\n");
	else
		attack_say(a, "status %x/0x%02x\n", status >> 8, status & 0xff);
}

void attack_ring(struct attack *a, u32 qid, bool cq, u32 val)
{
	u32 off = qid * 8 + (cq ? 4 : 0);

	port_dma_wmb(a->fe->home);
	if (a->direct)
		port_mmio_wr32(&a->fe->cmb_regs, LIOV_CMB_DOORBELLS + off, val);
	else
		port_mmio_wr32(&a->fe->bar0, LIOV_BAR0_DOORBELLS + off, val);
}

static void ring_own(struct attack *a, bool cq, u32 val)
{
	struct liov_fe_queue *q = &a->fe->queue[0];

	port_dma_wmb(a->fe->home);
	port_mmio_wr32(q->doorbell_in_cmb ? &a->fe->cmb_regs : &a->fe->bar0, cq ? q->cq_doorbell : q->sq_doorbell, val);
}

void attack_submit(struct attack *a, struct nvme_sqe sqe)
{
	struct liov_fe_queue *q = &a->fe->queue[0];

	sqe.cid = ++a->cid;
	port_shm_copy_out(&a->fe->cmb, q->sq + q->sq_tail * (u32)sizeof(sqe), &sqe, sizeof(sqe));
	q->sq_tail = (q->sq_tail + 1) % q->entries;
	ring_own(a, false, q->sq_tail);
}

static bool next_cqe(struct attack *a, u64 *high)
{
	struct liov_fe_queue *q = &a->fe->queue[0];

	*high = port_shm_rd64(&a->fe->cmb, q->cq + q->cq_head * (u32)sizeof(struct nvme_cqe) + 8);
	if ((*high >> 48 & NVME_CQE_PHASE) != (u64)q->cq_phase)
		return false;
	port_dma_rmb(a->fe->home);
	q->cq_head = (q->cq_head + 1) % q->entries;
	q->cq_phase ^= q->cq_head == 0;
	ring_own(a, true, q->cq_head);
	return true;
}

u16 attack_wait(struct attack *a)
{
	u64 high;
	u32 us;

	for (us = 0; us < WAIT_US; us += POLL_US) {
		if (next_cqe(a, &high) && (u16)(high >> 32) == a->cid)
			return (u16)(high >> 49 & NVME_STATUS_CODE);
		port_sleep_ns(a->fe->home, POLL_US * 1000);
	}
	return ATTACK_SILENT;
}

/* From here on the queue's interrupt handler finds nothing of its own. The frontend makes it live again after a reset. */
static void take_queue(struct attack *a)
{
	struct liov_fe_queue *q = &a->fe->queue[0];
	unsigned long flags = port_lock_irqsave(&q->lock);

	q->live = false;
	port_unlock_irqrestore(&q->lock, flags);
}

/* The shared controller was reset: has the frontend made its queues again? */
static bool wait_queue(struct attack *a)
{
	u32 us;

	for (us = 0; us < RESTART_US && !READ_ONCE(a->fe->queue[0].live); us += POLL_US)
		port_sleep_ns(a->fe->home, POLL_US * 1000);
	return us < RESTART_US;
}

bool attack_wanted(void)
{
	return READ_ONCE(wanted);
}

int attack_run(struct liov_frontend *fe)
{
	struct attack *a = &attack;
	int err = -EBUSY;

	mutex_lock(&attack_lock);
	if (!a->fe) {
		memset(a, 0, sizeof(*a));
		err = port_guest_dma_alloc(fe->guest, ATTACK_PAGES, &a->mem, &a->gpa);
		if (!err)
			a->fe = fe;
		a->direct = fe->info.flags & LIOV_INFO_DOORBELLS;
	}
	mutex_unlock(&attack_lock);
	return err;
}

void attack_end(struct liov_frontend *fe)
{
	struct attack *a = &attack;

	mutex_lock(&attack_lock);
	if (a->fe == fe) {
		port_guest_dma_free(fe->guest, ATTACK_PAGES, &a->mem, a->gpa);
		a->fe = NULL;
	}
	mutex_unlock(&attack_lock);
}

static int attack_begin(const char *val, const struct kernel_param *kp)
{
	const struct attack_case *c = attack_cases;
	struct attack *a = &attack;
	int err = -ENODEV;

	if (sysfs_streq(val, "ready")) {
		WRITE_ONCE(wanted, true);
		return 0;
	}
	while (c->id && !sysfs_streq(val, c->id))
		c++;
	if (!c->id && !sysfs_streq(val, "again"))
		return -EINVAL;
	mutex_lock(&attack_lock);
	if (a->fe && (c->id || wait_queue(a))) {
		take_queue(a);
		a->len = 0;
		a->report[0] = 0;
		if (c->id)
			c->run(a);
		err = 0;
	}
	mutex_unlock(&attack_lock);
	return err;
}

/* What the last case saw. */
static int attack_report(char *buf, const struct kernel_param *kp)
{
	int len;

	mutex_lock(&attack_lock);
	len = sysfs_emit(buf, "%s", attack.report);
	mutex_unlock(&attack_lock);
	return len;
}

static const struct kernel_param_ops attack_ops = { .set = attack_begin, .get = attack_report };
module_param_cb(attack, &attack_ops, NULL, 0600);
MODULE_PARM_DESC(attack, "ready: no disk, but attacks; then a case's name, or again after a reset; read: what it saw");
