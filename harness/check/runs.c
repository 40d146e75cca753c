// SPDX-License-Identifier: GPL-2.0
/*
 * Read a result of lightiov --json, from stdin, for the shell: a line a run, fields between
 * tabs. Anything but one document of the known schema is an error.
 *
 *   outcome id variant policy verdict component codes victim digest failures noninterference difference
 *
 * or, with an argument:
 *
 *   path variant policy component sites
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA_VERSION 1

static const char *field(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s ? s : "-";
}

static void print_list(const json_t *list, char between)
{
	size_t i;

	if (json_array_size(list) == 0)
		putchar('-');
	for (i = 0; i < json_array_size(list); i++) {
		if (i)
			putchar(between);
		fputs(json_string_value(json_array_get(list, i)), stdout);
	}
}

static void print_run(const json_t *run)
{
	const json_t *verdict = json_object_get(run, "verdict"), *leak = json_object_get(run, "noninterference");

	printf("%s\t%s\t%s\t%s\t", field(run, "outcome"), field(run, "id"), field(run, "variant"), field(run, "policy"));
	printf("%s\t%s\t", field(verdict, "kind"), field(verdict, "component"));
	print_list(json_object_get(verdict, "codes"), '|');
	printf("\t%s\t%s\t", field(verdict, "victim"), field(run, "digest"));
	print_list(json_object_get(run, "failures"), ';');
	printf("\t%s\t%s", field(leak, "kind"), field(leak, "what"));
	putchar('\n');
}

static void print_sites(const json_t *run)
{
	printf("%s\t%s\t%s\t%s\t", field(run, "path"), field(run, "variant"), field(run, "policy"), field(json_object_get(run, "verdict"), "component"));
	print_list(json_object_get(run, "sites"), ',');
	putchar('\n');
}

int main(int argc, char **argv __attribute__((unused)))
{
	json_error_t error;
	json_t *doc = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
	const json_t *runs = json_object_get(doc, "runs");
	json_int_t counted = json_integer_value(json_object_get(json_object_get(doc, "summary"), "runs"));
	size_t i;

	if (!doc) {
		fprintf(stderr, "not one JSON document: line %d: %s\n", error.line, error.text);
		return 1;
	}
	if (json_integer_value(json_object_get(doc, "schema_version")) != SCHEMA_VERSION || !json_is_array(runs) ||
	    (size_t)counted != json_array_size(runs)) {
		fprintf(stderr, "another schema than %d, or a summary of other runs\n", SCHEMA_VERSION);
		return 1;
	}
	for (i = 0; i < json_array_size(runs); i++)
		(argc > 1 ? print_sites : print_run)(json_array_get(runs, i));
	json_decref(doc);
	return 0;
}
