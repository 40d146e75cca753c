// SPDX-License-Identifier: GPL-2.0
#include "diff/diff.h"

#include <jansson.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* QMP, for the one command that is of use here: what qtest cannot see, the human monitor tells. */

#define ANSWER_MS 20000
#define TEXT_MAX 65536

/* The next object with "return" in it; what else comes is passed over. NULL: nothing came. */
static json_t *next_return(int fd)
{
	const size_t flags = JSON_DISABLE_EOF_CHECK;
	char text[TEXT_MAX];
	size_t len = 0;

	while (len < sizeof(text) - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		json_t *value;
		bool ended;

		if (poll(&p, 1, ANSWER_MS) <= 0 || recv(fd, text + len, 1, 0) != 1)
			return NULL;
		ended = text[len++] == '\n';
		if (!ended)
			continue;
		value = json_loadb(text, len, flags, NULL);
		len = 0;
		if (value && json_object_get(value, "return"))
			return value;
		json_decref(value);
	}
	return NULL;
}

static json_t *ask(int fd, const char *text)
{
	size_t len = strlen(text);

	return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ? next_return(fd) : NULL;
}

/* Capabilities are negotiated at the first command of a machine. */
void side_monitor(struct side *s, const char *command, char *answer, size_t size)
{
	char text[512];
	json_t *reply;

	*answer = '\0';
	if (s->dead)
		return;
	if (!s->has_monitor) {
		json_decref(ask(s->monitor_fd, "{\"execute\":\"qmp_capabilities\"}\n"));
		s->has_monitor = true;
	}
	snprintf(text, sizeof(text), "{\"execute\":\"human-monitor-command\",\"arguments\":{\"command-line\":\"%s\"}}\n", command);
	reply = ask(s->monitor_fd, text);
	if (reply)
		snprintf(answer, size, "%s", json_string_value(json_object_get(reply, "return")));
	json_decref(reply);
}
