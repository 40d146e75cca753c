/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVME_EMU_BASE64_H
#define NVME_EMU_BASE64_H

/* Base64, RFC 4648 section 4. */

#include "spec/spec_types.h"

/* Writes 4 characters for each 3 bytes or part of them, no zero at the end; returns how many. */
size_t base64_encode(char *to, const u8 *from, size_t len_bytes);

/* Padding may be missing. *@len_bytes in: room, what does not fit is dropped; out: bytes written. False: not base64. */
bool base64_decode(u8 *to, size_t *len_bytes, const char *text);

#endif
