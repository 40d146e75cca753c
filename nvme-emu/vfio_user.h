/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_USER_H
#define NVME_EMU_VFIO_USER_H

/*
 * One client of a vfio-user device, from its connection to its end (the protocol is version
 * 0.0 of QEMU's docs/interop/vfio-user.rst). The device knows nothing of it, nor it of the device.
 *
 * Nothing a client sends can do more than end its own session. Its memory is read and written
 * with pread() and pwrite(), never mapped: a file that the client truncates under us is a
 * failed DMA, not a SIGBUS.
 */

#include "vfio_device.h"

#define VFIO_USER_FDS_MAX	16U	/* in one message */
#define VFIO_USER_TRANSFER_MAX	4096U	/* bytes of a region in one message */
#define VFIO_USER_MAPS_MAX	8192U	/* DMA mappings */
#define VFIO_USER_FILES_MAX	64U	/* that memory lies in */

struct vfio_user;

/* A session on the connected socket @fd, which is its own from now on. NULL without memory; @fd is then closed. */
struct vfio_user *vfio_user_new(struct vfio_device *dev, int fd);
void vfio_user_free(struct vfio_user *u);

/* What poll(2) is to wait for. */
short vfio_user_events(const struct vfio_user *u);

/* The socket is ready for some of it: handle what came, a bounded part at a time. False: the session is over. */
bool vfio_user_ready(struct vfio_user *u);

/* Why it is over: NULL when the client just left. */
const char *vfio_user_why(const struct vfio_user *u);

int vfio_user_fd(const struct vfio_user *u);

#endif
