/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PROOF_PORT_ERRNO_H
#define PROOF_PORT_ERRNO_H

/* A home for the proofs: Linux's numbers. The pure functions need no more of a home than this. */

#define ENOENT		2
#define EIO		5
#define EAGAIN		11
#define ENOMEM		12
#define EFAULT		14
#define EBUSY		16
#define ENODEV		19
#define EINVAL		22
#define ENOSPC		28
#define EOPNOTSUPP	95
#define ETIMEDOUT	110

#endif
