// SPDX-License-Identifier: GPL-2.0
/* The image's side of kernel.h: accesses are instructions. */

#include "kernel.h"
#include "layout.h"

_Static_assert(IMAGE == GUEST_IMAGE && STACK_TOP == GUEST_TABLES && PORT_END == GUEST_PORT_END, "layout.h is guest.h's");

u32 guest_load(u64 gpa);
void guest_store(u64 gpa, u32 val);

static bool is_ram(u64 gpa)
{
	return gpa - GUEST_RAM < GUEST_RAM_BYTES;
}

void guest_read(u64 gpa, void *buf, u32 len_bytes)
{
	u32 i, val;

	if (is_ram(gpa)) {
		memcpy(buf, (const void *)gpa, len_bytes);
		return;
	}
	for (i = 0; i < len_bytes; i += 4) {
		val = guest_load(gpa + i);
		memcpy((u8 *)buf + i, &val, 4);
	}
}

void guest_write(u64 gpa, const void *buf, u32 len_bytes)
{
	u32 i, val;

	if (is_ram(gpa)) {
		memcpy((void *)gpa, buf, len_bytes);
		return;
	}
	for (i = 0; i < len_bytes; i += 4) {
		memcpy(&val, (const u8 *)buf + i, 4);
		guest_store(gpa + i, val);
	}
}

void guest_fail(u32 line)
{
	for (;;)
		guest_out(GUEST_PORT_END, line);
}

void *memcpy(void *dst, const void *src, size_t n)
{
	u8 *d = dst;
	const u8 *s = src;

	for (; n >= 8; n -= 8, d += 8, s += 8)
		*(volatile u64 *)d = *(const u64 *)s;
	while (n--)
		*(volatile u8 *)d++ = *s++;
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	volatile u8 *d = dst;

	while (n--)
		*d++ = (u8)c;
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
