// SPDX-License-Identifier: GPL-2.0
#include "cmdline.h"

#include <string.h>

/* Who the test protocol and QMP talk to: QEMU's character devices, as far as there is a use for them. */

static int take_path(struct cmdline *c, struct chardev *dev, const char *path)
{
	if (!*path || strlen(path) >= sizeof(dev->path))
		return cmdline_fail(c, "a socket's path has 1 to %zu characters: %.200s", sizeof(dev->path) - 1, path);
	dev->kind = CHARDEV_UNIX;
	strcpy(dev->path, path);
	return 0;
}

static int take_fd(struct cmdline *c, struct chardev *dev, const char *val)
{
	u64 fd;

	if (!opts_number(val, &fd) || fd > 0xFFFF)
		return cmdline_fail(c, "fd=%.32s: not the number of a file descriptor", val);
	dev->kind = CHARDEV_FD;
	dev->fd = (int)fd;
	return 0;
}

/* "wait", "reconnect" and their like do not matter: nothing happens before somebody asks for it. */
static int take_socket(struct cmdline *c, struct chardev *dev, const struct opts *o)
{
	const char *path = opts_get(o, "path"), *fd = opts_get(o, "fd"), *server = opts_get(o, "server");

	if (!path && !fd)
		return cmdline_fail(c, "a socket is given as path= or fd=: the model has no networks");
	dev->server = server && opts_bool(server) == 1;
	return fd ? take_fd(c, dev, fd) : take_path(c, dev, path);
}

static struct chardev *new_chardev(struct cmdline *c, const char *id)
{
	struct chardev *dev;

	for (u32 i = 0; i < c->nr_chardevs; i++) {
		if (*id && !strcmp(c->chardev[i].id, id)) {
			cmdline_fail(c, "there are two chardevs '%s'", id);
			return NULL;
		}
	}
	if (c->nr_chardevs == CMDLINE_CHARDEVS_MAX || strlen(id) >= CMDLINE_NAME_MAX) {
		cmdline_fail(c, "-chardev: at most %u, with an id of at most %u characters", CMDLINE_CHARDEVS_MAX,
			     CMDLINE_NAME_MAX - 1);
		return NULL;
	}
	dev = &c->chardev[c->nr_chardevs++];
	*dev = (struct chardev){ .kind = CHARDEV_NULL };
	strcpy(dev->id, id);
	return dev;
}

static int take_backend(struct cmdline *c, struct chardev *dev, const char *backend, const struct opts *o)
{
	if (!strcmp(backend, "socket"))
		return take_socket(c, dev, o);
	if (!strcmp(backend, "stdio"))
		dev->kind = CHARDEV_STDIO;
	return 0;	/* files, terminals and so on have nothing to say to the model */
}

int cmdline_chardev(struct cmdline *c, const char *text)
{
	struct opts o;
	const char *backend, *id;
	struct chardev *dev;

	if (!opts_parse(&o, text, "backend"))
		return cmdline_fail(c, "-chardev: cannot be read: %.200s", text);
	backend = opts_get(&o, "backend");
	id = opts_get(&o, "id");
	if (!backend || !id)
		return cmdline_fail(c, "-chardev: give BACKEND,id=NAME");
	dev = new_chardev(c, id);
	return dev ? take_backend(c, dev, backend, &o) : -1;
}

static const struct chardev *find(struct cmdline *c, const char *id)
{
	for (u32 i = 0; i < c->nr_chardevs; i++)
		if (!strcmp(c->chardev[i].id, id))
			return &c->chardev[i];
	cmdline_fail(c, "there is no chardev '%.64s'", id);
	return NULL;
}

const struct chardev *cmdline_endpoint(struct cmdline *c, const char *text)
{
	struct chardev *dev;
	struct opts o;
	int ret = 0;

	if (!strncmp(text, "chardev:", 8))
		return find(c, text + 8);
	dev = new_chardev(c, "");
	if (!dev)
		return NULL;
	if (!strncmp(text, "unix:", 5)) {
		if (opts_parse(&o, text + 5, "path"))
			ret = take_socket(c, dev, &o);
		else
			ret = cmdline_fail(c, "cannot be read: %.200s", text);
	} else if (!strncmp(text, "fd:", 3)) {
		ret = take_fd(c, dev, text + 3);
	} else if (!strcmp(text, "stdio")) {
		dev->kind = CHARDEV_STDIO;
	} else if (strcmp(text, "null") && strcmp(text, "none")) {
		ret = cmdline_fail(c, "'%.200s': give stdio, unix:PATH[,server=on], fd:N, chardev:ID or null", text);
	}
	return ret ? NULL : dev;
}
