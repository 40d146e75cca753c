/* SPDX-License-Identifier: GPL-2.0 */
#include "layout.h"

OUTPUT_ARCH(i386:x86-64)
ENTRY(start)
SECTIONS
{
	. = IMAGE;
	.text : { *(.text.start) *(.text*) }
	.rodata : { *(.rodata*) }
	.data : { *(.data*) }
	.bss : { *(.bss*) *(COMMON) }
	/DISCARD/ : { *(.comment) *(.note*) *(.eh_frame*) }
}
