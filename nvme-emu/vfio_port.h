/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_VFIO_PORT_H
#define NVME_EMU_VFIO_PORT_H

/*
 * Sockets that vfio-user clients connect to, each with a device behind it: one client at a time,
 * others wait at the door. One thread serves all.
 */

#include "vfio_user.h"

struct vfio_port {
	const char *path;
	struct vfio_device *dev;
	int listen;		/* -1: not yet */
	struct vfio_user *client;
	u32 clients;		/* that came so far */
	u32 errors;		/* of which ended by their own mistakes */
};

/* -1 with errno. A socket that somebody left at the path goes, no other file does. */
int vfio_port_open(struct vfio_port *p);
/* The client's session ends; nobody can connect any more. */
void vfio_port_close(struct vfio_port *p);

/*
 * Serve until a signal says that it is enough (SIGTERM, SIGINT, SIGHUP), or with @once until every port
 * has had a client and none is left, or until work() is negative. It lets the devices do what is due, a bounded
 * part at a time; above zero: there is more. 0, or what work() said.
 */
int vfio_ports_serve(struct vfio_port *ports, u32 nr, bool once, int (*work)(void *opaque), void *opaque);

#endif
