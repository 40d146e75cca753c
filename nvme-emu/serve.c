// SPDX-License-Identifier: GPL-2.0
#include "serve.h"
#include "vfio_port.h"
#include "vfio_record.h"
#include "vfio_replay.h"

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
	      "  --record FILE   write down all that guests and devices do; lightiov run --replay FILE repeats it without guests\n"
	      "  --json[=FILE]   what was seen, at the end, as JSON on stdout or in FILE\n"
	      "\n"
	      "exit: 0 served, 1 the oracle saw a violation, 2 usage, or no memory for content, 3 LightIOV does not answer\n", f);
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
	val = valued("--record", argc, argv, at);
	if (val) {
		o->record = val;
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

/* What the devices say of themselves; the exit code. */
static int ask(struct serve_world *w, u32 nr, json_t *doc, json_t *const *sockets)
{
	for (u32 i = 0; i < nr; i++)
		w->report_socket(w, i, sockets[i]);
	return w->report(w, doc);
}

/* The same in a line, to be compared. The caller frees it. */
static char *summary(struct serve_world *w, u32 nr)
{
	json_t *doc = json_object(), *sockets[SERVE_SOCKETS_MAX], *list = json_array();
	char *text;

	for (u32 i = 0; i < nr; i++) {
		sockets[i] = json_object();
		json_array_append_new(list, sockets[i]);
	}
	ask(w, nr, doc, sockets);
	json_object_set_new(doc, "sockets", list);
	text = json_dumps(doc, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(doc);
	return text;
}

static int report(const struct serve_options *o, struct serve_world *w, const struct vfio_port *ports)
{
	json_t *doc = json_object(), *list = json_array(), *sockets[SERVE_SOCKETS_MAX];
	int ret;

	json_object_set_new(doc, "schema", json_integer(JSON_SCHEMA));
	json_object_set_new(doc, "policy", o->policy ? json_string(o->policy) : json_string("none"));
	for (u32 i = 0; i < o->nr_sockets; i++) {
		sockets[i] = json_object();
		json_object_set_new(sockets[i], "socket", json_string(ports[i].path));
		json_object_set_new(sockets[i], "clients", json_integer(ports[i].clients));
		json_object_set_new(sockets[i], "ended_for_errors", json_integer(ports[i].errors));
		json_array_append_new(list, sockets[i]);
	}
	json_object_set_new(doc, "sockets", list);
	ret = ask(w, o->nr_sockets, doc, sockets);
	if (print(o, doc))
		ret = EXIT_USAGE;
	json_decref(doc);
	return ret;
}

/* --- serving --- */

struct service {
	struct serve_world *w;
	struct vfio_recording *rec;	/* NULL: none */
};

static int work(void *opaque)
{
	struct service *s = opaque;
	int ret;

	if (!s->w->due(s->w))
		return 0;
	if (s->rec)
		vfio_record_work(s->rec);
	ret = s->w->work(s->w) ? 0 : -1;
	if (s->rec)
		vfio_record_worked(s->rec, ret);
	return ret ? ret : s->w->due(s->w);
}

/* The words that make the same world again, each ended by a NUL. */
static struct vfio_recording *record(const struct serve_options *o, int argc, char **argv)
{
	struct vfio_recording *r = NULL;
	size_t n = 0, room = 1;
	char *words;

	for (int i = 1; i < argc; i++)
		room += strlen(argv[i]) + 1;
	words = malloc(room);
	for (int i = 1; words && i < argc; i++) {
		memcpy(words + n, argv[i], strlen(argv[i]) + 1);
		n += strlen(argv[i]) + 1;
	}
	errno = ENAMETOOLONG;
	if (words && n <= RECORD_TEXT_MAX)
		r = vfio_record_new(o->record, words, n);
	if (!r)
		complain(strerror(errno), o->record);
	free(words);
	return r;
}

static int record_end(const struct serve_options *o, struct service *s)
{
	char *text = summary(s->w, o->nr_sockets);
	int ret = vfio_record_end(s->rec, text ? text : "") ? complain(strerror(errno), o->record) : 0;

	free(text);
	return ret;
}

static int serve(const struct serve_options *o, struct service *s)
{
	struct vfio_port ports[SERVE_SOCKETS_MAX];
	int ret = 0;

	for (u32 i = 0; i < o->nr_sockets; i++) {
		struct vfio_device *d = s->w->device[i];

		ports[i] = (struct vfio_port){ .path = opts_get(&o->socket[i], "path"), .listen = -1,
					       .dev = s->rec ? vfio_record_device(s->rec, i, d) : d };
	}
	for (u32 i = 0; i < o->nr_sockets && !ret; i++) {
		ret = vfio_port_open(&ports[i]);
		if (ret)
			complain(strerror(errno), ports[i].path);
	}
	if (!ret)
		ret = vfio_ports_serve(ports, o->nr_sockets, o->once, work, s);
	if (s->w->broken)
		ret = s->w->broken;
	for (u32 i = 0; i < o->nr_sockets; i++)
		vfio_port_close(&ports[i]);
	if (s->rec && record_end(o, s))
		ret = -1;
	if (!ret)
		return report(o, s->w, ports);
	return ret > 0 ? ret : EXIT_USAGE;
}

static const struct serve_kind *find_kind(const struct serve_kind *kinds, u32 nr, const char *policy)
{
	for (u32 i = 0; i < nr; i++)
		if (policy && kinds[i].policy ? !strcmp(kinds[i].policy, policy) : policy == kinds[i].policy)
			return &kinds[i];
	return NULL;
}

/* The options, and the world that they ask for. NULL: *ret is the exit code. */
static struct serve_world *prepare(struct serve_options *o, int argc, char **argv, const struct serve_kind *kinds, u32 nr, int *ret)
{
	const struct serve_kind *kind;
	struct serve_world *w;
	char why[512];

	*ret = EXIT_USAGE;
	for (int at = 1; at < argc && !o->help; at++)
		if (take_word(o, argc, argv, &at))
			return NULL;
	if (o->help) {
		usage(stdout, kinds, nr);
		*ret = 0;
		return NULL;
	}
	kind = find_kind(kinds, nr, o->policy);
	if (!kind)
		complain("--policy: only mediated can be served, or none for bare controllers", o->policy);
	else if (!o->nr_sockets)
		complain("give --socket PATH; see lightiov help serve", NULL);
	if (!kind || !o->nr_sockets)
		return NULL;
	w = kind->make(o, why, sizeof(why));
	if (!w)
		complain(why, NULL);
	return w;
}

static int run(struct serve_options *o, int argc, char **argv, const struct serve_kind *kinds, u32 nr)
{
	int ret;
	struct service s = { .w = prepare(o, argc, argv, kinds, nr, &ret) };

	if (!s.w)
		return ret;
	if (o->record)
		s.rec = record(o, argc, argv);
	ret = o->record && !s.rec ? EXIT_USAGE : serve(o, &s);
	s.w->free(s.w);
	return ret;
}

int serve_main(int argc, char **argv, const struct serve_kind *kinds, u32 nr_kinds)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	int ret = o ? run(o, argc, argv, kinds, nr_kinds) : EXIT_USAGE;

	free(o);
	return ret;
}

/* --- replay --- */

static int replay_work(void *opaque)
{
	struct serve_world *w = opaque;

	return w->work(w) ? 0 : -1;
}

static int replay(struct vfio_replay *r, struct serve_world *w, u32 nr)
{
	struct vfio_replayed seen;
	const char *then;
	char why[512], *now;
	int ret = vfio_replay_run(r, w->device, nr, replay_work, w, &then, why, sizeof(why));

	if (ret == EXIT_USAGE)
		return complain("--replay", why), ret;
	now = summary(w, nr);
	if (!ret && (!now || strcmp(now, then))) {
		snprintf(why, sizeof(why), "the report at the end: recorded %.200s; now %.200s", then, now ? now : "");
		ret = 1;
	}
	free(now);
	seen = vfio_replay_seen(r);
	printf("replayed: %llu accesses, %llu DMA reads, %llu DMA writes, %llu interrupts\ndigest: %016llx\nagrees: %s%s%s\n",
	       (unsigned long long)seen.accesses, (unsigned long long)seen.dma_reads, (unsigned long long)seen.dma_writes,
	       (unsigned long long)seen.interrupts, (unsigned long long)seen.digest, ret ? "no" : "yes", ret ? ": " : "", ret ? why : "");
	return ret;
}

int serve_replay(const char *path, const struct serve_kind *kinds, u32 nr_kinds)
{
	struct serve_options *o = calloc(1, sizeof(*o));
	char why[256] = "no memory", *argv[2 * SERVE_SOCKETS_MAX + 16] = { (char *)"serve" }, *copy = NULL;
	struct vfio_replay *r = NULL;
	struct serve_world *w = NULL;
	const char *words;
	int argc = 1, ret = EXIT_USAGE;
	size_t n;

	if (o)
		r = vfio_replay_open(path, &words, &n, why, sizeof(why));
	if (r)
		copy = malloc(n);
	if (!copy) {
		complain(path, why);
	} else {
		memcpy(copy, words, n);
		for (size_t at = 0; at < n && argc < (int)(sizeof(argv) / sizeof(argv[0])); at += strlen(copy + at) + 1)
			argv[argc++] = copy + at;
		w = prepare(o, argc, argv, kinds, nr_kinds, &ret);
	}
	if (w) {
		ret = replay(r, w, o->nr_sockets);
		w->free(w);
	}
	if (!w && !ret)
		ret = EXIT_USAGE;
	vfio_replay_close(r);
	free(copy);
	free(o);
	return ret;
}
