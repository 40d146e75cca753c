// SPDX-License-Identifier: GPL-2.0
/*
 * One page for people: page.html with the style, the script and the document of all runs put in where
 * it says "@STYLE@", "@SCRIPT@" and "@DATA@". It loads nothing, so that it can be kept, sent and opened anywhere.
 */

#include "report/document.h"

#include <errno.h>
#include <string.h>

/* Files beside this one, as text. */
#define EMBED(name, file) \
	__asm__(".pushsection .rodata\n" #name ":\n.incbin \"" file "\"\n.byte 0\n.popsection\n"); \
	extern const char name[] __attribute__((visibility("hidden")))

EMBED(page_html, "sim/report/page.html");
EMBED(page_style, "sim/report/page.css");
EMBED(page_script, "sim/report/page.js");

/* Inside a script element "</script" would end it and "<!--" would confuse: JSON can say '<' otherwise. */
static int put_json(const char *buf, size_t size, void *opaque)
{
	FILE *f = opaque;
	size_t i;

	for (i = 0; i < size; i++)
		if ((buf[i] == '<' ? fputs("\\u003c", f) : fputc(buf[i], f)) == EOF)
			return -1;
	return 0;
}

static int put_part(FILE *f, const char *name, const json_t *doc)
{
	if (strncmp(name, "@STYLE@", 7) == 0)
		return fputs(page_style, f) == EOF ? -EIO : 7;
	if (strncmp(name, "@SCRIPT@", 8) == 0)
		return fputs(page_script, f) == EOF ? -EIO : 8;
	if (strncmp(name, "@DATA@", 6) == 0)
		return json_dump_callback(doc, put_json, f, JSON_SORT_KEYS | JSON_COMPACT) ? -EIO : 6;
	return fputc(*name, f) == EOF ? -EIO : 1;
}

int report_html(const struct plan *p, const struct cli_options *o)
{
	FILE *f = fopen(o->html_path, "w");
	json_t *doc;
	const char *at = page_html;
	int n = 0;

	if (!f)
		return -errno;
	doc = document_runs(p, o, true);
	while (*at && (n = put_part(f, at, doc)) > 0)
		at += n;
	json_decref(doc);
	if (fclose(f) && n >= 0)
		return -errno;
	return n < 0 ? n : 0;
}
