// SPDX-License-Identifier: GPL-2.0
#include "opts.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add(struct opts *o, const char *key, const char *val)
{
	if (o->nr == OPTS_MAX)
		return false;
	o->opt[o->nr].key = key;
	o->opt[o->nr++].val = val;
	return true;
}

/* Cuts the word that starts at @from off, with ",," made a comma; returns where the next starts. */
static char *next_word(char *from)
{
	char *to = from;

	while (*from && (*from != ',' || from[1] == ',')) {
		from += *from == ',';
		*to++ = *from++;
	}
	from += *from == ',';
	*to = '\0';
	return from;
}

static bool parse_words(struct opts *o, const char *first)
{
	char *at = o->text;
	bool is_first = true;

	while (*at) {
		char *word = at, *equals;

		at = next_word(word);
		equals = strchr(word, '=');
		if (equals)
			*equals = '\0';
		if (!(equals ? add(o, word, equals + 1) : is_first && first ? add(o, first, word) : add(o, word, "on")))
			return false;
		is_first = false;
	}
	return true;
}

/* Appends to o->text, of which *@used is taken; NULL: no room. */
static const char *keep(struct opts *o, size_t *used, const char *text)
{
	size_t n = strlen(text) + 1;
	char *at = o->text + *used;

	if (n > OPTS_TEXT_MAX - *used)
		return NULL;
	memcpy(at, text, n);
	*used += n;
	return at;
}

static bool add_value(struct opts *o, size_t *used, const char *key, const json_t *val)
{
	const char *k = keep(o, used, key), *v;
	char number[32];

	if (json_is_string(val)) {
		v = json_string_value(val);
	} else if (json_is_integer(val)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(val));
		v = number;
	} else if (json_is_boolean(val)) {
		v = json_is_true(val) ? "on" : "off";
	} else {
		return false;
	}
	v = keep(o, used, v);
	return k && v && add(o, k, v);
}

/* One level of nesting: {"file": {"driver": "x"}} is file.driver=x. */
static bool parse_json(struct opts *o, const char *text)
{
	json_t *top = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *val, *inner_val;
	const char *key, *inner;
	size_t used = 0;
	bool ok = json_is_object(top);
	char name[256];

	json_object_foreach(top, key, val) {
		if (!json_is_object(val)) {
			ok = ok && add_value(o, &used, key, val);
			continue;
		}
		json_object_foreach(val, inner, inner_val) {
			snprintf(name, sizeof(name), "%s.%s", key, inner);
			ok = ok && add_value(o, &used, name, inner_val);
		}
	}
	json_decref(top);
	return ok;
}

bool opts_parse(struct opts *o, const char *text, const char *first)
{
	o->nr = 0;
	if (strlen(text) >= sizeof(o->text))
		return false;
	if (*text == '{')
		return parse_json(o, text);
	memcpy(o->text, text, strlen(text) + 1);
	return parse_words(o, first);
}

const char *opts_get(const struct opts *o, const char *key)
{
	for (u32 i = o->nr; i-- > 0;)
		if (!strcmp(o->opt[i].key, key))
			return o->opt[i].val;
	return NULL;
}

static bool number_at(const char *text, u64 *out, const char **end)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &stop, 0);
	*end = stop;
	return !errno;
}

bool opts_number(const char *text, u64 *out)
{
	const char *end;

	return number_at(text, out, &end) && !*end;
}

bool opts_size(const char *text, u64 unit, u64 *out)
{
	static const char suffixes[] = "KMGT";
	const char *end, *found;

	if (!number_at(text, out, &end))
		return false;
	if (*end) {
		found = strchr(suffixes, *end >= 'a' ? *end - 'a' + 'A' : *end);
		if (*end == 'B' || *end == 'b')
			unit = 1;
		else if (found)
			unit = 1024ULL << 10 * (found - suffixes);
		else
			return false;
		if (end[1])
			return false;
	}
	if (*out > ~0ULL / unit)
		return false;
	*out *= unit;
	return true;
}

int opts_bool(const char *text)
{
	static const char *const yes[] = { "on", "yes", "true", "y" }, *const no[] = { "off", "no", "false", "n" };

	for (u32 i = 0; i < 4; i++) {
		if (!strcmp(text, yes[i]))
			return 1;
		if (!strcmp(text, no[i]))
			return 0;
	}
	return -1;
}
