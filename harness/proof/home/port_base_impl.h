/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PROOF_PORT_BASE_IMPL_H
#define PROOF_PORT_BASE_IMPL_H

/* Where the core asserts, that it holds is a goal. */
/*@ requires holds: condition != 0;
  @ assigns \nothing;
  @*/
void proof_assert(int condition);
#define LIOV_ASSERT(cond) proof_assert((cond) ? 1 : 0)

void *memset(void *s, int c, size_t n);
void *memcpy(void *to, const void *from, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif
