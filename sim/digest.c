// SPDX-License-Identifier: GPL-2.0
#include "digest.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

int digest_init(struct digest *d)
{
	d->state = XXH3_createState();
	if (!d->state)
		return -ENOMEM;
	digest_reset(d);
	return 0;
}

void digest_fini(struct digest *d)
{
	XXH3_freeState(d->state);
	d->state = NULL;
}

/* Reset, update and digest of XXH3 fail only without a state. */
void digest_reset(struct digest *d)
{
	(void)XXH3_128bits_reset(d->state);
}

void digest_bytes(struct digest *d, const void *data, size_t len_bytes)
{
	(void)XXH3_128bits_update(d->state, data, len_bytes);
}

void digest_u64(struct digest *d, u64 value)
{
	digest_bytes(d, &value, sizeof(value));
}

void digest_string(struct digest *d, const char *text)
{
	size_t len_bytes = strlen(text);

	digest_u64(d, len_bytes);
	digest_bytes(d, text, len_bytes);
}

u64 digest_final(const struct digest *d)
{
	return XXH3_128bits_digest(d->state).low64;
}

void digest_hex(const struct digest *d, char hex[DIGEST_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	XXH128_canonical_t canonical;

	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(d->state));
	for (size_t i = 0; i < sizeof(canonical.digest); i++) {
		*hex++ = digits[canonical.digest[i] >> 4];
		*hex++ = digits[canonical.digest[i] & 15];
	}
	*hex = '\0';
}
