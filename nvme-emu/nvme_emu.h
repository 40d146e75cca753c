/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_NVME_EMU_H
#define NVME_EMU_NVME_EMU_H

#include <stdbool.h>

/*
 * The sub-commands that let other programs drive the model. Returns the exit code. @argv[0] is the command's name, or the path by
 * which it was called for a QEMU: qemu-system-ARCH, or qemu-MAJOR.MINOR-system-ARCH for that QEMU's QMP.
 */
int nvme_emu_qtest(int argc, char **argv);

/* Is @path such a one? */
bool nvme_emu_is_called_qemu(const char *path);

#endif
