#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The tail of a log page goes to the controller's own CC: a reset while its command is in work.
# After the sequence of qemu-devel, 17 December 2021, "memory: Fix dma-reentrancy issues", and its issue 556.
# Base 1.4 figure 127: 0/0x04, data transfer error; CC and CSTS stay, and the queue goes on.
# QEMU="nvme-emu/paced qemu-system-x86_64 ..." replays it there. The answers that are right follow below.
cat << EOF | ${QEMU:-build/lightiov qtest} -display none -machine q35 -m 512M -nodefaults -drive file=null-co://,file.read-zeroes=on,if=none,format=raw,id=disk0 -device nvme,drive=disk0,serial=1 -qtest stdio -qtest-log none
outl 0xcf8 0x80000810
outl 0xcfc 0xe0000000
outl 0xcf8 0x80000814
outl 0xcfc 0x0
outl 0xcf8 0x80000804
outw 0xcfc 0x6
write 0xe0000024 0x4 0x02000200
write 0xe0000028 0x4 0x00100000
write 0xe0000030 0x4 0x00200000
write 0xe0000014 0x4 0x01004600
readl 0xe000001c
write 0x1000 0x40 0x020001000000000000000000000000000000000000000000140000e00000000000000000000000000300000000000000fc010000000000000000000000000000
writel 0xe0001000 0x1
clock_step
readl 0x200c
readl 0xe0000014
readl 0xe000001c
write 0x1040 0x40 0x020002000000000000000000000000000000000000000000000020000000000000000000000000000300000000000000fc010000000000000000000000000000
writel 0xe0001000 0x2
clock_step
readl 0x201c
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
#< OK 0x0000000000000001
#< OK
#< OK
#< OK 0
#< OK 0x0000000080090001
#< OK 0x0000000000460001
#< OK 0x0000000000000001
#< OK
#< OK
#< OK 0
#< OK 0x0000000000010002
