// SPDX-License-Identifier: GPL-2.0
/* The little kernel: waiting, interrupts that are asked for, memory, the log. */

#include <stdarg.h>

#include "liov/abi.h"
#include "liov/port_guest.h"
#include "pci.h"

#define IRQ_BASE	0x40u		/* the vector of MSI-X entry v: this + v */
#define WAITS_MAX	60u		/* seconds without an interrupt that is waited for */
#define HEAP_BYTES	0x40000u
#define CAPS_MAX	48u

/* --- waiting --- */

void guest_wait_irq(struct port_home *home)
{
	u32 came = guest_in(GUEST_PORT_IRQ), v;

	for (v = 0; v < GUEST_VECTORS_MAX; v++)
		if ((came >> v & 1) && home->handler[v].fn)
			home->handler[v].fn(home->handler[v].arg);
}

bool guest_event_wait(struct port_event *ev, u64 timeout_ns)
{
	u32 waits;

	(void)timeout_ns;
	for (waits = 0; !ev->signalled && waits < WAITS_MAX; waits++)
		guest_wait_irq(ev->home);
	return ev->signalled;
}

void guest_sleep_ns(struct port_home *home, u64 ns)
{
	home->now_ns += ns;
	guest_out(GUEST_PORT_SLEEP, (u32)ns);
}

/* The frontend has one kind of work. */
void guest_work_queue(struct port_work *w)
{
	w->queued = true;
	w->home->work = w;
}

void guest_work_cancel(struct port_work *w)
{
	w->queued = false;
	w->home->work = NULL;
}

void guest_idle(struct port_home *home)
{
	struct port_work *w;

	guest_wait_irq(home);
	w = home->work;
	if (!w)
		return;
	guest_work_cancel(w);
	w->fn(w->arg);
}

/* --- memory --- */

void guest_zero(u64 gpa, u32 len_bytes)
{
	static const u8 zeros[64];
	u32 i;

	for (i = 0; i < len_bytes; i += sizeof(zeros))
		guest_write(gpa + i, zeros, sizeof(zeros));
}

void *guest_alloc(size_t bytes)
{
	static u8 heap[HEAP_BYTES] __attribute__((aligned(64)));
	static size_t used;
	void *p = heap + used;

	bytes = (bytes + 63) & ~(size_t)63;
	if (bytes > HEAP_BYTES - used)
		return NULL;
	used += bytes;
	return p;
}

int guest_dma_alloc(struct port_guest *g, u32 nr_pages, struct port_shm *s, gpa_t *gpa)
{
	u64 next = g->home.dma_next - nr_pages * SPEC_PAGE_SIZE;

	if (next < GUEST_RAM + GUEST_RAM_BYTES / 2)
		return -ENOMEM;
	g->home.dma_next = next;
	guest_zero(next, nr_pages * (u32)SPEC_PAGE_SIZE);
	*s = (struct port_shm){ next };
	*gpa = (gpa_t){ next };
	return 0;
}

/* --- the function --- */

u32 guest_cfg_rd32(u32 off)
{
	guest_out(GUEST_PORT_CONFIG, 0x80000000u | off);
	return guest_in(GUEST_PORT_CONFIG_DATA);
}

void guest_cfg_wr32(u32 off, u32 val)
{
	guest_out(GUEST_PORT_CONFIG, 0x80000000u | off);
	guest_out(GUEST_PORT_CONFIG_DATA, val);
}

static u64 bar_base(u32 bar)
{
	u64 low = guest_cfg_rd32(PCIS_BAR(bar)) & ~(u32)PCIS_BAR_FLAGS;

	return (u64)guest_cfg_rd32(PCIS_BAR(bar + 1)) << 32 | low;
}

int guest_map(struct port_mmio *bar0, struct port_shm *cmb, struct port_mmio *cmb_regs, gpa_t *cmb_gpa, u64 *cmb_size)
{
	u64 base = bar_base(LIOV_CMB_BAR);
	u32 mask;

	*bar0 = (struct port_mmio){ bar_base(0) };
	/* Sizing, PCI 3.0 6.2.5.1 */
	guest_cfg_wr32(PCIS_BAR(LIOV_CMB_BAR), ~0u);
	mask = guest_cfg_rd32(PCIS_BAR(LIOV_CMB_BAR)) & ~(u32)PCIS_BAR_FLAGS;
	guest_cfg_wr32(PCIS_BAR(LIOV_CMB_BAR), (u32)base);
	*cmb = (struct port_shm){ base };
	*cmb_regs = (struct port_mmio){ base };
	*cmb_gpa = (gpa_t){ base };
	*cmb_size = (u32)(~mask + 1);
	return 0;
}

static u32 msix_cap(void)
{
	u32 off = guest_cfg_rd32(PCIS_CAP_POINTER) & 0xFC, i;

	for (i = 0; i < CAPS_MAX && off; i++) {
		u32 head = guest_cfg_rd32(off);

		if ((head & 0xFF) == PCIS_CAP_ID_MSIX)
			return off;
		off = head >> 8 & 0xFC;
	}
	return 0;
}

static void msix_write(u32 vec, u32 field, u32 val)
{
	struct port_mmio bar0 = { bar_base(0) };

	port_mmio_wr32(&bar0, LIOV_BAR0_MSIX_TABLE + vec * PCIS_MSIX_ENTRY_SIZE + field, val);
}

int guest_irq_request(struct port_guest *g, u32 vec, void (*fn)(void *arg), void *arg)
{
	u32 cap = msix_cap();

	if (!cap || vec >= GUEST_VECTORS_MAX)
		return -EINVAL;
	guest_cfg_wr32(cap, guest_cfg_rd32(cap) | (u32)PCIS_MSIX_ENABLE << 16);
	g->home.handler[vec].fn = fn;
	g->home.handler[vec].arg = arg;
	msix_write(vec, PCIS_MSIX_ENTRY_ADDR_LO, (u32)PCIS_IRQ_RANGE_BASE);
	msix_write(vec, PCIS_MSIX_ENTRY_ADDR_HI, 0);
	msix_write(vec, PCIS_MSIX_ENTRY_DATA, IRQ_BASE + vec);
	msix_write(vec, PCIS_MSIX_ENTRY_CONTROL, 0);
	return 0;
}

void guest_irq_free(struct port_guest *g, u32 vec)
{
	msix_write(vec, PCIS_MSIX_ENTRY_CONTROL, PCIS_MSIX_ENTRY_MASKED);
	g->home.handler[vec].fn = NULL;
}

/* --- the log --- */

static u32 put(char *line, u32 at, u32 size, char c)
{
	if (at < size)
		line[at++] = c;
	return at;
}

static u32 put_number(char *line, u32 at, u32 size, u64 v, u32 base)
{
	char digits[20];
	u32 n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	while (n)
		at = put(line, at, size, digits[--n]);
	return at;
}

static u32 format(char *line, u32 size, const char *fmt, va_list args)
{
	u32 at = 0;

	for (; *fmt; fmt++) {
		const char *s;

		if (*fmt != '%') {
			at = put(line, at, size, *fmt);
		} else if (fmt[1] == 's') {
			for (s = va_arg(args, const char *); *s; s++)
				at = put(line, at, size, *s);
			fmt++;
		} else if (fmt[1] == 'u' || fmt[1] == 'x') {
			at = put_number(line, at, size, va_arg(args, u32), fmt[1] == 'u' ? 10 : 16);
			fmt++;
		} else {	/* %lx */
			at = put_number(line, at, size, va_arg(args, u64), 16);
			fmt += 2;
		}
	}
	return at;
}

void guest_say(const char *fmt, ...)
{
	char line[128];
	va_list args;
	u32 len, old;

	va_start(args, fmt);
	len = format(line, sizeof(line) - 1, fmt, args);
	va_end(args);
	line[len++] = '\n';
	guest_read(GUEST_RAM + offsetof(struct guest_page, log_bytes), &old, 4);
	if (len > GUEST_LOG_BYTES - old)
		guest_fail(__LINE__);
	guest_write(GUEST_RAM + offsetof(struct guest_page, log) + old, line, len);
	old += len;
	guest_write(GUEST_RAM + offsetof(struct guest_page, log_bytes), &old, 4);
}
