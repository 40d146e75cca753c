/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The image's first instructions, and all it does to what is not RAM. A VMM that finds nothing
 * behind an address knows two instructions by their bytes: mov %eax,(%rdx) and mov (%rdx),%eax.
 */
#include "layout.h"

	.section .text.start, "ax"
	.globl start
start:
	mov	$STACK_TOP, %rsp
	xor	%ebp, %ebp
	call	guest_main
	xor	%esi, %esi
	mov	$PORT_END, %edi
	call	guest_out
1:	jmp	1b

	.text
	.globl guest_load, guest_store, guest_in, guest_out
guest_load:
	mov	%rdi, %rdx
	mov	(%rdx), %eax
	ret
guest_store:
	mov	%rdi, %rdx
	mov	%esi, %eax
	mov	%eax, (%rdx)
	ret
guest_in:
	mov	%edi, %edx
	in	%dx, %eax
	ret
guest_out:
	mov	%edi, %edx
	mov	%esi, %eax
	out	%eax, %dx
	ret

	.section .note.GNU-stack, "", @progbits
