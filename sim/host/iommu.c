// SPDX-License-Identifier: GPL-2.0
/*
 * VT-d as host software sees it: root and context tables, second-level tables of LightIOV's
 * one domain and of address spaces by PASID (pasid.c), and the invalidation queue. Tables are
 * real and in memory; the unit walks them.
 */

#include "host.h"
#include "vm/vm.h"

#include <assert.h>

#define TWO_MIB 0x200000ull
#define IOVA_END (1ull << 48)	/* what four levels translate */
#define IQ_POLL_PS (100 * PS_PER_NS)
#define IQ_POLLS_QUICK 1000u
#define IQ_POLL_SLOW_PS (100 * PS_PER_US)	/* of an IOMMU that a scenario made slow */
#define IQ_POLLS_MAX 2000000u
#define LAZY_PS (10 * PS_PER_MS)
#define LAZY_MAX 256u

static u32 reg_rd32(struct port_host *h, u32 reg)
{
	return (u32)bus_cpu_read(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + reg }, 4);
}

static void reg_wr32(struct port_host *h, u32 reg, u32 val)
{
	bus_cpu_write(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + reg }, val, 4);
}

static void reg_wr64(struct port_host *h, u32 reg, u64 val)
{
	bus_cpu_write(&h->m->bus, (hpa_t){ MACHINE_VTD_BASE + reg }, val, 8);
}

static u64 rd(struct port_host *h, hpa_t a)
{
	bool ok;

	return bus_rd64(&h->m->bus, a, &ok);
}

hpa_t host_table_new(struct port_host *h)
{
	return host_frames_take(h, &h->low, SPEC_PAGE_SIZE, SPEC_PAGE_SIZE, SIM_OWNER_HOST);
}

static bool is_scalable(const struct port_host *h)
{
	return h->m->cfg.vtd.scalable;
}

/* 9.1, 9.3 */
static void legacy_tables(struct port_host *h)
{
	u32 bus = MACHINE_SSD_RID >> 8, devfn = MACHINE_SSD_RID & 0xFF;
	hpa_t ctx = { h->context_table.v + devfn * VTD_CONTEXT_ENTRY_SIZE };

	bus_wr64(&h->m->bus, (hpa_t){ h->root_table.v + bus * VTD_ROOT_ENTRY_SIZE }, h->context_table.v | VTD_ROOT_LO_P);
	bus_wr64(&h->m->bus, (hpa_t){ ctx.v + 8 },
		 FIELD_PREP(VTD_CTX_HI_AW, VTD_AW_48BIT) | FIELD_PREP(VTD_CTX_HI_DID, HOST_DOMAIN));
	bus_wr64(&h->m->bus, ctx, h->space[0].top.v | FIELD_PREP(VTD_CTX_LO_TT, VTD_TT_MULTI_LEVEL) | VTD_CTX_LO_P);
}

static void registers_init(struct port_host *h)
{
	u64 on = VTD_G_TE | VTD_G_IRE | VTD_G_QIE;

	reg_wr64(h, VTD_REG_IQA, h->iq.v | (is_scalable(h) ? VTD_IQA_DW : 0));
	reg_wr64(h, VTD_REG_IQT, 0);
	reg_wr32(h, VTD_REG_GCMD, (u32)VTD_G_QIE);
	reg_wr64(h, VTD_REG_RTADDR, h->root_table.v | (is_scalable(h) ? FIELD_PREP(VTD_RTADDR_TTM, VTD_TTM_SCALABLE) : 0));
	reg_wr32(h, VTD_REG_GCMD, (u32)(VTD_G_QIE | VTD_G_SRTP));
	reg_wr64(h, VTD_REG_IRTA, h->irta.v | (h->m->cfg.vtd.x2apic ? VTD_IRTA_EIME : 0) | FIELD_PREP(VTD_IRTA_S, 15));
	reg_wr32(h, VTD_REG_GCMD, (u32)(VTD_G_QIE | VTD_G_SIRTP));
	reg_wr32(h, VTD_REG_GCMD, (u32)on);
}

int host_iommu_init(struct port_host *h)
{
	u64 on = VTD_G_TE | VTD_G_IRE | VTD_G_QIE;

	/* Of what the tables reach and the unit takes, the less. */
	h->iova_last = (1ull << (FIELD_GET(VTD_CAP_MGAW, reg_rd32(h, VTD_REG_CAP)) + 1)) - 1;
	if (h->iova_last > IOVA_END - 1)
		h->iova_last = IOVA_END - 1;
	h->root_table = host_table_new(h);
	h->context_table = host_table_new(h);
	h->space[0] = (struct host_space){ .h = h, .top = host_table_new(h), .did = HOST_DOMAIN };
	h->iq = host_table_new(h);
	h->iq_status = host_table_new(h);
	h->irta = host_frames_take(h, &h->low, HOST_IRTES * VTD_IRTE_SIZE, SPEC_PAGE_SIZE, SIM_OWNER_HOST);
	if (hpa_bad(h->root_table) || hpa_bad(h->context_table) || hpa_bad(h->space[0].top) || hpa_bad(h->iq) ||
	    hpa_bad(h->iq_status) || hpa_bad(h->irta))
		return -ENOMEM;
	if (!is_scalable(h))
		legacy_tables(h);
	else if (!host_pasid_init(h))
		return -ENOMEM;
	port_mutex_init(&h->home, &h->iq_lock);
	registers_init(h);
	return (reg_rd32(h, VTD_REG_GSTS) & on) == on ? 0 : -EIO;
}

/* A descriptor of 128 bits, or one of 256 with zeros above; the page holds half as many of these. */
void host_iommu_push(struct port_host *h, u64 lo, u64 hi)
{
	hpa_t slot = { h->iq.v + h->iq_tail };

	bus_wr64(&h->m->bus, slot, lo);
	bus_wr64(&h->m->bus, (hpa_t){ slot.v + 8 }, hi);
	h->iq_tail = (h->iq_tail + (is_scalable(h) ? 32u : 16u)) % (u32)SPEC_PAGE_SIZE;
}

/* The descriptor, then a wait whose status write says that it took effect (6.5.2.8). */
void host_iommu_invalidate(struct port_host *h, u64 lo, u64 hi)
{
	u32 seq, polls = 0;

	port_mutex_lock(&h->iq_lock);
	seq = ++h->wait_seq;
	host_iommu_push(h, lo, hi);
	host_iommu_push(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_WAIT) | VTD_QI_WAIT_LO_SW | VTD_QI_WAIT_LO_FN |
		FIELD_PREP(VTD_QI_WAIT_LO_DATA, seq), h->iq_status.v);
	reg_wr64(h, VTD_REG_IQT, h->iq_tail);
	while (!(h->omit & HOST_OMIT_IOMMU_WAIT) && (u32)rd(h, h->iq_status) != seq) {
		assert(++polls < IQ_POLLS_MAX && "the invalidation queue does not move");
		task_sleep(polls < IQ_POLLS_QUICK ? IQ_POLL_PS : IQ_POLL_SLOW_PS);
	}
	port_mutex_unlock(&h->iq_lock);
}

/* Entry of @iova at @level; tables down to there are made when @make. {~0} where there is none. */
static hpa_t entry_at(struct port_host *h, const struct host_space *s, u64 iova, unsigned int level, bool make)
{
	hpa_t table = s->top;
	unsigned int l;

	for (l = 4;; l--) {
		hpa_t at = { table.v + VTD_LEVEL_INDEX(iova, l) * 8 };
		u64 e;

		if (l == level)
			return at;
		e = rd(h, at);
		if (!(e & (VTD_SSPTE_R | VTD_SSPTE_W))) {
			hpa_t next;

			if (!make)
				return (hpa_t){ ~0ull };
			next = host_table_new(h);
			if (hpa_bad(next))
				return next;
			bus_wr64(&h->m->bus, at, next.v | VTD_SSPTE_R | VTD_SSPTE_W);
			e = next.v;
		} else if (e & VTD_SSPTE_PS) {
			return at;	/* a large leaf covers it: the caller sees its bit */
		}
		table.v = e & VTD_SSPTE_ADDR;
	}
}

/* What maps @iova now: its entry and how much it covers; 0 when nothing. */
static u64 leaf_of(struct port_host *h, const struct host_space *s, u64 iova, hpa_t *at)
{
	hpa_t e = entry_at(h, s, iova, 1, false);
	u64 v;

	if (hpa_bad(e))
		return 0;
	v = rd(h, e);
	if (!(v & (VTD_SSPTE_R | VTD_SSPTE_W)))
		return 0;
	*at = e;
	return v & VTD_SSPTE_PS ? TWO_MIB : SPEC_PAGE_SIZE;
}

bool host_space_has(struct port_host *h, const struct host_space *s, u64 iova)
{
	hpa_t at;

	return leaf_of(h, s, iova, &at) != 0;
}

static bool mapped(struct port_host *h, const struct host_space *s, u64 iova, u64 len)
{
	u64 a;
	hpa_t at;

	for (a = iova; a < iova + len;) {
		hpa_t pd = entry_at(h, s, a, 2, false);

		if (leaf_of(h, s, a, &at))
			return true;
		/* Nothing below this 2 MiB: skip what is left of it. */
		if (hpa_bad(pd) || !(rd(h, pd) & (VTD_SSPTE_R | VTD_SSPTE_W)))
			a = (a | (TWO_MIB - 1)) + 1;
		else
			a += SPEC_PAGE_SIZE;
	}
	return false;
}

/* The interrupt range is no memory (3.15), whoever says that a VM's page lies there. */
static bool in_interrupt_range(u64 hpa, u64 len)
{
	return hpa <= VTD_MSI_BASE + VTD_MSI_SIZE - 1 && VTD_MSI_BASE <= hpa + len - 1;
}

int host_space_map(struct port_host *h, struct host_space *s, u64 iova, u64 hpa, u64 len, u32 prot)
{
	u64 flags = (prot & PORT_READ ? VTD_SSPTE_R : 0) | (prot & PORT_WRITE ? VTD_SSPTE_W : 0);
	u64 a, step;

	if (len == 0 || ((iova | hpa | len) & (SPEC_PAGE_SIZE - 1)) || len > IOVA_END || iova > h->iova_last - (len - 1) || !flags)
		return -EINVAL;
	if (!(h->omit & HOST_OMIT_IOMMU_RANGE) && !HOST_CHECK(host_iommu_range, !in_interrupt_range(hpa, len)))
		return -EINVAL;
	if (!HOST_CHECK(host_iommu_busy, !mapped(h, s, iova, len)))
		return -EBUSY;
	for (a = 0; a < len; a += step) {
		bool large = !((iova + a) & (TWO_MIB - 1)) && !((hpa + a) & (TWO_MIB - 1)) && HOST_CHECK(host_iommu_leaf, len - a >= TWO_MIB);
		hpa_t pd = entry_at(h, s, iova + a, 2, true), at;

		/* A table of 4 KiB entries that is there already is kept. */
		if (hpa_bad(pd))
			return -ENOMEM;
		large = large && !(rd(h, pd) & (VTD_SSPTE_R | VTD_SSPTE_W));
		at = large ? pd : entry_at(h, s, iova + a, 1, true);
		if (hpa_bad(at))
			return -ENOMEM;
		bus_wr64(&h->m->bus, at, (hpa + a) | flags | (large ? VTD_SSPTE_PS : 0));
		step = large ? TWO_MIB : SPEC_PAGE_SIZE;
	}
	s->mapped_bytes += len;
	trace4(&h->m->trace, SIM_TRACE_IOVA, 0, iova, len, hpa, 1);
	return 0;
}

/* A 2 MiB leaf becomes 512 small ones that say the same. */
static bool split(struct port_host *h, hpa_t at)
{
	u64 e = rd(h, at);
	hpa_t table = host_table_new(h);
	u32 i;

	if (hpa_bad(table))
		return false;
	for (i = 0; i < VTD_SSPTE_COUNT; i++)
		bus_wr64(&h->m->bus, (hpa_t){ table.v + i * 8 }, (e & ~VTD_SSPTE_PS) + i * SPEC_PAGE_SIZE);
	bus_wr64(&h->m->bus, at, table.v | VTD_SSPTE_R | VTD_SSPTE_W);
	return true;
}

/* The table of 4 KiB leaves at @iova, if nothing is left in it, leaves the tree; the unit may still have it cached. */
static void drop_empty_table(struct port_host *h, struct host_space *s, u64 iova)
{
	hpa_t pd = entry_at(h, s, iova, 2, false);
	u64 e = hpa_bad(pd) ? 0 : rd(h, pd);
	u32 i;

	if (!(e & (VTD_SSPTE_R | VTD_SSPTE_W)) || (e & VTD_SSPTE_PS) || s->nr_empty == HOST_TABLES_MAX)
		return;
	for (i = 0; i < VTD_SSPTE_COUNT; i++)
		if (rd(h, (hpa_t){ (e & VTD_SSPTE_ADDR) + i * 8 }))
			return;
	bus_wr64(&h->m->bus, pd, 0);
	s->empty[s->nr_empty++].v = e & VTD_SSPTE_ADDR;
}

void host_space_free_empty(struct port_host *h, struct host_space *s)
{
	while (s->nr_empty)
		host_frames_give(h, &h->low, s->empty[--s->nr_empty], SPEC_PAGE_SIZE);
}

hpa_t host_iommu_table(struct port_host *h, u64 iova, unsigned int level)
{
	hpa_t at = entry_at(h, host_space_at(h, iova), iova, level + 1, false);
	u64 e = hpa_bad(at) ? 0 : rd(h, at);

	return (hpa_t){ (e & (VTD_SSPTE_R | VTD_SSPTE_W)) && !(e & VTD_SSPTE_PS) ? e & VTD_SSPTE_ADDR : ~0ull };
}

void host_iommu_entry(struct port_host *h, u64 iova, unsigned int level, u64 entry)
{
	struct host_space *s = host_space_at(h, iova);
	hpa_t at = entry_at(h, s, iova, level == 1 ? 2 : level, true);

	if (level == 1 && !hpa_bad(at) && (!(rd(h, at) & VTD_SSPTE_PS) || split(h, at)))
		at = entry_at(h, s, iova, 1, true);
	if (hpa_bad(at))
		h->m->failed = true;
	else
		bus_wr64(&h->m->bus, at, entry);
}

void host_space_unmap(struct port_host *h, struct host_space *s, u64 iova, u64 len)
{
	u64 a = iova, end = iova + len;

	while (a < end) {
		hpa_t at;
		u64 size = leaf_of(h, s, a, &at);

		if (size == TWO_MIB && ((a & (TWO_MIB - 1)) || end - a < TWO_MIB)) {
			if (!split(h, at))
				h->m->failed = true;
			continue;
		}
		if (size)
			bus_wr64(&h->m->bus, at, 0);
		s->mapped_bytes -= size;
		a += size ? size : SPEC_PAGE_SIZE;
	}
	for (a = iova & ~(TWO_MIB - 1); a < end; a += TWO_MIB)
		drop_empty_table(h, s, a);
	s->unmapped = (struct host_range){ iova, len };
	trace4(&h->m->trace, SIM_TRACE_IOVA, 0, iova, len, 0, 0);
}

u64 sim_iommu_last(struct port_host *h)
{
	return h->iova_last;
}

void host_space_flush(struct port_host *h, const struct host_space *s)
{
	u32 did = s->did + (h->omit & HOST_SYNC_OTHER_DOMAIN ? HOST_PASIDS : 0);

	host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_IOTLB) | FIELD_PREP(VTD_QI_IOTLB_LO_G, VTD_GRAN_DOMAIN) |
			      FIELD_PREP(VTD_QI_IOTLB_LO_DID, did) | VTD_QI_IOTLB_LO_DW | VTD_QI_IOTLB_LO_DR, 0);
}

void host_iommu_flush(struct port_host *h)
{
	u32 i;

	for (i = 0; i < HOST_PASIDS; i++)
		if (h->space[i].top.v)
			host_space_flush(h, &h->space[i]);
}

/* The pages last unmapped, by naturally aligned powers of two, and nothing above them. */
static void flush_leaves(struct port_host *h, const struct host_space *s)
{
	u64 a = s->unmapped.start, end = a + s->unmapped.len;

	while (a < end) {
		u32 mask = 0;

		while (mask < 9 && !(a & (SPEC_PAGE_SIZE << mask)) && end - a >= SPEC_PAGE_SIZE << (mask + 1))
			mask++;
		host_iommu_invalidate(h, FIELD_PREP(VTD_QI_TYPE, VTD_QI_IOTLB) | FIELD_PREP(VTD_QI_IOTLB_LO_G, VTD_GRAN_PAGE) |
				      FIELD_PREP(VTD_QI_IOTLB_LO_DID, s->did),
				      a | VTD_QI_IOTLB_HI_IH | FIELD_PREP(VTD_QI_IOTLB_HI_AM, mask));
		a += SPEC_PAGE_SIZE << mask;
	}
}

static void lazy_flush(struct port_host *h, struct host_space *s)
{
	s->lazy = 0;
	host_space_flush(h, s);
	host_space_free_empty(h, s);
}

static void lazy_main(void *arg)
{
	struct host_space *s = arg;

	task_sleep(LAZY_PS);
	if (s->lazy)
		lazy_flush(s->h, s);
}

/* As Linux with a domain of type DMA-FQ: at 10 ms, or when the queue of 256 is full. */
static void lazy_sync(struct port_host *h, struct host_space *s)
{
	if (s->lazy++ == 0)
		machine_task(h->m, "lazy flush", lazy_main, s);
	if (s->lazy == LAZY_MAX)
		lazy_flush(h, s);
}

void host_space_sync(struct port_host *h, struct host_space *s)
{
	if ((h->omit & HOST_OMIT_IOMMU_SYNC) || !HOST_STEP(host_iommu_sync))
		return;
	h->syncs++;
	if (h->omit & HOST_SYNC_LAZY) {
		lazy_sync(h, s);
		return;
	}
	task_sleep(h->m->cfg.iommu_sync_ps);
	if ((h->omit & HOST_SYNC_LEAVES) || !HOST_STEP(host_iommu_tables))
		flush_leaves(h, s);
	else
		host_space_flush(h, s);
	host_space_free_empty(h, s);
	trace4(&h->m->trace, SIM_TRACE_IOVA, 0, 0, 0, 0, 2);
}

int host_iommu_map(struct port_host *h, u64 iova, u64 hpa, u64 len, u32 prot)
{
	return host_space_map(h, &h->space[0], iova, hpa, len, prot);
}

void host_iommu_unmap(struct port_host *h, u64 iova, u64 len)
{
	host_space_unmap(h, &h->space[0], iova, len);
}

int sim_iommu_map(struct port_host *h, iova_t iova, u64 hpa, u64 len, u32 prot)
{
	if (fault_hits(&h->home.no_memory, 0))
		return -ENOMEM;
	return host_iommu_map(h, iova.v, hpa, len, prot);
}

int host_space_map_vm(struct port_host *h, struct host_space *s, u64 iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot)
{
	hpa_t hpa;
	int ret;

	if (fault_hits(&h->home.no_memory, 0))
		return -ENOMEM;
	if (!vm_gpa_to_hpa(vm, gpa, len, &hpa))
		return -EFAULT;
	ret = host_space_map(h, s, iova, hpa.v, len, prot);
	/* A large leaf would have reached past the VM's memory: small ones do not. */
	if (ret == 0 && ((iova + len) & (TWO_MIB - 1)))
		trace4(&h->m->trace, SIM_TRACE_LIOV + LIOV_TRACE_GUARD, 0, vm->cfg.id, (u64)LIOV_BACKEND << 32 | LIOV_GUARD_HOME,
		       iova + len, TWO_MIB - ((iova + len) & (TWO_MIB - 1)));
	return ret;
}

int sim_iommu_map_vm(struct port_host *h, iova_t iova, struct port_vm *vm, gpa_t gpa, u64 len, u32 prot)
{
	return host_space_map_vm(h, &h->space[0], iova.v, vm, gpa, len, prot);
}

void sim_iommu_unmap(struct port_host *h, iova_t iova, u64 len)
{
	if (!(h->omit & HOST_OMIT_IOMMU_UNMAP) && HOST_STEP(host_iommu_unmap))
		host_iommu_unmap(h, iova.v, len);
}

void sim_iommu_sync(struct port_host *h)
{
	host_space_sync(h, &h->space[0]);
}
