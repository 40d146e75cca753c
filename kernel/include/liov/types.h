/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_TYPES_H
#define LIOV_TYPES_H

/* Integers, address newtypes and bit helpers: the specifications' own, from model/spec on the include path. */

#include "spec_types.h"

/* A part of a command's data: guest-physical for the frontend. */
struct liov_segment {
	gpa_t addr;
	u32 len_bytes;
};

/* A range of numbers: blocks, bytes, queue ids. */
struct liov_range {
	u64 start, count;
};

/* A guest's MSI-X message: the virtual table's entry. */
struct liov_msi {
	u64 addr;
	u32 data;
	u16 vector;		/* index in the virtual table */
};

/* Errors are negative numbers of the home's <errno.h>; the core uses only these. */
#include "port_errno.h"		/* home: EINVAL ENOMEM ENOSPC EBUSY EFAULT EIO ENODEV ETIMEDOUT EAGAIN EOPNOTSUPP */

#endif
