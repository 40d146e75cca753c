/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_PORT_PORT_ERRNO_H
#define LINUX_PORT_PORT_ERRNO_H

#include <linux/errno.h>

#endif
