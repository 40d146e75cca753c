/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIOV_CORE_FRONTEND_H
#define LIOV_CORE_FRONTEND_H

/* What the frontend's files say to each other. Not for homes. */

#include "liov/frontend.h"
#include "nvme.h"
#include "ring.h"

#define FE_AER_CID	0xFFF0u

/* Admin queue layout in fe->admin: SQ, CQ and a data page. */
#define FE_ADMIN_ENTRIES 32u
#define FE_ADMIN_SQ	0u
#define FE_ADMIN_CQ	4096u
#define FE_ADMIN_DATA	8192u
#define FE_ADMIN_PAGES	3u

static inline void fe_trace(struct liov_frontend *fe, enum liov_trace_kind kind, u32 code, u64 a, u64 b)
{
	port_trace(fe->home, &(struct liov_trace){ kind, LIOV_FRONTEND, LIOV_TRACE_SELF, code, a, b });
}

static inline gpa_t fe_admin_data_gpa(const struct liov_frontend *fe)
{
	return (gpa_t){ fe->admin_gpa.v + FE_ADMIN_DATA };
}

/* frontend_admin.c */
int fe_admin_start(struct liov_frontend *fe);
void fe_admin_stop(struct liov_frontend *fe);
int fe_admin_post_aer(struct liov_frontend *fe);
int fe_set_enable(struct liov_frontend *fe, bool enable);

/* frontend_io.c */
int fe_queue_start(struct liov_frontend *fe, u32 index);
int fe_queue_restart(struct liov_frontend *fe, u32 index);
void fe_queue_close(struct liov_frontend *fe, u32 index);
void fe_queue_stop(struct liov_frontend *fe, u32 index);
void fe_queue_free(struct liov_frontend *fe, u32 index);

#endif
