/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_NVME_EMU_H
#define NVME_EMU_NVME_EMU_H

/* The sub-commands that let other programs drive the model; @argv[0] is the command's name. Returns the exit code. */
int nvme_emu_qtest(int argc, char **argv);

#endif
