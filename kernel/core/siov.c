// SPDX-License-Identifier: GPL-2.0
/*
 * Under siov a VM has an address space of its own, which the IOMMU finds by the PASID that all
 * requests of its queues carry, and a namespace of its own, which is all that its commands may
 * name. The host's queues, and interrupt messages, go on without PASID in the function's domain.
 *
 * The VM's queues lie in its own space too: their entries are fetched and written with the PASID
 * like everything else. They are where no guest memory is (liov_iova_allowed), and the VM can
 * reach its own by DMA, which it can by its CMB as well.
 */

#include "internal.h"

static int ns_delete(struct liov_backend *be, u32 nsid)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_NS_MANAGE, .nsid = nsid, .cdw10 = (u32)FIELD_PREP(NVME_NS_SEL, 1) };

	return liov_admin_cmd(be, &sqe, NULL);
}

/* A list of one controller, number 0, for Namespace Attachment. */
static int ns_attach(struct liov_backend *be, u32 nsid, u8 *buf4k)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_NS_ATTACH, .nsid = nsid };

	memset(buf4k, 0, NVME_ID_SIZE);
	buf4k[0] = 1;
	return liov_admin_cmd_out(be, &sqe, buf4k, NVME_ID_SIZE, NULL);
}

static int ns_create(struct liov_backend *be, const struct liov_range *lba, void *buf4k, u32 *nsid)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_NS_MANAGE };
	struct nvme_ns_wish *wish = buf4k;
	int err;

	memset(wish, 0, sizeof(*wish));
	wish->nsze = lba->count;
	wish->ncap = lba->count;
	wish->dps = be->info.pi;
	wish->place_magic = NVME_NS_PLACE_MAGIC;
	wish->first_block = lba->start;
	err = liov_admin_cmd_out(be, &sqe, wish, sizeof(*wish), nsid);
	if (err > 0)
		return err == NVME_SC_NS_CAPACITY || err == NVME_SC_NSID_UNAVAILABLE ? -ENOSPC : -EIO;
	return err;
}

static int ns_open(struct liov_vm *vm)
{
	struct liov_backend *be = vm->be;
	void *buf = port_alloc(be->home, NVME_ID_SIZE);
	u32 nsid;
	int err;

	if (!buf)
		return -ENOMEM;
	err = ns_create(be, &vm->lba, buf, &nsid);
	if (!err) {
		vm->nsid = nsid;
		err = ns_attach(be, nsid, buf);
	}
	port_free(be->home, buf);
	return err > 0 ? -EIO : err;
}

int liov_siov_open(struct liov_vm *vm)
{
	int err;

	if (vm->be->cfg.policy != LIOV_POLICY_SIOV)
		return 0;
	err = port_pasid_alloc(vm->be->host, &vm->pasid);
	if (err) {
		vm->pasid = LIOV_NO_PASID;
		return err;
	}
	return ns_open(vm);
}

int liov_siov_close(struct liov_backend *be, u32 *pasid, u32 *nsid)
{
	int err = *nsid != LIOV_HOST_NSID && LIOV_STEP(backend_siov_ns_delete) ? ns_delete(be, *nsid) : 0;

	if (err)
		return err < 0 ? err : -EIO;
	*nsid = LIOV_HOST_NSID;
	if (*pasid != LIOV_NO_PASID && LIOV_STEP(backend_siov_pasid_free))
		port_pasid_free(be->host, *pasid);
	*pasid = LIOV_NO_PASID;
	return 0;
}

int liov_siov_bind(const struct liov_hwq *q, bool cq)
{
	struct nvme_sqe sqe = { .opcode = NVME_ADM_QUEUE_BIND, .cdw10 = q->qid, .cdw11 = q->pasid };

	if (!LIOV_STEP(backend_siov_pasid_own))
		sqe.cdw11 = 1;		/* the first VM's */
	if (cq)
		sqe.cdw10 |= (u32)NVME_BIND_CQ;
	else if (LIOV_STEP(backend_siov_nsid))
		sqe.cdw12 = q->vm->nsid;
	return liov_admin_cmd(q->be, &sqe, NULL);
}

int liov_dma_map(struct liov_backend *be, u32 pasid, iova_t iova, const struct port_pages *p, u32 nr_pages, u32 prot)
{
	return pasid == LIOV_NO_PASID ? port_iommu_map(be->host, iova, p, nr_pages, prot) :
					port_pasid_map(be->host, pasid, iova, p, nr_pages, prot);
}

int liov_dma_map_vm(const struct liov_vm *vm, iova_t iova, gpa_t gpa, u64 len_bytes, u32 prot)
{
	struct port_host *h = vm->be->host;

	return vm->pasid == LIOV_NO_PASID ? port_iommu_map_vm(h, iova, vm->port, gpa, len_bytes, prot) :
					    port_pasid_map_vm(h, vm->pasid, iova, vm->port, gpa, len_bytes, prot);
}

void liov_dma_unmap(struct liov_backend *be, u32 pasid, iova_t iova, u64 len_bytes)
{
	if (pasid == LIOV_NO_PASID)
		port_iommu_unmap(be->host, iova, len_bytes);
	else
		port_pasid_unmap(be->host, pasid, iova, len_bytes);
}

void liov_dma_sync(struct liov_backend *be, u32 pasid)
{
	if (pasid == LIOV_NO_PASID)
		port_iommu_sync(be->host);
	else
		port_pasid_sync(be->host, pasid);
}
