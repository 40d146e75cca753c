// SPDX-License-Identifier: GPL-2.0

#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mdevguest.h"
#include "pci.h"

#define ADMIN_SQ	0x10000u
#define ADMIN_CQ	0x11000u
#define ADMIN_DEPTH	16u
#define LARGE_PAGE	(2u << 20)
#define WAIT_US		30000000u

void check(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	printf("mdevtest: FAILED: %s:%d: %s (errno %d)\n", file, line, what, errno);
	fflush(stdout);
	_exit(1);
}

void await(u64 *us, const char *what, const char *file, int line)
{
	struct timespec now;
	u64 now_us;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now));
	now_us = (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000;
	if (!*us)
		*us = now_us;
	check(now_us - *us < WAIT_US, what, file, line);
	usleep(100);
}

/* --- VMM --- */

static u64 region(struct guest *g, u32 index, u64 size, u32 flags)
{
	struct vfio_region_info info = { .argsz = sizeof(info), .index = index };

	CHECK(!ioctl(g->device, VFIO_DEVICE_GET_REGION_INFO, &info));
	CHECK(info.flags == flags);
	CHECK(info.size == size);
	return info.offset;
}

static void map_dma(struct guest *g, volatile u8 *from, u64 iova, u64 size, bool map)
{
	struct vfio_iommu_type1_dma_map in = {
		.argsz = sizeof(in), .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (u64)from, .iova = iova, .size = size,
	};
	struct vfio_iommu_type1_dma_unmap out = { .argsz = sizeof(out), .iova = iova, .size = size };

	if (map) {
		CHECK(!ioctl(g->container, VFIO_IOMMU_MAP_DMA, &in));
	} else {
		CHECK(!ioctl(g->container, VFIO_IOMMU_UNMAP_DMA, &out));
		CHECK(out.size == size);
	}
}

void guest_map_half(struct guest *g, u32 half, bool map)
{
	u64 at = half * (RAM_BYTES / 2);

	map_dma(g, g->ram + at, at, RAM_BYTES / 2, map);
}

void guest_map_cmb(struct guest *g, bool map)
{
	map_dma(g, g->cmb, CMB_GPA, g->cmb_size, map);
}

/* Of large pages, as a VMM's is: contiguous and aligned also where the device sees it. */
static void map_ram(struct guest *g)
{
	u8 *at = mmap(NULL, RAM_BYTES + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	g->ram_map = at;
	g->ram = (u8 *)(((u64)at + LARGE_PAGE - 1) & ~(u64)(LARGE_PAGE - 1));
	CHECK(!madvise(g->ram, RAM_BYTES, MADV_HUGEPAGE));
	memset(g->ram, 0, RAM_BYTES);
}

static void open_container(struct guest *g)
{
	char path[128], link[256] = "";
	struct vfio_group_status status = { .argsz = sizeof(status) };

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group", g->uuid);
	CHECK(readlink(path, link, sizeof(link) - 1) > 0);
	snprintf(path, sizeof(path), "/dev/vfio/%s", strrchr(link, '/') + 1);
	g->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	g->group = open(path, O_RDWR | O_CLOEXEC);
	CHECK(g->container >= 0 && g->group >= 0);
	CHECK(!ioctl(g->group, VFIO_GROUP_GET_STATUS, &status) && (status.flags & VFIO_GROUP_FLAGS_VIABLE));
	CHECK(!ioctl(g->group, VFIO_GROUP_SET_CONTAINER, &g->container));
	CHECK(!ioctl(g->container, VFIO_SET_IOMMU, (unsigned long)VFIO_TYPE1v2_IOMMU));
	map_ram(g);
	guest_map_half(g, 0, true);
	guest_map_half(g, 1, true);
}

void guest_open(struct guest *g, const char *uuid)
{
	const u32 trapped = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct vfio_irq_info irq = { .argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX };

	memset(g, 0, sizeof(*g));
	g->uuid = uuid;
	open_container(g);
	g->device = ioctl(g->group, VFIO_GROUP_GET_DEVICE_FD, uuid);
	CHECK(g->device >= 0);
	CHECK(!ioctl(g->device, VFIO_DEVICE_GET_INFO, &info));
	CHECK(info.flags == (VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET));
	CHECK(info.num_regions == VFIO_PCI_NUM_REGIONS && info.num_irqs == VFIO_PCI_NUM_IRQS);
	g->cmb_size = LIOV_CMB_SIZE_MIN;
	g->config = region(g, VFIO_PCI_CONFIG_REGION_INDEX, 4096, trapped);
	g->bar0 = region(g, VFIO_PCI_BAR0_REGION_INDEX, LIOV_BAR0_SIZE, trapped);
	g->bar2 = region(g, VFIO_PCI_BAR2_REGION_INDEX, g->cmb_size, trapped | VFIO_REGION_INFO_FLAG_MMAP);
	CHECK(!ioctl(g->device, VFIO_DEVICE_GET_IRQ_INFO, &irq));
	CHECK(irq.count == VECTORS);
	CHECK(mmap(NULL, LIOV_BAR0_SIZE, PROT_READ, MAP_SHARED, g->device, (off_t)g->bar0) == MAP_FAILED);
	g->cmb = mmap(NULL, g->cmb_size, PROT_READ | PROT_WRITE, MAP_SHARED, g->device, (off_t)g->bar2);
	CHECK(g->cmb != MAP_FAILED);
}

void guest_close(struct guest *g)
{
	u32 v;

	CHECK(!munmap((void *)g->cmb, g->cmb_size));
	close(g->device);
	close(g->group);
	close(g->container);
	munmap(g->ram_map, RAM_BYTES + LARGE_PAGE);
	for (v = 0; v < VECTORS; v++)
		if (g->event[v] > 0)
			close(g->event[v]);
}

long long guest_attr(const struct guest *g, const char *name)
{
	char path[128], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/%s", g->uuid, name);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return atoll(text);
}

u32 guest_cfg_rd(struct guest *g, u32 off, u32 len)
{
	u32 val = 0;

	CHECK(pread(g->device, &val, len, (off_t)(g->config + off)) == (ssize_t)len);
	return val;
}

void guest_cfg_wr(struct guest *g, u32 off, u32 val, u32 len)
{
	CHECK(pwrite(g->device, &val, len, (off_t)(g->config + off)) == (ssize_t)len);
}

u32 guest_reg_rd(struct guest *g, u32 off)
{
	u32 val = 0;

	CHECK(pread(g->device, &val, 4, (off_t)(g->bar0 + off)) == 4);
	return val;
}

void guest_reg_wr(struct guest *g, u32 off, u64 val, u32 len)
{
	CHECK(pwrite(g->device, &val, len, (off_t)(g->bar0 + off)) == (ssize_t)len);
}

u32 guest_load(struct guest *g, u64 off)
{
	return *(volatile u32 *)(g->cmb + off);
}

u32 guest_asked(struct guest *g, u64 off)
{
	u32 val = 0;

	CHECK(pread(g->device, &val, 4, (off_t)(g->bar2 + off)) == 4);
	return val;
}

bool guest_touch(struct guest *g, u64 off, bool write)
{
	static u32 last = 0x5a000000;
	bool there;

	if (write)
		*(volatile u32 *)(g->cmb + off + 32) = ++last;
	there = guest_load(g, off) != ~0u;
	CHECK((guest_asked(g, off) != ~0u) == there);
	CHECK(!write || (guest_asked(g, off + 32) == last) == there);
	return there;
}

void guest_vector(struct guest *g, u32 vec, bool open)
{
	struct {
		struct vfio_irq_set set;
		int fd;
	} irq = { .set = { .argsz = sizeof(irq), .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
			   .index = VFIO_PCI_MSIX_IRQ_INDEX, .start = vec, .count = 1 }, .fd = open ? g->event[vec] : -1 };

	CHECK(!ioctl(g->device, VFIO_DEVICE_SET_IRQS, &irq));
}

u64 guest_interrupts(struct guest *g, u32 vec)
{
	u64 n = 0;

	return read(g->event[vec], &n, sizeof(n)) == sizeof(n) ? n : 0;
}

static void connect_interrupts(struct guest *g)
{
	struct {
		struct vfio_irq_set set;
		int fd[VECTORS];
	} irqs = { .set = { .argsz = sizeof(irqs), .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
			    .index = VFIO_PCI_MSIX_IRQ_INDEX, .count = VECTORS } };
	u32 v;

	for (v = 0; v < VECTORS; v++) {
		g->event[v] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		CHECK(g->event[v] > 0);
		irqs.fd[v] = g->event[v];
	}
	CHECK(!ioctl(g->device, VFIO_DEVICE_SET_IRQS, &irqs));
	irqs.set.start = 1;	/* one more than there is */
	CHECK(ioctl(g->device, VFIO_DEVICE_SET_IRQS, &irqs) < 0);
}

/* --- guest --- */

static u32 find_capability(struct guest *g, u32 id)
{
	u32 off = guest_cfg_rd(g, PCIS_CAP_POINTER, 1), i;

	for (i = 0; i < 48 && off; i++) {
		u32 head = guest_cfg_rd(g, off, 2);

		if ((head & 0xff) == id)
			return off;
		off = head >> 8;
	}
	CHECK(!"capability");
	return 0;
}

static void wait_ready(struct guest *g, bool ready)
{
	AWAIT((guest_reg_rd(g, NVME_REG_CSTS) & NVME_CSTS_RDY) == (ready ? NVME_CSTS_RDY : 0));
}

void guest_start(struct guest *g)
{
	u32 msix, i;

	CHECK(guest_cfg_rd(g, PCIS_VENDOR_ID, 2) == LIOV_PCI_VENDOR);
	CHECK(guest_cfg_rd(g, PCIS_REVISION, 4) >> 8 == LIOV_PCI_CLASS);
	CHECK(guest_cfg_rd(g, find_capability(g, PCIS_CAP_ID_VENDOR) + 4, 4) == LIOV_VNDR_SIGNATURE);
	guest_cfg_wr(g, PCIS_BAR(0), (u32)BAR0_GPA, 4);
	guest_cfg_wr(g, PCIS_BAR(1), 0, 4);
	guest_cfg_wr(g, PCIS_BAR(2), (u32)CMB_GPA, 4);
	guest_cfg_wr(g, PCIS_BAR(3), 0, 4);
	guest_cfg_wr(g, PCIS_COMMAND, PCIS_COMMAND_MEMORY | PCIS_COMMAND_MASTER, 2);
	msix = find_capability(g, PCIS_CAP_ID_MSIX) + PCIS_MSIX_CONTROL;
	CHECK(guest_cfg_rd(g, msix, 2) == VECTORS - 1);
	guest_cfg_wr(g, msix, PCIS_MSIX_ENABLE, 2);
	connect_interrupts(g);
	memset(g->ram + ADMIN_SQ, 0, 0x2000);
	g->admin_tail = g->admin_head = 0;
	g->admin_phase = true;
	guest_reg_wr(g, NVME_REG_CC, 0, 4);
	wait_ready(g, false);
	guest_reg_wr(g, NVME_REG_AQA, (ADMIN_DEPTH - 1) | (ADMIN_DEPTH - 1) << 16, 4);
	guest_reg_wr(g, NVME_REG_ASQ, ADMIN_SQ, 8);
	guest_reg_wr(g, NVME_REG_ACQ, ADMIN_CQ, 8);
	guest_reg_wr(g, NVME_REG_CC, FIELD_PREP(NVME_CC_IOSQES, NVME_CC_IOSQES_64) |
		     FIELD_PREP(NVME_CC_IOCQES, NVME_CC_IOCQES_16) | NVME_CC_EN, 4);
	wait_ready(g, true);
	for (i = 0; i < sizeof(g->info); i++)
		((u8 *)&g->info)[i] = g->cmb[LIOV_CMB_INFO + i];
	CHECK(g->info.magic == LIOV_INFO_MAGIC && g->info.major == LIOV_ABI_MAJOR && g->info.nr_queues == QUEUES);
}

u16 guest_admin(struct guest *g, struct nvme_sqe sqe, u32 *dw0)
{
	volatile struct nvme_cqe *cqe = (void *)(g->ram + ADMIN_CQ + g->admin_head * sizeof(*cqe));

	sqe.cid = (u16)g->admin_tail;
	memcpy(g->ram + ADMIN_SQ + g->admin_tail * sizeof(sqe), &sqe, sizeof(sqe));
	g->admin_tail = (g->admin_tail + 1) % ADMIN_DEPTH;
	guest_reg_wr(g, NVME_REG_DBS, g->admin_tail, 4);
	AWAIT((bool)(cqe->status & NVME_CQE_PHASE) == g->admin_phase);
	CHECK(cqe->cid == sqe.cid);
	if (dw0)
		*dw0 = cqe->dw0;
	g->admin_head = (g->admin_head + 1) % ADMIN_DEPTH;
	g->admin_phase ^= g->admin_head == 0;
	guest_reg_wr(g, NVME_REG_DBS + 4, g->admin_head, 4);
	return cqe->status >> 1 & 0x7ff;
}

u16 guest_memory(struct guest *g, bool add, u64 gpa, u64 len)
{
	return guest_admin(g, (struct nvme_sqe){
		.opcode = add ? LIOV_ADM_MEM_REGISTER : LIOV_ADM_MEM_UNREGISTER, .cdw10 = (u32)gpa, .cdw11 = (u32)(gpa >> 32),
		.cdw12 = (u32)len, .cdw13 = (u32)(len >> 32) }, NULL);
}

void guest_queue_create(struct guest *g, u32 qid)
{
	const struct liov_info_queue *iq = &g->info.queue[qid - 1];
	struct guest_queue *q = &g->queue[qid];

	CHECK(!guest_admin(g, (struct nvme_sqe){
		.opcode = NVME_ADM_CREATE_CQ, .prp1 = CMB_GPA + iq->cq, .cdw10 = (DEPTH - 1) << 16 | qid,
		.cdw11 = (u32)(NVME_QUEUE_PC | NVME_CQ_IEN | FIELD_PREP(NVME_CQ_IV, qid)) }, NULL));
	CHECK(guest_load(g, iq->sq) == ~0u);	/* too early */
	CHECK(!guest_admin(g, (struct nvme_sqe){
		.opcode = NVME_ADM_CREATE_SQ, .prp1 = CMB_GPA + iq->sq, .cdw10 = (DEPTH - 1) << 16 | qid,
		.cdw11 = (u32)(NVME_QUEUE_PC | FIELD_PREP(NVME_SQ_CQID, qid)) }, NULL));
	*q = (struct guest_queue){ .sq = (void *)(g->cmb + iq->sq), .cq = (void *)(g->cmb + iq->cq), .phase = true };
}

void guest_queue_delete(struct guest *g, u32 qid)
{
	CHECK(!guest_admin(g, (struct nvme_sqe){ .opcode = NVME_ADM_DELETE_SQ, .cdw10 = qid }, NULL));
	CHECK(!guest_admin(g, (struct nvme_sqe){ .opcode = NVME_ADM_DELETE_CQ, .cdw10 = qid }, NULL));
}

static void ring(struct guest *g, u32 qid, bool cq, u32 val)
{
	const struct liov_info_queue *iq = &g->info.queue[qid - 1];

	if (g->info.flags & LIOV_INFO_DOORBELLS)
		*(volatile u32 *)(g->cmb + (cq ? iq->cq_doorbell : iq->sq_doorbell)) = val;
	else
		guest_reg_wr(g, LIOV_BAR0_DOORBELLS + qid * 8 + (cq ? 4 : 0), val, 4);
}

void guest_submit(struct guest *g, u32 qid, u8 opcode, u64 raw_slba, u64 raw_addr)
{
	struct guest_queue *q = &g->queue[qid];
	struct nvme_sqe sqe = { .opcode = opcode, .cid = ++q->cid, .nsid = 1, .prp1 = raw_addr, .cdw10 = (u32)raw_slba,
				.cdw11 = (u32)(raw_slba >> 32) };
	u32 i;

	for (i = 0; i < sizeof(sqe) / 8; i++)
		((volatile u64 *)&q->sq[q->tail])[i] = ((u64 *)&sqe)[i];
	q->tail = (q->tail + 1) % DEPTH;
	__sync_synchronize();
	ring(g, qid, false, q->tail);
}

u16 guest_complete(struct guest *g, u32 qid)
{
	struct guest_queue *q = &g->queue[qid];
	volatile struct nvme_cqe *cqe = &q->cq[q->head];
	u16 status;

	AWAIT((bool)((status = cqe->status) & NVME_CQE_PHASE) == q->phase);
	__sync_synchronize();
	CHECK(cqe->cid == q->cid);
	q->head = (q->head + 1) % DEPTH;
	q->phase ^= q->head == 0;
	ring(g, qid, true, q->head);
	return status >> 1 & 0x7ff;
}

u16 guest_io(struct guest *g, u32 qid, u8 opcode, u64 slba, u64 gpa)
{
	guest_submit(g, qid, opcode, slba + g->info.lba_start, gpa + g->info.dma_offset);
	return guest_complete(g, qid);
}
