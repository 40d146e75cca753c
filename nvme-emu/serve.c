// SPDX-License-Identifier: GPL-2.0
#include "serve.h"
#include "vfio_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2
#define JSON_SCHEMA 1

static void usage(FILE *f, const struct serve_kind *kinds, u32 nr)
{
	fputs("usage: lightiov serve [--policy P] --socket PATH[,WORD=VALUE...]... [OPTION...]\n"
	      "\n"
	      "The model as vfio-user PCI devices, one a socket, for a VMM such as QEMU (11 or later):\n"
	      "  qemu-system-x86_64 -machine q35,memory-backend=m -object memory-backend-memfd,id=m,size=1G,share=on -m 1G ...\n"
	      "    -device '{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"PATH\"}}'\n"
	      "A client may follow another on a socket. The guest's memory must be a memfd, or another file of a tmpfs;\n"
	      "memory that comes without a file (ROMs) is taken, but DMA there fails. Interrupts are MSI-X, by eventfd.\n"
	      "\n", f);
	for (u32 i = 0; i < nr; i++)
		kinds[i].help(f);
	fputs("  --once          end when each socket has had a client and none is left (else: SIGTERM, SIGINT)\n"
	      "  --json[=FILE]   what was seen, at the end, as JSON on stdout or in FILE\n"
	      "\n"
	      "exit: 0 served, 1 the oracle saw a violation, 2 usage, or no memory for content\n", f);
}

static int complain(const char *what, const char *which)
{
	fprintf(stderr, "lightiov serve: %s%s%s\n", what, which ? ": " : "", which ? which : "");
	return -1;
}

static int take_socket(struct serve_options *o, const char *text)
{
	struct opts *s = &o->socket[o->nr_sockets];
	const char *path;

	if (o->nr_sockets == SERVE_SOCKETS_MAX)
		return complain("more than 16 sockets", NULL);
	if (!opts_parse(s, text, "path"))
		return complain("--socket: cannot be read", text);
	path = opts_get(s, "path");
	if (!path || !*path)
		return complain("--socket: give a path first", text);
	for (u32 i = 0; i < o->nr_sockets; i++)
		if (!strcmp(opts_get(&o->socket[i], "path"), path))
			return complain("--socket: twice", path);
	o->nr_sockets++;
	return 0;
}

/* "--name=VALUE" or "--name VALUE": the value, or NULL where it is another option. */
static const char *valued(const char *name, int argc, char **argv, int *at)
{
	size_t n = strlen(name);

	if (strncmp(argv[*at], name, n))
		return NULL;
	if (argv[*at][n] == '=')
		return argv[*at] + n + 1;
	return !argv[*at][n] && *at + 1 < argc ? argv[++*at] : NULL;
}

static int take_word(struct serve_options *o, int argc, char **argv, int *at)
{
	const char *word = argv[*at], *val;

	val = valued("--socket", argc, argv, at);
	if (val)
		return take_socket(o, val);
	val = valued("--policy", argc, argv, at);
	if (val) {
		o->policy = val;
		return 0;
	}
	if (!strncmp(word, "--json", 6) && (!word[6] || word[6] == '=')) {
		o->json = true;
		o->json_path = word[6] ? word + 7 : NULL;
		return 0;
	}
	o->once |= !strcmp(word, "--once");
	o->help |= !strcmp(word, "--help") || !strcmp(word, "-h");
	if (o->help || !strcmp(word, "--once"))
		return 0;
	return complain("not understood, or its value is missing; see lightiov help serve", word);
}

/* Numbers and words in a line each; a line for each object of a list. */
static void print_value(FILE *f, const json_t *v)
{
	if (json_is_string(v))
		fputs(json_string_value(v), f);
	else
		json_dumpf(v, f, JSON_ENCODE_ANY);
}

static void print_text(FILE *f, json_t *doc)
{
	const char *key, *inner;
	json_t *val, *row, *cell;
	size_t i;

	json_object_foreach(doc, key, val) {
		if (!json_is_array(val)) {
			fprintf(f, "%s: ", key);
			print_value(f, val);
			fputc('\n', f);
			continue;
		}
		json_array_foreach(val, i, row) {
			json_object_foreach(row, inner, cell) {
				fprintf(f, "%s%s ", json_object_iter_at(row, inner) == json_object_iter(row) ? "" : ", ", inner);
				print_value(f, cell);
			}
			fputc('\n', f);
		}
	}
}

static int print(const struct serve_options *o, json_t *doc)
{
	FILE *f = o->json_path ? fopen(o->json_path, "w") : stdout;
	int ret;

	if (!f)
		return complain(strerror(errno), o->json_path);
	if (o->json) {
		json_dumpf(doc, f, JSON_INDENT(2));
		fputc('\n', f);
	} else {
		print_text(f, doc);
	}
	ret = f == stdout ? fflush(f) : fclose(f);
	return ret ? complain(strerror(errno), "the report") : 0;
}

static int report(const struct serve_options *o, struct serve_world *w, const struct vfio_port *ports)
{
	json_t *doc = json_object(), *sockets = json_array();
	int ret;

	json_object_set_new(doc, "schema", json_integer(JSON_SCHEMA));
	json_object_set_new(doc, "policy", o->policy ? json_string(o->policy) : json_string("none"));
	for (u32 i = 0; i < o->nr_sockets; i++) {
		json_t *s = json_object();

		json_object_set_new(s, "socket", json_string(ports[i].path));
		json_object_set_new(s, "clients", json_integer(ports[i].clients));
		json_object_set_new(s, "ended_for_errors", json_integer(ports[i].errors));
		w->report_socket(w, i, s);
		json_array_append_new(sockets, s);
	}
	json_object_set_new(doc, "sockets", sockets);
	ret = w->report(w, doc);
	if (print(o, doc))
		ret = EXIT_USAGE;
	json_decref(doc);
	return ret;
}

static int serve(const struct serve_options *o, struct serve_world *w)
{
	struct vfio_port ports[SERVE_SOCKETS_MAX];
	int ret = 0;

	for (u32 i = 0; i < o->nr_sockets; i++)
		ports[i] = (struct vfio_port){ .path = opts_get(&o->socket[i], "path"), .dev = w->device[i], .listen = -1 };
	for (u32 i = 0; i < o->nr_sockets && !ret; i++) {
		ret = vfio_port_open(&ports[i]);
		if (ret)
			complain(strerror(errno), ports[i].path);
	}
	if (!ret)
		ret = vfio_ports_serve(ports, o->nr_sockets, o->once, w->work, w);
	for (u32 i = 0; i < o->nr_sockets; i++)
		vfio_port_close(&ports[i]);
	return ret ? EXIT_USAGE : report(o, w, ports);
}

static const struct serve_kind *find_kind(const struct serve_kind *kinds, u32 nr, const char *policy)
{
	for (u32 i = 0; i < nr; i++)
		if (policy && kinds[i].policy ? !strcmp(kinds[i].policy, policy) : policy == kinds[i].policy)
			return &kinds[i];
	return NULL;
}

static int run(struct serve_options *o, int argc, char **argv, const struct serve_kind *kinds, u32 nr)
{
	const struct serve_kind *kind;
	struct serve_world *w;
	char why[512];
	int ret;

	for (int at = 1; at < argc && !o->help; at++)
		if (take_word(o, argc, argv, &at))
			return EXIT_USAGE;
	if (o->help) {
		usage(stdout, kinds, nr);
		return 0;
	}
	kind = find_kind(kinds, nr, o->policy);
	if (!kind)
		return complain("--policy: only mediated can be served, or none for bare controllers", o->policy), EXIT_USAGE;
	if (!o->nr_sockets)
		return complain("give --socket PATH; see lightiov help serve", NULL), EXIT_USAGE;
	w = kind->make(o, why, sizeof(why));
	if (!w)
		return complain(why, NULL), EXIT_USAGE;
	ret = serve(o, w);
	w->free(w);
	return ret;
}

int serve_main(int argc, char **argv, const struct serve_kind *kinds, u32 nr_kinds)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	int ret = o ? run(o, argc, argv, kinds, nr_kinds) : EXIT_USAGE;

	free(o);
	return ret;
}
