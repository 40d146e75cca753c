// SPDX-License-Identifier: GPL-2.0
#include "base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(char *to, const u8 *from, size_t len_bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < len_bytes; i += 3) {
		size_t left = len_bytes - i;
		u32 v = (u32)from[i] << 16 | (left > 1 ? (u32)from[i + 1] << 8 : 0) | (left > 2 ? from[i + 2] : 0);

		to[n++] = digits[v >> 18];
		to[n++] = digits[v >> 12 & 63];
		to[n++] = left > 1 ? digits[v >> 6 & 63] : '=';
		to[n++] = left > 2 ? digits[v & 63] : '=';
	}
	return n;
}

static int digit(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

bool base64_decode(u8 *to, size_t *len_bytes, const char *text)
{
	size_t given = strlen(text), pad = 0, n = 0;
	u32 v = 0;

	while (pad < 2 && given && text[given - 1] == '=') {
		given--;
		pad++;
	}
	if (given % 4 == 1 || (pad && (given + pad) % 4))
		return false;
	for (size_t i = 0; i < given; i++) {
		int d = digit(text[i]);

		if (d < 0)
			return false;
		v = v << 6 | (u32)d;
		if (i % 4 && n < *len_bytes)
			to[n++] = (u8)(v >> (6 - 2 * (i % 4)));
	}
	*len_bytes = n;
	return true;
}
