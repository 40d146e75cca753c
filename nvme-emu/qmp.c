// SPDX-License-Identifier: GPL-2.0
#include "qmp.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_MAJOR 11
#define NEWEST_MINOR 1
#define MACHINE_ACPI_SINCE 8	/* query-machines has "acpi" from this QEMU on; clients insist on either */

static void send_json(struct qmp *q, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_PRESERVE_ORDER) : NULL;

	if (text) {
		q->send(q->opaque, text, strlen(text));
		q->send(q->opaque, "\r\n", 2);
	}
	free(text);
	json_decref(value);
}

static void send_error(struct qmp *q, json_t *id, const char *class, const char *desc)
{
	json_t *reply = json_pack("{s:{s:s,s:s}}", "error", "class", class, "desc", desc);

	if (id)
		json_object_set(reply, "id", id);
	send_json(q, reply);
}

/* Virtual time, so that a run repeats itself. */
static void send_event(struct qmp *q, const char *event, const char *reason)
{
	u64 us = emu_clock_ns(q->m) / 1000;

	send_json(q, json_pack("{s:{s:I,s:I},s:s,s:{s:b,s:s}}", "timestamp", "seconds", (json_int_t)(us / 1000000),
			       "microseconds", (json_int_t)(us % 1000000), "event", event, "data", "guest", 0, "reason", reason));
}

static json_t *version(const struct qmp *q)
{
	return json_pack("{s:{s:i,s:i,s:i},s:s}", "qemu", "micro", 0, "minor", (int)q->minor, "major", (int)q->major,
			 "package", "LightIOV model");
}

void qmp_connect(struct qmp *q)
{
	q->negotiated = false;
	q->len = 0;
	q->depth = 0;
	q->in_string = q->escaped = q->too_long = false;
	send_json(q, json_pack("{s:{s:o,s:[]}}", "QMP", "version", version(q), "capabilities"));
}

/* Where a command leaves its answer: a new reference, or why there is none. */
struct answer {
	json_t *value;
	const char *error;
};

static struct answer nothing(void)
{
	return (struct answer){ .value = json_object() };
}

static struct answer do_capabilities(struct qmp *q, const json_t *arguments)
{
	(void)arguments;
	q->negotiated = true;
	return nothing();
}

static struct answer do_version(struct qmp *q, const json_t *arguments)
{
	(void)arguments;
	return (struct answer){ .value = version(q) };
}

static struct answer do_quit(struct qmp *q, const json_t *arguments)
{
	(void)arguments;
	q->quit = true;
	return nothing();
}

static struct answer do_reset(struct qmp *q, const json_t *arguments)
{
	(void)arguments;
	emu_reset(q->m);
	return nothing();
}

static struct answer do_nothing(struct qmp *q, const json_t *arguments)
{
	(void)q;
	(void)arguments;
	return nothing();
}

static struct answer do_status(struct qmp *q, const json_t *arguments)
{
	(void)q;
	(void)arguments;
	return (struct answer){ .value = json_pack("{s:s,s:b}", "status", "running", "running", 1) };
}

static json_t *machine(const struct qmp *q, const char *name)
{
	json_t *m = json_pack("{s:s,s:i,s:b,s:b,s:b}", "name", name, "cpu-max", EMU_CPUS_MAX, "hotpluggable-cpus", 0,
			      "numa-mem-supported", 0, "deprecated", 0);

	if (q->major >= MACHINE_ACPI_SINCE)
		json_object_set_new(m, "acpi", json_false());
	return m;
}

static struct answer do_machines(struct qmp *q, const json_t *arguments)
{
	(void)arguments;
	return (struct answer){ .value = json_pack("[o,o,o]", machine(q, "none"), machine(q, "pc"), machine(q, "q35")) };
}

static struct answer do_types(struct qmp *q, const json_t *arguments)
{
	(void)q;
	(void)arguments;
	return (struct answer){ .value = json_pack("[{s:s,s:s},{s:s,s:s},{s:s,s:s}]", "name", "nvme", "parent", "pci-device",
						   "name", "nvme-ns", "parent", "device",
						   "name", "intel-iommu", "parent", "x86-iommu") };
}

/* The line of QEMU's 'info lapic' that a test looks for: which vectors arrived. */
static struct answer lapic_info(const struct emu *m, u32 cpu)
{
	char text[2048];
	size_t n;
	bool any = false;

	n = (size_t)snprintf(text, sizeof(text), "dumping local APIC state for CPU %u\r\n\r\nISR\t (none)\r\nIRR\t ", cpu);
	for (u32 vector = 0; vector < 256; vector++) {
		if (!emu_lapic_requested(m, cpu, (u8)vector))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%u ", vector);
		any = true;
	}
	snprintf(text + n, sizeof(text) - n, "%s\r\n", any ? "" : "(none)");
	return (struct answer){ .value = json_string(text) };
}

static struct answer do_human(struct qmp *q, const json_t *arguments)
{
	const char *line = json_string_value(json_object_get(arguments, "command-line"));
	unsigned int cpu = 0;

	if (!line || strncmp(line, "info lapic", 10) || (line[10] && sscanf(line + 10, " %u", &cpu) != 1))
		return (struct answer){ .error = "of the human monitor there is 'info lapic N'" };
	if (cpu >= q->m->cfg.cpus)
		return (struct answer){ .value = json_string("No CPU available\r\n") };
	return lapic_info(q->m, cpu);
}

static const struct command {
	const char *name;
	struct answer (*run)(struct qmp *q, const json_t *arguments);
} commands[] = {
	{ "qmp_capabilities", do_capabilities }, { "query-version", do_version }, { "quit", do_quit },
	{ "system_reset", do_reset }, { "query-status", do_status }, { "query-machines", do_machines },
	{ "qom-list-types", do_types }, { "human-monitor-command", do_human }, { "cont", do_nothing }, { "stop", do_nothing },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; name && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void execute(struct qmp *q, json_t *request)
{
	json_t *id = json_object_get(request, "id"), *reply;
	const char *name = json_string_value(json_object_get(request, "execute"));
	const struct command *command = find(name);
	struct answer a;
	char desc[160];

	if (!name) {
		send_error(q, id, "GenericError", "QMP input lacks member 'execute'");
		return;
	}
	if (!q->negotiated && (!command || command->run != do_capabilities)) {
		send_error(q, id, "CommandNotFound", "Expecting capabilities negotiation with 'qmp_capabilities'");
		return;
	}
	if (!command) {
		snprintf(desc, sizeof(desc), "The command %.100s has not been found", name);
		send_error(q, id, "CommandNotFound", desc);
		return;
	}
	a = command->run(q, json_object_get(request, "arguments"));
	if (a.error) {
		send_error(q, id, "GenericError", a.error);
		return;
	}
	reply = json_pack("{s:o}", "return", a.value);
	if (id)
		json_object_set(reply, "id", id);
	if (q->quit)
		send_event(q, "SHUTDOWN", "host-qmp-quit");
	send_json(q, reply);
	if (command->run == do_reset)
		send_event(q, "RESET", "host-qmp-system-reset");
}

static void value_end(struct qmp *q)
{
	json_t *request = q->too_long ? NULL : json_loadb(q->text, q->len, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(request))
		execute(q, request);
	else
		send_error(q, NULL, "GenericError", "JSON parse error, no object, or too long");
	json_decref(request);
	q->len = 0;
	q->depth = 0;
	q->in_string = q->escaped = q->too_long = false;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Where a value ends is seen by its brackets; what is none ends with its line. */
static void receive_byte(struct qmp *q, char c)
{
	if (!q->len && is_space(c))
		return;
	if (q->len == sizeof(q->text))
		q->too_long = true;
	else
		q->text[q->len++] = c;
	if (q->in_string) {
		q->in_string = q->escaped || c != '"';
		q->escaped = !q->escaped && c == '\\';
		return;
	}
	q->in_string = c == '"';
	if (c == '{' || c == '[')
		q->depth++;
	if ((c == '}' || c == ']') && q->depth)
		q->depth--;
	if (!q->depth && (c == '}' || c == ']' || c == '\n'))
		value_end(q);
}

void qmp_receive(struct qmp *q, const char *bytes, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes && !q->quit; i++)
		receive_byte(q, bytes[i]);
}

void qmp_init(struct qmp *q, struct emu *m, void (*send)(void *opaque, const char *data, size_t len_bytes), void *opaque)
{
	q->m = m;
	q->send = send;
	q->opaque = opaque;
	q->major = NEWEST_MAJOR;
	q->minor = NEWEST_MINOR;
	q->quit = false;
}
