// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "vfio_user_internal.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define MESSAGES_AT_ONCE 64U	/* then others have their turn */

int vfio_user_end(struct vfio_user *u, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(u->why, sizeof(u->why), format, ap);
	va_end(ap);
	return -1;
}

int vfio_user_take_fd(struct vfio_user *u)
{
	int fd;

	if (!u->nr_in_fds)
		return -1;
	fd = u->in_fd[0];
	memmove(u->in_fd, u->in_fd + 1, --u->nr_in_fds * sizeof(fd));
	return fd;
}

static void drop_fds(struct vfio_user *u)
{
	for (int fd; (fd = vfio_user_take_fd(u)) >= 0;)
		close(fd);
}

/* --- replies --- */

/* 0: sent, or the socket takes no more now; -1: the session is over. */
static int send_out(struct vfio_user *u)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec iov = { u->out + u->out_sent, u->out_len - u->out_sent };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (u->out_fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &u->out_fd, sizeof(int));
	}
	n = sendmsg(u->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 :
		       vfio_user_end(u, "a reply cannot be sent: %s", strerror(errno));
	u->out_fd = -1;
	u->out_sent += (u32)n;
	if (u->out_sent == u->out_len)
		u->out_len = u->out_sent = 0;
	return 0;
}

/* @head and @data are one payload; @fd goes with it, -1: none. */
static int reply(struct vfio_user *u, const void *head, size_t head_bytes, const void *data, size_t data_bytes, int fd)
{
	struct vfio_user_header h = { u->header.id, u->header.command, 0, VFIO_USER_TYPE_REPLY, 0 };

	if (u->header.flags & VFIO_USER_NO_REPLY)
		return 0;
	h.size_bytes = (u32)(sizeof(h) + head_bytes + data_bytes);
	memcpy(u->out, &h, sizeof(h));
	if (head_bytes)
		memcpy(u->out + sizeof(h), head, head_bytes);
	if (data_bytes)
		memcpy(u->out + sizeof(h) + head_bytes, data, data_bytes);
	u->out_len = h.size_bytes;
	u->out_fd = fd;
	return 0;
}

static int reply_error(struct vfio_user *u, int error)
{
	struct vfio_user_header h = { u->header.id, u->header.command, sizeof(h), VFIO_USER_TYPE_REPLY | VFIO_USER_ERROR,
				      (u32)error };

	if (u->header.flags & VFIO_USER_NO_REPLY)
		return 0;
	memcpy(u->out, &h, sizeof(h));
	u->out_len = sizeof(h);
	return 0;
}

/* --- commands: @p is the payload, @bytes of it, as many as the table says at least --- */

static int do_version(struct vfio_user *u, const void *p, u32 bytes)
{
	static const char ours[] = "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":4096,"
				   "\"max_dma_maps\":8192,\"pgsizes\":4096}}";
	const struct vfio_user_version *v = p;
	const char *text = (const char *)(v + 1);
	struct vfio_user_version answer = { 0, 0 };
	bool is_json = true;

	_Static_assert(VFIO_USER_FDS_MAX == 16 && VFIO_USER_TRANSFER_MAX == 4096 && VFIO_USER_MAPS_MAX == 8192, "as told");
	if (u->versioned)
		return vfio_user_end(u, "a second version");
	if (v->major)
		return vfio_user_end(u, "version %u.%u; this is 0.0", v->major, v->minor);
	if (bytes > sizeof(*v)) {
		json_t *j = memchr(text, '\0', bytes - sizeof(*v)) ? json_loads(text, 0, NULL) : NULL;

		is_json = json_is_object(j);
		json_decref(j);
	}
	if (!is_json)
		return vfio_user_end(u, "a version without JSON");
	u->versioned = true;
	if (!u->dev->ops->open(u->dev, &u->guest))
		return vfio_user_end(u, "the device does not start");
	u->open = true;
	return reply(u, &answer, sizeof(answer), ours, sizeof(ours), -1);
}

static int do_map(struct vfio_user *u, const void *p, u32 bytes)
{
	(void)bytes;
	return vfio_user_map(u, p);
}

static int do_unmap(struct vfio_user *u, const void *p, u32 bytes)
{
	int ret = vfio_user_unmap(u, p);

	(void)bytes;
	return ret ? ret : reply(u, p, sizeof(struct vfio_user_dma_unmap), NULL, 0, -1);
}

static int do_info(struct vfio_user *u, const void *p, u32 bytes)
{
	struct vfio_user_device_info i = { sizeof(i), VFIO_USER_INFO_RESET | VFIO_USER_INFO_PCI, VFIO_REGIONS, VFIO_USER_IRQS };

	(void)p, (void)bytes;
	return reply(u, &i, sizeof(i), NULL, 0, -1);
}

static int do_region_info(struct vfio_user *u, const void *p, u32 bytes)
{
	struct vfio_user_region_info i;
	const struct vfio_region *r;

	(void)bytes;
	memcpy(&i, p, sizeof(i));
	if (i.index >= VFIO_REGIONS)
		return vfio_user_end(u, "region %u; there are %u", i.index, VFIO_REGIONS);
	r = &u->dev->region[i.index];
	i = (struct vfio_user_region_info){ .argsz = sizeof(i), .index = i.index, .size_bytes = r->size_bytes };
	if (r->size_bytes)
		i.flags = VFIO_USER_REGION_READABLE | VFIO_USER_REGION_WRITEABLE;
	if (r->size_bytes && r->fd >= 0)
		i.flags |= VFIO_USER_REGION_MAPPABLE;
	return reply(u, &i, sizeof(i), NULL, 0, i.flags & VFIO_USER_REGION_MAPPABLE ? r->fd : -1);
}

static int do_irq_info(struct vfio_user *u, const void *p, u32 bytes)
{
	struct vfio_user_irq_info i;

	(void)bytes;
	memcpy(&i, p, sizeof(i));
	if (i.index >= VFIO_USER_IRQS)
		return vfio_user_end(u, "interrupts of kind %u; there are %u", i.index, VFIO_USER_IRQS);
	i = (struct vfio_user_irq_info){ .argsz = sizeof(i), .index = i.index };
	if (i.index == VFIO_USER_IRQ_MSIX) {
		i.count = u->dev->vectors;
		i.flags = VFIO_USER_IRQ_EVENTFD | VFIO_USER_IRQ_MASKABLE | VFIO_USER_IRQ_NORESIZE;
	}
	return reply(u, &i, sizeof(i), NULL, 0, -1);
}

static int do_set_irqs(struct vfio_user *u, const void *p, u32 bytes)
{
	const struct vfio_user_irq_set *s = p;

	return vfio_user_set_irqs(u, s, (const u8 *)(s + 1), bytes - (u32)sizeof(*s));
}

static int check_access(struct vfio_user *u, const struct vfio_user_region_access *a)
{
	u64 size = a->region < VFIO_REGIONS ? u->dev->region[a->region].size_bytes : 0;

	if (!a->count || a->count > VFIO_USER_TRANSFER_MAX || a->offset > size || a->count > size - a->offset)
		return vfio_user_end(u, "%u bytes at 0x%llx of region %u, which has 0x%llx", a->count,
				     (unsigned long long)a->offset, a->region, (unsigned long long)size);
	return 0;
}

/* The largest aligned piece that an access may be. */
static u32 piece(u32 region, u64 off, u32 len_bytes)
{
	u32 n = region == VFIO_REGION_CONFIG ? 4 : 8;

	while (n > len_bytes || off % n)
		n /= 2;
	return n;
}

static int do_region_read(struct vfio_user *u, const void *p, u32 bytes)
{
	struct vfio_user_region_access a;
	u8 data[VFIO_USER_TRANSFER_MAX];

	(void)bytes;
	memcpy(&a, p, sizeof(a));
	if (check_access(u, &a))
		return -1;
	for (u32 at = 0, n; at < a.count; at += n) {
		u64 val;

		n = piece(a.region, a.offset + at, a.count - at);
		val = u->dev->ops->read(u->dev, a.region, a.offset + at, n);
		memcpy(data + at, &val, n);
	}
	return reply(u, &a, sizeof(a), data, a.count, -1);
}

static int do_region_write(struct vfio_user *u, const void *p, u32 bytes)
{
	struct vfio_user_region_access a;
	const u8 *data = (const u8 *)p + sizeof(a);

	memcpy(&a, p, sizeof(a));
	if (check_access(u, &a))
		return -1;
	if (a.count != bytes - sizeof(a))
		return vfio_user_end(u, "%zu bytes came with a write of %u", bytes - sizeof(a), a.count);
	for (u32 at = 0, n; at < a.count; at += n) {
		u64 val = 0;

		n = piece(a.region, a.offset + at, a.count - at);
		memcpy(&val, data + at, n);
		u->dev->ops->write(u->dev, a.region, a.offset + at, val, n);
	}
	return reply(u, &a, sizeof(a), NULL, 0, -1);
}

static int do_reset(struct vfio_user *u, const void *p, u32 bytes)
{
	(void)p, (void)bytes;
	u->dev->ops->reset(u->dev);
	return 0;
}

static int do_unsupported(struct vfio_user *u, const void *p, u32 bytes)
{
	(void)u, (void)p, (void)bytes;
	return EOPNOTSUPP;
}

/* argsz comes first in all structures of linux/vfio.h, and says how much of one the client knows. */
static const struct command {
	int (*fn)(struct vfio_user *u, const void *p, u32 bytes);
	u32 min, max;		/* bytes of payload */
	u32 argsz;		/* 0: the payload does not begin with it */
	u32 fds;
} commands[] = {
#define ANY VFIO_USER_TRANSFER_MAX
	[VFIO_USER_VERSION] = { do_version, sizeof(struct vfio_user_version), ANY, 0, 0 },
	[VFIO_USER_DMA_MAP] = { do_map, 32, 32, 32, 1 },
	[VFIO_USER_DMA_UNMAP] = { do_unmap, 24, ANY, 24, 0 },
	[VFIO_USER_DEVICE_GET_INFO] = { do_info, 16, 16, 16, 0 },
	[VFIO_USER_DEVICE_GET_REGION_INFO] = { do_region_info, 32, 32, 32, 0 },
	[VFIO_USER_DEVICE_GET_REGION_IO_FDS] = { do_unsupported, 0, ANY, 0, 0 },
	[VFIO_USER_DEVICE_GET_IRQ_INFO] = { do_irq_info, 16, 16, 16, 0 },
	[VFIO_USER_DEVICE_SET_IRQS] = { do_set_irqs, 20, ANY, 20, VFIO_USER_FDS_MAX },
	[VFIO_USER_REGION_READ] = { do_region_read, 16, 16, 0, 0 },
	[VFIO_USER_REGION_WRITE] = { do_region_write, 17, 16 + VFIO_USER_TRANSFER_MAX, 0, 0 },
	[VFIO_USER_DEVICE_RESET] = { do_reset, 0, 0, 0, 0 },
	[VFIO_USER_DIRTY_PAGES] = { do_unsupported, 0, ANY, 0, 0 },
};

static int command(struct vfio_user *u)
{
	const struct vfio_user_header *h = &u->header;
	const struct command *c = h->command < sizeof(commands) / sizeof(commands[0]) ? &commands[h->command] : NULL;
	const u8 *payload = u->in + sizeof(*h);
	u32 bytes = h->size_bytes - (u32)sizeof(*h), argsz;
	int ret;

	if (!c || !c->fn)
		return vfio_user_end(u, "command %u is none", h->command);
	if (!u->versioned && h->command != VFIO_USER_VERSION)
		return vfio_user_end(u, "command %u before a version", h->command);
	if (bytes < c->min || bytes > c->max)
		return vfio_user_end(u, "%u bytes of command %u", bytes, h->command);
	if (u->nr_in_fds > c->fds)
		return vfio_user_end(u, "%u files with command %u", u->nr_in_fds, h->command);
	memcpy(&argsz, payload, sizeof(argsz));
	if (argsz < c->argsz && c->argsz)
		return vfio_user_end(u, "command %u knows %u bytes of %u", h->command, argsz, c->argsz);
	ret = c->fn(u, payload, bytes);
	if (ret < 0 || *u->why)
		return -1;
	if (ret > 0)
		return reply_error(u, ret);
	return u->out_len ? 0 : reply(u, NULL, 0, NULL, 0, -1);
}

/* --- messages --- */

static int keep_fds(struct vfio_user *u, struct msghdr *msg)
{
	bool too_many = msg->msg_flags & MSG_CTRUNC;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		u32 n = (u32)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (u32 i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (u->nr_in_fds < VFIO_USER_FDS_MAX) {
				u->in_fd[u->nr_in_fds++] = fd;
			} else {
				close(fd);
				too_many = true;
			}
		}
	}
	return too_many ? vfio_user_end(u, "more than %u files with a message", VFIO_USER_FDS_MAX) : 0;
}

/* No more than is missing of this message: the next one's files come with its own bytes. 1: something came. */
static int receive(struct vfio_user *u, u32 upto)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(VFIO_USER_FDS_MAX * sizeof(int))];
	} control;
	struct iovec iov = { u->in + u->in_len, upto - u->in_len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(u->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : vfio_user_end(u, "cannot be read: %s", strerror(errno));
	if (keep_fds(u, &msg))
		return -1;
	if (!n)
		return u->in_len ? vfio_user_end(u, "left in the middle of a message") : -1;
	u->in_len += (u32)n;
	return 1;
}

static int header_check(struct vfio_user *u)
{
	const struct vfio_user_header *h = &u->header;

	if (h->size_bytes < sizeof(*h) || h->size_bytes > sizeof(*h) + sizeof(struct vfio_user_region_access) + VFIO_USER_TRANSFER_MAX)
		return vfio_user_end(u, "a message of %u bytes", h->size_bytes);
	if ((h->flags & VFIO_USER_TYPE) != VFIO_USER_TYPE_COMMAND || h->flags & ~(VFIO_USER_TYPE | VFIO_USER_NO_REPLY))
		return vfio_user_end(u, "a message that is no command (flags 0x%x)", h->flags);
	return 0;
}

/* 1: a message is there as a whole; 0: not yet; -1: the session is over. */
static int message(struct vfio_user *u)
{
	int ret;

	if (u->in_len < sizeof(u->header)) {
		ret = receive(u, sizeof(u->header));
		if (ret <= 0 || u->in_len < sizeof(u->header))
			return ret < 0 ? -1 : 0;
		if (header_check(u))
			return -1;
	}
	if (u->in_len < u->header.size_bytes) {
		ret = receive(u, u->header.size_bytes);
		if (ret < 0)
			return -1;
	}
	return u->in_len == u->header.size_bytes;
}

bool vfio_user_ready(struct vfio_user *u)
{
	for (u32 i = 0; i < MESSAGES_AT_ONCE; i++) {
		int ret;

		if (u->out_len) {
			if (send_out(u))
				return false;
			if (u->out_len)
				return true;
		}
		ret = message(u);
		if (ret < 0)
			return false;
		if (!ret)
			return true;
		ret = command(u);
		drop_fds(u);
		u->in_len = 0;
		if (ret < 0)
			return false;
		/* Much memory takes time: others have their turn. */
		if (u->header.command == VFIO_USER_DMA_MAP || u->header.command == VFIO_USER_DMA_UNMAP)
			return true;
	}
	return true;
}

short vfio_user_events(const struct vfio_user *u)
{
	return u->out_len ? POLLOUT : POLLIN;
}

const char *vfio_user_why(const struct vfio_user *u)
{
	return *u->why ? u->why : NULL;
}

int vfio_user_fd(const struct vfio_user *u)
{
	return u->fd;
}

struct vfio_user *vfio_user_new(struct vfio_device *dev, int fd)
{
	struct vfio_user *u = calloc(1, sizeof(*u));

	if (!u) {
		close(fd);
		return NULL;
	}
	u->guest = (struct vfio_guest){ vfio_user_dma_read, vfio_user_dma_write, vfio_user_interrupt };
	u->dev = dev;
	u->fd = fd;
	u->out_fd = -1;
	for (u32 v = 0; v < VFIO_VECTORS_MAX; v++)
		u->vector[v].fd = -1;
	return u;
}

void vfio_user_free(struct vfio_user *u)
{
	if (!u)
		return;
	if (u->open) {
		vfio_user_drop_irqs(u);
		vfio_user_unmap_all(u);
		u->dev->ops->close(u->dev);
	}
	drop_fds(u);
	close(u->fd);
	free(u);
}
