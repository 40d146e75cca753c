/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_IMAGE_LAYOUT_H
#define GUEST_IMAGE_LAYOUT_H

/* guest.h's numbers for the assembler and the linker; instructions.c holds them equal. */
#define IMAGE		0x40010000
#define STACK_TOP	0x407f0000
#define PORT_END	0x510

#endif
