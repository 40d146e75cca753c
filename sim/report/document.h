/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_REPORT_DOCUMENT_H
#define SIM_REPORT_DOCUMENT_H

/* What the reports that are JSON, or hold some, share. */

#include "cli/cli.h"

#include <jansson.h>

/* Text of any origin: what is not UTF-8 is shown as bytes. */
json_t *document_text(const char *s);
/* "0x..." */
json_t *document_hex(u64 v);

/* All runs of @p: json.c's document. @timelines: with the events that were recorded. */
json_t *document_runs(const struct plan *p, const struct cli_options *o, bool timelines);

/* timeline.c: the events of a run that a page shows, in their order. */
json_t *document_timeline(const struct planned *p);
/* ... and one event's numbers by name. */
struct trace_event;
json_t *document_numbers(const struct trace_event *ev);
/* "SCT/SC", as the scenarios say it, of a status whose bits 10:8 are the SCT. */
void document_status(u64 status, char buf[24]);
/* Name of a VM or "host", "nobody". */
const char *document_owner(const struct run_result *r, u32 owner);

/* Write @doc, its keys sorted, to @path (NULL: stdout), and drop it. 0 or -errno. */
int document_put(json_t *doc, const char *path);

#endif
