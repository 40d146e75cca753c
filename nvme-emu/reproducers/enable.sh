#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Doorbells before the controller is ready and of queues that are not; CC.EN with admin queues that cannot be.
# After the crashes of another NVMe emulation found by fuzzing (FreeBSD review D35453, PR 256317, 256319, 256320, 256322).
# Base 1.4 3.1.6, 3.1.8 and 7.6.1: what cannot be enabled never gets ready, and a doorbell of no queue has no effect.
# QEMU="nvme-emu/paced qemu-system-x86_64 ..." replays it there. The answers that are right follow below.
cat << EOF | ${QEMU:-build/lightiov qtest} -display none -machine q35 -m 512M -nodefaults -drive file=null-co://,file.read-zeroes=on,if=none,format=raw,id=disk0 -device nvme,drive=disk0,serial=1 -qtest stdio -qtest-log none
outl 0xcf8 0x80000810
outl 0xcfc 0xe0000000
outl 0xcf8 0x80000814
outl 0xcfc 0x0
outl 0xcf8 0x80000804
outw 0xcfc 0x6
memset 0x100000 0x4000 0x0
writel 0xe0001000 0x1
writel 0xe0001004 0x1
writel 0xe0001ff8 0xffffffff
readl 0xe000001c
writel 0xe0000014 0x460001
readl 0xe000001c
writel 0xe0001000 0x1
readl 0xe000001c
writel 0xe0000014 0x0
readl 0xe000001c
write 0xe0000024 0x4 0x0f000f00
writel 0xe0000028 0x100800
writel 0xe0000030 0x101000
writel 0xe0000014 0x460001
readl 0xe000001c
writel 0xe0000014 0x0
writel 0xe0000028 0x100000
writel 0xe0000014 0x460781
readl 0xe000001c
writel 0xe0000014 0x0
writel 0xe000002c 0xffffffff
writel 0xe0000014 0x460001
readl 0xe000001c
writel 0xe0001000 0x1
readl 0xe000001c
writel 0xe0000014 0x0
writel 0xe000002c 0x0
writel 0xe0000014 0x460001
readl 0xe000001c
write 0x100000 0x40 0x06000900000000000000000000000000000000000000000000002000000000000000000000000000010000000000000000000000000000000000000000000000
writel 0xe0001000 0x1
readl 0x10100c
writel 0xe0001000 0x10
writel 0xe0001004 0x5
writel 0xe0001008 0x1
writel 0xe0001ffc 0x1
readl 0xe000001c
EOF
exit

#< OK
#< OK
#< OK
#< OK
#< OK
#< OK
#< OK
#< OK
#< OK
#< OK
#< OK 0x0000000000000000
#< OK
#< OK 0x0000000000000002
#< OK
#< OK 0x0000000000000002
#< OK
#< OK 0x0000000000000000
#< OK
#< OK
#< OK
#< OK
#< OK 0x0000000000000002
#< OK
#< OK
#< OK
#< OK 0x0000000000000002
#< OK
#< OK
#< OK
#< OK 0x0000000000000001
#< OK
#< OK 0x0000000000000003
#< OK
#< OK
#< OK
#< OK 0x0000000000000001
#< OK
#< OK
#< OK 0x0000000000010009
#< OK
#< OK
#< OK
#< OK
#< OK 0x0000000000000001
