/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GUEST_PORT_ERRNO_H
#define GUEST_PORT_ERRNO_H

/* A bare guest has no <errno.h>: what the core uses, with Linux's numbers. */
#define EIO		5
#define EAGAIN		11
#define ENOENT		2
#define ENOMEM		12
#define EFAULT		14
#define EBUSY		16
#define ENODEV		19
#define EINVAL		22
#define ENOSPC		28
#define EOPNOTSUPP	95
#define ETIMEDOUT	110

#endif
